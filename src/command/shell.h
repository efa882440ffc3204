/* shell.h — what `raddle` and a program with machines do alike from main on: look at the terminal and the environment,
 * find the verb. Signals are in os/signal.h. */
#ifndef RAD_COMMAND_SHELL_H
#define RAD_COMMAND_SHELL_H

#include "options.h"

#include "os/signal.h"

/* A variable of the environment, or "" when it is not there. */
const char *variable(const char *name) RAD_COMMAND(variable);

/* Looks at the terminal and the environment; `self` is how the command is called. */
void look_around(cli *c, const char *self) RAD_COMMAND(look_around);

typedef struct verbs {
    const verb *const *at;
    size_t count;
    void (*head)(cli *c); /* the first lines of --help */
    /* Asked before a verb runs, with its words, which it may change; may be NULL. GO_ON, or the exit status of what was
     * done instead. */
    int (*elsewhere)(cli *c, const verb *v, int *argc, char **argv);
} verbs;

/* The whole command; returns the exit status. */
int dispatch(cli *c, const verbs *all, int argc, char **argv) RAD_COMMAND(dispatch);

#endif
