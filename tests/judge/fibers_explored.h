/* fibers_explored.h — programs of the judge under `raddle explore`: is every result in the set of the reference, and is
 * every one of the set reached, when every schedule was tried? */
#ifndef RAD_TEST_FIBERS_EXPLORED_H
#define RAD_TEST_FIBERS_EXPLORED_H

#include "fibers_reference.h"

typedef struct fibers_explorer {
    char raddle[4000], guest[4000]; /* paths */
    char room[40];                  /* a folder */
    struct fibers_shared *shared;
    bool loud;     /* what raddle says goes to standard error */
    bool in_order; /* deadlines come in the order in which they are written, and in no other */
} fibers_explorer;

/* False: this build cannot explore programs. */
bool fibers_explorer_open(fibers_explorer *e);
void fibers_explorer_close(fibers_explorer *e);

typedef struct fibers_explored {
    bool is_right;    /* every result is in the set, and raddle said nothing that is strange */
    bool is_complete; /* every schedule was tried, with every order of the deadlines */
    uint32_t runs, reached;
    uint8_t *was_reached; /* set->count of them; free */
    fibers_result wrong;
    char strange[400]; /* what raddle said; "": the result is wrong */
} fibers_explored;

/* At most `runs` for each order of the deadlines. `strategy` may be NULL: dfs. */
void fibers_explore(fibers_explorer *e, const fibers_program *p, const fibers_set *set, const char *strategy,
                    bool is_quiet, uint32_t runs, fibers_explored *out);

/* The results of the firm reference that were not reached. Of a mistake only how far the others had got matters, not
 * whether they had logged it. Prints them if `out` is not NULL. */
uint32_t fibers_missing(const fibers_program *p, const fibers_set *set, const fibers_set *firm,
                        const fibers_explored *found, FILE *out);

#endif
