#!/bin/bash
# aarch64_rt.sh [BUILD_DIR] — the unit tests of fibers and of the context switch on another architecture, under qemu; and
# here, with the fallback of the context switch. Tests that an emulator cannot do are named, with the reason.
# Takes 5 minutes.
set -eu
cd "$(dirname "$0")/../.."
build=$(cd "${1:-build}" && pwd) # for raddle_build.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cross=aarch64-linux-gnu
libraries=/usr/lib/$cross
for tool in $cross-gcc $cross-ar qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "aarch64_rt: $tool is missing: tools/setup.sh nightly" >&2
        exit 2
    }
done
for library in libjansson.a libzstd.a libcmocka.so.0; do
    [ -f "$libraries/$library" ] || {
        echo "aarch64_rt: $library for arm64 is missing: tools/setup.sh nightly" >&2
        exit 2
    }
done

# Headers that are the same for all architectures; nothing else of the host's.
mkdir "$work/include" "$work/lib"
for header in xxhash.h xxh3.h jansson.h zstd.h zstd_errors.h cmocka.h; do
    [ ! -f "/usr/include/$header" ] || cp "/usr/include/$header" "$work/include/"
done
cp "$libraries"/../../include/$cross/jansson_config.h "$work/include/" 2>/dev/null ||
    cp /usr/include/jansson_config.h "$work/include/"
cp "$libraries/libcmocka.so.0" "$work/lib/"
# Loader and C library of the cross compiler: see aarch64_l2.sh.
emulate="qemu-aarch64 -L /usr/$cross -E LD_LIBRARY_PATH=/usr/$cross/lib:$work/lib"
sources="src/base/*.c src/base/toml/*.c src/os/*.c src/core/*.c src/exec/*.c src/exec/thread/*.c src/rt/*.c src/lab/*.c src/lab/machines/toys/*.c
    src/lab/machines/executor/*.c tests/unit/support/storm_support.c tests/unit/support/sync_support.c tests/unit/support/folder_support.c"
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C

compile() { # NAME PREFIX FLAGS SOURCES...: an archive
    local name=$1 prefix=$2
    mkdir "$work/$name"
    flags="-std=gnu11 -O2 -g -fvisibility=hidden -Iinclude -Isrc -Itests/unit/support -I$build $3"
    shift 3
    # shellcheck disable=SC2016
    printf '%s\n' "$@" | xargs -P 2 -I{} sh -c '"$1" $2 -c "$3" -o "$4/$(echo "$3" | tr / _).o"' compile \
        "${prefix}gcc" "$flags" {} "$work/$name"
    "${prefix}ar" rcs "$work/$name.a" "$work/$name"/*.o
}

run() { # NAME TEST COMMAND...: counts what TAP says
    local name=$1 test=$2 status=0
    shift 2
    mkdir -p "$work/$name.run"
    (cd "$work/$name.run" && exec "$build/tests/cpu_limit" 120 "$work/used" "$@") >"$work/out" 2>"$work/err" </dev/null || status=$?
    awk -v on="$name" '/^# left out: /     { sub(/^# /, ""); print on ": " $0; said[substr($3, 1, length($3) - 1)] = 1 }
                       /^not ok.*# SKIP / { sub(/.*# SKIP /, ""); if (!($0 in said)) print on ": skips itself: " $0 }' \
        "$work/out"
    if [ $status -ne 0 ] || grep '^not ok' "$work/out" | grep -qv '# SKIP'; then
        echo "aarch64_rt: $name: $test failed with status $status:"
        cat "$work/out" "$work/err"
        failed="$failed $name:$test"
    fi
    echo "$test $(grep -c '^ok' "$work/out")" >>"$work/$name.passed"
}

failed=
tests="tests/unit/os/test_context.c tests/unit/rt/test_*.c"
# shellcheck disable=SC2086
compile arm $cross- "-I$work/include" $sources tests/nightly/emulated.c
for test in $tests; do
    name=$(basename "$test" .c)
    # shellcheck disable=SC2086
    $cross-gcc $flags "$test" "$work/arm.a" -rdynamic -o "$work/$name" -Wl,--wrap=_cmocka_run_group_tests \
        "$libraries/libjansson.a" "$libraries/libzstd.a" "$libraries/libcmocka.so.0" -lm -lpthread
    # shellcheck disable=SC2086
    run aarch64 "$name" $emulate "$work/$name"
done

# shellcheck disable=SC2086
compile ucontext "" -DRAD_CONTEXT_UCONTEXT $sources
for test in $tests; do
    name=$(basename "$test" .c)
    # shellcheck disable=SC2086
    gcc $flags "$test" "$work/ucontext.a" -rdynamic -o "$work/$name" -lcmocka -ljansson -lzstd -lm -lpthread
    run ucontext "$name" "$work/$name"
done
if [ -n "$failed" ]; then
    echo "aarch64_rt: failed:$failed"
    exit 1
fi
total() { awk '{ sum += $2 } END { print sum " tests in " NR " programs" }' "$work/$1.passed"; }
echo "aarch64_rt: passed: $(total aarch64) on aarch64, $(total ucontext) here with ucontext"
