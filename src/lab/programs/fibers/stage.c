/* stage.c — runners and their steps: see stage.h. */
#define _GNU_SOURCE
#include "lab/programs/fibers/stage.h"

#include "base/error.h"
#include "core/kernel.h"
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/outside.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/watched.h"
#include "lab/rig.h"
#include "os/apart.h"
#include "os/context.h"
#include "os/thread_pointer.h"
#include "rt/valid.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

rad_stage rad__stage;

enum { STACK_SIZE = RAD_THREAD_STACK, GUARD_SIZE = 64 << 10, RESERVED_MAX = 32 };

static const char *reserved[RESERVED_MAX];
static uint32_t reserved_count;

/* Private, so that a child of fork has its own; reserved, and paid for page by page. */
static void *reserve(void *near, size_t size)
{
    void *at = mmap(near, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    madvise(at, size, MADV_DONTDUMP); /* … which keeps it apart from the program's mappings */
    return at;
}

void *rad__stage_reserve(size_t size)
{
    RAD_ASSERT(reserved_count < RESERVED_MAX);
    void *at = reserve(rad__os_apart(size), size);
    if (at != NULL) reserved[reserved_count++] = at;
    return at;
}

bool rad__stage_is_reserved(const void *from, size_t size)
{
    for (uint32_t i = 0; i < reserved_count; i++)
        if ((size_t)(reserved[i] - (const char *)from) < size) return true;
    return false;
}

int rad__stage_open(rad_error *error)
{
    rad__stage.runners = rad__stage_reserve(RAD_RUNNERS_MAX * sizeof *rad__stage.runners);
    rad__stage.due = rad__stage_reserve(RAD_RUNNERS_MAX * sizeof *rad__stage.due);
    rad__stage.oldest = rad__stage.newest = RAD_NONE;
    rad__names_open();
    return rad__stage.runners && rad__stage.due ? 0 : rad__error_memory(error);
}

/* ---- Runners ------------------------------------------------------------------------------------------ */

static enum rad_access site_access(uint32_t site, const void *object)
{
    switch (site) {
    case RAD_AT_LOAD:
    case RAD_AT_READ:
    case RAD_AT_chan_count:
    case RAD_AT_chan_code:
    case RAD_AT_pool_code:
    case RAD_AT_talk_code:
    case RAD_AT_semaphore_permits: return RAD_READ;
    default: return object ? RAD_WRITE : RAD_LOCAL;
    }
}

static void tell_announce(const rad_runner *r)
{
    uint32_t object = rad__object_at(r->object, r->site);
    rad__tell_announce(r->number, r->site, object, site_access(r->site, r->object));
    if (rad__tell_streams()) rad__frames_tell_call(r);
}

void rad__runner_announce(rad_runner *r, uint32_t site, const void *object)
{
    r->site = site;
    r->object = object;
    if (!rad__stage.prefix) tell_announce(r);
}

static void tell_runner(const rad_runner *r)
{
    uint32_t actor = rad__tell_actor(r->spawner, r->role);
    rad__tell_action(r->kind == RAD_RUNNER_CLOCK ? RAD_FIBER_TICK : RAD_FIBER_RUN, actor);
}

rad_runner *rad__runner_add(enum rad_runner_kind kind, const char *role, uint32_t site)
{
    rad_stage *s = &rad__stage;
    if (s->runner_count == RAD_RUNNERS_MAX) rad__program_refused("rad_spawn", "more than a million fibers in one run");
    rad_runner *r = &s->runners[s->runner_count];
    *r = (rad_runner){.kind = (uint8_t)kind,
                      .number = s->runner_count++,
                      .spawner = s->current ? s->current->number : RAD_NONE,
                      .role = role,
                      .site = site,
                      .due_ns = UINT64_MAX,
                      .deadline_ns = UINT64_MAX};
    if (!s->prefix) {
        tell_runner(r);
        tell_announce(r);
    }
    rad__watched_begins(r);
    return r;
}

static void list_add(rad_runner *r)
{
    rad_stage *s = &rad__stage;
    r->older = s->newest;
    r->newer = RAD_NONE;
    *(s->newest == RAD_NONE ? &s->oldest : &s->runners[s->newest].newer) = r->number;
    s->newest = r->number;
}

static void list_remove(const rad_runner *r)
{
    rad_stage *s = &rad__stage;
    *(r->older == RAD_NONE ? &s->oldest : &s->runners[r->older].newer) = r->newer;
    *(r->newer == RAD_NONE ? &s->newest : &s->runners[r->newer].older) = r->older;
}

void rad__runner_enable(rad_runner *r)
{
    if (r->enabled) return;
    r->enabled = true;
    rad__stage.woke = true;
    r->since_ns = rad__stage.now_ns;
    rad__stage.enabled_count++;
    if (r->kind != RAD_RUNNER_CLOCK) list_add(r);
    rad__time_changed(r);
    if (!rad__stage.prefix) rad__tell_enable(r->number);
}

void rad__runner_disable(rad_runner *r)
{
    if (!r->enabled) return;
    r->enabled = false;
    rad__stage.enabled_count--;
    if (r->kind != RAD_RUNNER_CLOCK) list_remove(r);
    rad__time_changed(r);
    if (!rad__stage.prefix) rad__tell_disable(r->number);
}

/* ---- Threads: coroutines ------------------------------------------------------------------------------ */

static void thread_body(void *argument)
{
    rad_runner *r = argument;
    r->body(r->argument);
    for (;;) rad__thread_leave(RAD_RUN_DONE);
}

rad_runner *rad__thread_add(const char *role, uint32_t site, void (*body)(void *), void *argument)
{
    char *stack = reserve(NULL, STACK_SIZE + GUARD_SIZE); /* the program has its addresses */
    if (stack == NULL || mprotect(stack, GUARD_SIZE, PROT_NONE) != 0)
        rad__program_refused("rad_blocking", "no memory for the stack of a thread");
    rad_runner *r = rad__thread_add_on(role, site, body, argument, stack + GUARD_SIZE, STACK_SIZE);
    rad__runner_enable(r);
    return r;
}

rad_runner *rad__thread_add_on(const char *role, uint32_t site, void (*body)(void *), void *argument, void *stack,
                               size_t size)
{
    rad_runner *r = rad__runner_add(RAD_RUNNER_THREAD, role, site);
    r->body = body;
    r->argument = argument;
    r->stack = stack;
    r->stack_size = size;
    rad__context_make(&r->context, stack, size, thread_body, r);
    return r;
}

void rad__thread_leave(enum rad_run answer)
{
    rad_runner *r = rad__stage.current;
    r->answer = answer;
    rad__context_switch(&r->context, &rad__stage.kernel);
}

uint32_t rad__threads_wake(const void *word, uint32_t count)
{
    uint32_t woken = 0;
    for (uint32_t i = 0; i < rad__stage.runner_count && woken < count; i++) {
        rad_runner *r = &rad__stage.runners[i];
        if (r->kind != RAD_RUNNER_THREAD || r->word != word || rad__thread_is_waiting(r)) continue;
        r->word = NULL;
        r->deadline_ns = UINT64_MAX;
        r->woken = true;
        rad__runner_enable(r);
        woken++;
    }
    return woken;
}

/* ---- Points ------------------------------------------------------------------------------------------- */

/* Handlers are called before the runner does what it is about to do, which others may then precede. */
static void signals_come(rad_runner *r, uint32_t site, const void *object)
{
    while (r->thread && rad__signal_comes(r->thread)) {
        rad__signals_handle();
        r->site = site;
        r->object = object;
        rad__thread_leave(RAD_RUN_YIELD);
    }
    if (r->thread == NULL) rad__signals_handle();
}

void rad__point(uint32_t site, const void *object)
{
    rad_runner *r = rad__stage.current;
    if (!rad__stage.running) return;
    rad__stage.points++;
    r->site = site;
    r->object = object;
    if (site != RAD_AT_yield) r->looks = 0;
    if (r->kind == RAD_RUNNER_FIBER)
        rad__strand_leave(RAD_LEAVE_YIELD);
    else
        rad__thread_leave(RAD_RUN_YIELD);
    if (rad__monitor != NULL) rad__watched_operation(site, object);
    if (RAD_UNLIKELY(rad__signals_pending > 0)) signals_come(r, site, object);
    if (RAD_UNLIKELY(rad__stage.stops)) {
        rad__stage.stops = false;
        rad__debugger_stop();
    }
}

void rad__leave_for_good(void)
{
    rad__stage.over = true;
    for (;;) {
        rad_rt_worker *rt_worker = rad__rt_worker();
        if (rad__stage.current->kind != RAD_RUNNER_FIBER) {
            rad__thread_leave(RAD_RUN_BLOCKED);
        } else { /* as if it parked, whatever it holds */
            rad_strand *self = rt_worker->running;
            self->leave = RAD_LEAVE_PARK;
            rt_worker->left = self;
            rad__context_switch(&self->fiber_stack->context, &rt_worker->context);
        }
    }
}

void rad__program_exits(int status)
{
    rad_stage_end *e = &rad__stage.end;
    if (e->oracle == RAD_NONE && e->error == 0) {
        e->status = status;
        if (status != 0) {
            rad__debugger_stop();
            e->oracle = RAD_ORACLE_EXIT;
            snprintf(e->at, sizeof e->at, "%d", status);
            snprintf(e->message, sizeof e->message, "the program ended with exit status %d", status);
        }
    }
    rad__leave_for_good();
}

void rad__program_fails(uint32_t oracle, const char *at, const char *format, ...)
{
    rad_stage_end *e = &rad__stage.end;
    rad_runner *r = rad__stage.current;
    va_list args;
    e->oracle = oracle;
    e->runner = r;
    if (oracle == RAD_ORACLE_MISUSE || oracle == RAD_ORACLE_CLOSED) {
        e->object = r->object;
        e->site = r->site;
    }
    snprintf(e->at, sizeof e->at, "%s", at);
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    rad__debugger_stop();
    rad__leave_for_good();
}

void rad__program_refused(const char *call, const char *why)
{
    char text[400];
    snprintf(text, sizeof text, "the program calls %s: %s", call, why);
    rad__program_unfit(text);
}

void rad__program_unfit(const char *why)
{
    rad_stage_end *e = &rad__stage.end;
    e->error = RAD_EINPUT;
    snprintf(e->message, sizeof e->message, "%s", why);
    rad__leave_for_good();
}

void rad__stage_is_uncontrolled(void)
{
    if (!rad__stage.uncontrolled && !rad__stage.prefix && rad__stage.in_lab)
        rad__tell_evaluated(RAD_ORACLE_UNCONTROLLED);
    rad__stage.uncontrolled = true;
}

/* A failure that came after the clock had overtaken a runner: with a faster one it might not have been. */
static void add_delay(char *message, size_t size)
{
    size_t used = strlen(message);
    if (rad__stage.delayed == NULL) return;
    snprintf(message + used, size - used, " (needs %s to be delayed beyond %.3f ms)", rad__stage.delayed,
             (double)rad__stage.delay_ns / 1e6);
}

void rad__stage_tell_end(void)
{
    rad_stage_end *e = &rad__stage.end;
    rad__around_end();
    rad__tell_evaluated(RAD_ORACLE_EXIT);
    rad__tell_evaluated(RAD_ORACLE_MISUSE);
    if (rad__stage.memory_limit > 0) rad__tell_evaluated(RAD_ORACLE_MEMORY);
    if (e->error != 0) rad__tell_error(e->error, e->message);
    if (e->error == 0 && e->oracle != RAD_NONE) {
        add_delay(e->message, sizeof e->message);
        rad__frames_tell_all(true);
        rad__tell_failure(e->oracle, rad__object_at(e->object, e->site), e->at, e->message);
    }
    if (e->error == 0 && e->oracle == RAD_NONE && rad__stage.stuck_since > 0) rad__stuck_report_threads();
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        rad_runner *r = &rad__stage.runners[i];
        rad__runner_disable(r);
        if (!r->ended) rad__tell_ended(r->number);
        r->ended = true;
    }
}

