/* same.c — whether two runs are the same as far as each thread can tell.
 *
 * Claimed, and compared: the sequence of each thread, with the causes of each event (so the happens-before order), as
 * far as both runs have come; effects; when both are complete, final types and registers. Not claimed: any order
 * between events of different threads that do not depend on each other. */
#include "session/machine/vm.h"

#include "base/map64.h"

#include <stdio.h>
#include <string.h>

/* Events of one run by thread: those of thread t of session s are at `first[base[s] + t]` … of `order`. */
typedef struct by_thread {
    const rad_session_vm *vm;
    uint32_t *base, *first, *order;
    rad_map64 sessions; /* by key */
    bool failed;
} by_thread;

static void index_close(by_thread *x)
{
    rad__free(x->base);
    rad__free(x->first);
    rad__free(x->order);
    rad__map64_free(&x->sessions);
}

static void index_open(by_thread *x, const rad_session_vm *vm)
{
    *x = (by_thread){.vm = vm};
    uint32_t threads = 0;
    x->base = rad__alloc(vm->session_count + 1u, sizeof *x->base);
    x->failed = x->base == NULL;
    for (uint32_t i = 0; i < vm->session_count && !x->failed; i++) {
        x->base[i] = threads;
        threads += vm->sessions[i]->protocol->types.thread_count;
        x->failed = !rad__map64_add(&x->sessions, vm->sessions[i]->key, i);
    }
    x->first = rad__alloc(threads + 2u, sizeof *x->first);
    x->order = rad__alloc(vm->event_count + 1, sizeof *x->order);
    x->failed |= x->first == NULL || x->order == NULL;
    if (x->failed) return;
    for (uint64_t i = 0; i < vm->event_count; i++) /* counts, one place to the right … */
        x->first[x->base[vm->events[i].session] + vm->events[i].thread + 2]++;
    for (uint32_t i = 2; i < threads + 2; i++) x->first[i] += x->first[i - 1];
    for (uint64_t i = 0; i < vm->event_count; i++) /* … become ends while they are filled */
        x->order[x->first[x->base[vm->events[i].session] + vm->events[i].thread + 1]++] = (uint32_t)i;
}

static uint32_t thread_events(const by_thread *x, uint32_t session, uint32_t thread, const uint32_t **out)
{
    uint32_t at = x->base[session] + thread;
    *out = x->order + x->first[at];
    return x->first[at + 1] - x->first[at];
}

static bool events_are_equal(const rad_session_event *a, const rad_session_event *b)
{
    return a->kind == b->kind && a->label == b->label && a->edge == b->edge && a->number == b->number &&
           a->value == b->value && a->causes == b->causes;
}

static void event_words(const rad_session_vm *vm, const rad_session_event *e, char *text, size_t size)
{
    const char *label = "";
    if (e->kind == RAD_SESSION_FAULTED)
        label = rad__fault_text(e->label);
    else if (e->kind <= RAD_SESSION_INVOKED)
        label = e->label == 0xffff ? "a choice" : rad__text_of(vm->protocols, e->label);
    snprintf(text, size, "%s %s", rad_session_event_name(e->kind), label);
}

/* As far as both have come. */
static bool sequences_are_equal(const by_thread *a, uint32_t sa, const by_thread *b, uint32_t sb, uint32_t thread,
                                char *text, size_t size)
{
    const rad_session *s = a->vm->sessions[sa];
    const uint32_t *ea, *eb;
    uint32_t na = thread_events(a, sa, thread, &ea), nb = thread_events(b, sb, thread, &eb);
    for (uint32_t i = 0; i < na && i < nb; i++) {
        const rad_session_event *one = &a->vm->events[ea[i]], *other = &b->vm->events[eb[i]];
        if (events_are_equal(one, other)) continue;
        char words[2][120];
        event_words(a->vm, one, words[0], sizeof words[0]);
        event_words(b->vm, other, words[1], sizeof words[1]);
        bool same_words = strcmp(words[0], words[1]) == 0;
        snprintf(text, size, "session %s, %s: event %u: %s in one run, %s in the other%s", s->path,
                 s->protocol->types.threads[thread].name, i, words[0], words[1],
                 !same_words                    ? ""
                 : one->value != other->value   ? ", with other fields"
                 : one->number != other->number ? ", with another number"
                                                : ", for other causes");
        return false;
    }
    return true;
}

static bool ends_are_equal(const rad_session *a, const rad_session *b, uint32_t thread, char *text, size_t size)
{
    const rad_co *one = &a->threads[thread], *other = &b->threads[thread];
    const char *what = NULL;
    if (one->events != other->events) what = "the number of events";
    if (one->type != other->type) what = "the state of the protocol";
    for (uint32_t i = 0; i < a->protocol->register_count; i++)
        if (!rad__value_equal(&one->registers[i], &other->registers[i])) what = "a register";
    if (what != NULL)
        snprintf(text, size, "session %s, %s: %s at the end", a->path, a->protocol->types.threads[thread].name, what);
    return what == NULL;
}

static bool is_over(const rad_session_vm *vm)
{
    return vm->ready_count + vm->blocked_count == 0;
}

static bool sessions_are_equal(const by_thread *a, uint32_t sa, const by_thread *b, char *text, size_t size)
{
    const rad_session *one = a->vm->sessions[sa];
    uint32_t sb = rad__map64_find(&b->sessions, one->key);
    bool both_over = is_over(a->vm) && is_over(b->vm);
    if (sb == RAD_NONE) {
        if (both_over) snprintf(text, size, "session %s is opened in one run only", one->path);
        return !both_over;
    }
    const rad_session *other = b->vm->sessions[sb];
    uint32_t threads = one->protocol->types.thread_count;
    for (uint32_t i = 0; i < threads; i++)
        if (!sequences_are_equal(a, sa, b, sb, i, text, size)) return false;
    for (uint32_t i = 0; both_over && one->fault == 0 && i < threads; i++)
        if (!ends_are_equal(one, other, i, text, size)) return false;
    return true;
}

bool rad_session_same(const rad_session_vm *a, const rad_session_vm *b, char *text, size_t size)
{
    return rad__session_compare(a, b, text, size) == RAD_RUNS_ARE_SAME;
}

enum rad_comparison rad__session_compare(const rad_session_vm *a, const rad_session_vm *b, char *text, size_t size)
{
    if (!a->options.log || !b->options.log) rad__misuse("rad_session_same", "one of the machines keeps no log");
    by_thread x, y;
    bool same = true;
    if (a->effect_log && b->effect_log && rad__effects_blame(a->effect_log, b->effect_log, text, size))
        return RAD_RUNS_DIFFER;
    index_open(&x, a);
    index_open(&y, b);
    bool failed = x.failed || y.failed;
    if (failed) snprintf(text, size, "out of memory");
    for (uint32_t i = 0; i < a->session_count && same && !failed; i++) same = sessions_are_equal(&x, i, &y, text, size);
    if (same && !failed && is_over(a) && is_over(b) && a->session_count != b->session_count) {
        snprintf(text, size, "one run opens %u sessions, the other %u", a->session_count, b->session_count);
        same = false;
    }
    index_close(&x);
    index_close(&y);
    return failed ? RAD_RUNS_NOT_COMPARED : same ? RAD_RUNS_ARE_SAME : RAD_RUNS_DIFFER;
}
