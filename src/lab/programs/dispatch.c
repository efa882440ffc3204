/* dispatch.c — system calls of a program under test that have no name: by inline assembly, by syscall(2), and those
 * that the C library makes by itself (its own locks, the loader's). The system turns each into SIGSYS (Syscall User
 * Dispatch), and system_calls.h says what becomes of it. So a lock within the C library that another thread has is a
 * wait like any other.
 *
 * The gate is shut while the program runs on a thread, and open in the lab: the selector changes with each step. What
 * the lab itself calls while the program runs (the real function behind an answer) comes here, too, and passes. A call
 * that waits leaves the stack of its handler, and returns there when the thread is chosen.
 *
 * Without it (an older system, another processor, RADDLE_GATE=no) calls are seen by name only, and the verdict says
 * so. Fibers are not behind it: their runtime makes its calls by names that are answered. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"

#include "lab/programs/fibers/counter.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/server.h"
#include "lab/programs/system_calls.h"
#include "lab/programs/threads/threads.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- What becomes of a call ------------------------------------------------------------------------------ */

enum action { UNKNOWN, SIMULATED, WAITING, PASSED, NOTED, STAYING, MARKED, REFUSED_BY_NAME };

typedef struct row {
    const char *name;
    enum action action;
    const char *beyond; /* of those that stay: why a run is not put back */
} row;

enum { CALLS_MAX = 512 };

static const row calls[CALLS_MAX] = {
#define SIMULATED_ROW(name) [SYS_##name] = {#name, SIMULATED, NULL},
#define WAITING_ROW(name)   [SYS_##name] = {#name, WAITING, NULL},
#define PASSED_ROW(name)    [SYS_##name] = {#name, PASSED, NULL},
#define NOTED_ROW(name)     [SYS_##name] = {#name, NOTED, NULL},
#define STAYING_ROW(name)   [SYS_##name] = {#name, STAYING, "it calls " #name},
#define MARKED_ROW(name)    [SYS_##name] = {#name, MARKED, NULL},
#define REFUSED_ROW(name)   [SYS_##name] = {#name, REFUSED_BY_NAME, NULL},
#if defined(__x86_64__)
    RAD_CALLS_SIMULATED(SIMULATED_ROW) RAD_CALLS_WAITING(WAITING_ROW) RAD_CALLS_PASSED(PASSED_ROW)
        RAD_CALLS_NOTED(NOTED_ROW) RAD_CALLS_STAYING(STAYING_ROW) RAD_CALLS_MARKED(MARKED_ROW)
            RAD_CALLS_REFUSED(REFUSED_ROW)
#endif
};

static volatile char selector; /* 0: open, 1: shut */
static bool is_there;

void rad__dispatch_shut(bool shut)
{
    selector = shut && is_there;
}

#if defined(__x86_64__)

/* In this library's code, which passes. */
long rad__dispatch_pass(long number, const long *a)
{
    register long d __asm__("r10") = a[3];
    register long e __asm__("r8") = a[4];
    register long f __asm__("r9") = a[5];
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r11", "memory");
    return answer;
}

/* As the system answers. */
static long of_library(long answer)
{
    return answer < 0 ? -errno : answer;
}

/* The system keeps it for each of its threads. */
static void needs_own_thread(long number, const long *a)
{
    enum { SET_GS = 0x1001 };
    if (number == SYS_arch_prctl && a[0] == SET_GS && rad__thread_self() && !rad__stage.real_threads)
        rad__program_refused("arch_prctl", "the register GS is of a thread of the system: "
                                           "--real-threads gives each thread one");
}

static long simulated(long number, const long *a)
{
    long answer = -ENOSYS;
    if (number == SYS_exit_group) rad__program_exits((int)a[0] & 0xff);
    if (rad__clock_by_number(number, a, &answer) || rad__random_by_number(number, a, &answer) ||
        rad__identity_by_number(number, &answer) || rad__futex_by_number(number, a, &answer) ||
        rad__processors_by_number(number, a, &answer) || rad__descriptors_by_number(number, a, &answer) ||
        rad__timers_by_number(number, a, &answer) || rad__signals_by_number(number, a, &answer) ||
        rad__signal_files_by_number(number, a, &answer))
        return of_library(answer);
    return rad__dispatch_pass(number, a);
}

static bool reads(long number)
{
    return number == SYS_read || number == SYS_readv || number == SYS_recvfrom || number == SYS_recvmsg ||
           number == SYS_recvmmsg || number == SYS_accept || number == SYS_accept4;
}

static bool read_signals(long number, const long *a, ssize_t *got)
{
    const struct iovec one = {rad__argument_pointer(a[1]), (size_t)a[2]};
    if (number == SYS_read) return rad__signal_files_read((int)a[0], &one, 1, got);
    return number == SYS_readv && rad__signal_files_read((int)a[0], one.iov_base, (int)a[2], got);
}

