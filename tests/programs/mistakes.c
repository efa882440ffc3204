/* mistakes.c — one test for each mistake that the headers name, beside another fiber; `fixed=1`: the same calls as they
 * are meant. A test is called after the call that the report names, and has a letter if there are several of a call. */
#include <raddle.h>
#include <raddle/test.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RAD_PARAM(fixed, 0, "1: without the mistake")

static int value = 1;
static rad_time forever = RAD_FOREVER;

static int yields(void *arg)
{
    (void)arg;
    rad_yield();
    return 0;
}

static int returns(void *arg)
{
    (void)arg;
    return 0;
}

static rad_chan *channel(size_t size)
{
    rad_chan *c = NULL;
    if (rad_chan_create(&c, size, 2, RAD_CHAN_BLOCKS) != 0) abort();
    return c;
}

static rad_pool *pool(void)
{
    rad_pool *s = NULL;
    if (rad_pool_create(&s, sizeof value, 2, NULL) != 0) abort();
    return s;
}

static rad_timer *timer(rad_fn fn)
{
    rad_timer *t = NULL;
    if (rad_timer_create(&t, fn, NULL) != 0) abort();
    return t;
}

static rad_fiber spawned(rad_fn fn, void *arg)
{
    rad_fiber f;
    if (rad_spawn(&f, fn, arg) != 0) abort();
    return f;
}

/* Ends its fiber, and is given up. */
static void done(rad_fiber f)
{
    RAD_IGNORE(rad_join(f, NULL, forever));
    rad_release(f);
}

/* ---- Channels: NULL, and destroyed, though another one has been made since ------------------------------------ */

