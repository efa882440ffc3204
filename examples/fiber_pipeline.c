/* fiber_pipeline.c — items flow through stages, each a few fibers between two channels. Channels are bounded, so a slow
 * stage holds up the ones before it instead of piling up memory; closing runs through from the first to the last.
 *
 *     cc fiber_pipeline.c $(pkg-config --cflags --libs raddle) -o fiber_pipeline && ./fiber_pipeline */
#include <raddle.h>
#include <stdio.h>

enum { ITEMS = 20000, MEASURERS = 4, ROOM = 64 };

typedef struct item {
    uint64_t number, steps;
} item;

typedef struct stages {
    rad_chan *numbers, *measured;
    uint64_t items, steps, longest, longest_number;
} stages;

/* The first stage makes them. When it is done it closes its channel: that is how the next one knows. */
static int generate(void *arg)
{
    stages *s = arg;
    int code = 0;
    for (uint64_t n = 1; n <= ITEMS && code == 0; n++) {
        item it = {.number = n};
        code = rad_send(s->numbers, &it, RAD_FOREVER);
    }
    rad_chan_close(s->numbers, code);
    return code;
}

/* How many steps a number takes to 1: halve it, or triple it and add 1. Several of these run at once. */
static int measure(void *arg)
{
    stages *s = arg;
    item it;
    while (rad_recv(s->numbers, &it, RAD_FOREVER) == 0) {
        for (uint64_t n = it.number; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) it.steps++;
        int code = rad_send(s->measured, &it, RAD_FOREVER);
        if (code != 0) return code;
    }
    return 0;
}

/* All measurers are the second stage; when the last of them has ended, it is over. */
static int measure_all(void *arg)
{
    stages *s = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < MEASURERS; i++) rad_nursery_go(&n, measure, s);
    int code = rad_nursery_wait(&n);
    rad_chan_close(s->measured, code);
    return code;
}

/* The last stage is one fiber, so what it adds up needs no lock. */
static int tally(void *arg)
{
    stages *s = arg;
    item it;
    while (rad_recv(s->measured, &it, RAD_FOREVER) == 0) {
        s->items++;
        s->steps += it.steps;
        if (it.steps < s->longest || (it.steps == s->longest && it.number > s->longest_number)) continue;
        s->longest = it.steps;
        s->longest_number = it.number;
    }
    return rad_chan_code(s->measured); /* what the stages before it ended with */
}

static int start(void *arg)
{
    stages *s = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, generate, s);
    rad_nursery_go(&n, measure_all, s);
    rad_nursery_go(&n, tally, s);
    return rad_nursery_wait(&n);
}

int main(void)
{
    stages s = {0};
    rad_error error;
    if (rad_chan_create(&s.numbers, sizeof(item), ROOM, RAD_CHAN_BLOCKS) != 0 ||
        rad_chan_create(&s.measured, sizeof(item), ROOM, RAD_CHAN_BLOCKS) != 0)
        return 1;
    error.text[0] = 0;
    int code = rad_main(NULL, start, &s, &error);
    if (code != 0) fprintf(stderr, "%d %s\n", code, error.text);
    printf("%llu numbers, %llu steps; %llu takes most, %llu\n", (unsigned long long)s.items,
           (unsigned long long)s.steps, (unsigned long long)s.longest_number, (unsigned long long)s.longest);
    rad_chan_destroy(s.numbers);
    rad_chan_destroy(s.measured);
    return code != 0 || s.items != ITEMS;
}
