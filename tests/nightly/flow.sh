#!/bin/bash
# flow.sh BUILD_DIR — 100,000 random flows beside the reference interpreter, with seeds of the day; crashes at every call
# of runner and shim; the real runner killed at every write; every example explored.
# Takes 2 minutes.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: flow.sh BUILD_DIR}" && pwd)
seed=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export RADDLE_STRESS_SEED=$seed RADDLE_SRC=$root
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
RADDLE_STRESS=10 "$build/tests/test_flow_random"
for name in crash follow kill validate; do
    RADDLE_STRESS=2 TEST_LONG=1 "$build/tests/test_flow_$name"
done
for file in "$root"/examples/flow/*.flow; do
    "$build/raddle" explore "$file" proper=0 --runs 20000 --seed "$seed" -j 2
done
echo "flow: nothing found (seed $seed)"
