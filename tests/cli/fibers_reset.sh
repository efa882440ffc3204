#!/bin/bash
# Runs of a program in one process: nothing of a run is left for the next one, and what cannot be put back is noticed.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL
if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "programs under test" "this build has no library for them"
    finish
fi
# shellcheck disable=SC2086 # CC may have words
compiles "leftover compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra "$src/tests/programs/leftover.c" -o leftover

# What does not depend on the time, or on the processes.
result() {
    grep -E '^  (runs|classes|oracles) |first in run|^nothing' "$1" | sed 's/ steps, .*/ steps/'
}
both() { # WORD STATUS RUNS: in one process and in many the same is found
    try explore --runs "$3" --strategy random --no-shrink ./leftover "$1"
    status "$2" "leftover $1"
    cp out here
    try explore --apart --runs "$3" --strategy random --no-shrink ./leftover "$1"
    result here >a
    result out >b
    same a b "$1: the same runs as with a process for each"
    has out "a process for each run, because it was asked for" "$1: --apart"
}
echo 0123456789 >digits.txt
for word in memory files "files before" signals faults heap draws reads; do
    both "$word" 0 60
    check "$word: in process, with audits" grep -qE '^  in process 60 runs, [1-9][0-9]* of them audited: equal in a fresh process$' here
done
both "" 0 60
try explore --runs 1300 --strategy random --no-shrink ./leftover
has out "in process 1,300 runs, 9 of them audited: equal in a fresh process" "every thousandth run is audited, and the first ones"
for word in wide late; do # so many that they are trusted
    try explore --runs 1300 --strategy random --no-shrink ./leftover $word
    status 0 "leftover $word"
    has out "in process 1,300 runs" "$word: each run finds memory as the first one does"
done
try explore --runs 60 --strategy random --no-shrink ./leftover "other steps"
has out "because an audited run was another one in a fresh process" "as many steps, but others, are another run"
both place 0 60
has here "a process for each run, because it calls umask" "what cannot be put back is named"
both unmaps 0 60
has here "because it gives memory back, or changes its protection" "memory that is gone is noticed"
both crash 1 60
has here "FAILED: crash at step 10: the process died in step 10: SIGSEGV" "a crash in a process of many runs is one of a fresh process"
check "and the only kind of failure" [ "$(grep -c "^FAILED" here)" = 1 ]
both handler 1 400
has here "FAILED: crash at step 4: the process died in step 4: SIGSEGV" "a handler of SIGSEGV does not save the run after that which installed it"
has here "10 of 400 runs failed." "and saves that one"

# ---- Failures that are not there again -----------------------------------------------------------------
unconfirmed() { # WORD WHY
    try explore --runs 60 --strategy random --no-shrink ./leftover "$1"
    status 0 "leftover $1: what a fresh process does not confirm is no failure"
    has out "a process for each run, because $2" "$1: and is a reason to trust no run of many in one process"
}
unconfirmed once "a run that failed was another one in a fresh process"
unconfirmed "once dies" "a run died that does not die in a fresh process"
try explore --runs 60 --strategy random --no-shrink ./leftover otherwise
check "a death of which a fresh process dies in another way: what that dies of counts" grep -q "^FAILED: .*the process died in step [0-9]*: SIGFPE" out
hasnt out "SIGSEGV" "and not what nobody can see again"
try explore --runs 60 --strategy random --no-shrink --memory 9M ./leftover heap
status 0 "--memory: 60 runs hold no more than one does"
try explore --runs 60 --strategy random --no-shrink --memory 7M ./leftover heap
has out "FAILED: memory at step" "what main got before the first decision counts"
has out "60 of 60 runs failed." "in each run"
try explore --runs 3 --no-shrink --memory 5M ./leftover heap
has out "FAILED: memory at step 0: the program holds more than 5 MiB" "also if that is too much already, before any operation"
try explore --runs 60 --json ./leftover
has out '"in_process": 60' "JSON has it, too"
try explore --runs 20 --twice ./leftover
hasnt out "in process" "--twice makes each run in a fresh process"
sleep 0.1
check "no process is left" [ -z "$(left "^./leftover")" ]
finish
