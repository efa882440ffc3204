/* test_read.c — what is refused, and what would be worse if it were not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

/* ---- Merging ------------------------------------------------------------------------------------------- */

/* A does not know what B has chosen, so it may send the same messages in both branches, and only these: the same
 * number of them is not enough. */
static void a_choice_in_ignorance_offers_the_same_messages(void **state)
{
    (void)state;
    session_refused("protocol P { roles A, B, C\n"
                    "choice at B { B -> C: p\n"
                    "choice at A { A -> C: x } or { choice at A { A -> C: y } or { A -> C: z } } }\n"
                    "or { B -> C: q\n"
                    "choice at A { A -> C: x } or { choice at A { A -> C: y } or { A -> C: x } } } }",
                    "test:5:63: the branch of line 5 begins with the same message, x to C");
    session_refused("protocol P { roles A, B, C\n"
                    "choice at B { B -> C: p\nchoice at A { A -> C: x } or { A -> C: y } }\n"
                    "or { B -> C: q\nA -> C: x } }",
                    "test:2:1: A cannot know which branch was chosen: in one it chooses (line 3), "
                    "in another it "
                    "sends x to C (line 5)");
    rad_protocols_free(session_parse("protocol P { roles A, B, C\n"
                                     "choice at B { B -> C: p\nchoice at A { A -> C: x } or { A -> C: y } }\n"
                                     "or { B -> C: q\nchoice at A { A -> C: y } or { A -> C: x } } }"));
}

/* Labels of one sender are united, also behind equal ones and through loops. */
static void merging_is_full(void **state)
{
    (void)state;
    rad_protocols *p =
        session_parse("protocol P { roles A, B, C\n"
                      "loop L { choice at A { A -> B: go B -> C: same B -> C: more continue L }\n"
                      "or { A -> B: off B -> C: same B -> C: over } or { A -> B: out B -> C: quit } } }");
    const rad_types *t = &p->all[0].types;
    const rad_local_state *s = &t->states[t->threads[2].start];
    assert_int_equal(s->kind, RAD_LOCAL_RECEIVE);
    assert_int_equal(s->arm_count, 2); /* same, quit */
    const rad_local_arm *same = &t->arms[s->first_arm];
    const rad_local_state *next = &t->states[same->next];
    assert_int_equal(next->arm_count, 2); /* more, over */
    assert_int_equal(t->arms[next->first_arm].next, t->threads[2].start);
    assert_int_equal(t->states[t->arms[next->first_arm + 1].next].kind, RAD_LOCAL_END);
    rad_protocols_free(p);
}

static void what_cannot_be_merged_is_refused(void **state)
{
    (void)state;
    session_refused("protocol P { roles A, B, C\nchoice at A { A -> B: x\nA -> C: m(int) } or { "
                    "A -> B: y\nA -> C: m(bool) } }",
                    "test:4:1: m has other fields here than in line 3, and C cannot know which");
    session_refused("protocol P { roles A, B, C\nchoice at A { A -> B: x\nC does f } or { "
                    "A -> B: y\nC does g } }",
                    "test:2:1: C cannot know which branch was chosen: in one it does f (line 3), in "
                    "another it does g (line 4)");
    session_refused("protocol P { roles A, B, C\nchoice at A { A -> B: x\npar { B -> C: p } and { "
                    "B -> C: q } } or { A -> B: y\nB -> C: r } }",
                    "test:2:1: C cannot know which branch was chosen: in one it begins parallel "
                    "branches (line 3), in another it receives r from B (line 4)");
    session_refused("protocol P { roles A, B, C\nchoice at A { A -> B: x\nC -> B: p } or { A -> B: "
                    "y\nC -> B: q } }",
                    "test:2:1: C cannot know which branch was chosen: in one it sends p to B (line "
                    "3), in another it sends q to B (line 4)");
    session_refused("protocol P { roles A, B, C\nloop L { choice at A { A -> B: x continue L } or "
                    "{\nA -> B: y\nA -> C: z } or { A -> B: w } } }",
                    "test:2:10: C cannot know which branch was chosen: in one it has nothing more "
                    "to do, in another it receives z from A (line 4)");
}

/* ---- Capacity -------------------------------------------------------------------------------------------- */

static rad_capacity capacity_of(const char *text)
{
    rad_protocols *p = session_parse(text);
    rad_capacity c;
    assert_int_equal(rad_protocol_capacity(p, rad_protocols_count(p) - 1, 0, 0, &c, NULL), 0);
    rad_protocols_free(p);
    return c;
}

/* C is told nothing, and does something again and again. */
static void who_does_something_for_ever_is_not_stuck(void **state)
{
    (void)state;
    rad_capacity c = capacity_of("protocol P { roles A, B, C\nloop L { A -> B: x C does d continue L } }");
    assert_int_equal(c.answer, RAD_CAPACITY_SUFFICIENT);
    assert_int_equal(c.capacity, 1);
    c = capacity_of("protocol P { roles A, B, C\n"
                    "loop L { A -> B: x par { C does d } and { C does e } continue L } }");
    assert_int_equal(c.answer, RAD_CAPACITY_SUFFICIENT);
    c = capacity_of("protocol P { roles C, A, B\nloop L { C does d C does e A -> B: x continue L } }");
    assert_int_equal(c.answer, RAD_CAPACITY_SUFFICIENT);
    assert_int_equal(c.states, 2);                 /* wherever C is */
    c = capacity_of("protocol P { roles A, B, C\n" /* another number of turns until somebody looks */
                    "loop L { A -> B: x par { C does d C does f } and { C does e } continue L } }");
    assert_int_equal(c.answer, RAD_CAPACITY_SUFFICIENT);
    c = capacity_of("protocol P { roles A, B, C\n"
                    "loop L { A -> B: x par { C does d } and { C does e } C does f continue L } }");
    assert_int_equal(c.answer, RAD_CAPACITY_SUFFICIENT);
}

