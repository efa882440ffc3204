/* test_policy_user.c — policies that users write (raddle/policy.h): what they are called with, what raddle does with
 * their answers and their mistakes, and the three policies of tests/support/policies.c, which the header was made for.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../support/policies.c" /* the text that is a shared object in tests/cli/policy.sh */
#include "base/set128.h"
#include "core/policy_user.h"
#include "lab/rig.h"
#include "lab/trace_classes.h"
#include "rig_support.h"

#include <raddle/lab.h>
#include <raddle/policy.h>

#include <signal.h>
#include <string.h>

static int forget(void **state)
{
    (void)state;
    rad__user_policies_cut(0);
    return 0;
}

static int add(const rad_policy_table *t, rad_error *error)
{
    *error = (rad_error){0};
    return rad_policy_add(t, error);
}

static void must_add(const rad_policy_table *t)
{
    rad_error error;
    if (add(t, &error) != 0) fail_msg("%s", error.text);
}

static rad_verdict run(const char *machine, const char *words, const char *policy, uint64_t seed)
{
    rad_error error = {0};
    rad_verdict v = {0};
    rad_target t = target_of(machine, words);
    if (rad_lab_run(&t, &(rad_run_request){.policy = policy, .seed = seed}, &v, &error) != 0)
        fail_msg("%s", error.text);
    return v;
}

/* ---- The two simplest -------------------------------------------------------------------------------- */

static uint32_t choose_zero(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    return 0;
}

static uint32_t choose_baseline(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    return c->baseline;
}

static uint32_t choose_random(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    return (uint32_t)rad_policy_below(r, c->count);
}

static const rad_policy_table ZERO = {.abi = 1, .name = "zero", .choose = choose_zero};
static const rad_policy_table BASE = {.abi = 1, .name = "base", .choose = choose_baseline};
static const rad_policy_table DICE = {.abi = 1, .name = "dice", .choose = choose_random};

static const char *const MACHINES[] = {"event",   "philosophers", "bank", "buffer",
                                       "reorder", "twostage",     "wsq",  "counter"};
enum { MACHINE_COUNT = sizeof MACHINES / sizeof *MACHINES };

static void the_index_is_the_canonical_order(void **state)
{
    must_add(&ZERO);
    for (int i = 0; i < MACHINE_COUNT; i++)
        assert_string_equal(run(MACHINES[i], NULL, "zero", 1).trace_hash,
                            run(MACHINES[i], NULL, "first", 1).trace_hash);
}

/* `own` is the baseline on machines without a preference. */
static void the_baseline_is_named(void **state)
{
    must_add(&BASE);
    for (int i = 0; i < MACHINE_COUNT; i++)
        assert_string_equal(run(MACHINES[i], NULL, "base", 1).trace_hash, run(MACHINES[i], NULL, "own", 1).trace_hash);
}

static void a_run_follows_from_seed_and_index(void **state)
{
    must_add(&DICE);
    uint32_t same = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rad_verdict once = run("bank", NULL, "dice", seed), again = run("bank", NULL, "dice", seed);
        assert_string_equal(once.trace_hash, again.trace_hash);
        same += strcmp(once.trace_hash, run("bank", NULL, "dice", seed + 1).trace_hash) == 0;
    }
    assert_in_range(same, 0, 10);
    rad_target t = target_of("bank", NULL);
    rad_exploration one = {0}, two = {0};
    rad_error error = {0};
    rad_explore_options o = {.strategy = "dice", .runs = 3000, .seed = 5, .jobs = 1};
    assert_int_equal(rad_lab_explore(&t, &o, &one, &error), 0);
    o.jobs = 3;
    assert_int_equal(rad_lab_explore(&t, &o, &two, &error), 0);
    assert_same_exploration(&one, &two);
    assert_true(one.classes > 4); /* runs differ */
    assert_string_equal(rad_artifact_policy(one.findings[0].artifact), "dice");
    rad_exploration_free(&one);
    rad_exploration_free(&two);
}

static void a_policy_that_is_always_the_same_runs_once(void **state)
{
    rad_policy_table once = ZERO;
    rad_target t = target_of("bank", NULL);
    rad_exploration e = {0};
    rad_error error = {0};
    once.same_every_run = true;
    must_add(&once);
    rad_explore_options o = {.strategy = "zero", .runs = 3000, .seed = 5};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.runs, 1);
    rad_exploration_free(&e);
}

/* ---- What it is called with -------------------------------------------------------------------------- */

