/* cockroach#9935, double locking.
 * The logger writes an entry under its lock. When the write fails it calls its exit function, which takes the same lock
 * to flush.
 * Goes wrong: the fiber waits for itself, if the file is closed before the entry is written. */
#include "kernel.h"

static rad_mutex lock = RAD_MUTEX_INIT;
static bool file_open = true;
static int written, flushed;

static void exit_logger(void)
{
    rad_mutex_lock(&lock);
    flushed++;
    rad_mutex_unlock(&lock);
}

static int logs(void *unused)
{
    (void)unused;
    rad_mutex_lock(&lock);
    bool failed = !file_open;
    if (!failed) written++;
    if (failed && fixed) {
        rad_mutex_unlock(&lock);
        exit_logger();
        return 0;
    }
    if (failed) exit_logger();
    rad_mutex_unlock(&lock);
    return 0;
}

static int closes_file(void *unused)
{
    (void)unused;
    rad_mutex_lock(&lock);
    file_open = false;
    rad_mutex_unlock(&lock);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, logs, NULL);
    rad_nursery_go(&n, closes_file, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(written + flushed == 1);
    return code;
}
