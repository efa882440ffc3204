/* fork_cost.h — what fork and wait cost in a process under test, for programs that bench/bench_program.c explores.
 * There the C library's fork, wait and clocks are raddle's, so these ask the system itself. */
#ifndef FORK_COST_H
#define FORK_COST_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static double cpu_seconds(int who)
{
    struct rusage u;
    asks(SYS_getrusage, who, (long)&u, 0, 0);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* So often; the cost of one is appended to the file, in ns of CPU time of both processes. */
static void forks(int count, const char *path)
{
    char line[40];
    double begin = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
    for (int i = 0; i < count; i++) {
        long pid = asks(SYS_clone, SIGCHLD, 0, 0, 0);
        if (pid == 0) asks(SYS_exit_group, 0, 0, 0, 0);
        if (pid > 0) asks(SYS_wait4, pid, 0, 0, 0);
    }
    double each = (cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - begin) / count;
    int size = snprintf(line, sizeof line, "%.0f\n", each * 1e9);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)size) != size) _exit(3);
    close(fd);
}

#endif
