/* strategy.c — the strategies that ship, by name, and the plan of each. A new one is a row of STRATEGIES, and what
 * rad__plan does with it. */
#include "lab/strategy.h"

#include "core/policy_user.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCH = 256, BOUND_MAX = 1000, DEEPEN_MAX = 19, SPIN_SHARE = 100 };

static const rad_named STRATEGIES[] = {
    {"auto", "a portfolio: random, surw, pct, pos and preemption bounds 0, 1, 2, … take turns"},
    {"first", "one run, the first of the canonical order"},
    {"random", "uniform over what is enabled"},
    {"fair", "one run, round robin"},
    {"pct:D", "random priorities with D-1 changes"},
    {"surw", "uniform over interleavings of the events on one object"},
    {"pos", "random priorities for events, drawn anew after each race (partial order sampling)"},
    {"dfs", "every schedule, depth first"},
    {"preempt:K", "every schedule with at most 0, 1, … K preemptions"},
    {"delay:K", "every schedule with at most 0, 1, … K delays against the baseline"},
    {"dedup", "every state once (machines whose whole state is known)"},
};

bool rad_strategy_at(uint32_t index, rad_named *out)
{
    enum { OWN = sizeof STRATEGIES / sizeof *STRATEGIES };
    if (index < OWN) {
        *out = STRATEGIES[index];
        return true;
    }
    const rad_policy_table *t = rad__user_policy_at(index - OWN);
    if (t == NULL) return false;
    *out = (rad_named){t->name, t->about ? t->about : ""};
    return true;
}

uint64_t rad__epoch_end(uint64_t run)
{
    static const uint64_t early[] = {1, 16, 64};
    for (uint32_t i = 0; i < sizeof early / sizeof *early; i++)
        if (run < early[i]) return early[i];
    return (run / EPOCH + 1) * EPOCH;
}

/* A row; the phases that are added after it are its phases. */
static void plan_row(rad_plan *p, uint64_t share)
{
    RAD_ASSERT(p->row_count < RAD_ROWS_MAX);
    p->rows[p->row_count++] = (rad_plan_row){.first = p->count, .share = share};
}

static rad_plan_phase *plan_add(rad_plan *p, const char *name)
{
    RAD_ASSERT(p->count < RAD_PHASES_MAX);
    rad_plan_phase *phase = &p->phases[p->count++];
    *phase = (rad_plan_phase){.runs = UINT64_MAX};
    snprintf(phase->name, sizeof phase->name, "%s", name);
    p->rows[p->row_count - 1].count++;
    return phase;
}

/* By name, with or without an argument. */
static bool strategy_is(const char *strategy, const char *name)
{
    size_t length = strcspn(strategy, ":");
    return length == strlen(name) && memcmp(strategy, name, length) == 0;
}

static rad_plan_phase *plan_sample(rad_plan *p, const char *policy)
{
    rad_plan_phase *phase = plan_add(p, policy);
    phase->learns = strategy_is(policy, "surw") || strategy_is(policy, "pct");
    return phase;
}

static rad_plan_phase *plan_tree(rad_plan *p, const char *name)
{
    rad_plan_phase *phase = plan_add(p, name);
    phase->tree = true;
    return phase;
}

static void plan_spins(rad_plan *p, const rad_case *c, uint64_t share);

/* Bounds 0, 1, … limit; each pass repeats the lower ones, which cost little beside it. */
static void plan_bounds(rad_plan *p, enum rad_bound bound, uint64_t limit)
{
    for (uint64_t b = 0; b <= limit && p->count < RAD_PHASES_MAX; b++) {
        char name[32];
        snprintf(name, sizeof name, "%s:%llu", bound == RAD_BOUND_DELAYS ? "delay" : "preempt", (unsigned long long)b);
        rad_plan_phase *phase = plan_tree(p, name);
        phase->bound = bound;
        phase->bound_limit = b;
    }
}

/* Shares: surw finds the rare orderings, the bounds find the small bugs and end small machines; the others are
 * insurance. First turns are small, so that nobody waits long for the strategy that suits the bug. */
static void plan_auto(rad_plan *p, const rad_case *c)
{
    plan_row(p, 1);
    plan_sample(p, "baseline")->runs = 1;
    plan_row(p, 2);
    plan_sample(p, "random");
    plan_row(p, 6);
    plan_sample(p, "surw");
    plan_row(p, 2);
    plan_sample(p, "pct:3");
    plan_row(p, 2);
    plan_sample(p, "pos");
    plan_row(p, 4);
    plan_bounds(p, RAD_BOUND_PREEMPTIONS, DEEPEN_MAX);
    plan_spins(p, c, 2);
    if (c->spin_rounds > 0) return;
    plan_row(p, 1);
    p->rows[p->row_count - 1].spins = true;
    rad_plan_phase *drawn = plan_sample(p, "pct:3+spin:128");
    drawn->spin_rounds = 128;
}

/* Schedules that are not fair at first: a loop that ends by itself comes to its end before others go first. How many
 * rounds it needs is not known, so they grow. Each preemption may come in each of them, so they are fewer where there
 * is one. A run that is cut soon has room for few. */
