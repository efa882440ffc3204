#!/bin/bash
# exec_states.sh BUILD_DIR — the exhaustive tier of the executor's trial with five times the runs: every state of each
# listed case that has fewer than EXEC_STATES_RUNS, 40,000 unless said otherwise; the other cases print their bound.
# EXEC_STATES_FIRST and EXEC_STATES_CASES choose a part of the list.
# Takes 2 minutes.
set -eu
build=${1:?usage: exec_states.sh BUILD_DIR}
first=${EXEC_STATES_FIRST:-0}
cases=${EXEC_STATES_CASES:-520}
folder=$(mktemp -d)
echo "exec_states: artifacts in $folder"
"$build/raddle" exec explore --first "$first" --cases "$cases" --runs "${EXEC_STATES_RUNS:-40000}" -j 2 \
    --output "$folder"
