/* lockstep_world.c — the world of a live run: it owes answers, and gives them when it likes. */
#include "base/alloc.h"
#include "flow/machine/vm.h"
#include "lockstep_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t world_below(lockstep *l, uint32_t bound)
{
    return (uint32_t)rad__prng_below(&l->prng, bound);
}

static lockstep_debt *world_debt(lockstep *l, uint32_t token)
{
    if (!RAD_GROW(&l->debts, &l->debt_capacity, token + 1)) abort();
    return &l->debts[token];
}

bool lockstep_waits_for_world(const lockstep *l, uint32_t token, enum reference_kind kind)
{
    if (!l->o->is_live) return false;
    if (kind != REFERENCE_FINISH && kind != REFERENCE_RETRY && kind != REFERENCE_TAKEN) return false;
    return token >= l->debt_capacity || !l->debts[token].given;
}

uint32_t lockstep_world_answer(void *context, enum rad_pick_kind kind, uint32_t count)
{
    lockstep *l = context;
    lockstep_debt *d = world_debt(l, l->doing);
    (void)count;
    if (kind == RAD_PICK_FAULT) return d->fault;
    if (kind == RAD_PICK_CASE) return d->taken;
    return d->values[d->value_at++];
}

void lockstep_world_free(lockstep *l)
{
    rad__free(l->debts);
    rad__free(l->kept);
}

/* ---- What is asked for ----------------------------------------------------------------------------------- */

enum { LINES_MOST = 4096 };

typedef struct world_lines {
    char *items[LINES_MOST];
    uint32_t count;
} world_lines;

static void world_line(world_lines *lines, const char *text)
{
    if (lines->count == LINES_MOST) abort();
    char *copy = rad__copy_text(text);
    if (copy == NULL) abort();
    uint32_t at = lines->count++;
    for (; at > 0 && strcmp(lines->items[at - 1], copy) > 0; at--) lines->items[at] = lines->items[at - 1];
    lines->items[at] = copy;
}

static void world_lines_free(world_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++) rad__free(lines->items[i]);
}

/* What should be asked for: whoever has been answered need not be stopped. */
static void world_expect(lockstep *l, world_lines *lines)
{
    const char *const *effects;
    uint32_t count = reference_effects(l->r, &effects);
    for (; l->effects_seen < count; l->effects_seen++) {
        const char *line = effects[l->effects_seen];
        if (strncmp(line, "stop ", 5) == 0) {
            const char *hash = strchr(line, '#');
            uint32_t token = rad__flow_path_find(l->c->vm, line + 5, (size_t)(hash - line - 5));
            if (token != RAD_NONE && world_debt(l, token)->given) continue;
        }
        world_line(lines, line);
    }
}

/* A timer begins, or is forgotten. */
static bool world_timer(lockstep *l, const rad_flow_ask *ask)
{
    lockstep_debt *d = world_debt(l, ask->token);
    uint32_t bit = 1u << ask->alternative;
    if (ask->kind == RAD_ASK_TIMER) {
        if (d->timers & bit) return lockstep_differ(l, "a timer begins twice");
        d->timers |= bit;
        bool retry = rad__flow_op(l->c->vm, ask->token)->code == RAD_OP_RETRY;
        if (!retry) return true;
        *d = (lockstep_debt){.pending = true, .is_timer = true, .since = ++l->waits, .timers = bit};
        return true;
    }
    if (!(d->timers & bit)) return lockstep_differ(l, "a timer is forgotten that does not run");
    d->timers &= ~bit;
    return true;
}

static bool world_hear(lockstep *l, const rad_flow_ask *ask, world_lines *lines)
{
    char key[RAD_FLOW_KEY_MAX], line[RAD_FLOW_KEY_MAX + 100];
    rad__flow_case_key(l->c, ask->token, ask->effect, key);
    if (ask->kind == RAD_ASK_START) {
        snprintf(line, sizeof line, "start %s %s %u", key,
                 rad__flow_name(l->r->file, l->r->tree->tasks[ask->task].name), ask->attempt);
        world_line(lines, line);
        *world_debt(l, ask->token) = (lockstep_debt){.pending = true, .since = ++l->waits};
        l->starts++;
        return true;
    }
    if (ask->kind == RAD_ASK_STOP) {
        snprintf(line, sizeof line, "stop %s", key);
        world_line(lines, line);
        snprintf(l->late_key, sizeof l->late_key, "%s", key);
        l->late_attempt = ask->attempt;
        l->stops++;
        return true;
    }
    return world_timer(l, ask);
}

