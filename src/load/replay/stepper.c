/* stepper.c — see stepper.h. */
#include "load/replay/stepper.h"

#include "base/error.h"
#include "load/scheduler/snapshot.h"

#include <inttypes.h>

static int discard(void *context, const void *data, size_t size, rad_error *error)
{
    (void)context;
    (void)data;
    (void)size;
    (void)error;
    return 0;
}

/* Each record as it is written, in words. */
static void read_along(void *context, const uint8_t *record, size_t size)
{
    rad__load_stepper *s = context;
    rad_reader r = rad__reader(record, size);
    struct rad__load_raw raw;
    char text[400];
    if (!rad__load_get_raw(&r, &raw)) return;
    rad__load_record_text(&raw, text, sizeof text);
    rad__bytes_format(&s->records, "%s%s\n", rad__load_record_is_output(raw.kind) ? "  -> " : "", text);
}

/* ---- Snapshots ------------------------------------------------------------------------------------------- */

static void drop(struct rad__load_snapshot *snapshot)
{
    rad__load_scheduler_close(&snapshot->scheduler);
}

/* Every other one goes. */
static void thin_out(rad__load_stepper *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (i % 2 == 0)
            s->snapshots[kept++] = s->snapshots[i];
        else
            drop(&s->snapshots[i]);
    s->count = kept;
    s->apart *= 2;
}

static int take_snapshot(rad__load_stepper *s, rad_error *error)
{
    if (s->count == RAD__LOAD_SNAPSHOTS) thin_out(s);
    struct rad__load_snapshot *to = &s->snapshots[s->count];
    const rad__load_log *log = &s->r.log;
    *to = (struct rad__load_snapshot){.reader = s->r.reader,
                                      .now_ns = s->r.now_ns,
                                      .turns = s->r.turns,
                                      .written = log->written,
                                      .block_size = log->block.size,
                                      .block_records = log->records};
    if (!rad__load_scheduler_copy(&to->scheduler, &s->r.scheduler, NULL)) return rad__error_memory(error);
    s->count++;
    return 0;
}

static bool wants_snapshot(const rad__load_stepper *s)
{
    return s->r.turns % s->apart == 0 && s->r.turns > s->snapshots[s->count - 1].turns;
}

/* Nobody reads what the log writes here, but how much it is decides when the run ends. */
static void rewind_log(rad__load_log *log, const struct rad__load_snapshot *to)
{
    log->written = to->written;
    log->block.size = to->block_size; /* it was as large before, so there is room */
    log->records = to->block_records;
    log->failed = 0;
}

static int restore(rad__load_stepper *s, uint64_t turn, rad_error *error)
{
    uint32_t i = s->count;
    while (s->snapshots[--i].turns > turn) {
    }
    const struct rad__load_snapshot *from = &s->snapshots[i];
    rad__load_scheduler copy;
    if (!rad__load_scheduler_copy(&copy, &from->scheduler, &s->r.log)) return rad__error_memory(error);
    rad__load_scheduler_close(&s->r.scheduler);
    s->r.scheduler = copy;
    rewind_log(&s->r.log, from);
    s->r.reader = from->reader;
    s->r.now_ns = from->now_ns;
    s->r.turns = from->turns;
    s->ended = false;
    s->records.size = 0;
    return 0;
}

/* ---- Going ----------------------------------------------------------------------------------------------- */

int rad__load_stepper_begin(rad__load_stepper *s, const rad__load_log_reader *from, const rad__load_scenario *scenario,
                            uint32_t shard, rad_error *error)
{
    *s = (rad__load_stepper){.apart = 64};
    int result = rad__load_replayer_open(&s->r, from, scenario, shard, discard, NULL, error);
    s->r.log.tap = read_along;
    s->r.log.tap_context = s;
    if (result == 0) result = take_snapshot(s, error);
    if (result != 0) rad__load_stepper_end(s);
    return result;
}

void rad__load_stepper_end(rad__load_stepper *s)
{
    for (uint32_t i = 0; i < s->count; i++) drop(&s->snapshots[i]);
    rad__load_replayer_close(&s->r);
    rad__bytes_free(&s->records);
    s->count = 0;
}

int rad__load_stepper_go(rad__load_stepper *s, uint64_t turn, rad_error *error)
{
    int result = turn < s->r.turns ? restore(s, turn, error) : 0;
    while (result == 0 && s->r.turns < turn && !s->ended) {
        s->records.size = 0;
        int got = rad__load_replayer_step(&s->r, error);
        s->ended = got <= 0; /* nobody goes on from half a turn, only back */
        if (got < 0) return got;
        s->ended = got == 0 || rad__load_scheduler_over(&s->r.scheduler);
        if (got == 1 && wants_snapshot(s)) result = take_snapshot(s, error);
    }
    return result;
}

void rad__load_stepper_describe(const rad__load_stepper *s, rad_bytes *to)
{
    static const char *const STATES[] = {"spawned", "ready", "executing", "waiting", "complete"};
    static const char *const WAITS[] = {
        "", " to start", " for an answer", " in thought", " for a connection", " for an arrival"};
    const rad__load_scheduler *c = &s->r.scheduler;
    const struct rad__load_tally *t = &c->metrics.all;
    rad__bytes_format(to,
                      "turn %" PRIu64 ", tick %" PRIu64 ", %.6f s: %" PRIu32 " of %" PRIu32 " users, %" PRIu32
                      " ready, %" PRIu64 " requests, %" PRIu64 " answered, %" PRIu64 " failed\n",
                      s->r.turns, c->tick, (double)c->now_ns * 1e-9, c->running, c->user_count, c->ready_count,
                      t->issued, t->responses, t->errors + t->timeouts);
    for (uint32_t i = 0; i < c->user_count && i < 100; i++) {
        const struct rad__load_user *u = &c->users[i];
        rad__bytes_format(to,
                          "  user %" PRIu32 ": %s%s, iteration %" PRIu64 ", step %" PRIu32 ", request %" PRIu64 "\n", i,
                          STATES[u->state], WAITS[u->waits], u->iteration, u->step, u->request);
    }
    if (c->user_count > 100) rad__bytes_format(to, "  and %" PRIu32 " more\n", c->user_count - 100);
}
