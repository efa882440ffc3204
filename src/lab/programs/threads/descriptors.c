/* descriptors.c — calls that may wait for a descriptor: pipes, sockets, eventfds, and what asks about several.
 *
 * Each is a point. One that would block is chosen only when it would not: after each step the system is asked, without
 * waiting, about the descriptors that threads wait for. So a read from a pipe whose writers are threads of the program
 * is a wait like any other, and a deadlock if nobody writes. Of what may also come from outside (a terminal, a
 * connection to another program) nobody can know: then, when nothing else can run, it is waited for (time.c), and the
 * run is uncontrolled.
 *
 * A write may block in its middle. It is therefore made in parts, each without blocking; so is a read of all that was
 * asked for. Calls by the lab itself, and by the runtime of fibers, are the real ones. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/snapshot.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/libc_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SELECT_MAX = 64 };

#define SECOND UINT64_C(1000000000)

bool rad__descriptors_used;

/* ---- Whose call it is ------------------------------------------------------------------------------------- */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_of_program(const void *caller)
{
    const char *at = caller;
    bool own = at >= __ehdr_start && at < etext; /* tidy: address ok: bounds of this library */
    return rad__stage.running && !own;
}

/* The program's, by a thread of its own. */
static bool is_explored(const void *caller)
{
    return rad__thread_self() != NULL && is_of_program(caller);
}

#define EXPLORED() is_explored(__builtin_return_address(0))

/* Of watched code: what the call reads and writes. */
#define WORD(p)           ((long)(uintptr_t)(p)) /* tidy: address ok: as interposed.h has it */
#define BEGINS(name, ...) rad__libc_begins(RAD_LIBC_##name, (const long[]){__VA_ARGS__}, __builtin_return_address(0))
#define ENDS(name, result, ...)                                                                                        \
    rad__libc_ends(RAD_LIBC_##name, (const long[]){__VA_ARGS__}, result, __builtin_return_address(0))

/* ---- Waiting ---------------------------------------------------------------------------------------------- */

static int ask(struct pollfd *all, nfds_t count)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    int error = errno;
    if (real == NULL) rad__libc_find("poll", &real);
    int ready = real(all, count, 0);
    errno = error;
    return ready;
}

bool rad__descriptors_are_ready(const rad_thread *t)
{
    if (RAD_UNLIKELY(rad__signal_files_used)) rad__signal_files_show(t);
    return ask(t->polled, t->polled_count) != 0;
}

/* Nobody but the program can make it ready. */
static bool is_inside(int fd)
{
    static const char *const kinds[] = {"pipe:", "anon_inode:[eventfd]", "anon_inode:[eventpoll]"};
    char path[40], text[64] = "";
    int domain = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0) return domain == AF_UNIX;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, text, sizeof text - 1) < 0) return true;
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

static enum rad_waited wait_for(uint32_t site, struct pollfd *all, nfds_t count, uint64_t until)
{
    rad_thread *self = rad__thread_self();
    rad__descriptors_used = true;
    if (ask(all, count) == 0)
        for (nfds_t i = 0; i < count; i++) rad__stage.external |= all[i].fd >= 0 && !is_inside(all[i].fd);
    self->polled = all;
    self->polled_count = (uint32_t)count;
    void *files = (void *)(uintptr_t)&rad__files; /* tidy: address ok: only its identity counts */
    return rad__thread_waits_once(site, RAD_WAIT_FILE, files, until);
}

/* Until when a socket waits: SO_RCVTIMEO, SO_SNDTIMEO. */
static uint64_t limit_of(struct pollfd one)
{
    struct timeval most = {0, 0};
    socklen_t size = sizeof most;
    int name = one.events & POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO, error = errno;
    if (ask(&one, 1) != 0 || getsockopt(one.fd, SOL_SOCKET, name, &most, &size) != 0) most.tv_sec = most.tv_usec = 0;
    errno = error;
    uint64_t ns = (uint64_t)most.tv_sec * SECOND + (uint64_t)most.tv_usec * 1000;
    return ns > 0 && (uint64_t)most.tv_sec < UINT64_MAX / SECOND - 1 ? rad__stage_after(ns) : UINT64_MAX;
}

