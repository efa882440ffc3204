/* process.c — see process.h. */
#define _GNU_SOURCE
#include "os/process.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int process_error(rad_error *error, const char *what)
{
    return rad__error(error, RAD_EIO, "cannot %s: %s", what, strerror(errno));
}

_Noreturn static void process_child(pid_t parent, void *context, int (*run)(void *context))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0); /* the parent died before the line above */
    /* Dying is to be seen as what it is: no handler of a test framework or a sanitizer in between. */
    static const int signals[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (uint32_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    if (signal(SIGHUP, SIG_DFL) == SIG_IGN) signal(SIGHUP, SIG_IGN); /* nohup holds for children */
    _exit(run(context));
}

/* A shell or a daemon may have left SIGCHLD ignored, and the system then forgets dead children: how one
 * died is what we live on. */
static void process_keep_children(void)
{
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) != 0) return;
    if (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT)) signal(SIGCHLD, SIG_DFL);
}

int rad__os_fork(int *pid, void *context, int (*run)(void *context), rad_error *error)
{
    pid_t parent = getpid();
    process_keep_children();
    *pid = rad__os_fails(EAGAIN) ? -1 : fork();
    if (*pid == 0) process_child(parent, context, run);
    return *pid < 0 ? process_error(error, "start a process") : 0;
}

/* A handler of ours that ran in the child would run in our memory. */
static void handlers_reset(void)
{
    struct sigaction action;
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_IGN) signal(i, SIG_DFL);
}

int rad__os_fork_to_execute(int *pid, void *context, int (*run)(void *context), rad_error *error)
{
    sigset_t all, before;
    pid_t parent = getpid();
    process_keep_children();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = rad__os_fails(EAGAIN) ? -1 : vfork();
    if (child == 0) {
        handlers_reset();
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        process_child(parent, context, run);
    }
    int number = errno; /* the child may have changed ours */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    *pid = child;
    return child < 0 ? process_error(error, "start a process") : 0;
}

void rad__os_die_of(const rad_os_exit *how)
{
    sigset_t all;
    if (how->signal) {
        signal(how->signal, SIG_DFL);
        sigfillset(&all);
        sigdelset(&all, how->signal);
        sigprocmask(SIG_SETMASK, &all, NULL);
        kill(getpid(), how->signal);
    }
    _exit(how->status);
}

int rad__os_wait(int pid, bool block, rad_os_exit *out, rad_error *error)
{
    int status = 0;
    *out = (rad_os_exit){0, 0};
    for (;;) {
        pid_t got = rad__os_fails(ECHILD) ? -1 : waitpid(pid, &status, block ? 0 : WNOHANG);
        if (got == 0) return 0;
        if (got == pid) break;
        if (errno != EINTR) return process_error(error, "wait for a process");
    }
    if (WIFSIGNALED(status))
        out->signal = WTERMSIG(status);
    else
        out->status = WEXITSTATUS(status);
    return 1;
}

const char *rad__os_signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGABRT, "SIGABRT"}, {SIGALRM, "SIGALRM"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},
        {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"},
        {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGUSR1, "SIGUSR1"},
        {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) return names[i].name;
    return "unknown signal";
}

int rad__os_kill(int pid, rad_error *error)
{
    RAD_ASSERT(pid > 0); /* 0 and negative numbers mean whole groups */
    if (rad__os_fails(EPERM) || (kill(pid, SIGKILL) != 0 && errno != ESRCH))
        return process_error(error, "kill a process");
    return 0;
}

bool rad__os_is_runnable(int pid)
{
    char path[40], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[size > 0 ? size : 0] = 0;
    const char *name_end = strrchr(text, ')'); /* "PID (NAME) STATE …", and the name may hold anything */
    return name_end != NULL && strncmp(name_end, ") R", 3) == 0;
}

