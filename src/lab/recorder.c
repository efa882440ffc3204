#include "lab/recorder.h"

#include "base/alloc.h"

#include <string.h>

static void recorder_begin(rad_observer *o, rad_kernel *k)
{
    rad_recorder *r = (rad_recorder *)o;
    (void)k;
    r->step_count = r->touched_count = r->pick_count = r->picks_from = 0;
    r->decision = RAD_NONE;
    r->failed = false;
}

static void recorder_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    rad_recorder *r = (rad_recorder *)o;
    if (d->kind == RAD_PICK_ACTION)
        r->decision = (uint32_t)(k->decisions - 1);
    else if (RAD_GROW(&r->picks, &r->pick_capacity, r->pick_count + 1))
        r->picks[r->pick_count++] = chosen;
    else
        r->failed = true;
}

static void recorder_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    rad_recorder *r = (rad_recorder *)o;
    if (!RAD_GROW(&r->steps, &r->step_capacity, r->step_count + 1) ||
        !RAD_GROW(&r->touched, &r->touched_capacity, r->touched_count + f->count)) {
        r->failed = true;
        return;
    }
    uint32_t actor = k->actions[action].actor;
    r->steps[r->step_count++] = (rad_recorded){
        .actor = actor,
        .decision = r->decision,
        .touched_at = r->touched_count,
        .touched_count = f->count,
        .pick_at = r->picks_from,
        .pick_count = r->pick_count - r->picks_from,
        .yielded = f->yielded,
        .waits = actor < k->actor_count && k->actors[actor].waiting,
    };
    memcpy(r->touched + r->touched_count, f->items, f->count * sizeof *f->items);
    r->touched_count += f->count;
    r->picks_from = r->pick_count;
    r->decision = RAD_NONE;
}

void rad__recorder_open(rad_recorder *r)
{
    *r = (rad_recorder){.observer = {.begin = recorder_begin, .decided = recorder_decided, .ran = recorder_ran}};
}

void rad__recorder_close(rad_recorder *r)
{
    rad__free(r->steps);
    rad__free(r->touched);
    rad__free(r->picks);
    *r = (rad_recorder){0};
}

/* Walking backwards: a step belongs to the past when its actor does, or when it conflicts with something
 * a later step of the past touched. needed[o]: 0 nobody, 1 was read later, 2 was written later. */
typedef struct causal {
    bool *actor;
    uint8_t *needed;
} causal;

static bool causal_conflict(const causal *c, const rad_kernel *k, const rad_touched *t)
{
    if (t->object >= k->object_count || t->access == RAD_LOCAL) return false;
    return c->needed[t->object] == 2 || (c->needed[t->object] == 1 && t->access == RAD_WRITE);
}

static void causal_add(causal *c, const rad_kernel *k, const rad_touched *t)
{
    if (t->object >= k->object_count || t->access == RAD_LOCAL) return;
    uint8_t level = t->access == RAD_READ ? 1 : 2;
    if (level > c->needed[t->object]) c->needed[t->object] = level;
}

void rad__recorder_past(const rad_recorder *r, const rad_kernel *k, bool *past)
{
    causal c = {rad__alloc(k->actor_count + 1, sizeof *c.actor), rad__alloc(k->object_count + 1, sizeof *c.needed)};
    for (uint32_t i = 0; i < r->step_count; i++) past[i] = true;
    bool deadlock = k->failure.oracle == RAD_ORACLE_DEADLOCK;
    if (c.actor == NULL || c.needed == NULL || r->step_count == 0) goto out;
    for (uint32_t a = 0; a < k->actor_count && deadlock; a++) {
        if (!k->actors[a].waiting) continue;
        c.actor[a] = true;
        causal_add(&c, k, &(rad_touched){k->actors[a].waits_for, RAD_WRITE});
    }
    for (uint32_t i = r->step_count; i-- > 0;) {
        const rad_recorded *s = &r->steps[i];
        bool in = (i + 1 == r->step_count && !deadlock) || (s->actor < k->actor_count && c.actor[s->actor]);
        for (uint32_t t = 0; t < s->touched_count && !in; t++)
            in = causal_conflict(&c, k, &r->touched[s->touched_at + t]);
        past[i] = in;
        if (!in) continue;
        /* Whoever spawned the actor belongs to it. */
        for (uint32_t a = s->actor; a < k->actor_count && !c.actor[a]; a = k->actors[a].spawner) c.actor[a] = true;
        for (uint32_t t = 0; t < s->touched_count; t++) causal_add(&c, k, &r->touched[s->touched_at + t]);
    }
out:
    rad__free(c.actor);
    rad__free(c.needed);
}
