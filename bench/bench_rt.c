/* bench_rt.c — what fibers cost: switch, spawn, channels, select, locks, timers, sleep, memory, waking from outside.
 * Its calls: loads.h.
 *
 * In all workloads but `unpark` the root is itself a fiber. bench/peers/README.md says what each workload does. */
#define _GNU_SOURCE
#include "fibers.h"

#include "rt/timer.h"

#include <semaphore.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)
#define SECOND      (1000 * MILLISECOND)

static bench_measured per_operation(double start, uint64_t operations, uint64_t checksum)
{
    return bench_one((bench_now() - start) * 1e9 / (double)operations, "ns", checksum);
}

/* ---- Yield ------------------------------------------------------------------------------------------- */

typedef struct yielder {
    uint64_t left, done;
} yielder;

static int yielder_main(void *arg)
{
    yielder *y = arg;
    for (; y->left > 0; y->left--) {
        rad_yield();
        y->done++;
    }
    return 0;
}

static bench_measured run_yield(void *worker, uint64_t count)
{
    (void)worker;
    yielder pair[2] = {{count, 0}, {count, 0}};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    double start = bench_now();
    for (uint32_t i = 0; i < 2; i++) bench_must(rad_nursery_spawn(&n, NULL, yielder_main, &pair[i]));
    bench_must(rad_nursery_wait(&n));
    return per_operation(start, count, pair[0].done + pair[1].done);
}

/* ---- Spawn and join ---------------------------------------------------------------------------------- */

typedef struct numbered {
    uint32_t number, slot;
} numbered;

static numbered *numbered_of(uint64_t count)
{
    numbered *all = bench_allocate(count, sizeof *all);
    for (uint64_t i = 0; i < count; i++) all[i].number = (uint32_t)i;
    return all;
}

static uint64_t numbered_sum(numbered *all, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += all[i].slot;
    free(all);
    return sum;
}

static int numbered_main(void *arg)
{
    numbered *n = arg;
    n->slot = n->number;
    return 0;
}

static bench_measured run_spawn_one(void *worker, uint64_t count)
{
    (void)worker;
    numbered *all = numbered_of(count);
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        rad_fiber f;
        bench_must(rad_spawn(&f, numbered_main, &all[i]));
        bench_must(rad_join(f, NULL, RAD_FOREVER));
        rad_release(f);
    }
    bench_measured m = per_operation(start, count, 0);
    m.figures[0].checksum = numbered_sum(all, count);
    return m;
}

static bench_measured run_spawn_batches(void *worker, uint64_t count)
{
    enum { BATCH = 10000 };
    (void)worker;
    numbered *all = numbered_of(count);
    double start = bench_now();
    for (uint64_t first = 0; first < count; first += BATCH) {
        rad_nursery n;
        rad_nursery_open(&n, RAD_FOREVER);
        for (uint64_t i = first; i < first + BATCH; i++)
            bench_must(rad_nursery_spawn(&n, NULL, numbered_main, &all[i]));
        bench_must(rad_nursery_wait(&n));
    }
    bench_measured m = per_operation(start, count, 0);
    m.figures[0].checksum = numbered_sum(all, count);
    return m;
}

/* ---- The first burst, and the start of a program ------------------------------------------------------- */

static bench_measured run_cold(void *worker, uint64_t count)
{
    (void)worker;
    numbered *all = numbered_of(count);
    rad_nursery n;
    double start = bench_now();
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint64_t i = 0; i < count; i++) bench_must(rad_nursery_spawn(&n, NULL, numbered_main, &all[i]));
    bench_must(rad_nursery_wait(&n));
    bench_measured m = per_operation(start, count, 0);
    m.figures[0].checksum = numbered_sum(all, count);
    return m;
}

static int empty_main(void *arg)
{
    (void)arg;
    return 0;
}

/* A program whose first fiber does nothing: bench_rt --empty. */
static int empty_program(void)
{
    return rad_main(NULL, empty_main, NULL, NULL);
}

static bench_measured run_startup(void *rt, uint64_t count)
{
    static char self[] = "/proc/self/exe", flag[] = "--empty";
    char *argv[] = {self, flag, NULL};
    double *ms = bench_allocate(count, sizeof *ms);
    uint64_t good = 0;
    (void)rt;
    for (uint64_t i = 0; i < count; i++) {
        pid_t pid;
        int status = 1;
        double start = bench_now();
        if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0) bench_fail("posix_spawn");
        if (waitpid(pid, &status, 0) != pid) bench_fail("waitpid");
        ms[i] = (bench_now() - start) * 1e3;
        good += status == 0;
    }
    bench_measured m = bench_one(bench_median(ms, count), "ms", good);
    free(ms);
    return m;
}

