/* test_artifact.c — artifacts: what is written is read back, looks as it should, and whatever is wrong with
 * a file is told in exactly these words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "folder_support.h"
#include "lab/artifact.h"
#include "lab/json.h"
#include "loom.h"
#include "os/fault.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "artifacts", path[] = "artifacts/x.raddle.json";

static int fresh_folder(void **state)
{
    (void)state;
    folder_fresh(folder, path);
    loom_twist = LOOM_STRAIGHT;
    loom_add();
    return 0;
}

/* ---- Making ----------------------------------------------------------------------------------------- */

static rad_artifact *of_run(int64_t n, int64_t rounds, uint64_t seed)
{
    loom l;
    rad_policy *p;
    rad_artifact *a;
    rad_error error = {0};
    rad_target t = loom_target(n, rounds, true);
    assert_int_equal(loom_open(&l, &t, &error), 0);
    assert_int_equal(rad__policy_create(&p, "random", &error), 0);
    loom_run(&l, p, seed, NULL);
    assert_int_equal(rad__artifact_of_run(&a, &t, "random", seed, l.kernel, &error), 0);
    rad__policy_destroy(p);
    loom_close(&l);
    return a;
}

/* One with nothing in it that depends on the build. */
static rad_artifact *fixed(void)
{
    static const rad_choice choices[] = {{.chosen = 1, .count = 2},
                                         {.chosen = 0, .count = 2},
                                         {.chosen = 4294967295u, .count = 2},
                                         {.chosen = 0, .count = 3}};
    rad_verdict v = {
        .result = RAD_RESULT_FAILURE,
        .steps = 9,
        .decisions = 4,
        .trace_hash = "0123456789abcdef0123456789abcdef",
        .kind = "deadlock",
        .failure_step = 9,
        .message = "worker 1 waits for \"cell\"\n\\ \x01 \xc3\xa9",
        .identity = "deadlock:cell",
    };
    rad_target t = loom_target(3, 6, true);
    rad_artifact *a;
    rad_error error = {0};
    assert_int_equal(rad__artifact_of_choices(&a, &t, "pct:3", 42, choices, 4, &v, &error), 0);
    snprintf(a->version, sizeof a->version, "0.1.0");
    snprintf(a->git_sha, sizeof a->git_sha, "0123abcd");
    snprintf(a->compiler, sizeof a->compiler, "gcc 12.2.0");
    a->set_hashes = rad__alloc(1, sizeof *a->set_hashes);
    a->set_hashes[0] = UINT64_C(0xfedcba9876543210);
    a->set_hash_count = 1;
    return a;
}

static const char fixed_text[] = "{\n"
                                 "  \"schema_version\": 2,\n"
                                 "  \"build\": {\n"
                                 "    \"version\": \"0.1.0\",\n"
                                 "    \"git_sha\": \"0123abcd\",\n"
                                 "    \"compiler\": \"gcc 12.2.0\"\n"
                                 "  },\n"
                                 "  \"machine\": \"loom\",\n"
                                 "  \"case\": {\n"
                                 "    \"repaired\": false,\n"
                                 "    \"params\": {\n"
                                 "      \"n\": 3,\n"
                                 "      \"rounds\": 6,\n"
                                 "      \"picks\": 1\n"
                                 "    },\n"
                                 "    \"max_steps\": 10000000\n"
                                 "  },\n"
                                 "  \"policy\": \"pct:3\",\n"
                                 "  \"seed\": 42,\n"
                                 "  \"expect\": \"failure\",\n"
                                 "  \"failure\": {\n"
                                 "    \"kind\": \"deadlock\",\n"
                                 "    \"step\": 9,\n"
                                 "    \"message\": \"worker 1 waits for \\\"cell\\\"\\n\\\\ \\u0001 \xc3\xa9\",\n"
                                 "    \"identity\": \"deadlock:cell\"\n"
                                 "  },\n"
                                 "  \"steps\": 9,\n"
                                 "  \"decisions\": 4,\n"
                                 "  \"choices\": [\n"
                                 "    1, 0, 4294967295\n"
                                 "  ],\n"
                                 "  \"set_hashes\": [\n"
                                 "    \"fedcba9876543210\"\n"
                                 "  ],\n"
                                 "  \"expected_trace_hash\": \"0123456789abcdef0123456789abcdef\",\n"
                                 "  \"checksum\": \"CHECKSUM\"\n"
                                 "}\n";

