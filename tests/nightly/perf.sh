#!/bin/bash
# perf.sh — perf unwinds through fibers: nearly every sample of two that talk to one another ends where fibers or threads
# begin, by tables (--call-graph dwarf) and, when all is compiled so, by frame pointers; with gcc and clang.
# Takes 1 minutes.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! perf record -e cpu-clock -o "$work/try" true >"$work/why" 2>&1; then
    echo "perf: left out: perf cannot record here: $(tail -n 1 "$work/why")"
    exit 0
fi
cat >"$work/talk.c" <<'C'
#include <raddle.h>

static rad_chan *a, *b;

__attribute__((noinline)) static int computes(void)
{
    volatile int sum = 0;
    for (int i = 0; i < 300; i++) sum += i;
    return sum;
}

static int talks(void *first)
{
    int value = 0;
    for (int i = 0; i < 500000; i++) {
        if (first != NULL && rad_send(a, &value, RAD_FOREVER) != 0) return 1;
        if (rad_recv(first != NULL ? b : a, &value, RAD_FOREVER) != 0) return 1;
        value = computes();
        if (first == NULL && rad_send(b, &value, RAD_FOREVER) != 0) return 1;
    }
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    if (rad_chan_create(&a, sizeof(int), 0, RAD_CHAN_BLOCKS) || rad_chan_create(&b, sizeof(int), 0, RAD_CHAN_BLOCKS)) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    if (rad_nursery_spawn(&n, NULL, talks, NULL) || rad_nursery_spawn(&n, NULL, talks, &n)) return 1;
    return rad_nursery_wait(&n);
}

int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
C
sources=$(for layer in base os; do
    sed -n "/^${layer}_runtime_sources/,/^)/s|^ *'\(.*\.c\)',\$|src/$layer/\1|p" src/$layer/meson.build
done)

chains() { # COMPILER FLAGS KIND: builds, records, counts where the chains of calls end
    # shellcheck disable=SC2086
    "$1" -std=gnu11 -O2 -g $2 -Iinclude -Isrc "$work/talk.c" $sources src/exec/*.c src/exec/thread/*.c src/rt/*.c -o "$work/talk" -lpthread
    perf record -e cpu-clock -F 997 --call-graph "$3" -o "$work/data" "$work/talk" >/dev/null 2>&1
    perf script -i "$work/data" 2>/dev/null | awk -v who="$1 $2 $3" '
        function sample() { if (depth) all++; if (depth && last ~ /rad__context_begin|clone|start_thread|_start/) ends++; depth = 0 }
        /^[ \t]+[0-9a-f]+ / { depth++; last = $2; next }
        { sample() }
        END {
            sample()
            printf "perf: %s: %d of %d samples end where a fiber or a thread begins\n", who, ends, all
            exit !(all >= 50 && ends >= all * 0.9)
        }'
}

for compiler in gcc clang; do
    chains $compiler "" dwarf
    chains $compiler -fno-omit-frame-pointer fp
done
