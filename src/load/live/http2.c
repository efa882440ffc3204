#include "load/live/http2.h"

#include "base/alloc.h"
#include "base/error.h"

#include <nghttp2/nghttp2.h>

#include <string.h>

enum {
    STREAM_WINDOW = 1 << 20, /* bytes that may be under way, for a response and for a connection */
    CONN_WINDOW = 16 << 20,
    SEND_BYTES = LIVE_UNSENT_BYTES, /* sent at a time */
    ACKS_OWED = 1000,               /* PING and SETTINGS that are not answered yet; more are a flood */
    ABANDONED = 500,                /* requests nobody waits for, and which could not be ended yet */
    HEADER_BLOCKS = 4               /* all headers of a response, with interim ones and trailers, in max_header_bytes */
};

/* A request under way. */
typedef struct stream {
    struct stream *next, *before; /* of the connection */
    live_request request;
    rad__load_answer answer;
    const uint8_t *body; /* not sent yet; in the plan, or in `own` */
    uint32_t body_size;
    int32_t id; /* 0: waits for the connection */
    uint64_t header_bytes;
    bool complete, head;
    rad_bytes own;
} stream;

struct live_http2 {
    live *l;
    uint32_t conn;
    nghttp2_session *session; /* NULL: not connected yet */
    stream *streams;
    uint32_t next_dirty;
    uint32_t parts;     /* answers that point into what is being read */
    uint32_t abandoned; /* cancelled requests among the streams */
    bool dirty;         /* there is something to send */
    bool blocked;       /* but it has to wait until the other side has read what it was sent */
    bool closing;       /* nothing new is begun; closed when the last stream is done */
};

/* What all connections share. */
struct live_http2_all {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    stream *free;
    rad_bytes out, text;
    nghttp2_nv *fields; /* of the request that is being made */
    uint32_t field_capacity;
    uint32_t first_dirty;
    nghttp2_nv **ready; /* by plan: those without placeholders; NULL: not made yet, or there are some */
};

/* ---- Streams ----------------------------------------------------------------------------------------------- */

static stream *stream_add(live *l, live_http2 *h, const live_request *r)
{
    stream *s = l->http2->free;
    if (s)
        l->http2->free = s->next;
    else if ((s = rad__alloc(1, sizeof *s)) == NULL)
        return NULL;
    rad_bytes own = s->own;
    own.size = 0;
    *s = (stream){.request = *r, .own = own, .next = h->streams};
    if (h->streams) h->streams->before = s;
    h->streams = s;
    return s;
}

static void stream_remove(live *l, live_http2 *h, stream *s)
{
    if (s->before)
        s->before->next = s->next;
    else
        h->streams = s->next;
    if (s->next) s->next->before = s->before;
    h->abandoned -= s->request.cancelled;
    rad__load_answer_drop(&l->answers, &s->answer);
    if (s->own.failed || s->own.capacity > SEND_BYTES) rad__bytes_free(&s->own);
    s->next = l->http2->free;
    l->http2->free = s;
}

static void stream_fail(live *l, live_http2 *h, stream *s, enum rad__load_fault fault)
{
    live_request r = s->request;
    stream_remove(l, h, s);
    if (!r.cancelled) rad__live_fail(l, h->conn, &r, fault);
}

static void http2_dirty(live *l, live_http2 *h)
{
    if (h->dirty) return;
    h->dirty = true;
    h->next_dirty = l->http2->first_dirty;
    l->http2->first_dirty = h->conn;
}

/* ---- What nghttp2 tells ------------------------------------------------------------------------------------ */

/* The stream has gone wrong on our side: the other one is told, and on_stream_close ends it. */
static int give_up(live_http2 *h, stream *s, enum rad__load_fault fault)
{
    if (s->answer.fault == RAD__LOAD_OK) s->answer.fault = (uint8_t)fault;
    return nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL) == NGHTTP2_ERR_NOMEM
               ? NGHTTP2_ERR_CALLBACK_FAILURE
               : 0;
}

