/* raddle/sync.h — locks and the like: what is shared by fibers and threads, and waits without holding up a worker.
 *
 *     static rad_mutex m = RAD_MUTEX_INIT;
 *     static rad_cond changed = RAD_COND_INIT;
 *
 *     int code = 0;
 *     rad_mutex_lock(&m);
 *     while (!ready && code == 0) code = rad_cond_wait(&changed, &m, RAD_FOREVER);
 *     rad_mutex_unlock(&m);
 *
 * Any fiber or thread may make any call: fibers park, threads sleep. A fiber may wait for a lock that a thread holds,
 * and the other way round.
 *
 * Objects    lie wherever the caller wants, and stay there. They begin with their initialiser, or in memory that is
 *            all zero: nothing has to be opened, nothing is allocated, nothing has to be closed. An object may be
 *            freed when no call on it is running or will be made. A rad_mutex_unlock, rad_rwlock_unlock,
 *            rad_semaphore_release or rad_waitgroup_done no longer counts as running once another call shows its
 *            effect: the caller that unlocks last may free the lock, and so may the one that has waited for a group
 *            or a semaphore.
 * Locks      rad_mutex_lock, rad_rwlock_read and rad_rwlock_write wait for as long as it takes and return nothing.
 * Results    0 is success. Calls with a deadline `until` (see raddle/fiber.h: 0 is a try) return RAD_ETIMEOUT when
 *            it has passed, or RAD_ECANCELED when the fiber was cancelled while it waited, or before that; the
 *            object is then as if the call had not been made. A call that need not wait succeeds, also in a fiber that
 *            was cancelled, so that it can clean up.
 * Mistakes   (unlocking what another fiber or thread holds, locking twice, more "done" than "add", a fiber that ends
 *            and holds a lock ...) stop the process with a message.
 * Order      what was done before an unlock, release, done, signal or arrival is visible after the call that it
 *            lets through. */
#ifndef RADDLE_SYNC_H
#define RADDLE_SYNC_H

#include <raddle/fiber.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Mutex ------------------------------------------------------------------------------------------ */

/* One holder at a time. A free mutex goes to the first caller, even past waiters: handed to a sleeping waiter it would
 * be idle until that one is awake. Waiters queue in order of arrival. Once the first has waited 1 ms, the next unlock
 * hands it the mutex. */
typedef struct rad_mutex {
    uint64_t private_[7];
} rad_mutex;

#define RAD_MUTEX_INIT                                                                                                 \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/* Waits until the caller holds it, and cannot fail: a cancellation or a nursery's deadline does not end this wait; the
 * next call that may wait reports it. If the caller holds it already: a mistake. */
RAD_API void rad_mutex_lock(rad_mutex *m);

/* The same with a deadline; a cancellation ends the wait. By its holder with until = 0: RAD_ETIMEOUT, with any other a
 * mistake. May be a case of rad_select. */
RAD_API RAD_MUST_USE int rad_mutex_lock_until(rad_mutex *m, rad_time until);

/* By its holder: the same fiber or thread. Does not wait. */
RAD_API void rad_mutex_unlock(rad_mutex *m);

/* Whether the caller holds it. */
RAD_API bool rad_mutex_is_mine(const rad_mutex *m);

/* ---- RW lock ---------------------------------------------------------------------------------------- */

/* Any number of readers, or one writer. Writers go first: as long as one waits no new reader gets in, and a writer
 * that leaves is followed by the next one. So readers can be shut out by writers, but not the other way round. A
 * reader must not ask to write, nor to read once more, because a writer may wait in between: it would wait for
 * itself. The first lock that a fiber has to read is remembered, and such a wait for it stops the process. */
typedef struct rad_rwlock {
    uint64_t private_[9];
} rad_rwlock;

#define RAD_RWLOCK_INIT                                                                                                \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/* Wait until the caller has it, and cannot fail, as rad_mutex_lock. By the writer: a mistake. */
RAD_API void rad_rwlock_read(rad_rwlock *l);
RAD_API void rad_rwlock_write(rad_rwlock *l);

/* The same with a deadline; a cancellation ends the wait. By the writer with until = 0: RAD_ETIMEOUT, with any other a
 * mistake. May be cases of rad_select. */
RAD_API RAD_MUST_USE int rad_rwlock_read_until(rad_rwlock *l, rad_time until);
RAD_API RAD_MUST_USE int rad_rwlock_write_until(rad_rwlock *l, rad_time until);

/* By the fiber or thread that has it. Does not wait. */
RAD_API void rad_rwlock_unlock(rad_rwlock *l);

/* ---- Condition -------------------------------------------------------------------------------------- */

/* Something about data under a mutex that others wait for. It takes a rad_mutex, no RW lock, and is not a case of
 * rad_select (raddle/chan.h says why): to wait for one of several things, use channels. */
typedef struct rad_cond {
    uint64_t private_[5];
} rad_cond;

