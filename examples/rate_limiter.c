/* rate_limiter.c — at most N operations per second, with bursts: a channel that holds permits. One fiber puts them in
 * at a steady pace, and throws away what does not fit; an operation takes one out first.
 *
 *     cc rate_limiter.c $(pkg-config --cflags --libs raddle) -o rate_limiter && ./rate_limiter */
#include <raddle.h>
#include <stdatomic.h>
#include <stdio.h>

enum { BURST = 10, CLIENTS = 5, EACH = 12, EVERY_NS = 1000000 };

typedef struct limiter {
    rad_chan *permits; /* values of no size: only their number matters */
    uint64_t every_ns;
} limiter;

/* Absolute times, not sleeps of equal length: being late once does not make it slower for ever. */
static int refill(void *arg)
{
    limiter *l = arg;
    rad_time next = rad_now();
    for (;;) {
        next += l->every_ns;
        if (rad_sleep_until(next) != 0) return 0;        /* cancelled: that is how it ends */
        if (rad_send(l->permits, NULL, 0) < 0) return 1; /* 1: the channel was full */
    }
}

static int limiter_open(limiter *l, rad_nursery *n, uint64_t every_ns, size_t burst)
{
    l->every_ns = every_ns;
    int code = rad_chan_create(&l->permits, 0, burst, RAD_CHAN_DROPS_NEW);
    for (size_t i = 0; code == 0 && i < burst; i++) code = rad_send(l->permits, NULL, 0);
    return code != 0 ? code : rad_nursery_spawn(n, NULL, refill, l);
}

static int limiter_take(limiter *l, rad_time until)
{
    return rad_recv(l->permits, NULL, until);
}

typedef struct clients {
    limiter limiter;
    _Atomic int done;
} clients;

static int client(void *arg)
{
    clients *c = arg;
    for (int i = 0; i < EACH; i++) {
        int code = limiter_take(&c->limiter, RAD_FOREVER);
        if (code != 0) return code;
        atomic_fetch_add(&c->done, 1); /* what is limited */
    }
    return 0;
}

static int start(void *unused)
{
    clients c = {.done = 0};
    rad_nursery background, n;
    (void)unused;
    rad_time begin = rad_now();
    rad_nursery_open(&background, RAD_FOREVER);
    if (limiter_open(&c.limiter, &background, EVERY_NS, BURST) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CLIENTS; i++) rad_nursery_go(&n, client, &c);
    int code = rad_nursery_wait(&n);
    uint64_t took = rad_now() - begin;
    rad_nursery_cancel(&background, 0); /* on purpose: not a failure */
    if (rad_nursery_wait(&background) != 0) code = 1;
    rad_chan_destroy(c.limiter.permits);
    bool limited = took >= (uint64_t)(CLIENTS * EACH - BURST) * EVERY_NS;
    printf("%d operations, %d at once and then one per millisecond: %s\n", c.done, BURST,
           limited ? "not faster than that" : "too fast");
    return code != 0 || !limited;
}

int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
