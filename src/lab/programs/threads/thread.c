/* thread.c — the life of a thread: create, join, detach, exit, keys, and what C11 calls them. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

/* ---- Keys ------------------------------------------------------------------------------------------------ */

/* glibc calls the destructors when a real thread ends; here no real thread does. */
static void (*key_destructors[PTHREAD_KEYS_MAX])(void *value);
static uint32_t keys_end; /* above those that have one */

RAD_ANSWER(int, pthread_key_create, (pthread_key_t * key, void (*destructor)(void *)))
{
    int code = RAD_REAL(pthread_key_create)(key, destructor);
    if (code != 0 || *key >= PTHREAD_KEYS_MAX) return code;
    key_destructors[*key] = destructor;
    if (*key >= keys_end) keys_end = *key + 1;
    return code;
}

RAD_ANSWER(int, pthread_key_delete, (pthread_key_t key))
{
    if (key < PTHREAD_KEYS_MAX) key_destructors[key] = NULL;
    return RAD_REAL(pthread_key_delete)(key);
}

RAD_ANSWER(int, tss_create, (tss_t * key, tss_dtor_t destructor))
{
    return pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error;
}

RAD_ANSWER(void, tss_delete, (tss_t key))
{
    pthread_key_delete(key);
}

static void (*locals)(void); /* the C library's own: those of thread-local variables */

void rad__thread_locals_find(void)
{
    void *found = dlvsym(RTLD_DEFAULT, "__call_tls_dtors", "GLIBC_PRIVATE");
    memcpy(&locals, &found, sizeof locals);
}

static void call_destructors(void)
{
    if (locals != NULL) locals();
    bool again = true;
    for (uint32_t round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
        again = false;
        for (uint32_t i = 0; i < keys_end; i++) {
            void *value = key_destructors[i] ? pthread_getspecific(i) : NULL;
            if (value == NULL) continue;
            pthread_setspecific(i, NULL);
            key_destructors[i](value);
            again = true;
        }
    }
}

/* ---- From its first call to its end ------------------------------------------------------------------------ */

static bool all_ended(void)
{
    const rad_thread *t;
    for (uint32_t i = 0; (t = rad__thread_at(i)) != NULL; i++)
        if (!t->ended) return false;
    return true;
}

void rad__thread_ends(rad_thread *t)
{
    t->leaves = true;
    call_destructors();
    rad__point(RAD_AT_pthread_end, t);
    t->ended = true;
    rad__robust_end(t);
    rad__threads_review(t);
    if (all_ended()) rad__exit(0); /* main has left by pthread_exit */
    for (;;) rad__thread_leave(RAD_RUN_DONE);
}

/* pthread_exit unwinds the stack to here, and would go on to the donor's own frames. */
static void unwound(rad_thread **t)
{
    rad__thread_ends(*t);
}

static void thread_body(void *context)
{
    rad_thread *t = context;
    __attribute__((cleanup(unwound))) rad_thread *guard = t;
    t->result = t->fn(t->arg);
    rad__thread_ends(guard);
}

/* Left by pthread_exit. */
static void main_unwound(bool *running)
{
    if (*running) rad__thread_ends(rad__thread_at(0));
}

int rad__main_runs(int (*main)(int, char **, char **), int argc, char **argv, char **envp)
{
    __attribute__((cleanup(main_unwound))) bool running = true;
    int status = main(argc, argv, envp);
    running = false;
    return status;
}

/* ---- What the program calls -------------------------------------------------------------------------------- */

static const char *name_of(void *(*fn)(void *), const void *arg)
{
    const void *code;
    memcpy(&code, &fn, sizeof code);
    const char *name = rad__callable_name(code, arg);
    return name ? name : rad__address_name(code, "thread");
}

int rad__thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg,
                      const char *name, uint64_t blocked)
{
    int detach = PTHREAD_CREATE_JOINABLE;
    rad__point(RAD_AT_pthread_create, NULL);
    rad_thread *t = rad__thread_new();
    if (t == NULL) rad__program_refused("pthread_create", "more than 4096 threads in one run");
    rad_donor *d = rad__donor_take(attributes);
    if (d == NULL) rad__program_refused("pthread_create", "the system gives no more threads");
    if (attributes != NULL) pthread_attr_getdetachstate(attributes, &detach);
    *t = (rad_thread){.donor = d,
                      .handle = d->handle,
                      .fn = fn,
                      .arg = arg,
                      .result = PTHREAD_CANCELED,
                      .blocked = blocked,
                      .guard = rad__donor_guard(attributes),
                      .detached = detach == PTHREAD_CREATE_DETACHED};
    *thread = d->handle;
    t->runner = rad__thread_add_on(name, RAD_AT_pthread_begin, thread_body, t, d->low, d->size);
    t->runner->thread = t;
    t->runner->pointer = d->pointer;
    rad__object_begins(t, RAD_AT_pthread_begin, t->runner->role, NULL);
    rad__runner_enable(t->runner);
    rad__thread_released();
    return 0;
}

