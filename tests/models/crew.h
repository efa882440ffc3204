/* crew.h — real fibers for models: workers with their seats, slots with their stacks.
 *
 * Either the workers are those of the executor, which steal and sleep (`whole`); or they take what there is from the
 * same queues, and look again when there is nothing: far fewer schedules, for what happens inside the runtime. */
#ifndef RAD_S_MODELS_CREW_H
#define RAD_S_MODELS_CREW_H

#include "rt/runtime.h"

enum { RAD_CREW_WORKERS = 2, RAD_CREW_SLOTS = 9 };

/* In setup: so many workers, `outside` slots that all share and `inside` ones that each worker has. */
RAD_INTERNAL void rad__crew_open(uint32_t workers, uint32_t outside, uint32_t inside, bool whole);

/* The runtime, for those who need more of it than calls. */
RAD_INTERNAL rad_runtime *rad__crew_runtime(void);

/* In setup: workers that are whole sleep in the poll, as in production. */
RAD_INTERNAL void rad__crew_polls(void);

/* In setup, with workers that are not whole: fewer steps, see crew.c. */
RAD_INTERNAL void rad__crew_coarse(void);

/* A fiber from outside, as rad_main makes its first: `fiber` may be NULL. */
RAD_INTERNAL void rad__crew_spawn(rad_fiber *fiber, rad_fn fn, void *arg);

/* Nothing more comes from outside: when all fibers have ended, so do the workers. In setup or by a thread. */
RAD_INTERNAL void rad__crew_shut(void);

/* What the thread of a worker does. */
RAD_INTERNAL void rad__crew_work(uint32_t worker);

/* In check: all fibers have ended and nobody holds one of them. */
RAD_INTERNAL void rad__crew_close(void);

#endif
