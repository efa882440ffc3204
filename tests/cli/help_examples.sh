#!/bin/bash
# Every example of every help text is typed here, as it stands, in a directory that has the files it names: it succeeds, or
# finds a failure. Only servers have another port, and load tests of them last 0.2 s.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
unset RADDLE_OPTIONS
mkdir bin && ln -s "$RADDLE" bin/raddle
PATH=$PWD/bin:$PATH
servers=
trap 'for server in $servers; do kill -TERM $server 2>/dev/null; done' EXIT

# ---- The files ---------------------------------------------------------------------------------------
cp -r "$src/examples" examples
sed -i 's/^duration_seconds = 10$/duration_seconds = 0.2/' examples/load/quick.toml
under_test=
if [ -f "$build/src/lab/programs/fibers/libraddle.so.0" ] && ! is_sanitized "$library"; then under_test=1; fi
if [ $under_test ]; then
    sed -n '/^```c$/,/^```$/p' "$src/README.md" | sed '1d; /^```$/,$d' >wait.c
    # shellcheck disable=SC2086 # CC may have words
    check "wait" ${CC:-cc} -g -pthread wait.c -o wait
    cat >tests.c <<'END'
#include <raddle.h>
#include <raddle/test.h>

static int two(void)
{
    return 2;
}

RAD_TEST(two_is_two) { rad_check(two() == 2); }
RAD_TEST(two_and_two) { rad_check(two() + two() == 4); }
RAD_TEST_MAIN
END
    # shellcheck disable=SC2086
    compiles "tests" "$library" ${CC:-cc} -g tests.c -o tests
    raddle explore ./wait >out 2>&1
    cp wait.c wait.cpp
fi
begun() { # COMMAND…: in the background until its execution waits for a signal; then it is left
    raddle flow run "$@" --quiet >out 2>err </dev/null &
    pid=$!
    soon eval "raddle flow status ${*: -1} | grep -q 'signal '"
    kill -INT $pid
    wait $pid
}
raddle explore buffer >out
raddle show buffer.min.raddle.json --case >mine.json
raddle run bank --log bank.raddle.log >out
mkdir corpus && cp buffer.min.raddle.json corpus
cp examples/flow/order.flow .
raddle run order.flow --artifact order.raddle.json >out 2>&1
raddle load run examples/load/sim-stall.toml --seed 1 --output run.log >out
cp run.log before.log && cp run.log after.log
mkdir before after && cp run.log before/1.log && cp run.log after/1.log
raddle load strip run.log --output small.log >out
raddle flow run examples/flow/build.flow --dir build.1 --quiet >out
echo 'flow approval { wait signal approve }' >approval.flow && begun approval.flow --dir approval.case
raddle flow run order.flow --dir order.case --quiet >out 2>err # ends as failed: nothing is for sale
echo 'flow order { region purchase { wait signal go } }' >waits.flow
cat >doubt.flow <<'F'
flow doubt {
    task ask { run "echo $$ >> pids; exec sleep 3600" }
    do ask
}
F
raddle flow run doubt.flow --dir doubt.1 >out 2>err </dev/null &
pid=$!
while [ ! -s pids ]; do sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
kill -9 "$(head -1 doubt.1/effects/*.lock | tr -dc 0-9)" "$(head -1 pids)" 2>/dev/null
while raddle flow status doubt.1 | grep -q running; do sleep 0.05; done

# ---- The examples --------------------------------------------------------------------------------------
serves() { # COMMAND: until it listens; it is left running, on $port
    : >served
    eval "exec ${1/--port 8080/--port 0}" >served 2>served.err </dev/null &
    server=$!
    servers="$servers $server"
    soon grep listening served
    port=$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)
}
serves "raddle load serve --port 8080"

types() { # HELP COMMAND
    needs=$(printf '%s' "$2" | grep -oE '\| (jq|less)|RADDLE_OPTIONS=|raddle tour| \./(wait|tests)|raddle (cc|c\+\+) |CC=.raddle cc' | head -n 1)
    case $needs in
    "| "*) command -v "${needs#| }" >/dev/null || { skip "$2" "no ${needs#| } here" && return; } ;;
    "raddle c++ ") [ $under_test ] && command -v c++ >/dev/null || { skip "$2" "no compiler for C++ here, or no library for it" && return; } ;;
    ?*) [ $under_test ] || { skip "$2" "this build has no library for it" && return; } ;;
    esac
    case $1,$2 in
    "load serve",*)
        serves "$2"
        check "$2 (port $port)" [ "$port" -gt 0 ]
        return
        ;;
    flow,*build.1\ --jobs*) rm -rf build.1 ;; # the one that the examples before had
    "flow run",*order.flow*) rm -rf order.case ;;
    "flow cancel",*) rm -rf order.case && begun waits.flow --dir order.case ;;
    esac
    typed=$(printf '%s' "$2" | sed "s/127.0.0.1:8080/127.0.0.1:$port/; s/ -d 10\b/ -d 0.2/")
    RADDLE=$RADDLE bash -c "$typed" >out 2>err </dev/null
    status=$?
    [ $status -le 1 ] && ! grep -q '^raddle' err
    report $? "$1: $2 (status $status)" out err
}

names() { awk '/^  [a-z]/ { print $1 }'; }
for name in $(raddle --help | names); do
    echo "$name"
    raddle "$name" --help | awk '/^Commands$/ { on = 1 } /^$/ { on = 0 } on && /^  [a-zU]/ { print "'"$name"' " $1 }'
done >commands
while read -r name; do
    # shellcheck disable=SC2086
    raddle $name --help | sed '1,/^Examples$/d' >examples.txt
    grep -E '^  [^ ]' examples.txt | sed 's/^  //' >lines
    check "$name has examples" [ -s lines ]
    while IFS= read -r line <&3; do
        types "$name" "$line"
    done 3<lines
done <commands
finish
