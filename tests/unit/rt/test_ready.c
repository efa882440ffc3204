/* test_ready.c — waiting for file descriptors: who is woken, and by whom. Who polls: test_polls.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/fault.h"
#include "os/thread.h"
#include "rt/runtime.h"

#include "ready_support.h"

#if defined(__SANITIZE_THREAD__)
enum { PAIRS = 60, EXCHANGES = 4, BALLS = 2, HITS = 200, RETURNS = 300, CLOSES = 30 };
#else
enum { PAIRS = 1000, EXCHANGES = 10, BALLS = 4, HITS = 3000, RETURNS = 5000, CLOSES = 300 };
#endif

/* Where errno is would be found out once for all calls if these two were not functions of their own; but a fiber that
 * has slept may be on another thread. */
static __attribute__((noinline)) void fill(int fd)
{
    static const char junk[4096];
    while (write(fd, junk, sizeof junk) > 0) {
    }
    assert_int_equal(errno, EAGAIN);
}

static __attribute__((noinline)) void drain(int fd)
{
    static char junk[65536];
    while (read(fd, junk, sizeof junk) > 0) {
    }
    assert_int_equal(errno, EAGAIN);
}

/* ---- Waiting -------------------------------------------------------------------------------------------- */

/* Until a thread that has that job sleeps over it, however busy the machine is. */
static void until_it_waits(const wait_job *job)
{
    rad_os_thread thread;
    do {
        rad_sleep(MS);
        atomic_store(&thread.number, job->number);
    } while (!rad__os_thread_sleeps(&thread));
}

static int one_at_a_time(void *unused)
{
    ends e = pair();
    (void)unused;
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, 0), RAD_ETIMEOUT);
    rad_time before = rad_now();
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, rad_after(20 * MS)), RAD_ETIMEOUT);
    assert_true(rad_now() - before >= 20 * MS);
    assert_int_equal(rad_fd_wait(e.a, RAD_WRITABLE, soon()), RAD_WRITABLE);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE | RAD_WRITABLE, soon()), RAD_WRITABLE);
    assert_int_equal(write(e.b, "x", 1), 1);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, soon()), RAD_READABLE);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, 0), RAD_READABLE);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE | RAD_WRITABLE, soon()), RAD_READABLE | RAD_WRITABLE);
    shutdown(e.b, SHUT_WR);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, soon()), RAD_READABLE | RAD_HUNG_UP);
    close(e.b);
    assert_int_equal(rad_fd_wait(e.a, RAD_WRITABLE, soon()), RAD_WRITABLE | RAD_HUNG_UP);
    assert_int_equal(rad_fd_close(e.a), 0);
    return 0;
}

static int refused(void *unused)
{
    enum { NOBODY = 1000 }; /* no descriptor is so large */
    (void)unused;
    assert_int_equal(rad_fd_wait(NOBODY, RAD_READABLE, soon()), RAD_EINPUT);
    assert_int_equal(rad_fd_wait(NOBODY, RAD_READABLE, 0), RAD_EINPUT);
    assert_int_equal(rad_fd_wait(-1, RAD_READABLE, soon()), RAD_EINPUT);
    assert_int_equal(rad_fd_wait(0, 0, soon()), RAD_EINPUT);
    assert_int_equal(rad_fd_wait(0, 8, soon()), RAD_EINPUT);
    assert_int_equal(rad_errno(rad_fd_close(NOBODY)), EBADF);
    assert_int_equal(rad_errno(rad_fd_close(-1)), EBADF);
    assert_int_equal(rad_errno(rad_fd_prepare(NOBODY)), EBADF);
    return 0;
}

static void what_is_ready_is_told(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        run(workers, one_at_a_time, NULL);
        run(workers, refused, NULL);
    }
    one_at_a_time(NULL); /* a thread */
    refused(NULL);
}

