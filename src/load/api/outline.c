/* outline.c — a scenario in a few lines for people: what will happen, and what has to hold. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "load/report/result.h"
#include "load/scenario/read.h"

#include <inttypes.h>

enum { LIST_MOST = 12 }; /* requests, targets, steps and stages that are told one by one */

static void put_time(rad_bytes *out, const char *before, uint64_t ns)
{
    char text[RAD__LOAD_TIME_TEXT];
    rad__bytes_format(out, "%s%s", before, rad__load_time_text(ns, text));
}

static void put_scaled(rad_bytes *out, const char *before, uint64_t scaled, uint32_t decimals)
{
    char text[RAD__LOAD_TIME_TEXT];
    rad__bytes_format(out, "%s%s", before, rad__load_scaled_text(scaled, decimals, text));
}

/* The label of a line; the lines after the first of a list have none. */
static void put_label(rad_bytes *out, const char *label)
{
    rad__bytes_format(out, "  %-11s", label);
}

static void put_more(rad_bytes *out, uint32_t count)
{
    if (count <= LIST_MOST) return;
    put_label(out, "");
    rad__bytes_format(out, "and %u more\n", count - LIST_MOST);
}

/* ---- When ------------------------------------------------------------------------------------------------ */

static void put_level(rad_bytes *out, const rad__load_scenario *s, uint64_t level)
{
    if (s->schedule.model == RAD__LOAD_OPEN)
        put_scaled(out, "", level, 3);
    else
        rad__bytes_format(out, "%" PRIu64, level);
}

static void put_stage(rad_bytes *out, const rad__load_scenario *s, const struct rad__load_stage *stage)
{
    const char *unit = s->schedule.model == RAD__LOAD_OPEN ? " arrivals a second"
                       : stage->to == 1                    ? " virtual user"
                                                           : " virtual users";
    if (stage->from != stage->to) {
        put_level(out, s, stage->from);
        rad__bytes_format(out, " to ");
    }
    put_level(out, s, stage->to);
    rad__bytes_format(out, "%s", unit);
    if (s->iterations != 0)
        rad__bytes_format(out, ", %" PRIu64 " iteration%s each\n", s->iterations, s->iterations == 1 ? "" : "s");
    else
        put_time(out, stage->from != stage->to ? " in " : " for ", stage->length_ns);
    if (s->iterations == 0) rad__bytes_format(out, "\n");
}

static void put_when(rad_bytes *out, const rad__load_scenario *s)
{
    const struct rad__load_schedule *when = &s->schedule;
    for (uint32_t i = 0; i < when->stage_count && i < LIST_MOST; i++) {
        put_label(out, i == 0 ? "schedule" : "then");
        put_stage(out, s, &when->stages[i]);
    }
    put_more(out, when->stage_count);
    if (when->model == RAD__LOAD_OPEN) {
        put_label(out, "served by");
        rad__bytes_format(out, "%u virtual users, %s; an arrival that finds all of them busy %s\n", s->users,
                          when->in_turn ? "in turn" : "the one that was busy last first",
                          when->drop ? "is dropped" : "waits");
    }
    if (s->pause != RAD__LOAD_NO_PAUSE) {
        put_label(out, "think time");
        put_time(out, "", s->pause_low_ns);
        if (s->pause_high_ns > s->pause_low_ns) put_time(out, " to ", s->pause_high_ns);
        rad__bytes_format(out, " after each request\n");
    }
    if (s->warmup_ns > 0) {
        put_label(out, "warm-up");
        put_time(out, "", s->warmup_ns);
        rad__bytes_format(out, ", left out of statistics\n");
    }
}

/* ---- What ------------------------------------------------------------------------------------------------ */

static void put_requests(rad_bytes *out, const rad__load_scenario *s)
{
    bool drawn = s->steps[0].request == RAD_NONE;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->request_count; i++) sum += s->requests[i].weight;
    for (uint32_t i = 0; i < s->request_count && i < LIST_MOST; i++) {
        const struct rad__load_request *q = &s->requests[i];
        put_label(out, i == 0 ? "requests" : "");
        rad__bytes_format(out, "%.60s: %s %.80s", q->name, q->method, q->path);
        if (drawn && s->request_count > 1) {
            uint64_t tenths = (uint64_t)(((unsigned __int128)q->weight * 1000 + sum / 2) / sum);
            put_scaled(out, ", ", tenths, 1);
            rad__bytes_format(out, " %%");
        }
        if (q->target != RAD_NONE && s->target_count > 1)
            rad__bytes_format(out, ", of %.60s", s->targets[q->target].name);
        if (q->check_count > 0) rad__bytes_format(out, ", %u check%s", q->check_count, q->check_count == 1 ? "" : "s");
        rad__bytes_format(out, "\n");
    }
    put_more(out, s->request_count);
    if (drawn) return;
    for (uint32_t i = 0; i < s->step_count && i < LIST_MOST; i++) {
        put_label(out, i == 0 ? "sequence" : "");
        rad__bytes_format(out, "%.60s", s->requests[s->steps[i].request].name);
        if (s->steps[i].repeat > 1) rad__bytes_format(out, ", %u times", s->steps[i].repeat);
        rad__bytes_format(out, "\n");
    }
    put_more(out, s->step_count);
}

