/* live.c — see live.h: connections by number, what is told of them, and the turns. */
#include "load/live/live.h"

#include "base/alloc.h"
#include "base/error.h"
#include "load/live/http2.h"
#include "load/live/judge.h"
#include "load/live/tls.h"
#include "os/clock.h"
#include "os/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOK_NS = 100000000, /* how long an interruption may go unnoticed */
    EARLY_AT_ONCE = 64,  /* connections that are being opened before the run: a listener's queue is short */
    SPARE_DESCRIPTORS = 100
};

uint64_t rad__live_clock(live *l)
{
    uint64_t now = rad__os_now_ns() - l->start_ns;
    if (now > l->now_ns) l->now_ns = now;
    return l->now_ns;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------ */

/* What was handed over may be forgotten. */
static void live_forget(live *l)
{
    if (!l->delivered) return;
    l->delivered = false;
    l->input_count = 0;
    l->values.size = 0;
}

static rad__load_input *live_input(live *l, enum rad__load_input_kind kind, uint32_t conn)
{
    static rad__load_input lost;
    live_forget(l);
    if (!RAD_GROW(&l->inputs, &l->input_capacity, l->input_count + 1)) {
        l->failed = RAD_ENOMEM;
        return &lost;
    }
    rad__load_input *in = &l->inputs[l->input_count++];
    *in = (rad__load_input){.kind = kind, .vu = RAD_NONE, .conn = conn, .at_ns = l->now_ns};
    return in;
}

static rad__load_input *live_input_of(live *l, enum rad__load_input_kind kind, uint32_t conn, const live_request *r)
{
    rad__load_input *in = live_input(l, kind, conn);
    in->vu = r->vu;
    in->request = r->request;
    in->sent_ns = r->sent_ns;
    in->first_ns = r->first_ns;
    return in;
}

void rad__live_fail(live *l, uint32_t conn, const live_request *r, enum rad__load_fault fault)
{
    live_input_of(l, RAD__LOAD_IN_FAILED, conn, r)->fault = fault;
}

void rad__live_answer(live *l, uint32_t conn, live_request *r, rad__load_answer *answer)
{
    const struct rad__load_request *request = &l->scenario->requests[r->what];
    rad__load_input *in = live_input_of(l, RAD__LOAD_IN_RESPONSE, conn, r);
    in->status = answer->status;
    in->header_bytes = answer->header_bytes;
    in->body_bytes = answer->body_bytes;
    in->body_hash = answer->body_hash;
    if (request->check_count) in->checks_failed = rad__load_judge_checks(request, answer);
    if (request->extract_count || l->scenario->cookies) {
        uint32_t from = l->values.size;
        rad__load_judge_extracts(request, answer, &l->values);
        if (l->values.failed) {
            l->failed = RAD_ENOMEM;
        } else {
            in->values_size = l->values.size - from; /* where they are: live_deliver */
            const uint8_t *values = in->values_size ? l->values.data + from : NULL;
            rad__live_user_learns(l, &l->conns[conn], r, answer, values, in->values_size);
        }
    }
    rad__load_answer_drop(&l->answers, answer);
}

/* The buffer of values may have moved while it grew. */
static void live_deliver(live *l, rad__load_turn *turn)
{
    const uint8_t *at = l->values.data;
    for (uint32_t i = 0; i < l->input_count && l->values.size > 0; i++) {
        if (l->inputs[i].values_size == 0) continue;
        l->inputs[i].values = at;
        at += l->inputs[i].values_size;
    }
    turn->inputs = l->inputs;
    turn->input_count = l->input_count;
    l->delivered = true;
}

/* ---- Connections ------------------------------------------------------------------------------------------- */

static void opening_add(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    live_target *t = &l->targets[c->target];
    l->opening_count++;
    c->next = RAD_NONE;
    c->before = t->last_opening;
    if (t->last_opening == RAD_NONE)
        t->first_opening = conn;
    else
        l->conns[t->last_opening].next = conn;
    t->last_opening = conn;
}

static void opening_remove(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    live_target *t = &l->targets[c->target];
    l->opening_count--;
    if (c->before == RAD_NONE)
        t->first_opening = c->next;
    else
        l->conns[c->before].next = c->next;
    if (c->next == RAD_NONE)
        t->last_opening = c->before;
    else
        l->conns[c->next].before = c->before;
}

/* Back to nothing, with no word to anybody. */
static void conn_shut(live *l, uint32_t conn, bool hard)
{
    live_conn *c = &l->conns[conn];
    if (c->state == LIVE_OPENING || c->state == LIVE_SHAKING) opening_remove(l, conn);
    if (c->fd >= 0) l->transport->close(l, conn, hard);
    if (c->tls) rad__live_tls_close(c);
    if (c->http2) rad__live_http2_close(l, conn);
    rad__load_answer_drop(&l->answers, &c->http1.answer);
    c->own.size = 0;
    c->state = LIVE_SHUT;
    c->fd = -1;
    c->generation++;
    c->busy = c->sending = false;
}

void rad__live_gone(live *l, uint32_t conn, enum rad__load_fault fault)
{
    conn_shut(l, conn, false);
    rad__load_input *in = live_input(l, fault ? RAD__LOAD_IN_CONN_FAILED : RAD__LOAD_IN_CONN_CLOSED, conn);
    in->fault = fault;
}

void rad__live_lost(live *l, uint32_t conn, enum rad__load_fault fault)
{
    live_conn *c = &l->conns[conn];
    if (c->http2)
        rad__live_http2_fail(l, conn, fault);
    else if (c->busy)
        rad__live_fail(l, conn, &c->request, fault);
    rad__live_gone(l, conn, fault);
}

static enum rad__load_fault fault_of(int64_t answer)
{
    switch (RAD_OS_ERROR - answer) {
    case ECONNREFUSED: return RAD__LOAD_REFUSED;
    case ECONNRESET:
    case EPIPE: return RAD__LOAD_RESET;
    case ENETUNREACH:
    case ENETDOWN: return RAD__LOAD_NET_UNREACHABLE;
    case EHOSTUNREACH:
    case EHOSTDOWN: return RAD__LOAD_HOST_UNREACHABLE;
    case ETIMEDOUT: return RAD__LOAD_CONNECT_TIMEOUT;
    case EMFILE:
    case ENFILE:
    case EADDRNOTAVAIL:
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM: return RAD__LOAD_NO_DESCRIPTORS;
    default: return RAD__LOAD_SOCKET;
    }
}

/* The next address of the target that has not been tried. What is wrong with the last one counts. */
static void conn_try(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    const live_target *t = &l->targets[c->target];
    int64_t failed = RAD_OS_ERROR - ECONNREFUSED;
    while (c->addresses < t->address_count) {
        failed = l->transport->connect(l, conn, &t->addresses[c->addresses++]);
        if (failed == 0) return;
    }
    rad__live_lost(l, conn, fault_of(failed));
}

/* For c->opener, to c->target. */
static void conn_open(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    c->addresses = 0;
    c->state = LIVE_OPENING;
    c->opened_ns = rad__live_clock(l);
    opening_add(l, conn);
    conn_try(l, conn);
}

void rad__live_connected(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    if (!l->scenario->targets[c->target].tls) {
        rad__live_ready(l, conn);
        return;
    }
    c->state = LIVE_SHAKING;
    rad__live_tls_begin(l, conn);
}

void rad__live_ready(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    opening_remove(l, conn);
    c->state = LIVE_OPEN;
    rad__load_input *in = live_input(l, RAD__LOAD_IN_CONNECTED, conn);
    in->vu = c->opener;
    in->took_ns = l->now_ns - c->opened_ns;
    if (c->http2)
        rad__live_http2_ready(l, conn);
    else if (c->busy)
        rad__live_http1_send(l, conn);
}

void rad__live_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    if (l->conns[conn].tls)
        rad__live_tls_received(l, conn, bytes, size);
    else
        rad__live_plain(l, conn, bytes, size);
}

