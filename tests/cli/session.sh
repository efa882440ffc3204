#!/bin/sh
# raddle session: check, run, invariant, project, trace, and files of protocols as targets of the lab.
. "$(dirname "$0")/tap"

cat >buyer.session <<'X'
protocol TwoBuyer {
  roles Alice, Bob, Seller
  Alice -> Seller: title(text)
  Seller -> Alice: quote(int)
  Seller -> Bob: quote(int)
  Alice -> Bob: share(int)
  choice at Bob {
    Bob -> Seller: accept
    Bob -> Alice: accept
    Seller -> Bob: date(text)
  } or {
    Bob -> Seller: quit
    Bob -> Alice: quit
  }
}
X
cat >two.session <<'X'
locals Two {
  roles A, B
  local A {
    A -> B: x
    A -> B: x
    B -> A: y
    B -> A: y
  }
  local B {
    B -> A: y
    B -> A: y
    A -> B: x
    A -> B: x
  }
}
X
cat >hand.session <<'X'
protocol P {
  roles A, B
  A -> B: x(int)
  B -> A: y
  code A {
    set r1 "text"
    send B x
    receive B y
    close
  }
}
X
printf 'protocol P { roles A, B\nA -> A: x }\n' >self.session

try session check buyer.session
status 0 "check"
has out "3 roles, 3 coroutines, 6 edges" "counts"
has out "of 1 message suffice" "capacity"
try session check two.session
status 0 "check: role by role"
has out "of 2 messages suffice" "the least capacity"
has out "A waits for room to send x to B" "and why not less"
try session check two.session --most 1
status 1 "too small a buffer"
try session check self.session
status 2 "refused"
has err "self.session:2:1: A sends to itself" "with the place"
try session check buyer.session --json
status 0 "check --json"
has out '"answer": "sufficient"' "with the answer"

try session run buyer.session --sessions 50
status 0 "run"
has out "50 opened, 50 closed, 0 faulted" "all closed"
grep -o 'digest .*' out | cut -c1-43 >first
for options in "--n 2" "--n inf --policy round-robin" "--n 7 --policy progress" "--threads 2"; do
    # shellcheck disable=SC2086 # words
    try session run buyer.session --sessions 50 $options
    status 0 "run $options"
    grep -o 'digest .*' out | cut -c1-43 >other
    check "the same digest" cmp -s first other
done
try session run buyer.session --fuel 5
status 0 "out of fuel"
has out "out of fuel after 5 rounds" "and says so"
try session run buyer.session --n 0
status 2 "n of 0"
has err "use a number from 1 on, or inf" "says what is expected"
try session run buyer.session --policy fast
status 2 "unknown policy"
try session run buyer.session --protocol Nobody
status 2 "unknown protocol"
try session run two.session
status 1 "stuck"
has out "session 0, A: waits for room on A -> B (1 of 1 in the buffer), line 5" "names who, why and where"
has out "session 0, B: waits for room on B -> A (1 of 1 in the buffer), line 11" "all of them"
try replay two.min.raddle.json
status 0 "its artifact replays"
try run hand.session
status 1 "a fault"
try session run hand.session
status 1 "code by hand that breaks its type"
has out "the fields do not have the types that the message has, line 7" "with line and reason"

try session invariant buyer.session --sessions 3 --seeds 3
status 0 "invariant"
has out "no coroutine can tell any two of these runs apart" "holds"
try session invariant buyer.session --seeds 2 --n 1,inf --policies cooperative,progress --fuel 9 --json
status 0 "invariant --json, with fuel"
has out '"holds": true' "holds"
check "some runs were cut short" grep -qE '"exhausted": [1-9]' out
check "and the verdict says so" grep -qE '"verdict": "no coroutine .* apart, as far as they went: [1-9][0-9]* of [0-9]+ were out of fuel after 9 rounds"' out
# Every run has one end: the counts add up, also with runs on threads, runs with faults and runs out of fuel.
adds_up() { # WHAT
    check "$1: the counts add up to the runs" awk '
        match($0, /"(runs|complete|faulted|exhausted|stuck)": [0-9]+/) {
            split(substr($0, RSTART + 1, RLENGTH - 1), pair, "\": ")
            count[pair[1]] = pair[2]
            seen++
        }
        END {
            sum = count["complete"] + count["faulted"] + count["exhausted"] + count["stuck"]
            exit !(seen == 5 && count["runs"] > 0 && count["runs"] == sum)
        }' out
}
try session invariant buyer.session --seeds 2 --n 1,inf --json
adds_up "complete runs"
has out '"runs": 42' "2 seeds: 19 runs and 2 on threads each"
has out '"complete": 42' "all complete"
events=$(sed -n 's/.*"events": \([0-9]*\).*/\1/p' out)
try session invariant buyer.session --seeds 2 --n 1,inf --threads 0 --json
has out '"runs": 38' "without threads: 19 runs each"
check "events of runs on threads are counted, too" \
    [ $((events * 38)) = $(($(sed -n 's/.*"events": \([0-9]*\).*/\1/p' out) * 42)) ]
