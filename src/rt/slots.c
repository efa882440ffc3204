/* slots.c — where slots rest between two fibers: see fiber.h. */
#include "rt/ops.h"
#include "rt/runtime.h"

enum { CACHE_MOST = 256, CACHE_STEP = 64, GROWTH_LEAST = 64, GROWTH_MOST = 512 };

/* Takes up to `count` off a list: the first of them; *rest is what remains. */
static rad_slot *split(rad_slot *list, uint32_t count, uint32_t *got, rad_slot **rest)
{
    rad_slot *last = NULL, *at = list;
    for (*got = 0; at != NULL && *got < count; ++*got) {
        last = at;
        at = at->next;
    }
    if (last != NULL) last->next = NULL;
    *rest = at;
    return last != NULL ? list : NULL;
}

static void give_shared(rad_runtime *rt, rad_slot *first)
{
    rad_slot *last = first;
    while (last->next != NULL) last = last->next;
    rad__lock(&rt->room.lock);
    rad_clause *spawner = rad__queue_claim(&rt->spawners); /* with a limit, so it is one slot */
    if (spawner != NULL) {
        spawner->data = first;
    } else {
        last->next = rt->idle;
        rt->idle = first;
    }
    rad__unlock(&rt->room.lock);
    if (spawner != NULL) rad__clause_notify(rad__rt_worker(), spawner);
}

/* As many as there are, within limits: a burst is made in few steps, and a small program does not pay for one. With a
 * limit on fibers, one: see give_shared. */
static uint32_t growth(rad_runtime *rt)
{
    if (rt->is_capped) return 1;
    rad__lock(&rt->room.lock);
    uint32_t made = rt->slots_made;
    rad__unlock(&rt->room.lock);
    return made < GROWTH_LEAST ? GROWTH_LEAST : made < GROWTH_MOST ? made : GROWTH_MOST;
}

static rad_slot *take_shared(rad_runtime *rt, uint32_t count, uint32_t *got, int *code)
{
    rad__lock(&rt->room.lock);
    rad_slot *first = split(rt->idle, count, got, &rt->idle);
    rad__unlock(&rt->room.lock);
    if (first != NULL) return first;
    rad_slot *rest, *grown = rad__runtime_grow(rt, growth(rt), code);
    first = split(grown, count, got, &rest);
    if (rest != NULL) give_shared(rt, rest);
    return first;
}

static bool room_attempt(rad_clause *c, rad_wakes *wakes)
{
    rad_runtime *rt = (rad_runtime *)((char *)c->object - offsetof(rad_runtime, room));
    uint32_t got;
    (void)wakes;
    c->data = split(rt->idle, 1, &got, &rt->idle);
    return c->data != NULL;
}

static rad_slot *wait_for_one(rad_runtime *rt, int *code)
{
    rad_clause c = {.object = &rt->room, .queue = &rt->spawners, .attempt = room_attempt};
    *code = rad__wait(&c, 1, RAD_FOREVER);
    return *code == 0 ? c.data : NULL;
}

/* Who has joined a fiber and released it, or waited for a nursery, may count on the room that this makes. But:
 *
 *              the fiber that ends                        who joins it, and spawns
 *         E1   leaving + 1                                J1   hears that it has ended
 *         E2   tells those who wait                       J2   reads leaving
 *         E3   leaves its stack; its slot is given back   J3   takes a slot, if there is one
 *         E4   leaving - 1                                J4   there was none: again from J2, unless leaving was 0
 *
 * Claim: J4 gives up only if the slot has been given back before J3. E1 is before E2, and so before J2; if J2 reads 0,
 * E4 and hence E3 were before it. The loop ends: between E1 and E4 a fiber waits for nothing but spin locks. */
rad_slot *rad__slot_late(rad_runtime *rt, bool is_fiber, int *code)
{
    if (is_fiber && rt->spawn_waits) return wait_for_one(rt, code);
    for (;;) {
        uint32_t got; /* Pairs with rad__strand_ended. */
        bool leaving = atomic_load_explicit(&rt->leaving, memory_order_acquire) > 0;
        rad_slot *slot = take_shared(rt, 1, &got, code);
        if (slot != NULL || *code != RAD_ELIMIT || !leaving) return slot;
        if (is_fiber)
            rad__op_yield();
        else
            rad__os_give_way(true);
    }
}

rad_slot *rad__slot_take(rad_runtime *rt, rad_rt_worker *rt_worker, int *code)
{
    uint32_t got;
    if (rt_worker == NULL || rt->is_capped) return take_shared(rt, 1, &got, code);
    if (RAD_UNLIKELY(rt_worker->idle == NULL)) {
        rt_worker->idle = take_shared(rt, CACHE_STEP, &rt_worker->idle_count, code);
        if (rt_worker->idle == NULL) return NULL;
    }
    rad_slot *slot = rt_worker->idle;
    rt_worker->idle = slot->next;
    rt_worker->idle_count--;
    return slot;
}

void rad__slot_recycle(rad_runtime *rt, rad_rt_worker *rt_worker, rad_slot *slot)
{
    rad__state_retire(&slot->strand.state_word);
    slot->next = NULL;
    if (rt_worker == NULL || rt_worker->runtime != rt || rt->is_capped) {
        give_shared(rt, slot);
        return;
    }
    slot->next = rt_worker->idle;
    rt_worker->idle = slot;
    if (RAD_LIKELY(++rt_worker->idle_count <= CACHE_MOST)) return;
    rad_slot *kept; /* the oldest of them go */
    uint32_t got;
    rad_slot *first = split(rt_worker->idle, CACHE_MOST - CACHE_STEP, &got, &kept);
    rt_worker->idle = first;
    rt_worker->idle_count = got;
    give_shared(rt, kept);
}
