/* memory.c — how much memory a program under test has: what malloc gave it, and it has not given back. More than
 * --memory allows is a failure of the run, at the call that asks for it.
 *
 * Rejected: a limit of the system (the program would get NULL, and what it makes of that is another failure, if it is
 * one; and the limit counts stacks that are reserved and never used). Looking at the process from outside (a run that
 * grows step by step would fail at another step each time).
 *
 * The blocks are the C library's, also where the program is linked with another allocator (jemalloc, tcmalloc), which
 * would answer questions about them as if they were its own: so all names by which C gets a block or asks about one are
 * answered here; operators.c has those of C++. One that takes the names with __libc_, too, as tcmalloc and mimalloc do,
 * gives all blocks. */
#define _GNU_SOURCE
#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/mistakes.h"
#include "lab/programs/fibers/server.h"
#include "lab/programs/watched/watched.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library's, under names that need no search. */
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { KEPT_MAX = 256 };

static int64_t held;

#define CALLER __builtin_return_address(0)

/* As glibc has it: the word before a block has its size with the words of its header, and marks below. One that was
 * mapped for itself has two such words. Its own function may be hidden by that of another allocator. */
static size_t usable_by_header(const void *p)
{
    enum { MAPPED = 2, MARKS = 7, WORD = sizeof(size_t) };
    size_t word;
    memcpy(&word, (const char *)p - WORD, WORD);
    return (word & ~(size_t)MARKS) - (word & MAPPED ? 2 * WORD : WORD);
}

typedef size_t usable_function(void *p);

bool rad__memory_is_of_libc(void)
{
    Dl_info heap, libc;
    void *own = dlsym(RTLD_DEFAULT, "__libc_malloc"), *other = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    return dladdr(own, &heap) && dladdr(other, &libc) && heap.dli_fbase == libc.dli_fbase;
}

static size_t usable(void *p)
{
    static bool known;
    static usable_function *real;
    if (RAD_UNLIKELY(!known)) {
        if (!rad__memory_is_of_libc()) rad__libc_find("malloc_usable_size", &real);
        known = true;
    }
    return real ? real(p) : usable_by_header(p);
}

static void *got(void *p, const void *pc)
{
    if (p == NULL) return NULL;
    if (rad__monitor != NULL) rad__watched_allocated(p, usable(p), pc);
    held += (int64_t)usable(p);
    uint64_t limit = rad__stage.memory_limit;
    if (RAD_UNLIKELY(limit > 0 && held > (int64_t)limit && rad__stage.running))
        rad__program_fails(RAD_ORACLE_MEMORY, rad__stage.current->role,
                           "the program holds more than %llu MiB of memory (--memory)",
                           (unsigned long long)(limit >> 20));
    return p;
}

static void gone(void *p)
{
    if (p != NULL) held -= (int64_t)usable(p);
}

/* ---- What was destroyed ---------------------------------------------------------------------------------- */

/* In the order of their destruction: those that are given back keep their place until so many others came. */
static struct {
    void *object;
    bool freed;
} kept[KEPT_MAX];
static uint32_t kept_next, kept_awaited;

void rad__memory_keeps(void *object)
{
    uint32_t at = kept_next++ % KEPT_MAX;
    if (object == NULL) return;
    if (kept[at].object != NULL && !kept[at].freed) kept_awaited--;
    if (kept[at].object != NULL && kept[at].freed) __libc_free(kept[at].object);
    kept[at].object = object;
    kept[at].freed = false;
    kept_awaited++;
}

static bool is_kept(const void *p)
{
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        if (kept[i].object != p || kept[i].freed) continue;
        kept[i].freed = true;
        kept_awaited--;
        return true;
    }
    return false;
}

/* ---- The calls ------------------------------------------------------------------------------- */

RAD_ANSWER(void *, malloc, (size_t size))
{
    if (RAD_UNLIKELY(rad__cxx_works)) return rad__alloc(1, size);
    return got(__libc_malloc(size), CALLER);
}

RAD_ANSWER(void *, calloc, (size_t count, size_t size))
{
    return got(__libc_calloc(count, size), CALLER);
}

static void give(void *p, const void *pc)
{
    if (p == NULL) return;
    size_t size = usable(p);
    if (rad__stage.running) rad__free_check(p, size);
    held -= (int64_t)size;
    if (rad__stage.running && rad__monitor != NULL && rad__watched_free(p, size, pc)) return;
    if (kept_awaited > 0 && is_kept(p)) return;
    __libc_free(p);
}

/* Watched: always another block, so that whoever keeps the old address is found. */
static void *moved(void *p, size_t size, const void *pc)
{
    size_t before = usable(p);
    void *fresh = got(__libc_malloc(size), pc);
    if (fresh == NULL) return NULL;
    memcpy(fresh, p, before < size ? before : size);
    give(p, pc);
    return fresh;
}

static void *resized(void *p, size_t size, const void *pc)
{
    if (p != NULL && size > 0 && rad__monitor != NULL && rad__stage.running) return moved(p, size, pc);
    int64_t before = held;
    gone(p);
    void *grown = __libc_realloc(p, size);
    if (grown == NULL && size > 0) held = before; /* the old block is still there */
    return got(grown, pc);
}

/* For the demangler. */
static void *lab_resized(void *p, size_t size)
{
    void *grown = rad__alloc(1, size);
    size_t room = p ? rad__heap_room(p) : 0;
    if (room > 0 && grown != NULL) memcpy(grown, p, room < size ? room : size);
    rad__free(p);
    return grown;
}

RAD_ANSWER(void *, realloc, (void *p, size_t size))
{
    if (RAD_UNLIKELY(rad__cxx_works)) return lab_resized(p, size);
    return resized(p, size, CALLER);
}

RAD_ANSWER(void *, reallocarray, (void *p, size_t count, size_t size))
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resized(p, bytes, CALLER);
}

RAD_ANSWER(void *, memalign, (size_t alignment, size_t size))
{
    return got(__libc_memalign(alignment, size), CALLER);
}

RAD_ANSWER(void *, aligned_alloc, (size_t alignment, size_t size))
{
    return got(__libc_memalign(alignment, size), CALLER);
}

RAD_ANSWER(int, posix_memalign, (void **p, size_t alignment, size_t size))
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1))) return EINVAL;
    void *block = __libc_memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *p = got(block, CALLER);
    return 0;
}

RAD_ANSWER(void *, valloc, (size_t size))
{
    return got(__libc_memalign((size_t)sysconf(_SC_PAGESIZE), size), CALLER);
}

RAD_ANSWER(void *, pvalloc, (size_t size))
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole;
    if (__builtin_add_overflow(size, page - 1, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    return got(__libc_memalign(page, whole / page * page), CALLER);
}

RAD_ANSWER(size_t, malloc_usable_size, (void *p))
{
    return p ? usable(p) : 0;
}

RAD_ANSWER(void, free, (void *p))
{
    if (RAD_UNLIKELY(rad__cxx_works))
        rad__free(p);
    else
        give(p, CALLER);
}
