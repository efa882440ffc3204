/* effects.c — effects from the moment the case asks for them until somebody knows how they ended. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/parts.h"
#include "os/durable.h"

#include <stdio.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------------------ */

rad_flow_effect *rad__flow_effect_of(rad_flow_runner *r, const char *key)
{
    uint64_t hash = rad__digest_of(key, strlen(key)).low;
    for (;; hash++) { /* of two keys with one hash the second has the next */
        uint32_t at = rad__map64_find(&r->by_key, hash);
        if (at == RAD_NONE) break;
        if (strcmp(r->effects[at].key, key) == 0) return &r->effects[at];
    }
    char *copy = rad__copy_text(key);
    if (copy == NULL || !RAD_GROW(&r->effects, &r->effect_capacity, r->effect_count + 1) ||
        !rad__map64_add(&r->by_key, hash, r->effect_count)) {
        rad__free(copy);
        return NULL;
    }
    rad_flow_effect *e = &r->effects[r->effect_count++];
    *e = (rad_flow_effect){.key = copy, .state = RAD_EFFECT_OVER};
    return e;
}

static void free_values(rad_flow_effect *e)
{
    for (uint32_t i = 0; i < e->value_count; i++) rad__free(e->values[i]);
    rad__free(e->values);
    e->values = NULL;
    e->value_count = 0;
}

void rad__flow_effects_free(rad_flow_runner *r)
{
    for (uint32_t i = 0; i < r->effect_count; i++) {
        free_values(&r->effects[i]);
        rad__free(r->effects[i].key);
    }
    rad__free(r->effects);
    rad__free(r->queue);
    rad__free(r->active);
    rad__map64_free(&r->by_key);
}

uint32_t rad__flow_count(const rad_flow_runner *r, enum rad_flow_effect_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->active_count; i++) count += r->effects[r->active[i]].state == state;
    return count;
}

static int activate(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    if (!RAD_GROW(&r->active, &r->active_capacity, r->active_count + 1)) return rad__error_memory(error);
    r->active[r->active_count++] = (uint32_t)(e - r->effects);
    return 0;
}

static void drop_over(rad_flow_runner *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->active_count; i++) {
        rad_flow_effect *e = &r->effects[r->active[i]];
        if (e->state == RAD_EFFECT_OVER)
            free_values(e);
        else
            r->active[kept++] = r->active[i];
    }
    r->active_count = kept;
}

/* ---- Asks ----------------------------------------------------------------------------------------------- */

static bool is_read(const rad_flow_task *task, uint32_t variable)
{
    if (!task->reads.given) return true;
    for (uint32_t i = 0; i < task->reads.count; i++)
        if (task->reads.items[i] == variable) return true;
    return false;
}

static char *value_text(const rad_flow_runner *r, uint32_t data, uint32_t variable)
{
    char number[24];
    size_t length = 0;
    const char *text = rad__flow_case_value(r->c, data, variable, number, &length);
    const char *name = rad__flow_name(&r->program->file, r->program->tree->variables[variable].name);
    size_t before = strlen(name) + 1;
    char *value = rad__alloc(before + length + 1, 1);
    if (value == NULL) return NULL;
    snprintf(value, before + 1, "%s=", name);
    if (length > 0) memcpy(value + before, text, length);
    return value;
}

/* The data are the token's as long as it has not gone on: they are taken down now. */
static int keep_values(rad_flow_runner *r, rad_flow_effect *e, uint32_t data, rad_error *error)
{
    const rad_flow_tree *tree = r->program->tree;
    free_values(e);
    e->values = rad__alloc(tree->variable_count + 1, sizeof *e->values);
    if (e->values == NULL) return rad__error_memory(error);
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        if (!is_read(&tree->tasks[e->task], i)) continue;
        char *value = value_text(r, data, i);
        if (value == NULL) return rad__error_memory(error);
        e->values[e->value_count++] = value;
    }
    return 0;
}

static int adopt(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    e->state = RAD_EFFECT_RUNNING;
    e->unsure = true;
    return activate(r, e, error);
}

static bool is_begun(const rad_flow_runner *r, const rad_flow_effect *e)
{
    return e->begun_attempt == e->attempt && !rad__flow_task_of(r, e)->is_call;
}

static int take_start(rad_flow_runner *r, rad_flow_effect *e, const rad_flow_ask *ask, rad_error *error)
{
    e->task = ask->task;
    e->attempt = ask->attempt;
    e->state = RAD_EFFECT_ASKED;
    rad__flow_case_instance(r->c, ask->token, ask->data, e->instance);
    int code = keep_values(r, e, ask->data, error);
    if (code != 0) return code;
    if (!r->replaying && is_begun(r, e)) return adopt(r, e, error);
    uint32_t end = r->queue_first + r->queue_count;
    if (end == r->queue_capacity && r->queue_first > 0) {
        memmove(r->queue, r->queue + r->queue_first, r->queue_count * sizeof *r->queue);
        r->queue_first = 0;
        end = r->queue_count;
    }
    if (!RAD_GROW(&r->queue, &r->queue_capacity, end + 1)) return rad__error_memory(error);
    r->queue[end] = (uint32_t)(e - r->effects);
    r->queue_count++;
    return 0;
}

