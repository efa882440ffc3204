#!/bin/bash
# `raddle c++`: names of C++ in reports of races, in schedule files and in files of --suppress.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
export RADDLE_CXX=${CXX:-c++}

if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "raddle c++" "this build has no library for programs under test"
    finish
fi
if ! command -v "${RADDLE_CXX##* }" >/dev/null; then
    skip "raddle c++" "no compiler for C++"
    finish
fi

for cxx in "$RADDLE_CXX" clang++; do
    command -v "${cxx##* }" >/dev/null || continue
    RADDLE_CXX=$cxx check "$cxx compiles memory_queue.cc" "$RADDLE" c++ -std=c++17 -g -O2 -pthread "$src/tests/programs/memory_queue.cc" \
        -o memory_queue
    rm -f -- *.json
    try explore --runs 50 --clock quiet ./memory_queue
    tr -s ' \n' '  ' <out >flat
    sed -E 's/main::(\{lambda#1\}|\$_0)/main::lambda/' flat >named
    has named "queue+64: main::lambda writes at shop::Queue<int>::push(int): write" "$cxx: function, class and variable as they are written"
    has flat "looks reads at shop::Queue<>::operator()(...): read" "$cxx: a long name without the arguments; pthread_create: who it was"
    has flat "data race@shop::Queue<>::operator()(...): read" "$cxx: the identity has them"
    try replay memory_queue.min.raddle.json -- ./memory_queue
    status 0 "$cxx: replayed"
    echo "race:shop::Queue<int>::push*" >known
    try explore --runs 50 --clock quiet --suppress known ./memory_queue
    status 0 "$cxx: --suppress takes them"
    try explore --runs 50 --clock quiet ./memory_queue fixed
    status 0 "$cxx: fixed"
done
finish
