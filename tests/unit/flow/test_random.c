/* test_random.c — random flows: the machine and the reference interpreter do the same, step by step.
 *
 * 10,000 flows; RADDLE_STRESS multiplies them, RADDLE_STRESS_SEED makes other ones. A failure prints the seed, the flow
 * and the first difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "generate.h"
#include "lockstep.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

enum { CASES = 10000, LIVE_CASES = 3000, STEPS = 300 };

static const char *const policies[] = {"random", "pct:3", "first", "random", "fair"};
enum { POLICIES = sizeof policies / sizeof *policies };

static uint64_t first_seed(void)
{
    rad_prng r = storm_prng(0);
    return rad__prng_next(&r) >> 20;
}

static void check_flow(uint64_t seed, bool is_live, flow_lockstep_seen *seen)
{
    flow_lockstep_options o = {.policy = policies[seed % POLICIES], .seed = seed, .steps = STEPS, .is_live = is_live};
    char difference[FLOW_DIFFERENCE_MAX];
    char *text = flow_generate(seed);
    bool same = flow_lockstep(text, &o, seen, difference);
    if (!same) {
        fputs(text, stderr);
        fail_msg("seed %llu, policy %s, %s: %s", (unsigned long long)seed, o.policy, is_live ? "live" : "chosen",
                 difference);
    }
    rad__free(text);
}

static void at_least(uint64_t count, uint64_t least, const char *what)
{
    if (count < least) fail_msg("%s: %llu, not %llu", what, (unsigned long long)count, (unsigned long long)least);
}

/* Everything that can happen has happened, and often. */
static void check_seen(const flow_lockstep_seen *seen)
{
    uint64_t least = seen->runs / 100;
    for (uint32_t i = 0; i < REFERENCE_WAITS; i++)
        at_least(seen->kinds[i], i == REFERENCE_FINISH_CASE ? least / 10 : least,
                 reference_kind_name((enum reference_kind)i));
    for (uint32_t i = REFERENCE_DONE; i <= REFERENCE_DEADLOCK; i++)
        at_least(seen->states[i], least / 2, reference_state_name((enum reference_state)i));
    at_least(seen->states[REFERENCE_DONE], 30 * least, "flows that are done");
    at_least(seen->fates[REFERENCE_ARRIVED], 100 * least, "tokens that arrived");
    at_least(seen->fates[REFERENCE_ABSORBED], 10 * least, "tokens that were absorbed");
    at_least(seen->fates[REFERENCE_STOPPED], 50 * least, "tokens that were cancelled");
    at_least(seen->picks[RAD_PICK_CASE], 10 * least, "choices among branches");
    at_least(seen->steps, 20 * seen->runs, "steps");
}

static void must_hold_1_machine_and_reference_agree(void **state)
{
    (void)state;
    flow_lockstep_seen seen = {.steps = 0};
    uint64_t seed = first_seed(), count = storm_amount(CASES);
    for (uint64_t i = 0; i < count; i++) check_flow(seed + i, false, &seen);
    check_seen(&seen);
    at_least(seen.picks[RAD_PICK_VALUE], seen.runs / 10, "choices of values");
    at_least(seen.picks[RAD_PICK_FAULT], seen.runs / 10, "choices of outcomes");
}

/* The same with a world that answers when it likes: effects are asked for, and stopped, exactly once. */
static void must_hold_1_and_in_a_live_world(void **state)
{
    (void)state;
    flow_lockstep_seen seen = {.steps = 0};
    uint64_t seed = first_seed() + 1000000, count = storm_amount(LIVE_CASES);
    for (uint64_t i = 0; i < count; i++) check_flow(seed + i, true, &seen);
    check_seen(&seen);
    at_least(seen.starts, seen.runs, "effects");
    at_least(seen.stops, seen.runs / 20, "effects that were stopped");
    at_least(seen.late, seen.runs / 100, "answers that came too late");
    at_least(seen.kept, seen.runs / 100, "signals that came too early");
    at_least(seen.cancelled, seen.runs / 100, "cancelled from outside");
}