/* Doing something, and branches, lead on to what is waited for. */
static void what_comes_after_doing_is_looked_at(void **state)
{
    (void)state;
    rad_capacity c = capacity_of("locals L { roles A, B local A { A does d A does f B -> A: x }\n"
                                 "local B { B does e A -> B: y } }");
    assert_int_equal(c.answer, RAD_CAPACITY_STUCK);
    assert_string_equal(c.stuck, "A waits for x from B; B waits for y from A");
    c = capacity_of("locals L { roles A, B local A { par { A does d } and { A does e A does f }\n"
                    "B -> A: x } local B { par { A -> B: y } and { B does g } } }");
    assert_int_equal(c.answer, RAD_CAPACITY_STUCK);
    assert_string_equal(c.stuck, "A waits for x from B; B.1 waits for y from A.1");
    c = capacity_of("protocol P { roles A, B A does d A -> B: x B does e B -> A: y A does f }");
    assert_int_equal(c.answer, RAD_CAPACITY_SUFFICIENT);
    assert_int_equal(c.states, 5);
    c = capacity_of("locals L { roles A, B local A { A does d A -> B: x } local B { B does e } }");
    assert_int_equal(c.answer, RAD_CAPACITY_WRONG);
    assert_string_equal(c.stuck, "B never receives x from A");
}

/* ---- Expansion ------------------------------------------------------------------------------------------- */

static void going_round_for_nothing_has_an_end(void **state)
{
    (void)state;
    session_refused("protocol P { roles A, B\nA -> B: x\n"
                    "for i in 1..90000 { for j in 1..90000 { for k in 1..90000 { } } } }",
                    "test:3:41: 'for' and 'call' go round too often");
    session_refused("protocol A0 { roles A, B }\n"
                    "protocol A1 { roles A, B for i in 1..999 { call A0(A, B) } }\n"
                    "protocol A2 { roles A, B for i in 1..999 { call A1(A, B) } }\n",
                    "test:3:26: 'for' and 'call' go round too often");
    char text[1500];
    size_t used = (size_t)snprintf(text, sizeof text, "protocol C0 { roles A, B }\n");
    for (uint32_t i = 1; i <= 18; i++) /* 2^18 calls of the first */
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "protocol C%u { roles A, B call C%u(A, B) call C%u(A, B) }\n", i, i - 1, i - 1);
    session_refused(text, "test:2:26: 'for' and 'call' go round too often");
}

/* Not even a table without rows is made of it. */
static void tables_by_hand_are_not_empty(void **state)
{
    (void)state;
    session_refused("protocol P { roles A, B\nA -> B: x\ncode A { offer r0 { } } }",
                    "test:3:10: expected { ROLE MESSAGE -> LABEL, … }");
    session_refused("protocol P { roles A, B\nA -> B: x\ncode B { choose A { } } }",
                    "test:3:10: expected { MESSAGE -> LABEL, … }");
    session_refused("protocol P { roles A, B\nA -> B: x\ncode B { choose A { x -> } } }",
                    "test:3:10: expected { MESSAGE -> LABEL, … }");
    session_refused("protocol P { roles A, B\nA -> B: x\ncode B { choose A { x -> e } } }",
                    "test:3:26: there is no such label");
}

static void assert_refused(const char *text, size_t size, const char *why)
{
    rad_protocols *p;
    rad_error error;
    assert_int_equal(rad_protocols_parse(&p, "test", text, size, &error), RAD_EINPUT);
    assert_string_equal(error.text, why);
}

#define REFUSED(operand, why) assert_refused(CODE(operand), sizeof CODE(operand) - 1, "test:3:" why)
#define CODE(operand)         "protocol P { roles A, B\nA -> B: x\ncode B { set r1 " operand " } }"

static void a_text_has_no_zero_in_it(void **state)
{
    (void)state;
    REFUSED("\"A\0b\"", "19: the text has a byte 0 in it");
    REFUSED("\"A\xff\"", "19: the text is not UTF-8");
    REFUSED("\"A", "17: the text does not end on its line: expected '\"'");
}

static void numbers_have_64_bits(void **state)
{
    (void)state;
    static const char good[] = CODE("-9223372036854775808\nset r2 9223372036854775807");
    rad_protocols *p;
    rad_error error;
    assert_int_equal(rad_protocols_parse(&p, "test", good, sizeof good - 1, &error), 0);
    rad_protocols_free(p);
    REFUSED("9223372036854775808", "17: the number is too large");
    REFUSED("-9223372036854775809", "18: the number is too large");
    REFUSED("18446744073709551617", "17: the number is too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_choice_in_ignorance_offers_the_same_messages),
        cmocka_unit_test(merging_is_full),
        cmocka_unit_test(what_cannot_be_merged_is_refused),
        cmocka_unit_test(who_does_something_for_ever_is_not_stuck),
        cmocka_unit_test(what_comes_after_doing_is_looked_at),
        cmocka_unit_test(going_round_for_nothing_has_an_end),
        cmocka_unit_test(tables_by_hand_are_not_empty),
        cmocka_unit_test(a_text_has_no_zero_in_it),
        cmocka_unit_test(numbers_have_64_bits),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
