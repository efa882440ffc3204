#include "rt/stall.h"

#include "base/readable.h"
#include "rt/dump.h"
#include "rt/runtime.h"

enum { FIRST_LOOK_PART = 4 }; /* of the limit */

static bool owns(const rad_slot *slot, uint32_t worker)
{
    uint64_t word = rad__state_look(&slot->strand.state_word);
    return rad__state_of(word) == RAD_FIBER_OWNED && rad__state_owner(word) == worker;
}

static rad_slot *owner_of(rad_runtime *rt, uint32_t worker)
{
    rad__lock(&rt->room.lock);
    rad_slot *slot = rt->made;
    rad__unlock(&rt->room.lock);
    while (slot != NULL && !owns(slot, worker)) slot = slot->made_before;
    return slot;
}

/* The first look. No fiber has the worker: who is NULL. */
static void identify(rad_stall *s, rad_runtime *rt, uint32_t worker)
{
    s->who = owner_of(rt, worker);
    if (s->who != NULL) s->generation = rad__fiber_generation(&s->who->strand);
}

static bool is_the_same(const rad_stall *s, uint32_t worker)
{
    return owns(s->who, worker) && rad__fiber_generation(&s->who->strand) == s->generation;
}

bool rad__stall_look(rad_stall *s, rad_runtime *rt, uint32_t worker, bool stuck, bool blocked, uint64_t now)
{
    uint64_t first = rt->stall_ns / FIRST_LOOK_PART;
    if (!stuck) *s = (rad_stall){0};
    if (!stuck || s->said) return false;
    if (s->since_ns == 0) s->since_ns = now;
    if (now - s->since_ns < (s->who == NULL ? first : rt->stall_ns - first)) return true;
    if (s->who == NULL || !is_the_same(s, worker)) { /* the first look, perhaps once more */
        s->since_ns = now;
        identify(s, rt, worker);
        return true;
    }
    s->said = true;
    rad__readable_print(stderr, "raddle: worker %u is kept by one fiber, which %s:\n", worker,
                        blocked ? "is in a system call" : "computes");
    rad__dump_fiber(s->who, stderr);
    return false;
}
