/* test_story.c — rad_story_text on hand-made stories: two actors and twelve, several widths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "view/canvas.h"
#include "view/words.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 64, ACTORS_MAX = 300 };

/* A story under construction. */
typedef struct maker {
    rad_story story;
    char actors[ACTORS_MAX][48];
    rad_line lines[LINES_MAX];
    rad_wait_edge waits[ACTORS_MAX];
} maker;

static maker *maker_new(void)
{
    maker *m = test_calloc(1, sizeof *m);
    m->story.actors = m->actors;
    m->story.lines = m->lines;
    m->story.waits = m->waits;
    return m;
}

static void add_actor(maker *m, const char *role, int number)
{
    char *name = m->actors[m->story.actor_count++];
    if (number < 0)
        snprintf(name, 48, "%s", role);
    else
        snprintf(name, 48, "%s %d", role, number);
}

static rad_line *add_line(maker *m, uint32_t actor, const char *site, const char *object, enum rad_switch turn)
{
    rad_line *line = &m->lines[m->story.line_count++];
    line->step = m->story.line_count;
    line->actor = actor;
    line->site = site;
    line->kind = "go";
    line->turn = turn;
    snprintf(line->object, sizeof line->object, "%s", object);
    m->story.measure.steps = m->story.line_count;
    m->story.measure.switches += turn != RAD_SWITCH_NONE;
    m->story.measure.preemptions += turn == RAD_SWITCH_PREEMPTIVE;
    return line;
}

static void add_wait(maker *m, uint32_t actor, const char *object, const char *holder)
{
    rad_wait_edge *edge = &m->waits[m->story.wait_count++];
    edge->actor = actor;
    snprintf(edge->object, sizeof edge->object, "%s", object);
    snprintf(edge->holder, sizeof edge->holder, "%s", holder);
}

static void set_failure(maker *m, const char *kind, uint64_t step, const char *message)
{
    rad_verdict *v = &m->story.verdict;
    v->result = RAD_RESULT_FAILURE;
    v->steps = m->story.line_count;
    v->failure_step = step;
    snprintf(v->kind, sizeof v->kind, "%s", kind);
    snprintf(v->message, sizeof v->message, "%s", message);
}

/* Two actors: a setter is interrupted between its two writes. */
static maker *two_actors(void)
{
    maker *m = maker_new();
    add_actor(m, "setter", -1);
    add_actor(m, "checker", -1);
    rad_line *line = add_line(m, 0, "write a", "a", RAD_SWITCH_NONE);
    line->access = RAD_WRITE;
    line->has_value = true;
    line->value = 1;
    line = add_line(m, 1, "read a", "a", RAD_SWITCH_PREEMPTIVE);
    line->access = RAD_READ;
    line->has_value = true;
    line->value = 1;
    line->decisive = true;
    line = add_line(m, 1, "read b", "b", RAD_SWITCH_NONE);
    line->access = RAD_READ;
    line->has_value = true;
    add_line(m, 1, "check", "-", RAD_SWITCH_NONE);
    set_failure(m, "assertion", 4, "a is set but b is not");
    m->story.measure.nonzero = 1;
    return m;
}

/* Two actors, a forced switch, hidden steps in between, and a deadlock in a circle. */
static maker *two_deadlocked(void)
{
    maker *m = maker_new();
    add_actor(m, "left", -1);
    add_actor(m, "right", -1);
    add_line(m, 0, "lock", "fork 0", RAD_SWITCH_NONE);
    add_line(m, 1, "lock", "fork 1", RAD_SWITCH_PREEMPTIVE)->decisive = true;
    for (int i = 0; i < 12; i++) add_line(m, 1, "think", "-", RAD_SWITCH_NONE)->hidden = true;
    add_line(m, 1, "lock", "fork 0", RAD_SWITCH_NONE);
    add_line(m, 0, "lock", "fork 1", RAD_SWITCH_FORCED);
    add_wait(m, 0, "fork 1", "right");
    add_wait(m, 1, "fork 0", "left");
    set_failure(m, "deadlock", 16, "deadlock: left waits for fork 1; right waits for fork 0");
    return m;
}

