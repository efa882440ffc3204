/* round.c — has the state of a model come back? Then its threads can go round for ever (core/fair.h).
 *
 * The state is the heap, the static variables of the model, and of each thread that has not ended where it is, the part
 * of its stack that is in use, and its thread-local variables. The stacks of fibers count as a whole, but for those on
 * which a thread is at the moment: of these, too, the part in use. So what is below the frames of a fiber that is
 * parked can hide a round, and never makes one.
 *
 * The cheap part: where the threads are, and the values of all atomics. */
#include "lab/l2/l2.h"

#include "os/thread_pointer.h"

/* The stack on which a thread is: its place, and the end. False: on none that is known. */
static bool round_stack(const l2 *l, const l2_thread *t, const char **at, const char **end)
{
#ifdef RAD_CONTEXT_UCONTEXT
    *at = t->stack; /* the place is not told: all of it */
#else
    *at = t->context.stack;
#endif
    *end = NULL;
    if ((size_t)(*at - t->stack) < L2_STACK) *end = t->stack + L2_STACK;
    for (uint32_t i = 0; i < l->fiber_stack_count; i++) {
        const l2_name *f = &l->fiber_stacks[i];
        if ((size_t)(*at - f->from) < f->size) *end = f->from + f->size;
    }
    return *end != NULL;
}

static bool lives(const l2_thread *t)
{
    return t->state == L2_READY || t->state == L2_WAITING;
}

/* What of a stack a thread has not in use now. */
static const char *round_skip(const l2 *l, const l2_name *stack)
{
    const char *from = stack->from, *at, *end;
    for (uint32_t i = 1; i <= l->thread_count; i++)
        if (lives(&l->threads[i]) && round_stack(l, &l->threads[i], &at, &end) && end == stack->from + stack->size)
            from = at;
    return from;
}

/* Memory, without what is free on the stacks of fibers. */
static void round_memory(const l2 *l, const char *from, const char *to, rad_state_hash *h)
{
    while (from < to) {
        const char *until = to, *next = to;
        for (uint32_t i = 0; i < l->fiber_stack_count; i++) {
            const char *low = l->fiber_stacks[i].from, *high = round_skip(l, &l->fiber_stacks[i]);
            if (high <= from || low >= until) continue;
            until = low > from ? low : from;
            next = high;
        }
        rad_state_add(h, from, (size_t)(until - from));
        from = next;
    }
}

static bool round_whole(const l2 *l, rad_state_hash *h)
{
    round_memory(l, l->space, l->space + l->heap_used, h);
    for (uint32_t i = 0; i < l->extent_count; i++)
        round_memory(l, __start_l2data + l->extents[i].from, __start_l2data + l->extents[i].to, h);
    for (uint32_t i = 1; i <= l->thread_count; i++) {
        const l2_thread *t = &l->threads[i];
        const char *at, *end;
        size_t size = 0;
        if (!lives(t)) continue;
        if (!round_stack(l, t, &at, &end)) return false;
        const void *locals = l->borrows ? rad__thread_locals(t->pointer, l->pointer, &size) : NULL;
        rad_state_add(h, &t->context, sizeof t->context);
        if (t->stack + L2_STACK == end) rad_state_add(h, at, (size_t)(end - at));
        if (size > 0) rad_state_add(h, locals, size);
    }
    return true;
}

static void round_part(const l2 *l, rad_state_hash *h)
{
    uint64_t values = l->now_ns;
    for (uint32_t i = 1; i < l->location_count; i++)
        values = rad__fold(values + i, *(const volatile uint64_t *)l->locations[i].granule);
    rad_state_add(h, &values, sizeof values);
    for (uint32_t i = 1; i <= l->thread_count; i++) {
        const l2_thread *t = &l->threads[i];
        uint32_t place[] = {t->state, t->site, t->location};
        rad_state_add(h, place, sizeof place);
    }
}

/* While somebody's time may be up, nothing goes on for ever. */
bool rad__l2_round(void *self, bool whole, rad_digest *digest)
{
    const l2 *l = self;
    rad_state_hash h = {{0, 0}};
    bool known = l->timed == 0;
    if (known) round_part(l, &h);
    if (known && whole) known = round_whole(l, &h);
    *digest = h.digest;
    return known;
}
