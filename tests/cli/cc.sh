#!/bin/bash
# `raddle cc`: programs whose accesses to memory are seen. tests/programs/memory.c has a bug under each name, and the fixed
# version of it.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
programs=$src/tests/programs
export RADDLE_CC=${CC:-cc} RADDLE_CXX=${CXX:-c++}

if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "raddle cc" "this build has no library for programs under test"
    finish
fi

finds() { # PROGRAM NAME IDENTITY: found, and replayed; the fixed version is silent
    try explore --runs 300 "./$1" "$2"
    status 1 "explore ./$1 $2"
    silent "explore ./$1 $2"
    has out "$3: first in run" "$2: $3"
    local file
    file=$(grep -l -F "\"$3\"" "$1"*.min.raddle.json | head -1)
    try replay "$file" -- "./$1" "$2"
    status 0 "$2: replay in another process, as recorded"
    rm -f -- *.json
    try explore --runs 300 "./$1" "$2" fixed
    status 0 "explore ./$1 $2 fixed"
    has out "nothing found in" "$2 fixed: silent"
    has out "under sequential consistency, code that raddle cc has not built was not interrupted halfway" "$2 fixed: says what was not tried"
    has out "equal in a fresh process" "$2 fixed: many runs in one process, audited"
}

# ---- Atomics are points, plain accesses are looked at ------------------------------------------------------------
check "memory.c compiles" "$RADDLE" cc -std=gnu11 -g -O2 -Wall -Wextra -pthread "$programs/memory.c" -o memory
check "by itself it runs as usual" ./memory aba fixed
finds memory dekker "assertion@atomic_fetch_add(&inside, 1) == 0 in enter"
finds memory aba "assertion@atomic_fetch_add(&nodes[place].taken, 1) == 0 in take"
finds memory publish "data race@reads: read / writes: write"
finds memory spin "data race@adds: read / adds: write 2"

finds memory freed "use after free@looks: read 2"
finds memory twice "double free@free"
try explore --runs 300 ./memory again
status 0 "memory that is used again by another thread: no race"

# What comes of a race needs decisions between plain accesses: those that raced are points of a second search.
finds memory lost "assertion@counter == 2 in lost"
try explore --runs 300 ./memory lost
has out ": counter: count 0 writes at count: write (memory.c:" "a race is told with the variable, who, and where"
has out "count 1 writes at" "and the other one"
has out "read memory counter" "the steps of the diagram have the variable"
cp out first
try explore -j 2 --runs 300 ./memory lost
grep -v "^  runs \|^  in process" first >one
grep -v "^  runs \|^  in process" out >two
same one two "the same with two processes"
rm -f -- *.json
try explore --runs 300 --races fatal ./memory publish
status 1 "--races fatal"
has out "data race@reads: read / writes: write: first in run" "--races fatal: found"
echo "race:writes" >known
try explore --runs 50 --suppress known ./memory publish
status 0 "--suppress"
has out "suppressed" "--suppress: counted"
echo "race:mem*ry" >known
try explore --runs 50 --suppress known ./memory publish
status 0 "--suppress with the name of the program"
rm -f -- *.json
echo "race:bumps" >known
try explore --runs 2000 --clock quiet --suppress known ./memory crossed
status 1 "a deadlock behind a race that is suppressed"
has out "deadlock:forward+mutex: first in run" "the deadlock"
hasnt out "data race@" "the race is not told, by shrinking neither"
check "one failure" [ ! -e memory-2.raddle.json ]

# ---- Fibers ---------------------------------------------------------------------------------------------------------
compiles "memory_fibers.c compiles" "$library" "$RADDLE" cc -std=gnu11 -g -O2 "$programs/memory_fibers.c" -o memory_fibers
finds memory_fibers counter exit@1
try explore --runs 100 ./memory_fibers stacks
status 0 "fibers on the stacks of others: no race"
compiles "memory_order.c compiles" "$library" "$RADDLE" cc -std=gnu11 -g -O1 "$programs/memory_order.c" -o memory_order
for kept in mutex time rwlock semaphore condition channel select barrier; do
    try explore --runs 600 --clock quiet ./memory_order $kept
    status 0 "three fibers that come twice, one after the other by $kept: no race"
done
try explore --runs 30 --no-shrink ./memory_order bare
status 1 "by nothing: a race"

# ---- Compilers -----------------------------------------------------------------------------------------------------
try cc -fsanitize=address -c "$programs/memory.c"
status 2 "not with the address sanitizer"
has err "-fsanitize=address" "which is named"
RADDLE_CC=$PWD/nothing try cc -c "$programs/memory.c"
status 3 "a compiler that is not there"
has err "nothing" "is named"
if [ "$(basename "$RADDLE_CC")" != clang ] && command -v clang >/dev/null; then
    RADDLE_CC=clang check "clang compiles it" "$RADDLE" cc -std=gnu11 -g -O2 -pthread "$programs/memory.c" -o memory_clang
    try explore --runs 300 ./memory_clang lost
    has out "assertion@counter == 2 in lost: first in run" "clang: found"
fi
check "without optimisation" "$RADDLE" cc -std=gnu11 -g -O0 -pthread "$programs/memory.c" -o memory_plain
try explore --runs 300 ./memory_plain aba fixed
status 0 "-O0: aba fixed"

# ---- Parts, shared objects, link time optimisation ------------------------------------------------------------------
check "an object that was compiled before" "$RADDLE" cc -std=gnu11 -g -O2 -flto -c "$programs/memory.c" -o memory.o
check "is linked" "$RADDLE" cc -flto -pthread memory.o -o memory_lto
try explore --runs 300 ./memory_lto lost
has out "assertion@counter == 2 in lost: first in run" "-flto: found"
cat >library.c <<'END'
static int counter;
int count(void);
int count(void)
{
    return ++counter;
}
END
cat >user.c <<'END'
#include <pthread.h>
int count(void);
static void *counts(void *unused)
{
    count();
    return unused;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, counts, 0);
    pthread_create(&b, 0, counts, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
END
check "a shared object" "$RADDLE" cc -g -O2 -fPIC -shared library.c -o libcounts.so
check "and a program that uses it" "$RADDLE" cc -g -O2 -pthread user.c -L. -lcounts -Wl,-rpath,"$PWD" -o user
try explore --runs 50 ./user
has out "data race@count: write / count: write: first in run" "a race in a shared object"
has out "library.c:" "with its lines"
$RADDLE_CC -g -O2 -c user.c -o plain.o
check "objects of another compiler" "$RADDLE" cc -pthread plain.o -L. -lcounts -Wl,-rpath,"$PWD" -o user
try explore --runs 20 ./user
has out "the program: linked by raddle cc, but no access to memory is watched" "without a watched access: it says so"
cat >Makefile <<'END'
memory: memory.o
	$(CC) $(CFLAGS) memory.o -o $@
END
cp "$programs/memory.c" made.c
check "make CC='raddle cc'" make -s CC="$RADDLE cc" CFLAGS="-g -O2 -pthread" made
try explore --runs 50 ./made publish
has out "data race@" "make: found"
finish
