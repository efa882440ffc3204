/* ending.c — how programs with threads end, well or badly: ending HOW. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static const char *how = "";
static volatile int zero, turns = 1;
static int count;

static int deeper(int depth)
{
    volatile char room[4096];
    room[depth % 4096] = (char)depth;
    return turns ? deeper(depth + 1) + room[0] : room[1];
}

static void *body(void *arg)
{
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
    if (strcmp(how, "addresses") == 0) printf("thread %p\n", (void *)pthread_self());
    if (strcmp(how, "crash") == 0) *(volatile int *)(size_t)zero = 1;
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "loop") == 0)
        while (turns) {
        }
    if (strcmp(how, "overflow") == 0) deeper(0);
    if (strcmp(how, "fork") == 0 && fork() == 0) _exit(0);
    if (strcmp(how, "exec") == 0) execl("/bin/true", "true", (char *)NULL);
    if (strcmp(how, "system") == 0 && system("true") != 0) count = -1;
    if (strcmp(how, "outlives") == 0) sleep(1000);
    return arg;
}

static void *other_order(void *arg)
{
    pthread_mutex_lock(&n);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    return arg;
}

static void abba(void)
{
    pthread_t t;
    pthread_create(&t, NULL, other_order, NULL);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
}

static void many(int threads)
{
    pthread_t all[64];
    for (int i = 0; i < threads; i++) assert(pthread_create(&all[i], NULL, body, NULL) == 0);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    assert(count == threads);
}

static void large(void)
{
    size_t size = 200u << 20;
    char *memory = malloc(size);
    assert(memory != NULL);
    memset(memory, 1, size);
    many(2);
    for (size_t i = 0; i < size; i += 4096) assert(memory[i] == 1);
    free(memory);
}

int main(int argc, char **argv)
{
    pthread_t t;
    how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "abba") == 0) {
        abba();
    } else if (strcmp(how, "addresses") == 0) {
        printf("main %p on %p\n", (void *)pthread_self(), (void *)&t);
        many(6);
        exit(3);
    } else if (strcmp(how, "many") == 0) {
        many(64);
    } else if (strcmp(how, "large") == 0) {
        large();
    } else if (strcmp(how, "outlives") == 0) {
        pthread_create(&t, NULL, body, NULL);
        pthread_detach(t);
    } else {
        many(2);
    }
    return 0;
}
