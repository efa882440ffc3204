/* injector.c — the queue everybody shares: pushers against poppers over a ring of two, so that it is full, goes round
 * and spills into the overflow list. What is pushed is popped exactly once, with its content; afterwards nothing
 * is counted that is not there. With `counts`, poppers also ask how much there is: never more than was pushed (J2). */
#include "exec/injector.h"
#include "lab/l2/model.h"

enum { PUSHERS, TASKS, POPPERS, POPS, COUNTS };
enum { PUSHERS_MAX = 3, TASKS_MAX = 4, RING = 2, BATCH = 2 };

typedef struct item {
    rad_task task;
    uint64_t content; /* plain: published by the queue */
    uint32_t taken;   /* plain: whoever takes it owns it */
} item;

static rad_injector injector;
static item items[PUSHERS_MAX * TASKS_MAX];

static uint32_t injector_threads(const rad_case *c)
{
    return (uint32_t)(c->params[PUSHERS] + c->params[POPPERS]);
}

static const char *injector_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[PUSHERS] ? "pusher" : "popper";
}

static void injector_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&injector.head, sizeof injector.head, "head");
    rad__model_name(&injector.tail, sizeof injector.tail, "tail");
    rad__model_name(&injector.spilled, sizeof injector.spilled, "spilled");
    rad__model_name(&injector.taken, sizeof injector.taken, "taken");
    rad__model_name(&injector.overflow, sizeof injector.overflow, "overflow");
    rad__model_name(items, sizeof items, "task");
    RAD_MODEL_ASSERT(rad__injector_open(&injector, RING));
}

static void take(rad_task *task)
{
    item *i = (item *)task;
    RAD_MODEL_ASSERT(i->content == (uint64_t)(i - items) + 1);
    RAD_MODEL_ASSERT(i->taken == 0);
    i->taken = 1;
}

static uint32_t pop(void)
{
    rad_task *batch[BATCH];
    uint32_t count = rad__injector_pop(&injector, batch, BATCH);
    for (uint32_t i = 0; i < count; i++) take(batch[i]);
    return count;
}

static void injector_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[PUSHERS]) {
        for (int64_t i = 0; i < c->params[TASKS]; i++) {
            item *one = &items[thread * TASKS_MAX + (uint32_t)i];
            one->content = (uint64_t)(one - items) + 1;
            rad__injector_push(&injector, &one->task);
        }
        return;
    }
    for (int64_t i = 0; i < c->params[POPS]; i++) {
        pop();
        if (!c->params[COUNTS]) continue; /* ring and list are counted one after the other */
        uint64_t most = 2 * (uint64_t)(c->params[PUSHERS] * c->params[TASKS]);
        RAD_MODEL_ASSERT(rad__injector_count(&injector) <= most);
    }
}

static void injector_check(const rad_case *c)
{
    uint64_t left = 0;
    for (uint32_t p = 0; p < (uint32_t)c->params[PUSHERS]; p++)
        for (uint32_t i = 0; i < (uint32_t)c->params[TASKS]; i++) left += items[p * TASKS_MAX + i].taken == 0;
    RAD_MODEL_ASSERT(rad__injector_count(&injector) == left);
    RAD_MODEL_ASSERT(rad__injector_is_empty(&injector) == (left == 0));
    while (pop() > 0) {
    }
    for (uint32_t p = 0; p < (uint32_t)c->params[PUSHERS]; p++)
        for (uint32_t i = 0; i < (uint32_t)c->params[TASKS]; i++) RAD_MODEL_ASSERT(items[p * TASKS_MAX + i].taken == 1);
    RAD_MODEL_ASSERT(rad__injector_is_empty(&injector) && rad__injector_count(&injector) == 0);
    rad__injector_close(&injector);
}

static const rad_param injector_params[] = {
    [PUSHERS] = {"pushers", 2, 1, PUSHERS_MAX, "threads that push", false},
    [TASKS] = {"tasks", 1, 1, TASKS_MAX, "tasks of each", false},
    [POPPERS] = {"poppers", 1, 1, 3, "threads that pop", false},
    [POPS] = {"pops", 1, 1, 4, "batches that each pops", false},
    [COUNTS] = {"counts", 0, 0, 1, "poppers ask how much there is", true},
    {.name = NULL},
};

RAD_MODEL(injector, .name = "l2-injector", .about = "the executor's shared queue: ring of two and overflow list",
          .params = injector_params, .covers = "injector inbox", .no_locals = true, .thread_count = injector_threads,
          .thread_role = injector_role, .setup = injector_setup, .body = injector_body, .check = injector_check);
