/* test_shell.c — the executor on threads: spawn, join, refuse, fail, stop, place, count, and everything that
 * can go wrong while it is made. Groups: test_shell_group.c; races: test_shell_stress.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "exec/thread/thread.h"
#include "os/fault.h"

#include <raddle.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1000 };

static rad_exec *exec_with(rad_exec_options options)
{
    rad_exec *exec;
    rad_error error;
    if (rad_exec_create(&exec, &options, &error) != 0) fail_msg("%s", error.text);
    return exec;
}

typedef struct counted {
    rad_task task;
    _Atomic uint32_t runs;
    uint32_t number;
    _Atomic uint32_t worker; /* that ran it last */
} counted;

static enum rad_run counted_run(rad_task *task, rad_worker *w)
{
    counted *c = (counted *)task;
    atomic_store(&c->worker, rad_worker_index(w));
    atomic_fetch_add(&c->runs, 1);
    return RAD_RUN_DONE;
}

static counted *counted_new(uint32_t count, enum rad_run (*run)(rad_task *, rad_worker *))
{
    counted *tasks = calloc(count, sizeof *tasks);
    assert_non_null(tasks);
    for (uint32_t i = 0; i < count; i++) {
        tasks[i].task.run = run;
        tasks[i].number = i;
    }
    return tasks;
}

static void all_ran_once(const counted *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load(&tasks[i].runs) != 1) fail_msg("task %u ran %u times", i, atomic_load(&tasks[i].runs));
}

/* ---- In and out -------------------------------------------------------------------------------------- */

static void what_is_spawned_runs_once(void **state)
{
    (void)state;
    for (uint32_t workers = 0; workers <= 4; workers++) {
        rad_exec *exec = exec_with((rad_exec_options){.workers = workers});
        counted *tasks = counted_new(COUNT, counted_run);
        assert_true(rad_exec_workers(exec) == workers || workers == 0);
        assert_true(rad_exec_workers(exec) >= 1);
        for (uint32_t i = 0; i < COUNT; i++) assert_true(rad_exec_spawn(exec, &tasks[i].task));
        assert_int_equal(rad_exec_join(exec), 0);
        all_ran_once(tasks, COUNT);
        rad_exec_destroy(exec);
        free(tasks);
    }
}

static void drop_counted(void *context, rad_task *task)
{
    atomic_fetch_add((_Atomic uint32_t *)context, 1);
    atomic_fetch_add(&((counted *)task)->runs, 1);
}

static void what_comes_after_join_is_handed_back(void **state)
{
    (void)state;
    _Atomic uint32_t dropped = 0;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 2, .drop = drop_counted, .drop_context = &dropped});
    counted late = {.task.run = counted_run}, before = late;
    rad_task *batch[] = {&late.task, &late.task};
    assert_int_equal(rad_exec_join(exec), 0);
    assert_false(rad_exec_spawn(exec, &late.task));
    assert_false(rad_exec_spawn_on(exec, 1, &late.task));
    assert_false(rad_exec_spawn_batch(exec, batch, 2));
    assert_false(rad_exec_spawn_batch(exec, batch, 0));
    assert_memory_equal(&late, &before, sizeof late);
    assert_int_equal(rad_exec_join(exec), 0);
    rad_exec_close(exec);
    rad_exec_destroy(exec);
    assert_int_equal(dropped, 0); /* nothing of it stayed behind */
}

static void a_batch_is_taken_whole(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_exec *exec = exec_with((rad_exec_options){.workers = workers, .plain_wake = workers == 3});
        counted *tasks = counted_new(10 * COUNT, counted_run); /* more than the shared ring holds */
        rad_task **list = calloc(10 * COUNT, sizeof *list);
        for (uint32_t i = 0; i < 10 * COUNT; i++) list[i] = &tasks[i].task;
        assert_true(rad_exec_spawn_batch(exec, list, 0));
        assert_true(rad_exec_spawn_batch(exec, list, 1));
        assert_true(rad_exec_spawn_batch(exec, list + 1, 10 * COUNT - 1));
        assert_int_equal(rad_exec_join(exec), 0);
        all_ran_once(tasks, 10 * COUNT);
        rad_exec_destroy(exec);
        free(list);
        free(tasks);
    }
}

