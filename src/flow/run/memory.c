/* memory.c — cases in memory, for programs that are the world themselves. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/machine/instance.h"
#include "flow/run/api.h"

#include <stdio.h>
#include <string.h>

struct rad_flow_instance {
    const rad_flow_program *program;
    rad_flow_case *c;
    uint32_t next; /* wish */
};

int rad_flow_open(rad_flow_instance **out, const rad_flow *f, const rad_flow_options *o, rad_error *error)
{
    rad__error_clear(error);
    *out = NULL;
    rad_flow_options given = o != NULL ? *o : rad_flow_defaults();
    rad_flow_instance *i = rad__alloc(1, sizeof *i);
    rad_flow_initial *initial = rad__alloc(given.setting_count, sizeof *initial);
    int code = i != NULL && initial != NULL ? 0 : rad__error_memory(error);
    for (uint32_t k = 0; code == 0 && k < given.setting_count; k++)
        initial[k] = (rad_flow_initial){given.settings[k].name, given.settings[k].text};
    if (code == 0) {
        rad_flow_case_options c = {
            .policy = given.policy, .seed = given.seed, .initial = initial, .initial_count = given.setting_count};
        i->program = f->program;
        code = rad__flow_case_open(&i->c, f->program, &c, error);
    }
    rad__free(initial);
    if (code != 0) {
        rad__free(i);
        return code;
    }
    *out = i;
    return 0;
}

void rad_flow_close(rad_flow_instance *i)
{
    if (i == NULL) return;
    rad__flow_case_close(i->c);
    rad__free(i);
}

enum rad_flow_now rad_flow_go(rad_flow_instance *i, uint64_t steps)
{
    if (i->next == i->c->ask_count) { /* those that the caller has not seen stay */
        rad__flow_asks_taken(i->c);
        i->next = 0;
    }
    _Static_assert((int)RAD_FLOW_NOW_DEADLOCK == (int)RAD_CASE_DEADLOCK, "the same states");
    enum rad_flow_state state = rad__flow_case_run(i->c, steps);
    return state <= RAD_CASE_DEADLOCK ? (enum rad_flow_now)state : RAD_FLOW_NOW_BROKEN;
}

/* ---- Wishes --------------------------------------------------------------------------------------------- */

bool rad_flow_next_wish(rad_flow_instance *i, rad_flow_wish *wish)
{
    if (i->next == i->c->ask_count) return false;
    const rad_flow_ask *ask = &i->c->asks[i->next++];
    const rad_flow_file *file = &i->program->file;
    *wish = (rad_flow_wish){.kind = (enum rad_flow_wish_kind)ask->kind,
                            .task = "",
                            .command = "",
                            .attempt = ask->attempt,
                            .alternative = ask->alternative,
                            .delay_ns = ask->delay_ns,
                            .data = ask->data};
    if (ask->task != RAD_NONE && ask->task < i->program->tree->task_count) {
        const rad_flow_task *task = &i->program->tree->tasks[ask->task];
        wish->task = rad__flow_name(file, task->name);
        wish->command = rad__flow_name(file, task->command);
    }
    _Static_assert((int)RAD_FLOW_WISH_KEY_MAX == (int)RAD_FLOW_KEY_MAX, "one room for keys");
    _Static_assert((int)RAD_FLOW_WISH_NO_TIMER == (int)RAD_ASK_NO_TIMER, "the same kinds");
    rad__flow_case_key(i->c, ask->token, ask->effect, wish->key);
    return true;
}

static uint32_t find_variable(const rad_flow_instance *i, const char *name)
{
    const rad_flow_tree *tree = i->program->tree;
    for (uint32_t k = 0; k < tree->variable_count; k++)
        if (strcmp(rad__flow_name(&i->program->file, tree->variables[k].name), name) == 0) return k;
    return RAD_NONE;
}

static char *value_of(const rad_flow_instance *i, uint32_t data, const char *name)
{
    char number[24];
    size_t length;
    uint32_t variable = find_variable(i, name);
    if (variable == RAD_NONE) return NULL;
    const char *text = rad__flow_case_value(i->c, data, variable, number, &length);
    char *copy = rad__alloc(length + 1, 1);
    if (copy != NULL && length > 0) memcpy(copy, text, length);
    return copy;
}

char *rad_flow_wish_value(const rad_flow_instance *i, const rad_flow_wish *wish, const char *name)
{
    return value_of(i, wish->data, name);
}

char *rad_flow_instance_value(const rad_flow_instance *i, const char *name)
{
    return value_of(i, RAD_NONE, name);
}

/* ---- Answers -------------------------------------------------------------------------------------------- */

static int give(rad_flow_instance *i, const rad_flow_input *input, rad_error *error)
{
    bool used;
    return rad__flow_case_feed(i->c, input, &used, error);
}

int rad_flow_give_result(rad_flow_instance *i, const char *key, uint32_t attempt, bool ok,
                         const rad_flow_setting *writes, uint32_t write_count, const char *why, rad_error *error)
{
    rad_flow_write written[RAD_FLOW_VARIABLES_MAX];
    rad__error_clear(error);
    if (write_count > RAD_FLOW_VARIABLES_MAX)
        return rad__error(error, RAD_EINPUT, "more values than a flow has variables");
    for (uint32_t k = 0; k < write_count; k++) {
        uint32_t variable = find_variable(i, writes[k].name);
        if (variable == RAD_NONE)
            return rad__error(error, RAD_EINPUT, "the flow has no data called %s", writes[k].name);
        written[k] = (rad_flow_write){variable, writes[k].text, strlen(writes[k].text)};
    }
    rad_flow_input input = {.kind = RAD_INPUT_RESULT,
                            .key = key,
                            .attempt = attempt,
                            .ok = ok,
                            .why = why,
                            .writes = written,
                            .write_count = ok ? write_count : 0};
    return give(i, &input, error);
}

int rad_flow_give_timer(rad_flow_instance *i, const char *key, uint32_t attempt, uint32_t alternative, rad_error *error)
{
    rad_flow_input input = {.kind = RAD_INPUT_TIMER, .key = key, .attempt = attempt, .alternative = alternative};
    rad__error_clear(error);
    return give(i, &input, error);
}

int rad_flow_give_signal(rad_flow_instance *i, const char *name, const char *text, rad_error *error)
{
    rad_flow_input input = {
        .kind = RAD_INPUT_SIGNAL, .name = name, .text = text, .length = text != NULL ? strlen(text) : 0};
    rad__error_clear(error);
    return give(i, &input, error);
}

int rad_flow_give_cancel(rad_flow_instance *i, enum rad_flow_part part, const char *name, rad_error *error)
{
    RAD_ASSERT(part <= RAD_FLOW_PART_CASE);
    rad_flow_input input = {.kind = RAD_INPUT_CANCEL, .scope = part, .name = name};
    rad__error_clear(error);
    return give(i, &input, error);
}

/* ---- Looking -------------------------------------------------------------------------------------------- */

uint64_t rad_flow_instance_steps(const rad_flow_instance *i)
{
    return rad__flow_case_steps(i->c);
}

void rad_flow_instance_digest(const rad_flow_instance *i, char digest[33])
{
    rad__digest_text(rad__flow_case_digest(i->c), digest);
}

const char *rad_flow_instance_failure(const rad_flow_instance *i)
{
    return i->c->error.code != 0 ? i->c->error.text : rad__flow_case_failure(i->c);
}
