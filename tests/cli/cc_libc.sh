#!/bin/bash
# `raddle cc`: what functions of the C library read and write counts for the code that calls them. The table of them is
# src/lab/programs/watched/libc_memory.h; docs/threads-under-test.md lists its names, and tests/programs/memory_libc.c calls each.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
export RADDLE_CC=${CC:-cc}

# ---- The table -----------------------------------------------------------------------------------------------------
grep -o 'CALL([a-z0-9_]*,' "$src/src/lab/programs/watched/libc_memory.h" | sed 's/CALL(//; s/,//' | LC_ALL=C sort >table
sed -n '/^### Functions of the C library/,/^##* /p' "$src/docs/threads-under-test.md" | grep '^| `' | grep -o '`[a-z0-9_]*`' | tr -d '`' |
    LC_ALL=C sort >documented
same table documented "the docs list the table"
LC_ALL=C comm -23 table "$src/src/lab/programs/fibers/interposed.txt" >missing
same missing /dev/null "all of them are exported"

if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "raddle cc" "this build has no library for programs under test"
    finish
fi

unseen() { # the calls of the program of which no race is told
    local name group
    # shellcheck disable=SC2046 # names
    set -- $(./memory_libc list)
    while [ $# -gt 0 ]; do
        group=("${@:1:4}") # each has up to two races, and eight are told
        shift ${#group[@]}
        "$RADDLE" explore --runs 1 --no-shrink --json --clock quiet --spurious no ./memory_libc "${group[@]}" >found 2>&1
        for name in "${group[@]}"; do
            grep -q "data race@\(call_$name\|prints[a-z0-9.]*\): " found || echo "$name"
        done
        rm -f -- *.json
    done
}

for compiler in "$RADDLE_CC" "$RADDLE_CC -D_FORTIFY_SOURCE=2" clang; do
    command -v "$(basename "${compiler%% *}")" >/dev/null || continue
    [ "$compiler" != clang ] || [ "$RADDLE_CC" != clang ] || continue
    RADDLE_CC=$compiler check "$compiler compiles it" "$RADDLE" cc -std=gnu11 -g -O2 -pthread "$src/tests/programs/memory_libc.c" \
        -o memory_libc
    unseen >missed
    same missed /dev/null "$compiler: each is seen"
    try explore --runs 20 ./memory_libc fixed
    status 0 "$compiler: under a lock none races, nor the byte behind"
done
has out "nothing found" "and that was tried"
finish
