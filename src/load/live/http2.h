/* http2.h — HTTP/2 over a connection: several requests at once. The protocol itself is nghttp2's. */
#ifndef RAD_LOAD_LIVE_HTTP2_H
#define RAD_LOAD_LIVE_HTTP2_H

#include "load/live/parts.h"

/* Whether this build can. */
RAD_INTERNAL int rad__live_http2_prepare(live *l, uint32_t target, rad_error *error);
RAD_INTERNAL void rad__live_http2_stop(live *l);

/* A connection that will be, and its requests, which wait until it is. False: memory ran out. */
RAD_INTERNAL bool rad__live_http2_open(live *l, uint32_t conn);
RAD_INTERNAL void rad__live_http2_ready(live *l, uint32_t conn);
RAD_INTERNAL void rad__live_http2_close(live *l, uint32_t conn);

RAD_INTERNAL void rad__live_http2_send(live *l, uint32_t conn, const live_request *r, bool last);
RAD_INTERNAL void rad__live_http2_cancel(live *l, uint32_t conn, uint32_t vu, uint64_t request);
RAD_INTERNAL void rad__live_http2_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size);
RAD_INTERNAL void rad__live_http2_ended(live *l, uint32_t conn);

/* All requests on it fail. */
RAD_INTERNAL void rad__live_http2_fail(live *l, uint32_t conn, enum rad__load_fault fault);

/* What was asked for since the last time is sent, on all connections, as far as each of them may go on at once. */
RAD_INTERNAL void rad__live_http2_flush(live *l);
RAD_INTERNAL bool rad__live_http2_has_more(const live *l); /* for the next flush */

/* There is room again. */
RAD_INTERNAL void rad__live_http2_drained(live *l, uint32_t conn);

#endif
