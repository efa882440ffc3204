/* own.c — a worker that takes only what is its own, while thieves take it, too: when it says that there is nothing,
 * there is nothing. It may sleep then, and nobody would look for what it left. */
#include "exec/worker.h"
#include "lab/l2/model.h"

enum { THIEVES, TASKS };
enum { THIEVES_MAX = 2, TASKS_MAX = 4 };

typedef struct item {
    rad_task task;
    uint32_t taken;
} item;

static rad_sched sched;
static rad_worker workers[2];
static item items[TASKS_MAX];

static uint32_t own_threads(const rad_case *c)
{
    return 1 + (uint32_t)c->params[THIEVES];
}

static const char *own_role(const rad_case *c, uint32_t thread)
{
    (void)c;
    return thread == 0 ? "owner" : "thief";
}

static void own_setup(const rad_case *c)
{
    rad_sched_config config = {.workers = 2, .steal_tries = 1, .hoard = 1, .rounds = 1, .ring = 2};
    rad__model_name(workers, sizeof workers, "worker");
    rad__model_name(items, sizeof items, "task");
    RAD_MODEL_ASSERT(rad__sched_open(&sched, &config));
    for (uint32_t i = 0; i < 2; i++) RAD_MODEL_ASSERT(rad__worker_open(&workers[i], &sched, i));
    for (int64_t i = 0; i < c->params[TASKS]; i++) {
        rad_deque *queues[TASKS_MAX] = {&workers[0].later, &workers[0].later, &workers[0].woken, &workers[0].local};
        if (queues[i] == &workers[0].woken)
            rad__worker_wake(&workers[0], &items[i].task);
        else
            RAD_MODEL_ASSERT(rad__deque_push(queues[i], &items[i].task));
    }
}

static void take(rad_task *task)
{
    item *i = (item *)task;
    RAD_MODEL_ASSERT(i->taken == 0);
    i->taken = 1;
}

static void own_body(const rad_case *c, uint32_t thread)
{
    rad_worker *w = &workers[0];
    rad_task *task;
    if (thread > 0) {
        rad_deque *d = c->params[TASKS] > 2 ? &w->woken : &w->later;
        if (rad__deque_steal(d, &task) == RAD_STEAL_GOT) take(task);
        return;
    }
    while (rad__worker_take_own(w, true)) {
        take(w->current);
        w->current = NULL;
        w->phase = RAD_PHASE_PICK;
    }
}

static void own_check(const rad_case *c)
{
    for (int64_t i = 0; i < c->params[TASKS]; i++) RAD_MODEL_ASSERT(items[i].taken == 1);
    for (uint32_t i = 0; i < 2; i++) rad__worker_close(&workers[i]);
    rad__sched_close(&sched);
}

static const rad_param own_params[] = {
    [THIEVES] = {"thieves", 1, 1, THIEVES_MAX, "threads that steal once", false},
    [TASKS] = {"tasks", 2, 1, TASKS_MAX, "tasks in the owner's queues", false},
    {.name = NULL},
};

RAD_MODEL(own, .name = "l2-own", .about = "a worker that takes what is its own leaves nothing", .params = own_params,
          .covers = "worker deque", .no_locals = true, .thread_count = own_threads, .thread_role = own_role,
          .setup = own_setup, .body = own_body, .check = own_check);