/* Twelve philosophers take their left forks, one after the other. */
static maker *twelve_actors(void)
{
    maker *m = maker_new();
    for (int i = 0; i < 12; i++) add_actor(m, "philosopher", i);
    for (uint32_t i = 0; i < 12; i++) {
        char fork[48];
        snprintf(fork, sizeof fork, "fork %u", i);
        enum rad_switch turn = i == 0 ? RAD_SWITCH_NONE : RAD_SWITCH_PREEMPTIVE;
        rad_line *line = add_line(m, i, "take left fork", fork, turn);
        line->decisive = i > 0;
    }
    for (uint32_t i = 0; i < 12; i++) {
        char fork[48], holder[48];
        snprintf(fork, sizeof fork, "fork %u", (i + 1) % 12);
        snprintf(holder, sizeof holder, "philosopher %u", (i + 1) % 12);
        add_line(m, i, "take right fork", fork, RAD_SWITCH_FORCED);
        add_wait(m, i, fork, holder);
    }
    set_failure(m, "deadlock", 24, "deadlock: everyone");
    return m;
}

static char *tell(const maker *m, uint32_t width, bool colour, bool all)
{
    char *text = rad_story_text(&m->story, width, colour, all);
    assert_non_null(text);
    if (getenv("VIEW_PRINT")) fprintf(stderr, "---- width %u\n%s", width, text);
    return text;
}

static void assert_fits(const char *text, uint32_t width)
{
    while (*text) {
        char row[4096];
        size_t size = strcspn(text, "\n");
        assert_true(size < sizeof row);
        snprintf(row, sizeof row, "%.*s", (int)size, text);
        if (rad__columns(row) > width) fail_msg("wider than %u: %s", width, row);
        assert_false(size > 0 && row[size - 1] == ' ');
        text += size + 1;
    }
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("no \"%s\" in:\n%s", part, text);
}

static void test_two_actors_exactly(void **state)
{
    (void)state;
    maker *m = two_actors();
    char *text = tell(m, 60, false, false);
    assert_string_equal(text, " step  setter                  checker\n"
                              " ────  ──────────────────────  ──────────────────────\n"
                              "    1  ● write a = 1\n"
                              "  >>>  preempt setter, run checker\n"
                              "       ┗━━━━━━━━━━━━━━━━━━━━━━▶┓\n"
                              "    2                          ● read a = 1\n"
                              "    3                          ● read b = 0\n"
                              "    4                          ✗ check\n"
                              "\n"
                              " ✗ assertion at step 4: a is set but b is not\n"
                              "   4 steps, 1 switch (1 preemptive), 1 choice off the\n"
                              "   baseline\n");
    rad_free(text);
    test_free(m);
}

/* A step after which its actor waits has another sign, which is explained; a hidden one is not. */
static void test_marks_waits(void **state)
{
    (void)state;
    maker *m = two_actors();
    m->story.lines[1].waits = true;
    char *text = tell(m, 60, false, false);
    assert_has(text, "    2                          ○ read a = 1\n");
    assert_has(text, "    3                          ● read b = 0\n");
    assert_has(text, " ○ after this step its actor had to wait\n");
    rad_free(text);
    m->story.lines[1].hidden = true;
    text = tell(m, 60, false, false);
    assert_null(strstr(text, "○"));
    rad_free(text);
    test_free(m);
}

/* A decisive switch that preempts no actor says which line runs, unless the row of that step has it. */
static void test_says_what_runs(void **state)
{
    (void)state;
    maker *m = two_actors();
    rad_source_place at = {.file = "a_file_with_a_name.c", .line = 12, .source = "x = a;"};
    m->story.lines[1].turn = RAD_SWITCH_FORCED;
    m->story.lines[2].at = &at;
    char *text = tell(m, 54, false, false);
    assert_has(text, ">>>  switch to checker: setter stopped");
    assert_has(text, "       checker runs a_file_with_a_name.c:12: x = a;\n");
    rad_free(text);
    text = tell(m, 200, false, false);
    assert_has(text, "read b = 0  a_file_with_a_name.c:12\n");
    assert_null(strstr(text, "checker runs"));
    rad_free(text);
    test_free(m);
}

