/* test_judge_policies.c — how policies choose on random small machines. Rules are played by hand; chances are counted
 * over every decision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weave_trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

static uint32_t choose_first(void *context, const struct weave_decision *d)
{
    (void)context;
    return d->kind == RAD_PICK_ACTION ? d->first : 0;
}

/* What the machine prefers: the last action, if an even number of steps was made. It does not know who is held back. */
static uint32_t choose_own(void *context, const struct weave_decision *d)
{
    uint32_t best = 0;
    (void)context;
    if (d->kind != RAD_PICK_ACTION || d->step % 2 == 1) return 0;
    for (uint32_t i = 1; i < d->count; i++)
        if (d->actions[i] > d->actions[best]) best = i;
    for (uint32_t i = d->actions[best] + 1u; i < WEAVE_ACTIONS; i++)
        if (d->enabled[i]) return 0;
    return best;
}

/* Round robin: the actor that came next after the current one, and its action of the smallest number. */
static uint32_t choose_fair(void *context, const struct weave_decision *d)
{
    uint32_t best = 0, best_distance = UINT32_MAX;
    (void)context;
    if (d->kind != RAD_PICK_ACTION) return 0;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t number = d->numbers[d->actions[i] / 2 * 2],
                 current = d->current < WEAVE_ACTORS ? d->numbers[2 * d->current] : 255;
        uint32_t distance =
            ((number + 256 - current - 1) % 256) * 65536 + d->since[d->actions[i]] * 256u + d->numbers[d->actions[i]];
        if (distance < best_distance) best = i, best_distance = distance;
    }
    return best;
}

static void judge_rule(const struct weave_trial *trial, const char *policy, weave_chooser *rule)
{
    struct weave_book scratch = {0};
    struct weave_leaf leaf;
    rad_verdict v = {0};
    rad_error error = {0};
    rad_run_request r = {.policy = policy, .seed = 1};
    weave_run_by(&trial->w, rule, NULL, &scratch, &leaf);
    weave_spy_forget();
    weave_check(trial, rad_lab_run(&trial->t, &r, &v, &error) == 0, "%s: %s", policy, error.text);
    const struct weave_leaf *got = weave_find(&trial->b, weave_spy()->runs[0].path);
    weave_check(trial, weave_spy()->count == 1 && got, "%s: no schedule", policy);
    if (got->path != leaf.path)
        for (uint32_t i = 0; i < got->decisions || i < leaf.decisions; i++)
            print_message("# decision %u: %u, expected %u\n", i, got->choices[i], leaf.choices[i]);
    weave_check(trial, got->path == leaf.path, "%s: another schedule", policy);
    weave_check(trial, v.steps == leaf.steps && v.decisions == leaf.decisions, "%s", policy);
    weave_book_free(&scratch);
}

static void rules_are_kept(void **state)
{
    (void)state;
    uint32_t at = 0;
    for (uint32_t n = weave_times(150); n-- > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_SOME, false);
        judge_rule(&trial, "first", choose_first);
        judge_rule(&trial, "own", choose_own);
        judge_rule(&trial, "fair", choose_fair);
        weave_trial_free(&trial);
    }
}

/* ---- Chances ---------------------------------------------------------------------------------------------------- */

struct chances {
    double squares;
    uint32_t freedom;
};

static void add_cell(struct chances *c, double seen, double expected)
{
    c->squares += (seen - expected) * (seen - expected) / expected;
}

/* Leaves [from, to) agree in their first `depth` choices; every choice at that decision is equally likely. */
static void judge_node(const struct weave_trial *trial, const uint32_t *hits, uint32_t from, uint32_t to,
                       uint32_t depth, struct chances *c)
{
    uint32_t starts[64], groups = 0, visits = 0;
    const struct weave_leaf *leaves = trial->b.leaves;
    for (uint32_t i = from; i < to; i++) {
        visits += hits[i];
        if (to - from > 1 && (i == from || leaves[i].choices[depth] != leaves[i - 1].choices[depth]))
            starts[groups++] = i;
    }
    if (groups == 0 || visits < 5 * groups) return;
    starts[groups] = to;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t seen = 0;
        for (uint32_t i = starts[g]; i < starts[g + 1]; i++) seen += hits[i];
        add_cell(c, seen, (double)visits / groups);
        judge_node(trial, hits, starts[g], starts[g + 1], depth + 1, c);
    }
    c->freedom += groups - 1;
}

