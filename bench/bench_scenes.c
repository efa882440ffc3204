/* bench_scenes.c — what one part of a program does to another: calls that block, fibers that compute, a crowd that is
 * woken, channels side by side. Its calls: loads.h. bench/peers/README.md says what each scene is. */
#define _GNU_SOURCE
#include "fibers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define MILLISECOND UINT64_C(1000000)

/* ---- A heart: how late each of its beats is ---------------------------------------------------------- */

typedef struct heart {
    uint64_t period_ns, count;
    double *late_us;
} heart;

static int heart_main(void *arg)
{
    heart *h = arg;
    rad_time begin = rad_now();
    for (uint64_t i = 0; i < h->count; i++) {
        rad_time due = begin + (i + 1) * h->period_ns;
        bench_must(rad_sleep_until(due));
        h->late_us[i] = (double)(rad_now() - due) * 1e-3;
    }
    return 0;
}

/* ---- Kidnap: calls that block ------------------------------------------------------------------------- */

typedef struct kidnap {
    struct timespec blocks;
    _Atomic uint64_t done;
    double all; /* when the last one was */
} kidnap;

static int kidnap_main(void *arg)
{
    kidnap *k = arg;
    nanosleep(&k->blocks, NULL);
    k->all = bench_now();
    atomic_fetch_add(&k->done, 1);
    return 0;
}

static bench_measured run_kidnap(void *worker, uint64_t count)
{
    bool full = count >= 100;
    kidnap k = {.blocks = {full ? 2 : 0, full ? 0 : 50000000}};
    heart h = {(full ? 100 : 10) * MILLISECOND, full ? 55 : 20, NULL};
    uint64_t beats = 0;
    rad_nursery n;
    (void)worker;
    h.late_us = bench_allocate(h.count, sizeof *h.late_us);
    rad_nursery_open(&n, RAD_FOREVER);
    double start = bench_now();
    bench_must(rad_nursery_spawn(&n, NULL, heart_main, &h));
    for (uint64_t i = 0; i < count; i++) bench_must(rad_nursery_spawn(&n, NULL, kidnap_main, &k));
    bench_must(rad_nursery_wait(&n));
    for (uint64_t i = 0; i < h.count; i++) beats += h.late_us[i] * 1e3 < (double)h.period_ns;
    bench_measured m = bench_one((double)beats, "beats", k.done);
    bench_add(&m, k.all - start, "s-all", k.done);
    free(h.late_us);
    return m;
}

/* ---- Noisy neighbours: fibers that compute and never let go ------------------------------------------- */

static int hog_main(void *arg)
{
    double end = *(double *)arg;
    while (bench_now() < end) continue;
    return 0;
}

static bench_measured run_noisy(void *worker, uint64_t hogs)
{
    heart h = {10 * MILLISECOND, hogs >= 15 ? 300 : 10, NULL};
    rad_nursery n;
    (void)worker;
    h.late_us = bench_allocate(h.count, sizeof *h.late_us);
    rad_nursery_open(&n, RAD_FOREVER);
    double end = bench_now() + (double)(h.period_ns * h.count) * 1e-9;
    bench_must(rad_nursery_spawn(&n, NULL, heart_main, &h));
    for (uint64_t i = 0; i < hogs; i++) bench_must(rad_nursery_spawn(&n, NULL, hog_main, &end));
    bench_must(rad_nursery_wait(&n));
    bench_measured m = bench_percentiles(h.late_us, h.count);
    free(h.late_us);
    return m;
}

/* ---- A herd that waits for one event ------------------------------------------------------------------- */

typedef struct herd {
    rad_chan *gate;
    _Atomic uint64_t there, woken;
    double first, last;
} herd;

static int herd_main(void *arg)
{
    herd *h = arg;
    atomic_fetch_add(&h->there, 1);
    if (rad_recv(h->gate, NULL, RAD_FOREVER) != RAD_ECLOSED) bench_fail("the gate is open");
    double now = bench_now();
    uint64_t nth = atomic_fetch_add(&h->woken, 1);
    if (nth == 0) h->first = now;
    h->last = now; /* not quite the last one, but the one before took as long */
    return 0;
}

