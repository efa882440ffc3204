/* ledger.c — what must be true of the executor after every action; see world.h. */
#include "lab/machines/executor/world.h"

/* Within so many picks of a worker each of its queues is the first to be asked once (worker.h, PICK). */
enum { FAIR_ROUND = RAD_FAIR_EVERY * RAD_FAIR_TURNS };

static const char *const line_names[] = {"deque", "later queue", "inbox", "injector", "waiters"};
static const char *const state_names[] = {"unborn", "queued", "current", "sleeping", "waiting", "ended", "refused"};

/* ---- Lines ------------------------------------------------------------------------------------------ */

static void line_clear(rad_line_of_tasks *l)
{
    *l = (rad_line_of_tasks){RAD_NONE, RAD_NONE, 0};
}

static rad_line_of_tasks *line_of(rad_exec_world *w, enum rad_line_kind kind, uint32_t worker)
{
    if (kind == RAD_LINE_INJECTOR) return &w->ledger.injector;
    if (kind == RAD_LINE_TOKEN) return &w->ledger.tokens[worker];
    return &w->ledger.workers[worker].lines[kind];
}

static void line_append(rad_exec_world *w, rad_line_of_tasks *l, rad_vm_task *t)
{
    t->older = l->newest;
    t->newer = RAD_NONE;
    if (l->newest != RAD_NONE)
        rad__world_task(w, l->newest)->newer = t->id;
    else
        l->oldest = t->id;
    l->newest = t->id;
    l->count++;
}

static void line_remove(rad_exec_world *w, rad_line_of_tasks *l, rad_vm_task *t)
{
    if (t->older != RAD_NONE)
        rad__world_task(w, t->older)->newer = t->newer;
    else
        l->oldest = t->newer;
    if (t->newer != RAD_NONE)
        rad__world_task(w, t->newer)->older = t->older;
    else
        l->newest = t->older;
    t->older = t->newer = RAD_NONE;
    l->count--;
}

void rad__ledger_reset(rad_exec_world *w)
{
    rad_ledger *g = &w->ledger;
    *g = (rad_ledger){0};
    line_clear(&g->injector);
    for (uint32_t i = 0; i < RAD_CASE_TOKENS_MAX; i++) line_clear(&g->tokens[i]);
    for (uint32_t i = 0; i < w->c->workers; i++) {
        g->workers[i].current = RAD_NONE;
        for (uint32_t n = 0; n < 3; n++) line_clear(&g->workers[i].lines[n]);
    }
}

/* ---- Tasks become runnable, and wait ----------------------------------------------------------------- */

/* After how many picks (of the owner, or of all for the injector) a task with `ahead` others before it in its
 * queue must have been picked: each of them takes its queue's turn at most once. */
static uint64_t deadline_of(const rad_exec_world *w, enum rad_line_kind kind, uint32_t worker, uint32_t ahead)
{
    const rad_ledger *g = &w->ledger;
    uint64_t turns = (uint64_t)(ahead + 1) * FAIR_ROUND;
    if (kind == RAD_LINE_INJECTOR) return g->picks + turns * w->c->workers;
    return g->workers[worker].picks + turns;
}

static void line_enter(rad_exec_world *w, rad_vm_task *t, enum rad_line_kind kind, uint32_t worker)
{
    rad_line_of_tasks *l = line_of(w, kind, worker);
    t->deadline = deadline_of(w, kind, worker, l->count);
    t->line_kind = (uint8_t)kind;
    t->where = (uint16_t)worker;
    line_append(w, l, t);
}

void rad__ledger_queued(rad_exec_world *w, rad_vm_task *t, enum rad_line_kind line, uint32_t worker)
{
    RAD_EXEC_CHECK(w, STATE_OVERLAP, t->state != RAD_TASK_QUEUED, w->task_object, "task %u is queued twice", t->id);
    if (t->state == RAD_TASK_QUEUED) return;
    t->state = RAD_TASK_QUEUED;
    t->token = ++w->ledger.last_token;
    w->ledger.runnable++;
    line_enter(w, t, line, worker);
}

void rad__ledger_admitted(rad_exec_world *w, rad_vm_task *t)
{
    (void)t;
    w->ledger.alive++;
}

