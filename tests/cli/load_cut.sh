#!/bin/sh
# Logs that were cut off: what a killed run leaves, and what replay, analyze, report, strip and export say of it, wherever
# the log ends. Logs that an older raddle wrote.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

cat >sim.toml <<'X'
[runtime]
duration_seconds = 1
vus = 3
[[requests]]
name = "index"
path = "/"
[simulated]
latency_ms = { min = 1, p50 = 10, p99 = 80, max = 200 }
reset_rate = 0.05
[limits]
flush_ticks = 200
X

word() { # FILE OFFSET: four bytes as a number
    od -An -tu4 -j "$2" -N4 "$1" | tr -d ' '
}

json() { # KEY: of the last output, whichever of the two forms
    grep -oE "\"$1\": ?[a-z0-9]+" out | head -n 1 | grep -oE '[a-z0-9]+$'
}

# ---- Wherever it ends -------------------------------------------------------------------------------------------------
try load run sim.toml --seed 42 --output whole.log
status 0 "a whole log"
size=$(wc -c <whole.log)
header=$(word whole.log 12)
at=$header
ends= # of blocks
while [ "$at" -lt "$size" ]; do
    ends="$ends $at"
    at=$((at + 48 + $(word whole.log $((at + 4)))))
done
check "its blocks are known" [ "$at" = "$size" ]
try load replay whole.log --partial
status 0 "--partial: a whole log is whole"
has out "replays byte for byte" "--partial: and said to be"

for cut in 0 7 64 $((header - 1)); do
    head -c "$cut" whole.log >cut.log
    for words in "replay" "replay --partial" "analyze" "analyze --partial" "report" "strip --output no.log" \
        "export --output no.log --partial" "replay --step"; do
        # shellcheck disable=SC2086
        try load $words cut.log
        status 1 "inside the header at $cut: $words"
        has err "cut.log: the log is cut off: it has 0 turns, 0 records" "inside the header at $cut: $words says so"
    done
done
check "nothing is written of it" [ ! -e no.log ]

last_turns=-1
for end in $ends; do
    for cut in "$end" $((end + 1)) $((end + 47)) $((end + 48)) $((end + 60)); do
        [ "$cut" -lt "$size" ] || continue
        head -c "$cut" whole.log >cut.log
        try load replay cut.log --json
        status 1 "cut at $cut: replay"
        is_cut=$(json cut_off)
        turns=$(json turns)
        records=$(json records)
        check "cut at $cut: what there is of it replays" [ "$(json same)$is_cut" = truetrue ]
        has err "it has $turns turns, $records records and no end; --partial accepts" "cut at $cut: replay says how much it is"
        try load analyze cut.log --json
        status 1 "cut at $cut: analyze"
        check "cut at $cut: analyze agrees" [ "$(json cut_off) $(json turns) $(json records)" = "true $turns $records" ]
        try load replay cut.log --partial
        status 0 "cut at $cut: replay --partial"
        hasnt out "byte for byte" "cut at $cut: it is never called whole"
        has out "cut off" "cut at $cut: --partial says that it is not"
    done
    check "cut at $end: more than before" [ "$turns" -gt "$last_turns" ]
    last_turns=$turns
done

head -c "$header" whole.log >empty.log
try load replay empty.log
status 1 "nothing but a header"
has out "0 turns, 0 records" "is nothing"

# ---- What is made of it -----------------------------------------------------------------------------------------------
head -c $((size * 2 / 3)) whole.log >cut.log
for words in "report --output page.html" "strip --output stripped.log" "export --output z6.log" "replay --output anew.log"; do
    # shellcheck disable=SC2086
    try load $words cut.log
    status 1 "$words"
    has err "cut off" "$words: says why"
    # shellcheck disable=SC2086
    try load $words cut.log --partial
    status 0 "$words --partial"
    silent "$words --partial"
done
try load analyze cut.log --partial
check "analyze says how much there is" grep -qE '^  what there is +[0-9]+ turns, [0-9]+ records$' out
has out "cut off: the log has no end" "and that it is not all"
has page.html "cut off: the log has no end" "so does the page"
rm -f anew.log stripped.log z6.log
try load replay cut.log --output anew.log
check "without --partial nothing is written anew" [ ! -e anew.log ]
try load strip cut.log --output stripped.log
check "nor stripped" [ ! -e stripped.log ]
try load export cut.log --output z6.log
check "nor exported" [ ! -e z6.log ]
try load replay cut.log --output anew.log --partial
try load replay anew.log --json
status 1 "what is written anew is cut off, too"
turns=$(json turns)
try load replay cut.log --json
check "after the same turn" [ "$turns" = "$(json turns)" ]
try load strip cut.log --output stripped.log --partial
try load replay stripped.log --output made.log
status 1 "a stripped log that was cut off"
has err "it has $turns turns" "is said to be"
check "and is not made whole" [ ! -e made.log ]
try load replay stripped.log --output made.log --partial
status 0 "unless that is accepted"
check "byte for byte" cmp -s anew.log made.log
printf 'e\nq\n' >commands
"$RADDLE" load replay cut.log --step >out 2>err <commands
check "step by step: status 1" [ $? = 1 ]
has out "-- turn $turns, the last" "to the last turn"
"$RADDLE" load replay cut.log --step --partial >out 2>err <commands
check "step by step, accepted: status 0" [ $? = 0 ]
cp cut.log flipped.log
printf '\377\377' | dd of=flipped.log bs=1 seek=$((header + 60)) conv=notrunc 2>/dev/null
try load replay flipped.log --partial
status 2 "--partial accepts no damage"

