/* test_suggest.c — what was probably meant: how far a name may be off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/suggest.h"

#include <string.h>

static const char *suggested(const char *wanted, const char *const *names)
{
    rad_suggest near;
    rad__suggest_begin(&near, wanted, strlen(wanted));
    for (; *names != NULL; names++) rad__suggest_consider(&near, *names);
    return near.best != NULL ? near.best : "";
}

static void the_nearest_name_is_suggested(void **state)
{
    static const struct {
        const char *wanted, *names[4], *best;
    } all[] = {
        /* The nearest, and of equals the first. */
        {"build", {"bulldo", "build1", "builds"}, "build1"},
        {"build", {"build1", "builds", "bulldo"}, "build1"},
        /* It stands in the wrong place, that is all. */
        {"build", {"build"}, ""},
        /* Two mistakes in five letters, one in four, none in two. */
        {"bxxld", {"build"}, "build"},
        {"bxld", {"build"}, ""},
        {"bild", {"build"}, "build"},
        {"do", {"da"}, ""},
        /* To swap neighbours is one mistake; it is two when they are not just swapped. */
        {"ofr", {"for"}, "for"},
        {"fro", {"for"}, "for"},
        {"abc", {"xac"}, ""},
        {"abc", {"bxc"}, ""},
        {"abc", {"bac"}, "bac"},
        /* A third of a long word; what begins with a word of two letters. */
        {"execxxxx", {"executed"}, ""},
        {"exxxuted_", {"executed_"}, "executed_"},
        {"dur", {"vus", "durations"}, "durations"},
        {"d", {"durations"}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(suggested(all[i].wanted, all[i].names), all[i].best);
}

/* If none is near, all are named, as long as they fit into a line. */
static void all_names_are_listed_if_none_is_near(void **state)
{
    rad_suggest near;
    (void)state;
    rad__suggest_begin(&near, "zzz", 3);
    assert_string_equal(rad__suggest_or_all(&near), "");
    rad__suggest_consider(&near, "build");
    rad__suggest_consider(&near, "test");
    assert_string_equal(rad__suggest_or_all(&near), "; use build, test");
    for (int i = 0; i < 20; i++) rad__suggest_consider(&near, "long_enough");
    assert_string_equal(rad__suggest_or_all(&near), "");
    rad__suggest_begin(&near, "biuld", 5);
    rad__suggest_consider(&near, "build");
    assert_string_equal(rad__suggest_or_all(&near), "; did you mean 'build'?");
}

/* Names have 60 characters at most. What people ask for may have any number, and so may what others call something. */
static void long_names_are_suggested_and_longer_ones_are_not(void **state)
{
    char right[62], wrong[61], endless[4000];
    const char *const names[] = {right, NULL}, *const others[] = {endless, NULL};
    (void)state;
    memset(right, 'a', 60);
    right[60] = 0;
    memcpy(wrong, right, sizeof wrong);
    wrong[30] = 'b';
    memset(endless, 'a', sizeof endless);
    endless[sizeof endless - 1] = 0;
    assert_string_equal(suggested(wrong, names), right);
    assert_string_equal(suggested(endless, names), "");
    assert_string_equal(suggested(wrong, others), "");
    memcpy(right + 60, "a", 2);
    assert_string_equal(suggested(wrong, names), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_name_is_suggested),
        cmocka_unit_test(all_names_are_listed_if_none_is_near),
        cmocka_unit_test(long_names_are_suggested_and_longer_ones_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
