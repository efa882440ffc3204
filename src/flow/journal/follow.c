/* follow.c — see follow.h.
 *
 *     walk      journal: for each input, the leader's steps up to it (pace), then the input itself (feed); then the end
 *     pace      a step of the leader; the follower's token for it; its operation; the same step; what came of it
 *     look back where they differ both have gone on: they are run once more, up to there, to tell what could go on */
#include "flow/journal/follow.h"

#include "base/alloc.h"
#include "base/error.h"
#include "flow/journal/replay.h"
#include "flow/lang/outline.h"
#include "flow/machine/vm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Decides for the follower: what the leader did. */
typedef struct follower_policy {
    rad_policy base;
    const rad_flow_vm *vm;
    uint32_t token;  /* whose step it is */
    uint64_t branch; /* of xor, block of interleave */
} follower_policy;

enum parted { TOGETHER = 0, AT_BEGIN, AT_STEP, AT_BRANCH, AT_INPUT, AT_END };

typedef struct pair {
    rad_flow_following *out;
    rad_flow_side a, b; /* leader, follower */
    follower_policy policy;
    const char *journal_name;
    rad_flow_journal journal;
    rad_flow_record record;
    uint32_t *tokens; /* of the leader to the follower; RAD_NONE: not known yet */
    uint32_t token_count, token_capacity;
    uint32_t *statements;              /* of forks, the same; 0: not known */
    uint64_t until_step, until_record; /* before these they stop */
    const rad_flow_op *op;             /* of the leader's last step, and whose it was */
    uint32_t actor;
    enum parted parted;
    bool done; /* nothing can go on by itself */
} pair;

/* ---- Policy --------------------------------------------------------------------------------------------- */

/* The place of a branch among those that can be taken; the first, if it cannot: that is seen behind the step. */
static uint32_t place_of(const follower_policy *p, const rad_flow_op *op)
{
    const rad_flow_vm *vm = p->vm;
    uint32_t place = 0;
    if (p->branch >= op->b) return 0;
    if (op->code == RAD_OP_XOR) {
        for (uint32_t i = 0; i < p->branch; i++) place += vm->holds[i];
        return vm->holds[p->branch] ? place : 0;
    }
    uint64_t left = (uint64_t)vm->frames[vm->tokens[p->token].frames].value;
    if ((left >> p->branch & 1) == 0) return 0;
    return rad__popcount(left & ((UINT64_C(1) << p->branch) - 1));
}

static uint32_t follower_choose(rad_policy *base, rad_kernel *k, const rad_decision *d)
{
    const follower_policy *p = (const follower_policy *)base;
    if (d->kind == RAD_PICK_ACTION) return rad__index_of(k, d, p->token);
    uint32_t place = place_of(p, rad__flow_op(p->vm, p->token));
    return place < d->count ? place : 0;
}

static const rad_policy_class FOLLOWER = {.name = "follower", .choose = follower_choose};

/* ---- What differs --------------------------------------------------------------------------------------- */

/* The token that a key is of; RAD_NONE: there is none. */
static uint32_t token_of_key(const rad_flow_vm *vm, const char *key)
{
    const char *hash = key != NULL ? strrchr(key, '#') : NULL;
    return hash != NULL ? rad__flow_path_find(vm, key, (size_t)(hash - key)) : RAD_NONE;
}

/* "0/3.1#2 result of compile", "signal go", "cancel region tests". */
static void put_input(const pair *p, rad_bytes *out)
{
    static const char *const scopes[] = {"task", "region", "case"};
    const rad_flow_input *in = &p->record.input;
    uint32_t token = token_of_key(p->a.c->vm, in->key);
    switch (in->kind) {
    case RAD_INPUT_RESULT:
        rad__bytes_format(out, "%s result of ", in->key);
        if (token != RAD_NONE) rad__flow_task_words(&p->a, p->a.c->vm->tokens[token].task, out);
        break;
    case RAD_INPUT_TIMER: rad__bytes_format(out, "%s timer", in->key); break;
    case RAD_INPUT_SIGNAL: rad__bytes_format(out, "signal %s", in->name); break;
    case RAD_INPUT_CANCEL: rad__bytes_format(out, "cancel %s %s", scopes[in->scope], in->name); break;
    case RAD_INPUT_KINDS: break;
    }
}

