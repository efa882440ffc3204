/* run.c — see run.h. */
#include "flow/run/run.h"
#include "flow/machine/vm.h"

#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/parts.h"
#include "os/durable.h"

#include <stdio.h>
#include <string.h>

enum { QUANTUM = 1 << 20, LOCK_TRIES = 10 };
#define LOCK_PAUSE_NS   UINT64_C(20000000)
#define SYNC_WITHIN_NS  UINT64_C(100000000)
#define LONGEST_WAIT_NS UINT64_C(1000000000) /* notices may get lost */

/* ---- Locks ---------------------------------------------------------------------------------------------- */

/* What a runner holds is the journal itself: no second one can be had beside it, whatever is deleted. The file "lock"
 * says who it is, and keeps out runners of versions that hold nothing else. It stays for ever: whoever removed it could
 * have it locked while another locks a new one of that name. */
static int make_lock_file(rad_flow_runner *r, rad_error *error)
{
    char name[RAD_FLOW_FILE_MAX] = "lock";
    int file;
    int holder = r->host->holder(r->host->context, "lock", error);
    if (holder != RAD_OS_NO_FILE) return holder < 0 ? holder : 0;
    rad__flow_temporary(r->host, name);
    int code = r->host->create(r->host->context, &file, name, error);
    if (code != 0) return code;
    r->host->close(r->host->context, file);
    code = r->host->link(r->host->context, name, "lock", error);
    r->host->remove(r->host->context, name, NULL);
    return code < 0 ? code : 0;
}

/* 1: it is ours; 0: somebody else's. A runner that ended a moment ago may have a child that has not yet closed what it
 * inherited, and whoever asks for its holder holds it for a moment. */
static int hold(rad_flow_runner *r, int file, rad_error *error)
{
    for (int tries = 0;; tries++) {
        int got = r->host->lock(r->host->context, file, error);
        if (got != 0 || tries == LOCK_TRIES) return got;
        r->host->sleep(r->host->context, LOCK_PAUSE_NS);
    }
}

static int take_lock(rad_flow_runner *r, rad_error *error)
{
    int code = make_lock_file(r, error);
    if (code == 0) code = r->host->open_end(r->host->context, &r->lock, "lock", error);
    if (code == 0) code = hold(r, r->lock, error);
    if (code != 0) return code < 0 ? code : 0;
    return rad__error(error, RAD_EINPUT, "another runner, process %d, works on this execution: wait for it, or stop it",
                      rad__flow_lock_owner(r->host, "lock"));
}

/* For people. */
static int write_owner(rad_flow_runner *r, rad_error *error)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%d\n", r->host->self(r->host->context));
    int code = r->host->cut(r->host->context, r->lock, 0, error);
    return code != 0 ? code : r->host->put(r->host->context, r->lock, text, (size_t)length, error);
}

static int take_journal(rad_flow_runner *r, rad_error *error)
{
    int code = r->host->open_end(r->host->context, &r->journal, "journal", error);
    if (code == 0) code = hold(r, r->journal, error);
    if (code == 1) return rad__flow_runner_check(r, error);
    return code < 0 ? code
                    : rad__error(error, RAD_EINPUT, "another runner works on this execution: wait for it, or stop it");
}

/* ---- Life ----------------------------------------------------------------------------------------------- */

int rad__flow_runner_open(rad_flow_runner *r, const rad_flow_host *host, const rad_flow_program *p,
                          const rad_flow_run_options *o, const rad_flow_journal_header *h, rad_error *error)
{
    r->host = host;
    r->program = p;
    r->options = o;
    r->clock_ns = h->wall_ns;
    rad__crc32_open(&r->crc);
    snprintf(r->case_id, sizeof r->case_id, "%s", h->case_id);
    rad_flow_case_options c = {.policy = h->policy,
                               .seed = h->seed,
                               .world = RAD_WORLD_LIVE,
                               .initial = h->initial,
                               .initial_count = h->initial_count};
    return rad__flow_case_open(&r->c, p, &c, error);
}

