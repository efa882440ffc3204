#!/bin/sh
# aarch64.sh — the same digests on another architecture: cross-compiles tests/nightly/digests.c, runs it
# under qemu and compares with the native run, at -O0 and -O3.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "aarch64: $tool is missing: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2
        exit 2
    }
done
sources="tests/nightly/digests.c src/base/*.c src/os/*.c src/core/*.c src/lab/rig.c src/lab/machines.c src/lab/l2/none.c src/lab/toys/*.c"
# xxhash is a header; give the cross compiler that one header and nothing else of the host's.
mkdir "$work/include"
cp /usr/include/xxhash.h "$work/include/"
[ ! -f /usr/include/xxh3.h ] || cp /usr/include/xxh3.h "$work/include/"
for level in 0 3; do
    # shellcheck disable=SC2086
    gcc -std=gnu11 -O$level -Iinclude -Isrc $sources -o "$work/native$level"
    # shellcheck disable=SC2086
    aarch64-linux-gnu-gcc -std=gnu11 -O$level -static -Iinclude -Isrc -I"$work/include" $sources \
        -o "$work/arm$level"
    "$work/native$level" >"$work/native$level.txt"
    qemu-aarch64 "$work/arm$level" >"$work/arm$level.txt"
done
for other in native3 arm0 arm3; do
    cmp "$work/native0.txt" "$work/$other.txt" || {
        diff "$work/native0.txt" "$work/$other.txt" | head
        exit 1
    }
done
echo "aarch64: $(grep -c . "$work/native0.txt") digests equal on x86-64 and aarch64, -O0 and -O3"
