/* test_judge_explore.c — searches of the lab on random small machines, judged by brute force.
 *
 * The brute force (weave_brute.c) knows nothing of the lab: it has every schedule with its decisions, preemptions,
 * delays, class, outcome and failure. The machine writes down every run that the lab makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_support.h"
#include "weave_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t failing(const struct weave_trial *trial, int identity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trial->b.count; i++) {
        int of = trial->b.leaves[i].identity;
        count += identity < 0 ? of >= 0 : of == identity;
    }
    return count;
}

static int identity_number(const struct weave_trial *trial, const char *name)
{
    for (uint32_t i = 0; i < trial->b.identity_count; i++)
        if (strcmp(trial->b.identities[i], name) == 0) return (int)i;
    return -1;
}

/* The schedule of run `run` of one job. */
static const struct weave_leaf *spied(const struct weave_trial *trial, uint64_t run)
{
    return weave_find(&trial->b, weave_spy()->runs[run].path);
}

/* A finding is what the run of that number was, and replays. */
static void judge_finding(const struct weave_trial *trial, const rad_finding *f, const struct weave_leaf *leaf)
{
    uint32_t list[WEAVE_DECISIONS], length = weave_choices(f->artifact, list, WEAVE_DECISIONS);
    const rad_verdict *v = rad_artifact_verdict(f->artifact);
    struct weave_book scratch = {0};
    struct weave_leaf again;
    rad_replay replay = {0};
    rad_error error = {0};
    weave_run_list(&trial->w, list, length, &scratch, &again);
    weave_check(trial, again.path == leaf->path, "%s: the choices are another run", v->identity);
    weave_check(trial, length == leaf->length, "%s: %u choices, expected %u", v->identity, length, leaf->length);
    weave_check(trial, v->steps == leaf->steps && v->decisions == leaf->decisions, "%s: %" PRIu64 " steps", v->identity,
                v->steps);
    uint64_t step = leaf->oracle == RAD_ORACLE_DEADLOCK ? leaf->steps : leaf->steps - 1u;
    weave_check(trial, v->failure_step == step, "%s: at step %" PRIu64, v->identity, v->failure_step);
    weave_check(trial, rad_lab_replay(f->artifact, NULL, &replay, &error) == 0 && replay.as_recorded, "%s: %s %s",
                v->identity, replay.reason, error.text);
    weave_check(trial, strcmp(replay.actual.trace_hash, v->trace_hash) == 0, "%s", v->identity);
    weave_book_free(&scratch);
}

/* Findings of an exploration whose every run was spied in order. */
static void judge_findings(const struct weave_trial *trial, const rad_exploration *x, const char *where)
{
    uint64_t failures = 0;
    weave_check(trial, weave_spy()->count == x->runs, "%s: %u runs came to their end", where, weave_spy()->count);
    for (uint32_t i = 0; i < x->finding_count; i++) {
        const rad_finding *f = &x->findings[i];
        const rad_verdict *v = rad_artifact_verdict(f->artifact);
        int identity = identity_number(trial, v->identity);
        uint64_t first = UINT64_MAX, times = 0;
        weave_check(trial, identity >= 0, "%s: %s is no failure of it", where, v->identity);
        for (uint64_t run = 0; run < x->runs; run++) {
            if (spied(trial, run)->identity != identity) continue;
            if (times++ == 0) first = run;
        }
        weave_check(trial, f->run == first && f->failures == times,
                    "%s: %s in run %" PRIu64 ", %" PRIu64 " times; expected %" PRIu64 ", %" PRIu64, where, v->identity,
                    f->run, f->failures, first, times);
        weave_check(trial, i == 0 || x->findings[i - 1].run < f->run, "%s: order of findings", where);
        judge_finding(trial, f, spied(trial, f->run));
        failures += f->failures;
    }
    for (uint64_t run = 0, seen = 0; run < x->runs; run++) {
        seen += spied(trial, run)->identity >= 0;
        weave_check(trial, run + 1 < x->runs || seen == failures,
                    "%s: %" PRIu64 " failing runs in findings, %" PRIu64 " seen", where, failures, seen);
    }
    weave_check(trial, x->failures == failures, "%s: %" PRIu64 " failures", where, x->failures);
}

/* ---- Every schedule ------------------------------------------------------------------------------------------ */