/* ---- Two that talk ----------------------------------------------------------------------------------- */

typedef struct talk {
    rad_chan *there, *back;
    uint64_t count;
    bool timed; /* no receive waits longer than a second, and none has to */
} talk;

static rad_time talk_until(const talk *t)
{
    return t->timed ? rad_after(SECOND) : RAD_FOREVER;
}

static int talk_partner(void *arg)
{
    talk *t = arg;
    for (uint64_t i = 0, value; i < t->count; i++) {
        bench_must(rad_recv(t->there, &value, talk_until(t)));
        bench_must(rad_send(t->back, &value, RAD_FOREVER));
    }
    return 0;
}

static bench_measured talk_of(uint64_t count, bool timed)
{
    talk t = {bench_chan(8, 0), bench_chan(8, 0), count, timed};
    uint64_t sum = 0;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    bench_must(rad_nursery_spawn(&n, NULL, talk_partner, &t));
    double start = bench_now();
    for (uint64_t i = 0, value; i < count; i++) {
        bench_must(rad_send(t.there, &i, RAD_FOREVER));
        bench_must(rad_recv(t.back, &value, talk_until(&t)));
        sum += value;
    }
    bench_measured m = per_operation(start, count, sum);
    bench_must(rad_nursery_wait(&n));
    rad_chan_destroy(t.there);
    rad_chan_destroy(t.back);
    return m;
}

static bench_measured run_ping_pong(void *worker, uint64_t count)
{
    (void)worker;
    return talk_of(count, false);
}

static bench_measured run_timeout(void *worker, uint64_t count)
{
    (void)worker;
    return talk_of(count, true);
}

/* ---- Buffered ---------------------------------------------------------------------------------------- */

typedef struct belt {
    rad_chan *chan;
    uint64_t share;
    _Atomic uint64_t sum;
} belt;

static int belt_producer(void *arg)
{
    belt *b = arg;
    for (uint64_t i = 0; i < b->share; i++) bench_must(rad_send(b->chan, &i, RAD_FOREVER));
    return 0;
}

static int belt_consumer(void *arg)
{
    belt *b = arg;
    uint64_t sum = 0;
    for (uint64_t i = 0, value; i < b->share; i++) {
        bench_must(rad_recv(b->chan, &value, RAD_FOREVER));
        sum += value;
    }
    atomic_fetch_add(&b->sum, sum);
    return 0;
}

static bench_measured belt_of(uint64_t items, uint32_t pairs)
{
    belt b = {.chan = bench_chan(8, 128), .share = items / pairs};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    double start = bench_now();
    for (uint32_t i = 0; i < pairs; i++) {
        bench_must(rad_nursery_spawn(&n, NULL, belt_producer, &b));
        bench_must(rad_nursery_spawn(&n, NULL, belt_consumer, &b));
    }
    bench_must(rad_nursery_wait(&n));
    bench_measured m = per_operation(start, items, b.sum);
    rad_chan_destroy(b.chan);
    return m;
}

static bench_measured run_buffered_1(void *worker, uint64_t items)
{
    (void)worker;
    return belt_of(items, 1);
}

static bench_measured run_buffered_4(void *worker, uint64_t items)
{
    (void)worker;
    return belt_of(items, 4);
}

/* ---- Skynet ------------------------------------------------------------------------------------------ */

typedef struct sky {
    rad_chan *out;
    uint64_t first, leaves;
} sky;

/* The nursery is there for the channel: it may go when all children are out of their sends. */
static int sky_main(void *arg)
{
    sky s = *(sky *)arg, below[10];
    uint64_t sum = 0, value;
    if (s.leaves == 1) {
        bench_must(rad_send(s.out, &s.first, RAD_FOREVER));
        return 0;
    }
    rad_chan *chan = bench_chan(8, 0);
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < 10; i++) {
        below[i] = (sky){chan, s.first + i * (s.leaves / 10), s.leaves / 10};
        bench_must(rad_nursery_spawn(&n, NULL, sky_main, &below[i]));
    }
    for (uint32_t i = 0; i < 10; i++) {
        bench_must(rad_recv(chan, &value, RAD_FOREVER));
        sum += value;
    }
    bench_must(rad_nursery_wait(&n));
    rad_chan_destroy(chan);
    bench_must(rad_send(s.out, &sum, RAD_FOREVER));
    return 0;
}

