#!/bin/bash
# rt_stress.sh BUILD_DIR — the storms of tests/unit/rt/test_stress_*.c, RADDLE_STRESS (20) times as many: 2*10^7 pairs of park
# and unpark, 2*10^6 selects, 2*10^5 items through six stages, a burst of 2*10^5 fibers; another seed every day. 100 times as
# many have 10^6 fibers that wait at the same time (5 GiB). Their figures are the lines that begin with #.
# Takes 1 minutes.
set -eu
build=${1:?usage: rt_stress.sh BUILD_DIR}
export RADDLE_STRESS=${RADDLE_STRESS:-20} RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export CMOCKA_MESSAGE_OUTPUT=TAP
echo "rt_stress: RADDLE_STRESS=$RADDLE_STRESS RADDLE_STRESS_SEED=$RADDLE_STRESS_SEED"
for name in fiber chan sched; do
    "$build/tests/test_rt_stress_$name"
done
echo "rt_stress: nothing lost, nothing twice (seed $RADDLE_STRESS_SEED)"
