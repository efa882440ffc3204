/* signals.c — programs with signals and a bug each, for `raddle explore`: signals NAME [fixed]; `answers` has none, and
 * asserts what the calls are to answer. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static bool fixed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun, ended;

static sigset_t only(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static void on(int number, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    assert(sigaction(number, &a, NULL) == 0);
}

/* ---- A handler that takes a lock which the interrupted thread has ---- */

static int total;

static void add_locked(int number)
{
    pthread_mutex_lock(&m);
    total += number;
    pthread_mutex_unlock(&m);
}

static void *adder(void *arg)
{
    sigset_t set = only(SIGUSR1);
    if (fixed) pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_mutex_lock(&m);
    total++;
    pthread_mutex_unlock(&m);
    if (fixed) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return arg;
}

static void locked(void)
{
    pthread_t t;
    on(SIGUSR1, add_locked, 0);
    pthread_create(&t, NULL, adder, NULL);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
}

/* ---- A signal that comes between the look and the wait for it ---- */

static volatile sig_atomic_t came;

static void note(int number)
{
    came = number;
}

static void *sender(void *arg)
{
    kill(getpid(), SIGUSR1);
    return arg;
}

static void *queues(void *arg)
{
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 0});
    return arg;
}

static void missed(void)
{
    pthread_t t;
    sigset_t set = only(SIGUSR1), before;
    on(SIGUSR1, note, 0);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    pthread_create(&t, NULL, sender, NULL); /* the others block it */
    if (fixed) {
        while (!came) sigsuspend(&before);
    } else {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        while (!came) pause();
    }
    pthread_join(t, NULL);
}

/* ---- A signal that one thread waits for, and others do not block ---- */

static void *waits_for_it(void *arg)
{
    sigset_t set = only(SIGUSR2);
    int number = 0;
    if (!fixed) pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert(sigwait(&set, &number) == 0 && number == SIGUSR2);
    return arg;
}

static void unblocked(void)
{
    pthread_t t;
    sigset_t set = only(SIGUSR2);
    if (fixed) pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, waits_for_it, NULL);
    kill(getpid(), SIGUSR2);
    pthread_join(t, NULL);
}

/* ---- A call that a handler breaks off ---- */

static void *pokes(void *to)
{
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    sem_post(&ended);
    return NULL;
}

static void broken(void)
{
    pthread_t t, self = pthread_self();
    int code;
    on(SIGUSR1, note, 0);
    pthread_create(&t, NULL, pokes, &self);
    while ((code = sem_wait(&ended)) != 0 && fixed && errno == EINTR) {
    }
    assert(code == 0);
    pthread_join(t, NULL);
}

/* ---- Which thread takes what is sent to all of them ---- */

static pthread_t first;
static bool elsewhere;

static void look(int number)
{
    (void)number;
    elsewhere |= !pthread_equal(pthread_self(), first);
}

static void *idles(void *arg)
{
    sigset_t set = only(SIGUSR1);
    if (fixed) pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_post(&begun);
    sem_wait(&ended);
    return arg;
}

static void anyone(void)
{
    pthread_t t;
    first = pthread_self();
    on(SIGUSR1, look, SA_RESTART);
    pthread_create(&t, NULL, idles, NULL);
    sem_wait(&begun);
    kill(getpid(), SIGUSR1);
    sem_post(&ended);
    pthread_join(t, NULL);
    assert(!elsewhere);
}

/* ---- Time ---- */

static void *works(void *arg)
{
    pthread_mutex_lock(&m);
    usleep(fixed ? 1000 : 3000000);
    pthread_mutex_unlock(&m);
    return arg;
}

static void too_late(int number)
{
    (void)number;
    _exit(3);
}

static void timed(void)
{
    pthread_t t;
    on(SIGALRM, too_late, 0);
    pthread_create(&t, NULL, works, NULL);
    alarm(2);
    pthread_join(t, NULL);
    assert(alarm(0) == 2);
}

/* ---- How it ends ---- */

static void ends(void)
{
    if (!fixed) raise(SIGTERM);
}

