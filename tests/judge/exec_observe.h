/* exec_observe.h — what the lab says about the state of an executor, read back from its words (docs/executor-
 * files.md). */
#ifndef RAD_TEST_EXEC_OBSERVE_H
#define RAD_TEST_EXEC_OBSERVE_H

#include "exec_reference.h"

typedef struct exec_seen {
    exec_ref_task tasks[CASE_TASKS]; /* place, next, holds; those that are not listed have ended */
    uint8_t task_count;
    uint8_t left[CASE_RESOURCES];
    uint16_t now;
    bool shut, done;
    uint8_t first_failure;                     /* task + 1 */
    uint8_t runnable, running, ended, refused; /* as counted by the lab */
    char unknown[160];                         /* a line that was not understood; "" */
} exec_seen;

void exec_seen_begin(exec_seen *seen);
void exec_seen_line(void *seen, const char *line); /* as rad_machine.describe calls it */
void exec_seen_text(exec_seen *seen, const char *lines);

/* The first difference, in words; false: none. `ended`: the run was not cut off by a failure. */
bool exec_seen_differs(const exec_seen *seen, const exec_case *c, const exec_state *s, bool ended, char *text,
                       size_t size);

#endif
