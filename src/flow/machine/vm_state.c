/* vm_state.c — looking at the machine: its state as a number, whether it is sound, and in words. */
#include "flow/machine/vm.h"

#include "base/prng.h"

#include <stdio.h>

/* ---- A number ---------------------------------------------------------------------------------------------------
 * Two orders of the same steps lead to one state, so nothing here depends on numbers of tokens, forks, texts: tokens
 * are known by their paths, texts by what they say, and the whole is a sum. Counters that nothing depends on (how
 * many effects a path has begun) are left out. */

typedef struct sum {
    uint64_t low, high;
} sum;

static uint64_t fold(uint64_t hash, uint64_t value)
{
    return rad__mix64(hash + UINT64_C(0x9e3779b97f4a7c15) + value);
}

static uint64_t fold_value(const rad_flow_vm *vm, uint64_t hash, uint32_t variable, int64_t value)
{
    bool text =
        variable < vm->program->tree->variable_count && vm->program->tree->variables[variable].type == RAD_FLOW_TEXT;
    return fold(hash, text ? vm->texts[value].hash : (uint64_t)value);
}

static uint64_t fold_data(const rad_flow_vm *vm, uint64_t hash, uint32_t data, const uint64_t *written)
{
    if (data == RAD_NONE) return fold(hash, 1);
    for (uint32_t i = 0; i < vm->program->tree->variable_count; i++)
        hash = fold_value(vm, hash, i, rad__data_at(vm, data)[i]);
    for (uint32_t i = 0; i < RAD_FLOW_WRITTEN_WORDS; i++) hash = fold(hash, written ? written[i] : 0);
    return hash;
}

/* Of a region whose owner has left nothing tells one instance from another but this: whether it is the one that would
 * be compensated. */
static uint64_t instance_hash(const rad_flow_vm *vm, uint32_t instance)
{
    uint64_t hash = 7;
    for (; instance != RAD_NONE; instance = vm->regions[instance].parent) {
        const rad_region_instance *r = &vm->regions[instance];
        uint32_t name = vm->program->regions[r->region].name;
        hash = fold(fold(hash, r->region), r->owner != RAD_NONE ? vm->tokens[r->owner].path_hash : 0);
        hash = fold(hash, vm->last_instance[name] == instance);
        for (uint32_t at = r->undos; at != RAD_NONE; at = vm->undos[at].next) hash = fold(hash, vm->undos[at].task);
    }
    return hash;
}

/* Whose branch a token is, outwards. A branch may outlive its fork, the maker of that, and a second life of the maker's
 * path; so it is told below whom it hangs: whether it is cancelled with somebody depends on that. */
static uint64_t fork_hash(const rad_flow_vm *vm, uint32_t fork)
{
    uint64_t hash = 11;
    for (; fork != RAD_NONE; fork = vm->forks[fork].parent) {
        const rad_fork *f = &vm->forks[fork];
        bool is_waited_in = f->owner != RAD_NONE && vm->tokens[f->owner].inner == fork;
        hash = fold(fold(fold(fold(hash, f->op), f->arrived), f->cancelled), f->activated);
        hash = fold(hash, (uint64_t)f->next_index << 2 | (uint64_t)f->fired << 1 | is_waited_in);
        hash = fold(hash, f->holder != RAD_NONE ? vm->tokens[f->holder].path_hash : 0);
    }
    return hash;
}

/* What has arrived, whoever came first. Only who waits there ever sees it. */
static uint64_t arrivals_hash(const rad_flow_vm *vm, uint32_t fork)
{
    uint64_t hash = 0;
    const rad_fork *f = &vm->forks[fork];
    for (uint32_t at = f->arrivals; at != RAD_NONE; at = vm->arrivals[at].next)
        hash += fold_data(vm, fold(13, vm->arrivals[at].index), vm->arrivals[at].data, vm->arrivals[at].written);
    return hash;
}

