/* thread.h — threads and the CPUs they may run on.
 *
 * Threads made here leave the signals of the process to the others: only those that a thread raises itself
 * (SIGSEGV …) and SIGPROF reach them. */
#ifndef RAD_OS_THREAD_H
#define RAD_OS_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/check.h"

typedef struct rad_os_thread {
    pthread_t handle;
    void (*body)(void *context);
    void *context;
    _Atomic int number; /* the system's, once it runs */
} rad_os_thread;

/* Runs body(context) on a new thread with a stack of at least `stack_size` bytes, on CPU number `cpu` only (RAD_NONE:
 * on any). *t must stay where it is until the thread is joined. RAD_EIO: there is no thread or no such CPU. */
RAD_INTERNAL int rad__os_thread_create(rad_os_thread *t, void (*body)(void *context), void *context, size_t stack_size,
                                       uint32_t cpu, rad_error *error);

/* Waits until body has returned. Once for each thread. */
RAD_INTERNAL void rad__os_thread_join(rad_os_thread *t);

/* Whether the caller is that thread. */
RAD_INTERNAL bool rad__os_thread_is_self(const rad_os_thread *t);

/* Whether a thread that has not been joined sleeps in a system call, as the system sees it right now: it does not
 * run, and would not if there were a CPU for it. */
RAD_INTERNAL bool rad__os_thread_sleeps(const rad_os_thread *t);

/* CPU time of a thread that has not been joined, so far; 0: the system does not say. */
RAD_INTERNAL uint64_t rad__os_thread_cpu_ns(const rad_os_thread *t);

/* child() is called in every child process that a fork makes from now on, by its only thread. False: no memory. */
RAD_INTERNAL bool rad__os_after_fork(void (*child)(void));

/* How many threads the process has; UINT32_MAX when the system does not say. */
RAD_INTERNAL uint32_t rad__os_thread_total(void);

/* How many CPUs the process may use; at least 1. */
RAD_INTERNAL uint32_t rad__os_cpu_count(void);

/* The number of the `index`-th of them, going round; RAD_NONE when the system does not say. */
RAD_INTERNAL uint32_t rad__os_cpu_at(uint32_t index);

/* Lets other threads have this CPU: those that are ready now, or with `longer` for some 50 microseconds. */
RAD_INTERNAL void rad__os_give_way(bool longer);

/* The caller's sleeps end when they should, not up to 50 microseconds later, which is the system's default: the runtime
 * adds its own slack, where it is wanted. A wish. */
RAD_INTERNAL void rad__os_thread_wakes_sharply(void);

/* A moment's rest in a loop that looks at memory. */
static inline void rad__os_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

#endif