/* A point of the thread; then the call would not block. False: a handler has broken it, or the socket's time is up. */
static bool may_go(uint32_t site, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    enum rad_waited how;
    rad__cancel_point();
    rad__point(site, &rad__files);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK)) return true;
    uint64_t until = limit_of(one);
    while ((how = wait_for(site, &one, 1, until)) == RAD_WAITED_BROKEN) {
        bool again = rad__signals_handle();
        rad__cancel_point();
        if (again && until == UINT64_MAX) continue; /* SA_RESTART is not for calls with a timeout: signal(7) */
        rad__thread_goes_on(rad__thread_self());
        errno = EINTR;
        return false;
    }
    if (how == RAD_WAITED_LATE) errno = EAGAIN;
    return how != RAD_WAITED_LATE;
}

bool rad__descriptor_waits(const void *caller, uint32_t site, int fd, bool writes)
{
    return !is_explored(caller) || may_go(site, fd, writes ? POLLOUT : POLLIN);
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* A descriptor of signals: *got is what it gives, and it need not be asked. */
static bool reads_signals(const void *caller, int fd, const struct iovec *to, int count, ssize_t *got)
{
    return RAD_UNLIKELY(rad__signal_files_used) && is_of_program(caller) && rad__signal_files_read(fd, to, count, got);
}

#define SIGNALS(to, count) reads_signals(__builtin_return_address(0), fd, to, count, &got)

#define READING(type, name, parameters, arguments, of_signals, ...)                                                    \
    RAD_ANSWER(type, name, parameters)                                                                                 \
    {                                                                                                                  \
        BEGINS(name, __VA_ARGS__);                                                                                     \
        if (EXPLORED() && !may_go(RAD_AT_read, fd, POLLIN)) return -1;                                                 \
        type got;                                                                                                      \
        if (!(of_signals)) got = RAD_REAL(name) arguments;                                                             \
        ENDS(name, got, __VA_ARGS__);                                                                                  \
        return got;                                                                                                    \
    }

READING(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), SIGNALS((&(struct iovec){to, size}), 1), fd,
        WORD(to), (long)size)
READING(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room),
        size <= room && SIGNALS((&(struct iovec){to, size}), 1), fd, WORD(to), (long)size)
READING(ssize_t, readv, (int fd, const struct iovec *to, int count), (fd, to, count), SIGNALS(to, count), fd, WORD(to),
        count)
READING(ssize_t, recvmsg, (int fd, struct msghdr *to, int flags), (fd, to, flags), false, fd, WORD(to))
READING(int, eventfd_read, (int fd, eventfd_t *to), (fd, to), false, fd, WORD(to))

/* Without blocking, if so much was asked for. */
static bool waits(int flags)
{
    return !(flags & (MSG_DONTWAIT | MSG_ERRQUEUE));
}

static ssize_t receive(int fd, char *to, size_t size, int flags, struct sockaddr *from, socklen_t *room)
{
    static ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    if (real == NULL) rad__libc_find("recvfrom", &real);
    if (!waits(flags)) rad__point(RAD_AT_read, &rad__files);
    size_t done = 0;
    do {
        if (waits(flags) && !may_go(RAD_AT_read, fd, POLLIN)) return done > 0 ? (ssize_t)done : -1;
        ssize_t got = real(fd, to + done, size - done, flags & ~MSG_WAITALL, from, room);
        if (got <= 0) return done > 0 ? (ssize_t)done : got;
        done += (size_t)got;
    } while (done < size && (flags & MSG_WAITALL) && waits(flags) && !(flags & MSG_PEEK));
    return (ssize_t)done;
}

RAD_ANSWER(ssize_t, recv, (int fd, void *to, size_t size, int flags))
{
    BEGINS(recv, fd, WORD(to), (long)size);
    ssize_t got = EXPLORED() ? receive(fd, to, size, flags, NULL, NULL) : RAD_REAL(recv)(fd, to, size, flags);
    ENDS(recv, got, fd, WORD(to), (long)size);
    return got;
}

RAD_ANSWER(ssize_t, recvfrom, (int fd, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *room))
{
    BEGINS(recvfrom, fd, WORD(to), (long)size);
    ssize_t got =
        EXPLORED() ? receive(fd, to, size, flags, from, room) : RAD_REAL(recvfrom)(fd, to, size, flags, from, room);
    ENDS(recvfrom, got, fd, WORD(to), (long)size);
    return got;
}

