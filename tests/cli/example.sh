#!/bin/sh
# examples/machine_hello.c compiles against the public headers and does what docs/machine.md says.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
build=${RADDLE_BUILD:-$(dirname "$RADDLE")}

sed -n '/^```c$/,/^```$/p' "$src/docs/machine.md" | grep -v '^```' >code
same code "$src/examples/machine_hello.c" "docs/machine.md shows the example as it is"
check "it compiles without a warning" \
    ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -I"$src/include" -c "$src/examples/machine_hello.c" -o hello.o

library=$build/libraddle-lab.so
if [ ! -f "$library" ] || nm -D "$library" | grep -qE '__(asan|tsan|ubsan|msan)_'; then
    echo "ok $((tap_count + 1)) - linked and run # SKIP no shared library without sanitizers"
    tap_count=$((tap_count + 1))
    finish
fi
check "it links with the library alone" \
    ${CC:-cc} hello.o "$library" -Wl,-rpath,"$build" -o hello
./hello >out 2>err
status=$?
status 0 "it runs"
silent "it"
sed -n '/^It prints:$/,/^Both/p' "$src/docs/machine.md" | sed -n '/^```$/,/^```$/p' | grep -v '^```' >printed
same out printed "it prints what docs/machine.md says"
finish
