/* edit_support.h — small machines in several editions, as texts: what a programmer has before and after an edit.
 *
 * A thread is a list of operations separated by ';'. The name of an operation's site is its text, or what follows an
 * '@', so that sites have names and their numbers change with every edit, as in real code.
 *
 *     load CELL REG     store CELL X     fadd CELL X REG     cas CELL X Y REG     follow CELL X     pick COUNT REG
 *     lock M    unlock M    wait C M    signal C    broadcast C    spawn THREAD    join FIRST COUNT    yield
 * and, which are no steps,
 *     set REG X    add REG X    claim REG X NAME    jz REG LABEL    jnz REG LABEL    jmp LABEL    :LABEL
 *
 * X is a number or a register r0 … r5. Objects are made when they are first named. */
#ifndef RAD_TEST_EDIT_SUPPORT_H
#define RAD_TEST_EDIT_SUPPORT_H

#include <raddle/lab.h>

enum { EDIT_THREADS = 6, EDIT_EDITIONS = 6 };

typedef struct edit_thread {
    const char *role, *text;
    bool spawned; /* by another thread, not at the start */
} edit_thread;

typedef struct edition {
    const char *what;     /* the edit */
    const char *expected; /* of a realigned replay, as rad_realigned_text has it */
    bool buggy;           /* exploring finds the failure */
    edit_thread threads[EDIT_THREADS];
} edition;

/* Edition 0 is the one that is recorded. */
typedef struct edited_machine {
    const char *name;
    edition editions[EDIT_EDITIONS];
} edited_machine;

enum { EDITED_MACHINES = 10 };
extern const edited_machine edited_machines[EDITED_MACHINES];

/* The machine, with a parameter "edit". It lives as long as the process. */
const rad_machine *edited_rad_machine(uint32_t index);

#endif
