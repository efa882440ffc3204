# checks.sh — sourced by ci.sh and nightly.sh: every check there is, and how one is run, timed and counted.
#
# A check is a function or a command. None stops the others. Its output is kept in $logs/NAME.log.
unset CC MESON_ARGS T
mkdir -p "$logs"
passed=0
failed=0
failures=
export RADDLE_WASM=required # here its tools are not missing

# check NAME COMMAND... — on success shows the last line of what it printed, on failure the last 60.
check() {
    local name=$1 log=$logs/$1.log begin=$EPOCHREALTIME before status
    before=$(cpu_used $$)
    shift
    "$@" >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        printf 'ok   ' && summarize "$begin" "$before" "$name" "$(tail -n 1 "$log")"
        return 0
    fi
    failed=$((failed + 1))
    failures="$failures $name"
    printf 'FAIL ' && summarize "$begin" "$before" "$name" "exit status $status; all of it in $log"
    tail -n 60 "$log" | sed 's/^/     | /'
    return 1
}

cpu_used() { # PID: of it and the children it has waited for, in hundredths of a second
    awk '{ print $14 + $15 + $16 + $17 }' "/proc/$1/stat"
}

summarize() { # BEGIN CPU_BEFORE NAME TEXT
    awk -v from="$1" -v to="$EPOCHREALTIME" -v before="$2" -v cpu="$(cpu_used $$)" -v name="$3" -v text="$4" \
        'BEGIN { printf "%-18s %7.1f s, %7.1f of CPU  %s\n", name, to - from, (cpu - before) / 100, text }'
}

build_and_test() { # DIR COMPILER MESON_ARGS [PATTERN [SKIP]]
    CC=$2 MESON_ARGS=$3 tools/build.sh "$1" && TEST_SKIP=${5:-} tools/run_tests.sh "$1" "${4:-}"
}

# The names of the programs of test files: test_PART_NAME of tests/unit/PART/test_NAME.c.
unit_programs() {
    sed 's|^tests/unit/\([^/]*\)/test_|test_\1_|; s|.*/||; s|\..*||'
}

# The programs of tests/unit and tests/judge whose names match, as targets.
unit_targets() { # PATTERN
    printf '%s\n' tests/unit/*/test_*.c tests/judge/test_*.c | unit_programs | sed 's|^|tests/|' | grep -E "$1"
}

# All optimisation, another compiler: what depends on either. Fibers move between threads, which compilers do not expect.
# ci.sh tries these, nightly.sh the others.
near_the_compiler='test_(rt_|exec|os_context|core_(kernel|policies|run)|lab_(exec|explore|shrink|machines)|session_threads)'
under_clang() {
    # shellcheck disable=SC2046 # a list of words
    CC=clang MESON_ARGS=-Doptimization=3 tools/build.sh build-clang raddle tests/cpu_limit $(unit_targets "$near_the_compiler") &&
        tools/run_tests.sh build-clang "/$near_the_compiler"
}
rest_under_clang() {
    build_and_test build-clang clang -Doptimization=3 '^(unit|judge|fuzz|cli)' "/$near_the_compiler"
}

# Address and undefined-behaviour sanitizers, all but two that are about memory limits and another machine. The long ones
# are for nightly.sh: those that search, and those that wait.
not_with_sanitizers='^cli/(limits|wasm)$'
long_with_sanitizers='^judge/|^unit/test_(lab_(l2|attack|toys|explore|spin|case)|core_log|flow_(crash|lab|patterns|validate)|load_(lab|live_arrivals)|session_lab)$'
long_with_sanitizers="$long_with_sanitizers|^cli/(exec|load_live|load_cut|flow|flow_trust|interrupt|jobs|pipeline|tour)\$"
build_with_sanitizers() { # PATTERN SKIP
    build_and_test build-asan gcc "-Doptimization=1 -Dwerror=false -Db_sanitize=address,undefined \
        -Dc_args=-fno-sanitize-recover=all -Dchecked=true" "$1" "$2"
}
under_sanitizers() {
    build_with_sanitizers '^(unit|judge|fuzz|cli)' "$not_with_sanitizers|$long_with_sanitizers"
}
rest_under_sanitizers() {
    build_with_sanitizers "$long_with_sanitizers" "$not_with_sanitizers"
}

# Programs that do more when TEST_LONG is set.
long_variants() {
    local names
    names=$(grep -lE "TEST_LONG|storm_size" tests/unit/*/test_*.c tests/judge/test_*.c tests/cli/*.sh | unit_programs | paste -sd '|')
    TEST_LONG=1 tools/run_tests.sh build "/($names)\$"
}

# The threaded parts only: forks and the thread sanitizer do not go together, nor do reports of deadlocks, which the judge of
# fibers needs. Nothing else is built.
under_tsan() {
    local pattern='test_(exec|judge_exec_calls|lab_exec|rt_|session_threads|load_(disk|live_run))'
    # shellcheck disable=SC2046 # a list of words
    CC=gcc MESON_ARGS="-Doptimization=1 -Dwerror=false -Db_sanitize=thread -Db_lundef=false" \
        tools/build.sh build-tsan tests/cpu_limit $(unit_targets "$pattern") && tools/run_tests.sh build-tsan "/$pattern"
}

# The same digests from three builds: two compilers, no optimisation and all of it.
digests_agree() {
    CC=gcc MESON_ARGS=-Doptimization=0 tools/build.sh build-O0 raddle &&
        CC=clang MESON_ARGS=-Doptimization=3 tools/build.sh build-clang raddle &&
        bash tests/determinism.sh build build-O0 build-clang
}

fuzz_all() { # SECONDS for each target
    CC=clang MESON_ARGS="-Doptimization=1 -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args=-fno-sanitize-recover=all" tools/build.sh build-fuzz && tools/fuzz.sh build-fuzz "$1"
}

planted_bugs_found() { # PART/PARTS
    PLANTED_PART=$1 tools/planted.sh
}

tidy() {
    build/tests/tidy . && tools/planted.sh --check
}

# Unit tests that stay in one process. The others fork, crash and measure CPU time, which valgrind makes
# slow and different (a child that is stopped has lost the memory of its threads); the sanitizers see them.
under_valgrind() {
    local name status=0
    for name in base_containers 'core_(kernel|log|policies|run)' 'exec_(queues|idle|shell$)' 'lab_(artifact|event_queue|executor)' \
        'rt_(cap|decisions|stress_chan)' view; do
        TEST_TIMEOUT=3600 TEST_WRAP="valgrind --quiet --error-exitcode=99 --leak-check=full" \
            tools/run_tests.sh build "unit/test_$name" || status=1
    done
    return $status
}

finish() { # prints the total; the status
    [ -z "$failures" ] || printf '\nfailed:%s\n' "$failures"
    printf '\n%d min %d s in all\n' $((SECONDS / 60)) $((SECONDS % 60))
    echo "$passed passed, $failed failed" | tee "$logs/total"
    [ "$failed" = 0 ]
}
