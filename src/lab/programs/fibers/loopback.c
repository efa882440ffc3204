/* loopback.c — TCP between fibers of a program under test. A packet arrives when the system gets round to it, so a run
 * with TCP would depend on how busy the computer is. A stream socket that listens at an address of this host alone
 * (127.0.0.1, ::1) is therefore replaced by a local socket, and so is one that connects to it: what is written there
 * can be read at once, in each run.
 *
 * The program does not notice: the descriptors keep their numbers, ports and addresses are translated, and options of
 * TCP and IP are accepted. The names of local sockets hold them: "\0raddle PID L4 PORT" listens, "C4 PORT" is a client.
 * The bound TCP socket is kept, so that the port is not another's; nobody from outside can connect to it. A server that
 * listens at all addresses is meant for others, and is left as it is. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTENERS_MAX = 64, CLIENT_PORTS = 40000, KEPT_FROM = 600, BACKLOG = 4096 };

typedef union any_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un local;
    struct sockaddr_storage room;
} any_address;

static struct {
    uint16_t port;
    bool six;
} listeners[LISTENERS_MAX];
static uint32_t listener_count, client_count;

RAD_API int rad__libc_getsockname(int fd, struct sockaddr *address, socklen_t *length) __asm__("getsockname");
RAD_API int rad__libc_getsockopt(int fd, int level, int name, void *value, socklen_t *size) __asm__("getsockopt");
RAD_API int rad__libc_listen(int fd, int backlog) __asm__("listen");
RAD_API int rad__libc_connect(int fd, const struct sockaddr *address, socklen_t length) __asm__("connect");

/* ---- Names ----------------------------------------------------------------------------------------------- */

static socklen_t make_name(any_address *a, char kind, bool six, uint16_t port)
{
    a->local = (struct sockaddr_un){.sun_family = AF_UNIX};
    int size = snprintf(a->local.sun_path + 1, sizeof a->local.sun_path - 1, "raddle %d %c%c %u",
                        (int)rad__dispatch_pid(), kind, six ? '6' : '4', port);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

/* The address of TCP that a name stands for; false: it is a local socket of the program's own. */
static bool read_name(any_address *a, socklen_t *length)
{
    char kind, six, text[sizeof a->local.sun_path + 1] = "";
    unsigned port;
    int pid;
    size_t start = offsetof(struct sockaddr_un, sun_path) + 1;
    if (a->any.sa_family != AF_UNIX || *length <= start || a->local.sun_path[0] != 0) return false;
    memcpy(text, a->local.sun_path + 1, *length - start);
    if (sscanf(text, "raddle %d %c%c %u", &pid, &kind, &six, &port) != 4) return false;
    *a = (any_address){.room = {.ss_family = AF_UNSPEC}};
    if (six == '6') {
        a->six = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        *length = sizeof a->six;
    } else {
        a->four = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        *length = sizeof a->four;
    }
    return true;
}

/* As the system does: what does not fit is left out, and the whole size is told. */
static void hand_over(const any_address *from, socklen_t size, struct sockaddr *to, socklen_t *room)
{
    if (to == NULL || room == NULL) return;
    memcpy(to, from, size < *room ? size : *room);
    *room = size;
}

static bool is_loopback(const any_address *a, uint16_t *port)
{
    if (a->any.sa_family == AF_INET) {
        *port = ntohs(a->four.sin_port);
        return ntohl(a->four.sin_addr.s_addr) >> 24 == 127;
    }
    *port = a->any.sa_family == AF_INET6 ? ntohs(a->six.sin6_port) : 0;
    return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->six.sin6_addr);
}

/* ---- Replacing ------------------------------------------------------------------------------------------- */

/* A local socket takes the number of this one, and its flags. */
static bool replace(int fd)
{
    int status = fcntl(fd, F_GETFL), flags = fcntl(fd, F_GETFD);
    int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool done = local >= 0 && fcntl(local, F_SETFL, status & O_NONBLOCK) == 0 &&
                dup3(local, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) == fd;
    if (local >= 0) close(local);
    return done;
}

