#!/bin/bash
# Tests that are written with raddle/test.h: `raddle test ./tests`, the program by itself, on threads; TAP, JUnit, JSON.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL
unset RADDLE_OPTIONS
export RADDLE
if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "tests of programs" "this build has no library for them"
    finish
fi
makes() { # NAME WORDS…
    name=$1
    shift
    # shellcheck disable=SC2086 # CC may have words
    compiles "$name compiles" "$library" $cc -std=gnu11 -g -Wall -Wextra -Werror "$@" -o "$name"
}
run() { # WORDS…: the program by itself
    "$@" >out 2>err </dev/null
    status=$?
}
makes tests -O1 "$src/tests/programs/tests_counter.c"

# ---- Each way to pass and to fail -----------------------------------------------------------------
halfway="code between two operations was not interrupted halfway"
unwraps() { # out, as one line
    tr -s ' \n' '  ' <out >flat
    echo >>flat
}
passes() { # TEST MESSAGE: with its limits
    try test ./tests "$1" --runs 60
    status 0 "$1 passes"
    silent "$1"
    unwraps
    has flat "pass $1: $2, $halfway, and time passed only when nothing could run" "$1: $2, and the limits"
}
fails() { # TEST MESSAGE: the file replays, without its name, too
    try test ./tests "$1" --runs 60
    status 1 "$1 fails"
    silent "$1"
    has out "FAIL  $1: $2" "$1: $2"
    has out "replay     raddle replay tests-$1.min.raddle.json -- ./tests $1" "$1: the command to type"
    try replay "tests-$1.min.raddle.json" -- ./tests
    status 0 "$1: replay"
    has out "as recorded" "$1: as recorded"
}
passes counts "60 runs; not every schedule was tried, but all with at most 0 preemptions"
passes makes_no_operation "14 runs, in which nothing ran at the same time; every schedule was tried"
passes reaches "16 runs; every schedule was tried"
passes soon "60 runs; not every schedule was tried"
try test ./tests soon --runs 60 --clock free
unwraps
has flat "pass soon: 60 runs; not every schedule was tried, $halfway; fair schedules only" "with a free clock time is no limit"
fails loses "check at step"
has out "tests_counter.c:40: all_write: check failed: total == writers" "with expression, file, line and function"
fails fails_at_once "check at step 0: tests_counter.c:60: fails_at_once: check failed: total == 1"
try show tests-fails_at_once.min.raddle.json -- ./tests
has out "Where it failed" "before the first decision, too, the report says where"
has out "tests_counter.c:60 in rad_test_of_fails_at_once" "which line"
fails chooses "always at step 0: tests_counter.c:66: chooses: not always: the sum is"
has out "the sum is 8 (a + b + c < 8)" "shrunk towards 0"
fails faults "check at step"
try show tests-faults.min.raddle.json -- ./tests
has out "fault: second" "a fault has its name in the picture"
fails random_data "check at step 0"
fails not_soon "eventually at step"
has out "not within 10 fair steps: total ==" "how many steps"
fails exits "exit at step 0: the test called exit(0)"
fails leaves_a_fiber "leak at step"
try test ./tests never_reaches --runs 60
status 1 "a rad_sometimes that is never true"
has out "FAIL  never_reaches: sometimes, but never in 16 runs: one more than there is (tests_counter.c:77, not true there); every schedule was tried, $halfway" "says which, and what was tried"
has out "never come to (tests_counter.c:78, no run came there)" "and each other one"
try explore --runs 60 ./tests never_reaches
status 1 "explore of that test, too"
has out "never in 16 runs: one more than there is" "says which"
try test ./tests never_ends --runs 5 --max-steps 100
status 1 "a test that never ends"
has out "no run came to its end within the limit of steps" "says so"
try test ./tests forks --runs 5
status 1 "a test that cannot be explored"
has out "FAIL  forks: the program calls fork: " "says why"

# ---- Files, names, parameters ---------------------------------------------------------------------
mkdir -p corpus && cp tests-loses.min.raddle.json tests-chooses.min.raddle.json tests-exits.min.raddle.json corpus
try corpus corpus -- ./tests
status 0 "corpus: each file as the test that it names"
has out "3 as recorded, 0 differ" "three tests"
sed 's/RAD_TEST(exits)/RAD_TEST(leaves)/; s/int64_t seen = total;/rad_yield(); &/; s/total = seen + 1/rad_yield(); &/
    s/a + b + c < 8/a + b + c < 9/' \
    "$src/tests/programs/tests_counter.c" >edited.c
