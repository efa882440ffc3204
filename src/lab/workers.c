#include "lab/workers.h"

#include "base/alloc.h"
#include "core/policy_user.h"
#include "lab/programs/inserted.h"
#include "lab/programs/under_test.h"
#include "lab/serve.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/signal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { KILLED_IN_A_ROW = 100 }; /* before the next batch; then something is wrong here */

typedef struct worker {
    rad_rig rig;
    int pid;
    int to, from; /* pipes; -1 = closed */
    void *ticket; /* NULL = idle */
    rad_run_watch watch;
    rad_bytes batch;            /* what it does, as it was sent */
    enum rad_setup_apart apart; /* of a program */
    bool told;                  /* of a program: it tells its runs, and the kernel is here */
} worker;

struct rad_workers {
    worker *workers;
    uint32_t count;
    double hang_seconds;
    rad_habits habits;
    uint64_t looked_ns; /* when the watchdog last looked */
    uint32_t killed;
};

enum { LOOK_EVERY_NS = 50 * 1000 * 1000 };

/* ---- The worker's side ------------------------------------------------------------------------------ */

typedef struct worker_fds {
    worker *w;
    int in, out;
} worker_fds;

static int worker_main(void *context)
{
    worker_fds *f = context;
    rad__panic_mark = &f->w->rig.shared->panic;
    if (f->w->told) rad__under_test_serves(f->w->rig.self, &f->w->rig.shared->pid);
    rad__os_signals_leave_to_parent();
    signal(SIGTERM, SIG_DFL); /* a machine that terminates itself has failed */
    return rad__serve_batches(&f->w->rig, f->in, f->out);
}

/* ---- The supervisor's side ------------------------------------------------------------------------- */

static void worker_stop(worker *w)
{
    rad_os_exit ignored;
    rad__os_close(w->to);
    rad__os_close(w->from);
    w->to = w->from = -1;
    if (w->pid == 0) return;
    rad__os_kill(w->pid, NULL);
    rad__os_wait(w->pid, true, &ignored, NULL);
    w->pid = 0;
}

/* The process of a program is started anew; what it prints is thrown away. */
static int worker_start_program(worker *w, rad_error *error)
{
    rad_tested t;
    int code = rad__tested_start(&t, w->rig.self, w->rig.memory, w->apart, w->rig.suppressed, error);
    if (code != 0) return code;
    rad__os_close(t.output);
    w->pid = t.pid;
    w->to = t.to;
    w->from = t.from;
    return 0;
}

static int worker_start(rad_workers *p, worker *w, rad_error *error)
{
    int request[2] = {-1, -1}, answer[2] = {-1, -1};
    (void)p;
    w->rig.shared->pid = 0;
    if (rad__program_is(w->rig.target.machine) && !w->told) return worker_start_program(w, error);
    if (rad__os_pipe(request, error) != 0) return error->code;
    if (rad__os_pipe(answer, error) != 0) {
        rad__os_close(request[0]);
        rad__os_close(request[1]);
        return error->code;
    }
    /* The child keeps copies of all these ends; it sees the end of its requests when it is killed or
     * when every copy of the writing end is closed, which worker_stop does not rely on. */
    worker_fds fds = {w, request[0], answer[1]};
    int code = rad__os_fork(&w->pid, &fds, worker_main, error);
    rad__os_close(request[0]);
    rad__os_close(answer[1]);
    w->to = request[1];
    w->from = answer[0];
    if (code != 0) {
        w->pid = 0;
        worker_stop(w);
    }
    return code;
}

