/* crew.c — no model: see crew.h. */
#include "crew.h"

#include "base/alloc.h"
#include "lab/l2/model.h"
#include "os/clock.h"

enum { STACK = 16 << 10 };

static rad_exec executor;
static rad_shell shells[RAD_CREW_WORKERS];
static rad_runtime runtime;
static rad_slot *slots[RAD_CREW_SLOTS];
static uint32_t slot_count;
static rad_fiber_stack fiber_stacks[RAD_CREW_SLOTS];
static bool is_whole;

/* As in rt/runtime.c. */
static uint64_t worker_rests(void *context, rad_worker *w)
{
    rad_rt_worker *rt_worker = rad_worker_scratch(w);
    (void)context;
    return rad__timers_rest(rt_worker);
}

/* As in rt/runtime.c, which is not compiled for models. */
void rad__strand_overflows(rad_strand *self)
{
    (void)self;
    RAD_MODEL_ASSERT(!"a fiber's stack pointer is outside its stack");
    __builtin_trap();
}

static void slot_open(rad_slot **list)
{
    rad_slot *slot = rad__alloc_lines(1, sizeof *slot);
    RAD_MODEL_ASSERT(slot_count < RAD_CREW_SLOTS);
    rad_stack stack = {.base = rad__alloc_lines(1, STACK), .size = STACK, .number = slot_count};
    rad__fiber_stack_add(&runtime.fiber_stacks, &fiber_stacks[slot_count], &stack);
    slots[slot_count++] = slot;
    rad__waitable_open(&slot->done, RAD_KIND_FIBER);
    rad__strand_open(&slot->strand, &runtime);
    slot->next = *list;
    *list = slot;
    rad__model_name(slot, sizeof *slot, "fiber");
}

static void worker_open(uint32_t id, uint32_t inside)
{
    rad_shell *shell = &shells[id];
    rad_rt_worker *rt_worker = rad__alloc_lines(1, sizeof *rt_worker);
    RAD_MODEL_ASSERT(rad__worker_open(&shell->worker, &executor.sched, id));
    rt_worker->worker = &shell->worker;
    rt_worker->runtime = &runtime;
    for (; rt_worker->idle_count < inside; rt_worker->idle_count++) slot_open(&rt_worker->idle);
    rt_worker->prng = rad__prng(1, RAD_STREAM_SELECT, id);
    rad__timers_open(rt_worker, 0);
    shell->exec = &executor;
    shell->scratch = rt_worker;
    rad__model_name(rt_worker, sizeof *rt_worker, "seat");
}

void rad__crew_open(uint32_t workers, uint32_t outside, uint32_t inside, bool whole)
{
    rad_sched_config config = {.workers = workers, .steal_tries = 1, .hoard = 1, .rounds = 1, .ring = 4};
    executor.shells = shells;
    executor.hooks.rest = worker_rests;
    runtime.exec = &executor;
    is_whole = whole;
    RAD_MODEL_ASSERT(rad__sched_open(&executor.sched, &config));
    rad__idle_lighten(&executor.sched.idle, rad__os_barrier_register());
    rad__model_name(executor.sched.idle.seats, workers * sizeof *executor.sched.idle.seats, "token");
    rad__model_name(&executor, sizeof executor, "executor");
    rad__model_name(shells, sizeof shells, "shell");
    rad__model_name(&runtime, sizeof runtime, "runtime");
    rad__model_name(fiber_stacks, sizeof fiber_stacks, "berth");
    for (uint32_t i = 0; i < workers; i++) worker_open(i, inside);
    for (uint32_t i = 0; i < outside; i++) slot_open(&runtime.idle);
}

rad_runtime *rad__crew_runtime(void)
{
    return &runtime;
}

void rad__crew_polls(void)
{
    executor.hooks.context = &runtime;
    executor.hooks.sleep = rad__poller_sleeps;
    executor.hooks.wake = rad__poller_wakes;
}

void rad__crew_spawn(rad_fiber *fiber, rad_fn fn, void *arg)
{
    int code = 0;
    rad_slot *slot = rad__slot_take(&runtime, NULL, &code);
    RAD_MODEL_ASSERT(slot != NULL);
    rad__fiber_begin(slot, fiber, fn, arg);
    RAD_MODEL_ASSERT(rad_exec_spawn(&executor, &slot->strand.task));
}

void rad__crew_shut(void)
{
    uint32_t workers = executor.sched.config.workers;
    if (!rad__sched_shut(&executor.sched)) return;
    rad__sched_finish(&executor.sched);
    for (uint32_t i = 0; i < workers; i++) {
        rad__idle_call(&executor.sched.idle, i);
        rad__exec_wake_thread(&executor, i);
    }
}

