/* baton.c — each thread of the program on a thread of the system (--real-threads). Slow; the judge of the fast way:
 * the same choices give the same trace.
 *
 * The fast way makes all steps on one thread of the system, which wears the pointer of the runner's donor. Here a
 * runner has a thread of its own, made for its first step, that wears this pointer for ever, and makes its steps: so
 * what the system keeps for each of its threads is the runner's own. One of them runs at a time. Who does has the
 * baton; the kernel hands it over, and waits until it comes back.
 *
 * Donors are used as they are: of a run, which is a fork, they are memory only (donor.c). */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

enum { HOST_STACK = 64 << 10 };

static char *hosts; /* their stacks */
static uint32_t host_count;

/* At the low end of the host's stack. */
struct rad_baton {
    _Atomic uint32_t there; /* 1: its thread has it */
    rad_runner *runner;
};

/* No errno is written: it would be that of the program's thread. */
static void word_call(_Atomic uint32_t *word, int what, uint32_t value)
{
    const long a[6] = {(long)(uintptr_t)word, what, value, 0, 0, 0}; /* tidy: address ok */
    rad__dispatch_pass(SYS_futex, a);
}

static void hand_over(_Atomic uint32_t *word, uint32_t value)
{
    /* release: who sees it sees all that was done before; pairs with the load in await */
    atomic_store_explicit(word, value, memory_order_release);
    word_call(word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void await(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value) /* pairs with hand_over */
        word_call(word, FUTEX_WAIT_PRIVATE, 1 - value);
}

/* The host: its thread waits here between steps. */
static int host(void *context)
{
    rad_baton *b = context;
    rad__dispatch_open();
    for (;;) {
        await(&b->there, 1);
        rad__stage_switch(b->runner);
        hand_over(&b->there, 0);
    }
    return 0;
}

typedef int clone_function(int (*)(void *), void *, int, void *, ...);

static rad_baton *baton_make(rad_runner *r)
{
    static clone_function *real; /* not that of refuse.c */
    const int how = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
    if (real == NULL) rad__libc_find("clone", &real);
    if (hosts == NULL) hosts = rad__stage_reserve((size_t)RAD_THREADS_MAX * HOST_STACK);
    if (hosts == NULL || host_count == RAD_THREADS_MAX) return NULL;
    char *low = hosts + (size_t)host_count++ * HOST_STACK;
    rad_baton *b = (rad_baton *)(void *)low;
    b->runner = r;
    return real(host, low + HOST_STACK, how, b, NULL, r->pointer) >= 0 ? b : NULL;
}

bool rad__baton_step(rad_runner *r)
{
    rad_thread *t = r->thread;
    if (t->baton == NULL) t->baton = baton_make(r);
    if (t->baton == NULL) return false;
    hand_over(&t->baton->there, 1);
    await(&t->baton->there, 0);
    return true;
}
