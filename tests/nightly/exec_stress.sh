#!/bin/bash
# exec_stress.sh BUILD_DIR — the races of tests/unit/test_exec_shell_stress.c, a hundred times as many: two million
# joins against spawns, a hundred million tasks; another seed every day. Then ten million pushes beside a worker that
# falls asleep (test_exec_barrier.c).
set -eu
build=${1:?usage: exec_stress.sh BUILD_DIR}
seed=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
echo "exec_stress: RADDLE_STRESS_SEED=$seed"
RADDLE_STRESS=${RADDLE_STRESS:-100} RADDLE_STRESS_SEED=$seed "$build/tests/test_exec_shell_stress"
RADDLE_STRESS=${RADDLE_STRESS:-100} RADDLE_STRESS_SEED=$seed "$build/tests/test_exec_barrier"
echo "exec_stress: nothing lost, nothing twice (seed $seed)"
