#include "exec_reference.h"

#include "base/check.h"

#include <string.h>

const char *const exec_ref_kinds[EXEC_REF_KINDS] = {"deadlock", "outcome", "double-release", "permit-leak"};
const char *const exec_ref_outcomes[OUTCOMES] = {"completed", "refused", "deadlock"};

/* ---- Queues ---------------------------------------------------------------------------------------- */

static void queue_add(exec_ref_queue *q, uint8_t task)
{
    q->at[q->count++] = task;
}

static uint8_t queue_remove(exec_ref_queue *q, uint32_t place)
{
    uint8_t task = q->at[place];
    q->count--;
    memmove(q->at + place, q->at + place + 1, q->count - place);
    q->at[q->count] = 0;
    return task;
}

static uint8_t queue_oldest(exec_ref_queue *q)
{
    return queue_remove(q, 0);
}

/* ---- Places of tasks --------------------------------------------------------------------------------- */

static void to_injector(exec_state *s, uint8_t task)
{
    s->tasks[task].place = PLACE_INJECTOR;
    s->tasks[task].until = 0;
    queue_add(&s->injector, task);
}

/* A task comes from outside: the gate decides. */
static void admit(exec_state *s, uint8_t task)
{
    if (s->shut)
        s->tasks[task].place = PLACE_REFUSED;
    else
        to_injector(s, task);
}

static void fall_asleep(exec_state *s, uint8_t task, uint16_t ticks)
{
    exec_ref_task *t = &s->tasks[task];
    t->place = PLACE_ASLEEP;
    t->until = (uint16_t)(s->now + ticks);
    uint32_t at = s->asleep.count;
    while (at > 0 && s->tasks[s->asleep.at[at - 1]].until > t->until) at--;
    memmove(s->asleep.at + at + 1, s->asleep.at + at, s->asleep.count - at);
    s->asleep.at[at] = task;
    s->asleep.count++;
}

void exec_ref_begin(const exec_case *c, exec_state *s)
{
    memset(s, 0, sizeof *s);
    for (uint8_t i = 0; i < c->task_count; i++) {
        s->tasks[i].program = c->tasks[i].program;
        s->tasks[i].next = c->tasks[i].at;
    }
    s->task_count = c->task_count;
    memcpy(s->left, c->resources, sizeof s->left);
    for (uint8_t i = 0; i < c->runnable_count; i++) to_injector(s, c->runnable[i]);
}

/* ---- Instructions ------------------------------------------------------------------------------------- */

static void spawn(const exec_case *c, exec_state *s, uint8_t worker, const case_instruction *i)
{
    if (s->task_count == CASE_TASKS) {
        s->overflow = true;
        return;
    }
    uint8_t task = s->task_count++;
    exec_ref_task *t = &s->tasks[task];
    t->program = i->a;
    if (i->op == CASE_SPAWN_LOCAL) {
        t->place = PLACE_DEQUE;
        queue_add(&s->deque[worker], task);
    } else if (i->op == CASE_SPAWN_TO) {
        t->place = PLACE_INBOX;
        queue_add(&s->inbox[i->b % c->workers], task);
    } else if (i->op == CASE_SPAWN_GLOBAL) {
        to_injector(s, task);
    } else {
        admit(s, task);
    }
}

static void end_task(exec_state *s, uint8_t worker, uint8_t task)
{
    s->tasks[task].place = PLACE_ENDED;
    s->current[worker] = 0;
}

static void complete(const exec_case *c, exec_state *s, uint8_t worker, uint8_t task)
{
    for (uint8_t r = 0; r < c->resource_count; r++)
        if (s->tasks[task].holds[r] > 0) s->fault = FAULT_LEAK;
    end_task(s, worker, task);
}

static void panic(const exec_case *c, exec_state *s, uint8_t worker, uint8_t task)
{
    for (uint8_t r = 0; r < c->resource_count; r++) {
        s->left[r] += s->tasks[task].holds[r];
        s->tasks[task].holds[r] = 0;
    }
    end_task(s, worker, task);
    if (s->first_failure == 0) s->first_failure = (uint8_t)(task + 1);
    s->shut = true;
    if (c->stop) {
        s->stopped = true;
        s->halted[worker] = true;
    }
}

static void acquire(exec_state *s, exec_ref_task *t, const case_instruction *i)
{
    bool enough = s->left[i->a] >= i->b;
    if (enough) {
        s->left[i->a] -= i->b;
        t->holds[i->a] += i->b;
    }
    t->next = enough ? i->ok : i->fail;
}

