/* test_throwaway.c — three machines as unlike as can be, and one policy of the future, through the same
 * interfaces without a special case (contracts/core.md, Must hold 8):
 *
 *   crowd    10,000 actors
 *   select   one actor that waits for several things at once, with faults: choices inside a step
 *   stacks   coroutines on stacks of their own, code that knows nothing of steps
 *   pos      a policy with priorities per pending event, redrawn when they race with what ran */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "lab/artifact.h"
#include "rig_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* ---- What every machine goes through ------------------------------------------------------------------- */

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 5, .jobs = jobs};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", strategy, error.text);
    return e;
}

/* Explore with every strategy and any number of workers, replay, shrink, tell. */
static void goes_through_everything(const rad_target *t, const char *identity, uint64_t runs, uint64_t checks)
{
    static const char *const strategies[] = {"random", "fair", "pct:3", "surw", "preempt:2", "delay:2", "dfs", "auto"};
    rad_error error = {0};
    rad_artifact *found = NULL;
    for (uint32_t i = 0; i < 8; i++) {
        rad_exploration one = explored(t, strategies[i], runs, 1);
        rad_exploration two = explored(t, strategies[i], runs, 2);
        assert_same_exploration(&one, &two);
        for (uint32_t f = 0; f < one.finding_count; f++)
            assert_string_equal(rad_artifact_verdict(one.findings[f].artifact)->identity, identity);
        if (found == NULL && one.finding_count) {
            found = one.findings[0].artifact;
            one.findings[0].artifact = NULL;
        }
        rad_exploration_free(&one);
        rad_exploration_free(&two);
    }
    assert_non_null(found);
    rad_replay replay;
    assert_int_equal(rad_lab_replay(found, NULL, &replay, &error), 0);
    if (!replay.as_recorded) fail_msg("%s", replay.reason);
    rad_artifact *small = NULL;
    rad_shrink_report report;
    rad_shrink_options o = {.checks = checks, .certify_runs = checks};
    assert_int_equal(rad_lab_shrink(found, &o, &small, &report, &error), 0);
    assert_string_equal(rad_artifact_verdict(small)->identity, identity);
    assert_true(report.after.nonzero <= report.before.nonzero || report.after.switches < report.before.switches);
    rad_story *story = NULL;
    assert_int_equal(rad_lab_story(small, &story, &error), 0);
    assert_string_equal(story->verdict.identity, identity);
    assert_true(story->line_count > 0);
    rad_story_free(story);
    rad_artifact_free(found);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
}

/* ---- 10,000 actors ------------------------------------------------------------------------------------- */

#ifdef RAD_CHECKED
enum { CROWD = 500 }; /* the whole set is validated after every step */
#else
enum { CROWD = 10000 };
#endif

/* Everybody writes the board once. Wrong: somebody comes directly after one with a number 400 higher. */
typedef struct crowd {
    uint32_t last;
    uint32_t action[CROWD];
} crowd;

static crowd the_crowd;

static void crowd_reset(puppet *p, rad_kernel *k)
{
    crowd *c = p->data;
    c->last = RAD_NONE;
    uint32_t board = rad_object(k, RAD_NONE, "board");
    for (uint32_t i = 0; i < CROWD; i++) {
        c->action[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "visitor"), RAD_NONE, 0);
        rad_announce(k, c->action[i], 0, board, RAD_WRITE);
        rad_enable(k, c->action[i]);
    }
}

static void crowd_step(puppet *p, rad_kernel *k, uint32_t action)
{
    crowd *c = p->data;
    uint32_t actor = rad_current_actor(k);
    rad_disable(k, action);
    rad_value(k, c->last);
    if (c->last != RAD_NONE && c->last == actor + 400)
        rad_fail(k, RAD_ORACLE_ASSERT, 0, "visitor %u after %u", (unsigned)actor, (unsigned)c->last);
    c->last = actor;
}

