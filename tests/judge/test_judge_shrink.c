/* test_judge_shrink.c — shrinking and its certificates on random small machines, judged by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weave_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run as brute force sees it. */
struct seen {
    struct weave_trial trial; /* its case; the book has all schedules unless there are too many */
    uint32_t list[WEAVE_DECISIONS], length;
    struct weave_leaf leaf;
    char identity[WEAVE_NAME];
};

static void look_at_list(struct seen *s)
{
    struct weave_book scratch = {0};
    weave_run_list(&s->trial.w, s->list, s->length, &scratch, &s->leaf);
    s->identity[0] = 0;
    if (s->leaf.identity >= 0) memcpy(s->identity, scratch.identities[s->leaf.identity], WEAVE_NAME);
    weave_book_free(&scratch);
}

static void look_at(struct seen *s, const rad_artifact *a)
{
    s->trial.t = *rad_artifact_target(a);
    s->trial.c = weave_case_of(&s->trial.t.c);
    weave_make(&s->trial.w, &s->trial.c);
    weave_brute(&s->trial.w, 20000, &s->trial.b);
    s->length = weave_choices(a, s->list, WEAVE_DECISIONS);
    look_at_list(s);
}

static rad_measure measure_of(const struct seen *s)
{
    const struct weave_case *c = &s->trial.c;
    return (rad_measure){.case_size = (uint64_t)(c->actors - 1 + c->ops - 1 + c->slack),
                         .choices = s->leaf.length,
                         .nonzero = s->leaf.nonzero,
                         .preemptions = s->leaf.preemptions,
                         .switches = s->leaf.switches,
                         .steps = s->leaf.steps};
}

static uint64_t sum_of(const struct seen *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->leaf.decisions; i++) sum += s->leaf.choices[i];
    return sum;
}

static void judge_measure(const struct seen *s, const rad_measure *m, const char *which)
{
    rad_measure own = measure_of(s);
    weave_check(&s->trial, m->case_size == own.case_size && m->choices == own.choices && m->nonzero == own.nonzero,
                "%s: case %" PRIu64 "/%" PRIu64 ", choices %" PRIu64 "/%" PRIu64 ", nonzero %" PRIu64 "/%" PRIu64,
                which, m->case_size, own.case_size, m->choices, own.choices, m->nonzero, own.nonzero);
    weave_check(&s->trial, m->preemptions == own.preemptions && m->switches == own.switches && m->steps == own.steps,
                "%s: preemptions %" PRIu64 "/%" PRIu64 ", switches %" PRIu64 "/%" PRIu64 ", steps %" PRIu64 "/%" PRIu64,
                which, m->preemptions, own.preemptions, m->switches, own.switches, m->steps, own.steps);
}

