/* test_attack.c — attempts to make the lab say something untrue, from the outside: odd machines, odd hosts.
 * Random machines are compared with themselves: a failure that kills its process must be found exactly where
 * one that is only reported is found, whatever the strategy and the number of workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/prng.h"
#include "lab/artifact.h"
#include "rig_support.h"
#include "storm_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 1, .jobs = jobs};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", strategy, error.text);
    return e;
}

static const char *identity_of(const rad_exploration *e, uint32_t i)
{
    return rad_artifact_verdict(e->findings[i].artifact)->identity;
}

/* ---- Random machines --------------------------------------------------------------------------------- */

enum { WILD_ACTORS = 4, WILD_OBJECTS = 32 };

static struct wild {
    uint64_t seed;  /* which machine */
    bool dies;      /* some failures kill the process */
    uint64_t kinds; /* how many kinds of reported failures */
    uint32_t count, action[WILD_ACTORS], actor[WILD_ACTORS], left[WILD_ACTORS];
    uint32_t object[WILD_OBJECTS];
    uint64_t past; /* everything that happened */
} wild;

static char wild_roles[WILD_OBJECTS][8];

static void wild_spawn(rad_kernel *k, uint32_t by)
{
    if (wild.count == WILD_ACTORS) return;
    uint32_t i = wild.count++;
    wild.actor[i] = rad_actor(k, by, "actor");
    wild.action[i] = rad_action(k, 0, wild.actor[i], RAD_NONE, 0);
    wild.left[i] = 1 + (uint32_t)(rad__mix2(wild.seed, i) % 3);
    rad_announce(k, wild.action[i], i, wild.object[i], RAD_WRITE);
    rad_enable(k, wild.action[i]);
}

static void wild_reset(puppet *p, rad_kernel *k)
{
    (void)p;
    wild.count = 0;
    wild.past = 0;
    for (uint32_t i = 0; i < WILD_OBJECTS; i++) {
        snprintf(wild_roles[i], sizeof wild_roles[i], "r%u", i);
        wild.object[i] = rad_object(k, RAD_NONE, wild_roles[i]);
    }
    for (uint64_t i = 0; i < 2 + wild.seed % 2; i++) wild_spawn(k, RAD_NONE);
}

static void wild_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t i = 0;
    (void)p;
    while (wild.action[i] != action) i++;
    wild.past = rad__mix2(wild.past, i + 1);
    uint64_t r = rad__mix2(wild.past, wild.seed);
    if (r % 5 == 0) wild.past = rad__mix2(wild.past, rad_pick(k, RAD_PICK_VALUE, 1, 2 + (uint32_t)(r >> 8 & 1)));
    if ((r >> 16) % 7 == 0) wild_spawn(k, wild.actor[i]);
    if ((r >> 24) % 6 == 0) rad_yields(k);
    if (--wild.left[i] == 0) {
        rad_disable(k, action);
        rad_ended(k, wild.actor[i]);
    }
    rad_value(k, wild.past);
    r = rad__mix2(wild.past, 5);
    if (r % 23 == 0 && wild.dies) {
        if (r & 512) abort();
        _exit(7);
    }
    if (r % 23 == 0)
        rad_fail(k, RAD_ORACLE_ASSERT, wild.object[r & 512 ? 0 : 1], "would have died");
    else if (r % 29 == 1)
        rad_fail(k, RAD_ORACLE_ASSERT, wild.object[2 + (r >> 32) % wild.kinds], "failed");
}

static rad_target wild_target(uint64_t seed, bool dies, uint64_t kinds)
{
    static puppet p = {.reset = wild_reset, .step = wild_step};
    wild = (struct wild){.seed = seed, .dies = dies, .kinds = kinds};
    return puppet_target(&p);
}

