/* test_shrink.c — small, the same bug, always the same, and nothing to do the second time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/rig.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first failure that a policy meets, as an artifact; with `identity`, the first of that kind. */
static rad_artifact *failing(const rad_target *t, const char *strategy, const char *identity)
{
    rad_exploration e;
    rad_error error = {0};
    rad_artifact *a = NULL;
    rad_explore_options o = {.strategy = strategy, .runs = 20000, .seed = 1};
    o.stop_on_first = identity == NULL;
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < e.finding_count && a == NULL; i++) {
        const char *found = rad_artifact_verdict(e.findings[i].artifact)->identity;
        if (identity && strcmp(found, identity) != 0) continue;
        a = e.findings[i].artifact;
        e.findings[i].artifact = NULL;
    }
    rad_exploration_free(&e);
    if (a == NULL) fail_msg("%s: %s found nothing", t->machine->name, strategy);
    return a;
}

static rad_artifact *shrunk(const rad_artifact *a, const rad_shrink_options *o, rad_shrink_report *report)
{
    rad_artifact *out = NULL;
    rad_error error = {0};
    rad_shrink_options defaults = {0};
    if (rad_lab_shrink(a, o ? o : &defaults, &out, report, &error) != 0)
        fail_msg("%s: %s", a->target.machine->name, error.text);
    assert_non_null(out);
    return out;
}

static void assert_same_artifact(const rad_artifact *a, const rad_artifact *b)
{
    rad_error error = {0};
    char *left = rad_artifact_json(a, &error), *right = rad_artifact_json(b, &error);
    assert_string_equal(left, right);
    rad_free(left);
    rad_free(right);
}

