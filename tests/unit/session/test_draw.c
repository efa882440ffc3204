/* test_draw.c — sequence diagrams: everything is in them, and no label touches a lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

#include <raddle/lab.h>
#include <raddle/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char BUSY[] =
    "protocol Busy { roles A, B, Middle, W[1..3]\n"
    "for i in 1..3 { A -> W[i]: a_long_name_of_a_message(first: int, second: text, third: bool) }\n"
    "W[3] does something_that_takes_a_while\n"
    "par { A -> B: x } and { W[3] -> A: from_far_away(text) }\n"
    "loop Again { choice at W[2] { W[2] -> A: go(int) W[2] -> Middle: go W[2] -> B: go\n"
    "W[2] -> W[1]: go W[2] -> W[3]: go continue Again } or {\n"
    "W[2] -> A: stop W[2] -> Middle: stop W[2] -> B: stop W[2] -> W[1]: stop W[2] -> W[3]: stop } "
    "} }";

static char *draw(const char *text)
{
    rad_protocols *p;
    rad_error error;
    if (rad_protocols_parse(&p, "test", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
    char *svg = rad_protocol_svg(p, rad_protocol_find(p, NULL));
    assert_non_null(svg);
    rad_protocols_free(p);
    return svg;
}

static uint32_t count(const char *svg, const char *what)
{
    uint32_t n = 0;
    for (const char *at = svg; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

static void everything_is_drawn(void **state)
{
    (void)state;
    char *svg = draw(BUSY);
    assert_int_equal(count(svg, "class=\"a\""), 3 + 2 + 10); /* messages */
    assert_int_equal(count(svg, "class=\"lane\""), 6);
    assert_int_equal(count(svg, "class=\"head\""), 12);
    assert_int_equal(count(svg, "class=\"n\""), 1);
    assert_int_equal(count(svg, "class=\"c\""), 1);
    assert_int_equal(count(svg, "class=\"par frame\""), 1);
    assert_int_equal(count(svg, "class=\"loop frame\""), 1);
    assert_int_equal(count(svg, "class=\"choice frame\""), 1);
    assert_int_equal(count(svg, " cut\""), 2);
    assert_int_equal(count(svg, "<text"), count(svg, "</text>"));
    assert_int_equal(count(svg, "</svg>"), 1);
    assert_int_equal(count(svg, "continue Again"), 1);
    assert_int_equal(count(svg, "choice at W[2]"), 1);
    rad_free(svg);
}

/* As the drawing measures it: 8 px a letter. Texts that are meant to stand on a lane have a box of their own. */
static void no_label_touches_a_lane(void **state)
{
    (void)state;
    char *svg = draw(BUSY);
    long lanes[6], width = strtol(strstr(svg, "width=\"") + 7, NULL, 10);
    const char *at = svg;
    for (int i = 0; i < 6; i++) {
        at = strstr(at, "class=\"lane\" d=\"M") + 17;
        lanes[i] = strtol(at, NULL, 10);
    }
    uint32_t labels = 0;
    for (at = svg; (at = strstr(at, "<text class=\"m\" x=\"")) != NULL; at++, labels++) {
        long x = strtol(at + 19, NULL, 10);
        const char *text = strchr(at, '>') + 1;
        long half = (long)strcspn(text, "<") * 4;
        assert_true(x - half >= 0 && x + half <= width);
        for (int i = 0; i < 6; i++) assert_true(x == lanes[i] || labs(x - lanes[i]) > half + 4);
    }
    assert_int_equal(labels, 3 + 2 + 10 + 1);
    rad_free(svg);
}

static void parts_are_drawn_one_by_one(void **state)
{
    (void)state;
    char *svg = draw("locals P { roles A, B local A { A -> B: x B -> A: y } local B { B -> A: y A -> B: x } }");
    assert_int_equal(count(svg, "class=\"a\""), 4);
    assert_int_equal(count(svg, "the part of A"), 1);
    assert_int_equal(count(svg, "the part of B"), 1);
    rad_free(svg);
}

static void a_role_alone_is_drawn(void **state)
{
    (void)state;
    char *svg = draw("protocol P { roles A A does x par { A does y } and { A does z } }");
    assert_int_equal(count(svg, "class=\"n\""), 3);
    rad_free(svg);
    rad_free(draw("protocol P { roles A }"));
}

static void without_memory_there_is_no_picture(void **state)
{
    (void)state;
    rad_protocols *p;
    rad_error error;
    assert_int_equal(rad_protocols_parse(&p, "test", BUSY, strlen(BUSY), &error), 0);
    char *svg = NULL;
    for (uint64_t n = 1; svg == NULL; n++) {
        rad__alloc_fail_at(n);
        svg = rad_protocol_svg(p, 0);
        rad__alloc_fail_at(0);
        assert_true(n < 1000);
    }
    char *whole = rad_protocol_svg(p, 0);
    assert_string_equal(svg, whole);
    rad_free(svg);
    rad_free(whole);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_drawn),
        cmocka_unit_test(no_label_touches_a_lane),
        cmocka_unit_test(parts_are_drawn_one_by_one),
        cmocka_unit_test(a_role_alone_is_drawn),
        cmocka_unit_test(without_memory_there_is_no_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
