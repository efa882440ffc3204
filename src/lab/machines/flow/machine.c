/* machine.c — the flow machine as a machine of the lab.
 *
 * The world is simulated. With outcomes = 0 what tasks give and which events come are choices like any other; with
 * another number they are drawn from it and the effect's key, so that they are the same in every order of steps, and
 * every run must end as policy first's does (confluence). Which way a xor with several true conditions goes, and in
 * which order blocks are interleaved, is chosen in both.
 *
 * Oracles: deadlock (tokens are left, and none can go on), invariant (the machine's own), improper (completed, with
 * others still at work), failed (an uncaught failure; only when asked for: flows may fail), confluence. */
#include "lab/machines/flow/machine.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/prng.h"
#include "flow/journal/follow.h"
#include "lab/case_source.h"

#include <stdio.h>
#include <string.h>

enum { OUTCOMES, FAIL, PROPER };

static const rad_param flow_params[] = {
    {"outcomes", 0, 0, INT64_MAX, "0: tasks and events are chosen; from 1: drawn from this seed", true},
    {"fail", 0, 0, 1, "1: an execution that ends as failed is a failure", true},
    {"proper", 1, 0, 1, "0: completing while others are at work is fine", true},
    {NULL, 0, 0, 0, NULL, false}};

static const char *const flow_oracles[] = {"failed", "improper", "confluence", NULL};

static const char flow_default[] =
    "{\"source\":[\"flow release {\",\"  data { good : bool  tries : int merge max }\","
    "\"  task build { call \\\"build\\\" outcomes ok }\","
    "\"  task test { call \\\"test\\\" writes good retry 1 }\","
    "\"  task docs { call \\\"docs\\\" }\",\"  task ship { call \\\"ship\\\" outcomes ok }\","
    "\"  do build\",\"  region checks {\",\"    par { do test set tries = 1 }\","
    "\"    and { do docs set tries = 2 }\",\"  } on failure { set good = false }\","
    "\"  xor {\",\"    when good { do ship }\",\"    else { }\",\"  }\",\"}\"]}";

/* ---- Life ---------------------------------------------------------------------------------------------- */

static void ending_free(rad_flow_ending *e)
{
    rad__free(e->data);
    rad__arena_free(&e->arena);
}

static void trial_destroy(void *self)
{
    rad_flow_trial *t = self;
    if (t == NULL) return;
    rad__flow_vm_close(t->vm);
    rad__flow_program_free(t->program);
    rad__arena_free(&t->words.arena);
    ending_free(&t->reference);
    rad__free(t);
}

/* Data of the flow as it ended. Texts are copied: their numbers are of one machine. */
static bool ending_keep(rad_flow_ending *e, const rad_flow_vm *vm)
{
    const rad_flow_tree *tree = vm->program->tree;
    e->data = rad__alloc(tree->variable_count + 1u, sizeof *e->data);
    e->texts = rad__arena_take(&e->arena, tree->variable_count + 1u, sizeof *e->texts);
    if (e->data == NULL || e->arena.failed) return false;
    for (uint32_t i = 0; i < tree->variable_count && vm->final != RAD_NONE; i++) {
        e->data[i] = rad__data_at(vm, vm->final)[i];
        if (tree->variables[i].type != RAD_FLOW_TEXT) continue;
        const rad_text *text = &vm->texts[e->data[i]];
        e->texts[i] = rad__arena_text(&e->arena, text->text, text->length);
    }
    e->state = vm->result;
    return !e->arena.failed;
}

static int run_reference(rad_flow_trial *t, uint64_t steps, rad_error *error)
{
    const rad_flow_case_options o = {.world = RAD_WORLD_DRAWN, .outcome_seed = t->outcomes, .policy = "first"};
    rad_flow_case *c;
    int status = rad__flow_case_open(&c, t->program, &o, error);
    if (status != 0) return status;
    rad__flow_case_run(c, steps > 0 ? steps : RAD_MAX_STEPS);
    if (c->state == RAD_CASE_BROKEN)
        status = rad__error(error, c->error.code, "%s", c->error.text);
    else if (c->vm->live == 0 && !ending_keep(&t->reference, c->vm))
        status = rad__error_memory(error);
    rad__flow_case_close(c);
    return status;
}

static int trial_open(rad_flow_trial *t, const rad_case *c, rad_error *error)
{
    t->outcomes = (uint64_t)c->params[OUTCOMES];
    t->fail_is_reported = c->params[FAIL] != 0;
    t->proper_is_asked = c->params[PROPER] != 0;
    const rad_flow_case_options o = {.world = t->outcomes == 0 ? RAD_WORLD_CHOSEN : RAD_WORLD_DRAWN,
                                     .outcome_seed = t->outcomes};
    int status = rad__flow_vm_open(&t->vm, t->program, &o, error);
    if (status == 0) t->vm->named = true;
    if (status == 0) status = rad__flow_words_make(&t->words, t->program, error);
    if (status == 0 && t->outcomes != 0) status = run_reference(t, c->max_steps, error);
    return status;
}

