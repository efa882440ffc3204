/* digests.c — prints the trace digest of every machine under every policy, three seeds each. Needs no
 * library but libc, so that it can be cross-compiled and run under an emulator (aarch64.sh). */
#include "lab/rig.h"

#include <stdio.h>
#include <string.h>

static int tell(const rad_machine *m, const char *policy_name, uint64_t seed, bool repaired)
{
    rad_target t;
    rad_error error = {0};
    rad_rig rig;
    rad_policy *policy = NULL;
    char digest[RAD_DIGEST_TEXT];
    if (rad_target_init(&t, m->name, &error) != 0) return 1;
    t.c.repaired = repaired;
    if (rad__rig_open(&rig, &t, &error) != 0) return 1;
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
        printf("%s%s %s %llu/%llu: %s %llu %016llx\n", m->name, repaired ? " repaired" : "",
               policy_name, (unsigned long long)seed, (unsigned long long)run, digest,
               (unsigned long long)rig.kernel->step, (unsigned long long)rig.kernel->set_roll);
    }
    rad__estimates_free(&known);
    rad__policy_destroy(policy);
    rad__rig_close(&rig);
    return 0;
}

int main(void)
{
    static const char *const policies[] = {"first", "random", "fair", "pct:3", "surw"};
    for (uint32_t i = 0; rad_machine_at(i) != NULL; i++)
        for (uint32_t p = 0; p < sizeof policies / sizeof *policies; p++)
            for (uint64_t seed = 1; seed <= 3; seed++)
                for (int repaired = 0; repaired < 2; repaired++) {
                    const rad_machine *m = rad_machine_at(i);
                    if (!repaired && strcmp(m->name, "crash") == 0) continue; /* ends the process */
                    if (tell(m, policies[p], seed, repaired) != 0) return 1;
                }
    return 0;
}