void rad__ledger_waits(rad_exec_world *w, rad_vm_task *t, uint32_t token)
{
    t->state = RAD_TASK_WAITING;
    t->where = (uint16_t)token;
    line_append(w, &w->ledger.tokens[token], t);
}

rad_vm_task *rad__ledger_waiter(rad_exec_world *w, uint32_t token)
{
    rad_line_of_tasks *l = &w->ledger.tokens[token];
    if (l->count == 0) return NULL;
    rad_vm_task *t = rad__world_task(w, l->oldest);
    line_remove(w, l, t);
    return t;
}

/* ---- Whom a notice wakes ---------------------------------------------------------------------------- */

static uint32_t next_parked(const rad_exec_world *w)
{
    for (uint32_t n = 0; n < w->c->workers; n++) {
        uint32_t worker = (w->ledger.next + n) % w->c->workers;
        if (w->ledger.parked >> worker & 1) return worker;
    }
    return RAD_NONE;
}

static void expect_woken(rad_exec_world *w, uint32_t expected, uint32_t woken)
{
    if (w->ledger.done) return;
    RAD_EXEC_CHECK(w, UNPARK_ORDER, expected == woken, w->idle_object,
                   "a notice wakes worker %d; expected %d (-1: nobody): %u search, parked %#llx, next %u", (int)woken,
                   (int)expected, w->ledger.searching, (unsigned long long)w->ledger.parked, w->ledger.next);
    if (woken == RAD_NONE || w->c->plain_wake || !(w->ledger.parked >> woken & 1)) return;
    w->ledger.parked &= ~(UINT64_C(1) << woken);
    w->ledger.searching++;
}

/* The next one in turn is expected; the turn goes on. */
static void expect_turn(rad_exec_world *w, uint32_t woken)
{
    uint32_t expected = w->c->plain_wake ? w->ledger.next : next_parked(w);
    if (expected != RAD_NONE) w->ledger.next = (expected + 1) % w->c->workers;
    expect_woken(w, expected, woken);
}

void rad__ledger_notified(rad_exec_world *w, uint32_t woken)
{
    if (w->c->plain_wake || w->ledger.searching == 0)
        expect_turn(w, woken);
    else
        expect_woken(w, RAD_NONE, woken);
}

void rad__ledger_notified_worker(rad_exec_world *w, uint32_t worker, uint32_t woken)
{
    bool wakes = w->c->plain_wake || (w->ledger.parked >> worker & 1);
    expect_woken(w, wakes ? worker : RAD_NONE, woken);
}

void rad__ledger_local_spawn(rad_exec_world *w, uint32_t worker, uint32_t woken)
{
    rad_ledger_worker *lw = &w->ledger.workers[worker];
    bool notice = ++lw->hoard >= w->c->hoard;
    RAD_EXEC_CHECK(w, HOARD, notice || woken == RAD_NONE, w->idle_object,
                   "worker %u wakes worker %d after %u local spawns, not %u", worker, (int)woken, lw->hoard,
                   w->c->hoard);
    if (notice) lw->hoard = 0;
    RAD_EXEC_CHECK(w, HOARD, w->workers[worker].hoard == lw->hoard, w->idle_object,
                   "worker %u counts %u local spawns since its last notice; there were %u", worker,
                   w->workers[worker].hoard, lw->hoard);
    if (notice) rad__ledger_notified(w, woken);
}

void rad__ledger_entered(rad_exec_world *w, const rad_vm_task *t, enum rad_gate_enter answer)
{
    bool entered = answer == RAD_GATE_ENTERED;
    RAD_EXEC_CHECK(w, GATE, entered == !w->ledger.shut, w->gate_object,
                   "the gate is %s and task %u from outside was %s", w->ledger.shut ? "shut" : "open", t->id,
                   entered ? "let in" : "refused");
}

/* ---- Steps of a worker ------------------------------------------------------------------------------ */

typedef struct expected_pick {
    enum rad_line_kind kind;
    uint32_t worker;
    bool newest;
} expected_pick;

