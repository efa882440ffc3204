#!/bin/bash
# judge_explored.sh BUILD_DIR — random programs of fibers under `raddle explore`, other ones every day: every schedule of the
# small ones, 24 schedules of each of 15 larger ones; and scenes, every schedule of 14, some of 11 large ones. No result but
# those that the reference allows, and all of them where every schedule was tried. Failures print the program.
# Takes 4 minutes.
set -eu
build=${1:?usage: judge_explored.sh BUILD_DIR}
export RADDLE_STRESS=${RADDLE_STRESS:-5} RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export CMOCKA_MESSAGE_OUTPUT=TAP
echo "judge_explored: RADDLE_STRESS=$RADDLE_STRESS RADDLE_STRESS_SEED=$RADDLE_STRESS_SEED"
"$build/tests/test_judge_explored"
