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
build=$(cd "${1:-build}" && pwd) # for raddle_build.h
libraries=/usr/lib/aarch64-linux-gnu
[ -f "$libraries/libjansson.a" ] || {
    echo "aarch64: libjansson for arm64 is missing: dpkg --add-architecture arm64, apt-get update, apt-get install" \
        "libjansson-dev:arm64 libzstd-dev:arm64" >&2
    exit 2
}
sources="tests/nightly/digests.c src/base/*.c src/os/*.c src/core/*.c src/exec/*.c src/lab/*.c src/lab/l2/none.c
    src/lab/toys/*.c src/lab/executor/*.c"
# Headers that are the same for all architectures; nothing else of the host's.
mkdir "$work/include"
for header in xxhash.h xxh3.h jansson.h zstd.h zstd_errors.h; do
    [ ! -f "/usr/include/$header" ] || cp "/usr/include/$header" "$work/include/"
done
cp "$libraries"/../../include/aarch64-linux-gnu/jansson_config.h "$work/include/" 2>/dev/null ||
    cp /usr/include/jansson_config.h "$work/include/"
for level in 0 3; do
    # shellcheck disable=SC2086
    gcc -std=gnu11 -O$level -Iinclude -Isrc -I"$build" $sources -o "$work/native$level" -ljansson -lzstd -lm -lpthread
    # shellcheck disable=SC2086
    aarch64-linux-gnu-gcc -std=gnu11 -O$level -static -Iinclude -Isrc -I"$build" -I"$work/include" $sources \
        -o "$work/arm$level" "$libraries/libjansson.a" "$libraries/libzstd.a" -lm -lpthread
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
