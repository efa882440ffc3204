#!/bin/bash
# How programs with threads end, and what is left then: nothing. And schedule files in another place: another process,
# compiler, level, environment, directory.
. "$(dirname "$0")/under_test"

has_library "ends of programs with threads"
TMPDIR=$PWD/temporary
export TMPDIR
mkdir temporary
makes_threads ending

# The watch counts CPU time, so one run is enough, the machine may be busy, and the rest need not wait.
mkdir endless
(cd endless && exec "$build/tests/cpu_limit" 100 used "$RADDLE" explore --runs 1 --hang 0.2 --clock quiet --no-shrink \
    ../ending loop >out 2>err </dev/null) &
endless=$!

ends() { # HOW STATUS TEXT
    try explore --runs 12 --clock quiet --no-shrink ./ending "$1"
    status "$2" "ending $1"
    if [ "$2" = 2 ]; then has err "$3" "ending $1: $3"; else has out "$3" "ending $1: $3"; fi
}
ends crash 1 "the process died in step 6: SIGSEGV"
ends abort 1 "the process died in step 6: SIGABRT"
ends overflow 1 "the process died in step 6: SIGSEGV"
ends fork 2 "the program calls fork: a run under test starts no other processes"
ends exec 2 "the program calls execl: a run under test starts no other processes"
ends system 2 "the program calls system: a run under test starts no other processes"
ends outlives 0 "nothing found in 12 runs"
ends many 0 "nothing found in 12 runs"
ends large 0 "nothing found in 12 runs"
has out "in process 12 runs" "200 MB: in one process, put back after each run"

# A program that hashes addresses, such as std::hash<std::thread::id>, does the same in the run that is told as in those
# that were explored, in workers with donors from before and without.
addresses_are_told() { # the told run's are those of all explored ones
    sed -n '/^Output of this run/,/^$/s/^ *\(main .*\|thread .*\)/\1/p' out | sort -u >told
    sort -u shown >explored
    [ "$(wc -l <told)" = 7 ] && cmp -s told explored
}
try explore --runs 40 --clock quiet --strategy random --show-output shown ./ending addresses
status 1 "ending addresses"
check "a run that is told has the addresses of those that were explored" addresses_are_told

wait "$endless"
status=$?
mv endless/out endless/err .
status 1 "ending loop: a loop without a call and without an end"
has out "hang at step 6: step 6 did not return within" "it is a hang"
check "a share of the time of --hang, not of ten seconds" sh -c '! grep -q "within 0.5 s" out'
check "which the run before the search that is to repeat keeps to, too" awk '{ exit !($1 < 1.1) }' endless/used
check "it has a file" [ -s endless/ending.raddle.json ]
try show endless/ending.raddle.json -- ./ending loop
sed -n '/^Where it failed/,/^$/p' out >where
has where "ending.c:$(grep -n 'while (turns)' "$src/tests/programs/ending.c" | cut -d: -f1) in " "and the line of the loop"
cat >stays.c <<'END'
#include <pthread.h>
static volatile int first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *go(void *x)
{
    pthread_mutex_lock(&mutex);
    if (first == 0) first = x ? 2 : 1;
    pthread_mutex_unlock(&mutex);
    return 0;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, go, i ? (void *)&first : 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    while (first == 2) {}
    return 0;
}
END
# shellcheck disable=SC2086 # CC may have words
check "a program that hangs in some runs" ${CC:-cc} -g -O0 -pthread stays.c -o stays
try explore --runs 40 --hang 0.1 --stop-on-first --json ./stays
status 1 "stays: a hang"
"$RADDLE" show stays.min.raddle.json -- ./stays >told 2>&1
check "the seconds of --hang are those of shrinking, too" \
    grep -q '"hang_ms": 100,' stays.min.raddle.json
check "and of what is told of it" sh -c 'grep -q "within 0" told && ! grep -q "within 0.5 s" told'
check "and its failure" \
    sh -c 'grep -q "did not return within 0" stays.min.raddle.json && ! grep -q "within 0.5 s" stays.min.raddle.json'

