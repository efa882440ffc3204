/* test_run.c — what a run leaves: outcome, failure, trace, digest, set hashes; what it does at its limits
 * and when memory runs out; numbers and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- How it ends ------------------------------------------------------------------------------------ */

static void nothing_reset(puppet *p, rad_kernel *k)
{
    (void)p;
    rad_actor(k, RAD_NONE, "one");
}

static void an_empty_set_is_finished_or_stuck_as_the_machine_says(void **state)
{
    (void)state;
    puppet p = {.reset = nothing_reset, .end = RAD_END_FINISHED};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 10);
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    assert_int_equal(b.kernel->evaluations[RAD_ORACLE_DEADLOCK], 1);
    assert_int_equal(b.kernel->evaluations[RAD_ORACLE_STEP_LIMIT], 0); /* it may be cut */
    p.end = RAD_END_STUCK;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FAILED);
    assert_int_equal(b.kernel->failure.oracle, RAD_ORACLE_DEADLOCK);
    assert_int_equal(b.kernel->failure.step, 0);
    assert_string_equal(b.kernel->failure.identity, "deadlock");
    assert_string_equal(b.kernel->failure.message, "deadlock: nothing can run and the machine is not finished");
    assert_int_equal(b.kernel->evaluations[RAD_ORACLE_DEADLOCK], 2);
    bare_close(&b);
}

/* Three actors and two forks; what they wait for is said by hand. */
static void wait_reset(puppet *p, rad_kernel *k)
{
    uint32_t a = rad_actor(k, RAD_NONE, "eater"), b = rad_actor(k, RAD_NONE, "eater");
    uint32_t c = rad_actor(k, RAD_NONE, "cook"), gone = rad_actor(k, RAD_NONE, "guest");
    uint32_t fork = rad_object(k, RAD_NONE, "fork"), other = rad_object(k, RAD_NONE, "fork");
    uint32_t bell = rad_object(k, RAD_NONE, "bell");
    rad_wait(k, a, fork, b);
    rad_wait(k, b, other, a);
    rad_wait(k, c, bell, RAD_NONE);
    rad_wait(k, gone, bell, a);
    rad_ended(k, gone); /* cannot be waiting any more */
    p->actions[0] = rad_action(k, 0, c, RAD_NONE, 0);
    if (p->number) {
        rad_enable(k, p->actions[0]); /* ends the cook's waiting */
        rad_disable(k, p->actions[0]);
    }
}

static void a_deadlock_says_who_waits_for_what(void **state)
{
    (void)state;
    puppet p = {.reset = wait_reset, .end = RAD_END_STUCK};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 10);
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FAILED);
    assert_string_equal(b.kernel->failure.message, "deadlock: eater 0 waits for fork 0 (held by eater 1); "
                                                   "eater 1 waits for fork 1 (held by eater 0); cook waits for bell");
    assert_string_equal(b.kernel->failure.identity, "deadlock:bell+fork"); /* each role once */
    p.number = 1;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FAILED);
    assert_string_equal(b.kernel->failure.identity, "deadlock:fork");
    bare_close(&b);
}

/* What the limit means is for the caller to say: the run is the same. */
static void check_limit(const bare_rig *b, enum rad_limit limit, enum rad_outcome outcome)
{
    static const char *const identities[] = {"", "step-limit", "livelock"};
    char message[60];
    if (limit == RAD_LIMIT_CUTS) {
        assert_int_equal(outcome, RAD_OUTCOME_CUT);
        assert_false(b->kernel->failed);
        return;
    }
    assert_int_equal(outcome, RAD_OUTCOME_FAILED);
    assert_int_equal(b->kernel->failure.step, b->max_steps);
    snprintf(message, sizeof message, "not finished after %d steps", (int)b->max_steps);
    assert_string_equal(b->kernel->failure.message, message);
    assert_string_equal(b->kernel->failure.identity, identities[limit]);
}

