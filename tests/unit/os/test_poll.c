/* Which descriptors are ready: pipes, sockets, files, what is closed and what hangs up; rings from other threads; and
 * each call failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/clock.h"
#include "os/fault.h"
#include "os/poll.h"
#include "os/process.h"
#include "os/thread.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define FOREVER UINT64_MAX

enum { MILLISECOND = 1000000 };

static rad_os_poll poller;
static rad_error error;
static int ends[2]; /* of a pipe: read, write */

static int open_all(void **state)
{
    (void)state;
    memset(&error, 0, sizeof error);
    return rad__os_poll_open(&poller, &error) != 0 || rad__os_pipe(ends, &error) != 0;
}

static int close_all(void **state)
{
    (void)state;
    rad__os_poll_close(&poller);
    for (int i = 0; i < 2; i++) rad__os_close(ends[i]);
    return 0;
}

static void watch(int fd, uint32_t wanted, uint64_t token)
{
    int code = rad__os_poll_watch(&poller, fd, wanted, token, &error);
    if (code != RAD_OS_WATCHED) fail_msg("%d: %s", code, error.text);
}

static void expect(uint64_t token, uint32_t ready)
{
    rad_os_event events[8];
    assert_int_equal(rad__os_poll_wait(&poller, events, 8, FOREVER, &error), 1);
    assert_true(events[0].token == token);
    assert_int_equal(events[0].ready, ready);
}

static void expect_nothing(void)
{
    rad_os_event events[8];
    assert_int_equal(rad__os_poll_wait(&poller, events, 8, 0, &error), 0);
}

static void put_byte(int fd)
{
    assert_int_equal(write(fd, "x", 1), 1);
}

static void pair_of_sockets(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

/* ---- Questions and answers --------------------------------------------------------------------------------------- */

static void a_question_is_answered_once(void **state)
{
    (void)state;
    watch(ends[0], RAD_OS_READABLE, 7);
    expect_nothing();
    put_byte(ends[1]);
    expect(7, RAD_OS_READABLE);
    expect_nothing(); /* although it still is readable */
    watch(ends[0], RAD_OS_READABLE, RAD_OS_TOKEN_MAX);
    expect(RAD_OS_TOKEN_MAX, RAD_OS_READABLE); /* what is ready already counts */
    expect_nothing();
}

static void reading_and_writing_are_asked_together(void **state)
{
    int fds[2];
    (void)state;
    pair_of_sockets(fds);
    watch(fds[0], RAD_OS_READABLE | RAD_OS_WRITABLE, 1);
    expect(1, RAD_OS_WRITABLE);
    put_byte(fds[1]);
    expect_nothing(); /* that was the answer */
    watch(fds[0], RAD_OS_READABLE, 2);
    watch(fds[0], RAD_OS_WRITABLE, 3); /* replaces it */
    expect(3, RAD_OS_WRITABLE);
    expect_nothing();
    watch(fds[0], RAD_OS_READABLE | RAD_OS_WRITABLE, 4);
    expect(4, RAD_OS_READABLE | RAD_OS_WRITABLE);
    rad__os_close(fds[0]);
    rad__os_close(fds[1]);
}

static void a_full_pipe_is_not_writable(void **state)
{
    char page[4096] = {0};
    (void)state;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], page, sizeof page) > 0) {
    }
    watch(ends[1], RAD_OS_WRITABLE, 1);
    expect_nothing();
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    while (read(ends[0], page, sizeof page) > 0) {
    }
    expect(1, RAD_OS_WRITABLE);
}

static void hanging_up_is_an_answer_to_everything(void **state)
{
    int fds[2];
    (void)state;
    watch(ends[0], RAD_OS_READABLE, 1);
    rad__os_close(ends[1]);
    ends[1] = -1;
    expect(1, RAD_OS_READABLE | RAD_OS_WRITABLE | RAD_OS_HUNG_UP);
    pair_of_sockets(fds);
    watch(fds[0], RAD_OS_READABLE, 2);
    shutdown(fds[1], SHUT_WR); /* half of it: it may still be written to */
    expect(2, RAD_OS_READABLE | RAD_OS_HUNG_UP);
    watch(fds[0], RAD_OS_WRITABLE, 3);
    expect(3, RAD_OS_WRITABLE);
    rad__os_close(fds[1]);
    watch(fds[0], RAD_OS_WRITABLE, 4);
    expect(4, RAD_OS_READABLE | RAD_OS_WRITABLE | RAD_OS_HUNG_UP);
    rad__os_close(fds[0]);
}

