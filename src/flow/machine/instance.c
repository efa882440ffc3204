/* instance.c — a case: the machine under the kernel, fed from outside. See instance.h. */
#include "flow/machine/instance.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/prng.h"
#include "flow/machine/vm.h"

#include <stdio.h>
#include <string.h>

static const rad_machine case_machine = {
    .name = "flow",
    .reset = rad__flow_vm_reset,
    .step = rad__flow_vm_step,
    .idle = rad__flow_vm_idle,
    .kind_name = rad__flow_vm_kind,
    .site_name = rad__flow_vm_site,
    .describe = rad__flow_vm_describe,
};

/* ---- Life ------------------------------------------------------------------------------- */

static int make_choices(rad_flow_case *c, bool keep, rad_error *error)
{
    c->choices = (rad_choice_buffer){NULL, 0, &c->choice_count};
    if (!keep) return 0;
    c->choices.items = rad__alloc(RAD_CHOICES_MAX, sizeof *c->choices.items);
    c->choices.capacity = RAD_CHOICES_MAX;
    return c->choices.items != NULL ? 0 : rad__error_memory(error);
}

static void begin(rad_flow_case *c, const rad_flow_case_options *o)
{
    static const rad_estimates nothing;
    rad_run_options run = {
        .policy = c->policy,
        .info = {.seed = o->seed, .estimates = &nothing},
        .max_steps = UINT64_MAX,
        .whole_trace = o->whole_trace,
    };
    memcpy(run.observers, o->observers, sizeof run.observers);
    rad__kernel_use(c->kernel, &case_machine, c->vm);
    rad__kernel_begin(c->kernel, &run);
}

int rad__flow_case_open(rad_flow_case **out, const rad_flow_program *p, const rad_flow_case_options *o,
                        rad_error *error)
{
    *out = NULL;
    rad_flow_case *c = rad__alloc(1, sizeof *c);
    if (c == NULL) return rad__error_memory(error);
    c->program = p;
    int status = rad__flow_vm_open(&c->vm, p, o, error);
    if (status == 0) status = make_choices(c, o->keep_choices, error);
    if (status == 0) status = rad__kernel_open(&c->kernel, c->choices, error);
    if (status == 0 && o->own_policy == NULL)
        status = rad__policy_create(&c->policy, o->policy != NULL ? o->policy : "first", error);
    if (status == 0) {
        if (o->own_policy != NULL) c->policy = o->own_policy;
        c->policy_is_own = o->own_policy == NULL;
        c->vm->owner = c;
        begin(c, o);
        if (c->kernel->ended) status = rad__error(error, c->kernel->error.code, "%s", c->kernel->error.text);
    }
    if (status != 0) {
        rad__flow_case_close(c);
        return status;
    }
    *out = c;
    return 0;
}

void rad__flow_case_close(rad_flow_case *c)
{
    if (c == NULL) return;
    if (c->policy_is_own) rad__policy_destroy(c->policy);
    rad__kernel_close(c->kernel);
    rad__flow_vm_close(c->vm);
    rad__free(c->choices.items);
    rad__free(c->asks);
    rad__free(c);
}

/* ---- Running ------------------------------------------------------------------------------- */

typedef struct first_lines {
    char *text;
    size_t size, used;
    uint32_t count;
} first_lines;

static void add_line(void *context, const char *text)
{
    first_lines *f = context;
    if (f->used >= f->size) return;
    f->used += (size_t)snprintf(f->text + f->used, f->size - f->used, "%s%s", f->count++ > 0 ? "; " : "", text);
}

static enum rad_flow_state stopped(rad_flow_case *c)
{
    rad_flow_vm *vm = c->vm;
    if (c->kernel->ended) {
        c->error = c->kernel->error;
        return c->kernel->outcome == RAD_OUTCOME_DIVERGED ? RAD_CASE_DIVERGED : RAD_CASE_BROKEN;
    }
    if (vm->result != RAD_CASE_RUNNING) return vm->result;
    if (vm->asking > 0) return RAD_CASE_WAITING;
    /* Not in its place at once: what describes the machine tells its failure, too. */
    char text[sizeof vm->failure];
    first_lines f = {text, sizeof text, (size_t)snprintf(text, sizeof text, "deadlock: "), 0};
    rad__flow_vm_describe(vm, add_line, &f);
    memcpy(vm->failure, text, sizeof text);
    return RAD_CASE_DEADLOCK;
}

