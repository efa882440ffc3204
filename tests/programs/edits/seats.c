/* Two clerks sell the last seat: each looks, and takes it later. Edits, for tests/cli/realign_programs.sh:
 * 1 lines, 2 a step before, 3 another thread first, 4 the bug mended, 5 a step less, 6 mended otherwise, 7 a function
 * renamed, 8 another thread last, 9 steps in a loop. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t hall = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1, sold, logged;
#if EDIT == 1

#endif
static void note(void)
{
    pthread_mutex_lock(&log_lock);
    logged++;
    pthread_mutex_unlock(&log_lock);
}
#if EDIT == 7
#define clerk seller
#endif
static void *clerk(void *unused)
{
#if EDIT == 2
    note();
#endif
    pthread_mutex_lock(&hall);
    int left = seats;
#if EDIT == 4
    if (left > 0) {
        seats--;
        sold++;
    }
    assert(sold <= 1);
    pthread_mutex_unlock(&hall);
    note();
    return unused;
#endif
    pthread_mutex_unlock(&hall);
#if EDIT != 5
    note();
#endif
#if EDIT == 9
    for (int i = 0; i < 2; i++) note();
#endif
    if (left > 0) {
        pthread_mutex_lock(&hall);
#if EDIT == 6
        if (seats > 0) {
            seats--;
            sold++;
        }
#else
        seats--;
        sold++;
#endif
        assert(sold <= 1);
        pthread_mutex_unlock(&hall);
    }
    return unused;
}
static void *guard(void *unused)
{
    note();
    return unused;
}
int main(void)
{
    pthread_t a, b, c;
#if EDIT == 3
    pthread_create(&c, 0, guard, 0);
#endif
    pthread_create(&a, 0, clerk, 0);
    pthread_create(&b, 0, clerk, 0);
#if EDIT == 8
    pthread_create(&c, 0, guard, 0);
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
#if EDIT == 3 || EDIT == 8
    pthread_join(c, 0);
#endif
    (void)c, (void)guard;
    return 0;
}
