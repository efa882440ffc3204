#include "lab/machines/executor/reduce.h"

#include <string.h>

/* Counts candidates down to the one that is wanted. */
typedef struct wanted {
    rad_exec_case *c;
    uint32_t left;
} wanted;

static bool take(wanted *w)
{
    return w->left-- == 0;
}

/* Calls cut(c, argument, from, to) on the pieces that delta debugging tries: all, halves, quarters, … singles. */
typedef void (*cutter)(rad_exec_case *c, uint32_t argument, uint32_t from, uint32_t to);

static bool cut_pieces(wanted *w, uint32_t count, uint32_t argument, cutter cut)
{
    for (uint32_t size = count; size > 0; size /= 2)
        for (uint32_t from = 0; from < count; from += size)
            if (take(w)) {
                cut(w->c, argument, from, from + size < count ? from + size : count);
                return true;
            }
    return false;
}

/* ---- Taking things out ------------------------------------------------------------------------------ */

static void cut_events(rad_exec_case *c, uint32_t unused, uint32_t from, uint32_t to)
{
    (void)unused;
    memmove(&c->events[from], &c->events[to], (c->event_count - to) * sizeof c->events[0]);
    c->event_count -= to - from;
}

static uint16_t renumbered(uint16_t number, uint32_t removed)
{
    return number > removed ? (uint16_t)(number - 1) : number;
}

static void cut_task(rad_exec_case *c, uint32_t task)
{
    uint32_t kept = 0;
    memmove(&c->tasks[task], &c->tasks[task + 1], (c->task_count - task - 1) * sizeof c->tasks[0]);
    c->task_count--;
    for (uint32_t i = 0; i < c->runnable_count; i++)
        if (c->runnable[i] != task) c->runnable[kept++] = renumbered(c->runnable[i], task);
    c->runnable_count = kept;
    for (uint32_t i = c->event_count; i-- > 0;) {
        rad_case_event *e = &c->events[i];
        if (e->kind != RAD_EVENT_START) continue;
        if (e->what == task)
            cut_events(c, 0, i, i + 1);
        else
            e->what = renumbered(e->what, task);
    }
}

static void cut_tasks(rad_exec_case *c, uint32_t unused, uint32_t from, uint32_t to)
{
    (void)unused;
    while (to > from) cut_task(c, --to);
}

static uint16_t moved(uint16_t place, uint32_t from, uint32_t to)
{
    if (place == UINT16_MAX || place <= from) return place; /* "no place", or before the cut */
    return (uint16_t)(place >= to ? place - (to - from) : from);
}

static void cut_code(rad_exec_case *c, uint32_t program, uint32_t from, uint32_t to)
{
    rad_program *p = &c->programs[program];
    memmove(&p->code[from], &p->code[to], (p->length - to) * sizeof p->code[0]);
    p->length -= to - from;
    for (uint32_t i = 0; i < p->length; i++) {
        p->code[i].ok = moved(p->code[i].ok, from, to);
        p->code[i].fail = moved(p->code[i].fail, from, to);
    }
    for (uint32_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].program == program) c->tasks[i].at = moved(c->tasks[i].at, from, to);
}

/* With the tasks that run it and the instructions that spawn it. */
static void cut_program(rad_exec_case *c, uint32_t program)
{
    for (uint32_t i = c->task_count; i-- > 0;)
        if (c->tasks[i].program == program) cut_task(c, i);
    for (uint32_t p = 0; p < c->program_count; p++)
        for (uint32_t i = c->programs[p].length; i-- > 0;) {
            const rad_exec_instruction *in = &c->programs[p].code[i];
            if (in->op == RAD_OP_SPAWN && in->what == program) cut_code(c, p, i, i + 1);
        }
    memmove(&c->programs[program], &c->programs[program + 1], (c->program_count - program - 1) * sizeof c->programs[0]);
    c->program_count--;
    for (uint32_t i = 0; i < c->task_count; i++) c->tasks[i].program = renumbered(c->tasks[i].program, program);
    for (uint32_t p = 0; p < c->program_count; p++)
        for (uint32_t i = 0; i < c->programs[p].length; i++)
            if (c->programs[p].code[i].op == RAD_OP_SPAWN)
                c->programs[p].code[i].what = renumbered(c->programs[p].code[i].what, program);
}

static bool uses_resource(const rad_exec_instruction *in)
{
    return in->op == RAD_OP_ACQUIRE || in->op == RAD_OP_RELEASE;
}

static void cut_resource(rad_exec_case *c, uint32_t resource)
{
    memmove(&c->totals[resource], &c->totals[resource + 1], (c->resource_count - resource - 1) * sizeof c->totals[0]);
    c->resource_count--;
    for (uint32_t p = 0; p < c->program_count; p++)
        for (uint32_t i = 0; i < c->programs[p].length; i++) {
            rad_exec_instruction *in = &c->programs[p].code[i];
            if (uses_resource(in)) in->what = renumbered(in->what, resource);
        }
}

/* ---- What is of no use ------------------------------------------------------------------------------- */

static bool task_starts(const rad_exec_case *c, uint32_t task)
{
    for (uint32_t i = 0; i < c->runnable_count; i++)
        if (c->runnable[i] == task) return true;
    for (uint32_t i = 0; i < c->event_count; i++)
        if (c->events[i].kind == RAD_EVENT_START && c->events[i].what == task) return true;
    return false;
}

