#define _GNU_SOURCE
#include "os/pages.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { MAPPING_LIMIT_USUAL = 65530 };

static int pages_map(void **p, size_t size, int how, rad_error *error)
{
    *p = NULL;
    void *mapped = MAP_FAILED;
    if (!rad__os_fails(ENOMEM))
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
    if (mapped == MAP_FAILED) return rad__error_memory(error);
    *p = mapped;
    return 0;
}

int rad__os_pages_map(void **p, size_t size, rad_error *error)
{
    return pages_map(p, size, MAP_NORESERVE, error);
}

int rad__os_pages_map_now(void **p, size_t size, rad_error *error)
{
    return pages_map(p, size, MAP_POPULATE, error);
}

void rad__os_pages_unmap(void *p, size_t size)
{
    if (p == NULL) return;
#if defined(__SANITIZE_ADDRESS__)
    /* Frames of a fiber that was left are poisoned still: what is mapped here next is none of them. */
    __asan_unpoison_memory_region(p, size);
#endif
    munmap(p, size);
}

int rad__os_pages_guard(void *p, size_t size, rad_error *error)
{
    if (!rad__os_fails(ENOMEM) && mprotect(p, size, PROT_NONE) == 0) return 0;
    if (errno != ENOMEM) return rad__error(error, RAD_ENOMEM, "cannot guard pages: %s", strerror(errno));
    return rad__error(error, RAD_ELIMIT,
                      "cannot guard pages: a process has at most %u mappings here, and each guard "
                      "takes two; raise vm.max_map_count",
                      rad__os_mapping_limit());
}

int rad__os_pages_mark(void *p, size_t size, rad_error *error)
{
    for (;;) {
        if (!rad__os_fails(ENOMEM) && madvise(p, size, MADV_GUARD_INSTALL) == 0) return 0;
        if (errno == EINTR || errno == EAGAIN) continue; /* somebody else changes the page tables */
        return rad__error(error, RAD_ENOMEM, "cannot guard pages: %s", strerror(errno));
    }
}

bool rad__os_pages_marks_work(void *page)
{
    rad_error ignored = {0};
    if (rad__os_pages_mark(page, rad__os_page_size(), &ignored) != 0) return false;
    return nanosleep(page, NULL) != 0 && errno == EFAULT; /* a time that cannot be read, or none */
}

int rad__os_pages_map_stacks(void **p, size_t size, rad_error *error)
{
    *p = NULL;
    void *mapped = MAP_FAILED;
    if (!rad__os_fails(ENOMEM))
        mapped =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED)
        return rad__error(error, RAD_ENOMEM, "cannot reserve %zu MiB of addresses for stacks: %s", size >> 20,
                          strerror(errno));
    madvise(mapped, size, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses, rightly */
    *p = mapped;
    return 0;
}

int rad__os_pages_forget(void *p, size_t size, rad_error *error)
{
    if (rad__os_fails(ENOMEM) || madvise(p, size, MADV_DONTNEED) != 0)
        return rad__error(error, RAD_ENOMEM, "cannot give pages back: %s", strerror(errno));
    return 0;
}

size_t rad__os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

uint32_t rad__os_mapping_limit(void)
{
    char text[16];
    uint32_t limit = 0;
    int fd = rad__os_fails(ENOENT) ? -1 : open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return MAPPING_LIMIT_USUAL;
    ssize_t size = read(fd, text, sizeof text);
    close(fd);
    for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; i++)
        limit = limit * 10 + (uint32_t)(text[i] - '0');
    return limit ? limit : MAPPING_LIMIT_USUAL;
}
