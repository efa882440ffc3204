/* deque.c — the work-stealing deque: its owner pushes and pops, thieves steal; every task is taken exactly once and
 * whoever takes it sees what was written into it. The race for the last one is in every schedule of two tasks;
 * with three the array grows (the instrumented copy begins with two slots). */
#include "exec/deque.h"
#include "lab/l2/model.h"

enum { THIEVES, TASKS, STEALS };
enum { TASKS_MAX = 8 };

typedef struct item {
    rad_task task;
    uint64_t content; /* plain: published by the deque */
    uint32_t taken;   /* plain: whoever takes it owns it */
} item;

static rad_deque deque;
static item items[TASKS_MAX];

static uint32_t deque_threads(const rad_case *c)
{
    return 1 + (uint32_t)c->params[THIEVES];
}

static const char *deque_role(const rad_case *c, uint32_t thread)
{
    (void)c;
    return thread == 0 ? "owner" : "thief";
}

static void deque_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&deque.top, sizeof deque.top, "top");
    rad__model_name(&deque.bottom, sizeof deque.bottom, "bottom");
    rad__model_name(&deque.array, sizeof deque.array, "array");
    rad__model_name(items, sizeof items, "task");
    RAD_MODEL_ASSERT(rad__deque_open(&deque));
}

static void take(rad_task *task)
{
    item *i = (item *)task;
    RAD_MODEL_ASSERT(i->content == (uint64_t)(i - items) + 1);
    RAD_MODEL_ASSERT(i->taken == 0);
    i->taken = 1;
}

static void owner(int64_t count)
{
    rad_task *task;
    for (int64_t i = 0; i < count; i++) {
        items[i].content = (uint64_t)i + 1;
        RAD_MODEL_ASSERT(rad__deque_push(&deque, &items[i].task));
    }
    while ((task = rad__deque_pop(&deque)) != NULL) take(task);
}

static void thief(int64_t tries)
{
    for (; tries > 0; tries--) {
        rad_task *task = NULL;
        if (rad__deque_steal(&deque, &task) == RAD_STEAL_GOT) take(task);
    }
}

static void deque_body(const rad_case *c, uint32_t thread)
{
    if (thread == 0)
        owner(c->params[TASKS]);
    else
        thief(c->params[STEALS]);
}

static void deque_check(const rad_case *c)
{
    rad_task *task;
    while ((task = rad__deque_pop(&deque)) != NULL) take(task);
    for (int64_t i = 0; i < c->params[TASKS]; i++) RAD_MODEL_ASSERT(items[i].taken == 1);
    rad__deque_close(&deque);
}

static const rad_param deque_params[] = {
    [THIEVES] = {"thieves", 1, 1, 3, "threads that steal", false},
    [TASKS] = {"tasks", 2, 1, TASKS_MAX, "tasks that are pushed", false},
    [STEALS] = {"steals", 2, 1, 8, "attempts of each thief", false},
    {.name = NULL},
};

RAD_MODEL(deque, .name = "l2-deque", .about = "the executor's deque: owner against thieves", .params = deque_params,
          .covers = "deque", .no_locals = true, .thread_count = deque_threads, .thread_role = deque_role,
          .setup = deque_setup, .body = deque_body, .check = deque_check);