/* ---- Steps -------------------------------------------------------------------------------------------- */

static enum rad_run run_fiber(rad_runner *r)
{
    rad_lab_exec *x = r->exec;
    rad_task *task = &r->slot->strand.task;
    rad__rt_worker_set(x->shell.scratch);
    x->shell.worker.current = task;
    if (RAD_UNLIKELY(rad__signal_files_used)) rad__signal_files_show(NULL);
    enum rad_run answer = rad__strand_run(task, &x->shell.worker);
    rad__rt_worker_set(NULL);
    return answer;
}

void rad__stage_switch(rad_runner *r)
{
    if (RAD_UNLIKELY(rad__signal_stacks)) rad__signal_stack_use(r->thread);
    if (RAD_UNLIKELY(rad__signal_files_used)) rad__signal_files_show(r->thread);
    rad__dispatch_shut(true);
    rad__context_switch(&rad__stage.kernel, &r->context);
    rad__dispatch_shut(false);
}

static enum rad_run run_thread(rad_runner *r)
{
    void *own = rad__thread_pointer_get();
    bool lends = r->pointer != NULL;
    if (RAD_UNLIKELY(lends && rad__stage.real_threads) && rad__baton_step(r)) return r->answer;
    if (lends) rad__thread_pointer_set(r->pointer);
    rad__stage_switch(r);
    if (lends) rad__thread_pointer_set(own);
    return r->answer;
}

