/* test_z6.c — logs as Z6's files and back, and files that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "load/report/z6.h"
#include "report_support.h"

#include <stdio.h>
#include <string.h>

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

static void export_log(const rad_bytes *log, const rad__load_scenario *s, rad_bytes *file, uint64_t *records)
{
    rad_error error = {0};
    rad__load_log_reader reader = load_reader(log);
    *file = (rad_bytes){0};
    if (rad__load_z6_export(&reader, s, keep, file, records, &error) != 0) fail_msg("%s", error.text);
    assert_false(file->failed);
}

static void run_and_export(load_scene *scene, uint64_t seed, rad_load_result **run, rad_bytes *file)
{
    load_trial t;
    uint64_t records;
    load_trial_begin(&t, &scene->s, seed);
    load_trial_run(&t);
    export_log(&t.file, &scene->s, file, &records);
    assert_int_equal(file->size, 128 + 272 * records);
    if (run != NULL) *run = report_of_run(&t);
    load_trial_end(&t);
}

static int import_file(const rad_bytes *file, rad_load_result **r, rad_error *error)
{
    *r = rad__alloc(1, sizeof **r);
    assert_non_null(*r);
    *error = (rad_error){0};
    return rad__load_z6_import(*r, "z6.log", file->data, file->size, MS, error);
}

static void refused(const rad_bytes *file, const char *why)
{
    rad_load_result *r;
    rad_error error;
    assert_int_equal(import_file(file, &r, &error), RAD_EINPUT);
    if (strstr(error.text, why) == NULL) fail_msg("expected \"%s\", got: %s", why, error.text);
    assert_memory_equal(error.text, "z6.log: ", 8);
    rad_load_result_free(r);
}

/* ---- Layout ---------------------------------------------------------------------------------------------- */

static const uint8_t *record(const rad_bytes *file, uint32_t n)
{
    return file->data + 64 + 272 * (size_t)n;
}

/* Of the bytes themselves, by hand from the description of the format. */
static void the_layout_is_that_of_z6s_source(void **state)
{
    (void)state;
    static const uint8_t MAGIC[16] = {0x20, 0x54, 0x56, 0x45, 0x36, 0x5a, 0, 0, 1};
    load_scene scene;
    rad_bytes file;
    uint8_t hash[32];
    load_scene_make(&scene, 1, 1);
    scene.s.simulated.statuses = &(struct rad__load_status){404, 1};
    scene.s.simulated.status_count = 1;
    run_and_export(&scene, 7, NULL, &file);
    assert_memory_equal(file.data, MAGIC, 16);
    assert_int_equal(rad__load_z6_get(file.data + 16, 8), 7);
    rad__sha256("", 0, hash); /* the scenario in the log of a test is empty */
    assert_memory_equal(file.data + 24, hash, 32);
    /* Spawned and ready in tick 1, issued in tick 2, connected in tick 3, answered in tick 22. */
    static const uint32_t TYPES[] = {0, 1, 3, 8, 6}, TICKS[] = {1, 1, 2, 3, 22};
    for (uint32_t i = 0; i < 5; i++) {
        const uint8_t *r = record(&file, i);
        assert_int_equal(rad__load_z6_get(r, 8), TICKS[i]);
        assert_int_equal(rad__load_z6_get(r + 8, 4), 0);
        assert_int_equal(rad__load_z6_get(r + 12, 2), TYPES[i]);
        assert_int_equal(rad__load_z6_get(r + 14, 2), 0);
        assert_int_equal(rad__load_z6_get(r + 16, 8), 0);
        rad_crc32 crc;
        rad__crc32_open(&crc);
        assert_int_equal(rad__load_z6_get(r + 268, 4), rad__crc32(&crc, r, 264));
        assert_int_equal(rad__load_z6_get(r + 264, 4), rad__crc32(&crc, r + 64, 200));
    }
    const uint8_t *issued = record(&file, 2) + 24, *answer = record(&file, 4) + 24;
    assert_int_equal(rad__load_z6_get(issued, 8), 1);
    assert_memory_equal(issued + 8, "GET\0\0\0\0\0", 8);
    assert_int_equal(rad__load_z6_get(answer, 8), 1);
    assert_int_equal(rad__load_z6_get(answer + 8, 2), 404);
    assert_int_equal(rad__load_z6_get(answer + 12, 4), 100);
    assert_int_equal(rad__load_z6_get(answer + 16, 4), 13);
    assert_int_equal(rad__load_z6_get(answer + 24, 8), 20 * MS);
    const uint8_t *footer = file.data + file.size - 64;
    assert_int_equal(rad__load_z6_get(footer, 8), (file.size - 128) / 272);
    rad__sha256(file.data, file.size - 64, hash);
    assert_memory_equal(footer + 8, hash, 32);
    rad__bytes_free(&file);
}

