#!/bin/sh
# planted.sh [--check | NAME...] — proves that the tests bite. Plants the bugs listed in tests/planted/*.txt (all, or
# those named) one at a time in a copy of the tree, builds the tests named with each, and expects one of them
# to fail. A bug whose old text does not occur exactly once in its file, or that does not compile, is an
# error: the lists cannot rot. With --check nothing is planted, and only the first is looked for (make tidy does).
#
#   bug NAME          an entry begins
#   depth WORD        what finds it: L1 (a step is one action, or a plain unit test; preset), L2 (memory operations);
#                     finder: whatever does, that is L1 for a hunt, L2 for test_l2, otherwise `test`
#   file PATH
#   hunt WORD         the lab should find it: tests/hunt/hunt_WORD.c, which also shrinks what it finds
#   tests WORD...     unit tests that should notice it: tests/unit/test_WORD.c; symbols is tools/check_symbols.sh. There
#                     may be several lines of both kinds, which are tried in turn until one notices it. WORD:NAME
#                     is that function of the test alone (of test_l2, and of those that call storm_choose);
#                     tsan:WORD is test_WORD under the thread sanitizer, asan:WORD under that of addresses
#   - TEXT            old text, line by line
#   + TEXT            new text, line by line (none: the old text is deleted)
#
# Prints a line per bug (found or missed, depth, name, runs until then, the shrunk case: instructions and workers,
# what was reported) and, last, "N of M found". Writes build/planted-LIST.json for the scoreboard, and one entry per line to
# $PLANTED_JSON when that is set. $PLANTED_LISTS is another folder with lists. $PLANTED_PART = I/N plants only the bugs
# number I, I + N, … for once. $PLANTED_MEMORY: what a test of sessions may use, in KiB. Exits 1 when a bug was missed, 2 when a
# list is wrong.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
lists=${PLANTED_LISTS:-tests/planted}
lanes=${PLANTED_JOBS:-3} # copies worked on at the same time; with some of the bugs a test hangs, and uses no CPU
tries=${PLANTED_TRIES:-3} # of a bug that is missed
first_limit=600          # seconds for one test program or hunt on the code as it is; then it depends on what they took
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

say() {
    printf 'planted.sh: %s\n' "$*" >&2
}

list_names() { # survivors.txt is no list: see tools/mutants.sh
    for list in "$lists"/*.txt; do
        [ "${list##*/}" = survivors.txt ] || printf '%s\n' "$list"
    done
}

# Splits the lists into one folder per bug: name, suite, file, depth, words (hunt:WORD, WORD), old, new.
split_lists() {
    for list in $(list_names); do
        suite=planted-$(basename "$list" .txt)
        awk -v out="$work/bugs" -v suite="$suite" -v list="$list" '
            function fail(text) { printf "planted.sh: %s:%d: %s\n", list, NR, text > "/dev/stderr"; bad = 1 }
            function field(name, value) { printf "%s\n", value > (dir "/" name); close(dir "/" name) }
            /^#/ || /^[ \t]*$/ { next }
            $1 == "bug" {
                if (NF != 2) fail("bug NAME expected")
                if ($2 in names) fail("two bugs are called " $2)
                names[$2] = 1
                dir = sprintf("%s/%s.%04d", out, suite, ++count)
                system("mkdir -p " dir)
                field("name", $2)
                field("suite", suite)
                field("depth", "L1")
                words = ""
                printf "" > (dir "/old")
                printf "" > (dir "/new")
                next
            }
            dir == "" { fail("an entry begins with bug NAME"); exit }
            $1 == "file" { field("file", $2); next }
            $1 == "depth" && $2 !~ /^(L[012]|finder)$/ { fail("depth L0, L1, L2 or finder expected") }
            $1 == "depth" { field("depth", $2); next }
            $1 == "tests" { sub(/^tests[ \t]+/, ""); words = words $0 " "; field("words", words); next }
            $1 == "hunt" { words = words "hunt:" $2 " "; field("words", words); next }
            /^- / || /^-$/ { print substr($0, 3) > (dir "/old"); next }
            /^\+ / || /^\+$/ { print substr($0, 3) > (dir "/new"); next }
            { fail("neither bug, depth, file, tests, hunt, - nor +: " $0) }
            END { exit bad }' "$list" || exit 2
    done
}

# plant BUG FILE — prints FILE with the bug in it; fails unless the old text is there exactly once.
plant() {
    awk -v old_file="$1/old" -v new_file="$1/new" '
        function slurp(file,    line, text) {
            while ((getline line < file) > 0) text = text line "\n"
            close(file)
            return text
        }
        { text = text $0 "\n" }
        END {
            text = "\n" text # whole lines
            old = "\n" slurp(old_file)
            at = old == "\n" ? 0 : index(text, old)
            if (at == 0) { print "the old text is not in " FILENAME > "/dev/stderr"; exit 1 }
            rest = substr(text, at + 1)
            if (index(rest, old)) { print "the old text is more than once in " FILENAME > "/dev/stderr"; exit 1 }
            printf "%s%s%s", substr(text, 2, at - 1), slurp(new_file), substr(text, at + length(old))
        }' "$2"
}

