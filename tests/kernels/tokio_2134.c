/* tokio#2134, a signal without the lock. A sender on a full broadcast channel waits, with a lock and a condition,
 * until the slot that it needs has been read by all receivers. The last receiver counts down without the lock, and
 * signals.
 * Goes wrong: the signal comes when the sender has looked at the count and does not wait yet. */
#include "kernel.h"

#include <stdatomic.h>

static rad_mutex tail = RAD_MUTEX_INIT;
static rad_cond freed;
static _Atomic int unread = 2;

static int receives(void *unused)
{
    (void)unused;
    if (atomic_fetch_sub(&unread, 1) > 1) return 0;
    if (fixed) rad_mutex_lock(&tail);
    rad_cond_signal(&freed);
    if (fixed) rad_mutex_unlock(&tail);
    return 0;
}

static int sends(void *unused)
{
    (void)unused;
    rad_mutex_lock(&tail);
    while (unread > 0) RAD_IGNORE(rad_cond_wait(&freed, &tail, RAD_FOREVER));
    rad_mutex_unlock(&tail);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(sends, NULL);
    GO(receives, NULL);
    GO(receives, NULL);
    return 0;
}
