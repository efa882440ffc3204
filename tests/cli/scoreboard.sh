#!/bin/bash
# docs/scoreboard.md has the tables that the scoreboards print: these columns, and a row for each machine, program and bug.
# (kernels.sh and threads_literature.sh compare theirs.)
. "$(dirname "$0")/tap"

compare() { # WHAT: the table in the file out
    check "$1: the table of docs/scoreboard.md" "$RADDLE_SRC/tools/write_scoreboard.sh" --check out
}

"$RADDLE_BUILD/tests/scoreboard_toys" --tiny >out 2>err
status=$?
status 0 "scoreboard_toys --tiny"
compare "toy machines"
"$RADDLE_BUILD/tests/scoreboard_reach" --tiny >out 2>err
status=$?
status 0 "scoreboard_reach --tiny"
compare "programs of the literature"

# A machine that has no row, and a column that is new.
sed -i '/^| SafeStack /d' out
check "a row too many is seen" sh -c '! "$1" --check out' - "$RADDLE_SRC/tools/write_scoreboard.sh"
sed -i '1s/program/subject/' out
check "another column is seen" sh -c '! "$1" --check out' - "$RADDLE_SRC/tools/write_scoreboard.sh"

# The bugs planted in the executor take minutes to try; their names do not.
sed -n 's/^\([a-z][a-z0-9-]*\) in .* by .*/\1/p' "$RADDLE_SRC/tests/planted/exec.txt" >listed
sed -n '/^| bug | depth | runs | instructions | workers | reported |$/,/^$/s/^| \([a-z][a-z0-9-]*\) |.*/\1/p' \
    "$RADDLE_SRC/docs/scoreboard.md" | sed 1d >documented
same listed documented "bugs planted in the executor"
finish
