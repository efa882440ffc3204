/* record.c — the table of records, and the two loops that follow it. */
#include "load/log/record.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum how { NUMBER, HASH, TEXT };

struct field {
    const char *name;
    uint16_t offset;
    uint8_t width; /* of the member: 2, 4 or 8 */
    uint8_t how;
};

#define EVENT(member)                                                                                                  \
    {                                                                                                                  \
#member, offsetof(rad__load_event, member), sizeof(((rad__load_event *)0)->member), NUMBER                     \
    }
#define INPUT(member)                                                                                                  \
    {                                                                                                                  \
#member, offsetof(rad__load_input, member), sizeof(((rad__load_input *)0)->member), NUMBER                     \
    }
#define TURN(member)                                                                                                   \
    {                                                                                                                  \
#member, offsetof(struct rad__load_turn_record, member), sizeof(((struct rad__load_turn_record *)0)->member),  \
            NUMBER                                                                                                     \
    }
#define INPUT_HASH                                                                                                     \
    {                                                                                                                  \
        "body_hash", offsetof(rad__load_input, body_hash), 8, HASH                                                     \
    }
#define INPUT_VALUES                                                                                                   \
    {                                                                                                                  \
        "values", offsetof(rad__load_input, values_size), 4, TEXT                                                      \
    }

enum { FIELDS_MAX = 14 };

struct layout {
    const char *name;
    struct field fields[FIELDS_MAX]; /* ends with a name that is NULL */
};

/* Nearly all events are these two: rad__load_get_event has a reader of their own, made of the same lists. */
/* clang-format off */
#define ISSUED_FIELDS(X)                                                                           \
    X(vu) X(request) X(conn) X(what) X(target) X(flags) X(iteration) X(count)
#define RESPONSE_FIELDS(X)                                                                         \
    X(vu) X(request) X(what) X(status) X(flags) X(service_ns) X(response_ns) X(first_ns)           \
    X(header_bytes) X(body_bytes) X(checks_failed)
/* clang-format on */
#define EVENT_AND(member) EVENT(member),

/* Part of the format: a change is a new version of the log. */
static const struct layout LAYOUTS[RAD__LOAD_RECORD_KINDS] = {
    [RAD__LOAD_VU_SPAWNED] = {"vu_spawned", {EVENT(vu)}},
    [RAD__LOAD_VU_READY] = {"vu_ready", {EVENT(vu)}},
    [RAD__LOAD_VU_COMPLETE] = {"vu_complete", {EVENT(vu), EVENT(fault)}},
    [RAD__LOAD_ISSUED] = {"request_issued", {ISSUED_FIELDS(EVENT_AND)}},
    [RAD__LOAD_TIMEOUT] = {"request_timeout",
                           {EVENT(vu), EVENT(request), EVENT(what), EVENT(flags), EVENT(service_ns)}},
    [RAD__LOAD_CANCELLED] = {"request_cancelled", {EVENT(vu), EVENT(request), EVENT(what), EVENT(flags)}},
    [RAD__LOAD_RESPONSE] = {"response_received", {RESPONSE_FIELDS(EVENT_AND)}},
    [RAD__LOAD_ERROR] = {"response_error", {EVENT(vu), EVENT(request), EVENT(what), EVENT(flags), EVENT(fault)}},
    [RAD__LOAD_CONN_ESTABLISHED] = {"conn_established", {EVENT(conn), EVENT(target), EVENT(first_ns)}},
    [RAD__LOAD_CONN_CLOSED] = {"conn_closed", {EVENT(conn), EVENT(target)}},
    [RAD__LOAD_CONN_ERROR] = {"conn_error", {EVENT(conn), EVENT(target), EVENT(fault)}},
    [RAD__LOAD_ASSERTION_PASSED] = {"assertion_passed", {EVENT(what), EVENT(actual), EVENT(wanted)}},
    [RAD__LOAD_ASSERTION_FAILED] = {"assertion_failed", {EVENT(what), EVENT(actual), EVENT(wanted)}},
    [RAD__LOAD_EXHAUSTED] = {"error_resource_exhausted", {EVENT(vu), EVENT(fault)}},
    [RAD__LOAD_LATE] = {"late_response", {EVENT(vu), EVENT(request), EVENT(status), EVENT(service_ns)}},
    [RAD__LOAD_LONG_WAIT] = {"long_wait", {EVENT(vu), EVENT(request), EVENT(count)}},
    [RAD__LOAD_DROPPED] = {"arrivals_dropped", {EVENT(count)}},
    [RAD__LOAD_PHASE] = {"phase", {EVENT(count), EVENT(fault)}},
    [RAD__LOAD_RECORD_TURN] = {"turn", {TURN(passed_ns), TURN(inputs), TURN(flags)}},
    [RAD__LOAD_RECORD_INPUT +
        RAD__LOAD_IN_CONNECTED] = {"connected", {INPUT(vu), INPUT(conn), INPUT(at_ns), INPUT(took_ns)}},
    [RAD__LOAD_RECORD_INPUT +
        RAD__LOAD_IN_CONN_FAILED] = {"connection_failed", {INPUT(vu), INPUT(conn), INPUT(at_ns), INPUT(fault)}},
    [RAD__LOAD_RECORD_INPUT + RAD__LOAD_IN_CONN_CLOSED] = {"connection_closed", {INPUT(vu), INPUT(conn), INPUT(at_ns)}},
    [RAD__LOAD_RECORD_INPUT +
        RAD__LOAD_IN_RESPONSE] = {"response",
                                  {INPUT(vu), INPUT(conn), INPUT(request), INPUT(status), INPUT(at_ns), INPUT(sent_ns),
                                   INPUT(first_ns), INPUT(header_bytes), INPUT(body_bytes), INPUT_HASH,
                                   INPUT(checks_failed), INPUT_VALUES}},
    [RAD__LOAD_RECORD_INPUT +
        RAD__LOAD_IN_FAILED] = {"failed",
                                {INPUT(vu), INPUT(conn), INPUT(request), INPUT(at_ns), INPUT(sent_ns), INPUT(fault)}},
};