/* By the order of shrink.h, without the sum, which a measure does not show. */
static int measure_compare(const rad_measure *a, const rad_measure *b)
{
    const uint64_t left[] = {a->case_size, a->preemptions, a->switches, a->nonzero};
    const uint64_t right[] = {b->case_size, b->preemptions, b->switches, b->nonzero};
    for (int i = 0; i < 4; i++)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* The measure of an artifact's run, counted here by a witness. */
static rad_measure measured(const rad_artifact *a)
{
    rad_rig rig;
    rad_error error = {0};
    rad_measure m = {0};
    witness eye;
    witness_open(&eye);
    assert_int_equal(rad__rig_open(&rig, &a->target, &error), 0);
    rad__rig_guide(&rig, a->choices, a->choice_count, false, &eye.observer);
    m.preemptions = eye.preemptions;
    m.switches = rig.kernel->switches;
    m.steps = rig.kernel->step;
    for (uint64_t i = 0; i < rig.kernel->decisions; i++) {
        m.nonzero += rig.choices[i].chosen != 0;
        if (rig.choices[i].chosen) m.choices = i + 1;
    }
    rad__rig_close(&rig);
    return m;
}

static void check_result(const rad_artifact *before, const rad_artifact *after, const rad_shrink_report *report)
{
    rad_error error = {0};
    rad_replay replay;
    assert_string_equal(rad_artifact_verdict(after)->identity, rad_artifact_verdict(before)->identity);
    assert_true(measure_compare(&report->after, &report->before) <= 0);
    assert_int_equal(rad_lab_replay(after, NULL, &replay, &error), 0);
    if (!replay.as_recorded) fail_msg("%s", replay.reason);
    assert_int_equal(report->after.choices, after->choice_count);
    assert_int_equal(report->after.steps, rad_artifact_verdict(after)->steps);
}

/* ---- On every toy ------------------------------------------------------------------------------------ */

static void toy_shrinks(const char *name, const char *words)
{
    rad_target t = target_of(name, words);
    rad_artifact *found = failing(&t, "auto", NULL);
    rad_shrink_report first, second, again;
    rad_shrink_options o = {.certify_runs = 1000}; /* where threads spin no number is enough */
    rad_artifact *small = shrunk(found, &o, &first);
    check_result(found, small, &first);
    rad_artifact *same = shrunk(found, &o, &second); /* deterministic */
    assert_same_artifact(small, same);
    assert_int_equal(first.checks, second.checks);
    assert_int_equal(first.certificate, second.certificate);
    rad_artifact *smaller = shrunk(small, &o, &again); /* idempotent */
    assert_same_artifact(small, smaller);
    assert_memory_equal(&first.after, &again.before, sizeof first.after);
    assert_memory_equal(&first.after, &again.after, sizeof first.after);
    assert_int_equal(first.certificate, again.certificate);
    if (strncmp(rad_artifact_verdict(small)->kind, "crash", 5) != 0) {
        rad_measure m = measured(small);
        m.case_size = first.after.case_size;
        assert_memory_equal(&m, &first.after, sizeof m);
    }
    rad_artifact *all[] = {found, small, same, smaller, first.second, second.second, again.second};
    for (uint32_t i = 0; i < 7; i++) rad_artifact_free(all[i]);
}

/* The long ones in a shorter case; safestack not at all, whose bug is not found in a moment. */
static void every_buggy_toy_shrinks_deterministically_and_only_once(void **state)
{
    (void)state;
    for (uint32_t m = 0; rad_machine_at(m) != NULL; m++) {
        const char *name = rad_machine_at(m)->name, *words = NULL;
        if (rad_machine_at(m)->bug == NULL || strcmp(name, "safestack") == 0) continue;
        if (strcmp(name, "qsort-mt") == 0) words = "elements=16 fork=1 accesses=0";
        if (strcmp(name, "wsq-state") == 0) words = "items=2 attempts=1";
        toy_shrinks(name, words);
    }
}

static void a_large_case_becomes_the_smallest_that_fails(void **state)
{
    (void)state;
    rad_target t = target_of("counter", "n=5 k=4");
    rad_artifact *found = failing(&t, "random", NULL);
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, NULL, &report);
    check_result(found, small, &report);
    assert_int_equal(small->target.c.params[0], 2);
    assert_int_equal(small->target.c.params[1], 1);
    assert_int_equal(report.after.case_size, 0);
    assert_int_equal(report.before.case_size, 3 + 3);
    assert_int_equal(report.after.preemptions, 1);
    assert_int_equal(report.after.nonzero, 1);
    assert_int_equal(report.certificate, RAD_MINIMAL);
    rad_artifact_free(found);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
}

/* ---- Against brute force ------------------------------------------------------------------------------ */

static uint64_t fewest_preemptions(const rad_target *t, const char *identity)
{
    leaves l;
    uint64_t fewest = UINT64_MAX;
    leaves_of(&l, t);
    for (uint32_t i = 0; i < l.count; i++)
        if (l.items[i].failed && strcmp(l.items[i].identity, identity) == 0 && l.items[i].preemptions < fewest)
            fewest = l.items[i].preemptions;
    leaves_free(&l);
    return fewest;
}

/* Three actors; the assertion fails when the steps interleave as `wanted` says (actors as digits). */
typedef struct chain {
    const char *wanted, *other; /* `other` fails in another way */
    char order[16];
    uint32_t left[3];
} chain;

static void chain_reset(puppet *p, rad_kernel *k)
{
    chain *c = p->data;
    memset(c->order, 0, sizeof c->order);
    p->objects[0] = rad_object(k, RAD_NONE, "red");
    p->objects[1] = rad_object(k, RAD_NONE, "green");
    for (uint32_t i = 0; i < 3; i++) {
        c->left[i] = 2;
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void chain_step(puppet *p, rad_kernel *k, uint32_t action)
{
    chain *c = p->data;
    c->order[k->step] = (char)('0' + action);
    if (--c->left[action] == 0) rad_disable(k, action);
    if (c->wanted && strcmp(c->order, c->wanted) == 0)
        rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "the order was %s", c->order);
    if (c->other && strcmp(c->order, c->other) == 0)
        rad_fail(k, RAD_ORACLE_ASSERT, p->objects[1], "the order was %s", c->order);
}

static void certified(const rad_target *t, const char *strategy)
{
    rad_artifact *found = failing(t, strategy, NULL);
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, NULL, &report);
    check_result(found, small, &report);
    uint64_t fewest = fewest_preemptions(&small->target, rad_artifact_verdict(small)->identity);
    assert_int_equal(report.after.preemptions, fewest);
    assert_int_equal(measured(small).preemptions, fewest);
    assert_int_equal(report.certificate, RAD_MINIMAL);
    assert_int_equal(report.certified_runs > 0, fewest > 0);
    rad_artifact_free(found);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
}

