/* robust.c — mutexes whose next owner is told that the last one died with it (PTHREAD_MUTEX_ROBUST).
 *
 * The state is in glibc's words, as glibc has it: a free mutex whose owner is INCONSISTENT was left by one that died,
 * and one whose owner is LOST can be had by nobody. While it is held, `nusers` says that it is not consistent yet. Who
 * has which is known here: glibc's list of them is that of a real thread. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <limits.h>

enum { ROBUST = 0x10, INCONSISTENT = INT_MAX, LOST = INT_MAX - 1, NOT_YET = 1, HELD_MAX = 1024 };

static pthread_mutex_t *held[HELD_MAX]; /* once, or given back since */
static uint32_t held_count;

bool rad__robust_is(const pthread_mutex_t *m)
{
    return m->__data.__kind > 0 && (m->__data.__kind & ROBUST);
}

int rad__robust_state(const pthread_mutex_t *m)
{
    if (!rad__robust_is(m) || rad__mutex_is_locked(m)) return 0;
    return m->__data.__owner == INCONSISTENT ? EOWNERDEAD : m->__data.__owner == LOST ? ENOTRECOVERABLE : 0;
}

void rad__robust_taken(pthread_mutex_t *m, int state)
{
    uint32_t at = 0;
    m->__data.__nusers = state == EOWNERDEAD ? NOT_YET : 0;
    while (at < held_count && held[at] != m) at++;
    if (at == HELD_MAX) rad__program_refused("pthread_mutex_lock", "of more than 1,024 robust mutexes in one run");
    held[at] = m;
    if (at == held_count) held_count++;
}

/* After it was unlocked. */
void rad__robust_given(pthread_mutex_t *m)
{
    if (m->__data.__nusers == NOT_YET) m->__data.__owner = LOST;
    m->__data.__nusers = 0;
    for (uint32_t i = 0; i < held_count; i++)
        if (held[i] == m) held[i] = held[--held_count];
}

void rad__robust_end(const rad_thread *t)
{
    for (uint32_t i = held_count; i > 0; i--) {
        pthread_mutex_t *m = held[i - 1];
        if (!rad__mutex_is_locked(m) || rad__owner_of(m->__data.__owner) != t) continue;
        held[i - 1] = held[--held_count];
        rad__mutex_release(m);
        m->__data.__nusers = 0;
        m->__data.__owner = INCONSISTENT;
    }
}

RAD_ANSWER(int, pthread_mutex_consistent, (pthread_mutex_t * m))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_mutex_consistent)(m);
    if (!rad__robust_is(m) || !rad__mutex_is_mine(m) || m->__data.__nusers != NOT_YET) return EINVAL;
    m->__data.__nusers = 0;
    return 0;
}
