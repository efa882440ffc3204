/* ten.c — two fibers that make ten operations each: what a step costs under test (bench/bench_program.c).
 *
 *     ten                   1 mutex, locked and unlocked five times by each
 *     ten fork COUNT FILE   before that: what fork and wait cost in this process, appended to FILE in ns of CPU time
 *     ten many COUNT        so many fibers that sleep for a time of their own, and then end */
#include <raddle.h>

#include "fork_cost.h"

#include <stdint.h>
#include <string.h>

static rad_mutex lock;

static int five(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        rad_mutex_lock(&lock);
        rad_mutex_unlock(&lock);
    }
    return 0;
}

static int sleeper(void *arg)
{
    rad_sleep((uint64_t)(uintptr_t)arg * 1000);
    return 0;
}

static int argument_count;
static char **arguments;

static int start(void *arg)
{
    rad_nursery n;
    long many = argument_count > 2 && strcmp(arguments[1], "many") == 0 ? strtol(arguments[2], NULL, 10) : 0;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (long i = 0; i < many; i++) rad_nursery_go(&n, sleeper, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < 2 && many == 0; i++) rad_nursery_go(&n, five, NULL);
    return rad_nursery_wait(&n);
}

static int forker(void *arg)
{
    rad_yield();
    forks((int)strtol(arguments[2], NULL, 10), arguments[3]);
    return start(arg);
}

int main(int argc, char **argv)
{
    bool fork = argc == 4 && strcmp(argv[1], "fork") == 0;
    argument_count = argc;
    arguments = argv;
    return rad_main(NULL, fork ? forker : start, NULL, NULL);
}