void rad__flow_runner_close(rad_flow_runner *r)
{
    if (r->journal >= 0) r->host->close(r->host->context, r->journal);
    if (r->lock >= 0) r->host->close(r->host->context, r->lock);
    rad__flow_case_close(r->c);
    rad__flow_effects_free(r);
    rad__flow_timers_free(&r->timers);
    rad__free(r->taken);
    rad__free(r->where);
    rad__map64_free(&r->seen);
    rad__map64_free(&r->known);
    rad__bytes_free(&r->room);
}

/* Before anything begins: a function that is missing would be missed in the middle. */
static int check_functions(const rad_flow_program *p, const rad_flow_run_options *o, rad_error *error)
{
    for (uint32_t i = 0; i < p->tree->task_count; i++) {
        const rad_flow_task *task = &p->tree->tasks[i];
        const char *name = rad__flow_name(&p->file, task->command);
        bool found = !task->is_call;
        for (uint32_t k = 0; k < o->function_count; k++) found |= strcmp(o->functions[k].name, name) == 0;
        if (!found)
            return rad__flow_error(&p->file, task->place, error,
                                   "task %s: C function \"%s\" is not registered (rad_flow_register)",
                                   rad__flow_name(&p->file, task->name), name);
    }
    return 0;
}

/* ---- Turns ---------------------------------------------------------------------------------------------- */

static bool has_ended(enum rad_flow_state state)
{
    return state != RAD_CASE_RUNNING && state != RAD_CASE_WAITING;
}

/* What has come in is durable soon, also when nothing begins for a long time: a timer that followed from it would begin
 * anew after a power failure. Not at once: results of many commands that end together share a sync, too. */
static int pause(rad_flow_runner *r, rad_error *error)
{
    uint64_t now = r->host->now(r->host->context), longest = LONGEST_WAIT_NS;
    bool is_late = r->dirty && now - r->dirty_since_ns >= SYNC_WITHIN_NS;
    if (is_late || r->taken_count > 0) return rad__flow_runner_sync(r, error); /* and look again */
    int code = rad__flow_runner_check(r, error);
    if (code != 0) return code;
    if (r->dirty) longest = SYNC_WITHIN_NS - (now - r->dirty_since_ns);
    uint64_t next = rad__flow_timers_next_ns(&r->timers);
    if (next < now + longest) longest = next > now ? next - now : 0;
    return r->host->wait(r->host->context, longest, error);
}

static bool is_interrupted(const rad_flow_runner *r)
{
    return r->options->given.stop != NULL && *r->options->given.stop != 0;
}

static void tell_doubts(const rad_flow_runner *r, rad_flow_result *result)
{
    size_t used = 0;
    for (uint32_t i = 0; i < r->active_count && used < sizeof result->text; i++) {
        const rad_flow_effect *e = &r->effects[r->active[i]];
        if (e->state != RAD_EFFECT_DOUBTED) continue;
        if (used == 0 && strlen(e->key) < sizeof result->doubt) memcpy(result->doubt, e->key, strlen(e->key) + 1);
        used += (size_t)snprintf(result->text + used, sizeof result->text - used, "%s%s (task %s)",
                                 used > 0 ? ", " : "in doubt: ", e->key,
                                 rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->name));
    }
    if (used < sizeof result->text)
        snprintf(result->text + used, sizeof result->text - used,
                 ". It was started, and whether it finished is not known. Find out, then resume with "
                 "--doubt KEY=done, =failed or =again");
}

/* What the case no longer wants is ended and waited for; then the case has ended, too. */
static int finish(rad_flow_runner *r, bool *over, rad_error *error)
{
    for (uint32_t i = 0; i < r->active_count; i++) {
        rad_flow_effect *e = &r->effects[r->active[i]];
        if (e->state != RAD_EFFECT_OVER) e->state = RAD_EFFECT_STOPPING;
    }
    bool any = false;
    int code = rad__flow_look_at_effects(r, &any, error);
    if (code != 0) return code;
    if (r->active_count > 0) return any ? 0 : pause(r, error);
    rad_flow_record record = {.type = RAD_RECORD_END,
                              .step = rad__flow_case_steps(r->c),
                              .state = r->c->state,
                              .digest = rad__flow_case_digest(r->c),
                              .text = rad__flow_case_failure(r->c)};
    code = rad__flow_runner_put(r, &record, error);
    if (code == 0) code = rad__flow_runner_sync(r, error);
    r->end = record;
    *over = r->ended = code == 0;
    return code;
}