static bool world_compare_asks(lockstep *l)
{
    world_lines expected = {.count = 0}, heard = {.count = 0};
    world_expect(l, &expected);
    bool same = true;
    for (uint32_t i = 0; i < l->c->ask_count && same; i++) same = world_hear(l, &l->c->asks[i], &heard);
    rad__flow_asks_taken(l->c);
    for (uint32_t i = 0; same && (i < expected.count || i < heard.count); i++) {
        const char *one = i < heard.count ? heard.items[i] : "(nothing)";
        const char *two = i < expected.count ? expected.items[i] : "(nothing)";
        if (strcmp(one, two) != 0) same = lockstep_differ(l, "it asks for %s, not for %s", one, two);
    }
    world_lines_free(&expected);
    world_lines_free(&heard);
    return same;
}

/* Whoever is gone, or elsewhere, is owed nothing. Timers that still run would be somebody's for ever. */
static bool world_forget(lockstep *l)
{
    const rad_flow_vm *vm = l->c->vm;
    for (uint32_t i = 0; i < l->debt_capacity; i++) {
        lockstep_debt *d = &l->debts[i];
        bool waits = false;
        if (i < vm->token_count && vm->tokens[i].alive) {
            enum reference_kind kind = lockstep_kind(vm, i);
            waits = kind == REFERENCE_FINISH || kind == REFERENCE_RETRY || kind == REFERENCE_TAKEN;
        }
        if (waits) continue;
        if (d->timers != 0) return lockstep_differ(l, "a timer runs for nobody");
        *d = (lockstep_debt){.pending = false};
    }
    return true;
}

/* ---- Events ---------------------------------------------------------------------------------------------- */

static const rad_flow_event *world_event(const lockstep *l, uint32_t token, uint32_t alternative)
{
    return &l->p->ways[rad__flow_op(l->c->vm, token)->a + alternative].event;
}

/* Which of the token's alternatives the signal is; RAD_NONE: none. */
static uint32_t world_alternative(const lockstep *l, uint32_t token, uint32_t signal, bool was_kept)
{
    for (uint32_t i = 0; i < rad__flow_op(l->c->vm, token)->b; i++) {
        const rad_flow_event *e = world_event(l, token, i);
        if (!e->is_timer && e->signal == signal && !(was_kept && e->is_fresh)) return i;
    }
    return RAD_NONE;
}

/* A token begins to wait: perhaps for what has come already. */
static void world_begin(lockstep *l, uint32_t token)
{
    lockstep_debt *d = world_debt(l, token);
    uint32_t timers = d->timers;
    *d = (lockstep_debt){.pending = true, .is_event = true, .since = ++l->waits, .timers = timers};
    for (uint32_t i = 0; i < l->kept_count; i++) {
        uint32_t alternative = world_alternative(l, token, l->kept[i], true);
        if (alternative == RAD_NONE) continue;
        d->pending = false;
        d->given = true;
        d->taken = alternative;
        memmove(&l->kept[i], &l->kept[i + 1], (--l->kept_count - i) * sizeof *l->kept);
        return;
    }
}

bool lockstep_world_stepped(lockstep *l, uint32_t token, enum reference_kind kind)
{
    if (kind == REFERENCE_FINISH || kind == REFERENCE_RETRY || kind == REFERENCE_TAKEN) {
        lockstep_debt *d = world_debt(l, token);
        d->given = false;
        d->value_at = 0;
    }
    if (!world_compare_asks(l)) return false;
    if (kind == REFERENCE_BEGIN && l->c->vm->tokens[token].alive && rad__flow_op(l->c->vm, token)->code == RAD_OP_TAKEN)
        world_begin(l, token);
    return world_forget(l);
}

/* ---- Answers --------------------------------------------------------------------------------------------- */

