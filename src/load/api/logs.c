/* logs.c — logs for programs: replayed, stripped, analysed, from files. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/api/disk.h"
#include "load/replay/replay.h"
#include "load/replay/stepper.h"
#include "load/report/analyze.h"
#include "load/report/z6.h"
#include "load/scenario/changes.h"
#include "os/append.h"
#include "os/file.h"
#include "os/signal.h"

#include <stdio.h>
#include <string.h>

enum { RING_BYTES = 8 << 20, Z6_TICK_NS = 1000000 };

/* A log in memory, and a result about its scenario. */
struct opened {
    const void *data;
    size_t size;
    rad__load_log_reader reader;
    rad_load_result *result;
};

static void close_log(struct opened *o)
{
    rad_load_result_free(o->result);
    rad__os_unmap(o->data, o->size);
}

/* What came of reading it, unless it was not all there any more. */
static int outcome(const struct opened *o, int code, rad_error *error)
{
    int whole = rad__os_map_is_whole(o->data, o->reader.name, error);
    return whole != 0 ? whole : code;
}

static int open_log(struct opened *o, const char *path, rad_error *error)
{
    *o = (struct opened){0};
    int code = rad__os_map(path, &o->data, &o->size, error);
    if (code == 0) code = rad__load_log_read(&o->reader, path, o->data, o->size, error);
    o->reader.stop = rad__os_interrupted();
    if (code == 0) code = rad__load_result_open(&o->result, path, o->reader.scenario, error);
    if (code == 0)
        code = rad__load_changes_apply(&o->result->scenario, &o->result->scenario.arena, o->reader.changes, error);
    if (code == 0) {
        o->result->seed = o->reader.header.seed;
        o->result->shards = o->reader.header.shards;
        o->result->level = o->reader.header.level;
        o->result->engine = o->reader.header.engine;
        o->result->log_bytes = o->size;
    } else {
        code = outcome(o, code, error);
        close_log(o);
    }
    return code;
}

/* As open_log; what comes of it goes to a file, which must not be the log itself: it would be emptied first. */
static int open_log_for(struct opened *o, const char *path, const char *output, rad_error *error)
{
    *o = (struct opened){0};
    if (output != NULL && rad__os_same_file(path, output))
        return rad__error(error, RAD_EINPUT, "%s: this is the log itself; expected another file", output);
    return open_log(o, path, error);
}

/* Z6's files are known by how they begin. 1: it is one, and *r has its statistics. */
static int try_z6(rad_load_result **r, const char *path, const char *filter, rad_error *error)
{
    const void *data;
    size_t size;
    int code = rad__os_map(path, &data, &size, error);
    if (code != 0) return code;
    bool is = rad__load_z6_is(data, size);
    if (is && filter != NULL) {
        code = rad__error(error, RAD_EINPUT, "%s: a log of Z6's cannot be filtered", path);
    } else if (is) {
        rad_load_result *made = rad__alloc(1, sizeof *made);
        code = made != NULL ? rad__load_z6_import(made, path, data, size, Z6_TICK_NS, error) : rad__error_memory(error);
        if (code == 0)
            *r = made;
        else
            rad_load_result_free(made);
    }
    int whole = rad__os_map_is_whole(data, path, error);
    if (whole != 0) {
        rad_load_result_free(*r);
        *r = NULL;
        code = whole;
    }
    rad__os_unmap(data, size);
    return code != 0 ? code : is;
}

int rad_load_analyze(rad_load_result **r, const char *path, const char *filter, rad_error *error)
{
    struct opened o;
    rad__error_clear(error);
    *r = NULL;
    int code = try_z6(r, path, filter, error);
    if (code != 0) return code < 0 ? code : 0;
    code = open_log(&o, path, error);
    if (code != 0) return code;
    rad__load_filter f = {0};
    if (filter != NULL) code = rad__load_filter_parse(&f, &o.result->scenario, filter, error);
    if (code == 0) code = rad__load_analyze(o.result, &o.reader, filter != NULL ? &f : NULL, error);
    if (filter != NULL) rad__load_filter_free(&f);
    code = outcome(&o, code, error);
    if (code == 0) {
        *r = o.result;
        o.result = NULL;
    }
    close_log(&o);
    return code;
}

