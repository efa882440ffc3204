/* bench_explore.c — explorations and shrinking as a user meets them: worker processes, trace classes and
 * oracles included. With --one a single workload, for comparisons: bench/peers/README.md, suite `explore`. */
#include "loads.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

typedef struct subject {
    const char *machine, *words[3], *strategy;
} subject;

static bool target_of(rad_target *t, const subject *s, rad_error *error)
{
    bool ok = rad_target_init(t, s->machine, error) == 0;
    for (uint32_t i = 0; i < 3 && ok && s->words[i]; i++) ok = rad_target_set(t, s->words[i], error) == 0;
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
        rad_explore_options o = {.strategy = s->strategy, .runs = b->tiny ? 500 : 400000, .seed = 1};
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
        if (rad_lab_shrink(e.findings[0].artifact, &options, &small, &report, &error) != 0) return false;
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

/* ---- Beside others ----------------------------------------------------------------------------------- */

static const struct {
    const char *load;
    subject subject;
} beside[] = {
    {"inc3", {"inc", {"n=2", "k=3"}, "random"}},
    {"inc10", {"inc", {"n=2", "k=10"}, "random"}},
    {"inc100", {"inc", {"n=4", "k=100"}, "random"}},
    {"code10", {"l2-inc", {"n=2", "k=10"}, "random"}},
};

/* Of this process and of the workers that have ended. */
static double all_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return bench_cpu() + (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static bench_measured explore_once(const subject *s, uint32_t jobs, uint64_t runs)
{
    rad_target t;
    rad_error error = {0};
    rad_exploration e;
    rad_explore_options o = {.strategy = s->strategy, .runs = runs, .seed = 1, .jobs = jobs};
    double start = bench_now(), cpu = all_cpu();
    if (!target_of(&t, s, &error) || rad_lab_explore(&t, &o, &e, &error) != 0) bench_fail(error.text);
    if (e.runs != runs || e.failures != 0) bench_fail("something was found where nothing is wrong");
    bench_measured m = bench_one((bench_now() - start) * 1e9 / (double)runs, "ns", e.steps);
    bench_add(&m, (all_cpu() - cpu) * 1e9 / (double)runs, "ns-CPU", e.steps);
    rad_exploration_free(&e);
    return m;
}

static void measure_beside(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into)
{
    uint32_t at = 0;
    while (strcmp(beside[at].load, l->name) != 0) at++;
    explore_once(&beside[at].subject, workers, l->tiny);
    for (uint32_t i = 0; i < samples; i++) into[i] = explore_once(&beside[at].subject, workers, size);
}

static const bench_load loads[] = {
    {.name = "inc3", .about = "2 × 3 atomics", .full = 2000000, .tiny = 1000},
    {.name = "inc10", .about = "2 × 10 atomics", .full = 1000000, .tiny = 1000},
    {.name = "inc100", .about = "4 × 100 atomics", .full = 30000, .tiny = 100},
    {.name = "code10", .about = "2 × 10 atomics, code", .full = 500000, .tiny = 1000},
};

int main(int argc, char **argv)
{
    static const bench_loads all = {"explore", loads, sizeof loads / sizeof *loads, measure_beside};
    if (argc > 1 && strcmp(argv[1], "--one") == 0) return bench_loads_main(&all, argc, argv);

    static const subject subjects[] = {
        {"inc", {"n=2", "k=10"}, "random"}, {"inc", {"n=2", "k=10"}, "surw"}, {"inc", {"n=2", "k=10"}, "pct:3"},
        {"inc", {"n=2", "k=10"}, "dfs"},    {"buffer", {NULL}, "random"},     {"reorder", {"n=10"}, "random"},
        {"philosophers", {"n=5"}, "dfs"},
    };
    static const char *const shrunk[] = {"counter", "buffer", "philosophers", "reorder", "bank"};
    bench b;
    if (!bench_open(&b, "explore", argc, argv)) return 2;
    bool ok = true;
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects && ok; i++) ok = explore_speed(&b, &subjects[i]);
    for (uint32_t i = 0; i < sizeof shrunk / sizeof *shrunk && ok; i++) ok = shrink_time(&b, shrunk[i]);
    int status = bench_close(&b);
    return ok ? status : 3;
}
