/* machine.c — the executor as a machine of the lab: production's step functions, with the kernel as their shell.
 *
 * Actions, in canonical order
 *     event i    one that is due: an I/O completion wakes one waiter a step, a close calls one worker a step
 *     timer      one sleeper that is due
 *     worker i   one step of production; not offered while it waits for its wake word, nor once it has stopped
 *     clock      time goes on to the next sleeper or event; only when nothing else can happen, unless the case
 *                says that time races
 *
 * The draw for a victim is a choice inside the worker's step. */
#include "base/alloc.h"
#include "core/kernel.h"
#include "lab/machines/executor/executor.h"
#include "lab/machines/executor/world.h"

#include <stdio.h>
#include <string.h>

enum { CENSUS_EVERY = 1024, SLEEPERS_MAX = RAD_TASKS_CHUNK * RAD_TASK_CHUNKS_MAX };

/* A task that fans out in all ways there are, two workers, and somebody who shuts the gate meanwhile. */
static const char exec_default[] =
    "{\"executor\":{\"workers\":2,\"steal_tries\":1,\"hoard\":2},\"resources\":[1],"
    "\"programs\":[{\"name\":\"fan\",\"code\":[\"spawn leaf local\",\"spawn leaf global\",\"spawn "
    "leaf local\","
    "\"yield local\",\"wait-io 0\"]},"
    "{\"name\":\"leaf\",\"code\":[\"try-acquire 0 1 ok 1 fail 3\",\"sleep 1\",\"release 0 1\"]}],"
    "\"tasks\":[\"fan\"],\"runnable\":[0],\"events\":[\"1 io 0\",\"2 close\"]}";

/* Sites: phases but RUN and STOPPED, then what RUN does, then what comes from outside, then how runs end. */
enum {
    SITE_OP = RAD_PHASE_STOPPED - 1,
    SITE_EVENT = SITE_OP + RAD_OP_COUNT,
    SITE_TIMER = SITE_EVENT + RAD_EVENT_CLOSE + 1,
    SITE_CLOCK,
    SITE_END, /* completed, refused, deadlock */
    SITE_COUNT = SITE_END + RAD_EXPECT_DEADLOCK
};

static uint32_t site_of_phase(uint32_t phase)
{
    return phase < RAD_PHASE_RUN ? phase : phase - 1;
}

static const char *const oracle_names[] = {
#define ORACLE_NAME(name, text) text,
    RAD_EXEC_ORACLE_LIST(ORACLE_NAME)
#undef ORACLE_NAME
        NULL};

/* ---- What is enabled -------------------------------------------------------------------------------- */

static bool worker_can_step(const rad_exec_world *w, uint32_t i)
{
    return w->workers[i].phase != RAD_PHASE_STOPPED && !rad__worker_waits(&w->workers[i]);
}

/* What its next step touches first: enough to tell steps apart that have nothing to do with each other. */
static void worker_announce(rad_exec_world *w, uint32_t i)
{
    const rad_worker *production = &w->workers[i];
    uint32_t object = w->worker_objects[i], site = site_of_phase(production->phase);
    enum rad_access access = RAD_WRITE;
    switch (production->phase) {
    case RAD_PHASE_RUN: site = SITE_OP + rad__vm_next_op(w, (const rad_vm_task *)production->current); break;
    case RAD_PHASE_SEARCH:
    case RAD_PHASE_FOUND:
    case RAD_PHASE_SPREAD:
    case RAD_PHASE_ANNOUNCE:
    case RAD_PHASE_NOTIFY: object = w->idle_object; break;
    case RAD_PHASE_SETTLE:
    case RAD_PHASE_CALL: object = w->gate_object; break;
    case RAD_PHASE_RECHECK:
        object = w->injector_object;
        access = RAD_READ;
        break;
    default: break;
    }
    rad_announce(w->k, w->worker_actions[i], site, object, access);
}

static void worker_settle(rad_exec_world *w, uint32_t i)
{
    if (worker_can_step(w, i)) {
        worker_announce(w, i);
        rad_enable(w->k, w->worker_actions[i]);
        return;
    }
    rad_disable(w->k, w->worker_actions[i]);
    if (w->workers[i].phase == RAD_PHASE_STOPPED)
        rad_ended(w->k, w->worker_actors[i]);
    else
        rad_wait(w->k, w->worker_actors[i], w->idle_object, RAD_NONE);
}