# ---- Shards -----------------------------------------------------------------------------------------------------------
try load run sim.toml --seed 42 --shards 3 --output shards.log
size=$(wc -c <shards.log)
for part in 3 5 7 9; do
    head -c $((size * part / 10)) shards.log >cut.log
    try load replay cut.log --json
    status 1 "shards, $part tenths: replay"
    turns=$(json turns)
    try load analyze cut.log --json
    status 1 "shards, $part tenths: analyze"
    check "shards, $part tenths: they agree" [ "$turns" = "$(json turns)" ]
    try load replay cut.log --partial
    status 0 "shards, $part tenths: --partial"
done

# ---- Older logs -------------------------------------------------------------------------------------------------------
for name in dead live many; do
    cp "$src/tests/fixtures/load-1-$name.log" old.log
    try load replay old.log
    status 0 "version 1, $name: replays"
    has out "byte for byte" "version 1, $name: as it was written"
    try load replay old.log --output anew.log
    check "version 1, $name: is written anew as version 1" cmp -s old.log anew.log
    try load strip old.log --output stripped.log
    try load replay stripped.log --output anew.log
    check "version 1, $name: and from its inputs" cmp -s old.log anew.log
    head -c $(($(wc -c <old.log) - 100)) old.log >cut.log
    try load replay cut.log
    status 1 "version 1, $name: cut off"
    try load replay cut.log --partial
    status 0 "version 1, $name: cut off, accepted"
done

# ---- Killed -----------------------------------------------------------------------------------------------------------
servers=
end_servers() {
    for server in $servers; do kill -s TERM "$server" 2>/dev/null; done
}
trap end_servers EXIT
"$RADDLE" load serve --port 0 --misbehave >served 2>served.err </dev/null &
servers=$!
soon grep listening served
port=$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)

told() { # hundredths of a second that the panel has shown: how far the run was, by its own clock
    tr '\r' '\n' <panel | sed -n 's/.*\] \([0-9]*\)\.\([0-9]\)\/.*/\1\20/p' | tail -n 1
}

kept() { # hundredths of a second that are in the log
    "$RADDLE" load analyze killed.log --partial --json 2>/dev/null |
        sed -n 's/.*"duration_seconds": \([0-9]*\)\.\([0-9][0-9]\).*/\1\2/p'
}

six_seconds() {
    now=$(told)
    [ "${now:-0}" -ge 600 ]
}

keeps_up() { # all but a second of what the panel has shown by now is in the log
    now=$(told)
    log=$(kept)
    [ "$((${log:-0} + 100))" -ge "${now:-0}" ]
}

# After six seconds, by its own clock, all but the last one is there. The disk may be late on a busy machine, so it is
# asked up to five times. Without a flush by time there is nothing in the log before its tenth second.
"$RADDLE" load "http://127.0.0.1:$port/" -c 4 -R 100 -d 3600 --live -o killed.log >out 2>panel </dev/null &
pid=$!
soon six_seconds
for _ in 1 2 3 4; do
    ! keeps_up || break
done
check "the log keeps up" keeps_up
kill -s KILL $pid
wait $pid 2>/dev/null
echo "# the panel said $now hundredths of a second, the log had $log, and has $(kept)"
check "killed: at least five seconds are kept" [ "$(kept)" -ge 500 ]
try load replay killed.log --json
status 1 "killed: it is cut off"
check "killed: what there is replays" [ "$(json same)" = true ]
check "killed: a hundred requests a second" [ "$(json requests)" -ge 480 ]
try load replay killed.log --partial
status 0 "killed: accepted"

# Nothing happens any more, for no answer comes: what happened before is written all the same.
"$RADDLE" load "http://127.0.0.1:$port/stall" -c 4 -d 3600 --timeout-ms 3600000 -o stalled.log >out 2>err </dev/null &
pid=$!
stalled() {
    "$RADDLE" load analyze stalled.log --partial --json >out 2>err
    [ "$(json total)" = 4 ]
}
soon stalled
check "four requests that wait are in the log" stalled
kill -s KILL $pid
wait $pid 2>/dev/null

finish
