/* run.c — a whole run: its shards, their engines, the log on its way to the disk, and what is left of it. */
#include "load/scheduler/run.h"
#include "base/alloc.h"
#include "base/error.h"
#include "load/api/disk.h"
#include "load/live/live.h"
#include "load/log/merge.h"
#include "load/report/result.h"
#include "load/scenario/changes.h"
#include "load/scheduler/simulated.h"
#include "os/append.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/term.h"
#include "os/thread.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

enum {
    RING_BYTES = 8 << 20,
    SHARDS_MAX = 256,
    PATH_ROOM = 4096,
    SHARD_STACK = 1 << 20,
    TURNS_BETWEEN_LOOKS = 256,
    SEED_SHIFT = 16 /* a drawn seed has 48 bits: it can be typed, and is exact in JSON */
};
static const uint64_t DISK_PATIENCE_NS = 5000000000, WATCH_EVERY_NS = 100000000, SECOND = 1000000000;

struct shard {
    struct whole *whole;
    uint32_t number;
    rad__load_scheduler scheduler;
    rad__load_log log;
    rad__load_engine *engine;
    rad__load_disk *disk;
    rad_os_thread thread;
    uint64_t watched_ns;
    uint32_t turns;
    uint64_t rate_ns, rate_responses, rate_milli; /* of the last second */
    rad_load_progress progress;
    char path[PATH_ROOM];
    int result;
    rad_error error;
};

/* A run of all shards. */
struct whole {
    const rad_load_options *options;
    rad__load_scenario scenario; /* the caller's, with what was changed */
    rad_arena arena;
    const char *text, *changes;
    uint64_t seed;
    uint32_t count;
    uint8_t engine; /* enum rad__load_engine_number */
    struct shard *shards;
    rad_lock lock; /* of the shards' progress */
};

/* ---- Progress -------------------------------------------------------------------------------------------- */

static void measure(struct shard *s, const rad__load_scheduler *c)
{
    const rad__load_metrics *m = &c->metrics;
    if (c->now_ns - s->rate_ns >= SECOND) {
        uint64_t answers = m->all.responses - s->rate_responses;
        s->rate_milli = (uint64_t)((unsigned __int128)answers * 1000 * SECOND / (c->now_ns - s->rate_ns));
        s->rate_ns = c->now_ns;
        s->rate_responses = m->all.responses;
    }
    const struct rad__load_tally *t = &m->all;
    uint64_t ended = t->responses + t->errors + t->timeouts + t->cancelled;
    rad_load_progress p = {.now_ns = c->now_ns,
                           .duration_ns = c->scenario->duration_ns,
                           .requests = t->issued,
                           .responses = t->responses,
                           .errors = t->errors + t->timeouts,
                           .under_way = t->issued - ended,
                           .rate_milli = s->rate_milli,
                           .p50_ns = rad__load_quantile(&m->service, 500000),
                           .p99_ns = rad__load_quantile(&m->service, 990000),
                           .dropped = m->dropped,
                           .late = m->late,
                           .users = c->running};
    rad__lock(&s->whole->lock);
    s->progress = p;
    rad__unlock(&s->whole->lock);
}

static uint64_t slower(uint64_t a, uint64_t b)
{
    if (a == RAD__LOAD_NO_DATA || b == RAD__LOAD_NO_DATA) return a < b ? a : b;
    return a > b ? a : b;
}

/* Of several shards the slower one speaks for latency. */
static rad_load_progress progress_of_all(struct whole *w)
{
    rad_load_progress sum = {.p50_ns = RAD__LOAD_NO_DATA, .p99_ns = RAD__LOAD_NO_DATA};
    rad__lock(&w->lock);
    for (uint32_t i = 0; i < w->count; i++) {
        const rad_load_progress *p = &w->shards[i].progress;
        sum.now_ns = p->now_ns > sum.now_ns ? p->now_ns : sum.now_ns;
        sum.duration_ns = p->duration_ns;
        sum.requests += p->requests;
        sum.responses += p->responses;
        sum.errors += p->errors;
        sum.under_way += p->under_way;
        sum.rate_milli += p->rate_milli;
        sum.p50_ns = slower(sum.p50_ns, p->p50_ns);
        sum.p99_ns = slower(sum.p99_ns, p->p99_ns);
        sum.dropped += p->dropped;
        sum.late += p->late;
        sum.users += p->users;
    }
    rad__unlock(&w->lock);
    return sum;
}