enum rad_flow_state rad__flow_case_run(rad_flow_case *c, uint64_t steps)
{
    if (c->state > RAD_CASE_WAITING) return c->state;
    bool idle = rad__kernel_advance(c->kernel, steps);
    c->state = idle ? stopped(c) : RAD_CASE_RUNNING;
    return c->state;
}

/* ---- Feeding ------------------------------------------------------------------------------- */

/* The key's token, and the number of its effect. */
static int find_effect(const rad_flow_case *c, const char *key, uint32_t *token, uint32_t *effect, rad_error *error)
{
    const char *hash = key != NULL ? strrchr(key, '#') : NULL;
    const char *at = hash != NULL ? hash + 1 : "";
    uint64_t n = 0;
    for (; *at >= '0' + (n == 0) && *at <= '9' && n < UINT32_MAX; at++) n = n * 10 + (uint64_t)(*at - '0');
    if (*at != 0) n = 0; /* no number, or something behind it */
    *token = hash != NULL ? rad__flow_path_find(c->vm, key, (size_t)(hash - key)) : RAD_NONE;
    *effect = (uint32_t)n;
    if (*token == RAD_NONE || n == 0 || n > c->vm->tokens[*token].effects)
        return rad__error(error, RAD_EINPUT, "nothing with the key %s was asked for", key != NULL ? key : "(none)");
    return 0;
}

static void note_input(rad_flow_case *c, uint64_t hash)
{
    rad_note(c->kernel, RAD_FLOW_NOTE_INPUT, RAD_NONE, hash);
}

/* A text found no room: in memory, or below the limit; the kernel has been told which. */
static int not_kept(const rad_flow_case *c, rad_error *error)
{
    const rad_error *why = &c->kernel->error;
    return why->code != 0 ? rad__error(error, why->code, "%s", why->text) : rad__error_memory(error);
}

/* What a task wrote, as values. Something that does not fit makes it a failure. */
static int take_writes(rad_flow_case *c, rad_token *t, const rad_flow_input *in, rad_error *error)
{
    rad_flow_vm *vm = c->vm;
    const rad_flow_tree *tree = c->program->tree;
    if (!RAD_GROW(&vm->answers, &vm->answer_capacity, vm->answer_count + in->write_count))
        return rad__error_memory(error);
    t->answer = vm->answer_count;
    for (uint32_t i = 0; i < in->write_count; i++) {
        const rad_flow_write *w = &in->writes[i];
        const char *why = NULL;
        int64_t value = 0;
        if (w->variable >= tree->variable_count || tree->variables[w->variable].is_local)
            return rad__error(error, RAD_EINPUT, "there is no variable %u to write", w->variable);
        if (!rad__text_value(vm, tree->variables[w->variable].type, w->text, w->length, &value, &why)) {
            char text[300];
            if (why == NULL) return not_kept(c, error);
            int length = snprintf(text, sizeof text, "%s: \"%.*s\" %s",
                                  rad__flow_name(&c->program->file, tree->variables[w->variable].name),
                                  (int)(w->length < 100 ? w->length : 100), w->text, why);
            t->ok = false;
            t->answer = rad__text_number(vm, text, (size_t)length);
            t->answer_count = 0;
            return 0;
        }
        vm->answers[vm->answer_count++] = (rad_flow_value){w->variable, value};
        t->answer_count++;
    }
    return 0;
}