void rad__live_plain(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    if (l->conns[conn].http2)
        rad__live_http2_received(l, conn, bytes, size);
    else
        rad__live_http1_received(l, conn, bytes, size);
}

void rad__live_ended(live *l, uint32_t conn)
{
    if (l->conns[conn].state == LIVE_SHAKING)
        rad__live_lost(l, conn, RAD__LOAD_TLS_HANDSHAKE);
    else
        rad__live_plain_ended(l, conn);
}

void rad__live_plain_ended(live *l, uint32_t conn)
{
    if (l->conns[conn].http2)
        rad__live_http2_ended(l, conn);
    else
        rad__live_http1_ended(l, conn);
}

void rad__live_drained(live *l, uint32_t conn)
{
    if (l->conns[conn].http2) rad__live_http2_drained(l, conn);
}

void rad__live_broken(live *l, uint32_t conn, int64_t answer)
{
    live_conn *c = &l->conns[conn];
    enum rad__load_fault fault = fault_of(answer);
    if (c->state == LIVE_OPENING) {
        l->transport->close(l, conn, false);
        c->fd = -1;
        if (c->addresses < l->targets[c->target].address_count)
            conn_try(l, conn);
        else
            rad__live_lost(l, conn, fault);
        return;
    }
    rad__live_lost(l, conn, fault);
}