static void release(exec_state *s, exec_ref_task *t, const case_instruction *i)
{
    uint8_t units = i->b < t->holds[i->a] ? i->b : t->holds[i->a];
    if (units < i->b) s->fault = FAULT_DOUBLE_RELEASE;
    t->next++;
    t->holds[i->a] -= units;
    s->left[i->a] += units;
}

static void wait_io(exec_state *s, uint8_t worker, uint8_t task, const case_instruction *i)
{
    exec_ref_task *t = &s->tasks[task];
    if (s->tokens[i->a] == 0) { /* the instruction is executed again when the task was woken */
        t->place = PLACE_WAITS;
        t->until = i->a;
        queue_add(&s->waiting, task);
        s->current[worker] = 0;
        return;
    }
    bool failed = s->tokens[i->a] == 2 && i->b != CASE_NO_PLACE;
    t->next = failed ? i->b : (uint8_t)(t->next + 1);
}

static void execute(const exec_case *c, exec_state *s, uint8_t worker)
{
    uint8_t task = (uint8_t)(s->current[worker] - 1);
    exec_ref_task *t = &s->tasks[task];
    const case_program *p = &c->programs[t->program];
    static const case_instruction end = {.op = CASE_COMPLETE};
    const case_instruction *i = t->next < p->length ? &p->code[t->next] : &end;
    switch ((enum case_op)i->op) {
    case CASE_YIELD_LOCAL:
        t->next++;
        t->place = PLACE_LATER;
        queue_add(&s->later[worker], task);
        s->current[worker] = 0;
        break;
    case CASE_YIELD_GLOBAL:
    case CASE_YIELD_EXTERNAL:
        t->next++;
        to_injector(s, task);
        s->current[worker] = 0;
        break;
    case CASE_SPAWN_LOCAL:
    case CASE_SPAWN_GLOBAL:
    case CASE_SPAWN_EXTERNAL:
    case CASE_SPAWN_TO:
        t->next++;
        spawn(c, s, worker, i);
        break;
    case CASE_SLEEP:
        t->next++;
        fall_asleep(s, task, i->a);
        s->current[worker] = 0;
        break;
    case CASE_WAIT_IO: wait_io(s, worker, task, i); break;
    case CASE_TRY_ACQUIRE: acquire(s, t, i); break;
    case CASE_RELEASE: release(s, t, i); break;
    case CASE_JUMP: t->next = i->a; break;
    case CASE_PANIC: panic(c, s, worker, task); break;
    case CASE_COMPLETE:
    case CASE_OPS: complete(c, s, worker, task); break;
    }
    if (s->stopped) s->halted[worker] = true;
}

/* ---- What comes from outside ---------------------------------------------------------------------------- */

/* The first event of a token decides; each step of one wakes the oldest waiter, and the event is over when none is
 * left. */
static void deliver_token(exec_state *s, uint8_t event, uint8_t token, uint8_t value)
{
    if (s->tokens[token] == 0) s->tokens[token] = value;
    uint32_t left = 0, first = CASE_TASKS;
    for (uint32_t i = s->waiting.count; i-- > 0;) {
        if (s->tasks[s->waiting.at[i]].until != token) continue;
        left++;
        first = i;
    }
    if (left > 0) to_injector(s, queue_remove(&s->waiting, first));
    s->over[event] = left <= 1;
}

static void deliver(const exec_case *c, exec_state *s, uint8_t event)
{
    const case_event *e = &c->events[event];
    switch ((enum case_event_kind)e->kind) {
    case CASE_IO: deliver_token(s, event, e->argument, 1); return;
    case CASE_FAIL_IO: deliver_token(s, event, e->argument, 2); return;
    case CASE_START: admit(s, e->argument); break;
    case CASE_CLOSE:
    case CASE_EVENT_KINDS: s->shut = true; break;
    }
    s->over[event] = true;
}

/* The next moment at which something is due; UINT16_MAX: none. */
static uint16_t next_moment(const exec_case *c, const exec_state *s)
{
    uint16_t next = UINT16_MAX;
    for (uint8_t i = 0; i < c->event_count; i++)
        if (!s->over[i] && c->events[i].time > s->now && c->events[i].time < next) next = c->events[i].time;
    for (uint8_t i = 0; i < s->asleep.count; i++) {
        uint16_t until = s->tasks[s->asleep.at[i]].until;
        if (until > s->now && until < next) next = until;
    }
    return next;
}

