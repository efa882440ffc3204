#!/bin/bash
# ci.sh [nightly] — every check there is. None stops the others; each prints how long it took. The last
# line counts the test functions of the plain build plus one per check: "N passed, N failed".
#
# The plain build runs every test. Other builds run again what they can see more of; what takes long there, and was
# run by the plain build, is for the night: searches, and scripts that mostly wait.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
nightly=${1:-}
fuzz_seconds=${FUZZ_SECONDS:-4} # the seeds of each target are also read by every test run
parts=24                        # a run plants one part of the bugs, the next commit another
clang_tests='^unit'
long='^unit/test_(l2|attack|toys|flow_validate)$|^cli/(load_live|flow|interrupt|wasm)$'
if [ -n "$nightly" ]; then
    fuzz_seconds=${FUZZ_SECONDS:-600} parts=1 clang_tests= long='^cli/wasm$' # which has no sanitizer
fi
unset CC MESON_ARGS T
logs=build/ci
mkdir -p "$logs"
passed=0
failed=0
failures=

# check NAME COMMAND... — runs it, keeps its output in build/ci/NAME.log; on success shows the last
# line of it, on failure the last 60.
check() {
    local name=$1 log=$logs/$1.log begin=$EPOCHREALTIME status
    shift
    "$@" >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        printf 'ok   ' && summarize "$begin" "$name" "$(tail -n 1 "$log")"
    else
        failed=$((failed + 1))
        failures="$failures $name"
        printf 'FAIL ' && summarize "$begin" "$name" "exit status $status; all of it in $log"
        tail -n 60 "$log" | sed 's/^/     | /'
    fi
}

summarize() { # BEGIN NAME TEXT
    awk -v from="$1" -v to="$EPOCHREALTIME" -v name="$2" -v text="$3" \
        'BEGIN { printf "%-14s %7.1f s  %s\n", name, to - from, text }'
}

build_and_test() { # DIR COMPILER MESON_ARGS [PATTERN [SKIP]]
    CC=$2 MESON_ARGS=$3 tools/build.sh "$1" && TEST_SKIP=${5:-} tools/run_tests.sh "$1" "${4:-}"
}

build_only() { # DIR COMPILER MESON_ARGS
    CC=$2 MESON_ARGS=$3 tools/build.sh "$1" raddle
}

# The same digests from four builds: two compilers, no optimisation and all of it.
digests_agree() {
    build_only build-O0 gcc "-Doptimization=0" && build_only build-O3 clang "-Doptimization=3" &&
        bash tests/determinism.sh build build-clang build-O0 build-O3
}

fuzz_all() {
    CC=clang MESON_ARGS="-Doptimization=1 -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args=-fno-sanitize-recover=all" tools/build.sh build-fuzz && tools/fuzz.sh build-fuzz "$fuzz_seconds"
}

planted_bugs_found() {
    PLANTED_PART=$(($(git rev-list --count HEAD) % parts))/$parts tools/planted.sh
}

# The threaded parts only: forks and the thread sanitizer do not go together. Nothing else is built.
under_tsan() {
    local programs
    programs=$(cd tests/unit && ls test_exec*.c test_rt*.c test_talk.c test_session_threads.c test_load_disk*.c test_live_run*.c | sed 's|\(.*\)\.c|tests/\1|')
    # shellcheck disable=SC2086 # a list of words
    CC=gcc MESON_ARGS="-Doptimization=1 -Dwerror=false -Db_sanitize=thread -Db_lundef=false" tools/build.sh build-tsan $programs &&
        tools/run_tests.sh build-tsan 'unit/test_(exec|rt|talk|session_threads|load_disk|live_run)'
}

tidy() {
    build/tests/tidy . && tools/planted.sh --check
}

# Unit tests that stay in one process. The others fork, crash and measure CPU time, which valgrind makes
# slow and different (a child that is stopped has lost the memory of its threads); the sanitizers see them.
under_valgrind() {
    local name status=0
    for name in artifact base event_queue 'exec(utor|_[^s]|_shell_[^m]|_shell$)' kernel log machines policies rt_cap \
        rt_decisions rt_stress_chan rt_stress_fiber run throwaway toys view; do
        TEST_TIMEOUT=3600 TEST_WRAP="valgrind --quiet --error-exitcode=99 --leak-check=full" \
            tools/run_tests.sh build "unit/test_$name" || status=1
    done
    return $status
}

export TEST_TIMEOUT=${TEST_TIMEOUT:-300}
export RADDLE_WASM=required # here its tools are not missing
check gcc build_and_test build gcc ""
check clang build_and_test build-clang clang "" "$clang_tests" "$long"
check sanitizers build_and_test build-asan gcc \
    "-Doptimization=1 -Dwerror=false -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all -Dchecked=true" \
    '^(unit|fuzz|cli)' "$long"
check threads under_tsan
check digests digests_agree
check fuzz fuzz_all
check planted planted_bugs_found
check tidy tidy
check format tools/format.sh --check
if [ -n "$nightly" ]; then
    check valgrind under_valgrind
    for script in tests/nightly/*.sh; do
        [ -f "$script" ] && check "nightly-$(basename "$script" .sh)" bash "$script" build
    done
fi

# The plain run stands for its test functions instead of for one check.
functions=$(sed -n 's/^\([0-9]* passed, [0-9]* failed\)$/\1/p' "$logs/gcc.log" | tail -n 1)
if [ -n "$functions" ]; then
    case " $failures " in *" gcc "*) failed=$((failed - 1)) ;; *) passed=$((passed - 1)) ;; esac
    read -r p _ f _ <<<"$functions"
    passed=$((passed + p))
    failed=$((failed + f))
fi
[ -z "$failures" ] || printf '\nfailed:%s\n' "$failures"
printf '\n%d min %d s in all\n' $((SECONDS / 60)) $((SECONDS % 60))
echo "$passed passed, $failed failed" | tee "$logs/total"
[ "$failed" = 0 ]
