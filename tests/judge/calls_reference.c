#include "calls_reference.h"

#include "base/alloc.h"

#include <string.h>

enum status { UNSPAWNED, REFUSED, RUNNABLE, RUNNING, BLOCKED, DONE, FAILED, DROPPED, UNRUN };

typedef struct task {
    uint8_t at, status;
    uint8_t sent_to; /* worker + 1: it alone takes the task */
    uint8_t group;   /* task + 1 whose group it is a job of */
    uint8_t jobs;    /* of its own group */
    bool open, spoilt, waits, goes_on;
    bool says; /* that it may be woken */
} task;

typedef struct line {
    uint8_t count, at[2 * CALLS_TASKS];
} line;

typedef struct state {
    uint64_t history[CALLS_ACTORS];
    int64_t code;
    task tasks[CALLS_TASKS];
    uint8_t stack[CALLS_WORKERS][CALLS_TASKS], depth[CALLS_WORKERS];
    uint8_t scratch[CALLS_WORKERS];
    uint8_t counters[CALLS_COUNTERS];
    uint8_t outside, ended, runs;
    bool shut, stopped, joined;
    /* One worker: its queues. */
    line woken, local, later, inbox, shared;
    uint8_t from_local, from_later, from_inbox, from_shared;
    uint8_t streak; /* times in a row that it took the task woken last */
} state;

/* ---- Lines of tasks ---------------------------------------------------------------------------------------- */

static void push(line *l, uint8_t t)
{
    l->at[l->count++] = t;
}

static uint8_t pull(line *l, uint8_t place)
{
    uint8_t t = l->at[place];
    l->count--;
    memmove(l->at + place, l->at + place + 1, l->count - place);
    l->at[l->count] = 0;
    return t;
}

/* ---- Becoming runnable, ending ------------------------------------------------------------------------------ */

static void end_job(state *s, uint8_t t, bool good)
{
    if (s->tasks[t].group == 0) return;
    task *owner = &s->tasks[s->tasks[t].group - 1];
    owner->jobs--;
    owner->spoilt |= !good;
}

/* A stopped executor runs nothing more: a job's group is told, other tasks are dropped. */
static void discard(state *s, uint8_t t)
{
    s->tasks[t].status = s->tasks[t].group ? UNRUN : DROPPED;
    end_job(s, t, false);
}

static void make_runnable(state *s, uint8_t t, line *where, uint8_t sent_to)
{
    s->tasks[t].status = RUNNABLE;
    s->tasks[t].sent_to = sent_to;
    if (s->stopped)
        discard(s, t);
    else
        push(where, t);
}

static void forget_lines(state *s)
{
    memset(&s->woken, 0, sizeof s->woken);
    memset(&s->local, 0, sizeof s->local);
    memset(&s->later, 0, sizeof s->later);
    memset(&s->inbox, 0, sizeof s->inbox);
    memset(&s->shared, 0, sizeof s->shared);
}

static void stop(state *s)
{
    s->stopped = true;
    forget_lines(s);
    for (uint8_t t = 0; t < CALLS_TASKS; t++)
        if (s->tasks[t].status == RUNNABLE) discard(s, t);
}

static void fail(const calls_program *p, state *s, uint8_t t, int64_t code)
{
    s->tasks[t].status = FAILED;
    s->ended++;
    if (s->code == 0) s->code = code;
    s->shut = true;
    end_job(s, t, false);
    if (p->stop && !s->stopped) stop(s);
}

/* ---- Operations of a task -------------------------------------------------------------------------------------- */

static void saw(state *s, uint8_t actor, uint8_t at, uint64_t value)
{
    s->history[actor] = calls_saw(s->history[actor], at, value);
}

static void wake(state *s, uint8_t actor, uint8_t at, uint8_t t, line *where, uint8_t sent_to)
{
    bool says = s->tasks[t].says;
    saw(s, actor, at, says);
    if (!says) return;
    s->tasks[t].says = false;
    make_runnable(s, t, where, sent_to);
}

