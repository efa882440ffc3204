#!/bin/sh
# planted.sh [NAME...] — proves that the tests bite. Plants the bugs listed in tests/planted/*.txt (all, or
# those named) one at a time in a copy of the tree, builds the tests named with each, and expects one of them
# to fail. A bug whose old text does not occur exactly once in its file, or that does not compile, is an
# error: the lists cannot rot.
#
#   bug NAME          an entry begins
#   depth WORD        what finds it: L1 (a step is one action, or a plain unit test; preset), L2 (memory operations)
#   file PATH
#   tests WORD...     unit tests that should notice it: tests/unit/test_WORD.c
#   hunt WORD         or the lab should: tests/hunt/hunt_WORD.c, which also shrinks what it finds
#   - TEXT            old text, line by line
#   + TEXT            new text, line by line (none: the old text is deleted)
#
# Prints a line per bug and, last, "N of M found". Writes build/planted-LIST.json for the scoreboard, and one
# entry per line to $PLANTED_JSON when that is set. Exits 1 when a bug was missed, 2 when a list is wrong.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
lanes=${PLANTED_JOBS:-2} # copies worked on at the same time
limit=60                 # seconds for one test program
hunt_limit=120           # for one hunt, shrinking included
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

say() {
    printf 'planted.sh: %s\n' "$*" >&2
}

