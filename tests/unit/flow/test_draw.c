/* test_draw.c — pictures of flows: well-formed, nothing outside of the page or over something else, what a run did
 * is on it; texts of expressions mean what the expressions mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "flow/lang/text.h"
#include "flow/svg/draw.h"
#include "storm_support.h"
#include "tree_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char EVERYTHING[] =
    "flow all \"a < b & \\\"c\\\"\" { data { n : int merge sum b : bool t : text } "
    "task build { run \"make <all> && x\" timeout 10m retry 3 delay 100ms backoff 2 undo clean }\n"
    "task clean { call \"clean\" writes n } task run_tests { run \"make test\" }\n"
    "do build do run_tests run \"echo \\\"$n\\\"\" set n = (1 + 2) * -n - 4 / 2 % 3\n"
    "or { when b { } when n > 3 { finish } else { fail \"no\" } } join any 1\n"
    "par { } and { do build } and { set t = \"a fairly long text that does not fit into a box\" } "
    "join first 2\n"
    "par { } and { } interleave { do clean } and { do clean } and { } and { set n = 1 }\n"
    "xor { when b { } else { { do build } } } loop n { do build } while b { set n = 1 set n = 2 }\n"
    "repeat { do clean } until b repeat { } until n == 1\n"
    "region r { cancel region r region s { } on cancel { do build } } on failure into t { cancel "
    "task build }\n"
    "on cancel { cancel case } many pool 3 up to 5 as i { more pool set n = i } join any 2\n"
    "many over t as l { lock k { par { do build } and { lock k { } } } } join none reach m expire "
    "m await m\n"
    "await m else { do build } defer { on signal s into t { } on timer 1500ms { do clean } on "
    "signal q { fail } }\n"
    "wait signal s into n wait fresh signal s wait 10 wait 2h compensate r fail }";

static char *draw(const char *text, const rad_flow_visit *visits)
{
    rad_flow_file file;
    rad_flow_tree *tree;
    flow_tree_read(&file, text, strlen(text));
    assert_int_equal(rad__flow_find(&file, NULL, &tree, NULL), 0);
    char *svg = rad__flow_draw(&file, tree, visits);
    assert_non_null(svg);
    rad__flow_file_free(&file);
    return svg;
}

static uint32_t count_of(const char *text, const char *what)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) count++;
    return count;
}

/* ---- Well-formed ---------------------------------------------------------------------------------------- */

enum { OPEN_MOST = 16 };

/* A reader of the XML that is written here: elements are closed in order, attributes quoted, entities known. */
static void check_well_formed(const char *svg)
{
    char open[OPEN_MOST][16];
    uint32_t depth = 0, elements = 0;
    for (const char *at = svg; *at != 0;) {
        if (*at == '&') {
            assert_true(strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 || strncmp(at, "&amp;", 5) == 0 ||
                        strncmp(at, "&quot;", 6) == 0);
        }
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
        if (*at++ != '<') continue;
        bool closes = *at == '/';
        at += closes;
        size_t length = strcspn(at, " >/");
        assert_in_range(length, 1, 15);
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (closes) {
            assert_int_not_equal(depth, 0);
            depth--;
            assert_true(strlen(open[depth]) == length && strncmp(open[depth], at, length) == 0);
        } else {
            uint32_t quotes = 0;
            for (const char *c = at; c < end; c++) quotes += *c == '"';
            assert_int_equal(quotes % 2, 0);
            elements++;
            if (end[-1] != '/') {
                assert_in_range(depth, 0, OPEN_MOST - 1);
                memcpy(open[depth], at, length);
                open[depth++][length] = 0;
            }
        }
        at = end + 1;
    }
    assert_int_equal(depth, 0);
    assert_in_range(elements, 6, 1000000);
}

/* ---- Places --------------------------------------------------------------------------------------------- */

typedef struct box {
    long x, y, width, height;
} box;

enum { BOXES_MOST = 400 };

static long number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtol(at + strlen(name), NULL, 10);
}

/* Rectangles of these classes. */
static uint32_t boxes_of(const char *svg, const char *const *classes, box *boxes)
{
    uint32_t count = 0;
    for (; *classes != NULL; classes++) {
        char begin[40];
        snprintf(begin, sizeof begin, "<rect class=\"%s\"", *classes);
        for (const char *at = svg; (at = strstr(at, begin)) != NULL; at++) {
            assert_in_range(count, 0, BOXES_MOST - 1);
            boxes[count++] = (box){number_after(at, " x=\""), number_after(at, " y=\""), number_after(at, " width=\""),
                                   number_after(at, " height=\"")};
        }
    }
    return count;
}