static void a_run_is_cut_at_exactly_its_limit(void **state)
{
    (void)state;
    static const enum rad_limit limits[] = {RAD_LIMIT_CUTS, RAD_LIMIT_FAILS, RAD_LIMIT_ROUND};
    weave w = weave_writers(2, 5); /* ten steps, nine or fewer decisions */
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t i = 3; i < 36; i++) {
        uint64_t limit = i / 3;
        b.limit = limits[i % 3];
        b.max_steps = limit;
        enum rad_outcome outcome = bare_guide(&b, NULL, 0);
        if (limit >= 10) {
            assert_int_equal(outcome, RAD_OUTCOME_FINISHED);
            continue;
        }
        check_limit(&b, b.limit, outcome);
        assert_int_equal(b.kernel->step, limit);
        assert_int_equal(b.kernel->trace.count, limit);
        /* Nobody is asked about a step that is not taken. */
        assert_int_equal(b.kernel->decisions, limit < 5 ? limit : 5);
    }
    bare_close(&b);
}

static void fail_reset(puppet *p, rad_kernel *k)
{
    uint32_t actor = rad_actor(k, RAD_NONE, "one");
    p->objects[0] = rad_object(k, RAD_NONE, "vault");
    p->actions[0] = rad_action(k, 0, actor, RAD_NONE, 0);
    rad_enable(k, p->actions[0]);
}

static void fail_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)action;
    if (k->step != 3) return;
    if (p->number == 0) rad_fail(k, RAD_ORACLE_OWN, p->objects[0], "first %d", 1);
    if (p->number == 1) rad_fail(k, RAD_ORACLE_ASSERT, RAD_NONE, "an assertion");
    if (p->number == 2) rad_fail(k, 33, RAD_NONE, "nobody named me");
    rad_fail(k, RAD_ORACLE_INVARIANT, p->objects[0], "second");
    assert_int_equal(rad_pick(k, RAD_PICK_VALUE, 0, 4), 0); /* the run is over: nobody is asked */
}

static void fail_check(puppet *p, rad_kernel *k)
{
    RAD_CHECK(k, RAD_ORACLE_INVARIANT, k->step < 3, p->objects[0], "checked");
}

static void the_first_failure_counts_and_ends_the_run_after_its_step(void **state)
{
    static const char *const identities[] = {"own:vault@first %d", "assertion@an assertion", "unnamed@nobody named me",
                                             "invariant:vault@second"};
    static const char *const messages[] = {"first 1", "an assertion", "nobody named me", "second"};
    (void)state;
    puppet p = {.reset = fail_reset, .step = fail_step, .check = fail_check};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 10);
    for (p.number = 0; p.number < 4; p.number++) {
        assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FAILED);
        assert_string_equal(b.kernel->failure.identity, identities[p.number]);
        assert_string_equal(b.kernel->failure.message, messages[p.number]);
        assert_int_equal(b.kernel->failure.step, 3);
        assert_int_equal(b.kernel->step, 4); /* the failing step has been taken */
        assert_int_equal(b.kernel->trace.count, 4);
        assert_int_equal(b.kernel->decisions, 0);
    }
    p.step = NULL;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FAILED);
    assert_string_equal(b.kernel->failure.message, "checked");
    assert_int_equal(b.kernel->failure.step, 3);
    bare_close(&b);
}

