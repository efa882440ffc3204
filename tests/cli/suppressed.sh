#!/bin/bash
# `--suppress FILE`: functions and source files of programs, what the summary says of each line, and the commands that
# take it.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL

# ---- Any machine: what is malformed, what matched, what did not --------------------------------------------------
printf '# known\n\nrace:tell\nrace:old_name\n' >known
if ! "$RADDLE" list --all | grep -q '^ *l2-mistakes '; then
    skip "races of a machine" "this build has no models at memory level"
else
    try explore l2-mistakes kind=17 --suppress known --no-shrink
    status 1 "a deadlock behind a race"
    has out "FAILED: deadlock" "is not hidden"
    has out "known:3: race:tell: " "the line that matched, and how often"
    has out "  unused     known:4: race:old_name: no data race matches" "the line that did not"
    check "they come last" [ "$(tail -1 out)" = "  unused     known:4: race:old_name: no data race matches" ]
    try explore l2-mistakes kind=17 --suppress known --no-shrink --json
    check "the same in JSON" python3 - <<'END'
import json
lines = json.load(open("out"))["suppressions"]
assert [(l["file"], l["line"], l["pattern"]) for l in lines] == [("known", 3, "tell"), ("known", 4, "old_name")]
assert lines[0]["races"] > 0 and lines[1]["races"] == 0
END
fi
try explore buffer --fixed --runs 20 --suppress known
status 0 "a machine without memory"
has out "unused     known:3: race:tell: no data race matches" "no line matched"
rm -f -- *.json

for word in run explore; do
    printf 'race:tell\nmutex:tell\n' >wrong
    try $word buffer --suppress wrong
    status 2 "$word: a malformed line"
    has err "wrong: line 2: expected race:FUNCTION or race:FILE, found 'mutex:tell'" "$word: where it is, and what was expected"
    try $word buffer --suppress nothing
    status 2 "$word: no such file"
done

# ---- Programs -----------------------------------------------------------------------------------------------------
if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "raddle cc" "this build has no library for programs under test"
    finish
fi
export RADDLE_CC=${CC:-cc}