int rad__workers_open(rad_workers **out, const rad_target *t, uint32_t jobs, double hang_seconds,
                      const char *const *suppressed, enum rad_workers_way way, rad_error *error)
{
    if (jobs == 0) jobs = 1;
    if (jobs > RAD_JOBS_MAX)
        return rad__error(error, RAD_EINPUT, "-j %u: expected at most %d worker processes", jobs, RAD_JOBS_MAX);
    rad_workers *p = rad__alloc(1, sizeof *p);
    if (p == NULL) return rad__error_memory(error);
    p->hang_seconds = hang_seconds > 0 ? hang_seconds : t->c.hang_ms / 1e3;
    p->workers = rad__alloc(jobs, sizeof *p->workers);
    int code = p->workers ? 0 : rad__error_memory(error);
    for (uint32_t i = 0; i < jobs && code == 0; i++) {
        worker *w = &p->workers[i];
        w->to = w->from = -1;
        code = rad__rig_open(&w->rig, t, error);
        if (code != 0) break;
        if (suppressed) w->rig.suppressed = suppressed;
        w->apart = way == RAD_WORKERS_APART ? RAD_APART_ASKED : RAD_APART_NOT;
        w->told = way == RAD_WORKERS_TOLD && rad__program_is(t->machine);
        p->count = i + 1;
        code = worker_start(p, w, error);
    }
    if (code != 0) {
        rad__workers_close(p);
        p = NULL;
    }
    *out = p;
    return code;
}

void rad__workers_close(rad_workers *p)
{
    if (p == NULL) return;
    for (uint32_t i = 0; i < p->count; i++) {
        worker_stop(&p->workers[i]);
        rad__bytes_free(&p->workers[i].batch);
        rad__rig_close(&p->workers[i].rig);
    }
    rad__free(p->workers);
    rad__free(p);
}

uint32_t rad__workers_killed(const rad_workers *p)
{
    return p->killed;
}

uint32_t rad__workers_idle(const rad_workers *p)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < p->count; i++) idle += p->workers[i].ticket == NULL;
    return idle;
}

/* Its batch is begun, or begun anew by another process. One that takes no batch was killed while it had nothing to do:
 * the next one gets it. */
static int worker_begin(rad_workers *p, worker *w, void *ticket, rad_error *error)
{
    w->ticket = ticket;
    for (uint32_t left = KILLED_IN_A_ROW;; left--) {
        w->rig.shared->run = 0;
        rad__watch_begin(&w->watch, p->hang_seconds, &p->habits);
        int code = rad__message_write(w->to, &w->batch, left == 0 ? error : NULL);
        if (code == 0 || left == 0) return code;
        p->killed++;
        worker_stop(w);
        if ((code = worker_start(p, w, error)) != 0) return code;
    }
}

int rad__workers_start(rad_workers *p, const rad_batch *u, void *ticket, rad_error *error)
{
    worker *w = p->workers;
    while (w->ticket != NULL) w++;
    w->batch.size = 0;
    rad__batch_write(u, &w->batch);
    return worker_begin(p, w, ticket, error);
}

static void death_words(const rad_os_exit *how, char text[40])
{
    if (how->signal)
        snprintf(text, 40, "%s", rad__os_signal_name(how->signal));
    else
        snprintf(text, 40, "exit status %d", how->status);
}

/* A user's policy died or hangs: that says nothing about the machine. SIGKILL comes from outside, unless it was ours.
 * */
static int death_of_policy(const rad_rig_shared *shared, const rad_os_exit *how, const rad_run_watch *watch,
                           rad_error *error)
{
    const rad_beacon *beacon = &shared->beacon;
    char what[80];
    if (watch->hung_seconds > 0)
        snprintf(what, sizeof what, "did not return within %g s%s", watch->hung_seconds,
                 watch->asleep ? ": it sleeps" : " of CPU time");
    else
        death_words(how, what);
    return rad__error(error, RAD_EINPUT, "policy '%s' failed in %s, at step %llu: %s", beacon->policy,
                      rad__policy_function_name(beacon->function), (unsigned long long)beacon->steps, what);
}

