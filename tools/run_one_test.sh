#!/bin/bash
# run_one_test.sh BUILD_DIR KIND/NAME — runs one test program in a fresh directory, reads its TAP, and
# writes BUILD_DIR/test-results/KIND.NAME.{log,summary}; the summary is "passed failed skipped cpu-seconds name".
#
# Besides each "not ok", one failure is counted for a program that was stopped (tools/cpu_limit.c says when), for an
# exit status without a failed test to explain it, and for a program that ran more or fewer tests than it had planned.
set -uo pipefail
root=$PWD # run_tests.sh is there
build=$1
test=$2
kind=${test%%/*}
name=${test#*/}
log=$build/test-results/$kind.$name.log
limit=${TEST_TIMEOUT:-120} # seconds of CPU: a busy host does not change them

# What a test finds in its environment.
export RADDLE="$build/raddle" RADDLE_SRC="$root" RADDLE_BUILD="$build"
export LC_ALL=C CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-halt_on_error=1:detect_leaks=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
# The C library gives memory back that tests ask for again at once, and each page of it costs a fault: half of the time of
# tests with load scenarios.
export MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_MMAP_THRESHOLD_=33554432

case $test in
unit/* | judge/*) command=(${TEST_WRAP:-} "$build/tests/$name") ;;
fuzz/*) command=("$build/tests/$name" "$root/tests/fuzz/corpus/$name") ;;
bench/*) command=("$root/tools/tap_wrap.sh" "$name" "$build/tests/$name" --tiny) ;;
cli/*) command=(bash "$root/tests/cli/$name.sh") ;;
tidy/rules) command=("$build/tests/tidy" --tap "$root") ;;
tidy/fixtures) command=("$build/tests/tidy" --fixtures "$root/tests/tidy") ;;
symbols/*) command=("$root/tools/check_symbols.sh" "$build") ;;
*) echo "run_one_test.sh: no kind '$kind'" >&2 && exit 0 ;;
esac

scratch=${TEST_SCRATCH:?run_tests.sh names it}/$kind.$name
mkdir -p "$scratch/run" || exit 0
begin=$EPOCHREALTIME
(cd "$scratch/run" && exec "$build/tests/cpu_limit" "$limit" "$scratch/used" "${command[@]}") \
    >"$log" 2>"$scratch/err" </dev/null
status=$?
end=$EPOCHREALTIME
read -r cpu stopped <"$scratch/used" || stopped="the runner of the test was killed"

awk -v status="$status" -v stopped="$stopped" -v cpu="${cpu:-0}" -v test="$test" -v log_file="$log" \
    -v summary="${log%.log}.summary" -v from="$begin" -v to="$end" '
    /^[ \t]*1\.\.[0-9]+/  { sub(/^[ \t]*1\.\./, ""); planned += $1 + 0; plans++; next }
    /^(not )?ok.*# SKIP/  { skipped++; next }
    /^ok([ \t]|$)/        { passed++; next }
    /^not ok([ \t]|$)/    { failed++; next }
    /^Bail out!/          { why = $0 }
    END {
        ran = passed + failed + skipped
        if (stopped != "") why = stopped
        else if (status > 128 && !failed) why = "killed by signal " status - 128
        else if (status != 0 && !failed) why = "exit status " status
        else if (!plans) why = "printed no plan (1..N)"
        else if (planned != ran) why = "planned " planned " tests, ran " ran + 0
        if (why != "") { failed++; print "\nnot ok - " test ": " why >> log_file }
        printf "%d %d %d %s %s\n", passed, failed, skipped, cpu, test > summary
        if (why != "") why = ": " why
        printf "%-4s %4d/%-4d %-34s %6.2f s, %6.2f of CPU%s\n", failed ? "FAIL" : "ok", passed, passed + failed, test, to - from, cpu, why
    }' "$log"
if [ -s "$scratch/err" ]; then
    echo "-- stderr:"
    cat "$scratch/err"
fi >>"$log"
rm -rf "$scratch"
exit 0
