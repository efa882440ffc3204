/* test_rules.c — rules of fibers, waiting and channels, one test each, named after it; those of the scheduler are in
 * test_rules_sched.c. docs/dev/fibers-rules.md lists all rules, also those that other tests show. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/runtime.h"
#include "storm_support.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

static rad_runtime *this_runtime(void)
{
    return rad_self().slot->strand.runtime;
}

static rad_fiber spawned(rad_fn fn, void *arg)
{
    rad_fiber f;
    CHECK(rad_spawn(&f, fn, arg) == 0);
    return f;
}

static int joined(rad_fiber f)
{
    rad_fiber_result given;
    CHECK(rad_join(f, &given, RAD_FOREVER) == 0);
    rad_release(f);
    return given.code;
}

/* What it waits for has not come. */
static bool is_parked(rad_fiber f)
{
    return rad__state_of(rad__state_look(&f.slot->strand.state_word)) == RAD_FIBER_PARKED;
}

static void until_parked(rad_fiber f)
{
    while (!is_parked(f)) rad_yield();
}

/* ---- Fibers and their stacks --------------------------------------------------------------------------------- */

static int returns_at_once(void *arg)
{
    (void)arg;
    return 0;
}

static uint32_t slots_made(void)
{
    rad_runtime *rt = this_runtime();
    uint32_t count = 0;
    rad__lock(&rt->room.lock);
    for (rad_slot *slot = rt->made; slot != NULL; slot = slot->made_before) count++;
    rad__unlock(&rt->room.lock);
    return count;
}

static int uses_few_slots(void *arg)
{
    (void)arg;
    CHECK(joined(spawned(returns_at_once, NULL)) == 0);
    uint32_t before = slots_made();
    for (int i = 0; i < 1000; i++) CHECK(joined(spawned(returns_at_once, NULL)) == 0);
    CHECK(slots_made() == before);
    return 0;
}

static void rule_fibers_are_reused(void **state)
{
    (void)state;
    storm_run(1, uses_few_slots, NULL);
}

typedef struct crowd {
    rad_chan *gate;
    uint32_t there;
} crowd;

typedef struct named {
    const char *name;
    rad_chan *gate;
} named;

static int has_a_name(void *arg)
{
    named *n = arg;
    if (n->name != NULL) rad_name(n->name);
    return rad_recv(n->gate, NULL, RAD_FOREVER);
}

static int names_fibers(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++) { /* each in the place of the one before */
        named n = {i % 2 == 0 ? "even" : NULL, chan_of(0, 0)};
        rad_fiber f = spawned(has_a_name, &n);
        until_parked(f);
        CHECK(rad_name_of(f) == n.name);
        CHECK(rad_send(n.gate, NULL, 0) == 0 && joined(f) == 0);
        CHECK(rad_name_of(f) == NULL);
        rad_chan_destroy(n.gate);
    }
    return 0;
}

static void rule_a_name_ends_with_its_fiber(void **state)
{
    (void)state;
    storm_run(1, names_fibers, NULL);
}

static int waits_at_gate(void *gate)
{
    return rad_recv(gate, NULL, RAD_FOREVER) == RAD_ECLOSED ? 0 : 1;
}

static int arrives_and_waits(void *arg)
{
    crowd *c = arg;
    c->there++;
    return waits_at_gate(c->gate);
}

static int has_large_stacks(void *arg)
{
    crowd c = {.gate = chan_of(0, 0)};
    rad_nursery n;
    (void)arg;
    uint64_t before = storm_status_kib("VmRSS");
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 100; i++) CHECK(rad_nursery_spawn(&n, NULL, arrives_and_waits, &c) == 0);
    while (c.there < 100) rad_yield();
    CHECK(storm_status_kib("VmRSS") < before + (64 << 10)); /* in all they are 400 MiB */
    rad_chan_close(c.gate, 0);
    CHECK(rad_nursery_wait(&n) == 0);
    rad_chan_destroy(c.gate);
    return 0;
}

static void rule_stacks_are_paid_for_as_they_are_used(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .stack_size = 4 << 20};
    if (STORM_SLOWER > 1) skip(); /* sanitizers have memory of their own for everything */
    assert_int_equal(rad_main(&o, has_large_stacks, NULL, NULL), 0);
}

static __attribute__((noinline)) int goes_deep(void *arg)
{
    volatile unsigned char many[600 << 10];
    (void)arg;
    for (size_t i = sizeof many; i-- > 0;) many[i] = 1;
    return many[7] - 1;
}

