#!/bin/bash
# judge_exec.sh BUILD_DIR — the executor beside its references: 10 times the random cases and programs of `make test`, with
# seeds of the day.
# Takes 1 minutes.
set -eu
build=$(cd "${1:?usage: judge_exec.sh BUILD_DIR}" && pwd)
export RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)} RADDLE_STRESS=${RADDLE_STRESS:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for test in "$build"/tests/test_judge_exec*; do
    case $test in *.p) continue ;; esac
    "$test"
done
echo "judge_exec: nothing found (seed $RADDLE_STRESS_SEED)"
