#!/bin/sh
# tests/kernels: every program compiles as a user would compile it; repaired, it ends well on 1, 2 and 4 workers; the bugs
# that docs/kernels.md says are there in every schedule show on threads, too; and `raddle explore` finds all of them.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

for path in "$src"/tests/kernels/*.c; do basename "$path" .c; done | sort >kernels
sed -n 's/^| `\([a-z0-9_]*\)` |.*/\1/p' "$src/docs/kernels.md" | sort >listed
same kernels listed "docs/kernels.md lists all kernels, and no other"
if [ ! -f "$library" ] || is_sanitized "$library"; then
    skip "the kernels" "no shared library without sanitizers"
    finish
fi

while read -r name; do
    # shellcheck disable=SC2086 # CC may have words
    takes kernels "$name" ||
        compiles "$name.c compiles" "$library" ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror "$src/tests/kernels/$name.c" -o "$name"
done <kernels

while read -r name; do
    for workers in 1 2 4; do
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

if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ]; then
    skip "exploring them" "this build has no library for programs under test"
    finish
fi
"$src/bench/scoreboard_kernels.sh" "$build" --tiny --programs . --json kernels.json >out 2>err
status=$?
status 0 "every bug is found and replayed, no repaired program reports"
check "they are the rows of docs/scoreboard.md" "$src/tools/write_scoreboard.sh" --check out
while read -r name; do
    grep -qE "\"name\": \"$name\", \"found\": true.* \"twin_reports\": 0," kernels.json
    report $? "$name: found, and silent when repaired" err
done <kernels
finish
