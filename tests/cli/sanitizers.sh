#!/bin/bash
# Sanitizers in a user's program, against the installed libraries, with gcc and with clang, whichever compiled the library.
# The thread sanitizer and libraddle-tsan: what a call of raddle.h orders is not reported, a race is. The address sanitizer and
# libraddle: what is correct is not reported, mistakes in fibers are.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${RADDLE_BUILD:-$(dirname "$RADDLE")}
if [ ! -f "$build/libraddle-tsan.a" ]; then
    echo "1..0 # SKIP this build has no libraddle-tsan"
    exit 0
fi

check "it installs" meson install -C "$build" --no-rebuild --destdir "$PWD/dest"
folder=$(dirname "$(find dest -name raddle-tsan.pc | head -n 1)")
export PKG_CONFIG_PATH=$PWD/$folder
prefix=$PWD/dest$(pkg-config --variable=prefix raddle-tsan)
package() { # ARGS: what an installed file says, with the folder that things were installed to
    pkg-config "--define-variable=prefix=$prefix" "$@"
}
package --cflags --libs raddle-tsan >flags
has flags -fsanitize=thread "its pkg-config file asks for the sanitizer"
libraries=$(package --variable=libdir raddle-tsan)
nm "$libraries/libraddle-tsan.a" >names 2>/dev/null
has names "U __tsan_switch_to_fiber" "the library tells the sanitizer of switches"
check "and brings no runtime of it" bash -c '! grep -E " [TD] __tsan_" names'

able() { # COMPILER KIND: a program with that sanitizer runs here
    echo 'int main(void) { return 0; }' | "$1" "-fsanitize=$2" -x c - -o probe 2>err && ./probe && return
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP it has no $2 sanitizer that works here"
    return 1
}
run() { # SCENE
    "./user" "$1" >out 2>err
    status=$?
}
clean() { # COMPILER: all scenes without a mistake
    for scene in $(./user | grep -vE '^(race|memory)'); do
        run "$scene"
        status 0 "$1: $scene ends well"
        silent "$1: $scene"
    done
}
source=$src/tests/support/sanitized_user.c
# shellcheck disable=SC2046 # lists of words
for compiler in gcc clang; do
    able "$compiler" thread || continue
    check "a program compiles with $compiler" "$compiler" -g -O1 -Wall -Wextra -Werror \
        $(package --cflags raddle-tsan) "$source" $(package --libs raddle-tsan) -o user
    clean "$compiler, thread"
    for scene in $(./user | grep '^race'); do
        run "$scene"
        has err "WARNING: ThreadSanitizer: data race" "$compiler: $scene is reported"
    done
done
# shellcheck disable=SC2046
for compiler in gcc clang; do
    able "$compiler" address || continue
    check "and with the address sanitizer" "$compiler" -g -O1 -fsanitize=address -Wall -Wextra -Werror \
        $(package --cflags raddle) "$source" "$libraries/libraddle.a" -pthread -o user
    clean "$compiler, address"
    run memory-freed
    has err "AddressSanitizer: heap-use-after-free" "$compiler: memory used after free"
    run memory-stack
    has err "AddressSanitizer: stack-buffer-overflow" "$compiler: an array on a fiber's stack overflows"
    export ASAN_OPTIONS=fast_unwind_on_malloc=0 # as docs/fibers.md says
    run memory-lost
    has err "1000 byte(s) leaked in 1 allocation(s)" "$compiler: a leak"
    unset ASAN_OPTIONS
done
finish
