/* test_valid.c — the checkers of rt (rt/valid.h): what is right passes after every change, and each kind of damage is
 * called by its name. That explorations call them is shown by tests/cli/check.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/prng.h"
#include "rt/runtime.h"
#include "rt/valid.h"

#include <string.h>

enum { CLAUSES = 12, ROUNDS = 4000 };

static void says(const char *wrong, const char *what)
{
    assert_non_null(wrong);
    if (strstr(wrong, what) == NULL) fail_msg("expected '%s', found '%s'", what, wrong);
}

/* ---- Queues ------------------------------------------------------------------------------------------------ */

static rad_queue queue;
static rad_waiter waiters[CLAUSES];
static rad_clause clauses[CLAUSES];

static void queue_begin(uint32_t count)
{
    queue = (rad_queue){0};
    memset(clauses, 0, sizeof clauses);
    for (uint32_t i = 0; i < CLAUSES; i++) {
        atomic_init(&waiters[i].word, RAD_WAIT_OPEN);
        waiters[i].single = true;
        clauses[i].waiter = &waiters[i];
        clauses[i].queue = &queue;
    }
    for (uint32_t i = 0; i < count; i++) rad__queue_put(&queue, &clauses[i]);
    assert_null(rad__queue_wrong(&queue));
}

static void queues_are_right_after_each_change(void **state)
{
    (void)state;
    rad_prng prng = rad__prng(3, RAD_STREAM_RANDOM, 0);
    queue_begin(0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        rad_clause *c = &clauses[rad__prng_below(&prng, CLAUSES)];
        if (c->queued)
            rad__queue_remove(&queue, c);
        else if (rad__prng_below(&prng, 4) == 0)
            rad__queue_put_first(&queue, c);
        else
            rad__queue_put(&queue, c);
        assert_null(rad__queue_wrong(&queue));
    }
}

static void damage_of_a_queue_is_named(void **state)
{
    (void)state;
    queue_begin(3);
    clauses[2].before = &clauses[0];
    says(rad__queue_wrong(&queue), "not behind the one before it");
    queue_begin(3);
    clauses[1].queued = false;
    says(rad__queue_wrong(&queue), "does not know that");
    queue_begin(3);
    clauses[1].queue = NULL;
    says(rad__queue_wrong(&queue), "does not know that");
    queue_begin(3);
    queue.last = &clauses[1];
    says(rad__queue_wrong(&queue), "its end");
    queue_begin(3);
    atomic_store(&waiters[1].word, RAD_WAIT_NOTIFIED);
    says(rad__queue_wrong(&queue), "does not wait any more");
    waiters[1].single = false; /* it waits for another one, too, which was done: it will take this one out */
    assert_null(rad__queue_wrong(&queue));
}

/* ---- The wheel: what is right is in test_timer.c ------------------------------------------------------------- */

static rad_wheel wheel;
static rad_wheel_timer timers[3];

static void wheel_begin(void)
{
    static const uint64_t deadlines[] = {1005, 1005, 90000};
    rad__wheel_open(&wheel, 1000);
    memset(timers, 0, sizeof timers);
    for (uint32_t i = 0; i < 3; i++) rad__wheel_arm(&wheel, &timers[i], deadlines[i], NULL, 0);
    assert_null(rad__wheel_wrong(&wheel));
}

static void damage_of_a_wheel_is_named(void **state)
{
    (void)state;
    wheel_begin();
    wheel.base_ns = 2000;
    says(rad__wheel_wrong(&wheel), "W1");
    wheel_begin();
    timers[2].deadline_ns = 10;
    says(rad__wheel_wrong(&wheel), "W1");
    wheel_begin();
    wheel.levels |= 1u << 7;
    says(rad__wheel_wrong(&wheel), "W2");
    wheel_begin();
    atomic_store(&wheel.next_ns, 1006);
    says(rad__wheel_wrong(&wheel), "W3");
    wheel_begin();
    timers[2].deadline_ns = 90000 + 4096; /* another slot */
    says(rad__wheel_wrong(&wheel), "another time");
    wheel_begin();
    atomic_store(&timers[0].armed, 0);
    says(rad__wheel_wrong(&wheel), "not armed");
    wheel_begin();
    timers[1].link.prev = &timers[1].link;
    says(rad__wheel_wrong(&wheel), "not behind the one before it");
}

/* ---- Nurseries ----------------------------------------------------------------------------------------------- */

static rad__nursery above, below[2];
static rad_slot children[3];

static void family_begin(void)
{
    above = (rad__nursery){.state = &above};
    for (uint32_t i = 0; i < 2; i++)
        below[i] = (rad__nursery){.state = &below[i], .parent = &above, .elder = i > 0 ? &below[0] : NULL};
    below[0].younger = &below[1];
    above.first = &below[1];
    memset(children, 0, sizeof children);
    for (uint32_t i = 0; i < 3; i++) assert_true(rad__nursery_enter(&above, &children[i]));
    assert_null(rad__nursery_wrong(&above));
}

static void damage_of_a_nursery_is_named(void **state)
{
    (void)state;
    family_begin();
    above.state = NULL;
    says(rad__nursery_wrong(&above), "not open");
    family_begin();
    above.count = 2;
    says(rad__nursery_wrong(&above), "M1");
    family_begin();
    above.canceled = true;
    above.count = 4; /* three children, and one that cancels */
    assert_null(rad__nursery_wrong(&above));
    family_begin();
    above.canceled = true;
    above.count = 2;
    says(rad__nursery_wrong(&above), "M1");
    family_begin();
    above.closed = true; /* those in it continue */
    assert_null(rad__nursery_wrong(&above));
    family_begin();
    children[1].nursery = NULL;
    says(rad__nursery_wrong(&above), "another's");
    family_begin();
    atomic_store(&children[0].younger, &children[2]);
    says(rad__nursery_wrong(&above), "the one after it");
    family_begin();
    below[0].younger = NULL;
    says(rad__nursery_wrong(&above), "one below it");
    family_begin();
    below[1].parent = NULL;
    says(rad__nursery_wrong(&above), "listed below it");
    family_begin();
    above.unseen = &above;
    says(rad__nursery_wrong(&above), "its cursor");
}

static void nurseries_are_right_after_each_child_that_leaves(void **state)
{
    (void)state;
    family_begin();
    static const uint32_t order[] = {1, 2, 0};
    for (uint32_t i = 0; i < 3; i++) {
        rad__nursery_leave(&above, &children[order[i]], 0);
        assert_null(rad__nursery_wrong(&above));
    }
    assert_int_equal(above.count, 0);
    assert_null(above.youngest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_are_right_after_each_change),
        cmocka_unit_test(damage_of_a_queue_is_named),
        cmocka_unit_test(damage_of_a_wheel_is_named),
        cmocka_unit_test(damage_of_a_nursery_is_named),
        cmocka_unit_test(nurseries_are_right_after_each_child_that_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
