#include "rt/fiber.h"

#include "os/clock.h"
#include "rt/nursery.h"
#include "rt/ops.h"
#include "rt/runtime.h"

#include <string.h>

/* ---- Waiting ----------------------------------------------------------------------------------------- */

/* Among those that are sharp at a worker, or NULL: no longer. That worker is awake, or it does no harm. */
static void alarm_counts(rad_alarm *a, _Atomic uint32_t *sharp)
{
    if (sharp != NULL) atomic_fetch_add_explicit(sharp, 1, memory_order_relaxed);
    if (a->sharp != NULL) atomic_fetch_sub_explicit(a->sharp, 1, memory_order_relaxed);
    a->sharp = sharp;
}

static void alarm_on(rad_alarm *a, rad_strand *s)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    a->set = true;
    rad__wheel_arm(&rt_worker->wheel, &a->timer, a->until, s, rad__fiber_generation(s));
    if (RAD_UNLIKELY(rad__slot_of(s)->sharp > 0)) alarm_counts(a, &rt_worker->sharp);
}

static bool alarm_is_on(const rad_alarm *a)
{
    return a->set && atomic_load_explicit(&a->timer.armed, memory_order_relaxed) != 0;
}

void rad__alarm_off(rad_alarm *a)
{
    if (!a->set) return;
    rad__timer_disarm(&a->timer);
    if (RAD_UNLIKELY(a->sharp != NULL)) alarm_counts(a, NULL);
}

/* The timer is set by the first park, and looked at after it: whoever was woken by it finds it off. */
int rad__fiber_rest(rad_strand *s, rad_alarm *a, bool open)
{
    if (open) {
        if (RAD_UNLIKELY(rad__fiber_is_canceled(s))) return RAD_ECANCELED;
        if (a->until != RAD_FOREVER && !alarm_is_on(a)) {
            if (rad__os_now_ns() >= a->until) return RAD_ETIMEOUT;
            alarm_on(a, s);
        }
    }
    rad__strand_leave(RAD_LEAVE_PARK);
    return 0;
}

/* ---- The life of a fiber ----------------------------------------------------------------------------- */

static const char no_such_handle[] = "no such handle: it was given up before, or never was one";

/* The last reference: of the fiber, given up off its stack, or of a handle. */
static void slot_unrefer(rad_rt_worker *rt_worker, rad_slot *slot, uint32_t which)
{
    rad_runtime *rt = slot->strand.runtime;
    /* Pairs with itself: whoever recycles the slot sees what all others did with it. */
    uint32_t before = atomic_load_explicit(&slot->references, memory_order_acquire);
    if (before != which) before = atomic_fetch_and_explicit(&slot->references, ~which, memory_order_acq_rel);
    if (RAD_UNLIKELY(!(before & which))) rad__misuse("rad_release", no_such_handle);
    if (before == which) rad__slot_recycle(rt, rt_worker, slot);
}

void rad__strand_take_stack(rad_rt_worker *rt_worker, rad_strand *s)
{
    rad__fiber_stack_take(&rt_worker->runtime->fiber_stacks, &rt_worker->cache, s, rad__fiber_body);
}

void rad__strand_give_stack(rad_rt_worker *rt_worker, rad_strand *s)
{
    rad_fiber_stack *fiber_stack = s->fiber_stack;
    s->fiber_stack = NULL;
    rad__fiber_stack_give(&rt_worker->runtime->fiber_stacks, &rt_worker->cache, fiber_stack);
}

void rad__strand_ended(rad_rt_worker *rt_worker, rad_strand *s)
{
    rad_runtime *rt = rt_worker->runtime;
    slot_unrefer(rt_worker, rad__slot_of(s), RAD_REFERS_FIBER);
    if (RAD_UNLIKELY(rt->is_capped)) /* Pairs with rad__slot_late. */
        atomic_fetch_sub_explicit(&rt->leaving, 1, memory_order_release);
}

/* Under the lock of `done`; `to` may be NULL. */
static void result_copy(const rad_slot *slot, void *to)
{
    rad_fiber_result *result = to;
    if (result == NULL) return;
    memcpy(result->bytes, slot->result, sizeof result->bytes);
    result->code = slot->code;
}