static void judge_totals(const struct weave_trial *trial, const rad_exploration *x)
{
    const struct weave_book *b = &trial->b;
    weave_check(trial, x->runs == b->count && x->steps == b->steps,
                "%" PRIu64 " runs, %" PRIu64 " steps, expected %u, %" PRIu64, x->runs, x->steps, b->count, b->steps);
    weave_check(trial, x->failures == failing(trial, -1), "%" PRIu64 " failures", x->failures);
    weave_check(trial, x->finding_count == b->identity_count, "%u kinds of failure, expected %u", x->finding_count,
                b->identity_count);
    weave_check(trial, x->classes == weave_distinct(b, weave_class_of) && !x->classes_capped,
                "%" PRIu64 " classes, expected %u", x->classes, weave_distinct(b, weave_class_of));
    weave_check(trial, x->site_count == WEAVE_OP_KINDS, "%u sites", x->site_count);
    for (uint32_t i = 0; i < WEAVE_OP_KINDS; i++)
        weave_check(trial, (x->site_reached[i] != 0) == b->reached[i], "site %s", weave_op_name(i));
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) {
        uint64_t expected = i == RAD_ORACLE_LIVELOCK ? x->evaluations[i] : b->evaluations[i];
        weave_check(trial, x->evaluations[i] == expected, "oracle %u: %" PRIu64 " evaluations, expected %" PRIu64, i,
                    x->evaluations[i], expected);
    }
}

static uint8_t phase_of[WEAVE_SPIED];

/* Every third one spins. */
static void draw(struct weave_trial *trial, uint32_t n, uint32_t *at, uint32_t limit)
{
    if (n % 3 == 0)
        weave_draw_spinning(trial, at, limit);
    else
        weave_draw(trial, at, limit, false);
}

