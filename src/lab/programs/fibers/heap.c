/* heap.c — base/alloc.h for the lab's part of a process under test: memory that a child of fork shares with its parent.
 *
 * The child takes the kernel through a run, in memory that the parent then reads as if it had done so itself
 * (server.c). The program's memory is libc's, and a child has its own copy of that.
 *
 * Blocks have sizes of powers of two; what was freed is used again for the same size. A child that dies may leave
 * anything here, whatever the program did to it: the process that keeps the original (keeper.c) then takes the heap
 * back to where it was. */
#include "lab/programs/fibers/server.h"
#include "lab/programs/fibers/stage.h"

#include "base/alloc.h"
#include "os/apart.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { SMALLEST = 6, CLASSES = 36, HEADER = 64 };

#define HEAP_SIZE (UINT64_C(1) << 34) /* of addresses: memory is taken when it is touched */

typedef struct block {
    uint32_t class;
    struct block *next; /* while it is free */
} block;

static struct heap {
    uint64_t used;
    block *free[CLASSES];
} * heap;

static bool heap_open(void)
{
    void *at = mmap(rad__os_apart(HEAP_SIZE), HEAP_SIZE, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    heap = at;
    heap->used = (sizeof *heap + HEADER - 1) / HEADER * HEADER;
    return true;
}

/* At the start of a cache line, all zero. */
static void *take(size_t size)
{
    uint32_t class = SMALLEST;
    while (class < CLASSES && (UINT64_C(1) << class) < size) class ++;
    if (class == CLASSES || (heap == NULL && !heap_open())) return NULL;
    block *b = heap->free[class];
    uint64_t whole = HEADER + (UINT64_C(1) << class);
    if (b != NULL) {
        heap->free[class] = b->next;
        memset((char *)b + HEADER, 0, size);
    } else {
        if (whole > HEAP_SIZE - heap->used) return NULL;
        b = (block *)(void *)((char *)heap + heap->used);
        heap->used += whole;
    }
    b->class = class;
    return (char *)b + HEADER;
}

static block *block_of(void *p)
{
    return (block *)(void *)((char *)p - HEADER);
}

size_t rad__heap_room(void *p)
{
    return (size_t)1 << block_of(p)->class;
}

/* ---- As it was ------------------------------------------------------------------------------------------ */

/* Tables have many pages that nobody has written: these are not copied, but thrown away again. */
static struct {
    char *copy;
    unsigned char *written; /* bit 0 of one for each page */
    uint64_t pages, page_size;
} kept;

/* A page that is swapped out is not resident, but has been written. */
static bool nothing_is_swapped(void)
{
    struct sysinfo now;
    return sysinfo(&now) == 0 && now.freeswap == now.totalswap;
}

bool rad__heap_keep(void)
{
    uint64_t size = kept.page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    kept.pages = (heap->used + size - 1) / size;
    uint64_t whole = kept.pages * (size + 1);
    kept.copy = rad__stage_reserve(whole); /* it has every pointer that the lab had: no root of the program */
    if (kept.copy == NULL) return false;
    kept.written = (unsigned char *)kept.copy + kept.pages * size;
    bool known = mincore(heap, kept.pages * size, kept.written) == 0 && nothing_is_swapped();
    if (!known) memset(kept.written, 1, kept.pages);
    for (uint64_t i = 0; i < kept.pages; i++)
        if (kept.written[i] & 1) memcpy(kept.copy + i * size, (char *)heap + i * size, size);
    return true;
}

/* To the next page that is not like this one. */
static uint64_t alike_to(uint64_t from)
{
    uint64_t to = from + 1;
    while (to < kept.pages && ((kept.written[to] ^ kept.written[from]) & 1) == 0) to++;
    return to;
}

void rad__heap_back(void)
{
    for (uint64_t from = 0, to; from < kept.pages; from = to) {
        to = alike_to(from);
        char *at = (char *)heap + from * kept.page_size;
        if (kept.written[from] & 1)
            memcpy(at, kept.copy + from * kept.page_size, (to - from) * kept.page_size);
        else
            madvise(at, (to - from) * kept.page_size, MADV_REMOVE);
    }
    uint64_t end = kept.pages * kept.page_size;
    madvise((char *)heap + end, HEAP_SIZE - end, MADV_REMOVE);
}

/* ---- base/alloc.h --------------------------------------------------------------------------------------- */

void *rad__alloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : take(bytes);
}

void *rad__alloc_lines(size_t count, size_t size)
{
    return rad__alloc(count, size);
}

void *rad__alloc_later(size_t count, size_t size)
{
    return rad__alloc(count, size);
}

void *rad__alloc_lines_later(size_t count, size_t size, void **memory)
{
    return *memory = rad__alloc(count, size);
}

void rad__free(void *p)
{
    if (p == NULL) return;
    block *b = block_of(p);
    b->next = heap->free[b->class];
    heap->free[b->class] = b;
}

char *rad__copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = take(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

bool rad__grow(void **p, uint32_t *capacity, uint32_t need, size_t element_size)
{
    enum { FIRST = 8 };
    if (need <= *capacity) return true;
    uint64_t next = *capacity ? *capacity : FIRST;
    while (next < need) next *= 2;
    if (next > UINT32_MAX) next = need;
    void *grown = rad__alloc((size_t)next, element_size);
    if (grown == NULL) return false;
    if (*p != NULL) memcpy(grown, *p, *capacity * element_size);
    rad__free(*p);
    *p = grown;
    *capacity = (uint32_t)next;
    return true;
}

void rad__alloc_fail_at(uint64_t n)
{
    (void)n; /* tests of the lab itself make it fail, not here */
}