static void the_certificate_agrees_with_brute_force(void **state)
{
    static const char *const orders[] = {"0",      "01",     "010", "0120", "0121", "01201", "012012",
                                         "210210", "102021", "2",   "20",   "201",  "1001",  "021"};
    static const char *const toys[] = {"counter", "locks", "event"};
    (void)state;
    for (uint32_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        chain c = {.wanted = orders[i]};
        puppet p = {.reset = chain_reset, .step = chain_step, .data = &c};
        rad_target t = puppet_target(&p);
        certified(&t, "random");
    }
    for (uint32_t i = 0; i < 3; i++) {
        rad_target t = target_of(toys[i], NULL);
        certified(&t, "random");
    }
}

static void nothing_is_certified_that_was_not_exhausted(void **state)
{
    (void)state;
    chain c = {.wanted = "012012"};
    puppet p = {.reset = chain_reset, .step = chain_step, .data = &c};
    rad_target t = puppet_target(&p);
    rad_artifact *found = failing(&t, "dfs", NULL);
    rad_shrink_report report;
    for (uint64_t runs = 1; runs < 50; runs += 16) {
        rad_shrink_options o = {.certify_runs = runs};
        rad_artifact *small = shrunk(found, &o, &report);
        check_result(found, small, &report);
        assert_true(report.after.preemptions >= 3);
        assert_int_equal(report.certificate, RAD_NOT_CERTIFIED);
        assert_int_equal(report.certified_runs, runs);
        rad_artifact_free(small);
        rad_artifact_free(report.second);
    }
    rad_artifact_free(found);
}

/* Actor 0 picks one of twenty numbers in its second step. With actor 1 in between it fails as "t"; without,
 * it fails as the letter of its number, the last of which is "t", too: no preemption is needed, but
 * seventeen other letters come first, more than the table of an exploration holds. */
static void letters_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                        "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
    for (uint32_t i = 0; i < 20; i++) rad_object(k, RAD_NONE, roles[i]);
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void letters_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t *steps = p->data;
    if (k->step == 0) steps[0] = steps[1] = 0;
    if (++steps[action] == 2 || action == 1) rad_disable(k, action);
    if (action == 0 && steps[0] == 1) p->number = k->step;
    if (action == 1 || steps[0] != 2) return;
    uint32_t picked = rad_pick(k, RAD_PICK_VALUE, 0, 20);
    uint32_t letter = p->number == 0 && k->step == 2 ? 19 : picked;
    if (letter) rad_fail(k, RAD_ORACLE_ASSERT, letter, "a letter");
}

static void nothing_is_certified_when_findings_were_dropped(void **state)
{
    (void)state;
    uint32_t steps[2];
    puppet p = {.reset = letters_reset, .step = letters_step, .data = steps};
    rad_target t = puppet_target(&p);
    rad_error error = {0};
    rad_choice preempt[] = {{.chosen = 0}, {.chosen = 1}};
    rad_verdict v = {.result = RAD_RESULT_FAILURE, .identity = "assertion:t"};
    rad_artifact *found = NULL;
    assert_int_equal(rad__artifact_of_choices(&found, &t, "dfs", 0, preempt, 2, &v, &error), 0);
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, NULL, &report);
    assert_int_equal(report.after.preemptions, 1);
    assert_int_equal(report.certificate, RAD_NOT_CERTIFIED);
    rad_artifact_free(found);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
}

