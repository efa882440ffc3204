#!/bin/bash
# threads.sh BUILD_DIR — programs with threads, longer than by day: the fixed versions of tests/programs/ordinary.c and .cpp
# in 20,000 runs each, ten replays of each failure, and a loop without an end, which takes 10 s of CPU time to be called one.
# Takes 1 minutes.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${1:-build}" && pwd) || exit 2
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
status=0
export RADDLE=$build/raddle
source=$PWD
(cd "$work" && TIMES="1 2 3 4 5 6 7 8 9 10" FIXED_RUNS=20000 bash "$source/tests/cli/threads_ordinary.sh") >"$work/log" ||
    { grep -A5 '^not ok' "$work/log" && status=1; }
${CC:-cc} -std=gnu11 -g -O1 -pthread tests/programs/oracles.c -o "$work/oracles" || exit 1
"$RADDLE" explore --output "$work" --no-shrink --stop-on-first --runs 20 "$work/oracles" endless_loop >"$work/out"
found=$?
tr -s '\n ' ' ' <"$work/out" >"$work/words"
if [ $found != 1 ] || ! grep -q "of CPU time (if it waits for a variable in a loop, build it with 'raddle cc')" "$work/words"; then
    cat "$work/out" && echo "a loop without an end is no hang" && status=1
fi
"$RADDLE" replay "$work/oracles.raddle.json" -- "$work/oracles" endless_loop >"$work/out"
if [ $? != 0 ] || ! grep -qx "as recorded" "$work/out"; then
    cat "$work/out" && echo "a loop without an end does not replay" && status=1
fi
exit $status
