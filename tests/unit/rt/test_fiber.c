/* test_fiber.c — fibers: run, spawn, join, yield, cancel, nurseries, sleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "patience_support.h"
#include "rt/fiber.h"
#include "sync_support.h"

#include <raddle.h>

#include <string.h>

static int answer(void *arg)
{
    return *(int *)arg;
}

static void run_answers_what_main_does(void **state)
{
    (void)state;
    int code = 42;
    assert_int_equal(rad_main(NULL, answer, &code, NULL), 42);
}

static int count_up(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
    return 0;
}

static int spawns_many(void *arg)
{
    for (int i = 0; i < 1000; i++) assert_int_equal(rad_spawn(NULL, count_up, arg), 0);
    return 0;
}

static void fibers_that_nobody_joins_are_waited_for(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        _Atomic int count = 0;
        assert_int_equal(rad_main(&o, spawns_many, &count, NULL), 0);
        assert_int_equal(count, 1000);
    }
}

static int doubles(void *arg)
{
    int twice = 2 * *(int *)arg;
    rad_set_result(&twice, sizeof twice);
    return 7;
}

static int joins(void *arg)
{
    bool alone = arg != NULL;
    for (int i = 0; i < 1000; i++) {
        rad_fiber f;
        rad_fiber_result r;
        assert_int_equal(rad_spawn(&f, doubles, &i), 0);
        assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
        assert_int_equal(*(int *)(void *)r.bytes, 2 * i);
        assert_int_equal(r.code, 7);
        assert_int_equal(rad_join(f, NULL, 0), 0); /* again */
        rad_release(f);
        int code = rad_join(f, NULL, 0); /* on another worker it may not be off its stack yet */
        assert_true(code == RAD_ESTALE || (code == 0 && !alone));
    }
    return 0;
}

static void a_result_is_copied_out(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        assert_int_equal(rad_main(&o, joins, workers == 1 ? &o : NULL, NULL), 0);
    }
}

static int gives_twice(void *arg)
{
    unsigned char many[RAD_RESULT_SIZE];
    (void)arg;
    memset(many, 0xaa, sizeof many);
    rad_set_result(many, sizeof many);
    rad_set_result("abc", 3);
    return 0;
}

static int gives_nothing_at_last(void *arg)
{
    gives_twice(arg);
    rad_set_result(NULL, 0);
    return 0;
}

static void has_given(rad_fn fn, const char *expected)
{
    unsigned char all[RAD_RESULT_SIZE] = {0};
    rad_fiber f;
    rad_fiber_result r;
    memcpy(all, expected, strlen(expected));
    assert_int_equal(rad_spawn(&f, fn, NULL), 0);
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    rad_release(f);
    assert_memory_equal(r.bytes, all, sizeof all);
}

static int joins_who_gave_twice(void *arg)
{
    (void)arg;
    has_given(gives_twice, "abc");
    has_given(gives_nothing_at_last, "");
    return 0;
}

static void the_last_gift_counts(void **state)
{
    (void)state;
    assert_int_equal(rad_main(NULL, joins_who_gave_twice, NULL, NULL), 0);
}

typedef struct line {
    char text[64];
    int at;
} line;

typedef struct letter {
    line *l;
    char c;
} letter;

static int writes_three(void *arg)
{
    letter *x = arg;
    for (int i = 0; i < 3; i++) {
        x->l->text[x->l->at++] = x->c;
        rad_yield();
    }
    return 0;
}

static int takes_turns(void *arg)
{
    line *l = arg;
    letter a = {l, 'a'}, b = {l, 'b'};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, writes_three, &a), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, writes_three, &b), 0);
    return rad_nursery_wait(&n);
}

static void those_who_yield_take_turns(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    line l = {.at = 0};
    assert_int_equal(rad_main(&o, takes_turns, &l, NULL), 0);
    assert_int_equal(l.at, 6);
    assert_string_equal(l.text, "bababa");
}

/* Two that wake each other leave room for one that yields. */
typedef struct chat {
    rad_chan *to, *from;
    _Atomic bool over;
    uint64_t words;
} chat;

static int chats(void *arg)
{
    chat *c = arg;
    int word;
    while (rad_recv(c->to, &word, RAD_FOREVER) == 0 && rad_send(c->from, &word, RAD_FOREVER) == 0)
        ;
    return 0;
}

static int talks(void *arg)
{
    chat *c = arg;
    int word = 0;
    while (!c->over) {
        assert_int_equal(rad_send(c->to, &word, RAD_FOREVER), 0);
        assert_int_equal(rad_recv(c->from, &word, RAD_FOREVER), 0);
        c->words++;
    }
    rad_chan_close(c->to, 0);
    return 0;
}

