/* test_realign_names.c — names of actors and values of picks in realigned replay: picks of one step do not take each
 * other's values, names do not depend on who was spawned elsewhere, and an actor that was given away is nobody
 * else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/artifact.h"
#include "lab/path.h"
#include "lab/realign.h"
#include "rig_support.h"

#include <string.h>

static const char *pick_site_name(const void *self, uint32_t site)
{
    static const char *const names[] = {"mix", "colour", "size", NULL};
    (void)self;
    return site < 3 ? names[site] : NULL;
}

static void paint_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "pot");
    p->actions[0] = rad_action(k, 0, rad_actor(k, RAD_NONE, "painter"), RAD_NONE, 0);
    rad_announce(k, p->actions[0], 0, p->objects[0], RAD_WRITE);
    rad_enable(k, p->actions[0]);
}

/* number: the edition. 0 is recorded, 1 asks for a size before the colour, 2 after it. */
static void paint_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (p->number == 1) rad_pick(k, RAD_PICK_VALUE, 2, 3);
    uint32_t colour = rad_pick(k, RAD_PICK_VALUE, 1, 3);
    if (p->number == 2) rad_pick(k, RAD_PICK_VALUE, 2, 3);
    rad_disable(k, action);
    if (colour == 2) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "it is red");
}

/* The only failure of the machine as it is now, with its path: edits come later. */
static rad_artifact *recorded(const rad_target *t)
{
    rad_error error = {0};
    rad_exploration e;
    rad_explore_options o = {.strategy = "dfs", .runs = 10, .seed = 1};
    assert_int_equal(rad_lab_explore(t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 1);
    rad_artifact *a = e.findings[0].artifact;
    e.findings[0].artifact = NULL;
    rad_exploration_free(&e);
    char *text = rad_artifact_json(a, &error);
    assert_non_null(text);
    rad_free(text);
    return a;
}

static void still_fails(const rad_artifact *a)
{
    rad_error error = {0};
    rad_realignment r;
    if (rad_lab_realign(a, NULL, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.answer, RAD_REALIGNED_FAILS);
    assert_int_equal(r.lost, 0);
    assert_false(r.by_list);
    rad_realignment_free(&r);
}

static void a_new_pick_does_not_take_the_value_of_another(void **state)
{
    (void)state;
    puppet p = {.reset = paint_reset, .step = paint_step};
    rad_machine m = puppet_machine;
    m.site_name = pick_site_name;
    rad_target t = puppet_target(&p);
    t.machine = &m;
    rad_artifact *a = recorded(&t);
    for (p.number = 0; p.number <= 2; p.number++) still_fails(a);
    rad_artifact_free(a);
}

/* Twice at the same site: the first value is not the second one's. */
static void twice_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t first = rad_pick(k, RAD_PICK_VALUE, 1, 3);
    if (p->number == 1) rad_pick(k, RAD_PICK_VALUE, 2, 3);
    uint32_t second = rad_pick(k, RAD_PICK_VALUE, 1, 3);
    rad_disable(k, action);
    if (first == 2 && second == 1) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "red on blue");
}

static void picks_at_one_site_keep_their_order(void **state)
{
    (void)state;
    puppet p = {.reset = paint_reset, .step = twice_step};
    rad_machine m = puppet_machine;
    m.site_name = pick_site_name;
    rad_target t = puppet_target(&p);
    t.machine = &m;
    rad_artifact *a = recorded(&t);
    for (p.number = 0; p.number <= 1; p.number++) still_fails(a);
    rad_artifact_free(a);
}

/* ---- Names -----------------------------------------------------------------------------------------------
 * Two masters spawn apprentices. The first of the second one is called so whoever the first one spawned. */

static void masters_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"smith", "baker"};
    p->objects[0] = rad_object(k, RAD_NONE, "town");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, roles[i]), RAD_NONE, 0);
        rad_announce(k, p->actions[i], 0, p->objects[0], RAD_WRITE);
        rad_enable(k, p->actions[i]);
    }
}

static void masters_step(puppet *p, rad_kernel *k, uint32_t action)
{
    rad_disable(k, action);
    if (action > p->actions[1]) {
        if (++p->number == 3) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "all apprentices are through");
        return;
    }
    for (uint32_t i = 0; i < 1 + (action == p->actions[0]); i++) {
        uint32_t actor = rad_actor(k, k->actions[action].actor, "apprentice");
        uint32_t own = rad_action(k, 0, actor, RAD_NONE, 0);
        rad_announce(k, own, 1, p->objects[0], RAD_WRITE);
        rad_enable(k, own);
    }
}

