/* over.c — two fibers of a worker go over to each other (rt/strand.h) while another worker steals whom it can: who was
 * left is in a queue only when it is off its stack and says so. */
#include "crew.h"
#include "lab/l2/model.h"

enum { WORKERS, YIELDS };

static _Atomic uint32_t ran;

static uint32_t over_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS];
}

static const char *over_role(const rad_case *c, uint32_t thread)
{
    (void)c, (void)thread;
    return "worker";
}

static int yields(void *arg)
{
    const rad_case *c = arg;
    for (int64_t i = 0; i < c->params[YIELDS]; i++) rad_yield();
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static int spawns_and_yields(void *arg)
{
    RAD_MODEL_ASSERT(rad_spawn(NULL, yields, arg) == 0);
    return yields(arg);
}

static void over_setup(const rad_case *c)
{
    rad__crew_open((uint32_t)c->params[WORKERS], 1, 1, false);
    rad__crew_spawn(NULL, spawns_and_yields, (void *)c);
    rad__crew_shut();
}

static void over_body(const rad_case *c, uint32_t thread)
{
    (void)c;
    rad__crew_work(thread);
}

static void over_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(ran == 2);
    rad__crew_close();
}

static const rad_param over_params[] = {
    [WORKERS] = {"workers", 2, 1, RAD_CREW_WORKERS, "workers", false},
    [YIELDS] = {"yields", 2, 1, 3, "times each of the two yields", false},
    {.name = NULL},
};

RAD_MODEL(over, .name = "l2-over", .about = "fibers that go over to each other, and a thief", .params = over_params,
          .covers = "strand state_word fiber", .thread_count = over_threads, .thread_role = over_role,
          .setup = over_setup, .body = over_body, .check = over_check);
