/* fibers.c — what the context switch of production code and giving way are at L2.
 *
 * A fiber of a model runs on the stack of whichever thread resumes it, exactly as in production: the lab, when it stops
 * that thread, saves the place where it is, wherever that is. What has to be added is that leaving a context writes it
 * and resuming one reads it, as plain accesses: whoever resumes a fiber that is not off its stack yet, or without
 * having been told so by an atomic, is in a race with the one who leaves it. */
#include "lab/l2/l2.h"

RAD_INTERNAL void rad__l2_context_switch(rad_context *from, rad_context *to);
RAD_INTERNAL void rad__l2_context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument),
                                       void *argument);
RAD_INTERNAL void rad__l2_give_way(bool longer);

static void touch(const rad_context *c, uint32_t kind, const void *pc)
{
    if (rad__l2->phase == L2_PHASE_RUN) rad__l2_range(rad__l2, (const char *)c, sizeof *c, kind, l2_site_of(pc));
}

void rad__l2_context_switch(rad_context *from, rad_context *to)
{
    touch(from, L2_IS_WRITE, __builtin_return_address(0));
    touch(to, 0, __builtin_return_address(0));
    rad__context_switch(from, to);
}

void rad__l2_context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument), void *argument)
{
    l2 *l = rad__l2;
    touch(c, L2_IS_WRITE, __builtin_return_address(0));
    if (l->fiber_stack_count == L2_FIBERS_MAX)
        rad__l2_error(l, RAD_ELIMIT, "a model makes more contexts than there is room for");
    l->fiber_stacks[l->fiber_stack_count++] = (l2_name){stack, size, NULL};
    rad__context_make(c, stack, size, entry, argument);
}

/* Whoever gives way has looked in vain, and looks again: for nothing, before somebody else has made a step. */
void rad__l2_give_way(bool longer)
{
    (void)longer;
    if (rad__l2->phase == L2_PHASE_RUN) rad_yields(rad__l2->k);
}