static void destroy_joins(void **state)
{
    (void)state;
    counted *tasks = counted_new(COUNT, counted_run);
    rad_exec *exec = exec_with((rad_exec_options){.workers = 2});
    for (uint32_t i = 0; i < COUNT; i++) assert_true(rad_exec_spawn(exec, &tasks[i].task));
    rad_exec_destroy(exec);
    all_ran_once(tasks, COUNT);
    free(tasks);
    rad_exec_destroy(exec_with((rad_exec_options){.workers = 3})); /* nothing to do */
    rad_exec_destroy(NULL);
}

/* A task of a closed executor may still spawn: it is in. */
typedef struct countdown {
    rad_task task;
    rad_exec *exec;
    _Atomic uint32_t *left;
    bool refused;
} countdown;

static enum rad_run countdown_run(rad_task *task, rad_worker *w)
{
    countdown *c = (countdown *)task;
    assert_ptr_equal(rad_worker_exec(w), c->exec);
    rad_exec_close(c->exec);
    counted outsider = {.task.run = counted_run};
    c->refused = !rad_exec_spawn(c->exec, &outsider.task);
    uint32_t left = atomic_fetch_sub(c->left, 1);
    if (left == 1) return RAD_RUN_DONE;
    if (left % 3 == 0)
        rad_worker_spawn(w, task);
    else if (left % 3 == 1)
        rad_worker_spawn_global(w, task);
    else
        rad_worker_spawn_on(w, left % rad_exec_workers(c->exec), task);
    return RAD_RUN_DONE;
}

static void a_shut_gate_is_for_outsiders(void **state)
{
    (void)state;
    _Atomic uint32_t left = 100;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 1});
    countdown c = {{.run = countdown_run}, exec, &left, false};
    assert_true(rad_exec_spawn(exec, &c.task));
    assert_int_equal(rad_exec_join(exec), 0);
    assert_int_equal(left, 0);
    assert_true(c.refused);
    rad_exec_destroy(exec);
}

static void *join_elsewhere(void *exec)
{
    return rad_exec_join(exec) == 7 ? exec : NULL;
}

static enum rad_run fail_with_number(rad_task *task, rad_worker *w)
{
    counted_run(task, w);
    return rad_worker_fail(w, ((counted *)task)->number);
}

static void several_threads_may_join(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        rad_exec *exec = exec_with((rad_exec_options){.workers = 2});
        counted failing = {.task.run = fail_with_number, .number = 7};
        pthread_t threads[3];
        void *same;
        assert_true(rad_exec_spawn(exec, &failing.task));
        for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, join_elsewhere, exec);
        assert_int_equal(rad_exec_join(exec), 7);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], &same);
            assert_ptr_equal(same, exec);
        }
        assert_int_equal(rad_exec_join(exec), 7);
        rad_exec_destroy(exec);
    }
}

/* ---- Failure ----------------------------------------------------------------------------------------- */

/* Task 0 spawns all others of its array, then fails. */
static enum rad_run spawn_all_and_fail(rad_task *task, rad_worker *w)
{
    counted *tasks = (counted *)task;
    counted_run(task, w);
    for (uint32_t i = 1; i < COUNT; i++) rad_worker_spawn(w, &tasks[i].task);
    return rad_worker_fail(w, -42);
}

static void a_failure_drains(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_exec *exec = exec_with((rad_exec_options){.workers = workers});
        counted *tasks = counted_new(COUNT, counted_run);
        counted late = {.task.run = counted_run};
        tasks[0].task.run = spawn_all_and_fail;
        assert_true(rad_exec_spawn(exec, &tasks[0].task));
        while (rad_exec_spawn(exec, &late.task)) { /* until the failure has shut the gate */
            while (atomic_load(&late.runs) == 0) sched_yield();
            atomic_store(&late.runs, 0);
        }
        assert_int_equal(rad_exec_join(exec), -42);
        all_ran_once(tasks, COUNT);
        rad_exec_destroy(exec);
        free(tasks);
    }
}

static enum rad_run fail_plainly(rad_task *task, rad_worker *w)
{
    counted_run(task, w);
    return RAD_RUN_FAILED;
}