/* What the leader has done, and the follower not. */
static void put_recorded(const pair *p, enum parted where, rad_bytes *out)
{
    enum rad_flow_state state = p->a.c->vm->result;
    switch (where) {
    case AT_STEP:
    case AT_BRANCH: rad__flow_step_name(&p->a, p->actor, p->op, out); break;
    case AT_INPUT: put_input(p, out); break;
    case AT_END:
        if (state != RAD_CASE_RUNNING)
            rad__bytes_format(out, "the end of the execution, %s", rad__flow_state_name(state));
        else
            rad__bytes_format(out, "the execution continues");
        break;
    case AT_BEGIN: rad__bytes_format(out, "the data the execution began with"); break;
    case TOGETHER: break;
    }
}

static void differ(pair *p, enum parted where, const char *format, ...) RAD_PRINTF(3, 4);
static void differ(pair *p, enum parted where, const char *format, ...)
{
    char text[400];
    rad_bytes step = {0}, reason = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rad__bytes_format(&reason, "%s", text);
    put_recorded(p, where, &step);
    rad__flow_lines_add(&p->out->step, &step);
    rad__flow_lines_add(&p->out->reason, &reason);
    p->parted = where;
}

/* ---- Who corresponds to whom ---------------------------------------------------------------------------- */

static bool know_tokens(pair *p)
{
    uint32_t count = p->a.c->vm->token_count;
    if (!RAD_GROW(&p->tokens, &p->token_capacity, count)) return false;
    while (p->token_count < count) p->tokens[p->token_count++] = RAD_NONE;
    p->tokens[0] = 0;
    return true;
}

/* The follower's token; RAD_NONE: it has none, or none yet. Its maker is known before. */
static uint32_t counterpart(pair *p, uint32_t token)
{
    char path[RAD_FLOW_KEY_MAX + 64];
    const rad_token *t = &p->a.c->vm->tokens[token];
    if (p->tokens[token] != RAD_NONE) return p->tokens[token];
    uint32_t maker = counterpart(p, t->parent), statement = p->statements[t->statement];
    if (maker == RAD_NONE || statement == 0) return RAD_NONE;
    rad__flow_path(p->b.c->vm, maker, path, RAD_FLOW_KEY_MAX);
    size_t used = strlen(path);
    used += (size_t)snprintf(path + used, sizeof path - used, "/%u.%u", statement, t->index);
    if (t->ordinal > 1) used += (size_t)snprintf(path + used, sizeof path - used, "'%u", t->ordinal);
    p->tokens[token] = rad__flow_path_find(p->b.c->vm, path, used);
    return p->tokens[token];
}

static bool same_name(const pair *p, uint32_t a, uint32_t b)
{
    return strcmp(rad__flow_name(&p->a.program->file, a), rad__flow_name(&p->b.program->file, b)) == 0;
}

/* A command without a name has one by its line: it is known by its text. */
static bool same_task(const pair *p, uint32_t a, uint32_t b)
{
    const rad_flow_task *x = &p->a.program->tree->tasks[a], *y = &p->b.program->tree->tasks[b];
    if (x->is_anonymous != y->is_anonymous) return false;
    return x->is_anonymous ? same_name(p, x->command, y->command) : same_name(p, x->name, y->name);
}

static bool same_subject(const pair *p, const rad_flow_op *a, const rad_flow_op *b)
{
    const rad_flow_tree *x = p->a.program->tree, *y = p->b.program->tree;
    switch ((enum rad_flow_code)a->code) {
    case RAD_OP_SET: return same_name(p, x->variables[a->a].name, y->variables[b->a].name);
    case RAD_OP_ENTER:
        return same_name(p, x->regions[p->a.program->regions[a->a].name], y->regions[p->b.program->regions[b->a].name]);
    case RAD_OP_COMPENSATE: return same_name(p, x->regions[a->a], y->regions[b->a]);
    case RAD_OP_CANCEL:
        if (a->a != b->a || a->a == RAD_FLOW_PART_CASE) return a->a == b->a;
        return a->a == RAD_FLOW_PART_TASK ? same_task(p, a->b, b->b) : same_name(p, x->regions[a->b], y->regions[b->b]);
    case RAD_OP_REACH:
    case RAD_OP_EXPIRE:
    case RAD_OP_AWAIT: return same_name(p, x->milestones[a->a], y->milestones[b->a]);
    case RAD_OP_ACQUIRE: return same_name(p, x->locks[a->a], y->locks[b->a]);
    default: return true;
    }
}

