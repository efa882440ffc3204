/* single_run.c — single runs: record one, replay one. Each runs in a process of its own, so that a machine
 * that dies is a verdict and not the end of us. */
#include "lab/single_run.h"
#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/case.h"
#include "lab/log_value.h"
#include "lab/program.h"
#include "lab/programs/under_test.h"
#include "lab/workers.h"
#include "os/process.h"
#include "os/shared.h"
#include "os/signal.h"

#include <stdio.h>
#include <string.h>

/* ---- A run in a child ------------------------------------------------------------------------------ */

/* Shared between the two processes. */
typedef struct rad_single_run_answer {
    volatile bool done;
    int code;
    rad_error error;
    rad_verdict verdict;
    char report[16 << 10]; /* what diverged, in full: policy_replay.c shows 60 names at most */
} rad_single_run_answer;

static void single_run_run(rad_single_run *t)
{
    rad_single_run_answer *a = t->answer;
    rad_kernel *k = t->rig.kernel;
    rad_run_options options = rad__rig_options(&t->rig, t->policy);
    options.info.seed = t->seed;
    uint32_t observers = 0;
    for (uint32_t i = 0; i < 2; i++)
        if (t->logs[i]) options.observers[observers++] = rad__log_observer(t->logs[i]);
    rad__kernel_run(k, &options);
    if (k->outcome == RAD_OUTCOME_ERROR) {
        a->code = rad__error(&a->error, k->error.code, "%s", k->error.text);
    } else {
        rad__verdict_of(k, &a->verdict);
        const char *report = t->policy->class == &rad__replay_class ? rad__replay_report(t->policy) : "";
        if (*report) snprintf(a->verdict.divergence, sizeof a->verdict.divergence, "%s", report);
        snprintf(a->report, sizeof a->report, "%s", report);
        if (k->outcome == RAD_OUTCOME_DIVERGED) return; /* it has no end that a log could have */
        for (uint32_t i = 0; i < 2 && a->code == 0; i++) {
            if (t->logs[i]) a->code = rad__log_keep(t->logs[i], k, &a->error);
            t->logs[i] = NULL;
        }
    }
}

static int single_run_child(void *context)
{
    rad_single_run *t = context;
    rad__os_close(t->ends[0]);
    rad__panic_mark = &t->rig.shared->panic;
    if (rad__program_is(t->rig.target.machine)) rad__under_test_serves(t->rig.self, &t->rig.shared->pid);
    single_run_run(t);
    t->answer->done = true;
    return 0;
}

/* Waits until the child has closed its end of the pipe, by ending; kills it when a step does not return, or when
 * somebody wants us to stop. */
static void single_run_watch(rad_single_run *t, int pid, rad_error *error)
{
    bool ended = false;
    while (rad__os_poll(&t->ends[0], 1, 100, &ended, error) == 0) {
        t->interrupted = rad__os_interrupted_since(t->asked);
        if (!t->interrupted && !rad__watch_hangs(&t->watch, t->rig.shared, pid)) continue;
        rad__os_kill(pid, NULL);
        return;
    }
}

static int single_run_verdict(rad_single_run *t, const rad_os_exit *how, rad_verdict *v, rad_error *error)
{
    const rad_single_run_answer *a = t->answer;
    if (a->done && a->code != 0) return rad__error(error, a->code, "%s", a->error.text);
    if (t->rig.shared->panic) return rad__error(error, RAD_EBUG, "the run met an internal error (see above)");
    bool asked = how->signal == SIGINT || how->signal == SIGTERM || how->signal == SIGHUP;
    if (!a->done && (asked || t->interrupted)) return rad__error(error, RAD_EINTERRUPTED, "interrupted");
    if (!a->done) return rad__verdict_of_death(v, t->rig.shared, how, &t->watch, error);
    *v = a->verdict;
    t->kept = v->result != RAD_RESULT_DIVERGED;
    if (t->divergence == NULL || v->result != RAD_RESULT_DIVERGED) return 0;
    *t->divergence = rad__copy_text(a->report[0] ? a->report : v->divergence);
    return *t->divergence ? 0 : rad__error_memory(error);
}