/* ---- There and back -------------------------------------------------------------------------------------- */

static void same_figures(const rad_load_result *a, const rad_load_result *b)
{
    const rad__load_metrics *x = &a->metrics, *y = &b->metrics;
    assert_memory_equal(&x->all, &y->all, sizeof x->all);
    assert_memory_equal(x->by_status, y->by_status, sizeof x->by_status);
    assert_memory_equal(x->by_fault, y->by_fault, sizeof x->by_fault);
    assert_memory_equal(x->exhausted, y->exhausted, sizeof x->exhausted);
    assert_memory_equal(x->service.counts, y->service.counts, RAD_HISTOGRAM_BUCKETS * sizeof *x->service.counts);
    assert_int_equal(x->ok, y->ok);
    assert_int_equal(x->header_bytes, y->header_bytes);
    assert_int_equal(x->body_bytes, y->body_bytes);
    assert_int_equal(x->connections, y->connections);
    assert_int_equal(x->connections_closed, y->connections_closed);
    assert_int_equal(x->connection_errors, y->connection_errors);
    assert_int_equal(x->connect_ns, y->connect_ns);
    assert_int_equal(x->spawned, y->spawned);
    assert_int_equal(x->completed, y->completed);
    assert_int_equal(x->second_count, y->second_count);
    for (uint32_t i = 0; i < x->second_count; i++) {
        assert_int_equal(x->seconds[i].responses, y->seconds[i].responses);
        assert_int_equal(x->seconds[i].p99_ns, y->seconds[i].p99_ns);
        assert_int_equal(x->seconds[i].users, y->seconds[i].users);
    }
}

static void a_log_there_and_back_has_the_same_figures(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file;
    rad_load_result *run, *back;
    rad_error error;
    for (int open = 0; open < 2; open++) {
        if (open)
            report_scene_rich_open(&scene, 30, 300, 4);
        else
            report_scene_rich(&scene, 60, 4);
        scene.s.warmup_ns = 0;                 /* Z6 knows none */
        scene.targets[0].max_connections = 25; /* exhausted now and then */
        run_and_export(&scene, 3, &run, &file);
        assert_true(run->metrics.measured.timeouts > 0 && run->metrics.measured.errors > 0);
        if (import_file(&file, &back, &error) != 0) fail_msg("%s", error.text);
        same_figures(run, back);
        assert_false(back->cut_off);
        assert_int_equal(back->seed, 3);
        assert_int_equal(back->scenario.request_count, 3);
        assert_int_equal(back->scenario.users, scene.s.users);
        char *text = report_text(back, RAD_LOAD_SUMMARY);
        assert_non_null(strstr(text, "replayable: no"));
        rad__free(text);
        rad_load_result_free(run);
        rad_load_result_free(back);
        rad__bytes_free(&file);
    }
}

static void shards_are_merged_in_order(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes log, file;
    rad_load_result *back;
    rad_error error;
    uint64_t records;
    report_scene_rich(&scene, 31, 3);
    scene.s.warmup_ns = 0;
    rad_load_result *run = report_empty(&scene.s);
    report_shards(&scene.s, 4, 3, &log, run);
    export_log(&log, &scene.s, &file, &records);
    if (import_file(&file, &back, &error) != 0) fail_msg("%s", error.text);
    assert_memory_equal(&run->metrics.all, &back->metrics.all, sizeof back->metrics.all);
    assert_int_equal(back->metrics.spawned, 31);
    rad_load_result_free(run);
    rad_load_result_free(back);
    rad__bytes_free(&log);
    rad__bytes_free(&file);
}

/* ---- Damage ---------------------------------------------------------------------------------------------- */

static void bits_that_flip_are_located(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file;
    report_scene_rich(&scene, 5, 2);
    run_and_export(&scene, 3, NULL, &file);
    for (uint32_t at = 64; at < file.size - 64; at += 31) {
        char place[40];
        file.data[at] ^= 16;
        snprintf(place, sizeof place, "z6.log: record %u at byte ", (at - 64) / 272 + 1);
        refused(&file, place);
        file.data[at] ^= 16;
    }
    file.data[30] ^= 1; /* the hash of the scenario */
    refused(&file, "SHA-256");
    file.data[30] ^= 1;
    file.data[0] ^= 1;
    refused(&file, "not an event log of Z6");
    file.data[0] ^= 1;
    file.data[8] = 2;
    refused(&file, "version 2");
    file.data[8] = 1;
    file.data[file.size - 64] ^= 1;
    refused(&file, "the footer says");
    file.data[file.size - 64] ^= 1;
    file.data[file.size - 50] ^= 1;
    refused(&file, "SHA-256");
    rad__bytes_free(&file);
}

