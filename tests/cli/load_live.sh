#!/bin/sh
# raddle load on a real server, our own: both engines, shards, arrivals; signals; servers that go away or misbehave. Every
# log replays, whatever became of the run, and its requests add up.
. "$(dirname "$0")/tap"

servers=
end_servers() {
    for server in $servers; do kill -s TERM "$server" 2>/dev/null; done
}
trap end_servers EXIT

serve() { # OPTIONS…: leaves $port and $server
    : >served
    "$RADDLE" load serve --port 0 "$@" >served 2>served.err </dev/null &
    server=$!
    servers="$servers $server"
    soon grep listening served
    port=$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)
}

number() { # KEY: the first of that name in the JSON of the last analysis
    sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" out | head -n 1
}

answered() { # WORDS…: until there is a response; on a busy machine there is none within a fifth of a second
    for seconds in 0.2 5 50; do
        try "$@" -d $seconds
        [ "$status" = 1 ] || break
    done
}

adds_up() { # LOG NAME [STATUS]: analyze knows of every request what became of it
    try load analyze "$1" --json
    status "${3:-0}" "$2: is analysed"
    total=$(number total)
    check "$2: requests add up" [ "$total" = $(($(number responses) + $(number errors) + $(number timeouts) + $(number cancelled))) ]
}

replays() { # LOG NAME [--partial]
    try load replay "$1" ${3:+"$3"}
    status 0 "$2: replays"
}

test_whole_blocks() { # LOG: something of it can be replayed
    "$RADDLE" load replay "$1" --partial --json | grep -q '"turns":[1-9]'
}

test_answers() { # LOG: it has a response
    "$RADDLE" load analyze "$1" --partial --json 2>/dev/null | grep -q '^    "responses": [1-9]'
}

serve
url=http://127.0.0.1:$port/

engines=epoll
try load "$url" -c 1 -d 0.1 --engine uring
if [ "$status" != 3 ]; then engines="epoll uring"; else echo "# no io_uring here: $(cat err)"; fi

# ---- What is usual ----------------------------------------------------------------------------------------------------
for engine in $engines; do
    answered load "$url" -c 4 --engine "$engine" --seed 3 -o "$engine.log"
    status 0 "$engine"
    silent "$engine"
    has out "repeatable: plan" "$engine: what can be relied on"
    replays "$engine.log" "$engine"
    adds_up "$engine.log" "$engine"
    check "$engine: requests were answered" [ "$total" -gt 0 ]
    answered load "$url" -c 4 -R 100 --engine "$engine" -o "rate-$engine.log"
    status 0 "$engine: arrivals"
    planned=$(sed -n 's/^  arrivals *\([0-9]*\) started.* \([0-9]*\) never started$/\1+\2/p' out) # whatever else runs here
    check "$engine: as many as planned ($planned)" [ $(($planned)) = "$(echo "$seconds" | awk '{ print $1 * 100 }')" ]
    replays "rate-$engine.log" "$engine: arrivals"
    answered load "$url" -c 4 --shards 2 --engine "$engine" -o "shards-$engine.log"
    status 0 "$engine: shards"
    replays "shards-$engine.log" "$engine: shards"
    adds_up "shards-$engine.log" "$engine: shards"
    check "$engine: shards leave nothing behind" [ "$(find . -name '*.shard*' | wc -l)" = 0 ]
done

# What follows the host is asked for, also without a slash before it.
answered load "http://127.0.0.1:$port?where=/here" -c 1 -o query.log
status 0 "a query without a path"
check "is asked for" grep -aq 'path = "/?where=/here"' query.log

