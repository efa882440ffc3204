/* answers_time.c — what the calls of threads answer to times that are none, such as a deadline to which half a second
 * was added without a carry, and that they wait until times that never come. There is no bug in it: each assertion
 * holds in every schedule in which a sleep of a millisecond lets the others come to where they wait. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t begun, go;
static int count;
static uint32_t word;

static void *refuses_time(void *arg)
{
    const struct timespec *at = arg;
    assert(pthread_mutex_timedlock(&m, at) == EINVAL);
    assert(pthread_rwlock_timedrdlock(&rw, at) == EINVAL && pthread_rwlock_timedwrlock(&rw, at) == EINVAL);
    return arg;
}

static void wrong_time(long ns)
{
    struct timespec at;
    struct pollfd one = {.fd = -1};
    struct timeval us = {0, -1};
    const struct itimerval ring = {.it_value = {0, ns < 0 ? -1 : 1000000}};
    sigset_t none;
    sigemptyset(&none);
    clock_gettime(CLOCK_REALTIME, &at);
    at = (struct timespec){at.tv_sec + 1, ns};
    assert(pthread_mutex_lock(&m) == 0 && pthread_rwlock_wrlock(&rw) == 0);
    assert(pthread_cond_timedwait(&c, &m, &at) == EINVAL);
    assert(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &at) == EINVAL);
    pthread_t t;
    assert(pthread_create(&t, NULL, refuses_time, &at) == 0);
    assert(pthread_join(t, NULL) == 0);
    assert(pthread_rwlock_unlock(&rw) == 0 && pthread_rwlock_timedwrlock(&rw, &at) == EINVAL);
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_timedlock(&m, &at) == 0); /* it does not have to wait */
    assert(pthread_mutex_unlock(&m) == 0 && sem_post(&go) == 0);
    assert(sem_timedwait(&go, &at) == -1 && errno == EINVAL && sem_wait(&go) == 0);
    at.tv_sec = 1;
    assert(ppoll(&one, 1, &at, NULL) == -1 && errno == EINVAL && ppoll(NULL, 0, &at, NULL) == -1 && errno == EINVAL);
    assert(pselect(0, NULL, NULL, NULL, &at, NULL) == -1 && errno == EINVAL);
    assert(select(0, NULL, NULL, NULL, &us) == -1 && errno == EINVAL);
    assert(select(-1, NULL, NULL, NULL, NULL) == -1 && errno == EINVAL);
    assert(sigtimedwait(&none, NULL, &at) == -1 && errno == EINVAL);
    assert(syscall(SYS_futex, &word, FUTEX_WAIT, word, &at, NULL, 0) == -1 && errno == EINVAL);
    assert(setitimer(ITIMER_REAL, &ring, NULL) == -1 && errno == EINVAL);
}

static void *lets_go(void *arg)
{
    const struct timespec *at = arg;
    sem_wait(&begun);
    usleep(1000);
    assert(pthread_mutex_timedlock(&m, at) == 0);
    count = 1;
    assert(pthread_cond_signal(&c) == 0 && pthread_mutex_unlock(&m) == 0);
    usleep(1000);
    assert(sem_post(&go) == 0);
    usleep(1000);
    pthread_kill(*(pthread_t *)(void *)(at + 1), SIGUSR2);
    return arg;
}

static void far_time(void)
{
    struct {
        struct timespec at;
        pthread_t self;
    } never = {{.tv_sec = LONG_MAX}, pthread_self()};
    pthread_t t;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert(pthread_create(&t, NULL, lets_go, &never) == 0);
    assert(pthread_mutex_lock(&m) == 0);
    count = 0;
    sem_post(&begun);
    while (count == 0) assert(pthread_cond_timedwait(&c, &m, &never.at) == 0);
    assert(pthread_mutex_unlock(&m) == 0 && sem_timedwait(&go, &never.at) == 0);
    siginfo_t info;
    assert(sigtimedwait(&set, &info, &never.at) == SIGUSR2 && info.si_code == SI_USER);
    assert(pthread_timedjoin_np(t, NULL, &never.at) == 0);
}

/* Deadlines are of two clocks; others can be slept by, or have no timers. */
static void wrong_clock(clockid_t clock)
{
    struct timespec at = {0, 0};
    bool raw = clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE;
    assert(pthread_mutex_clocklock(&m, clock, &at) == EINVAL);
    assert(pthread_rwlock_clockrdlock(&rw, clock, &at) == EINVAL);
    assert(pthread_rwlock_clockwrlock(&rw, clock, &at) == EINVAL);
    assert(sem_clockwait(&go, clock, &at) == -1 && errno == EINVAL);
    assert(pthread_mutex_lock(&m) == 0 && pthread_cond_clockwait(&c, &m, clock, &at) == EINVAL);
    assert(pthread_mutex_unlock(&m) == 0);
    if (clock != CLOCK_BOOTTIME) assert(clock_nanosleep(clock, 0, &at, NULL) == (raw ? ENOTSUP : EINVAL));
}

/* ---- Spurious wakeups: at most two in a run ------------------------------------------------------------------ */

static void *counts(void *arg)
{
    int wakes = 0;
    assert(pthread_mutex_lock(&m) == 0);
    for (; count == 0; wakes++) assert(pthread_cond_wait(&c, &m) == 0);
    assert(pthread_mutex_unlock(&m) == 0 && wakes <= 3);
    return arg;
}

static void few_wakeups(void)
{
    pthread_t t;
    assert(pthread_create(&t, NULL, counts, NULL) == 0);
    usleep(1000);
    assert(pthread_mutex_lock(&m) == 0);
    count = 1;
    assert(pthread_cond_signal(&c) == 0 && pthread_mutex_unlock(&m) == 0);
    assert(pthread_join(t, NULL) == 0);
}

int main(int argc, char **argv)
{
    static const clockid_t wrong[] = {77, CLOCK_BOOTTIME, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW,
                                      CLOCK_MONOTONIC_COARSE};
    (void)argv;
    if (argc > 1) { /* any word */
        few_wakeups();
        return 0;
    }
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    wrong_time(-1);
    wrong_time(1000000000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) wrong_clock(wrong[i]);
    far_time();
    return 0;
}
