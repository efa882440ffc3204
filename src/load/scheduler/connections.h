/* connections.h — connections: which user sends on which, and how many there may be.
 *
 * Each target has a fixed number of places for connections. A user has a home among them (its number modulo the
 * places), so with enough places everybody has a connection of its own, and with HTTP/2 users spread evenly. When home
 * is taken, one of the open ones with room is drawn; then a closed place is opened; then the pool is exhausted.
 *
 * Where there are as many places as users, nobody ever leaves home, and nobody keeps these two sets.
 *
 * I1  a place is in `available` if and only if it is open (or opening) and carries fewer requests than it may;
 *     it is in `closed` if and only if it is closed. */
#ifndef RAD_LOAD_SCHEDULER_CONNECTIONS_H
#define RAD_LOAD_SCHEDULER_CONNECTIONS_H

#include "load/scenario/scenario.h"
#include "load/scheduler/random.h"

enum rad__load_conn_state { RAD__LOAD_SHUT, RAD__LOAD_OPENING, RAD__LOAD_OPEN_NOW };

struct rad__load_conn {
    uint32_t under_way; /* requests */
    uint32_t served;    /* since it was opened */
    uint32_t place;     /* in `available` or `closed`, or RAD_NONE: full */
    uint32_t target;
    uint32_t opened; /* how often: who sent on it before is not on it any more */
    uint8_t state;
    bool ends; /* nothing more is sent on it: its requests are used up */
};

/* A set of connection numbers: draw any in O(1). */
struct rad__load_conn_set {
    uint32_t *items;
    uint32_t count;
};

struct rad__load_places {
    uint32_t first, count; /* of the target: connections first … first + count - 1 */
    uint32_t streams, uses;
    bool own; /* everybody has a place of its own */
    struct rad__load_conn_set available, closed;
};

typedef struct rad__load_pool {
    struct rad__load_conn *conns;
    uint32_t conn_count;
    struct rad__load_places *targets;
    uint32_t target_count;
    uint32_t *sets; /* memory of all sets */
} rad__load_pool;

struct rad__load_lease {
    uint32_t conn, opened;
    bool open; /* has to be opened first */
    bool last; /* and closed after this request */
};

RAD_INTERNAL bool rad__load_pool_open(rad__load_pool *p, const rad__load_scenario *s, uint32_t users, uint32_t shards);
RAD_INTERNAL void rad__load_pool_close(rad__load_pool *p);

/* False: exhausted. `draw` is used only when home is taken. */
RAD_INTERNAL bool rad__load_pool_take(rad__load_pool *p, uint32_t target, uint32_t user, rad__load_stream *draw,
                                      struct rad__load_lease *lease);

/* A closed place is being opened, before a user needs it. */
RAD_INTERNAL void rad__load_pool_begin(rad__load_pool *p, uint32_t conn);

/* Whether the connection is still the one that was taken. */
static inline bool rad__load_pool_has(const rad__load_pool *p, uint32_t conn, uint32_t opened)
{
    return p->conns[conn].state != RAD__LOAD_SHUT && p->conns[conn].opened == opened;
}

/* A request is done. No-op on a connection that was closed since, also if it is open again. */
RAD_INTERNAL void rad__load_pool_give(rad__load_pool *p, uint32_t conn, uint32_t opened);
RAD_INTERNAL bool rad__load_pool_opened(rad__load_pool *p, uint32_t conn); /* false: it is not being opened */
RAD_INTERNAL bool rad__load_pool_shut(rad__load_pool *p, uint32_t conn);   /* false: it was */
RAD_INTERNAL bool rad__load_pool_valid(const rad__load_pool *p);

#endif
