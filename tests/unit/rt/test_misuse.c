/* test_misuse.c — mistakes of programs: each stops the process with a line that begins with the call's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <string.h>

#include "patience_support.h"
#include "sync_support.h"

static int ends_at_once(void *unused)
{
    (void)unused;
    return 0;
}

static int sleeps(void *unused)
{
    (void)unused;
    return rad_sleep_until(RAD_FOREVER);
}

/* ---- Nurseries --------------------------------------------------------------------------------------- */

static int spawns_into_zeros(void *unused)
{
    rad_nursery n;
    (void)unused;
    memset(&n, 0, sizeof n);
    return rad_nursery_spawn(&n, NULL, ends_at_once, NULL);
}

static int spawns_into_noise(void *unused)
{
    rad_nursery n;
    (void)unused;
    memset(&n, 0x5a, sizeof n);
    return rad_nursery_spawn(&n, NULL, ends_at_once, NULL);
}

static int goes_into_a_copy(void *unused)
{
    rad_nursery n, copy;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    copy = n;
    rad_nursery_go(&copy, ends_at_once, NULL);
    return rad_nursery_wait(&n);
}

static int spawns_into_no_nursery(void *unused)
{
    (void)unused;
    return rad_nursery_spawn(NULL, NULL, ends_at_once, NULL);
}

static int goes_into(void *n)
{
    rad_nursery_go(n, ends_at_once, NULL);
    return 0;
}

/* The caller is neither its owner nor in it. */
static int lets_a_stranger_spawn(void *unused)
{
    rad_nursery n;
    rad_fiber f;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    RAD_IGNORE(rad_spawn(&f, goes_into, &n));
    RAD_IGNORE(rad_join(f, NULL, RAD_FOREVER));
    return rad_nursery_wait(&n);
}

static int lets_another_runtime_spawn(void *unused)
{
    rad_nursery n;
    rad_runtime *other;
    rad_fiber f;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    RAD_IGNORE(rad_runtime_create(&other, NULL, NULL));
    RAD_IGNORE(rad_runtime_spawn(other, &f, goes_into, &n));
    RAD_IGNORE(rad_join(f, NULL, RAD_FOREVER));
    return rad_nursery_wait(&n);
}

static int goes_after_the_wait(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    RAD_IGNORE(rad_nursery_wait(&n));
    rad_nursery_go(&n, ends_at_once, NULL);
    return 0;
}

static int cancels_after_the_wait(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, ends_at_once, NULL);
    RAD_IGNORE(rad_nursery_wait(&n));
    rad_nursery_cancel(&n, -1);
    return 0;
}

static int cancels_zeros(void *unused)
{
    rad_nursery n;
    (void)unused;
    memset(&n, 0, sizeof n);
    rad_nursery_cancel(&n, -1);
    return 0;
}

static int closes_after_the_wait(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    RAD_IGNORE(rad_nursery_wait(&n));
    rad_nursery_close(&n);
    return 0;
}

static int waits_for_zeros(void *unused)
{
    rad_nursery n;
    (void)unused;
    memset(&n, 0, sizeof n);
    return rad_nursery_wait(&n);
}

static int opens_none(void *unused)
{
    rad_nursery *volatile none = NULL;
    (void)unused;
    rad_nursery_open(none, RAD_FOREVER);
    return 0;
}

/* ---- Runtimes ----------------------------------------------------------------------------------------- */

static int starts_another_main(void *unused)
{
    (void)unused;
    return rad_main(NULL, ends_at_once, NULL, NULL);
}

static int destroys_another_runtime(void *unused)
{
    rad_runtime *other;
    (void)unused;
    RAD_IGNORE(rad_runtime_create(&other, NULL, NULL));
    rad_runtime_destroy(other);
    return 0;
}

static void main_without_a_function(void)
{
    RAD_IGNORE(rad_main(NULL, NULL, NULL, NULL));
}

static void runtime_spawns_nothing(void)
{
    rad_runtime *rt;
    RAD_IGNORE(rad_runtime_create(&rt, NULL, NULL));
    RAD_IGNORE(rad_runtime_spawn(rt, NULL, NULL, NULL));
}

/* ---- Functions ---------------------------------------------------------------------------------------- */

static int spawns_nothing(void *unused)
{
    (void)unused;
    return rad_spawn(NULL, NULL, NULL);
}

