/* test_l2_engine.c — L2 itself: everything that it looks for is found where it was put, and nowhere else; runs repeat
 * themselves. */
#include "l2_support.h"

#include "base/alloc.h"
#include "core/kernel.h"
#include "lab/l2/model.h"
#include "lab/rig.h"

#include <dirent.h>

/* ---- Litmus tests -------------------------------------------------------------------------------------- */

static void under_sequential_consistency_stores_are_not_buffered(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-buffering", false);
    rad_exploration e = explored(&t, "dfs", 100);
    assert_true(e.complete);
    assert_int_equal(e.failures, 0);
    assert_int_equal(e.runs, 6);
    assert_int_equal(e.classes, 3);
    rad_exploration_free(&e);
}

static void every_schedule_comes_once(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-inc k=5", false);
    rad_exploration e = explored(&t, "dfs", 1000);
    assert_true(e.complete);
    assert_int_equal(e.runs, 252); /* 10! / 5!² */
    assert_int_equal(e.classes, 252);
    rad_exploration_free(&e);
    t = target_of("l2-inc n=3 k=2", false);
    e = explored(&t, "dfs", 1000);
    assert_int_equal(e.runs, 90); /* 6! / 2!³ */
    assert_int_equal(e.classes, 90);
    rad_exploration_free(&e);
}

/* Oracle and role of an identity, whatever its site is. */
static bool names(const char *identity, const char *what)
{
    size_t length = strlen(what);
    return strncmp(identity, what, length) == 0 && (identity[length] == 0 || identity[length] == '@');
}

static void what_is_not_published_is_a_race(void **state)
{
    (void)state;
    if (is_missing()) skip();
    for (int how = 0; how <= 8; how++) {
        char words[40];
        snprintf(words, sizeof words, "l2-message how=%d", how);
        rad_target t = target_of(words, false);
        rad_exploration e = explored(&t, "dfs", 1000);
        if (e.finding_count != 1) fail_msg("%s: %u findings", words, (unsigned)e.finding_count);
        const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
        assert_true(names(v->identity, "data race:data"));
        assert_non_null(strstr(v->identity, "@message_body: "));
        assert_non_null(strstr(v->message, "writer writes at message_body: write"));
        assert_non_null(strstr(v->message, "reader reads at message_body: read"));
        rad_exploration_free(&e);
        t.c.repaired = true;
        e = explored(&t, "dfs", 1000);
        if (e.failures) fail_msg("%s: the twin fails", words);
        assert_true(e.complete);
        assert_true(e.evaluations[RAD_ORACLE_OWN] > 0 && e.evaluations[RAD_ORACLE_ASSERT] > 0);
        rad_exploration_free(&e);
    }
}

/* A fence publishes what is before it; a read takes no write's place in the history of a word. */
static void what_is_heard_too_late_or_by_hearsay_is_a_race(void **state)
{
    static const char *const words[] = {"l2-message how=9", "l2-message how=10"};
    static const char *const first[] = {"writer writes at say: ", "writer writes atomically at say: "};
    static const char *const then[] = {"reader reads at message_body: ", "third reads at "};
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; i < 2; i++) {
        rad_target t = target_of(words[i], false);
        rad_exploration e = explored(&t, "dfs", 1000);
        if (e.finding_count != 1) fail_msg("%s: %u findings", words[i], (unsigned)e.finding_count);
        const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
        assert_true(names(v->identity, "data race:data"));
        if (strstr(v->message, first[i]) == NULL || strstr(v->message, then[i]) == NULL)
            fail_msg("%s: %s", words[i], v->message);
        rad_exploration_free(&e);
        t.c.repaired = true;
        e = explored(&t, "dfs", 1000);
        if (e.failures) fail_msg("%s: the twin fails", words[i]);
        assert_true(e.complete);
        rad_exploration_free(&e);
    }
}

