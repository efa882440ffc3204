/* shrink_case.c — a smaller case: fewer actors, fewer operations, smaller capacities.
 *
 * The same choices usually mean something else in a smaller case, so after the list itself a few hundred
 * fresh runs look for the same failure there. Everything later is cheaper in a smaller case, which is
 * why the case counts first in the order of runs. */
#include "lab/shrink.h"

#include <stdio.h>

enum { SEARCH_RUNS = 400 };

static bool case_search(rad_shrinker *s, const rad_target *t, const char *policy)
{
    /* Two units: the first run teaches the second one (see strategy.h on epochs). */
    rad_unit u = {.kind = RAD_UNIT_SAMPLE, .seed = 1, .count = SEARCH_RUNS, .stop_on_first = true};
    rad_estimates none = {0};
    u.estimates = &none;
    snprintf(u.policy, sizeof u.policy, "%s", policy);
    return rad__shrink_try(s, t, &u);
}

static bool case_try(rad_shrinker *s, const rad_target *t)
{
    rad_unit list = {.kind = RAD_UNIT_TREE,
                     .count = 1,
                     .path = s->best.choices,
                     .path_count = s->measure.choices};
    return rad__shrink_try(s, t, &list) || case_search(s, t, "random") ||
           case_search(s, t, "pct:3");
}

/* The smallest value first, then halfway between it and the present one, then one less. */
static bool case_param(rad_shrinker *s, uint32_t i, const rad_param *p)
{
    int64_t now = s->target.c.params[i];
    int64_t tries[] = {p->min, p->min + (now - p->min) / 2, now - 1};
    for (uint32_t n = 0; n < sizeof tries / sizeof *tries; n++) {
        if (tries[n] < p->min || tries[n] >= now || (n > 0 && tries[n] == tries[n - 1])) continue;
        rad_target t = s->target;
        t.c.params[i] = tries[n];
        if (case_try(s, &t)) return true;
    }
    return false;
}

/* Reductions only the machine knows: parameters that go together. */
static bool case_own(rad_shrinker *s)
{
    const rad_machine *m = s->target.machine;
    rad_target t = s->target;
    for (uint32_t n = 0; m->reduce && m->reduce(&s->target.c, n, &t.c) && rad__shrink_goes_on(s);
         n++)
        if (case_try(s, &t)) return true;
    return false;
}

void rad__shrink_case(rad_shrinker *s)
{
    const rad_param *p = s->target.machine->params;
    for (uint32_t i = 0; p && p[i].name; i++)
        while (!p[i].fixed && rad__shrink_goes_on(s) && case_param(s, i, &p[i])) {
        }
    while (rad__shrink_goes_on(s) && case_own(s)) {
    }
}