static uint32_t *count_hits(const struct weave_trial *trial, uint32_t from)
{
    uint32_t *hits = calloc(trial->b.count, sizeof *hits);
    assert_non_null(hits);
    for (uint32_t i = from; i < weave_spy()->count; i++) {
        const struct weave_leaf *leaf = weave_find(&trial->b, weave_spy()->runs[i].path);
        weave_check(trial, leaf, "run %u is no schedule", i);
        hits[leaf - trial->b.leaves]++;
    }
    return hits;
}

static void judge_chances(const struct weave_trial *trial, const struct chances *c, const char *policy)
{
    double off = (c->squares - c->freedom) / sqrt(2.0 * c->freedom);
    weave_check(trial, c->freedom == 0 || off < 6, "%s: chi-square %.1f with %u degrees of freedom", policy, c->squares,
                c->freedom);
}

static void random_is_uniform_at_every_decision(void **state)
{
    (void)state;
    uint32_t at = 100000;
    for (uint32_t n = weave_times(8); n-- > 0;) {
        struct weave_trial trial;
        struct chances c = {0};
        weave_draw(&trial, &at, WEAVE_FEW, false);
        rad_explore_options o = {.strategy = "random", .seed = n, .runs = 4000};
        rad_exploration x = weave_explore(&trial, &o);
        uint32_t *hits = count_hits(&trial, 0);
        judge_node(&trial, hits, 0, trial.b.count, 0, &c);
        judge_chances(&trial, &c, "random");
        free(hits);
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
}

static struct weave_trial additions(int64_t fixed, int64_t actors, int64_t ops)
{
    struct weave_trial trial = {.c = {1, actors, ops, 0, fixed}};
    weave_make(&trial.w, &trial.c);
    weave_brute(&trial.w, WEAVE_MANY, &trial.b);
    trial.t = weave_target(&trial.c);
    return trial;
}

/* Every event is on one object: each interleaving is equally likely, once the numbers of events are known. */
static void surw_is_uniform_over_interleavings(void **state)
{
    static const struct {
        int64_t fixed, actors, ops;
        uint32_t schedules;
    } cases[] = {{WEAVE_EQUAL, 2, 3, 20}, {WEAVE_EQUAL, 3, 2, 90}, {WEAVE_UNEQUAL, 3, 4, 60}, {WEAVE_UNEQUAL, 2, 4, 3}};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct weave_trial trial = additions(cases[i].fixed, cases[i].actors, cases[i].ops);
        struct chances c = {.freedom = trial.b.count - 1};
        assert_int_equal(trial.b.count, cases[i].schedules);
        rad_explore_options o = {.strategy = "surw", .seed = 5, .runs = 6000};
        rad_exploration x = weave_explore(&trial, &o);
        uint32_t *hits = count_hits(&trial, 300);
        for (uint32_t l = 0; l < trial.b.count; l++) add_cell(&c, hits[l], 5700.0 / trial.b.count);
        judge_chances(&trial, &c, "surw");
        free(hits);
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
}

/* ---- Priorities ------------------------------------------------------------------------------------------- */

struct priorities {
    uint8_t rank[WEAVE_ACTORS]; /* the smallest runs */
    int change_at;              /* the decision at which the one that would run becomes the last; -1: none */
    int decision;
};

static uint32_t highest(const struct priorities *p, const struct weave_decision *d)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < d->count; i++) {
        uint8_t one = p->rank[d->actions[i] / 2], other = p->rank[d->actions[best] / 2];
        if (one < other || (one == other && d->numbers[d->actions[i]] < d->numbers[d->actions[best]])) best = i;
    }
    return best;
}

static uint32_t choose_by_priority(void *context, const struct weave_decision *d)
{
    struct priorities *p = context;
    if (d->kind != RAD_PICK_ACTION) return 0;
    uint32_t best = highest(p, d);
    if (p->decision++ == p->change_at) {
        p->rank[d->actions[best] / 2] = WEAVE_ACTORS;
        best = highest(p, d);
    }
    return best;
}

/* Calls with every order of the actors. */
static void permute(uint8_t *rank, uint32_t done, void (*use)(void *, const uint8_t *), void *context)
{
    if (done == WEAVE_ACTORS) {
        use(context, rank);
        return;
    }
    for (uint32_t i = done; i < WEAVE_ACTORS; i++) {
        uint8_t t = rank[done];
        rank[done] = rank[i], rank[i] = t;
        permute(rank, done + 1, use, context);
        t = rank[done], rank[done] = rank[i], rank[i] = t;
    }
}