static void a_question_can_be_taken_back(void **state)
{
    (void)state;
    put_byte(ends[1]);
    watch(ends[0], RAD_OS_READABLE, 1);
    rad__os_poll_forget(&poller, ends[0]);
    expect_nothing();
    rad__os_poll_forget(&poller, ends[0]); /* there is none */
    rad__os_poll_forget(&poller, -1);
    watch(ends[0], RAD_OS_READABLE, 2);
    expect(2, RAD_OS_READABLE);
}

static void files_are_always_ready(void **state)
{
    static const char *const paths[] = {"/proc/self/exe", "/", "/dev/null"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(rad__os_poll_watch(&poller, fd, RAD_OS_READABLE, 1, &error), RAD_OS_ALWAYS_READY);
        rad__os_close(fd);
    }
    assert_int_equal(error.code, 0);
    expect_nothing();
}

static void what_is_closed_is_bad_input(void **state)
{
    int closed = dup(ends[0]);
    (void)state;
    watch(closed, RAD_OS_READABLE, 1);
    rad__os_poll_forget(&poller, closed); /* ends[0] is the same pipe: the question would live on */
    rad__os_close(closed);
    put_byte(ends[1]);
    expect_nothing();
    const int bad[] = {closed, -1, poller.epoll};
    for (int i = 0; i < 3; i++) {
        error.code = 0;
        assert_int_equal(rad__os_poll_watch(&poller, bad[i], RAD_OS_READABLE, 1, &error), RAD_EINPUT);
        assert_non_null(strstr(error.text, "cannot wait for a file descriptor"));
    }
}

/* A number that was closed and given away again is somebody else. */
static void numbers_come_back(void **state)
{
    int fds[2], again[2];
    (void)state;
    pair_of_sockets(fds);
    watch(fds[0], RAD_OS_READABLE, 1);
    rad__os_close(fds[0]);
    rad__os_close(fds[1]);
    pair_of_sockets(again);
    assert_int_equal(again[0], fds[0]);
    put_byte(again[1]);
    expect_nothing();
    watch(again[0], RAD_OS_READABLE, 2);
    expect(2, RAD_OS_READABLE);
    rad__os_close(again[0]);
    rad__os_close(again[1]);
}

enum { MANY = 300 };

static void many_are_answered_in_parts(void **state)
{
    static int fds[MANY][2];
    static uint32_t seen[MANY];
    uint32_t count = 0;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(rad__os_pipe(fds[i], &error), 0);
        watch(fds[i][0], RAD_OS_READABLE, i);
        put_byte(fds[i][1]);
    }
    while (count < MANY) {
        rad_os_event events[1000];
        int got = rad__os_poll_wait(&poller, events, count < 20 ? 7 : 1000, FOREVER, &error);
        assert_in_range(got, 1, count < 20 ? 7 : 256);
        for (int i = 0; i < got; i++) seen[events[i].token]++;
        count += (uint32_t)got;
    }
    expect_nothing();
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(seen[i], 1);
        rad__os_close(fds[i][0]);
        rad__os_close(fds[i][1]);
    }
}

/* ---- Time and rings ------------------------------------------------------------------------------------------ */

static void waiting_ends_in_time(void **state)
{
    static const uint64_t times[] = {1, 50000, 2 * MILLISECOND, 20 * MILLISECOND};
    rad_os_event event;
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint64_t start = rad__os_now_ns();
        assert_int_equal(rad__os_poll_wait(&poller, &event, 1, times[i], &error), 0);
        assert_true(rad__os_now_ns() - start >= times[i]);
    }
}

static void a_ring_ends_one_wait(void **state)
{
    rad_os_event event;
    (void)state;
    rad__os_poll_ring(&poller);
    rad__os_poll_ring(&poller); /* the same ring */
    expect_nothing();           /* leaves it to who sleeps */
    uint64_t start = rad__os_now_ns(), long_time = UINT64_C(3600000) * MILLISECOND;
    assert_int_equal(rad__os_poll_wait(&poller, &event, 1, long_time, &error), 0);
    assert_true(rad__os_now_ns() - start < long_time);
    start = rad__os_now_ns();
    assert_int_equal(rad__os_poll_wait(&poller, &event, 1, MILLISECOND, &error), 0);
    assert_true(rad__os_now_ns() - start >= MILLISECOND); /* silent again */
    rad__os_poll_ring(&poller);
    assert_int_equal(rad__os_poll_wait(&poller, &event, 1, FOREVER, &error), 0);
}

static void answers_come_with_a_ring(void **state)
{
    (void)state;
    put_byte(ends[1]);
    watch(ends[0], RAD_OS_READABLE, 5);
    rad__os_poll_ring(&poller);
    expect(5, RAD_OS_READABLE);
}

