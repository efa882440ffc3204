/* race.h — a data race that a program under test has met, as its process tells it: straight to the kernel, or in a
 * record of the stream. Whether two accesses race is decided in order.h. */
#ifndef RAD_LAB_RACE_H
#define RAD_LAB_RACE_H

#include "core/kernel.h"
#include "lab/programs/stream.h"

typedef struct rad_race_told {
    uint32_t oracle, first, second; /* actors; RAD_NONE: one that has ended */
    uint32_t first_kind, second_kind;
    rad_code_site one, other;
    char what[80], first_spot[320], second_spot[320]; /* spots: raddle writes the line in their place */
} rad_race_told;

RAD_INTERNAL void rad__race_tell(rad_kernel *k, const rad_race_told *r);

/* As text, and back. */
RAD_INTERNAL void rad__race_put(rad_call_stream *s, const rad_race_told *r);
RAD_INTERNAL void rad__race_take(rad_kernel *k, const rad_record *record, char *text);

#endif
