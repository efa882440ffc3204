/* event.h — what the scheduler says happened: the output records of the log, and all that statistics are made of.
 *
 * Kinds 0 … 20 are those of Z6's event log v1, in its order, so that logs can be exchanged; ours follow. An event has
 * the time of its turn. */
#ifndef RAD_LOAD_LOG_EVENT_H
#define RAD_LOAD_LOG_EVENT_H

#include "load/log/turn.h"

enum rad__load_event_kind {
    RAD__LOAD_VU_SPAWNED = 0,
    RAD__LOAD_VU_READY,    /* for the first time */
    RAD__LOAD_VU_COMPLETE, /* fault: why it gave up, or 0 */
    RAD__LOAD_ISSUED,
    RAD__LOAD_TIMEOUT,
    RAD__LOAD_CANCELLED, /* under way when the run ended */
    RAD__LOAD_RESPONSE,
    RAD__LOAD_ERROR, /* fault */
    RAD__LOAD_CONN_ESTABLISHED,
    RAD__LOAD_CONN_CLOSED,
    RAD__LOAD_CONN_ERROR,
    RAD__LOAD_TICK, /* only in Z6's files: our ticks are input records */
    RAD__LOAD_ASSERTION_PASSED,
    RAD__LOAD_ASSERTION_FAILED,
    RAD__LOAD_ERROR_DNS, /* 14 … 19: only in Z6's files, ours are RAD__LOAD_ERROR */
    RAD__LOAD_ERROR_TCP,
    RAD__LOAD_ERROR_TLS,
    RAD__LOAD_ERROR_HTTP,
    RAD__LOAD_ERROR_TIMEOUT,
    RAD__LOAD_ERROR_PROTOCOL,
    RAD__LOAD_EXHAUSTED, /* fault: pool, queue or log; the user waits (RAD_NONE: everybody) */
    RAD__LOAD_LATE,      /* an answer to a request that had timed out */
    RAD__LOAD_LONG_WAIT, /* one warning for each wait above limits.warn_ticks */
    RAD__LOAD_DROPPED,   /* count: arrivals that found nobody free, or were never begun */
    RAD__LOAD_PHASE,     /* count: enum rad__load_phase that begins */
    RAD__LOAD_EVENT_KINDS
};

enum rad__load_phase { RAD__LOAD_RUNNING, RAD__LOAD_DRAINING, RAD__LOAD_OVER };

typedef struct rad__load_event {
    uint32_t kind;
    uint32_t vu, conn;
    uint32_t what, target; /* numbers of request and target */
    uint32_t fault;
    uint32_t status;
    uint32_t header_bytes;
    uint64_t request;
    uint64_t iteration;
    uint64_t body_bytes;
    uint64_t service_ns;  /* from the first byte sent to the last received */
    uint64_t response_ns; /* open schedules: from the time it was planned for; else 0 */
    uint64_t first_ns;    /* from the first byte sent to the first received; connections: how long it took */
    uint64_t checks_failed;
    uint64_t count;          /* dropped, phase; issued: how late it began (ns), against its plan */
    uint64_t actual, wanted; /* assertions; their number is `what` */
    uint32_t flags;          /* RAD__LOAD_MEASURED … */
} rad__load_event;

enum {
    RAD__LOAD_MEASURED = 1, /* after the warm-up */
    RAD__LOAD_BLOCKED = 2,  /* issued: its arrival found nobody free, and waited */
    RAD__LOAD_FIRST = 4,    /* issued: the first of an iteration */
    RAD__LOAD_LAST = 8      /* response, error, timeout: the last of an iteration */
};

#endif
