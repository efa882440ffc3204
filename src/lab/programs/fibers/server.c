/* server.c — the worker's runs, and telling one: see server.h. */
#define _GNU_SOURCE
#include "lab/programs/fibers/server.h"

#include "base/alloc.h"
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/reach.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "lab/serve.h"
#include "os/process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

rad_call_stream rad__server_stream = {.in = -1, .out = -1};

enum {
    AUDITS_FIRST = 8,   /* runs of a keeper's first worker */
    AUDIT_EVERY = 1000, /* runs after these */
    IDENTITIES_MAX = 32,
    VOID_MOST = 4,    /* units in which trust was misplaced: so many, and one in so many */
    RENEWED_MOST = 8, /* workers, of which each made few runs */
    RUNS_FEW = 100
};

/* In the lab's heap: all else of a worker is put back. */
struct rad_runs_here {
    rad_snapshot *snapshot;
    int keeper;                         /* a socket */
    bool spoilt;                        /* it cannot make runs any more, but ask for them */
    uint64_t confirmed[IDENTITIES_MAX]; /* kinds of failures of this unit */
    uint32_t confirmed_count;
    uint64_t evaluations[RAD_ORACLES_MAX], suppressed;
    uint64_t *suppressed_by;
    uint32_t suppressed_count, suppressed_capacity;
    uint8_t reached[RAD_SITES_MAX];
};

/* ---- One run --------------------------------------------------------------------------------------------- */

static void run_whole(rad_rig *rig, const rad_run_options *options)
{
    if (!rad__control->keeper.late) rad__stage_begin();
    rad__kernel_begin(rig->kernel, options);
    rad__kernel_advance(rig->kernel, UINT64_MAX);
    rad__kernel_end(rig->kernel);
}

static void run_clear(rad_rig *rig)
{
    rig->shared->choice_count = 0;
    rad_beacon *b = &rig->shared->beacon;
    b->steps = b->events = b->folded = b->digest_low = b->digest_high = b->function = 0;
}

void rad__run_and_exit(void)
{
    rad_control *c = rad__control;
    rad__marks_ignore();
    run_clear(rad__control->keeper.rig);
    run_whole(rad__control->keeper.rig, &c->options);
    c->done = true;
    rad__process_exit(0);
}

/* In a child of this process, which has made no run itself. */
static enum rad_outcome run_apart(rad_rig *rig, const rad_run_options *options)
{
    rad_control *c = rad__control;
    int status = 0;
    c->done = false;
    c->options = *options;
    pid_t pid = rad__child_start();
    if (pid == 0) rad__run_and_exit();
    rig->shared->pid = pid;
    if (pid < 0)
        rad__kernel_error(rig->kernel, RAD_EIO, "cannot start a process for a run");
    else if (!rad__child_wait(pid, &status))
        rad__die_of(status);
    rig->shared->pid = getpid();
    return rig->kernel->outcome;
}

