#!/bin/bash
# What is said about a program with fibers that failed: names, files and lines, source text.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
LC_ALL=C.UTF-8
export LC_ALL
under=$build/src/lab/programs/fibers/libraddle.so.0
programs=$src/tests/programs

if [ ! -f "$under" ] || is_sanitized "$library"; then
    skip "reports of programs under test" "this build has no library for them"
    finish
fi
makes() { # NAME PROGRAM FLAGS…
    if [ "$1 ${*:3}" = "$2 -g -O1" ] && takes programs "$1"; then return; fi
    # shellcheck disable=SC2086 # CC may have words
    compiles "$1 compiles" "$library" $cc -std=gnu11 -Wall -Wextra "${@:3}" "$programs/$2.c" -o "$1"
}
line_of() { grep -n -F "$2" "$programs/$1.c" | head -1 | cut -d: -f1; }

# ---- Files, lines and names, from debug information -------------------------------------------------
if ldconfig -p 2>/dev/null | grep -q 'libdw\.so\.1' || [ -e /usr/lib/x86_64-linux-gnu/libdw.so.1 ]; then
    waits=$(line_of named 'rad_recv(jobs[1]')
    for level in O0 O3; do
        makes named.$level named -g -$level
        try explore --stop-on-first --runs 50 ./named.$level
        has out "take waits for channel jobs[1]" "-$level: a channel has the name of the variable that holds it"
        has out "mutex pool.lock (held by take)" "-$level: a lock has the name of its field"
        has out "lock mutex inner" "-$level: a static variable in a function"
        has out "pool.parts.slots[2]" "-$level: a part of a part"
        has out "$programs/named.c:$waits in take" "-$level: where it waits"
        has out "int code = rad_recv(jobs[1], &job, RAD_FOREVER);" "-$level: the line is quoted"
    done
    try show --json named-o0.min.raddle.json -- ./named.O0
    has out '"places": [' "JSON: places are an array"
    check "JSON: each line has its place, and each stack its frames" python3 - "$waits" <<'END'
import json, sys
whole = json.load(open("out"))
waits = int(sys.argv[1])
take = whole["actors"].index("take")
stack = next(p for p in whole["places"] if p["actor"] == take)
frame = stack["frames"][0]
assert (frame["function"], frame["line"]) == ("take", waits) and frame["file"].endswith("named.c"), frame
assert frame["source"].startswith("int code = rad_recv"), frame
assert not stack["failed"]
lines = [l["at"]["line"] for l in whole["lines"] if l["actor"] == take and l["site"] == "recv"]
assert lines == [waits], lines
END
    makes abba abba -g -O2
    try explore --stop-on-first --runs 100 ./abba
    has out "one stops before abba.c:9: rad_mutex_lock(second);" "a decisive switch quotes the line that comes too late"
    has out "● lock mutex a  abba.c:8" "a step has its line"
    makes ends ends -g -O1
    for how in crash assert exit overflow; do
        makes_line=$(line_of ends "strcmp(how, \"$how\")")
        [ $how = overflow ] && makes_line=$(line_of ends "page[0] = (char)n")
        try explore --stop-on-first --runs 60 ./ends $how
        has out "Where it failed" "$how: where it failed"
        has out "ends.c:$makes_line in " "$how: the line"
        [ $how = overflow ] || hasnt out "its stack is full" "$how: not for want of a stack"
    done
    has out "more calls …" "a deep recursion is cut"
    has out "bad: its stack is full (rad_options.stack_size)" "a stack overflow is called so"

    # ---- Another folder, no source, a name with an escape sequence ------------------------------------
    mkdir -p moved && cp "$programs/stranger.c" "$programs/planted.h" moved/
    cd moved || exit 1
    # shellcheck disable=SC2086
    compiles "a program with relative paths" "$library" $cc -std=gnu11 -g stranger.c -o stranger
    cd .. || exit 1
    try explore --stop-on-first --runs 50 ./moved/stranger
    has out "stranger.c:19 in tries" "a relative path"
    has out "if (got || !fixed) rad_mutex_unlock(&m);" "is looked for where the compiler was called"
    rm moved/stranger.c
    try explore --stop-on-first --runs 50 ./moved/stranger
    has out "stranger.c:19 in tries (source file not found)" "a source that is gone is said to be"
    escape=$(printf '\033')
    { printf '#line 1 "e\\033[31mvil.c"\n' && cat "$programs/stranger.c"; } >evil_source.c
    # shellcheck disable=SC2086
    compiles "a path with an escape sequence" "$library" $cc -std=gnu11 -g -I"$programs" evil_source.c -o evil
    try explore --stop-on-first --runs 50 ./evil
    hasnt out "$escape" "is not sent to the terminal"
    has out "vil.c:19 in tries" "and still readable"
