/* apart.c — see apart.h. One block behind the other; addresses are not used again. */
#include "os/apart.h"

#include "os/pages.h"

#include <stdatomic.h>

/* Above what is mapped near the program's image, below where the system maps from. */
#define APART_FROM (UINT64_C(1) << 45)

void *rad__os_apart(size_t size)
{
    static _Atomic uint64_t used;
    uint64_t whole = (size / RAD_PAGE_MAX + 2) * RAD_PAGE_MAX; /* with a page between two */
    uint64_t at = APART_FROM + atomic_fetch_add_explicit(&used, whole, memory_order_relaxed);
    return (void *)(uintptr_t)at; /* tidy: address ok: where to map */
}
