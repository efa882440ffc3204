/* select_miss.c — when work and the order to stop are both there, select may take the order first: what was sent before
 * it is not done. */
#include "planted.h"

static rad_chan *work, *stop;
static int done;

static bool take(rad_time until)
{
    int item;
    if (rad_recv(work, &item, until) != 0) return false;
    done++;
    return true;
}

static int worker(void *arg)
{
    (void)arg;
    for (;;) {
        int item;
        rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = work, .value = &item},
                                   {.kind = RAD_ON_RECV, .on.chan = stop, .value = &item}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) break;
        done++;
    }
    while (fixed && take(0)) {
    }
    return 0;
}

static int boss(void *arg)
{
    int item = 1;
    (void)arg;
    if (rad_send(work, &item, RAD_FOREVER) != 0 || rad_send(work, &item, RAD_FOREVER) != 0) return 1;
    return rad_send(stop, &item, RAD_FOREVER);
}

static int start(void *arg)
{
    (void)arg;
    if (rad_chan_create(&work, sizeof(int), 2, RAD_CHAN_BLOCKS) != 0) return 1;
    if (rad_chan_create(&stop, sizeof(int), 1, RAD_CHAN_BLOCKS) != 0) return 1;
    int code = both(worker, boss);
    assert(done == 2);
    return code;
}
