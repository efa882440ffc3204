/* gated.c — system calls that have no name, for `raddle explore`: gated NAME [fixed]. `answers` has no bug. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

static bool fixed;

/* By inline assembly: no function of the C library is called. */
static long bare(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return answer;
}

/* ---- A lock that wakes nobody when it is given back ---- */

static volatile uint32_t word;

static void take(void)
{
    while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE)) bare(SYS_futex, (long)&word, FUTEX_WAIT, 1, 0);
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

/* By the number that it was told. */
static void own_files(void)
{
    char path[40], text[80];
    snprintf(path, sizeof path, "/proc/%d/cmdline", getpid());
    FILE *f = fopen(path, "r");
    int fd = open(path, O_RDONLY);
    assert(f != NULL && fd >= 0 && read(fd, text, sizeof text) > 0);
    fclose(f);
    close(fd);
    assert(bare(SYS_open, (long)path, O_RDONLY, 0, 0) >= 0);
    snprintf(path, sizeof path, "/proc/%d/exe", getpid());
    assert(readlink(path, text, sizeof text) > 0);
    snprintf(path, sizeof path, "/proc/%d1/exe", getpid());
    assert(readlink(path, text, sizeof text) == -1 && errno == ENOENT);
    snprintf(path, sizeof path, "/proc/%d", getpid());
    DIR *d = opendir(path);
    assert(d != NULL);
    closedir(d);
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
    own_files();
    pthread_mutex_unlock(&m);
}

/* ---- Calls that wait ---- */

/* As inline assembly, with all six. */
static long bare6(long number, long a, long b, long c, long d, long e, const void *f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register const void *r9 __asm__("r9") = f;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}

static void *says(void *arg)
{
    static const struct timespec hour = {3600, 0};
    struct timespec minute = {60, 0}, before, after;
    struct timeval second = {1, 0};
    bare(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&before, 0, 0);
    bare(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&hour, 0);
    bare6(SYS_select, 0, 0, 0, 0, (long)&second, NULL);
    bare6(SYS_pselect6, 0, 0, 0, 0, (long)&minute, NULL);
    bare6(SYS_ppoll, 0, 0, (long)&minute, 0, 0, NULL);
    bare(SYS_poll, 0, 0, 1000, 0);
    bare(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&after, 0, 0);
    assert(after.tv_sec - before.tv_sec == 3722);
    for (int i = 0; i < (fixed ? 4 : 3); i++) bare(SYS_write, ends[1], (long)"x", 1, 0);
    return arg;
}

static void waits(void)
{
    struct pollfd one = {.events = POLLIN};
    uint64_t mask = 0;
    const struct {
        const void *set;
        size_t size;
    } masked = {&mask, sizeof mask};
    pthread_t t;
    fd_set in;
    char c;
    assert(pipe(ends) == 0);
    pthread_create(&t, NULL, says, NULL);
    FD_ZERO(&in);
    FD_SET(ends[0], &in);
    assert(bare6(SYS_select, ends[0] + 1, (long)&in, 0, 0, 0, NULL) == 1);
    bare(SYS_read, ends[0], (long)&c, 1, 0);
    FD_SET(ends[0], &in);
    assert(bare6(SYS_pselect6, ends[0] + 1, (long)&in, 0, 0, 0, &masked) == 1);
    bare(SYS_read, ends[0], (long)&c, 1, 0);
    one.fd = ends[0];
    assert(bare6(SYS_ppoll, (long)&one, 1, 0, (long)&mask, sizeof mask, NULL) == 1);
    bare(SYS_read, ends[0], (long)&c, 1, 0);
    assert(bare(SYS_poll, (long)&one, 1, -1, 0) == 1);
    pthread_join(t, NULL);
}

/* ---- The processor's counter, measured by the clock before main, and read in threads ---- */

static uint64_t now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static uint64_t counted(bool where)
{
    unsigned low, high, processor = 0;
    if (where)
        __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    else
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return low | (uint64_t)high << 32;
}

static uint64_t counts_a_ms;
static volatile sig_atomic_t faults;

__attribute__((constructor)) static void measure(void)
{
    uint64_t from = now_ns(), to, count = counted(false);
    while ((to = now_ns()) - from < 1280000) continue;
    counts_a_ms = (counted(false) - count) * 1000000 / (to - from);
}

