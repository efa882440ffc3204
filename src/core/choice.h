/* choice.h — what a run is: a list of small integers.
 *
 * One record per decision, in the order they were made. A set of one is not a decision. The record says
 * enough for exhaustive search (count, flags), for bounds (flags) and for people (kind, site). The
 * integers alone are the *choice list* of an artifact: it is total (out of range is clamped, after the
 * end comes 0, the baseline), so cutting, zeroing and lowering always give a legal run. */
#ifndef RAD_CORE_CHOICE_H
#define RAD_CORE_CHOICE_H

#include <raddle/machine.h>

#include "base/check.h"

enum {
    /* Index 0 continues the current actor although others could run: any other index preempts. Not set
     * while the actor has several actions enabled: such decisions are free under a bound. */
    RAD_CHOICE_PREEMPTIBLE = 1
};

typedef struct rad_choice {
    uint32_t chosen;
    uint32_t count; /* at least 2 */
    uint32_t site;
    uint16_t kind; /* enum rad_pick_kind */
    uint16_t flags;
} rad_choice;

_Static_assert(sizeof(rad_choice) == 16, "lies in a shared mapping and in pipes");

enum { RAD_CHOICES_MAX = 10 * 1000 * 1000 }; /* per run, in memory and in files */

/* The choices of a run under way. The lab places it in a mapping shared with the supervisor, so that the
 * list outlives a process that dies: `count` is raised after the record is complete. */
typedef struct rad_choice_buffer {
    rad_choice *items;
    uint64_t capacity;
    volatile uint64_t *count;
} rad_choice_buffer;

/* Every 64th decision and the last one leave the rolling hash of the sets so far. */
enum { RAD_SET_HASH_EVERY = 64 };

#endif
