/* read_simulated.c — the target that is none: [simulated], and the curves that latencies are drawn from. */
#include "load/scenario/read.h"

#include <string.h>

/* How the values of a curve are written. */
struct scale {
    uint64_t unit; /* of a time; 0: bytes */
    uint64_t most;
};

static const struct scale TIMES = {RAD__LOAD_MS, RAD__LOAD_HOUR};
static const struct scale BYTES = {0, RAD__LOAD_BODY_BYTES_MAX};

static uint64_t value_of(rad__load_reading *r, const rad_toml_node *node, struct scale scale)
{
    return scale.unit != 0 ? rad__load_as_time(r, node, scale.unit, 0, scale.most, 0)
                           : rad__load_as_whole(r, node, 0, scale.most, 0);
}

/* ---- Curves ---------------------------------------------------------------------------------------------- */

static struct rad__load_curve constant(rad__load_reading *r, uint64_t value)
{
    struct rad__load_point *point = rad__load_take(r, 1, sizeof *point);
    if (point != NULL) point->value = value;
    return (struct rad__load_curve){1, point};
}

static void check_ascends(rad__load_reading *r, const rad_toml_node *at, const struct rad__load_point *points,
                          uint32_t i)
{
    if (i == 0 || rad__load_bad(r)) return;
    if (points[i].share_ppm <= points[i - 1].share_ppm || points[i].value < points[i - 1].value)
        rad__load_wrong(r, at, "expected a larger share and not a smaller value than before it");
}

/* [[share, value], …] */
static struct rad__load_curve read_points(rad__load_reading *r, rad_toml_node *array, struct scale scale)
{
    struct rad__load_curve none = {0, NULL};
    if (array->type != RAD_TOML_ARRAY || array->count == 0 || array->count > RAD__LOAD_POINTS_MAX) {
        rad__load_expected(r, array, "an array of 1 to 100 pairs [share, value]");
        return none;
    }
    struct rad__load_point *points = rad__load_take(r, array->count, sizeof *points);
    uint32_t i = 0;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL && !rad__load_bad(r); n = rad__toml_next(n), i++) {
        if (n->type != RAD_TOML_ARRAY || n->count != 2) {
            rad__load_expected(r, n, "a pair [share, value]");
            return none;
        }
        rad_toml_node *share = rad__toml_first(n), *value = rad__toml_next(share);
        points[i].share_ppm = (uint32_t)rad__load_as_scaled(r, share, 6, 0, RAD__LOAD_PPM, 0);
        points[i].value = value_of(r, value, scale);
        check_ascends(r, n, points, i);
    }
    return (struct rad__load_curve){i, points};
}

/* {min = …, p50 = …, p99 = …, max = …}: any of them, in any order. */
static struct rad__load_curve read_percentiles(const rad__load_part *p, struct scale scale)
{
    static const struct {
        const char *key;
        uint32_t share_ppm;
    } MARKS[] = {{"min", 0},      {"p10", 100000}, {"p25", 250000}, {"p50", 500000},  {"p75", 750000},
                 {"p90", 900000}, {"p95", 950000}, {"p99", 990000}, {"p999", 999000}, {"max", 1000000}};
    enum { COUNT = sizeof MARKS / sizeof *MARKS };
    rad__load_reading *r = p->r;
    struct rad__load_point *points = rad__load_take(r, COUNT, sizeof *points);
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT && !rad__load_bad(r); i++) {
        const rad_toml_node *node = rad__load_find(p, MARKS[i].key);
        if (node == NULL) continue;
        points[count] = (struct rad__load_point){MARKS[i].share_ppm, value_of(r, node, scale)};
        check_ascends(r, node, points, count++);
    }
    if (count == 0 && !rad__load_bad(r)) rad__load_wrong(r, p->node, "expected min, p50, max, … or points, found none");
    return (struct rad__load_curve){count, points};
}

static struct rad__load_curve read_curve(const rad__load_part *in, const char *key, uint64_t otherwise,
                                         struct scale scale)
{
    rad__load_reading *r = in->r;
    rad_toml_node *node = rad__load_find(in, key);
    if (node == NULL) return constant(r, otherwise);
    if (node->type != RAD_TOML_TABLE) return constant(r, value_of(r, node, scale));
    rad__load_part p = rad__load_part_of(r, node, "simulated curves");
    rad_toml_node *points = rad__load_find(&p, "points");
    if (points == NULL) return read_percentiles(&p, scale);
    if (node->count > 1) rad__load_wrong(r, node, "points and other keys exclude each other; expected one of them");
    return read_points(r, points, scale);
}

