#!/bin/sh
# The documents say what the command does: its help, the first program and its diagram.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

check "docs/cli.md and docs/raddle.1 say what the help says" "$src/tools/write_docs.sh" --check "$RADDLE"
if command -v groff >/dev/null; then
    check "the man page is well-formed" sh -c '[ -z "$(groff -man -Tascii -ww -z "$1" 2>&1)" ]' - "$src/docs/raddle.1"
fi

# The program of the README, its commands, and the picture, which is what `show` draws today.
LC_ALL=C.UTF-8
export LC_ALL
front_door() {
    sed -n '/^## Try it/,/^## Tests/p' "$src/README.md" >door
    sed -n '/^```c$/,/^```$/p' door | grep -v '^```' >wait.c
    # shellcheck disable=SC2086 # CC may have words
    check "the program of the README compiles" ${CC:-cc} -g -pthread wait.c -o wait
    sed -n 's/^raddle \([^#]*[^ #]\) *#.*/\1/p' door >commands
    check "three commands" [ "$(wc -l <commands)" = 3 ]
    while read -r words; do
        # shellcheck disable=SC2086
        try $words
        check "raddle $words: no error (status $status)" [ $status -le 1 ]
    done <commands
    tail -n +3 out >drawn
    sed -n '/^<!-- The picture/,/^<!-- End/p' door | sed -n '/^```$/,/^```$/p' | grep -v '^```' >picture
    check "the README has a picture" [ -s picture ]
    same picture drawn "the picture is real"
    try explore ./wait
    has out "minimal: no failure with 0 preemptions" "minimal, as the README says"
    sed 's/done = 1;.*/pthread_mutex_lock(\&lock); done = 1; pthread_mutex_unlock(\&lock);/' wait.c >fixed.c
    # shellcheck disable=SC2086
    check "with the lock" ${CC:-cc} -g -pthread fixed.c -o wait
    try explore ./wait
    status 0 "nothing is found"
    has out "every schedule was tried, code between two operations was not interrupted" "and what was tried is said"
}
if [ -f "$build/src/lab/fibers/libraddle.so.0" ] && ! is_sanitized "$library"; then
    front_door
else
    skip "the program of the README" "this build has no library for programs under test"
fi

# Links of the front documents lead somewhere.
for file in README.md docs/cli.md docs/machine.md docs/policy.md docs/executor-cases.md docs/architecture.md docs/load.md docs/flow.md; do
    grep -oE '\]\([A-Za-z/._-]+\)' "$src/$file" | sed 's/](\(.*\))/\1/' >links
    while read -r link; do
        check "$file: $link exists" [ -e "$src/$(dirname $file)/$link" ]
    done <links
done
finish
