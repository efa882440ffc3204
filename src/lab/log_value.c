/* log_value.c — see log_value.h. A value is immutable, so that any number of walks and replays can share it; each has a
 * reader of its own. */
#include "lab/log_value.h"

#include "base/alloc.h"
#include "base/bitset.h"
#include "lab/case.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

struct rad_log {
    char *name;
    uint8_t *bytes;
    size_t size;
    rad_target target; /* owns its body */
    char policy[sizeof((rad_log_head *)NULL)->policy];
    uint64_t seed;
    rad_log_record end;
};

/* ---- Making ----------------------------------------------------------------------------------------- */

void rad_log_free(rad_log *log)
{
    if (log == NULL) return;
    rad_target_free(&log->target);
    rad__free(log->name);
    rad__free(log->bytes);
    rad__free(log);
}

int rad__log_value_open(rad_log_in **in, const rad_log *log, rad_error *error)
{
    return rad__log_open_bytes(in, log->bytes, log->size, log->name, error);
}

/* The reader checks a record against those before it. */
static int check_records(rad_log *log, rad_error *error)
{
    rad_log_in *in;
    int code = rad__log_value_open(&in, log, error);
    if (code != 0) return code;
    const rad_log_head *h = rad__log_head(in);
    log->seed = h->seed;
    snprintf(log->policy, sizeof log->policy, "%s", h->policy);
    code = rad__target_copy(&log->target, &h->target, error);
    int got = 1;
    while (code == 0 && got == 1) {
        got = rad__log_next(rad__log_reader(in), &log->end, error);
        if (got < 0) code = got;
    }
    rad__log_close(in);
    return code;
}

/* Takes the bytes over. */
static int value_make(rad_log **out, uint8_t *bytes, size_t size, const char *name, rad_error *error)
{
    rad_log *log = rad__alloc(1, sizeof *log);
    *out = NULL;
    if (log == NULL) {
        rad__free(bytes);
        return rad__error_memory(error);
    }
    log->bytes = bytes;
    log->size = size;
    log->name = rad__copy_text(name);
    int code = log->name != NULL ? check_records(log, error) : rad__error_memory(error);
    if (code != 0) {
        rad_log_free(log);
        return code;
    }
    *out = log;
    return 0;
}

int rad__log_of_bytes(rad_log **log, const void *bytes, size_t size, const char *name, rad_error *error)
{
    uint8_t *copy = rad__alloc(size, 1);
    *log = NULL;
    if (copy == NULL) return rad__error_memory(error);
    memcpy(copy, bytes, size);
    return value_make(log, copy, size, name, error);
}

int rad_log_read(rad_log **log, const char *path, rad_error *error)
{
    char *bytes;
    size_t size;
    *log = NULL;
    rad__error_clear(error);
    int code = rad__os_read_file(path, RAD_LOG_BYTES_MAX, &bytes, &size, error);
    return code ? code : value_make(log, (uint8_t *)bytes, size, path, error);
}

int rad_log_write(const rad_log *log, const char *path, rad_error *error)
{
    rad_os_writer *w;
    rad__error_clear(error);
    int code = rad__os_writer_open(&w, path, error);
    if (code != 0) return code;
    code = rad__os_writer_put(w, log->bytes, log->size, error);
    if (code == 0) return rad__os_writer_keep(w, error);
    rad__os_writer_discard(w);
    return code;
}

void rad_log_look(const rad_log *log, rad_log_facts *out)
{
    static const enum rad_result results[] = {
        [RAD_LOG_FINISHED] = RAD_RESULT_PASS, [RAD_LOG_FAILED] = RAD_RESULT_FAILURE, [RAD_LOG_CUT] = RAD_RESULT_CUT};
    *out = (rad_log_facts){
        .target = &log->target,
        .policy = log->policy,
        .seed = log->seed,
        .steps = log->end.steps,
        .decisions = log->end.decisions,
        .result = results[log->end.result],
    };
    rad__digest_text(log->end.digest, out->trace_hash);
}

/* ---- Walking ---------------------------------------------------------------------------------------- */

struct rad_log_walk {
    rad_log_in *in;
    rad_log_record record;
    rad_log_member *defined; /* by number */
    uint32_t defined_capacity;
    rad_bitset members;
    rad_log_member *set;
    uint32_t set_capacity;
};

int rad_log_begin(rad_log_walk **out, const rad_log *log, rad_error *error)
{
    rad_log_walk *w = rad__alloc(1, sizeof *w);
    *out = NULL;
    rad__error_clear(error);
    if (w == NULL) return rad__error_memory(error);
    int code = rad__log_value_open(&w->in, log, error);
    if (code != 0) {
        rad__free(w);
        return code;
    }
    *out = w;
    return 0;
}

void rad_log_end(rad_log_walk *w)
{
    if (w == NULL) return;
    rad__log_close(w->in);
    rad__bitset_free(&w->members);
    rad__free(w->defined);
    rad__free(w->set);
    rad__free(w);
}

static bool walk_define(rad_log_walk *w)
{
    const rad_log_record *r = &w->record;
    if (!RAD_GROW(&w->defined, &w->defined_capacity, r->action + 1) || !rad__bitset_reserve(&w->members, r->action + 1))
        return false;
    const rad_log_action *a = &r->definition;
    w->defined[r->action] = (rad_log_member){r->action, a->kind, a->actor, a->object, a->argument};
    return true;
}

static void walk_change(rad_log_walk *w)
{
    const rad_log_record *r = &w->record;
    for (uint32_t i = 0; i < r->removed_count; i++) rad__bitset_remove(&w->members, r->removed[i]);
    for (uint32_t i = 0; i < r->added_count; i++) rad__bitset_add(&w->members, r->added[i]);
}

static bool walk_set(rad_log_walk *w, rad_log_decision *out)
{
    uint32_t count = 0;
    if (!RAD_GROW(&w->set, &w->set_capacity, w->members.count)) return false;
    for (uint32_t a = rad__bitset_next(&w->members, 0); a != RAD_NONE; a = rad__bitset_next(&w->members, a + 1))
        w->set[count++] = w->defined[a];
    out->set = w->set;
    out->chosen = rad__bitset_rank(&w->members, w->record.chosen);
    return true;
}

int rad_log_next(rad_log_walk *w, rad_log_decision *out, rad_error *error)
{
    rad_log_record *r = &w->record;
    rad__error_clear(error);
    for (;;) {
        int got = rad__log_next(rad__log_reader(w->in), r, error);
        if (got <= 0) return got;
        if (r->what == RAD_LOG_DEFINE && !walk_define(w)) return rad__error_memory(error);
        if (r->what == RAD_LOG_CHANGES || r->what == RAD_LOG_DECISION) walk_change(w);
        if (r->what != RAD_LOG_DECISION && r->what != RAD_LOG_PICK) continue;
        *out = (rad_log_decision){
            .sequence = r->sequence,
            .kind = (enum rad_pick_kind)r->kind,
            .site = r->site,
            .count = r->count,
            .chosen = r->chosen,
        };
        if (r->what == RAD_LOG_DECISION && !walk_set(w, out)) return rad__error_memory(error);
        return 1;
    }
}
