#include "lab/machines/executor/generate.h"

#include "base/prng.h"

#include <stdio.h>

typedef struct generator {
    rad_prng random;
    const rad_exec_bounds *bounds;
    rad_exec_case *c;
    uint32_t cost[RAD_CASE_PROGRAMS_MAX]; /* tasks that one task of it comes to, itself included */
    bool token_used[RAD_CASE_TOKENS_MAX];
    bool panics; /* some program may: then spawns may be refused */
} generator;

rad_exec_bounds rad_exec_bounds_small(void)
{
    return (rad_exec_bounds){
        .workers = 3, .programs = 3, .tasks = 4, .length = 8, .family = 3, .resources = 1, .events = 2};
}

rad_exec_bounds rad_exec_bounds_stress(void)
{
    return (rad_exec_bounds){
        .workers = 8, .programs = 8, .tasks = 16, .length = 32, .family = 40, .resources = 4, .events = 16};
}

static uint32_t below(generator *g, uint32_t bound)
{
    return (uint32_t)rad__prng_below(&g->random, bound);
}

static bool chance(generator *g, uint32_t percent)
{
    return below(g, 100) < percent;
}

/* Mostly small, sometimes up to `max`. */
static uint32_t smallish(generator *g, uint32_t max)
{
    uint32_t limit = chance(g, 80) && max > 4 ? 4 : max;
    return below(g, limit + 1);
}

/* ---- Instructions ----------------------------------------------------------------------------------- */

/* The caller has made sure that there is room. */
static rad_exec_instruction *append(rad_program *p, enum rad_op op)
{
    p->code[p->length] = (rad_exec_instruction){.op = (uint8_t)op};
    return &p->code[p->length++];
}

static void add_spawn(generator *g, uint32_t self)
{
    rad_exec_case *c = g->c;
    uint32_t later = c->program_count - self - 1;
    if (later == 0) return;
    uint32_t child = self + 1 + below(g, later);
    if (g->cost[self] + g->cost[child] > g->bounds->family) return;
    g->cost[self] += g->cost[child];
    rad_exec_instruction *in = append(&c->programs[self], RAD_OP_SPAWN);
    in->what = (uint16_t)child;
    in->place = (uint8_t)(chance(g, 50) ? RAD_PLACE_LOCAL : 1 + below(g, 3));
    if (in->place == RAD_PLACE_TO) in->amount = below(g, c->workers);
}

static void add_wait(generator *g, rad_program *p)
{
    if (g->bounds->events == 0) return;
    uint32_t tokens = g->bounds->events < 8 ? g->bounds->events : 8;
    rad_exec_instruction *in = append(p, RAD_OP_WAIT_IO);
    in->what = (uint16_t)below(g, tokens);
    in->fail = UINT16_MAX;
    g->token_used[in->what] = true;
}

static void add_something(generator *g, uint32_t self, uint32_t room);

/* try-acquire … release, with something in between; failing goes behind it. */
static void add_block(generator *g, uint32_t self, uint32_t room)
{
    rad_exec_case *c = g->c;
    rad_program *p = &c->programs[self];
    if (c->resource_count == 0 || room < 3) return;
    uint32_t resource = below(g, c->resource_count), begin = p->length;
    uint32_t units = 1 + below(g, c->totals[resource] + 1);
    append(p, RAD_OP_ACQUIRE);
    uint32_t inside = 1 + below(g, room - 2);
    while (p->length - begin - 1 < inside) {
        uint32_t before = p->length;
        add_something(g, self, inside - (p->length - begin - 1));
        if (p->length == before) break;
    }
    rad_exec_instruction *release = append(p, RAD_OP_RELEASE);
    release->what = (uint16_t)resource;
    release->amount = units;
    p->code[begin] = (rad_exec_instruction){.op = RAD_OP_ACQUIRE,
                                            .what = (uint16_t)resource,
                                            .amount = units,
                                            .ok = (uint16_t)(begin + 1),
                                            .fail = (uint16_t)p->length};
}

static void add_something(generator *g, uint32_t self, uint32_t room)
{
    rad_program *p = &g->c->programs[self];
    uint32_t dice = below(g, 100);
    if (dice < 30) {
        append(p, RAD_OP_YIELD)->place = (uint8_t)below(g, 3);
    } else if (dice < 60) {
        add_spawn(g, self);
    } else if (dice < 70) {
        append(p, RAD_OP_SLEEP)->amount = smallish(g, 20);
    } else if (dice < 80) {
        add_wait(g, p);
    } else if (dice < 95) {
        add_block(g, self, room);
    } else if (dice < 97 && room > 1) { /* over the next one */
        append(p, RAD_OP_JUMP)->ok = (uint16_t)(p->length + 1);
        append(p, RAD_OP_YIELD);
    }
}

