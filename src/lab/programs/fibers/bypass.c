/* bypass.c — who waits for an RW lock while others get it again and again: starvation, also if no state comes back.
 *
 * Round     steps in which every runner that could run did, at least once: so the schedule was fair.
 * Passed    is who waits for the lock when somebody has given it back.
 * Starved   is who was passed in each of ROUNDS_MOST rounds, one after the other. For other locks, channels and the
 *           like first come is first served, or waiting makes first (mutexes).
 *
 * One is watched at a time: the first that is passed, until it has the lock. */
#include "lab/programs/fibers/stage.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"

#include <stdio.h>

enum { ROUNDS_MOST = 1000, RUNNERS_MOST = 64 };

static struct {
    const rad_runner *who;
    const void *lock;
    uint64_t could, did; /* bits of runners, in this round */
    bool passed;         /* in this round */
    uint32_t rounds;     /* before it */
} watched;

static bool waits_for(const rad_runner *r, const void *lock)
{
    bool can = r->kind == RAD_RUNNER_FIBER || rad__thread_is_waiting(r);
    return can && !r->ended && !r->enabled && r->object == lock;
}

static const rad_runner *first_waiting(const void *lock)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++)
        if (waits_for(&rad__stage.runners[i], lock)) return &rad__stage.runners[i];
    return NULL;
}

static void round_begins(void)
{
    watched.could = watched.did = 0;
    watched.passed = false;
}

static void round_goes_on(const rad_runner *r)
{
    watched.did |= UINT64_C(1) << r->number;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++)
        watched.could |= (uint64_t)rad__stage.runners[i].enabled << i;
}

static void report(void)
{
    char why[100];
    uint32_t number = watched.who->number;
    snprintf(why, sizeof why, "In %u rounds, in each of which all that could run did, others got it", ROUNDS_MOST);
    rad__frames_tell_all(false);
    rad__stage.over = true;
    rad__tell_stuck(RAD_ORACLE_STARVED, &number, 1, why);
}

void rad__bypass_look(const rad_runner *r, bool unlocks, const void *lock)
{
    rad_stage *s = &rad__stage;
    if (s->over) return;
    if (watched.who == NULL && unlocks) {
        watched.who = first_waiting(lock);
        watched.lock = lock;
        watched.rounds = 0;
        round_begins();
    }
    if (watched.who == NULL) return;
    if (s->runner_count > RUNNERS_MOST || !waits_for(watched.who, watched.lock)) {
        watched.who = NULL;
        s->bypasses = false;
        return;
    }
    s->bypasses = true;
    round_goes_on(r);
    watched.passed |= unlocks && lock == watched.lock;
    if (!watched.passed || (watched.could & ~watched.did) != 0) return;
    rad__tell_evaluated(RAD_ORACLE_STARVED);
    round_begins();
    if (++watched.rounds == ROUNDS_MOST) report();
}
