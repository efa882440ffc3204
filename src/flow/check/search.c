/* search.c — visits every state of a flow.
 *
 * The kernel has no way back, so every run begins at the beginning: depth first, with a stack of choices. The choices
 * up to the last one that has an alternative left are repeated, that one is raised, and from there on the first of
 * everything is taken, until the case ends or comes to a state that is known. Each step beyond the repeated part is
 * an edge; each edge is made once.
 *
 * Where some enabled token's next step is local (local.c) only that one is tried. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/prng.h"
#include "flow/check/parts.h"

#include <stdio.h>
#include <string.h>

enum { STATES_DEFAULT = 1000000, EDGES_MOST = 400000000, PROGRESS_STEPS = 1 << 20 };
static const uint64_t STEPS_DEFAULT = 50000000;

/* ---- The kernel's choices ------------------------------------------------------------------- */

static uint32_t find_local(rad_flow_search *s, const rad_kernel *k, const rad_decision *d)
{
    if (s->every_order) return RAD_NONE;
    for (uint32_t i = 0; i < s->vm->token_count; i++)
        if (rad_is_enabled(k, i) && rad__flow_is_local(&s->traits, s->vm, i)) return rad__index_of(k, d, i);
    return RAD_NONE;
}

static uint32_t search_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    rad_flow_search *s = (rad_flow_search *)p;
    if (s->at < s->prefix) return s->frames[s->at++].chosen;
    if (!RAD_GROW(&s->frames, &s->frame_capacity, s->frame_count + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory for choices");
        return 0;
    }
    uint32_t local = d->kind == RAD_PICK_ACTION ? find_local(s, k, d) : RAD_NONE;
    rad_flow_frame *f = &s->frames[s->frame_count++];
    *f = (rad_flow_frame){local != RAD_NONE ? local : 0, d->count, s->node, local != RAD_NONE};
    s->saved += local != RAD_NONE;
    s->at = s->frame_count;
    return f->chosen;
}

static void search_destroy(rad_policy *p)
{
    (void)p;
}

static const rad_policy_class search_class = {.name = "validator", .choose = search_choose, .destroy = search_destroy};

/* ---- The machine, watched ------------------------------------------------------------------- */

/* Which branches an operation led to. */
static void see_branches(rad_flow_search *s, uint32_t token, const rad_flow_op *op)
{
    const rad_token *t = &s->vm->tokens[token];
    uint32_t pc = (uint32_t)(op - s->program->code);
    bool one = op->code == RAD_OP_XOR || op->code == RAD_OP_TAKEN || op->code == RAD_OP_INTERLEAVE ||
               op->code == RAD_OP_INTERLEAVE_AGAIN;
    if (one && s->k->valued) s->way_seen[op->a + s->k->value] = 1;
    if (op->code == RAD_OP_XOR && !s->k->valued && t->alive && op->d == t->pc) s->else_seen[pc] = 1;
    if (op->code == RAD_OP_AWAIT && s->k->value == 0) s->else_seen[pc] = 1;
    if (op->code == RAD_OP_FORK)
        for (uint32_t i = 0; i < op->b; i++) s->way_seen[op->a + i] = 1;
    if (op->code != RAD_OP_OR) return;
    bool forked = t->alive && (t->wait == RAD_TOKEN_IN_FORK || op->join == RAD_JOIN_NONE);
    bool any = false;
    for (uint32_t i = 0; i < op->b; i++) any |= s->vm->holds[i] != 0;
    for (uint32_t i = 0; i < op->b && forked; i++) s->way_seen[op->a + i] |= s->vm->holds[i] != 0;
    if (!any && op->d != RAD_NONE) s->else_seen[pc] = 1;
}

