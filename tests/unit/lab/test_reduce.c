/* test_reduce.c — how a machine's cases shrink: each of its functions (size, reduce, heir, create) counts.
 *
 * The machine is a safe. Its document says who is there ("ddAdB": drones, Anna, Bert) and a code such as
 * "ABBA": when Anna and Bert have made their steps in exactly this order, the safe fails. Drones step thrice
 * each and do not matter. A code of n letters is met by 1 of C(n, n/2) or so schedules: not by chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/case.h"
#include "lab/script.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHO_MAX = 64, CODE_MAX = 64, CODE_MIN = 12, DRONE_STEPS = 3 };

typedef struct safe {
    char who[WHO_MAX], code[CODE_MAX];
    uint32_t left[WHO_MAX];
    uint32_t made; /* letters of the code, in order */
    bool wrong;
    uint32_t door;
} safe;

static uint32_t spin; /* work per run, for slow machines */
static uint32_t code_min = CODE_MIN;

static int safe_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    safe *s = rad__alloc(1, sizeof *s);
    if (s == NULL) return rad__error_memory(error);
    *self = s;
    int got = sscanf(c->body, "{\"who\":\"%63[dAB]\",\"code\":\"%63[AB]\"", s->who, s->code);
    if (got == 2 && strchr(s->who, 'A') && strchr(s->who, 'B') && strlen(s->code) >= code_min) return 0;
    rad__free(s);
    *self = NULL;
    return rad__error(error, RAD_EINPUT, "code: expected letters, found %s", c->body);
}

static void safe_reset(void *self, rad_kernel *k)
{
    safe *s = self;
    s->made = 0;
    s->wrong = false;
    s->door = rad_object(k, RAD_NONE, "door");
    for (uint32_t i = 0; s->who[i]; i++) {
        uint32_t letters = 0;
        for (const char *c = s->code; *c; c++) letters += *c == s->who[i];
        s->left[i] = s->who[i] == 'd' ? DRONE_STEPS : letters;
        uint32_t action = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), s->door, 0);
        if (s->left[i]) rad_enable(k, action);
    }
    for (volatile uint32_t i = 0; i < spin; i++) {
    }
}

static void safe_step(void *self, rad_kernel *k, uint32_t action)
{
    safe *s = self;
    uint32_t i = rad_current_actor(k);
    if (--s->left[i] == 0) rad_disable(k, action);
    if (s->who[i] == 'd') return;
    s->wrong |= s->code[s->made] != s->who[i];
    rad_value(k, s->made++);
    if (s->code[s->made] == 0 && !s->wrong) rad_fail(k, RAD_ORACLE_ASSERT, s->door, "open");
}

static enum rad_end safe_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

/* ---- Its reducer ----------------------------------------------------------------------------------- */

static uint64_t reduce_calls, heir_calls, heir_without_cursor;
static uint32_t taken_wrong; /* times at which `taken` was not what it should be */
static char given_last[200];

static void field_of(const char *body, const char *key, char text[WHO_MAX])
{
    const char *at = strstr(body, key);
    assert_non_null(at);
    at += strlen(key);
    snprintf(text, WHO_MAX, "%.*s", (int)strcspn(at, "\""), at);
}

static void body_split(const char *body, char *who, char *code)
{
    field_of(body, "\"who\":\"", who);
    field_of(body, "\"code\":\"", code);
}

static char *body_of(const char *who, const char *code)
{
    char *text = malloc(200);
    snprintf(text, 200, "{\"who\":\"%s\", \"code\": \"%s\"}", who, code); /* blanks: not canonical */
    return text;
}

static void text_drop(char *text, rad_cut cut)
{
    memmove(text + cut.from, text + cut.to, strlen(text + cut.to) + 1);
}

