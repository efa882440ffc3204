#!/bin/sh
# The executor as a user gets it: examples, header in C and in C++, documents, what is installed.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

runs() { # NAME OUTPUT
    "$build/examples/$1" >out 2>err
    status=$?
    status 0 "examples/$1 runs"
    silent "examples/$1"
    is out "$2" "examples/$1 prints what it should"
}
runs fork_join "1000000 numbers sorted, 0 out of order"
runs pipeline "100000 numbers, 10753840 steps; 77031 takes most, 350"

for example in fork_join pipeline; do
    check "examples/$example.c compiles without a warning" \
        ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -I"$src/include" -c "$src/examples/$example.c" -o $example.o
done
if is_sanitized "$library"; then
    skip "linked with the shared library" "it has sanitizers in it"
else
    compiles "it links with the shared library alone" "$library" ${CC:-cc} pipeline.o -o pipeline
    check "and runs" ./pipeline
fi

cat >header.cc <<'END'
#include <raddle.h>
struct hello { rad_task task; int seen; };
static rad_run hello_run(rad_task *task, rad_worker *w)
{
    rad_group group = RAD_GROUP_INIT(w);
    reinterpret_cast<hello *>(task)->seen = 1;
    return rad_group_wait(w, &group) ? RAD_RUN_DONE : RAD_RUN_FAILED;
}
int main()
{
    rad_exec *exec;
    hello h{};
    h.task.run = hello_run;
    if (rad_exec_create(&exec, nullptr, nullptr) != 0 || !rad_exec_spawn(exec, &h.task)) return 1;
    rad_exec_destroy(exec);
    return h.seen != 1;
}
END
if ! command -v c++ >/dev/null || is_sanitized "$library"; then
    skip "raddle.h from C++" "no C++ compiler, or sanitizers"
else
    compiles "raddle.h is C++, too" "$library" c++ -std=c++11 -Wall -Wextra -Werror header.cc -o header
    check "a C++ program runs tasks" ./header
fi

# The first example of the chapter and of the header is compiled; calls of the chapter exist.
sed -n '/^```c$/,/^```$/p' "$src/docs/executor.md" | sed '/^```$/q' | grep -v '^```' >chapter.c
check "the example of docs/executor.md compiles" \
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-function -I"$src/include" -c chapter.c -o chapter.o
grep -oE '\brad_(exec|worker|group)_[a-z_]+' "$src/docs/executor.md" | sort -u >named
while read -r name; do
    has "$src/include/raddle/exec.h" "$name" "docs/executor.md: $name exists"
done <named
grep -oE '\]\([A-Za-z/._-]+\)' "$src/docs/executor.md" | sed 's/](\(.*\))/\1/' >links
while read -r link; do
    check "docs/executor.md: $link exists" [ -e "$src/docs/$link" ]
done <links
check "there is a pkg-config file" [ -f "$build/meson-private/raddle.pc" ]
hasnt "$build/meson-private/raddle.pc" "Requires" "which requires nothing"
finish