else
    skip "files and lines" "libdw.so.1 is not installed"
fi

# ---- Fibers that nothing can wake, while others run ----------------------------------------------------
reported() { # PROGRAM IDENTITY STEPS
    makes "$1" "$1" -g -O1
    try explore --stop-on-first --runs 100 "./$1"
    has out "$2: first in run" "$1: $2"
    has out "Nothing can wake " "$1: says what that means"
    check "$1: at most $3 steps" [ "$(sed -n 's/^.* → \([0-9]*\) steps* (.*/\1/p' out | head -1)" -le "$3" ]
    check "$1: evaluations are counted" grep -qE "evaluated: .*${2%%:*} [1-9]" out
    try replay "$1.min.raddle.json" -- "./$1"
    status 0 "$1: replayed"
    try explore --runs 60 "./$1" fixed
    status 0 "$1 fixed: silent"
}
reported ticking partial-deadlock:mutex 13
reported left_behind leak:channel 14
makes kept kept -g -O2
for where in static heap local tagged shared mapped; do
    try explore --runs 30 ./kept $where
    status 0 "a channel that only memory knows ($where) is not lost"
done
makes cancelled cancelled -g -O2
for how in handle family timed; do
    try explore --runs 30 ./cancelled $how
    status 0 "a fiber that can be cancelled, or is to wait no longer ($how), is not lost"
done
try explore --runs 60 --stop-on-first --no-shrink ./cancelled locks
has out "FAILED: partial-deadlock at step" "locks are waited for by who is cancelled, too: lost, though the owner runs"
try explore --runs 30 --stop-on-first --no-shrink ./cancelled shielded
has out "FAILED: leak at step" "one that is shielded is lost, at the moment when it waits"

# ---- Misuse of each call --------------------------------------------------------------------------------
makes misuses misuses -g -O1
for call in rad_mutex_unlock rad_mutex_lock rad_cond_wait rad_rwlock_unlock rad_waitgroup_done rad_send rad_nursery_go \
    rad_nursery_wait; do
    try explore --stop-on-first --no-shrink --runs 20 ./misuses $call
    check "$call: misuse" grep -qE "misuse at step [0-9]+: $call: " out
    try explore --runs 20 ./misuses $call fixed
    status 0 "$call, as it is meant"
done

makes mistakes mistakes -g -O1
try test ./mistakes --runs 3 --no-shrink --tap
check "each mistake is reported under the name of its call, and nothing else is" awk '
    /^ok/ { right += $4 == "no_mistake"; wrong += $4 != "no_mistake" }
    /^not ok/ { test = $5 }
    /^# misuse at step/ { call = $6; sub(/:$/, "", call); wrong += index(test, call) != 1; named++ }
    END { exit !(right == 1 && wrong == 0 && named >= 56) }' out
try test ./mistakes fixed=1 --runs 10 --no-shrink --tap
status 0 "the same calls as they are meant: silent"
check "all of them" [ "$(grep -c '^ok' out)" -ge 57 ]
makes closed closed -g -O1
try explore --closed --stop-on-first --runs 60 ./closed
has out "send-on-closed:channel@rad_send: first in run" "--closed: a send to a closed channel is a failure"
check "send-on-closed: evaluations are counted" grep -qE "evaluated: .*send-on-closed [1-9]" out
try replay closed.min.raddle.json -- ./closed
status 0 "the file says so, too: replay needs no option"
try explore --closed --runs 60 ./closed fixed
status 0 "the channel is closed when all were sent: silent"
check "misuse: evaluations are counted" grep -qE "evaluated: .*misuse [1-9]" out
try explore --runs 60 ./closed
status 0 "without --closed a send to a closed channel has its answer, and that is all"

# ---- Livelock -------------------------------------------------------------------------------------------
makes livelock livelock -g -O1
try explore --stop-on-first --runs 20 ./livelock spin
has out "livelock: first in run 0" "a loop that yields for ever is a livelock"
check "its cycle is the evidence" grep -qE "steps [0-9]+ to [0-9]+ can repeat forever" out
try replay livelock.min.raddle.json -- ./livelock spin
status 0 "a livelock is replayed"
has out "as recorded" "to the same step"
try explore --stop-on-first --no-shrink --runs 20000 ./livelock
has out "FAILED: livelock at step" "two that give way to each other for ever"
try replay livelock.raddle.json -- ./livelock
has out "as recorded" "replayed, too"
for how in fixed spin_fixed; do
    try explore --runs 500 ./livelock $how
    status 0 "livelock $how: silent"