static void fiber_complete(rad_slot *slot, int code)
{
    rad_wakes wakes = {0};
    rad_clause *c;
    rad__nursery *nursery = slot->nursery;
    if (RAD_UNLIKELY(slot->strand.runtime->is_capped)) /* before anybody hears of it: see rad__slot_late */
        atomic_fetch_add_explicit(&slot->strand.runtime->leaving, 1, memory_order_relaxed);
    if (nursery && code != 0) rad__nursery_note_failure(nursery, slot, code); /* before a joiner lets another fail */
    rad__lock(&slot->done.lock);
    slot->ended = true;
    slot->code = code;
    while ((c = rad__queue_claim(&slot->joiners)) != NULL) {
        result_copy(slot, c->data);
        c->code = 0;
        rad__wakes_add(&wakes, c);
    }
    rad__unlock(&slot->done.lock);
    rad__wakes_go(&wakes);
    if (nursery) rad__nursery_leave(nursery, slot, code);
}

/* It has ended, and others would wait for ever for what it did not give back; the memory of a nursery is about to
 * go. */
static _Noreturn void left_behind(const rad_slot *slot)
{
    const char *call = slot->nurseries ? "rad_nursery_wait" /* what it did not call */
                       : slot->mutexes ? "rad_mutex_unlock"
                                       : "rad_rwlock_unlock";
    const char *what = slot->nurseries ? "has ended and did not wait for its nursery"
                       : slot->mutexes ? "has ended and holds a mutex"
                                       : "has ended and holds an RW lock, or unlocked one of another";
    rad__misuse_by(call, atomic_load_explicit(&slot->number, memory_order_relaxed),
                   atomic_load_explicit(&slot->name, memory_order_relaxed), what);
}

void rad__fiber_body(void *context)
{
    rad_fiber_stack *fiber_stack = context;
    rad__strand_landed();
    for (;;) {
        rad_slot *slot = rad__slot_of(fiber_stack->strand);
        int code = slot->fn(slot->arg);
        if (RAD_UNLIKELY(slot->locals != NULL)) rad__locals_end(slot);
        if (RAD_UNLIKELY(slot->nurseries | slot->mutexes | slot->rwlocks)) left_behind(slot);
        fiber_complete(slot, code);
        rad__strand_end(fiber_stack);
    }
}

/* A former fiber in this slot was cancelled. After 2^32 of them the new one has its generation, so the word is cleared.
 * An exchange, for two others may write here now:
 *   - rad_runtime_shutdown cancels idle slots as well. If it comes after the exchange, its word stays. If it came
 *     before, the exchange reads its word, so the check of `closing` below sees that it is set.
 *   - A caller of rad_cancel with the former fiber's handle, which looked at the generation before the slot was
 *     retired. Its word is a former generation: the new fiber ignores it, and the next birth clears it. */
static __attribute__((noinline)) void slot_forget_cancel(rad_slot *slot)
{
    /* Pairs with the exchange in rad__slot_cancel. */
    atomic_exchange_explicit(&slot->canceled, 0, memory_order_acq_rel);
}

void rad__fiber_begin(rad_slot *slot, rad_fiber *handle, rad_fn fn, void *arg)
{
    uint32_t generation = rad__state_begin(&slot->strand.state_word);
    if (RAD_UNLIKELY(atomic_load_explicit(&slot->canceled, memory_order_relaxed) != 0)) slot_forget_cancel(slot);
    slot->fn = fn;
    slot->arg = arg;
    atomic_store_explicit(&slot->name, NULL, memory_order_relaxed);
    slot->sharp = 0;
    slot->shields = slot->nurseries = slot->mutexes = slot->rwlocks = 0;
    atomic_store_explicit(&slot->reads, NULL, memory_order_relaxed);
    slot->deadline = RAD_FOREVER;
    slot->nursery = NULL;
    rad__lock(&slot->done.lock); /* whoever joins by an old handle may be looking at them */
    slot->ended = false;
    memset(slot->result, 0, sizeof slot->result);
    slot->code = 0;
    rad__unlock(&slot->done.lock);
    atomic_store_explicit(&slot->references, handle ? RAD_REFERS_FIBER | RAD_REFERS_HANDLE : RAD_REFERS_FIBER,
                          memory_order_relaxed);
    if (handle) *handle = (rad_fiber){slot, generation};
    /* Pairs with the store in rad_runtime_shutdown. */
    if (RAD_UNLIKELY(atomic_load_explicit(&slot->strand.runtime->closing, memory_order_seq_cst)))
        /* Pairs with rad__slot_cancel. */
        atomic_store_explicit(&slot->canceled, generation, memory_order_release);
}

