#!/bin/sh
# mutants.sh [FOLDER...] [NAME...] — machine-made bugs in production code, and who notices them. tools/mutants.awk makes
# them of every source and header in the folders (default: src/exec, src/rt and src/session); tools/planted.sh plants
# each (or those named) and tries what is nearest: for the executor the lab's hunt, the models of L2 and the quick tests,
# the models first when something is published early; for the runtime the models of L2 and the unit tests that are about
# the file, and, where the models do not reach, these under the thread sanitizer; for sessions, which one thread runs, the
# unit tests, and at last some of them under the address sanitizer. Of those, which are thousands, one in sixteen is tried,
# by its name: $MUTANTS_CLASS = C/N takes class C of N, for instance 3/16, and 0/1 takes all. Of the others all are tried,
# unless $MUTANTS_CLASS says less.
#
# Prints what planted.sh prints, a table (kind by finder), and how many survive in each part. Many of them have to:
# they are equivalent, cost time only, or show only under a weak memory model or in a window that no test hits at will.
# `known` below has the counts of the last night that was looked through; with more of them one is new.
#
# Exits 1 when more survive in a part than are known, 2 when something is wrong.
set -u
cd "$(dirname "$0")/.." || exit 2
known="exec:0/1 30 exec:0/16 4 rt:0/2 46 rt:1/2 45 rt:0/32 3 session:0/16 30 session:0/256 0" # by part and class
folders=
while [ $# -gt 0 ] && [ -d "$1" ]; do
    folders="$folders $1"
    shift
done
: "${folders:=src/exec src/rt src/session}"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The models and unit tests that are nearest to a file of the runtime, the quick ones first.
rt_tests() { # FILE
    stacks=lab_l2:fibers_on_their_stacks_are_clean waits=lab_l2:waits_of_fibers_are_clean handles=lab_l2:handles_are_clean
    selects="lab_l2:selects_are_clean lab_l2:time_that_is_up_is_clean" system=lab_l2:calls_to_the_system_are_clean last=
    case ${1##*/} in
    barrier.* | cond.* | mutex.* | once.* | rwlock.* | semaphore.* | sync.* | waitgroup.*)
        near="lab_l2:locks_and_the_like_are_clean $selects rt_sync rt_mutex rt_stress_chan" last=tsan:rt_edges ;;
    fiber_stack.*) near="$stacks rt_fiber_stack rt_stress_fiber" last=tsan:rt_edges ;;
    blocking.*) near="$system rt_blocking rt_visit" last=tsan:rt_blocking ;;
    chan.*) near="lab_l2:channels_between_threads_are_clean $selects rt_chan rt_order $waits rt_stress_chan" ;;
    fiber.* | slots.*)
        near="$handles $stacks $waits lab_l2:nurseries_are_clean rt_cap rt_watch rt_stress_fiber"
        last="tsan:rt_visit tsan:rt_cap" ;;
    state_word.* | strand.*)
        near="lab_l2:the_life_of_a_fiber_is_clean $stacks $handles $waits rt_state_word rt_watch rt_stress_sched" ;;
    local.* | order.* | pool.*) near="rt_order rt_stress_chan" last="tsan:rt_order tsan:rt_edges" ;;
    nursery.*) near="lab_l2:nurseries_are_clean rt_visit rt_stress_fiber" last=tsan:rt_visit ;;
    io.* | poller.* | ready.* | service.*)
        near="$system rt_io rt_select rt_ready rt_polls rt_watch"
        last="tsan:rt_ready tsan:rt_edges tsan:rt_shared" ;;
    overflow.*) near=rt_overflow last=tsan:rt_edges ;;
    runtime.*)
        near="rt_cap rt_visit rt_watch rt_timer rt_rules_sched rt_stress_fiber"
        last="tsan:rt_cap tsan:rt_edges" ;;
    select.*) near="$selects rt_select rt_ready $waits rt_stress_chan" ;;
    sleep.* | ticker.* | timer.* | overdue.*)
        near="lab_l2:the_wheel_of_timers_is_clean $stacks rt_timer rt_watch" last=tsan:rt_edges ;;
    stack.*) near=rt_stack ;;
    wait.* | wait_one.*)
        near="lab_l2:channels_between_threads_are_clean $selects lab_l2:locks_and_the_like_are_clean $handles $waits"
        near="$near rt_select rt_sync rt_visit rt_stress_chan" last=tsan:rt_visit ;;
    dump.*) near="rt_watch rt_dump rt_visit" last=tsan:rt_edges ;;
    *) near="rt_watch rt_timer rt_blocking rt_ready rt_polls rt_rules_sched" last="tsan:rt_watch tsan:rt_edges" ;; # monitor
    esac
    echo "$near rt_fiber rt_edges rt_shared rt_decisions $last"
}

