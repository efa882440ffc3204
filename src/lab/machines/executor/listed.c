#include "lab/machines/executor/listed.h"

#include "lab/machines/executor/generate.h"

#include <stdio.h>

static rad_exec_instruction *append(rad_exec_case *c, uint32_t program, enum rad_op op)
{
    rad_program *p = &c->programs[program];
    p->code[p->length] = (rad_exec_instruction){.op = (uint8_t)op};
    return &p->code[p->length++];
}

static void append_spawn(rad_exec_case *c, uint32_t program, uint32_t child, enum rad_place place)
{
    rad_exec_instruction *in = append(c, program, RAD_OP_SPAWN);
    in->what = (uint16_t)child;
    in->place = (uint8_t)place;
}

static void start(rad_exec_case *c, uint32_t program)
{
    c->tasks[c->task_count] = (rad_case_task){(uint16_t)program, 0};
    c->runnable[c->runnable_count++] = (uint16_t)c->task_count++;
}

/* ---- By hand ----------------------------------------------------------------------------------------- */

/* One task waits in one of the queues while its worker has 250 newer ones to run: the fairness tick has to come by.
 * One worker, so there is one schedule. */
static void make_fair(rad_exec_case *c, enum rad_place place, bool yields)
{
    uint32_t waits = rad__exec_case_program(c, "waits"), busy = rad__exec_case_program(c, "busy"),
             root = rad__exec_case_program(c, "root");
    if (yields) {
        append(c, waits, RAD_OP_YIELD);
        start(c, waits);
    } else {
        append_spawn(c, root, waits, place);
    }
    for (uint32_t i = 0; i < 252; i++) append_spawn(c, root, busy, RAD_PLACE_LOCAL);
    start(c, root);
}

static void make_fair_injector(rad_exec_case *c)
{
    make_fair(c, RAD_PLACE_GLOBAL, false);
}

static void make_fair_inbox(rad_exec_case *c)
{
    make_fair(c, RAD_PLACE_TO, false);
}

static void make_fair_oldest(rad_exec_case *c)
{
    make_fair(c, RAD_PLACE_LOCAL, false);
}

static void make_fair_later(rad_exec_case *c)
{
    make_fair(c, RAD_PLACE_LOCAL, true);
}

/* More global spawns than the ring holds, one by one: the overflow list keeps their order. */
static void make_overflow(rad_exec_case *c)
{
    uint32_t leaf = rad__exec_case_program(c, "leaf"), root = rad__exec_case_program(c, "root");
    for (uint32_t i = 0; i < 6; i++) append_spawn(c, root, leaf, RAD_PLACE_GLOBAL);
    c->ring = 2;
    start(c, root);
}

/* The same with yields: what is in the ring goes round while the list is filled. */
static void make_overflow_yields(rad_exec_case *c)
{
    uint32_t leaf = rad__exec_case_program(c, "leaf");
    append(c, leaf, RAD_OP_YIELD)->place = RAD_PLACE_GLOBAL;
    append(c, leaf, RAD_OP_YIELD)->place = RAD_PLACE_GLOBAL;
    for (uint32_t i = 0; i < 4; i++) start(c, leaf);
    c->ring = 2;
}

/* Enough local spawns that ended for credit to be given back in between. */
static void make_credit(rad_exec_case *c)
{
    uint32_t leaf = rad__exec_case_program(c, "leaf"), root = rad__exec_case_program(c, "root");
    for (uint32_t i = 0; i < 200; i++) append_spawn(c, root, leaf, RAD_PLACE_LOCAL);
    start(c, root);
}

/* Hoards of 2 on two workers: every second local spawn is a notice. */
static void make_hoard(rad_exec_case *c)
{
    uint32_t leaf = rad__exec_case_program(c, "leaf"), root = rad__exec_case_program(c, "root");
    for (uint32_t i = 0; i < 4; i++) append_spawn(c, root, leaf, RAD_PLACE_LOCAL);
    c->workers = 2;
    c->hoard = 2;
    c->steal_tries = 1;
    start(c, root);
}

