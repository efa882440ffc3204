/* scoreboard_toys.c — every toy machine: its bug is found, shrunk and replayed; its twin stays clean.
 *
 *     scoreboard_toys [--tiny] [--json FILE]
 *
 * Per machine: `auto` until the first failure (at most 100,000 runs), shrink, replay in a new process;
 * then 100,000 runs (surw) of the repaired twin, with the evaluations of the same oracle counted and the bug's
 * site reached; and the twin exhaustively: every schedule, where a depth-first search ends within a million runs,
 * otherwise every state, where there are not too many. FILE gets one JSON object per line. Exits 1 when anything of
 * this does not hold. The bug of safestack is left to scoreboard_reach: it needs hundreds of thousands of runs. */
#include "bench.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 5000 }; /* of a run: no toy needs as many, unless it spins */

typedef struct entry {
    const char *name;
    bool hard; /* nobody looks for the bug here */
    bool found, replayed, complete, by_state, twin_reached;
    uint64_t runs, shrunk, preemptions, twin_reports, twin_evaluations, twin_runs, twin_schedules;
    double seconds; /* to find, shrink and replay */
    enum rad_certificate certificate;
} entry;

static uint32_t oracle_of(const rad_machine *m, const char *kind)
{
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) {
        const char *name = rad_oracle_name(m, i);
        if (name && strcmp(name, kind) == 0) return i;
    }
    return RAD_NONE;
}

/* Finds, shrinks, replays; the oracle that spoke is the result, or RAD_NONE. */
static uint32_t try_bug(entry *e, const rad_target *t, uint64_t runs)
{
    rad_error error = {0};
    rad_exploration found;
    rad_explore_options o = {.runs = runs, .seed = 1, .stop_on_first = true};
    double start = bench_now();
    if (rad_lab_explore(t, &o, &found, &error) != 0) {
        fprintf(stderr, "%s: %s\n", e->name, error.text);
        return RAD_NONE;
    }
    uint32_t oracle = RAD_NONE;
    if (found.finding_count > 0) {
        const rad_artifact *a = found.findings[0].artifact;
        rad_artifact *small = NULL;
        rad_shrink_report report;
        rad_shrink_options shrink = {.steps = runs * 500};
        rad_replay replay = {0};
        e->found = true;
        e->runs = found.findings[0].run + 1;
        oracle = oracle_of(t->machine, rad_artifact_verdict(a)->kind);
        if (rad_lab_shrink(a, &shrink, &small, &report, &error) == 0 &&
            rad_lab_replay(small, NULL, &replay, &error) == 0) {
            e->shrunk = report.after.choices;
            e->preemptions = report.after.preemptions;
            e->certificate = report.certificate;
            e->replayed = replay.as_recorded;
            rad_artifact_free(report.second);
        }
        rad_artifact_free(small);
    }
    e->seconds = bench_now() - start;
    rad_exploration_free(&found);
    return oracle;
}

static void try_twin(entry *e, const rad_target *t, uint32_t oracle, uint64_t runs)
{
    rad_error error = {0};
    rad_exploration x;
    rad_target twin = *t;
    twin.c.repaired = true;
    twin.c.max_steps = STEPS_MAX;
    rad_explore_options o = {.strategy = "surw", .runs = runs, .seed = 1};
    e->twin_reports = UINT64_MAX; /* until a run says otherwise */
    if (rad_lab_explore(&twin, &o, &x, &error) != 0) return;
    e->twin_reports = x.failures;
    e->twin_runs = x.runs;
    e->twin_evaluations = oracle == RAD_NONE ? 0 : x.evaluations[oracle];
    e->twin_reached = t->machine->bug_site < 1024 && x.site_reached[t->machine->bug_site];
    rad_exploration_free(&x);
    static const char *const exhaustive[] = {"dfs", "dedup"};
    for (int i = 0; i < 2 && !e->complete; i++) {
        o.strategy = exhaustive[i];
        o.runs = runs * 10;
        o.steps = runs * 100;
        if (rad_lab_explore(&twin, &o, &x, &error) != 0) return;
        e->complete = x.phases[0].exhausted && !x.phases[0].pruned && x.cut == 0;
        e->by_state = x.states > 0;
        e->twin_schedules = e->by_state ? x.states : x.runs;
        e->twin_reports += x.failures;
        rad_exploration_free(&x);
    }
}

/* A row of docs/scoreboard.md, which tools/write_scoreboard.sh puts there. */
static void print_row(const entry *e)
{
    char runs[BENCH_COUNT_TEXT], evaluations[BENCH_COUNT_TEXT], schedules[BENCH_COUNT_TEXT];
    if (e->hard)
        printf("| %s | below | - | - | - |", e->name);
    else if (!e->found)
        printf("| %s | **missed** | - | - | - |", e->name);
    else
        printf("| %s | %s | %llu | %llu | %s |", e->name, bench_count(e->runs, runs), (unsigned long long)e->shrunk,
               (unsigned long long)e->preemptions,
               !e->replayed                    ? "**replay differs**"
               : e->certificate == RAD_MINIMAL ? "minimal"
                                               : "no");
    printf(" %llu | %s%s | %s%s%s |\n", (unsigned long long)e->twin_reports,
           bench_count(e->twin_evaluations, evaluations), e->twin_reached ? "" : ", **bug's site not reached**",
           bench_count(e->twin_schedules, schedules), e->by_state ? " states" : "", e->complete ? "" : ", not all");
    fflush(stdout);
}

static void put_json(const entry *e, FILE *json)
{
    fprintf(json,
            "{\"suite\": \"toys\", \"name\": \"%s\", \"sought\": %s, \"found\": %s, \"runs\": %llu, "
            "\"shrunk\": %llu, "
            "\"twin_reports\": %llu, \"twin_evaluations\": %llu, \"twin_reached\": %s, \"replayed\": "
            "%s, "
            "\"seconds\": %.3f, \"twin_complete\": %s}\n",
            e->name, e->hard ? "false" : "true", e->found ? "true" : "false", (unsigned long long)e->runs,
            (unsigned long long)e->shrunk, (unsigned long long)e->twin_reports, (unsigned long long)e->twin_evaluations,
            e->twin_reached ? "true" : "false", e->replayed ? "true" : "false", e->seconds,
            e->complete ? "true" : "false");
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open_plain(&b, "scoreboard_toys", argc, argv)) return 2;
    uint64_t runs = b.tiny ? 3000 : 100000;
    bool good = true;
    printf("| machine | runs | choices left | preemptions | certified | reports on the fixed version | evaluations | "
           "schedules of the fixed version, all of them |\n|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; rad_machine_at(i) != NULL; i++) {
        rad_target t;
        rad_error error = {0};
        entry e = {.name = rad_machine_at(i)->name};
        if (rad_machine_at(i)->bug == NULL) continue;
        if (rad_target_init(&t, e.name, &error) != 0) return 3;
        e.hard = strcmp(e.name, "safestack") == 0;
        uint32_t oracle = e.hard ? RAD_ORACLE_ASSERT : try_bug(&e, &t, runs);
        try_twin(&e, &t, oracle, b.tiny ? runs / 3 : runs);
        print_row(&e);
        if (b.json) put_json(&e, b.json);
        good &= e.hard || (e.found && e.replayed);
        good &= e.twin_reports == 0 && e.twin_evaluations > 0 && e.twin_reached;
    }
    int status = bench_close_plain(&b);
    return status ? status : !good;
}
