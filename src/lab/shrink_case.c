/* shrink_case.c — a smaller case: fewer actors, fewer operations, smaller capacities, a shorter document.
 *
 * A smaller case is tried with, in this order,
 *
 *   the present run   actor by actor, when the machine says who inherits whose part (heir)
 *   the present list  the same choices, which usually mean something else there
 *   fresh runs        that look for the same failure
 *
 * Everything later is cheaper in a smaller case, which is why the case counts first in the order of runs.
 *
 * The machine's own reductions may be thousands, most of them hopeless, and fresh runs cost a hundred times
 * as much as the present run. So there are two kinds of rounds: quick ones, without fresh runs, until one
 * takes nothing; then a thorough one, whose fresh runs are shared out evenly, so that it costs about the same
 * for any number of candidates; if it takes something, quick ones again. Fresh runs in a case do not depend
 * on anything else, so no case is searched twice.
 *
 * Rejected: starting again at the first candidate after each one taken. It is quadratic: for 16 threads of 64
 * instructions (toy `program`, no heir) 20,000 checks were used up at half the size and after 30 s; going on
 * took 8,900 checks and 5 s to the end, and with heirs 5,500 and 0.14 s. */
#include "base/alloc.h"
#include "lab/shrink.h"

#include <stdio.h>

enum {
    SEARCH_RUNS = 400,   /* fresh ones in one case, of each policy */
    SEARCH_LEAST = 10,   /* … at least */
    SEARCH_ROUND = 4000, /* … in all cases of a round */
};

/* ---- Trying a case --------------------------------------------------------------------------------- */

/* The steps of the present run, each by the heir of who made it. */
static bool case_inherit(rad_shrinker *s, const rad_target *t, const rad_cursor *at)
{
    const rad_recorder *r = &s->recorder;
    if (t->machine->heir == NULL || !rad__shrink_record(s)) return false;
    rad_case from = rad__case_of(&s->target), to = rad__case_of(t);
    rad_script_step *steps = rad__alloc(r->step_count, sizeof *steps);
    uint32_t count = 0, last = RAD_NONE, heir = RAD_NONE;
    if (steps == NULL) {
        rad__error_memory(s->error);
        return false;
    }
    for (uint32_t i = 0; i < r->step_count; i++) {
        uint32_t actor = r->steps[i].actor;
        if (actor != last) heir = t->machine->heir(&from, &to, at, actor);
        last = actor;
        if (heir != RAD_NONE) steps[count++] = (rad_script_step){heir, r->steps[i].pick_at, r->steps[i].pick_count};
    }
    rad_batch u = {
        .kind = RAD_BATCH_SCRIPT,
        .count = 1,
        .steps = steps,
        .step_count = count,
        .picks = r->picks,
        .pick_count = r->pick_count,
    };
    bool better = rad__shrink_try(s, t, &u);
    rad__free(steps);
    return better;
}

static bool case_list(rad_shrinker *s, const rad_target *t)
{
    rad_batch list = {.kind = RAD_BATCH_TREE, .count = 1, .path = s->best.choices, .path_count = s->measure.choices};
    return rad__shrink_try(s, t, &list);
}

/* A batch of slow runs ends early: the rest is asked for until it is done, so that it does not depend on the
 * speed of the computer. */
static bool case_sample(rad_shrinker *s, const rad_target *t, const char *policy, uint64_t runs)
{
    rad_batch u = {.kind = RAD_BATCH_SAMPLE, .seed = 1, .stop_on_first = true};
    rad_estimates none = {0};
    u.estimates = &none;
    snprintf(u.policy, sizeof u.policy, "%s", policy);
    while (u.first < runs) {
        u.count = runs - u.first;
        if (rad__shrink_try(s, t, &u)) return true;
        if (s->ran == 0) return false;
        u.first += s->ran;
    }
    return false;
}

static bool case_search(rad_shrinker *s, const rad_target *t, uint64_t runs)
{
    struct {
        rad_digest digest;
        uint64_t runs;
    } record = {rad__case_digest(t), runs};
    rad_digest key = rad__digest_of(&record, sizeof record);
    if (rad__set128_has(&s->searched, key)) return false;
    if (case_sample(s, t, "random", runs) || case_sample(s, t, "pct:3", runs)) return true;
    if (rad__shrink_goes_on(s) && rad__set128_add(&s->searched, key) == RAD_SET_NOMEM) rad__error_memory(s->error);
    return false;
}

