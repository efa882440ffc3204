#include "exec/idle.h"

#include "base/alloc.h"

bool rad__idle_open(rad_idle *idle, uint32_t workers, bool plain)
{
    RAD_ASSERT(workers >= 1 && workers <= RAD_WORKERS_MAX);
    idle->seats = rad__alloc_lines(workers, sizeof *idle->seats);
    if (idle->seats == NULL) return false;
    idle->workers = idle->regular = workers;
    idle->words = (workers + 63) / 64;
    idle->plain = plain;
    atomic_init(&idle->light, plain); /* there are no bits in the plain order, so nothing to miss */
    rad__idle_reset(idle);
    return true;
}

void rad__idle_reset(rad_idle *idle)
{
    for (uint32_t i = 0; i < idle->workers; i++) atomic_init(&idle->seats[i].wake_word, 0);
    for (uint32_t i = 0; i < RAD_WORKERS_MAX / 64; i++) atomic_init(&idle->bits[i], 0);
    atomic_init(&idle->searching, 0);
    atomic_init(&idle->next, 0);
}

void rad__idle_close(rad_idle *idle)
{
    rad__free(idle->seats);
    idle->seats = NULL;
}

/* ---- Bits and wake words ------------------------------------------------------------------------------- */

/* True when the bit was set: it is the caller's now. */
static bool bit_claim(rad_idle *idle, uint32_t worker)
{
    uint64_t bit = UINT64_C(1) << (worker % 64);
    /* Pairs with the worker's K1: only one claimer gets it. */
    return atomic_fetch_and_explicit(&idle->bits[worker / 64], ~bit, memory_order_seq_cst) & bit;
}

/* W3. */
static bool bits_any(const rad_idle *idle)
{
    for (uint32_t i = 0; i < idle->words; i++) /* pairs with K1 */
        if (atomic_load_explicit(&idle->bits[i], memory_order_seq_cst) != 0) return true;
    return false;
}

static void wake_word_give(rad_idle *idle, uint32_t worker)
{
    /* Pairs with rad__idle_take_wake_word: the woken worker sees the work, or that all is done. */
    atomic_store_explicit(&idle->seats[worker].wake_word, 1, memory_order_release);
}

/* W5: the bit of `rather`, if it is still to be had, otherwise the next one in turn; RAD_NONE: all are gone. */
static uint32_t bits_claim_one(rad_idle *idle, uint32_t rather)
{
    if (rather != RAD_NONE && bit_claim(idle, rather)) return rather;
    for (;;) {
        uint64_t bits[RAD_WORKERS_MAX / 64];
        for (uint32_t i = 0; i < idle->words; i++) bits[i] = atomic_load_explicit(&idle->bits[i], memory_order_relaxed);
        uint32_t next = atomic_load_explicit(&idle->next, memory_order_relaxed);
        uint32_t worker = rad__choose_sleeper(bits, idle->workers, next);
        if (worker == RAD_NONE) return RAD_NONE;
        if (!bit_claim(idle, worker)) continue; /* somebody else has it: one less to try */
        atomic_store_explicit(&idle->next, worker + 1 < idle->workers ? worker + 1 : 0, memory_order_relaxed);
        return worker;
    }
}

/* W2 … W6. */
static uint32_t wake_one(rad_idle *idle, uint32_t rather)
{
    for (;;) {
        /* Pairs with K2, R1 and W6. */
        uint32_t none = atomic_load_explicit(&idle->searching, memory_order_seq_cst);
        if (!rad__choose_wake(none, none == 0 && bits_any(idle))) return RAD_NONE;
        /* W4, pairs with itself: one producer at a time. */
        if (!atomic_compare_exchange_strong_explicit(&idle->searching, &none, 1, memory_order_seq_cst,
                                                     memory_order_seq_cst))
            return RAD_NONE;
        uint32_t worker = bits_claim_one(idle, rather);
        if (worker != RAD_NONE) {
            wake_word_give(idle, worker);
            return worker;
        }
        /* W6, pairs with W2 of those who trusted this ticket. */
        atomic_fetch_sub_explicit(&idle->searching, 1, memory_order_seq_cst);
    }
}