static void leaves(int number)
{
    _exit(number == SIGABRT ? 0 : 1);
}

static void aborts(void)
{
    if (fixed) on(SIGABRT, leaves, 0);
    abort();
}

/* ---- What the calls answer ---- */

static volatile int depth, deepest, rounds; /* raise is declared as calling nothing of ours */
static volatile siginfo_t seen;
static sigjmp_buf back;

static void nested(int number)
{
    if (++depth > deepest) deepest = depth;
    if (rounds++ == 0) raise(number);
    depth--;
}

static void informed(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen.si_signo = info->si_signo;
    seen.si_pid = info->si_pid;
}

static void leaps(int number)
{
    siglongjmp(back, number);
}

static void handlers(void)
{
    on(SIGUSR1, nested, 0);
    assert(raise(SIGUSR1) == 0 && rounds == 2 && deepest == 1); /* the second one came after the first */
    depth = deepest = rounds = 0;
    on(SIGUSR1, nested, SA_NODEFER);
    assert(raise(SIGUSR1) == 0 && rounds == 2 && deepest == 2);
    on(SIGUSR1, note, (int)SA_RESETHAND);
    struct sigaction now;
    came = 0;
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &now);
    assert(came == SIGUSR1 && now.sa_handler == SIG_DFL);
    assert(signal(SIGUSR1, SIG_IGN) == SIG_DFL && raise(SIGUSR1) == 0);
    assert(signal(SIGUSR1, note) == SIG_IGN);
    assert(sigaction(SIGKILL, &now, NULL) == -1 && errno == EINVAL);
    assert(signal(99, note) == SIG_ERR && kill(getpid(), 99) == -1 && kill(getpid(), 0) == 0);
}

static void masks(void)
{
    sigset_t set = only(SIGUSR1), now;
    came = 0;
    on(SIGUSR1, note, 0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    sigpending(&now);
    assert(came == 0 && sigismember(&now, SIGUSR1));
    pthread_sigmask(SIG_UNBLOCK, &set, &now);
    assert(came == SIGUSR1 && sigismember(&now, SIGUSR1));
    sigpending(&now);
    assert(!sigismember(&now, SIGUSR1));
    assert(pthread_sigmask(77, &set, NULL) == EINVAL);
}

static void queued(void)
{
    sigset_t set = only(SIGRTMIN);
    siginfo_t info;
    struct timespec soon = {0, 1000};
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert(sigtimedwait(&set, &info, &soon) == -1 && errno == EAGAIN);
    for (int i = 0; i < 3; i++) assert(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
    for (int i = 0; i < 3; i++)
        assert(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == i && info.si_code == SI_QUEUE);
    struct sigaction a = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &a, NULL);
    raise(SIGUSR2);
    assert(seen.si_signo == SIGUSR2 && seen.si_pid == getpid());
}

static void sleeps(void)
{
    struct timespec all = {3, 0}, left = {9, 9};
    struct itimerval every = {{0, 1000000 / 4}, {1, 0}}, now;
    on(SIGALRM, note, SA_RESTART);
    came = 0;
    alarm(1);
    assert(nanosleep(&all, &left) == -1 && errno == EINTR && came == SIGALRM);
    assert(left.tv_sec == 2 || (left.tv_sec == 1 && left.tv_nsec > 0));
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 3; i++) assert(usleep(5000000) == -1);
    getitimer(ITIMER_REAL, &now);
    assert(now.it_interval.tv_usec == 250000 && now.it_value.tv_usec == 250000);
    assert(sleep(2) == 1 && sleep(1) == 0); /* what is less than a second does not count */
    assert(alarm(0) == 1 && sleep(1) == 0);
}

static void *own_stack(void *arg)
{
    static char memory[2][64 << 10];
    stack_t stack = {.ss_sp = memory[arg != NULL], .ss_size = sizeof memory[0]}, now;
    assert(sigaltstack(&stack, NULL) == 0);
    sem_post(&begun);
    sem_wait(&ended);
    assert(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack.ss_sp);
    return arg;
}

