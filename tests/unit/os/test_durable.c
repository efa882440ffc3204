/* test_durable.c — what a runner that may be killed needs of the system: names taken once, locks that go with their
 * holder, children that stay, commands and their groups, notices. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder_support.h"
#include "os/command.h"
#include "os/detach.h"
#include "os/durable.h"
#include "os/fault.h"
#include "os/file.h"
#include "os/folder_watch.h"
#include "os/process.h"
#include "patience_support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = "durable", one[] = "durable/one", two[] = "durable/two";
static rad_os_folder held; /* the same folder, open */

static int fresh(void **state)
{
    (void)state;
    if (system("rm -rf durable durable2") != 0) return -1; /* a test that failed may have left anything */
    folder_fresh(folder, one);
    rad_error error = {0};
    if (held.path != NULL) rad__os_folder_close(&held);
    return rad__os_folder_name(&held, folder, &error) == 0 && rad__os_folder_open(&held, &error) == 1 ? 0 : -1;
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
    assert_int_equal(rad__os_open_end(&fd, &held, "one", &error), RAD_EINPUT);
    error = (rad_error){0};
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    assert_int_equal(rad__os_put(fd, one, "hello", 5, &error), 0);
    assert_int_equal(rad__os_sync(fd, one, &error), 0);
    close(fd);
    assert_int_equal(rad__os_open_end(&fd, &held, "one", &error), 0);
    assert_int_equal(rad__os_put(fd, one, " you", 4, &error), 0);
    expect_file(one, "hello you");
    assert_int_equal(rad__os_cut(fd, one, 7, &error), 0);
    assert_int_equal(rad__os_put(fd, one, "!", 1, &error), 0);
    close(fd);
    expect_file(one, "hello y!");
    assert_int_equal(rad__os_sync_folder(&held, "", &error), 0);
    assert_int_equal(rad__os_sync_folder(&held, "none", &error), RAD_EIO);
}

static void test_a_name_is_taken_once(void **state)
{
    (void)state;
    int fd;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    close(fd);
    assert_int_equal(rad__os_link_in(&held, "one", "two", &error), 1);
    assert_int_equal(rad__os_link_in(&held, "one", "two", &error), 0);
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0); /* a new file: the other keeps its own */
    assert_int_equal(rad__os_put(fd, one, "new", 3, &error), 0);
    close(fd);
    expect_file(two, "");
    assert_int_equal(rad__os_rename_in(&held, "one", "two", &error), 0);
    expect_file(two, "new");
    assert_int_equal(rad__os_link_in(&held, "none", "x", &error), RAD_EIO);
}

static void test_a_lock_goes_with_its_holder(void **state)
{
    (void)state;
    int fd, other;
    rad_error error = {0};
    assert_int_equal(rad__os_holder(&held, "one", &error), RAD_OS_NO_FILE);
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    assert_int_equal(rad__os_holder(&held, "one", &error), RAD_OS_NOT_HELD);
    assert_int_equal(rad__os_lock_file(fd, one, &error), 1);
    assert_int_equal(rad__os_holder(&held, "one", &error), RAD_OS_HELD);
    assert_int_equal(rad__os_open_end(&other, &held, "one", &error), 0);
    assert_int_equal(rad__os_lock_file(other, one, &error), 0);
    assert_int_equal(rad__os_link_in(&held, "one", "two", &error), 1);
    assert_int_equal(rad__os_holder(&held, "two", &error), RAD_OS_HELD); /* the file is locked, not the name */
    close(fd);
    assert_int_equal(rad__os_holder(&held, "two", &error), RAD_OS_NOT_HELD);
    assert_int_equal(rad__os_lock_file(other, one, &error), 1);
    close(other);
}

/* ---- What others have put there ------------------------------------------------------------------------- */