RAD_ANSWER(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg))
{
    const rad_thread *self = rad__thread_self();
    if (self == NULL) rad__refuse("pthread_create", "threads are explored when main or a thread starts them");
    return rad__thread_start(thread, attributes, fn, arg, name_of(fn, arg), self->blocked);
}

static int join(pthread_t thread, void **result, uint64_t deadline_ns)
{
    rad_thread *t = rad__thread_of(thread), *self = rad__thread_self();
    if (t == NULL || t->joined)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_join",
                           "pthread_join: of a thread that was joined, or never was");
    if (t->detached)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_join", "pthread_join: %s is detached", t->runner->role);
    if (t == self) return EDEADLK;
    rad__cancel_point();
    if (!rad__thread_waits(RAD_AT_pthread_join, RAD_WAIT_JOIN, t, deadline_ns)) return ETIMEDOUT;
    t->joined = true;
    if (result != NULL) *result = t->result;
    return 0;
}

RAD_ANSWER(int, pthread_join, (pthread_t thread, void **result))
{
    return rad__thread_self() ? join(thread, result, UINT64_MAX) : RAD_REAL(pthread_join)(thread, result);
}

RAD_ANSWER(int, pthread_tryjoin_np, (pthread_t thread, void **result))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_tryjoin_np)(thread, result);
    const rad_thread *t = rad__thread_of(thread);
    rad__point(RAD_AT_pthread_join, t);
    if (t != NULL && !t->ended) return EBUSY;
    return join(thread, result, UINT64_MAX);
}

RAD_ANSWER(int, pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_clockjoin_np)(thread, result, clock, until);
    if (!rad__has_deadlines(clock)) return EINVAL;
    return join(thread, result, until ? rad__deadline_of(clock, until) : UINT64_MAX);
}

RAD_ANSWER(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until))
{
    return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}

RAD_ANSWER(int, pthread_detach, (pthread_t thread))
{
    if (rad__thread_self() == NULL) return RAD_REAL(pthread_detach)(thread);
    rad_thread *t = rad__thread_of(thread);
    rad__point(RAD_AT_pthread_detach, t);
    if (t == NULL || t->joined || t->detached)
        rad__program_fails(RAD_ORACLE_MISUSE, "pthread_detach",
                           "pthread_detach: of a thread that was joined or detached");
    t->detached = true;
    return 0;
}

RAD_ANSWER(void, pthread_exit, (void *result))
{
    rad_thread *self = rad__thread_self();
    if (self != NULL) {
        self->leaves = true;
        self->result = result;
    }
    RAD_REAL(pthread_exit)(result);
}

/* ---- C11 ----------------------------------------------------------------------------------------------------- */

RAD_ANSWER(int, thrd_create, (thrd_t * thread, thrd_start_t fn, void *arg))
{
    void *(*start)(void *); /* an int comes back in the same register */
    memcpy(&start, &fn, sizeof start);
    switch (pthread_create(thread, NULL, start, arg)) {
    case 0: return thrd_success;
    case EAGAIN: return thrd_nomem;
    default: return thrd_error;
    }
}

RAD_ANSWER(int, thrd_join, (thrd_t thread, int *result))
{
    void *pointer = NULL;
    if (pthread_join(thread, &pointer) != 0) return thrd_error;
    if (result != NULL) memcpy(result, &pointer, sizeof *result); /* its low half */
    return thrd_success;
}

RAD_ANSWER(int, thrd_detach, (thrd_t thread))
{
    return pthread_detach(thread) == 0 ? thrd_success : thrd_error;
}

RAD_ANSWER(void, thrd_exit, (int result))
{
    void *pointer = NULL;
    memcpy(&pointer, &result, sizeof result);
    pthread_exit(pointer);
}
