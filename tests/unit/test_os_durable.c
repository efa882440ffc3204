/* test_os_durable.c — what a runner that may be killed needs of the system: names taken once, locks that go with their
 * holder, children that stay, commands and their groups, notices. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder_support.h"
#include "os/detach.h"
#include "os/durable.h"
#include "os/fault.h"
#include "os/file.h"
#include "os/notice.h"
#include "os/process.h"
#include "os/shell.h"
#include "patience_support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = "durable", one[] = "durable/one", two[] = "durable/two";

static int fresh(void **state)
{
    (void)state;
    folder_fresh(folder, one);
    unlink(two);
    unlink("durable/log");
    return 0;
}

static void expect_file(const char *path, const char *text)
{
    char *data;
    size_t size;
    rad_error error = {0};
    assert_int_equal(rad__os_read_file(path, 1000, &data, &size, &error), 0);
    assert_string_equal(data, text);
    rad__free(data);
}

static void test_files(void **state)
{
    (void)state;
    int fd;
    rad_error error = {0};
    assert_int_equal(rad__os_open_end(&fd, one, &error), RAD_EINPUT);
    error = (rad_error){0};
    assert_int_equal(rad__os_create(&fd, one, &error), 0);
    assert_int_equal(rad__os_put(fd, one, "hello", 5, &error), 0);
    assert_int_equal(rad__os_sync(fd, one, &error), 0);
    close(fd);
    assert_int_equal(rad__os_open_end(&fd, one, &error), 0);
    assert_int_equal(rad__os_put(fd, one, " you", 4, &error), 0);
    expect_file(one, "hello you");
    assert_int_equal(rad__os_cut(fd, one, 7, &error), 0);
    assert_int_equal(rad__os_put(fd, one, "!", 1, &error), 0);
    close(fd);
    expect_file(one, "hello y!");
    assert_int_equal(rad__os_sync_folder(folder, &error), 0);
    assert_int_equal(rad__os_sync_folder("durable/none", &error), RAD_EIO);
}

static void test_a_name_is_taken_once(void **state)
{
    (void)state;
    int fd;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, one, &error), 0);
    close(fd);
    assert_int_equal(rad__os_link(one, two, &error), 1);
    assert_int_equal(rad__os_link(one, two, &error), 0);
    assert_int_equal(rad__os_create(&fd, one, &error), 0); /* a new file: the other keeps its own */
    assert_int_equal(rad__os_put(fd, one, "new", 3, &error), 0);
    close(fd);
    expect_file(two, "");
    assert_int_equal(rad__os_rename(one, two, &error), 0);
    expect_file(two, "new");
    assert_int_equal(rad__os_link("durable/none", "durable/x", &error), RAD_EIO);
}

static void test_a_lock_goes_with_its_holder(void **state)
{
    (void)state;
    int fd, other;
    rad_error error = {0};
    assert_int_equal(rad__os_holder(one, &error), RAD_OS_NO_FILE);
    assert_int_equal(rad__os_create(&fd, one, &error), 0);
    assert_int_equal(rad__os_holder(one, &error), RAD_OS_NOT_HELD);
    assert_int_equal(rad__os_lock_file(fd, one, &error), 1);
    assert_int_equal(rad__os_holder(one, &error), RAD_OS_HELD);
    assert_int_equal(rad__os_open_end(&other, one, &error), 0);
    assert_int_equal(rad__os_lock_file(other, one, &error), 0);
    assert_int_equal(rad__os_link(one, two, &error), 1);
    assert_int_equal(rad__os_holder(two, &error),
                     RAD_OS_HELD); /* the file is locked, not the name */
    close(fd);
    assert_int_equal(rad__os_holder(two, &error), RAD_OS_NOT_HELD);
    assert_int_equal(rad__os_lock_file(other, one, &error), 1);
    close(other);
}

/* ---- Children ------------------------------------------------------------------------------------------- */

static int tell_session(void *context)
{
    (void)context;
    char text[64];
    rad_error error = {0};
    snprintf(text, sizeof text, "%d %d", getsid(0) == getpid(), fcntl(5, F_GETFD) == -1);
    return rad__os_write_file(two, text, strlen(text), &error) == 0 ? 7 : 8;
}

static void wait_for(int pid, int status)
{
    rad_os_exit end;
    rad_error error = {0};
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.signal, 0);
    assert_int_equal(end.status, status);
}

static void test_a_detached_child(void **state)
{
    (void)state;
    int pid, fd;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, one, &error), 0);
    assert_int_equal(dup2(fd, 5), 5);
    assert_int_equal(rad__os_lock_file(fd, one, &error), 1);
    assert_int_equal(rad__os_detach(&pid, NULL, tell_session, &error), 0);
    wait_for(pid, 7);
    expect_file(two, "1 1");
    close(fd);
    close(5);
    assert_int_equal(rad__os_holder(one, &error), RAD_OS_NOT_HELD);
}

static int sleep_a_while(void *context)
{
    (void)context;
    usleep(300000);
    return 0;
}

