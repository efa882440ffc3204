/* main.c — the command `raddle`: its verbs. */
#include "compile.h"
#include "exec.h"
#include "parts.h"
#include "program.h"

static const verb *const VERBS[] = {
    &VERB_TOUR, &VERB_LIST, &VERB_RUN, &VERB_EXPLORE, &VERB_REPLAY,  &VERB_SHRINK, &VERB_SHOW, &VERB_CORPUS,
    &VERB_TEST, &VERB_CC,   &VERB_CXX, &VERB_EXEC,    &VERB_SESSION, &VERB_LOAD,   &VERB_FLOW,
};

const char *const STRESS_NAMES[STRESS_VARIABLES] = {
    [STRESS_SEEDS] = "SCHEDULER_SIM_STRESS_SEEDS",
    [STRESS_MAX_STEPS] = "SCHEDULER_SIM_STRESS_MAX_STEPS",
    [STRESS_MAX_PROGRAMS] = "SCHEDULER_SIM_STRESS_MAX_PROGRAMS",
    [STRESS_MAX_TASKS] = "SCHEDULER_SIM_STRESS_MAX_TASKS",
    [STRESS_SEED_BASE] = "SCHEDULER_SIM_STRESS_SEED_BASE",
};

static void print_head(cli *c)
{
    out(c, "raddle %s: finds scheduling bugs, shrinks them, replays them\n\n", rad_version());
}

int main(int argc, char **argv)
{
    const verbs all = {VERBS, sizeof VERBS / sizeof *VERBS, print_head, run_elsewhere};
    const char *stress[STRESS_VARIABLES];
    rad_os_signals before;
    cli c = {.write_error = 0};
    look_around(&c, "raddle");
    rad__os_signals_watch(&before);
    c.signals = &before;
    for (size_t i = 0; i < STRESS_VARIABLES; i++) stress[i] = variable(STRESS_NAMES[i]);
    c.stress = stress;
    c.show_other = show_other;
    return out_close(&c, dispatch(&c, &all, argc, argv));
}