static void see_improper(rad_flow_search *s, uint32_t token, const rad_flow_op *op)
{
    uint32_t left = s->improper || s->at < s->prefix ? RAD_NONE : rad__flow_left_behind(s->vm, token);
    char who[100], other[100];
    if (left == RAD_NONE) return;
    rad__flow_path(s->vm, token, who, sizeof who);
    rad__flow_path(s->vm, left, other, sizeof other);
    snprintf(s->improper_text, sizeof s->improper_text, "token %s %s (line %u) while token %s is still at line %u", who,
             op->code == RAD_OP_END ? "ends the flow" : "finishes the case", op->line, other,
             rad__flow_op(s->vm, left)->line);
    rad_flow_walk *run = &s->improper_run;
    run->count = s->at;
    run->steps = s->k->step + 1;
    run->choices = rad__alloc(s->at + 1u, sizeof *run->choices);
    s->improper = run->choices != NULL;
    if (!s->improper) rad__kernel_error(s->k, RAD_ENOMEM, "out of memory for a run");
    for (uint32_t i = 0; i < s->at && s->improper; i++) run->choices[i] = s->frames[i].chosen;
}

/* A task that may fail is known to; what else a case fails of may be news. Its last state does not tell. */
static void see_failure(rad_flow_search *s, const rad_flow_op *op)
{
    const char *text = s->vm->failure;
    if (s->vm->result != RAD_CASE_FAILED || op->code == RAD_OP_FINISH || s->at < s->prefix) return;
    for (uint32_t i = 0; i < s->failure_count; i++)
        if (strcmp(s->failures[i], text) == 0) return;
    if (s->failure_count < RAD_FLOW_FAILURES_MOST)
        snprintf(s->failures[s->failure_count++], sizeof s->failures[0], "%s", text);
}

static void search_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_flow_search *s = self;
    const rad_flow_op *op = rad__flow_op(s->vm, action);
    s->op_seen[op - s->program->code] = 1;
    see_improper(s, action, op);
    rad__flow_vm_step(s->vm, k, action);
    see_branches(s, action, op);
    see_failure(s, op);
    if (s->vm->result != RAD_CASE_RUNNING) s->ends |= 1u << s->vm->result;
    const rad_token *t = &s->vm->tokens[action];
    if ((op->code == RAD_OP_START || op->code == RAD_OP_COMPENSATE) && t->alive &&
        rad__flow_op(s->vm, action)->code == RAD_OP_FINISH)
        s->task_seen[t->task] = 1;
}

static void search_reset(void *self, rad_kernel *k)
{
    rad__flow_vm_reset(((rad_flow_search *)self)->vm, k);
}

static enum rad_end search_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const rad_machine search_machine = {
    .name = "flow", .reset = search_reset, .step = search_step, .idle = search_idle};

/* ---- Life ------------------------------------------------------------------- */

static bool take_rooms(rad_flow_search *s)
{
    const rad_flow_program *p = s->program;
    s->op_seen = rad__alloc(p->code_count + 1u, 1);
    s->else_seen = rad__alloc(p->code_count + 1u, 1);
    s->way_seen = rad__alloc(p->way_count + 1u, 1);
    s->task_seen = rad__alloc(p->tree->task_count + 1u, 1);
    return s->op_seen && s->else_seen && s->way_seen && s->task_seen;
}

int rad__flow_search_open(rad_flow_search *s, const rad_flow_program *p, const rad_flow_validate_options *o,
                          uint64_t drawn, rad_error *error)
{
    *s = (rad_flow_search){.policy = {&search_class}, .program = p, .options = *o};
    s->states_most = o->states > 0 ? o->states : STATES_DEFAULT;
    s->steps_most = o->steps > 0 ? o->steps : STEPS_DEFAULT;
    s->every_order = o->every_order;
    s->first_deadlock = s->other_end = RAD_NONE;
    const rad_flow_case_options world = {.world = drawn ? RAD_WORLD_DRAWN : RAD_WORLD_CHOSEN, .outcome_seed = drawn};
    int status = rad__flow_vm_open(&s->vm, p, &world, error);
    if (status == 0) status = rad__kernel_open(&s->k, (rad_choice_buffer){NULL, 0, NULL}, error);
    if (status == 0 && (!take_rooms(s) || !rad__flow_traits_make(&s->traits, p, drawn != 0)))
        status = rad__error_memory(error);
    if (status != 0)
        rad__flow_search_close(s);
    else
        rad__kernel_use(s->k, &search_machine, s);
    return status;
}