static uint64_t token_hash(const rad_flow_vm *vm, const rad_token *t)
{
    uint8_t code = vm->program->code[t->pc].code;
    bool in_task = code == RAD_OP_FINISH || code == RAD_OP_RETRY || code == RAD_OP_START;
    uint64_t hash = fold(fold(t->path_hash, t->pc), t->wait);
    hash = fold(fold(hash, in_task ? t->attempt : 0), in_task ? t->task : 0);
    hash = fold(hash, instance_hash(vm, t->region));
    hash = fold_data(vm, hash, t->data, t->written);
    for (uint32_t at = t->frames; at != RAD_NONE; at = vm->frames[at].next) {
        const rad_frame *f = &vm->frames[at];
        hash = fold(hash, f->kind);
        hash = fold(hash, f->kind == RAD_FRAME_REGION ? instance_hash(vm, (uint32_t)f->value) : (uint64_t)f->value);
    }
    if (t->inner != RAD_NONE) hash = fold(fold(hash, fork_hash(vm, t->inner)), arrivals_hash(vm, t->inner));
    return fold(hash, fork_hash(vm, t->fork));
}

void rad__flow_vm_state(const void *self, rad_state_hash *h)
{
    const rad_flow_vm *vm = self;
    const rad_flow_tree *tree = vm->program->tree;
    sum all = {vm->result, vm->live};
    for (uint32_t i = 0; i < vm->token_count; i++) {
        if (!vm->tokens[i].alive) continue;
        uint64_t hash = token_hash(vm, &vm->tokens[i]);
        all.low += hash;
        all.high += rad__mix64(hash ^ UINT64_C(0x5bd1e995cafef00d));
    }
    rad_state_add(h, &all, sizeof all);
    rad_state_add(h, vm->milestones, tree->milestone_count);
    for (uint32_t i = 0; i < tree->lock_count; i++) {
        uint64_t holder = vm->locks[i] != RAD_NONE ? vm->tokens[vm->locks[i]].path_hash : 0;
        rad_state_add(h, &holder, sizeof holder);
    }
    for (uint32_t i = 0; i < tree->region_count; i++) {
        uint64_t hash = vm->last_instance[i] != RAD_NONE ? instance_hash(vm, vm->last_instance[i]) : 0;
        rad_state_add(h, &hash, sizeof hash);
    }
    for (uint32_t at = vm->signal_first; at != RAD_NONE; at = vm->signals[at].next) {
        uint64_t hash = fold(vm->signals[at].signal, vm->texts[vm->signals[at].text].hash);
        rad_state_add(h, &hash, sizeof hash);
    }
    uint64_t final = fold_data(vm, 3, vm->final, NULL);
    rad_state_add(h, &final, sizeof final);
}

/* ---- Soundness ------------------------------------------------------------------------------- */

/* Of one that was given back, too: it has no children, and all of them have arrived or were cancelled. */
static bool fork_valid(const rad_flow_vm *vm, uint32_t fork)
{
    const rad_fork *f = &vm->forks[fork];
    uint32_t children = 0;
    for (uint32_t at = f->children; at != RAD_NONE; at = vm->tokens[at].fork_newer, children++)
        if (!vm->tokens[at].alive || vm->tokens[at].fork != fork) return false;
    return f->activated == children + f->arrived + f->cancelled;
}

static bool token_valid(const rad_flow_vm *vm, uint32_t token)
{
    const rad_token *t = &vm->tokens[token];
    if (rad_is_enabled(vm->k, token) != rad__flow_can_step(vm, token)) return false;
    if (!t->alive) return true;
    return (t->wait == RAD_TOKEN_IN_FORK) == (t->inner != RAD_NONE);
}

bool rad__flow_vm_valid(const rad_flow_vm *vm, const char **what)
{
    uint32_t live = 0, asking = 0;
    for (uint32_t i = 0; i < vm->token_count; i++) {
        live += vm->tokens[i].alive;
        asking += vm->tokens[i].alive && rad__is_for_world(vm->tokens[i].wait);
        *what = "a token is enabled and cannot go on, or the other way round";
        if (!token_valid(vm, i)) return false;
    }
    *what = "the number of live tokens is wrong";
    if (live != vm->live) return false;
    *what = "the number of tokens that wait for the world is wrong";
    if (asking != vm->asking) return false;
    *what = "the branches of a fork do not add up";
    for (uint32_t i = 0; i < vm->fork_pool.count; i++)
        if (!fork_valid(vm, i)) return false;
    *what = "a lock is held by a token that has ended";
    for (uint32_t i = 0; i < vm->program->tree->lock_count; i++)
        if (vm->locks[i] != RAD_NONE && !vm->tokens[vm->locks[i]].alive) return false;
    *what = NULL;
    return true;
}

