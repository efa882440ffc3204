/* test_pool.c — owned pools: close, and taking by select. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "patience_support.h"
#include "storm_support.h"
#include "sync_support.h"

enum { MS = 1000000 };

static void run(uint32_t workers, rad_fn fn, void *arg)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
    assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
}

/* What is known of a pool from outside: the reference for what it does. */
typedef struct shop {
    rad_pool *pool;
    uint32_t capacity;
    _Atomic uint32_t made, gone, out;
    _Atomic uint32_t refusals; /* so many more creations fail */
    _Atomic bool closed;       /* set before the pool is closed */
} shop;

typedef struct tool {
    _Atomic uint32_t users;
    bool useless;
} tool;

static int tool_create(void *context, void *item)
{
    shop *s = context;
    if (s->refusals > 0) {
        s->refusals--;
        return -77;
    }
    CHECK(((tool *)item)->users == 0);
    uint32_t made = ++s->made; /* before `gone` is read, which may have passed it by then */
    CHECK((int32_t)(made - s->gone) <= (int32_t)s->capacity);
    return 0;
}

static int tool_reset(void *context, void *item)
{
    (void)context;
    CHECK(((tool *)item)->users == 0);
    return ((tool *)item)->useless;
}

static void tool_destroy(void *context, void *item)
{
    shop *s = context;
    CHECK(((tool *)item)->users++ == 0);
    s->gone++;
}

static void shop_open(shop *s, uint32_t capacity)
{
    *s = (shop){.capacity = capacity};
    const rad_pool_calls calls = {tool_create, tool_reset, tool_destroy, s};
    CHECK(rad_pool_create(&s->pool, sizeof(tool), capacity, &calls) == 0);
}

static void shop_close(shop *s)
{
    rad_pool_destroy(s->pool);
    CHECK(s->made == s->gone);
}

static rad_select_case takes(shop *s, void **item)
{
    return (rad_select_case){.kind = RAD_ON_TAKE, .on.pool = s->pool, .value = item};
}

/* ---- Close ------------------------------------------------------------------------------------------------ */

static int takes_for_ever(void *arg)
{
    void *item = arg;
    int code = rad_pool_take(((shop *)arg)->pool, &item, RAD_FOREVER);
    CHECK(code == RAD_ECLOSED && item == NULL);
    return 0;
}

static int selects_for_ever(void *arg)
{
    void *item = NULL;
    rad_select_case cases[2] = {takes(arg, &item), {.kind = RAD_OFF}};
    CHECK(rad_select(cases, 2, RAD_FOREVER) == 0);
    CHECK(cases[0].code == RAD_ECLOSED && item == NULL);
    return 0;
}

static void *takes_on_a_thread(void *arg)
{
    takes_for_ever(arg);
    return NULL;
}

static int closes(void *unused)
{
    shop s;
    void *items[3], *item;
    rad_nursery n;
    pthread_t thread;
    (void)unused;
    shop_open(&s, 3);
    for (int i = 0; i < 3; i++) CHECK(rad_pool_take(s.pool, &items[i], 0) == 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 4; i++) CHECK(rad_nursery_spawn(&n, NULL, i % 2 ? takes_for_ever : selects_for_ever, &s) == 0);
    CHECK(pthread_create(&thread, NULL, takes_on_a_thread, &s) == 0);
    rad_sleep(5 * MS);
    CHECK(rad_pool_code(s.pool) == 0);
    CHECK(rad_pool_close(s.pool, 42));
    CHECK(!rad_pool_close(s.pool, 43) && rad_pool_code(s.pool) == 42);
    CHECK(rad_nursery_wait(&n) == 0);
    pthread_join(thread, NULL);
    CHECK(rad_pool_take(s.pool, &item, 0) == RAD_ECLOSED && item == NULL);
    CHECK(rad_pool_take(s.pool, &item, RAD_FOREVER) == RAD_ECLOSED);
    for (uint32_t i = 0; i < 3; i++) { /* what is out may still be given back, and is destroyed */
        CHECK(s.gone == i);
        rad_pool_give(s.pool, items[i]);
    }
    CHECK(s.gone == 3);
    shop_close(&s);
    shop_open(&s, 2);
    CHECK(rad_pool_take(s.pool, &items[0], 0) == 0 && rad_pool_take(s.pool, &items[1], 0) == 0);
    rad_pool_give(s.pool, items[0]);
    CHECK(s.gone == 0);
    rad_pool_close(s.pool, 0); /* what is idle is destroyed at once */
    CHECK(s.gone == 1);
    rad_pool_give(s.pool, items[1]);
    CHECK(s.gone == 2);
    shop_close(&s);
    return 0;
}

