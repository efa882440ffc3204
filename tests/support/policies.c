/* policies.c — three policies that are unlike each other, in one shared object: what <raddle/policy.h> had to be able
 * to do before it was fixed. For tests/cli/policy.sh; tests/unit/core/test_policy_user.c includes it.
 *
 * weighted   random, but the current actor continues W times as often as another one runs (weighted:W, default 4)
 * hot        the action that is about to touch the object that was touched most; ties at random
 * sleep      random among the schedules that are in normal form: of the schedules that differ only in the order of
 *            independent steps one is run to its end, the others are pruned (sleep sets, Godefroid 1996) */
#include <raddle/policy.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- weighted ------------------------------------------------------------------------------------ */

struct weighted {
    uint64_t weight;
};

static int weighted_create(void *state, const char *argument, rad_error *error)
{
    struct weighted *w = state;
    char *end = NULL;
    w->weight = argument ? strtoul(argument, &end, 10) : 4;
    if (w->weight >= 1 && w->weight <= 1000 && (end == NULL || (*end == 0 && end != argument))) return 0;
    snprintf(error->text, sizeof error->text, "expected a weight from 1 to 1000");
    return RAD_EINPUT;
}

static uint32_t weighted_choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    const struct weighted *w = state;
    uint64_t point = rad_policy_below(r, c->count - 1 + w->weight);
    return point < c->count ? (uint32_t)point : c->baseline;
}

/* ---- hot ----------------------------------------------------------------------------------------- */

static uint32_t hot_choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    uint32_t best = 0, ties = 0;
    uint64_t most = 0;
    (void)state;
    if (c->kind != RAD_PICK_ACTION) return (uint32_t)rad_policy_below(r, c->count);
    uint32_t action = rad_policy_next(r, 0);
    for (uint32_t i = 0; i < c->count; i++, action = rad_policy_next(r, action + 1)) {
        rad_policy_action a;
        uint64_t heat = 0;
        if (rad_policy_look(r, action, &a)) heat = *rad_policy_word(r, RAD_PER_OBJECT, a.target);
        if (heat > most) ties = 0;
        if (heat < most) continue;
        most = heat;
        if (rad_policy_below(r, ++ties) == 0) best = i;
    }
    return best;
}

static void hot_ran(void *state, rad_policy_run *r, uint32_t action, const rad_footprint *f)
{
    (void)state, (void)action;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].access != RAD_LOCAL) ++*rad_policy_word(r, RAD_PER_OBJECT, f->items[i].object);
}

/* ---- sleep --------------------------------------------------------------------------------------- */

enum { AWAKE = 0, ASLEEP, DROWSY }; /* DROWSY: asleep unless this step wakes it */

/* Of what could have run instead, the lower ones sleep: a schedule that runs them later, with nothing in between that
 * conflicts with them, is the same as one that runs them now. */
static uint32_t sleep_choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    uint32_t awake = 0, action;
    (void)state;
    if (c->kind != RAD_PICK_ACTION) return (uint32_t)rad_policy_below(r, c->count);
    for (action = rad_policy_next(r, 0); action != RAD_NONE; action = rad_policy_next(r, action + 1))
        awake += *rad_policy_word(r, RAD_PER_ACTION, action) == AWAKE;
    uint32_t skip = (uint32_t)rad_policy_below(r, awake);
    for (action = rad_policy_next(r, 0); action != RAD_NONE; action = rad_policy_next(r, action + 1)) {
        uint64_t *word = rad_policy_word(r, RAD_PER_ACTION, action);
        if (*word != AWAKE) continue;
        if (skip-- == 0) break;
        *word = DROWSY;
    }
    return rad_policy_index_of(r, action);
}

static void sleep_changed(void *state, rad_policy_run *r, uint32_t action, bool enabled)
{
    (void)state, (void)enabled;
    *rad_policy_word(r, RAD_PER_ACTION, action) = AWAKE;
}

static void sleep_ran(void *state, rad_policy_run *r, uint32_t ran, const rad_footprint *f)
{
    uint32_t awake = 0, count = 0;
    rad_policy_action own, a;
    (void)state;
    if (!rad_policy_look(r, ran, &own)) return;
    for (uint32_t action = rad_policy_next(r, 0); action != RAD_NONE; action = rad_policy_next(r, action + 1)) {
        uint64_t *word = rad_policy_word(r, RAD_PER_ACTION, action);
        rad_policy_look(r, action, &a);
        bool same = a.actor == own.actor && a.actor != RAD_NONE;
        if (*word != AWAKE) *word = same || rad_policy_meets(&a, f) ? AWAKE : ASLEEP;
        awake += *word == AWAKE;
        count++;
    }
    if (count > 0 && awake == 0) rad_policy_prune(r); /* another run does what is left */
}

/* ---- The tables ---------------------------------------------------------------------------------- */

static const rad_policy_table WEIGHTED = {.abi = RAD_POLICY_ABI,
                                          .name = "weighted",
                                          .about = "random; the current actor has more weight",
                                          .state_size = sizeof(struct weighted),
                                          .choose = weighted_choose,
                                          .create = weighted_create};

static const rad_policy_table HOT = {.abi = RAD_POLICY_ABI,
                                     .name = "hot",
                                     .about = "to the object that was touched most",
                                     .choose = hot_choose,
                                     .ran = hot_ran};

static const rad_policy_table SLEEP = {.abi = RAD_POLICY_ABI,
                                       .name = "sleep",
                                       .about = "random, without schedules that only commute",
                                       .choose = sleep_choose,
                                       .changed = sleep_changed,
                                       .ran = sleep_ran};

const rad_policy_table *const rad_policies[] = {&WEIGHTED, &HOT, &SLEEP, NULL};
