#!/bin/bash
# Threads that wait for descriptors: tests/programs/pipes.c has a bug under each name, and the fixed version of it.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL

if [ ! -f "$build/src/lab/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "descriptors under test" "this build has no library for them"
    finish
fi
# shellcheck disable=SC2086 # CC may have words
check "pipes.c compiles" $cc -std=gnu11 -g -O1 -Wall -Wextra -pthread "$src/tests/programs/pipes.c" -o pipes

finds() { # NAME IDENTITY: found, replayed in another process; the fixed version is silent
    try explore --runs 40 --clock quiet ./pipes "$1"
    status 1 "explore ./pipes $1"
    has out "$2: first in run" "$1: $2"
    hasnt out "outside" "$1: nothing comes from outside"
    try replay pipes.min.raddle.json -- ./pipes "$1"
    status 0 "$1: replayed"
    try explore --runs 40 --clock quiet ./pipes "$1" fixed
    status 0 "explore ./pipes $1 fixed"
    has out "nothing found in" "$1 fixed: silent"
}
finds crossed deadlock:descriptor
finds full deadlock:descriptor+mutex
finds stolen "assertion@fixed || byte == *(char *)expected"
finds broken crash:SIGPIPE
finds locked deadlock:stream

try explore --runs 40 --clock quiet ./pipes answers
status 0 "what the calls answer, in 40 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "uncontrolled" "and all are controlled"
finish
