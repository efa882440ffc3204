/* sockets.c — connections of a program under test. One to a socket on which the program itself listens stays inside;
 * one to anybody else is marked, and the summary names it. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/libc_memory.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { OWN_MAX = 64, NAME_SIZE = 90 };

/* Sockets on which the program listens: by family, and port or path. A fork copies them. */
static char own[OWN_MAX][NAME_SIZE];
static uint32_t own_count;

/* Without the address of the host: a server that listens on all of them is reached by each. false: not by name. */
static bool name_of(const struct sockaddr *a, char *name)
{
    switch (a->sa_family) {
    case AF_INET:
        snprintf(name, NAME_SIZE, "port %u", ntohs(((const struct sockaddr_in *)(const void *)a)->sin_port));
        return true;
    case AF_INET6:
        snprintf(name, NAME_SIZE, "port %u", ntohs(((const struct sockaddr_in6 *)(const void *)a)->sin6_port));
        return true;
    case AF_UNIX: {
        const char *path = ((const struct sockaddr_un *)(const void *)a)->sun_path;
        snprintf(name, NAME_SIZE, "%s%.80s", path[0] ? "" : "@", path[0] ? path : path + 1);
        return true;
    }
    default: return false;
    }
}

static bool is_own(const char *name)
{
    for (uint32_t i = 0; i < own_count; i++)
        if (strcmp(own[i], name) == 0) return true;
    return false;
}

RAD_ANSWER(int, listen, (int fd, int backlog))
{
    struct sockaddr_storage at = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof at;
    char name[NAME_SIZE];
    if (rad__program_calls() && rad__loopback_listen(fd, backlog)) return 0;
    int code = RAD_REAL(listen)(fd, backlog);
    if (code != 0 || !rad__program_calls()) return code;
    if (getsockname(fd, (struct sockaddr *)(void *)&at, &size) == 0 && name_of((struct sockaddr *)(void *)&at, name) &&
        !is_own(name) && own_count < OWN_MAX)
        snprintf(own[own_count++], NAME_SIZE, "%s", name);
    rad__stage.external |= at.ss_family != AF_UNIX;
    return code;
}

static void reaches(const char *call, const struct sockaddr *address)
{
    char name[NAME_SIZE];
    if (!rad__program_calls() || address == NULL || !name_of(address, name) || is_own(name)) return;
    rad__stage.external = true;
    rad__program_reaches(call, name);
}

RAD_ANSWER(int, connect, (int fd, const struct sockaddr *address, socklen_t length))
{
    int answer = -1;
    if (rad__thread_self() != NULL) rad__point(RAD_AT_connect, &rad__files);
    if (rad__program_calls() && address != NULL && rad__loopback_connect(fd, address, length, &answer)) return answer;
    reaches("connect", address);
    return RAD_REAL(connect)(fd, address, length);
}

RAD_ANSWER(ssize_t, sendto,
           (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *address, socklen_t length))
{
    const long words[] = {fd, (long)(uintptr_t)bytes, (long)size}; /* tidy: address ok: libc_memory.h */
    rad__libc_begins(RAD_LIBC_sendto, words, __builtin_return_address(0));
    reaches("sendto", address);
    if (!rad__descriptor_waits(__builtin_return_address(0), RAD_AT_write, fd, true)) return -1;
    return RAD_REAL(sendto)(fd, bytes, size, flags, address, length);
}
