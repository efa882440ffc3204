/* mutex.c — pthread_mutex, pthread_spin and mtx: the state is glibc's own, in the program's memory. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/watched.h"

#include <errno.h>
#include <string.h>
#include <threads.h>

/* Of __kind. */
enum { KIND = 3, RECURSIVE = 1, CHECKS = 2, CEILING = 0x40, DESTROYED = -1 };

/* In __lock, above what says whether it is locked. */
enum { CEILING_SHIFT = 19, LOCK = (1 << CEILING_SHIFT) - 1 };

bool rad__mutex_is_locked(const pthread_mutex_t *m)
{
    return (m->__data.__lock & LOCK) != 0;
}

static bool is_mine(const pthread_mutex_t *m, const rad_thread *self)
{
    return rad__mutex_is_locked(m) && rad__owner_of(m->__data.__owner) == self;
}

/* A thread that waits for a condition with a recursive mutex which it has locked twice still has it. */
bool rad__mutex_can_be_taken(const pthread_mutex_t *m, const rad_thread *t)
{
    return !rad__mutex_is_locked(m) || ((m->__data.__kind & KIND) == RECURSIVE && is_mine(m, t));
}

/* It is free. EOWNERDEAD: and taken; ENOTRECOVERABLE: and not. */
static int take(pthread_mutex_t *m, const rad_thread *self)
{
    int state = rad__robust_state(m);
    if (state == ENOTRECOVERABLE) return state;
    if (rad__robust_is(m)) rad__robust_taken(m, state);
    m->__data.__lock |= 1;
    m->__data.__owner = rad__owner_word(self);
    m->__data.__count = 1;
    rad__threads_review(m);
    return state;
}

void rad__mutex_release(pthread_mutex_t *m)
{
    rad__watched_release(m);
    m->__data.__lock &= ~LOCK;
    m->__data.__owner = 0;
    m->__data.__count = 0;
    rad__threads_review(m);
}

static void check_kind(const pthread_mutex_t *m, const char *call)
{
    if (m->__data.__kind == DESTROYED) rad__used_destroyed(call, "mutex");
}

/* Who has a higher priority than its ceiling may not lock it. Nothing else comes of priorities: who is next is the
 * kernel's choice. */
static bool is_above(const rad_thread *self, const pthread_mutex_t *m)
{
    int ceiling = (int)((unsigned)m->__data.__lock >> CEILING_SHIFT);
    return (m->__data.__kind & CEILING) && self->priority > ceiling;
}

static int lock(pthread_mutex_t *m, uint32_t site, const char *call, uint64_t deadline_ns)
{
    rad_thread *self = rad__thread_self();
    if (m->__data.__kind == DESTROYED) rad__point(site, m);
    check_kind(m, call);
    if (is_mine(m, self) && (m->__data.__kind & KIND) == RECURSIVE) {
        rad__point(site, m);
        m->__data.__count++;
        return 0;
    }
    if (is_mine(m, self) && (m->__data.__kind & KIND) == CHECKS) {
        rad__point(site, m);
        return EDEADLK;
    }
    if (is_above(self, m)) return EINVAL;
    if (!rad__thread_waits(site, RAD_WAIT_MUTEX, m, deadline_ns)) return ETIMEDOUT;
    return take(m, self);
}

RAD_ANSWER(int, pthread_mutex_lock, (pthread_mutex_t * m))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_mutex_lock)(m);
    return lock(m, RAD_AT_pthread_mutex_lock, "pthread_mutex_lock", UINT64_MAX);
}

/* For pthread_cond: with what the mutex held, because a recursive one may have been locked twice. 0, or as from
 * pthread_mutex_lock: its last owner has died. */
int rad__mutex_take_again(pthread_mutex_t *m, uint32_t count)
{
    rad__watched_acquire(m);
    int state = take(m, rad__thread_self());
    if (state != ENOTRECOVERABLE) m->__data.__count = count;
    return state;
}

bool rad__mutex_is_mine(const pthread_mutex_t *m)
{
    return is_mine(m, rad__thread_self());
}

RAD_ANSWER(int, pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t clock, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_mutex_clocklock)(m, clock, until);
    if (!rad__has_deadlines(clock)) return EINVAL;
    if (!rad__has_nanoseconds(until)) { /* which is looked at only when it would wait */
        int code = pthread_mutex_trylock(m);
        return code == EBUSY ? EINVAL : code;
    }
    return lock(m, RAD_AT_pthread_mutex_timedlock, "pthread_mutex_timedlock", rad__deadline_of(clock, until));
}

RAD_ANSWER(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *until))
{
    return pthread_mutex_clocklock(m, CLOCK_REALTIME, until);
}

RAD_ANSWER(int, pthread_mutex_trylock, (pthread_mutex_t * m))
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) return RAD_REAL(pthread_mutex_trylock)(m);
    check_kind(m, "pthread_mutex_trylock");
    rad__point(RAD_AT_pthread_mutex_trylock, m);
    if (is_above(self, m)) return EINVAL;
    if (!rad__mutex_is_locked(m)) return take(m, self);
    if (is_mine(m, self) && (m->__data.__kind & KIND) == RECURSIVE) {
        m->__data.__count++;
        return 0;
    }
    rad__thread_tried();
    return EBUSY;
}

