/* select_twins.c — a select that waits with two cases about one thing: either of them may get it. The program takes
 * it to be the one that is named: select_twins KIND INDEX. With the kind `ready` it does not wait. With the kind
 * `thread` a thread, which has selected some times before, selects among three channels: the first and the last have a
 * value. select_twins thread INDEX TIMES */
#define OWN_MAIN
#include "planted.h"

#include <raddle/io.h>
#include <unistd.h>

static rad_chan *chan;
static rad_fiber other, selector;
static rad_mutex mutex;
static rad_rwlock rwlock;
static rad_semaphore none;
static rad_waitgroup group;
static rad_pool *pool;
static rad_timer *timer;
static rad_ticker ticker;
static rad_time late;
static int pipe_ends[2], value, expected;
static void *item;
static rad_select_case cases[2];

static int sleeps(void *arg)
{
    (void)arg;
    return rad_sleep_until(late);
}

static int selects(void *arg)
{
    (void)arg;
    int which = rad_select(cases, 2, RAD_FOREVER);
    if (cases[0].kind == RAD_ON_LOCK) rad_mutex_unlock(&mutex);
    if (cases[0].kind == RAD_ON_READ) rad_rwlock_unlock(&rwlock);
    if (cases[0].kind == RAD_ON_TAKE) rad_pool_give(pool, item);
    assert(which == expected);
    return 0;
}

static int waits(void)
{
    if (rad_spawn(&selector, selects, NULL) != 0) return 1;
    RAD_IGNORE(rad_sleep(1000)); /* with a quiet clock, it waits by then */
    return 0;
}

/* Each opens one thing, lets the select wait for it twice, and then lets it happen. */
static int waits_for(rad_select_case twin)
{
    cases[0] = cases[1] = twin;
    return waits();
}

static int with_channel(rad_select_case twin)
{
    if (rad_chan_create(&chan, sizeof value, 0, RAD_CHAN_BLOCKS) != 0) return 1;
    twin.on.chan = chan;
    twin.value = &value;
    int code = waits_for(twin);
    if (code != 0) return code;
    return twin.kind == RAD_ON_RECV ? rad_send(chan, &value, RAD_FOREVER) : rad_recv(chan, &value, RAD_FOREVER);
}

static int with_recv(void)
{
    return with_channel((rad_select_case){.kind = RAD_ON_RECV});
}

static int with_send(void)
{
    return with_channel((rad_select_case){.kind = RAD_ON_SEND});
}

static int with_join(void)
{
    if (rad_spawn(&other, sleeps, NULL) != 0) return 1;
    return waits_for((rad_select_case){.kind = RAD_ON_JOIN, .on.fiber = other});
}

static int with_lock(void)
{
    rad_mutex_lock(&mutex);
    int code = waits_for((rad_select_case){.kind = RAD_ON_LOCK, .on.mutex = &mutex});
    rad_mutex_unlock(&mutex);
    return code;
}

static int with_read(void)
{
    rad_rwlock_write(&rwlock);
    int code = waits_for((rad_select_case){.kind = RAD_ON_READ, .on.rwlock = &rwlock});
    rad_rwlock_unlock(&rwlock);
    return code;
}

static int with_acquire(void)
{
    int code = waits_for((rad_select_case){.kind = RAD_ON_ACQUIRE, .on.semaphore = &none});
    rad_semaphore_release(&none, 1);
    return code;
}

static int with_group(void)
{
    rad_waitgroup_add(&group, 1);
    int code = waits_for((rad_select_case){.kind = RAD_ON_GROUP, .on.group = &group});
    rad_waitgroup_done(&group);
    return code;
}

static int with_take(void)
{
    void *mine;
    if (rad_pool_create(&pool, 16, 1, NULL) != 0 || rad_pool_take(pool, &mine, 0) != 0) return 1;
    int code = waits_for((rad_select_case){.kind = RAD_ON_TAKE, .on.pool = pool, .value = &item});
    rad_pool_give(pool, mine);
    return code;
}

