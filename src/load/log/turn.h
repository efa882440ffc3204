/* turn.h — what passes between the scheduler and the world, one turn at a time.
 *
 *     engine --- inputs ---> scheduler --- effects ---> engine
 *                                 |
 *                                 +------ events -----> log, statistics
 *
 * A turn is one tick. Its inputs are a reading of the clock and what came in since the last turn. The scheduler learns
 * of the world by inputs only, so a log of the inputs repeats the run. Engines (simulated, epoll, io_uring, replay)
 * differ only in where inputs come from and what becomes of effects. */
#ifndef RAD_LOAD_LOG_TURN_H
#define RAD_LOAD_LOG_TURN_H

#include "load/scenario/scenario.h"

/* What can go wrong with a request or a connection. Numbers stand in logs: only append. The names are those of Z6
 * (rad__load_fault_name). There is no "unknown". */
enum rad__load_fault {
    RAD__LOAD_OK = 0,
    RAD__LOAD_DNS_FAILED,
    RAD__LOAD_REFUSED,
    RAD__LOAD_RESET,
    RAD__LOAD_CLOSED_EARLY, /* the other side closed before the answer was complete */
    RAD__LOAD_NET_UNREACHABLE,
    RAD__LOAD_HOST_UNREACHABLE,
    RAD__LOAD_SOCKET,
    RAD__LOAD_BAD_RESPONSE, /* not HTTP */
    RAD__LOAD_HTTP2_VIOLATION,
    RAD__LOAD_HTTP_VERSION,
    RAD__LOAD_BAD_HEADER, /* malformed, or more of them than the limit */
    RAD__LOAD_BAD_CHUNK,
    RAD__LOAD_WRONG_LENGTH, /* closed before Content-Length bytes */
    RAD__LOAD_TLS_HANDSHAKE,
    RAD__LOAD_CERTIFICATE,
    RAD__LOAD_ALPN,
    RAD__LOAD_CONNECT_TIMEOUT,
    RAD__LOAD_TLS_TIMEOUT,
    RAD__LOAD_REQUEST_TIMEOUT,
    RAD__LOAD_TOO_LARGE,      /* the response is larger than the limit */
    RAD__LOAD_NO_DESCRIPTORS, /* the system has no more descriptors, ports or memory */
    RAD__LOAD_POOL_EXHAUSTED,
    RAD__LOAD_QUEUE_FULL,
    RAD__LOAD_LOG_FULL,
    RAD__LOAD_REFUSED_STREAM, /* HTTP/2: not processed, GOAWAY or REFUSED_STREAM */
    RAD__LOAD_BAD_REQUEST,    /* could not be written: a value is missing, or would break out of its place */
    RAD__LOAD_FAULT_COUNT
};

RAD_INTERNAL const char *rad__load_fault_name(enum rad__load_fault fault);

enum rad__load_input_kind {
    RAD__LOAD_IN_CONNECTED = 1, /* conn; vu who asked for it; took_ns */
    RAD__LOAD_IN_CONN_FAILED,   /* conn; fault. Requests on it fail with inputs of their own, before this one */
    RAD__LOAD_IN_CONN_CLOSED,   /* conn, by the other side or after an answer that ends it. The same */
    RAD__LOAD_IN_RESPONSE,      /* vu, conn, request; everything */
    RAD__LOAD_IN_FAILED         /* vu, conn, request; fault */
};

typedef struct rad__load_input {
    uint32_t vu, conn;
    uint32_t kind;     /* enum rad__load_input_kind */
    uint32_t fault;    /* enum rad__load_fault */
    uint64_t request;  /* the number the effect had: tells late ones */
    uint64_t at_ns;    /* when it happened, not later than the turn's clock */
    uint64_t sent_ns;  /* response, failed: when its first byte left (0: never) */
    uint64_t first_ns; /* response: when its first byte came */
    uint64_t took_ns;  /* connected: how long it took */
    uint64_t body_bytes, body_hash;
    uint32_t header_bytes;
    uint16_t status;
    uint64_t checks_failed; /* bit i: check i of the request did not hold */
    const uint8_t *values;  /* extracted: for each, in order, varint length + 1 (0: not found), bytes. The engine's, */
    uint32_t values_size;   /* until its next turn */
} rad__load_input;

enum rad__load_effect_kind {
    RAD__LOAD_DO_SEND = 1, /* a request, on a connection that is opened first if it is not (open) */
    RAD__LOAD_DO_CANCEL,   /* nobody waits for this request any more: best effort */
    RAD__LOAD_DO_CLOSE,    /* the connection, with everything on it; its number may be used again at once */
    RAD__LOAD_DO_OPEN /* the connection, before anything is sent on it. In the first turn only: what became of it comes
                         with the next one, which begins when all are open or have failed, and no time has passed */
};

typedef struct rad__load_effect {
    uint32_t kind; /* enum rad__load_effect_kind */
    uint32_t vu, conn;
    uint32_t what, target; /* send: number of the request in the scenario; send, open: of the target */
    uint32_t position;     /* send: how many requests of the iteration came before */
    uint64_t request;      /* the user's requests are numbered from 1 */
    uint64_t iteration;    /* closed: of this user; open: number of the arrival */
    bool open;             /* send: the connection does not exist yet */
    bool last;             /* send: the connection is to be closed after the answer (requests_per_connection) */
} rad__load_effect;

/* ---- Engines ---------------------------------------------------------------------------------------------- */

/* What one turn brought. `paused`: the log could not be written fast enough, nobody may begin anything. */
typedef struct rad__load_turn {
    uint64_t now_ns;         /* never goes back; since the start of the run */
    rad__load_input *inputs; /* in the order in which the engine met them */
    uint32_t input_count;
    bool paused;
    bool interrupted; /* the run was asked to end */
} rad__load_turn;

typedef struct rad__load_engine rad__load_engine;

/* Calls return 0 or a negative RAD_E… code; then the run ends with what it has. */
struct rad__load_engine_kind {
    const char *name; /* "simulated", "epoll", "io_uring", "replay" */
    /* Does what it is told, in order; nothing is sent twice. Results come with later turns, also failures. */
    int (*act)(rad__load_engine *e, const rad__load_effect *effects, uint32_t count, rad_error *error);
    /* The next turn: waits until something came in or it is `until_ns` (0: does not wait; UINT64_MAX: only inputs).
     * `poll` false: only reads the clock, there is work to do first. */
    int (*turn)(rad__load_engine *e, uint64_t until_ns, bool poll, rad__load_turn *turn, rad_error *error);
    void (*close)(rad__load_engine *e);
};

struct rad__load_engine {
    const struct rad__load_engine_kind *kind;
};

#endif