/* Logical time says nothing about how long somebody has been waiting for news: the clock is asked now and then. */
static void watch(void *context, const rad__load_scheduler *c)
{
    struct shard *s = context;
    const rad_load_options *o = s->whole->options;
    if (c->logical && ++s->turns % TURNS_BETWEEN_LOOKS != 0) return;
    uint64_t now = c->logical ? rad__os_now_ns() : c->now_ns;
    if (now - s->watched_ns < WATCH_EVERY_NS) return;
    s->watched_ns = now;
    measure(s, c);
    if (s->number != 0) return;
    rad_load_progress all = progress_of_all(s->whole);
    o->watch(o->context, &all);
}

static bool behind(void *context)
{
    const struct shard *s = context;
    return s->disk != NULL && rad__load_disk_is_behind(s->disk);
}

/* ---- Shards ---------------------------------------------------------------------------------------------- */

/* Without a log nothing is written down, and none can be full. */
static int open_log(struct shard *s, rad_error *error)
{
    struct whole *w = s->whole;
    bool simulated = w->engine == RAD__LOAD_ENGINE_SIMULATED;
    struct rad__load_log_header header = {.seed = w->seed,
                                          .tick_ns = w->scenario.tick_ns,
                                          .shards = w->count,
                                          .level = simulated ? RAD__LOAD_LEVEL_SIMULATED : RAD__LOAD_LEVEL_RECORDED,
                                          .engine = w->engine};
    snprintf((char *)header.tool, sizeof header.tool, "%s", rad_version());
    if (w->options->log == NULL) return 0;
    uint64_t patience = simulated ? UINT64_MAX / 2 : DISK_PATIENCE_NS;
    int result = rad__load_disk_open(&s->disk, s->path, RING_BYTES, patience, error);
    if (result != 0) return result;
    rad__load_log_open(&s->log, rad__load_disk_put, s->disk);
    s->log.shard = s->number;
    result = rad__load_log_begin(&s->log, header, w->text, w->changes);
    return result == 0 ? 0 : rad__error(error, result, "%s", s->log.error.text);
}

static int open_engine(struct shard *s, rad_error *error)
{
    struct whole *w = s->whole;
    if (w->engine == RAD__LOAD_ENGINE_SIMULATED)
        return rad__load_simulated_open(&s->engine, &w->scenario, w->seed, s->number, w->count,
                                        s->scheduler.user_capacity, s->scheduler.pool.conn_count, error);
    rad__load_live_options o = {.scenario = &w->scenario,
                                .seed = w->seed,
                                .shard = s->number,
                                .shards = w->count,
                                .uring = w->engine == RAD__LOAD_ENGINE_URING,
                                .interrupted = w->options->stop,
                                .env = rad__os_env};
    return rad__load_live_open(&s->engine, &o, NULL, error);
}

static int open_shard(struct shard *s, rad_error *error)
{
    struct whole *w = s->whole;
    int result = open_log(s, error);
    rad__load_log *log = s->disk != NULL ? &s->log : NULL;
    if (result == 0)
        result = rad__load_scheduler_open(&s->scheduler, &w->scenario, w->seed, s->number, w->count,
                                          w->engine == RAD__LOAD_ENGINE_SIMULATED, log, error);
    return result == 0 ? open_engine(s, error) : result;
}

static void run_shard(void *context)
{
    struct shard *s = context;
    const rad_load_options *o = s->whole->options;
    struct rad__load_hooks hooks = {.context = s, .stop = o->stop};
    if (o->watch != NULL) hooks.watch = watch;
    if (s->whole->engine != RAD__LOAD_ENGINE_SIMULATED) hooks.behind = behind;
    s->result = rad__load_run(&s->scheduler, s->engine, &hooks, &s->error);
}

/* The disk is closed before the log is read again. */
static void close_disk(struct shard *s)
{
    rad_error error = {0};
    int closed = rad__load_disk_close(s->disk, &error);
    s->disk = NULL;
    if (closed != 0 && s->result == 0) {
        s->result = closed;
        s->error = error;
    }
}

static void close_shard(struct shard *s)
{
    close_disk(s);
    if (s->engine != NULL) s->engine->kind->close(s->engine);
    if (s->scheduler.scenario != NULL) rad__load_scheduler_close(&s->scheduler);
    rad__load_log_close(&s->log);
}

