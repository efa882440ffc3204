/* trace.h — what happened: fixed records, a rolling digest, and the last events (or all of them).
 *
 * Layout version 1: 32 bytes, little-endian, no padding. The digest after n events is
 * XXH3_128(event n with the digest after n-1 xored into its first 16 bytes), starting from the version
 * number: one block to hash instead of one and a half (111 against 75 instructions).
 *
 * Events are folded into the digest when a caller asks for it, or when their place is needed: of the runs of an
 * exploration nearly all end before any caller has asked. */
#ifndef RAD_CORE_TRACE_H
#define RAD_CORE_TRACE_H

#include "base/digest.h"

enum { RAD_TRACE_VERSION = 1, RAD_TRACE_KEEP = 4096 };

enum rad_event_what {
    RAD_EVENT_STEP = 1, /* an action ran */
    RAD_EVENT_PICK = 2, /* a choice inside the step that follows */
    RAD_EVENT_NOTE = 3  /* something the machine adds to the step that follows */
};

/* Set in `access` of a step that said a value: 0 is then a value too. */
enum { RAD_EVENT_VALUED = 0x80 };

typedef struct rad_event {
    uint32_t step;
    uint16_t kind; /* of the action, the pick or the note */
    uint8_t what;
    uint8_t access; /* enum rad_access, and RAD_EVENT_VALUED */
    uint32_t actor;
    uint32_t object;
    uint32_t site;
    uint32_t count; /* how many were enabled, or how many values the pick had */
    uint64_t value; /* what the step said by rad_value; the picked value */
} rad_event;

_Static_assert(sizeof(rad_event) == 32, "the digest is over this layout");

typedef struct rad_trace {
    rad_event *events; /* a ring of the last `capacity` ones, or all of them when `whole` */
    uint32_t capacity; /* a power of two */
    uint64_t count;
    uint64_t limit;    /* at this count there is no room for another event: fold some, or grow */
    uint64_t folded;   /* number of events that are part of the digest */
    rad_digest digest; /* of all events once rad__trace_fold has been asked for them */
    rad_event *own;    /* `events`, unless these lie in a beacon */
    uint32_t own_capacity;
    bool whole;
    bool failed; /* memory ran out while keeping all */
} rad_trace;

RAD_INTERNAL bool rad__trace_open(rad_trace *t);
RAD_INTERNAL void rad__trace_free(rad_trace *t);

/* `ring` has room for RAD_TRACE_KEEP events; NULL, or when all are kept: the trace has its own memory. */
RAD_INTERNAL void rad__trace_restart(rad_trace *t, bool whole, rad_event *ring);

/* When all are kept: room for more of them; false when memory ran out, and from here on the last ones are kept. */
RAD_INTERNAL bool rad__trace_grow(rad_trace *t);

/* The digest becomes that of the first `count` events. */
RAD_INTERNAL void rad__trace_fold(rad_trace *t, uint64_t count);

/* From the digest after `from` events to that after `to`; number n is ring[n % capacity], a power of two. */
RAD_INTERNAL rad_digest rad__digest_events(rad_digest d, const rad_event *ring, uint32_t capacity, uint64_t from,
                                           uint64_t to);

/* The event number n, which must still be kept. */
static inline const rad_event *rad__trace_at(const rad_trace *t, uint64_t n)
{
    RAD_DCHECK(n < t->count && n + t->capacity >= t->count);
    return &t->events[n & (t->capacity - 1)];
}

#endif