bool rad__live_send(live *l, uint32_t conn, const void *bytes, uint32_t size, bool stays)
{
    int64_t answer =
        l->conns[conn].tls ? rad__live_tls_send(l, conn, bytes, size) : l->transport->send(l, conn, bytes, size, stays);
    if (answer >= 0) return true;
    rad__live_broken(l, conn, answer);
    return false;
}

/* It has taken too long to open. */
static void conn_late(live *l, uint32_t conn)
{
    bool shaking = l->conns[conn].state == LIVE_SHAKING;
    rad__live_lost(l, conn, shaking ? RAD__LOAD_TLS_TIMEOUT : RAD__LOAD_CONNECT_TIMEOUT);
}

static void expire(live *l)
{
    for (uint32_t t = 0; t < l->scenario->target_count; t++) {
        uint64_t limit = l->scenario->targets[t].connect_timeout_ns;
        uint32_t first;
        while (limit != 0 && (first = l->targets[t].first_opening) != RAD_NONE &&
               l->now_ns - l->conns[first].opened_ns >= limit)
            conn_late(l, first);
    }
}

/* When the first attempt to connect has taken too long. */
static uint64_t next_expiry(const live *l)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t t = 0; t < l->scenario->target_count; t++) {
        uint32_t first = l->targets[t].first_opening;
        uint64_t limit = l->scenario->targets[t].connect_timeout_ns;
        if (first == RAD_NONE || limit == 0) continue;
        uint64_t at = l->conns[first].opened_ns + limit;
        if (at < next) next = at;
    }
    return next;
}

/* ---- Requests ---------------------------------------------------------------------------------------------- */

rad__load_fill rad__live_fill(live *l, const live_request *r)
{
    const rad__load_value *values = NULL;
    if (l->scenario->variable_count > 0) {
        live_user *u = rad__live_user_at(l, r->vu);
        static const rad__load_value none[1];
        values = u ? u->values : none; /* memory ran out: the run ends */
    }
    return rad__load_fill_for(l->scenario, l->seed, r->vu * l->shards + l->shard, r->iteration, r->position, values);
}

rad__load_cookies rad__live_cookies(live *l, const live_conn *c, const live_request *r)
{
    live_user *u = l->scenario->cookies ? rad__live_user_at(l, r->vu) : NULL;
    return (rad__load_cookies){.jar = u ? &u->jar : NULL,
                               .host = l->targets[c->target].host,
                               .tls = l->scenario->targets[c->target].tls,
                               .now_ns = l->now_ns};
}

static bool live_make_room(live *l, uint32_t conn)
{
    uint32_t old = l->conn_count;
    if (RAD_LIKELY(conn < old)) return true;
    if (!RAD_GROW(&l->conns, &l->conn_count, conn + 1)) return false;
    for (uint32_t i = old; i < l->conn_count; i++) l->conns[i].fd = -1;
    rad__os_net_allow((uint64_t)l->conn_count + SPARE_DESCRIPTORS);
    return true;
}

/* It was open when the scheduler looked, and is not any more: that is on its way to it. */
static int do_send_nowhere(live *l, const rad__load_effect *e, rad_error *error)
{
    live_request lost = {.vu = e->vu, .request = e->request};
    if (e->open || l->conns[e->conn].state != LIVE_SHUT)
        return rad__error(error, RAD_EBUG, "connection %u cannot take a request", e->conn);
    rad__live_fail(l, e->conn, &lost, RAD__LOAD_CLOSED_EARLY);
    return 0;
}