mkdir -p edited && makes edited/tests -O1 edited.c
try corpus corpus -- ./edited/tests
status 1 "corpus: after an edit"
has out "STALE      corpus/tests-exits.min.raddle.json: unknown test 'exits'; there are: counts" "a test that is gone is stale"
has out "DIFFERS    corpus/tests-chooses.min.raddle.json: gone" "a failure that is gone differs"
has out "realigned  corpus/tests-loses.min.raddle.json: still fails" "one that is there has survived the edit"
try corpus corpus --accept -- ./edited/tests
has out "accepted   corpus/tests-chooses.min.raddle.json" "--accept: what is gone is expected to stay away"
try corpus corpus -- ./edited/tests
has out "ok         corpus/tests-chooses.min.raddle.json: passes as recorded" "from then on"
try replay tests-loses.min.raddle.json -- ./tests counts
status 2 "replay as another test"
has err "name the same ones after the program" "is refused"
sed 's/"loses"/"--list"/' tests-loses.min.raddle.json >forged.raddle.json
try replay --edited forged.raddle.json -- ./tests
status 2 "an option in a file"
has err "recorded with other arguments than a test's" "does not reach the program"
try test ./tests loses writers=3 --runs 60
has out "-- ./tests loses writers=3" "parameters are part of the command"
has tests-loses.min.raddle.json '"writers=3"' "and of the file"
try replay tests-loses.min.raddle.json -- ./tests
status 0 "from which they are taken"
try test ./tests writers=x
status 2 "a parameter that is no number"
has err "'writers=x': the value is not a whole number" "is told once"
try test ./tests --strategy brute
status 2 "a strategy that is not there, too"
try test ./tests wrters=1
status 2 "a parameter that is not there"
has err "unknown parameter 'wrters'; did you mean 'writers'?" "is named"
try test ./tests lsoes
status 2 "a test that is not there"
has err "unknown test 'lsoes'; did you mean 'loses'?" "is named"
try test ./tests x=1
has err "unknown parameter 'x'; " "so is a parameter, with those that there are"
try explore ./tests lsoes
status 2 "explore, too"
has err "unknown test 'lsoes'; there are: counts, loses" "lists them"
try explore ./tests
has err "name one of: counts, loses" "explore takes one test"
try test
status 2 "no program"
try test ./tests --list '*reach*'
is out "reaches
never_reaches" "--list, with a pattern, in the order of the file"
try test ./tests --list --json
has out '"default": 2' "--list --json has parameters"
hasnt out '"preset"' "with what they are by default, and not under another key"
mkdir -p one two
try test ./tests loses chooses --runs 60 -j 2 --output two
try test ./tests loses chooses --runs 60 --output one
same one/tests-loses.min.raddle.json two/tests-loses.min.raddle.json "-j does not change what is found"

# ---- Forms ----------------------------------------------------------------------------------------
try test ./tests counts loses makes_no_operation --runs 40 --tap --junit out.xml
status 1 "--tap"
silent "--tap"
line out "1..3" "TAP: the plan"
line out "ok 1 - counts" "TAP: passed"
line out "not ok 2 - loses" "TAP: failed"
check "TAP: nothing else but comments" sh -c '! grep -vE "^(1\.\.3|(not )?ok [0-9]+ - [a-z_]+|#.*)$" out'
check "JUnit is XML with three tests and one failure" python3 -c 'import xml.etree.ElementTree as E
suite = E.parse("out.xml").getroot()[0]
assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("tests", "3", "1"), suite.attrib
failed = [c for c in suite if c.find("failure") is not None]
assert [c.get("name") for c in failed] == ["loses"]
assert failed[0].find("failure").get("type") == "check" and "raddle replay" in failed[0].find("failure").text'
cat >marks.c <<'END'
#include <raddle/test.h>
#include <string.h>
RAD_PARAM(low, -5, "a number below 0")
RAD_TEST(marks)
{
    rad_check(strcmp("<a & b>", "c") == 0 && 1 < 2);
}
RAD_TEST(least)
{
    rad_check(low == INT64_MIN);
}
RAD_TEST(most)
{
    rad_check(low == INT64_MAX);
}
RAD_TEST(as_it_is)
{
    rad_check(low == -5);
}
RAD_TEST_MAIN
END
makes marks marks.c
try test ./marks marks --runs 3 --no-shrink --junit marks.xml
check "JUnit: quotes and the like of a message are XML" python3 -c 'import xml.etree.ElementTree as E
failure = E.parse("marks.xml").getroot()[0][0].find("failure")
text = "strcmp(\"<a & b>\", \"c\") == 0 && 1 < 2"
assert text in failure.get("message") and "raddle replay" in failure.text, failure.attrib'
bounds() { # VALUE TEST: passes with it, and the two others fail
    for name in least most as_it_is; do
        try test ./marks $name ${1:+"low=$1"} --runs 3 --no-shrink
        [ $name = "$2" ] && status 0 "low=$1: $name" || status 1 "low=$1: not $name"
    done
}
bounds -9223372036854775808 least
bounds 9223372036854775807 most
bounds "" as_it_is
bounds -5 as_it_is
for value in -9223372036854775809 9223372036854775808 -- -; do
    try test ./marks as_it_is low=$value --runs 3
    status 2 "low=$value"
    has err "the value is not a whole number" "low=$value is none that fits"
