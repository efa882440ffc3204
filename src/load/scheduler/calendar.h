/* calendar.h — what happens in which tick, when there is much of it: a ring of days for the near future, a heap for
 * the far one. Putting and taking cost the same for ten entries and for a million.
 *
 * Entries are numbers below the capacity. Those of one tick come out in the order they went in.
 * I1  every entry in the ring is of a tick from `today` to today + CALENDAR_DAYS - 1; in the heap are later ones. */
#ifndef RAD_LOAD_SCHEDULER_CALENDAR_H
#define RAD_LOAD_SCHEDULER_CALENDAR_H

#include "base/heap.h"

enum { RAD__CALENDAR_DAYS = 4096 };

struct rad__calendar_day {
    uint32_t first, last; /* entries; RAD_NONE: none */
};

typedef struct rad__calendar {
    uint64_t today;
    struct rad__calendar_day *days;
    uint64_t *busy; /* bit i: day i has entries */
    uint32_t *next; /* of an entry, in its day */
    uint32_t next_capacity;
    uint32_t near; /* entries in the ring */
    rad_heap far;
    uint64_t sequence;
} rad__calendar;

RAD_INTERNAL bool rad__calendar_open(rad__calendar *c);
RAD_INTERNAL void rad__calendar_close(rad__calendar *c);

/* `tick` not before today. False: no memory. */
RAD_INTERNAL bool rad__calendar_put(rad__calendar *c, uint32_t entry, uint64_t tick);

/* The first tick with an entry; UINT64_MAX: there is none. */
RAD_INTERNAL uint64_t rad__calendar_first(const rad__calendar *c);

/* It is `tick` now: the next entry of today or before, or RAD_NONE. Ask until there is none. */
RAD_INTERNAL uint32_t rad__calendar_take(rad__calendar *c, uint64_t tick);

#endif
