#define _GNU_SOURCE
#include "os/net.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(struct sockaddr_in6) <= 32 && sizeof(struct sockaddr_in) <= 32, "an address has room");

static int64_t answer(int64_t result)
{
    if (result >= 0) return result;
    return errno == EAGAIN || errno == EWOULDBLOCK ? RAD_OS_AGAIN : RAD_OS_ERROR - errno;
}

int rad__os_net_resolve(const char *host, const char *port, rad_os_address *addresses, uint32_t max, rad_error *error)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *list = NULL;
    int failed = rad__os_fails(EIO) ? EAI_SYSTEM : getaddrinfo(host, port, &wanted, &list);
    if (failed == EAI_BADFLAGS || failed == EAI_NONAME) { /* no network but the loopback one */
        wanted.ai_flags = 0;
        failed = getaddrinfo(host, port, &wanted, &list);
    }
    if (failed != 0)
        return rad__error(error, RAD_EIO, "%s port %s: %s", host, port,
                          failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
    int count = 0;
    for (struct addrinfo *a = list; a != NULL && (uint32_t)count < max; a = a->ai_next) {
        if (a->ai_addrlen > sizeof addresses->bytes) continue;
        memcpy(addresses[count].bytes, a->ai_addr, a->ai_addrlen);
        addresses[count++].size = a->ai_addrlen;
    }
    freeaddrinfo(list);
    if (count == 0) return rad__error(error, RAD_EIO, "%s port %s: no address", host, port);
    return count;
}

static const struct sockaddr *address_of(const rad_os_address *a)
{
    return (const struct sockaddr *)(const void *)a->bytes;
}

int64_t rad__os_net_socket(const rad_os_address *address, bool blocks)
{
    int family = address_of(address)->sa_family, on = 1;
    int type = SOCK_STREAM | SOCK_CLOEXEC | (blocks ? 0 : SOCK_NONBLOCK);
    int fd = rad__os_fails(EMFILE) ? -1 : socket(family, type, IPPROTO_TCP);
    /* It may be a little slower without, and no more. */
    if (fd >= 0) (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return answer(fd);
}

int64_t rad__os_net_connect(int fd, const rad_os_address *address)
{
    return rad__os_io_connect(fd, address_of(address), address->size);
}

int64_t rad__os_net_receive(int fd, void *to, size_t size)
{
    ssize_t got;
    do got = rad__os_fails(EIO) ? -1 : recv(fd, to, size, 0);
    while (got < 0 && errno == EINTR);
    return answer(got);
}

int64_t rad__os_net_send(int fd, const void *from, size_t size)
{
    ssize_t put;
    do put = rad__os_fails(EIO) ? -1 : send(fd, from, size, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    return answer(put);
}

int64_t rad__os_net_listen(const rad_os_address *address)
{
    int on = 1;
    int64_t fd = rad__os_net_socket(address, false);
    if (fd < 0) return fd;
    (void)setsockopt((int)fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!rad__os_fails(EADDRINUSE) && bind((int)fd, address_of(address), address->size) == 0 &&
        listen((int)fd, SOMAXCONN) == 0)
        return fd;
    int64_t failed = answer(-1);
    close((int)fd);
    return failed;
}

int64_t rad__os_net_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } a = {0};
    socklen_t size = sizeof a;
    if (rad__os_fails(EIO) || getsockname(fd, &a.any, &size) != 0) return answer(-1);
    return ntohs(a.any.sa_family == AF_INET6 ? a.six.sin6_port : a.four.sin_port);
}

void rad__os_net_reset_later(int fd)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

void rad__os_net_reset(int fd)
{
    rad__os_net_reset_later(fd);
    close(fd);
}

void rad__os_net_allow(uint64_t descriptors)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= descriptors) return;
    limit.rlim_cur = limit.rlim_max < descriptors ? limit.rlim_max : descriptors;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* whoever opens one too many will be told */
}
