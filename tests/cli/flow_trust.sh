#!/bin/sh
# raddle flow: a case directory that somebody else has been at. Files deleted and replaced beside a living runner, numbers
# of other processes written into it, links planted in it, commands that try to get away.
. "$(dirname "$0")/tap"

modes() { # DIR: the modes in it, each once
    find "$1" -printf '%y %m\n' | sort -u | tr '\n' ' '
}

# ---- Modes: what raddle makes is its owner's alone, whatever the umask --------------------------------------------------
cat >modes.flow <<'F'
flow modes {
    data { x : text }
    run "echo out; echo err >&2"
    wait signal go into x
    task late { run "touch made_by_command" }
    do late
}
F
for mask in 000 022 077 777; do
    (
        umask $mask
        "$RADDLE" flow run modes.flow --dir "modes_$mask" --quiet >out 2>err </dev/null
    ) &
    pid=$!
    soon "$RADDLE" flow status "modes_$mask"
    until "$RADDLE" flow status "modes_$mask" | grep -q "signal go"; do sleep 0.05; done
    (
        umask $mask
        "$RADDLE" flow signal "modes_$mask" go now >out.signal 2>err.signal </dev/null
    )
    seen=$(modes "modes_$mask")
    wait $pid
    status=$?
    status 0 "umask $mask: it runs, and takes a signal"
    check "umask $mask: 0700 and 0600 ($seen)" [ "$seen" = "d 700 f 600 " ]
    check "umask $mask: at the end, too" [ "$(modes "modes_$mask")" = "d 700 f 600 " ]
    check "umask $mask: commands have theirs" [ -e made_by_command ]
    mode=$(stat -c %a made_by_command)
    check "umask $mask: which is not changed" [ "$mode" = "$(printf '%o' $((0666 & ~0$mask)))" ]
    rm -f made_by_command
done

# A folder that was there keeps its mode; one that others may write to is refused, and left alone.
mkdir -m 755 readable
echo 'flow one { run "echo once >> ran_one" }' >one.flow
try flow run one.flow --dir readable
status 0 "a folder that others may read"
check "keeps its mode" [ "$(stat -c %a readable)" = 755 ]
for mode in 777 775 1777 722; do
    mkdir "open_$mode" && chmod $mode "open_$mode"
    try flow run one.flow --dir "open_$mode"
    status 2 "mode $mode is refused"
    has err "others may write to it (mode ${mode#1})" "mode $mode: with the reason"
    check "mode $mode: and stays empty" [ -z "$(ls -A "open_$mode")" ]
done
cp -r readable opened && chmod 777 opened/effects
try flow resume opened
status 2 "a part of a case that others may write to is refused, too"
has err "opened/effects: others may write to it" "and named"
cp -r readable opened2 && chmod 720 opened2/signals
try flow resume opened2
status 2 "so is the other one"
cp -r readable opened3 && chmod 757 opened3
try flow resume opened3
status 2 "and the whole"
try flow status opened
status 0 "looking at it runs nothing, and is allowed"

# Without the text it was begun with, a case is still one: what is gone is named, and the text is taken from elsewhere.
cp -r readable textless && rm textless/flow
for verb in status logs replay resume; do
    try flow $verb textless
    status 2 "flow $verb of a case whose text was deleted"
    has err 'textless: the file "flow", with the text that the execution was begun with, is gone' "flow $verb: is named"
done
try flow resume textless one.flow
status 0 "with the text from elsewhere it is resumed"

if [ "$(id -u)" = 0 ]; then
    cp -r readable foreign && chown -R 12345 foreign
    try flow resume foreign
    status 2 "a case of somebody else is not resumed"
    has err "foreign: belongs to user 12345" "and it is said whose it is"
    mkdir -m 700 theirs && chown 12345 theirs
    try flow run one.flow --dir theirs
    status 2 "nor begun in somebody else's folder"
    echo 'flow w { wait signal go }' >w.flow
    "$RADDLE" flow run w.flow --dir waits --quiet >out 2>err </dev/null &
    pid=$!
    until "$RADDLE" flow status waits 2>/dev/null | grep -q "signal go"; do sleep 0.05; done
    kill -INT $pid
    wait $pid
    chown -R 12345 waits
    try flow signal waits go
    status 0 "root sends a signal to a user's case"
    check "which that user can read" [ -z "$(find waits ! -user 12345)" ]
fi

