/* test_queues.c — gate, deque and injector: alone against a naive model, then on threads, where every
 * task must come out exactly once. Who sleeps: what a single thread can see of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "exec/deque.h"
#include "exec/gate.h"
#include "exec/idle.h"
#include "exec/injector.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

typedef struct numbered {
    rad_task task; /* first */
    uint32_t number;
    _Atomic uint32_t seen;
    uint64_t payload; /* written before it is pushed, read by whoever gets it: the queue must publish it */
} numbered;

static numbered *numbered_new(uint32_t count)
{
    numbered *tasks = calloc(count, sizeof *tasks);
    assert_non_null(tasks);
    for (uint32_t i = 0; i < count; i++) tasks[i].number = i;
    return tasks;
}

static rad_task *prepare(numbered *n)
{
    n->payload = UINT64_C(3) * n->number + 1;
    return &n->task;
}

static void take(rad_task *task)
{
    numbered *n = (numbered *)task;
    bool whole = n->payload == UINT64_C(3) * n->number + 1;
    atomic_fetch_add_explicit(&n->seen, whole ? 1 : 100, memory_order_relaxed);
}

static void all_seen_once(const numbered *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seen = atomic_load_explicit(&tasks[i].seen, memory_order_relaxed);
        if (seen != 1) fail_msg("task %u came out %u times", i, seen);
    }
}

/* ---- Gate ------------------------------------------------------------------------------------------- */

static void the_gate_counts_and_reports_the_end_once(void **state)
{
    (void)state;
    rad_gate g = {0};
    assert_true(rad__gate_is_open(&g));
    assert_int_equal(rad__gate_enter(&g, 2), RAD_GATE_ENTERED);
    rad__gate_add(&g, 3); /* a task in flight spawns */
    assert_int_equal(rad__gate_count(&g), 5);
    assert_int_equal(rad__gate_leave(&g, 1), RAD_GATE_LEFT);
    assert_int_equal(rad__gate_close(&g), RAD_GATE_CLOSING);
    assert_int_equal(rad__gate_close(&g), RAD_GATE_WAS_CLOSED);
    assert_int_equal(rad__gate_enter(&g, 1), RAD_GATE_REFUSED);
    rad__gate_add(&g, 1); /* internal spawns never ask */
    for (int i = 0; i < 4; i++) assert_int_equal(rad__gate_leave(&g, 1), RAD_GATE_LEFT);
    assert_int_equal(rad__gate_leave(&g, 1), RAD_GATE_LAST);
    assert_int_equal(rad__gate_count(&g), 0);
    rad_gate empty = {0};
    assert_int_equal(rad__gate_close(&empty), RAD_GATE_DRAINED);
    rad_gate full = {RAD_GATE_COUNT_MAX - 1};
    assert_int_equal(rad__gate_enter(&full, 2), RAD_GATE_FULL);
    assert_int_equal(rad__gate_enter(&full, 1), RAD_GATE_ENTERED);
    assert_int_equal(rad__gate_enter(&full, 1), RAD_GATE_FULL);
}

typedef struct gate_race {
    rad_gate gate;
    pthread_barrier_t start;
    _Atomic uint32_t ends;     /* LAST or DRAINED was reported */
    _Atomic uint32_t admitted; /* and left again */
} gate_race;

static void *gate_spawner(void *context)
{
    gate_race *r = context;
    pthread_barrier_wait(&r->start);
    for (int i = 0; i < 20; i++) {
        if (rad__gate_enter(&r->gate, 1) != RAD_GATE_ENTERED) break;
        atomic_fetch_add(&r->admitted, 1);
        if (rad__gate_leave(&r->gate, 1) == RAD_GATE_LAST) atomic_fetch_add(&r->ends, 1);
    }
    return NULL;
}

static void *gate_closer(void *context)
{
    gate_race *r = context;
    pthread_barrier_wait(&r->start);
    if (rad__gate_close(&r->gate) == RAD_GATE_DRAINED) atomic_fetch_add(&r->ends, 1);
    return NULL;
}

static void spawn_against_join_has_one_end(void **state)
{
    (void)state;
    for (int round = 0; round < 500; round++) {
        gate_race r = {.ends = 0};
        pthread_t threads[3];
        pthread_barrier_init(&r.start, NULL, 3);
        pthread_create(&threads[0], NULL, gate_spawner, &r);
        pthread_create(&threads[1], NULL, gate_spawner, &r);
        pthread_create(&threads[2], NULL, gate_closer, &r);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&r.start);
        assert_int_equal(r.ends, 1);
        assert_int_equal(rad__gate_count(&r.gate), 0);
        assert_int_equal(rad__gate_enter(&r.gate, 1), RAD_GATE_REFUSED);
    }
}

/* ---- Deque ------------------------------------------------------------------------------------------ */

static uint32_t number_of(const rad_task *task)
{
    return task ? ((const numbered *)task)->number : RAD_NONE;
}