/* Locks that spin: the correct ones end and are clean, the others are found, in the same words as at L1. */
static void locks_that_spin_end_or_are_found(void **state)
{
    static const struct {
        const char *wrong, *strategy, *tried;
    } locks[] = {
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* Peterson's */
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* tickets */
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* exchange */
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* giving way */
        {"assertion", "dfs", "; every fair schedule was tried, under"},        /* sequence */
        {"livelock:lock", "dfs", "; every fair schedule was tried, under"},    /* patience */
        {"data race:inside", "preempt:3", "but all fair ones with at most 3"}, /* Dekker's */
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* backing off */
        {"assertion", "preempt:3", "but all with at most 3"},                  /* retry */
        {"assertion", "preempt:2", "but all fair ones with at most 2"},        /* two writers */
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* own tries */
        {"data race:inside", "dfs", "; every fair schedule was tried, under"}, /* all tries */
        {"livelock:flag", "dfs", "; every fair schedule was tried, under"},    /* two locks */
        {"livelock:lock", "dfs", "; every fair schedule was tried, under"},    /* a sleeper */
    };
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        char words[40], text[RAD_STATEMENT_MAX];
        bool found = false;
        snprintf(words, sizeof words, "l2-spin lock=%u", (unsigned)i);
        rad_target t = target_of(words, true);
        rad_exploration e = explored(&t, locks[i].strategy, 10000);
        rad_exploration_text(&t, &e, text);
        if (e.failures || e.cut) fail_msg("%s: the twin fails", words);
        if (strstr(text, locks[i].tried) == NULL) fail_msg("%s: %s", words, text);
        bool fair = strstr(locks[i].tried, "fair") != NULL;
        assert_true((e.held > 0) == fair);
        assert_true((strstr(text, "; fair schedules only. In ") != NULL) == fair);
        rad_exploration_free(&e);
        t.c.repaired = false;
        e = explored(&t, "preempt:3", 1000);
        for (uint32_t f = 0; f < e.finding_count; f++) {
            const rad_verdict *v = rad_artifact_verdict(e.findings[f].artifact);
            found |= names(v->identity, locks[i].wrong);
            if (strcmp(v->kind, "livelock") == 0)
                assert_non_null(strstr(v->message, " can repeat forever: they end in the state"));
            assert_string_not_equal(v->kind, "step-limit");
        }
        if (!found) fail_msg("%s: no %s", words, locks[i].wrong);
        rad_exploration_free(&e);
    }
}

static void every_thread_has_its_own_variables(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-locals", false);
    rad_exploration e = explored(&t, "dfs", 100);
    assert_true(e.complete);
    assert_int_equal(e.runs, 20);
    assert_int_equal(e.evaluations[RAD_ORACLE_ASSERT], 20 * 2 * 3);
    if (e.failures) fail_msg("%s", rad_artifact_verdict(e.findings[0].artifact)->message);
    rad_exploration_free(&e);
}

/* ---- What L2 looks for ---------------------------------------------------------------------------------- */

static void every_mistake_is_found_and_no_twin_is(void **state)
{
    static const char *const identities[] = {
        "use after free:block", "use after free",      "leak",
        "data race:block",      "bad address:heap",    "unseen write:word",
        "deadlock:other",       "livelock:word",       "assertion",
        "data race:small",      "assertion",           "data race:static",
        "data race:word",       "use after free:heap", "data race:heap",
        "crash:SIGSEGV",        "assertion",           "deadlock:other",
        "data race:small",      "assertion",           "bad address:static",
    };
    (void)state;
    if (is_missing()) skip();
    for (uint32_t kind = 0; kind < sizeof identities / sizeof *identities; kind++) {
        char words[40];
        bool found = false;
        snprintf(words, sizeof words, "l2-mistakes kind=%u", (unsigned)kind);
        rad_target t = target_of(words, false);
        rad_exploration e = explored(&t, "preempt:3", 10000);
        for (uint32_t i = 0; i < e.finding_count; i++)
            found |= names(rad_artifact_verdict(e.findings[i].artifact)->identity, identities[kind]);
        if (!found)
            fail_msg("%s: %s is not found, but %s", words, identities[kind],
                     e.finding_count ? rad_artifact_verdict(e.findings[0].artifact)->identity : "nothing");
        rad_exploration_free(&e);
        t.c.repaired = true;
        e = explored(&t, "preempt:3", 10000);
        if (e.failures) fail_msg("%s: the twin: %s", words, rad_artifact_verdict(e.findings[0].artifact)->message);
        assert_true(e.complete);
        rad_exploration_free(&e);
    }
}

