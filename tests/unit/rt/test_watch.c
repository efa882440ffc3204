/* test_watch.c — workers that do not come back, deadlock, shutdown. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt/monitor.h"

#include "patience_support.h"
#include "storm_support.h"

enum { MS = 1000000 };

#if defined(__SANITIZE_THREAD__)
enum { IN_TSAN = 1 };
#else
enum { IN_TSAN = 0 };
#endif

static void block_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * MS};
    nanosleep(&t, NULL);
}

/* ---- Calls that block ----------------------------------------------------------------------------------- */

enum { BLOCKED = 20, BEATS = 10 };

static _Atomic int blocked, freed;

static int blocks(void *gate)
{
    char byte;
    atomic_fetch_add(&blocked, 1);
    CHECK(read(*(int *)gate, &byte, 1) == 1);
    atomic_fetch_add(&freed, 1);
    return 0;
}

/* Waits for all of them to block, beats, and lets them go: with two workers alone it never does. */
static int heart(void *key)
{
    while (atomic_load(&blocked) < BLOCKED) CHECK(rad_sleep(MS) == 0);
    for (int i = 0; i < BEATS; i++) CHECK(rad_sleep(MS) == 0);
    CHECK(atomic_load(&freed) == 0);
    char bytes[BLOCKED] = {0};
    CHECK(write(*(int *)key, bytes, sizeof bytes) == sizeof bytes);
    return 0;
}

static int kidnap(void *ends)
{
    int *gate = ends, *key = gate + 1;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    CHECK(rad_nursery_spawn(&n, NULL, heart, key) == 0);
    for (int i = 0; i < BLOCKED; i++) CHECK(rad_nursery_spawn(&n, NULL, blocks, gate) == 0);
    return rad_nursery_wait(&n);
}

static void a_stalled_worker_does_not_hold_up_the_others(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    rad_options o = {.workers = 2};
    int ends[2];
    blocked = freed = 0;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(rad_main(&o, kidnap, ends, NULL), 0);
    assert_int_equal(freed, BLOCKED);
    close(ends[0]);
    close(ends[1]);
}

static void a_pure_decision(void **state)
{
    (void)state;
    assert_true(rad__choose_reinforce(4, 1, 4, 0, false));
    /* They compute: more would only get in the way … */
    assert_false(rad__choose_reinforce(4, 0, 4, 0, false));
    assert_true(rad__choose_reinforce(4, 0, 4, 1, false)); /* … but for what is overdue */
    assert_false(rad__choose_reinforce(8, 0, 4, 1, false));
    assert_false(rad__choose_reinforce(8, 0, 4, RAD_URGENT_LOOKS, false));
    assert_true(rad__choose_reinforce(8, 0, 4, RAD_URGENT_LOOKS + 1, false)); /* … waits for long */
    assert_true(rad__choose_reinforce(8, 0, 4, 0, true));                     /* … or starves */
    assert_true(rad__choose_reinforce(100, 97, 4, 0, false));
}

/* ---- Deadlock ------------------------------------------------------------------------------------------- */

typedef struct report {
    int status;
    char text[4096];
} report;

static report in_child(rad_fn body, const rad_options *o)
{
    report r = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        patience_limit_child();
        _exit(rad_main(o, body, NULL, NULL));
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length < sizeof r.text - 1 && (got = read(ends[0], r.text + length, sizeof r.text - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &r.status, 0), child);
    return r;
}

static int waits_for_ever(void *arg)
{
    rad_chan *c;
    int value;
    (void)arg;
    assert_int_equal(rad_chan_create(&c, 4, 0, RAD_CHAN_BLOCKS), 0);
    return rad_recv(c, &value, RAD_FOREVER);
}

static int waits_for_a_file(void *arg)
{
    int ends[2];
    (void)arg;
    if (pipe(ends) != 0) return -1;
    return rad_fd_wait(ends[0], RAD_READABLE, rad_after(MS)) == RAD_ETIMEOUT ? 0 : -1;
}

/* The thread of the call stays for some seconds, and that which polls for threads for good: they wake nobody. */
static int leaves_threads(void *arg)
{
    int answer = -1;
    assert_int_equal(rad_blocking(waits_for_a_file, NULL, &answer, RAD_FOREVER), 0);
    assert_int_equal(answer, 0);
    return waits_for_ever(arg);
}

static void a_deadlock_is_reported(void **state)
{
    (void)state;
    if (IN_TSAN) skip(); /* it has a thread of its own, which might wake somebody */
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers};
        report r = in_child(waits_for_ever, &o);
        if (!WIFEXITED(r.status) || WEXITSTATUS(r.status) != 124) fail_msg("status %x: %s", (unsigned)r.status, r.text);
        assert_non_null(strstr(r.text, "deadlock"));
        assert_non_null(strstr(r.text, "waits for channel"));
        if (strcmp(rad__context_kind(), "ucontext") != 0) assert_non_null(strstr(r.text, "#0 "));
    }
}

/* The thread of a call leaves after 5 s. If it counted, each report would come later than that. */
static void threads_that_wake_nobody_do_not_count(void **state)
{
    enum { TRIES = 20 };
    rad_time least = RAD_FOREVER;
    (void)state;
    if (IN_TSAN) skip();
    for (int i = 0; i < TRIES && least > (uint64_t)4500 * MS; i++) {
        rad_options o = {.workers = 1};
        rad_time before = rad_now();
        report r = in_child(leaves_threads, &o);
        rad_time took = rad_now() - before;
        assert_true(WIFEXITED(r.status));
        assert_int_equal(WEXITSTATUS(r.status), 124);
        if (took < least) least = took;
    }
    assert_true(least < (uint64_t)4500 * MS);
}

