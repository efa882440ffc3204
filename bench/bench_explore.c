/* bench_explore.c — explorations and shrinking as a user meets them: worker processes, trace classes and
 * oracles included. */
#include "bench.h"

#include <raddle/lab.h>

#include <stdio.h>

typedef struct subject {
    const char *machine, *words[3], *strategy;
} subject;

static bool target_of(rad_target *t, const subject *s, rad_error *error)
{
    bool ok = rad_target_init(t, s->machine, error) == 0;
    for (uint32_t i = 0; i < 3 && ok && s->words[i]; i++)
        ok = rad_target_set(t, s->words[i], error) == 0;
    return ok;
}

static bool explore_speed(bench *b, const subject *s)
{
    rad_target t;
    rad_error error = {0};
    double samples[BENCH_SAMPLES];
    if (!target_of(&t, s, &error)) return false;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad_exploration e;
        rad_explore_options o = {
            .strategy = s->strategy, .runs = b->tiny ? 500 : 400000, .seed = 1};
        if (rad_lab_explore(&t, &o, &e, &error) != 0) return false;
        samples[i] = (double)e.runs / e.elapsed / 1e6;
        bench_result(b, e.steps);
        bench_result(b, e.classes);
        rad_exploration_free(&e);
    }
    char text[60], what[96];
    rad_target_text(&t, text, sizeof text);
    snprintf(what, sizeof what, "explore %s, %s", text, s->strategy);
    bench_row(b, what, "million runs/s", samples, bench_samples(b));
    return true;
}

static bool shrink_time(bench *b, const char *machine)
{
    subject s = {.machine = machine};
    rad_target t;
    rad_error error = {0};
    rad_exploration e;
    double samples[BENCH_SAMPLES];
    rad_explore_options o = {.strategy = "random", .runs = 20000, .seed = 1, .stop_on_first = true};
    if (!target_of(&t, &s, &error) || rad_lab_explore(&t, &o, &e, &error) != 0) return false;
    for (uint32_t i = 0; i < bench_samples(b) && e.finding_count; i++) {
        rad_artifact *small;
        rad_shrink_report report;
        rad_shrink_options options = {0};
        double start = bench_now();
        if (rad_lab_shrink(e.findings[0].artifact, &options, &small, &report, &error) != 0)
            return false;
        samples[i] = (bench_now() - start) * 1e3;
        bench_result(b, report.after.steps);
        rad_artifact_free(report.second);
        rad_artifact_free(small);
    }
    char what[64];
    snprintf(what, sizeof what, "shrink %s", machine);
    if (e.finding_count) bench_row(b, what, "ms", samples, bench_samples(b));
    rad_exploration_free(&e);
    return true;
}

int main(int argc, char **argv)
{
    static const subject subjects[] = {
        {"inc", {"n=2", "k=10"}, "random"}, {"inc", {"n=2", "k=10"}, "surw"},
        {"inc", {"n=2", "k=10"}, "pct:3"},  {"inc", {"n=2", "k=10"}, "dfs"},
        {"buffer", {NULL}, "random"},       {"reorder", {"n=10"}, "random"},
        {"philosophers", {"n=5"}, "dfs"},
    };
    static const char *const shrunk[] = {"counter", "buffer", "philosophers", "reorder", "bank"};
    bench b;
    if (!bench_open(&b, "explore", argc, argv)) return 2;
    bool ok = true;
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects && ok; i++)
        ok = explore_speed(&b, &subjects[i]);
    for (uint32_t i = 0; i < sizeof shrunk / sizeof *shrunk && ok; i++)
        ok = shrink_time(&b, shrunk[i]);
    int status = bench_close(&b);
    return ok ? status : 3;
}
