/* test_begin.c — how a case begins: with what it is given, under an id of its own, and in a folder in which nobody
 * else has anything of those names. Over the machine of double.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "double.h"

#include <stdio.h>
#include <string.h>

static const char TEXT[] = "flow f { data { n : int = 1  t : text } task a { run \"a\" } do a do a }";

static void write_file(double_world *w, const char *name, const char *text, size_t size)
{
    const rad_flow_host *h = double_other(w);
    rad_error error = {0};
    int file;
    assert_int_equal(h->create(h->context, &file, name, &error), 0);
    assert_int_equal(h->put(h->context, file, text, size, &error), 0);
    h->close(h->context, file);
}

/* A runner begins the case, and is stopped before anything else. */
static void begin_only(double_world *w, const rad_flow_program *p, rad_flow_run_options o)
{
    rad_flow_result result;
    rad_error error = {0};
    volatile int stop = 1;
    o.given.stop = &stop;
    assert_int_equal(rad__flow_run(double_runner(w), p, &o, &result, &error), 0);
    assert_int_equal(result.end, RAD_FLOW_END_INTERRUPTED);
}

/* What a case was given it has for ever, whoever goes on with it. */
static void settings_are_the_data_it_begins_with(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(TEXT);
    rad_flow_setting settings[] = {{"t", "five"}, {"n", "5"}};
    double_world *w = double_open(1);
    rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}}, plain = o;
    rad_flow_result result;
    rad_error error = {0};
    o.given.settings = settings;
    o.given.setting_count = 2;
    begin_only(w, p, o);
    assert_int_equal(rad__flow_resume(double_runner(w), p, &plain, &result, &error), 0);
    assert_int_equal(result.end, RAD_FLOW_END_DONE);
    assert_string_equal(double_environment(w, "a", "n"), "5");
    assert_string_equal(double_environment(w, "a", "t"), "five");
    double_close(w);
    rad__flow_program_free(p);
}

/* Nobody has to think of an id, and no two are the same. */
static void a_case_without_an_id_draws_one(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(TEXT);
    char ids[2][64];
    for (uint32_t i = 0; i < 2; i++) {
        double_world *w = double_open(1 + i);
        rad_flow_run_options o = {.given = {.jobs = 1}};
        rad_flow_result result;
        rad_error error = {0};
        assert_int_equal(rad__flow_run(double_runner(w), p, &o, &result, &error), 0);
        memcpy(ids[i], result.case_id, sizeof ids[i]);
        assert_int_equal(strlen(ids[i]), 16);
        assert_int_equal(strspn(ids[i], "0123456789abcdef"), 16);
        assert_string_equal(double_environment(w, "a", "RADDLE_CASE"), ids[i]);
        double_close(w);
    }
    assert_string_not_equal(ids[0], ids[1]);
    rad__flow_program_free(p);
}

/* Commands run where the case was begun, in the folder of their task; of a case that does not say where, as its
 * runner. */
static void commands_run_in_their_folder(void **state)
{
    (void)state;
    static const char *const folders[2][3] = {{"/there", "/there/sub/b", "/abs"}, {"", "sub/b", "/abs"}};
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } task b { run \"b\" dir \"sub/b\" }\n"
                                         "task c { run \"c\" dir \"/abs\" } do a do b do c }");
    for (uint32_t i = 0; i < 2; i++) {
        double_world *w = double_open(1);
        rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}};
        rad_flow_result result;
        rad_error error = {0};
        begin_only(w, p, o);
        if (i == 1) double_remove(w, "where");
        assert_int_equal(rad__flow_resume(double_runner(w), p, &o, &result, &error), 0);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_string_equal(double_folder(w, "a"), folders[i][0]);
        assert_string_equal(double_folder(w, "b"), folders[i][1]);
        assert_string_equal(double_folder(w, "c"), folders[i][2]);
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* ---- Files of others --------------------------------------------------------------------------------------------- */

/* A folder with that file in it: whether a case begins there. The file is left as it was, if not. */
static bool begins_beside(const char *name, const char *text, size_t size)
{
    rad_flow_program *p = double_program(TEXT);
    double_world *w = double_open(1);
    rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}};
    rad_flow_result result;
    rad_error error = {0}, expected = {0};
    write_file(w, name, text, size);
    int code = rad__flow_run(double_runner(w), p, &o, &result, &error);
    if (code != 0) {
        const rad_flow_host *h = double_other(w);
        char *data;
        size_t now;
        rad__error(&expected, RAD_EINPUT,
                   "the directory has a file \"%s\" that is not of this execution: name another one", name);
        assert_int_equal(code, RAD_EINPUT);
        assert_string_equal(error.text, expected.text);
        assert_int_equal(h->read(h->context, name, &data, &now, &error), 1);
        assert_int_equal(now, size);
        assert_memory_equal(data, text, size);
        rad_free(data);
        assert_false(double_has_file(w, "journal"));
        assert_int_equal(double_total(w), 0);
    }
    double_close(w);
    rad__flow_program_free(p);
    return code == 0;
}

