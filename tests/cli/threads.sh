#!/bin/bash
# Ordinary programs with threads under test: `raddle explore ./program` on binaries that know nothing of raddle.
# tests/programs/threads.c and threads.cpp have a bug under each name, and the fixed version of it.
. "$(dirname "$0")/under_test"

has_library "threads under test"

finds() { # PROGRAM NAME IDENTITY STEPS: found, shrunk to at most so many steps, replayed; the fixed version is silent
    try explore --runs 150 "./$1" "$2"
    status 1 "explore ./$1 $2"
    silent "explore ./$1 $2"
    lambdas <out >named
    has named "$3: first in run" "$2: $3"
    try replay "$1.min.raddle.json" --json -- "./$1" "$2"
    status 0 "$2: replay in another process, as recorded"
    check "$2: at most $4 steps" [ "$(sed -n 's/^ *"steps": \([0-9]*\),*/\1/p' out | head -1)" -le "$4" ]
    try explore --runs 150 "./$1" "$2" fixed
    status 0 "explore ./$1 $2 fixed"
    has out "nothing found in" "$2 fixed: silent"
    has out "code between two operations was not interrupted halfway" "$2 fixed: says what was not tried"
    has out "equal in a fresh process" "$2 fixed: many runs in one process, audited"
}

# ---- C -------------------------------------------------------------------------------------------------
makes_threads threads
finds threads abba deadlock:forward+mutex 12
finds threads lost deadlock:condition+waiter 18
finds threads consumed deadlock:condition+taker 35
finds threads bare deadlock:condition+hand 24
finds threads oversold "assertion@stock >= 0 in oversold" 24
finds threads stranger misuse:mutex@pthread_mutex_unlock 10
finds threads upgrade "assertion@version == 2 in upgrade" 24
finds threads crowd "assertion@inside == 1 in enters" 18
finds threads second "assertion@first == 1 || fixed in second" 44
finds threads life deadlock:lives+mutex 16
finds threads patience deadlock:condition+patient 95
finds threads c11 deadlock:condition+plays 30

# Two failures, of which no shrinking makes one.
try explore --runs 150 ./threads twins
status 1 "explore ./threads twins"
for twin in left right; do has out "assertion@right in ${twin}_twin: first in run" "$twin twin: found"; done
for file in threads.min.raddle.json threads-2.min.raddle.json; do
    try replay "$file" -- ./threads twins
    status 0 "$file: replayed"
done
check "two identities" [ "$(sed -n 's/^ *"identity": //p' threads.min.raddle.json threads-2.min.raddle.json | sort -u | wc -l)" -eq 2 ]
rm -f -- *.json

# clang writes other debug information, and tells more of a function in which an assertion fails.
if command -v clang >/dev/null; then
    check "clang compiles threads.c" clang -g -O2 -pthread "$programs/threads.c" -o threads_clang
    try explore --runs 150 --no-shrink ./threads_clang abba
    has out "forward waits for mutex n" "clang: locks have the names of variables"
    try explore --runs 150 ./threads_clang crowd
    has out "assertion@inside == 1 in enters" "clang: the function of an assertion has its name only"
fi

# The last ones of `lost` and `consumed`, with what became of the signal.
why() { # NAME TEXT
    try explore --runs 150 --stop-on-first ./threads "$1"
    sed -n '/^Why nothing/,/^$/p' out | tr -s '\n ' ' ' >why
    has why "$2" "$1: $2"
}
why lost "when no thread waited, so it woke none; this wait began later, at step"
why bare "; this wait began later, at step"
why consumed "instead: a signal wakes one thread, a broadcast wakes all"

# ---- What is told -----------------------------------------------------------------------------------------
try explore --runs 150 ./threads abba
has out "main waits for forward; forward waits for mutex n (held by" "threads have the names of their functions, locks those of variables"
has out "preempt forward, run backward" "the switch that matters"
stops="forward stops before threads.c:$(grep -n 'mutex_lock(second)' "$programs/threads.c" | cut -d: -f1): pthread_mutex_lock(second);"
has out "$stops" "it says before which line, of a thread that never comes to that line"
has out "threads.c:" "and places in the source"
cat >half.c <<'END'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int begun, done;
static void *half(void *arg)
{
    pthread_mutex_lock(&m);
    begun = 1;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    done = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, half, NULL);
    pthread_mutex_lock(&m);
    assert(begun == done);
    pthread_mutex_unlock(&m);
    return pthread_join(thread, NULL);
}
END
# shellcheck disable=SC2086
compiles "half.c compiles" "$library" $cc -std=gnu11 -g -pthread half.c -o half
try explore --runs 150 --stop-on-first ./half
has out "half stops after half.c:9: pthread_mutex_unlock(&m);" "nor in a process that dies before"
for times in 1 2; do
    RADDLE_ADDRESSES=random try replay threads.min.raddle.json -- ./threads abba
    status 0 "replay $times, at other addresses"
done
try explore --runs 60 --json ./threads lost
cp out fixed.json
RADDLE_ADDRESSES=random try explore --runs 60 --json ./threads lost
same_but_time() { # nothing depends on them: the runs, their traces and classes are equal
    for file in fixed.json out; do sed -E '/"elapsed":/d' "$file" >"$file.timeless"; done
    cmp -s fixed.json.timeless out.timeless
}
check "at random addresses the search finds the same in the same runs" same_but_time
try explore --runs 60 --apart ./threads abba
status 1 "a process for each run"
has out "deadlock:forward+mutex: first in run" "finds the same"

