/* test_spin.c — machines that spin: every stage ends, a run that is cut is called that, verdicts carry their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/lab.h>

#include <stdlib.h>
#include <string.h>

/* ---- Spinners ------------------------------------------------------------------------------------------
 * Up to three threads over a few words, by their counters. `repaired` is the twin without the bug. */

enum kind { PETERSON, TICKET, SEQLOCK, LONELY, WEAK_LOCK, KINDS };

typedef struct spinner {
    enum kind kind;
    bool repaired;
    uint32_t count, go[3], word;
    uint32_t pc[3], mine[3][3];
    uint32_t words[4], inside;
} spinner;

static int spinner_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    spinner *s = calloc(1, sizeof *s);
    assert_non_null(s);
    (void)error;
    s->kind = *(const enum kind *)m->own;
    s->repaired = c->repaired;
    *self = s;
    return 0;
}

static void spinner_reset(void *self, rad_kernel *k)
{
    static const uint32_t counts[KINDS] = {2, 3, 2, 1, 2};
    spinner *s = self;
    *s = (spinner){.kind = s->kind, .repaired = s->repaired, .count = counts[s->kind]};
    s->word = rad_object(k, RAD_NONE, "word");
    for (uint32_t i = 0; i < s->count; i++) {
        s->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "thread"), RAD_NONE, 0);
        rad_announce(k, s->go[i], 0, s->word, RAD_WRITE);
        rad_enable(k, s->go[i]);
    }
}

static void spinner_end(rad_kernel *k, uint32_t action)
{
    rad_disable(k, action);
    rad_ended(k, rad_current_actor(k));
}

/* Words: the flags, the turn. The bug: the turn is given before the flag is raised. */
static void peterson_step(spinner *s, rad_kernel *k, uint32_t i, uint32_t action)
{
    uint32_t other = 1 - i;
    switch (s->pc[i]++) {
    case 0:
    case 1:
        if ((s->pc[i] == 1) == s->repaired)
            s->words[i] = 1;
        else
            s->words[2] = other;
        break;
    case 2:
        if (!s->words[other]) s->inside++, s->pc[i] = 4;
        break;
    case 3:
        if (s->words[2] == i)
            s->inside++;
        else
            s->pc[i] = 2;
        break;
    default: s->words[i] = 0, s->inside--, spinner_end(k, action);
    }
}

/* Words: the next ticket, which is served. The bug: taking a ticket is a load and a store. */
static void ticket_step(spinner *s, rad_kernel *k, uint32_t i, uint32_t action)
{
    switch (s->pc[i]) {
    case 0:
        s->mine[i][0] = s->words[0];
        s->words[0] += s->repaired;
        s->pc[i] = s->repaired ? 2 : 1;
        break;
    case 1: s->words[0] = s->mine[i][0] + 1, s->pc[i] = 2; break;
    case 2:
        if (s->words[1] == s->mine[i][0]) s->inside++, s->pc[i] = 3;
        break;
    default: s->inside--, s->words[1]++, spinner_end(k, action);
    }
}

/* Words: the sequence, two halves. The bug: the reader does not look at the sequence again. */
static void seqlock_step(spinner *s, rad_kernel *k, uint32_t i, uint32_t action)
{
    uint32_t *mine = s->mine[i], pc = s->pc[i]++;
    if (i == 0) {
        s->words[pc < 3 ? pc : 0]++;
        if (pc == 3) spinner_end(k, action);
        return;
    }
    if (pc < 3) mine[pc] = s->words[pc];
    if (pc == 0 && mine[0] % 2 == 1) s->pc[i] = 0;
    if (pc < 3) return;
    if (s->repaired && mine[0] != s->words[0]) {
        s->pc[i] = 0;
        return;
    }
    RAD_CHECK(k, RAD_ORACLE_ASSERT, mine[1] == mine[2], s->word, "half of it was read");
    spinner_end(k, action);
}

/* A lock that may fail for no reason. The bug: it looks first and takes it in another step. */
static void weak_lock_step(spinner *s, rad_kernel *k, uint32_t i, uint32_t action)
{
    switch (s->pc[i]) {
    case 0:
        if (rad_pick(k, RAD_PICK_FAULT, 0, 2) == 1 || s->words[0]) break;
        s->words[0] = s->repaired;
        s->inside += s->repaired;
        s->pc[i] = s->repaired ? 2 : 1;
        break;
    case 1: s->words[0] = 1, s->inside++, s->pc[i] = 2; break;
    default: s->words[0] = 0, s->inside--, spinner_end(k, action);
    }
}