/* What files of before have is less: no site, or no function. Nothing else is taken for the same. */
static void identities_of_older_files_are_known(void **state)
{
    static const char *const same[][2] = {{"assertion", "assertion@a == b in f"},
                                          {"assertion:cell", "assertion:cell@x"},
                                          {"assertion@a == b", "assertion@a == b in f"},
                                          {"livelock", "livelock:cell"}};
    static const char *const others[][2] = {{"assertion@a == b in f", "assertion@a == b in g"},
                                            {"assertion@a", "assertion@a == b in f"},
                                            {"assertion:cell@bad", "assertion:cell@bad in %s"},
                                            {"deadlock:a", "deadlock:a+b"}};
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_true(rad__identity_is(same[i][0], same[i][1]));
        assert_true(rad__identity_is(same[i][1], same[i][1]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(rad__identity_is(others[i][0], others[i][1]));
}

/* ---- Trace ----------------------------------------------------------------------------------------- */

static void long_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, i, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void long_step(puppet *p, rad_kernel *k, uint32_t action)
{
    rad_value(k, k->step * 3);
    if (k->step + 1 < p->number) return;
    rad_disable(k, action);
    rad_disable(k, p->actions[1 - action]);
}

static void the_ring_keeps_exactly_the_last_4096_events(void **state)
{
    static const uint64_t lengths[] = {1, 4095, 4096, 4097, 5000, 8192, 9001};
    (void)state;
    for (uint32_t i = 0; i < 7; i++) {
        puppet p = {.reset = long_reset, .step = long_step, .number = lengths[i]};
        bare_rig b;
        bare_open(&b, &puppet_machine, &p, 10000);
        assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
        const rad_trace *t = &b.kernel->trace;
        assert_int_equal(t->capacity, RAD_TRACE_KEEP);
        assert_int_equal(t->count, lengths[i]);
        uint64_t first = lengths[i] > 4096 ? lengths[i] - 4096 : 0;
        for (uint64_t n = first; n < lengths[i]; n++) {
            assert_int_equal(rad__trace_at(t, n)->step, n);
            assert_int_equal(rad__trace_at(t, n)->value, 3 * n);
        }
        bare_close(&b);
    }
}

static void the_whole_trace_keeps_all_and_has_the_same_digest(void **state)
{
    (void)state;
    puppet p = {.reset = long_reset, .step = long_step, .number = 9001};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 10000);
    bare_guide(&b, NULL, 0);
    rad_digest ring = b.kernel->trace.digest;
    b.whole_trace = true;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    assert_true(rad__digest_equal(ring, b.kernel->trace.digest));
    for (uint64_t n = 0; n < 9001; n++) assert_int_equal(rad__trace_at(&b.kernel->trace, n)->step, n);
    /* The digest is the fold that trace.h describes, over every event and nothing else. */
    rad_digest fold = {RAD_TRACE_VERSION, 0}; /* as trace.h says it */
    for (uint64_t n = 0; n < 9001; n++) {
        uint64_t words[4];
        memcpy(words, rad__trace_at(&b.kernel->trace, n), sizeof words);
        words[0] ^= fold.low;
        words[1] ^= fold.high;
        fold = rad__digest_of(words, sizeof words);
    }
    assert_true(rad__digest_equal(ring, fold));
    b.whole_trace = false; /* and a ring again */
    bare_guide(&b, NULL, 0);
    assert_true(rad__digest_equal(ring, b.kernel->trace.digest));
    assert_int_equal(rad__trace_at(&b.kernel->trace, 9000)->step, 9000);
    bare_close(&b);
}

/* One step of actor 0 and one of actor 1; `number` says which single thing is different. */
enum vary {
    VARY_NOTHING,
    VARY_KIND,
    VARY_OBJECT,
    VARY_SITE,
    VARY_ACCESS,
    VARY_VALUE,
    VARY_COUNT,
    VARY_PICK_VALUE,
    VARY_PICK_COUNT,
    VARY_PICK_KIND,
    VARY_PICK_SITE,
    VARY_NOTE_KIND,
    VARY_NOTE_OBJECT,
    VARY_NOTE_VALUE,
    VARY_NOTE_TWICE,
    VARY_ORDER,
    VARY_ACTOR,
    VARY_LONGER,
    VARIATIONS
};

static uint32_t vary(const puppet *p, enum vary what, uint32_t base)
{
    return base + (p->number == what);
}

static void vary_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 4; i++) rad_actor(k, RAD_NONE, "one");
    for (uint32_t i = 0; i < 3; i++) p->objects[i] = rad_object(k, RAD_NONE, "cell");
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t actor = i == 1 ? vary(p, VARY_ACTOR, 1) : 0;
        p->actions[i] = rad_action(k, i ? vary(p, VARY_KIND, 5) : 5, actor, RAD_NONE, 0);
    }
    p->actions[2] = rad_action(k, 5, 3, RAD_NONE, 0);
    rad_announce(k, p->actions[1], vary(p, VARY_SITE, 7), p->objects[vary(p, VARY_OBJECT, 1)],
                 vary(p, VARY_ACCESS, RAD_READ));
    rad_enable(k, p->actions[0]);
    rad_enable(k, p->actions[1]);
    if (p->number == VARY_COUNT) rad_enable(k, p->actions[2]);
}