static void the_twins_of_the_oracles_are_asked(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-mistakes kind=1", true);
    rad_exploration e = explored(&t, "dfs", 1000);
    for (uint32_t oracle = RAD_ORACLE_OWN; oracle <= RAD_ORACLE_OWN + 3; oracle++)
        assert_true(e.evaluations[oracle] > 0);
    rad_exploration_free(&e);
}

/* ---- Determinism ------------------------------------------------------------------------------------------ */

static void runs_repeat_themselves(void **state)
{
    const rad_machine *m;
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; (m = rad__l2_machine(i)) != NULL; i++) {
        rad_target t = target_of(m->name, false);
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = "random", .runs = 200, .seed = 9, .twice = true};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        for (uint32_t f = 0; f < e.finding_count; f++)
            assert_string_not_equal(rad_artifact_verdict(e.findings[f].artifact)->identity, "nondeterminism");
        rad_exploration_free(&e);
    }
}

/* ---- More than one bug ------------------------------------------------------------------------------------- */

static const rad_finding *finding_of(const rad_exploration *e, const char *identity)
{
    for (uint32_t i = 0; i < e->finding_count; i++)
        if (strcmp(rad_artifact_verdict(e->findings[i].artifact)->identity, identity) == 0) return &e->findings[i];
    return NULL;
}

static rad_exploration explored_with(const char *words, rad_explore_options o)
{
    rad_target t = target_of(words, false);
    rad_exploration e;
    rad_error error = {0};
    o.strategy = "preempt:3";
    o.seed = 1;
    o.runs = 10000;
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    return e;
}

/* It replays in a new process and shrinks, and both times it is the same failure. */
static void assert_keeps(const rad_finding *f)
{
    rad_error error = {0};
    rad_replay r;
    rad_artifact *small = NULL;
    rad_shrink_report report;
    const char *identity = rad_artifact_verdict(f->artifact)->identity;
    assert_int_equal(rad_lab_replay(f->artifact, NULL, &r, &error), 0);
    if (!r.as_recorded) fail_msg("%s: %s", identity, r.reason);
    assert_int_equal(rad_lab_shrink(f->artifact, NULL, &small, &report, &error), 0);
    assert_string_equal(rad_artifact_verdict(small)->identity, identity);
    assert_int_equal(rad_lab_replay(small, NULL, &r, &error), 0);
    assert_true(r.as_recorded);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
}

static void a_race_does_not_hide_a_deadlock(void **state)
{
    static const char *const race = "data race:small@tell: write / tell: write";
    (void)state;
    if (is_missing()) skip();
    rad_exploration e = explored_with("l2-mistakes kind=17", (rad_explore_options){.jobs = 2});
    const rad_finding *r = finding_of(&e, race), *d = finding_of(&e, "deadlock:other");
    assert_int_equal(e.finding_count, 2);
    assert_non_null(r);
    assert_non_null(d);
    assert_int_equal(r->failures, e.runs); /* each run has the race, once */
    assert_true(d->failures > 0 && d->failures < e.runs);
    assert_int_equal(e.failures, e.runs);
    assert_keeps(r);
    assert_keeps(d);
    rad_exploration_free(&e);
    e = explored_with("l2-mistakes kind=17", (rad_explore_options){.races_fatal = true});
    assert_int_equal(e.finding_count, 1); /* every run ends at its race */
    assert_non_null(finding_of(&e, race));
    rad_exploration_free(&e);
}

static void two_races_are_two_findings(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_exploration e = explored_with("l2-mistakes kind=18", (rad_explore_options){.jobs = 1});
    const rad_finding *one = finding_of(&e, "data race:small@first_race: write / first_race: write"),
                      *two = finding_of(&e, "data race:small@second_race: write / second_race: write");
    assert_int_equal(e.finding_count, 2);
    assert_non_null(one);
    assert_non_null(two);
    assert_non_null(strstr(rad_artifact_verdict(two->artifact)->message, "may follow from an earlier race"));
    assert_null(strstr(rad_artifact_verdict(one->artifact)->message, "may follow"));
    assert_keeps(one);
    assert_keeps(two);
    rad_exploration_free(&e);
}