static int do_send(live *l, const rad__load_effect *e, rad_error *error)
{
    if (!live_make_room(l, e->conn)) return rad__error_memory(error);
    live_conn *c = &l->conns[e->conn];
    if (e->open != (c->state == LIVE_SHUT) || c->busy) return do_send_nowhere(l, e, error);
    live_request r = {
        .request = e->request, .iteration = e->iteration, .vu = e->vu, .what = e->what, .position = e->position};
    bool http2 = l->scenario->targets[e->target].http2;
    if (e->open) {
        c->target = e->target;
        c->opener = e->vu;
    }
    if (http2) {
        if (e->open && !rad__live_http2_open(l, e->conn)) return rad__error_memory(error);
        rad__live_http2_send(l, e->conn, &r, e->last);
    } else {
        c->request = r;
        c->busy = true;
        c->last = e->last;
    }
    if (e->open)
        conn_open(l, e->conn);
    else if (!http2 && c->state == LIVE_OPEN)
        rad__live_http1_send(l, e->conn);
    return 0;
}

/* All of them at once, with the next turn. */
static int do_open(live *l, const rad__load_effect *e, rad_error *error)
{
    if (!live_make_room(l, e->conn) || !RAD_GROW(&l->early, &l->early_capacity, l->early_count + 1))
        return rad__error_memory(error);
    l->conns[e->conn].target = e->target;
    l->conns[e->conn].opener = e->vu;
    l->early[l->early_count++] = e->conn;
    return 0;
}

static void do_cancel(live *l, const rad__load_effect *e)
{
    live_conn *c = e->conn < l->conn_count ? &l->conns[e->conn] : NULL;
    if (c == NULL || c->state == LIVE_SHUT) return;
    if (c->http2) {
        rad__live_http2_cancel(l, e->conn, e->vu, e->request);
    } else if (c->busy && c->request.request == e->request && c->request.vu == e->vu) {
        c->request.cancelled = true;
        if (c->request.sent_ns == 0) c->busy = false;
    }
}

/* A response that is still awaited will never be read: the other side may as well stop. */
static void do_close(live *l, const rad__load_effect *e)
{
    if (e->conn < l->conn_count && l->conns[e->conn].state != LIVE_SHUT) conn_shut(l, e->conn, l->conns[e->conn].busy);
}

static int live_act(rad__load_engine *engine, const rad__load_effect *effects, uint32_t count, rad_error *error)
{
    live *l = (live *)engine;
    int code = 0;
    if (count > 0) rad__live_clock(l);
    for (uint32_t i = 0; i < count && code == 0; i++) {
        const rad__load_effect *e = &effects[i];
        if (e->kind == RAD__LOAD_DO_SEND)
            code = do_send(l, e, error);
        else if (e->kind == RAD__LOAD_DO_CANCEL)
            do_cancel(l, e);
        else if (e->kind == RAD__LOAD_DO_OPEN)
            code = do_open(l, e, error);
        else
            do_close(l, e);
    }
    if (l->http2) rad__live_http2_flush(l);
    return code == 0 && l->failed ? rad__error_memory(error) : code;
}

/* ---- Turns ------------------------------------------------------------------------------------------------- */

static bool is_interrupted(const live *l)
{
    return l->interrupted && *l->interrupted;
}

/* How long to wait; 0: not at all. */
static uint64_t live_patience(const live *l, uint64_t until_ns)
{
    uint64_t expiry = next_expiry(l), until = until_ns < expiry ? until_ns : expiry;
    bool busy = l->http2 && rad__live_http2_has_more(l);
    if (l->input_count > 0 || until <= l->now_ns || busy || is_interrupted(l)) return 0;
    return until - l->now_ns < LOOK_NS ? until - l->now_ns : LOOK_NS;
}

/* ---- Before the run ---------------------------------------------------------------------------------------- */

/* Who is not there by now will not be waited for. */
static void early_give_up(live *l)
{
    for (uint32_t t = 0; t < l->scenario->target_count; t++)
        while (l->targets[t].first_opening != RAD_NONE) conn_late(l, l->targets[t].first_opening);
    for (; l->early_next < l->early_count; l->early_next++)
        live_input(l, RAD__LOAD_IN_CONN_FAILED, l->early[l->early_next])->fault = RAD__LOAD_CONNECT_TIMEOUT;
}

