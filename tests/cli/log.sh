#!/bin/sh
# Logs: record, replay in a new process, divergence, limits.
. "$(dirname "$0")/tap"

for machine in counter buffer philosophers bank reorder; do
    for policy in random first fair pct:3 surw; do
        try run $machine --policy $policy --seed 5 --log l.raddle.log
        check "$machine $policy: recorded" [ $status -le 1 -a -f l.raddle.log ]
        silent "$machine $policy"
        grep '^  trace' out >first
        result=$status
        try replay l.raddle.log
        status 0 "$machine $policy: replay"
        check "$machine $policy: as recorded" grep -qE '^as recorded: [0-9,]+ decisions?$' out
        try run $machine --policy $policy --seed 5
        grep '^  trace' out >second
        status "$result" "$machine $policy: the same again"
        same first second "$machine $policy: the same trace without a log"
    done
done

# The head of one log on the decisions of another: the replay has to diverge, and to say where.
head_size() { # the byte behind the head's JSON text
    grep -abo '"seed": 5' "$1" | head -n 1 | cut -d : -f 1
}
try run philosophers n=4 --policy random --seed 5 --log four.raddle.log
try run philosophers n=3 --policy random --seed 5 --log three.raddle.log
four=$(head_size four.raddle.log)
three=$(head_size three.raddle.log)
head -c $((three + 12)) three.raddle.log >mixed.raddle.log
tail -c +$((four + 13)) four.raddle.log >>mixed.raddle.log
try replay mixed.raddle.log
status 1 "a log of another case diverges"
has out "DIVERGED: " "says so"
check "names the place and both sets" grep -qiE 'expected|recorded' out
try replay mixed.raddle.log --json
line out '  "as_recorded": false,' "JSON: not as recorded"
check "JSON: the divergence" grep -q '^  "divergence": "' out

# Cut off, or changed: status 2 and the file's name.
size=$(wc -c <four.raddle.log)
at=11
wrong=
while [ $at -lt "$size" ]; do
    head -c $at four.raddle.log >cut.raddle.log
    try replay cut.raddle.log
    if [ $status != 2 ] || ! grep -q '^raddle replay: cut.raddle.log' err || [ -s out ]; then
        wrong="$wrong $at"
    fi
    at=$((at + 23))
done
check "truncated at every 23rd byte: status 2 ($wrong )" [ -z "$wrong" ]
{ head -c $((size - 20)) four.raddle.log; printf 'X'; tail -c 19 four.raddle.log; } >changed.raddle.log
try replay changed.raddle.log
status 2 "a changed byte"

# A limit is an error, and nothing is left behind.
try run counter --log small.raddle.log --log-limit 100
status 3 "--log-limit"
has err "small.raddle.log" "names the file"
check "no file is left" [ ! -e small.raddle.log ]
try run counter --log nowhere/l.raddle.log
status 3 "a log that cannot be written"
finish
