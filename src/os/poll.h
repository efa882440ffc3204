/* poll.h — which file descriptors can be read or written, by epoll: one question at a time, for many descriptors.
 *
 * A question (watch) is about one descriptor and is answered once: after the answer it is as if it had never been
 * asked. Asking again about the same descriptor replaces the former question; a reader and a
 * writer therefore ask together, with one token. The state of the descriptor counts, not its changes:
 * what is ready already when it is asked about is answered at once, so no question comes too late.
 *
 * An answer may come late: after a question was replaced or taken back, a wait that had begun before may still bring
 * the old token. Tokens should tell (a generation). A descriptor that is closed answers nothing, for ever; unless
 * there is a duplicate of it, then its question stays. Before a descriptor is closed it has to be forgotten.
 *
 * The bell is a descriptor like the others, but stays readable until a wait that blocks has seen it: a ring ends a
 * wait that is under way, or the next. A wait that does not block leaves the bell alone: it is meant for who sleeps.
 * One thread at a time should block: a ring ends at least one wait, not all. A ring is a call to the system: the
 * caller knows from elsewhere that a thread sleeps.
 *
 * Rejected: edges, asked for once and for all (a descriptor of the user's may be closed, and its number given to
 * another, without our knowing: then the question is gone and nobody notices; where we do not read and write
 * ourselves, nobody knows either when an edge was used up); a mark that saves ringing a bell that rings already (one
 * race more, and who sleeps is marked elsewhere); poll(2) (all descriptors, every time). */
#ifndef RAD_OS_POLL_H
#define RAD_OS_POLL_H

#include "base/check.h"

typedef struct rad_os_poll {
    int epoll, bell;
} rad_os_poll;

enum {
    RAD_OS_READABLE = 1, /* a read would not block: bytes, the end, or an error */
    RAD_OS_WRITABLE = 2, /* a write would not block: room, or an error */
    RAD_OS_HUNG_UP = 4   /* beside these, never asked for: the other side is gone, or there is an error */
};

typedef struct rad_os_event {
    uint64_t token;
    uint32_t ready; /* of what was asked; everything, when it is hung up */
} rad_os_event;

#define RAD_OS_TOKEN_MAX (UINT64_MAX - 1) /* the last one is the bell's */

enum rad_os_watched { RAD_OS_WATCHED = 0, RAD_OS_ALWAYS_READY };

/* RAD_EIO: the system has no more descriptors or memory. */
RAD_INTERNAL int rad__os_poll_open(rad_os_poll *p, rad_error *error);

/* Nobody waits, and nobody will ask or ring. Whatever is watched stays open. */
RAD_INTERNAL void rad__os_poll_close(rad_os_poll *p);

/* Asks, from any thread, also while others wait. RAD_OS_WATCHED; RAD_OS_ALWAYS_READY for what never blocks (regular
 * files, directories): there will be no answer, this is it; RAD_EINPUT: no descriptor, or one that cannot be
 * waited for; RAD_ELIMIT: the user watches too many; RAD_EIO. */
RAD_INTERNAL RAD_MUST_USE int rad__os_poll_watch(rad_os_poll *p, int fd, uint32_t wanted, uint64_t token,
                                                 rad_error *error);

/* Takes a question back, if there is one: there will be no answer from a wait that begins later. */
RAD_INTERNAL void rad__os_poll_forget(rad_os_poll *p, int fd);

/* Answers, at most `max` (and no more than 256): how many. Sleeps until there is one, up to `timeout_ns` (0: not at
 * all; UINT64_MAX: for ever), a ring, or a signal; then 0. It may return early, but never for ever. */
RAD_INTERNAL int rad__os_poll_wait(rad_os_poll *p, rad_os_event *events, uint32_t max, uint64_t timeout_ns,
                                   rad_error *error);

/* Ends a wait that sleeps, or the next that would, from any thread. */
RAD_INTERNAL void rad__os_poll_ring(rad_os_poll *p);

#endif
