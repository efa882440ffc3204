/* generate.c — random flows: declarations and statements. See generate.h.
 *
 * What matters happens between tokens, so pairs are written on purpose: a region and who cancels it, a milestone and
 * who reaches it, a lock and who else wants it, side by side in one par. */
#include "generate.h"

#include "base/alloc.h"
#include "generate_parts.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t generate_below(generator *g, uint32_t bound)
{
    return (uint32_t)rad__prng_below(&g->prng, bound);
}

bool generate_chance(generator *g, uint32_t percent)
{
    return generate_below(g, 100) < percent;
}

static void generate_put_list(generator *g, const char *format, va_list args) RAD_PRINTF(2, 0);
static void generate_put_list(generator *g, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int more = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (!RAD_GROW(&g->text, &g->capacity, g->length + (uint32_t)more + 1)) abort();
    g->length += (uint32_t)vsnprintf(g->text + g->length, (size_t)more + 1, format, args);
}

void generate_put(generator *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    generate_put_list(g, format, args);
    va_end(args);
}

void generate_margin(generator *g)
{
    for (uint32_t i = 0; i < g->indent; i++) generate_put(g, "  ");
}

void generate_line(generator *g, const char *format, ...)
{
    va_list args;
    generate_margin(g);
    va_start(args, format);
    generate_put_list(g, format, args);
    va_end(args);
    generate_put(g, "\n");
}

/* ---- Blocks --------------------------------------------------------------------------------------------- */

typedef void (*generate_inside)(generator *g, uint32_t depth, uint32_t number);

/* A block that begins with what `inside` writes. */
static void generate_block_with(generator *g, uint32_t depth, generate_inside inside, uint32_t number)
{
    generate_put(g, "{\n");
    g->indent++;
    uint32_t where = inside != NULL ? generate_below(g, 4) : 2; /* before, behind, both, alone */
    if (where == 0 || where == 2) generate_statements(g, depth + 1, 2);
    if (inside != NULL) inside(g, depth + 1, number);
    if (where == 1 || where == 2) generate_statements(g, depth + 1, 2);
    g->indent--;
    generate_margin(g);
    generate_put(g, "}");
}

void generate_block(generator *g, uint32_t depth)
{
    if (generate_chance(g, 6)) {
        generate_put(g, "{ }");
        return;
    }
    generate_put(g, "{\n");
    g->indent++;
    generate_statements(g, depth + 1, generate_chance(g, 80) ? 2 : 3);
    g->indent--;
    generate_margin(g);
    generate_put(g, "}");
}

static void generate_join(generator *g, enum rad_flow_kind kind, uint32_t branches)
{
    uint32_t what = generate_below(g, 14), count = 1 + generate_below(g, branches);
    if (what < 3 && kind != RAD_FLOW_OR)
        generate_put(g, " join all");
    else if (what < 5)
        generate_put(g, " join first %u", count);
    else if (what < 6)
        generate_put(g, " join first");
    else if (what < 8)
        generate_put(g, " join any %u", count);
    else if (what < 9)
        generate_put(g, " join none");
    else if (what < 10 && kind != RAD_FLOW_MANY)
        generate_put(g, " join multi");
    else if (what < 11 && kind != RAD_FLOW_MANY)
        generate_put(g, " join sync");
}

/* ---- Statements --------------------------------------------------------------------------------------------- */

static void generate_do(generator *g, uint32_t depth)
{
    (void)depth;
    uint32_t task = generate_below(g, g->tasks);
    if (generate_chance(g, 92))
        generate_line(g, "do t%u", task);
    else if (generate_chance(g, 50))
        generate_line(g, "run \"true\" { outcomes ok }");
    else
        generate_line(g, "run \"true\" { retry 1 delay 1s outcomes ok, fail }");
}

