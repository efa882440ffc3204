#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static uint64_t alloc_fail_at; /* counts down; 1 = this one and all later ones */

void rad__alloc_fail_at(uint64_t n)
{
    alloc_fail_at = n;
}

static bool alloc_fails(void)
{
    if (RAD_LIKELY(alloc_fail_at == 0)) return false;
    if (alloc_fail_at > 1) {
        alloc_fail_at--;
        return false;
    }
    return true;
}

void *rad__alloc(size_t count, size_t size)
{
    return alloc_fails() ? NULL : calloc(count ? count : 1, size ? size : 1);
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
    if (wanted > UINT32_MAX || alloc_fails()) return false;
    char *grown = realloc(*p, (size_t)wanted * element_size);
    if (grown == NULL) return false;
    memset(grown + (size_t)*capacity * element_size, 0,
           ((size_t)wanted - *capacity) * element_size);
    *p = grown;
    *capacity = (uint32_t)wanted;
    return true;
}
