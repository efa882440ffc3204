#!/bin/bash
# Threads of the system (--real-threads) are the judge of those that share one: the same choices, the same runs, the same
# traces and files, for all programs with threads; by day for every third one. RUNS=200 makes more, and takes all.
. "$(dirname "$0")/under_test"
runs=${RUNS:-4}
every=$([ "$runs" -gt 4 ] && echo 1 || echo 3)

has_library "threads of the system"

# Where it ran, and how long, is all that may differ.
search() { # FOLDER OPTION PROGRAM ARGUMENTS
    mkdir -p "$1" && rm -f "$1"/*
    "$RADDLE" explore --runs "$runs" --clock quiet --spurious no --no-shrink --max-steps 2000 --json --output "$1" "${@:2}" \
        >"$1/out" 2>"$1/err" </dev/null
    sed -i -E "/\"(elapsed|apart)\":/d; s|\b$1/||g" "$1/out"
}

alike() { # PROGRAM ARGUMENTS
    search fast --apart "$@"
    search real --real-threads "$@"
    diff -r fast real >differ
    report $? "$*: the same on threads of the system" differ
}

for name in threads ordinary oracles signals leaving pipes gated; do
    [ $name = gated ] && [ "$(uname -m)" != x86_64 ] && continue
    makes_threads $name
    grep -oE '(\{"|ROW\()[a-z0-9_]+' "$programs/$name.c" | sed 's/.*["(]//' | sort -u >names
    check "$name.c has programs" [ -s names ]
    while read -r one; do
        [ "$one" = registers ] || alike "./$name" "$one"
    done < <(sed -n "1~${every}p" names)
done

cxx=
for one in ${CXX:-} g++ clang++; do
    if command -v "$one" >/dev/null; then cxx=$one && break; fi
done
for name in threads ordinary; do
    [ -n "$cxx" ] || continue
    takes programs ${name}_cxx $name.cpp ||
        check "$name.cpp compiles" "$cxx" -std=c++20 -g -O1 -pthread "$programs/$name.cpp" -o ${name}_cxx
    grep -oE '\{"[a-z0-9_]+' "$programs/$name.cpp" | sed 's/.*"//' | sort -u >names
    while read -r one; do alike "./${name}_cxx" "$one"; done < <(sed -n "1~${every}p" names)
done

try explore --runs "$runs" --stop-on-first --real-threads ./threads abba
status 1 "explore --real-threads"
has out "because its threads are real (--real-threads)" "says so"
try replay --real-threads threads.min.raddle.json -- ./threads abba
status 0 "replay --real-threads"
try replay threads.min.raddle.json -- ./threads abba
status 0 "the file does without"
try explore --real-threads buffer
status 2 "a machine has no threads"

# Only there each thread has what the system keeps for one: without, it is refused by name.
if [ -x gated ]; then
    try explore --runs 9 ./gated registers
    if [ "$status" = 2 ]; then
        has err "--real-threads gives each thread one" "the register GS is of a thread of the system"
    else
        skip "the register GS" "this system does not show the call"
    fi
    try explore --runs 9 --real-threads ./gated registers
    status 0 "and each thread has its own"
fi
finish
