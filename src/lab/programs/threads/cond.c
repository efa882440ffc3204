/* cond.c — pthread_cond and cnd. Who waits is known here, not in the condition: glibc's words in it stay as they are.
 *
 * A wait is two steps: it gives the mutex back and waits; signalled, or late, it waits for the mutex (wait.c). */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "lab/rig.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>
#include <threads.h>

/* And the mutex is free. True: it is late. */
static bool until_woken(rad_thread *self, pthread_cond_t *c, pthread_mutex_t *m, uint64_t deadline_ns, bool *cancelled)
{
    uint32_t site = RAD_AT_pthread_cond_woken;
    *cancelled = false;
    while (rad__thread_waits_once(site, RAD_WAIT_CONDITION, c, deadline_ns) != RAD_WAITED_DONE) {
        RAD_ASSERT(!self->woken); /* who was, or is late, takes no signal before it has the mutex */
        bool woken = rad__thread_handles(self, c);
        *cancelled = !woken && rad__cancel_is_due(self);
        if (!woken && !*cancelled) continue;
        rad__thread_waits(RAD_AT_pthread_relock, RAD_WAIT_MUTEX, m, UINT64_MAX);
        return false;
    }
    return self->late;
}

static void check_use(const pthread_cond_t *c, const char *call)
{
    if (c->__data.__wrefs == RAD_DESTROYED) rad__used_destroyed(call, "condition");
}

/* POSIX allows a wait to end without a signal. Whether this one does is decided where it begins: the thread then only
 * needs the mutex, and whoever comes first decides how long that takes. Twice in a run: a loop ends. */
static bool wakes_by_itself(void)
{
    enum { MOST = 2 };
    rad_stage *s = &rad__stage;
    if (!s->waited) {
        s->waited = true;
        if (s->shared) s->shared->waited = 1;
    }
    if (!s->spurious || s->spurious_count == MOST) return false;
    if (rad__tell_pick(RAD_PICK_FAULT, RAD_AT_pthread_cond_woken, 2) == 0) return false;
    s->spurious_count++;
    rad__tell_note(RAD_NOTE_SPURIOUS, RAD_NONE, 0);
    return true;
}

/* A recursive mutex is unlocked once: if it was locked twice, the thread keeps it while it waits, as with glibc. */
static int wait_for(pthread_cond_t *c, pthread_mutex_t *m, uint32_t site, uint64_t deadline_ns)
{
    rad_thread *self = rad__thread_self();
    rad__point(site, c);
    check_use(c, "pthread_cond_wait");
    rad__cancel_point();
    if (!rad__mutex_is_mine(m)) {
        if ((m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK) return EPERM;
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_cond_wait",
                           "pthread_cond_wait: %s waits with a mutex that it does not hold", self->runner->role);
    }
    const rad_thread *other = rad__thread_waiting(RAD_WAIT_CONDITION, c, 0);
    if (other != NULL && other->mutex != m)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_cond_wait",
                           "pthread_cond_wait: %s and %s wait for one condition with two mutexes", other->runner->role,
                           self->runner->role);
    uint32_t kept = m->__data.__count - 1;
    self->mutex = m;
    m->__data.__count = kept;
    if (kept == 0) rad__mutex_release(m);
    bool late = false, cancelled = false;
    if (wakes_by_itself())
        rad__thread_waits(RAD_AT_pthread_relock, RAD_WAIT_MUTEX, m, UINT64_MAX);
    else
        late = until_woken(self, c, m, deadline_ns, &cancelled);
    int state = rad__mutex_take_again(m, kept + 1);
    if (cancelled) rad__cancel_point();
    return state != 0 ? state : late ? ETIMEDOUT : 0;
}

RAD_ANSWER(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_cond_wait)(c, m);
    return wait_for(c, m, RAD_AT_pthread_cond_wait, UINT64_MAX);
}

/* Which clock the condition counts by: bit 1 of __wrefs. */
static clockid_t clock_of(const pthread_cond_t *c)
{
    return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

RAD_ANSWER(int, pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_cond_timedwait)(c, m, until);
    if (!rad__has_nanoseconds(until)) return EINVAL;
    return wait_for(c, m, RAD_AT_pthread_cond_timedwait, rad__deadline_of(clock_of(c), until));
}

RAD_ANSWER(int, pthread_cond_clockwait,
           (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_cond_clockwait)(c, m, clock, until);
    if (!rad__is_deadline(clock, until)) return EINVAL;
    return wait_for(c, m, RAD_AT_pthread_cond_timedwait, rad__deadline_of(clock, until));
}

RAD_ANSWER(int, pthread_cond_signal, (pthread_cond_t * c))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_cond_signal)(c);
    rad__point(RAD_AT_pthread_cond_signal, c);
    check_use(c, "pthread_cond_signal");
    rad__threads_signal(RAD_AT_pthread_cond_signal, RAD_WAIT_CONDITION, c, 1);
    rad__thread_released();
    return 0;
}

RAD_ANSWER(int, pthread_cond_broadcast, (pthread_cond_t * c))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_cond_broadcast)(c);
    rad__point(RAD_AT_pthread_cond_broadcast, c);
    check_use(c, "pthread_cond_broadcast");
    rad__threads_signal(RAD_AT_pthread_cond_broadcast, RAD_WAIT_CONDITION, c, UINT32_MAX);
    rad__thread_released();
    return 0;
}

RAD_ANSWER(int, pthread_cond_destroy, (pthread_cond_t * c))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_cond_destroy)(c);
    rad__point(RAD_AT_pthread_cond_destroy, c);
    check_use(c, "pthread_cond_destroy");
    const rad_thread *t = rad__thread_waiting(RAD_WAIT_CONDITION, c, 0);
    if (t != NULL)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_cond_destroy",
                           "pthread_cond_destroy: %s waits for the condition", t->runner->role);
    c->__data.__wrefs = RAD_DESTROYED;
    return 0;
}

/* ---- C11 ----------------------------------------------------------------------------------------------------- */

static int c11(int code)
{
    return code == 0 ? thrd_success : code == ETIMEDOUT ? thrd_timedout : thrd_error;
}

RAD_ANSWER(int, cnd_wait, (cnd_t * c, mtx_t *m))
{
    return c11(pthread_cond_wait((pthread_cond_t *)(void *)c, (pthread_mutex_t *)(void *)m));
}

RAD_ANSWER(int, cnd_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *until))
{
    return c11(pthread_cond_timedwait((pthread_cond_t *)(void *)c, (pthread_mutex_t *)(void *)m, until));
}

RAD_ANSWER(int, cnd_signal, (cnd_t * c))
{
    return c11(pthread_cond_signal((pthread_cond_t *)(void *)c));
}

RAD_ANSWER(int, cnd_broadcast, (cnd_t * c))
{
    return c11(pthread_cond_broadcast((pthread_cond_t *)(void *)c));
}

RAD_ANSWER(void, cnd_destroy, (cnd_t * c))
{
    pthread_cond_destroy((pthread_cond_t *)(void *)c);
}
