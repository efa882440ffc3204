/* locals.c — thread-local variables are each thread's own, although all threads of a model are coroutines of one; and
 * they begin every run with their initial values. */
#include <stdatomic.h>

#include "lab/l2/model.h"

static _Thread_local uint32_t number = 7;
static _Thread_local uint32_t *mine;
static _Atomic uint32_t meeting;

static void locals_body(const rad_case *c, uint32_t thread)
{
    uint32_t own = 0;
    (void)c;
    atomic_fetch_add_explicit(&meeting, 1, memory_order_relaxed);
    RAD_MODEL_ASSERT(number == 7 && mine == NULL);
    number = 100 + thread;
    mine = &own;
    atomic_fetch_add_explicit(&meeting, 1, memory_order_relaxed);
    RAD_MODEL_ASSERT(number == 100 + thread && mine == &own);
    number++;
    atomic_fetch_add_explicit(&meeting, 1, memory_order_relaxed);
    RAD_MODEL_ASSERT(number == 101 + thread && mine == &own);
}

RAD_MODEL(locals, .name = "l2-locals", .about = "every thread has its own thread-local variables", .threads = 2,
          .body = locals_body);
