/* shared.c — see shared.h. */
#define _GNU_SOURCE
#include "os/shared.h"

#include "base/error.h"
#include "os/apart.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int rad__os_shared_map(void **out, size_t size, rad_error *error)
{
    *out = NULL;
    RAD_ASSERT(size > 0);
    void *at = MAP_FAILED;
    if (!rad__os_fails(ENOMEM))
        at = mmap(rad__os_apart(size), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return rad__error(error, RAD_ENOMEM, "cannot map %zu bytes of shared memory: %s", size, strerror(errno));
    *out = at;
    return 0;
}

int rad__os_shared_join(void **out, size_t size, int fd, rad_error *error)
{
    *out = NULL;
    void *at = rad__os_fails(ENOMEM)
                   ? MAP_FAILED
                   : mmap(rad__os_apart(size), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED)
        return rad__error(error, RAD_ENOMEM, "cannot map %zu bytes of shared memory: %s", size, strerror(errno));
    *out = at;
    return 0;
}

int rad__os_shared_file(void **out, size_t size, int *fd, rad_error *error)
{
    *out = NULL;
    *fd = rad__os_fails(EMFILE) ? -1 : memfd_create("raddle", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)size) != 0) {
        int number = errno;
        if (*fd >= 0) close(*fd);
        *fd = -1;
        return rad__error(error, RAD_EIO, "cannot make a file for shared memory: %s", strerror(number));
    }
    int code = rad__os_shared_join(out, size, *fd, error);
    if (code != 0) {
        close(*fd);
        *fd = -1;
    }
    return code;
}

void rad__os_shared_unmap(void *at, size_t size)
{
    if (at != NULL) munmap(at, size);
}
