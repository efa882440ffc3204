#include "exec/direct_switch.h"

bool rad__worker_open(rad_worker *w, rad_sched *s, uint32_t id)
{
    *w = (rad_worker){.sched = s, .id = id};
    bool opened = rad__deque_open(&w->local);
    opened = rad__deque_open(&w->later) && opened;
    opened = rad__deque_open(&w->due) && opened;
    opened = rad__deque_open(&w->woken) && opened;
    if (!opened) {
        rad__worker_close(w);
        return false;
    }
    s->workers[id] = w;
    rad__worker_reset(w);
    return true;
}

void rad__worker_reset(rad_worker *w)
{
    rad__deque_reset(&w->local);
    rad__deque_reset(&w->later);
    rad__deque_reset(&w->due);
    rad__deque_reset(&w->woken);
    rad__inbox_open(&w->inbox);
    w->current = NULL;
    w->picks = 0;
    w->credit = w->hoard = w->tries = w->row = 0;
    w->hint = RAD_NONE;
    w->phase = RAD_PHASE_PICK;
    w->searching = w->only_mine = w->ahead = w->fresh = false;
    rad__worker_set_brief(w, false);
    w->failure = 0;
    w->stats = (rad_worker_stats){0};
}

void rad__worker_close(rad_worker *w)
{
    rad__deque_close(&w->local);
    rad__deque_close(&w->later);
    rad__deque_close(&w->due);
    rad__deque_close(&w->woken);
}

const char *rad__phase_name(uint32_t phase)
{
    static const char *const names[] = {
#define PHASE_NAME(name, text) text,
        RAD_PHASE_LIST(PHASE_NAME)
#undef PHASE_NAME
    };
    return phase < RAD_PHASE_COUNT ? names[phase] : "?";
}

/* ---- Spawn and wake -------------------------------------------------------------------------------- */

/* One more task in flight. */
static void credit_take(rad_worker *w)
{
    if (RAD_UNLIKELY(w->credit == 0)) {
        rad__gate_add(&w->sched->gate, RAD_CREDIT_STEP);
        w->credit = RAD_CREDIT_STEP;
    }
    w->credit--;
    rad__worker_count(&w->stats.spawned);
}

static uint32_t woke(rad_worker *w, uint32_t worker)
{
    if (worker != RAD_NONE) rad__worker_count(&w->stats.woke);
    return worker;
}

static uint32_t inject(rad_worker *w, rad_task *task)
{
    return woke(w, rad__sched_wake(w->sched, task));
}

uint32_t rad__worker_share(rad_worker *w)
{
    w->hoard = 0;
    rad__deque_publish(&w->local); /* W1 */
    if (w->ahead) {
        rad__deque_publish(&w->due);   /* W1 */
        rad__deque_publish(&w->woken); /* W1 */
    }
    return woke(w, rad__idle_notify(&w->sched->idle));
}

/* To the newest end. Tasks that pile up here are noticed by others only when one of them wakes up. */
static uint32_t push_own(rad_worker *w, rad_deque *d, rad_task *task)
{
    if (RAD_UNLIKELY(!rad__deque_push(d, task))) {
        rad__inbox_push(&w->inbox, task); /* as in rad__worker_put_later */
        return RAD_NONE;
    }
    if (RAD_LIKELY(!rad__choose_hoard(++w->hoard, w->sched->config.hoard))) return RAD_NONE;
    return rad__worker_share(w);
}

uint32_t rad__worker_spawn(rad_worker *w, rad_task *task)
{
    credit_take(w);
    return push_own(w, &w->local, task);
}

uint32_t rad__worker_spawn_global(rad_worker *w, rad_task *task)
{
    credit_take(w);
    return inject(w, task);
}

uint32_t rad__worker_spawn_on(rad_worker *w, uint32_t worker, rad_task *task)
{
    credit_take(w);
    return woke(w, rad__sched_send(w->sched, worker, task));
}

uint32_t rad__worker_wake(rad_worker *w, rad_task *task)
{
    w->ahead = w->fresh = true;
    return push_own(w, &w->woken, task);
}

void rad__worker_put_due(rad_worker *w, rad_task *task)
{
    w->ahead = true;
    if (RAD_UNLIKELY(!rad__deque_push(&w->due, task))) rad__inbox_push(&w->inbox, task);
}