static void spinner_step(void *self, rad_kernel *k, uint32_t action)
{
    spinner *s = self;
    uint32_t i = 0;
    while (s->go[i] != action) i++;
    switch (s->kind) {
    case PETERSON: peterson_step(s, k, i, action); break;
    case TICKET: ticket_step(s, k, i, action); break;
    case SEQLOCK: seqlock_step(s, k, i, action); break;
    case WEAK_LOCK: weak_lock_step(s, k, i, action); break;
    default: break; /* alone, and for ever */
    }
    RAD_CHECK(k, RAD_ORACLE_ASSERT, s->inside < 2, s->word, "two are inside");
}

static enum rad_end spinner_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const char *spinner_limits(const rad_machine *m, const rad_case *c)
{
    (void)m;
    return c->repaired ? "on paper" : NULL;
}

static const enum kind kinds[] = {PETERSON, TICKET, SEQLOCK, LONELY, WEAK_LOCK};

#define SPINNER(kind_name, kind)                                                                                       \
    {                                                                                                                  \
        .name = kind_name, .own = &kinds[kind], .about = "spins", .bug = "see above", .bug_site = RAD_NONE,            \
        .create = spinner_create, .destroy = free, .reset = spinner_reset, .step = spinner_step, .idle = spinner_idle, \
        .limits = spinner_limits                                                                                       \
    }

static const rad_machine spinners[KINDS] = {
    [PETERSON] = SPINNER("peterson", PETERSON),    [TICKET] = SPINNER("ticket", TICKET),
    [SEQLOCK] = SPINNER("seqlock", SEQLOCK),       [LONELY] = SPINNER("lonely", LONELY),
    [WEAK_LOCK] = SPINNER("weak-lock", WEAK_LOCK),
};

static rad_target spinner_target(enum kind kind, bool repaired)
{
    rad_error error = {0};
    rad_target t;
    if (rad_machine_find(spinners[kind].name) == NULL) assert_int_equal(rad_machine_add(&spinners[kind], &error), 0);
    assert_int_equal(rad_target_init(&t, spinners[kind].name, &error), 0);
    t.c.repaired = repaired;
    t.c.max_steps = 3000; /* three turns of the baseline: enough to be cut */
    return t;
}

static rad_exploration explored(const rad_target *t, const rad_explore_options *o)
{
    rad_error error = {0};
    rad_exploration e;
    if (rad_lab_explore(t, o, &e, &error) != 0) fail_msg("%s", error.text);
    return e;
}

static const char *statement(const rad_target *t, const rad_exploration *e)
{
    static char text[RAD_STATEMENT_MAX];
    rad_exploration_text(t, e, text);
    return text;
}

/* ---- Exploring ------------------------------------------------------------------------------------------- */

static void the_bug_of_a_spinner_is_found_and_shrunk(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        if (kind == LONELY) continue;
        rad_target t = spinner_target(kind, false);
        rad_explore_options o = {.seed = 1, .stop_on_first = true};
        rad_shrink_options few = {.checks = 2000, .certify_runs = 2000, .steps = 2000000};
        rad_exploration e = explored(&t, &o);
        rad_error error = {0};
        rad_artifact *small;
        rad_shrink_report r;
        assert_int_equal(e.finding_count, 1);
        assert_string_equal(rad_artifact_verdict(e.findings[0].artifact)->kind, "assertion");
        assert_int_equal(rad_lab_shrink(e.findings[0].artifact, &few, &small, &r, &error), 0);
        assert_in_range(r.after.preemptions, 1, 2);
        assert_in_range(r.after.steps, 4, 8);
        assert_int_equal(r.stopped, RAD_BUDGET_NONE);
        /* A certificate, or the reason why there is none. */
        bool whole = r.certificate_ended == RAD_BUDGET_NONE && r.certified_cut == 0;
        assert_int_equal(r.certificate, whole ? RAD_MINIMAL : RAD_NOT_CERTIFIED);
        rad_artifact_free(small);
        rad_artifact_free(r.second);
        rad_exploration_free(&e);
    }
}

/* Cut runs are counted, are no failure, and keep the verdict from being complete. None is cut but for a limit that is
 * shorter than two turns: these loops say nothing, and end because turns do. */
