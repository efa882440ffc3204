#!/bin/sh
# examples/machine_hello.c compiles against the public headers and does what docs/write-a-machine.md says.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

sed -n '/^```c$/,/^```$/p' "$src/docs/write-a-machine.md" | grep -v '^```' >code
same code "$src/examples/machine_hello.c" "docs/write-a-machine.md shows the example as it is"
check "it compiles without a warning" \
    ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -I"$src/include" -c "$src/examples/machine_hello.c" -o hello.o

library=$build/libraddle-lab.so
if [ ! -f "$library" ] || is_sanitized "$library"; then
    skip "linked and run" "no shared library without sanitizers"
    finish
fi
compiles "it links with the library alone" "$library" ${CC:-cc} hello.o -o hello
./hello >out 2>err
status=$?
status 0 "it runs"
silent "it"
sed -n '/^It prints:$/,/^Both/p' "$src/docs/write-a-machine.md" | sed -n '/^```$/,/^```$/p' | grep -v '^```' >printed
same out printed "it prints what docs/write-a-machine.md says"
finish
