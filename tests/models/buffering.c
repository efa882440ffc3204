/* buffering.c — store buffering: x = 1, r = y against y = 1, s = x. That r = s = 0 does not happen under sequential
 * consistency, whatever the orderings say. (It does on hardware; the weak memory model will show it.) */
#include <stdatomic.h>

#include "lab/l2/model.h"

static _Atomic uint32_t word[2];
static uint32_t seen[2];

static void buffering_body(const rad_case *c, uint32_t thread)
{
    (void)c;
    /* Pairs with the load in the other thread. */
    atomic_store_explicit(&word[thread], 1, memory_order_seq_cst);
    /* Pairs with the store in the other thread. */
    seen[thread] = atomic_load_explicit(&word[1 - thread], memory_order_seq_cst);
}

static void buffering_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(seen[0] == 1 || seen[1] == 1);
}

RAD_MODEL(buffering, .name = "l2-buffering",
          .about = "store buffering: each thread writes its word and reads the other's", .threads = 2,
          .body = buffering_body, .check = buffering_check);
