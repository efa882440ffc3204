#!/bin/bash
# ci.sh — what a change has to pass: every test in the plain build; in other builds those that see more there. What
# takes long, and the plain build has run, is for the night (nightly.sh). None stops the others; each prints how long
# it took. The last line counts the test functions of the plain build plus one per check: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
logs=build/ci
. tools/checks.sh
fuzz_seconds=${FUZZ_SECONDS:-2} # the seeds of each target are also read by every test run
parts=48                        # a run plants one part of the bugs, the next commit another
export TEST_TIMEOUT=${TEST_TIMEOUT:-300}

check gcc build_and_test build gcc ""
check clang under_clang
check sanitizers under_sanitizers
check threads under_tsan
check digests digests_agree
check fuzz fuzz_all "$fuzz_seconds"
check planted planted_bugs_found $(($(git rev-list --count HEAD) % parts))/$parts
check tidy tidy
check format tools/format.sh --check

# The plain run counts with its test functions instead of as one check.
functions=$(sed -n 's/^\([0-9]* passed, [0-9]* failed\)$/\1/p' "$logs/gcc.log" | tail -n 1)
if [ -n "$functions" ]; then
    case " $failures " in *" gcc "*) failed=$((failed - 1)) ;; *) passed=$((passed - 1)) ;; esac
    read -r p _ f _ <<<"$functions"
    passed=$((passed + p))
    failed=$((failed + f))
fi
finish
