/* fibers_hunt.h — random programs of fibers on threads: is every result in the set of the reference?
 *
 * Programs run in child processes, because a deadlock and a mistake end the process: what it had done until then is in
 * memory that both share. A result that is not in the set is printed with its program, its seed, and the smallest
 * program that still has one. */
#ifndef RAD_TEST_FIBERS_HUNT_H
#define RAD_TEST_FIBERS_HUNT_H

#include "fibers_reference.h"

typedef struct fibers_hunt_options {
    uint64_t seed, programs;
    uint32_t workers[3], worker_count; /* each program runs with each of these … */
    bool in_turn;                      /* … or one program with the first, the next with the second */
    uint32_t runs;                     /* of a program with each */
    uint32_t most_states;              /* larger programs are left out */
    uint32_t processes;
} fibers_hunt_options;

typedef struct fibers_hunted {
    uint64_t programs, too_large, states, runs;
    uint64_t possible, reached;                       /* results */
    uint64_t deadlocks, aborts;                       /* runs that ended so */
    uint32_t seen[FIBERS_SEEN_COUNT];                 /* programs in which that is possible */
    uint32_t codes[FIBERS_OP_KINDS][FIBERS_CODES];    /* the same */
    uint64_t observed[FIBERS_OP_KINDS][FIBERS_CODES]; /* answers in runs */
} fibers_hunted;

/* False: a result is wrong, and everything about it was printed. */
bool fibers_hunt(const fibers_hunt_options *o, fibers_hunted *sum);

/* One program, `runs` times with each number of workers. */
bool fibers_try(const fibers_program *p, uint32_t runs, uint64_t seed, fibers_result *wrong);

/* Deletes operations as long as a wrong result is left. */
void fibers_shrink(fibers_program *p, uint32_t runs, uint64_t seed, fibers_result *wrong);

#endif
