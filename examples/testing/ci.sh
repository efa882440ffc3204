#!/bin/sh
# ci.sh — what a CI server does with this project: builds it, explores the tests, replays the failures of the past, and
# leaves results.xml (JUnit) and, of a failure, *.raddle.json. Called by ci.yml; any other server can call it as well.
set -eu
cd "$(dirname "$0")"
make
status=0
RADDLE_OPTIONS="--runs ${RUNS:-2000} --junit results.xml" ./test_pool || status=$?
if [ -d regressions ]; then raddle corpus regressions -- ./test_pool || status=1; fi
exit $status
