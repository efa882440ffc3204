/* stack.h — stacks for fibers: many of one size, each with a guard, out of few large reservations.
 *
 *     slab      | guard | usable, grows down <-- top | guard | usable …       the first has 256, each further one
 *                                                                            twice as many, up to 1 GiB of addresses
 *
 * A stack costs addresses until it is touched; then the page at its top. Stacks are handed out once, in order, and live
 * until the pool is closed: used stacks are kept by the fibers' pool, which knows which are warm.
 *
 * Guards    are marks in the page tables where the system knows them (Linux 6.13): a million of them are still a few
 *           mappings. Elsewhere each is a mapping of its own that splits another: 65,530 mappings, which is what a
 *           process has by default, are 32,000 stacks, of which we leave an eighth to the rest of the process.
 * Width     A frame that is larger than the guard can step over it into the stack below, without touching it. 64 KiB
 *           are wider than nearly all frames. A mark takes an entry of the page tables for each page, so that a parked
 *           fiber takes 128 bytes more than with a guard of one page: 2.6 % at a million of them.
 * Stride    from one stack to the next is an odd number of pages. With a power of two, as sizes tend to be, the tops of
 *           all stacks compete for a few sets of the translation caches: 7.1 instead of 4.8 ns per switch at 1,000.
 * Colours   the top of stack n is lowered by n % 16 cache lines. All tops would be at the end of a page otherwise, and
 *           the first lines of all stacks in the same set of the cache: 50 instead of 30 ns per switch at 100,000. More
 *           colours gain nothing, and the first frames are to fit into the top page: 3,136 bytes are left for them.
 *
 * When      A guard that is a mapping is made when the stack is handed out: mappings are scarce, and a fiber that
 *           cannot have one is not spawned. Marks are set when the stack is first used (rad__stacks_guard): a burst of
 *           fibers that end at once uses one stack. They take memory for page tables, as the first touch of the stack
 *           does.
 *
 * Handing out, by any number of threads at once and without a lock:
 *         N1   n = next; n < most, or it is over
 *         N2   the slab of n is there, or: map one, and publish it unless another thread was faster (then unmap it)
 *         N3   guard stack n if guards are mappings (doing it twice changes nothing)
 *         N4   next: n -> n + 1, or begin again: another thread has taken n
 * Claim: a stack is handed out once (N4), with its mapping (N3 before N4), and a call that fails has taken nothing: the
 * next one tries the same n.
 * S1  slab k is published before slab k + 1, and stays until close: finding by address reads them without a lock.
 *
 * Rejected: one mapping per stack (32,000, and 5 µs each); guards of a slab installed at once, or of each stack when it
 * is handed out (a burst of 0.5 µs each for stacks that may never be used); a lock (it would be held over system
 * calls). */
#ifndef RAD_RT_STACK_H
#define RAD_RT_STACK_H

#include <stdatomic.h>

#include "base/check.h"

enum {
    RAD_STACK_SIZE = 128 << 10, /* when nobody says */
    RAD_STACK_SIZE_MIN = 16 << 10,
    RAD_STACK_GUARD = 64 << 10, /* at least; see Width */
    RAD_STACK_COLOURS = 16,
    RAD_STACK_COLOUR = 64
};

enum rad_guard { RAD_GUARD_BEST = 0, RAD_GUARD_MARKS, RAD_GUARD_MAPPINGS };

typedef struct rad_stacks_options {
    size_t size;          /* usable bytes of each, rounded up to pages; 0: RAD_STACK_SIZE */
    uint32_t most;        /* stacks */
    enum rad_guard guard; /* BEST, except for tests */
} rad_stacks_options;

typedef struct rad_stacks {
    size_t size, guard_size, stride, page; /* bytes */
    uint32_t most;
    uint32_t slab_first, slab_most; /* stacks in the first slab and in the largest; powers of two */
    uint32_t slab_count;
    uint32_t guard_most; /* stacks that can have guards */
    enum rad_guard guard;
    _Atomic(char *) *slabs;
    uint32_t *notes; /* what a memory checker calls them; NULL without one */
    _Atomic uint32_t next;
} rad_stacks;

RAD_INTERNAL int rad__stacks_open(rad_stacks *s, const rad_stacks_options *o, rad_error *error);

/* Nobody runs on any of them, and nobody is in a call about them. A pool of zeros is closed already. */
RAD_INTERNAL void rad__stacks_close(rad_stacks *s);

typedef struct rad_stack {
    void *base;      /* lowest usable byte: a page's first */
    size_t size;     /* from there to the top, a multiple of 64 */
    uint32_t number; /* 0, 1, … in the order of handing out */
} rad_stack;

/* One that nobody had before; from any thread. RAD_ELIMIT when there are `most` or no more guards, RAD_ENOMEM when
 * there are no more addresses. */
RAD_INTERNAL int rad__stacks_new(rad_stacks *s, rad_stack *out, rad_error *error);

/* Before a stack that is new is first used: its guard works from now on. RAD_ENOMEM, RAD_ELIMIT: it has none, and must
 * not be used. Doing it again changes nothing. */
RAD_INTERNAL int rad__stacks_guard(const rad_stacks *s, const rad_stack *stack, rad_error *error);

/* Gives back the memory of a stack nobody runs on, except for its upper `keep` bytes and what shares a page with
 * them; 0: all of it. */
RAD_INTERNAL int rad__stack_forget(const rad_stack *stack, size_t keep, rad_error *error);

/* Which stack an address belongs to; false: none. For signal handlers, too. */
typedef struct rad_stack_place {
    uint32_t number;
    bool in_guard;
} rad_stack_place;
RAD_INTERNAL bool rad__stacks_find(const rad_stacks *s, uintptr_t address, rad_stack_place *out);

typedef struct rad_stacks_report {
    uint32_t stacks;           /* handed out */
    uint32_t slabs;            /* mapped */
    uint64_t mapped_bytes;     /* addresses */
    uint64_t page_table_bytes; /* an estimate: what the stacks handed out take once they are touched */
    const char *guards;        /* "guard regions" or "mprotect" */
} rad_stacks_report;
RAD_INTERNAL void rad__stacks_report(const rad_stacks *s, rad_stacks_report *out);

#endif