# ---- Links: none in the folder is followed, and nothing outside is written ------------------------------------------------
echo precious >outside
fresh() { # a case that was begun and left, as $1
    rm -rf "$1"
    "$RADDLE" flow run left.flow --dir "$1" --quiet >out 2>err </dev/null &
    pid=$!
    until "$RADDLE" flow status "$1" 2>/dev/null | grep -q "signal go"; do sleep 0.05; done
    kill -INT $pid
    wait $pid
}
cat >left.flow <<'F'
flow left { task t { run "echo $RADDLE_EFFECT_ID >> ran_left" } do t wait signal go do t }
F
outside_is_whole() {
    check "$1: what is outside is as it was" [ "$(cat outside)" = precious -a "$(stat -c %s outside)" = 9 ]
}
for name in journal lock flow where; do
    fresh linked
    cp linked/$name "kept_$name"
    rm linked/$name
    ln -s "$PWD/kept_$name" linked/$name
    cp "kept_$name" before
    "$RADDLE" flow signal linked go >out 2>err </dev/null
    try flow resume linked
    status 2 "resume: $name is a link"
    has err "linked/$name: a symbolic link" "resume: $name is named"
    same before "kept_$name" "resume: where $name leads to nothing is written"
    mkdir new_$name
    ln -s "$PWD/outside" new_$name/$name
    try flow run one.flow --dir new_$name
    status 2 "run: $name is a link"
    has err "new_$name/$name: a symbolic link" "run: $name is named"
    outside_is_whole "run: $name"
    rm -rf new_$name && mkdir new_$name
    ln -s "$PWD/not_there" new_$name/$name
    try flow run one.flow --dir new_$name
    status 2 "run: $name is a link to nothing"
    check "run: $name: which stays nothing" [ ! -e not_there ]
done
fresh linked
echo precious >linked/lock
try flow resume linked
status 2 "resume: lock is somebody else's file"
is linked/lock precious "which is left alone"
for name in effects signals; do
    mkdir elsewhere_$name new_part_$name
    ln -s "$PWD/elsewhere_$name" new_part_$name/$name
    try flow run one.flow --dir new_part_$name
    status 2 "run: the folder $name is a link"
    has err "new_part_$name/$name: a symbolic link" "run: $name is named"
    check "run: where $name leads to nothing is made" [ -z "$(ls -A elsewhere_$name)" ]
    fresh linked
    mv linked/$name moved_$name
    ln -s "$PWD/moved_$name" linked/$name
    find moved_$name | sort >before
    try flow resume linked
    status 2 "resume: the folder $name is a link"
    try flow signal linked go
    find moved_$name | sort >after
    same before after "resume and signal: where $name leads to nothing is made"
done
for end in lock receipt out log; do
    rm -rf planted && mkdir -p planted/effects && chmod 700 planted planted/effects
    rm -f ran_left
    ln -s "$PWD/outside" "planted/effects/0-1@1.$end"
    try flow run left.flow --dir planted
    status 2 "run: an effect's .$end is a link"
    outside_is_whole "run: .$end"
    check "run: .$end: nothing was run" [ ! -e ran_left ]
    fresh planted
    ln -s "$PWD/outside" "planted/effects/0-3@1.$end"
    "$RADDLE" flow signal planted go >out 2>err </dev/null
    try flow resume planted
    status 2 "resume: an effect's .$end is a link"
    has err "a symbolic link" "resume: .$end: it is said"
    outside_is_whole "resume: .$end"
    check "resume: .$end: the second command was not run" [ "$(wc -l <ran_left)" = 1 ]
    rm -f ran_left
done
fresh planted
"$RADDLE" flow signal planted go >out 2>err </dev/null
spooled=$(ls planted/signals)
mv "planted/signals/$spooled" spooled
ln -s "$PWD/spooled" "planted/signals/$spooled"
try flow resume planted
status 2 "a signal that is a link"
has err "planted/signals/$spooled: a symbolic link" "is named"
ln -sf "$PWD/outside" "$(ls planted/effects/0-1@1.out 2>/dev/null || echo planted/effects/0-1@1.out)"
try flow logs planted
status 2 "logs do not show what a link leads to"
hasnt out precious "nor print it"
rm -rf pipes && mkdir -m 700 pipes && mkfifo pipes/journal
try flow resume pipes
status 2 "a pipe in the place of the journal is not waited for"
try flow status pipes
status 2 "not by status either"
has err "not a regular file" "and it is said"
ln -s readable by_link
try flow status by_link
status 0 "the folder itself may be named by a link"
try flow resume by_link
status 0 "and resumed by it"