/* ---- All of them ----------------------------------------------------------------------------------------- */

static int run_side_by_side(struct whole *w, rad_error *error)
{
    uint32_t started = 1;
    int result = 0;
    for (; started < w->count && result == 0; started += result == 0)
        result = rad__os_thread_create(&w->shards[started].thread, run_shard, &w->shards[started], SHARD_STACK,
                                       RAD_NONE, error);
    if (result == 0) run_shard(&w->shards[0]);
    for (uint32_t i = 1; i < started; i++) rad__os_thread_join(&w->shards[i].thread);
    return result;
}

static int merge_files(struct whole *w, rad_error *error)
{
    rad__load_log_reader *readers = rad__alloc(w->count, sizeof *readers);
    rad__load_disk *disk = NULL;
    uint32_t mapped = 0;
    int result = readers != NULL ? 0 : rad__error_memory(error);
    for (; mapped < w->count && result == 0; mapped++) {
        const void *data = NULL;
        size_t size = 0;
        result = rad__os_map(w->shards[mapped].path, &data, &size, error);
        if (result == 0) result = rad__load_log_read(&readers[mapped], w->shards[mapped].path, data, size, error);
    }
    if (result == 0) result = rad__load_disk_open(&disk, w->options->log, RING_BYTES, UINT64_MAX / 2, error);
    if (result == 0) result = rad__load_merge(readers, w->count, rad__load_disk_put, disk, error);
    int closed = rad__load_disk_close(disk, result == 0 ? error : NULL);
    for (uint32_t i = 0; readers != NULL && i < mapped; i++) rad__os_unmap(readers[i].data, (size_t)readers[i].size);
    rad__free(readers);
    if (result == 0) result = closed;
    for (uint32_t i = 0; i < w->count && result == 0; i++) rad__os_remove(w->shards[i].path, NULL);
    return result;
}

static int run_all(struct whole *w, rad_error *error)
{
    int result = 0;
    for (uint32_t i = 0; i < w->count && result == 0; i++) {
        struct shard *s = &w->shards[i];
        int length = 0;
        s->whole = w;
        s->number = i;
        s->progress.p50_ns = s->progress.p99_ns = RAD__LOAD_NO_DATA;
        if (w->options->log != NULL)
            length = w->count == 1 ? snprintf(s->path, PATH_ROOM, "%s", w->options->log)
                                   : snprintf(s->path, PATH_ROOM, "%s.shard%u", w->options->log, i);
        result = length < PATH_ROOM ? open_shard(s, error)
                                    : rad__error(error, RAD_EINPUT, "%.100s...: the path is too long", w->options->log);
    }
    if (result == 0) result = run_side_by_side(w, error);
    for (uint32_t i = 0; i < w->count; i++) {
        close_disk(&w->shards[i]);
        if (result == 0 && w->shards[i].result != 0)
            result = rad__error(error, w->shards[i].result, "%s", w->shards[i].error.text);
    }
    return result;
}

/* ---- What is left ---------------------------------------------------------------------------------------- */

static enum rad_load_end end_of(const struct whole *w)
{
    enum rad_load_end end = RAD_LOAD_DONE;
    for (uint32_t i = 0; i < w->count; i++) {
        const rad__load_scheduler *c = &w->shards[i].scheduler;
        if (c->interrupted) end = RAD_LOAD_INTERRUPTED;
        if (c->aborted) end = RAD_LOAD_ABORTED;
        if (c->exhausted != RAD__LOAD_OK) end = RAD_LOAD_EXHAUSTED;
    }
    return end;
}

static int make_result(rad_load_result **out, struct whole *w, const char *path, rad_error *error)
{
    int result = rad__load_result_open(out, path, w->text, error);
    if (result != 0) return result;
    rad_load_result *r = *out;
    result = rad__load_changes_apply(&r->scenario, &r->scenario.arena, w->changes, error);
    r->seed = w->seed;
    r->shards = w->count;
    r->engine = w->engine;
    r->level = w->engine == RAD__LOAD_ENGINE_SIMULATED ? RAD__LOAD_LEVEL_SIMULATED : RAD__LOAD_LEVEL_RECORDED;
    r->end = end_of(w);
    for (uint32_t i = 0; i < w->count && result == 0; i++)
        if (w->shards[i].scheduler.scenario != NULL && !rad__load_result_take(r, &w->shards[i].scheduler))
            result = rad__error_memory(error);
    return result;
}

