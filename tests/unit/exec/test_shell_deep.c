/* test_shell_deep.c — waits on a stack of which half is used: they take only what is their worker's own, and
 * still nothing waits for ever, whatever the jobs answer, whoever sends, and when memory runs out or all is stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

#include <raddle.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 2 << 20, HALF = STACK / 2 + (16 << 10), MANY = 1000 };

typedef struct root {
    rad_task task;
    enum rad_run (*body)(struct root *r, rad_worker *w);
    bool whole;
    _Atomic bool ended;
    _Atomic uint32_t count, at; /* where the test is */
    rad_exec *exec;
} root;

typedef struct piece {
    rad_job job;
    root *root;
    uint32_t runs;
} piece;

static void until(_Atomic uint32_t *at, uint32_t place)
{
    while (atomic_load(at) < place) sched_yield();
}

static void pass(uint64_t milliseconds)
{
    struct timespec time = {.tv_nsec = (long)milliseconds * 1000000};
    nanosleep(&time, NULL);
}

/* Waits with more than half of the stack in use. */
static __attribute__((noinline)) bool wait_deep(rad_worker *w, rad_group *group)
{
    char used[HALF];
    __asm__ volatile("" : : "r"(used) : "memory"); /* otherwise a compiler may do without */
    bool whole = rad_group_wait(w, group);
    __asm__ volatile("" : : "r"(used) : "memory");
    return whole;
}

static enum rad_run root_run(rad_task *task, rad_worker *w)
{
    root *r = (root *)task;
    enum rad_run answer = r->body(r, w);
    atomic_store(&r->ended, true);
    return answer;
}

/* A test that waits for ever ends here. */
static void run_with(rad_exec_options options, root *r)
{
    r->task.run = root_run;
    options.stack_size = STACK;
    options.hoard = 1;
    assert_int_equal(rad_exec_create(&r->exec, &options, NULL), 0);
    assert_true(rad_exec_spawn(r->exec, &r->task));
    while (!atomic_load(&r->ended)) pass(1); /* with an open gate */
    assert_int_equal(rad_exec_join(r->exec), 0);
    rad_exec_destroy(r->exec);
}

static void run_as_task(uint32_t workers, root *r)
{
    run_with((rad_exec_options){.workers = workers}, r);
}

/* ---- What jobs answer -------------------------------------------------------------------------------- */

static enum rad_run yielding_run(rad_job *job, rad_worker *w)
{
    static const enum rad_run answers[] = {RAD_RUN_YIELD_GLOBAL, RAD_RUN_AGAIN, RAD_RUN_YIELD, RAD_RUN_YIELD_GLOBAL,
                                           RAD_RUN_DONE};
    piece *p = (piece *)job;
    (void)w;
    enum rad_run answer = answers[p->runs++];
    if (answer == RAD_RUN_DONE) atomic_fetch_add(&p->root->count, 1);
    return answer;
}

static enum rad_run yielding_root(root *r, rad_worker *w)
{
    piece jobs[3] = {{.root = r}, {.root = r}, {.root = r}};
    rad_group group = RAD_GROUP_INIT(w);
    for (int i = 0; i < 3; i++) rad_group_spawn(w, &group, &jobs[i].job, yielding_run);
    r->whole = wait_deep(w, &group);
    return RAD_RUN_DONE;
}

static void jobs_may_yield_to_everybody(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        root r = {.body = yielding_root};
        run_as_task(workers, &r);
        assert_true(r.whole);
        assert_int_equal(r.count, 3);
    }
}

/* A deep wait has folded the group for certain; afterwards it is as new. */
static enum rad_run reusing_root(root *r, rad_worker *w)
{
    rad_group group = RAD_GROUP_INIT(w);
    r->whole = true;
    for (uint32_t i = 1; i <= 6; i++) {
        piece jobs[3] = {{.root = r}, {.root = r}, {.root = r}};
        for (int n = 0; n < 3; n++) rad_group_spawn(w, &group, &jobs[n].job, yielding_run);
        r->whole &= i % 2 ? wait_deep(w, &group) : rad_group_wait(w, &group);
        r->whole &= atomic_load(&r->count) == 3 * i; /* it did wait */
        r->whole &= wait_deep(w, &group);            /* for nothing */
    }
    return RAD_RUN_DONE;
}

static void groups_may_be_used_again(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        root r = {.body = reusing_root};
        run_as_task(workers, &r);
        assert_true(r.whole);
    }
}

/* ---- What is shared ---------------------------------------------------------------------------------- */

typedef struct shared {
    root root;
    bool deep;
    rad_task other;
    _Atomic bool ran;
} shared;

