#include "rt/nursery.h"

#include "rt/ops.h"
#include "rt/runtime.h"

_Static_assert(sizeof(rad_family) <= sizeof(rad_nursery), "a nursery has room for a family");

/* What `state` points to after the wait. An address says more than a flag: zeros, noise on a stack and a copy of an
 * open nursery are told from one that is open. */
static const char waited_for;

/* The family of a nursery that has to be open. */
static rad_family *family_of(rad_nursery *n, const char *call)
{
    rad_family *f = (rad_family *)(void *)n;
    if (RAD_UNLIKELY(f == NULL)) rad__misuse(call, "the nursery is NULL");
    if (RAD_UNLIKELY(f->state != f))
        rad__misuse(call,
                    f->state == &waited_for ? "the nursery was waited for, and has ended" : "the nursery is not open");
    return f;
}

/* A fiber of a family below ends before its owner does, which ends before the family. */
bool rad__family_admits(const rad_family *f, const rad_slot *spawner)
{
    if (f->owner == spawner) return true;
    for (const rad_family *in = spawner->family; in != NULL; in = in->parent)
        if (in == f) return true;
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
    /* Pairs with the store in rad__family_untold: who was taken off the list sees that the family is cancelled. */
    return atomic_load_explicit(&slot->younger, memory_order_acquire) != slot;
}

/* The youngest. */
static void list_put(rad_family *f, rad_slot *slot)
{
    younger_set(slot, NULL);
    slot->elder = f->youngest;
    if (f->youngest) younger_set(f->youngest, slot);
    f->youngest = slot;
}

static void list_remove(rad_family *f, rad_slot *slot)
{
    rad_slot *younger = atomic_load_explicit(&slot->younger, memory_order_relaxed);
    if (younger)
        younger->elder = slot->elder;
    else
        f->youngest = slot->elder;
    if (slot->elder) younger_set(slot->elder, younger);
}

bool rad__family_enter(rad_family *f, rad_slot *slot)
{
    rad__lock(&f->object.lock);
    bool open = !f->closed;
    if (open) {
        slot->family = f;
        slot->deadline = f->deadline;
        if (RAD_LIKELY(!f->canceled)) {
            list_put(f, slot);
            f->count++;
        } else { /* M2; it is not queued yet, so there is nobody to unpark. Pairs with rad__slot_cancel. */
            younger_set(slot, slot);
            atomic_fetch_add_explicit(&f->told, 1, memory_order_relaxed);
            atomic_store_explicit(&slot->canceled, rad__fiber_generation(&slot->strand), memory_order_release);
        }
    }
    rad__unlock(&f->object.lock);
    return open;
}

/* How many keep it: under the lock. */
static uint64_t family_size(const rad_family *f)
{
    /* E2 and D1, pairs with L2. */
    return f->count + atomic_load_explicit(&f->told, memory_order_acquire);
}

/* Under the lock, which is given back: somebody keeps it no longer. From here on it may be gone. */
static void family_left(rad_family *f)
{
    rad_clause *c = NULL;
    if (family_size(f) == 0 && (c = rad__queue_claim(&f->owner_waits)) != NULL) f->closed = true;
    rad__unlock(&f->object.lock);
    if (c != NULL) rad__clause_notify(rad__core(), c);
}