static int yields_beside_a_chat(void *arg)
{
    chat c = {.over = false};
    rad_nursery n;
    assert_int_equal(rad_chan_create(&c.to, sizeof(int), 0, RAD_CHAN_BLOCKS), 0);
    assert_int_equal(rad_chan_create(&c.from, sizeof(int), 0, RAD_CHAN_BLOCKS), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, chats, &c), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, talks, &c), 0);
    for (int i = 0; i < 1000; i++) rad_yield();
    c.over = true;
    assert_int_equal(rad_nursery_wait(&n), 0);
    *(uint64_t *)arg = c.words;
    rad_chan_destroy(c.to);
    rad_chan_destroy(c.from);
    return 0;
}

static void who_yields_is_not_starved_by_a_chat(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    uint64_t words = 0;
    assert_int_equal(rad_main(&o, yields_beside_a_chat, &words, NULL), 0);
    assert_in_range(words, 100, 20000); /* 244 picks for each yield would be 120,000 */
}

static int sleeps(void *arg)
{
    uint64_t ns = *(uint64_t *)arg;
    rad_time before = rad_now();
    assert_int_equal(rad_sleep(ns), 0);
    assert_true(rad_now() - before >= ns);
    return 0;
}

static int sleepers(void *arg)
{
    (void)arg;
    rad_nursery n;
    uint64_t ns[100];
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 100; i++) {
        ns[i] = (uint64_t)(i % 10) * 1000000;
        assert_int_equal(rad_nursery_spawn(&n, NULL, sleeps, &ns[i]), 0);
    }
    return rad_nursery_wait(&n);
}

static void sleep_is_never_early(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        assert_int_equal(rad_main(&o, sleepers, NULL, NULL), 0);
    }
}

static int sleeps_for_ever(void *arg)
{
    (void)arg;
    return rad_sleep_until(RAD_FOREVER);
}

static int cancels(void *arg)
{
    (void)arg;
    rad_fiber f;
    rad_fiber_result r;
    assert_int_equal(rad_spawn(&f, sleeps_for_ever, NULL), 0);
    assert_int_equal(rad_join(f, &r, rad_after(1000000)), RAD_ETIMEOUT);
    rad_cancel(f);
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ECANCELED);
    rad_release(f);
    return 0;
}

static void who_is_cancelled_wakes_up(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        assert_int_equal(rad_main(&o, cancels, NULL, NULL), 0);
    }
}

static int is_it_canceled(void *arg)
{
    (void)arg;
    return rad_is_canceled() ? 1 : rad_sleep(1000);
}

/* Cancels a fiber, and sets the generation of its slot back: as if 2^32 - 2 fibers had lived there since. The next
 * fiber in the slot has the generation of the cancelled one. */
static int cancels_and_turns_round(void *arg)
{
    struct rad_slot *slot;
    rad_fiber f;
    (void)arg;
    assert_int_equal(rad_spawn(&f, sleeps_for_ever, NULL), 0);
    slot = f.slot;
    rad_yield();
    rad_cancel(f);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    rad_yield(); /* it is off its stack, and its slot idle */
    uint64_t word = atomic_load(&slot->strand.state_word.word);
    assert_int_equal(word >> 32, f.generation + 1);
    atomic_store(&slot->strand.state_word.word, (word & UINT32_MAX) | (uint64_t)f.generation << 32);
    rad_fiber again;
    rad_fiber_result r;
    assert_int_equal(rad_spawn(&again, is_it_canceled, NULL), 0);
    assert_ptr_equal(again.slot, slot);
    assert_int_equal(again.generation, f.generation);
    assert_int_equal(rad_join(again, &r, RAD_FOREVER), 0);
    rad_release(again);
    return r.code;
}

static void a_generation_that_returns_is_not_cancelled(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    assert_int_equal(rad_main(&o, cancels_and_turns_round, NULL, NULL), 0);
}

static int cancels_far_away(void *arg)
{
    uint32_t distance = *(uint32_t *)arg;
    rad_fiber f;
    rad_fiber_result r;
    assert_int_equal(rad_spawn(&f, sleeps_for_ever, NULL), 0);
    atomic_store(&f.slot->canceled, f.generation - distance);
    rad_cancel(f);
    assert_int_equal(rad_join(f, &r, rad_after(UINT64_C(10000000000))), 0);
    assert_int_equal(r.code, RAD_ECANCELED);
    rad_release(f);
    return 0;
}

