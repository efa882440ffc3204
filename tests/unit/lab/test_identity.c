/* test_identity.c — what makes two failures two: sites, both places of a race and whether it is suppressed, rounds
 * that could not have gone another way, and whose mistake a wrong choice is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/policy_user.h"
#include "lab/artifact.h"
#include "rig_support.h"

#include <raddle/policy.h>

#include <stdio.h>
#include <string.h>

static rad_exploration explored(const rad_target *t, rad_explore_options o)
{
    rad_exploration e;
    rad_error error = {0};
    o.seed = 1;
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", o.strategy, error.text);
    return e;
}

static const char *identity_at(const rad_exploration *e, uint32_t i)
{
    return rad_artifact_verdict(e->findings[i].artifact)->identity;
}

static bool has_identity(const rad_exploration *e, const char *identity)
{
    for (uint32_t i = 0; i < e->finding_count; i++)
        if (strcmp(identity_at(e, i), identity) == 0) return true;
    return false;
}

/* ---- Identity --------------------------------------------------------------------------------------------
 * One step, whose pick says at which of the sites it fails. */

typedef struct sites {
    uint32_t oracle, count;
    const char *texts[4];
} sites;

static void failing_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "thing");
    p->actions[0] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
    rad_enable(k, p->actions[0]);
}

static void failing_step(puppet *p, rad_kernel *k, uint32_t action)
{
    const sites *s = p->data;
    uint32_t which = rad_pick(k, RAD_PICK_VALUE, RAD_NONE, s->count);
    rad_disable(k, action);
    rad_fail_at(k, s->oracle, p->objects[0], s->texts[which], "it failed");
}

static rad_exploration failures_at(sites *s)
{
    puppet p = {.reset = failing_reset, .step = failing_step, .data = s};
    rad_target t = puppet_target(&p);
    return explored(&t, (rad_explore_options){.strategy = "dfs", .runs = 100});
}

/* Of every oracle that more than one place can report. */
static void two_sites_are_two_failures(void **state)
{
    static const uint32_t oracles[] = {RAD_ORACLE_ASSERT, RAD_ORACLE_INVARIANT, RAD_ORACLE_OWN};
    static const char *const names[] = {"assertion", "invariant", "own"};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        char first[60], second[60];
        sites s = {.oracle = oracles[i], .count = 2, .texts = {"a == b", "a == c"}};
        rad_exploration e = failures_at(&s);
        snprintf(first, sizeof first, "%s:thing@a == b", names[i]);
        snprintf(second, sizeof second, "%s:thing@a == c", names[i]);
        assert_int_equal(e.finding_count, 2);
        assert_string_equal(identity_at(&e, 0), first);
        assert_string_equal(identity_at(&e, 1), second);
        rad_exploration_free(&e);
    }
}

/* Two that differ behind everything that an identity has room for, and one that just fits. */
static void long_sites_that_begin_alike_are_two(void **state)
{
    static const char head[] = "assertion:thing@";
    enum { ROOM = RAD_IDENTITY_MAX - (sizeof head - 2) - sizeof "@#12345678" };
    char texts[3][400];
    sites s = {.oracle = RAD_ORACLE_ASSERT, .count = 3, .texts = {texts[0], texts[1], texts[2]}};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t length = i < 2 ? 300 : ROOM;
        memset(texts[i], 'x', length);
        texts[i][length] = 0;
    }
    texts[1][299] = 'y';
    rad_exploration e = failures_at(&s);
    assert_int_equal(e.finding_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const char *site = identity_at(&e, i) + sizeof head - 1;
        assert_memory_equal(identity_at(&e, i), head, sizeof head - 1);
        assert_memory_equal(site, texts[i], ROOM);
        assert_int_equal(site[ROOM], i < 2 ? '#' : 0);
        assert_int_equal(strlen(site), ROOM + (i < 2 ? 9 : 0));
    }
    rad_exploration_free(&e);
}

/* ---- Races -----------------------------------------------------------------------------------------------
 * One actor, whose first steps each see a race and whose last one fails. */

enum { RACES = 3 };

static const rad_code_site races[RACES][2] = {
    {{"reads", "read", 1, .file = "/src/left.c", .module = "program"}, {"writes", "write", 1, .file = "right.c"}},
    {{"reads", "read", 2, .file = "/src/left.c", .module = "program"}, {"writes", "write", 1, .file = "right.c"}},
    {{"other", "read", 1, .file = "other.c"}, {"another", "write", 1, .file = "other.c"}},
};

static void races_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    failing_reset(p, k);
}

static void races_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (p->number == RACES) {
        rad_disable(k, action);
        rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "behind the races");
        return;
    }
    const rad_code_site *r = races[p->number++];
    rad_race(k, RAD_ORACLE_OWN, p->objects[0], &r[0], &r[1], "a race");
}

static rad_exploration raced(rad_explore_options o)
{
    puppet p = {.reset = races_reset, .step = races_step};
    rad_target t = puppet_target(&p);
    o.strategy = "dfs";
    o.runs = 10;
    return explored(&t, o);
}

static void no_race_ends_the_run(void **state)
{
    (void)state;
    rad_exploration e = raced((rad_explore_options){0});
    assert_int_equal(e.finding_count, RACES + 1);
    assert_int_equal(e.steps, RACES + 1);
    assert_true(has_identity(&e, "own:thing@reads: read / writes: write"));
    assert_true(has_identity(&e, "own:thing@reads: read 2 / writes: write"));
    assert_true(has_identity(&e, "own:thing@another: write / other: read"));
    assert_true(has_identity(&e, "assertion:thing@behind the races"));
    rad_exploration_free(&e);
    e = raced((rad_explore_options){.races_fatal = true});
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(e.steps, 1);
    rad_exploration_free(&e);
}

