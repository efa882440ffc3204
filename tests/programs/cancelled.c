/* cancelled.c — no bug: a fiber waits on a channel that nobody else knows, until its nursery is cancelled, by a
 * sibling or by its handle, or until its time has come (`timed`). Nothing may be reported. Two bugs: `shielded`, it
 * cannot be cancelled; `locks`, two fibers wait for each other's mutexes, from which nobody can cancel them. */
#define OWN_MAIN
#include "planted.h"

static bool by_handle, shielded, timed;
static rad_mutex a, b;

static int waits(void *arg)
{
    rad_chan *own;
    int value;
    (void)arg;
    if (rad_chan_create(&own, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    if (shielded) rad_shield(true);
    int code = rad_recv(own, &value, timed ? rad_after(1000000) : RAD_FOREVER);
    rad_chan_destroy(own);
    return code == (timed ? RAD_ETIMEOUT : RAD_ECANCELED) ? 0 : 1;
}

static int yields(void *arg)
{
    (void)arg;
    for (int i = 0; i < 40; i++) rad_yield();
    return 0;
}

static int locks(void *swapped)
{
    rad_mutex_lock(swapped ? &b : &a);
    rad_mutex_lock(swapped ? &a : &b);
    rad_mutex_unlock(&a);
    rad_mutex_unlock(&b);
    return 0;
}

static int start_locks(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, locks, NULL);
    rad_nursery_go(&n, locks, &n);
    int code = yields(arg);
    return code ? code : rad_nursery_wait(&n);
}

static int cancels(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) rad_yield();
    rad_nursery_cancel(rad_nursery_current(), 7);
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    rad_fiber f;
    (void)arg;
    if (timed) return both(waits, yields);
    if (by_handle) {
        if (rad_spawn(&f, waits, NULL) != 0) return 1;
        for (int i = 0; i < 20; i++) rad_yield();
        rad_cancel(f);
        return rad_join(f, NULL, RAD_FOREVER);
    }
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, waits, NULL);
    rad_nursery_go(&n, cancels, NULL);
    return rad_nursery_wait(&n) == 7 ? 0 : 1;
}

int main(int argc, char **argv)
{
    by_handle = argc > 1 && strcmp(argv[1], "handle") == 0;
    shielded = argc > 1 && strcmp(argv[1], "shielded") == 0;
    timed = argc > 1 && strcmp(argv[1], "timed") == 0;
    bool in_locks = argc > 1 && strcmp(argv[1], "locks") == 0;
    return rad_main(NULL, in_locks ? start_locks : start, NULL, NULL);
}
