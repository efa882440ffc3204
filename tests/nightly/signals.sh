#!/bin/bash
# SIGHUP and SIGTERM end every command, with what it knows and status 130: a table of commands and signals. A command has
# begun when a file or an output says so, or when it has used some CPU time; nothing here goes by the clock. The verbs come
# from --help: one that is neither in the table nor among those that take no time fails.
# At night only: it needs many processes that wait for each other.
# Takes 1 minutes.
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: signals.sh BUILD_DIR}" && pwd)
export RADDLE=$build/raddle RADDLE_SRC=$src RADDLE_BUILD=$build
work=$(mktemp -d)
cd "$work" || exit 1
. "$src/tests/cli/tap"
slow=$build/tests/slow_machine
raddle=(env --default-signal=HUP "$RADDLE") # also when the tests run under nohup
tried=$PWD/tried
: >tried

runs() { stat -c %s begun 2>/dev/null || echo 0; } # of the slow machine that have begun

# What tells that a command has begun; a command that has ended is not waited for.
until_or_gone() { # COMMAND…
    until "$@" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
}
has_child() { # the file has no newline
    child=
    read -r child <"/proc/$pid/task/$pid/children"
    [ -n "$child" ]
} 2>/dev/null
has_worked() { read -r -a stat <"/proc/$pid/stat" && [ "${stat[13]}" -ge 2 ]; } 2>/dev/null # in 1/100 s
is_asleep() { read -r -a stat <"/proc/$pid/stat" && [ "${stat[1]}${stat[2]}" = "(raddle)S" ]; } 2>/dev/null
begun_file() { until_or_gone [ -e begun ]; } # the slow machine, or a task, has taken a step
begun_child() { until_or_gone has_child; }
begun_cpu() { until_or_gone has_worked; }
begun_asleep() { until_or_gone is_asleep; }
begun_out() { until_or_gone [ -s out ]; }

# Each of the two signals ends it with 130; of commands that compute they get one, in turn.
turn=HUP
row() { # VERB BEGUN TEXT ARGS…: TEXT is in what it printed; "" for nothing
    local verb=$1 begun=$2 text=$3 signal signals="HUP TERM"
    shift 3
    echo "$verb" >>"$tried"
    [ $begun != begun_cpu ] || signals=$turn
    [ $turn = HUP ] && turn=TERM || turn=HUP
    for signal in $signals; do
        rm -f begun out err
        # shellcheck disable=SC2086 # a verb may be two words
        SLOW_BEGUN=$PWD/begun "${raddle[@]}" ${verb/ URL/} "$@" >out 2>err <hold &
        pid=$!
        $begun
        kill -s $signal $pid
        wait $pid
        status=$?
        status 130 "$verb: SIG$signal"
        [ -z "$text" ] || check "$verb: SIG$signal: says so" grep -qiE -e "$text" out err
    done
}

mkfifo hold # a stdin on which nothing comes
sleep 1000 >hold &
holder=$!
exec 9<hold

# ---- The lab ----------------------------------------------------------------------------------------
"$RADDLE" explore "$slow" slow n=30 --strategy random --runs 20 --no-shrink >made 2>&1
check "an artifact to work on" [ -f slow.raddle.json ]
mkdir corpus && cp slow.raddle.json corpus/a.raddle.json && cp slow.raddle.json corpus/b.raddle.json
export SLOW_US=200000
row run begun_file "interrupted" "$slow" slow n=100000
row explore begun_file "before it was interrupted" "$slow" slow n=100000 -j 2
row replay begun_file "interrupted" slow.raddle.json -- "$slow"
row show begun_file "interrupted" slow.raddle.json -- "$slow"
row shrink begun_file "interrupted" slow.raddle.json -- "$slow"
row corpus begun_file "as recorded" corpus -- "$slow"
row test begun_file "interrupted" "$slow" slow n=100000
export SLOW_US=0
row explore begun_child "before it was interrupted" inc n=8 k=100 --runs 1000000000
row tour begun_child ""

