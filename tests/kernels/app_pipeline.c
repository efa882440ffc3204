/* A pipeline that can stop early: a source of numbers, workers that square them, and a sink that stops everything when
 * it has found a large square, and then takes what is still under way until the last worker has closed the channel.
 * Goes wrong: a worker that is stopped while it sends a square returns at once, and is not counted as ended. No worker
 * is the last, the channel stays open, and the sink waits forever. Repaired, it ends as the others do. */
#include "kernel.h"

enum { WORKERS = 2, NUMBERS = 6, ENOUGH = 4 };

static rad_chan *numbers, *squares, *stop;
static rad_mutex lock = RAD_MUTEX_INIT;
static int workers_left = WORKERS, taken, made;

static void worker_ends(void)
{
    rad_mutex_lock(&lock);
    bool last = --workers_left == 0;
    rad_mutex_unlock(&lock);
    if (last) rad_chan_close(squares, 0);
}

/* True: it was sent; false: all is to stop. */
static bool send_or_stop(rad_chan *chan, int *value)
{
    rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = chan, .value = value},
                                {.kind = RAD_ON_RECV, .on.chan = stop}};
    return rad_select(cases, 2, RAD_FOREVER) == 0;
}

/* True: *value is the next one; false: there is none, or all is to stop. */
static bool recv_or_stop(rad_chan *chan, int *value)
{
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = chan, .value = value},
                                {.kind = RAD_ON_RECV, .on.chan = stop}};
    return rad_select(cases, 2, RAD_FOREVER) == 0 && cases[0].code == 0;
}

static int source(void *unused)
{
    (void)unused;
    for (int i = 1; i <= NUMBERS; i++)
        if (!send_or_stop(numbers, &i)) break;
    rad_chan_close(numbers, 0);
    return 0;
}

static int works(void *unused)
{
    (void)unused;
    int number;
    while (recv_or_stop(numbers, &number)) {
        int square = number * number;
        rad_mutex_lock(&lock);
        made++;
        rad_mutex_unlock(&lock);
        if (send_or_stop(squares, &square)) continue;
        rad_mutex_lock(&lock);
        made--; /* thrown away */
        rad_mutex_unlock(&lock);
        if (fixed) break;
        return 0;
    }
    worker_ends();
    return 0;
}

static int sink(void *unused)
{
    (void)unused;
    int square;
    bool found = false;
    while (rad_recv(squares, &square, RAD_FOREVER) == 0) {
        taken++;
        CHECK(square >= 1 && square <= NUMBERS * NUMBERS);
        if (square < ENOUGH || found) continue;
        found = true;
        rad_chan_close(stop, 0);
    }
    CHECK(found);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    numbers = channel(sizeof(int), 1);
    squares = channel(sizeof(int), 1);
    stop = signals(0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, source, NULL);
    for (int i = 0; i < WORKERS; i++) rad_nursery_go(&n, works, NULL);
    rad_nursery_go(&n, sink, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(taken == made);
    return code;
}
