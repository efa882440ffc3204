/* ten.c — two fibers that make ten operations each: what a step costs under test (bench/bench_program.c).
 *
 *     ten                   1 mutex, locked and unlocked five times by each
 *     ten fork COUNT FILE   before that: what fork and wait cost in this process, appended to FILE in ns of CPU time
 *     ten many COUNT        so many fibers that sleep for a time of their own, and then end
 *
 * Under test the C library's fork, wait and clocks are raddle's, so the second one asks the system itself. */
#include <raddle.h>

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static rad_mutex lock;

static int five(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        rad_mutex_lock(&lock);
        rad_mutex_unlock(&lock);
    }
    return 0;
}

static int sleeper(void *arg)
{
    rad_sleep((uint64_t)(uintptr_t)arg * 1000);
    return 0;
}

static int argument_count;
static char **arguments;

static int start(void *arg)
{
    rad_nursery n;
    long many = argument_count > 2 && strcmp(arguments[1], "many") == 0
                    ? strtol(arguments[2], NULL, 10)
                    : 0;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (long i = 0; i < many; i++) rad_nursery_go(&n, sleeper, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < 2 && many == 0; i++) rad_nursery_go(&n, five, NULL);
    return rad_nursery_wait(&n);
}

/* ---- Fork and wait ------------------------------------------------------------------------------------ */

static long asks(long number, long a, long b, long c, long d)
{
#if defined __x86_64__
    register long fourth __asm__("r10") = d, fifth __asm__("r8") = 0;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    return answer;
#elif defined __aarch64__
    register long x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = 0, x8 __asm__("x8") = number;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8) : "memory");
    return x0;
#else
    (void)number, (void)a, (void)b, (void)c, (void)d;
    return -1;
#endif
}

static double seconds(int who)
{
    struct rusage u = {.ru_utime.tv_sec = 0};
    asks(SYS_getrusage, who, (long)&u, 0, 0);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void forks(int count, const char *path)
{
    char line[40];
    double begin = seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN);
    for (int i = 0; i < count; i++) {
        long pid = asks(SYS_clone, SIGCHLD, 0, 0, 0);
        if (pid == 0) asks(SYS_exit_group, 0, 0, 0, 0);
        if (pid > 0) asks(SYS_wait4, pid, 0, 0, 0);
    }
    double each = (seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN) - begin) / count;
    int size = snprintf(line, sizeof line, "%.0f\n", each * 1e9);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)size) != size) _exit(3);
    close(fd);
}

static int forker(void *arg)
{
    rad_yield();
    forks((int)strtol(arguments[2], NULL, 10), arguments[3]);
    return start(arg);
}

int main(int argc, char **argv)
{
    bool fork = argc == 4 && strcmp(argv[1], "fork") == 0;
    argument_count = argc;
    arguments = argv;
    return rad_main(NULL, fork ? forker : start, NULL, NULL);
}
