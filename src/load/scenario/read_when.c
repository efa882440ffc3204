/* read_when.c — how long, how many, and when: [runtime], [schedule], [think_time]. */
#include "load/scenario/read.h"
#include "load/scenario/schedule.h"

#include <inttypes.h>
#include <string.h>

enum kind { CONSTANT, RAMP, SPIKE, STEPS, ARRIVALS };
static const char *const KINDS[] = {"constant", "ramp", "spike", "steps", "arrival_rate", NULL};

enum { STAGES_MOST = 1000 };
static const uint64_t RATE_MOST = UINT64_C(1000000) * 1000; /* per 1,000 s */

/* What both sections say, until it is settled. */
struct when {
    rad__load_part runtime, schedule;
    enum kind kind;
    uint64_t vus;                /* of either; 0: neither has it */
    const rad_toml_node *vus_at; /* and where */
    struct rad__load_stage *stages;
    uint32_t count;
};

static const rad_toml_node *place_of(const rad__load_part *p)
{
    return p->node != NULL ? p->node : p->r->doc.root;
}

/* Two keys of which a file may have one. */
static bool exclude(const rad__load_part *p, const char *one, const char *other)
{
    const rad_toml_node *a = rad__load_find(p, one), *b = rad__load_find(p, other);
    if (a == NULL || b == NULL) return false;
    rad__load_wrong(p->r, b, "%s and %s exclude each other; expected one of them", one, other);
    return true;
}

/* ---- [runtime] ------------------------------------------------------------------------------------------- */

static void read_runtime(struct when *w)
{
    const rad__load_part *p = &w->runtime;
    rad__load_scenario *s = p->r->s;
    exclude(p, "duration_seconds", "iterations");
    exclude(p, "prng_seed", "seed");
    exclude(p, "tick", "tick_us");
    s->duration_ns = rad__load_get_time(p, "duration_seconds", RAD__LOAD_SECOND, 1, RAD__LOAD_DAY, 0);
    s->iterations = rad__load_get_whole(p, "iterations", 1, 1000000000, 0);
    s->seed = rad__load_get_whole(p, "prng_seed", 0, INT64_MAX, 0);
    s->seed = rad__load_get_whole(p, "seed", 0, INT64_MAX, s->seed);
    s->tick_ns = rad__load_get_time(p, "tick", 0, 1, RAD__LOAD_SECOND, RAD__LOAD_MS);
    s->tick_ns = rad__load_get_time(p, "tick_us", RAD__LOAD_US, 1, RAD__LOAD_SECOND, s->tick_ns);
    s->warmup_ns = rad__load_get_time(p, "warm_up_seconds", RAD__LOAD_SECOND, 0, RAD__LOAD_DAY, 0);
    s->jitter_ns = rad__load_get_time(p, "spawn_jitter_ms", RAD__LOAD_MS, 0, RAD__LOAD_HOUR, 0);
    s->drain_ns = rad__load_get_time(p, "drain_seconds", RAD__LOAD_SECOND, 0, RAD__LOAD_HOUR, 0);
    if (rad__load_find(p, "flush_interval") != NULL)
        s->limits.flush_ticks = rad__load_get_whole(p, "flush_interval", 1, 1000000000, s->limits.flush_ticks);
}

/* Users are named in [runtime] or in [schedule]; in both, they are the same. */
static void read_vus(struct when *w)
{
    rad__load_reading *r = w->runtime.r;
    const rad_toml_node *one = rad__load_find(&w->runtime, "vus"), *other = rad__load_find(&w->schedule, "vus");
    uint64_t a = rad__load_as_whole(r, one, 1, RAD__LOAD_USERS_MAX, 0),
             b = rad__load_as_whole(r, other, 1, RAD__LOAD_USERS_MAX, 0);
    if (a != 0 && b != 0 && a != b)
        rad__load_wrong(r, other, "vus: expected %" PRIu64 " as in [runtime], or none here, found %" PRIu64, a, b);
    w->vus = a != 0 ? a : b;
    w->vus_at = one != NULL ? one : other;
}

static uint64_t need_vus(struct when *w)
{
    if (w->vus_at == NULL)
        rad__load_wrong(w->runtime.r, place_of(&w->runtime),
                        "expected a key 'vus' in [runtime], found none: how many users there are");
    return w->vus;
}