/* ---- The generator --------------------------------------------------------------------------------------------- */

typedef struct coverage {
    uint64_t kinds[RAD_FLOW_KINDS], joins[RAD_FLOW_KINDS][RAD_JOINS], merges[RAD_MERGES];
    uint64_t nested[RAD_FLOW_KINDS][RAD_FLOW_KINDS]; /* around, inside */
    uint64_t expressions[RAD_EXPRS], scopes[3];
    uint64_t on_cancel, on_failure, into, no_else, over, as, up_to;
    uint64_t timers, signals, fresh, payloads, undo, retries, delays, captures, exits, may_fail;
} coverage;

static void cover_expression(coverage *c, const rad_flow_expr *e)
{
    if (e == NULL) return;
    c->expressions[e->op]++;
    cover_expression(c, e->a);
    cover_expression(c, e->b);
}

static void cover_block(coverage *c, const rad_flow_block *block, enum rad_flow_kind around);

static void cover_branch(coverage *c, const rad_flow_branch *b, const rad_flow_statement *s)
{
    cover_expression(c, b->when);
    cover_block(c, &b->block, s->kind);
    if (s->kind != RAD_FLOW_DEFER) return;
    c->timers += b->event.is_timer;
    c->signals += !b->event.is_timer;
    c->fresh += b->event.is_fresh;
    c->payloads += b->event.into != RAD_NONE;
}

static void cover_statement(coverage *c, const rad_flow_statement *s)
{
    c->kinds[s->kind]++;
    c->joins[s->kind][s->join]++;
    cover_expression(c, s->expr);
    if (s->kind == RAD_FLOW_CANCEL) c->scopes[s->scope]++;
    c->no_else += (s->kind == RAD_FLOW_XOR || s->kind == RAD_FLOW_OR) && !s->has_else;
    c->over += s->is_over;
    c->up_to += s->most > 0;
    c->as += s->kind == RAD_FLOW_MANY && s->as != RAD_NONE;
    for (uint32_t i = 0; i < s->branch_count; i++) cover_branch(c, &s->branches[i], s);
    if (s->on_cancel != NULL) cover_branch(c, s->on_cancel, s);
    if (s->on_failure != NULL) cover_branch(c, s->on_failure, s);
    c->on_cancel += s->on_cancel != NULL;
    c->on_failure += s->on_failure != NULL;
    c->into += s->on_failure != NULL && s->into != RAD_NONE;
}

static void cover_block(coverage *c, const rad_flow_block *block, enum rad_flow_kind around)
{
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) {
        c->nested[around][s->kind]++;
        cover_statement(c, s);
    }
}

static void cover_flow(coverage *c, const rad_flow_tree *tree)
{
    cover_block(c, &tree->body, RAD_FLOW_BLOCK);
    for (uint32_t i = 0; i < tree->variable_count; i++) c->merges[tree->variables[i].merge]++;
    for (uint32_t i = 0; i < tree->task_count; i++) {
        const rad_flow_task *t = &tree->tasks[i];
        c->undo += t->undo != RAD_NONE;
        c->retries += t->retries > 0 && t->delay_ns == 0;
        c->delays += t->retries > 0 && t->delay_ns > 0;
        c->captures += t->capture != RAD_NONE;
        c->exits += t->exit != RAD_NONE;
        c->may_fail += (t->outcomes & RAD_OUTCOME_FAIL_BIT) != 0;
    }
}

static void check_joins(const coverage *c)
{
    for (uint32_t i = 0; i < RAD_JOINS; i++) {
        char what[40];
        snprintf(what, sizeof what, "join %u", i);
        at_least(c->joins[RAD_FLOW_PAR][i], 100, what);
        if (i != RAD_JOIN_ALL) at_least(c->joins[RAD_FLOW_OR][i], 50, what);
        if (i != RAD_JOIN_SYNC && i != RAD_JOIN_MULTI) at_least(c->joins[RAD_FLOW_MANY][i], 50, what);
    }
}