#define ON_A_CHANNEL(name, call)                                                                                       \
    RAD_TEST(rad_##name##_null)                                                                                        \
    {                                                                                                                  \
        rad_chan *right = channel(sizeof value), *c = fixed ? right : NULL;                                            \
        RAD_IGNORE(call);                                                                                              \
    }                                                                                                                  \
    RAD_TEST(rad_##name##_destroyed)                                                                                   \
    {                                                                                                                  \
        rad_chan *c = channel(sizeof value);                                                                           \
        if (!fixed) rad_chan_destroy(c);                                                                               \
        rad_chan *other = channel(sizeof value);                                                                       \
        RAD_IGNORE(call);                                                                                              \
        rad_chan_destroy(other);                                                                                       \
    }

static int selects(rad_chan *c)
{
    rad_select_case one = {.kind = RAD_ON_RECV, .on.chan = c, .value = &value};
    return rad_select(&one, 1, 0);
}

ON_A_CHANNEL(send, rad_send(c, &value, 0))
ON_A_CHANNEL(recv, rad_recv(c, &value, 0))
ON_A_CHANNEL(send_many, rad_send_many(c, &value, 1, 0))
ON_A_CHANNEL(recv_many, rad_recv_many(c, &value, 1, 0))
ON_A_CHANNEL(chan_close, rad_chan_close(c, 0))
ON_A_CHANNEL(chan_code, rad_chan_code(c))
ON_A_CHANNEL(chan_count, (int)rad_chan_count(c))
ON_A_CHANNEL(select, selects(c))
ON_A_CHANNEL(send_spawn, rad_send_spawn(NULL, c, &value, 0))

static int receives(void *c)
{
    RAD_IGNORE(rad_recv(c, &value, forever));
    return 0;
}

RAD_TEST(rad_chan_destroy_waited_for)
{
    rad_chan *c = channel(sizeof value);
    rad_fiber f = spawned(receives, c);
    rad_yield();
    rad_yield();
    if (fixed) rad_chan_close(c, 0);
    if (fixed) done(f);
    rad_chan_destroy(c);
    if (!fixed) done(f);
}

RAD_TEST(rad_chan_destroy_twice)
{
    rad_chan *c = channel(sizeof value);
    rad_chan_destroy(c);
    if (!fixed) rad_chan_destroy(c);
}

/* ---- Pools and timers ----------------------------------------------------------------------------------------- */

RAD_TEST(rad_pool_take_destroyed)
{
    rad_pool *s = pool();
    void *item = NULL;
    if (!fixed) rad_pool_destroy(s);
    rad_pool *other = pool();
    RAD_IGNORE(rad_pool_take(s, &item, 0));
    rad_pool_give(s, item);
    rad_pool_destroy(s);
    rad_pool_destroy(other);
}

RAD_TEST(rad_pool_give_twice)
{
    rad_pool *s = pool();
    void *item = NULL;
    RAD_IGNORE(rad_pool_take(s, &item, 0));
    rad_pool_give(s, item);
    if (!fixed) rad_pool_give(s, item);
    rad_pool_destroy(s);
}

RAD_TEST(rad_pool_give_other)
{
    rad_pool *s = pool(), *other = pool();
    void *item = NULL;
    RAD_IGNORE(rad_pool_take(s, &item, 0));
    rad_pool_give(fixed ? s : other, item);
    rad_pool_destroy(s);
    rad_pool_destroy(other);
}

RAD_TEST(rad_pool_destroy_out)
{
    rad_pool *s = pool();
    void *item = NULL;
    RAD_IGNORE(rad_pool_take(s, &item, 0));
    if (fixed) rad_pool_give(s, item);
    rad_pool_destroy(s);
}

RAD_TEST(rad_timer_start_destroyed)
{
    rad_timer *t = timer(NULL), *other = NULL;
    if (!fixed) rad_timer_destroy(t);
    other = timer(NULL);
    RAD_IGNORE(rad_timer_start(t, rad_after(1)));
    RAD_IGNORE(rad_timer_wait(t, forever));
    rad_timer_destroy(t);
    rad_timer_destroy(other);
}

RAD_TEST(rad_timer_wait_function)
{
    rad_timer *t = timer(fixed ? NULL : yields);
    RAD_IGNORE(rad_timer_start(t, rad_after(1)));
    RAD_IGNORE(rad_timer_wait(t, forever));
    rad_timer_destroy(t);
}

static int ticks(void *t)
{
    return rad_ticker_wait(t, NULL, forever);
}

RAD_TEST(rad_ticker_wait_shared)
{
    rad_ticker one, two;
    rad_ticker_start(&one, 1000);
    rad_ticker_start(&two, 1000);
    rad_fiber f = spawned(ticks, &one);
    RAD_IGNORE(ticks(fixed ? &two : &one));
    done(f);
}

RAD_TEST(rad_ticker_wait_not_started)
{
    rad_ticker t = {0};
    if (fixed) rad_ticker_start(&t, 1000);
    RAD_IGNORE(ticks(&t));
}

RAD_TEST(rad_ticker_start_period)
{
    rad_ticker t = {0};
    rad_ticker_start(&t, fixed ? 1 : 0);
}

/* ---- Handles --------------------------------------------------------------------------------------------------- */

RAD_TEST(rad_release_twice)
{
    rad_fiber f = spawned(yields, NULL);
    rad_release(f);
    if (!fixed) rad_release(f);
}

RAD_TEST(rad_join_itself)
{
    rad_fiber f = spawned(yields, NULL);
    RAD_IGNORE(rad_join(fixed ? f : rad_self(), NULL, forever));
    rad_release(f);
}

/* A handle that was given up, also when its place has another fiber by then: its calls say so. */
RAD_TEST(no_mistake)
{
    rad_fiber f = spawned(yields, NULL);
    rad_select_case c = {.kind = RAD_ON_JOIN, .on.fiber = f};
    done(f);
    rad_fiber next = spawned(yields, NULL);
    rad_check(rad_join(f, NULL, forever) == RAD_ESTALE);
    rad_cancel(f);
    RAD_IGNORE(rad_select(&c, 1, forever));
    done(next);
    rad_mutex lock = {0};
    c = (rad_select_case){.kind = RAD_ON_LOCK, .on.mutex = &lock};
    rad_check(rad_select(&c, 1, 0) == 0 && c.code == 0);
    rad_mutex_unlock(&lock);
}

/* ---- Nurseries ------------------------------------------------------------------------------------------------- */

RAD_TEST(rad_nursery_go_waited_for)
{
    rad_nursery n;
    rad_nursery_open(&n, forever);
    if (fixed) rad_nursery_go(&n, yields, NULL);
    RAD_IGNORE(rad_nursery_wait(&n));
    if (!fixed) rad_nursery_go(&n, yields, NULL);
}

RAD_TEST(rad_nursery_spawn_not_open)
{
    rad_nursery n = {{0}};
    if (fixed) rad_nursery_open(&n, forever);
    RAD_IGNORE(rad_nursery_spawn(&n, NULL, yields, NULL));
    RAD_IGNORE(rad_nursery_wait(&n));
}

static int goes_into(void *n)
{
    rad_nursery_go(n, yields, NULL);
    return 0;
}

RAD_TEST(rad_nursery_go_stranger)
{
    rad_nursery n;
    rad_nursery_open(&n, forever);
    if (fixed)
        rad_nursery_go(&n, goes_into, &n);
    else
        done(spawned(goes_into, &n));
    RAD_IGNORE(rad_nursery_wait(&n));
}

RAD_TEST(rad_nursery_cancel_waited_for)
{
    rad_nursery n;
    rad_nursery_open(&n, forever);
    if (fixed) rad_nursery_cancel(&n, 0);
    RAD_IGNORE(rad_nursery_wait(&n));
    if (!fixed) rad_nursery_cancel(&n, 0);
}

RAD_TEST(rad_nursery_close_waited_for)
{
    rad_nursery n;
    rad_nursery_open(&n, forever);
    if (fixed) rad_nursery_close(&n);
    RAD_IGNORE(rad_nursery_wait(&n));
    if (!fixed) rad_nursery_close(&n);
}

static int leaves_a_nursery(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, forever);
    return fixed ? rad_nursery_wait(&n) : 0;
}

RAD_TEST(rad_nursery_wait_left)
{
    done(spawned(leaves_a_nursery, NULL));
}

/* ---- Locks ----------------------------------------------------------------------------------------------------- */

static rad_mutex m;
static rad_rwlock l;

RAD_TEST(rad_mutex_lock_twice)
{
    rad_mutex_lock(&m);
    if (!fixed) rad_mutex_lock(&m);
    rad_mutex_unlock(&m);
}

RAD_TEST(rad_mutex_unlock_free)
{
    if (fixed) rad_mutex_lock(&m);
    rad_mutex_unlock(&m);
}

static int leaves_a_mutex(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    if (fixed) rad_mutex_unlock(&m);
    return 0;
}

RAD_TEST(rad_mutex_unlock_left)
{
    done(spawned(leaves_a_mutex, NULL));
}

static int unlocks(void *arg)
{
    (void)arg;
    rad_mutex_unlock(&m);
    return 0;
}

RAD_TEST(rad_mutex_unlock_other)
{
    rad_mutex_lock(&m);
    if (fixed) rad_mutex_unlock(&m);
    if (!fixed) done(spawned(unlocks, NULL));
}

RAD_TEST(rad_rwlock_write_read)
{
    rad_rwlock_read(&l);
    if (fixed) rad_rwlock_unlock(&l);
    rad_rwlock_write(&l);
    rad_rwlock_unlock(&l);
}

RAD_TEST(rad_rwlock_unlock_free)
{
    if (fixed) rad_rwlock_read(&l);
    rad_rwlock_unlock(&l);
}

RAD_TEST(rad_cond_wait_without)
{
    static rad_cond c;
    if (fixed) rad_mutex_lock(&m);
    RAD_IGNORE(rad_cond_wait(&c, &m, rad_after(1)));
    if (fixed) rad_mutex_unlock(&m);
}

RAD_TEST(rad_waitgroup_done_more)
{
    static rad_waitgroup g;
    if (fixed) rad_waitgroup_add(&g, 1);
    rad_waitgroup_done(&g);
}

RAD_TEST(rad_semaphore_release_more)
{
    static rad_semaphore s = RAD_SEMAPHORE_INIT(1);
    rad_semaphore_release(&s, fixed ? 1 : RAD_SEMAPHORE_MAX);
}

RAD_TEST(rad_barrier_init_none)
{
    rad_barrier b;
    rad_barrier_init(&b, fixed ? 1 : 0);
}

static int once_within(void *once)
{
    return fixed ? 0 : rad_once_run(once, once_within, once, forever);
}

RAD_TEST(rad_once_run_within)
{
    static rad_once once;
    RAD_IGNORE(rad_once_run(&once, once_within, &once, forever));
}

static int locks_heap(void *mutex)
{
    rad_mutex_lock(mutex);
    rad_mutex_unlock(mutex);
    return 0;
}

static int selects_heap(void *group)
{
    static rad_semaphore none;
    rad_select_case cases[] = {{.kind = RAD_ON_ACQUIRE, .on.semaphore = &none},
                               {.kind = RAD_ON_GROUP, .on.group = group}};
    return rad_select(cases, 2, forever) == 1 ? 0 : 1;
}

RAD_TEST(free_selected_second)
{
    rad_waitgroup *on_heap = calloc(1, sizeof *on_heap);
    rad_waitgroup_add(on_heap, 1);
    rad_fiber f = spawned(selects_heap, on_heap);
    rad_yield();
    rad_yield();
    if (fixed) rad_waitgroup_done(on_heap);
    if (fixed) done(f);
    free(on_heap);
    if (!fixed) done(f);
}

RAD_TEST(free_waited_for)
{
    rad_mutex *on_heap = calloc(1, sizeof *on_heap);
    rad_mutex_lock(on_heap);
    rad_fiber f = spawned(locks_heap, on_heap);
    rad_yield();
    rad_yield();
    rad_mutex_unlock(on_heap);
    if (fixed) done(f);
    free(on_heap);
    if (!fixed) done(f);
}

/* ---- Descriptors, and calls of their own ------------------------------------------------------------------------- */

RAD_TEST(rad_fd_close_twice)
{
    int fds[2];
    if (pipe(fds) != 0) abort();
    RAD_IGNORE(rad_fd_close(fds[0]));
    if (!fixed) RAD_IGNORE(rad_fd_close(fds[0]));
    RAD_IGNORE(rad_fd_close(fds[1]));
}

RAD_TEST(rad_read_closed)
{
    int fds[2];
    char byte = 1;
    if (pipe(fds) != 0) abort();
    RAD_IGNORE(rad_write(fds[1], &byte, 1, forever));
    RAD_IGNORE(rad_fd_close(fds[0]));
    int again[2] = {-1, -1}; /* the same number, and another pipe */
    if (fixed && (pipe(again) != 0 || again[0] != fds[0] || write(again[1], "x", 1) != 1)) abort();
    RAD_IGNORE(rad_read(fds[0], &byte, 1, forever));
    RAD_IGNORE(rad_fd_close(fds[1]));
}

RAD_TEST(rad_spawn_null)
{
    RAD_IGNORE(rad_spawn(NULL, fixed ? yields : NULL, NULL));
}

RAD_TEST(rad_blocking_null)
{
    RAD_IGNORE(rad_blocking(fixed ? returns : NULL, NULL, NULL, forever));
}

RAD_TEST(rad_set_result_more)
{
    char bytes[RAD_RESULT_SIZE + 1] = {0};
    rad_set_result(bytes, fixed ? RAD_RESULT_SIZE : sizeof bytes);
}

RAD_TEST(rad_shield_off)
{
    if (fixed) rad_shield(true);
    rad_shield(false);
}

RAD_TEST(rad_local_get_deleted)
{
    rad_local_key key;
    if (rad_local_create(&key, NULL) != 0) abort();
    if (!fixed) rad_local_delete(key);
    RAD_IGNORE(rad_local_get(key) == NULL);
    if (fixed) rad_local_delete(key);
}

RAD_TEST(rad_main_in_a_fiber)
{
    if (!fixed) RAD_IGNORE(rad_main(NULL, yields, NULL, NULL));
}

RAD_TEST(rad_choose_none)
{
    (void)rad_choose(fixed ? 1 : 0);
}

RAD_TEST_MAIN