/* A model of the enabled set from `changed` alone, compared with what the calls say. */
typedef struct mirror {
    bool enabled[4096];
    uint64_t steps, decisions, begins, ends;
    uint32_t last;
    bool began;
} mirror;

static uint64_t mirror_runs, mirror_ends; /* of this process */

static void mirror_begin(void *state, rad_policy_run *r)
{
    mirror *m = state;
    static const mirror zero;
    assert_memory_equal(m, &zero, sizeof zero);
    assert_int_equal(*rad_policy_word(r, RAD_PER_ACTOR, RAD_NONE), 0);
    *rad_policy_word(r, RAD_PER_ACTOR, RAD_NONE) = 77;
    assert_int_equal(r->run, mirror_runs);
    m->began = true;
    m->last = RAD_NONE;
    mirror_runs++;
}

static void mirror_changed(void *state, rad_policy_run *r, uint32_t action, bool enabled)
{
    mirror *m = state;
    rad_policy_action a;
    assert_true(m->began && action < 4096 && m->enabled[action] != enabled);
    assert_true(rad_policy_look(r, action, &a));
    assert_int_equal(a.number, action);
    m->enabled[action] = enabled;
}

static uint32_t mirror_choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    mirror *m = state;
    uint32_t count = 0, next = rad_policy_next(r, 0);
    assert_true(c->count >= 2 && c->baseline < c->count);
    assert_int_equal(r->steps, m->steps);
    assert_int_equal(r->decisions, m->decisions++);
    if (c->kind != RAD_PICK_ACTION) {
        assert_int_equal(c->baseline, 0);
        assert_false(c->preempts);
        return (uint32_t)rad_policy_below(r, c->count);
    }
    assert_int_equal(r->current, m->last);
    for (uint32_t action = 0; action < 4096; action++) {
        if (!m->enabled[action]) {
            assert_int_equal(rad_policy_index_of(r, action), RAD_NONE);
            continue;
        }
        assert_int_equal(next, action);
        assert_int_equal(rad_policy_action_at(r, count), action);
        assert_int_equal(rad_policy_index_of(r, action), count++);
        next = rad_policy_next(r, action + 1);
    }
    assert_int_equal(next, RAD_NONE);
    assert_int_equal(c->count, count);
    assert_int_equal(rad_policy_action_at(r, count), RAD_NONE);
    if (c->preempts) { /* then the baseline goes on with the actor that ran */
        rad_policy_action a, b;
        assert_true(rad_policy_look(r, rad_policy_action_at(r, c->baseline), &a));
        assert_true(rad_policy_look(r, r->current, &b));
        assert_int_equal(a.actor, b.actor);
        assert_int_equal(a.actor_signature, b.actor_signature);
    }
    return (uint32_t)rad_policy_below(r, c->count);
}

static void mirror_ran(void *state, rad_policy_run *r, uint32_t action, const rad_footprint *f)
{
    mirror *m = state;
    assert_int_equal(r->current, action);
    assert_true(f->count >= 1);
    m->last = action;
    m->steps++;
    uint64_t *word = rad_policy_word(r, RAD_PER_ACTION, action);
    assert_true(*word < m->steps); /* nobody else has written it */
    *word = m->steps;
}

static void mirror_end(void *state, rad_policy_run *r)
{
    mirror *m = state;
    assert_int_equal(m->ends++, 0);
    assert_int_equal(*rad_policy_word(r, RAD_PER_ACTOR, RAD_NONE), 77);
    mirror_ends++;
}

static const rad_policy_table MIRROR = {.abi = 1,
                                        .name = "mirror",
                                        .state_size = sizeof(mirror),
                                        .choose = mirror_choose,
                                        .begin = mirror_begin,
                                        .changed = mirror_changed,
                                        .ran = mirror_ran,
                                        .end = mirror_end};

static void it_sees_the_enabled_set(void **state)
{
    rad_error error = {0};
    must_add(&MIRROR);
    for (int i = 0; i < MACHINE_COUNT; i++) {
        rad_target t = target_of(MACHINES[i], NULL);
        rad_rig rig;
        assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
        rad_policy *p = policy_named("mirror");
        mirror_runs = mirror_ends = 0;
        for (uint64_t n = 0; n < 50; n++) {
            rad_run_options o = rad__rig_options(&rig, p);
            o.info.seed = 3;
            o.info.run = n;
            assert_int_not_equal(rad__kernel_run(rig.kernel, &o), RAD_OUTCOME_ERROR);
        }
        assert_int_equal(mirror_runs, 50);
        assert_int_equal(mirror_ends, 50);
        rad__policy_destroy(p);
        rad__rig_close(&rig);
    }
}

