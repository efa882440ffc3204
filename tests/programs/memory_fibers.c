/* memory_fibers.c — fibers that share memory, for a program that `raddle cc` builds: `counter` races; with `fixed`
 * nothing does. `stacks`: fibers that are on the stacks of others that have ended, which is no race. */
#include <raddle.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static bool fixed;
static rad_mutex mutex;
static rad_once once;
static int counter, limit;

static int sets(void *unused)
{
    (void)unused;
    limit = 2;
    return 0;
}

static int counts(void *unused)
{
    (void)unused;
    if (rad_once_run(&once, sets, NULL, RAD_FOREVER) != 0) return 1;
    if (fixed) rad_mutex_lock(&mutex);
    if (counter < limit) counter++;
    if (fixed) rad_mutex_unlock(&mutex);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, counts, NULL);
    rad_nursery_go(&n, counts, NULL);
    int code = rad_nursery_wait(&n);
    return code ? code : counter != 2;
}

/* ---- Stacks ------------------------------------------------------------------------------------- */

static _Atomic int turns; /* relaxed: orders nothing */

static void use(char *at)
{
    for (int i = 0; i < 1024; i += 64) at[i]++;
    atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
}

static int deep(void *unused)
{
    char local[1024] = {0};
    (void)unused;
    use(local);
    use(local);
    return 0;
}

static int starts(void *unused)
{
    enum { FIBERS = 3 };
    rad_fiber all[FIBERS];
    (void)unused;
    for (int i = 0; i < FIBERS; i++)
        if (rad_spawn(&all[i], deep, NULL) != 0) return 1;
    for (int i = 0; i < FIBERS; i++) rad_release(all[i]);
    return 0;
}

static int stacks(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) rad_nursery_go(&n, starts, NULL);
    return rad_nursery_wait(&n);
}

int main(int argc, char **argv)
{
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    if (argc > 1 && strcmp(argv[1], "stacks") == 0) return rad_main(NULL, stacks, NULL, NULL);
    int code = rad_main(NULL, start, NULL, NULL);
    return code ? code : counter != limit;
}
