/* strand.c — strands (rt/strand.c) with stacks of their own: fibers park and are woken, by threads and by one another,
 * yield, and go on wherever somebody finds them. A fiber that is resumed while it is still on its stack is a data race
 * of its context; a wake that is lost leaves everybody waiting. */
#include "crew.h"
#include "lab/l2/model.h"

enum { WORKERS, WAKERS, WAKES, FIBERS, YIELDS, WHOLE, LOOKERS, COARSE };
enum { FIBERS_MAX = 2 };

static rad_fiber fibers[FIBERS_MAX];
static _Atomic uint32_t made[FIBERS_MAX]; /* what each waits for: `wanted` of these */
static uint32_t wanted[FIBERS_MAX];
static uint32_t turns[FIBERS_MAX]; /* plain: of the fiber, wherever it runs */
static uint32_t fiber_count, yields;

static uint32_t strand_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[WAKERS] + c->params[LOOKERS]);
}

static const char *strand_role(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    if (thread < workers) return "worker";
    return thread < workers + (uint32_t)c->params[WAKERS] ? "waker" : "looker";
}

static void wake(uint32_t fiber)
{
    /* Relaxed: the fiber's word passes it on. */
    atomic_fetch_add_explicit(&made[fiber], 1, memory_order_relaxed);
    rad__strand_unpark(rad__rt_worker(), &fibers[fiber].slot->strand, fibers[fiber].generation);
}

static int fiber_main(void *arg)
{
    uint32_t self = (uint32_t)((rad_fiber *)arg - fibers);
    rad_strand *strand = rad__running();
    uint32_t parked = 0; /* on its stack */
    RAD_MODEL_ASSERT(strand == &fibers[self].slot->strand);
    while (atomic_load_explicit(&made[self], memory_order_relaxed) < wanted[self]) {
        rad__strand_leave(RAD_LEAVE_PARK);
        RAD_MODEL_ASSERT(turns[self] == parked);
        turns[self] = ++parked;
    }
    for (uint32_t i = 0; i < yields; i++) {
        rad_yield();
        RAD_MODEL_ASSERT(rad__running() == strand);
    }
    RAD_MODEL_ASSERT(parked == turns[self]);
    if (self + 1 < fiber_count) wake(self + 1);
    return 0;
}

static void strand_setup(const rad_case *c)
{
    fiber_count = (uint32_t)c->params[FIBERS];
    yields = (uint32_t)c->params[YIELDS];
    rad__crew_open((uint32_t)c->params[WORKERS], fiber_count, 0, c->params[WHOLE]);
    if (c->params[COARSE] && !c->params[WHOLE]) rad__crew_coarse();
    rad__model_name(made, sizeof made, "made");
    rad__model_name(turns, sizeof turns, "turns");
    for (uint32_t i = 0; i < fiber_count; i++) {
        wanted[i] = i ? 1 : (uint32_t)(c->params[WAKERS] * c->params[WAKES]);
        rad__crew_spawn(&fibers[i], fiber_main, &fibers[i]);
    }
    rad__crew_shut();
}

/* As a dump does: what is read there is only the fiber's, unless nobody runs it. */
static void look(uint32_t fiber)
{
    rad_strand *s = &fibers[fiber].slot->strand;
    uint64_t word = rad__state_look(&s->state_word);
    if (rad__state_of(word) != RAD_FIBER_PARKED || !rad__strand_hold(s, word)) return;
    RAD_MODEL_ASSERT(s->fiber_stack != NULL && s->fiber_stack->strand == s);
    RAD_MODEL_ASSERT(turns[fiber] < wanted[fiber]);
    rad__strand_let_go(s);
}

static void strand_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS]) {
        rad__crew_work(thread);
        return;
    }
    if (thread < (uint32_t)(c->params[WORKERS] + c->params[WAKERS]))
        for (int64_t i = 0; i < c->params[WAKES]; i++) wake(0);
    else
        look(0);
}

static void strand_check(const rad_case *c)
{
    (void)c;
    for (uint32_t i = 0; i < fiber_count; i++) {
        rad_fiber_result given;
        RAD_MODEL_ASSERT(made[i] == wanted[i]);
        RAD_MODEL_ASSERT(rad_join(fibers[i], &given, 0) == 0 && given.code == 0);
        rad_release(fibers[i]);
        RAD_MODEL_ASSERT(rad_join(fibers[i], &given, 0) == RAD_ESTALE);
    }
    rad__crew_close();
}

static const rad_param strand_params[] = {
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [WAKERS] = {"wakers", 1, 1, 2, "threads that wake the first fiber", false},
    [WAKES] = {"wakes", 1, 1, 2, "times each of them does", false},
    [FIBERS] = {"fibers", 1, 1, FIBERS_MAX, "fibers; each wakes the next", false},
    [YIELDS] = {"yields", 0, 0, 2, "times each fiber lets others run", false},
    [WHOLE] = {"whole", 0, 0, 1, "workers of the executor, which steal and sleep", true},
    [LOOKERS] = {"lookers", 0, 0, 2, "threads that look at the first one while it is parked", false},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(strand, .name = "l2-strand", .about = "fibers on their stacks: park, unpark, yield", .params = strand_params,
          .covers = "strand state_word", .thread_count = strand_threads, .thread_role = strand_role,
          .setup = strand_setup, .body = strand_body, .check = strand_check);
