#include "rt/stack.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/context.h"
#include "os/pages.h"

#include <string.h>

#define SLAB_BYTES_MOST ((size_t)1 << 30)

enum { SLAB_STACKS_FIRST = 256, STACKS_MOST = 1 << 30 };

/* ---- Where things are ---------------------------------------------------------------------------------- */

typedef struct slab {
    uint32_t index, first, count;
} slab;

static slab slab_of(const rad_stacks *s, uint32_t number)
{
    slab at = {0, 0, s->slab_first};
    while (at.count < s->slab_most && number - at.first >= at.count) {
        at.first += at.count;
        at.count *= 2;
        at.index++;
    }
    uint32_t further = (number - at.first) / at.count;
    at.index += further;
    at.first += further * at.count;
    if (at.count > s->most - at.first) at.count = s->most - at.first;
    return at;
}

static char *slab_base(const rad_stacks *s, uint32_t index)
{
    /* Pairs with the exchange in slab_need. */
    return atomic_load_explicit(&s->slabs[index], memory_order_acquire);
}

bool rad__stacks_find(const rad_stacks *s, uintptr_t address, rad_stack_place *out)
{
    slab at;
    for (uint32_t number = 0; number < s->most; number = at.first + at.count) {
        at = slab_of(s, number);
        uintptr_t base = (uintptr_t)slab_base(s, at.index); /* tidy: address ok, it is what is asked */
        if (base == 0) return false;
        if (address < base || address - base >= at.count * s->stride) continue;
        *out = (rad_stack_place){at.first + (uint32_t)((address - base) / s->stride),
                                 (address - base) % s->stride < s->guard_size};
        return true;
    }
    return false;
}

/* ---- Opening and closing ------------------------------------------------------------------------------- */

static uint32_t power_below(uint64_t x)
{
    uint32_t power = 1;
    while (power < STACKS_MOST && (uint64_t)power * 2 <= x) power *= 2;
    return power;
}

static int stacks_measure(rad_stacks *s, const rad_stacks_options *o, rad_error *error)
{
    size_t size = o->size ? o->size : RAD_STACK_SIZE;
    s->page = rad__os_page_size();
    if (size < RAD_STACK_SIZE_MIN || size > SIZE_MAX / 4)
        return rad__error(error, RAD_EINPUT, "a stack of %zu bytes; at least %d are needed", size, RAD_STACK_SIZE_MIN);
    s->size = (size + s->page - 1) / s->page * s->page;
    s->guard_size = (RAD_STACK_GUARD + s->page - 1) / s->page * s->page;
    if ((s->size + s->guard_size) / s->page % 2 == 0) s->guard_size += s->page;
    s->stride = s->size + s->guard_size;
    s->most = o->most;
    if (s->most == 0 || s->most > STACKS_MOST || s->most > SIZE_MAX / 2 / s->stride)
        return rad__error(error, RAD_EINPUT, "%u stacks of %zu KiB: 1 … %d, and the addresses there are", s->most,
                          s->size >> 10, STACKS_MOST);
    s->slab_most = power_below(SLAB_BYTES_MOST / s->stride);
    s->slab_first = s->slab_most < SLAB_STACKS_FIRST ? s->slab_most : SLAB_STACKS_FIRST;
    s->slab_count = slab_of(s, s->most - 1).index + 1;
    return 0;
}

static int slab_need(rad_stacks *s, const slab *at, char **base, rad_error *error)
{
    *base = slab_base(s, at->index);
    if (*base) return 0;
    void *mapped;
    int code = rad__os_pages_map_stacks(&mapped, at->count * s->stride, error);
    if (code != 0) return code;
    /* Pairs with the load in slab_base. */
    if (atomic_compare_exchange_strong_explicit(&s->slabs[at->index], base, mapped, memory_order_acq_rel,
                                                memory_order_acquire))
        *base = mapped;
    else
        rad__os_pages_unmap(mapped, at->count * s->stride);
    return 0;
}

/* The first slab is mapped at once: its first guard tells what kind of guards there are. */
static int stacks_choose_guard(rad_stacks *s, enum rad_guard wanted, rad_error *error)
{
    slab first = slab_of(s, 0);
    char *base;
    int code = slab_need(s, &first, &base, error);
    if (code != 0) return code;
    s->guard = wanted;
    if (wanted == RAD_GUARD_BEST) s->guard = rad__os_pages_marks_work(base) ? RAD_GUARD_MARKS : RAD_GUARD_MAPPINGS;
    s->guard_most = s->most;
    if (s->guard == RAD_GUARD_MAPPINGS) {
        uint32_t mappings = rad__os_mapping_limit();
        s->guard_most = (mappings - mappings / 8) / 2;
    }
    return 0;
}

