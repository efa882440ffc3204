#!/bin/bash
# flow.sh BUILD_DIR — 300,000 random flows beside the reference interpreter, with seeds of the day; crashes at every call
# of runner and shim; the real runner killed at every write, many times over; every example explored.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: flow.sh BUILD_DIR}" && pwd)
seed=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export RADDLE_STRESS_SEED=$seed RADDLE_SRC=$root
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
RADDLE_STRESS=30 "$build/tests/test_flow_random"
for test in "$build"/tests/test_flow_*; do
    case $test in *.p | *test_flow_random) continue ;; esac
    RADDLE_STRESS=3 "$test"
done
for file in "$root"/examples/flow/*.flow; do
    "$build/raddle" explore "$file" proper=0 --runs 200000 --seed "$seed" -j 2
done
echo "flow: nothing found (seed $seed)"
