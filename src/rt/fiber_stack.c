#include "rt/fiber_stack.h"

#include "os/clock.h"
#include "rt/strand.h"

enum { COOLED_AT_ONCE = 64, NUMBER_MOST = (1 << 30) - 1 };

static rad_fiber_stack *pop(rad_fiber_stack **list)
{
    rad_fiber_stack *b = *list;
    if (b != NULL) *list = b->next;
    return b;
}

static void push(rad_fiber_stack **list, rad_fiber_stack *b)
{
    b->next = *list;
    *list = b;
}

/* ---- The pool: under its lock -------------------------------------------------------------------------- */

static rad_fiber_stack *pool_take(rad_fiber_stacks *all)
{
    rad_fiber_stack *b = pop(&all->warm);
    if (b == NULL) return pop(&all->cold);
    if (--all->warm_count < all->warm_least) all->warm_least = all->warm_count;
    return b;
}

static void pool_give(rad_fiber_stacks *all, rad_fiber_stack *b)
{
    if (!b->is_made) {
        push(&all->cold, b);
        return;
    }
    push(&all->warm, b);
    all->warm_count++;
}

void rad__fiber_stack_add(rad_fiber_stacks *all, rad_fiber_stack *b, const rad_stack *stack)
{
    RAD_ASSERT(stack->size <= UINT32_MAX && stack->number <= NUMBER_MOST);
    b->base = stack->base;
    b->size = (uint32_t)stack->size;
    b->number = stack->number & NUMBER_MOST;
    rad__lock(&all->lock);
    pool_give(all, b);
    rad__unlock(&all->lock);
}

/* ---- What a worker keeps ---------------------------------------------------------------------------------- */

/* One to use; as many more as make half of what it may keep. */
static rad_fiber_stack *cache_fill(rad_fiber_stacks *all, rad_fiber_stack_cache *cache)
{
    rad__lock(&all->lock);
    rad_fiber_stack *found = pool_take(all);
    while (cache->count < cache->most / 2 && all->warm != NULL) {
        push(&cache->first, pool_take(all));
        cache->count++;
    }
    rad__unlock(&all->lock);
    return found;
}

static rad_fiber_stack *take(rad_fiber_stacks *all, rad_fiber_stack_cache *cache)
{
    if (RAD_LIKELY(cache->first != NULL)) {
        cache->count--;
        return pop(&cache->first);
    }
    rad_fiber_stack *b;
    for (uint32_t i = 0; (b = cache_fill(all, cache)) == NULL; i++) /* the monitor has them */
        rad__os_give_way(i > 100);
    return b;
}

void rad__fiber_stack_take(rad_fiber_stacks *all, rad_fiber_stack_cache *cache, rad_strand *s,
                           void (*body)(void *fiber_stack))
{
    rad_fiber_stack *b = take(all, cache);
    if (RAD_UNLIKELY(!b->is_made)) {
        if (!b->was_used && all->first_use) all->first_use(all->stacks, b);
        b->was_used = 1;
        rad__context_make(&b->context, b->base, b->size, body, b);
        b->is_made = 1;
    }
    b->strand = s;
    s->fiber_stack = b;
}

/* Half of what it keeps goes to the pool. */
static void cache_spill(rad_fiber_stacks *all, rad_fiber_stack_cache *cache)
{
    rad__lock(&all->lock);
    for (; cache->count > cache->most / 2; cache->count--) pool_give(all, pop(&cache->first));
    rad__unlock(&all->lock);
}

void rad__fiber_stack_give(rad_fiber_stacks *all, rad_fiber_stack_cache *cache, rad_fiber_stack *b)
{
    b->strand = NULL;
    push(&cache->first, b);
    if (RAD_UNLIKELY(++cache->count > cache->most)) cache_spill(all, cache);
}

/* ---- Cold ones ------------------------------------------------------------------------------------------ */

static void cool(rad_fiber_stack *b)
{
    rad_stack stack = {b->base, b->size, b->number};
    if (rad__stack_forget(&stack, 0, NULL) != 0) return; /* it stays warm */
    rad__context_drop(&b->context);
    b->is_made = 0;
}

static uint32_t cool_some(rad_fiber_stacks *all, uint32_t most)
{
    rad_fiber_stack *mine = NULL;
    uint32_t count = 0;
    rad__lock(&all->lock);
    for (; count < most && all->warm != NULL; count++) push(&mine, pool_take(all));
    rad__unlock(&all->lock);
    for (rad_fiber_stack *b = mine; b != NULL; b = b->next) cool(b);
    rad__lock(&all->lock);
    for (rad_fiber_stack *b; (b = pop(&mine)) != NULL;) pool_give(all, b);
    rad__unlock(&all->lock);
    return count;
}

uint32_t rad__fiber_stacks_cool(rad_fiber_stacks *all, uint32_t most)
{
    rad__lock(&all->lock);
    uint32_t idle = all->warm_least, cooled = 0;
    rad__unlock(&all->lock);
    uint32_t wanted = idle / 2 + idle % 2 < most ? idle / 2 + idle % 2 : most;
    while (cooled < wanted) {
        uint32_t count = wanted - cooled < COOLED_AT_ONCE ? wanted - cooled : COOLED_AT_ONCE;
        count = cool_some(all, count);
        if (count == 0) break;
        cooled += count;
    }
    rad__lock(&all->lock);
    all->warm_least = all->warm_count;
    rad__unlock(&all->lock);
    return cooled;
}
