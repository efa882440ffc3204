/* status.c — a case from outside, without its lock: what it has come to, what it printed, and messages to it.
 *
 * Everything is read from the journal, which is replayed, and from the small files beside it; a runner may be
 * writing to them meanwhile, so the answer is how it was a moment ago. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"
#include "flow/machine/vm.h"
#include "flow/run/api.h"
#include "flow/run/parts.h"
#include "os/durable.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_AHEAD = 1 << 24 };

typedef struct inside {
    rad_flow_host host;
    rad_flow_kept kept;
    rad_flow_run_options options;
    rad_flow_runner runner;
    uint64_t last_ns;
    rad_flow_task_status *tasks;
    uint32_t task_capacity;
    rad_flow_setting *settings;
    rad_arena arena;
    char text[512];
} inside;

static int open_inside(inside *in, const char *folder, rad_error *error)
{
    int code = rad__flow_host_open(&in->host, folder, false, error);
    if (code != 0) return code;
    in->runner = (rad_flow_runner){.host = &in->host, .lock = -1, .journal = -1};
    code = rad__flow_kept_read(&in->kept, &in->host, error);
    if (code == 0 && strcmp(in->kept.program->hash, in->kept.journal.header.hash) != 0)
        code = rad__error(error, RAD_EINPUT, "flow: not the text that the execution was begun with");
    return code;
}

static void close_inside(inside *in)
{
    if (in->runner.host != NULL) rad__flow_runner_close(&in->runner);
    rad__flow_kept_free(&in->kept);
    if (in->host.context != NULL) rad__flow_host_close(&in->host);
    rad__free(in->tasks);
    rad__free(in->settings);
    rad__arena_free(&in->arena);
    rad__free(in);
}

/* As far as the journal goes, and then as far as it goes by itself. */
static int replay(inside *in, rad_error *error)
{
    rad_flow_runner *r = &in->runner;
    int code = rad__flow_runner_open(r, &in->host, in->kept.program, &in->options, &in->kept.journal.header, error);
    if (code == 0) code = rad__flow_replay(r, &in->kept.journal, error);
    if (code != 0 || r->ended) return code;
    rad__flow_case_run(r->c, STEPS_AHEAD);
    r->replaying = true; /* nothing is adopted from here */
    return rad__flow_take_asks(r, error);
}

/* ---- What there is -------------------------------------------------------------------------------------- */

static int task_state(inside *in, const rad_flow_effect *e, bool is_run, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX], receipt[RAD_FLOW_FILE_MAX];
    if (e->begun_attempt != e->attempt) return RAD_FLOW_TASK_IS_QUEUED;
    if (rad__flow_task_of(&in->runner, e)->is_call) /* the runner itself is at it */
        return is_run ? RAD_FLOW_TASK_IS_RUNNING : RAD_FLOW_TASK_IS_QUEUED;
    rad__flow_effect_id(id, e->key, e->begun_attempt, e->begun_run);
    rad__flow_effect_file(receipt, id, "receipt");
    int holder = rad__flow_effect_holder(&in->host, id, error);
    if (holder < 0) return holder;
    int there = in->host.holder(in->host.context, receipt, error);
    if (there < 0) return there;
    if (there != RAD_OS_NO_FILE) return RAD_FLOW_TASK_HAS_RECEIPT;
    return holder == RAD_OS_HELD      ? RAD_FLOW_TASK_IS_RUNNING
           : holder == RAD_OS_NO_FILE ? RAD_FLOW_TASK_IS_QUEUED
                                      : RAD_FLOW_TASK_IS_IN_DOUBT;
}

static int tell_tasks(inside *in, rad_flow_status *s, rad_error *error)
{
    for (uint32_t i = 0; i < in->runner.effect_count; i++) {
        const rad_flow_effect *e = &in->runner.effects[i];
        if (e->state == RAD_EFFECT_OVER || e->state == RAD_EFFECT_STOPPING) continue;
        int state = task_state(in, e, s->runner != 0, error);
        if (state < 0) return state;
        if (!RAD_GROW(&in->tasks, &in->task_capacity, s->task_count + 1)) return rad__error_memory(error);
        in->tasks[s->task_count++] = (rad_flow_task_status){
            .key = e->key,
            .task = rad__flow_name(&in->kept.program->file, rad__flow_task_of(&in->runner, e)->name),
            .instance = e->instance,
            .attempt = e->attempt,
            .state = (enum rad_flow_task_state)state,
            .since_ns = e->begun_attempt == e->attempt ? e->since_ns : 0};
    }
    s->tasks = in->tasks;
    return 0;
}

