/* toys.h — the toy machines; see docs/machines.md. Adding one is a file beside this one and a row here. */
#ifndef RAD_LAB_MACHINES_TOYS_TOYS_H
#define RAD_LAB_MACHINES_TOYS_TOYS_H

#include <raddle/machine.h>

#include "base/check.h"

/* In the order of `raddle list`. */
#define RAD_TOY_LIST(X)                                                                                                \
    X(counter)                                                                                                         \
    X(buffer)                                                                                                          \
    X(buffer_if)                                                                                                       \
    X(philosophers)                                                                                                    \
    X(locks)                                                                                                           \
    X(event)                                                                                                           \
    X(aba)                                                                                                             \
    X(reorder)                                                                                                         \
    X(twostage)                                                                                                        \
    X(stringbuffer)                                                                                                    \
    X(bluetooth)                                                                                                       \
    X(wsq)                                                                                                             \
    X(wsq_interlocked)                                                                                                 \
    X(wsq_state)                                                                                                       \
    X(qsort_mt)                                                                                                        \
    X(safestack)                                                                                                       \
    X(bank)                                                                                                            \
    X(program)                                                                                                         \
    X(crash)                                                                                                           \
    X(inc)                                                                                                             \
    X(independent)

#define RAD_TOY_DECLARE(name) extern RAD_INTERNAL const rad_machine rad__toy_##name;
RAD_TOY_LIST(RAD_TOY_DECLARE)
#undef RAD_TOY_DECLARE

/* How many of the n threads of reorder_N and twostage_N look at what the others do: as many as asked for,
 * but not all; 0 asks for what SCTBench and its descendants have: 10 of 20 and of 50, otherwise 1. */
static inline uint32_t rad__sctbench_lookers(uint32_t n, uint32_t asked)
{
    uint32_t lookers = asked ? asked : n == 20 || n == 50 ? 10 : 1;
    return lookers < n ? lookers : n - 1;
}

#endif
