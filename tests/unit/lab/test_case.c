/* test_case.c — cases with a document: into files and back, who is told what, and who owns the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/case.h"
#include "lab/machines.h"
#include "rig_support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char racy[] = "{\"threads\":[[\"inc 0\"],[\"skip\",\"inc 0\"]]}";

static rad_target program(const char *body)
{
    rad_target t = target_of("program", NULL);
    if (body) t.c.body = body;
    return t;
}

/* `head`, a list of `depth` levels with nothing in it, and a bracket. */
static void deep_text(char *text, size_t size, const char *head, int depth)
{
    char opens[41], closes[41];
    memset(opens, '[', 40);
    memset(closes, ']', 40);
    snprintf(text, size, "%s%.*s%.*s}", head, depth, opens, depth, closes);
}

static rad_artifact *found_in(const rad_target *t)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.seed = 1, .stop_on_first = true};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(e.finding_count, 1);
    rad_artifact *a = e.findings[0].artifact;
    e.findings[0].artifact = NULL;
    rad_exploration_free(&e);
    return a;
}

static char *json_of(const rad_artifact *a)
{
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error);
    if (text == NULL) fail_msg("%s", error.text);
    return text;
}

static rad_artifact *parsed(const char *text)
{
    rad_artifact *a;
    rad_error error = {0};
    if (rad__artifact_parse(&a, text, strlen(text), "x.json", false, &error) != 0) fail_msg("%s", error.text);
    return a;
}

/* ---- The machine sees it --------------------------------------------------------------------------- */

static void a_body_decides_what_is_run(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint64_t steps;
    } rows[] = {
        {racy, 7}, /* 2 + 3 + join + look */
        {"{\"threads\":[[\"skip\"]]}", 2},
        {NULL, 15}, /* the default */
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rad_target t = program(rows[i].body);
        rad_verdict v;
        rad_error error = {0};
        rad_run_request r = {.policy = "first"};
        t.c.body = rows[i].body;
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        assert_int_equal(v.steps, rows[i].steps);
    }
}

static void a_body_is_for_machines_that_take_one(void **state)
{
    (void)state;
    rad_target t = target_of("counter", NULL);
    rad_verdict v;
    rad_error error = {0};
    rad_run_request r = {.policy = "first"};
    rad_artifact *a;
    t.c.body = racy;
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), RAD_EINPUT);
    assert_string_equal(error.text, "counter takes no body, only numbers");
    error = (rad_error){0};
    assert_int_equal(rad__artifact_of_choices(&a, &t, "x", 0, NULL, 0, &v, &error), RAD_EINPUT);
}

static void a_target_tells_that_its_document_is_another(void **state)
{
    (void)state;
    char text[100];
    rad_target t = program(NULL);
    rad_target_text(&t, text, sizeof text);
    assert_string_equal(text, "program");
    t.c.body = racy;
    rad_target_text(&t, text, sizeof text);
    assert_memory_equal(text, "program (body ", 14);
    assert_int_equal(strlen(text), 14 + 8 + 1);
}

/* ---- Artifacts ------------------------------------------------------------------------------------- */

static void an_artifact_keeps_the_document_byte_for_byte(void **state)
{
    (void)state;
    rad_target t = program(" { \"threads\" : [[\"inc 0\"],\n [\"skip\", \"inc 0\"]] } ");
    rad_artifact *a = found_in(&t);
    assert_string_equal(a->target.c.body, racy); /* its own, and without blanks */
    char *text = json_of(a);
    assert_non_null(strstr(text, "    \"body\": {\n"
                                 "      \"threads\": [\n"
                                 "        [\"inc 0\"],\n"
                                 "        [\"skip\", \"inc 0\"]\n"
                                 "      ]\n"
                                 "    }\n"
                                 "  },\n"));
    rad_artifact *b = parsed(text);
    assert_string_equal(b->target.c.body, racy);
    char *again = json_of(b);
    assert_string_equal(text, again);
    rad_replay replay;
    rad_error error = {0};
    assert_int_equal(rad_lab_replay(b, NULL, &replay, &error), 0);
    assert_true(replay.as_recorded);
    rad_artifact_free(b);
    /* The checksum covers it. */
    strstr(text, "inc 0")[4] = '1';
    assert_int_equal(rad__artifact_parse(&b, text, strlen(text), "x.json", false, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "checksum mismatch"));
    rad_free(text);
    rad_free(again);
    rad_artifact_free(a);
    assert_null(b);
}

