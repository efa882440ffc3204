/* live_front.h — a process that speaks TLS on one side and passes the plain bytes on to a port; and one that speaks
 * HTTP/2. */
#ifndef LIVE_FRONT_H
#define LIVE_FRONT_H

#include <stdint.h>

typedef struct live_front {
    int process;
    uint32_t port;
    char certificate[64]; /* a file; "" when there is none */
} live_front;

/* A certificate for `name` ("DNS:x", "IP:1.2.3.4") is made, signed by itself. `alpn`: what is agreed to; "silent": it
 * accepts connections and says nothing; "renegotiate": it wants to shake hands for ever. */
void live_front_open(live_front *f, uint32_t to_port, const char *name, const char *alpn);

/* HTTP/2 without TLS. Paths: /N bytes; /refuse, /reset, /goaway, /close, /stall, /garbage, /trailers; /echo; /lazy:
 * the same, but it reads late. */
void live_front_http2(live_front *f);
void live_front_close(live_front *f);

#endif