static int take_stop(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    if (e->state == RAD_EFFECT_OVER) return 0;
    bool waits = e->state == RAD_EFFECT_ASKED;
    e->state = RAD_EFFECT_STOPPING;
    if (!waits) return 0;
    if (is_begun(r, e)) /* in a replay: whether it has ended is seen later */
        return activate(r, e, error);
    e->state = RAD_EFFECT_OVER;
    free_values(e);
    return 0;
}

static int take_ask(rad_flow_runner *r, const rad_flow_ask *ask, rad_error *error)
{
    char key[RAD_FLOW_KEY_MAX];
    rad__flow_case_key(r->c, ask->token, ask->effect, key);
    if (ask->kind == RAD_ASK_TIMER) return rad__flow_timer_add(r, key, ask, error);
    if (ask->kind == RAD_ASK_NO_TIMER) {
        rad__flow_timers_drop(&r->timers, key, ask->alternative);
        return 0;
    }
    rad_flow_effect *e = rad__flow_effect_of(r, key);
    if (e == NULL) return rad__error_memory(error);
    return ask->kind == RAD_ASK_START ? take_start(r, e, ask, error) : take_stop(r, e, error);
}

int rad__flow_take_asks(rad_flow_runner *r, rad_error *error)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < r->c->ask_count; i++) code = take_ask(r, &r->c->asks[i], error);
    if (code == 0) rad__flow_asks_taken(r->c);
    return code;
}

int rad__flow_adopt(rad_flow_runner *r, rad_error *error)
{
    uint32_t count = r->queue_count, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = r->queue[r->queue_first + i];
        rad_flow_effect *e = &r->effects[at];
        if (e->state != RAD_EFFECT_ASKED) continue;
        int code = is_begun(r, e) ? adopt(r, e, error) : 0;
        if (code != 0) return code;
        if (e->state == RAD_EFFECT_ASKED) r->queue[r->queue_first + kept++] = at;
    }
    r->queue_count = kept;
    return 0;
}

/* ---- Starting ------------------------------------------------------------------------------------------- */

static bool has_name(char *const *values, const char *entry)
{
    size_t length = strcspn(entry, "=") + 1;
    for (; *values != NULL; values++)
        if (strncmp(*values, entry, length) == 0) return true;
    return false;
}

/* What is ours stands first, and what has the same name elsewhere is left out. */
static bool make_environment(const rad_flow_runner *r, const rad_flow_effect *e, rad_flow_shim *s)
{
    char text[RAD_FLOW_KEY_MAX + 120];
    uint32_t count = 0, more = 0;
    char *const *others = r->options->environment;
    while (others != NULL && others[more] != NULL) more++;
    s->environment = rad__alloc(e->value_count + 4 + (size_t)more, sizeof *s->environment);
    if (s->environment == NULL) return false;
    snprintf(text, sizeof text, "RADDLE_EFFECT_ID=%s:%s", r->case_id, e->key);
    s->environment[count++] = rad__copy_text(text);
    snprintf(text, sizeof text, "RADDLE_ATTEMPT=%lu", (unsigned long)e->attempt);
    if (s->environment[count - 1] != NULL) s->environment[count++] = rad__copy_text(text);
    snprintf(text, sizeof text, "RADDLE_CASE=%s", r->case_id);
    if (s->environment[count - 1] != NULL) s->environment[count++] = rad__copy_text(text);
    for (uint32_t i = 0; s->environment[count - 1] != NULL && i < e->value_count; i++)
        s->environment[count++] = rad__copy_text(e->values[i]);
    for (uint32_t i = 0; s->environment[count - 1] != NULL && i < more; i++)
        if (!has_name(s->environment, others[i])) s->environment[count++] = rad__copy_text(others[i]);
    return s->environment[count - 1] != NULL;
}

/* The task's folder, below that of the case. */
static bool make_folder_name(const rad_flow_runner *r, const rad_flow_task *task, rad_flow_shim *s)
{
    const char *own = task->dir != RAD_NONE ? rad__flow_name(&r->program->file, task->dir) : NULL;
    const char *above = own == NULL || own[0] != '/' ? r->where : NULL;
    if (own == NULL && above == NULL) return true;
    if (own == NULL || above == NULL) {
        s->dir = rad__copy_text(own != NULL ? own : above);
        return s->dir != NULL;
    }
    size_t size = strlen(above) + strlen(own) + 2;
    s->dir = rad__alloc(size, 1);
    if (s->dir != NULL) snprintf(s->dir, size, "%s/%s", above, own);
    return s->dir != NULL;
}