static void two_steps_conflict_when_their_order_matters(void **state)
{
    static const struct {
        uint32_t actor, target;
        enum rad_access access;
        bool conflict, meets; /* with actor 0 that writes object 5, and with actor 0 that reads it */
        bool conflict_read, meets_read;
    } ROWS[] = {
        {0, 6, RAD_WRITE, true, false, true, false}, /* one actor's steps are in order */
        {1, 5, RAD_WRITE, true, true, true, true},
        {1, 5, RAD_READ, true, true, false, false},
        {1, 5, RAD_LOCAL, false, false, false, false},
        {1, 6, RAD_WRITE, false, false, false, false},
        {1, RAD_NONE, RAD_WRITE, false, false, false, false},
        {RAD_NONE, 5, RAD_WRITE, true, true, true, true},
    };
    const rad_policy_action writes = {.actor = 0, .target = 5, .access = RAD_WRITE};
    const rad_policy_action reads = {.actor = 0, .target = 5, .access = RAD_READ};
    const rad_touched wrote[] = {{7, RAD_WRITE}, {5, RAD_WRITE}};
    const rad_touched read[] = {{7, RAD_WRITE}, {5, RAD_READ}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rad_policy_action a = {.actor = ROWS[i].actor, .target = ROWS[i].target, .access = ROWS[i].access};
        assert_int_equal(rad_policy_conflict(&a, &writes), ROWS[i].conflict);
        assert_int_equal(rad_policy_conflict(&writes, &a), ROWS[i].conflict);
        assert_int_equal(rad_policy_conflict(&a, &reads), ROWS[i].conflict_read);
        assert_int_equal(rad_policy_meets(&a, &(rad_footprint){wrote, 2, false}), ROWS[i].meets);
        assert_int_equal(rad_policy_meets(&a, &(rad_footprint){read, 2, false}), ROWS[i].meets_read);
    }
}

/* ---- Tables that are refused ------------------------------------------------------------------------- */

static void a_bad_table_is_refused(void **state)
{
    rad_error error;
    static const struct {
        rad_policy_table table;
        const char *text;
    } BAD[] = {
        {{.abi = 2, .name = "x", .choose = choose_zero},
         "a policy for version 2 of <raddle/policy.h>; this raddle has version 1"},
        {{.abi = 0, .name = "x", .choose = choose_zero},
         "a policy for version 0 of <raddle/policy.h>; this raddle has version 1"},
        {{.abi = 1, .choose = choose_zero}, "policy \"\": a name is a-z, then a-z, 0-9, - or _, 15 characters at most"},
        {{.abi = 1, .name = "Lru", .choose = choose_zero},
         "policy \"Lru\": a name is a-z, then a-z, 0-9, - or _, 15 characters at most"},
        {{.abi = 1, .name = "sixteen-letters-", .choose = choose_zero},
         "policy \"sixteen-letters-\": a name is a-z, then a-z, 0-9, - or _, 15 characters at "
         "most"},
        {{.abi = 1, .name = "lru"}, "policy 'lru': choose is NULL"},
        {{.abi = 1, .name = "lru", .choose = choose_zero, .destroy = free}, "policy 'lru': destroy without create"},
        {{.abi = 1, .name = "random", .choose = choose_zero},
         "policy 'random': there is a policy or strategy of that name already"},
        {{.abi = 1, .name = "pct", .choose = choose_zero},
         "policy 'pct': there is a policy or strategy of that name already"},
        {{.abi = 1, .name = "replay", .choose = choose_zero},
         "policy 'replay': there is a policy or strategy of that name already"},
        {{.abi = 1, .name = "preempt", .choose = choose_zero},
         "policy 'preempt': there is a policy or strategy of that name already"},
        {{.abi = 1, .name = "baseline", .choose = choose_zero},
         "policy 'baseline': there is a policy or strategy of that name already"},
        {{.abi = 1, .name = "zero", .choose = choose_zero},
         "policy 'zero': there is a policy or strategy of that name already"},
    };
    must_add(&ZERO);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(add(&BAD[i].table, &error), RAD_EINPUT);
        assert_string_equal(error.text, BAD[i].text);
    }
    assert_int_equal(rad__user_policies(), 1);
}

