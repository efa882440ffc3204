/* causality.h — whether the events of a log can have happened in the order in which they stand there.
 *
 * C1  users are spawned in the order of their numbers, become ready after that and once, and complete once.
 * C2  a request is issued by a user that is ready and waits for no other; its number is one more than the last.
 * C3  a request ends exactly once, as the one that was issued: response, error, timeout or cancelled, of the same
 *     request of the scenario, measured if it was.
 * C4  a late answer is to a request that has ended.
 * C5  a connection is asked for (by the first request on it, unless they are opened before) before anything happens to
 *     it, belongs to one target, and is closed only while there is one.
 * C6  phases come in their order; when the run is over, nothing is under way, and only assertions follow.
 *
 * The sums follow: issued = responses + errors + timeouts + cancelled + under way. */
#ifndef RAD_LOAD_REPLAY_CAUSALITY_H
#define RAD_LOAD_REPLAY_CAUSALITY_H

#include "load/log/event.h"

struct rad__load_user_seen {
    uint64_t request; /* number of its last one */
    uint64_t ordinal; /* of that request among all of the log, as the caller numbers them */
    uint32_t what;
    uint32_t seen; /* bits of causality.c */
};

struct rad__load_conn_seen {
    uint32_t target;
    bool asked, open, established;
};

/* One shard. */
typedef struct rad__load_causality {
    const rad__load_scenario *scenario;
    struct rad__load_user_seen *users;
    struct rad__load_conn_seen *conns;
    uint32_t user_count, user_capacity, user_limit;
    uint32_t conn_capacity, conn_limit;
    uint32_t open, open_most; /* connections that were established, at the same time */
    uint64_t under_way;
    enum rad__load_phase phase;
    bool failed; /* memory ran out */
} rad__load_causality;

RAD_INTERNAL void rad__load_causality_begin(rad__load_causality *c, const rad__load_scenario *scenario, uint32_t shard,
                                            uint32_t shards);
RAD_INTERNAL void rad__load_causality_free(rad__load_causality *c);

/* NULL, or what is against the rules; c->failed then: memory ran out. */
RAD_INTERNAL const char *rad__load_causality_event(rad__load_causality *c, const rad__load_event *event);

#endif
