#!/bin/bash
# What a program under test finds in the place of the C library's clocks, sleeps, random numbers and memory, and what it
# does outside of its process.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL
under=$build/src/lab/programs/fibers/libraddle.so.0
programs=$src/tests/programs

if [ ! -f "$under" ] || is_sanitized "$library"; then
    skip "programs under test" "this build has no library for them"
    finish
fi
# shellcheck disable=SC2086 # CC may have words
compiles "guest compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra "$programs/guest.c" -o guest

# ---- Time, random numbers -------------------------------------------------------------------------------
clean() { # WORD: nothing is found, and each run can be repeated
    try explore --runs 30 --twice ./guest "$1"
    status 0 "guest $1: each run can be repeated"
    silent "guest $1"
    has out "nothing found in" "guest $1: nothing found"
}
clean sleeps
has out "With a free clock: nothing found in" "sleeping is what a free clock is tried for"
clean loops
clean draws
hasnt out "outside" "guest draws: nothing is marked"
try run ./guest draws && cp out first
try run ./guest draws
same first out "another process draws the same"

# ---- Outside --------------------------------------------------------------------------------------------
clean writes
has out "60 runs changed what outlives a run, or asked for it: fopen(left.txt), mkdir(folder), open(cut.txt), rename(left.txt), rmdir(folder), unlink(renamed.txt)" "what it did to files is named"
has out "uncontrolled 60" "and counted"
clean reads
hasnt out "outside" "reading is not marked"
clean timers
hasnt out "cut " "and each run comes to its end"
clean alarms
hasnt out "outside" "an alarm is one of the virtual clock"
try explore --runs 9 --json ./guest writes
has out '"unlink(renamed.txt)"' "JSON has the calls"
try explore --runs 9 -j 2 --json ./guest writes && grep -A6 '"outside"' out >two
try explore --runs 9 --json ./guest writes && grep -A6 '"outside"' out >one
same one two "which do not depend on -j"
try explore --runs 9 ./guest raw
status 2 "guest raw"
has err "the program calls clone: a run under test starts no other processes" "a process by number is refused by name"

# ---- Memory ---------------------------------------------------------------------------------------------
try explore --runs 30 --memory 10M --stop-on-first ./guest grows
status 1 "guest grows, 10 MiB"
has out "memory@calls: first in run 0" "is a failure"
has out "the program holds more than 10 MiB of memory (--memory)" "that says what"
has guest.min.raddle.json '"memory": 10' "the file has the limit"
try replay guest.min.raddle.json -- ./guest grows
status 0 "guest grows: replayed, with the limit of the file"
try explore --runs 9 --memory 20M ./guest grows
status 0 "guest grows, 20 MiB: what is given back does not count"
try explore --runs 9 --memory 0 ./guest grows
status 0 "guest grows, any amount"
for size in much 1K 64MM; do
    try explore --memory $size ./guest
    status 2 "--memory $size"
done
has err "--memory '64MM': use a size of at least 1M, such as 64M or 2G, or 0" "says what is expected"
try explore event --memory 64M
status 2 "--memory of a machine"
has err "--memory needs a program: raddle explore --memory 64M ./PROGRAM" "is not there"

# ---- What cannot be repeated, and what sleeps --------------------------------------------------------------
try explore --runs 9 ./guest differs
status 1 "guest differs: without --twice"
has out "NOT REPEATABLE: the same choices gave another run in another process" "it is reported that it cannot be repeated"
check "with the step" grep -q 'at step [0-9]*' out
try explore --runs 9 --json ./guest differs
has out '"repeatable": false' "JSON says so"
try explore --runs 9 --json ./guest
has out '"repeatable": true' "and of another one that it can"
try explore --runs 9 --stop-on-first --no-shrink ./guest hangs
status 1 "guest hangs"
has out "did not return within 5 s: it sleeps in read" "a call that sleeps is a failure, and is named"
check "with a file" [ -s guest.raddle.json ]
try show guest.raddle.json -- ./guest hangs
sed -n '/^Where it failed/,/^$/p' out >where
has where "guest.c:$(grep -n 'read(ends' "$src/tests/programs/guest.c" | cut -d: -f1) in " "and the line of that call"
sleep 0.2
check "no process is left" [ -z "$(left '^./guest hangs')" ]

# ---- Programs that cannot be explored, or not well -----------------------------------------------------------
says() { # PROGRAM TEXT
    try explore --runs 9 "./$1"
    status 2 "explore ./$1"
    has err "$2" "$1: $2"
}
printf '#!/bin/sh\nexec ./guest\n' >script && chmod +x script
says script "a script, not a program or shared object (ELF): name the program that it starts"
cp guest plain && chmod -x plain
says plain "a program that cannot be executed; type: chmod +x ./plain"
cat >gopher.c <<'END'
#include <pthread.h>
__attribute__((section(".go.buildinfo"), used)) static const char info[] = "as of Go's linker";
static void *nothing(void *x)
{
    return x;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, nothing, 0);
    return pthread_join(t, 0);
}
END
# shellcheck disable=SC2086 # CC may have words
check "a program with a mark of Go's linker" ${CC:-cc} -g -pthread gopher.c -o gopher
says gopher "'./gopher': a Go program: its runtime starts threads by itself, with signals and stacks of its own"
mkdir -p folder
says folder "a directory, not a program"
cp guest narrow && printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc 2>/dev/null
says narrow "not for 64 bits: compile it with -m64"
echo 'int main(void) { return 0; }' >empty.c
# shellcheck disable=SC2086
if $cc -static empty.c -o static 2>/dev/null; then
    says static "a static program: the lab's library cannot be loaded into it; link it with the shared library, without -static"
else
    skip "a static program" "there is no static C library"