static void a_failure_without_a_code_is_1(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 1});
    counted first = {.task.run = fail_plainly}, second = {.task.run = fail_with_number};
    second.number = 9;
    rad_task *both[] = {&first.task, &second.task};
    assert_true(rad_exec_spawn_batch(exec, both, 2));
    assert_int_equal(rad_exec_join(exec), 1); /* the first one counts */
    assert_int_equal(second.runs, 1);
    rad_exec_destroy(exec);
}

static void a_failure_stops_if_asked_to(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        _Atomic uint32_t dropped = 0;
        uint32_t workers = 1 + round % 3;
        rad_exec *exec = exec_with((rad_exec_options){
            .workers = workers, .stop_on_failure = true, .drop = drop_counted, .drop_context = &dropped});
        counted *tasks = counted_new(COUNT, counted_run);
        tasks[0].task.run = spawn_all_and_fail;
        assert_true(rad_exec_spawn(exec, &tasks[0].task));
        assert_int_equal(rad_exec_join(exec), -42);
        all_ran_once(tasks, COUNT); /* or were dropped once */
        if (workers == 1) assert_int_equal(dropped, COUNT - 1);
        rad_exec_destroy(exec);
        free(tasks);
    }
}

static enum rad_run block_first(rad_task *task, rad_worker *w)
{
    counted *c = (counted *)task;
    atomic_store(&c->worker, rad_worker_index(w));
    return atomic_fetch_add(&c->runs, 1) == 0 ? RAD_RUN_BLOCKED : RAD_RUN_DONE;
}

static void what_is_woken_after_the_stop_is_dropped(void **state)
{
    (void)state;
    _Atomic uint32_t dropped = 0;
    rad_exec *exec = exec_with(
        (rad_exec_options){.workers = 2, .stop_on_failure = true, .drop = drop_counted, .drop_context = &dropped});
    counted sleeper = {.task.run = block_first}, failing = {.task.run = fail_with_number};
    failing.number = 5;
    assert_true(rad_exec_spawn(exec, &sleeper.task));
    while (atomic_load(&sleeper.runs) == 0) sched_yield();
    assert_true(rad_exec_spawn(exec, &failing.task));
    assert_int_equal(rad_exec_join(exec), 5); /* does not wait for the blocked one */
    rad_exec_wake(exec, &sleeper.task);
    assert_int_equal(dropped, 0);
    rad_exec_destroy(exec);
    assert_int_equal(dropped, 1);
}

typedef struct postman {
    rad_task task;
    _Atomic bool begun;
    counted letter;
} postman;

/* Sends to worker 1 when its thread has come to its end. */
static enum rad_run send_to_the_dead(rad_task *task, rad_worker *w)
{
    postman *p = (postman *)task;
    atomic_store(&p->begun, true);
    while (atomic_load(&rad_worker_exec(w)->running) > 1) sched_yield();
    rad_worker_spawn_on(w, 1, &p->letter.task);
    return RAD_RUN_DONE;
}

static void what_is_sent_to_one_who_has_ended_is_dropped(void **state)
{
    (void)state;
    _Atomic uint32_t dropped = 0;
    rad_exec *exec = exec_with(
        (rad_exec_options){.workers = 2, .stop_on_failure = true, .drop = drop_counted, .drop_context = &dropped});
    postman p = {.task.run = send_to_the_dead, .letter.task.run = counted_run};
    counted failing = {.task.run = fail_plainly};
    assert_true(rad_exec_spawn_on(exec, 0, &p.task));
    while (!atomic_load(&p.begun)) sched_yield();
    assert_true(rad_exec_spawn_on(exec, 1, &failing.task));
    assert_int_equal(rad_exec_join(exec), 1);
    assert_int_equal(dropped, 1); /* before join returns */
    rad_exec_destroy(exec);
    assert_int_equal(dropped, 1);
}

/* ---- Whom a batch wakes ------------------------------------------------------------------------------ */

static uint64_t slept(const rad_exec *exec)
{
    rad_exec_counts counts;
    rad_exec_stats(exec, RAD_NONE, &counts);
    return counts.slept;
}