static void dfs_tries_every_schedule_once(void **state)
{
    (void)state;
    uint32_t at = 0, held = 0;
    for (uint32_t n = weave_times(60); n-- > 0;) {
        struct weave_trial trial;
        draw(&trial, n, &at, WEAVE_MANY);
        rad_explore_options o = {.strategy = "dfs", .seed = 1, .runs = WEAVE_SPIED, .fair_only = true};
        rad_exploration x = weave_explore(&trial, &o);
        judge_totals(&trial, &x);
        weave_phases(&x, false, phase_of);
        weave_same_set(&trial, phase_of, 0, weave_any, 0, "dfs");
        judge_findings(&trial, &x, "dfs");
        weave_check(&trial,
                    x.complete && x.phase_count == 1 && x.phases[0].bounded && x.phases[0].exhausted &&
                        !x.phases[0].pruned && !x.phases[0].endless && x.phases[0].runs == x.runs,
                    "phase %s", x.phases[0].name);
        weave_check(&trial, (x.held > 0) == (trial.b.held > 0), "%" PRIu64 " runs held", x.held);
        held += x.held > 0;
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
    assert_true(held >= 20);
}

/* ---- Spin rounds: an actor comes behind nobody in its first rounds ----------------------------------------------- */

static void spin_rounds_are_exact(void **state)
{
    (void)state;
    uint32_t at = 30000, judged = 0, more = 0, bounded = 0;
    for (uint32_t n = weave_times(45); n-- > 0;) {
        struct weave_trial trial;
        weave_draw_spinning(&trial, &at, WEAVE_SOME);
        uint32_t fair = trial.b.count;
        trial.t.c.spin_rounds = 1 + n % 4;
        if (weave_spin_on(&trial, (uint8_t)trial.t.c.spin_rounds, WEAVE_MANY)) {
            rad_explore_options o = {.strategy = "dfs", .seed = 1, .runs = WEAVE_SPIED};
            rad_exploration x = weave_explore(&trial, &o);
            judge_totals(&trial, &x);
            weave_phases(&x, false, phase_of);
            weave_same_set(&trial, phase_of, 0, weave_any, 0, "dfs");
            judge_findings(&trial, &x, "dfs with spin rounds");
            weave_check(&trial, x.complete && x.phase_count == 1 && (x.held > 0) == (trial.b.held > 0), "%u phases",
                        x.phase_count);
            judged++;
            more += trial.b.count > fair;
            bounded += x.held == 0;
            rad_exploration_free(&x);
        }
        weave_trial_free(&trial);
    }
    print_message("# %u judged, %u with more schedules than fair ones, in %u all that there are\n", judged, more,
                  bounded);
    assert_true(judged >= 25 && more >= 15 && bounded >= 4);
}

/* After the fair schedules: those in which a loop comes to its end first, with at most 0, 1, 2 preemptions. */
static void loops_come_to_their_end(void **state)
{
    (void)state;
    uint32_t at = 40000, found = 0, judged = 0;
    for (uint32_t n = weave_times(30); n-- > 0;) {
        struct weave_trial trial;
        weave_draw_trying(&trial, &at, WEAVE_SOME);
        uint32_t fair = trial.b.count, known = trial.b.identity_count;
        rad_explore_options o = {.strategy = "dfs", .runs = WEAVE_SPIED};
        if (weave_spin_on(&trial, 16, 20 * WEAVE_MANY)) {
            rad_exploration x = weave_explore(&trial, &o);
            weave_phases(&x, false, phase_of);
            weave_check(&trial, x.complete && x.phases[0].runs == fair && x.phase_count >= 2, "%u", x.phase_count);
            for (uint8_t p = 1; p < x.phase_count; p++) {
                const rad_phase *now = &x.phases[p];
                weave_check(&trial, now->spin_rounds == 16 && now->preemptions == p - 1u, "%s", now->name);
                weave_same_set(&trial, phase_of, p, weave_within_preemptions, p - 1u, now->name);
                weave_check(&trial, now->exhausted && !now->endless && !now->spent, "%s", now->name);
            }
            weave_check(&trial, x.phase_count == 4 || !x.phases[x.phase_count - 1].pruned, "%u", x.phase_count);
            for (uint32_t i = 0; i < x.finding_count; i++) {
                rad_replay replay = {0};
                rad_error error = {0};
                int code = rad_lab_replay(x.findings[i].artifact, NULL, &replay, &error);
                weave_check(&trial, code == 0 && replay.as_recorded, "%s", replay.reason);
            }
            judged++;
            found += x.finding_count > known;
            rad_exploration_free(&x);
        }
        weave_trial_free(&trial);
    }
    assert_true(judged >= 25 && found >= 1);
}

/* ---- Bounds --------------------------------------------------------------------------------------------------- */

/* A strategy with bound K makes a phase for each of 0 … K, until one of them sees everything. */
static void judge_bounds(const struct weave_trial *trial, const char *word, uint32_t highest, weave_wanted *wanted)
{
    char strategy[24];
    snprintf(strategy, sizeof strategy, "%s:%u", word, highest);
    rad_explore_options o = {.strategy = strategy, .seed = 1, .runs = WEAVE_SPIED};
    rad_exploration x = weave_explore(trial, &o);
    uint32_t from = 0;
    uint8_t phase = 0;
    bool all = false;
    weave_phases(&x, false, phase_of);
    for (uint32_t bound = 0; bound <= highest && !all; bound++, phase++) {
        const rad_phase *p = &x.phases[phase];
        char name[24];
        snprintf(name, sizeof name, "%s:%u", word, bound);
        weave_check(trial, phase < x.phase_count && strcmp(p->name, name) == 0, "%s: phase %s", name, p->name);
        weave_same_set(trial, phase_of, phase, wanted, bound, name);
        all = p->runs == trial->b.count;
        weave_check(trial, p->bounded && p->exhausted && p->pruned == !all && !p->endless, "%s: %d %d %d", name,
                    p->bounded, p->exhausted, p->pruned);
        from += (uint32_t)p->runs;
    }
    weave_check(trial, x.phase_count == phase && x.complete == all && x.runs == from, "%s: %u phases", strategy,
                x.phase_count);
    judge_findings(trial, &x, strategy);
    rad_exploration_free(&x);
}

static void bounds_are_exact(void **state)
{
    (void)state;
    uint32_t at = 100000;
    struct weave_trial found; /* two yield, and one is let come back by the other: the first is the baseline */
    weave_again(&found, 20261118100170, WEAVE_SPINNING, WEAVE_SOME);
    judge_bounds(&found, "delay", 4, weave_within_delays);
    weave_trial_free(&found);
    for (uint32_t n = weave_times(45); n-- > 0;) {
        struct weave_trial trial;
        draw(&trial, n, &at, WEAVE_SOME);
        judge_bounds(&trial, "preempt", n % 5, weave_within_preemptions);
        judge_bounds(&trial, "delay", n % 7, weave_within_delays);
        weave_trial_free(&trial);
    }
}

/* ---- States ---------------------------------------------------------------------------------------------------- */

static bool outcome_was_seen(uint64_t outcome)
{
    const struct weave_spy *spy = weave_spy();
    for (uint32_t i = 0; i < spy->count; i++)
        if (spy->runs[i].outcome == outcome) return true;
    return false;
}

static void dedup_meets_every_state_and_outcome(void **state)
{
    (void)state;
    uint32_t at = 200000;
    for (uint32_t n = weave_times(60); n-- > 0;) {
        struct weave_trial trial;
        draw(&trial, n, &at, WEAVE_MANY);
        rad_explore_options o = {.strategy = "dedup", .seed = 1, .runs = WEAVE_SPIED};
        rad_exploration x = weave_explore(&trial, &o);
        for (uint32_t i = 0; i < weave_spy()->count; i++)
            weave_check(&trial, weave_find(&trial.b, weave_spy()->runs[i].path), "run %u is no schedule", i);
        for (uint32_t i = 0; i < trial.b.count; i++)
            weave_check(&trial, outcome_was_seen(trial.b.leaves[i].outcome), "the outcome of schedule %u was not met",
                        i);
        /* Of a machine that yields or repeats looks, a state is one for each way in which that bears on the future. */
        weave_check(&trial, trial.b.plain ? x.states == trial.b.state_count : x.states >= trial.b.state_count,
                    "%" PRIu64 " states, expected %u", x.states, trial.b.state_count);
        /* Who spins comes back to a state, which dedup takes for the beginning of an endless schedule. */
        weave_check(&trial, x.runs <= trial.b.count && (x.complete || !trial.b.plain), "%" PRIu64 " runs", x.runs);
        weave_check(&trial, x.finding_count == trial.b.identity_count, "%u findings", x.finding_count);
        for (uint32_t i = 0; i < x.finding_count; i++) {
            rad_replay replay = {0};
            rad_error error = {0};
            const char *name = rad_artifact_verdict(x.findings[i].artifact)->identity;
            weave_check(&trial, identity_number(&trial, name) >= 0, "%s", name);
            weave_check(&trial,
                        rad_lab_replay(x.findings[i].artifact, NULL, &replay, &error) == 0 && replay.as_recorded,
                        "%s: %s", name, replay.reason);
        }
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
}

/* ---- Drawn runs ------------------------------------------------------------------------------------------------ */

static void drawn_runs_are_schedules(void **state)
{
    static const char *const strategies[] = {"random", "pct:1", "pct:2", "pct:3", "surw", "pos", "first", "fair"};
    (void)state;
    uint32_t at = 300000;
    for (uint32_t n = weave_times(18); n-- > 0;) {
        struct weave_trial trial;
        draw(&trial, n, &at, WEAVE_SOME);
        for (uint32_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
            rad_explore_options o = {.strategy = strategies[i], .seed = n, .runs = 60};
            rad_exploration x = weave_explore(&trial, &o);
            uint64_t expected = i < 6 ? 60 : 1;
            weave_check(&trial, x.runs == expected && x.phase_count == 1, "%s: %" PRIu64 " runs", strategies[i],
                        x.runs);
            for (uint64_t run = 0; run < x.runs; run++)
                weave_check(&trial, spied(&trial, run) != NULL, "%s: run %" PRIu64 " is no schedule", strategies[i],
                            run);
            judge_findings(&trial, &x, strategies[i]);
            weave_check(&trial, !x.complete && !x.phases[0].bounded && !x.phases[0].exhausted, "%s: complete",
                        strategies[i]);
            rad_exploration_free(&x);
        }
        weave_trial_free(&trial);
    }
}

/* A portfolio: its bounded phases are those of preempt:K, and it is complete when one of them saw everything. */
static void judge_portfolio(const struct weave_trial *trial, const rad_exploration *x)
{
    bool all = false;
    weave_phases(x, true, phase_of);
    for (uint8_t i = 0; i < x->phase_count; i++) {
        const rad_phase *p = &x->phases[i];
        if (!p->bounded || !p->exhausted) continue;
        uint32_t bound = (uint32_t)strtoul(p->name + 8, NULL, 10);
        weave_same_set(trial, phase_of, i, weave_within_preemptions, bound, p->name);
        weave_check(trial, p->pruned == (p->runs < trial->b.count), "%s: pruned", p->name);
        all = all || !p->pruned;
    }
    weave_check(trial, x->complete == all, "complete");
    weave_check(trial, all || trial->b.count > WEAVE_FEW, "few schedules, and not all were tried");
    if (!all) return;
    weave_check(trial, x->finding_count == trial->b.identity_count, "%u findings", x->finding_count);
    weave_check(trial, x->classes == weave_distinct(&trial->b, weave_class_of), "%" PRIu64 " classes", x->classes);
}

static void auto_finds_what_there_is(void **state)
{
    (void)state;
    uint32_t at = 400000;
    for (uint32_t n = weave_times(20); n-- > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, n % 3 ? WEAVE_FEW : WEAVE_SOME, false);
        rad_explore_options o = {.seed = n, .runs = 8000, .fair_only = true};
        rad_exploration x = weave_explore(&trial, &o);
        judge_findings(&trial, &x, "auto");
        judge_portfolio(&trial, &x);
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
}

/* Run i follows from the seed and the runs before it: what a small budget tries is where a large one begins. */
static void the_budget_only_says_where_to_stop(void **state)
{
    static const uint64_t budgets[] = {1, 2, 17, 40, 333, 2000};
    static struct weave_spied few[2000];
    (void)state;
    uint32_t at = 450000;
    for (uint32_t n = weave_times(12); n-- > 0;) {
        struct weave_trial trial;
        if (n % 3 == 0)
            weave_draw_trying(&trial, &at, WEAVE_SOME);
        else
            weave_draw(&trial, &at, n % 2 ? WEAVE_SOME : WEAVE_MANY, false);
        uint64_t budget = budgets[n % 6];
        rad_explore_options o = {.seed = n, .runs = budget};
        rad_exploration x = weave_explore(&trial, &o);
        uint64_t runs = x.runs, first = x.finding_count ? x.findings[0].run : UINT64_MAX;
        memcpy(few, weave_spy()->runs, runs * sizeof *few);
        rad_exploration_free(&x);
        o.runs = 6000;
        x = weave_explore(&trial, &o);
        weave_check(&trial, runs <= budget && runs <= x.runs && (runs == budget || runs == x.runs),
                    "%" PRIu64 " runs of %" PRIu64, runs, budget);
        for (uint64_t i = 0; i < runs; i++)
            weave_check(&trial, few[i].path == weave_spy()->runs[i].path,
                        "run %" PRIu64 " is another one with a larger budget", i);
        if (first != UINT64_MAX)
            weave_check(&trial, x.findings[0].run == first,
                        "the first failure is run %" PRIu64 ", with a larger budget %" PRIu64, first,
                        x.findings[0].run);
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
}

/* ---- Ways to search ---------------------------------------------------------------------------------------------- */

static void judge_equal(const struct weave_trial *trial, const rad_exploration *a, const rad_exploration *b, bool twice,
                        const char *where)
{
    rad_error error = {0};
    weave_check(trial, a->runs == b->runs && a->steps == b->steps && a->failures == b->failures, "%s: totals", where);
    weave_check(trial, a->classes == b->classes && a->states == b->states, "%s: classes, states", where);
    weave_check(trial, a->complete == b->complete && a->phase_count == b->phase_count, "%s: phases", where);
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++)
        weave_check(trial, twice || a->evaluations[i] == b->evaluations[i], "%s: oracle %u", where, i);
    weave_check(trial, memcmp(a->site_reached, b->site_reached, sizeof a->site_reached) == 0, "%s: sites", where);
    weave_check(trial, a->finding_count == b->finding_count, "%s: %u and %u findings", where, a->finding_count,
                b->finding_count);
    for (uint32_t i = 0; i < a->phase_count; i++) {
        const rad_phase *p = &a->phases[i], *q = &b->phases[i];
        weave_check(trial,
                    strcmp(p->name, q->name) == 0 && p->runs == q->runs && p->failures == q->failures &&
                        p->exhausted == q->exhausted && p->pruned == q->pruned,
                    "%s: phase %s", where, p->name);
    }
    for (uint32_t i = 0; i < a->finding_count; i++) {
        const rad_finding *f = &a->findings[i], *g = &b->findings[i];
        char *one = rad_artifact_json(f->artifact, &error), *two = rad_artifact_json(g->artifact, &error);
        weave_check(trial, f->run == g->run && f->failures == g->failures && strcmp(one, two) == 0, "%s: finding %u",
                    where, i);
        rad_free(one);
        rad_free(two);
    }
}

static const char *const ways[] = {"dfs",  "preempt:5", "delay:12", "dedup", "random", "pct:2",
                                   "surw", "auto",      "pos",      "fair",  "first"};
enum { WAYS = sizeof ways / sizeof *ways };

static void results_do_not_depend_on_jobs(void **state)
{
    (void)state;
    uint32_t at = 500000;
    for (uint32_t n = weave_times((uint32_t)storm_size(WAYS, 20)); n-- > 0;) {
        struct weave_trial trial;
        const char *way = ways[n % WAYS];
        bool tree = n % WAYS < 4;
        if (tree || n % 2)
            weave_draw(&trial, &at, tree ? WEAVE_MANY : WEAVE_SOME, false);
        else
            weave_draw_trying(&trial, &at, WEAVE_SOME);
        while (tree && trial.b.count < 1500) { /* workers share what does not fit into one piece of work */
            weave_trial_free(&trial);
            weave_draw(&trial, &at, WEAVE_MANY, false);
        }
        rad_explore_options o = {.strategy = way, .seed = n, .runs = tree ? 20000 : n % 3 == 0 ? 100 : 2000};
        rad_exploration one = weave_explore(&trial, &o);
        for (o.jobs = 2; o.jobs <= 3; o.jobs++) {
            rad_exploration more = weave_explore(&trial, &o);
            judge_equal(&trial, &one, &more, false, way);
            rad_exploration_free(&more);
        }
        o.jobs = 1;
        o.twice = true;
        rad_exploration twice = weave_explore(&trial, &o);
        judge_equal(&trial, &one, &twice, true, way);
        rad_exploration_free(&twice);
        rad_exploration_free(&one);
        weave_trial_free(&trial);
    }
}

/* 34,650 schedules: every phase is shared several times, and stays within its bound. */
static void shared_searches_keep_their_bounds(void **state)
{
    static const struct {
        const char *strategy;
        weave_wanted *wanted;
    } cases[] = {{"preempt:5", weave_within_preemptions}, {"delay:10", weave_within_delays}};
    struct weave_trial trial = {.c = {1, 3, 4, 0, WEAVE_EQUAL}};
    (void)state;
    weave_make(&trial.w, &trial.c);
    weave_brute(&trial.w, 40000, &trial.b);
    trial.t = weave_target(&trial.c);
    assert_int_equal(trial.b.count, 34650);
    for (uint32_t i = 0; i < 2; i++) {
        rad_explore_options o = {.strategy = cases[i].strategy, .seed = 1, .runs = 1000000, .jobs = 3};
        rad_exploration x = {0};
        rad_error error = {0};
        assert_int_equal(rad_lab_explore(&trial.t, &o, &x, &error), 0);
        for (uint32_t bound = 0; bound < x.phase_count; bound++) {
            uint32_t expected = weave_count(&trial, cases[i].wanted, bound);
            weave_check(&trial, x.phases[bound].runs == expected && x.phases[bound].exhausted,
                        "%s: %" PRIu64 " runs, expected %u", x.phases[bound].name, x.phases[bound].runs, expected);
        }
        rad_exploration_free(&x);
    }
    weave_trial_free(&trial);
}

static void stopping_at_the_first_finds_the_first(void **state)
{
    (void)state;
    uint32_t at = 600000;
    for (uint32_t n = weave_times(20); n > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_SOME, false);
        if (trial.b.identity_count > 0) {
            const char *way = ways[n-- % WAYS];
            rad_explore_options o = {.strategy = way, .seed = n, .runs = 2000};
            rad_exploration all = weave_explore(&trial, &o);
            o.stop_on_first = true;
            o.jobs = 1 + n % 3;
            rad_exploration first = weave_explore(&trial, &o);
            weave_check(&trial, (all.finding_count > 0) == (first.finding_count == 1), "%s: %u", way,
                        first.finding_count);
            if (all.finding_count > 0) {
                rad_error error = {0};
                char *one = rad_artifact_json(all.findings[0].artifact, &error);
                char *two = rad_artifact_json(first.findings[0].artifact, &error);
                weave_check(&trial, all.findings[0].run == first.findings[0].run && strcmp(one, two) == 0, "%s", way);
                weave_check(&trial, first.runs == first.findings[0].run + 1,
                            "%s: %" PRIu64 " runs, found in run %" PRIu64, way, first.runs, first.findings[0].run);
                rad_free(one);
                rad_free(two);
            }
            rad_exploration_free(&all);
            rad_exploration_free(&first);
        }
        weave_trial_free(&trial);
    }
}

/* With fewer runs than it takes nothing is complete; with as many it is. */
static void judge_budget(const struct weave_trial *trial, const char *strategy, uint32_t needed)
{
    for (int more = -1; more <= 1; more++) {
        rad_explore_options o = {.strategy = strategy, .seed = 1, .runs = needed + (uint32_t)more};
        if (o.runs == 0) continue;
        rad_exploration x = weave_explore(trial, &o);
        uint64_t expected = more < 0 ? o.runs : needed;
        weave_check(trial, x.runs == expected, "%s: %" PRIu64 " runs of %" PRIu64, strategy, x.runs, o.runs);
        weave_check(trial, x.complete == (more >= 0) && x.phases[0].exhausted == (more >= 0), "%s: budget %+d",
                    strategy, more);
        rad_exploration_free(&x);
    }
}

static void a_budget_is_kept(void **state)
{
    (void)state;
    uint32_t at = 700000;
    for (uint32_t n = weave_times(12); n-- > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_FEW, false);
        rad_explore_options o = {.strategy = "dedup", .seed = 1, .runs = WEAVE_SPIED};
        rad_exploration x = weave_explore(&trial, &o);
        judge_budget(&trial, "dfs", trial.b.count);
        judge_budget(&trial, "dedup", (uint32_t)x.runs);
        rad_exploration_free(&x);
        weave_trial_free(&trial);
    }
}

