/* tickets.c — a test with a bug to be found: two customers, one ticket.
 *
 *     raddle cc -g tickets.c -lraddle -o tickets
 *     raddle test ./tickets
 *
 * A customer asks whether there is a ticket, and then buys it; the lock is free in between. With -DFIXED the lock is
 * held from the question to the purchase. */
#include <raddle.h>
#include <raddle/test.h>

static rad_mutex lock;
static int tickets = 1;

static int left(void)
{
    rad_mutex_lock(&lock);
    int count = tickets;
    rad_mutex_unlock(&lock);
    return count;
}

static int buys(void *unused)
{
    (void)unused;
#ifdef FIXED
    rad_mutex_lock(&lock);
    if (tickets > 0) tickets--;
    rad_mutex_unlock(&lock);
#else
    if (left() == 0) return 0;
    rad_mutex_lock(&lock);
    tickets--;
    rad_mutex_unlock(&lock);
#endif
    return 0;
}

static void run_both(rad_fn one, rad_fn other)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, one, NULL);
    rad_nursery_go(&n, other, NULL);
    rad_check(rad_nursery_wait(&n) == 0);
}

RAD_TEST(sold_once)
{
    run_both(buys, buys);
    rad_check(left() == 0);
}

RAD_TEST_MAIN
