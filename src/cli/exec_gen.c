/* exec_gen.c — `raddle exec gen`: a case from a seed. */
#include "command/report.h"
#include "exec.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

typedef struct gen_args {
    uint64_t seed, listed;
    char name[32]; /* of a listed one */
    bound_args bounds;
    const char *output;
    bool json;
} gen_args;

static const option GEN_OPTIONS[] = {
    OPTION_SEED(gen_args),
    OPTIONS_OF_BOUNDS(gen_args),
    {"listed", OPTION_COUNT, offsetof(gen_args, listed), "I", "take case I of the list of 'exec explore' instead", 0,
     RAD_EXEC_LISTED - 1, 0},
    {"output", OPTION_TEXT, offsetof(gen_args, output), "FILE", "file to write (default: stdout)", 0, 0, 0},
    OPTION_JSON(gen_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void report_json(cli *c, const gen_args *a, const rad_target *t)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "exec gen");
    if (a->seed != NOT_GIVEN)
        put_count(&j, "seed", a->seed);
    else
        put_text(&j, "listed", a->name);
    put_shape(&j, t);
    put_text(&j, "output", a->output);
    put_target(&j, t);
    put_end(&j);
}

static int tell(cli *c, const gen_args *a, const rad_target *t)
{
    rad_error error = {.code = 0};
    char shape[256], origin[64], *text = rad_target_json(t, &error);
    if (text == NULL) return complain_error(c, &error);
    shape_text(t, shape, sizeof shape);
    if (a->seed != NOT_GIVEN)
        snprintf(origin, sizeof origin, "seed %llu", (unsigned long long)a->seed);
    else
        snprintf(origin, sizeof origin, "%s", a->name);
    int status = 0;
    if (a->output && rad__os_write_file(a->output, text, strlen(text), &error) != 0) status = complain_error(c, &error);
    if (status == 0 && a->json) {
        report_json(c, a, t);
    } else if (status == 0 && a->output) {
        out(c, "%s%s%s: %s, %s\n", style(c, STYLE_BOLD), a->output, style(c, STYLE_OFF), origin, shape);
    } else if (status == 0) { /* stdout is the case and nothing else */
        out_text(c, text);
        note("%s, %s\n", origin, shape);
    }
    rad_free(text);
    return status;
}

static int make_case(cli *c, gen_args *a, rad_target *t)
{
    rad_error error = {.code = 0};
    rad_exec_bounds bounds;
    if (a->listed == NOT_GIVEN) {
        a->seed = a->seed == NOT_GIVEN ? 1 : a->seed;
        int status = read_bounds(c, &a->bounds, &bounds);
        return status ? status : generate(c, a->seed, &bounds, t);
    }
    if (a->seed != NOT_GIVEN || bounds_given(&a->bounds)) return bad_usage(c, "--listed takes no seed and no bounds");
    return rad_exec_listed((uint32_t)a->listed, a->name, t, &error) ? complain_error(c, &error) : 0;
}

static int gen_run(cli *c, int argc, char **argv)
{
    gen_args a = {.seed = NOT_GIVEN, .listed = NOT_GIVEN, .bounds = BOUNDS_NOT_GIVEN};
    rad_target t;
    words w;
    int status = options_parse(c, &VERB_EXEC_GEN, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if (w.count > 0) return bad_usage(c, "unexpected argument '%.80s'", w.at[0]);
    if ((status = make_case(c, &a, &t)) != 0) return status;
    status = tell(c, &a, &t);
    rad_target_free(&t);
    return status;
}

static const char *const GEN_EXAMPLES[] = {
    "raddle exec gen",
    "the case of seed 1, on stdout",
    "raddle exec gen --seed 7 --workers 2 --tasks 2 --output mine.json",
    "a smaller one, in a file",
    "raddle exec gen --listed 2",
    "one of the listed cases of exec explore",
    "raddle exec gen --hang --seed 3 --output hang.json && raddle exec run hang.json",
    "a case that expects its deadlock",
    NULL,
};

const verb VERB_EXEC_GEN = {
    .name = "exec gen",
    .about = "generate a test case from a seed",
    .usage = "[options]",
    .text = "Print or write a generated test case.\n\n"
            "Generated programs end under every schedule: they spawn only later programs, jump "
            "only forward, return what they take, and wait only for events that come. With --hang "
            "one waits for an event that never comes, and the case expects a deadlock. The same "
            "options give the same case.",
    .status = "0 done, " STATUS_ERRORS,
    .options = GEN_OPTIONS,
    .examples = GEN_EXAMPLES,
    .run = gen_run,
};
