/* realign.c — an old run in new code: tries the ways of realign.h and says what became of it. */
#include "lab/realign.h"

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/single_run.h"

#include <stdio.h>
#include <string.h>

const char *rad_realigned_text(enum rad_realigned answer)
{
    static const char *const words[] = {
        [RAD_REALIGNED_FAILS] = "still fails", [RAD_REALIGNED_OTHER] = "fails differently",
        [RAD_REALIGNED_GONE] = "gone",         [RAD_REALIGNED_PASSES] = "passes",
        [RAD_REALIGNED_DIVERGED] = "diverged", [RAD_REALIGNED_CUT] = "cut",
    };
    return (size_t)answer < sizeof words / sizeof *words ? words[answer] : "unknown";
}

void rad_realignment_free(rad_realignment *r)
{
    rad_artifact_free(r->artifact);
    r->artifact = NULL;
}

typedef struct realigner {
    const rad_artifact *old;
    const rad_target *target;
    rad_realign_options options;
    rad_realignment *best;
    rad_path *best_path; /* of its run; NULL: too long */
    bool ambiguous;      /* of the last attempt */
} realigner;

/* ---- One attempt ---------------------------------------------------------------------------------------- */

static bool is_done(const rad_realign_shared *s, uint32_t step)
{
    return s->steps[step] == RAD_STEP_FOUND || s->steps[step] == RAD_STEP_LATE;
}

/* No longer in the code: nobody can tell where it would have been. */
static bool is_removed(const realigner *x, const rad_realign_shared *s, uint32_t step)
{
    return !is_done(s, step) && x->options.vanished[x->options.recorded->steps[step].site];
}

/* A choice takes the turn from somebody, at a place of his, and gives it to somebody else. It was met if both were
 * there, or if the second could not run any more when he should have (his step came late). Steps that were removed are
 * passed over: the one before, or after it, of the same actor stands for it. */
static bool is_met(const realigner *x, const rad_realign_shared *s, uint32_t step)
{
    const rad_path_step *steps = x->options.recorded->steps;
    uint32_t to = step, from = step - 1;
    while (is_removed(x, s, to) && to + 1 < x->options.recorded->step_count && steps[to + 1].actor == steps[step].actor)
        to++;
    if (!is_done(s, to)) return false;
    if (step == 0 || s->steps[to] == RAD_STEP_LATE) return true;
    while (is_removed(x, s, from) && from > 0 && steps[from - 1].actor == steps[step - 1].actor) from--;
    return is_done(s, from) || is_removed(x, s, from);
}

static void count_steps(const realigner *x, const rad_realign_shared *s, rad_realignment *r)
{
    const rad_path *p = x->options.recorded;
    bool ends = rad__verdict_is_deadly(&r->actual); /* the deadly step is not seen to happen */
    for (uint32_t i = 0; i < p->step_count; i++) {
        r->found += is_done(s, i);
        r->late += s->steps[i] == RAD_STEP_LATE;
        r->lost += p->steps[i].chosen && !is_met(x, s, i);
    }
    for (uint32_t i = 0; i < p->pick_count; i++) r->lost += p->picks[i].value != 0 && !s->picks[i];
    if (ends && rad__verdict_is_deadly(&x->old->expected) && r->found + 1 == p->step_count) r->found++;
    r->recorded = p->step_count;
    r->missing = r->recorded - r->found;
}

static void describe(const rad_realign_shared *s, rad_realignment *r)
{
    r->added = s->added;
    r->renamed = s->renamed;
    r->divergences = s->divergences;
    r->diverged_at = s->diverged_at;
    r->again = s->again;
    r->again_at = s->again_at;
    r->again_recorded = s->again_step;
    snprintf(r->because, sizeof r->because, "%s", s->because);
    snprintf(r->again_as, sizeof r->again_as, "%s", s->again_as);
}

/* An assertion "TEXT in FUNCTION" is the same under another name of the function. */
static bool is_failure_of(const char *then, const char *now)
{
    static const char kind[] = "assertion@";
    size_t length = 0;
    for (const char *in = then; (in = strstr(in, " in ")) != NULL; in++) length = (size_t)(in - then) + 4;
    if (rad__identity_is(then, now)) return true;
    return length > 0 && strncmp(then, kind, sizeof kind - 1) == 0 && strncmp(then, now, length) == 0;
}

