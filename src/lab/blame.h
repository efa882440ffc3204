/* blame.h — who should have woken whom: what was done, in the run that is told, to the object that a fiber or a thread
 * waits for at its end. A signal that came when none waited; a value that another fiber has received; a lock, and since
 * when it is held. From the records of the stream alone: the program's process does nothing for it. */
#ifndef RAD_LAB_BLAME_H
#define RAD_LAB_BLAME_H

#include "lab/programs/places.h"

struct rad_kernel;

typedef struct rad_blame rad_blame;

/* NULL: no memory. */
RAD_INTERNAL rad_blame *rad__blame_open(void);
RAD_INTERNAL void rad__blame_close(rad_blame *b);
RAD_INTERNAL void rad__blame_clear(rad_blame *b); /* a run begins */

/* Each record of the stream, and each step before its records. */
RAD_INTERNAL void rad__blame_take(rad_blame *b, const rad_record *r);
RAD_INTERNAL void rad__blame_step(rad_blame *b, uint64_t step, uint32_t actor);

/* Sets story->blame: a line for each fiber that waits and of which there is something to say. False: no memory. */
RAD_INTERNAL bool rad__blame_tell(const rad_blame *b, const struct rad_kernel *k, rad_places *p, rad_story *s);

#endif