/* A link in the place of what a command will print would lead somewhere else: it is told, not replaced. */
static int refuse_links(const rad_flow_runner *r, const char *id, rad_error *error)
{
    static const char *const ends[] = {"out", "log"};
    char name[RAD_FLOW_FILE_MAX];
    for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        rad__flow_effect_file(name, id, ends[i]);
        int there = r->host->exists(r->host->context, name, error);
        if (there < 0) return there;
    }
    return 0;
}

int rad__flow_launch(rad_flow_runner *r, rad_flow_effect *e, const char *id, const char *command, rad_error *error)
{
    const rad_flow_task *task = rad__flow_task_of(r, e);
    rad_flow_shim *s = rad__flow_shim_new();
    if (s == NULL) return rad__error_memory(error);
    s->id = rad__copy_text(id);
    s->key = rad__copy_text(e->key);
    s->command = rad__copy_text(command);
    s->attempt = e->attempt;
    s->run = e->begun_run;
    s->timeout_ns = task->timeout_ns;
    s->keeps_output = task->capture != RAD_NONE;
    int code = refuse_links(r, id, error);
    if (code == 0 && (s->id == NULL || s->key == NULL || s->command == NULL || !make_folder_name(r, task, s) ||
                      !make_environment(r, e, s)))
        code = rad__error_memory(error);
    if (code == 0) code = rad__flow_runner_check(r, error); /* last: nobody is faster than that */
    if (code != 0) {
        rad__flow_shim_free(s);
        return code;
    }
    return r->host->launch(r->host->context, s, &e->pid, error);
}

static int launch(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX];
    rad__flow_effect_id(id, e->key, e->begun_attempt, e->begun_run);
    const char *command = rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->command);
    int code = rad__flow_launch(r, e, id, command, error);
    if (code == 0) rad__flow_tell(r, RAD_FLOW_TASK_STARTED, e, "", 0);
    return code;
}

/* Nothing has happened since the sync, which has looked at the journal, or another function has run meanwhile. */
static int call(rad_flow_runner *r, rad_flow_effect *e, bool is_first, rad_error *error)
{
    int code = is_first ? 0 : rad__flow_runner_check(r, error);
    if (code != 0) return code;
    rad__flow_tell(r, RAD_FLOW_TASK_STARTED, e, "", 0);
    return rad__flow_give_call(r, e, error);
}

/* The record that says it may have begun. */
static int write_started(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    rad_flow_record record = {
        .type = RAD_RECORD_STARTED, .key = e->key, .attempt = e->attempt, .run = 1, .task = e->task};
    int code = rad__flow_runner_put(r, &record, error);
    e->begun_attempt = e->attempt;
    e->begun_run = 1;
    e->state = RAD_EFFECT_RUNNING;
    e->unsure = false;
    return code != 0 ? code : activate(r, e, error);
}

static bool pop(rad_flow_runner *r, uint32_t *at)
{
    while (r->queue_count > 0) {
        *at = r->queue[r->queue_first++];
        if (--r->queue_count == 0) r->queue_first = 0;
        if (r->effects[*at].state == RAD_EFFECT_ASKED) return true;
    }
    return false;
}

int rad__flow_start_some(rad_flow_runner *r, bool *any, rad_error *error)
{
    uint32_t busy = rad__flow_count(r, RAD_EFFECT_RUNNING) + rad__flow_count(r, RAD_EFFECT_PROBED) +
                    rad__flow_count(r, RAD_EFFECT_STOPPING);
    uint32_t first = r->active_count, at;
    int code = 0;
    if (rad__flow_count(r, RAD_EFFECT_DOUBTED) > 0) return 0; /* first that; unless nobody wants it any more */
    while (code == 0 && busy < r->options->given.jobs && pop(r, &at)) {
        code = write_started(r, &r->effects[at], error);
        busy++;
    }
    if (code != 0 || r->active_count == first) return code;
    *any = true;
    code = rad__flow_runner_sync(r, error); /* one for all of them */
    for (uint32_t i = first; code == 0 && i < r->active_count; i++) {
        rad_flow_effect *e = &r->effects[r->active[i]];
        if (rad__flow_task_of(r, e)->is_call)
            code = call(r, e, i == first, error);
        else
            code = launch(r, e, error);
    }
    return code;
}

/* ---- Looking -------------------------------------------------------------------------------------------- */

