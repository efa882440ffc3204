/* etcd#7492 (found as etcd#7471), a full channel under a lock. Assigning a token takes the lock of the tokens and
 * sends the token to the keeper. The keeper takes new tokens from its channel, and at each tick deletes old ones,
 * which needs the lock.
 * Goes wrong: the channel is full when the tick comes. The sender has the lock and waits for the keeper, who waits
 * for it. */
#include "kernel.h"

static rad_mutex tokens = RAD_MUTEX_INIT;
static rad_chan *added, *ticks, *stop;

static int keeps(void *unused)
{
    int token;
    (void)unused;
    for (;;) {
        rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = added, .value = &token},
                                   {.kind = RAD_ON_RECV, .on.chan = ticks},
                                   {.kind = RAD_ON_RECV, .on.chan = stop}};
        int which = rad_select(cases, 3, RAD_FOREVER);
        if (which == 2 || cases[which].code != 0) return 0;
        if (which == 1) {
            rad_mutex_lock(&tokens);
            rad_mutex_unlock(&tokens); /* old ones are gone */
        }
    }
}

static int assigns(void *unused)
{
    int token = 7;
    (void)unused;
    rad_mutex_lock(&tokens);
    if (!fixed) RAD_IGNORE(rad_send(added, &token, RAD_FOREVER));
    rad_mutex_unlock(&tokens);
    return 0;
}

static int start(void *unused)
{
    rad_nursery clients;
    (void)unused;
    added = channel(sizeof(int), 1);
    ticks = signals(1);
    stop = signals(0);
    GO(keeps, NULL);
    rad_nursery_open(&clients, RAD_FOREVER);
    for (int i = 0; i < 3; i++) rad_nursery_go(&clients, assigns, NULL);
    SEND(ticks);
    CHECK(rad_nursery_wait(&clients) == 0);
    rad_chan_close(stop, 0);
    return 0;
}
