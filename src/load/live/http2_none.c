/* http2_none.c — this build has no nghttp2. rad__live_http2_prepare refuses, so the others are never called. */
#include "base/error.h"
#include "load/live/http2.h"

int rad__live_http2_prepare(live *l, uint32_t target, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "target '%s': this raddle was built without nghttp2",
                      l->scenario->targets[target].name);
}

void rad__live_http2_stop(live *l)
{
    (void)l;
}

bool rad__live_http2_open(live *l, uint32_t conn)
{
    (void)l;
    (void)conn;
    return false;
}

void rad__live_http2_ready(live *l, uint32_t conn)
{
    (void)l;
    (void)conn;
}

void rad__live_http2_close(live *l, uint32_t conn)
{
    (void)l;
    (void)conn;
}

void rad__live_http2_send(live *l, uint32_t conn, const live_request *r, bool last)
{
    (void)l;
    (void)conn;
    (void)r;
    (void)last;
}

void rad__live_http2_cancel(live *l, uint32_t conn, uint32_t vu, uint64_t request)
{
    (void)l;
    (void)conn;
    (void)vu;
    (void)request;
}

void rad__live_http2_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    (void)l;
    (void)conn;
    (void)bytes;
    (void)size;
}

void rad__live_http2_ended(live *l, uint32_t conn)
{
    (void)l;
    (void)conn;
}

void rad__live_http2_fail(live *l, uint32_t conn, enum rad__load_fault fault)
{
    (void)l;
    (void)conn;
    (void)fault;
}

void rad__live_http2_flush(live *l)
{
    (void)l;
}

bool rad__live_http2_has_more(const live *l)
{
    (void)l;
    return false;
}

void rad__live_http2_drained(live *l, uint32_t conn)
{
    (void)l;
    (void)conn;
}
