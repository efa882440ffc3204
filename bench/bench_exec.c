/* bench_exec.c — what the executor costs: spawn, join, steal, inject, wake.
 *
 *     bench_exec [--tiny] [--json FILE]              all workloads with one and with two workers
 *     bench_exec --one WORKLOAD WORKERS [--tiny]     one run, for comparisons: "RESULT value unit checksum"
 *
 * In all workloads but `inject` and `wake` the root is itself a task. Tasks hand their number back in a slot
 * of their own; slots and tasks are allocated, touched and added up outside the time taken. */
#define _GNU_SOURCE
#include "bench.h"

#include <raddle.h>

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct figure {
    double value;
    const char *unit;
    uint64_t checksum;
} figure;

/* One measurement: up to two figures. */
typedef struct measured {
    figure figures[2];
    uint32_t count;
} measured;

static measured one_figure(double value, const char *unit, uint64_t checksum)
{
    return (measured){{{value, unit, checksum}}, 1};
}

static void *allocate(uint64_t count, size_t size)
{
    void *p = calloc(count, size);
    if (p == NULL) {
        fprintf(stderr, "bench_exec: out of memory\n");
        exit(3);
    }
    memset(p, 0x55, count * size); /* touched: page faults are not what is measured */
    memset(p, 0, count * size);
    return p;
}

/* ---- fib -------------------------------------------------------------------------------------------- */

typedef struct fib {
    rad_job job;
    uint64_t n, value;
} fib;

static enum rad_run fib_run(rad_job *job, rad_worker *w)
{
    fib *f = (fib *)job;
    if (f->n < 2) {
        f->value = f->n;
        return RAD_RUN_DONE;
    }
    fib left, right;
    left.n = f->n - 1;
    right.n = f->n - 2;
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &left.job, fib_run);
    fib_run(&right.job, w);
    rad_group_wait(w, &group);
    f->value = left.value + right.value;
    return RAD_RUN_DONE;
}

/* fib(n + 1) - 1: how many calls of fib(n) spawn. */
static uint64_t fib_spawns(uint64_t n)
{
    uint64_t before = 0, current = 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t next = before + current;
        before = current;
        current = next;
    }
    return current - 1;
}

static measured run_fib(rad_worker *w, uint64_t n)
{
    fib root = {.n = n};
    double start = bench_now();
    fib_run(&root.job, w);
    double seconds = bench_now() - start;
    return one_figure(seconds * 1e9 / (double)fib_spawns(n), "ns", root.value);
}

/* ---- spawn and join --------------------------------------------------------------------------------- */

typedef struct numbered {
    rad_job job;
    uint32_t number;
    uint32_t slot; /* the result */
} numbered;

static enum rad_run numbered_run(rad_job *job, rad_worker *w)
{
    (void)w;
    numbered *n = (numbered *)job;
    n->slot = n->number;
    return RAD_RUN_DONE;
}

static measured spawn_batches(rad_worker *w, uint64_t count, uint64_t batch)
{
    numbered *tasks = allocate(count, sizeof *tasks);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) tasks[i].number = (uint32_t)i;
    double start = bench_now();
    for (uint64_t first = 0; first < count; first += batch) {
        rad_group group = RAD_GROUP_INIT(w);
        for (uint64_t i = first; i < first + batch; i++)
            rad_group_spawn(w, &group, &tasks[i].job, numbered_run);
        rad_group_wait(w, &group);
    }
    double seconds = bench_now() - start;
    for (uint64_t i = 0; i < count; i++) sum += tasks[i].slot;
    free(tasks);
    return one_figure(seconds * 1e9 / (double)count, "ns", sum);
}

static measured run_spawn_one(rad_worker *w, uint64_t count)
{
    return spawn_batches(w, count, 1);
}

static measured run_spawn_batches(rad_worker *w, uint64_t count)
{
    return spawn_batches(w, count, 10000);
}

static measured run_burst(rad_worker *w, uint64_t count)
{
    return spawn_batches(w, count, count);
}