static int wait_for_two(void *context)
{
    (void)context;
    while (!rad__os_exists(two)) usleep(1000);
    return 0;
}

static int start_and_die(void *context)
{
    int pid;
    rad_error error = {0};
    rad__os_detach(&pid, context, tell_session, &error);
    return 0;
}

static void test_it_outlives_its_parent(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    assert_int_equal(rad__os_fork(&pid, NULL, start_and_die, &error), 0);
    wait_for(pid, 0);
    while (!rad__os_exists(two)) usleep(10000);
    expect_file(two, "1 1");
}

static void test_a_lock_is_not_inherited(void **state)
{
    (void)state;
    int pid, fd;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, one, &error), 0);
    assert_int_equal(rad__os_lock_file(fd, one, &error), 1);
    assert_int_equal(rad__os_detach(&pid, NULL, wait_for_two, &error), 0);
    close(fd);
    while (rad__os_holder(one, &error) != RAD_OS_NOT_HELD) usleep(10000); /* it lets go, too */
    assert_true(rad__os_is_alive(pid));
    assert_int_equal(rad__os_create(&fd, two, &error), 0);
    close(fd);
    wait_for(pid, 0);
    assert_false(rad__os_is_alive(pid));
}

/* Without standard streams: 0, if no file got the number of one. */
static int open_without_streams(void *context)
{
    int made, opened;
    rad_error error = {0};
    (void)context;
    for (int fd = 0; fd < 3; fd++) close(fd);
    if (rad__os_create(&made, one, &error) != 0) return 9;
    if (rad__os_open_end(&opened, one, &error) != 0) return 9;
    return made > 2 && opened > 2 ? 0 : 8;
}

static void test_files_are_no_streams(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    assert_int_equal(rad__os_detach(&pid, NULL, open_without_streams, &error), 0);
    wait_for(pid, 0);
}

/* ---- Commands --------------------------------------------------------------------------------------------- */

struct command {
    const char *text, *dir;
    uint64_t timeout_ns;
};

static const char *const ENVIRONMENT[] = {"PATH=/usr/bin:/bin", "WHO=me", NULL};

/* In a process of its own: leaves its output, status, signal and whether it was asked to end in `two`. */
static int run_command(void *context)
{
    const struct command *c = context;
    rad_os_shell s;
    rad_error error = {0};
    char text[4096];
    size_t size = 0;
    char *const *environment = (char *const *)(uintptr_t)ENVIRONMENT;
    if (rad__os_shell_start(&s, c->text, c->dir, environment, "durable/log", &error) != 0) return 9;
    bool killed = false;
    for (;;) {
        int64_t got =
            rad__os_shell_watch(&s, text + size, sizeof text - 200 - size, c->timeout_ns, &error);
        if (got < 0) return 9;
        size += (size_t)got;
        if (s.ended && got == 0) break;
        if (got == 0 && !killed && (s.asked_to_end || !s.ended))
            killed = rad__os_shell_kill(&s, true, &error) == 0;
    }
    rad__os_shell_close(&s);
    size += (size_t)snprintf(text + size, 200, "|%d %d %d", s.status, s.signal, s.asked_to_end);
    return rad__os_write_file(two, text, size, &error) == 0 ? 0 : 9;
}

static void expect_command(struct command c, const char *expected)
{
    int pid;
    rad_error error = {0};
    if (c.timeout_ns == 0) c.timeout_ns = PATIENCE_NS;
    assert_int_equal(rad__os_detach(&pid, &c, run_command, &error), 0);
    wait_for(pid, 0);
    expect_file(two, expected);
}

/* The process whose number is in the file. */
static void expect_gone(const char *path)
{
    char *data;
    size_t size;
    rad_error error = {0};
    assert_int_equal(rad__os_read_file(path, 100, &data, &size, &error), 0);
    int pid = (int)strtol(data, NULL, 10);
    rad__free(data);
    assert_true(pid > 1);
    while (rad__os_is_alive(pid)) usleep(10000);
}

static void test_commands(void **state)
{
    (void)state;
    expect_command((struct command){.text = "echo $WHO; exit 3"}, "me\n|3 0 0");
    expect_command((struct command){.text = "echo bad >&2; kill -KILL $$"}, "|0 9 0");
    expect_file("durable/log", "bad\n");
    expect_command((struct command){.text = "cat one; pwd >&2", .dir = "durable/nowhere"},
                   "|126 0 0");
    /* What is left behind keeps the pipe open, but nobody waits for it. */
    expect_command((struct command){.text = "sleep 5 & echo here"}, "here\n|0 0 0");
    expect_command((struct command){.text = "sleep 3600 & echo $! > durable/one; wait; echo late",
                                    .timeout_ns = 300000000},
                   "|0 9 0");
    expect_gone(one); /* the group is */
}

static void test_asked_to_end(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    struct command c = {.text = "sleep 20", .timeout_ns = UINT64_C(20000000000)};
    assert_int_equal(rad__os_detach(&pid, &c, run_command, &error), 0);
    assert_int_equal(rad__os_ask_to_end(pid, &error), 0); /* at once: it is not lost */
    wait_for(pid, 0);
    expect_file(two, "|0 9 1");
}

