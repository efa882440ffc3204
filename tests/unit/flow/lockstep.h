/* lockstep.h — the machine and the reference interpreter do the same steps, and are compared after each of them.
 *
 * The kernel decides; the reference does what was decided. After every step the same tokens live, stand at the same
 * statements, can go on or not, and have the same data; the machine has asked for the same choices, and, in a live
 * world, for the same effects. In a live world the answers come late, in a random order, or never; signals come that
 * nobody waits for; and now and then something is cancelled from outside. */
#ifndef RAD_TEST_FLOW_LOCKSTEP_H
#define RAD_TEST_FLOW_LOCKSTEP_H

#include "flow/machine/instance.h"
#include "reference.h"

typedef struct flow_lockstep_options {
    const char *policy;
    uint64_t seed;
    uint64_t steps; /* at most */
    bool is_live;
} flow_lockstep_options;

/* What was met on the way; added up by flow_lockstep. */
typedef struct flow_lockstep_seen {
    uint64_t kinds[REFERENCE_KINDS];
    uint64_t states[REFERENCE_DEADLOCK + 1];
    uint64_t fates[REFERENCE_ENDED + 1];
    uint64_t picks[RAD_PICK_KINDS];
    uint64_t steps, runs, starts, stops, handlers;
    uint64_t late;      /* answers that came for something that was cancelled */
    uint64_t kept;      /* signals that came too early */
    uint64_t cancelled; /* from outside, with success */
} flow_lockstep_seen;

enum { FLOW_DIFFERENCE_MAX = 1000 };

/* False: `difference` says what the first one is. */
bool flow_lockstep(const char *text, const flow_lockstep_options *o, flow_lockstep_seen *seen,
                   char difference[FLOW_DIFFERENCE_MAX]);

#endif