/* The preempted actor takes no later step: what it was about to do says where it stopped. */
static void test_stops_for_good(void **state)
{
    (void)state;
    maker *m = two_actors();
    rad_source_place at = {.file = "set.c", .line = 7, .source = "b = 1;"};
    rad_pending pending[] = {{.site = "write b", .at = &at}, {.site = ""}};
    m->story.pending = pending;
    char *text = tell(m, 100, false, false);
    assert_has(text, ">>>  preempt setter, run checker\n       setter stops before set.c:7: b = 1;\n");
    rad_free(text);
    pending[0].site = "continue";
    text = tell(m, 100, false, false);
    assert_has(text, "setter stops after set.c:7: b = 1;\n");
    rad_free(text);
    pending[0].at = NULL;
    text = tell(m, 100, false, false);
    assert_null(strstr(text, "setter stops"));
    rad_free(text);
    test_free(m);
}

static void test_every_width(void **state)
{
    (void)state;
    static const uint32_t widths[] = {0, 40, 60, 61, 80, 100, 160, 1000};
    maker *makers[] = {two_actors(), two_deadlocked(), twelve_actors()};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            char *text = tell(makers[k], widths[i], false, false);
            assert_fits(text, widths[i] ? widths[i] : 100);
            assert_null(strchr(text, '\033'));
            rad_free(text);
        }
        test_free(makers[k]);
    }
}

static void test_hidden_steps(void **state)
{
    (void)state;
    maker *m = two_deadlocked();
    char *text = tell(m, 100, false, false);
    assert_has(text, "… 12 steps of right that do not matter …");
    assert_null(strstr(text, "think"));
    rad_free(text);
    text = tell(m, 100, false, true);
    assert_null(strstr(text, "do not matter"));
    assert_has(text, "think");
    rad_free(text);
    m->lines[2].hidden = false;
    for (int i = 4; i < 14; i++) m->lines[i].hidden = false;
    text = tell(m, 100, false, false);
    assert_has(text, "… 1 step of right that does not matter …");
    rad_free(text);
    test_free(m);
}

/* Six steps, then the same four so many times, with the failure in the last but one. */
static maker *in_circles(int times)
{
    static const char *const sites[] = {"lock", "read", "read", "unlock"};
    maker *m = maker_new();
    add_actor(m, "left", -1);
    add_actor(m, "right", -1);
    for (int i = 0; i < 6; i++) add_line(m, 0, "open", "door", RAD_SWITCH_NONE)->value = (uint64_t)i;
    for (int i = 0; i < 4 * times; i++)
        add_line(m, (uint32_t)i / 2 % 2, sites[i % 4], "-", i % 2 ? RAD_SWITCH_NONE : RAD_SWITCH_FORCED);
    return m;
}

static uint32_t count_lines(const char *text, const char *part)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
    return count;
}

/* Rounds that repeat are drawn by the first and the last one. */
static void test_rounds(void **state)
{
    (void)state;
    maker *m = in_circles(10);
    char *text = tell(m, 100, false, false);
    assert_has(text, "… steps 11 to 42 are the 4 steps before them, 8 times more …\n");
    assert_has(text, "\n   43  ● lock");
    assert_int_equal(count_lines(text, "● unlock"), 2);
    assert_int_equal(count_lines(text, "● open"), 6);
    rad_free(text);
    text = tell(m, 100, false, true); /* --all */
    assert_null(strstr(text, "times more"));
    assert_int_equal(count_lines(text, "● unlock"), 10);
    rad_free(text);
    test_free(m);
    m = in_circles(4); /* too few to be worth it */
    text = tell(m, 100, false, false);
    assert_int_equal(count_lines(text, "● unlock"), 4);
    rad_free(text);
    test_free(m);
}

