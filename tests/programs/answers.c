/* answers.c — what the calls of threads answer: locks, conditions, semaphores, joining, signals, futexes. There is no
 * bug in it: each assertion holds in every schedule in which a sleep of a millisecond lets the others come to where
 * they wait, as it does under test. answers [NAME]: all, or one. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m;
static pthread_cond_t c;
static pthread_rwlock_t rw;
static sem_t begun, go;
static int count;

static pthread_t start(void *(*fn)(void *))
{
    pthread_t t;
    assert(pthread_create(&t, NULL, fn, NULL) == 0);
    return t;
}

static void end(pthread_t t)
{
    assert(pthread_join(t, NULL) == 0);
}

/* ---- Time: a call that waits in vain for 20 ms waits so long, and not longer --------------------------------- */

enum { MS = 1000000, WAIT = 20 * MS };

static struct timespec from;

static struct timespec until(clockid_t clock)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &from);
    clock_gettime(clock, &at);
    at.tv_nsec += WAIT;
    at.tv_sec += at.tv_nsec / (1000 * MS);
    at.tv_nsec %= 1000 * MS;
    return at;
}

static bool waited(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (now.tv_sec - from.tv_sec) * INT64_C(1000000000) + now.tv_nsec - from.tv_nsec;
    return ns >= WAIT - MS && ns < 100 * WAIT;
}

/* ---- Mutexes ------------------------------------------------------------------------------------------- */

static void make(int kind)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, kind);
    pthread_mutex_init(&m, &a);
}

static void *is_held(void *arg)
{
    assert(pthread_mutex_trylock(&m) == EBUSY);
    return arg;
}

static void *is_free(void *arg)
{
    assert(pthread_mutex_trylock(&m) == 0);
    assert(pthread_mutex_unlock(&m) == 0);
    return arg;
}

static void *unlocks(void *arg)
{
    assert(pthread_mutex_unlock(&m) == EPERM);
    return arg;
}

static void *in_vain(void *arg)
{
    struct timespec at = until(CLOCK_REALTIME);
    assert(pthread_mutex_timedlock(&m, &at) == ETIMEDOUT && waited());
    at = until(CLOCK_MONOTONIC);
    assert(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &at) == ETIMEDOUT && waited());
    return arg;
}

/* It gives a recursive mutex back once: who has locked it twice keeps it. */
static void wait_keeps_it(void)
{
    struct timespec at = until(CLOCK_REALTIME);
    make(PTHREAD_MUTEX_RECURSIVE);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == 0);
    pthread_t t = start(is_held);
    assert(pthread_cond_timedwait(&c, &m, &at) == ETIMEDOUT);
    end(t);
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
}

static void mutexes(void)
{
    wait_keeps_it();
    make(PTHREAD_MUTEX_RECURSIVE);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_trylock(&m) == 0);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
    end(start(is_held));
    assert(pthread_mutex_unlock(&m) == 0);
    end(start(is_held));
    end(start(in_vain));
    assert(pthread_mutex_unlock(&m) == 0);
    end(start(is_free));
    make(PTHREAD_MUTEX_ERRORCHECK);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == EDEADLK);
    assert(pthread_mutex_trylock(&m) == EBUSY);
    end(start(unlocks));
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_unlock(&m) == EPERM);
    assert(pthread_cond_wait(&c, &m) == EPERM);
    make(PTHREAD_MUTEX_NORMAL);
}

static void *fails(void *arg)
{
    mtx_t *mutex = (mtx_t *)(void *)&m;
    struct timespec at = until(CLOCK_REALTIME);
    assert(mtx_timedlock(mutex, &at) == thrd_timedout && mtx_trylock(mutex) == thrd_busy);
    return arg;
}

static void c11(void)
{
    mtx_t *mutex = (mtx_t *)(void *)&m;
    cnd_t *condition = (cnd_t *)(void *)&c;
    assert(mtx_lock(mutex) == thrd_success);
    end(start(fails));
    struct timespec at = until(CLOCK_REALTIME);
    assert(cnd_timedwait(condition, mutex, &at) == thrd_timedout && waited());
    assert(mtx_unlock(mutex) == thrd_success);
}