static int nursery_spawns_nothing(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    return rad_nursery_spawn(&n, NULL, NULL, NULL);
}

static int nursery_goes_nowhere(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, NULL, NULL);
    return 0;
}

static int blocks_in_nothing(void *unused)
{
    (void)unused;
    return rad_blocking(NULL, NULL, NULL, RAD_FOREVER);
}

static int runs_nothing_once(void *unused)
{
    rad_once once = RAD_ONCE_INIT;
    (void)unused;
    return rad_once_run(&once, NULL, NULL, RAD_FOREVER);
}

static int sends_nothing_in_order(void *unused)
{
    rad_chan *c;
    (void)unused;
    if (rad_chan_create(&c, sizeof(rad_fiber), 1, RAD_CHAN_BLOCKS) != 0) return 1;
    return rad_chan_send_spawn(c, NULL, NULL, RAD_FOREVER);
}

/* ---- Channels ----------------------------------------------------------------------------------------- */

static rad_chan *no_channel;
static int value;

static int sends_to_none(void *unused)
{
    (void)unused;
    return rad_send(no_channel, &value, RAD_FOREVER);
}

static int tries_to_receive_from_none(void *unused)
{
    (void)unused;
    return rad_recv(no_channel, &value, 0);
}

static int sends_many_to_none(void *unused)
{
    (void)unused;
    return rad_send_many(no_channel, &value, 1, RAD_FOREVER);
}

static int receives_many_from_none(void *unused)
{
    (void)unused;
    return rad_recv_many(no_channel, &value, 1, RAD_FOREVER);
}

static int closes_none(void *unused)
{
    (void)unused;
    return rad_chan_close(no_channel, 0);
}

static int counts_none(void *unused)
{
    (void)unused;
    return (int)rad_chan_count(no_channel);
}

static int asks_none_for_its_code(void *unused)
{
    (void)unused;
    return rad_chan_code(no_channel);
}

static int spawns_a_send_to_none(void *unused)
{
    (void)unused;
    return rad_send_spawn(NULL, no_channel, &value, RAD_FOREVER);
}

static int sends_a_task_to_none(void *unused)
{
    (void)unused;
    return rad_chan_send_spawn(no_channel, ends_at_once, NULL, RAD_FOREVER);
}

static int joins_from_none(void *unused)
{
    (void)unused;
    return rad_chan_recv_join(no_channel, NULL, RAD_FOREVER);
}

static rad_chan *destroyed(void)
{
    rad_chan *c;
    if (rad_chan_create(&c, sizeof value, 1, RAD_CHAN_BLOCKS) != 0) return NULL;
    rad_chan_destroy(c);
    return c;
}

static int sends_to_a_destroyed_one(void *unused)
{
    (void)unused;
    return rad_send(destroyed(), &value, RAD_FOREVER);
}

static int receives_from_a_destroyed_one(void *unused)
{
    (void)unused;
    return rad_recv(destroyed(), &value, RAD_FOREVER);
}

static int selects_a_destroyed_one(void *unused)
{
    (void)unused;
    rad_select_case c = {.kind = RAD_ON_RECV, .on.chan = destroyed(), .value = &value};
    return rad_select(&c, 1, RAD_FOREVER);
}

static int destroys_twice(void *unused)
{
    (void)unused;
    rad_chan_destroy(destroyed());
    return 0;
}

/* ---- Locks -------------------------------------------------------------------------------------------- */

static int ends_with_a_mutex(void *unused)
{
    static rad_mutex m;
    (void)unused;
    rad_name("careless");
    rad_mutex_lock(&m);
    return 0;
}

static int ends_with_a_mutex_of_a_select(void *unused)
{
    static rad_mutex m;
    rad_select_case c = {.kind = RAD_ON_LOCK, .on.mutex = &m};
    (void)unused;
    return rad_select(&c, 1, RAD_FOREVER);
}

/* It is handed over while it waits. */
static int ends_with_a_mutex_it_waited_for(void *mutex)
{
    return rad_mutex_lock_until(mutex, RAD_FOREVER);
}

static int hands_a_mutex_over(void *unused)
{
    static rad_mutex m;
    (void)unused;
    rad_mutex_lock(&m);
    RAD_IGNORE(rad_spawn(NULL, ends_with_a_mutex_it_waited_for, &m));
    for (int i = 0; i < 10; i++) rad_yield();
    rad_mutex_unlock(&m);
    return 0;
}