static void names_are_of_the_spawner(void **state)
{
    static const char *const names[] = {"smith", "smith/apprentice", "smith/apprentice 1", "baker", "baker/apprentice"};
    (void)state;
    puppet p = {.reset = masters_reset, .step = masters_step};
    rad_target t = puppet_target(&p);
    rad_error error = {0};
    rad_verdict v = {0};
    rad_artifact *a = NULL;
    rad_run_request r = {.policy = "first", .artifact = &a};
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
    char *text = rad_artifact_json(a, &error);
    assert_non_null(text);
    const rad_path *path = rad__artifact_path(a);
    assert_int_equal(path->actor_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        bool has = false;
        for (uint32_t j = 0; j < 5; j++) has |= strcmp(path->actors[j], names[i]) == 0;
        if (!has) fail_msg("there is no %s", names[i]);
    }
    rad_free(text);
    rad_artifact_free(a);
}

/* ---- Actors ----------------------------------------------------------------------------------------------
 * A worker begins, somebody comes by, the worker ends: that fails when the worker was first. After the edit the worker
 * has another role, and a helper with the old one comes when the worker was first; it saves the run if it may go before
 * the worker ends. Actions: 0 who comes by, 1 the worker, 2 the helper. */

enum { BEGINS, ENDS, COMES };

typedef struct yard {
    bool edited, began, came, saved;
} yard;

static const char *yard_site_name(const void *self, uint32_t site)
{
    static const char *const names[] = {"begins", "ends", "comes"};
    (void)self;
    return site < 3 ? names[site] : NULL;
}

static uint32_t yard_actor(puppet *p, rad_kernel *k, const char *role, uint32_t site)
{
    uint32_t action = rad_action(k, 0, rad_actor(k, RAD_NONE, role), RAD_NONE, 0);
    rad_announce(k, action, site, p->objects[0], RAD_WRITE);
    rad_enable(k, action);
    return action;
}

static void yard_reset(puppet *p, rad_kernel *k)
{
    yard *y = p->data;
    *y = (yard){.edited = y->edited};
    p->objects[0] = rad_object(k, RAD_NONE, "yard");
    p->actions[0] = yard_actor(p, k, "passer", COMES);
    p->actions[1] = yard_actor(p, k, y->edited ? "hand" : "worker", BEGINS);
    p->actions[2] = RAD_NONE;
}

static void yard_worker(puppet *p, rad_kernel *k)
{
    yard *y = p->data;
    if (y->began) {
        rad_disable(k, p->actions[1]);
        if (p->number == 1 && !y->saved) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "nobody saved it");
        return;
    }
    y->began = true;
    p->number = !y->came; /* it was first */
    rad_announce(k, p->actions[1], ENDS, p->objects[0], RAD_WRITE);
    if (y->came) return;
    rad_disable(k, p->actions[1]); /* until somebody comes */
    if (y->edited) p->actions[2] = yard_actor(p, k, "worker", ENDS);
}

static void yard_step(puppet *p, rad_kernel *k, uint32_t action)
{
    yard *y = p->data;
    if (action == p->actions[1]) {
        yard_worker(p, k);
        return;
    }
    rad_disable(k, action);
    if (action == p->actions[2]) {
        y->saved = true;
        return;
    }
    y->came = true;
    if (y->began) rad_enable(k, p->actions[1]);
}

static void an_actor_that_was_given_away_is_nobody_elses(void **state)
{
    (void)state;
    yard y = {.edited = false};
    puppet p = {.reset = yard_reset, .step = yard_step, .data = &y};
    rad_machine m = puppet_machine;
    m.site_name = yard_site_name;
    rad_target t = puppet_target(&p);
    t.machine = &m;
    rad_artifact *a = recorded(&t);
    y.edited = true;
    still_fails(a);
    rad_artifact_free(a);
}

/* ---- A step that is gone ---------------------------------------------------------------------------------
 * A clerk opens the book, reads and writes; that fails when somebody else writes in between. After the edit the clerk
 * does not open it: from the next step on, both are in step. */

static const char *book_site_name(const void *self, uint32_t site)
{
    static const char *const names[] = {"open", "read", "write", "scribble"};
    (void)self;
    return site < 4 ? names[site] : NULL;
}