static enum rad_realigned judge(const rad_artifact *old, const rad_verdict *now, uint64_t lost)
{
    const rad_verdict *then = &old->expected;
    if (now->result == RAD_RESULT_FAILURE) {
        bool same =
            old->expects_failure && strcmp(then->kind, now->kind) == 0 && is_failure_of(then->identity, now->identity);
        return same ? RAD_REALIGNED_FAILS : RAD_REALIGNED_OTHER;
    }
    if (now->result == RAD_RESULT_CUT) return then->result == RAD_RESULT_CUT ? RAD_REALIGNED_PASSES : RAD_REALIGNED_CUT;
    if (lost > 0) return RAD_REALIGNED_DIVERGED;
    return old->expects_failure ? RAD_REALIGNED_GONE : RAD_REALIGNED_PASSES;
}

static bool is_better(const realigner *x, const rad_realignment *a, const rad_realignment *b)
{
    bool fails = a->answer == RAD_REALIGNED_FAILS, failed = b->answer == RAD_REALIGNED_FAILS;
    if (!x->old->expects_failure) { /* a failure is news, whichever it is */
        fails = a->answer == RAD_REALIGNED_OTHER;
        failed = b->answer == RAD_REALIGNED_OTHER;
    }
    if (fails != failed) return fails;
    if (a->lost != b->lost) return a->lost < b->lost;
    return a->found != b->found ? a->found > b->found : a->added < b->added;
}

/* Takes *r and *path, or frees them. */
static void keep_best(realigner *x, rad_realignment *r, rad_path *path)
{
    bool first = x->best->artifact == NULL;
    if (first || is_better(x, r, x->best)) {
        rad_realignment_free(x->best);
        rad__path_free(x->best_path);
        *x->best = *r;
        x->best_path = path;
        return;
    }
    rad_realignment_free(r);
    rad__path_free(path);
}

static int make_artifact(const realigner *x, const rad_rig *rig, rad_realignment *r, rad_error *error)
{
    return rad__artifact_of_choices(&r->artifact, x->target, "realign", x->old->seed, rig->choices, r->actual.decisions,
                                    &r->actual, error);
}

static int attempt_run(realigner *x, rad_single_run *t, rad_error *error)
{
    rad_realignment r = {.answer = RAD_REALIGNED_DIVERGED};
    rad_path *path = NULL;
    rad__artifact_limits(x->old, &t->rig);
    int code = rad__single_run_do(t, &r.actual, error);
    if (code == 0) code = make_artifact(x, &t->rig, &r, error);
    if (code != 0) return code;
    const rad_realign_shared *s = rad__realign_shared(t->policy);
    const rad_path_shared *run = rad__realign_path(t->policy);
    count_steps(x, s, &r);
    describe(s, &r);
    r.answer = judge(x->old, &r.actual, r.lost);
    x->ambiguous = s->ambiguous;
    if (!run->full) code = rad__path_copy(&path, &run->path, error);
    if (code != 0)
        rad_realignment_free(&r);
    else
        keep_best(x, &r, path);
    return code;
}

static int attempt(realigner *x, rad_error *error)
{
    rad_single_run t = {.seed = x->old->seed};
    rad__watch_begin(&t.watch, x->target->c.hang_ms / 1e3, NULL);
    int code = rad__policy_realign(&t.policy, &x->options, error);
    if (code != 0) return code;
    code = rad__rig_open(&t.rig, x->target, error);
    if (code == 0) {
        code = attempt_run(x, &t, error);
        rad__rig_close(&t.rig);
    }
    rad__policy_destroy(t.policy);
    return code;
}

/* ---- All of them ----------------------------------------------------------------------------------------- */

static bool is_settled(const realigner *x)
{
    const rad_realignment *r = x->best;
    return r->answer == RAD_REALIGNED_FAILS || (r->divergences == 0 && r->lost == 0);
}

static int attempt_planned(realigner *x, const rad_path *run, bool late, rad_error *error)
{
    rad_realign_plan plan;
    int code = rad__realign_plan(&plan, &x->options, run, late, error);
    if (code != 0) return code;
    x->options.plan = &plan;
    code = attempt(x, error);
    x->options.plan = NULL;
    rad__realign_plan_free(&plan);
    return code;
}

static int attempts_of(realigner *x, rad_error *error)
{
    int code = attempt(x, error);
    if (code == 0 && !is_settled(x) && x->ambiguous) {
        x->options.inserts = true;
        code = attempt(x, error);
    }
    if (code != 0 || is_settled(x) || x->best_path == NULL) return code;
    rad_path *run = NULL; /* the best one may change while a plan is followed */
    code = rad__path_copy(&run, x->best_path, error);
    for (int i = 0; i < 2 && code == 0 && !is_settled(x); i++) {
        x->options.inserts = i == 1;
        code = attempt_planned(x, run, i == 1, error);
    }
    rad__path_free(run);
    return code;
}