uint32_t rad__worker_wake_self(rad_worker *w)
{
    RAD_DCHECK(w->phase == RAD_PHASE_PARKED);
    rad__deque_publish(&w->due); /* W1 */
    return woke(w, rad__idle_notify_self(&w->sched->idle, w->id, true));
}

/* In the line: several that are woken while it rests are all as fresh. Nearly always returns this
 * worker, which is awake; another one only if a third claimed this worker at the same moment. */
uint32_t rad__worker_wake_resting(rad_worker *w, rad_task *task)
{
    RAD_DCHECK(w->phase == RAD_PHASE_PARKED);
    w->ahead = true;
    bool pushed = rad__deque_push(&w->woken, task);
    if (RAD_UNLIKELY(!pushed)) rad__inbox_push(&w->inbox, task); /* where no searcher looks */
    rad__deque_publish(&w->woken);                               /* W1 */
    return woke(w, rad__idle_notify_self(&w->sched->idle, w->id, !pushed));
}

/* ---- Where tasks come from ------------------------------------------------------------------------- */

static rad_task *take_oldest(rad_deque *d)
{
    rad_task *task = NULL;
    return rad__deque_steal(d, &task) == RAD_STEAL_GOT ? task : NULL;
}

/* One to run; the rest of the batch goes behind what waits here, in order. */
static rad_task *take_batch(rad_worker *w, rad_step *step)
{
    rad_injector *q = &w->sched->injector;
    rad_task *tasks[RAD_BATCH_MAX];
    uint64_t queued = rad__injector_count(q);
    uint32_t most = rad__choose_batch(queued, w->sched->config.workers, RAD_BATCH_MAX);
    uint32_t count = most ? rad__injector_pop(q, tasks, most) : 0;
    if (count == 0) return NULL;
    for (uint32_t i = 1; i < count; i++) rad__worker_put_later(w, tasks[i]);
    step->moved = (uint8_t)(count - 1);
    return tasks[0];
}

static rad_task *take_from(rad_worker *w, enum rad_source source, rad_step *step)
{
    step->source = (uint8_t)source;
    switch (source) {
    case RAD_FROM_LOCAL: return rad__deque_pop(&w->local);
    case RAD_FROM_OLDEST: return take_oldest(&w->local);
    case RAD_FROM_LATER: return take_oldest(&w->later);
    case RAD_FROM_DUE: return take_oldest(&w->due);
    case RAD_FROM_WOKEN: return rad__worker_take_woken(w);
    case RAD_FROM_INBOX: return rad__inbox_pop(&w->inbox);
    default: return take_batch(w, step);
    }
}

/* What goes before its own spawns. */
static rad_task *take_ahead(rad_worker *w, rad_step *step)
{
    if (RAD_LIKELY(!w->ahead)) return NULL;
    rad_task *task = take_from(w, RAD_FROM_DUE, step);
    if (task == NULL) task = take_from(w, RAD_FROM_WOKEN, step);
    if (task == NULL) w->ahead = rad__worker_is_ahead(w);
    return task;
}

/* What comes after its own spawns. */
static rad_task *take_other(rad_worker *w, rad_step *step)
{
    rad_task *task = take_from(w, RAD_FROM_LATER, step);
    if (task == NULL) task = take_from(w, RAD_FROM_INBOX, step);
    if (task == NULL) task = take_from(w, RAD_FROM_INJECTOR, step);
    return task;
}

/* Each source is the first to be asked in every fourth of these picks. */
static rad_task *take_fairly(rad_worker *w, rad_step *step)
{
    static const uint8_t turns[RAD_FAIR_TURNS] = {RAD_FROM_INJECTOR, RAD_FROM_INBOX, RAD_FROM_OLDEST, RAD_FROM_LATER};
    return take_from(w, turns[w->picks / RAD_FAIR_EVERY % RAD_FAIR_TURNS], step);
}

static void count_source(rad_worker *w, enum rad_source source)
{
    rad_worker_stats *s = &w->stats;
    if (RAD_LIKELY(source <= RAD_FROM_OLDEST || source >= RAD_FROM_DUE))
        rad__worker_count(&s->from_local);
    else if (source == RAD_FROM_LATER)
        rad__worker_count(&s->from_later);
    else if (source == RAD_FROM_INBOX)
        rad__worker_count(&s->from_inbox);
    else
        rad__worker_count(source == RAD_FROM_INJECTOR ? &s->from_injector : &s->stolen);
}

