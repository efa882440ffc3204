/* test_shell_group.c — fork and join: narrow, wide and deep groups, failures, a stop in the middle, small
 * stacks. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs `run` as the only task of an executor; what join says. */
static int64_t run_as_task(rad_exec_options options, rad_task *task)
{
    rad_exec *exec;
    rad_error error;
    if (rad_exec_create(&exec, &options, &error) != 0) fail_msg("%s", error.text);
    assert_true(rad_exec_spawn(exec, task));
    int64_t code = rad_exec_join(exec);
    rad_exec_destroy(exec);
    return code;
}

/* ---- Fib: the pattern -------------------------------------------------------------------------------- */

typedef struct fib {
    rad_job job;
    uint64_t n, value;
} fib;

static enum rad_run fib_run(rad_job *job, rad_worker *w)
{
    fib *f = (fib *)job;
    f->value = f->n;
    if (f->n < 2) return RAD_RUN_DONE;
    fib left = {.n = f->n - 1}, right = {.n = f->n - 2};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &left.job, fib_run);
    fib_run(&right.job, w);
    if (!rad_group_wait(w, &group)) return RAD_RUN_FAILED;
    f->value = left.value + right.value;
    return RAD_RUN_DONE;
}

typedef struct root {
    rad_task task;
    uint64_t size, result;
    _Atomic uint64_t count;
} root;

static enum rad_run fib_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    fib f = {.n = r->size};
    fib_run(&f.job, w);
    r->result = f.value;
    return RAD_RUN_DONE;
}

static void left_spawned_right_inline(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 5; workers++)
        for (int plain = 0; plain < 2; plain++) {
            root r = {.task.run = fib_root, .size = 20};
            rad_exec_options o = {.workers = workers, .plain_wake = plain, .spin_us = 20};
            assert_int_equal(run_as_task(o, &r.task), 0);
            assert_int_equal(r.result, 6765);
        }
}

/* ---- Small cases ------------------------------------------------------------------------------------- */

typedef struct numbered {
    rad_job job;
    uint32_t number;
    _Atomic uint32_t runs;
    root *root;
} numbered;

static enum rad_run numbered_run(rad_job *job, rad_worker *w)
{
    (void)w;
    numbered *n = (numbered *)job;
    atomic_fetch_add(&n->runs, 1);
    atomic_fetch_add(&n->root->count, n->number);
    return RAD_RUN_DONE;
}

static enum rad_run small_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    rad_group group = RAD_GROUP_INIT(w);
    r->result += rad_group_wait(w, &group); /* nothing was spawned */
    for (uint32_t i = 1; i <= 1000; i++) {  /* used again and again */
        numbered n = {.number = i, .root = r};
        rad_group_spawn(w, &group, &n.job, numbered_run);
        r->result += rad_group_wait(w, &group);
        r->result += rad_group_wait(w, &group);
    }
    return RAD_RUN_DONE;
}

static void small_groups(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        root r = {.task.run = small_root};
        assert_int_equal(run_as_task((rad_exec_options){.workers = workers}, &r.task), 0);
        assert_int_equal(r.result, 2001);
        assert_int_equal(r.count, 500500);
    }
}

static enum rad_run wide_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    numbered *jobs = calloc(r->size, sizeof *jobs);
    rad_group group = RAD_GROUP_INIT(w);
    for (uint32_t i = 0; i < r->size; i++) {
        jobs[i].number = i;
        jobs[i].root = r;
        rad_group_spawn(w, &group, &jobs[i].job, numbered_run);
    }
    r->result = rad_group_wait(w, &group);
    for (uint32_t i = 0; i < r->size; i++) r->result += atomic_load(&jobs[i].runs) == 1;
    free(jobs);
    return RAD_RUN_DONE;
}

static void wide_groups(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        root r = {.task.run = wide_root, .size = 100000};
        assert_int_equal(run_as_task((rad_exec_options){.workers = workers}, &r.task), 0);
        assert_int_equal(r.result, r.size + 1);
        assert_int_equal(r.count, r.size * (r.size - 1) / 2);
    }
}

/* Jobs that spawn into the group they are in, from whatever worker they are on, and yield in between. */
typedef struct sprout {
    numbered n;
    rad_group *group;
    struct sprout *all;
    uint32_t count;
} sprout;

static enum rad_run sprout_run(rad_job *job, rad_worker *w)
{
    sprout *s = (sprout *)job;
    uint32_t runs = atomic_fetch_add(&s->n.runs, 1), i = s->n.number;
    if (runs == 0 && i % 5 == 0) return RAD_RUN_YIELD;
    if (runs == 0 && i % 5 == 1) return RAD_RUN_YIELD_GLOBAL;
    if (runs == 0 && i % 5 == 2) return RAD_RUN_AGAIN;
    for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < s->count; k++)
        rad_group_spawn(w, s->group, &s->all[k].n.job, sprout_run);
    atomic_fetch_add(&s->n.root->count, 1);
    return RAD_RUN_DONE;
}