/* What there is to compare; a death has the name of the failure it stands for. */
static void wild_text(const rad_exploration *e, char *text, size_t size)
{
    int used = snprintf(text, size, "%llu runs, %llu failed, complete %d", (unsigned long long)e->runs,
                        (unsigned long long)e->failures, e->complete);
    for (uint32_t i = 0; i < e->phase_count; i++)
        used += snprintf(text + used, size - (size_t)used, "; %s %llu %d%d", e->phases[i].name,
                         (unsigned long long)e->phases[i].runs, e->phases[i].exhausted, e->phases[i].pruned);
    for (uint32_t i = 0; i < e->finding_count; i++) {
        const char *name = identity_of(e, i);
        if (strcmp(name, "crash:SIGABRT") == 0) name = "assertion:r0@would have died";
        if (strncmp(name, "crash:exit", 10) == 0) name = "assertion:r1@would have died";
        used += snprintf(text + used, size - (size_t)used, "; %s %llu %llu", name,
                         (unsigned long long)e->findings[i].run, (unsigned long long)e->findings[i].failures);
    }
}

static void deaths_are_found_where_reports_are_found(void **state)
{
    static const char *const strategies[] = {"dfs", "preempt:2", "delay:3", "random"};
    (void)state;
    for (uint64_t seed = 0; seed < storm_size(2, 6); seed++) {
        for (uint32_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            char expected[4096] = "", found[4096];
            for (uint32_t jobs = 1; jobs <= 3; jobs++) {
                for (uint32_t dies = 0; dies < 2; dies++) {
                    rad_target t = wild_target(seed, dies, 4);
                    rad_exploration e = explored(&t, strategies[s], 150 + 40 * seed, jobs);
                    wild_text(&e, found, sizeof found);
                    rad_exploration_free(&e);
                    if (*expected == 0) snprintf(expected, sizeof expected, "%s", found);
                    assert_string_equal(found, expected);
                }
            }
        }
    }
}

static void shrinking_twice_gives_what_shrinking_once_gave(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < storm_size(3, 8); seed++) {
        rad_target t = wild_target(seed, seed % 2, 4);
        rad_exploration e = explored(&t, "random", 300, 1);
        for (uint32_t i = 0; i < e.finding_count; i++) {
            rad_error error = {0};
            rad_shrink_report first, second;
            rad_artifact *once = NULL, *twice = NULL;
            rad_replay r;
            assert_int_equal(rad_lab_shrink(e.findings[i].artifact, NULL, &once, &first, &error), 0);
            assert_int_equal(rad_lab_shrink(once, NULL, &twice, &second, &error), 0);
            char *a = rad_artifact_json(once, &error), *b = rad_artifact_json(twice, &error);
            assert_string_equal(a, b);
            assert_int_equal(first.certificate, second.certificate);
            assert_string_equal(rad_artifact_verdict(once)->identity, identity_of(&e, i));
            assert_int_equal(rad_lab_replay(once, NULL, &r, &error), 0);
            assert_true(r.as_recorded);
            rad_free(a);
            rad_free(b);
            rad_artifact_free(once);
            rad_artifact_free(twice);
            rad_artifact_free(first.second);
            rad_artifact_free(second.second);
        }
        rad_exploration_free(&e);
    }
}

/* More kinds of failures than the table of findings holds: the counts must not depend on the cut. */
static void a_full_table_counts_alike_for_any_number_of_workers(void **state)
{
    static const char *const strategies[] = {"dfs", "random"};
    (void)state;
    for (uint32_t s = 0; s < 2; s++) {
        char expected[4096] = "", found[4096];
        for (uint32_t jobs = 1; jobs <= 4; jobs++) {
            rad_target t = wild_target(3, false, 30);
            rad_exploration e = explored(&t, strategies[s], 3000, jobs);
            assert_int_equal(e.finding_count, RAD_FINDINGS_MAX);
            wild_text(&e, found, sizeof found);
            rad_exploration_free(&e);
            if (*expected == 0) snprintf(expected, sizeof expected, "%s", found);
            assert_string_equal(found, expected);
        }
    }
}

/* ---- Certificates ------------------------------------------------------------------------------------- */

/* Two actors; fails when they have taken turns `wanted` times. */
typedef struct turns {
    uint32_t wanted, taken, last, done[2];
} turns;

