/* test_docs.c — docs/flow*.md: every flow and pattern is read, and the error that is quoted is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tree_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page(const char *name)
{
    const char *root = getenv("RADDLE_SRC");
    char path[512];
    snprintf(path, sizeof path, "%s/docs/%s", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot read %s", path);
    char *text = calloc(1, 1 << 20);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    assert_in_range(size, 1000, (1 << 20) - 2);
    fclose(file);
    return text;
}

static void read_flows(const char *name, uint32_t expected)
{
    char *text = page(name);
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, "```flow\n")) != NULL; count++) {
        at += strlen("```flow\n");
        const char *end = strstr(at, "\n```");
        assert_non_null(end);
        rad_flow_file file;
        flow_tree_read(&file, at, (size_t)(end - at));
        rad__flow_file_free(&file);
        at = end;
    }
    assert_int_equal(count, expected);
    free(text);
}

static void every_flow_of_the_pages_is_read(void **state)
{
    (void)state;
    read_flows("flow.md", 3);
    read_flows("flow-reference.md", 5);
}

/* The first `…` of a row of the table, in a flow that has what patterns need. */
static bool read_pattern(const char *row, const char *end)
{
    const char *begin = memchr(row, '`', (size_t)(end - row));
    if (begin == NULL) return false;
    const char *close = memchr(begin + 1, '`', (size_t)(end - begin - 1));
    assert_non_null(close);
    char flow[1000];
    int length = snprintf(flow, sizeof flow,
                          "flow f { data { x : bool y : bool n : int } task a { run \"a\" } task b { run "
                          "\"b\" } task c { run \"c\" } task d { run \"d\" }\n%.*s }",
                          (int)(close - begin - 1), begin + 1);
    rad_flow_file file;
    flow_tree_read(&file, flow, (size_t)length);
    rad__flow_file_free(&file);
    return true;
}

/* All 43, in order; those that are not supported say so. */
static void every_pattern_is_read_or_refused(void **state)
{
    (void)state;
    char *text = page("flow-patterns.md");
    uint32_t supported = 0;
    for (uint32_t number = 1; number <= 43; number++) {
        char begin[16];
        snprintf(begin, sizeof begin, "\n| %u | ", number);
        const char *row = strstr(text, begin);
        if (row == NULL) fail_msg("pattern %u is not there", number);
        row += strlen(begin);
        const char *end = strchr(row, '\n'), *no = strstr(row, "| not supported: ");
        bool refused = no != NULL && no < end;
        bool expected = number == 10 || number == 22 || number == 33 || number == 38;
        assert_int_equal(refused, expected);
        if (!refused) assert_true(read_pattern(row, end));
        supported += !refused;
    }
    assert_int_equal(supported, 39);
    free(text);
}

/* The example with a mistake in line 13. */
static void the_mistake_is_told_as_it_says(void **state)
{
    (void)state;
    char *reference = page("flow-reference.md"), *text = page("flow.md");
    assert_non_null(strstr(reference, "\norder.flow:13:12: there is no task 'shipp'; did you mean 'ship'?\n"));
    char *flow = strstr(text, "```flow\n") + strlen("```flow\n");
    char *end = strstr(flow, "\n```");
    char wrong[4000];
    char *ship = strstr(flow, "do ship\n");
    assert_true(ship != NULL && ship < end);
    snprintf(wrong, sizeof wrong, "%.*sdo shipp\n%.*s", (int)(ship - flow), flow, (int)(end - ship - 8), ship + 8);
    rad_flow_file file;
    rad_error error = {0};
    assert_int_equal(rad__flow_read(&file, "order.flow", wrong, strlen(wrong), &error), 0);
    assert_int_equal(rad__flow_resolve(&file, &error), RAD_EINPUT);
    rad__flow_file_free(&file);
    char said[600];
    snprintf(said, sizeof said, "\n%s\n", error.text);
    if (strstr(reference, said) == NULL) fail_msg("the page does not say %s", error.text);
    free(reference);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flow_of_the_pages_is_read),
        cmocka_unit_test(every_pattern_is_read_or_refused),
        cmocka_unit_test(the_mistake_is_told_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