/* ---- Cut runs ------------------------------------------------------------------------------------------- */

static bool was_cut(const struct weave_leaf *leaf, uint32_t bound)
{
    return leaf->cut && leaf->preemptions <= bound;
}

/* A run that is not finished after max_steps is neither a pass nor a failure, and nothing is complete. */
static void judge_cut(const struct weave_trial *trial, uint32_t bound)
{
    char strategy[24] = "dfs";
    if (bound < 9) snprintf(strategy, sizeof strategy, "preempt:%u", bound);
    rad_explore_options o = {.strategy = strategy, .seed = 1, .runs = WEAVE_SPIED, .jobs = 1 + bound % 3};
    rad_exploration x = weave_explore(trial, &o);
    const rad_phase *p = &x.phases[x.phase_count - 1];
    uint32_t runs = weave_count(trial, weave_within_preemptions, bound), cut = weave_count(trial, was_cut, bound),
             failed = 0;
    for (uint32_t i = 0; i < trial->b.count; i++) {
        const struct weave_leaf *leaf = &trial->b.leaves[i];
        failed += leaf->identity >= 0 && leaf->preemptions <= bound;
    }
    weave_check(trial, p->runs == runs && p->cut == cut && p->failures == failed,
                "%s: %" PRIu64 " runs, %" PRIu64 " cut, %" PRIu64 " failed, expected %u, %u, %u", p->name, p->runs,
                p->cut, p->failures, runs, cut, failed);
    weave_check(trial, p->endless == (cut > 0) && x.complete == (cut == 0 && runs == trial->b.count), "%s: %d, %d",
                p->name, p->endless, x.complete);
    rad_exploration_free(&x);
}