void rad__flow_search_close(rad_flow_search *s)
{
    void *const all[] = {s->nodes,    s->edges,     s->choices,
                         s->frames,   s->op_seen,   s->else_seen,
                         s->way_seen, s->task_seen, s->improper_run.choices};
    rad__kernel_close(s->k);
    rad__flow_vm_close(s->vm);
    rad__flow_traits_free(&s->traits);
    rad__map64_free(&s->known);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rad__free(all[i]);
    memset(s, 0, sizeof *s);
}

/* ---- States ------------------------------------------------------------------- */

static rad_digest digest_of(const rad_flow_search *s)
{
    rad_state_hash h = {{0, 0}};
    rad__flow_vm_state(s->vm, &h);
    if (!s->traits.drawn) return h.digest;
    /* What is drawn depends on how many effects a path has begun, also in an earlier life. */
    uint64_t effects = 0;
    for (uint32_t i = 0; i < s->vm->token_count; i++)
        effects += rad__mix64(s->vm->tokens[i].path_hash + s->vm->tokens[i].effects);
    rad_state_add(&h, &effects, sizeof effects);
    return h.digest;
}

/* The node of a state, or RAD_NONE; *key is where it is, or belongs. */
static uint32_t find_node(const rad_flow_search *s, rad_digest d, uint64_t *key)
{
    for (*key = d.low;; *key = rad__mix64(*key)) { /* nearly always the first */
        uint32_t at = rad__map64_find(&s->known, *key);
        if (at == RAD_NONE || s->nodes[at].high == d.high) return at;
    }
}

static bool out_of_memory(rad_flow_search *s)
{
    rad__error_memory(&s->error);
    return false;
}

static bool add_edge(rad_flow_search *s, uint32_t to)
{
    uint32_t count = s->at - s->step_begin;
    if (!RAD_GROW(&s->edges, &s->edge_capacity, s->edge_count + 1) ||
        !RAD_GROW(&s->choices, &s->choice_capacity, s->choice_count + count))
        return out_of_memory(s);
    s->edges[s->edge_count++] = (rad_flow_edge){s->node, to, s->choice_count, count};
    for (uint32_t i = 0; i < count; i++) s->choices[s->choice_count++] = s->frames[s->step_begin + i].chosen;
    return true;
}

static void add_line(void *context, const char *text)
{
    char *all = context;
    size_t used = strlen(all);
    snprintf(all + used, sizeof((rad_flow_search *)0)->deadlock - used, "%s%s", used > 0 ? "; " : "", text);
}

/* Nothing can go on. */
static void close_node(rad_flow_search *s, uint32_t node)
{
    if (s->vm->live == 0) {
        s->nodes[node].kind = RAD_NODE_END;
        if (!s->compares || s->other_end != RAD_NONE || rad__flow_ending(s->vm) == s->expected) return;
        s->other_end = node;
        rad__flow_ending_text(s->vm, s->other_text, sizeof s->other_text);
        return;
    }
    s->nodes[node].kind = RAD_NODE_DEADLOCK;
    if (s->first_deadlock != RAD_NONE) return;
    s->first_deadlock = node;
    rad__flow_vm_describe(s->vm, add_line, s->deadlock);
}

/* The state the machine is in, and the edge to it. True: it is new, and the run goes on. */
static bool visit(rad_flow_search *s)
{
    uint64_t key;
    rad_digest d = digest_of(s);
    uint32_t node = find_node(s, d, &key);
    if (node != RAD_NONE) {
        add_edge(s, node);
        return false;
    }
    if (!RAD_GROW(&s->nodes, &s->node_capacity, s->node_count + 1)) return out_of_memory(s);
    node = s->node_count;
    if (s->node != RAD_NONE && !add_edge(s, node)) return false;
    if (!rad__map64_add(&s->known, key, node)) return out_of_memory(s);
    s->nodes[s->node_count++] =
        (rad_flow_node){d.high, s->node != RAD_NONE ? s->edge_count - 1 : RAD_NONE, RAD_NODE_OPEN};
    s->node = node;
    if (rad_enabled_count(s->k) > 0) return true;
    close_node(s, node);
    return false;
}

/* ---- Runs ------------------------------------------------------------------- */

static void begin_run(rad_flow_search *s, rad_policy *policy, rad_observer *observer)
{
    static const rad_estimates nothing;
    rad_run_options o = {
        .policy = policy, .info = {.estimates = &nothing}, .max_steps = UINT64_MAX, .observers = {observer}};
    s->prefix = s->frame_count;
    s->at = s->step_begin = 0;
    s->node = s->prefix > 0 ? s->frames[s->prefix - 1].node : RAD_NONE;
    rad__kernel_begin(s->k, &o);
}

