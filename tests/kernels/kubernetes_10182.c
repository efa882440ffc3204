/* kubernetes#10182, a send with a lock held that the receiver needs.
 * Setting a pod's status sends it to the sync loop while the lock of the statuses is held. The loop deletes the status
 * of a pod that is gone, for which it takes the lock.
 * Goes wrong: a second status is sent while the loop works on the first; each waits for the other. */
#include "kernel.h"

enum { PODS = 2 };

static rad_mutex statuses = RAD_MUTEX_INIT;
static rad_chan *changes;
static int known;

static int syncs(void *unused)
{
    (void)unused;
    for (int i = 0; i < PODS; i++) {
        RECV(changes);
        rad_mutex_lock(&statuses);
        known--;
        rad_mutex_unlock(&statuses);
    }
    return 0;
}

static int sets_status(void *unused)
{
    (void)unused;
    rad_mutex_lock(&statuses);
    known++;
    if (fixed) rad_mutex_unlock(&statuses);
    SEND(changes);
    if (!fixed) rad_mutex_unlock(&statuses);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    changes = signals(0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, syncs, NULL);
    for (int i = 0; i < PODS; i++) rad_nursery_go(&n, sets_status, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(known == 0);
    return code;
}
