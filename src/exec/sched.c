#include "exec/sched.h"

#include "base/alloc.h"
#include "exec/worker.h"

bool rad__sched_open(rad_sched *s, const rad_sched_config *config)
{
    *s = (rad_sched){.config = *config};
    RAD_ASSERT(config->spare == 0 || !config->plain_wake); /* that one wakes seats, not workers */
    s->workers = rad__alloc(rad__sched_seats(s), sizeof(rad_worker *));
    if (s->workers == NULL) return false;
    if (!rad__injector_open(&s->injector, config->ring)) goto no_injector;
    if (!rad__idle_open(&s->idle, rad__sched_seats(s), config->plain_wake)) goto no_idle;
    s->idle.regular = config->workers;
    atomic_init(&s->live, config->workers);
    return true;
no_idle:
    rad__injector_close(&s->injector);
no_injector:
    rad__free(s->workers);
    return false;
}

void rad__sched_close(rad_sched *s)
{
    rad__idle_close(&s->idle);
    rad__injector_close(&s->injector);
    rad__free(s->workers);
    s->workers = NULL;
}

void rad__sched_reset(rad_sched *s)
{
    atomic_init(&s->gate.word, 0);
    atomic_init(&s->live, s->config.workers);
    atomic_init(&s->done, false);
    atomic_init(&s->failure, 0);
    rad__injector_reset(&s->injector);
    rad__idle_reset(&s->idle);
}

enum rad_gate_enter rad__sched_spawn(rad_sched *s, rad_task *task, uint32_t *woken)
{
    enum rad_gate_enter entered = rad__gate_enter(&s->gate, 1);
    *woken = RAD_NONE;
    if (entered != RAD_GATE_ENTERED) return entered;
    rad__injector_push(&s->injector, task); /* W1 */
    *woken = rad__idle_notify(&s->idle);
    return entered;
}

enum rad_gate_enter rad__sched_spawn_batch(rad_sched *s, rad_task *const *tasks, uint32_t count)
{
    enum rad_gate_enter entered = rad__gate_enter(&s->gate, count);
    if (entered != RAD_GATE_ENTERED) return entered;
    for (uint32_t i = 0; i < count; i++) rad__injector_push(&s->injector, tasks[i]); /* W1 */
    return entered;
}

uint32_t rad__sched_wake(rad_sched *s, rad_task *task)
{
    rad__injector_push(&s->injector, task); /* W1 */
    return rad__idle_notify(&s->idle);
}

uint32_t rad__sched_wake_near(rad_sched *s, uint32_t worker, rad_task *task)
{
    rad__injector_push(&s->injector, task); /* W1 */
    return rad__idle_notify_near(&s->idle, worker);
}

uint32_t rad__sched_send(rad_sched *s, uint32_t worker, rad_task *task)
{
    rad__inbox_push(&s->workers[worker]->inbox, task); /* W1 */
    return rad__idle_notify_worker(&s->idle, worker);
}

bool rad__sched_shut(rad_sched *s)
{
    return rad__gate_close(&s->gate) == RAD_GATE_DRAINED;
}

void rad__sched_finish(rad_sched *s)
{
    /* Pairs with rad__sched_is_done: whoever sees it sees what the tasks did. */
    atomic_store_explicit(&s->done, true, memory_order_seq_cst);
}

void rad__sched_enliven(rad_sched *s, uint32_t seat)
{
    /* Pairs with the loads in step_call (as `done` does with the new worker's first look at it) and in sees_work. */
    if (seat >= rad__sched_live(s)) atomic_store_explicit(&s->live, seat + 1, memory_order_seq_cst);
}

rad_task *rad__sched_leftover(rad_sched *s)
{
    rad_task *task = NULL;
    if (rad__injector_pop(&s->injector, &task, 1) == 1) return task;
    for (uint32_t i = 0; i < rad__sched_live(s); i++) {
        rad_worker *w = s->workers[i];
        task = w->current;
        w->current = NULL;
        if (task == NULL) task = rad__inbox_pop(&w->inbox);
        if (task != NULL) return task;
        if (rad__deque_steal(&w->local, &task) == RAD_STEAL_GOT) return task;
        if (rad__deque_steal(&w->later, &task) == RAD_STEAL_GOT) return task;
        if (rad__deque_steal(&w->due, &task) == RAD_STEAL_GOT) return task;
        if (rad__deque_steal(&w->woken, &task) == RAD_STEAL_GOT) return task;
    }
    return NULL;
}