/* The last fiber in the same place that was cancelled may have been there any number of fibers ago. A core that spawns
 * and joins gets the same place each time: 2^31 of them are a few minutes. */
static void a_cancel_long_ago_does_not_matter(void **state)
{
    (void)state;
    static const uint32_t distances[] = {1, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0};
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t distance = distances[i];
        assert_int_equal(rad_main(NULL, cancels_far_away, &distance, NULL), 0);
    }
}

static int opens_another(void *arg)
{
    int depth = *(int *)arg;
    if (depth == 0) return sleeps_for_ever(NULL);
    rad_nursery n;
    depth--;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, opens_another, &depth), 0);
    return rad_nursery_wait(&n);
}

static int cancels_all(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 10; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, opens_another, arg), 0);
    assert_int_equal(rad_sleep(2000000), 0);
    rad_nursery_cancel(&n, 99);
    return rad_nursery_wait(&n);
}

static void cancelling_reaches_nested_nurseries(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++)
        for (int depth = 0; depth < 100; depth += 33) {
            rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
            assert_int_equal(rad_main(&o, cancels_all, &depth, NULL), 99);
        }
}

static int has_a_deadline(void *arg)
{
    int depth = *(int *)arg;
    rad_nursery n;
    rad_nursery_open(&n, rad_after(3000000));
    assert_int_equal(rad_nursery_spawn(&n, NULL, opens_another, &depth), 0);
    return rad_nursery_wait(&n);
}

static void the_deadline_of_a_nursery_cancels(void **state)
{
    (void)state;
    int depth = 5;
    assert_int_equal(rad_main(NULL, has_a_deadline, &depth, NULL), RAD_ECANCELED);
}

/* ---- Numbers ------------------------------------------------------------------------------------------ */

enum { FROM_OUTSIDE = 100, FROM_INSIDE = 3, NUMBERED = FROM_OUTSIDE * (1 + FROM_INSIDE) };

static _Atomic uint64_t numbers[NUMBERED];
static _Atomic uint32_t numbered;

static void note_number(void)
{
    numbers[atomic_fetch_add(&numbered, 1)] = atomic_load(&rad_self().slot->number);
}

static int numbered_inside(void *arg)
{
    (void)arg;
    note_number();
    return 0;
}

static int numbered_outside(void *arg)
{
    (void)arg;
    note_number();
    for (int i = 0; i < FROM_INSIDE; i++)
        if (rad_spawn(NULL, numbered_inside, NULL) != 0) return 1;
    return 0;
}

static void no_two_fibers_have_the_same_number(void **state)
{
    (void)state;
    rad_runtime *rt;
    assert_int_equal(rad_runtime_create(&rt, NULL, NULL), 0);
    for (int i = 0; i < FROM_OUTSIDE; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, numbered_outside, NULL), 0);
    rad_runtime_destroy(rt);
    assert_int_equal(numbered, NUMBERED);
    for (int i = 0; i < NUMBERED; i++) {
        assert_true(numbers[i] != 0);
        for (int k = 0; k < i; k++) assert_true(numbers[k] != numbers[i]);
    }
}

/* ---- Failures and mistakes ------------------------------------------------------------------------------- */

static int ends_at_once(void *unused)
{
    (void)unused;
    return 0;
}

static int spawns_in_vain(void *unused)
{
    rad_fiber f = rad_self();
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_close(&n);
    assert_int_equal(rad_nursery_spawn(&n, &f, ends_at_once, NULL), RAD_ECLOSED);
    assert_true(f.slot == NULL && f.generation == 0);
    assert_int_equal(rad_nursery_wait(&n), 0);
    f = rad_self();
    while (rad_spawn(&f, ends_at_once, NULL) == 0) rad_release(f); /* the limit */
    assert_true(f.slot == NULL && f.generation == 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), RAD_ESTALE);
    rad_cancel(f);
    assert_ptr_equal(rad_name_of(f), NULL);
    return 0;
}

static void a_spawn_that_fails_gives_no_handle(void **state)
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .fibers = 3};
    (void)state;
    assert_int_equal(rad_main(&o, spawns_in_vain, NULL, NULL), 0);
}

static int releases_twice(void *unused)
{
    rad_fiber f;
    (void)unused;
    RAD_IGNORE(rad_spawn(&f, ends_at_once, NULL));
    RAD_IGNORE(rad_join(f, NULL, RAD_FOREVER));
    rad_release(f);
    rad_release(f);
    return 0;
}

static int gives_too_much(void *unused)
{
    unsigned char bytes[RAD_RESULT_SIZE + 1] = {0};
    (void)unused;
    rad_set_result(bytes, sizeof bytes);
    return 0;
}

