#!/bin/sh
# mutants.sh [FOLDER...] [NAME...] — machine-made bugs in production code, and who notices them. tools/mutants.awk makes
# them of every source and header in the folders (preset: src/exec); tools/planted.sh plants each (or those named)
# and tries the lab's hunt, the models of L2 and the quick tests; the models first when something is published early.
#
# Prints what planted.sh prints, a table (kind by finder), and how the survivors compare with
# tests/planted/survivors.txt, which explains each of them:
#
#   mutant NAME       an entry begins
#   kind WORD         equivalent, performance (costs time or wakes, loses nothing), memory (needs a weak memory model)
#   ...               why, in words
#
# Exits 1 when a mutant survives that is not explained, when an explained one is found now or is made no more, 2 when
# something is wrong.
set -u
cd "$(dirname "$0")/.." || exit 2
explained=tests/planted/survivors.txt
folders=
while [ $# -gt 0 ] && [ -d "$1" ]; do
    folders="$folders $1"
    shift
done
partial=$#
[ -z "$folders" ] || partial=1
: "${folders:=src/exec}"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

mkdir "$work/lists"
# shellcheck disable=SC2086 # a list of words
find $folders -name '*.[ch]' | LC_ALL=C sort | while read -r file; do
    hunt=exec
    tests="l2 exec_queues exec_idle exec_shell_wake exec_shell exec_shell_group exec_shell_deep"
    case $file in
    src/rt/*) hunt= && tests="l2 $(ls tests/unit | sed -n 's/^test_\(rt_.*\)\.c$/\1/p' | tr '\n' ' ')" ;;
    */shell*) hunt= ;; # the trial has a shell of its own
    esac
    awk -v path="$file" -v hunt="$hunt" -v tests="$tests" -f tools/mutants.awk "$file" || exit 2
done >"$work/lists/mutants.txt"
{
    PLANTED_LISTS=$work/lists tools/planted.sh "$@"
    echo $? >"$work/status"
} | tee "$work/said"
[ "$(cat "$work/status")" -le 1 ] || exit 2

echo
awk '
    $1 == "found" || $1 == "missed" {
        kind = $3
        sub(/.*:/, "", kind)
        sub(/-[0-9]+$/, "", kind)
        if (!(kind in total)) kinds[++count] = kind
        total[kind]++
        total["all"]++
        n[kind, $1 == "found" ? $2 : "missed"]++
        n["all", $1 == "found" ? $2 : "missed"]++
    }
    function row(kind) {
        printf "%-9s %9d %9d %9d %9d   %d of %d\n", kind, n[kind, "L1"], n[kind, "L2"], n[kind, "test"],
            n[kind, "missed"], total[kind] - n[kind, "missed"], total[kind]
    }
    END {
        printf "%-9s %9s %9s %9s %9s   %s\n", "kind", "L1, hunt", "L2, model", "tests", "survive", "found"
        for (i = 1; i <= count; i++) row(kinds[i])
        row("all")
    }' "$work/said"

# What is explained and what is not.
sed -n 's/^missed  *[^ ]*  *\([^ ]*\) .*/\1/p' "$work/said" | LC_ALL=C sort >"$work/survivors"
sed -n 's/^found  *[^ ]*  *\([^ ]*\) .*/\1/p' "$work/said" | LC_ALL=C sort >"$work/found"
sed -n 's/^bug //p' "$work/lists/mutants.txt" | LC_ALL=C sort >"$work/made"
sed -n 's/^mutant //p' "$explained" | LC_ALL=C sort >"$work/explained"
new=$(LC_ALL=C comm -23 "$work/survivors" "$work/explained")
now_found=$(LC_ALL=C comm -12 "$work/found" "$work/explained")
gone=
[ "$partial" != 0 ] || gone=$(LC_ALL=C comm -13 "$work/made" "$work/explained") # of all folders
echo
[ -z "$new" ] || printf '%s\n' "$new" | sed 's/^/survives, and is not explained: /'
[ -z "$now_found" ] || printf '%s\n' "$now_found" | sed 's/^/is explained, but found now: /'
[ -z "$gone" ] || printf '%s\n' "$gone" | sed 's/^/is explained, but made no more: /'
awk -v names="$work/survivors" '
    BEGIN { while ((getline name < names) > 0) survives[name] = 1 }
    /^mutant / { here = $2 in survives }
    /^kind / && here { n[$2]++; all++ }
    END {
        printf "survivors explained: %d", all
        for (k in n) printf ", %d %s", n[k], k
        print ""
    }' "$explained"
echo "mutants: $(tail -n 1 "$work/said")"
[ -z "$new$now_found$gone" ]