/* In the plain order every notice is a worker woken, so they can be counted. */
static uint64_t woken_by_a_batch(uint32_t size, uint32_t expected)
{
    rad_exec *exec = exec_with((rad_exec_options){.workers = 4, .plain_wake = true});
    counted *tasks = counted_new(size, counted_run);
    rad_task *list[9];
    for (uint32_t n = 0; n < size; n++) list[n] = &tasks[n].task;
    assert_true(rad_exec_spawn_batch(exec, list, size));
    while (slept(exec) < expected) sched_yield();
    usleep(10000);
    uint64_t woken = slept(exec);
    assert_int_equal(rad_exec_join(exec), 0);
    all_ran_once(tasks, size);
    rad_exec_destroy(exec);
    free(tasks);
    return woken;
}

/* A worker that is still on its way to sleep may take a task unnoticed, and then another one is woken for it: now and
 * then, where a batch that wakes too many does it each time. */
static void a_batch_wakes_no_more_than_it_can_use(void **state)
{
    static const uint32_t sizes[] = {1, 3, 4, 9};
    enum { TRIES = 50 };
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t expected = sizes[i] < 4 ? sizes[i] : 4, tries = 0;
        while (woken_by_a_batch(sizes[i], expected) != expected) assert_true(++tries < TRIES);
    }
}

/* A task that is made ready here while somebody sleeps is offered at once. */
typedef struct offering {
    rad_task task;
    bool wakes;
    counted other;
} offering;

static enum rad_run offer_and_stay(rad_task *task, rad_worker *w)
{
    offering *o = (offering *)task;
    uint32_t before = atomic_load(&o->other.runs);
    usleep(20000); /* the other worker sleeps */
    if (o->wakes)
        rad_worker_wake(w, &o->other.task);
    else
        rad_worker_spawn(w, &o->other.task);
    while (atomic_load(&o->other.runs) == before) sched_yield(); /* only the other one can run it */
    return RAD_RUN_DONE;
}

static void a_sleeper_is_offered_what_is_ready(void **state)
{
    (void)state;
    for (int wakes = 0; wakes < 2; wakes++) {
        rad_exec *exec = exec_with((rad_exec_options){.workers = 2});
        offering o = {.task.run = offer_and_stay, .wakes = wakes, .other.task.run = counted_run};
        if (wakes) {
            o.other.task.run = block_first;
            assert_true(rad_exec_spawn(exec, &o.other.task));
            while (atomic_load(&o.other.runs) == 0) sched_yield();
        }
        assert_true(rad_exec_spawn(exec, &o.task));
        assert_int_equal(rad_exec_join(exec), 0);
        assert_int_equal(o.other.runs, wakes ? 2 : 1);
        rad_exec_destroy(exec);
    }
}

/* ---- Where tasks are found --------------------------------------------------------------------------- */

typedef struct family {
    counted root, local, yields, global, sent;
} family;

static enum rad_run yield_first(rad_task *task, rad_worker *w)
{
    (void)w;
    return atomic_fetch_add(&((counted *)task)->runs, 1) == 0 ? RAD_RUN_YIELD : RAD_RUN_DONE;
}

static enum rad_run spawn_family(rad_task *task, rad_worker *w)
{
    family *f = (family *)task;
    rad_worker_spawn(w, &f->local.task);
    rad_worker_spawn(w, &f->yields.task);
    rad_worker_spawn_global(w, &f->global.task);
    rad_worker_spawn_on(w, 0, &f->sent.task);
    return counted_run(task, w);
}

static void sources_are_counted(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 1});
    family f = {.root.task.run = spawn_family,
                .local.task.run = counted_run,
                .yields.task.run = yield_first,
                .global.task.run = counted_run,
                .sent.task.run = counted_run};
    assert_true(rad_exec_spawn_on(exec, 0, &f.root.task));
    assert_int_equal(rad_exec_join(exec), 0);
    rad_exec_counts counts, of_one;
    rad_exec_stats(exec, RAD_NONE, &counts);
    rad_exec_stats(exec, 0, &of_one);
    assert_memory_equal(&counts, &of_one, sizeof counts);
    assert_int_equal(counts.ran, 6);
    assert_int_equal(counts.ended, 5);
    assert_int_equal(counts.spawned, 4);
    assert_int_equal(counts.in_flight, 0);
    assert_int_equal(counts.from_local, 2);
    assert_int_equal(counts.from_later, 1);
    assert_int_equal(counts.from_inbox, 2);
    assert_int_equal(counts.from_shared, 1);
    assert_int_equal(counts.stolen, 0);
    rad_exec_destroy(exec);
}

