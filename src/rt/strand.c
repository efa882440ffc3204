#include "rt/strand.h"

#include "rt/runtime.h"

static _Thread_local rad_core *the_core __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) rad_core *rad__core(void)
{
    rad_core *core = the_core;
    __asm__ volatile("" : "+r"(core)); /* no compiler may know that two calls answer the same */
    return core;
}

__attribute__((noinline)) uintptr_t rad__who(void)
{
    rad_core *core = the_core;
    const void *it = core != NULL && core->running != NULL ? (void *)core->running : &the_core;
    uintptr_t who = (uintptr_t)it;    /* asked only whether it is the same. tidy: address ok */
    __asm__ volatile("" : "+r"(who)); /* as above */
    return who;
}

__attribute__((noinline)) void rad__core_set(rad_core *core)
{
    the_core = core;
}

void rad__strand_open(rad_strand *s, rad_runtime *runtime)
{
    s->task.run = rad__strand_run;
    s->runtime = runtime;
    rad__state_init(&s->state_word);
}

/* ---- Landing ----------------------------------------------------------------------------------------- */

/* What the strand that was left asked for; what its run would answer. */
static enum rad_run commit(rad_core *core, rad_strand *s)
{
    switch ((enum rad_leave)s->leave) {
    case RAD_LEAVE_YIELD: rad__state_yield(&s->state_word); return RAD_RUN_YIELD;
    case RAD_LEAVE_PARK:
        s->last = (uint16_t)core->worker->id; /* passed on with the word to who unparks it */
        if (rad__state_park(&s->state_word) == RAD_PARKED) return RAD_RUN_BLOCKED;
        rad__state_yield(&s->state_word); /* it was signalled: it goes on, as one that is next */
        return RAD_RUN_AGAIN;
    default: /* the fiber stack first: another strand may want one as soon as this one can be used again */
        rad__strand_give_stack(core, s);
        rad__state_end(&s->state_word);
        rad__strand_ended(core, s);
        return RAD_RUN_DONE;
    }
}

void rad__strand_commit(rad_core *core, rad_strand *left)
{
    core->left = NULL;
    uint32_t woken = rad__worker_left(core->worker, &left->task, commit(core, left));
    rad__exec_wake_thread(core->runtime->exec, woken);
}

void rad__strand_landed(void)
{
    rad_core *core = rad__core();
    if (core->left != NULL) rad__strand_commit(core, core->left);
}

/* ---- Leaving ----------------------------------------------------------------------------------------- */

void rad__strand_leave(enum rad_leave leave)
{
    rad_core *core = rad__core();
    rad__strand_go(core, rad__strand_next(core), leave);
}

/* Its stack and its place are those of the next one now, which begins as if it had been landed on. */
static void take_over(rad_core *core, rad_fiber_stack *fiber_stack, rad_strand *next)
{
    rad_strand *self = fiber_stack->strand;
    self->fiber_stack = NULL;
    rad__state_end(&self->state_word);
    rad__strand_ended(core, self);
    rad__exec_wake_thread(core->runtime->exec, rad__worker_left(core->worker, &self->task, RAD_RUN_DONE));
    rad__state_own(&next->state_word, core->worker->id);
    fiber_stack->strand = next;
    next->fiber_stack = fiber_stack;
    core->running = next;
}

void rad__strand_end(rad_fiber_stack *fiber_stack)
{
    rad_core *core = rad__core();
    rad_strand *next = rad__strand_next(core);
    if (next != NULL && next->fiber_stack == NULL)
        take_over(core, fiber_stack, next);
    else
        rad__strand_go(core, next, RAD_LEAVE_END);
}

/* Those whose time has come go before s: it may be one that computes for long, and they would wait behind it, where
 * nobody knows that they are overdue. NULL: others have taken them all. */
static rad_strand *timers_first(rad_core *core, rad_strand *s, uint64_t now)
{
    rad_worker *w = core->worker;
    rad_task *next = NULL;
    rad__worker_put_back(w, &s->task);
    rad__timers_expire(rad__rt_worker_of(core), now);
    while (rad__deque_steal(&w->due, &next) == RAD_STEAL_LOST) next = NULL;
    w->current = next;
    return (rad_strand *)next;
}

