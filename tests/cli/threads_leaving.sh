#!/bin/bash
# Threads that end before their end: pthread_exit, cancellation, robust mutexes, detached threads; what a thread is to
# the system; and what C++20 has for threads. tests/programs/leaving.c has a bug under each name, and the fixed version.
. "$(dirname "$0")/under_test"

has_library "threads that leave"
makes_threads leaving

runs=60
finds_in leaving held deadlock:mutex
finds_in leaving halves "assertion@left == right || left == 0 in halves"
finds_in leaving robust "assertion@code == 0 || code == EOWNERDEAD in robust"
finds_in leaving orphan deadlock:mutex
finds_in leaving main_leaves exit@7

refuses() { # NAME TEXT
    try explore --runs 20 ./leaving "$1"
    status 2 "$1"
    has err "$2" "$1 is refused by name: $2"
}
refuses at_once "the program calls pthread_cancel: of a thread with PTHREAD_CANCEL_ASYNCHRONOUS"
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
    takes programs standard_cxx standard.cpp ||
        check "standard.cpp compiles" "$cxx" -std=c++20 -O1 -pthread "$programs/standard.cpp" -o standard_cxx
    try explore --runs 60 --clock quiet --twice ./standard_cxx
    status 0 "C++20: 60 runs"
    has out "nothing found in 60 runs" "jthread, latch, barrier, semaphores, atomic wait, futures, shared_mutex, call_once"
    hasnt out "outside" "C++20: nothing is marked"
fi
finish