static void files_that_are_cut_off(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file;
    rad_load_result *r;
    rad_error error;
    report_scene_rich(&scene, 5, 2);
    run_and_export(&scene, 3, NULL, &file);
    uint32_t whole = file.size;
    file.size = 64 + 20 * 272 + 100;
    refused(&file, "record 21 at byte 5504: the file ends inside it");
    file.size = 40;
    refused(&file, "inside its header");
    file.size = 5;
    refused(&file, "not an event log");
    file.size = 64 + 20 * 272; /* between two records */
    if (import_file(&file, &r, &error) != 0) fail_msg("%s", error.text);
    assert_true(r->cut_off);
    assert_int_equal(r->metrics.events, 20);
    rad_load_result_free(r);
    file.size = whole - 64; /* only the footer is missing */
    assert_int_equal(import_file(&file, &r, &error), 0);
    assert_true(r->cut_off);
    rad_load_result_free(r);
    file.size = 64; /* nothing happened */
    assert_int_equal(import_file(&file, &r, &error), 0);
    assert_int_equal(r->metrics.events, 0);
    rad_load_result_free(r);
    rad__bytes_free(&file);
}

/* ---- Files that are Z6's own ----------------------------------------------------------------------------- */

struct told {
    uint32_t tick, vu, type;
    uint64_t request;
    const char *text;
};

/* Without checksums, as Z6's scheduler writes them. */
static void write_told(rad_bytes *file, const struct told *told, uint32_t count)
{
    uint8_t header[64] = {0};
    rad__load_z6_put(header, RAD__LOAD_Z6_MAGIC, 8);
    header[8] = 1;
    *file = (rad_bytes){0};
    rad__bytes_put(file, header, 64);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t r[272] = {0};
        rad__load_z6_put(r, told[i].tick, 8);
        rad__load_z6_put(r + 8, told[i].vu, 4);
        rad__load_z6_put(r + 12, told[i].type, 2);
        rad__load_z6_put(r + 24, told[i].request, 8);
        if (told[i].type == RAD__LOAD_ISSUED) memcpy(r + 32, "PUT", 3);
        if (told[i].text != NULL) snprintf((char *)r + 36, 200, "%s", told[i].text);
        rad__bytes_put(file, r, 272);
    }
}

static void told_is_refused(const struct told *told, uint32_t count, const char *why)
{
    rad_bytes file;
    char place[200];
    write_told(&file, told, count);
    snprintf(place, sizeof place, "z6.log: record %u at byte %u: %s", count, 64 + 272 * (count - 1), why);
    refused(&file, place);
    rad__bytes_free(&file);
}

#define TOLD_REFUSED(why, ...)                                                                                         \
    do {                                                                                                               \
        const struct told told_[] = {__VA_ARGS__};                                                                     \
        told_is_refused(told_, sizeof told_ / sizeof *told_, why);                                                     \
    } while (0)

static void what_cannot_have_happened_is_refused(void **state)
{
    (void)state;
    TOLD_REFUSED("its tick is before", {5, 1, 0, 0, NULL}, {4, 1, 1, 0, NULL});
    TOLD_REFUSED("its user comes before", {5, 2, 0, 0, NULL}, {5, 1, 0, 0, NULL});
    TOLD_REFUSED("it is of an unknown type", {5, 2, 21, 0, NULL});
    TOLD_REFUSED("a user is spawned twice", {5, 2, 0, 0, NULL}, {5, 2, 0, 0, NULL});
    TOLD_REFUSED("something happens to a user that was not spawned", {5, 2, 3, 1, NULL});
    TOLD_REFUSED("a request is issued while", {5, 2, 0, 0, NULL}, {5, 2, 3, 1, NULL}, {5, 2, 3, 2, NULL});
    TOLD_REFUSED("a request ends that is not in flight", {5, 2, 0, 0, NULL}, {5, 2, 6, 0, NULL});
    TOLD_REFUSED("a request ends that is not in flight", {5, 2, 0, 0, NULL}, {5, 2, 3, 1, NULL}, {6, 2, 6, 2, NULL});
    TOLD_REFUSED("a request ends that is not in flight", {5, 2, 0, 0, NULL}, {5, 2, 3, 1, NULL}, {6, 2, 6, 1, NULL},
                 {6, 2, 6, 1, NULL});
    TOLD_REFUSED("a request ends that is not in flight", {5, 2, 0, 0, NULL}, {5, 2, 15, 0, NULL});
}