int rad__single_run_do(rad_single_run *t, rad_verdict *v, rad_error *error)
{
    void *shared = NULL;
    int pid = 0;
    rad_os_exit how = {0, 0};
    if (rad__os_shared_map(&shared, sizeof *t->answer, error) != 0) return error->code;
    t->answer = shared;
    int code = rad__os_pipe(t->ends, error);
    t->asked = *rad__os_interrupted(); /* before the fork: somebody who sees the child begin may ask at once */
    if (code == 0) {
        code = rad__os_fork(&pid, t, single_run_child, error);
        rad__os_close(t->ends[1]);
        if (code == 0) single_run_watch(t, pid, error);
        if (code == 0) code = rad__os_wait(pid, true, &how, error);
        if (code < 0 && t->answer->done) { /* its log is in its place, whatever became of waiting for it */
            rad__error_clear(error);
            code = 1;
        }
        if (code >= 0) code = single_run_verdict(t, &how, v, error);
        rad__os_close(t->ends[0]);
    }
    rad__os_shared_unmap(shared, sizeof *t->answer);
    return code;
}

/* ---- One run ----------------------------------------------------------------------------------------- */

/* Pages that the run does not write to cost nothing. */
static int single_run_memory(rad_single_run *t, const rad_target *target, const char *policy, const rad_run_request *r,
                             rad_error *error)
{
    void *mapping;
    uint64_t limit = r->log_limit;
    if (limit == 0 || limit > RAD_LOG_BYTES_MAX) limit = RAD_LOG_BYTES_MAX;
    t->memory_size = sizeof *t->memory + limit;
    int code = rad__os_shared_map(&mapping, t->memory_size, error);
    if (code != 0) return code;
    t->memory = mapping;
    t->memory->capacity = limit;
    return rad__log_create_in(&t->logs[1], t->memory, target, policy, r->seed, error);
}

/* The policy of the request, and the logs that it wants. */
static int single_run_open(rad_single_run *t, const rad_target *target, const char *policy, const rad_run_request *r,
                           rad_log_in *from, rad_error *error)
{
    int code = from ? rad__policy_replay(&t->policy, rad__log_reader(from), error)
                    : rad__policy_create(&t->policy, policy, error);
    if (code == 0 && r->log) code = rad__log_create(&t->logs[0], r->log, target, policy, r->seed, r->log_limit, error);
    if (code == 0 && r->get_log) code = single_run_memory(t, target, policy, r, error);
    return code;
}

/* What the caller wanted besides the verdict. */
static int single_run_results(rad_single_run *t, const rad_target *target, const char *policy, const rad_run_request *r,
                              const rad_verdict *v, rad_error *error)
{
    int code = 0;
    if (r->get_log && t->kept)
        code = rad__log_of_bytes(r->get_log, t->memory->bytes, t->memory->size, "the log", error);
    if (code == 0 && r->artifact &&
        v->result != RAD_RESULT_DIVERGED) /* the choices are shared with the process that made them */
        code = rad__artifact_of_choices(r->artifact, target, policy, r->seed, t->rig.choices, v->decisions, v, error);
    return code;
}

static void single_run_close(rad_single_run *t)
{
    for (uint32_t i = 0; i < 2; i++) rad__log_discard(t->logs[i]);
    rad__os_shared_unmap(t->memory, t->memory_size);
    rad__policy_destroy(t->policy);
    rad__rig_close(&t->rig);
}

static int check_request(const rad_run_request *r, rad_error *error)
{
    if (r->artifact) *r->artifact = NULL;
    if (r->get_log) *r->get_log = NULL;
    if (r->divergence) *r->divergence = NULL;
    if (r->from_log && r->policy)
        return rad__error(error, RAD_EINPUT, "policy '%s' and from_log: expected one of them", r->policy);
    return 0;
}

int rad_lab_run(const rad_target *target, const rad_run_request *r, rad_verdict *v, rad_error *error)
{
    rad_single_run t = {.seed = r->seed, .divergence = r->divergence};
    rad_log_in *from = NULL;
    const char *policy = r->policy ? r->policy : r->from_log ? "replay" : "random";
    rad__error_clear(error);
    rad__watch_begin(&t.watch, r->hang_seconds > 0 ? r->hang_seconds : target->c.hang_ms / 1e3, NULL);
    int code = check_request(r, error);
    if (code == 0) code = rad__rig_open(&t.rig, target, error);
    if (code != 0) return code;
    if (r->from_log) code = rad__log_value_open(&from, r->from_log, error);
    if (code == 0) code = single_run_open(&t, target, policy, r, from, error);
    if (code == 0) code = rad__single_run_do(&t, v, error);
    if (code == 0) code = single_run_results(&t, target, policy, r, v, error);
    single_run_close(&t);
    rad__log_close(from);
    return code;
}