/* Written anew under its name: what is in it counts only when all of it is there. */
static int write_anew(struct opened *o, const char *output, rad_error *error)
{
    rad__load_disk *disk;
    struct rad__load_verdict verdict = {0};
    int code = rad__load_disk_open(&disk, output, RING_BYTES, UINT64_MAX / 2, error);
    if (code != 0) return code;
    code = rad__load_regenerate(&o->reader, &o->result->scenario, rad__load_disk_put, disk, &verdict, NULL, error);
    int closed = rad__load_disk_close(disk, code == 0 ? error : NULL);
    if (code == 0) code = closed;
    if (code != 0) rad__os_remove(output, NULL); /* half of a log is none */
    return code;
}

/* There is nothing in it to compare with: only how much there is of it is known before it is made whole. */
static int look_at_stripped(const struct opened *o, struct rad__load_verdict *v, bool whole, rad_error *error)
{
    struct rad__load_extent extent;
    if (!whole)
        return rad__error(error, RAD_EINPUT, "%s: only inputs are in it; it can be made whole with --output",
                          o->reader.name);
    int code = rad__load_log_survey(&o->reader, &extent, error);
    v->turns = extent.turns;
    v->records = extent.records;
    v->cut_off = extent.cut_off;
    return code;
}

static int replay(struct opened *o, rad_load_verdict *verdict, const char *output, bool partial, rad_error *error)
{
    struct rad__load_verdict v = {.same = true, .over = true};
    int code = o->reader.header.stripped == 0
                   ? rad__load_verify(&o->reader, &o->result->scenario, &v, &o->result->metrics, error)
                   : look_at_stripped(o, &v, output != NULL, error);
    if (code == 0 && output != NULL && (partial || !v.cut_off)) code = write_anew(o, output, error);
    *verdict = (rad_load_verdict){
        .same = v.same, .cut_off = v.cut_off, .turns = v.turns, .records = v.records, .record = v.record};
    memcpy(verdict->text, v.text, sizeof verdict->text);
    o->result->cut_off = v.cut_off;
    o->result->records = v.records;
    o->result->counters = v.counters;
    return code;
}

int rad_load_replay(rad_load_verdict *verdict, rad_load_result **r, const char *path, const char *output, bool partial,
                    rad_error *error)
{
    struct opened o;
    rad__error_clear(error);
    *verdict = (rad_load_verdict){0};
    if (r != NULL) *r = NULL;
    int code = open_log_for(&o, path, output, error);
    if (code != 0) return code;
    code = outcome(&o, replay(&o, verdict, output, partial, error), error);
    if (code == 0 && r != NULL && o.result->metrics.scenario != NULL) {
        *r = o.result;
        o.result = NULL;
    }
    close_log(&o);
    return code;
}

int rad_load_survey(rad_load_extent *extent, const char *path, rad_error *error)
{
    const void *data;
    size_t size;
    rad__load_log_reader reader;
    struct rad__load_extent e = {0};
    rad__error_clear(error);
    *extent = (rad_load_extent){0};
    int code = rad__os_map(path, &data, &size, error);
    if (code != 0) return code;
    bool stub = rad__load_log_is_stub(data, size);
    if (!stub) code = rad__load_log_read(&reader, path, data, size, error);
    if (!stub && code == 0) code = rad__load_log_survey(&reader, &e, error);
    if (code == 0)
        *extent =
            (rad_load_extent){.cut_off = stub || e.cut_off, .in_header = stub, .turns = e.turns, .records = e.records};
    int whole = rad__os_map_is_whole(data, path, error);
    rad__os_unmap(data, size);
    return whole != 0 ? whole : code;
}

