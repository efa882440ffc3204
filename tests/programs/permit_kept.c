/* permit_kept.c — a fiber with a permit waits for work until its nursery is cancelled, and then ends without giving the
 * permit back. */
#include "planted.h"

static rad_semaphore permits = RAD_SEMAPHORE_INIT(1);
static rad_chan *work;

static int holder(void *arg)
{
    int job;
    (void)arg;
    if (rad_semaphore_acquire(&permits, 1, RAD_FOREVER) != 0) return 0;
    int code = rad_recv(work, &job, RAD_FOREVER);
    if (code == 0 || fixed) rad_semaphore_release(&permits, 1);
    return 0;
}

static int canceler(void *nursery)
{
    rad_yield();
    rad_nursery_cancel(nursery, 0);
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    if (rad_chan_create(&work, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, holder, NULL);
    rad_nursery_go(&n, canceler, &n);
    int code = rad_nursery_wait(&n);
    if (code == 0) code = rad_semaphore_acquire(&permits, 1, RAD_FOREVER);
    rad_chan_destroy(work);
    return code;
}