/* *over: the runner is done, though perhaps not the case. */
static int turn(rad_flow_runner *r, rad_flow_result *result, bool *over, rad_error *error)
{
    bool any = false;
    enum rad_flow_state state = rad__flow_case_run(r->c, QUANTUM);
    if (state == RAD_CASE_BROKEN || state == RAD_CASE_DIVERGED)
        return rad__error(error, r->c->error.code, "%s", r->c->error.text);
    int code = rad__flow_take_asks(r, error);
    if (code == 0 && is_interrupted(r)) {
        result->end = RAD_FLOW_END_INTERRUPTED;
        snprintf(result->text, sizeof result->text,
                 "interrupted: running commands continue, and resume takes their results");
        *over = true;
        return rad__flow_runner_sync(r, error);
    }
    if (code == 0 && has_ended(state)) return finish(r, over, error);
    if (code == 0) code = rad__flow_start_some(r, &any, error);
    if (code == 0) code = rad__flow_look_at_effects(r, &any, error);
    if (code == 0) code = rad__flow_look_at_timers(r, &any, error);
    if (code == 0) code = rad__flow_look_at_spool(r, &any, error);
    if (code != 0 || any || state == RAD_CASE_RUNNING) return code;
    if (rad__flow_count(r, RAD_EFFECT_DOUBTED) == 0) return pause(r, error);
    result->end = RAD_FLOW_END_IN_DOUBT; /* without waiting for what runs: that may take days */
    tell_doubts(r, result);
    *over = true;
    return rad__flow_runner_sync(r, error);
}

static void tell_end(const rad_flow_runner *r, rad_flow_result *result)
{
    result->steps = rad__flow_case_steps(r->c);
    rad__digest_text(rad__flow_case_digest(r->c), result->digest);
    if (!r->ended) return;
    result->end = r->end.state == RAD_CASE_DONE        ? RAD_FLOW_END_DONE
                  : r->end.state == RAD_CASE_CANCELLED ? RAD_FLOW_END_CANCELLED
                  : r->end.state == RAD_CASE_DEADLOCK  ? RAD_FLOW_END_DEADLOCK
                                                       : RAD_FLOW_END_FAILED;
    snprintf(result->text, sizeof result->text, "%s", r->end.text);
    uint32_t task = r->c->vm->failed_task;
    if (task != RAD_NONE) snprintf(result->task, sizeof result->task, "%s", rad__flow_name(&r->program->file, task));
}

/* Of a folder that was deleted many things can be said; the cause is told. */
static int tell_cause(rad_flow_runner *r, int code, rad_error *error)
{
    rad_error cause = {0};
    int now = code != RAD_ENOMEM ? rad__flow_runner_check(r, &cause) : 0;
    if (now == 0) return code;
    *error = cause;
    return now;
}

static int run_turns(rad_flow_runner *r, rad_flow_result *result, rad_error *error)
{
    bool over = r->ended;
    int code = 0;
    snprintf(result->case_id, sizeof result->case_id, "%s", r->case_id); /* it is there */
    result->task[0] = result->doubt[0] = 0;
    while (code == 0 && !over) code = turn(r, result, &over, error);
    if (code == 0) tell_end(r, result);
    return code != 0 ? tell_cause(r, code, error) : 0;
}

/* ---- Run ------------------------------------------------------------------------------------------------ */

static int refuse(rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "holds an execution already: resume it, or name another directory");
}

