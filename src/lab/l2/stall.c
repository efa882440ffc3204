/* stall.c — everybody who could go on stands aside: a livelock, or loops that will give up?
 *
 * One at a time is let go, in turn: with nothing changing, their order is no choice worth making. Each makes a few
 * rounds of its loop and stands aside again. It is a livelock when the whole state has come back, and each of them went
 * in between: then the same turns can be taken for ever, and they are fair. The state is the heap, the static variables
 * of the model, and of each thread where it is and the part of its stack that is in use. What a fiber has on its stack
 * counts while a thread that stands aside is on it: no other fiber can have run, for that changes words. Thread-local
 * variables do not count.
 *
 * States are compared with one that is marked, at stalls 1, 2, 4, 8, … of a row without a change. */
#include "lab/l2/l2.h"

#include <stdio.h>
#include <string.h>

/* The memory from the place where the thread left its stack up to the end of that; false: on no stack that is known. */
static bool stall_stack(const l2 *l, const l2_thread *t, rad_state_hash *h)
{
#ifdef RAD_CONTEXT_UCONTEXT
    const char *at = t->stack, *end = NULL; /* the place is not told: all of it */
#else
    const char *at = t->context.stack, *end = NULL;
#endif
    if ((size_t)(at - t->stack) < L2_STACK) end = t->stack + L2_STACK;
    for (uint32_t i = 0; i < l->fiber_stack_count; i++) {
        const l2_name *f = &l->fiber_stacks[i];
        if ((size_t)(at - f->from) < f->size) end = f->from + f->size;
    }
    if (end == NULL) return false;
    rad_state_add(h, &t->context, sizeof t->context);
    rad_state_add(h, &t->site, sizeof t->site);
    rad_state_add(h, at, (size_t)(end - at));
    return true;
}

/* Memory without the stacks of fibers. */
static void stall_memory(const l2 *l, const char *from, const char *to, rad_state_hash *h)
{
    while (from < to) {
        const char *until = to, *next = to;
        for (uint32_t i = 0; i < l->fiber_stack_count; i++) {
            const char *low = l->fiber_stacks[i].from, *high = low + l->fiber_stacks[i].size;
            if (high <= from || low >= until) continue;
            until = low > from ? low : from;
            next = high;
        }
        rad_state_add(h, from, (size_t)(until - from));
        from = next;
    }
}

static bool stall_state(const l2 *l, rad_digest *into)
{
    rad_state_hash h = {{0, 0}};
    bool known = true;
    stall_memory(l, l->space, l->space + l->heap_used, &h);
    for (uint32_t i = 0; i < l->extent_count; i++)
        stall_memory(l, __start_l2data + l->extents[i].from, __start_l2data + l->extents[i].to, &h);
    for (uint32_t i = 1; i <= l->thread_count; i++)
        if (l->spinning >> i & 1) known &= stall_stack(l, &l->threads[i], &h);
    *into = h.digest;
    return known;
}

static void stall_report(l2 *l)
{
    const l2_thread *first = &l->threads[__builtin_ctz(l->spinning)];
    char text[300] = "", who[RAD_NAME_MAX], where[120];
    for (uint32_t i = 1; i <= l->thread_count; i++) {
        size_t used = strlen(text);
        if (!(l->spinning >> i & 1)) continue;
        rad__actor_name(l->k, i - 1, who);
        rad__l2_site_text(l->threads[i].site, where, sizeof where);
        snprintf(text + used, sizeof text - used, "%s%s repeats %s", used ? ", " : "", who, where);
    }
    rad_fail(l->k, RAD_ORACLE_LIVELOCK,
             first->location ? rad__l2_object(l, first->location) : RAD_NONE,
             "%s: steps %llu to %llu change nothing and can repeat for ever; nobody else can go on",
             text, (unsigned long long)l->stall_step, (unsigned long long)l->k->step);
}

uint32_t rad__l2_stall(l2 *l)
{
    rad_digest state;
    rad_evaluated(l->k, RAD_ORACLE_LIVELOCK);
    bool known = stall_state(l, &state);
    if (known && l->stalls > 0 && (l->spinning & ~l->stall_went) == 0 &&
        rad__digest_equal(state, l->stall_mark)) {
        stall_report(l);
        return 0;
    }
    l->stalls++;
    if ((l->stalls & (l->stalls - 1)) == 0) {
        l->stall_mark = state;
        l->stall_went = 0;
        l->stall_step = l->k->step + 1;
    }
    do l->stalled = l->stalled % L2_CLOCKS + 1;
    while (!(l->spinning >> l->stalled & 1));
    l->stall_went |= 1u << l->stalled;
    return l->stalled;
}
