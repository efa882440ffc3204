/* test_calls.c — files, children, shared memory, clock, terminal, signals; and each of them failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder_support.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/file.h"
#include "os/process.h"
#include "os/shared.h"
#include "os/signal.h"
#include "os/term.h"
#include "os/thread.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder[] = "files", path[] = "files/one";

static int fresh_folder(void **state)
{
    (void)state;
    folder_fresh(folder, path);
    return 0;
}

static void expect_content(const char *expected)
{
    char *data;
    size_t size;
    rad_error error = {0};
    assert_int_equal(rad__os_read_file(path, 1000, &data, &size, &error), 0);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(data, expected);
    rad__free(data);
}

/* ---- Files ------------------------------------------------------------------------------------------ */

static void test_write_and_read(void **state)
{
    (void)state;
    rad_error error = {0};
    struct stat s;
    assert_false(rad__os_exists(path));
    assert_int_equal(rad__os_write_file(path, "hello", 5, &error), 0);
    assert_true(rad__os_exists(path));
    expect_content("hello");
    assert_int_equal(rad__os_write_file(path, "", 0, &error), 0);
    expect_content("");
    assert_int_equal(folder_count(folder), 1);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0666 & ~mask); /* as any program would make it */
}

static void test_read_refuses(void **state)
{
    (void)state;
    rad_error error = {0};
    char *data;
    size_t size;
    assert_int_equal(rad__os_write_file(path, "hello", 5, &error), 0);
    assert_int_equal(rad__os_read_file(path, 4, &data, &size, &error), RAD_EINPUT);
    assert_string_equal(error.text, "files/one: 5 bytes, more than the limit of 4");
    assert_null(data);
    error = (rad_error){0};
    assert_int_equal(rad__os_read_file("files/none", 4, &data, &size, &error), RAD_EINPUT);
    assert_string_equal(error.text, "files/none: cannot open: No such file or directory");
    error = (rad_error){0};
    assert_int_equal(rad__os_read_file(folder, 4, &data, &size, &error), RAD_EINPUT);
    assert_string_equal(error.text, "files: a directory, not a regular file");
    error = (rad_error){0};
    assert_int_equal(rad__os_read_file("/dev/zero", 4, &data, &size, &error), RAD_EINPUT);
    assert_string_equal(error.text, "/dev/zero: a device, not a regular file");
}

static void test_write_refuses(void **state)
{
    (void)state;
    rad_error error = {0};
    assert_int_equal(rad__os_write_file("none/one", "x", 1, &error), RAD_EIO);
    assert_string_equal(error.text, "none/one: cannot create: No such file or directory");
    error = (rad_error){0};
    assert_int_equal(rad__os_write_file(folder, "x", 1, &error), RAD_EINPUT);
    assert_string_equal(error.text, "files: cannot write: it exists and is not a regular file");
    error = (rad_error){0};
    assert_int_equal(rad__os_write_file("/dev/null", "x", 1, &error), RAD_EINPUT);
    struct stat s;
    assert_int_equal(stat("/dev/null", &s), 0);
    assert_true(S_ISCHR(s.st_mode)); /* still a device */
}