/* ---- Answers and places ------------------------------------------------------------------------------ */

static enum rad_run answer_in_turn(rad_task *task, rad_worker *w)
{
    static const enum rad_run answers[] = {RAD_RUN_AGAIN, RAD_RUN_YIELD, RAD_RUN_YIELD_GLOBAL, RAD_RUN_AGAIN,
                                           RAD_RUN_DONE};
    (void)w;
    return answers[atomic_fetch_add(&((counted *)task)->runs, 1)];
}

static void tasks_may_go_on(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 3});
    counted *tasks = counted_new(COUNT, answer_in_turn);
    for (uint32_t i = 0; i < COUNT; i++) assert_true(rad_exec_spawn(exec, &tasks[i].task));
    assert_int_equal(rad_exec_join(exec), 0);
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(tasks[i].runs, 5);
    rad_exec_counts counts;
    rad_exec_stats(exec, RAD_NONE, &counts);
    assert_int_equal(counts.ran, 5 * COUNT);
    assert_int_equal(counts.ended, COUNT);
    rad_exec_destroy(exec);
    free(tasks);
}

typedef struct waker {
    rad_task task;
    counted *sleeper;
} waker;

static enum rad_run waker_run(rad_task *task, rad_worker *w)
{
    counted *sleeper = ((waker *)task)->sleeper;
    while (atomic_load(&sleeper->runs) == 0) sched_yield();
    rad_worker_wake(w, &sleeper->task);
    return RAD_RUN_DONE;
}

static void a_blocked_task_waits_to_be_woken(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 2});
    counted sleepers[3] = {{.task.run = block_first}, {.task.run = block_first}, {.task.run = block_first}};
    waker w = {{.run = waker_run}, &sleepers[2]};
    for (int i = 0; i < 3; i++) assert_true(rad_exec_spawn(exec, &sleepers[i].task));
    for (int i = 0; i < 3; i++)
        while (atomic_load(&sleepers[i].runs) == 0) sched_yield();
    rad_exec_wake_on(exec, 1, &sleepers[0].task);
    assert_true(rad_exec_spawn(exec, &w.task));
    rad_exec_close(exec);
    rad_exec_wake(exec, &sleepers[1].task); /* a shut gate does not keep it from going on */
    assert_int_equal(rad_exec_join(exec), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(sleepers[i].runs, 2);
    assert_int_equal(sleepers[0].worker, 1);
    rad_exec_destroy(exec);
}

static void some_tasks_are_for_one_worker(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        rad_exec *exec = exec_with((rad_exec_options){.workers = 4, .plain_wake = plain});
        counted *tasks = counted_new(COUNT, counted_run);
        for (uint32_t i = 0; i < COUNT; i++) assert_true(rad_exec_spawn_on(exec, i % 4, &tasks[i].task));
        assert_int_equal(rad_exec_join(exec), 0);
        all_ran_once(tasks, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(tasks[i].worker, i % 4);
        rad_exec_destroy(exec);
        free(tasks);
    }
}

/* The plain order leaves a token behind when the worker is awake: its next sleep ends at once, with nothing to do and
 * nobody to steal from. */
static void a_single_worker_is_woken_for_nothing(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 1, .plain_wake = true, .spin_us = 50});
    counted *tasks = counted_new(COUNT, counted_run);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(rad_exec_spawn(exec, &tasks[i].task));
        if (i % 100 == 0) usleep(200);
    }
    assert_int_equal(rad_exec_join(exec), 0);
    all_ran_once(tasks, COUNT);
    rad_exec_destroy(exec);
    free(tasks);
}

typedef struct meeting {
    rad_task task;
    _Atomic uint32_t *here;
} meeting;

