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

finish