/* First people, then letters. */
static bool safe_reduce(const rad_case *from, rad_cursor *at, rad_case *to)
{
    char who[WHO_MAX], code[CODE_MAX], now[200];
    reduce_calls++;
    body_split(from->body, who, code);
    snprintf(now, sizeof now, "%s %s", who, code);
    taken_wrong += at->taken != (strcmp(now, given_last) == 0);
    if (at->at[0] == 0 && rad_cut_next(&at->cut, (uint32_t)strlen(who))) {
        text_drop(who, at->cut);
    } else {
        at->at[0] = 1;
        if (!rad_cut_next(&at->cut, (uint32_t)strlen(code))) return false;
        text_drop(code, at->cut);
    }
    snprintf(given_last, sizeof given_last, "%s %s", who, code);
    to->body = body_of(who, code);
    return true;
}

static uint32_t safe_heir(const rad_case *from, const rad_case *to, const rad_cursor *at, uint32_t actor)
{
    (void)from, (void)to;
    heir_calls++;
    if (at == NULL) {
        heir_without_cursor++;
        return actor;
    }
    if (at->at[0] == 1 || actor < at->cut.from) return actor;
    return actor < at->cut.to ? RAD_NONE : actor - (at->cut.to - at->cut.from);
}

static uint64_t safe_size(const rad_case *c)
{
    char who[WHO_MAX], code[CODE_MAX];
    body_split(c->body, who, code);
    return 100 * strlen(who) + strlen(code);
}

/* Only the letters count. */
static uint64_t size_of_the_code(const rad_case *c)
{
    return safe_size(c) % 100;
}

static const rad_machine safe_machine = {
    .name = "safe",
    .about = "opens for a code",
    .bug_site = RAD_NONE,
    .body = "{\"who\":\"AB\",\"code\":\"ABABABABABAB\"}",
    .create = safe_create,
    .destroy = rad__free,
    .reset = safe_reset,
    .step = safe_step,
    .idle = safe_idle,
    .size = safe_size,
    .reduce = safe_reduce,
    .heir = safe_heir,
};

/* ---- Helpers --------------------------------------------------------------------------------------- */

static rad_target target_in(const rad_machine *m, const char *body)
{
    return (rad_target){.machine = m, .c = {.body = body}};
}

/* The run in which the code is met, with the drones' steps in between: by a script. */
static rad_artifact *opened(const rad_target *t)
{
    char who[WHO_MAX], letters[CODE_MAX];
    rad_script_step cues[256] = {{0, 0, 0}};
    uint32_t count = 0;
    rad_rig rig;
    rad_policy *script;
    rad_artifact *a;
    rad_error error = {0};
    body_split(t->c.body, who, letters);
    for (uint32_t i = 0; letters[i]; i++) {
        for (uint32_t d = 0; who[d]; d++)
            if (who[d] == 'd' && (d + i) % 5 == 0) cues[count++].actor = d;
        cues[count++].actor = (uint32_t)(strchr(who, letters[i]) - who);
    }
    assert_int_equal(rad__rig_open(&rig, t, &error), 0);
    assert_int_equal(rad__policy_script(&script, &error), 0);
    rad__script_set(script, cues, count, NULL, 0);
    rad_run_options options = rad__rig_options(&rig, script);
    assert_int_equal(rad__kernel_run(rig.kernel, &options), RAD_OUTCOME_FAILED);
    assert_int_equal(rad__artifact_of_run(&a, t, "script", 0, rig.kernel, &error), 0);
    rad__policy_destroy(script);
    rad__rig_close(&rig);
    return a;
}

static rad_artifact *shrunk(const rad_artifact *a, uint64_t checks, rad_shrink_report *report)
{
    rad_artifact *out;
    rad_error error = {0};
    rad_shrink_options o = {.checks = checks, .certify_runs = 10};
    reduce_calls = heir_calls = heir_without_cursor = taken_wrong = 0;
    given_last[0] = 0;
    if (rad_lab_shrink(a, &o, &out, report, &error) != 0) fail_msg("%s", error.text);
    rad_artifact_free(report->second);
    return out;
}

