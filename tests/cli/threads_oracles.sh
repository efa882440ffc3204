#!/bin/bash
# The table of failures in docs/threads-under-test.md: each program of tests/programs/oracles.c is found as it says, and
# without its mistake it is silent, with its oracles evaluated.
. "$(dirname "$0")/under_test"
runs=${RUNS:-40}

has_library "failures of threads"
makes_threads oracles
sed -n '/^## What is a failure/,/^## What a clean/p' "$src/docs/threads-under-test.md" | sed -n 's/^| .* | `\([a-z_]*\)` | `\(.*\)` |$/\1 \2/p' >rows
check "the table has all programs" [ "$(sed 's/ .*//' rows | sort)" = "$(grep -o 'ROW([a-z_]*)' "$programs/oracles.c" |
    sed 's/ROW(\(.*\))/\1/' | grep -v -x -e name -e endless_loop | sort)" ]
while read -r name identity <&3; do
    most=$runs
    [ "$name" != livelock ] || most=300
    [ "$name" != starvation ] || most=$((runs / 8)) # it is there in each run, of as many steps as there may be: 25 ms
    try explore --json --spurious no --runs "$most" --no-shrink --max-steps 5000 ./oracles "$name"
    status 1 "explore ./oracles $name"
    has out "\"identity\": \"$identity" "$name: $identity"
    file=$(sed -n 's/^ *"replay": "raddle replay \([^ ]*\) .*/\1/p' out | head -1)
    try replay "$file" -- ./oracles "$name"
    status 0 "$name: replayed"
    try explore --spurious no --clock quiet --runs "$runs" --max-steps 5000 ./oracles "$name" fixed
    status 0 "explore ./oracles $name fixed"
    has out "nothing found in" "$name fixed: silent"
    check "$name fixed: evaluated" grep -qE "evaluated: deadlock [0-9]{2}.*misuse [0-9]{2}.*partial-deadlock [0-9]" out
done 3<rows
# When another thread unlocks it, and not when its owner comes to do so.
try explore --spurious no --runs "$runs" --no-shrink ./oracles unlock_of_others
tr -s ' \n' '  ' <out >flat
has flat "unlocks a mutex that is held by" "unlock_of_others: who holds it is named"
finish
