#include "lab/machines/executor/case.h"

#include "base/alloc.h"
#include "exec/choose.h"

#include <string.h>

rad_exec_case *rad__exec_case_new(void)
{
    rad_exec_case *c = rad__alloc(1, sizeof *c);
    if (c == NULL) return NULL;
    c->programs = rad__alloc(RAD_CASE_PROGRAMS_MAX, sizeof *c->programs);
    if (c->programs == NULL) {
        rad__free(c);
        return NULL;
    }
    c->workers = 1;
    c->steal_tries = 4;
    c->hoard = RAD_HOARD_DEFAULT;
    c->ring = 16;
    return c;
}

rad_exec_case *rad__exec_case_copy(const rad_exec_case *c)
{
    rad_exec_case *copy = rad__exec_case_new();
    if (copy == NULL) return NULL;
    rad_program *programs = copy->programs;
    *copy = *c;
    copy->programs = programs;
    memcpy(programs, c->programs, c->program_count * sizeof *programs);
    return copy;
}

void rad__exec_case_free(rad_exec_case *c)
{
    if (c == NULL) return;
    rad__free(c->programs);
    rad__free(c);
}

uint32_t rad__exec_case_program(rad_exec_case *c, const char *name)
{
    if (c->program_count == RAD_CASE_PROGRAMS_MAX) return RAD_NONE;
    rad_program *p = &c->programs[c->program_count];
    memset(p, 0, sizeof *p);
    size_t length = strlen(name);
    if (length >= sizeof p->name) length = sizeof p->name - 1;
    memcpy(p->name, name, length);
    return c->program_count++;
}

const char *rad__event_name(uint32_t kind)
{
    static const char *const names[] = {"io", "fail-io", "start", "close"};
    return kind <= RAD_EVENT_CLOSE ? names[kind] : "?";
}

const char *rad__expect_name(uint32_t expect)
{
    static const char *const names[] = {"ends", "completed", "refused", "deadlock"};
    return expect <= RAD_EXPECT_DEADLOCK ? names[expect] : "?";
}

static uint32_t program_find(const void *context, const char *name, size_t length)
{
    const rad_exec_case *c = context;
    for (uint32_t i = 0; i < c->program_count; i++)
        if (strlen(c->programs[i].name) == length && memcmp(c->programs[i].name, name, length) == 0) return i;
    return RAD_NONE;
}

static const char *program_name(const void *context, uint32_t program)
{
    const rad_exec_case *c = context;
    return program < c->program_count ? c->programs[program].name : "?";
}

rad_code_names rad__exec_case_names(const rad_exec_case *c)
{
    return (rad_code_names){program_find, program_name, c};
}

/* Instructions from simple to involved: replacing one by a simpler one counts as progress. */
static uint64_t instruction_size(const rad_exec_instruction *in)
{
    static const uint8_t rank[RAD_OP_COUNT] = {
        [RAD_OP_COMPLETE] = 1, [RAD_OP_YIELD] = 2,   [RAD_OP_PANIC] = 3, [RAD_OP_JUMP] = 4,   [RAD_OP_SLEEP] = 5,
        [RAD_OP_WAIT_IO] = 5,  [RAD_OP_RELEASE] = 6, [RAD_OP_SPAWN] = 7, [RAD_OP_ACQUIRE] = 8};
    return 100000000 + rank[in->op] * UINT64_C(4000000) + in->place * UINT64_C(1000) + in->amount;
}

uint64_t rad__exec_case_size(const rad_exec_case *c)
{
    const uint64_t part = 1000000000;
    uint64_t size =
        (c->workers + c->program_count + c->task_count + c->runnable_count + c->resource_count + c->event_count) * part;
    size += c->steal_tries + c->eager_time + c->plain_wake + c->stop_on_failure;
    for (uint32_t i = 0; i < c->program_count; i++)
        for (uint32_t n = 0; n < c->programs[i].length; n++) size += instruction_size(&c->programs[i].code[n]);
    for (uint32_t i = 0; i < c->event_count; i++) size += c->events[i].at;
    for (uint32_t i = 0; i < c->resource_count; i++) size += c->totals[i];
    return size;
}