void rad__world_wake(rad_exec_world *w, uint32_t worker)
{
    if (worker == RAD_NONE || worker >= w->c->workers) return;
    rad__world_note(w, RAD_NOTE_WAKES, worker);
    worker_settle(w, worker);
}

/* The next moment at which something happens by itself; false: nothing will. */
static bool next_moment(const rad_exec_world *w, uint64_t *at)
{
    rad_queued sleeper;
    bool found = rad__event_queue_peek(&w->sleepers, &sleeper);
    *at = found ? sleeper.time : UINT64_MAX;
    for (uint32_t i = 0; i < w->c->event_count; i++)
        if (!w->delivered[i] && w->c->events[i].at > w->now && w->c->events[i].at < *at) {
            *at = w->c->events[i].at;
            found = true;
        }
    return found && *at > w->now;
}

static void offer(rad_exec_world *w, uint32_t action, bool possible)
{
    if (possible == rad_is_enabled(w->k, action)) return;
    if (possible)
        rad_enable(w->k, action);
    else
        rad_disable(w->k, action);
}

static void outside_settle(rad_exec_world *w)
{
    rad_queued sleeper;
    uint64_t at;
    offer(w, w->timer_action, rad__event_queue_peek(&w->sleepers, &sleeper) && sleeper.time <= w->now);
    uint32_t others = rad_enabled_count(w->k) - rad_is_enabled(w->k, w->clock_action);
    offer(w, w->clock_action, (w->c->eager_time || others == 0) && next_moment(w, &at));
}

static void events_become_due(rad_exec_world *w)
{
    for (uint32_t i = 0; i < w->c->event_count; i++)
        if (!w->delivered[i] && w->c->events[i].at <= w->now) rad_enable(w->k, w->event_actions[i]);
}

/* ---- Steps ------------------------------------------------------------------------------------------ */

/* What a step of production came to, for the story; a task has told its instruction itself. */
static void note_step(rad_exec_world *w, const rad_worker *production, const rad_step *step)
{
    const rad_vm_task *t = (const rad_vm_task *)production->current;
    bool tries = step->phase == RAD_PHASE_STEAL && step->victim != RAD_NONE;
    if (step->phase == RAD_PHASE_SEARCH && production->phase == RAD_PHASE_STEAL)
        rad__world_note(w, RAD_NOTE_SEARCHES, 0);
    if (step->phase == RAD_PHASE_RECHECK)
        rad__world_note(w, production->phase == RAD_PHASE_NOTIFY ? RAD_NOTE_SEES : RAD_NOTE_PARKS, 0);
    if (step->phase == RAD_PHASE_PARKED) rad__world_note(w, RAD_NOTE_GETS_UP, 0);
    if (step->phase != RAD_PHASE_PICK && step->phase != RAD_PHASE_STEAL) return;
    if (step->source == RAD_FROM_NOWHERE) {
        rad__world_note(w, tries ? RAD_NOTE_TRIED : RAD_NOTE_NOWHERE, tries ? step->victim : 0);
        return;
    }
    rad__world_note(w, RAD_NOTE_NOWHERE + step->source, t ? t->id : RAD_NONE);
    if (tries) rad__world_note(w, RAD_NOTE_STOLEN_FROM, step->victim);
    if (step->moved) rad__world_note(w, RAD_NOTE_MOVED, step->moved);
}