/* Somebody has asked, and the command takes its time: 0, if it was waited for, and not asked about all the while. */
static int wait_patiently(void *context)
{
    rad_os_shell s;
    rad_error error = {0};
    char text[100];
    uint32_t looks = 0;
    char *const *environment = (char *const *)(uintptr_t)ENVIRONMENT;
    if (rad__os_shell_start(&s, context, NULL, environment, "durable/log", &error) != 0) return 9;
    while (!s.ended && looks < 1000) {
        if (rad__os_shell_watch(&s, text, sizeof text, UINT64_C(20000000000), &error) < 0) return 9;
        looks++;
    }
    rad__os_shell_close(&s);
    return looks < 10 && s.asked_to_end ? 0 : 8;
}

static void test_waits_for_what_was_asked_to_end(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    char command[] = "sleep 0.3";
    assert_int_equal(rad__os_detach(&pid, command, wait_patiently, &error), 0);
    assert_int_equal(rad__os_ask_to_end(pid, &error), 0);
    wait_for(pid, 0);
}

/* ---- Notices ---------------------------------------------------------------------------------------------- */

static void test_notices(void **state)
{
    (void)state;
    int fd, file;
    rad_error error = {0};
    assert_int_equal(rad__os_notice_open(&fd, &error), 0);
    assert_int_equal(rad__os_notice_folder(fd, folder, &error), 0);
    assert_int_equal(rad__os_notice_wait(fd, 1000000, &error), 0);
    assert_int_equal(rad__os_create(&file, one, &error), 0);
    assert_int_equal(rad__os_notice_wait(fd, 1000000, &error), 0);
    close(file);
    assert_int_equal(rad__os_notice_wait(fd, UINT64_C(5000000000), &error), 1);
    assert_int_equal(rad__os_rename(one, two, &error), 0);
    assert_int_equal(rad__os_notice_wait(fd, UINT64_C(5000000000), &error), 1);
    assert_int_equal(rad__os_notice_wait(fd, 1000000, &error), 0);
    assert_int_equal(rad__os_notice_folder(fd, "durable/none", &error), RAD_EIO);
    close(fd);
}

/* ---- Faults ----------------------------------------------------------------------------------------------- */

static int do_everything(rad_error *error)
{
    int fd = -1, watch = -1;
    int code = rad__os_create(&fd, one, error);
    if (code == 0) code = rad__os_put(fd, one, "x", 1, error);
    if (code == 0) code = rad__os_cut(fd, one, 0, error);
    if (code == 0) code = rad__os_sync(fd, one, error);
    if (code == 0) code = rad__os_lock_file(fd, one, error);
    if (code == 1) code = rad__os_holder(one, error);
    if (fd >= 0) close(fd);
    if (code == RAD_OS_HELD) code = rad__os_open_end(&fd, one, error);
    if (code == 0) close(fd);
    if (code == 0) code = rad__os_link(one, "durable/three", error);
    if (code == 1) code = rad__os_rename("durable/three", two, error);
    if (code == 0) code = rad__os_sync_folder(folder, error);
    if (code == 0) code = rad__os_notice_open(&watch, error);
    if (code == 0) code = rad__os_notice_folder(watch, folder, error);
    if (code == 0) code = rad__os_notice_wait(watch, 0, error);
    if (watch >= 0) close(watch);
    int pid = -1;
    if (code == 0) code = rad__os_detach(&pid, NULL, sleep_a_while, error);
    if (code == 0) code = rad__os_ask_to_end(pid, error);
    if (pid > 0) waitpid(pid, NULL, 0);
    unlink("durable/three");
    unlink(two);
    return code;
}

static void test_every_call_can_fail(void **state)
{
    (void)state;
    uint64_t n = 1;
    for (;; n++) {
        rad_error error = {0};
        rad__os_fail_at(n);
        int code = do_everything(&error);
        rad__os_fail_at(0);
        if (code == 0) break;
        assert_int_equal(code, RAD_EIO);
        assert_true(error.text[0] != 0);
        assert_true(n < 50);
    }
    assert_true(n > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_files, fresh),
        cmocka_unit_test_setup(test_a_name_is_taken_once, fresh),
        cmocka_unit_test_setup(test_a_lock_goes_with_its_holder, fresh),
        cmocka_unit_test_setup(test_a_detached_child, fresh),
        cmocka_unit_test_setup(test_it_outlives_its_parent, fresh),
        cmocka_unit_test_setup(test_a_lock_is_not_inherited, fresh),
        cmocka_unit_test_setup(test_files_are_no_streams, fresh),
        cmocka_unit_test_setup(test_commands, fresh),
        cmocka_unit_test_setup(test_asked_to_end, fresh),
        cmocka_unit_test_setup(test_waits_for_what_was_asked_to_end, fresh),
        cmocka_unit_test_setup(test_notices, fresh),
        cmocka_unit_test_setup(test_every_call_can_fail, fresh),
    };
    return cmocka_run_group_tests_name("os_durable", tests, NULL, NULL);
}