/* ---- chain ------------------------------------------------------------------------------------------ */

enum { LINKS = 4 }; /* a link has ended long before its place is used again */

typedef struct chain chain;

typedef struct chain_link {
    rad_job job;
    chain *chain;
    uint64_t number;
} chain_link;

struct chain {
    rad_group group;
    uint64_t length, hash;
    chain_link links[LINKS];
};

static enum rad_run link_run(rad_job *job, rad_worker *w)
{
    chain_link *l = (chain_link *)job;
    chain *c = l->chain;
    uint64_t number = l->number;
    c->hash = c->hash * 31 + number;
    if (++number < c->length) {
        chain_link *next = &c->links[number % LINKS];
        next->chain = c;
        next->number = number;
        rad_group_spawn(w, &c->group, &next->job, link_run);
    }
    return RAD_RUN_DONE;
}

static measured run_chain(rad_worker *w, uint64_t length)
{
    chain c = {.group = RAD_GROUP_INIT(w), .length = length};
    double start = bench_now();
    c.links[0].chain = &c;
    rad_group_spawn(w, &c.group, &c.links[0].job, link_run);
    rad_group_wait(w, &c.group);
    return one_figure((bench_now() - start) * 1e9 / (double)length, "ns", c.hash);
}

/* ---- tree ------------------------------------------------------------------------------------------- */

enum { CHILDREN_MAX = 8 };

typedef struct node {
    rad_job job;
    uint64_t state, levels_below, count;
} node;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint32_t child_count(uint64_t state, uint64_t levels_below)
{
    uint32_t count = 0;
    for (; levels_below > 0 && count < CHILDREN_MAX && (state & 255) < 192; state >>= 8) count++;
    return count;
}

static enum rad_run node_run(rad_job *job, rad_worker *w)
{
    node *n = (node *)job;
    uint32_t children = child_count(n->state, n->levels_below);
    n->count = 1;
    if (children == 0) return RAD_RUN_DONE;
    node below[CHILDREN_MAX];
    rad_group group = RAD_GROUP_INIT(w);
    for (uint32_t i = 0; i < children; i++) {
        below[i].state = mix(n->state + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
        below[i].levels_below = n->levels_below - 1;
        rad_group_spawn(w, &group, &below[i].job, node_run);
    }
    rad_group_wait(w, &group);
    for (uint32_t i = 0; i < children; i++) n->count += below[i].count;
    return RAD_RUN_DONE;
}

static measured run_tree(rad_worker *w, uint64_t depth)
{
    node root = {.state = mix(541), .levels_below = depth};
    double start = bench_now();
    node_run(&root.job, w);
    return one_figure((bench_now() - start) * 1e3, "ms", root.count);
}

/* ---- skynet ----------------------------------------------------------------------------------------- */

typedef struct sky {
    rad_job job;
    uint64_t first, leaves, sum;
} sky;

static enum rad_run sky_run(rad_job *job, rad_worker *w)
{
    sky *s = (sky *)job;
    if (s->leaves == 1) {
        s->sum = s->first;
        return RAD_RUN_DONE;
    }
    sky below[10];
    uint64_t share = s->leaves / 10, sum = 0;
    rad_group group = RAD_GROUP_INIT(w);
    for (uint32_t i = 0; i < 10; i++) {
        below[i].first = s->first + i * share;
        below[i].leaves = share;
        rad_group_spawn(w, &group, &below[i].job, sky_run);
    }
    rad_group_wait(w, &group);
    for (uint32_t i = 0; i < 10; i++) sum += below[i].sum;
    s->sum = sum;
    return RAD_RUN_DONE;
}

static measured run_skynet(rad_worker *w, uint64_t leaves)
{
    sky root = {.leaves = leaves};
    double start = bench_now();
    sky_run(&root.job, w);
    return one_figure((bench_now() - start) * 1e3, "ms", root.sum);
}

/* ---- From outside: inject and wake ------------------------------------------------------------------ */

typedef struct latch {
    _Atomic uint64_t left;
    sem_t zero;
} latch;

static void count_down(latch *l)
{
    if (atomic_fetch_sub(&l->left, 1) == 1) sem_post(&l->zero);
}

static void latch_wait(latch *l)
{
    while (sem_wait(&l->zero) != 0) continue;
}

static void must_spawn(rad_exec *exec, rad_task *task)
{
    if (rad_exec_spawn(exec, task)) return;
    fprintf(stderr, "bench_exec: a spawn was refused\n");
    exit(3);
}

typedef struct injected {
    rad_task task;
    latch *done;
    uint32_t number;
    uint32_t slot;
} injected;

static enum rad_run injected_run(rad_task *task, rad_worker *w)
{
    (void)w;
    injected *i = (injected *)task;
    i->slot = i->number;
    count_down(i->done);
    return RAD_RUN_DONE;
}

static measured run_inject(rad_exec *exec, uint64_t count)
{
    latch done = {.left = count};
    injected *tasks = allocate(count, sizeof *tasks);
    uint64_t sum = 0;
    sem_init(&done.zero, 0, 0);
    for (uint64_t i = 0; i < count; i++) {
        tasks[i].task.run = injected_run;
        tasks[i].done = &done;
        tasks[i].number = (uint32_t)i;
    }
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) must_spawn(exec, &tasks[i].task);
    latch_wait(&done);
    double seconds = bench_now() - start;
    for (uint64_t i = 0; i < count; i++) sum += tasks[i].slot;
    free(tasks);
    sem_destroy(&done.zero);
    return one_figure(seconds * 1e9 / (double)count, "ns", sum);
}

