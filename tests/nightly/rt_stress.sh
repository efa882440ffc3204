#!/bin/bash
# rt_stress.sh BUILD_DIR — the storms of tests/unit/test_rt_stress_*.c, a hundred times as many: 10^8 pairs of park and
# unpark, 10^7 selects, 10^6 items through six stages, a burst of 10^6 fibers, 10^6 that wait at the same time (5 GiB),
# 100 calls that block for two seconds; another seed every day. Their figures are the lines that begin with #.
set -eu
build=${1:?usage: rt_stress.sh BUILD_DIR}
export RADDLE_STRESS=${RADDLE_STRESS:-100} RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export CMOCKA_MESSAGE_OUTPUT=TAP
echo "rt_stress: RADDLE_STRESS=$RADDLE_STRESS RADDLE_STRESS_SEED=$RADDLE_STRESS_SEED"
for name in fiber chan sched; do
    "$build/tests/test_rt_stress_$name"
done
echo "rt_stress: nothing lost, nothing twice (seed $RADDLE_STRESS_SEED)"
