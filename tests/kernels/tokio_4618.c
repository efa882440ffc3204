/* tokio#4618, a notification for one that has left.
 * Waiters are in a line; a notification goes to the first of them. A waiter may be cancelled.
 * Goes wrong: it is cancelled when it was notified and has not run yet. The notification is lost, and the one behind it
 * waits for ever. */
#include "kernel.h"

enum { WAITERS = 2 };
static rad_mutex lock = RAD_MUTEX_INIT;
static rad_chan *inboxes[WAITERS], *line[WAITERS]; /* of the line NULL: notified, or left */

static void notify_one(void)
{
    rad_mutex_lock(&lock);
    for (int i = 0; i < WAITERS; i++) {
        if (line[i] == NULL) continue;
        RAD_IGNORE(rad_send(line[i], NULL, 0)); /* also by one that is cancelled: there is room */
        line[i] = NULL;
        break;
    }
    rad_mutex_unlock(&lock);
}

static int waits(void *arg)
{
    int i = (int)(intptr_t)arg;
    if (rad_recv(inboxes[i], NULL, RAD_FOREVER) == 0) return 1;
    rad_mutex_lock(&lock); /* it is cancelled */
    bool was_notified = line[i] == NULL;
    line[i] = NULL;
    rad_mutex_unlock(&lock);
    if (was_notified && fixed) notify_one(); /* the next one gets it */
    return 0;
}

static int start(void *unused)
{
    rad_fiber waiters[WAITERS];
    rad_fiber_result given;
    (void)unused;
    for (int i = 0; i < WAITERS; i++) inboxes[i] = line[i] = signals(1);
    for (intptr_t i = 0; i < WAITERS; i++) CHECK(rad_spawn(&waiters[i], waits, (void *)i) == 0);
    rad_cancel(waiters[0]);
    notify_one();
    CHECK(rad_join(waiters[0], &given, RAD_FOREVER) == 0);
    if (given.code == 1) notify_one(); /* the first one was quicker than its cancellation */
    CHECK(rad_join(waiters[1], NULL, RAD_FOREVER) == 0);
    return 0;
}
