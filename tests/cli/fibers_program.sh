#!/bin/bash
# Programs with fibers under test: `raddle explore ./program` on unmodified binaries that are linked with the shared
# library. tests/programs has programs with a bug each.
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
makes() { # NAME PROGRAM FLAGS…
    name=$1 program=$2
    if [ "$3" = -O1 ] && takes programs "$name"; then return; fi
    shift 2
    # shellcheck disable=SC2086 # CC may have words
    compiles "$name compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra "$@" "$programs/$program.c" -o "$name"
}

# ---- Planted bugs, and their fixed versions ---------------------------------------------------------
finds() { # PROGRAM IDENTITY STEPS [OPTIONS…]: found, shrunk to at most so many steps, replayed; the fixed version is silent
    makes "$1" "$1" -O1
    try explore --runs 150 "${@:4}" "./$1"
    status 1 "explore ./$1"
    silent "explore ./$1"
    has out "$2: first in run" "$1: $2"
    try replay "$1.min.raddle.json" --json -- "./$1"
    status 0 "$1: replay, as recorded"
    check "$1: at most $3 steps" [ "$(sed -n 's/^ *"steps": \([0-9]*\),*/\1/p' out | head -1)" -le "$3" ]
    try explore --runs 150 "${@:4}" "./$1" fixed
    status 0 "explore ./$1 fixed"
    has out "nothing found in" "$1 fixed: silent"
    has out "code between two operations was not interrupted halfway" "$1 fixed: says what was not tried"
}
finds abba deadlock:mutex+nursery 10
try explore --runs 9 ./abba fixed --runs=8
has err "note: --runs=8 is an argument of the program; to give it to raddle, write it before" "an option behind the program"
try explore --runs 9 ./abba fixed --other
silent "an argument of the program"
try replay --fixed abba.min.raddle.json -- ./abba
status 2 "a program has no fixed version that Raddle knows"
has err "--fixed needs a machine; to try the fixed version of a program, build it and name that" "and what to do"
try explore --fixed ./abba
status 2 "explore --fixed ./abba"
cp abba other
try replay abba.min.raddle.json -- ./other
has err 'machine: "abba" is in the program ./abba; this program has "other"' "a program of another name"
finds lost_wakeup deadlock:condition+nursery 14
finds leak deadlock:channel+nursery 12
finds select_miss "assertion@done == 2 in start" 16
makes select_twins select_twins -O1
for kind in recv send join lock time alarm; do # it waits: either of two cases about one thing
    for index in 0 1; do
        try explore --clock quiet --stop-on-first --no-shrink --runs 20 ./select_twins "$kind" "$index"
        status 1 "select_twins $kind: the other one than case $index"
    done
done
for times in 2 5; do # in a thread, whose order is drawn from other numbers
    for index in 0 2; do
        try explore --clock quiet --stop-on-first --no-shrink --runs 20 ./select_twins thread "$index" "$times"
        status 1 "select_twins thread, after $times others: case $index"
    done
done
try explore --clock quiet --strategy dfs ./select_twins ready 0
has out "nothing found in 1 run; every schedule was tried" "select_twins ready: it does not wait, so neither of them is offered"
finds stranger misuse:mutex@rad_mutex_unlock 9
finds parts "assertion@got[0] == got[1] && got[2] == got[3] in start" 20
finds calls "assertion@sum == 2 in start" 45
finds rwlock_kept leak:channel+rwlock 9 # as soon as it is lost, not when all have ended
try explore --runs 20 --no-shrink ./rwlock_kept until
status 1 "rwlock_kept until"
has out "reads waits for channel. Nothing can wake it any more" "who can be cancelled is not lost, nor what it knows"
hasnt out "writes waits for rwlock" "at no time"
makes fiber_answers fiber_answers -O1
try explore --runs 300 --clock quiet ./fiber_answers
status 0 "what calls answer, and how long loops wait that look at the clock"

# ---- Many fibers: what a step costs does not grow with their number ----------------------------------
makes ten ten -O1
cpu_of() { # CLOCK FIBERS: seconds of CPU time of a search
    "$RADDLE_BUILD/tests/cpu_limit" 100 used "$RADDLE" explore --runs 2 --strategy random --clock "$1" ./ten many "$2" >out 2>err &&
        cut -d ' ' -f 1 used
}
for clock in quiet free; do # a walk over all runners in each step: 64 times as much for 8 times as many
    few=$(cpu_of $clock 500) many=$(cpu_of $clock 4000)
    check "$clock clock: 4,000 fibers cost $many s, 500 of them $few s" \
        awk -v few="$few" -v many="$many" 'BEGIN { exit !(few > 0 && many > 0 && many < 20 * few) }'
done

# ---- Time: quiet, and free ---------------------------------------------------------------------------
finds timer_sync "assertion@value == 42 in start" 8 --clock free
has timer_sync.min.raddle.json '"clock": 1' "the file has the kind of clock"
try replay timer_sync.min.raddle.json -- ./timer_sync
has out "to be delayed beyond 10.000 ms)" "what a free clock has overtaken is named"
finds timeout_leak deadlock:channel+nursery 12 --clock free
for program in timer_sync timeout_leak; do
    try explore --runs 150 ./$program
    status 0 "$program: nothing with a quiet clock"
    has out "and time passed only when nothing could run" "which the verdict says"