static void make_robust(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &a);
}

static void *dies(void *arg)
{
    assert(pthread_mutex_lock(&m) == 0);
    return arg;
}

static void *dies_signalling(void *arg)
{
    dies(arg);
    pthread_cond_signal(&c);
    return arg;
}

/* Nobody says that what the mutex protects is in order: then nobody can have it. */
static void *gives_up(void *arg)
{
    end(start(dies));
    assert(pthread_mutex_lock(&m) == EOWNERDEAD);
    pthread_cond_signal(&c);
    assert(pthread_mutex_unlock(&m) == 0);
    return arg;
}

static void robust(void)
{
    make_robust();
    end(start(dies));
    assert(pthread_mutex_lock(&m) == EOWNERDEAD);
    end(start(unlocks));
    assert(pthread_mutex_consistent(&m) == 0 && pthread_mutex_consistent(&m) == EINVAL);
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_unlock(&m) == 0);
    make_robust(); /* its owner dies while another one waits for a condition with it */
    assert(pthread_mutex_lock(&m) == 0);
    pthread_t t = start(dies_signalling);
    assert(pthread_cond_wait(&c, &m) == EOWNERDEAD && pthread_mutex_consistent(&m) == 0);
    assert(pthread_mutex_unlock(&m) == 0);
    end(t);
    make_robust();
    assert(pthread_mutex_lock(&m) == 0);
    t = start(gives_up);
    assert(pthread_cond_wait(&c, &m) == ENOTRECOVERABLE);
    end(t);
    make(PTHREAD_MUTEX_NORMAL);
}

/* ---- Conditions ------------------------------------------------------------------------------------------ */

static void *signals_without(void *arg)
{
    sem_wait(&go);
    pthread_cond_broadcast(&c);
    return arg;
}

/* Locked twice it stays locked while its owner waits. */
static void deep(void)
{
    make(PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    struct timespec at = until(CLOCK_REALTIME);
    assert(pthread_cond_timedwait(&c, &m, &at) == ETIMEDOUT && waited());
    pthread_t t = start(signals_without);
    sem_post(&go);
    at.tv_sec += 1;
    int code = pthread_cond_timedwait(&c, &m, &at);
    assert(code == 0 || code == ETIMEDOUT);
    assert(pthread_mutex_unlock(&m) == 0);
    end(start(is_held));
    assert(pthread_mutex_unlock(&m) == 0);
    end(start(is_free));
    end(t);
    make(PTHREAD_MUTEX_NORMAL);
}

static void *waits(void *arg)
{
    pthread_mutex_lock(&m);
    count++;
    int round = count;
    if (count == 4) pthread_cond_signal(&c);
    while (round > 0 && count < 5) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void wakes_all(void)
{
    enum { WAITING = 4 };
    pthread_t t[WAITING];
    count = 0;
    for (int i = 0; i < WAITING; i++) t[i] = start(waits);
    pthread_mutex_lock(&m);
    while (count < WAITING) {
        pthread_mutex_unlock(&m);
        usleep(1000);
        pthread_mutex_lock(&m);
    }
    count++;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < WAITING; i++) end(t[i]);
}

static void conditions(void)
{
    pthread_cond_t monotonic;
    pthread_condattr_t a;
    deep();
    wakes_all();
    pthread_condattr_init(&a);
    assert(pthread_condattr_setclock(&a, CLOCK_MONOTONIC) == 0);
    pthread_cond_init(&monotonic, &a);
    pthread_mutex_lock(&m);
    struct timespec at = until(CLOCK_MONOTONIC);
    assert(pthread_cond_timedwait(&monotonic, &m, &at) == ETIMEDOUT && waited());
    at = until(CLOCK_REALTIME);
    assert(pthread_cond_clockwait(&monotonic, &m, CLOCK_REALTIME, &at) == ETIMEDOUT && waited());
    at = until(CLOCK_MONOTONIC);
    assert(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &at) == ETIMEDOUT && waited());
    pthread_mutex_unlock(&m);
}

