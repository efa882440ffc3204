/* rates.c — programs with threads of several sizes: what a run costs under test (bench/bench_program.c).
 *
 *     rates abba                  2 threads with two locks
 *     rates pool                  3 workers, 12 jobs
 *     rates big                   2 threads in 200 MB
 *     rates long                  as abba, 50 times: for the cost of a step
 *     rates NAME fork COUNT FILE  before that: what fork and wait cost in this process */
#include "fork_cost.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;

static void run(void *(*fn)(void *), int count)
{
    pthread_t t[3];
    for (int i = 0; i < count; i++) pthread_create(&t[i], NULL, fn, NULL);
    for (int i = 0; i < count; i++) pthread_join(t[i], NULL);
}

static void *both(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *both_often(void *arg)
{
    for (int i = 0; i < 50; i++) both(arg);
    return arg;
}

enum { WORKERS = 3, JOBS = 12, ROOM = 2 };

static int queue[ROOM], head, tail, done;
static bool stops;

static void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        while (head == tail && !stops) pthread_cond_wait(&filled, &m);
        bool has = head != tail;
        int job = has ? queue[head++ % ROOM] : 0;
        done += has;
        if (has) pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&m);
        if (!has) return arg;
        free(malloc(100 + (size_t)job));
    }
}

static void pool(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int j = 0; j < JOBS; j++) {
        pthread_mutex_lock(&m);
        while (tail - head == ROOM) pthread_cond_wait(&emptied, &m);
        queue[tail++ % ROOM] = j;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    stops = true;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
    if (done != JOBS) abort();
}

static void *nothing(void *arg)
{
    return arg;
}

static void large(void)
{
    enum { SIZE = 200 << 20 };
    char *block = malloc(SIZE);
    if (block == NULL) exit(2);
    memset(block, 1, SIZE);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "big") == 0) large();
    if (argc == 5) forks((int)strtol(argv[3], NULL, 10), argv[4]);
    if (strcmp(name, "abba") == 0)
        run(both, 2);
    else if (strcmp(name, "long") == 0)
        run(both_often, 2);
    else if (strcmp(name, "pool") == 0)
        pool();
    else if (strcmp(name, "big") == 0)
        run(nothing, 2);
    else
        return 2;
    return 0;
}