static rad_chan *from_outside;

static void *wakes_later(void *arg)
{
    int value = 7;
    (void)arg;
    block_ms(300);
    RAD_IGNORE(rad_send(from_outside, &value, RAD_FOREVER));
    return NULL;
}

static int waits_for_a_thread(void *arg)
{
    pthread_t thread;
    int value = 0;
    (void)arg;
    if (rad_chan_create(&from_outside, 4, 0, RAD_CHAN_BLOCKS) != 0) return 1;
    if (pthread_create(&thread, NULL, wakes_later, NULL) != 0) return 1;
    int code = rad_recv(from_outside, &value, RAD_FOREVER);
    pthread_join(thread, NULL);
    return code != 0 ? 2 : value;
}

static int sleeps_a_while(void *arg)
{
    (void)arg;
    return rad_sleep(300 * MS) == 0 ? 9 : 1;
}

static void no_false_alarm(void **state)
{
    (void)state;
    rad_options o = {.workers = 2};
    report r = in_child(waits_for_a_thread, &o);
    assert_true(WIFEXITED(r.status));
    assert_int_equal(WEXITSTATUS(r.status), 7);
    r = in_child(sleeps_a_while, &o);
    assert_true(WIFEXITED(r.status));
    assert_int_equal(WEXITSTATUS(r.status), 9);
}

/* ---- Reports -------------------------------------------------------------------------------------------- */

static int ends_early(void *arg)
{
    (void)arg;
    return 0;
}

/* Whether a dump says so of anybody. */
static bool is_in_the_dump(const char *what)
{
    char text[4096];
    int file = memfd_create("dump", MFD_CLOEXEC);
    CHECK(file >= 0 && rad_runtime_dump(NULL, file) == 0);
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    CHECK(size > 0);
    text[size] = '\0';
    close(file);
    return strstr(text, what) != NULL;
}

static int dumps(void *arg)
{
    rad_fiber f, ended_before;
    (void)arg;
    rad_name("the first");
    if (rad_spawn(&ended_before, ends_early, NULL) != 0) return 5;
    if (rad_join(ended_before, NULL, RAD_FOREVER) != 0) return 5;
    if (rad_spawn(&f, waits_for_ever, NULL) != 0) return 1;
    while (!is_in_the_dump("waits for channel")) CHECK(rad_sleep(MS) == 0);
    if (rad_runtime_dump(NULL, 2) != 0) return 2;
    if (rad_runtime_dump(NULL, -1) != RAD_EIO) return 3;
    rad_cancel(f);
    if (rad_join(f, NULL, RAD_FOREVER) != 0) return 4;
    rad_release(f);
    rad_release(ended_before);
    return 6;
}

static void a_dump_has_every_fiber(void **state)
{
    (void)state;
    if (IN_TSAN) skip(); /* forks */
    report r = in_child(dumps, NULL);
    assert_true(WIFEXITED(r.status));
    assert_int_equal(WEXITSTATUS(r.status), 6);
    assert_non_null(strstr(r.text, "'the first': runs on worker"));
    assert_non_null(strstr(r.text, "waits for channel"));
    assert_null(strstr(r.text, "more")); /* who has ended is not there, whoever holds its handle */
}

/* ---- Shutdown ------------------------------------------------------------------------------------------- */

static _Atomic int ended;

static int waits_until_cancelled(void *arg)
{
    (void)arg;
    int code = rad_sleep_until(RAD_FOREVER);
    assert_int_equal(code, RAD_ECANCELED);
    assert_int_equal(rad_spawn(NULL, waits_until_cancelled, NULL), RAD_ECLOSED);
    atomic_fetch_add(&ended, 1);
    return code;
}

static int spawns_until_refused(void *arg)
{
    (void)arg;
    int code;
    while ((code = rad_spawn(NULL, waits_until_cancelled, NULL)) == 0) {
        atomic_fetch_sub(&ended, 1);
        rad_yield();
    }
    assert_int_equal(code, RAD_ECLOSED);
    return 0;
}

static void shutdown_refuses_cancels_and_drains(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        rad_options o = {.workers = 1 + (uint32_t)round % 3};
        rad_runtime *rt;
        ended = 0;
        assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
        for (int i = 0; i < 10; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, waits_until_cancelled, NULL), 0);
        assert_int_equal(rad_runtime_spawn(rt, NULL, spawns_until_refused, NULL), 0);
        if (round % 2) block_ms(1);
        rad_runtime_shutdown(rt);
        assert_int_equal(rad_runtime_spawn(rt, NULL, waits_until_cancelled, NULL), RAD_ECLOSED);
        rad_runtime_destroy(rt);
        assert_int_equal(ended, 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pure_decision),
        cmocka_unit_test(a_stalled_worker_does_not_hold_up_the_others),
        cmocka_unit_test(a_deadlock_is_reported),
        cmocka_unit_test(threads_that_wake_nobody_do_not_count),
        cmocka_unit_test(no_false_alarm),
        cmocka_unit_test(a_dump_has_every_fiber),
        cmocka_unit_test(shutdown_refuses_cancels_and_drains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
