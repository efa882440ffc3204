/* donor.c — real threads that lend their stack and thread pointer to a runner.
 *
 * A donor sleeps for ever, with all signals blocked: a handler would run on the stack, below its frame, where the
 * runner's frames are. A child of fork has the donors' memory but not their kernel threads, and needs only that.
 *
 * Programs hash what pthread_self returns, so each donor has its own place, whenever it is started: a run that is told
 * starts it later than one that is explored. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/server.h"
#include "lab/programs/fibers/snapshot.h"
#include "lab/programs/threads/threads.h"
#include "os/thread_pointer.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FRAME_ROOM = 4096,
    PREPARED_LEAST = 4, /* also in a process that tells a run: what libc allocates for them is the program's memory */
    PREPARED_MOST = 256,
    GUARD_SIZE = 64 << 10
};

#define PLACES_FROM (UINT64_C(1) << 46)
#define PLACE_SIZE  (UINT64_C(1) << 28)

static rad_donor donors[RAD_THREADS_MAX];
static uint32_t donor_count;

static long word_call(_Atomic uint32_t *word, int what, uint32_t value)
{
    static long (*real)(long, ...); /* not that of refuse.c */
    if (real == NULL) rad__libc_find("syscall", &real);
    return real(SYS_futex, word, what, value, NULL, NULL, 0);
}

