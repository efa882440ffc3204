/* test_folder.c — the folder of a run, and what is said in it about the world. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "load/api/folder.h"
#include "os/file.h"
#include "os/host_info.h"
#include "report_support.h"

#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void times_of_day(void **state)
{
    (void)state;
    static const struct {
        uint64_t seconds;
        const char *text, *run;
    } CASES[] = {
        {0, "1970-01-01T00:00:00.000Z", "run_19700101_000000"},
        {951782399, "2000-02-28T23:59:59.000Z", "run_20000228_235959"},
        {951782400, "2000-02-29T00:00:00.000Z", "run_20000229_000000"},
        {951868800, "2000-03-01T00:00:00.000Z", "run_20000301_000000"},
        {1704067199, "2023-12-31T23:59:59.000Z", "run_20231231_235959"},
        {1709210096, "2024-02-29T12:34:56.000Z", "run_20240229_123456"},
        {4107542400, "2100-03-01T00:00:00.000Z", "run_21000301_000000"}, /* 2100 has no leap day */
        {4107456000, "2100-02-28T00:00:00.000Z", "run_21000228_000000"},
        {13574563200, "2400-02-29T00:00:00.000Z", "run_24000229_000000"},
    };
    for (uint32_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_string_equal(rad__load_time_label(CASES[i].seconds * S).text, CASES[i].text);
        assert_string_equal(rad__load_run_label(CASES[i].seconds * S).text, CASES[i].run);
    }
    assert_string_equal(rad__load_time_label(1234567890 * S + 999999999).text, "2009-02-13T23:31:30.999Z");
}

static char *read_in(const char *folder, const char *name)
{
    char path[2 * RAD__LOAD_PATH_MAX], *data;
    size_t size;
    rad_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (rad__os_read_file(path, 1 << 20, &data, &size, &error) != 0) fail_msg("%s", error.text);
    return data;
}

static const char *string_in(json_t *j, const char *name)
{
    const char *text = json_string_value(json_object_get(j, name));
    if (text == NULL) fail_msg("no %s", name);
    return text;
}

static rad_load_result *some_result(void)
{
    static load_scene scene;
    load_trial t;
    report_scene_rich(&scene, 5, 2);
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    rad_load_result *r = report_of_run(&t);
    load_trial_end(&t);
    r->text = rad__copy_text("[runtime]\nvus = 5\n");
    return r;
}

static void check_metadata(const char *folder, const rad__load_folder *f)
{
    char *text = read_in(folder, "metadata.json"), hash[65];
    json_error_t why;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (j == NULL) fail_msg("line %d: %s\n%s", why.line, why.text, text);
    assert_string_equal(string_in(j, "run_id"), f->run_id);
    assert_string_equal(string_in(j, "command_line"), "raddle load run \"x\"");
    assert_string_equal(string_in(j, "start_time"), rad__load_time_label(f->start_ns).text);
    assert_true(strcmp(string_in(j, "end_time"), string_in(j, "start_time")) >= 0);
    assert_true(strlen(string_in(j, "host")) > 0 && strlen(string_in(j, "os")) > 0);
    assert_true(strlen(string_in(j, "tool_version")) > 0 && strlen(string_in(j, "compiler")) > 0);
    assert_non_null(json_object_get(j, "cpu"));
    assert_true(json_integer_value(json_object_get(j, "cores")) > 0);
    assert_true(json_integer_value(json_object_get(j, "memory_bytes")) > 1 << 20);
    assert_int_equal(json_integer_value(json_object_get(j, "exit_code")), 1);
    assert_int_equal(json_integer_value(json_object_get(j, "seed")), 3);
    rad__sha256_text("[runtime]\nvus = 5\n", 18, hash);
    assert_string_equal(string_in(json_object_get(j, "scenario"), "sha256"), hash);
    assert_string_equal(string_in(json_object_get(j, "scenario"), "path"), "dir/x.toml");
    json_decref(j);
    rad__free(text);
}

