/* fiber_answers.c — what calls of fibers answer, and how long loops that look at the clock wait. There is no bug in it:
 * each assertion holds in every schedule. */
#include "planted.h"

enum { MS = 1000000, BATCH = 3 };

static rad_chan *chan;
static int sent, received;

/* ---- Batches: what was sent arrives, in order, and not more ---- */

static int sends(void *arg)
{
    int values[BATCH] = {1, 2, 3};
    (void)arg;
    int count = rad_send_many(chan, values, BATCH, RAD_FOREVER);
    assert(count == RAD_ECLOSED || (count >= 1 && count <= BATCH));
    sent = count < 0 ? 0 : count;
    return 0;
}

static int closes(void *arg)
{
    (void)arg;
    rad_chan_close(chan, 0);
    return 0;
}

static int receives(void *arg)
{
    int got[BATCH], count;
    (void)arg;
    while ((count = rad_recv_many(chan, got, BATCH, RAD_FOREVER)) > 0)
        for (int i = 0; i < count; i++) assert(got[i] == ++received);
    assert(count == RAD_ECLOSED);
    return 0;
}

static int batches(size_t capacity)
{
    rad_nursery n;
    if (rad_chan_create(&chan, sizeof(int), capacity, RAD_CHAN_BLOCKS) != 0) return 1;
    sent = received = 0;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, sends, NULL);
    rad_nursery_go(&n, receives, NULL);
    rad_nursery_go(&n, closes, NULL);
    int code = rad_nursery_wait(&n);
    assert(sent == received);
    rad_chan_destroy(chan);
    return code;
}

/* ---- Loops that look at the clock: after something was due they begin with short steps again ---- */

static rad_time looks_for(uint64_t ns)
{
    rad_time from = rad_now();
    while (rad_now() < from + ns) rad_yield();
    return rad_now() - from;
}

static int start(void *arg)
{
    (void)arg;
    (void)fixed;
    for (size_t capacity = 0; capacity < 3; capacity++)
        if (batches(capacity) != 0) return 1;
    looks_for(1000 * MS);
    if (rad_sleep(MS) != 0) return 1;
    assert(looks_for(5 * MS) < 50 * MS);
    return 0;
}