static bool program_is_used(const rad_exec_case *c, uint32_t program)
{
    for (uint32_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].program == program) return true;
    for (uint32_t p = 0; p < c->program_count; p++)
        for (uint32_t i = 0; p != program && i < c->programs[p].length; i++) {
            const rad_exec_instruction *in = &c->programs[p].code[i];
            if (in->op == RAD_OP_SPAWN && in->what == program) return true;
        }
    return false;
}

static bool resource_is_used(const rad_exec_case *c, uint32_t resource)
{
    for (uint32_t p = 0; p < c->program_count; p++)
        for (uint32_t i = 0; i < c->programs[p].length; i++)
            if (uses_resource(&c->programs[p].code[i]) && c->programs[p].code[i].what == resource) return true;
    return false;
}

static bool has_unused(const rad_exec_case *c)
{
    for (uint32_t i = 0; i < c->task_count; i++)
        if (!task_starts(c, i)) return true;
    for (uint32_t i = 0; i < c->program_count; i++)
        if (!program_is_used(c, i)) return true;
    for (uint32_t i = 0; i < c->resource_count; i++)
        if (!resource_is_used(c, i)) return true;
    return false;
}

/* All of it at once: from the back, so that what only an unused program spawns goes, too. */
static void cut_unused(rad_exec_case *c)
{
    for (uint32_t i = c->task_count; i-- > 0;)
        if (!task_starts(c, i)) cut_task(c, i);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = c->program_count; i-- > 0;)
            if (!program_is_used(c, i)) {
                cut_program(c, i);
                again = true;
            }
    }
    for (uint32_t i = c->resource_count; i-- > 0;)
        if (!resource_is_used(c, i)) cut_resource(c, i);
}

/* ---- Stages ------------------------------------------------------------------------------------------ */

static bool reduce_workers(wanted *w)
{
    for (uint32_t workers = 1; workers < w->c->workers; workers++)
        if (take(w)) {
            w->c->workers = workers;
            return true;
        }
    return false;
}

static bool reduce_times(wanted *w)
{
    for (uint32_t i = 0; i < w->c->event_count; i++) {
        uint32_t *at = &w->c->events[i].at;
        uint32_t now = *at;
        if (now > 0 && take(w)) return *at = 0, true;
        if (now > 1 && take(w)) return *at = now / 2, true;
    }
    return false;
}

static bool reduce_tasks(wanted *w)
{
    rad_exec_case *c = w->c;
    if (cut_pieces(w, c->task_count, 0, cut_tasks)) return true;
    for (uint32_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].at > 0 && take(w)) return c->tasks[i].at = 0, true;
    return false;
}

/* One instruction made simpler: a yield, a local spawn, less of something. */
static bool reduce_instruction(wanted *w, rad_exec_instruction *in)
{
    bool simple = in->op == RAD_OP_COMPLETE || in->op == RAD_OP_YIELD;
    if (!simple && take(w)) return *in = (rad_exec_instruction){.op = RAD_OP_COMPLETE}, true;
    if (!simple && take(w)) return *in = (rad_exec_instruction){.op = RAD_OP_YIELD}, true;
    if (in->place != RAD_PLACE_LOCAL && take(w)) {
        in->place = RAD_PLACE_LOCAL;
        in->amount = 0;
        return true;
    }
    if (in->amount > 0 && take(w)) return in->amount = 0, true;
    if (in->amount > 1 && take(w)) return in->amount /= 2, true;
    if (in->amount > 1 && take(w)) return in->amount -= 1, true;
    return false;
}

static bool reduce_programs(wanted *w)
{
    rad_exec_case *c = w->c;
    for (uint32_t p = 0; p < c->program_count; p++)
        if (take(w)) return cut_program(c, p), true;
    for (uint32_t p = 0; p < c->program_count; p++)
        if (cut_pieces(w, c->programs[p].length, p, cut_code)) return true;
    for (uint32_t p = 0; p < c->program_count; p++)
        for (uint32_t i = 0; i < c->programs[p].length; i++)
            if (reduce_instruction(w, &c->programs[p].code[i])) return true;
    return false;
}

static bool reduce_resources(wanted *w)
{
    rad_exec_case *c = w->c;
    for (uint32_t i = 0; i < c->resource_count; i++) {
        if (c->totals[i] > 0 && take(w)) return c->totals[i] /= 2, true;
        if (c->totals[i] > 1 && take(w)) return c->totals[i] -= 1, true;
    }
    return false;
}

static bool reduce_options(wanted *w)
{
    rad_exec_case *c = w->c;
    if (c->eager_time && take(w)) return c->eager_time = false, true;
    if (c->plain_wake && take(w)) return c->plain_wake = false, true;
    if (c->stop_on_failure && take(w)) return c->stop_on_failure = false, true;
    if (c->steal_tries > 1 && take(w)) return c->steal_tries = 1, true;
    return false;
}

bool rad__exec_reduce(rad_exec_case *c, uint32_t n)
{
    wanted w = {c, n};
    if (reduce_workers(&w)) return true;
    if (cut_pieces(&w, c->event_count, 0, cut_events) || reduce_times(&w)) return true;
    if (has_unused(c) && take(&w)) return cut_unused(c), true;
    return reduce_tasks(&w) || reduce_programs(&w) || reduce_resources(&w) || reduce_options(&w);
}
