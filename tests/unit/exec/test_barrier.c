/* test_barrier.c — a push to a worker's own queue and a worker that goes to sleep, production's own functions on
 * two threads: at least one of the two sees the other (exec/idle.h, Light; os/barrier.h). And the executor where the
 * system refuses the barrier. Each round of the first two tests is one try; RADDLE_STRESS=100 makes ten million of
 * them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/thread/thread.h"
#include "os/barrier.h"
#include "os/fault.h"
#include "patience_support.h"
#include "storm_support.h"

enum { ROUNDS = 100000, ALONE_SLOWER = 20, SPINS = 20000, DELAY_MOST = 500, LINES = 8 };

/* ---- Two threads, round by round ------------------------------------------------------------------------------ */

static rad_exec executor; /* without threads of its own */
static rad_shell shells[3];
static rad_sched *const sched = &executor.sched;
static rad_task child;
static struct {
    _Alignas(64) _Atomic uint64_t round; /* that the pusher may begin */
    _Alignas(64) _Atomic uint64_t ended; /* the last one that it has finished */
    rad_os_thread thread;
} pusher;
/* What the task writes before it spawns. The other CPU has these lines, so the writes take long, and the push waits
 * behind them while the loads that follow it do not: a task that fills in what it spawns is no different. */
static struct {
    _Alignas(64) _Atomic uint64_t word;
} lines[LINES];
static cpu_set_t cpus; /* of the test before it was pinned */

static void write_lines(uint64_t value)
{
    for (uint32_t i = 0; i < LINES; i++) atomic_store_explicit(&lines[i].word, value, memory_order_relaxed);
}

static uint64_t rounds(void)
{
    uint64_t count = storm_amount(storm_size(ROUNDS / 3, ROUNDS));
    if (rad__os_cpu_count() > 1) return count;
    print_message("# one CPU: %d times fewer rounds\n", ALONE_SLOWER);
    return count / ALONE_SLOWER + 1;
}

static void await(const _Atomic uint64_t *word, uint64_t value)
{
    for (uint32_t n = 0; atomic_load_explicit(word, memory_order_acquire) != value; n++) {
        rad__os_pause();
        if (n % SPINS == SPINS - 1) sched_yield();
    }
}

static void push_main(void *context)
{
    rad_prng prng = storm_prng(1);
    uint64_t most = *(const uint64_t *)context;
    for (uint64_t i = 1; i <= most; i++) {
        await(&pusher.round, i);
        storm_spin(&prng, DELAY_MOST / 25);
        write_lines(i);
        rad__shell_spawn(&shells[0].worker, &child);
        atomic_store_explicit(&pusher.ended, i, memory_order_release);
    }
}

/* Each thread has a CPU of its own: on a busy system they would often share one, and take turns. */
static void start(uint64_t *most)
{
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(rad__os_cpu_at(0), &mine);
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    atomic_store(&pusher.round, 0);
    atomic_store(&pusher.ended, 0);
    uint32_t other = rad__os_cpu_at(1);
    assert_int_equal(rad__os_thread_create(&pusher.thread, push_main, most, 65536, other, NULL), 0);
    assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
}

/* Worker 0 runs a task, worker 1 searches, worker 2 sleeps or works. */
static void prepare(enum rad_phase_kind phase, bool sleeps)
{
    write_lines(0);
    rad__deque_reset(&shells[0].worker.local);
    atomic_store(&sched->idle.searching, 1);
    atomic_store(&sched->idle.bits[0], sleeps ? 4 : 0);
    for (uint32_t i = 1; i < 3; i++) atomic_store(&sched->idle.seats[i].wake_word, 0);
    shells[0].worker.credit = RAD_CREDIT_STEP;
    shells[0].worker.hoard = 0;
    shells[1].worker.credit = 0;
    shells[1].worker.searching = true;
    shells[1].worker.phase = (uint8_t)phase;
}

static void open_shells(void)
{
    rad_sched_config config = {.workers = 3, .steal_tries = 1, .hoard = 32, .rounds = 1, .ring = 4};
    assert_true(rad__sched_open(sched, &config));
    rad__idle_lighten(&sched->idle, rad__os_barrier_register());
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(rad__worker_open(&shells[i].worker, sched, i));
        shells[i].exec = &executor;
    }
}

static void close_shells(void)
{
    for (uint32_t i = 0; i < 3; i++) rad__worker_close(&shells[i].worker);
    rad__sched_close(sched);
}