static void early_begin(live *l)
{
    while (l->early_next < l->early_count && l->opening_count < EARLY_AT_ONCE && l->failed == 0) {
        uint32_t conn = l->early[l->early_next++];
        if (l->scenario->targets[l->conns[conn].target].http2 && !rad__live_http2_open(l, conn))
            l->failed = RAD_ENOMEM;
        else
            conn_open(l, conn);
    }
}

/* How long one attempt may take, for the most patient target. */
static uint64_t longest_patience(const live *l)
{
    uint64_t most = 0;
    for (uint32_t t = 0; t < l->scenario->target_count; t++)
        if (l->scenario->targets[t].connect_timeout_ns > most) most = l->scenario->targets[t].connect_timeout_ns;
    return most != 0 ? most : UINT64_MAX / 2; /* none: it waits for ever */
}

/* Opens what is to be open when the run begins, until none has come for as long as an attempt may take. The clock
 * stands still meanwhile: arrivals are not late because of it. */
static int connect_early(live *l, rad_error *error)
{
    uint64_t begin = l->now_ns, last = begin, limit = longest_patience(l);
    uint32_t seen = 0;
    int code = 0;
    early_begin(l);
    while (code == 0 && l->failed == 0 && l->opening_count > 0 && !is_interrupted(l)) {
        uint64_t left = last + limit - l->now_ns;
        code = l->transport->wait(l, left < LOOK_NS ? left : LOOK_NS, error);
        rad__live_clock(l);
        expire(l);
        for (; seen < l->input_count; seen++)
            if (l->inputs[seen].kind == RAD__LOAD_IN_CONNECTED) last = l->now_ns;
        if (l->now_ns - last >= limit)
            early_give_up(l);
        else
            early_begin(l);
    }
    for (uint32_t i = 0; i < l->input_count; i++) l->inputs[i].at_ns = begin;
    l->start_ns += l->now_ns - begin;
    l->now_ns = begin;
    l->early_count = l->early_next = 0;
    return code;
}