static void runner_ended(rad_runner *r)
{
    r->ended = true;
    rad__runner_disable(r);
    rad__watched_ended(r);
    if (!rad__stage.prefix) rad__tell_ended(r->number);
    if (r->kind == RAD_RUNNER_FIBER)
        rad__exec_ended(r->exec);
    else
        rad__threads_wake(r, UINT32_MAX); /* who joins it */
}

/* Woken for a mutex, it found it taken, and waits again. In production that ends after a millisecond (rt/mutex.c), so
 * it is part of no round that repeats for ever (round.c). */
static bool was_passed_by(const rad_runner *r)
{
    uint64_t what = atomic_load_explicit(&r->slot->waits_for, memory_order_relaxed);
    return r->site == RAD_AT_RESUME && what >> 56 == RAD_KIND_MUTEX;
}

static void runner_waits(rad_runner *r)
{
    uint32_t object = RAD_NONE, holder = RAD_NONE;
    rad__runner_disable(r);
    if (rad__stage.prefix) return;
    if (rad__thread_is_waiting(r)) {
        tell_announce(r);
        rad__thread_tell_wait(r);
    }
    if (r->kind != RAD_RUNNER_FIBER) return;
    rad__stage.passed_by += was_passed_by(r);
    rad__fiber_waits(r, &object, &holder);
    rad__tell_wait(r->number, object, holder);
}

