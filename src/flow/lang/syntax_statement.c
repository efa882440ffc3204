/* syntax_statement.c — statements and blocks. */
#include "base/alloc.h"
#include "flow/lang/syntax_parts.h"

#include <string.h>

enum { COUNT_MAX = 1000000, INTERLEAVE_MAX = 64 };

static const char *const KIND_NAMES[RAD_FLOW_KINDS] = {
    [RAD_FLOW_DO] = "do",         [RAD_FLOW_SET] = "set",
    [RAD_FLOW_BLOCK] = "block",   [RAD_FLOW_PAR] = "par",
    [RAD_FLOW_XOR] = "xor",       [RAD_FLOW_OR] = "or",
    [RAD_FLOW_LOOP] = "loop",     [RAD_FLOW_WHILE] = "while",
    [RAD_FLOW_REPEAT] = "repeat", [RAD_FLOW_REGION] = "region",
    [RAD_FLOW_CANCEL] = "cancel", [RAD_FLOW_MANY] = "many",
    [RAD_FLOW_MORE] = "more",     [RAD_FLOW_REACH] = "reach",
    [RAD_FLOW_EXPIRE] = "expire", [RAD_FLOW_AWAIT] = "await",
    [RAD_FLOW_LOCK] = "lock",     [RAD_FLOW_INTERLEAVE] = "interleave",
    [RAD_FLOW_DEFER] = "defer",   [RAD_FLOW_FINISH] = "finish",
    [RAD_FLOW_FAIL] = "fail",     [RAD_FLOW_COMPENSATE] = "compensate",
};

