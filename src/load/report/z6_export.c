/* z6_export.c — a log of ours as Z6's: shards are merged by tick, each tick is sorted by user. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/sha256.h"
#include "load/log/hash.h"
#include "load/report/z6.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One shard, read on its own: its events come in the order of their ticks. */
struct source {
    rad__load_log_reader reader;
    uint64_t now_ns;
    rad__load_event event; /* the next one, if there is one */
    bool has;
    uint32_t *owners; /* of connections: who asked for it */
    uint32_t owner_capacity;
};

struct item {
    rad__load_event event;
    uint32_t user; /* over all shards */
    uint32_t conn; /* the same */
};

struct exporter {
    const rad__load_scenario *scenario;
    const rad__load_log_reader *from;
    struct source *sources;
    uint32_t shards;
    struct item *items; /* of one tick */
    uint32_t *order;    /* twice */
    uint32_t item_count, item_capacity, order_capacity;
    rad_crc32 crc;
    rad_sha256 sha;
    uint64_t records;
    rad__load_sink *sink;
    void *context;
};

uint64_t rad__load_z6_checksum(const rad_crc32 *crc, const uint8_t *record)
{
    uint64_t all = rad__crc32(crc, record, RAD__LOAD_Z6_CHECKSUM);
    return all << 32 | rad__crc32(crc, record + 64, RAD__LOAD_Z6_CHECKSUM - 64);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* The type of an error: its group. */
static uint32_t group(uint32_t fault)
{
    switch ((enum rad__load_fault)fault) {
    case RAD__LOAD_DNS_FAILED: return RAD__LOAD_ERROR_DNS;
    case RAD__LOAD_TLS_HANDSHAKE:
    case RAD__LOAD_CERTIFICATE:
    case RAD__LOAD_ALPN: return RAD__LOAD_ERROR_TLS;
    case RAD__LOAD_BAD_RESPONSE:
    case RAD__LOAD_HTTP_VERSION:
    case RAD__LOAD_BAD_HEADER:
    case RAD__LOAD_BAD_CHUNK:
    case RAD__LOAD_WRONG_LENGTH:
    case RAD__LOAD_TOO_LARGE: return RAD__LOAD_ERROR_HTTP;
    case RAD__LOAD_CONNECT_TIMEOUT:
    case RAD__LOAD_TLS_TIMEOUT:
    case RAD__LOAD_REQUEST_TIMEOUT: return RAD__LOAD_ERROR_TIMEOUT;
    case RAD__LOAD_HTTP2_VIOLATION:
    case RAD__LOAD_REFUSED_STREAM: return RAD__LOAD_ERROR_PROTOCOL;
    case RAD__LOAD_NO_DESCRIPTORS:
    case RAD__LOAD_POOL_EXHAUSTED:
    case RAD__LOAD_QUEUE_FULL:
    case RAD__LOAD_LOG_FULL: return RAD__LOAD_EXHAUSTED;
    default: return RAD__LOAD_ERROR_TCP;
    }
}

static uint64_t request_id(const struct item *i)
{
    return (uint64_t)i->user << 32 | (i->event.request & UINT32_MAX);
}

static uint64_t at_most_32(uint64_t n)
{
    return n < UINT32_MAX ? n : UINT32_MAX;
}

static void put_error(uint8_t *p, uint64_t id, uint32_t fault)
{
    rad__load_z6_put(p, id, 8);
    rad__load_z6_put(p + 8, fault, 4);
    snprintf((char *)p + 12, RAD__LOAD_Z6_TEXT, "%s", rad__load_fault_name((enum rad__load_fault)fault));
}

static void put_issued(const struct exporter *x, uint8_t *p, const struct item *i)
{
    const struct rad__load_request *request = &x->scenario->requests[i->event.what];
    const struct rad__load_target *target = &x->scenario->targets[i->event.target];
    uint64_t hash = rad__load_hash(target->url, strlen(target->url), 0);
    hash = rad__load_hash(request->path, strlen(request->path), hash);
    rad__load_z6_put(p, request_id(i), 8);
    memcpy(p + 8, request->method, strnlen(request->method, 8));
    rad__load_z6_put(p + 16, hash, 8);
    rad__load_z6_put(p + 24, request->header_count, 2);
    rad__load_z6_put(p + 28, request->body_size, 4);
}

static void put_response(uint8_t *p, const struct item *i)
{
    rad__load_z6_put(p, request_id(i), 8);
    rad__load_z6_put(p + 8, i->event.status, 2);
    rad__load_z6_put(p + 12, i->event.header_bytes, 4);
    rad__load_z6_put(p + 16, at_most_32(i->event.body_bytes), 4);
    rad__load_z6_put(p + 24, i->event.service_ns, 8);
}

static void put_connection(const struct exporter *x, uint8_t *p, const struct item *i)
{
    const struct rad__load_target *target = &x->scenario->targets[i->event.target];
    rad__load_z6_put(p, i->conn, 8);
    rad__load_z6_put(p + 8, rad__load_hash(target->url, strlen(target->url), 0), 8);
    p[16] = target->http2;
    p[17] = target->tls;
    rad__load_z6_put(p + 24, i->event.first_ns, 8);
}

static void put_assertion(const struct exporter *x, uint8_t *p, const rad__load_event *e)
{
    double wanted = (double)e->wanted;
    double actual = e->actual != RAD__LOAD_NO_DATA ? (double)e->actual : (double)NAN;
    uint64_t bits;
    rad__load_z6_put(p, e->what, 4);
    memcpy(&bits, &wanted, 8);
    rad__load_z6_put(p + 8, bits, 8);
    memcpy(&bits, &actual, 8);
    rad__load_z6_put(p + 16, bits, 8);
    snprintf((char *)p + 24, RAD__LOAD_Z6_TEXT, "%s", x->scenario->assertions[e->what].name);
}

/* The type; the payload is filled in. */
static uint32_t put_payload(const struct exporter *x, uint8_t *p, const struct item *i)
{
    const rad__load_event *e = &i->event;
    switch (e->kind) {
    case RAD__LOAD_ISSUED: put_issued(x, p, i); break;
    case RAD__LOAD_RESPONSE: put_response(p, i); break;
    case RAD__LOAD_TIMEOUT: put_error(p, request_id(i), RAD__LOAD_REQUEST_TIMEOUT); break;
    case RAD__LOAD_CANCELLED: rad__load_z6_put(p, request_id(i), 8); break;
    case RAD__LOAD_ERROR: put_error(p, request_id(i), e->fault); return group(e->fault);
    case RAD__LOAD_EXHAUSTED: put_error(p, 0, e->fault); break;
    case RAD__LOAD_CONN_ESTABLISHED:
    case RAD__LOAD_CONN_CLOSED:
    case RAD__LOAD_CONN_ERROR: put_connection(x, p, i); break;
    case RAD__LOAD_ASSERTION_PASSED:
    case RAD__LOAD_ASSERTION_FAILED: put_assertion(x, p, e); break;
    default: rad__load_z6_put(p, i->user, 4); break; /* users come and go */
    }
    return e->kind;
}

static int put(struct exporter *x, const void *data, size_t size, rad_error *error)
{
    rad__sha256_put(&x->sha, data, size);
    return x->sink(x->context, data, size, error);
}

static int put_item(struct exporter *x, uint64_t tick, const struct item *i, rad_error *error)
{
    uint8_t record[RAD__LOAD_Z6_RECORD] = {0};
    if (++x->records > RAD__LOAD_Z6_MOST)
        return rad__error(error, RAD_ELIMIT, "%s: it has more than %d events, and Z6 reads no more in one file",
                          x->from->name, RAD__LOAD_Z6_MOST);
    uint32_t type = put_payload(x, record + RAD__LOAD_Z6_PAYLOAD, i);
    rad__load_z6_put(record, tick, 8);
    rad__load_z6_put(record + 8, i->user, 4);
    rad__load_z6_put(record + 12, type, 2);
    rad__load_z6_put(record + RAD__LOAD_Z6_CHECKSUM, rad__load_z6_checksum(&x->crc, record), 8);
    return put(x, record, sizeof record, error);
}

/* ---- Reading shards -------------------------------------------------------------------------------------- */

static const char *event_wrong(const struct exporter *x, const rad__load_event *e)
{
    bool assertion = e->kind == RAD__LOAD_ASSERTION_PASSED || e->kind == RAD__LOAD_ASSERTION_FAILED;
    if (assertion) return e->what < x->scenario->assertion_count ? NULL : "an assertion the scenario lacks";
    if (e->what >= x->scenario->request_count || e->target >= x->scenario->target_count)
        return "a request or target the scenario lacks";
    if (e->fault >= RAD__LOAD_FAULT_COUNT) return "a fault that does not exist";
    return NULL;
}

static bool is_for_z6(uint32_t kind)
{
    return kind < RAD__LOAD_Z6_TYPES;
}

/* The next event of a shard; src->has says whether there is one. */
static int advance(const struct exporter *x, struct source *src, rad_error *error)
{
    uint32_t shard = (uint32_t)(src - x->sources);
    struct rad__load_raw raw;
    const char *wrong = NULL;
    int got = 1;
    src->has = false;
    while (wrong == NULL && (got = rad__load_log_next(&src->reader, &raw, error)) == 1) {
        struct rad__load_turn_record turn;
        if (src->reader.block.shard != shard) continue;
        if (raw.kind == RAD__LOAD_RECORD_TURN) {
            wrong = rad__load_get_turn(&raw, &turn);
            if (wrong == NULL && turn.passed_ns > UINT64_MAX / 2 - src->now_ns) wrong = "time runs over";
            src->now_ns += turn.passed_ns;
        } else if (is_for_z6(raw.kind)) {
            wrong = rad__load_get_event(&raw, &src->event);
            if (wrong == NULL) wrong = event_wrong(x, &src->event);
            src->has = wrong == NULL;
            if (src->has) return 0;
        }
    }
    if (wrong != NULL)
        return rad__error(error, RAD_EINPUT, "%s: record %" PRIu64 ": %s", src->reader.name, src->reader.record, wrong);
    return got < 0 ? got : 0;
}

/* Whose event it is: connections belong to who asked for them. RAD_NONE: nobody's. */
static bool owner_of(struct source *src, const rad__load_event *e, uint32_t *user)
{
    switch (e->kind) {
    case RAD__LOAD_ISSUED:
        if (e->conn > RAD__LOAD_Z6_MOST || !RAD_GROW(&src->owners, &src->owner_capacity, e->conn + 1)) return false;
        src->owners[e->conn] = e->vu;
        *user = e->vu;
        return true;
    case RAD__LOAD_CONN_ESTABLISHED:
    case RAD__LOAD_CONN_CLOSED:
    case RAD__LOAD_CONN_ERROR: *user = e->conn < src->owner_capacity ? src->owners[e->conn] : RAD_NONE; return true;
    case RAD__LOAD_ASSERTION_PASSED:
    case RAD__LOAD_ASSERTION_FAILED: *user = RAD_NONE; return true;
    default: *user = e->vu; return true;
    }
}

static int gather(struct exporter *x, uint64_t tick, rad_error *error)
{
    uint64_t length = x->from->header.tick_ns;
    for (uint32_t s = 0; s < x->shards; s++) {
        struct source *src = &x->sources[s];
        while (src->has && src->now_ns / length == tick) {
            uint32_t user;
            if (!RAD_GROW(&x->items, &x->item_capacity, x->item_count + 1) || !owner_of(src, &src->event, &user))
                return rad__error_memory(error);
            x->items[x->item_count++] = (struct item){.event = src->event,
                                                      .user = user != RAD_NONE ? user * x->shards + s : RAD_NONE,
                                                      .conn = src->event.conn * x->shards + s};
            int result = advance(x, src, error);
            if (result != 0) return result;
        }
    }
    return 0;
}

/* ---- Order ----------------------------------------------------------------------------------------------- */

/* A stable merge sort, from the bottom. */
static const uint32_t *sort(const struct item *items, uint32_t count, uint32_t *order)
{
    uint32_t *from = order, *to = order + count;
    for (uint32_t i = 0; i < count; i++) from[i] = i;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            uint32_t middle = count - low > width ? low + width : count;
            uint32_t high = count - middle > width ? middle + width : count;
            uint32_t a = low, b = middle;
            for (uint32_t i = low; i < high; i++) {
                bool left = a < middle && (b == high || items[from[a]].user <= items[from[b]].user);
                to[i] = left ? from[a++] : from[b++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static int put_tick(struct exporter *x, uint64_t tick, rad_error *error)
{
    x->item_count = 0;
    int result = gather(x, tick, error);
    if (result == 0 && !RAD_GROW(&x->order, &x->order_capacity, 2 * x->item_count)) result = rad__error_memory(error);
    if (result != 0) return result;
    const uint32_t *order = sort(x->items, x->item_count, x->order);
    for (uint32_t i = 0; result == 0 && i < x->item_count; i++) result = put_item(x, tick, &x->items[order[i]], error);
    return result;
}

/* False: there are no more. */
static bool next_tick(const struct exporter *x, uint64_t *tick)
{
    bool any = false;
    for (uint32_t s = 0; s < x->shards; s++) {
        const struct source *src = &x->sources[s];
        uint64_t own = src->now_ns / x->from->header.tick_ns;
        if (src->has && (!any || own < *tick)) {
            *tick = own;
            any = true;
        }
    }
    return any;
}

/* ---- The file -------------------------------------------------------------------------------------------- */

static int put_header(struct exporter *x, rad_error *error)
{
    uint8_t header[RAD__LOAD_Z6_HEADER] = {0};
    rad__load_z6_put(header, RAD__LOAD_Z6_MAGIC, 8);
    header[8] = 1;
    rad__load_z6_put(header + 16, x->from->header.seed, 8);
    rad__sha256(x->from->scenario, strlen(x->from->scenario), header + 24);
    return put(x, header, sizeof header, error);
}

static int put_footer(struct exporter *x, rad_error *error)
{
    uint8_t footer[RAD__LOAD_Z6_FOOTER] = {0};
    rad__load_z6_put(footer, x->records, 8);
    rad__sha256_end(&x->sha, footer + 8);
    return x->sink(x->context, footer, sizeof footer, error);
}

static int put_all(struct exporter *x, rad_error *error)
{
    uint64_t tick = 0;
    int result = put_header(x, error);
    for (uint32_t s = 0; result == 0 && s < x->shards; s++) {
        x->sources[s].reader = *x->from;
        result = advance(x, &x->sources[s], error);
    }
    while (result == 0 && next_tick(x, &tick)) result = put_tick(x, tick, error);
    return result != 0 ? result : put_footer(x, error);
}

int rad__load_z6_export(const rad__load_log_reader *from, const rad__load_scenario *scenario, rad__load_sink *sink,
                        void *context, uint64_t *records, rad_error *error)
{
    struct exporter x = {
        .scenario = scenario, .from = from, .shards = from->header.shards, .sink = sink, .context = context};
    if (from->header.stripped)
        return rad__error(error, RAD_EINPUT, "%s: only inputs are in this log; a replay of it writes a whole one",
                          from->name);
    rad__crc32_open(&x.crc);
    rad__sha256_begin(&x.sha);
    x.sources = rad__alloc(x.shards, sizeof *x.sources);
    int result = x.sources != NULL ? put_all(&x, error) : rad__error_memory(error);
    for (uint32_t s = 0; x.sources != NULL && s < x.shards; s++) rad__free(x.sources[s].owners);
    rad__free(x.sources);
    rad__free(x.items);
    rad__free(x.order);
    if (records != NULL) *records = x.records;
    return result;
}