static int refuse_existing(rad_flow_runner *r, rad_error *error)
{
    int holder = r->host->holder(r->host->context, "journal", error);
    return holder <= RAD_OS_NO_FILE ? holder : refuse(error);
}

/* What is in a lock: a number, perhaps cut short, or zeros where it was not written when the power failed. */
static bool is_number(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((data[i] < '0' || data[i] > '9') && data[i] != '\n' && data[i] != 0) return false;
    return size < 24;
}

/* 1: there is no such file, or it is as a runner that was killed while it made the folder has left it. */
static int is_ours(rad_flow_runner *r, const char *name, const char *text, size_t length, rad_error *error)
{
    char *data = NULL;
    size_t size = 0;
    int got = r->host->read(r->host->context, name, &data, &size, error);
    if (got <= 0) return got < 0 ? got : 1;
    bool ours = text != NULL ? size == length && memcmp(data, text, size) == 0 : is_number(data, size);
    rad__free(data);
    return ours ? 1 : 0;
}

static int refuse_file(rad_flow_runner *r, const char *name, const char *text, size_t length, rad_error *error)
{
    int ours = is_ours(r, name, text, length, error);
    if (ours != 0) return ours < 0 ? ours : 0;
    return rad__error(error, RAD_EINPUT,
                      "the directory has a file \"%s\" that is not of this execution: name another one", name);
}

/* It is written to: what is somebody's is left alone. */
static int refuse_foreign_lock(rad_flow_runner *r, rad_error *error)
{
    return refuse_file(r, "lock", NULL, 0, error);
}

/* A folder may have files of somebody else, but none under the names of ours. */
static int refuse_foreign(rad_flow_runner *r, const rad_flow_program *p, rad_error *error)
{
    int code = refuse_foreign_lock(r, error);
    if (code == 0) code = refuse_file(r, "flow", p->text, p->text_size, error);
    if (code == 0) code = refuse_file(r, "where", r->where, strlen(r->where), error);
    return code;
}

/* Whoever else can write there decides which commands are run, and in whose name. */
static int check_parts(rad_flow_runner *r, rad_error *error)
{
    int code = r->host->check_folder(r->host->context, "effects", error);
    return code != 0 ? code : r->host->check_folder(r->host->context, "signals", error);
}

static int make_folder(rad_flow_runner *r, const rad_flow_program *p, rad_error *error)
{
    const rad_flow_host *h = r->host;
    int code = h->current_folder(h->context, &r->where, error);
    if (code == 0) code = h->make_folder(h->context, "", error);
    if (code == 0) code = h->check_folder(h->context, "", error);
    if (code == 0) code = refuse_existing(r, error);
    if (code == 0) code = refuse_foreign(r, p, error);
    if (code == 0) code = take_lock(r, error);
    if (code == 0) code = refuse_existing(r, error); /* it may have come while nobody held the lock */
    if (code == 0) code = write_owner(r, error);
    if (code == 0) code = h->make_folder(h->context, "effects", error);
    if (code == 0) code = h->make_folder(h->context, "signals", error);
    if (code == 0) code = check_parts(r, error);
    if (code == 0) code = rad__flow_check_effects(r, error); /* of a case whose journal is gone */
    if (code == 0) code = rad__flow_write_whole(h, "", "flow", p->text, p->text_size, error);
    if (code == 0) code = rad__flow_write_whole(h, "", "where", r->where, strlen(r->where), error);
    return code;
}

/* The journal gets its name with its header in it, and held: a case is there, or it is not, and has one runner. */
static int make_journal(rad_flow_runner *r, const rad_flow_journal_header *h, rad_error *error)
{
    const rad_flow_host *host = r->host;
    char name[RAD_FLOW_FILE_MAX] = "journal";
    rad_bytes bytes = {0};
    rad__flow_temporary(host, name);
    rad__flow_journal_begin(&bytes, &r->crc, h);
    int code = bytes.failed ? rad__error_memory(error) : host->create(host->context, &r->journal, name, error);
    if (code == 0) code = host->put(host->context, r->journal, bytes.data, bytes.size, error);
    if (code == 0) code = host->sync(host->context, r->journal, error);
    if (code == 0) code = host->lock(host->context, r->journal, error);
    if (code == 1) code = host->link(host->context, name, "journal", error);
    if (code == 0) code = refuse(error); /* somebody was faster */
    r->size = bytes.size;
    rad__bytes_free(&bytes);
    if (r->journal >= 0) host->remove(host->context, name, NULL);
    return code < 0 ? code : host->sync_folder(host->context, "", error);
}