/* What is left of a safe with this document. */
static void expect_left(const rad_machine *m, const char *body, const char *left, rad_shrink_report *report)
{
    rad_target t = target_in(m, body);
    rad_artifact *a = opened(&t), *small = shrunk(a, 0, report);
    rad_shrink_report again;
    assert_string_equal(rad_artifact_target(small)->c.body, left);
    rad_artifact *same = shrunk(small, 0, &again);
    rad_error error = {0};
    char *one = rad_artifact_json(small, &error), *two = rad_artifact_json(same, &error);
    assert_string_equal(one, two); /* idempotent */
    rad_free(one);
    rad_free(two);
    rad_artifact_free(a);
    rad_artifact_free(small);
    rad_artifact_free(same);
}

/* ---- Cuts ------------------------------------------------------------------------------------------ */

static void cuts_are_halves_from_the_end(void **state)
{
    (void)state;
    static const uint32_t expected[][2] = {{0, 7}, {4, 7}, {1, 4}, {0, 1}, {6, 7}, {5, 6},
                                           {4, 5}, {3, 4}, {2, 3}, {1, 2}, {0, 1}};
    rad_cut cut = {0, 0, 0};
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(rad_cut_next(&cut, 7));
        assert_int_equal(cut.from, expected[i][0]);
        assert_int_equal(cut.to, expected[i][1]);
    }
    assert_false(rad_cut_next(&cut, 7));
    assert_int_equal(cut.from + cut.to + cut.span, 0);
    assert_false(rad_cut_next(&cut, 0));
}

/* Whatever the length: each pass covers the list once, from the end, and the last one item by item. */
static void cuts_leave_nothing_untried(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 40; count++) {
        rad_cut cut = {0, 0, 0};
        uint32_t span = 0, end = 0;
        while (rad_cut_next(&cut, count)) {
            if (end == 0) end = count;
            assert_int_equal(cut.to, end);
            assert_int_equal(cut.from, end > cut.span ? end - cut.span : 0);
            end = cut.from;
            span = cut.span;
        }
        assert_int_equal(end, 0);
        assert_int_equal(span, 1);
    }
}

/* Everything is taken that leaves the numbers 3 and 11 of 16; each round ends. */
static void cuts_go_on_after_what_was_taken(void **state)
{
    (void)state;
    uint32_t items[16], count = 16, calls = 0;
    for (uint32_t i = 0; i < 16; i++) items[i] = i;
    rad_cut cut = {0, 0, 0};
    while (rad_cut_next(&cut, count)) {
        assert_true(cut.from < cut.to && cut.to <= count);
        assert_true(++calls < 40);
        bool needed = false;
        for (uint32_t i = cut.from; i < cut.to; i++) needed |= items[i] == 3 || items[i] == 11;
        if (needed) continue;
        memmove(items + cut.from, items + cut.to, (count - cut.to) * sizeof *items);
        count -= cut.to - cut.from;
    }
    assert_int_equal(count, 2);
    assert_int_equal(items[0], 3);
    assert_int_equal(items[1], 11);
}

/* ---- Scripts --------------------------------------------------------------------------------------- */

static void cues_of_who_cannot_run_are_passed_over(void **state)
{
    (void)state;
    static const uint32_t cued[] = {0, 0, 0, 2, 1, 0, 2, 2, 1}, order[] = {0, 0, 2, 1, 2, 1};
    rad_script_step cues[9];
    rad_error error = {0};
    rad_policy *script;
    bare_rig b;
    weave w = weave_writers(3, 2);
    for (uint32_t i = 0; i < 9; i++) cues[i] = (rad_script_step){cued[i], 0, 0};
    bare_open(&b, &weave_machine, &w, 100);
    assert_int_equal(rad__policy_script(&script, &error), 0);
    rad__script_set(script, cues, 9, NULL, 0);
    rad_run_options options = bare_options(&b, script);
    assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
    assert_int_equal(w.steps, 6);
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(w.order[i], order[i]);
    rad__policy_destroy(script);
    bare_close(&b);
}

/* ---- Each function counts --------------------------------------------------------------------------- */

