/* z6_import.c — Z6's event log into statistics. Two readings: the first checks every record and makes up a scenario
 * of the requests it meets, the second feeds the reducer. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/map64.h"
#include "base/sha256.h"
#include "load/log/hash.h"
#include "load/report/z6.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct user {
    uint64_t request; /* Z6's number of its last one */
    uint32_t what;
    bool under_way, asked; /* the second: ever */
};

struct importer {
    const char *name;
    const uint8_t *records;
    uint64_t count, tick_ns;
    rad_load_result *result;
    rad_crc32 crc;
    rad_map64 user_of, request_of; /* users by number, requests by method and hash */
    struct user *users;
    uint32_t user_count, user_capacity;
    struct rad__load_request *requests;
    uint32_t request_count, request_capacity;
    uint64_t at; /* number of the record at hand, from 1 */
};

static int bad(const struct importer *m, const char *wrong, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: record %" PRIu64 " at byte %" PRIu64 ": %s", m->name, m->at,
                      RAD__LOAD_Z6_HEADER + (m->at - 1) * RAD__LOAD_Z6_RECORD, wrong);
}

/* ---- The file -------------------------------------------------------------------------------------------- */

bool rad__load_z6_is(const void *data, size_t size)
{
    return size >= 8 && rad__load_z6_get(data, 8) == RAD__LOAD_Z6_MAGIC;
}

/* How many records there are, and whether a footer follows; without one the file was cut off between two records. */
static int survey(struct importer *m, const uint8_t *data, size_t size, rad_error *error)
{
    uint64_t left = size - RAD__LOAD_Z6_HEADER;
    m->records = data + RAD__LOAD_Z6_HEADER;
    m->count = left / RAD__LOAD_Z6_RECORD;
    uint64_t rest = left % RAD__LOAD_Z6_RECORD;
    m->result->cut_off = rest == 0;
    if (m->count > RAD__LOAD_Z6_MOST)
        return rad__error(error, RAD_EINPUT, "%s: more than %d records, which is Z6's limit", m->name,
                          RAD__LOAD_Z6_MOST);
    if (rest == 0) return 0;
    m->at = m->count + 1;
    if (rest != RAD__LOAD_Z6_FOOTER) return bad(m, "the file ends inside it", error);
    const uint8_t *footer = data + size - RAD__LOAD_Z6_FOOTER;
    uint64_t says = rad__load_z6_get(footer, 8);
    if (says != m->count)
        return rad__error(error, RAD_EINPUT, "%s: the footer says %" PRIu64 " records, but there are %" PRIu64, m->name,
                          says, m->count);
    return 0;
}

static int check_hash(const struct importer *m, const uint8_t *data, size_t size, rad_error *error)
{
    static const uint8_t NONE[RAD_SHA256_SIZE];
    uint8_t hash[RAD_SHA256_SIZE];
    const uint8_t *says = data + size - RAD__LOAD_Z6_FOOTER + 8;
    if (m->result->cut_off || memcmp(says, NONE, sizeof NONE) == 0) return 0;
    rad__sha256(data, size - RAD__LOAD_Z6_FOOTER, hash);
    if (memcmp(hash, says, sizeof hash) == 0) return 0;
    return rad__error(error, RAD_EINPUT,
                      "%s: its SHA-256 is not the one in the footer, though every record is whole: "
                      "header or footer were changed, or records exchanged",
                      m->name);
}

/* Checksum, type, order. */
static const char *record_wrong(const struct importer *m, const uint8_t *record)
{
    uint64_t says = rad__load_z6_get(record + RAD__LOAD_Z6_CHECKSUM, 8);
    uint64_t tick = rad__load_z6_get(record, 8);
    if (says != 0 && says != rad__load_z6_checksum(&m->crc, record)) return "its checksum does not fit";
    if (rad__load_z6_get(record + 12, 2) >= RAD__LOAD_Z6_TYPES) return "it is of an unknown type";
    if (tick > UINT64_MAX / 2 / m->tick_ns) return "its tick is too large";
    if (m->at == 1) return NULL;
    const uint8_t *last = record - RAD__LOAD_Z6_RECORD;
    uint64_t before = rad__load_z6_get(last, 8);
    if (tick < before) return "its tick is before that of the record before it";
    if (tick == before && rad__load_z6_get(record + 8, 4) < rad__load_z6_get(last + 8, 4))
        return "its user comes before that of the record before it, in the same tick";
    return NULL;
}