static void generate_set(generator *g, uint32_t depth)
{
    (void)depth;
    uint32_t v = generate_below(g, GENERATE_VARIABLES);
    generate_margin(g);
    generate_put(g, "set v%u = ", v);
    if (g->merges[v] == RAD_MERGE_APPEND)
        generate_put(g, "text(%u)", generate_below(g, 3));
    else if (g->types[v] == RAD_FLOW_INT && generate_chance(g, 30))
        generate_put(g, "v%u + %u", v, 1 + generate_below(g, 2));
    else
        generate_expression(g, g->types[v], 2);
    generate_put(g, "\n");
}

static void generate_par(generator *g, uint32_t depth)
{
    uint32_t branches = 2 + (generate_chance(g, 30) ? 1 + generate_below(g, 2) : 0);
    generate_margin(g);
    generate_put(g, "par ");
    for (uint32_t i = 0; i < branches; i++) {
        if (i > 0) generate_put(g, " and ");
        generate_block(g, depth);
    }
    generate_join(g, RAD_FLOW_PAR, branches);
    generate_put(g, "\n");
}

static void generate_conditions(generator *g, uint32_t depth, enum rad_flow_kind kind)
{
    uint32_t branches = 1 + generate_below(g, 3);
    generate_margin(g);
    generate_put(g, "%s {\n", kind == RAD_FLOW_OR ? "or" : "xor");
    g->indent++;
    for (uint32_t i = 0; i < branches; i++) {
        generate_margin(g);
        generate_put(g, "when ");
        if (generate_chance(g, 30))
            generate_put(g, "true");
        else
            generate_expression(g, RAD_FLOW_BOOL, 2);
        generate_put(g, " ");
        generate_block(g, depth);
        generate_put(g, "\n");
    }
    if (generate_chance(g, 80)) {
        generate_margin(g);
        generate_put(g, "else ");
        generate_block(g, depth);
        generate_put(g, "\n");
    }
    g->indent--;
    generate_margin(g);
    generate_put(g, "}");
    if (kind == RAD_FLOW_OR) generate_join(g, kind, branches);
    generate_put(g, "\n");
}

static void generate_xor(generator *g, uint32_t depth)
{
    generate_conditions(g, depth, RAD_FLOW_XOR);
}

static void generate_or(generator *g, uint32_t depth)
{
    generate_conditions(g, depth, RAD_FLOW_OR);
}

static void generate_loop(generator *g, uint32_t depth)
{
    generate_margin(g);
    if (generate_chance(g, 75)) {
        generate_put(g, "loop %u ", generate_below(g, 4));
    } else {
        generate_put(g, "loop ");
        generate_expression(g, RAD_FLOW_INT, 1);
        generate_put(g, " %% 4 ");
    }
    generate_block(g, depth);
    generate_put(g, "\n");
}

static void generate_count(generator *g, uint32_t depth, uint32_t variable)
{
    (void)depth;
    generate_line(g, "set v%u = v%u + 1", variable, variable);
}

/* Mostly with a counter; what else is in the block may turn it back. */
static void generate_while(generator *g, uint32_t depth)
{
    uint32_t v = generate_variable(g, RAD_FLOW_INT), most = generate_below(g, 4);
    generate_margin(g);
    if (generate_chance(g, 94)) {
        generate_put(g, "while v%u < %u ", v, most);
        generate_block_with(g, depth, generate_count, v);
    } else {
        generate_put(g, "while ");
        generate_expression(g, RAD_FLOW_BOOL, 1);
        generate_put(g, " ");
        generate_block(g, depth);
    }
    generate_put(g, "\n");
}

static void generate_repeat(generator *g, uint32_t depth)
{
    uint32_t v = generate_variable(g, RAD_FLOW_INT), most = generate_below(g, 3);
    generate_margin(g);
    generate_put(g, "repeat ");
    generate_block_with(g, depth, generate_count, v);
    generate_put(g, " until v%u >= %u", v, most);
    if (generate_chance(g, 30)) {
        generate_put(g, " or ");
        generate_expression(g, RAD_FLOW_BOOL, 1);
    }
    generate_put(g, "\n");
}

