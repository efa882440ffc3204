/* live.c — see live.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live.h"

#include "base/alloc.h"
#include "flow/machine/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 100000 };

static const char *task_name(const flow_live *l, uint32_t task)
{
    return rad__flow_name(&l->program->file, l->program->tree->tasks[task].name);
}

static uint32_t variable_of(const flow_live *l, const char *name)
{
    const rad_flow_tree *tree = l->program->tree;
    uint32_t i = 0;
    while (i < tree->variable_count && strcmp(rad__flow_name(&l->program->file, tree->variables[i].name), name) != 0)
        i++;
    if (i == tree->variable_count) fail_msg("there is no variable %s", name);
    return i;
}

static int note_start(const flow_live *l, const rad_flow_ask *a, const char *key, char *line, size_t room)
{
    const char *name = task_name(l, a->task);
    char number[24];
    size_t size;
    if (l->show == NULL) return snprintf(line, room, "start %s %s %u; ", key, name, a->attempt);
    const char *value = rad__flow_case_value(l->c, a->data, variable_of(l, l->show), number, &size);
    return snprintf(line, room, "start %s %s %u %s=%s; ", key, name, a->attempt, l->show, value);
}

static void note_ask(flow_live *l, const rad_flow_ask *a)
{
    char key[RAD_FLOW_KEY_MAX], line[RAD_FLOW_KEY_MAX + 200];
    rad__flow_case_key(l->c, a->token, a->effect, key);
    int length = 0;
    switch (a->kind) {
    case RAD_ASK_START: length = note_start(l, a, key, line, sizeof line); break;
    case RAD_ASK_STOP: length = snprintf(line, sizeof line, "stop %s; ", key); break;
    case RAD_ASK_TIMER:
        length = snprintf(line, sizeof line, "timer %s.%u %llus; ", key, a->alternative,
                          (unsigned long long)(a->delay_ns / 1000000000));
        break;
    default: length = snprintf(line, sizeof line, "forget %s.%u; ", key, a->alternative); break;
    }
    if (!RAD_GROW(&l->log, &l->capacity, l->length + (uint32_t)length + 1)) abort();
    memcpy(l->log + l->length, line, (size_t)length + 1);
    l->length += (uint32_t)length;
}

enum rad_flow_state flow_live_go_on(flow_live *l)
{
    enum rad_flow_state state = rad__flow_case_run(l->c, STEPS_MOST);
    const char *what;
    if (!rad__flow_vm_valid(l->c->vm, &what)) fail_msg("not sound: %s", what);
    for (uint32_t i = 0; i < l->c->ask_count; i++) note_ask(l, &l->c->asks[i]);
    rad__flow_asks_taken(l->c);
    return state;
}

flow_live *flow_live_open(const char *text)
{
    return flow_live_open_showing(text, NULL);
}

flow_live *flow_live_open_showing(const char *text, const char *show)
{
    rad_error error = {.code = 0};
    flow_live *l = rad__alloc(1, sizeof *l);
    if (l == NULL || !RAD_GROW(&l->log, &l->capacity, 1)) abort();
    l->show = show;
    if (rad__flow_program_read(&l->program, "test", text, strlen(text), NULL, &error) != 0) fail_msg("%s", error.text);
    rad_flow_case_options o = {.world = RAD_WORLD_LIVE};
    if (rad__flow_case_open(&l->c, l->program, &o, &error) != 0) fail_msg("%s", error.text);
    flow_live_go_on(l);
    return l;
}

void flow_live_close(flow_live *l)
{
    rad__flow_case_close(l->c);
    rad__flow_program_free(l->program);
    rad__free(l->log);
    rad__free(l);
}

/* The token that has been in the task for longest; its effect's number in the log tells. NULL name: any task. */
static uint32_t under_way(const flow_live *l, const char *task, const char *behind, const char **at)
{
    const rad_flow_vm *vm = l->c->vm;
    uint32_t best = RAD_NONE;
    *at = NULL;
    for (uint32_t i = 0; i < vm->token_count; i++) {
        const rad_token *t = &vm->tokens[i];
        if (!t->alive || t->wait != RAD_TOKEN_FOR_RESULT) continue;
        if (task != NULL && strcmp(task_name(l, t->task), task) != 0) continue;
        char key[RAD_FLOW_KEY_MAX], line[RAD_FLOW_KEY_MAX + 100];
        rad__flow_case_key(l->c, i, t->effect, key);
        snprintf(line, sizeof line, "start %s %s %u%c", key, task_name(l, t->task), t->attempt,
                 l->show != NULL ? ' ' : ';');
        const char *here = strstr(l->log, line);
        if (here == NULL) fail_msg("%s is under way and was not asked for", key);
        if ((behind != NULL && here <= behind) || (*at != NULL && here > *at)) continue;
        *at = here;
        best = i;
    }
    return best;
}

