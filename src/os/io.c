#define _GNU_SOURCE
#include "os/io.h"

#include "os/context.h"
#include "os/fault.h"
#include "os/poll.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    BRIEFLY_US = 1000,
    WORDS = 64,
    TERMINAL_MOST = 64 /* a terminal that is ready has room for these, unless they are line ends */
};

/* What a call that went wrong answers. */
static int64_t failed(int number)
{
    if (number == EAGAIN || number == EWOULDBLOCK) return RAD_OS_AGAIN;
    return RAD_OS_ERROR - number;
}

#define UNINTERRUPTED(result, call)                                                                                    \
    do (result) = rad__os_fails(EIO) ? -1 : (call);                                                                    \
    while ((result) < 0 && errno == EINTR)

/* ---- Reading and writing --------------------------------------------------------------------------------------- */

/* What is to be read or written. */
typedef struct piece {
    void *bytes;
    size_t size;
    bool writes;
} piece;

/* Bit fd % 64 of word fd / 64 % WORDS: the descriptor was no socket, so the socket call can be left out. Only a hint,
 * for numbers are used again: the other calls work on sockets, or are refused. */
static _Atomic uint64_t no_sockets[WORDS];

static bool is_no_socket(int fd)
{
    uint32_t n = (uint32_t)fd;
    return atomic_load_explicit(&no_sockets[n / 64 % WORDS], memory_order_relaxed) >> n % 64 & 1;
}

static void set_no_socket(int fd, bool on)
{
#ifdef RAD_CONTEXT_TSAN
    on = false; /* tell_sanitizer is not for sockets: a read of no bytes takes a datagram */
#endif
    uint32_t n = (uint32_t)fd;
    _Atomic uint64_t *word = &no_sockets[n / 64 % WORDS];
    uint64_t bit = UINT64_C(1) << n % 64;
    if (is_no_socket(fd) == on) return;
    if (on)
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
}

static int64_t plain(int fd, piece p)
{
    ssize_t done;
    UNINTERRUPTED(done, p.writes ? write(fd, p.bytes, p.size) : read(fd, p.bytes, p.size));
    return done >= 0 ? done : failed(errno);
}

/* The kernel or the file does not know RWF_NOWAIT; EPERM: a filter that is older. */
static bool is_refused(int number)
{
    return number == EOPNOTSUPP || number == EINVAL || number == ENOSYS || number == EPERM;
}

/* The file of a descriptor opened once more, so that the flags are its own; -1: that cannot be done. The master of a
 * pseudo terminal would become another one, and what a device does is not known. */
static int open_again(int fd, const struct stat *about, bool writes)
{
    char path[32];
    unsigned number;
    bool terminal = S_ISCHR(about->st_mode) && isatty(fd) && ioctl(fd, TIOCGPTN, &number) != 0;
    if (!terminal && !S_ISFIFO(about->st_mode)) return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int flags = (writes ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    return rad__os_fails(EMFILE) ? -1 : open(path, flags);
}

static int64_t by_socket(int fd, piece p)
{
    ssize_t done;
    UNINTERRUPTED(done, p.writes ? send(fd, p.bytes, p.size, MSG_DONTWAIT) : recv(fd, p.bytes, p.size, MSG_DONTWAIT));
    return done >= 0 ? done : failed(errno);
}

/* RWF_NOWAIT was refused, or it `would_block`. */
static int64_t by_kind(int fd, piece p, bool would_block)
{
    struct stat about;
    if (fstat(fd, &about) != 0) return failed(errno);
    /* Here RWF_NOWAIT means that something is not in memory. */
    if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode)) return plain(fd, p);
    if (would_block) return RAD_OS_AGAIN;
    if (S_ISSOCK(about.st_mode)) {
        set_no_socket(fd, false);
        return by_socket(fd, p);
    }
    int again = open_again(fd, &about, p.writes);
    if (again < 0) return RAD_OS_BLOCKS;
    int64_t done = plain(again, p);
    close(again);
    return done;
}

/* The thread sanitizer takes write and read for a release and an acquire of the file, but does not know pwritev2 and
 * preadv2, nor that a file was opened again. Calls for no bytes say it: before a write, after a read. */
static void tell_sanitizer(int fd, bool writes)
{
#ifdef RAD_CONTEXT_TSAN
    int number = errno;
    ssize_t none = writes ? write(fd, "", 0) : read(fd, &number, 0);
    (void)none;
    errno = number;
#else
    (void)fd;
    (void)writes;
#endif
}