static enum rad_run other_run(rad_task *task, rad_worker *w)
{
    (void)w;
    atomic_store(&((shared *)((char *)task - offsetof(shared, other)))->ran, true);
    return RAD_RUN_DONE;
}

static enum rad_run patient_run(rad_job *job, rad_worker *w)
{
    (void)w;
    return ((piece *)job)->runs++ < MANY ? RAD_RUN_YIELD : RAD_RUN_DONE;
}

/* `whole` tells whether the wait took the task that belongs to nobody. */
static enum rad_run shared_root(root *r, rad_worker *w)
{
    shared *s = (shared *)r;
    piece job = {.root = r};
    rad_group group = RAD_GROUP_INIT(w);
    rad_worker_spawn_global(w, &s->other);
    rad_group_spawn(w, &group, &job.job, patient_run);
    assert_true(s->deep ? wait_deep(w, &group) : rad_group_wait(w, &group));
    r->whole = atomic_load(&s->ran);
    return RAD_RUN_DONE;
}

static void what_is_shared_is_left_to_others(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        shared s = {.root.body = shared_root, .deep = deep, .other.run = other_run};
        run_as_task(1, &s.root);
        assert_int_equal(s.root.whole, !deep);
        assert_true(s.ran); /* afterwards */
    }
}

/* ---- No memory --------------------------------------------------------------------------------------- */

static enum rad_run counting_run(rad_job *job, rad_worker *w)
{
    (void)w;
    atomic_fetch_add(&((piece *)job)->root->count, 1);
    return RAD_RUN_DONE;
}

static enum rad_run poor_root(root *r, rad_worker *w)
{
    piece *jobs = calloc(MANY, sizeof *jobs);
    rad_group group = RAD_GROUP_INIT(w);
    rad__alloc_fail_at(1);
    for (int i = 0; i < MANY; i++) {
        jobs[i].root = r;
        rad_group_spawn(w, &group, &jobs[i].job, counting_run);
    }
    rad__alloc_fail_at(0);
    r->whole = wait_deep(w, &group);
    free(jobs);
    return RAD_RUN_DONE;
}

static void jobs_that_found_no_room_are_run(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        root r = {.body = poor_root};
        run_as_task(workers, &r);
        assert_true(r.whole);
        assert_int_equal(r.count, MANY);
    }
}

/* More of them wait behind than their queue has room for. */
static enum rad_run patient_root(root *r, rad_worker *w)
{
    piece *jobs = calloc(MANY, sizeof *jobs);
    rad_group group = RAD_GROUP_INIT(w);
    for (int i = 0; i < MANY; i++) {
        jobs[i].root = r;
        rad_group_spawn(w, &group, &jobs[i].job, yielding_run);
    }
    rad__alloc_fail_at(1);
    r->whole = rad_group_wait(w, &group);
    rad__alloc_fail_at(0);
    free(jobs);
    return RAD_RUN_DONE;
}

static void what_yields_without_memory_is_run(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        root r = {.body = patient_root};
        run_as_task(workers, &r);
        assert_true(r.whole);
        assert_int_equal(r.count, MANY);
    }
}

/* ---- What is sent to it ------------------------------------------------------------------------------ */

typedef struct letter {
    rad_task task;
    _Atomic bool read;
} letter;

static enum rad_run letter_run(rad_task *task, rad_worker *w)
{
    (void)w;
    atomic_store(&((letter *)task)->read, true);
    return RAD_RUN_DONE;
}

typedef struct sending {
    piece piece;
    uint32_t opener;
} sending;

/* On another worker than its opener's, which by then sleeps. */
static enum rad_run sending_run(rad_job *job, rad_worker *w)
{
    sending *s = (sending *)job;
    letter letters[2] = {{.task.run = letter_run}, {.task.run = letter_run}};
    atomic_store(&s->piece.root->at, 1);
    until(&s->piece.root->at, 2);
    pass(20);
    assert_true(rad_exec_spawn_on(s->piece.root->exec, s->opener, &letters[0].task));
    while (!atomic_load(&letters[0].read)) sched_yield();
    pass(20);
    rad_worker_spawn_on(w, s->opener, &letters[1].task);
    while (!atomic_load(&letters[1].read)) sched_yield();
    return RAD_RUN_DONE;
}

static enum rad_run sending_root(root *r, rad_worker *w)
{
    sending s = {.piece = {.root = r}, .opener = rad_worker_index(w)};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &s.piece.job, sending_run);
    until(&r->at, 1);
    atomic_store(&r->at, 2);
    r->whole = wait_deep(w, &group);
    return RAD_RUN_DONE;
}

