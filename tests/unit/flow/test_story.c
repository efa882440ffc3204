/* test_story.c — cases to look at: each step again, pictures, and what has changed in a flow since its case was
 * begun. Looking changes nothing, and says what it cannot see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/flow.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "flow/run/run.h"
#include "os/file.h"
#include "run_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Differences ------------------------------------------------------------------------------------------------- */

enum { LINES = 7 };

static void expect_difference(const char *old, const char *new, const char *expected)
{
    char *text = rad__flow_difference(old, strlen(old), new, strlen(new));
    assert_non_null(text);
    assert_string_equal(text, expected);
    rad__free(text);
}

static void changes_are_told_line_by_line(void **state)
{
    (void)state;
    expect_difference("", "", "");
    expect_difference("a\nb\n", "a\nb\n", "");
    expect_difference("a\nb", "a\nb\n", ""); /* the last line may end or not */
    expect_difference("", "a\n", "+    1  a\n");
    expect_difference("a\n", "", "-    1  a\n");
    expect_difference("a\nb\nc\n", "a\nx\nc\n", "-    2  b\n+    2  x\n");
    expect_difference("a\nc\n", "a\nb\nc\n", "+    2  b\n");
    expect_difference("a\na\n", "a\n", "-    2  a\n");
    expect_difference("a\nab\n", "a\nac\n", "-    2  ab\n+    2  ac\n");
    expect_difference("a\nb\nc\nd\n", "x\nb\ny\nc\nz\n", "-    1  a\n+    1  x\n+    3  y\n-    4  d\n+    5  z\n");
}

/* The most lines two short texts have in common, by trying. */
static uint32_t most_common(const char *a, const char *b)
{
    if (*a == 0 || *b == 0) return 0;
    uint32_t left = most_common(a + 1, b), right = most_common(a, b + 1);
    uint32_t both = *a == *b ? 1 + most_common(a + 1, b + 1) : 0;
    uint32_t most = left > right ? left : right;
    return both > most ? both : most;
}

static void spread(char *text, const char *letters)
{
    for (; *letters != 0; letters++, text += 2) memcpy(text, (char[]){*letters, '\n'}, 2);
    *text = 0;
}

/* No more is told than has changed: what is left of both when it is taken away is the same. */
static void no_more_is_told_than_has_changed(void **state)
{
    (void)state;
    rad_prng prng = rad__prng(5, (enum rad_stream)0, 0);
    for (uint32_t round = 0; round < 3000; round++) {
        char sides[2][LINES + 1] = {{0}}, texts[2][2 * LINES + 1], left[2][LINES + 1];
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t count = (uint32_t)rad__prng_below(&prng, LINES + 1);
            for (uint32_t i = 0; i < count; i++) sides[side][i] = (char)('a' + rad__prng_below(&prng, 3));
            spread(texts[side], sides[side]);
            memcpy(left[side], sides[side], sizeof left[side]);
        }
        char *told = rad__flow_difference(texts[0], strlen(texts[0]), texts[1], strlen(texts[1]));
        uint32_t count = 0;
        for (char *line = told; *line != 0; line = strchr(line, '\n') + 1, count++) {
            uint32_t side = line[0] == '+', at = (uint32_t)strtoul(line + 1, NULL, 10) - 1;
            assert_true(line[0] == '+' || line[0] == '-');
            assert_int_equal(line[8], sides[side][at]);
            left[side][at] = ' ';
        }
        assert_int_equal(count, strlen(sides[0]) + strlen(sides[1]) - 2 * most_common(sides[0], sides[1]));
        for (uint32_t i = 0, k = 0; left[0][i] != 0 || left[1][k] != 0; i++, k++) {
            while (left[0][i] == ' ') i++;
            while (left[1][k] == ' ') k++;
            assert_int_equal(left[0][i], left[1][k]);
            if (left[0][i] == 0) break;
        }
        rad__free(told);
    }
}