/* ---- Workers ---------------------------------------------------------------------------------------------- */

uint32_t exec_ref_batch(const exec_case *c, uint32_t count)
{
    uint32_t share = count / c->workers + 1;
    return share < count ? share : count;
}

static exec_ref_queue *queue_at(exec_state *s, uint8_t source, uint8_t worker)
{
    if (source == PLACE_INJECTOR) return &s->injector;
    return (source == PLACE_DEQUE ? s->deque : source == PLACE_LATER ? s->later : s->inbox) + worker;
}

static void take(const exec_case *c, exec_state *s, exec_ref_move m)
{
    uint8_t w = m.who, task;
    if (m.source == PLACE_INJECTOR) {
        uint32_t more = exec_ref_batch(c, s->injector.count) - 1;
        task = queue_oldest(&s->injector);
        for (; more > 0; more--) {
            uint8_t other = queue_oldest(&s->injector);
            s->tasks[other].place = PLACE_LATER;
            queue_add(&s->later[w], other);
        }
    } else {
        exec_ref_queue *q = queue_at(s, m.source, m.victim);
        bool newest = m.source == PLACE_DEQUE && m.victim == w && !m.tick;
        task = newest ? queue_remove(q, q->count - 1U) : queue_oldest(q);
    }
    s->tasks[task].place = PLACE_CURRENT;
    s->current[w] = (uint8_t)(task + 1);
}

static exec_ref_move *add_take(exec_ref_move *m, uint8_t worker, uint8_t source, uint8_t victim)
{
    *m = (exec_ref_move){MOVE_TAKE, worker, source, victim, false};
    return m + 1;
}

static exec_ref_move *steals(const exec_case *c, const exec_state *s, uint8_t w, exec_ref_move *m)
{
    for (uint8_t v = 0; v < c->workers; v++) {
        if (v == w) continue;
        if (s->deque[v].count > 0)
            m = add_take(m, w, PLACE_DEQUE, v);
        else if (s->later[v].count > 0)
            m = add_take(m, w, PLACE_LATER, v);
    }
    return m;
}

static exec_ref_move *takes(const exec_case *c, const exec_state *s, uint8_t w, bool strict, exec_ref_move *m)
{
    exec_ref_move *none = m;
    if (s->deque[w].count > 0) return add_take(m, w, PLACE_DEQUE, w);
    if (s->later[w].count > 0) return add_take(m, w, PLACE_LATER, w);
    if (s->inbox[w].count > 0) m = add_take(m, w, PLACE_INBOX, w);
    if (strict && m > none) return m;
    if (s->injector.count > 0) m = add_take(m, w, PLACE_INJECTOR, w);
    if (strict && m > none) return m;
    return steals(c, s, w, m);
}

static exec_ref_move *worker_moves(const exec_case *c, const exec_state *s, bool strict, exec_ref_move *m)
{
    for (uint8_t w = 0; w < c->workers; w++) {
        if (s->halted[w]) continue;
        if (s->current[w])
            *m++ = (exec_ref_move){MOVE_EXECUTE, w, 0, 0, false};
        else if (!s->stopped)
            m = takes(c, s, w, strict, m);
    }
    return m;
}

uint32_t exec_ref_moves(const exec_case *c, const exec_state *s, bool strict, exec_ref_move moves[EXEC_REF_MOVES])
{
    exec_ref_move *m = moves;
    if (s->fault != FAULT_NONE || s->overflow) return 0;
    for (uint8_t i = 0; i < c->event_count; i++)
        if (!s->over[i] && c->events[i].time <= s->now) *m++ = (exec_ref_move){MOVE_EVENT, i, 0, 0, false};
    bool timer = s->asleep.count > 0 && s->tasks[s->asleep.at[0]].until <= s->now;
    if (timer) *m++ = (exec_ref_move){MOVE_TIMER, 0, 0, 0, false};
    m = worker_moves(c, s, strict, m);
    if (next_moment(c, s) != UINT16_MAX && ((c->eager && !timer) || m == moves))
        *m++ = (exec_ref_move){MOVE_CLOCK, 0, 0, 0, false};
    RAD_ASSERT(m - moves <= EXEC_REF_MOVES);
    return (uint32_t)(m - moves);
}