/* One step. False: the kernel has met an error, which is ours now. */
static bool advance(rad_flow_search *s)
{
    s->step_begin = s->at;
    s->steps++;
    rad__kernel_advance(s->k, 1);
    if (!s->k->ended) return true;
    rad__error(&s->error, s->k->error.code, "%s", s->k->error.text);
    return false;
}

static bool budget_left(const rad_flow_search *s)
{
    const rad_flow_validate_options *o = &s->options;
    if (o->progress != NULL && s->steps % PROGRESS_STEPS == 0) o->progress(o->context, s->node_count, s->steps);
    if (o->interrupted != NULL && *o->interrupted) return false;
    return s->node_count < s->states_most && s->steps < s->steps_most && s->edge_count < EDGES_MOST &&
           s->choice_count < EDGES_MOST;
}

/* From the beginning to something that is known. False: that was all, or an error, or the budget. */
static bool run_once(rad_flow_search *s)
{
    begin_run(s, &s->policy, NULL);
    if (s->k->ended) {
        rad__error(&s->error, s->k->error.code, "%s", s->k->error.text);
        return false;
    }
    if (s->prefix == 0 && !visit(s)) return false;
    while (budget_left(s)) {
        if (!advance(s)) return false;
        if (s->at >= s->prefix && !visit(s)) return s->error.code == 0;
    }
    return false;
}

/* The next alternative of the last choice that has one. */
static bool backtrack(rad_flow_search *s)
{
    while (s->frame_count > 0) {
        rad_flow_frame *f = &s->frames[s->frame_count - 1];
        if (!f->only && f->chosen + 1 < f->count) {
            f->chosen++;
            return true;
        }
        s->frame_count--;
    }
    return false;
}

int rad__flow_search_all(rad_flow_search *s, rad_error *error)
{
    do {
        if (!run_once(s)) break;
        if (s->other_end != RAD_NONE) return 0;
        s->exhausted = !backtrack(s);
    } while (!s->exhausted);
    /* A flow without a choice is one run, and may be one state. */
    if (s->error.code == 0 && s->frame_count == 0 && s->node_count > 0 && budget_left(s)) s->exhausted = true;
    if (s->error.code == 0) return 0;
    /* A limit of the machine is a budget, too. */
    return s->error.code == RAD_ELIMIT ? 0 : rad__error(error, s->error.code, "%s", s->error.text);
}

/* ---- Paths ------------------------------------------------------------------- */

bool rad__flow_search_path(const rad_flow_search *s, uint32_t node, rad_flow_walk *run)
{
    *run = (rad_flow_walk){NULL, 0, 0};
    for (uint32_t at = node; s->nodes[at].edge != RAD_NONE; at = s->edges[s->nodes[at].edge].from) {
        run->count += s->edges[s->nodes[at].edge].choice_count;
        run->steps++;
    }
    run->choices = rad__alloc(run->count + 1, sizeof *run->choices);
    if (run->choices == NULL) return false;
    uint64_t end = run->count;
    for (uint32_t at = node; s->nodes[at].edge != RAD_NONE; at = s->edges[s->nodes[at].edge].from) {
        const rad_flow_edge *e = &s->edges[s->nodes[at].edge];
        end -= e->choice_count;
        for (uint32_t i = 0; i < e->choice_count; i++) run->choices[end + i] = s->choices[e->choice + i];
    }
    return true;
}

/* The frames of a run, none of which may be changed. */
static bool load_frames(rad_flow_search *s, const rad_flow_walk *run)
{
    if (!RAD_GROW(&s->frames, &s->frame_capacity, (uint32_t)run->count + 1)) return false;
    for (uint64_t i = 0; i < run->count; i++) s->frames[i] = (rad_flow_frame){run->choices[i], 0, RAD_NONE, true};
    s->frame_count = (uint32_t)run->count;
    return true;
}