# For sessions, workflows and the load tester, which one thread runs: the tests of that part, those that have a word of
# the file's name in theirs first, and two of these with the address sanitizer at last.
part_tests() { # FILE
    part=${1#src/} part=${part%%/*}
    (cd "tests/unit/$part" && printf '%s\n' test_*.c) | sed "s/^test_\(.*\)\.c\$/${part}_\1/" | LC_ALL=C sort |
        awk -v part="$part" -v stem="$(basename "$1" | sed 's/\..*//')" '
            BEGIN { n = split(stem, word, "_") }
            {
                near = 0
                for (i = 1; i <= n; i++) near += word[i] != part && index("_" $0 "_", "_" word[i] "_")
                if (near) first = first $0 " "
                else rest = rest $0 " "
            }
            END {
                split(first rest, all, " ")
                print first rest "asan:" all[1] " asan:" all[2]
            }'
}

# The mutants of a folder. What goes to WebAssembly has no unit tests: tests/cli/wasm.sh compares it.
mutants_of() { # FOLDER
    find "$1" -name '*.[ch]' -not -path '*/wasm/*' | LC_ALL=C sort | while read -r file; do
        hunt=exec way=wakes
        tests="lab_l2 exec_queues exec_idle exec_shell_wake exec_shell exec_shell_group exec_shell_deep"
        case $file in
        src/rt/*) hunt= && tests=$(rt_tests "$file") ;;
        src/session/* | src/flow/* | src/load/*) hunt= way=plain && tests=$(part_tests "$file") ;;
        */exec/thread/*) hunt= ;; # in the trial the kernel steps the workers
        esac
        awk -v path="$file" -v hunt="$hunt" -v tests="$tests" -f tools/mutants.awk -f "tools/mutants_$way.awk" "$file" ||
            exit 2
    done
}

# Those of one class; by name without folders, so that a mutant stays in its class whatever happens to others.
class_of() { # C/N
    LC_ALL=C awk -v class="${1%/*}" -v classes="${1#*/}" '
        BEGIN { for (i = 1; i < 256; i++) ord[sprintf("%c", i)] = i }
        {
            hash = 0
            name = $1
            sub(/.*\//, "", name)
            for (i = 1; i <= length(name); i++) hash = (hash * 31 + ord[substr(name, i, 1)]) % 1000003
            if (hash % classes == class) print
        }'
}

mkdir "$work/lists"
classes=
for folder in $folders; do
    mutants_of "$folder" >"$work/list" || exit 2
    case $folder in src/exec | src/rt) class=0/1 ;; *) class=0/16 ;; esac
    [ $# = 0 ] || class=0/1
    class_of "${MUTANTS_CLASS:-$class}" <"$work/list" >>"$work/lists/mutants.txt"
    classes="$classes ${folder#src/}:${MUTANTS_CLASS:-$class}"
done
{
    # A test of sessions that a bug makes grow must not take the machine along.
    PLANTED_LISTS=$work/lists PLANTED_MEMORY=4000000 PLANTED_TRIES=${PLANTED_TRIES:-2} tools/planted.sh "$@"
    echo $? >"$work/status"
} | tee "$work/said"
[ "$(cat "$work/status")" -le 1 ] || exit 2

# What was said last of each: one that is missed is told again, when it is tried again and at the end.
awk '($1 == "found" || $1 == "missed") && NF > 3 { said[$3] = $0 } END { for (name in said) print said[name] }' \
    "$work/said" | LC_ALL=C sort -k 3 >"$work/once"
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
    }' "$work/once"

echo
awk -v known="$known" -v asked="$#" -v classes="$classes" '
    BEGIN {
        n = split(known, k, " ")
        for (i = 1; i < n; i += 2) known_in[k[i]] = k[i + 1]
        n = split(classes, k, " ")
        for (i = 1; i <= n; i++)
            if (!asked && k[i] in known_in) most[substr(k[i], 1, index(k[i], ":") - 1)] = known_in[k[i]]
    }
    $1 == "missed" { part = $3; sub(/\/.*/, "", part); survive[part]++ }
    END {
        for (part in survive) {
            printf "%s: %d survive", part, survive[part]
            if (part in most) {
                printf ", %d are known", most[part]
                if (survive[part] > most[part]) bad = 1
            }
            print ""
        }
        exit bad
    }' "$work/once"
status=$?
echo "mutants: $(tail -n 1 "$work/said")"
exit $status