const char *flow_live_under_way(flow_live *l)
{
    static char text[1000];
    size_t used = 0;
    const char *behind = NULL, *at;
    text[0] = 0;
    for (;;) {
        uint32_t token = under_way(l, NULL, behind, &at);
        if (token == RAD_NONE) return text;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
                                 task_name(l, l->c->vm->tokens[token].task));
        behind = at;
    }
}

static bool give(flow_live *l, const rad_flow_input *in)
{
    rad_error error = {.code = 0};
    bool used;
    if (rad__flow_case_feed(l->c, in, &used, &error) != 0) fail_msg("%s", error.text);
    return used;
}

bool flow_live_result(flow_live *l, const char *key, uint32_t attempt, bool ok)
{
    rad_flow_input in = {.kind = RAD_INPUT_RESULT, .key = key, .attempt = attempt, .ok = ok};
    return give(l, &in);
}

static enum rad_flow_state answer(flow_live *l, const char *task, rad_flow_input in)
{
    const char *at;
    uint32_t token = under_way(l, task, NULL, &at);
    if (token == RAD_NONE) fail_msg("task %s is not under way", task);
    char key[RAD_FLOW_KEY_MAX];
    const rad_token *t = &l->c->vm->tokens[token];
    rad__flow_case_key(l->c, token, t->effect, key);
    in.kind = RAD_INPUT_RESULT;
    in.key = key;
    in.attempt = t->attempt;
    if (!give(l, &in)) fail_msg("the result of %s is not taken", task);
    return flow_live_go_on(l);
}

enum rad_flow_state flow_live_ok(flow_live *l, const char *task)
{
    return answer(l, task, (rad_flow_input){.ok = true});
}

enum rad_flow_state flow_live_fail(flow_live *l, const char *task)
{
    return answer(l, task, (rad_flow_input){.ok = false});
}

enum rad_flow_state flow_live_wrote(flow_live *l, const char *task, const char *variable, const char *value)
{
    rad_flow_write write = {variable_of(l, variable), value, strlen(value)};
    return answer(l, task, (rad_flow_input){.ok = true, .writes = &write, .write_count = 1});
}

static enum rad_flow_state feed(flow_live *l, const rad_flow_input *in)
{
    give(l, in);
    return flow_live_go_on(l);
}

enum rad_flow_state flow_live_signal(flow_live *l, const char *name, const char *payload)
{
    rad_flow_input in = {
        .kind = RAD_INPUT_SIGNAL, .name = name, .text = payload, .length = payload != NULL ? strlen(payload) : 0};
    return feed(l, &in);
}

enum rad_flow_state flow_live_cancel(flow_live *l, enum rad_flow_part scope, const char *name)
{
    rad_flow_input in = {.kind = RAD_INPUT_CANCEL, .scope = scope, .name = name};
    return feed(l, &in);
}

enum rad_flow_state flow_live_ring(flow_live *l, const char *key, uint32_t alternative)
{
    uint32_t token = rad__flow_path_find(l->c->vm, key, strcspn(key, "#"));
    rad_flow_input in = {.kind = RAD_INPUT_TIMER,
                         .key = key,
                         .alternative = alternative,
                         .attempt = token != RAD_NONE ? l->c->vm->tokens[token].attempt : 0};
    return feed(l, &in);
}

const char *flow_live_value(flow_live *l, const char *variable)
{
    static char number[24];
    size_t length;
    return rad__flow_case_value(l->c, RAD_NONE, variable_of(l, variable), number, &length);
}

uint32_t flow_live_count(const flow_live *l, const char *words)
{
    uint32_t count = 0;
    for (const char *at = strstr(l->log, words); at != NULL; at = strstr(at + 1, words)) count++;
    return count;
}