/* ---- RW locks, spin locks, barriers, once ------------------------------------------------------------------ */

static void *reads_and_tries(void *arg)
{
    struct timespec at;
    assert(pthread_rwlock_tryrdlock(&rw) == 0 && pthread_rwlock_trywrlock(&rw) == EBUSY);
    at = until(CLOCK_REALTIME);
    assert(pthread_rwlock_timedwrlock(&rw, &at) == ETIMEDOUT && waited());
    assert(pthread_rwlock_unlock(&rw) == 0);
    return arg;
}

static void *cannot_read(void *arg)
{
    struct timespec at = until(CLOCK_REALTIME);
    assert(pthread_rwlock_tryrdlock(&rw) == EBUSY && pthread_rwlock_trywrlock(&rw) == EBUSY);
    assert(pthread_rwlock_timedrdlock(&rw, &at) == ETIMEDOUT && waited());
    return arg;
}

static void *writes(void *arg)
{
    sem_post(&begun);
    assert(pthread_rwlock_wrlock(&rw) == 0);
    count = 7;
    assert(pthread_rwlock_unlock(&rw) == 0);
    return arg;
}

static void *reads_late(void *arg)
{
    assert(pthread_rwlock_rdlock(&rw) == 0);
    assert(count == 7);
    assert(pthread_rwlock_unlock(&rw) == 0);
    return arg;
}

static void *writes_in_vain(void *arg)
{
    struct timespec at = until(CLOCK_REALTIME);
    sem_post(&begun);
    assert(pthread_rwlock_timedwrlock(&rw, &at) == ETIMEDOUT && waited());
    return arg;
}

/* With writers preferred who comes to read after a writer waits for it. */
static void preferred(void)
{
    pthread_rwlockattr_t a;
    pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&rw, &a);
    count = 0;
    assert(pthread_rwlock_rdlock(&rw) == 0);
    pthread_t writer = start(writes);
    sem_wait(&begun);
    usleep(1000); /* until it waits */
    pthread_t reader = start(reads_late);
    usleep(1000);
    assert(pthread_rwlock_tryrdlock(&rw) == EBUSY); /* a try does not get past it, either */
    assert(count == 0 && pthread_rwlock_unlock(&rw) == 0);
    end(writer);
    end(reader);
    assert(pthread_rwlock_rdlock(&rw) == 0);
    writer = start(writes_in_vain);
    sem_wait(&begun);
    usleep(1000);
    reader = start(reads_late);
    end(reader); /* when the writer has given up */
    assert(pthread_rwlock_unlock(&rw) == 0);
    end(writer);
}

static void rwlocks(void)
{
    pthread_rwlock_t other = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_init(&rw, NULL);
    assert(pthread_rwlock_rdlock(&rw) == 0 && pthread_rwlock_rdlock(&other) == 0);
    end(start(reads_and_tries));
    assert(pthread_rwlock_unlock(&rw) == 0 && pthread_rwlock_unlock(&other) == 0);
    assert(pthread_rwlock_wrlock(&rw) == 0 && pthread_rwlock_wrlock(&rw) == EDEADLK);
    assert(pthread_rwlock_rdlock(&rw) == EDEADLK);
    end(start(cannot_read));
    assert(pthread_rwlock_unlock(&rw) == 0 && pthread_rwlock_trywrlock(&rw) == 0);
    assert(pthread_rwlock_unlock(&rw) == 0);
    preferred();
}

static pthread_spinlock_t spin;
static pthread_barrier_t gate;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int last;

static void *spins(void *arg)
{
    assert(pthread_spin_trylock(&spin) == EBUSY);
    return arg;
}

static void *comes(void *arg)
{
    int code = pthread_barrier_wait(&gate);
    assert(code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD);
    if (code != 0) last++;
    pthread_barrier_wait(&gate);
    return arg;
}

static void leaves_at_first(void)
{
    if (count++ == 0) pthread_exit(NULL);
}