RAD_ANSWER(int, pthread_mutex_unlock, (pthread_mutex_t * m))
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) return RAD_REAL(pthread_mutex_unlock)(m);
    rad__point(RAD_AT_pthread_mutex_unlock, m);
    check_kind(m, "pthread_mutex_unlock");
    if (!is_mine(m, self)) {
        if ((m->__data.__kind & KIND) == CHECKS || rad__robust_is(m)) return EPERM;
        const rad_thread *owner = rad__mutex_is_locked(m) ? rad__owner_of(m->__data.__owner) : NULL;
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_mutex_unlock",
                           "pthread_mutex_unlock: %s unlocks a mutex that %s%s", self->runner->role,
                           owner ? "is held by " : "is not locked", owner ? owner->runner->role : "");
    }
    if (--m->__data.__count > 0) return 0;
    rad__mutex_release(m);
    if (rad__robust_is(m)) rad__robust_given(m);
    rad__thread_released();
    return 0;
}

RAD_ANSWER(int, pthread_mutex_destroy, (pthread_mutex_t * m))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_mutex_destroy)(m);
    rad__point(RAD_AT_pthread_mutex_destroy, m);
    if (rad__mutex_is_locked(m))
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_mutex_destroy", "pthread_mutex_destroy: the mutex is locked");
    m->__data.__nusers = 0;
    return RAD_REAL(pthread_mutex_destroy)(m);
}

/* Like the C library's: it locks the mutex, without regard to the ceiling, to change it. */
RAD_ANSWER(int, pthread_mutex_setprioceiling, (pthread_mutex_t * m, int ceiling, int *old))
{
    rad_thread *self = rad__thread_self();
    int least = sched_get_priority_min(SCHED_FIFO), most = sched_get_priority_max(SCHED_FIFO);
    if (self == NULL) return RAD_REAL(pthread_mutex_setprioceiling)(m, ceiling, old);
    if (!(m->__data.__kind & CEILING) || ceiling < least || ceiling > most) return EINVAL;
    bool locks = !is_mine(m, self);
    if (locks) {
        rad__thread_waits(RAD_AT_pthread_mutex_lock, RAD_WAIT_MUTEX, m, UINT64_MAX);
        take(m, self);
    }
    if (old) *old = (int)((unsigned)m->__data.__lock >> CEILING_SHIFT);
    m->__data.__lock = (int)((unsigned)ceiling << CEILING_SHIFT | (m->__data.__lock & LOCK));
    return locks ? rad__libc_pthread_mutex_unlock(m) : 0;
}

/* ---- What os locks while a thread runs: no point (tools/seam.sh) ----------------------------------------- */

RAD_INTERNAL int rad__past_mutex_lock(pthread_mutex_t *m);
RAD_INTERNAL int rad__past_mutex_unlock(pthread_mutex_t *m);

int rad__past_mutex_lock(pthread_mutex_t *m)
{
    return RAD_REAL(pthread_mutex_lock)(m);
}

int rad__past_mutex_unlock(pthread_mutex_t *m)
{
    return RAD_REAL(pthread_mutex_unlock)(m);
}

/* ---- Spin locks ---------------------------------------------------------------------------------------------- */

/* The word is volatile, which does not matter to who waits for it. */
static void *plain(pthread_spinlock_t *l)
{
    return (void *)(uintptr_t)l; /* tidy: address ok: only the qualifier goes */
}

RAD_ANSWER(int, pthread_spin_lock, (pthread_spinlock_t * l))
{
    rad_thread *self = rad__thread_self();
    if (self != NULL) rad__thread_waits(RAD_AT_pthread_spin_lock, RAD_WAIT_SPIN, plain(l), UINT64_MAX);
    int code = RAD_REAL(pthread_spin_lock)(l);
    if (self != NULL) rad__share_take(self, plain(l));
    rad__threads_review(plain(l));
    return code;
}

RAD_ANSWER(int, pthread_spin_trylock, (pthread_spinlock_t * l))
{
    rad__point(RAD_AT_pthread_spin_trylock, plain(l));
    int code = RAD_REAL(pthread_spin_trylock)(l);
    if (code != 0)
        rad__thread_tried();
    else if (rad__thread_self() != NULL)
        rad__share_take(rad__thread_self(), plain(l));
    rad__threads_review(plain(l));
    return code;
}

RAD_ANSWER(int, pthread_spin_unlock, (pthread_spinlock_t * l))
{
    rad__point(RAD_AT_pthread_spin_unlock, plain(l));
    rad_thread *self = rad__thread_self();
    if (self != NULL && !rad__share_give(self, plain(l)))
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_spin_unlock",
                           "pthread_spin_unlock: %s unlocks a spin lock that it does not hold", self->runner->role);
    int code = RAD_REAL(pthread_spin_unlock)(l);
    rad__threads_review(plain(l));
    rad__thread_released();
    return code;
}

/* ---- C11 ----------------------------------------------------------------------------------------------------- */

static int c11(int code)
{
    switch (code) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
    }
}

RAD_ANSWER(int, mtx_lock, (mtx_t * m))
{
    return c11(pthread_mutex_lock((pthread_mutex_t *)(void *)m));
}

RAD_ANSWER(int, mtx_timedlock, (mtx_t * m, const struct timespec *until))
{
    return c11(pthread_mutex_timedlock((pthread_mutex_t *)(void *)m, until));
}

RAD_ANSWER(int, mtx_trylock, (mtx_t * m))
{
    return c11(pthread_mutex_trylock((pthread_mutex_t *)(void *)m));
}

RAD_ANSWER(int, mtx_unlock, (mtx_t * m))
{
    return c11(pthread_mutex_unlock((pthread_mutex_t *)(void *)m));
}