static void arguments_go_to_create(void **state)
{
    rad_error error = {0};
    rad_policy *p;
    must_add(&WEIGHTED);
    must_add(&ZERO);
    rad__policy_destroy(policy_named("weighted:9"));
    rad__policy_destroy(policy_named("weighted"));
    assert_int_equal(rad__policy_create(&p, "weighted:0", &error), RAD_EINPUT);
    assert_string_equal(error.text, "policy 'weighted', argument 0: expected a weight from 1 to 1000");
    error = (rad_error){0};
    assert_int_equal(rad__policy_create(&p, "zero:3", &error), RAD_EINPUT);
    assert_string_equal(error.text, "policy 'zero' takes no argument, found ':3'");
}

/* ---- Mistakes ---------------------------------------------------------------------------------------- */

static uint32_t choose_count(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    return r->decisions < 2 ? 0 : c->count;
}

static uint32_t choose_none(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    return rad_policy_index_of(r, 4000);
}

static uint32_t choose_prune(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    if (r->decisions == 1) rad_policy_prune(r);
    return 0;
}

static uint32_t choose_crash(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    if (r->decisions == 1) raise(SIGABRT);
    return 0;
}

static void ran_crash(void *state, rad_policy_run *r, uint32_t action, const rad_footprint *f)
{
    if (r->steps == 3) _Exit(7);
}

static uint32_t choose_loop(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    for (volatile bool ever = true; ever;) continue;
    return 0;
}

static const rad_policy_table OUTSIDE = {.abi = 1, .name = "outside", .choose = choose_count};
static const rad_policy_table NONE = {.abi = 1, .name = "none", .choose = choose_none};
static const rad_policy_table PRUNE = {.abi = 1, .name = "prune", .choose = choose_prune};
static const rad_policy_table CRASH = {.abi = 1, .name = "crash", .choose = choose_crash};
static const rad_policy_table LEAVE = {.abi = 1, .name = "leave", .choose = choose_zero, .ran = ran_crash};
static const rad_policy_table LOOP = {.abi = 1, .name = "loop", .choose = choose_loop};

static void a_mistake_of_the_policy_is_told_as_such(void **state)
{
    static const struct {
        const rad_policy_table *table;
        const char *text;
        bool in_run_only;
    } BAD[] = {
        {&OUTSIDE,
         "policy 'outside' answered index 2 in a choice among 2 (decision 2, step 1): a mistake of "
         "the policy",
         false},
        {&NONE,
         "policy 'none' answered no member in a choice among 2 (decision 0, step 0): a mistake of "
         "the policy",
         false},
        {&PRUNE,
         "policy 'prune' ended the run at step 0 (rad_policy_prune): only explore can leave runs "
         "out",
         true},
        {&CRASH, "policy 'crash' failed in choose, at step 0: SIGABRT", false},
        {&LEAVE, "policy 'leave' failed in ran, at step 3: exit status 7", false},
        {&LOOP, "policy 'loop' failed in choose, at step 0: did not return within 0.2 s of CPU time", false},
    };
    rad_target t = target_of("bank", NULL);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        rad_error error = {0};
        rad_verdict v = {0};
        rad_exploration e = {0};
        rad_artifact *a = NULL;
        must_add(BAD[i].table);
        rad_run_request r = {.policy = BAD[i].table->name, .seed = 1, .hang_seconds = 0.2, .artifact = &a};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), RAD_EINPUT);
        assert_string_equal(error.text, BAD[i].text);
        assert_null(a);
        rad_explore_options o = {.strategy = BAD[i].table->name, .runs = 10, .seed = 1, .hang_seconds = 0.2};
        error = (rad_error){0};
        int code = rad_lab_explore(&t, &o, &e, &error);
        assert_int_equal(code, BAD[i].in_run_only ? 0 : RAD_EINPUT);
        if (!BAD[i].in_run_only) assert_string_equal(error.text, BAD[i].text);
        if (BAD[i].in_run_only) assert_int_equal(e.runs, 10);
        rad_exploration_free(&e);
    }
}

/* The machine's own failures are still the machine's. */
static void a_crash_of_the_machine_is_not_the_policys(void **state)
{
    must_add(&DICE);
    rad_target t = target_of("crash", NULL);
    rad_error error = {0};
    rad_exploration e = {0};
    rad_explore_options o = {.strategy = "dice", .runs = 200, .seed = 1, .stop_on_first = true};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_true(e.finding_count > 0);
    assert_string_equal(rad_artifact_verdict(e.findings[0].artifact)->kind, "crash");
    rad_exploration_free(&e);
}

