/* blocking.c — calls that block (rt/blocking.c): fibers hand them to threads of a pool, which do them and wake the
 * fibers, sleep when there is none, leave after a while, and are all joined in the end. Each call is made once, or
 * never, as its fiber is told; also when the system has no more threads. */
#include "crew.h"
#include "lab/l2/model.h"
#include "system.h"

#include <raddle/io.h>

enum { FIBERS, CALLS, MOST, SPARES, HASTY, WORKERS, WHOLE, COARSE };
enum { FIBERS_MAX = 2, CALLS_MAX = 2, CODE = 5 };

typedef struct job {
    uint32_t made;  /* by the pool; plain */
    bool is_wanted; /* the fiber was told that it was made */
} job;

static job jobs[FIBERS_MAX][CALLS_MAX];
static uint32_t calls, spares, hasty;
static _Atomic uint32_t workers_left;

static uint32_t blocking_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[SPARES]);
}

static const char *blocking_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "pool";
}

static int make_call(void *arg)
{
    job *j = arg;
    RAD_MODEL_ASSERT(rad__running() == NULL);
    j->made++;
    return CODE;
}

static int fiber_main(void *arg)
{
    job *mine = arg;
    bool in_a_hurry = (uint32_t)((job(*)[CALLS_MAX])arg - jobs) < hasty;
    for (uint32_t i = 0; i < calls; i++) {
        int answer = 0;
        rad_time until = in_a_hurry ? rad_after(10) : RAD_FOREVER;
        int code = rad_blocking(make_call, &mine[i], &answer, until);
        mine[i].is_wanted = code == 0;
        if (code == 0)
            RAD_MODEL_ASSERT(mine[i].made == 1 && answer == CODE);
        else if (code == RAD_ETIMEOUT)
            RAD_MODEL_ASSERT(in_a_hurry && rad_now() >= until);
        else
            RAD_MODEL_ASSERT(code == RAD_EIO && spares < FIBERS_MAX * CALLS_MAX);
    }
    return 0;
}

static void blocking_setup(const rad_case *c)
{
    uint32_t fibers = (uint32_t)c->params[FIBERS], workers = (uint32_t)c->params[WORKERS];
    calls = (uint32_t)c->params[CALLS];
    hasty = (uint32_t)c->params[HASTY];
    spares = (uint32_t)c->params[SPARES];
    rad__system_open(spares);
    rad__crew_open(workers, fibers, 0, c->params[WHOLE] || hasty > 0); /* these know the time */
    if (c->params[COARSE] && !c->params[WHOLE] && hasty == 0) rad__crew_coarse();
    rad__blocking_open(&rad__crew_runtime()->blocking, (uint32_t)c->params[MOST]);
    rad__model_name(jobs, sizeof jobs, "job");
    atomic_init(&workers_left, workers);
    for (uint32_t i = 0; i < fibers; i++) rad__crew_spawn(NULL, fiber_main, jobs[i]);
    rad__crew_shut();
}

/* The last worker does what the end of the runtime does. */
static void blocking_body(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    if (thread >= workers) {
        rad__system_thread(thread - workers);
        return;
    }
    rad__crew_work(thread);
    /* Pairs with itself: all workers have ended. */
    if (atomic_fetch_sub_explicit(&workers_left, 1, memory_order_acq_rel) != 1) return;
    rad__blocking_close(&rad__crew_runtime()->blocking);
    rad__system_shut();
}

static void blocking_check(const rad_case *c)
{
    const rad_blocking_pool *p = &rad__crew_runtime()->blocking;
    RAD_MODEL_ASSERT(p->first == NULL && p->jobs == 0 && p->idle == 0 && p->left == NULL);
    RAD_MODEL_ASSERT(rad__blocking_threads(p) == 0 && !rad__blocking_any(p));
    RAD_MODEL_ASSERT(hasty > 0 || rad__model_jumps() == 0); /* no thread slept over a job */
    for (uint32_t i = 0; i < (uint32_t)c->params[FIBERS]; i++)
        for (uint32_t k = 0; k < calls; k++) RAD_MODEL_ASSERT(jobs[i][k].made == jobs[i][k].is_wanted);
    rad__crew_close();
}

static const rad_param blocking_params[] = {
    [FIBERS] = {"fibers", 1, 1, FIBERS_MAX, "who call", false},
    [CALLS] = {"calls", 1, 1, CALLS_MAX, "calls of each", false},
    [MOST] = {"most", 2, 1, 2, "threads that the pool may have", false},
    [SPARES] = {"spares", 1, 0, RAD_SYSTEM_THREADS, "threads that can be started in all", false},
    [HASTY] = {"hasty", 0, 0, FIBERS_MAX, "fibers that have little time", false},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [WHOLE] = {"whole", 0, 0, 1, "workers of the executor, which steal and sleep", true},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(blocking, .name = "l2-blocking", .about = "calls that block, on threads of a pool", .params = blocking_params,
          .covers = "blocking wait", .thread_count = blocking_threads, .thread_role = blocking_role,
          .setup = blocking_setup, .body = blocking_body, .check = blocking_check);
