/* exec.c — `raddle exec`: the executor's own verbs, and what they share. */
#include "exec.h"

#include "command/report.h"

#include <stdio.h>
#include <string.h>

static const verb *const PARTS[] = {&VERB_EXEC_GEN, &VERB_EXEC_RUN, &VERB_EXEC_EXPLORE, &VERB_EXEC_STRESS};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

static int exec_run(cli *c, int argc, char **argv)
{
    return run_part(c, &VERB_EXEC, argc, argv);
}

/* ---- Shared: cases --------------------------------------------------------------------------------- */

static void take_bound(uint64_t given, uint32_t *bound)
{
    if (given != NOT_GIVEN) *bound = (uint32_t)given;
}

bool bounds_given(const bound_args *a)
{
    return a->hang || a->small || a->stress || a->workers != NOT_GIVEN || a->programs != NOT_GIVEN ||
           a->tasks != NOT_GIVEN || a->length != NOT_GIVEN || a->family != NOT_GIVEN || a->resources != NOT_GIVEN ||
           a->events != NOT_GIVEN;
}

int read_bounds(cli *c, const bound_args *a, rad_exec_bounds *b)
{
    if (a->small && a->stress) return bad_usage(c, "--small and --stress: give one");
    *b = a->stress ? rad_exec_bounds_stress() : rad_exec_bounds_small();
    take_bound(a->workers, &b->workers);
    take_bound(a->programs, &b->programs);
    take_bound(a->tasks, &b->tasks);
    take_bound(a->length, &b->length);
    take_bound(a->family, &b->family);
    take_bound(a->resources, &b->resources);
    take_bound(a->events, &b->events);
    b->hang = a->hang;
    return 0;
}

int generate(cli *c, uint64_t seed, const rad_exec_bounds *b, rad_target *t)
{
    rad_error error = {.code = 0};
    if (rad_exec_generate(seed, b, t, &error) == 0) return 0;
    if (error.code == RAD_EINPUT) return bad_usage(c, "--%s", error.text);
    return complain_error(c, &error);
}

int read_exec_case(cli *c, char **word, uint32_t count, rad_target *t)
{
    if (count > 1) return bad_usage(c, "unexpected argument '%.200s': give one case", word[1]);
    if (!target_is_file(word[0]) && strcmp(word[0], "exec") != 0)
        return bad_usage(c, "'%.200s': not a case file; usage: CASE.json", word[0]);
    int status = read_target(c, word, count, false, 0, t);
    if (status == 0 && strcmp(t->machine->name, "exec") != 0) {
        complain(c, "%.400s: machine: expected \"exec\", found \"%s\"; 'raddle %s' takes any", word[0],
                 t->machine->name, strchr(c->verb, ' ') + 1);
        rad_target_free(t);
        status = EXIT_USAGE;
    }
    return status;
}

void shape_text(const rad_target *t, char *text, size_t size)
{
    rad_exec_shape s;
    rad_error error = {.code = 0};
    rad_exec_shape_of(t, &s, &error);
    snprintf(text, size,
             "%u worker%s, %u task%s, %u program%s (%u instruction%s in all), %u resource%s, %u "
             "event%s; expects: %s",
             s.workers, plural(s.workers), s.tasks, plural(s.tasks), s.programs, plural(s.programs), s.instructions,
             plural(s.instructions), s.resources, plural(s.resources), s.events, plural(s.events),
             s.expect ? s.expect : "nothing");
}

void put_shape(writer *j, const rad_target *t)
{
    rad_exec_shape s;
    rad_error error = {.code = 0};
    rad_exec_shape_of(t, &s, &error);
    put_count(j, "workers", s.workers);
    put_count(j, "tasks", s.tasks);
    put_count(j, "programs", s.programs);
    put_count(j, "instructions", s.instructions);
    put_count(j, "resources", s.resources);
    put_count(j, "events", s.events);
    put_text(j, "expect", s.expect);
}

/* ---- Shared: oracles ------------------------------------------------------------------------------- */

void report_evaluations(cli *c, const uint64_t evaluations[RAD_ORACLES_MAX])
{
    const rad_machine *m = rad_machine_find("exec");
    char text[2048] = "";
    size_t used = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) {
        const char *name = rad_oracle_name(m, i);
        if (name && evaluations[i] && used < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "", name,
                                     number(evaluations[i]));
        }
        sum += evaluations[i];
    }
    report_label(c, "oracles");
    out(c, "%s evaluations\n", number(sum));
    out_paragraph(c, 13, text);
}

void put_evaluations(writer *j, const uint64_t evaluations[RAD_ORACLES_MAX])
{
    const rad_machine *m = rad_machine_find("exec");
    put_object(j, "oracles");
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) {
        const char *name = rad_oracle_name(m, i);
        if (name) put_count(j, name, evaluations[i]);
    }
    put_close(j, '}');
}

static const char *const EXEC_EXAMPLES[] = {
    "raddle exec explore --cases 10",
    "every schedule of 10 of the 520 listed cases",
    "raddle exec stress --seeds 20",
    "20 larger cases, each under four policies",
    "raddle exec gen --seed 7 --output mine.json && raddle exec run mine.json",
    "a test case to look at, edit and run",
    NULL,
};

const verb VERB_EXEC = {
    .name = "exec",
    .about = "test Raddle's own executor: gen, run, explore, stress",
    .text = "Test the work-stealing executor, step by step, under tasks that are small programs.\n\n"
            "A test case holds the programs, the tasks, events from outside, and the configuration "
            "(docs/dev/executor-cases.md). Its schedule files are those of the machine exec: replay, "
            "shrink, show and corpus take them.",
    .status = "0 no failure, 1 failure, " STATUS_ERRORS ", 130 interrupted",
    .examples = EXEC_EXAMPLES,
    .parts = PARTS,
    .part_count = PART_COUNT,
    .run = exec_run,
};
