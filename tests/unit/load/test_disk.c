/* test_disk.c — the log's way to the disk: small rings, files that fail, a disk that is given no time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "load/api/disk.h"
#include "os/append.h"
#include "os/fault.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t PATIENT = UINT64_MAX / 2;
static char path[64];

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/raddle-disk-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    rad__os_fail_at(0);
    rad__alloc_fail_at(0);
    return remove(path);
}

static uint8_t byte_at(uint64_t i)
{
    return (uint8_t)(i * 7 + i / 251);
}

/* What is there is what was put, from the beginning; its length. */
static uint64_t check_prefix(uint64_t most)
{
    const void *data;
    size_t size;
    rad_error error = {0};
    assert_int_equal(rad__os_map(path, &data, &size, &error), 0);
    assert_true(size <= most);
    for (size_t i = 0; i < size; i++) assert_int_equal(((const uint8_t *)data)[i], byte_at(i));
    rad__os_unmap(data, size);
    return size;
}

/* Puts pieces of all sizes until `total` bytes are put, or one fails. */
static int put_pieces(rad__load_disk *d, uint64_t total, uint32_t largest, rad_error *error)
{
    uint8_t piece[512];
    uint32_t size = 1;
    int code = 0;
    for (uint64_t at = 0; at < total && code == 0; at += size) {
        size = (uint32_t)(at * 31 % largest) + 1;
        if (size > total - at) size = (uint32_t)(total - at);
        for (uint32_t i = 0; i < size; i++) piece[i] = byte_at(at + i);
        code = rad__load_disk_put(d, piece, size, error);
    }
    return code;
}

/* Pieces larger than the ring, around its end, and rings of one byte. */
static void everything_arrives_in_order(void **state)
{
    (void)state;
    static const uint32_t RINGS[] = {1, 2, 7, 64, 1000, 4096};
    for (uint32_t i = 0; i < sizeof RINGS / sizeof *RINGS; i++) {
        uint64_t total = RINGS[i] < 64 ? 2000 : 100000;
        rad__load_disk *d;
        rad_error error = {0};
        assert_int_equal(rad__load_disk_open(&d, path, RINGS[i], PATIENT, &error), 0);
        assert_false(rad__load_disk_is_behind(d));
        assert_int_equal(put_pieces(d, total, 500, &error), 0);
        assert_int_equal(rad__load_disk_close(d, &error), 0);
        assert_int_equal(check_prefix(total), total);
    }
    assert_int_equal(rad__load_disk_close(NULL, NULL), 0);
}

/* A disk that is given no time at all: the run is told, and what is there is a prefix. */
static void a_slow_disk_ends_the_run(void **state)
{
    (void)state;
    enum { TOTAL = 4 << 20 };
    rad__load_disk *d;
    rad_error error = {0};
    assert_int_equal(rad__load_disk_open(&d, path, 16, 0, &error), 0);
    assert_int_equal(put_pieces(d, TOTAL, 400, &error), RAD_EIO);
    assert_non_null(strstr(error.text, "EventLogFull"));
    assert_int_equal(rad__load_disk_close(d, &error), 0);
    assert_true(check_prefix(TOTAL) < TOTAL);
}

/* Every call of the system fails in turn: opening, writing, syncing. The run hears of it at the latest when it closes,
 * nobody waits for ever, and what is there is a prefix. */
static void a_disk_that_fails(void **state)
{
    (void)state;
    enum { TOTAL = 3000 };
    uint32_t at_opening = 0, later = 0;
    for (uint64_t n = 1;; n++) {
        rad__load_disk *d;
        rad_error error = {0};
        rad__os_fail_at(n);
        int opened = rad__load_disk_open(&d, path, 64, PATIENT, &error), code = opened;
        if (opened == 0) {
            code = put_pieces(d, TOTAL, 100, &error);
            rad_error at_the_end = {0};
            int closed = rad__load_disk_close(d, &at_the_end);
            if (closed != 0) assert_string_not_equal(at_the_end.text, "");
            if (code != 0) assert_int_not_equal(closed, 0); /* it stays failed */
            code = code != 0 ? code : closed;
        } else {
            assert_null(d);
        }
        rad__os_fail_at(0);
        at_opening += opened != 0;
        later += opened == 0 && code != 0;
        if (code == 0) break;
        if (opened == 0) assert_true(check_prefix(TOTAL) <= TOTAL);
        assert_in_range(n, 1, 10000);
    }
    assert_int_equal(check_prefix(TOTAL), TOTAL);
    assert_true(at_opening > 0 && later > 2);
}

static void no_memory_for_a_disk(void **state)
{
    (void)state;
    uint32_t failed = 0;
    for (uint64_t n = 1;; n++) {
        rad__load_disk *d;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = rad__load_disk_open(&d, path, 64, PATIENT, &error);
        rad__alloc_fail_at(0);
        if (code == 0) {
            assert_int_equal(rad__load_disk_close(d, &error), 0);
            break;
        }
        assert_int_equal(code, RAD_ENOMEM);
        assert_null(d);
        failed++;
    }
    assert_true(failed >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_arrives_in_order, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_slow_disk_ends_the_run, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_disk_that_fails, make_file, remove_file),
        cmocka_unit_test_setup_teardown(no_memory_for_a_disk, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