static void rule_the_stack_size_is_an_option(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .stack_size = 1 << 20};
    assert_int_equal(rad_main(&o, goes_deep, NULL, NULL), 0);
}

static __attribute__((noinline)) int calls_itself(int depth)
{
    volatile char some[256];
    some[0] = (char)depth;
    return depth == 0 ? 0 : calls_itself(depth - 1) + some[0];
}

static int goes_too_deep(void *arg)
{
    (void)arg;
    rad_name("the deep one");
    return calls_itself(10000);
}

static void rule_an_overflow_names_the_fiber(void **state)
{
    (void)state;
    int ends[2], status;
    char text[1024] = "";
    if (STORM_SLOWER > 1) skip(); /* sanitizers say it in their own way */
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], 2);
        signal(SIGSEGV, SIG_DFL);
        rad_options o = {.workers = 1, .stack_size = 64 << 10};
        _exit(rad_main(&o, goes_too_deep, NULL, NULL));
    }
    close(ends[1]);
    ssize_t got;
    for (size_t at = 0; (got = read(ends[0], text + at, sizeof text - 1 - at)) > 0;) at += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_non_null(strstr(text, "'the deep one': stack overflow"));
}

/* ---- Waiting ------------------------------------------------------------------------------------------------- */

static int receives_one(void *chan)
{
    int value = 0;
    int code = rad_recv(chan, &value, RAD_FOREVER);
    return code == 0 ? value : code;
}

static int selects_one(void *chan)
{
    int value = 0;
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = chan, .value = &value}, {.kind = RAD_ON_CANCEL}};
    return rad_select(cases, 2, RAD_FOREVER) == 0 ? value : -1;
}

static int prods_who_waits(void *arg)
{
    rad_fn ways[] = {receives_one, selects_one};
    (void)arg;
    for (int way = 0; way < 2; way++) {
        rad_chan *c = chan_of(sizeof(int), 0);
        rad_fiber f = spawned(ways[way], c);
        int value = 21;
        for (int i = 0; i < 100; i++) {
            until_parked(f);
            rad__strand_unpark(rad__rt_worker(), &f.slot->strand, f.generation);
            rad_yield();
        }
        CHECK(rad_join(f, NULL, 0) == RAD_ETIMEOUT);
        CHECK(rad_send(c, &value, RAD_FOREVER) == 0);
        CHECK(joined(f) == 21);
        rad_chan_destroy(c);
    }
    return 0;
}

static void rule_a_wake_for_nothing_ends_no_wait(void **state)
{
    (void)state;
    storm_run(1, prods_who_waits, NULL);
}

typedef struct conditioned {
    rad_mutex mutex;
    rad_cond cond;
} conditioned;

static int waits_for_a_signal(void *arg)
{
    conditioned *c = arg;
    CHECK(rad_mutex_lock_until(&c->mutex, RAD_FOREVER) == 0);
    int code = rad_cond_wait(&c->cond, &c->mutex, RAD_FOREVER);
    rad_mutex_unlock(&c->mutex);
    return code;
}

static int wakes_for_every_reason(void *arg)
{
    int value = 5;
    (void)arg;
    rad_chan *c = chan_of(sizeof(int), 0);
    rad_fiber f = spawned(receives_one, c);
    until_parked(f);
    CHECK(rad_send(c, &value, RAD_FOREVER) == 0);
    CHECK(joined(f) == 5); /* data */
    f = spawned(receives_one, c);
    until_parked(f);
    rad_cancel(f);
    CHECK(joined(f) == RAD_ECANCELED);
    f = spawned(receives_one, c);
    until_parked(f);
    rad_chan_close(c, 33);
    CHECK(joined(f) == RAD_ECLOSED && rad_chan_code(c) == 33);
    rad_chan_destroy(c);
    conditioned d = {RAD_MUTEX_INIT, RAD_COND_INIT};
    f = spawned(waits_for_a_signal, &d);
    until_parked(f);
    rad_cond_signal(&d.cond);
    CHECK(joined(f) == 0); /* signal */
    return 0;
}

static void rule_wake_reasons_are_told(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) storm_run(workers, wakes_for_every_reason, NULL);
}

/* ---- Every call that waits: deadlines and cancellation ------------------------------------------------------- */

