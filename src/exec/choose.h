/* choose.h — the scheduler's decisions, as pure functions.
 *
 * No state, no clock, no random numbers: what varies comes in as an argument (a draw is made by the caller of
 * the steps). So every decision can be tried on all its inputs, and the lab can make the draws its own. */
#ifndef RAD_EXEC_CHOOSE_H
#define RAD_EXEC_CHOOSE_H

#include "base/check.h"

enum {
    RAD_FAIR_EVERY = 61, /* prime, so that it does not fall into step with a program's own rhythm */
    RAD_TURN_EVERY = 8,
    RAD_NEWEST_IN_A_ROW = 3,
    RAD_HOARD_DEFAULT = 32,
    RAD_BATCH_MAX = 32
};

/* From this many woken tasks of one worker on, a thief takes several. The lab compiles a smaller number, to reach it.
 * */
#ifndef RAD_CROWD
#define RAD_CROWD 64
#endif

/* Whom worker `self` of `workers` tries to steal from: uniform over the others for a uniform draw in
 * 0 … workers-2. At least two workers. */
static inline uint32_t rad__choose_victim(uint32_t self, uint32_t workers, uint32_t draw)
{
    RAD_ASSERT(workers >= 2 && self < workers && draw < workers - 1);
    return draw < self ? draw : draw + 1;
}

/* Whether the thread that made work visible wakes a worker: not when one searches already (it will find the
 * work and wake the next), not when nobody sleeps. */
static inline bool rad__choose_wake(uint32_t searching, uint32_t parked)
{
    return searching == 0 && parked > 0;
}

/* Whether one more worker may search: at most half of them do, rounded up, so that a few idle ones do not keep
 * the queues of all others busy. */
static inline bool rad__choose_search(uint32_t searching, uint32_t workers)
{
    return 2 * searching < workers;
}

/* Whether this pop looks at the injector and at the oldest local task first: every 61st. Otherwise tasks
 * that keep spawning at the newest end would starve both. */
static inline bool rad__choose_fair(uint64_t tick)
{
    return tick % RAD_FAIR_EVERY == 0;
}

/* Whether a task that goes over to the next by itself first asks a queue of lower rank: every 8th. Going over costs
 * nanoseconds, so waiting for the 61st of every fourth kind would be long. */
static inline bool rad__choose_turn(uint64_t tick)
{
    return tick % RAD_TURN_EVERY == RAD_TURN_EVERY - 1;
}

/* Whether a worker runs the newest of its woken tasks before the oldest one: a task that was woken just now finds its
 * data in the cache, but two tasks that wake each other must not keep the rest waiting for ever. `row` is how many
 * woken tasks in a row were the newest. */
static inline bool rad__choose_newest(bool is_fresh, uint32_t row)
{
    return is_fresh && row < RAD_NEWEST_IN_A_ROW;
}

/* Whether a worker has spawned enough local tasks since it last woke another one to wake one now. */
static inline bool rad__choose_hoard(uint32_t spawned, uint32_t threshold)
{
    return spawned >= threshold;
}

/* How many tasks to take from an injector that holds `queued`: a fair share, one to run and the rest for the
 * local queue, which has `room` for more. Nothing when there is nothing. */
static inline uint32_t rad__choose_batch(uint64_t queued, uint32_t workers, uint32_t room)
{
    if (queued == 0) return 0;
    uint64_t share = queued / workers + 1, most = (uint64_t)room + 1;
    if (most > RAD_BATCH_MAX) most = RAD_BATCH_MAX;
    if (share > queued) share = queued;
    return (uint32_t)(share < most ? share : most);
}

/* How many more woken tasks a thief takes along from a worker that has `woken` of them: none unless it is a crowd, as
 * when a large nursery is cancelled. Then one at a time costs more than many of them take to run. */
static inline uint32_t rad__choose_loot(uint64_t woken)
{
    return woken < RAD_CROWD ? 0 : RAD_BATCH_MAX - 1;
}

/* Which of the parked workers (bit i of parked[i / 64]) to wake: the first one at or after `next`, going
 * round; RAD_NONE when nobody is parked. The caller sets next to one behind the answer. */
RAD_INTERNAL uint32_t rad__choose_sleeper(const uint64_t *parked, uint32_t workers, uint32_t next);

#endif