static bench_measured run_skynet(void *worker, uint64_t leaves)
{
    (void)worker;
    sky root = {bench_chan(8, 1), 0, leaves};
    uint64_t sum;
    double start = bench_now();
    bench_must(sky_main(&root));
    bench_must(rad_recv(root.out, &sum, RAD_FOREVER));
    bench_measured m = bench_one((bench_now() - start) * 1e3, "ms", sum);
    rad_chan_destroy(root.out);
    return m;
}

/* ---- Select ------------------------------------------------------------------------------------------ */

static bench_measured run_select(void *worker, uint64_t count)
{
    enum { WAYS = 4 };
    (void)worker;
    belt producers[WAYS];
    rad_select_case cases[WAYS];
    uint64_t value, sum = 0;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < WAYS; i++) {
        producers[i] = (belt){.chan = bench_chan(8, 0), .share = count / WAYS};
        cases[i] = (rad_select_case){RAD_ON_RECV, {.chan = producers[i].chan}, &value, 0};
    }
    double start = bench_now();
    for (uint32_t i = 0; i < WAYS; i++) bench_must(rad_nursery_spawn(&n, NULL, belt_producer, &producers[i]));
    for (uint64_t i = 0; i < count / WAYS * WAYS; i++) {
        bench_must(rad_select(cases, WAYS, RAD_FOREVER));
        sum += value;
    }
    bench_must(rad_nursery_wait(&n));
    bench_measured m = per_operation(start, count, sum);
    for (uint32_t i = 0; i < WAYS; i++) rad_chan_destroy(producers[i].chan);
    return m;
}

/* ---- Mutex ------------------------------------------------------------------------------------------- */

typedef struct crowd {
    rad_mutex mutex;
    uint64_t share, count;
} crowd;

static int crowd_main(void *arg)
{
    crowd *c = arg;
    for (uint64_t i = 0; i < c->share; i++) {
        rad_mutex_lock(&c->mutex);
        c->count++;
        rad_mutex_unlock(&c->mutex);
    }
    return 0;
}

static bench_measured run_mutex(void *worker, uint64_t count)
{
    enum { FIBERS = 100 };
    (void)worker;
    crowd c = {RAD_MUTEX_INIT, count / FIBERS, 0};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    double start = bench_now();
    for (uint32_t i = 0; i < FIBERS; i++) bench_must(rad_nursery_spawn(&n, NULL, crowd_main, &c));
    bench_must(rad_nursery_wait(&n));
    return per_operation(start, count, c.count);
}

/* ---- Timers ------------------------------------------------------------------------------------------ */

/* Fibers have no timers but those of their waits, so these two are about the wheel by itself. */
static bench_measured run_timer(void *worker, uint64_t count)
{
    (void)worker;
    rad_wheel wheel;
    rad_wheel_timer timer = {.ticket = 0};
    uint64_t now = rad_now();
    rad__wheel_open(&wheel, now);
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        rad__wheel_arm(&wheel, &timer, now + (1 + i % 1000) * SECOND, &wheel, 1);
        rad__timer_disarm(&timer);
    }
    return per_operation(start, count, count);
}

static bench_measured run_timers_live(void *worker, uint64_t count)
{
    (void)worker;
    rad_wheel wheel;
    rad_wheel_timer *timers = bench_allocate(count, sizeof *timers);
    uint64_t now = rad_now();
    rad__wheel_open(&wheel, now);
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++)
        rad__wheel_arm(&wheel, &timers[i], now + (100000 + i * 7919 % 1000000) * MILLISECOND, &wheel, 1);
    double armed = bench_now();
    for (uint64_t i = 0; i < count; i++) rad__timer_disarm(&timers[i]);
    double cancelled = bench_now();
    bench_measured m = bench_one((armed - start) * 1e9 / (double)count, "ns-arm", count);
    bench_add(&m, (cancelled - armed) * 1e9 / (double)count, "ns-cancel", count);
    free(timers);
    return m;
}

/* ---- Many: asleep, and parked -------------------------------------------------------------------------- */

typedef struct sleeper {
    uint32_t number, slot, sleep_ms, late_us;
} sleeper;

static int sleeper_main(void *arg)
{
    sleeper *s = arg;
    rad_time until = rad_after(s->sleep_ms * MILLISECOND);
    bench_must(rad_sleep_until(until));
    s->late_us = (uint32_t)((rad_now() - until) / 1000);
    s->slot = s->number;
    return 0;
}