# ---- Signals ----------------------------------------------------------------------------------------------------------
for engine in $engines; do
    for signal in INT TERM; do
        "$RADDLE" load "$url" -c 8 -d 3600 --engine "$engine" -o $signal.log >out 2>err </dev/null &
        pid=$!
        works_for $pid 5
        kill -s $signal $pid
        wait $pid
        status=$?
        status 130 "$engine: SIG$signal"
        has out "interrupted" "$engine: SIG$signal is told"
        try load replay $signal.log --json
        status 0 "$engine: SIG$signal: replays"
        has out '"cut_off":false' "$engine: SIG$signal: to its end"
        adds_up $signal.log "$engine: SIG$signal"
    done
    rm -f killed.log parts.log.shard* # of the engine before
    "$RADDLE" load "$url" -c 8 -d 3600 --engine "$engine" -o killed.log >out 2>err </dev/null &
    pid=$!
    soon test_whole_blocks killed.log
    kill -s KILL $pid
    wait $pid 2>/dev/null
    try load replay killed.log --json
    status 1 "$engine: killed: it is not all there"
    try load replay killed.log --json --partial
    status 0 "$engine: killed: the prefix replays"
    has out '"cut_off":true' "$engine: killed: is known to be cut off"
    hasnt out '"turns":0,' "$engine: killed: there is something of it"
    adds_up_cut=$("$RADDLE" load analyze killed.log --partial --json | sed -n 's/^ *"cut_off": \(.*\),/\1/p')
    check "$engine: killed: is analysed" [ "$adds_up_cut" = true ]
    try load replay killed.log -o rescued.log --partial
    status 0 "$engine: killed: is written anew"
    replays rescued.log "$engine: killed, rescued" --partial
    "$RADDLE" load "$url" -c 8 -d 3600 --shards 2 --engine "$engine" -o parts.log >out 2>err </dev/null &
    pid=$!
    soon test_whole_blocks parts.log.shard0
    soon test_whole_blocks parts.log.shard1
    kill -s KILL $pid
    wait $pid 2>/dev/null
    for part in parts.log.shard0 parts.log.shard1; do
        replays $part "$engine: killed with shards: $part" --partial
        hasnt out ": 0 turns" "$engine: killed with shards: $part: there is something of it"
    done
done

# A simulated run that nobody waits for.
cat >long.toml <<'T'
[metadata]
name = "long"
version = "1"
[runtime]
duration_seconds = 86400
vus = 100
[[requests]]
name = "index"
path = "/"
[simulated]
latency_ms = { min = 1, p50 = 10, p99 = 80, max = 200 }
reset_rate = 0.01
T
"$RADDLE" load run long.toml --seed 1 -o long.log >out 2>err </dev/null &
pid=$!
works_for $pid 20
kill -s KILL $pid
wait $pid 2>/dev/null
replays long.log "a simulated run that was killed" --partial
has out "cut off" "is said to be cut off"
"$RADDLE" load run long.toml --seed 1 -o long.log >out 2>err </dev/null &
pid=$!
works_for $pid 20
kill -s INT $pid
wait $pid
status=$?
status 130 "a simulated run is interrupted"
replays long.log "a simulated run that was interrupted"

# ---- Servers that go away ---------------------------------------------------------------------------------------------
for engine in $engines; do
    serve
    rm -f gone.log
    "$RADDLE" load "http://127.0.0.1:$port/" -c 4 -d 4 -R 50 --engine "$engine" -o gone.log >out 2>err </dev/null &
    pid=$!
    soon test_answers gone.log
    kill -s KILL "$server"
    wait "$server" 2>/dev/null
    wait $pid
    status=$?
    status 0 "$engine: the server goes away"
    check "$engine: which has a name" grep -qE 'Connection(Refused|Reset|Closed)' out
    replays gone.log "$engine: without server"
    adds_up gone.log "$engine: without server"
    try load "http://127.0.0.1:$port/" -c 2 -d 0.3 --engine "$engine" -o refused.log -H 'one: 1' -H 'two: 2'
    status 1 "$engine: nobody there"
    has out "ConnectionRefused" "$engine: refused"
    check "$engine: each -H is a header" grep -aq 'headers = { "one" = "1", "two" = "2" }' refused.log
    replays refused.log "$engine: refused"
    adds_up refused.log "$engine: refused" 1
done

# ---- Servers that misbehave -------------------------------------------------------------------------------------------
serve --misbehave
for engine in $engines; do
    while read -r path fault; do
        for seconds in 0.3 2 20; do # longer on a busy machine
            try load "http://127.0.0.1:$port$path" -c 2 -R 50 -d $seconds --timeout-ms 100 --engine "$engine" -o bad.log
            ! grep -q "$fault" out || break
        done
        status 1 "$engine: $path"
        has err "no response: " "$engine: $path: has no response"
        check "$engine: $path is a $fault" grep -q "$fault" out
        replays bad.log "$engine: $path"
        adds_up bad.log "$engine: $path" 1
        check "$engine: $path: nothing passed for an answer" [ "$(number responses)" = 0 ]
    done <<'T'
/empty ConnectionClosed
/reset ConnectionReset
/reset-late ConnectionReset
/stall RequestTimeout
/garbage InvalidHTTPResponse
/endless-headers InvalidHeader
/endless-body RequestTimeout\|ResponseTooLarge
/wrong-length ContentLengthMismatch
/close-mid-chunk ConnectionClosed\|InvalidChunkedEncoding
/bad-chunk InvalidChunkedEncoding
/bad-header InvalidHeader
/old-version UnsupportedHTTPVersion\|InvalidHTTPResponse
T
done

finish