/* Between two steps, so nobody holds a lock of rt. A nursery in a frame that was left is the program's mistake, and is
 * reported where it is used. */
static void check_runtimes(rad_stage *s)
{
    s->next_check = s->steps + (s->shared && s->shared->check ? 1 : RAD_CHECK_EVERY);
    for (const rad_lab_exec *x = s->execs; x != NULL; x = x->next) {
        const rad_runtime *rt = ((const rad_rt_worker *)x->shell.scratch)->runtime;
        const char *wrong = rt != NULL ? rad__runtime_wrong(rt) : NULL;
        char text[200];
        if (wrong == NULL) continue;
        snprintf(text, sizeof text, "%s: a bug in raddle, or the program has written into memory of its runtime",
                 wrong);
        rad__tell_error(RAD_EBUG, text);
        return;
    }
}

void rad__stage_step(rad_runner *r)
{
    rad_stage *s = &rad__stage;
    const void *object = r->object;
    bool unlocks = r->site == RAD_AT_rwlock_unlock || r->site == RAD_AT_pthread_rwlock_unlock;
    s->own_steps += r->kind != RAD_RUNNER_CLOCK && !rad__thread_is_aside(r);
    s->current = r;
    s->looks_in_step = s->counts_in_step = 0;
    s->woke = false;
    if (r->kind == RAD_RUNNER_CLOCK) {
        rad__time_tick();
    } else {
        s->running = true;
        r->after_ns = 0;
        s->progress += r->thread == NULL;
        enum rad_run answer = r->kind == RAD_RUNNER_FIBER ? run_fiber(r) : run_thread(r);
        s->running = false;
        if (s->over) {
            if (!s->prefix) rad__stage_tell_end();
            return;
        }
        switch (answer) {
        case RAD_RUN_YIELD:
            if (r->word != NULL) { /* it sleeps in a call of the C library */
                rad__runner_announce(r, RAD_AT_RESUME, NULL);
                rad__runner_disable(r);
            } else if (!s->prefix) {
                tell_announce(r);
                if (r->site == RAD_AT_yield) rad__tell_yields(r->fair);
                r->fair = false;
            }
            break;
        case RAD_RUN_AGAIN: rad__runner_announce(r, RAD_AT_RESUME, NULL); break;
        case RAD_RUN_BLOCKED: runner_waits(r); break;
        default: runner_ended(r);
        }
        rad__time_changed(r);
    }
    rad__time_settle();
    if (s->prefix) return;
    rad__hopeless_look(r);
    if (RAD_UNLIKELY((r->thread && !r->enabled) || s->stuck_since > 0)) rad__stuck_look(r);
    if (RAD_UNLIKELY(++s->steps >= s->next_look)) rad__laps_look(r, object);
    if (RAD_UNLIKELY(unlocks | s->bypasses)) rad__bypass_look(r, unlocks, object);
    if (RAD_UNLIKELY(s->steps >= s->next_check)) check_runtimes(s);
}

/* ---- From the beginning to the first decision ---------------------------------------------------------- */