static void *initialises(void *arg)
{
    pthread_once(&once, leaves_at_first);
    return arg;
}

static void meetings(void)
{
    pthread_spin_init(&spin, 0);
    assert(pthread_spin_trylock(&spin) == 0);
    end(start(spins));
    assert(pthread_spin_unlock(&spin) == 0);
    pthread_barrier_init(&gate, NULL, 2);
    for (int round = 0; round < 2; round++) {
        last = 0;
        pthread_t t = start(comes);
        comes(NULL);
        end(t);
        assert(last == 1);
    }
    count = 0;
    end(start(initialises)); /* ended in it: it was not done */
    end(start(initialises));
    end(start(initialises));
    assert(count == 2);
}

static void semaphores(void)
{
    struct timespec later = until(CLOCK_REALTIME);
    assert(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &later, NULL) == 0 && waited());
    later = until(CLOCK_MONOTONIC);
    assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL) == 0 && waited());
    struct timespec at = until(CLOCK_REALTIME);
    assert(sem_timedwait(&go, &at) == -1 && errno == ETIMEDOUT && waited());
    at = until(CLOCK_MONOTONIC);
    assert(sem_clockwait(&go, CLOCK_MONOTONIC, &at) == -1 && errno == ETIMEDOUT && waited());
    assert(sem_trywait(&go) == -1 && errno == EAGAIN);
    assert(sem_post(&go) == 0 && sem_trywait(&go) == 0);
}

/* ---- Threads --------------------------------------------------------------------------------------------- */

static void *joins_itself(void *arg)
{
    assert(pthread_join(pthread_self(), NULL) == EDEADLK);
    sem_wait(&go);
    return arg;
}

static pthread_key_t key;

static void again(void *value)
{
    assert(pthread_getspecific(key) == NULL);
    count++;
    if (count < 3) pthread_setspecific(key, value);
}

static void *has_value(void *arg)
{
    pthread_setspecific(key, &count);
    return arg;
}

static char stack_end;

static void *uses_much(void *arg)
{
    enum { MUCH = 12 << 20 };
    volatile char room[MUCH];
    room[0] = 1;
    stack_end = room[0];
    return arg;
}

static void *tells_guard(void *expected)
{
    pthread_attr_t own;
    size_t guard = 0, size = 0;
    void *low = NULL;
    char here;
    assert(pthread_getattr_np(pthread_self(), &own) == 0);
    assert(pthread_attr_getguardsize(&own, &guard) == 0 && guard == *(size_t *)expected);
    assert(pthread_attr_getstack(&own, &low, &size) == 0 && &here > (char *)low && &here < (char *)low + size);
    pthread_attr_destroy(&own);
    return NULL;
}

static void *tells_detached(void *arg)
{
    pthread_attr_t own;
    int detached = -1;
    assert(pthread_getattr_np(pthread_self(), &own) == 0);
    assert(pthread_attr_getdetachstate(&own, &detached) == 0 && detached == PTHREAD_CREATE_DETACHED);
    pthread_attr_destroy(&own);
    sem_post(&begun);
    return arg;
}

/* As std::thread of Rust asks for them: a thread without a guard panics. */
static void thread_attributes(pthread_attr_t *a)
{
    size_t usual = (size_t)getpagesize(), large = 64 << 10;
    pthread_t t;
    assert(pthread_create(&t, NULL, tells_guard, &usual) == 0);
    end(t);
    pthread_attr_setguardsize(a, large);
    assert(pthread_create(&t, a, tells_guard, &large) == 0);
    end(t);
    pthread_attr_setdetachstate(a, PTHREAD_CREATE_DETACHED);
    assert(pthread_create(&t, a, tells_detached, NULL) == 0);
    sem_wait(&begun);
}