/* Of what is too long to be compared well everything is told, the old before the new. */
static void long_texts_are_told_whole(void **state)
{
    (void)state;
    enum { COUNT = 2500 };
    static char old[COUNT * 8], new[COUNT * 8];
    size_t a = 0, b = 0;
    for (int i = 0; i < COUNT; i++) {
        a += (size_t)snprintf(old + a, sizeof old - a, "%d\n", i);
        b += (size_t)snprintf(new + b, sizeof new - b, "%d\n", i == 0 ? -1 : i == COUNT - 1 ? -2 : i);
    }
    char *told = rad__flow_difference(old, a, new, b);
    assert_non_null(told);
    assert_int_equal(strncmp(told, "-    1  0\n-    2  1\n", 20), 0);
    uint32_t lines = 0, old_behind_new = 0;
    bool is_new = false;
    for (char *line = told; *line != 0; line = strchr(line, '\n') + 1, lines++) {
        old_behind_new += is_new && line[0] == '-';
        is_new |= line[0] == '+';
    }
    assert_int_equal(lines, 2 * COUNT);
    assert_int_equal(old_behind_new, 0);
    rad__free(told);
}

/* ---- A case ------------------------------------------------------------------------------------------------------ */

static const char TEXT[] = "flow f { data { n : text  m : int } task a { run \"echo x\" capture n }\n"
                           "task b { run \"true\" } do a many 2 as k { do b } }";

static void a_case_is_seen_again_as_it_went(void **state)
{
    (void)state;
    rad_flow_result r = flow_run(TEXT);
    rad_flow_replayed again;
    rad_error error = {0};
    char *steps = NULL;
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    assert_int_equal(rad_flow_replay(flow_folder, &again, &steps, &error), 0);
    assert_true(again.as_recorded);
    assert_string_equal(again.reason, "");
    assert_string_equal(again.state, "done");
    assert_int_equal(again.steps, r.steps);
    assert_int_equal(again.inputs, 3);
    assert_string_equal(again.digest, r.digest);
    uint64_t lines = 0;
    for (const char *at = steps; (at = strchr(at, '\n')) != NULL; at++) lines++;
    assert_true(lines >= r.steps);
    rad_free(steps);
    assert_int_equal(rad_flow_replay(flow_folder, &again, NULL, &error), 0);
    assert_string_equal(again.digest, r.digest);
}

static void expect_no_case(const char *folder, const char *words)
{
    rad_flow_replayed again;
    rad_error error = {0};
    char *text = (char *)(uintptr_t)1;
    flow_expect_refused(rad_flow_replay(folder, &again, &text, &error), &error, RAD_EINPUT, words);
    assert_null(text);
    text = (char *)(uintptr_t)1;
    flow_expect_refused(rad_flow_draw_case(folder, &text, &error), &error, RAD_EINPUT, words);
    assert_null(text);
}

static void what_is_no_case_is_not_shown(void **state)
{
    (void)state;
    char name[5000];
    rad_error error = {0};
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    expect_no_case("flow_made/none", "flow_made/none: holds no execution (no journal)");
    expect_no_case(name, "xxx");
    flow_run(TEXT);
    assert_int_equal(rad_flow_keep("flow_case/flow", "flow f { do", &error), 0);
    expect_no_case(flow_folder, "flow_case/flow:1:");
    assert_int_equal(rad_flow_keep("flow_case/journal", "x", &error), 0);
    expect_no_case(flow_folder, "flow_case/journal");
}

static void pictures_show_what_was_gone_through(void **state)
{
    (void)state;
    rad_flow *f = flow_parsed(TEXT);
    rad_error error = {0};
    char *plain = NULL, *of_case = NULL;
    flow_run(TEXT);
    assert_int_equal(rad_flow_draw(f, &plain, &error), 0);
    assert_int_equal(rad_flow_draw_case(flow_folder, &of_case, &error), 0);
    assert_non_null(strstr(plain, "<svg"));
    assert_non_null(strstr(of_case, "<svg"));
    assert_string_not_equal(plain, of_case);
    rad_free(plain);
    rad_free(of_case);
    rad_flow_free(f);
}