int rad_lab_replay_log(const char *path, rad_target *target, rad_verdict *v, rad_error *error)
{
    rad_log_in *log = NULL;
    rad_single_run t = {0};
    rad__error_clear(error);
    *target = (rad_target){0};
    int code = rad__log_open(&log, path, error);
    if (code == 0) code = rad__target_copy(target, &rad__log_head(log)->target, error);
    if (code == 0) {
        rad__watch_begin(&t.watch, target->c.hang_ms / 1e3, NULL);
        t.seed = rad__log_head(log)->seed;
        code = rad__rig_open(&t.rig, target, error);
    }
    if (code == 0) {
        code = rad__policy_replay(&t.policy, rad__log_reader(log), error);
        if (code == 0) code = rad__single_run_do(&t, v, error);
        rad__policy_destroy(t.policy);
        rad__rig_close(&t.rig);
    }
    if (code != 0) rad_target_free(target);
    rad__log_close(log);
    return code;
}

/* ---- Replaying an artifact -------------------------------------------------------------------------- */

/* Runs the artifact's list once on `t`; the caller frees the answer's result. */
static int replay_once(const rad_artifact *a, const rad_target *t, bool unfair, rad_workers_answer *answer,
                       rad_error *error)
{
    rad_workers *workers = NULL;
    int before = *rad__os_interrupted();
    *answer = (rad_workers_answer){0};
    rad_choice *path = rad__alloc(a->choice_count, sizeof *path);
    if (path == NULL) return rad__error_memory(error);
    for (uint64_t i = 0; i < a->choice_count; i++) path[i] = (rad_choice){.chosen = a->choices[i]};
    rad_batch u = {.kind = RAD_BATCH_TREE,
                   .round = rad__artifact_is_round(a),
                   .unfair = unfair,
                   .spin_rounds = a->target.c.spin_rounds,
                   .races_go_on = a->expects_failure,
                   .count = 1,
                   .path = path,
                   .path_count = a->choice_count};
    memcpy(u.ends_at, a->expected.identity, sizeof u.ends_at);
    int code = rad__workers_open(&workers, t, 1, 0, NULL, RAD_WORKERS_USUAL, error);
    if (code == 0) code = rad__workers_start(workers, &u, answer, error);
    while (code == 0 && answer->ticket == NULL) {
        code = rad__workers_wait(workers, 100, answer, error);
        if (code == 0 && answer->ticket == NULL && rad__os_interrupted_since(before))
            code = rad__error(error, RAD_EINTERRUPTED, "interrupted");
    }
    if (code == 0 && !answer->died && answer->result.error.code != 0)
        code = rad__error(error, answer->result.error.code, "%s", answer->result.error.text);
    answer->choices = NULL; /* the workers's */
    rad__workers_close(workers);
    rad__free(path);
    return code;
}

/* Between which decisions the sets of the two runs first differed. */
static void replay_locate(const rad_artifact *a, const rad_batch_result *r, char *text, size_t size)
{
    uint64_t same = 0, most = a->set_hash_count;
    while (same < most && same < r->last_hash_count && a->set_hashes[same] == r->last_hashes[same]) same++;
    if (same >= r->last_hash_count || same >= most) {
        snprintf(text, size, "; the runs part after decision %llu", (unsigned long long)(same * RAD_SET_HASH_EVERY));
        return;
    }
    snprintf(text, size, "; the runs part between decisions %llu and %llu",
             (unsigned long long)(same * RAD_SET_HASH_EVERY), (unsigned long long)((same + 1) * RAD_SET_HASH_EVERY));
}

static void verdict_text(const rad_verdict *v, char *text, size_t size)
{
    if (v->result == RAD_RESULT_PASS)
        snprintf(text, size, "pass after %llu steps", (unsigned long long)v->steps);
    else if (v->result == RAD_RESULT_CUT)
        snprintf(text, size, "a run cut at %llu steps", (unsigned long long)v->steps);
    else
        snprintf(text, size, "%s at step %llu", v->identity, (unsigned long long)v->failure_step);
}

