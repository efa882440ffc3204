#!/bin/bash
# nightly.sh [PART/PARTS | NAME] — what ci.sh leaves out: the other tests with clang and sanitizers, long variants, long
# fuzzing, all planted bugs, machine-made mutants, valgrind, and tests/nightly/*.sh. One of eight parts takes a quarter of an
# hour of CPU time; NAME is one check; without either, all of it is done. A check that has passed at this commit is not
# done again (build/nightly/COMMIT/NAME), so a night that was cut off is taken up where it stopped. The last line counts
# checks: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
part=${1:-1/1}
logs=build/nightly
. tools/checks.sh
export TEST_TIMEOUT=${TEST_TIMEOUT:-1200}
done_here=$logs/$(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo -changed)
mkdir -p "$done_here"

# Minutes of CPU time, as measured, and what to do. Scripts that do not say what they take, take ten.
checks() {
    cat <<'END'
3 long long_variants
6 clang rest_under_clang
9 sanitizers rest_under_sanitizers
9 fuzz fuzz_all 20
12 planted-0 planted_bugs_found 0/4
12 planted-1 planted_bugs_found 1/4
12 planted-2 planted_bugs_found 2/4
12 planted-3 planted_bugs_found 3/4
6 valgrind under_valgrind
15 mutants-exec env MUTANTS_CLASS=0/16 tools/mutants.sh src/exec
4 mutants-rt env MUTANTS_CLASS=0/32 tools/mutants.sh src/rt
2 mutants-session env MUTANTS_CLASS=0/256 tools/mutants.sh src/session
END
    for script in tests/nightly/*.sh; do
        echo "$(sed -n 's/^# Takes \([0-9]*\) minutes.*/\1/p' "$script" | grep . || echo 10) $(basename "$script" .sh) bash $script build"
    done
}

# The longest first, each into the part that has least to do so far. Prints those of one part, or the one of that name.
of_part() { # I/N or NAME
    case $1 in */*) ;; *) awk -v name="$1" '$2 == name' && return ;; esac
    LC_ALL=C sort -k1,1nr -k2,2 | awk -v part="${1%/*}" -v parts="${1#*/}" '{
        least = 1
        for (i = 2; i <= parts; i++) if (load[i] + 0 < load[least] + 0) least = i
        load[least] += $1
        if (least == part) print
    }'
}

case $part in
[1-9]/[1-9] | [1-9]/[1-9][0-9] | [1-9][0-9]/[1-9][0-9]) ;;
*)
    [ -n "$(checks | of_part "$part")" ] || {
        echo "nightly.sh: '$part' is no part, as 1/8, nor a check:" $(checks | cut -d ' ' -f 2) >&2
        exit 2
    }
    ;;
esac
tools/build.sh build || exit 1 # what others need
while read -r minutes name words; do
    if [ -f "$done_here/$name" ]; then
        passed=$((passed + 1))
        echo "ok   $name: passed before"
        continue
    fi
    [ -t 1 ] && echo "     $name: about $minutes minutes of CPU time ..."
    # shellcheck disable=SC2086 # words of a command; "" is an empty one
    eval "check $name $(printf '%s' "$words" | sed 's/[\^$()|*]/\\&/g')" </dev/null && touch "$done_here/$name"
done < <(checks | of_part "$part")
finish
