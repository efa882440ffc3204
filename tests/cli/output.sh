#!/bin/sh
# Where output goes: closed pipes, full disks, folders that cannot be written, no terminal.
. "$(dirname "$0")/tap"

# A reader that goes away is no error and no crash; the status stays the verb's own.
("$RADDLE" list 2>err; echo $? >status) | head -n 1 >first
status=$(cat status)
status 0 "list | head -n 1"
silent "list | head -n 1"
("$RADDLE" explore counter 2>err; echo $? >status) | true
status=$(cat status)
status 1 "explore | true"
silent "explore | true"
check "the artifacts were written all the same" [ -f counter.raddle.json -a -f counter.min.raddle.json ]
("$RADDLE" show counter.min.raddle.json --json 2>err; echo $? >status) | true
status=$(cat status)
status 0 "show --json | true"

if [ -c /dev/full ]; then
    for words in "list" "list --json" "tour" "explore counter --json" "replay counter.raddle.json" \
        "show counter.raddle.json" "--help" "--version"; do
        # shellcheck disable=SC2086
        "$RADDLE" $words >/dev/full 2>err
        status=$?
        : >out
        status 3 "raddle $words > /dev/full"
        has err "cannot write to standard output: No space left on device" "raddle $words: the reason"
    done
fi

# The artifact's place is taken by a folder: it is printed instead, and nothing is lost. (A folder
# without write permission does not stop root.)
cp counter.raddle.json good.first
cp counter.min.raddle.json good.second
mkdir -p taken/counter.raddle.json taken/counter.min.raddle.json
try explore counter --output taken
status 1 "a place that is taken"
has err "the schedule file follows, base64-encoded" "says so"
line out "  written    not as a file; feed these lines to: base64 -d > counter.raddle.json" "says how to save it"
sed -n '/base64 -d > counter.raddle.json/,/^$/p' out | sed '1d' | base64 -d >decoded
same decoded good.first "the base64 text is the artifact"
sed -n '/base64 -d > counter.min.raddle.json/,/^$/p' out | sed '1d' | base64 -d >decoded
same decoded good.second "and the minimised one"
try explore counter --output taken --json
has out '"artifact": null,' "JSON: no file"
check "JSON: the base64 text" grep -q '"artifact_base64": "ewog' out
try shrink counter.raddle.json --output taken/counter.min.raddle.json
status 3 "shrink to a place that is taken"
has out "base64 -d" "shrink prints it too"
if [ -d /proc/self ]; then
    try explore counter --output /proc
    status 1 "a folder in which nothing can be created"
    has out "feed these lines to: base64 -d" "printed instead"
fi
check "no temporary file is left" sh -c '! ls -A . taken | grep -qiE "tmp|temp|~|XXXX"'

# Nothing of a terminal where there is none; ASCII where the locale says so.
escape=$(printf '\033')
try explore counter
hasnt out "$escape" "no escape sequences on stdout"
hasnt err "$escape" "none on stderr"
LC_ALL=C try show counter.min.raddle.json
check "LC_ALL=C: plain ASCII" sh -c '! LC_ALL=C grep -q "[^ -~]" out'
LC_ALL=C.UTF-8 try show counter.min.raddle.json
has out "●" "LC_ALL=C.UTF-8: lanes"
finish
