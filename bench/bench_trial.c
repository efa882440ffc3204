/* bench_trial.c — steps per second of the executor's trial: production's steps under the kernel, with every oracle
 * after every action, and without. One core, no worker processes. */
#include "bench.h"
#include "lab/machines/executor/executor.h"
#include "lab/rig.h"

#include <stdio.h>

/* Three workers, every instruction, every placement. */
static const char body[] = "{\"executor\":{\"workers\":3,\"hoard\":2},\"resources\":[1],\"programs\":[{\"name\":\"a\","
                           "\"code\":[\"spawn b local\","
                           "\"spawn b global\",\"spawn b external\",\"spawn b to 1\",\"yield local\",\"sleep "
                           "3\",\"wait-io 1\","
                           "\"try-acquire 0 1 ok 8 fail 9\",\"release 0 "
                           "1\",\"complete\"]},{\"name\":\"b\",\"code\":[\"yield global\","
                           "\"yield local\"]}],\"tasks\":[\"a\",\"a\"],\"runnable\":[0,1],\"events\":[\"2 io 1\",\"5 "
                           "close\"]}";

static bool steps_per_second(bench *b, const rad_target *t, const char *policy_name, bool oracles)
{
    rad_rig rig;
    rad_policy *policy = NULL;
    rad_error error = {0};
    double samples[BENCH_SAMPLES];
    uint64_t runs = b->tiny ? 50 : 20000;
    if (rad__rig_open(&rig, t, &error) != 0) return false;
    if (rad__policy_create(&policy, policy_name, &error) != 0) return false;
    ((rad_exec_world *)rig.self)->oracles_off = !oracles;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        uint64_t steps = 0;
        double begin = bench_now();
        for (uint64_t run = 0; run < runs; run++) {
            rad_run_options o = rad__rig_options(&rig, policy);
            o.info.seed = 1;
            o.info.run = run;
            if (rad__kernel_run(rig.kernel, &o) != RAD_OUTCOME_FINISHED) return false;
            steps += rig.kernel->step;
        }
        samples[i] = (double)steps / (bench_now() - begin) / 1e6;
        bench_result(b, steps);
    }
    char what[64];
    snprintf(what, sizeof what, "executor's trial, %s, %s", policy_name, oracles ? "all oracles" : "no oracles");
    bench_row(b, what, "million steps/s", samples, bench_samples(b));
    rad__policy_destroy(policy);
    rad__rig_close(&rig);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"random", "pct:3", "first"};
    rad_target t = {.machine = &rad__machine_exec, .c = {.body = body}};
    bench b;
    bool ok = true;
    if (!bench_open(&b, "trial", argc, argv)) return 2;
    for (uint32_t i = 0; i < 3 && ok; i++)
        ok = steps_per_second(&b, &t, policies[i], true) && steps_per_second(&b, &t, policies[i], false);
    int status = bench_close(&b);
    return ok ? status : 3;
}
