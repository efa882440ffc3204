/* life.c — a fiber's word: workers run it and park it, wakers wake it, and it runs on exactly one worker at a time, as
 * often as it is woken, until it has seen all that it waits for. A wake that is lost leaves everybody asleep, which
 * the lab reports as a deadlock; one that counts twice queues the fiber twice. */
#include "lab/l2/model.h"
#include "os/wait.h"
#include "rt/state_word.h"

enum { WORKERS, WAKERS, WAKES, LOOKERS };

static rad_state_word state;
static uint32_t generation;
static _Atomic uint32_t queued; /* the queue: 1 when the fiber is in it */
static _Atomic uint32_t over;
static _Atomic uint32_t made; /* what the fiber waits for: this many things */
static uint32_t seen;         /* plain: of whoever runs the fiber */
static bool running;          /* plain: two workers would race for it */

static uint32_t life_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[WAKERS] + c->params[LOOKERS]);
}

static const char *life_role(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    if (thread < workers) return "worker";
    return thread < workers + (uint32_t)c->params[WAKERS] ? "waker" : "looker";
}

static uint32_t wanted(const rad_case *c)
{
    return (uint32_t)(c->params[WAKERS] * c->params[WAKES]);
}

static void queue_put(void)
{
    /* Pairs with queue_take. */
    uint32_t before = atomic_exchange_explicit(&queued, 1, memory_order_release);
    RAD_MODEL_ASSERT(before == 0); /* F1: it is not in there */
    rad__os_word_wake(&queued, 1);
}

static bool queue_take(void)
{
    for (;;) {
        uint32_t one = 1;
        /* Pairs with queue_put. */
        if (atomic_compare_exchange_strong_explicit(&queued, &one, 0, memory_order_acquire, memory_order_relaxed))
            return true;
        if (atomic_load_explicit(&over, memory_order_relaxed)) return false;
        rad__os_word_wait(&queued, 0);
    }
}

static void life_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&state, sizeof state, "life");
    rad__model_name(&queued, sizeof queued, "queue");
    rad__model_name(&made, sizeof made, "made");
    rad__state_init(&state);
    generation = rad__state_begin(&state);
    atomic_init(&queued, 1);
}

static void the_end(const rad_case *c)
{
    rad__state_end(&state);
    atomic_store_explicit(&over, 1, memory_order_relaxed);
    for (int64_t i = 0; i < c->params[WORKERS]; i++) { /* nobody will queue it again */
        atomic_store_explicit(&queued, 2, memory_order_relaxed);
        rad__os_word_wake(&queued, UINT32_MAX);
    }
}

/* One turn of the fiber: it looks at what there is, and parks when that is not all. */
static void run(const rad_case *c, uint32_t worker)
{
    rad__state_own(&state, worker);
    RAD_MODEL_ASSERT(!running);
    running = true;
    do {
        /* Pairs with the wakers' add, through the word: relaxed here. */
        seen = atomic_load_explicit(&made, memory_order_relaxed);
        running = false; /* from here on off its stack */
        if (seen == wanted(c)) {
            the_end(c);
            return;
        }
    } while (rad__state_park(&state) == RAD_PARK_GOES_ON && (running = true));
}

/* Looks at its stack, which nobody uses meanwhile. */
static void look(void)
{
    uint64_t word = rad__state_look(&state);
    if (rad__state_of(word) != RAD_FIBER_PARKED || !rad__state_hold(&state, word)) return;
    RAD_MODEL_ASSERT(!running);
    if (rad__state_park(&state) == RAD_PARKED) return;
    rad__state_yield(&state);
    queue_put();
}

static void life_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS]) {
        while (queue_take()) run(c, thread);
        return;
    }
    if (thread >= (uint32_t)(c->params[WORKERS] + c->params[WAKERS])) {
        look();
        return;
    }
    for (int64_t i = 0; i < c->params[WAKES]; i++) {
        atomic_fetch_add_explicit(&made, 1, memory_order_relaxed); /* U1 */
        enum rad_unpark answer = rad__state_unpark(&state, generation);
        if (answer == RAD_UNPARK_QUEUE) queue_put();
    }
}

static void life_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(seen == wanted(c));
    RAD_MODEL_ASSERT(rad__state_of(rad__state_look(&state)) == RAD_FIBER_DONE);
    RAD_MODEL_ASSERT(rad__state_unpark(&state, generation) == RAD_UNPARK_STALE);
    rad__state_retire(&state);
    RAD_MODEL_ASSERT(rad__state_begin(&state) == generation + 1);
    RAD_MODEL_ASSERT(rad__state_unpark(&state, generation) == RAD_UNPARK_STALE);
}

static const rad_param life_params[] = {
    [WORKERS] = {"workers", 1, 1, 2, "threads that run the fiber", false},
    [WAKERS] = {"wakers", 2, 1, 3, "threads that wake it", false},
    [WAKES] = {"wakes", 1, 1, 3, "times each of them does", false},
    [LOOKERS] = {"lookers", 0, 0, 2, "threads that look at its stack while it is parked", false},
    {.name = NULL},
};

RAD_MODEL(life, .name = "l2-life", .about = "a fiber's word: park against unpark, no wake lost, none twice",
          .params = life_params, .covers = "state_word", .no_locals = true, .thread_count = life_threads,
          .thread_role = life_role, .setup = life_setup, .body = life_body, .check = life_check);
