#!/bin/sh
# list: what is listed can be run, explored, and its twin too.
. "$(dirname "$0")/tap"

try list
status 0 "list"
silent "list"
for name in counter buffer buffer-if philosophers locks event aba reorder twostage bank; do
    check "$name is listed" grep -q "^$name  " out
    has out "raddle explore $name --repaired" "$name has a twin"
done
line out "    n=2  threads (2 to 64)" "a parameter with preset, text and range"
for name in first random fair pct surw own; do
    check "policy $name is listed" sh -c "sed -n '/^Policies/,/^Strategies/p' out | grep -q '^    $name'"
done
for name in auto dfs preempt delay dedup; do
    check "strategy $name is listed" sh -c "sed -n '/^Strategies/,\$p' out | grep -q '^    .*$name'"
done

# Every machine of the list runs.
try list --json
sed -n '/"machines"/,/"policies"/p' out | sed -n 's/^      "name": "\(.*\)",$/\1/p' >machines
check "there are machines" [ "$(wc -l <machines)" -ge 10 ]
while read -r machine; do
    try run "$machine" --repaired
    status 0 "run $machine --repaired"
done <machines
finish