int rad__flow_run(const rad_flow_host *host, const rad_flow_program *p, const rad_flow_run_options *o,
                  rad_flow_result *result, rad_error *error)
{
    char case_id[64];
    rad_flow_runner r = {.host = host, .lock = -1, .journal = -1};
    *result = (rad_flow_result){0};
    rad_flow_initial initial[RAD_JOURNAL_INITIAL_MAX];
    if (o->given.setting_count > RAD_JOURNAL_INITIAL_MAX)
        return rad__error(error, RAD_EINPUT, "more data than a flow can have");
    if (o->given.case_id != NULL && strlen(o->given.case_id) >= sizeof case_id)
        return rad__error(error, RAD_EINPUT, "the id of the execution is longer than %d characters",
                          (int)sizeof case_id - 1); /* cut off, it might be that of another */
    for (uint32_t i = 0; i < o->given.setting_count; i++)
        initial[i] = (rad_flow_initial){o->given.settings[i].name, o->given.settings[i].text};
    if (o->given.case_id != NULL)
        snprintf(case_id, sizeof case_id, "%s", o->given.case_id);
    else
        snprintf(case_id, sizeof case_id, "%016llx", (unsigned long long)host->random(host->context));
    rad_flow_journal_header h = {.raddle = rad_version(),
                                 .hash = p->hash,
                                 .flow = rad__flow_name(&p->file, p->tree->name),
                                 .case_id = case_id,
                                 .policy = o->given.policy != NULL ? o->given.policy : "first",
                                 .seed = o->given.seed,
                                 .wall_ns = host->now(host->context),
                                 .initial = initial,
                                 .initial_count = o->given.setting_count};
    int code = check_functions(p, o, error);
    if (code == 0) code = rad__flow_runner_open(&r, host, p, o, &h, error); /* refuses bad data first */
    if (code == 0) code = make_folder(&r, p, error);
    if (code == 0) code = make_journal(&r, &h, error);
    if (code == 0) code = run_turns(&r, result, error);
    rad__flow_runner_close(&r);
    return code;
}

/* ---- Resume --------------------------------------------------------------------------------------------- */

static int refuse_changed(rad_flow_runner *r, const rad_flow_program *p, rad_error *error)
{
    char *old = NULL, *difference = NULL;
    size_t size = 0;
    int got = r->host->read(r->host->context, "flow", &old, &size, error);
    if (got < 0) return got;
    if (got == 1) difference = rad__flow_difference(old, size, p->text, p->text_size);
    int code;
    if (difference != NULL && difference[0] == 0)
        code =
            rad__error(error, RAD_EINPUT, "flow: not the text that the execution was begun with: the file was changed");
    else
        code = rad__error_lines(error, difference != NULL ? difference : "(unknown)", RAD_EINPUT,
                                "%s is not the flow this execution was begun with; line by line (- then, + now):\n",
                                p->file.file_name);
    rad__free(difference);
    rad__free(old);
    return code;
}

/* Commands run where the case was begun, from wherever it is resumed; without that file, where the runner is. */
static int find_where(rad_flow_runner *r, rad_error *error)
{
    size_t size = 0;
    int got = r->host->read(r->host->context, "where", &r->where, &size, error);
    if (got <= 0) return got;
    if (size > 0 && r->where[size - 1] == '\n') r->where[--size] = 0; /* an editor's */
    if (strlen(r->where) == size && r->host->is_folder(r->host->context, r->where)) return 0;
    return rad__error(error, RAD_EINPUT,
                      "the commands of this execution run in %.200s, which is not a directory: make it, or "
                      "write another one into the file \"where\"",
                      r->where);
}

