/* test_machines.c — the table of machines, and the words that make a target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/machines.h"

#include <string.h>

/* ---- The table -------------------------------------------------------------------------------------- */

static void the_table_is_in_order_and_complete(void **state)
{
    static const char *const names[] = {"counter",     "buffer", "buffer-if",       "philosophers", "locks",
                                        "event",       "aba",    "reorder",         "twostage",     "stringbuffer",
                                        "bluetooth",   "wsq",    "wsq-interlocked", "wsq-state",    "qsort-mt",
                                        "safestack",   "bank",   "program",         "crash",        "inc",
                                        "independent", "exec",   "session",         "load",         "load-scenario",
                                        "flow"};
    uint32_t count = sizeof names / sizeof *names;
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        assert_non_null(rad_machine_at(i));
        assert_string_equal(rad_machine_at(i)->name, names[i]);
        assert_ptr_equal(rad_machine_find(names[i]), rad_machine_at(i));
    }
    /* Then the models of L2, if this build has them. */
    while (rad_machine_at(count) && strncmp(rad_machine_at(count)->name, "l2-", 3) == 0) count++;
    assert_null(rad_machine_at(count));
    assert_null(rad_machine_at(UINT32_MAX));
    assert_null(rad_machine_find(""));
    assert_null(rad_machine_find("Counter"));
}

static int own_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)c;
    (void)error;
    *self = NULL;
    return 0;
}

static void own_destroy(void *self)
{
    (void)self;
}

static void own_reset(void *self, rad_kernel *k)
{
    (void)self;
    (void)k;
}

static void own_step(void *self, rad_kernel *k, uint32_t action)
{
    (void)self;
    (void)k;
    (void)action;
}

static enum rad_end own_idle(void *self, rad_kernel *k)
{
    (void)self;
    (void)k;
    return RAD_END_FINISHED;
}

static size_t own_save(const void *self, void *to)
{
    (void)self;
    (void)to;
    return 0;
}

static rad_machine own_machine(const char *name, const rad_param *params)
{
    return (rad_machine){
        .name = name,
        .about = "does nothing",
        .params = params,
        .create = own_create,
        .destroy = own_destroy,
        .reset = own_reset,
        .step = own_step,
        .idle = own_idle,
    };
}

static void machines_can_be_added(void **state)
{
    rad_machine a = own_machine("own", NULL), b = own_machine("other_2", NULL);
    rad_error error = {.code = 0};
    uint32_t count = 0;
    (void)state;
    while (rad_machine_at(count)) count++;
    assert_int_equal(rad_machine_add(&a, &error), 0);
    assert_int_equal(rad_machine_add(&b, &error), 0);
    assert_ptr_equal(rad_machine_at(count), &a);
    assert_ptr_equal(rad_machine_at(count + 1), &b);
    assert_null(rad_machine_at(count + 2));
    assert_ptr_equal(rad_machine_find("other_2"), &b);

    rad_target t;
    char text[40];
    assert_int_equal(rad_target_init(&t, "own", &error), 0);
    rad_target_text(&t, text, sizeof text);
    assert_string_equal(text, "own");
    assert_int_equal(rad_target_set(&t, "n=1", &error), RAD_EINPUT);
    assert_string_equal(error.text, "unknown parameter 'n'; own has: none");
    rad__machines_forget();
    assert_null(rad_machine_find("own"));
    assert_null(rad_machine_at(count));
}

static void an_added_machine_hides_one_of_its_name(void **state)
{
    rad_machine m = own_machine("counter", NULL);
    const rad_machine *shipped = rad_machine_find("counter");
    (void)state;
    assert_false(rad_machine_is_added(shipped));
    assert_int_equal(rad_machine_add(&m, NULL), 0);
    assert_ptr_equal(rad_machine_find("counter"), &m);
    assert_true(rad_machine_is_added(&m));
    assert_false(rad_machine_is_added(shipped));
    rad__machines_cut(0);
    assert_ptr_equal(rad_machine_find("counter"), shipped);
}

static void refuses(const rad_machine *m, const char *text)
{
    rad_error error = {.code = 0};
    assert_int_equal(rad_machine_add(m, &error), RAD_EINPUT);
    assert_string_equal(error.text, text);
}

static void bad_machines_are_refused(void **state)
{
    static const rad_param upside_down[] = {{"n", 5, 9, 1, "", false}, {.name = NULL}};
    static const rad_param outside[] = {{"n", 0, 1, 9, "", false}, {.name = NULL}};
    static const rad_param twice[] = {{"n", 1, 1, 9, "", false}, {"n", 1, 1, 9, "", false}, {.name = NULL}};
    static const rad_param unspeakable[] = {{"N!", 1, 1, 9, "", false}, {.name = NULL}};
    rad_param many[RAD_PARAMS_MAX + 2] = {0};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    (void)state;
    for (uint32_t i = 0; i <= RAD_PARAMS_MAX; i++) many[i].name = names[i];

    rad_machine first = own_machine("own", NULL), m = own_machine("own", NULL);
    assert_int_equal(rad_machine_add(&first, NULL), 0);
    refuses(&m, "there is a machine called own already");
    rad__machines_forget();
    m = own_machine("Own", NULL);
    refuses(&m, "machine \"Own\": a name is a-z, then a-z, 0-9, - or _, 40 characters at most");
    m = own_machine(NULL, NULL);
    refuses(&m, "machine \"\": a name is a-z, then a-z, 0-9, - or _, 40 characters at most");
    m = own_machine("own", NULL);
    m.idle = NULL;
    refuses(&m, "machine own: create, destroy, reset, step and idle are needed");
    m = own_machine("own", NULL);
    m.save = own_save;
    refuses(&m, "machine own: save and load go together");
    m = own_machine("own", upside_down);
    refuses(&m, "machine own: n: default 5 is not in 9 ... 1");
    m = own_machine("own", outside);
    refuses(&m, "machine own: n: default 0 is not in 1 ... 9");
    m = own_machine("own", twice);
    refuses(&m, "machine own: two parameters are called n");
    m = own_machine("own", unspeakable);
    refuses(&m, "machine own: parameter \"N!\": a name is a-z, then a-z, 0-9, - or _");
    m = own_machine("own", many);
    refuses(&m, "machine own: more than 8 parameters");

    rad_error error = {.code = 0};
    m = own_machine("own", NULL);
    rad__alloc_fail_at(1);
    assert_int_equal(rad_machine_add(&m, &error), RAD_ENOMEM);
    rad__alloc_fail_at(0);
    assert_null(rad_machine_find("own"));
}