done
try explore --runs 100 --clock free ./abba
has abba.min.raddle.json '"clock": 0' "shrinking goes back to a quiet clock if that is enough"
try explore --clock loud ./abba
status 2 "another clock"
try explore event --clock free
status 2 "the clock of a machine"
has err "--clock needs a program: raddle explore --clock free ./PROGRAM" "is not there"

# ---- What is told ---------------------------------------------------------------------------------
try explore --runs 100 ./abba
has out "one waits for mutex b (held by two); two" "fibers have the names of their functions, and locks their holders"
has out "raddle replay abba.min.raddle.json -- ./abba" "the command to type"
has out "● lock mutex a" "each step is an operation and its object"
has out "preempt one, run two" "and the switch that matters is named"
try show abba.min.raddle.json -- ./abba
status 0 "show"
has out "a circle: one → two → one" "show tells the same"
try run ./abba --unknown
status 0 "words behind the program are its own"
try explore --runs 50 --json ./abba fixed
has out '"limits": "code between two operations was not interrupted halfway, and time passed only when nothing could run"' "JSON has the limits, too"
mkdir -p one two
try explore --runs 100 -j 1 --output one ./abba
try explore --runs 100 -j 2 --output two ./abba
same one/abba.min.raddle.json two/abba.min.raddle.json "-j does not change what is found"
try explore --runs 60 --twice ./abba fixed
status 0 "every run can be repeated"
try explore --runs 300 --strategy dfs ./stranger fixed
has out "every schedule was tried" "a search comes to its end"

# ---- Files ----------------------------------------------------------------------------------------
id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
has abba.min.raddle.json "\"build_id\": \"$(id abba)\"" "a file has the build id of the program"
has abba.min.raddle.json "\"library\": \"$(id "$under")\"" "and that of the library"
has abba.min.raddle.json '"path": "./abba"' "and the path that was typed"
try replay abba.min.raddle.json
status 2 "replay without the program"
has err "Type: raddle replay abba.min.raddle.json -- ./abba" "says what to type: a file starts nothing"
for verb in run explore "exec run" "exec explore"; do
    # shellcheck disable=SC2086
    try $verb abba.min.raddle.json
    status 2 "$verb without the program"
    has err "Type: raddle replay abba.min.raddle.json -- ./abba" "$verb names a command that takes this file"
done
try replay abba.min.raddle.json -- ./abba extra
status 2 "replay with other arguments"
has err 'recorded with the arguments [], not ["extra"]: name the same ones after the program' "names both"
mkdir -p O3 && makes O3/abba abba -O3
try replay abba.min.raddle.json -- ./O3/abba
status 0 "replay with another build of the program"
has out "as recorded" "it has the same trace"
has err "was recorded with another build of the program" "which a note says"
if command -v clang >/dev/null; then
    mkdir -p clang && compiles "abba compiles with clang" "$library" clang -O0 "$programs/abba.c" -o clang/abba
    try replay abba.min.raddle.json -- ./clang/abba
    has out "as recorded" "and with another compiler"
fi
sed 's/"library": "[0-9a-f]*"/"library": "0123"/' abba.min.raddle.json >library.raddle.json
try replay library.raddle.json --edited -- ./abba
status 0 "replay with another build of the library"
has err "was recorded with another build of raddle's library for programs (build id 0123; this is $(id "$under"))" "which a note says, too"
mkdir -p corpus && cp abba.min.raddle.json corpus/
try corpus corpus -- ./abba
status 0 "corpus"

# ---- Ways to end -----------------------------------------------------------------------------------
makes ends ends -O1
ends() { # HOW IDENTITY
    try explore --runs 60 --stop-on-first ./ends "$1"
    status 1 "ends: $1"
    has out "$2: first in run" "$1 is a failure: $2"
    check "the output of runs is swallowed, but for the one that is told" [ "$(grep -c "to be swallowed" out)" = 1 ]
    check "both outputs" [ "$(grep -c "this, too" out)" = 1 ]
    hasnt err "this, too" "nothing of it on stderr"
    try replay ends.min.raddle.json -- ./ends "$1"
    status 0 "$1: replayed"
}
ends crash crash:SIGSEGV
ends abort crash:SIGABRT
ends kill crash:SIGTERM
ends exit exit@3
ends _exit exit@4
ends overflow crash:SIGSEGV
ends assert "assertion@!ran && how[0] == 'b' in end"
for call in fork execvp system popen pthread_create; do
    try explore --runs 60 ./ends $call
    status 2 "ends: $call"
    has err "the program calls $call: " "$call is refused by name"
