#!/bin/sh
# Odd surroundings and hostile files; see also files.sh. Nothing may crash, hang or end in status 4.
. "$(dirname "$0")/tap"

sane() { # NAME: the last try ended in 0, 1, 2 or 3
    case $status in 0 | 1 | 2 | 3) report 0 "$1" ;; *) report 1 "$1 (status $status)" out err ;; esac
}

# Inherited from a shell or a daemon: the system forgets dead children at once.
ignoring() { # ARGS: raddle with SIGCHLD ignored
    env --ignore-signal=CHLD "$RADDLE" "$@" >out 2>err </dev/null
    status=$?
}
ignoring run inc
status 0 "run, with SIGCHLD ignored"
ignoring explore crash --strategy dfs --no-shrink
status 1 "explore finds a crash, with SIGCHLD ignored"

# A recorded pass that crashes today (an accepted artifact whose bug came back): show tells, and lives.
cat >back.raddle.json <<'END'
{"schema_version": 1, "build": {"version": "0.1.0", "git_sha": "1c92a6b4fa85", "compiler": "gcc 12.2.0"}, "machine": "crash", "case": {"repaired": false, "params": {"n": 2}, "max_steps": 0}, "policy": "random", "seed": 1, "expect": "pass", "failure": null, "steps": 5, "decisions": 6, "choices": [1, 0, 1, 0, 1, 1], "set_hashes": [], "expected_trace_hash": "86d999da2ce26c741ccdf3dee58d1d8d", "checksum": "3e75aec0a2f357d135bdf2214772cb97"}
END
try replay back.raddle.json
status 1 "a pass that crashes today differs"
has out "crash:SIGSEGV" "a pass that crashes today: how"
try show back.raddle.json
status 1 "show a pass that crashes today"
check "and says at once that this is not what the file has" \
    [ "$(sed -n 3p out)" = "not the recorded run: expected pass after 5 steps, found crash:SIGSEGV at step 5" ]
try show back.raddle.json --json
status 1 "show --json of a pass that crashes today"
has out '"as_recorded": false' "says so"
has out '"reason": "expected pass after 5 steps, found crash:SIGSEGV' "and why"

# Files may not grow: a message and the artifact as base64, no half of a file.
mkdir small
(cd small && ulimit -f 0 && exec "$RADDLE" explore locks --strategy dfs --no-shrink) 2>&1 | cat >out
has out "base64" "no room for files: the artifact is printed"
check "no room for files: nothing is left behind" [ -z "$(ls small)" ]
rm -r small

# Whatever is not a regular file is refused at once.
mkfifo pipe
for file in pipe /dev/null /dev/zero /proc/self/mem; do
    for verb in replay show shrink; do
        try "$verb" "$file"
        status 2 "$verb $file"
        check "$verb $file: the message names it" grep -qF "$file" err
    done
done

try explore locks --strategy dfs
status 1 "something to shrink"
mkdir folder
ln -s nowhere dangling
for path in folder /dev/full pipe dangling nosuch/x ''; do
    try shrink locks.raddle.json --output "$path"
    sane "shrink --output '$path'"
    try run locks --log "$path"
    sane "run --log '$path'"
done
check "no temporary file is left" [ -z "$(find . -name '*.tmp')" ]

# Nobody reads, nobody writes.
"$RADDLE" explore locks --strategy dfs <&- >&- 2>&-
status=$?
status 3 "everything closed"
try replay locks.raddle.json
status 0 "everything closed: the artifact is whole"

# An argument that does not fit is refused or understood, not cut.
try explore locks --strategy pct:00000000000000000000000003 --runs 50
sane "a number with many zeros"
hasnt err "found '0000000000000000000'" "a number with many zeros is not cut"
# What -j says it takes, it takes.
try explore inc --runs 10 -j 64
status 0 "-j 64"
try explore inc --runs 10 -j 257
check "the limit of -j is the one that holds" grep -qE 'from 1 to 64' err

finish