/* The same for headers: those of the block that are left are not even looked at. */
static int refuse_headers(stream *s, enum rad__load_fault fault)
{
    if (s->answer.fault == RAD__LOAD_OK) s->answer.fault = (uint8_t)fault;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static bool read_status(stream *s, const uint8_t *value, size_t size)
{
    if (size != 3) return false;
    s->answer.status = (uint16_t)((value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0');
    return true;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t value_size, uint8_t flags, void *context)
{
    enum { AROUND = 4 }; /* ": " and the end of the line, so that sizes compare with HTTP/1.1 */
    live_http2 *h = context;
    live *l = h->l;
    stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags;
    if (s == NULL || frame->hd.type != NGHTTP2_HEADERS) return 0;
    size_t size = name_size + value_size + AROUND;
    s->header_bytes += size;
    if (s->answer.fault || s->header_bytes > (uint64_t)l->answers.max_header_bytes * HEADER_BLOCKS)
        return refuse_headers(s, RAD__LOAD_BAD_HEADER);
    if (s->answer.body_bytes > 0) return 0; /* trailers */
    if (size > l->answers.max_header_bytes - s->answer.header_bytes) return refuse_headers(s, RAD__LOAD_BAD_HEADER);
    s->answer.header_bytes += (uint32_t)size;
    if (name_size == 7 && memcmp(name, ":status", 7) == 0) {
        rad__load_answer_restart(&s->answer); /* those of an interim response do not count */
        s->answer.header_bytes = (uint32_t)size;
        return read_status(s, value, value_size) ? 0 : refuse_headers(s, RAD__LOAD_BAD_RESPONSE);
    }
    if (!rad__load_answer_header_begins(&l->answers, &s->answer) ||
        !rad__load_answer_name(&s->answer, (const char *)name, name_size) ||
        !rad__load_answer_value(&s->answer, (const char *)value, value_size))
        return refuse_headers(s, s->answer.fault);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t size, void *context)
{
    live_http2 *h = context;
    stream *s = nghttp2_session_get_stream_user_data(session, id);
    (void)flags;
    if (s == NULL || s->answer.fault) return 0;
    if (s->request.first_ns == 0) s->request.first_ns = h->l->now_ns;
    bool had = s->answer.part != NULL;
    if (!rad__load_answer_body(&h->l->answers, &s->answer, data, size)) return give_up(h, s, s->answer.fault);
    h->parts += !had && s->answer.part != NULL;
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    live_http2 *h = context;
    if (frame->hd.type == NGHTTP2_GOAWAY) h->closing = true;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (s == NULL) return 0;
    if (s->request.first_ns == 0) s->request.first_ns = h->l->now_ns;
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) s->complete = true;
    return 0;
}

static enum rad__load_fault fault_of_code(uint32_t code)
{
    switch (code) {
    case NGHTTP2_REFUSED_STREAM: return RAD__LOAD_REFUSED_STREAM;
    case NGHTTP2_PROTOCOL_ERROR:
    case NGHTTP2_FLOW_CONTROL_ERROR:
    case NGHTTP2_FRAME_SIZE_ERROR:
    case NGHTTP2_COMPRESSION_ERROR: return RAD__LOAD_HTTP2_VIOLATION;
    case NGHTTP2_NO_ERROR: return RAD__LOAD_CLOSED_EARLY;
    default: return RAD__LOAD_RESET;
    }
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
    live_http2 *h = context;
    live *l = h->l;
    stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s == NULL) return 0;
    h->parts -= s->answer.part != NULL;
    if (s->answer.fault) {
        stream_fail(l, h, s, s->answer.fault);
    } else if (s->complete && s->answer.status >= 200 && !s->request.cancelled) {
        rad__load_answer_end(&l->answers, &s->answer);
        rad__live_answer(l, h->conn, &s->request, &s->answer);
        stream_remove(l, h, s);
    } else {
        stream_fail(l, h, s, fault_of_code(code));
    }
    return 0;
}

static ssize_t on_body_wanted(nghttp2_session *session, int32_t id, uint8_t *to, size_t size, uint32_t *flags,
                              nghttp2_data_source *source, void *context)
{
    stream *s = source->ptr;
    size_t n = s->body_size < size ? s->body_size : size;
    (void)session;
    (void)id;
    (void)context;
    if (n > 0) memcpy(to, s->body, n);
    s->body += n;
    s->body_size -= (uint32_t)n;
    if (s->body_size == 0) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static uint32_t plan_count(const live *l)
{
    return l->scenario->request_count * l->scenario->target_count;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------- */

int rad__live_http2_prepare(live *l, uint32_t target, rad_error *error)
{
    (void)target;
    if (l->http2) return 0;
    l->http2 = rad__alloc(1, sizeof *l->http2);
    if (l->http2 == NULL) return rad__error_memory(error);
    l->http2->first_dirty = RAD_NONE;
    l->http2->ready = rad__alloc(plan_count(l), sizeof *l->http2->ready);
    if (l->http2->ready == NULL || nghttp2_session_callbacks_new(&l->http2->callbacks) != 0 ||
        nghttp2_option_new(&l->http2->options) != 0)
        return rad__error_memory(error);
    nghttp2_session_callbacks *c = l->http2->callbacks;
    nghttp2_session_callbacks_set_on_header_callback(c, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_close);
    nghttp2_option_set_no_closed_streams(l->http2->options, 1); /* closed ones are not kept */
    nghttp2_option_set_max_outbound_ack(l->http2->options, ACKS_OWED);
    return 0;
}

void rad__live_http2_stop(live *l)
{
    struct live_http2_all *all = l->http2;
    if (all == NULL) return;
    while (all->free) {
        stream *s = all->free;
        all->free = s->next;
        rad__bytes_free(&s->own);
        rad__free(s);
    }
    nghttp2_session_callbacks_del(all->callbacks);
    nghttp2_option_del(all->options);
    for (uint32_t i = 0; all->ready && i < plan_count(l); i++) rad__free(all->ready[i]);
    rad__free(all->ready);
    rad__bytes_free(&all->out);
    rad__bytes_free(&all->text);
    rad__free(all->fields);
    rad__free(all);
    l->http2 = NULL;
}

bool rad__live_http2_open(live *l, uint32_t conn)
{
    live_http2 *h = rad__alloc(1, sizeof *h);
    if (h == NULL) return false;
    h->l = l;
    h->conn = conn;
    l->conns[conn].http2 = h;
    return true;
}

static void clean(live *l, live_http2 *h)
{
    uint32_t *at = &l->http2->first_dirty;
    while (h->dirty && *at != h->conn) at = &l->conns[*at].http2->next_dirty;
    if (h->dirty) *at = h->next_dirty;
    h->dirty = false;
}

void rad__live_http2_close(live *l, uint32_t conn)
{
    live_http2 *h = l->conns[conn].http2;
    clean(l, h);
    while (h->streams) stream_remove(l, h, h->streams);
    nghttp2_session_del(h->session);
    rad__free(h);
    l->conns[conn].http2 = NULL;
}

void rad__live_http2_fail(live *l, uint32_t conn, enum rad__load_fault fault)
{
    live_http2 *h = l->conns[conn].http2;
    while (h->streams) stream_fail(l, h, h->streams, fault);
}

/* ---- Sending ----------------------------------------------------------------------------------------------- */

static enum rad__load_fault put_text(const rad__load_text *t, rad__load_fill *fill, rad_bytes *to, size_t *size)
{
    uint32_t from = to->size;
    enum rad__load_fault fault = rad__load_text_put(t, fill, to);
    *size = to->size - from;
    return fault;
}

/* Names and values one after the other in `text`; where they are is known when it has stopped growing. */
static enum rad__load_fault make_fields(live *l, const live_conn *c, stream *s, uint32_t *count)
{
    struct live_http2_all *all = l->http2;
    const rad__load_plan *plan = rad__live_plan(l, s->request.what, c->target);
    rad__load_fill fill = rad__live_fill(l, &s->request);
    rad__load_cookies cookies = rad__live_cookies(l, c, &s->request);
    if (!RAD_GROW(&all->fields, &all->field_capacity, plan->pair_count + 1)) return RAD__LOAD_NO_DESCRIPTORS;
    all->text.size = 0;
    enum rad__load_fault fault = RAD__LOAD_OK;
    uint32_t n = 0;
    for (; n < plan->pair_count && fault == RAD__LOAD_OK; n++) {
        nghttp2_nv *f = &all->fields[n];
        *f = (nghttp2_nv){0};
        fault = put_text(&plan->pairs[n].name, &fill, &all->text, &f->namelen);
        if (fault == RAD__LOAD_OK) fault = put_text(&plan->pairs[n].value, &fill, &all->text, &f->valuelen);
    }
    if (plan->wants_cookies && cookies.jar && fault == RAD__LOAD_OK) {
        rad__load_site site = rad__load_plan_site(plan, cookies.host, cookies.tls);
        nghttp2_nv *f = &all->fields[n];
        *f = (nghttp2_nv){.namelen = 6};
        rad__bytes_put(&all->text, "cookie", 6);
        uint32_t from = all->text.size;
        rad__load_jar_put(cookies.jar, &site, l->now_ns, &all->text);
        f->valuelen = all->text.size - from;
        n += f->valuelen > 0;
    }
    if (fault == RAD__LOAD_OK && plan->has_body && !rad__load_text_is_constant(&plan->body)) {
        fault = rad__load_text_put(&plan->body, &fill, &s->own);
        s->body = s->own.data;
        s->body_size = s->own.size;
    } else if (plan->has_body) {
        s->body = plan->body.constant.data;
        s->body_size = plan->body.constant.size;
    }
    if (all->text.failed) rad__bytes_free(&all->text);
    *count = n;
    return fault;
}

static void place_fields(struct live_http2_all *all, uint32_t count)
{
    uint8_t *at = all->text.data;
    for (uint32_t i = 0; i < count; i++) {
        all->fields[i].name = at;
        all->fields[i].value = at + all->fields[i].namelen;
        at += all->fields[i].namelen + all->fields[i].valuelen;
    }
}

static bool is_constant(const rad__load_plan *plan)
{
    if (plan->wants_cookies || !rad__load_text_is_constant(&plan->body)) return false;
    for (uint32_t i = 0; i < plan->pair_count; i++)
        if (!rad__load_text_is_constant(&plan->pairs[i].name) || !rad__load_text_is_constant(&plan->pairs[i].value))
            return false;
    return true;
}

/* The fields of a request without placeholders, which stay where they are; NULL: there are some, or no memory. */
static const nghttp2_nv *ready_fields(live *l, const rad__load_plan *plan)
{
    nghttp2_nv **ready = &l->http2->ready[plan - l->plans];
    if (*ready || !is_constant(plan)) return *ready;
    nghttp2_nv *fields = *ready = rad__alloc(plan->pair_count, sizeof *fields);
    for (uint32_t i = 0; fields && i < plan->pair_count; i++) {
        const rad_bytes *name = &plan->pairs[i].name.constant;
        const rad_bytes *value = &plan->pairs[i].value.constant;
        fields[i] = (nghttp2_nv){name->data, value->data, name->size, value->size,
                                 NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
    }
    return fields;
}

static enum rad__load_fault fields_of(live *l, const live_conn *c, stream *s, const nghttp2_nv **fields,
                                      uint32_t *count)
{
    const rad__load_plan *plan = rad__live_plan(l, s->request.what, c->target);
    *fields = ready_fields(l, plan);
    if (*fields) {
        *count = plan->pair_count;
        s->body = plan->body.constant.data;
        s->body_size = plan->body.constant.size;
        return RAD__LOAD_OK;
    }
    enum rad__load_fault fault = make_fields(l, c, s, count);
    place_fields(l->http2, fault == RAD__LOAD_OK ? *count : 0);
    *fields = l->http2->fields;
    return fault;
}

static void http2_submit(live *l, uint32_t conn, stream *s)
{
    live_conn *c = &l->conns[conn];
    live_http2 *h = c->http2;
    const rad__load_plan *plan = rad__live_plan(l, s->request.what, c->target);
    const nghttp2_nv *fields;
    uint32_t count = 0;
    enum rad__load_fault fault = fields_of(l, c, s, &fields, &count);
    if (fault != RAD__LOAD_OK) {
        stream_fail(l, h, s, fault);
        return;
    }
    rad__load_answer_begin(&s->answer, plan->keep);
    nghttp2_data_provider provider = {.source.ptr = s, .read_callback = on_body_wanted};
    int32_t id = nghttp2_submit_request(h->session, NULL, fields, count, s->body_size ? &provider : NULL, s);
    if (id < 0) {
        stream_fail(l, h, s, id == NGHTTP2_ERR_NOMEM ? RAD__LOAD_NO_DESCRIPTORS : RAD__LOAD_REFUSED_STREAM);
        return;
    }
    s->id = id;
    s->request.sent_ns = rad__live_clock(l);
    http2_dirty(l, h);
}

/* Closed, when there is nothing left to wait for. True: it is gone. */
static bool http2_over(live *l, live_http2 *h)
{
    bool silent = h->session && !nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session);
    if (silent && h->streams) {
        rad__live_lost(l, h->conn, RAD__LOAD_HTTP2_VIOLATION);
        return true;
    }
    if (h->streams || !(silent || h->closing)) return false;
    rad__live_gone(l, h->conn, RAD__LOAD_OK);
    return true;
}

/* Whether it may go on sending: not before what was sent is read, so that all that waits lies in nghttp2, which has a
 * bound for it; and not for ever, for others want to send, too. */
static bool may_push(live *l, live_http2 *h, uint32_t pushed)
{
    h->blocked = rad__live_unsent(&l->conns[h->conn]) >= LIVE_UNSENT_BYTES;
    if (!h->blocked && pushed >= LIVE_SHARE_BYTES) http2_dirty(l, h);
    return !h->blocked && pushed < LIVE_SHARE_BYTES;
}

/* Everything nghttp2 has to say, in as few sends as there can be. False: the connection is gone. */
static bool http2_push(live *l, live_http2 *h)
{
    rad_bytes *out = &l->http2->out;
    uint32_t conn = h->conn, pushed = 0;
    ssize_t size = 1;
    clean(l, h);
    while (size > 0 && may_push(l, h, pushed)) {
        const uint8_t *data;
        out->size = 0;
        while (out->size < SEND_BYTES && (size = nghttp2_session_mem_send(h->session, &data)) > 0)
            rad__bytes_put(out, data, (size_t)size);
        if (out->failed || size < 0) {
            if (out->failed) rad__bytes_free(out);
            rad__live_lost(l, conn, RAD__LOAD_NO_DESCRIPTORS);
            return false;
        }
        pushed += out->size;
        if (out->size > 0 && !rad__live_send(l, conn, out->data, out->size, false)) return false;
    }
    if (h->abandoned > ABANDONED) {
        rad__live_lost(l, conn, RAD__LOAD_REFUSED_STREAM);
        return false;
    }
    return !http2_over(l, h);
}

/* Whoever becomes dirty meanwhile waits for the next flush. */
void rad__live_http2_flush(live *l)
{
    uint32_t conn = l->http2->first_dirty;
    l->http2->first_dirty = RAD_NONE;
    while (conn != RAD_NONE) {
        live_http2 *h = l->conns[conn].http2;
        conn = h->next_dirty;
        h->dirty = false;
        http2_push(l, h);
    }
}

bool rad__live_http2_has_more(const live *l)
{
    return l->http2->first_dirty != RAD_NONE;
}

void rad__live_http2_drained(live *l, uint32_t conn)
{
    if (l->conns[conn].http2->blocked) http2_push(l, l->conns[conn].http2);
}

void rad__live_http2_send(live *l, uint32_t conn, const live_request *r, bool last)
{
    live_http2 *h = l->conns[conn].http2;
    stream *s = stream_add(l, h, r);
    if (s == NULL) {
        l->failed = RAD_ENOMEM;
        return;
    }
    if (h->closing) {
        stream_fail(l, h, s, RAD__LOAD_REFUSED_STREAM);
        return;
    }
    h->closing = last;
    if (h->session) http2_submit(l, conn, s);
}

void rad__live_http2_cancel(live *l, uint32_t conn, uint32_t vu, uint64_t request)
{
    live_http2 *h = l->conns[conn].http2;
    stream *s = h->streams;
    while (s && (s->request.vu != vu || s->request.request != request)) s = s->next;
    if (s == NULL) return;
    s->request.cancelled = true;
    h->abandoned++;
    if (s->id == 0) {
        stream_remove(l, h, s);
    } else {
        s->body_size = 0; /* it may be long before nghttp2 lets go of it */
        rad__bytes_free(&s->own);
        give_up(h, s, RAD__LOAD_RESET);
        http2_dirty(l, h);
    }
}

/* The oldest first: they are in the list the other way round. */
static void submit_waiting(live *l, uint32_t conn)
{
    live_http2 *h = l->conns[conn].http2;
    stream *s = h->streams;
    while (s && s->next) s = s->next;
    while (s) {
        stream *before = s->before;
        if (s->id == 0) http2_submit(l, conn, s);
        s = before;
    }
}

void rad__live_http2_ready(live *l, uint32_t conn)
{
    live_http2 *h = l->conns[conn].http2;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
    };
    if (nghttp2_session_client_new2(&h->session, l->http2->callbacks, h, l->http2->options) != 0 ||
        nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, CONN_WINDOW) != 0) {
        rad__live_lost(l, conn, RAD__LOAD_NO_DESCRIPTORS);
        return;
    }
    submit_waiting(l, conn);
    http2_push(l, h);
}

/* ---- Receiving --------------------------------------------------------------------------------------------- */

/* What was read goes away: answers that are not complete take in what they point to. */
static void pause_answers(live *l, live_http2 *h)
{
    for (stream *s = h->streams; s && h->parts > 0; s = s->next) {
        h->parts -= s->answer.part != NULL;
        if (!rad__load_answer_pause(&l->answers, &s->answer)) l->failed = RAD_ENOMEM;
    }
}

void rad__live_http2_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    live_http2 *h = l->conns[conn].http2;
    ssize_t used = nghttp2_session_mem_recv(h->session, bytes, size);
    if (used < 0) {
        rad__live_lost(l, conn, used == NGHTTP2_ERR_NOMEM ? RAD__LOAD_NO_DESCRIPTORS : RAD__LOAD_HTTP2_VIOLATION);
        return;
    }
    pause_answers(l, h);
    http2_push(l, h);
}

void rad__live_http2_ended(live *l, uint32_t conn)
{
    rad__live_http2_fail(l, conn, RAD__LOAD_CLOSED_EARLY);
    rad__live_gone(l, conn, RAD__LOAD_OK);
}