static void files_of_others_are_left_alone(void **state)
{
    (void)state;
    char other[sizeof TEXT];
    memcpy(other, TEXT, sizeof other);
    other[sizeof other - 3] = '\n'; /* as long, and not the same */
    assert_false(begins_beside("flow", other, strlen(other)));
    assert_false(begins_beside("flow", TEXT, strlen(TEXT) - 1));
    assert_false(begins_beside("where", "/worl", 5));
    assert_false(begins_beside("where", "/wor", 4));
    assert_false(begins_beside("lock", "12a\n", 4));
    assert_false(begins_beside("lock", "-12\n", 4));
    assert_false(begins_beside("lock", ":", 1));
    assert_false(begins_beside("lock", "/", 1));
    assert_false(begins_beside("lock", "123456789012345678901234", 24));
    assert_true(begins_beside("flows", "x", 1));
}

/* What a runner has left that was killed while it made the folder is its own. */
static void what_was_left_of_a_beginning_is_no_hindrance(void **state)
{
    (void)state;
    assert_true(begins_beside("flow", TEXT, strlen(TEXT)));
    assert_true(begins_beside("where", "/there", 6));
    assert_true(begins_beside("lock", "", 0));
    assert_true(begins_beside("lock", "12\n", 3));
    assert_true(begins_beside("lock", "1", 1));
    assert_true(begins_beside("lock", "90\0\0", 4)); /* the power failed */
    assert_true(begins_beside("lock", "12345678901234567890123", 23));
}

static struct late {
    double_world *w;
    const rad_flow_program *p;
    int (*lock)(void *host, int file, rad_error *error);
} late;

/* Somebody else does a whole case before it gets the lock. */
static int lock_late(void *host, int file, rad_error *error)
{
    if (late.w != NULL) {
        rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "other"}};
        rad_flow_result result;
        rad_error own = {0};
        assert_int_equal(rad__flow_run(double_other(late.w), late.p, &o, &result, &own), 0);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        late.w = NULL;
    }
    return late.lock(host, file, error);
}

/* That there is no case is true only of who has the lock. */
static void a_case_that_came_meanwhile_is_left_alone(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(TEXT);
    double_world *w = double_open(1);
    rad_flow_host host = *double_runner(w);
    rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}};
    rad_flow_result result;
    rad_error error = {0};
    late = (struct late){w, p, host.lock};
    host.lock = lock_late;
    assert_int_equal(rad__flow_run(&host, p, &o, &result, &error), RAD_EINPUT);
    assert_string_equal(error.text, "holds an execution already: resume it, or name another directory");
    assert_int_equal(double_total(w), 2);
    double_close(w);
    rad__flow_program_free(p);
}

/* ---- Another flow ------------------------------------------------------------------------------------------------ */

/* The case goes by the hash: without a copy of its flow it is refused as well, only not told how they differ. */
static void another_flow_is_refused_without_a_copy(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(TEXT), *other = double_program("flow f { task a { run \"a\" } do a }");
    double_world *w = double_open(1);
    rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}};
    rad_flow_result result;
    rad_error error = {0};
    begin_only(w, p, o);
    double_remove(w, "flow");
    assert_int_equal(rad__flow_resume(double_runner(w), other, &o, &result, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "test.flow is not the flow this execution was begun with"));
    assert_non_null(strstr(error.text, "(unknown)"));
    rad__error_clear(&error);
    assert_int_equal(rad__flow_resume(double_runner(w), p, &o, &result, &error), 0);
    assert_int_equal(result.end, RAD_FLOW_END_DONE);
    double_close(w);
    rad__flow_program_free(p);
    rad__flow_program_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_the_data_it_begins_with),
        cmocka_unit_test(a_case_without_an_id_draws_one),
        cmocka_unit_test(commands_run_in_their_folder),
        cmocka_unit_test(files_of_others_are_left_alone),
        cmocka_unit_test(what_was_left_of_a_beginning_is_no_hindrance),
        cmocka_unit_test(a_case_that_came_meanwhile_is_left_alone),
        cmocka_unit_test(another_flow_is_refused_without_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
