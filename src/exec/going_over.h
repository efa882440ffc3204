/* going_over.h — a task that goes over to the next one by itself.
 *
 * A fiber that leaves its stack can go on to another one at once, without going back to the worker's step:
 *     next = rad__worker_next(w, run)     on its stack: `next` is current from here on
 *     switches to the stack of `next`
 *     rad__worker_left(w, task, answer)   off its stack (T3), what its run would have answered
 * When next is NULL it lets its run return instead, and the worker decides.
 *
 * In line: all of it takes a few nanoseconds, as calls it would be twice that. */
#ifndef RAD_EXEC_GOING_OVER_H
#define RAD_EXEC_GOING_OVER_H

#include "exec/choose.h"
#include "exec/worker.h"

/* What worker_next has found is of another kind: the worker will find it again. */
RAD_INTERNAL void rad__worker_put_back(rad_worker *w, rad_task *task);

/* In RUN: the newest of its own tasks, or the oldest of those that wait behind, if its run is `run`. NULL: there is
 * none, or it is time to look elsewhere. */
RAD_INLINE rad_task *rad__worker_next(rad_worker *w,
                                      enum rad_run (*run)(rad_task *task, rad_worker *w))
{
    rad_task *task = NULL;
    _Atomic uint64_t *source = &w->stats.from_local;
    RAD_DCHECK(w->phase == RAD_PHASE_RUN);
    if (RAD_UNLIKELY(rad__choose_fair(w->picks + 1) || rad__sched_is_done(w->sched))) return NULL;
    /* A look first: those who yield find nothing there, and popping costs as much as all the rest. Two that wake each
     * other always find something there: now and then it is the turn of those who yielded. */
    bool theirs = RAD_UNLIKELY(rad__choose_turn(w->picks)) && rad__deque_count(&w->later) > 0;
    uint64_t local = theirs ? 0 : rad__deque_count(&w->local);
    if (local ==
        1) { /* one change of `top`; popping the last one would be that and one of `bottom` */
        if (rad__deque_steal(&w->local, &task) != RAD_STEAL_GOT) task = NULL;
    } else if (local > 1) {
        task = rad__deque_pop(&w->local);
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