static int tell_data(inside *in, rad_flow_status *s, rad_error *error)
{
    const rad_flow_tree *tree = in->kept.program->tree;
    in->settings = rad__alloc(tree->variable_count, sizeof *in->settings);
    if (in->settings == NULL) return rad__error_memory(error);
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        char number[24];
        size_t length;
        if (tree->variables[i].is_local) continue;
        const char *text = rad__flow_case_value(in->runner.c, RAD_NONE, i, number, &length);
        const char *copy = rad__arena_text(&in->arena, text, length);
        if (copy == NULL) return rad__error_memory(error);
        in->settings[s->data_count++] =
            (rad_flow_setting){rad__flow_name(&in->kept.program->file, tree->variables[i].name), copy};
    }
    s->data = in->settings;
    return 0;
}

static void add_line(void *context, const char *line)
{
    inside *in = context;
    size_t used = strlen(in->text);
    snprintf(in->text + used, sizeof in->text - used, "%s%s", used > 0 ? "; " : "", line);
}

static int tell_spool(inside *in, rad_flow_status *s, rad_error *error)
{
    rad_os_names names;
    int code = in->host.list(in->host.context, "signals", &names, error);
    if (code != 0) return code;
    for (uint32_t i = 0; i < names.count; i++)
        s->signals += rad__flow_is_spool_name(names.items[i]) && !rad__flow_was_seen(&in->runner, names.items[i]);
    rad__os_names_free(&names);
    return 0;
}

static void tell_end(inside *in, rad_flow_status *s)
{
    const rad_flow_runner *r = &in->runner;
    static const enum rad_flow_end ends[] = {
        [RAD_CASE_DONE] = RAD_FLOW_END_DONE,           [RAD_CASE_FAILED] = RAD_FLOW_END_FAILED,
        [RAD_CASE_CANCELLED] = RAD_FLOW_END_CANCELLED, [RAD_CASE_DEADLOCK] = RAD_FLOW_END_DEADLOCK,
        [RAD_CASE_DIVERGED] = RAD_FLOW_END_FAILED,     [RAD_CASE_BROKEN] = RAD_FLOW_END_FAILED};
    s->has_ended = r->ended;
    if (r->ended) {
        s->end = ends[r->end.state];
        s->text = r->end.text;
        return;
    }
    rad__flow_vm_describe(r->c->vm, add_line, in);
    s->text = in->text;
}

/* Runners of earlier versions hold only the lock. Its number is for people; no code relies on it. */
static int tell_runner(inside *in, rad_flow_status *s, rad_error *error)
{
    int journal = in->host.holder(in->host.context, "journal", error);
    int lock = journal < 0 ? journal : in->host.holder(in->host.context, "lock", error);
    if (lock < 0) return lock;
    if (journal != RAD_OS_HELD && lock != RAD_OS_HELD) return 0;
    int owner = lock == RAD_OS_HELD ? rad__flow_lock_owner(&in->host, "lock") : 0;
    s->runner = owner != 0 ? owner : -1;
    return 0;
}

static int tell_all(inside *in, rad_flow_status *s, rad_error *error)
{
    const rad_flow_journal_header *h = &in->kept.journal.header;
    const rad_flow_runner *r = &in->runner;
    s->flow = h->flow;
    s->case_id = h->case_id;
    s->policy = h->policy;
    s->seed = h->seed;
    s->began_ns = h->wall_ns;
    s->last_ns = r->clock_ns;
    s->records = in->kept.journal.sequence;
    s->steps = rad__flow_case_steps(r->c);
    s->torn = in->kept.journal.torn;
    s->timers = r->ended ? 0 : rad__flow_timers_count(&r->timers);
    s->next_timer_ns = s->timers > 0 ? rad__flow_timers_next_ns(&r->timers) : 0;
    tell_end(in, s);
    int code = tell_runner(in, s, error);
    if (code == 0) code = tell_data(in, s, error);
    if (code == 0 && !r->ended) code = tell_tasks(in, s, error);
    if (code == 0) code = tell_spool(in, s, error);
    return code;
}