# ---- Two runners: whatever is deleted beside a living one, no second one gets in ------------------------------------------
cat >hold.flow <<'F'
flow hold {
    task a { run "echo a >> ran_hold; until test -f go_hold; do sleep 0.05; done" }
    task b { run "echo b >> ran_hold" }
    do a do b
}
F
begin_hold() { # DIR: a living runner, in the middle of its first command; its number is $pid
    rm -rf "$1" ran_hold go_hold
    "$RADDLE" flow run hold.flow --dir "$1" >out.run 2>err.run </dev/null &
    pid=$!
    until [ -s ran_hold ]; do sleep 0.05; done
}
ends() { # STATUS NAME: the living runner ends with that
    wait $pid
    status=$?
    cp out.run out
    cp err.run err
    status "$1" "$2"
}
second() { # DIR NAME: another runner is refused; one that gets in is not waited for
    "$RADDLE" flow resume "$1" >out 2>err </dev/null &
    other=$!
    while kill -0 $other 2>/dev/null && ! grep -q "still runs" err; do sleep 0.05; done
    grep -q "still runs" err && touch go_hold
    wait $other
    status=$?
    status 2 "$2"
}
begin_hold deleted
rm deleted/lock
second deleted "the lock is deleted: a second runner is refused"
has err "another runner" "and told why"
rm -f deleted/lock
second deleted "and a third"
try flow status deleted
line out "run by a process whose number is not known" "status knows that somebody lives"
"$RADDLE" flow status deleted --json >out
has out '"runner": -1' "as JSON, too"
touch go_hold
ends 0 "the first one is not disturbed"
is ran_hold "a
b" "each command ran once"
try flow replay deleted
status 0 "and the journal is whole"

# A runner of a version before holds only the lock.
begin_hold old
kill -9 $pid
wait $pid 2>/dev/null
: >locked
flock old/lock sh -c 'touch locked_now; until test -f let_go; do sleep 0.05; done' &
locker=$!
until [ -e locked_now ]; do sleep 0.05; done
second old "a runner of an earlier version, which holds the lock alone, is respected"
"$RADDLE" flow status old --json >out
hasnt out '"runner": 0' "and seen"
touch let_go go_hold
wait $locker
soon test -f old/effects/0-1@1.receipt
try flow resume old
status 0 "until it ends"
is ran_hold "a
b" "each command ran once"