/* Something that is more overdue than s (which may be NULL); with its share of the rest, which is due here then. */
static rad_strand *overdue_first(rad_core *core, rad_strand *s)
{
    rad_worker *w = core->worker;
    rad_overdue *u = &core->runtime->overdue;
    uint32_t more = rad__overdue_count(u) / rad__sched_live(w->sched);
    rad_strand *overdue = rad__overdue_take(u), *next = NULL;
    if (overdue == NULL) return s;
    if (s != NULL) rad__worker_put_back(w, &s->task);
    bool shares = more > 0;
    while (more-- > 0 && (next = rad__overdue_take(u)) != NULL) rad__worker_put_due(w, &next->task);
    if (shares) {
        rad__worker_set_brief(w, false); /* it is not known how long they run */
        rad__due_offer(core);
    }
    w->current = &overdue->task;
    return overdue;
}

enum rad_run rad__strand_run(rad_task *task, rad_worker *w)
{
    rad_core *core = rad_worker_scratch(w);
    rad_strand *s = (rad_strand *)task;
    rad_runtime *rt = core->runtime;
    if (RAD_UNLIKELY(atomic_load_explicit(&rt->dozing, memory_order_relaxed))) rad__runtime_stir(rt);
    uint64_t now = rad__timers_due(rad__rt_worker_of(core));
    if (RAD_UNLIKELY(now != 0)) s = timers_first(core, s, now);
    if (RAD_UNLIKELY(rad__ready_waits(&rt->ready) != 0)) rad__poller_glance(core);
    if (RAD_UNLIKELY(rad__overdue_any(&rt->overdue))) s = overdue_first(core, s);
    if (RAD_UNLIKELY(s == NULL)) return RAD_RUN_BLOCKED; /* not ours any more */
    rad__state_own(&s->state_word, w->id);
    if (s->fiber_stack == NULL) rad__strand_take_stack(core, s);
    core->running = s;
    rad__context_switch(&core->context, &s->fiber_stack->context);
    rad_strand *left = core->left;
    core->left = NULL;
    return commit(core, left);
}

/* ---- Waking ------------------------------------------------------------------------------------------ */

/* By a worker that has nothing to do, and goes on with it. */
static void queue_idle(rad_strand *s, rad_worker *w)
{
    uint32_t woken =
        w->phase == RAD_PHASE_PARKED ? rad__worker_wake_resting(w, &s->task) : rad__worker_wake(w, &s->task);
    if (woken != w->id) rad__exec_wake_thread(s->runtime->exec, woken);
}

/* Where the waker is, if it is a worker of the same runtime: what it made true is warm there, and it may well park
 * itself next. From outside it is for everybody; who is woken for it is rather the one where its stack is warm. */
static void queue(rad_core *core, rad_strand *s)
{
    if (core == NULL || core->runtime != s->runtime)
        rad__exec_wake_near(s->runtime->exec, s->last, &s->task);
    else if (core->worker->phase == RAD_PHASE_RUN)
        rad_worker_wake(core->worker, &s->task);
    else
        queue_idle(s, core->worker);
}

void rad__strand_unpark(rad_core *core, rad_strand *s, uint32_t generation)
{
    if (rad__state_unpark(&s->state_word, generation) == RAD_UNPARK_QUEUE) queue(core, s);
}

bool rad__strand_hold(rad_strand *s, uint64_t word)
{
    return rad__state_hold(&s->state_word, word);
}

void rad__strand_let_go(rad_strand *s)
{
    if (rad__state_park(&s->state_word) == RAD_PARKED) return;
    rad__state_yield(&s->state_word); /* it was woken meanwhile */
    queue(rad__core(), s);
}

void rad__strand_start(rad_core *core, rad_strand *s)
{
    rad_worker_spawn(core->worker, &s->task);
}