static enum rad_run sprout_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    sprout *all = calloc(r->size, sizeof *all);
    rad_group group = RAD_GROUP_INIT(w);
    for (uint32_t i = 0; i < r->size; i++)
        all[i] = (sprout){.n = {.number = i, .root = r}, .group = &group, .all = all, .count = (uint32_t)r->size};
    rad_group_spawn(w, &group, &all[0].n.job, sprout_run);
    r->result = rad_group_wait(w, &group);
    free(all);
    return RAD_RUN_DONE;
}

static void jobs_may_add_to_their_group(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        root r = {.task.run = sprout_root, .size = 30000};
        assert_int_equal(run_as_task((rad_exec_options){.workers = workers}, &r.task), 0);
        assert_int_equal(r.result, 1);
        assert_int_equal(r.count, r.size);
    }
}

/* ---- Deep -------------------------------------------------------------------------------------------- */

typedef struct chain {
    rad_job job;
    uint64_t left, depth;
} chain;

static enum rad_run chain_run(rad_job *job, rad_worker *w)
{
    chain *c = (chain *)job;
    if (c->left == 0) return RAD_RUN_DONE;
    chain next = {.left = c->left - 1};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &next.job, chain_run);
    if (!rad_group_wait(w, &group)) return RAD_RUN_FAILED;
    c->depth = next.depth + 1;
    return RAD_RUN_DONE;
}

static enum rad_run chain_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    chain c = {.left = r->size};
    chain_run(&c.job, w);
    r->result = c.depth;
    return RAD_RUN_DONE;
}

static void deep_nesting(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        root r = {.task.run = chain_root, .size = 5000};
        rad_exec_options o = {.workers = workers, .stack_size = 64 << 20};
        assert_int_equal(run_as_task(o, &r.task), 0);
        assert_int_equal(r.result, r.size);
    }
}

/* Each node takes a piece of the stack, so that helping others on top of it would soon use it up. */
typedef struct greedy {
    rad_job job;
    uint64_t levels, count;
} greedy;

static enum rad_run greedy_run(rad_job *job, rad_worker *w)
{
    greedy *g = (greedy *)job;
    char piece[1000];
    __asm__ volatile("" : : "r"(piece) : "memory"); /* otherwise a compiler may do without */
    g->count = 1;
    if (g->levels == 0) {
        sched_yield();
        return RAD_RUN_DONE;
    }
    greedy below[3];
    rad_group group = RAD_GROUP_INIT(w);
    for (int i = 0; i < 3; i++) {
        below[i].levels = g->levels - 1;
        rad_group_spawn(w, &group, &below[i].job, greedy_run);
    }
    if (!rad_group_wait(w, &group)) return RAD_RUN_FAILED;
    for (int i = 0; i < 3; i++) g->count += below[i].count;
    return RAD_RUN_DONE;
}

static enum rad_run greedy_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    greedy g = {.levels = r->size};
    greedy_run(&g.job, w);
    r->result = g.count;
    return RAD_RUN_DONE;
}

static void small_stacks_suffice(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    size_t stack_size = 512 << 10;
#else
    size_t stack_size = 64 << 10;
#endif
    for (uint32_t round = 0; round < 20; round++) {
        root r = {.task.run = greedy_root, .size = 8};
        rad_exec_options o = {.workers = 2 + round % 4, .stack_size = stack_size, .hoard = 1, .seed = round};
        assert_int_equal(run_as_task(o, &r.task), 0);
        assert_int_equal(r.result, 9841);
    }
}

/* ---- Failure ----------------------------------------------------------------------------------------- */

static enum rad_run odd_fails(rad_job *job, rad_worker *w)
{
    numbered *n = (numbered *)job;
    numbered_run(job, w);
    return n->number == 1 ? rad_worker_fail(w, 11) : RAD_RUN_DONE;
}

static enum rad_run failing_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    rad_group group = RAD_GROUP_INIT(w);
    numbered jobs[4] = {
        {.number = 0, .root = r}, {.number = 1, .root = r}, {.number = 2, .root = r}, {.number = 3, .root = r}};
    for (int i = 0; i < 4; i++) rad_group_spawn(w, &group, &jobs[i].job, odd_fails);
    r->result = rad_group_wait(w, &group);
    jobs[1].number = 5;
    rad_group_spawn(w, &group, &jobs[1].job, odd_fails);
    r->result += 2 * (uint64_t)rad_group_wait(w, &group); /* the group is as new */
    return RAD_RUN_DONE;
}

static void a_failed_job_spoils_its_group(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        root r = {.task.run = failing_root};
        assert_int_equal(run_as_task((rad_exec_options){.workers = workers}, &r.task), 11);
        assert_int_equal(r.result, 2);
        assert_int_equal(r.count, 0 + 1 + 2 + 3 + 5);
    }
}