static void the_order_of_fields_and_odd_names_are_kept(void **state)
{
    (void)state;
    static const char body[] = "{\"z\":1,\"a\\\"\\n\":[1.5,{\"\":null},[[]]],\"\\u00e9\":-0.0}";
    rad_json_source s = {"x", NULL};
    rad_bytes text = {0};
    json_t *value = rad__json_load(&s, body, strlen(body));
    rad__json_print(&text, value);
    rad__bytes_put(&text, "", 1);
    assert_string_equal((char *)text.data, "{\n"
                                           "  \"z\": 1,\n"
                                           "  \"a\\\"\\n\": [\n"
                                           "    1.5,\n"
                                           "    {\"\": null},\n"
                                           "    [[]]\n"
                                           "  ],\n"
                                           "  \"\303\251\": -0.0\n"
                                           "}");
    rad__bytes_free(&text);
    json_decref(value);
}

static void a_long_list_in_a_list_is_broken(void **state)
{
    (void)state;
    rad_bytes made = {0};
    rad__bytes_format(&made, "{\"threads\":[[\"skip\"");
    for (int i = 0; i < 60; i++) rad__bytes_format(&made, ",\"inc 0\"");
    rad__bytes_put(&made, "],[\"inc 0\"]]}", sizeof "],[\"inc 0\"]]}");
    const char *body = (char *)made.data;
    rad_target t = program(body);
    rad_error error = {0};
    char *text = rad_target_json(&t, &error);
    assert_non_null(text);
    size_t longest = 0;
    for (char *at = text; *at; at += strcspn(at, "\n") + 1) {
        size_t length = strcspn(at, "\n");
        longest = length > longest ? length : longest;
    }
    assert_true(longest <= 100);
    rad_target back;
    assert_int_equal(rad__target_parse(&back, text, strlen(text), "x", &error), 0);
    assert_string_equal(back.c.body, body);
    rad_target_free(&back);
    rad_free(text);
    rad__bytes_free(&made);
}

/* ---- Case files ------------------------------------------------------------------------------------ */

static void expect_case(const char *text, const char *words, bool repaired, uint64_t max_steps)
{
    rad_target t;
    rad_error error = {0};
    char found[100];
    if (rad__target_parse(&t, text, strlen(text), "x.json", &error) != 0) fail_msg("%s: %s", text, error.text);
    assert_int_equal(t.c.repaired, repaired);
    assert_int_equal(t.c.max_steps, max_steps);
    t.c.repaired = false;
    rad_target_text(&t, found, sizeof found);
    assert_string_equal(found, words);
    rad_target_free(&t);
}

static void a_case_file_is_a_flat_document(void **state)
{
    (void)state;
    char words[100];
    rad_target t = program(racy);
    rad_target_text(&t, words, sizeof words);
    expect_case("{\"machine\": \"reorder\"}", "reorder", false, 0);
    expect_case("{\"n\": 5, \"machine\": \"reorder\"}", "reorder n=5", false, 0);
    expect_case("{\"machine\": \"reorder\", \"repaired\": true, \"max_steps\": 9}", "reorder", true, 9);
    expect_case("{\"machine\": \"program\"}", "program", false, 0);
    expect_case("\n {\"threads\": [[\"inc 0\"], [\"skip\", \"inc 0\"]], \"repaired\": true,"
                "\"machine\": \"program\"}",
                words, true, 0);
}