static uint32_t task_of(const rad_flow_side *s, uint32_t token, const rad_flow_op *op)
{
    return op->code == RAD_OP_START && op->a != RAD_NONE ? op->a : s->c->vm->tokens[token].task;
}

static bool same_step(const pair *p, const rad_flow_op *a, uint32_t task, uint32_t token)
{
    const rad_flow_op *b = rad__flow_op(p->b.c->vm, token);
    if (a->code != b->code) return false;
    bool is_task = a->code == RAD_OP_START || a->code == RAD_OP_FINISH || a->code == RAD_OP_RETRY;
    return is_task ? same_task(p, task, task_of(&p->b, token, b)) : same_subject(p, a, b);
}

/* ---- What came of a step -------------------------------------------------------------------------------- */

static const rad_event *last_event(const rad_flow_side *s)
{
    const rad_trace *t = &s->c->kernel->trace;
    return rad__trace_at(t, t->count - 1);
}

static bool same_event(const pair *p, const rad_flow_op *a, uint64_t i, const rad_flow_op *b, uint64_t k)
{
    const rad_flow_event *x = &p->a.program->ways[a->a + i].event;
    const rad_flow_event *y = &p->b.program->ways[b->a + k].event;
    if (x->is_timer || y->is_timer) return x->is_timer && y->is_timer && i == k;
    return same_name(p, p->a.program->tree->signals[x->signal], p->b.program->tree->signals[y->signal]);
}

/* Messages of failures name commands that have no name by their line: "task run_44 failed". */
static bool same_text(const char *a, size_t length, const char *b, size_t size)
{
    static const char name[] = "run_";
    size_t i = 0, k = 0, whole = sizeof name - 1;
    while (i < length && k < size && a[i] == b[k]) {
        bool is_name = length - i > whole && size - k > whole && memcmp(a + i, name, whole) == 0 &&
                       memcmp(b + k, name, whole) == 0;
        i += is_name ? whole : 1;
        k += is_name ? whole : 1;
        while (is_name && i < length && a[i] >= '0' && a[i] <= '9') i++;
        while (is_name && k < size && b[k] >= '0' && b[k] <= '9') k++;
    }
    return i == length && k == size;
}

static bool same_value(const pair *p, const rad_event *x, const rad_event *y)
{
    const rad_flow_op *a = &p->a.program->code[x->site], *b = &p->b.program->code[y->site];
    bool valued = x->access & RAD_EVENT_VALUED;
    if (valued != ((y->access & RAD_EVENT_VALUED) != 0)) return false;
    if (!valued) return true;
    if (a->code == RAD_OP_TAKEN) return same_event(p, a, x->value, b, y->value);
    if (a->code != RAD_OP_SET) return x->value == y->value;
    enum rad_flow_type type = p->a.program->tree->variables[a->a].type;
    if (type != p->b.program->tree->variables[b->a].type) return false;
    if (type != RAD_FLOW_TEXT) return x->value == y->value;
    const rad_text *was = &p->a.c->vm->texts[x->value], *is = &p->b.c->vm->texts[y->value];
    return same_text(was->text, was->length, is->text, is->length);
}

static void put_value(const rad_flow_side *s, const rad_event *e, rad_bytes *out)
{
    const rad_flow_op *op = &s->program->code[e->site];
    unsigned long long value = e->value;
    bool valued = e->access & RAD_EVENT_VALUED;
    if (op->code == RAD_OP_SET && valued) {
        enum rad_flow_type type = s->program->tree->variables[op->a].type;
        if (type == RAD_FLOW_TEXT)
            rad__bytes_format(out, "\"%.60s\"", s->c->vm->texts[e->value].text);
        else if (type == RAD_FLOW_BOOL)
            rad__bytes_format(out, "%s", value ? "true" : "false");
        else
            rad__bytes_format(out, "%lld", (long long)value);
    } else if (op->code == RAD_OP_FINISH) {
        rad__bytes_format(out, "%s", value ? "done" : "failed");
    } else if (op->code == RAD_OP_AWAIT) {
        rad__bytes_format(out, "%s", value ? "it holds" : "else");
    } else if (op->code == RAD_OP_START || op->code == RAD_OP_COMPENSATE) {
        rad__bytes_format(out, "attempt %llu", value);
    } else if (valued) {
        rad__bytes_format(out, "%s %llu", op->code == RAD_OP_TAKEN ? "event" : "branch", value + 1);
    } else {
        bool has_else = op->code == RAD_OP_XOR && op->d != RAD_NONE;
        rad__bytes_format(out, "%s", has_else ? "else" : "none");
    }
}

