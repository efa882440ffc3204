/* test_shell_stress.c — races on purpose: spawning against join, and tasks that spread by every way there is.
 * Each task must run exactly as often as it should.
 *
 * RADDLE_STRESS multiplies the amounts (tests/nightly/exec_stress.sh); RADDLE_STRESS_SEED varies them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/prng.h"
#include "storm_support.h"

#include <raddle.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { RACES = 600, SPREAD_TASKS = 20000 };
#else
enum { RACES = 20000, SPREAD_TASKS = 1000000 };
#endif

static uint64_t number_from(const char *name, uint64_t defaults)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : defaults;
}

static rad_exec *exec_with(rad_exec_options options)
{
    rad_exec *exec;
    rad_error error;
    if (rad_exec_create(&exec, &options, &error) != 0) fail_msg("%s", error.text);
    return exec;
}

/* ---- Spawn against join ------------------------------------------------------------------------------ */

enum { SPAWNERS = 2, PER_SPAWNER = 8 };

typedef struct raced {
    rad_task task;
    _Atomic uint32_t runs;
} raced;

typedef struct race {
    pthread_barrier_t start, end;
    rad_exec *exec;
    bool over;
    raced tasks[SPAWNERS][PER_SPAWNER];
    uint32_t admitted[SPAWNERS];
} race;

typedef struct spawner {
    race *race;
    uint32_t number;
} spawner;

static enum rad_run raced_run(rad_task *task, rad_worker *w)
{
    (void)w;
    atomic_fetch_add_explicit(&((raced *)task)->runs, 1, memory_order_relaxed);
    return RAD_RUN_DONE;
}

static void *spawner_main(void *context)
{
    spawner *s = context;
    race *r = s->race;
    for (;;) {
        pthread_barrier_wait(&r->start);
        if (r->over) return NULL;
        uint32_t admitted = 0;
        while (admitted < PER_SPAWNER && rad_exec_spawn(r->exec, &r->tasks[s->number][admitted].task)) admitted++;
        r->admitted[s->number] = admitted;
        pthread_barrier_wait(&r->end);
    }
}

static void check_race(race *r)
{
    for (uint32_t s = 0; s < SPAWNERS; s++)
        for (uint32_t i = 0; i < PER_SPAWNER; i++) {
            uint32_t runs = atomic_load(&r->tasks[s][i].runs);
            if (runs != (i < r->admitted[s])) fail_msg("task %u ran %u times", i, runs);
            atomic_store(&r->tasks[s][i].runs, 0);
        }
}

static void spawning_against_join(void **state)
{
    (void)state;
    race r = {.over = false};
    pthread_t threads[SPAWNERS];
    spawner spawners[SPAWNERS];
    rad_prng prng = rad__prng(number_from("RADDLE_STRESS_SEED", 1), RAD_STREAM_TEST, 0);
    uint64_t races = storm_size(RACES / 2, RACES) * number_from("RADDLE_STRESS", 1), refused = 0;
    pthread_barrier_init(&r.start, NULL, SPAWNERS + 1);
    pthread_barrier_init(&r.end, NULL, SPAWNERS + 1);
    for (uint32_t s = 0; s < SPAWNERS; s++) {
        for (uint32_t i = 0; i < PER_SPAWNER; i++) r.tasks[s][i].task.run = raced_run;
        spawners[s] = (spawner){&r, s};
        pthread_create(&threads[s], NULL, spawner_main, &spawners[s]);
    }
    /* Until it was a race often enough. */
    for (uint64_t n = 0; n < races || refused <= races / 100; n++) {
        r.exec = exec_with((rad_exec_options){.workers = 1 + (uint32_t)(n % 3), .stack_size = 1 << 17});
        pthread_barrier_wait(&r.start);
        for (uint64_t spin = rad__prng_below(&prng, 2000); spin > 0; spin--) __asm__ volatile("");
        assert_int_equal(rad_exec_join(r.exec), 0);
        pthread_barrier_wait(&r.end);
        check_race(&r);
        for (uint32_t s = 0; s < SPAWNERS; s++) refused += r.admitted[s] < PER_SPAWNER;
        rad_exec_destroy(r.exec);
    }
    r.over = true;
    pthread_barrier_wait(&r.start);
    for (uint32_t s = 0; s < SPAWNERS; s++) pthread_join(threads[s], NULL);
}

/* ---- Spreading --------------------------------------------------------------------------------------- */

typedef struct spread spread;

typedef struct spreading {
    rad_job job; /* a task; in groups, a job */
    spread *all;
    _Atomic uint32_t runs;
    bool blocked;
} spreading;

struct spread {
    rad_exec *exec;
    spreading *tasks;
    uint64_t count, seed;
    _Atomic uint64_t next; /* the first that was not spawned */
    _Atomic uint64_t ended;
    _Atomic(spreading *) sleeper; /* somebody who is blocked */
};

static enum rad_run spreading_run(rad_task *task, rad_worker *w);

static enum rad_run spreading_job(rad_job *job, rad_worker *w)
{
    (void)w;
    spreading *s = (spreading *)job;
    atomic_fetch_add_explicit(&s->runs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->all->ended, 1, memory_order_relaxed);
    return RAD_RUN_DONE;
}