static void test_write_follows_links(void **state)
{
    (void)state;
    rad_error error = {0};
    struct stat s;
    assert_int_equal(rad__os_write_file(path, "old", 3, &error), 0);
    assert_int_equal(symlink("one", "files/link"), 0);
    assert_int_equal(rad__os_write_file("files/link", "new", 3, &error), 0);
    assert_int_equal(lstat("files/link", &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    expect_content("new");
    assert_int_equal(unlink("files/link"), 0);
}

static void test_stream(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_os_writer *w;
    rad_os_reader *r;
    char got[64];
    assert_int_equal(rad__os_write_file(path, "old", 3, &error), 0);
    assert_int_equal(rad__os_writer_open(&w, path, &error), 0);
    assert_int_equal(rad__os_writer_put(w, "one ", 4, &error), 0);
    assert_int_equal(folder_count(folder), 2);
    expect_content("old");
    rad__os_writer_discard(w);
    assert_int_equal(folder_count(folder), 1);
    expect_content("old");
    assert_int_equal(rad__os_writer_open(&w, path, &error), 0);
    assert_int_equal(rad__os_writer_put(w, "one ", 4, &error), 0);
    assert_int_equal(rad__os_writer_put(w, "two", 3, &error), 0);
    assert_int_equal(rad__os_writer_keep(w, &error), 0);
    assert_int_equal(folder_count(folder), 1);
    expect_content("one two");
    assert_int_equal(rad__os_reader_open(&r, path, &error), 0);
    assert_int_equal(rad__os_reader_size(r), 7);
    assert_int_equal(rad__os_reader_get(r, got, 4, &error), 4);
    assert_int_equal(rad__os_reader_get(r, got + 4, 60, &error), 3);
    assert_memory_equal(got, "one two", 7);
    assert_int_equal(rad__os_reader_get(r, got, 4, &error), 0);
    rad__os_reader_close(r);
    rad__os_reader_close(NULL);
    rad__os_writer_discard(NULL);
}

static void test_folders(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_os_names names;
    char name[64];
    assert_int_equal(rad__os_make_directory("files/sub", &error), 0);
    assert_int_equal(rad__os_make_directory("files/sub", &error), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "files/sub/%d", i * 7 % 40);
        assert_int_equal(rad__os_write_file(name, "", 0, &error), 0);
    }
    assert_int_equal(rad__os_list(&names, "files/sub", &error), 0);
    assert_int_equal(names.count, 40);
    assert_string_equal(names.items[0], "0");
    assert_string_equal(names.items[1], "1");
    assert_string_equal(names.items[2], "10"); /* by bytes */
    for (uint32_t i = 1; i < names.count; i++) assert_true(strcmp(names.items[i - 1], names.items[i]) < 0);
    for (uint32_t i = 0; i < names.count; i++) {
        snprintf(name, sizeof name, "files/sub/%s", names.items[i]);
        unlink(name);
    }
    rad__os_names_free(&names);
    rmdir("files/sub");
    assert_int_equal(rad__os_list(&names, "files/none", &error), RAD_EINPUT);
    assert_string_equal(error.text, "files/none: cannot list the directory: No such file or directory");
    error = (rad_error){0};
    assert_int_equal(rad__os_make_directory("files/a/b", &error), RAD_EIO);
    assert_string_equal(error.text, "files/a/b: cannot create the directory: No such file or directory");
    error = (rad_error){0};
    assert_int_equal(rad__os_write_file(path, "", 0, &error), 0);
    assert_int_equal(rad__os_make_directory(path, &error), RAD_EIO);
    assert_string_equal(error.text, "files/one: cannot create the directory: File exists");
}

/* ---- Failing ---------------------------------------------------------------------------------------- */

static int do_write(rad_error *error)
{
    return rad__os_write_file(path, "new", 3, error);
}

static int do_read(rad_error *error)
{
    char *data;
    size_t size;
    int code = rad__os_read_file(path, 100, &data, &size, error);
    assert_true((code == 0) == (data != NULL));
    rad__free(data);
    return code;
}

static int do_list(rad_error *error)
{
    rad_os_names names;
    int code = rad__os_list(&names, folder, error);
    rad__os_names_free(&names);
    return code;
}

static int do_map(rad_error *error)
{
    void *at;
    int code = rad__os_shared_map(&at, 4096, error);
    rad__os_shared_unmap(at, 4096);
    return code;
}

static int do_nothing(void *context)
{
    (void)context;
    return 3;
}

static int do_child(rad_error *error)
{
    int pid, fds[2];
    rad_os_exit end;
    int code = rad__os_pipe(fds, error);
    if (code == 0) code = rad__os_fork(&pid, NULL, do_nothing, error);
    if (code == 0) {
        code = rad__os_wait(pid, true, &end, error);
        if (code == 1) {
            assert_int_equal(end.status, 3);
            code = 0;
        } else {
            rad__os_fail_at(0);
            rad__os_wait(pid, true, &end, error); /* leave no zombie */
        }
    }
    rad__os_close(fds[0]);
    rad__os_close(fds[1]);
    return code;
}

static void test_every_call_fails(void **state)
{
    (void)state;
    static int (*const all[])(rad_error *) = {do_write, do_read, do_list, do_map, do_child};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (int memory = 0; memory < 2; memory++) {
            int code = -1;
            for (uint64_t n = 1; code != 0; n++) {
                rad_error error = {0};
                (memory ? rad__alloc_fail_at : rad__os_fail_at)(n);
                code = all[i](&error);
                rad__os_fail_at(0);
                rad__alloc_fail_at(0);
                assert_int_equal(code, error.code);
                assert_true(code <= 0);
                if (code && !memory) assert_non_null(strstr(error.text, ": "));
                if (all[i] == do_write) assert_int_equal(folder_count(folder), code == 0 || memory);
                assert_true(n < 100);
            }
        }
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
}

static void test_words_of_failures(void **state)
{
    (void)state;
    static const char *const words[] = {
        "files/one: cannot create: No space left on device", "files/one: cannot write: No space left on device",
        "files/one: cannot sync: Input/output error",        "files/one: cannot close: Input/output error",
        "files/one: cannot rename: Input/output error",
    };
    for (uint64_t n = 1; n <= 5; n++) {
        rad_error error = {0};
        rad__os_fail_at(n);
        assert_int_equal(do_write(&error), RAD_EIO);
        rad__os_fail_at(0);
        assert_string_equal(error.text, words[n - 1]);
        assert_int_equal(folder_count(folder), 0);
    }
}

/* ---- Children --------------------------------------------------------------------------------------- */

typedef struct talk {
    int to_child[2], from_child[2];
    volatile uint64_t *shared;
} talk;

static int echo(void *context)
{
    talk *t = context;
    rad_error error = {0};
    char buffer[100];
    rad__os_close(t->to_child[1]);
    for (;;) {
        int64_t got = rad__os_read(t->to_child[0], buffer, sizeof buffer, &error);
        if (got <= 0) return got == 0 ? 7 : 8;
        *t->shared += (uint64_t)got;
        if (rad__os_write_all(t->from_child[1], buffer, (size_t)got, &error) != 0) return 9;
    }
}

static void test_child_talks(void **state)
{
    (void)state;
    talk t;
    int pid;
    rad_error error = {0};
    rad_os_exit end;
    void *shared;
    char got[16];
    bool ready[2];
    assert_int_equal(rad__os_shared_map(&shared, 4096, &error), 0);
    t.shared = shared;
    assert_int_equal(*t.shared, 0);
    assert_int_equal(rad__os_pipe(t.to_child, &error), 0);
    assert_int_equal(rad__os_pipe(t.from_child, &error), 0);
    assert_int_equal(rad__os_fork(&pid, &t, echo, &error), 0);
    rad__os_close(t.to_child[0]);
    rad__os_close(t.from_child[1]);
    int fds[2] = {t.from_child[0], -1};
    assert_int_equal(rad__os_poll(fds, 2, 0, ready, &error), 0);
    assert_int_equal(rad__os_wait(pid, false, &end, &error), 0);
    assert_int_equal(rad__os_write_all(t.to_child[1], "hello", 5, &error), 0);
    assert_int_equal(rad__os_poll(fds, 2, 10000, ready, &error), 1);
    assert_true(ready[0]);
    assert_false(ready[1]);
    assert_int_equal(rad__os_read(t.from_child[0], got, sizeof got, &error), 5);
    assert_memory_equal(got, "hello", 5);
    rad__os_close(t.to_child[1]);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.status, 7);
    assert_int_equal(end.signal, 0);
    assert_int_equal(*t.shared, 5);
    assert_int_equal(rad__os_poll(fds, 2, 10000, ready, &error), 1); /* the end can be read too */
    assert_int_equal(rad__os_read(t.from_child[0], got, sizeof got, &error), 0);
    rad__os_close(t.from_child[0]);
    rad__os_close(-1);
    rad__os_shared_unmap(shared, 4096);
}