# Splits the lists into one folder per bug: name, suite, file, tests, old, new.
split_lists() {
    for list in tests/planted/*.txt; do
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
                printf "" > (dir "/old")
                printf "" > (dir "/new")
                next
            }
            dir == "" { fail("an entry begins with bug NAME"); exit }
            $1 == "file" { field("file", $2); next }
            $1 == "depth" { if ($2 !~ /^L[012]$/) fail("depth L0, L1 or L2 expected"); field("depth", $2); next }
            $1 == "tests" { sub(/^tests[ \t]+/, ""); field("tests", $0); next }
            $1 == "hunt" { field("hunt", $2); field("tests", ""); next }
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

# run_test TREE WORD — status 0 when all its tests pass. Never leaves anything running.
run_test() {
    (cd "$1" && CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C exec timeout -k 2 "$limit" "$1/out/tests/test_$2") \
        >"$1/test.log" 2>&1 </dev/null
}

# run_hunt TREE WORD — prints the last line of what it says; status 0: clean, 1: found something.
run_hunt() {
    (cd "$1" && LC_ALL=C exec timeout -k 2 "$hunt_limit" "$1/out/tests/hunt_$2") >"$1/hunt.log" 2>&1 </dev/null
    hunt_status=$?
    tail -n 1 "$1/hunt.log"
    return $hunt_status
}

build_tests() { # TREE WORD... (hunt:WORD is a hunt)
    tree=$1
    shift
    targets=
    for word in "$@"; do
        case $word in
        hunt:*) targets="$targets tests/hunt_${word#hunt:}" ;;
        *) targets="$targets tests/test_$word" ;;
        esac
    done
    # shellcheck disable=SC2086 # a list of words
    ninja -C "$tree/out" -j 2 $targets >"$tree/build.log" 2>&1
}

make_tree() { # TREE
    mkdir -p "$1/build"
    (cd "$root" && tar cf - --exclude='./build*' --exclude=./.git .) | (cd "$1" && tar xf -) || return 1
    (cd "$1" && CC=${CC:-gcc} meson setup out -Doptimization=1 -Ddebug=false -Dwerror=false) >"$1/build.log" 2>&1
}

# The tests must pass on the code as it is; counts their functions in $work/functions.WORD.
check_unmodified() { # TREE WORD...
    tree=$1
    shift
    build_tests "$tree" "$@" || { tail -n 30 "$tree/build.log" >&2; return 1; }
    for word in "$@"; do
        case $word in
        hunt:*)
            run_hunt "$tree" "${word#hunt:}" >"$work/clean.${word#hunt:}" && continue
            cat "$work/clean.${word#hunt:}" >&2
            say "hunt_${word#hunt:} finds something in the unmodified code"
            return 1
            ;;
        esac
        if ! run_test "$tree" "$word"; then
            grep -v '^ok' "$tree/test.log" | head -n 30 >&2
            say "test_$word fails on the unmodified code"
            return 1
        fi
        grep -c '^ok' "$tree/test.log" >"$work/functions.$word"
    done
}

# Prints the result line of one bug: found, missed or wrong, and how many test programs were run.
try_bug() { # TREE BUG
    file=$(cat "$2/file")
    words=$(cat "$2/tests")
    if ! plant "$2" "$root/$file" >"$1/planted" 2>"$1/why"; then
        echo "wrong 0 $(cat "$1/why")"
        return
    fi
    cp "$1/planted" "$1/$file"
    ran=0
    answer=missed
    # shellcheck disable=SC2086
    if ! build_tests "$1" $words; then
        answer="wrong 0 it does not compile: $(grep -m 1 'error:' "$1/build.log" | cut -c 1-150)"
    else
        for word in $words; do
            ran=$((ran + 1))
            run_test "$1" "$word" 2>/dev/null && continue # the shell tells of signals
            answer="found $ran test_$word: $(awk '/^not ok/ { sub(/^not ok [0-9]+ - /, ""); print; exit }' \
                "$1/test.log")"
            break
        done
    fi
    [ "$answer" = missed ] && answer="missed $ran by $words"
    cp "$root/$file" "$1/$file"
    touch "$1/$file"
    echo "$answer"
}

# The same for a bug that the lab hunts: how many runs it took, and the size of the shrunk case.
try_hunt() { # TREE BUG
    file=$(cat "$2/file")
    hunted=$(cat "$2/hunt")
    if ! plant "$2" "$root/$file" >"$1/planted" 2>"$1/why"; then
        echo "wrong 0 $(cat "$1/why")"
        return
    fi
    cp "$1/planted" "$1/$file"
    if ! build_tests "$1" "hunt:$hunted"; then
        echo "wrong 0 it does not compile: $(grep -m 1 'error:' "$1/build.log" | cut -c 1-150)"
    else
        answer=$(run_hunt "$1" "$hunted")
        case $answer in
        found*) echo "$answer" ;;
        *) echo "missed 0 by hunt_$hunted: $answer" ;;
        esac
    fi
    cp "$root/$file" "$1/$file"
    touch "$1/$file"
}

lane() { # NUMBER: does every bug whose number is its own, modulo the lanes
    tree=$work/tree$1
    number=0
    for bug in "$work"/bugs/*; do
        number=$((number + 1))
        [ $((number % lanes)) = "$1" ] || continue
        if [ -f "$bug/hunt" ]; then
            try_hunt "$tree" "$bug" >"$bug/answer"
        else
            try_bug "$tree" "$bug" >"$bug/answer"
        fi
        read -r what ran text <"$bug/answer"
        printf '%-7s %s %-32s %s\n' "$what" "$(cat "$bug/depth")" "$(cat "$bug/name")" "$text"
    done
}

entry() { # BUG: its line for the scoreboard
    read -r what ran size _ <"$1/answer"
    evaluations=0
    shrunk=0
    if [ -f "$1/hunt" ]; then
        read -r _ _ evaluations <"$work/clean.$(cat "$1/hunt")"
        [ "$what" = found ] && shrunk=$size
    fi
    for word in $(cat "$1/tests"); do
        evaluations=$((evaluations + $(cat "$work/functions.$word")))
    done
    found=false
    [ "$what" = found ] && found=true
    printf '{"suite": "%s", "name": "%s", "depth": "%s", "found": %s, "runs": %d, "shrunk": %d, ' \
        "$(cat "$1/suite")" "$(cat "$1/name")" "$(cat "$1/depth")" "$found" "$ran" "$shrunk"
    printf '"twin_reports": 0, "twin_evaluations": %d, "twin_reached": true}\n' "$evaluations"
}

write_json() {
    : >"$work/all.jsonl"
    for list in tests/planted/*.txt; do
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
for bug in "$work"/bugs/*; do # only those named, if any
    [ $# = 0 ] && break
    case " $* " in *" $(cat "$bug/name") "*) ;; *) rm -r "$bug" ;; esac
done
total=$(find "$work/bugs" -mindepth 1 -maxdepth 1 | wc -l)
if [ "$total" = 0 ]; then
    say "no such bug: $*"
    exit 2
fi
[ "$total" -lt "$lanes" ] && lanes=$total
words=$({ cat "$work"/bugs/*/tests && for hunt in "$work"/bugs/*/hunt; do
    [ -f "$hunt" ] && printf 'hunt:%s\n' "$(cat "$hunt")"
done; } | tr ' ' '\n' | sort -u | tr '\n' ' ')
make_tree "$work/tree0" || { tail -n 30 "$work/tree0/build.log" >&2; exit 2; }
# shellcheck disable=SC2086
check_unmodified "$work/tree0" $words || exit 2
number=1
while [ "$number" -lt "$lanes" ]; do
    cp -a "$work/tree0" "$work/tree$number" # paths in the build are relative: nothing is built again
    number=$((number + 1))
done
number=0
while [ "$number" -lt "$lanes" ]; do
    lane "$number" &
    number=$((number + 1))
done
wait
[ $# = 0 ] && write_json
found=$(cat "$work"/bugs/*/answer | grep -c '^found')
wrong=$(cat "$work"/bugs/*/answer | grep -c '^wrong')
[ "$wrong" = 0 ] || say "$wrong of the bugs are wrong: see above"
echo "$found of $total found"
[ "$wrong" = 0 ] || exit 2
[ "$found" = "$total" ]
