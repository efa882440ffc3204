/* result.c — what became of an effect, as the case takes it: ok with values, or not, with a reason. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/parts.h"
#include "os/process.h"

#include <stdio.h>
#include <string.h>

/* ---- Values --------------------------------------------------------------------------------------------- */

static bool is_number(const char *text, size_t length)
{
    size_t i = length > 0 && text[0] == '-';
    int64_t value = 0;
    bool negative = i == 1;
    if (i == length) return false;
    for (; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value)) return false;
        int digit = text[i] - '0';
        if (__builtin_add_overflow(value, negative ? -digit : digit, &value)) return false;
    }
    return true;
}

bool rad__flow_fits(enum rad_flow_type type, const char *text, size_t length)
{
    switch (type) {
    case RAD_FLOW_INT: return is_number(text, length);
    case RAD_FLOW_BOOL:
        return (length == 4 && memcmp(text, "true", 4) == 0) || (length == 5 && memcmp(text, "false", 5) == 0);
    case RAD_FLOW_TEXT: return memchr(text, 0, length) == NULL; /* it could not be exported */
    case RAD_FLOW_TYPES: break;
    }
    return false;
}

static const char *type_words(enum rad_flow_type type)
{
    return type == RAD_FLOW_INT    ? "no number"
           : type == RAD_FLOW_BOOL ? "neither true nor false"
                                   : "no text: it has a zero byte";
}

/* ---- Receipts ------------------------------------------------------------------------------------------- */

/* Why it did not work; false: it did. */
static bool has_failed(const rad_flow_task *task, const rad_flow_receipt *receipt, char why[200])
{
    uint32_t flags = receipt->flags;
    why[0] = 0;
    if (flags & RAD_RECEIPT_NOT_STARTED)
        snprintf(why, 200, "no process could be started for it");
    else if (flags & RAD_RECEIPT_TIMED_OUT)
        snprintf(why, 200, "its time was up after %llu ms", (unsigned long long)(task->timeout_ns / 1000000));
    else if (flags & RAD_RECEIPT_CANCELLED)
        snprintf(why, 200, "it was stopped from outside");
    else if (receipt->signal != 0)
        snprintf(why, 200, "killed by %s", rad__os_signal_name(receipt->signal));
    else if (receipt->status != 0 && task->exit == RAD_NONE)
        snprintf(why, 200, "exit status %d", receipt->status);
    else if (task->capture != RAD_NONE && (flags & RAD_RECEIPT_TOO_LONG))
        snprintf(why, 200, "it printed more than %d bytes", RAD_FLOW_OUTPUT_MAX);
    return why[0] != 0;
}

static bool capture(const rad_flow_runner *r, const rad_flow_task *task, const rad_flow_receipt *receipt,
                    rad_flow_write *w, char why[200])
{
    enum rad_flow_type type = r->program->tree->variables[task->capture].type;
    *w = (rad_flow_write){task->capture, receipt->output, receipt->output_size};
    if (w->length > 0 && w->text[w->length - 1] == '\n') w->length--;
    if (rad__flow_fits(type, w->text, w->length)) return true;
    int shown = w->length < 60 ? (int)w->length : 60;
    snprintf(why, 200, "its output is %s: \"%.*s\"", type_words(type), shown, w->text);
    return false;
}

int rad__flow_give_receipt(rad_flow_runner *r, rad_flow_effect *e, const rad_flow_receipt *receipt, rad_error *error)
{
    /* A clock may have been set back in between. */
    uint64_t took_ns = receipt->ended_ns > receipt->began_ns ? receipt->ended_ns - receipt->began_ns : 0;
    const rad_flow_task *task = rad__flow_task_of(r, e);
    rad_flow_write writes[2];
    char why[200], status[24], *text = NULL;
    rad_flow_input input = {.kind = RAD_INPUT_RESULT, .key = e->key, .attempt = e->attempt};
    input.ok = !has_failed(task, receipt, why);
    input.writes = writes;
    if (input.ok && task->capture != RAD_NONE) {
        input.ok = capture(r, task, receipt, &writes[0], why);
        input.write_count = 1;
        /* The case wants texts that end. */
        text = rad__alloc(writes[0].length + 1, 1);
        if (text == NULL) return rad__error_memory(error);
        if (writes[0].length > 0) memcpy(text, writes[0].text, writes[0].length);
        writes[0].text = text;
    }
    if (input.ok && task->exit != RAD_NONE) {
        int length = snprintf(status, sizeof status, "%d", receipt->status);
        writes[input.write_count++] = (rad_flow_write){task->exit, status, (size_t)length};
    }
    if (!input.ok) input.write_count = 0;
    if (!input.ok) input.why = why;
    e->state = RAD_EFFECT_OVER;
    int code = rad__flow_runner_feed(r, &input, "", error);
    rad__free(text);
    if (code == 0) rad__flow_tell(r, input.ok ? RAD_FLOW_TASK_DONE : RAD_FLOW_TASK_FAILED, e, why, took_ns);
    return code;
}