static void vary_step(puppet *p, rad_kernel *k, uint32_t action)
{
    rad_disable(k, action);
    rad_disable(k, p->actions[2]);
    if (action == p->actions[0] && p->number == VARY_LONGER) rad_enable(k, p->actions[2]);
    if (action == p->actions[2]) return;
    rad_pick(k, vary(p, VARY_PICK_KIND, RAD_PICK_CASE), vary(p, VARY_PICK_SITE, 2), vary(p, VARY_PICK_COUNT, 3));
    rad_note(k, vary(p, VARY_NOTE_KIND, 1), p->objects[vary(p, VARY_NOTE_OBJECT, 0)], vary(p, VARY_NOTE_VALUE, 9));
    if (p->number == VARY_NOTE_TWICE) rad_note(k, 1, p->objects[0], 9);
    rad_value(k, action == p->actions[1] ? vary(p, VARY_VALUE, 100) : 0);
}

static void the_digest_changes_with_every_field_of_every_event(void **state)
{
    (void)state;
    rad_digest all[VARIATIONS];
    for (uint32_t v = 0; v < VARIATIONS; v++) {
        puppet p = {.reset = vary_reset, .step = vary_step, .number = v};
        bare_rig b;
        uint32_t list[] = {v == VARY_ORDER, v == VARY_PICK_VALUE, 0};
        bare_open(&b, &puppet_machine, &p, 100);
        assert_int_equal(bare_guide(&b, list, 3), RAD_OUTCOME_FINISHED);
        all[v] = b.kernel->trace.digest;
        for (uint32_t other = 0; other < v; other++)
            if (rad__digest_equal(all[v], all[other]))
                fail_msg("variations %u and %u have the same digest", (unsigned)v, (unsigned)other);
        assert_int_equal(bare_guide(&b, list, 3), RAD_OUTCOME_FINISHED);
        assert_true(rad__digest_equal(all[v], b.kernel->trace.digest));
        bare_close(&b);
    }
}

/* ---- Set hashes ------------------------------------------------------------------------------------- */

typedef struct roller {
    rad_observer observer;
    uint64_t roll, every[8];
    uint32_t count;
} roller;

static void roller_begin(rad_observer *o, rad_kernel *k)
{
    (void)k;
    *(roller *)o = (roller){.observer = *o};
}

static void roller_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    roller *r = (roller *)o;
    uint64_t set = 0;
    for (uint32_t a = 0; a < k->action_count; a++)
        if (rad_is_enabled(k, a)) set += k->actions[a].hash;
    assert_true(set == k->set_hash);
    r->roll = rad__mix64(r->roll ^ set) + ((uint64_t)d->count << 32 | chosen);
    if (++r->count % 64 == 0) r->every[r->count / 64 - 1] = r->roll;
}

/* Two actors; at step `number` a third one comes for a moment. */
static void set_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (k->step == p->number) rad_enable(k, p->actions[2]);
    if (k->step > p->number) rad_disable(k, p->actions[2]);
    if (k->step < 300) return;
    rad_disable(k, action);
    rad_disable(k, p->actions[1 - action]);
}

static void set_reset(puppet *p, rad_kernel *k)
{
    long_reset(p, k);
    p->actions[2] = rad_action(k, 9, rad_actor(k, RAD_NONE, "guest"), RAD_NONE, 0);
}