static void same(const rad_artifact *a, const rad_artifact *b)
{
    assert_ptr_equal(a->target.machine, b->target.machine);
    assert_int_equal(a->target.c.repaired, b->target.c.repaired);
    assert_memory_equal(a->target.c.params, b->target.c.params, sizeof a->target.c.params);
    assert_int_equal(a->target.c.max_steps, b->target.c.max_steps);
    assert_int_equal(a->seed, b->seed);
    assert_string_equal(a->policy, b->policy);
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->git_sha, b->git_sha);
    assert_string_equal(a->compiler, b->compiler);
    assert_int_equal(a->choice_count, b->choice_count);
    assert_memory_equal(a->choices, b->choices, a->choice_count * sizeof *a->choices);
    assert_int_equal(a->set_hash_count, b->set_hash_count);
    assert_memory_equal(a->set_hashes, b->set_hashes, a->set_hash_count * sizeof *a->set_hashes);
    assert_int_equal(a->expects_failure, b->expects_failure);
    const rad_verdict *v = &a->expected, *w = &b->expected;
    assert_int_equal(v->result, w->result);
    assert_int_equal(v->steps, w->steps);
    assert_int_equal(v->decisions, w->decisions);
    assert_int_equal(v->failure_step, w->failure_step);
    assert_string_equal(v->trace_hash, w->trace_hash);
    assert_string_equal(v->kind, w->kind);
    assert_string_equal(v->message, w->message);
    assert_string_equal(v->identity, w->identity);
}

/* Text -> artifact -> text. */
static void comes_back(const rad_artifact *a)
{
    rad_error error = {0};
    rad_artifact *b;
    char *text = rad_artifact_json(a, &error);
    assert_non_null(text);
    int code = rad__artifact_parse(&b, text, strlen(text), "x", false, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, 0);
    assert_false(b->edited);
    same(a, b);
    char *again = rad_artifact_json(b, &error);
    assert_string_equal(text, again);
    rad_free(text);
    rad_free(again);
    rad_artifact_free(b);
}

/* ---- Round trips ------------------------------------------------------------------------------------ */

static void test_runs_come_back(void **state)
{
    (void)state;
    uint32_t failures = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        rad_artifact *a = of_run(2 + (int64_t)seed % 5, 4 + (int64_t)seed * 3, seed);
        failures += rad_artifact_expects_failure(a);
        uint64_t due = (a->expected.decisions + 63) / 64;
        assert_int_equal(a->set_hash_count, due);
        if (a->choice_count) assert_int_not_equal(a->choices[a->choice_count - 1], 0);
        assert_int_equal(a->seed, seed);
        comes_back(a);
        rad_artifact_free(a);
    }
    assert_true(failures > 5 && failures < 55);
}

static void test_layout(void **state)
{
    (void)state;
    rad_artifact *a = fixed();
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error);
    char *sum = strstr(text, "\"checksum\": \"");
    assert_non_null(sum);
    sum += 13;
    assert_int_equal(strspn(sum, "0123456789abcdef"), 32);
    memmove(sum + 8, sum + 32, strlen(sum + 32) + 1);
    memcpy(sum, "CHECKSUM", 8);
    assert_string_equal(text, fixed_text);
    rad_free(text);
    comes_back(a);
    rad_artifact_free(a);
}

static void test_checksum_is_what_it_says(void **state)
{
    (void)state;
    rad_artifact *a = fixed();
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error), hash[RAD_DIGEST_TEXT];
    static const char canonical[] =
        "{\"build\":{\"compiler\":\"gcc 12.2.0\",\"git_sha\":\"0123abcd\",\"version\":\"0.1.0\"},"
        "\"case\":{\"max_steps\":10000000,\"params\":{\"n\":3,\"picks\":1,\"rounds\":6},"
        "\"repaired\":"
        "false},\"choices\":[1,0,4294967295],\"decisions\":4,\"expect\":\"failure\","
        "\"expected_trace_hash\":\"0123456789abcdef0123456789abcdef\",\"failure\":{\"identity\":"
        "\"deadlock:cell\",\"kind\":\"deadlock\",\"message\":\"worker 1 waits for "
        "\\\"cell\\\"\\n\\\\ "
        "\\u0001 "
        "\xc3\xa9\",\"step\":9},\"machine\":\"loom\",\"policy\":\"pct:3\",\"schema_version\":2,"
        "\"seed\":42,\"set_hashes\":[\"fedcba9876543210\"],\"steps\":9}";
    rad__digest_text(rad__digest_of(canonical, sizeof canonical - 1), hash);
    assert_memory_equal(strstr(text, "\"checksum\": \"") + 13, hash, 32);
    rad_free(text);
    rad_artifact_free(a);
}