/* Objects for which nobody ever does what is waited for. */
static struct {
    rad_chan *empty, *full, *tasks;
    rad_mutex mutex, free_mutex;
    rad_rwlock rwlock;
    rad_cond cond;
    rad_semaphore semaphore;
    rad_waitgroup group;
    rad_once once;
    rad_barrier barrier;
    rad_pool *pool;
    rad_fiber other;
    int pipe[2];
} never;

static int waits_recv(rad_time until)
{
    int value;
    return rad_recv(never.empty, &value, until);
}

static int waits_send(rad_time until)
{
    int value = 1;
    return rad_send(never.full, &value, until);
}

static int waits_recv_many(rad_time until)
{
    int values[3];
    return rad_recv_many(never.empty, values, 3, until);
}

static int waits_send_many(rad_time until)
{
    int values[3] = {0};
    return rad_send_many(never.full, values, 3, until);
}

static int waits_recv_join(rad_time until)
{
    return rad_chan_recv_join(never.tasks, NULL, until);
}

static int waits_select(rad_time until)
{
    int value;
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = never.empty, .value = &value},
                               {.kind = RAD_ON_JOIN, .on.fiber = never.other},
                               {.kind = RAD_ON_FD, .on.file = {never.pipe[0], RAD_READABLE}}};
    return rad_select(cases, 3, until);
}

static int waits_join(rad_time until)
{
    return rad_join(never.other, NULL, until);
}

static int waits_mutex(rad_time until)
{
    return rad_mutex_lock_until(&never.mutex, until);
}

static int waits_read(rad_time until)
{
    return rad_rwlock_read_until(&never.rwlock, until);
}

static int waits_write(rad_time until)
{
    return rad_rwlock_write_until(&never.rwlock, until);
}

static int waits_cond(rad_time until)
{
    CHECK(rad_mutex_lock_until(&never.free_mutex, 0) == 0);
    int code = rad_cond_wait(&never.cond, &never.free_mutex, until);
    rad_mutex_unlock(&never.free_mutex);
    return code;
}

static int waits_semaphore(rad_time until)
{
    return rad_semaphore_acquire(&never.semaphore, 1, until);
}

static int waits_group(rad_time until)
{
    return rad_waitgroup_wait(&never.group, until);
}

static int waits_once(rad_time until)
{
    return rad_once_run(&never.once, returns_at_once, NULL, until);
}

static int waits_barrier(rad_time until)
{
    return rad_barrier_wait(&never.barrier, until);
}

static int waits_pool(rad_time until)
{
    void *item;
    return rad_pool_take(never.pool, &item, until);
}

static int waits_file(rad_time until)
{
    return rad_fd_wait(never.pipe[0], RAD_READABLE, until);
}

static int waits_read_file(rad_time until)
{
    char byte;
    return (int)rad_read(never.pipe[0], &byte, 1, until);
}

static int waits_ticker(rad_time until)
{
    rad_ticker t;
    rad_ticker_start(&t, (uint64_t)3600 * 1000 * MS);
    return rad_ticker_wait(&t, NULL, until);
}

typedef int (*waiting_call)(rad_time until);

static const waiting_call calls[] = {
    waits_recv,    waits_send,      waits_recv_many, waits_send_many, waits_recv_join, waits_select,    waits_join,
    waits_mutex,   waits_read,      waits_write,     waits_cond,      waits_group,     waits_semaphore, waits_once,
    waits_barrier, waits_read_file, waits_pool,      waits_file,      waits_ticker,
};

static int calls_for_ever(void *arg)
{
    return calls[*(uint32_t *)arg](RAD_FOREVER);
}

static void tries_all_calls(void)
{
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        CHECK(calls[i](0) == RAD_ETIMEOUT); /* a try */
        rad_time until = rad_after(MS / 2);
        CHECK(calls[i](until) == RAD_ETIMEOUT && rad_now() >= until);
        rad_fiber f = spawned(calls_for_ever, &i);
        until_parked(f);
        rad_cancel(f);
        CHECK(joined(f) == RAD_ECANCELED);
    }
}

static int holds_all(void *gate)
{
    CHECK(rad_mutex_lock_until(&never.mutex, 0) == 0 && rad_rwlock_write_until(&never.rwlock, 0) == 0);
    int code = waits_at_gate(gate);
    rad_mutex_unlock(&never.mutex);
    rad_rwlock_unlock(&never.rwlock);
    return code;
}

static int holds_once(void *gate)
{
    return rad_once_run(&never.once, waits_at_gate, gate, RAD_FOREVER);
}

