/* direct_switch.h — a task that goes over to the next one by itself.
 *
 * A fiber that leaves its stack can go on to another one at once, without going back to the worker's step:
 *     next = rad__worker_next(w, run)     on its stack: `next` is current from here on
 *     switches to the stack of `next`
 *     rad__worker_left(w, task, answer)   off its stack (T3), what its run would have answered
 * When next is NULL it lets its run return instead, and the worker decides.
 *
 * In line: all of it takes a few nanoseconds, as calls it would be twice that. */
#ifndef RAD_EXEC_DIRECT_SWITCH_H
#define RAD_EXEC_DIRECT_SWITCH_H

#include "exec/choose.h"
#include "exec/worker.h"

/* What worker_next has found is of another kind: the worker will find it again. */
RAD_INTERNAL void rad__worker_put_back(rad_worker *w, rad_task *task);

/* By its worker: the newest of the woken tasks, if it is its turn, or else the oldest; or NULL. */
RAD_INLINE rad_task *rad__worker_take_woken(rad_worker *w)
{
    rad_task *task = NULL;
    uint64_t count = rad__deque_count(&w->woken);
    if (count == 0) return NULL;
    bool newest = rad__choose_newest(w->fresh, w->row);
    w->row = newest ? w->row + 1 : 0;
    w->fresh = false;
    /* One is left: one change of `top`; popping the last one would be that and one of `bottom`. */
    if (newest && count > 1) return rad__deque_pop(&w->woken);
    return rad__deque_steal(&w->woken, &task) == RAD_STEAL_GOT ? task : NULL;
}

/* By its worker: what goes before its own spawns; or NULL. */
RAD_INLINE rad_task *rad__worker_take_ahead(rad_worker *w)
{
    rad_task *task = NULL;
    if (RAD_UNLIKELY(rad__deque_count(&w->due) > 0) && rad__deque_steal(&w->due, &task) == RAD_STEAL_GOT) return task;
    task = rad__worker_take_woken(w);
    if (task == NULL) w->ahead = rad__worker_is_ahead(w);
    return task;
}

/* In RUN, every 8th time: asks one of the queues of lower rank, one after the other; or NULL. */
RAD_INTERNAL rad_task *rad__worker_take_turn(rad_worker *w, _Atomic uint64_t **source);

/* In RUN: the first of its own tasks by rank, if its run is `run`. NULL: there is none, or it is time to look
 * elsewhere. */
RAD_INLINE rad_task *rad__worker_next(rad_worker *w, enum rad_run (*run)(rad_task *task, rad_worker *w))
{
    rad_task *task = NULL;
    _Atomic uint64_t *source = &w->stats.from_local;
    RAD_DCHECK(w->phase == RAD_PHASE_RUN);
    if (RAD_UNLIKELY(rad__choose_fair(w->picks + 1) || rad__sched_is_done(w->sched))) return NULL;
    if (RAD_UNLIKELY(rad__choose_turn(w->picks)) &&
        (w->ahead || rad__deque_count(&w->local) > 0)) /* else those who yield are next anyway */
        task = rad__worker_take_turn(w, &source);
    if (task == NULL && w->ahead) task = rad__worker_take_ahead(w);
    if (task == NULL) { /* a look first: popping costs as much as all the rest */
        uint64_t local = rad__deque_count(&w->local);
        if (local == 1) { /* as in take_woken */
            if (rad__deque_steal(&w->local, &task) != RAD_STEAL_GOT) task = NULL;
        } else if (local > 1) {
            task = rad__deque_pop(&w->local);
        }
    }
    if (task == NULL) {
        source = &w->stats.from_later;
        if (rad__deque_steal(&w->later, &task) != RAD_STEAL_GOT) return NULL;
    }
    if (RAD_UNLIKELY(task->run != run)) {
        rad__worker_put_back(w, task);
        return NULL;
    }
    w->picks++;
    rad__worker_count(&w->stats.ran); /* of the one that leaves */
    rad__worker_count(source);
    w->current = task;
    return task;
}

/* DONE or AGAIN (it is next). Answers whose thread must be woken, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__worker_left_other(rad_worker *w, rad_task *task, enum rad_run answer);

/* YIELD: it is put behind those that wait. */
RAD_INLINE void rad__worker_put_later(rad_worker *w, rad_task *task)
{
    /* Out of memory: the inbox has room for everything. Only this worker will run the task then, but it does, also
     * when it looks at nothing that is shared. */
    if (RAD_UNLIKELY(!rad__deque_push(&w->later, task))) rad__inbox_push(&w->inbox, task);
}

/* DONE, YIELD, AGAIN (it is next) or BLOCKED. Answers whose thread must be woken, or RAD_NONE. */
RAD_INLINE uint32_t rad__worker_left(rad_worker *w, rad_task *task, enum rad_run answer)
{
    if (answer == RAD_RUN_BLOCKED) return RAD_NONE;
    if (answer != RAD_RUN_YIELD) return rad__worker_left_other(w, task, answer);
    rad__worker_put_later(w, task);
    return RAD_NONE;
}

/* Whether a task that yields may as well go on: nothing else is to be seen here. */
RAD_INTERNAL bool rad__worker_is_alone(rad_worker *w);

#endif
