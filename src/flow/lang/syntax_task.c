/* syntax_task.c — data, and tasks with their properties. */
#include "base/alloc.h"
#include "base/suggest.h"
#include "flow/lang/syntax_parts.h"

#include <stdio.h>
#include <string.h>

enum { LIST_MAX = RAD_FLOW_VARIABLES_MAX, DOMAIN_MAX = 64, RETRIES_MAX = 1000000, BACKOFF_MAX = 1000 };

/* ---- Data ------------------------------------------------------------------------------- */

static const char *const MERGE_NAMES[RAD_MERGES + 1] = {"",   "sum",    "max",   "min",  "and",
                                                        "or", "append", "first", "last", NULL};

static const char *const TYPE_NAMES[RAD_FLOW_TYPES + 1] = {"int", "bool", "text", NULL};

const char *rad__flow_type_name(enum rad_flow_type type)
{
    return (unsigned)type < RAD_FLOW_TYPES ? TYPE_NAMES[type] : "?";
}

/* Which of the words is next, from `first`; it is taken. The list ends with NULL. */
static uint32_t expect_one_of(rad_parser *p, const char *what, const char *const *words, uint32_t first)
{
    for (uint32_t i = first; words[i] != NULL; i++)
        if (rad__parse_accept(p, words[i])) return i;
    rad__flow_expected_word(p, what, words + first);
    return first;
}

static void check_type(rad_parser *p, const rad_flow_variable *v, rad_text_place at, rad_flow_constant c)
{
    if (c.type != v->type)
        rad__parse_fail(p, at, "expected a constant of type %s for '%s', found one of type %s", TYPE_NAMES[v->type],
                        rad__flow_symbol_text(p, v->name), TYPE_NAMES[c.type]);
}

static void parse_merge(rad_parser *p, rad_flow_variable *v)
{
    static const unsigned char types[RAD_MERGES] = {[RAD_MERGE_SUM] = 1 << RAD_FLOW_INT,
                                                    [RAD_MERGE_MAX] = 1 << RAD_FLOW_INT,
                                                    [RAD_MERGE_MIN] = 1 << RAD_FLOW_INT,
                                                    [RAD_MERGE_AND] = 1 << RAD_FLOW_BOOL,
                                                    [RAD_MERGE_OR] = 1 << RAD_FLOW_BOOL,
                                                    [RAD_MERGE_APPEND] = 1 << RAD_FLOW_TEXT,
                                                    [RAD_MERGE_FIRST] = 7,
                                                    [RAD_MERGE_LAST] = 7};
    rad_text_place at = p->now.place;
    uint32_t merge =
        expect_one_of(p, "a rule: sum, max, min (int), and, or (bool), append (text), first or last", MERGE_NAMES, 1);
    v->merge = (enum rad_flow_merge)merge;
    if ((types[merge] >> v->type & 1) == 0)
        rad__parse_fail(p, at, "there is no merge %s of type %s", MERGE_NAMES[merge], TYPE_NAMES[v->type]);
}

static void parse_domain(rad_parser *p, rad_flow_variable *v)
{
    rad_flow_constant some[DOMAIN_MAX];
    rad__parse_expect(p, "{", "'{' and constants");
    while (p->status == 0 && (v->domain_count == 0 || !rad__parse_is(p, "}"))) {
        rad_text_place at = p->now.place;
        rad_flow_constant c = rad__flow_parse_constant(p);
        check_type(p, v, at, c);
        for (uint32_t i = 0; i < v->domain_count; i++)
            if (some[i].value == c.value) rad__parse_fail(p, at, "the value is given twice");
        if (v->domain_count == DOMAIN_MAX) rad__parse_fail(p, at, "there are more than %d values", DOMAIN_MAX);
        if (p->status != 0) return;
        some[v->domain_count++] = c;
        rad__parse_accept(p, ",");
    }
    rad__parse_expect(p, "}", "a constant or '}'");
    v->domain = rad__parse_take(p, v->domain_count, sizeof *some);
    if (v->domain != NULL) memcpy(v->domain, some, v->domain_count * sizeof *some);
}

/* Whether the word is part of a declaration, and not as the name of the next. */
static bool accept_part(rad_parser *p, const char *word)
{
    rad_lexeme next = rad__parse_peek(p);
    return !rad__lexeme_is(&next, ":") && rad__parse_accept(p, word);
}

