#define _GNU_SOURCE
#include "os/io.h"

#include "os/fault.h"
#include "os/poll.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a call that went wrong answers. */
static int64_t failed(int number)
{
    if (number == EAGAIN || number == EWOULDBLOCK) return RAD_OS_AGAIN;
    return RAD_OS_ERROR - number;
}

#define UNINTERRUPTED(result, call)                                                                \
    do (result) = rad__os_fails(EIO) ? -1 : (call);                                                \
    while ((result) < 0 && errno == EINTR)

int64_t rad__os_io_read(int fd, void *to, size_t size)
{
    ssize_t got;
    UNINTERRUPTED(got, read(fd, to, size));
    return got >= 0 ? got : failed(errno);
}

int64_t rad__os_io_write(int fd, const void *from, size_t size)
{
    ssize_t put;
    UNINTERRUPTED(put, write(fd, from, size));
    return put >= 0 ? put : failed(errno);
}

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
    if (errno == EINPROGRESS || errno == EINTR) return RAD_OS_AGAIN;
    return RAD_OS_ERROR - errno;
}

int64_t rad__os_io_connected(int fd)
{
    int number = 0;
    socklen_t size = sizeof number;
    if (rad__os_fails(EIO) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
        number = errno;
    return number == 0 ? 0 : RAD_OS_ERROR - number;
}

int64_t rad__os_io_set_nonblocking(int fd)
{
    int flags = rad__os_fails(EIO) ? -1 : fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK)) return 0;
    if (flags >= 0) flags = rad__os_fails(EIO) ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return flags >= 0 ? 0 : RAD_OS_ERROR - errno;
}

int64_t rad__os_io_close(int fd)
{
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
