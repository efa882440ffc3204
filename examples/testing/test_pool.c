/* test_pool.c — tests of the pool; docs/guide-testing.md explains them. */
#include "pool.h"

#include <raddle/test.h>

enum { MS = 1000000 };

RAD_PARAM(users, 3, "fibers that share a connection")

static pool p;
static int lent;

static int use(void *unused)
{
    (void)unused;
    rad_sometimes(p.free == 0, "a fiber finds the pool empty");
    rad_check(pool_take(&p, RAD_FOREVER) == 0);
    lent++;
    rad_always(lent <= 1, "%d fibers have the only connection", lent);
    rad_yield(); /* this is where it would use the connection */
    lent--;
    pool_give(&p);
    return 0;
}

RAD_TEST(one_at_a_time)
{
    rad_nursery n;
    p.free = 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int64_t i = 0; i < users; i++) rad_nursery_go(&n, use, NULL);
    rad_check(rad_nursery_wait(&n) == 0);
    rad_check(p.free == 1);
}

static int hold(void *unused)
{
    (void)unused;
    rad_check(pool_take(&p, RAD_FOREVER) == 0);
    rad_sleep(rad_choose(2) ? 20 * MS : 5 * MS); /* both are tried */
    pool_give(&p);
    return 0;
}

RAD_TEST(waits_as_long_as_asked)
{
    rad_nursery n;
    p.free = 1;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, hold, NULL);
    int code = pool_take(&p, rad_after(10 * MS));
    rad_sometimes(code == 0, "the connection comes in time");
    rad_sometimes(code == RAD_ETIMEOUT, "the connection comes too late");
    if (code == 0) pool_give(&p);
    rad_check(rad_nursery_wait(&n) == 0);
    rad_check(p.free == 1);
}

/* A connection that may break: the user of a broken one has to give it back, too. */
static int use_broken(void *unused)
{
    int code = 0;
    (void)unused;
    rad_check(pool_take(&p, RAD_FOREVER) == 0);
    if (rad_fault("connection")) code = RAD_EIO;
    pool_give(&p);
    return code;
}

RAD_TEST(survives_broken_connections)
{
    rad_nursery n;
    p.free = 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 2; i++) rad_nursery_go(&n, use_broken, NULL);
    int code = rad_nursery_wait(&n);
    rad_check(code == 0 || code == RAD_EIO);
    rad_check(p.free == 1);
}

RAD_TEST_MAIN
