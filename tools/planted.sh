#!/bin/sh
# planted.sh [--check | NAME...] — proves that the tests bite. Plants the bugs of tests/planted/*.txt (all, or those
# named) one at a time in a copy of the tree, builds the tests named with each, and expects one of them to fail. The
# form of the lists is described in tools/plant.c, which checks them and plants. With --check nothing is planted.
#
# Prints a line per bug: found or missed, what finds it (L1: a hunt, L2: a model, test), name, runs until then, the shrunk
# case (instructions and workers), what was reported. The last line is "N of M found". A missed bug is tried again
# when nothing else runs: tests on threads find some bugs almost always. Writes build/planted-LIST.json for the scoreboard.
#
#   PLANTED_JSON    a file that gets all entries, one a line      PLANTED_LISTS   another directory with lists
#   PLANTED_PART    I/N: only bugs number I, I + N, …             PLANTED_JOBS    bugs planted at the same time
#   PLANTED_TABLE   a file that gets the table of docs/scoreboard.md, of the bugs in exec.txt
#   PLANTED_TRIES   how often a missed bug is tried               PLANTED_MEMORY  KiB for a test of sessions
#
# Exits 1 when a bug was missed, 2 when a list is wrong, a bug does not compile or a test fails without a bug.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
lists=${PLANTED_LISTS:-tests/planted}
lanes=${PLANTED_JOBS:-3} # with some bugs a test hangs and uses no CPU
tries=${PLANTED_TRIES:-3}
compiler=${CC:-gcc}
command -v ccache >/dev/null && case $compiler in ccache*) ;; *) compiler="ccache $compiler" ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

say() {
    printf 'planted.sh: %s\n' "$*" >&2
}

# ---- Building and running in a copy of the tree

make_tree() { # TREE
    mkdir -p "$1/build"
    (cd "$root" && tar cf - --exclude='./build*' --exclude=./.git .) | (cd "$1" && tar xf -) || return 1
    (cd "$1" && CC=$compiler meson setup out -Doptimization=1 -Ddebug=false -Dwerror=false) >"$1/build.log" 2>&1
}

folder_of() { # WORD: the build folder it needs
    case $1 in tsan:* | asan:*) echo "${1%%:*}" ;; *) echo out ;; esac
}

target_of() { # WORD TREE
    case $1 in
    symbols) # the libraries, and the program that tools/check_symbols.sh looks into
        sed -n 's/^build \(libraddle[^ /]*\.\(a\|so[.0-9]*\)\):.*/\1/p' "$2/out/build.ninja"
        echo tests/test_exec_shell_stress ;;
    hunt:*) echo "tests/hunt_${1#hunt:}" ;;
    cli:*) # raddle, all that it loads or links with programs, and the programs that are compiled in the build
        sed -n -e 's/^build \(raddle\|tests\/programs\/[^ .\/]*\):.*/\1/p' \
            -e 's/^build \(\(src\/lab\/\([a-z]*\/\)*\)\?lib[^ /]*\.\(a\|so[.0-9]*\)\):.*/\1/p' "$2/out/build.ninja" ;;
    tsan:* | asan:*) echo "tests/test_${1#*:}" ;;
    *) echo "tests/test_${1%%:*}" ;;
    esac
}

build() { # TREE WORD...: all of one build folder
    tree=$1 folder=$(folder_of "$2")
    shift
    case $folder in tsan) sanitizer=thread ;; *) sanitizer=address ;; esac
    [ -d "$tree/$folder" ] || (cd "$tree" && CC=$compiler meson setup "$folder" -Doptimization=1 -Dwerror=false \
        "-Db_sanitize=$sanitizer" -Db_lundef=false) >"$tree/build.log" 2>&1 || return 1
    # shellcheck disable=SC2046 # a list of words
    ninja -C "$tree/$folder" -j 2 $(for word in "$@"; do target_of "$word" "$tree"; done) >"$tree/build.log" 2>&1
}