static int files(void *unused)
{
    char name[] = "ready-XXXXXX";
    char text[8];
    int fd = mkstemp(name);
    (void)unused;
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(rad_fd_wait(fd, RAD_READABLE, soon()), RAD_READABLE);
    assert_int_equal(rad_fd_wait(fd, RAD_WRITABLE, soon()), RAD_WRITABLE);
    assert_int_equal(rad_fd_wait(fd, RAD_READABLE | RAD_WRITABLE, 0), RAD_READABLE | RAD_WRITABLE);
    assert_int_equal(rad_write(fd, "regular", 7, soon()), 7);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(rad_read(fd, text, sizeof text, soon()), 7);
    assert_int_equal(rad_read(fd, text, sizeof text, soon()), 0);
    return rad_fd_close(fd);
}

static void regular_files_are_always_ready(void **state)
{
    (void)state;
    run(2, files, NULL);
    files(NULL);
}

/* ---- Several on one descriptor -------------------------------------------------------------------------- */

static int reader_and_writer(void *unused)
{
    ends e = pair();
    wait_job reader = {.fd = e.a, .interest = RAD_READABLE, .until = soon()};
    wait_job writer = {.fd = e.a, .interest = RAD_WRITABLE, .until = soon()};
    rad_nursery n;
    (void)unused;
    fill(e.a);
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, waits, &reader), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, waits, &writer), 0);
    rad_sleep(5 * MS);
    assert_int_equal(reader.done + writer.done, 0);
    drain(e.b); /* there is room: the one who writes goes on, the other is asked for again */
    while (!writer.done) rad_sleep(MS);
    rad_sleep(5 * MS);
    assert_int_equal(reader.done, 0);
    assert_int_equal(write(e.b, "x", 1), 1);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(writer.answer, RAD_WRITABLE);
    assert_int_equal(reader.answer, RAD_READABLE);
    close_both(e);
    return 0;
}

static int all_are_told(void *unused)
{
    enum { EACH = 5 };
    ends e = pair();
    wait_job jobs[3 * EACH];
    rad_nursery n;
    (void)unused;
    fill(e.a);
    rad_nursery_open(&n, RAD_FOREVER);
    for (unsigned i = 0; i < 3 * EACH; i++) {
        jobs[i] = (wait_job){.fd = e.a, .interest = i % 3 + 1, .until = soon()};
        assert_int_equal(rad_nursery_spawn(&n, NULL, waits, &jobs[i]), 0);
    }
    rad_sleep(5 * MS);
    close(e.b);
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (unsigned i = 0; i < 3 * EACH; i++) {
        int room = (int)(jobs[i].interest & RAD_WRITABLE); /* comes after the news of the end */
        assert_int_equal(jobs[i].answer | room, jobs[i].interest | RAD_HUNG_UP);
    }
    assert_int_equal(rad_fd_close(e.a), 0);
    return 0;
}

static void several_wait_for_one_descriptor(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        run(workers, reader_and_writer, NULL);
        run(workers, all_are_told, NULL);
    }
}

/* ---- Close, cancel -------------------------------------------------------------------------------------- */

/* A number to be closed once those above it are taken: the runtime's watch opens a file now and then, and would have
 * the number that a test has just closed. */
static int free_below(void)
{
    int number = dup(STDERR_FILENO);
    assert_true(number >= 0);
    return number;
}

static int closed_meanwhile(void *unused)
{
    int lower = free_below();
    ends e = pair();
    close(lower);
    wait_job jobs[4];
    pthread_t thread;
    rad_nursery n;
    (void)unused;
    fill(e.a);
    rad_nursery_open(&n, RAD_FOREVER);
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] = (wait_job){.fd = e.a, .interest = i % 3 + 1, .until = soon()};
        if (i < 3)
            assert_int_equal(rad_nursery_spawn(&n, NULL, waits, &jobs[i]), 0);
        else
            assert_int_equal(pthread_create(&thread, NULL, waits_as_thread, &jobs[i]), 0);
    }
    while (rad__ready_waits(&rad__rt_worker()->runtime->ready) < 3) rad_sleep(MS);
    until_it_waits(&jobs[3]);
    assert_int_equal(rad_fd_close(e.a), 0);
    assert_int_equal(rad_nursery_wait(&n), 0);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(jobs[i].answer, RAD_ECLOSED);
    /* Whoever gets the number now begins anew: nothing of what was asked before counts. */
    int again = fcntl(e.b, F_DUPFD, e.a);
    assert_int_equal(again, e.a);
    assert_int_equal(rad_fd_wait(again, RAD_WRITABLE, soon()), RAD_WRITABLE | RAD_HUNG_UP);
    assert_int_equal(rad_fd_close(again), 0);
    assert_int_equal(rad_fd_close(e.b), 0);
    return 0;
}

