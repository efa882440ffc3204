#include "rt/runtime.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/readable.h"
#include "os/clock.h"
#include "os/pages.h"
#include "rt/monitor.h"
#include "rt/overflow.h"

#include <string.h>

enum { STACK_MOST = 1 << 30, FIBERS_MOST = 1 << 24, EXTRA_DEFAULT = 128, RETIRE_NS = 2000000000 };

enum { SLACK_US = 50, SLACK_MOST_US = 1000000 };

/* ---- Slots ------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(rad_slot) % 64 == 0, "slots begin at a cache line");

/* What was made together, in one piece of memory. */
typedef struct batch {
    struct batch *older;
    uint32_t count;  /* of fiber stacks */
    rad_slot *slots; /* NULL: only fiber stacks */
    rad_fiber_stack *fiber_stacks;
    void *memory;
    size_t mapped; /* bytes of it; 0: it is from the heap */
} batch;

enum { BATCH_MAPPED = 64 };

static bool batch_open(batch *b, uint32_t count, bool slots)
{
    size_t page = rad__os_page_size();
    size_t slots_size = slots ? count * sizeof *b->slots : 0;
    size_t size = slots_size + count * sizeof *b->fiber_stacks;
    if (count >= BATCH_MAPPED) {
        b->mapped = (size + page - 1) / page * page;
        if (rad__os_pages_map_now(&b->memory, b->mapped, NULL) != 0) return false;
    } else {
        b->memory = rad__alloc_lines(1, size);
        if (b->memory == NULL) return false;
    }
    if (slots) b->slots = b->memory;
    b->fiber_stacks = (rad_fiber_stack *)((char *)b->memory + slots_size);
    return true;
}

static void batch_free(batch *b)
{
    if (b == NULL) return;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->fiber_stacks[i].is_made) rad__context_drop(&b->fiber_stacks[i].context);
    if (b->mapped > 0)
        rad__os_pages_unmap(b->memory, b->mapped);
    else
        rad__free(b->memory);
    rad__free(b);
}

/* See Room in fiber_stack.h. */
static void fiber_stack_guard(const rad_stacks *stacks, const rad_fiber_stack *b)
{
    static const char message[] = "raddle: no memory for the guard of a fiber's stack\n";
    rad_stack stack = {b->base, b->size, b->number};
    if (rad__stacks_guard(stacks, &stack, NULL) == 0) return;
    rad__os_segv_say(message, sizeof message - 1);
    rad__os_segv_abort();
}

/* As many fiber stacks as there is memory for, up to `count`, in the pool; and memory for as many slots. NULL: none. */
static batch *batch_make(rad_runtime *rt, uint32_t count, bool slots, int *code)
{
    batch *b = rad__alloc(1, sizeof *b);
    *code = b != NULL && batch_open(b, count, slots) ? 0 : RAD_ENOMEM;
    while (*code == 0 && b->count < count) {
        rad_stack stack;
        *code = rad__stacks_new(&rt->stacks, &stack, NULL);
        if (*code == 0) rad__fiber_stack_add(&rt->fiber_stacks, &b->fiber_stacks[b->count++], &stack);
    }
    if (b != NULL && b->count > 0) return b;
    batch_free(b);
    return NULL;
}

/* The runtime frees it. */
static void batch_keep(rad_runtime *rt, batch *b)
{
    rad__lock(&rt->room.lock);
    b->older = rt->batches;
    rt->batches = b;
    for (uint32_t i = 0; b->slots != NULL && i < b->count; i++) {
        b->slots[i].made_before = rt->made;
        rt->made = &b->slots[i];
    }
    rad__unlock(&rt->room.lock);
}

/* How many of `count` more fibers there may be. */
static uint32_t slots_reserve(rad_runtime *rt, uint32_t count)
{
    rad__lock(&rt->room.lock);
    if (count > rt->slots_left) count = rt->slots_left;
    rt->slots_left -= count;
    rt->slots_made += count;
    rad__unlock(&rt->room.lock);
    return count;
}

static void slots_unreserve(rad_runtime *rt, uint32_t count)
{
    rad__lock(&rt->room.lock);
    rt->slots_left += count;
    rt->slots_made -= count;
    rad__unlock(&rt->room.lock);
}

rad_slot *rad__runtime_grow(rad_runtime *rt, uint32_t count, int *code)
{
    *code = RAD_ELIMIT;
    count = slots_reserve(rt, count);
    batch *b = count > 0 ? batch_make(rt, count, true, code) : NULL;
    uint32_t made = b != NULL ? b->count : 0;
    if (made < count) slots_unreserve(rt, count - made);
    if (b == NULL) return NULL;
    rad_slot *slot = NULL;
    for (uint32_t i = b->count; i-- > 0;) { /* the first one is used first */
        rad__waitable_open(&b->slots[i].done, RAD_KIND_FIBER);
        rad__strand_open(&b->slots[i].strand, rt);
        b->slots[i].next = slot;
        slot = &b->slots[i];
    }
    batch_keep(rt, b);
    return slot;
}

