/* pipeline.c — items flow through two stages: the first runs everywhere at once, the second on one worker only, so
 * that what it adds up needs no lock. Stages hand on by spawning; no task waits.
 *
 *     cc pipeline.c $(pkg-config --cflags --libs raddle) -o pipeline && ./pipeline */
#include <raddle.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 100000, TALLY_WORKER = 0 };

typedef struct item {
    rad_task measure; /* first stage */
    rad_task tally;   /* second stage */
    uint64_t number;
    uint32_t steps;
} item;

#define ITEM_OF(task, stage) ((item *)((char *)(task)-offsetof(item, stage)))

/* The second stage keeps its sums where only its worker comes. */
typedef struct sums {
    uint64_t items, steps, longest, longest_number;
} sums;

static sums result;

static enum rad_run tally(rad_task *task, rad_worker *w)
{
    item *it = ITEM_OF(task, tally);
    sums *s = rad_worker_scratch(w);
    s->items++;
    s->steps += it->steps;
    if (it->steps > s->longest || (it->steps == s->longest && it->number < s->longest_number)) {
        s->longest = it->steps;
        s->longest_number = it->number;
    }
    if (s->items == ITEMS) result = *s;
    free(it); /* the last thing its task does */
    return RAD_RUN_DONE;
}

/* How many steps a number takes to 1: halve it, or triple it and add 1. */
static enum rad_run measure(rad_task *task, rad_worker *w)
{
    item *it = ITEM_OF(task, measure);
    for (uint64_t n = it->number; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) it->steps++;
    it->tally.run = tally;
    rad_worker_spawn_on(w, TALLY_WORKER, &it->tally);
    return RAD_RUN_DONE;
}

int main(void)
{
    rad_exec_options options = {.scratch_size = sizeof(sums)};
    rad_exec *exec;
    rad_error error;
    if (rad_exec_create(&exec, &options, &error) != 0) return fprintf(stderr, "%s\n", error.text), 1;
    for (uint64_t n = 1; n <= ITEMS; n++) {
        item *it = calloc(1, sizeof *it);
        if (it == NULL) return 1;
        it->measure.run = measure;
        it->number = n;
        if (!rad_exec_spawn(exec, &it->measure)) free(it); /* refused: still ours */
    }
    int64_t failure = rad_exec_join(exec);
    rad_exec_destroy(exec);
    printf("%llu numbers, %llu steps; %llu takes most, %llu\n", (unsigned long long)result.items,
           (unsigned long long)result.steps, (unsigned long long)result.longest_number,
           (unsigned long long)result.longest);
    return failure != 0 || result.items != ITEMS;
}
