/* mistakes.c — mistakes of programs that production cannot afford to notice, or not always: a descriptor that is used
 * after it was closed, an object that is freed under a fiber that waits for it, a ticker of two fibers and, if it is
 * asked for, a send to a closed channel. Each call is production's, with a look before it.
 *
 * Certain   is only what cannot be right. A handle that was given up may be used: its calls answer RAD_ESTALE. A
 *           descriptor that another fiber closed may be read: so a timer ends a connection. */
#include "lab/programs/fibers/mistakes.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const rad_runner *current(void)
{
    return rad__stage.current;
}

/* ---- Descriptors ----------------------------------------------------------------------------------------- */

enum { FILES_MAX = 1024, FIBERS_FEW = 64 };

static uint32_t closed_by[FILES_MAX]; /* 1 + the runner that closed it last; 0: none */

static bool files_used;

bool rad__files_are_used(void)
{
    return files_used;
}

static bool is_file(int fd)
{
    return rad__stage.running && fd >= 0 && fd < FILES_MAX;
}

void rad__file_check(int fd, const char *call)
{
    files_used = true;
    if (!is_file(fd) || closed_by[fd] != current()->number + 1) return;
    if (fcntl(fd, F_GETFD) >= 0) { /* it is another one by now */
        closed_by[fd] = 0;
        return;
    }
    rad__program_fails(RAD_ORACLE_MISUSE, call, "%s: %s has closed descriptor %d before (rad_fd_close)", call,
                       current()->role, fd);
}

RAD_INTERNAL int rad__op_fd_close(int fd);

int rad__close_checked(int fd)
{
    int code = rad__op_fd_close(fd);
    if (!is_file(fd)) return code;
    if (rad_errno(code) == EBADF && closed_by[fd] != 0)
        rad__program_fails(RAD_ORACLE_MISUSE, "rad_fd_close",
                           "rad_fd_close: descriptor %d was closed before, by %s: by now it may be "
                           "another file's",
                           fd, rad__stage.runners[closed_by[fd] - 1].role);
    if (code == 0) closed_by[fd] = current()->number + 1;
    return code;
}

/* ---- Tickers --------------------------------------------------------------------------------------------- */

int rad__tick_checked(rad_ticker *t, uint64_t *tick, rad_time until)
{
    for (uint32_t i = 0; rad__stage.running && i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (r->object != t || r->site != RAD_AT_ticker_wait || r->ended || r->enabled) continue;
        if (r != current())
            rad__program_fails(RAD_ORACLE_MISUSE, "rad_ticker_wait",
                               "rad_ticker_wait: %s waits for the same ticker: each needs its own", r->role);
    }
    return rad__op_ticker_wait(t, tick, until);
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

static bool lies_in(const void *address, const char *block, size_t size)
{
    const char *at = address;
    return at >= block && at < block + size; /* tidy: address ok: one block */
}

static bool waits_in(const rad_runner *r, const char *block, size_t size)
{
    if (r->thread != NULL) return rad__thread_waits_in(r, block, size);
    if (r->kind != RAD_RUNNER_FIBER) return false;
    uint64_t what = atomic_load_explicit(&r->slot->waits_for, memory_order_relaxed);
    enum rad_kind kind = (enum rad_kind)(what >> 56);
    uint64_t at = what << 8 >> 8;
    const void *object = (const void *)(uintptr_t)at; /* tidy: address ok: as it was stored */
    if (kind != RAD_KIND_SEVERAL) return object != NULL && lies_in(object, block, size);
    uint32_t count = 1 + atomic_load_explicit(&r->slot->waits_more, memory_order_relaxed);
    const rad_clause *c = object;
    for (uint32_t i = 0; c != NULL && i < count; i++, c = c->further)
        if (lies_in(c->object, block, size)) return true;
    return false;
}

/* The C library marks a block that it keeps for the next one of its size (tcache) by a number that is random, and the
 * same for all: in its second word. It looks at the mark only when the same thread frees the block again. */
static uint64_t mark_of_freed(void)
{
    enum { SMALL = 24 };
    static uint64_t mark;
    if (mark == 0) {
        uint64_t *block = __libc_malloc(SMALL);
        if (block == NULL) return 0;
        block[1] = 0;
        __libc_free(block);
        memcpy(&mark, (const char *)block + 8, sizeof mark);
    }
    return mark;
}

static void freed_twice(const void *block, size_t size)
{
    uint64_t word;
    memcpy(&word, (const char *)block + 8, sizeof word);
    if (word == 0 || word != mark_of_freed()) return;
    rad__stage.current->object = NULL;
    rad__program_fails(RAD_ORACLE_MISUSE, "free", "free: this block of %zu bytes was given back already", size);
}

void rad__free_check(const void *block, size_t size)
{
    rad_stage *s = &rad__stage;
    if (size >= 16) freed_twice(block, size);
    if (s->runner_count > FIBERS_FEW) return;
    for (uint32_t i = 0; i < s->runner_count; i++) {
        const rad_runner *r = &s->runners[i];
        if (r->ended || r->enabled || !waits_in(r, block, size)) continue;
        s->current->object = NULL;
        rad__program_fails(RAD_ORACLE_MISUSE, "free", "free: %s waits for an object in this memory (%s)", r->role,
                           rad__site_name(r->site));
    }
}

/* ---- Channels -------------------------------------------------------------------------------------------- */

int rad__send_checked(rad_chan *chan, int code, const char *call)
{
    rad_stage *s = &rad__stage;
    if (!s->closed_fails || !s->running) return code;
    if (!s->prefix) rad__tell_evaluated(RAD_ORACLE_CLOSED);
    if (code != RAD_ECLOSED) return code;
    s->current->object = chan;
    rad__program_fails(RAD_ORACLE_CLOSED, call, "%s: the channel is closed (--closed)", call);
}