static bool case_try(rad_shrinker *s, const rad_target *t, const rad_cursor *at, uint64_t runs)
{
    return case_inherit(s, t, at) || case_list(s, t) || (runs > 0 && case_search(s, t, runs));
}

/* ---- Parameters ------------------------------------------------------------------------------------ */

/* The smallest value first, then halfway between it and the present one, then one less. */
static bool case_param(rad_shrinker *s, uint32_t i, const rad_param *p)
{
    int64_t now = s->target.c.params[i];
    int64_t tries[] = {p->min, p->min + (now - p->min) / 2, now - 1};
    for (uint32_t n = 0; n < sizeof tries / sizeof *tries; n++) {
        if (tries[n] < p->min || tries[n] >= now || (n > 0 && tries[n] == tries[n - 1])) continue;
        rad_target t = s->target;
        t.c.params[i] = tries[n];
        if (case_try(s, &t, NULL, SEARCH_RUNS)) return true;
    }
    return false;
}

/* ---- Reductions only the machine knows -------------------------------------------------------------- */

/* The next case of the round, with a body of its own; false when there is none. */
static bool case_next(rad_shrinker *s, rad_cursor *at, rad_target *t)
{
    rad_case from = rad__case_of(&s->target);
    rad_target given = s->target;
    given.c = from;
    bool more = s->target.machine->reduce(&from, at, &given.c);
    if (at->failed) rad__error_memory(s->error);
    if (!more || at->failed) return false;
    rad_error own = {0};
    int code = rad__target_copy(t, &given, &own);
    if (given.c.body != from.body) rad_free((void *)given.c.body);
    if (code != 0) rad__error(s->error, code, "machine %s: reduce: %s", t->machine->name, own.text);
    return code == 0;
}

/* Goes through the machine's candidates once; true when any was taken. */
static bool case_round(rad_shrinker *s, uint64_t runs)
{
    rad_cursor at = {.taken = false};
    rad_target t;
    bool any = false;
    while (rad__shrink_goes_on(s) && case_next(s, &at, &t)) {
        uint64_t before = s->checks;
        bool smaller = rad__case_size(&t) < s->measure.case_size;
        at.taken = smaller && case_try(s, &t, &at, runs);
        any |= at.taken;
        s->checks += s->checks == before; /* each costs something, or an endless reducer would not end */
        rad_target_free(&t);
    }
    return any;
}

/* Fresh runs for each candidate of a thorough round. */
static uint64_t case_share(rad_shrinker *s)
{
    rad_cursor at = {.taken = false};
    rad_target t;
    uint64_t count = 0;
    while (count < SEARCH_ROUND / SEARCH_LEAST && case_next(s, &at, &t)) {
        count++;
        rad_target_free(&t);
    }
    uint64_t share = SEARCH_ROUND / (count ? count : 1);
    return share < SEARCH_RUNS ? share : SEARCH_RUNS;
}

static void case_own(rad_shrinker *s)
{
    do {
        while (rad__shrink_goes_on(s) && case_round(s, 0)) {
        }
    } while (rad__shrink_goes_on(s) && case_round(s, case_share(s)));
}

void rad__shrink_case(rad_shrinker *s)
{
    const rad_param *p = s->target.machine->params;
    for (uint32_t i = 0; p && p[i].name; i++)
        while (!p[i].fixed && rad__shrink_goes_on(s) && case_param(s, i, &p[i])) {
        }
    if (s->target.machine->reduce) case_own(s);
}

/* ---- For reducers ---------------------------------------------------------------------------------- */

bool rad_cut_next(rad_cut *cut, uint32_t count)
{
    uint32_t end = cut->from < count ? cut->from : count; /* what lies before the last one */
    bool first = cut->span == 0;
    if (count == 0 || (end == 0 && cut->span == 1)) {
        *cut = (rad_cut){0, 0, 0};
        return false;
    }
    if (first || end == 0) {
        cut->span = first || cut->span / 2 > count ? count : cut->span / 2;
        end = count;
    }
    cut->to = end;
    cut->from = end > cut->span ? end - cut->span : 0;
    return true;
}