/* ---- The public side ------------------------------------------------------------------------------------- */

rad_load_options rad_load_defaults(void)
{
    return (rad_load_options){.engine = RAD_LOAD_AUTO, .shards = 1};
}

static int choose_engine(struct whole *w, rad_error *error)
{
    const rad_load_options *o = w->options;
    bool simulated = w->scenario.has_simulated && o->target == NULL;
    switch (o->engine) {
    case RAD_LOAD_AUTO: w->engine = simulated ? RAD__LOAD_ENGINE_SIMULATED : RAD__LOAD_ENGINE_EPOLL; break;
    case RAD_LOAD_SIMULATED: w->engine = RAD__LOAD_ENGINE_SIMULATED; break;
    case RAD_LOAD_EPOLL: w->engine = RAD__LOAD_ENGINE_EPOLL; break;
    case RAD_LOAD_URING: w->engine = RAD__LOAD_ENGINE_URING; break;
    default: return rad__error(error, RAD_EINPUT, "engine: there is no engine %d", (int)o->engine);
    }
    if (w->engine == RAD__LOAD_ENGINE_SIMULATED && !w->scenario.has_simulated)
        return rad__error(error, RAD_EINPUT, "the scenario has no [simulated] target");
    if (w->engine != RAD__LOAD_ENGINE_SIMULATED && o->target == NULL && w->scenario.has_simulated &&
        strcmp(w->scenario.targets[0].url, RAD__LOAD_SIMULATED_URL) == 0)
        return rad__error(error, RAD_EINPUT,
                          "the scenario has only its [simulated] target; --target URL names a real one");
    return 0;
}

static int check_shards(const struct whole *w, rad_error *error)
{
    if (w->count > SHARDS_MAX || w->count > w->scenario.users)
        return rad__error(error, RAD_EINPUT, "shards: %u; at most %d, and no more than there are users (%u)", w->count,
                          SHARDS_MAX, w->scenario.users);
    for (uint32_t i = 0; i < w->scenario.assertion_count && w->count > 1; i++)
        if (w->scenario.assertions[i].abort)
            return rad__error(error, RAD_EINPUT, "assertion %s ends the run early: that needs a single shard",
                              w->scenario.assertions[i].name);
    return 0;
}

static int prepare(struct whole *w, const rad_load_scenario *s, rad_error *error)
{
    const rad_load_options *o = w->options;
    w->scenario = s->s;
    w->text = s->text;
    w->changes = rad__load_changes_make(&w->arena, o->target);
    if (w->changes == NULL) return rad__error_memory(error);
    w->seed = o->seed != 0 ? o->seed : s->s.seed != 0 ? s->s.seed : rad__os_random() >> SEED_SHIFT | 1;
    w->count = o->shards != 0 ? o->shards : 1;
    int result = rad__load_changes_apply(&w->scenario, &w->arena, w->changes, error);
    if (result == 0) result = choose_engine(w, error);
    if (result == 0) result = check_shards(w, error);
    if (result != 0) return result;
    w->shards = rad__alloc(w->count, sizeof *w->shards);
    return w->shards != NULL ? 0 : rad__error_memory(error);
}

int rad_load_run(rad_load_result **r, const rad_load_scenario *s, const rad_load_options *o, rad_error *error)
{
    struct whole w = {.options = o};
    rad__error_clear(error);
    *r = NULL;
    int result = prepare(&w, s, error);
    bool prepared = result == 0;
    if (prepared) result = run_all(&w, error);
    bool ran = prepared && w.shards[w.count - 1].engine != NULL;
    if (ran && w.count > 1 && o->log != NULL && result == 0) result = merge_files(&w, error);
    if (ran) {
        rad_error ignored = {0};
        int made = make_result(r, &w, s->path, result == 0 ? error : &ignored);
        if (result == 0) result = made;
        if (made != 0) {
            rad_load_result_free(*r);
            *r = NULL;
        }
    }
    for (uint32_t i = 0; w.shards != NULL && i < w.count; i++) close_shard(&w.shards[i]);
    rad__free(w.shards);
    rad__arena_free(&w.arena);
    return result;
}

int rad_load_check(const rad_load_scenario *s, rad_error *error)
{
    rad__error_clear(error);
    return rad__load_live_check(&s->s, rad__os_env, error);
}
