#include "exec_watch.h"

#include "base/alloc.h"
#include "exec_observe.h"
#include "exec_target.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef struct watch {
    void *inner;
    exec_ref_task tasks[CASE_TASKS];
    exec_seen seen;
} watch;

/* Explorations run in a process of their own. */
typedef struct board {
    uint32_t count;
    bool full;
    char unknown[160];
    uint64_t results[1 << 16];
} board;

static const rad_machine *exec;
static board *shared;

/* ---- Observing ---------------------------------------------------------------------------------------- */

static void look(watch *w, bool first)
{
    exec_seen_begin(&w->seen);
    exec->describe(w->inner, exec_seen_line, &w->seen);
    if (w->seen.unknown[0] != 0) memcpy(shared->unknown, w->seen.unknown, sizeof shared->unknown);
    for (uint8_t i = 0; i < w->seen.task_count; i++) {
        exec_ref_task *t = &w->tasks[i], *now = &w->seen.tasks[i];
        bool same =
            t->place == now->place && t->next == now->next && memcmp(t->holds, now->holds, sizeof t->holds) == 0;
        if (same) continue;
        t->place = now->place;
        t->next = now->next;
        memcpy(t->holds, now->holds, sizeof t->holds);
        if (!first) t->history = exec_ref_history(t);
    }
}

static void keep(const watch *w)
{
    uint64_t result = exec_ref_digest(w->tasks, w->seen.task_count, w->seen.left, w->seen.now, w->seen.shut,
                                      w->seen.done, w->seen.first_failure);
    for (uint32_t i = 0; i < shared->count; i++)
        if (shared->results[i] == result) return;
    shared->full = shared->count == sizeof shared->results / sizeof *shared->results;
    if (!shared->full) shared->results[shared->count++] = result;
}

/* ---- The machine ---------------------------------------------------------------------------------------- */

static int watch_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    watch *w = rad__alloc(1, sizeof *w);
    int code = exec->create(&w->inner, exec, c, error);
    if (code != 0) rad__free(w);
    *self = code == 0 ? w : NULL;
    return code;
}

static void watch_destroy(void *self)
{
    watch *w = self;
    exec->destroy(w->inner);
    rad__free(w);
}

static void watch_reset(void *self, rad_kernel *k)
{
    watch *w = self;
    exec->reset(w->inner, k);
    memset(w->tasks, 0, sizeof w->tasks);
    look(w, true);
}

static void watch_step(void *self, rad_kernel *k, uint32_t action)
{
    watch *w = self;
    exec->step(w->inner, k, action);
    look(w, false);
}

static enum rad_end watch_idle(void *self, rad_kernel *k)
{
    watch *w = self;
    keep(w);
    return exec->idle(w->inner, k);
}

static void watch_check(void *self, rad_kernel *k)
{
    exec->check(((watch *)self)->inner, k);
}

static void watch_state(const void *self, rad_state_hash *h)
{
    const watch *w = self;
    exec->state(w->inner, h);
    for (uint8_t i = 0; i < w->seen.task_count; i++) rad_state_add(h, &w->tasks[i].history, sizeof w->tasks[i].history);
}

static const char *watch_kind_name(const void *self, uint32_t kind)
{
    return exec->kind_name(((const watch *)self)->inner, kind);
}

static const char *watch_site_name(const void *self, uint32_t site)
{
    return exec->site_name(((const watch *)self)->inner, site);
}

static void add_machine(void)
{
    static rad_machine m;
    rad_error error;
    if (exec != NULL) return;
    exec = rad_machine_find("exec");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    m = (rad_machine){.name = "judge-exec",
                      .about = "exec, watched",
                      .params = exec->params,
                      .oracles = exec->oracles,
                      .bug_site = RAD_NONE,
                      .body = exec->body,
                      .create = watch_create,
                      .destroy = watch_destroy,
                      .reset = watch_reset,
                      .step = watch_step,
                      .idle = watch_idle,
                      .check = exec->check ? watch_check : NULL,
                      .state = exec->state ? watch_state : NULL,
                      .kind_name = watch_kind_name,
                      .site_name = watch_site_name};
    RAD_ASSERT(shared != MAP_FAILED && rad_machine_add(&m, &error) == 0);
}

/* ---- Exploring -------------------------------------------------------------------------------------------- */

static void note_kind(exec_watched *w, const rad_verdict *v)
{
    for (uint32_t i = 0; i < EXEC_REF_KINDS; i++)
        if (strcmp(v->kind, exec_ref_kinds[i]) == 0) {
            w->kinds[i] = true;
            return;
        }
    snprintf(w->trouble, sizeof w->trouble, "%s: %.200s", v->kind, v->message);
}

static void explore(const exec_case *c, const char *machine, const char *strategy, uint64_t seed, uint64_t most_runs,
                    exec_watched *w)
{
    rad_error error = {.code = 0};
    rad_exploration e;
    rad_target t;
    memset(w, 0, sizeof *w);
    add_machine();
    w->refused = !exec_target(c, machine, &t);
    if (w->refused) return;
    shared->count = 0;
    shared->full = false;
    shared->unknown[0] = 0;
    rad_explore_options o = {.strategy = strategy, .runs = most_runs, .seed = seed};
    if (rad_lab_explore(&t, &o, &e, &error) != 0) {
        snprintf(w->trouble, sizeof w->trouble, "%.280s", error.text);
        rad_target_free(&t);
        return;
    }
    for (uint32_t i = 0; i < shared->count; i++) judge_set_add(&w->results, shared->results[i]);
    for (uint32_t i = 0; i < e.finding_count; i++) note_kind(w, rad_artifact_verdict(e.findings[i].artifact));
    for (uint32_t i = 0; i < OUTCOMES; i++) w->outcomes[i] = rad_exec_met(&e, exec_ref_outcomes[i]);
    w->complete = e.complete && !shared->full;
    w->runs = e.runs;
    w->steps = e.steps;
    if (shared->unknown[0] != 0) snprintf(w->trouble, sizeof w->trouble, "not understood: %s", shared->unknown);
    rad_exploration_free(&e);
    rad_target_free(&t);
}

void exec_watch(const exec_case *c, const char *strategy, uint64_t seed, uint64_t most_runs, exec_watched *w)
{
    explore(c, "judge-exec", strategy, seed, most_runs, w);
}

void exec_unwatched(const exec_case *c, uint64_t most_runs, exec_watched *w)
{
    explore(c, "exec", "dedup", 1, most_runs, w);
}

void exec_watched_free(exec_watched *w)
{
    judge_set_free(&w->results);
}