static void put_targets(rad_bytes *out, const rad__load_scenario *s)
{
    for (uint32_t i = 0; i < s->target_count && i < LIST_MOST; i++) {
        const struct rad__load_target *t = &s->targets[i];
        put_label(out, i == 0 ? "target" : "");
        rad__bytes_format(out, "%.200s, %s%s, at most %u connection%s", t->url, t->http2 ? "HTTP/2" : "HTTP/1.1",
                          t->tls && !t->verify ? ", certificate not verified" : "", t->max_connections,
                          t->max_connections == 1 ? "" : "s");
        if (t->streams > 1) rad__bytes_format(out, " with %u requests at once", t->streams);
        rad__bytes_format(out, "\n");
    }
    put_more(out, s->target_count);
}

static void put_share(rad_bytes *out, const char *what, uint32_t ppm)
{
    if (ppm == 0) return;
    put_scaled(out, ", ", ppm, 4);
    rad__bytes_format(out, " %% %s", what);
}

static void put_simulated(rad_bytes *out, const struct rad__load_simulated *m)
{
    put_label(out, "simulated");
    put_time(out, "responds after ", m->latency.points[0].value);
    if (m->latency.count > 1) put_time(out, " to ", m->latency.points[m->latency.count - 1].value);
    put_share(out, "lost", m->loss_ppm);
    put_share(out, "reset", m->reset_ppm);
    put_share(out, "garbage", m->garbage_ppm);
    put_share(out, "of connections refused", m->refuse_ppm);
    if (m->workers > 0) rad__bytes_format(out, ", %u worker%s", m->workers, m->workers == 1 ? "" : "s");
    if (m->stall_ns > 0) {
        put_time(out, ", stalls for ", m->stall_ns);
        put_time(out, " every ", m->stall_every_ns);
    }
    rad__bytes_format(out, "\n");
}

/* ---- What has to hold ------------------------------------------------------------------------------------ */

static void put_assertions(rad_bytes *out, const rad__load_scenario *s)
{
    for (uint32_t i = 0; i < s->assertion_count; i++) {
        const struct rad__load_assertion *a = &s->assertions[i];
        bool time = a->measure == RAD__LOAD_SERVICE_NS || a->measure == RAD__LOAD_RESPONSE_NS;
        put_label(out, i == 0 ? "must hold" : "");
        rad__bytes_format(out, "%s %s ", a->name, a->at_least ? ">=" : "<=");
        if (time)
            put_time(out, "", a->bound);
        else if (a->measure == RAD__LOAD_RATE)
            put_scaled(out, "", a->bound, 3);
        else if (a->measure == RAD__LOAD_DROPPED_COUNT)
            rad__bytes_format(out, "%" PRIu64, a->bound);
        else
            put_scaled(out, "", a->bound, 6);
        rad__bytes_format(out, "%s\n", a->abort ? ", or the run ends" : "");
    }
}

char *rad_load_outline(const rad_load_scenario *scenario)
{
    const rad__load_scenario *s = &scenario->s;
    rad_bytes out = {0};
    rad__bytes_format(&out, "%s", s->name);
    if (s->description != NULL) rad__bytes_format(&out, ": %s", s->description);
    rad__bytes_format(&out, "\n");
    put_when(&out, s);
    put_requests(&out, s);
    put_targets(&out, s);
    if (s->has_simulated) put_simulated(&out, &s->simulated);
    put_assertions(&out, s);
    put_label(&out, "seed");
    if (s->seed != 0)
        rad__bytes_format(&out, "%" PRIu64, s->seed);
    else
        rad__bytes_format(&out, "none, one will be drawn");
    put_time(&out, "; tick ", s->tick_ns);
    rad__bytes_put(&out, "\n", 2); /* and a zero */
    if (!out.failed) return (char *)out.data;
    rad__bytes_free(&out);
    return NULL;
}

bool rad_load_has_simulated(const rad_load_scenario *scenario)
{
    return scenario->s.has_simulated;
}