done
try test ./marks most low=-7 --runs 3 --no-shrink
status 1 "low=-7: most"
try replay marks-most.raddle.json -- ./marks
status 0 "replay takes the test and a value below 0 from the file"
try test ./marks --list --json
has out '"default": -5' "a default below 0"
try test ./tests reaches loses --runs 40 --json
check "JSON" python3 -c 'import json
d = json.load(open("out"))
assert (d["passed"], d["failed"]) == (1, 1)
assert d["tests"][1]["sometimes"][0]["held"] and d["tests"][1]["complete"]
assert d["tests"][0]["findings"][0]["failure"]["kind"] == "check"'
try test ./tests counts --junit no/such/folder.xml --runs 5
status 3 "JUnit into a folder that is not there"

# ---- The program by itself ------------------------------------------------------------------------
run ./tests counts --runs 40
status 0 "./tests calls raddle"
has out "pass  counts: 40 runs" "with its words"
RADDLE_OPTIONS="--runs 30 --tap" run ./tests counts
check "options of the environment" grep -q "^# 30 runs; not every schedule was tried, .*$halfway, and time passed only" out
RADDLE_OPTIONS="--runs 30 --tap" run ./tests counts --runs 20
check "those of the command line come later" grep -q "^# 20 runs; " out
run env -u RADDLE PATH=/nowhere "$PWD/tests" counts --runs 10
status 0 "raddle is found beside the library"
RADDLE=/no/raddle run ./tests
status 3 "RADDLE names nothing"
has err "cannot start '/no/raddle' (the variable RADDLE)" "which is said"
run ./tests --list
check "--list needs no raddle" [ "$(wc -l <out)" = 15 ]
run ./tests --list lsoes
status 2 "--list of a test that is not there"

# ---- On threads -----------------------------------------------------------------------------------
run ./tests --threads --runs 20 counts reaches makes_no_operation soon
status 0 "--threads"
has out "pass  counts: 20 runs on threads; other schedules were not tried" "repetitions, each with static variables of its own"
has out "4 passed, 0 failed (on threads, seed 1)" "a summary"
RADDLE=/no/raddle RADDLE_OPTIONS=--threads run ./tests --runs 3 --tap counts fails_at_once exits never_reaches
status 1 "--threads by the environment, without raddle"
line out "1..4" "TAP there, too"
has out "# tests_counter.c:60: rad_test_of_fails_at_once: check failed: total == 1; repetition 1 of seed 1" "a check that fails"
line out "# run 1 of 3 on threads" "in which run"
has out "# the test ended the process, with status 0" "exit is a failure"
line out "ok 3 - never_reaches" "a goal that is never met is luck on threads"
has out "# note: never on threads: one more than there is" "and is said"
run ./tests --threads --time 1 never_ends
status 1 "--threads: a test that never ends"
has out "not done after 1 s" "says so"
RADDLE_OPTIONS="--junit threads.xml --runs 3" run ./tests --threads counts fails_at_once
status 1 "--threads with JUnit"
has out "pass  counts: 3 runs on threads" "raddle lets the program do it"
has out "FAIL  fails_at_once: tests_counter.c:60: rad_test_of_fails_at_once: check failed: total == 1; repetition 1" "and tells the same"
check "JUnit's file" grep -q '<failure message="tests_counter.c:60:' threads.xml
try test ./tests --threads --runs 2 --json counts makes_no_operation
check "JSON" python3 -c 'import json
d = json.load(open("out"))
assert d["passed"] == 2 and d["limits"] is None and d["tests"][0]["message"] == "2 runs on threads; other schedules were not tried", d'
run ./tests --threads nothing
status 2 "--threads: no such test"

