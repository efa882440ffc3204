/* A waiter does not look again before it waits: the signal may come in between. Edits: 1 a line, 2 a step before,
 * 3 another thread first, 4 a step in between, 5 the bug mended, 6 steps of the other thread, 7 another call, under the
 * lock, 8 threads begin in another order, 9 the lock renamed. */
#include <pthread.h>
#include <stdio.h>
#if EDIT == 9
#define lock door
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int flag;
static int look(void)
{
    pthread_mutex_lock(&lock);
    int is = flag;
    pthread_mutex_unlock(&lock);
    return is;
}
static void extra(void)
{
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
}
static void *waits(void *unused)
{
#if EDIT == 1
    puts("waits");
#endif
#if EDIT == 2
    extra();
#endif
#if EDIT == 5
    pthread_mutex_lock(&lock);
    while (!flag) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
#else
    if (!look()) {
#if EDIT == 4
        extra();
#endif
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&ready, &lock);
        pthread_mutex_unlock(&lock);
    }
#endif
    return unused;
}
static void *sets(void *unused)
{
#if EDIT == 6
    extra();
    extra();
#endif
    pthread_mutex_lock(&lock);
    flag = 1;
#if EDIT == 7
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&ready);
#endif
    return unused;
}
static void *third(void *unused)
{
    extra();
    return unused;
}
int main(void)
{
    pthread_t a, b, c;
#if EDIT == 3
    pthread_create(&c, 0, third, 0);
#endif
#if EDIT == 8
    pthread_create(&b, 0, sets, 0);
    pthread_create(&a, 0, waits, 0);
#else
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, sets, 0);
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
#if EDIT == 3
    pthread_join(c, 0);
#endif
    (void)c, (void)third;
    return 0;
}