RAD_ANSWER(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags))
{
    BEGINS(__recv_chk, fd, WORD(to), (long)size);
    ssize_t got = EXPLORED() && size <= room ? receive(fd, to, size, flags, NULL, NULL)
                                             : RAD_REAL(__recv_chk)(fd, to, size, room, flags);
    ENDS(__recv_chk, got, fd, WORD(to), (long)size);
    return got;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* The system's own signal is ignored: it would come to the process, and not to the thread. */
static ssize_t broken_pipe(bool signals)
{
    int error = errno;
    if (signals) raise(SIGPIPE);
    errno = error;
    return -1;
}

static bool is_stream(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode) && !S_ISBLK(about.st_mode) &&
           !S_ISCHR(about.st_mode);
}

static ssize_t write_part(int fd, const void *from, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (real == NULL) rad__libc_find("write", &real);
    if (rad__timers_have(fd) || rad__signal_files_have(fd)) { /* which is another kind of descriptor here */
        errno = EINVAL;
        return -1;
    }
    int flags = is_stream(fd) ? fcntl(fd, F_GETFL) : O_NONBLOCK;
    if (flags < 0 || (flags & O_NONBLOCK)) return real(fd, from, size);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK); /* of this descriptor others have none but for us */
    ssize_t done = real(fd, from, size);
    int error = errno;
    fcntl(fd, F_SETFL, flags);
    errno = error;
    return done;
}

static ssize_t send_part(int fd, const void *from, size_t size, int flags)
{
    static ssize_t (*real)(int, const void *, size_t, int);
    if (real == NULL) rad__libc_find("send", &real);
    return real(fd, from, size, flags | MSG_DONTWAIT);
}

/* flags < 0: by write. */
static ssize_t write_all(int fd, const char *from, size_t size, int flags)
{
    size_t done = 0;
    int status = fcntl(fd, F_GETFL);
    bool blocks = status >= 0 && !(status & O_NONBLOCK) && (flags < 0 || waits(flags));
    do {
        if (!may_go(RAD_AT_write, fd, POLLOUT)) return done > 0 ? (ssize_t)done : -1;
        ssize_t put =
            flags < 0 ? write_part(fd, from + done, size - done) : send_part(fd, from + done, size - done, flags);
        if (put < 0 && errno == EPIPE) return broken_pipe(flags < 0 || !(flags & MSG_NOSIGNAL));
        if (put < 0 && !(blocks && errno == EAGAIN)) return done > 0 ? (ssize_t)done : -1;
        done += put > 0 ? (size_t)put : 0;
    } while (done < size && blocks);
    return (ssize_t)done;
}

/* By a fiber: only its signal is ours. */
static ssize_t of_fiber(ssize_t done, const void *caller, bool signals)
{
    bool own = (const char *)caller >= __ehdr_start && (const char *)caller < etext; /* tidy: address ok */
    return done < 0 && errno == EPIPE && rad__stage.running && !own ? broken_pipe(signals) : done;
}

RAD_ANSWER(ssize_t, write, (int fd, const void *from, size_t size))
{
    BEGINS(write, fd, WORD(from), (long)size);
    if (EXPLORED()) return write_all(fd, from, size, -1);
    return of_fiber(RAD_REAL(write)(fd, from, size), __builtin_return_address(0), true);
}

RAD_ANSWER(ssize_t, writev, (int fd, const struct iovec *from, int count))
{
    BEGINS(writev, fd, WORD(from), count);
    if (!EXPLORED() || !is_stream(fd)) return RAD_REAL(writev)(fd, from, count);
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        ssize_t done = write_all(fd, from[i].iov_base, from[i].iov_len, -1);
        if (done < 0) return all > 0 ? all : -1;
        all += done;
        if ((size_t)done < from[i].iov_len) break;
    }
    return all;
}

RAD_ANSWER(ssize_t, send, (int fd, const void *from, size_t size, int flags))
{
    BEGINS(send, fd, WORD(from), (long)size);
    if (EXPLORED()) return write_all(fd, from, size, flags);
    return of_fiber(RAD_REAL(send)(fd, from, size, flags), __builtin_return_address(0), !(flags & MSG_NOSIGNAL));
}

RAD_ANSWER(ssize_t, sendmsg, (int fd, const struct msghdr *from, int flags))
{
    BEGINS(sendmsg, fd, WORD(from));
    if (!EXPLORED()) return RAD_REAL(sendmsg)(fd, from, flags);
    if (!may_go(RAD_AT_write, fd, POLLOUT)) return -1;
    ssize_t done = RAD_REAL(sendmsg)(fd, from, flags);
    return done < 0 && errno == EPIPE ? broken_pipe(!(flags & MSG_NOSIGNAL)) : done;
}