# ---- Any other kind of program --------------------------------------------------------------------
makes abba -O1 "$src/tests/programs/abba.c"
try test --runs 100 ./abba
status 1 "a program with fibers is a test"
has out "FAIL  abba: deadlock at step" "which fails"
try test --threads ./abba
status 2 "but it has no tests to run on threads"
try test --runs 100 ./abba fixed
status 0 "with its arguments"
printf '#include <raddle/test.h>\nRAD_TEST_MAIN\n' >none.c
makes none none.c
try test ./none
status 2 "no tests"
has err "the program has no tests: RAD_TEST(name) { ... } is one" "is an error"
run ./none --threads
status 2 "on threads, too"
printf '#include <raddle/test.h>\nRAD_TEST(b) {}\nRAD_TEST(a) {}\n' >one.c
printf '#include <raddle/test.h>\nRAD_TEST(a) {}\nRAD_TEST_MAIN\n' >two.c
makes twice one.c two.c
run ./twice
status 2 "two tests of one name"
has err "two tests are called 'a': one.c:3 and two.c:2" "are named"

# ---- What is easily a little wrong ------------------------------------------------------------------
cat >little.c <<'END'
#include <raddle.h>
#include <raddle/test.h>
#include <stdio.h>
#include <stdlib.h>
RAD_PARAM(limit, 1, "a name that another one begins with")
RAD_PARAM(limit_high, 1, "that one")
RAD_TEST(apart)
{
    rad_check(limit == 5 && limit_high == 1);
}
RAD_TEST(draws)
{
    rad_check(rad_random() != rad_random());
}
RAD_TEST(dies)
{
    abort();
}
RAD_TEST(keeps)
{
    FILE *f = fopen("kept.txt", "w");
    rad_check(f != NULL && fclose(f) == 0);
}
RAD_TEST(in_time)
{
    int looks = 0;
    rad_eventually(++looks == 3, 2);
}
RAD_TEST(too_late)
{
    int looks = 0;
    rad_eventually(++looks == 4, 2);
}
static int arrives(void *ready)
{
    *(bool *)ready = true;
    return 0;
}
RAD_TEST(fair)
{
    bool ready = false;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, arrives, &ready);
    rad_eventually(ready, 3);
    rad_check(rad_nursery_wait(&n) == 0);
}
RAD_TEST(swapped)
{
    bool one = rad_fault("the tape"), other = rad_fault("a disk");
    rad_check(one || !other);
}
RAD_TEST(first_only)
{
    rad_chan *c[2];
    int value = 1;
    for (int i = 0; i < 2; i++) {
        rad_check(rad_chan_create(&c[i], sizeof value, 1, RAD_CHAN_BLOCKS) == 0);
        rad_check(rad_send(c[i], &value, 0) == 0);
    }
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = c[0], .value = &value},
                               {.kind = RAD_ON_RECV, .on.chan = c[1], .value = &value}};
    rad_check(rad_select(cases, 2, 0) == 0);
}
RAD_TEST(long_or_short)
{
    for (uint32_t i = rad_choose(2) * 50; i > 0; i--) rad_sleep(1000);
}
RAD_TEST(all_chosen)
{
    uint32_t one = rad_choose(4), other = rad_choose(2);
    rad_sometimes(one == 0, "first of four");
    rad_sometimes(one == 3, "last of four");
    rad_sometimes(other == 1, "last of two");
    rad_sometimes(rad_fault("something"), "a fault");
}
RAD_TEST_MAIN
END
makes little little.c
try test ./little apart draws in_time limit=5 --runs 20
status 0 "a parameter that begins as another one, random numbers of one run, the last of the steps"
try test ./little fair --runs 200
status 0 "rad_eventually lets others go first, also where loops run to their end"
try explore --spin-rounds 50 --runs 50 ./little fair
status 0 "and where all runs spare so many rounds"
try test ./little too_late first_only limit=5 --runs 20
has out "too_late: not within 2 fair steps" "and one step more"
has out "FAIL  first_only: check at step 0: little.c:" "a select of one fiber alone is a choice"
try test ./little swapped --runs 20
has out "fault: a disk" "a fault has its own name"
try test ./little keeps --runs 20
unwraps
has flat "; 14 runs changed what outlives a run, or asked for it: fopen(kept.txt)" "a run that is not repeatable for all is told"
try test ./little dies --runs 5
has out "Where it failed" "a test that dies at once"
has out "in rad_test_of_dies" "the report says where"
run ./little --threads --runs 60 all_chosen
hasnt out "note:" "on threads repetitions choose differently, and all that there is; and faults come"
try test ./little long_or_short --max-steps 20 --runs 9
unwraps
has flat "5 runs were cut, not finished after 20 steps: neither passed nor failed" "runs that did not end are no runs that passed"
try test ./little --threads --time 0.5 --runs 2 draws
status 0 "on threads half a second is time, too"
run ./little --threads --runs2 2 draws
status 2 "an option that begins as another one"
run ./little --threads all_chos
status 2 "on threads the beginning of a name is none"
try test ./tests forks counts --runs 5 --junit unfit.xml
has unfit.xml 'failures="0" errors="1"' "JUnit: a test that cannot be explored is an error, and no failure"

