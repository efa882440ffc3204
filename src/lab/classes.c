#include "lab/classes.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <string.h>

static void classes_begin(rad_observer *o, rad_kernel *k)
{
    rad_classes *c = (rad_classes *)o;
    (void)k;
    if (c->chain_capacity) memset(c->chain, 0, c->chain_capacity * sizeof *c->chain);
    if (c->written_capacity) memset(c->written, 0, c->written_capacity * sizeof *c->written);
    c->picks = 0;
    c->sum = (rad_digest){0, 0};
    c->failed = false;
}

static void classes_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    rad_classes *c = (rad_classes *)o;
    (void)k;
    if (d->kind != RAD_PICK_ACTION) c->picks = rad__fold(c->picks + 1, chosen);
}

static void classes_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    rad_classes *c = (rad_classes *)o;
    const rad_action_entry *a = &k->actions[action];
    uint32_t actor = a->actor;
    uint32_t slot = actor + 1; /* actions of nobody share slot 0 */
    if (!RAD_GROW(&c->chain, &c->chain_capacity, slot + 1) ||
        !RAD_GROW(&c->written, &c->written_capacity, k->object_count + 1)) {
        c->failed = true;
        return;
    }
    uint64_t who = actor < k->actor_count ? k->actors[actor].signature : a->hash;
    uint64_t depends =
        rad__fold(a->kind + 1, a->argument); /* and which of the actor's actions it was */
    if (a->object < k->object_count) depends += k->objects[a->object].signature;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t object = f->items[i].object;
        if (object >= k->object_count || f->items[i].access == RAD_LOCAL) continue;
        depends += rad__fold(k->objects[object].signature, c->written[object]);
    }
    uint64_t hash = rad__fold(rad__fold(who, c->chain[slot]), depends + c->picks);
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t object = f->items[i].object;
        if (object >= k->object_count || f->items[i].access == RAD_LOCAL) continue;
        if (f->items[i].access == RAD_WRITE) c->written[object] = hash;
    }
    c->chain[slot] = hash;
    c->picks = 0;
    c->sum.low += hash;
    c->sum.high += rad__fold(hash, who);
}

void rad__classes_open(rad_classes *c)
{
    *c = (rad_classes){
        .observer = {.begin = classes_begin, .decided = classes_decided, .ran = classes_ran}};
}

void rad__classes_close(rad_classes *c)
{
    rad__free(c->chain);
    rad__free(c->written);
    *c = (rad_classes){0};
}
