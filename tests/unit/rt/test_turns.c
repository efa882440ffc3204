/* test_turns.c — whose turn it is on one worker: counted in turns, through public headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "storm_support.h"

#if defined(__SANITIZE_THREAD__)
enum { IS_SLOW = 1, CROWD = 300, SLEEPERS = 100 }; /* a new fiber takes it a millisecond */
#else
enum { IS_SLOW = 0, CROWD = 2000, SLEEPERS = 300 };
#endif
enum { US = 1000, MS = 1000000 };

static void run(rad_fn fn, void *arg)
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
}

static bool in_range(uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least || value > most)
        print_message("%llu, not %llu to %llu\n", (unsigned long long)value, (unsigned long long)least,
                      (unsigned long long)most);
    return value >= least && value <= most;
}

/* ---- Those who talk, and a crowd ------------------------------------------------------------------------- */

/* Two fibers that wake each other all the time, in one of several ways. */
typedef struct talk {
    rad_chan *there, *back;
    rad_mutex lock;
    rad_cond changed;
    bool ball; /* whose turn it is, with lock and condition */
    bool ends;
    uint64_t turns;
} talk;

typedef struct scene {
    talk talks[4];
    int talk_count;
    bool by_condition;
    rad_chan *gate;
    rad_mutex lock;
    rad_cond opened;
    bool is_open;
    int came, ran;
    uint64_t turns_before, turns;
} scene;