static expected_pick pick_of(uint32_t worker, const rad_step *step)
{
    switch (step->source) {
    case RAD_FROM_LOCAL: return (expected_pick){RAD_LINE_LOCAL, worker, true};
    case RAD_FROM_OLDEST: return (expected_pick){RAD_LINE_LOCAL, worker, false};
    case RAD_FROM_LATER: return (expected_pick){RAD_LINE_LATER, worker, false};
    case RAD_FROM_INBOX: return (expected_pick){RAD_LINE_INBOX, worker, false};
    case RAD_FROM_VICTIM: return (expected_pick){RAD_LINE_LOCAL, step->victim, false};
    case RAD_FROM_VICTIM_LATER: return (expected_pick){RAD_LINE_LATER, step->victim, false};
    default: return (expected_pick){RAD_LINE_INJECTOR, 0, false};
    }
}

/* The task a worker says it took: from where it says, and the right one. */
static bool picked(rad_exec_world *w, uint32_t worker, const rad_step *step, rad_vm_task *t)
{
    expected_pick e = pick_of(worker, step);
    rad_line_of_tasks *l = line_of(w, e.kind, e.worker);
    RAD_EXEC_CHECK(w, DOUBLE_RUN, t->state == RAD_TASK_QUEUED, w->task_object,
                   "worker %u takes task %u, which is %s: its token %llu was used before", worker, t->id,
                   state_names[t->state], (unsigned long long)t->token);
    if (t->state != RAD_TASK_QUEUED) return false;
    bool in_line = t->line_kind == e.kind && t->where == e.worker;
    RAD_EXEC_CHECK(w, STATE_OVERLAP, in_line, w->task_object,
                   "worker %u takes task %u from the %s of %u; it is in the %s of %u", worker, t->id,
                   line_names[e.kind], e.worker, line_names[t->line_kind], t->where);
    if (!in_line) return false;
    uint32_t right = e.newest ? l->newest : l->oldest;
    RAD_EXEC_CHECK(w, STEAL_ORDER, right == t->id, w->task_object,
                   "worker %u takes task %u from the %s of %u; the %s is task %u", worker, t->id, line_names[e.kind],
                   e.worker, e.newest ? "newest" : "oldest", right);
    line_remove(w, l, t);
    return true;
}

static bool line_is_empty(rad_exec_world *w, enum rad_line_kind kind, uint32_t worker)
{
    return line_of(w, kind, worker)->count == 0;
}

/* A worker that says it found nothing where it looked: nobody else moved meanwhile, so there was nothing. */
static void found_nothing(rad_exec_world *w, uint32_t worker, const rad_step *step)
{
    bool robbed = step->victim != RAD_NONE;
    uint32_t at = robbed ? step->victim : worker;
    bool empty = line_is_empty(w, RAD_LINE_LATER, at);
    if (robbed || step->phase == RAD_PHASE_PICK) empty = empty && line_is_empty(w, RAD_LINE_LOCAL, at);
    if (!robbed) empty = empty && line_is_empty(w, RAD_LINE_INBOX, at) && line_is_empty(w, RAD_LINE_INJECTOR, 0);
    RAD_EXEC_CHECK(w, LOST_TASK, empty, w->task_object,
                   "worker %u finds nothing in the queues of worker %u, or in the injector; there "
                   "is something",
                   worker, at);
}

static void take_current(rad_exec_world *w, uint32_t worker, const rad_step *step)
{
    rad_vm_task *t = (rad_vm_task *)w->workers[worker].current;
    rad_ledger *g = &w->ledger;
    if (!picked(w, worker, step, t)) return;
    t->state = RAD_TASK_CURRENT;
    t->where = (uint16_t)worker;
    g->runnable--;
    g->current++;
    g->workers[worker].current = t->id;
    for (uint32_t i = 0; i < step->moved && g->injector.count > 0; i++) {
        rad_vm_task *next = rad__world_task(w, g->injector.oldest);
        line_remove(w, &g->injector, next);
        line_enter(w, next, RAD_LINE_LATER, worker);
    }
}