static bool world_feed(lockstep *l, const rad_flow_input *in, bool expected)
{
    rad_error error = {.code = 0};
    bool used = false;
    if (rad__flow_case_feed(l->c, in, &used, &error) != 0)
        return lockstep_differ(l, "%s is refused: %s", in->key ? in->key : in->name, error.text);
    if (used != expected)
        return lockstep_differ(l, "%s is %s", in->key ? in->key : in->name,
                               used ? "taken, and nobody waits for it" : "not taken");
    return true;
}

/* A value of the variable's domain, as text; remembered as a pick if it is one. */
static const char *world_value(lockstep *l, lockstep_debt *d, uint32_t variable, char number[24])
{
    const rad_flow_domain *domain = &l->p->domains[variable];
    uint32_t at = world_below(l, domain->count);
    if (domain->count > 1) d->values[d->value_at++] = at;
    int64_t value = domain->values[at];
    if (l->r->tree->variables[variable].type == RAD_FLOW_TEXT) return rad__flow_name(l->r->file, (uint32_t)value);
    if (l->r->tree->variables[variable].type == RAD_FLOW_BOOL) return value ? "true" : "false";
    snprintf(number, 24, "%lld", (long long)value);
    return number;
}

static bool world_result(lockstep *l, uint32_t token)
{
    lockstep_debt *d = world_debt(l, token);
    const rad_token *t = &l->c->vm->tokens[token];
    const rad_flow_task *task = &l->r->tree->tasks[t->task];
    char key[RAD_FLOW_KEY_MAX], numbers[LOCKSTEP_WRITES_MOST][24];
    rad_flow_write writes[LOCKSTEP_WRITES_MOST];
    rad__flow_case_key(l->c, token, t->effect, key);
    d->fault = task->outcomes == RAD_OUTCOME_FAIL_BIT;
    if (task->outcomes == (RAD_OUTCOME_OK_BIT | RAD_OUTCOME_FAIL_BIT)) d->fault = world_below(l, 2);
    d->value_at = 0;
    uint32_t count = d->fault ? 0 : task->writes.count;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = world_value(l, d, task->writes.items[i], numbers[i]);
        writes[i] = (rad_flow_write){task->writes.items[i], text, strlen(text)};
    }
    d->value_at = 0;
    d->pending = false;
    d->given = true;
    rad_flow_input in = {.kind = RAD_INPUT_RESULT,
                         .key = key,
                         .attempt = t->attempt,
                         .ok = !d->fault,
                         .writes = writes,
                         .write_count = count};
    return world_feed(l, &in, true);
}

static bool world_ring(lockstep *l, uint32_t token, uint32_t alternative)
{
    lockstep_debt *d = world_debt(l, token);
    const rad_token *t = &l->c->vm->tokens[token];
    char key[RAD_FLOW_KEY_MAX];
    rad__flow_case_key(l->c, token, t->effect, key);
    if (!(d->timers >> alternative & 1)) return lockstep_differ(l, "%s waits for a timer that was not asked for", key);
    d->timers &= ~(1u << alternative);
    d->pending = false;
    d->given = true;
    d->taken = alternative;
    rad_flow_input in = {.kind = RAD_INPUT_TIMER, .key = key, .attempt = t->attempt, .alternative = alternative};
    return world_feed(l, &in, true);
}

/* Whoever waits longest for the signal gets it. */
static bool world_signal(lockstep *l, uint32_t signal)
{
    uint32_t best = RAD_NONE;
    for (uint32_t i = 0; i < l->debt_capacity; i++)
        if (l->debts[i].pending && l->debts[i].is_event && world_alternative(l, i, signal, false) != RAD_NONE &&
            (best == RAD_NONE || l->debts[i].since < l->debts[best].since))
            best = i;
    rad_flow_input in = {.kind = RAD_INPUT_SIGNAL, .name = rad__flow_name(l->r->file, l->r->tree->signals[signal])};
    char number[24];
    if (best != RAD_NONE) {
        lockstep_debt *d = &l->debts[best];
        d->taken = world_alternative(l, best, signal, false);
        uint32_t into = world_event(l, best, d->taken)->into;
        d->value_at = 0;
        if (into != RAD_NONE) in.text = world_value(l, d, into, number);
        in.length = in.text != NULL ? strlen(in.text) : 0;
        d->value_at = 0;
        d->pending = false;
        d->given = true;
    } else {
        if (!RAD_GROW(&l->kept, &l->kept_capacity, l->kept_count + 1)) abort();
        l->kept[l->kept_count++] = signal;
        l->seen->kept++;
    }
    return world_feed(l, &in, true);
}

