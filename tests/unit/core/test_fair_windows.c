/* test_fair_windows.c — who comes behind whom when somebody yields: for how long, and that the world is somebody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig_support.h"

enum { POLITE, STARVED, DOOR, YIELDS = 6 };

/* Every schedule of a puppet. */
static rad_exploration tried(puppet *p)
{
    rad_error error = {0};
    rad_exploration x;
    rad_target t = puppet_target(p);
    t.c.max_steps = 200;
    rad_explore_options o = {.strategy = "dfs", .runs = 20000, .fair_only = true};
    if (rad_lab_explore(&t, &o, &x, &error) != 0) fail_msg("%s", error.text);
    return x;
}

static void has_every_schedule(rad_exploration *x)
{
    assert_int_equal(x->failures, 0);
    assert_int_equal(x->cut, 0);
    assert_true(x->complete);
    assert_true(x->held > 0);
    rad_exploration_free(x);
}

/* ---- For how long ---------------------------------------------------------------------------------------- */

/* The polite one yields in each step. The door shuts the starved one out, and lets it in again. */
struct corridor {
    uint32_t while_open; /* steps of the polite one while the starved one could run, and never had */
    uint32_t door;       /* steps */
    bool ran;            /* the starved one has */
};

static void corridor_reset(puppet *p, rad_kernel *k)
{
    *(struct corridor *)p->data = (struct corridor){0};
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "corridor");
    for (uint32_t i = 0; i < 3; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "person"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void corridor_polite(puppet *p, rad_kernel *k, struct corridor *c)
{
    bool behind = c->while_open >= 2 && !c->ran; /* its second yield has put it there */
    if (behind && c->door == 2) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "out of turn");
    if (!c->ran && c->door == 0) c->while_open++;
    rad_yields(k);
    if (++p->number == YIELDS) rad_disable(k, p->actions[POLITE]);
}

static void corridor_step(puppet *p, rad_kernel *k, uint32_t action)
{
    struct corridor *c = p->data;
    if (action == p->actions[POLITE]) {
        corridor_polite(p, k, c);
    } else if (action == p->actions[STARVED]) {
        c->ran = true;
        rad_disable(k, action);
    } else if (++c->door == 1) {
        rad_disable(k, p->actions[STARVED]);
    } else {
        if (!c->ran) rad_enable(k, p->actions[STARVED]);
        rad_disable(k, action);
    }
}

/* Whom an actor has come behind it stays behind, also over windows in which that one cannot run. */
static void who_was_starved_goes_first_when_it_can_run_again(void **state)
{
    struct corridor c;
    puppet p = {.reset = corridor_reset, .step = corridor_step, .data = &c};
    (void)state;
    rad_exploration x = tried(&p);
    has_every_schedule(&x);
}

/* Whom it disabled counts in that window only. The door lets the other one in again, which has had its step before:
 * the polite one may go on beside it. */
static void let_in_step(puppet *p, rad_kernel *k, uint32_t action)
{
    struct corridor *c = p->data;
    if (action == p->actions[DOOR]) {
        c->door = c->while_open == 2 && p->number == 1 && !rad_is_enabled(k, p->actions[STARVED]) ? 2 : 1;
        if (c->door == 2) rad_enable(k, p->actions[STARVED]);
        rad_disable(k, action);
    } else if (action == p->actions[STARVED]) {
        if (c->ran) rad_disable(k, action);
        c->ran = true;
        p->number++;
    } else {
        rad_yields(k);
        bool beside = p->number == 1 && rad_is_enabled(k, p->actions[STARVED]);
        if (++c->while_open == 2 && c->ran && c->door == 0) rad_disable(k, p->actions[STARVED]);
        if (c->while_open < 4) return;
        rad_disable(k, action);
        if (beside && c->door == 2) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "beside it");
    }
}

static void who_was_disabled_in_an_earlier_window_is_not_starved(void **state)
{
    struct corridor c;
    puppet p = {.reset = corridor_reset, .step = let_in_step, .data = &c};
    (void)state;
    rad_exploration x = tried(&p);
    assert_true(x.complete);
    assert_true(x.failures > 0);
    rad_exploration_free(&x);
}

/* ---- The world -------------------------------------------------------------------------------------------- */

/* One who yields until something has happened that is nobody's doing. */
static void news_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    p->actions[0] = rad_action(k, 0, rad_actor(k, RAD_NONE, "reader"), RAD_NONE, 0);
    p->actions[1] = rad_action(k, 0, RAD_NONE, RAD_NONE, 0);
    rad_enable(k, p->actions[0]);
    rad_enable(k, p->actions[1]);
}

static void news_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1])
        p->number = 1;
    else
        rad_yields(k);
    if (action == p->actions[1] || p->number == 1) rad_disable(k, action);
}

static void the_world_is_not_starved_either(void **state)
{
    puppet p = {.reset = news_reset, .step = news_step};
    (void)state;
    rad_exploration x = tried(&p);
    has_every_schedule(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_starved_goes_first_when_it_can_run_again),
        cmocka_unit_test(who_was_disabled_in_an_earlier_window_is_not_starved),
        cmocka_unit_test(the_world_is_not_starved_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
