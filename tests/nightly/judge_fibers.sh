#!/bin/bash
# judge_fibers.sh BUILD_DIR — 12,000 random programs of fibers, larger ones than `make test` has, each with 1, 2 and 4
# workers: every result is one that the reference allows. Other programs every day. Failures print the program.
# Takes 2 minutes.
set -eu
build=${1:?usage: judge_fibers.sh BUILD_DIR}
export RADDLE_STRESS=${RADDLE_STRESS:-4} RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export CMOCKA_MESSAGE_OUTPUT=TAP
echo "judge_fibers: RADDLE_STRESS=$RADDLE_STRESS RADDLE_STRESS_SEED=$RADDLE_STRESS_SEED"
"$build/tests/test_judge_fibers"