static void the_owner_gets_the_newest_a_thief_the_oldest(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    numbered *tasks = numbered_new(COUNT);
    uint32_t model[COUNT], first = 0, last = 0, next = 0;
    rad_deque d;
    rad_prng r = rad__prng(1, RAD_STREAM_TEST, 0);
    assert_true(rad__deque_open(&d));
    for (int i = 0; i < 20000; i++) {
        uint64_t what = rad__prng_below(&r, 5);
        rad_task *task = NULL;
        if (what < 3 && next < COUNT) {
            assert_true(rad__deque_push(&d, &tasks[next].task));
            model[last++] = next++;
        } else if (what == 3) {
            uint32_t expected = last > first ? model[--last] : RAD_NONE;
            assert_int_equal(number_of(rad__deque_pop(&d)), expected);
        } else {
            bool any = last > first;
            assert_int_equal(rad__deque_steal(&d, &task), any ? RAD_STEAL_GOT : RAD_STEAL_EMPTY);
            if (any) assert_int_equal(number_of(task), model[first++]);
        }
        assert_int_equal(rad__deque_count(&d), last - first);
    }
    rad__deque_close(&d);
    free(tasks);
}

static void a_deque_that_cannot_grow_refuses_and_keeps_what_it_has(void **state)
{
    (void)state;
    numbered *tasks = numbered_new(RAD_DEQUE_FIRST_SIZE + 1);
    rad_deque d;
    rad__alloc_fail_at(1);
    assert_false(rad__deque_open(&d));
    rad__alloc_fail_at(0);
    assert_true(rad__deque_open(&d));
    for (uint32_t i = 0; i < RAD_DEQUE_FIRST_SIZE; i++) assert_true(rad__deque_push(&d, &tasks[i].task));
    rad__alloc_fail_at(1);
    assert_false(rad__deque_push(&d, &tasks[RAD_DEQUE_FIRST_SIZE].task));
    rad__alloc_fail_at(0);
    assert_true(rad__deque_push(&d, &tasks[RAD_DEQUE_FIRST_SIZE].task));
    for (uint32_t i = RAD_DEQUE_FIRST_SIZE + 1; i-- > 0;) assert_int_equal(number_of(rad__deque_pop(&d)), i);
    assert_null(rad__deque_pop(&d));
    rad__deque_close(&d);
    free(tasks);
}

typedef struct theft {
    rad_deque deque;
    _Atomic bool over;
} theft;

static void *thief(void *context)
{
    theft *t = context;
    rad_task *task;
    for (;;) {
        enum rad_steal got = rad__deque_steal(&t->deque, &task);
        if (got == RAD_STEAL_GOT) take(task);
        if (got == RAD_STEAL_EMPTY && atomic_load(&t->over)) return NULL;
        if (got == RAD_STEAL_EMPTY) sched_yield();
    }
}

static void every_task_is_popped_or_stolen_once(void **state)
{
    (void)state;
    enum { COUNT = 300000, THIEVES = 3 };
    numbered *tasks = numbered_new(COUNT);
    theft t = {.over = false};
    pthread_t threads[THIEVES];
    rad_prng r = rad__prng(2, RAD_STREAM_TEST, 0);
    assert_true(rad__deque_open(&t.deque));
    for (int i = 0; i < THIEVES; i++) pthread_create(&threads[i], NULL, thief, &t);
    for (uint32_t i = 0; i < COUNT;) {
        /* Mostly near empty, where owner and thieves race; sometimes deep enough to grow. */
        uint64_t burst = 1 + rad__prng_below(&r, rad__prng_below(&r, 200) ? 3 : 2000);
        for (uint64_t b = 0; b < burst && i < COUNT; b++) assert_true(rad__deque_push(&t.deque, prepare(&tasks[i++])));
        for (uint64_t b = rad__prng_below(&r, burst + 2); b > 0; b--) {
            rad_task *task = rad__deque_pop(&t.deque);
            if (task) take(task);
        }
    }
    for (rad_task *task; (task = rad__deque_pop(&t.deque)) != NULL;) take(task);
    atomic_store(&t.over, true);
    for (int i = 0; i < THIEVES; i++) pthread_join(threads[i], NULL);
    all_seen_once(tasks, COUNT);
    rad__deque_close(&t.deque);
    free(tasks);
}

static void *eager_thief(void *context)
{
    theft *t = context;
    rad_task *task;
    while (!atomic_load_explicit(&t->over, memory_order_relaxed))
        if (rad__deque_steal(&t->deque, &task) == RAD_STEAL_GOT) take(task);
    return NULL;
}

/* One task at a time: owner and thief meet at the last one again and again. */
static void the_last_task_has_one_taker(void **state)
{
    (void)state;
    enum { COUNT = 400000 };
    numbered *tasks = numbered_new(COUNT);
    theft t = {.over = false};
    pthread_t thread;
    assert_true(rad__deque_open(&t.deque));
    pthread_create(&thread, NULL, eager_thief, &t);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(rad__deque_push(&t.deque, prepare(&tasks[i])));
        for (volatile uint32_t wait = i % 64; wait > 0; wait--) {
        }
        rad_task *task = rad__deque_pop(&t.deque);
        if (task) take(task);
    }
    atomic_store(&t.over, true);
    pthread_join(thread, NULL);
    for (rad_task *task; (task = rad__deque_pop(&t.deque)) != NULL;) take(task);
    all_seen_once(tasks, COUNT);
    rad__deque_close(&t.deque);
    free(tasks);
}