/* Fewer steps, and the same outcomes:
 * queues     have models of their own, in which each of their operations is as if it were one step;
 * unlocking  lets others go on and sees nothing: whatever they do before it they could do after it;
 * state word whoever changes one looks at it first, and looks again when it has changed meanwhile;
 * others     is about the end, timers, files, the watch and sleeping workers, which are not there, or count for
 *            nobody to read. */
void rad__crew_coarse(void)
{
    static const char queues[] = "deque injector";
    static const char silent[] = "rad__unlock rad__state_change:load rad__state_park:load rad__state_unpark:load "
                                 "rad__state_retire:load "
                                 "rad__sched_is_done rad__strand_run rad__wheel_next rad__urgent_any rad__ready_waits "
                                 "rad__fiber_waits_for rad__visit_begin rad__visit_end rad__idle_could_wake wake_one "
                                 "bits_any count_up";
    RAD_MODEL_ASSERT(!is_whole);
    rad__model_coarse(queues, silent);
}

/* ---- Workers that are not whole ------------------------------------------------------------------------- */

static rad_task *oldest_of(rad_deque *d)
{
    rad_task *task = NULL;
    return !rad__deque_is_empty(d) && rad__deque_steal(d, &task) == RAD_STEAL_GOT ? task : NULL;
}

/* Only looks, as long as there is nothing: the lab lets whoever repeats itself stand aside. */
static rad_task *find(rad_worker *w)
{
    rad_sched *s = w->sched;
    rad_task *task = w->ahead ? rad__worker_take_ahead(w) : NULL;
    if (task == NULL && !rad__deque_is_empty(&w->local)) task = rad__deque_pop(&w->local);
    for (uint32_t i = 0; task == NULL && i < s->config.workers; i++) {
        rad_worker *other = s->workers[(w->id + i) % s->config.workers];
        if (other != w) task = oldest_of(&other->due);
        if (other != w && task == NULL) task = oldest_of(&other->woken);
        if (other != w && task == NULL) task = oldest_of(&other->local);
        if (task == NULL) task = oldest_of(&other->later);
    }
    if (task == NULL && !rad__injector_is_empty(&s->injector)) rad__injector_pop(&s->injector, &task, 1);
    return task;
}

/* It has nothing to do: the gate is told what it did before. */
static void settle(rad_worker *w)
{
    uint32_t credit = w->credit;
    w->credit = 0;
    if (credit > 0 && rad__gate_leave(&w->sched->gate, credit) == RAD_GATE_LAST) rad__sched_finish(w->sched);
}

static void run(rad_worker *w, rad_task *task)
{
    enum rad_run answer;
    w->current = task;
    w->phase = RAD_PHASE_RUN;
    do answer = w->current->run(w->current, w);
    while (answer == RAD_RUN_AGAIN);
    rad__worker_left(w, w->current, answer);
    w->current = NULL;
    w->phase = RAD_PHASE_PICK;
}

void rad__crew_work(uint32_t id)
{
    rad_shell *shell = &shells[id];
    rad_worker *w = &shell->worker;
    rad__rt_worker_set(shell->scratch);
    while (is_whole && w->phase != RAD_PHASE_STOPPED) rad__shell_step(shell);
    while (!is_whole && !rad__sched_is_done(w->sched)) {
        rad_task *task = find(w);
        if (task)
            run(w, task);
        else
            settle(w);
    }
}

/* ---- The end --------------------------------------------------------------------------------------------- */

static uint32_t length(const rad_slot *slot)
{
    uint32_t count = 0;
    for (; slot != NULL; slot = slot->next) count++;
    return count;
}

void rad__crew_close(void)
{
    uint32_t idle = length(runtime.idle);
    RAD_MODEL_ASSERT(rad__sched_leftover(&executor.sched) == NULL);
    for (uint32_t i = 0; i < executor.sched.config.workers; i++) {
        rad_rt_worker *rt_worker = shells[i].scratch;
        RAD_MODEL_ASSERT(rt_worker->left == NULL);
        RAD_MODEL_ASSERT(rad__wheel_next(&rt_worker->wheel) == UINT64_MAX);
        idle += length(rt_worker->idle);
        rad__worker_close(&shells[i].worker);
        rad__free(rt_worker);
    }
    RAD_MODEL_ASSERT(idle == slot_count); /* each was given back, once */
    for (uint32_t i = 0; i < slot_count; i++) {
        uint64_t word = rad__state_look(&slots[i]->strand.state_word);
        RAD_MODEL_ASSERT(rad__state_of(word) == RAD_FIBER_IDLE);
        RAD_MODEL_ASSERT(slots[i]->strand.fiber_stack == NULL && fiber_stacks[i].strand == NULL);
        rad__free(fiber_stacks[i].base);
        rad__free(slots[i]);
    }
    rad__ready_close(&runtime.ready);
    rad__sched_close(&executor.sched);
}
