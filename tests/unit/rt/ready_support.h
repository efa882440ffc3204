/* ready_support.h — for tests that wait for file descriptors: pairs of sockets, and who waits for one. Comes behind
 * cmocka.h. */
#ifndef READY_SUPPORT_H
#define READY_SUPPORT_H

#include <raddle.h>

#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "patience_support.h"

enum { MS = 1000000 };

#define SECOND UINT64_C(1000000000)

/* A fiber that waits longer has been forgotten. */
static inline rad_time soon(void)
{
    return rad_after(PATIENCE_NS);
}

static inline void block_ms(int ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * MS};
    nanosleep(&t, NULL);
}

typedef struct ends {
    int a, b;
} ends;

static inline ends pair(void)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(rad_fd_prepare(fds[0]), 0);
    assert_int_equal(rad_fd_prepare(fds[1]), 0);
    return (ends){fds[0], fds[1]};
}

static inline void close_both(ends e)
{
    assert_int_equal(rad_fd_close(e.a), 0);
    assert_int_equal(rad_fd_close(e.b), 0);
}

/* As many workers as `workers`, and one fiber that is waited for. */
static inline void run(uint32_t workers, rad_fn body, void *arg)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
    assert_int_equal(rad_main(&o, body, arg, NULL), 0);
}

typedef struct wait_job {
    int fd;
    unsigned interest;
    rad_time until;
    int answer;
    _Atomic int number; /* the system's, of who waits */
    _Atomic int done;
} wait_job;

static inline int waits(void *arg)
{
    wait_job *job = arg;
    atomic_store(&job->number, gettid());
    job->answer = rad_fd_wait(job->fd, job->interest, job->until);
    atomic_store(&job->done, 1);
    return 0;
}

static inline void *waits_as_thread(void *arg)
{
    waits(arg);
    return NULL;
}

#endif
