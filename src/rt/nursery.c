#include "rt/nursery.h"

#include "rt/ops.h"
#include "rt/runtime.h"

_Static_assert(sizeof(rad__nursery) <= sizeof(rad_nursery), "rad_nursery of raddle/fiber.h has room for it");

/* What `state` points to after the wait. An address says more than a flag: zeros, noise on a stack and a copy of an
 * open nursery differ from one that is open. */
static const char waited_for;

/* What is inside a nursery, which has to be open. */
static rad__nursery *nursery_of(rad_nursery *nursery, const char *call)
{
    rad__nursery *n = (rad__nursery *)(void *)nursery;
    if (RAD_UNLIKELY(n == NULL)) rad__misuse(call, "the nursery is NULL");
    if (RAD_UNLIKELY(n->state != n))
        rad__misuse(call,
                    n->state == &waited_for ? "the nursery was waited for, and has ended" : "the nursery is not open");
    return n;
}

/* A fiber of a nursery below ends before its owner does, which ends before the nursery. */
bool rad__nursery_admits(const rad__nursery *n, const rad_slot *spawner)
{
    if (n->owner == spawner) return true;
    for (const rad__nursery *in = spawner->nursery; in != NULL; in = in->parent)
        if (in == n) return true;
    return false;
}

/* ---- Children ---------------------------------------------------------------------------------------- */

static void younger_set(rad_slot *slot, rad_slot *younger)
{
    atomic_store_explicit(&slot->younger, younger, memory_order_relaxed);
}

/* Asked by the child itself, or under the lock. */
static bool is_listed(const rad_slot *slot)
{
    /* Pairs with the store in rad__nursery_take_listed: a child taken off the list sees that the nursery is cancelled.
     * */
    return atomic_load_explicit(&slot->younger, memory_order_acquire) != slot;
}

/* The youngest. */
static void list_put(rad__nursery *n, rad_slot *slot)
{
    younger_set(slot, NULL);
    slot->elder = n->youngest;
    if (n->youngest) younger_set(n->youngest, slot);
    n->youngest = slot;
}

static void list_remove(rad__nursery *n, rad_slot *slot)
{
    rad_slot *younger = atomic_load_explicit(&slot->younger, memory_order_relaxed);
    if (younger)
        younger->elder = slot->elder;
    else
        n->youngest = slot->elder;
    if (slot->elder) younger_set(slot->elder, younger);
}

bool rad__nursery_enter(rad__nursery *n, rad_slot *slot)
{
    rad__lock(&n->object.lock);
    bool open = !n->closed;
    if (open) {
        slot->nursery = n;
        slot->deadline = n->deadline;
        if (RAD_LIKELY(!n->canceled)) {
            list_put(n, slot);
            n->count++;
        } else { /* M2; it is not queued yet, so there is nobody to unpark. Pairs with rad__slot_cancel. */
            younger_set(slot, slot);
            atomic_fetch_add_explicit(&n->unlisted, 1, memory_order_relaxed);
            atomic_store_explicit(&slot->canceled, rad__fiber_generation(&slot->strand), memory_order_release);
        }
    }
    rad__unlock(&n->object.lock);
    return open;
}

/* How many keep it: under the lock. */
static uint64_t nursery_size(const rad__nursery *n)
{
    /* E2 and D1, pairs with L2. */
    return n->count + atomic_load_explicit(&n->unlisted, memory_order_acquire);
}

/* Under the lock, which is given back: somebody keeps it no longer. From here on it may be gone. */
static void nursery_left(rad__nursery *n)
{
    rad_clause *c = NULL;
    if (nursery_size(n) == 0 && (c = rad__queue_claim(&n->owner_waits)) != NULL) n->closed = true;
    rad__unlock(&n->object.lock);
    if (c != NULL) rad__clause_notify(rad__rt_worker(), c);
}

