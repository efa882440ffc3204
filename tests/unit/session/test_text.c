/* test_text.c — the parts of roles, written for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

#include <raddle/lab.h>
#include <raddle/session.h>

#include <stdio.h>
#include <string.h>

static rad_protocols *parse(const char *text)
{
    rad_protocols *p;
    rad_error error;
    if (rad_protocols_parse(&p, "test", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
    return p;
}

static void says(const char *protocol, uint32_t role, const char *expected)
{
    rad_protocols *p = parse(protocol);
    char *text = rad_protocol_type_text(p, rad_protocol_find(p, NULL), role);
    assert_non_null(text);
    assert_string_equal(text, expected);
    rad_free(text);
    rad_protocols_free(p);
}

static const char BUYER[] =
    "protocol P { roles A, B\n"
    "A -> B: ask(what: text, int) B does think choice at B { B -> A: yes(int) A -> B: thanks }\n"
    "or { B -> A: no } }";

static void a_chain_and_a_choice_are_written_in_place(void **state)
{
    (void)state;
    says(BUYER, 0,
         "A of P:\n  send ask(what: text, int) to B\n  receive from B {\n    yes(int) ->\n"
         "      send thanks to B\n      end\n    no -> end\n  }\n");
    says(BUYER, 1,
         "B of P:\n  receive ask(what: text, int) from A\n  do think\n  select {\n"
         "    yes(int) to A ->\n      receive thanks from A\n      end\n    no to A -> end\n  }\n");
}

static void a_loop_has_a_name(void **state)
{
    (void)state;
    says("protocol P { roles A, B A -> B: hello loop X { choice at A { A -> B: more(int)\n"
         "B -> A: ok continue X } or { A -> B: done } } }",
         1,
         "B of P:\n  receive hello from A\n  go to s0\n s0:\n  receive from A {\n    more(int) ->\n"
         "      send ok to A\n      go to s0\n    done -> end\n  }\n");
    says("protocol P { roles A, B loop X { A -> B: x continue X } }", 0, "A of P:\n s0:\n  send x to B\n  go to s0\n");
}

static void parallel_branches_follow(void **state)
{
    (void)state;
    says("protocol P { roles A, B par { A -> B: x } and { B -> A: y } A -> B: z }", 0,
         "A of P:\n  in parallel, until all have ended: A.1, A.2\n  send z to B\n  end\n"
         "\nA.1 of P:\n  send x to B\n  end\n\nA.2 of P:\n  receive y from B\n  end\n");
}

/* 200 choices after each other: 2^200 ways, and 200 sections. And choices that do not meet again: not 200 deep. */
static void sharing_and_depth_do_not_explode(void **state)
{
    (void)state;
    rad_protocols *p = parse("protocol P { roles A, B, W[1..200] for i in 1..200 {\n"
                             "choice at A { A -> W[i]: x A -> B: x } or { A -> W[i]: y A -> B: y } } }");
    char *text = rad_protocol_type_text(p, 0, 0);
    assert_non_null(text);
    assert_in_range(strlen(text), 1000, 40000);
    rad_free(text);
    rad_protocols_free(p);
    p = parse("protocol P { roles A, B loop X { for i in 1..1000 {\n"
              "choice at A { A -> B: x continue X } or { A -> B: y } } } }");
    text = rad_protocol_type_text(p, 0, 0);
    assert_non_null(text);
    assert_in_range(strlen(text), 1000, 100000);
    rad_free(text);
    rad_protocols_free(p);
}

static void without_memory_there_is_no_text(void **state)
{
    (void)state;
    rad_protocols *p = parse(BUYER);
    char *text = NULL;
    for (uint64_t n = 1; text == NULL; n++) {
        rad__alloc_fail_at(n);
        text = rad_protocol_type_text(p, 0, 0);
        rad__alloc_fail_at(0);
        assert_true(n < 100);
    }
    rad_free(text);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_and_a_choice_are_written_in_place),
        cmocka_unit_test(a_loop_has_a_name),
        cmocka_unit_test(parallel_branches_follow),
        cmocka_unit_test(sharing_and_depth_do_not_explode),
        cmocka_unit_test(without_memory_there_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
