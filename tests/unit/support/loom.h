/* loom.h — a machine for tests of logs and artifacts, and a kernel to run it on.
 *
 * `n` workers make `rounds` steps each. With picks=1 every third step asks for a value: 0 goes on, 1 stops
 * the next worker, 2 lets all stopped ones go on. Half-way a worker changes to a second action, which is
 * made only then. Workers still stopped at the end are a deadlock. `twist` makes a run differ from the one
 * that was recorded, from step `twist_at` on. */
#ifndef RAD_TESTS_LOOM_H
#define RAD_TESTS_LOOM_H

#include "core/kernel.h"

#include <raddle/lab.h>

enum loom_twist {
    LOOM_STRAIGHT = 0,
    LOOM_WITHOUT_LAST,   /* the last worker (or the last fourteen) is not there at first */
    LOOM_OTHER_ARGUMENT, /* the second action is another one */
    LOOM_PICK_KIND,
    LOOM_PICK_SITE,
    LOOM_PICK_COUNT,
    LOOM_NO_PICK,
    LOOM_ENDS, /* everybody ends at once */
    LOOM_FAILS,
    LOOM_OTHER_VALUE,
    LOOM_EXTRA_ROUND
};

extern enum loom_twist loom_twist;
extern uint64_t loom_twist_at;

extern const rad_machine loom_machine; /* "loom" */

/* Adds the machine to the table; more than once does no harm. */
void loom_add(void);
rad_target loom_target(int64_t n, int64_t rounds, bool picks);

/* A kernel with a machine of the target in it. */
typedef struct loom {
    rad_target target;
    rad_kernel *kernel;
    void *self;
    rad_choice *choices;
    volatile uint64_t choice_count;
    rad_estimates blank;
} loom;

int loom_open(loom *l, const rad_target *t, rad_error *error);
void loom_close(loom *l);
enum rad_outcome loom_run(loom *l, rad_policy *policy, uint64_t seed, rad_observer *observer);

#endif
