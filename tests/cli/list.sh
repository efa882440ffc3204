#!/bin/sh
# list: what is listed can be run, explored, and its twin too.
. "$(dirname "$0")/tap"

try list
status 0 "list"
silent "list"
for name in counter buffer buffer-if philosophers locks event aba reorder twostage stringbuffer bluetooth wsq \
    wsq-interlocked wsq-state qsort-mt safestack bank; do
    check "$name is listed" grep -q "^$name  " out
    has out "raddle explore $name --fixed" "$name has a fixed version"
done
line out "    n=2  threads (2 to 64)" "a parameter with default, text and range"
for name in first random fair pct surw pos own; do
    check "policy $name is listed" sh -c "sed -n '/^Policies/,/^Strategies/p' out | grep -q '^    $name'"
done
for name in auto dfs preempt delay dedup; do
    check "strategy $name is listed" sh -c "sed -n '/^Strategies/,\$p' out | grep -q '^    .*$name'"
done

# What tests raddle itself is listed on demand.
hasnt out "l2-" "no model of the runtime is listed"
check "nor is the executor" sh -c "! grep -q '^exec  ' out"
has out "more test raddle itself: raddle list --all" "but the way to them is"
try list --all
status 0 "list --all"
check "the executor is listed with --all" grep -q '^exec  ' out
check "and every other machine, too" grep -q '^counter  ' out
hasnt out "more test raddle" "nothing is left out"
try list --json
hasnt out '"self_test": true' "the same in JSON"
try list --all --json
has out '"self_test": true' "with --all, JSON says which ones test raddle itself"
has out '"default": 2' "what parameters are by default is said under the key that 'test --list --json' has"

# Every machine of the list runs.
try list --all --json
sed -n '/"machines"/,/"policies"/p' out | sed -n 's/^      "name": "\(.*\)",$/\1/p' >machines
check "there are machines" [ "$(wc -l <machines)" -ge 10 ]
while read -r machine; do
    try run "$machine" --repaired
    status 0 "run $machine --repaired"
done <machines
finish