static void runs_over_the_limit_are_cut(void **state)
{
    (void)state;
    uint32_t at = 1000000;
    for (uint32_t n = weave_times(20); n-- > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_FEW, false);
        uint32_t longest = 0;
        for (uint32_t i = 0; i < trial.b.count; i++)
            if (trial.b.leaves[i].steps > longest) longest = trial.b.leaves[i].steps;
        weave_book_free(&trial.b);
        trial.w.max_steps = (uint8_t)(longest - n % 3);
        trial.t.c.max_steps = trial.w.max_steps;
        if (trial.w.max_steps > 0) {
            weave_brute(&trial.w, WEAVE_MANY, &trial.b);
            judge_cut(&trial, 9);
            judge_cut(&trial, n % 3);
        }
        weave_trial_free(&trial);
    }
}

/* ---- Choice lists ------------------------------------------------------------------------------------------------ */

static void judge_list(const struct weave_trial *trial, const uint32_t *list, uint32_t length,
                       const struct weave_leaf *leaf, char hash[33])
{
    rad_artifact *a = weave_artifact(trial, list, length);
    rad_replay r = {0};
    rad_error error = {0};
    weave_spy_forget();
    weave_check(trial, rad_lab_replay(a, NULL, &r, &error) == 0, "%s", error.text);
    const char *identity = leaf->identity < 0 ? "" : trial->b.identities[leaf->identity];
    weave_check(trial, weave_spy()->count == 1 && weave_spy()->runs[0].path == leaf->path, "list of %u: another run",
                length);
    weave_check(trial, (r.actual.result == RAD_RESULT_FAILURE) == (leaf->identity >= 0), "result %d", r.actual.result);
    weave_check(trial, r.actual.steps == leaf->steps && r.actual.decisions == leaf->decisions,
                "%" PRIu64 " steps, %" PRIu64, r.actual.steps, r.actual.decisions);
    weave_check(trial, strcmp(r.actual.identity, identity) == 0, "'%s', expected '%s'", r.actual.identity, identity);
    if (leaf->identity >= 0)
        weave_check(trial, strcmp(r.actual.kind, rad_oracle_name(trial->t.machine, (uint32_t)leaf->oracle)) == 0, "%s",
                    r.actual.kind);
    memcpy(hash, r.actual.trace_hash, 33);
    rad_artifact_free(a);
}