static void a_closed_pool_gives_nothing(void **state)
{
    (void)state;
    run(1, closes, NULL);
    run(2, closes, NULL);
}

/* ---- Select ----------------------------------------------------------------------------------------------- */

static int selects(void *unused)
{
    shop a, b;
    void *from_a = &a, *from_b = &b, *kept;
    (void)unused;
    shop_open(&a, 1);
    shop_open(&b, 1);
    rad_select_case cases[3] = {
        takes(&a, &from_a), takes(&b, &from_b), {.kind = RAD_ON_TIME, .on.time = rad_after(3600000 * (uint64_t)MS)}};
    int done = rad_select(cases, 3, RAD_FOREVER);
    CHECK(done == 0 || done == 1);
    CHECK(a.made + b.made == 1); /* the other one had no effect */
    if (done == 0) CHECK(from_b == &b);
    if (done == 1) CHECK(from_a == &a);
    kept = done == 0 ? from_a : from_b;
    CHECK(rad_select(cases, 3, 0) == 1 - done && a.made + b.made == 2);
    CHECK(rad_select(cases, 3, 0) == RAD_ETIMEOUT);
    rad_time until = rad_after(2 * MS);
    CHECK(rad_select(cases, 3, until) == RAD_ETIMEOUT && rad_now() >= until);
    rad_pool_give(done == 0 ? a.pool : b.pool, kept);
    CHECK(rad_select(cases, 3, RAD_FOREVER) == done);
    CHECK((done == 0 ? from_a : from_b) == kept); /* the same item */
    rad_pool_give(a.pool, from_a);
    rad_pool_give(b.pool, from_b);
    ((tool *)kept)->useless = false;
    shop_close(&a);
    shop_close(&b);
    shop_open(&a, 1);
    a.refusals = 1;
    cases[0] = takes(&a, &from_a);
    CHECK(rad_select(cases, 1, RAD_FOREVER) == 0); /* it was done, and on_create failed */
    CHECK(cases[0].code == -77 && from_a == NULL);
    CHECK(rad_select(cases, 1, RAD_FOREVER) == 0 && cases[0].code == 0 && from_a != NULL);
    rad_pool_give(a.pool, from_a);
    rad_pool_close(a.pool, 1);
    CHECK(rad_select(cases, 1, 0) == 0 && cases[0].code == RAD_ECLOSED && from_a == NULL);
    shop_close(&a);
    return 0;
}

static void an_item_is_a_case(void **state)
{
    (void)state;
    run(1, selects, NULL);
    selects(NULL);
}

/* ---- Many ------------------------------------------------------------------------------------------------- */

enum { SHOPS = 2, USERS = 12, USES = 400 };

typedef struct market {
    shop shops[SHOPS];
    _Atomic uint32_t left, taken, closed;
    uint32_t seed;
} market;

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

/* 0 or 1: from which shop *item is; or why not. */
static int takes_somehow(market *m, uint32_t random, void **item)
{
    uint32_t which = random % SHOPS;
    rad_time until = random & 4 ? RAD_FOREVER : random & 8 ? rad_after(random % 100000) : 0;
    if (random & 16) {
        int code = rad_pool_take(m->shops[which].pool, item, until);
        return code == 0 ? (int)which : code;
    }
    rad_select_case cases[SHOPS];
    for (int i = 0; i < SHOPS; i++) cases[i] = takes(&m->shops[i], item);
    int done = rad_select(cases, SHOPS, until);
    if (done < 0) return done;
    if (cases[done].code == RAD_ECLOSED) which = (uint32_t)done;
    return cases[done].code == 0 ? done : cases[done].code;
}

