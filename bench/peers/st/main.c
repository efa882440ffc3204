/* The State Threads peer: one thread, so it knows no WORKERS but 1. It has no channels: in `pingpong` a place for one
 * value with a condition variable stands in. */
#include "../peer.h"

#include <st.h>
#include <stdlib.h>

static bench_measured per_operation(double start, uint64_t operations, uint64_t checksum)
{
    return bench_one((bench_now() - start) * 1e9 / (double)operations, "ns", checksum);
}

static st_thread_t spawn(void *(*fn)(void *arg), void *arg)
{
    st_thread_t t = st_thread_create(fn, arg, 1, 16384);
    if (t == NULL) bench_fail("no thread");
    return t;
}

/* ---- Switches and spawns ----------------------------------------------------------------------------- */

typedef struct yielder {
    uint64_t count, done;
} yielder;

static void *yielder_main(void *arg)
{
    yielder *y = arg;
    for (; y->done < y->count; y->done++) st_usleep(0);
    return NULL;
}

static bench_measured run_yield(void *worker, uint64_t count)
{
    (void)worker;
    yielder pair[2] = {{count, 0}, {count, 0}};
    double start = bench_now();
    st_thread_t a = spawn(yielder_main, &pair[0]), b = spawn(yielder_main, &pair[1]);
    st_thread_join(a, NULL);
    st_thread_join(b, NULL);
    return per_operation(start, count, pair[0].done + pair[1].done);
}

typedef struct numbered {
    uint32_t number, slot;
} numbered;

static void *numbered_main(void *arg)
{
    numbered *n = arg;
    n->slot = n->number;
    return NULL;
}

static bench_measured spawn_batches(uint64_t count, uint64_t batch)
{
    numbered *all = bench_allocate(count, sizeof *all);
    st_thread_t *threads = bench_allocate(batch, sizeof *threads);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) all[i].number = (uint32_t)i;
    double start = bench_now();
    for (uint64_t first = 0; first < count; first += batch) {
        for (uint64_t i = 0; i < batch; i++) threads[i] = spawn(numbered_main, &all[first + i]);
        for (uint64_t i = 0; i < batch; i++) st_thread_join(threads[i], NULL);
    }
    bench_measured m = per_operation(start, count, 0);
    for (uint64_t i = 0; i < count; i++) sum += all[i].slot;
    m.figures[0].checksum = sum;
    free(threads);
    free(all);
    return m;
}

static bench_measured run_spawn_one(void *worker, uint64_t count)
{
    (void)worker;
    return spawn_batches(count, 1);
}

static bench_measured run_spawn_batches(void *worker, uint64_t count)
{
    (void)worker;
    return spawn_batches(count, 10000);
}

/* ---- Two that talk ----------------------------------------------------------------------------------- */

typedef struct place {
    bool full;
    uint64_t value;
    st_cond_t changed;
} place;

static void put(place *p, uint64_t value)
{
    while (p->full) st_cond_wait(p->changed);
    p->full = true;
    p->value = value;
    st_cond_signal(p->changed);
}

static uint64_t take(place *p)
{
    while (!p->full) st_cond_wait(p->changed);
    p->full = false;
    st_cond_signal(p->changed);
    return p->value;
}

typedef struct talk {
    place there, back;
    uint64_t count;
} talk;

static void *talk_partner(void *arg)
{
    talk *t = arg;
    for (uint64_t i = 0; i < t->count; i++) put(&t->back, take(&t->there));
    return NULL;
}

static bench_measured run_ping_pong(void *worker, uint64_t count)
{
    (void)worker;
    talk t = {{.changed = st_cond_new()}, {.changed = st_cond_new()}, count};
    st_thread_t partner = spawn(talk_partner, &t);
    uint64_t sum = 0;
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        put(&t.there, i);
        sum += take(&t.back);
    }
    bench_measured m = per_operation(start, count, sum);
    st_thread_join(partner, NULL);
    st_cond_destroy(t.there.changed);
    st_cond_destroy(t.back.changed);
    return m;
}

/* ---- Mutex ------------------------------------------------------------------------------------------- */

typedef struct crowd {
    st_mutex_t mutex;
    uint64_t share, count;
} crowd;

