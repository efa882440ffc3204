#include "rt/nursery.h"

#include "rt/ops.h"
#include "rt/runtime.h"

_Static_assert(sizeof(rad_family) <= sizeof(rad_nursery), "a nursery has room for a family");

static rad_family *family_of(rad_nursery *n)
{
    return (rad_family *)(void *)n;
}

/* ---- Children ---------------------------------------------------------------------------------------- */

bool rad__family_enter(rad_family *f, rad_slot *slot)
{
    rad__lock(&f->object.lock);
    bool open = !f->closed;
    if (open) {
        f->count++;
        slot->family = f;
        slot->deadline = f->deadline;
        slot->younger = NULL;
        slot->elder = f->youngest;
        if (f->youngest) f->youngest->younger = slot;
        f->youngest = slot;
        if (f->canceled) /* M2; it is not queued yet, so there is nobody to unpark. Pairs with rad__slot_cancel. */
            atomic_store_explicit(&slot->canceled, rad__fiber_generation(&slot->strand),
                                  memory_order_release);
    }
    rad__unlock(&f->object.lock);
    return open;
}

void rad__family_leave(rad_family *f, rad_slot *slot, int code)
{
    rad_wakes wakes = {0};
    rad__lock(&f->object.lock);
    if (slot->younger)
        slot->younger->elder = slot->elder;
    else
        f->youngest = slot->elder;
    if (slot->elder) slot->elder->younger = slot->younger;
    if (f->failed == 0 && !(f->on_purpose && code == RAD_ECANCELED)) f->failed = code;
    if (--f->count == 0) {
        rad_clause *c = rad__queue_claim(&f->owner_waits);
        if (c) {
            f->closed = true;
            rad__wakes_add(&wakes, c);
        }
    }
    rad__unlock(&f->object.lock); /* the owner may be gone from here on */
    rad__wakes_go(&wakes);
}

/* ---- The owner --------------------------------------------------------------------------------------- */

void rad__op_nursery_open(rad_nursery *n, rad_time deadline)
{
    rad_family *f = family_of(n);
    rad_slot *owner = rad__my_slot("rad_nursery_open");
    if (++owner->nurseries == 0) rad__misuse("rad_nursery_open", "65,536 of one fiber");
    *f = (rad_family){.owner = owner, .parent = owner->family};
    rad__waitable_open(&f->object, RAD_KIND_NURSERY);
    f->deadline = deadline < owner->deadline ? deadline : owner->deadline;
    if (f->parent == NULL) return;
    rad_lock *tree = &owner->strand.runtime->tree;
    rad__lock(tree);
    f->elder = f->parent->first;
    if (f->elder) f->elder->younger = f;
    f->parent->first = f;
    rad__unlock(tree);
}

static void family_close(rad_family *f)
{
    /* Who has cancelled it, and so made all children end, may still be looking at it, under the lock. */
    if (f->parent == NULL && f->first == NULL && !f->canceled) return;
    rad_lock *tree = &f->owner->strand.runtime->tree;
    rad__lock(tree);
    RAD_DCHECK(f->first == NULL); /* its children have ended, and closed theirs before */
    if (f->parent) {
        if (f->younger)
            f->younger->elder = f->elder;
        else
            f->parent->first = f->elder;
        if (f->elder) f->elder->younger = f->younger;
    }
    rad__unlock(tree);
}

static bool wait_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad_family *f = (rad_family *)c->object;
    if (f->count > 0) return false;
    f->closed = true;
    return true;
}

int rad__op_nursery_wait(rad_nursery *n)
{
    rad_family *f = family_of(n);
    if (RAD_UNLIKELY(f->owner != rad__my_slot("rad_nursery_wait")))
        rad__misuse("rad_nursery_wait", f->owner ? "another fiber has opened it" : "it is closed");
    rad_clause c = {.object = &f->object, .queue = &f->owner_waits, .attempt = wait_attempt};
    if (rad__wait(&c, 1, RAD_FOREVER) < 0) {
        rad__op_nursery_cancel(n, RAD_ECANCELED);
        f->owner->shields++;
        int done = rad__wait(&c, 1, RAD_FOREVER);
        RAD_ASSERT(done == 0);
        f->owner->shields--;
    }
    family_close(f);
    f->owner->nurseries--;
    f->owner = NULL;
    return f->failed;
}

void rad__op_nursery_close(rad_nursery *n)
{
    rad_family *f = family_of(n);
    rad__lock(&f->object.lock);
    f->closed = true;
    rad__unlock(&f->object.lock);
}

int rad__op_nursery_spawn(rad_nursery *n, rad_fiber *fiber, rad_fn fn, void *arg)
{
    return rad__spawn(family_of(n), fiber, fn, arg);
}

void rad__op_nursery_go(rad_nursery *n, rad_fn fn, void *arg)
{
    rad_family *f = family_of(n);
    int code = rad__spawn(f, NULL, fn, arg);
    if (RAD_LIKELY(code == 0)) return;
    if (code != RAD_ECLOSED) {
        rad__op_nursery_cancel(n, code);
        return;
    }
    rad__lock(&f->object.lock);
    if (f->failed == 0) f->failed = code;
    rad__unlock(&f->object.lock);
}

rad_nursery *rad__op_nursery_current(void)
{
    rad_strand *self = rad__running();
    return self == NULL ? NULL : (rad_nursery *)(void *)rad__slot_of(self)->family;
}

/* ---- Cancellation ------------------------------------------------------------------------------------ */

static void family_cancel(rad_family *f, int reason)
{
    rad__lock(&f->object.lock);
    bool first = !f->canceled;
    if (first && f->failed == 0) f->failed = reason;
    if (first) f->on_purpose = reason == 0;
    f->canceled = true;
    for (rad_slot *s = first ? f->youngest : NULL; s != NULL; s = s->elder)
        rad__slot_cancel(s, rad__fiber_generation(&s->strand));
    rad__unlock(&f->object.lock);
}

/* All families below `top` and itself, parents first. */
void rad__op_nursery_cancel(rad_nursery *n, int reason)
{
    rad_family *top = family_of(n), *f = top;
    rad_runtime *rt = top->owner->strand.runtime, *visited = rad__visit_begin(rad__core(), rt);
    rad__lock(&rt->tree);
    for (;;) {
        family_cancel(f, reason == 0 && f != top ? RAD_ECANCELED : reason);
        if (f->first) {
            f = f->first;
            continue;
        }
        while (f != top && f->elder == NULL) f = f->parent;
        if (f == top) break;
        f = f->elder;
    }
    rad__unlock(&rt->tree); /* from here on `top` may be gone */
    if (RAD_UNLIKELY(visited != NULL)) rad__visit_end(visited);
}