static void turns_reset(puppet *p, rad_kernel *k)
{
    turns *t = p->data;
    *t = (turns){.wanted = t->wanted, .last = RAD_NONE};
    p->objects[0] = rad_object(k, RAD_NONE, "turn");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void turns_step(puppet *p, rad_kernel *k, uint32_t action)
{
    turns *t = p->data;
    uint32_t i = action == p->actions[1];
    t->taken += t->last != RAD_NONE && t->last != i;
    t->last = i;
    if (t->taken == t->wanted) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "taken");
    if (++t->done[i] > t->wanted) rad_disable(k, action);
}

static rad_artifact *turns_artifact(uint32_t wanted)
{
    static turns t;
    static puppet p = {.reset = turns_reset, .step = turns_step, .data = &t};
    t.wanted = wanted;
    rad_target target = puppet_target(&p);
    rad_exploration e = explored(&target, "fair", 1, 1);
    assert_int_equal(e.finding_count, 1);
    rad_artifact *a = e.findings[0].artifact;
    e.findings[0].artifact = NULL;
    rad_exploration_free(&e);
    return a;
}

/* The budget of the certificate may end exactly where a lower bound does: that proves nothing. */
static void a_certificate_needs_the_bound_it_names(void **state)
{
    (void)state;
    rad_artifact *a = turns_artifact(4);
    for (uint64_t budget = 1; budget <= 12; budget++) {
        rad_error error = {0};
        rad_shrink_options o = {.certify_runs = budget};
        rad_shrink_report r;
        rad_artifact *small = NULL;
        assert_int_equal(rad_lab_shrink(a, &o, &small, &r, &error), 0);
        rad_exploration all = explored(rad_artifact_target(small), "preempt:2", 100000, 1);
        assert_int_equal(r.after.preemptions, 3);
        if (r.certificate == RAD_MINIMAL) assert_int_equal(r.certified_runs, all.runs);
        rad_exploration_free(&all);
        rad_artifact_free(small);
    }
    rad_artifact_free(a);
}

static void preemptions_beyond_every_bound_are_not_certified(void **state)
{
    (void)state;
    rad_artifact *a = turns_artifact(1100), *small = NULL;
    rad_error error = {0};
    rad_shrink_options o = {.checks = 1};
    rad_shrink_report r;
    if (rad_lab_shrink(a, &o, &small, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.certificate, RAD_NOT_CERTIFIED);
    rad_artifact_free(small);
    rad_artifact_free(a);
}

/* One actor with two actions: it goes on with itself, whichever is taken. */
static void solo_reset(puppet *p, rad_kernel *k)
{
    uint32_t actor = rad_actor(k, RAD_NONE, "solo");
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "order");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, i, actor, RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void solo_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (p->number++ == 0) {
        p->objects[1] = action;
        return;
    }
    if (action == p->actions[0] && p->objects[1] == p->actions[1])
        rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "the first came second");
    rad_disable(k, p->actions[0]);
    rad_disable(k, p->actions[1]);
}

static void an_actor_does_not_preempt_itself(void **state)
{
    (void)state;
    puppet p = {.reset = solo_reset, .step = solo_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "dfs", 100, 1);
    rad_error error = {0};
    uint64_t preemptive = 0;
    for (uint32_t i = 0; i < e.finding_count; i++) {
        rad_story *s = NULL;
        assert_int_equal(rad_lab_story(e.findings[i].artifact, &s, &error), 0);
        for (uint64_t l = 0; l < s->line_count; l++) preemptive += s->lines[l].turn == RAD_SWITCH_PREEMPTIVE;
        assert_int_equal(s->measure.preemptions, preemptive);
        rad_story_free(s);
    }
    rad_exploration_free(&e);
}

/* ---- Claims of completeness ----------------------------------------------------------------------------- */

/* Two actors that go round for ever; `number` is where they are. */
static void round_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void round_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)k;
    p->number = (p->number + (action == p->actions[0] ? 1 : 2)) % 3;
}

static void round_state(const void *self, rad_state_hash *h)
{
    rad_state_add(h, &((const puppet *)self)->number, sizeof(uint64_t));
}

/* Every schedule of this machine is endless: whoever says that all were tried has to have seen it. */
static void dedup_does_not_overlook_a_livelock_and_call_it_complete(void **state)
{
    (void)state;
    static rad_machine m;
    puppet p = {.reset = round_reset, .step = round_step};
    rad_target t = puppet_target(&p);
    m = puppet_machine;
    m.state = round_state;
    t.machine = &m;
    rad_exploration e = explored(&t, "dedup", 1000, 1);
    assert_true(!e.complete || e.failures > 0);
    rad_exploration_free(&e);
}