/* ---- Steps ----------------------------------------------------------------------------------------- */

static void go_to(rad_worker *w, enum rad_phase_kind phase)
{
    w->phase = (uint8_t)phase;
}

static void stop_all(rad_worker *w)
{
    rad__sched_finish(w->sched);
    w->tries = 0;
    go_to(w, RAD_PHASE_CALL);
}

static bool step_if_done(rad_worker *w)
{
    if (RAD_LIKELY(!rad__sched_is_done(w->sched))) return false;
    go_to(w, RAD_PHASE_STOPPED);
    return true;
}

static void step_pick(rad_worker *w, rad_step *step)
{
    rad_task *task = NULL;
    if (step_if_done(w)) return;
    if (RAD_UNLIKELY(rad__choose_fair(++w->picks))) task = take_fairly(w, step);
    if (RAD_LIKELY(task == NULL)) task = take_ahead(w, step);
    if (RAD_LIKELY(task == NULL)) task = take_from(w, RAD_FROM_LOCAL, step);
    if (RAD_UNLIKELY(task == NULL)) task = take_other(w, step);
    w->current = task;
    if (RAD_UNLIKELY(task == NULL)) {
        step->source = RAD_FROM_NOWHERE;
        go_to(w, RAD_PHASE_SEARCH);
        return;
    }
    count_source(w, step->source);
    go_to(w, RAD_PHASE_RUN);
}

/* Counted by itself until there is enough to be worth telling the gate. */
static void task_ended(rad_worker *w)
{
    rad__worker_count(&w->stats.ended);
    if (RAD_LIKELY(++w->credit < 2 * RAD_CREDIT_STEP)) return;
    w->credit -= RAD_CREDIT_STEP; /* at least that much stays, so the count does not reach zero */
    enum rad_gate_leave left = rad__gate_leave(&w->sched->gate, RAD_CREDIT_STEP);
    RAD_ASSERT(left != RAD_GATE_LAST);
}

void rad__worker_note_failure(rad_worker *w)
{
    rad_sched *s = w->sched;
    int64_t none = 0;
    /* Pairs with whoever reads the failure after join. Only the first one counts. */
    atomic_compare_exchange_strong_explicit(&s->failure, &none, w->failure ? w->failure : 1, memory_order_acq_rel,
                                            memory_order_relaxed);
    w->failure = 0;
    bool drained = rad__sched_shut(s);
    RAD_ASSERT(!drained); /* this task is still counted */
}

static void task_failed(rad_worker *w)
{
    rad__worker_note_failure(w);
    task_ended(w);
    if (w->sched->config.stop_on_failure) stop_all(w);
}

/* Any answer. */
static void task_answered(rad_worker *w, rad_task *task, enum rad_run run, rad_step *step)
{
    step->run = (uint8_t)run;
    if (run == RAD_RUN_AGAIN) {
        if (RAD_UNLIKELY(rad__sched_is_done(w->sched))) go_to(w, RAD_PHASE_STOPPED);
        return;
    }
    w->current = NULL;
    go_to(w, RAD_PHASE_PICK);
    switch (run) {
    case RAD_RUN_DONE: task_ended(w); break;
    case RAD_RUN_FAILED: task_failed(w); break;
    case RAD_RUN_YIELD: rad__worker_put_later(w, task); break;
    case RAD_RUN_YIELD_GLOBAL: step->woken = inject(w, task); break;
    default: RAD_ASSERT(run == RAD_RUN_BLOCKED); /* not ours any more */
    }
}

static void step_search(rad_worker *w)
{
    w->searching = rad__sched_live(w->sched) > 1 && rad__idle_begin_search(&w->sched->idle);
    w->tries = 0;
    go_to(w, w->searching ? RAD_PHASE_STEAL : RAD_PHASE_SETTLE);
}

/* More of a crowd of woken tasks, which keep their order and rank. Searchers find them here. */
static void take_crowd(rad_worker *w, rad_worker *victim, rad_step *step)
{
    uint32_t most = rad__choose_loot(rad__deque_count(&victim->woken));
    rad_task *task;
    while (step->moved < most && (task = take_oldest(&victim->woken)) != NULL) {
        if (RAD_UNLIKELY(!rad__deque_push(&w->woken, task))) rad__inbox_push(&w->inbox, task);
        w->ahead = true;
        step->moved++;
    }
}