static void plan_spins(rad_plan *p, const rad_case *c, uint64_t share)
{
    static const struct {
        uint32_t rounds, preemptions;
    } phases[] = {{16, 0}, {128, 0}, {1000, 0}, {16, 1}, {128, 1}, {16, 2}};
    uint64_t most = (c->max_steps ? c->max_steps : RAD_MAX_STEPS_DEFAULT) / SPIN_SHARE;
    const rad_plan_phase *before = NULL;
    if (most == 0 || c->spin_rounds > 0) return; /* the case itself says how many */
    plan_row(p, share);
    p->rows[p->row_count - 1].spins = true;
    for (uint32_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        uint32_t rounds = phases[i].rounds < most ? phases[i].rounds : (uint32_t)most;
        if (before && before->bound_limit == phases[i].preemptions && before->spin_rounds == rounds) continue;
        char name[32];
        snprintf(name, sizeof name, "preempt:%" PRIu32 "+spin:%" PRIu32, phases[i].preemptions, rounds);
        rad_plan_phase *phase = plan_tree(p, name);
        phase->bound = RAD_BOUND_PREEMPTIONS;
        phase->bound_limit = phases[i].preemptions;
        phase->spin_rounds = rounds;
        before = phase;
    }
}

static bool plan_number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    unsigned long long number = strtoull(text, &end, 10);
    *value = number;
    return *end == 0 && number <= max;
}

static int plan_bounded(rad_plan *p, const char *strategy, enum rad_bound bound, rad_error *error)
{
    uint64_t limit = 0;
    const char *number = strchr(strategy, ':');
    if (number == NULL || !plan_number(number + 1, BOUND_MAX, &limit))
        return rad__error(error, RAD_EINPUT, "strategy '%s': expected a bound from 0 to %d after the colon, such as %s",
                          strategy, BOUND_MAX, bound == RAD_BOUND_DELAYS ? "delay:2" : "preempt:2");
    if (limit < RAD_PHASES_MAX) {
        plan_bounds(p, bound, limit);
    } else {
        rad_plan_phase *phase = plan_tree(p, strategy);
        phase->bound = bound;
        phase->bound_limit = limit;
    }
    return 0;
}

static bool policy_is_known(const char *strategy)
{
    size_t length = strcspn(strategy, ":");
    for (uint32_t i = 0; rad__policy_class_at(i) != NULL; i++) {
        const char *name = rad__policy_class_at(i)->name;
        if (strlen(name) == length && strncmp(name, strategy, length) == 0) return true;
    }
    return rad__user_policy_find(strategy) != NULL;
}

/* Every run of it would be the same. */
static bool policy_runs_once(const char *strategy)
{
    const rad_policy_table *t = rad__user_policy_find(strategy);
    return strcmp(strategy, "first") == 0 || strcmp(strategy, "fair") == 0 || (t != NULL && t->same_every_run);
}

int rad__plan(rad_plan *p, const char *strategy, const rad_target *t, rad_error *error)
{
    const rad_machine *m = t->machine;
    *p = (rad_plan){0};
    if (strategy == NULL) strategy = "auto";
    if (strlen(strategy) >= sizeof p->phases[0].name)
        return rad__error(error, RAD_EINPUT, "strategy '%.40s…' is longer than any there is", strategy);
    if (strcmp(strategy, "auto") == 0) {
        plan_auto(p, &t->c);
        return 0;
    }
    plan_row(p, UINT64_MAX); /* the only one: its turn does not end */
    if (strategy_is(strategy, "preempt")) return plan_bounded(p, strategy, RAD_BOUND_PREEMPTIONS, error);
    if (strategy_is(strategy, "delay")) return plan_bounded(p, strategy, RAD_BOUND_DELAYS, error);
    if (strcmp(strategy, "dfs") == 0 || strcmp(strategy, "dedup") == 0) {
        rad_plan_phase *phase = plan_tree(p, strategy);
        phase->dedup = strcmp(strategy, "dedup") == 0;
        if (phase->dedup && m->state == NULL)
            return rad__error(error, RAD_EINPUT, "strategy dedup: machine '%s' does not give its whole state", m->name);
        if (!phase->dedup) plan_spins(p, &t->c, UINT64_MAX);
        return 0;
    }
    rad_policy *policy = NULL;
    rad_error unknown = {0};
    int code = rad__policy_create(&policy, strategy, &unknown);
    rad__policy_destroy(policy);
    if (code == RAD_ENOMEM) return rad__error_memory(error);
    if (code != 0 && policy_is_known(strategy)) /* but not with this argument */
        return rad__error(error, code, "%s", unknown.text);
    if (code != 0)
        return rad__error(error, RAD_EINPUT,
                          "unknown strategy '%s'; use auto, first, random, fair, pct:D, surw, pos, dfs, "
                          "preempt:K, delay:K, dedup or a policy of a shared object (--strategy ./FILE.so)",
                          strategy);
    rad_plan_phase *phase = plan_sample(p, strategy);
    if (policy_runs_once(strategy)) phase->runs = 1;
    return 0;
}