static void parse_variable(rad_parser *p, rad_flow_variable *v)
{
    v->place = p->now.place;
    v->name = rad__flow_expect_variable(p, "the name of a variable or '}'");
    rad__parse_expect(p, ":", "':' and a type (int, bool, text)");
    if (p->status != 0) return;
    v->type = (enum rad_flow_type)expect_one_of(p, "int, bool or text", TYPE_NAMES, 0);
    v->initial = v->type == RAD_FLOW_TEXT ? rad__parse_symbol(p, "", 0) : 0;
    for (bool has_initial = false; p->status == 0;) {
        rad_text_place at = p->now.place;
        bool initial = rad__parse_accept(p, "=");
        bool merge = !initial && accept_part(p, "merge"), domain = !initial && !merge && accept_part(p, "in");
        if (!initial && !merge && !domain) return;
        if ((initial && has_initial) || (merge && v->merge != RAD_MERGE_EQUAL) || (domain && v->domain_count > 0))
            rad__parse_fail(p, at, "'%s' is given twice", initial ? "=" : merge ? "merge" : "in");
        if (p->status != 0) return;
        at = p->now.place;
        if (initial) {
            rad_flow_constant c = rad__flow_parse_constant(p);
            check_type(p, v, at, c);
            v->initial = c.value;
            has_initial = true;
        } else if (merge) {
            parse_merge(p, v);
        } else {
            parse_domain(p, v);
        }
    }
}

void rad__flow_parse_data(rad_parser *p)
{
    rad_flow_tree *tree = rad__flow_parser(p)->tree;
    rad__parse_expect(p, "{", "'{'");
    while (p->status == 0 && !rad__parse_is(p, "}")) {
        rad_flow_variable v = {.merge = RAD_MERGE_EQUAL};
        parse_variable(p, &v);
        if (tree->variable_count == RAD_FLOW_VARIABLES_MAX)
            rad__parse_fail(p, v.place, "a flow has %d variables at most", RAD_FLOW_VARIABLES_MAX);
        if (p->status != 0) return;
        if (!RAD_GROW(&tree->variables, &tree->variable_capacity, tree->variable_count + 1))
            rad__parse_fail_memory(p);
        else
            tree->variables[tree->variable_count++] = v;
    }
    rad__parse_expect(p, "}", "the name of a variable or '}'");
}

/* ---- Properties ------------------------------------------------------------------------------- */

enum property {
    PROPERTY_RUN,
    PROPERTY_CALL,
    PROPERTY_TIMEOUT,
    PROPERTY_RETRY,
    PROPERTY_DIR,
    PROPERTY_READS,
    PROPERTY_WRITES,
    PROPERTY_CAPTURE,
    PROPERTY_EXIT,
    PROPERTY_OUTCOMES,
    PROPERTY_ON_DOUBT,
    PROPERTY_UNDO,
    PROPERTIES
};

static const char *const PROPERTY_NAMES[PROPERTIES + 1] = {"run",      "call",   "timeout", "retry", "dir",
                                                           "reads",    "writes", "capture", "exit",  "outcomes",
                                                           "on_doubt", "undo",   NULL};

static void parse_names(rad_parser *p, rad_flow_names *names)
{
    uint32_t some[LIST_MAX];
    rad_text_place places[LIST_MAX];
    names->given = true;
    do {
        if (names->count == LIST_MAX) rad__parse_fail(p, p->now.place, "the list is too long");
        if (p->status != 0) return;
        places[names->count] = p->now.place;
        some[names->count++] = rad__parse_expect_name(p, "the name of a variable");
    } while (rad__parse_accept(p, ","));
    names->items = rad__parse_take(p, names->count, sizeof *some);
    names->places = rad__parse_take(p, names->count, sizeof *places);
    if (names->items == NULL || names->places == NULL) return;
    memcpy(names->items, some, names->count * sizeof *some);
    memcpy(names->places, places, names->count * sizeof *places);
}

static void parse_retry(rad_parser *p, rad_flow_task *t)
{
    t->retries = rad__flow_expect_count(p, "the number of further attempts", 0, RETRIES_MAX);
    if (!rad__parse_accept(p, "delay")) return;
    t->delay_ns = rad__flow_expect_duration(p);
    if (rad__parse_accept(p, "backoff")) t->backoff = rad__flow_expect_count(p, "a factor", 1, BACKOFF_MAX);
}

static void parse_outcomes(rad_parser *p, rad_flow_task *t)
{
    static const char *const words[] = {"ok", "fail", NULL};
    t->outcomes = 0;
    do {
        rad_text_place at = p->now.place;
        uint32_t bit = 1u << expect_one_of(p, "ok or fail", words, 0);
        if (t->outcomes & bit) rad__parse_fail(p, at, "the outcome is given twice");
        t->outcomes |= bit;
    } while (rad__parse_accept(p, ","));
}

static void parse_doubt(rad_parser *p, rad_flow_task *t)
{
    static const char *const words[] = {"stop", "retry", "probe", NULL};
    t->doubt = (enum rad_flow_doubt)expect_one_of(p, "stop, retry or probe", words, 0);
    if (t->doubt == RAD_DOUBT_PROBE) t->probe = rad__flow_expect_text(p, "a command that tells whether it was done");
}

static void parse_timeout(rad_parser *p, rad_flow_task *t)
{
    rad_text_place at = p->now.place;
    t->timeout_ns = rad__flow_expect_duration(p);
    if (t->timeout_ns == 0) rad__parse_fail(p, at, "a timeout of 0 leaves no time for anything");
}

