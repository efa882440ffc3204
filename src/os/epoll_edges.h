/* epoll_edges.h — which sockets have something new to tell, by epoll: each is named once, and told of once for each
 * change.
 *
 * The counterpart of poll.h for code that owns its sockets and reads and writes them itself: no call but the wait for
 * any number of reads and writes. The price: after a socket was named as readable, the owner has to read until it is
 * empty, or it is not named again. Closing a socket forgets it. */
#ifndef RAD_OS_EPOLL_EDGES_H
#define RAD_OS_EPOLL_EDGES_H

#include "base/check.h"

enum {
    RAD_OS_EDGE_READ = 1,  /* there are bytes, or the end */
    RAD_OS_EDGE_WRITE = 2, /* there is room */
    RAD_OS_EDGE_END = 4    /* the other side has ended, or something broke: read until it says so */
};

typedef struct rad_os_edge {
    uint64_t token;
    uint32_t what;
} rad_os_edge;

/* 0 or more: the descriptor of the list; below: as in io.h. */
RAD_INTERNAL int64_t rad__os_edges_open(void);
RAD_INTERNAL int64_t rad__os_edges_add(int list, int fd, uint64_t token);

/* Up to `max` (and no more than 256); how many. Waits for at most timeout_ns (0: not at all). A signal ends it. */
RAD_INTERNAL int64_t rad__os_edges_wait(int list, rad_os_edge *edges, uint32_t max, uint64_t timeout_ns);

#endif
