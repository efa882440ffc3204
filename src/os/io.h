/* io.h — calls on file descriptors that would rather answer than block; what the system says, by value.
 *
 * Answers   0 or more as the system call does; RAD_OS_AGAIN: it would block; below RAD_OS_ERROR that - errno.
 *           Signals do not interrupt: a call that was is made again.
 * A fiber may go on on another thread after any call that parks, so nobody looks at errno later: it is read here.
 *
 * Blocking  A descriptor blocks unless O_NONBLOCK is set. That flag belongs to the open file, which other processes
 *           share (the shell, whose terminal it is), so nothing here sets it but rad__os_io_set_nonblocking. Reading
 *           and writing ask for one call that does not block, in this order:
 *             sockets           MSG_DONTWAIT
 *             pipes, eventfd …  RWF_NOWAIT
 *             FIFOs, terminals  which refuse RWF_NOWAIT: the file is opened once more by /proc/self/fd, with
 *                               O_NONBLOCK, and that second open file is used and closed
 *             files, disks      never would block: a plain call, which takes as long as the disk does
 *           What is left (the master of a pseudo terminal, some devices, FIFOs and terminals that cannot be opened) is
 *           RAD_OS_BLOCKS: the caller looks with rad__os_io_ready, and then makes the call that ends in _ready.
 *
 * Rejected: SO_RCVTIMEO (the socket is shared, too, and a read would block until then); a thread for each read (it
 * would still be there, with the caller's buffer, when the deadline has passed); looking first and then writing up to
 * PIPE_BUF bytes, for terminals (one that has room for a byte is ready, and a line end takes two: 5 of 441 writes of up
 * to 128 bytes to a pseudo terminal blocked). */
#ifndef RAD_OS_IO_H
#define RAD_OS_IO_H

#include "base/check.h"

struct sockaddr;

enum {
    RAD_OS_AGAIN = -1,
    RAD_OS_BLOCKS = -2, /* nothing was done: see above */
    RAD_OS_FULL = -3,   /* connect: the queue of a local socket is full */
    RAD_OS_ERROR = -1000
};

RAD_INTERNAL int64_t rad__os_io_read(int fd, void *to, size_t size);
RAD_INTERNAL int64_t rad__os_io_write(int fd, const void *from, size_t size);

/* After RAD_OS_BLOCKS, on one that is ready: the plain call, on so few bytes that it does not block unless another
 * process or thread was quicker. */
RAD_INTERNAL int64_t rad__os_io_read_ready(int fd, void *to, size_t size);
RAD_INTERNAL int64_t rad__os_io_write_ready(int fd, const void *from, size_t size);

/* Whether calls on it may block: 1 or 0. */
RAD_INTERNAL int64_t rad__os_io_blocks(int fd);

/* Blocks if `fd` does. The new descriptor neither blocks nor survives exec. `address` and `length` may be NULL. */
RAD_INTERNAL int64_t rad__os_io_accept(int fd, struct sockaddr *address, uint32_t *length);

/* RAD_OS_AGAIN: it is under way; when it can be written to, rad__os_io_connected says how it went. RAD_OS_FULL. Blocks
 * if `fd` does. */
RAD_INTERNAL int64_t rad__os_io_connect(int fd, const struct sockaddr *address, uint32_t length);
RAD_INTERNAL int64_t rad__os_io_connected(int fd);

/* The same on a socket that blocks: it blocks for some milliseconds at most. SO_SNDTIMEO is set for the call, and set
 * back. */
RAD_INTERNAL int64_t rad__os_io_connect_briefly(int fd, const struct sockaddr *address, uint32_t length);

RAD_INTERNAL int64_t rad__os_io_set_nonblocking(int fd);

/* The descriptor is gone afterwards, whatever the answer. */
RAD_INTERNAL int64_t rad__os_io_close(int fd);

/* What is ready right now: bits of poll.h; 0: nothing. */
RAD_INTERNAL int64_t rad__os_io_ready(int fd, uint32_t wanted);

#endif