/* A descriptor of which there is a duplicate: what was asked about it lives on in the system, under the old number. */
static int closed_and_reused(void *unused)
{
    ends e = pair(), other = pair();
    (void)unused;
    int twin = dup(e.a);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, rad_after(MS)), RAD_ETIMEOUT);
    assert_int_equal(rad_fd_close(e.a), 0);
    assert_int_equal(dup2(other.a, e.a), e.a);
    assert_int_equal(write(e.b, "x", 1), 1); /* ready, but that is the twin */
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, rad_after(20 * MS)), RAD_ETIMEOUT);
    assert_int_equal(rad_fd_wait(twin, RAD_READABLE, soon()), RAD_READABLE);
    assert_int_equal(write(other.b, "x", 1), 1);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, soon()), RAD_READABLE);
    rad_fd_close(twin);
    close_both(e);
    close_both(other);
    return 0;
}

/* Closed by the system's own call, when nobody waited: also that is noticed. */
static int closed_behind_our_back(void *unused)
{
    int lower = free_below();
    ends e = pair(), f = pair();
    close(lower);
    (void)unused;
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, rad_after(MS)), RAD_ETIMEOUT);
    close(e.a);
    int again = fcntl(f.a, F_DUPFD, e.a);
    assert_int_equal(again, e.a);
    close(f.a);
    f.a = again;
    assert_int_equal(write(f.b, "x", 1), 1);
    assert_int_equal(rad_fd_wait(f.a, RAD_READABLE, soon()), RAD_READABLE);
    close_both(f);
    rad_fd_close(e.b);
    return 0;
}

static void closing_tells_those_who_wait(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        run(workers, closed_meanwhile, NULL);
        run(workers, closed_and_reused, NULL);
        run(workers, closed_behind_our_back, NULL);
    }
}

/* Waiters and a closer that do not wait for each other. */
static int close_race(void *unused)
{
    files(unused); /* the runtime has its own descriptors from here on */
    for (int i = 0; i < CLOSES; i++) {
        int lower = free_below();
        ends e = pair();
        close(lower);
        wait_job jobs[2] = {{.fd = e.a, .interest = RAD_READABLE, .until = soon()},
                            {.fd = e.a, .interest = RAD_READABLE, .until = soon()}};
        pthread_t thread;
        rad_nursery n;
        rad_nursery_open(&n, RAD_FOREVER);
        if (i % 3 == 0) assert_int_equal(pthread_create(&thread, NULL, waits_as_thread, &jobs[1]), 0);
        assert_int_equal(rad_nursery_spawn(&n, NULL, waits, &jobs[0]), 0);
        for (int yields = i % 7; yields > 0; yields--) rad_yield();
        assert_int_equal(rad_fd_close(e.a), 0);
        assert_int_equal(rad_nursery_wait(&n), 0);
        assert_true(jobs[0].answer == RAD_ECLOSED || jobs[0].answer == RAD_EINPUT);
        if (i % 3 == 0) {
            pthread_join(thread, NULL);
            assert_true(jobs[1].answer == RAD_ECLOSED || jobs[1].answer == RAD_EINPUT);
        }
        rad_fd_close(e.b);
    }
    return 0;
}

static void nobody_waits_for_what_is_being_closed(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it takes asking about a descriptor that is being closed for a mistake of the program's */
#endif
    ends e = pair(); /* threads have their own descriptors from here on, too */
    assert_int_equal(rad_fd_wait(e.a, RAD_WRITABLE, soon()), RAD_WRITABLE);
    close_both(e);
    run(1, close_race, NULL);
    run(3, close_race, NULL);
}