static uint64_t need_duration(struct when *w)
{
    const rad__load_scenario *s = w->runtime.r->s;
    if (s->duration_ns == 0)
        rad__load_wrong(w->runtime.r, place_of(&w->runtime),
                        "expected a key 'duration_seconds' in [runtime], found none: how long the "
                        "run lasts%s",
                        w->kind == CONSTANT ? " (or 'iterations': how often each user goes "
                                              "through it)"
                                            : "");
    return s->duration_ns;
}

/* ---- [schedule] ------------------------------------------------------------------------------------------ */

/* A key of another type of schedule has no effect: it is a mistake. */
static void check_used(const struct when *w)
{
    static const char *const USED[][9] = {
        [CONSTANT] = {"type", "vus"},
        [RAMP] = {"type", "start_vus", "end_vus", "ramp_duration_seconds", "hold_duration_seconds"},
        [SPIKE] = {"type", "baseline_vus", "spike_vus", "spike_start_seconds", "spike_duration_seconds"},
        [STEPS] = {"type", "steps"},
        [ARRIVALS] = {"type", "vus", "rate", "start_rate", "stages", "when_busy", "deal", "connect"},
    };
    for (rad_toml_node *n = rad__toml_first(w->schedule.node); n != NULL; n = rad__toml_next(n)) {
        bool used = false;
        for (uint32_t i = 0; i < 9 && USED[w->kind][i] != NULL; i++)
            used |= strcmp(USED[w->kind][i], n->key->text) == 0;
        if (!used)
            rad__load_wrong(w->schedule.r, n, "%s has no effect in a schedule of type \"%s\"", n->key->text,
                            KINDS[w->kind]);
    }
}

/* Only with a constant number of users does it end when all have gone through so often. */
static void check_iterations(struct when *w)
{
    const rad_toml_node *node = rad__load_find(&w->runtime, "iterations");
    if (node != NULL && w->kind != CONSTANT)
        rad__load_wrong(w->runtime.r, node,
                        "iterations and a schedule of type \"%s\" exclude each other; expected "
                        "'duration_seconds'",
                        KINDS[w->kind]);
}

static void add_stage(struct when *w, uint64_t length_ns, uint64_t from, uint64_t to)
{
    if (w->stages != NULL) w->stages[w->count++] = (struct rad__load_stage){length_ns, from, to};
}

static uint64_t need_level(const rad__load_part *p, const char *key)
{
    return rad__load_as_whole(p->r, rad__load_need(p, key, NULL), 0, RAD__LOAD_USERS_MAX, 0);
}

static uint64_t need_time(const rad__load_part *p, const char *key, uint64_t least)
{
    return rad__load_as_time(p->r, rad__load_need(p, key, NULL), RAD__LOAD_SECOND, least, RAD__LOAD_DAY, 1);
}

static void read_constant(struct when *w)
{
    const rad__load_scenario *s = w->runtime.r->s;
    uint64_t vus = need_vus(w), length = s->iterations != 0 ? 0 : need_duration(w);
    add_stage(w, length, vus, vus);
}

static void read_ramp(struct when *w)
{
    const rad__load_part *p = &w->schedule;
    uint64_t duration = p->r->s->duration_ns;
    uint64_t from = rad__load_get_whole(p, "start_vus", 0, RAD__LOAD_USERS_MAX, 0);
    uint64_t to = need_level(p, "end_vus");
    uint64_t ramp = need_time(p, "ramp_duration_seconds", 1);
    uint64_t hold = duration > ramp ? duration - ramp : 0; /* unless it is said */
    hold = rad__load_get_time(p, "hold_duration_seconds", RAD__LOAD_SECOND, 0, RAD__LOAD_DAY, hold);
    add_stage(w, ramp, from, to);
    if (hold > 0) add_stage(w, hold, to, to);
}

static void read_spike(struct when *w)
{
    const rad__load_part *p = &w->schedule;
    uint64_t base = need_level(p, "baseline_vus"), peak = need_level(p, "spike_vus");
    uint64_t start = need_time(p, "spike_start_seconds", 0), length = need_time(p, "spike_duration_seconds", 1),
             duration = need_duration(w);
    if (start > duration || length > duration - start) {
        char text[RAD__LOAD_TIME_TEXT];
        rad__load_wrong(p->r, place_of(p),
                        "spike_start_seconds and spike_duration_seconds: expected an end within "
                        "the %s of the run",
                        rad__load_time_text(duration, text));
        return;
    }
    if (start > 0) add_stage(w, start, base, base);
    add_stage(w, length, peak, peak);
    if (duration > start + length) add_stage(w, duration - start - length, base, base);
}

