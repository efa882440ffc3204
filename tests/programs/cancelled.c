/* cancelled.c — no bug: a fiber waits on a channel that nobody else knows, until its nursery is cancelled, by a
 * sibling or by its handle. Nothing may be reported. `shielded`: a bug, it cannot be cancelled. */
#define OWN_MAIN
#include "planted.h"

static bool by_handle, shielded;

static int waits(void *arg)
{
    rad_chan *own;
    int value;
    (void)arg;
    if (rad_chan_create(&own, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    if (shielded) rad_shield(true);
    int code = rad_recv(own, &value, RAD_FOREVER);
    rad_chan_destroy(own);
    return code == RAD_ECANCELED ? 0 : 1;
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
    return rad_main(NULL, start, NULL, NULL);
}