static void a_run_is_carried_into_the_smaller_case(void **state)
{
    (void)state;
    rad_shrink_report report;
    /* Drones go, and the code's tail up to what create accepts. */
    expect_left(&safe_machine, "{\"who\":\"ddAddBdd\",\"code\":\"ABBABAABBAABABBA\"}",
                "{\"who\":\"AB\",\"code\":\"ABBABAABBAAB\"}", &report);
    assert_int_equal(report.before.case_size, 816);
    assert_int_equal(report.after.case_size, 212);
}

static void without_heirs_nothing_fits_any_more(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_machine m = safe_machine;
    m.heir = NULL;
    rad_target t = target_in(&m, "{\"who\":\"ddAddBdd\",\"code\":\"ABBABAABBAABABBA\"}");
    rad_artifact *a = opened(&t), *small = shrunk(a, 0, &report);
    assert_true(report.after.case_size >= 400);
    assert_int_equal(heir_calls, 0);
    rad_artifact_free(a);
    rad_artifact_free(small);
}

/* The steps of drones that are gone are left out, those of others go to whoever has the new number. */
static void heirs_have_new_numbers(void **state)
{
    (void)state;
    rad_shrink_report report;
    expect_left(&safe_machine, "{\"who\":\"BddddA\",\"code\":\"ABBABAABBAAB\"}",
                "{\"who\":\"BA\",\"code\":\"ABBABAABBAAB\"}", &report);
    assert_true(heir_calls > 0);
    assert_int_equal(heir_without_cursor, 0);
}

static void a_machine_says_what_is_small(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_machine m = safe_machine;
    m.size = size_of_the_code; /* fewer drones are no gain */
    expect_left(&m, "{\"who\":\"dAdB\",\"code\":\"ABBABAABBAABABBA\"}", "{\"who\":\"dAdB\",\"code\":\"ABBABAABBAAB\"}",
                &report);
    assert_int_equal(report.before.case_size, 16);
    assert_int_equal(report.after.case_size, 12);
    m.size = NULL; /* then it is the text, without the reducer's blanks */
    expect_left(&m, "{\"who\":\"dAdB\",\"code\":\"ABBABAABBAABABBA\"}", "{\"who\":\"AB\",\"code\":\"ABBABAABBAAB\"}",
                &report);
    assert_int_equal(report.before.case_size, strlen("{\"who\":\"dAdB\",\"code\":\"\"}") + 16);
}

static void a_reducer_learns_what_was_taken(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_target t = target_in(&safe_machine, "{\"who\":\"dAddBddd\",\"code\":\"ABBABAABBAABABBA\"}");
    rad_artifact *a = opened(&t), *small = shrunk(a, 0, &report);
    assert_true(reduce_calls > 20);
    assert_int_equal(taken_wrong, 0);
    rad_artifact_free(a);
    rad_artifact_free(small);
}

static const rad_param safe_params[] = {{"spare", 3, 0, 3, "", false}, {.name = NULL}};

static void parameters_have_heirs_too(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_machine m = safe_machine;
    m.params = safe_params;
    m.size = NULL;
    rad_target t = target_in(&m, "{\"who\":\"AB\",\"code\":\"ABBABAABBAAB\"}");
    t.c.params[0] = 3;
    rad_artifact *a = opened(&t), *small = shrunk(a, 0, &report);
    assert_int_equal(rad_artifact_target(small)->c.params[0], 0);
    assert_true(heir_without_cursor > 0);
    rad_artifact_free(a);
    rad_artifact_free(small);
}

/* ---- Cost ------------------------------------------------------------------------------------------ */

/* Twenty cases that create refuses, then drones, one at a time. */
static bool reduce_one_by_one(const rad_case *from, rad_cursor *at, rad_case *to)
{
    char who[WHO_MAX], letters[CODE_MAX];
    reduce_calls++;
    body_split(from->body, who, letters);
    char *drone = strrchr(who, 'd');
    if (at->at[0]++ < 20) {
        letters[1] = 0;
    } else if (drone) {
        at->cut.from = (uint32_t)(drone - who);
        at->cut.to = at->cut.from + 1;
        text_drop(who, at->cut);
    } else {
        return false;
    }
    to->body = body_of(who, letters);
    return true;
}

