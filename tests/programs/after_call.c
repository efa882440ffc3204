/* after_call.c — what a fiber does right after a call that others can notice: in production another worker comes in
 * between, so here, too. after_call SCENE [fixed]. */
#define _GNU_SOURCE
#define OWN_MAIN
#include "planted.h"

#include <fcntl.h>
#include <unistd.h>

static bool fixed;
static rad_mutex m;
static rad_cond c;
static rad_waitgroup group;
static rad_semaphore permits;
static rad_barrier barrier;
static rad_chan *jobs, *other;
static rad_fiber the_other;
static bool ready, closed;
static int count, results[2], pipe_ends[2];

/* ---- A flag that is set after the unlock: a waiter has looked at it, and no signal comes any more --------------- */

static int waits_for_flag(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    while (!ready) RAD_IGNORE(rad_cond_wait(&c, &m, RAD_FOREVER));
    rad_mutex_unlock(&m);
    return 0;
}

static int sets_flag(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    if (fixed) ready = true;
    rad_cond_signal(&c);
    rad_mutex_unlock(&m);
    ready = true;
    return 0;
}

static int unlocked(void)
{
    return both(waits_for_flag, sets_flag);
}

/* The same, without waiting: two tries to be the first. */
static int tries(void *arg)
{
    (void)arg;
    if (rad_mutex_lock_until(&m, 0) != 0) {
        assert(ready); /* by the one who has it */
        return 0;
    }
    ready = true;
    rad_yield();
    rad_mutex_unlock(&m);
    return 0;
}

static int locks(void *arg)
{
    if (!fixed) return tries(arg);
    rad_mutex_lock(&m);
    ready = true;
    rad_mutex_unlock(&m);
    return 0;
}

static int tried(void)
{
    return both(locks, locks);
}

/* ---- Signals, and what else wakes ------------------------------------------------------------------------------- */

static int waits_for_signal(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    if (!closed) RAD_IGNORE(rad_cond_wait(&c, &m, RAD_FOREVER));
    rad_mutex_unlock(&m);
    assert(ready);
    return 0;
}

static int signals(void *arg)
{
    rad_mutex_lock(&m);
    closed = true;
    rad_mutex_unlock(&m);
    if (fixed) ready = true;
    if (arg)
        rad_cond_broadcast(&c);
    else
        rad_cond_signal(&c);
    ready = true;
    return 0;
}

/* Without the one who looks at `closed` in time: only who waits at the signal sees what is missing. */
static int told(bool all)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, waits_for_signal, NULL);
    RAD_IGNORE(rad_sleep(1000));
    rad_nursery_go(&n, signals, all ? &n : NULL);
    return rad_nursery_wait(&n);
}

static int signalled(void)
{
    return told(false);
}

static int broadcast(void)
{
    return told(true);
}

static int is_done(void *arg)
{
    (void)arg;
    if (fixed) ready = true;
    rad_waitgroup_done(&group);
    ready = true;
    return 0;
}

static int done(void)
{
    rad_nursery n;
    rad_waitgroup_add(&group, 1);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, is_done, NULL);
    RAD_IGNORE(rad_waitgroup_wait(&group, RAD_FOREVER));
    assert(ready);
    return rad_nursery_wait(&n);
}

static int releases(void *arg)
{
    (void)arg;
    if (fixed) ready = true;
    rad_semaphore_release(&permits, 1);
    ready = true;
    return 0;
}

static int acquires(void *arg)
{
    (void)arg;
    if (rad_semaphore_acquire(&permits, 1, RAD_FOREVER) == 0) assert(ready);
    return 0;
}

static int released(void)
{
    rad_semaphore_init(&permits, 0);
    return both(acquires, releases);
}

static int meets(void *arg)
{
    if (fixed && arg == NULL) ready = true;
    RAD_IGNORE(rad_barrier_wait(&barrier, RAD_FOREVER));
    if (arg)
        assert(ready);
    else
        ready = true;
    return 0;
}

static int met(void)
{
    rad_nursery n;
    rad_barrier_init(&barrier, 2);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, meets, &n);
    rad_nursery_go(&n, meets, NULL);
    return rad_nursery_wait(&n);
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

/* Counted after it was sent: whoever has it already finds it not counted. */
static int sends(void *arg)
{
    int job = 1;
    (void)arg;
    if (fixed) count++;
    RAD_IGNORE(rad_send(jobs, &job, RAD_FOREVER));
    if (!fixed) count++;
    return 0;
}

static int receives(void *arg)
{
    int job;
    (void)arg;
    if (rad_recv(jobs, &job, RAD_FOREVER) == 0) assert(--count >= 0);
    return 0;
}

static int sent(void)
{
    return both(receives, sends);
}