static void a_case_file_that_is_wrong_says_where(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{", "x.json:1:1: expected string or '}', found end of file"},
        {"[]", "x.json:1:1: expected an object, found an array"},
        {"{}", "x.json: machine: expected a string of at most 63 bytes, found nothing"},
        {"{\"machine\": \"loom\"}", "x.json: machine: unknown machine \"loom\"; 'raddle list' shows all"},
        {"{\"machine\": \"reorder\", \"n\": 1}", "x.json: n: expected an integer from 3 to 100, found 1"},
        {"{\"machine\": \"reorder\", \"colour\": 1}", "x.json: unknown field \"colour\""},
        {"{\"machine\": \"reorder\", \"repaired\": 1}", "x.json: repaired: expected true or false, found 1"},
        {"{\"machine\": \"reorder\", \"max_steps\": -1}",
         "x.json: max_steps: expected an integer from 0 to 9223372036854775807, found -1"},
        {"{\"machine\": \"program\", \"threads\": 7}", "x.json: threads: expected a list of 1 to 64 threads, found 7"},
        {"{\"machine\": \"program\", \"threads\": [[], [\"skip\", \"inc 8\"]]}",
         "x.json: threads[1][1]: expected \"skip\", or inc, lock or unlock with 0 … 7, found "
         "string \"inc 8\""},
        {"{\"machine\": \"program\", \"threads\": [[\"lock 1\", \"unlock 2\"]]}",
         "x.json: threads[0][1]: expected a lock that the thread has taken, found string "
         "\"unlock 2\""},
        {"{\"machine\": \"program\", \"colour\": 1}", "x.json: unknown field \"colour\""},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rad_target t;
        rad_error error = {0};
        int code = rad__target_parse(&t, rows[i][0], strlen(rows[i][0]), "x.json", &error);
        assert_int_equal(code, RAD_EINPUT);
        assert_string_equal(error.text, rows[i][1]);
        assert_null(t.c.body);
    }
}

/* The body of an artifact, changed and given a fitting checksum, or one that need not fit. */
static void expect_body_refused(const char *body, const char *words)
{
    rad_target t = program(racy);
    rad_artifact *a = found_in(&t), *b;
    char *good = json_of(a);
    char text[8000];
    rad_error error = {0};
    char *from = strstr(good, "\"body\": {"), *to = strstr(good, "  },\n  \"policy\"");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(from - good), good, body, to);
    assert_int_equal(rad__artifact_parse(&b, text, strlen(text), "x.json", true, &error), RAD_EINPUT);
    assert_string_equal(error.text, words);
    assert_null(b);
    rad_free(good);
    rad_artifact_free(a);
}

static void an_artifact_with_a_wrong_body_says_where(void **state)
{
    (void)state;
    char deep[200];
    deep_text(deep, sizeof deep, "\"body\": {\"threads\": ", 32);
    expect_body_refused("\"body\": 7", "x.json: case.body: expected an object, found 7");
    expect_body_refused("\"bodies\": {}", "x.json: unknown field \"case.bodies\"");
    expect_body_refused("\"body\": {\"threads\": [[\"hop\"]]}",
                        "x.json: case.body: threads[0][0]: expected \"skip\", or inc, lock or "
                        "unlock with 0 … 7, found string \"hop\"");
    expect_body_refused("\"body\": {\"machine\": 1}",
                        "x.json: case.body: a field of a body cannot be called \"machine\"");
    expect_body_refused(deep, "x.json: case.body:1:43: more than 32 lists within each other");
}

static void a_body_that_fits_alone_fits_into_a_file(void **state)
{
    (void)state;
    rad_machine m = *rad_machine_find("program");
    char deep[200];
    rad_json_source s = {"x.json", NULL};
    rad_error error = {0};
    deep_text(deep, sizeof deep, "{\"x\":", 31);
    rad_target t = {.machine = &m, .c = {.body = deep}}, own;
    assert_int_equal(rad__target_copy(&own, &t, &error), 0);
    json_t *root = json_object();
    assert_true(rad__json_set_target(root, &own));
    rad_bytes text = {0};
    rad__json_print(&text, root);
    json_t *back = rad__json_load(&s, (char *)text.data, text.size);
    assert_non_null(back);
    json_decref(back);
    json_decref(root);
    rad__bytes_free(&text);
    rad_target_free(&own);
    deep_text(deep, sizeof deep, "{\"x\":", 32);
    assert_int_equal(rad__target_copy(&own, &t, &error), RAD_EINPUT);
}

static void every_machine_goes_into_a_case_file_and_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; rad_machine_at(i); i++) {
        rad_error error = {0};
        rad_target t = target_of(rad_machine_at(i)->name, NULL), back;
        for (uint32_t p = 0; t.machine->params && t.machine->params[p].name; p++)
            t.c.params[p] = t.machine->params[p].max;
        t.c.repaired = i % 2;
        t.c.max_steps = i;
        char *text = rad_target_json(&t, &error);
        assert_non_null(text);
        assert_int_equal(rad__target_parse(&back, text, strlen(text), "x", &error), 0);
        assert_true(rad__digest_equal(rad__case_digest(&t), rad__case_digest(&back)));
        assert_ptr_equal(t.machine, back.machine);
        rad_target_free(&back);
        rad_free(text);
    }
}