static int lowers_no_shield(void *unused)
{
    (void)unused;
    rad_shield(false);
    return 0;
}

static int leaves_its_nursery(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    return 0;
}

static int waits_twice(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    RAD_IGNORE(rad_nursery_wait(&n));
    return rad_nursery_wait(&n);
}

static int waits_for(void *nursery)
{
    return rad_nursery_wait(nursery);
}

static int lets_another_wait(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    RAD_IGNORE(rad_nursery_spawn(&n, NULL, waits_for, &n));
    return rad_nursery_wait(&n);
}

static int receives(void *chan)
{
    return rad_recv(chan, NULL, RAD_FOREVER);
}

static int destroys_what_is_waited_for(void *unused)
{
    rad_chan *c;
    (void)unused;
    RAD_IGNORE(rad_chan_create(&c, 0, 0, RAD_CHAN_BLOCKS));
    RAD_IGNORE(rad_spawn(NULL, receives, c));
    rad_sleep(20000000);
    rad_chan_destroy(c);
    return 0;
}

static int destroys(void *rt)
{
    rad_runtime_destroy(*(rad_runtime **)rt);
    return 0;
}

static rad_fn mistake;

static void makes_it_in_a_fiber(void)
{
    RAD_IGNORE(rad_main(NULL, mistake, NULL, NULL));
}

static void a_fiber_destroys_its_runtime(void)
{
    static rad_runtime *rt;
    RAD_IGNORE(rad_runtime_create(&rt, NULL, NULL));
    RAD_IGNORE(rad_runtime_spawn(rt, NULL, destroys, &rt));
    rad_sleep(RAD_FOREVER);
}

static void a_thread_spawns(void)
{
    RAD_IGNORE(rad_spawn(NULL, ends_at_once, NULL));
}

static void a_thread_opens_a_nursery(void)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
}

static void a_thread_dumps(void)
{
    RAD_IGNORE(rad_runtime_dump(NULL, 1));
}

static void mistakes_are_told_from_bugs(void **state)
{
    static const struct {
        rad_fn body;
        const char *message;
    } of_fibers[] = {
        {releases_twice, "rad_release: no such handle"},
        {gives_too_much, "rad_set_result: more than RAD_RESULT_SIZE bytes"},
        {lowers_no_shield, "rad_shield: it was not shielded"},
        {leaves_its_nursery, "rad_nursery_wait: fiber 1 has ended and did not wait for its nursery"},
        {waits_twice, "rad_nursery_wait: the nursery was waited for"},
        {lets_another_wait, "rad_nursery_wait: another fiber has opened it"},
        {destroys_what_is_waited_for, "rad_chan_destroy: a fiber or thread waits for it"},
    };
    (void)state;
    assert_false(rad_is_canceled()); /* anybody */
    expect_misuse(a_thread_spawns, "rad_spawn: the caller is not a fiber");
    expect_misuse(rad_yield, "rad_yield: the caller is not a fiber");
    expect_misuse(a_thread_opens_a_nursery, "rad_nursery_open: the caller is not a fiber");
    expect_misuse(a_thread_dumps, "rad_runtime_dump: no runtime");
#if defined(__SANITIZE_THREAD__)
    return; /* threads in children */
#endif
    expect_misuse(a_fiber_destroys_its_runtime, "rad_runtime_destroy: the caller is a fiber");
    for (size_t i = 0; i < sizeof of_fibers / sizeof *of_fibers; i++) {
        mistake = of_fibers[i].body;
        expect_misuse(makes_it_in_a_fiber, of_fibers[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_answers_what_main_does),
        cmocka_unit_test(fibers_that_nobody_joins_are_waited_for),
        cmocka_unit_test(a_result_is_copied_out),
        cmocka_unit_test(the_last_gift_counts),
        cmocka_unit_test(those_who_yield_take_turns),
        cmocka_unit_test(who_yields_is_not_starved_by_a_chat),
        cmocka_unit_test(sleep_is_never_early),
        cmocka_unit_test(who_is_cancelled_wakes_up),
        cmocka_unit_test(a_generation_that_returns_is_not_cancelled),
        cmocka_unit_test(a_cancel_long_ago_does_not_matter),
        cmocka_unit_test(cancelling_reaches_nested_nurseries),
        cmocka_unit_test(the_deadline_of_a_nursery_cancels),
        cmocka_unit_test(no_two_fibers_have_the_same_number),
        cmocka_unit_test(a_spawn_that_fails_gives_no_handle),
        cmocka_unit_test(mistakes_are_told_from_bugs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