# Shrinking that is interrupted keeps what it has: the run as it was, at least.
rm -f slow.min.raddle.json begun
SLOW_US=1000 SLOW_BEGUN=$PWD/begun "$RADDLE" shrink slow.raddle.json -- "$slow" >out 2>err </dev/null &
pid=$!
until_or_gone eval '[ "$(runs)" -ge 3 ]'
kill -s TERM $pid
wait $pid
status=$?
status 130 "shrink: after some runs"
has out "interrupted: a smaller failure may exist" "shrink: says that it was interrupted"
check "shrink: what it found is there" [ -f slow.min.raddle.json ]
try replay slow.min.raddle.json -- "$slow"
status 0 "shrink: and replays"

# To the whole group, as a terminal does that hangs up: workers leave it to their parent, and no crash is found.
rm -f begun group
SLOW_US=200000 SLOW_BEGUN=$PWD/begun setsid --fork bash -c 'echo $$ >group; exec "$@"' - \
    "${raddle[@]}" explore "$slow" slow n=100000 -j 2 --json >out 2>err
soon [ -e begun ]
kill -s HUP -- "-$(cat group)"
soon eval '! kill -0 $(cat group)'
line out '  "interrupted": true,' "SIGHUP to the group: interrupted"
hasnt out "crash:" "SIGHUP to the group: no crash is found"

# nohup: a SIGHUP that is ignored at the start stays ignored, in workers, too.
rm -f begun
(trap '' HUP && SLOW_US=1000 SLOW_BEGUN=$PWD/begun exec "$RADDLE" explore "$slow" slow n=2 --runs 1000000000 >out 2>err) &
pid=$!
begun_file
kill -s HUP $pid
# shellcheck disable=SC2046 # one word or none
kill -s HUP $(children $pid)
before=$(runs)
until_or_gone eval '[ "$(runs)" -ge $((before + 5)) ]'
check "nohup: SIGHUP changes nothing" kill -0 $pid
kill -s TERM $pid
wait $pid
status=$?
status 130 "nohup: SIGTERM still does"

# ---- The executor -----------------------------------------------------------------------------------
row "exec stress" begun_child "before it was interrupted" --seeds 1000000
row "exec stress" begun_child "before it was interrupted" --seeds 1000000 -j 2
row "exec explore" begun_child "before it was interrupted"
row "exec explore" begun_child "before it was interrupted" -j 2

# Nobody reads what it writes: it ends all the same. A pipe takes 64 KiB, and most of that is used up.
mkfifo full
exec 7<>full
head -c 60000 /dev/zero >&7
"$RADDLE" exec gen --tasks 255 --programs 63 --length 200 >&7 2>err &
pid=$!
begun_asleep
kill -s TERM $pid
wait $pid
status=$?
status 130 "exec gen: nobody reads stdout"
exec 7>&-

# A worker that somebody kills costs nothing but time: what it was at is done again, and the results are the same.
killed() { # WHOM ARGS…: three of its children, or of theirs
    local whom=$1 hits=0 one
    shift
    "$RADDLE" "$@" --json >out 2>err </dev/null &
    pid=$!
    while [ $hits -lt 3 ] && kill -0 $pid 2>/dev/null; do
        has_child || continue
        [ "$whom" = children ] || { one=${child%% *} child= && read -r child <"/proc/$one/task/$one/children"; } 2>/dev/null
        for one in $child; do kill -s KILL "$one" 2>/dev/null && hits=$((hits + 1)); done
    done
    wait $pid
    status=$?
    status 0 "$*: $hits $whom are killed"
    grep -v elapsed out >survived
    same whole survived "$*: the results are the same"
}
"$RADDLE" exec stress --seeds 6 --json | grep -v elapsed >whole
killed children exec stress --seeds 6 -j 2
"$RADDLE" exec explore --first 8 --cases 3 --json | grep -v elapsed >whole
killed children exec explore --first 8 --cases 3
killed children exec explore --first 8 --cases 3 -j 2
killed grandchildren exec explore --first 8 --cases 3 -j 2

