#!/bin/sh
# Cases in files: case files, artifacts and logs as targets; what is wrong with one is said exactly.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

# The example of the document, as it stands there.
sed -n '/^```json$/,/^```$/p' "$src/docs/files.md" | sed '1d; /^```$/,$d' >mine.json
check "docs/files.md has an example" [ -s mine.json ]
try run mine.json --policy first
status 0 "a case file runs"
has out "run program (body " "a case file: the head tells that the document is its own"
try explore mine.json
status 1 "a case file is explored"
check "what was found is named after the file" [ -f mine.raddle.json ]
check "the minimised one too" [ -f mine.min.raddle.json ]
has mine.raddle.json '        ["lock 0", "inc 0", "unlock 0"],' "the document is in the artifact"
try replay mine.raddle.json
status 0 "the artifact replays in another process"
has out "as recorded" "as recorded"
try replay mine.raddle.json --repaired
status 0 "the bug is gone in the twin"
try show mine.min.raddle.json
status 0 "and can be shown"
try shrink mine.min.raddle.json --output again.raddle.json
status 0 "shrinking what was shrunk"
same mine.min.raddle.json again.raddle.json "changes nothing"

# The case goes around: artifact, case file, artifact.
try show mine.raddle.json --case
status 0 "show --case"
same out mine.json "prints the case file it came from"
cp mine.raddle.json before
try explore mine.raddle.json --no-shrink
status 1 "an artifact instead of a case file"
check "has a name of its own" [ -f mine-again.raddle.json ]
same mine.raddle.json before "the artifact stays"
same mine.raddle.json mine-again.raddle.json "and the same is found"
sed 's/"inc 0"$/"skip"/; s/\["inc 0"\]/["skip"]/' mine.raddle.json >edited.raddle.json
try explore edited.raddle.json
status 0 "the case of an edited artifact is as good as any"
try run mine.json --seed 3 --log mine.raddle.log
try replay mine.raddle.log
status 0 "a log with a document replays"
try run mine.raddle.log --policy first --json
status 0 "a log instead of a case file"
has out '"body": {"threads":[["lock 0","inc 0","unlock 0"],' "its case is taken"
mkdir two
try explore mine.json --no-shrink --output two -j 2
same mine.raddle.json two/mine.raddle.json "two processes find the same"

# Numbers: parameters by name, changed by words.
echo '{"machine": "reorder", "n": 5, "max_steps": 1000}' >numbers.json
try run numbers.json
line out "run reorder n=5: policy random, seed 1" "parameters of a case file"
try run numbers.json n=6
line out "run reorder n=6: policy random, seed 1" "words change them"
try run numbers.json --repaired
line out "run reorder n=5 (fixed): policy random, seed 1" "--repaired"
try run numbers.json n=0
status 2 "a word out of range"

# What is wrong.
refused() { # TEXT REASON NAME
    printf '%s\n' "$1" >wrong.json
    for verb in run explore; do
        try "$verb" wrong.json
        status 2 "$verb: $3"
        check "$verb: $3: nothing on stdout" [ ! -s out ]
        is err "raddle $verb: $2" "$verb: $3: the message"
    done
}
refused '{"machine": "program",
  "threads": [["inc 0",]]}' "wrong.json:2:24: expected JSON, found unexpected token near ']'" "no JSON"
refused '{"machine": "weaver"}' \
    "wrong.json: machine: unknown machine \"weaver\"; 'raddle list' shows all" "an unknown machine"
refused '{"n": 5}' "wrong.json: machine: expected a string of at most 63 bytes, found nothing" "no machine"
refused '{"machine": "reorder", "n": 1}' "wrong.json: n: expected an integer from 3 to 100, found 1" "a number out of range"
refused '{"machine": "reorder", "colour": 1}' "wrong.json: unknown field \"colour\"" "a field of nobody"
refused '{"machine": "program", "threads": [["skip"], ["skip"], ["hop 1"]]}' \
    "wrong.json: threads[2][0]: expected \"skip\", or inc, lock or unlock with 0 … 7, found string \"hop 1\"" \
    "a wrong document"
sed 's/"unlock 0"/"unlock 1"/' mine.raddle.json >wrong.raddle.json
for verb in replay shrink show run explore; do
    try "$verb" wrong.raddle.json
    status 2 "$verb: an artifact with a wrong document"
    is err "raddle $verb: wrong.raddle.json: case.body: threads[0][2]: expected a lock that the thread has taken, found string \"unlock 1\"" \
        "$verb: the message"
done
try run none.json
status 2 "no such file"
is err "raddle run: cannot open 'none.json': No such file or directory" "no such file: the message"
mkdir folder.json
try explore folder.json
status 2 "a folder"
try list
has out "case  a document: raddle explore FILE.json" "the list tells who takes a document"
try list --json
has out '"body": {"threads":' "and shows the default to scripts"
finish