# run_test TREE WORD LIMIT — status 0 when all its tests pass; the first that fails ends it. Leaves nothing running.
run_test() {
    program=$(folder_of "$2")/$(target_of "$2" "$1")
    only=
    case $2 in
    symbols) program="tools/check_symbols.sh out" ;;
    tsan:* | asan:*) ;;
    cli:*) program="env -u TEST_LONG -u LD_PRELOAD RADDLE=$1/out/raddle RADDLE_SRC=$1 RADDLE_BUILD=$1/out
            bash $1/tests/cli/${2#cli:}.sh" ;;
    *:*) only=${2#*:} ;;
    esac
    rm -rf "$1/pipe" "$1/run" # new ones each time: a process that an earlier program left running must not write here
    case $2 in cli:*) folder=$1/run && mkdir "$folder" ;; *) folder=$1 ;; esac
    mkfifo "$1/pipe"
    # shellcheck disable=SC2086 # a list of words
    (case $2 in session*) ulimit -v "${PLANTED_MEMORY:-unlimited}" ;; esac
        cd "$folder" && export TEST_ONLY="$only" TEST_LONG=1 CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C TSAN_OPTIONS=halt_on_error=1 \
            ASAN_OPTIONS=verify_asan_link_order=0 &&
        exec timeout -k 2 "$3" stdbuf -oL $program) >"$1/pipe" 2>&1 </dev/null &
    runner=$!
    timeout $(($3 + 5)) sed -u '/^not ok [0-9]* -/q' <"$1/pipe" >"$1/test.log" # a child may keep the pipe open
    ! grep -q '^not ok [0-9]* -' "$1/test.log" || kill $runner 2>/dev/null
    wait $runner
    status=$?
    kill -9 -- -$runner 2>/dev/null # timeout has made a group of them
    return $status
}

# run TREE WORD LIMIT — prints "found RUNS INSTRUCTIONS WORKERS TEXT", nothing when all is well. A test that is
# killed at its limit hangs.
hunt_answer='s/^found \([0-9]*\) \([0-9]*\) \(.*\): [0-9]* instructions, \([0-9]*\) workers, [^:]*: \(.*\)$'
hunt_answer="$hunt_answer/found \\1 \\2 \\4 \\3: \\5/p"
run() {
    case $2 in
    hunt:*)
        (cd "$1" && LC_ALL=C exec timeout -k 2 "$3" "out/$(target_of "$2")") >"$1/test.log" 2>&1 </dev/null
        tail -n 1 "$1/test.log" | sed -n "$hunt_answer" ;;
    *)
        run_test "$1" "$2" "$3" 2>/dev/null # the shell tells of signals
        case $? in
        0) return ;;
        124) said="hangs after $(grep -c '^ok' "$1/test.log") tests" ;;
        66) said="a race: $(sed -n 's/.*SUMMARY: ThreadSanitizer: //p' "$1/test.log" | head -n 1)" ;;
        *) said=$(awk 'sub(/^not ok ([0-9]+ )?- /, "") { print; exit }' "$1/test.log") ;;
        esac
        echo "found 1 0 0 test_$2: ${said:-crashes after $(grep -c '^ok' "$1/test.log") tests}" ;;
    esac
}

# ---- One bug

looks_at() { # TREE WORD: how much it looked at; fails when that is nothing
    case $2 in
    symbols) echo 1 ;;
    hunt:*) sed -n '$s/.* //p' "$1/test.log" ;;
    *) grep '^ok' "$1/test.log" | grep -vc '# SKIP' ;; # one that is skipped has looked at nothing
    esac
}

# know TREE WORD — once per word, on the code without a bug: it finds nothing. Leaves $work/words/WORD/limit, the
# seconds it gets with a bug, and /evaluations, what it looked at.
know() {
    if ! mkdir "$work/words/$2" 2>/dev/null; then # another lane does it
        until [ -f "$work/words/$2/limit" ] || [ -f "$work/words/$2/fails" ]; do sleep 1; done
    elif build "$1" "$2" && begin=$(date +%s) && answer=$(run "$1" "$2" 600) && [ -z "$answer" ] &&
        answer="it looks at nothing" && looks_at "$1" "$2" >"$work/words/$2/evaluations"; then
        took=$(($(date +%s) - begin))
        case $2 in hunt:*) echo $((60 + 4 * took)) ;; *) echo $((6 + 6 * took)) ;; esac >"$work/words/$2/limit"
    else
        tail -n 30 "$1/build.log" "$1/test.log" >"$work/words/$2/fails" 2>&1
        say "$2 fails without a bug: ${answer:-it does not compile}"
        [ -n "$answer" ] || tail -n 20 "$1/build.log" >&2
    fi
    [ -f "$work/words/$2/limit" ]
}

