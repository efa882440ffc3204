/* istio#16224, a send with a lock held that the receiver needs.
 * The handler of the last event signals the end while it holds a lock. The test takes the lock, to look at the
 * events, before it receives the signal.
 * Goes wrong: the two wait for each other, if the handler comes first. */
#include "kernel.h"

enum { EVENTS = 2 };

static rad_mutex lock = RAD_MUTEX_INIT;
static int handled;
static rad_chan *done;

static int handles(void *unused)
{
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        rad_mutex_lock(&lock);
        bool last = ++handled == EVENTS;
        if (fixed) rad_mutex_unlock(&lock);
        if (last) SEND(done);
        if (!fixed) rad_mutex_unlock(&lock);
    }
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    done = signals(0);
    GO(handles, NULL);
    rad_mutex_lock(&lock);
    CHECK(handled <= EVENTS);
    rad_mutex_unlock(&lock);
    RECV(done);
    return 0;
}
