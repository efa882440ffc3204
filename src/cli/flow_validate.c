/* flow_validate.c — `raddle flow validate`: every order and every outcome of a flow, and what can go wrong. */
#include "command/keep.h"
#include "command/progress.h"
#include "command/report.h"
#include "flow.h"

#include <raddle/flow_validate.h>

#include <stdio.h>
#include <string.h>

typedef struct validate_args {
    const char *flow, *output, *allow;
    uint64_t states, steps, seeds;
    bool json, strict;
} validate_args;

#define AT(field) offsetof(validate_args, field)

static const option VALIDATE_OPTIONS[] = {
    OPTION_FLOW(validate_args),
    {"states", OPTION_COUNT, AT(states), "N", "visit at most N states (default: 1,000,000)", 1, UINT32_MAX / 16, 0},
    {"steps", OPTION_COUNT, AT(steps), "N", "take at most N steps (default: 50,000,000)", 1, UINT64_C(1000000000000),
     0},
    {"seeds", OPTION_COUNT, AT(seeds), "K", "check confluence with K sets of random outcomes (default: 3)", 1, 1000000,
     0},
    {"allow", OPTION_TEXT, AT(allow), "LIST",
     "properties that may fail: deadlock, dead-task, dead-code, improper, livelock, end, "
     "confluence",
     0, 0, 0},
    {"strict", OPTION_FLAG, AT(strict), NULL, "count unknown as failing", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for schedule files (default: .)", 0, 0, 'o'},
    OPTION_JSON(validate_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

/* In file names, and for --allow. */
static const char *const SLUGS[RAD_FLOW_PROPERTIES] = {"deadlock", "dead-task", "dead-code", "improper",
                                                       "livelock", "end",       "confluence"};
static const char *const ANSWERS[] = {"holds", "fails", "unknown"};

typedef struct validating {
    cli *c;
    const validate_args *a;
    const char *path;
    rad_target target;
    rad_flow_validation *v;
    bool allowed[RAD_FLOW_PROPERTIES];
    rad_artifact *artifacts[RAD_FLOW_PROPERTIES][2]; /* the second: what it is compared with */
    kept files[RAD_FLOW_PROPERTIES][2];
} validating;

/* ---- Words ------------------------------------------------------------------- */

static int allow_one(validating *w, const char *word, size_t size)
{
    char name[80];
    rad_suggest n;
    snprintf(name, sizeof name, "%.*s", size < sizeof name ? (int)size : 79, word);
    rad__suggest_begin(&n, name, strlen(name));
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        rad__suggest_consider(&n, SLUGS[i]);
        if (strcmp(SLUGS[i], name) == 0) {
            w->allowed[i] = true;
            return 0;
        }
    }
    return bad_usage(w->c, "--allow: unknown property '%s'%s", name, rad__suggest_or_all(&n));
}

static int read_allowed(validating *w)
{
    const char *at = w->a->allow;
    while (at != NULL && *at != 0) {
        size_t size = strcspn(at, ",");
        int status = allow_one(w, at, size);
        if (status != 0) return status;
        at += size + (at[size] == ',');
    }
    return 0;
}

static bool is_bad(const validating *w, uint32_t property)
{
    enum rad_flow_holding answer = w->v->verdicts[property].answer;
    return !w->allowed[property] && (answer == RAD_FLOW_FAILS || (answer == RAD_FLOW_UNKNOWN && w->a->strict));
}

/* ---- Artifacts ------------------------------------------------------------------- */

static bool file_path(const validating *w, uint32_t property, bool other, char *path, size_t size)
{
    const char *slash = strrchr(w->path, '/'), *name = slash ? slash + 1 : w->path;
    size_t stem = strlen(name) - (ends_with(name, ".flow") ? strlen(".flow") : 0);
    char file[400];
    snprintf(file, sizeof file, "%.*s.%s%s.raddle.json", stem < 200 ? (int)stem : 200, name, SLUGS[property],
             other ? "-first" : "");
    return join_path(path, size, w->a->output, file);
}

/* The option to complete often fails by a run that shows something else, too. */
static bool is_shown(const validating *w, uint32_t property)
{
    const rad_flow_verdict *f = &w->v->verdicts[property];
    for (uint32_t i = 0; i < property && f->choices != NULL; i++) {
        const rad_flow_verdict *g = &w->v->verdicts[i];
        bool same = g->choices != NULL && g->choice_count == f->choice_count && g->steps == f->steps;
        if (same && memcmp(g->choices, f->choices, f->choice_count * sizeof *f->choices) == 0 &&
            g->outcomes == f->outcomes && (i == RAD_FLOW_NO_DEADLOCK || i == RAD_FLOW_NO_LIVELOCK))
            return true;
    }
    return false;
}

/* What fails, as files; a run that is there already is not written again. */
static int keep_runs(validating *w)
{
    rad_error error = {.code = 0};
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        for (int other = 0; other < 2; other++) {
            char path[KEEP_PATH_MAX];
            rad_artifact **a = &w->artifacts[i][other];
            if (i == RAD_FLOW_CAN_END && is_shown(w, i)) continue;
            if (rad_flow_counterexample(&w->target, w->v, i, other != 0, a, &error) != 0)
                return complain_error(w->c, &error);
            if (*a == NULL) continue;
            if (!file_path(w, i, other != 0, path, sizeof path)) return bad_usage(w->c, "--output: path too long");
            keep_artifact(w->c, *a, path, &w->files[i][other]);
        }
    }
    return 0;
}

/* ---- Text ------------------------------------------------------------------- */

enum { STEPS_TOLD = 40 };

/* The run, step by step: the last ones, when there are many. */
static int tell_steps(cli *c, const rad_artifact *a)
{
    rad_error error = {.code = 0};
    rad_story *s;
    if (rad_lab_story(a, &s, &error) != 0) return complain_error(c, &error);
    uint64_t from = s->line_count > STEPS_TOLD ? s->line_count - STEPS_TOLD : 0;
    if (from > 0) out(c, "      (%s steps before)\n", number(from));
    for (uint64_t i = from; i < s->line_count; i++) {
        const rad_line *line = &s->lines[i];
        out(c, "      %3s  %s %s\n", number(line->step), s->actors[line->actor], line->words);
    }
    rad_story_free(s);
    return 0;
}

static int tell_run(validating *w, uint32_t property)
{
    cli *c = w->c;
    const rad_flow_verdict *f = &w->v->verdicts[property];
    if (w->artifacts[property][0] == NULL) return 0;
    int status = tell_steps(c, w->artifacts[property][0]);
    if (property == RAD_FLOW_CONFLUENT) out(c, "      ends as: %s; under policy first: %s\n", f->text, f->other_text);
    keep_report(c, "  run", &w->files[property][0]);
    if (w->artifacts[property][1] != NULL) keep_report(c, "  other", &w->files[property][1]);
    return status;
}

static int tell_property(validating *w, uint32_t property)
{
    cli *c = w->c;
    const rad_flow_verdict *f = &w->v->verdicts[property];
    static const enum style STYLES[] = {STYLE_GOOD, STYLE_BAD, STYLE_MARK};
    enum style shade = f->answer == RAD_FLOW_FAILS && w->allowed[property] ? STYLE_MARK : STYLES[f->answer];
    out(c, "  %-18s  %s%s%s%s", rad_flow_property_name(property), style(c, shade), ANSWERS[f->answer],
        w->allowed[property] && f->answer == RAD_FLOW_FAILS ? ", as allowed" : "", style(c, STYLE_OFF));
    if (property == RAD_FLOW_CONFLUENT && f->answer == RAD_FLOW_FAILS) {
        out_text(c, ": with the same outcomes two orders end differently\n");
    } else if (f->answer != RAD_FLOW_HOLDS) {
        out_text(c, ": ");
        char text[500];
        snprintf(text, sizeof text, "%s%s", f->text,
                 property == RAD_FLOW_CAN_END && is_shown(w, property) ? " (the run above)" : "");
        out_wrapped(c, 29, 6, text);
    } else {
        out(c, "%s%s\n", *f->text ? " " : "", f->text);
    }
    return tell_run(w, property);
}

static int tell_all(validating *w)
{
    cli *c = w->c;
    const rad_flow_validation *v = w->v;
    out(c, "%s: %s state%s, %s\n", w->path, number(v->states), plural(v->states),
        v->exhausted ? "every order and every outcome" : "not all there are; --states and --steps try more");
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        int status = tell_property(w, i);
        if (status != 0) return status;
    }
    if (v->failure_count > 0) out_text(c, "an execution can fail, its tasks aside, of\n");
    for (uint32_t i = 0; i < v->failure_count; i++) {
        out_text(c, "  - ");
        out_wrapped(c, 4, 4, v->failures[i]);
    }
    if (v->assumption_count > 0) out_text(c, "assuming that\n");
    for (uint32_t i = 0; i < v->assumption_count; i++) {
        out_text(c, "  - ");
        out_wrapped(c, 4, 4, v->assumptions[i]);
    }
    return 0;
}

