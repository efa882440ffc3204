#!/bin/sh
# tests/kernels: every program compiles as a user would compile it; repaired, it ends well on 1, 2 and 4 workers; and the
# bugs that docs/kernels.md says are there in every schedule show on threads, too.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

ls "$src"/tests/kernels/*.c | sed 's|.*/||; s|\.c$||' | sort >kernels
sed -n 's/^| `\([a-z0-9_]*\)` |.*/\1/p' "$src/docs/kernels.md" | sort >listed
same kernels listed "docs/kernels.md lists all kernels, and no other"
if [ ! -f "$library" ] || is_sanitized "$library"; then
    skip "the kernels" "no shared library without sanitizers"
    finish
fi

export src build library CC="${CC:-cc}"
# shellcheck disable=SC2016
xargs -P 2 -n 1 sh -c '$CC -std=gnu11 -g -Wall -Wextra -Werror -I"$src/include" "$src/tests/kernels/$0.c" "$library" \
    -Wl,-rpath,"$build" -o "$0" 2>"$0.log"' <kernels
while read -r name; do
    [ -x "$name" ]
    report $? "$name compiles" "$name.log"
done <kernels

while read -r name; do
    for workers in 1 2 4 2; do
        "./$name" fixed $workers >out 2>err
        status=$?
        [ $status = 0 ] || break
    done
    status 0 "$name, repaired, ends well"
done <kernels

sed -n 's/^| `\([a-z0-9_]*\)` |.*| always |$/\1/p' "$src/docs/kernels.md" >always
check "some bugs need no schedule" [ -s always ]
while read -r name; do
    ("./$name" 2) >out 2>err
    status=$?
    check "$name fails (status $status)" [ $status = 124 -o $status = 134 ]
    check "$name: the runtime says why" grep -q '^raddle: ' err
done <always
finish
