/* smashed.c — writes into a nursery that is open, as one would who writes behind the end of a buffer beside it. */
#include <raddle.h>

#include <stdint.h>
#include <string.h>

enum { CHILDREN = 3, MANY = 1500 };

static rad_chan *never;

static int waits(void *unused)
{
    int value;
    (void)unused;
    return rad_recv(never, &value, RAD_FOREVER);
}

/* How many children it has, wherever that is kept: one more. */
static void smash(rad_nursery *n)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= sizeof *n; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (char *)n + at, sizeof word);
        if (word != CHILDREN) continue;
        word = CHILDREN + 1;
        memcpy((char *)n + at, &word, sizeof word);
    }
}

static int start(void *arg)
{
    rad_nursery n;
    if (rad_chan_create(&never, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CHILDREN; i++) rad_nursery_go(&n, waits, NULL);
    if (arg != NULL) smash(&n);
    for (int i = 0; i < MANY; i++) rad_yield(); /* it is looked at now and then, also without --check */
    rad_nursery_cancel(&n, 0);
    (void)!rad_nursery_wait(&n);
    return 0;
}

int main(int argc, char **argv)
{
    return rad_main(NULL, start, argc > 1 ? argv[1] : NULL, NULL);
}