static void enter(const calls_program *p, state *s, uint8_t actor, uint8_t at)
{
    const calls_step *c = &p->code[actor][at];
    bool on = c->op == CALLS_ENTER_ON, batch = c->op == CALLS_ENTER_BATCH && c->b != c->a;
    saw(s, actor, at, !s->shut);
    if (s->shut) {
        s->tasks[c->a].status = REFUSED;
        if (batch) s->tasks[c->b].status = REFUSED;
        return;
    }
    uint8_t to = on ? (uint8_t)(c->b % p->workers + 1) : 0;
    make_runnable(s, c->a, on ? &s->inbox : &s->shared, to);
    if (batch) make_runnable(s, c->b, &s->shared, 0);
}

static void add_job(state *s, uint8_t owner, uint8_t t)
{
    s->tasks[t].group = (uint8_t)(owner + 1);
    s->tasks[owner].jobs++;
    make_runnable(s, t, &s->local, 0);
}

/* What both a task and the thread outside can do. */
static void common(const calls_program *p, state *s, uint8_t actor, uint8_t at)
{
    const calls_step *c = &p->code[actor][at];
    switch (calls_op_of(p, actor, at)) {
    case CALLS_TICK: saw(s, actor, at, s->counters[c->a]++); break;
    case CALLS_ENTER:
    case CALLS_ENTER_ON:
    case CALLS_ENTER_BATCH: enter(p, s, actor, at); break;
    case CALLS_WAKE: wake(s, actor, at, c->a, &s->shared, 0); break;
    case CALLS_WAKE_ON: wake(s, actor, at, c->a, &s->inbox, (uint8_t)(c->b % p->workers + 1)); break;
    case CALLS_CLOSE: s->shut = true; break;
    default: break;
    }
}

/* The run returns; the task has been put somewhere already. */
static void leave(state *s, uint8_t w)
{
    s->stack[w][--s->depth[w]] = 0;
}

static void answer(const calls_program *p, state *s, uint8_t w, uint8_t t, enum calls_op op, uint8_t a)
{
    task *k = &s->tasks[t];
    k->at++;
    switch (op) {
    case CALLS_YIELD: make_runnable(s, t, &s->later, 0); break;
    case CALLS_YIELD_GLOBAL: make_runnable(s, t, &s->shared, 0); break;
    case CALLS_AGAIN:
        if (s->stopped) {
            discard(s, t);
            break;
        }
        s->runs++;
        return;
    case CALLS_RESPAWN:
        s->ended++;
        make_runnable(s, t, &s->local, 0);
        break;
    case CALLS_BLOCK:
        k->status = BLOCKED;
        k->says = true;
        break;
    default: fail(p, s, t, a ? a : 1); break;
    }
    leave(s, w);
}

static void end_of_code(state *s, uint8_t w, uint8_t t)
{
    s->tasks[t].status = DONE;
    s->ended++;
    end_job(s, t, true);
    leave(s, w);
}

/* The group's jobs have all ended. */
static void end_wait(const calls_program *p, state *s, uint8_t w, uint8_t t)
{
    task *k = &s->tasks[t];
    bool good = !k->spoilt;
    saw(s, t, k->at, good);
    bool fails = !good && !k->goes_on;
    k->waits = k->open = k->spoilt = k->goes_on = false;
    if (fails) {
        fail(p, s, t, 1);
        leave(s, w);
    }
}

static void step_task(const calls_program *p, state *s, uint8_t w, uint8_t t)
{
    task *k = &s->tasks[t];
    bool over = k->at == p->length[t];
    enum calls_op op = over ? CALLS_OPS : calls_op_of(p, t, k->at);
    calls_step c = over ? (calls_step){0, 0, 0} : p->code[t][k->at];
    if (k->open && (over || calls_is_answer(op))) {
        k->waits = true;
        return;
    }
    if (over) {
        end_of_code(s, w, t);
        return;
    }
    if (calls_is_answer(op)) {
        answer(p, s, w, t, op, c.a);
        return;
    }
    uint8_t at = k->at++;
    switch (op) {
    case CALLS_SPAWN: make_runnable(s, c.a, &s->local, 0); break;
    case CALLS_SPAWN_GLOBAL: make_runnable(s, c.a, &s->shared, 0); break;
    case CALLS_SPAWN_ON: make_runnable(s, c.a, &s->inbox, (uint8_t)(c.b % p->workers + 1)); break;
    case CALLS_FORK:
        k->open = true;
        add_job(s, t, c.a);
        break;
    case CALLS_SIBLING: add_job(s, (uint8_t)(k->group - 1), c.a); break;
    case CALLS_WAIT:
        k->waits = k->open;
        k->goes_on = k->open && c.a == 1;
        break;
    case CALLS_WAKE_HERE: wake(s, t, at, c.a, &s->woken, 0); break;
    case CALLS_SCRATCH: saw(s, t, at, s->scratch[w]++); break;
    default: common(p, s, t, at); break;
    }
}

