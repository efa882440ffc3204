/* analyze.c — see analyze.h. */
#include "load/report/analyze.h"

#include "base/alloc.h"
#include "base/error.h"
#include "load/replay/causality.h"

#include <inttypes.h>

/* What is known of a shard so far. */
struct shard {
    rad__load_causality causality;
    rad__load_metrics metrics;
    uint64_t now_ns;
    struct rad__load_asked *asked; /* by user: only while requests are judged */
    uint32_t asked_capacity;
    bool begun;
};

struct analysis {
    rad_load_result *result;
    rad__load_log_reader reader;
    const rad__load_filter *filter;
    struct shard *shards;
    uint64_t ordinal; /* of the next request in the log */
    uint64_t *chosen; /* a bit for each request of the log */
    uint32_t chosen_capacity;
    bool judging; /* the first of two readings: nothing is counted */
};

static int bad(const struct analysis *a, const char *wrong, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: record %" PRIu64 " (block %" PRIu64 "): %s", a->reader.name,
                      a->reader.record, a->reader.blocks, wrong);
}

/* ---- Shards ---------------------------------------------------------------------------------------------- */

static int begin_shard(struct analysis *a, uint32_t number, rad_error *error)
{
    struct shard *s = &a->shards[number];
    const rad__load_scenario *scenario = &a->result->scenario;
    rad__load_causality_begin(&s->causality, scenario, number, a->reader.header.shards);
    s->begun = true;
    if (!a->judging && !rad__load_metrics_open(&s->metrics, scenario)) return rad__error_memory(error);
    return 0;
}

static void free_shard(struct shard *s)
{
    rad__load_causality_free(&s->causality);
    if (s->metrics.scenario != NULL) rad__load_metrics_close(&s->metrics);
    rad__free(s->asked);
    *s = (struct shard){0};
}

static void free_shards(struct analysis *a)
{
    for (uint32_t i = 0; a->shards != NULL && i < a->reader.header.shards; i++) free_shard(&a->shards[i]);
    rad__free(a->shards);
    a->shards = NULL;
}

/* ---- Choosing -------------------------------------------------------------------------------------------- */

static bool choose(struct analysis *a, uint64_t ordinal)
{
    if (ordinal / 64 >= UINT32_MAX / 2 || !RAD_GROW(&a->chosen, &a->chosen_capacity, (uint32_t)(ordinal / 64) + 1))
        return false;
    a->chosen[ordinal / 64] |= UINT64_C(1) << ordinal % 64;
    return true;
}

static bool is_chosen(const struct analysis *a, uint64_t ordinal)
{
    return ordinal / 64 < a->chosen_capacity && (a->chosen[ordinal / 64] >> ordinal % 64 & 1);
}

static bool is_outcome(uint32_t kind)
{
    return kind == RAD__LOAD_RESPONSE || kind == RAD__LOAD_ERROR || kind == RAD__LOAD_TIMEOUT ||
           kind == RAD__LOAD_CANCELLED;
}

static bool judge_one(struct analysis *a, struct shard *s, uint32_t vu)
{
    return !rad__load_filter_holds(a->filter, &s->asked[vu]) || choose(a, s->causality.users[vu].ordinal);
}

/* False: memory ran out. */
static bool judge(struct analysis *a, struct shard *s, const rad__load_event *e)
{
    if (e->kind == RAD__LOAD_ISSUED) {
        if (!RAD_GROW(&s->asked, &s->asked_capacity, e->vu + 1)) return false;
        s->asked[e->vu] = (struct rad__load_asked){.issued = *e,
                                                   .outcome.kind = RAD__LOAD_ISSUED,
                                                   .issued_ns = s->now_ns,
                                                   .shard = (uint32_t)(s - a->shards),
                                                   .shards = a->reader.header.shards};
        return true;
    }
    if (!is_outcome(e->kind)) return true;
    s->asked[e->vu].outcome = *e;
    bool ok = judge_one(a, s, e->vu);
    s->asked[e->vu].issued.request = 0;
    return ok;
}

