/* test_memory.c — cases in memory: the test is the world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/flow.h>

#include <string.h>

static void test_in_memory(void **state)
{
    (void)state;
    rad_flow *f;
    static const char text[] = "flow f { data { n : int = 1 s : text }\n"
                               "task t { run \"count\" capture n retry 1 delay 5s }\n"
                               "do t defer { on signal go into s { } on timer 7s { set s = \"late\" } } }";
    rad_flow_instance *i;
    rad_flow_wish w;
    rad_error error = {0};
    rad_flow_setting setting = {"n", "3"}, written = {"n", "44"}, wrong = {"q", "1"};
    rad_flow_options o = rad_flow_defaults();
    o.settings = &setting;
    o.setting_count = 1;
    char digests[2][33];
    assert_int_equal(rad_flow_parse(&f, "test.flow", text, strlen(text), NULL, &error), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(rad_flow_open(&i, f, &o, &error), 0);
        while (rad_flow_go(i, round == 0 ? 1000 : 1) == RAD_FLOW_NOW_RUNNING) continue;
        assert_true(rad_flow_next_wish(i, &w));
        assert_int_equal(w.kind, RAD_FLOW_WISH_START);
        assert_string_equal(w.task, "t");
        assert_string_equal(w.command, "count");
        assert_string_equal(w.key, "0#1");
        char *value = rad_flow_wish_value(i, &w, "n");
        assert_string_equal(value, "3");
        rad_free(value);
        assert_false(rad_flow_next_wish(i, &w));
        assert_int_equal(rad_flow_give_result(i, "0#1", 1, false, NULL, 0, "no", &error), 0);
        assert_int_equal(rad_flow_go(i, 1000), RAD_FLOW_NOW_WAITING);
        assert_true(rad_flow_next_wish(i, &w));
        assert_int_equal(w.kind, RAD_FLOW_WISH_TIMER);
        assert_int_equal(w.delay_ns, UINT64_C(5000000000));
        assert_int_equal(rad_flow_give_timer(i, w.key, w.attempt, w.alternative, &error), 0);
        assert_int_equal(rad_flow_go(i, 1000), RAD_FLOW_NOW_WAITING);
        assert_true(rad_flow_next_wish(i, &w));
        assert_int_equal(w.attempt, 2);
        assert_int_equal(rad_flow_give_result(i, "0#1", 2, true, &wrong, 1, NULL, &error), RAD_EINPUT);
        assert_int_equal(rad_flow_give_result(i, "0#1", 2, true, &written, 1, NULL, &error), 0);
        assert_int_equal(rad_flow_go(i, 1000), RAD_FLOW_NOW_WAITING);
        assert_int_equal(rad_flow_give_signal(i, "gone", NULL, &error), RAD_EINPUT);
        assert_int_equal(rad_flow_give_signal(i, "go", "now", &error), 0);
        assert_int_equal(rad_flow_go(i, 1000), RAD_FLOW_NOW_DONE);
        value = rad_flow_instance_value(i, "n");
        assert_string_equal(value, "44");
        rad_free(value);
        value = rad_flow_instance_value(i, "s");
        assert_string_equal(value, "now");
        rad_free(value);
        assert_null(rad_flow_instance_value(i, "q"));
        assert_true(rad_flow_instance_steps(i) > 5);
        assert_string_equal(rad_flow_instance_failure(i), "");
        rad_flow_instance_digest(i, digests[round]);
        rad_flow_close(i);
    }
    assert_string_equal(digests[0], digests[1]);
    assert_int_equal(rad_flow_open(&i, f, &o, &error), 0);
    assert_int_equal(rad_flow_give_cancel(i, RAD_FLOW_PART_CASE, NULL, &error), 0);
    assert_int_equal(rad_flow_go(i, 1000), RAD_FLOW_NOW_CANCELLED);
    rad_flow_close(i);
    rad_flow_free(f);
}

/* As many different texts as fit, and one more: it is told as a limit, not as a want of memory. */
static void test_texts_have_a_limit(void **state)
{
    (void)state;
    enum { SIZE = 16 << 20 };
    static char text[SIZE + 1];
    rad_flow *f;
    rad_flow_instance *i;
    rad_error error = {0};
    static const char flow[] = "flow f { data { t : text } while true { wait signal s into t } }";
    memset(text, 'x', SIZE);
    assert_int_equal(rad_flow_parse(&f, "test.flow", flow, strlen(flow), NULL, &error), 0);
    assert_int_equal(rad_flow_open(&i, f, NULL, &error), 0);
    int code = 0;
    for (char c = 'a'; c <= 'z' && code == 0; c++) {
        assert_int_equal(rad_flow_go(i, 1000), RAD_FLOW_NOW_WAITING);
        text[0] = c;
        code = rad_flow_give_signal(i, "s", text, &error);
    }
    assert_int_equal(code, RAD_ELIMIT);
    assert_string_equal(error.text, "more than 256 MiB of different texts");
    rad_flow_close(i);
    rad_flow_free(f);
}

/* What a flow speaks of, by number; what instances of a many are called is their own. */
static void test_names(void **state)
{
    (void)state;
    rad_flow *f;
    static const char text[] = "flow f { data { n : int  s : text }  task t { run \"t\" }\n"
                               "task u { run \"u\" } many 2 as k { do t } wait signal go\n"
                               "wait signal come do u }";
    rad_error error = {0};
    assert_int_equal(rad_flow_parse(&f, "test.flow", text, strlen(text), NULL, &error), 0);
    assert_string_equal(rad_flow_task_name(f, 0), "t");
    assert_string_equal(rad_flow_task_name(f, 1), "u");
    assert_null(rad_flow_task_name(f, 2));
    assert_string_equal(rad_flow_data_name(f, 0), "n");
    assert_string_equal(rad_flow_data_name(f, 1), "s");
    assert_null(rad_flow_data_name(f, 2));
    assert_string_equal(rad_flow_signal_name(f, 0), "go");
    assert_string_equal(rad_flow_signal_name(f, 1), "come");
    assert_null(rad_flow_signal_name(f, 2));
    rad_flow_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_texts_have_a_limit),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("flow_memory", tests, NULL, NULL);
}