/* ---- Taking a task
 * ------------------------------------------------------------------------------------------------ */

static void run_on(state *s, uint8_t w, uint8_t t)
{
    task *k = &s->tasks[t];
    if (k->sent_to) saw(s, t, k->at, 1000); /* it runs where it was sent */
    k->status = RUNNING;
    k->sent_to = 0;
    s->stack[w][s->depth[w]++] = t;
    s->runs++;
}

/* One worker: woken tasks, its newest, what yielded, what was sent, the shared queue, of which it takes all. Of the
 * woken ones the newest, but not more than three times in a row. */
static uint8_t next_in_order(state *s)
{
    if (s->woken.count > 0) {
        s->from_local++;
        bool newest = s->woken.count == 1 || s->streak < 3;
        s->streak = newest ? (uint8_t)(s->streak + 1) : 0;
        return pull(&s->woken, newest ? (uint8_t)(s->woken.count - 1) : 0);
    }
    s->streak = 0;
    if (s->local.count > 0) return s->from_local++, pull(&s->local, (uint8_t)(s->local.count - 1));
    if (s->later.count > 0) return s->from_later++, pull(&s->later, 0);
    if (s->inbox.count > 0) return s->from_inbox++, pull(&s->inbox, 0);
    if (s->shared.count == 0) return CALLS_TASKS;
    s->from_shared++;
    uint8_t t = pull(&s->shared, 0);
    while (s->shared.count > 0) push(&s->later, pull(&s->shared, 0));
    return t;
}

/* ---- Moves
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct search {
    const calls_program *p;
    state *states;
    uint32_t count, room;
    judge_set seen;
    calls_runs *runs;
    bool sends; /* some task is sent to a worker */
} search;

static int compare_workers(const state *s, uint8_t v, uint8_t w)
{
    int order = memcmp(s->stack[v], s->stack[w], sizeof s->stack[v]);
    if (s->depth[v] != s->depth[w]) order = s->depth[v] < s->depth[w] ? -1 : 1;
    return order ? order : s->scratch[v] - s->scratch[w];
}

static void swap_workers(state *s, uint8_t v, uint8_t w)
{
    uint8_t stack[CALLS_TASKS], depth = s->depth[v], scratch = s->scratch[v];
    memcpy(stack, s->stack[v], sizeof stack);
    memcpy(s->stack[v], s->stack[w], sizeof stack);
    memcpy(s->stack[w], stack, sizeof stack);
    s->depth[v] = s->depth[w];
    s->depth[w] = depth;
    s->scratch[v] = s->scratch[w];
    s->scratch[w] = scratch;
}

/* Several workers: no lines, and if no task is sent to a worker, it does not matter which worker is which. */
static void simplify(const search *x, state *s)
{
    if (x->p->workers == 1) return;
    forget_lines(s);
    for (uint8_t v = 1; !x->sends && v < x->p->workers; v++)
        for (uint8_t w = v; w > 0 && compare_workers(s, (uint8_t)(w - 1), w) > 0; w--)
            swap_workers(s, (uint8_t)(w - 1), w);
}

static void found(search *x, state *s)
{
    simplify(x, s);
    if (!judge_set_add(&x->seen, judge_digest(s, sizeof *s))) return;
    RAD_ASSERT(RAD_GROW(&x->states, &x->room, x->count + 1));
    x->states[x->count++] = *s;
}

