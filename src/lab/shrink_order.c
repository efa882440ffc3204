/* shrink_order.c — fewer switches: merge the runs of one actor.
 *
 * The steps of the best run are cut into blocks of one actor. A block is pulled back to the actor's block
 * before it, or that one is pushed forward to it; the new order is run as a script. Where the steps in
 * between are independent this is the same trace told better; where they are not, it may still fail in
 * the same way with a preemption less. Either way the run decides. A block is not moved to or from a place at which
 * nobody else could run: of a timer that wakes one that waits for it, a thousand times, nothing is tried. */
#include "base/alloc.h"
#include "lab/shrink.h"

#include <string.h>

typedef struct order {
    rad_shrinker *s;
    rad_script_step *steps; /* the best run */
    rad_script_step *draft; /* the order being tried */
    uint32_t step_capacity, draft_capacity;
    uint32_t count;
} order;

static bool order_record(order *o)
{
    const rad_recorder *r = &o->s->recorder;
    if (!rad__shrink_record(o->s)) return false;
    o->count = r->step_count;
    if (!RAD_GROW(&o->steps, &o->step_capacity, o->count) || !RAD_GROW(&o->draft, &o->draft_capacity, o->count)) {
        rad__error_memory(o->s->error);
        return false;
    }
    for (uint32_t i = 0; i < o->count; i++)
        o->steps[i] = (rad_script_step){r->steps[i].actor, r->steps[i].pick_at, r->steps[i].pick_count};
    return true;
}

/* Moves steps [from, to) so that they begin at `at`, outside that range, and runs the result. */
static bool order_move(order *o, uint32_t from, uint32_t to, uint32_t at)
{
    uint32_t size = to - from;
    memcpy(o->draft, o->steps, o->count * sizeof *o->steps);
    if (at < from) {
        memmove(o->draft + at + size, o->steps + at, (from - at) * sizeof *o->steps);
        memcpy(o->draft + at, o->steps + from, size * sizeof *o->steps);
    } else {
        memmove(o->draft + from, o->steps + to, (at - to) * sizeof *o->steps);
        memcpy(o->draft + at - size, o->steps + from, size * sizeof *o->steps);
    }
    rad_batch u = {
        .kind = RAD_BATCH_SCRIPT,
        .count = 1,
        .steps = o->draft,
        .step_count = o->count,
        .picks = o->s->recorder.picks,
        .pick_count = o->s->recorder.pick_count,
    };
    rad_target t = o->s->target;
    return rad__shrink_try(o->s, &t, &u);
}

static uint32_t block_end(const order *o, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < o->count && o->steps[to].actor == o->steps[from].actor) to++;
    return to;
}

static uint32_t block_start(const order *o, uint32_t last)
{
    uint32_t from = last;
    while (from > 0 && o->steps[from - 1].actor == o->steps[last].actor) from--;
    return from;
}

/* The block before [from, …) of the same actor: its last step, or RAD_NONE. */
static uint32_t block_before(const order *o, uint32_t from)
{
    for (uint32_t i = from; i-- > 0;)
        if (o->steps[i].actor == o->steps[from].actor) return i;
    return RAD_NONE;
}

static bool was_decided(const order *o, uint32_t step)
{
    return o->s->recorder.steps[step].decision != RAD_NONE;
}

static bool order_pass(order *o)
{
    for (uint32_t from = 0; from < o->count && rad__shrink_goes_on(o->s); from = block_end(o, from)) {
        uint32_t before = block_before(o, from);
        if (before == RAD_NONE) continue;
        uint32_t start = block_start(o, before);
        if (was_decided(o, before + 1) && order_move(o, from, block_end(o, from), before + 1)) return true;
        if (was_decided(o, start) && order_move(o, start, before + 1, from)) return true;
    }
    return false;
}

void rad__shrink_order(rad_shrinker *s)
{
    order o = {.s = s};
    while (rad__shrink_goes_on(s) && order_record(&o) && order_pass(&o)) {
    }
    rad__free(o.steps);
    rad__free(o.draft);
}