static void test_links_are_not_followed(void **state)
{
    (void)state;
    int fd;
    char *data = NULL;
    size_t size;
    rad_os_names names;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    assert_int_equal(rad__os_put(fd, one, "mine", 4, &error), 0);
    close(fd);
    assert_int_equal(symlink("one", two), 0);
    assert_int_equal(rad__os_open_end(&fd, &held, "two", &error), RAD_EINPUT);
    assert_string_equal(error.text, "durable/two: a symbolic link, which is not followed here: remove it");
    assert_int_equal(rad__os_read_in(&held, "two", 100, &data, &size, NULL), RAD_EINPUT);
    assert_null(data);
    assert_int_equal(rad__os_holder(&held, "two", NULL), RAD_EINPUT);
    assert_int_equal(rad__os_is_in(&held, "two", NULL), RAD_EINPUT);
    assert_int_equal(rad__os_is_in(&held, "one", NULL), 1);
    assert_int_equal(rad__os_is_in(&held, "three", NULL), 0);
    assert_int_equal(rad__os_create(&fd, &held, "two", NULL), 0); /* in its place, not where it led */
    assert_int_equal(rad__os_put(fd, two, "new", 3, NULL), 0);
    close(fd);
    expect_file(one, "mine");
    unlink(two);
    assert_int_equal(symlink(".", two), 0); /* a folder: neither to it nor through it */
    assert_int_equal(rad__os_read_in(&held, "two/one", 100, &data, &size, NULL), RAD_EINPUT);
    assert_int_equal(rad__os_create(&fd, &held, "two/three", NULL), RAD_EINPUT);
    assert_int_equal(rad__os_folder_list(&held, "two", &names, NULL), RAD_EINPUT);
    assert_int_equal(rad__os_folder_make(&held, "two", NULL), RAD_EINPUT);
    assert_int_equal(rad__os_folder_check(&held, "two", NULL), RAD_EINPUT);
    assert_false(rad__os_exists("durable/three"));
    unlink(two);
    assert_int_equal(mkfifo(two, 0600), 0);
    assert_int_equal(rad__os_read_in(&held, "two", 100, &data, &size, NULL), RAD_EINPUT);
    assert_int_equal(rad__os_open_end(&fd, &held, "two", NULL), RAD_EINPUT);
    unlink(two);
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "durable/two"};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(rad__os_read_in(&held, "two", 100, &data, &size, NULL), RAD_EINPUT);
    close(listener);
    assert_int_equal(rad__os_read_in(&held, "one", 3, &data, &size, NULL), RAD_EINPUT); /* too long */
    assert_int_equal(rad__os_read_in(&held, "one", 4, &data, &size, NULL), 1);
    assert_int_equal(size, 4);
    rad__free(data);
    assert_int_equal(rad__os_read_in(&held, "none/one", 4, &data, &size, NULL), 0);
}

static uint32_t mode_of(const char *path)
{
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return s.st_mode & 07777;
}

static void test_what_is_made_is_its_owners_alone(void **state)
{
    (void)state;
    static const mode_t masks[] = {0, 022, 077, 0777};
    for (uint32_t i = 0; i < 4; i++) {
        int fd;
        rad_error error = {0};
        mode_t before = umask(masks[i]);
        int file = rad__os_create(&fd, &held, "one", &error);
        int made = rad__os_folder_make(&held, "part", &error);
        umask(before);
        assert_int_equal(file, 0);
        assert_int_equal(made, 1);
        close(fd);
        assert_int_equal(mode_of(one), 0600);
        assert_int_equal(mode_of("durable/part"), 0700);
        assert_int_equal(rad__os_folder_make(&held, "part", &error), 0);
        assert_int_equal(rad__os_folder_check(&held, "part", &error), 0);
        assert_int_equal(chmod("durable/part", 0720), 0);
        assert_int_equal(rad__os_folder_check(&held, "part", NULL), RAD_EINPUT);
        assert_int_equal(chmod("durable/part", 0702), 0);
        assert_int_equal(rad__os_folder_check(&held, "part", NULL), RAD_EINPUT);
        assert_int_equal(chmod("durable/part", 0755), 0);
        assert_int_equal(rad__os_folder_check(&held, "part", NULL), 0);
        if (geteuid() == 0) {
            assert_int_equal(chown("durable/part", 12345, 12345), 0);
            assert_int_equal(rad__os_folder_check(&held, "part", NULL), RAD_EINPUT);
        }
        assert_int_equal(rmdir("durable/part"), 0);
    }
}

static void expect_is_file(int fd, int expected)
{
    uint64_t size = 99;
    rad_error error = {0};
    assert_int_equal(rad__os_is_file(fd, &held, "one", &size, &error), expected);
    assert_int_equal(size, 3);
}

