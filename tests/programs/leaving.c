/* leaving.c — threads that end before their end, for `raddle explore`: leaving NAME [fixed]; `answers` has no bug, and
 * asserts what the calls are to answer. */
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool fixed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t begun, go;

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

/* ---- Cancelled in a wait that takes the mutex again, and nobody gives it back ---- */

static void *waits(void *arg)
{
    pthread_mutex_lock(&m);
    sem_post(&begun);
    pthread_cleanup_push(unlock, &m);
    pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return arg;
}

static void *waits_carelessly(void *arg)
{
    pthread_mutex_lock(&m);
    sem_post(&begun);
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void held(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, fixed ? waits : waits_carelessly, NULL);
    sem_wait(&begun);
    pthread_cancel(t);
    pthread_join(t, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}

/* ---- Cancelled between two halves of a change ---- */

static int left, right;

static void *changes(void *arg)
{
    int old;
    if (fixed) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    left++;
    sem_wait(&go);
    right++;
    if (fixed) pthread_setcancelstate(old, NULL);
    return arg;
}

static void halves(void)
{
    pthread_t t;
    pthread_create(&t, NULL, changes, NULL);
    sem_post(&go);
    pthread_cancel(t);
    pthread_join(t, NULL);
    assert(left == right || left == 0);
}

/* ---- The owner of a robust mutex dies ---- */

static void make_robust(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    assert(pthread_mutex_init(mutex, &a) == 0);
}

static void *dies(void *arg)
{
    assert(pthread_mutex_lock(&m) == 0);
    return arg;
}

static void robust(void)
{
    pthread_t t;
    make_robust(&m);
    pthread_create(&t, NULL, dies, NULL);
    int code = pthread_mutex_lock(&m);
    assert(code == 0 || code == EOWNERDEAD);
    if (code == EOWNERDEAD && fixed) assert(pthread_mutex_consistent(&m) == 0);
    pthread_mutex_unlock(&m);
    if (code == 0) pthread_join(t, NULL);
    code = pthread_mutex_lock(&m);
    assert(code == 0 || code == EOWNERDEAD);
}

static void orphan(void)
{
    pthread_t t;
    if (fixed) make_robust(&m);
    pthread_create(&t, NULL, dies, NULL);
    pthread_mutex_lock(&m);
}

/* ---- What cannot be explored ---- */

static void *at_any_time(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_wait(&go);
    return arg;
}

static void at_once(void)
{
    pthread_t t;
    pthread_create(&t, NULL, at_any_time, NULL);
    sched_yield();
    pthread_cancel(t);
    pthread_join(t, NULL);
}

static void inherits(void)
{
    static uint32_t word;
    syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
}

/* ---- main leaves first ---- */

static void *later(void *arg)
{
    pthread_detach(pthread_self());
    sem_wait(&go);
    pthread_mutex_lock(&m);
    left++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void checks(void)
{
    if (left != (fixed ? 2 : 3)) _exit(7);
}

static void main_leaves(void)
{
    pthread_t one, two;
    atexit(checks);
    pthread_create(&one, NULL, later, NULL);
    pthread_create(&two, NULL, later, NULL);
    sem_post(&go);
    sem_post(&go);
    pthread_exit(NULL);
}

/* ---- What the calls answer ---- */

static int order[8], count;
static pthread_key_t key;
static _Thread_local int local;

static void notes(void *number)
{
    order[count++] = (int)(intptr_t)number;
}

static void *ends_deep(void *arg)
{
    pthread_setspecific(key, (void *)3);
    local = 1;
    pthread_cleanup_push(notes, (void *)2);
    pthread_cleanup_push(notes, (void *)1);
    pthread_exit(arg);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
}

static int which;

static void *waits_somehow(void *arg)
{
    sigset_t none;
    int number;
    struct timespec hour = {3600, 0};
    sigemptyset(&none);
    sem_post(&begun);
    switch (which) {
    case 0: sem_wait(&go); break;
    case 1: nanosleep(&hour, NULL); break;
    case 2: pthread_join(*(pthread_t *)arg, NULL); break;
    case 3: sigwait(&none, &number); break;
    case 4: pause(); break;
    case 5:
        for (;;) pthread_testcancel();
    default: pthread_mutex_lock(&m); pthread_cond_wait(&c, &m);
    }
    return arg;
}

static void cancelled(void)
{
    pthread_t t, self = pthread_self();
    void *result;
    for (which = 0; which < 7; which++) {
        assert(pthread_create(&t, NULL, waits_somehow, &self) == 0);
        sem_wait(&begun);
        assert(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0);
        assert(result == PTHREAD_CANCELED);
    }
    assert(pthread_mutex_trylock(&m) == EBUSY); /* it was taken again */
    memset(&m, 0, sizeof m);
}

static void exits(void)
{
    pthread_t t;
    void *result;
    pthread_key_create(&key, notes);
    pthread_create(&t, NULL, ends_deep, &key);
    pthread_join(t, &result);
    assert(result == &key && count == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
    assert(local == 0);
}

static void recovered(void)
{
    pthread_t t;
    make_robust(&m);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t, NULL, dies, NULL);
        pthread_join(t, NULL);
        assert((i ? pthread_mutex_trylock(&m) : pthread_mutex_lock(&m)) == EOWNERDEAD);
        assert(pthread_mutex_unlock(&m) == 0 || i == 0);
        if (i == 0) make_robust(&m);
    }
    assert(pthread_mutex_lock(&m) == ENOTRECOVERABLE && pthread_mutex_unlock(&m) == EPERM);
    make_robust(&m);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_consistent(&m) == EINVAL);
    assert(pthread_mutex_unlock(&m) == 0);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&m, &a);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_trylock(&m) == EBUSY);
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_trylock(&m) == 0);
}