static void generate_handler(generator *g, uint32_t depth, bool failure)
{
    if (failure) {
        generate_put(g, " on failure ");
        uint32_t into = generate_variable(g, RAD_FLOW_TEXT);
        if (generate_chance(g, 50)) generate_put(g, "into v%u ", into);
    } else {
        generate_put(g, " on cancel ");
    }
    generate_block(g, depth);
}

static void generate_region_number(generator *g, uint32_t depth, uint32_t number)
{
    g->region_written[number] = true;
    bool failure = generate_chance(g, 60);
    generate_margin(g);
    generate_put(g, "region r%u ", number);
    g->inside_failure += failure;
    generate_block_with(g, depth, NULL, 0);
    g->inside_failure -= failure;
    if (generate_chance(g, 55)) generate_handler(g, depth, false);
    if (failure) generate_handler(g, depth, true);
    generate_put(g, "\n");
}

/* Each name once. RAD_NONE: all are written. */
static uint32_t generate_free_region(generator *g)
{
    for (uint32_t i = 0; i < g->regions; i++)
        if (!g->region_written[i]) return i;
    return RAD_NONE;
}

static void generate_region(generator *g, uint32_t depth)
{
    uint32_t number = generate_free_region(g);
    if (number != RAD_NONE)
        generate_region_number(g, depth, number);
    else
        generate_do(g, depth);
}

static void generate_cancel(generator *g, uint32_t depth)
{
    (void)depth;
    uint32_t what = generate_below(g, 20);
    if (what < 1 && generate_chance(g, 20 + 20 * g->wild))
        generate_line(g, "cancel case");
    else if (what < 9 || g->regions == 0)
        generate_line(g, "cancel task t%u", generate_below(g, g->tasks));
    else
        generate_line(g, "cancel region r%u", generate_below(g, g->regions));
}

static void generate_many_statement(generator *g, uint32_t depth)
{
    if (g->many_depth == GENERATE_NESTED) return;
    bool is_text = generate_chance(g, 25), grows = generate_chance(g, 50);
    bool named = grows || generate_chance(g, 20), as = is_text || generate_chance(g, 60);
    uint32_t number = g->many_count++;
    generate_margin(g);
    generate_put(g, "many ");
    if (named) generate_put(g, "m%u ", number);
    if (is_text) generate_put(g, "over ");
    if (generate_chance(g, 70))
        generate_put(g, is_text ? "\"p\\nq\"" : "%u", 1 + generate_below(g, 3));
    else if (is_text)
        generate_expression(g, RAD_FLOW_TEXT, 1);
    else {
        generate_put(g, "(");
        generate_expression(g, RAD_FLOW_INT, 1);
        generate_put(g, ") %% 4");
    }
    if (grows || generate_chance(g, 20)) generate_put(g, " up to %u", 3 + generate_below(g, 3));
    if (as) generate_put(g, " as k%u", number);
    generate_put(g, " ");
    g->manies[g->many_depth++] = (generate_many){number, as ? number : RAD_NONE, is_text, grows};
    generate_block(g, depth);
    g->many_depth--;
    generate_join(g, RAD_FLOW_MANY, 2);
    generate_put(g, "\n");
}

static void generate_more(generator *g, uint32_t depth)
{
    uint32_t from = g->many_depth ? generate_below(g, g->many_depth) : 0;
    for (uint32_t i = 0; i < g->many_depth; i++) {
        const generate_many *m = &g->manies[(from + i) % g->many_depth];
        if (!m->grows) continue;
        if (generate_chance(g, 70)) { /* not by every instance */
            generate_line(g, "xor { when v%u { more m%u } else { } }", generate_variable(g, RAD_FLOW_BOOL), m->number);
            return;
        }
        generate_line(g, "more m%u", m->number);
        return;
    }
    generate_do(g, depth);
}

static void generate_milestone(generator *g, uint32_t depth)
{
    uint32_t what = generate_below(g, 10), number = generate_below(g, 2);
    if (what < 4)
        generate_line(g, "reach s%u", number);
    else if (what < 5)
        generate_line(g, "expire s%u", number);
    else if (what < 7 && !generate_chance(g, 15 * g->wild))
        generate_line(g, "reach s%u await s%u", number, number);
    else if (what < 7)
        generate_line(g, "await s%u", number);
    else {
        generate_margin(g);
        generate_put(g, "await s%u else ", number);
        generate_block(g, depth);
        generate_put(g, "\n");
    }
}

