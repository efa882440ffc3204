/* stall.h — stall reports: a fiber that does not let go of its worker is named on standard error.
 *
 * A worker that is awake and has finished nothing for a while may also be between fibers: it searches, it starts, or
 * its thread has lost its CPU. So a report needs two looks, three quarters of the limit apart: both find that the same
 * fiber owns the worker, and nobody left the worker in between. Then that fiber has kept it all the time.
 *
 * S1  A report names a fiber that owned the worker at both looks, and at every moment between them.
 * S2  One report for each time that a fiber keeps a worker.
 *
 * Rejected: publishing who runs in a word of each worker. Every switch would write it, for a report that is rare; who
 * owns a worker is in the words of the fibers already, and walking all of them takes 10 ms for a million. */
#ifndef RAD_RT_STALL_H
#define RAD_RT_STALL_H

#include "rt/fiber.h"

/* What is known of one worker. */
typedef struct rad_stall {
    uint64_t since_ns;   /* of the first look, or before that when it was first seen stuck; 0: it is not */
    rad_slot *who;       /* the fiber that owned it at the first look; NULL: not looked yet */
    uint32_t generation; /* of that fiber */
    bool said;
} rad_stall;

/* What the monitor saw of a worker: it has finished nothing since the last look, and its thread sleeps in a system
 * call. False: the next look need not come soon. */
RAD_INTERNAL bool rad__stall_look(rad_stall *s, rad_runtime *rt, uint32_t worker, bool stuck, bool blocked,
                                  uint64_t now);

#endif