bool exec_ref_allows(const exec_case *c, const exec_state *s, exec_ref_move move)
{
    exec_ref_move moves[EXEC_REF_MOVES];
    uint32_t count = exec_ref_moves(c, s, false, moves);
    if (move.tick)
        return !s->current[move.who] && !s->stopped && s->fault == FAULT_NONE && move.victim == move.who &&
               queue_at((exec_state *)s, move.source, move.victim)->count > 0;
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(&moves[i], &move, sizeof move) == 0) return true;
    return false;
}

/* ---- What a run shows ---------------------------------------------------------------------------------------- */

uint64_t exec_ref_history(const exec_ref_task *t)
{
    uint64_t h = judge_fold(t->history + 1, t->place);
    if (t->place == PLACE_ENDED) return h;
    h = judge_fold(h, t->next);
    for (uint32_t r = 0; r < CASE_RESOURCES; r++) h = judge_fold(h, t->holds[r]);
    return h;
}

static bool is_alive(const exec_ref_task *t)
{
    return t->place >= PLACE_INJECTOR && t->place <= PLACE_WAITS;
}

bool exec_ref_is_done(const exec_state *s)
{
    bool alive = false;
    for (uint8_t i = 0; i < s->task_count; i++) alive |= is_alive(&s->tasks[i]);
    return s->stopped || (s->shut && !alive);
}

uint64_t exec_ref_digest(const exec_ref_task *tasks, uint8_t count, const uint8_t left[CASE_RESOURCES], uint16_t now,
                         bool shut, bool done, uint8_t first_failure)
{
    uint64_t h = count;
    for (uint8_t i = 0; i < count; i++) h = judge_fold(h, exec_ref_history(&tasks[i]));
    for (uint8_t r = 0; r < CASE_RESOURCES; r++) h = judge_fold(h, left[r]);
    h = judge_fold(judge_fold(h, now), shut);
    return judge_fold(judge_fold(h, done), first_failure);
}

uint64_t exec_ref_result(const exec_state *s)
{
    return exec_ref_digest(s->tasks, s->task_count, s->left, s->now, s->shut, exec_ref_is_done(s), s->first_failure);
}

static enum exec_ref_outcome outcome_of(const exec_state *s)
{
    bool refused = false;
    for (uint8_t i = 0; i < s->task_count; i++) {
        if (is_alive(&s->tasks[i]) && !s->stopped) return OUTCOME_DEADLOCK;
        refused |= s->tasks[i].place == PLACE_REFUSED;
    }
    return refused ? OUTCOME_REFUSED : OUTCOME_COMPLETED;
}

static bool is_expected(uint8_t expect, enum exec_ref_outcome outcome)
{
    if (expect == CASE_EXPECT_ENDS) return outcome != OUTCOME_DEADLOCK;
    return (int)outcome == expect - CASE_EXPECT_COMPLETED;
}

const char *exec_ref_verdict(const exec_case *c, const exec_state *s, const char **outcome)
{
    *outcome = NULL;
    if (s->fault != FAULT_NONE) return exec_ref_kinds[1 + s->fault];
    enum exec_ref_outcome o = outcome_of(s);
    *outcome = exec_ref_outcomes[o];
    if (is_expected(c->expect, o)) return NULL;
    return exec_ref_kinds[o == OUTCOME_DEADLOCK ? 0 : 1];
}

/* ---- A move --------------------------------------------------------------------------------------------------- */

static bool same(const exec_ref_task *a, const exec_ref_task *b)
{
    return a->place == b->place && a->next == b->next && memcmp(a->holds, b->holds, sizeof a->holds) == 0;
}

void exec_ref_apply(const exec_case *c, exec_state *s, exec_ref_move m)
{
    exec_state before = *s;
    switch ((enum exec_ref_move_kind)m.kind) {
    case MOVE_EVENT: deliver(c, s, m.who); break;
    case MOVE_TIMER: to_injector(s, queue_oldest(&s->asleep)); break;
    case MOVE_CLOCK: s->now = next_moment(c, s); break;
    case MOVE_TAKE: take(c, s, m); break;
    case MOVE_EXECUTE: execute(c, s, m.who); break;
    }
    for (uint8_t i = 0; i < s->task_count; i++) {
        exec_ref_task *t = &s->tasks[i];
        if (!same(t, &before.tasks[i])) t->history = exec_ref_history(t);
    }
}