static void a_flow_says_what_is_in_it(void **state)
{
    (void)state;
    rad_flow *f = flow_parsed(TEXT);
    rad_flow_facts facts;
    rad_flow_look_at(f, &facts);
    assert_string_equal(facts.about, "");
    assert_int_equal(strlen(facts.sha256), 64);
    assert_int_equal(facts.tasks, 2);
    assert_int_equal(facts.data, 2); /* k is its own */
    assert_int_equal(facts.signals, 0);
    assert_true(facts.statements > 0 && facts.operations > 0);
    rad_flow_free(f);
}

static void changes_since_the_beginning_are_told(void **state)
{
    (void)state;
    static const char now[] = "flow f { data { n : text  m : int } task a { run \"echo x\" capture n }\n"
                              "task b { run \"false\" } do a many 2 as k { do b } }";
    rad_flow *same = flow_parsed(TEXT), *other = flow_parsed(now);
    rad_error error = {0};
    char *text = NULL;
    int code = rad_flow_changes(same, flow_folder, &text, &error);
    flow_expect_refused(code, &error, RAD_EINPUT, "flow_case: holds no execution (no journal)");
    assert_null(text);
    flow_run(TEXT);
    assert_int_equal(rad_flow_changes(same, flow_folder, &text, &error), 0);
    assert_string_equal(text, "");
    rad_free(text);
    assert_int_equal(rad_flow_changes(other, flow_folder, &text, &error), 0);
    assert_non_null(strstr(text, "-    2  task b { run \"true\" }"));
    assert_non_null(strstr(text, "+    2  task b { run \"false\" }"));
    rad_free(text);
    rad_flow_free(same);
    rad_flow_free(other);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Each of them, with every allocation from the n-th on failing; the code. */
static int look(const rad_flow *f, uint32_t which, uint64_t n)
{
    rad_flow_replayed again;
    rad_flow_status s;
    rad_error error = {0};
    char *text = NULL;
    int code = 0;
    rad__alloc_fail_at(n);
    switch (which) {
    case 0: code = rad_flow_replay(flow_folder, &again, &text, &error); break;
    case 1: code = rad_flow_draw_case(flow_folder, &text, &error); break;
    case 2: code = rad_flow_draw(f, &text, &error); break;
    case 3: code = rad_flow_changes(f, flow_folder, &text, &error); break;
    case 4: code = rad_flow_logs(flow_folder, NULL, &text, &error); break;
    default:
        code = rad_flow_look(&s, flow_folder, &error);
        rad__alloc_fail_at(0);
        rad_flow_status_free(&s);
        break;
    }
    rad__alloc_fail_at(0);
    if (which < 5 && code == 0) assert_non_null(text);
    if (code != 0) assert_null(text);
    rad_free(text);
    return code;
}

static void looking_without_memory_says_so(void **state)
{
    (void)state;
    rad_flow *f = flow_parsed(TEXT);
    flow_run(TEXT);
    for (uint32_t which = 0; which < 6; which++) {
        uint64_t n = 1;
        int code;
        while ((code = look(f, which, n)) == RAD_ENOMEM) n++;
        assert_int_equal(code, 0);
        assert_true(n > 3);
    }
    rad_flow_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_told_line_by_line),
        cmocka_unit_test(no_more_is_told_than_has_changed),
        cmocka_unit_test(long_texts_are_told_whole),
        cmocka_unit_test_setup(a_case_is_seen_again_as_it_went, flow_fresh),
        cmocka_unit_test_setup(what_is_no_case_is_not_shown, flow_fresh),
        cmocka_unit_test_setup(pictures_show_what_was_gone_through, flow_fresh),
        cmocka_unit_test_setup(a_flow_says_what_is_in_it, flow_fresh),
        cmocka_unit_test_setup(changes_since_the_beginning_are_told, flow_fresh),
        cmocka_unit_test_setup(looking_without_memory_says_so, flow_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