int rad_load_strip(const char *path, const char *output, rad_error *error)
{
    struct opened o;
    rad__load_disk *disk = NULL;
    rad__load_log to;
    struct rad__load_raw raw;
    rad__error_clear(error);
    int code = open_log_for(&o, path, output, error), got = 0;
    if (code != 0) return code;
    code = rad__load_disk_open(&disk, output, RING_BYTES, UINT64_MAX / 2, error);
    rad__load_log_open(&to, rad__load_disk_put, disk);
    struct rad__load_log_header header = o.reader.header;
    header.stripped = 1;
    if (code == 0) code = rad__load_log_begin(&to, header, o.reader.scenario, o.reader.changes);
    while (code == 0 && (got = rad__load_log_next(&o.reader, &raw, error)) == 1) {
        if (to.shard != o.reader.block.shard) rad__load_log_flush(&to); /* a block is of one shard */
        to.shard = o.reader.block.shard;
        if (!rad__load_record_is_output(raw.kind)) rad__load_log_raw(&to, &raw);
        code = to.failed;
    }
    if (got < 0) code = got;
    if (code == 0 && !o.reader.cut_off) code = rad__load_log_end(&to);
    if (code == 0) rad__load_log_flush(&to);
    if (code != 0 && to.failed == code && error != NULL) *error = to.error;
    rad__load_log_close(&to);
    int closed = rad__load_disk_close(disk, code == 0 ? error : NULL);
    code = outcome(&o, code != 0 ? code : closed, error);
    if (code != 0 && disk != NULL) rad__os_remove(output, NULL);
    close_log(&o);
    return code;
}

int rad_load_export_z6(const char *path, const char *output, uint64_t *records, rad_error *error)
{
    struct opened o;
    rad__load_disk *disk;
    rad__error_clear(error);
    int code = open_log_for(&o, path, output, error);
    if (code != 0) return code;
    code = rad__load_disk_open(&disk, output, RING_BYTES, UINT64_MAX / 2, error);
    if (code == 0) {
        code = rad__load_z6_export(&o.reader, &o.result->scenario, rad__load_disk_put, disk, records, error);
        int closed = rad__load_disk_close(disk, code == 0 ? error : NULL);
        code = outcome(&o, code != 0 ? code : closed, error);
        if (code != 0) rad__os_remove(output, NULL);
    }
    close_log(&o);
    return code;
}

/* ---- Tick by tick ---------------------------------------------------------------------------------------- */

struct rad_load_stepper {
    struct opened log;
    rad__load_stepper s;
};

int rad_load_stepper_open(rad_load_stepper **out, const char *path, uint32_t shard, rad_error *error)
{
    rad_load_stepper *s = rad__alloc(1, sizeof *s);
    rad__error_clear(error);
    *out = NULL;
    if (s == NULL) return rad__error_memory(error);
    int code = open_log(&s->log, path, error);
    if (code == 0 && shard >= s->log.reader.header.shards) {
        code = rad__error(error, RAD_EINPUT, "shard: %u; the log has %u", shard, s->log.reader.header.shards);
        close_log(&s->log);
    } else if (code == 0) {
        code = rad__load_stepper_begin(&s->s, &s->log.reader, &s->log.result->scenario, shard, error);
        if (code != 0) close_log(&s->log);
    }
    if (code == 0)
        *out = s;
    else
        rad__free(s);
    return code;
}

void rad_load_stepper_free(rad_load_stepper *s)
{
    if (s == NULL) return;
    rad__load_stepper_end(&s->s);
    close_log(&s->log);
    rad__free(s);
}

int rad_load_stepper_go(rad_load_stepper *s, uint64_t turn, rad_error *error)
{
    rad__error_clear(error);
    return outcome(&s->log, rad__load_stepper_go(&s->s, turn, error), error);
}

uint64_t rad_load_stepper_turn(const rad_load_stepper *s)
{
    return s->s.r.turns;
}

bool rad_load_stepper_at_end(const rad_load_stepper *s)
{
    return s->s.ended;
}

/* The text of a buffer, which is given away. */
static char *text_of(rad_bytes *b)
{
    rad__bytes_put(b, "", 1);
    if (!b->failed) return (char *)b->data;
    rad__bytes_free(b);
    return NULL;
}

char *rad_load_stepper_records(const rad_load_stepper *s)
{
    rad_bytes b = {0};
    rad__bytes_put(&b, s->s.records.data, s->s.records.size);
    return text_of(&b);
}

char *rad_load_stepper_state(const rad_load_stepper *s)
{
    rad_bytes b = {0};
    rad__load_stepper_describe(&s->s, &b);
    return text_of(&b);
}

/* ---- Into files ------------------------------------------------------------------------------------------ */

int rad_load_save(const rad_load_result *r, enum rad_load_form form, const char *path, rad_error *error)
{
    char *text = rad_load_text(r, form, error);
    if (text == NULL) return error != NULL ? error->code : RAD_ENOMEM;
    int code = rad__os_write_file(path, text, strlen(text), error);
    rad__free(text);
    return code;
}