int rad__verdict_of_death(rad_verdict *v, const rad_rig_shared *shared, const rad_os_exit *how,
                          const rad_run_watch *watch, rad_error *error)
{
    const rad_beacon *beacon = &shared->beacon;
    char what[40];
    if (beacon->function != RAD_POLICY_NOT_CALLED && (how->signal != SIGKILL || watch->hung_seconds > 0))
        return death_of_policy(shared, how, watch, error);
    *v = (rad_verdict){
        .result = RAD_RESULT_FAILURE,
        .steps = beacon->steps,
        .failure_step = beacon->steps,
        .decisions = shared->choice_count,
    };
    rad__digest_text(rad__beacon_digest(beacon), v->trace_hash);
    if (watch->hung_seconds > 0) {
        snprintf(v->kind, sizeof v->kind, "hang");
        snprintf(v->identity, sizeof v->identity, "hang");
        bool spins = !watch->asleep && shared->pid > 0;
        snprintf(v->message, sizeof v->message, "step %llu did not return within %g s%s%s%s%s",
                 (unsigned long long)v->failure_step, watch->hung_seconds,
                 watch->asleep ? ": it sleeps" : " of CPU time", watch->call[0] ? " in " : "", watch->call,
                 spins ? " (if it waits for a variable in a loop, build it with 'raddle cc')" : "");
        return 0;
    }
    death_words(how, what);
    snprintf(v->kind, sizeof v->kind, "crash");
    snprintf(v->identity, sizeof v->identity, "crash:%s", what);
    snprintf(v->message, sizeof v->message, "the process died in step %llu: %s", (unsigned long long)v->failure_step,
             what);
    return 0;
}

/* What became of the run that killed its process: a verdict, or an error of ours. */
static int worker_verdict(worker *w, const rad_os_exit *how, rad_workers_answer *a, rad_error *error)
{
    if (w->rig.shared->trouble) return rad__error(error, RAD_ENOMEM, "a worker process ran out of memory");
    if (w->rig.shared->panic) return rad__error(error, RAD_EBUG, "a worker process met an internal error (see above)");
    if (rad__verdict_of_death(&a->verdict, w->rig.shared, how, &w->watch, error) != 0) return error->code;
    a->died = true;
    a->run = w->rig.shared->run;
    a->choices = w->rig.choices;
    a->choice_count = a->verdict.decisions;
    const rad_beacon *beacon = &w->rig.shared->beacon;
    a->suppressed = beacon->suppressed;
    for (uint32_t i = 0; i < RAD_PATTERNS_TOLD; i++) a->suppressed_by[i] = beacon->suppressed_by[i];
    return 0;
}

/* A worker has ended that had something to do. */
static int worker_died(rad_workers *p, worker *w, const rad_os_exit *how, rad_workers_answer *a, rad_error *error)
{
    bool hung = w->watch.hung_seconds > 0;
    w->pid = 0; /* it has been waited for */
    worker_stop(w);
    p->killed += how->signal == SIGKILL && !hung;
    if (hung && w->rig.shared->here) { /* a fresh process has to confirm that */
        void *ticket = a->ticket;
        w->apart = RAD_APART_HUNG;
        *a = (rad_workers_answer){0};
        int code = worker_start(p, w, error);
        return code ? code : worker_begin(p, w, ticket, error);
    }
    int code = worker_verdict(w, how, a, error);
    return code ? code : worker_start(p, w, error);
}

/* A worker of a program has more than one process, and lives on when one of them dies. */
static int worker_noted(rad_workers *p, worker *w, const rad_worker_note *note, rad_workers_answer *a, rad_error *error)
{
    void *ticket = a->ticket;
    rad_os_exit how = {note->status, note->signal};
    if (note->what == RAD_WORKER_DIED) {
        p->killed += how.signal == SIGKILL;
        return worker_verdict(w, &how, a, error);
    }
    *a = (rad_workers_answer){0};
    return worker_begin(p, w, ticket, error);
}

/* Its process only told which instruction it was. */
static void name_places(rad_batch_result *r)
{
    for (uint64_t i = 0; i < r->finding_count; i++) {
        rad_verdict *v = &r->findings[i].verdict;
        rad__spots_read(v->message, sizeof v->message);
    }
    rad__spots_read(r->last.message, sizeof r->last.message);
}

