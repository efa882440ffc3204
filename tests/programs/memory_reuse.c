/* memory_reuse.c — memory that one thread gives back and another one gets again, by each of the ways in which that
 * happens: the two never meet, so nothing here is a race. With `race` two threads use a page of mmap without order,
 * which is one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 1 << 16, ROUNDS = 3 };

static _Atomic int turns; /* relaxed: orders nothing, and is a decision */

static void turn(void)
{
    atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
}

static void use(char *at, size_t size)
{
    for (size_t i = 0; i < size; i += 512) at[i]++;
    turn();
    for (size_t i = 0; i < size; i += 512) at[i]++;
}

static char *get(size_t size)
{
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) abort();
    return at;
}

static void *maps(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = SIZE + (i & 1); /* also one that is no multiple of eight */
        char *at = get(size);
        use(at, size);
        munmap(at, size);
        turn();
    }
    return unused;
}

/* It moves, and a part of it is replaced in place. */
static void *remaps(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *at = get(SIZE);
        use(at, SIZE);
        at = mremap(at, SIZE, 4 * SIZE, MREMAP_MAYMOVE);
        if (at == MAP_FAILED) abort();
        use(at, 4 * SIZE);
        mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        use(at, SIZE);
        munmap(at, 4 * SIZE);
        turn();
    }
    return unused;
}

static void *allocates(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *small = malloc(600), *large = calloc(1, SIZE);
        use(small, 600);
        small = realloc(small, 5000);
        use(small, 5000);
        use(large, SIZE);
        free(small);
        free(large);
        void *aligned;
        if (posix_memalign(&aligned, 4096, 8192) != 0) abort();
        use(aligned, 8192);
        free(aligned);
        turn();
    }
    return unused;
}

/* Stacks, thread-local variables and the argument of threads that have ended without being joined. */
static _Thread_local char own[2048];

static void *deep(void *argument)
{
    volatile char local[8192];
    for (size_t i = 0; i < sizeof local; i += 64) local[i] = 1;
    use(own, sizeof own);
    use((char *)(void *)local, sizeof local);
    free(argument);
    return NULL;
}

static void *starts(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t t;
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
        if (pthread_create(&t, &a, deep, calloc(1, 64)) != 0) abort();
        pthread_attr_destroy(&a);
        turn();
    }
    return unused;
}

static char *shared;

static void *races(void *unused)
{
    shared[0]++;
    return unused;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void *(*run)(void *);
    } all[] = {{"maps", maps}, {"remaps", remaps}, {"allocates", allocates}, {"starts", starts}, {"race", races}};
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
        pthread_t a, b;
        if (strcmp(all[i].name, argv[1]) != 0) continue;
        shared = get(SIZE);
        pthread_create(&a, NULL, all[i].run, NULL);
        pthread_create(&b, NULL, all[i].run, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        return 0;
    }
    return 2;
}