/* L1, L2, without the lock. False: it may be the last. */
static bool leaves_others(rad__nursery *n)
{
    uint64_t unlisted = atomic_load_explicit(&n->unlisted, memory_order_relaxed);
    while (unlisted > 1) /* L2, pairs with the load in nursery_size. */
        if (atomic_compare_exchange_weak_explicit(&n->unlisted, &unlisted, unlisted - 1, memory_order_release,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Whether this code of a child is the first failure: under the lock, or by a child that is not listed. */
static bool is_first_failure(const rad__nursery *n, int code)
{
    if (code == 0 || atomic_load_explicit(&n->failed, memory_order_relaxed) != 0) return false;
    return !(n->on_purpose && code == RAD_ECANCELED);
}

static void failed_set(rad__nursery *n, int code)
{
    atomic_store_explicit(&n->failed, code, memory_order_relaxed);
}

static void note_failure(rad__nursery *n, int code)
{
    rad__lock(&n->object.lock);
    if (is_first_failure(n, code)) failed_set(n, code);
    rad__unlock(&n->object.lock);
}

/* Without the lock only a child that is not listed any more knows whether the nursery is cancelled on purpose. */
void rad__nursery_note_failure(rad__nursery *n, const rad_slot *slot, int code)
{
    RAD_ASSERT(code != 0);
    if (atomic_load_explicit(&n->failed, memory_order_relaxed) != 0) return;
    if (is_listed(slot) || is_first_failure(n, code)) note_failure(n, code);
}

void rad__nursery_leave(rad__nursery *n, rad_slot *slot, int code)
{
    if (!is_listed(slot) && !is_first_failure(n, code) && leaves_others(n)) return;
    rad__lock(&n->object.lock);
    if (is_listed(slot)) { /* it may have been taken off since */
        list_remove(n, slot);
        n->count--;
    } else {
        atomic_fetch_sub_explicit(&n->unlisted, 1, memory_order_relaxed); /* E1 */
    }
    if (is_first_failure(n, code)) failed_set(n, code);
    nursery_left(n);
}

/* ---- The owner --------------------------------------------------------------------------------------- */

void rad__op_nursery_open(rad_nursery *nursery, rad_time deadline)
{
    rad__nursery *n = (rad__nursery *)(void *)nursery;
    rad_slot *owner = rad__my_slot("rad_nursery_open");
    if (n == NULL) rad__misuse("rad_nursery_open", "the nursery is NULL");
    if (++owner->nurseries == 0) rad__misuse("rad_nursery_open", "65,536 of one fiber");
    *n = (rad__nursery){.state = n, .owner = owner, .parent = owner->nursery};
    rad__waitable_open(&n->object, RAD_KIND_NURSERY);
    n->deadline = deadline < owner->deadline ? deadline : owner->deadline;
    rad__nursery *parent = n->parent;
    if (parent == NULL) return;
    rad__lock(&parent->object.lock);
    n->late = parent->canceled;
    n->elder = parent->first;
    if (n->elder) n->elder->younger = n;
    parent->first = n;
    rad__unlock(&parent->object.lock);
}

/* Its children have ended, and closed theirs before. */
static void nursery_close(rad__nursery *n)
{
    rad__nursery *parent = n->parent;
    RAD_DCHECK(n->first == NULL);
    if (parent == NULL) return;
    rad__lock(&parent->object.lock);
    if (parent->unseen == n) parent->unseen = n->elder;
    if (n->younger)
        n->younger->elder = n->elder;
    else
        parent->first = n->elder;
    if (n->elder) n->elder->younger = n->younger;
    rad__unlock(&parent->object.lock);
}

static bool wait_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad__nursery *n = (rad__nursery *)c->object;
    if (nursery_size(n) > 0) return false; /* D1 */
    n->closed = true;
    return true;
}

/* Why the owner is cancelled. Its own nursery may have cancelled it (C2) before that cancellation got here; the reason
 * is the same for all below. */
static int owners_reason(const rad__nursery *n)
{
    int reason = 0;
    if (n->parent == NULL || n->late) return RAD_ECANCELED;
    rad__lock(&n->parent->object.lock);
    if (n->parent->canceled) reason = n->parent->reason;
    rad__unlock(&n->parent->object.lock);
    return reason != 0 ? reason : RAD_ECANCELED;
}

int rad__op_nursery_wait(rad_nursery *nursery)
{
    rad__nursery *n = nursery_of(nursery, "rad_nursery_wait");
    if (RAD_UNLIKELY(n->owner != rad__my_slot("rad_nursery_wait")))
        rad__misuse("rad_nursery_wait", "another fiber has opened it");
    rad_clause c = {.object = &n->object, .queue = &n->owner_waits, .attempt = wait_attempt};
    if (rad__wait(&c, 1, RAD_FOREVER) < 0) {
        rad__op_nursery_cancel(nursery, owners_reason(n));
        n->owner->shields++;
        int done = rad__wait(&c, 1, RAD_FOREVER);
        RAD_ASSERT(done == 0);
        n->owner->shields--;
    }
    nursery_close(n);
    n->owner->nurseries--;
    n->state = &waited_for;
    return atomic_load_explicit(&n->failed, memory_order_relaxed);
}

void rad__op_nursery_close(rad_nursery *nursery)
{
    rad__nursery *n = nursery_of(nursery, "rad_nursery_close");
    rad__lock(&n->object.lock);
    n->closed = true;
    rad__unlock(&n->object.lock);
}

int rad__op_nursery_spawn(rad_nursery *nursery, rad_fiber *fiber, rad_fn fn, void *arg)
{
    static const char call[] = "rad_nursery_spawn";
    rad__nursery *n = (rad__nursery *)(void *)nursery;
    bool ended = n != NULL && n->state == &waited_for; /* which it answers: RAD_ECLOSED */
    return rad__spawn(call, ended ? n : nursery_of(nursery, call), fiber, fn, arg);
}

void rad__op_nursery_go(rad_nursery *nursery, rad_fn fn, void *arg)
{
    static const char call[] = "rad_nursery_go";
    rad__nursery *n = nursery_of(nursery, call);
    int code = rad__spawn(call, n, NULL, fn, arg);
    if (RAD_LIKELY(code == 0)) return;
    if (code != RAD_ECLOSED) {
        rad__op_nursery_cancel(nursery, code);
        return;
    }
    note_failure(n, code);
}

rad_nursery *rad__op_nursery_current(void)
{
    rad_strand *self = rad__running();
    return self == NULL ? NULL : (rad_nursery *)(void *)rad__slot_of(self)->nursery;
}

/* ---- Cancellation ------------------------------------------------------------------------------------ */

/* C1, under the lock. */
static void cancel_begin(rad__nursery *n, int reason)
{
    if (!n->canceled) {
        n->canceled = true;
        n->on_purpose = reason == 0;
        n->reason = reason;
        if (atomic_load_explicit(&n->failed, memory_order_relaxed) == 0) failed_set(n, reason);
    }
    n->unseen = n->first;
    n->count++;
}

void rad__nursery_take_listed(rad__nursery *n, rad_children *some)
{
    rad_slot *s;
    some->count = 0;
    rad__lock(&n->object.lock);
    for (s = n->youngest; s != NULL && some->count < RAD_NURSERY_AT_ONCE; s = s->elder) {
        some->generations[some->count] = rad__fiber_generation(&s->strand);
        some->slots[some->count++] = s;
    }
    n->count -= some->count;
    atomic_fetch_add_explicit(&n->unlisted, some->count, memory_order_relaxed);
    for (uint32_t i = 0; i < some->count; i++) /* pairs with the load in is_listed */
        atomic_store_explicit(&some->slots[i]->younger, some->slots[i], memory_order_release);
    n->youngest = s;
    if (s != NULL) younger_set(s, NULL);
    n->holds++;
    rad__unlock(&n->object.lock);
}

/* C2, C3. */
static void cancel_children(rad__nursery *n)
{
    rad_children some;
    do {
        rad__nursery_take_listed(n, &some);
        for (uint32_t i = 0; i < some.count; i++) rad__slot_cancel(some.slots[i], some.generations[i]);
    } while (some.count == RAD_NURSERY_AT_ONCE);
}

/* The next nursery below, for which C1 is done; NULL: there is none. One without children has no nurseries below,
 * either: the flag is enough. The lock of its parent keeps it. */
static rad__nursery *next_below(rad__nursery *n, int reason)
{
    rad__nursery *below = NULL;
    bool more = true;
    while (more) {
        rad__lock(&n->object.lock);
        for (uint32_t i = 0; i < RAD_NURSERY_AT_ONCE && n->unseen && !below; i++) {
            rad__nursery *next = n->unseen;
            n->unseen = next->elder;
            rad__lock(&next->object.lock);
            bool empty = nursery_size(next) == 0;
            cancel_begin(next, reason);
            if (empty)
                next->count--;
            else
                below = next;
            rad__unlock(&next->object.lock);
        }
        more = n->unseen != NULL && below == NULL;
        rad__unlock(&n->object.lock);
    }
    return below;
}

/* C4. */
static void cancel_end(rad__nursery *n)
{
    rad__lock(&n->object.lock);
    n->count--;
    nursery_left(n);
}

/* All nurseries below `top` and itself, parents first. */
void rad__op_nursery_cancel(rad_nursery *nursery, int reason)
{
    rad__nursery *top = nursery_of(nursery, "rad_nursery_cancel"), *n = top;
    rad_runtime *rt = top->owner->strand.runtime, *visited = rad__visit_begin(rad__rt_worker(), rt);
    rad__lock(&top->object.lock);
    cancel_begin(top, reason);
    rad__unlock(&top->object.lock);
    cancel_children(top);
    for (bool done = false; !done;) {
        rad__nursery *below = next_below(n, reason != 0 ? reason : RAD_ECANCELED);
        rad__nursery *parent = n->parent;
        if (below != NULL) {
            n = below;
            cancel_children(n);
            continue;
        }
        done = n == top;
        cancel_end(n);
        n = parent; /* which this call keeps, too */
    }
    if (RAD_UNLIKELY(visited != NULL)) rad__visit_end(visited);
}