static void two_assertions_are_two_findings(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_exploration e = explored_with("l2-mistakes kind=19", (rad_explore_options){.jobs = 1});
    const rad_finding *one = finding_of(&e, "assertion@two_assertions: first == 0"),
                      *two = finding_of(&e, "assertion@two_assertions: second == 1");
    assert_int_equal(e.finding_count, 2);
    assert_non_null(one);
    assert_non_null(two);
    assert_keeps(one);
    assert_keeps(two);
    rad_exploration_free(&e);
}

/* By function or by file, with stars; what is suppressed is counted. */
static void races_are_suppressed_by_function_and_file(void **state)
{
    static const char *const lists[][3] = {
        {"first_race"}, {"*_race", NULL}, {"mistakes.c"}, {"first*", "nothing", NULL}, {"first_rac"}};
    static const uint32_t left[] = {1, 0, 0, 1, 2};
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; i < sizeof left / sizeof *left; i++) {
        rad_exploration e = explored_with("l2-mistakes kind=18", (rad_explore_options){.suppressed = lists[i]});
        assert_int_equal(e.finding_count, left[i]);
        assert_true((e.races_suppressed > 0) == (left[i] < 2));
        assert_true((e.failures > 0) == (left[i] > 0));
        rad_exploration_free(&e);
    }
}

static void every_finding_replays_and_shrinks(void **state)
{
    static const char *const words[] = {"l2-message how=4", "l2-mistakes kind=0", "l2-mistakes kind=6",
                                        "l2-mistakes kind=7"};
    (void)state;
    if (is_missing()) skip();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rad_target t = target_of(words[i], false);
        rad_exploration e = explored(&t, "random", 500);
        assert_true(e.finding_count > 0);
        rad_error error = {0};
        rad_replay replay;
        rad_artifact *small = NULL;
        rad_shrink_report report;
        assert_int_equal(rad_lab_replay(e.findings[0].artifact, NULL, &replay, &error), 0);
        if (!replay.as_recorded) fail_msg("%s: %s", words[i], replay.reason);
        assert_int_equal(rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error), 0);
        assert_int_equal(rad_lab_replay(small, NULL, &replay, &error), 0);
        if (!replay.as_recorded) fail_msg("%s: %s", words[i], replay.reason);
        rad_artifact_free(small);
        rad_artifact_free(report.second);
        rad_exploration_free(&e);
    }
}

static uint32_t thread_count(void)
{
    uint32_t count = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* The space of the second instance lies elsewhere: the digest must not know. */
static void addresses_do_not_matter(void **state)
{
    static const char *const words[] = {"l2-deque tasks=3", "l2-injector tasks=2", "l2-executor"};
    (void)state;
    if (is_missing()) skip();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rad_target t = target_of(words[i], false);
        rad_error error = {0};
        rad_rig first, second;
        assert_int_equal(rad__rig_open(&first, &t, &error), 0);
        assert_int_equal(rad__rig_open(&second, &t, &error), 0);
        uint32_t list[60];
        for (uint32_t n = 0; n < 60; n++) list[n] = n % 3 == 1;
        rad__rig_guide(&first, list, 60, false, NULL);
        rad__rig_guide(&second, list, 60, false, NULL);
        assert_true(first.kernel->outcome == RAD_OUTCOME_FINISHED);
        assert_true(rad__digest_equal(first.kernel->trace.digest, second.kernel->trace.digest));
        rad__rig_guide(&first, list, 60, false, NULL); /* and back again */
        assert_true(rad__digest_equal(first.kernel->trace.digest, second.kernel->trace.digest));
        rad__rig_close(&first);
        rad__rig_close(&second);
    }
}