/* Of everything that was answered: what differs in it is another run. */
static uint64_t answer_hash(const rad_flow_case *c, const rad_token *t)
{
    const rad_flow_vm *vm = c->vm;
    uint64_t hash = rad__mix64(t->path_hash + t->effect) + t->ok;
    for (uint32_t i = 0; i < t->answer_count; i++) {
        const rad_flow_value *v = &vm->answers[t->answer + i];
        bool is_text = c->program->tree->variables[v->variable].type == RAD_FLOW_TEXT;
        hash = rad__mix64(hash + v->variable);
        hash = rad__mix64(hash + (is_text ? vm->texts[v->value].hash : (uint64_t)v->value));
    }
    if (!t->ok && t->answer != RAD_NONE) hash = rad__mix64(hash + vm->texts[t->answer].hash);
    return hash;
}

static int feed_result(rad_flow_case *c, const rad_flow_input *in, bool *used, rad_error *error)
{
    rad_flow_vm *vm = c->vm;
    uint32_t token, effect;
    int status = find_effect(c, in->key, &token, &effect, error);
    if (status != 0) return status;
    rad_token *t = &vm->tokens[token];
    if (!t->alive || t->wait != RAD_TOKEN_FOR_RESULT || t->effect != effect || t->attempt != in->attempt) return 0;
    t->ok = in->ok;
    t->answer_count = 0;
    t->answer = RAD_NONE;
    if (in->ok)
        status = take_writes(c, t, in, error);
    else if (in->why != NULL)
        t->answer = rad__text_number(vm, in->why, strlen(in->why));
    if (status != 0) return status;
    t->answered = true;
    vm->answers_open++;
    note_input(c, answer_hash(c, t));
    rad__token_wake(vm, token);
    *used = true;
    return 0;
}

static int feed_timer(rad_flow_case *c, const rad_flow_input *in, bool *used, rad_error *error)
{
    rad_flow_vm *vm = c->vm;
    uint32_t token, effect;
    int status = find_effect(c, in->key, &token, &effect, error);
    if (status != 0) return status;
    rad_token *t = &vm->tokens[token];
    if (!t->alive || t->effect != effect) return 0;
    if (t->wait != RAD_TOKEN_FOR_TIMER && t->wait != RAD_TOKEN_FOR_EVENT) return 0;
    if (t->wait == RAD_TOKEN_FOR_TIMER && t->attempt != in->attempt) return 0;
    const rad_flow_op *op = rad__flow_op(vm, token);
    if (t->wait == RAD_TOKEN_FOR_EVENT &&
        (in->alternative >= op->b || !c->program->ways[op->a + in->alternative].event.is_timer))
        return rad__error(error, RAD_EINPUT, "%s has no timer %u", in->key, in->alternative);
    t->alternative = in->alternative;
    note_input(c, rad__mix64(t->path_hash + effect) ^ in->alternative);
    rad__token_wake(vm, token);
    *used = true;
    return 0;
}

static uint32_t find_name(const rad_flow_case *c, const char *name, const uint32_t *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (name != NULL && strcmp(rad__flow_name(&c->program->file, names[i]), name) == 0) return i;
    return RAD_NONE;
}

/* Whom a signal wakes: the oldest that waits for it, and which of its alternatives. */
static uint32_t waiter(const rad_flow_vm *vm, uint32_t signal, uint32_t *alternative)
{
    const rad_flow_tree *tree = vm->program->tree;
    uint32_t at = vm->queues[tree->milestone_count + tree->lock_count].first;
    for (; at != RAD_NONE; at = vm->tokens[at].queue_newer) {
        const rad_flow_op *op = rad__flow_op(vm, at);
        for (uint32_t i = 0; i < op->b; i++) {
            const rad_flow_event *e = &vm->program->ways[op->a + i].event;
            if (e->is_timer || e->signal != signal) continue;
            *alternative = i;
            return at;
        }
    }
    return RAD_NONE;
}

