/* timers.c — programs whose timers ring: timers NAME [fixed]. tests/cli/threads_signals.sh. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000 };

static bool fixed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t rung;
static int count;

static timer_t timer_with(int notice, int number, void (*fn)(union sigval))
{
    timer_t t;
    struct sigevent how = {.sigev_notify = notice, .sigev_signo = number, .sigev_value.sival_int = 2};
    how.sigev_notify_function = fn;
    assert(timer_create(CLOCK_MONOTONIC, &how, &t) == 0);
    return t;
}

static void rings(timer_t t, long in_ms, long again_ms)
{
    struct itimerspec at = {{again_ms / 1000, again_ms % 1000 * MS}, {in_ms / 1000, in_ms % 1000 * MS}};
    assert(timer_settime(t, 0, &at, NULL) == 0);
}

static void tick(union sigval value)
{
    pthread_mutex_lock(&m);
    count += value.sival_int;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    sem_post(&rung);
}

/* ---- Bugs -------------------------------------------------------------------------------------------- */

/* It waits for a call of its timer with the lock that the call takes. */
static void held(void)
{
    rings(timer_with(SIGEV_THREAD, 0, tick), 1, 1);
    pthread_mutex_lock(&m);
    if (fixed) pthread_mutex_unlock(&m);
    sem_wait(&rung);
    if (!fixed) pthread_mutex_unlock(&m);
}

/* The timer rings before it waits, and it does not look whether it did. */
static void early(void)
{
    rings(timer_with(SIGEV_THREAD, 0, tick), 1, 0);
    usleep(2000);
    pthread_mutex_lock(&m);
    while (count == 0 || !fixed) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
}

static void note(int number)
{
    count = number;
}

