/* reference.c — the steps of the reference interpreter. See reference.h. */
#include "reference_parts.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory: everything is kept until the end --------------------------------------------------------------- */

void *reference_take(reference *r, size_t size)
{
    void *p = rad__arena_take(&r->arena, 1, size);
    if (p == NULL) abort(); /* a test machine without memory */
    return p;
}

const char *reference_text(reference *r, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = reference_take(r, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

uint32_t reference_ask(reference *r, enum rad_pick_kind kind, uint32_t count)
{
    return count < 2 ? 0 : r->pick(r->pick_context, kind, count);
}

void reference_effect(reference *r, const char *line)
{
    if (!RAD_GROW(&r->effects, &r->effect_capacity, r->effect_count + 1)) abort();
    r->effects[r->effect_count++] = line;
}

/* ---- Frames ------------------------------------------------------------------------------------------------- */

void reference_push(reference *r, reference_token *t, enum reference_frame_kind kind, const rad_flow_statement *owner,
                    const rad_flow_block *block)
{
    reference_frame *f = reference_take(r, sizeof *f);
    *f = (reference_frame){.below = t->top, .kind = kind, .owner = owner, .next = block->first};
    t->top = f;
}

void reference_pop(reference *r, reference_token *t)
{
    reference_frame *f = t->top;
    if (f->kind == FRAME_LOCK && r->locks[f->owner->name] == t) r->locks[f->owner->name] = NULL;
    if (f->kind == FRAME_REGION) f->region->owner_inside = false;
    t->top = f->below;
}

static void reference_stand(reference_token *t, enum reference_kind at, const rad_flow_statement *here)
{
    t->at = at;
    t->here = here;
}

/* At the end of a block; true: what comes now costs a step. */
static bool reference_block_end(reference *r, reference_token *t)
{
    static const enum reference_kind kinds[] = {
        [FRAME_ROOT] = REFERENCE_END,         [FRAME_BRANCH] = REFERENCE_ARRIVE, [FRAME_LOOP] = REFERENCE_AGAIN,
        [FRAME_WHILE] = REFERENCE_WHILE,      [FRAME_REPEAT] = REFERENCE_UNTIL,  [FRAME_REGION] = REFERENCE_LEAVE,
        [FRAME_INTERLEAVE] = REFERENCE_ROUND, [FRAME_LOCK] = REFERENCE_RELEASE,
    };
    if (t->top->kind == FRAME_PLAIN) {
        reference_pop(r, t);
        return false;
    }
    reference_stand(t, kinds[t->top->kind], t->top->owner);
    return true;
}

void reference_go_on(reference *r, reference_token *t)
{
    static const enum reference_kind kinds[RAD_FLOW_KINDS] = {
        [RAD_FLOW_DO] = REFERENCE_START,      [RAD_FLOW_SET] = REFERENCE_SET,
        [RAD_FLOW_PAR] = REFERENCE_FORK,      [RAD_FLOW_XOR] = REFERENCE_XOR,
        [RAD_FLOW_OR] = REFERENCE_OR,         [RAD_FLOW_LOOP] = REFERENCE_LOOP,
        [RAD_FLOW_WHILE] = REFERENCE_WHILE,   [RAD_FLOW_REGION] = REFERENCE_ENTER,
        [RAD_FLOW_CANCEL] = REFERENCE_CANCEL, [RAD_FLOW_MANY] = REFERENCE_MANY,
        [RAD_FLOW_MORE] = REFERENCE_MORE,     [RAD_FLOW_REACH] = REFERENCE_REACH,
        [RAD_FLOW_EXPIRE] = REFERENCE_EXPIRE, [RAD_FLOW_AWAIT] = REFERENCE_AWAIT,
        [RAD_FLOW_LOCK] = REFERENCE_ACQUIRE,  [RAD_FLOW_INTERLEAVE] = REFERENCE_INTERLEAVE,
        [RAD_FLOW_DEFER] = REFERENCE_BEGIN,   [RAD_FLOW_FINISH] = REFERENCE_FINISH_CASE,
        [RAD_FLOW_FAIL] = REFERENCE_FAIL,     [RAD_FLOW_COMPENSATE] = REFERENCE_COMPENSATE,
    };
    for (;;) {
        const rad_flow_statement *s = t->top->next;
        if (s == NULL && reference_block_end(r, t)) return;
        if (s == NULL) continue;
        if (s->kind != RAD_FLOW_BLOCK && s->kind != RAD_FLOW_REPEAT) {
            reference_stand(t, kinds[s->kind], s);
            t->task = s->kind == RAD_FLOW_DO ? s->name : RAD_NONE;
            t->attempt = 0;
            return;
        }
        t->top->next = s->next;
        reference_push(r, t, s->kind == RAD_FLOW_BLOCK ? FRAME_PLAIN : FRAME_REPEAT, s, &s->branches[0].block);
    }
}

/* Behind the statement it stands at. */
static void reference_pass(reference *r, reference_token *t)
{
    t->top->next = t->here->next;
    reference_go_on(r, t);
}

/* Into a block of the statement it stands at, and later behind it. */
static void reference_into(reference *r, reference_token *t, const rad_flow_block *block)
{
    t->top->next = t->here->next;
    reference_push(r, t, FRAME_PLAIN, t->here, block);
    reference_go_on(r, t);
}

/* ---- Tokens ------------------------------------------------------------------------------------------------- */

reference_token *reference_find(const reference *r, const char *path)
{
    for (reference_token *t = r->first; t != NULL; t = t->next)
        if (reference_lives(t) && strcmp(t->path, path) == 0) return t;
    return NULL;
}

static const char *reference_free_path(reference *r, const char *path)
{
    if (reference_find(r, path) == NULL) return path;
    for (uint32_t i = 2;; i++) {
        const char *other = reference_text(r, "%s'%u", path, i);
        if (reference_find(r, other) == NULL) return other;
    }
}

static reference_token *reference_token_new(reference *r, const char *path)
{
    reference_token *t = reference_take(r, sizeof *t);
    t->path = path;
    t->task = RAD_NONE;
    if (r->first == NULL)
        r->first = t;
    else
        r->last->next = t;
    r->last = t;
    r->token_count++;
    return t;
}

void reference_token_over(reference *r, reference_token *t, enum reference_fate fate)
{
    t->fate = fate;
    while (t->top != NULL) reference_pop(r, t);
    for (reference_fork *i = r->forks; i != NULL; i = i->next)
        if (i->holder == t) i->holder = t->parent != NULL ? t->parent->holder : NULL;
}

/* ---- Forks and joins ------------------------------------------------------------------------------------------ */

static reference_fork *reference_fork_new(reference *r, reference_token *t)
{
    reference_fork *fork = reference_take(r, sizeof *fork);
    *fork = (reference_fork){
        .statement = t->here,
        .owner = t,
        .holder = t,
        .inside = reference_innermost(t),
        .join = t->here->join == RAD_JOIN_MULTI ? RAD_JOIN_SYNC : t->here->join,
        .wanted = t->here->join_count,
    };
    if (r->forks == NULL)
        r->forks = fork;
    else
        r->last_fork->next = fork;
    r->last_fork = fork;
    return fork;
}

/* One more branch, that number, with a copy of the data of the token that does the step. */
static reference_token *reference_branch(reference *r, reference_fork *fork, uint32_t index,
                                         const reference_token *maker)
{
    const rad_flow_statement *s = fork->statement;
    const rad_flow_block *block = &s->branches[s->kind == RAD_FLOW_MANY ? 0 : index].block;
    fork->activated++;
    const char *path = reference_text(r, "%s/%u.%u", fork->owner->path, fork->statement->number, index);
    reference_token *t = reference_token_new(r, reference_free_path(r, path));
    t->parent = fork;
    t->index = index;
    t->inherited = fork->inside;
    t->data = reference_data_copy(r, &maker->data);
    reference_push(r, t, FRAME_BRANCH, fork->statement, block);
    if (fork->statement->join == RAD_JOIN_MULTI) { /* the rest of the block is the branch's, too */
        t->top->next = fork->statement->next;
        reference_push(r, t, FRAME_PLAIN, fork->statement, block);
    }
    return t;
}

/* The branches are made: the forking token waits, or does not. */
static void reference_fork_made(reference *r, reference_token *t, reference_fork *fork)
{
    enum rad_flow_join join = fork->statement->join;
    t->top->next = join == RAD_JOIN_MULTI ? NULL : fork->statement->next;
    if (join == RAD_JOIN_NONE || fork->activated == 0) {
        fork->fired = true;
        reference_go_on(r, t);
        return;
    }
    t->waits = fork;
    t->at = REFERENCE_WAITS;
}

/* The join is complete: the forking token goes on with what its branches made of the data. */
void reference_fire(reference *r, reference_fork *fork)
{
    reference_token *owner = fork->owner;
    fork->fired = true;
    owner->waits = NULL;
    if (reference_merge(r, fork))
        reference_go_on(r, owner);
    else
        reference_raise(r, owner, r->why);
}

static void reference_count_arrival(reference *r, reference_fork *fork, const reference_token *t)
{
    reference_arrival *old = fork->arrivals;
    if (fork->arrival_count == fork->arrival_capacity) {
        fork->arrival_capacity = 2 * fork->arrival_capacity + 4;
        fork->arrivals = reference_take(r, fork->arrival_capacity * sizeof *old);
        if (old != NULL) memcpy(fork->arrivals, old, fork->arrival_count * sizeof *old);
    }
    fork->arrivals[fork->arrival_count++] = (reference_arrival){t->index, t->data};
}

static void reference_arrive(reference *r, reference_token *t)
{
    reference_fork *fork = t->parent;
    reference_token_over(r, t, fork->fired ? REFERENCE_ABSORBED : REFERENCE_ARRIVED);
    if (fork->fired) return;
    reference_count_arrival(r, fork, t);
    bool complete = false;
    switch (fork->join) {
    case RAD_JOIN_ALL: complete = fork->arrival_count == fork->activated; break;
    case RAD_JOIN_SYNC: complete = fork->arrival_count + fork->cancelled == fork->activated; break;
    default: complete = fork->arrival_count == fork->wanted; break;
    }
    if (!complete) return;
    for (reference_token *i = r->first; i != NULL && fork->join == RAD_JOIN_FIRST; i = i->next)
        if (i->parent == fork) reference_cancel_whole(r, i);
    reference_fire(r, fork);
}

static void reference_step_par(reference *r, reference_token *t)
{
    reference_fork *fork = reference_fork_new(r, t);
    for (uint32_t i = 0; i < t->here->branch_count; i++) reference_branch(r, fork, i, t);
    reference_fork_made(r, t, fork);
    for (reference_token *i = r->first; i != NULL; i = i->next)
        if (i->parent == fork) reference_go_on(r, i);
}

/* Which of the conditions hold; false: one of them failed. */
static bool reference_conditions(reference *r, reference_token *t, bool *holds, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < t->here->branch_count; i++) {
        const rad_flow_expr *when = t->here->branches[i].when;
        reference_datum value = {0, NULL};
        if (when != NULL && !reference_evaluate(r, &t->data, when, &value)) return false;
        holds[i] = value.number != 0;
        *count += holds[i];
    }
    return true;
}

/* No condition of an or or a xor holds. */
static void reference_step_else(reference *r, reference_token *t)
{
    const rad_flow_statement *s = t->here;
    if (s->has_else)
        reference_into(r, t, &s->branches[s->branch_count - 1].block);
    else
        reference_raise(r, t, s->kind == RAD_FLOW_OR ? "no branch of or holds" : "no branch of xor holds");
}

/* A join that could never be complete. */
static bool reference_too_few(const rad_flow_statement *s, int64_t count)
{
    return (s->join == RAD_JOIN_FIRST || s->join == RAD_JOIN_ANY) && count < s->join_count;
}

static void reference_step_or(reference *r, reference_token *t)
{
    bool *holds = reference_take(r, t->here->branch_count + 1);
    uint32_t count;
    if (!reference_conditions(r, t, holds, &count)) {
        reference_raise(r, t, r->why);
        return;
    }
    if (count == 0) {
        reference_step_else(r, t);
        return;
    }
    if (reference_too_few(t->here, count)) {
        reference_raise(r, t, reference_text(r, "the join waits for %u branches of %u", t->here->join_count, count));
        return;
    }
    reference_fork *fork = reference_fork_new(r, t);
    for (uint32_t i = 0; i < t->here->branch_count; i++)
        if (holds[i]) reference_branch(r, fork, i, t);
    reference_fork_made(r, t, fork);
    for (reference_token *i = r->first; i != NULL; i = i->next)
        if (i->parent == fork) reference_go_on(r, i);
}

static void reference_step_xor(reference *r, reference_token *t)
{
    bool *holds = reference_take(r, t->here->branch_count + 1);
    uint32_t count;
    if (!reference_conditions(r, t, holds, &count)) {
        reference_raise(r, t, r->why);
        return;
    }
    if (count == 0) {
        reference_step_else(r, t);
        return;
    }
    uint32_t picked = reference_ask(r, RAD_PICK_CASE, count), i = 0;
    for (;; i++)
        if (holds[i] && picked-- == 0) break;
    reference_into(r, t, &t->here->branches[i].block);
}

/* ---- Many ----------------------------------------------------------------------------------------------------- */

/* The instance's number or line, where the instance can see it. */
static void reference_name_instance(reference *r, reference_token *instance, const char *line)
{
    const rad_flow_statement *s = instance->parent->statement;
    (void)r;
    if (s->as == RAD_NONE) return;
    instance->data.values[s->as] = (reference_datum){instance->index, line};
}

static void reference_step_many(reference *r, reference_token *t)
{
    const rad_flow_statement *s = t->here;
    reference_datum value;
    if (!reference_evaluate(r, &t->data, s->expr, &value)) {
        reference_raise(r, t, r->why);
        return;
    }
    int64_t count = s->is_over ? reference_lines(value.text) : value.number;
    if (count < 0) count = 0;
    if (s->most != 0 && count > s->most) {
        reference_raise(r, t, reference_text(r, "%lld instances, and at most %u may be", (long long)count, s->most));
        return;
    }
    if (reference_too_few(s, count)) {
        reference_raise(r, t,
                        reference_text(r, "the join waits for %u instances of %lld", s->join_count, (long long)count));
        return;
    }
    reference_fork *fork = reference_fork_new(r, t);
    for (int64_t i = 0; i < count; i++) {
        reference_token *instance = reference_branch(r, fork, fork->next_index++, t);
        reference_name_instance(r, instance, s->is_over ? reference_line(r, value.text, i) : NULL);
    }
    reference_fork_made(r, t, fork);
    for (reference_token *i = r->first; i != NULL; i = i->next)
        if (i->parent == fork) reference_go_on(r, i);
}

static void reference_step_more(reference *r, reference_token *t)
{
    reference_fork *fork = t->parent;
    while (fork->statement->number != t->here->name) fork = fork->owner->parent;
    if (fork->next_index >= fork->statement->most) {
        reference_raise(r, t, reference_text(r, "more than %u instances", fork->statement->most));
        return;
    }
    reference_token *more = reference_branch(r, fork, fork->next_index++, t);
    if (!fork->statement->is_over) reference_name_instance(r, more, NULL);
    reference_go_on(r, more);
    reference_pass(r, t);
}

/* ---- Tasks ---------------------------------------------------------------------------------------------------- */

static const rad_flow_task *reference_task(const reference *r, const reference_token *t)
{
    return &r->tree->tasks[t->task];
}

/* The n-th effect of the path, over the whole run, whichever tokens had it. */
static uint32_t reference_next_effect(reference *r, const char *path)
{
    reference_counter *i = r->counters;
    while (i != NULL && strcmp(i->path, path) != 0) i = i->next;
    if (i == NULL) {
        i = reference_take(r, sizeof *i);
        *i = (reference_counter){r->counters, path, 0};
        r->counters = i;
    }
    return ++i->count;
}

static void reference_start(reference *r, reference_token *t)
{
    t->attempt++;
    if (t->attempt == 1) t->effect = reference_next_effect(r, t->path);
    reference_effect(r, reference_text(r, "start %s#%u %s %u", t->path, t->effect,
                                       rad__flow_name(r->file, reference_task(r, t)->name), t->attempt));
    t->at = REFERENCE_FINISH;
}

/* Behind the task, or back to what takes tasks back. */
static void reference_task_done(reference *r, reference_token *t)
{
    if (t->here->kind == RAD_FLOW_COMPENSATE) {
        reference_go_on(r, t); /* it has not passed */
        return;
    }
    reference_region *region = reference_innermost(t);
    if (region != NULL && reference_task(r, t)->undo != RAD_NONE) {
        reference_done *done = reference_take(r, sizeof *done);
        *done = (reference_done){region->newest, t->task};
        region->newest = done;
    }
    reference_pass(r, t);
}

static void reference_finish(reference *r, reference_token *t)
{
    const rad_flow_task *task = reference_task(r, t);
    bool fails = task->outcomes == RAD_OUTCOME_FAIL_BIT;
    if (task->outcomes == (RAD_OUTCOME_OK_BIT | RAD_OUTCOME_FAIL_BIT)) fails = reference_ask(r, RAD_PICK_FAULT, 2) == 1;
    if (fails && t->attempt <= task->retries) {
        t->at = task->delay_ns == 0 ? REFERENCE_START : REFERENCE_RETRY;
        return;
    }
    if (fails) {
        t->at = REFERENCE_WAITS; /* what has failed is not stopped */
        reference_raise(r, t, reference_text(r, "task %s failed", rad__flow_name(r->file, task->name)));
        return;
    }
    for (uint32_t i = 0; i < task->writes.count; i++)
        reference_write(&t->data, task->writes.items[i], reference_draw(r, task->writes.items[i]));
    reference_task_done(r, t);
}

static reference_region *reference_last_region(reference *r, uint32_t name)
{
    reference_region *last = NULL;
    for (reference_region *i = r->regions; i != NULL; i = i->next)
        if (i->statement->name == name) last = i;
    return last;
}

static void reference_compensate(reference *r, reference_token *t)
{
    reference_region *region = reference_last_region(r, t->here->name);
    if (region == NULL || region->newest == NULL) {
        reference_pass(r, t);
        return;
    }
    t->task = r->tree->tasks[region->newest->task].undo;
    region->newest = region->newest->older;
    t->attempt = 0;
    reference_start(r, t);
}

/* ---- Regions -------------------------------------------------------------------------------------------------- */

static void reference_enter(reference *r, reference_token *t)
{
    reference_region *region = reference_take(r, sizeof *region);
    *region =
        (reference_region){.outer = reference_innermost(t), .statement = t->here, .owner = t, .owner_inside = true};
    if (r->regions == NULL)
        r->regions = region;
    else
        r->last_region->next = region;
    r->last_region = region;
    t->top->next = t->here->next;
    reference_push(r, t, FRAME_REGION, t->here, &t->here->branches[0].block);
    t->top->region = region;
    reference_go_on(r, t);
}

/* What was done inside counts as done in the region around it. */
static void reference_leave(reference *r, reference_token *t)
{
    reference_region *region = t->top->region;
    reference_done *oldest = region->newest;
    if (oldest != NULL && region->outer != NULL) {
        while (oldest->older != NULL) oldest = oldest->older;
        oldest->older = region->outer->newest;
        region->outer->newest = region->newest;
        region->newest = NULL;
    }
    reference_pop(r, t);
    reference_go_on(r, t);
}

/* ---- Loops, choices, events -------------------------------------------------------------------------------------- */

static void reference_turn(reference *r, reference_token *t, bool again)
{
    t->top->next = again ? t->here->branches[0].block.first : NULL;
    if (!again) reference_pop(r, t);
    reference_go_on(r, t);
}

static void reference_step_loop(reference *r, reference_token *t)
{
    reference_datum value;
    if (!reference_evaluate(r, &t->data, t->here->expr, &value)) {
        reference_raise(r, t, r->why);
        return;
    }
    t->top->next = t->here->next;
    reference_push(r, t, FRAME_LOOP, t->here, &t->here->branches[0].block);
    t->top->turns = value.number - 1;
    reference_turn(r, t, value.number > 0);
}

static void reference_step_again(reference *r, reference_token *t)
{
    reference_turn(r, t, t->top->turns-- > 0);
}

/* The test of a while, before the body or after it, and of a repeat. */
static void reference_step_test(reference *r, reference_token *t)
{
    reference_datum value;
    if (!reference_evaluate(r, &t->data, t->here->expr, &value)) {
        reference_raise(r, t, r->why);
        return;
    }
    if (t->top->owner != t->here || t->top->next != NULL) { /* a while that begins */
        t->top->next = t->here->next;
        reference_push(r, t, FRAME_WHILE, t->here, &t->here->branches[0].block);
    }
    reference_turn(r, t, t->at == REFERENCE_WHILE ? value.number : !value.number);
}

static void reference_step_round(reference *r, reference_token *t)
{
    const rad_flow_statement *s = t->here;
    if (t->at == REFERENCE_INTERLEAVE) {
        t->top->next = s->next;
        reference_push(r, t, FRAME_INTERLEAVE, s, &s->branches[0].block);
        t->top->left = s->branch_count == 64 ? UINT64_MAX : (UINT64_C(1) << s->branch_count) - 1;
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < s->branch_count; i++) left += t->top->left >> i & 1;
    if (left == 0) {
        reference_pop(r, t);
        reference_go_on(r, t);
        return;
    }
    uint32_t picked = reference_ask(r, RAD_PICK_CASE, left), i = 0;
    for (;; i++)
        if ((t->top->left >> i & 1) && picked-- == 0) break;
    t->top->left &= ~(UINT64_C(1) << i);
    t->top->next = s->branches[i].block.first;
    reference_go_on(r, t);
}

static void reference_step_taken(reference *r, reference_token *t)
{
    const rad_flow_branch *taken = &t->here->branches[reference_ask(r, RAD_PICK_CASE, t->here->branch_count)];
    if (!taken->event.is_timer && taken->event.into != RAD_NONE)
        reference_write(&t->data, taken->event.into, reference_draw(r, taken->event.into));
    reference_into(r, t, &taken->block);
}

static void reference_step_set(reference *r, reference_token *t)
{
    reference_datum value;
    if (!reference_evaluate(r, &t->data, t->here->expr, &value)) {
        reference_raise(r, t, r->why);
        return;
    }
    reference_write(&t->data, t->here->name, value);
    reference_pass(r, t);
}

static void reference_step_await(reference *r, reference_token *t)
{
    if (r->milestones[t->here->name] == 1)
        reference_pass(r, t);
    else
        reference_into(r, t, &t->here->branches[0].block);
}

static void reference_step_end(reference *r, reference_token *t)
{
    r->end = t->data;
    reference_token_over(r, t, REFERENCE_ENDED);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static void reference_step_place(reference *r, reference_token *t)
{
    const rad_flow_statement *s = t->here;
    switch (t->at) {
    case REFERENCE_REACH: r->milestones[s->name] = 1; break;
    case REFERENCE_EXPIRE: r->milestones[s->name] = 2; break;
    case REFERENCE_ACQUIRE:
        r->locks[s->name] = t;
        t->top->next = s->next;
        reference_push(r, t, FRAME_LOCK, s, &s->branches[0].block);
        reference_go_on(r, t);
        return;
    case REFERENCE_RELEASE:
        reference_pop(r, t);
        reference_go_on(r, t);
        return;
    case REFERENCE_RETRY: t->at = REFERENCE_START; return;
    case REFERENCE_BEGIN:
        reference_next_effect(r, t->path); /* its timers have a key, too */
        t->at = REFERENCE_TAKEN;
        return;
    case REFERENCE_FINISH_CASE:
        reference_over(r, REFERENCE_DONE, "");
        r->end = t->data;
        return;
    case REFERENCE_FAIL:
        reference_raise(r, t, s->text == RAD_NONE ? "failed" : rad__flow_name(r->file, s->text));
        return;
    case REFERENCE_CANCEL:
        reference_cancel(r, s);
        if (reference_lives(t) && t->at == REFERENCE_CANCEL && t->here == s) break;
        return; /* it was cancelled itself, or is in a handler now */
    default: abort();
    }
    reference_pass(r, t);
}

static void reference_do(reference *r, reference_token *t)
{
    static void (*const steps[REFERENCE_KINDS])(reference *, reference_token *) = {
        [REFERENCE_START] = reference_start,
        [REFERENCE_FINISH] = reference_finish,
        [REFERENCE_SET] = reference_step_set,
        [REFERENCE_FORK] = reference_step_par,
        [REFERENCE_OR] = reference_step_or,
        [REFERENCE_XOR] = reference_step_xor,
        [REFERENCE_MANY] = reference_step_many,
        [REFERENCE_MORE] = reference_step_more,
        [REFERENCE_ARRIVE] = reference_arrive,
        [REFERENCE_LOOP] = reference_step_loop,
        [REFERENCE_AGAIN] = reference_step_again,
        [REFERENCE_WHILE] = reference_step_test,
        [REFERENCE_UNTIL] = reference_step_test,
        [REFERENCE_ENTER] = reference_enter,
        [REFERENCE_LEAVE] = reference_leave,
        [REFERENCE_AWAIT] = reference_step_await,
        [REFERENCE_INTERLEAVE] = reference_step_round,
        [REFERENCE_ROUND] = reference_step_round,
        [REFERENCE_TAKEN] = reference_step_taken,
        [REFERENCE_COMPENSATE] = reference_compensate,
        [REFERENCE_END] = reference_step_end,
    };
    if (steps[t->at] != NULL)
        steps[t->at](r, t);
    else
        reference_step_place(r, t);
}

bool reference_is_enabled(const reference *r, const reference_token *t)
{
    switch (t->at) {
    case REFERENCE_WAITS: return false;
    case REFERENCE_ACQUIRE: return r->locks[t->here->name] == NULL;
    case REFERENCE_AWAIT:
        return r->milestones[t->here->name] == 1 || (t->here->has_else && r->milestones[t->here->name] == 2);
    default: return true;
    }
}

/* Whether it goes on. */
static void reference_judge(reference *r)
{
    const reference_place *places;
    if (r->state != REFERENCE_RUNNING) return;
    if (reference_living(r, &places) == 0)
        r->state = REFERENCE_DONE;
    else if (reference_enabled(r, &places) == 0)
        r->state = REFERENCE_DEADLOCK;
}

void reference_step(reference *r, const char *path, reference_pick pick, void *context)
{
    reference_token *t = reference_find(r, path);
    if (t == NULL || !reference_is_enabled(r, t)) abort();
    r->pick = pick;
    r->pick_context = context;
    r->steps++;
    reference_do(r, t);
    reference_settle_joins(r);
    reference_judge(r);
}

void reference_cancel_from_outside(reference *r, enum rad_flow_part scope, uint32_t name)
{
    rad_flow_statement s = {.kind = RAD_FLOW_CANCEL, .scope = scope, .name = name};
    reference_cancel(r, &s);
    reference_settle_joins(r);
    reference_judge(r);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

reference *reference_open(const rad_flow_file *file, const rad_flow_tree *tree)
{
    reference *r = rad__alloc(1, sizeof *r);
    if (r == NULL) abort();
    r->file = file;
    r->tree = tree;
    r->failure = "";
    r->locks = reference_take(r, (tree->lock_count + 1) * sizeof *r->locks);
    r->milestones = reference_take(r, tree->milestone_count + 1);
    r->domains = reference_take(r, (tree->variable_count + 1) * sizeof *r->domains);
    reference_token *t = reference_token_new(r, "0");
    t->data = reference_data_new(r);
    reference_push(r, t, FRAME_ROOT, NULL, &tree->body);
    reference_go_on(r, t);
    reference_judge(r);
    return r;
}

void reference_close(reference *r)
{
    if (r == NULL) return;
    rad__arena_free(&r->arena);
    rad__free(r->effects);
    rad__free(r->places);
    rad__free(r);
}
