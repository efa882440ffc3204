/* bench_exec.c — what the executor costs: spawn, join, steal, inject, wake. Its calls: loads.h.
 *
 * In all workloads but `inject` and `wake` the root is itself a task. Tasks hand their number back in a slot
 * of their own; slots and tasks are allocated, touched and added up outside the time taken. */
#define _GNU_SOURCE
#include "loads.h"

#include <raddle.h>

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static bench_measured run_fib(void *w, uint64_t n)
{
    fib root = {.n = n};
    double start = bench_now();
    fib_run(&root.job, w);
    double seconds = bench_now() - start;
    return bench_one(seconds * 1e9 / (double)fib_spawns(n), "ns", root.value);
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

static bench_measured spawn_batches(void *w, uint64_t count, uint64_t batch)
{
    numbered *tasks = bench_allocate(count, sizeof *tasks);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) tasks[i].number = (uint32_t)i;
    double start = bench_now();
    for (uint64_t first = 0; first < count; first += batch) {
        rad_group group = RAD_GROUP_INIT(w);
        for (uint64_t i = first; i < first + batch; i++) rad_group_spawn(w, &group, &tasks[i].job, numbered_run);
        rad_group_wait(w, &group);
    }
    double seconds = bench_now() - start;
    for (uint64_t i = 0; i < count; i++) sum += tasks[i].slot;
    free(tasks);
    return bench_one(seconds * 1e9 / (double)count, "ns", sum);
}

static bench_measured run_spawn_one(void *w, uint64_t count)
{
    return spawn_batches(w, count, 1);
}

static bench_measured run_spawn_batches(void *w, uint64_t count)
{
    return spawn_batches(w, count, 10000);
}

static bench_measured run_burst(void *w, uint64_t count)
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

static bench_measured run_chain(void *w, uint64_t length)
{
    chain c = {.group = RAD_GROUP_INIT(w), .length = length};
    double start = bench_now();
    c.links[0].chain = &c;
    rad_group_spawn(w, &c.group, &c.links[0].job, link_run);
    rad_group_wait(w, &c.group);
    return bench_one((bench_now() - start) * 1e9 / (double)length, "ns", c.hash);
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

static bench_measured run_tree(void *w, uint64_t depth)
{
    node root = {.state = mix(541), .levels_below = depth};
    double start = bench_now();
    node_run(&root.job, w);
    return bench_one((bench_now() - start) * 1e3, "ms", root.count);
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

static bench_measured run_skynet(void *w, uint64_t leaves)
{
    sky root = {.leaves = leaves};
    double start = bench_now();
    sky_run(&root.job, w);
    return bench_one((bench_now() - start) * 1e3, "ms", root.sum);
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
    if (!rad_exec_spawn(exec, task)) bench_fail("a spawn was refused");
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

static bench_measured run_inject(void *exec, uint64_t count)
{
    latch done = {.left = count};
    injected *tasks = bench_allocate(count, sizeof *tasks);
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
    return bench_one(seconds * 1e9 / (double)count, "ns", sum);
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

static bench_measured wake_after(void *exec, uint64_t count, uint32_t gap_us)
{
    double *latencies_us = bench_allocate(count, sizeof *latencies_us);
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
    bench_measured m = bench_percentiles(latencies_us, count);
    free(latencies_us);
    return m;
}

static bench_measured run_wake(void *exec, uint64_t count)
{
    return wake_after(exec, count, 500);
}

static bench_measured run_wake_5ms(void *exec, uint64_t count)
{
    return wake_after(exec, count, 5000);
}

/* ---- The table of workloads ------------------------------------------------------------------------- */

static const bench_load WORKLOADS[] = {
    {"fib", "left spawned, right inline; per spawn", run_fib, NULL, 32, 16, false, false},
    {"spawn1", "spawn and join one", run_spawn_one, NULL, 1000000, 1000, false, false},
    {"spawnb", "batches of 10,000, per task", run_spawn_batches, NULL, 1000000, 10000, false, false},
    {"burst", "all at once, per task", run_burst, NULL, 1000000, 1000, false, false},
    {"chain", "each spawns the next, per task", run_chain, NULL, 1000000, 1000, false, false},
    {"inject", "from a foreign thread, per task", NULL, run_inject, 1000000, 1000, false, false},
    {"tree", "unbalanced, 1,008,095 nodes", run_tree, NULL, 14, 8, false, false},
    {"skynet", "1,000,000 leaves", run_skynet, NULL, 1000000, 1000, false, false},
    {"wake", "0.5 ms apart", NULL, run_wake, 2000, 20, false, false},
    {"wake5ms", "5 ms apart", NULL, run_wake_5ms, 300, 5, false, false},
};

typedef struct root {
    rad_task task;
    const bench_load *load;
    uint64_t size;
    uint32_t samples;
    bench_measured *into;
} root;

static enum rad_run root_run(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    r->load->inside(w, r->load->tiny);
    for (uint32_t i = 0; i < r->samples; i++) r->into[i] = r->load->inside(w, r->size);
    return RAD_RUN_DONE;
}

static void measure(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into)
{
    rad_exec_options options = {.workers = workers};
    rad_exec *exec;
    rad_error error = {0};
    if (rad_exec_create(&exec, &options, &error) != 0) bench_fail(error.text);
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

int main(int argc, char **argv)
{
    static const bench_loads ALL = {"exec", WORKLOADS, sizeof WORKLOADS / sizeof *WORKLOADS, measure};
    return bench_loads_main(&ALL, argc, argv);
}
