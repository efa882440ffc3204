/* doubt.c — effects of which nobody knows whether they were done: the command was begun, and whoever was to
 * write its receipt is dead. Exactly once cannot be had here; what is done instead is what somebody has said: the user
 * now, or the flow before. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/parts.h"
#include "os/durable.h"

#include <stdio.h>
#include <string.h>

static int write_doubt(rad_flow_runner *r, const rad_flow_effect *e, enum rad_flow_settled settled, rad_error *error)
{
    rad_flow_record record = {
        .type = RAD_RECORD_DOUBT, .key = e->key, .attempt = e->begun_attempt, .run = e->begun_run, .settled = settled};
    return rad__flow_runner_put(r, &record, error);
}

/* The same key and attempt, under a name that is free. */
static int run_again(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX];
    int code = write_doubt(r, e, RAD_SETTLED_AGAIN, error);
    if (code != 0) return code;
    rad_flow_record record = {
        .type = RAD_RECORD_STARTED, .key = e->key, .attempt = e->attempt, .run = e->begun_run + 1, .task = e->task};
    code = rad__flow_runner_put(r, &record, error);
    if (code == 0) code = rad__flow_runner_sync(r, error);
    if (code != 0) return code;
    e->begun_run++;
    e->state = RAD_EFFECT_RUNNING;
    e->unsure = false;
    rad__flow_effect_id(id, e->key, e->begun_attempt, e->begun_run);
    rad__flow_tell(r, RAD_FLOW_TASK_AGAIN, e, "", 0);
    const char *command = rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->command);
    return rad__flow_launch(r, e, id, command, error);
}

static int settle_done(rad_flow_runner *r, rad_flow_effect *e, const char *output, size_t size, rad_error *error)
{
    rad_flow_receipt receipt = {.key = e->key, .output = output, .output_size = size};
    int code = write_doubt(r, e, RAD_SETTLED_DONE, error);
    return code != 0 ? code : rad__flow_give_receipt(r, e, &receipt, error);
}

static int settle_failed(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    static const char why[] = "it was in doubt, and settled as failed";
    rad_flow_input input = {.kind = RAD_INPUT_RESULT, .key = e->key, .attempt = e->attempt, .why = why};
    int code = write_doubt(r, e, RAD_SETTLED_FAILED, error);
    if (code == 0) code = rad__flow_runner_feed(r, &input, "", error);
    e->state = RAD_EFFECT_OVER;
    if (code == 0) rad__flow_tell(r, RAD_FLOW_TASK_FAILED, e, why, 0);
    return code;
}

static int stay_in_doubt(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    e->state = RAD_EFFECT_DOUBTED;
    rad__flow_tell(r, RAD_FLOW_TASK_IN_DOUBT, e, "", 0);
    return write_doubt(r, e, RAD_SETTLED_NOT, error);
}

/* ---- What the user says ---------------------------------------------------------------------------------- */

static const rad_flow_settle *find_answer(const rad_flow_runner *r, const rad_flow_effect *e)
{
    if (!e->unsure) return NULL; /* he spoke of what earlier runners left, not of what happens now */
    for (uint32_t i = 0; i < r->options->given.settle_count; i++)
        if (strcmp(r->options->given.settles[i].key, e->key) == 0) return &r->options->given.settles[i];
    return NULL;
}

/* A slip of whoever answers is told to him: the case could only take it for a failure of the task. */
static int check_output(const rad_flow_runner *r, const rad_flow_effect *e, const char *output, rad_error *error)
{
    const rad_flow_task *task = rad__flow_task_of(r, e);
    if (task->capture == RAD_NONE || output == NULL) return 0;
    size_t length = strlen(output);
    if (length > 0 && output[length - 1] == '\n') length--;
    const rad_flow_variable *v = &r->program->tree->variables[task->capture];
    if (rad__flow_fits(v->type, output, length)) return 0;
    return rad__error(error, RAD_EINPUT, "task %s (%s): it is said to have printed \"%.60s\", which is no value of %s",
                      rad__flow_name(&r->program->file, task->name), e->key, output,
                      rad__flow_name(&r->program->file, v->name));
}