#define RAD_COND_INIT                                                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/* By the holder of m: unlocks it, waits for a signal, and locks it again; a signal that is given after the unlocking
 * is not missed. The mutex is held afterwards in any case, also with RAD_ETIMEOUT and RAD_ECANCELED, however long
 * that takes. With until = 0, and when it was cancelled before, it is not unlocked at all. No wait ends without a
 * signal, but another caller may have taken the mutex first: test the condition again. */
RAD_API RAD_MUST_USE int rad_cond_wait(rad_cond *c, rad_mutex *m, rad_time until);

/* Wakes the longest waiter, or all of them; without waiters nothing happens. The caller need not hold the mutex. */
RAD_API void rad_cond_signal(rad_cond *c);
RAD_API void rad_cond_broadcast(rad_cond *c);

/* ---- Semaphore -------------------------------------------------------------------------------------- */

/* A number of permits, at most RAD_SEMAPHORE_MAX. First come, first served: a caller that needs many permits is not
 * starved by callers that need few. */
typedef struct rad_semaphore {
    uint64_t private_[6];
} rad_semaphore;

#define RAD_SEMAPHORE_MAX UINT32_MAX
/* clang-format off */
#define RAD_SEMAPHORE_INIT(permits) {{(uint64_t)(permits) << 1}}
/* clang-format on */

RAD_API void rad_semaphore_init(rad_semaphore *s, uint32_t permits);

/* Takes `permits` of them, all at once; for 0 it never waits. May be a case of rad_select (one permit). */
RAD_API RAD_MUST_USE int rad_semaphore_acquire(rad_semaphore *s, uint32_t permits, rad_time until);

/* Adds `permits`; the caller need not have acquired any. Does not wait. */
RAD_API void rad_semaphore_release(rad_semaphore *s, uint32_t permits);

/* How many there are right now. */
RAD_API uint32_t rad_semaphore_permits(const rad_semaphore *s);

/* ---- Wait group ------------------------------------------------------------------------------------- */

/* Counts what is still to be done; a wait lasts until the count is 0. It can be used again as soon as it is 0: its
 * waiters return, whatever is added afterwards. For a waiter to wait for an addition, add before it begins to wait, or
 * while the count is not 0. */
typedef struct rad_waitgroup {
    uint64_t private_[6];
} rad_waitgroup;

#define RAD_WAITGROUP_INIT                                                                                             \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

RAD_API void rad_waitgroup_add(rad_waitgroup *g, uint32_t count);

/* One of them is done. Does not wait. */
RAD_API void rad_waitgroup_done(rad_waitgroup *g);

/* May be a case of rad_select. */
RAD_API RAD_MUST_USE int rad_waitgroup_wait(rad_waitgroup *g, rad_time until);

/* ---- Once ------------------------------------------------------------------------------------------- */

/* Something that the first caller that needs it does, and all others wait for. */
typedef struct rad_once {
    uint64_t private_[7];
} rad_once;

#define RAD_ONCE_INIT                                                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/* 0: fn(arg) has been called and returned 0, once for all callers of this object, and has ended. Others wait
 * meanwhile. When it returns something else, its caller gets that, and the next one tries again. If fn calls this
 * for the same object, that is a mistake, which stops the process. */
RAD_API RAD_MUST_USE int rad_once_run(rad_once *o, rad_fn fn, void *arg, rad_time until);

/* ---- Barrier ---------------------------------------------------------------------------------------- */

/* A place where `parties` callers meet: each waits until all have come. Then it can be used again. */
typedef struct rad_barrier {
    uint64_t private_[7];
} rad_barrier;

/* clang-format off */
#define RAD_BARRIER_INIT(parties) {{(uint64_t)(parties)}}
/* clang-format on */

/* At least 1. */
RAD_API void rad_barrier_init(rad_barrier *b, uint32_t parties);

/* 1 for exactly one of them, 0 for the others. RAD_ETIMEOUT, RAD_ECANCELED: it was not all of them; the caller has
 * left, and does not count any more. */
RAD_API RAD_MUST_USE int rad_barrier_wait(rad_barrier *b, rad_time until);

/* ---- Names ------------------------------------------------------------------------------------------ */

/* What reports call them, beside their number; NULL: nothing. The text stays the caller's, and stays as long as the
 * object is used (a literal). Any caller, at any time. */
RAD_API void rad_mutex_name(rad_mutex *m, const char *name);
RAD_API void rad_rwlock_name(rad_rwlock *l, const char *name);
RAD_API void rad_cond_name(rad_cond *c, const char *name);
RAD_API void rad_semaphore_name(rad_semaphore *s, const char *name);
RAD_API void rad_waitgroup_name(rad_waitgroup *g, const char *name);
RAD_API void rad_once_name(rad_once *o, const char *name);
RAD_API void rad_barrier_name(rad_barrier *b, const char *name);

#ifdef __cplusplus
}
#endif

#endif