int rad_flow_look(rad_flow_status *s, const char *folder, rad_error *error)
{
    rad__error_clear(error);
    *s = (rad_flow_status){.flow = "", .case_id = "", .policy = "", .text = ""};
    inside *in = rad__alloc(1, sizeof *in);
    if (in == NULL) return rad__error_memory(error);
    s->inside = in;
    int code = open_inside(in, folder, error);
    if (code == 0) code = replay(in, error);
    if (code == 0) code = tell_all(in, s, error);
    rad__flow_say_where(error, folder);
    return code;
}

void rad_flow_status_free(rad_flow_status *s)
{
    if (s->inside != NULL) close_inside(s->inside);
    *s = (rad_flow_status){0};
}

/* ---- What was printed ----------------------------------------------------------------------------------- */

static int put_file(inside *in, rad_bytes *out, const char *id, const char *end, rad_error *error)
{
    char name[RAD_FLOW_FILE_MAX], *data;
    size_t size;
    rad__flow_effect_file(name, id, end);
    int got = in->host.read(in->host.context, name, &data, &size, error);
    if (got != 1) return got;
    for (size_t i = 0; i < size; i++) /* the text ends at its first zero */
        if (data[i] == 0) data[i] = '?';
    rad__bytes_put(out, data, size);
    if (size > 0 && data[size - 1] != '\n') rad__bytes_put(out, "\n", 1);
    rad__free(data);
    return 0;
}

static int put_log(inside *in, rad_bytes *out, const rad_flow_record *record, const char *wanted, bool *known,
                   rad_error *error)
{
    char id[RAD_FLOW_ID_MAX];
    if (record->task >= in->kept.program->tree->task_count) return 0;
    const char *task = rad__flow_name(&in->kept.program->file, in->kept.program->tree->tasks[record->task].name);
    if (wanted != NULL && strcmp(wanted, task) != 0 && strcmp(wanted, record->key) != 0) return 0;
    *known = true;
    rad__flow_effect_id(id, record->key, record->attempt, record->run);
    rad__bytes_format(out, "== %s %s, attempt %lu", task, record->key, (unsigned long)record->attempt);
    if (record->run > 1) rad__bytes_format(out, ", run %lu", (unsigned long)record->run);
    rad__bytes_format(out, "\n");
    int code = put_file(in, out, id, "out", error);
    return code != 0 ? code : put_file(in, out, id, "log", error);
}

/* A task that was not begun yet has printed nothing, and is none the less there. */
static bool has_task(const rad_flow_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->tree->task_count; i++)
        if (strcmp(rad__flow_name(&p->file, p->tree->tasks[i].name), name) == 0) return true;
    return false;
}

int rad_flow_logs(const char *folder, const char *task_or_key, char **text, rad_error *error)
{
    rad_bytes out = {0};
    rad_flow_record record;
    bool known = task_or_key == NULL;
    rad__error_clear(error);
    *text = NULL;
    inside *in = rad__alloc(1, sizeof *in);
    if (in == NULL) return rad__error_memory(error);
    int code = open_inside(in, folder, error), got = 0;
    while (code == 0 && (got = rad__flow_journal_next(&in->kept.journal, &record, error)) == 1)
        if (record.type == RAD_RECORD_STARTED) code = put_log(in, &out, &record, task_or_key, &known, error);
    if (code == 0 && got < 0) code = got;
    if (code == 0 && !known && !has_task(in->kept.program, task_or_key))
        code = rad__error(error, RAD_EINPUT, "there is no task %s, and nothing with that key was begun", task_or_key);
    rad__bytes_put(&out, "", 1);
    if (code == 0 && out.failed) code = rad__error_memory(error);
    if (code == 0)
        *text = (char *)out.data;
    else
        rad__bytes_free(&out);
    close_inside(in);
    rad__flow_say_where(error, folder);
    return code;
}

/* ---- Messages ------------------------------------------------------------------------------------------- */