static void two_cases_differ_in_whatever_they_differ(void **state)
{
    (void)state;
    rad_target a = target_of("reorder", NULL), b = a;
    assert_true(rad__digest_equal(rad__case_digest(&a), rad__case_digest(&b)));
    b.c.params[0]++;
    assert_false(rad__digest_equal(rad__case_digest(&a), rad__case_digest(&b)));
    b = a;
    b.c.repaired = true;
    assert_false(rad__digest_equal(rad__case_digest(&a), rad__case_digest(&b)));
    b = a;
    b.c.max_steps = 1;
    assert_false(rad__digest_equal(rad__case_digest(&a), rad__case_digest(&b)));
    a = b = program(NULL);
    b.c.body = racy;
    assert_false(rad__digest_equal(rad__case_digest(&a), rad__case_digest(&b)));
}

/* ---- Files that hold a case ------------------------------------------------------------------------- */

static void artifacts_and_logs_hold_a_case_too(void **state)
{
    (void)state;
    static const char path[] = "case.file";
    rad_error error = {0};
    rad_target t = program(racy), back;
    rad_artifact *a = found_in(&t);
    char *text = rad_artifact_base64(a, &error);
    assert_int_equal(rad__target_parse(&back, text, strlen(text), "x", &error), 0);
    assert_string_equal(back.c.body, racy);
    rad_target_free(&back);
    rad_free(text);

    assert_int_equal(rad_artifact_write(a, path, &error), 0);
    assert_int_equal(rad_target_read(&back, path, &error), 0);
    assert_string_equal(back.c.body, racy);
    rad_target_free(&back);
    rad_artifact_free(a);

    rad_run_request r = {.policy = "random", .seed = 1, .log = path};
    rad_verdict v, again;
    t.c.repaired = true;
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
    assert_int_equal(rad_target_read(&back, path, &error), 0);
    assert_string_equal(back.c.body, racy);
    assert_true(back.c.repaired);
    rad_target_free(&back);
    assert_int_equal(rad_lab_replay_log(path, &back, &again, &error), 0);
    assert_string_equal(v.trace_hash, again.trace_hash);
    assert_string_equal(back.c.body, racy);
    rad_target_free(&back);
    unlink(path);
    assert_int_equal(rad_target_read(&back, path, &error), RAD_EINPUT);
}

static void a_log_has_room_for_a_large_document(void **state)
{
    (void)state;
    static const char path[] = "large.log";
    rad_bytes made = {0};
    rad__bytes_format(&made, "{\"threads\":[[\"skip\"");
    for (int t = 0; t < 40; t++) {
        for (int i = 0; i < 900; i++) rad__bytes_format(&made, ",\"skip\"");
        rad__bytes_format(&made, t < 39 ? "],[\"skip\"" : "]]}");
    }
    rad__bytes_put(&made, "", 1);
    const char *body = (char *)made.data;
    assert_true(made.size > 100 * 1000);
    rad_target t = program(body), back;
    rad_error error = {0};
    rad_verdict v, again;
    rad_run_request r = {.policy = "first", .log = path};
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
    assert_int_equal(rad_lab_replay_log(path, &back, &again, &error), 0);
    assert_string_equal(back.c.body, body);
    assert_string_equal(v.trace_hash, again.trace_hash);
    rad_target_free(&back);
    rad__bytes_free(&made);
    unlink(path);
}

/* ---- Adding a machine ------------------------------------------------------------------------------- */