static void threads(void)
{
    pthread_attr_t a;
    struct timespec at;
    char name[16];
    assert(getenv("LD_PRELOAD") == NULL); /* as raddle was started */
    pthread_t t = start(joins_itself);
    assert(pthread_tryjoin_np(t, NULL) == EBUSY);
    at = until(CLOCK_REALTIME);
    assert(pthread_timedjoin_np(t, NULL, &at) == ETIMEDOUT && waited());
    sem_post(&go);
    at.tv_sec += 5;
    assert(pthread_timedjoin_np(t, NULL, &at) == 0);
    pthread_key_create(&key, again);
    count = 0;
    end(start(has_value));
    assert(count == 3);
    pthread_attr_init(&a);
    for (int i = 0; i < 2; i++) { /* one of the usual size before */
        if (i == 1) pthread_attr_setstacksize(&a, 16 << 20);
        assert(pthread_create(&t, &a, i ? uses_much : has_value, NULL) == 0);
        end(t);
    }
    thread_attributes(&a);
    assert(pthread_setname_np(pthread_self(), "exactly sixteen.") == ERANGE);
    assert(pthread_setname_np(pthread_self(), "only fifteen...") == 0);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    assert(strcmp(name, "only fifteen...") == 0);
}

/* ---- Cancelling ------------------------------------------------------------------------------------------ */

static void *shut(void *arg)
{
    int old = -1;
    assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    assert(old == PTHREAD_CANCEL_ENABLE);
    sem_post(&begun);
    sem_wait(&go); /* not ended by it */
    count = 1;
    assert(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0);
    assert(old == PTHREAD_CANCEL_DISABLE);
    pthread_testcancel();
    abort();
    return arg;
}

static void cancelled(void)
{
    void *result;
    count = 0;
    pthread_t t = start(shut);
    sem_wait(&begun);
    assert(pthread_cancel(t) == 0);
    usleep(1000);
    sem_post(&go);
    assert(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED && count == 1);
}

/* ---- Signals ----------------------------------------------------------------------------------------------- */

static volatile int seen_count;

static void note(int number)
{
    seen_count += number > 0;
}

static void on(int number, int flags)
{
    struct sigaction a = {.sa_handler = note, .sa_flags = flags};
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGHUP);
    assert(sigaction(number, &a, NULL) == 0);
}

static bool is_blocked(int number)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, number) != 0;
}

static void *inherits(void *arg)
{
    assert(is_blocked(SIGUSR2) && !is_blocked(SIGUSR1));
    return arg;
}

static void *pokes(void *to)
{
    sem_wait(&begun);
    usleep(1000);
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    usleep(1000);
    sem_post(&go);
    return NULL;
}

/* A semaphore is waited for again if the handler was installed so. */
static int wait_poked(int flags)
{
    pthread_t t, self = pthread_self();
    on(SIGUSR1, flags);
    assert(pthread_create(&t, NULL, pokes, &self) == 0);
    sem_post(&begun);
    int code = sem_wait(&go) == 0 ? 0 : errno;
    if (code != 0) sem_wait(&go);
    end(t);
    return code;
}

static void leaves(int number)
{
    _exit(number == SIGABRT ? 0 : 1);
}

