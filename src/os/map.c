/* map.c — files as memory; see append.h.
 *
 * A file that becomes shorter while it is mapped takes its pages away, and whoever reads them gets SIGBUS. Here the
 * handler puts pages of zeros in their place and notes it, so that the reader comes to its end and asks
 * (rad__os_map_is_whole). The handler is there only as long as something is mapped; faults elsewhere go to the one
 * before it. The page in which the file ends now does not fault: the kernel has filled its rest with zeros. So the file
 * stays open, and its size is looked at, too.
 *
 * Rejected: reading the whole file into memory, which a sparse file of a terabyte would not bear; reading it block by
 * block, a copy of everything for what almost never happens; jumping out of the handler, over locks that are held. */
#define _GNU_SOURCE
#include "os/append.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAPPINGS_MOST = 1024 };

typedef struct mapping {
    atomic_uintptr_t low; /* 0: free */
    atomic_size_t size;
    atomic_bool cut;
    int fd;
} mapping;

static mapping mappings[MAPPINGS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over what changes the table, and the handler */
static uint32_t mapped;
static struct sigaction before;

/* ---- The fault ------------------------------------------------------------------------------------------- */

static mapping *mapping_at(uintptr_t address)
{
    for (size_t i = 0; i < MAPPINGS_MOST; i++) {
        uintptr_t low = atomic_load_explicit(&mappings[i].low, memory_order_relaxed);
        size_t size = atomic_load_explicit(&mappings[i].size, memory_order_relaxed);
        if (low != 0 && address >= low && address - low < size) return &mappings[i];
    }
    return NULL;
}

/* Pages of zeros from the one that is missing to the end of the mapping. */
static bool patch(mapping *m, uintptr_t address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = address - address % page;
    uintptr_t end =
        atomic_load_explicit(&m->low, memory_order_relaxed) + atomic_load_explicit(&m->size, memory_order_relaxed);
    atomic_store_explicit(&m->cut, true, memory_order_relaxed);
    void *at = (void *)from; /* tidy: address ok: of the fault */
    return mmap(at, end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    int error = errno;
    uintptr_t address = (uintptr_t)info->si_addr; /* tidy: address ok: of the fault */
    mapping *m = mapping_at(address);
    if (m != NULL && patch(m, address)) {
        errno = error;
        return;
    }
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        signal(SIGBUS, SIG_DFL); /* it comes again, and kills as it would have */
    errno = error;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

static bool mapping_add(const void *data, size_t size, int fd)
{
    bool added = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAPPINGS_MOST && !added; i++) {
        if (atomic_load_explicit(&mappings[i].low, memory_order_relaxed) != 0) continue;
        mappings[i].fd = fd;
        atomic_store_explicit(&mappings[i].cut, false, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].size, size, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].low, (uintptr_t)data, memory_order_relaxed);
        added = true;
    }
    if (added && mapped++ == 0) {
        struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
        ours.sa_sigaction = on_bus;
        sigemptyset(&ours.sa_mask);
        sigaction(SIGBUS, &ours, &before);
    }
    pthread_mutex_unlock(&lock);
    return added;
}

static void mapping_drop(const void *data)
{
    pthread_mutex_lock(&lock);
    mapping *m = mapping_at((uintptr_t)data);
    if (m != NULL) {
        close(m->fd);
        atomic_store_explicit(&m->low, 0, memory_order_relaxed);
    }
    if (m != NULL && --mapped == 0) {
        struct sigaction now;
        sigaction(SIGBUS, NULL, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus) sigaction(SIGBUS, &before, NULL);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- Mapping --------------------------------------------------------------------------------------------- */

static int map_file(int fd, size_t size, const char *path, const void **data, rad_error *error)
{
    void *at = rad__os_fails(ENOMEM) ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) return rad__error(error, RAD_EIO, "%s: cannot map: %s", path, strerror(errno));
    if (!mapping_add(at, size, fd)) {
        munmap(at, size);
        return rad__error(error, RAD_ELIMIT, "%s: cannot map: %d files are mapped already", path, MAPPINGS_MOST);
    }
    *data = at;
    return 0;
}

int rad__os_map(const char *path, const void **data, size_t *size, rad_error *error)
{
    uint64_t bytes;
    int fd;
    *data = NULL;
    *size = 0;
    int code = rad__os_open_regular(&fd, path, &bytes, error);
    if (code != 0) return code;
    if (bytes > 0) code = map_file(fd, (size_t)bytes, path, data, error);
    if (code == 0) *size = (size_t)bytes;
    if (*data == NULL) close(fd); /* else rad__os_unmap does */
    return code;
}

static bool is_cut(const mapping *m)
{
    struct stat now;
    if (atomic_load_explicit(&m->cut, memory_order_relaxed)) return true;
    size_t size = atomic_load_explicit(&m->size, memory_order_relaxed);
    return fstat(m->fd, &now) == 0 && (uint64_t)now.st_size < size;
}

int rad__os_map_is_whole(const void *data, const char *path, rad_error *error)
{
    const mapping *m = data != NULL ? mapping_at((uintptr_t)data) : NULL;
    if (m == NULL || !is_cut(m)) return 0;
    rad__error_clear(error); /* whatever was said of its content was said of zeros */
    return rad__error(error, RAD_EIO, "%s: it became shorter while it was read", path);
}

void rad__os_unmap(const void *data, size_t size)
{
    if (size == 0) return;
    mapping_drop(data);
    munmap((void *)(uintptr_t)data, size);
}