static void stacks(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, own_stack, NULL);
    pthread_create(&two, NULL, own_stack, &fixed);
    for (int i = 0; i < 2; i++) sem_wait(&begun);
    for (int i = 0; i < 2; i++) sem_post(&ended);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    on(SIGSEGV, leaps, 0);
    on(SIGILL, leaps, 0);
    for (int i = 0; i < 2; i++) { /* siglongjmp lets the signal through again */
        if (sigsetjmp(back, 1) == 0) *(volatile int *)(uintptr_t)(depth * 0) = 1;
        if (sigsetjmp(back, 1) == 0) __builtin_trap();
    }
    signal(SIGSEGV, SIG_DFL);
    signal(SIGILL, SIG_DFL);
}

/* ---- A condition that is signalled while its waiter runs a handler ---- */

static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static bool waits, is_told;

static void rests(int number)
{
    (void)number;
    sem_post(&begun);
    sem_wait(&ended);
}

static void *tells(void *waiter)
{
    bool there = false;
    while (!there) {
        pthread_mutex_lock(&m);
        there = waits; /* and has given the mutex back */
        pthread_mutex_unlock(&m);
    }
    pthread_kill(*(pthread_t *)waiter, SIGUSR1);
    sem_wait(&begun);
    pthread_mutex_lock(&m);
    is_told = true;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&m);
    sem_post(&ended);
    return NULL;
}

/* Until it is told, or too late: what has happened while it was in the handler, it knows when it has returned. */
static void meanwhile(const struct timespec *until, int answer)
{
    pthread_t self = pthread_self(), teller;
    int code = 0;
    waits = is_told = false;
    on(SIGUSR1, rests, 0);
    pthread_create(&teller, NULL, tells, &self);
    pthread_mutex_lock(&m);
    waits = true;
    while (!is_told && code == 0)
        code = until ? pthread_cond_timedwait(&told, &m, until) : pthread_cond_wait(&told, &m);
    assert(code == answer || (is_told && code == 0));
    pthread_mutex_unlock(&m);
    pthread_join(teller, NULL);
}

static void conditions(void)
{
    struct timespec until;
    meanwhile(NULL, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    meanwhile(&until, ETIMEDOUT);
}

/* ---- Waiters that a handler disturbs: no bug ---- */

static pthread_barrier_t meeting;

static void *meets(void *arg)
{
    pthread_barrier_wait(&meeting);
    return arg;
}

static void *pokes_often(void *to)
{
    for (int i = 0; i < 3; i++) pthread_kill(*(pthread_t *)to, SIGUSR2);
    return NULL;
}

static void *waits_often(void *arg)
{
    pthread_mutex_lock(&m);
    while (!is_told) pthread_cond_wait(&told, &m);
    pthread_mutex_unlock(&m);
    meets(NULL);
    return arg;
}

/* It has come, whatever handler it runs: the other one goes through, and lets the handler end. */
static void meets_meanwhile(void)
{
    static const struct timespec pause = {0, 1000000};
    pthread_t waiter, other;
    on(SIGUSR1, rests, 0);
    pthread_create(&waiter, NULL, meets, NULL);
    nanosleep(&pause, NULL); /* it is there */
    pthread_kill(waiter, SIGUSR1);
    sem_wait(&begun);
    pthread_create(&other, NULL, meets, NULL);
    pthread_join(other, NULL);
    sem_post(&ended);
    pthread_join(waiter, NULL);
}

static void disturbed(void)
{
    pthread_t waiter, poker;
    pthread_barrier_init(&meeting, NULL, 2);
    meets_meanwhile();
    on(SIGUSR2, note, 0);
    pthread_create(&waiter, NULL, waits_often, NULL);
    pthread_create(&poker, NULL, pokes_often, &waiter);
    pthread_mutex_lock(&m);
    is_told = true;
    pthread_cond_signal(&told); /* it may be about to run a handler, and the mutex is not free */
    pthread_mutex_unlock(&m);
    pthread_join(poker, NULL);
    meets(NULL);
    pthread_join(waiter, NULL);
}

/* ---- Signals that are read ---- */

/* Two of one kind are one while nobody has taken the first; those of real time are queued. */
static void merged(void)
{
    pthread_t t[2];
    int number = fixed ? SIGRTMIN : SIGUSR1;
    sigset_t set = only(number);
    struct signalfd_siginfo info;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, fixed ? queues : sender, NULL);
    for (int i = 0; i < 2; i++) assert(read(fd, &info, sizeof info) == sizeof info && (int)info.ssi_signo == number);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

static int signals_fd;

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, 0) == 1;
}

