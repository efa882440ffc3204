#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t alloc_fail_at; /* counts down; 1 = this one and all later ones */

void rad__alloc_fail_at(uint64_t n)
{
    atomic_store_explicit(&alloc_fail_at, n, memory_order_relaxed);
}

static bool alloc_fails(void)
{
    uint64_t left = atomic_load_explicit(&alloc_fail_at, memory_order_relaxed);
    if (RAD_LIKELY(left == 0)) return false;
    while (left > 1)
        if (atomic_compare_exchange_weak_explicit(&alloc_fail_at, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return false;
    return left == 1;
}

void *rad__alloc(size_t count, size_t size)
{
    return alloc_fails() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *rad__alloc_lines(size_t count, size_t size)
{
    enum { LINE = 64 };
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - LINE || alloc_fails()) return NULL;
    bytes = (bytes + LINE - 1) / LINE * LINE;
    void *p = aligned_alloc(LINE, bytes ? bytes : LINE);
    return p ? memset(p, 0, bytes) : NULL;
}

void *rad__alloc_later(size_t count, size_t size)
{
    /* From this size on the C library asks the system for new pages, and knows that they are zero. */
    enum { WORTH_IT = 16 << 10, MAPPED = 160 << 10 };
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    if (bytes >= WORTH_IT && bytes < MAPPED) bytes = MAPPED;
    return rad__alloc(1, bytes);
}

void *rad__alloc_lines_later(size_t count, size_t size, void **memory)
{
    enum { LINE = 64 };
    size_t bytes;
    *memory = NULL;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - LINE) return NULL;
    *memory = rad__alloc_later(1, bytes + LINE - 1);
    if (*memory == NULL) return NULL;
    uintptr_t start = (uintptr_t)*memory; /* only its alignment matters. tidy: address ok */
    return (char *)*memory + (LINE - start % LINE) % LINE;
}

void rad__free(void *p)
{
    free(p);
}

char *rad__copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = rad__alloc(1, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

bool rad__grow(void **p, uint32_t *capacity, uint32_t need, size_t element_size)
{
    if (RAD_LIKELY(need <= *capacity)) return true;
    uint64_t wanted = *capacity ? *capacity : 8;
    while (wanted < need) wanted *= 2;
    size_t bytes; /* 32 bits on some machines */
    if (wanted > UINT32_MAX || __builtin_mul_overflow(wanted, element_size, &bytes) || alloc_fails()) return false;
    char *grown = realloc(*p, bytes);
    if (grown == NULL) return false;
    memset(grown + (size_t)*capacity * element_size, 0, ((size_t)wanted - *capacity) * element_size);
    *p = grown;
    *capacity = (uint32_t)wanted;
    return true;
}
