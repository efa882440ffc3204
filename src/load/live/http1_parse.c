#include "load/live/http1_parse.h"

#include <string.h>

/* A callback that does not like what it sees says why in the answer, and this to llhttp. */
enum { REFUSED = -1 };

static rad__load_http1 *self_of(llhttp_t *parser)
{
    return (rad__load_http1 *)parser; /* its first member */
}

static int refuse(rad__load_http1 *h, enum rad__load_fault fault)
{
    if (h->answer.fault == RAD__LOAD_OK) h->answer.fault = (uint8_t)fault;
    return REFUSED;
}

/* Trailers and chunk extensions are of no use to anybody, so a few are enough. */
static int count_extra(rad__load_http1 *h, size_t size, enum rad__load_fault fault)
{
    if (size > h->shared->max_header_bytes - h->extra_bytes) return refuse(h, fault);
    h->extra_bytes += (uint32_t)size;
    return 0;
}

static int on_name(llhttp_t *parser, const char *at, size_t size)
{
    rad__load_http1 *h = self_of(parser);
    if (h->in_body) return count_extra(h, size, RAD__LOAD_BAD_HEADER);
    if (!h->in_name && !rad__load_answer_header_begins(h->shared, &h->answer)) return REFUSED;
    h->in_name = true;
    return rad__load_answer_name(&h->answer, at, size) ? 0 : REFUSED;
}

static int on_name_complete(llhttp_t *parser)
{
    rad__load_http1 *h = self_of(parser);
    h->in_name = false;
    return h->in_body ? count_extra(h, 1, RAD__LOAD_BAD_HEADER) : 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t size)
{
    rad__load_http1 *h = self_of(parser);
    if (h->in_body) return count_extra(h, size, RAD__LOAD_BAD_HEADER);
    return rad__load_answer_value(&h->answer, at, size) ? 0 : REFUSED;
}

static int on_chunk_extension(llhttp_t *parser, const char *at, size_t size)
{
    (void)at;
    return count_extra(self_of(parser), size, RAD__LOAD_BAD_CHUNK);
}

static int on_chunk_extension_complete(llhttp_t *parser)
{
    return count_extra(self_of(parser), 1, RAD__LOAD_BAD_CHUNK);
}

static int on_chunk_complete(llhttp_t *parser)
{
    self_of(parser)->extra_bytes = 0; /* each chunk may have some */
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    rad__load_http1 *h = self_of(parser);
    uint16_t status = parser->status_code;
    if (parser->http_major != 1) return refuse(h, RAD__LOAD_HTTP_VERSION);
    if (status == 101 || status < 100 || status > 999) return refuse(h, RAD__LOAD_BAD_RESPONSE);
    h->answer.status = status;
    if (h->head || status < 200 || status == 204 || status == 304) parser->flags |= F_SKIPBODY;
    return HPE_PAUSED; /* so that it is known where they ended */
}

static int on_body(llhttp_t *parser, const char *at, size_t size)
{
    rad__load_http1 *h = self_of(parser);
    return rad__load_answer_body(h->shared, &h->answer, at, size) ? 0 : REFUSED;
}

