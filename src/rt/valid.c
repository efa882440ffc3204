#include "rt/valid.h"

#include "rt/runtime.h"

/* ---- Queues of those who wait ------------------------------------------------------------------------------ */

const char *rad__queue_wrong(const rad_queue *q)
{
    const rad_clause *before = NULL;
    for (const rad_clause *c = q->first; c != NULL; before = c, c = c->next) {
        if (c->before != before) return "a queue: a clause is not behind the one before it";
        if (!c->queued || c->queue != q) return "a queue: a clause in it does not know that";
        uint32_t word = atomic_load_explicit(&c->waiter->word, memory_order_relaxed);
        if (c->waiter->single && word != RAD_WAIT_OPEN) return "a queue: a clause whose waiter does not wait any more";
    }
    return q->last != before ? "a queue: its end is not its last clause" : NULL;
}

/* ---- The wheel of timers ----------------------------------------------------------------------------------- */

static uint32_t digit_at(uint64_t time, uint32_t level)
{
    return (uint32_t)(time / ((uint64_t)1 << 6 * level)) % RAD_WHEEL_SLOTS;
}

/* By trial, as the header says it: the highest digit in which they differ. */
static uint32_t level_of(uint64_t deadline, uint64_t base)
{
    uint32_t level = RAD_WHEEL_LEVELS - 1;
    while (level > 0 && digit_at(deadline, level) == digit_at(base, level)) level--;
    return level;
}

static const char *timer_wrong(const rad_wheel *w, const rad_wheel_timer *t, uint32_t level, uint32_t slot)
{
    if (atomic_load_explicit(&t->armed, memory_order_relaxed) == 0 || t->wheel != w)
        return "a wheel: a timer in it is not armed there";
    if (t->deadline_ns < w->base_ns) return "a wheel: W1, a deadline before its base";
    if (t->deadline_ns < rad__wheel_next(w)) return "a wheel: W3, a deadline before its next look";
    bool moves = w->floor > 0 && level == w->floor && slot == digit_at(w->base_ns, level);
    bool placed = level == level_of(t->deadline_ns, w->base_ns) && slot == digit_at(t->deadline_ns, level);
    return moves || placed ? NULL : "a wheel: a timer lies in the slot of another time";
}

static const char *slot_wrong(const rad_wheel *w, uint32_t level, uint32_t slot)
{
    const rad_timer_link *head = &w->lists[level][slot], *before = head;
    for (const rad_timer_link *at = head->next; at != head; before = at, at = at->next) {
        if (at->prev != before) return "a wheel: a timer is not behind the one before it";
        const char *wrong = timer_wrong(w, (const rad_wheel_timer *)at, level, slot);
        if (wrong != NULL) return wrong;
    }
    if (before == head) return "a wheel: W2, a slot in use without a timer";
    return head->prev != before ? "a wheel: the end of a slot is not its last timer" : NULL;
}

const char *rad__wheel_wrong(const rad_wheel *w)
{
    if (w->base_ns > w->present_ns) return "a wheel: W1, its base is not in the past";
    for (uint32_t level = 0; level < RAD_WHEEL_LEVELS; level++) {
        if ((w->levels >> level & 1) != (w->slots[level] != 0))
            return "a wheel: W2, a level and its slots do not agree";
        for (uint64_t slots = w->slots[level]; slots != 0; slots &= slots - 1) {
            const char *wrong = slot_wrong(w, level, (uint32_t)__builtin_ctzll(slots));
            if (wrong != NULL) return wrong;
        }
    }
    return NULL;
}

/* ---- Nurseries --------------------------------------------------------------------------------------------- */

static const char *children_wrong(const rad__nursery *n)
{
    const rad_slot *younger = NULL;
    uint64_t listed = 0;
    for (const rad_slot *s = n->youngest; s != NULL; younger = s, s = s->elder, listed++) {
        if (s->nursery != n) return "a nursery: a child that is listed is another's";
        if (atomic_load_explicit(&s->younger, memory_order_relaxed) != younger)
            return "a nursery: a child does not know the one after it";
    }
    /* Besides, those who cancel. One that is closed still has the children that it had. */
    bool wrong = n->count < listed || (!n->canceled && n->count != listed);
    return wrong ? "a nursery: M1, its count is not its children's" : NULL;
}

const char *rad__nursery_wrong(const rad__nursery *n)
{
    if (n->state != n) return "a nursery: a fiber is in one that is not open";
    const rad__nursery *younger = NULL;
    bool unseen = n->unseen == NULL;
    for (const rad__nursery *below = n->first; below != NULL; younger = below, below = below->elder) {
        if (below->parent != n) return "a nursery: one that is listed below it is another's";
        if (below->younger != younger) return "a nursery: one below it does not know the one after it";
        unseen |= below == n->unseen;
    }
    if (!unseen) return "a nursery: its cursor is at none below it";
    const char *wrong = rad__queue_wrong(&n->owner_waits);
    return wrong != NULL ? wrong : children_wrong(n);
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

static const char *fiber_wrong(const rad_runtime *rt, const rad_slot *slot)
{
    const rad_strand *s = &slot->strand;
    enum rad_fiber_state state = rad__state_of(rad__state_look(&s->state_word));
    bool lives = state != RAD_FIBER_IDLE && state != RAD_FIBER_DONE;
    if (s->fiber_stack != NULL && s->fiber_stack->strand != s) return "a fiber: E1, its stack is another's";
    if (state == RAD_FIBER_PARKED && s->fiber_stack == NULL) return "a fiber: it is parked and has no stack";
    if (state == RAD_FIBER_IDLE && s->fiber_stack != NULL) return "a fiber: E1, a slot that is idle has a stack";
    if (state == RAD_FIBER_IDLE)
        return slot->joiners.first != NULL ? "a fiber: somebody joins a slot that is idle" : NULL;
    if (s->runtime != rt) return "a fiber: it is of another runtime";
    const char *wrong = rad__queue_wrong(&slot->joiners);
    /* Each nursery once: with the child that is the first of its list. One that is not open is the program's mistake.
     * */
    if (wrong == NULL && lives && slot->nursery != NULL && slot->nursery->state == slot->nursery &&
        slot->nursery->youngest == slot)
        wrong = rad__nursery_wrong(slot->nursery);
    return wrong;
}

const char *rad__runtime_wrong(const rad_runtime *rt)
{
    const char *wrong = rad__queue_wrong(&rt->spawners);
    for (const rad_slot *s = rt->made; s != NULL && wrong == NULL; s = s->made_before) wrong = fiber_wrong(rt, s);
    for (uint32_t i = 0; i < rt->exec->sched.config.workers && wrong == NULL; i++) {
        const rad_rt_worker *w = rt->exec->shells[i].scratch;
        if (w->runtime != NULL) wrong = rad__wheel_wrong(&w->wheel);
    }
    return wrong;
}
