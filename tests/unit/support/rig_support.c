/* rig_support.c — see rig_support.h. */
#include "rig_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A kernel without the lab ---------------------------------------------------------------------- */

void bare_open(bare_rig *b, const rad_machine *m, void *self, uint64_t choices_max)
{
    rad_error error = {0};
    *b = (bare_rig){0};
    b->choices = calloc(choices_max ? choices_max : 1, sizeof *b->choices);
    assert_non_null(b->choices);
    rad_choice_buffer buffer = {b->choices, choices_max, &b->choice_count};
    assert_int_equal(rad__kernel_open(&b->kernel, buffer, &error), 0);
    assert_int_equal(rad__policy_guide(&b->guide, &error), 0);
    rad__kernel_use(b->kernel, m, self);
}

void bare_close(bare_rig *b)
{
    rad__kernel_close(b->kernel);
    rad__policy_destroy(b->guide);
    rad__estimates_free(&b->blank);
    free(b->choices);
}

rad_run_options bare_options(bare_rig *b, rad_policy *policy)
{
    return (rad_run_options){
        .policy = policy,
        .info = {.estimates = &b->blank},
        .max_steps = b->max_steps,
        .limit = b->limit,
        .whole_trace = b->whole_trace,
        .fair = b->fair,
        .check = b->check,
        .observers = {b->observer},
    };
}

enum rad_outcome bare_run(bare_rig *b, const char *policy, uint64_t seed, uint64_t run)
{
    rad_policy *p = policy_named(policy);
    rad_run_options options = bare_options(b, p);
    options.info.seed = seed;
    options.info.run = run;
    enum rad_outcome outcome = rad__kernel_run(b->kernel, &options);
    rad__policy_destroy(p);
    return outcome;
}

enum rad_outcome bare_guide(bare_rig *b, const uint32_t *list, uint64_t count)
{
    rad_run_options options = bare_options(b, b->guide);
    rad__guide_set(b->guide, list, count);
    return rad__kernel_run(b->kernel, &options);
}

rad_policy *policy_named(const char *name)
{
    rad_policy *p = NULL;
    rad_error error = {0};
    assert_int_equal(rad__policy_create(&p, name, &error), 0);
    return p;
}

/* ---- Puppet ---------------------------------------------------------------------------------------- */

puppet *puppet_on_stage;

static int puppet_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)c, (void)error;
    *self = puppet_on_stage;
    return 0;
}

static void stage_nothing(void *self)
{
    (void)self;
}

static void puppet_reset(void *self, rad_kernel *k)
{
    ((puppet *)self)->reset(self, k);
}

static void puppet_step(void *self, rad_kernel *k, uint32_t action)
{
    puppet *p = self;
    if (p->step) p->step(p, k, action);
}

static void puppet_check(void *self, rad_kernel *k)
{
    puppet *p = self;
    if (p->check) p->check(p, k);
}

static enum rad_end puppet_idle(void *self, rad_kernel *k)
{
    (void)k;
    return ((puppet *)self)->end;
}

static const char *const puppet_oracles[] = {"own", NULL};

const rad_machine puppet_machine = {
    .name = "puppet",
    .about = "does what a test says",
    .oracles = puppet_oracles,
    .bug_site = RAD_NONE,
    .create = puppet_create,
    .destroy = stage_nothing,
    .reset = puppet_reset,
    .step = puppet_step,
    .check = puppet_check,
    .idle = puppet_idle,
};

rad_target puppet_target(puppet *p)
{
    puppet_on_stage = p;
    return (rad_target){.machine = &puppet_machine};
}

/* ---- Weave ----------------------------------------------------------------------------------------- */

weave *weave_on_loom;

static int weave_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)c, (void)error;
    *self = weave_on_loom;
    return 0;
}

static void weave_ready(weave *w, rad_kernel *k, uint32_t thread)
{
    uint32_t action = rad_action(k, 0, w->actor[thread], RAD_NONE, 0);
    if (w->at[thread] == w->count[thread]) {
        rad_disable(k, action);
        rad_ended(k, w->actor[thread]);
        return;
    }
    const weave_op *op = &w->ops[thread][w->at[thread]];
    uint32_t object = op->access == RAD_LOCAL ? RAD_NONE : w->object_number[op->object];
    rad_announce(k, action, thread, object, op->access);
    rad_enable(k, action);
}

static void weave_start(weave *w, rad_kernel *k, uint32_t thread, uint32_t spawner)
{
    w->actor[thread] = rad_actor(k, spawner, "thread");
    w->thread_of[w->actor[thread]] = thread;
    weave_ready(w, k, thread);
}

