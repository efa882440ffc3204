/* describe.c — the state of a trial in words: what somebody needs who cannot run it again. */
#include "lab/machines/executor/executor.h"

#include <stdio.h>

static void describe_gate(const rad_exec_world *w, rad_bytes *to)
{
    const rad_ledger *g = &w->ledger;
    rad__bytes_format(to,
                      "time %llu; gate %s, counts %llu: %u alive, %llu credit of workers; done %s; "
                      "first failure ",
                      (unsigned long long)w->now, rad__gate_is_open(&w->sched.gate) ? "open" : "shut",
                      (unsigned long long)rad__gate_count(&w->sched.gate), g->alive, (unsigned long long)g->credit,
                      rad__sched_is_done(&w->sched) ? "yes" : "no");
    int64_t failure = atomic_load_explicit(&w->sched.failure, memory_order_relaxed);
    if (failure)
        rad__bytes_format(to, "task %lld\n", (long long)failure - 1);
    else
        rad__bytes_format(to, "none\n");
    rad__bytes_format(to, "tasks: %u, %u runnable, %u running, %u ended, %u refused; injector %u\n", w->task_count,
                      g->runnable, g->current, g->ended, g->refused, g->injector.count);
    rad__bytes_format(to, "idle: %u search, %u parked, next to wake %u\n", rad__idle_searching(&w->sched.idle),
                      rad__idle_parked(&w->sched.idle),
                      atomic_load_explicit(&w->sched.idle.next, memory_order_relaxed));
}

static void describe_worker(const rad_exec_world *w, uint32_t i, rad_bytes *to)
{
    const rad_worker *p = &w->workers[i];
    const rad_ledger_worker *lw = &w->ledger.workers[i];
    rad__bytes_format(to, "worker %u: %s%s, deque %u, later %u, inbox %u, credit %u, hoard %u", i,
                      rad__phase_name(p->phase), rad__idle_has_wake_word(&w->sched.idle, i) ? " with a wake word" : "",
                      lw->lines[RAD_LINE_LOCAL].count, lw->lines[RAD_LINE_LATER].count, lw->lines[RAD_LINE_INBOX].count,
                      p->credit, p->hoard);
    if (lw->current != RAD_NONE) rad__bytes_format(to, ", runs task %u", lw->current);
    rad__bytes_format(to, "\n");
}

static void put_task_state(const rad_vm_task *t, char *text, size_t size)
{
    static const char *const lines[] = {"deque", "later queue", "inbox"};
    switch (t->state) {
    case RAD_TASK_QUEUED:
        if (t->line_kind == RAD_LINE_INJECTOR)
            snprintf(text, size, "in the injector");
        else
            snprintf(text, size, "in the %s of worker %u", lines[t->line_kind], t->where);
        break;
    case RAD_TASK_CURRENT: snprintf(text, size, "current on worker %u", t->where); break;
    case RAD_TASK_SLEEPING: snprintf(text, size, "sleeps until %llu", (unsigned long long)t->until); break;
    case RAD_TASK_WAITING: snprintf(text, size, "waits for token %u", t->where); break;
    default: snprintf(text, size, "%s", t->state == RAD_TASK_REFUSED ? "refused" : "not started"); break;
    }
}

/* Those that have not ended, with what they would do next. */
static void describe_tasks(const rad_exec_world *w, rad_bytes *to)
{
    enum { SHOWN_MAX = 40 };
    uint32_t shown = 0;
    rad_code_names names = rad__exec_case_names(w->c);
    for (uint32_t i = 0; i < w->task_count; i++) {
        const rad_vm_task *t = rad__world_task(w, i);
        const rad_program *p = &w->c->programs[t->program];
        char state[64], next[96] = "complete";
        if (t->state == RAD_TASK_ENDED || shown++ >= SHOWN_MAX) continue;
        put_task_state(t, state, sizeof state);
        if (t->pc < p->length) rad__code_print(&p->code[t->pc], &names, next, sizeof next);
        rad__bytes_format(to, "task %u (%s): %s, next %u: %s", i, p->name, state, t->pc, next);
        for (uint32_t r = 0; r < w->c->resource_count; r++)
            if (t->held[r]) rad__bytes_format(to, ", holds %u of resource %u", t->held[r], r);
        rad__bytes_format(to, "\n");
    }
    if (shown > SHOWN_MAX) rad__bytes_format(to, "and %u more tasks\n", shown - SHOWN_MAX);
}

static void describe_outside(const rad_exec_world *w, rad_bytes *to)
{
    for (uint32_t i = 0; i < w->c->resource_count; i++)
        rad__bytes_format(to, "resource %u: %u of %u to give\n", i, w->available[i], w->c->totals[i]);
    for (uint32_t i = 0; i < w->c->event_count; i++) {
        const rad_case_event *e = &w->c->events[i];
        if (w->delivered[i]) continue;
        rad__bytes_format(to, "pending at %u: %s", e->at, rad__event_name(e->kind));
        if (e->kind != RAD_EVENT_CLOSE) rad__bytes_format(to, " %u", e->what);
        rad__bytes_format(to, "\n");
    }
}

static void describe_programs(const rad_exec_world *w, rad_bytes *to)
{
    rad_code_names names = rad__exec_case_names(w->c);
    for (uint32_t i = 0; i < w->c->program_count; i++) {
        const rad_program *p = &w->c->programs[i];
        rad__bytes_format(to, "program %s:", p->name);
        for (uint32_t n = 0; n < p->length; n++) {
            char text[96];
            rad__code_print(&p->code[n], &names, text, sizeof text);
            rad__bytes_format(to, "%s %u %s", n ? ";" : "", n, text);
        }
        rad__bytes_format(to, "%s\n", p->length ? "" : " nothing");
    }
}

void rad__world_describe(const rad_exec_world *w, rad_bytes *to)
{
    describe_gate(w, to);
    for (uint32_t i = 0; i < w->c->workers; i++) describe_worker(w, i, to);
    describe_tasks(w, to);
    describe_outside(w, to);
    describe_programs(w, to);
}