static void book_reset(puppet *p, rad_kernel *k)
{
    uint32_t *at = p->data;
    *at = (uint32_t)p->number; /* the edition is the step that the clerk begins with */
    p->objects[0] = rad_object(k, RAD_NONE, "book");
    p->actions[0] = yard_actor(p, k, "clerk", *at);
    p->actions[1] = yard_actor(p, k, "child", 3);
}

static void book_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t *at = p->data;
    if (action == p->actions[1]) {
        rad_disable(k, action);
        *at += *at == 2 ? 4 : 0; /* between reading and writing */
        return;
    }
    if (*at % 4 == 2) {
        rad_disable(k, action);
        if (*at == 6) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "an entry is lost");
        return;
    }
    rad_announce(k, action, ++*at, p->objects[0], RAD_WRITE);
}

static void after_a_step_that_is_gone_it_is_in_step_again(void **state)
{
    (void)state;
    uint32_t at = 0;
    puppet p = {.reset = book_reset, .step = book_step, .data = &at};
    rad_machine m = puppet_machine;
    m.site_name = book_site_name;
    rad_target t = puppet_target(&p);
    t.machine = &m;
    rad_artifact *a = recorded(&t);
    p.number = 1;
    rad_error error = {0};
    rad_realignment r;
    if (rad_lab_realign(a, NULL, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.answer, RAD_REALIGNED_FAILS);
    assert_int_equal(r.missing, 1);
    assert_int_equal(r.divergences, 1);
    assert_int_equal(r.diverged_at, 0);
    assert_true(r.again);
    assert_int_equal(r.again_at, 1);
    assert_string_equal(r.again_as, "child at 'scribble'");
    rad_realignment_free(&r);
    rad_artifact_free(a);
}

/* ---- Which actor is which ------------------------------------------------------------------------------------- */

static char sites[5][RAD_PATH_SITE_MAX] = {"a", "b", "c", "d", "e"}, actors[2][RAD_PATH_ACTOR_MAX] = {"one", "two"};
static char nothing[1][RAD_PATH_OBJECT_MAX];

/* Of "a0 b1": actor 0 at site a, 1 at b. */
static rad_path path_of(const char *text, rad_path_step *steps, uint32_t actor_count)
{
    rad_path p = {.actors = actors, .sites = sites, .objects = nothing, .steps = steps};
    p.actor_count = actor_count;
    p.site_count = sizeof sites / sizeof *sites;
    p.object_count = 1;
    for (; text[0]; text += text[2] ? 3 : 2)
        steps[p.step_count++] = (rad_path_step){(uint32_t)(text[1] - '0'), (uint32_t)(text[0] - 'a'), 0, false};
    return p;
}

/* Actor 0 of the run is this one of the recording. */
static void named(const char *recorded, uint32_t recorded_actors, const char *now, uint32_t now_actors, uint32_t first)
{
    static const bool vanished[sizeof sites / sizeof *sites];
    rad_path_step steps[2][20];
    rad_path then = path_of(recorded, steps[0], recorded_actors), run = path_of(now, steps[1], now_actors);
    rad_realign_options o = {.recorded = &then, .vanished = vanished};
    rad_error error = {0};
    rad_realign_plan plan;
    assert_int_equal(rad__realign_plan(&plan, &o, &run, false, &error), 0);
    assert_int_equal(plan.actor_of[0], first);
    rad__realign_plan_free(&plan);
}

/* It keeps it if half of the shorter one is common, also beside another with more; with less it is that one. */
static void an_actor_keeps_its_name_with_half_in_common(void **state)
{
    (void)state;
    named("a0 b0 a1 c1 d1", 2, "a0 c0", 1, 0);
    named("a0 b0 e0 a1 c1 d1", 2, "a0 c0 d0", 1, 1);
    named("a0 b0 e0 b0 a1 c1 d1", 2, "a0 b0 c0 d0", 1, 0);
    named("a0 a1 c1", 2, "a0 c0", 1, 0); /* the recorded one is the shorter one */
    named("b0 a1 c1", 2, "a0 c0", 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pick_does_not_take_the_value_of_another),
        cmocka_unit_test(picks_at_one_site_keep_their_order),
        cmocka_unit_test(names_are_of_the_spawner),
        cmocka_unit_test(an_actor_that_was_given_away_is_nobody_elses),
        cmocka_unit_test(after_a_step_that_is_gone_it_is_in_step_again),
        cmocka_unit_test(an_actor_keeps_its_name_with_half_in_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
