/* Plain threads: what fibers have to be cheaper than. WORKERS is the number of CPUs they may use. Most workloads are a
 * twentieth of what the others do, to end in the same time: those checksums are not compared. */
#define _GNU_SOURCE
#include "../peer.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static bench_measured per_operation(double start, uint64_t operations, uint64_t checksum)
{
    return bench_one((bench_now() - start) * 1e9 / (double)operations, "ns", checksum);
}

static pthread_t spawn(void *(*fn)(void *arg), void *arg)
{
    pthread_attr_t attr;
    pthread_t t;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    if (pthread_create(&t, &attr, fn, arg) != 0) bench_fail("no thread");
    pthread_attr_destroy(&attr);
    return t;
}

/* ---- Switches and spawns ----------------------------------------------------------------------------- */

typedef struct yielder {
    uint64_t count, done;
} yielder;

static void *yielder_main(void *arg)
{
    yielder *y = arg;
    for (; y->done < y->count; y->done++) sched_yield();
    return NULL;
}

static bench_measured run_yield(void *worker, uint64_t count)
{
    (void)worker;
    yielder pair[2] = {{count, 0}, {count, 0}};
    double start = bench_now();
    pthread_t a = spawn(yielder_main, &pair[0]), b = spawn(yielder_main, &pair[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return per_operation(start, count, pair[0].done + pair[1].done);
}

static void *nothing_main(void *arg)
{
    return arg;
}

static bench_measured spawn_batches(uint64_t count, uint64_t batch)
{
    pthread_t *threads = bench_allocate(batch, sizeof *threads);
    double start = bench_now();
    for (uint64_t first = 0; first < count; first += batch) {
        for (uint64_t i = 0; i < batch; i++) threads[i] = spawn(nothing_main, NULL);
        for (uint64_t i = 0; i < batch; i++) pthread_join(threads[i], NULL);
    }
    free(threads);
    return per_operation(start, count, count);
}

static bench_measured run_spawn_one(void *worker, uint64_t count)
{
    (void)worker;
    return spawn_batches(count, 1);
}

static bench_measured run_spawn_batches(void *worker, uint64_t count)
{
    (void)worker;
    return spawn_batches(count, count < 10000 ? count : 10000);
}

/* ---- A queue with a lock ------------------------------------------------------------------------------ */

enum { QUEUE_MOST = 128 };

typedef struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t room, some;
    uint32_t capacity, count, first;
    uint64_t share;
    uint64_t values[QUEUE_MOST];
} queue;

static queue queue_of(uint32_t capacity, uint64_t share)
{
    return (queue){.mutex = PTHREAD_MUTEX_INITIALIZER,
                   .room = PTHREAD_COND_INITIALIZER,
                   .some = PTHREAD_COND_INITIALIZER,
                   .capacity = capacity,
                   .share = share};
}

static void put(queue *q, uint64_t value)
{
    pthread_mutex_lock(&q->mutex);
    while (q->count == q->capacity) pthread_cond_wait(&q->room, &q->mutex);
    q->values[(q->first + q->count++) % q->capacity] = value;
    pthread_cond_signal(&q->some);
    pthread_mutex_unlock(&q->mutex);
}

static uint64_t take(queue *q)
{
    pthread_mutex_lock(&q->mutex);
    while (q->count == 0) pthread_cond_wait(&q->some, &q->mutex);
    uint64_t value = q->values[q->first];
    q->first = (q->first + 1) % q->capacity;
    q->count--;
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->mutex);
    return value;
}

typedef struct talk {
    queue there, back;
} talk;

static void *talk_partner(void *arg)
{
    talk *t = arg;
    for (uint64_t i = 0; i < t->there.share; i++) put(&t->back, take(&t->there));
    return NULL;
}

static bench_measured run_ping_pong(void *worker, uint64_t count)
{
    (void)worker;
    talk t = {queue_of(1, count), queue_of(1, count)};
    pthread_t partner = spawn(talk_partner, &t);
    uint64_t sum = 0;
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        put(&t.there, i);
        sum += take(&t.back);
    }
    bench_measured m = per_operation(start, count, sum);
    pthread_join(partner, NULL);
    return m;
}