static bool keep_frames(const rad_flow_search *s, rad_flow_walk *run)
{
    uint32_t *choices = rad__alloc(s->frame_count + 1u, sizeof *choices);
    if (choices == NULL) return false;
    for (uint32_t i = 0; i < s->frame_count; i++) choices[i] = s->frames[i].chosen;
    rad__free(run->choices);
    *run = (rad_flow_walk){choices, s->frame_count, run->steps + 1};
    return true;
}

int rad__flow_search_extend(rad_flow_search *s, rad_flow_walk *run, uint32_t node, bool *found, rad_error *error)
{
    uint64_t key, steps = run->steps + 1;
    *found = false;
    s->every_order = true;
    if (!load_frames(s, run)) return rad__error_memory(error);
    do {
        begin_run(s, &s->policy, NULL);
        for (uint64_t i = 0; i < steps; i++)
            if (!advance(s)) return rad__error(error, s->error.code, "%s", s->error.text);
        if (find_node(s, digest_of(s), &key) == node) {
            *found = true;
            return keep_frames(s, run) ? 0 : rad__error_memory(error);
        }
    } while (backtrack(s));
    return 0;
}

/* ---- The reference ------------------------------------------------------------------- */

typedef struct listener {
    rad_observer base;
    rad_flow_walk *run;
    uint32_t capacity;
} listener;

static void listen(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    listener *l = (listener *)o;
    (void)d;
    if (!RAD_GROW(&l->run->choices, &l->capacity, (uint32_t)l->run->count + 1))
        rad__kernel_error(k, RAD_ENOMEM, "out of memory for choices");
    else
        l->run->choices[l->run->count++] = chosen;
}

int rad__flow_search_reference(rad_flow_search *s, rad_flow_walk *run, bool *ended, rad_error *error)
{
    rad_policy *first;
    listener l = {.base = {.decided = listen}, .run = run};
    *run = (rad_flow_walk){NULL, 0, 0};
    int status = rad__policy_create(&first, "first", error);
    if (status != 0) return status;
    s->frame_count = 0;
    begin_run(s, first, &l.base);
    while (!s->k->ended && rad_enabled_count(s->k) > 0 && run->steps < RAD_MAX_STEPS) {
        run->steps++;
        s->steps++;
        rad__kernel_advance(s->k, 1);
    }
    *ended = !s->k->ended && s->vm->live == 0;
    if (s->k->ended && s->k->error.code != RAD_ELIMIT)
        status = rad__error(error, s->k->error.code, "%s", s->k->error.text);
    rad__policy_destroy(first);
    return status;
}

/* ---- Ends ------------------------------------------------------------------- */

uint64_t rad__flow_ending(const rad_flow_vm *vm)
{
    const rad_flow_tree *tree = vm->program->tree;
    uint64_t hash = rad__mix64(vm->result);
    for (uint32_t i = 0; i < tree->variable_count && vm->final != RAD_NONE; i++) {
        int64_t value = rad__data_at(vm, vm->final)[i];
        bool text = tree->variables[i].type == RAD_FLOW_TEXT;
        if (!tree->variables[i].is_local) hash = rad__mix64(hash + (text ? vm->texts[value].hash : (uint64_t)value));
    }
    return hash;
}

void rad__flow_ending_text(const rad_flow_vm *vm, char *text, size_t size)
{
    const rad_flow_tree *tree = vm->program->tree;
    static const char *const names[] = {"running", "waiting", "done", "failed", "cancelled"};
    size_t used = (size_t)snprintf(text, size, "%s", names[vm->result]);
    for (uint32_t i = 0; i < tree->variable_count && vm->final != RAD_NONE && used < size; i++) {
        int64_t value = rad__data_at(vm, vm->final)[i];
        const rad_flow_variable *v = &tree->variables[i];
        const char *name = rad__flow_name(&vm->program->file, v->name);
        if (v->is_local) continue;
        if (v->type == RAD_FLOW_TEXT)
            used += (size_t)snprintf(text + used, size - used, ", %s = \"%.40s\"", name, vm->texts[value].text);
        else if (v->type == RAD_FLOW_BOOL)
            used += (size_t)snprintf(text + used, size - used, ", %s = %s", name, value ? "true" : "false");
        else
            used += (size_t)snprintf(text + used, size - used, ", %s = %lld", name, (long long)value);
    }
}
