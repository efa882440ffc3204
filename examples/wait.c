/* wait.c — a program with a lost wakeup: it usually works, and sometimes waits for ever. With -DFIXED it does not.
 *
 *     cc -g -pthread wait.c -o wait
 *     raddle explore ./wait
 *
 * The worker sets the flag without the lock: when it does so between main's look at the flag and main's wait, its
 * signal wakes no thread. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void *worker(void *unused)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
#else
    done = 1; // without the lock
#endif
    pthread_cond_signal(&ready);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    while (!done) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return pthread_join(thread, NULL);
}
