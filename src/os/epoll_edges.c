#define _GNU_SOURCE
#include "os/epoll_edges.h"

#include "os/fault.h"
#include "os/io.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS_MAX = 256 };

int64_t rad__os_edges_open(void)
{
    int list = rad__os_fails(EMFILE) ? -1 : epoll_create1(EPOLL_CLOEXEC);
    return list >= 0 ? list : RAD_OS_ERROR - errno;
}

int64_t rad__os_edges_add(int list, int fd, uint64_t token)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u64 = token};
    bool failed = rad__os_fails(ENOMEM) || epoll_ctl(list, EPOLL_CTL_ADD, fd, &event) != 0;
    return failed ? RAD_OS_ERROR - errno : 0;
}

static int wait_for(int list, struct epoll_event *events, int max, uint64_t timeout_ns)
{
    if (rad__os_fails(EIO)) return -1;
    if (timeout_ns == 0) return epoll_wait(list, events, max, 0);
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000)};
    return epoll_pwait2(list, events, max, &timeout, NULL);
}

int64_t rad__os_edges_wait(int list, rad_os_edge *edges, uint32_t max, uint64_t timeout_ns)
{
    struct epoll_event events[EVENTS_MAX];
    int count = wait_for(list, events, max < EVENTS_MAX ? (int)max : EVENTS_MAX, timeout_ns);
    if (count < 0) return errno == EINTR ? 0 : RAD_OS_ERROR - errno;
    for (int i = 0; i < count; i++) {
        uint32_t got = events[i].events, what = 0;
        if (got & EPOLLIN) what |= RAD_OS_EDGE_READ;
        if (got & EPOLLOUT) what |= RAD_OS_EDGE_WRITE;
        if (got & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) what |= RAD_OS_EDGE_END;
        edges[i] = (rad_os_edge){events[i].data.u64, what};
    }
    return count;
}
