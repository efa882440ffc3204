#include "lab/trace_classes.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <string.h>

static void trace_classes_begin(rad_observer *o, rad_kernel *k)
{
    rad_trace_classes *c = (rad_trace_classes *)o;
    (void)k;
    if (c->chain_capacity) memset(c->chain, 0, c->chain_capacity * sizeof *c->chain);
    if (c->written_capacity) memset(c->written, 0, c->written_capacity * sizeof *c->written);
    c->picks = 0;
    c->sum = (rad_digest){0, 0};
    c->failed = false;
}

static void trace_classes_picked(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    rad_trace_classes *c = (rad_trace_classes *)o;
    (void)k, (void)d;
    c->picks = rad__fold(c->picks + 1, chosen);
}

static bool trace_classes_room(rad_trace_classes *c, uint32_t slots, uint32_t objects)
{
    if (RAD_GROW(&c->chain, &c->chain_capacity, slots) && RAD_GROW(&c->written, &c->written_capacity, objects))
        return true;
    c->failed = true;
    return false;
}

static inline bool counts(const rad_kernel *k, const rad_touched *t)
{
    return t->object < k->object_count && t->access != RAD_LOCAL;
}

static uint64_t trace_classes_depends(const rad_trace_classes *c, const rad_kernel *k, const rad_footprint *f)
{
    uint64_t depends = 0;
    for (const rad_touched *t = f->items; t < f->items + f->count; t++)
        if (counts(k, t)) depends += rad__fold(k->objects[t->object].signature, c->written[t->object]);
    return depends;
}

static void trace_classes_write(rad_trace_classes *c, const rad_kernel *k, const rad_footprint *f, uint64_t hash)
{
    for (const rad_touched *t = f->items; t < f->items + f->count; t++)
        if (counts(k, t) && t->access == RAD_WRITE) c->written[t->object] = hash;
}

static void trace_classes_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    rad_trace_classes *c = (rad_trace_classes *)o;
    const rad_action_entry *a = &k->actions[action];
    uint32_t actor = a->actor;
    uint32_t slot = actor + 1; /* actions of nobody share slot 0 */
    if (RAD_UNLIKELY(slot >= c->chain_capacity || k->object_count >= c->written_capacity) &&
        !trace_classes_room(c, slot + 1, k->object_count + 1))
        return;
    uint64_t who = actor < k->actor_count ? k->actors[actor].signature : a->hash;
    uint64_t depends = rad__fold(a->kind + 1, a->argument); /* and which of the actor's actions it was */
    if (a->object < k->object_count) depends += k->objects[a->object].signature;
    const rad_touched *only = f->count == 1 ? f->items : NULL; /* as is usual */
    uint64_t *written = only && counts(k, only) ? &c->written[only->object] : NULL;
    if (RAD_LIKELY(written != NULL))
        depends += rad__fold(k->objects[only->object].signature, *written);
    else if (only == NULL)
        depends += trace_classes_depends(c, k, f);
    uint64_t hash = rad__fold(rad__fold(who, c->chain[slot]), depends + c->picks);
    if (RAD_LIKELY(written != NULL))
        *written = only->access == RAD_WRITE ? hash : *written;
    else if (only == NULL)
        trace_classes_write(c, k, f, hash);
    c->chain[slot] = hash;
    c->picks = 0;
    c->sum.low += hash;
    c->sum.high += rad__fold(hash, who);
}

void rad__trace_classes_open(rad_trace_classes *c)
{
    *c = (rad_trace_classes){
        .observer = {.begin = trace_classes_begin, .picked = trace_classes_picked, .ran = trace_classes_ran}};
}

void rad__trace_classes_close(rad_trace_classes *c)
{
    rad__free(c->chain);
    rad__free(c->written);
    *c = (rad_trace_classes){0};
}