static void step_worker(rad_exec_world *w, uint32_t i)
{
    rad_worker *production = &w->workers[i];
    uint32_t draw = 0;
    if (rad__worker_draws(production))
        draw = rad_pick(w->k, RAD_PICK_VALUE, site_of_phase(RAD_PHASE_STEAL), w->c->workers - 1);
    rad_step step = rad__worker_step(production, draw);
    rad__world_cover(w, RAD_COVER_PHASE + step.phase);
    if (step.source != RAD_FROM_NOWHERE) rad__world_cover(w, RAD_COVER_SOURCE + step.source);
    if (step.victim != RAD_NONE) rad_touch(w->k, w->worker_objects[step.victim], RAD_WRITE);
    if (step.source == RAD_FROM_INJECTOR) rad_touch(w->k, w->injector_object, RAD_WRITE);
    if (step.phase == RAD_PHASE_RUN || step.phase == RAD_PHASE_PICK)
        rad_touch(w->k, w->injector_object, step.phase == RAD_PHASE_RUN ? RAD_WRITE : RAD_READ);
    if (step.woken != RAD_NONE) rad_touch(w->k, w->idle_object, RAD_WRITE);
    rad_value(w->k, (uint64_t)step.phase | (uint64_t)step.source << 8 | (uint64_t)step.run << 16 |
                        (uint64_t)step.moved << 24 | (uint64_t)(step.victim & 0xffff) << 32 |
                        (uint64_t)(step.woken & 0xffff) << 48);
    note_step(w, production, &step);
    rad__ledger_stepped(w, i, &step);
    if (step.phase == RAD_PHASE_RUN && step.run == RAD_RUN_YIELD) rad__turn_ends(w->k);
    worker_settle(w, i);
    if (step.woken != i) rad__world_wake(w, step.woken);
}

static void unblock(rad_exec_world *w, rad_vm_task *t, bool allowed, const char *event)
{
    RAD_EXEC_CHECK(w, ILLEGAL_UNBLOCK, allowed, w->task_object,
                   "task %u goes on because of %s, which it did not wait for or which has not come", t->id, event);
    rad__world_note(w, RAD_NOTE_GOES_ON, t->id);
    rad__vm_unblock(w, t);
}

static void step_timer(rad_exec_world *w)
{
    rad_queued sleeper;
    if (!rad__event_queue_pop(&w->sleepers, &sleeper)) return;
    rad_vm_task *t = rad__world_task(w, (uint32_t)sleeper.payload);
    rad__world_cover(w, RAD_COVER_TIMER);
    rad_value(w->k, sleeper.payload);
    unblock(w, t, t->state == RAD_TASK_SLEEPING && t->until <= w->now, "its timer");
}

/* Wakes one waiter; true: that was all. */
static bool deliver_io(rad_exec_world *w, const rad_case_event *e)
{
    if (w->tokens[e->what] == RAD_TOKEN_OPEN)
        w->tokens[e->what] = e->kind == RAD_EVENT_IO ? RAD_TOKEN_CAME : RAD_TOKEN_FAILED;
    rad__world_note(w, RAD_NOTE_TOKEN, e->what);
    rad_vm_task *t = rad__ledger_waiter(w, e->what);
    if (t == NULL) return true;
    unblock(w, t, t->state == RAD_TASK_WAITING && t->where == e->what, "an I/O event");
    return w->ledger.tokens[e->what].count == 0;
}

/* Shuts the gate; when nothing is in flight it ends the executor and calls the workers one by one. Of several such
 * events, one finds that nothing is in flight: it calls. */
static bool deliver_close(rad_exec_world *w, uint32_t event)
{
    if (w->calls == 0 || event != w->closer) {
        bool drained = rad__sched_shut(&w->sched);
        rad__world_note(w, RAD_NOTE_SHUTS, 0);
        w->ledger.shut = true;
        if (!drained) return true;
        rad__sched_finish(&w->sched);
        w->closer = event;
    } else {
        rad__world_note(w, RAD_NOTE_CALLS, w->calls - 1);
        rad__idle_call(&w->sched.idle, w->calls - 1);
        rad__world_wake(w, w->calls - 1);
    }
    return w->calls++ == w->c->workers;
}

static void event_start(rad_exec_world *w, rad_vm_task *t)
{
    rad__world_note(w, RAD_NOTE_STARTS, t->id);
    rad__vm_start(w, t);
}

static void step_event(rad_exec_world *w, uint32_t i)
{
    const rad_case_event *e = &w->c->events[i];
    bool all = true;
    rad__world_cover(w, RAD_COVER_EVENT + e->kind);
    if (e->kind == RAD_EVENT_CLOSE)
        all = deliver_close(w, i);
    else if (e->kind == RAD_EVENT_START)
        event_start(w, rad__world_task(w, e->what));
    else
        all = deliver_io(w, e);
    rad_touch(w->k, w->idle_object, RAD_WRITE);
    rad_touch(w->k, w->gate_object, RAD_WRITE);
    rad_value(w->k, i);
    w->delivered[i] = all;
    if (all) rad_disable(w->k, w->event_actions[i]);
}

