#include "lab/shrink.h"

#include "base/alloc.h"
#include "os/clock.h"

#include <stdio.h>
#include <string.h>

enum { CHECKS_DEFAULT = 20000, CERTIFY_DEFAULT = 200000, CERTIFY_BOUND = 1000 };

#define TELL_SECONDS 0.1

uint64_t rad__case_size(const rad_target *t)
{
    rad_case c = rad__case_of(t);
    if (t->machine->size) return t->machine->size(&c);
    uint64_t size = c.body ? strlen(c.body) : 0;
    const rad_param *p = t->machine->params;
    for (uint32_t i = 0; p && p[i].name; i++)
        if (!p[i].fixed) size += (uint64_t)(t->c.params[i] - p[i].min);
    return size;
}

static bool is_interrupted(const rad_shrinker *s)
{
    return s->options->interrupted && *s->options->interrupted;
}

/* Runs and steps first: what they end is the same on every computer. */
bool rad__shrink_goes_on(rad_shrinker *s)
{
    if (s->stopped != RAD_BUDGET_NONE || s->error->code != 0 || is_interrupted(s)) return false;
    if (s->checks >= s->checks_max)
        s->stopped = RAD_BUDGET_RUNS;
    else if (s->steps >= s->steps_max)
        s->stopped = RAD_BUDGET_STEPS;
    else if (s->seconds > 0 && rad__os_now_seconds() - s->started > s->seconds)
        s->stopped = RAD_BUDGET_TIME;
    return s->stopped == RAD_BUDGET_NONE;
}

static void shrink_tell(rad_shrinker *s, const char *stage)
{
    const rad_shrink_options *o = s->options;
    s->stage = stage;
    s->told = rad__os_now_seconds();
    if (o->progress) o->progress(o->context, stage, s->checks, &s->measure);
}

/* Several times a second, for people. */
static void shrink_tell_again(rad_shrinker *s)
{
    if (s->stage && rad__os_now_seconds() - s->told > TELL_SECONDS) shrink_tell(s, s->stage);
}

/* ---- Taking what is better ------------------------------------------------------------------------- */

static void measure_of(const rad_target *t, const rad_batch_finding *f, rad_measure *m, uint64_t *sum)
{
    *m = (rad_measure){.case_size = rad__case_size(t), .switches = f->switches, .steps = f->verdict.steps};
    *sum = 0;
    for (uint64_t i = 0; i < f->choice_count; i++) {
        const rad_choice *c = &f->choices[i];
        *sum += c->chosen;
        m->nonzero += c->chosen != 0;
        m->preemptions += rad__tree_cost(RAD_BOUND_PREEMPTIONS, c, c->chosen);
        if (c->chosen != 0) m->choices = i + 1; /* trailing zeros are the baseline */
    }
}

static bool measure_less(const rad_measure *a, uint64_t a_sum, const rad_measure *b, uint64_t b_sum)
{
    const uint64_t left[] = {a->case_size, a->preemptions, a->switches, a->nonzero, a_sum, a->choices, a->steps};
    const uint64_t right[] = {b->case_size, b->preemptions, b->switches, b->nonzero, b_sum, b->choices, b->steps};
    for (uint32_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i]) return left[i] < right[i];
    return false;
}

void rad__finding_free(rad_batch_finding *f)
{
    rad__free(f->choices);
    rad__free(f->set_hashes);
    *f = (rad_batch_finding){0};
}

/* Takes the finding over when it is the same failure and less; the caller still frees what it gave. */
static bool shrink_consider(rad_shrinker *s, const rad_target *t, rad_batch_finding *f)
{
    bool first = s->best.choices == NULL;
    if (!first && strcmp(f->verdict.identity, s->best.verdict.identity) != 0) {
        rad__shrink_note(s, f);
        return false;
    }
    rad_measure m;
    uint64_t sum;
    measure_of(t, f, &m, &sum);
    if (!first && !measure_less(&m, sum, &s->measure, s->sum)) return false;
    if (t->c.body != s->target.c.body) {
        rad_target own;
        if (rad__target_copy(&own, t, s->error) != 0) return false;
        rad_target_free(&s->target);
        s->target = own;
    } else {
        s->target = *t;
    }
    rad__finding_free(&s->best);
    s->best = *f;
    *f = (rad_batch_finding){0};
    s->recorded = false;
    s->measure = m;
    s->sum = sum;
    return true;
}

/* ---- Trying ---------------------------------------------------------------------------------------- */

