#!/bin/bash
# run_tests.sh BUILD_DIR [PATTERN] — runs every test program (or those whose name matches PATTERN), says which took most CPU
# time, and ends in the line "N passed, N failed", which counts test functions. Nearly half of the time tests wait (for a
# server, a command, a timer): two more run at a time than there are processors, six at most. Those that wait longest begin
# first.
#
#   unit/test_PART_*, judge/test_*   cmocka programs   cli/*    tests/cli/*.sh, with RADDLE=the binary
#   fuzz/fuzz_*   seed corpora through the readers   bench/*  benches at their smallest (--tiny)
#   tidy          the rules of tools/tidy.c, and the proof on tests/tidy that each of them bites
#   symbols       what the libraries export
#
# From outside: TEST_JOBS, TEST_TIMEOUT (120 seconds of CPU per program), TEST_SKIP (a pattern of programs to leave out),
# TEST_WRAP (a command in front of the unit tests, such as valgrind), TEST_LONG (if set, what is tried in part by day
# is tried whole: storm_size in the tests). Results stay in BUILD_DIR/test-results/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(cd "${1:?usage: run_tests.sh BUILD_DIR [PATTERN]}" && pwd) || exit 2
word=${2:-}
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"

list_tests() {
    local path part name
    for path in tests/cli/*.sh; do
        [ -f "$path" ] && echo "cli/$(basename "$path" .sh)"
    done
    for path in tests/unit/*/test_*.c; do
        part=${path#tests/unit/} part=${part%/*} name=${path##*/test_}
        echo "unit/test_${part}_${name%.c}"
    done
    for path in tests/judge/test_*.c tests/fuzz/fuzz_*.c bench/bench_*.c; do
        [ -f "$path" ] && echo "$(basename "$(dirname "$path")")/$(basename "$path" .c)"
    done
    echo tidy/rules
    echo tidy/fixtures
    [ -f "$build/libraddle-lab.a" ] && echo symbols/lab
}

# What this build has no library for: tests/meson.build.
left_out() {
    [ -f "$build/tests/left_out" ] && grep . "$build/tests/left_out" | sed 's|.*|/&$|'
}

tests=$(list_tests | grep -E -- "$word" | grep -vE -f <(left_out) -e "${TEST_SKIP:-^$}")
if [ -z "$tests" ]; then
    echo "run_tests.sh: no test program has '$word' in its name" >&2
    exit 2
fi
# python3 may be a script that looks for one (pyenv's), which takes eight times as long to begin: that is looked up once.
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && [ -x "$python" ]; then
    mkdir "$results/bin"
    ln -s "$python" "$results/bin/python3"
    PATH=$results/bin:$PATH
fi
TEST_SCRATCH=$(mktemp -d) || exit 3
export TEST_SCRATCH
trap 'rm -rf "$TEST_SCRATCH"' EXIT
jobs=$(nproc)
jobs=$((jobs < 4 ? jobs + 2 : 6))
begin=$EPOCHREALTIME
printf '%s\n' "$tests" | xargs -d '\n' -n 1 -P "${TEST_JOBS:-$jobs}" tools/run_one_test.sh "$build"

# A runner that was killed leaves no result: that is a failure too.
for test in $tests; do
    summary=$results/${test//\//.}.summary
    [ -f "$summary" ] || echo "0 1 0 0 $test" >"$summary"
done
for test in $tests; do
    log=$results/${test//\//.}.log
    read -r _ failed _ <"${log%.log}.summary"
    [ "$failed" = 0 ] && continue
    printf '\n--- %s\n' "$test"
    if [ "$(wc -l <"$log")" -gt 80 ]; then
        grep -m 20 '^not ok' "$log" | grep -v '# SKIP'
        echo "... the last lines of ${log#"$PWD"/}:"
        tail -n 60 "$log"
    else
        cat "$log"
    fi
done
echo
sort -k 4,4nr "$results"/*.summary | awk -v from="$begin" -v to="$EPOCHREALTIME" '
    { passed += $1; failed += $2; skipped += $3; cpu += $4 }
    NR <= 8 && $4 >= 1 { most = most (NR > 1 ? ", " : "most CPU: ") $5 " " $4 }
    END {
        if (most != "") print most
        printf "%d programs in %.1f s (%.1f s of CPU)", NR, to - from, cpu
        if (skipped) printf ", %d tests skipped", skipped
        printf "\n%d passed, %d failed\n", passed, failed
        exit failed > 0
    }'
