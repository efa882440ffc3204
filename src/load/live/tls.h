/* tls.h — TLS between a transport and a protocol. What comes in lies in the transport's buffer while OpenSSL reads
 * it, what goes out is collected and sent at once: a connection has no buffers of its own here. */
#ifndef RAD_LOAD_LIVE_TLS_H
#define RAD_LOAD_LIVE_TLS_H

#include "load/live/parts.h"

/* Makes ready for a target: certificates, versions. RAD_EINPUT: a file is not what it should be, or there is no TLS in
 * this build. */
RAD_INTERNAL int rad__live_tls_prepare(live *l, uint32_t target, rad_error *error);
RAD_INTERNAL void rad__live_tls_free(live *l, live_target *t);
RAD_INTERNAL void rad__live_tls_stop(live *l);

/* A connection. Results come as rad__live_ready, rad__live_plain, rad__live_plain_ended, rad__live_lost. */
RAD_INTERNAL void rad__live_tls_begin(live *l, uint32_t conn);
RAD_INTERNAL void rad__live_tls_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size);
RAD_INTERNAL void rad__live_tls_close(live_conn *c);

/* Below 0: as a transport's send. */
RAD_INTERNAL int64_t rad__live_tls_send(live *l, uint32_t conn, const void *bytes, uint32_t size);

#endif