static int answer(rad_flow_runner *r, rad_flow_effect *e, const rad_flow_settle *s, rad_error *error)
{
    const rad_flow_task *task = rad__flow_task_of(r, e);
    if (s->answer == RAD_FLOW_ANSWER_AGAIN) return run_again(r, e, error);
    if (s->answer == RAD_FLOW_ANSWER_FAILED) return settle_failed(r, e, error);
    if (s->output == NULL && task->capture != RAD_NONE)
        return rad__error(error, RAD_EINPUT, "task %s (%s) captures output: add --with-output TEXT",
                          rad__flow_name(&r->program->file, task->name), e->key);
    int code = check_output(r, e, s->output, error);
    if (code != 0) return code;
    return settle_done(r, e, s->output, s->output != NULL ? strlen(s->output) : 0, error);
}

/* Before anything is done: whoever mistakes a key hears of it. */
int rad__flow_check_answers(rad_flow_runner *r, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX], receipt[RAD_FLOW_FILE_MAX];
    for (uint32_t i = 0; i < r->options->given.settle_count; i++) {
        const char *key = r->options->given.settles[i].key;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(r->options->given.settles[k].key, key) == 0)
                return rad__error(error, RAD_EINPUT, "%s is settled twice", key);
        rad_flow_effect *e = rad__flow_effect_of(r, key);
        if (e == NULL) return rad__error_memory(error);
        rad__flow_effect_id(id, key, e->begun_attempt, e->begun_run);
        rad__flow_effect_file(receipt, id, "receipt");
        int holder = rad__flow_effect_holder(r->host, id, error);
        int there = holder < 0 ? holder : r->host->holder(r->host->context, receipt, error);
        if (there < 0) return there;
        if (e->state != RAD_EFFECT_RUNNING || holder != RAD_OS_NOT_HELD || there != RAD_OS_NO_FILE)
            return rad__error(error, RAD_EINPUT, "%s is not in doubt: it cannot be settled", key);
    }
    return 0;
}

/* ---- What a probe says ----------------------------------------------------------------------------------- */

static void probe_id(char id[RAD_FLOW_ID_MAX], const rad_flow_effect *e)
{
    rad__flow_effect_id(id, e->key, e->begun_attempt, e->begun_run);
    size_t length = strlen(id);
    snprintf(id + length, RAD_FLOW_ID_MAX - length, "p%lu", (unsigned long)e->probe);
}

/* A probe of an earlier runner is left alone, also if it still runs: it changes nothing. */
static int start_probe(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX], name[RAD_FLOW_FILE_MAX];
    int holder;
    do {
        e->probe++;
        probe_id(id, e);
        rad__flow_effect_file(name, id, "lock");
        holder = r->host->holder(r->host->context, name, error);
    } while (holder > RAD_OS_NO_FILE);
    if (holder < 0) return holder;
    e->state = RAD_EFFECT_PROBED;
    const char *command = rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->probe);
    return rad__flow_launch(r, e, id, command, error);
}

static int take_probe(rad_flow_runner *r, rad_flow_effect *e, const char *name, const char *data, size_t size,
                      rad_error *error)
{
    rad_flow_receipt receipt;
    int code = rad__flow_receipt_read(&receipt, name, data, size, error);
    if (code != 0) return code;
    bool ended = receipt.flags == 0 && receipt.signal == 0;
    if (ended && receipt.status == 0) return settle_done(r, e, receipt.output, receipt.output_size, error);
    if (ended && receipt.status == 1) return run_again(r, e, error);
    return stay_in_doubt(r, e, error);
}

int rad__flow_look_at_probe(rad_flow_runner *r, rad_flow_effect *e, bool *any, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX], name[RAD_FLOW_FILE_MAX], *data;
    size_t size;
    probe_id(id, e);
    bool lives = e->pid != 0 && r->host->is_running(r->host->context, e->pid);
    rad__flow_effect_file(name, id, "receipt");
    int got = r->host->read(r->host->context, name, &data, &size, error);
    if (got < 0 || (got == 0 && lives)) return got;
    *any = true;
    if (got == 0) return stay_in_doubt(r, e, error); /* it died: it says nothing */
    int code = take_probe(r, e, name, data, size, error);
    rad__free(data);
    return code;
}

int rad__flow_doubt(rad_flow_runner *r, rad_flow_effect *e, rad_error *error)
{
    const rad_flow_settle *said = find_answer(r, e);
    if (said != NULL) return answer(r, e, said, error);
    switch (rad__flow_task_of(r, e)->doubt) {
    case RAD_DOUBT_RETRY: return run_again(r, e, error);
    case RAD_DOUBT_PROBE: return start_probe(r, e, error);
    case RAD_DOUBT_STOP: break;
    }
    return stay_in_doubt(r, e, error);
}