struct reach {
    const struct weave_trial *trial;
    struct weave_book scratch;
    uint32_t *orders; /* that lead to each schedule */
    int changes;
};

static void reach_by(void *context, const uint8_t *rank)
{
    struct reach *r = context;
    for (int at = -1; at < (r->changes ? WEAVE_STEPS : 0); at++) {
        struct priorities p = {.change_at = at};
        struct weave_leaf leaf;
        memcpy(p.rank, rank, sizeof p.rank);
        weave_run_by(&r->trial->w, choose_by_priority, &p, &r->scratch, &leaf);
        r->orders[weave_find(&r->trial->b, leaf.path) - r->trial->b.leaves]++;
        if (at >= p.decision) break;
    }
}

static uint32_t *reachable(const struct weave_trial *trial, int changes)
{
    struct reach r = {.trial = trial, .changes = changes};
    uint8_t rank[WEAVE_ACTORS];
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) rank[i] = (uint8_t)i;
    r.orders = calloc(trial->b.count, sizeof *r.orders);
    assert_non_null(r.orders);
    permute(rank, 0, reach_by, &r);
    weave_book_free(&r.scratch);
    return r.orders;
}

/* Every run is by priorities, with depth - 1 changes at most. Without changes, all orders of the actors are equally
 * likely; with one, runs that need it come, too: changed[0] counts them, changed[1] what there is of them. */
static void judge_pct(const struct weave_trial *trial, uint32_t seed, struct chances *c, uint32_t changed[2])
{
    uint32_t *plain = reachable(trial, 0);
    for (int depth = 1; depth <= 2; depth++) {
        rad_explore_options o = {.strategy = depth == 1 ? "pct:1" : "pct:2", .seed = seed, .runs = 1000};
        rad_exploration x = weave_explore(trial, &o);
        uint32_t *hits = count_hits(trial, 0), *orders = reachable(trial, depth - 1);
        for (uint32_t i = 0; i < trial->b.count; i++) {
            weave_check(trial, hits[i] == 0 || orders[i] > 0, "pct:%d: schedule %u is by no priorities", depth, i);
            changed[0] += plain[i] == 0 && hits[i] > 0;
            changed[1] += plain[i] == 0 && orders[i] > 0;
            if (depth == 2 || orders[i] == 0) continue;
            add_cell(c, hits[i], 1000.0 * orders[i] / 720);
            c->freedom++;
        }
        free(hits);
        free(orders);
        rad_exploration_free(&x);
    }
    free(plain);
    c->freedom--;
}

static void pct_keeps_priorities(void **state)
{
    (void)state;
    uint32_t at = 200000, changed[2] = {0};
    for (uint32_t n = weave_times(8); n > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_FEW, false);
        if (trial.b.picks == 0 && trial.b.yields + trial.b.spins == 0) {
            struct chances c = {0};
            n--;
            judge_pct(&trial, n, &c, changed);
            judge_chances(&trial, &c, "pct:1");
        }
        weave_trial_free(&trial);
    }
    print_message("# pct:2 made %u of %u schedules that need a change\n", changed[0], changed[1]);
    assert_true(changed[0] >= changed[1] * 9 / 10 && changed[1] > 0);
}

/* ---- A long turn ------------------------------------------------------------------------------------------- */

/* Actor 0 runs until actor 1, which has one step, has stopped it. */
static struct spinner {
    uint32_t go[2];
    bool yields, fickle, stopped;
    uint64_t steps; /* of all runs */
} spinner;

static int spinner_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)error;
    spinner.yields = c->params[0] != 0;
    spinner.fickle = c->params[1] != 0;
    *self = &spinner;
    return 0;
}

static void spinner_destroy(void *self)
{
    (void)self;
}

static void spinner_reset(void *self, rad_kernel *k)
{
    struct spinner *s = self;
    s->stopped = false;
    for (int i = 0; i < 2; i++) {
        s->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "spinner"), RAD_NONE, 0);
        rad_enable(k, s->go[i]);
    }
}

static void spinner_step(void *self, rad_kernel *k, uint32_t action)
{
    struct spinner *s = self;
    if (action == s->go[1] || s->stopped) rad_disable(k, action);
    if (action == s->go[1]) s->stopped = true;
    if (s->yields) rad_yields(k);
    if (s->fickle) rad_value(k, s->steps++);
}

static enum rad_end spinner_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const rad_param spinner_params[] = {{.name = "yields", .max = 1, .about = "after each step"},
                                           {.name = "fickle", .max = 1, .about = "remembers the run before"},
                                           {0}};