static void weave_reset(void *self, rad_kernel *k)
{
    weave *w = self;
    w->steps = 0;
    for (uint32_t i = 0; i < w->objects; i++) w->object_number[i] = rad_object(k, RAD_NONE, "cell");
    for (uint32_t i = 0; i < w->threads; i++) w->at[i] = 0;
    for (uint32_t i = 0; i < w->threads; i++)
        if (!w->spawned[i]) weave_start(w, k, i, RAD_NONE);
}

static void weave_step(void *self, rad_kernel *k, uint32_t action)
{
    weave *w = self;
    uint32_t thread = w->thread_of[k->actions[action].actor];
    const weave_op *op = &w->ops[thread][w->at[thread]++];
    w->order[w->steps++ % WEAVE_STEPS] = (uint8_t)thread;
    if (op->what == WEAVE_SPAWN) weave_start(w, k, op->argument, w->actor[thread]);
    if (op->what == WEAVE_YIELD) rad_yields(k);
    if (op->what == WEAVE_PICK) rad_value(k, rad_pick(k, RAD_PICK_VALUE, thread, op->argument));
    weave_ready(w, k, thread);
}

static enum rad_end weave_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

const rad_machine weave_machine = {
    .name = "weave",
    .about = "threads written as tables",
    .bug_site = RAD_NONE,
    .create = weave_create,
    .destroy = stage_nothing,
    .reset = weave_reset,
    .step = weave_step,
    .idle = weave_idle,
};

weave weave_writers(uint32_t threads, uint32_t k)
{
    weave w = {.threads = threads, .objects = 1};
    for (uint32_t i = 0; i < threads; i++) {
        w.count[i] = k;
        for (uint32_t j = 0; j < k; j++) w.ops[i][j] = (weave_op){.access = RAD_WRITE};
    }
    return w;
}

rad_target weave_target(weave *w)
{
    weave_on_loom = w;
    return (rad_target){.machine = &weave_machine};
}

uint64_t weave_order_number(const weave *w)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < w->steps; i++) number = number * w->threads + w->order[i];
    return number;
}

/* ---- Witness --------------------------------------------------------------------------------------- */

static void witness_begin(rad_observer *o, rad_kernel *k)
{
    witness *w = (witness *)o;
    bool check_valid = w->check_valid;
    (void)k;
    witness_open(w);
    w->check_valid = check_valid;
}

/* Index 0 is the baseline, 1 … are the others by number: found by walking the bits one by one. */
static void witness_indices(witness *w, const rad_kernel *k, const rad_decision *d)
{
    uint32_t index = 1, seen = 0;
    for (uint32_t a = 0; a < k->action_count; a++) {
        if (!rad_is_enabled(k, a)) continue;
        seen++;
        uint32_t expected = a == d->baseline ? 0 : index++;
        w->wrong_index += rad__index_of(k, d, a) != expected;
        w->wrong_order += rad__action_at(k, d, expected) != a;
    }
    w->wrong_index += seen != d->count;
}

/* Does the actor that ran last have something enabled, and did it not offer its turn? */
static bool witness_could_go_on(const witness *w, const rad_kernel *k)
{
    if (w->steps == 0 || w->last_yielded) return false;
    uint32_t actor = k->actions[w->last_action].actor;
    for (uint32_t a = 0; a < k->action_count && actor != RAD_NONE; a++)
        if (rad_is_enabled(k, a) && k->actions[a].actor == actor) return true;
    return false;
}

static void witness_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    witness *w = (witness *)o;
    uint64_t n = w->decisions++ % 4096;
    w->counts[n] = d->count;
    w->baselines[n] = d->baseline;
    if (d->kind != RAD_PICK_ACTION) return;
    witness_indices(w, k, d);
    uint32_t action = rad__action_at(k, d, chosen);
    bool same = w->steps > 0 && k->actions[w->last_action].actor == k->actions[action].actor;
    w->preemptions += !same && witness_could_go_on(w, k);
    for (uint32_t a = 0; a < action && action != d->baseline; a++)
        w->delays += rad_is_enabled(k, a) && a != d->baseline;
    w->delays += action != d->baseline;
}

static void witness_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    witness *w = (witness *)o;
    w->actions_run[w->steps++ % 4096] = action;
    w->last_action = action;
    w->last_yielded = f->yielded;
    w->touched_count = f->count < 16 ? f->count : 16;
    memcpy(w->touched, f->items, w->touched_count * sizeof *f->items);
    if (w->check_valid) w->invalid += !rad__enabled_valid(k);
}

void witness_open(witness *w)
{
    memset(w, 0, sizeof *w);
    w->observer.begin = witness_begin;
    w->observer.decided = witness_decided;
    w->observer.ran = witness_ran;
}

/* ---- Every choice list ------------------------------------------------------------------------------ */

typedef struct leaf_walk {
    leaves *out;
    rad_rig rig;
    witness eye;
} leaf_walk;

