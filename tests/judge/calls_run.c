#include "calls_run.h"

#include "base/prng.h"
#include "storm_support.h"

#include <raddle/exec.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct show show;

typedef struct actor {
    rad_job job;
    show *show;
    uint8_t index, at;
    uint8_t sent_to; /* worker + 1 */
    uint64_t history;
    rad_group *group; /* that it is a job of */
    rad_prng prng;
    atomic_uint says; /* it may be woken */
    atomic_uint fate;
    atomic_uint running;
    uint32_t plain; /* written by what makes it runnable, read when it runs */
} actor;

struct show {
    const calls_program *p;
    rad_exec *exec;
    actor actors[CALLS_ACTORS];
    atomic_uint counters[CALLS_COUNTERS];
    atomic_uint scratch, ended, runs, groups, agains, spawned;
    atomic_bool joined;
    int64_t code;
    char *broken;
    atomic_uint broken_count;
};

static void broke(show *s, const char *what, uint64_t found, uint64_t expected)
{
    if (atomic_fetch_add(&s->broken_count, 1) == 0)
        snprintf(s->broken, 160, "%s: %llu, not %llu", what, (unsigned long long)found, (unsigned long long)expected);
}

static void saw(actor *a, uint8_t at, uint64_t value)
{
    a->history = calls_saw(a->history, at, value);
}