static void parse_property(rad_parser *p, rad_flow_task *t, enum property property)
{
    switch (property) {
    case PROPERTY_RUN: t->command = rad__flow_expect_text(p, "a command, a text"); break;
    case PROPERTY_CALL:
        t->is_call = true;
        t->command = rad__flow_expect_text(p, "the name of a function, a text");
        break;
    case PROPERTY_TIMEOUT: parse_timeout(p, t); break;
    case PROPERTY_RETRY: parse_retry(p, t); break;
    case PROPERTY_DIR: t->dir = rad__flow_expect_text(p, "a directory, a text"); break;
    case PROPERTY_READS: parse_names(p, &t->reads); break;
    case PROPERTY_WRITES: parse_names(p, &t->writes); break;
    case PROPERTY_CAPTURE:
        t->capture_place = p->now.place;
        t->capture = rad__parse_expect_name(p, "the name of a variable");
        break;
    case PROPERTY_EXIT:
        t->exit_place = p->now.place;
        t->exit = rad__parse_expect_name(p, "the name of a variable");
        break;
    case PROPERTY_OUTCOMES: parse_outcomes(p, t); break;
    case PROPERTY_ON_DOUBT: parse_doubt(p, t); break;
    case PROPERTY_UNDO:
        t->undo_place = p->now.place;
        t->undo = rad__parse_expect_name(p, "the name of a task");
        break;
    case PROPERTIES: break;
    }
}

/* From `first` on, up to the '}', each once. Returns which there were, as bits. */
static uint32_t parse_properties(rad_parser *p, rad_flow_task *t, enum property first)
{
    uint32_t seen = 0;
    while (p->status == 0 && !rad__parse_accept(p, "}")) {
        rad_text_place at = p->now.place;
        uint32_t property = expect_one_of(p, "a property of the task or '}'", PROPERTY_NAMES, first);
        if (p->status != 0) break;
        if (seen >> property & 1) rad__parse_fail(p, at, "'%s' is given twice", PROPERTY_NAMES[property]);
        seen |= 1u << property;
        if ((seen & 3) == 3) rad__parse_fail(p, at, "a task has either 'run' or 'call', not both");
        parse_property(p, t, (enum property)property);
    }
    return seen;
}

/* ---- Tasks ------------------------------------------------------------------------------- */

static rad_flow_task task_new(rad_text_place place)
{
    return (rad_flow_task){.name = RAD_NONE,
                           .place = place,
                           .command = RAD_NONE,
                           .backoff = 1,
                           .dir = RAD_NONE,
                           .capture = RAD_NONE,
                           .exit = RAD_NONE,
                           .outcomes = RAD_OUTCOME_OK_BIT | RAD_OUTCOME_FAIL_BIT,
                           .probe = RAD_NONE,
                           .undo = RAD_NONE};
}

static void task_add(rad_parser *p, const rad_flow_task *t)
{
    rad_flow_tree *tree = rad__flow_parser(p)->tree;
    if (tree->task_count == RAD_FLOW_TASKS_MAX)
        rad__parse_fail(p, t->place, "a flow has %d tasks at most", RAD_FLOW_TASKS_MAX);
    if (p->status != 0) return;
    if (!RAD_GROW(&tree->tasks, &tree->task_capacity, tree->task_count + 1))
        rad__parse_fail_memory(p);
    else
        tree->tasks[tree->task_count++] = *t;
}

void rad__flow_parse_task(rad_parser *p)
{
    rad_flow_task t = task_new(p->now.place);
    t.name = rad__parse_expect_name(p, "the name of a task");
    rad__parse_expect(p, "{", "'{'");
    uint32_t seen = parse_properties(p, &t, PROPERTY_RUN);
    if ((seen & 3) == 0)
        rad__parse_fail(p, t.place, "task '%s' has neither 'run' nor 'call'", rad__flow_symbol_text(p, t.name));
    task_add(p, &t);
}

static bool has_task(const rad_flow_tree *tree, uint32_t name)
{
    for (uint32_t i = 0; i < tree->task_count; i++)
        if (tree->tasks[i].name == name) return true;
    return false;
}

/* run_LINE; run_LINE_2 for the second one of a line, … */
static uint32_t run_name(rad_parser *p, uint32_t line)
{
    rad_flow_parser *own = rad__flow_parser(p);
    if (own->run_line != line) own->run_count = 0;
    own->run_line = line;
    for (;;) {
        char text[48];
        int length = ++own->run_count == 1 ? snprintf(text, sizeof text, "run_%u", line)
                                           : snprintf(text, sizeof text, "run_%u_%u", line, own->run_count);
        uint32_t name = rad__parse_symbol(p, text, (size_t)length);
        if (!has_task(own->tree, name)) return name;
    }
}

uint32_t rad__flow_parse_run(rad_parser *p, rad_text_place place)
{
    rad_flow_task t = task_new(place);
    t.is_anonymous = true;
    t.command = rad__flow_expect_text(p, "a command, a text");
    if (rad__parse_accept(p, "{")) parse_properties(p, &t, PROPERTY_TIMEOUT);
    t.name = run_name(p, place.line);
    task_add(p, &t);
    return t.name;
}