static void signals(void)
{
    sigset_t set, none, before;
    sigemptyset(&set);
    sigemptyset(&none);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    on(SIGUSR1, 0);
    on(SIGUSR2, 0);
    seen_count = 0;

    raise(SIGUSR1);
    assert(seen_count == 1 && !is_blocked(SIGHUP) && !is_blocked(SIGUSR1));
    pthread_sigmask(SIG_BLOCK, &set, &before);
    raise(SIGUSR2);
    raise(SIGUSR1);
    assert(seen_count == 1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    assert(seen_count == 3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    assert(sigsuspend(&none) == -1 && errno == EINTR && seen_count == 4);
    assert(is_blocked(SIGUSR1) && is_blocked(SIGUSR2));
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN); /* what waits is thrown away */
    on(SIGUSR1, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert(seen_count == 4);
    sigdelset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    end(start(inherits));
    assert(wait_poked(0) == EINTR && wait_poked(SA_RESTART) == 0);
    on(SIGUSR1, 0);
    siginterrupt(SIGUSR1, 0);
    struct sigaction now;
    assert(sigaction(SIGUSR1, NULL, &now) == 0 && (now.sa_flags & SA_RESTART));
    siginterrupt(SIGUSR1, 1);
    assert(sigaction(SIGUSR1, NULL, &now) == 0 && !(now.sa_flags & SA_RESTART));
}

/* Of those in the range of real-time signals the lowest comes first, and each as often as it was sent. */
static void real_time(void)
{
    static const int order[] = {0, 0, 1, 1, 2};
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    for (int i = 0; i < 3; i++) sigaddset(&set, SIGRTMIN + i);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 4; i >= 0; i--) raise(SIGRTMIN + order[i]);
    for (int i = 0; i < 5; i++) assert(sigwaitinfo(&set, &info) == SIGRTMIN + order[i]);
}

/* The last one: abort is not stopped by a mask. */
static void aborts(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    signal(SIGABRT, leaves);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    abort();
}

/* ---- Futexes ----------------------------------------------------------------------------------------------- */

static uint32_t words[2];

static long futex(uint32_t *word, int what, uint32_t value, const void *at, uint32_t *other, uint32_t how)
{
    return syscall(SYS_futex, word, what, value, at, other, how);
}

static void *waits_for_word(void *arg)
{
    sem_post(&begun);
    while (words[0] == 0) futex(&words[0], FUTEX_WAIT, 0, NULL, NULL, 0);
    return arg;
}

static bool compares(uint32_t value, int how, int with)
{
    words[1] = value;
    return futex(&words[0], FUTEX_WAKE_OP, 9, (void *)9L, &words[1], (uint32_t)FUTEX_OP(FUTEX_OP_ADD, 0, how, with)) >
           0;
}

static void *waits_for_other(void *arg)
{
    sem_post(&begun);
    futex(&words[1], FUTEX_WAIT, 4, NULL, NULL, 0);
    return arg;
}

static void futexes(void)
{
    struct timespec at = {0, WAIT};
    enum { BITSET = FUTEX_WAIT_BITSET };
    until(CLOCK_MONOTONIC);
    assert(futex(&words[0], FUTEX_WAIT, 0, &at, NULL, 0) == -1 && errno == ETIMEDOUT && waited());
    at = until(CLOCK_MONOTONIC);
    assert(futex(&words[0], BITSET, 0, &at, NULL, ~0u) == -1 && errno == ETIMEDOUT && waited());
    at = until(CLOCK_REALTIME);
    assert(futex(&words[0], BITSET | FUTEX_CLOCK_REALTIME, 0, &at, NULL, ~0u) == -1 && waited());
    pthread_t t = start(waits_for_word);
    sem_wait(&begun);
    usleep(1000);
    assert(futex(&words[0], FUTEX_CMP_REQUEUE, 0, (void *)1L, &words[1], 1) == -1);
    assert(errno == EAGAIN);
    assert(futex(&words[0], FUTEX_CMP_REQUEUE, 0, (void *)1L, &words[1], 0) == 1);
    words[0] = 1;
    assert(futex(&words[1], FUTEX_WAKE, 1, NULL, NULL, 0) == 1);
    end(t);
    words[1] = 4;
    t = start(waits_for_other);
    sem_wait(&begun);
    usleep(1000);
    assert(!compares(4, FUTEX_OP_CMP_LT, 4) && !compares(4, FUTEX_OP_CMP_GT, 4));
    assert(!compares(4, FUTEX_OP_CMP_NE, 4) && compares(4, FUTEX_OP_CMP_LE, 4));
    end(t);
    words[0] = 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"mutexes", mutexes},     {"c11", c11},           {"robust", robust},         {"conditions", conditions},
               {"rwlocks", rwlocks},     {"meetings", meetings}, {"semaphores", semaphores}, {"threads", threads},
               {"cancelled", cancelled}, {"signals", signals},   {"real_time", real_time},   {"futexes", futexes},
               {"aborts", aborts}};
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    make(PTHREAD_MUTEX_NORMAL);
    pthread_cond_init(&c, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc < 2 || strcmp(all[i].name, argv[1]) == 0) all[i].run();
    return 0;
}
