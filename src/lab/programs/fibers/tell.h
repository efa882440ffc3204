/* tell.h — what a program under test tells the kernel: straight, or by a stream when the kernel is in another
 * process.
 *
 * Explorations have the kernel in the program's process, for speed. A run that is told step by step (a story, a log)
 * has its kernel in raddle, where everything that watches a run works as for other machines; then each call is a
 * record of a stream, and numbers are counted here as the kernel counts them (stream.h). */
#ifndef RAD_LAB_PROGRAMS_FIBERS_TELL_H
#define RAD_LAB_PROGRAMS_FIBERS_TELL_H

#include "core/kernel.h"

#include <raddle/machine.h>

/* Where to: a kernel, or a stream (NULL). Numbers begin anew. */
RAD_INTERNAL void rad__tell_open(rad_kernel *k);

RAD_INTERNAL uint32_t rad__tell_actor(uint32_t spawner, const char *role);
RAD_INTERNAL uint32_t rad__tell_object(uint32_t creator, const char *role);
RAD_INTERNAL void rad__tell_called(uint32_t object, const char *name);
RAD_INTERNAL uint32_t rad__tell_action(uint32_t kind, uint32_t actor);
RAD_INTERNAL void rad__tell_enable(uint32_t action);
RAD_INTERNAL void rad__tell_disable(uint32_t action);
RAD_INTERNAL void rad__tell_announce_far(uint32_t action, uint32_t site, uint32_t object, enum rad_access access);
RAD_INTERNAL uint32_t rad__tell_pick(enum rad_pick_kind kind, uint32_t site, uint32_t count);
RAD_INTERNAL void rad__tell_touch(uint32_t object, enum rad_access access);
RAD_INTERNAL void rad__tell_note(uint32_t kind, uint32_t object, uint64_t value);
RAD_INTERNAL void rad__tell_yields(bool fairly);

/* The kernel may ask for the state of the program: round.c. A stream's kernel knows that. */
RAD_INTERNAL void rad__tell_rounds(void);
RAD_INTERNAL void rad__tell_wait(uint32_t actor, uint32_t object, uint32_t holder);
RAD_INTERNAL void rad__tell_ended(uint32_t actor);
RAD_INTERNAL void rad__tell_evaluated(uint32_t oracle);
RAD_INTERNAL void rad__tell_reached(uint32_t site); /* not by a stream */
RAD_INTERNAL void rad__tell_failure(uint32_t oracle, uint32_t object, const char *site, const char *message);
/* The step changed nothing, and saw this. */
RAD_INTERNAL void rad__tell_saw(uint64_t value);

struct rad_race_told;
RAD_INTERNAL void rad__tell_race(const struct rad_race_told *r);

/* These actors wait in vain, and `why`: a sentence, without its stop. Those of a stream are cut after some hundred. */
RAD_INTERNAL void rad__tell_stuck(uint32_t oracle, const uint32_t *actors, uint32_t count, const char *why);
RAD_INTERNAL void rad__tell_error(int code, const char *text);

/* A record that only a stream has: what people want to know, and the kernel does not. Without effect when there is a
 * kernel here. */
RAD_INTERNAL void rad__tell_apart(uint32_t what, uint32_t a, uint32_t b, uint32_t c, int64_t value, const char *text);

/* NULL: to the stream. */
RAD_INTERNAL extern rad_kernel *rad__tell_kernel;

/* Whether it goes to a stream. */
static inline bool rad__tell_streams(void)
{
    return rad__tell_kernel == NULL;
}

/* In each step. */
static inline void rad__tell_announce(uint32_t action, uint32_t site, uint32_t object, enum rad_access access)
{
    if (RAD_LIKELY(rad__tell_kernel != NULL))
        rad__kernel_announce(rad__tell_kernel, action, site, object, access);
    else
        rad__tell_announce_far(action, site, object, access);
}

/* The run ends after this step: it has failed, or there is an error. */
RAD_INTERNAL bool rad__tell_is_over(void);

#endif