static void step_clock(rad_exec_world *w)
{
    uint64_t at;
    if (!next_moment(w, &at)) return;
    w->now = at;
    rad__world_cover(w, RAD_COVER_CLOCK);
    rad__world_note(w, RAD_NOTE_TIME, at);
    rad_value(w->k, at);
    events_become_due(w);
}

static void exec_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_exec_world *w = self;
    uint32_t first_worker = w->worker_actions[0];
    (void)k;
    if (action >= first_worker && action < first_worker + w->c->workers)
        step_worker(w, action - first_worker);
    else if (action == w->timer_action)
        step_timer(w);
    else if (action == w->clock_action)
        step_clock(w);
    else
        step_event(w, action - w->event_actions[0]);
    outside_settle(w);
}

/* ---- Oracles over the whole -------------------------------------------------------------------------- */

/* Runnable work, and nobody who could get to it: no worker can step and nothing is due. */
static void check_wakeups(rad_exec_world *w)
{
    uint32_t able = rad_enabled_count(w->k) - rad_is_enabled(w->k, w->clock_action);
    rad_evaluated(w->k, RAD_EXEC_LOST_WAKEUP);
    if (able > 0) return;
    if (w->ledger.runnable > 0 && !w->ledger.done)
        RAD_EXEC_FAIL(w, LOST_WAKEUP, w->idle_object,
                      "tasks that can run: %u; every worker sleeps, and none will be woken", w->ledger.runnable);
    for (uint32_t i = 0; w->ledger.done && i < w->c->workers; i++)
        if (w->workers[i].phase != RAD_PHASE_STOPPED)
            RAD_EXEC_FAIL(w, LOST_WAKEUP, w->idle_object, "all is done and worker %u sleeps", i);
}

static void exec_check(void *self, rad_kernel *k)
{
    rad_exec_world *w = self;
    if (w->oracles_off) return;
    rad__ledger_check(w);
    check_wakeups(w);
    if (rad_step_count(k) % CENSUS_EVERY == CENSUS_EVERY - 1) rad__ledger_census(w);
}

enum rad_expect rad__world_outcome(const rad_exec_world *w)
{
    if (w->ledger.alive > 0 && !(w->ledger.done && w->c->stop_on_failure)) return RAD_EXPECT_DEADLOCK;
    return w->ledger.refused > 0 ? RAD_EXPECT_REFUSED : RAD_EXPECT_COMPLETED;
}

static enum rad_end exec_idle(void *self, rad_kernel *k)
{
    rad_exec_world *w = self;
    if (w->oracles_off) return RAD_END_FINISHED;
    check_wakeups(w);
    rad__ledger_census(w);
    enum rad_expect outcome = rad__world_outcome(w), expect = w->c->expect;
    k->reached[SITE_END + outcome - RAD_EXPECT_COMPLETED] = 1;
    if (outcome == RAD_EXPECT_DEADLOCK && expect != RAD_EXPECT_DEADLOCK) {
        rad_fail(k, RAD_ORACLE_DEADLOCK, w->task_object, "%u tasks are blocked and nothing will wake them",
                 w->ledger.alive);
        return RAD_END_FINISHED;
    }
    RAD_EXEC_CHECK(w, DONE, !w->ledger.shut || w->ledger.alive > 0 || w->ledger.done, w->gate_object,
                   "the gate is shut, no task is alive, and the executor has not ended");
    bool as_expected = expect == RAD_EXPECT_ENDS ? outcome != RAD_EXPECT_DEADLOCK : outcome == expect;
    RAD_EXEC_CHECK(w, OUTCOME, as_expected, w->task_object, "the outcome is %s; expected %s", rad__expect_name(outcome),
                   rad__expect_name(expect));
    for (uint32_t i = 0; outcome != RAD_EXPECT_DEADLOCK && w->ledger.failure == 0 && i < w->c->resource_count; i++)
        RAD_EXEC_CHECK(w, PERMIT_LEAK, w->available[i] == w->c->totals[i], w->resource_objects[i],
                       "at the end resource %u has %u units of %u", i, w->available[i], w->c->totals[i]);
    return RAD_END_FINISHED;
}

