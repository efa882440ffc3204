/* test_rt_stall.c — stall reports: a fiber that keeps its worker is named, and nothing else is.
 *
 * No test here depends on how long something takes: a fiber keeps its worker until its report was read. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt/runtime.h"

enum { MS = 1000000, CHILD_SECONDS = 60 };

#if defined(__SANITIZE_THREAD__)
enum { IN_TSAN = 1 };
#else
enum { IN_TSAN = 0 };
#endif

static int said[2], go[2]; /* pipes: the child's standard error; the end of its test */

typedef struct report {
    int status;
    char text[16384];
} report;

/* Runs body(NULL) in a child. When `until` is in its report, or at its end, the child is let go. */
static report in_child(rad_fn body, const rad_options *o, const char *until)
{
    static report r;
    memset(&r, 0, sizeof r);
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(said[1], 2);
        alarm(CHILD_SECONDS);
        _exit(rad_main(o, body, NULL, NULL));
    }
    close(said[1]);
    close(go[0]);
    size_t length = 0;
    ssize_t got;
    while (length < sizeof r.text - 1 &&
           (got = read(said[0], r.text + length, sizeof r.text - 1 - length)) > 0) {
        length += (size_t)got;
        if (until != NULL && strstr(r.text, until) != NULL && go[1] >= 0) {
            close(go[1]);
            go[1] = -1;
        }
    }
    close(said[0]);
    if (go[1] >= 0) close(go[1]);
    assert_int_equal(waitpid(child, &r.status, 0), child);
    return r;
}

static void ended_with(const report *r, int code)
{
    if (!WIFEXITED(r->status) || WEXITSTATUS(r->status) != code)
        fail_msg("status %x: %s", (unsigned)r->status, r->text);
}

static void block_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * MS}, rest;
    while (nanosleep(&t, &rest) != 0) t = rest;
}

/* ---- A fiber that keeps its worker ---------------------------------------------------------------------- */

static int blocks_until_reported(void *arg)
{
    char end;
    (void)arg;
    rad_name("a hog");
    close(go[1]);
    while (read(go[0], &end, 1) < 0) continue;
    block_ms(200); /* another report would come in this time */
    return 5;
}

static int computes_until_reported(void *arg)
{
    int ready = 0;
    (void)arg;
    rad_name("a hog");
    close(go[1]);
    fcntl(go[0], F_SETFL, O_NONBLOCK);
    char end;
    while (ready != 1) {
        for (volatile int i = 0; i < 100000; i++) continue;
        ready = read(go[0], &end, 1) == 0;
    }
    return 6;
}

/* Again and again: a report may come before the thread is in the call. */
static int blocks_often(void *arg)
{
    struct pollfd end = {.fd = go[0]};
    (void)arg;
    close(go[1]);
    while (poll(&end, 1, 200) == 0) rad_sleep(1);
    return 7;
}

static int sleeps(void *arg)
{
    (void)arg;
    return rad_sleep((uint64_t)300 * MS);
}

static uint32_t times(const char *text, const char *word)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

static void who_keeps_a_worker_is_named(void **state)
{
    (void)state;
    if (IN_TSAN) skip(); /* forks */
    rad_options o = {.workers = 1, .stall_ms = 50};
    report r = in_child(blocks_until_reported, &o, "'a hog'");
    ended_with(&r, 5);
    assert_int_equal(times(r.text, "raddle: worker 0 "), 1);
    assert_int_equal(times(r.text, "'a hog'"), 1);
    r = in_child(blocks_often, &o, "which is in a system call");
    ended_with(&r, 7);
    r = in_child(computes_until_reported, &o, "'a hog'");
    ended_with(&r, 6);
    assert_int_equal(times(r.text, "'a hog'"), 1);
    o.stall_ms = 0;
    r = in_child(sleeps, &o, NULL);
    ended_with(&r, 0);
    assert_string_equal(r.text, "");
}

/* ---- A worker that no fiber keeps ----------------------------------------------------------------------- */

static pid_t worker_thread;
static _Atomic int frozen;
static int reported; /* bytes, while it was frozen */

static int own[2]; /* a pipe in the child: nobody reads what it says */

static int bytes_said(void)
{
    int bytes = -1;
    ioctl(own[0], FIONREAD, &bytes);
    return bytes;
}

/* Stops a worker that is awake and runs no fiber: a report that comes meanwhile is not true. */
static void freeze(int number)
{
    rad_core *core = rad__core();
    (void)number;
    if (atomic_load(&frozen) || core == NULL || core->running != NULL) return;
    const rad_idle *idle = &core->worker->sched->idle;
    if (atomic_load(&idle->bits[0]) & 1) return; /* it sleeps, and says so */
    int before = bytes_said();
    block_ms(300);
    reported = bytes_said() - before;
    atomic_store(&frozen, 1);
}

static int naps(void *arg)
{
    (void)arg;
    worker_thread = gettid();
    while (!atomic_load(&frozen)) rad_sleep(100000);
    return reported == 0 ? 0 : 9;
}

static void *disturbs(void *arg)
{
    while (!atomic_load(&frozen)) {
        if (worker_thread != 0) tgkill(getpid(), worker_thread, SIGPROF);
        usleep(50);
    }
    return arg;
}

static int freezes(void *arg)
{
    pthread_t thread;
    if (pipe(own) != 0 || dup2(own[1], 2) < 0) return 7;
    signal(SIGPROF, freeze);
    if (pthread_create(&thread, NULL, disturbs, NULL) != 0) return 8;
    int code = naps(arg);
    pthread_join(thread, NULL);
    return code;
}

static void a_worker_between_fibers_is_not_kept_by_one(void **state)
{
    (void)state;
    if (IN_TSAN) skip(); /* forks */
    rad_options o = {.workers = 1, .stall_ms = 50};
    report r = in_child(freezes, &o, NULL);
    ended_with(&r, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_keeps_a_worker_is_named),
        cmocka_unit_test(a_worker_between_fibers_is_not_kept_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
