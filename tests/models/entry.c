/* entry.c — every way into the executor from outside (exec/thread/task.c): workers that fall asleep, and somebody who
 * hands them something by one of the calls of raddle.h and closes. All of it is run, once, and everybody stops. */
#include "exec/thread/thread.h"
#include "lab/l2/model.h"

enum { WORKERS, WAY, AWAY };
enum { WORKERS_MAX = 3, TASKS = 2 };
enum { SPAWN, BATCH, SPAWN_ON, WAKE, WAKE_NEAR, WAYS };

typedef struct item {
    rad_task task;
    uint32_t content; /* plain: published by whoever hands it over */
    uint32_t ran;
} item;

static rad_exec executor;
static rad_shell shells[WORKERS_MAX];
static item items[TASKS];

/* Where one worker may sleep instead: remembers that it was rung. */
static _Atomic uint32_t bell;

static enum rad_exec_slept sleeps_elsewhere(void *context, rad_worker *w, uint64_t ns)
{
    (void)context, (void)ns;
    if (!rad__shell_away(w)) return RAD_SLEPT_NOT;
    while (atomic_exchange_explicit(&bell, 0, memory_order_relaxed) == 0) rad__os_word_wait(&bell, 0);
    rad__shell_back(w);
    return RAD_SLEPT_UNTIL_WOKEN;
}

static void rings(void *context)
{
    (void)context;
    atomic_store_explicit(&bell, 1, memory_order_relaxed);
    rad__os_word_wake(&bell, 1);
}

static uint32_t entry_threads(const rad_case *c)
{
    return 1 + (uint32_t)c->params[WORKERS];
}

static const char *entry_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "outsider";
}

static enum rad_run item_run(rad_task *task, rad_worker *w)
{
    item *i = (item *)task;
    (void)w;
    RAD_MODEL_ASSERT(i->content == 7 && i->ran == 0);
    i->ran = 1;
    return RAD_RUN_DONE;
}

static void entry_setup(const rad_case *c)
{
    rad_sched_config config = {
        .workers = (uint32_t)c->params[WORKERS], .steal_tries = 1, .hoard = 1, .rounds = 1, .ring = 2};
    executor.shells = shells;
    if (c->params[AWAY]) executor.hooks = (rad_exec_hooks){.sleep = sleeps_elsewhere, .wake = rings};
    rad__model_name(&bell, sizeof bell, "bell");
    RAD_MODEL_ASSERT(rad__sched_open(&executor.sched, &config));
    rad__model_name(executor.sched.idle.seats, config.workers * sizeof *executor.sched.idle.seats, "token");
    rad__model_name(&executor, sizeof executor, "executor");
    rad__model_name(shells, sizeof shells, "shell");
    rad__model_name(items, sizeof items, "task");
    for (uint32_t i = 0; i < config.workers; i++) {
        RAD_MODEL_ASSERT(rad__worker_open(&shells[i].worker, &executor.sched, i));
        shells[i].exec = &executor;
    }
    for (uint32_t i = 0; i < TASKS; i++) items[i].task.run = item_run;
    if (c->params[WAY] >= WAKE) /* they were admitted, and blocked */
        RAD_MODEL_ASSERT(rad__gate_enter(&executor.sched.gate, TASKS) == RAD_GATE_ENTERED);
}

static bool hand_over(int64_t way, uint32_t worker, item *i)
{
    i->content = 7;
    if (way == SPAWN) return rad_exec_spawn(&executor, &i->task);
    if (way == SPAWN_ON) return rad_exec_spawn_on(&executor, worker, &i->task);
    if (way == WAKE_NEAR)
        rad__exec_wake_near(&executor, worker, &i->task);
    else
        rad_exec_wake(&executor, &i->task);
    return true;
}

static void outsider(const rad_case *c)
{
    uint32_t workers = executor.sched.config.workers;
    if (c->params[WAY] == BATCH) {
        rad_task *both[TASKS] = {&items[0].task, &items[1].task};
        items[0].content = items[1].content = 7;
        RAD_MODEL_ASSERT(rad_exec_spawn_batch(&executor, both, TASKS));
    } else {
        for (uint32_t i = 0; i < TASKS; i++) RAD_MODEL_ASSERT(hand_over(c->params[WAY], workers - 1, &items[i]));
    }
    if (!rad__sched_shut(&executor.sched)) return;
    rad__sched_finish(&executor.sched);
    for (uint32_t i = 0; i < workers; i++) {
        rad__idle_call(&executor.sched.idle, i);
        rad__exec_wake_thread(&executor, i);
    }
}

static void entry_body(const rad_case *c, uint32_t thread)
{
    if (thread == (uint32_t)c->params[WORKERS]) {
        outsider(c);
        return;
    }
    while (shells[thread].worker.phase != RAD_PHASE_STOPPED) rad__shell_step(&shells[thread]);
}

static void entry_check(const rad_case *c)
{
    (void)c;
    for (uint32_t i = 0; i < TASKS; i++) RAD_MODEL_ASSERT(items[i].ran == 1);
    RAD_MODEL_ASSERT(rad__sched_leftover(&executor.sched) == NULL);
    for (uint32_t i = 0; i < executor.sched.config.workers; i++) rad__worker_close(&shells[i].worker);
    rad__sched_close(&executor.sched);
}

static const rad_param entry_params[] = {
    [WORKERS] = {"workers", 1, 1, WORKERS_MAX, "workers", false},
    [WAY] = {"way", 0, 0, WAYS - 1, "spawn, spawn_batch, spawn_on, wake, wake near somebody", true},
    [AWAY] = {"away", 0, 0, 1, "one worker sleeps elsewhere: exec/thread/thread.h, S1 to G3", true},
    {.name = NULL},
};

RAD_MODEL(entry, .name = "l2-entry", .about = "every way into the executor from outside", .params = entry_params,
          .covers = "thread/task sched", .no_locals = true, .thread_count = entry_threads, .thread_role = entry_role,
          .setup = entry_setup, .body = entry_body, .check = entry_check);