static bool world_answer(lockstep *l, uint32_t token)
{
    const lockstep_debt *d = &l->debts[token];
    if (d->is_timer) return world_ring(l, token, 0);
    if (!d->is_event) return world_result(l, token);
    uint32_t alternative = world_below(l, rad__flow_op(l->c->vm, token)->b);
    const rad_flow_event *e = world_event(l, token, alternative);
    return e->is_timer ? world_ring(l, token, alternative) : world_signal(l, e->signal);
}

/* ---- What else a world does ------------------------------------------------------------------------------ */

/* A signal that comes too early must be one that says nothing: who will take it is not known yet. */
static bool world_early_signal(lockstep *l)
{
    if (l->r->tree->signal_count == 0) return true;
    uint32_t signal = world_below(l, l->r->tree->signal_count);
    for (uint32_t i = 0; i < l->p->way_count; i++) {
        const rad_flow_event *e = &l->p->ways[i].event;
        if (e->signal == signal && e->into != RAD_NONE) return true;
    }
    return world_signal(l, signal);
}

static bool world_late_result(lockstep *l)
{
    if (l->late_key[0] == 0) return true;
    rad_flow_input in = {.kind = RAD_INPUT_RESULT, .key = l->late_key, .attempt = l->late_attempt, .ok = true};
    uint32_t token = rad__flow_path_find(l->c->vm, l->late_key, strcspn(l->late_key, "#"));
    l->seen->late++;
    bool ignored = token == RAD_NONE || world_feed(l, &in, false);
    l->late_key[0] = 0;
    return ignored;
}

static bool world_cancel(lockstep *l)
{
    const rad_flow_tree *tree = l->r->tree;
    enum rad_flow_part scope = tree->region_count > 0 && world_below(l, 2) ? RAD_FLOW_PART_REGION : RAD_FLOW_PART_TASK;
    if (tree->task_count == 0 || world_below(l, 20) == 0) scope = RAD_FLOW_PART_CASE;
    uint32_t name = 0;
    rad_flow_input in = {.kind = RAD_INPUT_CANCEL, .scope = scope, .name = "the case"};
    if (scope == RAD_FLOW_PART_REGION) {
        name = world_below(l, tree->region_count);
        in.name = rad__flow_name(l->r->file, tree->regions[name]);
    } else if (scope == RAD_FLOW_PART_TASK) {
        name = world_below(l, tree->task_count);
        in.name = rad__flow_name(l->r->file, tree->tasks[name].name);
    }
    rad_error error = {.code = 0};
    bool used;
    if (rad__flow_case_feed(l->c, &in, &used, &error) != 0)
        return lockstep_differ(l, "cancelling is refused: %s", error.text);
    l->seen->cancelled += used;
    uint32_t before = reference_fates(l->r, REFERENCE_STOPPED) + l->r->diverted;
    reference_cancel_from_outside(l->r, scope, name);
    if (used != (reference_fates(l->r, REFERENCE_STOPPED) + l->r->diverted > before))
        return lockstep_differ(l, "cancelling %s is %s", in.name, used ? "taken, and nobody is there" : "not taken");
    return world_compare_asks(l) && world_forget(l);
}

bool lockstep_world_turn(lockstep *l)
{
    bool must = l->c->state == RAD_CASE_WAITING;
    if (l->c->state > RAD_CASE_WAITING) return true;
    uint32_t what = world_below(l, 100);
    if (what < 3) return world_early_signal(l);
    if (what < 4) return world_cancel(l);
    if (what < 8) return world_late_result(l);
    if (what < 50 && !must) return true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->debt_capacity; i++) count += l->debts[i].pending;
    if (count == 0) return !must || lockstep_differ(l, "it waits for nothing");
    uint32_t at = 0;
    for (uint32_t left = world_below(l, count);; at++)
        if (l->debts[at].pending && left-- == 0) break;
    return world_answer(l, at);
}
