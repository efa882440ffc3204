/* targets.c — the public door to cases of the executor: from a seed, and from the list. */
#include "base/alloc.h"
#include "lab/case.h"
#include "lab/machines/executor/executor.h"
#include "lab/machines/executor/generate.h"
#include "lab/machines/executor/listed.h"
#include "lab/rig.h"

#include <string.h>

static int bound_check(const char *name, uint32_t value, uint32_t min, uint32_t max, rad_error *error)
{
    if (value >= min && value <= max) return 0;
    return rad__error(error, RAD_EINPUT, "%s: %u is out of range, %u ... %u", name, (unsigned)value, (unsigned)min,
                      (unsigned)max);
}

static int bounds_check(const rad_exec_bounds *b, rad_error *error)
{
    int code = bound_check("workers", b->workers, 1, RAD_CASE_WORKERS_MAX, error);
    if (code == 0) code = bound_check("at least workers", b->workers_min, 0, b->workers, error);
    if (code == 0) code = bound_check("programs", b->programs, 1, RAD_CASE_PROGRAMS_MAX - 1, error);
    if (code == 0) code = bound_check("tasks", b->tasks, 1, RAD_CASE_TASKS_MAX - 1, error);
    if (code == 0) code = bound_check("length", b->length, 1, RAD_CODE_MAX, error);
    if (code == 0) code = bound_check("family", b->family, 1, 10000, error);
    if (code == 0) code = bound_check("resources", b->resources, 0, RAD_CASE_RESOURCES_MAX, error);
    if (code == 0) code = bound_check("events", b->events, 0, RAD_CASE_EVENTS_MAX / 2, error);
    return code;
}

/* Takes the case. */
static int target_of(rad_exec_case *c, rad_target *t, rad_error *error)
{
    char *text = c ? rad__exec_case_text(c) : NULL;
    rad__exec_case_free(c);
    if (text == NULL) return rad__error_memory(error);
    rad_target borrowed = {.machine = &rad__machine_exec, .c = {.body = text}};
    int code = rad__target_copy(t, &borrowed, error);
    rad__free(text);
    return code;
}

int rad_exec_generate(uint64_t seed, const rad_exec_bounds *b, rad_target *t, rad_error *error)
{
    int code = bounds_check(b, error);
    return code ? code : target_of(rad__exec_generate(seed, b), t, error);
}

int rad_exec_listed(uint32_t i, char name[32], rad_target *t, rad_error *error)
{
    if (i >= RAD_EXEC_LISTED)
        return rad__error(error, RAD_EINPUT, "case %u: the list has %d", (unsigned)i, RAD_EXEC_LISTED);
    return target_of(rad__exec_listed(i, name), t, error);
}

int rad_exec_shape_of(const rad_target *t, rad_exec_shape *out, rad_error *error)
{
    *out = (rad_exec_shape){0};
    if (t->machine != &rad__machine_exec)
        return rad__error(error, RAD_EINPUT, "expected a case of machine exec, found one of %s", t->machine->name);
    const char *body = t->c.body ? t->c.body : t->machine->body;
    rad_exec_case *c = rad__exec_case_parse(body, strlen(body), NULL, error);
    if (c == NULL) return error->code;
    *out = (rad_exec_shape){.workers = c->workers,
                            .programs = c->program_count,
                            .tasks = c->task_count,
                            .resources = c->resource_count,
                            .events = c->event_count,
                            .expect = rad__expect_name(c->expect)};
    for (uint32_t i = 0; i < c->program_count; i++) out->instructions += c->programs[i].length;
    rad__exec_case_free(c);
    return 0;
}

const char *rad_exec_outcome(const rad_story *s)
{
    const rad_rig *rig = rad__story_rig(s);
    if (rig->target.machine != &rad__machine_exec) return NULL;
    bool ended = s->verdict.result == RAD_RESULT_PASS || strcmp(s->verdict.kind, "outcome") == 0;
    return ended ? rad__expect_name(rad__world_outcome(rig->self)) : s->verdict.kind;
}

bool rad_exec_met(const rad_exploration *e, const char *outcome)
{
    for (uint32_t i = 0; i < RAD_SITES_MAX && i < e->site_count; i++) {
        const char *name = rad__machine_exec.site_name(NULL, i);
        if (e->site_reached[i] && name && strcmp(name, outcome) == 0) return true;
    }
    return false;
}