static int cancelled(void *unused)
{
    ends e = pair();
    wait_job job = {.fd = e.a, .interest = RAD_READABLE, .until = RAD_FOREVER};
    rad_fiber fiber;
    (void)unused;
    assert_int_equal(rad_spawn(&fiber, waits, &job), 0);
    rad_sleep(2 * MS);
    rad_cancel(fiber);
    assert_int_equal(rad_join(fiber, NULL, soon()), 0);
    rad_release(fiber);
    assert_int_equal(job.answer, RAD_ECANCELED);
    assert_int_equal(write(e.b, "x", 1), 1); /* what was asked is answered now, for nobody */
    rad_sleep(2 * MS);
    assert_int_equal(rad_fd_wait(e.a, RAD_READABLE, soon()), RAD_READABLE);
    close_both(e);
    return 0;
}

static void a_fiber_that_waits_can_be_cancelled(void **state)
{
    (void)state;
    run(1, cancelled, NULL);
    run(2, cancelled, NULL);
}

/* ---- Threads -------------------------------------------------------------------------------------------- */

static void *echoes_as_thread(void *arg)
{
    int fd = *(int *)arg;
    char text[64];
    int64_t got;
    while ((got = rad_read(fd, text, sizeof text, soon())) > 0)
        if (rad_write(fd, text, (size_t)got, soon()) != got) return arg;
    return got == 0 ? NULL : arg;
}

static void threads_wait_as_well(void **state)
{
    enum { THREADS = 4, ROUNDS = 200 };
    pthread_t threads[THREADS];
    ends e[THREADS];
    void *wrong;
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        e[i] = pair();
        assert_int_equal(pthread_create(&threads[i], NULL, echoes_as_thread, &e[i].b), 0);
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < THREADS; i++) {
            int value = r * THREADS + i, back = -1;
            assert_int_equal(rad_write(e[i].a, &value, sizeof value, soon()), sizeof value);
            assert_int_equal(rad_read(e[i].a, &back, sizeof back, soon()), sizeof back);
            assert_int_equal(back, value);
        }
    for (int i = 0; i < THREADS; i++) {
        shutdown(e[i].a, SHUT_WR);
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
        close_both(e[i]);
    }
}

/* ---- Many ----------------------------------------------------------------------------------------------- */

static int serves(void *arg)
{
    int fd = *(int *)arg;
    char text[64];
    int64_t got;
    while ((got = rad_read(fd, text, sizeof text, soon())) > 0)
        if (rad_write(fd, text, (size_t)got, soon()) != got) return 1;
    return got == 0 ? 0 : (int)got;
}

static int asks(void *arg)
{
    int fd = *(int *)arg;
    for (int i = 0; i < EXCHANGES; i++) {
        int value = fd * EXCHANGES + i, back = -1;
        if (rad_write(fd, &value, sizeof value, soon()) != sizeof value) return 2;
        if (rad_read(fd, &back, sizeof back, soon()) != sizeof back || back != value) return 3;
    }
    shutdown(fd, SHUT_WR);
    return 0;
}

static int many_pairs(void *unused)
{
    ends *e = calloc(PAIRS, sizeof *e);
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < PAIRS; i++) {
        e[i] = pair();
        assert_int_equal(rad_nursery_spawn(&n, NULL, serves, &e[i].b), 0);
        assert_int_equal(rad_nursery_spawn(&n, NULL, asks, &e[i].a), 0);
    }
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (int i = 0; i < PAIRS; i++) close_both(e[i]);
    free(e);
    return 0;
}

static void many_fibers_on_many_descriptors(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) run(workers, many_pairs, NULL);
}

/* ---- Nothing is lost ------------------------------------------------------------------------------------ */

typedef struct player {
    int fd;
    uint32_t seed;
    bool serves;
} player;

/* To and fro, with pauses of any length in between. */
static int plays(void *arg)
{
    player *p = arg;
    uint32_t value = 0;
    for (int i = 0; i < HITS; i++) {
        if (p->serves || i > 0)
            if (rad_write(p->fd, &i, sizeof i, soon()) != sizeof i) return 1;
        p->seed = p->seed * 1664525 + 1013904223;
        uint32_t what = p->seed >> 29;
        if (what == 0) rad_yield();
        if (what == 1) rad_sleep(p->seed % 50000);
        int64_t got = rad_read(p->fd, &value, sizeof value, soon());
        if (got != sizeof value) return (int)got;
    }
    return 0;
}