static void after_run(rad_exec_world *w, uint32_t worker, const rad_step *step)
{
    rad_ledger *g = &w->ledger;
    rad_ledger_worker *lw = &g->workers[worker];
    rad_vm_task *t = rad__world_task(w, lw->current);
    if (step->run == RAD_RUN_AGAIN) return;
    lw->current = RAD_NONE;
    g->current--;
    if (step->run == RAD_RUN_DONE || step->run == RAD_RUN_FAILED) {
        g->alive--;
        g->ended++;
    }
    if (step->run == RAD_RUN_FAILED) g->shut = true;
    if (step->run == RAD_RUN_YIELD) {
        t->state = RAD_TASK_UNBORN;
        rad__ledger_queued(w, t, RAD_LINE_LATER, worker);
    }
    if (step->run == RAD_RUN_YIELD_GLOBAL) {
        t->state = RAD_TASK_UNBORN;
        rad__ledger_queued(w, t, RAD_LINE_INJECTOR, 0);
        rad__ledger_notified(w, step->woken);
    }
}

static void check_starvation(rad_exec_world *w, uint32_t worker)
{
    const rad_ledger_worker *lw = &w->ledger.workers[worker];
    for (uint32_t kind = 0; kind <= RAD_LINE_INJECTOR; kind++) {
        const rad_line_of_tasks *l = line_of(w, (enum rad_line_kind)kind, worker);
        if (l->count == 0) continue;
        const rad_vm_task *t = rad__world_task(w, l->oldest);
        uint64_t picks = kind == RAD_LINE_INJECTOR ? w->ledger.picks : lw->picks;
        RAD_EXEC_CHECK(w, STARVATION, picks <= t->deadline, w->task_object,
                       "task %u has waited in the %s of worker %u for %llu picks too long", t->id, line_names[kind],
                       worker, (unsigned long long)(picks - t->deadline));
    }
}

/* At most half of them, rounded up; a single worker has nobody to steal from. */
static bool may_search(const rad_exec_world *w)
{
    return w->c->workers > 1 && w->ledger.searching < (w->c->workers + 1) / 2;
}

/* In the injector, or where a thief could get it. */
static bool anything_visible(rad_exec_world *w)
{
    bool empty = w->ledger.injector.count == 0;
    for (uint32_t i = 0; i < w->c->workers; i++)
        empty = empty && line_is_empty(w, RAD_LINE_LOCAL, i) && line_is_empty(w, RAD_LINE_LATER, i);
    return !empty;
}

/* The last searcher looks for more before it runs what it has. */
static void check_spreads(rad_exec_world *w, uint32_t worker)
{
    bool due = !w->c->plain_wake && w->ledger.searching == 0 && w->ledger.parked != 0;
    bool spreads = w->workers[worker].phase == RAD_PHASE_SPREAD;
    RAD_EXEC_CHECK(w, UNPARK_ORDER, spreads == due, w->idle_object,
                   "worker %u found a task and %s for more with %u searching, parked %#llx", worker,
                   spreads ? "looks" : "does not look", w->ledger.searching, (unsigned long long)w->ledger.parked);
}

static void idle_stepped(rad_exec_world *w, uint32_t worker, const rad_step *step)
{
    rad_ledger *g = &w->ledger;
    rad_ledger_worker *lw = &g->workers[worker];
    bool counts = !w->c->plain_wake;
    switch (step->phase) {
    case RAD_PHASE_SEARCH:
        lw->searching = w->workers[worker].searching;
        RAD_EXEC_CHECK(w, UNPARK_ORDER, !counts || lw->searching == may_search(w), w->idle_object,
                       "worker %u %s to search with %u of %u workers", worker,
                       lw->searching ? "begins" : "does not begin", g->searching, w->c->workers);
        if (lw->searching && counts) g->searching++;
        break;
    case RAD_PHASE_FOUND:
        lw->searching = false;
        if (counts) g->searching--;
        if (!g->done) check_spreads(w, worker);
        break;
    case RAD_PHASE_SPREAD:
        if (anything_visible(w))
            rad__ledger_notified(w, step->woken);
        else
            expect_woken(w, RAD_NONE, step->woken);
        break;
    case RAD_PHASE_ANNOUNCE:
        if (lw->searching && counts) g->searching--;
        lw->searching = false;
        if (counts) g->parked |= UINT64_C(1) << worker;
        break;
    case RAD_PHASE_NOTIFY:
        if (!counts)
            expect_woken(w, worker, step->woken);
        else if (w->workers[worker].only_mine)
            expect_woken(w, g->parked >> worker & 1 ? worker : RAD_NONE, step->woken);
        else if (g->parked == 0 || g->searching > 0)
            expect_woken(w, RAD_NONE, step->woken);
        else if (g->parked >> worker & 1)
            expect_woken(w, worker, step->woken);
        else
            expect_turn(w, step->woken);
        break;
    case RAD_PHASE_PARKED:
        if (w->workers[worker].phase == RAD_PHASE_STEAL) lw->searching = true;
        break;
    default: break;
    }
}

