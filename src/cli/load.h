/* load.h — what the parts of `raddle load` share. */
#ifndef RAD_CLI_LOAD_H
#define RAD_CLI_LOAD_H

#include "parts.h"

#include <raddle/load.h>

extern const verb VERB_LOAD_RUN, VERB_LOAD_REPLAY, VERB_LOAD_ANALYZE, VERB_LOAD_DIFF, VERB_LOAD_VALIDATE,
    VERB_LOAD_REPORT, VERB_LOAD_SERVE, VERB_LOAD_STRIP, VERB_LOAD_EXPORT;

/* How a run is run, and where its results go. */
typedef struct load_words {
    uint64_t seed, shards;
    const char *output, *target, *engine;
    const char *scenario_path, *command_line;
    bool json, csv, prometheus, live, no_log, quiet, is_url;
} load_words;

/* A bad use if more than one of them is set. 0: at most one is. */
int one_form(cli *c, bool json, bool csv, bool prometheus, bool format);

/* Runs a scenario and tells of it; frees the scenario. The exit status. */
int run_scenario(cli *c, rad_load_scenario *s, const load_words *w);

/* As it was typed, about; lives for ever. To be called before options are parsed: that moves words around. */
const char *command_line(int argc, char **argv);

/* Complains of a run without any response. 0 or an exit status. */
int judge_data(cli *c, const rad_load_facts *f);

/* Tick by tick (load_step.c). The exit status. */
int step_log(cli *c, const char *path, bool partial);

/* Of a log that was cut off, what there is of it: told, and not accepted unless `partial`. 0 or an exit status. */
int accept_extent(cli *c, const char *path, const rad_load_extent *e, bool partial);
int accept_facts(cli *c, const char *path, const rad_load_facts *f, bool partial);
/* Tells why a log cannot be read. The exit status: that of a log that was cut off if it ends inside its header. */
int complain_log(cli *c, const char *path, const rad_error *error);

/* `raddle load URL …` (load_quick.c). */
int load_quick(cli *c, int argc, char **argv);
extern const verb VERB_LOAD_QUICK;

/* A log, or the one in a folder of results (load_logs.c). */
const char *log_in(const char *path, char room[4096]);

/* Prints a form of a result, or complains. 0 or an exit status. */
int print_form(cli *c, const rad_load_result *r, enum rad_load_form form);

#endif