static void ten_thousand_actors(void **state)
{
    (void)state;
    puppet p = {.reset = crowd_reset, .step = crowd_step, .data = &the_crowd};
    rad_target t = puppet_target(&p);
    bare_rig b;
    static witness eye;
    bare_open(&b, &puppet_machine, &p, CROWD);
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED); /* one after the other */
    assert_int_equal(b.kernel->step, CROWD);
    assert_int_equal(b.kernel->decisions, CROWD - 1);
    witness_open(&eye);
    uint32_t list[] = {CROWD - 1, CROWD - 1, CROWD / 2, 1};
    assert_int_equal(bare_guide(&b, list, 4), RAD_OUTCOME_FINISHED);
    assert_int_equal(rad__trace_at(&b.kernel->trace, CROWD - 1)->actor, CROWD - 3);
    assert_int_equal(b.choices[2].count, CROWD - 2);
    bare_close(&b);
    goes_through_everything(&t, "assertion:board@visitor %u after %u", (uint32_t)storm_size(5, 12),
                            storm_size(100, 300));
}

/* ---- Choices inside a step ------------------------------------------------------------------------------ */

enum { SOURCES = 3 };

/* A server waits for three sources at once; each client sends twice. Sending may fail (a fault) and is then
 * tried again; the server takes any ready source (a case). Wrong: the third source twice in a row, the second
 * time after a fault. */
typedef struct selecting {
    uint32_t queued[SOURCES], sent[SOURCES], taken, last;
    bool faulty[SOURCES];
} selecting;

static void select_wake(puppet *p, rad_kernel *k, const selecting *s)
{
    bool ready = false;
    for (uint32_t i = 0; i < SOURCES; i++) ready |= s->queued[i] > 0;
    if (ready)
        rad_enable(k, p->actions[SOURCES]);
    else
        rad_disable(k, p->actions[SOURCES]);
    if (!ready && s->taken < 2 * SOURCES) rad_wait(k, SOURCES, p->objects[0], RAD_NONE);
}

static void select_reset(puppet *p, rad_kernel *k)
{
    selecting *s = p->data;
    *s = (selecting){.last = RAD_NONE};
    for (uint32_t i = 0; i < SOURCES; i++) p->objects[i] = rad_object(k, RAD_NONE, "source");
    for (uint32_t i = 0; i <= SOURCES; i++) {
        uint32_t actor = rad_actor(k, RAD_NONE, i < SOURCES ? "client" : "server");
        p->actions[i] = rad_action(k, 0, actor, RAD_NONE, 0);
        if (i < SOURCES) rad_announce(k, p->actions[i], 0, p->objects[i], RAD_WRITE);
        if (i < SOURCES) rad_enable(k, p->actions[i]);
    }
}

static void select_take(puppet *p, rad_kernel *k, selecting *s)
{
    uint32_t ready[SOURCES], count = 0;
    for (uint32_t i = 0; i < SOURCES; i++)
        if (s->queued[i]) ready[count++] = i;
    uint32_t source = ready[rad_pick(k, RAD_PICK_CASE, 1, count)];
    s->queued[source]--;
    s->taken++;
    rad_touch(k, p->objects[source], RAD_WRITE);
    rad_note(k, 1, p->objects[source], s->queued[source]);
    RAD_CHECK(k, RAD_ORACLE_OWN, !(source == 2 && s->last == 2 && s->faulty[2]), p->objects[2],
              "the third source twice");
    s->last = source;
}

static void select_step(puppet *p, rad_kernel *k, uint32_t action)
{
    selecting *s = p->data;
    uint32_t who = rad_current_actor(k);
    if (who == SOURCES) {
        select_take(p, k, s);
    } else if (!s->faulty[who] && rad_pick(k, RAD_PICK_FAULT, 2, 2) == 1) {
        s->faulty[who] = true; /* nothing sent */
    } else {
        s->queued[who]++;
        if (++s->sent[who] == 2) rad_disable(k, action);
    }
    select_wake(p, k, s);
}