static void test_lists_are_packed(void **state)
{
    (void)state;
    rad_artifact *a = of_run(6, 3000, 2);
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error);
    size_t lines = 0, longest = 0, length = 0;
    for (const char *at = text; *at; at++) {
        length = *at == '\n' ? 0 : length + 1;
        longest = length > longest ? length : longest;
        lines += *at == '\n';
    }
    assert_true(a->choice_count > 10000);
    assert_true(longest <= 100 && longest > 90);
    assert_true(lines < a->choice_count / 4); /* with its path: two numbers a step */
    assert_int_equal(text[strlen(text) - 1], '\n');
    rad_free(text);
    comes_back(a);
    rad_artifact_free(a);
}

static void test_of_choices(void **state)
{
    (void)state;
    static const rad_choice choices[] = {{.chosen = 0, .count = 2}, {.chosen = 0, .count = 2}};
    rad_verdict v = {.result = RAD_RESULT_FAILURE, .steps = 2, .decisions = 2, .kind = "crash"};
    rad_target t = loom_target(3, 6, false);
    rad_artifact *a;
    rad_error error = {0};
    snprintf(v.message, sizeof v.message, "killed by \xff\xc3 SIGSEGV \xed\xa0\x80 \xe2\x82");
    assert_int_equal(rad__artifact_of_choices(&a, &t, "random", 1, choices, 2, &v, &error), 0);
    assert_int_equal(rad_artifact_choice_count(a), 0);
    assert_int_equal(a->set_hash_count, 0);
    const rad_verdict *w = rad_artifact_verdict(a);
    assert_string_equal(w->trace_hash, "00000000000000000000000000000000");
    assert_string_equal(w->message, "killed by ?? SIGSEGV ??? ??");
    assert_string_equal(rad_artifact_policy(a), "random");
    assert_int_equal(rad_artifact_seed(a), 1);
    assert_ptr_equal(rad_artifact_target(a)->machine, &loom_machine);
    assert_string_equal(a->version, rad_version());
    comes_back(a);
    rad_artifact_free(a);
}

static void test_seed_too_large(void **state)
{
    (void)state;
    rad_verdict v = {0};
    rad_target t = loom_target(3, 6, false);
    rad_artifact *a;
    rad_error error = {0};
    assert_int_equal(rad__artifact_of_choices(&a, &t, "random", UINT64_MAX, NULL, 0, &v, &error), RAD_EINPUT);
    assert_null(a);
    assert_string_equal(error.text, "seed 18446744073709551615: a file can hold seeds up to "
                                    "9223372036854775807 only");
}

/* Any bytes a machine may say survive. */
static void test_any_message_comes_back(void **state)
{
    (void)state;
    rad_prng prng = rad__prng(7, RAD_STREAM_TEST, 0);
    rad_artifact *a = fixed();
    for (int i = 0; i < 300; i++) {
        size_t length = rad__prng_below(&prng, sizeof a->expected.message);
        for (size_t j = 0; j < length; j++) {
            bool narrow = rad__prng_below(&prng, 2);
            a->expected.message[j] = (char)(1 + rad__prng_below(&prng, narrow ? 127 : 255));
        }
        a->expected.message[length] = 0;
        rad__text_clean(a->expected.message);
        comes_back(a);
    }
    rad_artifact_free(a);
}

static void test_files(void **state)
{
    (void)state;
    rad_artifact *a = of_run(3, 50, 4), *b;
    rad_error error = {0};
    assert_int_equal(rad_artifact_write(a, path, &error), 0);
    assert_int_equal(folder_count(folder), 1);
    assert_int_equal(rad_artifact_read(&b, path, false, &error), 0);
    same(a, b);
    rad_artifact_free(b);
    assert_int_equal(rad_artifact_read(&b, "artifacts/none", false, &error), RAD_EINPUT);
    assert_null(b);
    assert_string_equal(error.text, "artifacts/none: cannot open: No such file or directory");
    error = (rad_error){0};
    assert_int_equal(rad_artifact_write(a, "none/x.json", &error), RAD_EIO);
    assert_string_equal(error.text, "none/x.json: cannot create: No such file or directory");
    rad_artifact_free(a);
}

