#!/bin/bash
# exec_stress.sh BUILD_DIR — the races of tests/unit/exec/test_shell_stress.c, 20 times as many: 200,000 joins
# against spawns, 20 million tasks; another seed every day. Then millions of pushes beside a worker that
# falls asleep (test_barrier.c).
# Takes 2 minutes.
set -eu
build=${1:?usage: exec_stress.sh BUILD_DIR}
seed=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
echo "exec_stress: RADDLE_STRESS_SEED=$seed"
RADDLE_STRESS=${RADDLE_STRESS:-20} RADDLE_STRESS_SEED=$seed "$build/tests/test_exec_shell_stress"
RADDLE_STRESS=${RADDLE_STRESS:-20} RADDLE_STRESS_SEED=$seed "$build/tests/test_exec_barrier"
echo "exec_stress: nothing lost, nothing twice (seed $seed)"