static void choices_inside_a_step(void **state)
{
    (void)state;
    selecting s;
    puppet p = {.reset = select_reset, .step = select_step, .data = &s};
    rad_target t = puppet_target(&p);
    goes_through_everything(&t, "own:source@!(source == 2 && s->last == 2 && s->faulty[2])", 3000, 3000);
    /* Small enough to see that shrinking treats picks like everything else: one fault is needed, and no
     * case but the third source's. */
    rad_exploration e = explored(&t, "random", 5000, 2);
    rad_error error = {0};
    rad_artifact *small = NULL;
    rad_shrink_report report;
    rad_shrink_options o = {0};
    assert_int_equal(rad_lab_shrink(e.findings[0].artifact, &o, &small, &report, &error), 0);
    assert_int_equal(report.after.preemptions, 0);
    assert_int_equal(report.certificate, RAD_MINIMAL);
    assert_true(report.after.nonzero <= 3);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
    rad_exploration_free(&e);
}

/* ---- Coroutines ----------------------------------------------------------------------------------------- */

enum { STACKS = 3, STACK_SIZE = 64 << 10 };

/* Plain C on a stack of its own; every access to the shared total is a point at which others may run. */
typedef struct stacks {
    ucontext_t main, context[STACKS];
    bool ended[STACKS];
    uint32_t current;
    uint32_t rounds;
    int total;
    char memory[STACKS][STACK_SIZE];
} stacks;

static stacks the_stacks;

static void stacks_pass(void)
{
    swapcontext(&the_stacks.context[the_stacks.current], &the_stacks.main);
}

static void stacks_body(void)
{
    stacks *s = &the_stacks;
    for (uint32_t i = 0; i < s->rounds; i++) {
        int seen = s->total; /* one step ends here … */
        stacks_pass();
        s->total = seen + 1; /* … and this is the next */
        if (i + 1 < s->rounds) stacks_pass();
    }
    s->ended[s->current] = true;
}

static void stacks_reset(puppet *p, rad_kernel *k)
{
    stacks *s = p->data;
    s->total = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "total");
    for (uint32_t i = 0; i < STACKS; i++) {
        s->ended[i] = false;
        getcontext(&s->context[i]);
        s->context[i].uc_stack.ss_sp = s->memory[i];
        s->context[i].uc_stack.ss_size = STACK_SIZE;
        s->context[i].uc_link = &s->main;
        makecontext(&s->context[i], stacks_body, 0);
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "coroutine"), RAD_NONE, 0);
        rad_announce(k, p->actions[i], 0, p->objects[0], RAD_WRITE);
        rad_enable(k, p->actions[i]);
    }
}

static void stacks_step(puppet *p, rad_kernel *k, uint32_t action)
{
    stacks *s = p->data;
    s->current = rad_current_actor(k);
    swapcontext(&s->main, &s->context[s->current]);
    rad_value(k, (uint64_t)s->total);
    if (!s->ended[s->current]) return;
    rad_disable(k, action);
    rad_ended(k, s->current);
    if (rad_enabled_count(k) == 0)
        RAD_CHECK(k, RAD_ORACLE_ASSERT, s->total == (int)(STACKS * s->rounds), p->objects[0], "%d instead of %u",
                  s->total, (unsigned)(STACKS * s->rounds));
}

static void coroutines_on_their_own_stacks(void **state)
{
    (void)state;
    the_stacks.rounds = 1;
    puppet p = {.reset = stacks_reset, .step = stacks_step, .data = &the_stacks};
    rad_target t = puppet_target(&p);
    rad_exploration all = explored(&t, "dfs", 100000, 2);
    assert_true(all.complete);
    assert_int_equal(all.runs, multinomial(STACKS, 2));
    assert_int_equal(all.failures, 90 - 6); /* right only one after the other */
    rad_exploration_free(&all);
    the_stacks.rounds = 3;
    goes_through_everything(&t, "assertion:total@s->total == (int)(STACKS * s->rounds)", 2000, 3000);
}

/* ---- A policy of the future: pos ------------------------------------------------------------------------ */

/* Partial order sampling: every pending event has a random priority; the highest runs; those that race with
 * it get new ones. Needs: changed, announced, ran with its footprint, and what is announced for an action. */
enum { POS_ACTIONS = 64 };

typedef struct pos_policy {
    rad_policy base;
    rad_prng prng;
    uint64_t priority[POS_ACTIONS];
    bool pending[POS_ACTIONS];
    uint64_t drawn, redrawn, kept;
} pos_policy;

