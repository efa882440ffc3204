#!/bin/sh
# SIGINT and SIGTERM: status 130 after what is known was printed; artifacts stay.
. "$(dirname "$0")/tap"

interrupt() { # SIGNAL ARGS…: sends it when it has worked for a while
    signal=$1
    shift
    "$RADDLE" "$@" >out 2>err </dev/null &
    pid=$!
    works_for $pid 15
    kill -s "$signal" $pid
    wait $pid
    status=$?
}

for jobs in 1 2; do
    interrupt INT explore inc n=8 k=100 --runs 1000000000 -j $jobs
    status 130 "-j $jobs: SIGINT"
    has out "before it was interrupted; not every schedule was tried" "-j $jobs: what was covered is told"
    has out "  seed       1" "-j $jobs: the seed too"
done
interrupt TERM explore inc n=8 k=100 --runs 1000000000
status 130 "SIGTERM"

interrupt INT explore counter --strategy random --runs 1000000000 --json
status 130 "interrupted with a failure in hand"
line out '  "interrupted": true,' "the JSON is whole and says so"
line out "}" "the JSON ends"
check "the artifact is there" [ -f counter.raddle.json ]
try replay counter.raddle.json
status 0 "and replays"
finish