static void generate_interleave(generator *g, uint32_t depth)
{
    uint32_t blocks = 2 + generate_below(g, 2);
    generate_margin(g);
    generate_put(g, "interleave ");
    for (uint32_t i = 0; i < blocks; i++) {
        if (i > 0) generate_put(g, " and ");
        generate_block(g, depth);
    }
    generate_put(g, "\n");
}

/* Inside of itself it would never be given: rarely. */
static void generate_lock_number(generator *g, uint32_t depth, uint32_t number)
{
    if (g->locks_around >> number & 1 && !generate_chance(g, 4 * g->wild)) {
        generate_do(g, depth);
        return;
    }
    uint32_t around = g->locks_around;
    g->locks_around |= 1u << number;
    generate_margin(g);
    generate_put(g, "lock l%u ", number);
    generate_block(g, depth);
    g->locks_around = around;
    generate_put(g, "\n");
}

static void generate_lock(generator *g, uint32_t depth)
{
    generate_lock_number(g, depth, generate_below(g, 2));
}

static void generate_defer(generator *g, uint32_t depth)
{
    uint32_t events = 1 + generate_below(g, 3);
    generate_margin(g);
    generate_put(g, "defer {\n");
    g->indent++;
    for (uint32_t i = 0; i < events; i++) {
        generate_margin(g);
        uint32_t into = generate_below(g, GENERATE_VARIABLES), what = generate_below(g, 4);
        if (what < 1)
            generate_put(g, "on timer %us ", 1 + i);
        else if (what < 2)
            generate_put(g, "on signal g%u into v%u ", i, into);
        else
            generate_put(g, "on signal g%u ", i);
        generate_block(g, depth);
        generate_put(g, "\n");
    }
    g->indent--;
    generate_line(g, "}");
}

static void generate_wait(generator *g, uint32_t depth)
{
    (void)depth;
    uint32_t what = generate_below(g, 4), into = generate_below(g, GENERATE_VARIABLES);
    if (what == 0)
        generate_line(g, "wait 500ms");
    else if (what == 1)
        generate_line(g, "wait signal g0");
    else if (what == 2)
        generate_line(g, "wait signal g1 into v%u", into);
    else
        generate_line(g, "wait fresh signal g2");
}

static void generate_end(generator *g, uint32_t depth)
{
    bool often = g->inside_failure > 0 || generate_chance(g, 4 + 6 * g->wild);
    if (!often)
        generate_do(g, depth);
    else if (generate_chance(g, 12) && generate_chance(g, 30 * g->wild))
        generate_line(g, "finish");
    else if (generate_chance(g, 50))
        generate_line(g, "fail \"on purpose\"");
    else
        generate_line(g, "fail");
}

static void generate_compensate(generator *g, uint32_t depth)
{
    if (g->regions > 0)
        generate_line(g, "compensate r%u", generate_below(g, g->regions));
    else
        generate_do(g, depth);
}

static void generate_anonymous(generator *g, uint32_t depth)
{
    generate_margin(g);
    generate_block(g, depth);
    generate_put(g, "\n");
}

/* ---- Pairs --------------------------------------------------------------------------------------------------- */

static void generate_cancels(generator *g, uint32_t depth, uint32_t number)
{
    (void)depth;
    generate_line(g, "cancel region r%u", number);
}

static void generate_reaches(generator *g, uint32_t depth, uint32_t number)
{
    (void)depth;
    generate_line(g, "reach s%u", number);
    if (generate_chance(g, 40)) generate_line(g, "expire s%u", number);
}

static void generate_awaits(generator *g, uint32_t depth, uint32_t number)
{
    generate_margin(g);
    generate_put(g, "await s%u", number);
    if (generate_chance(g, 60)) {
        generate_put(g, " else ");
        generate_block(g, depth);
    }
    generate_put(g, "\n");
}