static void pos_begin(rad_policy *base, rad_kernel *k, const rad_run_info *info)
{
    (void)k;
    pos_policy *p = (pos_policy *)base;
    *p = (pos_policy){.base = p->base, .prng = rad__prng(info->seed, RAD_STREAM_TEST, info->run)};
}

static void pos_changed(rad_policy *base, rad_kernel *k, uint32_t action, bool enabled)
{
    (void)k;
    pos_policy *p = (pos_policy *)base;
    assert_true(action < POS_ACTIONS);
    p->pending[action] = enabled;
    if (enabled) p->priority[action] = rad__prng_next(&p->prng), p->drawn++;
}

/* The event behind an action is another one now. */
static void pos_announced(rad_policy *base, rad_kernel *k, uint32_t action)
{
    (void)k;
    pos_policy *p = (pos_policy *)base;
    p->priority[action] = rad__prng_next(&p->prng), p->drawn++;
}

static uint32_t pos_choose(rad_policy *base, rad_kernel *k, const rad_decision *d)
{
    pos_policy *p = (pos_policy *)base;
    if (d->kind != RAD_PICK_ACTION) return (uint32_t)rad__prng_below(&p->prng, d->count);
    uint32_t best = RAD_NONE;
    for (uint32_t a = 0; a < k->action_count; a++)
        if (rad_is_enabled(k, a) && (best == RAD_NONE || p->priority[a] > p->priority[best])) best = a;
    return rad__index_of(k, d, best);
}

static bool pos_races(const rad_footprint *f, uint32_t object, uint32_t access)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].object == object && f->items[i].access != RAD_LOCAL && access != RAD_LOCAL &&
            (f->items[i].access == RAD_WRITE || access == RAD_WRITE))
            return true;
    return false;
}

static void pos_ran(rad_policy *base, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    pos_policy *p = (pos_policy *)base;
    for (uint32_t a = 0; a < k->action_count; a++) {
        if (!p->pending[a] || a == action) continue;
        if (pos_races(f, k->actions[a].target, k->actions[a].access)) {
            p->priority[a] = rad__prng_next(&p->prng);
            p->redrawn++;
        } else {
            p->kept++;
        }
    }
}

static const rad_policy_class POS = {
    .name = "pos",
    .choose = pos_choose,
    .begin = pos_begin,
    .changed = pos_changed,
    .announced = pos_announced,
    .ran = pos_ran,
};

/* For two threads of one event each on one object both orders are equally likely; what pos adds is that an
 * event does not lose against those it has nothing to do with. */
static void a_policy_of_the_future_has_what_it_needs(void **state)
{
    (void)state;
    weave w = {.threads = 3, .objects = 2, .count = {4, 4, 4}};
    for (uint32_t i = 0; i < 4; i++) {
        w.ops[0][i] = (weave_op){.access = RAD_WRITE, .object = 0};
        w.ops[1][i] = (weave_op){.access = i % 2 ? RAD_READ : RAD_WRITE, .object = 0};
        w.ops[2][i] = (weave_op){.access = RAD_WRITE, .object = 1};
    }
    bare_rig b;
    pos_policy p = {.base = {&POS}};
    bare_open(&b, &weave_machine, &w, 100);
    uint64_t first[3] = {0};
    for (uint64_t run = 0; run < 3000; run++) {
        rad_run_options options = bare_options(&b, &p.base);
        options.info.run = run;
        assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
        first[w.order[0]]++;
        assert_true(p.drawn >= 12);
        assert_true(p.redrawn > 0); /* threads 0 and 1 race … */
        assert_true(p.kept > 0);    /* … and never with thread 2 */
    }
    assert_true(pearson(first, 3, 3000) < pearson_limit(3));
    rad_digest digest = b.kernel->trace.digest;
    uint32_t list[100];
    uint64_t count = b.kernel->decisions;
    for (uint64_t i = 0; i < count; i++) list[i] = b.choices[i].chosen;
    bare_guide(&b, list, count); /* its choices are a choice list like any other */
    assert_true(rad__digest_equal(digest, b.kernel->trace.digest));
    bare_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_actors),
        cmocka_unit_test(choices_inside_a_step),
        cmocka_unit_test(coroutines_on_their_own_stacks),
        cmocka_unit_test(a_policy_of_the_future_has_what_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
