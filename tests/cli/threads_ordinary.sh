#!/bin/bash
# What programs with threads commonly consist of (tests/programs/ordinary.c, ordinary.cpp), each with a mistake that people
# make: it is found, shrunk, replayed and explained, and the fixed version is silent. RUNS=20000 at night.
. "$(dirname "$0")/under_test"
runs=${RUNS:-150}

has_library "ordinary programs"

finds() { # PROGRAM NAME IDENTITY TEXT: found, replayed as recorded, and the report has the text; the fixed version is silent
    try explore --stop-on-first --runs "$runs" "./$1" "$2"
    status 1 "explore ./$1 $2"
    silent "explore ./$1 $2"
    lambdas <out >named
    has named "$3: first in run" "$2: $3"
    tr -s '\n ' ' ' <named >words
    has words "$4" "$2: the report says $4"
    for times in ${TIMES:-1}; do
        RADDLE_ADDRESSES=random try replay "$1.min.raddle.json" -- "./$1" "$2"
        status 0 "$2: replay $times, at other addresses"
    done
    try explore --spurious no --runs "${FIXED_RUNS:-60}" "./$1" "$2" fixed
    status 0 "explore ./$1 $2 fixed"
    has out "nothing found in" "$2 fixed: silent"
}

makes_threads ordinary
finds ordinary pool deadlock:condition "main waits for condition pool.idle: the last signal came from pool_worker"
finds ordinary queue "assertion@queue.count > 0 in queue_takes" "assert(queue.count > 0);"
finds ordinary closing deadlock:condition+consumer "condition queue.not_empty: the last broadcast came from main at step"
finds ordinary cache "assertion@cache.used == 1 in cached" "assert(cache.used == 1);"
finds ordinary dining deadlock:mutex+philosopher "waits for mutex forks[2], held by philosopher"
finds ordinary init crash:SIGSEGV "return name[0] == 'c' ? arg : NULL;"
finds ordinary stages "assertion@cells[1 - i] == round in computes" "assert(cells[1 - i] == round);"
finds ordinary timed "assertion@answered + given_up == 1 in timed" "assert(answered + given_up == 1);"
finds ordinary semaphores deadlock:sem_user+semaphore "waits for semaphore guard"
finds ordinary local "assertion@strcmp(lent, \"1\") == 0 in local" "assert(strcmp(lent, \"1\") == 0);"
finds ordinary logging "assertion@logger.written == 2 in logging" "assert(logger.written == 2);"
finds ordinary recursive deadlock:condition+mutex "sets waits for mutex again: taken by main at step"
finds ordinary counted misuse@free "was given back already"
finds ordinary notified deadlock:condition "when no thread waited, so it woke none"
try explore --runs "$runs" ./ordinary queue
has out "None of these failures is new: each was found without, too." "spurious wakeups find the same"
hasnt out "What fails only with" "which does not need them"

# A wait without a loop: only a wait that ends without a signal shows it. Found last, and then it does not count.
try explore --runs "$runs" ./ordinary spurious
status 0 "explore ./ordinary spurious"
has out "Only with spurious wakeups:" "shown apart"
has out "With spurious wakeups: " "and counted apart"
has out "What fails only with spurious wakeups waits for a condition without a loop" "and explained"
hasnt out "None of these failures is new" "it is new"
finds_spurious() { # OPTIONS: STATUS
    try explore --runs "$runs" "$1" "$2" ./ordinary spurious
    status "$3" "explore $1 $2 ./ordinary spurious"
}
finds_spurious --spurious no 0
hasnt out "purious wakeups:" "with none nothing is said of them"
finds_spurious --spurious yes 1
has out "assertion@queue.count > 0 in queue_takes: first in run" "found"
try replay ordinary.min.raddle.json -- ./ordinary spurious
status 0 "replayed: the file says that there are spurious wakeups"
try explore --runs "$runs" --spurious yes ./ordinary spurious fixed
status 0 "the fixed version has a loop"
try explore --spurious maybe ./ordinary spurious
status 2 "--spurious maybe"
has err "--spurious 'maybe': use no or yes" "--spurious says what it expects"

try explore --runs "$runs" --no-shrink ./ordinary queue
check "found in two phases, told once" [ "$(grep -c "^FAILED" out)" = 1 ]
check "replayed by one line" [ "$(grep -c "^ *replay  " out)" = 1 ]

cxx=
for one in ${CXX:-} g++ clang++; do
    if command -v "$one" >/dev/null; then cxx=$one && break; fi
done
if [ -z "$cxx" ]; then
    skip "C++" "there is no compiler for it"
else
    takes programs ordinary_cxx ordinary.cpp || check "ordinary.cpp compiles" "$cxx" -std=c++20 -g -O1 -pthread "$programs/ordinary.cpp" -o ordinary_cxx
    finds ordinary_cxx async deadlock:async::lambda+mutex "held by main"
    finds ordinary_cxx promise crash:SIGABRT "p.set_value(n);"
    finds ordinary_cxx table deadlock:rwlock+table::lambda "table::lambda waits for rwlock, held by table::lambda"
    finds ordinary_cxx once misuse:condition@pthread_cond_signal "uses a condition that was destroyed"
    finds ordinary_cxx lazily "assertion@made == 1 in lazily" "assert(made == 1);"
    try explore --no-shrink --runs "$runs" ./ordinary_cxx striped
    status 1 "explore ./ordinary_cxx striped: locks are chosen by the addresses of threads"
    hasnt out "NOT REPEATABLE" "which are the same in each process"
    try replay ordinary_cxx.raddle.json -- ./ordinary_cxx striped
    status 0 "so it can be replayed"
    finds ordinary_cxx stopping deadlock:condition+stopping::lambda "main waits for stopping::lambda"
fi
finish