static void the_twin_of_a_spinner_passes_with_an_honest_verdict(void **state)
{
    (void)state;
    uint64_t cut = 0;
    for (uint32_t trial = 0; trial < 2 * KINDS; trial++) {
        enum kind kind = trial / 2;
        if (kind == LONELY) continue;
        rad_target t = spinner_target(kind, true);
        if (trial % 2) t.c.max_steps = 300;
        rad_explore_options o = {.strategy = "preempt:1", .runs = 2000, .seed = 1};
        rad_exploration e = explored(&t, &o);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < e.phase_count; i++) sum += e.phases[i].cut;
        assert_int_equal(e.failures, 0);
        assert_int_equal(e.finding_count, 0);
        assert_int_equal(e.cut, sum);
        assert_false(rad_exploration_all_cut(&e));
        assert_false(e.complete && e.cut > 0);
        const char *text = statement(&t, &e);
        assert_non_null(strstr(text, "nothing found in"));
        assert_non_null(strstr(text, ", on paper"));
        assert_true((strstr(text, "; every schedule was tried, ") != NULL) == e.complete);
        assert_true((strstr(text, "neither passed nor failed") != NULL) == (e.cut > 0));
        if (trial % 2 == 0) assert_int_equal(e.cut, 0);
        cut += e.cut;
        rad_exploration_free(&e);
    }
    assert_true(cut > 0);
}

static void when_every_run_is_cut_nothing_is_known(void **state)
{
    (void)state;
    rad_target t = spinner_target(LONELY, false);
    rad_explore_options o = {.seed = 1, .runs = 50};
    rad_exploration e = explored(&t, &o);
    assert_int_equal(e.failures, 0);
    assert_true(rad_exploration_all_cut(&e));
    assert_false(e.complete);
    assert_non_null(strstr(statement(&t, &e), "every run was cut, not finished after 3,000 steps: nothing is known"));
    rad_exploration_free(&e);
    rad_error error = {0};
    rad_verdict v = {0};
    rad_artifact *a = NULL;
    rad_replay again;
    rad_run_request r = {.policy = "fair", .artifact = &a};
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
    assert_int_equal(v.result, RAD_RESULT_CUT);
    assert_int_equal(v.steps, 3000);
    assert_string_equal(v.kind, "");
    assert_false(rad_artifact_expects_failure(a));
    char *text = rad_artifact_json(a, &error);
    assert_non_null(strstr(text, "\"expect\": \"cut\""));
    rad_free(text);
    assert_int_equal(rad_lab_replay(a, NULL, &again, &error), 0);
    assert_true(again.as_recorded);
    assert_int_not_equal(rad_artifact_accept(a, &error), 0); /* that is no pass */
    rad_artifact_free(a);
}

/* The same run of a machine that says that it ends. */
static void a_machine_that_ends_fails_at_its_limit(void **state)
{
    (void)state;
    static rad_machine m;
    rad_target t = spinner_target(LONELY, false);
    m = *t.machine;
    m.ends = true;
    t.machine = &m;
    rad_explore_options o = {.strategy = "dfs", .seed = 1, .runs = 50};
    rad_exploration e = explored(&t, &o);
    assert_int_equal(e.failures, 1);
    assert_int_equal(e.cut, 0);
    assert_false(e.complete);
    assert_string_equal(rad_artifact_verdict(e.findings[0].artifact)->identity, "step-limit");
    assert_string_equal(rad_artifact_verdict(e.findings[0].artifact)->message, "not finished after 3000 steps");
    rad_exploration_free(&e);
}

/* ---- Budgets --------------------------------------------------------------------------------------------- */

/* Wherever the budget of steps ends, it does so after the same run for any number of processes. */
static void a_budget_of_steps_ends_after_the_same_run(void **state)
{
    (void)state;
    static const char *const strategies[] = {"random", "preempt:2", "surw"};
    rad_target t = spinner_target(PETERSON, true);
    for (uint32_t i = 0; i < 9; i++) {
        rad_explore_options o = {.strategy = strategies[i % 3], .seed = 1, .runs = 100000};
        o.steps = (uint64_t[]){1, 2999, 60000}[i / 3];
        rad_exploration one = explored(&t, &o);
        assert_true(one.out_of_steps);
        assert_in_range(one.steps, o.steps, o.steps + 3000);
        assert_non_null(strstr(statement(&t, &one), ", stopped after "));
        assert_false(one.complete);
        o.jobs = 3;
        rad_exploration three = explored(&t, &o);
        assert_int_equal(one.runs, three.runs);
        assert_int_equal(one.steps, three.steps);
        assert_int_equal(one.cut, three.cut);
        assert_int_equal(one.classes, three.classes);
        rad_exploration_free(&one);
        rad_exploration_free(&three);
    }
}

