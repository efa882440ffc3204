#!/bin/sh
# Results do not depend on -j: artifacts and JSON are equal to the byte (but for the time it took).
. "$(dirname "$0")/tap"

for target in "aba" "philosophers n=4" "bank clerks=3" "reorder n=5 --stop-on-first" \
    "counter --repaired" "crash --runs 400"; do
    for jobs in 1 2 3; do
        rm -rf found
        mkdir found
        # shellcheck disable=SC2086 # words of the target
        try explore $target -j $jobs --output found --json --seed 3
        sed '/"elapsed"/d' out >json.$jobs
        cat found/* >artifacts.$jobs 2>/dev/null
        echo $status >>artifacts.$jobs
        cp err err.$jobs
    done
    check "$target: found something to compare" [ "$(wc -c <json.1)" -gt 500 ]
    [ "${target#crash}" != "$target" ] || check "$target: quiet" [ ! -s err.1 ]
    same json.1 json.2 "$target: -j 2 gives the same JSON"
    same json.1 json.3 "$target: -j 3 gives the same JSON"
    same artifacts.1 artifacts.2 "$target: -j 2 gives the same artifacts and status"
    same artifacts.1 artifacts.3 "$target: -j 3 gives the same artifacts and status"
done
finish