static int compare_hashes(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Each schedule has its list, the list gives that schedule, and no two have one digest. */
static void choice_lists_are_total(void **state)
{
    (void)state;
    uint32_t at = 800000;
    for (uint32_t n = weave_times(12); n-- > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_FEW, false);
        char(*hashes)[33] = calloc(trial.b.count, sizeof *hashes);
        for (uint32_t i = 0; i < trial.b.count; i++) {
            const struct weave_leaf *leaf = &trial.b.leaves[i];
            uint32_t list[WEAVE_DECISIONS + 3];
            char hash[33];
            for (uint32_t d = 0; d < leaf->decisions; d++) list[d] = leaf->choices[d];
            judge_list(&trial, list, i % 2 ? leaf->length : leaf->decisions, leaf, hashes[i]);
            if (i % 8 != 0) continue;
            struct weave_book scratch = {0};
            struct weave_leaf other;
            list[i % (leaf->decisions + 1u)] = 1000 + i; /* lowered to the last */
            for (uint32_t d = 0; d < 3; d++)
                list[leaf->decisions + d] = 7; /* never asked for, or an odd way to go on */
            weave_run_list(&trial.w, list, leaf->decisions + 3u, &scratch, &other);
            const struct weave_leaf *known = weave_find(&trial.b, other.path);
            weave_check(&trial, known != NULL, "list %u", i);
            judge_list(&trial, list, leaf->decisions + 3u, known, hash);
            weave_book_free(&scratch);
        }
        qsort(hashes, trial.b.count, sizeof *hashes, compare_hashes);
        for (uint32_t i = 1; i < trial.b.count; i++)
            weave_check(&trial, strcmp(hashes[i - 1], hashes[i]) != 0, "two schedules have the digest %s", hashes[i]);
        free(hashes);
        weave_trial_free(&trial);
    }
}

