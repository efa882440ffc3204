#!/bin/bash
# raddle show: every kind of file that raddle writes, known by what is in it; truncated and hostile ones.
. "$(dirname "$0")/tap"

"$RADDLE" run bank --log bank.log >out
echo '[runtime]
duration_seconds = 2
vus = 2
[[requests]]
path = "/"
[simulated]
latency_ms = 5' >s.toml
"$RADDLE" load run s.toml --seed 1 --output load.log --quiet >out
"$RADDLE" load run s.toml --seed 1 --output results --quiet >out
echo 'flow one { run "echo once" }' >one.flow
"$RADDLE" flow run one.flow --quiet >out
"$RADDLE" explore counter --no-shrink --stop-on-first >out
cp bank.log strange.json # the name does not matter

try show counter.raddle.json
status 0 "a schedule file"
has out ">>>" "is drawn"
for file in bank.log strange.json; do
    try show $file
    status 0 "$file: a decision log"
    has out "decision log of bank" "$file: says what it is"
    check "$file: one line a decision" [ "$(grep -cE '^ *[0-9]+ ' out)" = "$(sed -n 's/.* \([0-9]*\) decisions.*/\1/p' out)" ]
    check "$file: with the chosen actor" grep -qE '\[actor [0-9]+\]' out
done
try show bank.log --json
status 0 "a decision log as JSON"
is_json out "a decision log as JSON"
try show load.log
status 0 "a load log"
has out "load.log: log of a load test" "says what it is"
has out "next: raddle load analyze load.log" "and what to type"
try show load.log --json
is_json out "a load log as JSON"
try show results/*/
status 0 "a directory of results"
try show one.case/journal
status 0 "a journal"
has out "done  flow one" "what its execution did"
cp out first
try show one.case
same first out "its directory is the same"
try show one.case --json
is_json out "a journal as JSON"
for file in load.log one.case/journal bank.log; do
    try show $file --case
    status 2 "$file --case"
    has err "--case, --width and --all need a schedule file" "$file: is refused"
done

printf 'RADDLELO' >short
printf '\177ELF' >elf
: >empty
printf 'hello\n' >text
for file in short elf empty text "$RADDLE"; do
    try show "$file"
    status 2 "no file of raddle: ${file##*/}"
    has err "expected a schedule file (JSON), a decision log (RADDLELOG)" "${file##*/}: what was expected"
done

# Cut anywhere, and with a byte changed anywhere, a file is shown or refused; nothing crashes, and nothing is silent.
for file in counter.raddle.json bank.log load.log one.case/journal; do
    size=$(stat -c %s "$file")
    bad=
    for part in 1 7 9 12 20 64 $((size / 3)) $((size / 2)) $((size - 1)); do
        mkdir -p cut && cp one.case/flow cut/flow && head -c "$part" "$file" >cut/journal
        try show cut/journal
        { [ $status -le 1 ] && [ -s out ]; } || { [ $status = 2 ] && [ -s err ]; } || bad="$bad cut at $part: $status;"
        head -c "$part" "$file" >cut/journal && printf '\377' >>cut/journal && tail -c +$((part + 2)) "$file" >>cut/journal
        try show cut/journal
        { [ $status -le 1 ] && [ -s out ]; } || { [ $status = 2 ] && [ -s err ]; } || bad="$bad changed at $part: $status;"
    done
    check "$file, cut and changed:$bad" [ -z "$bad" ]
done
finish