static void *belt_producer(void *arg)
{
    queue *q = arg;
    for (uint64_t i = 0; i < q->share; i++) put(q, i);
    return NULL;
}

static void *belt_consumer(void *arg)
{
    queue *q = arg;
    for (uint64_t i = 0; i < q->share; i++) take(q);
    return NULL;
}

static bench_measured belt(uint64_t items, uint32_t pairs)
{
    queue q = queue_of(QUEUE_MOST, items / pairs);
    pthread_t all[8];
    double start = bench_now();
    for (uint32_t i = 0; i < pairs; i++) {
        all[2 * i] = spawn(belt_producer, &q);
        all[2 * i + 1] = spawn(belt_consumer, &q);
    }
    for (uint32_t i = 0; i < 2 * pairs; i++) pthread_join(all[i], NULL);
    return per_operation(start, items, items);
}

static bench_measured run_buffered_1(void *worker, uint64_t items)
{
    (void)worker;
    return belt(items, 1);
}

static bench_measured run_buffered_4(void *worker, uint64_t items)
{
    (void)worker;
    return belt(items, 4);
}

/* ---- Mutex ------------------------------------------------------------------------------------------- */

typedef struct crowd {
    pthread_mutex_t mutex;
    uint64_t share, count;
} crowd;

static void *crowd_main(void *arg)
{
    crowd *c = arg;
    for (uint64_t i = 0; i < c->share; i++) {
        pthread_mutex_lock(&c->mutex);
        c->count++;
        pthread_mutex_unlock(&c->mutex);
    }
    return NULL;
}

static bench_measured run_mutex(void *worker, uint64_t count)
{
    enum { CROWD = 100 };
    (void)worker;
    crowd c = {PTHREAD_MUTEX_INITIALIZER, count / CROWD, 0};
    pthread_t all[CROWD];
    double start = bench_now();
    for (uint32_t i = 0; i < CROWD; i++) all[i] = spawn(crowd_main, &c);
    for (uint32_t i = 0; i < CROWD; i++) pthread_join(all[i], NULL);
    return per_operation(start, count, c.count);
}

/* ---- Many -------------------------------------------------------------------------------------------- */

typedef struct meeting {
    sem_t end;
    _Atomic uint64_t arrived;
} meeting;

static void *meeting_main(void *arg)
{
    meeting *m = arg;
    atomic_fetch_add(&m->arrived, 1);
    while (sem_wait(&m->end) != 0) continue;
    return NULL;
}

