/* lost_wakeup.c — the flag is looked at, the lock is let go, and a signal that comes in between wakes nobody. */
#include "planted.h"

static rad_mutex m;
static rad_cond c;
static bool ready;

static int waiter(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    bool was = ready;
    if (!fixed) {
        rad_mutex_unlock(&m);
        rad_mutex_lock(&m);
    }
    while (!was) {
        if (rad_cond_wait(&c, &m, RAD_FOREVER) != 0) break;
        was = ready;
    }
    rad_mutex_unlock(&m);
    return 0;
}

static int waker(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    ready = true;
    rad_cond_signal(&c);
    rad_mutex_unlock(&m);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(waiter, waker);
}