/* What differs, or matters, is never left out. */
static void test_rounds_that_differ(void **state)
{
    (void)state;
    maker *m = in_circles(14);
    m->lines[6 + 25].decisive = true;
    char *text = tell(m, 100, false, false);
    assert_int_equal(count_lines(text, "times more"), 2);
    assert_has(text, "\n   32  ");
    rad_free(text);
    m->lines[6 + 25].decisive = false;
    snprintf(m->lines[6 + 25].object, sizeof m->lines[0].object, "door");
    text = tell(m, 100, false, false);
    assert_has(text, "● read door");
    rad_free(text);
    snprintf(m->lines[6 + 25].object, sizeof m->lines[0].object, "-");
    set_failure(m, "assertion", 6 + 26, "it was open");
    text = tell(m, 100, false, false);
    assert_int_equal(count_lines(text, "✗ read"), 1);
    rad_free(text);
    test_free(m);
}

static void test_waits_and_circle(void **state)
{
    (void)state;
    maker *m = two_deadlocked();
    char *text = tell(m, 100, false, false);
    assert_has(text, "left waits for fork 1, held by right\n");
    assert_has(text, "a circle: left → right → left\n");
    assert_has(text, "✗ deadlock at step 16: no actor can run\n");
    assert_has(text, "◀┄"); /* the forced switch back */
    rad_free(text);
    snprintf(m->waits[0].holder, sizeof m->waits[0].holder, "-");
    text = tell(m, 100, false, false);
    assert_has(text, "left waits for fork 1\n");
    assert_null(strstr(text, "circle"));
    rad_free(text);
    test_free(m);
}

static void test_twelve_actors(void **state)
{
    (void)state;
    maker *m = twelve_actors();
    char *text = tell(m, 60, false, false);
    assert_has(text, "philosopher 11  take left fork 11\n");
    assert_has(text, "preempt philosopher 10, run philosopher 11\n");
    rad_free(text);
    text = tell(m, 160, false, false);
    assert_has(text, "   13  ●");
    assert_has(text, "philosopher 0   take right fork 1\n");
    rad_free(text);
    text = tell(m, 300, false, false);
    assert_has(text, " step  philosopher 0           philosopher 1 ");
    rad_free(text);
    test_free(m);
}

static void test_actors_without_lines(void **state)
{
    (void)state;
    maker *m = two_actors();
    const char *few[] = {"(reader 0 has no step here)", "(reader 0 and reader 1 have no step here)",
                         "(reader 0, reader 1 and reader 2 have no step here)"};
    for (int i = 0; i < 9; i++) {
        add_actor(m, "reader", i);
        char *text = tell(m, 100, false, false);
        if (i < 3) assert_has(text, few[i]);
        rad_free(text);
    }
    add_actor(m, "clock", -1);
    char *text = tell(m, 100, false, false);
    assert_has(text, "(9 other actors have no step here)");
    assert_null(strstr(text, "reader"));
    rad_free(text);
    test_free(m);
}

/* More actors than lanes fit on the page: a list with names. */
static void test_crowd(void **state)
{
    (void)state;
    maker *m = maker_new();
    for (int i = 0; i < 50; i++) {
        add_actor(m, "fiber", i);
        add_line(m, (uint32_t)i, "go", "-", i ? RAD_SWITCH_FORCED : RAD_SWITCH_NONE);
    }
    m->story.verdict.steps = 50;
    char *text = tell(m, 80, false, false);
    assert_has(text, "   50  fiber 49  go\n");
    assert_has(text, "✓ passed: 50 steps, nothing to report");
    assert_fits(text, 80);
    rad_free(text);
    test_free(m);
}

static void test_empty_story(void **state)
{
    (void)state;
    maker *m = maker_new();
    char *text = tell(m, 100, false, false);
    assert_has(text, "✓ passed: 0 steps, nothing to report");
    rad_free(text);
    test_free(m);
}

static void test_colour(void **state)
{
    (void)state;
    maker *m = two_actors();
    char *text = tell(m, 100, true, false);
    assert_has(text, "\033[1;33m>>>  preempt setter, run checker");
    assert_has(text, "\033[1;31m✗ assertion at step 4");
    for (const char *row = text; *row;) { /* every row ends plain */
        const char *end = strchr(row, '\n');
        const char *last = NULL;
        for (const char *p = row; p < end; p++) last = *p == '\033' ? p : last;
        assert_true(last == NULL || strncmp(last, "\033[0m", 4) == 0);
        row = end + 1;
    }
    rad_free(text);
    test_free(m);
}

enum { NO_VALUE = -1000 };

