/* hunt_exec.c — what the executor's trial would report of the code as it is: the listed cases, then generated ones,
 * until something is found; that is shrunk.
 *
 *     hunt_exec
 * Last line:  clean RUNS EVALUATIONS
 *             found RUNS SIZE KIND: N instructions, N workers, N events, N preemptions: MESSAGE
 * SIZE is the number of instructions of the shrunk case. tools/planted.sh calls it with a bug in the code. */
#include "base/alloc.h"
#include "lab/machines/executor/executor.h"
#include "lab/machines/executor/generate.h"
#include "lab/machines/executor/listed.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

enum {
    DEDUP_RUNS = 3000,
    DELAY_RUNS = 1500,
    STRESS_SEEDS = 50,
    STRESS_RUNS = 6,
    STEPS = 5000 /* of a run: what goes on for ever is shrunk in steps, too */
};

typedef struct hunt {
    uint64_t runs, evaluations;
    rad_artifact *found;
    rad_error error;
} hunt;

static bool hunt_with(hunt *h, const rad_target *t, const char *strategy, uint64_t runs, bool *complete)
{
    static rad_exploration e;
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 1, .jobs = 1, .stop_on_first = true};
    if (rad_lab_explore(t, &o, &e, &h->error) != 0) return false;
    h->runs += e.runs;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) h->evaluations += e.evaluations[i];
    *complete = e.complete;
    if (e.finding_count > 0) {
        h->found = e.findings[0].artifact;
        e.findings[0].artifact = NULL;
    }
    rad_exploration_free(&e);
    return true;
}

static bool hunt_listed(hunt *h)
{
    for (uint32_t i = 0; i < RAD_EXEC_LISTED && h->found == NULL; i++) {
        char name[32];
        rad_target t;
        bool complete = false;
        if (rad_exec_listed(i, name, &t, &h->error) != 0) return false;
        t.c.max_steps = STEPS;
        bool good = hunt_with(h, &t, "dedup", DEDUP_RUNS, &complete);
        if (good && !complete && h->found == NULL) good = hunt_with(h, &t, "delay:6", DELAY_RUNS, &complete);
        rad_target_free(&t);
        if (!good) return false;
    }
    return true;
}

static bool hunt_stress(hunt *h)
{
    static const char *const policies[] = {"fair", "random", "pct:3"};
    rad_exec_bounds bounds = rad_exec_bounds_stress();
    bounds.length = 16;
    bounds.family = 12;
    for (uint32_t seed = 0; seed < STRESS_SEEDS && h->found == NULL; seed++) {
        rad_target t;
        bool complete = false, good = true;
        if (rad_exec_generate(seed, &bounds, &t, &h->error) != 0) return false;
        t.c.max_steps = STEPS;
        for (uint32_t i = 0; good && i < 3 && h->found == NULL; i++)
            good = hunt_with(h, &t, policies[i], STRESS_RUNS, &complete);
        rad_target_free(&t);
        if (!good) return false;
    }
    return true;
}

static int hunt_tell(hunt *h)
{
    rad_artifact *small = NULL;
    rad_shrink_report report = {0};
    rad_shrink_options options = {.certify_runs = 2000};
    if (rad_lab_shrink(h->found, &options, &small, &report, &h->error) != 0) {
        printf("trouble 0 %s\n", h->error.text);
        return 3;
    }
    const rad_verdict *v = rad_artifact_verdict(small);
    const char *body = rad_artifact_target(small)->c.body;
    rad_exec_case *c = rad__exec_case_parse(body, strlen(body), "case", &h->error);
    uint32_t instructions = 0;
    for (uint32_t i = 0; c && i < c->program_count; i++) instructions += c->programs[i].length;
    printf("%s\n", body);
    printf("found %llu %u %s: %u instructions, %u workers, %u events, %llu preemptions: %.120s\n",
           (unsigned long long)h->runs, instructions, v->kind, instructions, c ? c->workers : 0, c ? c->event_count : 0,
           (unsigned long long)report.after.preemptions, v->message);
    rad__exec_case_free(c);
    rad_artifact_free(report.second);
    rad_artifact_free(small);
    rad_artifact_free(h->found);
    return 1;
}

int main(void)
{
    hunt h = {0};
    bool good = hunt_listed(&h) && (h.found || hunt_stress(&h));
    if (!good) {
        printf("trouble 0 %s\n", h.error.text);
        return 3;
    }
    if (h.found) return hunt_tell(&h);
    printf("clean %llu %llu\n", (unsigned long long)h.runs, (unsigned long long)h.evaluations);
    return 0;
}
