/* l2_support.h — what tests of L2 have in common: a case from words, and trying it out. */
#ifndef RAD_TESTS_L2_SUPPORT_H
#define RAD_TESTS_L2_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/l2/machine.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_missing(void)
{
    return rad__l2_machine(0) == NULL; /* a sanitizer's build; meson has said so */
}

static inline rad_target target_of(const char *words, bool repaired)
{
    rad_target t;
    rad_error error = {0};
    char name[64];
    size_t length = strcspn(words, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, words);
    if (rad_target_init(&t, name, &error) != 0) fail_msg("%s", error.text);
    if (words[length] && rad_target_set(&t, words + length + 1, &error) != 0) fail_msg("%s", error.text);
    t.c.repaired = repaired;
    return t;
}

static inline rad_exploration tried(const rad_target *t, const char *strategy, uint64_t runs, bool stops)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {
        .strategy = strategy, .runs = runs, .seed = 5, .jobs = getenv("TEST_LONG") ? 2 : 1, .stop_on_first = stops};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", t->machine->name, error.text);
    return e;
}

static inline rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs)
{
    return tried(t, strategy, runs, false);
}

/* The tests, or only the one that tools/planted.sh asks for. */
#define l2_run(tests)                                                                                                  \
    do {                                                                                                               \
        const char *only = getenv("TEST_ONLY");                                                                        \
        if (only && *only) cmocka_set_test_filter(only);                                                               \
        return cmocka_run_group_tests(tests, NULL, NULL);                                                              \
    } while (0)

#endif