static const rad_machine spinner_machine = {.name = "spinner",
                                            .about = "one spins, one stops it",
                                            .params = spinner_params,
                                            .bug_site = RAD_NONE,
                                            .progresses = true, /* long turns are none of fairness's */
                                            .create = spinner_create,
                                            .destroy = spinner_destroy,
                                            .reset = spinner_reset,
                                            .step = spinner_step,
                                            .idle = spinner_idle};

/* The baseline leaves an actor after 1,000 steps, or when it yields. The last step is of the one that was stopped. */
static void the_baseline_ends_long_turns(void **state)
{
    (void)state;
    for (int yields = 0; yields < 2; yields++) {
        rad_target t = {.machine = &spinner_machine, .c = {.params = {yields, 0}}};
        rad_run_request r = {.policy = "own", .seed = 1}; /* it has no opinion: the baseline */
        rad_verdict v = {0};
        rad_error error = {0};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        assert_int_equal(v.result, RAD_RESULT_PASS);
        assert_int_equal(v.steps, yields ? 3 : 1002);
        assert_int_equal(v.decisions, yields ? 2 : 1001);
    }
}

/* A run that is not a function of its choices is found by running everything twice, and not otherwise. */
static void a_fickle_machine_is_found_by_running_twice(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool fickle = i & 1, twice = i & 2;
        rad_target t = {.machine = &spinner_machine, .c = {.params = {1, fickle}}};
        rad_explore_options o = {.strategy = "random", .seed = 1, .runs = 20, .twice = twice};
        rad_exploration x = {0};
        rad_error error = {0};
        assert_int_equal(rad_lab_explore(&t, &o, &x, &error), 0);
        assert_int_equal(x.failures, fickle && twice ? 20 : 0);
        if (x.finding_count > 0)
            assert_string_equal(rad_artifact_verdict(x.findings[0].artifact)->identity, "nondeterminism");
        rad_exploration_free(&x);
    }
}

/* ---- Logs ------------------------------------------------------------------------------------------------- */

/* A log of a run replays to the same end, and so does its artifact. */
static void logs_replay_strictly(void **state)
{
    static const char *const policies[] = {"random", "first", "fair", "own", "pct:2", "surw"};
    (void)state;
    uint32_t at = 300000;
    for (uint32_t n = weave_times(40); n-- > 0;) {
        struct weave_trial trial;
        char path[200];
        weave_draw(&trial, &at, WEAVE_SOME, false);
        snprintf(path, sizeof path, "%s", weave_file("run.log"));
        rad_artifact *a = NULL;
        rad_run_request r = {.policy = policies[n % 6], .seed = n, .log = path, .artifact = &a};
        rad_verdict v = {0}, again = {0};
        rad_target t = {0};
        rad_error error = {0};
        rad_replay replay = {0};
        weave_spy_forget();
        weave_check(&trial, rad_lab_run(&trial.t, &r, &v, &error) == 0, "%s", error.text);
        const struct weave_leaf *leaf = weave_find(&trial.b, weave_spy()->runs[0].path);
        weave_check(&trial, leaf && v.steps == leaf->steps && v.decisions == leaf->decisions, "%s", r.policy);
        weave_check(&trial, rad_lab_replay_log(path, &t, &again, &error) == 0, "%s", error.text);
        weave_check(&trial, weave_spy()->count == 2 && weave_spy()->runs[1].path == leaf->path, "%s: another run",
                    r.policy);
        weave_check(&trial, again.result == v.result && strcmp(again.trace_hash, v.trace_hash) == 0, "%s: %s", r.policy,
                    again.divergence);
        weave_check(&trial, rad_lab_replay(a, NULL, &replay, &error) == 0 && replay.as_recorded, "%s", replay.reason);
        weave_check(&trial, strcmp(replay.actual.trace_hash, v.trace_hash) == 0, "%s: digest of the artifact",
                    r.policy);
        rad_target_free(&t);
        rad_artifact_free(a);
        weave_trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_kept),
        cmocka_unit_test(random_is_uniform_at_every_decision),
        cmocka_unit_test(surw_is_uniform_over_interleavings),
        cmocka_unit_test(pct_keeps_priorities),
        cmocka_unit_test(the_baseline_ends_long_turns),
        cmocka_unit_test(a_fickle_machine_is_found_by_running_twice),
        cmocka_unit_test(logs_replay_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