static enum rad_run meeting_run(rad_task *task, rad_worker *w)
{
    meeting *m = (meeting *)task;
    if (atomic_fetch_add(m->here, 1) == 0) rad_worker_spawn(w, &m[1].task);
    while (atomic_load(m->here) < 2) sched_yield(); /* for ever, unless another worker runs the second */
    return RAD_RUN_DONE;
}

static void a_single_local_task_is_shared(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        _Atomic uint32_t here = 0;
        rad_exec *exec = exec_with((rad_exec_options){.workers = 2, .hoard = 1});
        meeting both[2] = {{{.run = meeting_run}, &here}, {{.run = meeting_run}, &here}};
        assert_true(rad_exec_spawn(exec, &both[0].task));
        assert_int_equal(rad_exec_join(exec), 0);
        rad_exec_destroy(exec);
    }
}

/* ---- Options ----------------------------------------------------------------------------------------- */

static enum rad_run scratch_run(rad_task *task, rad_worker *w)
{
    uint32_t *count = rad_worker_scratch(w);
    counted_run(task, w);
    count[0]++; /* no lock: of this worker alone */
    count[999]++;
    atomic_fetch_add(&((counted *)task)->runs, (uintptr_t)count % 64 || count[0] != count[999]);
    return RAD_RUN_DONE;
}

static void scratch_is_of_one_worker(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 3, .scratch_size = 4000});
    counted *tasks = counted_new(COUNT, scratch_run);
    for (uint32_t i = 0; i < COUNT; i++) assert_true(rad_exec_spawn(exec, &tasks[i].task));
    assert_int_equal(rad_exec_join(exec), 0);
    all_ran_once(tasks, COUNT);
    rad_exec_destroy(exec);
    free(tasks);
}

static enum rad_run affinity_run(rad_task *task, rad_worker *w)
{
    counted *c = (counted *)task;
    cpu_set_t set;
    assert_null(rad_worker_scratch(w)); /* there is none */
    sched_getaffinity(0, sizeof set, &set);
    atomic_store(&c->runs, (uint32_t)CPU_COUNT(&set));
    return RAD_RUN_DONE;
}

static void workers_can_be_pinned(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 5, .pin = true, .seed = 3});
    counted *tasks = counted_new(5, affinity_run);
    for (uint32_t i = 0; i < 5; i++) assert_true(rad_exec_spawn_on(exec, i, &tasks[i].task));
    assert_int_equal(rad_exec_join(exec), 0);
    all_ran_once(tasks, 5); /* one CPU each */
    rad_exec_destroy(exec);
    free(tasks);
}

static void refuses(rad_exec_options options, const char *text)
{
    rad_exec *exec = (rad_exec *)text; /* something */
    rad_error error = {.code = -1, .text = "old"};
    assert_int_equal(rad_exec_create(&exec, &options, &error), RAD_EINPUT);
    assert_null(exec);
    assert_string_equal(error.text, text);
}

static void options_have_ranges(void **state)
{
    (void)state;
    refuses((rad_exec_options){.workers = 257}, "257 workers, at most 256");
    refuses((rad_exec_options){.steal_tries = 1001}, "steal_tries of 1001, at most 1000");
    refuses((rad_exec_options){.spin_us = 51}, "spin_us of 51, at most 50");
    refuses((rad_exec_options){.stack_size = 1000}, "stack_size of 1000 bytes, at least 65536");
    rad_exec *exec;
    assert_int_equal(rad_exec_create(&exec, NULL, NULL), 0);
    rad_exec_destroy(exec);
    exec = exec_with((rad_exec_options){.workers = 3, .spin_us = RAD_SPIN_NONE, .steal_tries = 1000});
    rad_exec_destroy(exec);
}

static uint32_t thread_count(void)
{
    uint32_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) count += d->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void making_one_may_fail_anywhere(void **state)
{
    (void)state;
    uint32_t threads = thread_count();
    rad_exec_options options = {.workers = 3, .scratch_size = 100, .pin = true};
    for (int os = 0; os < 2; os++) {
        uint32_t failures = 0;
        for (uint64_t n = 1;; n++) {
            rad_exec *exec;
            rad_error error = {0};
            if (os)
                rad__os_fail_at(n);
            else
                rad__alloc_fail_at(n);
            int code = rad_exec_create(&exec, &options, &error);
            rad__os_fail_at(0);
            rad__alloc_fail_at(0);
            if (code == 0) {
                assert_int_equal(rad_exec_join(exec), 0);
                rad_exec_destroy(exec);
                break;
            }
            failures++;
            assert_null(exec);
            assert_int_equal(code, os ? RAD_EIO : RAD_ENOMEM);
            assert_true(error.text[0] != 0);
            while (thread_count() != threads) usleep(1000); /* those that began have ended */
        }
        assert_true(failures >= (os ? 7 : 12));
    }
}

