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
static rad_lock list_lock; /* over system calls, too: opening and closing a runtime is no hot path */

/* ---- The line ------------------------------------------------------------------------------------------- */

typedef struct line {
    char text[RAD_OVERFLOW_NAME + 160];
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

enum finding { OVERFLOW_FAULT, OVERFLOW_AT_SWITCH, WILD_POINTER };

/* Whose it is: the fiber's name, or the number of the stack if there is none. */
static void report(const rad_stacks *stacks, const char *name, size_t name_size, uint32_t stack, enum finding what)
{
    line l = {.size = 0};
    line_add(&l, "raddle: ");
    memcpy(l.text + l.size, name, name_size);
    l.size += name_size;
    if (name_size == 0) {
        line_add(&l, "stack ");
        line_add_number(&l, stack);
    }
    if (what == WILD_POINTER) {
        line_add(&l, name_size ? ": touched the guard of a stack; a wild pointer\n"
                               : ": its guard was touched from outside; a wild pointer\n");
    } else {
        line_add(&l, ": stack overflow (");
        line_add_number(&l, stacks->size >> 10);
        if (what == OVERFLOW_AT_SWITCH)
            line_add(&l, " KiB), found late: other stacks may be damaged");
        else
            line_add(&l, " KiB)");
        line_add(&l, "; raise the stack size\n");
    }
    rad__os_segv_say(l.text, l.size);
}

/* ---- The fault ------------------------------------------------------------------------------------------ */

/* A pool whose fibers have no names knows only the stack pointer: it is in the same stack, or in the one below if the
 * frame is larger than the guard. */
static bool overflows_nameless(const rad_stacks *stacks, const rad_os_segv *fault, uint32_t stack)
{
    rad_stack_place sp;
    if (fault->stack == 0) return true; /* not known */
    return rad__stacks_find(stacks, fault->stack, &sp) && (sp.number == stack || sp.number + 1 == stack);
}

/* The frame was so large that the stack pointer is below all stacks, where nothing is mapped. */
static bool falls_out(const rad_os_segv *fault)
{
    /* Their distance is what is asked. tidy: address ok */
    return fault->address - fault->stack + RAD_STACK_GUARD < 2 * (uint64_t)RAD_STACK_GUARD;
}

/* Whether fiber `own` did it. */
static bool overflows_named(const rad_stacks *stacks, const rad_os_segv *fault, uint32_t own,
                            const rad_stack_place *touched)
{
    rad_stack_place sp;
    bool own_guard = touched->in_guard && touched->number == own;
    if (fault->stack == 0) return own_guard; /* not known */
    if (!rad__stacks_find(stacks, fault->stack, &sp)) return falls_out(fault);
    return sp.number != own || sp.in_guard || own_guard;
}

/* What the fault was, and whose; false: nothing of this pool. */
static bool judge(const watched *w, const rad_stacks *stacks, const rad_os_segv *fault)
{
    rad_stack_place touched = {0, false};
    char name[RAD_OVERFLOW_NAME];
    uint32_t own = 0;
    size_t size = w->name ? w->name(w->context, &own, name, sizeof name) : 0;
    RAD_ASSERT(size <= sizeof name);
    if (!rad__stacks_find(stacks, fault->address, &touched)) touched.in_guard = false;
    bool in_guard = touched.in_guard, overflows = false;
    if (size > 0)
        overflows = overflows_named(stacks, fault, own, &touched);
    else if (in_guard && w->name == NULL)
        overflows = overflows_nameless(stacks, fault, touched.number);
    if (overflows)
        report(stacks, name, size, w->name ? own : touched.number, OVERFLOW_FAULT);
    else if (in_guard)
        report(stacks, name, size, touched.number, WILD_POINTER);
    return overflows || in_guard;
}

static bool overflow_handle(const rad_os_segv *fault)
{
    bool known = false;
    /* H1; pairs with the load of `looking` in rad__overflow_unwatch. */
    atomic_fetch_add_explicit(&looking, 1, memory_order_seq_cst);
    for (uint32_t i = 0; i < RAD_OVERFLOW_POOLS && !known; i++) {
        /* H2; pairs with the stores in rad__overflow_watch and rad__overflow_unwatch. */
        const rad_stacks *stacks = atomic_load_explicit(&list[i].stacks, memory_order_seq_cst);
        known = stacks != NULL && judge(&list[i], stacks, fault);
    }
    /* H3; pairs with the load of `looking` in rad__overflow_unwatch. */
    atomic_fetch_sub_explicit(&looking, 1, memory_order_release);
    return known;
}

void rad__overflow_die(const rad_stacks *stacks, rad_overflow_name name, void *context)
{
    char text[RAD_OVERFLOW_NAME];
    uint32_t own = 0;
    size_t size = name(context, &own, text, sizeof text);
    report(stacks, text, size, own, OVERFLOW_AT_SWITCH);
    rad__os_segv_abort();
}

int rad__overflow_watch(const rad_stacks *stacks, rad_overflow_name name, void *context, rad_error *error)
{
    uint32_t at = 0;
    int code = 0;
    rad__lock(&list_lock);
    while (at < RAD_OVERFLOW_POOLS && atomic_load_explicit(&list[at].stacks, memory_order_relaxed) != NULL) at++;
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