/* ---- Producers ------------------------------------------------------------------------------------- */

/* The plain order: whoever's turn it is. The exchange orders W1 before the wake word, and a wake word that is
 * already there has not been looked at: its worker will see the work. */
static uint32_t plain_notify(rad_idle *idle, uint32_t worker)
{
    if (worker == RAD_NONE) {
        uint32_t next = atomic_load_explicit(&idle->next, memory_order_relaxed);
        do {
            worker = next;
        } while (!atomic_compare_exchange_weak_explicit(&idle->next, &next, next + 1 < idle->workers ? next + 1 : 0,
                                                        memory_order_relaxed, memory_order_relaxed));
    }
    /* Pairs with rad__idle_take_wake_word. */
    atomic_exchange_explicit(&idle->seats[worker].wake_word, 1, memory_order_acq_rel);
    return worker;
}

uint32_t rad__idle_notify(rad_idle *idle)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, RAD_NONE);
    return wake_one(idle, RAD_NONE);
}

uint32_t rad__idle_notify_near(rad_idle *idle, uint32_t worker)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, RAD_NONE);
    return wake_one(idle, worker);
}

uint32_t rad__idle_notify_worker(rad_idle *idle, uint32_t worker)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, worker);
    /* Pairs with K1: it is parked, or being woken, or its K3 sees the work. */
    uint64_t bits = atomic_load_explicit(&idle->bits[worker / 64], memory_order_seq_cst);
    if (!(bits >> (worker % 64) & 1) || !bit_claim(idle, worker)) return RAD_NONE;
    /* Pairs with W2: the woken worker counts as a searcher before it can stop being one. */
    atomic_fetch_add_explicit(&idle->searching, 1, memory_order_seq_cst);
    wake_word_give(idle, worker);
    return worker;
}

/* ---- Workers --------------------------------------------------------------------------------------- */

bool rad__idle_begin_search(rad_idle *idle)
{
    if (RAD_UNLIKELY(idle->plain)) return true;
    uint32_t searching = atomic_load_explicit(&idle->searching, memory_order_relaxed);
    do {
        if (!rad__choose_search(searching, idle->regular)) return false;
        /* Pairs with W2: work that was made visible before it saw this searcher is found by it. */
    } while (!atomic_compare_exchange_weak_explicit(&idle->searching, &searching, searching + 1, memory_order_seq_cst,
                                                    memory_order_relaxed));
    return true;
}

/* K2, R1: pairs with W2, work that was made visible to a searcher is seen after this. True: it was the last one. */
static bool stop_searching(rad_idle *idle)
{
    uint32_t before = atomic_fetch_sub_explicit(&idle->searching, 1, memory_order_seq_cst);
    RAD_DCHECK(before > 0);
    return before == 1;
}

bool rad__idle_end_search(rad_idle *idle)
{
    if (RAD_UNLIKELY(idle->plain)) return false;
    return stop_searching(idle) && bits_any(idle);
}

void rad__idle_announce(rad_idle *idle, uint32_t self, bool searching)
{
    if (RAD_UNLIKELY(idle->plain)) return;
    /* K1, pairs with W3 and with the claims. */
    atomic_fetch_or_explicit(&idle->bits[self / 64], UINT64_C(1) << (self % 64), memory_order_seq_cst);
    if (searching) stop_searching(idle);
}

bool rad__idle_withdraw(rad_idle *idle, uint32_t self)
{
    return bit_claim(idle, self);
}

uint32_t rad__idle_notify_self(rad_idle *idle, uint32_t self, bool only_mine)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, self);
    return only_mine ? rad__idle_notify_worker(idle, self) : wake_one(idle, self);
}

bool rad__idle_take_wake_word(rad_idle *idle, uint32_t self)
{
    if (!rad__idle_has_wake_word(idle, self)) return false;
    /* Pairs with wake_word_give and plain_notify. */
    return atomic_exchange_explicit(&idle->seats[self].wake_word, 0, memory_order_acq_rel) != 0;
}

void rad__idle_call(rad_idle *idle, uint32_t worker)
{
    wake_word_give(idle, worker);
}