/* The order in which runs are compared. */
static int compare_runs(const struct seen *one, const struct seen *other)
{
    rad_measure a = measure_of(one), b = measure_of(other);
    const uint64_t x[] = {a.case_size, a.preemptions, a.switches, a.nonzero, sum_of(one), a.choices, a.steps};
    const uint64_t y[] = {b.case_size, b.preemptions, b.switches, b.nonzero, sum_of(other), b.choices, b.steps};
    for (int i = 0; i < 7; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static void judge_replay(const struct weave_trial *trial, const rad_artifact *a, const char *which)
{
    rad_replay r = {0};
    rad_error error = {0};
    weave_check(trial, rad_lab_replay(a, NULL, &r, &error) == 0 && r.as_recorded, "%s: %s %s", which, r.reason,
                error.text);
}

/* Told step by step: who made it, what kind of switch it was, and whether it is in the past of the failure. */
static void judge_story(const struct seen *s, const rad_artifact *a)
{
    rad_story *story = NULL;
    rad_error error = {0};
    const struct weave_leaf *leaf = &s->leaf;
    weave_check(&s->trial, rad_lab_story(a, &story, &error) == 0, "%s", error.text);
    weave_check(&s->trial, story->line_count == leaf->steps, "%" PRIu64 " lines", story->line_count);
    for (uint32_t i = 0; i < leaf->steps; i++) {
        const rad_line *line = &story->lines[i];
        weave_check(&s->trial, line->step == i && line->actor == leaf->actors[i], "line %u: actor %u", i, line->actor);
        weave_check(&s->trial, line->turn == leaf->turns[i], "line %u: turn %d, expected %d", i, line->turn,
                    leaf->turns[i]);
        if (leaf->oracle == RAD_ORACLE_DEADLOCK) continue;
        bool past = leaf->past >> i & 1;
        weave_check(&s->trial, !(past && line->hidden), "line %u is of the past, and hidden", i);
        /* Of an actor that spawned another all steps are shown. */
        weave_check(&s->trial, past || line->hidden || story->actor_count > s->trial.w.first_actors,
                    "line %u is not of the past", i);
    }
    const rad_measure *m = &story->measure;
    weave_check(&s->trial,
                m->preemptions == leaf->preemptions && m->switches == leaf->switches && m->nonzero == leaf->nonzero &&
                    m->choices == leaf->length && m->steps == leaf->steps,
                "measure of the story");
    rad_story_free(story);
}

/* The runs that a certificate takes: those of every bound below, until one of them sees everything. */
static uint64_t certificate_runs(const struct seen *s)
{
    uint64_t runs = 0;
    for (uint32_t bound = 0, last = 0; bound < s->leaf.preemptions && last < s->trial.b.count; bound++)
        runs += last = weave_count(&s->trial, weave_within_preemptions, bound);
    return runs;
}

/* "No failure of this identity with one preemption fewer", exactly when that was shown. */
static void judge_certificate(const struct seen *s, const rad_shrink_report *r, uint64_t budget)
{
    if (s->trial.b.too_many) return;
    uint64_t needed = certificate_runs(s);
    uint32_t fewest = weave_fewest(&s->trial.b, s->identity);
    weave_check(&s->trial, (r->certificate == RAD_MINIMAL) == (needed <= budget),
                "%" PRIu64 " runs are needed, %" PRIu64 " allowed: %d", needed, budget, r->certificate);
    weave_check(&s->trial, r->certified_runs == (needed < budget ? needed : budget),
                "%" PRIu64 " runs, expected %" PRIu64, r->certified_runs, needed);
    weave_check(&s->trial, r->certificate != RAD_MINIMAL || fewest == s->leaf.preemptions,
                "certified with %u preemptions, %u are enough", s->leaf.preemptions, fewest);
}

/* The run is as small as it gets. Its certificate costs `needed` runs, and is not given for fewer. */
static void judge_certificate_budget(const struct seen *s, const rad_artifact *small)
{
    uint64_t needed = s->trial.b.too_many ? 0 : certificate_runs(s);
    for (uint64_t budget = needed > 2 ? needed - 2 : 1; budget <= needed + 1 && needed > 0; budget++) {
        rad_shrink_options o = {.certify_runs = budget};
        rad_shrink_report report = {0};
        rad_artifact *same = NULL;
        rad_error error = {0};
        weave_check(&s->trial, rad_lab_shrink(small, &o, &same, &report, &error) == 0, "%s", error.text);
        judge_certificate(s, &report, budget);
        rad_artifact_free(same);
        rad_artifact_free(report.second);
    }
}

/* Nothing is left that a look at single choices would have found. */
static void judge_choices(const struct seen *s)
{
    for (uint32_t i = 0; i < s->length; i++) {
        for (uint32_t lower = 0; lower < s->list[i]; lower++) {
            struct seen other = *s;
            other.list[i] = lower;
            look_at_list(&other);
            weave_check(&s->trial, strcmp(other.identity, s->identity) != 0 || compare_runs(&other, s) >= 0,
                        "choice %u can be %u instead of %u", i, lower, s->list[i]);
        }
    }
}

/* Nor does the same list fail this way in a case with one parameter lowered. */
static void judge_case(const struct seen *s)
{
    for (uint32_t p = 1; p <= 3; p++) {
        int64_t lowest = p == 3 ? 0 : 1;
        for (int64_t value = lowest; value < s->trial.t.c.params[p]; value++) {
            struct seen other = *s;
            other.trial.t.c.params[p] = value;
            other.trial.c = weave_case_of(&other.trial.t.c);
            weave_make(&other.trial.w, &other.trial.c);
            look_at_list(&other);
            weave_check(&s->trial, strcmp(other.identity, s->identity) != 0, "parameter %u can be %d", p, (int)value);
        }
    }
}

static void judge_second(const struct weave_trial *origin, const struct seen *s, const rad_artifact *second)
{
    if (!second) return;
    const char *name = rad_artifact_verdict(second)->identity;
    bool there = false;
    weave_check(origin, strcmp(name, s->identity) != 0, "the second bug is the first one");
    for (uint32_t i = 0; i < origin->b.identity_count; i++) there = there || strcmp(origin->b.identities[i], name) == 0;
    weave_check(origin, there, "%s is no failure of the original", name);
    weave_check(origin,
                memcmp(rad_artifact_target(second)->c.params, origin->t.c.params, sizeof origin->t.c.params) == 0,
                "%s: another case", name);
    judge_replay(origin, second, "second");
}

static void judge_shrink(const struct weave_trial *origin, const rad_artifact *a)
{
    rad_shrink_options o = {0};
    rad_shrink_report report = {0}, again = {0};
    rad_artifact *small = NULL, *smaller = NULL;
    rad_error error = {0};
    struct seen before, after;
    look_at(&before, a);
    weave_check(origin, rad_lab_shrink(a, &o, &small, &report, &error) == 0, "%s", error.text);
    look_at(&after, small);
    judge_measure(&before, &report.before, "before");
    judge_measure(&after, &report.after, "after");
    weave_check(origin, strcmp(before.identity, after.identity) == 0, "'%s' became '%s'", before.identity,
                after.identity);
    weave_check(origin, strcmp(rad_artifact_verdict(small)->identity, after.identity) == 0, "%s", after.identity);
    weave_check(origin, compare_runs(&after, &before) <= 0, "it grew");
    weave_check(origin, after.trial.c.seed == origin->c.seed && after.trial.c.fixed == origin->c.fixed,
                "fixed parameters changed");
    weave_check(origin,
                after.trial.c.actors <= origin->c.actors && after.trial.c.ops <= origin->c.ops &&
                    after.trial.c.slack <= origin->c.slack,
                "a parameter grew");
    judge_replay(origin, small, "shrunk");
    judge_certificate(&after, &report, 200000);
    judge_story(&before, a);
    judge_story(&after, small);
    judge_certificate_budget(&after, small);
    judge_choices(&after);
    judge_case(&after);
    judge_second(origin, &before, report.second);
    weave_check(origin, rad_lab_shrink(small, &o, &smaller, &again, &error) == 0, "%s", error.text);
    char *one = rad_artifact_json(small, &error), *two = rad_artifact_json(smaller, &error);
    weave_check(origin, strcmp(one, two) == 0, "shrinking again changed it:\n%s\n%s", one, two);
    rad_free(one);
    rad_free(two);
    rad_artifact_free(small);
    rad_artifact_free(smaller);
    rad_artifact_free(report.second);
    rad_artifact_free(again.second);
    weave_trial_free(&before.trial);
    weave_trial_free(&after.trial);
}

static void what_is_shrunk_is_small_and_certified(void **state)
{
    static const char *const ways[] = {"dfs", "random", "surw", "pct:3"};
    (void)state;
    uint32_t at = 0;
    for (uint32_t n = weave_times(45); n > 0;) {
        struct weave_trial trial;
        weave_draw(&trial, &at, WEAVE_SOME, false);
        if (trial.b.identity_count > 0) {
            n--;
            rad_explore_options o = {.strategy = ways[n % 4], .seed = n, .runs = 2000};
            rad_exploration x = weave_explore(&trial, &o);
            for (uint32_t i = 0; i < x.finding_count; i++) judge_shrink(&trial, x.findings[i].artifact);
            rad_exploration_free(&x);
        }
        weave_trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shrunk_is_small_and_certified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
