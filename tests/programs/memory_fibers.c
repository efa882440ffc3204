/* memory_fibers.c — fibers that share memory, for a program that `raddle cc` builds: `counter` races; with `fixed`
 * nothing does. */
#include <raddle.h>
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

int main(int argc, char **argv)
{
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    int code = rad_main(NULL, start, NULL, NULL);
    return code ? code : counter != limit;
}
