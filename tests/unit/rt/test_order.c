/* test_order.c — tasks in order, sends as fibers, pools, tickers, locals, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <stdlib.h>

#include "patience_support.h"
#include "sync_support.h"

enum { MS = 1000000 };

static void run(uint32_t workers, rad_fn fn, void *arg)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
    assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
}

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    assert_int_equal(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS), 0);
    return c;
}

/* ---- Tasks in order -------------------------------------------------------------------------------------- */

enum { TASKS = 400 };

static _Atomic int ended, out_of_order;

static int squares(void *arg)
{
    int n = (int)(intptr_t)arg, square = n * n;
    for (int i = n * 7919 % 13; i > 0; i--) rad_yield();
    if (n % 50 == 0) rad_sleep(MS / 10);
    if (atomic_fetch_add(&ended, 1) != n) out_of_order++;
    rad_set_result(&square, sizeof square);
    return n;
}

static int sends_tasks(void *arg)
{
    for (intptr_t i = 0; i < TASKS; i++) assert_int_equal(rad_chan_send_spawn(arg, squares, (void *)i, RAD_FOREVER), 0);
    rad_chan_close(arg, 0);
    return 0;
}

static int receives_in_order(void *arg)
{
    rad_chan *c = chan_of(sizeof(rad_fiber), *(size_t *)arg);
    rad_fiber_result r;
    rad_nursery n;
    int next = 0, code;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, sends_tasks, c), 0);
    while ((code = rad_chan_recv_join(c, &r, RAD_FOREVER)) == 0) {
        assert_int_equal(r.code, next);
        assert_int_equal(*(int *)(void *)r.bytes, next * next);
        next++;
    }
    assert_int_equal(code, RAD_ECLOSED);
    assert_int_equal(next, TASKS);
    assert_int_equal(rad_nursery_wait(&n), 0);
    rad_chan_destroy(c);
    return 0;
}

static void results_come_in_the_order_of_sending(void **state)
{
    (void)state;
    out_of_order = 0;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (size_t capacity = 0; capacity < 20; capacity = capacity * 4 + 4) {
            ended = 0;
            run(workers, receives_in_order, &capacity);
        }
    assert_true(out_of_order > 0); /* they did not end in that order */
}

static int takes_long(void *arg)
{
    int code = rad_sleep(2 * MS);
    if (code != 0) return 9;
    atomic_store((_Atomic int *)arg, 1);
    return 0;
}

typedef struct sender {
    rad_chan *c;
    _Atomic int begun;
} sender;

static int waits_for_ever(void *arg)
{
    atomic_store((_Atomic int *)arg, 1);
    return rad_sleep_until(RAD_FOREVER);
}

static int sends_one_too_many(void *arg)
{
    sender *s = arg;
    return rad_chan_send_spawn(s->c, waits_for_ever, &s->begun, RAD_FOREVER);
}

static int a_send_fails(void *arg)
{
    (void)arg;
    rad_chan *c = chan_of(sizeof(rad_fiber), 0), *other = chan_of(8, 1);
    _Atomic int done = 0;
    assert_int_equal(rad_chan_send_spawn(other, takes_long, &done, 0), RAD_EINPUT);
    assert_int_equal(rad_chan_recv_join(other, NULL, 0), RAD_EINPUT);
    assert_int_equal(rad_chan_send_spawn(c, takes_long, &done, rad_after(1000)), RAD_ETIMEOUT);
    assert_int_equal(done, 1); /* it was waited for */
    sender s = {.c = c};
    rad_fiber f;
    rad_fiber_result r;
    assert_int_equal(rad_spawn(&f, sends_one_too_many, &s), 0);
    while (!s.begun) rad_yield();
    rad_cancel(f); /* and with it what it has started */
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ECANCELED);
    rad_release(f);
    rad_chan_close(c, 1);
    done = 0;
    assert_int_equal(rad_chan_send_spawn(c, takes_long, &done, RAD_FOREVER), RAD_ECLOSED);
    assert_int_equal(done, 1);
    rad_chan_destroy(c);
    rad_chan_destroy(other);
    return 0;
}

static int receives_one(void *arg)
{
    rad_fiber_result r;
    int code = rad_chan_recv_join(arg, &r, RAD_FOREVER);
    return code == 0 ? r.code : 1;
}