/* Branches of xor and or whose conditions hold, as the last step has found them. */
static void list_branches(const rad_flow_side *s, const rad_event *e, rad_flow_lines *out)
{
    const rad_flow_op *op = &s->program->code[e->site];
    bool any = false;
    for (uint32_t i = 0; i < op->b; i++) {
        rad_bytes text = {0};
        if (!s->c->vm->holds[i]) continue;
        any = true;
        rad__bytes_format(&text, "branch %u (line %u)", i + 1, rad__flow_branch_line(s->outline[op->statement], i));
        rad__flow_lines_add(out, &text);
    }
    rad_bytes text = {0};
    if (!any) rad__bytes_format(&text, op->d != RAD_NONE ? "else" : "no branch");
    if (!any) rad__flow_lines_add(out, &text);
}

static bool same_branches(const pair *p, const rad_event *x, const rad_event *y)
{
    const rad_flow_op *a = &p->a.program->code[x->site], *b = &p->b.program->code[y->site];
    uint32_t most = a->b > b->b ? a->b : b->b;
    for (uint32_t i = 0; i < most; i++)
        if ((i < a->b && p->a.c->vm->holds[i]) != (i < b->b && p->b.c->vm->holds[i])) return false;
    return true;
}

/* Both have done the step. */
static void compare_values(pair *p)
{
    const rad_event *x = last_event(&p->a), *y = last_event(&p->b);
    bool chooses = p->a.program->code[x->site].code == RAD_OP_XOR,
         forks = p->a.program->code[x->site].code == RAD_OP_OR;
    if (same_value(p, x, y) && (!forks || same_branches(p, x, y))) return;
    rad_bytes text = {0};
    rad__bytes_format(&text, "recorded: ");
    put_value(&p->a, x, &text);
    rad__bytes_format(&text, "; now: ");
    put_value(&p->b, y, &text);
    rad__bytes_put(&text, "", 1);
    differ(p, chooses || forks ? AT_BRANCH : AT_STEP, "%s",
           forks || text.failed ? "other branches" : (const char *)text.data);
    rad__bytes_free(&text);
    if (!chooses && !forks) return;
    list_branches(&p->a, x, &p->out->recorded);
    list_branches(&p->b, y, &p->out->offered);
}

static const rad_flow_ask *started(const rad_flow_case *c)
{
    return c->ask_count > 0 && c->asks[c->ask_count - 1].kind == RAD_ASK_START ? &c->asks[c->ask_count - 1] : NULL;
}

static bool is_read(const rad_flow_task *task, uint32_t variable)
{
    for (uint32_t i = 0; i < task->reads.count; i++)
        if (task->reads.items[i] == variable) return true;
    return !task->reads.given;
}