static int ends_with_a_write_lock(void *unused)
{
    static rad_rwlock l;
    (void)unused;
    rad_rwlock_write(&l);
    return 0;
}

static int ends_with_a_read_lock_of_a_select(void *unused)
{
    static rad_rwlock l;
    rad_select_case c = {.kind = RAD_ON_READ, .on.rwlock = &l};
    (void)unused;
    return rad_select(&c, 1, RAD_FOREVER);
}

static int ends_with_a_read_lock(void *unused)
{
    static rad_rwlock l;
    (void)unused;
    rad_rwlock_read(&l);
    return 0;
}

static int writes_what_it_reads(void *unused)
{
    rad_rwlock l = RAD_RWLOCK_INIT;
    (void)unused;
    rad_rwlock_read(&l);
    rad_rwlock_write(&l);
    return 0;
}

static int writes_in_time_what_it_reads(void *unused)
{
    rad_rwlock l = RAD_RWLOCK_INIT;
    (void)unused;
    rad_rwlock_read(&l);
    if (rad_rwlock_write_until(&l, 0) != RAD_ETIMEOUT) return 1;
    return rad_rwlock_write_until(&l, rad_after(1000000));
}

static int writes(void *l)
{
    rad_rwlock_write(l);
    return 0;
}

static int reads_again_behind_a_writer(void *unused)
{
    rad_rwlock l = RAD_RWLOCK_INIT;
    (void)unused;
    rad_rwlock_read(&l);
    RAD_IGNORE(rad_spawn(NULL, writes, &l));
    for (int i = 0; i < 10; i++) rad_yield();
    rad_rwlock_read(&l);
    return 0;
}

static int once_within(void *once)
{
    return rad_once_run(once, once_within, once, RAD_FOREVER);
}

static int runs_once_within(void *unused)
{
    rad_once once = RAD_ONCE_INIT;
    (void)unused;
    return rad_once_run(&once, once_within, &once, RAD_FOREVER);
}

static void a_thread_runs_once_within(void)
{
    RAD_IGNORE(runs_once_within(NULL));
}

/* ---- Handles and locals --------------------------------------------------------------------------------- */

static int releases_twice_while_it_runs(void *unused)
{
    rad_fiber f;
    (void)unused;
    RAD_IGNORE(rad_spawn(&f, sleeps, NULL));
    rad_yield();
    rad_release(f);
    rad_release(f);
    return 0;
}

static int releases_twice_before_it_runs(void *unused)
{
    rad_fiber f;
    (void)unused;
    RAD_IGNORE(rad_spawn(&f, sleeps, NULL));
    rad_release(f);
    rad_release(f);
    return 0;
}

static int releases_itself(void *unused)
{
    (void)unused;
    rad_release(rad_self());
    return 0;
}

static int joins_itself(void *unused)
{
    (void)unused;
    return rad_join(rad_self(), NULL, RAD_FOREVER);
}

static int gets_a_strange_local(void *unused)
{
    (void)unused;
    return rad_local_get(0xdeadbeef) != NULL;
}

static int sets_a_strange_local(void *unused)
{
    (void)unused;
    return rad_local_set(0, &value);
}

static int gets_a_deleted_local(void *unused)
{
    rad_local_key key;
    (void)unused;
    if (rad_local_create(&key, NULL) != 0) return 1;
    rad_local_delete(key);
    return rad_local_get(key) != NULL;
}

/* ------------------------------------------------------------------------------------------------------ */

