/* test_examples.c — examples/session: the good ones run to their end, the same way for all N and policies, and
 * have headers and texts for all roles; the bad ones are bad for the reason that their first lines give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/lab.h>
#include <raddle/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_example(const char *name, rad_protocols **p, rad_error *error)
{
    const char *root = getenv("RADDLE_SRC");
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/session/%s.session", root ? root : ".", name);
    return rad_protocols_read(p, path, error);
}

static rad_protocols *example(const char *name)
{
    rad_protocols *p;
    rad_error error;
    if (read_example(name, &p, &error) != 0) fail_msg("%s", error.text);
    return p;
}

/* `report` may be NULL; rad_free it. */
static enum rad_session_end run(const rad_protocols *p, rad_session_options o, uint32_t sessions,
                                rad_session_info *info, char **report)
{
    rad_session_vm *vm;
    rad_error error;
    assert_int_equal(rad_session_create(&vm, p, &o, &error), 0);
    assert_int_equal(rad_session_open(vm, NULL, sessions, &error), 0);
    enum rad_session_end end = rad_session_run(vm, 1000000);
    rad_session_look(vm, info);
    if (report != NULL) *report = rad_session_report(vm);
    rad_session_destroy(vm);
    return end;
}

static void runs_the_same(const rad_protocols *p)
{
    rad_session_options o = rad_session_defaults();
    rad_session_info first, other;
    assert_int_equal(run(p, o, 20, &first, NULL), RAD_SESSION_COMPLETE);
    assert_int_equal(first.sessions_closed, 20);
    for (o.n = 2; o.n <= 7; o.n += 5)
        for (int policy = 0; policy <= RAD_SESSION_PROGRESS; policy++) {
            o.policy = (enum rad_session_policy)policy;
            assert_int_equal(run(p, o, 20, &other, NULL), RAD_SESSION_COMPLETE);
            assert_string_equal(other.digest, first.digest);
        }
}

static void good_examples_run_to_their_end(void **state)
{
    (void)state;
    static const char *const good[] = {"oauth",     "raft_vote",        "ring",     "smtp",
                                       "streaming", "two_phase_commit", "two_buyer"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rad_protocols *p = example(good[i]);
        uint32_t protocol = rad_protocol_find(p, NULL);
        rad_error error;
        runs_the_same(p);
        for (uint32_t role = 0; role < rad_protocol_role_count(p, protocol); role++) {
            char *text = rad_protocol_type_text(p, protocol, role);
            char *header = rad_protocol_c_text(p, protocol, role, &error);
            assert_non_null(text);
            assert_non_null(header);
            rad_free(text);
            rad_free(header);
        }
        rad_protocols_free(p);
    }
}

static void random_protocols_can_be_told_drawn_and_written(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        rad_error error;
        rad_protocols *p;
        char *text = rad_protocols_generate(seed, NULL, &error);
        assert_non_null(text);
        if (rad_protocols_parse(&p, "random", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
        rad_free(text);
        for (uint32_t i = 0; i < rad_protocols_count(p); i++) {
            char *svg = rad_protocol_svg(p, i);
            assert_non_null(svg);
            rad_free(svg);
            for (uint32_t role = 0; role < rad_protocol_role_count(p, i); role++) {
                char *told = rad_protocol_type_text(p, i, role);
                char *header = rad_protocol_c_text(p, i, role, &error);
                if (told == NULL || header == NULL) fail_msg("seed %u: %s", (unsigned)seed, error.text);
                rad_free(told);
                rad_free(header);
            }
        }
        rad_protocols_free(p);
    }
}

static void refused(const char *name, const char *because)
{
    rad_protocols *p;
    rad_error error;
    assert_int_equal(read_example(name, &p, &error), RAD_EINPUT);
    const char *said = strstr(error.text, ".session:");
    assert_non_null(said);
    assert_string_equal(said + strlen(".session:"), because);
}

static void bad_examples_are_refused(void **state)
{
    (void)state;
    refused("bad/missing_role", "6:10: protocol MissingRole has no role Carol");
    refused("bad/self_send", "8:3: W[3] sends to itself");
    refused("bad/unguarded", "8:5: loop Idle comes back to its beginning (line 6) without a message");
    refused("bad/unmergeable", "5:3: C cannot know which branch was chosen: in one it receives go "
                               "from B (line 7), in another it receives go from A (line 10)");
}

static void code_by_hand_that_violates_its_type_is_faulted(void **state)
{
    (void)state;
    rad_protocols *p = example("bad/by_hand");
    rad_session_info info;
    char *report;
    assert_int_equal(run(p, rad_session_defaults(), 1, &info, &report), RAD_SESSION_COMPLETE);
    assert_int_equal(info.sessions_faulted, 1);
    assert_non_null(strstr(report, "session 0, B: faulted"));
    assert_non_null(strstr(report, "line 11"));
    rad_free(report);
    rad_protocols_free(p);
}

static void a_buffer_that_is_too_small_is_named(void **state)
{
    (void)state;
    rad_protocols *p = example("bad/small_buffer");
    rad_session_options o = rad_session_defaults();
    rad_session_info info;
    char *report;
    o.capacity = 1;
    assert_int_equal(run(p, o, 1, &info, &report), RAD_SESSION_STUCK);
    assert_non_null(strstr(report, "A: waits for room on A -> B"));
    assert_non_null(strstr(report, "B: waits for room on B -> A"));
    rad_free(report);
    o.capacity = 2;
    assert_int_equal(run(p, o, 1, &info, NULL), RAD_SESSION_COMPLETE);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_examples_run_to_their_end),
        cmocka_unit_test(random_protocols_can_be_told_drawn_and_written),
        cmocka_unit_test(bad_examples_are_refused),
        cmocka_unit_test(code_by_hand_that_violates_its_type_is_faulted),
        cmocka_unit_test(a_buffer_that_is_too_small_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