static void leaf_add(leaf_walk *walk)
{
    leaves *l = walk->out;
    rad_kernel *k = walk->rig.kernel;
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 64;
        l->items = realloc(l->items, l->capacity * sizeof *l->items);
        assert_non_null(l->items);
    }
    leaf *one = &l->items[l->count++];
    *one = (leaf){.preemptions = walk->eye.preemptions, .delays = walk->eye.delays};
    one->failed = k->outcome == RAD_OUTCOME_FAILED;
    if (one->failed) memcpy(one->identity, k->failure.identity, sizeof one->identity);
    rad__digest_text(k->trace.digest, one->hash);
}

/* Runs the list; then, at every decision behind it, each alternative to what the baseline did there. */
static void leaf_visit(leaf_walk *walk, const uint32_t *list, uint64_t length)
{
    rad_kernel *k = walk->rig.kernel;
    enum rad_outcome outcome = rad__rig_guide(&walk->rig, list, length, false, &walk->eye.observer);
    assert_true(outcome == RAD_OUTCOME_FINISHED || outcome == RAD_OUTCOME_FAILED);
    leaf_add(walk);
    uint64_t decisions = k->decisions;
    uint32_t *next = calloc(decisions + 1, sizeof *next), *counts = calloc(decisions + 1, sizeof *counts);
    for (uint64_t i = 0; i < decisions; i++) counts[i] = walk->rig.choices[i].count;
    for (uint64_t i = 0; i < decisions; i++) next[i] = walk->rig.choices[i].chosen;
    for (uint64_t i = length; i < decisions; i++) {
        for (uint32_t other = 1; other < counts[i]; other++) {
            next[i] = other;
            leaf_visit(walk, next, i + 1);
        }
        next[i] = 0;
    }
    free(next);
    free(counts);
}

void leaves_of(leaves *l, const rad_target *t)
{
    rad_error error = {0};
    leaf_walk walk = {.out = l};
    *l = (leaves){0};
    witness_open(&walk.eye);
    assert_int_equal(rad__rig_open(&walk.rig, t, &error), 0);
    leaf_visit(&walk, NULL, 0);
    rad__rig_close(&walk.rig);
}

void leaves_free(leaves *l)
{
    free(l->items);
    *l = (leaves){0};
}

/* ---- Numbers ---------------------------------------------------------------------------------------- */

double pearson(const uint64_t *seen, uint32_t cells, uint64_t total)
{
    double expected = (double)total / cells, sum = 0;
    for (uint32_t i = 0; i < cells; i++) {
        double off = (double)seen[i] - expected;
        sum += off * off / expected;
    }
    return sum;
}

double pearson_limit(uint32_t cells)
{
    return cells - 1 + 6 * sqrt(2.0 * (cells - 1));
}

uint64_t multinomial(uint32_t n, uint32_t k)
{
    uint64_t result = 1;
    for (uint32_t group = 0, placed = 0; group < n; group++)
        for (uint32_t i = 1; i <= k; i++) result = result * ++placed / i;
    return result;
}

rad_target target_of(const char *machine, const char *words)
{
    rad_target t;
    rad_error error = {0};
    assert_int_equal(rad_target_init(&t, machine, &error), 0);
    if (words) assert_int_equal(rad_target_set(&t, words, &error), 0);
    return t;
}

static void assert_same_findings(const rad_exploration *a, const rad_exploration *b)
{
    rad_error error = {0};
    assert_int_equal(a->finding_count, b->finding_count);
    assert_int_equal(a->findings_dropped, b->findings_dropped);
    for (uint32_t i = 0; i < a->finding_count; i++) {
        assert_int_equal(a->findings[i].run, b->findings[i].run);
        assert_int_equal(a->findings[i].failures, b->findings[i].failures);
        char *left = rad_artifact_json(a->findings[i].artifact, &error);
        char *right = rad_artifact_json(b->findings[i].artifact, &error);
        assert_string_equal(left, right);
        rad_free(left);
        rad_free(right);
    }
}

void assert_same_exploration(const rad_exploration *a, const rad_exploration *b)
{
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->failures, b->failures);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->complete, b->complete);
    assert_memory_equal(a->site_reached, b->site_reached, sizeof a->site_reached);
    assert_int_equal(a->site_count, b->site_count);
    assert_int_equal(a->phase_count, b->phase_count);
    for (uint32_t i = 0; i < a->phase_count; i++) {
        assert_string_equal(a->phases[i].name, b->phases[i].name);
        assert_int_equal(a->phases[i].runs, b->phases[i].runs);
        assert_int_equal(a->phases[i].failures, b->phases[i].failures);
        assert_int_equal(a->phases[i].bounded, b->phases[i].bounded);
        assert_int_equal(a->phases[i].exhausted, b->phases[i].exhausted);
        assert_int_equal(a->phases[i].pruned, b->phases[i].pruned);
    }
    assert_same_findings(a, b);
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) assert_int_equal(a->evaluations[i], b->evaluations[i]);
}