/* Who is cancelled while it waits for a fiber that it has received passes that on, and loses nothing. */
static int a_receiver_is_cancelled(void *arg)
{
    (void)arg;
    rad_chan *c = chan_of(sizeof(rad_fiber), 1);
    _Atomic int begun = 0;
    rad_fiber f;
    rad_fiber_result r;
    assert_int_equal(rad_chan_send_spawn(c, waits_for_ever, &begun, 0), 0);
    assert_int_equal(rad_spawn(&f, receives_one, c), 0);
    while (!begun || rad_chan_count(c) > 0) rad_yield();
    rad_cancel(f);
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ECANCELED); /* what the fiber in the channel answered */
    rad_release(f);
    assert_int_equal(rad_chan_recv_join(c, NULL, 0), RAD_ETIMEOUT);
    rad_chan_destroy(c);
    return 0;
}

static void whoever_cannot_be_sent_is_joined(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        run(workers, a_send_fails, NULL);
        run(workers, a_receiver_is_cancelled, NULL);
    }
}

/* ---- Sends as fibers ------------------------------------------------------------------------------------- */

static int sends_as_fibers(void *arg)
{
    (void)arg;
    rad_chan *c = chan_of(sizeof(int), 0);
    rad_fiber f[3];
    rad_fiber_result r;
    for (int i = 0; i < 3; i++) { /* the value is copied */
        int value = i + 1;
        rad_time until = i == 1 ? rad_after(MS) : RAD_FOREVER;
        assert_int_equal(rad_send_spawn(&f[i], c, &value, until), 0);
    }
    assert_int_equal(rad_join(f[1], &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ETIMEOUT);
    rad_cancel(f[2]);
    assert_int_equal(rad_join(f[2], &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ECANCELED);
    int value;
    assert_int_equal(rad_recv(c, &value, RAD_FOREVER), 0);
    assert_int_equal(value, 1);
    assert_int_equal(rad_join(f[0], &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, 0);
    assert_int_equal(rad_recv(c, &value, 0), RAD_ETIMEOUT);
    for (int i = 0; i < 3; i++) rad_release(f[i]);
    rad_chan_close(c, 1);
    assert_int_equal(rad_send_spawn(&f[0], c, &value, RAD_FOREVER), 0);
    assert_int_equal(rad_join(f[0], &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ECLOSED);
    rad_release(f[0]);
    rad_chan_destroy(c);
    return 0;
}

static void a_send_is_a_fiber(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) run(workers, sends_as_fibers, NULL);
}

/* ---- Stock ----------------------------------------------------------------------------------------------- */

enum { CAPACITY = 3, USERS = 8, USES = 500 };

typedef struct shop {
    rad_pool *pool;
    _Atomic int created, reset, destroyed, out, failed;
    int bad_every; /* so many resets: it is of no use any more */
    int fail_every;
} shop;

typedef struct tool {
    int users;
    bool clean;
} tool;

static int tool_create(void *context, void *item)
{
    shop *s = context;
    tool *t = item;
    if (rad_self().slot) rad_yield();
    assert_int_equal(t->users, 0);
    if (s->fail_every && (s->created + s->failed) % s->fail_every == 1) {
        s->failed++;
        return 77;
    }
    s->created++;
    t->clean = true;
    return 0;
}

static int tool_reset(void *context, void *item)
{
    shop *s = context;
    if (rad_self().slot) rad_yield();
    ((tool *)item)->clean = true;
    return ++s->reset % s->bad_every == 0;
}

static void tool_destroy(void *context, void *item)
{
    ((shop *)context)->destroyed++;
    assert_true(((tool *)item)->clean);
}

static int uses_tools(void *arg)
{
    shop *s = arg;
    for (int i = 0; i < USES; i++) {
        void *item;
        int code = rad_pool_take(s->pool, &item, i % 4 == 3 ? rad_after(2000) : RAD_FOREVER);
        if (code != 0) {
            assert_true(code == 77 || code == RAD_ETIMEOUT);
            assert_null(item);
            continue;
        }
        tool *t = item;
        assert_in_range(++s->out, 1, CAPACITY);
        assert_int_equal(t->users++, 0);
        assert_true(t->clean);
        t->clean = false;
        if (rad_self().slot && i % 3 == 0) rad_yield();
        t->users--;
        s->out--;
        rad_pool_give(s->pool, t);
    }
    return 0;
}

static void *uses_tools_thread(void *arg)
{
    uses_tools(arg);
    return NULL;
}

static int use_tools(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < USERS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, uses_tools, arg), 0);
    return rad_nursery_wait(&n);
}

static void a_pool_makes_resets_and_destroys(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (int how = 0; how < 3; how++) {
            shop s = {.bad_every = how == 0 ? INT32_MAX : 7, .fail_every = how == 2 ? 3 : 0};
            rad_pool_calls calls = {tool_create, tool_reset, tool_destroy, &s};
            pthread_t t;
            assert_int_equal(rad_pool_create(&s.pool, sizeof(tool), CAPACITY, &calls), 0);
            assert_int_equal(pthread_create(&t, NULL, uses_tools_thread, &s), 0);
            run(workers, use_tools, &s);
            pthread_join(t, NULL);
            assert_int_equal(s.destroyed, how == 0 ? 0 : s.reset / 7);
            if (how == 0) assert_in_range(s.created, 1, CAPACITY);
            rad_pool_destroy(s.pool);
            assert_int_equal(s.destroyed, s.created);
        }
}

static void a_pool_without_calls(void **state)
{
    (void)state;
    rad_pool *s;
    void *a, *b, *c;
    assert_int_equal(rad_pool_create(&s, 8, 0, NULL), RAD_EINPUT);
    assert_null(s);
    assert_int_equal(rad_pool_create(&s, 8, 2, NULL), 0);
    assert_int_equal(rad_pool_take(s, &a, 0), 0);
    assert_int_equal(rad_pool_take(s, &b, RAD_FOREVER), 0);
    assert_int_equal((uintptr_t)a % 16, 0);
    assert_int_equal(rad_pool_take(s, &c, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_pool_take(s, &c, rad_after(MS)), RAD_ETIMEOUT);
    rad_pool_give(s, a);
    rad_pool_give(s, b);
    assert_int_equal(rad_pool_take(s, &c, 0), 0);
    assert_ptr_equal(c, b); /* the last one first */
    rad_pool_give(s, c);
    rad_pool_destroy(s);
    rad_pool_destroy(NULL);
}

/* ---- Tickers --------------------------------------------------------------------------------------------- */

static int ticks(void *arg)
{
    (void)arg;
    rad_ticker t;
    uint64_t tick, last = 0;
    rad_ticker_start(&t, (uint64_t)3600000 * MS); /* not due, however slow the machine is */
    assert_int_equal(rad_ticker_wait(&t, &tick, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_ticker_wait(&t, &tick, t.start + MS), RAD_ETIMEOUT);
    rad_ticker_start(&t, 2 * MS);
    for (int i = 0; i < 5; i++) {
        rad_time due = t.start + (last + 1) * t.period;
        assert_int_equal(rad_ticker_wait(&t, &tick, RAD_FOREVER), 0);
        assert_true(rad_now() >= due);
        assert_true(tick > last);
        last = tick;
        assert_int_equal(t.missed + (uint64_t)i + 1, tick);
    }
    uint64_t missed = t.missed;
    rad_sleep_until(t.start + (last + 1) * t.period +
                    7 * MS); /* three more are due, or even more: only the last is received */
    assert_int_equal(rad_ticker_wait(&t, &tick, 0), 0);
    assert_true(tick >= last + 4);
    assert_int_equal(t.missed - missed, tick - last - 1);
    assert_int_equal(t.last, tick);
    rad_ticker_start(&t, UINT64_MAX / 2);
    assert_int_equal(rad_ticker_wait(&t, NULL, 0), RAD_ETIMEOUT);
    t.last = 1; /* the next tick would be after the end of time */
    assert_int_equal(rad_ticker_wait(&t, NULL, 0), RAD_ETIMEOUT);
    if (rad_self().slot == NULL) return 0;
    rad_ticker_start(&t, 1);
    rad_cancel(rad_self());
    return rad_ticker_wait(&t, NULL, RAD_FOREVER) == RAD_ECANCELED ? 0 : 1;
}

static void a_ticker_counts_what_was_missed(void **state)
{
    (void)state;
    run(1, ticks, NULL);
    run(2, ticks, NULL);
    assert_int_equal(ticks(NULL), 0); /* a thread */
}

/* ---- Locals ---------------------------------------------------------------------------------------------- */

static rad_local_key first_key, second_key;
static _Atomic int freed, freed_again;

static void frees(void *value)
{
    freed++;
    assert_null(rad_local_get(first_key)); /* it is taken before it is destroyed */
    if (*(int *)value % 2)
        assert_int_equal(rad_local_set(second_key, value), 0);
    else
        free(value);
}

static void frees_again(void *value)
{
    freed_again++;
    rad_yield(); /* it is still a fiber */
    free(value);
}

static int has_its_own(void *arg)
{
    int me = (int)(intptr_t)arg;
    assert_null(rad_local_get(first_key));
    int *mine = malloc(sizeof *mine);
    *mine = me;
    assert_int_equal(rad_local_set(first_key, mine), 0);
    for (int i = 0; i < 20; i++) {
        if (i % 7 == 6)
            rad_sleep(1000);
        else
            rad_yield();
        assert_ptr_equal(rad_local_get(first_key), mine);
        assert_int_equal(*(int *)rad_local_get(first_key), me);
        assert_null(rad_local_get(second_key));
    }
    return 0;
}

static int all_have_their_own(void *arg)
{
    (void)arg;
    for (int round = 0; round < 3; round++) { /* the second time in slots that were used */
        rad_nursery n;
        rad_nursery_open(&n, RAD_FOREVER);
        for (intptr_t i = 0; i < 200; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, has_its_own, (void *)i), 0);
        assert_int_equal(rad_nursery_wait(&n), 0);
        assert_int_equal(freed, (round + 1) * 200);
        assert_int_equal(freed_again, (round + 1) * 100);
    }
    return 0;
}

static int forgets(void *arg)
{
    rad_local_key key;
    assert_int_equal(rad_local_create(&key, frees), 0);
    assert_int_equal(rad_local_set(key, arg), 0);
    rad_local_delete(key);
    rad_local_key other;
    assert_int_equal(rad_local_create(&other, frees), 0);
    assert_true(other != key);
    assert_null(rad_local_get(other)); /* the same place, another key */
    rad_local_delete(other);
    return 0;
}

static void every_fiber_has_its_own(void **state)
{
    (void)state;
    assert_int_equal(rad_local_create(&second_key, frees_again), 0);
    assert_int_equal(rad_local_create(&first_key, frees), 0);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        freed = freed_again = 0;
        run(workers, all_have_their_own, NULL);
    }
    freed = 0;
    int value = 2;
    run(1, forgets, &value);
    assert_int_equal(freed, 0);
    rad_local_delete(first_key);
    rad_local_delete(second_key);
    rad_local_key keys[RAD_LOCALS_MAX], one_more;
    for (int i = 0; i < RAD_LOCALS_MAX; i++) assert_int_equal(rad_local_create(&keys[i], NULL), 0);
    assert_int_equal(rad_local_create(&one_more, NULL), RAD_ELIMIT);
    for (int i = 0; i < RAD_LOCALS_MAX; i++) rad_local_delete(keys[i]);
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

static int is_called(void *arg)
{
    rad_name("reader");
    while (!*(_Atomic int *)arg) rad_yield();
    return 0;
}

static int calls_it(void *arg)
{
    (void)arg;
    _Atomic int end = 0;
    rad_fiber f;
    assert_null(rad_name_of(rad_self()));
    assert_int_equal(rad_spawn(&f, is_called, &end), 0);
    while (rad_name_of(f) == NULL) rad_yield();
    assert_string_equal(rad_name_of(f), "reader");
    end = 1;
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    return 0;
}

static void fibers_have_names(void **state)
{
    (void)state;
    run(1, calls_it, NULL);
    run(2, calls_it, NULL);
}

/* ---- Mistakes -------------------------------------------------------------------------------------------- */

static void gives_twice(void)
{
    rad_pool *s;
    void *a;
    if (rad_pool_create(&s, 8, 1, NULL) != 0 || rad_pool_take(s, &a, 0) != 0) return;
    rad_pool_give(s, a);
    rad_pool_give(s, a);
}

static void destroys_too_early(void)
{
    rad_pool *s;
    void *a;
    if (rad_pool_create(&s, 8, 1, NULL) != 0 || rad_pool_take(s, &a, 0) != 0) return;
    rad_pool_destroy(s);
}

static void has_no_locals(void)
{
    rad_local_get(0);
}

static void deletes_nothing(void)
{
    rad_local_delete(12345);
}

static void ticks_at_once(void)
{
    rad_ticker t;
    rad_ticker_start(&t, 0);
}

static void mistakes_stop_the_process(void **state)
{
    (void)state;
    expect_misuse(gives_twice, "rad_pool_give: it was given back before");
    expect_misuse(destroys_too_early, "rad_pool_destroy: not everything was given back");
    expect_misuse(has_no_locals, "rad_local_get: the caller is not a fiber");
    expect_misuse(deletes_nothing, "rad_local_delete: there is no such key");
    expect_misuse(ticks_at_once, "rad_ticker_start: a period of 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_the_order_of_sending),
        cmocka_unit_test(whoever_cannot_be_sent_is_joined),
        cmocka_unit_test(a_send_is_a_fiber),
        cmocka_unit_test(a_pool_makes_resets_and_destroys),
        cmocka_unit_test(a_pool_without_calls),
        cmocka_unit_test(a_ticker_counts_what_was_missed),
        cmocka_unit_test(every_fiber_has_its_own),
        cmocka_unit_test(fibers_have_names),
        cmocka_unit_test(mistakes_stop_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