fi
objcopy --strip-debug guest lines && objcopy --strip-all guest stripped
try explore --runs 9 --no-shrink ./lines fails
has out "it has no debug information: lines have no numbers; compile it with -g" "a report says that it has no lines"
try explore --runs 9 --no-shrink ./stripped fails
has out "it is stripped: functions have no names, lines no numbers" "and that it has no names"
try explore --runs 9 ./lines
hasnt out "debug information" "without a failure there is nothing to say"

# ---- Around a run ----------------------------------------------------------------------------------------
# shellcheck disable=SC2086
compiles "around compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra "$programs/around.c" -o around
printf 'one\ntwo\n' >lines.txt
mkdir -p temporary
for words in "./around" "--stdin lines.txt ./around lines" "-j 2 --stdin=lines.txt ./around lines"; do
    # shellcheck disable=SC2086
    TMPDIR=$PWD/temporary try explore --runs 20 --twice --scratch $words
    status 0 "--scratch $words: each run has an empty directory, and its input from the beginning"
    hasnt out "outside" "in which nothing is marked"
done
TMPDIR=$PWD/temporary try explore --runs 20 --scratch --stdin lines.txt ./around beside
status 0 "a run that has ended has left its directory to nobody"
has out "fopen(../above.txt)" "what is above it is outside"
check "and what is beside it" grep -qE "fopen\([^ ]*-beside\)" out
check "nothing is left of them" [ -z "$(ls temporary)" ]
check "nor in the current folder" [ ! -e made.txt ]
try explore --runs 20 --no-shrink ./around
has out "the program ended with exit status 9" "without --scratch runs see what others have left"
has out "fopen(made.txt)" "which is marked"
rm -f made.txt
try explore --runs 20 --scratch ./around lines
has out "exit@7: " "without --stdin there is nothing to read"
try replay around.min.raddle.json -- ./around lines
status 0 "replay makes a directory, too, as the file has it"
try replay around.min.raddle.json --stdin lines.txt -- ./around lines
status 1 "and takes another input"
for file in . nothing.txt; do
    try explore --stdin $file ./around
    status 2 "--stdin $file"
done
has err "--stdin 'nothing.txt': not a readable regular file" "says what is wrong"
try explore event --scratch
status 2 "--scratch of a machine"
has err "--scratch needs a program" "is not there"

# ---- Sessions: the C that is written from a protocol, and its monitor --------------------------------------
for role in Asker Knower; do
    "$RADDLE" session project "$programs/session_ask.session" --role $role --c >Ask_$role.h
done
# shellcheck disable=SC2086
compiles "session_ask compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra -I. "$programs/session_ask.c" -o session_ask
try explore --runs 60 ./session_ask
status 1 "a participant that leaves the protocol in some schedules"
has out "exit@5: first in run" "is found: the monitor refuses what it does"
try show session_ask.min.raddle.json -- ./session_ask
has out "Knower of Ask, session_ask.session:5: cannot send answer to Asker; expected: receive question from Asker" "and says what that was"
try explore --runs 150 ./session_ask fixed
status 0 "one that keeps to it"
has out "nothing found in" "is clean"

# ---- Operations -----------------------------------------------------------------------------------------
# shellcheck disable=SC2086
compiles "choices compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra "$programs/choices.c" -o choices
try explore --strategy dfs ./choices select
has out "nothing found in 2 runs; every schedule was tried" "a select chooses among the cases that can be done, and no others"
try run --policy first --artifact canceled.raddle.json ./choices canceled
status 0 "choices canceled"
try show canceled.raddle.json -- ./choices canceled
check "an owner that is cancelled while it waits for its nursery makes a step of its own of that" [ "$(grep -c '[●○] wait nursery' out)" = 2 ]

# Every public function is an operation of the table, or refused, or in the list of those that are none.
{
    sed -n 's/^ *OP([^,]*, \([a-z_]*\),.*/rad_\1/p' "$src/src/rt/ops.h" "$src/src/lab/programs/fibers/sites.h"
    sed -n 's/^REFUSED(\(rad_[a-z_]*\),.*/\1/p' "$src/src/lab/programs/fibers/refuse.c"
    sed 's/ .*//' "$src/src/lab/programs/fibers/not_points.txt"
} | LC_ALL=C sort >listed
nm -D --defined-only "$library" | awk '{ print $NF }' | grep '^rad_' | LC_ALL=C sort >public
same public listed "each public function has its place among the operations"

# ---- The list -------------------------------------------------------------------------------------------
# Each call that is answered is in the table of the docs, and the other way round.
sed -n 's/^\(int rad__libc_\|RAD_ANSWER([^,]*, \|REFUSED(\|OPEN(\|OPENAT(\|OPEN_2(\|OPENAT_2(\|CREAT(\|FOPEN(\|FREOPEN(\|CHANGES(\)\([A-Za-z0-9_]*\)[,()].*/\2/p' \
    "$src"/src/lab/programs/fibers/{clocks,identity,loopback,memory,outside,random,refuse,sockets}.c | grep -v '^rad_' | LC_ALL=C sort -u >answered
sed -n '/^## Calls of the C library/,/^## /p' "$src/docs/fibers-under-test.md" | grep '^| `' |
    grep -o '`[A-Za-z0-9_:]*`' | tr -d '`' | sed 's/^std::random_device$/_ZNSt13random_device9_M_getvalEv/' | LC_ALL=C sort -u >documented
same answered documented "the calls in the docs are those that are answered"
check "there are many" [ "$(wc -l <answered)" -gt 100 ]
LC_ALL=C comm -23 answered "$src/src/lab/programs/fibers/interposed.txt" >missing
check "and all of them are exported" [ ! -s missing ]
finish
