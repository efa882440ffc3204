/* load.h — what the parts of `raddle load` share. */
#ifndef RADDLE_CLI_LOAD_H
#define RADDLE_CLI_LOAD_H

#include "parts.h"

#include <raddle/load.h>

extern const verb VERB_LOAD_RUN, VERB_LOAD_REPLAY, VERB_LOAD_ANALYZE, VERB_LOAD_DIFF,
    VERB_LOAD_VALIDATE, VERB_LOAD_REPORT, VERB_LOAD_SERVE, VERB_LOAD_STRIP, VERB_LOAD_EXPORT,
    VERB_LOAD_TOML;

/* How a run is run, and where its results go. */
typedef struct load_words {
    uint64_t seed, shards;
    const char *output, *target, *engine;
    const char *scenario_path, *command_line;
    bool json, csv, prometheus, live, no_log, quiet;
} load_words;

/* Runs a scenario and tells of it; frees the scenario. The exit status. */
int run_scenario(cli *c, rad_load_scenario *s, const load_words *w);

/* As it was typed, about; lives for ever. To be called before options are parsed: that moves words around. */
const char *command_line(int argc, char **argv);

/* Tick by tick (load_step.c). The exit status. */
int step_log(cli *c, const char *path);

/* `raddle load URL …` (load_quick.c). */
int load_quick(cli *c, int argc, char **argv);
extern const verb VERB_LOAD_QUICK;

/* Prints a form of a result, or complains. 0 or an exit status. */
int print_form(cli *c, const rad_load_result *r, enum rad_load_form form);

#endif
