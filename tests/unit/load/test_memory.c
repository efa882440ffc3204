/* test_memory.c — every allocation of the load tester fails in turn: reading a scenario, running, replaying,
 * stepping, analysing. The call says so, leaves nothing behind, and works the next time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

#include <raddle/load.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char SCENARIO[] = "[metadata]\nname = \"m\"\nversion = \"1\"\n"
                               "[runtime]\nduration_seconds = 0.2\nvus = 6\n"
                               "[[requests]]\nname = \"a\"\npath = \"/a\"\ntimeout_ms = 30\n"
                               "checks = [ { name = \"ok\", status = 200 } ]\n"
                               "[[requests]]\nname = \"b\"\npath = \"/b/${iteration}\"\n"
                               "[think_time]\nmin_ms = 1\nmax_ms = 5\n"
                               "[simulated]\nlatency_ms = { min = 1, p50 = 10, max = 50 }\nreset_rate = 0.05\n"
                               "[assertions]\np99_latency_ms = 300\n";

static char folder[64], log_path[128], other_path[128];
static rad_load_scenario *scenario;

static void in_folder(char *to, size_t size, const char *name)
{
    snprintf(to, size, "%s/%s", folder, name);
}

static int begin(void **state)
{
    (void)state;
    rad_error error = {0};
    snprintf(folder, sizeof folder, "/tmp/raddle-memory-XXXXXX");
    if (mkdtemp(folder) == NULL) return 1;
    in_folder(log_path, sizeof log_path, "run.log");
    in_folder(other_path, sizeof other_path, "other.log");
    if (rad_load_parse(&scenario, "m.toml", SCENARIO, sizeof SCENARIO - 1, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    char path[200];
    static const char *const NAMES[] = {"run.log", "other.log", "other.log.shard0", "other.log.shard1", "page.html"};
    rad_load_free(scenario);
    for (uint32_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        in_folder(path, sizeof path, NAMES[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* 0, or RAD_ENOMEM; anything else is a mistake. */
typedef int action(rad_error *error);

/* Fails the first, the second, … allocation until the action works; how often that was. */
static uint64_t starve(action *act)
{
    uint64_t failed = 0, n = 1;
    for (;; n += n < 400 ? 1 : n / 50, failed++) {
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = act(&error);
        rad__alloc_fail_at(0);
        if (code == 0) return failed;
        if (code != RAD_ENOMEM) fail_msg("allocation %lu: %d, %s", (unsigned long)n, code, error.text);
        assert_string_not_equal(error.text, "");
        assert_in_range(n, 1, 1000000);
    }
}

static int parse(rad_error *error)
{
    rad_load_scenario *s = NULL;
    int code = rad_load_parse(&s, "m.toml", SCENARIO, sizeof SCENARIO - 1, error);
    if (code == 0) rad_load_free(s);
    return code;
}

static int run_with(uint32_t shards, const char *log, rad_error *error)
{
    rad_load_options o = rad_load_defaults();
    rad_load_result *r = NULL;
    o.seed = 5;
    o.shards = shards;
    o.log = log;
    int code = rad_load_run(&r, scenario, &o, error);
    if (code == 0) assert_non_null(r);
    if (r != NULL) {
        rad_load_facts facts;
        rad_load_result_facts(r, &facts);
        assert_int_equal(facts.seed, 5);
    }
    rad_load_result_free(r);
    return code;
}

static int run_one(rad_error *error)
{
    return run_with(1, other_path, error);
}

static int run_two(rad_error *error)
{
    return run_with(2, other_path, error);
}

static int run_without_log(rad_error *error)
{
    return run_with(1, NULL, error);
}

static int replay_to(const char *output, rad_error *error)
{
    rad_load_verdict v;
    rad_load_result *r = NULL;
    int code = rad_load_replay(&v, &r, log_path, output, false, error);
    if (code == 0) assert_true(v.same && r != NULL);
    if (code != 0) assert_null(r);
    rad_load_result_free(r);
    return code;
}

static int replay(rad_error *error)
{
    return replay_to(NULL, error);
}

static int rewrite(rad_error *error)
{
    return replay_to(other_path, error);
}

static int strip(rad_error *error)
{
    return rad_load_strip(log_path, other_path, error);
}