/* ---- Base64 ----------------------------------------------------------------------------------------- */

static void expect_words(const char *text, size_t size, bool edited_ok, const char *words)
{
    rad_artifact *a;
    rad_error error = {0};
    char *exact = malloc(size ? size : 1); /* no zero after it */
    if (size) memcpy(exact, text, size);
    int code = rad__artifact_parse(&a, exact, size, "x.json", edited_ok, &error);
    free(exact);
    rad_artifact_free(a);
    assert_string_equal(error.text, words);
    assert_int_equal(code, words[0] ? RAD_EINPUT : 0);
}

static void test_base64(void **state)
{
    (void)state;
    rad_error error = {0};
    for (uint64_t seed = 0; seed < 12; seed++) { /* all lengths modulo three */
        rad_artifact *a = of_run(3, 10 + (int64_t)seed, seed), *b;
        char *text = rad_artifact_base64(a, &error);
        assert_int_equal(text[strlen(text) - 1], '\n');
        assert_int_equal(strcspn(text, "\n"), 76);
        assert_int_equal(rad__artifact_parse(&b, text, strlen(text), "x", false, &error), 0);
        same(a, b);
        rad_artifact_free(b);
        char indented[16384];
        snprintf(indented, sizeof indented, " \r\n\t%s\n\n", text);
        assert_int_equal(rad__artifact_parse(&b, indented, strlen(indented), "x", false, &error), 0);
        rad_artifact_free(b);
        assert_int_equal(rad__os_write_file(path, text, strlen(text), &error), 0);
        assert_int_equal(rad_artifact_read(&b, path, false, &error), 0);
        rad_artifact_free(b);
        rad_free(text);
        rad_artifact_free(a);
    }
    expect_words("ewo", 3, false, "x.json:1:3: expected base64, found the end");
    expect_words("ewo\n!a==", 8, false, "x.json:2:1: expected base64, found '!'");
    expect_words("ew=a", 4, false, "x.json:1:4: expected base64, found 'a'");
    expect_words("e===", 4, false, "x.json:1:4: expected base64, found '='");
    expect_words("ewo\x80", 4, false, "x.json:1:4: expected base64, found 0x80");
    expect_words("ewo=", 4, false, "x.json:2:0: expected string or '}', found end of file");
}

/* ---- What is refused -------------------------------------------------------------------------------- */

static void test_syntax(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "x.json:1:0: expected '[' or '{', found end of file"},
        {"{", "x.json:1:1: expected string or '}', found end of file"},
        {"{\n  \"seed\": 5,\n  7\n}", "x.json:3:3: expected string or '}', found '7'"},
        {"{\"a\" 5}", "x.json:1:6: expected ':', found '5'"},
        {"{\"a\": nothing}", "x.json:1:13: expected JSON, found invalid token near 'nothing'"},
        {"{\"a\": 1, \"a\": 2}", "x.json:1:12: expected JSON, found duplicate object key near '\"a\"'"},
        {"[1, 2]", "x.json:1:1: expected an object, found an array"},
        {"{\"a\": 99999999999999999999}",
         "x.json:1:26: expected JSON, found too big integer near '99999999999999999999'"},
        {"{} x", "x.json:1:4: expected end of file, found 'x'"},
        {"{\"a\": \"\xff\"}", "x.json:1:7: expected JSON, found unable to decode byte 0xff near '\"'"},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0]", "x.json:1:37: more than 36 lists within each other"},
        {"{}", "x.json: schema_version: expected an integer from 0 to 2, found nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_words(cases[i].text, strlen(cases[i].text), false, cases[i].words);
}

/* The fixed text with one piece replaced. */
static char *altered(const char *from, const char *to)
{
    const char *at = strstr(fixed_text, from);
    assert_non_null(at);
    size_t room = sizeof fixed_text + strlen(to) + 1;
    char *text = malloc(room);
    snprintf(text, room, "%.*s%s%s", (int)(at - fixed_text), fixed_text, to, at + strlen(from));
    return text;
}

static void expect_refused(const char *from, const char *to, const char *words)
{
    char *text = altered(from, to);
    expect_words(text, strlen(text), true, words);
    free(text);
}

