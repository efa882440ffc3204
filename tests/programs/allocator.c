/* allocator.c — a program that is linked with an allocator of its own, as with jemalloc: with LIBRARY defined this is
 * the allocator, whose operator new calls its heap, and whose operator delete calls free by its name. Each refuses
 * blocks of another heap. With the argument twice: a block is freed twice. */
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *operator_new(size_t size) __asm__("_Znwm");
void operator_delete(void *p) __asm__("_ZdlPv");

#ifdef LIBRARY

enum { ROOM = 4 << 20, HEADER = 64 };

static _Alignas(64) char room[ROOM];
static size_t taken;
static const uint64_t mark = UINT64_C(0x6d61726b);

static void *take(size_t alignment, size_t size)
{
    size_t from = __atomic_fetch_add(&taken, HEADER + alignment + size, __ATOMIC_RELAXED);
    if (from + HEADER + alignment + size > ROOM) return NULL;
    char *p = room + (from + HEADER + alignment - 1) / alignment * alignment;
    memcpy(p - 16, &mark, sizeof mark);
    memcpy(p - 8, &size, sizeof size);
    return p;
}

size_t malloc_usable_size(void *p)
{
    size_t size;
    if (memcmp((char *)p - 16, &mark, sizeof mark) != 0) abort();
    memcpy(&size, (char *)p - 8, sizeof size);
    return size;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void *calloc(size_t count, size_t size)
{
    return take(16, count * size);
}

void *valloc(size_t size)
{
    return take(4096, size);
}

void *realloc(void *p, size_t size)
{
    void *fresh = take(16, size);
    if (p != NULL && fresh != NULL) memcpy(fresh, p, malloc_usable_size(p) < size ? malloc_usable_size(p) : size);
    return fresh;
}

void free(void *p)
{
    if (p != NULL && malloc_usable_size(p) > ROOM) abort();
}

void *operator_new(size_t size)
{
    return take(16, size);
}

void operator_delete(void *p)
{
    free(p);
}

#else

static char *volatile kept;

static void *work(void *arg)
{
    char *p = malloc(100), *page = valloc(5000), *object = operator_new(24);
    assert(malloc_usable_size(p) >= 100 && malloc_usable_size(page) >= 5000);
    memset(page, 1, malloc_usable_size(page));
    memset(object, 1, 24);
    p = realloc(p, 300000);
    memset(p, 1, malloc_usable_size(p));
    free(p);
    free(page);
    operator_delete(object);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    kept = strdup("kept");
    free(kept);
    if (argc > 1 && strcmp(argv[1], "twice") == 0) free(kept);
    puts("ok");
    return 0;
}

#endif