/* ---- Another bug on the way --------------------------------------------------------------------------- */

static void a_second_bug_is_reported_and_never_taken(void **state)
{
    (void)state;
    chain c = {.wanted = "0120", .other = "0101"};
    puppet p = {.reset = chain_reset, .step = chain_step, .data = &c};
    rad_target t = puppet_target(&p);
    rad_artifact *found = failing(&t, "dfs", "assertion:red@the order was %s");
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, NULL, &report);
    check_result(found, small, &report);
    assert_string_equal(rad_artifact_verdict(small)->identity, "assertion:red@the order was %s");
    rad_artifact_free(small);
    rad_artifact_free(report.second);
    rad_artifact_free(found);

    /* The first green run lies on the way from a long red one. */
    c = (chain){.wanted = "210210", .other = "0"};
    found = failing(&t, "dfs", "assertion:red@the order was %s");
    small = shrunk(found, NULL, &report);
    check_result(found, small, &report);
    assert_string_equal(rad_artifact_verdict(small)->identity, "assertion:red@the order was %s");
    assert_non_null(report.second);
    assert_string_equal(rad_artifact_verdict(report.second)->identity, "assertion:green@the order was %s");
    rad_error error = {0};
    rad_replay replay;
    assert_int_equal(rad_lab_replay(report.second, NULL, &replay, &error), 0);
    assert_true(replay.as_recorded);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
    rad_artifact_free(found);
}

/* One actor. From three units on it fails in red; below, in green, because the case is too small for what it does.
 * Unless it is repaired it fails in blue when it picks 0. */
typedef struct units {
    int64_t n;
    bool blues;
    uint32_t go, red, green, blue;
} units;

static int units_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    units *u = malloc(sizeof *u);
    if (u == NULL) return rad__error_memory(error);
    *u = (units){.n = c->params[0], .blues = !c->repaired};
    *self = u;
    return 0;
}

static void units_reset(void *self, rad_kernel *k)
{
    units *u = self;
    u->go = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
    u->red = rad_object(k, RAD_NONE, "red");
    u->green = rad_object(k, RAD_NONE, "green");
    u->blue = rad_object(k, RAD_NONE, "blue");
    rad_enable(k, u->go);
}

static void units_step(void *self, rad_kernel *k, uint32_t action)
{
    units *u = self;
    rad_disable(k, action);
    bool zero = rad_pick(k, RAD_PICK_VALUE, 0, 2) == 0;
    if (u->n >= 3 && u->blues && zero) rad_fail(k, RAD_ORACLE_ASSERT, u->blue, "the pick is 0");
    if (u->n >= 3) rad_fail(k, RAD_ORACLE_ASSERT, u->red, "three or more");
    rad_fail(k, RAD_ORACLE_ASSERT, u->green, "too small");
}

static enum rad_end units_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const rad_param units_params[] = {{"n", 4, 1, 9, "units", false}, {NULL, 0, 0, 0, NULL, false}};
static const rad_machine units_machine = {
    .name = "units",
    .about = "fails in another way when its case is too small",
    .params = units_params,
    .bug_site = RAD_NONE,
    .create = units_create,
    .destroy = free,
    .reset = units_reset,
    .step = units_step,
    .idle = units_idle,
};

/* ---- Two assertions about one thing -------------------------------------------------------------------- */

/* The pick decides which of two claims about the same object does not hold: the lower one is the smaller run. */
static void claims_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t pick = rad_pick(k, RAD_PICK_VALUE, 0, 3);
    rad_disable(k, action);
    RAD_CHECK(k, RAD_ORACLE_ASSERT, pick != 1, p->objects[0], "one of two");
    RAD_CHECK(k, RAD_ORACLE_ASSERT, pick != 2, p->objects[0], "one of two");
}

static void claims_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "thing");
    rad_enable(k, rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0));
}

