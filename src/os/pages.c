#define _GNU_SOURCE
#include "os/pages.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int rad__os_pages_map(void **p, size_t size, rad_error *error)
{
    *p = NULL;
    void *mapped = MAP_FAILED;
    if (!rad__os_fails(ENOMEM))
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return rad__error_memory(error);
    *p = mapped;
    return 0;
}

void rad__os_pages_unmap(void *p, size_t size)
{
    if (p != NULL) munmap(p, size);
}

int rad__os_pages_guard(void *p, size_t size, rad_error *error)
{
    if (rad__os_fails(ENOMEM) || mprotect(p, size, PROT_NONE) != 0)
        return rad__error(error, RAD_ENOMEM, "cannot guard pages: %s", strerror(errno));
    return 0;
}
