/* stock_kept.c — a connection is taken from a stock of one, and whoever comes second fails and does not give it
 * back. */
#include "planted.h"

static rad_pool *stock;
static int served;

static int user(void *arg)
{
    void *connection;
    (void)arg;
    if (rad_pool_take(stock, &connection, RAD_FOREVER) != 0) return 1;
    rad_yield();
    if (served++ == 1 && !fixed) return 0;
    rad_pool_give(stock, connection);
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    if (rad_pool_create(&stock, sizeof(int), 1, NULL) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) rad_nursery_go(&n, user, NULL);
    int code = rad_nursery_wait(&n);
    rad_pool_destroy(stock);
    return code;
}