/* ---- The scenario that was ------------------------------------------------------------------------------- */

static uint64_t key_of(const uint8_t *payload)
{
    return rad__load_hash(payload + 8, 16, 0); /* method and hash of the URL */
}

/* The number of a kind of request; the last place takes all for which there is none. */
static uint32_t find_request(const struct importer *m, const uint8_t *payload)
{
    uint32_t what = rad__map64_find(&m->request_of, key_of(payload));
    return what != RAD_NONE ? what : m->request_count - 1;
}

static bool add_request(struct importer *m, const uint8_t *payload)
{
    rad_arena *arena = &m->result->scenario.arena;
    uint64_t key = key_of(payload);
    if (rad__map64_find(&m->request_of, key) != RAD_NONE || m->request_count == RAD__LOAD_REQUESTS_MAX) return true;
    char name[40], method[9] = {0};
    memcpy(method, payload + 8, 8);
    for (char *c = method; *c != 0; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    snprintf(name, sizeof name, "%s %016" PRIx64, method, rad__load_z6_get(payload + 16, 8));
    if (!RAD_GROW(&m->requests, &m->request_capacity, m->request_count + 1) ||
        !rad__map64_add(&m->request_of, key, m->request_count))
        return false;
    struct rad__load_request *r = &m->requests[m->request_count++];
    *r = (struct rad__load_request){.path = "/", .weight = 1, .target = 0};
    r->name = rad__arena_text(arena, name, strlen(name));
    r->method = rad__arena_text(arena, method, strlen(method));
    return !arena->failed;
}

static bool make_scenario(struct importer *m, uint64_t seed)
{
    rad__load_scenario *s = &m->result->scenario;
    rad_arena *arena = &s->arena;
    uint32_t count = m->request_count > 0 ? m->request_count : 1;
    struct rad__load_request *requests = rad__arena_take(arena, count, sizeof *requests);
    struct rad__load_target *target = rad__arena_take(arena, 1, sizeof *target);
    struct rad__load_step *step = rad__arena_take(arena, 1, sizeof *step);
    if (requests == NULL || target == NULL || step == NULL) return false;
    requests[0] = (struct rad__load_request){.name = "none", .method = "GET", .path = "/"};
    for (uint32_t i = 0; i < m->request_count; i++) requests[i] = m->requests[i];
    *target = (struct rad__load_target){.name = "z6", .url = "(not in the file)", .weight = 1};
    *step = (struct rad__load_step){RAD_NONE, 1};
    s->name = "Z6 event log";
    s->seed = seed;
    s->tick_ns = m->tick_ns;
    s->users = m->user_count;
    s->requests = requests;
    s->request_count = count;
    s->targets = target;
    s->steps = step;
    s->target_count = s->step_count = 1;
    s->limits = rad__load_limits_defaults();
    return true;
}

/* ---- What happened --------------------------------------------------------------------------------------- */

static struct user *user_of(const struct importer *m, const uint8_t *record)
{
    uint32_t index = rad__map64_find(&m->user_of, rad__load_z6_get(record + 8, 4));
    return index != RAD_NONE ? &m->users[index] : NULL;
}

static uint32_t fault_of(const uint8_t *payload, uint32_t otherwise)
{
    const char *text = (const char *)payload + 12;
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++) {
        const char *name = rad__load_fault_name((enum rad__load_fault)i);
        if (strncmp(text, name, strlen(name) + 1) == 0) return i;
    }
    return otherwise;
}

