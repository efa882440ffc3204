/* detach.c — see detach.h. */
#define _GNU_SOURCE
#include "os/detach.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int detach_error(rad_error *error, const char *what)
{
    return rad__error(error, RAD_EIO, "cannot %s: %s", what, strerror(errno));
}

/* Where close_range is not known, one by one. */
static void close_range_of(unsigned first, unsigned last)
{
    if (first > last) return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0u) == 0) return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    unsigned end = most > 0 && most < 65536 ? (unsigned)most : 65536;
    for (unsigned fd = first; fd < end && fd <= last; fd++) close((int)fd);
}

static void close_all_but(int keep)
{
    unsigned first = 3;
    if (keep >= 3) {
        close_range_of(first, (unsigned)keep - 1);
        first = (unsigned)keep + 1;
    }
    close_range_of(first, ~0u);
}

_Noreturn static void detach_child(int keep, void *context, int (*run)(void *context))
{
    close_all_but(keep); /* first: until then the parent's locks are this child's, too */
    setsid();
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP,  SIGPIPE, SIGCHLD, SIGSEGV, SIGBUS,
                                  SIGFPE, SIGILL,  SIGABRT, SIGTRAP, SIGSYS,  SIGQUIT};
    for (uint32_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
        if (nothing > 2) close(nothing);
    }
    _exit(run(context));
}

/* Until nobody has the other end open: the child closes it with everything else. */
static void wait_until_closed(int fd)
{
    char nothing;
    while (read(fd, &nothing, 1) < 0 && errno == EINTR) continue;
}

int rad__os_detach(int *pid, int keep, void *context, int (*run)(void *context), rad_error *error)
{
    /* SIGTERM is held back before there is a child, so that it cannot be killed before it looks. */
    sigset_t wanted, before;
    int ends[2];
    *pid = -1;
    if (rad__os_fails(EMFILE) || pipe2(ends, O_CLOEXEC) != 0) return detach_error(error, "open a pipe");
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &wanted, &before);
    *pid = rad__os_fails(EAGAIN) ? -1 : fork();
    if (*pid == 0) detach_child(keep, context, run);
    int number = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (*pid > 0) wait_until_closed(ends[0]);
    close(ends[0]);
    errno = number;
    return *pid < 0 ? detach_error(error, "start a process") : 0;
}

int rad__os_process_id(void)
{
    return (int)getpid();
}

bool rad__os_is_alive(int pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}
