/* http1.c — HTTP/1.1 over a connection: one request, then its response, then the next. */
#include "load/live/parts.h"

/* Straight out of the plan when there is nothing to fill in. */
void rad__live_http1_send(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    const rad__load_plan *plan = rad__live_plan(l, c->request.what, c->target);
    const rad_bytes *bytes = &plan->ready;
    bool stays = plan->is_ready && !plan->wants_cookies;
    if (!stays) {
        rad__load_fill fill = rad__live_fill(l, &c->request);
        rad__load_cookies cookies = rad__live_cookies(l, c, &c->request);
        l->scratch.size = 0;
        enum rad__load_fault fault = rad__load_plan_put(plan, &fill, &cookies, &l->scratch);
        if (l->scratch.failed) rad__bytes_free(&l->scratch);
        if (fault != RAD__LOAD_OK) { /* nothing was sent: the connection is as good as it was */
            c->busy = false;
            rad__live_fail(l, conn, &c->request, fault);
            if (c->last) rad__live_gone(l, conn, RAD__LOAD_OK);
            return;
        }
        bytes = &l->scratch;
    }
    rad__load_http1_begin(&c->http1, &l->answers, plan->keep, plan->is_head);
    c->request.sent_ns = rad__live_clock(l);
    rad__live_send(l, conn, bytes->data, bytes->size, stays);
}

static void http1_done(live *l, uint32_t conn, bool all_read)
{
    live_conn *c = &l->conns[conn];
    bool keeps = c->http1.keeps_alive && !c->last;
    c->busy = false;
    rad__live_answer(l, conn, &c->request, &c->http1.answer);
    if (!keeps || c->sending) /* an answer to what was not asked yet: the rest would confuse it */
        rad__live_gone(l, conn, RAD__LOAD_OK);
    else if (!all_read)
        rad__live_gone(l, conn, RAD__LOAD_BAD_RESPONSE);
}

static void http1_wrong(live *l, uint32_t conn, bool ended)
{
    live_conn *c = &l->conns[conn];
    enum rad__load_fault fault = c->http1.answer.fault;
    c->busy = false;
    rad__load_answer_drop(&l->answers, &c->http1.answer);
    rad__live_fail(l, conn, &c->request, fault);
    rad__live_gone(l, conn, ended ? RAD__LOAD_OK : fault);
}

void rad__live_http1_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    live_conn *c = &l->conns[conn];
    size_t used;
    if (!c->busy) { /* nobody asked */
        rad__live_gone(l, conn, RAD__LOAD_BAD_RESPONSE);
        return;
    }
    if (c->request.first_ns == 0) c->request.first_ns = l->now_ns;
    switch (rad__load_http1_feed(&c->http1, bytes, size, &used)) {
    case RAD__LOAD_HTTP1_MORE: break;
    case RAD__LOAD_HTTP1_DONE: http1_done(l, conn, used == size); break;
    case RAD__LOAD_HTTP1_FAULT: http1_wrong(l, conn, false); break;
    }
}

void rad__live_http1_ended(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    if (!c->busy)
        rad__live_gone(l, conn, RAD__LOAD_OK);
    else if (rad__load_http1_finish(&c->http1) == RAD__LOAD_HTTP1_DONE)
        http1_done(l, conn, true);
    else
        http1_wrong(l, conn, true);
}
