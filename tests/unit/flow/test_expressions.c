/* test_expressions.c — what expressions mean, and when they fail. Machine and reference interpreter agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedules.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

#define LARGEST "9223372036854775807"
#define LEAST   "(-" LARGEST " - 1)"

typedef struct row {
    const char *expression;
    const char *result; /* "7"; "! why" when it fails */
} row;

/* Of the type of `variable`. */
static void check(const char *variable, const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[600], expected[200];
        snprintf(text, sizeof text,
                 "flow f { data { n : int = 6  b : bool = true  t : text = \"p\\nq\" }\n"
                 "  set %s = %s }",
                 variable, rows[i].expression);
        if (rows[i].result[0] == '!')
            snprintf(expected, sizeof expected, "| failed (%s)", rows[i].result + 2);
        else
            snprintf(expected, sizeof expected, "| done %s=%s", variable, rows[i].result);
        bool fails = rows[i].result[0] == '!';
        flow_expect(&(flow_schedules){.text = text, .variable = fails ? NULL : variable},
                    (const char *const[]){expected, NULL});
    }
}

#define CHECK_ROWS(variable, rows) check((variable), (rows), sizeof(rows) / sizeof *(rows))

static void numbers(void **state)
{
    (void)state;
    static const row rows[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"10 - 3 - 2", "5"},
        {"-n + 1", "-5"},
        {"-(-n)", "6"},
        {"7 / 2", "3"},
        {"-7 / 2", "-3"},
        {"7 % 3", "1"},
        {"-7 % 3", "-1"},
        {"7 % -3", "1"},
        {LEAST " / 2", "-4611686018427387904"},
        {LEAST " % 2", "0"},
        {"n / 0", "! division by zero"},
        {"n % 0", "! division by zero"},
        {LARGEST, LARGEST},
        {LEAST, "-9223372036854775808"},
        {LARGEST " + 1", "! the number is too large"},
        {LEAST " - 1", "! the number is too large"},
        {LARGEST " * 2", "! the number is too large"},
        {LEAST " / -1", "! the number is too large"},
        {LEAST " % -1", "! the number is too large"},
        {"-" LEAST, "! the number is too large"},
    };
    CHECK_ROWS("n", rows);
}

static void truths(void **state)
{
    (void)state;
    static const row rows[] = {
        {"n == 6", "true"},
        {"n != 6", "false"},
        {"n < 6", "false"},
        {"n <= 6", "true"},
        {"n > 5", "true"},
        {"n >= 7", "false"},
        {"not b", "false"},
        {"b == true", "true"},
        {"b != true", "false"},
        {"false or b and false", "false"},
        {"true or b and false", "true"},
        {"not b or b", "true"},
        {"\"a\" < \"b\"", "true"},
        {"\"a\" < \"a\"", "false"},
        {"\"a\" <= \"a\"", "true"},
        {"\"a\" < \"ab\"", "true"},
        {"\"ab\" > \"a\"", "true"},
        {"\"b\" > \"ab\"", "true"},
        {"\"Z\" < \"a\"", "true"},
        {"\"\" < \"a\"", "true"},
        {"\"\xc3\xa4\" > \"z\"", "true"}, /* bytes, without signs */
        {"t == \"p\\nq\"", "true"},
        {"t != \"p\\nq\"", "false"},
        /* The second side is not looked at when the first decides. */
        {"false and 1 / 0 == 1", "false"},
        {"true or 1 / 0 == 1", "true"},
        {"true and 1 / 0 == 1", "! division by zero"},
        {"false or 1 / 0 == 1", "! division by zero"},
        {"1 / 0 == 1 and false", "! division by zero"},
    };
    CHECK_ROWS("b", rows);
}

static void texts(void **state)
{
    (void)state;
    static const row rows[] = {
        {"t + \"!\"", "p\nq!"},
        {"\"\" + \"\"", ""},
        {"\"a\" + \"b\" + \"c\"", "abc"},
        {"text(n)", "6"},
        {"text(-n)", "-6"},
        {"text(b)", "true"},
        {"text(not b)", "false"},
        {"line(t, 0)", "p"},
        {"line(t, 1)", "q"},
        {"line(t, 2)", "! there is no such line"},
        {"line(t, -1)", "! there is no such line"},
        {"line(\"a\\n\", 0)", "a"},
        {"line(\"a\\n\", 1)", "! there is no such line"},
        {"line(\"\\nb\", 0)", ""},
        {"line(\"\", 0)", "! there is no such line"},
        {"\"tab\\tquote\\\"back\\\\\"", "tab\tquote\"back\\"},
    };
    CHECK_ROWS("t", rows);
}

static void numbers_of_texts(void **state)
{
    (void)state;
    static const row rows[] = {
        {"lines(t)", "2"},
        {"lines(\"\")", "0"},
        {"lines(\"a\")", "1"},
        {"lines(\"a\\n\")", "1"},
        {"lines(\"\\n\\n\")", "2"},
        {"length(t)", "3"},
        {"length(\"\")", "0"},
        {"length(\"\xc3\xa4\")", "2"},
        {"number(\"12\")", "12"},
        {"number(\"-12\")", "-12"},
        {"number(\"007\")", "7"},
        {"number(\"-9223372036854775808\")", "-9223372036854775808"},
        {"number(\"9223372036854775807\")", LARGEST},
        {"number(\"9223372036854775808\")", "! the text is not a number"},
        {"number(\"-9223372036854775809\")", "! the text is not a number"},
        {"number(\"99999999999999999999\")", "! the text is not a number"},
        {"number(\"\")", "! the text is not a number"},
        {"number(\"-\")", "! the text is not a number"},
        {"number(\"1x\")", "! the text is not a number"},
        {"number(\" 1\")", "! the text is not a number"},
        {"number(\"+1\")", "! the text is not a number"},
        {"number(line(\"4\\n5\", 1)) + 1", "6"},
    };
    CHECK_ROWS("n", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(truths),
        cmocka_unit_test(texts),
        cmocka_unit_test(numbers_of_texts),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