void rad__ledger_stepped(rad_exec_world *w, uint32_t worker, const rad_step *step)
{
    rad_ledger *g = &w->ledger;
    rad_ledger_worker *lw = &g->workers[worker];
    const rad_worker *production = &w->workers[worker];
    g->credit += production->credit;
    g->credit -= lw->credit;
    lw->credit = production->credit;
    if (step->phase == RAD_PHASE_PICK) {
        lw->picks++;
        g->picks++;
        check_starvation(w, worker);
    }
    bool looked = step->phase == RAD_PHASE_PICK || step->phase == RAD_PHASE_STEAL;
    if (looked && step->source != RAD_FROM_NOWHERE)
        take_current(w, worker, step);
    else if (looked && production->phase != RAD_PHASE_STOPPED)
        found_nothing(w, worker, step);
    if (step->phase == RAD_PHASE_RUN && lw->current != RAD_NONE) after_run(w, worker, step);
    idle_stepped(w, worker, step);
}

/* ---- After every action ----------------------------------------------------------------------------- */

static void check_gate(rad_exec_world *w)
{
    rad_ledger *g = &w->ledger;
    uint64_t count = rad__gate_count(&w->sched.gate), due = g->alive + g->credit;
    RAD_EXEC_CHECK(w, IN_FLIGHT, count == due, w->gate_object,
                   "the gate counts %llu; %u tasks are alive and the workers' credit is %llu",
                   (unsigned long long)count, g->alive, (unsigned long long)g->credit);
    RAD_EXEC_CHECK(w, GATE, rad__gate_is_open(&w->sched.gate) == !g->shut, w->gate_object,
                   "the gate is %s and should be %s", g->shut ? "open" : "shut", g->shut ? "shut" : "open");
    int64_t failure = atomic_load_explicit(&w->sched.failure, memory_order_relaxed);
    RAD_EXEC_CHECK(w, PANIC_ESCAPED, failure == g->failure, w->gate_object,
                   "the first task to fail was %lld; the executor remembers %lld (task + 1, 0: none)",
                   (long long)g->failure, (long long)failure);
}

static void check_done(rad_exec_world *w)
{
    rad_ledger *g = &w->ledger;
    bool done = rad__sched_is_done(&w->sched);
    bool drained = g->shut && g->alive + g->credit == 0;
    bool stopped = g->failure != 0 && w->c->stop_on_failure;
    RAD_EXEC_CHECK(w, DONE, done || !g->done, w->gate_object, "done was set and is no longer");
    RAD_EXEC_CHECK(w, DONE, done == (drained || stopped), w->gate_object,
                   done ? "done is set though %u tasks are alive and the gate is %s"
                        : "done is not set though %u tasks are alive and the gate is %s",
                   g->alive, g->shut ? "shut" : "open");
    g->done = done;
}

static void check_idle(rad_exec_world *w)
{
    rad_ledger *g = &w->ledger;
    if (g->done || w->c->plain_wake) return;
    uint32_t searching = rad__idle_searching(&w->sched.idle), parked = rad__idle_parked(&w->sched.idle);
    RAD_EXEC_CHECK(w, UNPARK_ORDER, searching == g->searching && parked == (uint32_t)__builtin_popcountll(g->parked),
                   w->idle_object, "%u workers search and %d are parked; the executor counts %u and %u", g->searching,
                   __builtin_popcountll(g->parked), searching, parked);
}

static void check_permits(rad_exec_world *w)
{
    for (uint32_t i = 0; i < w->c->resource_count; i++)
        RAD_EXEC_CHECK(w, PERMIT_OVERFLOW, w->available[i] <= w->c->totals[i], w->resource_objects[i],
                       "resource %u has %u units to give of %u", i, w->available[i], w->c->totals[i]);
}

