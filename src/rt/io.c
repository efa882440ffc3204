/* io.c — read, write, accept, connect: try, and wait when that would block. */
#include <raddle/io.h>

#include "os/io.h"

_Static_assert(RAD_OS_ERROR == -1000, "rad_errno knows it");

/* 0: try again. Otherwise why not. */
static int64_t wait_for(int fd, unsigned interest, rad_time until)
{
    int ready = rad_fd_wait(fd, interest, until);
    if (ready > 0) return 0;
    return ready == 0 ? RAD_ETIMEOUT : ready;
}

int64_t rad_read(int fd, void *to, size_t size, rad_time until)
{
    for (int64_t got, code;;) {
        if ((got = rad__os_io_read(fd, to, size)) != RAD_OS_AGAIN) return got;
        if ((code = wait_for(fd, RAD_READABLE, until)) != 0) return code;
    }
}

int64_t rad_write(int fd, const void *from, size_t size, rad_time until)
{
    size_t done = 0;
    int64_t code = 0;
    while (done < size && code == 0) {
        int64_t put = rad__os_io_write(fd, (const char *)from + done, size - done);
        if (put >= 0)
            done += (size_t)put;
        else if (put != RAD_OS_AGAIN)
            code = put;
        else
            code = wait_for(fd, RAD_WRITABLE, until);
    }
    return done > 0 || code == 0 ? (int64_t)done : code;
}

int64_t rad_accept(int fd, struct sockaddr *address, uint32_t *length, rad_time until)
{
    for (int64_t got, code;;) {
        if ((got = rad__os_io_accept(fd, address, length)) != RAD_OS_AGAIN) return got;
        if ((code = wait_for(fd, RAD_READABLE, until)) != 0) return code;
    }
}

int64_t rad_connect(int fd, const struct sockaddr *address, uint32_t length, rad_time until)
{
    int64_t code = rad__os_io_connect(fd, address, length);
    if (code != RAD_OS_AGAIN) return code;
    code = wait_for(fd, RAD_WRITABLE, until);
    return code == 0 ? rad__os_io_connected(fd) : code;
}

int rad_fd_prepare(int fd)
{
    return (int)rad__os_io_set_nonblocking(fd);
}