/* Calls that can take for ever. */
static const char *call_name(long number)
{
    static const struct {
        long number;
        const char *name;
    } rows[] = {
        {SYS_read, "read"},
        {SYS_readv, "readv"},
        {SYS_write, "write"},
        {SYS_openat, "open"},
        {SYS_futex, "futex: a lock, a semaphore or a condition of threads"},
        {SYS_flock, "flock"},
        {SYS_fcntl, "fcntl: the lock of a file"},
        {SYS_nanosleep, "nanosleep"},
        {SYS_clock_nanosleep, "clock_nanosleep"},
        {SYS_ppoll, "poll"},
        {SYS_pselect6, "select"},
        {SYS_epoll_pwait, "epoll_wait"},
        {SYS_accept, "accept"},
        {SYS_accept4, "accept"},
        {SYS_connect, "connect"},
        {SYS_recvfrom, "recv"},
        {SYS_recvmsg, "recvmsg"},
        {SYS_sendto, "send"},
        {SYS_wait4, "wait"},
        {SYS_waitid, "waitid"},
        {SYS_rt_sigtimedwait, "sigwait"},
        {SYS_rt_sigsuspend, "sigsuspend"},
        {SYS_semop, "semop"},
        {SYS_msgrcv, "msgrcv"},
#ifdef SYS_poll
        {SYS_poll, "poll"},
        {SYS_select, "select"},
        {SYS_epoll_wait, "epoll_wait"},
        {SYS_pause, "pause"},
        {SYS_open, "open"},
#endif
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number) return rows[i].name;
    return "";
}

/* "NUMBER ARGUMENT …", or "running", or "-1 …" outside of a call. */
void rad__os_sleeps_in(int pid, char *name, size_t size)
{
    char path[40], text[64], *end;
    snprintf(path, sizeof path, "/proc/%d/syscall", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = 0;
    long number = strtol(text, &end, 10);
    snprintf(name, size, "%s", end == text ? "" : call_name(number));
}

int rad__os_cpu_ns(int pid, uint64_t *ns, rad_error *error)
{
    clockid_t id;
    struct timespec t;
    *ns = 0;
    int number = rad__os_fails(ESRCH) ? errno : clock_getcpuclockid(pid, &id);
    if (number == 0 && clock_gettime(id, &t) != 0) number = errno;
    if (number != 0) {
        errno = number;
        return process_error(error, "read the CPU time of a process");
    }
    *ns = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
    return 0;
}

/* ---- Talking -------------------------------------------------------------------------------------- */

int rad__os_pipe(int fds[2], rad_error *error)
{
    fds[0] = fds[1] = -1;
    if (rad__os_fails(EMFILE) || pipe2(fds, O_CLOEXEC) != 0) {
        fds[0] = fds[1] = -1;
        return process_error(error, "open a pipe");
    }
    return 0;
}

void rad__os_close(int fd)
{
    if (fd >= 0) close(fd);
}

int64_t rad__os_read(int fd, void *to, size_t size, rad_error *error)
{
    for (;;) {
        ssize_t got = rad__os_fails(EIO) ? -1 : read(fd, to, size);
        if (got >= 0) return got;
        if (errno != EINTR) return process_error(error, "read from a pipe");
    }
}

/* A write to a pipe nobody reads raises SIGPIPE, which kills programs that did not ask for it. Holds it
 * back for one write, and takes it away when it came from there. */
static ssize_t process_write(int fd, const void *data, size_t size)
{
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t put = rad__os_fails(EIO) ? -1 : write(fd, data, size);
    int number = errno;
    if (put < 0 && number == EPIPE && !was_pending) sigtimedwait(&broken, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return put;
}

int rad__os_write_all(int fd, const void *data, size_t size, rad_error *error)
{
    const char *at = data;
    while (size > 0) {
        ssize_t put = process_write(fd, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return process_error(error, "write to a pipe");
        at += put;
        size -= (size_t)put;
    }
    return 0;
}

int rad__os_poll(const int *fds, uint32_t count, int timeout_ms, bool *ready, rad_error *error)
{
    struct pollfd items[RAD_OS_POLL_MAX];
    RAD_ASSERT(count <= RAD_OS_POLL_MAX);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        ready[i] = false;
    }
    int got = rad__os_fails(EIO) ? -1 : poll(items, count, timeout_ms);
    if (got < 0 && errno == EINTR) return 0;
    if (got < 0) return process_error(error, "wait for a pipe");
    for (uint32_t i = 0; i < count; i++) ready[i] = items[i].revents != 0;
    return got;
}

/* ---- System calls ---------------------------------------------------------------------------------------- */

bool rad__os_calls_are_seen(void)
{
#if defined(__x86_64__)
    enum { DISPATCH = 59, OFF = 0 };
    const char *gate = getenv("RADDLE_GATE");
    return (gate == NULL || strcmp(gate, "no") != 0) && prctl(DISPATCH, OFF, 0, 0, 0) == 0;
#else
    return false;
#endif
}