/* The system's page of clocks, which the C library would call. */
static uint64_t page_ns(void)
{
    static int (*read_clock)(clockid_t clock, struct timespec * at);
    void *page = read_clock ? NULL : dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *function = page ? dlsym(page, "__vdso_clock_gettime") : NULL;
    struct timespec at = {0, 0};
    if (function) memcpy(&read_clock, &function, sizeof read_clock);
    if (read_clock == NULL) return now_ns();
    read_clock(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void on_fault(int number)
{
    faults++;
    siglongjmp(back, number);
}

static void *counts(void *arg)
{
    const struct timespec rest = {0, 5000000};
    uint64_t from = now_ns(), count = counted(true);
    nanosleep(&rest, NULL);
    uint64_t counts = counted(true) - count, expected = (now_ns() - from) * counts_a_ms / 1000000;
    assert(counts_a_ms > 0 && counts + counts / 50 >= expected && counts <= expected + expected / 50);
    assert(page_ns() == now_ns());
    while (counted(false) < count + 9000000) continue;
    return arg;
}

static void counter(void)
{
    struct sigaction old;
    pthread_t t[2];
    signal(SIGSEGV, on_fault);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, counts, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    if (sigsetjmp(back, 1) == 0) *(volatile int *)(uintptr_t)(t[0] == t[1]) = 1;
    counted(false);
    assert(faults == 1 && sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == on_fault);
    signal(SIGSEGV, SIG_DFL);
    if (!fixed) *(volatile int *)(uintptr_t)(t[0] == t[1]) = 1;
}

/* ---- Processors ---- */

static int expected = 4;

static int listed(const char *path, const char *word)
{
    char line[200];
    int count = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) count += strncmp(line, word, strlen(word)) == 0;
    if (f) fclose(f);
    return count;
}

static void processors(void)
{
    cpu_set_t set;
    unsigned cpu = 99;
    char range[20];
    pthread_mutex_lock(&m);
    assert(sysconf(_SC_NPROCESSORS_ONLN) == expected && sysconf(_SC_NPROCESSORS_CONF) == expected);
    assert(get_nprocs() == expected && get_nprocs_conf() == expected);
    assert(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == expected);
    assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
    assert(CPU_COUNT(&set) == expected);
    assert(bare(SYS_sched_getaffinity, 0, sizeof set, (long)&set, 0) == (expected + 63) / 64 * 8);
    assert(listed("/proc/cpuinfo", "processor\t") == expected);
    snprintf(range, sizeof range, expected > 1 ? "0-%d\n" : "%d\n", expected - 1);
    assert(listed("/sys/devices/system/cpu/online", range) == 1);
    assert(bare(SYS_getcpu, (long)&cpu, 0, 0, 0) == 0 && cpu == 0 && sched_getcpu() == 0);
    CPU_ZERO(&set);
    CPU_SET(expected, &set);
    assert(sched_setaffinity(0, sizeof set, &set) == -1 && errno == EINVAL);
    CPU_SET(expected - 1, &set);
    assert(sched_setaffinity(0, sizeof set, &set) == 0 && sched_getcpu() == expected - 1);
    assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) == 1);
    pthread_mutex_unlock(&m);
}

/* ---- What the system keeps for each of its threads ---- */

static void *own_register(void *arg)
{
    unsigned long got = 0;
    bare(SYS_arch_prctl, 0x1001, (long)arg, 0, 0); /* GS */
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    bare(SYS_arch_prctl, 0x1004, (long)&got, 0, 0);
    assert(got == (unsigned long)arg);
    return NULL;
}

static void registers(void)
{
    pthread_t t[2];
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&t[i], NULL, own_register, (char *)NULL + 4096 * (i + 1));
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

static void named_setuid(void)
{
    pthread_mutex_lock(&m);
    if (setresuid(getuid(), getuid(), getuid()) != 0) abort();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"unwoken", unwoken},     {"inner", inner},     {"flows", flows},           {"forks", forks},
               {"runs", runs},           {"becomes", becomes}, {"exits", exits},           {"marks", marks},
               {"answers", answers},     {"waits", waits},     {"processors", processors}, {"setresuid", named_setuid},
               {"registers", registers}, {"counter", counter}};
    const char *name = argc > 1 ? argv[1] : "";
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    if (argc > 2 && !fixed) expected = (int)strtol(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        all[i].run();
        return 0;
    }
    fprintf(stderr, "gated: no %s\n", name);
    return 2;
}