static void generate_does(generator *g, uint32_t depth, uint32_t number)
{
    (void)depth;
    generate_line(g, "do t%u", number);
}

static void generate_cancels_task(generator *g, uint32_t depth, uint32_t number)
{
    (void)depth;
    generate_line(g, "cancel task t%u", number);
}

/* One branch has something, the other does something to it. */
static void generate_pair(generator *g, uint32_t depth)
{
    generate_inside one = generate_does, two = generate_cancels_task;
    uint32_t number = generate_below(g, g->tasks), what = generate_below(g, 8);
    uint32_t region = generate_free_region(g);
    if (what < 4 && region != RAD_NONE) {
        one = generate_region_number, two = generate_cancels, number = region;
        g->region_written[region] = true;
    } else if (what < 6) {
        one = generate_awaits, two = generate_reaches, number = generate_below(g, 2);
    } else if (what < 7) {
        one = two = generate_lock_number, number = generate_below(g, 2);
    }
    generate_margin(g);
    generate_put(g, "par ");
    generate_block_with(g, depth, one, number);
    generate_put(g, " and ");
    generate_block_with(g, depth, two, number);
    if (generate_chance(g, 60))
        generate_put(g, " join sync");
    else
        generate_join(g, RAD_FLOW_PAR, 2);
    generate_put(g, "\n");
}

typedef struct generate_row {
    void (*write)(generator *g, uint32_t depth);
    uint32_t weight;
    bool is_compound;
} generate_row;

static const generate_row generate_rows[] = {
    {generate_do, 20, false},
    {generate_set, 22, false},
    {generate_cancel, 5, false},
    {generate_more, 6, false},
    {generate_milestone, 6, true},
    {generate_wait, 3, false},
    {generate_end, 3, false},
    {generate_compensate, 3, false},
    {generate_par, 14, true},
    {generate_pair, 14, true},
    {generate_xor, 6, true},
    {generate_or, 8, true},
    {generate_loop, 5, true},
    {generate_while, 4, true},
    {generate_repeat, 4, true},
    {generate_region, 8, true},
    {generate_many_statement, 9, true},
    {generate_interleave, 4, true},
    {generate_lock, 4, true},
    {generate_defer, 4, true},
    {generate_anonymous, 2, true},
};

static void generate_statement(generator *g, uint32_t depth)
{
    enum { ROWS = sizeof generate_rows / sizeof *generate_rows };
    uint32_t sum = 0;
    bool small = depth >= GENERATE_DEPTH || g->budget < 3;
    for (uint32_t i = 0; i < ROWS; i++)
        if (!small || !generate_rows[i].is_compound) sum += generate_rows[i].weight;
    uint32_t at = generate_below(g, sum);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (small && generate_rows[i].is_compound) continue;
        if (at < generate_rows[i].weight) {
            generate_rows[i].write(g, depth);
            return;
        }
        at -= generate_rows[i].weight;
    }
}

void generate_statements(generator *g, uint32_t depth, uint32_t most)
{
    uint32_t count = 1 + generate_below(g, most);
    for (uint32_t i = 0; i < count; i++) {
        g->budget -= g->budget > 0;
        generate_statement(g, depth);
    }
}

/* ---- Declarations -------------------------------------------------------------------------------------------- */

static enum rad_flow_merge generate_merge(generator *g, enum rad_flow_type type)
{
    static const enum rad_flow_merge merges[RAD_FLOW_TYPES][3] = {
        {RAD_MERGE_SUM, RAD_MERGE_MAX, RAD_MERGE_MIN},
        {RAD_MERGE_AND, RAD_MERGE_OR, RAD_MERGE_OR},
        {RAD_MERGE_APPEND, RAD_MERGE_APPEND, RAD_MERGE_APPEND},
    };
    uint32_t what = generate_below(g, 10);
    if (what < 2) return RAD_MERGE_EQUAL;
    if (what < 4) return RAD_MERGE_FIRST;
    if (what < 6) return RAD_MERGE_LAST;
    return merges[type][generate_below(g, 3)];
}