/* In a fresh process, a child of the keeper. True: it has come to its end. */
static bool run_asked(const rad_run_options *options, int *status)
{
    rad_control *c = rad__control;
    char request = 'r';
    c->options = *options;
    if (rad__os_write_all(c->worker->keeper, &request, 1, NULL) != 0 ||
        rad__os_read(c->worker->keeper, status, sizeof *status, NULL) != sizeof *status)
        rad__process_exit(0); /* there is no keeper any more */
    return c->done && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

/* ---- In this process --------------------------------------------------------------------------------------- */

static _Noreturn void worker_leaves(enum rad_leaving how, const char *why)
{
    rad_control *c = rad__control;
    if (why) snprintf(c->why, sizeof c->why, "%s", why);
    c->leaving = how;
    rad__process_exit(0);
}

/* What the runs of this unit showed is worth nothing: it will be done again. The rest of it is done with care. */
static void unit_is_void(rad_control *c)
{
    c->is_void = true;
    c->trusts = false;
}

/* False: it cannot be done, which spoils the process. */
static bool put_back(rad_control *c, const char **why)
{
    rad_snapshot *s = c->worker->snapshot;
    if (!c->is_void && !c->careful && rad__snapshot_trusts(s)) {
        c->trusts = true;
        if (rad__snapshot_back_trusting(s)) return true;
        unit_is_void(c);
    }
    return rad__snapshot_back(s, why);
}

static void run_here(rad_rig *rig, const rad_run_options *options)
{
    rad_control *c = rad__control;
    const char *why = NULL;
    run_clear(rig);
    c->limit = rig->limit;
    c->here = true;
    rig->shared->here = 1;
    c->now = RAD_NOW_RUNS;
    run_whole(rig, options);
    c->now = RAD_NOW_RESTORES;
    bool back = put_back(c, &why);
    c->now = RAD_NOW_IDLE;
    c->here = false;
    rig->shared->here = 0;
    c->runs++;
    rig->here++;
    if (back) return;
    if (rad__donors_lack()) worker_leaves(RAD_LEAVES_RENEWED, NULL); /* the next one has them */
    c->worker->spoilt = true;
    snprintf(c->why, sizeof c->why, "%s", why);
    memcpy(rig->why, c->why, sizeof rig->why);
    if (++c->renewed >= RENEWED_MOST && c->runs < (uint64_t)c->renewed * RUNS_FEW) worker_leaves(RAD_LEAVES_APART, why);
}

/* ---- Checking a run ----------------------------------------------------------------------------------------- */

typedef struct result {
    rad_digest digest;
    enum rad_outcome outcome;
    uint64_t steps, decisions, identity;
} result;

static uint64_t hash_of(const char *text)
{
    return rad__digest_of((const uint8_t *)text, strlen(text)).low;
}

static result result_of(const rad_kernel *k)
{
    rad_verdict v;
    result r = {rad__kernel_digest(k), k->outcome, k->step, k->decisions, 0};
    if (k->outcome == RAD_OUTCOME_ERROR) {
        r.identity = hash_of(k->error.text);
    } else {
        rad__verdict_of(k, &v);
        r.identity = hash_of(v.identity);
    }
    return r;
}

static bool is_same(const result *a, const result *b)
{
    return a->digest.low == b->digest.low && a->digest.high == b->digest.high && a->outcome == b->outcome &&
           a->steps == b->steps && a->decisions == b->decisions && a->identity == b->identity;
}

/* False: no memory. */
static bool totals_save(struct rad_runs_here *w, const rad_kernel *k)
{
    uint32_t count = k->suppressed_count;
    if (!RAD_GROW(&w->suppressed_by, &w->suppressed_capacity, count)) return false;
    if (count) memcpy(w->suppressed_by, k->suppressed_by, count * sizeof *w->suppressed_by);
    w->suppressed_count = count;
    memcpy(w->evaluations, k->evaluations, sizeof w->evaluations);
    memcpy(w->reached, k->reached, sizeof w->reached);
    w->suppressed = k->suppressed;
    return true;
}

static void totals_back(const struct rad_runs_here *w, rad_kernel *k)
{
    memcpy(k->evaluations, w->evaluations, sizeof w->evaluations);
    memcpy(k->reached, w->reached, sizeof w->reached);
    k->suppressed = w->suppressed;
    k->suppressed_count = w->suppressed_count;
    if (k->suppressed_by) memset(k->suppressed_by, 0, k->suppressed_capacity * sizeof *k->suppressed_by);
    if (w->suppressed_count) memcpy(k->suppressed_by, w->suppressed_by, w->suppressed_count * sizeof *k->suppressed_by);
}

/* The same choices in a fresh process. Leaves if they give another run; then the kernel has not that of this one. */
static void run_check(rad_rig *rig, const char *what)
{
    struct rad_runs_here *w = rad__control->worker;
    rad_kernel *k = rig->kernel;
    result here = result_of(k);
    char why[RAD_WHY_MAX];
    int status = 0;
    if (!totals_save(w, k)) worker_leaves(RAD_LEAVES_APART, "there is no memory for an audit");
    rad__guide_follow(rig->guide, rig->choices, here.decisions);
    rad_run_options options = rad__rig_options(rig, rig->guide);
    options.digest_later = true;
    bool ended = run_asked(&options, &status);
    result fresh = ended ? result_of(k) : here;
    if (ended && is_same(&here, &fresh)) {
        totals_back(w, k);
        rig->audits++;
        return;
    }
    if (rad__control->trusts || rad__control->is_void) {
        unit_is_void(rad__control);
        return;
    }
    snprintf(why, sizeof why, "%s was another one in a fresh process", what);
    worker_leaves(RAD_LEAVES_APART, why);
}

static bool is_confirmed(struct rad_runs_here *w, uint64_t identity)
{
    for (uint32_t i = 0; i < w->confirmed_count; i++)
        if (w->confirmed[i] == identity) return true;
    if (w->confirmed_count < IDENTITIES_MAX) w->confirmed[w->confirmed_count++] = identity;
    return false;
}

static void run_checked(rad_rig *rig)
{
    const rad_control *c = rad__control;
    const rad_kernel *k = rig->kernel;
    if (k->outcome == RAD_OUTCOME_PRUNED) return;
    bool failed = k->outcome == RAD_OUTCOME_FAILED || k->outcome == RAD_OUTCOME_ERROR;
    if (failed && !is_confirmed(c->worker, result_of(k).identity))
        run_check(rig, "a run that failed");
    else if (c->runs <= AUDITS_FIRST || c->runs % AUDIT_EVERY == 0)
        run_check(rig, "an audited run");
}

/* ---- Units ---------------------------------------------------------------------------------------------------- */

static enum rad_outcome run_any(rad_rig *rig, const rad_run_options *options)
{
    const rad_control *c = rad__control;
    int status = 0;
    if (rad__control->keeper.apart) return run_apart(rig, options);
    if (c->worker->spoilt || options->whole_trace) {
        if (!run_asked(options, &status)) rad__die_of(status);
        return rig->kernel->outcome;
    }
    run_here(rig, options);
    run_checked(rig);
    return rig->kernel->outcome;
}

/* Trust that is misplaced again and again costs more than it saves. */
static bool unit_ends(rad_control *c)
{
    const char *why = NULL;
    if (c->trusts && !rad__snapshot_is_back(c->worker->snapshot)) unit_is_void(c);
    c->units++;
    if (!c->is_void) return true;
    if (++c->void_units >= VOID_MOST && c->void_units > c->units / VOID_MOST) {
        c->careful = true;
        rad__snapshot_forget(c->worker->snapshot);
    }
    if (!c->worker->spoilt && !rad__snapshot_back(c->worker->snapshot, &why)) c->worker->spoilt = true;
    return false;
}

static bool around_unit(rad_rig *rig, enum rad_batch_time when)
{
    rad_control *c = rad__control;
    const struct rad_runs_here *w = c->worker;
    switch (when) {
    case RAD_BATCH_BEGINS:
        c->in_unit = true;
        c->trusts = c->is_void = false;
        c->worker->confirmed_count = 0;
        memcpy(rig->why, c->why, sizeof rig->why);
        if (w->snapshot) rad__snapshot_pages_back(w->snapshot);
        return true;
    case RAD_BATCH_ENDS: {
        bool counts = unit_ends(c);
        c->in_unit = false;
        return counts;
    }
    case RAD_BATCH_ANSWERED:
        if (w->spoilt) worker_leaves(RAD_LEAVES_RENEWED, NULL);
    }
    return true;
}

static void snapshot_take(struct rad_runs_here *w)
{
    rad_control *c = rad__control;
    const char *why = NULL;
    c->marks.guards = rad__alloc(RAD_GUARDS_MAX, sizeof *c->marks.guards);
    w->snapshot = rad__snapshot_open(rad__control->keeper.memory, rad__control->keeper.stack, &why);
    if (w->snapshot == NULL) worker_leaves(RAD_LEAVES_APART, why);
    c->now = RAD_NOW_RESTORES; /* the first run, too, begins with it */
    if (!rad__snapshot_back(w->snapshot, &why)) worker_leaves(RAD_LEAVES_APART, why);
    c->now = RAD_NOW_IDLE;
}

int rad__worker_serves(int keeper)
{
    rad_keeper *p = &rad__control->keeper;
    struct rad_runs_here *w = rad__alloc(1, sizeof *w);
    if (w == NULL) return 3;
    w->keeper = keeper;
    rad__control->worker = w;
    p->rig->apart = run_any;
    p->rig->between = around_unit;
    p->rig->shared->pid = getpid();
    if (p->apart)
        rad__marks_ignore();
    else
        snapshot_take(w);
    return rad__serve_batches(p->rig, p->in, p->out);
}

/* ---- Telling ------------------------------------------------------------------------------------------- */

int rad__server_tells(int in, int out, bool dies)
{
    rad_call_stream *s = &rad__server_stream;
    rad_record r;
    s->in = in;
    s->out = out;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* raddle kills only whom it has started */
    if (!dies) rad__crash_watch();
    if (!rad__stage.debugged) rad__dispatch_open(); /* gdb would stop at each call */
    rad__reach_own();
    rad__donors_prepare_least();
    while (rad__stream_get(s, &r)) {
        uint32_t answer = 0;
        if (r.what == RAD_STREAM_RESET) {
            rad__stage_begin();
            rad__fiber_machine.reset(&rad__stage, NULL);
        } else if (r.what == RAD_STREAM_STEP && r.a < rad__stage.runner_count) {
            rad__stage.stops = r.b != 0;
            if (r.c > 0) rad__crash_in(r.c);
            rad__fiber_machine.step(&rad__stage, NULL, r.a);
            if (rad__stage.stops) rad__debugger_stop(); /* it made no operation */
        } else if (r.what == RAD_STREAM_ROUND) {
            rad_digest d = {0, 0};
            answer = rad__program_round(NULL, r.a != 0, &d);
            rad__stream_put(s, &(rad_record){.what = RAD_STREAM_STATE, .value = (int64_t)d.low}, NULL);
        } else if (r.what == RAD_STREAM_IDLE) {
            answer = rad__fiber_machine.idle(&rad__stage, NULL);
            if (answer == RAD_END_STUCK) rad__frames_tell_all(false);
        }
        /* What the program has printed: raddle shows it. A thread that waits may have locked them. */
        fflush_unlocked(stdout); /* tidy: stdout ok */
        fflush_unlocked(stderr); /* tidy: stdout ok */
        rad__stream_put(s, &(rad_record){.what = RAD_STREAM_DONE, .a = answer}, NULL);
        if (!rad__stream_send(s)) return 0;
    }
    return 0;
}
