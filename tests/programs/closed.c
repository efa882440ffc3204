/* closed.c — a fiber closes the channel when it has received one value, and the other may still send. */
#include "planted.h"

static rad_chan *c;
static rad_waitgroup sent;

static int sender(void *arg)
{
    int value = 1;
    (void)arg;
    for (int i = 0; i < 2; i++) RAD_IGNORE(rad_send(c, &value, RAD_FOREVER));
    rad_waitgroup_done(&sent);
    return 0;
}

static int closer(void *arg)
{
    int value;
    (void)arg;
    RAD_IGNORE(rad_recv(c, &value, RAD_FOREVER));
    if (fixed) RAD_IGNORE(rad_waitgroup_wait(&sent, RAD_FOREVER));
    rad_chan_close(c, 0);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    if (rad_chan_create(&c, sizeof(int), 2, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_waitgroup_add(&sent, 1);
    int code = both(sender, closer);
    rad_chan_destroy(c);
    return code;
}
