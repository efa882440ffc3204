/* parts.c — what rad_send_many sends need not stay together: another sender may come in after the first. */
#include "planted.h"

static rad_chan *chan;
static rad_mutex m;

static int send_pair(int number)
{
    int pair[] = {number, number};
    if (fixed) rad_mutex_lock(&m);
    int sent = rad_send_many(chan, pair, 2, RAD_FOREVER);
    if (fixed) rad_mutex_unlock(&m);
    return sent == 2 ? 0 : 1;
}

static int ones(void *arg)
{
    (void)arg;
    return send_pair(1);
}

static int twos(void *arg)
{
    (void)arg;
    return send_pair(2);
}

static int start(void *arg)
{
    int got[4];
    (void)arg;
    if (rad_chan_create(&chan, sizeof(int), 4, RAD_CHAN_BLOCKS) != 0) return 1;
    int code = both(ones, twos);
    if (rad_recv_many(chan, got, 3, RAD_FOREVER) != 3) return 2; /* and not the fourth */
    RAD_IGNORE(rad_recv(chan, &got[3], RAD_FOREVER));
    assert(got[0] == got[1] && got[2] == got[3]);
    return code;
}
