/* executor.c — the executor that rt finds under test: no threads and no queues. A task that is ready is an action
 * that is enabled, and the kernel takes the place of the workers' choice.
 *
 * rt's strands keep `next` of their task for queues; here it points to the runner. The function of a fiber is called
 * by `fiber_body`, so that its end is a step of its own: otherwise no join would ever come before it. */
#include "lab/programs/fibers/seam.h"

#include "base/error.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/watched/watched.h"

static rad_runner *runner_of(rad_task *task)
{
    return (rad_runner *)atomic_load_explicit(&task->next, memory_order_relaxed);
}

static int fiber_body(void *context)
{
    rad_runner *r = context;
    int code = r->fn(r->arg);
    rad__point(RAD_AT_END, r->slot);
    return code;
}

static void fiber_spawned(rad_lab_exec *x, rad_task *task)
{
    rad_slot *slot = (rad_slot *)task;
    rad_runner *r = rad__runner_add(RAD_RUNNER_FIBER, rad__function_name(slot->fn), RAD_AT_BEGIN);
    x->fibers++;
    r->slot = slot;
    r->exec = x;
    r->fn = slot->fn;
    r->arg = slot->arg;
    slot->fn = fiber_body;
    slot->arg = r;
    atomic_store_explicit(&task->next, (rad_task *)(void *)r, memory_order_relaxed);
    if (!rad__stage.prefix && rad__tell_streams()) rad__frames_tell_call(r);
    rad__object_begins(slot, RAD_AT_BEGIN, r->role, NULL);
    rad__object_runs(slot, r->number);
    rad__runner_enable(r);
}

static void fiber_woken(rad_task *task)
{
    rad_runner *r = runner_of(task);
    rad__watched_wakes(r);
    rad__runner_announce(r, RAD_AT_RESUME, NULL);
    rad__runner_enable(r);
}

void rad__exec_ended(rad_lab_exec *x)
{
    if (--x->fibers > 0) return;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        rad_runner *r = &rad__stage.runners[i];
        if (r->kind == RAD_RUNNER_THREAD && r->exec == x) rad__runner_enable(r);
    }
}

/* ---- What rt calls ------------------------------------------------------------------------------------- */

RAD_INTERNAL int SEAM_OF(exec_create)(rad_exec **out, const rad_exec_options *options, const rad_exec_hooks *hooks,
                                      rad_error *error);
RAD_INTERNAL void SEAM(exec_close)(rad_exec *exec);
RAD_INTERNAL int64_t SEAM(exec_join)(rad_exec *exec);
RAD_INTERNAL void SEAM(exec_destroy)(rad_exec *exec);
RAD_INTERNAL bool SEAM(exec_spawn)(rad_exec *exec, rad_task *task);
RAD_INTERNAL uint32_t SEAM(exec_workers)(const rad_exec *exec);
RAD_INTERNAL void *SEAM(worker_scratch)(rad_worker *w);
RAD_INTERNAL void SEAM(worker_spawn)(rad_worker *w, rad_task *task);
RAD_INTERNAL void SEAM(worker_wake)(rad_worker *w, rad_task *task);
RAD_INTERNAL uint32_t SEAM_OF(worker_wake)(rad_worker *w, rad_task *task);
RAD_INTERNAL uint32_t SEAM_OF(worker_wake_resting)(rad_worker *w, rad_task *task);
RAD_INTERNAL void SEAM_OF(exec_wake_near)(rad_exec *exec, uint32_t index, rad_task *task);
RAD_INTERNAL uint32_t SEAM_OF(worker_left_other)(rad_worker *w, rad_task *task, enum rad_run answer);
RAD_INTERNAL bool SEAM_OF(worker_is_alone)(rad_worker *w);

/* Production's own memory, of which each child of a fork has a copy; the lab's is shared. */
RAD_INTERNAL void *rad__real__alloc_lines(size_t count, size_t size);
RAD_INTERNAL void rad__real__free(void *p);