static void a_budget_of_time_is_told(void **state)
{
    (void)state;
    rad_target t = spinner_target(PETERSON, false);
    rad_explore_options o = {.seed = 1, .stop_on_first = true};
    rad_exploration e = explored(&t, &o);
    rad_error error = {0};
    rad_shrink_options hasty = {.seconds = 1e-6};
    rad_artifact *small;
    rad_shrink_report r;
    assert_int_equal(rad_lab_shrink(e.findings[0].artifact, &hasty, &small, &r, &error), 0);
    assert_int_equal(r.stopped, RAD_BUDGET_TIME);
    if (r.after.preemptions > 0) {
        assert_int_equal(r.certificate, RAD_NOT_CERTIFIED);
        assert_int_equal(r.certificate_ended, RAD_BUDGET_TIME);
    }
    rad_artifact_free(small);
    rad_artifact_free(r.second);
    rad_exploration_free(&e);
    t = spinner_target(LONELY, false);
    o = (rad_explore_options){.seed = 1, .seconds = 0.1, .runs = 1000000000, .steps = UINT64_MAX};
    e = explored(&t, &o);
    assert_true(e.out_of_time);
    assert_non_null(strstr(statement(&t, &e), ", stopped after "));
    rad_exploration_free(&e);
}

/* A smaller budget of steps ends the reducers and the certificate, and both say so; the result is the same again. */
static void a_budget_of_steps_ends_shrinking(void **state)
{
    (void)state;
    rad_target t = spinner_target(TICKET, false);
    rad_explore_options o = {.strategy = "random", .seed = 3, .stop_on_first = true};
    rad_exploration e = explored(&t, &o);
    rad_error error = {0};
    for (uint64_t steps = 1; steps < 20000; steps *= 7) {
        rad_shrink_options few = {.steps = steps};
        rad_artifact *small[2];
        rad_shrink_report r[2];
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(rad_lab_shrink(e.findings[0].artifact, &few, &small[i], &r[i], &error), 0);
        assert_true(r[0].stopped == RAD_BUDGET_STEPS || r[0].steps < steps);
        assert_in_range(r[0].steps, 1, steps + 3000);
        assert_int_equal(r[0].certificate_ended, RAD_BUDGET_STEPS);
        char *left = rad_artifact_json(small[0], &error), *right = rad_artifact_json(small[1], &error);
        assert_string_equal(left, right);
        assert_int_equal(r[0].checks, r[1].checks);
        rad_free(left);
        rad_free(right);
        for (uint32_t i = 0; i < 2; i++) {
            rad_artifact_free(small[i]);
            rad_artifact_free(r[i].second);
        }
    }
    rad_exploration_free(&e);
}

typedef struct stages {
    uint64_t calls, certificates;
} stages;

static void on_stage(void *context, const char *stage, uint64_t checks, const rad_measure *m)
{
    stages *s = context;
    (void)checks, (void)m;
    s->calls++;
    s->certificates += strcmp(stage, "certificate") == 0;
}

static void progress_goes_on_while_a_stage_takes_long(void **state)
{
    (void)state;
    rad_target t = spinner_target(TICKET, false);
    t.c.max_steps = 0;
    rad_explore_options o = {.strategy = "random", .seed = 3, .stop_on_first = true};
    rad_exploration e = explored(&t, &o);
    rad_error error = {0};
    stages s = {0};
    rad_shrink_options told = {.progress = on_stage, .context = &s, .steps = 2000000};
    rad_artifact *small;
    rad_shrink_report r;
    /* Reports are 50 ms apart, and a fast machine may need less for one certificate. */
    uint32_t tries = 0;
    while (tries < 10 && s.certificates == tries) {
        assert_int_equal(rad_lab_shrink(e.findings[0].artifact, &told, &small, &r, &error), 0);
        assert_int_equal(r.certificate_ended, RAD_BUDGET_STEPS);
        rad_artifact_free(small);
        rad_artifact_free(r.second);
        tries++;
    }
    assert_true(s.certificates > tries); /* not only when it begins */
    rad_exploration_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bug_of_a_spinner_is_found_and_shrunk),
        cmocka_unit_test(the_twin_of_a_spinner_passes_with_an_honest_verdict),
        cmocka_unit_test(when_every_run_is_cut_nothing_is_known),
        cmocka_unit_test(a_machine_that_ends_fails_at_its_limit),
        cmocka_unit_test(a_budget_of_steps_ends_after_the_same_run),
        cmocka_unit_test(a_budget_of_time_is_told),
        cmocka_unit_test(a_budget_of_steps_ends_shrinking),
        cmocka_unit_test(progress_goes_on_while_a_stage_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
