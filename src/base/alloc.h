/* alloc.h — the only door to the heap, so that every allocation can be made to fail in tests. */
#ifndef RAD_BASE_ALLOC_H
#define RAD_BASE_ALLOC_H

#include "base/check.h"

/* Zeroed memory, or NULL. */
RAD_INTERNAL void *rad__alloc(size_t count, size_t size);
/* The same at the start of a cache line, which is also the size it is rounded up to. */
RAD_INTERNAL void *rad__alloc_lines(size_t count, size_t size);
/* The same for memory of which most may stay unused: large memory is paid for page by page, when it is touched. */
RAD_INTERNAL void *rad__alloc_later(size_t count, size_t size);
/* … at the start of a cache line. *memory is what has to be freed. */
RAD_INTERNAL void *rad__alloc_lines_later(size_t count, size_t size, void **memory);
RAD_INTERNAL void rad__free(void *p);
RAD_INTERNAL char *rad__copy_text(const char *text); /* NULL when memory ran out */

/* Makes room for `need` elements in the array *p of *capacity elements; doubles, zeroes what is new.
 * On failure nothing changes. */
RAD_INTERNAL bool rad__grow(void **p, uint32_t *capacity, uint32_t need, size_t element_size);

/* Typed form: RAD_GROW(&v->items, &v->capacity, v->count + 1). Asks here first: there nearly always is
 * room, and it stands on hot paths. */
#define RAD_GROW(array, capacity, need)                                                                                \
    (RAD_LIKELY((need) <= *(capacity)) || rad__grow((void **)(array), (capacity), (need), sizeof **(array)))

/* Fault injection: the n-th allocation from now fails, and all after it, in any thread; 0 turns it off. */
RAD_INTERNAL void rad__alloc_fail_at(uint64_t n);

#endif