static const struct {
    rad_fn body;
    const char *message;
} OF_FIBERS[] = {
    {spawns_into_zeros, "rad_nursery_spawn: the nursery is not open"},
    {spawns_into_noise, "rad_nursery_spawn: the nursery is not open"},
    {goes_into_a_copy, "rad_nursery_go: the nursery is not open"},
    {spawns_into_no_nursery, "rad_nursery_spawn: the nursery is NULL"},
    {lets_a_stranger_spawn, "rad_nursery_go: the calling fiber neither opened the nursery nor is in it"},
    {lets_another_runtime_spawn, "rad_nursery_go: the calling fiber neither opened the nursery nor is in it"},
    {goes_after_the_wait, "rad_nursery_go: the nursery was waited for"},
    {cancels_after_the_wait, "rad_nursery_cancel: the nursery was waited for"},
    {cancels_zeros, "rad_nursery_cancel: the nursery is not open"},
    {closes_after_the_wait, "rad_nursery_close: the nursery was waited for"},
    {waits_for_zeros, "rad_nursery_wait: the nursery is not open"},
    {opens_none, "rad_nursery_open: the nursery is NULL"},
    {starts_another_main, "rad_main: the caller is a fiber"},
    {destroys_another_runtime, "rad_runtime_destroy: the caller is a fiber"},
    {spawns_nothing, "rad_spawn: the function is NULL"},
    {nursery_spawns_nothing, "rad_nursery_spawn: the function is NULL"},
    {nursery_goes_nowhere, "rad_nursery_go: the function is NULL"},
    {blocks_in_nothing, "rad_blocking: the function is NULL"},
    {runs_nothing_once, "rad_once_run: the function is NULL"},
    {sends_nothing_in_order, "rad_chan_send_spawn: the function is NULL"},
    {sends_to_none, "rad_send: the channel is NULL"},
    {tries_to_receive_from_none, "rad_recv: the channel is NULL"},
    {sends_many_to_none, "rad_send_many: the channel is NULL"},
    {receives_many_from_none, "rad_recv_many: the channel is NULL"},
    {closes_none, "rad_chan_close: the channel is NULL"},
    {counts_none, "rad_chan_count: the channel is NULL"},
    {asks_none_for_its_code, "rad_chan_code: the channel is NULL"},
    {spawns_a_send_to_none, "rad_send_spawn: the channel is NULL"},
    {sends_a_task_to_none, "rad_chan_send_spawn: the channel is NULL"},
    {joins_from_none, "rad_chan_recv_join: the channel is NULL"},
    {ends_with_a_mutex, "rad_mutex_unlock: fiber 1 'careless' has ended and holds a mutex"},
    {ends_with_a_mutex_of_a_select, "rad_mutex_unlock: fiber 1 has ended and holds a mutex"},
    {hands_a_mutex_over, "rad_mutex_unlock: fiber "},
    {ends_with_a_write_lock, "rad_rwlock_unlock: fiber 1 has ended and holds an RW lock"},
    {ends_with_a_read_lock, "rad_rwlock_unlock: fiber 1 has ended and holds an RW lock"},
    {ends_with_a_read_lock_of_a_select, "rad_rwlock_unlock: fiber 1 has ended and holds an RW lock"},
    {writes_what_it_reads, "rad_rwlock_write: the caller has it to read"},
    {writes_in_time_what_it_reads, "rad_rwlock_write: the caller has it to read"},
    {reads_again_behind_a_writer, "rad_rwlock_read: the caller has it to read"},
    {runs_once_within, "rad_once_run: the caller is inside its function"},
    {releases_twice_while_it_runs, "rad_release: no such handle"},
    {releases_twice_before_it_runs, "rad_release: no such handle"},
    {releases_itself, "rad_release: no such handle"},
    {joins_itself, "rad_join: a fiber cannot wait for its own end"},
    {gets_a_strange_local, "rad_local_get: there is no such key"},
    {sets_a_strange_local, "rad_local_set: there is no such key"},
    {gets_a_deleted_local, "rad_local_get: there is no such key"},
};

/* A sanitizer or valgrind reports the use of freed memory by itself. */
static const struct {
    rad_fn body;
    const char *message;
} OF_FREED_MEMORY[] = {
    {sends_to_a_destroyed_one, "rad_send: the channel was destroyed"},
    {receives_from_a_destroyed_one, "rad_recv: the channel was destroyed"},
    {selects_a_destroyed_one, "rad_select: the channel was destroyed"},
    {destroys_twice, "rad_chan_destroy: the channel was destroyed"},
};

static rad_fn mistake;

static void makes_it_in_a_fiber(void)
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    RAD_IGNORE(rad_main(&o, mistake, NULL, NULL));
}

static void mistakes_name_the_call(void **state)
{
    (void)state;
    expect_misuse(main_without_a_function, "rad_main: the function is NULL");
    expect_misuse(a_thread_runs_once_within, "rad_once_run: the caller is inside its function");
#if defined(__SANITIZE_THREAD__)
    return; /* threads in children */
#endif
    expect_misuse(runtime_spawns_nothing, "rad_runtime_spawn: the function is NULL");
    for (size_t i = 0; i < sizeof OF_FIBERS / sizeof *OF_FIBERS; i++) {
        mistake = OF_FIBERS[i].body;
        expect_misuse(makes_it_in_a_fiber, OF_FIBERS[i].message);
    }
#if defined(__SANITIZE_ADDRESS__)
    return;
#endif
    for (size_t i = 0; i < sizeof OF_FREED_MEMORY / sizeof *OF_FREED_MEMORY; i++) {
        mistake = OF_FREED_MEMORY[i].body;
        expect_misuse(makes_it_in_a_fiber, OF_FREED_MEMORY[i].message);
    }
}

