#!/bin/sh
# determinism.sh BUILD_A BUILD_B … — the same runs in every build: equal trace hashes, equal artifacts.
#
# Builds differ in compiler and optimisation level. Each tells the hash of single runs (every machine,
# every policy, three seeds) and the artifacts of an exploration with one and with two workers; the parts
# of an artifact that name the build and the checksum over them are left out.
set -eu
[ $# -ge 2 ] || { echo "usage: determinism.sh BUILD_A BUILD_B ..." >&2; exit 2; }
examples=$(cd "$(dirname "$0")/../examples/session" && pwd)
load=$(cd "$(dirname "$0")/../examples/load" && pwd)
flows=$(cd "$(dirname "$0")/../examples/flow" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tell() { # BUILD FILE
    raddle=$(cd "$1" && pwd)/raddle
    names=$(cat "$work/machines")
    dir=$work/tell
    rm -rf "$dir"
    mkdir "$dir"
    {
        for name in $names; do
            for policy in first random fair pct:3 surw; do
                for seed in 1 2 3; do
                    printf '%s %s %s ' "$name" "$policy" "$seed"
                    "$raddle" run "$name" --policy "$policy" --seed "$seed" --json |
                        sed -n 's/.*"trace_hash": *"\([0-9a-f]*\)".*/\1/p'
                done
            done
            for jobs in 1 2; do
                "$raddle" explore "$name" --runs 3000 --seed 7 -j "$jobs" --no-shrink --output "$dir" \
                    --json >/dev/null 2>&1 || true
                for file in "$dir"/*.raddle.json; do
                    [ -f "$file" ] || continue
                    echo "$name -j $jobs $(basename "$file")"
                    grep -v -e '"compiler"' -e '"git_sha"' -e '"checksum"' "$file"
                    rm "$file"
                done
            done
        done
        for seed in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do # cases of the executor
            for policy in first random pct:3; do
                printf 'exec --seed %s %s ' "$seed" "$policy"
                "$raddle" exec run --seed "$seed" --policy "$policy" --json |
                    sed -n 's/.*"trace_hash": *"\([0-9a-f]*\)".*/\1/p'
            done
        done
        for file in "$examples"/*.session; do # protocols, under all policies of the machine
            for how in "--n 1" "--n 2 --policy round-robin" "--n inf --policy progress"; do
                printf '%s %s ' "$(basename "$file")" "$how"
                # shellcheck disable=SC2086 # words
                "$raddle" session trace "$file" --sessions 3 --fuel 3000 $how | cksum
            done
        done
        for file in "$flows"/*.flow; do # flows, in a simulated world
            for how in "--policy first" "--policy random --seed 2" "--policy pct:3 --seed 3" "--policy surw --seed 4"; do
                printf '%s %s ' "$(basename "$file")" "$how"
                # shellcheck disable=SC2086 # words
                "$raddle" run "$file" outcomes=3 $how --json | sed -n 's/.*"trace_hash": *"\([0-9a-f]*\)".*/\1/p'
            done
            printf '%s validate ' "$(basename "$file")"
            "$raddle" flow validate "$file" --states 2000 --json --output "$dir" | cksum
            for run in "$dir"/*.raddle.json; do
                [ -f "$run" ] || continue
                grep -v -e '"compiler"' -e '"git_sha"' -e '"checksum"' "$run"
                rm "$run"
            done
        done
        for file in "$load"/sim-*.toml; do # load tests on their simulated targets: the whole log
            for how in "--seed 1" "--seed 2 --shards 2"; do
                printf '%s %s ' "$(basename "$file")" "$how"
                # shellcheck disable=SC2086 # words
                "$raddle" load run "$file" $how --quiet --output "$dir/events.log" >/dev/null 2>&1 || true
                if [ -f "$dir/events.log" ]; then cksum <"$dir/events.log"; else echo refused; fi
                rm -f "$dir/events.log"
            done
        done
    } >"$2"
}

# Machines stand first in the list, each with a line about its twin or without; names begin a line. What the
# models of L2 do is for each compiler another sequence of memory operations: their names contain a digit.
"$1/raddle" list | sed -n '/^Policies/q; s/^\([a-z][a-z-]*\)  .*/\1/p' >"$work/machines"
[ -s "$work/machines" ] || { echo "determinism: no machines listed" >&2; exit 1; }
first=$1
tell "$first" "$work/first"
lines=$(grep -c . "$work/first")
[ "$lines" -gt 100 ] || { echo "determinism: only $lines lines to compare" >&2; exit 1; }
shift
for build in "$@"; do
    tell "$build" "$work/other"
    if ! cmp -s "$work/first" "$work/other"; then
        echo "determinism: $build differs from $first:"
        diff "$work/first" "$work/other" | head -20
        exit 1
    fi
done
echo "determinism: $lines lines equal in $first $*"