/* Three workers asleep, tasks from outside at different times, and the end. */
static void make_turns(rad_exec_case *c)
{
    uint32_t leaf = rad__exec_case_program(c, "leaf");
    for (uint32_t i = 0; i < 3; i++) {
        c->tasks[c->task_count++] = (rad_case_task){(uint16_t)leaf, 0};
        c->events[c->event_count++] = (rad_case_event){1 + i, RAD_EVENT_START, (uint16_t)i};
    }
    c->events[c->event_count++] = (rad_case_event){5, RAD_EVENT_CLOSE, 0};
    c->workers = 3;
    c->steal_tries = 1;
}

/* Two tasks fail, and another one goes on. */
static void make_failures(rad_exec_case *c)
{
    uint32_t bad = rad__exec_case_program(c, "bad"), good = rad__exec_case_program(c, "good");
    append(c, bad, RAD_OP_PANIC);
    append(c, good, RAD_OP_YIELD);
    append_spawn(c, good, bad, RAD_PLACE_EXTERNAL);
    append(c, good, RAD_OP_SLEEP)->amount = 1;
    start(c, bad);
    start(c, bad);
    start(c, good);
    c->workers = 2;
    c->steal_tries = 1;
}

static void make_failures_stop(rad_exec_case *c)
{
    make_failures(c);
    c->stop_on_failure = true;
}

/* Work that only the sleeping worker may do. */
static void make_inbox(rad_exec_case *c)
{
    uint32_t leaf = rad__exec_case_program(c, "leaf"), root = rad__exec_case_program(c, "root");
    append_spawn(c, root, leaf, RAD_PLACE_TO);
    append(c, root, RAD_OP_SPAWN)->place = RAD_PLACE_TO;
    c->programs[root].code[1].what = (uint16_t)leaf;
    c->programs[root].code[1].amount = 1;
    c->workers = 2;
    c->steal_tries = 1;
    start(c, root);
    c->events[c->event_count++] = (rad_case_event){0, RAD_EVENT_CLOSE, 0};
}

static const struct {
    const char *name;
    void (*make)(rad_exec_case *c);
} by_hand[] = {
    {"hoard", make_hoard},
    {"inbox", make_inbox},
    {"turns", make_turns},
    {"failures", make_failures},
    {"failures-stop", make_failures_stop},
    {"overflow", make_overflow},
    {"overflow-yields", make_overflow_yields},
    {"credit", make_credit},
    {"fair-injector", make_fair_injector},
    {"fair-inbox", make_fair_inbox},
    {"fair-oldest", make_fair_oldest},
    {"fair-later", make_fair_later},
};

enum { BY_HAND = sizeof by_hand / sizeof *by_hand };

/* Most are small enough for every schedule to be tried; every eighth has all that the bounds allow, but for a third
 * worker: whom to steal from is then a choice, which no bound limits. */
static rad_exec_bounds generated_bounds(uint32_t i)
{
    rad_exec_bounds b = rad_exec_bounds_small();
    if (i % 8 == 7) {
        b.workers = 2;
        return b;
    }
    b.workers = b.workers_min = 1 + i % 3;
    b.tasks = b.workers == 1 ? 4 : 2;
    b.length = b.workers == 1 ? 8 : b.workers == 2 ? 5 : 2;
    b.programs = b.workers == 1 ? 3 : 2;
    b.events = b.workers == 1 ? 2 : 1;
    b.family = b.workers == 1 ? 3 : 2;
    return b;
}

rad_exec_case *rad__exec_listed(uint32_t i, char name[32])
{
    if (i >= BY_HAND) {
        rad_exec_bounds bounds = generated_bounds(i - BY_HAND);
        snprintf(name, 32, "generated-%u", (unsigned)(i - BY_HAND));
        rad_exec_case *made = rad__exec_generate(i - BY_HAND, &bounds);
        if (made != NULL) made->steal_tries = 1;
        return made;
    }
    rad_exec_case *c = rad__exec_case_new();
    snprintf(name, 32, "%s", by_hand[i].name);
    if (c != NULL) by_hand[i].make(c);
    return c;
}