static long waiting(long number, const long *a)
{
    int fd = (int)a[0];
    ssize_t got;
    if (rad__thread_self() == NULL) return rad__dispatch_pass(number, a);
    bool fourth = number == SYS_recvfrom || number == SYS_sendto || number == SYS_recvmmsg || number == SYS_sendmmsg;
    bool at_once = fourth && (a[3] & MSG_DONTWAIT);
    at_once |= (number == SYS_recvmsg || number == SYS_sendmsg) && (a[2] & MSG_DONTWAIT);
    if (at_once) return rad__dispatch_pass(number, a);
    if (number == SYS_write && rad__write_may_wait(fd))
        return of_library(rad__write_unnamed(fd, rad__argument_pointer(a[1]), (size_t)a[2]));
    if (!rad__descriptor_unnamed(fd, !reads(number))) return -errno;
    return read_signals(number, a, &got) ? of_library(got) : rad__dispatch_pass(number, a);
}

static long noted(long number, const long *a)
{
    rad_marks *m = rad__marks;
    if (number == SYS_rt_sigaction && a[0] == SIGSEGV && a[1] != 0) rad__counter_shut();
    if (number == SYS_rt_sigaction || number == SYS_sigaltstack)
        m->signals = true;
    else if (number == SYS_close)
        rad__marked_closes((int)a[0]);
    else if (number == SYS_dup2 || number == SYS_dup3 || number == SYS_close_range)
        m->files = true;
    else
        m->maps = true;
    return rad__dispatch_pass(number, a);
}

static long staying(const row *r, long number, const long *a)
{
    bool only_asks = number == SYS_prlimit64 && a[2] == 0; /* getrlimit */
    if (!only_asks) rad__marks->beyond = r->beyond;
    return rad__dispatch_pass(number, a);
}

static long unknown(long number, const long *a)
{
    char name[32];
    snprintf(name, sizeof name, "system call %ld", number);
    rad__program_reaches(name, NULL);
    return rad__dispatch_pass(number, a);
}

/* Calls of functions that the lab has no own of: opendir, readlink. */
static long passed(long number, const long *a)
{
    char own[RAD_OWN_PATH];
    long with[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};
    long *path = number == SYS_open || number == SYS_readlink       ? &with[0]
                 : number == SYS_openat || number == SYS_readlinkat ? &with[1]
                                                                    : NULL;
    if (path) *path = (long)rad__own_path(rad__argument_pointer(*path), own);
    needs_own_thread(number, a);
    return rad__dispatch_pass(number, with);
}

static long answer_of(long number, const long *a)
{
    const row *r = number >= 0 && number < CALLS_MAX ? &calls[number] : &(row){NULL, UNKNOWN, NULL};
    switch (r->action) {
    case SIMULATED: return simulated(number, a);
    case WAITING: return waiting(number, a);
    case PASSED: return passed(number, a);
    case NOTED: return noted(number, a);
    case STAYING: return staying(r, number, a);
    case MARKED: rad__program_reaches(r->name, NULL); return rad__dispatch_pass(number, a);
    case REFUSED_BY_NAME: rad__program_refused(r->name, "by its number, which cannot be explored");
    default: return unknown(number, a);
    }
}

/* Back to the program from the handler: the gate is shut again by then. */
__asm__(".text\n"
        ".globl rad__dispatch_leave\n"
        ".hidden rad__dispatch_leave\n"
        ".type rad__dispatch_leave, @function\n"
        "rad__dispatch_leave:\n"
        "mov $15, %eax\n"
        "syscall\n");

enum { OF_64_BITS = 0xc000003e };

static void on_call(int signal, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    greg_t *r = u->uc_mcontext.gregs;
    long number = info->si_syscall;
    int error = errno;
    (void)signal;
    selector = 0;
    if (info->si_arch != OF_64_BITS) rad__program_refused("a system call of 32 bits", "which cannot be explored");
    if (number == SYS_rt_sigreturn) { /* it has to stand where it stands: once more, with the gate open for this step */
        r[REG_RIP] -= 2;
        r[REG_RAX] = number;
        return;
    }
    const long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    r[REG_RAX] = answer_of(number, a);
    errno = error;
    selector = rad__stage.running;
}

pid_t rad__dispatch_pid(void)
{
    const long none[6] = {0};
    return (pid_t)rad__dispatch_pass(SYS_getpid, none);
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* Of the process that calls it: a fork begins without. */
void rad__dispatch_open(void)
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        void (*leave)(void);
        uint64_t mask;
    } action = {on_call, 0x04000000 | SA_SIGINFO | SA_NODEFER, rad__dispatch_leave, 0};
    enum { SET = 59, ON = 1 };
    is_there = false;
    selector = 0;
    rad__counter_open();
    if (!rad__os_calls_are_seen()) return;
    const long set[6] = {SIGSYS, (long)&action, 0, sizeof action.mask, 0, 0};
    const long on[6] = {SET, ON, (long)__ehdr_start, (long)(etext - __ehdr_start), (long)&selector, 0};
    is_there = rad__dispatch_pass(SYS_rt_sigaction, set) == 0 && rad__dispatch_pass(SYS_prctl, on) == 0;
}

#else

void rad__dispatch_open(void)
{
}

long rad__dispatch_pass(long number, const long *a)
{
    static long (*real)(long, ...); /* not that of refuse.c */
    if (real == NULL) rad__libc_find("syscall", &real);
    int error = errno;
    long answer = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (answer < 0) answer = -errno;
    errno = error;
    return answer;
}

pid_t rad__dispatch_pid(void)
{
    static pid_t (*real)(void);
    if (real == NULL) rad__libc_find("getpid", &real);
    return real();
}

#endif