static int on_message_complete(llhttp_t *parser)
{
    rad__load_http1 *h = self_of(parser);
    h->complete = true;
    h->keeps_alive = llhttp_should_keep_alive(parser) != 0;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_header_field = on_name,
    .on_header_field_complete = on_name_complete,
    .on_header_value = on_value,
    .on_chunk_extension_name = on_chunk_extension,
    .on_chunk_extension_name_complete = on_chunk_extension_complete,
    .on_chunk_extension_value = on_chunk_extension,
    .on_chunk_complete = on_chunk_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

static void http1_start(rad__load_http1 *h)
{
    llhttp_init(&h->parser, HTTP_RESPONSE, &callbacks);
    h->extra_bytes = 0;
    h->in_name = h->in_body = h->complete = h->keeps_alive = false;
}

void rad__load_http1_begin(rad__load_http1 *h, rad__load_answers *shared, uint8_t keep, bool head)
{
    h->shared = shared;
    h->head = head;
    h->fresh = keep == 0 && !head;
    rad__load_answer_begin(&h->answer, keep);
    http1_start(h);
}

/* What llhttp's complaint means here: it depends on how far it had come. */
static enum rad__load_fault http1_fault(const rad__load_http1 *h, llhttp_errno_t error)
{
    switch (error) {
    case HPE_INVALID_VERSION: return RAD__LOAD_HTTP_VERSION;
    case HPE_INVALID_CONSTANT:
    case HPE_INVALID_STATUS: return RAD__LOAD_BAD_RESPONSE;
    case HPE_INVALID_CHUNK_SIZE: return RAD__LOAD_BAD_CHUNK;
    case HPE_INVALID_HEADER_TOKEN:
    case HPE_INVALID_CONTENT_LENGTH:
    case HPE_UNEXPECTED_CONTENT_LENGTH:
    case HPE_INVALID_TRANSFER_ENCODING: return RAD__LOAD_BAD_HEADER;
    default:
        if (h->in_body) return RAD__LOAD_BAD_CHUNK; /* other bodies have no grammar */
        return h->answer.header_count ? RAD__LOAD_BAD_HEADER : RAD__LOAD_BAD_RESPONSE;
    }
}

static enum rad__load_http1_state http1_wrong(rad__load_http1 *h, enum rad__load_fault fault)
{
    refuse(h, fault);
    return RAD__LOAD_HTTP1_FAULT;
}

/* Headers may use what the limit leaves, and whatever comes after that is not even looked at: what is wrong with a
 * response does not depend on how much of it there was to read. */
static const char *http1_stop(const rad__load_http1 *h, const char *at, const char *end)
{
    size_t room = h->shared->max_header_bytes - h->answer.header_bytes;
    return h->in_body || (size_t)(end - at) <= room ? end : at + room;
}

static enum rad__load_http1_state http1_read(rad__load_http1 *h, const void *data, size_t size, size_t *used)
{
    const char *at = data, *end = at + size;
    for (;;) {
        const char *stop = http1_stop(h, at, end);
        llhttp_errno_t error = llhttp_execute(&h->parser, at, (size_t)(stop - at));
        const char *reached = error == HPE_OK ? stop : llhttp_get_error_pos(&h->parser);
        *used = (size_t)(reached - (const char *)data);
        if (error != HPE_OK && error != HPE_PAUSED) return http1_wrong(h, http1_fault(h, error));
        if (!h->in_body) h->answer.header_bytes += (uint32_t)(reached - at);
        if (error == HPE_OK && stop < end) return http1_wrong(h, RAD__LOAD_BAD_HEADER);
        if (error == HPE_OK)
            return rad__load_answer_pause(h->shared, &h->answer) ? RAD__LOAD_HTTP1_MORE : RAD__LOAD_HTTP1_FAULT;
        at = reached;
        if (!h->complete) { /* paused after the headers */
            h->in_body = true;
            llhttp_resume(&h->parser);
        } else if (h->answer.status < 200) {
            rad__load_answer_restart(&h->answer);
            http1_start(h);
        } else {
            rad__load_answer_end(h->shared, &h->answer);
            return RAD__LOAD_HTTP1_DONE;
        }
    }
}

enum rad__load_http1_state rad__load_http1_feed(rad__load_http1 *h, const void *data, size_t size, size_t *used)
{
    bool whole = h->fresh && rad__load_http1_whole(h, data, size, used);
    h->fresh = false;
    return whole ? RAD__LOAD_HTTP1_DONE : http1_read(h, data, size, used);
}

enum rad__load_http1_state rad__load_http1_finish(rad__load_http1 *h)
{
    if (!h->in_body) return http1_wrong(h, RAD__LOAD_CLOSED_EARLY);
    if (h->parser.finish == HTTP_FINISH_SAFE_WITH_CB) {
        h->complete = true;
        rad__load_answer_end(h->shared, &h->answer);
        return RAD__LOAD_HTTP1_DONE;
    }
    bool counted = h->parser.flags & F_CONTENT_LENGTH && !(h->parser.flags & F_CHUNKED);
    return http1_wrong(h, counted ? RAD__LOAD_WRONG_LENGTH : RAD__LOAD_CLOSED_EARLY);
}
