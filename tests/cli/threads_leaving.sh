#!/bin/bash
# Threads that end before their end: pthread_exit, cancellation, robust mutexes, detached threads; what a thread is to
# the system; and what C++20 has for threads. tests/programs/leaving.c has a bug under each name, and the fixed version.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL

if [ ! -f "$build/src/lab/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "threads that leave" "this build has no library for them"
    finish
fi
# shellcheck disable=SC2086 # CC may have words
check "leaving.c compiles" $cc -std=gnu11 -g -O1 -Wall -Wextra -pthread "$src/tests/programs/leaving.c" -o leaving

finds() { # NAME IDENTITY: found, replayed in another process; the fixed version is silent
    try explore --runs 60 --clock quiet ./leaving "$1"
    status 1 "explore ./leaving $1"
    has out "$2: first in run" "$1: $2"
    try replay leaving.min.raddle.json -- ./leaving "$1"
    status 0 "$1: replayed"
    try explore --runs 60 --clock quiet ./leaving "$1" fixed
    status 0 "explore ./leaving $1 fixed"
    has out "nothing found in" "$1 fixed: silent"
}
finds held deadlock:mutex
finds halves "assertion@left == right || left == 0"
finds robust "assertion@code == 0 || code == EOWNERDEAD"
finds orphan deadlock:mutex
finds main_leaves exit@7

refuses() { # NAME TEXT
    try explore --runs 20 ./leaving "$1"
    status 2 "$1"
    has err "$2" "$1 is refused by name: $2"
}
refuses at_once "the program calls pthread_cancel: of a thread with PTHREAD_CANCEL_ASYNCHRONOUS"
refuses ceiling "the program calls pthread_mutex_lock: of a mutex with a priority ceiling"
refuses inherits "the program calls futex(FUTEX_LOCK_PI): "

try explore --runs 60 --clock quiet ./leaving answers
status 0 "what the calls answer, in 60 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "outside" "and are marked in none"

cxx=
for one in ${CXX:-} g++ clang++; do
    if command -v "$one" >/dev/null; then cxx=$one && break; fi
done
if [ -z "$cxx" ]; then
    skip "C++20" "there is no compiler for it"
else
    check "standard.cpp compiles" "$cxx" -std=c++20 -O1 -pthread "$src/tests/programs/standard.cpp" -o standard
    try explore --runs 60 --clock quiet --twice ./standard
    status 0 "C++20: 60 runs"
    has out "nothing found in 60 runs" "jthread, latch, barrier, semaphores, atomic wait, futures, shared_mutex, call_once"
    hasnt out "outside" "C++20: nothing is marked"
fi
finish