/* ---- Targets ---------------------------------------------------------------------------------------- */

static void a_target_begins_with_the_defaults(void **state)
{
    rad_target t;
    rad_error error = {.code = 0};
    char text[100];
    (void)state;
    assert_int_equal(rad_target_init(&t, "buffer", &error), 0);
    assert_string_equal(t.machine->name, "buffer");
    assert_int_equal(t.c.params[0], 2);
    assert_int_equal(t.c.params[1], 2);
    assert_int_equal(t.c.params[2], 1);
    assert_int_equal(t.c.params[3], 1);
    assert_false(t.c.repaired);
    assert_int_equal(t.c.max_steps, 0);
    rad_target_text(&t, text, sizeof text);
    assert_string_equal(text, "buffer");

    assert_int_equal(rad_target_init(&t, "bufer", &error), RAD_EINPUT);
    assert_string_equal(error.text, "unknown machine 'bufer'; 'raddle list' shows all");
}

static void words_change_a_target(void **state)
{
    rad_target t;
    rad_error error = {.code = 0};
    char text[100];
    (void)state;
    assert_int_equal(rad_target_init(&t, "reorder", &error), 0);
    assert_int_equal(rad_target_set(&t, "n=10", &error), 0);
    rad_target_text(&t, text, sizeof text);
    assert_string_equal(text, "reorder n=10");
    assert_int_equal(rad_target_set(&t, " together=1  n=100 ", &error), 0);
    t.c.repaired = true;
    rad_target_text(&t, text, sizeof text);
    assert_string_equal(text, "reorder n=100 together=1 (fixed)");
    rad_target_text(&t, text, 10);
    assert_string_equal(text, "reorder n");
    rad_target_text(&t, text, 1);
    assert_string_equal(text, "");
    text[0] = 'x';
    rad_target_text(&t, text, 0);
    assert_int_equal(text[0], 'x');
}

static void bad_words_are_refused_exactly(void **state)
{
    static const char *const cases[][2] = {
        {"n=abc", "n=abc: not a whole number; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=", "n=: not a whole number; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=-", "n=-: not a whole number; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=+4", "n=+4: not a whole number; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=5x", "n=5x: not a whole number; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=0x5", "n=0x5: not a whole number; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=2", "n=2: out of range; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=-5", "n=-5: out of range; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=101", "n=101: out of range; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
        {"n=99999999999999999999", "n=99999999999999999999: out of range; n of reorder is 3 ... 100 "
                                   "(threads: setters, then checkers)"},
        {"m=4", "unknown parameter 'm'; reorder has: n, together, checkers"},
        {"N=4", "unknown parameter 'N'; reorder has: n, together, checkers"},
        {"nn=4", "unknown parameter 'nn'; reorder has: n, together, checkers"},
        {"n", "n: expected NAME=NUMBER"},
        {"=4", "=4: expected NAME=NUMBER"},
        {"", "\"\": expected NAME=NUMBER"},
        {"  ", "\"\": expected NAME=NUMBER"},
        {"n=4 n=5", "n=5: n is given twice"},
        {"together=1 n=2", "n=2: out of range; n of reorder is 3 ... 100 (threads: setters, then checkers)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rad_target t;
        rad_error error = {.code = 0};
        assert_int_equal(rad_target_init(&t, "reorder", &error), 0);
        assert_int_equal(rad_target_set(&t, cases[i][0], &error), RAD_EINPUT);
        assert_string_equal(error.text, cases[i][1]);
        assert_int_equal(t.c.params[0], 3); /* as before */
        assert_int_equal(t.c.params[1], 0);
    }
}

static void cases_from_files_are_checked(void **state)
{
    rad_target t;
    rad_error error = {.code = 0};
    (void)state;
    assert_int_equal(rad_target_init(&t, "twostage", &error), 0);
    assert_int_equal(rad__target_check(&t, &error), 0);
    t.c.params[0] = 201;
    assert_int_equal(rad__target_check(&t, &error), RAD_EINPUT);
    assert_string_equal(error.text, "n=201: out of range; n of twostage is 2 ... 200 "
                                    "(threads: writers, then readers)");
    assert_int_equal(rad__machine_param_count(t.machine), 4);
    assert_int_equal(rad__machine_param(t.machine, "together", 8), 1);
    assert_int_equal(rad__machine_param(t.machine, "together", 4), RAD_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_in_order_and_complete),     cmocka_unit_test(machines_can_be_added),
        cmocka_unit_test(an_added_machine_hides_one_of_its_name), cmocka_unit_test(bad_machines_are_refused),
        cmocka_unit_test(a_target_begins_with_the_defaults),      cmocka_unit_test(words_change_a_target),
        cmocka_unit_test(bad_words_are_refused_exactly),          cmocka_unit_test(cases_from_files_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
