/* berth.c — fiber stacks (rt/fiber_stack.c): two cores take and give them back through the pool that they share, a
 * strand may end on another worker than it began, and the monitor cools what nobody needed. Each belongs to one strand,
 * one worker or the pool; nobody is on a stack while its memory is given back; and in the end all strands have one at
 * the same time: there are as many as fiber_stack.h counts, so who does not find one looks for it for ever. */
#include "base/alloc.h"
#include "lab/l2/model.h"
#include "rt/strand.h"

enum { EACH, KEPT, TURNS, COOLS, HANDS };
enum { CORES = 2, EACH_MAX = 2, KEPT_MAX = 2, STACK = 8 << 10 };
enum { STRANDS_MAX = CORES * EACH_MAX, BERTHS_MAX = STRANDS_MAX + CORES * KEPT_MAX };

static rad_fiber_stacks pool;
static rad_fiber_stack berths[BERTHS_MAX];
static rad_fiber_stack_cache caches[CORES];
static rad_strand strands[CORES][EACH_MAX];
static _Atomic(rad_strand *) handed;
static uint32_t berth_count;

static uint32_t berth_threads(const rad_case *c)
{
    return CORES + (c->params[COOLS] > 0);
}

static const char *berth_role(const rad_case *c, uint32_t thread)
{
    (void)c;
    return thread < CORES ? "core" : "watch";
}

static void body(void *berth)
{
    (void)berth;
    RAD_MODEL_ASSERT(!"nobody switches to it");
}

static void board(uint32_t core, rad_strand *s)
{
    rad__fiber_stack_take(&pool, &caches[core], s, body);
    RAD_MODEL_ASSERT(s->fiber_stack->strand == s && s->fiber_stack->is_made);
    *(uint64_t *)s->fiber_stack->base = core; /* it runs */
}

static void vacate(uint32_t core, rad_strand *s)
{
    rad_fiber_stack *b = s->fiber_stack;
    RAD_MODEL_ASSERT(b->strand == s);
    *(uint64_t *)b->base = core;
    s->fiber_stack = NULL;
    rad__fiber_stack_give(&pool, &caches[core], b);
}

/* All of them were in use, a second ago. */
static void berth_setup(const rad_case *c)
{
    rad_strand some[BERTHS_MAX] = {{.fiber_stack = NULL}};
    berth_count = (uint32_t)(CORES * (c->params[EACH] + c->params[KEPT]));
    for (uint32_t i = 0; i < berth_count; i++) {
        rad_stack stack = {.base = rad__alloc_lines(1, STACK), .size = STACK, .number = i};
        rad__fiber_stack_add(&pool, &berths[i], &stack);
    }
    for (uint32_t i = 0; i < berth_count; i++) board(0, &some[i]);
    for (uint32_t i = 0; i < berth_count; i++) vacate(0, &some[i]);
    rad__fiber_stacks_cool(&pool, 0);
    for (uint32_t i = 0; i < CORES; i++) caches[i].most = (uint32_t)c->params[KEPT];
    rad__model_name(&pool, sizeof pool, "pool");
    rad__model_name(berths, sizeof berths, "berth");
    rad__model_name(caches, sizeof caches, "rack");
    rad__model_name(strands, sizeof strands, "strand");
}

static void board_all(const rad_case *c, uint32_t core)
{
    for (int64_t i = 0; i < c->params[EACH]; i++) board(core, &strands[core][i]);
}

/* A strand of core 0 goes on on core 1, whose own are all aboard, and ends there. */
static void hand_over(const rad_case *c, uint32_t core)
{
    rad_strand *s = &strands[0][0];
    if (core == 0) {
        board(0, s);
        atomic_store_explicit(&handed, s, memory_order_release); /* pairs with the load below */
        /* Pairs with the store below. */
        while (atomic_load_explicit(&handed, memory_order_acquire) != NULL) {
        }
        board_all(c, 0);
        return;
    }
    board_all(c, 1);
    /* Pairs with the store above. */
    while (atomic_load_explicit(&handed, memory_order_acquire) == NULL) {
    }
    vacate(1, s);
    atomic_store_explicit(&handed, NULL, memory_order_release); /* pairs with the load above */
}

static void berth_body(const rad_case *c, uint32_t thread)
{
    if (thread == CORES) {
        for (int64_t i = 0; i < c->params[COOLS]; i++) rad__fiber_stacks_cool(&pool, BERTHS_MAX);
        return;
    }
    if (c->params[HANDS]) {
        hand_over(c, thread);
        return;
    }
    for (int64_t i = 0; i < c->params[TURNS]; i++) {
        board_all(c, thread);
        for (int64_t k = 0; k < c->params[EACH]; k++) vacate(thread, &strands[thread][k]);
    }
    board_all(c, thread);
}

static uint32_t count(const rad_fiber_stack *b)
{
    uint32_t n = 0;
    for (; b != NULL; b = b->next, n++) RAD_MODEL_ASSERT(b->strand == NULL && n < berth_count);
    return n;
}

static void berth_check(const rad_case *c)
{
    uint32_t all = count(pool.warm) + count(pool.cold), on = 0;
    RAD_MODEL_ASSERT(pool.warm_count == count(pool.warm) && pool.warm_least <= pool.warm_count);
    for (uint32_t i = 0; i < CORES; i++) {
        RAD_MODEL_ASSERT(caches[i].count == count(caches[i].first));
        RAD_MODEL_ASSERT(caches[i].count <= (uint32_t)c->params[KEPT]);
        all += caches[i].count;
    }
    for (uint32_t i = 0; i < berth_count; i++) {
        const rad_strand *s = berths[i].strand;
        RAD_MODEL_ASSERT(s == NULL || s->fiber_stack == &berths[i]);
        on += s != NULL;
        rad__free(berths[i].base);
    }
    RAD_MODEL_ASSERT(on == CORES * (uint32_t)c->params[EACH] && all + on == berth_count);
}

static const rad_param berth_params[] = {
    [EACH] = {"each", 1, 1, EACH_MAX, "strands of each core", false},
    [KEPT] = {"kept", 0, 0, KEPT_MAX, "berths that a core may keep", false},
    [TURNS] = {"turns", 1, 0, 2, "times a strand boards and ends", false},
    [COOLS] = {"cools", 1, 0, 2, "times the watch looks", false},
    [HANDS] = {"hands", 0, 0, 1, "instead, a strand ends on another worker than it began", true},
    {.name = NULL},
};

RAD_MODEL(berth, .name = "l2-berth", .about = "stacks that go from one fiber to the next", .params = berth_params,
          .covers = "fiber_stack lock", .thread_count = berth_threads, .thread_role = berth_role, .setup = berth_setup,
          .body = berth_body, .check = berth_check);