/* ---- Processes that die ------------------------------------------------------------------------------------ */

static void judge_crashes(const struct weave_trial *trial, const char *strategy, uint32_t jobs)
{
    rad_explore_options o = {.strategy = strategy, .seed = 1, .runs = 20000, .jobs = jobs, .fair_only = true};
    rad_exploration x = weave_explore(trial, &o);
    const rad_phase *last = &x.phases[x.phase_count - 1];
    weave_check(trial, x.complete && last->runs == trial->b.count, "%" PRIu64 " runs", last->runs);
    weave_check(trial, last->failures == failing(trial, -1), "%" PRIu64 " failures", last->failures);
    weave_check(trial, x.finding_count == trial->b.identity_count, "%u findings", x.finding_count);
    for (uint32_t i = 0; i < x.finding_count; i++) {
        rad_replay r = {0};
        rad_error error = {0};
        const rad_finding *f = &x.findings[i];
        const char *name = rad_artifact_verdict(f->artifact)->identity;
        int identity = identity_number(trial, name);
        weave_check(trial, identity >= 0, "%s", name);
        weave_check(trial, x.phase_count > 1 || f->failures == failing(trial, identity), "%s: %" PRIu64 " failures",
                    name, f->failures);
        weave_check(trial, rad_lab_replay(f->artifact, NULL, &r, &error) == 0 && r.as_recorded, "%s: %s", name,
                    r.reason);
    }
    rad_exploration_free(&x);
}