static bench_measured run_sleep(void *worker, uint64_t count)
{
    (void)worker;
    uint64_t sum = 0;
    sleeper *all = bench_allocate(count, sizeof *all);
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    bench_sleep s = bench_sleep_begin(count);
    for (uint32_t i = 0; i < count; i++) {
        all[i].number = i;
        all[i].sleep_ms = s.base_ms + i % s.base_ms;
        bench_must(rad_nursery_spawn(&n, NULL, sleeper_main, &all[i]));
    }
    s.spawned = bench_now();
    bench_must(rad_nursery_wait(&n));
    s.ended = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        sum += all[i].slot;
        if (all[i].late_us / 1e3 > s.latest_ms) s.latest_ms = all[i].late_us / 1e3;
    }
    bench_measured m = bench_sleep_end(&s, sum);
    free(all);
    return m;
}

/* A thousand that sleep 10 ms, `number` times each. */
static int ticker_main(void *arg)
{
    sleeper *s = arg;
    for (uint32_t i = 0; i < s->number; i++) {
        rad_time until = rad_after(s->sleep_ms * MILLISECOND);
        bench_must(rad_sleep_until(until));
        s->late_us += (uint32_t)((rad_now() - until) / 1000);
        s->slot++;
    }
    return 0;
}

static bench_measured run_sleepers(void *worker, uint64_t rounds)
{
    enum { SLEEPERS = 1000 };
    (void)worker;
    uint64_t slept = 0, late_us = 0;
    sleeper *all = bench_allocate(SLEEPERS, sizeof *all);
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    double cpu = bench_cpu(), start = bench_now();
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        all[i].number = (uint32_t)rounds;
        all[i].sleep_ms = 10;
        bench_must(rad_nursery_spawn(&n, NULL, ticker_main, &all[i]));
    }
    bench_must(rad_nursery_wait(&n));
    double share = (bench_cpu() - cpu) / (bench_now() - start);
    for (uint64_t i = 0; i < SLEEPERS; i++) {
        slept += all[i].slot;
        late_us += all[i].late_us;
    }
    bench_measured m = bench_one(share * 100, "%-of-a-CPU", slept);
    bench_add(&m, (double)late_us / (double)slept, "us-late", slept);
    free(all);
    return m;
}

static int waits_for_cancel(void *arg)
{
    _Atomic uint64_t *begun = arg;
    atomic_fetch_add(begun, 1);
    RAD_IGNORE(rad_sleep_until(RAD_FOREVER));
    return 0;
}

static bench_measured run_nursery(void *worker, uint64_t count)
{
    (void)worker;
    _Atomic uint64_t begun = 0;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) bench_must(rad_nursery_spawn(&n, NULL, waits_for_cancel, &begun));
    double spawned = bench_now();
    while (atomic_load(&begun) < count) bench_must(rad_sleep(MILLISECOND));
    double parked = bench_now();
    rad_nursery_cancel(&n, 0);
    bench_must(rad_nursery_wait(&n));
    double ended = bench_now();
    bench_measured m = bench_one((spawned - start) * 1e9 / (double)count, "ns-spawn", begun);
    bench_add(&m, (ended - parked) * 1e9 / (double)count, "ns-cancel", begun);
    return m;
}

typedef struct meeting {
    rad_chan *end;
    _Atomic uint64_t arrived, left;
} meeting;

static int meeting_main(void *arg)
{
    meeting *m = arg;
    atomic_fetch_add(&m->arrived, 1);
    RAD_IGNORE(rad_recv(m->end, NULL, RAD_FOREVER)); /* until it is closed */
    atomic_fetch_add(&m->left, 1);
    return 0;
}

static bench_measured run_parked(void *worker, uint64_t count)
{
    (void)worker;
    meeting here = {.end = bench_chan(0, 0)};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    double before = bench_memory_kib();
    for (uint64_t i = 0; i < count; i++) bench_must(rad_nursery_spawn(&n, NULL, meeting_main, &here));
    while (atomic_load(&here.arrived) < count) rad_sleep(MILLISECOND);
    rad_sleep(10 * MILLISECOND); /* the last one to arrive parks */
    double after = bench_memory_kib();
    rad_chan_close(here.end, 0);
    bench_must(rad_nursery_wait(&n));
    rad_chan_destroy(here.end);
    return bench_one(bench_bytes_each(before, after, count), "bytes", here.left);
}

/* ---- Waking a parked fiber from outside ----------------------------------------------------------------- */

typedef struct bell {
    rad_chan *chan; /* when it was rung */
    sem_t answered;
    double latency_us;
} bell;