/* One stage for each table of an array; the memory for them is taken here. */
static rad_toml_node *open_stages(struct when *w, const char *key)
{
    rad__load_reading *r = w->schedule.r;
    uint32_t count;
    rad_toml_node *array = rad__load_tables(&w->schedule, key, STAGES_MOST, &count);
    if (count == 0 && !rad__load_bad(r))
        rad__load_wrong(r, place_of(&w->schedule), "expected [[schedule.%s]], found none", key);
    w->stages = rad__load_take(r, count, sizeof *w->stages);
    return array;
}

static void read_steps(struct when *w)
{
    rad_toml_node *array = open_stages(w, "steps");
    for (rad_toml_node *n = rad__toml_first(array); n != NULL; n = rad__toml_next(n)) {
        rad__load_part step = rad__load_part_of(w->schedule.r, n, "schedule.steps");
        uint64_t vus = need_level(&step, "vus");
        add_stage(w, need_time(&step, "duration_seconds", 1), vus, vus);
    }
}

static uint64_t rate_of(const rad__load_part *p, const rad_toml_node *node, uint64_t least)
{
    return rad__load_as_scaled(p->r, node, 3, least, RATE_MOST, 0);
}

static void read_rates(struct when *w)
{
    const rad__load_part *p = &w->schedule;
    uint64_t level = rate_of(p, rad__load_find(p, "start_rate"), 0);
    rad_toml_node *array = open_stages(w, "stages");
    for (rad_toml_node *n = rad__toml_first(array); n != NULL; n = rad__toml_next(n)) {
        rad__load_part stage = rad__load_part_of(p->r, n, "schedule.stages");
        uint64_t rate = rate_of(p, rad__load_need(&stage, "rate", NULL), 0);
        add_stage(w, need_time(&stage, "duration_seconds", 1), level, rate);
        level = rate;
    }
    uint64_t most = 0;
    for (uint32_t i = 0; i < w->count; i++) most |= w->stages[i].from | w->stages[i].to;
    if (most == 0 && !rad__load_bad(p->r))
        rad__load_wrong(p->r, place_of(p), "expected a rate above 0 in some stage, found none");
}

static void read_arrivals(struct when *w)
{
    static const char *const BUSY[] = {"wait", "drop", NULL}, *const DEAL[] = {"recent", "in_turn", NULL},
                             *const CONNECT[] = {"before", "when_needed", NULL};
    const rad__load_part *p = &w->schedule;
    rad__load_scenario *s = p->r->s;
    s->schedule.model = RAD__LOAD_OPEN;
    s->schedule.drop = rad__load_get_word(p, "when_busy", BUSY, 0) == 1;
    s->schedule.in_turn = rad__load_get_word(p, "deal", DEAL, 0) == 1;
    s->schedule.connect_late = rad__load_get_word(p, "connect", CONNECT, 0) == 1;
    exclude(p, "rate", "stages");
    exclude(p, "rate", "start_rate");
    if (rad__load_find(p, "stages") != NULL) {
        read_rates(w);
    } else {
        uint64_t rate =
            rate_of(p, rad__load_need(p, "rate", "how many arrive in a second (or [[schedule.stages]])"), 1);
        add_stage(w, need_duration(w), rate, rate);
    }
    need_vus(w);
}

/* ---- Settling ------------------------------------------------------------------------------------------- */

/* A schedule knows how long it is; who says it again says the same. */
static void settle_duration(struct when *w)
{
    rad__load_scenario *s = w->runtime.r->s;
    char one[RAD__LOAD_TIME_TEXT], other[RAD__LOAD_TIME_TEXT];
    if (s->iterations != 0) return;
    uint64_t length = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        length += w->stages[i].length_ns;
        if (length > RAD__LOAD_DAY) {
            rad__load_wrong(w->runtime.r, place_of(&w->schedule),
                            "expected a schedule of at most 24h, found a longer one");
            return;
        }
    }
    if (s->duration_ns != 0 && s->duration_ns != length)
        rad__load_wrong(w->runtime.r, rad__load_find(&w->runtime, "duration_seconds"),
                        "duration_seconds: expected the %s of the schedule, or none here, found %s",
                        rad__load_time_text(length, one), rad__load_time_text(s->duration_ns, other));
    s->duration_ns = length;
}

