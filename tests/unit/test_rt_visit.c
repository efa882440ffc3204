/* test_rt_visit.c — threads that end the last fiber of a runtime, and are still in the call when the runtime is gone.
 * Whoever touches what was freed is seen by the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_support.h"

#include <pthread.h>
#include <sched.h>

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
    rad_recv(e->chan, NULL, RAD_FOREVER);
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
    static void (*const ways[])(ending *) = {end_by_send, end_by_close, end_by_cancel,
                                             end_by_nursery};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_outlives_who_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