static void errors_of_z6_become_ours(void **state)
{
    (void)state;
    static const struct told TOLD[] = {
        {0, 9, 0, 0, NULL},  {1, 9, 3, 5, NULL},
        {2, 9, 7, 5, NULL},  {2, 9, 15, 5, "told again, left out"},
        {3, 9, 3, 6, NULL},  {4, 9, 15, 6, "ConnectionReset"},
        {5, 9, 3, 7, NULL},  {6, 9, 14, 7, "whatever"},
        {7, 9, 3, 8, NULL},  {8, 9, 18, 8, "too slow"},
        {9, 9, 3, 9, NULL},  {10, 9, 18, 9, "ConnectionTimeout"},
        {11, 9, 3, 1, NULL}, {12, 9, 20, 1, "FileDescriptorLimitReached"},
        {13, 9, 20, 0, "x"}, {14, 9, 11, 0, NULL},
        {15, 9, 3, 2, NULL}, {16, 9, 5, 2, NULL},
        {17, 9, 3, 3, NULL},
    };
    rad_bytes file;
    rad_load_result *r;
    rad_error error;
    write_told(&file, TOLD, sizeof TOLD / sizeof *TOLD);
    if (import_file(&file, &r, &error) != 0) fail_msg("%s", error.text);
    const rad__load_metrics *m = &r->metrics;
    assert_int_equal(m->all.issued, 8);
    assert_int_equal(m->all.errors, 5);
    assert_int_equal(m->all.timeouts, 1);
    assert_int_equal(m->all.cancelled, 1);
    assert_int_equal(r->under_way, 1);
    assert_int_equal(m->by_fault[RAD__LOAD_BAD_RESPONSE], 1);
    assert_int_equal(m->by_fault[RAD__LOAD_RESET], 1);
    assert_int_equal(m->by_fault[RAD__LOAD_DNS_FAILED], 1);
    assert_int_equal(m->by_fault[RAD__LOAD_REQUEST_TIMEOUT], 1);
    assert_int_equal(m->by_fault[RAD__LOAD_CONNECT_TIMEOUT], 1);
    assert_int_equal(m->by_fault[RAD__LOAD_NO_DESCRIPTORS], 1);
    assert_int_equal(m->exhausted[RAD__LOAD_POOL_EXHAUSTED], 1);
    assert_string_equal(r->scenario.requests[0].method, "PUT");
    assert_string_equal(r->scenario.requests[0].name, "PUT 0000000000000000");
    rad_load_result_free(r);
    rad__bytes_free(&file);
}

/* ---- Failures -------------------------------------------------------------------------------------------- */

static int full(void *context, const void *data, size_t size, rad_error *error)
{
    uint32_t *left = context;
    (void)data;
    if (*left < size) {
        snprintf(error->text, sizeof error->text, "the disk is full");
        return error->code = RAD_EIO;
    }
    *left -= (uint32_t)size;
    return 0;
}

static void disks_and_memory_may_be_full(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    report_scene_rich(&scene, 5, 1);
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    rad_bytes file;
    uint64_t records;
    export_log(&t.file, &scene.s, &file, &records);
    for (uint32_t room = 0; room < file.size; room += 500) {
        uint32_t left = room;
        rad_error error = {0};
        rad__load_log_reader reader = load_reader(&t.file);
        assert_int_equal(rad__load_z6_export(&reader, &scene.s, full, &left, NULL, &error), RAD_EIO);
        assert_string_equal(error.text, "the disk is full");
    }
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        uint32_t left = UINT32_MAX;
        rad_error error = {0};
        rad__load_log_reader reader = load_reader(&t.file);
        rad_load_result *r = rad__alloc(1, sizeof *r);
        rad__alloc_fail_at(n);
        int result = rad__load_z6_export(&reader, &scene.s, full, &left, NULL, &error);
        if (result == 0) result = rad__load_z6_import(r, "z6.log", file.data, file.size, MS, &error);
        rad__alloc_fail_at(0);
        done = result == 0;
        if (!done) assert_int_equal(error.code, RAD_ENOMEM);
        rad_load_result_free(r);
    }
    rad__bytes_free(&file);
    load_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_that_of_z6s_source), cmocka_unit_test(a_log_there_and_back_has_the_same_figures),
        cmocka_unit_test(shards_are_merged_in_order),       cmocka_unit_test(bits_that_flip_are_located),
        cmocka_unit_test(files_that_are_cut_off),           cmocka_unit_test(what_cannot_have_happened_is_refused),
        cmocka_unit_test(errors_of_z6_become_ours),         cmocka_unit_test(disks_and_memory_may_be_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
