#!/bin/bash
# session.sh BUILD_DIR — 10,000 random protocols, each for five N, three policies and a shuffled start: 300,000 runs
# that nobody can tell apart; other protocols every day. Recursion of 10^7 rounds of a loop.
# Takes 1 minutes.
set -eu
build=${1:?usage: session.sh BUILD_DIR}
export RADDLE_STRESS=${RADDLE_STRESS:-50} RADDLE_STRESS_SEED=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
export CMOCKA_MESSAGE_OUTPUT=TAP
echo "session: RADDLE_STRESS=$RADDLE_STRESS RADDLE_STRESS_SEED=$RADDLE_STRESS_SEED"
for name in random rounds; do
    "$build/tests/test_session_$name"
done
echo "session: all runs the same (seed $RADDLE_STRESS_SEED)"
