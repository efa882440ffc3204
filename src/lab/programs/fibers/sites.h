/* sites.h — what a runner of a program under test does next, and what can be wrong with it: the same in the program's
 * process and in raddle. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_SITES_H
#define RAD_LAB_PROGRAMS_FIBERS_SITES_H

#include "rt/ops.h"

#include <raddle/machine.h>
#include <raddle/talk.h>

/* Public calls that production has outside of RAD_OPS; points.txt lists them for tools/seam.sh. All descriptors are
 * one object: the two ends of a pipe are different numbers. */
/* clang-format off */
#define RAD_MORE_OPS(OP) \
    OP(int64_t, read, (int fd, void *to, size_t size, rad_time until), (fd, to, size, until), &rad__files) \
    OP(int64_t, write, (int fd, const void *from, size_t size, rad_time until), (fd, from, size, until), &rad__files) \
    OP(int64_t, accept, (int fd, struct sockaddr *address, uint32_t *length, rad_time until), \
       (fd, address, length, until), &rad__files) \
    OP(int64_t, connect, (int fd, const struct sockaddr *address, uint32_t length, rad_time until), \
       (fd, address, length, until), &rad__files) \
    OP(int, fd_wait, (int fd, unsigned interest, rad_time until), (fd, interest, until), &rad__files) \
    OP(int, fd_close, (int fd), (fd), &rad__files) \
    OP(int, blocking, (rad_fn fn, void *arg, int *answer, rad_time until), (fn, arg, answer, until), NULL) \
    OP(int, runtime_spawn, (rad_runtime *rt, rad_fiber *fiber, rad_fn fn, void *arg), (rt, fiber, fn, arg), NULL) \
    OP(void, runtime_shutdown, (rad_runtime *rt), (rt), NULL) \
    OP(void, runtime_destroy, (rad_runtime *rt), (rt), NULL)

/* The same, behind RAD_OPS: their numbers come last. */
#define RAD_LATER_OPS(OP) \
    OP(void, talk_close, (rad_talk *talk, int code), (talk, code), talk) \
    OP(int, talk_code, (rad_talk *talk), (talk), talk)
/* clang-format on */

RAD_INTERNAL extern const char rad__files;

/* What threads do (lab/threads), and last what follows a call of raddle's. New ones are added at the end. */
/* clang-format off */
#define RAD_THREAD_SITES(SITE) \
    SITE(pthread_begin) SITE(pthread_end) SITE(pthread_create) SITE(pthread_join) SITE(pthread_detach) \
    SITE(pthread_mutex_lock) SITE(pthread_mutex_timedlock) SITE(pthread_mutex_trylock) SITE(pthread_mutex_unlock) \
    SITE(pthread_mutex_destroy) SITE(pthread_relock) \
    SITE(pthread_cond_wait) SITE(pthread_cond_timedwait) SITE(pthread_cond_woken) SITE(pthread_cond_signal) \
    SITE(pthread_cond_broadcast) SITE(pthread_cond_destroy) \
    SITE(pthread_rwlock_rdlock) SITE(pthread_rwlock_wrlock) SITE(pthread_rwlock_tryrdlock) \
    SITE(pthread_rwlock_trywrlock) SITE(pthread_rwlock_unlock) SITE(pthread_rwlock_destroy) \
    SITE(pthread_spin_lock) SITE(pthread_spin_trylock) SITE(pthread_spin_unlock) \
    SITE(pthread_barrier_wait) SITE(pthread_barrier_destroy) SITE(pthread_once) \
    SITE(sem_wait) SITE(sem_trywait) SITE(sem_post) SITE(futex_wait) SITE(futex_woken) SITE(futex_wake) \
    SITE(signal_handler) SITE(pthread_kill) SITE(kill) SITE(raise) SITE(sigwait) SITE(sigsuspend) \
    SITE(pthread_continue) SITE(pthread_cancel) SITE(pthread_testcancel) \
    SITE(flockfile) SITE(funlockfile) SITE(timer_rings) SITE(continue)
/* clang-format on */

/* Sites of the machine. Their numbers are in files: a new operation is added at the end. */
enum {
    RAD_AT_BEGIN = 0, /* a fiber's function is called */
    RAD_AT_RESUME,    /* a fiber that waited continues */
    RAD_AT_END,       /* a fiber's function has returned */
    RAD_AT_MAIN,
    RAD_AT_THREAD,
    RAD_AT_TICK,
#define RAD_AT_ROW(answer, name, parameters, arguments, object) RAD_AT_##name,
    RAD_MORE_OPS(RAD_AT_ROW) RAD_OPS(RAD_AT_ROW) RAD_LATER_OPS(RAD_AT_ROW)
#undef RAD_AT_ROW
#define RAD_AT_ROW(name) RAD_AT_##name,
        RAD_THREAD_SITES(RAD_AT_ROW)
#undef RAD_AT_ROW
            RAD_AT_COUNT,
    /* Accesses to memory of a program that raddle cc has built (lab/watched). */
    RAD_AT_LOAD = 380,
    RAD_AT_STORE,
    RAD_AT_EXCHANGE,
    RAD_AT_FETCH,
    RAD_AT_CAS,
    RAD_AT_READ,
    RAD_AT_WRITE,
    /* Choices that a program asks for (raddle/test.h). */
    RAD_AT_CHOOSE = 400,
    RAD_AT_RANDOM,
    RAD_AT_FAULT,
    /* Two for each goal of rad_sometimes: a run came to it, and it held. Nothing is done there. */
    RAD_AT_GOALS = 512
};

/* Oracles of the machine, from RAD_ORACLE_OWN on. */
enum {
    RAD_ORACLE_MISUSE = RAD_ORACLE_OWN,
    RAD_ORACLE_EXIT,
    /* Reports nothing: its evaluations are runs that waited for the system, or changed what outlives them. */
    RAD_ORACLE_UNCONTROLLED,
    RAD_ORACLE_MEMORY,
    /* Of raddle/test.h, in the order of rad_test_kind. */
    RAD_ORACLE_CHECK,
    RAD_ORACLE_ALWAYS,
    RAD_ORACLE_EVENTUALLY,
    /* Fibers that nothing can wake any more, while others run: hopeless.c. */
    RAD_ORACLE_LEAK,
    RAD_ORACLE_PARTIAL,
    RAD_ORACLE_CLOSED,
    /* A fiber that waits for ever while others use what it waits for: laps.c. */
    RAD_ORACLE_STARVED,
    /* Of programs that raddle cc has built. */
    RAD_ORACLE_RACE,
    RAD_ORACLE_FREED,
    RAD_ORACLE_FREED_TWICE
};

RAD_INTERNAL extern const char *const rad__fiber_oracles[];

/* Kinds of actions and notes. */
enum { RAD_FIBER_RUN = 0, RAD_FIBER_TICK, RAD_NOTE_TIME, RAD_NOTE_FAULT, RAD_NOTE_SPURIOUS };

/* "mutex_lock", and "lock" for stories; NULL beyond the last. */
RAD_INTERNAL const char *rad__site_name(uint32_t site);
RAD_INTERNAL const char *rad__site_text(uint32_t site);

#endif
