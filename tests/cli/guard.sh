#!/bin/sh
# A fiber's frame that is larger than the guard, in a program compiled with the flags of the pkg-config file: it faults
# at the guard, the report names the fiber, and no other stack is changed.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

cat >frames.c <<'END'
#include <raddle.h>
#include <stdio.h>
#include <string.h>
static rad_chan *go, *fin;
static __attribute__((noinline)) int big(int n)
{
    volatile char b[KIB * 1024];
    for (int i = 0; i < n; i++) b[i] = 1;
    return b[0];
}
static int victim(void *x)
{
    volatile unsigned char c[4096 * 20];
    int v, bad = 0;
    (void)x;
    memset((void *)c, 0xAA, sizeof c);
    rad_recv(go, &v, RAD_FOREVER);
    for (unsigned i = 0; i < sizeof c; i++) bad += c[i] != 0xAA;
    if (bad) printf("victim: %d bytes of its locals were changed\n", bad);
    return 0;
}
static int culprit(void *x)
{
    int v;
    (void)x;
    rad_name("culprit");
    rad_recv(fin, &v, RAD_FOREVER);
    return big(12000) != 1;
}
static int start(void *x)
{
    rad_nursery n;
    (void)x;
    if (rad_chan_create(&go, 4, 0, RAD_CHAN_BLOCKS) || rad_chan_create(&fin, 4, 0, RAD_CHAN_BLOCKS)) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 20; i++)
        if (rad_nursery_spawn(&n, NULL, i % 2 ? victim : culprit, NULL)) return 1;
    rad_sleep(20000000);
    for (int i = 0; i < 10; i++) rad_send(fin, &i, RAD_FOREVER);
    rad_sleep(20000000);
    for (int i = 0; i < 10; i++) rad_send(go, &i, RAD_FOREVER);
    return rad_nursery_wait(&n);
}
int main(void)
{
    rad_options one = {.workers = 1};
    return rad_main(&one, start, NULL, NULL);
}
END

flags=$(PKG_CONFIG_PATH=$build/meson-private pkg-config --cflags raddle)
if is_sanitized "$library"; then
    skip "large frames" "the library has sanitizers in it"
    finish
fi
builder=$(python3 -c 'import json, sys
for target in json.load(open(sys.argv[1])):
    for part in target["target_sources"]:
        if part.get("language") == "c": sys.exit(print(*part["compiler"]))' "$build/meson-info/intro-targets.json")
echo 'int main(void) { return 0; }' >probe.c
# shellcheck disable=SC2086 # a compiler may be two words
if ! $builder -Werror -fstack-clash-protection -c probe.c -o probe.o 2>err; then
    skip "large frames" "the compiler that built the library has no -fstack-clash-protection"
    finish
fi
echo "$flags" >flags
has flags -fstack-clash-protection "the flags of pkg-config contain what the compiler has"
for kib in 200 500 1000; do
    # shellcheck disable=SC2086 # flags are words
    compiles "a program with a frame of $kib KiB compiles" "$library" ${CC:-cc} -O2 $flags -DKIB=$kib frames.c -o frames
    (ulimit -c 0 && exec ./frames) >out 2>err
    status=$?
    status 139 "it dies of SIGSEGV"
    has err "'culprit': stack overflow (128 KiB); raise the stack size" "the report names the fiber"
    hasnt out victim "no other fiber's stack was changed"
done
finish