static void *crowd_main(void *arg)
{
    crowd *c = arg;
    for (uint64_t i = 0; i < c->share; i++) {
        st_mutex_lock(c->mutex);
        c->count++;
        st_mutex_unlock(c->mutex);
    }
    return NULL;
}

static bench_measured run_mutex(void *worker, uint64_t count)
{
    enum { CROWD = 100 };
    (void)worker;
    crowd c = {st_mutex_new(), count / CROWD, 0};
    st_thread_t all[CROWD];
    double start = bench_now();
    for (uint32_t i = 0; i < CROWD; i++) all[i] = spawn(crowd_main, &c);
    for (uint32_t i = 0; i < CROWD; i++) st_thread_join(all[i], NULL);
    st_mutex_destroy(c.mutex);
    return per_operation(start, count, c.count);
}

/* ---- Many -------------------------------------------------------------------------------------------- */

typedef struct sleeper {
    uint32_t number, slot, sleep_ms;
    double late_ms;
} sleeper;

static void *sleeper_main(void *arg)
{
    sleeper *s = arg;
    double begun = bench_now();
    st_usleep(s->sleep_ms * (st_utime_t)1000);
    s->late_ms = (bench_now() - begun) * 1e3 - s->sleep_ms;
    s->slot = s->number;
    return NULL;
}

static bench_measured run_sleep(void *worker, uint64_t count)
{
    (void)worker;
    sleeper *all = bench_allocate(count, sizeof *all);
    st_thread_t *threads = bench_allocate(count, sizeof *threads);
    uint64_t sum = 0;
    bench_sleep s = bench_sleep_begin(count);
    for (uint32_t i = 0; i < count; i++) {
        all[i].number = i;
        all[i].sleep_ms = s.base_ms + i % s.base_ms;
        threads[i] = spawn(sleeper_main, &all[i]);
    }
    s.spawned = bench_now();
    for (uint64_t i = 0; i < count; i++) st_thread_join(threads[i], NULL);
    s.ended = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        sum += all[i].slot;
        if (all[i].late_ms > s.latest_ms) s.latest_ms = all[i].late_ms;
    }
    bench_measured m = bench_sleep_end(&s, sum);
    free(threads);
    free(all);
    return m;
}

typedef struct meeting {
    st_cond_t end;
    uint64_t arrived, left;
} meeting;

static void *meeting_main(void *arg)
{
    meeting *m = arg;
    m->arrived++;
    st_cond_wait(m->end);
    m->left++;
    return NULL;
}

static bench_measured run_parked(void *worker, uint64_t count)
{
    (void)worker;
    meeting here = {.end = st_cond_new()};
    st_thread_t *threads = bench_allocate(count, sizeof *threads);
    double before = bench_memory_kib();
    for (uint64_t i = 0; i < count; i++) threads[i] = spawn(meeting_main, &here);
    while (here.arrived < count) st_usleep(1000);
    double after = bench_memory_kib();
    st_cond_broadcast(here.end);
    for (uint64_t i = 0; i < count; i++) st_thread_join(threads[i], NULL);
    st_cond_destroy(here.end);
    free(threads);
    return bench_one(bench_bytes_each(before, after, count), "bytes", here.left);
}

/* ---- The program ------------------------------------------------------------------------------------- */

static const bench_load WORKLOADS[] = {
    {"yield", "", run_yield, NULL, 2000000, 1000, false, false},
    {"spawn1", "", run_spawn_one, NULL, 1000000, 1000, false, false},
    {"spawnb", "", run_spawn_batches, NULL, 1000000, 10000, false, false},
    {"pingpong", "", run_ping_pong, NULL, 1000000, 1000, false, false},
    {"mutex", "", run_mutex, NULL, 1000000, 1000, false, false},
    {"parked", "", run_parked, NULL, 100000, 10, false, false},
    {"sleep100k", "", run_sleep, NULL, 100000, 100, false, false},
};

static void measure(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into)
{
    if (workers != 1) exit(2); /* it has one thread */
    if (st_init() != 0) bench_fail("st_init failed");
    l->inside(NULL, l->tiny);
    for (uint32_t i = 0; i < samples; i++) into[i] = l->inside(NULL, size);
}

int main(int argc, char **argv)
{
    static const bench_loads ALL = {"st", WORKLOADS, sizeof WORKLOADS / sizeof *WORKLOADS, measure};
    return peer_main(&ALL, "State Threads 1.9", argc, argv);
}