/* Somebody will look at the queue of worker 0. */
static bool is_seen(void)
{
    return shells[1].worker.phase == RAD_PHASE_NOTIFY || rad__idle_has_wake_word(&sched->idle, 1) ||
           rad__idle_has_wake_word(&sched->idle, 2);
}

/* One or two steps of worker 1 beside a push. Returns how often neither saw the other. */
static uint64_t count_lost(enum rad_phase_kind phase, bool sleeps)
{
    rad_prng prng = storm_prng(2);
    uint64_t lost = 0, most = rounds();
    open_shells();
    start(&most);
    for (uint64_t i = 1; i <= most; i++) {
        prepare(phase, sleeps);
        atomic_store(&pusher.round, i);
        storm_spin(&prng, DELAY_MOST);
        rad__shell_step_idle(&shells[1]);
        if (shells[1].worker.phase != RAD_PHASE_RUN) rad__shell_step_idle(&shells[1]);
        await(&pusher.ended, i);
        lost += !is_seen();
    }
    rad__os_thread_join(&pusher.thread);
    sched_setaffinity(0, sizeof cpus, &cpus);
    close_shells();
    print_message("# %llu rounds, %llu lost\n", (unsigned long long)most, (unsigned long long)lost);
    return lost;
}

/* W1, W3 against K1, K2, B, K3. */
static void a_push_is_seen_by_who_goes_to_sleep(void **state)
{
    (void)state;
    assert_int_equal(count_lost(RAD_PHASE_ANNOUNCE, false), 0);
}

/* W1, W2 against R1, R2: the push trusts a searcher that has just found something else. */
static void a_push_is_seen_by_who_stops_searching(void **state)
{
    (void)state;
    assert_int_equal(count_lost(RAD_PHASE_FOUND, true), 0);
}

/* ---- Where the system refuses ---------------------------------------------------------------------------------- */

enum { CHILDREN = 200 };
enum { REFUSED_AT_ONCE, REFUSED_LATER, WAYS };

typedef struct one {
    rad_task task;
    _Atomic bool ran;
} one;

static one ones[CHILDREN];

static enum rad_run one_run(rad_task *task, rad_worker *w)
{
    (void)w;
    atomic_store(&((one *)task)->ran, true);
    return RAD_RUN_DONE;
}

/* Each child is run by the other worker, which sleeps before most of them: this one does not return meanwhile. */
static enum rad_run spawns_and_stays(rad_task *task, rad_worker *w)
{
    (void)task;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        ones[i].task.run = one_run;
        rad_worker_spawn(w, &ones[i].task);
        while (!atomic_load(&ones[i].ran)) sched_yield();
        if (i % 2) storm_block_ms(1);
    }
    return RAD_RUN_DONE;
}

/* membarrier answers EPERM from now on, in all threads. False: the system has no filters. */
static bool refuse(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

static int refused_main(int way)
{
    rad_exec_options o = {.workers = 2, .spin_us = 1};
    rad_task root = {.run = spawns_and_stays};
    rad_exec *exec;
    if (way == REFUSED_AT_ONCE && !refuse()) return 77;
    if (rad_exec_create(&exec, &o, NULL) != 0) return 1;
    if (exec->sched.idle.light != (way == REFUSED_LATER)) return 2;
    if (way == REFUSED_LATER && !refuse()) return 77;
    if (!rad_exec_spawn(exec, &root)) return 3;
    rad_exec_join(exec);
    bool light = exec->sched.idle.light;
    rad_exec_destroy(exec);
    return light ? 4 : 0;
}

static void a_refused_barrier_costs_nothing_but_time(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it does not follow a fork */
#endif
    for (int way = 0; way < WAYS; way++) {
        int status;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            patience_limit_child();
            _exit(refused_main(way));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77) skip();
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* Without the barrier every push publishes and asks in earnest. */
static void nothing_is_light_without_the_barrier(void **state)
{
    (void)state;
    open_shells();
    assert_true(rad__idle_could_wake(&sched->idle) == !rad__os_barrier_register());
    rad__shell_barrier(&shells[0].worker);
    assert_true(rad__idle_could_wake(&sched->idle) == !rad__os_barrier_register());
    rad__os_fail_at(1);
    assert_false(rad__os_barrier_register());
    rad__shell_barrier(&shells[0].worker);
    rad__os_fail_at(0);
    assert_true(rad__idle_could_wake(&sched->idle));
    close_shells();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_is_seen_by_who_goes_to_sleep),
        cmocka_unit_test(a_push_is_seen_by_who_stops_searching),
        cmocka_unit_test(a_refused_barrier_costs_nothing_but_time),
        cmocka_unit_test(nothing_is_light_without_the_barrier),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
