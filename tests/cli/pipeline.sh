#!/bin/sh
# explore → artifact → replay in a new process → shrink → show, on several machines.
. "$(dirname "$0")/tap"

for machine in counter buffer buffer-if philosophers locks event aba reorder bank; do
    rm -f ./*.raddle.json
    try explore $machine
    status 1 "$machine: explore finds the bug"
    silent "$machine: explore"
    has out "explore $machine: strategy auto, up to 20,000 runs, seed 1" "$machine: the head"
    has out "FAILED: " "$machine: the failure"
    check "$machine: the certificate" \
        grep -qE '^(minimal: no failure with [0-9]+ preemptions|minimal: fails without any preemption)$' out
    line out "  replay     raddle replay $machine.min.raddle.json" "$machine: the command that replays it"
    has out "distinct trace class" "$machine: the classes"
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

# Two kinds of failure in one search: two artifacts, numbered in the order they were found.
rm -f ./*.raddle.json
try explore philosophers rounds=2 --max-steps 12 --no-shrink
status 1 "two kinds of failure"
check "two artifacts" [ "$(ls ./*.raddle.json | tr '\n' ' ')" = "./philosophers-2.raddle.json ./philosophers.raddle.json " ]
grep -h '"identity"' philosophers.raddle.json philosophers-2.raddle.json | sort -u >identities
check "with different identities" [ "$(wc -l <identities)" = 2 ]
for file in philosophers.raddle.json philosophers-2.raddle.json; do
    line out "  replay     raddle replay $file" "how to replay $file"
    try replay $file
    status 0 "$file replays"
    try explore philosophers rounds=2 --max-steps 12 --no-shrink
done

# The statement at the end.
try explore counter
check "every schedule was tried" grep -qE '^[0-9,]+ of [0-9,]+ runs failed; every schedule was tried\.$' out
try explore counter --strategy random --runs 100 --repaired
line out "nothing found in 100 runs." "a random search does not say so"

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
finish
