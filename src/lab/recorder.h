/* recorder.h — a run in full, for shrinking and for telling: per step who ran, what it touched, and the
 * decision before it. */
#ifndef RAD_LAB_RECORDER_H
#define RAD_LAB_RECORDER_H

#include "core/kernel.h"

typedef struct rad_recorded {
    uint32_t actor;
    uint32_t decision;                  /* index of the choice that picked it, or RAD_NONE: nothing else was enabled */
    uint32_t touched_at, touched_count; /* range in touched */
    uint32_t pick_at, pick_count;       /* range in picks: choices inside the step */
    bool yielded;
    bool waits; /* it could not continue: it had to wait */
} rad_recorded;

typedef struct rad_recorder {
    rad_observer observer; /* first: the kernel holds a pointer to it */
    rad_recorded *steps;
    uint32_t step_count, step_capacity;
    rad_touched *touched;
    uint32_t touched_count, touched_capacity;
    uint32_t *picks;
    uint32_t pick_count, pick_capacity;
    uint32_t decision;   /* of the step under way */
    uint32_t picks_from; /* first pick of the step under way */
    bool failed;         /* memory ran out */
} rad_recorder;

RAD_INTERNAL void rad__recorder_open(rad_recorder *r);
RAD_INTERNAL void rad__recorder_close(rad_recorder *r);

/* Marks the steps that lie in the causal past of the end: the last step, or in a deadlock the last steps
 * of all that wait. `past` has room for step_count flags. */
RAD_INTERNAL void rad__recorder_past(const rad_recorder *r, const rad_kernel *k, bool *past);

#endif