# The lock of a command that runs is deleted, and its runner killed: it is not begun again.
begin_hold unlocked
kill -9 $pid
wait $pid 2>/dev/null
rm unlocked/effects/*.lock
try flow status unlocked
has out "in doubt" "a command whose lock was deleted is in doubt"
try flow resume unlocked
status 1 "and stays so when the case is resumed"
is ran_hold a "it is not run again"
touch go_hold
soon test -f unlocked/effects/0-1@1.receipt
try flow resume unlocked
status 0 "until its receipt is there"
is ran_hold "a
b" "each command ran once"

# ---- The journal is no longer the one it holds: stop, and begin nothing more ----------------------------------------------
stops() { # NAME: what was done to the journal of `gone`
    touch go_hold
    ends 3 "$1: the runner stops"
    has err "not the file any more that this runner has open" "$1: and says why"
    is ran_hold a "$1: nothing more is begun"
}
begin_hold gone
rm gone/journal
stops "the journal is deleted"
begin_hold gone
cp gone/journal copy && mv copy gone/journal
stops "the journal is replaced by a copy"
begin_hold gone
mv gone/journal gone/elsewhere && ln -s elsewhere gone/journal
stops "the journal is replaced by a link to itself"
begin_hold gone
rm -rf away && mv gone away && cp -r away gone
stops "the folder is moved, and another is in its place"
try flow resume away
status 0 "where it was moved to it goes on"
is ran_hold "a
b" "each command ran once"
begin_hold gone
rm -rf away && mv gone away
stops "the folder is moved, and nothing is in its place"
begin_hold gone
rm -rf gone
stops "the folder is deleted"
for how in "printf x >>gone/journal" ": >gone/journal" "truncate -s -1 gone/journal"; do
    begin_hold gone
    sh -c "$how"
    touch go_hold
    ends 3 "the journal is written to ($how): the runner stops"
    has err "another process has written to it, or cut it" "and says why ($how)"
    is ran_hold a "nothing more is begun ($how)"
done
"$RADDLE" flow run left.flow --dir idle >out.run 2>err.run </dev/null &
pid=$!
until "$RADDLE" flow status idle 2>/dev/null | grep -q "signal go"; do sleep 0.05; done
rm idle/journal
ends 3 "a runner that only waits notices it, too"

# Of several that begin a case in one folder at the same time one gets it.
echo 'flow once { run "echo x >> ran_once" }' >once.flow
for i in 1 2 3 4 5; do
    rm -rf together ran_once ended
    for k in 1 2 3 4; do
        ("$RADDLE" flow run once.flow --dir together >/dev/null 2>&1 </dev/null; echo $? >>ended) &
    done
    while [ "$(cat ended 2>/dev/null | wc -l)" -lt 4 ]; do sleep 0.02; done
    check "four at once: one runs it ($(sort ended | tr '\n' ' '))" [ "$(sort ended | tr '\n' ' ')" = "0 2 2 2 " ]
    check "and the command ran once" [ "$(wc -l <ran_once)" = 1 ]
    check "and nothing is left of the others" [ -z "$(find together -name '*.tmp')" ]
done

# ---- File systems without locks ------------------------------------------------------------------------------------------
if cc -shared -fPIC -o nolocks.so -x c - <<'C' 2>/dev/null
#include <errno.h>
#include <stdlib.h>
int flock(int fd, int how)
{
    (void)fd, (void)how;
    errno = atoi(getenv("LOCK_ERROR"));
    return -1;
}
C
then
    for number in 37 95 38 22; do # ENOLCK EOPNOTSUPP ENOSYS EINVAL
        LOCK_ERROR=$number LD_PRELOAD="$PWD/nolocks.so" "$RADDLE" flow run one.flow --dir "nolocks_$number" >out 2>err </dev/null
        status=$?
        if grep -q "LD_PRELOAD\|AddressSanitizer" err; then
            skip "locks fail with error $number" "nothing can be loaded before"
            continue
        fi
        status 3 "locks fail with error $number"
        has err "this file system has no locks" "it is said"
        check "and nothing is begun" [ ! -e "nolocks_$number/journal" ]
    done
else
    skip "file systems without locks" "there is no compiler"
fi

# ---- Cancelling: no number from a file is believed ---------------------------------------------------------------------------
cat >long.flow <<'F'
flow long { task t { run "echo $$ > pid_long; exec sleep 100000" } do t }
F
lives() { # PID
    [ -d "/proc/$1" ] && ! grep -q "^State:.*Z" "/proc/$1/status" 2>/dev/null
}
sleep 100000 &
bystander=$!
rm -f pid_long
"$RADDLE" flow run long.flow --dir forged >out.run 2>err.run </dev/null &
pid=$!
until [ -s pid_long ]; do sleep 0.05; done
for file in forged/effects/*.lock; do
    echo $bystander >"$file" # the same file, with the number of somebody else
done
try flow cancel forged
status 0 "cancel"
while lives $pid && lives $bystander; do sleep 0.05; done
lives $bystander || kill "$(cat pid_long)" # it was hit instead: nothing else ends the command
ends 1 "a command whose file has the number of another process is cancelled"
has out "cancelled" "it is said"
check "the command is gone" [ ! -d "/proc/$(cat pid_long)" ]
check "and the other process is not" lives $bystander

# A later runner, which did not start it.
rm -f pid_long
"$RADDLE" flow run long.flow --dir forged2 >out.run 2>err.run </dev/null &
pid=$!
until [ -s pid_long ]; do sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
for file in forged2/lock forged2/effects/*.lock; do
    echo $bystander >"$file"
done
"$RADDLE" flow cancel forged2 >out 2>err
"$RADDLE" flow resume forged2 >out.run 2>err.run </dev/null &
pid=$!
while lives $pid && lives $bystander; do sleep 0.05; done
lives $bystander || kill "$(cat pid_long)"
ends 1 "the same when another runner cancels it"
check "the command is gone" [ ! -d "/proc/$(cat pid_long)" ]
check "and the other process is not" lives $bystander
kill $bystander
wait $bystander 2>/dev/null

# In another PID namespace the number means another process, or none.
if unshare -p -f true 2>/dev/null; then
    for how in "" --mount-proc; do
        # shellcheck disable=SC2086 # none or one
        unshare -p -f $how true 2>/dev/null || { # in a chroot, for instance, nothing can be mounted over /proc
            skip "PID namespaces $how" "unshare is not allowed to"
            continue
        }
        rm -rf apart pid_apart
        echo "flow long { task t { run \"sleep 99999.$$ & echo ok > pid_apart; wait\" } do t }" >apart.flow
        # shellcheck disable=SC2086 # none or one
        unshare -p -f $how sh -c '"$RADDLE" flow run apart.flow --dir apart >out.run 2>err.run </dev/null & runner=$!
            until [ -s pid_apart ]; do sleep 0.05; done; kill -9 $runner; touch apart/left
            until [ -e apart/over ]; do sleep 0.05; done' &
        space=$!
        until [ -e apart/left ]; do sleep 0.05; done
        "$RADDLE" flow cancel apart >out 2>err
        try flow resume apart
        status 1 "cancelled from another PID namespace $how"
        has out "cancelled" "it is said"
        check "the command is gone" [ -z "$(grep -la "sl[e]ep.99999.$$" /proc/[0-9]*/cmdline 2>/dev/null)" ]
        touch apart/over
        wait $space
    done