static rad_chan *chan_of(size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, sizeof(int), capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

static int asks(void *arg)
{
    talk *t = arg;
    int ball = 0;
    while (!t->ends) {
        if (rad_send(t->there, &ball, RAD_FOREVER) != 0) break;
        if (rad_recv(t->back, &ball, RAD_FOREVER) != 0) break;
        t->turns += 2;
    }
    rad_chan_close(t->there, 0);
    return 0;
}

static int answers(void *arg)
{
    talk *t = arg;
    int ball;
    while (rad_recv(t->there, &ball, RAD_FOREVER) == 0)
        if (rad_send(t->back, &ball, RAD_FOREVER) != 0) break;
    return 0;
}

static void passes_the_ball(talk *t, bool mine)
{
    rad_mutex_lock(&t->lock);
    while (!t->ends) {
        if (t->ball == mine) {
            t->ball = !mine;
            t->turns++;
            rad_cond_signal(&t->changed);
        }
        CHECK(rad_cond_wait(&t->changed, &t->lock, RAD_FOREVER) == 0);
    }
    rad_cond_broadcast(&t->changed);
    rad_mutex_unlock(&t->lock);
}

static int passes_it_there(void *arg)
{
    passes_the_ball(arg, false);
    return 0;
}

static int passes_it_back(void *arg)
{
    passes_the_ball(arg, true);
    return 0;
}

static uint64_t turns_of(const scene *s)
{
    uint64_t turns = 0;
    for (int i = 0; i < s->talk_count; i++) turns += s->talks[i].turns;
    return turns;
}

static void begin_talks(scene *s, rad_nursery *n)
{
    for (int i = 0; i < s->talk_count; i++) {
        talk *t = &s->talks[i];
        t->there = chan_of(0);
        t->back = chan_of(0);
        rad_fn one = s->by_condition ? passes_it_there : asks;
        rad_fn other = s->by_condition ? passes_it_back : answers;
        CHECK(rad_nursery_spawn(n, NULL, one, t) == 0);
        CHECK(rad_nursery_spawn(n, NULL, other, t) == 0);
    }
    for (int i = 0; i < s->talk_count; i++)
        while (s->talks[i].turns < 100) rad_yield();
}

static int one_of_the_crowd_ran(scene *s)
{
    if (++s->ran < CROWD) return 0;
    s->turns = turns_of(s) - s->turns_before;
    for (int i = 0; i < s->talk_count; i++) s->talks[i].ends = true;
    return 0;
}

static int waits_at_the_gate(void *arg)
{
    scene *s = arg;
    int nothing;
    s->came++;
    CHECK(rad_recv(s->gate, &nothing, RAD_FOREVER) == RAD_ECLOSED);
    return one_of_the_crowd_ran(s);
}

static int waits_for_the_condition(void *arg)
{
    scene *s = arg;
    rad_mutex_lock(&s->lock);
    s->came++;
    while (!s->is_open) CHECK(rad_cond_wait(&s->opened, &s->lock, RAD_FOREVER) == 0);
    rad_mutex_unlock(&s->lock);
    return one_of_the_crowd_ran(s);
}

static int is_spawned(void *arg)
{
    return one_of_the_crowd_ran(arg);
}

static int yields_once(void *arg)
{
    rad_yield();
    return one_of_the_crowd_ran(arg);
}

static int sleeps_a_little(void *arg)
{
    rad_sleep(100 * US);
    return one_of_the_crowd_ran(arg);
}

static void open_the_gate(scene *s)
{
    s->turns_before = turns_of(s);
    rad_chan_close(s->gate, 0);
    rad_mutex_lock(&s->lock);
    s->is_open = true;
    rad_cond_broadcast(&s->opened);
    rad_mutex_unlock(&s->lock);
}

/* How many turns those who talk have until all of the crowd have run; the crowd waits first, if `waits`. */
static uint64_t turns_until_all_ran(scene *s, rad_fn crowd, bool waits)
{
    rad_nursery n;
    s->gate = chan_of(0);
    rad_nursery_open(&n, RAD_FOREVER);
    if (!waits) begin_talks(s, &n);
    s->turns_before = turns_of(s);
    for (int i = 0; i < CROWD; i++) CHECK(rad_nursery_spawn(&n, NULL, crowd, s) == 0);
    if (waits) {
        while (s->came < CROWD) rad_yield();
        begin_talks(s, &n);
        open_the_gate(s);
    }
    CHECK(rad_nursery_wait(&n) == 0);
    CHECK(s->ran == CROWD);
    for (int i = 0; i < s->talk_count; i++) {
        rad_chan_destroy(s->talks[i].there);
        rad_chan_destroy(s->talks[i].back);
    }
    rad_chan_destroy(s->gate);
    return s->turns;
}

/* Three turns of the newest for one of the oldest, and some for those who yield. */
enum { TURNS_MOST = 4 * CROWD };

static int beside_one_pair(void *arg)
{
    scene s = {.talk_count = 1};
    (void)arg;
    CHECK(in_range(turns_until_all_ran(&s, waits_at_the_gate, true), 1, TURNS_MOST));
    return 0;
}

static void a_pair_that_talks_does_not_hold_up_woken_fibers(void **state)
{
    (void)state;
    run(beside_one_pair, NULL);
}

static int beside_a_pair_with_a_condition(void *arg)
{
    scene s = {.talk_count = 1, .by_condition = true};
    (void)arg;
    CHECK(in_range(turns_until_all_ran(&s, waits_for_the_condition, true), 1, TURNS_MOST));
    return 0;
}

static void a_pair_with_a_condition_does_not_hold_up_woken_fibers(void **state)
{
    (void)state;
    run(beside_a_pair_with_a_condition, NULL);
}

static int beside_four_pairs(void *arg)
{
    scene s = {.talk_count = 4};
    (void)arg;
    CHECK(in_range(turns_until_all_ran(&s, waits_at_the_gate, true), 1, TURNS_MOST));
    return 0;
}

static void several_pairs_do_not_hold_up_woken_fibers(void **state)
{
    (void)state;
    run(beside_four_pairs, NULL);
}

static int crowds_of_other_kinds(void *arg)
{
    rad_fn crowds[] = {is_spawned, yields_once};
    (void)arg;
    for (int i = 0; i < 2; i++) {
        scene s = {.talk_count = 1};
        CHECK(in_range(turns_until_all_ran(&s, crowds[i], false), 1, 40 * CROWD));
    }
    return 0;
}

static void a_pair_that_talks_does_not_shut_out_spawned_and_yielding_fibers(void **state)
{
    (void)state;
    run(crowds_of_other_kinds, NULL);
}

static int sleepers_beside_a_pair(void *arg)
{
    scene s = {.talk_count = 1};
    (void)arg;
    turns_until_all_ran(&s, sleeps_a_little, false);
    return 0;
}

static void sleepers_beside_a_pair_all_wake(void **state)
{
    (void)state;
    run(sleepers_beside_a_pair, NULL);
}

/* ---- First in, first out ---------------------------------------------------------------------------------- */

enum { QUEUE = 50 };

typedef struct line {
    rad_chan *gate;
    int waiting, ran;
    int order[QUEUE];
} line;

static int stands_in_line(void *arg)
{
    line *l = arg;
    int me = l->waiting++, nothing;
    CHECK(rad_recv(l->gate, &nothing, RAD_FOREVER) == RAD_ECLOSED);
    l->order[l->ran++] = me;
    return 0;
}

static int wakes_a_line(void *arg)
{
    line l = {.gate = chan_of(0)};
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < QUEUE; i++) CHECK(rad_nursery_spawn(&n, NULL, stands_in_line, &l) == 0);
    while (l.waiting < QUEUE) rad_yield();
    rad_chan_close(l.gate, 0);
    CHECK(rad_nursery_wait(&n) == 0);
    CHECK(l.ran == QUEUE);
    assert_int_equal(l.order[0], QUEUE - 1); /* the newest; then the others as they came */
    for (int i = 1; i < QUEUE; i++) assert_int_equal(l.order[i], i - 1);
    rad_chan_destroy(l.gate);
    return 0;
}

