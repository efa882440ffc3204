#!/bin/bash
# load.sh BUILD_DIR — simulated runs with 1, 100, 10,000 and 100,000 users: two runs with one seed have the same log,
# another seed has another one, and each log replays. Then the percentiles of ten million samples (test_histogram), and
# the lab's trial of the scheduler with other seeds.
# Takes 1 minutes.
set -eu
build=$(cd "${1:?usage: load.sh BUILD_DIR}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for users in 1 100 10000 100000; do
    cat >s.toml <<X
[runtime]
duration_seconds = 5
vus = $users
spawn_jitter_ms = 500
[think_time]
type = "random"
min_ms = 0
max_ms = 300
[[requests]]
name = "index"
path = "/"
[simulated]
latency_ms = { min = 1, p50 = 10, p99 = 200, max = 900 }
loss_rate = 0.001
reset_rate = 0.001
refuse_rate = 0.001
late_ms = 100
[limits]
request_timeout_ms = 700
X
    for run in "a 1" "b 1" "c 2"; do
        "$build/raddle" load run s.toml --seed "${run#* }" --quiet \
            --output "${run% *}.log" >/dev/null
    done
    cmp a.log b.log
    if cmp -s a.log c.log; then
        echo "load: $users users: two seeds, one log" >&2
        exit 1
    fi
    "$build/raddle" load replay a.log
    "$build/raddle" load analyze a.log --json >a.json
    rm -f ./*.log
done
"$build/tests/test_base_histogram"
seed=${RADDLE_STRESS_SEED:-$(date +%Y%m%d)}
for words in "users=3" "users=6 steps=3 batch=1 events=100 connections=6 iterations=6" \
    "users=6 streams=3 connections=2 events=100 batch=3" "users=5 events=2 connections=5 batch=5" \
    "users=3 arrivals=20 connections=3 events=100"; do
    # shellcheck disable=SC2086 # words
    "$build/raddle" explore load $words --runs 5000 --seed "$seed" -j 2
done
echo "load: all runs the same, nothing found (seed $seed)"