/* ---- The three ---------------------------------------------------------------------------------------- */

static uint64_t list_hash(const rad_rig *rig)
{
    uint64_t hash = 1;
    for (uint64_t i = 0; i < rig->kernel->decisions; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + rig->choices[i].chosen + 1;
    return hash;
}

static uint64_t classes_of(const rad_target *t, const char *strategy, uint64_t runs)
{
    rad_error error = {0};
    rad_exploration e = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 1};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    if (strcmp(strategy, "dfs") == 0) assert_true(e.complete);
    rad_exploration_free(&e);
    return e.classes;
}

/* Of the schedules of one trace class `sleep` runs exactly one to its end. */
static void the_reducing_policy_runs_each_class_once(void **state)
{
    static const char *const CASES[][2] = {{"philosophers", "n=3"}, {"bank", NULL}, {"event", NULL}};
    must_add(&SLEEP);
    for (size_t i = 0; i < 3; i++) {
        rad_error error = {0};
        rad_target t = target_of(CASES[i][0], CASES[i][1]);
        rad_rig rig;
        rad_trace_classes classes;
        rad_set128 seen = {0}, lists = {0};
        t.c.repaired = true;
        assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
        rad__trace_classes_open(&classes);
        rad_policy *p = policy_named("sleep");
        uint64_t pruned = 0;
        for (uint64_t n = 0; n < 3000; n++) {
            rad_run_options o = rad__rig_options(&rig, p);
            o.info.seed = 1;
            o.info.run = n;
            o.may_prune = true;
            o.observers[0] = &classes.observer;
            if (rad__kernel_run(rig.kernel, &o) == RAD_OUTCOME_PRUNED) {
                pruned++;
                continue;
            }
            assert_int_equal(rig.kernel->outcome, RAD_OUTCOME_FINISHED);
            rad__set128_add(&seen, classes.sum);
            rad__set128_add(&lists, (rad_digest){list_hash(&rig), rig.kernel->decisions});
        }
        assert_true(pruned > 0 && pruned < 3000);
        assert_int_equal(seen.count, classes_of(&t, "dfs", 100000));
        assert_int_equal(lists.count, seen.count);
        rad__set128_free(&seen);
        rad__set128_free(&lists);
        rad__trace_classes_close(&classes);
        rad__policy_destroy(p);
        rad__rig_close(&rig);
    }
}

static void all_three_reach_every_class(void **state)
{
    rad_target t = target_of("bank", NULL);
    t.c.repaired = true;
    must_add(&WEIGHTED);
    must_add(&HOT);
    must_add(&SLEEP);
    uint64_t all = classes_of(&t, "dfs", 100000);
    assert_int_equal(classes_of(&t, "weighted:2", 3000), all);
    assert_int_equal(classes_of(&t, "hot", 3000), all);
    assert_int_equal(classes_of(&t, "sleep", 3000), all);
}

/* With weight 1000 the current actor almost always goes on: few switches. */
static void the_weight_weighs(void **state)
{
    uint64_t switches[2] = {0, 0};
    rad_error error = {0};
    rad_target t = target_of("bank", NULL);
    rad_rig rig;
    t.c.repaired = true;
    must_add(&WEIGHTED);
    assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
    for (int i = 0; i < 2; i++) {
        rad_policy *p = policy_named(i ? "weighted:1000" : "weighted:1");
        for (uint64_t n = 0; n < 200; n++) {
            rad_run_options o = rad__rig_options(&rig, p);
            o.info.run = n;
            rad__kernel_run(rig.kernel, &o);
            switches[i] += rig.kernel->switches;
        }
        rad__policy_destroy(p);
    }
    rad__rig_close(&rig);
    assert_true(switches[1] * 2 < switches[0]);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, forget)
    const struct CMUnitTest tests[] = {
        T(the_index_is_the_canonical_order),
        T(the_baseline_is_named),
        T(a_run_follows_from_seed_and_index),
        T(a_policy_that_is_always_the_same_runs_once),
        T(it_sees_the_enabled_set),
        T(two_steps_conflict_when_their_order_matters),
        T(a_bad_table_is_refused),
        T(arguments_go_to_create),
        T(a_mistake_of_the_policy_is_told_as_such),
        T(a_crash_of_the_machine_is_not_the_policys),
        T(the_reducing_policy_runs_each_class_once),
        T(all_three_reach_every_class),
        T(the_weight_weighs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