static void test_a_file_that_has_lost_its_name(void **state)
{
    (void)state;
    int fd, other;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    assert_int_equal(rad__os_put(fd, one, "old", 3, &error), 0);
    expect_is_file(fd, 1);
    assert_int_equal(rad__os_rename_in(&held, "one", "two", &error), 0);
    expect_is_file(fd, 0);
    assert_int_equal(rad__os_create(&other, &held, "one", &error), 0);
    close(other);
    expect_is_file(fd, 0);
    assert_int_equal(rad__os_rename_in(&held, "two", "one", &error), 0);
    expect_is_file(fd, 1);
    assert_int_equal(rename(folder, "durable2"), 0); /* the folder has gone, and the file with it */
    expect_is_file(fd, 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    expect_is_file(fd, 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rename("durable2", folder), 0);
    expect_is_file(fd, 1);
    close(fd);
}

static void test_no_locks(void **state)
{
    (void)state;
    int fd;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    rad__os_fail_at(1);
    int code = rad__os_lock_file(fd, "durable", &error);
    rad__os_fail_at(0);
    assert_int_equal(code, RAD_EIO);
    assert_non_null(strstr(error.text, "durable: this file system has no locks"));
    close(fd);
}

/* ---- Children ------------------------------------------------------------------------------------------- */

enum { OTHER = 50 }; /* the number of a file that its parent has open */

static int tell_session(void *context)
{
    (void)context;
    char text[64];
    rad_error error = {0};
    snprintf(text, sizeof text, "%d %d %d", getsid(0) == getpid(), fcntl(OTHER, F_GETFD) == -1,
             fcntl(held.fd, F_GETFD) == -1);
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
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    assert_int_equal(dup2(fd, OTHER), OTHER);
    assert_int_equal(rad__os_lock_file(fd, one, &error), 1);
    assert_int_equal(rad__os_detach(&pid, -1, NULL, tell_session, &error), 0);
    wait_for(pid, 7);
    expect_file(two, "1 1 1");
    assert_int_equal(rad__os_detach(&pid, held.fd, NULL, tell_session, &error), 0);
    wait_for(pid, 7);
    expect_file(two, "1 1 0"); /* but the one it may keep */
    close(fd);
    close(OTHER);
    assert_int_equal(rad__os_holder(&held, "one", &error), RAD_OS_NOT_HELD);
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
    rad__os_detach(&pid, -1, context, tell_session, &error);
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
    expect_file(two, "1 1 1");
}

static void test_a_lock_is_not_inherited(void **state)
{
    (void)state;
    int pid, fd;
    rad_error error = {0};
    assert_int_equal(rad__os_create(&fd, &held, "one", &error), 0);
    assert_int_equal(rad__os_lock_file(fd, one, &error), 1);
    assert_int_equal(rad__os_detach(&pid, -1, NULL, wait_for_two, &error), 0);
    close(fd);
    while (rad__os_holder(&held, "one", &error) != RAD_OS_NOT_HELD) usleep(10000); /* it lets go, too */
    assert_true(rad__os_is_alive(pid));
    assert_int_equal(rad__os_create(&fd, &held, "two", &error), 0);
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
    if (rad__os_create(&made, &held, "one", &error) != 0) return 9;
    if (rad__os_open_end(&opened, &held, "one", &error) != 0) return 9;
    return made > 2 && opened > 2 ? 0 : 8;
}

static void test_files_are_no_streams(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    assert_int_equal(rad__os_detach(&pid, held.fd, NULL, open_without_streams, &error), 0);
    wait_for(pid, 0);
}

/* ---- Commands --------------------------------------------------------------------------------------------- */

struct command {
    const char *text, *dir;
    uint64_t timeout_ns;
};

static const char *const ENVIRONMENT[] = {"PATH=/usr/bin:/bin", "WHO=me", NULL};

static int open_log(void)
{
    return open("durable/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* In a process of its own: leaves its output, status, signal and whether it was asked to end in `two`. */
static int run_command(void *context)
{
    const struct command *c = context;
    rad_os_command s;
    rad_error error = {0};
    char text[4096];
    size_t size = 0;
    char *const *environment = (char *const *)(uintptr_t)ENVIRONMENT;
    if (rad__os_command_start(&s, c->text, c->dir, environment, open_log(), &error) != 0) return 9;
    bool killed = false;
    for (;;) {
        int64_t got = rad__os_command_watch(&s, text + size, sizeof text - 200 - size, c->timeout_ns, &error);
        if (got < 0) return 9;
        size += (size_t)got;
        if (s.ended && got == 0) break;
        if (got == 0 && !killed && (s.asked_to_end || !s.ended)) killed = rad__os_command_kill(&s, true, &error) == 0;
    }
    rad__os_command_close(&s);
    size += (size_t)snprintf(text + size, 200, "|%d %d %d", s.status, s.signal, s.asked_to_end);
    return rad__os_write_file(two, text, size, &error) == 0 ? 0 : 9;
}

static void expect_command(struct command c, const char *expected)
{
    int pid;
    rad_error error = {0};
    if (c.timeout_ns == 0) c.timeout_ns = PATIENCE_NS;
    assert_int_equal(rad__os_detach(&pid, -1, &c, run_command, &error), 0);
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
    expect_command((struct command){.text = "cat one; pwd >&2", .dir = "durable/nowhere"}, "|126 0 0");
    /* What is left behind keeps the pipe open, but nobody waits for it. */
    expect_command((struct command){.text = "sleep 5 & echo here"}, "here\n|0 0 0");
    expect_command(
        (struct command){.text = "sleep 3600 & echo $! > durable/one; wait; echo late", .timeout_ns = 300000000},
        "|0 9 0");
    expect_gone(one); /* the group is */
}

static void test_asked_to_end(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    struct command c = {.text = "sleep 20", .timeout_ns = UINT64_C(20000000000)};
    assert_int_equal(rad__os_detach(&pid, -1, &c, run_command, &error), 0);
    assert_int_equal(kill(pid, SIGTERM), 0); /* at once: it is not lost */
    wait_for(pid, 0);
    expect_file(two, "|0 9 1");
}

/* Somebody has asked, and the command takes its time: 0, if it was waited for, and not asked about all the while. */
static int wait_patiently(void *context)
{
    rad_os_command s;
    rad_error error = {0};
    char text[100];
    uint32_t looks = 0;
    char *const *environment = (char *const *)(uintptr_t)ENVIRONMENT;
    if (rad__os_command_start(&s, context, NULL, environment, open_log(), &error) != 0) return 9;
    while (!s.ended && looks < 1000) {
        if (rad__os_command_watch(&s, text, sizeof text, UINT64_C(20000000000), &error) < 0) return 9;
        looks++;
    }
    rad__os_command_close(&s);
    return looks < 10 && s.asked_to_end ? 0 : 8;
}

static void test_waits_for_what_was_asked_to_end(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    char command[] = "sleep 0.3";
    assert_int_equal(rad__os_detach(&pid, -1, command, wait_patiently, &error), 0);
    assert_int_equal(kill(pid, SIGTERM), 0);
    wait_for(pid, 0);
}

/* The shell dies of SIGTERM; what it has started, in its group and in a session of its own, does not listen. 0: it was
 * seen, killed, and is gone. */
static int kill_all(void *context)
{
    rad_os_command s;
    rad_error error = {0};
    char text[100];
    char *const *environment = (char *const *)(uintptr_t)ENVIRONMENT;
    if (rad__os_command_start(&s, context, NULL, environment, open_log(), &error) != 0) return 9;
    while (!rad__os_exists(one) || !rad__os_exists(two)) usleep(1000);
    if (rad__os_command_is_left(&s)) return 8; /* it has not ended */
    if (rad__os_command_kill(&s, false, &error) != 0) return 9;
    while (!s.ended)
        if (rad__os_command_watch(&s, text, sizeof text, PATIENCE_NS, &error) < 0) return 9;
    if (!rad__os_command_is_left(&s)) return 7;
    while (rad__os_command_is_left(&s)) {
        if (rad__os_command_kill(&s, true, &error) != 0) return 9;
        rad__os_command_watch(&s, text, sizeof text, 0, &error);
        usleep(1000);
    }
    rad__os_command_close(&s);
    return s.signal == SIGTERM ? 0 : 6;
}

static void test_all_that_came_from_a_command_is_killed(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    char command[] = "deaf() { trap '' TERM; sh -c 'echo $PPID' > durable/$1.tmp; mv durable/$1.tmp "
                     "durable/$1;\n"
                     "while :; do sleep 0.1; done; }\n"
                     "deaf one & setsid sh -c \"$(printf 'trap \"\" TERM; echo $$ > durable/t; mv durable/t "
                     "durable/two; while :; do sleep 0.1; done')\" & wait";
    assert_int_equal(rad__os_detach(&pid, held.fd, command, kill_all, &error), 0);
    wait_for(pid, 0);
    expect_gone(one);
    expect_gone(two);
}

/* ---- Notices ---------------------------------------------------------------------------------------------- */

static void test_notices(void **state)
{
    (void)state;
    int fd, file;
    rad_error error = {0};
    assert_int_equal(rad__os_folder_watch_open(&fd, &error), 0);
    assert_int_equal(rad__os_folder_watch_add(fd, folder, &error), 0);
    assert_int_equal(rad__os_folder_watch_wait(fd, 1000000, &error), 0);
    assert_int_equal(rad__os_create(&file, &held, "one", &error), 0);
    assert_int_equal(rad__os_folder_watch_wait(fd, 1000000, &error), 0);
    close(file);
    assert_int_equal(rad__os_folder_watch_wait(fd, UINT64_C(5000000000), &error), 1);
    assert_int_equal(rad__os_rename_in(&held, "one", "two", &error), 0);
    assert_int_equal(rad__os_folder_watch_wait(fd, UINT64_C(5000000000), &error), 1);
    assert_int_equal(rad__os_folder_watch_wait(fd, 1000000, &error), 0);
    assert_int_equal(rad__os_folder_watch_add(fd, "durable/none", &error), RAD_EIO);
    close(fd);
}

/* ---- Faults ----------------------------------------------------------------------------------------------- */

static int do_everything(rad_error *error)
{
    int fd = -1, watch = -1;
    int code = rad__os_create(&fd, &held, "one", error);
    if (code == 0) code = rad__os_put(fd, one, "x", 1, error);
    if (code == 0) code = rad__os_cut(fd, one, 0, error);
    if (code == 0) code = rad__os_sync(fd, one, error);
    if (code == 0) code = rad__os_lock_file(fd, one, error);
    if (code == 1) code = rad__os_holder(&held, "one", error);
    if (fd >= 0) close(fd);
    if (code == RAD_OS_HELD) code = rad__os_open_end(&fd, &held, "one", error);
    if (code == 0) close(fd);
    if (code == 0) code = rad__os_link_in(&held, "one", "three", error);
    if (code == 1) code = rad__os_rename_in(&held, "three", "two", error);
    if (code == 0) code = rad__os_sync_folder(&held, "", error);
    if (code == 0) code = rad__os_folder_watch_open(&watch, error);
    if (code == 0) code = rad__os_folder_watch_add(watch, folder, error);
    if (code == 0) code = rad__os_folder_watch_wait(watch, 0, error);
    if (watch >= 0) close(watch);
    int pid = -1;
    if (code == 0) code = rad__os_detach(&pid, -1, NULL, sleep_a_while, error);
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
        cmocka_unit_test_setup(test_links_are_not_followed, fresh),
        cmocka_unit_test_setup(test_what_is_made_is_its_owners_alone, fresh),
        cmocka_unit_test_setup(test_a_file_that_has_lost_its_name, fresh),
        cmocka_unit_test_setup(test_no_locks, fresh),
        cmocka_unit_test_setup(test_a_detached_child, fresh),
        cmocka_unit_test_setup(test_it_outlives_its_parent, fresh),
        cmocka_unit_test_setup(test_a_lock_is_not_inherited, fresh),
        cmocka_unit_test_setup(test_files_are_no_streams, fresh),
        cmocka_unit_test_setup(test_commands, fresh),
        cmocka_unit_test_setup(test_asked_to_end, fresh),
        cmocka_unit_test_setup(test_waits_for_what_was_asked_to_end, fresh),
        cmocka_unit_test_setup(test_all_that_came_from_a_command_is_killed, fresh),
        cmocka_unit_test_setup(test_notices, fresh),
        cmocka_unit_test_setup(test_every_call_can_fail, fresh),
    };
    return cmocka_run_group_tests_name("os_durable", tests, NULL, NULL);
}