/* 1: there is one, and the case has it. */
static int take_receipt(rad_flow_runner *r, rad_flow_effect *e, const char *id, rad_error *error)
{
    char name[RAD_FLOW_FILE_MAX], *data;
    size_t size;
    rad_flow_receipt receipt;
    rad__flow_effect_file(name, id, "receipt");
    int got = r->host->read(r->host->context, name, &data, &size, error);
    if (got != 1) return got;
    int code = rad__flow_receipt_read(&receipt, name, data, size, error);
    if (code == 0 &&
        (strcmp(receipt.key, e->key) != 0 || receipt.attempt != e->begun_attempt || receipt.run != e->begun_run))
        code = rad__error(error, RAD_EINPUT, "%s: the receipt of another effect, %s", name, receipt.key);
    if (code == 0) code = rad__flow_give_receipt(r, e, &receipt, error);
    rad__free(data);
    return code != 0 ? code : 1;
}

/* Nobody has begun it, and whoever was to do it is gone. */
static int look_at_unbegun(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    if (!e->unsure)
        return rad__error(error, RAD_EIO,
                          "task %s (%s): the process that was to run it ended before it began: is "
                          "the disk full, or the directory read-only?",
                          rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->name), e->key);
    e->unsure = false;
    return launch(r, e, error);
}

static int look_at_running(rad_flow_runner *r, rad_flow_effect *e, bool *any, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX];
    rad__flow_effect_id(id, e->key, e->begun_attempt, e->begun_run);
    /* In this order: who is found dead has left what he left. */
    bool lives = e->pid != 0 && r->host->is_running(r->host->context, e->pid);
    int holder = rad__flow_effect_holder(r->host, id, error);
    if (holder < 0) return holder;
    int got = take_receipt(r, e, id, error);
    if (got != 0) {
        *any = true;
        return got < 0 ? got : 0;
    }
    if (holder == RAD_OS_HELD) {
        if (e->unsure) rad__flow_tell(r, RAD_FLOW_TASK_TAKEN_OVER, e, "", 0);
        e->unsure = false;
        return 0;
    }
    if (lives) return 0;
    *any = true;
    return holder == RAD_OS_NO_FILE ? look_at_unbegun(r, e, error) : rad__flow_doubt(r, e, error);
}

static int write_stopped(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    rad_flow_record record = {.type = RAD_RECORD_STOPPED, .key = e->key, .attempt = e->attempt, .run = e->begun_run};
    e->state = RAD_EFFECT_OVER;
    rad__flow_tell(r, RAD_FLOW_TASK_STOPPED, e, "", 0);
    return rad__flow_runner_put(r, &record, error);
}

/* Nobody has begun it, and nobody shall: its name is taken away. */
static int forestall(rad_flow_runner *r, rad_flow_effect *e, const char *id, rad_error *error)
{
    int file;
    int got = rad__flow_runner_sync(r, error);
    if (got == 0) got = rad__flow_claim(r->host, id, &file, error);
    if (got <= 0) return got; /* somebody was faster: next time */
    r->host->close(r->host->context, file);
    return write_stopped(r, e, error);
}

/* Why it is to end must be durable: whoever has forgotten it would take its end for a failure. It is asked again at
 * every look, as somebody may have taken the question away. */
static int ask_to_end(rad_flow_runner *r, rad_flow_effect *e, const char *id, rad_error *error)
{
    int code = e->told ? 0 : rad__flow_runner_sync(r, error);
    e->told = code == 0;
    return code != 0 ? code : rad__flow_ask_to_end(r->host, id, error);
}

static int look_at_stopping(rad_flow_runner *r, rad_flow_effect *e, bool *any, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX];
    rad__flow_effect_id(id, e->key, e->begun_attempt, e->begun_run);
    bool lives = e->pid != 0 && r->host->is_running(r->host->context, e->pid);
    int holder = rad__flow_effect_holder(r->host, id, error);
    if (holder < 0) return holder;
    if (holder == RAD_OS_HELD || lives) return ask_to_end(r, e, id, error);
    *any = true;
    if (holder == RAD_OS_NO_FILE) return forestall(r, e, id, error);
    return write_stopped(r, e, error);
}

static int look_at(rad_flow_runner *r, rad_flow_effect *e, bool *any, rad_error *error)
{
    switch (e->state) {
    case RAD_EFFECT_RUNNING: return look_at_running(r, e, any, error);
    case RAD_EFFECT_PROBED: return rad__flow_look_at_probe(r, e, any, error);
    case RAD_EFFECT_STOPPING: return look_at_stopping(r, e, any, error);
    case RAD_EFFECT_ASKED:
    case RAD_EFFECT_DOUBTED:
    case RAD_EFFECT_OVER: break;
    }
    return 0;
}

int rad__flow_look_at_effects(rad_flow_runner *r, bool *any, rad_error *error)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < r->active_count; i++)
        code = look_at(r, &r->effects[r->active[i]], any, error);
    drop_over(r);
    return code;
}
