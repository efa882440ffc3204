/* stuck.c — threads that wait for each other's locks, or ends, while others go on: a partial deadlock.
 *
 * Stuck     is who waits without a time limit for what a thread holds that is stuck, or has ended. It stays so: a lock
 *           is given back only by its holder. Conditions, semaphores and barriers can be told by anybody, so who waits
 *           for one is never called stuck. A handler that is to run first changes nothing; while it runs, its thread
 *           is not.
 * Reported  is it when the program ends, or STEPS_MORE steps of others later; those of the clock, of handlers and of
 *           functions of timers do not count, for they say nothing about the others. Mostly the others soon wait, too,
 *           to join those that are stuck, and then it is an ordinary deadlock: the same mistake should not have two
 *           names. */
#include "lab/programs/threads/threads.h"

#include "lab/programs/fibers/tell.h"

enum { STEPS_MORE = 50, STUCK_MAX = 256 };

static bool is_stuck(const rad_thread *t)
{
    const rad_thread *at = t;
    for (uint32_t i = 0; i <= RAD_THREADS_MAX; i++) {
        if (at->ended) return true;
        if (!rad__thread_is_blocked(at) || at->deadline_ns != UINT64_MAX) return false;
        at = rad__thread_holder(at);
        if (at == NULL) return false;
    }
    return true; /* round and round */
}

static uint32_t find_stuck(uint32_t stuck[STUCK_MAX])
{
    const rad_thread *t;
    uint32_t count = 0;
    for (uint32_t i = 0; (t = rad__thread_at(i)) != NULL && count < STUCK_MAX; i++)
        if (!t->ended && is_stuck(t)) stuck[count++] = t->runner->number;
    return count;
}

void rad__stuck_report_threads(void)
{
    uint32_t stuck[STUCK_MAX], count = find_stuck(stuck);
    if (count == 0) return; /* one of them is in a handler now */
    for (uint32_t i = 0; i < count; i++) rad__thread_waits_on(rad__stage.runners[stuck[i]].thread);
    rad__frames_tell_all(false);
    rad__stage.over = true;
    rad__tell_stuck(RAD_ORACLE_PARTIAL, stuck, count,
                    count > 1 ? "Nothing can wake them any more" : "Nothing can wake it any more");
}

void rad__stuck_look(const rad_runner *r)
{
    rad_stage *s = &rad__stage;
    uint32_t stuck[STUCK_MAX];
    if (s->prefix || s->over || s->enabled_count == 0) return; /* the kernel sees that itself */
    if (s->stuck_since > 0) {
        if (s->own_steps - s->stuck_since > STEPS_MORE) rad__stuck_report_threads();
        return;
    }
    rad__tell_evaluated(RAD_ORACLE_PARTIAL);
    bool any = r->ended ? find_stuck(stuck) > 0 : is_stuck(r->thread);
    if (any) s->stuck_since = s->own_steps > 0 ? s->own_steps : 1;
}
