/* calls.c — descriptors, calls that block, and a loop that waits for the clock by looking at it: two fibers add to a
 * number, each in a call that blocks; a byte in a pipe says that one has ended. The lock is missing. */
#include "planted.h"

#include <unistd.h>

static rad_mutex m;
static int sum, ends[2];

static int read_sum(void *arg)
{
    *(int *)arg = sum;
    return 0;
}

static int write_sum(void *arg)
{
    sum = *(int *)arg;
    return 0;
}

static int add(void *arg)
{
    int seen = 0;
    (void)arg;
    if (fixed) rad_mutex_lock(&m);
    RAD_IGNORE(rad_blocking(read_sum, &seen, NULL, RAD_FOREVER));
    seen++;
    RAD_IGNORE(rad_blocking(write_sum, &seen, NULL, RAD_FOREVER));
    if (fixed) rad_mutex_unlock(&m);
    return rad_write(ends[1], "x", 1, RAD_FOREVER) == 1 ? 0 : 1;
}

static int start(void *arg)
{
    rad_nursery n;
    char byte;
    (void)arg;
    if (pipe(ends) != 0 || rad_fd_prepare(ends[0]) != 0 || rad_fd_prepare(ends[1]) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, add, NULL);
    rad_nursery_go(&n, add, NULL);
    for (int i = 0; i < 2; i++)
        if (rad_read(ends[0], &byte, 1, RAD_FOREVER) != 1) return 1;
    rad_time later = rad_after(3000000);
    while (rad_now() < later) rad_yield();
    int code = rad_nursery_wait(&n);
    assert(sum == 2);
    return code;
}
