/* state.c — the whole state of a trial, for searches that recognise a state they have been in.
 *
 * The order of production's queues is taken from the ledger, which has been compared with them. Counts that only
 * matter relative to each other (picks and deadlines) are made relative; positions in rings and deques, which only
 * say how much has gone through, and statistics are left out. */
#include "lab/machines/executor/world.h"

/* Words on their way to the hash, which likes large portions. */
typedef struct state_words {
    rad_state_hash *hash;
    uint32_t count;
    uint64_t words[128];
} state_words;

static void flush(state_words *s)
{
    if (s->count) rad_state_add(s->hash, s->words, s->count * sizeof s->words[0]);
    s->count = 0;
}

static void add(state_words *s, uint64_t value)
{
    if (s->count == sizeof s->words / sizeof s->words[0]) flush(s);
    s->words[s->count++] = value;
}

static void add_line(const rad_exec_world *w, state_words *h, const rad_line_of_tasks *l, uint64_t picks)
{
    add(h, l->count);
    for (uint32_t id = l->oldest; id != RAD_NONE; id = rad__world_task(w, id)->newer) {
        const rad_vm_task *t = rad__world_task(w, id);
        add(h, (uint64_t)id << 32 | (uint32_t)(t->deadline - picks));
    }
}

static void add_worker(const rad_exec_world *w, state_words *h, uint32_t i)
{
    const rad_worker *p = &w->workers[i];
    const rad_ledger_worker *lw = &w->ledger.workers[i];
    add(h, (uint64_t)p->phase | (uint64_t)p->searching << 8 | (uint64_t)p->only_mine << 9 |
               (uint64_t)rad__idle_has_wake_word(&w->sched.idle, i) << 10 | (uint64_t)p->credit << 16 |
               (uint64_t)p->hoard << 32);
    add(h, (uint64_t)p->tries << 32 | lw->current);
    add(h, p->hint);
    add(h, p->picks % (RAD_FAIR_EVERY * RAD_FAIR_TURNS));
    for (uint32_t n = 0; n < 3; n++) add_line(w, h, &lw->lines[n], lw->picks);
}

/* How many sleep as long as this one and are woken before it. */
static uint64_t sleepers_before(const rad_exec_world *w, const rad_vm_task *t)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < w->task_count; i++) {
        const rad_vm_task *other = rad__world_task(w, i);
        before += other->state == RAD_TASK_SLEEPING && other->until == t->until && other->slept < t->slept;
    }
    return before;
}

static void add_task(const rad_exec_world *w, state_words *h, const rad_vm_task *t)
{
    add(h, (uint64_t)t->program << 48 | (uint64_t)t->pc << 32 | (uint64_t)t->state << 16 | t->where);
    if (t->state == RAD_TASK_SLEEPING) add(h, (t->until - w->now) << 16 | sleepers_before(w, t));
    for (uint32_t i = 0; i < w->c->resource_count; i++) add(h, t->held[i]);
}

static void add_outside(const rad_exec_world *w, state_words *h)
{
    for (uint32_t i = 0; i < RAD_CASE_TOKENS_MAX; i++)
        if (w->tokens[i] != RAD_TOKEN_OPEN) add(h, (uint64_t)i << 8 | w->tokens[i]);
    for (uint32_t i = 0; i < w->c->event_count; i++)
        if (w->delivered[i]) add(h, (uint64_t)i << 16);
    for (uint32_t i = 0; i < w->c->resource_count; i++) add(h, w->available[i]);
    add(h, w->now);
    add(h, (uint64_t)w->closer << 32 | w->calls);
}

void rad__ledger_state(const rad_exec_world *w, rad_state_hash *hash)
{
    const rad_ledger *g = &w->ledger;
    state_words h;
    h.hash = hash;
    h.count = 0;
    for (uint32_t i = 0; i < w->c->workers; i++) add_worker(w, &h, i);
    add_line(w, &h, &g->injector, g->picks);
    for (uint32_t i = 0; i < RAD_CASE_TOKENS_MAX; i++)
        if (g->tokens[i].count > 0) add_line(w, &h, &g->tokens[i], 0);
    for (uint32_t i = 0; i < w->task_count; i++) add_task(w, &h, rad__world_task(w, i));
    add(&h, atomic_load_explicit(&w->sched.gate.word, memory_order_relaxed));
    add(&h, rad__idle_searching(&w->sched.idle));
    add(&h, g->parked);
    add(&h, (uint64_t)atomic_load_explicit(&w->sched.idle.next, memory_order_relaxed) << 32 | g->done);
    add(&h, (uint64_t)g->failure);
    add_outside(w, &h);
    flush(&h);
}
