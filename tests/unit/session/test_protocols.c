/* test_protocols.c — protocols: what is refused, and that runs are the same for all N and policies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

static const char two_buyer[] =
    "protocol TwoBuyer { roles A, B, S\n"
    "A -> S: title(text) S -> A: quote(int) S -> B: quote(int) A -> B: share(int)\n"
    "choice at B { B -> S: ok B -> A: ok S -> B: date(text) } or { B -> S: no B -> A: no } }\n";

static rad_session_info run(const rad_protocols *p, rad_session_options o, uint32_t sessions)
{
    rad_session_vm *vm;
    rad_error error;
    assert_int_equal(rad_session_create(&vm, p, &o, &error), 0);
    assert_int_equal(rad_session_open(vm, NULL, sessions, &error), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_session_info info;
    rad_session_look(vm, &info);
    rad_session_destroy(vm);
    return info;
}

static void runs_are_the_same_for_all_n_and_policies(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(two_buyer);
    rad_session_options o = rad_session_defaults();
    rad_session_info first = run(p, o, 20);
    assert_int_equal(first.sessions_closed, 20);
    static const uint32_t ns[] = {1, 2, 3, 7, RAD_SESSION_ALL};
    for (size_t n = 0; n < 5; n++)
        for (int policy = 0; policy <= RAD_SESSION_PROGRESS; policy++)
            for (uint64_t start = 0; start < 3; start++) {
                o.n = ns[n];
                o.policy = (enum rad_session_policy)policy;
                o.start = start;
                rad_session_info other = run(p, o, 20);
                assert_string_equal(other.digest, first.digest);
            }
    o = rad_session_defaults();
    o.seed = 1;
    rad_session_info another = run(p, o, 20);
    assert_string_not_equal(another.digest, first.digest);
    rad_protocols_free(p);
}

static const char opens[] = "protocol Inner { roles A, B A -> B: x(int) }\n"
                            "protocol Outer { roles A, B A -> B: y\n"
                            "code A { open Inner\n open Inner\n send B y\n open Inner }\n"
                            "code B { open Inner\n receive A y\n open Inner } }\n";

static char *normalized(const rad_protocols *p, rad_session_options o)
{
    rad_session_vm *vm;
    rad_error error;
    o.log = true;
    assert_int_equal(rad_session_create(&vm, p, &o, &error), 0);
    assert_int_equal(rad_session_open(vm, NULL, 12, &error), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    char *text = rad_session_trace_text(vm, RAD_NONE, true);
    assert_non_null(text);
    rad_session_destroy(vm);
    return text;
}

/* Who opens first depends on N. Also, 2 comes before 10. */
static void traces_have_opened_sessions_in_the_order_of_their_paths(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(opens);
    rad_session_options o = rad_session_defaults();
    char *first = normalized(p, o);
    const char *places[] = {"0 A",     "0/A.0 A", "0/A.0 B", "0/A.2 B", "0/B.0 A",
                            "0/B.1 B", "1 A",     "2 A",     "10 A",    "11/B.1 B"};
    const char *at = first;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char line[20];
        snprintf(line, sizeof line, "\n%s ", places[i]);
        at = i == 0 ? first : strstr(at, line);
        if (at == NULL) fail_msg("%s is not where it belongs", places[i]);
    }
    for (uint32_t n = 1; n <= 9; n += 4)
        for (int policy = 0; policy <= RAD_SESSION_PROGRESS; policy++) {
            o.n = n;
            o.policy = (enum rad_session_policy)policy;
            o.start = n;
            char *other = normalized(p, o);
            assert_string_equal(other, first);
            rad_free(other);
        }
    rad_free(first);
    rad_protocols_free(p);
}

static void ill_formed_protocols_are_refused_with_the_place(void **state)
{
    (void)state;
    session_refused("protocol P { roles A, B\nA -> A: x }", "test:2:1: A sends to itself");
    session_refused("protocol P { roles A, B\nA -> C: x }", "test:2:6: protocol P has no role C");
    session_refused("protocol P { roles A, B\nloop X {\ncontinue X } }",
                    "test:3:1: loop X comes back to its beginning (line 2) without a message");
    session_refused("protocol P { roles A, B, C\nchoice at A {\nA -> B: x\nB -> C: y } or {\nA -> B: z\nA -> "
                    "C: y } }",
                    "test:2:1: C cannot know which branch was chosen: in one it receives y from B (line 4), "
                    "in another it receives y from A (line 6)");
    session_refused("protocol P { roles A, B, C\nchoice at A {\nA -> B: x\nA -> C: y } or {\nA -> B: z } }",
                    "test:2:1: C cannot know which branch was chosen: in one it has nothing more to do, in "
                    "another it receives y from A (line 4)");
    session_refused("protocol P { roles A, B\nA -> B: x y }", "test:2:13: expected '->' or 'does', found '}'");
}

/* What a session depends on includes what had happened to whoever opened it. */
static void opened_sessions_come_after_their_openers_past(void **state)
{
    (void)state;
    char digests[3][33];
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "protocol Child { roles C, D C -> D: hello }\n"
                 "protocol Parent { roles A, B A -> B: x(int)\n"
                 "code A {\nset r1 %d\nsend B x\nopen Child\nclose\n} }\n",
                 i == 2 ? 1 : i + 1);
        rad_protocols *p = session_parse(text);
        rad_session_options o = rad_session_defaults();
        rad_session_vm *vm;
        rad_error error;
        assert_int_equal(rad_session_create(&vm, p, &o, &error), 0);
        assert_int_equal(rad_session_open(vm, "Parent", 1, &error), 0);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
        assert_true(rad_session_digest(vm, 1, digests[i]));
        rad_session_destroy(vm);
        rad_protocols_free(p);
    }
    assert_string_not_equal(digests[0], digests[1]); /* A had sent another number before */
    assert_string_equal(digests[0], digests[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_the_same_for_all_n_and_policies),
        cmocka_unit_test(opened_sessions_come_after_their_openers_past),
        cmocka_unit_test(traces_have_opened_sessions_in_the_order_of_their_paths),
        cmocka_unit_test(ill_formed_protocols_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
