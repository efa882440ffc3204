/* test_refused.c — flow files at the edge of what is right: good ones are not refused, bad ones are, the first
 * mistake is the one that is told, the nearest name is suggested. See also test_syntax_errors.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_support.h"
#include "tree_support.h"

#include <stdio.h>
#include <string.h>

#define DATA(body) "flow f { finish data {\n" body "\n} }"
#define TASK(body) "flow f { finish data { n : int b : bool t : text } task build {\n" body "\n} }"
#define HERE       "expected a statement, 'data', 'task' or '}', found "

/* ---- What belongs to something else ------------------------------------------------------------------- */

static void parts_of_one_statement_are_no_parts_of_another(void **state)
{
    (void)state;
    static const flow_mistake some[] = {
        {IN_FLOW("par { } and { } join all 2"), "test:2:26: " HERE "'2'"},
        {IN_FLOW("par { } and { } join sync 1"), "test:2:27: " HERE "'1'"},
        {IN_FLOW("reach m else { }"), "test:2:9: " HERE "'else'"},
        {IN_FLOW("do build else { }"), "test:2:10: " HERE "'else'"},
        {IN_FLOW("wait fresh 5s"), "test:2:12: expected 'signal', found '5'"},
        {IN_FLOW("many not b { }"), "test:2:6: expected an int behind 'many', found a bool"},
        {IN_FLOW("many n and b { }"), "test:2:6: expected a bool before 'and', found an int"},
        {IN_FLOW("many n or b { }"), "test:2:6: expected a bool before 'or', found an int"},
        {IN_FLOW("many pool \"x\" { }"), "test:2:11: expected an int behind 'many', found a text"},
        {IN_FLOW("set n = n + { }"), "test:2:13: expected an expression, found '{'"},
        {IN_FLOW("set b = b and { }"), "test:2:15: expected an expression, found '{'"},
        {DATA("x : int = merge sum"), "test:2:11: expected a constant: a number, true, false or a text, found 'merge'"},
        {DATA("x : int = in { 1 }"), "test:2:11: expected a constant: a number, true, false or a text, found 'in'"},
        {DATA("x : int merge in { 1 }"),
         "test:2:15: expected a rule: sum, max, min (int), and, or (bool), append (text), first "
         "or last, found 'in'"},
        {IN_FLOW("region r { } on failure { } on failure into t { } on failure { }"),
         "test:2:29: 'on failure' is given twice"},
    };
    FLOW_MISTAKES(some);
}

/* ---- The first mistake ------------------------------------------------------------------- */

/* What follows from it, or just follows, is not told instead. */
static void of_two_mistakes_the_first_is_told(void **state)
{
    (void)state;
    static const flow_mistake some[] = {
        {IN_FLOW("do bild\ndo biuld"), "test:2:4: there is no task 'bild'; did you mean 'build'?"},
        {IN_FLOW("set n = b + t"), "test:2:9: expected an int or a text before '+', found a bool"},
        {IN_FLOW("set n = m + k"), "test:2:9: there is no variable 'm'"},
        {IN_FLOW("set m = k"), "test:2:5: there is no variable 'm'"},
        {IN_FLOW("par { do x } and { do y }"), "test:2:10: there is no task 'x'"},
        {IN_FLOW("region r { do x } on cancel { do y } on failure { do z }"), "test:2:15: there is no task 'x'"},
        {IN_FLOW("region r { } on cancel { do y } on failure into m { do z }"), "test:2:29: there is no task 'y'"},
        {IN_FLOW("region r { } region r { } many 2 as n { }"), "test:2:21: there is a region 'r' already"},
        {IN_FLOW("many b as i { do x }"), "test:2:6: expected an int behind 'many', found a bool"},
        {IN_FLOW("many over n as RADDLE_X { do x }"),
         "test:2:16: 'RADDLE_X': variables that begin with RADDLE_ are set by the runner"},
        {IN_FLOW("or { when true { } } join all do x"),
         "test:2:27: an or has no join all: join sync waits for those that were begun"},
        {IN_FLOW("while n { do x }"), "test:2:7: expected a bool behind 'while', found an int"},
        {DATA("x : int\nx : bool\nx : text"), "test:3:1: there is a variable 'x' already, in line 2"},
        {DATA("RADDLE_A : int\nRADDLE_A : bool"),
         "test:2:1: 'RADDLE_A': variables that begin with RADDLE_ are set by the runner"},
        {TASK("call \"x\" capture t exit n dir \"d\""),
         "test:2:18: 'capture' is for commands: a function has 'writes'"},
        {TASK("call \"x\" reads k, m writes i"), "test:2:16: there is no variable 'k'"},
        {TASK("run \"x\" capture k exit m"), "test:2:17: there is no variable 'k'"},
        {TASK("run \"x\" exit b capture b"), "test:2:14: expected an int behind 'exit': 'b' is a bool"},
        {TASK("run \"x\" writes n, b"),
         "test:2:16: a command writes only what it captures, and its exit: 'n' is neither"},
        {"flow f { do x }\nflow g { do y }", "test:1:13: there is no task 'x'"},
        {"flow f { finish task a { run \"x\" } task a { run \"y\" }\ntask a { run \"z\" } }",
         "test:1:41: there is a task 'a' already, in line 1"},
    };
    FLOW_MISTAKES(some);
}

/* ---- Good ones ------------------------------------------------------------------- */

static void check_told(const char *text, const char *tree)
{
    rad_flow_file file;
    rad_bytes out = {0};
    rad_flow_tree *last;
    flow_tree_read(&file, text, strlen(text));
    assert_int_equal(rad__flow_find(&file, NULL, &last, NULL), 0);
    flow_tree_tell(&out, &file, last);
    assert_string_equal((char *)out.data, tree);
    rad__bytes_free(&out);
    rad__flow_file_free(&file);
}

