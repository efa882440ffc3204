#!/bin/sh
# aarch64_l2.sh — production code one memory operation at a time, on another architecture: cross-compiles exec and the
# models with the compiler's calls, links them as the build does, and runs every model under qemu. The same with
# the fallback of the context switch.
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
for file in $(ls src/exec/*.c | grep -v '/shell\.c') src/rt/*.c src/base/alloc.c src/lab/l2/models/*.c; do
    # shellcheck disable=SC2086
    $cross-gcc $flags -O1 -g -fPIC -fsanitize=thread -fno-builtin -fno-inline -fno-optimize-sibling-calls -fno-reorder-functions \
        -Wno-tsan -DRAD_DEQUE_FIRST_SIZE=2 -c "$file" -o "$work/$(echo "$file" | tr / _).o"
done
$cross-ar rcs "$work/all.a" "$work"/*.o
gcc -O1 tools/l2_sites.c -o "$work/sites"
tools/l2_link.sh $cross-ld $cross-objcopy $cross-nm $cross-addr2line "$work/sites" "$work/all.a" "$work/l2.o" "$work/table.c"
sources="tests/nightly/l2.c src/base/*.c src/os/*.c src/core/*.c src/lab/l2/atomic.c src/lab/l2/machine.c src/lab/l2/memory.c src/lab/l2/plain.c src/lab/l2/race.c
    src/lab/l2/sites.c src/lab/l2/threads.c"
# shellcheck disable=SC2086
$cross-gcc $flags -O2 $sources "$work/table.c" "$work/l2.o" -o "$work/arm" -lm -lpthread
qemu-aarch64 -L /usr/$cross "$work/arm" >"$work/said" || { cat "$work/said"; exit 1; }
grep -q '^context switch: aarch64$' "$work/said"
# shellcheck disable=SC2086
$cross-gcc $flags -O2 -DRAD_CONTEXT_UCONTEXT $sources "$work/table.c" "$work/l2.o" -o "$work/fallback" -lm -lpthread
qemu-aarch64 -L /usr/$cross "$work/fallback" >"$work/fell" || { cat "$work/fell"; exit 1; }
grep -q '^context switch: ucontext$' "$work/fell"
echo "aarch64_l2: $(grep -c repaired "$work/said") models run on aarch64, $(tail -n 1 "$work/said")"
