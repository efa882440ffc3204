/* lockstep.c — see lockstep.h. The world of a live run is in lockstep_world.c. */
#include "lockstep.h"

#include "base/alloc.h"
#include "flow/machine/vm.h"
#include "lockstep_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lockstep_differ(lockstep *l, const char *format, ...)
{
    if (l->differs) return false;
    l->differs = true;
    int used =
        snprintf(l->difference, FLOW_DIFFERENCE_MAX, "step %llu: ", (unsigned long long)rad__flow_case_steps(l->c));
    va_list args;
    va_start(args, format);
    vsnprintf(l->difference + used, FLOW_DIFFERENCE_MAX - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* ---- Choices ------------------------------------------------------------------------------------------------ */

static void lockstep_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    lockstep *l = (lockstep *)o;
    (void)k;
    if (d->kind == RAD_PICK_ACTION) return;
    if (!RAD_GROW(&l->picks, &l->pick_capacity, l->pick_count + 1)) abort();
    l->picks[l->pick_count++] = (lockstep_pick){d->kind, d->count, chosen};
    l->seen->picks[d->kind]++;
}

/* What the machine was given, for the reference. */
static uint32_t lockstep_answer(void *context, enum rad_pick_kind kind, uint32_t count)
{
    lockstep *l = context;
    if (l->pick_at == l->pick_count) {
        lockstep_differ(l, "the machine has not asked for a choice of kind %d among %u", (int)kind, count);
        return 0;
    }
    lockstep_pick p = l->picks[l->pick_at++];
    if (p.kind != kind || p.count != count) {
        lockstep_differ(l, "the machine asked for kind %d among %u, not for kind %d among %u", (int)p.kind, p.count,
                        (int)kind, count);
        return 0;
    }
    return p.chosen;
}

/* ---- Comparing tokens ----------------------------------------------------------------------------------------- */

enum reference_kind lockstep_kind(const rad_flow_vm *vm, uint32_t token)
{
    static const enum reference_kind kinds[RAD_OP_CODES] = {
        [RAD_OP_START] = REFERENCE_START,
        [RAD_OP_FINISH] = REFERENCE_FINISH,
        [RAD_OP_RETRY] = REFERENCE_RETRY,
        [RAD_OP_SET] = REFERENCE_SET,
        [RAD_OP_FORK] = REFERENCE_FORK,
        [RAD_OP_OR] = REFERENCE_OR,
        [RAD_OP_XOR] = REFERENCE_XOR,
        [RAD_OP_MANY] = REFERENCE_MANY,
        [RAD_OP_MORE] = REFERENCE_MORE,
        [RAD_OP_ARRIVE] = REFERENCE_ARRIVE,
        [RAD_OP_BLOCK_END] = REFERENCE_ARRIVE,
        [RAD_OP_LOOP] = REFERENCE_LOOP,
        [RAD_OP_LOOP_AGAIN] = REFERENCE_AGAIN,
        [RAD_OP_WHILE] = REFERENCE_WHILE,
        [RAD_OP_UNTIL] = REFERENCE_UNTIL,
        [RAD_OP_ENTER] = REFERENCE_ENTER,
        [RAD_OP_LEAVE] = REFERENCE_LEAVE,
        [RAD_OP_CANCEL] = REFERENCE_CANCEL,
        [RAD_OP_REACH] = REFERENCE_REACH,
        [RAD_OP_EXPIRE] = REFERENCE_EXPIRE,
        [RAD_OP_AWAIT] = REFERENCE_AWAIT,
        [RAD_OP_INTERLEAVE] = REFERENCE_INTERLEAVE,
        [RAD_OP_INTERLEAVE_AGAIN] = REFERENCE_ROUND,
        [RAD_OP_ACQUIRE] = REFERENCE_ACQUIRE,
        [RAD_OP_RELEASE] = REFERENCE_RELEASE,
        [RAD_OP_BEGIN] = REFERENCE_BEGIN,
        [RAD_OP_TAKEN] = REFERENCE_TAKEN,
        [RAD_OP_FINISH_CASE] = REFERENCE_FINISH_CASE,
        [RAD_OP_FAIL] = REFERENCE_FAIL,
        [RAD_OP_COMPENSATE] = REFERENCE_COMPENSATE,
        [RAD_OP_END] = REFERENCE_END,
    };
    if (vm->tokens[token].wait == RAD_TOKEN_IN_FORK) return REFERENCE_WAITS;
    return kinds[rad__flow_op(vm, token)->code];
}

static bool lockstep_same_value(const lockstep *l, uint32_t variable, int64_t value, reference_datum expected)
{
    if (l->r->tree->variables[variable].type != RAD_FLOW_TEXT) return value == expected.number;
    return strcmp(l->c->vm->texts[value].text, expected.text) == 0;
}

static bool lockstep_same_data(lockstep *l, const char *path, const int64_t *values, const uint64_t *written,
                               const reference_data *expected)
{
    for (uint32_t i = 0; i < l->r->tree->variable_count; i++) {
        const rad_flow_variable *v = &l->r->tree->variables[i];
        const char *name = rad__flow_name(l->r->file, v->name);
        if (!lockstep_same_value(l, i, values[i], expected->values[i]))
            return v->type == RAD_FLOW_TEXT
                       ? lockstep_differ(l, "%s of %s is \"%s\", not \"%s\"", name, path,
                                         l->c->vm->texts[values[i]].text, expected->values[i].text)
                       : lockstep_differ(l, "%s of %s is %lld, not %lld", name, path, (long long)values[i],
                                         (long long)expected->values[i].number);
        bool wrote = written != NULL && written[i / 64] >> i % 64 & 1;
        if (written != NULL && !v->is_local && wrote != expected->written[i])
            return lockstep_differ(l, "%s of %s %s", name, path,
                                   wrote ? "counts as written" : "does not count as written");
    }
    return true;
}

/* Inside the same regions, whose owners are inside or not. */
static bool lockstep_same_regions(lockstep *l, const char *path, uint32_t token, const reference_token *t)
{
    const rad_flow_vm *vm = l->c->vm;
    uint32_t at = vm->tokens[token].region;
    for (const reference_region *r = reference_innermost(t); r != NULL || at != RAD_NONE;
         r = r->outer, at = vm->regions[at].parent) {
        if (r == NULL || at == RAD_NONE)
            return lockstep_differ(l, "%s is inside %s regions than it should", path, r == NULL ? "more" : "fewer");
        const rad_region_instance *i = &vm->regions[at];
        if (!i->used || vm->program->regions[i->region].name != r->statement->name ||
            (i->owner != RAD_NONE) != r->owner_inside)
            return lockstep_differ(l, "%s is not inside of the region of line %u as it should", path,
                                   r->statement->place.line);
    }
    return true;
}

static bool lockstep_same_token(lockstep *l, uint32_t token)
{
    const rad_flow_vm *vm = l->c->vm;
    char path[RAD_FLOW_KEY_MAX];
    rad__flow_path(vm, token, path, sizeof path);
    const reference_token *t = reference_find(l->r, path);
    enum reference_kind kind = lockstep_kind(vm, token);
    if (t == NULL)
        return lockstep_differ(l, "%s lives, at %s of statement %u", path, reference_kind_name(kind),
                               rad__flow_op(vm, token)->statement);
    uint32_t statement = t->here != NULL ? t->here->number : 0;
    bool placed = rad__flow_op(vm, token)->code != RAD_OP_BLOCK_END; /* its statement is the block's first */
    if (t->at != kind || (placed && statement != rad__flow_op(vm, token)->statement))
        return lockstep_differ(l, "%s is at %s of statement %u, not at %s of %u", path, reference_kind_name(kind),
                               rad__flow_op(vm, token)->statement, reference_kind_name(t->at), statement);
    bool can = reference_is_enabled(l->r, t) && !lockstep_waits_for_world(l, token, kind);
    if (rad_is_enabled(l->c->kernel, token) != can)
        return lockstep_differ(l, "%s at %s of statement %u %s", path, reference_kind_name(kind), statement,
                               can ? "is not enabled" : "is enabled");
    if ((kind == REFERENCE_FINISH || kind == REFERENCE_RETRY) &&
        (vm->tokens[token].task != t->task || vm->tokens[token].attempt != t->attempt ||
         vm->tokens[token].effect != t->effect))
        return lockstep_differ(l, "%s is in attempt %u of effect %u (task %u), not in %u of %u (%u)", path,
                               vm->tokens[token].attempt, vm->tokens[token].effect, vm->tokens[token].task, t->attempt,
                               t->effect, t->task);
    return lockstep_same_regions(l, path, token, t) &&
           lockstep_same_data(l, path, rad__data_at(vm, vm->tokens[token].data), vm->tokens[token].written, &t->data);
}

bool lockstep_same_tokens(lockstep *l)
{
    const rad_flow_vm *vm = l->c->vm;
    const char *what = NULL;
    if (!rad__flow_vm_valid(vm, &what)) return lockstep_differ(l, "not sound: %s", what);
    uint32_t count = 0;
    for (uint32_t i = 0; i < vm->token_count; i++) {
        if (!vm->tokens[i].alive) continue;
        count++;
        if (!lockstep_same_token(l, i)) return false;
    }
    const reference_place *places;
    uint32_t expected = reference_living(l->r, &places);
    for (uint32_t i = 0; i < expected && count != expected; i++) {
        uint32_t token = rad__flow_path_find(vm, places[i].path, strlen(places[i].path));
        if (token == RAD_NONE || !vm->tokens[token].alive)
            return lockstep_differ(l, "%s does not live; it should be at %s of statement %u", places[i].path,
                                   reference_kind_name(places[i].kind), places[i].statement);
    }
    if (vm->cancelled != reference_fates(l->r, REFERENCE_STOPPED))
        return lockstep_differ(l, "%llu tokens were cancelled, not %u", (unsigned long long)vm->cancelled,
                               reference_fates(l->r, REFERENCE_STOPPED));
    return true;
}

/* ---- Ends ------------------------------------------------------------------------------------------------------ */

static enum reference_state lockstep_state(enum rad_flow_state state)
{
    switch (state) {
    case RAD_CASE_RUNNING:
    case RAD_CASE_WAITING: return REFERENCE_RUNNING;
    case RAD_CASE_DONE: return REFERENCE_DONE;
    case RAD_CASE_FAILED: return REFERENCE_FAILED;
    case RAD_CASE_CANCELLED: return REFERENCE_CANCELLED;
    default: return REFERENCE_DEADLOCK;
    }
}

static bool lockstep_same_end(lockstep *l)
{
    rad_flow_case *c = l->c;
    if (c->state >= RAD_CASE_DIVERGED) return lockstep_differ(l, "the machine broke: %s", c->error.text);
    if (lockstep_state(c->state) != l->r->state)
        return lockstep_differ(l, "the case is %s (%s), not %s (%s)", reference_state_name(lockstep_state(c->state)),
                               rad__flow_case_failure(c), reference_state_name(l->r->state), l->r->failure);
    if (l->r->state == REFERENCE_RUNNING) return true;
    const char *why = strstr(rad__flow_case_failure(c), ": ");
    if (l->r->state == REFERENCE_FAILED && (why == NULL || strcmp(why + 2, l->r->failure) != 0))
        return lockstep_differ(l, "it failed with '%s', not with '%s'", rad__flow_case_failure(c), l->r->failure);
    for (uint32_t i = 0; i < l->r->tree->variable_count; i++) {
        char number[24];
        size_t length;
        const char *value = rad__flow_case_value(c, RAD_NONE, i, number, &length);
        const char *expected = reference_value(l->r, NULL, i);
        if (!l->r->tree->variables[i].is_local && strcmp(value, expected) != 0)
            return lockstep_differ(l, "at the end %s is \"%s\", not \"%s\"",
                                   rad__flow_name(l->r->file, l->r->tree->variables[i].name), value, expected);
    }
    return true;
}

static uint32_t lockstep_in_use(const rad_flow_pool *pool, const void *items, size_t size)
{
    uint32_t used = pool->count;
    for (uint32_t at = pool->free; at != 0; used--) memcpy(&at, (const char *)items + size * (at - 1), sizeof at);
    return used;
}

/* A region is kept only as the last one of its name, or around one of those. */
static bool lockstep_is_kept(const rad_flow_vm *vm, uint32_t region)
{
    for (uint32_t i = 0; i < vm->program->tree->region_count; i++)
        for (uint32_t at = vm->last_instance[i]; at != RAD_NONE; at = vm->regions[at].parent)
            if (at == region) return true;
    return false;
}

/* When nobody lives any more nothing is left of forks, frames and data that were theirs. */
static bool lockstep_nothing_is_left(lockstep *l)
{
    const rad_flow_vm *vm = l->c->vm;
    if (!l->o->is_live && l->c->ask_count > 0) return lockstep_differ(l, "it asks a world that there is not");
    if (vm->live > 0) return true;
    if (lockstep_in_use(&vm->fork_pool, vm->forks, sizeof *vm->forks) > 0 ||
        lockstep_in_use(&vm->arrival_pool, vm->arrivals, sizeof *vm->arrivals) > 0 ||
        lockstep_in_use(&vm->frame_pool, vm->frames, sizeof *vm->frames) > 0)
        return lockstep_differ(l, "forks, arrivals or frames are left when all tokens are gone");
    for (uint32_t i = 0; i < vm->region_pool.count; i++)
        if (vm->regions[i].used && !lockstep_is_kept(vm, i))
            return lockstep_differ(l, "a region is left that nobody can be inside of");
    if (vm->answers_open > 0 || vm->answer_count > 0)
        return lockstep_differ(l, "answers are left that nobody waits for");
    uint32_t undos = lockstep_in_use(&vm->undo_pool, vm->undos, sizeof *vm->undos);
    if (lockstep_in_use(&vm->data_pool, vm->data_refs, sizeof *vm->data_refs) > 1 + undos)
        return lockstep_differ(l, "data are left that belong to nobody");
    return true;
}

/* Every token has ended exactly once, or lives. */
static bool lockstep_sums(lockstep *l)
{
    uint32_t sum = 0;
    for (uint32_t i = REFERENCE_LIVES; i <= REFERENCE_ENDED; i++) {
        sum += reference_fates(l->r, (enum reference_fate)i);
        l->seen->fates[i] += reference_fates(l->r, (enum reference_fate)i);
    }
    uint64_t lives = 0;
    for (uint32_t i = 0; i < l->c->vm->token_count; i++) lives += l->c->vm->tokens[i].lives;
    if (lives != sum) return lockstep_differ(l, "%llu tokens were made, not %u", (unsigned long long)lives, sum);
    return true;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static bool lockstep_step(lockstep *l)
{
    rad_kernel *k = l->c->kernel;
    uint64_t before = rad__flow_case_steps(l->c);
    l->pick_count = l->pick_at = 0;
    rad__flow_case_run(l->c, 1);
    if (rad__flow_case_steps(l->c) == before) return true; /* it waits, or is over */
    uint32_t token = k->current;
    char path[RAD_FLOW_KEY_MAX];
    rad__flow_path(l->c->vm, token, path, sizeof path);
    const reference_token *t = reference_find(l->r, path);
    if (t == NULL || !reference_is_enabled(l->r, t)) return lockstep_differ(l, "%s has done a step", path);
    enum reference_kind kind = t->at;
    l->seen->kinds[kind]++;
    l->seen->steps++;
    l->doing = token;
    bool world = l->o->is_live && (kind == REFERENCE_FINISH || kind == REFERENCE_TAKEN);
    reference_step(l->r, path, world ? lockstep_world_answer : lockstep_answer, l);
    if (!world && l->pick_at < l->pick_count)
        return lockstep_differ(l, "the machine has asked for a choice of kind %d among %u",
                               (int)l->picks[l->pick_at].kind, l->picks[l->pick_at].count);
    if (l->differs) return false;
    if (l->o->is_live && !lockstep_world_stepped(l, token, kind)) return false;
    return lockstep_same_tokens(l);
}

static bool lockstep_run(lockstep *l)
{
    if (!lockstep_same_tokens(l)) return false;
    while (rad__flow_case_steps(l->c) < l->o->steps && l->c->state <= RAD_CASE_WAITING) {
        if (!lockstep_step(l)) return false;
        if (l->o->is_live && !(lockstep_world_turn(l) && lockstep_same_tokens(l))) return false;
        if (l->c->state == RAD_CASE_WAITING && !l->o->is_live)
            return lockstep_differ(l, "it waits for a world that there is not");
    }
    rad__flow_case_run(l->c, 0); /* it may have been cancelled last of all */
    return lockstep_same_end(l) && lockstep_sums(l) && lockstep_nothing_is_left(l);
}

bool flow_lockstep(const char *text, const flow_lockstep_options *o, flow_lockstep_seen *seen,
                   char difference[FLOW_DIFFERENCE_MAX])
{
    rad_error error = {.code = 0};
    lockstep l = {.observer = {.decided = lockstep_decided},
                  .o = o,
                  .seen = seen,
                  .difference = difference,
                  .prng = rad__prng(o->seed, RAD_STREAM_TEST, 7)};
    if (rad__flow_program_read(&l.p, "test", text, strlen(text), NULL, &error) != 0) {
        snprintf(difference, FLOW_DIFFERENCE_MAX, "%s", error.text);
        return false;
    }
    rad_flow_case_options options = {.policy = o->policy,
                                     .seed = o->seed,
                                     .world = o->is_live ? RAD_WORLD_LIVE : RAD_WORLD_CHOSEN,
                                     .observers = {&l.observer}};
    bool same = false;
    if (rad__flow_case_open(&l.c, l.p, &options, &error) != 0) {
        snprintf(difference, FLOW_DIFFERENCE_MAX, "%s", error.text);
    } else {
        l.r = reference_open(&l.p->file, l.p->tree);
        same = lockstep_run(&l);
        seen->states[l.r->state]++;
        seen->runs++;
        seen->starts += l.starts;
        seen->stops += l.stops;
    }
    reference_close(l.r);
    rad__flow_case_close(l.c);
    rad__flow_program_free(l.p);
    lockstep_world_free(&l);
    rad__free(l.picks);
    return same;
}