static int waits_in_every_way(void *arg)
{
    int value = 0;
    void *item;
    (void)arg;
    memset(&never, 0, sizeof never);
    never.empty = chan_of(sizeof(int), 2);
    never.full = chan_of(sizeof(int), 1);
    never.tasks = chan_of(sizeof(rad_fiber), 1);
    CHECK(rad_send(never.full, &value, 0) == 0);
    rad_waitgroup_add(&never.group, 1);
    rad_barrier_init(&never.barrier, 2);
    CHECK(rad_pool_create(&never.pool, 8, 1, NULL) == 0);
    CHECK(rad_pool_take(never.pool, &item, 0) == 0);
    CHECK(pipe(never.pipe) == 0 && rad_fd_prepare(never.pipe[0]) == 0);
    rad_chan *gate = chan_of(0, 0);
    never.other = spawned(holds_all, gate);
    rad_fiber once = spawned(holds_once, gate);
    until_parked(never.other);
    until_parked(once);
    tries_all_calls();
    rad_chan_close(gate, 0);
    CHECK(joined(never.other) == 0 && joined(once) == 0);
    rad_pool_give(never.pool, item);
    rad_pool_destroy(never.pool);
    CHECK(rad_fd_close(never.pipe[0]) == 0 && rad_fd_close(never.pipe[1]) == 0);
    rad_chan *all[] = {never.empty, never.full, never.tasks, gate};
    for (int i = 0; i < 4; i++) rad_chan_destroy(all[i]);
    return 0;
}

static void rule_every_call_that_waits_has_a_deadline_and_can_be_cancelled(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) storm_run(workers, waits_in_every_way, NULL);
}

/* ---- Channels ------------------------------------------------------------------------------------------------ */

static int sends_three(void *chan)
{
    for (int i = 1; i <= 3; i++) CHECK(rad_send(chan, &i, RAD_FOREVER) == 0);
    return 0;
}

static int receives_three(void *chan)
{
    int value;
    for (int i = 1; i <= 3; i++) CHECK(rad_recv(chan, &value, RAD_FOREVER) == 0 && value == i);
    return 0;
}

static int waits_with_one_worker(void *arg)
{
    (void)arg;
    for (uint32_t capacity = 0; capacity <= 1; capacity++) { /* no room for all three */
        rad_chan *c = chan_of(sizeof(int), capacity);
        rad_fiber f = spawned(sends_three, c);
        CHECK(receives_three(c) == 0 && joined(f) == 0);
        f = spawned(receives_three, c);
        CHECK(sends_three(c) == 0 && joined(f) == 0);
        rad_chan_destroy(c);
    }
    return 0;
}

static void rule_who_waits_parks_the_fiber_not_the_thread(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    assert_int_equal(rad_main(&o, waits_with_one_worker, NULL, NULL), 0);
}

/* ---- Join ---------------------------------------------------------------------------------------------------- */

enum { JOINERS = 5 };

typedef struct family {
    rad_fiber child;
    rad_chan *gate;
    _Atomic uint32_t right;
} family;

static int gives_bytes(void *arg)
{
    family *f = arg;
    rad_set_result("0123456789", 10);
    return waits_at_gate(f->gate);
}

static int gives_others(void *arg)
{
    (void)arg;
    rad_set_result("##########", 10);
    return 0;
}

static int joins_it(void *arg)
{
    family *f = arg;
    rad_fiber_result given;
    CHECK(rad_join(f->child, &given, RAD_FOREVER) == 0);
    f->right += memcmp(given.bytes, "0123456789", 10) == 0 && given.code == 0;
    return 0;
}

static void *joins_from_a_thread(void *arg)
{
    joins_it(arg);
    return NULL;
}

static int has_many_joiners(void *arg)
{
    family f = {.gate = chan_of(0, 0)};
    rad_fiber joiners[JOINERS];
    pthread_t thread;
    rad_fiber_result mine;
    (void)arg;
    f.child = spawned(gives_bytes, &f);
    for (int i = 0; i < JOINERS; i++) joiners[i] = spawned(joins_it, &f);
    for (int i = 0; i < JOINERS; i++) until_parked(joiners[i]);
    CHECK(pthread_create(&thread, NULL, joins_from_a_thread, &f) == 0);
    rad_chan_close(f.gate, 0);
    CHECK(rad_join(f.child, &mine, RAD_FOREVER) == 0);
    for (int i = 0; i < JOINERS; i++) CHECK(joined(joiners[i]) == 0);
    pthread_join(thread, NULL);
    rad_release(f.child);
    for (int i = 0; i < 200; i++) CHECK(joined(spawned(gives_others, NULL)) == 0);
    CHECK(memcmp(mine.bytes, "0123456789", 10) == 0); /* a copy: others were there meanwhile */
    CHECK(f.right == JOINERS + 1);
    rad_chan_destroy(f.gate);
    return 0;
}