/* What an error of a type is when its text has no name of ours. */
static uint32_t fault_of_type(uint32_t type)
{
    switch (type) {
    case RAD__LOAD_ERROR_DNS: return RAD__LOAD_DNS_FAILED;
    case RAD__LOAD_ERROR_TCP: return RAD__LOAD_SOCKET;
    case RAD__LOAD_ERROR_TLS: return RAD__LOAD_TLS_HANDSHAKE;
    case RAD__LOAD_ERROR_TIMEOUT: return RAD__LOAD_REQUEST_TIMEOUT;
    case RAD__LOAD_ERROR_PROTOCOL: return RAD__LOAD_HTTP2_VIOLATION;
    case RAD__LOAD_EXHAUSTED: return RAD__LOAD_POOL_EXHAUSTED;
    default: return RAD__LOAD_BAD_RESPONSE;
    }
}

static const char *issue(struct importer *m, struct user *u, const uint8_t *payload, rad__load_event *e)
{
    if (u->under_way) return "a request is issued while another of the user is in flight";
    u->request = rad__load_z6_get(payload, 8);
    u->what = find_request(m, payload);
    u->under_way = u->asked = true;
    e->kind = RAD__LOAD_ISSUED;
    e->what = u->what;
    return NULL;
}

/* Z6 may tell an error twice, as response_error and as error_tcp: the second one is left out. */
static const char *finish(struct user *u, const uint8_t *payload, uint32_t type, rad__load_event *e, bool *left_out)
{
    bool error = type >= RAD__LOAD_ERROR_DNS;
    uint64_t request = rad__load_z6_get(payload, 8);
    if (request != u->request || !u->under_way) {
        *left_out = error && u->asked && request == u->request;
        return *left_out ? NULL : "a request ends that is not in flight";
    }
    u->under_way = false;
    e->kind = type;
    e->what = u->what;
    if (type == RAD__LOAD_RESPONSE) {
        e->status = (uint32_t)rad__load_z6_get(payload + 8, 2);
        e->header_bytes = (uint32_t)rad__load_z6_get(payload + 12, 4);
        e->body_bytes = rad__load_z6_get(payload + 16, 4);
        e->service_ns = rad__load_z6_get(payload + 24, 8);
    } else if (type == RAD__LOAD_ERROR || error) {
        e->fault = fault_of(payload, fault_of_type(type));
        e->kind = e->fault == RAD__LOAD_REQUEST_TIMEOUT ? RAD__LOAD_TIMEOUT : RAD__LOAD_ERROR;
    }
    return NULL;
}

/* Users that do something before they are spawned cannot be. */
static const char *of_user(struct importer *m, const uint8_t *record, uint32_t type, rad__load_event *e, bool *left_out)
{
    const uint8_t *payload = record + RAD__LOAD_Z6_PAYLOAD;
    struct user *u = user_of(m, record);
    if (type == RAD__LOAD_EXHAUSTED && (u == NULL || !u->under_way || rad__load_z6_get(payload, 8) != u->request)) {
        e->fault = fault_of(payload, RAD__LOAD_POOL_EXHAUSTED);
        return NULL;
    }
    if (u == NULL) return "something happens to a user that was not spawned";
    if (type == RAD__LOAD_VU_READY || type == RAD__LOAD_VU_COMPLETE) return NULL;
    if (type == RAD__LOAD_ISSUED) return issue(m, u, payload, e);
    return finish(u, payload, type, e, left_out);
}

/* An event of ours; left_out: there is none. */
static const char *translate(struct importer *m, const uint8_t *record, rad__load_event *e, bool *left_out)
{
    uint32_t type = (uint32_t)rad__load_z6_get(record + 12, 2);
    *left_out = false;
    *e = (rad__load_event){.kind = type, .flags = RAD__LOAD_MEASURED};
    switch (type) {
    case RAD__LOAD_VU_SPAWNED: return NULL;
    case RAD__LOAD_CONN_ESTABLISHED:
    case RAD__LOAD_CONN_CLOSED:
    case RAD__LOAD_CONN_ERROR: e->first_ns = rad__load_z6_get(record + RAD__LOAD_Z6_PAYLOAD + 24, 8); return NULL;
    case RAD__LOAD_TICK:
    case RAD__LOAD_ASSERTION_PASSED:
    case RAD__LOAD_ASSERTION_FAILED: *left_out = true; return NULL;
    default: return of_user(m, record, type, e, left_out);
    }
}

/* ---- Both readings --------------------------------------------------------------------------------------- */

