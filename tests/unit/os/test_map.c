/* test_map.c — files as memory, also when they become shorter while they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/append.h"
#include "os/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 1 << 20, LEFT = 10000 };

static char one[64], two[64];

static int set_up(void **state)
{
    static char bytes[SIZE];
    rad_error error = {0};
    (void)state;
    snprintf(one, sizeof one, "map-one.%d", (int)getpid());
    snprintf(two, sizeof two, "map-two.%d", (int)getpid());
    memset(bytes, 'x', sizeof bytes);
    return rad__os_write_file(one, bytes, SIZE, &error) | rad__os_write_file(two, bytes, SIZE, &error);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(one);
    unlink(two);
    return 0;
}

static uint64_t count(const void *data, size_t size, char wanted)
{
    uint64_t found = 0;
    for (size_t i = 0; i < size; i++) found += ((const char *)data)[i] == wanted;
    return found;
}

static bool handler_is_default(void)
{
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    return now.sa_handler == SIG_DFL;
}

static void a_file_is_read(void **state)
{
    const void *data;
    size_t size;
    rad_error error = {0};
    (void)state;
    assert_int_equal(rad__os_map(one, &data, &size, &error), 0);
    assert_int_equal(size, SIZE);
    assert_int_equal(count(data, size, 'x'), SIZE);
    assert_int_equal(rad__os_map_is_whole(data, one, &error), 0);
    rad__os_unmap(data, size);
    assert_int_equal(truncate(one, 0), 0);
    assert_int_equal(rad__os_map(one, &data, &size, &error), 0);
    assert_null(data);
    assert_int_equal(rad__os_map_is_whole(data, one, &error), 0);
    rad__os_unmap(data, size);
}

/* The page in which the file ends now is there, so nothing faults. */
static void the_last_page_becomes_shorter(void **state)
{
    const void *data;
    size_t size;
    rad_error error = {.code = RAD_EINPUT, .text = "it has zeros in it"};
    (void)state;
    assert_int_equal(rad__os_map(one, &data, &size, &error), 0);
    assert_int_equal(truncate(one, SIZE - 1), 0);
    assert_int_equal(count(data, size, 'x'), SIZE - 1);
    assert_int_equal(rad__os_map_is_whole(data, one, &error), RAD_EIO);
    rad__os_unmap(data, size);
}

/* What is gone reads as zeros, and the answer is an error whatever was made of them. */
static void a_file_becomes_shorter(void **state)
{
    const void *data, *other;
    size_t size, other_size;
    rad_error error = {0};
    (void)state;
    signal(SIGBUS, SIG_DFL); /* a sanitizer's */
    assert_int_equal(rad__os_map(one, &data, &size, &error), 0);
    assert_int_equal(rad__os_map(two, &other, &other_size, &error), 0);
    assert_int_equal(truncate(one, LEFT), 0);
    assert_int_equal(count(data, size, 'x'), LEFT);
    assert_int_equal(count(data, size, 0), SIZE - LEFT);
    error = (rad_error){.code = RAD_EINPUT, .text = "it has zeros in it"};
    char expected[128];
    snprintf(expected, sizeof expected, "%s: it became shorter while it was read", one);
    assert_int_equal(rad__os_map_is_whole(data, one, &error), RAD_EIO);
    assert_int_equal(error.code, RAD_EIO);
    assert_string_equal(error.text, expected);
    error = (rad_error){0};
    assert_int_equal(rad__os_map_is_whole(other, two, &error), 0);
    rad__os_unmap(data, size);
    assert_false(handler_is_default());
    assert_int_equal(truncate(two, 0), 0);
    assert_int_equal(count(other, other_size, 0), SIZE);
    assert_int_equal(rad__os_map_is_whole(other, two, &error), RAD_EIO);
    rad__os_unmap(other, other_size);
    assert_true(handler_is_default()); /* it is there only as long as it is needed */
}

/* A mapping of somebody else's faults as it always did. */
static int reads_what_is_gone(void *context)
{
    const void *data;
    size_t size;
    rad_error error = {0};
    (void)context;
    if (rad__os_map(two, &data, &size, &error) != 0) return 1;
    int fd = open(one, O_RDONLY);
    void *own = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
    if (own == MAP_FAILED || truncate(one, 0) != 0) return 2;
    return (int)count(own, SIZE, 'x');
}

static void faults_elsewhere_are_not_ours(void **state)
{
    int pid;
    rad_os_exit end;
    rad_error error = {0};
    (void)state;
    assert_int_equal(rad__os_fork(&pid, NULL, reads_what_is_gone, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.signal, SIGBUS);
}

static void only_regular_files_are_mapped(void **state)
{
    static const struct {
        const char *path, *text;
    } some[] = {{"/dev/zero", "/dev/zero: a device, not a regular file"},
                {".", ".: a directory, not a regular file"},
                {"map-pipe", "map-pipe: a pipe, not a regular file"},
                {"map-none", "map-none: cannot open: No such file or directory"}};
    (void)state;
    assert_int_equal(mkfifo("map-pipe", 0666), 0);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const void *data;
        size_t size;
        rad_error error = {0};
        assert_int_equal(rad__os_map(some[i].path, &data, &size, &error), RAD_EINPUT);
        assert_string_equal(error.text, some[i].text);
    }
    unlink("map-pipe");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_page_becomes_shorter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_becomes_shorter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_elsewhere_are_not_ours, set_up, tear_down),
        cmocka_unit_test(only_regular_files_are_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
