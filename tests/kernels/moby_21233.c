/* moby#21233, a consumer that gives up.
 * A transfer publishes its progress; a watcher forwards the latest value, so that values may be skipped. The consumer
 * expects every value, and returns when one is missing, without taking the others.
 * Goes wrong: the watcher waits forever, and so does the fiber that waits for the watcher, if a value is skipped. */
#include "kernel.h"

enum { LAST = 3 };

static rad_mutex lock = RAD_MUTEX_INIT;
static rad_cond changed = RAD_COND_INIT;
static int latest;
static rad_chan *progress, *watcher_done;

static int transfers(void *unused)
{
    (void)unused;
    for (int i = 1; i <= LAST; i++) {
        rad_mutex_lock(&lock);
        latest = i;
        rad_cond_broadcast(&changed);
        rad_mutex_unlock(&lock);
    }
    return 0;
}

static int watches(void *unused)
{
    (void)unused;
    int seen = 0;
    while (seen < LAST) {
        rad_mutex_lock(&lock);
        while (latest == seen) RAD_IGNORE(rad_cond_wait(&changed, &lock, RAD_FOREVER));
        seen = latest;
        rad_mutex_unlock(&lock);
        RAD_IGNORE(rad_send(progress, &seen, RAD_FOREVER));
    }
    rad_chan_close(progress, 0);
    rad_chan_close(watcher_done, 0);
    return 0;
}

static int consumes(void *unused)
{
    (void)unused;
    int value, before = 0;
    while (rad_recv(progress, &value, RAD_FOREVER) == 0) {
        CHECK(value > before);
        if (!fixed && value != before + 1) return 0; /* the test has failed */
        before = value;
    }
    CHECK(before == LAST);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    progress = channel(sizeof(int), 0);
    watcher_done = signals(0);
    GO(transfers, NULL);
    GO(watches, NULL);
    GO(consumes, NULL);
    RECV(watcher_done);
    return 0;
}