static void words_are(const char *site, const char *object, enum rad_access access, int64_t value, const char *note,
                      const char *expected)
{
    rad_line line = {.site = site, .kind = "go", .access = access};
    line.has_value = value != NO_VALUE;
    line.value = line.has_value ? (uint64_t)value : 0;
    snprintf(line.object, sizeof line.object, "%s", object);
    snprintf(line.note, sizeof line.note, "%s", note);
    char words[RAD_WORDS_MAX];
    rad__line_words(&line, "worker 3", words);
    assert_string_equal(words, expected);
}

static void test_words(void **state)
{
    (void)state;
    words_are("read b", "b", RAD_READ, 0, "", "read b = 0");
    words_are("read", "b", RAD_READ, 7, "", "read b = 7");
    words_are("write", "b", RAD_WRITE, 0, "", "write b = 0");
    words_are("lock", "m", RAD_WRITE, NO_VALUE, "", "lock m");
    words_are("take fork", "fork 3", RAD_WRITE, NO_VALUE, "", "take fork 3");
    words_are("take fork 3", "fork 3", RAD_WRITE, NO_VALUE, "", "take fork 3");
    words_are("unlock", "lock", RAD_WRITE, NO_VALUE, "", "unlock");
    words_are("unlock 1", "lock 1", RAD_WRITE, NO_VALUE, "", "unlock 1");
    words_are("take the lock", "lock a", RAD_WRITE, NO_VALUE, "", "take the lock a");
    words_are("wait for the workers", "worker 0", RAD_READ, NO_VALUE, "", "wait for the workers: worker 0");
    words_are("spawn", "setter 0", RAD_WRITE, NO_VALUE, "", "spawn setter 0");
    words_are("worker: read", "total", RAD_READ, 0, "", "read total = 0");
    words_are("other: read", "total", RAD_READ, 0, "", "other: read total = 0");
    words_are("worker:", "-", RAD_LOCAL, NO_VALUE, "", "worker:");
    words_are("look", "m", RAD_READ, NO_VALUE, "", "look m");
    words_are("", "-", RAD_LOCAL, NO_VALUE, "", "go");
    words_are("x = y", "x", RAD_WRITE, NO_VALUE, "", "x = y");
    words_are("add", "sum", RAD_WRITE, -2, "", "add sum = -2");
    words_are("select", "-", RAD_LOCAL, NO_VALUE, "case 1 of 2", "select (case 1 of 2)");
}

static void test_words_never_overflow(void **state)
{
    (void)state;
    char site[600], words[RAD_WORDS_MAX];
    memset(site, 'x', sizeof site);
    site[sizeof site - 1] = 0;
    rad_line line = {.site = site, .kind = site, .access = RAD_READ, .value = UINT64_MAX, .has_value = true};
    memset(line.object, 'o', sizeof line.object - 1);
    memset(line.note, 'n', sizeof line.note - 1);
    rad__line_words(&line, "worker 3", words);
    assert_true(strlen(words) < RAD_WORDS_MAX);
    memcpy(site + 300, " fork ", 6); /* the role far behind */
    snprintf(line.object, sizeof line.object, "fork 12");
    rad__line_words(&line, "worker 3", words);
    assert_true(strlen(words) < RAD_WORDS_MAX);
}

static void test_foreign_bytes(void **state)
{
    (void)state;
    maker *m = two_actors();
    m->lines[0].site = "\033[31m\xff\xc3\xc2\x9b\xe2\x80\xae";
    snprintf(m->actors[0], 48, "s\té");
    char *text = tell(m, 60, false, false);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\t'));
    assert_has(text, "s é"); /* a cell each */
    assert_has(text, "�[31m����");
    rad_free(text);
    test_free(m);
}

static void test_wrap(void **state)
{
    (void)state;
    const char *next;
    assert_int_equal(rad__wrap("one two three", 7, &next), 7);
    assert_string_equal(next, "three");
    assert_int_equal(rad__wrap("one two three", 9, &next), 7);
    assert_string_equal(next, "three");
    assert_int_equal(rad__wrap("unbreakable", 4, &next), 4);
    assert_string_equal(next, "eakable");
    assert_int_equal(rad__wrap("accounts[0].lock", 15, &next), 12); /* behind the last sign that fits */
    assert_string_equal(next, "lock");
    assert_int_equal(rad__wrap("a.verylongname", 10, &next), 10); /* none in the second half */
    assert_int_equal(rad__wrap("x", 0, &next), 1);
    assert_int_equal(rad__wrap("", 5, &next), 0);
}