static void main_body(void *unused)
{
    const rad_stage *s = &rad__stage;
    (void)unused;
    rad__exit(rad__main_runs(s->main, s->argc, s->argv, s->envp));
}

/* The kernel decides something in such a step, also if nobody else can run. */
static bool site_picks(uint32_t site)
{
    return site == RAD_AT_select || (site >= RAD_AT_CHOOSE && site <= RAD_AT_FAULT);
}

/* The only one that can run, if that is no choice. */
static rad_runner *only_runner(void)
{
    rad_stage *s = &rad__stage;
    if (s->over || s->enabled_count != 1) return NULL;
    rad_runner *only = s->clock && s->clock->enabled ? s->clock : &s->runners[s->oldest];
    return site_picks(only->site) || rad__thread_may_pick(only) ? NULL : only;
}

enum { PREFIX_STEPS_MAX = 100000 }; /* a program may yield for ever: the kernel has a limit for that */

void rad__stage_begin(void)
{
    rad_stage *s = &rad__stage;
    s->prefix = true;
    rad__watched_program();
    rad__time_look(); /* which begins it */
    rad__around_begin();
    s->end.oracle = RAD_NONE;
    rad__threads_begin(rad__thread_add("main", RAD_AT_MAIN, main_body, NULL));
    s->clock = rad__runner_add(RAD_RUNNER_CLOCK, "clock", RAD_AT_TICK);
    rad_runner *r;
    for (uint32_t i = 0; i < PREFIX_STEPS_MAX && (r = only_runner()) != NULL; i++) rad__stage_step(r);
    s->current = NULL;
    s->prefix = false;
    rad__around_began();
}

void rad__stage_tell_runners(void)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) tell_runner(&rad__stage.runners[i]);
}

static void tell_beginning(void)
{
    rad_stage *s = &rad__stage;
    rad__stage_tell_runners();
    rad__objects_tell();
    for (uint32_t i = 0; i < s->runner_count; i++) {
        rad_runner *r = &s->runners[i];
        uint32_t object = RAD_NONE, holder = RAD_NONE;
        tell_announce(r);
        if (r->ended) {
            rad__tell_ended(r->number);
        } else if (r->enabled) {
            rad__tell_enable(r->number);
        } else if (rad__thread_is_waiting(r)) {
            rad__thread_tell_wait(r);
        } else if (r->kind == RAD_RUNNER_FIBER) {
            rad__fiber_waits(r, &object, &holder);
            rad__tell_wait(r->number, object, holder);
        }
    }
}

/* ---- The machine -------------------------------------------------------------------------------------- */

static int machine_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    (void)c;
    (void)error;
    *self = &rad__stage;
    return 0;
}

static void machine_destroy(void *self)
{
    (void)self;
}

/* A process takes one run through its steps, so this is called when the prefix has run, and only says what there
 * is. */
static void machine_reset(void *self, rad_kernel *k)
{
    rad_stage *s = self;
    rad__tell_open(k);
    rad__tell_rounds();
    rad__around_run();
    rad__watched_run();
    tell_beginning();
    if (s->uncontrolled) rad__tell_evaluated(RAD_ORACLE_UNCONTROLLED);
    if (s->shared) { /* what the beginning did, it did in each run */
        rad__outside_join(&s->shared->outside, &s->outside);
        s->shared->timed |= s->timed;
        s->shared->waited |= s->waited;
    }
    rad__goals_tell();
    bool failed = s->end.oracle != RAD_NONE && s->end.oracle != RAD_ORACLE_EXIT;
    if (s->points == 0 && !failed)
        rad__tell_error(RAD_EINPUT, s->end.error ? s->end.message
                                                 : "the program ended before it made an operation on fibers, "
                                                   "channels or locks: there is nothing to explore");
    else if (s->over)
        rad__stage_tell_end();
}

static void machine_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_stage *s = self;
    (void)k;
    rad__stage_step(&s->runners[action]);
}

static enum rad_end machine_idle(void *self, rad_kernel *k)
{
    rad_stage *s = self;
    (void)k;
    if (!s->over) check_runtimes(s);
    if (!s->over) rad__hopeless_end();
    return s->over ? RAD_END_FINISHED : RAD_END_STUCK;
}

const rad_machine rad__fiber_machine = {
    .name = "program",
    .about = "a program with fibers",
    .oracles = rad__fiber_oracles,
    .bug_site = RAD_NONE,
    .create = machine_create,
    .destroy = machine_destroy,
    .reset = machine_reset,
    .step = machine_step,
    .idle = machine_idle,
};