/* ---- What looks like one, and is none ------------------------------------------------------------------- */

static int grandchild(void *top)
{
    rad_nursery_go(top, ends_at_once, NULL);
    return 0;
}

static int child(void *top)
{
    rad_nursery own;
    rad_nursery_open(&own, RAD_FOREVER);
    rad_nursery_go(&own, grandchild, top);
    return rad_nursery_wait(&own);
}

static int reads_two(void *unused)
{
    rad_rwlock a = RAD_RWLOCK_INIT, b = RAD_RWLOCK_INIT;
    (void)unused;
    rad_rwlock_read(&a);
    rad_rwlock_read(&a); /* no writer waits */
    rad_rwlock_unlock(&a);
    rad_rwlock_write(&b); /* another one */
    rad_rwlock_unlock(&b);
    rad_rwlock_read(&b);
    rad_rwlock_unlock(&a);
    rad_rwlock_write(&a);
    rad_rwlock_unlock(&a);
    rad_rwlock_unlock(&b);
    rad_rwlock_write(&b);
    rad_rwlock_unlock(&b);
    return 0;
}

static int locks_many(void *unused)
{
    enum { MANY = 600 };
    static rad_mutex m[MANY];
    static rad_rwlock l[MANY];
    (void)unused;
    for (int i = 0; i < MANY; i++) {
        rad_mutex_lock(&m[i]);
        rad_rwlock_write(&l[i]);
    }
    for (int i = 0; i < MANY; i++) {
        rad_mutex_unlock(&m[i]);
        rad_rwlock_unlock(&l[i]);
    }
    return 0;
}

static int gives_up_on_a_lock(void *mutex)
{
    rad_select_case c[] = {{.kind = RAD_ON_LOCK, .on.mutex = mutex}, {.kind = RAD_ON_TIME, .on.time = rad_after(1000)}};
    assert_int_equal(rad_mutex_lock_until(mutex, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_mutex_lock_until(mutex, rad_after(1000)), RAD_ETIMEOUT);
    assert_int_equal(rad_select(c, 2, RAD_FOREVER), 1);
    return 0;
}

static int waits_under_a_mutex(void *unused)
{
    rad_mutex m = RAD_MUTEX_INIT;
    rad_cond c = RAD_COND_INIT;
    (void)unused;
    rad_mutex_lock(&m);
    assert_int_equal(rad_cond_wait(&c, &m, rad_after(1000)), RAD_ETIMEOUT);
    rad_mutex_unlock(&m);
    return 0;
}

static int fails_once(void *once)
{
    (void)once;
    return -70;
}

static int does_all_of_it(void *unused)
{
    rad_nursery n;
    rad_mutex m = RAD_MUTEX_INIT;
    rad_once once = RAD_ONCE_INIT;
    (void)unused;
    rad_mutex_lock(&m);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, child, &n); /* a grandchild cannot outlive it, either */
    rad_nursery_go(&n, reads_two, NULL);
    rad_nursery_go(&n, locks_many, NULL);
    rad_nursery_go(&n, gives_up_on_a_lock, &m);
    rad_nursery_go(&n, waits_under_a_mutex, NULL);
    assert_int_equal(rad_nursery_wait(&n), 0);
    rad_mutex_unlock(&m);
    assert_int_equal(rad_once_run(&once, fails_once, NULL, RAD_FOREVER), -70);
    assert_int_equal(rad_once_run(&once, fails_once, NULL, RAD_FOREVER), -70); /* not within */
    assert_int_equal(rad_join(rad_self(), NULL, 0), RAD_ETIMEOUT);
    rad_nursery_open(&n, RAD_FOREVER); /* the same variable again */
    rad_nursery_go(&n, ends_at_once, NULL);
    return rad_nursery_wait(&n);
}

static void what_is_right_is_not_stopped(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        assert_int_equal(rad_main(&o, does_all_of_it, NULL, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_name_the_call),
        cmocka_unit_test(what_is_right_is_not_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
