/* io.h — calls on file descriptors that would rather answer than block; what the system says, by value.
 *
 * Answers   0 or more as the system call does; RAD_OS_AGAIN: it would block; below that RAD_OS_ERROR - errno.
 *           Signals do not interrupt: a call that was is made again.
 * A fiber may go on on another thread after any call that parks, so nobody looks at errno later: it is read here. */
#ifndef RAD_OS_IO_H
#define RAD_OS_IO_H

#include "base/check.h"

struct sockaddr;

enum { RAD_OS_AGAIN = -1, RAD_OS_ERROR = -1000 };

RAD_INTERNAL int64_t rad__os_io_read(int fd, void *to, size_t size);
RAD_INTERNAL int64_t rad__os_io_write(int fd, const void *from, size_t size);

/* The new descriptor neither blocks nor survives exec. `address` and `length` may be NULL. */
RAD_INTERNAL int64_t rad__os_io_accept(int fd, struct sockaddr *address, uint32_t *length);

/* RAD_OS_AGAIN: it is under way; when it can be written to, rad__os_io_connected says how it went. */
RAD_INTERNAL int64_t rad__os_io_connect(int fd, const struct sockaddr *address, uint32_t length);
RAD_INTERNAL int64_t rad__os_io_connected(int fd);

RAD_INTERNAL int64_t rad__os_io_set_nonblocking(int fd);

/* The descriptor is gone afterwards, whatever the answer. */
RAD_INTERNAL int64_t rad__os_io_close(int fd);

/* What is ready right now: bits of poll.h; 0: nothing. */
RAD_INTERNAL int64_t rad__os_io_ready(int fd, uint32_t wanted);

#endif