# ---- C++ ----------------------------------------------------------------------------------------------------
cxx=
for one in ${CXX:-} g++ clang++; do
    if command -v "$one" >/dev/null; then cxx=$one && break; fi
done
if [ -z "$cxx" ]; then
    skip "C++" "there is no compiler for it"
else
    takes programs threads_cxx threads.cpp || check "threads.cpp compiles" "$cxx" -std=c++20 -pthread "$programs/threads.cpp" -o threads_cxx
    finds threads_cxx bank deadlock:bank::lambda+mutex 12
    finds threads_cxx shutdown deadlock:condition+pool::pool::lambda 60
    finds threads_cxx promised deadlock:object 18
    finds threads_cxx waits "assertion@inside == 1 in waits" 40
    try explore --runs 9 --no-shrink ./threads_cxx callables
    status 1 "explore ./threads_cxx callables"
    tr -s '\n ' '  ' <out | lambdas >named
    for name in sells shop::buys shop callables::lambda async; do
        has named " $name waits for mutex (held by main)" "a thread has the name of what it calls: $name"
    done
    for bug in thrown:crash:SIGABRT crash:crash:SIGSEGV; do
        try explore --runs 40 ./threads_cxx "${bug%%:*}"
        status 1 "explore ./threads_cxx ${bug%%:*}"
        has out "${bug#*:}: first in run" "$bug"
        try replay threads_cxx.min.raddle.json -- ./threads_cxx "${bug%%:*}"
        status 0 "$bug: replayed"
        try explore --runs 60 ./threads_cxx "${bug%%:*}" fixed
        status 0 "$bug: fixed"
    done
fi

# ---- Threads beside fibers ---------------------------------------------------------------------------------
sed 's/EACH = 5000/EACH = 20/' "$src/examples/between_threads.c" >between.c
# shellcheck disable=SC2086
compiles "between_threads compiles" "$library" $cc -std=gnu11 -g -pthread between.c -o between
try explore --runs 10 ./between
status 0 "threads and fibers, and channels between them"
has out "nothing found in 10 runs" "are explored together"

# ---- What cannot be explored, by name --------------------------------------------------------------------------
refuses() { # NAME TEXT
    try explore --runs 20 ./threads "$1"
    status 2 "$1"
    has err "$2" "$1 is refused by name: $2"
}
refuses forks "the program calls fork: "

# ---- What a thread can have --------------------------------------------------------------------------------------
try explore --runs 60 ./threads crowded
status 0 "64 threads, on stacks of 16 MB, with a time limit each"
has out "in process 60 runs" "in one process, too: the first run tells how many there are"
try explore --runs 20 ./threads joined
status 1 "joining twice"
has out "misuse:forward@pthread_join: first in run 0" "is misuse"

# ---- What the calls answer -----------------------------------------------------------------------------------------
makes_threads answers
try explore --runs 40 --spurious no --clock quiet ./answers
status 0 "what the calls answer, and when"
has out "nothing found in 40 runs" "in 40 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "outside" "and are marked in none"
makes_threads answers_time
try explore --runs 20 --spurious no --clock quiet ./answers_time
status 0 "times that are none are refused, and those that never come are waited for"
try explore --runs 200 --spurious yes --clock quiet ./answers_time spurious
status 0 "no run has more than two spurious wakeups"

# ---- Time to shrink ------------------------------------------------------------------------------------------------
try explore --time 1 --stop-on-first --clock quiet --spurious no ./threads relay
status 1 "a failure whose certificate would take minutes"
has out "because    time was up before all schedules with fewer preemptions were tried" "--time holds for it, too"

# ---- A program with an allocator of its own ------------------------------------------------------------------------
# shellcheck disable=SC2086
if $cc -g -shared -fPIC -fno-builtin -DLIBRARY "$programs/allocator.c" -o liballocator.so 2>log &&
    $cc -g -O0 -pthread "$programs/allocator.c" -Wl,--no-as-needed ./liballocator.so -l:libstdc++.so.6 -o allocator 2>>log; then
    check "an allocator: the program runs by itself" ./allocator
    try explore --runs 9 ./allocator
    status 0 "all blocks are of one heap, those of new and of valloc, too"
    try explore --runs 1 ./allocator twice
    has out "misuse@free: first in run 0" "so one that is freed twice is found"
else
    skip "a program with an allocator" "there is no C++ library to link with"
fi

# ---- The list of calls ---------------------------------------------------------------------------------------
sed -n 's/^\(RAD_ANSWER\|READING\)([^,]*, \([A-Za-z0-9_]*\),.*/\2/p' "$src"/src/lab/programs/threads/*.c | LC_ALL=C sort -u >answered
sed -n '/^## Calls/,/^## /p' "$src/docs/threads-under-test.md" | grep '^| `' | cut -d'|' -f2 | grep -o '`[a-z0-9_]*`' | tr -d '`' | LC_ALL=C sort -u >documented
same answered documented "the calls in the docs are those that are answered"
LC_ALL=C comm -23 answered "$src/src/lab/programs/fibers/interposed.txt" >missing
check "and all of them are exported" [ ! -s missing ]

sleep 0.1
check "no process is left" [ -z "$(left "^./threads")" ]
finish