# try_word TREE BUG WORD — plants, builds, runs, and takes it out again.
try_word() {
    know "$1" "$3" || { echo "wrong 0 0 0 $3 fails without a bug" && return; }
    file=$(cat "$2/file")
    cp "$1/$file" "$1/saved"
    cp "$2/planted" "$1/$file"
    if build "$1" "$3"; then
        run "$1" "$3" "$(cat "$work/words/$3/limit")"
    elif [ "$3" = session_stubs ] && grep -q '^FAILED: tests/\(Team_\|test_session_stubs\)' "$1/build.log"; then
        echo "found 1 0 0 test_$3: what is written does not compile"
    else
        echo "wrong 0 0 0 it does not compile: $(grep -m 1 'error:' "$1/build.log" | cut -c 1-150)"
    fi
    cp "$1/saved" "$1/$file"
}

try_bug() { # TREE BUG TRY
    answer=
    for word in $(cat "$2/words"); do
        answer=$(try_word "$1" "$2" "$word")
        [ -z "$answer" ] || break
    done
    case ${answer:+$word} in '' | hunt:*) echo L1 ;; lab_l2*) echo L2 ;; *) echo test ;; esac >"$2/depth"
    [ "$3" = 1 ] || answer=$(printf '%s\n' "$answer" | sed "s/^found 1 \(.*\)/found $3 \1 (later)/")
    echo "${answer:-missed 0 0 0 by $(cat "$2/words")}" >"$2/answer"
    tell "$2"
}

lane() { # TREE: tries bugs that no other lane has taken
    for bug in "$work"/bugs/*; do
        ! mkdir "$bug/taken" 2>/dev/null || try_bug "$1" "$bug" 1
    done
}

# ---- What is said

row() { # FOUND DEPTH NAME RUNS SHRUNK REPORTED
    printf '%-6s  %-5s  %-42s  %7s  %-7s  %s\n' "$@"
}

tell() { # BUG
    read -r what runs size workers text <"$1/answer"
    shrunk=-
    [ "$workers" = 0 ] || shrunk="${size}i ${workers}w"
    [ "$runs" = 0 ] && runs=-
    row "$what" "$(cat "$1/depth")" "$(cat "$1/name")" "$runs" "$shrunk" "$text"
}

entry() { # BUG: its line for the scoreboard
    read -r what runs size workers _ <"$1/answer"
    evaluations=0
    for word in $(cat "$1/words"); do
        evaluations=$((evaluations + $(cat "$work/words/$word/evaluations" 2>/dev/null || echo 0)))
    done
    found=false
    [ "$what" = found ] && found=true
    printf '{"suite": "planted-%s", "name": "%s", "depth": "%s", "found": %s, "runs": %d, "shrunk": %d, "workers": %d, ' \
        "$(cat "$1/list")" "$(cat "$1/name")" "$(cat "$1/depth")" "$found" "$runs" "$size" "$workers"
    printf '"twin_reports": 0, "twin_evaluations": %d, "twin_reached": true}\n' "$evaluations"
}

table_row() { # BUG: the same for docs/scoreboard.md, which has a table of the executor's
    read -r what runs size workers text <"$1/answer"
    [ "$what" = found ] || runs='**missed**'
    [ "$workers" != 0 ] || { size=- && workers=-; } # it was not the hunt that found it
    text=$(printf '%s\n' "$text" | sed 's/^\(.\{87\}\).\{4,\}$/\1.../')
    printf '%s\n' "$runs" | sed -e :a -e 's/^\([0-9]*[0-9]\)\([0-9]\{3\}\)/\1,\2/' -e ta | tr -d '\n' >"$1/runs"
    echo "| $(cat "$1/name") | $(cat "$1/depth") | $(cat "$1/runs") | $size | $workers | $text |"
}

write_table() { # FILE: of the bugs of exec.txt that were tried
    echo '| bug | depth | runs | instructions | workers | reported |'
    echo '|---|---|---|---|---|---|'
    for bug in "$work"/bugs/exec.*; do [ ! -f "$bug/answer" ] || table_row "$bug"; done
} >"$1"

write_json() {
    mkdir -p build
    for list in "$lists"/*.txt; do
        list=$(basename "$list" .txt)
        for bug in "$work/bugs/$list".*; do entry "$bug"; done >"$work/$list.jsonl"
        { printf '{"entries": [\n' && sed '$!s/$/,/' "$work/$list.jsonl" && printf ']}\n'; } >"build/planted-$list.json"
    done
    [ -z "${PLANTED_JSON:-}" ] || cat "$work"/*.jsonl >"$PLANTED_JSON"
}

summarize() { # the counts of each list, then what was not found, last, where it is seen
    for list in "$lists"/*.txt; do
        list=$(basename "$list" .txt)
        cat "$work/bugs/$list".*/answer 2>/dev/null |
            awk -v list="$list" '{ n++ } /^found/ { found++ } END { if (n) printf "%-8s %d of %d\n", list, found, n }'
    done
    grep -LE '^found' "$work"/bugs/*/answer | while read -r answer; do tell "${answer%/answer}"; done
}

# ---- All of it

# shellcheck disable=SC2086 # a list of words
$compiler -O1 -o "$work/plant" tools/plant.c tools/c_tokens.c tools/tidy_source.c || exit 2
mkdir "$work/bugs" "$work/words"
if [ "${1:-}" = --check ]; then
    "$work/plant" . "$lists"/*.txt
    exit
fi
"$work/plant" -o "$work/bugs" . "$lists"/*.txt || exit 2
part=${PLANTED_PART:-0/1} at=0
for bug in "$work"/bugs/*; do
    if [ $# = 0 ]; then
        [ $((at % ${part#*/})) = "${part%/*}" ] || rm -r "$bug"
    else
        case " $* " in *" $(cat "$bug/name") "*) ;; *) rm -r "$bug" ;; esac
    fi
    at=$((at + 1))
