/* inc.c — threads that add to one word, and to one of their own: no bug. For counting schedules
 * ((nk)!/(k!)^n) and for benchmarks. */
#include <stdatomic.h>

#include "lab/l2/model.h"

enum { N, K };

static _Atomic uint64_t total;
static uint64_t own[RAD_MODEL_THREADS_MAX];

static uint32_t inc_threads(const rad_case *c)
{
    return (uint32_t)c->params[N];
}

static void inc_body(const rad_case *c, uint32_t thread)
{
    for (int64_t left = c->params[K]; left > 0; left--) {
        own[thread]++;
        atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
    }
}

static void inc_check(const rad_case *c)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < c->params[N]; i++) sum += own[i];
    RAD_MODEL_ASSERT(sum == atomic_load_explicit(&total, memory_order_relaxed));
}

static const rad_param inc_params[] = {
    [N] = {"n", 2, 1, RAD_MODEL_THREADS_MAX, "threads", false},
    [K] = {"k", 10, 1, 1000, "additions of each thread", false},
    {.name = NULL},
};

RAD_MODEL(inc, .name = "l2-inc",
          .about = "threads add to one word, atomically: nothing is wrong, every schedule differs",
          .params = inc_params, .no_locals = true, .thread_count = inc_threads, .body = inc_body, .check = inc_check);