static int uses(void *arg)
{
    market *m = arg;
    uint32_t random = 7 + atomic_fetch_sub(&m->left, 1) * 7919 + m->seed;
    for (int i = 0; i < USES; i++) {
        void *item = NULL;
        bool closed = m->shops[0].closed || m->shops[1].closed;
        uint32_t drawn = draw(&random);
        int from = takes_somehow(m, drawn, &item);
        if (from < 0) {
            closed = m->shops[0].closed || m->shops[1].closed;
            CHECK(from == RAD_ETIMEOUT || from == -77 || (from == RAD_ECLOSED && closed));
            m->closed += from == RAD_ECLOSED;
            if (from == RAD_ECLOSED && rad_self().slot != NULL) rad_yield();
            continue;
        }
        shop *s = &m->shops[from];
        tool *t = item;
        CHECK(++s->out <= s->capacity);
        CHECK(t->users++ == 0);
        if (drawn & 32 && rad_self().slot != NULL) rad_yield();
        t->useless = drawn % 5 == 0;
        CHECK(--t->users == 0);
        s->out--;
        m->taken++;
        rad_pool_give(s->pool, item);
    }
    return 0;
}

static void *uses_on_a_thread(void *arg)
{
    uses(arg);
    return NULL;
}

static int closes_now_and_then(void *arg)
{
    market *m = arg;
    for (int i = 0; i < SHOPS; i++) {
        while (m->taken < (uint32_t)(USERS * USES / 8 * (i + 1)) && m->left > 0) rad_sleep(MS / 10);
        rad_sleep(MS);
        m->shops[i].closed = true;
        rad_pool_close(m->shops[i].pool, i + 1);
    }
    return 0;
}

static int trades(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < USERS; i++) CHECK(rad_nursery_spawn(&n, NULL, uses, arg) == 0);
    CHECK(rad_nursery_spawn(&n, NULL, closes_now_and_then, arg) == 0);
    return rad_nursery_wait(&n);
}

static void nothing_is_lost_or_used_twice(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 12; seed++) {
        market m = {.left = USERS + 1, .seed = seed};
        pthread_t thread;
        shop_open(&m.shops[0], 1 + seed % 3);
        shop_open(&m.shops[1], 1);
        m.shops[1].refusals = 5;
        assert_int_equal(pthread_create(&thread, NULL, uses_on_a_thread, &m), 0);
        run(1 + seed % 3, trades, &m);
        pthread_join(thread, NULL);
        assert_true(m.taken > 0);
        for (int i = 0; i < SHOPS; i++) {
            assert_int_equal(m.shops[i].made, m.shops[i].gone); /* all given back, and closed */
            shop_close(&m.shops[i]);
        }
    }
}

/* ---- Mistakes --------------------------------------------------------------------------------------------- */

static void takes_from_null(void)
{
    void *item;
    (void)!rad_pool_take(NULL, &item, 0);
}

static void gives_null(void)
{
    rad_pool *s;
    if (rad_pool_create(&s, 8, 1, NULL) == 0) rad_pool_give(s, NULL);
}

static void takes_to_nowhere(void)
{
    rad_pool *s;
    if (rad_pool_create(&s, 8, 1, NULL) != 0) return;
    rad_select_case c = {.kind = RAD_ON_TAKE, .on.pool = s};
    (void)!rad_select(&c, 1, 0);
}

static void destroys_before_it_has_all(void)
{
    rad_pool *s;
    void *item;
    if (rad_pool_create(&s, 8, 1, NULL) != 0 || rad_pool_take(s, &item, 0) != 0) return;
    rad_pool_close(s, 1);
    rad_pool_destroy(s);
}

static void mistakes_have_a_message(void **state)
{
    (void)state;
    expect_misuse(takes_from_null, "rad_pool_take: the pool is NULL");
    expect_misuse(gives_null, "rad_pool_give: the item is NULL");
    expect_misuse(takes_to_nowhere, "rad_select: RAD_ON_TAKE needs a value");
    expect_misuse(destroys_before_it_has_all, "rad_pool_destroy: not everything was given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_pool_gives_nothing),
        cmocka_unit_test(an_item_is_a_case),
        cmocka_unit_test(nothing_is_lost_or_used_twice),
        cmocka_unit_test(mistakes_have_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
