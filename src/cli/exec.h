/* exec.h — what the parts of `raddle exec` share: bounds of generated cases as options, and their words. */
#ifndef RAD_CLI_EXEC_H
#define RAD_CLI_EXEC_H

#include "command/hunt.h"
#include "parts.h"

extern const verb VERB_EXEC_GEN, VERB_EXEC_RUN, VERB_EXEC_EXPLORE, VERB_EXEC_STRESS;

/* Variables of the environment with defaults of `raddle exec stress`; cli.stress has their values, "": not set. */
enum stress_variable {
    STRESS_SEEDS = 0,
    STRESS_MAX_STEPS,
    STRESS_MAX_PROGRAMS,
    STRESS_MAX_TASKS,
    STRESS_SEED_BASE,
    STRESS_VARIABLES
};
extern const char *const STRESS_NAMES[STRESS_VARIABLES];

#define NOT_GIVEN UINT64_MAX

/* Bounds on the command line; NOT_GIVEN stays as the default has it. */
typedef struct bound_args {
    uint64_t workers, programs, tasks, length, family, resources, events;
    bool hang, small, stress;
} bound_args;

#define BOUNDS_NOT_GIVEN                                                                                               \
    {                                                                                                                  \
        NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, false, false, false               \
    }

#define OPTION_BOUND(type, name, about)                                                                                \
    {                                                                                                                  \
#name, OPTION_COUNT, offsetof(type, bounds.name), "N", about, 0, UINT32_MAX, 0                                 \
    }
#define OPTION_BOUND_FLAG(type, name, about)                                                                           \
    {                                                                                                                  \
#name, OPTION_FLAG, offsetof(type, bounds.name), NULL, about, 0, 0, 0                                          \
    }
#define OPTIONS_OF_BOUNDS(type)                                                                                        \
    OPTION_BOUND(type, workers, "at most N workers"), OPTION_BOUND(type, programs, "at most N programs"),              \
        OPTION_BOUND(type, tasks, "at most N tasks from outside"),                                                     \
        OPTION_BOUND(type, length, "at most N instructions a program"),                                                \
        OPTION_BOUND(type, family, "at most N tasks in a family: one and its descendants"),                            \
        OPTION_BOUND(type, resources, "at most N resources"), OPTION_BOUND(type, events, "at most N events"),          \
        OPTION_BOUND_FLAG(type, hang, "make a case that hangs, and expects that"),                                     \
        OPTION_BOUND_FLAG(type, small, "bounds: 3 workers, 4 tasks, 8 instructions a program (the default)"),          \
        OPTION_BOUND_FLAG(type, stress, "bounds: 8 workers, 16 tasks, 32 instructions a program")

/* Defaults and what was given. Returns 0 or an exit status. */
int read_bounds(cli *c, const bound_args *a, rad_exec_bounds *b);
bool bounds_given(const bound_args *a);

/* The case made from a seed; rad_target_free it. Returns 0 or an exit status. */
int generate(cli *c, uint64_t seed, const rad_exec_bounds *b, rad_target *t);

/* One word of the command line that names a case of the executor. Returns 0 or an exit status. */
int read_exec_case(cli *c, char **word, uint32_t count, rad_target *t);

/* "3 workers, 4 tasks, 2 programs of 11 instructions, 1 resource, 2 events; expects ends" */
void shape_text(const rad_target *t, char *text, size_t size);
void put_shape(writer *j, const rad_target *t);

/* "oracles   evaluated: …", summed up over explorations. */
void report_evaluations(cli *c, const uint64_t evaluations[RAD_ORACLES_MAX]);
void put_evaluations(writer *j, const uint64_t evaluations[RAD_ORACLES_MAX]);

#endif
