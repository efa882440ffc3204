/* choices.c — how many schedules a program has: a select of which two of five cases can be done, twice; or a fiber that
 * is cancelled while it waits for its nursery. */
#define OWN_MAIN
#include "planted.h"

static const char *how;
static rad_chan *full[2], *empty;
static rad_mutex m;

static int selects(void)
{
    int value = 1;
    if (rad_chan_create(&full[0], sizeof(int), 1, RAD_CHAN_BLOCKS) != 0 ||
        rad_chan_create(&full[1], sizeof(int), 1, RAD_CHAN_BLOCKS) != 0 ||
        rad_chan_create(&empty, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (rad_send(full[i], &value, RAD_FOREVER) != 0) return 1;
    rad_mutex_lock(&m);
    for (int i = 0; i < 2; i++) {
        rad_select_case cases[] = {
            {.kind = RAD_ON_LOCK, .on.mutex = &m},
            {.kind = RAD_ON_RECV, .on.chan = full[0], .value = &value},
            {.kind = RAD_ON_SEND, .on.chan = empty, .value = &value},
            {.kind = RAD_ON_RECV, .on.chan = full[1], .value = &value},
            {.kind = RAD_ON_TIME, .on.time = rad_after(1000)},
        };
        int done = rad_select(cases, 5, RAD_FOREVER);
        assert(done == 1 || done == 3);
    }
    rad_mutex_unlock(&m);
    return 0;
}

static int waits(void *arg)
{
    (void)arg;
    return rad_sleep(RAD_FOREVER / 4) == RAD_ECANCELED ? 0 : 1;
}

static int owner(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, waits, NULL);
    return rad_nursery_wait(&n) == RAD_ECANCELED ? 0 : 1;
}

static int start(void *arg)
{
    rad_fiber fiber;
    (void)arg;
    if (strcmp(how, "select") == 0) return selects();
    if (rad_spawn(&fiber, owner, NULL) != 0) return 1;
    rad_cancel(fiber);
    int code = rad_join(fiber, NULL, RAD_FOREVER);
    rad_release(fiber);
    return code;
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    return rad_main(NULL, start, NULL, NULL);
}