static void *donate(void *context)
{
    static _Atomic uint32_t never;
    rad_donor *d = context;
    pthread_attr_t own;
    void *low = NULL;
    size_t size = 0;
    d->pointer = rad__thread_pointer_get();
    if (pthread_getattr_np(rad__thread_handle(), &own) == 0) {
        pthread_attr_getstack(&own, &low, &size);
        pthread_attr_destroy(&own);
    }
    d->low = low;
    d->whole = size;
    d->size = low ? (size_t)((char *)__builtin_frame_address(0) - FRAME_ROOM - d->low) : 0;
    atomic_store_explicit(&d->ready, 1, memory_order_release); /* pairs with the load in donor_make */
    word_call(&d->ready, FUTEX_WAKE_PRIVATE, INT_MAX);
    for (;;) word_call(&never, FUTEX_WAIT_PRIVATE, 0);
    return NULL;
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static rad_donor *donor_start(const pthread_attr_t *attributes)
{
    if (donor_count == RAD_THREADS_MAX) return NULL;
    rad_donor *d = &donors[donor_count];
    sigset_t all, before;
    static create_function *create;
    if (create == NULL) rad__libc_find("pthread_create", &create);
    *d = (rad_donor){.taken = false};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int code = create(&d->handle, attributes, donate, d);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (code != 0) return NULL;
    /* pairs with that in donate */
    while (atomic_load_explicit(&d->ready, memory_order_acquire) == 0) word_call(&d->ready, FUTEX_WAIT_PRIVATE, 0);
    donor_count++;
    return d->size > 0 ? d : NULL;
}

/* While the program runs, too: then what is called here is not the program's. */
static rad_donor *donor_make(const pthread_attr_t *attributes)
{
    rad__dispatch_shut(false);
    rad_donor *d = donor_start(attributes);
    rad__dispatch_shut(rad__stage.running && rad__stage.current != NULL);
    return d;
}

/* Size 0: as the process has it; an own stack is for one donor only. */
static bool is_own_stack(const pthread_attr_t *attributes, size_t *size)
{
    void *base = NULL;
    size_t whole = 0;
    *size = 0;
    if (attributes == NULL) return false;
    pthread_attr_getstacksize(attributes, size);
    /* With a size only, glibc answers a base just below address 0. */
    if (pthread_attr_getstack(attributes, &base, &whole) != 0) return false;
    return base != NULL && (uintptr_t)base < UINTPTR_MAX / 2; /* tidy: address ok: a mark */
}

size_t rad__donor_guard(const pthread_attr_t *attributes)
{
    pthread_attr_t usual;
    size_t size = 0;
    if (is_own_stack(attributes, &size)) return 0;
    if (attributes != NULL) {
        pthread_attr_getguardsize(attributes, &size);
        return size;
    }
    if (pthread_getattr_default_np(&usual) != 0) return 0;
    pthread_attr_getguardsize(&usual, &size);
    pthread_attr_destroy(&usual);
    return size;
}

/* The next donor's, above pages that nobody may touch; NULL: the system maps nothing there. */
static void *stack_at_its_place(size_t size)
{
    void *place = (void *)(uintptr_t)(PLACES_FROM + donor_count * PLACE_SIZE); /* tidy: address ok: where to map */
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE;
    if (size > PLACE_SIZE - 2 * GUARD_SIZE) return NULL;
    char *at = mmap(place, GUARD_SIZE + size, PROT_READ | PROT_WRITE, how, -1, 0);
    if (at == MAP_FAILED) return NULL;
    madvise(at, GUARD_SIZE + size, MADV_NOHUGEPAGE);
    if (at == place && mprotect(at, GUARD_SIZE, PROT_NONE) == 0) return at + GUARD_SIZE;
    munmap(at, GUARD_SIZE + size);
    return NULL;
}

/* As the process has it, and at least this large. */
static rad_donor *donor_make_sized(size_t size)
{
    pthread_attr_t attributes;
    size_t usual = 0;
    if (pthread_attr_init(&attributes) != 0) return NULL;
    pthread_attr_getstacksize(&attributes, &usual);
    if (size < usual) size = usual;
    void *stack = stack_at_its_place(size);
    if (stack != NULL)
        pthread_attr_setstack(&attributes, stack, size);
    else
        pthread_attr_setstacksize(&attributes, size);
    rad_donor *d = donor_make(&attributes);
    pthread_attr_destroy(&attributes);
    return d;
}

static void note_need(uint32_t count, size_t size)
{
    rad_control *c = rad__control;
    if (c == NULL) return;
    if (count > c->donors) c->donors = count;
    if (size > c->donor_size) c->donor_size = size;
}

rad_donor *rad__donor_take(const pthread_attr_t *attributes)
{
    size_t size;
    bool own = is_own_stack(attributes, &size);
    rad_donor *d = NULL;
    uint32_t taken = 1;
    for (uint32_t i = 0; i < donor_count; i++) {
        taken += donors[i].taken;
        if (!own && d == NULL && !donors[i].taken && donors[i].whole >= size) d = &donors[i];
    }
    if (!own) note_need(taken, size);
    if (d == NULL) {
        d = own ? donor_make(attributes) : donor_make_sized(size);
        rad__marks->beyond = own ? "it has a thread on a stack of its own" : "it starts many threads";
    }
    if (d != NULL) d->taken = true;
    return d;
}

static uint32_t fitting(size_t size)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < donor_count; i++) count += donors[i].whole >= size;
    return count;
}

static uint32_t wanted(const rad_control *c)
{
    uint32_t count = c->donors > PREPARED_LEAST ? c->donors : PREPARED_LEAST;
    return count < PREPARED_MOST ? count : PREPARED_MOST;
}

void rad__donors_prepare_least(void)
{
    while (donor_count < PREPARED_LEAST && donor_make_sized(0) != NULL) {
    }
}

void rad__donors_prepare(void)
{
    rad_control *c = rad__control;
    while (fitting(c->donor_size) < wanted(c) && donor_make_sized(c->donor_size) != NULL) {
    }
    c->prepared = fitting(c->donor_size);
    c->prepared_size = c->donor_size;
}

bool rad__donor_waits_in(const void *from, size_t size)
{
    for (uint32_t i = 0; i < donor_count; i++)
        if (!donors[i].taken && (size_t)(donors[i].low - (const char *)from) < size) return true;
    return false;
}

bool rad__donors_lack(void)
{
    const rad_control *c = rad__control;
    return c->prepared < wanted(c) || c->prepared_size < c->donor_size;
}
