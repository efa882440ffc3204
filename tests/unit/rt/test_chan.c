/* test_chan.c — channels and select, between fibers and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>

#include "patience_support.h"

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    assert_int_equal(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS), 0);
    return c;
}

/* ---- Pipeline ------------------------------------------------------------------------------------------- */

enum { ITEMS = 20000 };

typedef struct stage {
    rad_chan *in, *out;
} stage;

static int produce(void *arg)
{
    rad_chan *out = arg;
    for (int i = 1; i <= ITEMS; i++) assert_int_equal(rad_send(out, &i, RAD_FOREVER), 0);
    rad_chan_close(out, 5);
    return 0;
}

static int pass_on(void *arg)
{
    stage *s = arg;
    int value, code;
    while ((code = rad_recv(s->in, &value, RAD_FOREVER)) == 0)
        assert_int_equal(rad_send(s->out, &value, RAD_FOREVER), 0);
    assert_int_equal(code, RAD_ECLOSED);
    assert_int_equal(rad_chan_code(s->in), 5);
    rad_chan_close(s->out, 5);
    return 0;
}

static int pipeline(void *arg)
{
    size_t capacity = *(size_t *)arg;
    rad_chan *c[4];
    stage s[3];
    rad_nursery n;
    for (int i = 0; i < 4; i++) c[i] = chan_of(sizeof(int), capacity);
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, produce, c[0]), 0);
    for (int i = 0; i < 3; i++) {
        s[i] = (stage){c[i], c[i + 1]};
        assert_int_equal(rad_nursery_spawn(&n, NULL, pass_on, &s[i]), 0);
    }
    int value, next = 1;
    while (rad_recv(c[3], &value, RAD_FOREVER) == 0) assert_int_equal(value, next++);
    assert_int_equal(next, ITEMS + 1);
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (int i = 0; i < 4; i++) rad_chan_destroy(c[i]);
    return 0;
}

static void a_pipeline_loses_nothing(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (size_t capacity = 0; capacity < 200; capacity = capacity * 12 + 1) {
            rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
            assert_int_equal(rad_main(&o, pipeline, &capacity, NULL), 0);
        }
}

/* ---- Select --------------------------------------------------------------------------------------------- */

enum { CASES = 4, EACH = 5000 };

static int send_each(void *arg)
{
    rad_chan *c = arg;
    for (int i = 0; i < EACH; i++) assert_int_equal(rad_send(c, &i, RAD_FOREVER), 0);
    return 0;
}

static int select_all(void *arg)
{
    size_t capacity = *(size_t *)arg;
    rad_chan *c[CASES];
    rad_select_case cases[CASES];
    int values[CASES], seen[CASES] = {0};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CASES; i++) {
        c[i] = chan_of(sizeof(int), capacity);
        cases[i] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = c[i], .value = &values[i]};
        assert_int_equal(rad_nursery_spawn(&n, NULL, send_each, c[i]), 0);
    }
    for (int i = 0; i < CASES * EACH; i++) {
        int which = rad_select(cases, CASES, RAD_FOREVER);
        assert_in_range(which, 0, CASES - 1);
        assert_int_equal(cases[which].code, 0);
        assert_int_equal(values[which], seen[which]++);
    }
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(rad_select(cases, CASES, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(cases, CASES, rad_after(100000)), RAD_ETIMEOUT);
    for (int i = 0; i < CASES; i++) rad_chan_destroy(c[i]);
    return 0;
}

static void a_select_gets_everything_once(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (size_t capacity = 0; capacity < 3; capacity++) {
            rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
            assert_int_equal(rad_main(&o, select_all, &capacity, NULL), 0);
        }
}

/* ---- Threads -------------------------------------------------------------------------------------------- */

static void *thread_sends(void *arg)
{
    produce(arg);
    return NULL;
}

static int receives_from_a_thread(void *arg)
{
    rad_chan *c = arg;
    int value, next = 1;
    while (rad_recv(c, &value, RAD_FOREVER) == 0) assert_int_equal(value, next++);
    assert_int_equal(next, ITEMS + 1);
    return 0;
}

static void threads_and_fibers_meet(void **state)
{
    (void)state;
    for (size_t capacity = 0; capacity < 20; capacity += 7) {
        rad_chan *c = chan_of(sizeof(int), capacity);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, thread_sends, c), 0);
        assert_int_equal(rad_main(NULL, receives_from_a_thread, c, NULL), 0);
        pthread_join(thread, NULL);
        rad_chan_destroy(c);
    }
}

/* ---- Without waiting ------------------------------------------------------------------------------------ */

static void modes_and_answers(void **state)
{
    (void)state;
    rad_chan *c;
    int v;
    assert_int_equal(rad_chan_create(&c, 4, 0, RAD_CHAN_DROPS_NEW), RAD_EINPUT);
    assert_int_equal(rad_chan_create(&c, 4, 2, RAD_CHAN_DROPS_OLD), 0);
    for (int i = 1; i <= 3; i++) assert_int_equal(rad_send(c, &i, 0), i == 3);
    assert_int_equal(rad_recv(c, &v, 0), 0);
    assert_int_equal(v, 2);
    rad_chan_destroy(c);
    assert_int_equal(rad_chan_create(&c, 4, 2, RAD_CHAN_DROPS_NEW), 0);
    for (int i = 1; i <= 3; i++) assert_int_equal(rad_send(c, &i, 0), i == 3);
    assert_int_equal(rad_chan_count(c), 2);
    assert_true(rad_chan_close(c, 9));
    assert_false(rad_chan_close(c, 10));
    assert_int_equal(rad_send(c, &v, 0), RAD_ECLOSED);
    int two[5];
    assert_int_equal(rad_recv_many(c, two, 5, 0), 2); /* what was taken is received first */
    assert_int_equal(two[0], 1);
    assert_int_equal(two[1], 2);
    assert_int_equal(rad_recv(c, &v, RAD_FOREVER), RAD_ECLOSED);
    assert_int_equal(rad_chan_code(c), 9);
    rad_chan_destroy(c);
    c = chan_of(4, 3);
    int five[5] = {1, 2, 3, 4, 5};
    assert_int_equal(rad_send_many(c, five, 5, RAD_FOREVER), 3);
    assert_int_equal(rad_send(c, five, rad_after(1000)), RAD_ETIMEOUT);
    assert_int_equal(rad_recv_many(c, two, 2, RAD_FOREVER), 2);
    rad_chan_destroy(c);
}

static void signals_have_no_content(void **state)
{
    (void)state;
    rad_chan *c = chan_of(0, 2);
    for (int i = 0; i < 3; i++) assert_int_equal(rad_send(c, NULL, 0), i < 2 ? 0 : RAD_ETIMEOUT);
    assert_int_equal(rad_recv(c, NULL, 0), 0);
    assert_int_equal(rad_recv_many(c, NULL, 5, 0), 1);
    assert_int_equal(rad_recv(c, NULL, 0), RAD_ETIMEOUT);
    rad_chan_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_loses_nothing), cmocka_unit_test(a_select_gets_everything_once),
        cmocka_unit_test(threads_and_fibers_meet),  cmocka_unit_test(modes_and_answers),
        cmocka_unit_test(signals_have_no_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