static enum rad_run late_failure_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    rad_group group = RAD_GROUP_INIT(w);
    numbered n = {.root = r};
    enum rad_run answer = rad_worker_fail(w, 31);
    rad_group_spawn(w, &group, &n.job, numbered_run);
    rad_group_wait(w, &group);
    return answer;
}

static void a_failure_is_kept_across_a_wait(void **state)
{
    (void)state;
    root r = {.task.run = late_failure_root};
    assert_int_equal(run_as_task((rad_exec_options){.workers = 1}, &r.task), 31);
}

/* ---- Searching while waiting ------------------------------------------------------------------------- */

typedef struct slow {
    rad_job job;
    _Atomic bool begun, seen;
} slow;

static enum rad_run slow_run(rad_job *job, rad_worker *w)
{
    (void)w;
    slow *s = (slow *)job;
    atomic_store(&s->begun, true);
    while (!atomic_load(&s->seen)) sched_yield();
    for (volatile int i = 0; i < 10000; i++) continue; /* so that the waiter searches */
    return RAD_RUN_DONE;
}

static enum rad_run slow_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    for (uint64_t i = 0; i < r->size; i++) {
        rad_group group = RAD_GROUP_INIT(w);
        slow s = {.begun = false};
        rad_group_spawn(w, &group, &s.job, slow_run);
        while (!atomic_load(&s.begun)) sched_yield(); /* on another worker */
        atomic_store(&s.seen, true);
        rad_group_wait(w, &group);
    }
    atomic_store(&r->count, 1);
    return RAD_RUN_DONE;
}

static void a_wait_ends_its_search(void **state)
{
    (void)state;
    for (uint32_t workers = 2; workers <= 3; workers++) {
        rad_exec_options o = {.workers = workers, .hoard = 1, .spin_us = 50};
        rad_exec *exec;
        assert_int_equal(rad_exec_create(&exec, &o, NULL), 0);
        for (int round = 0; round < 20; round++) { /* somebody must be woken each time */
            root r = {.task.run = slow_root, .size = 20};
            assert_true(rad_exec_spawn(exec, &r.task));
            while (atomic_load(&r.count) == 0) sched_yield();
            usleep(2000); /* all sleep */
        }
        assert_int_equal(rad_exec_join(exec), 0);
        rad_exec_destroy(exec);
    }
}

/* ---- A stop in the middle ---------------------------------------------------------------------------- */

/* A tree in which one leaf fails and stops all. Every wait must return, though many jobs will never run. */
typedef struct doomed {
    rad_job job;
    uint32_t levels, number;
    _Atomic uint64_t *open; /* waits that have not returned */
} doomed;

static enum rad_run doomed_run(rad_job *job, rad_worker *w)
{
    doomed *d = (doomed *)job;
    if (d->levels == 0) return d->number % 128 == 77 ? rad_worker_fail(w, 77) : RAD_RUN_DONE;
    doomed below[4];
    rad_group group = RAD_GROUP_INIT(w);
    atomic_fetch_add(d->open, 1);
    for (uint32_t i = 0; i < 4; i++) {
        below[i] = (doomed){.levels = d->levels - 1, .number = 4 * d->number + i, .open = d->open};
        rad_group_spawn(w, &group, &below[i].job, doomed_run);
    }
    bool whole = rad_group_wait(w, &group);
    memset(below, 0x55, sizeof below); /* nobody may look at them any more */
    atomic_fetch_sub(d->open, 1);
    return whole ? RAD_RUN_DONE : RAD_RUN_FAILED;
}

static enum rad_run doomed_root(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    doomed d = {.levels = (uint32_t)r->size, .open = &r->count};
    r->result = doomed_run(&d.job, w);
    return RAD_RUN_DONE;
}

static void drop_nothing(void *context, rad_task *task)
{
    (void)task;
    ++*(int *)context; /* jobs of a group are not handed out */
}

static void a_stop_reaches_everybody_who_waits(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        int dropped = 0;
        root r = {.task.run = doomed_root, .size = 3 + round % 4};
        rad_exec_options o = {.workers = 1 + round % 5,
                              .stop_on_failure = round % 8 != 7,
                              .hoard = 1 + round % 3,
                              .drop = drop_nothing,
                              .drop_context = &dropped};
        int64_t code = run_as_task(o, &r.task);
        if (r.size > 3)
            assert_int_equal(code, 77);
        else
            assert_true(code == 0 || code == 77);
        assert_int_equal(r.count, 0);
        assert_int_equal(dropped, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_spawned_right_inline),
        cmocka_unit_test(small_groups),
        cmocka_unit_test(wide_groups),
        cmocka_unit_test(jobs_may_add_to_their_group),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(small_stacks_suffice),
        cmocka_unit_test(a_failed_job_spoils_its_group),
        cmocka_unit_test(a_failure_is_kept_across_a_wait),
        cmocka_unit_test(a_wait_ends_its_search),
        cmocka_unit_test(a_stop_reaches_everybody_who_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