static void slots_free(rad_runtime *rt)
{
    for (batch *b = rt->batches, *older; b != NULL; b = older) {
        older = b->older;
        batch_free(b);
    }
    rad__overflow_unwatch(&rt->stacks);
    rad__stacks_close(&rt->stacks);
}

/* "fiber 42 'name'". In a signal handler, on the thread of the fiber. */
static size_t overflow_name(void *context, uint32_t *stack, char *text, size_t size)
{
    const rad_strand *s = rad__running();
    char digits[24];
    size_t at = sizeof digits;
    if (s == NULL || s->fiber_stack == NULL || s->runtime != context) return 0;
    *stack = s->fiber_stack->number;
    const rad_slot *slot = (const rad_slot *)s;
    uint64_t number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    const char *name = atomic_load_explicit(&slot->name, memory_order_relaxed);
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    rad_sink_buffer to = rad__sink_buffer(text, size);
    to.sink.put(&to.sink, "fiber ", 6);
    to.sink.put(&to.sink, digits + at, sizeof digits - at);
    if (name == NULL) return to.used;
    to.sink.put(&to.sink, " '", 2);
    rad__readable_put(&to.sink, name, strlen(name), RAD_READABLE_NAME);
    to.sink.put(&to.sink, "'", 1);
    return to.used;
}

void rad__strand_overflows(rad_strand *self)
{
    rad__rt_worker()->running = self; /* it was about to be another one */
    rad__overflow_die(&self->runtime->stacks, overflow_name, self->runtime);
}

/* ---- Workers ----------------------------------------------------------------------------------------- */

/* Without memory it keeps none, and takes every one from the pool. */
static void cache_open(rad_runtime *rt, rad_fiber_stack_cache *cache)
{
    int code;
    batch *brought = batch_make(rt, RAD_FIBER_STACKS_KEPT, false, &code);
    if (brought == NULL) return;
    batch_keep(rt, brought);
    cache->most = brought->count;
}

static void worker_prepares(void *context, rad_worker *w)
{
    rad_runtime *rt = context;
    rad_rt_worker *rt_worker = rad_worker_scratch(w);
    rt_worker->worker = w;
    rt_worker->runtime = rt;
    rt_worker->prng = rad__prng(rt->seed, RAD_STREAM_SELECT, w->id);
    rad__timers_open(rt_worker, rad__os_now_ns());
    cache_open(rt, &rt_worker->cache);
}

static void worker_begins(void *context, rad_worker *w)
{
    rad_runtime *rt = context;
    rad_rt_worker *rt_worker = rad_worker_scratch(w);
    rt_worker->exceptions = NULL; /* another thread's, in a seat that was left before */
    rad__exceptions_look();
    rad__rt_worker_set(rt_worker);
    rad__os_thread_wakes_sharply();
    rad__context_adopt(&rt_worker->context);
    /* Without one an overflow is not reported; the process dies of it all the same. */
    if (rad__os_signal_stack_open(&rt_worker->signals, NULL) != 0) rt_worker->signals.memory = NULL;
    if (rt->peeks) rad__os_peek_allow();
    if (w->id < w->sched->config.workers) return;
    rad_strand *s = rad__overdue_take(&rt->overdue); /* this is what it came for, before all others */
    if (s == NULL) return;
    rad__worker_put_due(w, &s->task);
    rad__worker_set_brief(w, false);
    rad__due_offer(rt_worker);
}

static void worker_ends(void *context, rad_worker *w)
{
    rad_rt_worker *rt_worker = rad_worker_scratch(w);
    rad__poller_leaves(context);
    rad__os_signal_stack_close(&rt_worker->signals);
    rad__rt_worker_set(NULL);
}

static uint64_t worker_rests(void *context, rad_worker *w)
{
    rad_runtime *rt = context;
    rad_rt_worker *rt_worker = rad_worker_scratch(w);
    rad_strand *overdue = rad__overdue_take(&rt->overdue);
    if (overdue != NULL) {
        rad__worker_put_due(w, &overdue->task);
        rad__worker_set_brief(w, false);
        rad__due_offer(rt_worker);
        return 0;
    }
    return rad__timers_rest(rt_worker);
}