enum { ROUNDS = 20000 };
static _Atomic uint32_t said, heard;

static void ringer(void *context)
{
    (void)context;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        /* Pairs with the load of the waiter. */
        atomic_store_explicit(&said, i, memory_order_release);
        rad__os_poll_ring(&poller);
        while (i % 3 && atomic_load_explicit(&heard, memory_order_relaxed) < i) rad__os_give_way(false);
    }
}

/* A ring that is lost leaves both waiting for ever. */
static void no_ring_is_lost(void **state)
{
    rad_os_thread thread;
    rad_os_event event;
    (void)state;
    assert_int_equal(rad__os_thread_create(&thread, ringer, NULL, 1 << 16, RAD_NONE, &error), 0);
    for (uint32_t now = 0; now < ROUNDS;) {
        assert_int_equal(rad__os_poll_wait(&poller, &event, 1, FOREVER, &error), 0);
        now = atomic_load_explicit(&said, memory_order_acquire); /* pairs with ringer */
        atomic_store_explicit(&heard, now, memory_order_relaxed);
    }
    rad__os_thread_join(&thread);
}

static void asker(void *context)
{
    rad_error trouble = {0};
    (void)context;
    rad__os_give_way(true);
    if (rad__os_poll_watch(&poller, ends[0], RAD_OS_READABLE, 9, &trouble) == RAD_OS_WATCHED) put_byte(ends[1]);
}

static void questions_may_be_asked_while_somebody_waits(void **state)
{
    rad_os_thread thread;
    (void)state;
    assert_int_equal(rad__os_thread_create(&thread, asker, NULL, 1 << 16, RAD_NONE, &error), 0);
    expect(9, RAD_OS_READABLE);
    rad__os_thread_join(&thread);
}

static void alarmed(int number)
{
    (void)number;
}

static void a_signal_ends_a_wait(void **state)
{
    struct sigaction action = {.sa_handler = alarmed}, before;
    struct itimerval soon = {.it_value = {.tv_usec = 5000}, .it_interval = {.tv_usec = 5000}};
    struct itimerval never = {.it_value = {0}};
    rad_os_event event;
    (void)state;
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(rad__os_poll_wait(&poller, &event, 1, FOREVER, &error), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
}

/* ---- Failing ------------------------------------------------------------------------------------------------- */

static uint32_t open_count(void)
{
    uint32_t count = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d) != NULL) count++;
    closedir(d);
    return count;
}

static void every_call_may_fail(void **state)
{
    rad_os_poll other;
    rad_os_event event;
    uint32_t before = open_count(), failures = 0;
    (void)state;
    for (uint64_t n = 1;; n++) {
        error = (rad_error){0};
        rad__os_fail_at(n);
        int code = rad__os_poll_open(&other, &error);
        rad__os_fail_at(0);
        if (code == 0) break;
        assert_int_equal(code, RAD_EIO);
        assert_int_equal(error.code, RAD_EIO);
        assert_int_equal(open_count(), before);
        failures++;
    }
    assert_int_equal(failures, 3);
    rad__os_poll_close(&other);
    rad__os_poll_close(&other); /* it is closed */
    assert_int_equal(open_count(), before);
    rad__os_fail_at(1);
    assert_int_equal(rad__os_poll_watch(&poller, ends[0], RAD_OS_READABLE, 1, &error), RAD_EIO);
    assert_int_equal(rad__os_poll_wait(&poller, &event, 1, 0, &error), RAD_EIO);
    rad__os_fail_at(0);
    put_byte(ends[1]);
    expect_nothing(); /* it was not asked */
}

#define POLL_TEST(f) cmocka_unit_test_setup_teardown(f, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POLL_TEST(a_question_is_answered_once),
        POLL_TEST(reading_and_writing_are_asked_together),
        POLL_TEST(a_full_pipe_is_not_writable),
        POLL_TEST(hanging_up_is_an_answer_to_everything),
        POLL_TEST(a_question_can_be_taken_back),
        POLL_TEST(files_are_always_ready),
        POLL_TEST(what_is_closed_is_bad_input),
        POLL_TEST(numbers_come_back),
        POLL_TEST(many_are_answered_in_parts),
        POLL_TEST(waiting_ends_in_time),
        POLL_TEST(a_ring_ends_one_wait),
        POLL_TEST(answers_come_with_a_ring),
        POLL_TEST(no_ring_is_lost),
        POLL_TEST(questions_may_be_asked_while_somebody_waits),
        POLL_TEST(a_signal_ends_a_wait),
        POLL_TEST(every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
