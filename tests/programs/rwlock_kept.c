/* rwlock_kept.c — a fiber waits for ever with a lock that it has to read, and another one to write; nobody else knows
 * the lock, or what the first one waits for. The program works on meanwhile. With `until` the second one is cancelled
 * in the end: until then it could still do something for the first one. */
#define OWN_MAIN
#include "planted.h"

typedef struct cache {
    rad_rwlock lock;
    rad_chan *changes;
} cache;

static bool fixed, until;

static int reads(void *arg)
{
    cache *c = arg;
    int change;
    rad_rwlock_read(&c->lock);
    RAD_IGNORE(rad_recv(c->changes, &change, fixed ? 0 : RAD_FOREVER));
    rad_rwlock_unlock(&c->lock);
    return 0;
}

static int writes(void *arg)
{
    cache *c = arg;
    if (!until)
        rad_rwlock_write(&c->lock);
    else if (rad_rwlock_write_until(&c->lock, RAD_FOREVER) != 0)
        return 0;
    rad_rwlock_unlock(&c->lock);
    return 0;
}

static cache *made(void)
{
    cache *c = calloc(1, sizeof *c);
    if (c == NULL || rad_chan_create(&c->changes, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return NULL;
    return rad_spawn(NULL, reads, c) == 0 ? c : NULL;
}

__attribute__((noinline)) static int share(void)
{
    cache *c = made();
    return c == NULL || rad_spawn(NULL, writes, c) != 0;
}

__attribute__((noinline)) static int share_in(rad_nursery *n)
{
    cache *c = made();
    return c == NULL || rad_nursery_spawn(n, NULL, writes, c) != 0;
}

static int start(void *arg)
{
    (void)arg;
    if (share() != 0) return 1;
    for (int i = 0; i < 20; i++) rad_yield();
    return 0;
}

static int cancels(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    if (share_in(&n) != 0) return 1;
    for (int i = 0; i < 20; i++) rad_yield();
    rad_nursery_cancel(&n, 0);
    return rad_nursery_wait(&n);
}

int main(int argc, char **argv)
{
    fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    until = argc > 1 && strcmp(argv[1], "until") == 0;
    return rad_main(NULL, until ? cancels : start, NULL, NULL);
}
