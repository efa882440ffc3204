/* tokio#5396, one call that wakes the same waiter twice. To notify all who wait, they are taken out of the list in
 * batches, and the lock is released between two of them.
 * Goes wrong: one of the first batch waits again before the last batch is taken, and belongs to it. The repair
 * takes the whole list first. */
#include "kernel.h"

enum { WAITERS = 3, BATCH = 2 };
static rad_mutex lock = RAD_MUTEX_INIT;
static rad_chan *inboxes[WAITERS], *waiting[2 * WAITERS];
static int count, woken[WAITERS];

/* Out of the list, in the order in which they came. */
static int take(rad_chan **to, int most)
{
    int taken = count < most ? count : most;
    memcpy(to, waiting, (size_t)taken * sizeof *to);
    count -= taken;
    memmove(waiting, waiting + taken, (size_t)count * sizeof *waiting);
    return taken;
}

static void notify_waiters(void)
{
    rad_chan *batch[2 * WAITERS];
    int taken;
    do {
        rad_mutex_lock(&lock);
        taken = take(batch, fixed ? 2 * WAITERS : BATCH);
        rad_mutex_unlock(&lock);
        for (int i = 0; i < taken; i++) SEND(batch[i]);
    } while (taken > 0 && !fixed);
}

static void wait_in_line(int i)
{
    rad_mutex_lock(&lock);
    waiting[count++] = inboxes[i];
    rad_mutex_unlock(&lock);
}

static int waits(void *arg)
{
    int i = (int)(intptr_t)arg;
    while (rad_recv(inboxes[i], NULL, RAD_FOREVER) == 0) {
        woken[i]++;
        wait_in_line(i);
    }
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (intptr_t i = 0; i < WAITERS; i++) {
        inboxes[i] = signals(2);
        wait_in_line((int)i);
        rad_nursery_go(&n, waits, (void *)i);
    }
    notify_waiters();
    for (int i = 0; i < WAITERS; i++) rad_chan_close(inboxes[i], 0);
    CHECK(rad_nursery_wait(&n) == 0);
    for (int i = 0; i < WAITERS; i++) CHECK(woken[i] == 1);
    return 0;
}
