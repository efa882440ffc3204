/* group.c — fork and join (exec/thread/group.c): a task spawns jobs and waits for them; its worker works meanwhile, and
 * sleeps when there is nothing left but to wait, on its token or, `deep`, on its bell. The group lives in memory of
 * its own that is freed when the wait has returned: nothing may touch it after that (Q2). */
#include "base/alloc.h"
#include "exec/thread/thread.h"
#include "lab/l2/model.h"

enum { WORKERS, JOBS, DEEP, GRANDCHILD };
enum { WORKERS_MAX = 3, JOBS_MAX = 3 };

typedef struct job {
    rad_job job;
    uint32_t ran;
    struct job *child; /* what it adds to its group */
} job;

static rad_exec executor;
static rad_shell shells[WORKERS_MAX];
static rad_task root;
static job jobs[JOBS_MAX + 1];
static uint32_t job_count;
static bool returned;

static uint32_t group_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS];
}

static const char *group_role(const rad_case *c, uint32_t thread)
{
    (void)c, (void)thread;
    return "worker";
}

static enum rad_run job_body(rad_job *base, rad_worker *w)
{
    job *j = (job *)base;
    RAD_MODEL_ASSERT(j->ran == 0);
    j->ran = 1;
    if (j->child) rad_group_spawn(w, base->group, &j->child->job, job_body);
    return RAD_RUN_DONE;
}

static enum rad_run root_body(rad_task *task, rad_worker *w)
{
    (void)task;
    rad_group *g = rad__alloc(1, sizeof *g);
    g->worker = w;
    for (uint32_t i = 0; i < job_count; i++) rad_group_spawn(w, g, &jobs[i].job, job_body);
    RAD_MODEL_ASSERT(rad_group_wait(w, g));
    RAD_MODEL_ASSERT(!w->searching); /* somebody who is busy would keep others from being woken */
    for (uint32_t i = 0; i < job_count; i++) {
        RAD_MODEL_ASSERT(jobs[i].ran == 1);
        if (jobs[i].child) RAD_MODEL_ASSERT(jobs[i].child->ran == 1);
    }
    rad__free(g);
    returned = true;
    return RAD_RUN_DONE;
}

static void group_setup(const rad_case *c)
{
    uint32_t woken;
    rad_sched_config config = {
        .workers = (uint32_t)c->params[WORKERS], .steal_tries = 1, .hoard = 1, .rounds = 1, .ring = 2};
    executor.shells = shells;
    RAD_MODEL_ASSERT(rad__sched_open(&executor.sched, &config));
    rad__model_name(&executor.sched.idle, sizeof executor.sched.idle, "idle");
    rad__model_name(executor.sched.idle.seats, config.workers * sizeof *executor.sched.idle.seats, "token");
    rad__model_name(&executor, sizeof executor, "executor");
    rad__model_name(shells, sizeof shells, "shell");
    rad__model_name(jobs, sizeof jobs, "job");
    for (uint32_t i = 0; i < config.workers; i++) {
        RAD_MODEL_ASSERT(rad__worker_open(&shells[i].worker, &executor.sched, i));
        shells[i].exec = &executor;
        shells[i].shallow = c->params[DEEP] ? UINTPTR_MAX : 0;
    }
    job_count = (uint32_t)c->params[JOBS];
    if (c->params[GRANDCHILD]) jobs[0].child = &jobs[JOBS_MAX];
    root.run = root_body;
    RAD_MODEL_ASSERT(rad__sched_spawn(&executor.sched, &root, &woken) == RAD_GATE_ENTERED);
    RAD_MODEL_ASSERT(!rad__sched_shut(&executor.sched));
}

static void group_body(const rad_case *c, uint32_t thread)
{
    (void)c;
    while (shells[thread].worker.phase != RAD_PHASE_STOPPED) rad__shell_step(&shells[thread]);
}

static void group_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(returned);
    RAD_MODEL_ASSERT(rad__sched_leftover(&executor.sched) == NULL);
    for (uint32_t i = 0; i < executor.sched.config.workers; i++) rad__worker_close(&shells[i].worker);
    rad__sched_close(&executor.sched);
}

static const rad_param group_params[] = {
    [WORKERS] = {"workers", 2, 1, WORKERS_MAX, "workers", false},
    [JOBS] = {"jobs", 1, 1, JOBS_MAX, "jobs that are waited for", false},
    [DEEP] = {"deep", 0, 0, 1, "the waiter sleeps on its bell", true},
    [GRANDCHILD] = {"grandchild", 0, 0, 1, "the first job adds one to its group", true},
    {.name = NULL},
};

RAD_MODEL(group, .name = "l2-group", .about = "fork and join: a task waits for its jobs", .params = group_params,
          .covers = "thread/group thread/task", .no_locals = true, .thread_count = group_threads,
          .thread_role = group_role, .setup = group_setup, .body = group_body, .check = group_check);
