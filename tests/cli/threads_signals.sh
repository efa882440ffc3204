#!/bin/bash
# Signals and timers in programs with threads: tests/programs/signals.c and timers.c have a bug under each name, and the
# fixed version of it.
. "$(dirname "$0")/under_test"

has_library "signals under test"
makes_threads signals

runs=60
finds_in signals locked deadlock:adder+mutex
finds_in signals missed deadlock:signal
finds_in signals unblocked crash:SIGUSR2
finds_in signals broken "assertion@code == 0 in broken"
finds_in signals anyone "assertion@!elsewhere in anyone"
finds_in signals timed exit@3
finds_in signals merged deadlock:descriptor

for bug in ends:crash:SIGTERM aborts:crash:SIGABRT; do
    try explore --runs 20 ./signals "${bug%%:*}"
    has out "${bug#*:}: first in run 0" "signals ${bug%%:*}: ends by the signal"
done
try explore --runs 60 --clock quiet --spurious no ./signals answers
status 0 "what the calls answer, in 60 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "outside" "and are marked in none"
try explore --runs 150 --clock quiet ./signals disturbed
status 0 "a handler disturbs no barrier, and no wait that has been signalled"

makes_threads timers
runs=60
finds_in timers held deadlock:mutex+semaphore+timer
finds_in timers early deadlock:condition+timer
finds_in timers silent deadlock:semaphore
finds_in timers unset deadlock:descriptor
finds_in timers sleeps deadlock:condition
try shrink timers.raddle.json -- ./timers sleeps
check "a shrinker tries nothing with steps that nobody else could make" test "$(sed -n 's/.*steps (\([0-9]*\) runs)/\1/p' out)" -lt 400
try show timers.min.raddle.json -- ./timers sleeps
has out "are the 2 steps before them, 999 times more" "what repeats is drawn once, whatever the time is"
finds_in timers relocks deadlock:mutex
try explore --runs 20 --clock free --no-shrink ./timers relocks
has out ": main waits for mutex m (held by main)" "also if the clock is free"
has out "deadlock 20," "in each run"
try explore --runs 60 --clock quiet ./timers answers
status 0 "what timers answer, in 60 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "outside" "and are marked in none"
try explore --runs 40 --clock quiet --spurious no ./timers idles
status 0 "a loop that yields waits for one that sleeps"
hasnt out "cut " "in no run without an end"
try explore --runs 12 --clock free --strategy pos --spurious no ./timers patience
status 0 "a thread that is too late again and again"
hasnt out "cut " "keeps no other one from its work, if the clock is free"
try explore --runs 20 ./timers held
has out "tick 0 waits for mutex m (held by" "a thread of a timer has the name of its function"

try explore --runs 60 ./signals locked
has out "main waits for" "who waits"
has out "signal_handler" "a handler is a step of its own"
finish
