/* shared.c — see shared.h. */
#include "os/shared.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int rad__os_shared_map(void **out, size_t size, rad_error *error)
{
    *out = NULL;
    RAD_ASSERT(size > 0);
    void *at = MAP_FAILED;
    if (!rad__os_fails(ENOMEM)) {
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    }
    if (at == MAP_FAILED) {
        return rad__error(error, RAD_ENOMEM, "cannot map %zu bytes of shared memory: %s", size,
                          strerror(errno));
    }
    *out = at;
    return 0;
}

void rad__os_shared_unmap(void *at, size_t size)
{
    if (at != NULL) {
        munmap(at, size);
    }
}