static void a_round_goes_on_where_something_was_taken(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_machine m = safe_machine;
    char body[200], who[61] = "A";
    for (uint32_t i = 1; i < 59; i++) who[i] = 'd';
    who[59] = 'B';
    m.reduce = reduce_one_by_one;
    snprintf(body, sizeof body, "{\"who\":\"%s\",\"code\":\"ABBABAABBAAB\"}", who);
    rad_target t = target_in(&m, body);
    rad_artifact *a = opened(&t), *small = shrunk(a, 0, &report);
    assert_string_equal(rad_artifact_target(small)->c.body, "{\"who\":\"AB\",\"code\":\"ABBABAABBAAB\"}");
    assert_in_range(reduce_calls, 58 + 20, 300);
    rad_artifact_free(a);
    rad_artifact_free(small);
}

/* One hopeless candidate, which fresh runs cannot open: they are made once, though rounds are many. */
static bool reduce_hopeless(const rad_case *from, rad_cursor *at, rad_case *to)
{
    char who[WHO_MAX], letters[CODE_MAX];
    body_split(from->body, who, letters);
    if (at->at[0]++ > 0 || strlen(letters) < 13) return false;
    memmove(letters, letters + 1, strlen(letters)); /* "A" is missing in front: never met by heirs */
    to->body = body_of(who, letters);
    return true;
}

static void no_case_is_searched_twice(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_machine m = safe_machine;
    m.reduce = reduce_hopeless;
    m.heir = NULL;
    rad_target t = target_in(&m, "{\"who\":\"dAB\",\"code\":\"ABBABAABBAABABBAA\"}");
    rad_artifact *a = opened(&t), *small = shrunk(a, 0, &report);
    assert_true(report.before.switches > report.after.switches); /* so there was a second round */
    assert_in_range(report.checks, 800, 1300);
    rad_artifact_free(a);
    rad_artifact_free(small);
}

/* A unit ends after a tenth of a second; what is left of the fresh runs is made all the same. */
static void slow_runs_are_made_too(void **state)
{
    (void)state;
    rad_shrink_report slow, fast;
    rad_machine m = safe_machine;
    m.reduce = reduce_hopeless;
    m.heir = NULL;
    rad_target t = target_in(&m, "{\"who\":\"AB\",\"code\":\"ABBABAABBAABABBAA\"}");
    rad_artifact *a = opened(&t);
    rad_artifact *one = shrunk(a, 0, &fast);
    spin = 1000 * 1000;
    rad_artifact *two = shrunk(a, 0, &slow);
    spin = 0;
    assert_int_equal(slow.checks, fast.checks);
    rad_artifact_free(a);
    rad_artifact_free(one);
    rad_artifact_free(two);
}

/* ---- Reducers that misbehave ------------------------------------------------------------------------ */

static int shrink_with(bool (*reduce)(const rad_case *, rad_cursor *, rad_case *), uint64_t checks, rad_error *error)
{
    rad_machine m = safe_machine;
    rad_shrink_report report;
    rad_artifact *out = NULL;
    rad_shrink_options o = {.checks = checks, .certify_runs = 10};
    m.reduce = reduce;
    m.size = NULL;
    rad_target t = target_in(&m, "{\"who\":\"dAB\",\"code\":\"ABBABAABBAAB\"}");
    rad_artifact *a = opened(&t);
    int status = rad_lab_shrink(a, &o, &out, &report, error);
    if (status == 0) rad_artifact_free(report.second);
    assert_true(report.checks <= checks + 1000);
    rad_artifact_free(a);
    rad_artifact_free(out);
    return status;
}

static bool reduce_without_end(const rad_case *from, rad_cursor *at, rad_case *to)
{
    (void)from, (void)at, (void)to;
    return true; /* the same case, again and again */
}