/* What goes first there goes first here. */
static rad_task *take_from_victim(rad_worker *w, rad_worker *victim, rad_step *step)
{
    rad_task *task = rad__worker_is_brief(victim) ? NULL : take_oldest(&victim->due);
    step->source = RAD_FROM_VICTIM_DUE;
    if (task == NULL) {
        step->source = RAD_FROM_VICTIM_WOKEN;
        task = take_oldest(&victim->woken);
        if (task != NULL) take_crowd(w, victim, step);
    }
    if (task == NULL) {
        step->source = RAD_FROM_VICTIM;
        task = take_oldest(&victim->local);
    }
    if (task == NULL) {
        step->source = RAD_FROM_VICTIM_LATER;
        task = take_oldest(&victim->later);
    }
    return task;
}

/* Round after round: its own queues and the injector, then `steal_tries` victims. */
static void step_steal(rad_worker *w, rad_step *step, uint32_t draw)
{
    const rad_sched_config *config = &w->sched->config;
    uint32_t live = rad__sched_live(w->sched);
    if (step_if_done(w)) return;
    if (live == 1 || w->tries % (config->steal_tries + 1) == 0) {
        w->current = take_ahead(w, step);
        if (w->current == NULL) w->current = take_other(w, step);
    } else {
        step->victim = w->hint != RAD_NONE ? w->hint : rad__choose_victim(w->id, live, draw);
        w->hint = RAD_NONE;
        w->current = take_from_victim(w, w->sched->workers[step->victim], step);
    }
    if (w->current != NULL) {
        count_source(w, step->source);
        go_to(w, RAD_PHASE_FOUND);
        return;
    }
    step->source = RAD_FROM_NOWHERE;
    if (step->victim != RAD_NONE) rad__worker_count(&w->stats.tried);
    if (++w->tries >= config->rounds * (config->steal_tries + 1)) go_to(w, RAD_PHASE_SETTLE);
}

static void step_found(rad_worker *w)
{
    w->searching = false;
    go_to(w, rad__idle_end_search(&w->sched->idle) ? RAD_PHASE_SPREAD : RAD_PHASE_RUN);
}

static void step_announce(rad_worker *w)
{
    rad__idle_announce(&w->sched->idle, w->id, w->searching);
    w->searching = false;
    go_to(w, RAD_PHASE_RECHECK);
}

static void step_settle(rad_worker *w)
{
    uint32_t credit = w->credit;
    w->credit = 0;
    go_to(w, RAD_PHASE_ANNOUNCE);
    if (credit > 0 && rad__gate_leave(&w->sched->gate, credit) == RAD_GATE_LAST) stop_all(w);
}

/* K3 and R2: everything that somebody may have made visible and told nobody but a searcher. */
static bool sees_work(rad_worker *w)
{
    const rad_sched *s = w->sched;
    /* Pairs with rad__sched_enliven: who begins in another seat after this sees what the caller announced before. */
    uint32_t live = atomic_load_explicit(&s->live, memory_order_seq_cst);
    w->hint = RAD_NONE;
    if (!rad__injector_is_empty(&s->injector)) return true;
    for (uint32_t i = 0; i < live; i++) {
        const rad_worker *at = s->workers[i];
        bool brief = rad__worker_is_brief(at) && (at != w || w->phase == RAD_PHASE_SPREAD);
        if (brief ? !rad__worker_has_more_loot(at) : !rad__worker_has_loot(at)) continue;
        w->hint = i == w->id ? RAD_NONE : i;
        return true;
    }
    return false;
}

static void step_recheck(rad_worker *w)
{
    /* A searcher does not look at its inbox, nor at what is due here while that is brief. */
    w->only_mine = !rad__inbox_is_empty(&w->inbox) || !rad__deque_is_empty(&w->due);
    go_to(w, w->only_mine || sees_work(w) ? RAD_PHASE_NOTIFY : RAD_PHASE_PARKED);
}

/* No barrier: a producer that finds this bit gone has found nobody to wake, as if the worker had left before. One that
 * saw it publishes before it claims it. */
