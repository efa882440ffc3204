#!/bin/bash
# nightly.sh [PART/PARTS] — all tests in every build, long fuzzing, all planted bugs, machine-made mutants, valgrind, and
# tests/nightly/*.sh. A part takes at most an hour on two processors; without one, all of it is done. A check that has
# passed at this commit is not done again (build/nightly/COMMIT/NAME), so a night that was cut off is taken up where it
# stopped. The last line counts checks: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
part=${1:-1/1}
case $part in
[1-9]/[1-9] | [1-9]/[1-9][0-9] | [1-9][0-9]/[1-9][0-9]) ;;
*) echo "nightly.sh: '$part' is no part: expected I/N, for instance 1/8" >&2 && exit 2 ;;
esac
logs=build/nightly
. tools/checks.sh
export TEST_TIMEOUT=${TEST_TIMEOUT:-1200} TEST_LONG=1
done_here=$logs/$(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo -changed)
mkdir -p "$done_here"

# Minutes on two processors, measured or guessed, and what to do. Scripts that are not named here take ten.
checks() {
    cat <<'END'
4 gcc build_and_test build gcc ""
6 clang under_clang ""
14 sanitizers under_sanitizers ^cli/(limits|wasm)$
5 threads under_tsan
3 digests digests_agree
16 fuzz fuzz_all 100
35 planted planted_bugs_found 0/1
1 tidy tidy
1 format tools/format.sh --check
15 valgrind under_valgrind
8 mutants-exec env MUTANTS_CLASS=0/4 tools/mutants.sh src/exec
12 mutants-rt env MUTANTS_CLASS=0/8 tools/mutants.sh src/rt
12 mutants-session env MUTANTS_CLASS=0/64 tools/mutants.sh src/session
END
    for script in tests/nightly/*.sh; do
        echo "$(sed -n 's/^# Takes \([0-9]*\) minutes.*/\1/p' "$script" | grep . || echo 10) $(basename "$script" .sh) bash $script build"
    done
}

# The longest first, each into the part that has least to do so far. Prints those of one part.
of_part() { # I/N
    LC_ALL=C sort -k1,1nr -k2,2 | awk -v part="${1%/*}" -v parts="${1#*/}" '{
        least = 1
        for (i = 2; i <= parts; i++) if (load[i] + 0 < load[least] + 0) least = i
        load[least] += $1
        if (least == part) print
    }'
}

tools/build.sh build || exit 1 # what others need
while read -r minutes name words; do
    if [ -f "$done_here/$name" ]; then
        passed=$((passed + 1))
        echo "ok   $name: passed before"
        continue
    fi
    [ -t 1 ] && echo "     $name: about $minutes minutes ..."
    # shellcheck disable=SC2086 # words of a command; "" is an empty one
    eval "check $name $(printf '%s' "$words" | sed 's/[\^$()|*]/\\&/g')" </dev/null && touch "$done_here/$name"
done < <(checks | of_part "$part")
finish