/* Somebody kills a worker in the middle of a run, once: what was below that run must not be forgotten. */
static volatile uint32_t *killed_resets; /* shared with the workers */

static void killed_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    p->objects[1] = ++*killed_resets;
    p->objects[0] = rad_object(k, RAD_NONE, "cell");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        p->actions[2 + i] = 0;
        rad_announce(k, p->actions[i], 0, p->objects[0], RAD_WRITE);
        rad_enable(k, p->actions[i]);
    }
}

static void killed_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t i = action == p->actions[1];
    if (++p->number == 2 && p->objects[1] == 10) raise(SIGKILL);
    if (++p->actions[2 + i] == 4) rad_disable(k, action);
}

static void a_worker_killed_from_outside_leaves_no_gap(void **state)
{
    (void)state;
    killed_resets = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(killed_resets, MAP_FAILED);
    puppet p = {.reset = killed_reset, .step = killed_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "dfs", 1000, 1);
    if (e.complete) assert_in_range(e.classes, 69, 70); /* (4 + 4)! / (4! 4!), each a class of its own */
    rad_exploration_free(&e);
    munmap((void *)killed_resets, 4096);
}

/* ---- Machines that misbehave ---------------------------------------------------------------------------- */

static void term_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1]) raise(SIGTERM);
    rad_disable(k, action);
}

static void a_machine_that_terminates_itself_has_failed(void **state)
{
    (void)state;
    puppet p = {.reset = round_reset, .step = term_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "dfs", 100, 1);
    assert_false(e.interrupted);
    assert_int_equal(e.finding_count, 1);
    rad_exploration_free(&e);
}

static void four_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1]) _exit(4);
    rad_disable(k, action);
}

static void a_machine_that_exits_with_4_is_no_bug_of_raddle(void **state)
{
    (void)state;
    puppet p = {.reset = round_reset, .step = four_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "dfs", 100, 1);
    assert_string_equal(identity_of(&e, 0), "crash:exit status 4");
    rad_exploration_free(&e);
}

static void crowd_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 6; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void crowd_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    rad_pick(k, RAD_PICK_ACTION, 0, 2);
    rad_pick(k, (enum rad_pick_kind)77, 0, 2);
    rad_disable(k, action);
}

/* A kind is for people: no value of it may confuse a policy. */
static void a_pick_of_any_kind_is_a_pick(void **state)
{
    static const char *const strategies[] = {"first", "random", "fair", "pct:3", "surw", "dfs"};
    (void)state;
    puppet p = {.reset = crowd_reset, .step = crowd_step};
    rad_target t = puppet_target(&p);
    for (uint32_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        rad_exploration e = explored(&t, strategies[i], 300, 1);
        assert_int_equal(e.failures, 0);
        rad_exploration_free(&e);
    }
}

static uint32_t creates_without_error;

static int refusing_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)self, (void)c;
    creates_without_error += error == NULL;
    if (error) snprintf(error->text, sizeof error->text, "no"), error->code = RAD_EINPUT;
    return RAD_EINPUT;
}

static const char *no_site(const void *self, uint32_t site)
{
    (void)self, (void)site;
    return NULL;
}

static void create_can_always_say_why_it_refuses(void **state)
{
    (void)state;
    static rad_machine m;
    m = puppet_machine;
    m.create = refusing_create;
    m.site_name = no_site;
    rad_target t = {.machine = &m};
    rad_error error = {0};
    rad_explore_options o = {.runs = 10};
    rad_exploration e;
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), RAD_EINPUT);
    assert_string_equal(error.text, "no");
    assert_int_equal(creates_without_error, 0);
}

/* ---- Hosts ------------------------------------------------------------------------------------------------ */

