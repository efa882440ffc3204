/* meet.c — semaphores, barriers, once, and giving way. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/watched.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

/* A call that looked and found nothing: others first, or a loop of such calls would never end. */
void rad__thread_tried(void)
{
    if (!rad__stage.prefix && rad__thread_self() != NULL) rad__tell_yields(false);
}

void rad__thread_released(void)
{
    rad__point(RAD_AT_pthread_continue, NULL);
}

/* ---- Semaphores: glibc has the value in the first word ------------------------------------------ */

static uint32_t *value_of(sem_t *s)
{
    return (uint32_t *)(void *)s;
}

static int sem_until(sem_t *s, uint64_t deadline_ns)
{
    enum rad_waited how;
    do {
        rad__cancel_point();
        how = rad__thread_waits_once(RAD_AT_sem_wait, RAD_WAIT_SEMAPHORE, s, deadline_ns);
    } while (how == RAD_WAITED_BROKEN && (rad__signals_handle() || rad__cancel_is_due(rad__thread_self())));
    if (how != RAD_WAITED_DONE) {
        errno = how == RAD_WAITED_LATE ? ETIMEDOUT : EINTR;
        rad__thread_goes_on(rad__thread_self());
        return -1;
    }
    --*value_of(s);
    rad__threads_review(s);
    return 0;
}

RAD_ANSWER(int, sem_wait, (sem_t * s))
{
    return rad__thread_self() ? sem_until(s, UINT64_MAX) : RAD_REAL(sem_wait)(s);
}

RAD_ANSWER(int, sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(sem_clockwait)(s, clock, until);
    if (!rad__is_deadline(clock, until)) {
        errno = EINVAL;
        return -1;
    }
    return sem_until(s, rad__deadline_of(clock, until));
}

RAD_ANSWER(int, sem_timedwait, (sem_t * s, const struct timespec *until))
{
    return sem_clockwait(s, CLOCK_REALTIME, until);
}

RAD_ANSWER(int, sem_trywait, (sem_t * s))
{
    if (rad__thread_self() == NULL) return RAD_REAL(sem_trywait)(s);
    rad__point(RAD_AT_sem_trywait, s);
    if (*value_of(s) == 0) {
        rad__thread_tried();
        errno = EAGAIN;
        return -1;
    }
    --*value_of(s);
    rad__threads_review(s);
    return 0;
}

RAD_ANSWER(int, sem_post, (sem_t * s))
{
    if (rad__thread_self() == NULL) return RAD_REAL(sem_post)(s);
    rad__point(RAD_AT_sem_post, s);
    if (*value_of(s) == SEM_VALUE_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    ++*value_of(s);
    rad__threads_review(s);
    rad__thread_released();
    return 0;
}

/* ---- Barriers: glibc has {come, round, count} --------------------------------------------------- */

static uint32_t *count_of(pthread_barrier_t *b)
{
    return (uint32_t *)(void *)b + 2;
}

RAD_ANSWER(int, pthread_barrier_wait, (pthread_barrier_t * b))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_barrier_wait)(b);
    rad__point(RAD_AT_pthread_barrier_wait, b);
    uint32_t needed = *count_of(b);
    if (needed == RAD_DESTROYED) rad__used_destroyed("pthread_barrier_wait", "barrier");
    if (rad__threads_waiting(RAD_WAIT_BARRIER, b) + 1 < needed) {
        while (rad__thread_waits_once(RAD_AT_pthread_barrier_wait, RAD_WAIT_BARRIER, b, UINT64_MAX) != RAD_WAITED_DONE)
            if (rad__thread_handles(rad__thread_self(), b)) break; /* the others came while it ran a handler */
        return 0;
    }
    rad__threads_signal(RAD_AT_pthread_barrier_wait, RAD_WAIT_BARRIER, b, UINT32_MAX);
    rad__thread_released();
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

RAD_ANSWER(int, pthread_barrier_destroy, (pthread_barrier_t * b))
{
    rad__point(RAD_AT_pthread_barrier_destroy, b);
    if (*count_of(b) == RAD_DESTROYED) rad__used_destroyed("pthread_barrier_destroy", "barrier");
    if (rad__threads_waiting(RAD_WAIT_BARRIER, b) > 0)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_barrier_destroy",
                           "pthread_barrier_destroy: threads wait at the barrier");
    *count_of(b) = RAD_DESTROYED;
    return 0;
}

/* ---- Once: 0 not yet, 1 under way, 2 done; above these two bits who is at it -------------------- */

/* The initialiser was left by an exception: it has not been done. */
static void once_left(int **word)
{
    if ((**word & 3) == 1) **word = 0;
    rad__watched_release(*word);
    rad__threads_review(*word);
}

RAD_ANSWER(int, pthread_once, (pthread_once_t * once, void (*initialise)(void)))
{
    int *word = (int *)once;
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_once)(once, initialise);
    rad__thread_waits(RAD_AT_pthread_once, RAD_WAIT_ONCE, word, UINT64_MAX);
    if (*word & 2) return 0;
    *word = 1 | (rad__owner_word(rad__thread_self()) - rad__owner_word(rad__thread_at(0))) << 2;
    rad__threads_review(word);
    {
        __attribute__((cleanup(once_left))) int *guard = word;
        initialise();
        *guard = 2;
    }
    rad__thread_released();
    return 0;
}

RAD_ANSWER(void, call_once, (once_flag * once, void (*initialise)(void)))
{
    pthread_once((pthread_once_t *)(void *)once, initialise);
}