/* The name of a function is a name, too, unless a parenthesis follows. */
static void a_many_may_be_called_like_a_function(void **state)
{
    (void)state;
    check_told(IN_FLOW("many length 3 up to 4 { more length }"),
               "1 many length 3 up to 4 {2 more length of 1} join all");
}

static void the_largest_that_is_allowed_is_allowed(void **state)
{
    (void)state;
    check_told(IN_FLOW("many 3 up to 1000000 { } many 3 up to 1 { }"),
               "1 many 3 up to 1000000 {} join all, 2 many 3 up to 1 {} join all");
    check_told(IN_FLOW("many 3 { } join any 1000000 wait 106751d"),
               "1 many 3 {} join any 1000000, 2 defer timer 9223286400000000000");
}

/* Parentheses that are closed are no nesting, however many there are. */
static void parentheses_side_by_side_are_not_deep(void **state)
{
    rad_bytes text = {0};
    rad_flow_file file;
    (void)state;
    rad__bytes_format(&text, "flow f { data { n : int }\n");
    for (uint32_t i = 0; i < RAD_FLOW_NESTING_MAX + 50; i++)
        rad__bytes_format(&text, i % 2 == 0 ? "set n = (1)\n" : "set n = -(n)\n");
    rad__bytes_format(&text, "}");
    flow_tree_read(&file, (char *)text.data, text.size);
    assert_int_equal(file.flows->statement_count, RAD_FLOW_NESTING_MAX + 50);
    rad__flow_file_free(&file);
    rad__bytes_free(&text);
}

/* Sums inside the right side of sums: each is short, but one hangs below the other. */
static rad_bytes flow_of_sums(uint32_t levels, uint32_t terms)
{
    rad_bytes text = {0};
    rad__bytes_format(&text, "flow f { data { n : int } set n = ");
    for (uint32_t i = 0; i < levels; i++) rad__bytes_format(&text, "1 + (");
    rad__bytes_format(&text, "1");
    for (uint32_t i = 0; i < levels; i++) {
        rad__bytes_format(&text, ")");
        for (uint32_t k = 1; k < terms; k++) rad__bytes_format(&text, " + 1");
    }
    rad__bytes_format(&text, " }");
    return text;
}

static void expressions_are_as_deep_as_their_deepest_side(void **state)
{
    rad_flow_file file;
    rad_error error = {0};
    (void)state;
    rad_bytes text = flow_of_sums(20, RAD_FLOW_NESTING_MAX / 20);
    flow_tree_read(&file, (char *)text.data, text.size);
    assert_int_equal(file.flows->body.first->expr->depth, RAD_FLOW_NESTING_MAX);
    rad__flow_file_free(&file);
    rad__bytes_free(&text);
    text = flow_of_sums(2, 1);
    flow_tree_read(&file, (char *)text.data, text.size);
    assert_int_equal(file.flows->body.first->expr->depth, 2);
    rad__flow_file_free(&file);
    rad__bytes_free(&text);
    text = flow_of_sums(20, RAD_FLOW_NESTING_MAX / 20 + 1);
    int status = rad__flow_read(&file, "test", (char *)text.data, text.size, &error);
    assert_int_equal(status, RAD_EINPUT);
    assert_non_null(strstr(error.text, "the expression is more than 200 levels deep"));
    rad__flow_file_free(&file);
    rad__bytes_free(&text);
}

/* ---- Several flows in one file ------------------------------------------------------------------- */

static void assert_names(const rad_flow_file *file, const uint32_t *names, uint32_t count, const char *only)
{
    assert_int_equal(count, 1);
    assert_string_equal(rad__flow_name(file, names[0]), only);
}

static void what_one_flow_names_is_unknown_in_the_next(void **state)
{
    static const char text[] = "flow one { region r { } reach m lock l { } wait signal s }\n"
                               "flow two { region q { } reach n lock k { } wait signal t }\n"
                               "flow three { finish }";
    rad_flow_file file;
    (void)state;
    flow_tree_read(&file, text, strlen(text));
    const rad_flow_tree *one = file.flows, *two = one->next, *three = two->next;
    assert_names(&file, one->regions, one->region_count, "r");
    assert_names(&file, one->milestones, one->milestone_count, "m");
    assert_names(&file, one->locks, one->lock_count, "l");
    assert_names(&file, one->signals, one->signal_count, "s");
    assert_names(&file, two->regions, two->region_count, "q");
    assert_names(&file, two->milestones, two->milestone_count, "n");
    assert_names(&file, two->locks, two->lock_count, "k");
    assert_names(&file, two->signals, two->signal_count, "t");
    assert_int_equal(three->region_count + three->milestone_count, 0);
    assert_int_equal(three->lock_count + three->signal_count, 0);
    rad__flow_file_free(&file);
    static const char wrong[] = "flow one { region area { } }\nflow two { cancel region aera }";
    flow_tree_refused(wrong, strlen(wrong), "test:2:26: there is no region 'aera'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_one_statement_are_no_parts_of_another),
        cmocka_unit_test(of_two_mistakes_the_first_is_told),
        cmocka_unit_test(a_many_may_be_called_like_a_function),
        cmocka_unit_test(the_largest_that_is_allowed_is_allowed),
        cmocka_unit_test(parentheses_side_by_side_are_not_deep),
        cmocka_unit_test(expressions_are_as_deep_as_their_deepest_side),
        cmocka_unit_test(what_one_flow_names_is_unknown_in_the_next),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
