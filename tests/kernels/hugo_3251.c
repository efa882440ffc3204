/* hugo#3251, two locks in opposite orders.
 * A table of locks, one for each URL, is itself under an RW lock. Locking a URL holds the table's lock for writing
 * while it waits for the URL's lock; unlocking a URL takes the table's lock for reading.
 * Goes wrong: a second fetch of a URL waits for the first, which waits for the table. */
#include "kernel.h"

static rad_rwlock table = RAD_RWLOCK_INIT;
static rad_mutex *url;
static int fetching;

static void url_lock(void)
{
    rad_rwlock_write(&table);
    if (!url) CHECK((url = calloc(1, sizeof *url)));
    rad_mutex *found = url;
    if (fixed) rad_rwlock_unlock(&table);
    rad_mutex_lock(found);
    if (!fixed) rad_rwlock_unlock(&table);
}

static void url_unlock(void)
{
    rad_rwlock_read(&table);
    rad_mutex_unlock(url);
    rad_rwlock_unlock(&table);
}

static int fetches(void *unused)
{
    (void)unused;
    url_lock();
    CHECK(++fetching == 1);
    fetching--;
    url_unlock();
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) rad_nursery_go(&n, fetches, NULL);
    int code = rad_nursery_wait(&n);
    free(url);
    return code;
}