/* A failing check of these weaves ends the process. That run is a failure like others, and the search continues, also
 * where workers share it. */
static void crashes_are_failures_like_others(void **state)
{
    (void)state;
    uint32_t at = 900000;
    for (uint32_t few = weave_times(4), many = weave_times(1); few + many > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_MANY, true);
        int crash = identity_number(&trial, "crash:exit status 3");
        uint32_t crashes = crash < 0 ? 0 : failing(&trial, crash);
        if (few > 0 && crashes > 0 && crashes <= 12 && trial.b.count <= 60) {
            judge_crashes(&trial, few % 2 ? "dfs" : "preempt:9", 1 + few % 3);
            few--;
        }
        if (many > 0 && crashes > 0 && crashes <= 40 && trial.b.count > 1300) {
            judge_crashes(&trial, "dfs", 3);
            many--;
        }
        weave_trial_free(&trial);
    }
}

/* ---- The generator ------------------------------------------------------------------------------------------- */

static void weaves_are_of_every_kind(void **state)
{
    (void)state;
    uint32_t at = 0, kinds[WEAVE_OP_KINDS] = {0}, failures[RAD_ORACLES_MAX] = {0}, sizes[5] = {0};
    uint32_t passes = 0, mixed = 0, spawns = 0, yields = 0, picks = 0, blocked = 0, alternatives = 0, deep = 0,
             saves = 0, spins = 0, held = 0;
    for (uint32_t n = 0; n < 150; n++) {
        struct weave_trial trial;
        draw(&trial, n, &at, WEAVE_SOME);
        for (uint32_t i = 0; i < WEAVE_OP_KINDS; i++) kinds[i] += trial.b.reached[i];
        for (uint32_t i = 0; i < trial.b.identity_count; i++) {
            uint32_t fewest = weave_fewest(&trial.b, trial.b.identities[i]);
            deep += fewest > 0;
        }
        for (uint32_t i = 0; i < trial.b.count; i++)
            if (trial.b.leaves[i].oracle >= 0) failures[trial.b.leaves[i].oracle]++;
        passes += trial.b.identity_count == 0;
        mixed += trial.b.identity_count > 1;
        sizes[trial.c.actors]++;
        spawns += trial.b.spawns > 0;
        yields += trial.b.yields > 0;
        spins += trial.b.spins > 0;
        held += trial.b.held > 0;
        picks += trial.b.picks > 0;
        blocked += trial.b.blocked > 0;
        alternatives += trial.b.alternatives > 0;
        saves += trial.t.machine->save != NULL;
        weave_trial_free(&trial);
    }
    for (uint32_t i = 0; i < WEAVE_OP_KINDS; i++) assert_true(kinds[i] >= 4);
    assert_true(failures[RAD_ORACLE_DEADLOCK] > 0 && failures[RAD_ORACLE_ASSERT] > 0 &&
                failures[RAD_ORACLE_INVARIANT] > 0);
    assert_true(failures[RAD_ORACLE_OWN] > 0 && failures[RAD_ORACLE_OWN + 1] > 0);
    assert_true(sizes[2] > 20 && sizes[3] > 20 && sizes[4] > 5);
    print_message("# of 150: pass %u, several failures %u, spawn %u, yield %u, spin %u, held back "
                  "%u, pick %u, block %u, two actions %u, save %u; "
                  "failures that need a preemption %u\n",
                  passes, mixed, spawns, yields, spins, held, picks, blocked, alternatives, saves, deep);
    assert_true(spins > 20 && held > 40);
    assert_true(passes > 10 && mixed > 4 && spawns > 8 && yields > 8 && picks > 10 && blocked > 8);
    assert_true(alternatives > 5 && saves > 10 && deep > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weaves_are_of_every_kind),
        cmocka_unit_test(dfs_tries_every_schedule_once),
        cmocka_unit_test(spin_rounds_are_exact),
        cmocka_unit_test(loops_come_to_their_end),
        cmocka_unit_test(bounds_are_exact),
        cmocka_unit_test(dedup_meets_every_state_and_outcome),
        cmocka_unit_test(drawn_runs_are_schedules),
        cmocka_unit_test(auto_finds_what_there_is),
        cmocka_unit_test(the_budget_only_says_where_to_stop),
        cmocka_unit_test(results_do_not_depend_on_jobs),
        cmocka_unit_test(shared_searches_keep_their_bounds),
        cmocka_unit_test(stopping_at_the_first_finds_the_first),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(runs_over_the_limit_are_cut),
        cmocka_unit_test(choice_lists_are_total),
        cmocka_unit_test(crashes_are_failures_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
