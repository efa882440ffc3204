/* fault.c — the countdown behind rad__os_fail_at. */
#include "os/fault.h"

#include <errno.h>
#include <stdatomic.h>

/* Counts down; 1 = this call and all later ones. Threads of a runtime look at it while a test changes it. */
static _Atomic uint64_t fault_at;

void rad__os_fail_at(uint64_t n)
{
    atomic_store_explicit(&fault_at, n, memory_order_relaxed);
}

bool rad__os_fails(int number)
{
    uint64_t at = atomic_load_explicit(&fault_at, memory_order_relaxed);
    if (RAD_LIKELY(at == 0)) return false;
    if (at > 1) {
        atomic_store_explicit(&fault_at, at - 1, memory_order_relaxed);
        return false;
    }
    errno = number;
    return true;
}
