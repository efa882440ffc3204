#!/bin/sh
# A folder of artifacts: replayed in order, differences, unreadable files, and --accept.
. "$(dirname "$0")/tap"

mkdir corpus
for machine in locks counter philosophers; do
    try explore $machine --output corpus --stop-on-first
done
try corpus corpus
status 0 "all as recorded"
silent "corpus"
grep '^ok' out | sed 's/.*corpus\///; s/: .*//' >names
ls corpus >sorted
same names sorted "each artifact once, sorted by name"
line out "6 as recorded, 0 differ, 0 unreadable, 0 accepted" "the sum"
try corpus corpus/
status 0 "a slash at the end"

# A bug that was fixed: the machine's twin stands in for the repaired program. Its recorded failure is
# gone, which is a difference until it is accepted.
sed 's/"repaired": false/"repaired": true/' corpus/locks.raddle.json >fixed
try replay fixed --edited
status 1 "the recorded failure is gone"
rm -rf bugs
mkdir bugs
cp corpus/counter.raddle.json bugs
cp "$(dirname "$0")/fixed.raddle.json" bugs/fixed.raddle.json
cp bugs/fixed.raddle.json before
cp bugs/counter.raddle.json counter.before
try corpus bugs
status 1 "a difference"
check "is told" grep -q '^DIFFERS *bugs/fixed.raddle.json: ' out
same bugs/fixed.raddle.json before "without --accept nothing is rewritten"
try corpus bugs --accept
status 0 "--accept"
check "is told" grep -q '^accepted *bugs/fixed.raddle.json: the failure is gone' out
line out "1 as recorded, 0 differ, 0 unreadable, 1 accepted" "the sum"
has bugs/fixed.raddle.json '"expect": "pass"' "it expects to pass now"
same bugs/counter.raddle.json counter.before "what still fails is left as it is"
try corpus bugs
status 0 "from now on it is as recorded"
check "and passes" grep -q 'fixed.raddle.json: passes as recorded' out
try replay bugs/fixed.raddle.json
status 0 "replay agrees"
try shrink bugs/fixed.raddle.json
status 2 "there is nothing to shrink"

# One unreadable file: all others are tried first, then status 2.
echo '{' >bugs/aaa.raddle.json
try corpus bugs
status 2 "an unreadable file"
check "is told" grep -q '^UNREADABLE bugs/aaa.raddle.json:2:0: ' out
line out "2 as recorded, 0 differ, 1 unreadable, 0 accepted" "the others were tried"

# The highest status counts, whichever file comes last: a name with which no file beside it can be written is trouble
# with files, and what cannot be read comes after it.
mkdir troubles
cp before "troubles/$(printf '%0243d' 0).raddle.json"
echo '{' >troubles/zzz.raddle.json
try corpus troubles --accept
status 3 "trouble with files before an unreadable file"
line out "0 as recorded, 1 differ, 1 unreadable, 0 accepted" "both were tried"

mkdir empty "odd [name]*"
try corpus empty
status 2 "a folder without artifacts"
is err "raddle corpus: 'empty': no *.raddle.json in it" "says so"
cp corpus/locks.raddle.json "odd [name]*"
try corpus "odd [name]*"
status 0 "a folder with a strange name"
try corpus none
status 2 "a missing folder"
is err "raddle corpus: cannot open 'none': No such file or directory" "says so"
try corpus names
status 2 "a file instead of a folder"
finish