else
    skip "PID namespaces" "unshare is not allowed"
fi

# Asked before it has begun: it never does.
cat >early.flow <<'F'
flow early { task t { run "echo t >> ran_early" } do t }
F
mkdir -p early/effects && chmod 700 early early/effects && : >early/effects/0-1@1.stop
try flow run early.flow --dir early
status 1 "what is asked to end before it begins"
check "does not begin" [ ! -e ran_early ]

# ---- Getting away: what a command has started ends with it when it is ended ---------------------------------------------------
cat >away.sh <<'S'
# Deaf to SIGTERM. Started in the group of its shell, which dies at once; or in a session of its own, with no parent that
# waits: like a daemon.
trap '' TERM
echo $$ >>pids_away
while [ -e away.sh ]; do sleep 0.1; done
S
cat >polite.sh <<'S'
trap 'echo heard >>heard; exit 0' TERM
echo $$ >>pids_away
while [ -e away.sh ]; do sleep 0.1; done
S
cat >runs.sh <<'S'
# Never the same process for long.
echo beat >>beats
sleep 0.01
[ -e runs.sh ] && setsid sh runs.sh &
S
cat >daemons.flow <<'F'
flow daemons {
    data { why : text }
    task t {
        run "sh away.sh & (setsid sh away.sh &) ; setsid sh polite.sh & setsid sh runs.sh & (setsid setsid sh polite.sh > /dev/null 2>&1 &); touch daemons_ready; sleep 100000"
        timeout 1s
    }
    region r { do t } on failure into why { }
}
F
everybody_is_gone() { # NAME
    gone=1
    for number in $(cat pids_away); do
        lives "$number" && gone=0
    done
    check "$1: nobody who got away is left" [ $gone = 1 ]
    cp beats before
    sleep 0.2
    same before beats "$1: nor who runs away all the time"
}
: >pids_away
: >beats
try flow run daemons.flow --dir timed # a slow machine may come to its end before all of them are there
status 0 "a command that is over its time, with daemons"
try flow status timed
has out "its time was up after 1000 ms" "it is said"
everybody_is_gone "timeout"
rm -f pids_away heard beats daemons_ready
sed 's/timeout 1s//; s/on failure into why { }//' daemons.flow >untimed.flow
"$RADDLE" flow run untimed.flow --dir untimed >out.run 2>err.run </dev/null &
pid=$!
until [ -e daemons_ready ] && [ "$(cat pids_away 2>/dev/null | wc -l)" = 4 ] && [ -s beats ]; do sleep 0.05; done
try flow cancel untimed
ends 1 "a command that is cancelled, with daemons"
everybody_is_gone "cancel"
check "cancel: there were four" [ "$(wc -l <pids_away)" = 4 ]
check "cancel: those who listen were asked first" [ "$(wc -l <heard)" = 2 ]

# What a command leaves behind when it ends by itself lives on, and nobody waits for it.
cat >behind.flow <<'F'
flow behind { run "sleep 100000 & echo $! > pid_behind; (yes & echo $! > pid_yes) ; echo done" }
F
try flow run behind.flow
status 0 "a command that leaves others behind is done when its shell is"
check "who was left behind lives on" lives "$(cat pid_behind)"
kill "$(cat pid_behind)" "$(cat pid_yes)" 2>/dev/null
finish
