#!/bin/bash
# System calls without a name: tests/programs/gated.c makes them by inline assembly, or has the C library make them.
. "$(dirname "$0")/under_test"

# The table in the source is the one in the docs.
for row in SIMULATED:simulated WAITING:waits PASSED:passed NOTED:noted STAYING:stays MARKED:marked REFUSED:refused; do
    sed -n "/^#define RAD_CALLS_${row%%:*}(/,/^$/p" "$src/src/lab/programs/system_calls.h" | grep -o 'CALL([a-z0-9_]*)' | sed 's/CALL(//; s/)//' | LC_ALL=C sort >coded
    sed -n '/^## System calls/,/^## /p' "$src/docs/threads-under-test.md" | grep "^| ${row#*:} |" | cut -d'|' -f3 | grep -o '`[a-z0-9_]*`' | tr -d '`' | LC_ALL=C sort >documented
    same coded documented "system calls that are ${row#*:}: the docs have those of the source"
done
sed -n 's/.*/&/; /^#define RAD_CALLS/,/^$/p' "$src/src/lab/programs/system_calls.h" | grep -o 'CALL([a-z0-9_]*)' | LC_ALL=C sort | uniq -d >twice
check "none has two rows" [ ! -s twice ]
if [ "$(uname -m)" = x86_64 ]; then
    echo '#include <sys/syscall.h>' | $cc -E -dM - | awk '$2 ~ /^__NR_/ && $3 <= 450 { print "CALL(" substr($2, 6) ")" }' | LC_ALL=C sort -u >known
    grep -o 'CALL([a-z0-9_]*)' "$src/src/lab/programs/system_calls.h" | LC_ALL=C sort -u | LC_ALL=C comm -23 known - >without
    check "every call of Linux 6.1 has a row" [ -s known -a ! -s without ]
fi

has_library "system calls under test"
if [ "$(uname -m)" != x86_64 ]; then
    skip "system calls without a name" "they are seen on x86-64"
    finish
fi
makes_threads gated
try explore --runs 9 ./gated marks
if grep -q "seen by name only" out; then
    skip "system calls without a name" "this system does not show them"
    finish
fi
has out "outside    9 runs changed what outlives a run, or asked for it: unlink" "a call that is marked is named"

runs=40
finds_in gated unwoken deadlock:holds+object
finds_in gated inner deadlock:mutex+object
finds_in gated flows deadlock:descriptor

finds_in gated waits deadlock:descriptor

# The processor's counter is the virtual clock, also for what runs before main; other faults are the program's.
try explore --runs 40 ./gated counter
has out "crash:SIGSEGV: first in run 0" "a fault is still one"
try explore --runs 40 ./gated counter fixed
status 0 "the processor's counter and the page of clocks show the virtual time"
has out "equal in a fresh process" "in each process"
try explore --runs 9 --real-threads ./gated counter fixed
status 0 "and on threads of the system"

# As many processors as it is told, on any machine.
try explore --runs 9 --clock quiet ./gated processors
status 0 "4 processors, wherever it asks"
hasnt out "outside" "no file of the machine is read"
try explore --runs 9 --clock quiet --processors 70 ./gated processors 70
status 0 "or as many as --processors says"
try explore --runs 9 --clock quiet --processors 3 --stop-on-first ./gated processors
status 1 "3, where the program expects 4"
has gated.min.raddle.json '"processors": 3' "the file says how many"
try replay gated.min.raddle.json -- ./gated processors
status 0 "and replays with them"
try explore --processors 0 ./gated processors
status 2 "--processors 0"
try explore --processors 2 buffer
has err "--processors needs a program" "a machine has none"
try explore --runs 9 ./gated setresuid
status 2 "setresuid"
has err "the program calls setresuid: " "is refused by name"

refuses() { # NAME CALL
    try explore --runs 9 ./gated "$1"
    status 2 "$1"
    has err "the program calls $2: by its number" "$1: $2 is refused by name"
}
refuses forks fork
refuses runs execve
refuses becomes setuid
try explore --runs 9 ./gated exits
has out "exit@9: first in run 0" "exit by its number ends the program"
try explore --runs 20 --clock quiet ./gated answers
status 0 "what the calls answer"
has out "equal in a fresh process" "in each process"

# Threads of GNU OpenMP do not spin before they sleep, unless the user wants it.
cat >spins.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *nothing(void *x)
{
    return x;
}
int main(void)
{
    pthread_t t;
    const char *spins = getenv("GOMP_SPINCOUNT");
    pthread_create(&t, 0, nothing, 0);
    pthread_join(t, 0);
    return spins ? atoi(spins) : 1;
}
END
# shellcheck disable=SC2086 # CC may have words
check "a program that looks at its environment" ${CC:-cc} -g -pthread spins.c -o spins
try explore --runs 1 ./spins
status 0 "GOMP_SPINCOUNT is 0"
GOMP_SPINCOUNT=7 try explore --runs 1 --no-shrink ./spins
has out "ended with exit status 7" "or what the user has set"

# Without the gate.
RADDLE_GATE=no try explore --runs 9 ./gated marks
status 0 "without the gate"
has out "system calls were seen by name only" "the verdict says so"
hasnt out "outside" "and what has no name is not seen"
RADDLE_GATE=no try explore --runs 1 --clock quiet --stop-on-first --no-shrink ./gated flows
has out "FAILED: hang at step" "a call that blocks is a hang"
has out "it sleeps in write" "which is named"
finish