bool rad__loopback_listen(int fd, int backlog)
{
    any_address at = {.room = {.ss_family = AF_UNSPEC}};
    socklen_t size = sizeof at;
    uint16_t port = 0;
    int type = 0;
    socklen_t type_size = sizeof type;
    (void)backlog; /* a full queue would be a choice of nobody's */
    if (RAD_REAL(getsockname)(fd, &at.any, &size) != 0 || !is_loopback(&at, &port) || port == 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0 || type != SOCK_STREAM ||
        listener_count == LISTENERS_MAX)
        return false;
    bool six = at.any.sa_family == AF_INET6;
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FROM);
    size = make_name(&at, 'L', six, port);
    if (kept < 0 || !replace(fd) || bind(fd, &at.any, size) != 0 || RAD_REAL(listen)(fd, BACKLOG) != 0) return false;
    listeners[listener_count].port = port;
    listeners[listener_count++].six = six;
    return true;
}

bool rad__loopback_connect(int fd, const struct sockaddr *address, socklen_t length, int *answer)
{
    any_address to = {.room = {.ss_family = AF_UNSPEC}};
    uint16_t port = 0;
    bool known = false;
    memcpy(&to, address, length < sizeof to ? length : sizeof to);
    if (!is_loopback(&to, &port)) return false;
    bool six = to.any.sa_family == AF_INET6;
    for (uint32_t i = 0; i < listener_count; i++) known |= listeners[i].port == port && listeners[i].six == six;
    if (!known || !replace(fd)) return false;
    socklen_t size = make_name(&to, 'C', six, (uint16_t)(CLIENT_PORTS + client_count++ % 20000));
    bind(fd, &to.any, size); /* without a name the other side is told of none */
    size = make_name(&to, 'L', six, port);
    *answer = RAD_REAL(connect)(fd, &to.any, size);
    return true;
}

/* ---- Asking ---------------------------------------------------------------------------------------------- */

typedef int asks(int fd, struct sockaddr *address, socklen_t *length);

static int ask(asks *real, int fd, struct sockaddr *address, socklen_t *length)
{
    any_address at = {.room = {.ss_family = AF_UNSPEC}};
    socklen_t size = sizeof at;
    if (!rad__program_calls() || address == NULL || length == NULL) return real(fd, address, length);
    int code = real(fd, &at.any, &size);
    if (code < 0) return code;
    read_name(&at, &size);
    hand_over(&at, size, address, length);
    return code;
}

int rad__libc_getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    return ask(RAD_REAL(getsockname), fd, address, length);
}

RAD_ANSWER(int, getpeername, (int fd, struct sockaddr *address, socklen_t *length))
{
    return ask(RAD_REAL(getpeername), fd, address, length);
}

RAD_ANSWER(int, accept, (int fd, struct sockaddr *address, socklen_t *length))
{
    if (!rad__descriptor_waits(__builtin_return_address(0), RAD_AT_accept, fd, false)) return -1;
    return ask(RAD_REAL(accept), fd, address, length);
}

RAD_ANSWER(int, accept4, (int fd, struct sockaddr *address, socklen_t *length, int flags))
{
    any_address at = {.room = {.ss_family = AF_UNSPEC}};
    socklen_t size = sizeof at;
    if (!rad__descriptor_waits(__builtin_return_address(0), RAD_AT_accept, fd, false)) return -1;
    if (!rad__program_calls() || address == NULL || length == NULL)
        return RAD_REAL(accept4)(fd, address, length, flags);
    int got = RAD_REAL(accept4)(fd, &at.any, &size, flags);
    if (got < 0) return got;
    read_name(&at, &size);
    hand_over(&at, size, address, length);
    return got;
}

/* Options that a local socket does not have are those of the TCP that was meant. */
static bool is_of_tcp(int fd, int level)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    return rad__program_calls() && (level == IPPROTO_TCP || level == IPPROTO_IP || level == IPPROTO_IPV6) &&
           listener_count > 0 && RAD_REAL(getsockopt)(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           domain == AF_UNIX;
}

RAD_ANSWER(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size))
{
    return is_of_tcp(fd, level) ? 0 : RAD_REAL(setsockopt)(fd, level, name, value, size);
}

int rad__libc_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    if (!is_of_tcp(fd, level)) return RAD_REAL(getsockopt)(fd, level, name, value, size);
    if (value && size) memset(value, 0, *size);
    return 0;
}
