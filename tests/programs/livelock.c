/* livelock.c — two polite fibers: each takes its own lock, tries the other one, and gives way if that is taken. With
 * the argument `fixed` both take them in one order; with `spin` and `spin_fixed` a fiber waits for a flag by yielding.
 * With other words it yields until something comes that only looks as if it never would: by rand, a counter on the
 * heap, the system's random numbers, the clock, a pipe, or a cancellation from which it is shielded many times. */
#define OWN_MAIN
#include "planted.h"

#include <sys/random.h>
#include <unistd.h>

static rad_mutex locks[2];
static volatile bool flag;
static bool sets, ordered;

static int polite(int own)
{
    int first = ordered ? 0 : own, second = 1 - first;
    for (;;) {
        rad_mutex_lock(&locks[first]);
        if (rad_mutex_lock_until(&locks[second], 0) == 0) break;
        rad_mutex_unlock(&locks[first]);
        rad_yield();
    }
    rad_mutex_unlock(&locks[second]);
    rad_mutex_unlock(&locks[first]);
    return 0;
}

static int left(void *arg)
{
    (void)arg;
    return polite(0);
}

static int right(void *arg)
{
    (void)arg;
    return polite(1);
}

static int waits(void *arg)
{
    (void)arg;
    while (!flag) rad_yield();
    return 0;
}

static int setter(void *arg)
{
    (void)arg;
    rad_yield();
    flag = sets;
    return 0;
}

enum { SHIELDS = 200 };

static unsigned *counter;
static int ends[2];
static rad_chan *nothing;

static bool is_told(void)
{
    char byte = 1;
    rad_shield(false);
    return rad_send(nothing, &byte, RAD_FOREVER) != 0 || rad_recv(nothing, &byte, 0) != 0;
}

static bool comes(const char *how)
{
    unsigned char byte = 1;
    if (strcmp(how, "rand") == 0) return rand() % 50 == 0;
    if (strcmp(how, "heap") == 0) return ++*counter == 300;
    if (strcmp(how, "random") == 0) return getrandom(&byte, 1, 0) == 1 && byte < 5;
    if (strcmp(how, "clock") == 0) return rad_now() > UINT64_C(5000000000);
    if (strcmp(how, "pipe") == 0) return rad_read(ends[0], &byte, 1, 0) != 1;
    if (strcmp(how, "shield") == 0) return is_told();
    return true;
}

static int tries(void *how)
{
    while (!comes(how)) rad_yield();
    return 0;
}

static int start_slow(void *how)
{
    char bytes[200] = {0};
    counter = calloc(1, sizeof *counter);
    if (pipe(ends) != 0 || write(ends[1], bytes, sizeof bytes) != sizeof bytes) return 1;
    close(ends[1]);
    if (rad_chan_create(&nothing, 1, 1, RAD_CHAN_BLOCKS) != 0) return 1;
    if (rad_spawn(NULL, setter, NULL) != 0) return 1;
    for (int i = 0; i < SHIELDS; i++) rad_shield(true);
    rad_cancel(rad_self());
    return tries(how);
}

static int start(void *spin)
{
    return spin ? both(waits, setter) : both(left, right);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    ordered = strcmp(how, "fixed") == 0;
    if (argc > 1 && !ordered && strncmp(how, "spin", 4) != 0) return rad_main(NULL, start_slow, argv[1], NULL);
    sets = strcmp(how, "spin_fixed") == 0;
    return rad_main(NULL, start, strncmp(how, "spin", 4) == 0 ? argv[1] : NULL, NULL);
}