static int feed_signal(rad_flow_case *c, const rad_flow_input *in, bool *used, rad_error *error)
{
    rad_flow_vm *vm = c->vm;
    const rad_flow_tree *tree = c->program->tree;
    uint32_t signal = find_name(c, in->name, tree->signals, tree->signal_count), alternative = 0;
    if (signal == RAD_NONE)
        return rad__error(error, RAD_EINPUT, "the flow %s waits for no signal %s",
                          rad__flow_name(&c->program->file, tree->name), in->name != NULL ? in->name : "(none)");
    uint32_t text = rad__text_number(vm, in->text != NULL ? in->text : "", in->text ? in->length : 0);
    if (text == RAD_NONE) return not_kept(c, error);
    note_input(c, rad__mix64(signal) + vm->texts[text].hash);
    *used = true;
    uint32_t token = waiter(vm, signal, &alternative);
    if (token != RAD_NONE) {
        vm->tokens[token].alternative = alternative;
        vm->tokens[token].answer = text;
        rad__token_wake(vm, token);
        return 0;
    }
    uint32_t at = rad__pool_take(&vm->signal_pool, (void **)&vm->signals, sizeof *vm->signals);
    if (at == RAD_NONE) return rad__error_memory(error);
    vm->signals[at] = (rad_flow_signal){signal, text, RAD_NONE};
    *(vm->signal_last != RAD_NONE ? &vm->signals[vm->signal_last].next : &vm->signal_first) = at;
    vm->signal_last = at;
    return 0;
}

static int feed_cancel(rad_flow_case *c, const rad_flow_input *in, bool *used, rad_error *error)
{
    const rad_flow_tree *tree = c->program->tree;
    uint32_t name = RAD_NONE;
    if (in->scope == RAD_FLOW_PART_REGION) name = find_name(c, in->name, tree->regions, tree->region_count);
    for (uint32_t i = 0; i < tree->task_count && in->scope == RAD_FLOW_PART_TASK; i++)
        if (in->name != NULL && strcmp(rad__flow_name(&c->program->file, tree->tasks[i].name), in->name) == 0) name = i;
    if (name == RAD_NONE && in->scope != RAD_FLOW_PART_CASE)
        return rad__error(error, RAD_EINPUT, "the flow %s has no %s %s", rad__flow_name(&c->program->file, tree->name),
                          in->scope == RAD_FLOW_PART_REGION ? "region" : "task",
                          in->name != NULL ? in->name : "(none)");
    uint64_t before = c->vm->cancelled + c->vm->diverted;
    note_input(c, rad__mix64((uint64_t)in->scope << 32 | name));
    rad__cancel_scope(c->vm, in->scope, name);
    rad__fork_settle(c->vm);
    if (c->vm->live == 0 && c->vm->result == RAD_CASE_RUNNING) c->vm->result = RAD_CASE_DONE;
    *used = c->vm->cancelled + c->vm->diverted > before;
    return 0;
}

int rad__flow_case_feed(rad_flow_case *c, const rad_flow_input *in, bool *used, rad_error *error)
{
    static int (*const feeders[RAD_INPUT_KINDS])(rad_flow_case *, const rad_flow_input *, bool *, rad_error *) = {
        [RAD_INPUT_RESULT] = feed_result,
        [RAD_INPUT_TIMER] = feed_timer,
        [RAD_INPUT_SIGNAL] = feed_signal,
        [RAD_INPUT_CANCEL] = feed_cancel,
    };
    *used = false;
    if (c->state > RAD_CASE_WAITING) return 0; /* it is over */
    if (in->kind < RAD_INPUT_RESULT || in->kind >= RAD_INPUT_KINDS)
        return rad__error(error, RAD_EINPUT, "an input of the unknown kind %d", (int)in->kind);
    int status = feeders[in->kind](c, in, used, error);
    rad__enabled_settle(c->kernel);
    return status;
}

/* Whether a token still waits for what was asked. */
static bool is_wanted(const rad_flow_vm *vm, const rad_flow_ask *a)
{
    const rad_token *t = &vm->tokens[a->token];
    if (t->effect != a->effect) return false; /* and one that has ended waits for nothing */
    if (a->kind == RAD_ASK_START) return t->wait == RAD_TOKEN_FOR_RESULT && t->attempt == a->attempt;
    if (a->kind != RAD_ASK_TIMER) return false;
    return t->wait == RAD_TOKEN_FOR_EVENT || (t->wait == RAD_TOKEN_FOR_TIMER && t->attempt == a->attempt);
}

