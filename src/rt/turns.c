#include "rt/turns.h"

#include "base/alloc.h"
#include "os/thread.h"
#include "rt/ready.h"

static _Atomic(rad_semaphore *) chunks[RAD_FILE_CHUNKS];

static void chunk_reset(rad_semaphore *chunk, uint32_t n)
{
    for (uint32_t i = 0; i < rad__file_chunk_size(n); i++) chunk[i] = (rad_semaphore)RAD_SEMAPHORE_INIT(1);
}

/* In the child: who had a turn, or waited for one, is not here. */
static void turns_forked(void)
{
    for (uint32_t n = 0; n < RAD_FILE_CHUNKS; n++) {
        rad_semaphore *chunk = atomic_load_explicit(&chunks[n], memory_order_relaxed);
        if (chunk != NULL) chunk_reset(chunk, n);
    }
}

static rad_semaphore *chunk_make(uint32_t n)
{
    static _Atomic bool forks; /* the child will be told: without memory for that it is not */
    rad_semaphore *chunk = rad__alloc(rad__file_chunk_size(n), sizeof *chunk), *other = NULL;
    if (chunk == NULL) return NULL;
    if (!atomic_exchange_explicit(&forks, true, memory_order_relaxed))
        atomic_store_explicit(&forks, rad__os_after_fork(turns_forked), memory_order_relaxed);
    chunk_reset(chunk, n);
    /* Pairs with the load in rad__turn_of. */
    if (atomic_compare_exchange_strong_explicit(&chunks[n], &other, chunk, memory_order_acq_rel, memory_order_acquire))
        return chunk;
    rad__free(chunk); /* another thread was quicker */
    return other;
}

rad_semaphore *rad__turn_of(int fd)
{
    uint32_t at, n = rad__file_chunk((uint32_t)fd, &at);
    /* Pairs with the exchange in chunk_make. */
    rad_semaphore *chunk = atomic_load_explicit(&chunks[n], memory_order_acquire);
    if (RAD_UNLIKELY(chunk == NULL)) chunk = chunk_make(n);
    return chunk != NULL ? &chunk[at] : NULL;
}