/* ---- JSON ------------------------------------------------------------------- */

static void put_property(writer *j, validating *w, uint32_t property)
{
    const rad_flow_verdict *f = &w->v->verdicts[property];
    put_object(j, NULL);
    put_text(j, "name", rad_flow_property_name(property));
    put_text(j, "answer", ANSWERS[f->answer]);
    put_bool(j, "allowed", w->allowed[property]);
    put_text(j, "text", *f->text ? f->text : NULL);
    if (w->artifacts[property][0] != NULL) {
        put_count(j, "steps", f->steps);
        keep_json(j, &w->files[property][0]);
    }
    if (w->artifacts[property][1] != NULL) {
        put_object(j, "other");
        put_text(j, "text", f->other_text);
        keep_json(j, &w->files[property][1]);
        put_close(j, '}');
    }
    put_close(j, '}');
}

static void put_all(validating *w, bool good)
{
    const rad_flow_validation *v = w->v;
    writer j;
    put_begin(&j, w->c);
    put_text(&j, "verb", "flow validate");
    put_text(&j, "file", w->path);
    put_count(&j, "states", v->states);
    put_count(&j, "steps", v->steps);
    put_bool(&j, "exhausted", v->exhausted);
    put_array(&j, "properties");
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) put_property(&j, w, i);
    put_close(&j, ']');
    put_array(&j, "dead");
    for (uint32_t i = 0; i < v->dead_count && v->exhausted; i++) {
        put_object(&j, NULL);
        put_text(&j, "text", v->dead[i].text);
        put_count(&j, "line", v->dead[i].line);
        put_close(&j, '}');
    }
    put_close(&j, ']');
    put_array(&j, "failures");
    for (uint32_t i = 0; i < v->failure_count; i++) put_text(&j, NULL, v->failures[i]);
    put_close(&j, ']');
    put_array(&j, "assumptions");
    for (uint32_t i = 0; i < v->assumption_count; i++) put_text(&j, NULL, v->assumptions[i]);
    put_close(&j, ']');
    put_bool(&j, "good", good);
    put_end(&j);
}

