/* executor.c — the executor as a whole, as a thread would run it: each worker steps and waits for its token when
 * it would wait; somebody outside spawns tasks, each of which spawns one more, sends some to the last worker, and
 * closes. Everything ends: every task has run once, every worker has stopped, nothing is left over. */
#include "exec/worker.h"
#include "lab/l2/model.h"
#include "os/wait.h"

enum { WORKERS, TASKS, CHILDREN, SENT };
enum { WORKERS_MAX = 3, TASKS_MAX = 4 };

typedef struct item {
    rad_task task;
    uint32_t ran;
    struct item *child;
} item;

static rad_sched sched;
static rad_worker workers[WORKERS_MAX];
static item items[2 * TASKS_MAX], letters[TASKS_MAX];

static uint32_t executor_threads(const rad_case *c)
{
    return 1 + (uint32_t)c->params[WORKERS];
}

static const char *executor_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "spawner";
}

static void wake(uint32_t worker)
{
    if (worker != RAD_NONE) rad__os_word_wake(&sched.idle.seats[worker].wake_word, 1);
}

static enum rad_run run_item(rad_task *task, rad_worker *w)
{
    item *i = (item *)task;
    RAD_MODEL_ASSERT(i->ran == 0);
    i->ran = 1;
    if (i->child) wake(rad__worker_spawn(w, &i->child->task));
    return RAD_RUN_DONE;
}

/* Of the last worker alone. */
static enum rad_run run_letter(rad_task *task, rad_worker *w)
{
    RAD_MODEL_ASSERT(w->id == w->sched->config.workers - 1);
    return run_item(task, w);
}

static void executor_setup(const rad_case *c)
{
    rad_sched_config config = {
        .workers = (uint32_t)c->params[WORKERS],
        .steal_tries = 1,
        .hoard = 1,
        .rounds = 1,
        .ring = 2,
    };
    rad__model_name(&sched.gate, sizeof sched.gate, "gate");
    rad__model_name(&sched.done, sizeof sched.done, "done");
    rad__model_name(&sched.injector, sizeof sched.injector, "injector");
    rad__model_name(&sched.idle, sizeof sched.idle, "idle");
    rad__model_name(workers, sizeof workers, "worker");
    rad__model_name(items, sizeof items, "task");
    rad__model_name(letters, sizeof letters, "letter");
    RAD_MODEL_ASSERT(rad__sched_open(&sched, &config));
    rad__model_name(sched.idle.seats, config.workers * sizeof *sched.idle.seats, "token");
    for (uint32_t i = 0; i < config.workers; i++) RAD_MODEL_ASSERT(rad__worker_open(&workers[i], &sched, i));
    for (int64_t i = 0; i < c->params[TASKS]; i++) {
        items[i].task.run = items[TASKS_MAX + i].task.run = run_item;
        if (c->params[CHILDREN]) items[i].child = &items[TASKS_MAX + i];
    }
    for (int64_t i = 0; i < c->params[SENT]; i++) letters[i].task.run = run_letter;
}

static void work(rad_worker *w)
{
    while (w->phase != RAD_PHASE_STOPPED) {
        uint32_t draw = rad__worker_draws(w) ? rad__model_choose(w->sched->config.workers - 1) : 0;
        if (rad__worker_waits(w)) rad__os_word_wait(&sched.idle.seats[w->id].wake_word, 0);
        wake(rad__worker_step(w, draw).woken);
    }
}

static void spawn(const rad_case *c)
{
    for (int64_t i = 0; i < c->params[TASKS]; i++) {
        uint32_t woken;
        enum rad_gate_enter entered = rad__sched_spawn(&sched, &items[i].task, &woken);
        RAD_MODEL_ASSERT(entered == RAD_GATE_ENTERED);
        wake(woken);
    }
    for (int64_t i = 0; i < c->params[SENT]; i++) {
        enum rad_gate_enter entered = rad__gate_enter(&sched.gate, 1);
        RAD_MODEL_ASSERT(entered == RAD_GATE_ENTERED);
        wake(rad__sched_send(&sched, sched.config.workers - 1, &letters[i].task));
    }
    if (!rad__sched_shut(&sched)) return;
    rad__sched_finish(&sched);
    for (uint32_t i = 0; i < sched.config.workers; i++) {
        rad__idle_call(&sched.idle, i);
        wake(i);
    }
}

static void executor_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS])
        work(&workers[thread]);
    else
        spawn(c);
}

static void executor_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(rad__sched_leftover(&sched) == NULL);
    RAD_MODEL_ASSERT(rad__gate_count(&sched.gate) == 0);
    for (int64_t i = 0; i < c->params[TASKS]; i++) {
        RAD_MODEL_ASSERT(items[i].ran == 1);
        RAD_MODEL_ASSERT(items[TASKS_MAX + i].ran == (c->params[CHILDREN] ? 1 : 0));
    }
    for (int64_t i = 0; i < c->params[SENT]; i++) RAD_MODEL_ASSERT(letters[i].ran == 1);
    for (uint32_t i = 0; i < sched.config.workers; i++) rad__worker_close(&workers[i]);
    rad__sched_close(&sched);
}

static const rad_param executor_params[] = {
    [WORKERS] = {"workers", 1, 1, WORKERS_MAX, "workers", false},
    [TASKS] = {"tasks", 1, 1, TASKS_MAX, "tasks from outside", false},
    [CHILDREN] = {"children", 0, 0, 1, "each spawns one more", false},
    [SENT] = {"sent", 0, 0, 2, "tasks for the last worker alone", false},
    {.name = NULL},
};

RAD_MODEL(executor, .name = "l2-executor", .about = "the whole executor: spawn, run, sleep, stop",
          .params = executor_params, .covers = "worker sched idle gate inbox injector deque", .no_locals = true,
          .thread_count = executor_threads, .thread_role = executor_role, .setup = executor_setup,
          .body = executor_body, .check = executor_check);