static bool shrink_workers(rad_shrinker *s, const rad_target *t)
{
    rad_digest wanted = rad__case_digest(t);
    if (rad__digest_equal(s->workers_case, wanted)) return s->workers != NULL;
    rad__workers_close(s->workers);
    s->workers = NULL;
    s->workers_case = wanted;
    rad_error own = {0};
    int code =
        rad__workers_open(&s->workers, t, 1, s->options->hang_seconds, s->options->suppressed, RAD_WORKERS_USUAL, &own);
    bool refused = code == RAD_EINPUT && s->best.choices; /* a reducer's case without sense */
    if (code != 0 && !refused) rad__error(s->error, code, "%s", own.text);
    return code == 0;
}

/* What a run left whose process died, as the result of a batch. */
static bool shrink_death(rad_shrinker *s, const rad_workers_answer *a, rad_batch_result *out)
{
    *out = (rad_batch_result){.runs = 1, .failures = 1, .steps = a->verdict.steps};
    rad_choice *choices = rad__alloc(a->choice_count, sizeof *choices);
    rad_batch_finding *f = choices ? rad__batch_finding_add(out) : NULL;
    if (f == NULL) {
        rad__free(choices);
        rad__error_memory(s->error);
        return false;
    }
    if (a->choice_count) memcpy(choices, a->choices, a->choice_count * sizeof *choices);
    *f = (rad_batch_finding){.verdict = a->verdict, .choices = choices, .choice_count = a->choice_count};
    return true;
}

bool rad__shrink_run(rad_shrinker *s, const rad_target *t, const rad_batch *u, rad_batch_result *out)
{
    rad_workers_answer a = {0};
    *out = (rad_batch_result){0};
    rad_batch batch = *u;
    batch.round = s->round;
    batch.unfair = s->unfair;
    batch.spin_rounds = t->c.spin_rounds;
    const char *ends_at = s->best.choices ? s->best.verdict.identity : s->ends_at;
    if (!batch.races_go_on && ends_at) { /* other races are not what is looked for */
        batch.races_go_on = true;
        snprintf(batch.ends_at, sizeof batch.ends_at, "%s", ends_at);
    }
    if (s->steps < s->steps_max) batch.steps_max = s->steps_max - s->steps;
    if (!shrink_workers(s, t) || rad__workers_start(s->workers, &batch, s, s->error) != 0) return false;
    while (a.ticket == NULL) {
        if (rad__workers_wait(s->workers, 100, &a, s->error) != 0) return false;
        if (a.ticket == NULL && is_interrupted(s)) { /* what was found so far is the answer */
            rad__workers_close(s->workers);
            s->workers = NULL;
            return false;
        }
        shrink_tell_again(s);
    }
    if (a.died) return shrink_death(s, &a, out);
    *out = a.result;
    if (out->error.code != 0) rad__error(s->error, out->error.code, "%s", out->error.text);
    return true;
}

bool rad__shrink_try(rad_shrinker *s, const rad_target *t, const rad_batch *u)
{
    rad_batch_result r;
    bool better = false;
    s->ran = 0;
    if (!rad__shrink_goes_on(s) || !rad__shrink_run(s, t, u, &r)) return false;
    s->checks += r.runs;
    s->steps += r.steps;
    if (r.finding_count == 0) s->ran = r.runs;
    shrink_tell_again(s);
    for (uint64_t i = 0; i < r.finding_count && s->best.choices == NULL; i++) /* what the file is about first */
        if (s->ends_at && rad__identity_is(s->ends_at, r.findings[i].verdict.identity))
            better |= shrink_consider(s, t, &r.findings[i]);
    for (uint64_t i = 0; i < r.finding_count; i++)
        if (r.findings[i].choices) better |= shrink_consider(s, t, &r.findings[i]);
    rad__batch_result_free(&r);
    return better;
}

bool rad__shrink_try_list(rad_shrinker *s, const rad_choice *list, uint64_t count)
{
    rad_batch u = {.kind = RAD_BATCH_TREE, .count = 1, .path = (rad_choice *)list, .path_count = count};
    rad_target t = s->target;
    return rad__shrink_try(s, &t, &u);
}

/* Runs the best list here, in this process: it is known to fail, not to crash. */
bool rad__shrink_record(rad_shrinker *s)
{
    const char *kind = s->best.verdict.kind;
    if (s->recorded) return true;
    if (strcmp(kind, "crash") == 0 || strcmp(kind, "hang") == 0) return false;
    rad_rig rig;
    if (rad__rig_open(&rig, &s->target, s->error) != 0) return false;
    if (s->round) rig.limit = RAD_LIMIT_ROUND;
    rig.unfair = s->unfair;
    rig.ends_at = s->best.verdict.identity;
    rad__rig_follow(&rig, s->best.choices, s->measure.choices, false, &s->recorder.observer);
    rad__rig_close(&rig);
    if (s->recorder.failed) rad__error_memory(s->error);
    s->recorded = !s->recorder.failed;
    return s->recorded;
}

