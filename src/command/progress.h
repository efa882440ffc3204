/* progress.h — one line on a terminal's stderr, rewritten. Nothing at all when it is no terminal. */
#ifndef RAD_COMMAND_PROGRESS_H
#define RAD_COMMAND_PROGRESS_H

#include "cli.h"

typedef struct progress_limits {
    cli *c;
    double seconds; /* 0: none */
} progress_limits;

void progress_explore(const progress_limits *limits, const rad_progress *p) RAD_COMMAND(progress_explore);

/* For rad_shrink_options; the context is the cli. */
void progress_shrink(void *context, const char *stage, uint64_t checks, const rad_measure *m)
    RAD_COMMAND(progress_shrink);

void progress_items(const cli *c, const char *what, uint64_t done, uint64_t count) RAD_COMMAND(progress_items);
/* How much of a search is done; the context is a cli. */
void progress_states(void *context, uint64_t states, uint64_t steps) RAD_COMMAND(progress_states);
/* ASCII; what does not fit is left out. */
void progress_line(const cli *c, const char *line) RAD_COMMAND(progress_line);
void progress_clear(const cli *c) RAD_COMMAND(progress_clear);

#endif
