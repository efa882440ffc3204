#!/bin/sh
# explore → artifact → replay in a new process → shrink → show, on several machines.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

for machine in counter buffer buffer-if philosophers locks event aba reorder bank; do
    rm -f ./*.raddle.json
    try explore $machine
    status 1 "$machine: explore finds the bug"
    silent "$machine: explore"
    has out "explore $machine: strategy auto, up to 20,000 runs, seed 1" "$machine: the head"
    has out "FAILED: " "$machine: the failure"
    sed "H;1h;\$!d;x;s/\n    \([^ ]\)/ \1/g" out >unwrapped
    check "$machine: the certificate" \
        grep -qE '^minimal: it (needs [0-9]+ preemptions?; (all [0-9,]+|both|the one) (fair )?schedules? with fewer w(as|ere) tried, and (none fails|neither fails|does not fail) this way|fails without any preemption)$' unwrapped
    line out "  replay     raddle replay $machine.min.raddle.json" "$machine: the command that replays it"
    has out " equivalence class" "$machine: the classes"
    has out "  oracles    evaluated: " "$machine: the oracles"
    has out ">>>" "$machine: a decisive switch"
    hasnt out "$(printf '\033')" "$machine: no colours in a file"
    check "$machine: both artifacts exist" [ -f $machine.raddle.json -a -f $machine.min.raddle.json ]
    check "$machine: nothing else was written" \
        [ "$(ls -A | grep -c raddle)" = 2 ]

    for file in $machine.raddle.json $machine.min.raddle.json; do
        cp $file before
        try replay $file
        status 0 "$machine: replay $file"
        line out "as recorded" "$machine: $file behaves as recorded"
        same before $file "$machine: replay changes nothing"
        try replay $file --repaired
        status 0 "$machine: replay $file on the twin"
        line out "gone" "$machine: the twin has no such failure"
        try replay $file --original
        status 0 "$machine: --original on an original is an ordinary replay"
    done

    try shrink $machine.raddle.json --output again.raddle.json
    status 0 "$machine: shrink"
    same again.raddle.json $machine.min.raddle.json "$machine: shrink alone gives the same artifact"
    try shrink $machine.min.raddle.json --output twice.raddle.json
    same twice.raddle.json again.raddle.json "$machine: shrinking again changes nothing"

    try show $machine.min.raddle.json --width 80
    status 0 "$machine: show"
    has out " step " "$machine: show has a heading"
    check "$machine: show fits 80 columns" \
        sh -c 'tail -n +2 out | tr -d "\200-\277" | LC_ALL=C awk "length > 80 { bad = 1 } END { exit bad }"'
    try show $machine.raddle.json --all --json
    status 0 "$machine: show --json"

    try explore $machine --repaired --runs 3000
    status 0 "$machine: the twin is clean"
    has out "nothing found in " "$machine: the statement"
    rm -f again.raddle.json twice.raddle.json before
done

# Where shrink writes when it is not told; what is minimal stays under its name.
mkdir default
cp bank.raddle.json default
try shrink default/bank.raddle.json
status 0 "shrink without --output"
same default/bank.min.raddle.json bank.min.raddle.json "writes NAME.min.raddle.json beside the file"
try shrink default/bank.min.raddle.json
check "a minimal artifact keeps its name" [ "$(ls default | tr '\n' ' ')" = "bank.min.raddle.json bank.raddle.json " ]

# A budget of time that ends shrinking is told.
try shrink default/bank.raddle.json --time 0.000001 --output hasty.raddle.json
status 0 "shrink --time"
line out "  stopped    time was up: a smaller failure may exist" "what stopped it"
try shrink default/bank.raddle.json --time 0.000001 --output hasty.raddle.json --json
has out '"stopped": "time",' "as JSON, too"

# Two kinds of failure in one search: two artifacts, numbered in the order they were found.
rm -f ./*.raddle.json
echo '{"machine": "program", "threads": [["inc 0", "lock 0", "lock 1", "unlock 1", "unlock 0"],
    ["inc 0", "lock 1", "lock 0", "unlock 0", "unlock 1"]]}' >both.json
try explore both.json --no-shrink
status 1 "two kinds of failure"
check "two artifacts" [ "$(ls ./*.raddle.json | tr '\n' ' ')" = "./both-2.raddle.json ./both.raddle.json " ]
grep -h '"identity"' both.raddle.json both-2.raddle.json | sort -u >identities
check "with different identities" [ "$(wc -l <identities)" = 2 ]
for file in both.raddle.json both-2.raddle.json; do
    line out "  replay     raddle replay $file" "how to replay $file"
    try replay $file
    status 0 "$file replays"
    try explore both.json --no-shrink
done

# The statement at the end.
try explore counter
check "every schedule was tried" grep -qE '^[0-9,]+ of [0-9,]+ runs failed; every schedule was tried\.$' out
try explore counter --strategy random --runs 100 --repaired
line out "nothing found in 100 runs; not every schedule was tried." "a random search says that it was not"

# An artifact of a crash leaves the explorer alive.
try explore crash --runs 400
status 1 "crash: found, and told"
has out "FAILED: crash at step" "crash: the failure"
try replay crash.min.raddle.json
status 0 "crash: replay"

# No shrinking, another folder, a name with a blank in it.
mkdir "a folder"
try explore counter --no-shrink --stop-on-first --output "a folder"
status 1 "--no-shrink --stop-on-first --output"
check "only the artifact as found" [ "$(ls "a folder")" = counter.raddle.json ]
line out "  replay     raddle replay 'a folder/counter.raddle.json'" "the command is quoted"
hasnt out "shrunk" "nothing was shrunk"
try explore counter --twice --runs 500
status 1 "--twice"

# What was found with one seed is found again; another seed gives another search.
try explore reorder n=5 --strategy random --runs 300 --seed 7 --json --no-shrink
cp out seven
try explore reorder n=5 --strategy random --runs 300 --seed 7 --json --no-shrink
sed -i '/"elapsed"/d' out seven
same out seven "the same seed, the same result"
try explore reorder n=5 --strategy random --runs 300 --seed 8 --json --no-shrink
sed -i '/"elapsed"/d; /"seed"/d' out seven
check "another seed, another result" sh -c '! cmp -s out seven'

# Runs that do not end are cut: neither passed nor failed, and nothing is known when all are. Spinning: docs/write-a-machine.md.
echo 'flow f { par { while true { } } and { while true { } } }' >round.flow
rm -f ./*.raddle.json
try explore round.flow --runs 20 --max-steps 50
status 1 "every run is cut"
has out "nothing found in 20 runs; not every schedule was tried, but all with at most 0 preemptions; every run was cut, not finished after 50 steps: nothing is known." "says so"
line out "  cut        20 runs, neither passed nor failed" "and counts them"
check "nothing is written" [ -z "$(ls ./*.raddle.json 2>/dev/null)" ]
try explore round.flow --runs 20 --max-steps 50 --json
status 1 "as JSON, too"
has out '"cut": 20,' "the number"
has out '"complete": false,' "not complete"
has out '"verdict": "nothing found in 20 runs; ' "the sentence"
try explore round.flow --steps 1000 --max-steps 50
has out "nothing found in 20 runs, stopped after 1,000 steps;" "a budget of steps is told"
try run round.flow --max-steps 50 --artifact cut.raddle.json --log cut.raddle.log
status 1 "one run that is cut"
line out "cut: not finished after 50 steps, neither passed nor failed" "says so"
try replay cut.raddle.json
status 0 "replays as recorded"
try replay cut.raddle.log
status 0 "and so does its log"
try corpus .
status 0 "and as a corpus"
has out "cut as recorded: at step 50" "says so"
try show cut.raddle.json
status 0 "show"
has out "cut: not finished after 50 steps" "tells the end"
try shrink cut.raddle.json
status 2 "there is nothing to shrink"

# A machine whose runs end under every schedule fails at its limit.
echo '{"machine": "exec", "programs": [{"name": "a", "code": ["jump 0"]}], "tasks": ["a"], "runnable": [0]}' >loop.json
try explore loop.json --runs 20 --max-steps 500 --no-shrink
status 1 "a loop"
has out "FAILED: step-limit at step 500: not finished after 500 steps" "is a failure"

# Earlier versions called a run that was cut a livelock. Their files replay as they were recorded.
for form in json log; do
    try replay "$src/tests/fixtures/livelock-flow.raddle.$form"
    status 0 "an old livelock, $form"
    has out "as recorded" "as recorded, $form"
done
try replay "$src/tests/fixtures/livelock-flow.raddle.json"
line out "FAILED: livelock at step 50: not finished after 50 steps" "as what it was"
try shrink "$src/tests/fixtures/livelock-flow.raddle.json" --output small.raddle.json --time 60
status 0 "it shrinks"
try replay small.raddle.json
status 0 "to another one"
has out "FAILED: livelock at step 50" "of the same kind"
try show "$src/tests/fixtures/livelock-flow.raddle.json"
has out "livelock at step 50" "show"
finish