done
check "livelock: evaluations are counted" grep -qE "evaluated: .*livelock [1-9]" out
for how in rand heap random clock pipe shield; do
    try explore --runs 10 --clock quiet ./livelock $how
    status 0 "a loop that $how ends is no livelock"
done

# ---- Starvation, and livelocks without a yield ---------------------------------------------------------------
makes starved starved -g -O1
starves() { # HOW IDENTITY TEXT…
    try explore --stop-on-first --no-shrink --runs 40 --clock quiet ./starved $1
    status 1 "starved $1"
    has out "FAILED: ${2%:*} at step" "starved $1: ${2%:*}"
    has starved.raddle.json "\"$2\"" "starved $1: $2"
    for text in "${@:3}"; do check "starved $1: $text" grep -qE "$text" <(tr '\n' ' ' <out | tr -s ' '); done
    try replay starved.raddle.json -- ./starved $1
    status 0 "starved $1: replayed"
}
starves "" starvation:rwlock "reader waits for rwlock lock \(held by writer [01]\). Steps [0-9]+ to [0-9]+ can repeat forever"
starves tally starvation:rwlock "In 1000 rounds, in each of which all that could run did, others got it"
starves errand livelock:nursery "first waits for nursery. Steps [0-9]+ to [0-9]+ can repeat forever"
try explore --runs 20 --strategy first --max-steps 400 --clock quiet ./starved chooses
status 1 "a round with a choice in it need not repeat"
has out "every run was cut" "it does in this run, which chooses the same each time"
# shellcheck disable=SC2086
check "a policy that is fair to all but one compiles" $cc -std=gnu11 -shared -fPIC -I"$src/include" "$programs/passer.c" -o passer.so
try explore --strategy ./passer.so --clock quiet ./starved bystander
status 0 "what somebody could end who can run all the time is no starvation"
check "starved bystander: for long enough" grep -qE "^  runs +1, ([5-9]|1[0-9]),[0-9]{3} steps" out
try explore --runs 60 --clock quiet ./starved held
status 0 "waiting for one that keeps the lock is no starvation"
for how in fixed rounds mutex bystander; do
    try explore --runs 300 --clock quiet ./starved $how
    status 0 "starved $how: silent"
    check "starved $how: evaluations are counted" grep -qE "evaluated: .*starvation [1-9]" out
done

# ---- Who should have woken whom ---------------------------------------------------------------------------
blames() { # PROGRAM IDENTITY TEXT: on one line, whatever was wrapped
    makes "$1" "$1" -g -O1
    try explore --stop-on-first --runs 300 "./$1"
    has out "$2: first in run" "$1: $2"
    sed -n '/^Why nothing/,/^$/p' out | tr -s '\n ' ' ' >why
    has why "$3" "$1: $3"
    try explore --runs 60 "./$1" fixed
    status 0 "$1 fixed: silent"
}
blames lost_wakeup deadlock:condition+nursery "when no fiber waited, so it woke none; this wait began later"
has why "the last signal came from waker at step " "and by whom"
has why "lost_wakeup.c:$(line_of lost_wakeup rad_cond_signal)" "and where"
blames buffer_signal deadlock:condition+nursery "instead: a signal wakes one fiber, a broadcast wakes all"
check "a signal that woke itself, and one that woke another" \
    grep -qE "(take [01]) waits .{9,99} and woke it; it found nothing .* put [01] waits .{9,99} and woke \1 instead" why
makes buffer_twice buffer_signal -g -O1 -DTIMES=2
try explore --strategy random --seed 4 --stop-on-first --no-shrink --runs 300 ./buffer_twice
try show buffer_twice.raddle.json -- ./buffer_twice
sed -n '/^Why nothing/,/^$/p' out | tr -s '\n ' ' ' >why
check "who was woken, did its work and came again found something to do" \
    grep -qE "(take|put) [01] waits .{9,99} and woke it; it went on, and waits again since step" why
has out "○ wait condition" "a step after which its fiber waited has a hollow sign"
has out "○ after this step its actor had to wait" "and the sign is explained"
blames early_return leak:channel "first has ended; no fiber closed it"
has why "; it was received by worker " "a value that another fiber has received"
has why "The program's first fiber has returned, and nothing that could wake worker 0 runs any more. Before that, sending to it," "and what it would have needed"
blames left_behind leak:channel "ask 1 was started by first at left_behind.c:$(line_of left_behind rad_spawn) in query"
has why "channel was made at left_behind.c:$(line_of left_behind rad_chan_create) in query. Nothing that can still run has a pointer to channel." \
    "and where its channel is from"