static void rule_many_join_and_each_has_a_copy(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) storm_run(workers, has_many_joiners, NULL);
}

static int runs_on(void *arg)
{
    CHECK(rad_sleep(MS) == 0);
    atomic_fetch_add((_Atomic uint32_t *)arg, 1);
    return 0;
}

static int detaches(void *arg)
{
    for (int i = 0; i < 20; i++) {
        rad_fiber f = spawned(runs_on, arg);
        if (i % 2) rad_yield();
        rad_release(f);
    }
    return 0;
}

static void rule_who_was_given_up_runs_on(void **state)
{
    (void)state;
    _Atomic uint32_t ran = 0;
    storm_run(2, detaches, &ran);
    assert_int_equal(ran, 20);
}

/* ---- Nurseries ----------------------------------------------------------------------------------------------- */

typedef struct closing {
    rad_nursery nursery;
    rad_chan *gate;
} closing;

static int finds_it_closed(void *arg)
{
    closing *c = arg;
    CHECK(rad_recv(c->gate, NULL, RAD_FOREVER) == RAD_ECLOSED);
    return rad_nursery_spawn(&c->nursery, NULL, returns_at_once, NULL) == RAD_ECLOSED ? 0 : 1;
}

static int closes_a_nursery(void *arg)
{
    closing c = {.gate = chan_of(0, 0)};
    (void)arg;
    rad_nursery_open(&c.nursery, RAD_FOREVER);
    CHECK(rad_nursery_spawn(&c.nursery, NULL, finds_it_closed, &c) == 0);
    rad_nursery_close(&c.nursery);
    rad_nursery_close(&c.nursery);
    CHECK(rad_nursery_spawn(&c.nursery, NULL, returns_at_once, NULL) == RAD_ECLOSED);
    rad_chan_close(c.gate, 0);
    CHECK(rad_nursery_wait(&c.nursery) == 0); /* who was in it went on */
    rad_chan_destroy(c.gate);
    return 0;
}

static void rule_a_closed_nursery_takes_no_more(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) storm_run(workers, closes_a_nursery, NULL);
}

static int answers_its_arg(void *arg)
{
    return *(int *)arg;
}

static int fails_twice(void *arg)
{
    static int codes[] = {0, 4, 5};
    rad_nursery n;
    rad_fiber f;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) { /* one after the other */
        CHECK(rad_nursery_spawn(&n, &f, answers_its_arg, &codes[i]) == 0);
        joined(f);
    }
    rad_nursery_cancel(&n, 77); /* too late to be the reason */
    CHECK(rad_nursery_wait(&n) == 4);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_cancel(&n, 77);
    CHECK(rad_nursery_spawn(&n, NULL, answers_its_arg, &codes[1]) == 0);
    CHECK(rad_nursery_wait(&n) == 77);
    return 0;
}

static void rule_a_nursery_tells_the_first_failure(void **state)
{
    (void)state;
    storm_run(2, fails_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_fibers_are_reused),
        cmocka_unit_test(rule_a_name_ends_with_its_fiber),
        cmocka_unit_test(rule_stacks_are_paid_for_as_they_are_used),
        cmocka_unit_test(rule_the_stack_size_is_an_option),
        cmocka_unit_test(rule_an_overflow_names_the_fiber),
        cmocka_unit_test(rule_a_wake_for_nothing_ends_no_wait),
        cmocka_unit_test(rule_wake_reasons_are_told),
        cmocka_unit_test(rule_every_call_that_waits_has_a_deadline_and_can_be_cancelled),
        cmocka_unit_test(rule_who_waits_parks_the_fiber_not_the_thread),
        cmocka_unit_test(rule_many_join_and_each_has_a_copy),
        cmocka_unit_test(rule_who_was_given_up_runs_on),
        cmocka_unit_test(rule_a_closed_nursery_takes_no_more),
        cmocka_unit_test(rule_a_nursery_tells_the_first_failure),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
