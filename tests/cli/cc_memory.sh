#!/bin/bash
# `raddle cc`: memory that is given back. tests/programs/memory_reuse.c gets it again in each way, which is no race;
# tests/programs/memory_freed.c uses blocks of the heap that were freed.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
programs=$src/tests/programs
export RADDLE_CC=${CC:-cc}

if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "raddle cc" "this build has no library for programs under test"
    finish
fi

check "memory_reuse.c compiles" "$RADDLE" cc -std=gnu11 -g -O2 -Wall -Wextra -pthread "$programs/memory_reuse.c" -o memory_reuse
for name in maps remaps allocates starts; do
    try explore --runs 30 --clock quiet ./memory_reuse "$name"
    status 0 "$name: memory that another thread had is no race"
done
try explore --runs 30 --clock quiet ./memory_reuse race
has out "data race@" "memory of mmap: a race in it is found"

check "memory_freed.c compiles" "$RADDLE" cc -std=gnu11 -g -O2 -Wall -Wextra -pthread "$programs/memory_freed.c" -o memory_freed
freed() { # NAME IDENTITY WORDS: found, with who freed and who allocated; the fixed one is not
    rm -f -- *.json
    try explore --runs 30 --clock quiet ./memory_freed "$1"
    status 1 "$1"
    has out "$2: first in run" "$1: found"
    tr -s ' \n' '  ' <out >flat
    has flat "$3" "$1: the report names who freed it, who allocated it, and where"
    try replay memory_freed.min.raddle.json -- ./memory_freed "$1"
    status 0 "$1: replayed"
    try explore --runs 30 --clock quiet ./memory_freed "$1" fixed
    status 0 "$1 fixed"
}
line() {
    grep -n -F "$1" "$programs/memory_freed.c" | head -1 | cut -d: -f1
}
freed="in drop (memory_freed.c:$(line ' free(n);'))"
allocated="allocated by main in make (memory_freed.c:$(line ' malloc('))"
freed read "use after free@reads: read 2" "freed by main $freed, $allocated"
freed copy "use after free@copies: memcpy" "freed by main $freed, $allocated"
freed twice "double free@free" "freed by main $freed, $allocated"
freed kept "use after free@reads: read 2" "freed by drops $freed, $allocated"
try explore --runs 30 --clock quiet ./memory_freed again
status 0 "memory that main freed, and got again"

# A leak depends on what memory has: a search, which keeps more of its own than one run does, sees the same.
check "forgotten.c compiles" "$RADDLE" cc -std=gnu11 -g -O2 -Wall -Wextra -I"$src/include" "$programs/forgotten.c" "$library" -Wl,-rpath,"$build" -o forgotten
try explore --runs 30 --no-shrink ./forgotten
status 1 "a future that is forgotten"
step=$(sed -n 's/^FAILED: \(leak at step [0-9]*\): get waits for condition.*/\1/p' out)
check "is a leak before the program ends" [ -n "$step" ] && ! grep -q "end first" out
hasnt out "not the recorded run" "the run that is drawn is the one that was found"
try show forgotten.raddle.json -- ./forgotten
has out "✗ $step: get waits for condition" "and the one that is shown"
try explore --runs 30 ./forgotten fixed
status 0 "forgotten fixed"
finish