# All of them, whichever are going to be planted: who moves a line learns at once whose bug sat in it.
check_lists() {
    lists_right=0
    for bug in "$work"/bugs/*; do
        plant "$bug" "$root/$(cat "$bug/file")" 2>"$work/why" >/dev/null && continue
        say "$(cat "$bug/name"): $(cat "$work/why")"
        lists_right=1
    done
    return $lists_right
}

# run_test TREE WORD LIMIT — status 0 when all its tests pass; the first that fails ends it. Leaves nothing running.
run_test() {
    program=out/tests/test_${2%%:*}
    only=
    case $2 in
    symbols) program="tools/check_symbols.sh out" ;;
    tsan:* | asan:*) program=${2%%:*}/tests/test_${2#*:} ;;
    *:*) only=${2#*:} ;;
    esac
    rm -f "$1/pipe" # another one each time: what an earlier program left running must not speak here
    mkfifo "$1/pipe"
    # shellcheck disable=SC2086 # a list of words
    (case $2 in session*) ulimit -v "${PLANTED_MEMORY:-unlimited}" ;; esac
        cd "$1" && export TEST_ONLY="$only" CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C TSAN_OPTIONS=halt_on_error=1 \
            ASAN_OPTIONS=verify_asan_link_order=0 &&
        exec timeout -k 2 "$3" stdbuf -oL $program) >"$1/pipe" 2>&1 </dev/null &
    runner=$!
    timeout $(($3 + 5)) sed -u '/^not ok [0-9]* -/q' <"$1/pipe" >"$1/test.log" # whoever outlives the program may keep the pipe
    ! grep -q '^not ok [0-9]* -' "$1/test.log" || kill $runner 2>/dev/null
    wait $runner
    status=$?
    kill -9 -- -$runner 2>/dev/null # timeout has made a group of them
    return $status
}

# run_hunt TREE WORD LIMIT — prints the last line of what it says; status 0: clean, 1: found something.
run_hunt() {
    (cd "$1" && LC_ALL=C exec timeout -k 2 "$3" "$1/out/tests/hunt_$2") >"$1/hunt.log" 2>&1 </dev/null
    hunt_status=$?
    tail -n 1 "$1/hunt.log"
    return $hunt_status
}

library_targets() { # TREE: the libraries, and the program that tools/check_symbols.sh looks into
    sed -n 's/^build \(libraddle[^ /]*\.\(a\|so[.0-9]*\)\):.*/\1/p' "$1/out/build.ninja"
    echo tests/test_exec_shell_stress
}

build_tests() { # TREE WORD... (hunt:WORD is a hunt)
    tree=$1
    shift
    targets=
    sanitized=
    addresses=
    for word in "$@"; do
        case $word in
        hunt:*) targets="$targets tests/hunt_${word#hunt:}" ;;
        tsan:*) sanitized="$sanitized tests/test_${word#tsan:}" ;;
        asan:*) addresses="$addresses tests/test_${word#asan:}" ;;
        symbols) targets="$targets $(library_targets "$tree")" ;;
        *) targets="$targets tests/test_${word%%:*}" ;;
        esac
    done
    : >"$tree/build.log"
    # shellcheck disable=SC2086 # a list of words
    [ -z "$targets" ] || ninja -C "$tree/out" -j 2 $targets >"$tree/build.log" 2>&1 || return 1
    # shellcheck disable=SC2086 # lists of words
    build_sanitized "$tree" tsan thread $sanitized && build_sanitized "$tree" asan address $addresses
}

