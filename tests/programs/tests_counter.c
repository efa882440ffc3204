/* tests_counter.c — tests (raddle/test.h) that pass, and tests that fail in each way there is: tests/cli/tests.sh. */
#include <raddle.h>
#include <raddle/test.h>

#include <stdlib.h>
#include <unistd.h>

RAD_PARAM(writers, 2, "fibers that write")

static rad_mutex mutex;
static int64_t total;

static int add_in_two(void *unused)
{
    (void)unused;
    rad_mutex_lock(&mutex);
    int64_t seen = total;
    rad_mutex_unlock(&mutex);
    rad_mutex_lock(&mutex);
    total = seen + 1;
    rad_mutex_unlock(&mutex);
    return 0;
}

static int add(void *unused)
{
    (void)unused;
    rad_mutex_lock(&mutex);
    total++;
    rad_mutex_unlock(&mutex);
    return 0;
}

static void all_write(rad_fn fn)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int64_t i = 0; i < writers; i++) rad_nursery_go(&n, fn, NULL);
    rad_check(rad_nursery_wait(&n) == 0);
    rad_check(total == writers);
}

RAD_TEST(counts)
{
    all_write(add);
}

RAD_TEST(loses)
{
    all_write(add_in_two);
}

RAD_TEST(makes_no_operation)
{
    rad_check(total == 0);
}

RAD_TEST(fails_at_once)
{
    rad_check(total == 1);
}

RAD_TEST(chooses)
{
    uint32_t a = rad_choose(3), b = rad_choose(4), c = rad_choose(5);
    rad_always(a + b + c < 8, "the sum is %u", a + b + c);
}

RAD_TEST(reaches)
{
    rad_sometimes(rad_choose(3) == 2, "the last one is chosen");
}

RAD_TEST(never_reaches)
{
    uint32_t chosen = rad_choose(3);
    rad_sometimes(chosen == 3, "one more than there is");
    if (chosen == 4) rad_sometimes(true, "never come to");
}

RAD_TEST(faults)
{
    bool first = rad_fault("first disk");
    rad_yield();
    bool second = rad_fault("second disk");
    rad_check(!first || !second);
}

RAD_TEST(random_data)
{
    uint64_t a = rad_random(), b = rad_random();
    rad_check(a != b);
    rad_check(a % 10 != 7);
}

static int later(void *done)
{
    rad_sleep(50000000);
    *(bool *)done = true;
    return 0;
}

RAD_TEST(soon)
{
    bool done = false;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, later, &done);
    rad_eventually(done, 200);
    rad_check(rad_nursery_wait(&n) == 0);
}

RAD_TEST(not_soon)
{
    rad_eventually(total == 1, 10);
}

RAD_TEST(exits)
{
    exit(0);
}

static int waits_for_ever(void *unused)
{
    rad_cond cond = {0};
    (void)unused;
    rad_mutex_lock(&mutex);
    RAD_IGNORE(rad_cond_wait(&cond, &mutex, RAD_FOREVER));
    rad_mutex_unlock(&mutex);
    return 0;
}

RAD_TEST(leaves_a_fiber)
{
    rad_check(rad_spawn(NULL, waits_for_ever, NULL) == 0);
}

RAD_TEST(never_ends)
{
    while (total == 0) rad_sleep(1000000);
}

RAD_TEST(forks)
{
    rad_yield();
    if (fork() == 0) _exit(0);
}

RAD_TEST_MAIN
