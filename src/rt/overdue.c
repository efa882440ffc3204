#include "rt/overdue.h"

static void link_to(rad_task *task, rad_task *next)
{
    atomic_store_explicit(&task->next, next, memory_order_relaxed);
}

void rad__overdue_put(rad_overdue *u, rad_strand *s)
{
    rad_task *task = &s->task;
    link_to(task, NULL);
    rad__lock(&u->lock);
    if (u->last)
        link_to(u->last, task);
    else
        u->first = task;
    u->last = task;
    uint32_t count = atomic_load_explicit(&u->count, memory_order_relaxed);
    atomic_store_explicit(&u->count, count + 1, memory_order_relaxed);
    rad__unlock(&u->lock);
}

rad_strand *rad__overdue_take(rad_overdue *u)
{
    if (!rad__overdue_any(u)) return NULL;
    rad__lock(&u->lock);
    rad_task *task = u->first;
    if (task != NULL) {
        u->first = atomic_load_explicit(&task->next, memory_order_relaxed);
        if (u->first == NULL) u->last = NULL;
        uint32_t count = atomic_load_explicit(&u->count, memory_order_relaxed);
        atomic_store_explicit(&u->count, count - 1, memory_order_relaxed);
    }
    rad__unlock(&u->lock);
    return (rad_strand *)task;
}