static int bell_main(void *arg)
{
    bell *b = arg;
    double rung;
    while (rad_recv(b->chan, &rung, RAD_FOREVER) == 0) {
        b->latency_us = (bench_now() - rung) * 1e6;
        sem_post(&b->answered);
    }
    sem_post(&b->answered);
    return 0;
}

static bench_measured unpark_after(rad_runtime *rt, uint64_t count, uint32_t gap_us)
{
    double *latencies_us = bench_allocate(count, sizeof *latencies_us);
    struct timespec gap = {.tv_nsec = (long)gap_us * 1000};
    bell b = {.chan = bench_chan(sizeof(double), 1)};
    sem_init(&b.answered, 0, 0);
    bench_must(rad_runtime_spawn(rt, NULL, bell_main, &b));
    for (uint64_t i = 0; i < count; i++) {
        nanosleep(&gap, NULL);
        double now = bench_now();
        bench_must(rad_send(b.chan, &now, RAD_FOREVER));
        while (sem_wait(&b.answered) != 0) continue;
        latencies_us[i] = b.latency_us;
    }
    rad_chan_close(b.chan, 0);
    while (sem_wait(&b.answered) != 0) continue;
    nanosleep(&gap, NULL); /* it leaves sem_post */
    bench_measured m = bench_percentiles(latencies_us, count);
    sem_destroy(&b.answered);
    rad_chan_destroy(b.chan);
    free(latencies_us);
    return m;
}

static bench_measured run_unpark(void *rt, uint64_t count)
{
    return unpark_after(rt, count, 500);
}

static bench_measured run_unpark_5ms(void *rt, uint64_t count)
{
    return unpark_after(rt, count, 5000);
}

/* ---- The table of workloads ------------------------------------------------------------------------- */

static const bench_load WORKLOADS[] = {
    {"yield", "two fibers, there and back", run_yield, NULL, 2000000, 1000, false, false},
    {"spawn1", "spawn, join, release one", run_spawn_one, NULL, 1000000, 1000, false, false},
    {"spawnb", "batches of 10,000, per fiber", run_spawn_batches, NULL, 1000000, 10000, false, false},
    {"cold", "first burst of a process, per fiber", run_cold, NULL, 100000, 1, true, false},
    {"startup", "an empty program, start to end", NULL, run_startup, 500, 5, true, false},
    {"pingpong", "unbuffered, there and back", run_ping_pong, NULL, 1000000, 1000, false, false},
    {"timeout", "the same, receives have deadlines", run_timeout, NULL, 1000000, 1000, false, false},
    {"buf11", "buffer of 128, 1:1, per item", run_buffered_1, NULL, 4000000, 4000, false, false},
    {"buf44", "buffer of 128, 4:4, per item", run_buffered_4, NULL, 4000000, 4000, false, false},
    {"select4", "one of 4 unbuffered, per item", run_select, NULL, 1000000, 1000, false, false},
    {"mutex", "100 fibers, lock and unlock", run_mutex, NULL, 1000000, 1000, false, false},
    {"timer", "armed, cancelled", run_timer, NULL, 1000000, 1000, false, false},
    {"timer1m", "a million live", run_timers_live, NULL, 1000000, 1000, false, false},
    {"skychan", "1,000,000 leaves, channels", run_skynet, NULL, 1000000, 1000, false, false},
    {"unpark", "0.5 ms apart", NULL, run_unpark, 2000, 20, false, false},
    {"unpark5ms", "5 ms apart", NULL, run_unpark_5ms, 300, 5, false, false},
    {"parked", "memory per fiber, 100,000 of them", run_parked, NULL, 100000, 10, true, false},
    {"sleepers", "1,000, 10 ms again and again", run_sleepers, NULL, 200, 2, true, false},
    {"nursery", "200,000 children, spawned and cancelled", run_nursery, NULL, 200000, 10, true, false},
    {"sleep100k", "100,000, 1 to 2 s", run_sleep, NULL, 100000, 100, true, false},
    {"sleep1m", "1,000,000, 1 to 2 s", run_sleep, NULL, 1000000, 100, true, false},
};

/* None in addition: the others have as many threads as they were told, also on a machine where the watch takes a
 * worker that does not get the CPU for one that is blocked. */
static void measure(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into)
{
    rad_options options = {.workers = workers, .extra_workers = RAD_NONE};
    bench_fibers_measure(&options, l, size, samples, into);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--empty") == 0) return empty_program();
    static const bench_loads ALL = {"rt", WORKLOADS, sizeof WORKLOADS / sizeof *WORKLOADS, measure};
    return bench_loads_main(&ALL, argc, argv);
}
