/* places.h — where in the code of a program under test its fibers are: from what its process tells (a file and an
 * offset in it: stream.h) to functions, lines and source text. By debug information; by symbols where there is none.
 *
 * Places are for people: a story has them, a trace does not. */
#ifndef RAD_LAB_PROGRAMS_PLACES_H
#define RAD_LAB_PROGRAMS_PLACES_H

#include "lab/programs/stream.h"

#include <raddle/lab.h>

/* ---- Names of the program's variables --------------------------------------------------------------------- */

enum { RAD_VARIABLES_MAX = 4096 };

/* As they are sent to the program: how many (8 bytes), then so many of these in the order of their offsets. */
typedef struct rad_variable {
    uint64_t offset;
    char name[48];
} rad_variable;

/* Channels, locks and the like in the data of this program. Keeps them: it is asked for one program. */
RAD_INTERNAL const rad_variable *rad__variables(const char *program, uint64_t *count);

/* ---- A run ------------------------------------------------------------------------------------------------ */

typedef struct rad_places rad_places;

/* NULL: no memory. `program` is its path. */
RAD_INTERNAL rad_places *rad__places_open(const char *program);
RAD_INTERNAL void rad__places_close(rad_places *p);

/* A run begins. */
RAD_INTERNAL void rad__places_clear(rad_places *p);

/* A record of the stream that is about a place. False: it is about something else. */
RAD_INTERNAL bool rad__places_take(rad_places *p, const rad_record *r, const char *text);

/* This step begins: the actor does what it was about to do. */
RAD_INTERNAL void rad__places_step(rad_places *p, uint64_t step, uint32_t actor);

/* The call that made this object; NULL: not known. After rad__places_tell. */
RAD_INTERNAL const rad_source_place *rad__places_made(rad_places *p, uint32_t object);

/* The call that started this actor; the same. */
RAD_INTERNAL const rad_source_place *rad__places_started(rad_places *p, uint32_t actor);

/* The call that this step makes; the same. */
RAD_INTERNAL const rad_source_place *rad__places_step_at(rad_places *p, uint64_t step);

/* The call that this actor was about to make, or waits in, when the run ended; the same. */
RAD_INTERNAL const rad_source_place *rad__places_pending(rad_places *p, uint32_t actor);

/* What rad_select returned in this step; negative: nothing. */
RAD_INTERNAL int rad__places_case(const rad_places *p, uint64_t step);

/* The run is over: looks everything up that a story wants to say. False: no memory. The story borrows it. */
RAD_INTERNAL bool rad__places_tell(rad_places *p, rad_story *s);

#endif