static void woken_fibers_run_first_in_first_out_after_the_newest(void **state)
{
    (void)state;
    run(wakes_a_line, NULL);
}

/* ---- Timers ------------------------------------------------------------------------------------------------ */

enum { TRIES = 1000 };

typedef struct dormitory {
    rad_time begin, first; /* when the first one woke: then all are in the queue */
    int armed, woken, wrong, early;
    rad_time last_at;
    int last_armed;
} dormitory;

/* Some deadlines are equal; they are armed in no order. */
static rad_time deadline_of(const dormitory *d, int i)
{
    return d->begin + (rad_time)(i * 7919 % 97) * US;
}

static int sleeps_until_its_time(void *arg)
{
    dormitory *d = arg;
    int armed = d->armed++;
    rad_time at = deadline_of(d, armed);
    CHECK(rad_sleep_until(at) == 0);
    if (d->woken == 0) d->first = rad_now();
    d->early += rad_now() < at;
    d->wrong += at < d->last_at || (at == d->last_at && armed < d->last_armed);
    d->last_at = at;
    d->last_armed = armed;
    d->woken++;
    return 0;
}

/* All of them are due when the worker next looks. False: it took longer than `ns` to arm them, or came back so late
 * that others had begun to help. */
static bool wakes_a_dormitory(uint64_t ns)
{
    dormitory d = {.begin = rad_after(ns)};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < SLEEPERS; i++) CHECK(rad_nursery_spawn(&n, NULL, sleeps_until_its_time, &d) == 0);
    while (d.armed < SLEEPERS) rad_yield();
    bool in_time = rad_now() < d.begin;
    while (rad_now() < d.begin + 100 * US) continue;
    CHECK(rad_nursery_wait(&n) == 0);
    CHECK(d.woken == SLEEPERS && d.early == 0);
    if (!in_time || d.first > d.begin + MS) return false;
    CHECK(d.wrong == 0);
    return true;
}

static int wakes_dormitories(void *arg)
{
    int tries = 0;
    (void)arg;
    while (!wakes_a_dormitory((uint64_t)(1 + tries) * MS)) CHECK(++tries < TRIES);
    return 0;
}

static void timers_of_one_batch_wake_fibers_in_order(void **state)
{
    (void)state;
    if (IS_SLOW) skip(); /* the worker comes back too late each time */
    run(wakes_dormitories, NULL);
}

/* So many sleepers that the worker is busy all the time: who has slept longest goes first. */
enum { ROUNDS = 90 };

typedef struct overload {
    int begun;
    int rounds[SLEEPERS];
    bool ends;
} overload;

static int is_always_due(void *arg)
{
    overload *o = arg;
    int me = o->begun++;
    while (o->begun < SLEEPERS) rad_yield();
    while (!o->ends) {
        rad_sleep(10 * US);
        rad_time until = rad_after(20 * US);
        while (rad_now() < until) continue;
        if (++o->rounds[me] == ROUNDS) o->ends = true;
    }
    return 0;
}

static int overloads_the_worker(void *arg)
{
    overload o = {.begun = 0};
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < SLEEPERS; i++) CHECK(rad_nursery_spawn(&n, NULL, is_always_due, &o) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    for (int i = 0; i < SLEEPERS; i++) CHECK(in_range((uint64_t)o.rounds[i], ROUNDS / 3, ROUNDS));
    return 0;
}

static void sleepers_that_are_always_due_take_turns(void **state)
{
    (void)state;
    run(overloads_the_worker, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_talks_does_not_hold_up_woken_fibers),
        cmocka_unit_test(a_pair_with_a_condition_does_not_hold_up_woken_fibers),
        cmocka_unit_test(several_pairs_do_not_hold_up_woken_fibers),
        cmocka_unit_test(a_pair_that_talks_does_not_shut_out_spawned_and_yielding_fibers),
        cmocka_unit_test(sleepers_beside_a_pair_all_wake),
        cmocka_unit_test(woken_fibers_run_first_in_first_out_after_the_newest),
        cmocka_unit_test(timers_of_one_batch_wake_fibers_in_order),
        cmocka_unit_test(sleepers_that_are_always_due_take_turns),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
