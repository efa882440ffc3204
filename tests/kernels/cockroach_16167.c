/* cockroach#16167, a reader that reads again behind a writer.
 * Executing a statement holds the lock of the system configuration for reading, through the locker of a condition.
 * Preparing the statement asks for the database cache, which takes the same lock for reading. A new configuration
 * is written in between. The session's lock, which the fiber reads first, is not part of the cycle.
 * Goes wrong: the executor and the updater wait for each other. */
#include "kernel.h"

static rad_rwlock session = RAD_RWLOCK_INIT, config = RAD_RWLOCK_INIT;
static int version, cache_version;

static int database_cache(void)
{
    rad_rwlock_read(&config);
    int now = cache_version;
    rad_rwlock_unlock(&config);
    return now;
}

static int executes(void *unused)
{
    (void)unused;
    rad_rwlock_read(&session);
    rad_rwlock_read(&config);
    int seen = version;
    if (fixed) rad_rwlock_unlock(&config);
    CHECK(database_cache() >= seen);
    if (!fixed) rad_rwlock_unlock(&config);
    rad_rwlock_unlock(&session);
    return 0;
}

static int updates(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        rad_rwlock_write(&config);
        version++;
        cache_version++;
        rad_rwlock_unlock(&config);
    }
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(updates, NULL);
    GO(executes, NULL);
    return 0;
}
