/* bench_l2.c — what a run costs at the depth of memory operations, with race detection on.
 *
 * The figure to hold: 500,000 runs per second and core on two threads with ten atomics each. Beside it tests of
 * several sizes, and the parts: a context switch there and back, a change of the thread pointer there and back. */
#include "bench.h"
#include "core/kernel.h"
#include "lab/rig.h"
#include "os/context.h"
#include "os/thread_pointer.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 1 << 16 };

typedef struct trial {
    const char *machine, *words, *policy;
    uint64_t runs;
} trial;

/* Seconds for `runs` runs; the steps done in *steps. False when one did not finish. */
static bool time_runs(rad_rig *rig, rad_policy *policy, uint64_t runs, uint64_t *steps, double *seconds)
{
    rad_run_options o = rad__rig_options(rig, policy);
    o.beacon = NULL;
    rad__kernel_run(rig->kernel, &o); /* warm */
    *steps = 0;
    double start = bench_now();
    for (uint64_t i = 0; i < runs; i++) {
        o.info.run = i;
        if (rad__kernel_run(rig->kernel, &o) != RAD_OUTCOME_FINISHED) return false;
        *steps += rig->kernel->step;
    }
    *seconds = bench_now() - start;
    return true;
}

static bool measure(bench *b, const trial *t)
{
    rad_error error = {0};
    rad_target target;
    rad_rig rig;
    rad_policy *policy;
    double per_second[BENCH_SAMPLES], per_step[BENCH_SAMPLES];
    uint64_t runs = b->tiny ? 50 : t->runs, steps = 0;
    if (rad_target_init(&target, t->machine, &error) != 0 ||
        (t->words && rad_target_set(&target, t->words, &error) != 0) || rad__rig_open(&rig, &target, &error) != 0 ||
        rad__policy_create(&policy, t->policy, &error) != 0) {
        fprintf(stderr, "bench_l2: %s\n", error.text);
        return false;
    }
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        double seconds;
        if (!time_runs(&rig, policy, runs, &steps, &seconds)) {
            fprintf(stderr, "bench_l2: %s: %s\n", t->machine, rig.kernel->failure.message);
            return false;
        }
        per_second[i] = (double)runs / seconds / 1e6;
        per_step[i] = seconds * 1e9 / (double)steps;
    }
    char what[120];
    snprintf(what, sizeof what, "%s %s, %s, %.0f steps", t->machine, t->words ? t->words : "", t->policy,
             (double)steps / (double)runs);
    bench_row(b, what, "million runs/s", per_second, bench_samples(b));
    bench_row(b, "  the same", "ns/step", per_step, bench_samples(b));
    bench_result(b, 1); /* steps and digests are each compiler's own */
    rad__policy_destroy(policy);
    rad__rig_close(&rig);
    return true;
}

/* ---- Parts ------------------------------------------------------------------------------------------------- */

static rad_context home, other;

static void back_and_forth(void *argument)
{
    uint64_t *count = argument;
    for (;;) {
        ++*count;
        rad__context_switch(&other, &home);
    }
}

static bool measure_switch(bench *b)
{
    uint64_t rounds = b->tiny ? 1000 : 10000000, count = 0;
    double samples[BENCH_SAMPLES];
    void *stack = malloc(STACK);
    if (stack == NULL) return false;
    rad__context_make(&other, stack, STACK, back_and_forth, &count);
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        double start = bench_now();
        for (uint64_t n = 0; n < rounds; n++) rad__context_switch(&home, &other);
        samples[i] = (bench_now() - start) * 1e9 / (double)rounds;
    }
    bench_row(b, "context switch, there and back", "ns", samples, bench_samples(b));
    bench_result(b, count);
    free(stack);
    return true;
}

static bool measure_pointer(bench *b)
{
    uint64_t rounds = b->tiny ? 1000 : 10000000;
    double samples[BENCH_SAMPLES];
    rad_error error = {0};
    if (!rad__thread_pointer_works()) return true;
    rad__donors_open();
    void *mine = rad__thread_pointer_get(), *donor = rad__donor(0, &error);
    for (uint32_t i = 0; i < bench_samples(b) && donor; i++) {
        double start = bench_now();
        for (uint64_t n = 0; n < rounds; n++) {
            rad__thread_pointer_set(donor);
            rad__thread_pointer_set(mine);
        }
        samples[i] = (bench_now() - start) * 1e9 / (double)rounds;
    }
    rad__donors_close();
    if (donor == NULL) return false;
    bench_row(b, "thread pointer, there and back", "ns", samples, bench_samples(b));
    return true;
}

int main(int argc, char **argv)
{
    static const trial trials[] = {
        {"l2-inc", NULL, "random", 400000},
        {"l2-inc", NULL, "surw", 400000},
        {"l2-inc", "k=2", "random", 1000000},
        {"l2-inc", "n=4 k=100", "random", 20000},
        {"l2-locals", NULL, "random", 1000000},
        {"l2-deque", NULL, "random", 200000},
        {"l2-injector", "tasks=2", "random", 200000},
        {"l2-idle", "workers=2 items=2", "random", 100000},
        {"l2-executor", "workers=2 tasks=2 children=1", "random", 20000},
    };
    bench b;
    if (!bench_open(&b, "l2", argc, argv)) return 2;
    bool ok = measure_switch(&b) && measure_pointer(&b);
    if (rad_machine_find("l2-inc") == NULL)
        fprintf(stderr, "bench_l2: this build has no L2\n");
    else
        for (uint32_t i = 0; i < sizeof trials / sizeof *trials && ok; i++) ok = measure(&b, &trials[i]);
    int status = bench_close(&b);
    return ok ? status : 3;
}
