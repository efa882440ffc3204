#!/bin/sh
# raddle load -R: few connections are used, and all of them are there before the first arrival; --round-robin and
# --connect-late do without either. Logs of older versions replay as they were recorded.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

"$RADDLE" load serve --port 0 >served 2>served.err </dev/null &
server=$!
trap 'kill -s TERM $server 2>/dev/null' EXIT
soon grep listening served
port=$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)
url=http://127.0.0.1:$port/

number() { # KEY: the first of that name in the JSON
    sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" out | head -n 1
}

replays() { # NAME
    try load replay run.log
    status 0 "$1: replays"
    has out "byte for byte" "$1: as it was"
    try load analyze run.log --json
    status 0 "$1: is analysed"
}

engines=epoll
try load "$url" -c 1 -d 0.1 --engine uring
if [ "$status" = 0 ]; then engines="epoll uring"; else echo "# no io_uring here: $(cat err)"; fi

for engine in $engines; do
    for shards in 1 3; do
        name="$engine, $shards shards"
        try load "$url" -c 30 -R 60 -d 1 --engine "$engine" --shards $shards -o run.log
        status 0 "$name"
        has out "30, 30 of them before the first request" "$name: connections are told"
        replays "$name"
        check "$name: 30 connections" [ "$(number before_first_request)" = 30 ]
        check "$name: there were requests" [ "$(number total)" -gt 30 ] # all 60, unless the machine is very busy
        check "$name: and all of them found one" [ "$(number reused)" = "$(number total)" ]
    done
    try load "$url" -c 30 -R 60 -d 1 --engine "$engine" --round-robin --connect-late -o run.log
    status 0 "$engine: as it was once"
    replays "$engine: as it was once"
    check "$engine: connections are opened by requests" [ "$(number before_first_request)" = 0 ]
    check "$engine: each user has its turn" [ "$(number reused)" = $(($(number total) - 30)) ]
    try load "$url" -c 30 -R 60 -d 1 --engine "$engine" --round-robin -o run.log
    replays "$engine: in turn"
    check "$engine: in turn, over connections that are there" [ "$(number before_first_request)" = 30 ]
    check "$engine: in turn, none is opened" [ "$(number reused)" = "$(number total)" ]
done

# Nobody there: the run is as long as it should be, and says what is wrong.
kill -s TERM $server
wait $server
try load "$url" -c 30 -R 60 -d 1 -o run.log
status 1 "nobody there"
has out ConnectionRefused "which is told"
try load replay run.log
status 0 "nobody there: replays"

# ---- Bad usage -------------------------------------------------------------------------------------------------------
for option in --round-robin --connect-late; do
    try load "$url" -c 2 -d 1 $option
    status 2 "$option without a rate"
    has err "needs --rate" "$option: what is missing"
done

# ---- Older logs ------------------------------------------------------------------------------------------------------
# Made by the raddle before version 2: arrivals in turn, connections when they are needed; one on a server, one on a
# simulated target with two shards.
for name in arrivals arrivals-shards; do
    cp "$src/tests/fixtures/load-1-$name.log" old.log
    try load replay old.log
    status 0 "version 1, $name: replays"
    has out "byte for byte" "version 1, $name: as it was written"
    try load replay old.log --output anew.log
    check "version 1, $name: is written anew as it was" cmp -s old.log anew.log
    try load strip old.log --output stripped.log
    try load replay stripped.log --output anew.log
    check "version 1, $name: and from its inputs" cmp -s old.log anew.log
    try load analyze old.log --json
    status 0 "version 1, $name: is analysed"
    check "version 1, $name: no connection was there before" [ "$(number before_first_request)" = 0 ]
done

finish
