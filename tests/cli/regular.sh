#!/bin/bash
# Files that are named may be links but must be regular: pipes, folders, devices and sockets are refused at once, with
# what they are and status 2. Every command that reads a file has its rows; the verbs come from --help.
. "$(dirname "$0")/tap"
src=$RADDLE_SRC
tried=$PWD/tried
: >tried

mkfifo pipe.json pipe.raddle.json pipe.session pipe.flow pipe.toml pipe.log
mkdir folder.json folder.session folder.flow folder.toml folder.log
for end in json session flow toml log; do ln -s pipe.$end link.$end && ln -s /dev/zero zero.$end; done
sockets=1
python3 -c 'import socket, sys
for name in sys.argv[1:]: socket.socket(socket.AF_UNIX).bind(name)' socket.json socket.session socket.flow socket.toml socket.log \
    2>/dev/null || sockets=

refused() { # VERB FILE KIND ARGS…: @ in ARGS is the file
    local verb=$1 file=$2 kind=$3 words=()
    shift 3
    for word in "$@"; do words+=("${word//@/$file}"); done
    # shellcheck disable=SC2086 # a verb may be two words
    try $verb "${words[@]}"
    status 2 "$verb ${words[*]}"
    check "$verb ${words[*]}: says what it is" grep -qF -e "$kind" err
    check "$verb ${words[*]}: and names it" grep -qF -e "$file" err
}

kinds=
row() { # VERB END ARGS…
    local verb=$1 end=$2
    shift 2
    echo "$verb" >>"$tried"
    refused "$verb" link.$end "a pipe" "$@"
    refused "$verb" zero.$end "a device" "$@"
    case " $kinds " in *" $end "*) return ;; esac # the others once for each kind of file
    kinds="$kinds $end"
    refused "$verb" pipe.$end "a pipe" "$@"
    refused "$verb" folder.$end "a directory" "$@"
    [ -z "$sockets" ] || refused "$verb" socket.$end "a socket" "$@"
}

for verb in run explore; do row $verb json @; done
mkfifo program
try test ./program
status 2 "test: a pipe"
has err "'./program': not a regular file" "test: says what it is not"
echo test >>"$tried"
for verb in replay shrink show; do row $verb json @; done
row "exec run" json @
row "exec explore" json @
for verb in check run invariant project trace draw; do row "session $verb" session @; done
for verb in run validate; do row "load $verb" toml @; done
for verb in analyze report replay; do row "load $verb" log @; done
for verb in strip export; do row "load $verb" log @ --output x; done
row "load diff" log @ @
for verb in check run validate draw; do row "flow $verb" flow @; done
try corpus pipe.json
status 2 "corpus of a pipe"
mkdir corpus && mkfifo corpus/x.raddle.json
try corpus corpus
status 2 "corpus: a pipe among the artifacts"
has out "a pipe" "corpus: says what it is"

# A folder with results, or with a case, whose files are pipes.
mkdir results && mkfifo results/events.log
for verb in analyze report replay; do
    try load $verb results
    status 2 "load $verb: a folder whose log is a pipe"
done
echo 'flow f { task t { run "true" } do t }' >f.flow
try flow run f.flow --dir good.case --no-sync
status 0 "a case"
for file in journal flow lock; do
    rm -rf bad.case && cp -r good.case bad.case
    [ -e bad.case/$file ] || continue
    rm -f bad.case/$file && mkfifo bad.case/$file
    for verb in status replay resume logs draw; do
        try flow $verb bad.case
        check "flow $verb: $file is a pipe (status $status)" [ $status -le 3 ]
    done
done
for verb in status replay resume logs signal cancel; do
    try flow $verb pipe.flow x
    status 2 "flow $verb: the folder is a pipe"
done

# A link to a regular file is as good as the file.
ln -s f.flow to.flow
try flow check to.flow
status 0 "a link to a regular file"

# ---- Shrinking --------------------------------------------------------------------------------------
# A log that becomes shorter while it is read is an error, not SIGBUS.
"$RADDLE" load run "$src/examples/load/sim-closed.toml" --output some.log >made 2>&1
mkfifo keys
"$RADDLE" load replay some.log --step <keys >out 2>err &
pid=$!
exec 8>keys
soon grep -q "^> " out
truncate -s 5000 some.log
echo e >&8
exec 8>&-
wait $pid
status=$?
status 3 "load replay --step: the log becomes shorter"
has err "some.log: it became shorter while it was read" "load replay --step: says so"

# Also while it is only looked at how much there is of it, and whatever is read of it then: no log is called damaged.
cat >long.toml <<'X'
[runtime]
duration_seconds = 800
vus = 10
[[requests]]
path = "/"
[simulated]
latency_ms = 30
X
"$RADDLE" load run long.toml --seed 1 --quiet --output long.log >made 2>&1
is_mapped() { # PID: it has the log, or has ended
    grep -q '/shrinks.log$' "/proc/$1/maps" 2>/dev/null || ! kill -0 "$1" 2>/dev/null
}
for verb in strip export replay; do
    for _ in 1 2 3; do
        cp long.log shrinks.log
        "$RADDLE" load $verb shrinks.log --output made.$verb >out 2>err </dev/null &
        pid=$!
        soon is_mapped $pid
        truncate -s 5000 shrinks.log
        wait $pid
        status=$?
        [ $status = 0 ] || break # else it was faster than we are, and has read all of it
    done
    check "load $verb: a log that becomes shorter is not called damaged (status $status: $(cat err))" \
        [ $status = 0 -o $status = 3 ]
    [ $status = 0 ] || check "load $verb: nothing is left of what was begun" [ ! -e made.$verb ]
    rm -f made.$verb
done

# ---- Every verb -------------------------------------------------------------------------------------
# These read no file that is named; the parts of a flow's folder are above.
cat >>tried <<'END'
tour
list
cc
corpus
exec
exec gen
exec stress
session
load
load URL
load serve
flow
flow resume
flow status
flow logs
flow signal
flow cancel
flow replay
END
"$RADDLE" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >verbs
for verb in $(cat verbs); do
    parts=$("$RADDLE" "$verb" --help | sed -n '1s/^raddle [a-z]* \([A-Za-z]*|[A-Za-z|]*\).*/\1/p')
    for part in ${parts//|/ }; do echo "$verb $part" >>verbs; done
done
sort -u tried >tried.sorted
check "every verb has a row here" [ -z "$(sort -u verbs | comm -23 - tried.sorted)" ]
finish
