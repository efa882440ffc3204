#!/bin/bash
# Runs of a program in one process: nothing of a run is left for the next one, and what cannot be put back is noticed.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL
if [ ! -f "$build/src/lab/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
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
for word in memory files "files before" signals; do
    both "$word" 0 60
    check "$word: in process, with audits" grep -qE '^  in process 60 runs, [1-9][0-9]* of them audited: equal in a fresh process$' here
done
both "" 0 60
try explore --runs 1300 --strategy random --no-shrink ./leftover
has out "in process 1,300 runs, 9 of them audited: equal in a fresh process" "every thousandth run is audited, and the first ones"
both place 0 60
has here "a process for each run, because it calls umask" "what cannot be put back is named"
both unmaps 0 60
has here "because it gives memory back, or changes its protection" "memory that is gone is noticed"
both crash 1 60
has here "FAILED: crash at step 7: the process died in step 7: SIGSEGV" "a crash in a process of many runs is one of a fresh process"
check "and the only kind of failure" [ "$(grep -c "^FAILED" here)" = 1 ]
try explore --runs 60 --json ./leftover
has out '"in_process": 60' "JSON has it, too"
try explore --runs 20 --twice ./leftover
hasnt out "in process" "--twice makes each run in a fresh process"
sleep 0.1
check "no process is left" [ -z "$(left "^./leftover")" ]
finish
