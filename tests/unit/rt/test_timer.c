/* The wheel of timers beside a list that is searched from end to end: the same timers, in the same order, never early,
 * and its invariants (rt/timer.h) after every step. Races are the lab's: model l2-timer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "os/clock.h"
#include "os/thread.h"
#include "rt/valid.h"

enum { TIMERS = 400, ROUNDS = 60000 };

/* ---- The invariants ----------------------------------------------------------------------------------------- */

static uint32_t check_wheel(const rad_wheel *w)
{
    uint32_t count = 0;
    const char *wrong = rad__wheel_wrong(w);
    if (wrong != NULL) fail_msg("%s", wrong);
    for (uint32_t i = 0; i < RAD_WHEEL_LEVELS * RAD_WHEEL_SLOTS; i++) {
        const rad_timer_link *head = &w->lists[i / RAD_WHEEL_SLOTS][i % RAD_WHEEL_SLOTS];
        if (w->slots[i / RAD_WHEEL_SLOTS] >> i % RAD_WHEEL_SLOTS & 1)
            for (const rad_timer_link *at = head->next; at != head; at = at->next) count++;
    }
    if (count == 0) assert_true(rad__wheel_next(w) == UINT64_MAX);
    return count;
}

/* ---- The list ------------------------------------------------------------------------------------------------- */

typedef struct record {
    rad_wheel_timer timer;
    uint64_t key, number; /* what counts as its deadline; how many were armed before */
    uint32_t ticket;
    bool armed;
} record;

typedef struct list {
    rad_wheel wheel;
    record records[TIMERS];
    rad_prng random;
    uint64_t now, present, armed, expired;
    uint32_t live;
} list;

static record *list_first(list *l)
{
    record *first = NULL;
    for (uint32_t i = 0; i < TIMERS; i++) {
        record *r = &l->records[i];
        if (r->armed && (first == NULL || r->key < first->key || (r->key == first->key && r->number < first->number)))
            first = r;
    }
    return first;
}

static uint64_t some_deadline(list *l)
{
    uint64_t dice = rad__prng_next(&l->random), wide = rad__prng_next(&l->random);
    switch (dice % 16) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return wide;                                      /* any time at all */
    case 3: return l->now;                                    /* already there */
    case 4: return l->now - wide % 1000;                      /* has passed */
    case 5: return l->records[wide % TIMERS].key;             /* a tie */
    case 6: return l->now + (wide & 7);                       /* ties, soon */
    case 7: return (l->now | 63) + 1;                         /* where a slot begins */
    case 8: return (l->now | 0xffffff) + 1 + (wide & 1) * 64; /* where larger ones do */
    default: return l->now + (wide >> (dice / 16 % 30 + 22)); /* some scale */
    }
}

static void arm(list *l, record *r)
{
    uint64_t deadline = some_deadline(l), before = rad__wheel_next(&l->wheel);
    r->ticket = (uint32_t)rad__prng_next(&l->random);
    r->key = deadline < l->present ? l->present : deadline;
    r->number = l->armed++;
    r->armed = true;
    l->live++;
    bool first = rad__wheel_arm(&l->wheel, &r->timer, deadline, r, r->ticket);
    assert_int_equal(first, r->key < before);
}

static void disarm(list *l, record *r)
{
    assert_int_equal(rad__timer_disarm(&r->timer), r->armed);
    assert_int_equal(r->timer.armed, 0);
    l->live -= r->armed;
    r->armed = false;
}

static void look(list *l, uint64_t now, uint32_t max)
{
    rad_expired out[TIMERS];
    uint64_t before = rad__wheel_next(&l->wheel);
    if (before <= now && now > l->present) l->present = now;
    uint64_t real = before <= now ? l->present : now;
    uint32_t count = rad__wheel_expire(&l->wheel, now, out, max), calls = 1;
    while (count < max && rad__wheel_next(&l->wheel) <= real && calls++ < 50) /* a crowd takes several */
        count += rad__wheel_expire(&l->wheel, real, out + count, max - count);
    for (uint32_t i = 0; i < count; i++) {
        record *first = list_first(l);
        assert_ptr_equal(out[i].who, first);
        assert_int_equal(out[i].ticket, first->ticket);
        assert_true(first->key <= real); /* never early */
        assert_int_equal(first->timer.armed, 0);
        first->armed = false;
    }
    l->expired += count;
    l->live -= count;
    record *first = list_first(l);
    if (count < max && first) assert_true(first->key > real);
    if (count < max) assert_true(rad__wheel_next(&l->wheel) > real || real == UINT64_MAX);
}

