#!/bin/sh
# --json prints exactly one object, on stdout, and nothing else there.
. "$(dirname "$0")/tap"

try explore counter
try run counter --log l.raddle.log
mkdir corpus
cp counter.raddle.json corpus

one_object() { # STATUS KEYS -- ARGS
    expected=$1
    keys=$2
    shift 2
    try "$@" --json
    status "$expected" "$*"
    silent "$*"
    check "$*: one object" sh -c '[ "$(head -n 1 out)" = "{" ] && [ "$(tail -n 1 out)" = "}" ] &&
        [ "$(grep -c "^[^ ]" out)" = 2 ]'
    for key in $keys; do
        check "$*: has $key" grep -q "^  \"$key\": " out
    done
    if command -v jq >/dev/null; then
        check "$*: jq reads it" jq -e -s 'length == 1 and (.[0] | type) == "object"' out
    fi
}

printf 'protocol P { roles A, B A -> B: x B -> A: y }\n' >p.session
one_object 0 "verb file protocols good" session check p.session
one_object 0 "verb n policy seed end sessions digest report artifact" session run p.session
one_object 0 "verb n policies seed holds runs digest difference artifact" session invariant p.session
one_object 0 "verb machines policies strategies" list
one_object 0 "verb machine case policy seed result steps decisions trace_hash failure log" \
    run counter --repaired
decisions=$(sed -n 's/^  "decisions": \([0-9]*\),$/\1/p' out)
steps=$(sed -n 's/^  "steps": \([0-9]*\),$/\1/p' out)
try run counter --repaired
check "run: text and JSON agree" grep -qE "^passed: $steps steps, $decisions decisions?\$" out
one_object 1 "verb machine case strategy seed runs steps failures classes complete phases oracles sites findings elapsed" \
    explore counter
has out '"certificate": "minimal: it needs 1 preemption; both schedules with fewer were tried, and neither fails this way",' "explore: the certificate"
has out '"replay": "raddle replay counter.min.raddle.json"' "explore: the command"
has out '"artifact": "counter.raddle.json",' "explore: the artifact"
one_object 0 "runs complete findings" explore counter --repaired
line out '  "findings": []' "explore: an empty list when nothing was found"
line out '  "complete": true,' "explore: every schedule was tried"
one_object 0 "verb file form machine case answer as_recorded result failure" replay counter.raddle.json
has out '"answer": "as recorded",' "replay: the answer"
one_object 0 "answer" replay counter.raddle.json --repaired
has out '"answer": "gone",' "replay --repaired: the answer"
one_object 0 "verb form as_recorded" replay l.raddle.log
one_object 0 "verb file artifact certificate certified before after checks second" shrink counter.raddle.json
one_object 0 "verb actors lines waits result measure" show counter.min.raddle.json
one_object 0 "verb artifacts as_recorded differ unreadable accepted" corpus corpus

# Strings are escaped: a file name with everything in it.
name='q"b\s	t.raddle.json'
cp counter.raddle.json "$name"
try replay "$name" --json
status 0 "a strange name"
has out '"file": "q\"b\\s\u0009t.raddle.json",' "is escaped"
try list --json
check "list: 9 machines or more" [ "$(grep -c '"twin": true' out)" -ge 9 ]
finish