static bench_measured run_herd(void *worker, uint64_t count)
{
    herd h = {.gate = bench_chan(0, 0)};
    rad_nursery n;
    (void)worker;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint64_t i = 0; i < count; i++) bench_must(rad_nursery_spawn(&n, NULL, herd_main, &h));
    while (atomic_load(&h.there) < count) bench_must(rad_sleep(MILLISECOND));
    bench_must(rad_sleep(20 * MILLISECOND)); /* all of them wait */
    double start = bench_now();
    rad_chan_close(h.gate, 0);
    bench_must(rad_nursery_wait(&n));
    bench_measured m = bench_one((h.first - start) * 1e6, "us-first", h.woken);
    bench_add(&m, (h.last - start) * 1e6, "us-last", h.woken);
    rad_chan_destroy(h.gate);
    return m;
}

/* ---- Interference: a pair that talks, beside another one ----------------------------------------------- */

typedef struct talk {
    rad_chan *there, *back;
    _Atomic bool over;
    uint64_t rounds; /* 0: until it is over */
    uint64_t sum;
    double ns;
} talk;

static int talk_answers(void *arg)
{
    talk *t = arg;
    uint64_t value;
    while (rad_recv(t->there, &value, RAD_FOREVER) == 0) bench_must(rad_send(t->back, &value, RAD_FOREVER));
    return 0;
}

static int talk_asks(void *arg)
{
    talk *t = arg;
    uint64_t value, i = 0;
    double start = bench_now();
    for (; t->rounds > 0 ? i < t->rounds : !atomic_load(&t->over); i++) {
        bench_must(rad_send(t->there, &i, RAD_FOREVER));
        bench_must(rad_recv(t->back, &value, RAD_FOREVER));
        t->sum += value;
    }
    t->ns = (bench_now() - start) * 1e9 / (double)(i > 0 ? i : 1);
    rad_chan_close(t->there, 0);
    return 0;
}

static void talk_begins(talk *t, rad_nursery *n, uint64_t rounds)
{
    *t = (talk){.there = bench_chan(8, 1), .back = bench_chan(8, 1), .rounds = rounds};
    bench_must(rad_nursery_spawn(n, NULL, talk_answers, t));
    bench_must(rad_nursery_spawn(n, NULL, talk_asks, t));
}

/* ns of a round trip, and the sum of what came back. */
static double talk_beside(uint64_t rounds, bool other, uint64_t *sum)
{
    talk mine, noise;
    rad_nursery n, m;
    rad_nursery_open(&m, RAD_FOREVER);
    if (other) talk_begins(&noise, &m, 0);
    rad_nursery_open(&n, RAD_FOREVER);
    talk_begins(&mine, &n, rounds);
    bench_must(rad_nursery_wait(&n));
    if (other) atomic_store(&noise.over, true);
    bench_must(rad_nursery_wait(&m));
    rad_chan_destroy(mine.there);
    rad_chan_destroy(mine.back);
    if (other) rad_chan_destroy(noise.there);
    if (other) rad_chan_destroy(noise.back);
    *sum += mine.sum;
    return mine.ns;
}

static bench_measured run_interference(void *worker, uint64_t rounds)
{
    uint64_t sum = 0;
    (void)worker;
    double alone = talk_beside(rounds, false, &sum), beside = talk_beside(rounds, true, &sum);
    bench_measured m = bench_one(alone, "ns-alone", sum);
    bench_add(&m, beside, "ns-beside", sum);
    return m;
}

/* ---- The table of workloads ------------------------------------------------------------------------- */

static const bench_load WORKLOADS[] = {
    {"kidnap", "100 calls that block for 2 s", run_kidnap, NULL, 100, 4, true, false},
    {"noisy", "15 that compute for 3 s", run_noisy, NULL, 15, 3, true, false},
    {"herd", "1,000 wait for one event", run_herd, NULL, 1000, 50, true, false},
    {"interfere", "a pair beside another one", run_interference, NULL, 500000, 500, true, false},
};

/* With the extra workers there usually are: what they are for is what is measured. */
static void measure(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into)
{
    rad_options options = {.workers = workers};
    bench_fibers_measure(&options, l, size, samples, into);
}

int main(int argc, char **argv)
{
    static const bench_loads ALL = {"scenes", WORKLOADS, sizeof WORKLOADS / sizeof *WORKLOADS, measure};
    return bench_loads_main(&ALL, argc, argv);
}