/* ---- Writing --------------------------------------------------------------------------------------------- */

static uint64_t member(const void *from, const struct field *f)
{
    const char *at = (const char *)from + f->offset;
    if (f->width == 8) {
        uint64_t value;
        memcpy(&value, at, 8);
        return value;
    }
    if (f->width == 4) {
        uint32_t value;
        memcpy(&value, at, 4);
        return value;
    }
    uint16_t value;
    memcpy(&value, at, 2);
    return value;
}

/* All fields but a text, at most ten bytes each. */
static uint8_t *put_fields(uint8_t *at, const struct layout *layout, const void *from)
{
    for (const struct field *f = layout->fields; f->name != NULL; f++) {
        uint64_t value = member(from, f);
        if (f->how == HASH) {
            memcpy(at, &value, 8);
            at += 8;
        } else {
            at = rad__varint_write(at, value); /* of a text: its length */
        }
    }
    return at;
}

/* Short records, nearly all, get their length of one byte afterwards; a text follows the fields. */
static void put_record(rad_bytes *to, uint32_t kind, const void *from, const void *text, uint32_t text_size)
{
    uint8_t bytes[2 + 10 * FIELDS_MAX];
    const struct layout *layout = &LAYOUTS[kind];
    RAD_DCHECK(layout->name != NULL);
    uint8_t *end = put_fields(bytes + 2, layout, from);
    size_t size = (size_t)(end - bytes) - 2 + text_size;
    bytes[0] = (uint8_t)kind;
    if (RAD_LIKELY(size < 128)) {
        bytes[1] = (uint8_t)size;
        rad__bytes_put(to, bytes, (size_t)(end - bytes));
    } else {
        rad__bytes_put(to, bytes, 1);
        rad__bytes_put_varint(to, size);
        rad__bytes_put(to, bytes + 2, (size_t)(end - bytes) - 2);
    }
    if (text_size > 0) rad__bytes_put(to, text, text_size);
}

void rad__load_put_turn(rad_bytes *to, const struct rad__load_turn_record *turn)
{
    put_record(to, RAD__LOAD_RECORD_TURN, turn, NULL, 0);
}

void rad__load_put_event(rad_bytes *to, const rad__load_event *event)
{
    put_record(to, event->kind, event, NULL, 0);
}