static void test_content(void **state)
{
    (void)state;
    expect_refused("\"schema_version\": 2", "\"schema_version\": 3",
                   "x.json: schema_version 3 is newer than this raddle understands (2)");
    expect_refused("\"schema_version\": 2", "\"schema_version\": -1",
                   "x.json: schema_version: expected an integer from 0 to 2, found -1");
    expect_refused("\"schema_version\": 2", "\"schema_version\": \"1\"",
                   "x.json: schema_version: expected an integer from 0 to 2, found string \"1\"");
    expect_refused("1, 0, 4294967295", "1, 0, 4294967296",
                   "x.json: choices[2]: expected an integer from 0 to 4294967295, found 4294967296");
    expect_refused("1, 0, 4294967295", "1, \"a\"",
                   "x.json: choices[1]: expected an integer from 0 to 4294967295, found string \"a\"");
    expect_refused("1, 0, 4294967295", "1.5",
                   "x.json: choices[0]: expected an integer from 0 to 4294967295, found a number with a "
                   "fraction");
    expect_refused("\"choices\": [\n    1, 0, 4294967295\n  ]", "\"choices\": null",
                   "x.json: choices: expected an array, found null");
    expect_refused("\"fedcba9876543210\"", "\"fedcba987654321\"",
                   "x.json: set_hashes[0]: expected 16 hexadecimal digits, found string "
                   "\"fedcba987654321\"");
    expect_refused("\"fedcba9876543210\"", "\"fedcba9876543210\", \"fedcba9876543210\"",
                   "x.json: set_hashes: expected 1 of them for 4 decisions, found 2");
    expect_refused("0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789abcdef",
                   "x.json: expected_trace_hash: expected 32 hexadecimal digits, found string "
                   "\"0123456789ABCDEF0123456789abcdef\"");
    expect_refused("\"expect\": \"failure\"", "\"expect\": \"success\"",
                   "x.json: expect: expected \"failure\", \"pass\" or \"cut\", found string \"success\"");
    expect_refused("\"expect\": \"failure\"", "\"expect\": \"pass\"",
                   "x.json: failure: expected null, because no failure is expected, found object");
    expect_refused("\"kind\": \"deadlock\"", "\"kind\": true",
                   "x.json: failure.kind: expected a string of at most 39 bytes, found true");
    expect_refused("\"kind\": \"deadlock\"", "\"kind\": \"deadlockdeadlockdeadlockdeadlockdeadlock\"",
                   "x.json: failure.kind: expected a string of at most 39 bytes, found string "
                   "\"deadlockdeadlockdeadlockdeadlockdeadlock\"");
    expect_refused("    \"step\": 9,\n", "",
                   "x.json: failure.step: expected an integer from 0 to 9223372036854775807, found "
                   "nothing");
    expect_refused("\"steps\": 9", "\"steps\": 9, \"colour\": 1", "x.json: unknown field \"colour\"");
    expect_refused("\"kind\": \"deadlock\"", "\"kind\": \"deadlock\", \"x\\u00e9\": 1",
                   "x.json: unknown field \"failure.x\xc3\xa9\"");
    expect_refused("\"decisions\": 4", "\"decisions\": 10000001",
                   "x.json: decisions: expected an integer from 0 to 10000000, found 10000001");
    expect_refused("\"seed\": 42", "\"seed\": -42",
                   "x.json: seed: expected an integer from 0 to 9223372036854775807, found -42");
}

static void test_content_of_the_case(void **state)
{
    (void)state;
    expect_refused("\"machine\": \"loom\"", "\"machine\": \"weaver\"",
                   "x.json: machine: unknown machine \"weaver\"; 'raddle list' shows all");
    expect_refused("\"machine\": \"loom\"", "\"machine\": {}",
                   "x.json: machine: expected a string of at most 63 bytes, found object");
    expect_refused("\"n\": 3", "\"n\": 50001",
                   "x.json: case.params.n: expected an integer from 2 to 50000, found 50001");
    expect_refused("\"n\": 3,", "", "x.json: case.params.n: expected an integer from 2 to 50000, found nothing");
    expect_refused("\"n\": 3", "\"n\": 3, \"m\": 3", "x.json: unknown field \"case.params.m\"");
    expect_refused("\"repaired\": false", "\"repaired\": 0", "x.json: case.repaired: expected true or false, found 0");
    expect_refused("\"max_steps\": 10000000", "\"max_steps\": 1, \"seed\": 1", "x.json: unknown field \"case.seed\"");
    expect_refused("\"git_sha\": \"0123abcd\"", "\"git_sha\": []",
                   "x.json: build.git_sha: expected a string of at most 47 bytes, found array");
}

