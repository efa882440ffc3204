#!/bin/bash
# explore --check: Raddle's own structures are looked at after each step. It changes no result, and finds what was damaged.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

same_with_check() { # NAME ARGUMENTS…: the same coverage and failures with and without
    label=$1
    shift
    "$RADDLE" explore --json --no-shrink "$@" 2>err | grep -v elapsed >without
    "$RADDLE" explore --json --no-shrink --check "$@" 2>err | grep -v elapsed >with
    check "$label: something was explored" [ -s without ]
    same with without "$label: --check changes nothing"
}
same_with_check event event n=4 --runs 500
same_with_check philosophers philosophers --runs 500 --strategy random
same_with_check "a tree with four workers" counter --strategy preempt:2 --runs 5000 -j 4
same_with_check "samples that learn" wsq --strategy surw --runs 3000 -j 3

under=$build/src/lab/programs/fibers/libraddle.so.0
if [ ! -f "$under" ] || is_sanitized "$library"; then
    skip "programs with fibers" "this build has no library for them"
    finish
fi
if ! takes programs smashed; then
    # shellcheck disable=SC2086 # CC may have words
    compiles "smashed.c compiles" "$library" ${CC:-cc} -std=gnu11 -g -O1 "$src/tests/programs/smashed.c" -o smashed
fi
same_with_check "a program with fibers" --runs 20 ./smashed
for options in "" --check; do # within 1,024 steps, and after the step
    # shellcheck disable=SC2086 # no option, or one
    try explore $options --runs 5 ./smashed yes
    status 4 "a damaged nursery ends the search${options:+ with $options}"
    has err "a nursery: M1, its count is not its children's" "it says which rule is broken${options:+ with $options}"
    has err "the program has written into memory of its runtime" "and whose fault it may be${options:+ with $options}"
done
finish