static void set_hashes_are_kept_at_every_64th_decision(void **state)
{
    (void)state;
    puppet p = {.reset = set_reset, .step = set_step, .number = 1000};
    bare_rig b;
    roller r = {.observer = {.begin = roller_begin, .decided = roller_decided}};
    uint64_t plain[8];
    bare_open(&b, &puppet_machine, &p, 1000);
    b.observer = &r.observer;
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
        assert_int_equal(b.kernel->decisions, 301);
        assert_int_equal(b.kernel->set_hash_count, 301 / 64);
        assert_memory_equal(b.kernel->set_hashes, r.every, 4 * sizeof *r.every);
        assert_true(b.kernel->set_roll == r.roll);
    }
    memcpy(plain, b.kernel->set_hashes, 4 * sizeof *plain);
    p.number = 100; /* one more enabled at decision 101: seen from the second hash on */
    bare_guide(&b, NULL, 0);
    assert_true(b.kernel->set_hashes[0] == plain[0]);
    for (int i = 1; i < 4; i++) assert_true(b.kernel->set_hashes[i] != plain[i]);
    bare_close(&b);
}

/* ---- Limits ----------------------------------------------------------------------------------------- */

static void a_full_choice_buffer_is_an_error_and_the_next_run_works(void **state)
{
    (void)state;
    weave w = weave_writers(2, 8);
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 5);
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_ERROR);
    assert_int_equal(b.kernel->error.code, RAD_ELIMIT);
    assert_string_equal(b.kernel->error.text, "more decisions in one run than the limit allows");
    assert_int_equal(b.choice_count, 5);
    assert_int_equal(b.kernel->step, 5);
    w.threads = 1;
    w.ops[0][0] = (weave_op){.what = WEAVE_PICK, .argument = 2};
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    assert_int_equal(b.choice_count, 1);
    w.threads = 2; /* exactly full is not too full: eight of the first thread, then one is left */
    b.kernel->choices.capacity = 5;
    w.count[0] = w.count[1] = 4;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    assert_int_equal(b.choice_count, 5);
    bare_close(&b);
}

static void the_beacon_follows_the_run(void **state)
{
    (void)state;
    weave w = weave_writers(2, 3);
    bare_rig b;
    rad_beacon beacon = {.steps = 77, .events = 77, .digest_low = 77, .digest_high = 77};
    bare_open(&b, &weave_machine, &w, 50);
    rad_run_options options = bare_options(&b, b.guide);
    options.beacon = &beacon;
    assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
    assert_int_equal(beacon.steps, 6);
    assert_true(rad__digest_equal(rad__beacon_digest(&beacon), b.kernel->trace.digest));
    bare_close(&b);
}

/* What the beacon says in the middle of a step, whose notes may fill the ring several times. */
typedef struct talk {
    const rad_beacon *beacon; /* NULL: writes down what it should say */
    rad_digest after[40];     /* by number of steps */
    uint32_t asked;
} talk;

static void talk_step(puppet *p, rad_kernel *k, uint32_t action)
{
    talk *t = p->data;
    if (t->beacon == NULL) t->after[k->step] = rad__kernel_digest(k);
    for (uint64_t i = 0; i <= k->step * 1237 % 9000; i++) {
        rad_note(k, 0, RAD_NONE, i);
        if (t->beacon == NULL || i % 500 != 0) continue;
        assert_int_equal(t->beacon->steps, k->step);
        assert_true(rad__digest_equal(rad__beacon_digest(t->beacon), t->after[k->step]));
        t->asked++;
    }
    long_step(p, k, action);
}

