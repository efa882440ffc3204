/* Fibers: one reads what two write, and yields in between. Edits: 1 a line, 2 a fiber that does nothing is started
 * first, 3 one is started last, 4 the bug mended. */
#include <assert.h>
#include <raddle.h>
#include <stddef.h>
static rad_mutex lock;
static int written;
static int writer(void *unused)
{
    (void)unused;
#if EDIT == 1
    volatile int line = 0;
    line++;
#endif
    for (int i = 0; i < 3; i++) {
        rad_mutex_lock(&lock);
        written++;
        rad_mutex_unlock(&lock);
    }
    return 0;
}
static int reader(void *unused)
{
    int seen[3];
    (void)unused;
    for (int i = 0; i < 3; i++) {
        rad_mutex_lock(&lock);
        seen[i] = written;
        rad_mutex_unlock(&lock);
        rad_yield();
    }
#if EDIT != 4
    assert(!(seen[0] == 1 && seen[1] == 4 && seen[2] == 5));
#endif
    (void)seen;
    return 0;
}
#if EDIT == 2 || EDIT == 3
static int bystander(void *unused)
{
    (void)unused;
    return 0;
}
#endif
static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
#if EDIT == 2
    rad_nursery_go(&n, bystander, NULL);
#endif
    rad_nursery_go(&n, writer, NULL);
    rad_nursery_go(&n, writer, NULL);
    rad_nursery_go(&n, reader, NULL);
#if EDIT == 3
    rad_nursery_go(&n, bystander, NULL);
#endif
    return rad_nursery_wait(&n);
}
int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