/* A task is given the data it reads: what was recorded of it counts only with the same. */
static void compare_data(pair *p)
{
    const rad_flow_ask *x = started(p->a.c), *y = started(p->b.c);
    if (x == NULL || y == NULL) return;
    const rad_flow_tree *a = p->a.program->tree, *b = p->b.program->tree;
    if (!same_task(p, x->task, y->task)) { /* of compensate, which names none */
        rad_bytes other = {0};
        rad__flow_task_words(&p->b, y->task, &other);
        rad__bytes_put(&other, "", 1);
        differ(p, AT_STEP, "now it undoes by %s", other.failed ? "" : (const char *)other.data);
        rad__bytes_free(&other);
        return;
    }
    for (uint32_t i = 0; i < a->variable_count; i++)
        for (uint32_t k = 0; k < b->variable_count; k++) {
            char n[24], m[24];
            size_t length, size;
            if (!same_name(p, a->variables[i].name, b->variables[k].name) || !is_read(&a->tasks[x->task], i) ||
                !is_read(&b->tasks[y->task], k))
                continue;
            const char *was = rad__flow_case_value(p->a.c, x->data, i, n, &length);
            const char *is = rad__flow_case_value(p->b.c, y->data, k, m, &size);
            if (same_text(was, length, is, size)) continue;
            differ(p, AT_STEP, "it was started with %s = \"%.60s\", now with \"%.60s\"",
                   rad__flow_name(&p->a.program->file, a->variables[i].name), was, is);
            return;
        }
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

static int broken(const rad_flow_case *c, rad_error *error)
{
    return rad__error(error, c->error.code != 0 ? c->error.code : RAD_EBUG, "%s", c->error.text);
}

/* The follower does what the leader has done. */
static int pace_follower(pair *p, rad_error *error)
{
    const rad_flow_op *op = p->op;
    uint32_t token = counterpart(p, p->actor);
    if (token == RAD_NONE || !rad__bitset_has(&p->b.c->kernel->enabled, token) ||
        !same_step(p, op, task_of(&p->a, p->actor, op), token)) {
        differ(p, AT_STEP, "the flow does not offer this");
        return 0;
    }
    const rad_event *e = last_event(&p->a);
    uint32_t statement = rad__flow_op(p->b.c->vm, token)->statement;
    if (p->statements[op->statement] == 0) p->statements[op->statement] = statement;
    p->policy.token = token;
    p->policy.branch = e->access & RAD_EVENT_VALUED ? e->value : UINT32_MAX;
    if (rad__flow_case_run(p->b.c, 1) == RAD_CASE_BROKEN) return broken(p->b.c, error);
    compare_values(p);
    if (p->parted == TOGETHER) compare_data(p);
    return 0;
}

/* One step of both. */
static int pace(pair *p, rad_error *error)
{
    rad_flow_case *a = p->a.c;
    uint64_t before = rad__flow_case_steps(a);
    if (rad__flow_case_run(a, 1) == RAD_CASE_BROKEN) return broken(a, error);
    p->done = rad__flow_case_steps(a) == before;
    if (p->done) return 0;
    p->actor = last_event(&p->a)->actor;
    p->op = &p->a.program->code[last_event(&p->a)->site];
    int code = know_tokens(p) ? pace_follower(p, error) : rad__error_memory(error);
    rad__flow_asks_taken(a);
    rad__flow_asks_taken(p->b.c);
    if (p->parted == TOGETHER) p->out->steps++;
    return code;
}

/* ---- Inputs --------------------------------------------------------------------------------------------- */

/* A command's output and status go where the follower's task wants them, whatever that is called; what a function has
 * written goes by name. False: it has no such variable. */
static bool translate_writes(const pair *p, const rad_flow_input *in, uint32_t a, uint32_t b, rad_flow_write *writes,
                             uint32_t *count)
{
    const rad_flow_tree *x = p->a.program->tree, *y = p->b.program->tree;
    const rad_flow_task *was = &x->tasks[a], *is = &y->tasks[b];
    *count = 0;
    for (uint32_t i = 0; i < in->write_count; i++) {
        uint32_t from = in->writes[i].variable, to = RAD_NONE;
        if (!was->is_call) {
            to = from == was->capture ? is->capture : is->exit;
            if (to == RAD_NONE) continue; /* nobody wants it any more */
        }
        for (uint32_t k = 0; was->is_call && k < y->variable_count; k++)
            if (same_name(p, x->variables[from].name, y->variables[k].name)) to = k;
        if (to == RAD_NONE) return false;
        writes[(*count)++] = (rad_flow_write){to, in->writes[i].text, in->writes[i].length};
    }
    bool has_all =
        was->is_call || !in->ok ||
        ((is->capture == RAD_NONE || was->capture != RAD_NONE) && (is->exit == RAD_NONE || was->exit != RAD_NONE));
    return has_all;
}

/* Gives the follower what the leader has used. */
static int feed_follower(pair *p, const rad_flow_input *in, rad_error *error)
{
    rad_flow_write writes[RAD_FLOW_VARIABLES_MAX];
    char key[RAD_FLOW_KEY_MAX];
    rad_flow_input own = *in;
    rad_error why = {0};
    bool used = false, fits = true;
    bool is_of_effect = in->kind == RAD_INPUT_RESULT || in->kind == RAD_INPUT_TIMER;
    if (!know_tokens(p)) return rad__error_memory(error);
    if (is_of_effect) {
        uint32_t token = token_of_key(p->a.c->vm, in->key);
        uint32_t other = token != RAD_NONE ? counterpart(p, token) : RAD_NONE;
        fits = other != RAD_NONE;
        if (fits) {
            const rad_token *t = &p->b.c->vm->tokens[other];
            rad__flow_case_key(p->b.c, other, t->effect, key);
            own.key = key;
            own.writes = writes;
            if (in->kind == RAD_INPUT_RESULT)
                fits = translate_writes(p, in, p->a.c->vm->tokens[token].task, t->task, writes, &own.write_count);
        }
    }
    int code = fits ? rad__flow_case_feed(p->b.c, &own, &used, &why) : 0;
    if (code == RAD_ENOMEM) return rad__error_memory(error);
    if (fits && code == 0 && (used || !is_of_effect)) return 0;
    differ(p, AT_INPUT, "%s",
           code != 0 ? why.text
           : fits    ? "the flow does not wait for this"
                     : "the flow wants other values from it than were recorded");
    return 0;
}

static int feed(pair *p, rad_error *error)
{
    const rad_flow_input *in = &p->record.input;
    rad_error why = {0};
    bool used;
    int code = rad__flow_case_feed(p->a.c, in, &used, &why);
    bool counts = used || in->kind == RAD_INPUT_SIGNAL || in->kind == RAD_INPUT_CANCEL;
    if (code != 0)
        code = rad__error(error, code, "%s", why.text);
    else if (counts)
        code = feed_follower(p, in, error);
    p->out->inputs += code == 0 && p->parted == TOGETHER;
    return code;
}

/* ---- The whole way -------------------------------------------------------------------------------------- */

static int not_recorded(const pair *p, rad_error *error)
{
    return rad__error(error, RAD_EINPUT,
                      "%s: record %llu does not fit the flow it was recorded with: see 'raddle flow "
                      "replay' without --on",
                      p->journal_name, (unsigned long long)p->record.sequence);
}

/* Up to a step, or as far as they go by themselves. */
static int pace_to(pair *p, uint64_t step, rad_error *error)
{
    int code = 0;
    if (step > p->until_step) step = p->until_step;
    p->done = false;
    while (code == 0 && p->parted == TOGETHER && !p->done && rad__flow_case_steps(p->a.c) < step) code = pace(p, error);
    return code;
}

static void compare_ends(pair *p)
{
    enum rad_flow_state was = p->a.c->vm->result, is = p->b.c->vm->result;
    if (was == is) return;
    if (is == RAD_CASE_RUNNING)
        differ(p, AT_END, "the flow continues");
    else
        differ(p, AT_END, "the flow has ended, %s", rad__flow_state_name(is));
}

/* *ended: the journal has its end. */
static int walk_records(pair *p, bool *ended, rad_error *error)
{
    int got = 0, code = 0;
    *ended = false;
    while (code == 0 && p->parted == TOGETHER && (got = rad__flow_journal_next(&p->journal, &p->record, error)) == 1) {
        const rad_flow_record *r = &p->record;
        if (r->type != RAD_RECORD_INPUT && r->type != RAD_RECORD_END) continue;
        if (r->sequence >= p->until_record || r->step > p->until_step) return 0;
        code = pace_to(p, r->step, error);
        if (code != 0 || p->parted != TOGETHER) break;
        if (rad__flow_case_steps(p->a.c) != r->step || rad__flow_case_digest(p->a.c).low != r->digest.low)
            return not_recorded(p, error);
        *ended = r->type == RAD_RECORD_END;
        if (!*ended) code = feed(p, error);
    }
    if (got < 0) return got;
    if (p->parted != TOGETHER) p->out->record = p->record.sequence;
    return code;
}

static int walk(pair *p, rad_error *error)
{
    bool ended;
    int code = walk_records(p, &ended, error);
    if (code != 0 || p->parted != TOGETHER) return code;
    bool is_limited = p->until_step != UINT64_MAX;
    if (!ended) /* what follows from the last input */
        code = pace_to(p, rad__flow_case_steps(p->a.c) + RAD_REPLAY_BEYOND, error);
    if (code == 0 && p->parted == TOGETHER && !is_limited) compare_ends(p);
    return code;
}

/* ---- Life ----------------------------------------------------------------------------------------------- */

static int open_side(rad_flow_side *s, const rad_flow_program *program, const rad_flow_journal_header *h,
                     rad_policy *own, rad_error *error)
{
    rad_flow_case_options o = {.policy = h->policy,
                               .seed = h->seed,
                               .initial = h->initial,
                               .initial_count = h->initial_count,
                               .own_policy = own};
    s->program = program;
    s->outline = rad__flow_outline(program->tree);
    return s->outline != NULL ? rad__flow_case_open(&s->c, program, &o, error) : rad__error_memory(error);
}

static void pair_close(pair *p)
{
    rad__flow_case_close(p->a.c);
    rad__flow_case_close(p->b.c);
    rad__free(p->a.outline);
    rad__free(p->b.outline);
    rad__free(p->tokens);
    rad__free(p->statements);
    rad__free(p);
}

/* A follower that cannot even begin with the data of the case differs from the beginning. */
static int open_follower(pair *p, const rad_flow_program *follower, rad_error *error)
{
    rad_error why = {0};
    int code = open_side(&p->b, follower, &p->journal.header, &p->policy.base, &why);
    if (code == 0) p->policy.vm = p->b.c->vm;
    if (code != RAD_EINPUT) return code != 0 ? rad__error(error, code, "%s", why.text) : 0;
    differ(p, AT_BEGIN, "%s", why.text);
    return 0;
}

static int pair_open(pair **out, rad_flow_following *into, const rad_flow_program *leader,
                     const rad_flow_program *follower, const char *journal, const void *data, size_t size,
                     rad_error *error)
{
    pair *p = *out = rad__alloc(1, sizeof *p);
    if (p == NULL) return rad__error_memory(error);
    *p = (pair){.out = into,
                .policy.base.class = &FOLLOWER,
                .journal_name = journal,
                .until_step = UINT64_MAX,
                .until_record = UINT64_MAX};
    int code = rad__flow_journal_open(&p->journal, journal, data, size, error);
    if (code == 0 && strcmp(p->journal.header.hash, leader->hash) != 0)
        code = rad__error(error, RAD_EINPUT, "%s: begun with another text of the flow", journal);
    p->statements = rad__alloc(leader->tree->statement_count + 1u, sizeof *p->statements);
    if (code == 0 && p->statements == NULL) code = rad__error_memory(error);
    if (code == 0) code = open_side(&p->a, leader, &p->journal.header, NULL, error);
    return code != 0 ? code : open_follower(p, follower, error);
}

static void list_both(const pair *p, rad_flow_following *out, bool asks)
{
    void (*list)(const rad_flow_side *, rad_flow_lines *) = asks ? rad__flow_list_asks : rad__flow_list_steps;
    list(&p->a, &out->recorded);
    list(&p->b, &out->offered);
}

/* `p` has gone past the place: another pair goes there. */
static int look_back(const pair *p, const void *data, size_t size, rad_error *error)
{
    rad_flow_following again = {0};
    pair *q;
    bool at_input = p->parted == AT_INPUT;
    int code = pair_open(&q, &again, p->a.program, p->b.program, p->journal_name, data, size, error);
    if (code == 0) {
        q->until_step = p->out->steps;
        if (at_input) q->until_record = p->record.sequence;
        code = walk(q, error);
    }
    if (code == 0) list_both(q, p->out, at_input);
    if (q != NULL) pair_close(q);
    rad__flow_following_free(&again);
    return code;
}

int rad__flow_follow(rad_flow_following *out, const rad_flow_program *leader, const rad_flow_program *follower,
                     const char *journal, const void *data, size_t size, rad_error *error)
{
    pair *p;
    *out = (rad_flow_following){0};
    int code = pair_open(&p, out, leader, follower, journal, data, size, error);
    if (code == 0 && p->parted == TOGETHER) code = walk(p, error);
    if (code == 0 && p->parted == AT_END) list_both(p, out, false);
    if (code == 0 && (p->parted == AT_STEP || p->parted == AT_INPUT)) code = look_back(p, data, size, error);
    bool failed = out->step.failed || out->reason.failed || out->recorded.failed || out->offered.failed;
    if (code == 0 && failed) code = rad__error_memory(error);
    if (code == 0) out->fits = p->parted == TOGETHER;
    if (code == 0 && p->b.c != NULL) out->state = rad__flow_case_run(p->b.c, 0);
    if (p != NULL) pair_close(p);
    return code;
}

void rad__flow_following_free(rad_flow_following *f)
{
    rad__flow_lines_free(&f->step);
    rad__flow_lines_free(&f->reason);
    rad__flow_lines_free(&f->recorded);
    rad__flow_lines_free(&f->offered);
}
