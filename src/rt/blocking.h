/* blocking.h — threads for calls that block: as many as are needed, up to a limit.
 *
 * A job lies on the stack of the fiber that waits for it. It is in the list of the pool, or a thread has it, or it
 * is done; who takes it out of the list, under the pool's lock, has it: a thread, or the fiber that does not want to
 * wait any longer. A thread says that it is done under the lock of the job, and wakes the fiber; that is the last it
 * does with it.
 *
 *              fiber                                       thread of the pool
 *         J1   lock; puts it into the list                T1   lock; takes a job out of the list
 *         J2   more in it than are idle ? starts a              none ? idle + 1, remembers `calls`, unlock
 *              thread (unlock), if there may be one        T2   sleeps while `calls` is what it was
 *         J3   calls + 1; unlock, wakes one                T3   lock, idle - 1, from T1
 *         J4   waits for the job's `done`
 * Claim: no job lies there while a thread sleeps that could do it. J3 changes the word before it wakes, so the thread
 * that was idle then does not begin to sleep in T2, or one more of them is woken; each job in the list has woken one,
 * or there were fewer idle than jobs: then a thread was started for it, or all there may be are awake, and look into
 * the list (T1) before they sleep.
 *
 * A thread that cannot be started was counted before (J2), and others may have relied on it. Whoever finds that, and
 * that there is no other thread, tells everybody in the list.
 *
 * A thread leaves that has been idle for a few seconds, and is joined by the next one that starts, or at the end. */
#ifndef RAD_RT_BLOCKING_H
#define RAD_RT_BLOCKING_H

#include <raddle/io.h>

#include "rt/wait.h"

typedef struct rad_blocker rad_blocker; /* a thread */
typedef struct rad_blocking_job rad_blocking_job;

typedef struct rad_blocking_pool {
    rad_lock lock;
    uint32_t most;
    uint32_t threads; /* that have not left */
    uint32_t idle;    /* of them: between T1 and T3 */
    uint32_t jobs;    /* in the list */
    rad_blocking_job *first, *last;
    rad_blocker *left; /* to be joined */
    bool ends;
    _Atomic uint32_t calls;   /* what idle threads sleep on */
    _Atomic uint32_t waiting; /* fibers that wait for jobs */
    _Atomic uint32_t alive;   /* = threads, for any thread to read */
} rad_blocking_pool;

RAD_INTERNAL void rad__blocking_open(rad_blocking_pool *p, uint32_t most); /* 0: a default */
RAD_INTERNAL void rad__blocking_close(rad_blocking_pool *p);               /* there is no job any more */

static inline bool rad__blocking_any(const rad_blocking_pool *p)
{
    return atomic_load_explicit(&p->waiting, memory_order_relaxed) != 0;
}

static inline uint32_t rad__blocking_threads(const rad_blocking_pool *p)
{
    return atomic_load_explicit(&p->alive, memory_order_relaxed);
}

#endif