done
total=$(find "$work/bugs" -mindepth 1 -maxdepth 1 | wc -l)
[ "$total" != 0 ] || { say "no such bug: $*" && exit 2; }
[ "$total" -lt "$lanes" ] && lanes=$total
first=$(sed 's/^ *\([^ ]*\).*/\1/' "$work"/bugs/*/words | grep -v '^[at]san:' | sort -u)
# shellcheck disable=SC2086 # a list of words
make_tree "$work/tree1" && { [ -z "$first" ] || build "$work/tree1" $first; } || { tail -n 30 "$work/tree1/build.log" >&2; exit 2; }
# A hunt without a bug looks at 1.5 million runs: only a run of all lists does that.
all=false
[ $# != 0 ] || [ "$part" != 0/1 ] || all=true
for word in $(cat "$work"/bugs/*/words | tr ' ' '\n' | grep '^hunt:' | sort -u); do
    $all || { mkdir "$work/words/$word" && echo 300 >"$work/words/$word/limit"; }
done
row '' depth bug runs shrunk reported
for number in $(seq "$lanes"); do # paths in the build are relative: nothing is built again in a copy
    if [ "$number" != 1 ]; then
        cp -a "$work/tree1" "$work/tree$number"
        # Meson writes where a program is that it runs.
        sed -i "s|$work/tree1/|$work/tree$number/|g" "$work/tree$number/out/build.ninja"
    fi
done
for number in $(seq "$lanes"); do
    lane "$work/tree$number" &
done
wait
for bug in "$work"/bugs/*; do
    for try in $(seq 2 "$tries"); do
        ! grep -q '^missed' "$bug/answer" || try_bug "$work/tree1" "$bug" "$try"
    done
done
! $all || write_json
[ -z "${PLANTED_TABLE:-}" ] || write_table "$PLANTED_TABLE"
summarize
wrong=$(cat "$work"/bugs/*/answer | grep -c '^wrong')
found=$(cat "$work"/bugs/*/answer | grep -c '^found')
[ "$wrong" = 0 ] || say "$wrong of the bugs are wrong: see above"
echo "$found of $total found"
[ "$wrong" = 0 ] || exit 2
[ "$found" = "$total" ]