/* Requests that were under way when the log was cut off. */
static bool judge_rest(struct analysis *a)
{
    bool ok = true;
    for (uint32_t i = 0; i < a->reader.header.shards; i++) {
        struct shard *s = &a->shards[i];
        for (uint32_t vu = 0; ok && vu < s->asked_capacity; vu++)
            ok = s->asked[vu].issued.request == 0 || judge_one(a, s, vu);
    }
    return ok;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static void note_end(struct analysis *a, const struct shard *s, const rad__load_event *e)
{
    enum rad_load_end *end = &a->result->end;
    if (e->kind == RAD__LOAD_ASSERTION_FAILED && s->causality.phase != RAD__LOAD_OVER) *end = RAD_LOAD_ABORTED;
    if (e->kind == RAD__LOAD_PHASE && e->fault != RAD__LOAD_OK) *end = RAD_LOAD_EXHAUSTED;
}

static int take_event(struct analysis *a, struct shard *s, const struct rad__load_raw *raw, rad_error *error)
{
    rad__load_event e;
    const char *wrong = rad__load_get_event(raw, &e);
    if (wrong == NULL) wrong = rad__load_causality_event(&s->causality, &e);
    if (RAD_UNLIKELY(wrong != NULL)) return s->causality.failed ? rad__error_memory(error) : bad(a, wrong, error);
    bool of_request = e.kind == RAD__LOAD_ISSUED || is_outcome(e.kind);
    if (RAD_UNLIKELY(!of_request)) note_end(a, s, &e);
    if (e.kind == RAD__LOAD_ISSUED) s->causality.users[e.vu].ordinal = a->ordinal++;
    if (a->judging) return judge(a, s, &e) ? 0 : rad__error_memory(error);
    if (a->filter == NULL || !of_request || is_chosen(a, s->causality.users[e.vu].ordinal))
        rad__load_metrics_feed(&s->metrics, &e);
    return RAD_UNLIKELY(s->metrics.failed) ? rad__error_memory(error) : 0;
}

static int take_turn(struct analysis *a, struct shard *s, const struct rad__load_raw *raw, rad_error *error)
{
    struct rad__load_turn_record turn;
    const char *wrong = rad__load_get_turn(raw, &turn);
    if (wrong == NULL && turn.passed_ns > UINT64_MAX / 2 - s->now_ns) wrong = "time runs over";
    if (wrong == NULL && s->causality.phase == RAD__LOAD_OVER) wrong = "a turn after the run is over";
    if (wrong != NULL) return bad(a, wrong, error);
    s->now_ns += turn.passed_ns;
    if (turn.flags & RAD__LOAD_TURN_INTERRUPTED) a->result->end = RAD_LOAD_INTERRUPTED;
    if (!a->judging) rad__load_metrics_turn(&s->metrics, s->now_ns);
    return 0;
}

/* A log with an end is of runs that are over; of a shard alone, when the others are elsewhere. */
static int check_end(const struct analysis *a, rad_error *error)
{
    bool any = false, over = true;
    for (uint32_t i = 0; i < a->reader.header.shards; i++) {
        any |= a->shards[i].begun;
        over &= !a->shards[i].begun || a->shards[i].causality.phase == RAD__LOAD_OVER;
    }
    if (any && over) return 0;
    return rad__error(error, RAD_EINPUT, "%s: it ends after record %" PRIu64 ", but the run is not over",
                      a->reader.name, a->reader.record);
}

static int read_all(struct analysis *a, rad_error *error)
{
    struct rad__load_raw raw;
    int got, result = 0;
    while (result == 0 && (got = rad__load_log_next(&a->reader, &raw, error)) != 0) {
        if (got < 0) return got;
        if (raw.kind > RAD__LOAD_RECORD_TURN) continue; /* an input: the events tell it all */
        struct shard *s = &a->shards[a->reader.block.shard];
        if (RAD_UNLIKELY(!s->begun)) result = begin_shard(a, a->reader.block.shard, error);
        if (result == 0 && raw.kind == RAD__LOAD_RECORD_TURN)
            result = take_turn(a, s, &raw, error);
        else if (result == 0)
            result = take_event(a, s, &raw, error);
    }
    return result == 0 && a->reader.ended ? check_end(a, error) : result;
}

/* ---- Both readings --------------------------------------------------------------------------------------- */

/* One reading of the log, from its first block. */
static int reading(struct analysis *a, const rad__load_log_reader *from, rad_error *error)
{
    a->reader = *from;
    a->ordinal = 0;
    a->shards = rad__alloc(from->header.shards, sizeof *a->shards);
    if (a->shards == NULL) return rad__error_memory(error);
    int result = read_all(a, error);
    if (result == 0 && a->judging && !judge_rest(a)) result = rad__error_memory(error);
    if (a->judging) free_shards(a);
    return result;
}

/* Shards in ascending order: the result does not depend on how their blocks lie. */
static int gather(struct analysis *a, rad_error *error)
{
    rad_load_result *r = a->result;
    bool ok = rad__load_metrics_open(&r->metrics, &r->scenario);
    for (uint32_t i = 0; ok && i < a->reader.header.shards; i++) {
        struct shard *s = &a->shards[i];
        if (!s->begun) continue;
        rad__load_metrics_end(&s->metrics);
        ok = rad__load_metrics_merge(&r->metrics, &s->metrics) && !s->metrics.failed;
        r->connections_most += s->causality.open_most;
        r->under_way += s->causality.under_way;
    }
    if (ok) return 0;
    if (r->metrics.scenario != NULL) rad__load_metrics_close(&r->metrics);
    return rad__error_memory(error);
}

int rad__load_analyze(rad_load_result *r, const rad__load_log_reader *from, const rad__load_filter *filter,
                      rad_error *error)
{
    const struct rad__load_log_header *h = &from->header;
    if (h->stripped)
        return rad__error(error, RAD_EINPUT, "%s: only inputs are in this log; a replay of it writes a whole one",
                          from->name);
    r->seed = h->seed;
    r->shards = h->shards;
    r->level = h->level;
    r->engine = h->engine;
    r->end = RAD_LOAD_DONE;
    r->filtered = filter != NULL;
    r->log_bytes = from->size;
    r->connections_most = 0;
    r->under_way = 0;
    struct analysis a = {.result = r, .filter = filter, .judging = filter != NULL};
    int result = 0;
    if (a.judging) result = reading(&a, from, error);
    a.judging = false;
    if (result == 0) result = reading(&a, from, error);
    if (result == 0) result = gather(&a, error);
    r->cut_off = a.reader.cut_off;
    r->records = a.reader.record;
    r->chain = a.reader.chain;
    free_shards(&a);
    rad__free(a.chosen);
    return result;
}