bool rad__worker_retire(rad_worker *w)
{
    RAD_DCHECK(w->phase == RAD_PHASE_PARKED);
    if (!rad__idle_withdraw(&w->sched->idle, w->id)) return false;
    go_to(w, RAD_PHASE_PICK); /* awake, and not searching; whoever sits down here begins so */
    bool leaves = rad__inbox_is_empty(&w->inbox) && !sees_work(w) && !rad__sched_is_done(w->sched);
    w->hint = RAD_NONE;
    return leaves;
}

/* R2. */
static void step_spread(rad_worker *w, rad_step *step)
{
    if (sees_work(w)) step->woken = woke(w, rad__idle_notify(&w->sched->idle));
    w->hint = RAD_NONE;
    go_to(w, RAD_PHASE_RUN);
}

uint32_t rad__worker_end_search(rad_worker *w)
{
    rad_step step = {.woken = RAD_NONE};
    step_found(w);
    if (w->phase == RAD_PHASE_SPREAD) step_spread(w, &step);
    return step.woken;
}

static void step_notify(rad_worker *w, rad_step *step)
{
    step->woken = rad__idle_notify_self(&w->sched->idle, w->id, w->only_mine);
    go_to(w, RAD_PHASE_PARKED);
}

static void step_parked(rad_worker *w)
{
    if (!rad__idle_take_wake_word(&w->sched->idle, w->id)) return;
    if (step_if_done(w)) return;
    rad__worker_count(&w->stats.parked);
    w->searching = true; /* whoever gave the wake word has counted it */
    w->tries = 0;
    go_to(w, RAD_PHASE_STEAL);
}

static void step_call(rad_worker *w, rad_step *step)
{
    /* Pairs with rad__sched_enliven. */
    uint32_t live = atomic_load_explicit(&w->sched->live, memory_order_seq_cst);
    if (w->tries == w->id) w->tries++;
    if (w->tries < live) {
        rad__idle_call(&w->sched->idle, w->tries);
        step->woken = w->tries++;
    }
    if (w->tries == w->id) w->tries++;
    if (w->tries >= live) go_to(w, RAD_PHASE_STOPPED);
}

static rad_step step_begin(const rad_worker *w)
{
    return (rad_step){.phase = w->phase, .victim = RAD_NONE, .woken = RAD_NONE};
}

/* Kept apart from the two phases that matter for speed: they need few registers and no memory for `step`. */
static __attribute__((noinline)) rad_step step_other(rad_worker *w, uint32_t draw)
{
    rad_step step = step_begin(w);
    switch (w->phase) {
    case RAD_PHASE_PICK: step_pick(w, &step); break;
    case RAD_PHASE_SEARCH: step_search(w); break;
    case RAD_PHASE_STEAL: step_steal(w, &step, draw); break;
    case RAD_PHASE_FOUND: step_found(w); break;
    case RAD_PHASE_SPREAD: step_spread(w, &step); break;
    case RAD_PHASE_SETTLE: step_settle(w); break;
    case RAD_PHASE_ANNOUNCE: step_announce(w); break;
    case RAD_PHASE_RECHECK: step_recheck(w); break;
    case RAD_PHASE_NOTIFY: step_notify(w, &step); break;
    case RAD_PHASE_PARKED: step_parked(w); break;
    case RAD_PHASE_CALL: step_call(w, &step); break;
    default: /* STOPPED */ break;
    }
    return step;
}

static __attribute__((noinline)) rad_step step_answered(rad_worker *w, rad_task *task, enum rad_run run)
{
    rad_step step = step_begin(w);
    task_answered(w, task, run, &step);
    return step;
}

/* The two answers that matter for speed, as constants: putting one together byte by byte in memory and reading it
 * as words costs more than all the rest of a step. */
static const rad_step RAN_TO_THE_END = {
    .phase = RAD_PHASE_RUN, .run = RAD_RUN_DONE, .victim = RAD_NONE, .woken = RAD_NONE};
static const rad_step PICKED_ITS_NEWEST = {
    .phase = RAD_PHASE_PICK, .source = RAD_FROM_LOCAL, .victim = RAD_NONE, .woken = RAD_NONE};

