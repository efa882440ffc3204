#!/bin/bash
# fuzz.sh BUILD_DIR SECONDS — runs every libFuzzer target of a -Dfuzz=true build, two at a time, each
# for SECONDS. Prints TAP, one test per target; inputs that break one are kept in BUILD_DIR/crashes/.
#
# Seeds: tests/fuzz/corpus/<target>/, dictionary: tests/fuzz/<target>.dict, when they exist. What a run
# finds stays in BUILD_DIR/corpus/<target>/ for the next.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$1
seconds=$2

fuzz_one() {
    local target=$1 log=$build/fuzz-logs/$1.log status
    local seeds=tests/fuzz/corpus/$target dictionary=tests/fuzz/$target.dict
    mkdir -p "$build/corpus/$target" "$build/crashes/$target"
    local options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1
        -artifact_prefix="$build/crashes/$target/")
    [ -f "$dictionary" ] && options+=(-dict="$dictionary")
    local folders=("$build/corpus/$target")
    [ -d "$seeds" ] && folders+=("$seeds")
    timeout -k 10 $((seconds + 120)) \
        "$build/tests/$target" "${options[@]}" "${folders[@]}" >"$log" 2>&1 </dev/null
    status=$?
    if [ $status = 0 ]; then
        echo "ok - $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    else
        printf 'not ok - %s: exit status %s\n%s\n' "$target" "$status" \
            "$(tail -n 40 "$log" | sed 's/^/# /')"
    fi
}
export -f fuzz_one
export build seconds

targets=$(for path in tests/fuzz/fuzz_*.c; do [ -f "$path" ] && basename "$path" .c; done)
echo "1..$(printf '%s' "$targets" | grep -c .)"
mkdir -p "$build/fuzz-logs"
printf '%s\n' "$targets" | grep . | xargs -r -d '\n' -n 1 -P 2 bash -c 'fuzz_one "$1"' fuzz_one |
    awk '{ print; fflush() } /^not ok/ { bad = 1 } END { exit bad }'