static rad_lab_exec *lab_exec_of(rad_exec *exec)
{
    return (rad_lab_exec *)exec;
}

/* One worker, whose queues stay empty. */
int SEAM_OF(exec_create)(rad_exec **out, const rad_exec_options *options, const rad_exec_hooks *hooks, rad_error *error)
{
    rad_lab_exec *x = rad__real__alloc_lines(1, sizeof *x);
    void *scratch = rad__real__alloc_lines(1, options->scratch_size);
    if (x == NULL || scratch == NULL) {
        rad__real__free(x);
        rad__real__free(scratch);
        return rad__error_memory(error);
    }
    x->exec.hooks = *hooks;
    x->exec.sched.config.workers = 1;
    x->exec.shells = &x->shell;
    x->shell.exec = &x->exec;
    x->shell.scratch = scratch;
    x->shell.worker.sched = &x->exec.sched;
    x->shell.worker.phase = RAD_PHASE_RUN;
    x->next = rad__stage.execs;
    rad__stage.execs = x;
    *out = &x->exec;
    hooks->prepare(hooks->context, &x->shell.worker);
    hooks->begin(hooks->context, &x->shell.worker);
    rad__rt_worker_set(NULL); /* `begin` believes that it is on the worker's own thread */
    return 0;
}

void SEAM(exec_close)(rad_exec *exec)
{
    lab_exec_of(exec)->closed = true;
}

int64_t SEAM(exec_join)(rad_exec *exec)
{
    rad_lab_exec *x = lab_exec_of(exec);
    rad_runner *self = rad__stage.current;
    x->closed = true;
    self->exec = x;
    while (x->fibers > 0) rad__thread_leave(RAD_RUN_BLOCKED);
    self->exec = NULL;
    rad__watched_joins_all();
    return 0;
}

void SEAM(exec_destroy)(rad_exec *exec)
{
    rad_lab_exec **at = &rad__stage.execs;
    if (exec == NULL) return;
    while (*at != lab_exec_of(exec)) at = &(*at)->next;
    *at = (*at)->next;
    rad__real__free(lab_exec_of(exec)->shell.scratch);
    rad__real__free(exec);
}

bool SEAM(exec_spawn)(rad_exec *exec, rad_task *task)
{
    rad_lab_exec *x = lab_exec_of(exec);
    if (x->closed && x->fibers == 0) return false;
    fiber_spawned(x, task);
    return true;
}

uint32_t SEAM(exec_workers)(const rad_exec *exec)
{
    return exec->sched.config.workers;
}

void *SEAM(worker_scratch)(rad_worker *w)
{
    return rad__shell_of(w)->scratch;
}

void SEAM(worker_spawn)(rad_worker *w, rad_task *task)
{
    fiber_spawned(lab_exec_of(rad__shell_of(w)->exec), task);
}

void SEAM(worker_wake)(rad_worker *w, rad_task *task)
{
    (void)w;
    fiber_woken(task);
}

uint32_t SEAM_OF(worker_wake)(rad_worker *w, rad_task *task)
{
    (void)w;
    fiber_woken(task);
    return RAD_NONE;
}

uint32_t SEAM_OF(worker_wake_resting)(rad_worker *w, rad_task *task)
{
    (void)w;
    fiber_woken(task);
    return RAD_NONE;
}

void SEAM_OF(exec_wake_near)(rad_exec *exec, uint32_t index, rad_task *task)
{
    (void)exec;
    (void)index;
    fiber_woken(task);
}

/* A fiber goes over to another one only if its worker has others in its queues. */
uint32_t SEAM_OF(worker_left_other)(rad_worker *w, rad_task *task, enum rad_run answer)
{
    (void)w;
    (void)task;
    (void)answer;
    RAD_ASSERT(!"a fiber went over to another one");
    return RAD_NONE;
}

bool SEAM_OF(worker_is_alone)(rad_worker *w)
{
    (void)w;
    return false; /* yield gives the kernel its turn, always */
}