# ---- A main of one's own, which prints; and the README ---------------------------------------------
cat >own.c <<'END'
#include <raddle/test.h>
#include <stdio.h>
RAD_TEST(prints)
{
    printf("ok 1 - forged\n");
}
int main(int argc, char **argv)
{
    printf("begins\n");
    fflush(stdout);
    return rad_test_main(argc, argv);
}
END
makes own own.c
try test ./own --tap
status 0 "a main that prints"
hasnt out forged "prints nothing into TAP"
run ./own --threads --runs 2 --tap
hasnt out forged "on threads neither"
has err "ok 1 - forged" "but to stderr"

# ---- Goals in the code under test: all tests together ------------------------------------------------
cat >code.c <<'END'
#include <raddle/test.h>
int code(int n);
int code(int n)
{
    rad_sometimes(n > 1, "more than one");
    rad_sometimes(n > 2, "more than two");
    return n;
}
END
cat >uses.c <<'END'
#include <raddle/test.h>
int code(int n);
RAD_PARAM(most, 3, "what is asked for")
RAD_TEST(asks_for_one)
{
    rad_check(code(1) == 1);
}
RAD_TEST(asks_for_more)
{
    rad_check(code((int)most) == most && most < 9);
}
RAD_TEST_MAIN
END
makes uses code.c uses.c
try test ./uses
status 0 "one test need not make it true"
has out "pass  every_sometimes: each rad_sometimes outside of tests was true in one" "if another one does"
try test ./uses most=2
status 1 "if none does"
has out "FAIL  every_sometimes: true in no test: more than two (code.c:6)" "it is named"
try test ./uses most=9 --tap --no-shrink --junit uses.xml
line out "ok 3 - every_sometimes # SKIP not judged: a test failed before its budget was up" "after a failure that is no verdict: TAP"
line out "# 1 passed, 1 failed, 1 skipped, seed 1" "and does not count as one"
has uses.xml 'tests="3" failures="1" errors="0" skipped="1"' "JUnit"
has uses.xml '<skipped message="not judged: a test failed' "which says why"
try explore ./uses asks_for_one
status 0 "explore of one of them"
has out "not here" "says which were not true there"

# ---- C++, several files ---------------------------------------------------------------------------
cat >wrap.cc <<'END'
#include <raddle.h>
#include <raddle/test.h>
namespace {
class Lock {
    rad_mutex &m;
public:
    explicit Lock(rad_mutex &mutex) : m(mutex)
    {
        rad_mutex_lock(&m);
        rad_sometimes(true, "in a class");
    }
    ~Lock() { rad_mutex_unlock(&m); }
};
rad_mutex mutex;
int total;
template <class T> T twice(T value)
{
    rad_sometimes(value > 1, "in a template");
    return value + value;
}
int add(void *)
{
    Lock lock(mutex);
    total = twice(total + 1) / 2;
    return 0;
}
int never(void *)
{
    rad_sometimes(true, "in code that no test calls");
    return 0;
}
}
int (*unused)(void *) = never;
RAD_TEST(wraps)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 2; i++) rad_nursery_go(&n, add, nullptr);
    rad_check(rad_nursery_wait(&n) == 0);
    rad_check(total == 2);
}
END
if command -v "${CXX:-c++}" >/dev/null; then
    compiles "C++ and C, with tests in both" "$library" "${CXX:-c++}" -std=c++11 -g -Wall -Wextra -Werror -x c++ wrap.cc -x c++ two.c -x none -o wrap
    try test ./wrap --runs 40
    status 1 "goals of all tests together"
    has out "pass  wraps: 40 runs" "C++ passes"
    has out "FAIL  every_sometimes: no test came to: in code that no test calls (wrap.cc:29)" "and what no test came to is named"
    try test ./wrap --runs 40 wraps
    status 0 "which one test by itself need not"
    try test ./wrap --list
    is out "wraps
a" "in the order of files"
else
    skip "C++" "no compiler for it"
fi
finish
