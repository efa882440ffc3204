/* parts.h — what the parts of the live engine share. See live.h for how they lie on each other.
 *
 * I1  a connection is in the list `opening` of its target if and only if it is OPENING or SHAKING.
 * I2  each request that was accepted leaves exactly one input: its response, or its failure; except that cancelled
 *     ones and those on a connection that was told to close may leave none.
 * I3  a transport that is told to close tells nothing more of that connection.
 * I4  whatever comes in, a wait ends: a transport hands over about LIVE_TURN_BYTES, and in the next wait goes on where
 *     it stopped, with the other connections first. So timeouts, interruptions and all other connections have
 *     their turn, however much one server sends.
 * I5  what waits to be sent is bounded: a request (HTTP/1.1), or LIVE_UNSENT_BYTES and what nghttp2 may owe
 *     (HTTP/2). */
#ifndef RAD_LOAD_LIVE_PARTS_H
#define RAD_LOAD_LIVE_PARTS_H

#include "load/live/http1_parse.h"
#include "load/live/live.h"
#include "load/live/request_bytes.h"
#include "os/net.h"

enum {
    LIVE_READ_BYTES = 64 << 10,
    LIVE_SHARE_BYTES = 256 << 10,
    LIVE_TURN_BYTES = 1 << 20,
    LIVE_UNSENT_BYTES = 64 << 10,
    LIVE_ADDRESSES = 8
};

enum live_state {
    LIVE_SHUT,
    LIVE_OPENING, /* the socket is not connected yet */
    LIVE_SHAKING, /* it is, TLS is not */
    LIVE_OPEN
};

typedef struct live live;
typedef struct live_tls live_tls;
typedef struct live_http2 live_http2;

typedef struct live_request {
    uint64_t request, iteration, sent_ns, first_ns;
    uint32_t vu, what, position;
    bool cancelled;
} live_request;

typedef struct live_conn {
    int fd;
    uint32_t generation; /* completions of an earlier connection with this number are not for us */
    uint32_t target, opener;
    uint32_t next, before;    /* in `opening` */
    uint8_t state, addresses; /* addresses tried */
    bool busy;                /* HTTP/1.1: a request is here */
    bool last;                /* closed after its answer */
    bool sending;             /* something is in `out` */
    bool in_line;             /* it is in the transport's list of those that are to be read */
    uint8_t readable;         /* epoll: because of these edges; 0: it was closed since */
    uint32_t next_readable;
    uint32_t served;  /* io_uring: the wait in which something came in last */
    uint32_t unasked; /* TLS: bytes that OpenSSL has sent by itself */
    uint64_t opened_ns;
    live_request request;
    rad__load_http1 http1;
    const uint8_t *out; /* not sent yet; in a plan, or in `own` */
    uint32_t out_size;
    rad_bytes own, more; /* more: io_uring, what comes after `out` */
    struct ssl_st *tls;
    live_http2 *http2; /* NULL: HTTP/1.1 */
} live_conn;

typedef struct live_target {
    rad_os_address addresses[LIVE_ADDRESSES];
    uint32_t address_count;
    uint32_t first_opening, last_opening; /* connections, the oldest first */
    const char *host;                     /* as cookies and certificates know it */
    struct ssl_ctx_st *tls;
} live_target;

typedef struct live_user {
    rad__load_value *values; /* by variable */
    rad__load_jar jar;
} live_user;

/* How bytes get to sockets. Calls that open return 0 or RAD_OS_… */
struct live_transport {
    const char *name;
    int (*start)(live *l, rad_error *error);
    /* The socket is being connected; rad__live_connected or rad__live_broken follows, later. */
    int64_t (*connect)(live *l, uint32_t conn, const rad_os_address *address);
    /* All of it will be sent, in order. `stays`: the bytes stay where they are. Below 0: it broke. */
    int64_t (*send)(live *l, uint32_t conn, const void *bytes, uint32_t size, bool stays);
    void (*close)(live *l, uint32_t conn, bool hard);
    /* Takes in what there is, waits for up to timeout_ns if there is nothing. */
    int (*wait)(live *l, uint64_t timeout_ns, rad_error *error);
    void (*stop)(live *l);
};

struct live {
    rad__load_engine engine;
    const rad__load_scenario *scenario;
    const struct live_transport *transport;
    const volatile int *interrupted;
    uint64_t seed, start_ns, now_ns;
    uint32_t shard, shards;

    live_conn *conns;
    uint32_t conn_count;
    live_target *targets;
    rad__load_plan *plans; /* request by request, target by target */
    live_user *users;
    uint32_t user_count;
    rad__load_answers answers;

