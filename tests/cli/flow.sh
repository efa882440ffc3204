#!/bin/sh
# raddle flow: check, run, resume, status, logs, signal, cancel, replay, draw; with real commands, real kills, and files
# that are not as they should be.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

# ---- The examples: each runs, replays, and is drawn -------------------------------------------------------------------
for example in "$src"/examples/flow/*.flow; do
    name=$(basename "$example" .flow)
    try flow check "$example"
    status 0 "$name: check"
    mkdir -p "run_$name"
    (cd "run_$name" && "$RADDLE" flow run "$example" --dir case >../out 2>../err </dev/null)
    status=$?
    status 0 "$name: run"
    has out "done" "$name: is done"
    digest=$(sed -n 's/.*digest //p' out)
    try flow replay "run_$name/case"
    status 0 "$name: replay"
    has out "as recorded: done" "$name: as recorded"
    has out "$digest" "$name: with the same digest"
    try flow replay "run_$name/case" --on "$example"
    status 0 "$name: fits the flow it was recorded with"
    try flow status "run_$name/case"
    has out "done" "$name: status"
    try flow draw "run_$name/case"
    has out "<svg" "$name: a picture"
    try flow resume "run_$name/case"
    status 0 "$name: resuming what is done changes nothing"
    has out "$digest" "$name: the same digest again"
done

# What the help of run shows can be typed.
mkdir -p typed && ln -s "$src/examples" typed/examples
"$RADDLE" flow run --help | sed -n 's/^ *raddle \(flow run examples.*\)/\1/p' >typed/lines
check "run --help has two examples" [ "$(wc -l <typed/lines)" = 2 ]
while read -r line; do
    # shellcheck disable=SC2086 # a line is several words
    (cd typed && "$RADDLE" $line >../out 2>../err </dev/null)
    status=$?
    status 0 "as the help says: $line"
done <typed/lines
check "order: taken back" [ ! -e run_order/stock/reserved ]
check "order: and a letter" [ -s run_order/letter ]

# ---- The validator: what holds, what does not, and a run that shows it ------------------------------------------------------
for name in approval build crawl mapreduce retry workshop; do
    try flow validate "$src/examples/flow/$name.flow"
    status 0 "$name: every property holds"
done
try flow validate "$src/examples/flow/mirrors.flow" --allow confluence,improper
status 0 "mirrors: whoever is first wins, which is meant"
has out "two orders end differently" "and is told"
for artifact in mirrors.*.raddle.json; do
    try replay "$artifact"
    status 0 "$artifact replays"
done
check "both orders were kept" [ -f mirrors.confluence.raddle.json -a -f mirrors.confluence-first.raddle.json ]
cat >stuck.flow <<'F'
flow stuck {
    task a { run "true" outcomes ok }
    par { lock one { do a lock two { } } } and { lock two { lock one { } } }
}
F
try flow validate stuck.flow
status 1 "a deadlock"
has out "no deadlock         fails" "is found"
try replay stuck.deadlock.raddle.json
status 0 "and replays"
try explore stuck.flow
status 1 "explore finds it, too"
try flow validate stuck.flow --json
has out '"exhausted": true' "as JSON"

# ---- Policies: other orders, the same end -------------------------------------------------------------------------------
cat >sum.flow <<'F'
flow sum {
    data { total : int merge sum }
    task one { run "echo 1" capture total }
    task two { run "echo 2" capture total }
    par { do one } and { do two } and { do one do two } and { loop 5 { set total = total + 1 } }
}
F
seed=0
while [ $seed -lt 10 ]; do
    try flow run sum.flow --dir "s$seed" --policy random --seed $seed --no-sync --quiet
    status 0 "seed $seed"
    "$RADDLE" flow status "s$seed" --json >status.json
    has status.json '"total": "10"' "seed $seed: a confluent flow ends in one way"
    "$RADDLE" flow replay "s$seed" --steps >steps
    "$RADDLE" flow replay "s$seed" --steps >again
    same steps again "seed $seed: replays byte for byte"
    cksum <steps >>orders
    seed=$((seed + 1))
done
check "the orders are different" [ "$(sort -u orders | wc -l)" -gt 5 ]

# ---- On an edited flow: what fits, and where it differs ---------------------------------------------------------------------
cat >ship.flow <<'F'
flow ship {
    data { n : int = 1  note : text }
    task pack { run "echo packed" capture note }
    task label { run "echo $note" }
    task send { run "true" }
    xor { when n > 5 { do send } else { } }
    par { do pack do label } and { do send }
    set n = n + 1
    do send
}
F
try flow run ship.flow
status 0 "a case"
find ship.case -type f -exec cksum {} + | sort >before
try flow replay ship.case --on ship.flow
status 0 "on its own flow"
has out "fits: done after" "it fits"
sed 's/^/  /; s/run "true"/run "echo otherwise"/; s/when n > 5 { do send }/when n > 5 { do send do label par { do send } and { } }/' ship.flow |
    sed '1i# lines are other ones' >moved.flow
try flow replay ship.case --on moved.flow
status 0 "on one with other lines and commands, and more in a branch that was not taken"
sed 's/do pack do label/do label do pack/' ship.flow >swapped.flow
try flow replay ship.case --on swapped.flow
status 1 "on one with two tasks the other way round"
line out "  recorded step: 0/3.0#1 do pack (line 7)" "the recorded step is named"
is out "differs after 2 steps and 0 inputs, at or before record 3
  recorded step: 0/3.0#1 do pack (line 7)
  difference: the flow does not offer this
  could run when it was recorded:
    0/3.0#1 do pack (line 7)
    0/3.1#1 do send (line 7)
  can run in swapped.flow:
    0/3.0#1 do label (line 7)
    0/3.1#1 do send (line 7)" "with both sets"
"$RADDLE" flow replay ship.case --on swapped.flow --json >out 2>err
status=$?
status 1 "as JSON"
has out '"step": "0/3.0#1 do pack (line 7)"' "with the step"
has out '"0/3.0#1 do label (line 7)"' "and the sets"
has out '"fits": false' "and the verdict"
sed 's/    do send$/    do send do label/' ship.flow >longer.flow
try flow replay ship.case --on longer.flow
status 1 "a case that has ended, on a flow that goes on"
has out "0#2 do label (line 9)" "says with what"
sed 's/n + 1/n + 2/' ship.flow >other.flow
try flow replay ship.case --on other.flow
status 1 "another value"
has out "recorded: 2; now: 3" "is told with both"
find ship.case -type f -exec cksum {} + | sort >after
same before after "nothing was written"
echo 'flow ship { do nothing }' >bad.flow
try flow replay ship.case --on bad.flow
status 2 "a bad file"
try flow replay ship.case --on nowhere.flow
status 2 "no file"
try flow replay ship.case --on stuck.flow
status 2 "a file without a flow of that name"
try flow replay ship.case --on stuck.flow --flow stuck
status 1 "but with --flow"
try flow replay nowhere --on ship.flow
status 2 "no case"
try flow replay ship.case --flow ship
status 2 "--flow without --on"
try flow replay ship.case --on ship.flow --steps
status 2 "--steps with --on"

# ---- Killed, and gone on with --------------------------------------------------------------------------------------------
cat >slow.flow <<'F'
flow slow {
    task a { run "echo a >> ran; sleep 0.4; echo a >> ended" }
    task b { run "echo b >> ran; until test -f go; do sleep 0.05; done; echo b >> ended" }
    task c { run "echo c >> ran" }
    par { do a } and { do b }
    do c
}
F
"$RADDLE" flow run slow.flow --dir slow >out.run 2>err.run </dev/null &
pid=$!
while [ "$(cat ran 2>/dev/null | wc -l)" -lt 2 ]; do sleep 0.05; done
try flow resume slow
status 2 "a second runner is refused"
has err "$pid" "and told who works on it"
kill -9 $pid
wait $pid 2>/dev/null
try flow status slow
has out "running" "the commands go on without their runner"
has out "next: raddle flow resume slow" "what to do next"
(while ! grep -q "still runs" err && kill -0 $$; do sleep 0.05; done && touch go) 2>/dev/null &
try flow resume slow
status 0 "resume"
has err "still runs" "a running command is taken over"
check "each command ran once" [ "$(sort ran | tr '\n' ' ')" = "a b c " ]
try flow replay slow
status 0 "a case with two runners replays"

# ---- In doubt: the command's own process was killed, too -----------------------------------------------------------------
cat >doubt.flow <<'F'
flow doubt {
    data { answer : text }
    task ask { run "echo $$ >> pids; exec sleep 3600" capture answer }
    do ask
}
F
"$RADDLE" flow run doubt.flow --dir doubt >out 2>err </dev/null &
pid=$!
while [ ! -s pids ]; do sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
shim=$(head -1 doubt/effects/*.lock | tr -dc 0-9)
kill -9 "$shim" "$(head -1 pids)" 2>/dev/null
while "$RADDLE" flow status doubt | grep -q running; do sleep 0.05; done
try flow resume doubt
status 1 "in doubt"
has out "in doubt" "it is said"
has out "--doubt" "and what to do"
has out "next: raddle flow resume doubt --doubt '0#1=done'" "word for word"
try flow status doubt
has out "in doubt" "status says it, too"
try flow resume doubt --doubt '0#1=done' --doubt '0#1=again'
status 2 "two answers to one question"
has err "settled twice" "are refused"
try flow resume doubt --doubt '0#1=done' --doubt '0#2=done' --with-output 42
status 2 "whose output that is cannot be told"
try flow resume doubt --doubt '0#1=maybe'
status 2 "an answer that is none"
try flow resume doubt --doubt '0#1=done' --with-output 42
status 0 "settled"
"$RADDLE" flow status doubt --json >status.json
has status.json '"answer": "42"' "with what it would have printed"
check "and it did not run again" [ "$(wc -l <pids)" = 1 ]
try flow resume doubt --doubt '0#1=failed'
status 2 "what has ended is not in doubt"

# Several at once: one resume settles them all.
cat >doubts.flow <<'F'
flow doubts { many 2 as cell { run "echo $$ >> pids2; exec sleep 3600" { reads cell } } }
F
: >pids2
"$RADDLE" flow run doubts.flow --dir doubts --jobs 2 >out 2>err </dev/null &
pid=$!
while [ "$(wc -l <pids2)" -lt 2 ]; do sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
for lock in doubts/effects/*.lock; do
    kill -9 "$(tr -dc 0-9 <"$lock")" 2>/dev/null
done
while "$RADDLE" flow status doubts | grep -q running; do sleep 0.05; done
has err "> run_1 [1]" "the progress says which instance"
try flow status doubts
has out "run_1 [0]" "and so does the status"
try flow resume doubts --doubt '0/1.0#1=done' --doubt '0/1.1#1=failed'
status 1 "both are settled: one was done, the other has failed"
has out "failed: line 1: task run_1 failed" "which is the end"
has out "next: raddle flow logs doubts run_1" "and where to look"

# ---- Signals, deadlines, cancel --------------------------------------------------------------------------------------------
cat >wait.flow <<'F'
flow waiting {
    data { by : text  late : bool }
    region all {
        defer { on signal approve into by { } on timer 1h { set late = true } }
        run "sleep 3600"
    } on cancel { set by = by + ", cancelled" }
}
F
"$RADDLE" flow run wait.flow --dir waiting >out.run 2>err.run </dev/null &
pid=$!
while ! "$RADDLE" flow status waiting >out 2>/dev/null; do sleep 0.05; done
try flow signal waiting nonsense
status 2 "a signal that nobody waits for is refused"
try flow signal waiting approve Ann
status 0 "signal"
while ! "$RADDLE" flow status waiting | grep -q run_5; do sleep 0.05; done
try flow cancel waiting region nothing
status 2 "a region that is not there"
try flow cancel waiting region all
status 0 "cancel a region"
wait $pid
status=$?
status 0 "it ends, through on cancel"
try flow status waiting
has out "by = Ann, cancelled" "the signal and the handler were there"
try flow signal waiting approve
status 2 "a case that has ended takes no signals"

"$RADDLE" flow run wait.flow --dir later --quiet >out 2>err </dev/null &
pid=$!
soon "$RADDLE" flow status later
sleep 0.3
kill -INT $pid
wait $pid
status=$?
status 130 "Ctrl-C"
has out "interrupted" "is told"
try flow signal later approve Bob
status 0 "a signal while nobody runs it"
try flow cancel later
status 0 "and a cancel"
try flow resume later
status 1 "both are taken"
has out "cancelled" "cancelled"

# ---- Files that are not as they should be -----------------------------------------------------------------------------------
try flow run sum.flow --dir s1
status 2 "a folder with a case is refused"
for name in flow lock; do
    mkdir "mine_$name"
    echo precious >"mine_$name/$name"
    try flow run sum.flow --dir "mine_$name"
    status 2 "a folder with somebody's file called $name"
    is "mine_$name/$name" precious "which is left alone"
done
sed 's/echo 1/echo 3/' sum.flow >changed.flow
try flow resume s1 changed.flow
status 2 "another flow is refused"
has err 'echo 3' "with the difference"
has err "next: raddle flow replay s1 --on changed.flow" "and where to see what that means"
cp -r s1 flipped
printf '\377' | dd of=flipped/journal bs=1 seek=300 conv=notrunc 2>/dev/null
try flow resume flipped
status 2 "a flipped byte"
has err "journal" "is located"
try flow replay flipped
status 2 "by replay, too"
cp -r s1 cut
size=$(wc -c <cut/journal)
head -c $((size - 5)) s1/journal >cut/journal
try flow resume cut
status 0 "a torn end is cut off"
has err "cut off" "and told"
cp -r s1 version
printf '\143' | dd of=version/journal bs=1 seek=8 conv=notrunc 2>/dev/null
try flow resume version
status 2 "another version"
has err "version" "is named"
try flow run nothing.flow
status 2 "no such file"
try flow status nowhere
status 2 "no such case"
try flow run sum.flow --dir ""
status 2 "a folder without a name"
try flow run sum.flow --dir x y=1
status 2 "no such data"
try flow run sum.flow --dir x total=many
status 2 "no number"
try flow run sum.flow --dir x total=1 total=2
status 2 "two values for one"
has err "'total': given twice" "are refused"
check "and nothing was made" [ ! -e x/journal ]
if [ "$(id -u)" != 0 ]; then
    mkdir shut && chmod 555 shut
    try flow run sum.flow --dir shut/case
    status 3 "a folder that cannot be written to"
fi
echo 'flow caught { task bad { run "exit 3" } region r { do bad } on failure { } fail "of another thing" }' >caught.flow
try flow run caught.flow
status 1 "a task that failed and was caught"
has out "next: raddle flow draw caught.case" "is not what to look at"
try flow resume caught.case
has out "next: raddle flow draw caught.case" "nor later"
echo 'flow full { loop 30 { run "echo x >> written" } }' >full.flow
(
    ulimit -f 1 # the journal becomes longer than that
    "$RADDLE" flow run full.flow --dir full --no-sync --quiet >out 2>err </dev/null
)
status=$?
status 3 "a full disk"
has err "after mending that: raddle flow resume full" "says what is next"
try flow resume full --no-sync
status 0 "and it goes on when there is room"
check "no command ran twice" [ "$(wc -l <written)" = 30 ]
"$RADDLE" flow replay s1 --steps >/dev/full 2>err
status=$?
status 3 "stdout that cannot be written"
try flow draw s1 --output nowhere/x.svg
status 3 "a picture that cannot be written"
finish