/* ---- Words ------------------------------------------------------------------------------- */

static const char *join_words(const rad_fork *f)
{
    static const char *const words[RAD_JOINS] = {"all", "first", "any", "sync", "multi", "none"};
    return words[f->join];
}

/* "waits for signal approve, signal reject or a timer" */
static void describe_events(const rad_flow_vm *vm, const rad_flow_op *op, char *text, size_t size)
{
    const rad_flow_tree *tree = vm->program->tree;
    size_t used = (size_t)snprintf(text, size, "waits for ");
    for (uint32_t i = 0; i < op->b && used < size; i++) {
        const rad_flow_event *e = &vm->program->ways[op->a + i].event;
        const char *between = i == 0 ? "" : i + 1 == op->b ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", between, e->is_timer ? "a timer" : "signal ",
                                 e->is_timer ? "" : rad__flow_name(&vm->program->file, tree->signals[e->signal]));
    }
}

static void describe_wait(const rad_flow_vm *vm, const rad_token *t, char *text, size_t size)
{
    const rad_flow_op *op = &vm->program->code[t->pc];
    const rad_flow_file *file = &vm->program->file;
    const rad_flow_tree *tree = vm->program->tree;
    if (t->inner != RAD_NONE) {
        const rad_fork *f = &vm->forks[t->inner];
        snprintf(text, size, "waits at join %s: %u of %u branches arrived, %u cancelled", join_words(f), f->arrived,
                 f->activated, f->cancelled);
    } else if (op->code == RAD_OP_AWAIT) {
        snprintf(text, size, "waits for the milestone %s%s", rad__flow_name(file, tree->milestones[op->a]),
                 vm->milestones[op->a] == 2 ? ", which has expired" : "");
    } else if (op->code == RAD_OP_ACQUIRE) {
        char holder[100] = "nobody";
        if (vm->locks[op->a] != RAD_NONE) rad__flow_path(vm, vm->locks[op->a], holder, sizeof holder);
        snprintf(text, size, "waits for the lock %s, which %s has", rad__flow_name(file, tree->locks[op->a]), holder);
    } else if (t->wait == RAD_TOKEN_FOR_RESULT || op->code == RAD_OP_FINISH) {
        snprintf(text, size, "is in task %s, attempt %u", rad__flow_name(file, tree->tasks[t->task].name), t->attempt);
    } else if (t->wait == RAD_TOKEN_FOR_TIMER) {
        snprintf(text, size, "waits before attempt %u of task %s", t->attempt + 1,
                 rad__flow_name(file, tree->tasks[t->task].name));
    } else if (t->wait == RAD_TOKEN_FOR_EVENT) {
        describe_events(vm, op, text, size);
    } else {
        snprintf(text, size, "is about to %s", rad__flow_code_name(op->code));
    }
}

void rad__flow_vm_describe(const void *self, void (*line)(void *context, const char *text), void *context)
{
    const rad_flow_vm *vm = self;
    for (uint32_t i = 0; i < vm->token_count; i++) {
        const rad_token *t = &vm->tokens[i];
        if (!t->alive) continue;
        char path[200], wait[200], text[440];
        rad__flow_path(vm, i, path, sizeof path);
        describe_wait(vm, t, wait, sizeof wait);
        uint32_t at = t->inner != RAD_NONE ? vm->forks[t->inner].op : t->pc;
        snprintf(text, sizeof text, "token %s, line %u: %s", path, vm->program->code[at].line, wait);
        line(context, text);
    }
    if (vm->failure[0] != 0) line(context, vm->failure);
}

const char *rad__flow_vm_site(const void *self, uint32_t site)
{
    const rad_flow_vm *vm = self;
    if (site >= vm->program->code_count) return NULL;
    return rad__flow_code_name(vm->program->code[site].code);
}

const char *rad__flow_vm_kind(const void *self, uint32_t kind)
{
    static const char *const names[] = {"step", "takes an input", "cancels @", "@ continues", "failure at @"};
    (void)self;
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}