/* Cuts off what is torn, says that there is a new runner, and makes sure of everything that was read: from here on
 * others may be told of it. */
static int take_up(rad_flow_runner *r, const rad_flow_journal *j, rad_error *error)
{
    char text[100];
    int code = 0;
    r->size = j->at;
    if (j->torn) {
        snprintf(text, sizeof text, "%llu bytes after record %llu were not whole, and are cut off",
                 (unsigned long long)(j->size - j->at), (unsigned long long)j->sequence);
        code = r->host->cut(r->host->context, r->journal, j->at, error);
        if (code == 0) rad__flow_tell(r, RAD_FLOW_JOURNAL_CUT, NULL, text, 0);
    }
    if (r->ended && code == 0) return rad__flow_check_answers(r, error); /* nothing is in doubt */
    rad_flow_record record = {.type = RAD_RECORD_RESUMED};
    if (code == 0) code = rad__flow_runner_put(r, &record, error);
    if (code == 0) code = rad__flow_runner_sync(r, error);
    /* Whoever began the case may have died before its name was durable. */
    if (code == 0) code = r->host->sync_folder(r->host->context, "", error);
    if (code == 0) code = rad__flow_adopt(r, error);
    if (code != 0 || r->options->given.settle_count == 0) return code;
    rad__flow_case_run(r->c, QUANTUM); /* the last record may be before the step that asks for it */
    code = rad__flow_take_asks(r, error);
    return code != 0 ? code : rad__flow_check_answers(r, error);
}

static int resume_from(rad_flow_runner *r, const rad_flow_program *p, const rad_flow_run_options *o,
                       rad_flow_journal *j, rad_error *error)
{
    int code = 0;
    if (strcmp(p->hash, j->header.hash) != 0) return refuse_changed(r, p, error);
    if (strcmp(rad__flow_name(&p->file, p->tree->name), j->header.flow) != 0)
        return rad__error(error, RAD_EINPUT, "this execution is of the flow %s, not of %s", j->header.flow,
                          rad__flow_name(&p->file, p->tree->name));
    code = rad__flow_runner_open(r, r->host, p, o, &j->header, error);
    if (code == 0) code = rad__flow_replay(r, j, error);
    if (code == 0 && !r->ended) code = find_where(r, error);
    if (code == 0) code = rad__flow_check_effects(r, error);
    if (code == 0) code = take_up(r, j, error);
    return code;
}

int rad__flow_resume(const rad_flow_host *host, const rad_flow_program *p, const rad_flow_run_options *o,
                     rad_flow_result *result, rad_error *error)
{
    char *data = NULL;
    size_t size = 0;
    rad_flow_runner r = {.host = host, .lock = -1, .journal = -1, .size = UINT64_MAX};
    *result = (rad_flow_result){0};
    rad_flow_journal *j = rad__alloc(1, sizeof *j);
    if (j == NULL) return rad__error_memory(error);
    int code = check_functions(p, o, error);
    if (code == 0 && host->holder(host->context, "journal", NULL) == RAD_OS_NO_FILE)
        code = rad__error(error, RAD_EINPUT, "holds no execution (no journal)");
    if (code == 0) code = host->check_folder(host->context, "", error);
    if (code == 0) code = check_parts(&r, error);
    if (code == 0) code = refuse_foreign_lock(&r, error);
    if (code == 0) code = take_lock(&r, error);
    if (code == 0) code = take_journal(&r, error);
    if (code == 0) code = write_owner(&r, error);
    if (code == 0) {
        int got = host->read_open(host->context, r.journal, &data, &size, error);
        code = got < 0 ? got : 0;
    }
    if (code == 0) code = rad__flow_journal_open(j, "journal", data, size, error);
    if (code == 0) code = resume_from(&r, p, o, j, error);
    if (code == 0) code = run_turns(&r, result, error);
    rad__flow_runner_close(&r);
    rad__free(data);
    rad__free(j);
    return code;
}