static void generate_data(generator *g)
{
    static const char *const types[] = {"int", "bool", "text"};
    static const char *const merges[] = {"", "sum", "max", "min", "and", "or", "append", "first", "last"};
    static const char *const domains[] = {"0, 1, 2", "true, false", "\"a\", \"b\\nc\""};
    static const char *const initials[] = {"2", "true", "\"a\\nb\""};
    generate_put(g, "  data {\n");
    for (uint32_t i = 0; i < GENERATE_VARIABLES; i++) {
        enum rad_flow_type type = i < 4 ? RAD_FLOW_INT : i < 6 ? RAD_FLOW_BOOL : RAD_FLOW_TEXT;
        g->types[i] = type;
        g->merges[i] = generate_merge(g, type);
        generate_put(g, "    v%u : %s", i, types[type]);
        if (generate_chance(g, 30)) generate_put(g, " = %s", initials[type]);
        if (g->merges[i] != RAD_MERGE_EQUAL) generate_put(g, " merge %s", merges[g->merges[i]]);
        if (generate_chance(g, 50)) generate_put(g, " in { %s }", domains[type]);
        generate_put(g, "\n");
    }
    generate_put(g, "  }\n");
}

static void generate_task(generator *g, uint32_t number)
{
    generate_put(g, "  task t%u {", number);
    uint32_t first = generate_below(g, GENERATE_VARIABLES);
    if (generate_chance(g, 75)) {
        generate_put(g, " call \"f%u\"", number);
        uint32_t writes = generate_below(g, 3);
        for (uint32_t i = 0; i < writes; i++)
            generate_put(g, i == 0 ? " writes v%u" : ", v%u", (first + i) % GENERATE_VARIABLES);
    } else {
        generate_put(g, " run \"true\"");
        if (generate_chance(g, 60)) generate_put(g, " capture v%u", first);
        uint32_t status = generate_variable(g, RAD_FLOW_INT);
        if (status != first && generate_chance(g, 40)) generate_put(g, " exit v%u", status);
    }
    uint32_t outcome = generate_below(g, 10);
    if (outcome < 9 - g->wild)
        generate_put(g, " outcomes ok");
    else if (outcome < 9)
        generate_put(g, " outcomes ok, fail");
    else if (g->wild > 1)
        generate_put(g, " outcomes fail");
    uint32_t retries = generate_below(g, 3), delay = generate_below(g, 3);
    if (retries > 0) generate_put(g, " retry %u", retries);
    if (retries > 0 && delay > 0) generate_put(g, " delay 1s");
    if (retries > 0 && delay > 1) generate_put(g, " backoff 2");
    uint32_t undo = generate_below(g, g->tasks);
    if (generate_chance(g, 50)) generate_put(g, " undo t%u", undo);
    generate_put(g, " }\n");
}

char *flow_generate(uint64_t seed)
{
    generator g = {.prng = rad__prng(seed, RAD_STREAM_TEST, 2)};
    g.tasks = 1 + generate_below(&g, GENERATE_TASKS_MOST);
    g.regions = generate_below(&g, GENERATE_REGIONS_MOST + 1);
    g.wild = generate_below(&g, 4);
    g.budget = generate_chance(&g, 40) ? 4 + generate_below(&g, 8) : 8 + generate_below(&g, 30);
    generate_put(&g, "flow random_%llu {\n", (unsigned long long)seed);
    generate_data(&g);
    for (uint32_t i = 0; i < g.tasks; i++) generate_task(&g, i);
    g.indent = 1;
    do generate_statements(&g, 0, 4);
    while (g.budget > 2 && generate_chance(&g, 85));
    for (uint32_t i = generate_free_region(&g); i != RAD_NONE; i = generate_free_region(&g)) {
        g.budget += 4;
        generate_region_number(&g, GENERATE_DEPTH - 2, i);
    }
    generate_line(&g, "do t0");
    generate_put(&g, "}\n");
    return g.text;
}