/* ---- Life ------------------------------------------------------------------------------------------- */

static void world_close(rad_exec_world *w)
{
    for (uint32_t i = 0; w->open && i < w->c->workers; i++) rad__worker_close(&w->workers[i]);
    if (w->open) rad__sched_close(&w->sched);
    w->open = false;
}

static bool world_open(rad_exec_world *w)
{
    rad_sched_config config = {.workers = w->c->workers,
                               .steal_tries = w->c->steal_tries,
                               .hoard = w->c->hoard,
                               .rounds = 1,
                               .ring = w->c->ring,
                               .plain_wake = w->c->plain_wake,
                               .stop_on_failure = w->c->stop_on_failure};
    if (!rad__sched_open(&w->sched, &config)) return false;
    for (uint32_t i = 0; i < w->c->workers; i++)
        if (!rad__worker_open(&w->workers[i], &w->sched, i)) {
            while (i-- > 0) rad__worker_close(&w->workers[i]);
            rad__sched_close(&w->sched);
            return false;
        }
    w->open = true;
    return true;
}

static void exec_destroy(void *self)
{
    rad_exec_world *w = self;
    world_close(w);
    for (uint32_t i = 0; i < w->chunk_count; i++) rad__free(w->chunks[i]);
    rad__event_queue_close(&w->sleepers);
    rad__free(w->workers);
    if (w->texts) rad__code_texts_free(*w->texts);
    rad__free(w->texts);
    rad__exec_case_free((rad_exec_case *)w->c);
    rad__free(w);
}

/* From the text of a case. */
static int world_create(rad_exec_world **out, const char *text, rad_error *error)
{
    *out = NULL;
    rad_exec_case *c = rad__exec_case_parse(text, strlen(text), NULL, error);
    if (c == NULL) return error->code;
    rad_exec_world *w = rad__alloc(1, sizeof *w);
    if (w == NULL) {
        rad__exec_case_free(c);
        return rad__error_memory(error);
    }
    w->c = c;
    w->workers = rad__alloc_lines(c->workers, sizeof *w->workers);
    rad__event_queue_open(&w->sleepers, SLEEPERS_MAX);
    w->texts = rad__alloc(1, sizeof *w->texts);
    if (w->workers == NULL || w->texts == NULL || !world_open(w)) {
        exec_destroy(w);
        return rad__error_memory(error);
    }
    *out = w;
    return 0;
}

static int exec_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    rad_exec_world *w = NULL;
    int code = world_create(&w, c->body, error);
    *self = w;
    return code;
}

static void make_objects(rad_exec_world *w)
{
    rad_kernel *k = w->k;
    w->gate_object = rad_object(k, RAD_NONE, "gate");
    w->idle_object = rad_object(k, RAD_NONE, "idle");
    w->injector_object = rad_object(k, RAD_NONE, "injector");
    w->time_object = rad_object(k, RAD_NONE, "time");
    w->task_object = rad_object(k, RAD_NONE, "task");
    for (uint32_t i = 0; i < w->c->workers; i++) w->worker_objects[i] = rad_object(k, RAD_NONE, "deque");
    for (uint32_t i = 0; i < w->c->resource_count; i++) w->resource_objects[i] = rad_object(k, RAD_NONE, "resource");
}

/* In canonical order: events, timer, workers, clock. Their numbers follow each other. */
static void make_actions(rad_exec_world *w)
{
    rad_kernel *k = w->k;
    for (uint32_t i = 0; i < w->c->event_count; i++) {
        const char *role = rad__event_name(w->c->events[i].kind);
        uint32_t kind = (uint32_t)RAD_KIND_EVENT + w->c->events[i].kind;
        w->event_actions[i] = rad_action(k, kind, rad_actor(k, RAD_NONE, role), RAD_NONE, i);
        rad_announce(k, w->event_actions[i], (uint32_t)SITE_EVENT + w->c->events[i].kind, w->injector_object,
                     RAD_WRITE);
    }
    w->timer_action = rad_action(k, RAD_KIND_TIMER, rad_actor(k, RAD_NONE, "timer"), w->time_object, 0);
    rad_announce(k, w->timer_action, SITE_TIMER, w->injector_object, RAD_WRITE);
    for (uint32_t i = 0; i < w->c->workers; i++) {
        w->worker_actors[i] = rad_actor(k, RAD_NONE, "worker");
        w->worker_actions[i] = rad_action(k, RAD_KIND_WORKER, w->worker_actors[i], RAD_NONE, i);
    }
    w->clock_action = rad_action(k, RAD_KIND_CLOCK, rad_actor(k, RAD_NONE, "clock"), w->time_object, 0);
    rad_announce(k, w->clock_action, SITE_CLOCK, w->time_object, RAD_WRITE);
}