/* How far time goes on: a little, to the next look, just before or after, far. */
static uint64_t some_time(list *l)
{
    uint64_t dice = rad__prng_next(&l->random), next = rad__wheel_next(&l->wheel);
    uint64_t step = rad__prng_next(&l->random) >> (dice / 8 % 40 + 24);
    switch (dice % 8) {
    case 0: return l->now;
    case 1: return next == UINT64_MAX || next < l->now ? l->now : next;
    case 2: return next == UINT64_MAX || next <= l->now ? l->now : next - 1;
    default: return l->now + step;
    }
}

static void play(uint64_t seed, uint64_t start, uint32_t rounds, uint32_t crowd)
{
    list *l = rad__alloc(1, sizeof *l);
    assert_non_null(l);
    l->random = rad__prng(seed, RAD_STREAM_TEST, 0);
    l->now = l->present = start;
    rad__wheel_open(&l->wheel, start);
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t dice = rad__prng_next(&l->random);
        record *r = &l->records[dice / 64 % crowd];
        switch (dice % 8) {
        case 0:
        case 1:
        case 2: /* rearming is disarming and arming */
            disarm(l, r);
            arm(l, r);
            break;
        case 3: disarm(l, r); break;
        case 4: look(l, l->now - (l->now > 50 ? 50 : 0), TIMERS); break; /* somebody is behind */
        default: l->now = some_time(l); look(l, l->now, dice / 8 % 8 == 0 ? (uint32_t)(dice / 64 % 4) : TIMERS);
        }
        assert_int_equal(check_wheel(&l->wheel), l->live);
        if (l->now > UINT64_MAX / 2) l->now = start; /* behind everybody, for a while */
    }
    look(l, UINT64_MAX, TIMERS);
    assert_int_equal(l->live, 0);
    assert_int_equal(check_wheel(&l->wheel), 0);
    assert_true(l->expired > rounds / 200);
    rad__free(l);
}

static void it_agrees_with_a_list(void **state)
{
    (void)state;
    play(1, 1000, ROUNDS, 3);
    play(2, UINT64_C(1) << 40, ROUNDS, 30);
    play(3, UINT64_C(0x123456789abcdef), ROUNDS / 4, TIMERS);
    play(4, 0, ROUNDS, 1);
}

/* ---- One thing at a time --------------------------------------------------------------------------------------- */

static rad_wheel wheel;
static rad_wheel_timer timers[6000];
static rad_expired out[6000];

static uint32_t number_of(void *who)
{
    return (uint32_t)((rad_wheel_timer *)who - timers);
}

static bool arm_at(uint32_t i, uint64_t deadline)
{
    return rad__wheel_arm(&wheel, &timers[i], deadline, &timers[i], i);
}

static void expect_order(const uint32_t *order, uint32_t count, uint64_t now)
{
    assert_int_equal(rad__wheel_expire(&wheel, now, out, 100), count);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(number_of(out[i].who), order[i]);
}

static void an_empty_wheel_has_nothing_to_look_for(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 77);
    assert_true(rad__wheel_next(&wheel) == UINT64_MAX);
    assert_int_equal(rad__wheel_expire(&wheel, UINT64_MAX, out, 10), 0);
    assert_false(rad__timer_disarm(&timers[0])); /* never armed */
    rad__wheel_open(&wheel, 77);
    assert_true(arm_at(0, 100));
    assert_true(rad__timer_disarm(&timers[0]));
    assert_false(rad__timer_disarm(&timers[0]));
    assert_true(rad__wheel_next(&wheel) == UINT64_MAX);
}

