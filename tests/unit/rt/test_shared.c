/* test_shared.c — what is under a lock is read there, runtimes stay while they are looked at, and questions are taken
 * back. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/chan.h"
#include "rt/nursery.h"
#include "rt/runtime.h"
#include "storm_support.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { MS = 1000000 };

/* ---- Calls that need a lock which somebody has ------------------------------------------------------------- */

typedef struct caller {
    void (*call)(struct caller *c);
    void *object;
    int fd;
    _Atomic bool returned;
    pthread_t thread;
} caller;

static void *caller_main(void *arg)
{
    caller *c = arg;
    c->call(c);
    atomic_store(&c->returned, true);
    return NULL;
}

static void caller_start(caller *c)
{
    CHECK(pthread_create(&c->thread, NULL, caller_main, c) == 0);
}

/* The lock is held, and is given back when it was seen that the call waits for it. */
static void call_waits_for(rad_lock *lock, caller *c)
{
    rad__lock(lock);
    caller_start(c);
    storm_block_ms(30);
    CHECK(!atomic_load(&c->returned));
    rad__unlock(lock);
    pthread_join(c->thread, NULL);
}

static void asks_for_the_code(caller *c)
{
    CHECK(rad_chan_code(c->object) == 7);
}

static void closes_a_nursery(caller *c)
{
    rad_nursery_close(c->object);
}

static int has_a_nursery(void *unused)
{
    rad_nursery n;
    caller c = {.call = closes_a_nursery, .object = &n};
    rad__nursery *nursery = c.object;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    call_waits_for(&nursery->object.lock, &c);
    CHECK(rad_nursery_spawn(&n, NULL, has_a_nursery, NULL) == RAD_ECLOSED);
    return rad_nursery_wait(&n);
}

static void what_is_under_a_lock_is_read_there(void **state)
{
    caller c = {.call = asks_for_the_code, .fd = -1};
    rad_chan *chan;
    (void)state;
    assert_int_equal(rad_chan_create(&chan, 0, 0, RAD_CHAN_BLOCKS), 0);
    c.object = chan;
    rad_chan_close(chan, 7);
    call_waits_for(&chan->object.lock, &c);
    rad_chan_destroy(chan);
    storm_run(1, has_a_nursery, NULL);
}

static void closes_a_file(caller *c)
{
    CHECK(rad_fd_close(c->fd) == 0);
}

static void ends_a_runtime(caller *c)
{
    rad_runtime_destroy(c->object);
}

static int waits_for_a_file(void *fd)
{
    CHECK(rad_fd_wait(*(int *)fd, RAD_READABLE, rad_after(MS)) == RAD_ETIMEOUT);
    return 0;
}

/* Whoever closes a descriptor looks at all runtimes, and none of them goes meanwhile. */
static void a_runtime_stays_while_it_is_looked_at(void **state)
{
    rad_options o = {.workers = 1};
    rad_runtime *rt;
    rad_fiber f;
    int fds[2];
    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_true(fds[0] < 64); /* in the first chunk */
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, &f, waits_for_a_file, &fds[0]), 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    caller closer = {.call = closes_a_file, .fd = fds[0]};
    caller ender = {.call = ends_a_runtime, .object = rt};
    rad_lock *lock = &atomic_load(&rt->ready.chunks[0])[fds[0]].object.lock;
    rad__lock(lock);
    caller_start(&closer);
    storm_block_ms(30);
    caller_start(&ender);
    storm_block_ms(30);
    bool early = atomic_load(&ender.returned) || atomic_load(&closer.returned);
    if (!early) rad__unlock(lock);
    assert_false(early);
    pthread_join(closer.thread, NULL);
    pthread_join(ender.thread, NULL);
    close(fds[1]);
}

/* Whether the poll knows the descriptor: the system tells. */
static bool poll_knows(const rad_ready *r, int fd)
{
    char path[64], line[128];
    int at = -1, epoll = (int)(uint32_t)atomic_load(&r->poll) - 1;
    bool known = false;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epoll);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) known |= sscanf(line, "tfd: %d", &at) == 1 && at == fd;
    fclose(file);
    return known;
}

/* As long as a duplicate is open the system does not forget by itself. */
static int closes_one_of_two(void *unused)
{
    int fds[2];
    (void)unused;
    const rad_ready *r = &rad__rt_worker()->runtime->ready;
    CHECK(pipe(fds) == 0);
    int copy = dup(fds[0]);
    waits_for_a_file(&fds[0]);
    CHECK(copy >= 0 && poll_knows(r, fds[0]));
    CHECK(rad_fd_close(fds[0]) == 0 && !poll_knows(r, fds[0]));
    close(copy);
    close(fds[1]);
    return 0;
}

static void what_is_closed_is_forgotten(void **state)
{
    (void)state;
    storm_run(1, closes_one_of_two, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_under_a_lock_is_read_there),
        cmocka_unit_test(a_runtime_stays_while_it_is_looked_at),
        cmocka_unit_test(what_is_closed_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