static void exec_reset(void *self, rad_kernel *k)
{
    rad_exec_world *w = self;
    w->k = k;
    rad__sched_reset(&w->sched);
    for (uint32_t i = 0; i < w->c->workers; i++) {
        rad__worker_reset(&w->workers[i]);
        w->workers[i].shell = w;
    }
    rad__event_queue_close(&w->sleepers);
    rad__event_queue_open(&w->sleepers, SLEEPERS_MAX);
    w->sleeps = 0;
    w->task_count = 0;
    w->too_many_tasks = false;
    w->now = 0;
    w->calls = w->closer = 0;
    memcpy(w->available, w->c->totals, sizeof w->available);
    memset(w->tokens, 0, sizeof w->tokens);
    memset(w->delivered, 0, sizeof w->delivered);
    rad__ledger_reset(w);
    make_objects(w);
    make_actions(w);
    for (uint32_t i = 0; i < w->c->task_count; i++) rad__vm_task(w, w->c->tasks[i].program, w->c->tasks[i].at);
    for (uint32_t i = 0; i < w->c->workers; i++) worker_settle(w, i);
    for (uint32_t i = 0; i < w->c->runnable_count; i++) rad__vm_start(w, rad__world_task(w, w->c->runnable[i]));
    events_become_due(w);
    outside_settle(w);
}

static void exec_state(const void *self, rad_state_hash *h)
{
    rad__ledger_state(self, h);
}

/* ---- Names ------------------------------------------------------------------------------------------ */

static const char *exec_site_name(const void *self, uint32_t site)
{
    (void)self;
    if (site < SITE_OP) return rad__phase_name(site < RAD_PHASE_RUN ? site : site + 1);
    if (site < SITE_EVENT) return rad__opcode_name(site - SITE_OP);
    if (site < SITE_TIMER) return rad__event_name(site - SITE_EVENT);
    if (site >= SITE_END && site < SITE_COUNT) return rad__expect_name(site - SITE_END + RAD_EXPECT_COMPLETED);
    return site == SITE_TIMER ? "timer" : site == SITE_CLOCK ? "clock" : NULL;
}

static void exec_describe(const void *self, void (*line)(void *context, const char *text), void *context)
{
    rad_bytes text = {0};
    rad__world_describe(self, &text);
    rad__bytes_put(&text, "", 1);
    for (char *at = text.failed ? NULL : (char *)text.data; at && *at;) {
        char *end = strchr(at, '\n');
        if (end) *end = 0;
        line(context, at);
        at = end ? end + 1 : NULL;
    }
    rad__bytes_free(&text);
}

static const char *exec_limits(const rad_machine *m, const rad_case *c)
{
    (void)m, (void)c;
    return "with each step of the executor indivisible";
}

const rad_machine rad__machine_exec = {
    .progresses = true,
    .name = "exec",
    .about = "the work-stealing executor: production's steps under bytecode tasks",
    .oracles = oracle_names,
    .bug_site = RAD_NONE,
    .limits = exec_limits,
    .ends = true, /* or the case has a program that does not end, which no case expects */
    .self_test = true,
    .body = exec_default,
    .create = exec_create,
    .destroy = exec_destroy,
    .reset = exec_reset,
    .step = exec_step,
    .idle = exec_idle,
    .check = exec_check,
    .state = exec_state,
    .size = rad__world_case_size,
    .reduce = rad__world_case_reduce,
    .heir = rad__world_case_heir,
    .kind_name = rad__exec_kind_name,
    .site_name = exec_site_name,
    .describe = exec_describe,
};
