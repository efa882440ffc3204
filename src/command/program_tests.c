/* program_tests.c — the tests of the program under test: which it has, as it says itself (rt/test.h). */
#include "program.h"

#include "base/alloc.h"
#include "lab/programs/fibers/sites.h"
#include "lab/programs/under_test.h"

#include <stdio.h>
#include <string.h>

static bool has_tests;

void program_has_tests(bool open)
{
    has_tests = true;
    if (open) rad__under_test_open();
}

uint32_t goal_site(uint32_t goal)
{
    return RAD_AT_GOALS + 2 * goal;
}

const char *program_test(void)
{
    const char *const *words = has_tests ? rad__under_test_words() : NULL;
    return words && words[1] && strchr(words[1], '=') == NULL ? words[1] : NULL;
}

/* Cuts a line into its parts, in place; returns how many there are. */
static uint32_t cut_line(char *line, char **parts, uint32_t most)
{
    uint32_t count = 0;
    while (count < most) {
        parts[count++] = line;
        line = strchr(line, '\t');
        if (line == NULL) break;
        *line++ = 0;
    }
    return count;
}

static uint32_t line_number(const char *text)
{
    unsigned number = 0;
    return sscanf(text, "%u", &number) == 1 ? number : 0;
}

/* False: there is no memory for what it says, or it says nothing sensible. */
static bool take_line(catalog *k, char **parts, uint32_t count)
{
    if (count == 4 && strcmp(parts[0], "test") == 0)
        k->tests[k->test_count++] = (catalog_test){parts[1], parts[2], line_number(parts[3])};
    else if (count == 5 && strcmp(parts[0], "goal") == 0)
        k->goals[k->goal_count++] =
            (catalog_goal){.what = parts[1], .file = parts[2], .function = parts[4], .line = line_number(parts[3])};
    else if (count == 4 && strcmp(parts[0], "param") == 0)
        k->params[k->param_count++] = (catalog_param){parts[1], parts[2], parts[3]};
    else
        return strcmp(parts[0], "end") == 0;
    return true;
}

static int read_lines(cli *c, catalog *k)
{
    uint32_t lines = 1;
    for (const char *at = k->text; *at; at++) lines += *at == '\n';
    k->tests = rad__alloc(lines, sizeof *k->tests);
    k->goals = rad__alloc(lines, sizeof *k->goals);
    k->params = rad__alloc(lines, sizeof *k->params);
    if (k->tests == NULL || k->goals == NULL || k->params == NULL) {
        complain(c, "out of memory");
        return EXIT_RUNTIME;
    }
    for (char *line = k->text, *next; *line; line = next) {
        char *parts[5];
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        uint32_t count = cut_line(line, parts, 5);
        if (count == 2 && strcmp(parts[0], "wrong") == 0) {
            complain(c, "'%.300s': %s", c->program, parts[1]);
            return EXIT_USAGE;
        }
        if (!take_line(k, parts, count)) {
            complain(c, "'%.300s': cannot read the list of its tests: '%.100s'", c->program, line);
            return EXIT_USAGE;
        }
    }
    return 0;
}

int catalog_read(cli *c, catalog *k)
{
    rad_error error = {.code = 0};
    *k = (catalog){.text = NULL};
    if (!has_tests) return 0;
    int status = rad__under_test_catalog(&k->text, &error) == 0 ? read_lines(c, k) : complain_error(c, &error);
    if (status != 0) catalog_free(k);
    return status;
}

void catalog_free(catalog *k)
{
    rad__free(k->tests);
    rad__free(k->goals);
    rad__free(k->params);
    rad__free(k->text);
    *k = (catalog){.text = NULL};
}