static int with_timer(void)
{
    if (rad_timer_create(&timer, NULL, NULL) != 0) return 1;
    RAD_IGNORE(rad_timer_start(timer, late));
    return waits_for((rad_select_case){.kind = RAD_ON_TIMER, .on.timer = timer});
}

static int with_time(void)
{
    return waits_for((rad_select_case){.kind = RAD_ON_TIME, .on.time = late});
}

static int with_tick(void)
{
    rad_ticker_start(&ticker, 2000);
    return waits_for((rad_select_case){.kind = RAD_ON_TICK, .on.ticker = &ticker});
}

/* A time, and a ticker whose next tick is at that time. */
static int with_alarm(void)
{
    rad_ticker_start(&ticker, 2000);
    cases[0] = (rad_select_case){.kind = RAD_ON_TICK, .on.ticker = &ticker};
    cases[1] = (rad_select_case){.kind = RAD_ON_TIME, .on.time = late};
    return waits();
}

/* One case can be done at once, so neither of the two about the other channel can. */
static int with_ready(void)
{
    rad_chan *empty;
    if (rad_chan_create(&chan, sizeof value, 1, RAD_CHAN_BLOCKS) != 0) return 1;
    if (rad_chan_create(&empty, sizeof value, 1, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_select_case of_empty = {.kind = RAD_ON_RECV, .on.chan = empty, .value = &value};
    rad_select_case all[] = {{.kind = RAD_ON_RECV, .on.chan = chan, .value = &value}, of_empty, of_empty};
    if (rad_send(chan, &value, RAD_FOREVER) != 0) return 1;
    return rad_select(all, 3, RAD_FOREVER);
}

static int with_cancel(void)
{
    int code = waits_for((rad_select_case){.kind = RAD_ON_CANCEL});
    rad_cancel(selector);
    return code;
}

static int with_file(void)
{
    if (pipe(pipe_ends) != 0) return 1;
    int code = waits_for((rad_select_case){.kind = RAD_ON_FD, .on.file = {pipe_ends[0], RAD_READABLE}});
    return code != 0 || rad_write(pipe_ends[1], "x", 1, RAD_FOREVER) != 1;
}

/* ---- A thread ---------------------------------------------------------------------------------------------------- */

static int times;

static int thread_selects(void *channels)
{
    rad_chan **in = channels;
    rad_select_case all[3];
    for (int i = 0; i < 3; i++) all[i] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = in[i], .value = &value};
    for (int i = 0; i < times; i++) {
        rad_select_case none[] = {all[1], {.kind = RAD_OFF}};
        RAD_IGNORE(rad_select(none, 2, 0));
    }
    int which = rad_select(all, 3, 0);
    assert(which != expected);
    return 0;
}

static int other_runs(void *arg)
{
    (void)arg;
    return 0;
}

static int with_thread(void)
{
    rad_chan *in[3];
    for (int i = 0; i < 3; i++) {
        if (rad_chan_create(&in[i], sizeof value, 1, RAD_CHAN_BLOCKS) != 0) return 1;
        if (i != 1 && rad_send(in[i], &value, 0) != 0) return 1;
    }
    if (rad_spawn(&selector, other_runs, NULL) != 0) return 1;
    return rad_blocking(thread_selects, in, NULL, RAD_FOREVER);
}

static int (*scene)(void);

static int start(void *arg)
{
    (void)arg;
    late = rad_after(2000);
    int code = scene();
    RAD_IGNORE(rad_join(selector, NULL, RAD_FOREVER));
    return code;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } all[] = {{"recv", with_recv},   {"send", with_send},       {"join", with_join},   {"lock", with_lock},
               {"read", with_read},   {"acquire", with_acquire}, {"group", with_group}, {"take", with_take},
               {"timer", with_timer}, {"time", with_time},       {"tick", with_tick},   {"cancel", with_cancel},
               {"file", with_file},   {"alarm", with_alarm},     {"ready", with_ready}, {"thread", with_thread}};
    for (size_t i = 0; argc > 2 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0) scene = all[i].run;
    expected = argc > 2 ? argv[2][0] - '0' : 0;
    times = argc > 3 ? argv[3][0] - '0' : 0;
    return scene ? rad_main(NULL, start, NULL, NULL) : 2;
}