has why "Before that, receiving from it, rad_chan_close or rad_cancel would have ended the wait, and with room for one more value it would not have waited" \
    "and what it would have needed"
makes many_behind left_behind -g -O1 -DSERVERS=9
try explore --stop-on-first --no-shrink --runs 100 ./many_behind
status 1 "eight are left behind"
try show many_behind.raddle.json -- ./many_behind
check "where they were started is said of four" [ "$(tr -s '\n ' ' ' <out | grep -o "was started by first" | wc -l)" = 4 ]
blames crossed_queues deadlock:channel+nursery "client waits to send to channel requests: no other fiber received from it in this run"
blames abba deadlock:mutex+nursery "one waits for mutex b: taken by two at step 7, abba.c:8, and not given back"
blames taken_twice deadlock:mutex+nursery "comes waits for mutex hall: taken by comes_again at step "
has why "taken_twice.c:$(line_of taken_twice '&yard : &hall'), and not given back" "by the call that it is held since, not an earlier one"
blames barrier_gap deadlock:barrier+nursery "waits for barrier rounds: the last other fiber that came to it was worker "
check "barrier_gap: who does not come any more" grep -qE "; worker [01] has ended" why
hasnt out "not matter" "what the other one did instead is drawn"
blames stock_kept deadlock:nursery+stock "; the last one was taken by user "
check "stock_kept: who has it" grep -qE "; user [0-2] has ended" why
blames permit_kept deadlock:semaphore "no other fiber released it in this run; the last permit was acquired by holder"
has why "; holder has ended" "permit_kept: who has it"
try show --json abba.min.raddle.json -- ./abba
check "JSON has it, line by line" python3 -c 'import json; b = json.load(open("out"))["blame"]; assert len(b) == 2 and "taken by" in b[0], b'
makes select_miss select_miss -g -O1
try explore --stop-on-first --runs 300 ./select_miss
has out "select (returns 1)" "a select says which case it did"
hasnt out "took case" "not the number of a choice"

# ---- In gdb --------------------------------------------------------------------------------------------
try replay --gdb abba.min.raddle.json --json -- ./abba
status 2 "--gdb with another option"
PATH=/nonexistent "$RADDLE" replay --gdb abba.min.raddle.json -- ./abba >out 2>err </dev/null
has err "gdb is not installed: no 'gdb' on the PATH" "without gdb"
try explore event n=2 --stop-on-first
try replay --gdb event.min.raddle.json
has err "gdb is for programs under test" "a machine is no program"
in_gdb() { "$RADDLE" replay --gdb "$1.min.raddle.json" -- "./$1" >out 2>err </dev/null; }
if ! command -v gdb >/dev/null; then
    skip "in gdb" "gdb is not installed"
elif in_gdb abba && grep -qi "ptrace: operation not permitted" err; then
    skip "in gdb" "attaching is not permitted here"
else
    has out "Where they wait" "the calls of all fibers come first"
    check "a deadlock stops in its last step" grep -qE '^#[0-9]+ .*rad_mutex_lock' out
    check "on the stack of the fiber that makes it" grep -qE '^#[0-9]+ .*(in_order|one|two) \(' out
    in_gdb select_miss
    has out "assert(done == 2);" "a failed assertion stops where it is"
    check "in the frame of the program" grep -qE '^#3 .* in start ' out
fi

# ---- Without debug information, and without symbols --------------------------------------------------
makes bare abba -O1
try explore --stop-on-first --runs 100 ./bare
has out "one waits for mutex 1 (held by two)" "without -g locks have numbers"
check "and fibers their functions" grep -qE '^      one \(no ' out
strip bare -o stripped
try explore --stop-on-first --runs 100 ./stripped
check "without symbols there are offsets" grep -qE '^      stripped\+0x[0-9a-f]+ \(no ' out
# libdw asks servers for debug information that it does not find, and loads thirty libraries for that.
LD_DEBUG=files try explore --stop-on-first --no-shrink --runs 100 ./stripped
hasnt err "libdebuginfod" "without debug information there is no library that asks servers"
if [ -x abba ]; then # compiled with -g above, where libdw is
    cp abba apart
    objcopy --only-keep-debug abba apart.debug
    objcopy --strip-debug --add-gnu-debuglink=apart.debug apart
    try explore --stop-on-first --no-shrink --runs 100 ./apart
    has out "one waits for mutex b (held by two)" "debug information in the file that a program names is found"
fi
finish
