#!/bin/sh
# C++ exceptions across parking: fibers that wait inside a catch, in nested ones, and in destructors during unwinding,
# and go on on other threads. With every C++ compiler and C++ library there is, shared and static; in plug-ins that a C
# program loads. And that a C program gets nothing of C++.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

if is_sanitized "$library"; then
    skip "C++ exceptions" "the library has sanitizers in it"
    finish
fi

# ---- What runs in fibers: returns 0, or the line of what was wrong

cat >work.h <<'END'
#include <raddle.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPECT(x) do { if (!(x)) return __LINE__; } while (0)

static std::atomic<int> moved; /* resumed on another thread */

static long thread_number()
{
    return syscall(SYS_gettid);
}

/* Waits, in one of the ways there are. */
static __attribute__((noinline)) void park(int n)
{
    long before = thread_number();
    if (n % 3 == 0) rad_sleep(20000 + n % 7 * 10000);
    else for (int i = 0; i <= n % 3; i++) rad_yield();
    if (thread_number() != before) moved++;
}

struct parks_when_destroyed {
    int n, *uncaught;
    ~parks_when_destroyed()
    {
        park(n);
        *uncaught = std::uncaught_exceptions();
        park(n + 1);
    }
};

static int rethrows(int n)
{
    std::string text = "number " + std::to_string(n);
    try {
        try {
            throw std::runtime_error(text);
        } catch (const std::runtime_error &) {
            park(n);
            throw;
        }
    } catch (const std::exception &e) {
        park(n + 1);
        EXPECT(e.what() == text);
        EXPECT(std::current_exception() != nullptr);
    }
    EXPECT(std::current_exception() == nullptr && std::uncaught_exceptions() == 0);
    return 0;
}

static int nests(int n, int depth)
{
    try {
        throw n * 100 + depth;
    } catch (int value) {
        park(n + depth);
        EXPECT(value == n * 100 + depth);
        if (depth > 0) {
            int line = nests(n, depth - 1);
            if (line != 0) return line;
        }
        park(n);
        try {
            throw;
        } catch (int again) {
            EXPECT(again == n * 100 + depth);
            park(n + 2);
        }
    }
    return 0;
}

static int unwinds(int n)
{
    int uncaught = -1, inner = -1;
    try {
        parks_when_destroyed guard{n, &uncaught};
        try {
            parks_when_destroyed other{n + 1, &inner};
            throw n;
        } catch (int) {
            park(n);
            throw;
        }
    } catch (int value) {
        EXPECT(value == n && uncaught == 1 && inner == 1);
        EXPECT(std::uncaught_exceptions() == 0);
    }
    return 0;
}

static int keeps(int n)
{
    std::exception_ptr kept;
    try {
        throw std::logic_error(std::to_string(n));
    } catch (...) {
        kept = std::current_exception();
        park(n);
    }
    park(n + 1);
    try {
        std::rethrow_exception(kept);
    } catch (const std::logic_error &e) {
        park(n);
        EXPECT(e.what() == std::to_string(n));
    }
    return 0;
}

static int sees_nothing(int n)
{
    for (int i = 0; i < 8; i++) {
        EXPECT(std::current_exception() == nullptr && std::uncaught_exceptions() == 0);
        park(n + i);
    }
    return 0;
}

extern "C" int work(void *arg)
{
    int n = (int)(long)arg;
    for (int round = 0; round < 20; round++) {
        int line = n % 5 == 0 ? rethrows(n) : n % 5 == 1 ? nests(n, 3) : n % 5 == 2 ? unwinds(n) : n % 5 == 3 ? keeps(n)
                                                                                                  : sees_nothing(n);
        if (line != 0) return line;
    }
    return 0;
}
END

cat >program.cc <<'END'
#include "work.h"

#include <cstdio>

static int start(void *)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (long i = 0; i < 200; i++)
        if (rad_nursery_spawn(&n, nullptr, work, (void *)i) != 0) return 1;
    int line = rad_nursery_wait(&n);
    if (line != 0) std::printf("line %d\n", line);
    return line != 0;
}

int main()
{
    rad_options four{};
    four.workers = 4;
    int code = 0;
    for (int i = 0; i < 20 && code == 0 && (i == 0 || moved == 0); i++) code = rad_main(&four, start, nullptr, nullptr);
    if (code == 0) std::puts(moved > 0 ? "good" : "no fiber moved");
    return code;
}
END