/* Its handler posts nothing; a timer that rings for ever lets no time pass that would hide it. */
static void silent(void)
{
    struct sigaction a = {.sa_handler = note};
    sigset_t set;
    sigaction(SIGUSR1, &a, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    rings(timer_with(SIGEV_SIGNAL, SIGUSR1, NULL), 1, 1);
    if (fixed) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    assert(sem_wait(&rung) == -1 && errno == EINTR);
}

/* A descriptor of a timer that nobody has set. */
static void unset(void)
{
    uint64_t times = 0;
    struct itimerspec at = {{0, 0}, {0, MS}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (fixed) assert(timerfd_settime(fd, 0, &at, NULL) == 0);
    assert(read(fd, &times, sizeof times) == sizeof times && times == 1);
    close(fd);
}

/* ---- Beside a timer that rings again and again, and whose handler runs -------------------------------- */

static volatile sig_atomic_t beats;

static void beat(int number)
{
    beats += number > 0;
    if (fixed && beats == 300) sem_post(&rung);
}

static void heartbeat(void)
{
    struct sigaction a = {.sa_handler = beat, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &a, NULL);
    rings(timer_with(SIGEV_SIGNAL, SIGUSR1, NULL), 1, 1);
}

/* Before the first decision. */
static void relocks(void)
{
    heartbeat();
    pthread_mutex_lock(&m);
    if (!fixed) pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}

static void *sets(void *arg)
{
    pthread_mutex_lock(&m);
    count = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

/* It looks before it has the lock. What a handler does sooner or later comes in time. */
static void sleeps(void)
{
    pthread_t setter;
    heartbeat();
    if (fixed) sem_wait(&rung);
    pthread_create(&setter, NULL, sets, NULL);
    pthread_mutex_lock(&m);
    bool is_set = count != 0;
    if (!fixed) pthread_mutex_unlock(&m);
    if (!fixed) pthread_mutex_lock(&m);
    if (!is_set) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(setter, NULL);
}

/* ---- What the calls answer ------------------------------------------------------------------------------- */

static void calls(void)
{
    struct itimerspec left;
    timer_t t = timer_with(SIGEV_THREAD, 0, tick);
    rings(t, 1, 1);
    for (int i = 0; i < 3; i++) sem_wait(&rung);
    rings(t, 0, 0);
    assert(timer_gettime(t, &left) == 0 && left.it_value.tv_nsec == 0);
    assert(timer_delete(t) == 0 && timer_delete(t) == -1 && errno == EINVAL);
    pthread_mutex_lock(&m);
    assert(count == 6);
    pthread_mutex_unlock(&m);
}

static siginfo_t seen;

static void informed(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen = *info;
}

static void sends(void)
{
    struct sigaction a = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO};
    struct timespec now, all = {5, 0}, left;
    sigset_t set;
    sigaction(SIGRTMIN, &a, NULL);
    timer_t t = timer_with(SIGEV_SIGNAL, SIGRTMIN, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct itimerspec at = {{0, 0}, {now.tv_sec + 1, now.tv_nsec}}, was;
    assert(timer_settime(t, TIMER_ABSTIME, &at, NULL) == 0);
    assert(nanosleep(&all, &left) == -1 && errno == EINTR && left.tv_sec == 4);
    assert(seen.si_code == SI_TIMER && seen.si_value.sival_int == 2);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    rings(t, 1000, 1000);
    usleep(4500000);
    assert(sigwaitinfo(&set, &seen) == SIGRTMIN && timer_getoverrun(t) == 3);
    assert(timer_settime(t, 0, &(struct itimerspec){0}, &was) == 0);
    assert(was.it_interval.tv_sec == 1 && was.it_value.tv_nsec == 500 * MS);
    timer_t quiet = timer_with(SIGEV_NONE, 0, NULL);
    rings(quiet, 1500, 0);
    sleep(1);
    assert(timer_gettime(quiet, &was) == 0 && was.it_value.tv_nsec == 500 * MS);
    timer_delete(quiet);
    timer_delete(t);
}

static void reads(void)
{
    uint64_t times;
    struct itimerspec at = {{0, MS}, {0, MS}};
    int fd = timerfd_create(CLOCK_REALTIME, 0);
    struct pollfd one = {fd, POLLIN, 0};
    assert(timerfd_settime(fd, 0, &at, NULL) == 0);
    assert(read(fd, &times, sizeof times) == sizeof times && times == 1);
    usleep(3500);
    assert(read(fd, &times, sizeof times) == sizeof times && times == 3);
    assert(poll(&one, 1, 100) == 1);
    assert(timerfd_gettime(fd, &at) == 0 && at.it_interval.tv_nsec == MS);
    assert(timerfd_settime(fd, 0, &(struct itimerspec){0}, NULL) == 0 && poll(&one, 1, 100) == 0);
    assert(write(fd, &times, sizeof times) == -1 && errno == EINVAL);
    assert(timerfd_settime(fd, 0x100, &at, NULL) == -1 && errno == EINVAL);
    assert(timerfd_settime(STDIN_FILENO, 0, &at, NULL) == -1 && errno == EINVAL);
    assert(close(fd) == 0 && timerfd_gettime(fd, &at) == -1 && errno == EBADF);
    assert(timerfd_settime(fd, 0, &at, NULL) == -1 && errno == EBADF);
}

/* Clocks that are none, and clocks without timers. */
static void no_clocks(void)
{
    timer_t t;
    assert(timer_create(9999, NULL, &t) == -1 && errno == EINVAL);
    assert(timer_create(CLOCK_MONOTONIC_RAW, NULL, &t) == -1 && errno == EOPNOTSUPP);
    assert(timerfd_create(9999, 0) == -1 && errno == EINVAL);
    assert(timerfd_create(CLOCK_MONOTONIC_RAW, 0) == -1 && errno == EINVAL);
}

/* ---- Loops that wait for one that sleeps: no bug ---- */

static void *rings_late(void *arg)
{
    pthread_mutex_lock(&m);
    usleep(1000);
    pthread_mutex_unlock(&m);
    usleep(1000);
    __atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
    return arg;
}

static void idles(void)
{
    pthread_t t;
    bool there = false;
    pthread_create(&t, NULL, rings_late, &there);
    while (!__atomic_load_n(&there, __ATOMIC_ACQUIRE)) {
        if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m);
        sched_yield();
    }
    pthread_join(t, NULL);
}

/* ---- A thread that works with a lock, and one that asks for it whenever its patience is at an end: no bug ---- */

static bool is_free = true;

static void *works(void *arg)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        while (!is_free) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec = until.tv_nsec < 990000000 ? until.tv_nsec + 5000000 : 999999999;
            pthread_cond_timedwait(&c, &m, &until);
        }
        is_free = false;
        pthread_mutex_unlock(&m);
        for (int j = 0; j < 2000; j++) {
            pthread_mutex_lock(&own);
            pthread_mutex_unlock(&own);
        }
        pthread_mutex_lock(&m);
        is_free = true;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void patience(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, works, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

static void answers(void)
{
    no_clocks();
    calls();
    sends();
    reads();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"held", held},       {"early", early},     {"silent", silent},
               {"unset", unset},     {"relocks", relocks}, {"sleeps", sleeps},
               {"answers", answers}, {"idles", idles},     {"patience", patience}};
    const char *name = argc > 1 ? argv[1] : "";
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    sem_init(&rung, 0, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        all[i].run();
        return 0;
    }
    fprintf(stderr, "timers: no %s\n", name);
    return 2;
}