/* Distances instead of times. A request that was never sent has none: 0, and one more for all others. */
void rad__load_put_input(rad_bytes *to, const rad__load_input *input, uint64_t now_ns)
{
    rad__load_input near = *input;
    near.at_ns = now_ns - input->at_ns;
    near.sent_ns = input->sent_ns != 0 ? input->at_ns - input->sent_ns + 1 : 0;
    near.first_ns = input->first_ns != 0 ? input->at_ns - input->first_ns + 1 : 0;
    bool answer = input->kind == RAD__LOAD_IN_RESPONSE;
    put_record(to, RAD__LOAD_RECORD_INPUT + input->kind, &near, input->values, answer ? input->values_size : 0);
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Nearly all records are shorter than 128 bytes: kind, a length of one byte, and all of it there. */
bool rad__load_get_raw(rad_reader *r, struct rad__load_raw *raw)
{
    const uint8_t *at = r->at;
    size_t left = (size_t)(r->end - at);
    if (RAD_LIKELY(left >= 2 && at[1] < 128 && left - 2 >= at[1] && !r->failed)) {
        *raw = (struct rad__load_raw){at[0], at[1], at + 2};
        r->at = at + 2 + at[1];
        return raw->kind < RAD__LOAD_RECORD_KINDS && LAYOUTS[raw->kind].name != NULL;
    }
    const uint8_t *kind = rad__read_bytes(r, 1);
    uint64_t size = rad__read_varint(r);
    if (kind == NULL || r->failed || size > RAD__LOAD_RECORD_MAX) return false;
    raw->kind = *kind;
    raw->size = (uint32_t)size;
    raw->bytes = rad__read_bytes(r, raw->size);
    return raw->bytes != NULL && raw->kind < RAD__LOAD_RECORD_KINDS && LAYOUTS[raw->kind].name != NULL;
}

static bool set_member(void *to, const struct field *f, uint64_t value)
{
    char *at = (char *)to + f->offset;
    if (f->width == 8) {
        memcpy(at, &value, 8);
        return true;
    }
    if (f->width == 4) {
        uint32_t narrow = (uint32_t)value;
        memcpy(at, &narrow, 4);
        return value <= UINT32_MAX;
    }
    uint16_t narrow = (uint16_t)value;
    memcpy(at, &narrow, 2);
    return value <= UINT16_MAX;
}

static const char *get_fields(const struct rad__load_raw *raw, void *to, const uint8_t **text)
{
    rad_reader r = rad__reader(raw->bytes, raw->size);
    for (const struct field *f = LAYOUTS[raw->kind].fields; f->name != NULL; f++) {
        uint64_t value = 0;
        if (f->how == HASH) {
            const void *bytes = rad__read_bytes(&r, 8);
            if (bytes != NULL) memcpy(&value, bytes, 8);
        } else {
            value = rad__read_short_varint(&r);
        }
        if (!r.failed && !set_member(to, f, value)) return "a number is too large for its field";
        if (f->how == TEXT) *text = rad__read_bytes(&r, (size_t)value);
    }
    if (r.failed) return "it ends before its last field";
    return r.at == r.end ? NULL : "it is longer than its fields";
}

const char *rad__load_get_turn(const struct rad__load_raw *raw, struct rad__load_turn_record *turn)
{
    RAD_DCHECK(raw->kind == RAD__LOAD_RECORD_TURN);
    *turn = (struct rad__load_turn_record){0};
    const char *wrong = get_fields(raw, turn, NULL);
    if (wrong == NULL && turn->flags > (RAD__LOAD_TURN_PAUSED | RAD__LOAD_TURN_INTERRUPTED))
        return "flags that do not exist";
    return wrong;
}

/* Its width is known when it is compiled; what does not fit into 32 bits is noticed at the end, in `wide`. */
#define TAKE(member)                                                                                                   \
    value = rad__read_short_varint(&r);                                                                                \
    wide |= sizeof event->member == 4 ? value >> 32 : 0;                                                               \
    memcpy(&event->member, &value, sizeof event->member); /* little-endian */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half of a number comes first");

const char *rad__load_get_event(const struct rad__load_raw *raw, rad__load_event *event)
{
    RAD_DCHECK(rad__load_record_is_output(raw->kind));
    *event = (rad__load_event){.kind = raw->kind};
    rad_reader r = rad__reader(raw->bytes, raw->size);
    uint64_t value, wide = 0;
    switch (raw->kind) {
    case RAD__LOAD_RESPONSE: RESPONSE_FIELDS(TAKE); break;
    case RAD__LOAD_ISSUED: ISSUED_FIELDS(TAKE); break;
    default: return get_fields(raw, event, NULL);
    }
    if (RAD_LIKELY(!r.failed && wide == 0 && r.at == r.end)) return NULL;
    return get_fields(raw, event, NULL); /* says what is wrong */
}

const char *rad__load_get_input(const struct rad__load_raw *raw, uint64_t now_ns, rad__load_input *input)
{
    RAD_DCHECK(raw->kind > RAD__LOAD_RECORD_TURN);
    *input = (rad__load_input){.kind = raw->kind - RAD__LOAD_RECORD_INPUT};
    const char *wrong = get_fields(raw, input, &input->values);
    if (wrong != NULL) return wrong;
    if (input->fault >= RAD__LOAD_FAULT_COUNT) return "a fault that does not exist";
    if (input->at_ns > now_ns) return "it happened before the run began";
    input->at_ns = now_ns - input->at_ns;
    if (input->sent_ns > input->at_ns || input->first_ns > input->at_ns) return "it was sent before the run began";
    input->sent_ns = input->sent_ns != 0 ? input->at_ns - (input->sent_ns - 1) : 0;
    input->first_ns = input->first_ns != 0 ? input->at_ns - (input->first_ns - 1) : 0;
    return NULL;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

const char *rad__load_record_name(uint32_t kind)
{
    return kind < RAD__LOAD_RECORD_KINDS ? LAYOUTS[kind].name : NULL;
}

const char *rad__load_record_field(uint32_t kind, uint32_t index)
{
    return index < FIELDS_MAX ? LAYOUTS[kind].fields[index].name : NULL;
}

void rad__load_record_text(const struct rad__load_raw *raw, char *text, size_t size)
{
    rad_reader r = rad__reader(raw->bytes, raw->size);
    int used = snprintf(text, size, "%s", LAYOUTS[raw->kind].name);
    for (const struct field *f = LAYOUTS[raw->kind].fields; f->name != NULL && used >= 0 && (size_t)used < size; f++) {
        uint64_t value = 0;
        const void *hash = f->how == HASH ? rad__read_bytes(&r, 8) : NULL;
        if (hash != NULL) memcpy(&value, hash, 8);
        if (f->how != HASH) value = rad__read_varint(&r);
        if (f->how == HASH)
            used += snprintf(text + used, size - (size_t)used, " %s=%016" PRIx64, f->name, value);
        else
            used += snprintf(text + used, size - (size_t)used, " %s=%" PRIu64, f->name, value);
    }
}

const char *rad__load_fault_name(enum rad__load_fault fault)
{
    static const char *const NAMES[RAD__LOAD_FAULT_COUNT] = {
        [RAD__LOAD_OK] = "none",
        [RAD__LOAD_DNS_FAILED] = "DNSResolutionFailed",
        [RAD__LOAD_REFUSED] = "ConnectionRefused",
        [RAD__LOAD_RESET] = "ConnectionReset",
        [RAD__LOAD_CLOSED_EARLY] = "ConnectionClosed",
        [RAD__LOAD_NET_UNREACHABLE] = "NetworkUnreachable",
        [RAD__LOAD_HOST_UNREACHABLE] = "HostUnreachable",
        [RAD__LOAD_SOCKET] = "SocketError",
        [RAD__LOAD_BAD_RESPONSE] = "InvalidHTTPResponse",
        [RAD__LOAD_HTTP2_VIOLATION] = "HTTP2ProtocolViolation",
        [RAD__LOAD_HTTP_VERSION] = "UnsupportedHTTPVersion",
        [RAD__LOAD_BAD_HEADER] = "InvalidHeader",
        [RAD__LOAD_BAD_CHUNK] = "InvalidChunkedEncoding",
        [RAD__LOAD_WRONG_LENGTH] = "ContentLengthMismatch",
        [RAD__LOAD_TLS_HANDSHAKE] = "TLSHandshakeFailed",
        [RAD__LOAD_CERTIFICATE] = "CertificateInvalid",
        [RAD__LOAD_ALPN] = "ALPNNegotiationFailed",
        [RAD__LOAD_CONNECT_TIMEOUT] = "ConnectionTimeout",
        [RAD__LOAD_TLS_TIMEOUT] = "TLSTimeout",
        [RAD__LOAD_REQUEST_TIMEOUT] = "RequestTimeout",
        [RAD__LOAD_TOO_LARGE] = "ResponseTooLarge",
        [RAD__LOAD_NO_DESCRIPTORS] = "FileDescriptorLimitReached",
        [RAD__LOAD_POOL_EXHAUSTED] = "ConnectionPoolExhausted",
        [RAD__LOAD_QUEUE_FULL] = "RequestQueueFull",
        [RAD__LOAD_LOG_FULL] = "EventLogFull",
        [RAD__LOAD_REFUSED_STREAM] = "StreamRefused",
        [RAD__LOAD_BAD_REQUEST] = "InvalidRequest",
    };
    return fault < RAD__LOAD_FAULT_COUNT ? NAMES[fault] : "none";
}
