/* test_threads.c — sessions on real cores: nothing changes but the time it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/lab.h>
#include <raddle/session.h>

#include <stdlib.h>
#include <string.h>

static rad_protocols *parse(const char *text)
{
    rad_protocols *p;
    rad_error error;
    if (rad_protocols_parse(&p, "test", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
    return p;
}

static void threads_change_nothing_but_the_time(void **state)
{
    (void)state;
    rad_protocols *p = parse("protocol P { roles A, B loop X { choice at A { A -> B: m(int) B -> A: n(text) "
                             "continue X } or { A -> B: e } } }");
    rad_error error;
    rad_session_info info[3];
    char *traces[3];
    enum rad_session_end end;
    for (uint32_t i = 0; i < 3; i++) {
        rad_session_options o = rad_session_defaults();
        o.n = i == 2 ? RAD_SESSION_ALL : 1;
        o.log = true;
        rad_session_crowd crowd = {.sessions = 300, .threads = i == 0 ? 1 : 4};
        assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info[i], &traces[i], &error), 0);
        assert_int_equal(end, RAD_SESSION_COMPLETE);
        assert_int_equal(info[i].sessions_closed, 300);
        assert_string_equal(info[i].digest, info[0].digest);
        assert_string_equal(traces[i], traces[0]);
    }
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm;
    assert_int_equal(rad_session_create(&vm, p, &o, &error), 0);
    assert_int_equal(rad_session_open(vm, NULL, 300, &error), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_session_info plain;
    rad_session_look(vm, &plain);
    assert_string_equal(plain.digest, info[0].digest);
    rad_session_destroy(vm);
    for (uint32_t i = 0; i < 3; i++) rad_free(traces[i]);
    rad_protocols_free(p);
}

/* Handlers of one session are never called at the same time, those of different ones may be. */
static enum rad_effect_result count(void *context, rad_effect *e)
{
    (void)context;
    int64_t *calls = e->coroutine_state; /* of this role of this session alone: no atomics */
    ++*calls;
    if (e->kind == RAD_EFFECT_PRODUCE) e->fields[0].number = *calls;
    return RAD_EFFECT_DONE;
}

static int prepare(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(int64_t), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, count, context, error);
}

static void handlers_have_their_sessions_to_themselves(void **state)
{
    (void)state;
    rad_protocols *p = parse("protocol P { roles A, B A -> B: m(int) B -> A: n(int) A -> B: m(int) }");
    rad_error error;
    rad_session_info info[2];
    enum rad_session_end end;
    for (uint32_t i = 0; i < 2; i++) {
        rad_session_options o = rad_session_defaults();
        rad_session_crowd crowd = {.sessions = 500, .threads = i ? 4 : 1, .prepare = prepare};
        assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info[i], NULL, &error), 0);
        assert_int_equal(end, RAD_SESSION_COMPLETE);
    }
    assert_string_equal(info[0].digest, info[1].digest);
    assert_int_equal(info[1].messages, 1500);
    rad_protocols_free(p);
}

static int refuse(void *context, rad_session_vm *vm, rad_error *error)
{
    (void)context;
    return rad_session_handle(vm, "nobody", count, NULL, error);
}

static void what_goes_wrong_on_a_thread_is_told(void **state)
{
    (void)state;
    rad_protocols *p = parse("protocol P { roles A, B A -> B: m }");
    rad_error error;
    rad_session_info info;
    enum rad_session_end end;
    rad_session_options o = rad_session_defaults();
    rad_session_crowd crowd = {.sessions = 9, .threads = 2, .prepare = refuse};
    assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error), RAD_EINPUT);
    assert_string_equal(error.text, "test: nothing is called nobody");
    crowd.prepare = NULL;
    o.start = 1;
    assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error), RAD_EINPUT);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing_but_the_time),
        cmocka_unit_test(handlers_have_their_sessions_to_themselves),
        cmocka_unit_test(what_goes_wrong_on_a_thread_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
