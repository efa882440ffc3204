#define _GNU_SOURCE
#include "os/poll.h"

#include "base/error.h"
#include "os/fault.h"
#include "os/lock.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 256 };

#define BELL UINT64_MAX

static int poll_error(rad_error *error, int code, const char *what)
{
    return rad__error(error, code, "cannot %s: %s", what, strerror(errno));
}

static int control(rad_os_poll *p, int operation, int fd, uint32_t events, uint64_t token)
{
    struct epoll_event e = {.events = events, .data.u64 = token};
    return epoll_ctl(p->epoll, operation, fd, &e);
}

int rad__os_poll_open(rad_os_poll *p, rad_error *error)
{
    p->bell = -1;
    p->epoll = rad__os_fails(EMFILE) ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (p->epoll >= 0) p->bell = rad__os_fails(EMFILE) ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->bell >= 0 && !rad__os_fails(ENOMEM) && control(p, EPOLL_CTL_ADD, p->bell, EPOLLIN, BELL) == 0) return 0;
    int code = poll_error(error, RAD_EIO, "watch file descriptors");
    rad__os_poll_close(p);
    return code;
}

void rad__os_poll_close(rad_os_poll *p)
{
    if (p->bell >= 0) close(p->bell);
    if (p->epoll >= 0) close(p->epoll);
    p->bell = p->epoll = -1;
}

/* ---- Questions ------------------------------------------------------------------------------------------------ */

int rad__os_poll_watch(rad_os_poll *p, int fd, uint32_t wanted, uint64_t token, rad_error *error)
{
    uint32_t events = EPOLLONESHOT;
    RAD_ASSERT(token <= RAD_OS_TOKEN_MAX);
    RAD_ASSERT(wanted != 0 && (wanted & ~(uint32_t)(RAD_OS_READABLE | RAD_OS_WRITABLE)) == 0);
    if (wanted & RAD_OS_READABLE) events |= EPOLLIN | EPOLLRDHUP;
    if (wanted & RAD_OS_WRITABLE) events |= EPOLLOUT;
    /* A descriptor that is waited for once is mostly waited for again: it is known then. Two who ask about the same
     * one at the same time may find it unknown, then known. */
    bool failing = rad__os_fails(ENOMEM);
    int number = errno;
    for (int tries = 0; !failing && tries < 3; tries++) {
        if (control(p, EPOLL_CTL_MOD, fd, events, token) == 0) return RAD_OS_WATCHED;
        if (errno == ENOENT && control(p, EPOLL_CTL_ADD, fd, events, token) == 0) return RAD_OS_WATCHED;
        number = errno;
        if (number != EEXIST && number != ENOENT) break;
    }
    errno = number;
    switch (number) {
    case EPERM: return RAD_OS_ALWAYS_READY;
    case EBADF:
    case EINVAL: /* the epoll descriptor itself */
    case ELOOP: return poll_error(error, RAD_EINPUT, "wait for a file descriptor");
    case ENOSPC: return poll_error(error, RAD_ELIMIT, "wait for a file descriptor");
    default: return poll_error(error, RAD_EIO, "wait for a file descriptor");
    }
}

void rad__os_poll_forget(rad_os_poll *p, int fd)
{
    /* Closed or unknown: there is nothing to forget. */
    (void)control(p, EPOLL_CTL_DEL, fd, 0, 0);
}

/* ---- Answers -------------------------------------------------------------------------------------------------- */

/* Linux before 5.11, and emulators, know milliseconds only: rounded up, so that nobody has to ask again and again
 * for the rest of one. */
static int wait_ms(int epoll, struct epoll_event *found, int max, uint64_t timeout_ns)
{
    uint64_t ms = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
    int limit = ms > 1000000000 ? 1000000000 : (int)ms; /* 11 days: early, which is allowed */
    return epoll_wait(epoll, found, max, timeout_ns == UINT64_MAX ? -1 : limit);
}

static int wait_ns(int epoll, struct epoll_event *found, int max, uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == UINT64_MAX) return wait_ms(epoll, found, max, timeout_ns);
#if defined(SYS_epoll_pwait2) && UINTPTR_MAX > UINT32_MAX
    struct timespec limit = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    long got = syscall(SYS_epoll_pwait2, epoll, found, max, &limit, NULL, 0);
    if (got >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)got; /* EPERM: a filter that is older */
#endif
    return wait_ms(epoll, found, max, timeout_ns);
}

static uint32_t readiness(uint32_t events)
{
    uint32_t ready = 0;
    if (events & (EPOLLHUP | EPOLLERR)) return RAD_OS_READABLE | RAD_OS_WRITABLE | RAD_OS_HUNG_UP;
    if (events & (EPOLLIN | EPOLLRDHUP)) ready |= RAD_OS_READABLE;
    if (events & EPOLLRDHUP) ready |= RAD_OS_HUNG_UP;
    if (events & EPOLLOUT) ready |= RAD_OS_WRITABLE;
    return ready;
}

/* Silences the bell. */
static void hear(rad_os_poll *p)
{
    uint64_t rings;
    ssize_t got = read(p->bell, &rings, sizeof rings);
    RAD_ASSERT(got == (ssize_t)sizeof rings || errno == EAGAIN || errno == EINTR);
}

int rad__os_poll_wait(rad_os_poll *p, rad_os_event *events, uint32_t max, uint64_t timeout_ns, rad_error *error)
{
    struct epoll_event found[BATCH];
    int count = 0;
    RAD_ASSERT(max > 0);
    int got = rad__os_fails(ENOMEM) ? -1 : wait_ns(p->epoll, found, max > BATCH ? BATCH : (int)max, timeout_ns);
    if (got < 0 && errno == EINTR) return 0;
    if (got < 0) return poll_error(error, RAD_EIO, "wait for file descriptors");
    for (int i = 0; i < got; i++)
        if (found[i].data.u64 != BELL)
            events[count++] = (rad_os_event){found[i].data.u64, readiness(found[i].events)};
        else if (timeout_ns != 0)
            hear(p);
    return count;
}

void rad__os_poll_ring(rad_os_poll *p)
{
    RAD_DCHECK(rad__locks_held() == 0); /* as lock.h wants it */
    const uint64_t one = 1;
    /* EAGAIN: it has been rung 2^64 times. */
    while (write(p->bell, &one, sizeof one) < 0 && errno != EAGAIN) RAD_ASSERT(errno == EINTR);
}
