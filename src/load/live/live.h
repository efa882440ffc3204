/* live.h — the engine that talks to real servers: effects become requests, responses become inputs.
 *
 *     act / turn            turn.h
 *        |
 *      live.c               connections by number, inputs, who waits for what
 *        |
 *      protocol             http1.c, http2.c: requests and responses <-> bytes
 *        |
 *      wire                 tls.c, or nothing: bytes <-> bytes
 *        |
 *      transport            epoll.c, uring.c: bytes <-> sockets
 *
 * One thread. Names are looked up before the run begins. A send is one system call and so is a response, in the common
 * case; a clock is read for each of them, so that what is told of one does not depend on the others of its turn.
 *
 * Cancelling   HTTP/1.1: what was not sent will not be; else the answer is awaited and told, and the connection is of
 *              no use until then. HTTP/2: the stream is reset, and nothing more is told of it.
 * Values       extracted ones belong to the user from then on, unless the request was cancelled. */
#ifndef RAD_LOAD_LIVE_LIVE_H
#define RAD_LOAD_LIVE_LIVE_H

#include "load/log/turn.h"

typedef struct rad__load_live_options {
    const rad__load_scenario *scenario; /* stays the caller's, and as it is */
    uint64_t seed;
    uint32_t shard, shards;          /* users of this engine: shard, shard + shards, …; shards 0 is 1 */
    bool uring;                      /* io_uring, if this build and the kernel have it; else epoll */
    const volatile int *interrupted; /* not 0: the run is to end. May be NULL */
    const char *(*env)(const char *name);
} rad__load_live_options;

/* RAD_EIO: a name cannot be looked up, the system refuses something; RAD_EINPUT: a template, a certificate file.
 * `note` (may be NULL) gets what the user should know, such as that there is no io_uring; or "". */
RAD_INTERNAL int rad__load_live_open(rad__load_engine **engine, const rad__load_live_options *o, char note[200],
                                     rad_error *error);

/* All plans of a scenario, without any network: what `validate` can say. */
RAD_INTERNAL int rad__load_live_check(const rad__load_scenario *scenario, const char *(*env)(const char *name),
                                      rad_error *error);

#endif