/* ---- Injector --------------------------------------------------------------------------------------- */

static void the_injector_is_first_in_first_out_also_when_it_spills(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    numbered *tasks = numbered_new(COUNT);
    rad_task *got[7];
    rad_injector q;
    rad_prng r = rad__prng(3, RAD_STREAM_TEST, 0);
    uint32_t in = 0, out = 0;
    assert_true(rad__injector_open(&q, 8));
    while (out < COUNT) {
        uint64_t pushes = rad__prng_below(&r, 30); /* far more than the ring holds */
        for (; pushes > 0 && in < COUNT; pushes--) rad__injector_push(&q, &tasks[in++].task);
        assert_int_equal(rad__injector_count(&q), in - out);
        uint32_t most = 1 + (uint32_t)rad__prng_below(&r, 7);
        uint32_t count = rad__injector_pop(&q, got, most);
        assert_int_equal(count, in - out < most ? in - out : most);
        for (uint32_t i = 0; i < count; i++) assert_int_equal(number_of(got[i]), out++);
    }
    rad__injector_close(&q);
    rad__alloc_fail_at(1);
    assert_false(rad__injector_open(&q, 8));
    rad__alloc_fail_at(0);
    free(tasks);
}

enum { PUSHERS = 3, POPPERS = 3, EACH = 60000 };

typedef struct crowd {
    rad_injector queue;
    numbered *tasks;
    _Atomic uint32_t popped;
    _Atomic uint32_t disorder;
} crowd;

typedef struct pusher {
    crowd *crowd;
    uint32_t from;
} pusher;

static void *push_some(void *context)
{
    pusher *p = context;
    for (uint32_t i = 0; i < EACH; i++) rad__injector_push(&p->crowd->queue, prepare(&p->crowd->tasks[p->from + i]));
    return NULL;
}

static void *pop_some(void *context)
{
    crowd *c = context;
    rad_task *got[16];
    while (atomic_load(&c->popped) < PUSHERS * EACH) {
        uint32_t count = rad__injector_pop(&c->queue, got, 16);
        for (uint32_t i = 0; i < count; i++) take(got[i]);
        atomic_fetch_add(&c->popped, count);
        if (count == 0) sched_yield();
    }
    return NULL;
}

static void every_task_goes_through_the_injector_once(void **state)
{
    (void)state;
    static const uint32_t rings[] = {2, 64, RAD_INJECTOR_RING};
    for (uint32_t ring = 0; ring < 3; ring++) {
        crowd c = {.tasks = numbered_new(PUSHERS * EACH)};
        pusher pushers[PUSHERS];
        pthread_t threads[PUSHERS + POPPERS];
        assert_true(rad__injector_open(&c.queue, rings[ring]));
        for (uint32_t i = 0; i < PUSHERS; i++) {
            pushers[i] = (pusher){&c, i * EACH};
            pthread_create(&threads[i], NULL, push_some, &pushers[i]);
        }
        for (uint32_t i = 0; i < POPPERS; i++) pthread_create(&threads[PUSHERS + i], NULL, pop_some, &c);
        for (uint32_t i = 0; i < PUSHERS + POPPERS; i++) pthread_join(threads[i], NULL);
        all_seen_once(c.tasks, PUSHERS * EACH);
        assert_int_equal(rad__injector_count(&c.queue), 0);
        rad__injector_close(&c.queue);
        free(c.tasks);
    }
}

/* ---- Who sleeps ------------------------------------------------------------------------------------- */

static void the_plain_order_counts_nobody(void **state)
{
    (void)state;
    rad_idle idle;
    assert_true(rad__idle_open(&idle, 2, true));
    assert_true(rad__idle_begin_search(&idle));
    assert_false(rad__idle_end_search(&idle));
    rad__idle_announce(&idle, 1, true);
    assert_int_equal(rad__idle_notify(&idle), 0); /* in turn */
    assert_int_equal(rad__idle_notify(&idle), 1);
    assert_int_equal(rad__idle_notify_self(&idle, 1, false), 1);
    assert_int_equal(atomic_load(&idle.searching), 0);
    assert_int_equal(atomic_load(&idle.bits[0]), 0);
    assert_true(rad__idle_take_wake_word(&idle, 1));
    assert_false(rad__idle_take_wake_word(&idle, 1)); /* one, however often it was given */
    rad__idle_close(&idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gate_counts_and_reports_the_end_once),
        cmocka_unit_test(spawn_against_join_has_one_end),
        cmocka_unit_test(the_owner_gets_the_newest_a_thief_the_oldest),
        cmocka_unit_test(a_deque_that_cannot_grow_refuses_and_keeps_what_it_has),
        cmocka_unit_test(every_task_is_popped_or_stolen_once),
        cmocka_unit_test(the_last_task_has_one_taker),
        cmocka_unit_test(the_injector_is_first_in_first_out_also_when_it_spills),
        cmocka_unit_test(every_task_goes_through_the_injector_once),
        cmocka_unit_test(the_plain_order_counts_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