static bool has_names(const rad_path *p)
{
    for (uint32_t i = 0; i < p->object_count; i++)
        if (strstr(p->objects[i], RAD_PATH_NAMED)) return true;
    return false;
}

/* An object may have another name since. So where names part what was one, they are not looked at; but only the
 * recorded failure itself is worth more then than what came out with names. */
static int attempts(realigner *x, rad_error *error)
{
    x->options.by_name = has_names(x->options.recorded);
    int code = attempts_of(x, error);
    if (code != 0 || !x->options.by_name || is_settled(x)) return code;
    rad_realignment named = *x->best;
    rad_path *path = x->best_path;
    *x->best = (rad_realignment){.artifact = NULL};
    x->best_path = NULL;
    x->options.by_name = x->options.inserts = false;
    code = attempts_of(x, error);
    if (code == 0 && x->best->answer == RAD_REALIGNED_FAILS) {
        rad_realignment_free(&named);
        rad__path_free(path);
        return 0;
    }
    rad_realignment_free(x->best);
    rad__path_free(x->best_path);
    *x->best = named;
    x->best_path = path;
    return code;
}

/* Which recorded sites the machine has no more. An instance of it knows. */
static int look_at_sites(realigner *x, bool *vanished, rad_error *error)
{
    rad_rig rig;
    int code = rad__rig_open(&rig, x->target, error);
    if (code != 0) return code;
    for (uint32_t i = 0; i < x->options.recorded->site_count; i++)
        vanished[i] = !rad__path_site_exists(rig.kernel, x->options.recorded->sites[i]);
    rad__rig_close(&rig);
    return 0;
}

static int realign(realigner *x, rad_error *error)
{
    bool *vanished = rad__alloc(x->options.recorded->site_count, sizeof *vanished);
    if (vanished == NULL) return rad__error_memory(error);
    x->options.vanished = vanished;
    int code = look_at_sites(x, vanished, error);
    if (code == 0) code = attempts(x, error);
    rad__path_free(x->best_path);
    rad__free(vanished);
    return code;
}

/* The plain list of choices, in the place of the best attempt: as recorded, or failing where that does not. */
static int use_list(const realigner *x, const rad_replay *now, rad_error *error)
{
    rad_realignment *r = x->best;
    rad_artifact *a = NULL;
    rad_choice *choices = rad__alloc(x->old->choice_count, sizeof *choices);
    if (choices == NULL) return rad__error_memory(error);
    for (uint64_t i = 0; i < x->old->choice_count; i++) choices[i].chosen = x->old->choices[i];
    int code = rad__artifact_of_choices(&a, x->target, x->old->policy, x->old->seed, choices, x->old->choice_count,
                                        &now->actual, error);
    rad__free(choices);
    if (code != 0) return code;
    rad_realignment_free(r);
    r->artifact = a;
    r->actual = now->actual;
    r->by_list = !now->as_recorded;
    r->answer = judge(x->old, &now->actual, 0);
    return 0;
}

static int no_path(rad_error *error)
{
    return rad__error(error, RAD_EINPUT,
                      "the artifact has no path (it was written by an earlier version, or its run is too long), "
                      "and its "
                      "choices do not give the recorded run any more: realign it with a build that still does, "
                      "'raddle replay FILE --realign --output NEW', and take NEW from then on");
}

int rad_lab_realign(const rad_artifact *a, const rad_target *other, rad_realignment *out, rad_error *error)
{
    const rad_path *path = a->path->path;
    rad_path *traced = NULL;
    rad_replay now;
    *out = (rad_realignment){.answer = RAD_REALIGNED_DIVERGED};
    rad__error_clear(error);
    rad_target target = other ? *other : a->target;
    target.c.spin_rounds = a->target.c.spin_rounds; /* the rules that its run kept to */
    target.c.hang_ms = a->target.c.hang_ms;
    realigner x = {.old = a, .target = &target, .best = out};
    int code = rad_lab_replay(a, other, &now, error);
    if (code == 0 && path == NULL) code = rad__path_of(a, &traced, error);
    if (code != 0) return code;
    x.options.recorded = path ? path : traced;
    if (now.as_recorded) {
        code = use_list(&x, &now, error);
        out->as_recorded = true;
        out->recorded = out->found = x.options.recorded ? x.options.recorded->step_count : a->expected.steps;
    } else if (x.options.recorded == NULL) {
        code = no_path(error);
    } else {
        code = realign(&x, error);
        bool still = out->answer == RAD_REALIGNED_FAILS;
        if (code == 0 && !still && now.same_failure) code = use_list(&x, &now, error);
    }
    rad__path_free(traced);
    if (code != 0) rad_realignment_free(out);
    return code;
}
