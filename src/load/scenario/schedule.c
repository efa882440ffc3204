/* schedule.c — levels and arrivals, by arithmetic. */
#include "load/scenario/schedule.h"

typedef unsigned __int128 wide;

/* ---- Users -------------------------------------------------------------------------------------------- */

rad__load_levels rad__load_levels_begin(const struct rad__load_schedule *schedule)
{
    return (rad__load_levels){.schedule = schedule};
}

static uint64_t apart(const struct rad__load_stage *s)
{
    return s->from < s->to ? s->to - s->from : s->from - s->to;
}

/* Inside a stage the k-th change comes when k steps of the way are done: at ceil(k * length / way). */
bool rad__load_levels_next(rad__load_levels *l, uint64_t *at_ns, uint64_t *level)
{
    for (; l->stage < l->schedule->stage_count; l->stage++, l->done = 0) {
        const struct rad__load_stage *s = &l->schedule->stages[l->stage];
        uint64_t way = apart(s);
        if (l->done == 0 && l->level != s->from) {
            l->level = s->from;
            *at_ns = l->start_ns;
            *level = l->level;
            return true;
        }
        if (l->done < way) {
            l->done++;
            l->level = s->from < s->to ? s->from + l->done : s->from - l->done;
            *at_ns = l->start_ns + (uint64_t)(((wide)l->done * s->length_ns + way - 1) / way);
            *level = l->level;
            return true;
        }
        l->start_ns += s->length_ns;
    }
    return false;
}

static uint64_t total_of_shard(const struct rad__load_schedule *schedule, uint32_t shard, uint32_t shards)
{
    uint64_t total = 0, level = 0;
    for (uint32_t i = 0; i < schedule->stage_count; i++) {
        const struct rad__load_stage *s = &schedule->stages[i];
        uint64_t from = rad__load_share(s->from, shard, shards), to = rad__load_share(s->to, shard, shards);
        total += from > level ? from - level : 0;
        total += to > from ? to - from : 0;
        level = to;
    }
    return total;
}

uint64_t rad__load_levels_total(const struct rad__load_schedule *schedule)
{
    return total_of_shard(schedule, 0, 1);
}

uint32_t rad__load_users_of_shard(const rad__load_scenario *s, uint32_t shard, uint32_t shards)
{
    if (shards == 1) return s->users;
    return (uint32_t)(s->schedule.model == RAD__LOAD_OPEN ? rad__load_share(s->users, shard, shards)
                                                          : total_of_shard(&s->schedule, shard, shards));
}

/* ---- Arrivals ----------------------------------------------------------------------------------------- */

/* Rates are arrivals per 1,000 s = per 10^12 ns. After x ns of a stage of length D from rate a to rate b,
 *
 *     2 a x + (b - a) x^2 / D      halves of 10^-12 arrivals
 *
 * have come; multiplied by D, everything is an integer. With rates up to 10^9 and D up to a day (8.64 * 10^13 ns) the
 * largest term is below 2^124. */
#define ONE_ARRIVAL ((wide)2 * 1000000000000u)

static wide amount_times_length(const struct rad__load_stage *s, uint64_t x)
{
    wide straight = (wide)2 * s->from * s->length_ns * x;
    wide bend = (wide)x * x * apart(s);
    return s->from < s->to ? straight + bend : straight - bend;
}

static wide amount(const struct rad__load_stage *s)
{
    return (wide)(s->from + s->to) * s->length_ns;
}

/* The least x with amount(x) >= want, between `from` and the length; it exists. Steps that double, then halve: the next
 * arrival is near the last one. */
static uint64_t first_with(const struct rad__load_stage *s, wide want, uint64_t from)
{
    if (s->from == s->to) return (uint64_t)((want + 2 * (wide)s->from - 1) / (2 * (wide)s->from));
    want *= s->length_ns;
    if (amount_times_length(s, from) >= want) return from;
    uint64_t low = from, step = 1; /* amount(low) < want */
    while (s->length_ns - low > step && amount_times_length(s, low + step) < want) {
        low += step;
        step *= 2;
    }
    uint64_t high = s->length_ns - low > step ? low + step : s->length_ns;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (amount_times_length(s, middle) >= want)
            high = middle;
        else
            low = middle;
    }
    return high;
}

rad__load_arrivals rad__load_arrivals_begin(const struct rad__load_schedule *schedule)
{
    return (rad__load_arrivals){.schedule = schedule};
}

/* Arrival k comes when k whole arrivals have amounted before it; one that would fall on the very end of the schedule
 * does not come any more. */
bool rad__load_arrivals_next(rad__load_arrivals *a, uint64_t *at_ns)
{
    wide want = a->number * ONE_ARRIVAL;
    for (; a->stage < a->schedule->stage_count; a->stage++, a->last_ns = 0) {
        const struct rad__load_stage *s = &a->schedule->stages[a->stage];
        if (want < a->before + amount(s)) {
            a->last_ns = want <= a->before ? 0 : first_with(s, want - a->before, a->last_ns);
            a->number++;
            *at_ns = a->start_ns + a->last_ns;
            return true;
        }
        a->before += amount(s);
        a->start_ns += s->length_ns;
    }
    return false;
}
