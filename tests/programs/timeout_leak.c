/* timeout_leak.c — who asks gives up after 2 ms; the answer, which takes 1 ms or more, then waits for ever. */
#include "planted.h"

static rad_chan *answers;

static int answer(void *arg)
{
    int value = 1;
    (void)arg;
    RAD_IGNORE(rad_sleep(1000000));
    return rad_send(answers, &value, RAD_FOREVER);
}

static int start(void *arg)
{
    rad_nursery n;
    int value;
    (void)arg;
    if (rad_chan_create(&answers, sizeof(int), fixed ? 1 : 0, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, answer, NULL);
    RAD_IGNORE(rad_recv(answers, &value, rad_after(2000000)));
    return rad_nursery_wait(&n);
}