# ---- Killed ------------------------------------------------------------------------------------------------
below() { # PID: all processes below it
    local child
    for child in $(children "$1"); do
        echo "$child"
        below "$child"
    done
}
# The child of raddle is the program, and a child of that makes the runs; both are children of the first thread.
other_worker() { # $works is one that was not killed
    kill -0 "$search" 2>/dev/null || return 0
    local program=
    works=
    read -r program _ <"/proc/$search/task/$search/children" # without an end of line: `read` fails
    read -r works _ <"/proc/$program/task/$program/children"
    [ -n "$works" ] && [ "$works" != "$killed" ]
} 2>/dev/null
has_worked() { # for a tenth of a second at least, so what precedes a search is over
    local used
    kill -0 "$search" 2>/dev/null || return 0
    other_worker && used=$(cpu_of "${works:-0}") && [ "$used" -ge 10 ] && [ "$used" -lt 1000000 ]
}
begins_search() { # FILE
    "$RADDLE" explore --runs 100000000 --strategy random --clock quiet ./ending many >"$1" 2>&1 &
    search=$! works='' killed=''
}

# Between two units, when it has read the next one and not begun it: the unit is not lost.
killed_between() {
    soon has_worked || return 1
    killed=$works
    timeout 300 gdb -nx -batch -p "$works" -ex 'break rad__batch_read' -ex continue -ex kill >gdb.out 2>&1
    grep -q '^Breakpoint 1, .*rad__batch_read' gdb.out && grep -q '^\[Inferior 1 .* killed\]' gdb.out
}
begins_search between.out
if command -v gdb >/dev/null && killed_between; then
    soon has_worked
    kill -INT "$search"
    wait "$search"
    has between.out "nothing found in" "kill -9 between two units: the search goes on"
else
    check "a search that nobody disturbs goes on" kill -0 "$search"
    kill -9 "$search"
    wait "$search" 2>/dev/null
    skip "kill -9 between two units" "gdb cannot be used here"
fi

begins_search killed.out
for ((i = 0; i < 20; i++)); do
    soon other_worker || break
    killed=$works
    kill -9 "$killed" 2>/dev/null # it may have ended by itself, as in what precedes a search
done
soon other_worker
kill -0 "$search"
report $? "kill -9 of processes of the program: the search goes on" killed.out
all=$(below "$search")
kill -9 "$search"
wait "$search" 2>/dev/null
gone() {
    local i pid left
    for ((i = 0; i < 200; i++)); do
        left=
        for pid in $all; do kill -0 "$pid" 2>/dev/null && left=$pid; done
        [ -z "$left" ] && return 0
        sleep 0.05
    done
    return 1
}
check "kill -9 of raddle: no process is left" gone
check "and no file" [ -z "$(ls temporary)" ]

# ---- Elsewhere ------------------------------------------------------------------------------------------------
try explore --runs 60 --clock quiet --stop-on-first ./ending abba
status 1 "a deadlock"
check "has a file" [ -f ending.min.raddle.json ]
mkdir elsewhere
replays() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" >out 2>err
    status=$?
    status 0 "replayed $what"
    hasnt out "differs" "replayed $what: as recorded"
}
replays "with more variables and another language" env LANG=de_DE.UTF-8 MORE="$(printf 'x%.0s' {1..3000})" "$RADDLE" replay ending.min.raddle.json -- ./ending abba
replays "from another directory" env -C elsewhere "$RADDLE" replay ../ending.min.raddle.json -- ../ending abba
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for level in 0 2; do
        "$compiler" -std=gnu11 -g "-O$level" -pthread "$programs/ending.c" -o elsewhere/ending
        replays "of $compiler -O$level" "$RADDLE" replay ending.min.raddle.json -- elsewhere/ending abba
        rm elsewhere/ending
    done
done
finish
