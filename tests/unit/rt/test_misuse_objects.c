/* test_misuse_objects.c — mistakes with pools, timers and handles of programs: each stops the process with a line
 * that begins with the call's name, and none hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "storm_support.h"
#include "sync_support.h"

static rad_pool *pool_of(uint32_t capacity)
{
    rad_pool *s;
    CHECK(rad_pool_create(&s, sizeof(uint64_t), capacity, NULL) == 0);
    return s;
}

static void *item_of(rad_pool *s)
{
    void *item;
    CHECK(rad_pool_take(s, &item, 0) == 0);
    return item;
}

/* ---- Items ---------------------------------------------------------------------------------------------- */

static int gives_to_another_pool(void *unused)
{
    (void)unused;
    rad_pool_give(pool_of(1), item_of(pool_of(1)));
    return 0;
}

/* An item of its size, and what lies before it, is the program's own. */
static int gives_what_is_no_item(void *unused)
{
    static uint64_t other[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)unused;
    rad_pool_give(pool_of(1), &other[4]);
    return 0;
}

static int gives_twice(void *unused)
{
    rad_pool *s = pool_of(2);
    void *item = item_of(s);
    (void)unused;
    rad_pool_give(s, item);
    rad_pool_give(s, item);
    return 0;
}

static int gives_nothing(void *unused)
{
    (void)unused;
    rad_pool_give(pool_of(1), NULL);
    return 0;
}

/* ---- What was destroyed --------------------------------------------------------------------------------- */

static rad_pool *destroyed_pool(void)
{
    rad_pool *s = pool_of(1);
    rad_pool_give(s, item_of(s));
    rad_pool_destroy(s);
    return s;
}

static int takes_from_a_destroyed_pool(void *unused)
{
    void *item;
    (void)unused;
    return rad_pool_take(destroyed_pool(), &item, RAD_FOREVER);
}

static int selects_a_destroyed_pool(void *unused)
{
    void *item;
    rad_select_case c = {.kind = RAD_ON_TAKE, .on.pool = destroyed_pool(), .value = &item};
    (void)unused;
    return rad_select(&c, 1, RAD_FOREVER);
}

static int closes_a_destroyed_pool(void *unused)
{
    (void)unused;
    return rad_pool_close(destroyed_pool(), 0);
}

static int asks_a_destroyed_pool(void *unused)
{
    (void)unused;
    return rad_pool_code(destroyed_pool());
}

static int gives_to_a_destroyed_pool(void *unused)
{
    uint64_t item;
    (void)unused;
    rad_pool_give(destroyed_pool(), &item);
    return 0;
}

static int destroys_a_pool_twice(void *unused)
{
    (void)unused;
    rad_pool_destroy(destroyed_pool());
    return 0;
}

static rad_timer *destroyed_timer(void)
{
    rad_timer *t;
    CHECK(rad_timer_create(&t, NULL, NULL) == 0);
    rad_timer_destroy(t);
    return t;
}

static int starts_a_destroyed_timer(void *unused)
{
    (void)unused;
    return rad_timer_start(destroyed_timer(), rad_after(1));
}

static int stops_a_destroyed_timer(void *unused)
{
    (void)unused;
    return rad_timer_stop(destroyed_timer());
}

static int waits_for_a_destroyed_timer(void *unused)
{
    (void)unused;
    return rad_timer_wait(destroyed_timer(), RAD_FOREVER);
}

static int selects_a_destroyed_timer(void *unused)
{
    rad_select_case c = {.kind = RAD_ON_TIMER, .on.timer = destroyed_timer()};
    (void)unused;
    return rad_select(&c, 1, RAD_FOREVER);
}

static int destroys_a_timer_twice(void *unused)
{
    (void)unused;
    rad_timer_destroy(destroyed_timer());
    return 0;
}

/* Its fiber still has the memory. */
static int starts_one_that_was_destroyed_while_it_ran(void *unused)
{
    rad_timer *t;
    (void)unused;
    CHECK(rad_timer_create(&t, NULL, NULL) == 0);
    CHECK(rad_timer_start(t, RAD_FOREVER) == 0);
    rad_timer_destroy(t);
    return rad_timer_start(t, rad_after(1));
}

static const struct mistake {
    rad_fn body;
    const char *message;
} MISTAKES[] =
    {
        {gives_to_another_pool, "rad_pool_give: it is no item of this pool"},
        {gives_what_is_no_item, "rad_pool_give: it is no item of this pool"},
        {gives_twice, "rad_pool_give: it was given back before"},
        {gives_nothing, "rad_pool_give: the item is NULL"},
        {starts_one_that_was_destroyed_while_it_ran, "rad_timer_start: the timer was destroyed"},
},
  OF_FREED_MEMORY[] = {
      {takes_from_a_destroyed_pool, "rad_pool_take: the pool was destroyed"},
      {selects_a_destroyed_pool, "rad_select: the pool was destroyed"},
      {closes_a_destroyed_pool, "rad_pool_close: the pool was destroyed"},
      {asks_a_destroyed_pool, "rad_pool_code: the pool was destroyed"},
      {gives_to_a_destroyed_pool, "rad_pool_give: the pool was destroyed"},
      {destroys_a_pool_twice, "rad_pool_destroy: the pool was destroyed"},
      {starts_a_destroyed_timer, "rad_timer_start: the timer was destroyed"},
      {stops_a_destroyed_timer, "rad_timer_stop: the timer was destroyed"},
      {waits_for_a_destroyed_timer, "rad_timer_wait: the timer was destroyed"},
      {selects_a_destroyed_timer, "rad_select: the timer was destroyed"},
      {destroys_a_timer_twice, "rad_timer_destroy: the timer was destroyed"},
};

static rad_fn mistake;

static void makes_it_in_a_fiber(void)
{
    rad_options o = {.workers = 1};
    RAD_IGNORE(rad_main(&o, mistake, NULL, NULL));
}

static void mistakes_name_the_call(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* threads in children */
#endif
    for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) {
        mistake = MISTAKES[i].body;
        expect_misuse(makes_it_in_a_fiber, MISTAKES[i].message);
    }
}

static void what_was_destroyed_does_not_hang(void **state)
{
    (void)state;
    if (STORM_IS_SANITIZED) skip(); /* threads in children; freed memory is reported before */
    for (size_t i = 0; i < sizeof OF_FREED_MEMORY / sizeof *OF_FREED_MEMORY; i++) {
        mistake = OF_FREED_MEMORY[i].body;
        expect_misuse(makes_it_in_a_fiber, OF_FREED_MEMORY[i].message);
    }
}

/* ---- Handles of a spawn that failed --------------------------------------------------------------------- */

static int uses_the_handle_of_nobody(void *unused)
{
    rad_nursery n;
    rad_fiber f;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_close(&n);
    CHECK(rad_nursery_spawn(&n, &f, uses_the_handle_of_nobody, NULL) == RAD_ECLOSED);
    rad_name_fiber(f, "nobody");
    rad_cancel(f);
    CHECK(rad_name_of(f) == NULL);
    CHECK(rad_join(f, NULL, RAD_FOREVER) == RAD_ESTALE);
    return rad_nursery_wait(&n);
}

static void a_spawn_that_failed_needs_no_check_before_naming(void **state)
{
    (void)state;
    storm_run(1, uses_the_handle_of_nobody, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_name_the_call),
        cmocka_unit_test(what_was_destroyed_does_not_hang),
        cmocka_unit_test(a_spawn_that_failed_needs_no_check_before_naming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
