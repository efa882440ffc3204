/* gated.c — system calls that have no name, for `raddle explore`: gated NAME [fixed]. `answers` has no bug. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool fixed;

/* By inline assembly: no function of the C library is called. */
static long bare(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return answer;
}

/* ---- A lock that wakes nobody when it is given back ---- */

static volatile uint32_t word;

static void take(void)
{
    while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
        bare(SYS_futex, (long)&word, FUTEX_WAIT, 1, 0);
}

static void give(void)
{
    __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
    if (fixed) bare(SYS_futex, (long)&word, FUTEX_WAKE, 1, 0);
}

static void *holds(void *arg)
{
    take();
    sched_yield();
    give();
    return arg;
}

static void unwoken(void)
{
    pthread_t t;
    pthread_create(&t, NULL, holds, NULL);
    holds(NULL);
    pthread_join(t, NULL);
}

/* ---- A FILE that another thread has locked, and a lock that it needs ---- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *prints(void *arg)
{
    pthread_mutex_lock(&m);
    printf("a lock within the C library\n");
    pthread_mutex_unlock(&m);
    return arg;
}

static void inner(void)
{
    pthread_t t;
    pthread_create(&t, NULL, prints, NULL);
    flockfile(stdout);
    if (!fixed) pthread_mutex_lock(&m);
    puts("mine");
    if (!fixed) pthread_mutex_unlock(&m);
    funlockfile(stdout);
    pthread_join(t, NULL);
}

/* ---- A write by stdio that finds no room ---- */

static int ends[2];

static void *drains(void *arg)
{
    static char buffer[4096];
    ssize_t got, all = 0;
    while ((got = read(ends[0], buffer, sizeof buffer)) > 0) all += got;
    assert(all == 300000);
    return arg;
}

static void flows(void)
{
    pthread_t t;
    assert(pipe(ends) == 0);
    FILE *f = fdopen(ends[1], "w");
    if (fixed) pthread_create(&t, NULL, drains, NULL);
    for (int i = 0; i < 300000; i++) putc('x', f);
    fclose(f);
    if (!fixed) pthread_create(&t, NULL, drains, NULL);
    pthread_join(t, NULL);
}

/* ---- Refused, by name ---- */

static void forks(void)
{
    pthread_mutex_lock(&m);
    bare(SYS_fork, 0, 0, 0, 0);
}

static void runs(void)
{
    pthread_mutex_lock(&m);
    bare(SYS_execve, (long)"/bin/true", 0, 0, 0);
}

static void becomes(void)
{
    pthread_mutex_lock(&m);
    bare(SYS_setuid, 0, 0, 0, 0);
}

static void exits(void)
{
    pthread_mutex_lock(&m);
    bare(SYS_exit_group, 9, 0, 0, 0);
}

static void marks(void)
{
    pthread_mutex_lock(&m);
    bare(SYS_unlink, (long)"no such file", 0, 0, 0);
    pthread_mutex_unlock(&m);
}

/* ---- What the calls answer ---- */

static sigjmp_buf back;

static void leaps(int number)
{
    siglongjmp(back, number);
}

static void answers(void)
{
    struct timespec a, b, second = {1, 0};
    sigset_t set;
    unsigned one = 0, two = 0;
    pthread_mutex_lock(&m);
    assert(bare(SYS_getpid, 0, 0, 0, 0) == getpid() && bare(SYS_gettid, 0, 0, 0, 0) == gettid());
    bare(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&a, 0, 0);
    bare(SYS_nanosleep, (long)&second, 0, 0, 0);
    bare(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&b, 0, 0);
    assert(b.tv_sec - a.tv_sec == 1 && b.tv_nsec == a.tv_nsec);
    bare(SYS_getrandom, (long)&one, sizeof one, 0, 0);
    bare(SYS_getrandom, (long)&two, sizeof two, 0, 0);
    assert(one != two);
    assert(bare(SYS_close, 400, 0, 0, 0) == -EBADF);
    assert(bare(SYS_futex, (long)&one, FUTEX_WAIT, (long)one + 1, 0) == -EAGAIN);
    signal(SIGUSR1, leaps);
    if (sigsetjmp(back, 1) == 0) bare(SYS_tgkill, getpid(), gettid(), SIGUSR1, 0);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    assert(!sigismember(&set, SIGUSR1)); /* siglongjmp has put the mask back */
    signal(SIGSEGV, leaps);
    if (sigsetjmp(back, 1) == 0) *(volatile int *)(uintptr_t)(one == two) = 1;
    free(malloc(2000000));
    pthread_mutex_unlock(&m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"unwoken", unwoken}, {"inner", inner}, {"flows", flows},
               {"forks", forks},     {"runs", runs},   {"becomes", becomes},
               {"exits", exits},     {"marks", marks}, {"answers", answers}};
    const char *name = argc > 1 ? argv[1] : "";
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        all[i].run();
        return 0;
    }
    fprintf(stderr, "gated: no %s\n", name);
    return 2;
}