/* Each worker, and everybody outside together, has a number of its own, and counts in steps that leave room for all of
 * them. */
void rad__fiber_enumerate(rad_slot *slot, rad_rt_worker *rt_worker)
{
    rad_runtime *rt = slot->strand.runtime;
    uint64_t nth = rt_worker ? rt_worker->spawned++ : atomic_fetch_add_explicit(&rt->spawned, 1, memory_order_relaxed);
    uint64_t whose = rt_worker ? rt_worker->worker->id + 2 : 1;
    atomic_store_explicit(&slot->number, nth * (RAD_WORKERS_MAX + 1) + whose, memory_order_relaxed);
}

void rad__fiber_undo(rad_slot *slot, rad_rt_worker *rt_worker)
{
    rad__state_own(&slot->strand.state_word, 0);
    rad__state_end(&slot->strand.state_word);
    rad__slot_recycle(slot->strand.runtime, rt_worker, slot);
}

static __attribute__((noinline)) int spawn_failed(rad_fiber *handle, int code)
{
    if (handle) *handle = (rad_fiber){NULL, 0};
    return code;
}

int rad__spawn(const char *call, rad__nursery *nursery, rad_fiber *handle, rad_fn fn, void *arg)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    int code = 0;
    if (RAD_UNLIKELY(rt_worker == NULL || rt_worker->running == NULL)) rad__misuse(call, "the caller is not a fiber");
    if (RAD_UNLIKELY(fn == NULL)) rad__misuse(call, "the function is NULL");
    if (nursery && RAD_UNLIKELY(!rad__nursery_admits(nursery, rad__slot_of(rt_worker->running))))
        rad__misuse(call, "the calling fiber neither opened the nursery nor is in it");
    if (RAD_UNLIKELY(atomic_load_explicit(&rt_worker->runtime->closing, memory_order_relaxed)))
        return spawn_failed(handle, RAD_ECLOSED);
    rad_slot *slot = rad__slot_take(rt_worker->runtime, rt_worker, &code);
    if (RAD_UNLIKELY(slot == NULL && code == RAD_ELIMIT)) {
        slot = rad__slot_late(rt_worker->runtime, true, &code);
        rt_worker = rad__rt_worker(); /* perhaps another one */
    }
    if (RAD_UNLIKELY(slot == NULL)) return spawn_failed(handle, code);
    rad__fiber_begin(slot, handle, fn, arg);
    rad__fiber_enumerate(slot, rt_worker);
    if (nursery && !rad__nursery_enter(nursery, slot)) {
        rad__fiber_undo(slot, rt_worker);
        return spawn_failed(handle, RAD_ECLOSED);
    }
    rad__strand_start(rt_worker, &slot->strand);
    return 0;
}

int rad__op_spawn(rad_fiber *handle, rad_fn fn, void *arg)
{
    return rad__spawn("rad_spawn", NULL, handle, fn, arg);
}

/* ---- Handles ----------------------------------------------------------------------------------------- */

static bool handle_is_good(rad_fiber f)
{
    return f.slot != NULL && rad__fiber_generation(&f.slot->strand) == f.generation;
}

static bool join_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad_slot *slot = (rad_slot *)((char *)c->object - offsetof(rad_slot, done));
    bool same = rad__fiber_generation(&slot->strand) == c->generation;
    if (same && !slot->ended) return false;
    if (!same) { /* given up since the handle was looked at; the next one may be here already */
        c->code = RAD_ESTALE;
        return true;
    }
    result_copy(slot, c->data);
    c->code = 0;
    return true;
}

bool rad__join_clause(rad_clause *c, rad_fiber f, rad_fiber_result *result)
{
    if (!handle_is_good(f)) return false;
    *c = (rad_clause){.object = &f.slot->done,
                      .queue = &f.slot->joiners,
                      .attempt = join_attempt,
                      .data = result,
                      .generation = f.generation};
    return true;
}

