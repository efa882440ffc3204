/* shell.c — no model, but what models need that use the calls of raddle.h: exec/thread/thread.c in a few lines, without
 * clock, draws and threads. */
#include "exec/thread/thread.h"
#include "lab/l2/model.h"
#include "rt/runtime.h"

static void shell_sleep(rad_shell *shell)
{
    const rad_exec_hooks *hooks = &shell->exec->hooks;
    rad_worker *w = &shell->worker;
    _Atomic uint32_t *token = &w->sched->idle.seats[w->id].wake_word;
    uint64_t ns = hooks->rest ? hooks->rest(hooks->context, w) : UINT64_MAX;
    bool may_leave = w->id >= w->sched->config.workers && ns == UINT64_MAX;
    if (may_leave) ns = hooks->retire_ns;
    if (ns > 0 && hooks->sleep && hooks->sleep(hooks->context, w, ns) != RAD_SLEPT_NOT) return;
    if (ns == UINT64_MAX)
        rad__os_word_wait(token, 0);
    else if (ns > 0 && !rad__os_word_wait_for(token, 0, ns) && may_leave && rad__worker_waits(w))
        shell->gone = rad__worker_retire(w);
}

void rad__shell_step_idle(rad_shell *shell)
{
    rad_worker *w = &shell->worker;
    uint32_t draw = rad__worker_draws(w) ? rad__model_choose(w->sched->config.workers - 1) : 0;
    while (rad__worker_waits(w)) shell_sleep(shell);
    if (shell->gone) return;
    if (w->phase == RAD_PHASE_RECHECK) rad__shell_barrier(w);
    rad_step step = rad__worker_step(w, draw);
    if (step.woken != w->id) rad__exec_wake_thread(shell->exec, step.woken);
}

/* Nothing fails there, so an executor ends when there is nothing left. */
void rad__shell_drain(rad_shell *shell)
{
    (void)shell;
    RAD_MODEL_ASSERT(!"an executor that has work left was stopped");
}

/* There is no watch. */
void rad__runtime_stir(rad_runtime *rt)
{
    (void)rt;
}

/* Models make the slots they need. */
rad_slot *rad__runtime_grow(rad_runtime *rt, uint32_t count, int *code)
{
    (void)rt, (void)count;
    *code = RAD_ELIMIT;
    return NULL;
}

/* Stacks of models are memory like any other: whoever is on it meanwhile is in a race. */
int rad__stack_forget(const rad_stack *stack, size_t keep, rad_error *error)
{
    (void)keep, (void)error;
    *(uint64_t *)stack->base = 0;
    return 0;
}
