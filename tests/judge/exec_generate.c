#include "exec_generate.h"

#include "base/prng.h"

#include <string.h>

typedef struct maker {
    rad_prng prng;
    const exec_bounds *bounds;
    exec_case *c;
} maker;

static uint8_t below(maker *m, uint32_t bound)
{
    return (uint8_t)rad__prng_below(&m->prng, bound);
}

static bool one_in(maker *m, uint32_t n)
{
    return below(m, n) == 0;
}

/* A place behind `at`; with loops sometimes any. */
static uint8_t target(maker *m, uint8_t at, uint8_t length)
{
    if (m->bounds->loops && one_in(m, 3)) return below(m, length + 1U);
    return (uint8_t)(at + 1 + below(m, length - at));
}

static uint8_t draw_op(maker *m, bool may_spawn)
{
    static const uint8_t likely[] = {
        CASE_YIELD_LOCAL,    CASE_YIELD_LOCAL, CASE_YIELD_GLOBAL, CASE_YIELD_EXTERNAL, CASE_SPAWN_LOCAL,
        CASE_SPAWN_LOCAL,    CASE_SPAWN_LOCAL, CASE_SPAWN_GLOBAL, CASE_SPAWN_GLOBAL,   CASE_SPAWN_TO,
        CASE_SPAWN_EXTERNAL, CASE_SLEEP,       CASE_SLEEP,        CASE_WAIT_IO,        CASE_WAIT_IO,
        CASE_TRY_ACQUIRE,    CASE_TRY_ACQUIRE, CASE_TRY_ACQUIRE,  CASE_TRY_ACQUIRE,    CASE_RELEASE,
        CASE_JUMP,           CASE_COMPLETE,    CASE_PANIC,
    };
    for (;;) {
        uint8_t op = likely[below(m, sizeof likely)];
        bool spawns = op >= CASE_SPAWN_LOCAL && op <= CASE_SPAWN_TO;
        bool permits = op == CASE_TRY_ACQUIRE || op == CASE_RELEASE;
        if (spawns && !may_spawn) continue;
        if (permits && m->c->resource_count == 0) continue;
        return op;
    }
}

static void make_instruction(maker *m, uint8_t program, uint8_t at, uint8_t length)
{
    exec_case *c = m->c;
    case_instruction *i = &c->programs[program].code[at];
    uint8_t later = (uint8_t)(c->program_count - program - 1);
    i->op = m->bounds->loops && one_in(m, 4) ? CASE_JUMP : draw_op(m, later > 0);
    switch ((enum case_op)i->op) {
    case CASE_SPAWN_LOCAL:
    case CASE_SPAWN_GLOBAL:
    case CASE_SPAWN_EXTERNAL:
    case CASE_SPAWN_TO:
        i->a = (uint8_t)(program + 1 + below(m, later));
        i->b = below(m, c->workers + 1U);
        break;
    case CASE_SLEEP: i->a = below(m, 3); break;
    case CASE_WAIT_IO:
        i->a = below(m, CASE_TOKENS);
        i->b = one_in(m, 2) ? target(m, at, length) : CASE_NO_PLACE;
        break;
    case CASE_TRY_ACQUIRE:
        i->ok = target(m, at, length);
        i->fail = target(m, at, length);
        if (one_in(m, 2)) i->ok = (uint8_t)(at + 1);
        i->a = below(m, c->resource_count);
        i->b = one_in(m, 8) ? 2 : 1;
        break;
    case CASE_RELEASE:
        i->a = below(m, c->resource_count);
        i->b = one_in(m, 8) ? 2 : 1;
        break;
    case CASE_JUMP: i->a = target(m, at, length); break;
    default: break;
    }
}

/* Half of the time a release follows what was acquired, one or two places on. */
static void make_release(maker *m, uint8_t program, uint8_t at, uint8_t length)
{
    case_instruction *code = m->c->programs[program].code;
    for (uint8_t back = 1; back <= 2 && back <= at; back++) {
        const case_instruction *taken = &code[at - back];
        if (taken->op != CASE_TRY_ACQUIRE || taken->ok > at || one_in(m, 3)) continue;
        code[at] = (case_instruction){.op = CASE_RELEASE, .a = taken->a, .b = taken->b};
        if (taken->fail <= at) code[at - back].fail = (uint8_t)(at + 1);
        return;
    }
    make_instruction(m, program, at, length);
}