static int64_t without_waiting(int fd, piece p)
{
    struct iovec v = {p.bytes, p.size};
    ssize_t done;
    int64_t answer;
    if (!is_no_socket(fd)) {
        answer = by_socket(fd, p);
        if (answer != RAD_OS_ERROR - ENOTSOCK) return answer;
        set_no_socket(fd, true);
    }
    if (p.writes) tell_sanitizer(fd, true);
    UNINTERRUPTED(done, p.writes ? pwritev2(fd, &v, 1, -1, RWF_NOWAIT) : preadv2(fd, &v, 1, -1, RWF_NOWAIT));
    answer = done;
    if (done < 0) answer = errno == EAGAIN || is_refused(errno) ? by_kind(fd, p, errno == EAGAIN) : failed(errno);
    if (!p.writes && answer >= 0) tell_sanitizer(fd, false);
    return answer;
}

int64_t rad__os_io_read(int fd, void *to, size_t size)
{
    return without_waiting(fd, (piece){to, size, false});
}

int64_t rad__os_io_write(int fd, const void *from, size_t size)
{
    return without_waiting(fd, (piece){(void *)from, size, true});
}

int64_t rad__os_io_read_ready(int fd, void *to, size_t size)
{
    return plain(fd, (piece){to, size, false});
}

int64_t rad__os_io_write_ready(int fd, const void *from, size_t size)
{
    size_t most = isatty(fd) ? TERMINAL_MOST : PIPE_BUF;
    return plain(fd, (piece){(void *)from, size < most ? size : most, true});
}

int64_t rad__os_io_blocks(int fd)
{
    int flags = rad__os_fails(EIO) ? -1 : fcntl(fd, F_GETFL);
    return flags >= 0 ? !(flags & O_NONBLOCK) : RAD_OS_ERROR - errno;
}

/* ---- Connections ----------------------------------------------------------------------------------------------- */

int64_t rad__os_io_accept(int fd, struct sockaddr *address, uint32_t *length)
{
    int got;
    UNINTERRUPTED(got, accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    return got >= 0 ? got : failed(errno);
}

int64_t rad__os_io_connect(int fd, const struct sockaddr *address, uint32_t length)
{
    int result = rad__os_fails(ENETUNREACH) ? -1 : connect(fd, address, length);
    if (result == 0) return 0;
    /* Interrupted, it goes on by itself. EAGAIN is another thing here: no port, or a queue (of a local socket) that
     * is full. */
    bool local = address->sa_family == AF_UNIX; /* it waits for the queue, and ends when it is interrupted */
    if (errno == EINPROGRESS || (errno == EINTR && !local)) return RAD_OS_AGAIN;
    if ((errno == EAGAIN || errno == EINTR) && local) return RAD_OS_FULL;
    return RAD_OS_ERROR - errno;
}

int64_t rad__os_io_connect_briefly(int fd, const struct sockaddr *address, uint32_t length)
{
    struct timeval before, brief = {.tv_usec = BRIEFLY_US};
    socklen_t size = sizeof before;
    bool set = getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &before, &size) == 0 &&
               setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &brief, sizeof brief) == 0;
    int64_t code = rad__os_io_connect(fd, address, length);
    if (set) (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &before, sizeof before);
    return code;
}

int64_t rad__os_io_connected(int fd)
{
    int number = 0;
    socklen_t size = sizeof number;
    if (rad__os_fails(EIO) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0) number = errno;
    return number == 0 ? 0 : RAD_OS_ERROR - number;
}

/* ---- The rest -------------------------------------------------------------------------------------------------- */

int64_t rad__os_io_set_nonblocking(int fd)
{
    int flags = rad__os_fails(EIO) ? -1 : fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK)) return 0;
    if (flags >= 0) flags = rad__os_fails(EIO) ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return flags >= 0 ? 0 : RAD_OS_ERROR - errno;
}

int64_t rad__os_io_close(int fd)
{
    set_no_socket(fd, false);
    /* EINTR: closed all the same, and the number may be another's already. */
    return close(fd) == 0 || errno == EINTR ? 0 : RAD_OS_ERROR - errno;
}

int64_t rad__os_io_ready(int fd, uint32_t wanted)
{
    struct pollfd p = {.fd = fd};
    int count;
    if (wanted & RAD_OS_READABLE) p.events |= POLLIN | POLLRDHUP;
    if (wanted & RAD_OS_WRITABLE) p.events |= POLLOUT;
    UNINTERRUPTED(count, poll(&p, 1, 0));
    if (count < 0) return RAD_OS_ERROR - errno;
    if (p.revents & POLLNVAL) return RAD_OS_ERROR - EBADF;
    uint32_t ready = 0;
    if (p.revents & (POLLHUP | POLLERR)) return wanted | RAD_OS_HUNG_UP;
    if (p.revents & (POLLIN | POLLRDHUP)) ready |= RAD_OS_READABLE;
    if (p.revents & POLLRDHUP) ready |= RAD_OS_HUNG_UP;
    if (p.revents & POLLOUT) ready |= RAD_OS_WRITABLE;
    return ready;
}
