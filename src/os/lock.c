#include "os/lock.h"

#include "os/thread.h"

enum { PAUSES_MOST = 64, ROUNDS = 24, YIELDS = 16 };

/* Each time it is found taken the next look comes later: who has it, or takes it again and again, is left in peace, and
 * the cache line with it. */
void rad__lock_contended(rad_lock *l)
{
    for (uint32_t round = 0;; round++) {
        for (uint32_t i = 0, pauses = 2; i < ROUNDS; i++) {
            if (atomic_load_explicit(&l->taken, memory_order_relaxed) == 0 && rad__lock_try(l)) return;
            for (uint32_t k = 0; k < pauses; k++) rad__os_pause();
            if (pauses < PAUSES_MOST) pauses *= 2;
        }
        rad__os_give_way(round >= YIELDS); /* its holder has lost its CPU */
    }
}

#if defined(RAD_CHECKED) && !defined(RAD_CONTEXT_CALL)
static _Thread_local uint32_t locks_held;

__attribute__((noinline)) uint32_t rad__locks_held(void)
{
    uint32_t held = locks_held;
    __asm__ volatile("" : "+r"(held)); /* no compiler may know that two calls answer the same */
    return held;
}

__attribute__((noinline)) void rad__locks_count(int32_t change)
{
    RAD_ASSERT(change > 0 || locks_held > 0);
    locks_held += (uint32_t)change;
    __asm__ volatile("" ::: "memory");
}
#endif