static int die(void *context)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn it into an exit status */
    *(volatile uint64_t *)context = 42;
    raise(SIGSEGV);
    return 0;
}

static void test_child_dies(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    rad_os_exit end;
    void *shared;
    assert_int_equal(rad__os_shared_map(&shared, 4096, &error), 0);
    assert_int_equal(rad__os_fork(&pid, shared, die, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.signal, SIGSEGV);
    assert_string_equal(rad__os_signal_name(end.signal), "SIGSEGV");
    assert_string_equal(rad__os_signal_name(SIGKILL), "SIGKILL");
    assert_string_equal(rad__os_signal_name(64), "unknown signal");
    assert_int_equal(*(uint64_t *)shared, 42); /* what it wrote is still there */
    rad__os_shared_unmap(shared, 4096);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), RAD_EIO); /* only once */
    assert_string_equal(error.text, "cannot wait for a process: No child processes");
}

static int spin(void *context)
{
    volatile uint64_t *count = context;
    while (*count < UINT64_MAX) ++*count;
    return 0;
}

static void test_child_is_killed(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    rad_os_exit end;
    void *shared;
    uint64_t used = 0;
    assert_int_equal(rad__os_shared_map(&shared, 4096, &error), 0);
    assert_int_equal(rad__os_fork(&pid, shared, spin, &error), 0);
    while (used < 20 * 1000 * 1000) /* twenty milliseconds of work */
        assert_int_equal(rad__os_cpu_ns(pid, &used, &error), 0);
    assert_int_equal(rad__os_kill(pid, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.signal, SIGKILL);
    assert_true(*(uint64_t *)shared > 0);
    rad__os_shared_unmap(shared, 4096);
    assert_int_equal(rad__os_kill(pid, &error), 0); /* gone already */
    assert_int_equal(rad__os_cpu_ns(pid, &used, &error), RAD_EIO);
}

static int orphan_maker(void *context)
{
    int pid;
    rad_error error = {0};
    if (rad__os_fork(&pid, (uint64_t *)context + 1, spin, &error) != 0) return 1;
    *(volatile uint64_t *)context = (uint64_t)pid;
    raise(SIGKILL);
    return 0;
}

static void test_child_dies_with_its_parent(void **state)
{
    (void)state;
    int pid;
    rad_error error = {0};
    rad_os_exit end;
    void *shared;
    assert_int_equal(rad__os_shared_map(&shared, 4096, &error), 0);
    assert_int_equal(rad__os_fork(&pid, shared, orphan_maker, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.signal, SIGKILL);
    volatile uint64_t *count = (uint64_t *)shared + 1;
    uint64_t last = *count;
    for (bool quiet = false; !quiet; last = *count) {
        usleep(20000);
        quiet = *count == last; /* it does not count any more */
    }
    rad__os_shared_unmap(shared, 4096);
}

static void test_reader_is_gone(void **state)
{
    (void)state;
    int fds[2];
    rad_error error = {0};
    signal(SIGPIPE, SIG_DFL); /* as a program that knows nothing of us has it */
    assert_int_equal(rad__os_pipe(fds, &error), 0);
    rad__os_close(fds[0]);
    assert_int_equal(rad__os_write_all(fds[1], "x", 1, &error), RAD_EIO);
    assert_string_equal(error.text, "cannot write to a pipe: Broken pipe");
    rad__os_close(fds[1]);
}

/* ---- The rest --------------------------------------------------------------------------------------- */

static void test_large_mapping_costs_nothing(void **state)
{
    (void)state;
    void *at;
    rad_error error = {0};
    size_t size = (size_t)4 << 30;
    assert_int_equal(rad__os_shared_map(&at, size, &error), 0);
    ((char *)at)[size - 1] = 1;
    rad__os_shared_unmap(at, size);
    rad__os_shared_unmap(NULL, 1);
    assert_int_equal(rad__os_shared_map(&at, SIZE_MAX / 2, &error), RAD_ENOMEM);
    assert_null(at);
    assert_string_equal(error.text, "cannot map 9223372036854775807 bytes of shared memory: Cannot allocate memory");
}

static void test_clock(void **state)
{
    (void)state;
    uint64_t a = rad__os_now_ns();
    usleep(2000);
    uint64_t b = rad__os_now_ns();
    assert_true(b - a >= 2000000);
    double s = rad__os_now_seconds();
    assert_true(s >= (double)b * 1e-9 && s < (double)b * 1e-9 + 60);
    assert_true(rad__os_cpu_count() >= 1);
}

static void test_terminal(void **state)
{
    (void)state;
    rad_error error = {0};
    int fds[2];
    assert_int_equal(rad__os_pipe(fds, &error), 0);
    assert_false(rad__os_is_terminal(fds[0]));
    assert_int_equal(rad__os_terminal_width(fds[0]), 0);
    assert_false(rad__os_wants_colour(fds[0]));
    assert_int_equal(fcntl(fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    rad__os_close(fds[0]);
    rad__os_close(fds[1]);
    setenv("RAD_TEST_VARIABLE", "x", 1);
    assert_string_equal(rad__os_env("RAD_TEST_VARIABLE"), "x");
    unsetenv("RAD_TEST_VARIABLE");
    assert_null(rad__os_env("RAD_TEST_VARIABLE"));
}

static bool is_ignored(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler == SIG_IGN;
}

static void test_interrupts(void **state)
{
    (void)state;
    rad_os_signals before;
    static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
    assert_int_equal(*rad__os_interrupted(), 0);
    for (size_t i = 0; i < 3; i++) {
        rad__os_signals_watch(&before);
        assert_int_equal(*rad__os_interrupted(), 0);
        raise(asking[i]);
        assert_int_equal(*rad__os_interrupted(), 1);
        raise(asking[(i + 1) % 3]);
        assert_int_equal(*rad__os_interrupted(), 2); /* and lives: one may be of the group */
        assert_true(is_ignored(SIGPIPE) && is_ignored(SIGXFSZ));
        rad__os_signals_restore(&before);
        assert_false(is_ignored(SIGPIPE) || is_ignored(SIGXFSZ) || is_ignored(SIGHUP));
    }
    signal(SIGHUP, SIG_IGN); /* nohup */
    rad__os_signals_watch(&before);
    raise(SIGHUP);
    assert_int_equal(*rad__os_interrupted(), 0);
    assert_true(is_ignored(SIGHUP));
    rad__os_signals_restore(&before);
    assert_true(is_ignored(SIGHUP));
    signal(SIGHUP, SIG_DFL);
}

static int raises_three(void *context)
{
    rad_os_signals before;
    (void)context;
    rad__os_signals_watch(&before);
    for (int i = 0; i < 3; i++) raise(SIGTERM);
    return 0;
}

static int is_asked_and_works(void *context)
{
    (void)context;
    rad__os_signals_leave_to_parent();
    raise(SIGINT);
    raise(SIGTERM);
    raise(SIGHUP);
    return 7;
}

static void test_the_third_signal_does_not_wait(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_os_exit end;
    int pid;
    assert_int_equal(rad__os_fork(&pid, NULL, raises_three, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.status, 130);
    assert_int_equal(rad__os_fork(&pid, NULL, is_asked_and_works, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
    assert_int_equal(end.status, 7);
}

/* ---- Threads ---------------------------------------------------------------------------------------- */

static void leaves_a_mark(void *context)
{
    *(int *)context = 7;
}

static void test_no_stack_is_too_small_for_a_thread(void **state)
{
    rad_error error = {0};
    rad_os_thread thread;
    int mark = 0;
    (void)state;
    assert_int_equal(rad__os_thread_create(&thread, leaves_a_mark, &mark, 1, RAD_NONE, &error), 0);
    rad__os_thread_join(&thread);
    assert_int_equal(mark, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_write_and_read, fresh_folder),
        cmocka_unit_test_setup(test_read_refuses, fresh_folder),
        cmocka_unit_test_setup(test_write_refuses, fresh_folder),
        cmocka_unit_test_setup(test_write_follows_links, fresh_folder),
        cmocka_unit_test_setup(test_stream, fresh_folder),
        cmocka_unit_test_setup(test_folders, fresh_folder),
        cmocka_unit_test_setup(test_every_call_fails, fresh_folder),
        cmocka_unit_test_setup(test_words_of_failures, fresh_folder),
        cmocka_unit_test(test_child_talks),
        cmocka_unit_test(test_child_dies),
        cmocka_unit_test(test_child_is_killed),
        cmocka_unit_test(test_child_dies_with_its_parent),
        cmocka_unit_test(test_reader_is_gone),
        cmocka_unit_test(test_large_mapping_costs_nothing),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_the_third_signal_does_not_wait),
        cmocka_unit_test(test_no_stack_is_too_small_for_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