static void test_readable(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(rad__readable_count(0, text), "0");
    assert_string_equal(rad__readable_count(999, text), "999");
    assert_string_equal(rad__readable_count(1000, text), "1,000");
    assert_string_equal(rad__readable_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

/* Four threads; the places of the first one's calls would leave less for the words of the others. */
static void test_words_come_before_places(void **state)
{
    (void)state;
    maker *m = maker_new();
    rad_source_place at = {.file = "a_file.c", .line = 1000};
    for (int i = 0; i < 4; i++) add_actor(m, "thread", i);
    add_line(m, 0, "create", "-", RAD_SWITCH_NONE)->at = &at;
    for (uint32_t i = 1; i < 4; i++) add_line(m, i, "lock", "mutex accounts", RAD_SWITCH_FORCED)->at = &at;
    char *text = tell(m, 90, false, false);
    assert_has(text, "● lock mutex accounts\n");
    assert_null(strstr(text, "a_file"));
    rad_free(text);
    text = tell(m, 200, false, false);
    assert_has(text, "● lock mutex accounts  a_file.c:1000\n");
    rad_free(text);
    test_free(m);
}

static rad_line *add_continue(maker *m, uint32_t actor, enum rad_switch turn)
{
    return add_line(m, actor, "continue", "-", turn);
}

/* A stop at which nobody came between is not drawn; one before or after a switch is. */
static void test_stops_that_nothing_used(void **state)
{
    (void)state;
    maker *m = maker_new();
    add_actor(m, "one", -1);
    add_actor(m, "two", -1);
    add_line(m, 0, "unlock", "m", RAD_SWITCH_NONE);
    add_continue(m, 0, RAD_SWITCH_NONE); /* 2: left out */
    add_line(m, 0, "unlock", "n", RAD_SWITCH_NONE);
    add_continue(m, 0, RAD_SWITCH_NONE); /* 4: two comes behind it */
    add_continue(m, 1, RAD_SWITCH_PREEMPTIVE);
    add_continue(m, 1, RAD_SWITCH_NONE);                             /* 6: left out */
    snprintf(add_continue(m, 1, RAD_SWITCH_NONE)->note, 96, "late"); /* 7: says something */
    add_line(m, 1, "lock", "m", RAD_SWITCH_NONE);
    char *text = tell(m, 60, false, false);
    for (int step = 1; step <= 8; step++) {
        char row[32];
        snprintf(row, sizeof row, "\n    %d  ", step);
        assert_int_equal(strstr(text, row) != NULL, step != 2 && step != 6);
    }
    rad_free(text);
    text = tell(m, 60, false, true);
    assert_has(text, "\n    2  ");
    assert_has(text, "\n    6  ");
    rad_free(text);
    test_free(m);
}

static void test_no_memory(void **state)
{
    (void)state;
    maker *m = twelve_actors();
    bool done = false;
    for (uint64_t n = 1; n < 100 && !done; n++) {
        rad__alloc_fail_at(n);
        char *text = rad_story_text(&m->story, 100, false, false);
        rad__alloc_fail_at(0);
        done = text != NULL;
        rad_free(text);
        assert_true(n > 1 || !done);
    }
    assert_true(done);
    test_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_actors_exactly),
        cmocka_unit_test(test_marks_waits),
        cmocka_unit_test(test_says_what_runs),
        cmocka_unit_test(test_stops_for_good),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_hidden_steps),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_rounds_that_differ),
        cmocka_unit_test(test_waits_and_circle),
        cmocka_unit_test(test_twelve_actors),
        cmocka_unit_test(test_actors_without_lines),
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_empty_story),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_never_overflow),
        cmocka_unit_test(test_foreign_bytes),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_words_come_before_places),
        cmocka_unit_test(test_stops_that_nothing_used),
        cmocka_unit_test(test_readable),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