/* A receiver that only looks: it is never woken. */
static int looks(void *arg)
{
    int job;
    (void)arg;
    if (rad_recv(jobs, &job, 0) == 0) assert(--count >= 0);
    return 0;
}

static int looked(void)
{
    return both(looks, sends);
}

static int selects(void *arg)
{
    int job;
    (void)arg;
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = jobs, .value = &job},
                               {.kind = RAD_ON_RECV, .on.chan = other, .value = &job}};
    if (rad_select(cases, 2, 0) == 0) assert(--count >= 0);
    return 0;
}

static int selected(void)
{
    return both(selects, sends);
}

/* Two workers take jobs in their order, and are done with them in another one. */
static int works(void *arg)
{
    int job;
    (void)arg;
    if (rad_recv(jobs, &job, RAD_FOREVER) == 0) results[fixed ? job - 1 : count++] = job;
    return 0;
}

static int received(void)
{
    for (int job = 1; job <= 2; job++) RAD_IGNORE(rad_send(jobs, &job, RAD_FOREVER));
    int code = both(works, works);
    assert(results[0] == 1 && results[1] == 2);
    return code;
}

static int closes(void *arg)
{
    (void)arg;
    if (fixed) closed = true;
    rad_chan_close(jobs, 0);
    closed = true;
    return 0;
}

static int reads_to_end(void *arg)
{
    int job;
    (void)arg;
    if (rad_recv(jobs, &job, RAD_FOREVER) == RAD_ECLOSED) assert(closed);
    return 0;
}

static int ended(void)
{
    return both(reads_to_end, closes);
}

/* ---- Fibers ------------------------------------------------------------------------------------------------- */

static int *published;

static int reads_published(void *arg)
{
    (void)arg;
    assert(*published == 1);
    return 0;
}

/* Published after the fiber was started that reads it. */
static int spawned(void)
{
    static int value = 1, before = 0;
    published = fixed ? &value : &before;
    if (rad_spawn(&the_other, reads_published, NULL) != 0) return 1;
    published = &value;
    RAD_IGNORE(rad_join(the_other, NULL, RAD_FOREVER));
    rad_release(the_other);
    return 0;
}

static int notices(void *arg)
{
    (void)arg;
    while (!rad_is_canceled()) rad_yield();
    assert(ready);
    return 0;
}

static int cancelled(void)
{
    if (rad_spawn(&the_other, notices, NULL) != 0) return 1;
    if (fixed) ready = true;
    rad_cancel(the_other);
    ready = true;
    RAD_IGNORE(rad_join(the_other, NULL, RAD_FOREVER));
    rad_release(the_other);
    return 0;
}

/* ---- Descriptors -------------------------------------------------------------------------------------------- */

static int writes(void *arg)
{
    (void)arg;
    if (fixed) ready = true;
    RAD_IGNORE(rad_write(pipe_ends[1], "x", 1, RAD_FOREVER));
    ready = true;
    return 0;
}

static int reads(void *arg)
{
    char byte;
    (void)arg;
    if (rad_read(pipe_ends[0], &byte, 1, RAD_FOREVER) == 1) assert(ready);
    return 0;
}

static int written(void)
{
    if (pipe2(pipe_ends, O_NONBLOCK) != 0) return 1;
    return both(reads, writes);
}

/* ---- Timers, with a free clock ------------------------------------------------------------------------------ */

static int rings(void *arg)
{
    (void)arg;
    assert(ready);
    return 0;
}

static int started(void)
{
    rad_timer *timer;
    if (rad_timer_create(&timer, rings, NULL) != 0) return 1;
    if (fixed) ready = true;
    RAD_IGNORE(rad_timer_start(timer, rad_after(1000)));
    ready = true;
    RAD_IGNORE(rad_sleep(1000000));
    rad_timer_stop(timer);
    rad_timer_destroy(timer);
    return 0;
}

static int (*scene)(void);

static int start(void *arg)
{
    int code = 1;
    (void)arg;
    if (rad_chan_create(&jobs, sizeof(int), 2, RAD_CHAN_BLOCKS) == 0 &&
        rad_chan_create(&other, sizeof(int), 1, RAD_CHAN_BLOCKS) == 0)
        code = scene();
    rad_chan_destroy(jobs);
    rad_chan_destroy(other);
    return code;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } all[] = {{"unlock", unlocked}, {"try", tried},        {"signal", signalled}, {"broadcast", broadcast},
               {"done", done},       {"release", released}, {"barrier", met},      {"send", sent},
               {"look", looked},     {"select", selected},  {"receive", received}, {"close", ended},
               {"spawn", spawned},   {"cancel", cancelled}, {"write", written},    {"timer", started}};
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0) scene = all[i].run;
    return scene ? rad_main(NULL, start, NULL, NULL) : 2;
}