static void what_is_sent_is_run(void **state)
{
    (void)state;
    root r = {.body = sending_root};
    run_as_task(2, &r);
    assert_true(r.whole);
}

/* The plain order may have told this worker, and no other, of a task that everybody could run. */
static enum rad_run spawning_run(rad_job *job, rad_worker *w)
{
    root *r = ((piece *)job)->root;
    letter letters[2] = {{.task.run = letter_run}, {.task.run = letter_run}};
    (void)w;
    atomic_store(&r->at, 1);
    until(&r->at, 2);
    pass(20);
    /* Both workers are told when both are there. (One by one, a worker that is quick could have gone to sleep again
     * before the second, of which only this one would then be told, who does not come back.) */
    rad_task *both[] = {&letters[0].task, &letters[1].task};
    assert_true(rad_exec_spawn_batch(r->exec, both, 2));
    for (int i = 0; i < 2; i++)
        while (!atomic_load(&letters[i].read)) sched_yield();
    return RAD_RUN_DONE;
}

static enum rad_run spawning_root(root *r, rad_worker *w)
{
    piece job = {.root = r};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &job.job, spawning_run);
    until(&r->at, 1);
    atomic_store(&r->at, 2);
    r->whole = wait_deep(w, &group);
    return RAD_RUN_DONE;
}

static void in_the_plain_order_all_help(void **state)
{
    (void)state;
    root r = {.body = spawning_root};
    run_with((rad_exec_options){.workers = 2, .plain_wake = true}, &r);
    assert_true(r.whole);
}

/* ---- Neighbours that never end ----------------------------------------------------------------------- */

typedef struct neighbour {
    rad_task task;
    enum rad_run answer;
    root *root;
} neighbour;

/* There is always one more of these to run on the opener's worker, until the wait has ended. */
static enum rad_run neighbour_run(rad_task *task, rad_worker *w)
{
    neighbour *n = (neighbour *)task;
    atomic_fetch_add(&n->root->count, 1);
    if (atomic_load(&n->root->at) == 4) return RAD_RUN_DONE;
    if (n->answer != RAD_RUN_DONE) return n->answer;
    rad_worker_spawn(w, task);
    return RAD_RUN_DONE;
}

/* Keeps the other worker from taking the neighbour. */
static enum rad_run busy_run(rad_task *task, rad_worker *w)
{
    (void)w;
    until(&((neighbour *)task)->root->at, 4);
    return RAD_RUN_DONE;
}

typedef struct leaving {
    piece piece;
    neighbour busy;
} leaving;

static enum rad_run leaving_run(rad_job *job, rad_worker *w)
{
    leaving *l = (leaving *)job;
    root *r = l->piece.root;
    atomic_store(&r->at, 1);
    until(&r->at, 2);
    while (atomic_load(&r->count) < 3) sched_yield(); /* the wait has begun */
    rad_worker_spawn(w, &l->busy.task);
    return RAD_RUN_DONE;
}

static enum rad_run neighbours_root(root *r, rad_worker *w)
{
    static leaving l;
    static neighbour always;
    always = (neighbour){.task.run = neighbour_run, .answer = r->whole ? RAD_RUN_YIELD : RAD_RUN_DONE, .root = r};
    l = (leaving){.piece = {.root = r}, .busy = {.task.run = busy_run, .root = r}};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &l.piece.job, leaving_run);
    until(&r->at, 1); /* it has been stolen */
    rad_worker_spawn(w, &always.task);
    atomic_store(&r->at, 2);
    r->whole = wait_deep(w, &group);
    atomic_store(&r->at, 4);
    return RAD_RUN_DONE;
}

static void the_end_is_seen_beside_neighbours_that_go_on(void **state)
{
    (void)state;
    for (int yields = 0; yields < 2; yields++) {
        root r = {.body = neighbours_root, .whole = yields};
        run_as_task(2, &r);
        assert_true(r.whole);
    }
}

static enum rad_run buried_root(root *r, rad_worker *w)
{
    static neighbour always;
    always = (neighbour){.task.run = neighbour_run, .answer = RAD_RUN_DONE, .root = r};
    piece below = {.root = r};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &below.job, counting_run);
    rad_worker_spawn(w, &always.task); /* on top of it */
    r->whole = wait_deep(w, &group);
    atomic_store(&r->at, 4);
    return RAD_RUN_DONE;
}

static void a_job_below_a_neighbour_is_run(void **state)
{
    (void)state;
    root r = {.body = buried_root};
    run_as_task(1, &r);
    assert_true(r.whole);
}

