#!/bin/bash
# docs/verdicts.md: each program with a bug that a clean verdict does not cover is clean as it is explored first, and the last
# column of its row finds the bug. The sentences on the page are printed.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL RADDLE_CC=${CC:-cc}
unset RADDLE_OPTIONS
page=$src/docs/verdicts.md

try explore buffer producers=1 --no-shrink
status 0 "buffer with one producer"
has out "$(sed -n '/^raddle explore buffer producers=1/{n;p}' "$page")" "and its sentence"
try explore buffer --no-shrink
status 1 "buffer with two"
if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "programs" "this build has no library for programs under test"
    finish
fi

# shellcheck disable=SC2086 # CC may have words
check "limits.c compiles" ${CC:-cc} -g -O1 -pthread "$src/tests/programs/limits.c" -o limits
check "raddle cc compiles it" "$RADDLE" cc -g -O1 -pthread "$src/tests/programs/limits.c" -o watched
echo stop >stop
sed -n 's/^| [^|]*| `\([a-z_]*\)` | \(.*\) |$/\1 \2/p' "$page" >rows
sed 's/ .*//' rows | sort >named
grep -oE '\{"[a-z_]+"' "$src/tests/programs/limits.c" | tr -d '{"' | sort >programs
check "programs" [ -s programs ]
same named programs "a row for each program"
clean=", code between two operations was not interrupted halfway, and time passed only when nothing could run"
fair="; fair schedules only\. In [0-9,]+ runs actors that yield or spin let others go first\. Besides, they continued"
far=" for up to 1,000 rounds with no preemption, for up to 128 with at most 1, for up to 16 with at most 2"
while read -r name finds; do
    try explore --no-shrink ./limits "$name"
    status 0 "$name: the status is 0"
    check "$name: nothing found" \
        grep -qE "^nothing found in [0-9,]+ runs(, in which nothing ran at the same time)?; every (schedule was tried$clean|fair schedule was tried$clean$fair$far)\.$" out
    case $finds in
    '`explore'*)
        finds=${finds#?} finds=${finds%?}
        # shellcheck disable=SC2086
        try $finds --no-shrink
        status 1 "raddle $finds"
        ;;
    esac
done <rows
try explore --no-shrink ./limits sleeps_enough
has out "Only with a free clock" "a late thread is reported"
try explore --no-shrink ./limits waits_once
has out "Only with spurious wakeups" "a wakeup without a signal is reported"
try explore --runs 2000 ./watched store_buffers
status 0 "weak memory: nothing found"
has out "under sequential consistency, code that raddle cc has not built was not interrupted halfway" "and said"
try explore --max-steps 5 --no-shrink ./limits lost_update
status 1 "every run was cut"
has out "every run was cut, not finished after 5 steps: nothing is known" "and said"

# Of a program that raddle cc has only linked nothing is watched, which is said.
# shellcheck disable=SC2086
check "compiled by another" ${CC:-cc} -g -O1 -pthread -c "$src/tests/programs/limits.c" -o limits.o
check "linked by raddle cc" "$RADDLE" cc -pthread limits.o -o linked
try explore --no-shrink ./linked lost_ticket
status 0 "only linked: nothing found"
has out "  unwatched  the program: linked by raddle cc" "and said"

# Fibers.
compiles "a program with fibers" "$library" "${CC:-cc}" -g -O1 "$src/tests/programs/memory_fibers.c" -o fibers
try explore --no-shrink --strategy dfs ./fibers counter
status 0 "fibers: nothing found"
has out "every schedule was tried$clean." "and the same is said"
compiles "the same with raddle cc" "$library" "$RADDLE" cc -g -O1 "$src/tests/programs/memory_fibers.c" -o fibers
try explore --no-shrink --runs 200 ./fibers counter
status 1 "found"
finish