static void make_tasks(maker *m)
{
    exec_case *c = m->c;
    bool started[CASE_LISTED] = {false};
    c->task_count = (uint8_t)(1 + below(m, m->bounds->tasks));
    for (uint8_t i = 0; i < c->task_count; i++) {
        c->tasks[i].program = below(m, c->program_count);
        if (one_in(m, 8)) c->tasks[i].at = below(m, c->programs[c->tasks[i].program].length + 1U);
    }
    for (uint8_t i = 0; i < c->task_count; i++) {
        if (one_in(m, 3)) continue;
        c->runnable[c->runnable_count++] = i;
        started[i] = true;
    }
    if (c->runnable_count > 1 && one_in(m, 3)) {
        uint8_t first = c->runnable[0];
        c->runnable[0] = c->runnable[c->runnable_count - 1];
        c->runnable[c->runnable_count - 1] = first;
    }
    uint8_t room = m->bounds->events;
    for (uint8_t i = 0; i < c->task_count && room > 0; i++, room--)
        if (!started[i]) c->events[c->event_count++] = (case_event){below(m, 3), CASE_START, i};
}

static void make_events(maker *m)
{
    exec_case *c = m->c;
    for (uint8_t token = 0; token < CASE_TOKENS && c->event_count < m->bounds->events; token++) {
        if (one_in(m, 3)) continue;
        uint8_t kind = one_in(m, 3) ? CASE_FAIL_IO : CASE_IO;
        c->events[c->event_count++] = (case_event){below(m, 3), kind, token};
    }
    if (c->event_count < m->bounds->events && one_in(m, 2))
        c->events[c->event_count++] = (case_event){below(m, 3), CASE_CLOSE, 0};
    if (c->event_count < m->bounds->events && one_in(m, 2)) { /* once more for a token */
        uint8_t kind = one_in(m, 2) ? CASE_FAIL_IO : CASE_IO;
        c->events[c->event_count++] = (case_event){below(m, 3), kind, below(m, CASE_TOKENS)};
    }
}

void exec_generate(uint64_t seed, const exec_bounds *b, exec_case *c)
{
    maker m = {rad__prng(seed, RAD_STREAM_TEST, 15), b, c};
    memset(c, 0, sizeof *c);
    c->workers = (uint8_t)(1 + below(&m, b->workers));
    c->steal_tries = (uint8_t)(1 + below(&m, 2));
    c->hoard = one_in(&m, 2) ? 1 : 32;
    c->ring = one_in(&m, 2) ? 2 : 16;
    c->round_robin = one_in(&m, 4);
    c->stop = one_in(&m, 5);
    c->eager = one_in(&m, 4);
    c->expect = one_in(&m, 4) ? (uint8_t)(1 + below(&m, CASE_EXPECTS - 1)) : CASE_EXPECT_ENDS;
    c->max_steps = b->loops ? 400 : 0;
    c->resource_count = below(&m, CASE_RESOURCES + 1);
    for (uint8_t i = 0; i < c->resource_count; i++) c->resources[i] = below(&m, 3);
    c->program_count = (uint8_t)(1 + below(&m, b->programs));
    for (uint8_t p = 0; p < c->program_count; p++) {
        uint8_t length = (uint8_t)(1 + below(&m, b->length));
        c->programs[p].length = length;
        for (uint8_t i = 0; i < length; i++) make_release(&m, p, i, length);
    }
    make_tasks(&m);
    make_events(&m);
}

void exec_cover(exec_coverage *v, const exec_case *c)
{
    v->cases++;
    v->workers[c->workers]++;
    v->expects[c->expect]++;
    v->eager += c->eager;
    v->stop += c->stop;
    v->round_robin += c->round_robin;
    for (uint8_t p = 0; p < c->program_count; p++)
        for (uint8_t i = 0; i < c->programs[p].length; i++) {
            v->ops[c->programs[p].code[i].op]++;
            v->waits_with_else +=
                c->programs[p].code[i].op == CASE_WAIT_IO && c->programs[p].code[i].b != CASE_NO_PLACE;
        }
    for (uint8_t i = 0; i < c->event_count; i++) v->events[c->events[i].kind]++;
    for (uint8_t i = 0; i < c->task_count; i++) v->begun_inside += c->tasks[i].at > 0;
}