try session invariant buyer.session --seeds 2 --n 1,inf
has out "runs       42, " "in words"
has out ": 42 complete, 0 faulted, 0 out of fuel, 0 stuck" "each end is named"
try session invariant buyer.session --seeds 2 --n 1,inf --policies cooperative,progress --fuel 9 --json
adds_up "runs out of fuel"
try session invariant two.session --json
status 1 "stuck everywhere"
adds_up "stuck runs"
has out '"complete": 0' "none is complete"
try session invariant two.session
has out "stuck, in all of these runs alike" "in words"
cat >mixed.session <<'X'
locals Mixed {
  roles A, B
  local A { choice at A { A -> B: x } or { A -> B: y  B -> A: z } }
  local B { choice at A { A -> B: x } or { A -> B: y } }
}
X
try session invariant mixed.session
status 1 "stuck with some seeds"
check "says in how many runs" grep -qE 'stuck, in [1-9][0-9]* of these runs, with the same seeds whatever the schedule' out
cat >lossy.session <<'X'
protocol Lossy {
  roles A, B
  A -> B: x
  A -> B: y
}
X
try session invariant lossy.session --full drop
status 1 "who was faster decides what is lost"
has out "not the same: complete in one run, stuck in the other: " "that is a difference"
has out "; session 0, B: waits for a message on A -> B (0 of 1 in the buffer), line 4" "with who waits for what"
hasnt out "alike" "and not the same everywhere"
cat >fault.session <<'X'
protocol Fault {
  roles A, B, C
  A -> B: x
  B -> A: y
  A -> B: x
  B -> A: y
  A -> B: x
  B -> C: z
  code C {
    yield
    yield
    yield
    release
  }
}
X
try session invariant fault.session --seeds 2 --sessions 20 --json
status 0 "a session that faults: how far the others come until then is nobody's promise, also on threads"
adds_up "runs with faults"
has out '"complete": 0' "none of them is complete"
check "they are counted as faulted" grep -qE '"faulted": [1-9]' out
check "and the verdict says so" grep -qE '"verdict": ".* apart, up to the faults: .* of .* had faulted sessions"' out
try session invariant fault.session --seeds 2 --sessions 20 --fuel 20 --json
adds_up "runs that are out of fuel after a fault"
check "which are out of fuel" grep -qE '"exhausted": [1-9]' out
try session invariant buyer.session --n 1,x
status 2 "bad list"

try session trace buyer.session --normalize
status 0 "trace"
mv out one
try session trace buyer.session --normalize --n inf --policy round-robin
check "normalized traces are the same" cmp -s one out
try session trace buyer.session --normalize --threads 2
check "on threads, too" cmp -s one out
try session trace buyer.session --sessions 3 --session 1
status 0 "trace of one session"
check "no other" [ "$(cut -d' ' -f2 out | sort -u)" = 1 ]

cat >endless.session <<'X'
protocol Endless {
  roles A, B
  loop X {
    A -> B: x
    B -> A: y
    continue X
  }
}
X
try session invariant endless.session --seeds 1 --fuel 500
status 0 "a protocol without end, with fuel"
"$RADDLE" session run endless.session >out 2>err &
pid=$!
works_for $pid 30
kill -INT $pid
wait $pid
check "can be interrupted (status 130)" [ $? = 130 ]
has out "interrupted after" "and tells how far it came"

try session project buyer.session --role Seller
status 0 "project"
has out "receive title(text) from Alice" "in words"
try session project buyer.session --role Seller --c
status 0 "project --c"
has out "TwoBuyer_Seller" "a header"
try session project buyer.session --c
status 2 "--c needs a role"
try session draw buyer.session
status 0 "draw"
has out "<svg" "a picture"
try session project buyer.session --role Nobody
status 2 "no such role"
try explore buyer.session n=2 --runs 200
status 0 "explore a file of protocols"
has out "invariance 200" "the oracle was asked"
try session
status 2 "no part"
try session --help
status 0 "help"
finish