/* ---- Statuses -------------------------------------------------------------------------------------------- */

static uint16_t status_of(rad__load_reading *r, const rad_toml_node *node)
{
    const char *text = node->key->text;
    bool good = node->key->length == 3 && text[0] >= '2' && text[0] <= '5';
    uint32_t status = 0;
    for (uint32_t i = 0; i < 3 && good; i++) {
        good = text[i] >= '0' && text[i] <= '9';
        status = status * 10 + (uint32_t)(text[i] - '0');
    }
    if (!good) rad__load_wrong(r, node, "expected a status from \"200\" to \"599\" as the key");
    return (uint16_t)status;
}

static void read_statuses(const rad__load_part *p, struct rad__load_simulated *m)
{
    rad__load_reading *r = p->r;
    rad_toml_node *table = rad__load_find(p, "status");
    uint64_t sum = 0;
    if (table == NULL) return;
    if (table->type != RAD_TOML_TABLE) {
        rad__load_expected(r, table,
                           "a table of statuses and weights, such as {\"200\" = 0.99, "
                           "\"503\" = 0.01}");
        return;
    }
    struct rad__load_status *statuses = rad__load_take(r, table->count, sizeof *statuses);
    for (rad_toml_node *n = rad__toml_first(table); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        struct rad__load_status *s = &statuses[m->status_count++];
        s->status = status_of(r, n);
        s->weight = rad__load_as_scaled(r, n, 6, 0, UINT64_C(1000000000000), 0);
        sum += s->weight;
    }
    if (sum == 0 && !rad__load_bad(r)) rad__load_wrong(r, table, "expected a weight above 0, found none in status");
    m->statuses = statuses;
}

/* ---- [simulated] ----------------------------------------------------------------------------------------- */

static void read_stalls(const rad__load_part *p, struct rad__load_simulated *m)
{
    rad__load_reading *r = p->r;
    const rad_toml_node *every = rad__load_find(p, "stall_every_seconds"), *stall = rad__load_find(p, "stall_seconds");
    if ((every == NULL) != (stall == NULL))
        rad__load_wrong(r, every != NULL ? every : stall,
                        "stall_every_seconds and stall_seconds belong together; expected both");
    m->stall_every_ns = rad__load_as_time(r, every, RAD__LOAD_SECOND, RAD__LOAD_US, RAD__LOAD_DAY, 0);
    m->stall_ns = rad__load_as_time(r, stall, RAD__LOAD_SECOND, 0, RAD__LOAD_DAY, 0);
    /* Whoever works less than a hundredth of the time hardly answers: and times stay far from overflow. */
    if (!rad__load_bad(r) && m->stall_ns > m->stall_every_ns / 100 * 99)
        rad__load_wrong(r, stall, "stall_seconds: expected at most 99 %% of stall_every_seconds");
}

static uint32_t share_of(const rad__load_part *p, const char *key)
{
    return (uint32_t)rad__load_get_scaled(p, key, 6, 0, RAD__LOAD_PPM, 0);
}

void rad__load_read_simulated(rad__load_reading *r, const rad__load_part *top)
{
    rad__load_part p = rad__load_part_get(top, "simulated", "simulated");
    struct rad__load_simulated *m = &r->s->simulated;
    if (p.node == NULL || rad__load_bad(r)) return;
    r->s->has_simulated = true;
    rad__load_need(&p, "latency_ms", "how long an answer takes, such as 20");
    m->latency = read_curve(&p, "latency_ms", 0, TIMES);
    m->connect = read_curve(&p, "connect_ms", 0, TIMES);
    m->body = read_curve(&p, "body_bytes", 0, BYTES);
    read_statuses(&p, m);
    m->loss_ppm = share_of(&p, "loss_rate");
    m->reset_ppm = share_of(&p, "reset_rate");
    m->garbage_ppm = share_of(&p, "garbage_rate");
    m->refuse_ppm = share_of(&p, "refuse_rate");
    m->max_connections = (uint32_t)rad__load_get_whole(&p, "max_connections", 0, RAD__LOAD_USERS_MAX, 0);
    m->workers = (uint32_t)rad__load_get_whole(&p, "workers", 0, RAD__LOAD_USERS_MAX, 0);
    m->late_ns = rad__load_get_time(&p, "late_ms", RAD__LOAD_MS, 0, RAD__LOAD_HOUR, 0);
    read_stalls(&p, m);
}