typedef struct woken {
    rad_task task;
    sem_t ran;
    double submitted, began;
} woken;

static enum rad_run woken_run(rad_task *task, rad_worker *w)
{
    (void)w;
    woken *t = (woken *)task;
    t->began = bench_now();
    sem_post(&t->ran);
    return RAD_RUN_DONE;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static measured wake_after(rad_exec *exec, uint64_t count, uint32_t gap_us)
{
    double *latencies_us = allocate(count, sizeof *latencies_us);
    struct timespec gap = {.tv_nsec = (long)gap_us * 1000};
    woken t = {.task.run = woken_run};
    sem_init(&t.ran, 0, 0);
    for (uint64_t i = 0; i < count; i++) {
        nanosleep(&gap, NULL);
        t.submitted = bench_now();
        must_spawn(exec, &t.task);
        while (sem_wait(&t.ran) != 0) continue;
        latencies_us[i] = (t.began - t.submitted) * 1e6;
    }
    sem_destroy(&t.ran);
    qsort(latencies_us, count, sizeof *latencies_us, compare_doubles);
    measured m = {{{latencies_us[count * 50 / 100], "us-p50", count},
                   {latencies_us[count * 99 / 100], "us-p99", count}},
                  2};
    free(latencies_us);
    return m;
}

static measured run_wake(rad_exec *exec, uint64_t count)
{
    return wake_after(exec, count, 500);
}

static measured run_wake_5ms(rad_exec *exec, uint64_t count)
{
    return wake_after(exec, count, 5000);
}

/* ---- The table of workloads ------------------------------------------------------------------------- */

typedef struct workload {
    const char *name, *about;
    measured (*inside)(rad_worker *w, uint64_t size);   /* as a task, or */
    measured (*outside)(rad_exec *exec, uint64_t size); /* on a thread that is no worker */
    uint64_t full, tiny;
} workload;

static const workload WORKLOADS[] = {
    {"fib", "left spawned, right inline; per spawn", run_fib, NULL, 32, 16},
    {"spawn1", "spawn and join one", run_spawn_one, NULL, 1000000, 1000},
    {"spawnb", "batches of 10,000, per task", run_spawn_batches, NULL, 1000000, 10000},
    {"burst", "all at once, per task", run_burst, NULL, 1000000, 1000},
    {"chain", "each spawns the next, per task", run_chain, NULL, 1000000, 1000},
    {"inject", "from a foreign thread, per task", NULL, run_inject, 1000000, 1000},
    {"tree", "unbalanced, 1,008,095 nodes", run_tree, NULL, 14, 8},
    {"skynet", "1,000,000 leaves", run_skynet, NULL, 1000000, 1000},
    {"wake", "0.5 ms apart", NULL, run_wake, 2000, 20},
    {"wake5ms", "5 ms apart", NULL, run_wake_5ms, 300, 5},
};
enum { WORKLOAD_COUNT = sizeof WORKLOADS / sizeof *WORKLOADS };

typedef struct root {
    rad_task task;
    const workload *workload;
    uint64_t size;
    uint32_t samples;
    measured *into;
} root;

static enum rad_run root_run(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    r->workload->inside(w, r->workload->tiny); /* warms up */
    for (uint32_t i = 0; i < r->samples; i++) r->into[i] = r->workload->inside(w, r->size);
    return RAD_RUN_DONE;
}

/* Measures `samples` times, after a tiny one that does not count. */
static void run(const workload *l, uint32_t workers, bool tiny, uint32_t samples, measured *into)
{
    rad_exec_options options = {.workers = workers};
    rad_exec *exec;
    rad_error error = {0};
    if (rad_exec_create(&exec, &options, &error) != 0) {
        fprintf(stderr, "bench_exec: %s\n", error.text);
        exit(3);
    }
    uint64_t size = tiny ? l->tiny : l->full;
    root r = {{.run = root_run}, l, size, samples, into};
    if (l->inside != NULL) {
        must_spawn(exec, &r.task);
        rad_exec_join(exec);
    } else {
        l->outside(exec, l->tiny);
        for (uint32_t i = 0; i < samples; i++) into[i] = l->outside(exec, size);
    }
    rad_exec_destroy(exec);
}

static int run_one(int argc, char **argv)
{
    bool tiny = argc == 5 && strcmp(argv[4], "--tiny") == 0;
    long workers = argc >= 4 ? strtol(argv[3], NULL, 10) : 0;
    if (workers < 1 || workers > 256 || (argc != 4 && !tiny)) {
        fprintf(stderr, "usage: bench_exec --one WORKLOAD WORKERS [--tiny]\n");
        return 2;
    }
    for (uint32_t i = 0; i < WORKLOAD_COUNT; i++) {
        measured m;
        if (strcmp(WORKLOADS[i].name, argv[2]) != 0) continue;
        run(&WORKLOADS[i], (uint32_t)workers, tiny, 1, &m);
        for (uint32_t k = 0; k < m.count; k++)
            printf("RESULT %.3f %s %llu\n", m.figures[k].value, m.figures[k].unit,
                   (unsigned long long)m.figures[k].checksum);
        return 0;
    }
    fprintf(stderr, "bench_exec: no workload '%s'\n", argv[2]);
    return 2;
}

int main(int argc, char **argv)
{
    bench b;
    if (argc > 1 && strcmp(argv[1], "--one") == 0) return run_one(argc, argv);
    if (!bench_open(&b, "exec", argc, argv)) return 2;
    for (uint32_t i = 0; i < WORKLOAD_COUNT; i++) {
        for (uint32_t workers = 1; workers <= 2; workers++) {
            measured m[BENCH_SAMPLES];
            uint32_t samples = bench_samples(&b);
            run(&WORKLOADS[i], workers, b.tiny, samples, m);
            for (uint32_t k = 0; k < m[0].count; k++) {
                double values[BENCH_SAMPLES];
                char what[100];
                for (uint32_t s = 0; s < samples; s++) {
                    values[s] = m[s].figures[k].value;
                    bench_result(&b, m[s].figures[k].checksum);
                }
                snprintf(what, sizeof what, "%s (%s), w%u", WORKLOADS[i].name, WORKLOADS[i].about,
                         workers);
                bench_row(&b, what, m[0].figures[k].unit, values, samples);
            }
        }
    }
    return bench_close(&b);
}