static int live_turn(rad__load_engine *engine, uint64_t until_ns, bool poll, rad__load_turn *turn, rad_error *error)
{
    live *l = (live *)engine;
    live_forget(l);
    rad__live_clock(l);
    int code = l->early_count > 0 ? connect_early(l, error) : 0;
    while (poll && code == 0) {
        code = l->transport->wait(l, live_patience(l, until_ns), error);
        if (l->http2) rad__live_http2_flush(l);
        rad__live_clock(l);
        expire(l);
        if (l->input_count > 0 || l->now_ns >= until_ns || is_interrupted(l)) break;
    }
    if (code == 0 && l->failed) code = rad__error_memory(error);
    *turn = (rad__load_turn){.now_ns = l->now_ns, .interrupted = is_interrupted(l)};
    live_deliver(l, turn);
    return code;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------- */

static void live_close(rad__load_engine *engine)
{
    live *l = (live *)engine;
    for (uint32_t i = 0; i < l->conn_count; i++) {
        if (l->conns[i].state != LIVE_SHUT) conn_shut(l, i, l->conns[i].busy);
        rad__bytes_free(&l->conns[i].more);
    }
    if (l->started) l->transport->stop(l);
    for (uint32_t i = 0; i < l->conn_count; i++) rad__bytes_free(&l->conns[i].own);
    for (uint32_t i = 0; l->targets && i < l->scenario->target_count; i++)
        if (l->targets[i].tls) rad__live_tls_free(l, &l->targets[i]);
    rad__live_tls_stop(l);
    rad__live_http2_stop(l);
    uint32_t plans = l->scenario->request_count * l->scenario->target_count;
    for (uint32_t i = 0; l->plans && i < plans; i++) rad__load_plan_free(&l->plans[i]);
    rad__live_users_free(l);
    rad__load_answers_free(&l->answers);
    rad__bytes_free(&l->values);
    rad__bytes_free(&l->scratch);
    rad__free(l->conns);
    rad__free(l->targets);
    rad__free(l->plans);
    rad__free(l->inputs);
    rad__free(l->early);
    rad__free(l->read);
    rad__free(l);
}

static const struct rad__load_engine_kind epoll_kind = {
    .name = "epoll", .act = live_act, .turn = live_turn, .close = live_close};
static const struct rad__load_engine_kind uring_kind = {
    .name = "io_uring", .act = live_act, .turn = live_turn, .close = live_close};

static int make_plans(live *l, const char *(*env)(const char *name), rad_error *error)
{
    const rad__load_scenario *s = l->scenario;
    l->plans = rad__alloc((size_t)s->request_count * s->target_count, sizeof *l->plans);
    if (l->plans == NULL) return rad__error_memory(error);
    int code = 0;
    for (uint32_t r = 0; r < s->request_count; r++)
        for (uint32_t t = 0; t < s->target_count && code == 0; t++)
            if (s->requests[r].target == RAD_NONE || s->requests[r].target == t)
                code = rad__load_plan_make(&l->plans[r * s->target_count + t], s, &s->requests[r], &s->targets[t], env,
                                           error);
    return code;
}

static int find_targets(live *l, rad_error *error)
{
    const rad__load_scenario *s = l->scenario;
    l->targets = rad__alloc(s->target_count, sizeof *l->targets);
    if (l->targets == NULL) return rad__error_memory(error);
    for (uint32_t i = 0; i < s->target_count; i++) {
        live_target *t = &l->targets[i];
        int found = rad__os_net_resolve(s->targets[i].host, s->targets[i].port, t->addresses, LIVE_ADDRESSES, error);
        if (found < 0) return found;
        t->address_count = (uint32_t)found;
        t->first_opening = t->last_opening = RAD_NONE;
        t->host = s->targets[i].server_name ? s->targets[i].server_name : s->targets[i].host;
        int code = s->targets[i].tls ? rad__live_tls_prepare(l, i, error) : 0;
        if (code == 0 && s->targets[i].http2) code = rad__live_http2_prepare(l, i, error);
        if (code != 0) return code;
    }
    return 0;
}

/* io_uring if it is wanted and the kernel lets us, else epoll. */
static int start_transport(live *l, const rad__load_live_options *o, char *note, rad_error *error)
{
    rad_error why = {0};
    if (o->uring) {
        if (rad__live_uring.start(l, &why) == 0) {
            l->transport = &rad__live_uring;
            l->engine.kind = &uring_kind;
            l->started = true;
            return 0;
        }
        if (note) snprintf(note, 200, "%.150s; using epoll", why.text);
    }
    int code = l->transport->start(l, error);
    l->started = code == 0;
    return code;
}

static int live_start(live *l, const rad__load_live_options *o, char *note, rad_error *error)
{
    l->read = rad__alloc(1, LIVE_READ_BYTES);
    if (l->read == NULL) return rad__error_memory(error);
    int code = make_plans(l, o->env, error);
    if (code == 0) code = find_targets(l, error);
    if (code == 0) code = start_transport(l, o, note, error);
    if (code != 0) return code;
    rad__os_thread_wakes_sharply();
    l->start_ns = rad__os_now_ns();
    return 0;
}

int rad__live_open_over(rad__load_engine **engine, const rad__load_live_options *o,
                        const struct live_transport *transport, char *note, rad_error *error)
{
    *engine = NULL;
    live *l = rad__alloc(1, sizeof *l);
    if (l == NULL) return rad__error_memory(error);
    l->engine.kind = &epoll_kind;
    l->scenario = o->scenario;
    l->transport = transport;
    l->interrupted = o->interrupted;
    l->seed = o->seed;
    l->shard = o->shard;
    l->shards = o->shards ? o->shards : 1;
    l->list = -1;
    l->answers.max_header_bytes = o->scenario->limits.max_header_bytes;
    l->answers.max_body_bytes = o->scenario->limits.max_response_bytes;
    int code = live_start(l, o, note, error);
    if (code != 0)
        live_close(&l->engine);
    else
        *engine = &l->engine;
    return code;
}

int rad__load_live_open(rad__load_engine **engine, const rad__load_live_options *o, char note[200], rad_error *error)
{
    if (note) note[0] = 0;
    return rad__live_open_over(engine, o, &rad__live_epoll, note, error);
}

int rad__load_live_check(const rad__load_scenario *scenario, const char *(*env)(const char *name), rad_error *error)
{
    live l = {.scenario = scenario};
    int code = make_plans(&l, env, error);
    uint32_t plans = scenario->request_count * scenario->target_count;
    for (uint32_t i = 0; l.plans && i < plans; i++) rad__load_plan_free(&l.plans[i]);
    rad__free(l.plans);
    return code;
}