static void the_beacon_knows_the_digest_within_a_step(void **state)
{
    (void)state;
    static rad_beacon beacon;
    talk t = {.beacon = NULL};
    puppet p = {.reset = long_reset, .step = talk_step, .number = 40, .data = &t};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 10000);
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    rad_digest last = b.kernel->trace.digest;
    t.beacon = &beacon;
    for (uint32_t how = 0; how < 4; how++) {
        rad_run_options options = bare_options(&b, b.guide);
        options.beacon = &beacon;
        options.digest_later = how & 1;
        options.whole_trace = how & 2;
        t.asked = 0;
        assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
        assert_true(t.asked > 200);
        assert_true(rad__digest_equal(rad__kernel_digest(b.kernel), last));
        assert_true(rad__digest_equal(rad__beacon_digest(&beacon), last));
    }
    bare_close(&b);
}

/* Spawns, picks, notes, objects, many actions: everything that allocates. */
static void hungry_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "cell");
    uint32_t actor = rad_actor(k, RAD_NONE, "one");
    p->actions[0] = rad_action(k, 0, actor, RAD_NONE, 0);
    rad_announce(k, p->actions[0], 0, p->objects[0], RAD_WRITE);
    rad_enable(k, p->actions[0]);
}

static void hungry_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    uint32_t self = rad_current_actor(k);
    if (k->actor_count < 40) {
        uint32_t child = rad_actor(k, self, "child"), object = rad_object(k, self, "cell");
        for (uint64_t i = 0; i < 3; i++) {
            uint32_t made = rad_action(k, 0, child, object, i);
            rad_announce(k, made, 1, object, RAD_READ);
            rad_enable(k, made);
        }
    }
    for (uint32_t i = 0; i < 12; i++) rad_touch(k, i, RAD_READ);
    rad_value(k, rad_pick(k, RAD_PICK_CASE, 3, 3));
    rad_note(k, 2, RAD_NONE, 5);
    if (k->step % 3 == 2) rad_disable(k, action);
    if (k->step == 200)
        for (uint32_t a = 0; a < k->action_count; a++) rad_disable(k, a);
}

static enum rad_outcome hungry_run(bare_rig *b, rad_policy *policy, const rad_estimates *known)
{
    rad_run_options options = bare_options(b, policy);
    rad_estimates learned = {0};
    options.into = &learned;
    options.whole_trace = true;
    options.info.estimates = known;
    enum rad_outcome outcome = rad__kernel_run(b->kernel, &options);
    rad__alloc_fail_at(0);
    rad__estimates_free(&learned);
    return outcome;
}

static void learn(rad_estimates *into)
{
    puppet p = {.reset = hungry_reset, .step = hungry_step};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 1000);
    rad_policy *policy = policy_named("surw");
    rad_run_options options = bare_options(&b, policy);
    options.into = into;
    assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
    rad__policy_destroy(policy);
    bare_close(&b);
}

static void a_failed_allocation_ends_the_run_cleanly_and_the_next_one_works(void **state)
{
    static const char *const policies[] = {"first", "random", "fair", "pct:3", "surw"};
    (void)state;
    rad_estimates known = {0};
    learn(&known);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t n = 1;
        for (bool done = false; !done; n++) {
            puppet p = {.reset = hungry_reset, .step = hungry_step};
            bare_rig b;
            bare_open(&b, &puppet_machine, &p, 1000);
            rad_policy *policy = policy_named(policies[i]);
            rad__alloc_fail_at(n);
            enum rad_outcome outcome = hungry_run(&b, policy, &known);
            done = outcome == RAD_OUTCOME_FINISHED;
            if (!done) {
                assert_int_equal(outcome, RAD_OUTCOME_ERROR);
                assert_int_equal(b.kernel->error.code, RAD_ENOMEM);
                assert_non_null(strstr(b.kernel->error.text, "out of memory"));
            }
            assert_int_equal(hungry_run(&b, policy, &known), RAD_OUTCOME_FINISHED);
            rad_digest again = b.kernel->trace.digest;
            rad__policy_destroy(policy);
            policy = policy_named(policies[i]);
            assert_int_equal(hungry_run(&b, policy, &known), RAD_OUTCOME_FINISHED);
            assert_true(rad__digest_equal(again, b.kernel->trace.digest));
            rad__policy_destroy(policy);
            bare_close(&b);
            assert_true(n < 500);
        }
        assert_true(n > 10);
    }
    rad__estimates_free(&known);
}