/* The process waits: meanwhile no step of its own can hang. */
static void worker_asked(worker *w, const rad_worker_question *q, rad_workers_answer *a)
{
    rad_rig_shared *s = w->rig.shared;
    if (q->line) {
        snprintf(s->source, sizeof s->source, "[%.480s+%llx]", q->module, (unsigned long long)q->offset);
        rad__spots_read(s->source, sizeof s->source);
    } else {
        rad__source_name(q->module, q->offset, s->source, sizeof s->source);
    }
    atomic_store_explicit(&s->answered, q->number, memory_order_release); /* pairs with the acquire in source.c */
    w->ticket = a->ticket;
    w->watch.at_ns = 0;
    *a = (rad_workers_answer){0};
}

static int worker_answer(rad_workers *p, worker *w, rad_workers_answer *a, rad_error *error)
{
    rad_bytes bytes = {0};
    rad_worker_note note;
    rad_worker_question question;
    int got = rad__message_read(w->from, &bytes, error);
    a->ticket = w->ticket;
    w->ticket = NULL;
    int code = got < 0 ? got : 0;
    if (got == 0) {
        rad_os_exit how;
        code = rad__os_wait(w->pid, true, &how, error);
        if (code >= 0) code = worker_died(p, w, &how, a, error);
    }
    if (got == 1 && bytes.size == sizeof note) {
        memcpy(&note, bytes.data, sizeof note);
        code = worker_noted(p, w, &note, a, error);
    } else if (got == 1 && bytes.size == sizeof question) {
        memcpy(&question, bytes.data, sizeof question);
        question.module[sizeof question.module - 1] = 0;
        worker_asked(w, &question, a);
    } else if (got == 1) {
        rad_reader reader = rad__reader(bytes.data, bytes.size);
        if (rad__batch_result_read(&a->result, &reader)) {
            name_places(&a->result);
        } else {
            rad__batch_result_free(&a->result);
            code = rad__error_memory(error);
        }
    }
    rad__bytes_free(&bytes);
    return code;
}

/* True when it has ended without its pipe having ended; an answer that is on its way comes first. */
static bool worker_is_gone(worker *w, rad_os_exit *how)
{
    bool ready = false;
    if (rad__os_poll(&w->from, 1, 0, &ready, NULL) != 0) return false;
    return rad__os_wait(w->pid, false, how, NULL) == 1;
}

/* Kills a worker that hangs, if there is one, and makes that the answer. */
static bool workers_watchdog(rad_workers *p, rad_workers_answer *a, int *code, rad_error *error)
{
    uint64_t now = rad__os_now_ns();
    if (now - p->looked_ns < LOOK_EVERY_NS) return false;
    p->looked_ns = now;
    for (uint32_t i = 0; i < p->count; i++) {
        worker *w = &p->workers[i];
        if (w->ticket == NULL) continue;
        bool hangs = rad__watch_hangs(&w->watch, w->rig.shared, w->pid);
        if (hangs) rad__os_kill(w->pid, NULL);
        /* A child that the machine forked may hold the pipe open: look at the process itself too. */
        rad_os_exit how;
        if (!hangs && !worker_is_gone(w, &how)) continue;
        if (hangs && rad__os_wait(w->pid, true, &how, error) < 0) return (*code = error->code) != 0;
        a->ticket = w->ticket;
        w->ticket = NULL;
        *code = worker_died(p, w, &how, a, error);
        return true;
    }
    return false;
}

int rad__workers_wait(rad_workers *p, int timeout_ms, rad_workers_answer *a, rad_error *error)
{
    int fds[RAD_JOBS_MAX];
    bool ready[RAD_JOBS_MAX];
    int code = 0;
    *a = (rad_workers_answer){0};
    if (workers_watchdog(p, a, &code, error)) return code;
    for (uint32_t i = 0; i < p->count; i++) fds[i] = p->workers[i].ticket ? p->workers[i].from : -1;
    int count = rad__os_poll(fds, p->count, timeout_ms, ready, error);
    if (count < 0) return count;
    for (uint32_t i = 0; i < p->count && count > 0; i++)
        if (fds[i] >= 0 && ready[i]) return worker_answer(p, &p->workers[i], a, error);
    return 0;
}