/* By number, of what a message can be about; NULL behind the last. */
static const char *name_at(const inside *in, const rad_flow_input *input, uint32_t i)
{
    const rad_flow_tree *tree = in->kept.program->tree;
    const rad_flow_file *file = &in->kept.program->file;
    if (input->kind == RAD_INPUT_SIGNAL) return i < tree->signal_count ? rad__flow_name(file, tree->signals[i]) : NULL;
    if (input->scope == RAD_FLOW_PART_REGION)
        return i < tree->region_count ? rad__flow_name(file, tree->regions[i]) : NULL;
    return i < tree->task_count ? rad__flow_name(file, tree->tasks[i].name) : NULL;
}

/* Refused here, where the sender hears of it: a runner that meets it could only stop. */
static int check_name(const inside *in, const rad_flow_input *input, uint32_t *at, rad_error *error)
{
    const char *name;
    rad_suggest near;
    *at = 0;
    if (input->kind == RAD_INPUT_CANCEL && input->scope == RAD_FLOW_PART_CASE) return 0;
    rad__suggest_begin(&near, input->name, strlen(input->name));
    for (; (name = name_at(in, input, *at)) != NULL; ++*at) {
        if (strcmp(name, input->name) == 0) return 0;
        rad__suggest_consider(&near, name);
    }
    return rad__error(error, RAD_EINPUT, "the flow %s has no %s %s%s", in->kept.journal.header.flow,
                      input->kind == RAD_INPUT_SIGNAL        ? "signal"
                      : input->scope == RAD_FLOW_PART_REGION ? "region"
                                                             : "task",
                      input->name, rad__suggest_text(&near, ""));
}

/* Whether some wait for the signal takes the text; *type is what one that does not would take. */
static bool is_taken_by_some(const inside *in, uint32_t signal, const rad_flow_input *input, enum rad_flow_type *type)
{
    const rad_flow_program *p = in->kept.program;
    for (uint32_t i = 0; i < p->way_count; i++) {
        const rad_flow_event *e = &p->ways[i].event;
        if (e->is_timer || e->signal != signal) continue;
        if (e->into == RAD_NONE) return true;
        *type = p->tree->variables[e->into].type;
        if (rad__flow_fits(*type, input->text, input->length)) return true;
    }
    return false;
}

/* A slip of the sender would be a failure of the case. */
static int check_text(const inside *in, uint32_t signal, const rad_flow_input *input, rad_error *error)
{
    enum rad_flow_type type = RAD_FLOW_TEXT;
    if (is_taken_by_some(in, signal, input, &type)) return 0;
    return rad__error(error, RAD_EINPUT, "signal %s: expected %s to come with it, found \"%.60s\"", input->name,
                      type == RAD_FLOW_INT ? "a number" : "true or false", input->text);
}

static int send(const char *folder, const rad_flow_input *input, rad_error *error)
{
    rad_flow_record record;
    inside *in = rad__alloc(1, sizeof *in);
    if (in == NULL) return rad__error_memory(error);
    int code = open_inside(in, folder, error), got = 0;
    while (code == 0 && (got = rad__flow_journal_next(&in->kept.journal, &record, error)) == 1)
        if (record.type == RAD_RECORD_END)
            code = rad__error(error, RAD_EINPUT, "nothing sent: this execution has ended");
    if (code == 0 && got < 0) code = got;
    uint32_t at = 0;
    if (code == 0) code = check_name(in, input, &at, error);
    if (code == 0 && input->kind == RAD_INPUT_SIGNAL) code = check_text(in, at, input, error);
    if (code == 0) code = rad__flow_spool_put(&in->host, input, error);
    close_inside(in);
    rad__flow_say_where(error, folder);
    return code;
}

int rad_flow_send(const char *folder, const char *name, const char *text, rad_error *error)
{
    rad_flow_input input = {.kind = RAD_INPUT_SIGNAL,
                            .name = name,
                            .text = text != NULL ? text : "",
                            .length = text != NULL ? strlen(text) : 0};
    rad__error_clear(error);
    return send(folder, &input, error);
}

int rad_flow_cancel(const char *folder, enum rad_flow_part part, const char *name, rad_error *error)
{
    RAD_ASSERT(part <= RAD_FLOW_PART_CASE);
    rad_flow_input input = {.kind = RAD_INPUT_CANCEL, .scope = part, .name = name != NULL ? name : ""};
    rad__error_clear(error);
    return send(folder, &input, error);
}
