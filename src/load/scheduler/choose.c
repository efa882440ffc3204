/* choose.c — what users draw: which request, which target, how long to think. */
#include "load/scheduler/scheduler.h"

/* Open: the arrival is the key, whoever serves it. */
rad__load_stream rad__load_user_draw(const rad__load_scheduler *c, const struct rad__load_user *u, uint32_t vu,
                                     enum rad__load_purpose purpose)
{
    uint32_t who = c->scenario->schedule.model == RAD__LOAD_OPEN ? RAD__LOAD_ARRIVAL : vu * c->shards + c->shard;
    return rad__load_draw(c->seed, who, u->iteration, u->position, purpose);
}

/* The first whose running sum is above the number drawn. */
static uint32_t by_weight(const uint64_t *sums, uint32_t count, rad__load_stream draw)
{
    uint64_t drawn = rad__load_below(&draw, sums[count - 1]);
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (drawn < sums[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void rad__load_choose(rad__load_scheduler *c, uint32_t vu)
{
    const rad__load_scenario *s = c->scenario;
    struct rad__load_user *u = &c->users[vu];
    u->what = s->steps[u->step].request;
    if (u->what == RAD_NONE)
        u->what = s->request_count == 1 ? 0
                                        : by_weight(c->request_sums, s->request_count,
                                                    rad__load_user_draw(c, u, vu, RAD__LOAD_DRAW_REQUEST));
    u->target = s->requests[u->what].target;
    if (u->target == RAD_NONE)
        u->target = s->target_count == 1 ? 0
                                         : by_weight(c->target_sums, s->target_count,
                                                     rad__load_user_draw(c, u, vu, RAD__LOAD_DRAW_TARGET));
}

uint64_t rad__load_choose_pause(rad__load_scheduler *c, uint32_t vu)
{
    const rad__load_scenario *s = c->scenario;
    if (s->pause != RAD__LOAD_RANDOM_PAUSE) return s->pause == RAD__LOAD_CONSTANT_PAUSE ? s->pause_low_ns : 0;
    rad__load_stream draw = rad__load_user_draw(c, &c->users[vu], vu, RAD__LOAD_DRAW_PAUSE);
    return s->pause_low_ns + rad__load_below(&draw, s->pause_high_ns - s->pause_low_ns + 1);
}
