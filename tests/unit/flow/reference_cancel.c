/* reference_cancel.c — cancellation and failures of the reference interpreter.
 *
 * A token that is cancelled takes along what hangs below it, gives back its locks, and is counted by the fork it comes
 * from. Only when the step has cancelled everything are the joins looked at: a sync join may be complete. */
#include "reference_parts.h"

#include "base/check.h"

bool reference_lives(const reference_token *t)
{
    return t->fate == REFERENCE_LIVES;
}

reference_region *reference_innermost(const reference_token *t)
{
    for (const reference_frame *f = t->top; f != NULL; f = f->below)
        if (f->kind == FRAME_REGION) return f->region;
    return t->inherited;
}

bool reference_inside(const reference_token *t, const reference_region *region)
{
    for (const reference_region *i = reference_innermost(t); i != NULL; i = i->outer)
        if (i == region) return true;
    return false;
}

static void reference_stop_effect(reference *r, const reference_token *t)
{
    if (t->at != REFERENCE_FINISH) return;
    reference_effect(r, reference_text(r, "stop %s#%u", t->path, t->effect));
}

/* What hangs below it; `only`: of that fork. */
static void reference_cancel_below(reference *r, const reference_token *t, const reference_fork *only)
{
    for (reference_token *i = r->first; i != NULL; i = i->next)
        if (i->parent != NULL && i->parent->holder == t && (only == NULL || i->parent == only))
            reference_cancel_whole(r, i);
}

static void reference_cancel_one(reference *r, reference_token *t)
{
    reference_stop_effect(r, t);
    if (t->waits != NULL) t->waits->fired = true; /* it never will */
    t->waits = NULL;
    if (t == r->first) r->end = t->data;
    reference_token_over(r, t, REFERENCE_STOPPED);
    if (t->parent != NULL) t->parent->cancelled++;
}

void reference_cancel_whole(reference *r, reference_token *t)
{
    if (!reference_lives(t)) return;
    reference_cancel_below(r, t, NULL);
    reference_cancel_one(r, t);
}

/* A token, and what it waits for. Branches that it does not wait for are not its own any more. */
static void reference_cancel_token(reference *r, reference_token *t)
{
    if (!reference_lives(t)) return;
    if (t->waits != NULL) reference_cancel_below(r, t, t->waits);
    reference_cancel_one(r, t);
}

void reference_settle_joins(reference *r)
{
    for (reference_fork *i = r->forks; i != NULL && r->state == REFERENCE_RUNNING; i = i->next)
        if (i->join == RAD_JOIN_SYNC && !i->fired && i->owner->waits == i &&
            i->arrival_count + i->cancelled == i->activated)
            reference_fire(r, i);
}

/* The owner goes from wherever it is inside the region into a handler of it. */
static void reference_divert(reference *r, reference_region *region, const rad_flow_branch *handler)
{
    reference_token *owner = region->owner;
    for (reference_token *i = r->first; i != NULL; i = i->next)
        if (i != owner && reference_inside(i, region)) reference_cancel_token(r, i);
    reference_stop_effect(r, owner);
    if (owner->waits != NULL) owner->waits->fired = true; /* it never will */
    owner->waits = NULL;
    while (owner->top->region != region) reference_pop(r, owner);
    reference_pop(r, owner);
    r->diverted++;
    reference_push(r, owner, FRAME_PLAIN, region->statement, &handler->block);
    reference_go_on(r, owner);
}

static void reference_cancel_region(reference *r, reference_region *region)
{
    const rad_flow_branch *handler = region->statement->on_cancel;
    if (region->owner_inside && handler != NULL) {
        reference_divert(r, region, handler);
        return;
    }
    for (reference_token *i = r->first; i != NULL; i = i->next)
        if (reference_lives(i) && reference_inside(i, region)) reference_cancel_token(r, i);
}

static bool reference_is_in_task(const reference_token *t, uint32_t task)
{
    return t->at <= REFERENCE_RETRY && t->task == task;
}

void reference_cancel(reference *r, const rad_flow_statement *s)
{
    if (s->scope == RAD_FLOW_PART_CASE) {
        reference_over(r, REFERENCE_CANCELLED, "");
        return;
    }
    if (s->scope == RAD_FLOW_PART_REGION)
        for (reference_region *i = r->regions; i != NULL; i = i->next)
            if (i->statement->name == s->name) reference_cancel_region(r, i);
    if (s->scope == RAD_FLOW_PART_TASK)
        for (reference_token *i = r->first; i != NULL; i = i->next)
            if (reference_lives(i) && reference_is_in_task(i, s->name)) reference_cancel_token(r, i);
}

void reference_raise(reference *r, reference_token *t, const char *why)
{
    why = reference_text(r, "%s", why);
    for (reference_region *i = reference_innermost(t); i != NULL; i = i->outer) {
        if (i->statement->on_failure == NULL || !i->owner_inside) continue;
        if (i->statement->into != RAD_NONE)
            reference_write(&i->owner->data, i->statement->into, (reference_datum){0, why});
        reference_divert(r, i, i->statement->on_failure);
        return;
    }
    reference_over(r, REFERENCE_FAILED, why);
}

void reference_over(reference *r, enum reference_state state, const char *failure)
{
    r->state = state;
    r->failure = failure;
    for (reference_token *i = r->first; i != NULL; i = i->next) reference_cancel_whole(r, i);
}