static void opening_without_memory_is_an_error(void **state)
{
    (void)state;
    rad_choice choices[1];
    volatile uint64_t count;
    rad_choice_buffer buffer = {choices, 1, &count};
    for (uint64_t n = 1;; n++) {
        rad_kernel *k = NULL;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = rad__kernel_open(&k, buffer, &error);
        rad__alloc_fail_at(0);
        if (code == 0) {
            rad__kernel_close(k);
            assert_true(n > 1);
            return;
        }
        assert_int_equal(code, RAD_ENOMEM);
        assert_null(k);
    }
}

/* ---- Who exists -------------------------------------------------------------------------------------- */

static void names_reset(puppet *p, rad_kernel *k)
{
    (void)p;
    uint32_t main = rad_actor(k, RAD_NONE, "main");
    uint32_t one = rad_actor(k, main, "worker"), two = rad_actor(k, main, "worker");
    char copy[] = "worker"; /* the same role at another address */
    k->actors[two].role = copy;
    uint32_t a = rad_object(k, main, "fork"), b = rad_object(k, one, "fork");
    uint32_t c = rad_object(k, RAD_NONE, "table");
    char name[2 * RAD_NAME_MAX];
    rad__actor_name(k, main, name), assert_string_equal(name, "main");
    rad__actor_name(k, two, name), assert_string_equal(name, "worker 1");
    rad__actor_name(k, RAD_NONE, name), assert_string_equal(name, "-");
    rad__object_name(k, b, name), assert_string_equal(name, "fork 1");
    rad__object_name(k, c, name), assert_string_equal(name, "table");
    k->actors[two].role = "worker";
    assert_true(k->objects[a].signature != k->objects[b].signature);
    assert_true(k->objects[a].signature != k->objects[c].signature);
    assert_true(k->actors[one].signature != k->actors[two].signature);
    for (uint32_t i = 0; i < 20000; i++) /* interned, also while the table grows */
        assert_int_equal(rad_action(k, i % 3, i % 3, i % 7, i), i);
    for (uint32_t i = 0; i < 20000; i++) assert_int_equal(rad_action(k, i % 3, i % 3, i % 7, i), i);
    assert_int_equal(rad_action(k, 1, 0, 0, 0), 20000);
    assert_int_equal(rad_action(k, 0, 1, 0, 0), 20001);
    assert_int_equal(rad_action(k, 0, 0, 1, 0), 20002);
    assert_int_equal(rad_action(k, 0, 0, 0, 0), 0);
}

static void actions_are_interned_and_things_have_names(void **state)
{
    (void)state;
    puppet p = {.reset = names_reset};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 10);
    for (int i = 0; i < 3; i++) assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    bare_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_is_finished_or_stuck_as_the_machine_says),
        cmocka_unit_test(a_deadlock_says_who_waits_for_what),
        cmocka_unit_test(a_run_is_cut_at_exactly_its_limit),
        cmocka_unit_test(the_first_failure_counts_and_ends_the_run_after_its_step),
        cmocka_unit_test(identities_of_older_files_are_known),
        cmocka_unit_test(the_ring_keeps_exactly_the_last_4096_events),
        cmocka_unit_test(the_whole_trace_keeps_all_and_has_the_same_digest),
        cmocka_unit_test(the_digest_changes_with_every_field_of_every_event),
        cmocka_unit_test(set_hashes_are_kept_at_every_64th_decision),
        cmocka_unit_test(a_full_choice_buffer_is_an_error_and_the_next_run_works),
        cmocka_unit_test(the_beacon_follows_the_run),
        cmocka_unit_test(the_beacon_knows_the_digest_within_a_step),
        cmocka_unit_test(a_failed_allocation_ends_the_run_cleanly_and_the_next_one_works),
        cmocka_unit_test(opening_without_memory_is_an_error),
        cmocka_unit_test(actions_are_interned_and_things_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