static bool meet(const box *a, const box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static const char *const BOXES[] = {"task", "set", "wait", "stop", "act", "fork", "when", NULL};
static const char *const FRAMES[] = {"region", "lock", NULL};
static const char *const BADGES[] = {"done badge", "waiting badge", "failed badge", "cancelled badge", NULL};

/* Boxes do not lie over each other, frames lie inside each other or apart, all is on the page. */
static void check_places(const char *svg)
{
    static box boxes[BOXES_MOST], frames[BOXES_MOST];
    uint32_t count = boxes_of(svg, BOXES, boxes), frame_count = boxes_of(svg, FRAMES, frames);
    long width = number_after(svg, " width=\""), height = number_after(svg, " height=\"");
    for (uint32_t i = 0; i < count; i++) {
        assert_in_range(boxes[i].x, 20, width - boxes[i].width - 20);
        assert_in_range(boxes[i].y, 60, height - boxes[i].height);
        for (uint32_t j = 0; j < i; j++)
            if (meet(&boxes[i], &boxes[j]))
                fail_msg("boxes at %ld %ld and %ld %ld\n%s", boxes[i].x, boxes[i].y, boxes[j].x, boxes[j].y, svg);
        for (uint32_t j = 0; j < frame_count; j++) {
            const box *a = &boxes[i], *f = &frames[j];
            bool inside =
                a->x > f->x && a->y > f->y && a->x + a->width < f->x + f->width && a->y + a->height < f->y + f->height;
            assert_true(inside || !meet(a, f));
        }
    }
    uint32_t badges = boxes_of(svg, BADGES, boxes);
    for (uint32_t i = 0; i < badges; i++) assert_in_range(boxes[i].x + boxes[i].width, 20, width - 10);
}

static void a_picture_of_everything(void **state)
{
    (void)state;
    char *svg = draw(EVERYTHING, NULL), *again = draw(EVERYTHING, NULL);
    assert_string_equal(svg, again);
    check_well_formed(svg);
    check_places(svg);
    assert_null(strstr(svg, "badge\" x"));
    assert_non_null(strstr(svg, "<text class=\"about\" x=\"28\" y=\"56\">a &lt; b &amp; &quot;c&quot;</text>"));
    assert_non_null(strstr(svg, ">make &lt;all&gt; &amp;&amp; x</text>"));
    assert_non_null(strstr(svg, ">retry 3 delay 100ms backoff 2, timeout 10m,\xe2\x80\xa6</text>"));
    assert_non_null(strstr(svg, ">$ echo &quot;$n&quot;</text>"));
    assert_non_null(strstr(svg, "<text class=\"name\" x=\"")); /* a name that begins with run_ is one */
    assert_non_null(strstr(svg, ">run_tests</text>"));
    assert_non_null(strstr(svg, ">t = &quot;a fairly long text that does not fit i\xe2\x80\xa6</text>"));
    assert_non_null(strstr(svg, "<title>line 3: do build\nrun make &lt;all&gt; &amp;&amp; x</title>"));
    assert_non_null(strstr(svg, "a fairly long text that does not fit into a box&quot;</title>"));
    static const char *const texts[] = {">n = (1 + 2) * -n - 4 / 2 % 3<",
                                        ">join any 1<",
                                        ">join first 2<",
                                        ">each once<",
                                        ">loop n<",
                                        ">while b<",
                                        ">until n == 1<",
                                        ">region r<",
                                        ">cancel task build<",
                                        ">cancel case<",
                                        ">more pool<",
                                        ">lock k<",
                                        ">many pool 3 up to 5 as i<",
                                        ">join none<",
                                        ">many over t as l<",
                                        ">reach m<",
                                        ">on failure into t<",
                                        ">on cancel<",
                                        ">expired<",
                                        ">timer 1500ms<",
                                        ">signal s into t<",
                                        ">wait 10s<",
                                        ">wait 2h<",
                                        ">compensate r<",
                                        ">wait signal s into n<",
                                        ">wait fresh signal s<",
                                        ">fail<",
                                        ">fail &quot;no&quot;<"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(svg, texts[i]) == NULL) fail_msg("%s is not there", texts[i]);
    rad__free(svg);
    rad__free(again);
}

/* Statements end where they end: no line leads out of finish, fail and cancel case. */
static void nothing_follows_the_end(void **state)
{
    (void)state;
    char *ends = draw("flow f { fail }", NULL), *goes_on = draw("flow f { reach m }", NULL);
    assert_int_equal(count_of(ends, "<path class=\"a\""), 1);
    assert_int_equal(count_of(goes_on, "<path class=\"a\""), 2);
    rad__free(ends);
    rad__free(goes_on);
    ends = draw("flow f { { cancel case } reach m }", NULL);
    goes_on = draw("flow f { { cancel region r } region r { } }", NULL);
    assert_int_equal(count_of(ends, "<path class=\"a\""), 2);
    assert_int_equal(count_of(goes_on, "<path class=\"a\""), 2);
    rad__free(ends);
    rad__free(goes_on);
}

/* ---- Runs ----------------------------------------------------------------------------------------------- */

static void a_run_is_drawn_over(void **state)
{
    (void)state;
    static const char text[] = "flow f { data { b : bool } task a { run \"a\" } do a\n"
                               "par { do a } and { do a } join first\n"
                               "xor { when b { finish } else { wait 3s } } }";
    const rad_flow_visit visits[] = {
        {0},
        {RAD_VISIT_DONE, 1, 3, 0, 0, 7},
        {RAD_VISIT_DONE, 2, 1, 0, 8, 12},
        {RAD_VISIT_CANCELLED, 3, 1, 1, 9, 9},
        {RAD_VISIT_FAILED, 4, 1, 0, 10, 11},
        {RAD_VISIT_DONE, 5, 1, 0, 13, 13},
        {RAD_VISIT_NEVER, 0, 0, 0, 0, 0},
        {RAD_VISIT_WAITING, 6, 1, 0, 14, 14},
    };
    char *svg = draw(text, visits);
    check_well_formed(svg);
    check_places(svg);
    assert_non_null(strstr(svg, "<g id=\"s1\"><title>line 1: do a\nrun a\ndone, 3 times, steps 0 to 7</title>"));
    assert_non_null(strstr(svg, "cancelled, 1 time, cancelled 1, step 9</title>"));
    assert_non_null(strstr(svg, "failed, 1 time, steps 10 to 11</title>"));
    assert_non_null(strstr(svg, "<g id=\"s6\" class=\"off\"><title>line 3: finish\nnever</title>"));
    assert_non_null(strstr(svg, ">1 \xc3\x97"
                                "3</text>"));
    assert_non_null(strstr(svg, ">6</text>"));
    /* Each once more in the legend, done twice. */
    assert_int_equal(count_of(svg, "\"done badge\""), 5);
    assert_int_equal(count_of(svg, "\"cancelled badge\""), 2);
    assert_int_equal(count_of(svg, "\"failed badge\""), 2);
    assert_int_equal(count_of(svg, "\"waiting badge\""), 2);
    /* Three to finish, one each out of those that were cancelled, have failed, and wait. */
    assert_int_equal(count_of(svg, "<path class=\"e off\""), 6);
    rad__free(svg);
    svg = draw(text, NULL);
    assert_int_equal(count_of(svg, "off\""), 0);
    rad__free(svg);
}

/* Every state for every statement: whatever the numbers, nothing is covered. */
static void runs_of_everything(void **state)
{
    (void)state;
    rad_flow_visit visits[128];
    for (uint32_t shift = 0; shift < RAD_VISITS; shift++) {
        for (uint32_t i = 0; i < 128; i++) {
            uint32_t how = (i + shift) % RAD_VISITS;
            uint64_t times = how ? (i % 3 == 0 ? 123456 : 1) : 0;
            visits[i] = (rad_flow_visit){
                (enum rad_flow_visited)how, how ? 1000 + i : 0, times, how == RAD_VISIT_CANCELLED, i, 2 * i};
        }
        char *svg = draw(EVERYTHING, visits);
        check_well_formed(svg);
        check_places(svg);
        rad__free(svg);
    }
}

/* ---- Examples ------------------------------------------------------------------------------------------- */

static char *read_example(const char *name, size_t *size)
{
    const char *root = getenv("RADDLE_SRC");
    char path[512];
    snprintf(path, sizeof path, "%s/examples/flow/%s.flow", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot read %s", path);
    char *text = calloc(1, 1 << 16);
    *size = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static void examples_are_right_and_have_pictures(void **state)
{
    (void)state;
    static const char *const names[] = {"approval", "build", "crawl",    "mapreduce", "mirrors",
                                        "order",    "retry", "watchdog", "workshop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size;
        char *text = read_example(names[i], &size);
        char *svg = draw(text, NULL), title[64];
        check_well_formed(svg);
        check_places(svg);
        snprintf(title, sizeof title, "<title>flow %s</title>", names[i]);
        assert_non_null(strstr(svg, title));
        rad__free(svg);
        free(text);
    }
}

/* ---- Texts ---------------------------------------------------------------------------------------------- */

static void told_expression(const char *expression, const char *type, rad_bytes *told, rad_bytes *text)
{
    char flow[600];
    snprintf(flow, sizeof flow, "flow f { data { n : int b : bool t : text r : %s } set r = %s }", type, expression);
    rad_flow_file file;
    flow_tree_read(&file, flow, strlen(flow));
    flow_tree_tell(told, &file, file.flows);
    rad__flow_expr_text(text, &file, file.flows, file.flows->body.first->expr);
    rad__bytes_put(text, "", 1);
    rad__flow_file_free(&file);
}

/* What is written of an expression is read as the same expression, and has no parentheses too many. */
static void texts_of_expressions_mean_the_same(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"int", "1 + 2 * 3 - 4 / 5 % 6"},
        {"int", "(1 + 2) * (3 - 4)"},
        {"int", "1 - (2 - 3) - 4 * (5 / 6) / (7 % 8)"},
        {"int", "-n - -(n + 1) - -(-n) + -3 * -(-4)"},
        {"int", "-9223372036854775808"},
        {"int", "length(t + \"x\") * lines(line(t, n - 1)) + number(\"3\")"},
        {"bool", "b or b and not b"},
        {"bool", "(b or b) and (b or not (b and b))"},
        {"bool", "b or (b or b)"},
        {"bool", "not not b == b"},
        {"bool", "(not b) == b"},
        {"bool", "n < 1 and (n == 2) == (n != 3) or n + 1 >= 2"},
        {"bool", "((n < 1) == b) == b"},
        {"bool", "t <= \"a\\\"b\\\\c\\nd\\te\" or true or false"},
        {"text", "t + (t + text(n)) + text(n < 1)"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        rad_bytes first = {0}, second = {0}, text = {0}, again = {0};
        told_expression(same[i][1], same[i][0], &first, &text);
        told_expression((const char *)text.data, same[i][0], &second, &again);
        assert_string_equal((char *)first.data, (char *)second.data);
        assert_string_equal((char *)text.data, same[i][1]);
        rad__bytes_free(&first);
        rad__bytes_free(&second);
        rad__bytes_free(&text);
        rad__bytes_free(&again);
    }
}

static void durations_have_their_unit(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns;
        const char *text;
    } some[] = {{0, "0ms"},           {1500000000, "1500ms"}, {2000000000, "2s"},     {90000000000, "90s"},
                {120000000000, "2m"}, {7200000000000, "2h"},  {172800000000000, "2d"}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        rad_bytes out = {0};
        rad__flow_duration_text(&out, some[i].ns);
        rad__bytes_put(&out, "", 1);
        assert_string_equal((char *)out.data, some[i].text);
        rad__bytes_free(&out);
    }
}

/* What XML cannot have, in names of no kind, but in texts. */
static void any_text_can_be_drawn(void **state)
{
    (void)state;
    char *svg = draw("flow f \"\x01\xef\xbf\xbf\xef\xbf\xbd\xc3\xa9\" { fail \"\\n\x02\" }", NULL);
    check_well_formed(svg);
    assert_non_null(strstr(svg, ">\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9</text>"));
    assert_non_null(strstr(svg, ">fail &quot;\\n\xef\xbf\xbd&quot;</text>"));
    rad__free(svg);
}

static void a_large_flow_is_drawn_in_a_moment(void **state)
{
    (void)state;
    rad_bytes text = {0};
    rad__bytes_format(&text, "flow f { many p 1 up to 2 { ");
    for (uint32_t i = 0; i < 50000; i++) rad__bytes_format(&text, "more p;");
    rad__bytes_format(&text, "} par { } ");
    for (uint32_t i = 0; i < 50000; i++) rad__bytes_format(&text, "and { }");
    rad__bytes_format(&text, "}");
    char *svg = draw((const char *)text.data, NULL);
    assert_in_range(strlen(svg), 10000000, 40000000);
    rad__free(svg);
    rad__bytes_free(&text);
}

static void without_memory_there_is_no_picture(void **state)
{
    (void)state;
    rad_flow_file file;
    flow_tree_read(&file, EVERYTHING, strlen(EVERYTHING));
    char *svg = NULL;
    for (uint64_t n = 1; svg == NULL; n++) {
        rad__alloc_fail_at(n);
        svg = rad__flow_draw(&file, file.flows, NULL);
        rad__alloc_fail_at(0);
        assert_in_range(n, 1, 1000);
        if (n < 4) assert_null(svg);
    }
    char *whole = rad__flow_draw(&file, file.flows, NULL);
    assert_string_equal(svg, whole);
    rad__free(svg);
    rad__free(whole);
    rad__flow_file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_of_everything),
        cmocka_unit_test(nothing_follows_the_end),
        cmocka_unit_test(a_run_is_drawn_over),
        cmocka_unit_test(runs_of_everything),
        cmocka_unit_test(examples_are_right_and_have_pictures),
        cmocka_unit_test(texts_of_expressions_mean_the_same),
        cmocka_unit_test(durations_have_their_unit),
        cmocka_unit_test(any_text_can_be_drawn),
        cmocka_unit_test(a_large_flow_is_drawn_in_a_moment),
        cmocka_unit_test(without_memory_there_is_no_picture),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
