#!/bin/bash
# check_symbols.sh BUILD_DIR — prints TAP: what the libraries show to the world is what the headers
# say, and every name that crosses a file begins with rad_.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
count=0
bad=0

report() { # NAME SYMBOLS: the symbols are those that should not be there
    count=$((count + 1))
    if [ -z "$2" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
        bad=1
    fi
}

# Sanitizers add names of their own, all beginning with an underscore.
defined() {
    nm "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^_/ { print $3 }' | LC_ALL=C sort -u
}

declared=$(cat "$root"/include/*.h "$root"/include/raddle/*.h 2>/dev/null |
    grep -ohE '\brad_[a-z0-9_]+' | LC_ALL=C sort -u)
not_declared() { # NAMES
    LC_ALL=C comm -23 <(printf '%s\n' "$1") <(printf '%s\n' "$declared") | grep .
}
exported=$(defined -D --defined-only "$build/libraddle-lab.so")
production=$(defined -D --defined-only "$build/libraddle.so")

live=0 # libraddle-load: only where llhttp is
[ ! -f "$build/libraddle-load.a" ] || live=4
under_test=$build/src/lab/programs/fibers/libraddle.so.0 # not in builds with sanitizers
explored=0
[ ! -f "$under_test" ] || explored=1
echo 1..$((12 + live + explored))
report "the shared library exports only rad_ names" \
    "$(printf '%s\n' "$exported" | grep -vE '^rad_[a-z0-9]' | grep .)"
report "everything it exports is declared in include/" "$(not_declared "$exported")"
report "names that cross files begin with rad_ or rad__" \
    "$(defined -g --defined-only "$build/libraddle-lab.a" | grep -vE '^rad_')"

# libraddle-load is raddle-lab and what talks to servers, llhttp among it.
if [ $live -gt 0 ]; then
    more=$(defined -D --defined-only "$build/libraddle-load.so")
    report "libraddle-load exports all that raddle-lab does" \
        "$(LC_ALL=C comm -13 <(printf '%s\n' "$more") <(printf '%s\n' "$exported") | grep .)"
    report "and besides only what include/ declares" "$(not_declared "$more")"
    report "its names that cross files begin with rad_, or are llhttp's" \
        "$(defined -g --defined-only "$build/libraddle-load.a" | grep -vE '^(rad_|llhttp_)')"
    report "raddle-lab needs nothing to talk to servers with" \
        "$(readelf -d "$build/libraddle-lab.so" | grep -oE 'lib(ssl|crypto|nghttp2|uring)[^]]*')"
fi

# exec and rt must run without the kernel and the lab: no name of theirs may be needed.
objects=$(find "$build" -name 'src_exec_*.o' -o -name 'src_rt_*.o')
foreign=$(find "$build" -name 'src_core_*.o' -o -name 'src_lab_*.o' -o -name 'src_view_*.o')
needed=
# shellcheck disable=SC2086
[ -z "$objects" ] || needed=$(nm -u $objects | awk 'NF == 2 { print $2 }' | LC_ALL=C sort -u)
# shellcheck disable=SC2086
report "exec and rt need nothing of core and lab" \
    "$(LC_ALL=C comm -12 <(printf '%s\n' "$needed") <(defined -g --defined-only $foreign) | grep .)"
# Reports for people are written by dump.c, holders.c and stall.c, by the monitor before it ends a process that is dead, and by talk.c,
# which says what the protocol allows; test*.c reports tests.
silent=$(printf '%s\n' $objects | grep -vE 'src_rt_(dump|holders|stall|talk|test|test_calls|test_main|monitor)\.c')
# shellcheck disable=SC2086
report "exec and rt call no trace" "$(nm -u $silent | awk 'NF == 2 { print $2 }' | grep -iE 'trace|log|record|print' | grep .)"
# A timeout would hide lost wakeups. Only thread.c has one, for hooks that have something to do at some time; that it uses
# none without them is for test_exec_shell_wake.
# shellcheck disable=SC2046
report "exec waits for no time" "$(nm -A -u $(find "$build" -name 'src_exec_*.o' ! -name src_exec_thread_thread.c.o) |
    grep -E ' (rad__os_word_wait_for|[a-z]*sleep|[a-z_]*timedwait)$')"

# ---- libraddle: what programs link with ---------------------------------------------------------
report "libraddle exports only what raddle.h declares" "$(LC_ALL=C comm -23 <(printf '%s\n' "$production") \
    <(grep -ohE '\brad_[a-z0-9_]+'  "$root"/include/raddle/{exec,fiber,chan,sync,io,talk,test}.h 2>/dev/null | LC_ALL=C sort -u) | grep .)"
report "and raddle-lab exports all of that" \
    "$(LC_ALL=C comm -23 <(printf '%s\n' "$production") <(printf '%s\n' "$exported") | grep .)"
report "libraddle needs libc and nothing else" \
    "$(readelf -d "$build/libraddle.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|ld-linux[-_a-z0-9]*|lib(asan|ubsan|tsan|gcc_s|m|clang_rt.*))\.so')"
report "its static library resolves all of its own names" \
    "$(LC_ALL=C comm -23 <(nm -u "$build/libraddle.a" | awk 'NF == 2 && $2 ~ /^rad_/ { print $2 }' |
        LC_ALL=C sort -u) <(defined -g --defined-only "$build/libraddle.a"))"

# The loader reads and relocates this one each time a program begins: of the lab it has what makes a run, and no more.
if [ $explored -gt 0 ]; then
    report "the library that programs under test get has no machines, and no files of runs" \
        "$(nm "$under_test" | grep -oE ' rad__(toy|machine|l2_machine|flow|load|session|artifact|json)_.*' | head -n 9
        readelf -d "$under_test" | grep -oE 'lib(jansson|zstd)[^]]*')"
fi

# The lab explores the code that is shipped: the archived objects are the same, byte by byte, ...
different_members() {
    local member
    for member in $(ar t "$build/libraddle.a"); do
        cmp -s <(ar p "$build/libraddle.a" "$member") <(ar p "$build/libraddle-lab.a" "$member") || echo "$member"
    done
    for member in choose deque gate idle inbox injector sched worker; do
        ar t "$build/libraddle.a" | grep -x "src_exec_$member.c.o" >/dev/null || echo "no $member.c" # reads all
    done
}
report "libraddle and raddle-lab hold the same objects" "$(different_members)"

# ... and so are the instructions in a program that was linked with the lab, addresses aside.
instructions() { # FILE FUNCTION
    objdump -d --no-show-raw-insn --disassemble="$2" "$1" | sed -nE "/<$2>:\$/,/^\$/p" |
        sed -E '1d; /^$/d; s/^[^\t]*\t//; s/[[:space:]]*#.*//; s/(0x)?[0-9a-f]+ <[^>]*>/TARGET/
            s/-?0x[0-9a-f]+\(%rip\)/PLACE/; s/[[:space:]]+$//' | grep -vE '(nop|xchg +%ax,%ax)'
}
different_functions() {
    local program=$build/tests/test_exec_shell_stress object=$1/worker.o name
    [ -x "$program" ] || { echo "no $program"; return; }
    ar p "$build/libraddle.a" src_exec_worker.c.o >"$object"
    for name in $(defined -g --defined-only "$object"); do
        [ -n "$(instructions "$object" "$name")" ] || echo "$name: no instructions"
        diff -q <(instructions "$object" "$name") <(instructions "$program" "$name") >/dev/null || echo "$name"
    done
}
scratch=$(mktemp -d)
report "a program with the lab in it runs the same steps" "$(different_functions "$scratch")"
rm -rf "$scratch"
exit $bad
