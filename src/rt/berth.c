#include "rt/berth.h"

#include "os/clock.h"
#include "rt/strand.h"

enum { COOLED_AT_ONCE = 64, NUMBER_MOST = (1 << 30) - 1 };

static rad_berth *pop(rad_berth **list)
{
    rad_berth *b = *list;
    if (b != NULL) *list = b->next;
    return b;
}

static void push(rad_berth **list, rad_berth *b)
{
    b->next = *list;
    *list = b;
}

/* ---- The pool: under its lock -------------------------------------------------------------------------- */

static rad_berth *pool_take(rad_berths *all)
{
    rad_berth *b = pop(&all->warm);
    if (b == NULL) return pop(&all->cold);
    if (--all->warm_count < all->warm_least) all->warm_least = all->warm_count;
    return b;
}

static void pool_give(rad_berths *all, rad_berth *b)
{
    if (!b->is_made) {
        push(&all->cold, b);
        return;
    }
    push(&all->warm, b);
    all->warm_count++;
}

void rad__berth_add(rad_berths *all, rad_berth *b, const rad_stack *stack)
{
    RAD_ASSERT(stack->size <= UINT32_MAX && stack->number <= NUMBER_MOST);
    b->base = stack->base;
    b->size = (uint32_t)stack->size;
    b->number = stack->number & NUMBER_MOST;
    rad__lock(&all->lock);
    pool_give(all, b);
    rad__unlock(&all->lock);
}

/* ---- What a core keeps ---------------------------------------------------------------------------------- */

/* One to use; as many more as make half of what it may keep. */
static rad_berth *rack_fill(rad_berths *all, rad_berth_rack *rack)
{
    rad__lock(&all->lock);
    rad_berth *found = pool_take(all);
    while (rack->count < rack->most / 2 && all->warm != NULL) {
        push(&rack->first, pool_take(all));
        rack->count++;
    }
    rad__unlock(&all->lock);
    return found;
}

static rad_berth *take(rad_berths *all, rad_berth_rack *rack)
{
    if (RAD_LIKELY(rack->first != NULL)) {
        rack->count--;
        return pop(&rack->first);
    }
    rad_berth *b;
    for (uint32_t i = 0; (b = rack_fill(all, rack)) == NULL; i++) /* the watch has them */
        rad__os_give_way(i > 100);
    return b;
}

void rad__berth_board(rad_berths *all, rad_berth_rack *rack, rad_strand *s, void (*body)(void *berth))
{
    rad_berth *b = take(all, rack);
    if (RAD_UNLIKELY(!b->is_made)) {
        if (!b->was_used && all->first_use) all->first_use(all->stacks, b);
        b->was_used = 1;
        rad__context_make(&b->context, b->base, b->size, body, b);
        b->is_made = 1;
    }
    b->strand = s;
    s->berth = b;
}

/* Half of what it keeps goes to the pool. */
static void rack_spill(rad_berths *all, rad_berth_rack *rack)
{
    rad__lock(&all->lock);
    for (; rack->count > rack->most / 2; rack->count--) pool_give(all, pop(&rack->first));
    rad__unlock(&all->lock);
}

void rad__berth_vacate(rad_berths *all, rad_berth_rack *rack, rad_berth *b)
{
    b->strand = NULL;
    push(&rack->first, b);
    if (RAD_UNLIKELY(++rack->count > rack->most)) rack_spill(all, rack);
}

/* ---- Cold ones ------------------------------------------------------------------------------------------ */

static void cool(rad_berth *b)
{
    rad_stack stack = {b->base, b->size, b->number};
    if (rad__stack_forget(&stack, 0, NULL) != 0) return; /* it stays warm */
    rad__context_drop(&b->context);
    b->is_made = 0;
}

static uint32_t cool_some(rad_berths *all, uint32_t most)
{
    rad_berth *mine = NULL;
    uint32_t count = 0;
    rad__lock(&all->lock);
    for (; count < most && all->warm != NULL; count++) push(&mine, pool_take(all));
    rad__unlock(&all->lock);
    for (rad_berth *b = mine; b != NULL; b = b->next) cool(b);
    rad__lock(&all->lock);
    for (rad_berth *b; (b = pop(&mine)) != NULL;) pool_give(all, b);
    rad__unlock(&all->lock);
    return count;
}

uint32_t rad__berths_cool(rad_berths *all, uint32_t most)
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