/* Its own signal only it can read. */
static void *sends(void *arg)
{
    kill(getpid(), SIGUSR1);
    queues(NULL);
    pthread_kill(pthread_self(), SIGUSR2);
    assert(is_readable(signals_fd));
    return arg;
}

static void reads_edges(void)
{
    struct signalfd_siginfo info[4];
    struct epoll_event event = {.events = EPOLLIN | EPOLLET}, got;
    int edges = epoll_create1(0), seen = 0;
    ssize_t size;
    pthread_t t;
    assert(epoll_ctl(edges, EPOLL_CTL_ADD, signals_fd, &event) == 0);
    pthread_create(&t, NULL, sends, NULL);
    while (seen < SIGUSR1 + SIGRTMIN) {
        assert(epoll_wait(edges, &got, 1, -1) == 1);
        while ((size = read(signals_fd, info, sizeof info)) > 0)
            for (size_t i = 0; i < (size_t)size / sizeof *info; i++) seen += (int)info[i].ssi_signo;
        assert(size == -1 && errno == EAGAIN);
    }
    assert(seen == SIGUSR1 + SIGRTMIN && !is_readable(signals_fd));
    pthread_join(t, NULL);
    close(edges);
}

static void reads(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct signalfd_siginfo info;
    sigset_t before, set = only(SIGUSR1), one = only(SIGTERM);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    assert(signalfd(-1, &set, 1) == -1 && errno == EINVAL);
    assert(signalfd(99, &set, 0) == -1 && errno == EBADF);
    assert(signalfd(0, &set, 0) == -1 && errno == EINVAL);
    assert((signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) >= 0);
    assert(read(signals_fd, &info, sizeof info) == -1 && errno == EAGAIN);
    assert(read(signals_fd, &info, 8) == -1 && errno == EINVAL);
    assert(write(signals_fd, &info, 8) == -1 && errno == EINVAL);
    reads_edges();
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 3; i++) {
        struct pollfd alarm = {.fd = signals_fd, .events = POLLIN};
        assert(poll(&alarm, 1, -1) == 1 && read(signals_fd, &info, sizeof info) == sizeof info);
        assert(info.ssi_signo == SIGALRM);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigqueue(getpid(), SIGTERM, (union sigval){.sival_int = 7});
    assert(read(signals_fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGTERM && info.ssi_int == 7);
    assert(info.ssi_code == SI_QUEUE && (pid_t)info.ssi_pid == getpid());
    raise(SIGUSR1);
    assert(is_readable(signals_fd) && signalfd(signals_fd, &one, 0) == signals_fd && !is_readable(signals_fd));
    close(signals_fd);
    set = only(SIGUSR1);
    sigwait(&set, &(int){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void answers(void)
{
    reads();
    conditions();
    handlers();
    masks();
    queued();
    sleeps();
    stacks();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"locked", locked},   {"missed", missed}, {"unblocked", unblocked}, {"broken", broken},
               {"anyone", anyone},   {"timed", timed},   {"ends", ends},           {"aborts", aborts},
               {"answers", answers}, {"merged", merged}, {"disturbed", disturbed}};
    const char *name = argc > 1 ? argv[1] : "";
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    sem_init(&begun, 0, 0);
    sem_init(&ended, 0, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        all[i].run();
        return 0;
    }
    fprintf(stderr, "signals: no %s\n", name);
    return 2;
}