static int tennis(void *unused)
{
    player players[2 * BALLS];
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < BALLS; i++) {
        ends e = pair();
        players[2 * i] = (player){e.a, i, true};
        players[2 * i + 1] = (player){e.b, ~i, true};
    }
    for (int i = 0; i < 2 * BALLS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, plays, &players[i]), 0);
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (int i = 0; i < 2 * BALLS; i++) rad_fd_close(players[i].fd);
    return 0;
}

static void *hits_back(void *arg)
{
    int fd = *(int *)arg;
    char byte;
    while (read(fd, &byte, 1) == 1)
        if (write(fd, &byte, 1) != 1) break;
    return NULL;
}

/* Against a thread: each time the only worker goes to sleep, just when the answer comes. */
static int against_a_thread(void *unused)
{
    int fds[2];
    pthread_t thread;
    char byte = 'x';
    (void)unused;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(rad_fd_prepare(fds[0]), 0);
    assert_int_equal(pthread_create(&thread, NULL, hits_back, &fds[1]), 0);
    for (int i = 0; i < RETURNS; i++) {
        assert_int_equal(rad_write(fds[0], &byte, 1, soon()), 1);
        assert_int_equal(rad_read(fds[0], &byte, 1, soon()), 1);
    }
    rad_fd_close(fds[0]);
    pthread_join(thread, NULL);
    close(fds[1]);
    return 0;
}

static void no_wakeup_is_lost(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        run(workers, tennis, NULL);
        run(workers, against_a_thread, NULL);
    }
}

/* ---- Deadlock, failures --------------------------------------------------------------------------------- */

static int waits_for_a_byte(void *arg)
{
    return rad_fd_wait(*(int *)arg, RAD_READABLE, RAD_FOREVER) == RAD_READABLE ? 7 : 1;
}

static void whoever_waits_for_a_file_is_not_in_a_deadlock(void **state)
{
    int fds[2], status = 0;
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it does not go on after a fork */
#endif
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        rad_options o = {.workers = 2};
        patience_limit_child();
        _exit(rad_main(&o, waits_for_a_byte, &fds[0], NULL));
    }
    block_ms(300);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    close(fds[0]);
    close(fds[1]);
}

static int everything_fails(void *unused)
{
    ends e = pair();
    bool succeeded = false;
    (void)unused;
    for (uint64_t n = 1; !succeeded && n < 20; n++) { /* the poll: two descriptors, one question */
        rad__os_fail_at(n);
        int code = rad_fd_wait(e.a, RAD_WRITABLE, RAD_FOREVER);
        rad__os_fail_at(0);
        succeeded = code == RAD_WRITABLE;
        assert_true(succeeded || code == RAD_EIO);
    }
    assert_true(succeeded);
    int far = fcntl(e.a, F_DUPFD, 200); /* in a part of the table that is not there yet */
    assert_true(far >= 200);
    rad__alloc_fail_at(1);
    assert_int_equal(rad_fd_wait(far, RAD_WRITABLE, RAD_FOREVER), RAD_ENOMEM);
    rad__alloc_fail_at(0);
    assert_int_equal(rad_fd_wait(far, RAD_WRITABLE, RAD_FOREVER), RAD_WRITABLE);
    rad_fd_close(far);
    close_both(e);
    return 0;
}

static void failures_are_answers(void **state)
{
    (void)state;
    run(1, everything_fails, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_ready_is_told),
        cmocka_unit_test(regular_files_are_always_ready),
        cmocka_unit_test(several_wait_for_one_descriptor),
        cmocka_unit_test(closing_tells_those_who_wait),
        cmocka_unit_test(nobody_waits_for_what_is_being_closed),
        cmocka_unit_test(a_fiber_that_waits_can_be_cancelled),
        cmocka_unit_test(threads_wait_as_well),
        cmocka_unit_test(many_fibers_on_many_descriptors),
        cmocka_unit_test(no_wakeup_is_lost),
        cmocka_unit_test(whoever_waits_for_a_file_is_not_in_a_deadlock),
        cmocka_unit_test(failures_are_answers),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
