/* Fibers: two buyers lock the till twice, to look and to take. Edits: 1 a line, 2 a step before, 3 another fiber first,
 * 4 a yield in between, 5 the bug mended, 6 steps in between, 7 a step after, 8 the lock renamed. */
#include <assert.h>
#include <raddle.h>
#include <stddef.h>
#if EDIT == 8
#define till desk
#endif
static rad_mutex till, book;
static int stock = 1, sold;
static void write_book(void)
{
    rad_mutex_lock(&book);
    rad_mutex_unlock(&book);
}
static int buyer(void *unused)
{
    (void)unused;
#if EDIT == 1
    volatile int line = 0;
    line++;
#endif
#if EDIT == 2
    write_book();
#endif
    rad_mutex_lock(&till);
    int there = stock;
#if EDIT == 5
    if (there) {
        stock--;
        sold++;
    }
    assert(sold < 2);
    rad_mutex_unlock(&till);
    return 0;
#endif
    rad_mutex_unlock(&till);
#if EDIT == 4
    rad_yield();
#endif
#if EDIT == 6
    write_book();
    write_book();
#endif
    if (there) {
        rad_mutex_lock(&till);
        stock--;
        sold++;
        assert(sold < 2);
        rad_mutex_unlock(&till);
    }
#if EDIT == 7
    write_book();
#endif
    return 0;
}
static int auditor(void *unused)
{
    (void)unused;
    write_book();
    return 0;
}
static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
#if EDIT == 3
    rad_nursery_go(&n, auditor, NULL);
#endif
    rad_nursery_go(&n, buyer, NULL);
    rad_nursery_go(&n, buyer, NULL);
    (void)auditor;
    return rad_nursery_wait(&n);
}
int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