RAD_ANSWER(int, eventfd_write, (int fd, eventfd_t value))
{
    if (EXPLORED() && !may_go(RAD_AT_write, fd, POLLOUT)) return -1;
    return RAD_REAL(eventfd_write)(fd, value);
}

/* ---- Asking about several ---------------------------------------------------------------------------------- */

/* 1: something is ready; 0: not in time; -1: a handler has broken it. */
static int wait_for_any(struct pollfd *all, nfds_t count, uint64_t ns)
{
    uint64_t until = rad__stage_after(ns);
    rad__cancel_point();
    rad__point(RAD_AT_fd_wait, &rad__files);
    if (ns == 0) {
        if (ask(all, count) != 0) return 1;
        rad__thread_tried();
        return 0;
    }
    switch (wait_for(RAD_AT_fd_wait, all, count, until)) {
    case RAD_WAITED_DONE: return 1;
    case RAD_WAITED_LATE: return 0;
    default:
        rad__signals_handle();
        rad__cancel_point();
        rad__thread_goes_on(rad__thread_self());
        errno = EINTR;
        return -1;
    }
}

static uint64_t ns_of_ms(int ms)
{
    return ms < 0 ? UINT64_MAX : (uint64_t)ms * 1000000;
}

/* False: that is no time. NULL: for ever. */
static bool time_of(const struct timespec *most, uint64_t *ns)
{
    *ns = UINT64_MAX;
    if (most == NULL || rad__ns_of(most, ns)) return true;
    errno = EINVAL;
    return false;
}

/* Microseconds may be more than a second. */
static bool short_time_of(const struct timeval *most, uint64_t *ns)
{
    struct timespec seconds = {0, 0};
    uint64_t more = most && most->tv_usec > 0 ? (uint64_t)most->tv_usec * 1000 : 0;
    if (most) seconds = (struct timespec){most->tv_sec, most->tv_usec < 0 ? -1 : 0};
    if (!time_of(most ? &seconds : NULL, ns)) return false;
    *ns = *ns < UINT64_MAX - more ? *ns + more : UINT64_MAX;
    return true;
}

static int poll_for(struct pollfd *all, nfds_t count, uint64_t ns)
{
    int how = wait_for_any(all, count, ns);
    return how < 0 ? -1 : ask(all, count);
}

/* A program that asks about no descriptor sleeps. */
static int rest_for(uint64_t ns)
{
    if (rad__time_sleep(ns) == 0) return 0;
    errno = EINTR;
    return -1;
}

RAD_ANSWER(int, poll, (struct pollfd * all, nfds_t count, int ms))
{
    if (rad__stage.running && count == 0) return rest_for(ns_of_ms(ms));
    if (!EXPLORED()) return RAD_REAL(poll)(all, count, ms);
    return poll_for(all, count, ns_of_ms(ms));
}

RAD_ANSWER(int, __poll_chk, (struct pollfd * all, nfds_t count, int ms, size_t room))
{
    if (!EXPLORED() || count == 0) return RAD_REAL(__poll_chk)(all, count, ms, room);
    return poll_for(all, count, ns_of_ms(ms));
}

