#!/bin/sh
# aarch64.sh BUILD_DIR — the same digests on another architecture: cross-compiles tests/nightly/digests.c and the lab at -O0
# and -O3, runs it under qemu and compares with the run of BUILD_DIR's library.
# Takes 2 minutes.
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
# What libraddle-lab is made of; the models of L2 are aarch64_l2.sh's.
sources=$(sed -n '/"file": "\.\.\/src/{h;n;/"output": "libraddle\(-lab\)\?\.so/{g;s|.*"\.\./\(.*\)",|\1|p}}' \
    "$build/compile_commands.json" | sort -u)
# Headers that are the same for all architectures; nothing else of the host's.
mkdir "$work/include"
for header in xxhash.h xxh3.h jansson.h zstd.h zstd_errors.h; do
    [ ! -f "/usr/include/$header" ] || cp "/usr/include/$header" "$work/include/"
done
cp "$libraries"/../../include/aarch64-linux-gnu/jansson_config.h "$work/include/" 2>/dev/null ||
    cp /usr/include/jansson_config.h "$work/include/"
gcc -std=gnu11 -O2 -Iinclude -Isrc -I"$build" tests/nightly/digests.c "$build/libraddle-lab.a" -o "$work/native" \
    -ljansson -lzstd -lm -lpthread -ldl
"$work/native" >"$work/native.txt"
for level in 0 3; do
    mkdir "$work/$level"
    # shellcheck disable=SC2016,SC2086 # expanded by the shell inside; a list of words
    printf '%s\n' tests/nightly/digests.c $sources | xargs -P 2 -I{} sh -c '
        aarch64-linux-gnu-gcc -std=gnu11 -O$1 -Iinclude -Isrc -I"$2" -I"$3/include" -c "$4" \
            -o "$3/$1/$(echo "$4" | tr / _).o"' compile "$level" "$build" "$work" {}
    aarch64-linux-gnu-gcc -static "$work/$level"/*.o -o "$work/arm$level" "$libraries/libjansson.a" "$libraries/libzstd.a" \
        -lm -lpthread
    qemu-aarch64 "$work/arm$level" >"$work/arm$level.txt"
done
for other in arm0 arm3; do
    cmp "$work/native.txt" "$work/$other.txt" || {
        diff "$work/native.txt" "$work/$other.txt" | head
        exit 1
    }
done
echo "aarch64: $(grep -c . "$work/native.txt") digests equal on x86-64, and on aarch64 with -O0 and -O3"
