/* disk.c — see disk.h.
 *
 *     run                                      writer
 *     1  copies into the ring
 *     2  put += size (release)                 3  reads put (acquire): the bytes are there
 *                                              4  writes them to the file
 *     6  reads taken (acquire): there is room  5  taken += size (release)
 *
 * `bell` is raised whenever `put`, `over` or `taken` change, and is what both wait for. */
#include "load/api/disk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/append.h"
#include "os/clock.h"
#include "os/thread.h"
#include "os/wait.h"

#include <string.h>

struct rad__load_disk {
    rad_os_append *file;
    uint8_t *ring;
    uint32_t size;
    uint64_t patience_ns;
    _Atomic uint64_t put, taken; /* bytes, since the beginning */
    _Atomic uint32_t bell;
    _Atomic int failed; /* a code of the writer's; its error is below */
    _Atomic bool over;
    rad_error error;
    rad_os_thread thread;
};

static void ring_bell(rad__load_disk *d)
{
    /* Pairs with the acquire loads of the bell before each wait. */
    atomic_fetch_add_explicit(&d->bell, 1, memory_order_release);
    rad__os_word_wake(&d->bell, UINT32_MAX);
}

/* ---- The writer ------------------------------------------------------------------------------------------ */

static void write_some(rad__load_disk *d, uint64_t taken, uint64_t put)
{
    uint32_t from = (uint32_t)(taken % d->size);
    uint64_t count = put - taken < d->size - from ? put - taken : d->size - from;
    if (atomic_load_explicit(&d->failed, memory_order_relaxed) == 0) {
        int code = rad__os_append_put(d->file, d->ring + from, (size_t)count, &d->error);
        /* Pairs with the acquire loads in rad__load_disk_put and _close: the error is complete. */
        if (code != 0) atomic_store_explicit(&d->failed, code, memory_order_release);
    }
    /* Pairs with the acquire load in room: the bytes may be overwritten. */
    atomic_store_explicit(&d->taken, taken + count, memory_order_release);
    ring_bell(d);
}

static void write_all(void *context)
{
    rad__load_disk *d = context;
    for (;;) {
        /* Pairs with ring_bell. */
        uint32_t bell = atomic_load_explicit(&d->bell, memory_order_acquire);
        /* Pairs with the release store in rad__load_disk_close: nothing is put after it. */
        bool over = atomic_load_explicit(&d->over, memory_order_acquire);
        /* Pairs with the release store in rad__load_disk_put. */
        uint64_t put = atomic_load_explicit(&d->put, memory_order_acquire);
        uint64_t taken = atomic_load_explicit(&d->taken, memory_order_relaxed);
        if (put != taken)
            write_some(d, taken, put);
        else if (over)
            return;
        else
            rad__os_word_wait(&d->bell, bell);
    }
}

/* ---- The run --------------------------------------------------------------------------------------------- */

int rad__load_disk_open(rad__load_disk **out, const char *path, uint32_t ring_bytes, uint64_t patience_ns,
                        rad_error *error)
{
    rad__load_disk *d = rad__alloc(1, sizeof *d);
    *out = NULL;
    if (d == NULL) return rad__error_memory(error);
    d->size = ring_bytes;
    d->patience_ns = patience_ns;
    d->ring = rad__alloc(ring_bytes, 1);
    int code = d->ring == NULL ? rad__error_memory(error) : rad__os_append_open(&d->file, path, error);
    if (code == 0) code = rad__os_thread_create(&d->thread, write_all, d, 64 << 10, RAD_NONE, error);
    if (code != 0) {
        rad__os_append_close(d->file, NULL);
        rad__free(d->ring);
        rad__free(d);
        return code;
    }
    *out = d;
    return 0;
}

static uint64_t room(const rad__load_disk *d)
{
    uint64_t put = atomic_load_explicit(&d->put, memory_order_relaxed);
    /* Pairs with the release store in write_some. */
    return d->size - (put - atomic_load_explicit(&d->taken, memory_order_acquire));
}

bool rad__load_disk_is_behind(const rad__load_disk *d)
{
    return room(d) < d->size / 2;
}

/* False: the disk had its time. */
static bool wait_for_room(rad__load_disk *d)
{
    uint64_t began = rad__os_now_ns();
    while (room(d) == 0) {
        /* Pairs with ring_bell. */
        uint32_t bell = atomic_load_explicit(&d->bell, memory_order_acquire);
        uint64_t waited = rad__os_now_ns() - began;
        if (waited >= d->patience_ns) return false;
        if (room(d) == 0) rad__os_word_wait_for(&d->bell, bell, d->patience_ns - waited);
    }
    return true;
}

static void put_some(rad__load_disk *d, const uint8_t *data, uint64_t count)
{
    uint64_t put = atomic_load_explicit(&d->put, memory_order_relaxed);
    uint32_t at = (uint32_t)(put % d->size);
    uint64_t first = count < d->size - at ? count : d->size - at;
    memcpy(d->ring + at, data, (size_t)first);
    memcpy(d->ring, data + first, (size_t)(count - first));
    /* Pairs with the acquire load in write_all: the bytes are there. */
    atomic_store_explicit(&d->put, put + count, memory_order_release);
    ring_bell(d);
}

int rad__load_disk_put(void *context, const void *data, size_t size, rad_error *error)
{
    rad__load_disk *d = context;
    const uint8_t *at = data;
    while (size > 0) {
        /* Pairs with the release store in write_some. */
        int failed = atomic_load_explicit(&d->failed, memory_order_acquire);
        if (failed != 0) return rad__error(error, failed, "%s", d->error.text);
        if (!wait_for_room(d))
            return rad__error(error, RAD_EIO, "the log cannot be written fast enough (EventLogFull)");
        uint64_t free = room(d); /* once: the writer makes more of it meanwhile */
        uint64_t count = free < size ? free : size;
        put_some(d, at, count);
        at += count;
        size -= (size_t)count;
    }
    return 0;
}

int rad__load_disk_close(rad__load_disk *d, rad_error *error)
{
    if (d == NULL) return 0;
    /* Pairs with the acquire load in write_all. */
    atomic_store_explicit(&d->over, true, memory_order_release);
    ring_bell(d);
    rad__os_thread_join(&d->thread);
    /* Pairs with the release store in write_some. */
    int code = atomic_load_explicit(&d->failed, memory_order_acquire);
    if (code != 0)
        rad__error(error, code, "%s", d->error.text);
    else
        code = rad__os_append_sync(d->file, error);
    int closed = rad__os_append_close(d->file, code == 0 ? error : NULL);
    rad__free(d->ring);
    rad__free(d);
    return code != 0 ? code : closed;
}
