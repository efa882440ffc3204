#include "exec_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const expects[CASE_EXPECTS] = {"ends", "completed", "refused", "deadlock"};

const char *exec_case_expect_name(uint8_t expect)
{
    return expects[expect];
}

void exec_case_instruction_text(const exec_case *c, uint8_t program, uint8_t place, char *text, size_t size)
{
    if (place >= c->programs[program].length) {
        snprintf(text, size, "complete");
        return;
    }
    const case_instruction *i = &c->programs[program].code[place];
    switch ((enum case_op)i->op) {
    case CASE_YIELD_LOCAL: snprintf(text, size, "yield local"); break;
    case CASE_YIELD_GLOBAL: snprintf(text, size, "yield global"); break;
    case CASE_YIELD_EXTERNAL: snprintf(text, size, "yield external"); break;
    case CASE_SPAWN_LOCAL: snprintf(text, size, "spawn p%d local", i->a); break;
    case CASE_SPAWN_GLOBAL: snprintf(text, size, "spawn p%d global", i->a); break;
    case CASE_SPAWN_EXTERNAL: snprintf(text, size, "spawn p%d external", i->a); break;
    case CASE_SPAWN_TO: snprintf(text, size, "spawn p%d to %d", i->a, i->b); break;
    case CASE_SLEEP: snprintf(text, size, "sleep %d", i->a); break;
    case CASE_WAIT_IO:
        if (i->b == CASE_NO_PLACE)
            snprintf(text, size, "wait-io %d", i->a);
        else
            snprintf(text, size, "wait-io %d else %d", i->a, i->b);
        break;
    case CASE_TRY_ACQUIRE: snprintf(text, size, "try-acquire %d %d ok %d fail %d", i->a, i->b, i->ok, i->fail); break;
    case CASE_RELEASE: snprintf(text, size, "release %d %d", i->a, i->b); break;
    case CASE_JUMP: snprintf(text, size, "jump %d", i->a); break;
    case CASE_PANIC: snprintf(text, size, "panic"); break;
    case CASE_COMPLETE:
    case CASE_OPS: snprintf(text, size, "complete"); break;
    }
}

/* ---- As a file ----------------------------------------------------------------------------------- */

typedef struct sink {
    char *text;
    size_t used;
} sink;

static void put(sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(sink *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    s->used += (size_t)vsnprintf(s->text + s->used, CASE_TEXT - s->used, format, args);
    va_end(args);
    if (s->used >= CASE_TEXT) s->used = CASE_TEXT - 1;
}

static void put_programs(sink *s, const exec_case *c)
{
    put(s, " \"programs\": [");
    for (uint8_t p = 0; p < c->program_count; p++) {
        put(s, "%s\n  {\"name\": \"p%d\", \"code\": [", p ? "," : "", p);
        for (uint8_t i = 0; i < c->programs[p].length; i++) {
            char text[80];
            exec_case_instruction_text(c, p, i, text, sizeof text);
            put(s, "%s\"%s\"", i ? ", " : "", text);
        }
        put(s, "]}");
    }
    put(s, "],\n");
}

static void put_events(sink *s, const exec_case *c)
{
    static const char *const kinds[CASE_EVENT_KINDS] = {"io", "fail-io", "start", "close"};
    put(s, " \"events\": [");
    for (uint8_t i = 0; i < c->event_count; i++) {
        const case_event *e = &c->events[i];
        put(s, "%s\"%d %s", i ? ", " : "", e->time, kinds[e->kind]);
        if (e->kind != CASE_CLOSE) put(s, " %d", e->argument);
        put(s, "\"");
    }
    put(s, "],\n");
}

void exec_case_json(const exec_case *c, const char *machine, char text[CASE_TEXT])
{
    sink s = {text, 0};
    put(&s, "{\"machine\": \"%s\",\n", machine);
    put(&s, " \"executor\": {\"workers\": %d, \"steal_tries\": %d, ", c->workers, c->steal_tries);
    put(&s, "\"hoard\": %d, \"ring\": %d, \"wake\": \"%s\", \"on_failure\": \"%s\"},\n", c->hoard, c->ring,
        c->round_robin ? "round-robin" : "idle", c->stop ? "stop" : "drain");
    put(&s, " \"time\": \"%s\",\n \"resources\": [", c->eager ? "eager" : "lazy");
    for (uint8_t i = 0; i < c->resource_count; i++) put(&s, "%s%d", i ? ", " : "", c->resources[i]);
    put(&s, "],\n");
    put_programs(&s, c);
    put(&s, " \"tasks\": [");
    for (uint8_t i = 0; i < c->task_count; i++) {
        put(&s, "%s\"p%d", i ? ", " : "", c->tasks[i].program);
        if (c->tasks[i].at > 0) put(&s, " at %d", c->tasks[i].at);
        put(&s, "\"");
    }
    put(&s, "],\n \"runnable\": [");
    for (uint8_t i = 0; i < c->runnable_count; i++) put(&s, "%s%d", i ? ", " : "", c->runnable[i]);
    put(&s, "],\n");
    put_events(&s, c);
    if (c->max_steps > 0) put(&s, " \"max_steps\": %d,\n", c->max_steps);
    put(&s, " \"expect\": \"%s\"}\n", expects[c->expect]);
}

/* ---- Smaller ones ---------------------------------------------------------------------------------- */

static uint8_t place_without(uint8_t place, uint8_t gone)
{
    return place != CASE_NO_PLACE && place > gone ? (uint8_t)(place - 1) : place;
}

static void cut_instruction(exec_case *c, uint8_t program, uint8_t gone)
{
    case_program *p = &c->programs[program];
    p->length--;
    memmove(&p->code[gone], &p->code[gone + 1], (p->length - gone) * sizeof *p->code);
    for (uint8_t i = 0; i < p->length; i++) {
        case_instruction *x = &p->code[i];
        if (x->op == CASE_JUMP) x->a = place_without(x->a, gone);
        if (x->op == CASE_WAIT_IO) x->b = place_without(x->b, gone);
        x->ok = place_without(x->ok, gone);
        x->fail = place_without(x->fail, gone);
    }
    for (uint8_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].program == program) c->tasks[i].at = place_without(c->tasks[i].at, gone);
}

static void cut_event(exec_case *c, uint32_t n)
{
    c->event_count--;
    memmove(&c->events[n], &c->events[n + 1], (c->event_count - n) * sizeof *c->events);
}

/* The task stays in the list, so that numbers keep their meaning, but nobody starts it. */
static void cut_runnable(exec_case *c, uint32_t n)
{
    c->runnable_count--;
    memmove(&c->runnable[n], &c->runnable[n + 1], c->runnable_count - n);
}

bool exec_case_cut(const exec_case *c, uint32_t n, exec_case *smaller)
{
    *smaller = *c;
    if (n < c->event_count) return cut_event(smaller, n), true;
    n -= c->event_count;
    if (n < c->runnable_count) return cut_runnable(smaller, n), true;
    n -= c->runnable_count;
    for (uint8_t p = 0; p < c->program_count; p++) {
        if (n < c->programs[p].length) return cut_instruction(smaller, p, (uint8_t)n), true;
        n -= c->programs[p].length;
    }
    if (n == 0 && c->workers > 1) smaller->workers--;
    if (n == 1) smaller->eager = false;
    if (n == 2) smaller->stop = false;
    return n <= 2;
}