/* One of two actors sees the same race in each of its steps. */
static void again_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "thing");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void again_step(puppet *p, rad_kernel *k, uint32_t action)
{
    bool sees = action == p->actions[0] && p->number++ < RACES;
    if (!sees) rad_disable(k, action);
    if (sees) rad_race(k, RAD_ORACLE_OWN, p->objects[0], &races[0][0], &races[0][1], "a race");
}

/* It counts once a run, and its file ends with the step in which it was seen first. */
static void a_race_counts_once_where_it_is_first(void **state)
{
    puppet p = {.reset = again_reset, .step = again_step};
    rad_target t = puppet_target(&p);
    (void)state;
    rad_exploration e = explored(&t, (rad_explore_options){.strategy = "fair"});
    assert_int_equal(e.runs, 1);
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(e.findings[0].failures, 1);
    assert_int_equal(rad_artifact_verdict(e.findings[0].artifact)->failure_step, 0);
    assert_int_equal(e.findings[0].artifact->choice_count, 0); /* after it: switches to and fro */
    rad_exploration_free(&e);
}

/* Either of the two places, by its function or by its file. */
static void one_of_two_places_is_enough_to_suppress_a_race(void **state)
{
    static const char *const patterns[] = {"reads", "writes", "left.c", "right.c"};
    (void)state;
    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *const list[] = {patterns[i], NULL};
        rad_exploration e = raced((rad_explore_options){.suppressed = list});
        assert_int_equal(e.races_suppressed, 2);
        assert_int_equal(e.finding_count, 2);
        assert_true(has_identity(&e, "own:thing@another: write / other: read"));
        assert_true(has_identity(&e, "assertion:thing@behind the races"));
        rad_exploration_free(&e);
    }
}

static void the_last_line_of_suppressions_needs_no_end(void **state)
{
    static const char *const texts[] = {"race:one\nrace:two\n", "race:one\nrace:two"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const char *const *list = NULL;
        rad_error error = {0};
        FILE *f = fopen("known", "w");
        assert_non_null(f);
        assert_true(fputs(texts[i], f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(rad_suppressions_read(&list, "known", &error), 0);
        assert_string_equal(list[0], "one");
        assert_string_equal(list[1], "two");
        assert_null(list[2]);
        rad_suppressions_free(list);
    }
    assert_int_equal(remove("known"), 0);
}

/* ---- Rounds ----------------------------------------------------------------------------------------------
 * An actor that gives way until a pick lets it go: any round can be repeated, and none has to be. */

static void waiting_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    if (rad_pick(k, RAD_PICK_VALUE, RAD_NONE, 2) == 0)
        rad_yields(k);
    else
        rad_disable(k, action);
}

static void nothing_state(const void *self, rad_state_hash *h)
{
    const uint32_t nothing = 0;
    (void)self;
    rad_state_add(h, &nothing, sizeof nothing);
}

static void a_round_with_a_choice_is_no_livelock(void **state)
{
    (void)state;
    puppet p = {.reset = failing_reset, .step = waiting_step};
    rad_machine m = puppet_machine;
    m.state = nothing_state;
    rad_target t = puppet_target(&p);
    t.machine = &m;
    rad_exploration e = explored(&t, (rad_explore_options){.strategy = "random", .runs = 200});
    assert_int_equal(e.runs, 200);
    assert_true(e.steps > 300); /* some go round more than once */
    assert_true(e.evaluations[RAD_ORACLE_LIVELOCK] > 100);
    assert_int_equal(e.failures, 0);
    rad_exploration_free(&e);
}

/* ---- Policies that users write ----------------------------------------------------------------------------- */

static uint32_t choose_beyond(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    (void)state, (void)r;
    return c->kind == RAD_PICK_ACTION ? 0 : c->count;
}

/* In a choice among values there is no action to be looked up. */
static void a_value_that_was_not_offered_is_the_policys_mistake(void **state)
{
    static const rad_policy_table BEYOND = {.abi = 1, .name = "beyond", .choose = choose_beyond};
    (void)state;
    puppet p = {.reset = failing_reset, .step = waiting_step};
    rad_target t = puppet_target(&p);
    rad_error error = {0};
    rad_verdict v = {0};
    assert_int_equal(rad_policy_add(&BEYOND, &error), 0);
    assert_int_equal(rad_lab_run(&t, &(rad_run_request){.policy = "beyond"}, &v, &error), RAD_EINPUT);
    assert_string_equal(error.text, "policy 'beyond' answered index 2 in a choice among 2 (decision 0, step "
                                    "0): a mistake of the policy");
    rad__user_policies_cut(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sites_are_two_failures),
        cmocka_unit_test(long_sites_that_begin_alike_are_two),
        cmocka_unit_test(no_race_ends_the_run),
        cmocka_unit_test(a_race_counts_once_where_it_is_first),
        cmocka_unit_test(one_of_two_places_is_enough_to_suppress_a_race),
        cmocka_unit_test(the_last_line_of_suppressions_needs_no_end),
        cmocka_unit_test(a_round_with_a_choice_is_no_livelock),
        cmocka_unit_test(a_value_that_was_not_offered_is_the_policys_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
