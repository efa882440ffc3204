#include "exec/idle.h"

#include "base/alloc.h"

#define ONE_PARKED    (UINT64_C(1) << 32)
#define ONE_SEARCHING UINT64_C(1)

static uint32_t searching_in(uint64_t counts)
{
    return (uint32_t)counts;
}

static uint32_t parked_in(uint64_t counts)
{
    return (uint32_t)(counts >> 32);
}

bool rad__idle_open(rad_idle *idle, uint32_t workers, bool plain)
{
    RAD_ASSERT(workers >= 1 && workers <= RAD_WORKERS_MAX);
    idle->seats = rad__alloc_lines(workers, sizeof *idle->seats);
    if (idle->seats == NULL) return false;
    idle->workers = workers;
    idle->plain = plain;
    rad__idle_reset(idle);
    return true;
}

void rad__idle_reset(rad_idle *idle)
{
    for (uint32_t i = 0; i < idle->workers; i++) atomic_init(&idle->seats[i].token, 0);
    for (uint32_t i = 0; i < RAD_WORKERS_MAX / 64; i++) atomic_init(&idle->bits[i], 0);
    atomic_init(&idle->counts, 0);
    atomic_init(&idle->next, 0);
}

void rad__idle_close(rad_idle *idle)
{
    rad__free(idle->seats);
    idle->seats = NULL;
}

/* ---- Tickets --------------------------------------------------------------------------------------- */

/* W2 and W3. */
static bool ticket_take(rad_idle *idle, bool though_searching)
{
    uint64_t counts = atomic_load_explicit(&idle->counts, memory_order_seq_cst); /* pairs with K2 */
    do {
        uint32_t searching = though_searching ? 0 : searching_in(counts);
        if (!rad__choose_wake(searching, parked_in(counts))) return false;
        /* Pairs with K2: the bits of those it counts as parked are visible. */
    } while (!atomic_compare_exchange_weak_explicit(&idle->counts, &counts,
                                                    counts - ONE_PARKED + ONE_SEARCHING,
                                                    memory_order_seq_cst, memory_order_seq_cst));
    return true;
}

/* True when the bit was set: it is the caller's now. */
static bool bit_claim(rad_idle *idle, uint32_t worker)
{
    uint64_t bit = UINT64_C(1) << (worker % 64);
    /* Pairs with the worker's K1: only one claimer gets it. */
    return atomic_fetch_and_explicit(&idle->bits[worker / 64], ~bit, memory_order_acq_rel) & bit;
}

static void token_give(rad_idle *idle, uint32_t worker)
{
    /* Pairs with rad__idle_take_token: the woken worker sees the work, or that all is done. */
    atomic_store_explicit(&idle->seats[worker].token, 1, memory_order_release);
}

/* W4: on `rather`, if it is still to be had, otherwise on the next one in turn. */
static uint32_t ticket_use(rad_idle *idle, uint32_t rather)
{
    if (rather != RAD_NONE && bit_claim(idle, rather)) {
        token_give(idle, rather);
        return rather;
    }
    for (;;) { /* ends: there is a bit for each ticket (I1) */
        uint64_t bits[RAD_WORKERS_MAX / 64];
        for (uint32_t i = 0; i < (idle->workers + 63) / 64; i++)
            bits[i] = atomic_load_explicit(&idle->bits[i], memory_order_relaxed);
        uint32_t next = atomic_load_explicit(&idle->next, memory_order_relaxed);
        uint32_t worker = rad__choose_sleeper(bits, idle->workers, next);
        if (worker == RAD_NONE || !bit_claim(idle, worker)) continue;
        atomic_store_explicit(&idle->next, worker + 1 < idle->workers ? worker + 1 : 0,
                              memory_order_relaxed);
        token_give(idle, worker);
        return worker;
    }
}

/* ---- Producers ------------------------------------------------------------------------------------- */

/* The plain order: whoever's turn it is. The exchange orders W1 before the token, and a token that is
 * already there has not been looked at: its worker will see the work. */
static uint32_t plain_notify(rad_idle *idle, uint32_t worker)
{
    if (worker == RAD_NONE) {
        uint32_t next = atomic_load_explicit(&idle->next, memory_order_relaxed);
        do {
            worker = next;
        } while (!atomic_compare_exchange_weak_explicit(
            &idle->next, &next, next + 1 < idle->workers ? next + 1 : 0, memory_order_relaxed,
            memory_order_relaxed));
    }
    /* Pairs with rad__idle_take_token. */
    atomic_exchange_explicit(&idle->seats[worker].token, 1, memory_order_acq_rel);
    return worker;
}

uint32_t rad__idle_notify(rad_idle *idle)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, RAD_NONE);
    return ticket_take(idle, false) ? ticket_use(idle, RAD_NONE) : RAD_NONE;
}

uint32_t rad__idle_notify_worker(rad_idle *idle, uint32_t worker)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, worker);
    /* Pairs with K1: it is parked, or its K3 sees the work. */
    uint64_t bits = atomic_load_explicit(&idle->bits[worker / 64], memory_order_seq_cst);
    if (!(bits >> (worker % 64) & 1)) return RAD_NONE;
    return ticket_take(idle, true) ? ticket_use(idle, worker) : RAD_NONE;
}

/* ---- Workers --------------------------------------------------------------------------------------- */

bool rad__idle_begin_search(rad_idle *idle)
{
    if (RAD_UNLIKELY(idle->plain)) return true;
    uint64_t counts = atomic_load_explicit(&idle->counts, memory_order_relaxed);
    do {
        if (!rad__choose_search(searching_in(counts), idle->workers)) return false;
        /* Pairs with W2: whoever made work visible before it saw this searcher is found by it. */
    } while (!atomic_compare_exchange_weak_explicit(&idle->counts, &counts, counts + ONE_SEARCHING,
                                                    memory_order_seq_cst, memory_order_relaxed));
    return true;
}

bool rad__idle_end_search(rad_idle *idle)
{
    if (RAD_UNLIKELY(idle->plain)) return false;
    /* R1, pairs with W2: work that was made visible to a searcher is seen at R2. */
    uint64_t before = atomic_fetch_sub_explicit(&idle->counts, ONE_SEARCHING, memory_order_seq_cst);
    RAD_DCHECK(searching_in(before) > 0);
    return rad__choose_wake(searching_in(before) - 1, parked_in(before));
}

void rad__idle_announce(rad_idle *idle, uint32_t self, bool searching)
{
    if (RAD_UNLIKELY(idle->plain)) return;
    /* K1, pairs with the claim of a ticket holder and the load in rad__idle_notify_worker. */
    atomic_fetch_or_explicit(&idle->bits[self / 64], UINT64_C(1) << (self % 64),
                             memory_order_seq_cst);
    /* K2, pairs with W2. */
    atomic_fetch_add_explicit(&idle->counts, searching ? ONE_PARKED - ONE_SEARCHING : ONE_PARKED,
                              memory_order_seq_cst);
}

uint32_t rad__idle_notify_self(rad_idle *idle, uint32_t self, bool only_mine)
{
    if (RAD_UNLIKELY(idle->plain)) return plain_notify(idle, self);
    return ticket_take(idle, only_mine) ? ticket_use(idle, self) : RAD_NONE;
}

bool rad__idle_take_token(rad_idle *idle, uint32_t self)
{
    if (!rad__idle_has_token(idle, self)) return false;
    /* Pairs with token_give and plain_notify. */
    return atomic_exchange_explicit(&idle->seats[self].token, 0, memory_order_acq_rel) != 0;
}

void rad__idle_call(rad_idle *idle, uint32_t worker)
{
    token_give(idle, worker);
}