static void nobody_is_early(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 0);
    for (uint64_t deadline = 1; deadline < UINT64_MAX / 3; deadline = deadline * 3 + 1) {
        assert_true(arm_at(0, deadline));
        assert_false(arm_at(1, deadline + 1)); /* its neighbour, mostly in the same slot */
        assert_true(rad__wheel_next(&wheel) == deadline);
        expect_order(NULL, 0, deadline - 1);
        expect_order((uint32_t[]){0}, 1, deadline);
        assert_true(rad__wheel_next(&wheel) == deadline + 1);
        assert_true(rad__timer_disarm(&timers[1]));
    }
}

static void the_earliest_is_told(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 0);
    assert_true(arm_at(0, 5000));
    assert_false(arm_at(1, 5000));
    assert_false(arm_at(2, 6000));
    assert_true(arm_at(3, 4999));
    assert_true(rad__timer_disarm(&timers[3]));
    assert_true(rad__wheel_next(&wheel) <= 5000);
    expect_order(NULL, 0, 4999);                  /* a look for nothing … */
    assert_true(rad__wheel_next(&wheel) == 5000); /* … makes it exact */
    expect_order((uint32_t[]){0, 1, 2}, 3, 6000);
}

static void equal_deadlines_expire_as_they_were_armed(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 0);
    arm_at(0, 1000000);
    arm_at(1, 999999);
    arm_at(2, 1000000);
    arm_at(9, 950000);
    expect_order((uint32_t[]){9}, 1, 960000); /* the others came nearer by now */
    arm_at(3, 1000000);
    arm_at(4, 999999);
    expect_order((uint32_t[]){1, 4, 0, 2, 3}, 5, 1000000);
}

static void what_has_passed_counts_as_the_present(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 5000);
    assert_true(arm_at(0, 6000));
    expect_order((uint32_t[]){0}, 1, 7000);
    assert_true(arm_at(0, 0));
    assert_false(arm_at(1, 6999));
    assert_false(arm_at(2, 7000));
    assert_true(rad__wheel_next(&wheel) == 7000);
    expect_order((uint32_t[]){0, 1, 2}, 3, 7000);
}

static void the_end_of_time_comes_last(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 0);
    assert_false(arm_at(0, UINT64_MAX)); /* nobody has to be told */
    assert_true(arm_at(1, UINT64_MAX - 1));
    assert_true(rad__timer_disarm(&timers[1]));
    expect_order(NULL, 0, UINT64_MAX - 1);
    assert_true(rad__timer_disarm(&timers[0]));
    arm_at(0, UINT64_MAX);
    expect_order((uint32_t[]){0}, 1, UINT64_MAX);
}

static void expiring_stops_at_max(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 0);
    for (uint32_t i = 0; i < 10; i++) arm_at(i, 100 + i / 4);
    assert_int_equal(rad__wheel_expire(&wheel, 1000, out, 0), 0);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(rad__wheel_next(&wheel) <= 1000);
        assert_int_equal(rad__wheel_expire(&wheel, 1000, out, 1), 1);
        assert_int_equal(number_of(out[0].who), i);
    }
    assert_true(rad__wheel_next(&wheel) == UINT64_MAX);
}

/* Several threads may look; the one that read the clock first may come last. */
static void whoever_is_behind_does_not_turn_time_back(void **state)
{
    (void)state;
    rad__wheel_open(&wheel, 0);
    for (uint32_t i = 0; i < 3; i++) arm_at(i, 100 + 100 * i);
    assert_int_equal(rad__wheel_expire(&wheel, 300, out, 1), 1);
    expect_order((uint32_t[]){1, 2}, 2, 250);
    arm_at(0, 250);
    assert_true(rad__wheel_next(&wheel) == 300);
    expect_order((uint32_t[]){0}, 1, 300);
}