/* ---- The pipeline ---------------------------------------------------------------------------------- */

/* Round after round until nothing gets smaller any more. */
static void shrink_rounds(rad_shrinker *s)
{
    rad_measure before;
    uint64_t sum;
    do {
        before = s->measure;
        sum = s->sum;
        shrink_tell(s, "case"); /* first: everything after it is cheaper in a smaller case */
        rad__shrink_case(s);
        shrink_tell(s, "choices");
        rad__shrink_list(s);
        shrink_tell(s, "order");
        rad__shrink_order(s);
    } while (rad__shrink_goes_on(s) && measure_less(&s->measure, s->sum, &before, sum));
}

static void certify_progress(void *context, const rad_progress *p)
{
    rad_shrinker *s = context;
    const rad_shrink_options *o = s->options;
    if (o->progress) o->progress(o->context, "certificate", s->checks + p->runs, &s->measure);
}

static double certify_seconds_left(const rad_shrinker *s)
{
    if (s->seconds == 0) return 0;
    return s->seconds > s->certify_seconds ? s->seconds - s->certify_seconds : 0.001;
}

/* Why the search for the certificate proves nothing, or NONE. */
static enum rad_budget certify_ended(const rad_exploration *found, const char *strategy)
{
    const rad_phase *last = found->phase_count ? &found->phases[found->phase_count - 1] : NULL;
    if (found->out_of_time) return RAD_BUDGET_TIME;
    if (found->out_of_steps) return RAD_BUDGET_STEPS;
    /* The budget may have ended exactly where a lower bound did: that proves nothing. */
    bool whole = found->complete || (last && last->exhausted && strcmp(last->name, strategy) == 0);
    return whole ? RAD_BUDGET_NONE : RAD_BUDGET_RUNS;
}

/* The failure, if it is among what was found, becomes the next candidate. */
static bool certify_failed(rad_shrinker *s, const rad_exploration *found, rad_shrink_report *report)
{
    bool better = false;
    for (uint32_t i = 0; i < found->finding_count && !better; i++) {
        const rad_artifact *a = found->findings[i].artifact;
        if (strcmp(a->expected.identity, s->best.verdict.identity) != 0) continue;
        report->certificate = RAD_NOT_CERTIFIED;
        if (!RAD_GROW(&s->draft, &s->draft_capacity, (uint32_t)a->choice_count + 1)) break;
        for (uint64_t c = 0; c < a->choice_count; c++) s->draft[c] = (rad_choice){.chosen = a->choices[c]};
        better = rad__shrink_try_list(s, s->draft, a->choice_count);
    }
    return better;
}

/* Everything with one preemption fewer. True when that found a smaller failure: go on from there. */
static bool shrink_certify(rad_shrinker *s, rad_shrink_report *report)
{
    report->certificate = RAD_MINIMAL;
    report->certificate_ended = RAD_BUDGET_NONE; /* what an earlier round found says nothing of this run */
    report->certified_runs = report->certified_cut = report->certified_held = 0;
    if (s->measure.preemptions == 0) return false;
    if (s->measure.preemptions > CERTIFY_BOUND) {
        report->certificate = RAD_NOT_CERTIFIED;
        report->certificate_ended = RAD_BUDGET_RUNS;
        return false;
    }
    rad_exploration found;
    char strategy[32];
    snprintf(strategy, sizeof strategy, "preempt:%llu", (unsigned long long)(s->measure.preemptions - 1));
    shrink_tell(s, "certificate");
    rad_explore_options o = {
        .strategy = strategy,
        .runs = s->options->certify_runs ? s->options->certify_runs : CERTIFY_DEFAULT,
        .steps = s->steps_max > s->certify_steps ? s->steps_max - s->certify_steps : 1,
        .seconds = certify_seconds_left(s),
        .progress = certify_progress,
        .context = s,
        .interrupted = s->options->interrupted,
        .hang_seconds = s->options->hang_seconds,
        .suppressed = s->options->suppressed,
        .seed = 1,
    };
    if (rad_lab_explore(&s->target, &o, &found, s->error) != 0) return false;
    s->started += found.elapsed; /* the reducers have a budget of their own */
    s->certify_seconds += found.elapsed;
    s->certify_steps += found.steps;
    report->certified_runs = found.runs;
    report->certified_cut = found.cut;
    report->certified_held = found.held;
    report->certificate_ended = certify_ended(&found, strategy);
    /* A run that was cut may fail later; one of the failures that did not fit into the table may have been this one. */
    if (report->certificate_ended != RAD_BUDGET_NONE || found.cut > 0 || found.findings_dropped || found.interrupted)
        report->certificate = RAD_NOT_CERTIFIED;
    bool better = certify_failed(s, &found, report);
    rad_exploration_free(&found);
    return better;
}

