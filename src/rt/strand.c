#include "rt/strand.h"

#include "rt/runtime.h"

static _Thread_local rad_rt_worker *the_rt_worker __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) rad_rt_worker *rad__rt_worker(void)
{
    rad_rt_worker *rt_worker = the_rt_worker;
    __asm__ volatile("" : "+r"(rt_worker)); /* no compiler may know that two calls answer the same */
    return rt_worker;
}

__attribute__((noinline)) uintptr_t rad__who(void)
{
    rad_rt_worker *rt_worker = the_rt_worker;
    const void *it = rt_worker != NULL && rt_worker->running != NULL ? (void *)rt_worker->running : &the_rt_worker;
    uintptr_t who = (uintptr_t)it;    /* asked only whether it is the same. tidy: address ok */
    __asm__ volatile("" : "+r"(who)); /* as above */
    return who;
}

__attribute__((noinline)) void rad__rt_worker_set(rad_rt_worker *rt_worker)
{
    the_rt_worker = rt_worker;
}

void rad__strand_open(rad_strand *s, rad_runtime *runtime)
{
    s->task.run = rad__strand_run;
    s->runtime = runtime;
    rad__state_init(&s->state_word);
}

/* ---- Landing ----------------------------------------------------------------------------------------- */

/* What the strand that was left asked for; what its run would answer. */
static enum rad_run commit(rad_rt_worker *rt_worker, rad_strand *s)
{
    switch ((enum rad_leave)s->leave) {
    case RAD_LEAVE_YIELD: rad__state_yield(&s->state_word); return RAD_RUN_YIELD;
    case RAD_LEAVE_PARK:
        s->last = (uint16_t)rt_worker->worker->id; /* passed on with the word to who unparks it */
        if (rad__state_park(&s->state_word) == RAD_PARKED) return RAD_RUN_BLOCKED;
        rad__state_yield(&s->state_word); /* it was signalled: it goes on, as one that is next */
        return RAD_RUN_AGAIN;
    default: /* the fiber stack first: another strand may want one as soon as this one can be used again */
        rad__strand_give_stack(rt_worker, s);
        rad__state_end(&s->state_word);
        rad__strand_ended(rt_worker, s);
        return RAD_RUN_DONE;
    }
}

void rad__strand_commit(rad_rt_worker *rt_worker, rad_strand *left)
{
    rt_worker->left = NULL;
    uint32_t woken = rad__worker_left(rt_worker->worker, &left->task, commit(rt_worker, left));
    rad__exec_wake_thread(rt_worker->runtime->exec, woken);
}

void rad__strand_landed(void)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    if (rt_worker->left != NULL) rad__strand_commit(rt_worker, rt_worker->left);
}

/* ---- Leaving ----------------------------------------------------------------------------------------- */

void rad__strand_leave(enum rad_leave leave)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad__strand_go(rt_worker, rad__strand_next(rt_worker), leave);
}

/* Its stack and its place are those of the next one now, which begins as if it had been landed on. */
static void take_over(rad_rt_worker *rt_worker, rad_fiber_stack *fiber_stack, rad_strand *next)
{
    rad_strand *self = fiber_stack->strand;
    self->fiber_stack = NULL;
    rad__state_end(&self->state_word);
    rad__strand_ended(rt_worker, self);
    rad__exec_wake_thread(rt_worker->runtime->exec, rad__worker_left(rt_worker->worker, &self->task, RAD_RUN_DONE));
    rad__state_own(&next->state_word, rt_worker->worker->id);
    fiber_stack->strand = next;
    next->fiber_stack = fiber_stack;
    rt_worker->running = next;
}

void rad__strand_end(rad_fiber_stack *fiber_stack)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad_strand *next = rad__strand_next(rt_worker);
    if (next != NULL && next->fiber_stack == NULL)
        take_over(rt_worker, fiber_stack, next);
    else
        rad__strand_go(rt_worker, next, RAD_LEAVE_END);
}