static bool reduce_to_junk(const rad_case *from, rad_cursor *at, rad_case *to)
{
    (void)from, (void)at;
    to->body = rad__copy_text("{\"a\"");
    return true;
}

static bool reduce_to_nonsense(const rad_case *from, rad_cursor *at, rad_case *to)
{
    (void)from;
    if (at->at[0]++ == 5) return false;
    to->body = rad__copy_text("{}");
    return true;
}

static bool reduce_out_of_memory(const rad_case *from, rad_cursor *at, rad_case *to)
{
    (void)from, (void)to;
    at->failed = true;
    return false;
}

static void reducers_may_misbehave(void **state)
{
    (void)state;
    rad_error error = {0};
    assert_int_equal(shrink_with(reduce_without_end, 5000, &error), 0);
    assert_int_equal(shrink_with(reduce_to_nonsense, 5000, &error), 0);
    assert_int_equal(shrink_with(reduce_to_junk, 5000, &error), RAD_EINPUT);
    assert_memory_equal(error.text, "machine safe: reduce: body:1:4: expected ", 41);
    assert_int_equal(shrink_with(reduce_out_of_memory, 5000, &error), RAD_ENOMEM);
}

/* ---- The toy --------------------------------------------------------------------------------------- */

static void expect_program(const char *body, const char *left)
{
    rad_target t = target_of("program", NULL);
    rad_exploration e;
    rad_error error = {0};
    rad_shrink_report report;
    rad_explore_options o = {.seed = 1, .stop_on_first = true};
    t.c.body = body;
    if (rad_lab_explore(&t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(e.finding_count, 1);
    rad_artifact *small = shrunk(e.findings[0].artifact, 0, &report);
    assert_string_equal(rad_artifact_target(small)->c.body, left);
    rad_artifact *same = shrunk(small, 0, &report);
    assert_string_equal(rad_artifact_target(same)->c.body, left);
    assert_int_equal(report.before.switches, report.after.switches);
    rad_exploration_free(&e);
    rad_artifact_free(small);
    rad_artifact_free(same);
}

static void a_program_shrinks_to_what_matters(void **state)
{
    (void)state;
    expect_program("{\"threads\":[[\"skip\",\"inc 2\"],[\"lock 0\",\"inc 0\",\"unlock 0\"],"
                   "[\"lock 1\",\"inc 0\",\"skip\",\"unlock 1\"],[],[\"skip\"]]}",
                   "{\"threads\":[[\"inc 0\"],[\"inc 0\"]]}");
    expect_program("{\"threads\":[[\"skip\"],[\"lock 3\",\"inc 1\",\"lock 5\",\"unlock 3\","
                   "\"skip\",\"unlock 5\"],[\"inc 2\",\"lock 5\",\"lock 3\",\"unlock 3\",\"unlock "
                   "5\"]]}",
                   "{\"threads\":[[\"lock 3\",\"lock 5\",\"unlock 3\",\"unlock 5\"],[\"lock "
                   "5\",\"lock 3\",\"unlock 3\",\"unlock 5\"]]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_halves_from_the_end),
        cmocka_unit_test(cuts_leave_nothing_untried),
        cmocka_unit_test(cuts_go_on_after_what_was_taken),
        cmocka_unit_test(cues_of_who_cannot_run_are_passed_over),
        cmocka_unit_test(a_run_is_carried_into_the_smaller_case),
        cmocka_unit_test(without_heirs_nothing_fits_any_more),
        cmocka_unit_test(heirs_have_new_numbers),
        cmocka_unit_test(a_machine_says_what_is_small),
        cmocka_unit_test(a_reducer_learns_what_was_taken),
        cmocka_unit_test(parameters_have_heirs_too),
        cmocka_unit_test(a_round_goes_on_where_something_was_taken),
        cmocka_unit_test(no_case_is_searched_twice),
        cmocka_unit_test(slow_runs_are_made_too),
        cmocka_unit_test(reducers_may_misbehave),
        cmocka_unit_test(a_program_shrinks_to_what_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