/* Runs the current task. Most are done then. */
static __attribute__((noinline)) rad_step step_run(rad_worker *w)
{
    rad_task *task = w->current;
    enum rad_run run = task->run(task, w);
    task = w->current; /* it may have gone over to another one */
    rad__worker_count(&w->stats.ran);
    if (RAD_UNLIKELY(run != RAD_RUN_DONE || w->credit + 1 >= 2 * RAD_CREDIT_STEP)) return step_answered(w, task, run);
    rad__worker_count(&w->stats.ended);
    w->credit++;
    w->current = NULL;
    go_to(w, RAD_PHASE_PICK);
    return RAN_TO_THE_END;
}

rad_step rad__worker_step(rad_worker *w, uint32_t draw)
{
    if (w->phase == RAD_PHASE_RUN) return step_run(w);
    if (w->phase != RAD_PHASE_PICK || w->ahead || rad__choose_fair(w->picks + 1) || rad__sched_is_done(w->sched))
        return step_other(w, draw);
    rad_task *task = rad__deque_pop(&w->local); /* as step_pick does, without the rest of it */
    if (RAD_UNLIKELY(task == NULL)) return step_other(w, draw);
    w->picks++;
    w->current = task;
    rad__worker_count(&w->stats.from_local);
    go_to(w, RAD_PHASE_RUN);
    return PICKED_ITS_NEWEST;
}

/* ---- Waiting inside a task ------------------------------------------------------------------------- */

/* As step_pick, without the injector. */
static rad_task *take_own(rad_worker *w, bool oldest_too, rad_step *step)
{
    static const uint8_t turns[] = {RAD_FROM_INBOX, RAD_FROM_LATER, RAD_FROM_OLDEST};
    rad_task *task = NULL;
    if (RAD_UNLIKELY(rad__choose_fair(++w->picks)))
        task = take_from(w, turns[w->picks / RAD_FAIR_EVERY % (oldest_too ? 3 : 2)], step);
    if (task == NULL) task = take_ahead(w, step);
    if (task == NULL) task = take_from(w, RAD_FROM_LOCAL, step);
    if (task == NULL) task = take_from(w, RAD_FROM_LATER, step);
    if (task == NULL) task = take_from(w, RAD_FROM_INBOX, step);
    return task;
}

RAD_NO_CANARY bool rad__worker_take_own(rad_worker *w, bool oldest_too)
{
    rad_step step;
    rad_task *task;
    do task = take_own(w, oldest_too, &step); /* again when a thief was quicker, for there may be more */
    while (task == NULL && (w->ahead || !rad__deque_is_empty(&w->later)));
    if (task == NULL) return false;
    w->current = task;
    count_source(w, step.source);
    go_to(w, RAD_PHASE_RUN);
    return true;
}

/* ---- Going over ------------------------------------------------------------------------------------ */

void rad__worker_put_back(rad_worker *w, rad_task *task)
{
    if (!rad__deque_push(&w->local, task)) rad__inbox_push(&w->inbox, task);
}

/* Tasks of high rank that never end would shut out the others. Those who yielded have every other turn: a fiber that
 * yields in a loop waits for something, and may wait for it in each of the other queues. */
rad_task *rad__worker_take_turn(rad_worker *w, _Atomic uint64_t **source)
{
    switch (w->picks / RAD_TURN_EVERY % 4) {
    case 0: return rad__worker_take_woken(w);
    case 2: return rad__deque_count(&w->local) > 0 ? rad__deque_pop(&w->local) : NULL;
    default: break;
    }
    rad_task *task = take_oldest(&w->later);
    if (task != NULL) *source = &w->stats.from_later;
    return task;
}

uint32_t rad__worker_left_other(rad_worker *w, rad_task *task, enum rad_run answer)
{
    if (answer == RAD_RUN_AGAIN) return rad__worker_wake(w, task);
    RAD_DCHECK(answer == RAD_RUN_DONE);
    task_ended(w);
    return RAD_NONE;
}

bool rad__worker_is_alone(rad_worker *w)
{
    if (RAD_LIKELY(rad__deque_count(&w->later) > 0 || rad__deque_count(&w->local) > 0)) return false;
    if (w->ahead && rad__worker_is_ahead(w)) return false;
    if (rad__choose_fair(w->picks + 1) || rad__sched_is_done(w->sched)) return false;
    bool alone = rad__inbox_is_empty(&w->inbox) && rad__injector_is_empty(&w->sched->injector);
    w->picks += alone;
    return alone;
}
