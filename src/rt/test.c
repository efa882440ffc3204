/* test.c — see test.h. */
#include "rt/test.h"

#include "base/readable.h"
#include "base/whole.h"

#include <string.h>

static rad_test *tests;
static rad_test_param *params;
static rad_goal *goals;

/* ---- The lists ---------------------------------------------------------------------------------------- */

/* Behind the tests of its file that come before it; those of a new file come last. Constructors of one file run in an
 * order that the compiler chooses. */
void rad_test_add(rad_test *test)
{
    rad_test **at = &tests, **place = NULL;
    for (; *at != NULL; at = &(*at)->next) {
        bool same = strcmp((*at)->file, test->file) == 0;
        if (same && (*at)->line > test->line) break;
        if (same) place = &(*at)->next;
    }
    if (*at == NULL && place != NULL) at = place;
    test->next = *at;
    *at = test;
}

void rad_test_param_add(rad_test_param *param)
{
    rad_test_param **at = &params;
    while (*at != NULL && strcmp((*at)->name, param->name) <= 0) at = &(*at)->next;
    param->next = *at;
    *at = param;
}

static int goal_compare(const rad_goal *a, const rad_goal *b)
{
    int order = strcmp(a->file, b->file);
    if (order == 0) order = a->line < b->line ? -1 : a->line > b->line;
    return order ? order : strcmp(a->what, b->what);
}

void rad_goal_add(rad_goal *goal)
{
    rad_goal **at = &goals;
    if (goal->number != RAD_NONE) return; /* listed: each file of a program lists them all */
    goal->number = 0;
    while (*at != NULL && goal_compare(*at, goal) <= 0) at = &(*at)->next;
    goal->next = *at;
    *at = goal;
}

rad_test *rad__tests(void)
{
    return tests;
}

rad_test_param *rad__test_params(void)
{
    return params;
}

rad_goal *rad__goals(void)
{
    return goals;
}

uint32_t rad__goals_number(void)
{
    uint32_t count = 0;
    for (rad_goal *g = goals, *before = NULL; g != NULL; before = g, g = g->next) {
        if (before == NULL || goal_compare(before, g) != 0) count++;
        g->number = count - 1;
    }
    return count;
}

rad_test *rad__test_find(const char *name)
{
    rad_test *t = tests;
    while (t != NULL && strcmp(t->name, name) != 0) t = t->next;
    return t;
}

bool rad__tests_wrong(char *text, size_t size)
{
    if (tests == NULL) {
        rad__readable_text(text, size, "the program has no tests: RAD_TEST(name) { ... } is one");
        return true;
    }
    for (const rad_test *t = tests; t != NULL; t = t->next) {
        const rad_test *first = rad__test_find(t->name);
        if (first == t) continue;
        rad__readable_text(text, size, "two tests are called '%s': %s:%u and %s:%u", t->name, first->file, first->line,
                           t->file, t->line);
        return true;
    }
    if (rad__goals_number() <= RAD_GOALS_MAX) return false;
    rad__readable_text(text, size, "more than %d places with rad_sometimes", RAD_GOALS_MAX);
    return true;
}

/* ---- Names and values ---------------------------------------------------------------------------------- */

static void add_name(char *text, size_t size, const char *name)
{
    size_t used = strlen(text);
    rad__readable_text(text + used, size - used, "%s%s", used ? ", " : "", name);
}

bool rad__test_set(const char *assignment, char *text, size_t size)
{
    size_t length = strcspn(assignment, "=");
    bool found = false;
    int64_t value;
    if (!rad__whole_read(assignment + length + 1, &value)) {
        rad__readable_text(text, size, "'%.80s': the value is not a whole number", assignment);
        return false;
    }
    for (rad_test_param *p = params; p != NULL; p = p->next) {
        if (strlen(p->name) != length || strncmp(p->name, assignment, length) != 0) continue;
        *p->value = value;
        found = true;
    }
    if (found) return true;
    char names[300] = "";
    for (rad_test_param *p = params; p != NULL; p = p->next)
        if (p->next == NULL || strcmp(p->name, p->next->name) != 0) add_name(names, sizeof names, p->name);
    rad__readable_text(text, size, "no parameter is called '%.*s'; %s%s", (int)length, assignment,
                       names[0] ? "there are: " : "there are none (RAD_PARAM)", names);
    return false;
}

void rad__test_names(char *text, size_t size)
{
    text[0] = 0;
    for (const rad_test *t = tests; t != NULL; t = t->next) add_name(text, size, t->name);
}

/* ---- Running one --------------------------------------------------------------------------------------- */

static int test_fiber(void *arg)
{
    const rad_test *test = arg;
    test->body();
    return 0;
}

int rad__test_run(const rad_test *test, rad_error *error)
{
    rad_test own = *test;
    rad__test_begins();
    int code = rad_main(NULL, test_fiber, &own, error);
    rad__test_ends();
    return code;
}

/* ---- For raddle ---------------------------------------------------------------------------------------- */

void rad__test_catalog(FILE *to)
{
    char wrong[400];
    if (rad__tests_wrong(wrong, sizeof wrong)) rad__readable_print(to, RAD_CATALOG_LEAD "wrong\t%s\n", wrong);
    for (const rad_test *t = tests; t != NULL; t = t->next)
        rad__readable_print(to, RAD_CATALOG_LEAD "test\t%s\t%s\t%u\n", t->name, t->file, t->line);
    for (const rad_test_param *p = params; p != NULL; p = p->next)
        rad__readable_print(to, RAD_CATALOG_LEAD "param\t%s\t%lld\t%s\n", p->name, (long long)*p->value, p->about);
    for (const rad_goal *g = goals, *before = NULL; g != NULL; before = g, g = g->next)
        if (before == NULL || before->number != g->number)
            rad__readable_print(to, RAD_CATALOG_LEAD "goal\t%s\t%s\t%u\t%s\n", g->what, g->file, g->line, g->function);
    rad__readable_print(to, RAD_CATALOG_LEAD "end\n");
}
