/* golang/sync#10 (golang/go#37852), one that leaves the front of the line.
 * A semaphore with weights serves those who wait in the order in which they came: one that wants much holds up one that
 * wants little. One that is cancelled leaves the line.
 * Goes wrong: it was the first, and there is enough for the one behind it, whom nobody wakes. */
#include "kernel.h"

typedef struct waiter {
    int wants;
    rad_chan *ready;
    struct waiter *next;
} waiter;

static rad_mutex lock = RAD_MUTEX_INIT;
static int permits = 2;
static waiter *first;

static void serve_line(void)
{
    while (first != NULL && first->wants <= permits) {
        waiter *w = first;
        permits -= w->wants;
        first = w->next;
        rad_chan_close(w->ready, 0);
    }
}

static void leave_line(waiter *w)
{
    waiter **at = &first;
    while (*at != NULL && *at != w) at = &(*at)->next;
    if (*at != NULL) *at = w->next;
    if (fixed) serve_line();
}

static bool acquire(int wants)
{
    waiter *w = calloc(1, sizeof *w), **last = &first; /* it lives until the process ends */
    w->wants = wants;
    rad_mutex_lock(&lock);
    bool at_once = first == NULL && permits >= wants;
    if (at_once) {
        permits -= wants;
    } else {
        w->ready = signals(0);
        while (*last != NULL) last = &(*last)->next;
        *last = w;
    }
    rad_mutex_unlock(&lock);
    if (at_once || rad_recv(w->ready, NULL, RAD_FOREVER) == RAD_ECLOSED) return true;
    rad_mutex_lock(&lock);
    bool served = rad_chan_code(w->ready) != 0 || rad_recv(w->ready, NULL, 0) == RAD_ECLOSED;
    if (!served) leave_line(w);
    rad_mutex_unlock(&lock);
    return served;
}

static void release(int count)
{
    rad_mutex_lock(&lock);
    permits += count;
    serve_line();
    rad_mutex_unlock(&lock);
}

static int wants(void *arg)
{
    int count = (int)(intptr_t)arg;
    if (acquire(count)) release(count);
    return 0;
}

static int start(void *unused)
{
    rad_fiber large;
    rad_nursery n;
    (void)unused;
    CHECK(acquire(1));
    CHECK(rad_spawn(&large, wants, (void *)2) == 0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, wants, (void *)1);
    rad_cancel(large);
    CHECK(rad_nursery_wait(&n) == 0); /* while one permit is kept */
    release(1);
    return 0;
}