int rad__stacks_open(rad_stacks *s, const rad_stacks_options *o, rad_error *error)
{
    memset(s, 0, sizeof *s);
    int code = stacks_measure(s, o, error);
    if (code == 0) {
        s->slabs = rad__alloc_later(s->slab_count, sizeof *s->slabs);
        if (rad__stack_is_watched()) s->notes = rad__alloc(s->most, sizeof *s->notes);
        if (s->slabs == NULL || (rad__stack_is_watched() && s->notes == NULL)) code = rad__error_memory(error);
    }
    if (code == 0) code = stacks_choose_guard(s, o->guard, error);
    if (code != 0) rad__stacks_close(s);
    return code;
}

void rad__stacks_close(rad_stacks *s)
{
    slab at;
    if (s->notes) {
        uint32_t count = atomic_load_explicit(&s->next, memory_order_relaxed);
        for (uint32_t i = 0; i < count; i++) rad__stack_withdraw(s->notes[i]);
    }
    for (uint32_t number = 0; s->slabs && number < s->most; number = at.first + at.count) {
        at = slab_of(s, number);
        char *base = slab_base(s, at.index);
        if (base == NULL) break;
        rad__os_pages_unmap(base, at.count * s->stride);
    }
    rad__free(s->notes);
    rad__free(s->slabs);
    memset(s, 0, sizeof *s);
}

/* ---- Handing out --------------------------------------------------------------------------------------- */

static int guard_by_mapping(const rad_stacks *s, char *guard, uint32_t number, rad_error *error)
{
    if (number >= s->guard_most)
        return rad__error(error, RAD_ELIMIT,
                          "more than %u stacks need more mappings than a process has here: raise "
                          "vm.max_map_count, or use Linux 6.13 or later",
                          s->guard_most);
    return rad__os_pages_guard(guard, s->guard_size, error);
}

int rad__stacks_new(rad_stacks *s, rad_stack *out, rad_error *error)
{
    uint32_t number = atomic_load_explicit(&s->next, memory_order_relaxed);
    char *low;
    do {
        if (number >= s->most) return rad__error(error, RAD_ELIMIT, "all %u stacks are in use", s->most);
        slab at = slab_of(s, number);
        char *base;
        int code = slab_need(s, &at, &base, error);
        if (code != 0) return code;
        low = base + (number - at.first) * s->stride;
        if (s->guard == RAD_GUARD_MAPPINGS) code = guard_by_mapping(s, low, number, error);
        if (code != 0) return code;
    } while (!atomic_compare_exchange_weak_explicit(&s->next, &number, number + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    size_t colour = number % RAD_STACK_COLOURS * (size_t)RAD_STACK_COLOUR;
    *out = (rad_stack){low + s->guard_size, s->size - colour, number};
    if (s->notes) s->notes[number] = rad__stack_announce(out->base, out->size);
    return 0;
}

int rad__stacks_guard(const rad_stacks *s, const rad_stack *stack, rad_error *error)
{
    char *guard = (char *)stack->base - s->guard_size;
    if (s->guard != RAD_GUARD_MARKS) return 0; /* it was made with the stack */
    if (rad__os_pages_mark(guard, s->guard_size, NULL) == 0) return 0;
    return rad__os_pages_guard(guard, s->guard_size, error);
}

int rad__stack_forget(const rad_stack *stack, size_t keep, rad_error *error)
{
    size_t page = rad__os_page_size();
    if (keep >= stack->size) return 0;
    size_t below = (stack->size - keep) / page * page;
    if (keep == 0) below = (stack->size + page - 1) / page * page; /* above it is only colour */
    return below ? rad__os_pages_forget(stack->base, below, error) : 0;
}

/* ---- Counting ------------------------------------------------------------------------------------------ */

void rad__stacks_report(const rad_stacks *s, rad_stacks_report *out)
{
    slab at;
    *out = (rad_stacks_report){.stacks = atomic_load_explicit(&s->next, memory_order_relaxed),
                               .guards = s->guard == RAD_GUARD_MARKS ? "guard regions" : "mprotect"};
    uint64_t table = s->page / sizeof(uint64_t) * s->page; /* bytes that one page table translates */
    for (uint32_t number = 0; number < s->most; number = at.first + at.count) {
        at = slab_of(s, number);
        if (slab_base(s, at.index) == NULL) break;
        out->slabs++;
        out->mapped_bytes += (uint64_t)at.count * s->stride;
        uint32_t used = out->stacks < at.first ? 0 : out->stacks - at.first;
        if (used > at.count) used = at.count;
        if (used == 0) continue;
        uint64_t spanned = used * s->stride;
        /* Of a stack that spans several tables only the first and the last are touched. */
        uint64_t tables = spanned / table + 1;
        if (tables > 2 * (uint64_t)used) tables = 2 * (uint64_t)used;
        uint64_t above = spanned / table / (s->page / sizeof(uint64_t)) + 1;
        out->page_table_bytes += (tables + above) * s->page;
    }
}