static bool take_moves(search *x, const state *s, uint8_t w)
{
    bool any = false;
    state next = *s;
    if (x->p->workers == 1) {
        uint8_t t = next_in_order(&next);
        if (t == CALLS_TASKS) return false;
        run_on(&next, w, t);
        found(x, &next);
        return true;
    }
    for (uint8_t t = 0; t < CALLS_TASKS; t++) {
        const task *k = &s->tasks[t];
        if (k->status != RUNNABLE || (k->sent_to != 0 && k->sent_to != w + 1)) continue;
        next = *s;
        run_on(&next, w, t);
        found(x, &next);
        any = true;
    }
    return any;
}

static bool worker_moves(search *x, const state *s, uint8_t w)
{
    state next = *s;
    if (s->depth[w] == 0) return take_moves(x, s, w);
    uint8_t t = s->stack[w][s->depth[w] - 1];
    if (!s->tasks[t].waits)
        step_task(x->p, &next, w, t);
    else if (s->tasks[t].jobs == 0)
        end_wait(x->p, &next, w, t);
    else
        return take_moves(x, s, w);
    found(x, &next);
    return true;
}

/* The thread outside: its operations, then join, which shuts the gate, while somebody wakes those who are blocked. */
static bool outside_moves(search *x, const state *s)
{
    bool any = false;
    state next = *s;
    if (s->outside < x->p->length[CALLS_OUTSIDE]) {
        common(x->p, &next, CALLS_OUTSIDE, next.outside++);
        found(x, &next);
        return true;
    }
    if (!s->joined) {
        next.joined = next.shut = true;
        found(x, &next);
        any = true;
    }
    for (uint8_t t = 0; t < CALLS_TASKS; t++) {
        if (!s->tasks[t].says) continue;
        next = *s;
        next.tasks[t].says = false;
        make_runnable(&next, t, &next.shared, 0);
        found(x, &next);
        any = true;
    }
    return any;
}

static void note_end(search *x, const state *s)
{
    static const uint8_t fates[] = {[UNSPAWNED] = CALLS_NEVER, [REFUSED] = CALLS_REFUSED, [DONE] = CALLS_DONE,
                                    [FAILED] = CALLS_FAILED,   [DROPPED] = CALLS_DROPPED, [UNRUN] = CALLS_UNRUN};
    calls_result r = {.code = s->code,
                      .ended = s->ended,
                      .runs = s->runs,
                      .from_local = s->from_local,
                      .from_later = s->from_later,
                      .from_inbox = s->from_inbox,
                      .from_shared = s->from_shared};
    memcpy(r.history, s->history, sizeof r.history);
    memcpy(r.counters, s->counters, sizeof r.counters);
    for (uint8_t t = 0; t < CALLS_TASKS; t++) {
        uint8_t status = s->tasks[t].status;
        RAD_ASSERT(status != RUNNABLE && status != RUNNING && status != BLOCKED);
        r.fate[t] = fates[status];
    }
    for (uint8_t w = 0; w < CALLS_WORKERS; w++) r.scratch = (uint8_t)(r.scratch + s->scratch[w]);
    judge_set_add(&x->runs->results, calls_digest(&r));
}

void calls_enumerate(const calls_program *p, uint32_t most_states, calls_runs *runs)
{
    search x = {.p = p, .runs = runs};
    state s;
    memset(runs, 0, sizeof *runs);
    memset(&s, 0, sizeof s);
    for (uint8_t i = 0; i < CALLS_ACTORS; i++)
        for (uint8_t at = 0; at < p->length[i]; at++) {
            uint8_t op = p->code[i][at].op;
            x.sends |= op == CALLS_SPAWN_ON || op == CALLS_ENTER_ON || op == CALLS_WAKE_ON;
        }
    found(&x, &s);
    while (x.count > 0 && !runs->cut) {
        s = x.states[--x.count];
        bool any = outside_moves(&x, &s);
        for (uint8_t w = 0; w < p->workers; w++) any |= worker_moves(&x, &s, w);
        if (!any) note_end(&x, &s);
        runs->cut = x.seen.count > most_states;
    }
    runs->states = x.seen.count;
    judge_set_free(&x.seen);
    rad__free(x.states);
}

void calls_runs_free(calls_runs *runs)
{
    judge_set_free(&runs->results);
}