static int export_z6(rad_error *error)
{
    return rad_load_export_z6(log_path, other_path, NULL, error);
}

static int step(rad_error *error)
{
    rad_load_stepper *s = NULL;
    int code = rad_load_stepper_open(&s, log_path, 0, error);
    if (code != 0) {
        assert_null(s);
        return code;
    }
    code = rad_load_stepper_go(s, UINT64_MAX, error);
    if (code == 0) code = rad_load_stepper_go(s, 70, error);
    char *records = rad_load_stepper_records(s), *now = rad_load_stepper_state(s);
    if (code == 0 && (records == NULL || now == NULL)) {
        code = RAD_ENOMEM;
        snprintf(error->text, sizeof error->text, "a text");
    }
    rad_free(records);
    rad_free(now);
    rad_load_stepper_free(s);
    return code;
}

static int analyze_with(const char *filter, rad_error *error)
{
    rad_load_result *r = NULL;
    int code = rad_load_analyze(&r, log_path, filter, error);
    assert_int_equal(code == 0, r != NULL);
    rad_load_result_free(r);
    return code;
}

static int analyze(rad_error *error)
{
    return analyze_with(NULL, error);
}

static int analyze_some(rad_error *error)
{
    return analyze_with("status == 200 && name == \"a\"", error);
}

static void every_allocation_of_a_run(void **state)
{
    (void)state;
    assert_true(starve(parse) > 3);
    assert_true(starve(run_without_log) > 10);
    assert_true(starve(run_one) > 10);
    assert_true(starve(run_two) > 20);
}

static void every_allocation_of_a_log(void **state)
{
    (void)state;
    rad_error error = {0};
    for (uint32_t shards = 1; shards <= 2; shards++) {
        assert_int_equal(run_with(shards, log_path, &error), 0);
        assert_true(starve(replay) > 10);
        assert_true(starve(rewrite) > 10);
        assert_true(starve(strip) > 5);
        assert_true(starve(export_z6) > 5);
        assert_true(starve(step) > 20);
        assert_true(starve(analyze) > 10);
        assert_true(starve(analyze_some) > 10);
    }
}

/* A log without its end is replayed by other means. */
static void every_allocation_of_a_cut_log(void **state)
{
    (void)state;
    rad_error error = {0};
    for (uint32_t shards = 1; shards <= 2; shards++) {
        assert_int_equal(run_with(shards, log_path, &error), 0);
        FILE *file = fopen(log_path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, -20, SEEK_END), 0);
        assert_int_equal(ftruncate(fileno(file), ftell(file)), 0);
        fclose(file);
        assert_true(starve(replay) > 10);
        assert_true(starve(rewrite) > 10);
    }
}

static rad_load_result *shown;
static enum rad_load_form form;

static int text(rad_error *error)
{
    char *made = rad_load_text(shown, form, error);
    int code = made != NULL ? 0 : error->code;
    rad_free(made);
    return code;
}

static int save(rad_error *error)
{
    char path[200];
    in_folder(path, sizeof path, "page.html");
    return rad_load_save(shown, form, path, error);
}

static int diff(rad_error *error)
{
    const rad_load_result *const runs[] = {shown};
    const rad_load_diff_options o = {.threshold_pct = 5, .level_pct = 1, .json = true};
    char *made = rad_load_diff(runs, 1, runs, 1, &o, NULL, error);
    int code = made != NULL ? 0 : error->code;
    rad_free(made);
    return code;
}

static void every_allocation_of_a_result(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_load_options o = rad_load_defaults();
    o.seed = 5;
    assert_int_equal(rad_load_run(&shown, scenario, &o, &error), 0);
    for (int i = RAD_LOAD_SUMMARY; i <= RAD_LOAD_HTML; i++) {
        form = (enum rad_load_form)i;
        assert_true(starve(text) > 0);
        assert_true(starve(save) > 0);
    }
    assert_true(starve(diff) > 0);
    rad_load_result_free(shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_run),
        cmocka_unit_test(every_allocation_of_a_log),
        cmocka_unit_test(every_allocation_of_a_cut_log),
        cmocka_unit_test(every_allocation_of_a_result),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