const char *rad__flow_kind_name(enum rad_flow_kind kind)
{
    return (unsigned)kind < RAD_FLOW_KINDS ? KIND_NAMES[kind] : "?";
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static rad_flow_block parse_block(rad_parser *p)
{
    rad_flow_block block = {.place = p->now.place};
    rad__parse_expect(p, "{", "'{'");
    block.first = rad__flow_parse_statements(p, false);
    block.end = p->now.place;
    rad__parse_expect(p, "}", "a statement or '}'");
    return block;
}

static rad_flow_branch branch_new(void)
{
    return (rad_flow_branch){.event = {.signal = RAD_NONE, .into = RAD_NONE}};
}

/* Branches while they are counted: how many there are is not known before the last. */
typedef struct branch_list {
    rad_flow_branch *items;
    uint32_t count, capacity;
} branch_list;

static void branch_add(rad_parser *p, branch_list *list, const rad_flow_branch *branch)
{
    if (!RAD_GROW(&list->items, &list->capacity, list->count + 1))
        rad__parse_fail_memory(p);
    else
        list->items[list->count++] = *branch;
}

/* The list becomes the statement's. */
static void branches_end(rad_parser *p, rad_flow_statement *s, branch_list *list)
{
    if (p->status == 0) s->branches = rad__parse_take(p, list->count, sizeof *s->branches);
    if (s->branches != NULL) {
        memcpy(s->branches, list->items, list->count * sizeof *list->items);
        s->branch_count = list->count;
    }
    rad__free(list->items);
}

static void parse_one_block(rad_parser *p, rad_flow_statement *s)
{
    s->branches = rad__parse_take(p, 1, sizeof *s->branches);
    if (s->branches == NULL) return;
    s->branches[0] = branch_new();
    s->branches[0].block = parse_block(p);
    s->branch_count = 1;
}

/* { … } and { … } [and …] */
static void parse_blocks(rad_parser *p, rad_flow_statement *s, uint32_t most)
{
    branch_list list = {.items = NULL};
    do {
        rad_flow_branch branch = branch_new();
        if (list.count == most) rad__parse_fail(p, p->now.place, "an interleave has %u blocks at most", most);
        branch.block = parse_block(p);
        branch_add(p, &list, &branch);
    } while (rad__parse_accept(p, "and"));
    if (list.count == 1) rad__parse_expected(p, "'and' and another block");
    branches_end(p, s, &list);
}

/* { when EXPR { … } … [else { … }] } */
static void parse_cases(rad_parser *p, rad_flow_statement *s)
{
    static const char *const words[] = {"when", "else", NULL};
    branch_list list = {.items = NULL};
    rad__parse_expect(p, "{", "'{'");
    while (p->status == 0 && !s->has_else && (list.count == 0 || !rad__parse_is(p, "}"))) {
        rad_flow_branch branch = branch_new();
        s->has_else = list.count > 0 && rad__parse_accept(p, "else");
        if (!s->has_else && !rad__parse_accept(p, "when"))
            rad__flow_expected_word(p, list.count == 0 ? "'when' and a condition" : "'when', 'else' or '}'", words);
        if (!s->has_else) branch.when = rad__flow_parse_expr(p);
        branch.block = parse_block(p);
        branch_add(p, &list, &branch);
    }
    rad__parse_expect(p, "}", "'}' behind the block of else");
    branches_end(p, s, &list);
}

/* ---- Joins ------------------------------------------------------------------------------- */

/* How many ways out of which first and any count; RAD_NONE: known at run time. */
static uint32_t ways_of(const rad_flow_statement *s)
{
    return s->kind == RAD_FLOW_MANY ? RAD_NONE : s->branch_count - s->has_else;
}

static void check_join(rad_parser *p, const rad_flow_statement *s, rad_text_place at)
{
    if (s->join == RAD_JOIN_ALL && s->kind == RAD_FLOW_OR)
        rad__parse_fail(p, at, "an or has no join all: join sync waits for those that were begun");
    if (s->join == RAD_JOIN_SYNC && s->kind == RAD_FLOW_MANY)
        rad__parse_fail(p, at, "a many has no join sync: it is for par and or");
    if (s->join == RAD_JOIN_MULTI && s->kind == RAD_FLOW_MANY)
        rad__parse_fail(p, at, "a many has no join multi: it is for par and or");
    if (s->join_count > ways_of(s))
        rad__parse_fail(p, at, "expected a count from 1 to %u, the number of branches, found %u", ways_of(s),
                        s->join_count);
}

static void parse_join(rad_parser *p, rad_flow_statement *s)
{
    static const char *const words[RAD_JOINS + 1] = {"all", "first", "any", "sync", "multi", "none", NULL};
    s->join = s->kind == RAD_FLOW_OR ? RAD_JOIN_SYNC : RAD_JOIN_ALL;
    s->join_place = p->now.place;
    if (!rad__parse_accept(p, "join")) return;
    rad_text_place at = p->now.place;
    uint32_t join = 0;
    while (join < RAD_JOINS && !rad__parse_accept(p, words[join])) join++;
    if (join == RAD_JOINS) {
        rad__flow_expected_word(p, "all, first, any, sync, multi or none", words);
        return;
    }
    s->join = (enum rad_flow_join)join;
    if (s->join == RAD_JOIN_FIRST || s->join == RAD_JOIN_ANY) {
        s->join_count = 1;
        if (p->now.kind == RAD_LEXEME_NUMBER) s->join_count = rad__flow_expect_count(p, "a count", 1, COUNT_MAX);
    }
    check_join(p, s, at);
}

/* ---- Events ------------------------------------------------------------------------------- */

static void parse_signal(rad_parser *p, rad_flow_event *event)
{
    event->signal = rad__parse_expect_name(p, "the name of a signal");
    if (!rad__parse_accept(p, "into")) return;
    event->into_place = p->now.place;
    event->into = rad__parse_expect_name(p, "the name of a variable");
}

static void parse_defer(rad_parser *p, rad_flow_statement *s)
{
    static const char *const words[] = {"signal", "timer", NULL};
    branch_list list = {.items = NULL};
    rad__parse_expect(p, "{", "'{'");
    while (p->status == 0 && (list.count == 0 || !rad__parse_is(p, "}"))) {
        rad_flow_branch branch = branch_new();
        rad__flow_expect_word(p, "on", list.count == 0 ? "'on'" : "'on' or '}'");
        if (rad__parse_accept(p, "timer")) {
            branch.event.is_timer = true;
            branch.event.delay_ns = rad__flow_expect_duration(p);
        } else if (rad__parse_accept(p, "signal")) {
            parse_signal(p, &branch.event);
        } else {
            rad__flow_expected_word(p, "'signal' or 'timer'", words);
        }
        branch.block = parse_block(p);
        branch_add(p, &list, &branch);
    }
    rad__parse_expect(p, "}", "'on' or '}'");
    branches_end(p, s, &list);
}

/* A defer with one event and nothing to do. */
static void parse_wait(rad_parser *p, rad_flow_statement *s)
{
    static const char *const words[] = {"signal", "fresh", NULL};
    s->branches = rad__parse_take(p, 1, sizeof *s->branches);
    if (s->branches == NULL) return;
    s->branch_count = 1;
    s->branches[0] = branch_new();
    rad_flow_event *event = &s->branches[0].event;
    event->is_fresh = rad__parse_accept(p, "fresh");
    event->is_timer = !event->is_fresh && p->now.kind == RAD_LEXEME_NUMBER;
    if (event->is_timer)
        event->delay_ns = rad__flow_expect_duration(p);
    else if (rad__parse_accept(p, "signal"))
        parse_signal(p, event);
    else
        rad__flow_expected_word(p, event->is_fresh ? "'signal'" : "'signal', 'fresh signal' or a duration such as 10s",
                                words);
}

/* ---- Regions ------------------------------------------------------------------------------- */

static rad_flow_branch *parse_handler(rad_parser *p, rad_flow_branch *before, rad_text_place at, const char *word)
{
    if (before != NULL) rad__parse_fail(p, at, "'on %s' is given twice", word);
    rad_flow_branch *handler = rad__parse_take(p, 1, sizeof *handler);
    if (handler == NULL) return NULL;
    *handler = branch_new();
    handler->block = parse_block(p);
    return handler;
}

static void parse_region(rad_parser *p, rad_flow_statement *s)
{
    static const char *const words[] = {"cancel", "failure", NULL};
    s->name_place = p->now.place;
    s->name = rad__parse_expect_name(p, "the name of the region");
    parse_one_block(p, s);
    for (;;) {
        rad_text_place at = p->now.place;
        if (!rad__parse_accept(p, "on")) return;
        if (rad__parse_accept(p, "cancel")) {
            s->on_cancel = parse_handler(p, s->on_cancel, at, "cancel");
        } else if (rad__parse_accept(p, "failure")) {
            if (rad__parse_accept(p, "into")) {
                s->into_place = p->now.place;
                s->into = rad__parse_expect_name(p, "the name of a variable");
            }
            s->on_failure = parse_handler(p, s->on_failure, at, "failure");
        } else {
            rad__flow_expected_word(p, "'cancel' or 'failure'", words);
        }
    }
}

static void parse_cancel(rad_parser *p, rad_flow_statement *s)
{
    static const char *const words[] = {"task", "region", "case", NULL};
    if (rad__parse_accept(p, "case")) {
        s->scope = RAD_FLOW_PART_CASE;
        return;
    }
    bool is_task = rad__parse_accept(p, "task");
    if (!is_task && !rad__parse_accept(p, "region")) rad__flow_expected_word(p, "'task', 'region' or 'case'", words);
    s->scope = is_task ? RAD_FLOW_PART_TASK : RAD_FLOW_PART_REGION;
    s->name_place = p->now.place;
    s->name = rad__parse_expect_name(p, is_task ? "the name of a task" : "the name of a region");
}

/* ---- Many ------------------------------------------------------------------------------- */

/* `many pool 3`, `many pool over list`: a name behind which an expression begins. */
static bool has_many_name(rad_parser *p)
{
    if (p->now.kind != RAD_LEXEME_NAME || rad__parse_is(p, "over") || rad__parse_is(p, "not")) return false;
    rad_lexeme next = rad__parse_peek(p);
    if (rad__flow_is_function(p) && rad__lexeme_is(&next, "(")) return false;
    return rad__flow_begins_operand(&next);
}

static void parse_many(rad_parser *p, rad_flow_statement *s)
{
    if (p->status == 0 && has_many_name(p)) s->name = rad__parse_expect_name(p, "a name");
    s->is_over = rad__parse_accept(p, "over");
    s->expr = rad__flow_parse_expr(p);
    if (rad__parse_accept(p, "up")) {
        rad__flow_expect_word(p, "to", "'to' and a number");
        s->most = rad__flow_expect_count(p, "a number of instances", 1, COUNT_MAX);
    }
    if (rad__parse_accept(p, "as")) {
        s->as_place = p->now.place;
        s->as = rad__flow_expect_variable(p, "a name for the instance's number or line");
    } else if (s->is_over) {
        rad__parse_expected(p,
                            s->most > 0 ? "'as' and a name for the line" : "'up to' or 'as' and a name for the line");
    }
    parse_one_block(p, s);
    parse_join(p, s);
}

/* ---- Statements ------------------------------------------------------------------------------- */

static void parse_named(rad_parser *p, rad_flow_statement *s)
{
    const char *what = s->kind == RAD_FLOW_DO           ? "the name of a task"
                       : s->kind == RAD_FLOW_COMPENSATE ? "the name of a region"
                       : s->kind == RAD_FLOW_MORE       ? "the name of a many"
                       : s->kind == RAD_FLOW_LOCK       ? "the name of a lock"
                       : s->kind == RAD_FLOW_SET        ? "the name of a variable"
                                                        : "the name of a milestone";
    s->name_place = p->now.place;
    s->name = rad__parse_expect_name(p, what);
    if (s->kind == RAD_FLOW_SET) {
        rad__parse_expect(p, "=", "'='");
        s->expr = rad__flow_parse_expr(p);
    } else if (s->kind == RAD_FLOW_LOCK) {
        parse_one_block(p, s);
    } else if (s->kind == RAD_FLOW_AWAIT && rad__parse_accept(p, "else")) {
        s->has_else = true;
        parse_one_block(p, s);
    }
}

static void parse_repeat(rad_parser *p, rad_flow_statement *s)
{
    parse_one_block(p, s);
    rad__flow_expect_word(p, "until", "'until' and a condition");
    s->expr = rad__flow_parse_expr(p);
}

/* What follows the first word. */
static void parse_rest(rad_parser *p, rad_flow_statement *s)
{
    switch (s->kind) {
    case RAD_FLOW_PAR:
        parse_blocks(p, s, RAD_NONE);
        parse_join(p, s);
        break;
    case RAD_FLOW_INTERLEAVE: parse_blocks(p, s, INTERLEAVE_MAX); break;
    case RAD_FLOW_XOR: parse_cases(p, s); break;
    case RAD_FLOW_OR:
        parse_cases(p, s);
        parse_join(p, s);
        break;
    case RAD_FLOW_LOOP:
    case RAD_FLOW_WHILE:
        s->expr = rad__flow_parse_expr(p);
        parse_one_block(p, s);
        break;
    case RAD_FLOW_REPEAT: parse_repeat(p, s); break;
    case RAD_FLOW_REGION: parse_region(p, s); break;
    case RAD_FLOW_CANCEL: parse_cancel(p, s); break;
    case RAD_FLOW_MANY: parse_many(p, s); break;
    case RAD_FLOW_DEFER: parse_defer(p, s); break;
    case RAD_FLOW_FAIL:
        if (p->now.kind == RAD_LEXEME_TEXT) s->text = rad__flow_expect_text(p, "a text");
        break;
    case RAD_FLOW_FINISH: break;
    default: parse_named(p, s); break;
    }
}

/* No statement begins with this word. */
static void no_statement(rad_parser *p, bool is_body)
{
    static const char *const words[] = {"do",     "run",        "set",        "par",    "xor",   "or",   "loop",
                                        "while",  "repeat",     "region",     "cancel", "many",  "more", "reach",
                                        "expire", "await",      "interleave", "lock",   "defer", "wait", "finish",
                                        "fail",   "compensate", "data",       "task",   NULL};
    if (rad__parse_is(p, "join"))
        rad__parse_fail(p, p->now.place, "join belongs to the par, or, or many before it");
    else if (rad__parse_is(p, "data") || rad__parse_is(p, "task"))
        rad__parse_fail(p, p->now.place, "'%.4s' belongs into the flow itself, not into a block", p->now.text);
    else
        rad__flow_expected_word(p, is_body ? "a statement, 'data', 'task' or '}'" : "a statement or '}'", words);
}

static rad_flow_statement *parse_statement(rad_parser *p, bool is_body)
{
    rad_flow_statement *s = rad__parse_take(p, 1, sizeof *s);
    if (s == NULL) return NULL;
    *s = (rad_flow_statement){.place = p->now.place,
                              .name_place = p->now.place,
                              .name = RAD_NONE,
                              .as = RAD_NONE,
                              .into = RAD_NONE,
                              .text = RAD_NONE};
    if (rad__parse_is(p, "{")) {
        s->kind = RAD_FLOW_BLOCK;
        parse_one_block(p, s);
        return s;
    }
    if (rad__parse_accept(p, "run")) {
        s->kind = RAD_FLOW_DO;
        s->name = rad__flow_parse_run(p, s->place);
        return s;
    }
    if (rad__parse_accept(p, "wait")) {
        s->kind = RAD_FLOW_DEFER;
        parse_wait(p, s);
        return s;
    }
    unsigned kind = 0;
    while (kind < RAD_FLOW_KINDS && (kind == RAD_FLOW_BLOCK || !rad__parse_accept(p, KIND_NAMES[kind]))) kind++;
    s->kind = (enum rad_flow_kind)kind;
    if (kind == RAD_FLOW_KINDS)
        no_statement(p, is_body);
    else
        parse_rest(p, s);
    return s;
}

rad_flow_statement *rad__flow_parse_statements(rad_parser *p, bool is_body)
{
    rad_flow_statement *first = NULL, **last = &first;
    if (++p->nesting > RAD_FLOW_NESTING_MAX)
        rad__parse_fail(p, p->now.place, "the blocks are nested more than %d deep", RAD_FLOW_NESTING_MAX);
    while (p->status == 0 && !rad__parse_is(p, "}")) {
        if (is_body && rad__parse_accept(p, "data")) {
            rad__flow_parse_data(p);
        } else if (is_body && rad__parse_accept(p, "task")) {
            rad__flow_parse_task(p);
        } else {
            *last = parse_statement(p, is_body);
            if (*last != NULL) last = &(*last)->next;
        }
    }
    p->nesting--;
    return first;
}