static void a_folder_has_everything_but_the_log(void **state)
{
    const char *root = *state;
    char parent[RAD__LOAD_PATH_MAX];
    rad__load_folder f, again;
    rad_error error = {0};
    rad_load_result *r = some_result();
    snprintf(parent, sizeof parent, "%s/results", root);
    if (rad__load_folder_open(&f, parent, &error) != 0) fail_msg("%s", error.text);
    assert_memory_equal(f.run_id, "run_20", 6);
    assert_non_null(strstr(f.log, "/events.log"));
    assert_memory_equal(f.log, f.path, strlen(f.path));
    /* Another one at once has another name, also within a second. */
    assert_int_equal(rad__load_folder_open(&again, parent, &error), 0);
    assert_string_not_equal(f.path, again.path);
    if (rad__load_folder_write(&f, r, "dir/x.toml", "raddle load run \"x\"", 1, &error) != 0)
        fail_msg("%s", error.text);
    rad_os_names names = {0};
    assert_int_equal(rad__os_list(&names, f.path, &error), 0);
    static const char *const EXPECTED[] = {"config.toml", "metadata.json", "metrics.json", "summary.txt",
                                           "timeseries.csv"};
    assert_int_equal(names.count, 5);
    for (uint32_t i = 0; i < 5; i++) assert_string_equal(names.items[i], EXPECTED[i]);
    rad__os_names_free(&names);
    char *config = read_in(f.path, "config.toml"), *summary = read_in(f.path, "summary.txt");
    assert_string_equal(config, "[runtime]\nvus = 5\n");
    assert_non_null(strstr(summary, f.run_id));
    rad__free(config);
    rad__free(summary);
    char *metrics = read_in(f.path, "metrics.json");
    json_t *j = json_loads(metrics, 0, NULL);
    assert_string_equal(string_in(j, "run_id"), f.run_id);
    json_decref(j);
    rad__free(metrics);
    check_metadata(f.path, &f);
    rad_load_result_free(r);
}

static void folders_that_cannot_be(void **state)
{
    const char *root = *state;
    char path[RAD__LOAD_PATH_MAX];
    rad__load_folder f;
    rad_error error = {0};
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    assert_int_equal(rad__load_folder_open(&f, path, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "too long"));
    error = (rad_error){0};
    snprintf(path, sizeof path, "%s/no/such", root);
    assert_int_not_equal(rad__load_folder_open(&f, path, &error), 0);
    assert_non_null(strstr(error.text, path));
    error = (rad_error){0};
    rad_load_result *r = some_result();
    snprintf(f.path, sizeof f.path, "%s/gone", root);
    assert_int_not_equal(rad__load_folder_write(&f, r, "x", "y", 0, &error), 0);
    assert_non_null(strstr(error.text, "gone/metrics.json"));
    rad_load_result_free(r);
}

static void memory_may_run_out_anywhere(void **state)
{
    const char *root = *state;
    rad__load_folder f;
    rad_error error = {0};
    rad_load_result *r = some_result();
    assert_int_equal(rad__load_folder_open(&f, root, &error), 0);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        error = (rad_error){0};
        rad__alloc_fail_at(n);
        int result = rad__load_folder_write(&f, r, "x", "y", 0, &error);
        rad__alloc_fail_at(0);
        done = result == 0;
        if (!done) assert_int_equal(error.code, RAD_ENOMEM);
    }
    rad_load_result_free(r);
}

static void this_machine(void **state)
{
    (void)state;
    rad_os_host_info m;
    rad__os_host_info(&m);
    assert_non_null(strstr(m.system, "Linux "));
    assert_true(m.cores > 0);
    assert_true(rad__os_memory_peak() > 1 << 20 && rad__os_memory_peak() < m.memory_bytes);
    uint64_t now = rad__os_time_of_day_ns();
    assert_true(now > 1700000000 * S && now < 10000000000 * S);
}

static char root_path[] = "/tmp/raddle-folder-XXXXXX";

static int make_root(void **state)
{
    *state = mkdtemp(root_path);
    return *state == NULL;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s;
    (void)kind;
    (void)where;
    return remove(path);
}

static int remove_root(void **state)
{
    return nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_day),           cmocka_unit_test(a_folder_has_everything_but_the_log),
        cmocka_unit_test(folders_that_cannot_be), cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