static int trial_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    char name[RAD_LEX_NAME_MAX + 1];
    *self = NULL;
    char *source = rad__flow_case_source(c, name, sizeof name, error);
    if (source == NULL) return error->code;
    rad_flow_trial *t = rad__alloc(1, sizeof *t);
    int status = t != NULL ? rad__flow_program_read(&t->program, "source", source, strlen(source),
                                                    name[0] != 0 ? name : NULL, error)
                           : rad__error_memory(error);
    rad__free(source);
    if (status == 0) status = trial_open(t, c, error);
    if (status != 0) {
        trial_destroy(t);
        return status;
    }
    *self = t;
    return 0;
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

static void trial_reset(void *self, rad_kernel *k)
{
    rad_flow_trial *t = self;
    t->k = k;
    rad__flow_vm_reset(t->vm, k);
}

static void check_proper(rad_flow_trial *t, uint32_t token, const rad_flow_op *op)
{
    if (!t->proper_is_asked || (op->code != RAD_OP_END && op->code != RAD_OP_FINISH_CASE)) return;
    uint32_t left = rad__flow_left_behind(t->vm, token);
    char who[100], other[100];
    rad_evaluated(t->k, RAD_ORACLE_FLOW_IMPROPER);
    if (left == RAD_NONE) return;
    rad__flow_path(t->vm, token, who, sizeof who);
    rad__flow_path(t->vm, left, other, sizeof other);
    rad_fail_at(t->k, RAD_ORACLE_FLOW_IMPROPER, RAD_NONE, NULL, "%s %s (line %u) while %s is still at line %u", who,
                op->code == RAD_OP_END ? "ends the flow" : "finishes the case", op->line, other,
                rad__flow_op(t->vm, left)->line);
}

static void trial_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_flow_trial *t = self;
    const rad_flow_op *op = rad__flow_op(t->vm, action);
    check_proper(t, action, op);
    rad__flow_vm_step(t->vm, k, action);
    rad__flow_words_tell(t, action, op);
}

static void trial_check(void *self, rad_kernel *k)
{
    const rad_flow_trial *t = self;
    const char *what = NULL;
    bool valid = rad__flow_vm_valid(t->vm, &what);
    RAD_CHECK(k, RAD_ORACLE_INVARIANT, valid, RAD_NONE, "%s", what);
}

/* Drawn outcomes depend on how many effects a path has begun, also in an earlier life. */
static void trial_state(const void *self, rad_state_hash *h)
{
    const rad_flow_trial *t = self;
    uint64_t effects = 0;
    for (uint32_t i = 0; i < t->vm->token_count && t->outcomes != 0; i++)
        effects += rad__mix64(t->vm->tokens[i].path_hash + t->vm->tokens[i].effects);
    rad__flow_vm_state(t->vm, h);
    rad_state_add(h, &effects, sizeof effects);
}

/* ---- The end --------------------------------------------------------------------------------------------- */

/* What tokens wait for, each kind once: a deadlock of the same kind is the same bug, whatever its lines are. */
static const char *const WAITS[] = {"join all", "join first", "join any", "join sync", "lock", "milestone", NULL};

static uint32_t wait_kind(const rad_flow_vm *vm, uint32_t token)
{
    static const uint8_t joins[RAD_JOINS] = {0, 1, 2, 3, 3, 0};
    const rad_token *t = &vm->tokens[token];
    if (t->inner != RAD_NONE) return joins[vm->forks[t->inner].join];
    return rad__flow_op(vm, token)->code == RAD_OP_ACQUIRE ? 4 : 5;
}

static void tell_wait(rad_flow_trial *t, uint32_t token)
{
    const rad_flow_vm *vm = t->vm;
    uint32_t kind = wait_kind(vm, token), object = RAD_NONE, holder = RAD_NONE;
    const rad_flow_op *op = rad__flow_op(vm, token);
    if (kind < 4) object = rad_object(t->k, token, WAITS[kind]);
    if (kind == 4) {
        object = vm->lock_objects[op->a];
        holder = vm->locks[op->a];
    }
    if (kind == 5) object = vm->milestone_objects[op->a];
    rad_wait(t->k, token, object, holder);
}

typedef struct joined {
    char text[400];
    size_t used;
} joined;

static void add_line(void *context, const char *text)
{
    joined *j = context;
    if (j->used >= sizeof j->text) return;
    j->used += (size_t)snprintf(j->text + j->used, sizeof j->text - j->used, "%s%s", j->used > 0 ? "; " : "", text);
}