/* ---- Counts and rest --------------------------------------------------------------------------------- */

static void counts_add_up(void **state)
{
    (void)state;
    rad_exec *exec = exec_with((rad_exec_options){.workers = 2});
    counted *tasks = counted_new(COUNT, counted_run);
    tasks[0].task.run = spawn_all_and_fail;
    assert_true(rad_exec_spawn(exec, &tasks[0].task));
    assert_int_equal(rad_exec_join(exec), -42);
    rad_exec_counts all, one[2];
    rad_exec_stats(exec, RAD_NONE, &all);
    rad_exec_stats(exec, 0, &one[0]);
    rad_exec_stats(exec, 1, &one[1]);
    assert_int_equal(all.ran, COUNT);
    assert_int_equal(all.ended, COUNT);
    assert_int_equal(all.spawned, COUNT - 1);
    assert_int_equal(all.in_flight, 0);
    assert_int_equal(all.from_local + all.from_later + all.from_inbox + all.from_shared + all.stolen, COUNT);
    assert_int_equal(one[0].ran + one[1].ran, all.ran);
    rad_exec_destroy(exec);
    free(tasks);
}

static double cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

/* On a busy machine they may not be idle yet. If they never rested each while would cost as much. */
static void idle_workers_rest(void **state)
{
    (void)state;
    const struct timespec while_ = {.tv_nsec = 200000000};
    rad_exec *exec = exec_with((rad_exec_options){.workers = 4, .spin_us = 50});
    counted *tasks = counted_new(COUNT, counted_run);
    for (uint32_t i = 0; i < COUNT; i++) assert_true(rad_exec_spawn(exec, &tasks[i].task));
    double used = 1000;
    for (int i = 0; i < 50 && used > 50; i++) {
        double before = cpu_ms();
        nanosleep(&while_, NULL);
        used = cpu_ms() - before;
    }
    if (used > 50) fail_msg("four idle workers used %.1f ms of CPU in 200 ms", used);
    assert_int_equal(rad_exec_join(exec), 0);
    all_ran_once(tasks, COUNT);
    rad_exec_destroy(exec);
    free(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_spawned_runs_once),
        cmocka_unit_test(what_comes_after_join_is_handed_back),
        cmocka_unit_test(a_batch_is_taken_whole),
        cmocka_unit_test(destroy_joins),
        cmocka_unit_test(a_shut_gate_is_for_outsiders),
        cmocka_unit_test(several_threads_may_join),
        cmocka_unit_test(a_failure_drains),
        cmocka_unit_test(a_failure_without_a_code_is_1),
        cmocka_unit_test(a_failure_stops_if_asked_to),
        cmocka_unit_test(what_is_woken_after_the_stop_is_dropped),
        cmocka_unit_test(what_is_sent_to_one_who_has_ended_is_dropped),
        cmocka_unit_test(a_batch_wakes_no_more_than_it_can_use),
        cmocka_unit_test(a_sleeper_is_offered_what_is_ready),
        cmocka_unit_test(sources_are_counted),
        cmocka_unit_test(tasks_may_go_on),
        cmocka_unit_test(a_blocked_task_waits_to_be_woken),
        cmocka_unit_test(some_tasks_are_for_one_worker),
        cmocka_unit_test(a_single_worker_is_woken_for_nothing),
        cmocka_unit_test(a_single_local_task_is_shared),
        cmocka_unit_test(scratch_is_of_one_worker),
        cmocka_unit_test(workers_can_be_pinned),
        cmocka_unit_test(options_have_ranges),
        cmocka_unit_test(making_one_may_fail_anywhere),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(idle_workers_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
