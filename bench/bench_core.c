/* bench_core.c — what the kernel itself costs.
 *
 * A machine that does nothing but stay enabled, under each policy, with 2 to 10,000 enabled actions:
 * nanoseconds per step, choice and digest included. Then the two figures to hold: steps per second on
 * one core (30 million) and runs per second of two actors × 10 steps (1.5 million). */
#include "bench.h"
#include "core/kernel.h"
#include "lab/rig.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <stdlib.h>

enum { ACTORS_MAX = 10000 };

/* n actors of `steps` steps each on one object. */
typedef struct idler {
    uint32_t actors, steps;
    uint32_t left[ACTORS_MAX];
    uint32_t object;
} idler;

static idler the_idler;

static int idler_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    (void)error;
    the_idler.actors = (uint32_t)c->params[0];
    the_idler.steps = (uint32_t)c->params[1];
    *self = &the_idler;
    return 0;
}

static void idler_destroy(void *self)
{
    (void)self;
}

static void idler_reset(void *self, rad_kernel *k)
{
    idler *m = self;
    m->object = rad_object(k, RAD_NONE, "cell");
    for (uint32_t i = 0; i < m->actors; i++) {
        uint32_t action = rad_action(k, 0, rad_actor(k, RAD_NONE, "idler"), RAD_NONE, 0);
        m->left[i] = m->steps;
        rad_announce(k, action, 0, m->object, RAD_WRITE);
        rad_enable(k, action);
    }
}

static void idler_step(void *self, rad_kernel *k, uint32_t action)
{
    idler *m = self;
    rad_value(k, action);
    if (--m->left[action] == 0)
        rad_disable(k, action);
    else
        rad_announce(k, action, 0, m->object, RAD_WRITE);
}

static enum rad_end idler_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const rad_param PARAMS[] = {
    {"actors", 2, 1, ACTORS_MAX, "actors", false},
    {"steps", 10, 1, 10000000, "steps of each", false},
    {.name = NULL},
};

static const rad_machine IDLER = {
    .name = "idler",
    .params = PARAMS,
    .bug_site = RAD_NONE,
    .create = idler_create,
    .destroy = idler_destroy,
    .reset = idler_reset,
    .step = idler_step,
    .idle = idler_idle,
};

static rad_target idler_target(uint32_t actors, uint32_t steps)
{
    return (rad_target){&IDLER, {.params = {actors, steps}, .max_steps = 100000000}};
}

/* Seconds for `runs` runs; the steps done in *steps. */
static double time_runs(bench *b, rad_rig *rig, rad_policy *policy, uint64_t runs, uint64_t *steps)
{
    rad_estimates known = {0};
    rad_run_options o = rad__rig_options(rig, policy);
    o.beacon = NULL;
    o.into = &known;
    rad__kernel_run(rig->kernel, &o); /* warm, and something for surw to know */
    o.info.estimates = &known;
    o.into = NULL;
    *steps = 0;
    double start = bench_now();
    for (uint64_t i = 0; i < runs; i++) {
        o.info.run = i;
        rad__kernel_run(rig->kernel, &o);
        *steps += rig->kernel->step;
    }
    double seconds = bench_now() - start;
    bench_result(b, rig->kernel->trace.digest.low);
    rad__estimates_free(&known);
    return seconds;
}

static bool measure(bench *b, const char *policy_name, uint32_t actors, uint32_t steps, uint64_t runs, bool per_run)
{
    rad_error error = {0};
    rad_rig rig;
    rad_policy *policy;
    rad_target t = idler_target(actors, steps);
    double samples[BENCH_SAMPLES];
    if (rad__rig_open(&rig, &t, &error) != 0 || rad__policy_create(&policy, policy_name, &error) != 0) {
        fprintf(stderr, "bench_core: %s\n", error.text);
        return false;
    }
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        uint64_t done;
        double seconds = time_runs(b, &rig, policy, runs, &done);
        samples[i] = per_run ? (double)runs / seconds / 1e6 : seconds * 1e9 / (double)done;
    }
    char what[80];
    if (per_run)
        snprintf(what, sizeof what, "%u actors × %u steps, %s", actors, steps, policy_name);
    else
        snprintf(what, sizeof what, "%s, %u enabled", policy_name, actors);
    bench_row(b, what, per_run ? "million runs/s" : "ns/step", samples, bench_samples(b));
    rad__policy_destroy(policy);
    rad__rig_close(&rig);
    return true;
}

/* Million steps per second with one choice of two at every step. */
static bool throughput(bench *b)
{
    rad_error error = {0};
    rad_rig rig;
    rad_policy *policy;
    rad_target t = idler_target(2, b->tiny ? 1000 : 2000000);
    double samples[BENCH_SAMPLES];
    if (rad__rig_open(&rig, &t, &error) != 0 || rad__policy_create(&policy, "random", &error) != 0) return false;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        uint64_t done;
        double seconds = time_runs(b, &rig, policy, 1, &done);
        samples[i] = (double)done / seconds / 1e6;
    }
    bench_row(b, "kernel loop, 2 actors, random", "million steps/s", samples, bench_samples(b));
    rad__policy_destroy(policy);
    rad__rig_close(&rig);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"first", "random", "fair", "pct:3", "surw"};
    static const uint32_t sizes[] = {2, 10, 100, 1000, 10000};
    bench b;
    if (!bench_open(&b, "core", argc, argv)) return 2;
    uint32_t steps = b.tiny ? 20000 : 2000000;
    bool ok = throughput(&b);
    for (uint32_t p = 0; p < 5 && ok; p++) ok = measure(&b, policies[p], 2, 10, b.tiny ? 100 : 500000, true);
    for (uint32_t p = 0; p < 5 && ok; p++)
        for (uint32_t s = 0; s < 5 && ok; s++) ok = measure(&b, policies[p], sizes[s], steps / sizes[s] + 1, 1, false);
    int status = bench_close(&b);
    return ok ? status : 3;
}
