#!/bin/bash
# The table of failures in docs/threads-under-test.md: each program of tests/programs/oracles.c is found as it says, and
# without its mistake it is silent, with its oracles evaluated.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL
runs=${RUNS:-40}

if [ ! -f "$build/src/lab/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "failures of threads" "this build has no library for them"
    finish
fi
# shellcheck disable=SC2086 # CC may have words
check "oracles.c compiles" $cc -std=gnu11 -g -O1 -Wall -Wextra -pthread "$src/tests/programs/oracles.c" -o oracles
sed -n '/^## What is a failure/,/^## What a clean/p' "$src/docs/threads-under-test.md" | sed -n 's/^| .* | `\([a-z_]*\)` | `\(.*\)` |$/\1 \2/p' >rows
check "the table has all programs" [ "$(sed 's/ .*//' rows | sort)" = "$(grep -o 'ROW([a-z_]*)' "$src/tests/programs/oracles.c" |
    sed 's/ROW(\(.*\))/\1/' | grep -v -x -e name -e endless_loop | sort)" ]
while read -r name identity <&3; do
    most=$runs
    [ "$name" != livelock ] || most=300
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
finish