static void check_nesting(const coverage *c)
{
    static const enum rad_flow_kind compound[] = {
        RAD_FLOW_PAR,  RAD_FLOW_XOR,        RAD_FLOW_OR,   RAD_FLOW_LOOP,  RAD_FLOW_WHILE,  RAD_FLOW_REPEAT,
        RAD_FLOW_MANY, RAD_FLOW_INTERLEAVE, RAD_FLOW_LOCK, RAD_FLOW_DEFER, RAD_FLOW_REGION,
    };
    enum { COUNT = sizeof compound / sizeof *compound };
    for (uint32_t i = 0; i < COUNT * COUNT; i++) {
        enum rad_flow_kind around = compound[i / COUNT], inside = compound[i % COUNT];
        char what[60];
        snprintf(what, sizeof what, "%s in %s", rad__flow_kind_name(inside), rad__flow_kind_name(around));
        at_least(c->nested[around][inside], 3, what);
    }
}

static void random_flows_cover_the_language(void **state)
{
    (void)state;
    coverage c = {.over = 0};
    uint64_t seed = first_seed();
    for (uint64_t i = 0; i < 3000; i++) {
        char *text = flow_generate(seed + i);
        rad_flow_file file;
        rad_flow_tree *tree;
        assert_int_equal(rad__flow_read(&file, "test", text, strlen(text), NULL), 0);
        assert_int_equal(rad__flow_resolve(&file, NULL), 0);
        assert_int_equal(rad__flow_find(&file, NULL, &tree, NULL), 0);
        cover_flow(&c, tree);
        rad__flow_file_free(&file);
        rad__free(text);
    }
    for (uint32_t i = 0; i < RAD_FLOW_KINDS; i++) at_least(c.kinds[i], 50, rad__flow_kind_name((enum rad_flow_kind)i));
    for (uint32_t i = 0; i < RAD_MERGES; i++) at_least(c.merges[i], 300, "a merge");
    for (uint32_t i = 0; i < RAD_EXPRS; i++) at_least(c.expressions[i], 30, "an operator");
    at_least(c.scopes[RAD_FLOW_PART_TASK], 300, "cancel task");
    at_least(c.scopes[RAD_FLOW_PART_REGION], 300, "cancel region");
    at_least(c.scopes[RAD_FLOW_PART_CASE], 20, "cancel case");
    const uint64_t rest[] = {c.on_cancel, c.on_failure, c.into,  c.no_else,  c.over,     c.as,
                             c.up_to,     c.timers,     c.fresh, c.signals,  c.payloads, c.undo,
                             c.retries,   c.delays,     c.exits, c.captures, c.may_fail};
    for (uint32_t i = 0; i < sizeof rest / sizeof *rest; i++) at_least(rest[i], 100, "a property");
    check_joins(&c);
    check_nesting(&c);
}

/* Whatever compiler has made us: two draws among the arguments of a call are in either order. */
static void a_seed_is_the_same_flow_everywhere(void **state)
{
    (void)state;
    rad_digest all = {0, 0};
    for (uint64_t i = 0; i < 200; i++) {
        char *text = flow_generate(i);
        rad_digest one = rad__digest_of(text, strlen(text));
        all.low = rad__mix2(all.low, one.low);
        all.high = rad__mix2(all.high, one.high);
        rad__free(text);
    }
    char digest[RAD_DIGEST_TEXT];
    rad__digest_text(all, digest);
    assert_string_equal(digest, "e83010daecc6877fab73b6bd9924eb22");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(must_hold_1_machine_and_reference_agree),
        cmocka_unit_test(must_hold_1_and_in_a_live_world),
        cmocka_unit_test(random_flows_cover_the_language),
        cmocka_unit_test(a_seed_is_the_same_flow_everywhere),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