void rad__flow_asks_prune(rad_flow_case *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->ask_count; i++)
        if (is_wanted(c->vm, &c->asks[i]))
            c->asks[kept++] = c->asks[i];
        else
            rad__data_give(c->vm, c->asks[i].data);
    c->ask_count = kept;
}

/* ---- Looking ------------------------------------------------------------------------------- */

void rad__flow_asks_taken(rad_flow_case *c)
{
    for (uint32_t i = 0; i < c->ask_count; i++) rad__data_give(c->vm, c->asks[i].data);
    c->ask_count = 0;
}

uint64_t rad__flow_case_steps(const rad_flow_case *c)
{
    return c->kernel->step;
}

rad_digest rad__flow_case_digest(const rad_flow_case *c)
{
    return rad__kernel_digest(c->kernel);
}

void rad__flow_case_key(const rad_flow_case *c, uint32_t token, uint32_t effect, char key[RAD_FLOW_KEY_MAX])
{
    rad__flow_path(c->vm, token, key, RAD_FLOW_KEY_MAX);
    size_t used = strlen(key);
    snprintf(key + used, RAD_FLOW_KEY_MAX - used, "#%u", effect);
}

const char *rad__flow_case_value(const rad_flow_case *c, uint32_t data, uint32_t variable, char number[24],
                                 size_t *length)
{
    const rad_flow_vm *vm = c->vm;
    if (data == RAD_NONE) data = vm->final;
    if (data == RAD_NONE && vm->token_count > 0 && vm->tokens[0].alive) data = vm->tokens[0].data;
    int64_t value = data != RAD_NONE ? rad__data_at(vm, data)[variable] : vm->initial[variable];
    enum rad_flow_type type = c->program->tree->variables[variable].type;
    if (type == RAD_FLOW_TEXT) {
        *length = vm->texts[value].length;
        return vm->texts[value].text;
    }
    *length = (size_t)(type == RAD_FLOW_BOOL ? snprintf(number, 24, "%s", value ? "true" : "false")
                                             : snprintf(number, 24, "%lld", (long long)value));
    return number;
}

/* Puts a line before what is there, as far as there is room; whole letters only. */
static void put_before(char text[RAD_FLOW_INSTANCE_MAX], const char *value, size_t length)
{
    size_t used = strlen(text), gap = used > 0 ? 2 : 0, room = RAD_FLOW_INSTANCE_MAX - 1 - gap;
    const char *end = length > 0 ? memchr(value, '\n', length) : NULL;
    if (end != NULL) length = (size_t)(end - value);
    if (used >= room) return;
    if (length > room - used) {
        length = room - used;
        while (length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80) length--;
    }
    memmove(text + length + gap, text, used + 1);
    if (gap > 0) memcpy(text + length, ", ", gap);
    if (length > 0) memcpy(text, value, length);
}

void rad__flow_case_instance(const rad_flow_case *c, uint32_t token, uint32_t data, char text[RAD_FLOW_INSTANCE_MAX])
{
    const rad_flow_vm *vm = c->vm;
    text[0] = 0;
    for (uint32_t fork = vm->tokens[token].fork; fork != RAD_NONE;
         fork = vm->forks[fork].parent, token = vm->tokens[token].parent) {
        const rad_flow_op *op = &c->program->code[vm->forks[fork].op];
        if (op->code != RAD_OP_MANY) continue;
        uint32_t as = c->program->manies[op->d].as;
        char number[24];
        size_t length = (size_t)snprintf(number, sizeof number, "%u", vm->tokens[token].index);
        const char *value = as != RAD_NONE ? rad__flow_case_value(c, data, as, number, &length) : number;
        put_before(text, value, length);
    }
}

const char *rad__flow_case_failure(const rad_flow_case *c)
{
    return c->vm->failure;
}
