#include "exec/gate.h"

enum rad_gate_enter rad__gate_enter(rad_gate *g, uint64_t count)
{
    uint64_t word = atomic_load_explicit(&g->word, memory_order_relaxed);
    for (;;) {
        if (word & RAD_GATE_CLOSED) return RAD_GATE_REFUSED;
        if (count > RAD_GATE_COUNT_MAX - word) return RAD_GATE_FULL;
        if (atomic_compare_exchange_weak_explicit(&g->word, &word, word + count, memory_order_relaxed,
                                                  memory_order_relaxed))
            return RAD_GATE_ENTERED;
    }
}

void rad__gate_add(rad_gate *g, uint64_t count)
{
    uint64_t before = atomic_fetch_add_explicit(&g->word, count, memory_order_relaxed);
    RAD_ASSERT((before & RAD_GATE_COUNT_MAX) > 0); /* the spawner itself is in flight */
    RAD_ASSERT(count <= RAD_GATE_COUNT_MAX - (before & RAD_GATE_COUNT_MAX));
}

enum rad_gate_leave rad__gate_leave(rad_gate *g, uint64_t count)
{
    /* Pairs with itself in the other tasks (release), and with the reader of LAST (acquire). */
    uint64_t before = atomic_fetch_sub_explicit(&g->word, count, memory_order_acq_rel);
    RAD_ASSERT((before & RAD_GATE_COUNT_MAX) >= count);
    return before == (RAD_GATE_CLOSED | count) ? RAD_GATE_LAST : RAD_GATE_LEFT;
}

enum rad_gate_close rad__gate_close(rad_gate *g)
{
    /* Pairs with the releases in rad__gate_leave: DRAINED has seen all of them. */
    uint64_t before = atomic_fetch_or_explicit(&g->word, RAD_GATE_CLOSED, memory_order_acq_rel);
    if (before & RAD_GATE_CLOSED) return RAD_GATE_WAS_CLOSED;
    return before == 0 ? RAD_GATE_DRAINED : RAD_GATE_CLOSING;
}