static void threads_end_with_the_machine(void **state)
{
    (void)state;
    if (is_missing()) skip();
    uint32_t before = thread_count();
    rad_target t = target_of("l2-locals", false);
    rad_error error = {0};
    rad_rig rig;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
        assert_int_equal(rad__rig_guide(&rig, NULL, 0, false, NULL), RAD_OUTCOME_FINISHED);
        assert_true(thread_count() > before);
        rad__rig_close(&rig);
        assert_int_equal(thread_count(), before);
    }
}

/* ---- Machines ---------------------------------------------------------------------------------------------- */

static void machines_are_described(void **state)
{
    const rad_machine *m;
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; (m = rad__l2_machine(i)) != NULL; i++) {
        rad_target t = target_of(m->name, false);
        rad_error error = {0};
        void *self;
        assert_int_equal(strncmp(m->name, "l2-", 3), 0);
        assert_non_null(m->about);
        assert_int_equal(m->create(&self, m, &t.c, &error), 0);
        uint32_t sites = 0;
        while (m->site_name(self, sites)) sites++;
        assert_in_range(sites, 1, RAD_SITES_MAX);
        if (m->bug)
            assert_true(m->bug_site < sites);
        else
            assert_int_equal(m->bug_site, RAD_NONE);
        m->destroy(self);
    }
    assert_null(rad__l2_machine(UINT32_MAX));
}

static void sites_have_names(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-deque", false);
    rad_error error = {0};
    void *self;
    const char *name;
    uint32_t pops = 0, own = 0;
    assert_int_equal(t.machine->create(&self, t.machine, &t.c, &error), 0);
    for (uint32_t i = 0; (name = t.machine->site_name(self, i)) != NULL; i++) {
        pops += strncmp(name, "rad__deque_pop: load ", 21) == 0;
        own += strstr(name, "deque") == NULL;
        assert_non_null(strstr(name, "deque."));
    }
    assert_int_equal(pops, 4); /* bottom, array, top, slot */
    assert_int_equal(own, 0);
    t.machine->destroy(self);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-deque", false);
    for (uint64_t n = 1;; n++) {
        void *self;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = t.machine->create(&self, t.machine, &t.c, &error);
        rad__alloc_fail_at(0);
        if (code == 0) {
            t.machine->destroy(self);
            assert_true(n > 5);
            return;
        }
        assert_int_equal(code, RAD_ENOMEM);
        assert_null(self);
    }
}

/* A model may say that it has a bug without saying where. */
static void a_bug_needs_no_place(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_model m = {.name = "l2-x", .file = "models/message.c", .bug = "something is wrong"};
    assert_int_equal(rad__l2_bug_site(&m), RAD_NONE);
    m.bug_at = "hear_by_load";
    assert_int_not_equal(rad__l2_bug_site(&m), RAD_NONE);
    m.bug_at = "no_such_function";
    assert_int_equal(rad__l2_bug_site(&m), RAD_NONE);
    m.bug = NULL;
    assert_int_equal(rad__l2_bug_site(&m), RAD_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_sequential_consistency_stores_are_not_buffered),
        cmocka_unit_test(every_schedule_comes_once),
        cmocka_unit_test(what_is_not_published_is_a_race),
        cmocka_unit_test(what_is_heard_too_late_or_by_hearsay_is_a_race),
        cmocka_unit_test(locks_that_spin_end_or_are_found),
        cmocka_unit_test(every_thread_has_its_own_variables),
        cmocka_unit_test(every_mistake_is_found_and_no_twin_is),
        cmocka_unit_test(the_twins_of_the_oracles_are_asked),
        cmocka_unit_test(runs_repeat_themselves),
        cmocka_unit_test(a_race_does_not_hide_a_deadlock),
        cmocka_unit_test(two_races_are_two_findings),
        cmocka_unit_test(two_assertions_are_two_findings),
        cmocka_unit_test(races_are_suppressed_by_function_and_file),
        cmocka_unit_test(every_finding_replays_and_shrinks),
        cmocka_unit_test(addresses_do_not_matter),
        cmocka_unit_test(threads_end_with_the_machine),
        cmocka_unit_test(machines_are_described),
        cmocka_unit_test(a_bug_needs_no_place),
        cmocka_unit_test(sites_have_names),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    l2_run(tests);
}
