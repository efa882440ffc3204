/* misuses.c — the mistake that its first argument names, in a fiber that another one runs beside; with a second
 * argument the same calls as they are meant. */
#define OWN_MAIN
#include "planted.h"

static const char *how;
static bool fixed;
static rad_mutex m;
static rad_cond c;
static rad_rwlock l;
static rad_waitgroup g;

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

static int nothing(void *arg)
{
    (void)arg;
    rad_yield();
    return 0;
}

static int locks(void)
{
    if (is("rad_mutex_unlock")) {
        if (fixed) rad_mutex_lock(&m);
        rad_mutex_unlock(&m);
    }
    if (is("rad_mutex_lock")) {
        rad_mutex_lock(&m);
        if (!fixed) rad_mutex_lock(&m);
        rad_mutex_unlock(&m);
    }
    if (is("rad_cond_wait")) {
        if (fixed) rad_mutex_lock(&m);
        RAD_IGNORE(rad_cond_wait(&c, &m, rad_after(1000)));
        rad_mutex_unlock(&m);
    }
    if (is("rad_rwlock_unlock")) {
        if (fixed) rad_rwlock_read(&l);
        rad_rwlock_unlock(&l);
    }
    if (is("rad_waitgroup_done")) {
        if (fixed) rad_waitgroup_add(&g, 1);
        rad_waitgroup_done(&g);
    }
    return 0;
}

static int channels(void)
{
    rad_chan *chan = NULL;
    int value = 1;
    if (rad_chan_create(&chan, sizeof value, 1, RAD_CHAN_BLOCKS) != 0) return 1;
    if (!fixed) rad_chan_destroy(chan);
    RAD_IGNORE(rad_send(chan, &value, RAD_FOREVER));
    if (fixed) rad_chan_destroy(chan);
    return 0;
}

static int nurseries(void)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    if (is("rad_nursery_go")) RAD_IGNORE(rad_nursery_wait(&n));
    if (!is("rad_nursery_go") || !fixed) rad_nursery_go(&n, nothing, NULL);
    if (is("rad_nursery_wait") && fixed) return rad_nursery_wait(&n);
    return 0;
}

static int bad(void *arg)
{
    (void)arg;
    rad_yield();
    if (is("rad_send")) return channels();
    if (strncmp(how, "rad_nursery", strlen("rad_nursery")) == 0) return nurseries();
    return locks();
}

static int start(void *arg)
{
    (void)arg;
    return both(bad, nothing);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    fixed = argc > 2;
    return rad_main(NULL, start, NULL, NULL);
}