/* Those whose time has come go before s: it may be one that computes for long, and they would wait behind it, where
 * nobody knows that they are overdue. NULL: others have taken them all. */
static rad_strand *timers_first(rad_rt_worker *rt_worker, rad_strand *s, uint64_t now)
{
    rad_worker *w = rt_worker->worker;
    rad_task *next = NULL;
    rad__worker_put_back(w, &s->task);
    rad__timers_expire(rt_worker, now);
    while (rad__deque_steal(&w->due, &next) == RAD_STEAL_LOST) next = NULL;
    w->current = next;
    return (rad_strand *)next;
}

/* Something that is more overdue than s (which may be NULL); with its share of the rest, which is due here then. */
static rad_strand *overdue_first(rad_rt_worker *rt_worker, rad_strand *s)
{
    rad_worker *w = rt_worker->worker;
    rad_overdue *u = &rt_worker->runtime->overdue;
    uint32_t more = rad__overdue_count(u) / rad__sched_live(w->sched);
    rad_strand *overdue = rad__overdue_take(u), *next = NULL;
    if (overdue == NULL) return s;
    if (s != NULL) rad__worker_put_back(w, &s->task);
    bool shares = more > 0;
    while (more-- > 0 && (next = rad__overdue_take(u)) != NULL) rad__worker_put_due(w, &next->task);
    if (shares) {
        rad__worker_set_brief(w, false); /* it is not known how long they run */
        rad__due_offer(rt_worker);
    }
    w->current = &overdue->task;
    return overdue;
}

enum rad_run rad__strand_run(rad_task *task, rad_worker *w)
{
    rad_rt_worker *rt_worker = rad_worker_scratch(w);
    rad_strand *s = (rad_strand *)task;
    rad_runtime *rt = rt_worker->runtime;
    if (RAD_UNLIKELY(atomic_load_explicit(&rt->dozing, memory_order_relaxed))) rad__runtime_stir(rt);
    uint64_t now = rad__timers_due(rt_worker);
    if (RAD_UNLIKELY(now != 0)) s = timers_first(rt_worker, s, now);
    if (RAD_UNLIKELY(rad__ready_waits(&rt->ready) != 0)) rad__poller_glance(rt_worker);
    if (RAD_UNLIKELY(rad__overdue_any(&rt->overdue))) s = overdue_first(rt_worker, s);
    if (RAD_UNLIKELY(s == NULL)) return RAD_RUN_BLOCKED; /* not ours any more */
    rad__state_own(&s->state_word, w->id);
    if (s->fiber_stack == NULL) rad__strand_take_stack(rt_worker, s);
    rt_worker->running = s;
    rad__context_switch(&rt_worker->context, &s->fiber_stack->context);
    rad_strand *left = rt_worker->left;
    rt_worker->left = NULL;
    return commit(rt_worker, left);
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
static void queue(rad_rt_worker *rt_worker, rad_strand *s)
{
    if (rt_worker == NULL || rt_worker->runtime != s->runtime)
        rad__exec_wake_near(s->runtime->exec, s->last, &s->task);
    else if (rt_worker->worker->phase == RAD_PHASE_RUN)
        rad_worker_wake(rt_worker->worker, &s->task);
    else
        queue_idle(s, rt_worker->worker);
}

void rad__strand_unpark(rad_rt_worker *rt_worker, rad_strand *s, uint32_t generation)
{
    if (rad__state_unpark(&s->state_word, generation) == RAD_UNPARK_QUEUE) queue(rt_worker, s);
}

bool rad__strand_hold(rad_strand *s, uint64_t word)
{
    return rad__state_hold(&s->state_word, word);
}

void rad__strand_let_go(rad_strand *s)
{
    if (rad__state_park(&s->state_word) == RAD_PARKED) return;
    rad__state_yield(&s->state_word); /* it was woken meanwhile */
    queue(rad__rt_worker(), s);
}

void rad__strand_start(rad_rt_worker *rt_worker, rad_strand *s)
{
    rad_worker_spawn(rt_worker->worker, &s->task);
}
