#!/bin/sh
# aarch64_l2.sh — production code one memory operation at a time, on another architecture: cross-compiles exec and the
# models with the compiler's calls, links them as the build does, and runs every model under qemu. The same with
# the fallback of the context switch, and that one here, without thread pointers to borrow.
# Takes 2 minutes.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cross=aarch64-linux-gnu
for tool in $cross-gcc $cross-ld $cross-objcopy $cross-nm $cross-addr2line $cross-ar qemu-aarch64 gcc; do
    command -v "$tool" >/dev/null || {
        echo "aarch64_l2: $tool is missing: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2
        exit 2
    }
done
mkdir "$work/include"
cp /usr/include/xxhash.h "$work/include/"
[ ! -f /usr/include/xxh3.h ] || cp /usr/include/xxh3.h "$work/include/"
flags="-std=gnu11 -Iinclude -Isrc -I$work/include -fvisibility=hidden"
on_trial=$(sed -n '/^rt_trial_sources/,/^)/s|^ *.\(.*\.c\).,$|src/rt/\1|p' src/rt/meson.build)
sources="tests/nightly/l2.c src/base/*.c src/os/*.c src/core/*.c src/lab/l2/*.c"
gcc -O1 tools/l2_sites.c -o "$work/sites"
# Loader and C library of the cross compiler: with the loader of one version and the library of another, which libc6:arm64
# brings, the first thread that is created loops for ever. The emulator leaves other signals to the program.
emulate="timeout -s KILL 180 qemu-aarch64 -L /usr/$cross -E LD_LIBRARY_PATH=/usr/$cross/lib"

build() { # NAME PREFIX FLAGS: contexts are of one kind on both sides
    mkdir "$work/$1.objects"
    for file in $(ls src/exec/*.c src/exec/thread/*.c | grep -v 'thread/thread\.c') $on_trial src/base/alloc.c src/os/lock.c tests/models/*.c; do
        # shellcheck disable=SC2086
        $2gcc $flags $3 -O1 -g -fPIC -fsanitize=thread -fno-builtin -fno-inline -fno-optimize-sibling-calls \
            -fno-reorder-functions -Wno-tsan -DRAD_DEQUE_FIRST_SIZE=2 -DRAD_WHEEL_BUDGET=1 -DRAD_CONTEXT_CALL \
            -c "$file" -o "$work/$1.objects/$(echo "$file" | tr / _).o"
    done
    $2ar rcs "$work/$1.a" "$work/$1.objects"/*.o
    tools/l2_link.sh "$2ld" "$2objcopy" "$2nm" "$2addr2line" "$work/sites" "$work/$1.a" "$work/$1.o" "$work/$1.c"
    # shellcheck disable=SC2086
    $2gcc $flags $3 -O2 $sources "$work/$1.c" "$work/$1.o" -o "$work/$1" -lm -lpthread
    run=$emulate
    [ -n "$2" ] || run=""
    $run "$work/$1" >"$work/$1.said" || { cat "$work/$1.said"; exit 1; }
}

build arm $cross- ""
grep -q '^context switch: aarch64$' "$work/arm.said"
build fallback $cross- -DRAD_CONTEXT_UCONTEXT
grep -q '^context switch: ucontext$' "$work/fallback.said"
build fixed "" "-DRAD_CONTEXT_UCONTEXT -DRAD_THREAD_POINTER_FIXED"
grep -q '^refused: l2-chan needs' "$work/fixed.said"
echo "aarch64_l2: $(grep -c repaired "$work/arm.said") models run on aarch64, $(grep -c repaired "$work/fallback.said") with ucontext,"\
    "$(grep -c refused "$work/fixed.said") refused without thread pointers; $(tail -n 1 "$work/arm.said")"
