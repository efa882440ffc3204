/* rwlock.c — pthread_rwlock: readers are counted in units of eight and the writer's number is kept, as glibc does. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <string.h>

enum { READER = 8 };

static bool writes(const pthread_rwlock_t *l, const rad_thread *t)
{
    return l->__data.__cur_writer != 0 && rad__owner_of(l->__data.__cur_writer) == t;
}

/* As many as 0x6b6b6b6b / 8 do not read. */
static void check_use(const pthread_rwlock_t *l, const char *call)
{
    if (l->__data.__readers == RAD_DESTROYED) rad__used_destroyed(call, "rwlock");
}

static void begin_read(pthread_rwlock_t *l, rad_thread *self)
{
    l->__data.__readers += READER;
    rad__share_take(self, l);
    rad__threads_review(l);
}

static int read_until(pthread_rwlock_t *l, uint64_t deadline_ns)
{
    rad_thread *self = rad__thread_self();
    if (l->__data.__readers == RAD_DESTROYED) rad__point(RAD_AT_pthread_rwlock_rdlock, l);
    check_use(l, "pthread_rwlock_rdlock");
    if (writes(l, self)) {
        rad__point(RAD_AT_pthread_rwlock_rdlock, l);
        return EDEADLK;
    }
    if (!rad__thread_waits(RAD_AT_pthread_rwlock_rdlock, RAD_WAIT_READ, l, deadline_ns)) return ETIMEDOUT;
    begin_read(l, self);
    return 0;
}

static int write_until(pthread_rwlock_t *l, uint64_t deadline_ns)
{
    const rad_thread *self = rad__thread_self();
    if (l->__data.__readers == RAD_DESTROYED) rad__point(RAD_AT_pthread_rwlock_wrlock, l);
    check_use(l, "pthread_rwlock_wrlock");
    if (writes(l, self)) {
        rad__point(RAD_AT_pthread_rwlock_wrlock, l);
        return EDEADLK;
    }
    if (!rad__thread_waits(RAD_AT_pthread_rwlock_wrlock, RAD_WAIT_WRITE, l, deadline_ns)) {
        rad__threads_review(l); /* readers that waited because it did */
        return ETIMEDOUT;
    }
    l->__data.__cur_writer = rad__owner_word(self);
    rad__threads_review(l);
    return 0;
}

RAD_ANSWER(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l))
{
    return rad__thread_self() ? read_until(l, UINT64_MAX) : RAD_REAL(pthread_rwlock_rdlock)(l);
}

RAD_ANSWER(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l))
{
    return rad__thread_self() ? write_until(l, UINT64_MAX) : RAD_REAL(pthread_rwlock_wrlock)(l);
}

RAD_ANSWER(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t clock, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_rwlock_clockrdlock)(l, clock, until);
    if (!rad__is_deadline(clock, until)) return EINVAL;
    return read_until(l, rad__deadline_of(clock, until));
}

RAD_ANSWER(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t clock, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_rwlock_clockwrlock)(l, clock, until);
    if (!rad__is_deadline(clock, until)) return EINVAL;
    return write_until(l, rad__deadline_of(clock, until));
}

RAD_ANSWER(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *until))
{
    return pthread_rwlock_clockrdlock(l, CLOCK_REALTIME, until);
}

RAD_ANSWER(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *until))
{
    return pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, until);
}

RAD_ANSWER(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_rwlock_tryrdlock)(l);
    rad__point(RAD_AT_pthread_rwlock_tryrdlock, l);
    check_use(l, "pthread_rwlock_tryrdlock");
    if (!rad__rwlock_can_be_read(l)) {
        rad__thread_tried();
        return EBUSY;
    }
    begin_read(l, rad__thread_self());
    return 0;
}

RAD_ANSWER(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * l))
{
    const rad_thread *self = rad__thread_self();
    if (self == NULL) return RAD_REAL(pthread_rwlock_trywrlock)(l);
    rad__point(RAD_AT_pthread_rwlock_trywrlock, l);
    check_use(l, "pthread_rwlock_trywrlock");
    if (l->__data.__cur_writer != 0 || l->__data.__readers >= READER) {
        rad__thread_tried();
        return EBUSY;
    }
    l->__data.__cur_writer = rad__owner_word(self);
    rad__threads_review(l);
    return 0;
}

RAD_ANSWER(int, pthread_rwlock_unlock, (pthread_rwlock_t * l))
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) return RAD_REAL(pthread_rwlock_unlock)(l);
    rad__point(RAD_AT_pthread_rwlock_unlock, l);
    check_use(l, "pthread_rwlock_unlock");
    if (l->__data.__cur_writer != 0 && !writes(l, self)) {
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_rwlock_unlock",
                           "pthread_rwlock_unlock: %s unlocks what another thread writes", self->runner->role);
    } else if (l->__data.__cur_writer != 0) {
        l->__data.__cur_writer = 0;
    } else if (l->__data.__readers >= READER) {
        if (!rad__share_give(self, l))
            rad__program_fails(RAD_ORACLE_MISUSE, "pthread_rwlock_unlock",
                               "pthread_rwlock_unlock: %s unlocks what other threads read", self->runner->role);
        l->__data.__readers -= READER;
    } else {
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_rwlock_unlock",
                           "pthread_rwlock_unlock: %s unlocks a lock that is free", self->runner->role);
    }
    rad__threads_review(l);
    rad__thread_released();
    return 0;
}

RAD_ANSWER(int, pthread_rwlock_destroy, (pthread_rwlock_t * l))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_rwlock_destroy)(l);
    rad__point(RAD_AT_pthread_rwlock_destroy, l);
    check_use(l, "pthread_rwlock_destroy");
    if (l->__data.__cur_writer != 0 || l->__data.__readers >= READER)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_rwlock_destroy", "pthread_rwlock_destroy: the lock is held");
    l->__data.__readers = RAD_DESTROYED;
    return 0;
}