build_sanitized() { # TREE FOLDER SANITIZER TARGET...
    tree=$1 folder=$2 sanitizer=$3
    shift 3
    [ $# != 0 ] || return 0
    [ -d "$tree/$folder" ] || (cd "$tree" && CC=${CC:-gcc} meson setup "$folder" -Doptimization=1 -Dwerror=false \
        "-Db_sanitize=$sanitizer" -Db_lundef=false) >"$tree/build.log" 2>&1 || return 1
    ninja -C "$tree/$folder" -j 2 "$@" >"$tree/build.log" 2>&1
}

make_tree() { # TREE
    mkdir -p "$1/build"
    (cd "$root" && tar cf - --exclude='./build*' --exclude=./.git .) | (cd "$1" && tar xf -) || return 1
    (cd "$1" && CC=${CC:-gcc} meson setup out -Doptimization=1 -Ddebug=false -Dwerror=false) >"$1/build.log" 2>&1
}

# clean_word TREE WORD — nothing is wrong with the code as it is. Leaves what it looked at in $work/evaluations.WORD,
# and in $work/limit.WORD how many seconds it gets with a bug in the code.
clean_word() {
    begin=$(date +%s)
    case $2 in
    hunt:*)
        said=$(run_hunt "$1" "${2#hunt:}" "$first_limit") || {
            say "hunt_${2#hunt:} finds something in the unmodified code: $said"
            return 1
        }
        printf '%s\n' "${said##* }" >"$work/evaluations.$2"
        echo $((60 + 4 * ($(date +%s) - begin))) >"$work/limit.$2" # what it finds is shrunk
        ;;
    *)
        run_test "$1" "$2" "$first_limit" || {
            grep -v '^ok' "$1/test.log" | head -n 30 >&2
            say "test_$2 fails on the unmodified code"
            return 1
        }
        grep -c '^ok' "$1/test.log" >"$work/evaluations.$2"
        echo $((6 + 6 * ($(date +%s) - begin))) >"$work/limit.$2"
        ;;
    esac
}

check_unmodified() { # TREE WORD...: hunts and tests side by side
    tree=$1
    shift
    build_tests "$tree" "$@" || { tail -n 30 "$tree/build.log" >&2; return 1; }
    for word in "$@"; do
        case $word in hunt:*) clean_word "$tree" "$word" || exit 1 ;; esac
    done &
    hunts=$!
    clean=0
    for word in "$@"; do
        case $word in hunt:*) ;; *) clean_word "$tree" "$word" || { clean=1 && break; } ;; esac
    done
    wait $hunts && return $clean
}

hunt_answer='s/^found \([0-9]*\) \([0-9]*\) \(.*\): [0-9]* instructions, \([0-9]*\) workers, [^:]*: \(.*\)$'
hunt_answer="$hunt_answer/found \\1 \\2 \\4 \\3: \\5/p"

# try_word TREE WORD — prints "found RUNS INSTRUCTIONS WORKERS TEXT" when it notices the bug that is planted there.
try_word() {
    if ! build_tests "$1" "$2"; then
        if [ "$2" = session_stubs ] && grep -q '^FAILED: tests/\(Team_\|test_session_stubs\)' "$1/build.log"; then
            echo "found 1 0 0 test_$2: what is written does not compile"
            return
        fi
        echo "wrong 0 0 0 it does not compile: $(grep -m 1 'error:' "$1/build.log" | cut -c 1-150)"
        return
    fi
    case $2 in
    hunt:*)
        run_hunt "$1" "${2#hunt:}" "$(cat "$work/limit.$2")" | sed -n "$hunt_answer"
        ;;
    *)
        run_test "$1" "$2" "$(cat "$work/limit.$2")" 2>/dev/null # the shell tells of signals
        case $? in
        0) return ;;
        124) said="hangs after $(grep -c '^ok' "$1/test.log") tests" ;;
        66) said="a race: $(sed -n 's/.*SUMMARY: ThreadSanitizer: //p' "$1/test.log" | head -n 1)" ;;
        *) said=$(awk '/^not ok [0-9]+ -/ { sub(/^not ok [0-9]+ - /, ""); print; exit }' "$1/test.log") ;;
        esac
        echo "found 1 0 0 test_$2: ${said:-crashes after $(grep -c '^ok' "$1/test.log") tests}"
        ;;
    esac
}

# Prints the result line of one bug: found, missed or wrong, and so on.
try_bug() { # TREE BUG
    file=$(cat "$2/file")
    words=$(cat "$2/words")
    if ! plant "$2" "$root/$file" >"$1/planted" 2>"$1/why"; then
        echo "wrong 0 0 0 $(cat "$1/why")"
        return
    fi
    cp "$1/planted" "$1/$file"
    answer=
    for word in $words; do
        answer=$(try_word "$1" "$word")
        [ -z "$answer" ] || break
    done
    if [ "$(cat "$2/depth")" = finder ]; then
        case ${answer:+$word} in '') echo finder ;; hunt:*) echo L1 ;; l2*) echo L2 ;; *) echo test ;; esac >"$2/depth"
    fi
    [ -n "$answer" ] || answer="missed 0 0 0 by $words"
    cp "$root/$file" "$1/$file"
    touch "$1/$file"
    echo "$answer"
}