RAD_ANSWER(int, ppoll, (struct pollfd * all, nfds_t count, const struct timespec *most, const sigset_t *mask))
{
    sigset_t before;
    uint64_t ns;
    if (!EXPLORED()) return RAD_REAL(ppoll)(all, count, most, mask);
    if (!time_of(most, &ns)) return -1;
    if (mask) pthread_sigmask(SIG_SETMASK, mask, &before);
    int code = count > 0 ? poll_for(all, count, ns) : rest_for(ns);
    if (mask) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static nfds_t polled_of(int count, const fd_set *in, const fd_set *out, const fd_set *other, struct pollfd *all)
{
    nfds_t used = 0;
    for (int fd = 0; fd < count; fd++) {
        int events = (in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0) |
                     (other && FD_ISSET(fd, other) ? POLLPRI : 0);
        if (events == 0) continue;
        if (used == SELECT_MAX) rad__program_refused("select", "with more than 64 descriptors; poll has no limit");
        all[used++] = (struct pollfd){.fd = fd, .events = (short)events};
    }
    return used;
}

static int select_for(int count, fd_set *in, fd_set *out, fd_set *other, uint64_t ns)
{
    static int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    struct pollfd all[SELECT_MAX];
    struct timeval now = {0, 0};
    if (real == NULL) rad__libc_find("select", &real);
    if (count < 0) {
        errno = EINVAL;
        return -1;
    }
    nfds_t used = polled_of(count, in, out, other, all);
    if (used > 0 ? wait_for_any(all, used, ns) < 0 : rest_for(ns) < 0) return -1;
    return real(count, in, out, other, &now);
}

RAD_ANSWER(int, select, (int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *most))
{
    uint64_t ns;
    bool none = in == NULL && out == NULL && other == NULL && most != NULL && count >= 0;
    if (rad__stage.running && none) return short_time_of(most, &ns) ? rest_for(ns) : -1;
    if (!EXPLORED()) return RAD_REAL(select)(count, in, out, other, most);
    return short_time_of(most, &ns) ? select_for(count, in, out, other, ns) : -1;
}

RAD_ANSWER(int, pselect,
           (int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *most, const sigset_t *mask))
{
    sigset_t before;
    uint64_t ns;
    if (!EXPLORED()) return RAD_REAL(pselect)(count, in, out, other, most, mask);
    if (!time_of(most, &ns)) return -1;
    if (mask) pthread_sigmask(SIG_SETMASK, mask, &before);
    int code = select_for(count, in, out, other, ns);
    if (mask) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static int epoll_for(int fd, struct epoll_event *events, int most, uint64_t ns)
{
    static int (*real)(int, struct epoll_event *, int, int);
    struct pollfd one = {.fd = fd, .events = POLLIN};
    if (real == NULL) rad__libc_find("epoll_wait", &real);
    int how = wait_for_any(&one, 1, ns);
    return how < 0 ? -1 : real(fd, events, most, 0);
}

RAD_ANSWER(int, epoll_wait, (int fd, struct epoll_event *events, int most, int ms))
{
    if (!EXPLORED()) return RAD_REAL(epoll_wait)(fd, events, most, ms);
    return epoll_for(fd, events, most, ns_of_ms(ms));
}

RAD_ANSWER(int, epoll_pwait, (int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask))
{
    sigset_t before;
    if (!EXPLORED()) return RAD_REAL(epoll_pwait)(fd, events, most, ms, mask);
    if (mask) pthread_sigmask(SIG_SETMASK, mask, &before);
    int code = epoll_for(fd, events, most, ns_of_ms(ms));
    if (mask) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* ---- Calls without a name (dispatch.c): no points, unless they would block ------------------------------ */

/* While it waits, its mask is this one: a word of the system, or none. */
static void mask_begin(const void *word, sigset_t *before)
{
    sigset_t mask;
    sigemptyset(&mask);
    if (word == NULL) return;
    memcpy(&mask, word, sizeof(uint64_t));
    pthread_sigmask(SIG_SETMASK, &mask, before);
}

static void mask_end(const void *word, const sigset_t *before)
{
    if (word != NULL) pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* What such a call waits with. Those that do not wait are made: the lab makes some, too. */
typedef struct unnamed {
    uint64_t ns;
    const void *mask;
} unnamed;

/* 0 if that is no time: the system says so. */
static uint64_t ns_of(const struct timespec *most)
{
    uint64_t ns;
    return time_of(most, &ns) ? ns : 0;
}

static uint64_t ns_of_timeval(const struct timeval *most)
{
    uint64_t ns;
    return short_time_of(most, &ns) ? ns : 0;
}

static bool is_unnamed(long number, const long *a, unnamed *u)
{
    *u = (unnamed){0, NULL};
    switch (number) {
#ifdef SYS_poll
    case SYS_poll: u->ns = ns_of_ms((int)a[2]); return true;
    case SYS_select: u->ns = ns_of_timeval(rad__argument_pointer(a[4])); return true;
    case SYS_epoll_wait: u->ns = ns_of_ms((int)a[3]); return true;
#endif
    case SYS_ppoll: *u = (unnamed){ns_of(rad__argument_pointer(a[2])), rad__argument_pointer(a[3])}; return true;
    case SYS_pselect6: { /* its mask lies beside a size */
        void *const *mask = rad__argument_pointer(a[5]);
        *u = (unnamed){ns_of(rad__argument_pointer(a[4])), mask ? *mask : NULL};
        return true;
    }
    case SYS_epoll_pwait: *u = (unnamed){ns_of_ms((int)a[3]), rad__argument_pointer(a[4])}; return true;
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2: *u = (unnamed){ns_of(rad__argument_pointer(a[3])), rad__argument_pointer(a[4])}; return true;
#endif
    default: return false;
    }
}

static long unnamed_waits(long number, const long *a, uint64_t ns)
{
    switch (number) {
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll: return a[1] > 0 ? poll_for(rad__argument_pointer(a[0]), (nfds_t)a[1], ns) : rest_for(ns);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        return select_for((int)a[0], rad__argument_pointer(a[1]), rad__argument_pointer(a[2]),
                          rad__argument_pointer(a[3]), ns);
    default: return epoll_for((int)a[0], rad__argument_pointer(a[1]), (int)a[2], ns);
    }
}

bool rad__descriptors_by_number(long number, const long *a, long *answer)
{
    unnamed u;
    sigset_t before;
    if (rad__thread_self() == NULL || !is_unnamed(number, a, &u) || u.ns == 0) return false;
    mask_begin(u.mask, &before);
    *answer = unnamed_waits(number, a, u.ns);
    mask_end(u.mask, &before);
    return true;
}

bool rad__descriptor_unnamed(int fd, bool writes)
{
    struct pollfd one = {.fd = fd, .events = writes ? POLLOUT : POLLIN};
    int flags = fd < RAD_LAB_FDS && is_stream(fd) ? fcntl(fd, F_GETFL) : -1;
    if (flags < 0 || (flags & O_NONBLOCK) || ask(&one, 1) != 0) return true;
    return may_go(writes ? RAD_AT_write : RAD_AT_read, fd, one.events);
}

/* It may find too little room. */
bool rad__write_may_wait(int fd)
{
    return fd < RAD_LAB_FDS && is_stream(fd) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

ssize_t rad__write_unnamed(int fd, const void *from, size_t size)
{
    return write_all(fd, from, size, -1);
}

/* ---- After each step ----------------------------------------------------------------------------------------- */

/* Real time for others, when nothing of the program can run; less when its clock could move instead. */
enum { PATIENCE_MS = 2000, PATIENCE_TIMED_MS = 10, AWAITED_MAX = 256 };

static uint32_t awaited(struct pollfd *all)
{
    const rad_thread *t;
    uint32_t count = 0;
    for (uint32_t i = 0; (t = rad__thread_at(i)) != NULL; i++)
        for (uint32_t j = 0; t->wait == RAD_WAIT_FILE && j < t->polled_count; j++)
            if (count < AWAITED_MAX) all[count++] = t->polled[j];
    return count;
}

static void wait_outside(void)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    struct pollfd all[AWAITED_MAX];
    uint32_t count = awaited(all);
    if (count == 0) return;
    if (real == NULL) rad__libc_find("poll", &real);
    rad__stage_is_uncontrolled();
    real(all, count, rad__time_next() != UINT64_MAX ? PATIENCE_TIMED_MS : PATIENCE_MS);
    rad_runner *current = rad__stage.current; /* it waits, too */
    rad__stage.current = NULL;
    rad__threads_review(&rad__files);
    rad__stage.current = current;
}

void rad__descriptors_settle(bool others_run)
{
    rad__threads_review(&rad__files);
    if (!others_run && rad__stage.external) wait_outside();
}

/* ---- FILE ------------------------------------------------------------------------------------------------------ */

/* glibc's lock of a FILE: the word, how often, and by which thread (its thread pointer). */
typedef struct file_lock {
    int word, count;
    void *owner;
} file_lock;

bool rad__file_is_free(const void *lock, const rad_thread *t)
{
    const file_lock *l = lock;
    return l->word == 0 || l->owner == (const void *)t->handle;
}

RAD_ANSWER(void, flockfile, (FILE * file))
{
    if (EXPLORED()) rad__thread_waits(RAD_AT_flockfile, RAD_WAIT_STREAM, file->_lock, UINT64_MAX);
    RAD_REAL(flockfile)(file);
}

RAD_ANSWER(int, ftrylockfile, (FILE * file))
{
    if (EXPLORED()) rad__point(RAD_AT_flockfile, file->_lock);
    int code = RAD_REAL(ftrylockfile)(file);
    if (code != 0) rad__thread_tried();
    return code;
}

RAD_ANSWER(void, funlockfile, (FILE * file))
{
    bool explored = EXPLORED();
    if (explored) rad__point(RAD_AT_funlockfile, file->_lock);
    RAD_REAL(funlockfile)(file);
    if (!explored) return;
    rad__threads_review(file->_lock);
    rad__thread_released();
}
