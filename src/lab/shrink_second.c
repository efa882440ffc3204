/* shrink_second.c — other failures met while shrinking one.
 *
 * A candidate may fail in another way. Often the candidate itself is at fault: a case of which half was left out does
 * not keep promises that the whole one keeps. So each new identity is noted with its choices, and when shrinking has
 * ended these choices are run on the original case. The first noted one that fails there, too, in the same way, is the
 * second bug; its artifact is of that run. The others are dropped. */
#include "lab/shrink.h"

#include "base/alloc.h"

#include <string.h>

void rad__shrink_note(rad_shrinker *s, rad_batch_finding *f)
{
    for (uint32_t i = 0; i < s->other_count; i++)
        if (strcmp(s->others[i].verdict.identity, f->verdict.identity) == 0) return;
    if (s->other_count == RAD_OTHERS_MAX) return;
    s->others[s->other_count++] = *f;
    *f = (rad_batch_finding){0}; /* it is the list's now */
}

void rad__shrink_forget(rad_shrinker *s)
{
    for (uint32_t i = 0; i < s->other_count; i++) rad__finding_free(&s->others[i]);
    s->other_count = 0;
}

/* Runs the choices of one on the original case; *second is its artifact if the identity is the same. */
static void second_try(rad_shrinker *s, const rad_target *original, const rad_batch_finding *f, rad_artifact **second)
{
    rad_batch u = {.kind = RAD_BATCH_TREE, .count = 1, .path = f->choices, .path_count = f->choice_count};
    u.races_go_on = true;
    memcpy(u.ends_at, f->verdict.identity, sizeof u.ends_at);
    rad_batch_result r = {0};
    if (!rad__shrink_run(s, original, &u, &r)) return;
    for (uint64_t i = 0; i < r.finding_count && *second == NULL; i++) {
        const rad_batch_finding *now = &r.findings[i];
        if (strcmp(now->verdict.identity, f->verdict.identity) == 0)
            rad__artifact_of_choices(second, original, "shrink", 0, now->choices, now->choice_count, &now->verdict,
                                     s->error);
        if (*second) (*second)->path->known = s->unfair;
    }
    rad__batch_result_free(&r);
}

rad_artifact *rad__shrink_second(rad_shrinker *s, const rad_target *original)
{
    rad_artifact *second = NULL;
    for (uint32_t i = 0; i < s->other_count && second == NULL && s->error->code == 0; i++)
        second_try(s, original, &s->others[i], &second);
    return second;
}
