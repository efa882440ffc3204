/* trace_classes.h — which trace class a run belongs to.
 *
 * Two runs are of one class when one becomes the other by swapping neighbouring steps that touch no
 * common object (or only read it): they cannot be told apart by any actor. The fingerprint is a sum, in
 * no order, of one hash per step, where a step's hash covers its actor, what it did, and the hashes of
 * the steps it depends on: the actor's last one, and the last ones that wrote what it touches. (A write
 * need not name the reads before it: each of them names the write before itself.) */
#ifndef RAD_LAB_TRACE_CLASSES_H
#define RAD_LAB_TRACE_CLASSES_H

#include "core/kernel.h"

typedef struct rad_trace_classes {
    rad_observer observer; /* first: the kernel holds a pointer to it */
    uint64_t *chain;       /* hash of the last step, by actor */
    uint32_t chain_capacity;
    uint64_t *written; /* hash of the last step that wrote it, by object */
    uint32_t written_capacity;
    uint64_t picks; /* choices inside the step under way */
    rad_digest sum;
    bool failed; /* memory ran out: no fingerprint for this run */
} rad_trace_classes;

RAD_INTERNAL void rad__trace_classes_open(rad_trace_classes *c);
RAD_INTERNAL void rad__trace_classes_close(rad_trace_classes *c);

#endif