/* ---- Stopped ----------------------------------------------------------------------------------------- */

typedef struct stubborn {
    rad_task task;
    _Atomic uint32_t dropped;
} stubborn;

static enum rad_run failing_run(rad_job *job, rad_worker *w)
{
    (void)job;
    return rad_worker_fail(w, 3);
}

/* Stops everything, which ends the group of the waiter below, and wants to be run again. */
static enum rad_run stubborn_run(rad_task *task, rad_worker *w)
{
    (void)task;
    rad_job jobs[2];
    rad_group group = RAD_GROUP_INIT(w);
    for (int i = 0; i < 2; i++) rad_group_spawn(w, &group, &jobs[i], failing_run);
    return rad_group_wait(w, &group) ? RAD_RUN_DONE : RAD_RUN_AGAIN;
}

typedef struct stopped {
    root root;
    bool deep;
    stubborn stubborn;
} stopped;

static enum rad_run stopped_root(root *r, rad_worker *w)
{
    stopped *s = (stopped *)r;
    piece below = {.root = r};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &below.job, counting_run);
    rad_worker_spawn(w, &s->stubborn.task); /* on top of it */
    r->whole = s->deep ? wait_deep(w, &group) : rad_group_wait(w, &group);
    return RAD_RUN_DONE;
}

static void count_dropped(void *context, rad_task *task)
{
    (void)context;
    atomic_fetch_add(&((stubborn *)task)->dropped, 1);
}

static void what_wants_to_run_again_is_dropped(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        stopped s = {
            .root = {.task.run = root_run, .body = stopped_root}, .deep = deep, .stubborn = {.task.run = stubborn_run}};
        rad_exec_options options = {.workers = 1, .stack_size = STACK, .stop_on_failure = true, .drop = count_dropped};
        rad_exec *exec;
        assert_int_equal(rad_exec_create(&exec, &options, NULL), 0);
        assert_true(rad_exec_spawn(exec, &s.root.task));
        assert_int_equal(rad_exec_join(exec), 3);
        rad_exec_destroy(exec);
        assert_false(s.root.whole);
        assert_int_equal(s.stubborn.dropped, 1);
    }
}

/* A job that yields after everything was stopped, on a worker that ends then. Its opener sleeps. */
typedef struct late {
    piece piece;
    _Atomic bool *failed;
} late;

static enum rad_run late_run(rad_job *job, rad_worker *w)
{
    late *l = (late *)job;
    (void)w;
    atomic_store(&l->piece.root->at, 1);
    while (!atomic_load(l->failed)) sched_yield();
    pass(20);
    return RAD_RUN_YIELD;
}

typedef struct last {
    rad_job job;
    _Atomic bool failed;
} last;

static enum rad_run last_run(rad_job *job, rad_worker *w)
{
    atomic_store(&((last *)job)->failed, true);
    return rad_worker_fail(w, 3);
}

static enum rad_run late_root(root *r, rad_worker *w)
{
    last l = {.failed = false};
    late job = {.piece = {.root = r}, .failed = &l.failed};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &job.piece.job, late_run);
    until(&r->at, 1); /* it has been stolen */
    rad_group_spawn(w, &group, &l.job, last_run);
    r->whole = rad_group_wait(w, &group);
    return RAD_RUN_DONE;
}

static void who_ends_tells_those_who_wait(void **state)
{
    (void)state;
    root r = {.task.run = root_run, .body = late_root};
    rad_exec_options options = {.workers = 2, .hoard = 1, .stop_on_failure = true};
    rad_exec *exec;
    r.whole = true;
    assert_int_equal(rad_exec_create(&exec, &options, NULL), 0);
    assert_true(rad_exec_spawn(exec, &r.task));
    assert_int_equal(rad_exec_join(exec), 3);
    rad_exec_destroy(exec);
    assert_false(r.whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_may_yield_to_everybody),
        cmocka_unit_test(groups_may_be_used_again),
        cmocka_unit_test(what_is_shared_is_left_to_others),
        cmocka_unit_test(jobs_that_found_no_room_are_run),
        cmocka_unit_test(what_yields_without_memory_is_run),
        cmocka_unit_test(what_is_sent_is_run),
        cmocka_unit_test(a_job_below_a_neighbour_is_run),
        cmocka_unit_test(in_the_plain_order_all_help),
        cmocka_unit_test(the_end_is_seen_beside_neighbours_that_go_on),
        cmocka_unit_test(what_wants_to_run_again_is_dropped),
        cmocka_unit_test(who_ends_tells_those_who_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
