/* digests.c — prints the trace digest of every machine under every policy, three seeds each, and of generated cases of
 * the executor. Is cross-compiled and run under an emulator (aarch64.sh). */
#include "lab/rig.h"

#include <stdio.h>
#include <string.h>

static int tell(const rad_target *t, const char *name, const char *policy_name, uint64_t seed)
{
    rad_error error = {0};
    rad_rig rig;
    rad_policy *policy = NULL;
    char digest[RAD_DIGEST_TEXT];
    if (rad__rig_open(&rig, t, &error) != 0) return 1;
    if (rad__policy_create(&policy, policy_name, &error) != 0) return 1;
    rad_estimates known = {0};
    rad_run_options options = rad__rig_options(&rig, policy);
    options.info.seed = seed;
    options.into = &known;
    for (uint64_t run = 0; run < 3; run++) { /* the later ones know what the first one taught */
        options.info.run = run;
        options.info.estimates = &known;
        rad_estimates learned = {0};
        options.into = &learned;
        rad__kernel_run(rig.kernel, &options);
        rad__estimates_fold(&known, &learned);
        rad__estimates_free(&learned);
        rad__digest_text(rig.kernel->trace.digest, digest);
        printf("%s%s %s %llu/%llu: %s %llu %016llx\n", name, t->c.repaired ? " repaired" : "", policy_name,
               (unsigned long long)seed, (unsigned long long)run, digest, (unsigned long long)rig.kernel->step,
               (unsigned long long)rig.kernel->set_roll);
    }
    rad__estimates_free(&known);
    rad__policy_destroy(policy);
    rad__rig_close(&rig);
    return 0;
}

static const char *const policies[] = {"first", "random", "fair", "pct:3", "surw"};
enum { POLICIES = sizeof policies / sizeof *policies };

static int tell_machine(const rad_machine *m, const char *policy)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int repaired = 0; repaired < 2; repaired++) {
            rad_target t;
            rad_error error = {0};
            if (!repaired && strcmp(m->name, "crash") == 0) continue; /* ends the process */
            if (rad_target_init(&t, m->name, &error) != 0) return 1;
            t.c.repaired = repaired;
            if (tell(&t, m->name, policy, seed) != 0) return 1;
        }
    return 0;
}

/* Small cases and large ones. */
static int tell_executor(uint64_t seed)
{
    rad_exec_bounds bounds = seed % 4 ? rad_exec_bounds_small() : rad_exec_bounds_stress();
    rad_target t;
    rad_error error = {0};
    char name[32];
    int trouble = 0;
    if (rad_exec_generate(seed, &bounds, &t, &error) != 0) return 1;
    snprintf(name, sizeof name, "exec-%llu", (unsigned long long)seed);
    for (uint32_t p = 0; p < POLICIES; p++) trouble |= tell(&t, name, policies[p], seed);
    rad_target_free(&t);
    return trouble;
}

int main(void)
{
    for (uint32_t i = 0; rad_machine_at(i) != NULL; i++)
        for (uint32_t p = 0; p < POLICIES && strncmp(rad_machine_at(i)->name, "l2-", 3) != 0; p++)
            if (tell_machine(rad_machine_at(i), policies[p]) != 0) return 1;
    for (uint64_t seed = 0; seed < 40; seed++)
        if (tell_executor(seed) != 0) return 1;
    return 0;
}
