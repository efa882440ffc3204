#!/bin/sh
# What stops a test program: CPU time, its own and that of everything it started, or no progress. Never the clock.
. "$(dirname "$0")/tap"
limit=${RADDLE_BUILD:?}/tests/cpu_limit

burn='i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' # some tenths of a second of CPU
try() { # SECONDS COMMAND...: status, used and err
    "$limit" "$1" used sh -c "$2" >out 2>err
    status=$?
}
is() { [ "$status" = "$1" ] && grep -q "$2" used; }

try 60 "echo hello; exit 3"
check "a program that ends keeps its status" is 3 '^0\.[0-9]* $'
check "its output is untouched" grep -q '^hello$' out
try 60 'kill -KILL $$'
check "a signal is 128 and its number" is 137 '^0'
try 0.3 "while :; do :; done"
check "an endless loop uses up its CPU time" is 124 'more than 0.3 s of CPU'
try 0.3 "($burn) & ($burn) & ($burn) & ($burn) & wait"
check "children count" is 124 'more than 0.3 s of CPU'
try 0.3 "while :; do sh -c 'i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done'; done"
check "children that have ended count" is 124 'more than 0.3 s of CPU'
CPU_LIMIT_QUIET=1 try 60 "sleep 1000"
check "a program that sleeps for ever makes no progress" is 124 'no progress'
try 60 'sleep 1000 & echo $! >orphan; exit 0'
check "what it leaves behind does not change its status" is 0 '^0'
check "and is ended" sh -c '! kill -0 $(cat orphan) 2>/dev/null'
"$limit" 60 used no-such-program >out 2>err
status=$?
check "a program that is not there" is 127 '^0'
finish
