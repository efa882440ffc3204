#!/bin/bash
# A file of a program with fibers replays where nothing is as it was: in other processes with other addresses, from one
# compiler and level to another, after linking again. tests/cli/install.sh does it with an installed raddle.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}
programs=$src/tests/programs

if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "replay of programs" "this build has no library for programs under test"
    finish
fi
builds() { # DIR PROGRAM COMPILER FLAGS…: DIR/PROGRAM
    mkdir -p "$1"
    # shellcheck disable=SC2086 # a compiler may have words
    compiles "$2: $1" "$library" $3 -std=gnu11 "${@:4}" "$programs/$2.c" -o "$1/$2"
}
records() { # DIR PROGRAM: PROGRAM.min.raddle.json, of the program in DIR
    rm -f ./*.raddle.json
    try explore --stop-on-first --runs 2000 "./$1/$2"
    status 1 "$2: found, in the one of $1"
    check "$2: shrunk" [ -f "$2.min.raddle.json" ]
}
replays() { # DIR PROGRAM [NOTE]: the same trace, to the same end
    for file in "$2.raddle.json" "$2.min.raddle.json"; do
        try replay "$file" -- "./$1/$2"
        status 0 "$file, with the one of $1"
        has out "as recorded" "$file: as recorded, with the one of $1"
        [ $# = 2 ] || has err "$3" "$1: $3"
    done
}
another="was recorded with another build of the program"

builds gcc-O0 lost_wakeup "$cc" -O0 -g
records gcc-O0 lost_wakeup
replays gcc-O0 lost_wakeup
silent "the same program"
if setarch -R true 2>/dev/null; then
    setarch -R "$RADDLE" replay lost_wakeup.min.raddle.json -- ./gcc-O0/lost_wakeup >out 2>err
    has out "as recorded" "with addresses that are always the same"
else
    skip "with addresses that are always the same" "setarch cannot"
fi
builds gcc-O3 lost_wakeup "$cc" -O3
replays gcc-O3 lost_wakeup "$another"
# Another object in front, no PIE, and other sections: no address is where it was.
echo 'char in_front[70000] = {1}; int more(void) { return in_front[0]; }' >front.c
builds linked-again lost_wakeup "$cc" -O0 -fno-pie -no-pie front.c
replays linked-again lost_wakeup "$another"
strip -o linked-again/stripped linked-again/lost_wakeup && mv linked-again/stripped linked-again/lost_wakeup
try replay lost_wakeup.min.raddle.json -- ./linked-again/lost_wakeup
status 0 "a program without symbols: its fibers have other names, but do the same"

if ! command -v clang >/dev/null; then
    skip "from one compiler to another" "no clang"
    finish
fi
builds clang-O3 lost_wakeup clang -O3
replays clang-O3 lost_wakeup "$another"
builds clang-O3 parts clang -O3
records clang-O3 parts
builds gcc-O0 parts "$cc" -O0 -g
replays gcc-O0 parts "$another"
builds clang-O0 select_miss clang -O0 -g
records clang-O0 select_miss
builds gcc-O3 select_miss "$cc" -O3
replays gcc-O3 select_miss "$another"
finish