void rad__ledger_check(rad_exec_world *w)
{
    check_gate(w);
    check_done(w);
    check_idle(w);
    check_permits(w);
    if (w->too_many_tasks)
        rad_fail(w->k, RAD_ORACLE_LIVELOCK, w->task_object, "more than %u tasks",
                 RAD_TASKS_CHUNK * RAD_TASK_CHUNKS_MAX);
}

/* ---- From scratch ----------------------------------------------------------------------------------- */

static void census_queues(rad_exec_world *w)
{
    rad_ledger *g = &w->ledger;
    uint64_t injected = rad__injector_count(&w->sched.injector);
    RAD_EXEC_CHECK(w, LOST_TASK, injected == g->injector.count, w->injector_object,
                   "the injector holds %llu tasks; %u were pushed and not popped", (unsigned long long)injected,
                   g->injector.count);
    for (uint32_t i = 0; i < w->c->workers; i++) {
        const rad_ledger_worker *lw = &g->workers[i];
        uint64_t local = rad__deque_count(&w->workers[i].local);
        uint64_t later = rad__deque_count(&w->workers[i].later);
        RAD_EXEC_CHECK(w, LOST_TASK, !rad__worker_is_ahead(&w->workers[i]), w->worker_objects[i],
                       "worker %u holds woken tasks; the injector takes all that are woken", i);
        bool inbox_empty = rad__inbox_is_empty(&w->workers[i].inbox);
        RAD_EXEC_CHECK(w, LOST_TASK,
                       local == lw->lines[RAD_LINE_LOCAL].count && later == lw->lines[RAD_LINE_LATER].count &&
                           inbox_empty == (lw->lines[RAD_LINE_INBOX].count == 0),
                       w->worker_objects[i], "worker %u holds %llu and %llu tasks, inbox %s; should be %u, %u, %u", i,
                       (unsigned long long)local, (unsigned long long)later, inbox_empty ? "empty" : "filled",
                       lw->lines[RAD_LINE_LOCAL].count, lw->lines[RAD_LINE_LATER].count,
                       lw->lines[RAD_LINE_INBOX].count);
    }
}

static void census_permits(rad_exec_world *w)
{
    for (uint32_t i = 0; i < w->c->resource_count; i++) {
        uint64_t held = 0;
        for (uint32_t t = 0; t < w->task_count; t++) held += rad__world_task(w, t)->held[i];
        uint64_t sum = held + w->available[i];
        RAD_EXEC_CHECK(w, PERMIT_UNDERFLOW, sum >= w->c->totals[i], w->resource_objects[i],
                       "resource %u: %llu units held and %u to give make less than %u", i, (unsigned long long)held,
                       w->available[i], w->c->totals[i]);
        RAD_EXEC_CHECK(w, PERMIT_OVERFLOW, sum <= w->c->totals[i], w->resource_objects[i],
                       "resource %u: %llu units held and %u to give make more than %u", i, (unsigned long long)held,
                       w->available[i], w->c->totals[i]);
    }
}

void rad__ledger_census(rad_exec_world *w)
{
    uint32_t states[RAD_TASK_REFUSED + 1] = {0};
    rad_ledger *g = &w->ledger;
    for (uint32_t t = 0; t < w->task_count; t++) states[rad__world_task(w, t)->state]++;
    uint32_t blocked = states[RAD_TASK_SLEEPING] + states[RAD_TASK_WAITING];
    uint32_t alive = states[RAD_TASK_QUEUED] + states[RAD_TASK_CURRENT] + blocked;
    RAD_EXEC_CHECK(w, LOST_TASK,
                   alive == g->alive && states[RAD_TASK_QUEUED] == g->runnable && states[RAD_TASK_ENDED] == g->ended &&
                       states[RAD_TASK_REFUSED] == g->refused,
                   w->task_object, "%u tasks alive, %u runnable, %u ended; counted %u, %u, %u", alive,
                   states[RAD_TASK_QUEUED], states[RAD_TASK_ENDED], g->alive, g->runnable, g->ended);
    census_queues(w);
    census_permits(w);
}
