#!/bin/sh
# Files that cannot be used: status 2 and the exact reason.
. "$(dirname "$0")/tap"

try explore locks
status 1 "a failure to work with"
good=locks.raddle.json

refused_by() { # VERB FILE REASON NAME
    try "$1" "$2"
    status 2 "$1: $4"
    check "$1: $4: nothing on stdout" [ ! -s out ]
    is err "raddle $1: $3" "$1: $4: the message"
}

refused() { # FILE REASON NAME
    for verb in replay shrink show; do
        refused_by "$verb" "$@"
    done
}

refused none.raddle.json "cannot open 'none.raddle.json': No such file or directory" "a missing file"
mkdir folder
refused_by replay folder "'folder': a directory; 'raddle corpus' replays all files of one" "a folder"
refused_by shrink folder "'folder': a directory, not a regular file" "a folder"
refused_by show folder "'folder': a directory, not a regular file" "a folder"

sed 's/"seed": 1,/"seed": 2,/' $good >edited.raddle.json
refused edited.raddle.json \
    "edited.raddle.json: file was edited (checksum mismatch); 'raddle replay --edited' accepts it" \
    "an edited artifact"
sed 's/"schema_version": 2,/"schema_version": 99,/' $good >future.raddle.json
refused future.raddle.json \
    "future.raddle.json: schema_version 99 is newer than this raddle understands (2)" \
    "an artifact of the future"

# Cut off anywhere: never a crash, always status 2 and the file's name.
size=$(wc -c <$good)
at=0
crashed=
while [ $at -lt "$((size - 2))" ]; do
    head -c $at $good >cut.raddle.json
    try replay cut.raddle.json
    if [ $status != 2 ] || ! grep -q '^raddle replay: cut.raddle.json:' err || [ -s out ]; then
        crashed="$crashed $at"
    fi
    at=$((at + 37))
done
check "truncated at every 37th byte: status 2 ($crashed )" [ -z "$crashed" ]

head -c 200 $good >cut.raddle.json
try replay cut.raddle.json
status 2 "a truncated artifact"
check "a truncated artifact: file and line" grep -qE '^raddle replay: cut.raddle.json:[0-9]+:[0-9]+: expected ' err

: >empty.raddle.json
for verb in replay shrink; do
    try "$verb" empty.raddle.json
    status 2 "$verb: an empty file"
    has err "raddle $verb: empty.raddle.json:1:" "$verb: an empty file: file and line"
done
echo '{"a": 1} trailing' >junk.raddle.json
try replay junk.raddle.json
status 2 "something else"
sed 's/"machine": "locks"/"machine": "nosuch"/' $good >machine.raddle.json
try replay machine.raddle.json --edited
status 2 "an unknown machine"
has err 'unknown machine "nosuch"' "an unknown machine: the message"
sed 's/"rounds": 1/"rounds": -5/' $good >range.raddle.json
try replay range.raddle.json --edited
status 2 "a parameter out of range"
has err "case.params.rounds" "a parameter out of range: the message"

# Edited on purpose.
sed 's/"seed": 1,/"seed": 5,/' $good >seed.raddle.json
try replay seed.raddle.json --edited
status 0 "--edited replays an edited artifact"
sed 's/"step": 2,/"step": 3,/' $good >step.raddle.json
try replay step.raddle.json --edited
status 1 "--edited tells that the edited step is not what happens"
check "and why" grep -q '^differs: ' out

# A log is not an artifact.
try run locks --log l.raddle.log
try show l.raddle.log
status 0 "show of a log prints it"
try shrink l.raddle.log
status 2 "shrink of a log"
is err "raddle shrink: 'l.raddle.log': a decision log, not a schedule file; 'raddle replay' and 'raddle show' take it" \
    "shrink of a log: the message"
try replay l.raddle.log --repaired
status 2 "a log cannot be replayed on the fixed version"
finish