static bool worker_looks(void *context, rad_worker *w)
{
    rad__timers_done(rad_worker_scratch(w));
    return rad__poller_looks(context, w);
}

/* Its timers are looked at when it rests: a search must not hold them up. (20 fibers that sleep for 100 us, two
 * workers: late by 48 us in the median, the length of a search; now by 33.) */
static bool worker_hurries(void *context, rad_worker *w)
{
    return rad__poller_hurries(context) || rad__timers_late(rad_worker_scratch(w));
}

/* ---- Opening and closing ------------------------------------------------------------------------------ */

static int options_check(const rad_options *o, rad_error *error)
{
    if (o->stack_size != 0 && (o->stack_size < RAD_STACK_SIZE_MIN || o->stack_size > STACK_MOST))
        return rad__error(error, RAD_EINPUT, "a stack_size of %zu bytes, not %d to %d", o->stack_size,
                          RAD_STACK_SIZE_MIN, STACK_MOST);
    if (o->backtrace_signal != 0 && o->backtrace_signal != RAD_SIGNAL_NONE && !rad__os_peek_can_be(o->backtrace_signal))
        return rad__error(error, RAD_EINPUT, "backtrace_signal %d cannot be used", o->backtrace_signal);
    if (o->slack_us > SLACK_MOST_US && o->slack_us != RAD_NONE)
        return rad__error(error, RAD_EINPUT, "slack_us of %u, at most %d", o->slack_us, SLACK_MOST_US);
    if (o->fibers > FIBERS_MOST) return rad__error(error, RAD_EINPUT, "%u fibers, at most %d", o->fibers, FIBERS_MOST);
    return 0;
}

static int executor_open(rad_runtime *rt, const rad_options *o, rad_error *error)
{
    rad_exec_options exec = {
        .workers = o->workers, .seed = o->seed, .pin = o->pin, .scratch_size = sizeof(rad_rt_worker)};
    rad_exec_hooks hooks = {.context = rt,
                            .spare = o->extra_workers == RAD_NONE ? 0
                                     : o->extra_workers           ? o->extra_workers
                                                                  : EXTRA_DEFAULT,
                            .retire_ns = RETIRE_NS,
                            .prepare = worker_prepares,
                            .begin = worker_begins,
                            .rest = worker_rests,
                            .end = worker_ends,
                            .sleep = rad__poller_sleeps,
                            .wake = rad__poller_wakes,
                            .look = worker_looks,
                            .hurry = worker_hurries};
    return rad__exec_create(&rt->exec, &exec, &hooks, error);
}

static void runtime_free(rad_runtime *rt)
{
    if (rt->monitor) rad__monitor_stop(rt->monitor);
    /* Before the executor: its threads may still be about to wake somebody who has ended. */
    rad__blocking_close(&rt->blocking);
    rad_exec_destroy(rt->exec);
    if (rt->peeks) rad__os_peek_close();
    rad__ready_close(&rt->ready);
    slots_free(rt);
    rad__free(rt->monitor);
    rad__free(rt);
}

/* `waits`: the caller's thread will do nothing but wait for it. */
static int runtime_create(rad_runtime **out, const rad_options *o, bool waits, rad_error *error)
{
    *out = NULL;
    rad__error_clear(error);
    int code = options_check(o, error);
    if (code != 0) return code;
    rad_runtime *rt = rad__alloc_lines(1, sizeof *rt);
    if (rt == NULL) return rad__error_memory(error);
    rt->slots_left = o->fibers ? o->fibers : FIBERS_MOST;
    rad_stacks_options stacks = {.size = o->stack_size,
                                 .most = rt->slots_left + RAD_WORKERS_MAX * RAD_FIBER_STACKS_KEPT};
    rt->seed = o->seed;
    rt->own_threads = waits ? 2 : 1; /* the monitor, and who waits */
    rt->reports_deadlock = waits && !o->no_deadlock_report;
    rt->slack_ns = o->slack_us == RAD_NONE ? 0 : 1000 * (o->slack_us ? o->slack_us : SLACK_US);
    rt->stall_ns = (uint64_t)o->stall_ms * 1000000;
    rt->peeks = o->backtrace_signal != RAD_SIGNAL_NONE;
    if (rt->peeks) rad__os_peek_open(o->backtrace_signal ? o->backtrace_signal : RAD_PEEK_SIGNAL);
    rt->is_capped = o->fibers != 0;
    rt->spawn_waits = rt->is_capped && o->spawn_waits;
    rad__waitable_open(&rt->room, RAD_KIND_ROOM);
    rad__blocking_open(&rt->blocking, o->blocking_threads);
    rt->monitor = rad__alloc_lines(1, sizeof *rt->monitor);
    code = rt->monitor ? rad__stacks_open(&rt->stacks, &stacks, error) : rad__error_memory(error);
    rt->fiber_stacks.first_use = fiber_stack_guard;
    rt->fiber_stacks.stacks = &rt->stacks;
    if (code == 0) { /* too many runtimes at a time: then it is not reported, that is all */
        if (rad__overflow_watch(&rt->stacks, overflow_name, rt, NULL) != 0) rad__error_clear(error);
        code = executor_open(rt, o, error);
    }
    if (code == 0) code = rad__monitor_start(rt->monitor, rt, error);
    if (code == 0)
        *out = rt;
    else
        runtime_free(rt);
    return code;
}