/* L1, L2, without the lock. False: it may be the last. */
static bool leaves_others(rad_family *f)
{
    uint64_t told = atomic_load_explicit(&f->told, memory_order_relaxed);
    while (told > 1) /* L2, pairs with the load in family_size. */
        if (atomic_compare_exchange_weak_explicit(&f->told, &told, told - 1, memory_order_release,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Whether this code of a child is the first failure: under the lock, or by a child that is not listed. */
static bool is_first_failure(const rad_family *f, int code)
{
    if (code == 0 || atomic_load_explicit(&f->failed, memory_order_relaxed) != 0) return false;
    return !(f->on_purpose && code == RAD_ECANCELED);
}

static void failed_set(rad_family *f, int code)
{
    atomic_store_explicit(&f->failed, code, memory_order_relaxed);
}

static void hears(rad_family *f, int code)
{
    rad__lock(&f->object.lock);
    if (is_first_failure(f, code)) failed_set(f, code);
    rad__unlock(&f->object.lock);
}

/* Without the lock only a child that was told knows whether the family is cancelled on purpose. */
void rad__family_hears(rad_family *f, const rad_slot *slot, int code)
{
    RAD_ASSERT(code != 0);
    if (atomic_load_explicit(&f->failed, memory_order_relaxed) != 0) return;
    if (is_listed(slot) || is_first_failure(f, code)) hears(f, code);
}

void rad__family_leave(rad_family *f, rad_slot *slot, int code)
{
    if (!is_listed(slot) && !is_first_failure(f, code) && leaves_others(f)) return;
    rad__lock(&f->object.lock);
    if (is_listed(slot)) { /* it may have been taken off since */
        list_remove(f, slot);
        f->count--;
    } else {
        atomic_fetch_sub_explicit(&f->told, 1, memory_order_relaxed); /* E1 */
    }
    if (is_first_failure(f, code)) failed_set(f, code);
    family_left(f);
}

/* ---- The owner --------------------------------------------------------------------------------------- */

void rad__op_nursery_open(rad_nursery *n, rad_time deadline)
{
    rad_family *f = (rad_family *)(void *)n;
    rad_slot *owner = rad__my_slot("rad_nursery_open");
    if (f == NULL) rad__misuse("rad_nursery_open", "the nursery is NULL");
    if (++owner->nurseries == 0) rad__misuse("rad_nursery_open", "65,536 of one fiber");
    *f = (rad_family){.state = f, .owner = owner, .parent = owner->family};
    rad__waitable_open(&f->object, RAD_KIND_NURSERY);
    f->deadline = deadline < owner->deadline ? deadline : owner->deadline;
    rad_family *parent = f->parent;
    if (parent == NULL) return;
    rad__lock(&parent->object.lock);
    f->late = parent->canceled;
    f->elder = parent->first;
    if (f->elder) f->elder->younger = f;
    parent->first = f;
    rad__unlock(&parent->object.lock);
}

/* Its children have ended, and closed theirs before. */
static void family_close(rad_family *f)
{
    rad_family *parent = f->parent;
    RAD_DCHECK(f->first == NULL);
    if (parent == NULL) return;
    rad__lock(&parent->object.lock);
    if (parent->unseen == f) parent->unseen = f->elder;
    if (f->younger)
        f->younger->elder = f->elder;
    else
        parent->first = f->elder;
    if (f->elder) f->elder->younger = f->younger;
    rad__unlock(&parent->object.lock);
}

static bool wait_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad_family *f = (rad_family *)c->object;
    if (family_size(f) > 0) return false; /* D1 */
    f->closed = true;
    return true;
}

/* Why the owner is cancelled. Its own nursery may have told it (C2) before that cancellation got here, and the reason
 * is the same for all below. */
static int owners_reason(const rad_family *f)
{
    int reason = 0;
    if (f->parent == NULL || f->late) return RAD_ECANCELED;
    rad__lock(&f->parent->object.lock);
    if (f->parent->canceled) reason = f->parent->reason;
    rad__unlock(&f->parent->object.lock);
    return reason != 0 ? reason : RAD_ECANCELED;
}

int rad__op_nursery_wait(rad_nursery *n)
{
    rad_family *f = family_of(n, "rad_nursery_wait");
    if (RAD_UNLIKELY(f->owner != rad__my_slot("rad_nursery_wait")))
        rad__misuse("rad_nursery_wait", "another fiber has opened it");
    rad_clause c = {.object = &f->object, .queue = &f->owner_waits, .attempt = wait_attempt};
    if (rad__wait(&c, 1, RAD_FOREVER) < 0) {
        rad__op_nursery_cancel(n, owners_reason(f));
        f->owner->shields++;
        int done = rad__wait(&c, 1, RAD_FOREVER);
        RAD_ASSERT(done == 0);
        f->owner->shields--;
    }
    family_close(f);
    f->owner->nurseries--;
    f->state = &waited_for;
    return atomic_load_explicit(&f->failed, memory_order_relaxed);
}

void rad__op_nursery_close(rad_nursery *n)
{
    rad_family *f = family_of(n, "rad_nursery_close");
    rad__lock(&f->object.lock);
    f->closed = true;
    rad__unlock(&f->object.lock);
}

int rad__op_nursery_spawn(rad_nursery *n, rad_fiber *fiber, rad_fn fn, void *arg)
{
    static const char call[] = "rad_nursery_spawn";
    rad_family *f = (rad_family *)(void *)n;
    bool ended = f != NULL && f->state == &waited_for; /* which it answers: RAD_ECLOSED */
    return rad__spawn(call, ended ? f : family_of(n, call), fiber, fn, arg);
}

void rad__op_nursery_go(rad_nursery *n, rad_fn fn, void *arg)
{
    static const char call[] = "rad_nursery_go";
    rad_family *f = family_of(n, call);
    int code = rad__spawn(call, f, NULL, fn, arg);
    if (RAD_LIKELY(code == 0)) return;
    if (code != RAD_ECLOSED) {
        rad__op_nursery_cancel(n, code);
        return;
    }
    hears(f, code);
}

rad_nursery *rad__op_nursery_current(void)
{
    rad_strand *self = rad__running();
    return self == NULL ? NULL : (rad_nursery *)(void *)rad__slot_of(self)->family;
}

/* ---- Cancellation ------------------------------------------------------------------------------------ */

/* C1, under the lock. */
static void cancel_begin(rad_family *f, int reason)
{
    if (!f->canceled) {
        f->canceled = true;
        f->on_purpose = reason == 0;
        f->reason = reason;
        if (atomic_load_explicit(&f->failed, memory_order_relaxed) == 0) failed_set(f, reason);
    }
    f->unseen = f->first;
    f->count++;
}

void rad__family_untold(rad_family *f, rad_untold *some)
{
    rad_slot *s;
    some->count = 0;
    rad__lock(&f->object.lock);
    for (s = f->youngest; s != NULL && some->count < RAD_FAMILY_AT_ONCE; s = s->elder) {
        some->generations[some->count] = rad__fiber_generation(&s->strand);
        some->slots[some->count++] = s;
    }
    f->count -= some->count;
    atomic_fetch_add_explicit(&f->told, some->count, memory_order_relaxed);
    for (uint32_t i = 0; i < some->count; i++) /* pairs with the load in is_listed */
        atomic_store_explicit(&some->slots[i]->younger, some->slots[i], memory_order_release);
    f->youngest = s;
    if (s != NULL) younger_set(s, NULL);
    f->holds++;
    rad__unlock(&f->object.lock);
}

/* C2, C3. */
static void tell_children(rad_family *f)
{
    rad_untold some;
    do {
        rad__family_untold(f, &some);
        for (uint32_t i = 0; i < some.count; i++) rad__slot_cancel(some.slots[i], some.generations[i]);
    } while (some.count == RAD_FAMILY_AT_ONCE);
}

/* The next family below, for which C1 is done; NULL: there is none. One without children has no families below,
 * either: the flag is enough. The lock of its parent keeps it. */
static rad_family *next_below(rad_family *f, int reason)
{
    rad_family *below = NULL;
    bool more = true;
    while (more) {
        rad__lock(&f->object.lock);
        for (uint32_t i = 0; i < RAD_FAMILY_AT_ONCE && f->unseen && !below; i++) {
            rad_family *next = f->unseen;
            f->unseen = next->elder;
            rad__lock(&next->object.lock);
            bool empty = family_size(next) == 0;
            cancel_begin(next, reason);
            if (empty)
                next->count--;
            else
                below = next;
            rad__unlock(&next->object.lock);
        }
        more = f->unseen != NULL && below == NULL;
        rad__unlock(&f->object.lock);
    }
    return below;
}

/* C4. */
static void cancel_end(rad_family *f)
{
    rad__lock(&f->object.lock);
    f->count--;
    family_left(f);
}

/* All families below `top` and itself, parents first. */
void rad__op_nursery_cancel(rad_nursery *n, int reason)
{
    rad_family *top = family_of(n, "rad_nursery_cancel"), *f = top;
    rad_runtime *rt = top->owner->strand.runtime, *visited = rad__visit_begin(rad__core(), rt);
    rad__lock(&top->object.lock);
    cancel_begin(top, reason);
    rad__unlock(&top->object.lock);
    tell_children(top);
    for (bool done = false; !done;) {
        rad_family *below = next_below(f, reason != 0 ? reason : RAD_ECANCELED);
        rad_family *parent = f->parent;
        if (below != NULL) {
            f = below;
            tell_children(f);
            continue;
        }
        done = f == top;
        cancel_end(f);
        f = parent; /* which this call keeps, too */
    }
    if (RAD_UNLIKELY(visited != NULL)) rad__visit_end(visited);
}