    rad__load_input *inputs;
    uint32_t input_count, input_capacity;
    rad_bytes values;
    uint32_t *early; /* connections that are to be opened before the run, */
    uint32_t early_count, early_capacity, early_next;
    uint32_t opening_count; /* in `opening` of all targets */

    bool started;   /* the transport */
    bool delivered; /* what is in inputs was handed over */
    int failed;     /* memory ran out: RAD_ENOMEM; sticky */

    rad_bytes scratch; /* a request being written */
    uint8_t *read;     /* LIVE_READ_BYTES, what came in last */
    live_tls *tls;     /* NULL: no target needs it */
    struct live_http2_all *http2;
    int list; /* epoll */
    uint32_t first_readable, last_readable;
    struct live_uring *uring;
};

RAD_INTERNAL extern const struct live_transport rad__live_epoll, rad__live_uring;

/* Over any transport (unless the options want io_uring): tests bring their own. */
RAD_INTERNAL int rad__live_open_over(rad__load_engine **engine, const rad__load_live_options *o,
                                     const struct live_transport *transport, char *note, rad_error *error);

/* Reads the clock. */
RAD_INTERNAL uint64_t rad__live_clock(live *l);

/* ---- For transports: what happened -------------------------------------------------------------------------- */

RAD_INTERNAL void rad__live_connected(live *l, uint32_t conn);
RAD_INTERNAL void rad__live_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size);
RAD_INTERNAL void rad__live_ended(live *l, uint32_t conn);                  /* the other side sends no more */
RAD_INTERNAL void rad__live_broken(live *l, uint32_t conn, int64_t answer); /* RAD_OS_ERROR - errno */
RAD_INTERNAL void rad__live_drained(live *l, uint32_t conn);                /* all that it was given is sent */

/* What a transport was given and the kernel has not taken yet. */
static inline uint32_t rad__live_unsent(const live_conn *c)
{
    return c->sending ? c->out_size + c->more.size : 0;
}

/* ---- For the wire: what it made of that --------------------------------------------------------------------- */

RAD_INTERNAL void rad__live_ready(live *l, uint32_t conn); /* requests can be sent */
RAD_INTERNAL void rad__live_plain(live *l, uint32_t conn, const uint8_t *bytes, size_t size);
RAD_INTERNAL void rad__live_plain_ended(live *l, uint32_t conn);

/* The connection is of no use any more, and its requests have failed. */
RAD_INTERNAL void rad__live_lost(live *l, uint32_t conn, enum rad__load_fault fault);

/* ---- For protocols: what becomes of requests ---------------------------------------------------------------- */

RAD_INTERNAL void rad__live_answer(live *l, uint32_t conn, live_request *r, rad__load_answer *answer);
RAD_INTERNAL void rad__live_fail(live *l, uint32_t conn, const live_request *r, enum rad__load_fault fault);

/* The connection is gone; requests on it have been told of. `fault` 0: it was closed, as it may be. */
RAD_INTERNAL void rad__live_gone(live *l, uint32_t conn, enum rad__load_fault fault);

/* The wire: through TLS if there is one. False: it broke; rad__live_broken will have been called. */
RAD_INTERNAL bool rad__live_send(live *l, uint32_t conn, const void *bytes, uint32_t size, bool stays);

RAD_INTERNAL rad__load_fill rad__live_fill(live *l, const live_request *r);
RAD_INTERNAL rad__load_cookies rad__live_cookies(live *l, const live_conn *c, const live_request *r);

static inline const rad__load_plan *rad__live_plan(const live *l, uint32_t what, uint32_t target)
{
    return &l->plans[what * l->scenario->target_count + target];
}

/* ---- HTTP/1.1 ---------------------------------------------------------------------------------------------- */

RAD_INTERNAL void rad__live_http1_send(live *l, uint32_t conn); /* c->request */
RAD_INTERNAL void rad__live_http1_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size);
RAD_INTERNAL void rad__live_http1_ended(live *l, uint32_t conn);

/* ---- Users ------------------------------------------------------------------------------------------------- */

/* The user's variables and cookies; NULL: memory ran out. */
RAD_INTERNAL live_user *rad__live_user_at(live *l, uint32_t vu);

/* Takes in what was extracted (as an input has it), and cookies. */
RAD_INTERNAL void rad__live_user_learns(live *l, const live_conn *c, const live_request *r,
                                        const rad__load_answer *answer, const uint8_t *values, uint32_t size);
RAD_INTERNAL void rad__live_users_free(live *l);

#endif