/* More in one slot than one call moves: it takes several, and those who come and go meanwhile find their places. */
static void a_crowd_is_moved_bit_by_bit(void **state)
{
    uint32_t crowd = 5000, count = 0, calls = 0, fives = 0;
    uint64_t day = UINT64_C(86400) * 1000000000, before = 0;
    (void)state;
    rad__wheel_open(&wheel, 0);
    for (uint32_t i = 0; i < crowd; i++) arm_at(i, day + i % 5);
    arm_at(5999, 1000);
    expect_order((uint32_t[]){5999}, 1, 1000);
    uint64_t next;
    while ((next = rad__wheel_next(&wheel)) < day) { /* not the moment, but nearer each time */
        assert_true(next >= before);
        assert_int_equal(rad__wheel_expire(&wheel, next, out, crowd), 0);
        if (calls == 2) {
            assert_true(wheel.floor > 0);
            arm_at(crowd, day + 4);
        }
        if (calls == 3) assert_true(rad__timer_disarm(&timers[7]));
        check_wheel(&wheel);
        before = next;
        calls++;
    }
    assert_true(calls > 5);
    for (uint32_t got; rad__wheel_next(&wheel) <= day + 10; count += got) {
        got = rad__wheel_expire(&wheel, day + 10, out + count, 6000 - count);
        check_wheel(&wheel);
    }
    assert_int_equal(count, crowd);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t a = number_of(out[i - 1].who), b = number_of(out[i].who);
        uint64_t one = timers[a].deadline_ns, other = timers[b].deadline_ns;
        assert_true(one < other || (one == other && a < b));
        fives += other == day + 4;
    }
    assert_int_equal(fives, 1001);
    assert_int_equal(number_of(out[count - 1].who), crowd); /* it came when the others were half moved */
}

/* ---- Threads: what the lab does with few steps, with many ------------------------------------------------------ */

enum { NAPS = 20000, SLEEPERS = 3 };

typedef struct napper {
    rad_os_thread thread;
    _Atomic uint32_t woken; /* tickets */
    uint32_t mistakes;
} napper;

static napper nappers[SLEEPERS];
static _Atomic uint32_t gone;

static void nap(void *argument)
{
    napper *n = argument;
    for (uint32_t i = 1; i <= NAPS; i++) {
        rad_wheel_timer t = {0};
        rad__wheel_arm(&wheel, &t, rad__os_now_ns() + (i % 7) * 1000, n, i);
        if (i % 3) /* acquire pairs with the waker's store */
            while (atomic_load_explicit(&n->woken, memory_order_acquire) != i) rad__os_give_way(false);
        if (rad__timer_disarm(&t) && i % 3) n->mistakes++;
        t = (rad_wheel_timer){.ticket = UINT32_MAX}; /* mine again */
    }
    atomic_fetch_add_explicit(&gone, 1, memory_order_relaxed);
}

static void timers_may_be_on_stacks(void **state)
{
    rad_error error = {0};
    (void)state;
    rad__wheel_open(&wheel, rad__os_now_ns());
    for (uint32_t i = 0; i < SLEEPERS; i++)
        assert_int_equal(rad__os_thread_create(&nappers[i].thread, nap, &nappers[i], 1 << 16, RAD_NONE, &error), 0);
    while (atomic_load_explicit(&gone, memory_order_relaxed) < SLEEPERS) {
        uint32_t count = rad__wheel_expire(&wheel, rad__os_now_ns(), out, 8);
        for (uint32_t i = 0; i < count; i++) {
            napper *n = out[i].who;
            /* Pairs with the load in nap. */
            atomic_store_explicit(&n->woken, out[i].ticket, memory_order_release);
        }
        if (count == 0) rad__os_give_way(false);
    }
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        rad__os_thread_join(&nappers[i].thread);
        assert_int_equal(nappers[i].mistakes, 0);
    }
    assert_true(rad__wheel_next(&wheel) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_a_list),
        cmocka_unit_test(an_empty_wheel_has_nothing_to_look_for),
        cmocka_unit_test(nobody_is_early),
        cmocka_unit_test(the_earliest_is_told),
        cmocka_unit_test(equal_deadlines_expire_as_they_were_armed),
        cmocka_unit_test(what_has_passed_counts_as_the_present),
        cmocka_unit_test(the_end_of_time_comes_last),
        cmocka_unit_test(expiring_stops_at_max),
        cmocka_unit_test(whoever_is_behind_does_not_turn_time_back),
        cmocka_unit_test(a_crowd_is_moved_bit_by_bit),
        cmocka_unit_test(timers_may_be_on_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
