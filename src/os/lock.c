#include "os/lock.h"

#include "os/thread.h"

enum { SPINS = 64, YIELDS = 16 };

void rad__lock_contended(rad_lock *l)
{
    for (uint32_t round = 0;; round++) {
        for (uint32_t i = 0; i < SPINS; i++) {
            if (atomic_load_explicit(&l->taken, memory_order_relaxed) == 0 && rad__lock_try(l))
                return;
            rad__os_pause();
        }
        rad__os_give_way(round >= YIELDS); /* its holder has lost its CPU */
    }
}