runs() { # NAME LIBRARY WORDS...: linked so, the program prints that all is well
    name=$1
    shift
    compiles "$name: is linked" "$@"
    ./program >out 2>err
    status=$?
    status 0 "$name: runs"
    is out good "$name: exceptions went with their fibers, and some moved to other threads"
}

found=0
for cxx in g++ clang++; do
    if ! command -v $cxx >/dev/null; then
        skip "$cxx" "it is not installed"
        continue
    fi
    found=1
    check "$cxx: compiles" $cxx -std=c++17 -O2 -Wall -Werror -I"$src/include" -c program.cc -o program.o
    runs "$cxx, shared library" "$library" $cxx program.o -pthread -o program
    runs "$cxx, static library" "$build/libraddle.a" $cxx program.o -pthread -o program
    runs "$cxx, static program" "$build/libraddle.a" $cxx program.o -pthread -o program -static
done
echo 'int main() {}' >empty.cc
if command -v clang++ >/dev/null && clang++ -stdlib=libc++ empty.cc -o empty 2>/dev/null; then
    check "libc++: compiles" clang++ -std=c++17 -O2 -stdlib=libc++ -I"$src/include" -c program.cc -o program.o
    runs "libc++, shared library" "$library" clang++ -stdlib=libc++ program.o -pthread -o program
    runs "libc++, static library" "$build/libraddle.a" clang++ -stdlib=libc++ program.o -pthread -o program
else
    skip "libc++" "clang++ or libc++-dev is not installed"
fi

# ---- A C program that loads C++: before it creates a runtime, or in a fiber

cat >loads.c <<'END'
#include <dlfcn.h>
#include <raddle.h>
#include <stdio.h>
#include <string.h>
static int (*work)(void *arg);
static int load(void)
{
    void *handle = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "work") : NULL;
    memcpy(&work, &symbol, sizeof work);
    return symbol == NULL;
}
static int start(void *late)
{
    rad_nursery n;
    if (late) {
        if (rad_cxx_loaded()) return 2;
        if (load() != 0) return 3;
        if (!rad_cxx_loaded()) return 4;
    }
    rad_nursery_open(&n, RAD_FOREVER);
    for (long i = 0; i < 200; i++)
        if (rad_nursery_spawn(&n, NULL, work, (void *)i) != 0) return 1;
    return rad_nursery_wait(&n) != 0 ? 5 : 0;
}
int main(int argc, char **argv)
{
    rad_options four = {.workers = 4};
    (void)argv;
    if (argc == 1 && load() != 0) return 6;
    int code = rad_main(&four, start, argc > 1 ? &four : NULL, NULL);
    puts(code == 0 ? "good" : "bad");
    return code;
}
END
if [ $found = 1 ]; then
    cxx=g++
    command -v g++ >/dev/null || cxx=clang++
    check "a plug-in compiles" $cxx -std=c++17 -O2 -fPIC -shared -I"$src/include" -x c++ work.h -o plugin.so
    compiles "a C program that loads it compiles" "$library" ${CC:-cc} -O2 -rdynamic loads.c -o loads
    for late in "" late; do
        # shellcheck disable=SC2086 # no word, or one
        ./loads $late >out 2>err
        status=$?
        status 0 "exceptions of a plug-in loaded ${late:-early}"
        is out good "and all is well"
    done
else
    skip "plug-ins" "there is no C++ compiler"
fi

# ---- A C program without C++

cat >plain.c <<'END'
#include <raddle.h>
static int start(void *x)
{
    (void)x;
    rad_yield();
    return rad_cxx_loaded();
}
int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
END
check "the shared library needs no C++" sh -c "! ldd $library | grep -E 'libstdc|libc\+\+|libgcc_s'"
compiles "a C program compiles" "$library" ${CC:-cc} -O2 plain.c -o plain
check "it runs, and has no C++ in it" ./plain
${CC:-cc} -O2 -static -I"$src/include" plain.c "$build/libraddle.a" -pthread -o plain >out 2>err
status=$?
if [ $status != 0 ] && ! ${CC:-cc} -static -x c /dev/null -c -o /dev/null 2>/dev/null; then
    skip "a static C program" "there is no static C library"
else
    status 0 "a static C program links"
    silent "the linker has nothing to say"
    check "it runs" ./plain
    check "it has nothing of C++ in it" sh -c "! nm plain | grep -E ' [TtWVi] (__cxa_throw|__cxa_get_globals|__gxx)'"
fi
finish
