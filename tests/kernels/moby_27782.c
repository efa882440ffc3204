/* moby#27782, a condition whose signal is behind a send.
 * A follower of a log takes events of a file watcher. When the log is closed the follower removes the watch, and waits
 * for a condition that the watcher's reader signals when it sees the removal. The reader may still be sending an
 * earlier event to the follower.
 * Goes wrong: the follower and the reader wait for each other. */
#include "kernel.h"

enum { MODIFIED, REMOVED };

static rad_mutex lock = RAD_MUTEX_INIT;
static rad_cond removed = RAD_COND_INIT;
static bool watching = true;
static rad_chan *inotify, *events, *closed, *ended;

static int reads_events(void *unused)
{
    (void)unused;
    int event;
    while (rad_recv(inotify, &event, RAD_FOREVER) == 0 && event != REMOVED) {
        rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = events},
                                    {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = ended}};
        RAD_IGNORE(rad_select(cases, 2, RAD_FOREVER));
    }
    rad_mutex_lock(&lock);
    watching = false;
    rad_cond_broadcast(&removed);
    rad_mutex_unlock(&lock);
    return 0;
}

static int follows(void *unused)
{
    (void)unused;
    for (;;) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = events}, {.kind = RAD_ON_RECV, .on.chan = closed}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) break;
    }
    rad_chan_close(ended, 0); /* it takes no more events */
    int event = REMOVED;
    RAD_IGNORE(rad_send(inotify, &event, RAD_FOREVER));
    rad_mutex_lock(&lock);
    while (watching) RAD_IGNORE(rad_cond_wait(&removed, &lock, RAD_FOREVER));
    rad_mutex_unlock(&lock);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    inotify = channel(sizeof(int), 4);
    events = signals(0);
    closed = signals(0);
    ended = signals(0);
    GO(reads_events, NULL);
    GO(follows, NULL);
    int event = MODIFIED;
    RAD_IGNORE(rad_send(inotify, &event, RAD_FOREVER));
    rad_chan_close(closed, 0);
    return 0;
}