static void hold_up(actor *a)
{
    uint64_t kind = rad__prng_below(&a->prng, 16);
    if (kind == 0) sched_yield();
    if (kind > 8) storm_spin(&a->prng, kind == 15 ? 20000 : 400);
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static enum rad_run plain_run(rad_task *task, rad_worker *w);
static enum rad_run job_run(rad_job *job, rad_worker *w);

static actor *prepare(show *s, uint8_t task, uint8_t sent_to)
{
    actor *a = &s->actors[task];
    a->job.task.run = plain_run;
    a->sent_to = sent_to;
    a->plain++;
    return a;
}

/* The task says that it may be woken, and this is the one who does. */
static actor *claim(show *s, uint8_t task, uint8_t sent_to)
{
    actor *a = &s->actors[task];
    if (atomic_exchange(&a->says, 0) == 0) return NULL;
    a->sent_to = sent_to;
    a->plain++;
    return a;
}

static void enter(actor *me, const calls_step *c)
{
    show *s = me->show;
    bool on = c->op == CALLS_ENTER_ON, batch = c->op == CALLS_ENTER_BATCH && c->b != c->a, good;
    uint32_t to = c->b % s->p->workers;
    actor *a = prepare(s, c->a, on ? (uint8_t)(to + 1) : 0);
    uint8_t at = me->at;
    if (batch) {
        rad_task *both[2] = {&a->job.task, &prepare(s, c->b, 0)->job.task};
        good = rad_exec_spawn_batch(s->exec, both, 2);
    } else if (on) {
        good = rad_exec_spawn_on(s->exec, to, &a->job.task);
    } else {
        good = rad_exec_spawn(s->exec, &a->job.task);
    }
    saw(me, at, good);
    if (good) return;
    atomic_store(&a->fate, CALLS_REFUSED);
    if (batch) atomic_store(&s->actors[c->b].fate, CALLS_REFUSED);
}

/* What both a task and the thread outside can do. */
static void common(actor *me, enum calls_op op, const calls_step *c)
{
    show *s = me->show;
    actor *a;
    uint32_t to = c->b % s->p->workers;
    switch (op) {
    case CALLS_TICK: saw(me, me->at, atomic_fetch_add(&s->counters[c->a], 1)); break;
    case CALLS_ENTER:
    case CALLS_ENTER_ON:
    case CALLS_ENTER_BATCH: enter(me, c); break;
    case CALLS_WAKE:
        a = claim(s, c->a, 0);
        saw(me, me->at, a != NULL);
        if (a != NULL) rad_exec_wake(s->exec, &a->job.task);
        break;
    case CALLS_WAKE_ON:
        a = claim(s, c->a, (uint8_t)(to + 1));
        saw(me, me->at, a != NULL);
        if (a != NULL) rad_exec_wake_on(s->exec, to, &a->job.task);
        break;
    case CALLS_CLOSE: rad_exec_close(s->exec); break;
    default: broke(s, "operation", op, 0); break;
    }
}

static void task_call(actor *me, rad_worker *w, rad_group *group, enum calls_op op, const calls_step *c)
{
    show *s = me->show;
    actor *a;
    uint32_t to = c->b % s->p->workers;
    bool spawns = (op >= CALLS_SPAWN && op <= CALLS_SPAWN_ON) || op == CALLS_FORK || op == CALLS_SIBLING;
    if (spawns) atomic_fetch_add(&s->spawned, 1);
    switch (op) {
    case CALLS_SPAWN: rad_worker_spawn(w, &prepare(s, c->a, 0)->job.task); break;
    case CALLS_SPAWN_GLOBAL: rad_worker_spawn_global(w, &prepare(s, c->a, 0)->job.task); break;
    case CALLS_SPAWN_ON: rad_worker_spawn_on(w, to, &prepare(s, c->a, (uint8_t)(to + 1))->job.task); break;
    case CALLS_FORK:
    case CALLS_SIBLING:
        a = prepare(s, c->a, 0);
        a->group = op == CALLS_FORK ? group : me->group;
        rad_group_spawn(w, a->group, &a->job, job_run);
        break;
    case CALLS_WAKE_HERE:
        a = claim(s, c->a, 0);
        saw(me, me->at, a != NULL);
        if (a != NULL) rad_worker_wake(w, &a->job.task);
        break;
    case CALLS_SCRATCH:
        saw(me, me->at, (*(uint32_t *)rad_worker_scratch(w))++);
        atomic_fetch_add(&s->scratch, 1);
        break;
    default: common(me, op, c); break;
    }
}

/* ---- A run of a task ------------------------------------------------------------------------------------------ */

static void ends(actor *me, enum calls_fate fate)
{
    if (atomic_exchange(&me->fate, fate) != CALLS_NEVER) broke(me->show, "ends twice", me->index, 0);
    atomic_fetch_add(&me->show->ended, 1);
}

/* From here on the task may be running elsewhere: `me` is not touched again. */
static enum rad_run answer(actor *me, rad_worker *w, enum calls_op op, uint8_t code)
{
    /* For a job the two are the same, says the header: let it ask for the other one. */
    uint8_t asked = me->at < CALLS_LENGTH ? me->show->p->code[me->index][me->at].op : CALLS_OPS;
    bool was_global = asked == CALLS_YIELD_GLOBAL;
    me->at++;
    atomic_store(&me->running, 0);
    switch (op) {
    case CALLS_YIELD: return was_global ? RAD_RUN_YIELD_GLOBAL : RAD_RUN_YIELD;
    case CALLS_YIELD_GLOBAL: return RAD_RUN_YIELD_GLOBAL;
    case CALLS_AGAIN: atomic_fetch_add(&me->show->agains, 1); return RAD_RUN_AGAIN;
    case CALLS_RESPAWN:
        atomic_fetch_add(&me->show->ended, 1);
        atomic_fetch_add(&me->show->spawned, 1);
        rad_worker_spawn(w, &me->job.task);
        return RAD_RUN_DONE;
    case CALLS_BLOCK: atomic_store(&me->says, 1); return RAD_RUN_BLOCKED;
    default: ends(me, CALLS_FAILED); return code ? rad_worker_fail(w, code) : RAD_RUN_FAILED;
    }
}

static void begins(actor *me, rad_worker *w)
{
    show *s = me->show;
    atomic_fetch_add(&s->runs, 1);
    if (atomic_exchange(&me->running, 1) != 0) broke(s, "runs twice at a time", me->index, 0);
    if (rad_worker_exec(w) != s->exec) broke(s, "another executor", 0, 0);
    if (me->plain == 0) broke(s, "runs before it was spawned", me->index, 0);
    if (me->sent_to == 0) return;
    if (rad_worker_index(w) + 1U != me->sent_to) broke(s, "runs on worker", rad_worker_index(w), me->sent_to - 1U);
    saw(me, me->at, 1000);
    me->sent_to = 0;
}

static enum rad_run body(actor *me, rad_worker *w)
{
    const calls_program *p = me->show->p;
    rad_group group = RAD_GROUP_INIT(w);
    bool open = false;
    begins(me, w);
    for (;;) {
        bool over = me->at == p->length[me->index];
        enum calls_op op = over ? CALLS_OPS : calls_op_of(p, me->index, me->at);
        const calls_step *c = &p->code[me->index][over ? 0 : me->at];
        hold_up(me);
        bool goes_on = op == CALLS_WAIT && c->a == 1;
        if (op == CALLS_WAIT) me->at++;
        if (op == CALLS_WAIT || (open && (over || calls_is_answer(op)))) {
            bool good = rad_group_wait(w, &group);
            if (open) saw(me, me->at, good);
            if (!open && !good) broke(me->show, "an empty group failed", 0, 0);
            open = false;
            if (!good && !goes_on) return answer(me, w, CALLS_FAIL, 0);
            continue;
        }
        if (over) {
            atomic_store(&me->running, 0);
            ends(me, CALLS_DONE);
            return RAD_RUN_DONE;
        }
        if (calls_is_answer(op)) return answer(me, w, op, c->a);
        if (op == CALLS_FORK && !open) atomic_fetch_add(&me->show->groups, 1);
        open |= op == CALLS_FORK;
        task_call(me, w, &group, op, c);
        me->at++;
    }
}

static enum rad_run plain_run(rad_task *task, rad_worker *w)
{
    return body((actor *)task, w);
}

static enum rad_run job_run(rad_job *job, rad_worker *w)
{
    return body((actor *)job, w);
}

/* ---- The thread outside --------------------------------------------------------------------------------------- */

static void drop(void *context, rad_task *task)
{
    show *s = context;
    actor *a = (actor *)task;
    if (calls_is_job(s->p, a->index)) broke(s, "drop gets a job", a->index, 0);
    if (atomic_exchange(&a->fate, CALLS_DROPPED) != CALLS_NEVER) broke(s, "dropped twice", a->index, 0);
}

static void *joins(void *context)
{
    show *s = context;
    s->code = rad_exec_join(s->exec);
    atomic_store(&s->joined, true);
    return NULL;
}

/* Gives the tasks time to wake each other. */
static void wait_for_quiet(show *s)
{
    uint32_t before = s->runs;
    for (uint32_t quiet = 0; quiet < 20 && !atomic_load(&s->joined); quiet++) {
        sched_yield();
        if (s->runs != before) quiet = 0;
        before = s->runs;
    }
}

static void wake_blocked(show *s)
{
    for (uint8_t t = 0; t < CALLS_TASKS; t++) {
        actor *a = claim(s, t, 0);
        if (a != NULL) rad_exec_wake(s->exec, &a->job.task);
    }
}

static bool blocks(const calls_program *p)
{
    for (uint8_t t = 0; t < CALLS_TASKS; t++)
        for (uint8_t at = 0; at < p->length[t]; at++)
            if (p->code[t][at].op == CALLS_BLOCK) return true;
    return false;
}

static void join(show *s)
{
    pthread_t thread;
    if (!blocks(s->p)) {
        joins(s);
    } else {
        CHECK(pthread_create(&thread, NULL, joins, s) == 0);
        while (!atomic_load(&s->joined)) {
            wait_for_quiet(s);
            wake_blocked(s);
        }
        pthread_join(thread, NULL);
        wake_blocked(s); /* a stopped executor did not wait for them */
    }
    if (rad_exec_join(s->exec) != s->code) broke(s, "join again", 0, (uint64_t)s->code);
}

static void check_counts(show *s, calls_result *r)
{
    rad_exec_counts c, sum = {0}, one;
    rad_exec_stats(s->exec, RAD_NONE, &c);
    for (uint32_t w = 0; w < s->p->workers; w++) {
        rad_exec_stats(s->exec, w, &one);
        sum.ran += one.ran;
        sum.ended += one.ended;
    }
    uint64_t found_tasks = c.from_local + c.from_later + c.from_inbox + c.from_shared + c.stolen;
    uint64_t more = c.ran - s->runs; /* a group may have a task of its own, to end the wait */
    if (more > s->groups || (more > 0 && s->p->workers == 1) || sum.ran != c.ran)
        broke(s, "counts.ran", c.ran, s->runs);
    if (c.ended - s->ended != more || sum.ended != c.ended) broke(s, "counts.ended", c.ended, s->ended);
    uint64_t own = c.spawned - s->spawned; /* a stopped executor does not run that one either */
    if (own > s->groups || (s->p->stop ? own < more : own != more)) broke(s, "counts.spawned", c.spawned, s->spawned);
    if (!s->p->stop && found_tasks + s->agains != c.ran) broke(s, "tasks found", found_tasks + s->agains, c.ran);
    if (!s->p->stop && c.in_flight != 0) broke(s, "counts.in_flight", c.in_flight, 0);
    if (s->p->workers == 1) {
        r->from_local = (uint8_t)c.from_local;
        r->from_later = (uint8_t)c.from_later;
        r->from_inbox = (uint8_t)c.from_inbox;
        r->from_shared = (uint8_t)c.from_shared;
    }
    if (rad_exec_workers(s->exec) != s->p->workers) broke(s, "workers", rad_exec_workers(s->exec), s->p->workers);
}

static void collect(show *s, calls_result *r)
{
    for (uint8_t i = 0; i < CALLS_ACTORS; i++) {
        actor *a = &s->actors[i];
        r->history[i] = a->history;
        if (i == CALLS_OUTSIDE) continue;
        r->fate[i] = (uint8_t)a->fate;
        if (a->fate == CALLS_NEVER && a->plain > 0) r->fate[i] = CALLS_UNRUN;
    }
    for (uint8_t i = 0; i < CALLS_COUNTERS; i++) r->counters[i] = (uint8_t)s->counters[i];
    r->scratch = (uint8_t)s->scratch;
    r->ended = (uint8_t)s->ended;
    r->runs = (uint8_t)s->runs;
    r->code = s->code;
}

void calls_run(const calls_program *p, uint64_t seed, calls_result *r, char broken[160])
{
    show s = {.p = p, .broken = broken};
    rad_error error;
    rad_exec_options o = {.workers = p->workers,
                          .seed = seed,
                          .scratch_size = 64,
                          .spin_us = seed % 3 == 0 ? RAD_SPIN_NONE : 0,
                          .plain_wake = seed % 4 == 0,
                          .hoard = seed % 5 == 0 ? 1 : 0,
                          .stop_on_failure = p->stop,
                          .drop = drop,
                          .drop_context = &s};
    broken[0] = 0;
    for (uint8_t i = 0; i < CALLS_ACTORS; i++) {
        s.actors[i].show = &s;
        s.actors[i].index = i;
        s.actors[i].prng = rad__prng(seed, RAD_STREAM_TEST, 100 + i);
    }
    CHECK(rad_exec_create(&s.exec, &o, &error) == 0);
    actor *me = &s.actors[CALLS_OUTSIDE];
    for (; me->at < p->length[CALLS_OUTSIDE]; me->at++) {
        hold_up(me);
        common(me, calls_op_of(p, CALLS_OUTSIDE, me->at), &p->code[CALLS_OUTSIDE][me->at]);
    }
    join(&s);
    memset(r, 0, sizeof *r);
    check_counts(&s, r);
    rad_exec_destroy(s.exec);
    collect(&s, r);
}
