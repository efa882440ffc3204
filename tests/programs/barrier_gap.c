/* barrier_gap.c — two workers meet at a barrier after each of two rounds; one that finds the budget used up goes home,
 * and the other waits for it. */
#include "planted.h"

static rad_barrier rounds = RAD_BARRIER_INIT(2);
static rad_mutex lock;
static int budget = 3;

static int worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        rad_mutex_lock(&lock);
        bool any = budget-- > 0;
        rad_mutex_unlock(&lock);
        if (!any && !fixed) return 0;
        int code = rad_barrier_wait(&rounds, RAD_FOREVER);
        if (code < 0) return code;
    }
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(worker, worker);
}
