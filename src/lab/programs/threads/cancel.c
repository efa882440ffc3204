/* cancel.c — pthread_cancel: a thread that is cancelled ends at its next cancellation point, its cleanup handlers run.
 *
 * Cancellation points are calls that may wait for others: conditions (the mutex is taken again first), semaphores,
 * join, sleep, signals, descriptors; and pthread_testcancel. A thread that waits in one is woken. Ending is
 * pthread_exit: the C library unwinds the stack. That a thread may be cancelled at any instruction
 * (PTHREAD_CANCEL_ASYNCHRONOUS) is refused when it would happen: between two points nothing is interrupted. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>

bool rad__cancel_is_due(const rad_thread *t)
{
    return t->cancelled && !t->not_cancelled && !t->leaves;
}

void rad__cancel_point(void)
{
    const rad_thread *self = rad__thread_self();
    if (self != NULL && RAD_UNLIKELY(rad__cancel_is_due(self))) pthread_exit(PTHREAD_CANCELED);
}

RAD_ANSWER(int, pthread_cancel, (pthread_t thread))
{
    if (!rad__stage.running) return RAD_REAL(pthread_cancel)(thread);
    rad_thread *t = rad__thread_of(thread), *self = rad__thread_self();
    if (self == NULL) rad__refuse("pthread_cancel", "a fiber cannot cancel a thread");
    rad__point(RAD_AT_pthread_cancel, t);
    if (t == NULL) return ESRCH;
    if (t->ended) return 0;
    t->cancelled = true;
    if (t->cancel_at_once && t != self && !t->not_cancelled)
        rad__program_refused("pthread_cancel", "of a thread with PTHREAD_CANCEL_ASYNCHRONOUS, which "
                                               "can end at any instruction");
    if (t == self && t->cancel_at_once) rad__cancel_point();
    if (t != self) rad__thread_disturb(t);
    return 0;
}

RAD_ANSWER(int, pthread_setcancelstate, (int state, int *old))
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) return RAD_REAL(pthread_setcancelstate)(state, old);
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
    if (old) *old = self->not_cancelled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    self->not_cancelled = state == PTHREAD_CANCEL_DISABLE;
    if (self->cancel_at_once) rad__cancel_point();
    return 0;
}

RAD_ANSWER(int, pthread_setcanceltype, (int type, int *old))
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) return RAD_REAL(pthread_setcanceltype)(type, old);
    if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
    if (old) *old = self->cancel_at_once ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    self->cancel_at_once = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    if (self->cancel_at_once) rad__cancel_point();
    return 0;
}

RAD_ANSWER(void, pthread_testcancel, (void))
{
    if (rad__thread_self() == NULL) {
        RAD_REAL(pthread_testcancel)();
        return;
    }
    rad__point(RAD_AT_pthread_testcancel, NULL);
    rad__cancel_point();
}