static void settle_users(struct when *w)
{
    rad__load_reading *r = w->runtime.r;
    rad__load_scenario *s = r->s;
    bool open = w->kind == ARRIVALS;
    uint64_t peak = 0, users = open ? w->vus : rad__load_levels_total(&s->schedule);
    const rad_toml_node *at = w->vus_at != NULL ? w->vus_at : place_of(&w->schedule);
    for (uint32_t i = 0; i < w->count && !open; i++) {
        peak = w->stages[i].from > peak ? w->stages[i].from : peak;
        peak = w->stages[i].to > peak ? w->stages[i].to : peak;
    }
    if (users == 0) rad__load_wrong(r, at, "expected at least one user, found a schedule without any");
    if (!open && w->vus_at != NULL && w->vus != peak)
        rad__load_wrong(r, at,
                        "vus: expected the %" PRIu64 " that the schedule has at most, or none "
                        "here, found %" PRIu64,
                        peak, w->vus);
    if (users > s->limits.max_vus)
        rad__load_wrong(r, at, "%s%" PRIu64 " users in all, limits.max_vus is %u",
                        w->kind == CONSTANT || open ? "" : "every way up counts: ", users, s->limits.max_vus);
    s->users = (uint32_t)users;
}

static void settle(struct when *w)
{
    rad__load_reading *r = w->runtime.r;
    rad__load_scenario *s = r->s;
    if (rad__load_bad(r)) return;
    settle_duration(w);
    s->schedule.stages = w->stages;
    s->schedule.stage_count = w->count;
    if (rad__load_bad(r)) return;
    settle_users(w);
    if (s->duration_ns != 0 && s->warmup_ns >= s->duration_ns)
        rad__load_wrong(r, rad__load_find(&w->runtime, "warm_up_seconds"),
                        "warm_up_seconds: expected less than the run lasts");
}

/* ---- [think_time] --------------------------------------------------------------------------------------- */

static void read_think_time(rad__load_reading *r, const rad__load_part *top)
{
    static const char *const WORDS[] = {"constant", "random", NULL};
    rad__load_part p = rad__load_part_get(top, "think_time", "think_time");
    rad__load_scenario *s = r->s;
    if (p.node == NULL) return;
    bool spans = rad__load_find(&p, "min_ms") != NULL || rad__load_find(&p, "max_ms") != NULL;
    bool random = rad__load_get_word(&p, "type", WORDS, spans ? 1 : 0) == 1;
    const rad_toml_node *misplaced = rad__load_find(&p, random ? "duration_ms" : "min_ms");
    if (misplaced == NULL && !random) misplaced = rad__load_find(&p, "max_ms");
    if (misplaced != NULL)
        rad__load_wrong(r, misplaced, "%s has no effect in a think_time of type \"%s\"", misplaced->key->text,
                        WORDS[random]);
    s->pause = random ? RAD__LOAD_RANDOM_PAUSE : RAD__LOAD_CONSTANT_PAUSE;
    if (!random) {
        s->pause_low_ns = s->pause_high_ns =
            rad__load_as_time(r, rad__load_need(&p, "duration_ms", NULL), RAD__LOAD_MS, 0, RAD__LOAD_HOUR, 0);
        return;
    }
    const rad_toml_node *max = rad__load_need(&p, "max_ms", NULL);
    s->pause_low_ns = rad__load_get_time(&p, "min_ms", RAD__LOAD_MS, 0, RAD__LOAD_HOUR, 0);
    s->pause_high_ns = rad__load_as_time(r, max, RAD__LOAD_MS, 0, RAD__LOAD_HOUR, 0);
    if (s->pause_high_ns < s->pause_low_ns && !rad__load_bad(r))
        rad__load_wrong(r, max, "max_ms: expected not less than min_ms");
}

/* ---- All ------------------------------------------------------------------------------------------------ */

void rad__load_read_when(rad__load_reading *r, const rad__load_part *top)
{
    enum { OWN_STAGES = 3 };
    struct when w = {.runtime = rad__load_part_get(top, "runtime", "runtime"),
                     .schedule = rad__load_part_get(top, "schedule", "schedule")};
    read_runtime(&w);
    read_think_time(r, top);
    if (w.schedule.node != NULL) rad__load_need(&w.schedule, "type", NULL);
    w.kind = (enum kind)rad__load_get_word(&w.schedule, "type", KINDS, CONSTANT);
    if (rad__load_bad(r)) return;
    check_used(&w);
    check_iterations(&w);
    read_vus(&w);
    w.stages = rad__load_take(r, OWN_STAGES, sizeof *w.stages);
    if (rad__load_bad(r)) return;
    switch (w.kind) {
    case CONSTANT: read_constant(&w); break;
    case RAMP: read_ramp(&w); break;
    case SPIKE: read_spike(&w); break;
    case STEPS: read_steps(&w); break;
    case ARRIVALS: read_arrivals(&w); break;
    }
    settle(&w);
}
