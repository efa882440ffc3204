/* test_visit.c — threads that end the last fiber of a runtime, or start it, and are still in the call when the
 * runtime is gone. Whoever touches what was freed is seen by the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/runtime.h"
#include "storm_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

typedef struct ending {
    rad_chan *chan;
    rad_fiber fiber;
    rad_nursery *nursery;
    _Atomic bool is_there;
    void (*end)(struct ending *e);
} ending;

static void *thread_ends_it(void *arg)
{
    ending *e = arg;
    while (!atomic_load(&e->is_there)) sched_yield();
    e->end(e);
    return NULL;
}

static void end_by_send(ending *e)
{
    CHECK(rad_send(e->chan, NULL, RAD_FOREVER) == 0);
}

static void end_by_close(ending *e)
{
    CHECK(rad_chan_close(e->chan, 1));
}

static void end_by_cancel(ending *e)
{
    rad_cancel(e->fiber);
}

static void end_by_nursery(ending *e)
{
    rad_nursery_cancel(e->nursery, 1);
}

static int waits(void *arg)
{
    ending *e = arg;
    e->fiber = rad_self();
    atomic_store(&e->is_there, true);
    RAD_IGNORE(rad_recv(e->chan, NULL, RAD_FOREVER));
    return 0;
}

static int waits_for_children(void *arg)
{
    ending *e = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    e->nursery = &n;
    CHECK(rad_nursery_spawn(&n, NULL, waits, e) == 0);
    CHECK(rad_nursery_wait(&n) == 1);
    return 0;
}

static void the_runtime_outlives_who_ends_it(void **state)
{
    (void)state;
    static void (*const ways[])(ending *) = {end_by_send, end_by_close, end_by_cancel, end_by_nursery};
    uint64_t rounds = storm_amount(400);
    for (uint64_t i = 0; i < rounds || i < 20; i++) {
        ending e = {.end = ways[i % 4]};
        pthread_t thread;
        assert_int_equal(rad_chan_create(&e.chan, 0, 0, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(pthread_create(&thread, NULL, thread_ends_it, &e), 0);
        storm_run(1 + i / 4 % 3, i % 4 == 3 ? waits_for_children : waits, &e);
        pthread_join(thread, NULL);
        rad_chan_destroy(e.chan);
    }
}

/* ---- Calls from outside that are not about one fiber ----------------------------------------------------- */

typedef struct visitor {
    rad_runtime *rt;
    void (*call)(struct visitor *v);
    rad_chan *over; /* the fiber that was spawned has ended, as far as it knows */
} visitor;

static int tells(void *arg)
{
    visitor *v = arg;
    CHECK(rad_send(v->over, NULL, RAD_FOREVER) == 0);
    return 0;
}

static void spawns(visitor *v)
{
    CHECK(rad_runtime_spawn(v->rt, NULL, tells, v) == 0);
}

static void shuts_down(visitor *v)
{
    rad_runtime_shutdown(v->rt);
}

static void dumps(visitor *v)
{
    int fd = open("/dev/null", O_WRONLY);
    CHECK(fd >= 0 && rad_runtime_dump(v->rt, fd) == 0);
    close(fd);
}

static void *thread_visits(void *arg)
{
    visitor *v = arg;
    v->call(v);
    return NULL;
}

static void visitor_open(visitor *v)
{
    rad_options o = {.workers = 2};
    assert_int_equal(rad_runtime_create(&v->rt, &o, NULL), 0);
    assert_int_equal(rad_chan_create(&v->over, 0, 1, RAD_CHAN_BLOCKS), 0);
}

static void visitor_close(visitor *v, pthread_t thread)
{
    rad_runtime_destroy(v->rt);
    pthread_join(thread, NULL);
    rad_chan_destroy(v->over);
}

/* Each call needs the lock that is held here, and has said before that it is there. */
static void whoever_is_inside_is_counted(void **state)
{
    (void)state;
    static void (*const ways[])(visitor *) = {spawns, shuts_down, dumps};
    for (uint32_t i = 0; i < 3; i++) {
        visitor v = {.call = ways[i]};
        pthread_t thread;
        visitor_open(&v);
        rad__lock(&v.rt->room.lock);
        assert_int_equal(pthread_create(&thread, NULL, thread_visits, &v), 0);
        while (atomic_load(&v.rt->visits) == 0) storm_block_ms(1);
        uint32_t visits = atomic_load(&v.rt->visits);
        rad__unlock(&v.rt->room.lock);
        pthread_join(thread, NULL);
        assert_int_equal(visits, 1);
        assert_int_equal(atomic_load(&v.rt->visits), 0);
        rad_runtime_destroy(v.rt);
        rad_chan_destroy(v.over);
    }
}

/* The fiber has ended, so the runtime goes; who started it may still be about to wake somebody for it. */
static void the_runtime_outlives_who_spawns_from_outside(void **state)
{
    (void)state;
    uint64_t rounds = storm_amount(400);
    for (uint64_t i = 0; i < rounds || i < 20; i++) {
        visitor v = {.call = spawns};
        pthread_t thread;
        visitor_open(&v);
        assert_int_equal(pthread_create(&thread, NULL, thread_visits, &v), 0);
        assert_int_equal(rad_recv(v.over, NULL, RAD_FOREVER), 0);
        visitor_close(&v, thread);
    }
}

static int sleeps(void *arg)
{
    _Atomic uint32_t *there = arg;
    atomic_fetch_add(there, 1);
    rad_sleep_until(RAD_FOREVER);
    return 0;
}

static int ends(void *arg)
{
    return rad_recv(arg, NULL, RAD_FOREVER) == RAD_ECLOSED ? 0 : 1;
}

/* The newest is the only fiber left, and the first to be cancelled: the others are looked at when it has ended. */
static void the_runtime_outlives_who_shuts_it_down(void **state)
{
    (void)state;
    uint64_t count = storm_live(2000);
    for (uint32_t round = 0; round < 3; round++) {
        visitor v = {.call = shuts_down};
        _Atomic uint32_t there = 0;
        rad_chan *gate;
        rad_exec_counts counts;
        pthread_t thread;
        visitor_open(&v);
        assert_int_equal(rad_chan_create(&gate, 0, 0, RAD_CHAN_BLOCKS), 0);
        for (uint64_t i = 0; i < count; i++) assert_int_equal(rad_runtime_spawn(v.rt, NULL, ends, gate), 0);
        assert_int_equal(rad_runtime_spawn(v.rt, NULL, sleeps, &there), 0);
        rad_chan_close(gate, 0);
        do {
            storm_block_ms(1);
            rad_exec_stats(v.rt->exec, RAD_NONE, &counts);
        } while (counts.ended < count || atomic_load(&there) == 0);
        assert_int_equal(pthread_create(&thread, NULL, thread_visits, &v), 0);
        visitor_close(&v, thread);
        rad_chan_destroy(gate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_is_inside_is_counted),
        cmocka_unit_test(the_runtime_outlives_who_spawns_from_outside),
        cmocka_unit_test(the_runtime_outlives_who_shuts_it_down),
        cmocka_unit_test(the_runtime_outlives_who_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
