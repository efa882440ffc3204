#!/bin/bash
# Signals in programs with threads: tests/programs/signals.c has a bug under each name, and the fixed version of it.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL

if [ ! -f "$build/src/lab/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "signals under test" "this build has no library for them"
    finish
fi
# shellcheck disable=SC2086 # CC may have words
check "signals.c compiles" $cc -std=gnu11 -g -O1 -Wall -Wextra -pthread "$src/tests/programs/signals.c" -o signals

finds() { # NAME IDENTITY: found, replayed in another process; the fixed version is silent
    try explore --runs 60 --clock quiet ./signals "$1"
    status 1 "explore ./signals $1"
    has out "$2: first in run" "$1: $2"
    try replay signals.min.raddle.json -- ./signals "$1"
    status 0 "$1: replayed"
    try explore --runs 60 --clock quiet ./signals "$1" fixed
    status 0 "explore ./signals $1 fixed"
    has out "nothing found in" "$1 fixed: silent"
}
finds locked deadlock:adder+mutex
finds missed deadlock:signal
finds unblocked crash:SIGUSR2
finds broken "assertion@code == 0"
finds anyone "assertion@!elsewhere"
finds timed exit@3

for bug in ends:crash:SIGTERM aborts:crash:SIGABRT; do
    try explore --runs 20 ./signals "${bug%%:*}"
    has out "${bug#*:}: first in run 0" "signals ${bug%%:*}: ends by the signal"
done
try explore --runs 60 --clock quiet ./signals answers
status 0 "what the calls answer, in 60 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "outside" "and are marked in none"

try explore --runs 60 ./signals locked
has out "main waits for" "who waits"
has out "signal_handler" "a handler is a step of its own"
finish