static spreading *take_new(spread *all)
{
    uint64_t at = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed);
    return at < all->count ? &all->tasks[at] : NULL;
}

static void spawn_somehow(spread *all, rad_worker *w, rad_prng *prng, rad_group *group)
{
    spreading *s = take_new(all);
    uint32_t workers = rad_exec_workers(all->exec);
    if (s == NULL) return;
    s->job.task.run = spreading_run;
    switch (rad__prng_below(prng, 6)) {
    case 0: rad_worker_spawn_global(w, &s->job.task); break;
    case 1: rad_worker_spawn_on(w, (uint32_t)rad__prng_below(prng, workers), &s->job.task); break;
    case 2:
        if (!rad_exec_spawn(all->exec, &s->job.task)) rad_worker_spawn(w, &s->job.task);
        break;
    case 3: rad_group_spawn(w, group, &s->job, spreading_job); break;
    default: rad_worker_spawn(w, &s->job.task); break;
    }
}

static void wake_somehow(spread *all, rad_worker *w, rad_prng *prng, spreading *sleeper)
{
    if (sleeper == NULL) return;
    uint64_t way = rad__prng_below(prng, 3);
    if (way == 0 && w != NULL)
        rad_worker_wake(w, &sleeper->job.task);
    else if (way == 1)
        rad_exec_wake_on(all->exec, (uint32_t)rad__prng_below(prng, rad_exec_workers(all->exec)), &sleeper->job.task);
    else
        rad_exec_wake(all->exec, &sleeper->job.task);
}

static enum rad_run spreading_run(rad_task *task, rad_worker *w)
{
    spreading *s = (spreading *)task;
    spread *all = s->all;
    uint32_t runs = atomic_fetch_add_explicit(&s->runs, 1, memory_order_relaxed);
    rad_prng prng = rad__prng(all->seed, RAD_STREAM_TEST, (uint64_t)(s - all->tasks) * 64 + runs);
    if (!s->blocked && rad__prng_below(&prng, 16) == 0) {
        s->blocked = true;
        atomic_fetch_sub_explicit(&s->runs, 1, memory_order_relaxed);
        wake_somehow(all, w, &prng, atomic_exchange(&all->sleeper, s));
        return RAD_RUN_BLOCKED;
    }
    rad_group group = RAD_GROUP_INIT(w);
    for (uint64_t children = rad__prng_below(&prng, 4); children > 0; children--) spawn_somehow(all, w, &prng, &group);
    if (!rad_group_wait(w, &group)) abort();
    atomic_fetch_add_explicit(&all->ended, 1, memory_order_relaxed);
    return RAD_RUN_DONE;
}

/* Keeps the spreading alive from outside until all tasks have been used. */
static void spread_all(spread *all)
{
    rad_prng prng = rad__prng(all->seed, RAD_STREAM_TEST, UINT64_MAX);
    while (atomic_load_explicit(&all->ended, memory_order_relaxed) < all->count) {
        for (int i = 0; i < 4; i++) {
            spreading *s = take_new(all);
            if (s == NULL) break;
            s->job.task.run = spreading_run;
            assert_true(rad_exec_spawn(all->exec, &s->job.task));
        }
        usleep(100);
        wake_somehow(all, NULL, &prng, atomic_exchange(&all->sleeper, NULL));
    }
}

static void spread_with(uint32_t workers, uint64_t count, uint64_t seed)
{
    rad_exec_options options = {.workers = workers,
                                .seed = seed,
                                .plain_wake = seed % 5 == 4,
                                .hoard = 1 + (uint32_t)(seed % 3) * 16,
                                .spin_us = seed % 4 == 0 ? RAD_SPIN_NONE : 0};
    spread all = {.exec = exec_with(options), .count = count, .seed = seed};
    all.tasks = calloc(count, sizeof *all.tasks);
    assert_non_null(all.tasks);
    for (uint64_t i = 0; i < count; i++) all.tasks[i].all = &all;
    spread_all(&all);
    assert_int_equal(rad_exec_join(all.exec), 0);
    for (uint64_t i = 0; i < count; i++)
        if (atomic_load(&all.tasks[i].runs) != 1)
            fail_msg("seed %llu: task %llu ran %u times", (unsigned long long)seed, (unsigned long long)i,
                     atomic_load(&all.tasks[i].runs));
    rad_exec_counts counts;
    rad_exec_stats(all.exec, RAD_NONE, &counts);
    assert_int_equal(counts.in_flight, 0);
    assert_true(counts.ended >= count); /* and the notices of groups */
    rad_exec_destroy(all.exec);
    free(all.tasks);
}

static void tasks_spread_by_every_way(void **state)
{
    (void)state;
    static const uint32_t workers[] = {2, 3, 4, 6, 8, 16};
    uint64_t left = SPREAD_TASKS * number_from("RADDLE_STRESS", 1);
    uint64_t seed = number_from("RADDLE_STRESS_SEED", 1);
    for (uint64_t round = 0; left > 0; round++, seed++) {
        uint64_t count = left < SPREAD_TASKS / 20 ? left : SPREAD_TASKS / 20;
        spread_with(workers[round % 6], count, seed);
        left -= count;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spawning_against_join),
        cmocka_unit_test(tasks_spread_by_every_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
