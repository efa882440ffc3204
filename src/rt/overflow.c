#include "rt/overflow.h"

#include "base/error.h"
#include "os/lock.h"
#include "os/segv.h"
#include "os/thread.h"

#include <string.h>

typedef struct watched {
    _Atomic(const rad_stacks *) stacks; /* NULL: empty */
    rad_overflow_name name;
    void *context;
} watched;

static watched list[RAD_OVERFLOW_POOLS];
static uint32_t list_count;
static _Atomic uint32_t looking;
static rad_lock
    list_lock; /* over system calls, too: opening and closing a runtime is no hot path */

/* ---- The line ------------------------------------------------------------------------------------------- */

typedef struct line {
    char text[RAD_OVERFLOW_NAME + 128];
    size_t size;
} line;

static void line_add(line *l, const char *text)
{
    size_t size = strlen(text);
    memcpy(l->text + l->size, text, size);
    l->size += size;
}

static void line_add_number(line *l, uint64_t number)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    line_add(l, digits + at);
}

static void report(const watched *w, const rad_stacks *stacks, uint32_t number, bool is_overflow)
{
    line l = {.size = 0};
    line_add(&l, "raddle: ");
    size_t size = w->name ? w->name(w->context, number, l.text + l.size, RAD_OVERFLOW_NAME) : 0;
    RAD_ASSERT(size <= RAD_OVERFLOW_NAME);
    l.size += size;
    if (size == 0) {
        line_add(&l, "stack ");
        line_add_number(&l, number);
    }
    if (is_overflow) {
        line_add(&l, ": stack overflow (");
        line_add_number(&l, stacks->size >> 10);
        line_add(&l, " KiB); raise the stack size\n");
    } else {
        line_add(&l, ": somebody else touched the guard below its stack; a wild pointer\n");
    }
    rad__os_segv_say(l.text, l.size);
}

/* ---- The fault ------------------------------------------------------------------------------------------ */

/* A frame may be larger than the guard: then the stack pointer is already in the stack below. */
static bool runs_on(const rad_stacks *stacks, uint32_t number, uintptr_t pointer)
{
    rad_stack_place place;
    if (pointer == 0) return true; /* not known */
    return rad__stacks_find(stacks, pointer, &place) &&
           (place.number == number || place.number + 1 == number);
}

static bool overflow_handle(const rad_os_segv *fault)
{
    bool known = false;
    /* H1; pairs with the load of `looking` in rad__overflow_unwatch. */
    atomic_fetch_add_explicit(&looking, 1, memory_order_seq_cst);
    for (uint32_t i = 0; i < RAD_OVERFLOW_POOLS && !known; i++) {
        rad_stack_place place;
        /* H2; pairs with the stores in rad__overflow_watch and rad__overflow_unwatch. */
        const rad_stacks *stacks = atomic_load_explicit(&list[i].stacks, memory_order_seq_cst);
        if (stacks == NULL || !rad__stacks_find(stacks, fault->address, &place)) continue;
        if (!place.in_guard) continue;
        report(&list[i], stacks, place.number, runs_on(stacks, place.number, fault->stack));
        known = true;
    }
    /* H3; pairs with the load of `looking` in rad__overflow_unwatch. */
    atomic_fetch_sub_explicit(&looking, 1, memory_order_release);
    return known;
}

int rad__overflow_watch(const rad_stacks *stacks, rad_overflow_name name, void *context,
                        rad_error *error)
{
    uint32_t at = 0;
    int code = 0;
    rad__lock(&list_lock);
    while (at < RAD_OVERFLOW_POOLS &&
           atomic_load_explicit(&list[at].stacks, memory_order_relaxed) != NULL)
        at++;
    if (at == RAD_OVERFLOW_POOLS)
        code = rad__error(error, RAD_ELIMIT, "more than %d pools of stacks", RAD_OVERFLOW_POOLS);
    if (code == 0 && list_count == 0) code = rad__os_segv_open(overflow_handle, error);
    if (code == 0) {
        list_count++;
        list[at].name = name;
        list[at].context = context;
        /* Pairs with the load in overflow_handle. */
        atomic_store_explicit(&list[at].stacks, stacks, memory_order_release);
    }
    rad__unlock(&list_lock);
    return code;
}

void rad__overflow_unwatch(const rad_stacks *stacks)
{
    rad__lock(&list_lock);
    for (uint32_t i = 0; i < RAD_OVERFLOW_POOLS; i++) {
        if (atomic_load_explicit(&list[i].stacks, memory_order_relaxed) != stacks) continue;
        /* C1; pairs with the load in overflow_handle. */
        atomic_store_explicit(&list[i].stacks, NULL, memory_order_seq_cst);
        /* C2; pairs with the changes of `looking` in overflow_handle. */
        while (atomic_load_explicit(&looking, memory_order_seq_cst) != 0) rad__os_give_way(true);
        if (--list_count == 0) rad__os_segv_close();
        break;
    }
    rad__unlock(&list_lock);
}
