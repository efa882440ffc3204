/* test_stall.c — stall reports: a fiber that keeps its worker is named, and nothing else is.
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
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt/runtime.h"

#include "patience_support.h"
#include "storm_support.h"

enum { MS = 1000000 };

#if defined(__SANITIZE_THREAD__)
enum { IN_TSAN = 1, CAN_PEEK = 0 }; /* it runs signal handlers later */
#elif (defined(__x86_64__) || defined(__aarch64__)) && !defined(RAD_CONTEXT_UCONTEXT)
enum { IN_TSAN = 0, CAN_PEEK = 1 };
#else
enum { IN_TSAN = 0, CAN_PEEK = 0 };
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
        patience_limit_child();
        _exit(rad_main(o, body, NULL, NULL));
    }
    close(said[1]);
    close(go[0]);
    size_t length = 0;
    ssize_t got;
    while (length < sizeof r.text - 1 && (got = read(said[0], r.text + length, sizeof r.text - 1 - length)) > 0) {
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

/* On a busy machine it may be reported before it has given itself the name. */
static report hog_reported(rad_fn hog, const rad_options *o)
{
    report r = {0};
    for (int i = 0; i < 20 && strstr(r.text, "'a hog'") == NULL; i++) r = in_child(hog, o, "raddle: worker 0 ");
    return r;
}

static void who_keeps_a_worker_is_named(void **state)
{
    (void)state;
    if (IN_TSAN) skip(); /* forks */
    rad_options o = {.workers = 1, .stall_ms = 50};
    report r = hog_reported(blocks_until_reported, &o);
    ended_with(&r, 5);
    assert_int_equal(times(r.text, "raddle: worker 0 "), 1);
    assert_int_equal(times(r.text, "'a hog'"), 1);
    r = in_child(blocks_often, &o, "which is in a system call");
    ended_with(&r, 7);
    r = hog_reported(computes_until_reported, &o);
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
    rad_rt_worker *rt_worker = rad__rt_worker();
    (void)number;
    if (atomic_load(&frozen) || rt_worker == NULL || rt_worker->worker->phase <= RAD_PHASE_RUN) return;
    const rad_idle *idle = &rt_worker->worker->sched->idle;
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

/* ---- Where it runs --------------------------------------------------------------------------------------- */

#pragma GCC visibility push(default)
int spins_outside(void);
#pragma GCC visibility pop

static volatile uint32_t work;

static bool is_over(void)
{
    struct pollfd end = {.fd = go[0]};
    return poll(&end, 1, 0) != 0;
}

__attribute__((noinline)) static int spins_inside(void)
{
    rad_time end = rad_after(200 * MS);
    while (rad_now() < end)
        for (uint32_t i = 0; i < 10000; i++) work += i;
    return (int)(work & 1);
}

__attribute__((noinline)) int spins_outside(void)
{
    volatile int more = spins_inside();
    return more;
}

/* Again and again: a thread that does not get a CPU in time shows nothing. */
static int spins(void *arg)
{
    (void)arg;
    rad_name("spinner");
    close(go[1]);
    while (!is_over()) {
        spins_outside();
        rad_sleep(1);
    }
    return 4;
}

static void where_it_computes_is_shown(void **state)
{
    (void)state;
    if (!CAN_PEEK) skip();
    rad_options o = {.workers = 1, .stall_ms = 50, .stack_size = RAD_STACK_SIZE_MIN};
    report r = in_child(spins, &o, " spins_outside ");
    ended_with(&r, 4);
    const char *inside = strstr(r.text, " spins_inside ");
    assert_non_null(inside); /* static */
    assert_non_null(strstr(inside, " spins_outside "));
    o.backtrace_signal = SIGUSR2;
    r = in_child(spins, &o, " spins_outside ");
    ended_with(&r, 4);
}

/* ---- Whose the signal is -------------------------------------------------------------------------------- */

static _Atomic int caught;

static void catches(int number)
{
    (void)number;
    atomic_fetch_add(&caught, 1);
}

static bool has_handler(void (*handler)(int))
{
    struct sigaction now;
    return sigaction(SIGURG, NULL, &now) == 0 && now.sa_handler == handler;
}

static int spins_with_a_handler(void *arg)
{
    signal(SIGURG, catches); /* after the runtime began */
    int code = spins(arg);
    return code == 4 && has_handler(catches) && atomic_load(&caught) == 0 ? 4 : 1;
}

static int nothing(void *arg)
{
    return has_handler(SIG_DFL) == (arg != NULL) ? 0 : 1;
}

static void a_handler_of_the_program_stays(void **state)
{
    static const char why[] = "no backtrace: the program handles the signal for it";
    (void)state;
    if (!CAN_PEEK) skip();
    rad_options o = {.workers = 1, .stall_ms = 50};
    report r = in_child(spins_with_a_handler, &o, why);
    ended_with(&r, 4);
    signal(SIGURG, catches); /* before it */
    r = in_child(spins, &o, why);
    ended_with(&r, 4);
    assert_true(has_handler(catches));
    raise(SIGURG);
    assert_int_equal(atomic_load(&caught), 1);
    signal(SIGURG, SIG_DFL);
}

static void the_signal_is_given_back(void **state)
{
    rad_options o = {.workers = 1};
    rad_error error;
    (void)state;
    if (CAN_PEEK) assert_int_equal(rad_main(&o, nothing, NULL, NULL), 0);
    assert_true(has_handler(SIG_DFL));
    o.backtrace_signal = RAD_SIGNAL_NONE;
    assert_int_equal(rad_main(&o, nothing, &o, NULL), 0);
    o.backtrace_signal = SIGKILL;
    assert_int_equal(rad_main(&o, nothing, NULL, &error), RAD_EINPUT);
    o.backtrace_signal = SIGSEGV;
    assert_int_equal(rad_main(&o, nothing, NULL, &error), RAD_EINPUT);
    o.backtrace_signal = 1000;
    assert_int_equal(rad_main(&o, nothing, NULL, &error), RAD_EINPUT);
}

/* ---- Anywhere ------------------------------------------------------------------------------------------- */

static _Atomic bool runs, stops;

static int allocates(void *arg)
{
    uint32_t size = 1;
    (void)arg;
    atomic_store(&runs, true);
    while (!atomic_load(&stops)) {
        void *some[8];
        for (int i = 0; i < 8; i++) some[i] = malloc(size = size * 5 % 40009 + 1);
        for (int i = 0; i < 8; i++) free(some[i]);
    }
    return 0;
}

static bool where_it_is(void *context, uintptr_t pointer, uintptr_t *low, uintptr_t *high)
{
    const rad_strand *s = rad__running();
    (void)context;
    if (s == NULL || s->fiber_stack == NULL) return false;
    *low = (uintptr_t)s->fiber_stack->base;
    *high = *low + s->fiber_stack->size;
    return pointer >= *low && pointer < *high;
}

/* A host that is busy takes fewer: then what there was in some seconds has to be enough. */
static void it_may_be_inside_malloc(void **state)
{
    enum { LEAST = 20 };
    const uint32_t most = (uint32_t)storm_size(2500, 10000);
    rad_options o = {.workers = 1, .stack_size = RAD_STACK_SIZE_MIN * 2};
    rad_runtime *rt;
    uint32_t looks = 0, seen = 0, frames = 0;
    (void)state;
    if (!CAN_PEEK) skip();
    atomic_store(&stops, false);
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, allocates, NULL), 0);
    while (!atomic_load(&runs)) usleep(1000);
    rad_time end = rad_after((uint64_t)5000 * MS);
    while (looks < most && (seen < LEAST || rad_now() < end)) {
        rad_backtrace b;
        looks++;
        void *mine = malloc(looks % 1000 + 1); /* beside the worker */
        if (rad__os_peek(&rt->exec->shells[0].thread, where_it_is, NULL, &b) == RAD_PEEK_TOLD) {
            assert_in_range(b.count, 1, RAD_BACKTRACE_MOST);
            frames += b.count;
            seen++;
        }
        free(mine);
    }
    atomic_store(&stops, true);
    rad_runtime_destroy(rt);
    print_message("# %u looks, %u backtraces, %u frames\n", looks, seen, frames);
    assert_true(seen >= LEAST && frames >= 3 * seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_keeps_a_worker_is_named), cmocka_unit_test(a_worker_between_fibers_is_not_kept_by_one),
        cmocka_unit_test(where_it_computes_is_shown),  cmocka_unit_test(a_handler_of_the_program_stays),
        cmocka_unit_test(the_signal_is_given_back),    cmocka_unit_test(it_may_be_inside_malloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