/* ---- The verb ------------------------------------------------------------------- */

static int validate(validating *w)
{
    rad_error error = {.code = 0};
    rad_flow_validate_options o = {.states = w->a->states,
                                   .steps = w->a->steps,
                                   .seeds = (uint32_t)w->a->seeds,
                                   .interrupted = w->c->stop,
                                   .progress = progress_states,
                                   .context = w->c};
    int code = rad_flow_validate(&w->target, &o, &w->v, &error);
    progress_clear(w->c);
    if (code != 0) return complain_error(w->c, &error);
    int status = keep_runs(w);
    if (status != 0) return status;
    bool good = true, known = true;
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        good = good && !is_bad(w, i);
        known = known && w->v->verdicts[i].answer != RAD_FLOW_UNKNOWN;
    }
    if (w->a->json)
        put_all(w, good);
    else if ((status = tell_all(w)) != 0)
        return status;
    if (*w->c->stop) return EXIT_INTERRUPTED;
    if (!known && good && !w->a->json) out_text(w->c, "what is unknown was not counted; --strict does\n");
    return good ? EXIT_FINE : EXIT_FOUND;
}

static void validating_free(validating *w)
{
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        for (int other = 0; other < 2; other++) {
            rad_artifact_free(w->artifacts[i][other]);
            keep_free(&w->files[i][other]);
        }
    }
    rad_flow_validation_free(w->v);
    rad_target_free(&w->target);
}

static int validate_run(cli *c, int argc, char **argv)
{
    validate_args a = {.flow = NULL};
    static validating w; /* paths are long */
    rad_error error = {.code = 0};
    words given;
    int status = options_parse(c, &VERB_FLOW_VALIDATE, argc, argv, &a, &given);
    if (status != GO_ON) return status;
    w = (validating){.c = c, .a = &a};
    if ((status = read_file_word(c, given.at, given.count, &w.path)) != 0 || (status = read_allowed(&w)) != 0 ||
        (status = check_output(c, a.output)) != 0)
        return status;
    if (rad_target_flow(&w.target, w.path, a.flow, &error) != 0) return complain_error(c, &error);
    status = validate(&w);
    validating_free(&w);
    return status;
}

static const char *const VALIDATE_EXAMPLES[] = {
    "raddle flow validate examples/flow/approval.flow",
    "can it get stuck?",
    "raddle flow validate examples/flow/mirrors.flow --allow confluence,improper",
    "the first mirror wins, and the others are left behind: intended",
    NULL,
};

const verb VERB_FLOW_VALIDATE = {
    .name = "flow validate",
    .about = "check every order and outcome: deadlock, dead tasks, livelock, ...",
    .usage = "FILE.flow [options]",
    .text = "Visit every state a flow can reach, whatever its tasks return and whichever events come, "
            "in every order that makes a difference. Each property holds, fails, or is unknown because "
            "the budget was used up.\n\n"
            "no deadlock         until the execution has ended, some token can take a step\n"
            "no dead task        every task starts in some run\n"
            "no dead code        every statement and branch is reached in some run\n"
            "proper completion   no task runs any more when the execution completes\n"
            "no livelock         it cannot loop forever without a way to an end\n"
            "option to complete  from every state some end can be reached: done, failed or cancelled\n"
            "confluence          with the same outcomes every order ends in the same state and data\n\n"
            "A property that fails is explained step by step and saved as FILE.PROPERTY.raddle.json, "
            "which replay, show and shrink take; if two orders end differently, both are saved. The "
            "output ends with what the verdicts assume where the flow declares nothing.",
    .status = "0 nothing fails except what --allow names, 1 a property fails, or with --strict is "
              "unknown, " STATUS_ERRORS ", 130 interrupted",
    .options = VALIDATE_OPTIONS,
    .examples = VALIDATE_EXAMPLES,
    .run = validate_run,
};