/* Same oracle, role and message: only the site tells the two apart, and shrinking must not slide to the smaller. */
static void two_assertions_are_two_bugs(void **state)
{
    (void)state;
    puppet p = {.reset = claims_reset, .step = claims_step};
    rad_target t = puppet_target(&p);
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = "dfs", .runs = 100, .seed = 1};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 2);
    assert_string_equal(rad_artifact_verdict(e.findings[0].artifact)->identity, "assertion:thing@pick != 1");
    const rad_artifact *larger = e.findings[1].artifact;
    assert_string_equal(rad_artifact_verdict(larger)->identity, "assertion:thing@pick != 2");
    rad_shrink_report report;
    rad_artifact *small = shrunk(larger, NULL, &report);
    assert_string_equal(rad_artifact_verdict(small)->identity, "assertion:thing@pick != 2");
    assert_non_null(report.second);
    assert_string_equal(rad_artifact_verdict(report.second)->identity, "assertion:thing@pick != 1");
    rad_artifact_free(report.second);
    rad_artifact_free(small);
    rad_exploration_free(&e);
}

/* What an earlier version wrote has no site: it replays, and shrinks to a file that has one. */
static void a_file_without_a_site_still_speaks_of_its_failure(void **state)
{
    (void)state;
    puppet p = {.reset = claims_reset, .step = claims_step};
    rad_target t = puppet_target(&p);
    rad_artifact *old = failing(&t, "dfs", "assertion:thing@pick != 2");
    rad_error error = {0};
    rad_replay r;
    snprintf(old->expected.identity, sizeof old->expected.identity, "assertion:thing");
    assert_int_equal(rad_lab_replay(old, NULL, &r, &error), 0);
    assert_true(r.as_recorded && r.same_failure);
    rad_shrink_report report;
    rad_artifact *small = shrunk(old, NULL, &report);
    assert_string_equal(rad_artifact_verdict(small)->identity, "assertion:thing@pick != 2");
    rad_artifact_free(report.second);
    rad_artifact_free(small);
    static const char *const others[] = {"assertion:thin", "assertion", "assertion:thing@pick",
                                         "assertion:thing@pick != 1"};
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(old->expected.identity, sizeof old->expected.identity, "%s", others[i]);
        assert_int_equal(rad_lab_replay(old, NULL, &r, &error), 0);
        assert_false(r.as_recorded || r.same_failure);
    }
    rad_artifact_free(old);
}

static void a_second_bug_fails_on_the_original_case(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_shrink_report report;
    rad_target t;
    assert_int_equal(rad_machine_add(&units_machine, &error), 0);
    assert_int_equal(rad_target_init(&t, "units", &error), 0);
    for (int i = 0; i < 2; i++) {
        t.c.repaired = i == 0;
        rad_artifact *found = failing(&t, "dfs", "assertion:red@three or more");
        rad_artifact *small = shrunk(found, NULL, &report);
        check_result(found, small, &report);
        assert_int_equal(rad_artifact_target(small)->c.params[0], 3);
        if (i == 0) {
            assert_null(report.second); /* green was met, and is the smaller case's fault */
        } else {
            assert_non_null(report.second);
            assert_string_equal(rad_artifact_verdict(report.second)->identity, "assertion:blue@the pick is 0");
            assert_int_equal(rad_artifact_target(report.second)->c.params[0], 4);
        }
        rad_artifact_free(small);
        rad_artifact_free(report.second);
        rad_artifact_free(found);
    }
}

/* ---- What cannot be shrunk, and limits ------------------------------------------------------------------ */