static void attributes(void)
{
    pthread_t self = pthread_self();
    char name[16], again[16];
    cpu_set_t set, now;
    struct sched_param param = {.sched_priority = 3};
    clockid_t clock;
    struct timespec at;
    int policy;
    assert(pthread_setname_np(self, "a name that is too long") == ERANGE);
    assert(pthread_setname_np(self, "short") == 0);
    assert(pthread_getname_np(self, name, sizeof name) == 0 && strcmp(name, "short") == 0);
    prctl(PR_SET_NAME, "other");
    prctl(PR_GET_NAME, again);
    assert(strcmp(again, "other") == 0);
    CPU_ZERO(&set);
    assert(pthread_setaffinity_np(self, sizeof set, &set) == EINVAL);
    CPU_SET(0, &set);
    assert(pthread_setaffinity_np(self, sizeof set, &set) == 0);
    assert(pthread_getaffinity_np(self, sizeof now, &now) == 0 && CPU_EQUAL(&set, &now));
    assert(pthread_setschedparam(self, SCHED_OTHER, &param) == EINVAL);
    param.sched_priority = 0;
    assert(pthread_setschedparam(self, SCHED_OTHER, &param) == 0);
    assert(pthread_getschedparam(self, &policy, &param) == 0 && policy == SCHED_OTHER);
    assert(pthread_getcpuclockid(self, &clock) == 0 && clock_gettime(clock, &at) == 0);
}

static uint32_t words[2];

static void *waits_for_word(void *arg)
{
    sem_post(&begun);
    while (words[0] == 0) syscall(SYS_futex, &words[0], FUTEX_WAIT, 0, NULL, NULL, 0);
    return arg;
}

static void requeued(void)
{
    pthread_t t[3];
    long code;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, waits_for_word, NULL);
    for (int i = 0; i < 3; i++) sem_wait(&begun);
    usleep(1000); /* until all wait */
    code = syscall(SYS_futex, &words[0], FUTEX_CMP_REQUEUE, 1, 9L, &words[1], 7);
    assert(code == -1 && errno == EAGAIN);
    code = syscall(SYS_futex, &words[0], FUTEX_REQUEUE, 0, 2L, &words[1], 0);
    assert(code == 0 || code == 2);
    words[0] = 1;
    code =
        syscall(SYS_futex, &words[0], FUTEX_WAKE_OP, 9, 9L, &words[1], FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0));
    assert(code == 3 && words[1] == 5);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}

/* A mutex whose ceiling is 20. */
static void ceilings(void)
{
    int old = 0;
    pthread_mutex_t high;
    pthread_mutexattr_t a;
    struct sched_param above = {.sched_priority = 30}, usual = {.sched_priority = 0};
    pthread_mutexattr_init(&a);
    assert(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT) == 0);
    pthread_mutexattr_setprioceiling(&a, 20);
    assert(pthread_mutex_init(&high, &a) == 0);
    assert(pthread_mutex_lock(&high) == 0 && pthread_mutex_trylock(&high) == EBUSY);
    assert(pthread_mutex_getprioceiling(&high, &old) == 0 && old == 20);
    assert(pthread_mutex_unlock(&high) == 0 && pthread_mutex_trylock(&high) == 0);
    assert(pthread_mutex_unlock(&high) == 0);
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &above);
    assert(pthread_mutex_lock(&high) == EINVAL && pthread_mutex_trylock(&high) == EINVAL);
    assert(pthread_mutex_setprioceiling(&high, 40, &old) == 0 && old == 20);
    assert(pthread_mutex_lock(&high) == 0 && pthread_mutex_unlock(&high) == 0);
    assert(pthread_mutex_setprioceiling(&high, 100, NULL) == EINVAL);
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
    assert(pthread_mutex_destroy(&high) == 0);
}

static void answers(void)
{
    ceilings();
    exits();
    requeued();
    cancelled();
    recovered();
    attributes();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"held", held},       {"halves", halves},     {"robust", robust},           {"orphan", orphan},
               {"at_once", at_once}, {"inherits", inherits}, {"main_leaves", main_leaves}, {"answers", answers}};
    const char *name = argc > 1 ? argv[1] : "";
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        all[i].run();
        return 0;
    }
    fprintf(stderr, "leaving: no %s\n", name);
    return 2;
}