static void replay_compare(const rad_artifact *a, const rad_batch_result *r, rad_replay *out)
{
    const rad_verdict *want = &a->expected, *have = &out->actual;
    char wanted[RAD_IDENTITY_MAX + 40], had[RAD_IDENTITY_MAX + 40], where[100] = "";
    bool same_kind = want->result == have->result && rad__identity_is(want->identity, have->identity) &&
                     strcmp(want->kind, have->kind) == 0;
    bool same_place =
        want->steps == have->steps && want->decisions == have->decisions && want->failure_step == have->failure_step;
    bool same_hash = strcmp(want->trace_hash, have->trace_hash) == 0;
    out->same_failure = same_kind && have->result == RAD_RESULT_FAILURE;
    out->as_recorded = same_kind && same_place && same_hash;
    if (out->as_recorded) return;
    verdict_text(want, wanted, sizeof wanted);
    verdict_text(have, had, sizeof had);
    if (r->last_hashes) replay_locate(a, r, where, sizeof where);
    if (same_kind && same_place)
        snprintf(out->reason, sizeof out->reason, "%s as recorded, but the trace differs: expected hash %s, found %s%s",
                 had, want->trace_hash, have->trace_hash, where);
    else
        snprintf(out->reason, sizeof out->reason, "expected %s, found %s%s", wanted, had, where);
}

int rad__replay(const rad_artifact *a, const rad_target *other, rad_replay *out, bool *unfair, rad_error *error)
{
    rad_workers_answer answer;
    *out = (rad_replay){0};
    *unfair = false;
    rad__error_clear(error);
    int code = 0;
    /* Files of before schedules were fair have choices that fairness would not offer, and no path. */
    bool old = a->path->known && a->path->path == NULL && !a->edited;
    for (uint32_t all = 0; all <= old && code == 0 && !out->as_recorded; all++) {
        rad_replay now = {0};
        code = replay_once(a, other ? other : &a->target, all, &answer, error);
        if (code == 0) {
            now.actual = answer.died ? answer.verdict : answer.result.last;
            replay_compare(a, &answer.result, &now);
        }
        rad__batch_result_free(&answer.result);
        if (code == 0 && (!all || now.as_recorded)) *out = now;
        *unfair = all && now.as_recorded;
    }
    return code;
}

int rad_lab_replay(const rad_artifact *a, const rad_target *other, rad_replay *out, rad_error *error)
{
    bool unfair;
    return rad__replay(a, other, out, &unfair, error);
}

int rad_artifact_accept(rad_artifact *a, rad_error *error)
{
    rad_replay now;
    rad__error_clear(error);
    int code = rad_lab_replay(a, NULL, &now, error);
    if (code != 0) return code;
    if (now.actual.result == RAD_RESULT_CUT)
        return rad__error(error, RAD_EINPUT, "not finished after %llu steps: it neither fails nor passes",
                          (unsigned long long)now.actual.steps);
    if (now.actual.result != RAD_RESULT_PASS)
        return rad__error(error, RAD_EINPUT, "still fails: %s at step %llu", now.actual.identity,
                          (unsigned long long)now.actual.failure_step);
    a->expected = now.actual;
    a->expects_failure = false;
    if (rad_lab_program_own()) /* it passes in this build */
        rad__program_of_machine(a->target.machine, &a->program);
    a->set_hash_count = 0;
    a->edited = false;
    rad__path_free(a->path->path);
    *a->path = (rad_artifact_path){.path = NULL}; /* of this run, when it is written */
    return 0;
}

int rad__artifact_set_hashes(rad_artifact *a, const uint64_t *every, uint32_t count, uint64_t last, uint64_t decisions,
                             rad_error *error)
{
    uint64_t *hashes = rad__alloc((size_t)count + 1, sizeof *hashes);
    if (hashes == NULL) return rad__error_memory(error);
    if (count) memcpy(hashes, every, count * sizeof *hashes);
    if (decisions % RAD_SET_HASH_EVERY != 0) hashes[count++] = last;
    rad__free(a->set_hashes);
    a->set_hashes = hashes;
    a->set_hash_count = count;
    return 0;
}