lane() { # NUMBER: does whatever bug no other lane has taken
    for bug in "$work"/bugs/*; do
        mkdir "$bug/taken" 2>/dev/null || continue
        try_bug "$work/tree$1" "$bug" >"$bug/answer"
        tell "$bug"
    done
}

# Tests with real threads notice some bugs almost always. Those that were missed get two more chances, when nothing
# else runs; each that needed one is told with the word "later", so that it does not go unseen.
try_again() {
    for bug in "$work"/bugs/*; do
        attempt=1
        while [ $((attempt += 1)) -le "$tries" ] && grep -q '^missed' "$bug/answer"; do
            try_bug "$work/tree0" "$bug" | sed "s/^found 1 \(.*\)/found $attempt \1 (later)/" >"$bug/answer"
            tell "$bug"
        done
    done
}

tell() { # BUG
    read -r what runs size workers text <"$1/answer"
    shrunk=-
    [ "$workers" = 0 ] || shrunk="${size}i ${workers}w"
    [ "$runs" = 0 ] && runs=-
    row "$what" "$(cat "$1/depth")" "$(cat "$1/name")" "$runs" "$shrunk" "$text"
}

row() { # FOUND DEPTH NAME RUNS SHRUNK REPORTED
    printf '%-6s  %-5s  %-42s  %7s  %-7s  %s\n' "$@"
}

entry() { # BUG: its line for the scoreboard
    read -r what runs size workers _ <"$1/answer"
    evaluations=0
    for word in $(tr '\n' ' ' <"$1/words"); do
        more=$(cat "$work/evaluations.$word")
        evaluations=$((evaluations + more))
    done
    found=false
    [ "$what" = found ] && found=true
    printf '{"suite": "%s", "name": "%s", "depth": "%s", "found": %s, "runs": %d, "shrunk": %d, "workers": %d, ' \
        "$(cat "$1/suite")" "$(cat "$1/name")" "$(cat "$1/depth")" "$found" "$runs" "$size" "$workers"
    printf '"twin_reports": 0, "twin_evaluations": %d, "twin_reached": true}\n' "$evaluations"
}

write_json() {
    : >"$work/all.jsonl"
    for list in $(list_names); do
        suite=planted-$(basename "$list" .txt)
        for bug in "$work/bugs/$suite".*; do
            [ -d "$bug" ] && entry "$bug"
        done >"$work/$suite.jsonl"
        cat "$work/$suite.jsonl" >>"$work/all.jsonl"
        mkdir -p build
        { printf '{"entries": [\n' && sed '$!s/$/,/' "$work/$suite.jsonl" && printf ']}\n'; } \
            >"build/$suite.json"
    done
    [ -z "${PLANTED_JSON:-}" ] || cp "$work/all.jsonl" "$PLANTED_JSON"
}

mkdir "$work/bugs"
split_lists
check_lists || exit 2
[ "${1:-}" = --check ] && exit 0
for bug in "$work"/bugs/*; do # only those named, if any
    [ $# = 0 ] && break
    case " $* " in *" $(cat "$bug/name") "*) ;; *) rm -r "$bug" ;; esac
done
if [ $# = 0 ] && [ -n "${PLANTED_PART:-}" ]; then
    at=0
    for bug in "$work"/bugs/*; do
        [ $((at % ${PLANTED_PART#*/})) = "${PLANTED_PART%/*}" ] || rm -r "$bug"
        at=$((at + 1))
    done
fi
total=$(find "$work/bugs" -mindepth 1 -maxdepth 1 | wc -l)
if [ "$total" = 0 ]; then
    say "no such bug: $*"
    exit 2
fi
[ "$total" -lt "$lanes" ] && lanes=$total
words=$(cat "$work"/bugs/*/words | tr ' ' '\n' | sort -u | tr '\n' ' ')
make_tree "$work/tree0" || { tail -n 30 "$work/tree0/build.log" >&2; exit 2; }
# shellcheck disable=SC2086
check_unmodified "$work/tree0" $words || exit 2
number=1
while [ "$number" -lt "$lanes" ]; do
    cp -a "$work/tree0" "$work/tree$number" # paths in the build are relative: nothing is built again
    number=$((number + 1))
done
row '' depth bug runs shrunk reported
number=0
while [ "$number" -lt "$lanes" ]; do
    lane "$number" &
    number=$((number + 1))
done
wait
try_again
[ $# = 0 ] && [ -z "${PLANTED_PART:-}" ] && write_json
found=$(cat "$work"/bugs/*/answer | grep -c '^found')
wrong=$(cat "$work"/bugs/*/answer | grep -c '^wrong')
for list in $(list_names); do
    suite=$(basename "$list" .txt)
    cat "$work/bugs/planted-$suite".*/answer 2>/dev/null |
        awk -v suite="$suite" '{ n++ } /^found/ { found++ } END { if (n) printf "%-8s %d of %d\n", suite, found, n }'
done
grep -lE '^(missed|wrong)' "$work"/bugs/*/answer | while read -r answer; do # last, where they are seen
    tell "${answer%/answer}"
done
[ "$wrong" = 0 ] || say "$wrong of the bugs are wrong: see above"
echo "$found of $total found"
[ "$wrong" = 0 ] || exit 2
[ "$found" = "$total" ]