/* The story runs the machine in this process: it must not run what kills it, whatever the file says. */
static void a_story_of_a_run_that_dies_does_not_kill_the_host(void **state)
{
    (void)state;
    rad_target t = target_of("crash", NULL);
    rad_exploration e = explored(&t, "dfs", 1000, 1);
    assert_int_equal(e.finding_count, 1);
    rad_artifact *a = e.findings[0].artifact;
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 0) a->expected.failure_step++;
        if (i == 1) snprintf(a->expected.kind, sizeof a->expected.kind, "assertion");
        if (i == 2) a->expects_failure = false, a->expected.result = RAD_RESULT_PASS;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* not the one of the test framework */
            rad_error error = {0};
            rad_story *s = NULL;
            rad_lab_story(a, &s, &error);
            _exit(0);
        }
        int how = 0;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how));
    }
    rad_exploration_free(&e);
}

/* A shell or a daemon may have told the system to forget dead children: inherited by whoever it starts. */
static void a_host_that_ignores_its_children_can_use_the_lab(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    rad_target t = target_of("crash", NULL), quiet = target_of("inc", NULL);
    rad_error error = {0};
    rad_verdict v;
    rad_run_request request = {.policy = "random", .seed = 1};
    rad_exploration e;
    rad_explore_options o = {.strategy = "dfs", .runs = 1000, .seed = 1};
    int run = rad_lab_run(&quiet, &request, &v, &error);
    int search = rad_lab_explore(&t, &o, &e, &error);
    uint32_t found = search == 0 ? e.finding_count : 0;
    if (search == 0) rad_exploration_free(&e);
    signal(SIGCHLD, before);
    assert_int_equal(run, 0);
    assert_int_equal(search, 0);
    assert_int_equal(found, 1);
}

/* Calls one after the other with one rad_error: an old error is not the answer to a new question. */
static void an_old_error_does_not_spoil_the_next_call(void **state)
{
    (void)state;
    rad_target t = target_of("locks", NULL);
    rad_error error = {0};
    rad_exploration e;
    rad_explore_options bad = {.strategy = "nope"}, good = {.strategy = "dfs", .runs = 1000};
    assert_int_equal(rad_lab_explore(&t, &bad, &e, &error), RAD_EINPUT);
    assert_int_equal(rad_lab_explore(&t, &good, &e, &error), 0);
    assert_true(e.complete);
    rad_exploration_free(&e);
}

/* Not after the search, when the bug is found and then cannot be kept. */
static void a_seed_no_file_can_hold_is_refused_at_once(void **state)
{
    (void)state;
    rad_target bug = target_of("locks", NULL), none = target_of("inc", NULL);
    rad_explore_options o = {.strategy = "dfs", .runs = 10, .seed = UINT64_MAX};
    rad_error first = {0}, second = {0};
    rad_exploration e;
    int with = rad_lab_explore(&bug, &o, &e, &first);
    if (with == 0) rad_exploration_free(&e);
    int without = rad_lab_explore(&none, &o, &e, &second);
    if (without == 0) rad_exploration_free(&e);
    assert_int_equal(with, without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deaths_are_found_where_reports_are_found),
        cmocka_unit_test(shrinking_twice_gives_what_shrinking_once_gave),
        cmocka_unit_test(a_full_table_counts_alike_for_any_number_of_workers),
        cmocka_unit_test(a_certificate_needs_the_bound_it_names),
        cmocka_unit_test(preemptions_beyond_every_bound_are_not_certified),
        cmocka_unit_test(an_actor_does_not_preempt_itself),
        cmocka_unit_test(dedup_does_not_overlook_a_livelock_and_call_it_complete),
        cmocka_unit_test(a_worker_killed_from_outside_leaves_no_gap),
        cmocka_unit_test(a_machine_that_terminates_itself_has_failed),
        cmocka_unit_test(a_machine_that_exits_with_4_is_no_bug_of_raddle),
        cmocka_unit_test(a_pick_of_any_kind_is_a_pick),
        cmocka_unit_test(create_can_always_say_why_it_refuses),
        cmocka_unit_test(a_story_of_a_run_that_dies_does_not_kill_the_host),
        cmocka_unit_test(a_host_that_ignores_its_children_can_use_the_lab),
        cmocka_unit_test(an_old_error_does_not_spoil_the_next_call),
        cmocka_unit_test(a_seed_no_file_can_hold_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