static void test_checksum(void **state)
{
    (void)state;
    rad_artifact *a = fixed(), *b;
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error);
    char *choice = strstr(text, "1, 0, 4294967295");
    choice[0] = '2';
    expect_words(text, strlen(text), false,
                 "x.json: file was edited (checksum mismatch); 'raddle replay --edited' accepts it");
    assert_int_equal(rad__artifact_parse(&b, text, strlen(text), "x", true, &error), 0);
    assert_true(b->edited);
    assert_int_equal(b->choices[0], 2);
    rad_artifact_free(b);
    choice[0] = '1';
    expect_words(text, strlen(text), false, "");
    rad_free(text);
    rad_artifact_free(a);
    char *without = altered(",\n  \"checksum\": \"CHECKSUM\"", "");
    expect_words(without, strlen(without), false, "x.json: checksum: expected 32 hexadecimal digits, found nothing");
    expect_words(without, strlen(without), true, "");
    free(without);
    expect_words(fixed_text, strlen(fixed_text), false,
                 "x.json: checksum: expected 32 hexadecimal digits, found string \"CHECKSUM\"");
}

static void test_cut_or_changed_anywhere(void **state)
{
    (void)state;
    rad_artifact *a = fixed(), *b;
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error);
    size_t size = strlen(text);
    for (size_t at = 0; at < size - 1; at++) { /* the last newline may be missing */
        error = (rad_error){0};
        assert_int_equal(rad__artifact_parse(&b, text, at, "x", true, &error), RAD_EINPUT);
        for (int bit = 0; bit < 8; bit++) {
            text[at] ^= (char)(1 << bit);
            error = (rad_error){0};
            assert_int_equal(rad__artifact_parse(&b, text, size, "x", false, &error), RAD_EINPUT);
            text[at] ^= (char)(1 << bit);
        }
    }
    rad_free(text);
    rad_artifact_free(a);
}

static void test_limits(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_artifact *a;
    size_t room = 21 * 1000 * 1000;
    char *text = malloc(room);
    size_t used = (size_t)snprintf(text, room, "{\"schema_version\": 1,\n\"choices\": [0");
    for (int i = 0; i < 10 * 1000 * 1000; i++, used += 2) memcpy(text + used, ",0", 2);
    memcpy(text + used, "]}", 2);
    expect_words(text, used + 2, true, "x.json:2:20000012: more than 10000000 values in one list");
    used = (size_t)snprintf(text, room, "{\"choices\": [");
    for (int i = 0; i < 101 * 1000; i++, used += 3) memcpy(text + used, "[],", 3);
    expect_words(text, used, true, "x.json:1:303008: more than 101000 lists and objects");
    free(text);
    assert_int_equal(rad__os_write_file(path, "{", 1, &error), 0);
    assert_int_equal(truncate(path, (256 << 20) + 1), 0); /* a hole: costs nothing */
    assert_int_equal(rad_artifact_read(&a, path, true, &error), RAD_EINPUT);
    assert_string_equal(error.text, "artifacts/x.raddle.json: 268435457 bytes, more than the limit of 268435456");
}

/* ---- Old versions ----------------------------------------------------------------------------------- */

static void test_version_0(void **state)
{
    (void)state;
    char file[1024];
    rad_error error = {0};
    rad_artifact *a = NULL, *expected = fixed();
    const char *root = getenv("RADDLE_SRC");
    snprintf(file, sizeof file, "%s/tests/fixtures/artifact-0.raddle.json", root ? root : ".");
    int code = rad_artifact_read(&a, file, false, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, 0);
    assert_false(a->edited);
    expected->set_hash_count = 0; /* version 0 had none */
    same(a, expected);
    comes_back(a); /* as version 2 */
    rad_artifact_free(a);
    rad_artifact_free(expected);
    /* Fields of version 1 are unknown in version 0, and the other way round. */
    expect_refused("\"expected_trace_hash\"", "\"trace_hash\"", "x.json: unknown field \"trace_hash\"");
    expect_refused("\"schema_version\": 2", "\"schema_version\": 0", "x.json: unknown field \"set_hashes\"");
}

