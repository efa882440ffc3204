#include "rt/dump.h"

#include "base/readable.h"
#include "os/backtrace.h"
#include "os/clock.h"
#include "rt/holders.h"
#include "rt/runtime.h"

#include <string.h>
#include <unistd.h>

typedef struct dump {
    FILE *to;
    uint64_t now;
    rad_backtrace last; /* the one above */
    rad_os_symbols symbols;
} dump;

static void dump_since(const rad_slot *slot, uint64_t now, FILE *to)
{
    uint32_t since = atomic_load_explicit(&slot->waits_since, memory_order_relaxed);
    int32_t units = (int32_t)((uint32_t)(now >> RAD_SINCE_SHIFT) - since);
    rad__readable_print(to, ", for %.1f s", units > 0 ? (double)units * (double)(1 << RAD_SINCE_SHIFT) * 1e-9 : 0.0);
}

/* What is shown of a fiber. */
typedef struct view {
    bool parked; /* and held while it was looked at */
    rad_waited waited;
    rad_backtrace calls;
    const char *why_none;
} view;

/* If it is parked and was so when seen with this word: what it waits for, and who called whom. Nobody can run it
 * meanwhile. */
static void look_at_parked(view *v, rad_slot *slot, uint64_t word)
{
    if (rad__state_of(word) != RAD_FIBER_PARKED) return;
    if (!rad__strand_hold(&slot->strand, word)) return;
    const rad_fiber_stack *fiber_stack = slot->strand.fiber_stack;
    v->parked = true;
    rad__waited_look(&v->waited, slot);
    rad__backtrace(&v->calls, &fiber_stack->context, fiber_stack->base, fiber_stack->size);
    rad__strand_let_go(&slot->strand);
}

/* The fiber that is meant to run, in the handler of its thread. */
typedef struct runner {
    const rad_slot *slot;
    uint32_t generation;
} runner;

/* C2: as long as there is one that was left, the switch is not over, and the stack may not be that of the code. */
static bool where_it_runs(void *context, uintptr_t pointer, uintptr_t *low, uintptr_t *high)
{
    const runner *r = context;
    const rad_rt_worker *rt_worker = rad__rt_worker();
    const rad_strand *s = rt_worker != NULL && rt_worker->left == NULL ? rt_worker->running : NULL;
    const rad_fiber_stack *fiber_stack = s != NULL ? s->fiber_stack : NULL;
    if (s != &r->slot->strand || fiber_stack == NULL || rad__fiber_generation(s) != r->generation) return false;
    *low = (uintptr_t)fiber_stack->base; /* tidy: address ok: bounds of what is read */
    *high = *low + fiber_stack->size;
    return pointer >= *low && pointer < *high;
}

/* Who called whom of a fiber that runs, told by the thread of its worker. */
static void look_at_runner(view *v, const rad_slot *slot, uint64_t word)
{
    const rad_runtime *rt = slot->strand.runtime;
    uint32_t worker = rad__state_owner(word);
    if (!rt->peeks || worker >= rad__sched_seats(&rt->exec->sched)) return;
    runner meant = {slot, rad__state_generation(word)};
    switch (rad__os_peek(&rt->exec->shells[worker].thread, where_it_runs, &meant, &v->calls)) {
    case RAD_PEEK_TOLD: /* the worker was just going over to it, with its code on the fiber's stack */
        if (rad__backtrace_is_in(v->calls.at[0], (void (*)(void))rad__strand_run)) v->calls.count = 0;
        break;
    case RAD_PEEK_TAKEN: v->why_none = "the program handles the signal for it"; break;
    case RAD_PEEK_NO_ANSWER: v->why_none = "its thread did not answer the signal"; break;
    default: v->calls.count = 0; break;
    }
}

static bool backtrace_same(const rad_backtrace *a, const rad_backtrace *b)
{
    return a->count == b->count && memcmp(a->at, b->at, a->count * sizeof *a->at) == 0;
}

static void dump_backtrace(dump *d, const view *v)
{
    char text[200];
    const rad_backtrace *b = &v->calls;
    if (v->why_none != NULL) rad__readable_print(d->to, "      no backtrace: %s\n", v->why_none);
    if (v->why_none != NULL || b->count == 0) return;
    if (backtrace_same(b, &d->last)) {
        rad__readable_print(d->to, "      as above\n");
        return;
    }
    d->last = *b;
    for (uint32_t i = 0; i < b->count; i++) {
        rad__backtrace_text(&d->symbols, b->at[i], text, sizeof text);
        rad__readable_print(d->to, "      #%u %s\n", i, text);
    }
}

static bool is_alive(enum rad_fiber_state state)
{
    return state != RAD_FIBER_IDLE && state != RAD_FIBER_DONE;
}

static bool dump_fiber(dump *d, rad_slot *slot)
{
    FILE *to = d->to;
    uint64_t word = rad__state_look(&slot->strand.state_word);
    enum rad_fiber_state state = rad__state_of(word);
    if (!is_alive(state)) return false;
    view v = {0};
    bool runs = state == RAD_FIBER_OWNED && rad__state_owner(word) != RAD_STATE_NOBODY;
    if (runs)
        look_at_runner(&v, slot, word);
    else
        look_at_parked(&v, slot, word);
    rad__readable_print(to, "  ");
    rad__fiber_print(slot, to);
    rad__readable_print(to, ": ");
    if (v.parked) {
        rad__waited_print(&v.waited, slot->strand.runtime, to);
        dump_since(slot, d->now, to);
    } else if (runs) {
        rad__readable_print(to, "runs on worker %u", rad__state_owner(word));
    } else { /* held by another dump, or woken just now */
        rad__readable_print(to, state == RAD_FIBER_ASSIGNED ? "can run" : "waits");
    }
    if (atomic_load_explicit(&slot->canceled, memory_order_relaxed) == rad__state_generation(word))
        rad__readable_print(to, ", cancelled");
    rad__readable_print(to, "\n");
    dump_backtrace(d, &v);
    return true;
}

void rad__dump(rad_runtime *rt, FILE *to)
{
    dump d = {.to = to, .now = rad__os_now_ns()};
    uint64_t shown = 0, more = 0;
    enum { MOST = 1000 };
    rad__lock(&rt->room.lock);
    rad_slot *made = rt->made;
    rad__unlock(&rt->room.lock);
    for (rad_slot *slot = made; slot != NULL; slot = slot->made_before)
        if (shown < MOST)
            shown += dump_fiber(&d, slot);
        else
            more += is_alive(rad__state_of(rad__state_look(&slot->strand.state_word)));
    if (more > 0) rad__readable_print(to, "  … and %llu more\n", (unsigned long long)more);
    rad__symbols_close(&d.symbols);
}

void rad__dump_fiber(rad_slot *slot, FILE *to)
{
    dump d = {.to = to, .now = rad__os_now_ns()};
    dump_fiber(&d, slot);
    rad__symbols_close(&d.symbols);
}

int rad_runtime_dump(rad_runtime *rt, int fd)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    if (rt == NULL && rt_worker != NULL) rt = rt_worker->runtime;
    if (rt == NULL) rad__misuse("rad_runtime_dump", "no runtime, and the caller is not a fiber");
    int copy = dup(fd);
    FILE *to = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (to == NULL) {
        if (copy >= 0) close(copy);
        return RAD_EIO;
    }
    rad_runtime *visited = rad__visit_begin(rt_worker, rt); /* a fiber it held may be the last one */
    rad__dump(rt, to);
    if (visited != NULL) rad__visit_end(visited);
    return fclose(to) == 0 ? 0 : RAD_EIO;
}