static void a_run_that_does_not_fail_is_an_error(void **state)
{
    (void)state;
    chain c = {.wanted = "10"};
    puppet p = {.reset = chain_reset, .step = chain_step, .data = &c};
    rad_target t = puppet_target(&p);
    rad_artifact *found = failing(&t, "dfs", NULL), *out = NULL;
    rad_shrink_report report;
    rad_shrink_options o = {0};
    rad_error error = {0};
    c.wanted = NULL; /* the bug is gone */
    assert_int_equal(rad_lab_shrink(found, &o, &out, &report, &error), RAD_EINPUT);
    assert_string_equal(error.text, "nothing to shrink: the run does not fail (any more)");
    assert_null(out);
    assert_null(report.second);
    error = (rad_error){0};
    c.other = "10"; /* it fails in another way now */
    assert_int_equal(rad_lab_shrink(found, &o, &out, &report, &error), RAD_EINPUT);
    assert_string_equal(error.text, "the run fails differently from what the file says: "
                                    "'assertion:green@the order was %s' instead of "
                                    "'assertion:red@the order was %s'");
    assert_null(out);
    rad_artifact_free(found);
}

static void with_a_small_budget_the_result_is_just_larger(void **state)
{
    (void)state;
    rad_target t = target_of("counter", "n=4 k=3");
    rad_artifact *found = failing(&t, "random", NULL);
    uint64_t last = UINT64_MAX;
    for (uint64_t checks = 1; checks < 4000; checks *= 4) {
        rad_shrink_report report;
        rad_shrink_options o = {.checks = checks, .certify_runs = 100};
        rad_artifact *small = shrunk(found, &o, &report);
        check_result(found, small, &report);
        assert_true(report.after.case_size <= last);
        last = report.after.case_size;
        rad_artifact_free(small);
        rad_artifact_free(report.second);
    }
    rad_artifact_free(found);
}

typedef struct stages {
    char names[400];
    uint64_t calls, last_checks;
    rad_measure last;
    int interrupt;
    bool stop;
} stages;

static void stage_told(void *context, const char *stage, uint64_t checks, const rad_measure *m)
{
    stages *s = context;
    size_t used = strlen(s->names);
    snprintf(s->names + used, sizeof s->names - used, "%s ", stage);
    assert_true(checks >= s->last_checks);
    if (s->calls++) assert_true(measure_compare(m, &s->last) <= 0); /* it only ever gets smaller */
    s->last = *m;
    s->last_checks = checks;
    if (s->stop) s->interrupt = 1;
}

static void progress_only_goes_down_and_an_interrupt_keeps_the_best(void **state)
{
    (void)state;
    rad_target t = target_of("counter", "n=3 k=2");
    rad_artifact *found = failing(&t, "random", NULL);
    stages s = {.stop = false};
    rad_shrink_report report;
    rad_shrink_options o = {.progress = stage_told, .context = &s, .interrupted = &s.interrupt};
    rad_artifact *small = shrunk(found, &o, &report);
    check_result(found, small, &report);
    assert_non_null(strstr(s.names, "case"));
    assert_non_null(strstr(s.names, "choices"));
    assert_non_null(strstr(s.names, "order"));
    assert_non_null(strstr(s.names, "certificate"));
    rad_artifact_free(small);
    rad_artifact_free(report.second);
    s = (stages){.stop = true};
    small = shrunk(found, &o, &report);
    check_result(found, small, &report);
    assert_int_equal(report.checks, 1); /* the run that shows that it fails */
    assert_int_equal(report.certificate, RAD_NOT_CERTIFIED);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
    rad_artifact_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_buggy_toy_shrinks_deterministically_and_only_once),
        cmocka_unit_test(a_large_case_becomes_the_smallest_that_fails),
        cmocka_unit_test(the_certificate_agrees_with_brute_force),
        cmocka_unit_test(nothing_is_certified_that_was_not_exhausted),
        cmocka_unit_test(nothing_is_certified_when_findings_were_dropped),
        cmocka_unit_test(a_second_bug_is_reported_and_never_taken),
        cmocka_unit_test(two_assertions_are_two_bugs),
        cmocka_unit_test(a_file_without_a_site_still_speaks_of_its_failure),
        cmocka_unit_test(a_second_bug_fails_on_the_original_case),
        cmocka_unit_test(a_run_that_does_not_fail_is_an_error),
        cmocka_unit_test(with_a_small_budget_the_result_is_just_larger),
        cmocka_unit_test(progress_only_goes_down_and_an_interrupt_keeps_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