static void a_default_is_checked_when_the_machine_is_added(void **state)
{
    (void)state;
    static const rad_param params[] = {{"n", 1, 1, 2, "", false}, {.name = NULL}};
    static const char *const rows[][2] = {
        {"{\"a\": 1}", "machine mine: the body has blanks: expected {\"a\":1}"},
        {"[1]", "body:1:1: expected an object, found an array"},
        {"{\"n\":1}", "body: the document: a field of a body cannot be called \"n\""},
        {"{\"a\":}", "body:1:6: expected JSON, found unexpected token near '}'"},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rad_machine m = *rad_machine_find("program");
        rad_error error = {0};
        m.name = "mine";
        m.params = params;
        m.body = rows[i][0];
        assert_int_equal(rad_machine_add(&m, &error), RAD_EINPUT);
        assert_string_equal(error.text, rows[i][1]);
    }
    for (uint32_t i = 0; rad_machine_at(i); i++) {
        const rad_target t = {.machine = rad_machine_at(i)};
        rad_target own;
        rad_error error = {0};
        assert_int_equal(rad__target_copy(&own, &t, &error), 0);
        if (t.machine->body) assert_string_equal(own.c.body, t.machine->body);
        rad_target_free(&own);
    }
}

/* ---- Memory runs out ------------------------------------------------------------------------------- */

static int try_parse(rad_error *error)
{
    static const char text[] = "{\"machine\":\"program\",\"threads\":[[\"inc 0\"],[\"inc 0\"]]}";
    rad_target t;
    int code = rad__target_parse(&t, text, strlen(text), "x", error);
    if (code == 0) assert_string_equal(t.c.body, "{\"threads\":[[\"inc 0\"],[\"inc 0\"]]}");
    rad_target_free(&t);
    return code;
}

static int try_json(rad_error *error)
{
    rad_target t = program(racy);
    char *text = rad_target_json(&t, error);
    if (text == NULL) return error->code;
    assert_non_null(strstr(text, "[\"skip\", \"inc 0\"]"));
    rad_free(text);
    return 0;
}

static int try_artifact(rad_error *error)
{
    rad_target t = program(racy);
    rad_artifact *a, *b = NULL;
    rad_verdict v = {.result = RAD_RESULT_PASS};
    int code = rad__artifact_of_choices(&a, &t, "x", 1, NULL, 0, &v, error);
    if (code != 0) return code;
    char *text = rad_artifact_json(a, error);
    if (text) code = rad__artifact_parse(&b, text, strlen(text), "x", false, error);
    if (b) assert_string_equal(b->target.c.body, racy);
    rad_free(text);
    rad_artifact_free(a);
    rad_artifact_free(b);
    return text ? code : error->code;
}

static int try_file(rad_error *error)
{
    static const char path[] = "faults.log";
    rad_target t = program(racy), back;
    rad_verdict v;
    rad_run_request r = {.policy = "first", .log = path};
    int code = rad_lab_run(&t, &r, &v, error);
    if (code == 0) {
        code = rad_target_read(&back, path, error);
        if (code == 0) assert_string_equal(back.c.body, racy);
        rad_target_free(&back);
    }
    unlink(path);
    return code;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    int (*const tries[])(rad_error *) = {try_parse, try_json, try_artifact, try_file};
    for (uint32_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        int code = -1;
        uint64_t n = 0;
        while (code != 0 && ++n < 2000) {
            rad_error error = {0};
            rad__alloc_fail_at(n);
            code = tries[i](&error);
            rad__alloc_fail_at(0);
            if (code != 0 && code != RAD_ENOMEM) fail_msg("%u, %d: %s", i, (int)n, error.text);
            assert_int_equal(code, error.code);
        }
        assert_int_equal(code, 0);
        assert_true(n > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_decides_what_is_run),
        cmocka_unit_test(a_body_is_for_machines_that_take_one),
        cmocka_unit_test(a_target_tells_that_its_document_is_another),
        cmocka_unit_test(an_artifact_keeps_the_document_byte_for_byte),
        cmocka_unit_test(the_order_of_fields_and_odd_names_are_kept),
        cmocka_unit_test(a_long_list_in_a_list_is_broken),
        cmocka_unit_test(a_case_file_is_a_flat_document),
        cmocka_unit_test(a_case_file_that_is_wrong_says_where),
        cmocka_unit_test(an_artifact_with_a_wrong_body_says_where),
        cmocka_unit_test(a_body_that_fits_alone_fits_into_a_file),
        cmocka_unit_test(every_machine_goes_into_a_case_file_and_back),
        cmocka_unit_test(two_cases_differ_in_whatever_they_differ),
        cmocka_unit_test(artifacts_and_logs_hold_a_case_too),
        cmocka_unit_test(a_log_has_room_for_a_large_document),
        cmocka_unit_test(a_default_is_checked_when_the_machine_is_added),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