static void report_deadlock(rad_flow_trial *t, rad_kernel *k)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < t->vm->token_count; i++) {
        if (!t->vm->tokens[i].alive) continue;
        kinds |= 1u << wait_kind(t->vm, i);
        tell_wait(t, i);
    }
    t->identity[0] = 0;
    for (uint32_t i = 0; WAITS[i] != NULL; i++) {
        size_t used = strlen(t->identity);
        if (kinds >> i & 1)
            snprintf(t->identity + used, sizeof t->identity - used, "%s%s", used > 0 ? "+" : "", WAITS[i]);
    }
    joined all = {"", 0};
    rad__flow_vm_describe(t->vm, add_line, &all);
    rad_fail(k, RAD_ORACLE_DEADLOCK, rad_object(k, RAD_NONE, t->identity), "deadlock: %s", all.text);
}

/* A variable that differs; RAD_NONE: none does. */
static uint32_t differs(const rad_flow_trial *t)
{
    const rad_flow_vm *vm = t->vm;
    const rad_flow_ending *e = &t->reference;
    const rad_flow_tree *tree = t->program->tree;
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        int64_t value = vm->final != RAD_NONE ? rad__data_at(vm, vm->final)[i] : 0;
        bool same = tree->variables[i].type == RAD_FLOW_TEXT && vm->final != RAD_NONE
                        ? e->texts[i] != NULL && strcmp(vm->texts[value].text, e->texts[i]) == 0
                        : value == e->data[i];
        if (!same) return i;
    }
    return RAD_NONE;
}

static void check_confluence(const rad_flow_trial *t, rad_kernel *k)
{
    const rad_flow_vm *vm = t->vm;
    const rad_flow_ending *e = &t->reference;
    if (e->state == RAD_CASE_RUNNING) return;
    rad_evaluated(k, RAD_ORACLE_FLOW_CONFLUENCE);
    if (vm->result != e->state) {
        rad_fail_at(k, RAD_ORACLE_FLOW_CONFLUENCE, RAD_NONE, NULL, "ends as %s; under policy first as %s",
                    rad__flow_state_name(vm->result), rad__flow_state_name(e->state));
        return;
    }
    uint32_t variable = differs(t);
    if (variable == RAD_NONE) return;
    const rad_flow_variable *v = &t->program->tree->variables[variable];
    const char *name = rad__flow_name(&t->program->file, v->name);
    int64_t value = rad__data_at(vm, vm->final)[variable];
    if (v->type == RAD_FLOW_TEXT)
        rad_fail_at(k, RAD_ORACLE_FLOW_CONFLUENCE, RAD_NONE, NULL, "%s is \"%.80s\"; under policy first \"%.80s\"",
                    name, vm->texts[value].text, e->texts[variable] != NULL ? e->texts[variable] : "");
    else
        rad_fail_at(k, RAD_ORACLE_FLOW_CONFLUENCE, RAD_NONE, NULL, "%s is %lld; under policy first %lld", name,
                    (long long)value, (long long)e->data[variable]);
}

static enum rad_end trial_idle(void *self, rad_kernel *k)
{
    rad_flow_trial *t = self;
    if (t->vm->live > 0) {
        report_deadlock(t, k);
        return RAD_END_STUCK;
    }
    if (t->fail_is_reported) rad_evaluated(k, RAD_ORACLE_FLOW_FAILED);
    if (t->fail_is_reported && t->vm->result == RAD_CASE_FAILED)
        rad_fail(k, RAD_ORACLE_FLOW_FAILED, RAD_NONE, "%s", t->vm->failure);
    else if (t->outcomes != 0)
        check_confluence(t, k);
    return RAD_END_FINISHED;
}

/* ---- Words ---------------------------------------------------------------------------------------------- */

static const char *trial_kind(const void *self, uint32_t kind)
{
    const rad_flow_trial *t = self;
    if (kind < RAD_TELL_OP) return rad__flow_vm_kind(t->vm, kind);
    return kind < t->words.end ? t->words.notes[kind - RAD_TELL_OP] : NULL;
}

static const char *trial_site(const void *self, uint32_t site)
{
    const rad_flow_trial *t = self;
    return site < t->program->code_count ? t->words.sites[site] : NULL;
}

static void trial_describe(const void *self, void (*line)(void *context, const char *text), void *context)
{
    const rad_flow_trial *t = self;
    char text[100];
    rad__flow_vm_describe(t->vm, line, context);
    if (t->vm->live > 0) return;
    snprintf(text, sizeof text, "the execution is %s", rad__flow_state_name(t->vm->result));
    line(context, text);
}

const rad_machine rad__machine_flow = {
    .progresses = true,
    .name = "flow",
    .about = "a workflow, in any order, with any outcome of its tasks: raddle explore FILE.flow",
    .params = flow_params,
    .oracles = flow_oracles,
    .bug_site = RAD_NONE,
    .body = flow_default,
    .create = trial_create,
    .destroy = trial_destroy,
    .reset = trial_reset,
    .step = trial_step,
    .idle = trial_idle,
    .check = trial_check,
    .state = trial_state,
    .size = rad__flow_case_size,
    .reduce = rad__case_source_reduce,
    .kind_name = trial_kind,
    .site_name = trial_site,
    .describe = trial_describe,
};