static int learn(struct importer *m, const uint8_t *record, rad_error *error)
{
    uint32_t type = (uint32_t)rad__load_z6_get(record + 12, 2);
    uint64_t number = rad__load_z6_get(record + 8, 4);
    if (type == RAD__LOAD_VU_SPAWNED) {
        if (rad__map64_find(&m->user_of, number) != RAD_NONE) return bad(m, "a user is spawned twice", error);
        if (!RAD_GROW(&m->users, &m->user_capacity, m->user_count + 1) ||
            !rad__map64_add(&m->user_of, number, m->user_count))
            return rad__error_memory(error);
        m->user_count++;
    }
    if (type == RAD__LOAD_ISSUED && !add_request(m, record + RAD__LOAD_Z6_PAYLOAD)) return rad__error_memory(error);
    return 0;
}

/* Everything that can be wrong is found here: who does something was spawned by a record before. */
static int first_reading(struct importer *m, rad_error *error)
{
    for (m->at = 1; m->at <= m->count; m->at++) {
        const uint8_t *record = m->records + (m->at - 1) * RAD__LOAD_Z6_RECORD;
        const char *wrong = record_wrong(m, record);
        if (wrong != NULL) return bad(m, wrong, error);
        rad__load_event e;
        bool left_out;
        int result = learn(m, record, error);
        if (result != 0) return result;
        wrong = translate(m, record, &e, &left_out);
        if (wrong != NULL) return bad(m, wrong, error);
    }
    return 0;
}

static int second_reading(struct importer *m, rad_error *error)
{
    rad__load_metrics *metrics = &m->result->metrics;
    uint64_t tick = UINT64_MAX;
    for (uint32_t i = 0; i < m->user_count; i++) m->users[i] = (struct user){0};
    for (m->at = 1; m->at <= m->count; m->at++) {
        const uint8_t *record = m->records + (m->at - 1) * RAD__LOAD_Z6_RECORD;
        rad__load_event e;
        bool left_out;
        if (rad__load_z6_get(record, 8) != tick) {
            tick = rad__load_z6_get(record, 8);
            rad__load_metrics_turn(metrics, tick * m->tick_ns);
        }
        const char *wrong = translate(m, record, &e, &left_out);
        RAD_ASSERT(wrong == NULL);
        if (!left_out) rad__load_metrics_feed(metrics, &e);
    }
    rad__load_metrics_end(metrics);
    for (uint32_t i = 0; i < m->user_count; i++) m->result->under_way += m->users[i].under_way;
    return metrics->failed ? rad__error_memory(error) : 0;
}

static int import(struct importer *m, const uint8_t *data, size_t size, rad_error *error)
{
    rad_load_result *r = m->result;
    int result = survey(m, data, size, error);
    if (result == 0) result = first_reading(m, error);
    if (result == 0) result = check_hash(m, data, size, error);
    if (result != 0) return result;
    r->seed = rad__load_z6_get(data + 16, 8);
    r->shards = 1;
    r->log_bytes = size;
    if (!make_scenario(m, r->seed) || !rad__load_metrics_open(&r->metrics, &r->scenario))
        return rad__error_memory(error);
    return second_reading(m, error);
}

int rad__load_z6_import(rad_load_result *r, const char *name, const void *data, size_t size, uint64_t tick_ns,
                        rad_error *error)
{
    RAD_ASSERT(tick_ns > 0);
    if (!rad__load_z6_is(data, size))
        return rad__error(error, RAD_EINPUT, "%s: not an event log of Z6 (expected its magic)", name);
    if (size < RAD__LOAD_Z6_HEADER) return rad__error(error, RAD_EINPUT, "%s: cut off inside its header", name);
    uint64_t version = rad__load_z6_get((const uint8_t *)data + 8, 2);
    if (version != 1)
        return rad__error(error, RAD_EINPUT, "%s: version %" PRIu64 " of Z6's log; this reads 1", name, version);
    struct importer m = {.name = name, .tick_ns = tick_ns, .result = r};
    rad__crc32_open(&m.crc);
    int result = import(&m, data, size, error);
    rad__map64_free(&m.user_of);
    rad__map64_free(&m.request_of);
    rad__free(m.users);
    rad__free(m.requests);
    return result;
}
