/* artifact.c — an artifact in memory: made from a run, looked at, freed. Its text is made in
 * artifact_write.c and read in artifact_read.c. */
#include "lab/artifact.h"

#include "base/alloc.h"
#include "lab/case.h"
#include "lab/program.h"

#include <stdio.h>
#include <string.h>

/* ---- Looking -------------------------------------------------------------------------------------- */

const rad_target *rad_artifact_target(const rad_artifact *a)
{
    return &a->target;
}

const rad_lab_program *rad_artifact_program(const rad_artifact *a)
{
    return a->program.path[0] ? &a->program : NULL;
}

const char *rad_artifact_policy(const rad_artifact *a)
{
    return a->policy;
}

uint64_t rad_artifact_seed(const rad_artifact *a)
{
    return a->seed;
}

bool rad_artifact_expects_failure(const rad_artifact *a)
{
    return a->expects_failure;
}

const rad_verdict *rad_artifact_verdict(const rad_artifact *a)
{
    return &a->expected;
}

uint64_t rad_artifact_choice_count(const rad_artifact *a)
{
    return a->choice_count;
}

void rad_artifact_free(rad_artifact *a)
{
    if (a != NULL) {
        rad_target_free(&a->target);
        rad__free(a->choices);
        rad__free(a->set_hashes);
        if (a->path) {
            rad__path_free(a->path->path);
            rad__free(a->path);
        }
        rad__free(a);
    }
}

void rad_free(void *p)
{
    rad__free(p);
}

const rad_path *rad__artifact_path(const rad_artifact *a)
{
    rad_error error = {0}; /* whatever it is: a file without a path is better than none */
    if (!a->path->known) a->path->known = rad__path_of(a, &a->path->path, &error) == 0;
    return a->path->path;
}

bool rad__artifact_is_round(const rad_artifact *a)
{
    uint64_t limit = a->target.c.max_steps ? a->target.c.max_steps : RAD_MAX_STEPS;
    return a->expects_failure && strcmp(a->expected.identity, "livelock") == 0 && a->expected.failure_step == limit;
}

/* ---- Making --------------------------------------------------------------------------------------- */

int rad__artifact_of_choices(rad_artifact **out, const rad_target *t, const char *policy, uint64_t seed,
                             const rad_choice *choices, uint64_t count, const rad_verdict *expected, rad_error *error)
{
    RAD_ASSERT(count <= RAD_CHOICES_MAX);
    *out = NULL;
    int code = rad__json_seed(seed, error);
    if (code != 0) return code;
    while (count > 0 && choices[count - 1].chosen == 0) count--; /* the baseline comes by itself */
    rad_target own;
    if ((code = rad__target_copy(&own, t, error)) != 0) return code;
    rad_artifact *a = rad__alloc(1, sizeof *a);
    rad_artifact_path *path = rad__alloc(1, sizeof *path);
    uint32_t *chosen = rad__alloc(count, sizeof *chosen);
    if (a == NULL || path == NULL || chosen == NULL) {
        rad_target_free(&own);
        rad__free(a);
        rad__free(path);
        rad__free(chosen);
        return rad__error_memory(error);
    }
    for (uint64_t i = 0; i < count; i++) chosen[i] = choices[i].chosen;
    a->target = own;
    a->seed = seed;
    a->choices = chosen;
    a->path = path;
    a->choice_count = count;
    a->expected = *expected;
    a->expects_failure = expected->result == RAD_RESULT_FAILURE;
    snprintf(a->policy, sizeof a->policy, "%s", policy);
    snprintf(a->version, sizeof a->version, "%s", rad_version());
    snprintf(a->git_sha, sizeof a->git_sha, "%s", rad_build_git_sha());
    snprintf(a->compiler, sizeof a->compiler, "%s", rad_build_compiler());
    rad__program_of_machine(t->machine, &a->program);
    rad__text_clean(a->expected.kind);
    rad__text_clean(a->expected.message);
    rad__text_clean(a->expected.identity);
    rad__text_clean(a->policy);
    if (a->expected.trace_hash[0] == 0)
        memset(a->expected.trace_hash, '0', RAD_DIGEST_TEXT - 1); /* nobody could compute it */
    *out = a;
    return 0;
}

int rad__artifact_of_run(rad_artifact **out, const rad_target *t, const char *policy, uint64_t seed,
                         const rad_kernel *k, rad_error *error)
{
    RAD_ASSERT(k->outcome == RAD_OUTCOME_FINISHED || k->outcome == RAD_OUTCOME_FAILED || k->outcome == RAD_OUTCOME_CUT);
    rad_verdict v;
    rad_artifact *a;
    *out = NULL;
    rad__verdict_of(k, &v);
    int code = rad__artifact_of_choices(&a, t, policy, seed, k->choices.items, k->decisions, &v, error);
    if (code != 0) return code;
    uint32_t count = k->set_hash_count + (k->decisions % RAD_SET_HASH_EVERY != 0);
    a->set_hashes = rad__alloc(count, sizeof *a->set_hashes);
    if (a->set_hashes == NULL) {
        rad_artifact_free(a);
        return rad__error_memory(error);
    }
    if (k->set_hash_count) memcpy(a->set_hashes, k->set_hashes, k->set_hash_count * sizeof *a->set_hashes);
    if (count > k->set_hash_count) a->set_hashes[count - 1] = k->set_roll;
    a->set_hash_count = count;
    *out = a;
    return 0;
}