int rad__op_join(rad_fiber f, rad_fiber_result *result, rad_time until)
{
    rad_clause c;
    if (!rad__join_clause(&c, f, result)) return RAD_ESTALE;
    if (RAD_UNLIKELY(&f.slot->strand == rad__running() && until != 0))
        rad__misuse("rad_join", "a fiber cannot wait for its own end");
    int done = rad__wait(&c, 1, until);
    return done < 0 ? done : c.code;
}

void rad__op_release(rad_fiber f)
{
    if (RAD_UNLIKELY(!handle_is_good(f))) rad__misuse("rad_release", no_such_handle);
    slot_unrefer(rad__rt_worker(), f.slot, RAD_REFERS_HANDLE);
}

rad_fiber rad__op_self(void)
{
    rad_strand *s = rad__running();
    if (s == NULL) return (rad_fiber){NULL, 0};
    return (rad_fiber){rad__slot_of(s), rad__fiber_generation(s)};
}

rad_slot *rad__my_slot(const char *call)
{
    rad_strand *s = rad__running();
    if (RAD_UNLIKELY(s == NULL)) rad__misuse(call, "the caller is not a fiber");
    return rad__slot_of(s);
}

void rad__op_set_result(const void *bytes, size_t size)
{
    unsigned char *to = rad__my_slot("rad_set_result")->result;
    if (size > RAD_RESULT_SIZE) rad__misuse("rad_set_result", "more than RAD_RESULT_SIZE bytes");
    if (size > 0) memcpy(to, bytes, size);
    memset(to + size, 0, RAD_RESULT_SIZE - size); /* of what it gave before */
}

void rad__op_name(const char *name)
{
    atomic_store_explicit(&rad__my_slot("rad_name")->name, name, memory_order_relaxed);
}

const char *rad__op_name_of(rad_fiber f)
{
    return handle_is_good(f) ? atomic_load_explicit(&f.slot->name, memory_order_relaxed) : NULL;
}

void rad__op_yield(void)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    if (RAD_UNLIKELY(rt_worker == NULL || rt_worker->running == NULL))
        rad__misuse("rad_yield", "the caller is not a fiber");
    rad_strand *next = rad__strand_next(rt_worker);
    if (next != NULL || !rad__worker_is_alone(rt_worker->worker)) rad__strand_go(rt_worker, next, RAD_LEAVE_YIELD);
}

/* ---- Cancellation ------------------------------------------------------------------------------------ */

void rad__slot_cancel(rad_slot *slot, uint32_t generation)
{
    /* Pairs with the exchange, and with the stores of spawners: who sees what a later fiber was told sees its
     * generation, too. */
    uint32_t before = atomic_load_explicit(&slot->canceled, memory_order_acquire);
    do /* whoever comes too late, with an old handle, does not overwrite what a later fiber was told */
        if (rad__fiber_generation(&slot->strand) != generation) return;
    while (!atomic_compare_exchange_weak_explicit(&slot->canceled, &before,
                                                  generation, /* U1 of state_word.h; pairs with the load */
                                                  memory_order_acq_rel, memory_order_acquire));
    rad__strand_unpark(rad__rt_worker(), &slot->strand, generation); /* passes it on */
}

void rad__op_cancel(rad_fiber f)
{
    if (f.slot == NULL) return;
    rad_runtime *visited = rad__visit_begin(rad__rt_worker(), f.slot->strand.runtime); /* it may be the last fiber */
    if (handle_is_good(f)) rad__slot_cancel(f.slot, f.generation);
    if (RAD_UNLIKELY(visited != NULL)) rad__visit_end(visited);
}

bool rad__op_is_canceled(void)
{
    rad_strand *self = rad__running();
    if (self == NULL) return false; /* a thread */
    rad_slot *slot = rad__slot_of(self);
    if (slot->deadline != RAD_FOREVER && rad__os_now_ns() >= slot->deadline) return true;
    return atomic_load_explicit(&slot->canceled, memory_order_relaxed) == rad__fiber_generation(&slot->strand);
}

void rad__op_shield(bool on)
{
    rad_slot *slot = rad__my_slot("rad_shield");
    if (!on && slot->shields == 0) rad__misuse("rad_shield", "it was not shielded");
    if (on && slot->shields == UINT16_MAX) rad__misuse("rad_shield", "65,536 of one fiber");
    slot->shields = (uint16_t)(slot->shields + (on ? 1 : -1));
}
