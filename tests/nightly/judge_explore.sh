#!/bin/bash
# judge_explore.sh BUILD_DIR — searches, policies and shrinking on random small machines, programs of threads at L2, beside
# brute force: 20 times the
# machines and programs of `make test`, with seeds of the day.
# Takes 2 minutes.
set -eu
build=$(cd "${1:?usage: judge_explore.sh BUILD_DIR}" && pwd)
export RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)} RADDLE_STRESS=${RADDLE_STRESS:-20}
echo "judge_explore: RADDLE_STRESS=$RADDLE_STRESS RADDLE_STRESS_SEED=$RADDLE_STRESS_SEED"
for name in explore policies shrink l2; do
    "$build/tests/test_judge_$name"
done
echo "judge_explore: nothing found (seed $RADDLE_STRESS_SEED)"