/* Without what the kernel keeps for a thread: its stack there has 16 KiB. */
static bench_measured run_parked(void *worker, uint64_t count)
{
    (void)worker;
    meeting here = {.arrived = 0};
    pthread_t *threads = bench_allocate(count, sizeof *threads);
    struct timespec pause = {.tv_nsec = 1000000};
    sem_init(&here.end, 0, 0);
    double before = bench_memory_kib();
    for (uint64_t i = 0; i < count; i++) threads[i] = spawn(meeting_main, &here);
    while (atomic_load(&here.arrived) < count) nanosleep(&pause, NULL);
    double after = bench_memory_kib();
    for (uint64_t i = 0; i < count; i++) sem_post(&here.end);
    for (uint64_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
    sem_destroy(&here.end);
    free(threads);
    return bench_one(bench_bytes_each(before, after, count), "bytes", count);
}

/* ---- Waking ------------------------------------------------------------------------------------------ */

typedef struct bell {
    sem_t rung, answered;
    uint64_t count;
    double at, latency_us;
} bell;

static void *bell_main(void *arg)
{
    bell *b = arg;
    for (uint64_t i = 0; i < b->count; i++) {
        while (sem_wait(&b->rung) != 0) continue;
        b->latency_us = (bench_now() - b->at) * 1e6;
        sem_post(&b->answered);
    }
    return NULL;
}

static bench_measured unpark_after(uint64_t count, uint32_t gap_us)
{
    double *latencies_us = bench_allocate(count, sizeof *latencies_us);
    struct timespec gap = {.tv_nsec = (long)gap_us * 1000};
    bell b = {.count = count};
    sem_init(&b.rung, 0, 0);
    sem_init(&b.answered, 0, 0);
    pthread_t listener = spawn(bell_main, &b);
    for (uint64_t i = 0; i < count; i++) {
        nanosleep(&gap, NULL);
        b.at = bench_now();
        sem_post(&b.rung);
        while (sem_wait(&b.answered) != 0) continue;
        latencies_us[i] = b.latency_us;
    }
    pthread_join(listener, NULL);
    bench_measured m = bench_percentiles(latencies_us, count);
    free(latencies_us);
    return m;
}

static bench_measured run_unpark(void *worker, uint64_t count)
{
    (void)worker;
    return unpark_after(count, 500);
}

static bench_measured run_unpark_5ms(void *worker, uint64_t count)
{
    (void)worker;
    return unpark_after(count, 5000);
}

/* ---- Scenes: one part of a program beside another ------------------------------------------------------ */

typedef struct heart {
    uint64_t period_ns, count;
    double *late_us;
} heart;

static void *heart_main(void *arg)
{
    heart *h = arg;
    double begin = bench_now();
    for (uint64_t i = 0; i < h->count; i++) {
        double due = begin + (double)((i + 1) * h->period_ns) * 1e-9, now;
        while ((now = bench_now()) < due) {
            struct timespec rest = {(time_t)(due - now), (long)((due - now) * 1e9) % 1000000000};
            nanosleep(&rest, NULL);
        }
        h->late_us[i] = (now - due) * 1e6;
    }
    return NULL;
}

typedef struct kidnap {
    struct timespec blocks;
    _Atomic uint64_t done;
    double all;
} kidnap;

static void *kidnap_main(void *arg)
{
    kidnap *k = arg;
    nanosleep(&k->blocks, NULL);
    k->all = bench_now();
    atomic_fetch_add(&k->done, 1);
    return NULL;
}

/* The heart, and so many beside it. */
static void run_beside(heart *h, void *(*fn)(void *arg), void *arg, uint64_t count)
{
    pthread_t *threads = bench_allocate(count + 1, sizeof *threads);
    h->late_us = bench_allocate(h->count, sizeof *h->late_us);
    threads[count] = spawn(heart_main, h);
    for (uint64_t i = 0; i < count; i++) threads[i] = spawn(fn, arg);
    for (uint64_t i = 0; i <= count; i++) pthread_join(threads[i], NULL);
    free(threads);
}

static bench_measured run_kidnap(void *worker, uint64_t count)
{
    bool full = count >= 100;
    kidnap k = {.blocks = {full ? 2 : 0, full ? 0 : 50000000}};
    heart h = {full ? 100000000 : 10000000, full ? 55 : 20, NULL};
    uint64_t beats = 0;
    (void)worker;
    double start = bench_now();
    run_beside(&h, kidnap_main, &k, count);
    for (uint64_t i = 0; i < h.count; i++) beats += h.late_us[i] * 1e3 < (double)h.period_ns;
    bench_measured m = bench_one((double)beats, "beats", k.done);
    bench_add(&m, k.all - start, "s-all", k.done);
    free(h.late_us);
    return m;
}

static void *hog_main(void *arg)
{
    double end = *(double *)arg;
    while (bench_now() < end) continue;
    return NULL;
}

static bench_measured run_noisy(void *worker, uint64_t hogs)
{
    heart h = {10000000, hogs >= 15 ? 300 : 10, NULL};
    (void)worker;
    double end = bench_now() + (double)(h.period_ns * h.count) * 1e-9;
    run_beside(&h, hog_main, &end, hogs);
    bench_measured m = bench_percentiles(h.late_us, h.count);
    free(h.late_us);
    return m;
}

typedef struct herd {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
    _Atomic uint64_t there, woken;
    double first, last;
} herd;

static void *herd_main(void *arg)
{
    herd *h = arg;
    pthread_mutex_lock(&h->mutex);
    atomic_fetch_add(&h->there, 1);
    while (!h->open) pthread_cond_wait(&h->opened, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
    double now = bench_now();
    uint64_t nth = atomic_fetch_add(&h->woken, 1);
    if (nth == 0) h->first = now;
    h->last = now;
    return NULL;
}

static bench_measured run_herd(void *worker, uint64_t count)
{
    herd h = {.mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    pthread_t *threads = bench_allocate(count, sizeof *threads);
    struct timespec pause = {.tv_nsec = 20000000};
    (void)worker;
    for (uint64_t i = 0; i < count; i++) threads[i] = spawn(herd_main, &h);
    do nanosleep(&pause, NULL);
    while (atomic_load(&h.there) < count);
    pthread_mutex_lock(&h.mutex);
    h.open = true;
    double start = bench_now();
    pthread_cond_broadcast(&h.opened);
    pthread_mutex_unlock(&h.mutex);
    for (uint64_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
    free(threads);
    bench_measured m = bench_one((h.first - start) * 1e6, "us-first", h.woken);
    bench_add(&m, (h.last - start) * 1e6, "us-last", h.woken);
    return m;
}

enum { LAST = 1 << 30 };

typedef struct noise {
    talk talk;
    _Atomic bool over;
} noise;

static void *noise_partner(void *arg)
{
    talk *t = arg;
    for (uint64_t value = 0; value != LAST;) {
        value = take(&t->there);
        put(&t->back, value);
    }
    return NULL;
}

static void *noise_main(void *arg)
{
    noise *n = arg;
    pthread_t partner = spawn(noise_partner, &n->talk);
    for (uint64_t value = 0; value != LAST;) {
        value = atomic_load(&n->over) ? LAST : 1;
        put(&n->talk.there, value);
        take(&n->talk.back);
    }
    pthread_join(partner, NULL);
    return NULL;
}

static bench_measured run_interference(void *worker, uint64_t rounds)
{
    noise n = {.talk = {queue_of(1, 0), queue_of(1, 0)}};
    bench_measured alone = run_ping_pong(worker, rounds);
    pthread_t other = spawn(noise_main, &n);
    bench_measured beside = run_ping_pong(worker, rounds);
    atomic_store(&n.over, true);
    pthread_join(other, NULL);
    bench_measured m = bench_one(alone.figures[0].value, "ns-alone", 0);
    bench_add(&m, beside.figures[0].value, "ns-beside", 0);
    return m;
}

/* ---- The program ------------------------------------------------------------------------------------- */

static const bench_load WORKLOADS[] = {
    {"yield", "", run_yield, NULL, 100000, 1000, false, true},
    {"spawn1", "", run_spawn_one, NULL, 50000, 100, false, true},
    {"spawnb", "", run_spawn_batches, NULL, 50000, 100, false, true},
    {"pingpong", "", run_ping_pong, NULL, 50000, 100, false, true},
    {"buf11", "", run_buffered_1, NULL, 200000, 4000, false, true},
    {"buf44", "", run_buffered_4, NULL, 200000, 4000, false, true},
    {"mutex", "", run_mutex, NULL, 1000000, 1000, false, false},
    {"unpark", "", run_unpark, NULL, 2000, 20, false, false},
    {"unpark5ms", "", run_unpark_5ms, NULL, 300, 5, false, false},
    {"parked", "", run_parked, NULL, 10000, 10, false, true},
    {"kidnap", "", run_kidnap, NULL, 100, 4, false, false},
    {"noisy", "", run_noisy, NULL, 15, 3, false, false},
    {"herd", "", run_herd, NULL, 1000, 50, false, false},
    {"interfere", "", run_interference, NULL, 25000, 100, false, true},
};

static void measure(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (uint32_t i = 0; i < workers && i < CPU_SETSIZE; i++) CPU_SET(i, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) bench_fail("there are not so many CPUs");
    l->inside(NULL, l->tiny);
    for (uint32_t i = 0; i < samples; i++) into[i] = l->inside(NULL, size);
}

int main(int argc, char **argv)
{
    static const bench_loads ALL = {"pthreads", WORKLOADS, sizeof WORKLOADS / sizeof *WORKLOADS, measure};
    return peer_main(&ALL, "pthreads", argc, argv);
}