/* ---- Functions ------------------------------------------------------------------------------------------ */

struct rad_flow_call {
    rad_flow_runner *r;
    rad_flow_effect *e;
    char id[RAD_FLOW_KEY_MAX + 80];
    rad_flow_write writes[RAD_FLOW_VARIABLES_MAX];
    uint32_t write_count;
};

const char *rad_flow_call_id(const rad_flow_call *call)
{
    return call->id;
}

uint32_t rad_flow_call_attempt(const rad_flow_call *call)
{
    return call->e->attempt;
}

const char *rad_flow_call_value(const rad_flow_call *call, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < call->e->value_count; i++) {
        const char *value = call->e->values[i];
        if (strncmp(value, name, length) == 0 && value[length] == '=') return value + length + 1;
    }
    return NULL;
}

static uint32_t find_written(const rad_flow_call *call, const char *name)
{
    const rad_flow_task *task = rad__flow_task_of(call->r, call->e);
    const rad_flow_tree *tree = call->r->program->tree;
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        if (strcmp(rad__flow_name(&call->r->program->file, tree->variables[i].name), name) != 0) continue;
        bool written = !task->writes.given && !tree->variables[i].is_local;
        for (uint32_t k = 0; k < task->writes.count; k++) written |= task->writes.items[k] == i;
        if (written) return i;
    }
    return RAD_NONE;
}

int rad_flow_call_set(rad_flow_call *call, const char *name, const char *text, rad_error *error)
{
    rad__error_clear(error);
    uint32_t variable = find_written(call, name), at = 0;
    if (variable == RAD_NONE) return rad__error(error, RAD_EINPUT, "the task does not write %s", name);
    enum rad_flow_type type = call->r->program->tree->variables[variable].type;
    if (!rad__flow_fits(type, text, strlen(text)))
        return rad__error(error, RAD_EINPUT, "%s: \"%.60s\" is %s", name, text, type_words(type));
    char *copy = rad__copy_text(text);
    if (copy == NULL) return rad__error_memory(error);
    while (at < call->write_count && call->writes[at].variable != variable) at++;
    if (at == call->write_count)
        call->write_count++;
    else
        rad__free((char *)(uintptr_t)call->writes[at].text); /* tidy: address ok: a copy of ours */
    call->writes[at] = (rad_flow_write){variable, copy, strlen(copy)};
    return 0;
}

static const rad_flow_named_function *find_function(const rad_flow_runner *r, const char *name)
{
    for (uint32_t i = 0; i < r->options->function_count; i++)
        if (strcmp(r->options->functions[i].name, name) == 0) return &r->options->functions[i];
    return NULL;
}

int rad__flow_give_call(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    const char *name = rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->command);
    const rad_flow_named_function *f = find_function(r, name);
    rad_error why = {0};
    rad_flow_call *call = rad__alloc(1, sizeof *call);
    if (call == NULL) return rad__error_memory(error);
    call->r = r;
    call->e = e;
    snprintf(call->id, sizeof call->id, "%s:%s", r->case_id, e->key);
    rad_flow_input input = {.kind = RAD_INPUT_RESULT, .key = e->key, .attempt = e->attempt};
    input.ok = f->function(f->context, call, &why) == 0;
    if (input.ok) {
        input.writes = call->writes;
        input.write_count = call->write_count;
    } else {
        input.why = why.text[0] != 0 ? why.text : "the function says so";
    }
    e->state = RAD_EFFECT_OVER;
    int code = rad__flow_runner_feed(r, &input, "", error);
    for (uint32_t i = 0; i < call->write_count; i++)
        rad__free((char *)(uintptr_t)call->writes[i].text); /* tidy: address ok: a copy of ours */
    rad__free(call);
    if (code == 0) rad__flow_tell(r, input.ok ? RAD_FLOW_TASK_DONE : RAD_FLOW_TASK_FAILED, e, why.text, 0);
    return code;
}