bool rad_cxx_loaded(void)
{
    return rad__exceptions_look();
}

static const rad_options defaults;

int rad_runtime_create(rad_runtime **out, const rad_options *options, rad_error *error)
{
    return runtime_create(out, options ? options : &defaults, false, error);
}

static int runtime_spawn(rad_runtime *rt, rad_rt_worker *rt_worker, rad_fiber *fiber, rad_fn fn, void *arg)
{
    int code = 0;
    if (fiber) *fiber = (rad_fiber){NULL, 0}; /* unless it comes about */
    rad_slot *slot = rad__slot_take(rt, rt_worker, &code);
    if (slot == NULL && code == RAD_ELIMIT) slot = rad__slot_late(rt, false, &code);
    if (slot == NULL) return code;
    rad__fiber_begin(slot, fiber, fn, arg);
    rad__fiber_enumerate(slot, rt_worker);
    if (rad_exec_spawn(rt->exec, &slot->strand.task)) return 0;
    rad__fiber_undo(slot, rt_worker);
    if (fiber) *fiber = (rad_fiber){NULL, 0};
    return RAD_ECLOSED;
}

int rad_runtime_spawn(rad_runtime *rt, rad_fiber *fiber, rad_fn fn, void *arg)
{
    if (fn == NULL) rad__misuse("rad_runtime_spawn", "the function is NULL");
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad_runtime *visited = rad__visit_begin(rt_worker, rt); /* it may end before we are out of here */
    if (rt_worker != NULL && rt_worker->runtime != rt) rt_worker = NULL;
    int code = runtime_spawn(rt, rt_worker, fiber, fn, arg);
    if (RAD_LIKELY(visited != NULL)) rad__visit_end(visited);
    return code;
}

void rad_runtime_shutdown(rad_runtime *rt)
{
    rad_runtime *visited = rad__visit_begin(rad__rt_worker(), rt); /* the last fiber may end of it */
    /* Pairs with the load in rad__fiber_begin: who begins later finds it, who began before is found below. */
    atomic_store_explicit(&rt->closing, true, memory_order_seq_cst);
    rad_exec_close(rt->exec);
    rad__lock(&rt->room.lock);
    rad_slot *made = rt->made;
    rad__unlock(&rt->room.lock);
    for (rad_slot *slot = made; slot != NULL; slot = slot->made_before)
        rad__slot_cancel(slot, rad__fiber_generation(&slot->strand));
    if (visited != NULL) rad__visit_end(visited);
}

void rad_runtime_destroy(rad_runtime *rt)
{
    if (rt == NULL) return;
    if (rad__running() != NULL) rad__misuse("rad_runtime_destroy", "the caller is a fiber, and would block its worker");
    rad_exec_join(rt->exec);
    /* Y2, pairs with X4. */
    for (uint32_t i = 0; atomic_load_explicit(&rt->visits, memory_order_acquire) > 0; i++) rad__os_give_way(i > 100);
    runtime_free(rt);
}

/* ---- A program in one call --------------------------------------------------------------------------- */

typedef struct first_fiber {
    rad_fn fn;
    void *arg;
    int code;
} first_fiber;

static int first_main(void *context)
{
    first_fiber *first = context;
    first->code = first->fn(first->arg);
    return first->code;
}

int rad_main(const rad_options *options, rad_fn main, void *arg, rad_error *error)
{
    first_fiber first = {main, arg, 0};
    rad_runtime *rt = NULL;
    if (main == NULL) rad__misuse("rad_main", "the function is NULL");
    if (rad__running() != NULL) rad__misuse("rad_main", "the caller is a fiber: use rad_spawn or a nursery");
    int code = runtime_create(&rt, options ? options : &defaults, true, error);
    if (code != 0) return code;
    code = rad_runtime_spawn(rt, NULL, first_main, &first);
    if (code != 0) rad__error(error, code, "no memory for the first fiber");
    rad_runtime_destroy(rt);
    return code != 0 ? code : first.code;
}