/* A jump may not lead out of a block past its release, so it only skips the yield behind it. */
static void fill_program(generator *g, uint32_t self)
{
    rad_program *p = &g->c->programs[self];
    uint32_t length = 1 + below(g, g->bounds->length);
    g->cost[self] = 1;
    for (uint32_t tries = 0; p->length < length && tries < 4 * length; tries++)
        add_something(g, self, length - p->length);
    if (p->length < g->bounds->length && chance(g, 50))
        append(p, g->panics && chance(g, 10) ? RAD_OP_PANIC : RAD_OP_COMPLETE);
}

/* ---- The whole -------------------------------------------------------------------------------------- */

static void make_executor(generator *g)
{
    rad_exec_case *c = g->c;
    uint32_t least = g->bounds->workers_min ? g->bounds->workers_min : 1;
    c->workers = least + below(g, g->bounds->workers - least + 1);
    c->steal_tries = 1 + below(g, 2);
    c->hoard = chance(g, 50) ? 1 + below(g, 3) : RAD_CODE_MAX;
    c->ring = chance(g, 50) ? 2 : 16;
    c->plain_wake = chance(g, 20);
    c->stop_on_failure = chance(g, 30);
    c->eager_time = chance(g, 20);
    g->panics = !g->bounds->hang && chance(g, 20);
}

static void make_programs(generator *g)
{
    rad_exec_case *c = g->c;
    uint32_t programs = 1 + below(g, g->bounds->programs);
    for (uint32_t i = 0; i < programs; i++) {
        char name[RAD_PROGRAM_NAME_MAX];
        snprintf(name, sizeof name, "p%u", (unsigned)i);
        rad__exec_case_program(c, name);
    }
    for (uint32_t i = programs; i-- > 0;) fill_program(g, i);
}

static void make_tasks(generator *g)
{
    rad_exec_case *c = g->c;
    uint32_t tasks = 1 + below(g, g->bounds->tasks);
    for (uint32_t i = 0; i < tasks; i++) {
        c->tasks[c->task_count++] = (rad_case_task){(uint16_t)below(g, c->program_count), 0};
        bool late = i > 0 && c->event_count < g->bounds->events && chance(g, 15);
        if (late)
            c->events[c->event_count++] = (rad_case_event){smallish(g, 20), RAD_EVENT_START, (uint16_t)i};
        else
            c->runnable[c->runnable_count++] = (uint16_t)i;
    }
}

static void make_events(generator *g)
{
    rad_exec_case *c = g->c;
    for (uint32_t token = 0; token < RAD_CASE_TOKENS_MAX; token++)
        if (g->token_used[token])
            c->events[c->event_count++] =
                (rad_case_event){smallish(g, 20), chance(g, 80) ? RAD_EVENT_IO : RAD_EVENT_FAIL_IO, (uint16_t)token};
    if (!g->bounds->hang && chance(g, 60))
        c->events[c->event_count++] = (rad_case_event){smallish(g, 20), RAD_EVENT_CLOSE, 0};
}

static void make_hang(generator *g)
{
    rad_exec_case *c = g->c;
    uint32_t program = rad__exec_case_program(c, "hangs");
    if (program == RAD_NONE) return;
    rad_exec_instruction *in = append(&c->programs[program], RAD_OP_WAIT_IO);
    in->what = RAD_CASE_TOKENS_MAX - 1;
    in->fail = UINT16_MAX;
    c->tasks[c->task_count] = (rad_case_task){(uint16_t)program, 0};
    c->runnable[c->runnable_count++] = (uint16_t)c->task_count++;
    c->expect = RAD_EXPECT_DEADLOCK;
}

rad_exec_case *rad__exec_generate(uint64_t seed, const rad_exec_bounds *bounds)
{
    generator g = {.random = rad__prng(seed, RAD_STREAM_CASE, bounds->hang), .bounds = bounds};
    g.c = rad__exec_case_new();
    if (g.c == NULL) return NULL;
    make_executor(&g);
    for (uint32_t i = below(&g, bounds->resources + 1); i > 0; i--)
        g.c->totals[g.c->resource_count++] = 1 + below(&g, 3);
    make_programs(&g);
    make_tasks(&g);
    make_events(&g);
    if (bounds->hang) make_hang(&g);
    return g.c;
}