place=$(printf 'long%.0s' {1..50}) # its path has no room in a message
mkdir -p "my lib/src" "my lib/build" other "$place"
cat >"my lib/queue.h" <<'END'
static int hits;
static inline void hit(void) { hits++; }
END
echo 'int in_list; void list(void) { in_list++; }' >"my lib/src/list.c"
echo 'int in_other; void other(void) { in_other++; }' >other/list.c
echo 'static int in_plugin; void plugin(void) { in_plugin++; }' >plugin.c
cat >main.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include "my lib/queue.h"
#define BUMP(name) static int in_##name; static void name(void) { in_##name++; }
BUMP(made)
void list(void), other(void);
static void (*plugin)(void);
static void *go(void *x)
{
    list();
    other();
    hit();
    made();
    plugin();
    return x;
}
int main(void)
{
    pthread_t t[2];
    *(void **)&plugin = dlsym(dlopen(PLACE "/plugin.so", RTLD_NOW), "plugin");
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, go, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
END
builds() { # OPTIONS…: from a directory beside one of the files; another file by its whole path
    (cd "my lib/build" && "$RADDLE" cc "$@" -DPLACE="\"$place\"" -I../.. ../../main.c ../src/list.c "$OLDPWD/other/list.c" -ldl)
}
races() { # the variables that raced
    grep -oE '^FAILED: data race at step [0-9]+: [a-z_]+' out | sed 's/.*: //' | sort -u | tr '\n' ' '
}

for cc in "$RADDLE_CC" clang; do
    command -v "${cc##* }" >/dev/null || continue
    export RADDLE_CC=$cc
    check "$cc: a library" "$RADDLE" cc -g -O2 -fPIC -shared plugin.c -o "$place/plugin.so"
    check "$cc: a program" builds -g -O2 -pthread -o ../../main
    while read -r left pattern; do
        echo "race:$pattern" >known
        try explore --runs 20 --no-shrink --suppress known ./main
        check "$cc: race:$pattern leaves $left" [ "$(races)" = "${left//,/ } " ]
        rm -f -- *.json
    done <<'END'
hits,in_made,in_plugin list.c
hits,in_made,in_other,in_plugin my lib/src/list.c
hits,in_list,in_made,in_plugin other/*.c
in_list,in_made,in_other,in_plugin *.h
hits,in_list,in_other,in_plugin main.c
hits,in_list,in_made,in_other plugin.c
hits,in_list,in_made,in_other plugin.so
END
    printf 'race:*/list.c\nrace:queue.h\nrace:main.c\n' >known
    try explore --runs 20 --no-shrink --suppress known ./main
    has out " plugin: write (plugin.c:1)" "$cc: the line of a library with a long path"
    rm -f -- *.json
    echo 'race:plugin.c' >>known
    try run --suppress known ./main
    status 0 "$cc: run"
    try explore -j 2 --runs 20 --suppress known ./main
    status 0 "$cc: all of them"
    check "$cc: no file is left" [ -z "$(ls -- *.json 2>/dev/null)" ]
    check "$cc: each line counts" [ "$(grep -c 'known:[1-4]: race:.*: [1-9]' out)" = 4 ]
    sed '/by raddle cc/q' out >two
    grep "known:\|suppressed" out >>two
    try explore --runs 20 --apart --suppress known ./main
    grep "known:\|suppressed" out >one
    grep "known:\|suppressed" two >both
    same one both "$cc: the same for any number of processes"
done

# ---- Without debug information ------------------------------------------------------------------------------------
export RADDLE_CC=${CC:-cc}
check "a program without -g" "$RADDLE" cc -O2 -pthread -DPLACE="\"$place\"" main.c "my lib/src/list.c" other/list.c -o bare -ldl
printf 'race:list.c\n' >known
try explore --runs 20 --no-shrink --suppress known ./bare
status 1 "files are not known"
has out "unused     known:1: race:list.c: no data race matches" "the line is named"
has out "no source files are known of './bare': compile it with -g" "and why"
printf 'race:bare\nrace:plugin.so\n' >known
try explore --runs 20 --suppress known ./bare
status 0 "the name of the program is"
rm -f -- *.json

# ---- Other commands -------------------------------------------------------------------------------------------------
cat >door.c <<'END'
#include <assert.h>
#include <pthread.h>
static int seen;
static _Atomic int open;
static void *go(void *x)
{
    seen++;
    open = !open;
    assert(!FAILS || !open);
    return x;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, go, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
END
check "a program with a failure and a race" "$RADDLE" cc -DFAILS=1 -g -O1 -pthread door.c -o door
echo "race:door.c" >known
try explore --runs 50 --suppress known ./door
status 1 "the failure is found"
check "and nothing else" [ "$(ls -- *.json | tr '\n' ' ')" = "door.min.raddle.json door.raddle.json " ]
for command in replay show "shrink --output small.json"; do
    try $command door.min.raddle.json --suppress known -- ./door
    status 0 "$command with a race that does not count"
    hasnt out "data race" "${command%% *} does not tell it"
done
mkdir corpus
mv door.min.raddle.json corpus
check "the failure is mended" "$RADDLE" cc -DFAILS=0 -g -O1 -pthread door.c -o door
try corpus corpus --accept --suppress known -- ./door
status 0 "corpus: it passes now"
try corpus corpus --suppress known -- ./door
status 0 "corpus: and again"
has out "1 as recorded" "as recorded"
try corpus corpus -- ./door
status 1 "corpus: the race counts without --suppress"
try replay corpus/door.min.raddle.json --suppress known -- ./door
status 0 "replay: it passes"
try run --suppress known ./door
status 0 "run: it passes"
try test --runs 50 --tap --suppress known ./door
status 0 "test: it passes"
has out "#             known:1: race:door.c: " "test: as a comment of TAP"

# The two places of a race may be in two objects: either name suppresses it, whichever came first.
echo 'void touches(int *p) { (*p)++; }' >touch.c
cat >mixed.c <<'END'
#include <pthread.h>
void touches(int *p);
static int seen;
static void *library(void *x) { return touches(&seen), x; }
static void *program(void *x) { return seen++, x; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, argc > 1 ? library : program, argv);
    (argc > 1 ? program : library)(0);
    pthread_join(t, 0);
    return 0;
}
END
check "a library that touches what its caller has" "$RADDLE" cc -O1 -fPIC -shared touch.c -o libtouch.so
check "a program that touches it, too" "$RADDLE" cc -O1 -pthread mixed.c ./libtouch.so -o mixed
for swap in '' swap; do
    # shellcheck disable=SC2086 # no word, or one
    try run ./mixed $swap
    status 1 "the race${swap:+, the program first}"
    for object in mixed libtouch.so; do
        echo "race:$object" >known
        # shellcheck disable=SC2086
        try run --suppress known ./mixed $swap
        status 0 "race:$object${swap:+, the program first}"
    done
done

# ---- Runs whose process dies: the races of the others do not count again -------------------------------------------
cat >dies.c <<'END'
#include <pthread.h>
#include <signal.h>
static int hits, first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *go(void *x)
{
    hits++;
    pthread_mutex_lock(&mutex);
    if (first == 0) first = x ? 2 : 1;
    pthread_mutex_unlock(&mutex);
    return x;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, go, i ? &hits : 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    if (first == 2) raise(SIGKILL);
    return 0;
}
END
check "a program that dies in some runs" "$RADDLE" cc -g -O0 -pthread dies.c -o dies
echo "race:go" >known
try explore --runs 40 --no-shrink --suppress known ./dies
has out "FAILED: crash" "some runs die"
all=$(sed -n 's/^  suppressed *\([0-9,]*\) data races$/\1/p' out)
has out "known:1: race:go: ${all:-none}" "the only line matched all of them"
finish
