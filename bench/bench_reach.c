/* bench_reach.c — how many runs a strategy needs to reach a known bug.
 *
 * reorder_N and twostage_N of the schedule-exploration literature, 20 seeds each, at most 10,000 runs
 * per seed: found/20 and the mean number of runs to the first failure of the seeds that found it. The
 * published and measured figures of others stand in docs/benchmarks.md. */
#include "bench.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

typedef struct subject {
    const char *machine;
    const char *n;
    const char *form; /* of start */
} subject;

typedef struct reach {
    uint32_t found;
    double mean;
    uint64_t most;
} reach;

static reach measure(const rad_target *t, const char *strategy, uint32_t seeds, uint64_t runs)
{
    reach r = {0};
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        rad_error error = {0};
        rad_exploration found;
        rad_explore_options o = {
            .strategy = strategy, .runs = runs, .seed = seed, .stop_on_first = true};
        if (rad_lab_explore(t, &o, &found, &error) != 0) {
            fprintf(stderr, "bench_reach: %s\n", error.text);
            continue;
        }
        if (found.finding_count) {
            uint64_t first = found.findings[0].run + 1;
            r.found++;
            r.mean += (double)first;
            if (first > r.most) r.most = first;
        }
        rad_exploration_free(&found);
    }
    if (r.found) r.mean /= r.found;
    return r;
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "reach", argc, argv)) return 2;
    static const subject subjects[] = {
        {"reorder", "n=3", "together=0"},   {"reorder", "n=5", "together=0"},
        {"reorder", "n=10", "together=0"},  {"reorder", "n=5", "together=1"},
        {"reorder", "n=10", "together=1"},  {"twostage", "n=20", "together=0"},
        {"twostage", "n=50", "together=0"},
    };
    static const char *const strategies[] = {"surw", "pct:3", "random"};
    uint32_t seeds = b.tiny ? 2 : 20;
    uint64_t runs = b.tiny ? 300 : 10000;
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        rad_target t;
        rad_error error = {0};
        if (rad_target_init(&t, subjects[i].machine, &error) != 0 ||
            rad_target_set(&t, subjects[i].n, &error) != 0 ||
            rad_target_set(&t, subjects[i].form, &error) != 0) {
            fprintf(stderr, "bench_reach: %s\n", error.text);
            return 2;
        }
        for (uint32_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            reach r = measure(&t, strategies[s], seeds, runs);
            char name[96];
            snprintf(name, sizeof name, "%s %s %s, %s", subjects[i].machine, subjects[i].n,
                     strcmp(subjects[i].form, "together=1") == 0 ? "together" : "spawned",
                     strategies[s]);
            char detail[64];
            snprintf(detail, sizeof detail, "found %u/%u, most %llu", r.found, seeds,
                     (unsigned long long)r.most);
            bench_figure(&b, name, "runs (mean)", r.mean, detail);
            bench_result(&b, r.most);
        }
    }
    return bench_close(&b);
}
