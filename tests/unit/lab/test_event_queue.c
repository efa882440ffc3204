/* test_event_queue.c — future events in logical time: order, ties, limit, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "lab/machines/executor/event_queue.h"

#include <string.h>

static void equal_times_come_out_in_the_order_they_went_in(void **state)
{
    (void)state;
    rad_event_queue q;
    rad_queued e;
    rad__event_queue_open(&q, 1000);
    for (uint64_t i = 0; i < 300; i++) assert_int_equal(rad__event_queue_push(&q, 10 + i % 3, i), RAD_QUEUE_OK);
    uint64_t time = 0, sequence = 0;
    for (uint32_t i = 0; i < 300; i++) {
        assert_true(rad__event_queue_pop(&q, &e));
        assert_true(e.time > time || (e.time == time && e.sequence > sequence));
        assert_int_equal(e.payload % 3, e.time - 10);
        assert_int_equal(e.payload, e.sequence);
        assert_int_equal(q.now, e.time);
        time = e.time;
        sequence = e.sequence;
    }
    assert_false(rad__event_queue_pop(&q, &e));
    assert_int_equal(q.now, 12); /* an empty queue does not move the time */
    rad__event_queue_close(&q);
}

/* Model: a plain array of what is queued. */
enum { MODEL_MAX = 64 };

typedef struct model {
    rad_queued items[MODEL_MAX];
    uint32_t count;
} model;

static uint32_t model_least(const model *m)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < m->count; i++) {
        const rad_queued *a = &m->items[i], *b = &m->items[best];
        if (a->time < b->time || (a->time == b->time && a->sequence < b->sequence)) best = i;
    }
    return best;
}

static void model_drop(model *m, uint32_t i)
{
    m->items[i] = m->items[--m->count];
}

static void model_push(model *m, rad_event_queue *q, rad_prng *r, uint64_t sequence)
{
    uint64_t time = q->now + rad__prng_below(r, 6);
    enum rad_queue_result result = rad__event_queue_push(q, time, sequence * 3);
    if (m->count == MODEL_MAX) {
        assert_int_equal(result, RAD_QUEUE_FULL);
        return;
    }
    assert_int_equal(result, RAD_QUEUE_OK);
    m->items[m->count++] = (rad_queued){time, sequence, sequence * 3};
}

static void model_pop(model *m, rad_event_queue *q)
{
    rad_queued e, peeked;
    assert_int_equal(rad__event_queue_peek(q, &peeked), m->count > 0);
    assert_int_equal(rad__event_queue_pop(q, &e), m->count > 0);
    if (m->count == 0) return;
    assert_memory_equal(&e, &peeked, sizeof e);
    uint32_t least = model_least(m);
    assert_memory_equal(&e, &m->items[least], sizeof e);
    model_drop(m, least);
}

static void queue_agrees_with_a_naive_one(void **state)
{
    (void)state;
    rad_event_queue q;
    static model m;
    rad_prng r = rad__prng(9, RAD_STREAM_TEST, 0);
    rad__event_queue_open(&q, MODEL_MAX);
    for (uint64_t op = 0; op < 20000; op++) {
        uint64_t what = rad__prng_below(&r, 9), now = q.now;
        if (what < 5)
            model_push(&m, &q, &r, q.sequence);
        else
            model_pop(&m, &q);
        assert_true(q.now >= now);
        assert_int_equal(rad__event_queue_count(&q), m.count);
        assert_true(rad__heap_valid(&q.heap));
    }
    rad__event_queue_close(&q);
}

static void the_past_and_a_full_queue_are_refused(void **state)
{
    (void)state;
    rad_event_queue q;
    rad_queued e;
    rad__event_queue_open(&q, 2);
    assert_false(rad__event_queue_peek(&q, &e));
    assert_int_equal(rad__event_queue_push(&q, 5, 1), RAD_QUEUE_OK);
    assert_true(rad__event_queue_pop(&q, &e));
    assert_int_equal(rad__event_queue_push(&q, 4, 1), RAD_QUEUE_PAST);
    assert_int_equal(rad__event_queue_push(&q, 5, 1), RAD_QUEUE_OK); /* now is not past */
    assert_int_equal(rad__event_queue_push(&q, 6, 2), RAD_QUEUE_OK);
    assert_int_equal(rad__event_queue_push(&q, 7, 3), RAD_QUEUE_FULL);
    assert_true(rad__event_queue_pop(&q, &e));
    assert_int_equal(rad__event_queue_push(&q, UINT64_MAX, 3), RAD_QUEUE_OK);
    rad__event_queue_close(&q);
    assert_int_equal(rad__event_queue_count(&q), 0);
}

static void a_failed_allocation_loses_nothing(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        rad_event_queue q;
        rad_queued e;
        uint32_t pushed = 0, popped = 0;
        rad__event_queue_open(&q, 100);
        rad__alloc_fail_at(n);
        while (pushed < 30 && rad__event_queue_push(&q, 30 - pushed, 0) == RAD_QUEUE_OK) pushed++;
        if (pushed < 30) assert_int_equal(rad__event_queue_push(&q, 1, 0), RAD_QUEUE_NOMEM);
        rad__alloc_fail_at(0);
        assert_int_equal(rad__event_queue_push(&q, 100, 5), RAD_QUEUE_OK);
        uint64_t last = 0;
        for (; rad__event_queue_pop(&q, &e); popped++) {
            assert_true(e.time >= last);
            last = e.time;
        }
        assert_int_equal(popped, pushed + 1);
        assert_int_equal(last, 100);
        rad__event_queue_close(&q);
        if (pushed == 30) {
            assert_true(n > 3);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_times_come_out_in_the_order_they_went_in),
        cmocka_unit_test(queue_agrees_with_a_naive_one),
        cmocka_unit_test(the_past_and_a_full_queue_are_refused),
        cmocka_unit_test(a_failed_allocation_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