/* ---- Trouble ---------------------------------------------------------------------------------------- */

typedef int (*attempt)(const rad_artifact *a, rad_error *error);

static int try_write(const rad_artifact *a, rad_error *error)
{
    return rad_artifact_write(a, path, error);
}

static int try_read(const rad_artifact *a, rad_error *error)
{
    rad_artifact *b;
    int code = rad_artifact_read(&b, path, false, error);
    if (code == 0) same(a, b);
    rad_artifact_free(b);
    return code;
}

static int try_json(const rad_artifact *a, rad_error *error)
{
    char *text = rad_artifact_json(a, error);
    rad_free(text);
    return text ? 0 : error->code;
}

static int try_base64(const rad_artifact *a, rad_error *error)
{
    char *text = rad_artifact_base64(a, error);
    rad_free(text);
    return text ? 0 : error->code;
}

static void expect_clean(attempt one, const rad_artifact *a, void (*fail_at)(uint64_t), int code_due, uint64_t least)
{
    int code = -1;
    uint64_t n = 1;
    for (; code != 0; n++) {
        rad_error error = {0};
        fail_at(n);
        code = one(a, &error);
        fail_at(0);
        assert_int_equal(code, error.code);
        assert_true(code == 0 || code == code_due);
        if (one == try_write) assert_int_equal(folder_count(folder), code == 0);
        assert_true(n < 5000);
    }
    assert_true(n > least);
}

static void test_every_call_fails(void **state)
{
    (void)state;
    rad_artifact *a = of_run(3, 60, 4);
    expect_clean(try_write, a, rad__os_fail_at, RAD_EIO, 5);
    expect_clean(try_read, a, rad__os_fail_at, RAD_EIO, 3);
    rad_artifact_free(a);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    rad_artifact *a = of_run(3, 60, 4);
    expect_clean(try_write, a, rad__alloc_fail_at, RAD_ENOMEM, 50);
    expect_clean(try_read, a, rad__alloc_fail_at, RAD_ENOMEM, 50);
    expect_clean(try_json, a, rad__alloc_fail_at, RAD_ENOMEM, 50);
    expect_clean(try_base64, a, rad__alloc_fail_at, RAD_ENOMEM, 50);
    rad_artifact_free(a);
}

static void test_old_file_stays_when_writing_fails(void **state)
{
    (void)state;
    rad_artifact *a = of_run(3, 60, 4), *b = of_run(4, 60, 5), *c;
    rad_error error = {0};
    assert_int_equal(rad_artifact_write(a, path, &error), 0);
    rad__os_fail_at(3);
    assert_int_equal(rad_artifact_write(b, path, &error), RAD_EIO);
    rad__os_fail_at(0);
    assert_int_equal(folder_count(folder), 1);
    error = (rad_error){0};
    assert_int_equal(rad_artifact_read(&c, path, false, &error), 0);
    same(a, c);
    rad_artifact_free(a);
    rad_artifact_free(b);
    rad_artifact_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_runs_come_back, fresh_folder),
        cmocka_unit_test_setup(test_layout, fresh_folder),
        cmocka_unit_test_setup(test_checksum_is_what_it_says, fresh_folder),
        cmocka_unit_test_setup(test_lists_are_packed, fresh_folder),
        cmocka_unit_test_setup(test_of_choices, fresh_folder),
        cmocka_unit_test_setup(test_seed_too_large, fresh_folder),
        cmocka_unit_test_setup(test_any_message_comes_back, fresh_folder),
        cmocka_unit_test_setup(test_files, fresh_folder),
        cmocka_unit_test_setup(test_base64, fresh_folder),
        cmocka_unit_test_setup(test_syntax, fresh_folder),
        cmocka_unit_test_setup(test_content, fresh_folder),
        cmocka_unit_test_setup(test_content_of_the_case, fresh_folder),
        cmocka_unit_test_setup(test_checksum, fresh_folder),
        cmocka_unit_test_setup(test_cut_or_changed_anywhere, fresh_folder),
        cmocka_unit_test_setup(test_limits, fresh_folder),
        cmocka_unit_test_setup(test_version_0, fresh_folder),
        cmocka_unit_test_setup(test_every_call_fails, fresh_folder),
        cmocka_unit_test_setup(test_every_allocation_fails, fresh_folder),
        cmocka_unit_test_setup(test_old_file_stays_when_writing_fails, fresh_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