done
check "nothing of it ran" [ ! -e it_ran ]
try explore --runs 20 ./ends crash early
status 1 "a crash before the first decision"
has out "crash:SIGSEGV: first in run 0" "is a failure of the first run"
try explore --runs 20 --no-shrink ./ends assert early
has out "FAILED: assertion at step 0: ends.c:" "an assertion before the first operation"
try explore --runs 20 ./ends exit early
status 2 "an end before the first operation"
has err "ended before it made an operation" "is an error"
try explore --runs 60 ./ends
status 0 "and without a word nothing is found"
sleep 0.2
check "no process is left" [ -z "$(left "^./ends")" ]

# ---- What comes after main, or after exit ------------------------------------------------------------------
makes after_main after_main -O1
late() { # HOW IDENTITY
    try explore --runs 100 --stop-on-first --clock quiet ./after_main "$1"
    status 1 "after main: $1"
    has out "$2: first in run" "after main: $2"
    try replay after_main.min.raddle.json -- ./after_main "$1"
    status 0 "after main, $1: replayed"
    try explore --runs 100 --clock quiet ./after_main "$1" fixed
    status 0 "after main, $1: silent when fixed"
    check "after main, $1: memory is put back" bash -c "! grep -q 'a process for each run' out"
}
for how in atexit on_exit destructor fiber flush quick_exit; do late $how crash:SIGABRT; done
late assert "assertion@!other_way || mended in check"
late status exit@4
late errx exit@3
late fibers deadlock:mutex+nursery
makes plugin.so plugin -DLIBRARY -shared -fPIC
finds plugin crash:SIGABRT 12

# ---- What cannot be put under test ------------------------------------------------------------------
refused() { # PROGRAM TEXT
    try explore "./$1"
    status 2 "explore ./$1"
    has err "$2" "$1: $2"
}
# shellcheck disable=SC2086
check "a static program" $cc -std=gnu11 -I"$src/include" "$programs/abba.c" "$build/libraddle.a" -lpthread -o static
refused static "linked with the static libraddle.a; link it with the shared library"
echo 'int main(void) { return 0; }' >plain.c
# shellcheck disable=SC2086
check "a program without fibers" $cc plain.c -o plain
refused plain "uses no threads, no fibers of Raddle"
# shellcheck disable=SC2086
check "a program that makes no operation" $cc plain.c -Wl,--no-as-needed "$library" -Wl,-rpath,"$build" -o idle
refused idle "ended before it made an operation"
echo 'int rad_main(void) { return 0; }' >later.c
# shellcheck disable=SC2086
check "a later libraddle" $cc -shared -fPIC -Wl,-soname,libraddle.so.9 later.c -o libraddle.so.9
echo 'int rad_main(void); int main(void) { return rad_main(); }' >newer.c
# shellcheck disable=SC2086
check "a program that is linked with it" $cc newer.c ./libraddle.so.9 -o newer
refused newer "linked with libraddle.so.9, but this raddle explores programs of libraddle.so.0"
# shellcheck disable=SC2086
if $cc -fsanitize=address -I"$src/include" "$programs/abba.c" "$library" -o asan 2>/dev/null; then
    refused asan "compiled with the address sanitizer"
else
    skip "a program with a sanitizer" "the compiler has none"
fi
cp abba setuid && chmod u+s setuid
refused setuid "runs as another user or group"

# ---- The same code as in production -------------------------------------------------------------------
check "rt is production's, byte for byte" python3 - "$build" <<'END'
import subprocess, sys, tempfile, os
build = sys.argv[1]
def text(path):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", path, out.name], check=True)
        return open(out.name, "rb").read()
whole = text(build + "/src/lab/programs/fibers/production.o")
members = subprocess.run(["ar", "t", build + "/libraddle.a"], capture_output=True, text=True).stdout.split()
with tempfile.TemporaryDirectory() as dir:
    count = 0
    for member in members:
        if not member.startswith("src_rt_") or member in ("src_rt_ops.c.o", "src_rt_test_calls.c.o", "src_rt_monitor.c.o"):
            continue
        path = os.path.join(dir, member)
        with open(path, "wb") as out:
            subprocess.run(["ar", "p", build + "/libraddle.a", member], stdout=out, check=True)
        assert text(path) in whole, member
        count += 1
    assert count > 30
END

# ---- The guide ------------------------------------------------------------------------------------------
mkdir -p guide && cd guide || exit 1
guide=$src/docs/fibers-under-test.md
sed -n '/^```c$/,/^```$/p' "$guide" | grep -v '^```' >abba.c
# shellcheck disable=SC2086
compiles "the program of the guide compiles" "$library" $cc -g -Wall -Wextra -Werror abba.c -o abba
sed -n 's/^raddle \([^#]*[^ #]\) *#.*/\1/p' "$guide" >commands
check "it has commands" [ "$(wc -l <commands)" = 3 ]
while read -r words; do
    # shellcheck disable=SC2086
    try $words
    check "raddle $words (status $status)" [ $status -le 1 ]
done <commands
try explore --stop-on-first --no-shrink ./abba
sed -n '/^FAILED/,/^```$/p' "$guide" | grep -v '^```' >said
grep -A1 '^FAILED' out >found
same said found "it prints what the guide says"
cd .. || exit 1
finish