# ---- Protocols --------------------------------------------------------------------------------------
echo 'protocol P { roles A, B  loop L { A -> B: x  continue L } }' >endless.session
row "session run" begun_cpu "interrupted" endless.session --fuel 0
row "session run" begun_cpu "interrupted" endless.session --fuel 0 --threads 2
row "session trace" begun_cpu "interrupted" endless.session --fuel 1000000000
row "session invariant" begun_cpu "no difference in [0-9,]+ runs so far" "$src/examples/session/two_buyer.session" \
    --sessions 50 --seeds 1000000
{
    echo "locals Many {"
    echo "  roles A, B, C, D, E, F, G"
    for role in A B C D E F G; do
        echo "  local $role {"
        for other in A B C D E F G; do [ $role = $other ] || echo "    $role -> $other: m"; done
        for other in A B C D E F G; do [ $role = $other ] || echo "    $other -> $role: m"; done
        echo "  }"
    done
    echo "}"
} >many.session
row "session check" begun_cpu "interrupted" many.session --states 10000000

# ---- Load tests -------------------------------------------------------------------------------------
sed 's/^duration_seconds = .*/duration_seconds = 86400/' "$src/examples/load/sim-closed.toml" >long.toml
row "load run" begun_cpu "ended +interrupted" long.toml --no-log
row "load serve" begun_out "requests served" --port 0
"$RADDLE" load serve --port 0 >served 2>&1 </dev/null &
server=$!
soon grep -q listening served
url=http://127.0.0.1:$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)/
row "load URL" begun_cpu "ended +interrupted" "$url" -c 2 -d 3600
kill -s TERM $server
wait $server
"$RADDLE" load run "$src/examples/load/sim-closed.toml" --output some.log >made 2>&1
row "load replay" begun_out "interrupted" some.log --step

# ---- Workflows --------------------------------------------------------------------------------------
echo 'flow f { task t { run "echo $$ >begun; exec sleep 1000" } do t }' >f.flow
for signal in HUP TERM; do
    rm -rf begun f.case
    "${raddle[@]}" flow run f.flow --no-sync >out 2>err </dev/null &
    pid=$!
    begun_file
    soon [ -s begun ]
    kill -s $signal $pid
    wait $pid
    status=$?
    status 130 "flow run: SIG$signal"
    has out "next: raddle flow resume f.case" "flow run: SIG$signal: what to do next"
    command=$(cat begun)
    check "flow run: SIG$signal: its command keeps running" kill -0 "$command"
    "${raddle[@]}" flow resume f.case >out 2>err </dev/null &
    pid=$!
    soon grep -q "still runs" err
    kill -s $signal $pid
    wait $pid
    status=$?
    status 130 "flow resume: SIG$signal"
    check "flow resume: SIG$signal: its command keeps running" kill -0 "$command"
    kill "$command"
    try flow resume f.case
    status 1 "flow resume: the result of the command is taken"
done
printf 'flow run\nflow resume\n' >>"$tried"
cat >large.flow <<'X' # instances beget instances: more states than anybody waits for
flow large {
    data { links : int merge max }
    task visit { run "true" reads page capture links }
    many crawl 2 up to 20 as page {
        do visit
        xor {
            when links > 0 and page >= 1 { more crawl }
            else { }
        }
    }
}
X
row "flow validate" begun_cpu "interrupted" large.flow --states 100000000 --steps 100000000000

# ---- Every verb -------------------------------------------------------------------------------------
# These are over at once, or have no loop that waits for anything; all but gen, signal and cancel end by the first signal.
cat >>tried <<'END'
list
cc
exec
exec gen
exec run
session
session project
session draw
load
load analyze
load diff
load validate
load report
load strip
load export
flow
flow check
flow status
flow logs
flow signal
flow cancel
flow replay
flow draw
END
"$RADDLE" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >verbs
for verb in $(cat verbs); do
    parts=$("$RADDLE" "$verb" --help | sed -n '1s/^raddle [a-z]* \([A-Za-z]*|[A-Za-z|]*\).*/\1/p')
    for part in ${parts//|/ }; do echo "$verb $part" >>verbs; done
done
sort -u tried >tried.sorted
check "every verb has a row here" [ -z "$(sort -u verbs | comm -23 - tried.sorted)" ]
kill $holder
finish
