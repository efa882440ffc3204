/* schedule.h — when users come and go, and when arrivals are due: closed forms over the stages of a schedule.
 *
 * Both are cursors that hand out what is next, in order of time. Nothing is accumulated in floating point and nothing
 * is rounded twice: the k-th change or arrival is computed from k. */
#ifndef RAD_LOAD_SCENARIO_SCHEDULE_H
#define RAD_LOAD_SCENARIO_SCHEDULE_H

#include "load/scenario/scenario.h"

/* How many users there should be, as it changes. */
typedef struct rad__load_levels {
    const struct rad__load_schedule *schedule;
    uint32_t stage;
    uint64_t start_ns; /* of the stage */
    uint64_t done;     /* changes made inside the stage */
    uint64_t level;
} rad__load_levels;

RAD_INTERNAL rad__load_levels rad__load_levels_begin(const struct rad__load_schedule *schedule);

/* The next change: at *at_ns there are *level. False: none is left. */
RAD_INTERNAL bool rad__load_levels_next(rad__load_levels *l, uint64_t *at_ns, uint64_t *level);

/* How many users come in all: every way up counts. */
RAD_INTERNAL uint64_t rad__load_levels_total(const struct rad__load_schedule *schedule);

/* What shard i of n has of so many: the numbers i, i + n, … */
static inline uint64_t rad__load_share(uint64_t all, uint32_t shard, uint32_t shards)
{
    return (all + shards - 1 - shard) / shards;
}

/* How many users ever come in a shard. Not a share of all: when the level goes up and down between two numbers, it is
 * the same shard's user that goes and the same shard's that comes. */
RAD_INTERNAL uint32_t rad__load_users_of_shard(const rad__load_scenario *s, uint32_t shard, uint32_t shards);

/* The k-th arrival, k = 0, 1, …: at the first nanosecond by which k arrivals or more were to come before it. */
typedef struct rad__load_arrivals {
    const struct rad__load_schedule *schedule;
    uint32_t stage;
    uint64_t start_ns;        /* of the stage */
    uint64_t number;          /* of the next one */
    uint64_t last_ns;         /* within the stage: no arrival comes before the last */
    unsigned __int128 before; /* what all stages before this one amount to, in units of 1 / (2 * 10^12) */
} rad__load_arrivals;

RAD_INTERNAL rad__load_arrivals rad__load_arrivals_begin(const struct rad__load_schedule *schedule);
RAD_INTERNAL bool rad__load_arrivals_next(rad__load_arrivals *a, uint64_t *at_ns);

#endif