static int shrink_artifact(rad_shrinker *s, const rad_artifact *from, rad_artifact **out)
{
    rad_batch_finding *f = &s->best;
    int code = rad__artifact_of_choices(out, &s->target, from->policy, from->seed, f->choices, f->choice_count,
                                        &f->verdict, s->error);
    if (code == 0) (*out)->path->known = s->unfair;      /* it has none, as the file */
    if (code != 0 || f->set_hashes == NULL) return code; /* a run that died left none */
    code = rad__artifact_set_hashes(*out, f->set_hashes, f->set_hash_count, f->set_roll, f->choice_count, s->error);
    if (code != 0) {
        rad_artifact_free(*out);
        *out = NULL;
    }
    return code;
}

static int shrink_start(rad_shrinker *s, const rad_artifact *a)
{
    rad_replay now;
    bool old = a->path->known && a->path->path == NULL;
    if (old && rad__replay(a, NULL, &now, &s->unfair, s->error) != 0) return s->error->code;
    if (!RAD_GROW(&s->draft, &s->draft_capacity, (uint32_t)a->choice_count + 1)) return rad__error_memory(s->error);
    for (uint64_t i = 0; i < a->choice_count; i++) s->draft[i] = (rad_choice){.chosen = a->choices[i]};
    rad__shrink_try_list(s, s->draft, a->choice_count);
    if (s->error->code != 0) return s->error->code;
    if (s->best.choices == NULL && is_interrupted(s)) return rad__error(s->error, RAD_EINTERRUPTED, "interrupted");
    if (s->best.choices == NULL)
        return rad__error(s->error, RAD_EINPUT, "nothing to shrink: the run does not fail (any more)");
    if (a->expects_failure && !rad__identity_is(a->expected.identity, s->best.verdict.identity))
        return rad__error(s->error, RAD_EINPUT,
                          "the run fails differently from what the file says: '%s' instead of '%s'",
                          s->best.verdict.identity, a->expected.identity);
    return 0;
}

int rad_lab_shrink(const rad_artifact *a, const rad_shrink_options *o, rad_artifact **out, rad_shrink_report *report,
                   rad_error *error)
{
    const rad_shrink_options defaults = {0};
    if (o == NULL) o = &defaults;
    rad_shrinker s = {.options = o, .error = error, .round = rad__artifact_is_round(a)};
    if (a->expects_failure) s.ends_at = a->expected.identity;
    s.checks_max = o->checks ? o->checks : CHECKS_DEFAULT;
    s.steps_max = o->steps ? o->steps : RAD_STEPS_DEFAULT;
    *out = NULL;
    *report = (rad_shrink_report){0};
    rad__error_clear(error);
    rad__recorder_open(&s.recorder);
    int code = rad__target_copy(&s.target, &a->target, error);
    if (code == 0) code = shrink_start(&s, a);
    const double began = s.started = rad__os_now_seconds(); /* from here on: one run is made in any case */
    s.seconds = o->seconds > 0 ? o->seconds : o->seconds < 0 ? 0 : RAD_SHRINK_SECONDS;
    report->before = s.measure;
    if (code == 0) {
        do {
            shrink_rounds(&s);
        } while (error->code == 0 && shrink_certify(&s, report));
        code = error->code;
    }
    if (code == 0) code = shrink_artifact(&s, a, out);
    report->after = s.measure;
    report->checks = s.checks;
    report->steps = s.steps;
    report->stopped = s.stopped;
    report->elapsed = rad__os_now_seconds() - began;
    if (code == 0) report->second = rad__shrink_second(&s, &a->target);
    if (code == 0 && error->code != 0) {
        rad_artifact_free(*out);
        *out = NULL;
        code = error->code;
    }
    rad__shrink_forget(&s);
    rad__workers_close(s.workers);
    rad__recorder_close(&s.recorder);
    rad__set128_free(&s.searched);
    rad_target_free(&s.target);
    rad__finding_free(&s.best);
    rad__free(s.draft);
    return code;
}
