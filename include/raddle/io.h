/* raddle/io.h — files and sockets: waiting until they can be read or written, and calls that block.
 *
 *     static int answer(void *arg)                        // a fiber per connection
 *     {
 *         int fd = (int)(intptr_t)arg;
 *         char text[512];
 *         int64_t got;
 *         while ((got = rad_read(fd, text, sizeof text, rad_after(10000000000))) > 0)
 *             if (rad_write(fd, text, (size_t)got, RAD_FOREVER) != got) break;
 *         rad_fd_close(fd);
 *         return 0;
 *     }
 *
 *     while ((fd = (int)rad_accept(listening, NULL, NULL, RAD_FOREVER)) >= 0)
 *         if (rad_spawn(NULL, answer, (void *)(intptr_t)fd) != 0) rad_fd_close(fd);
 *
 * Descriptors are those of the system. rad_read and the others try the call first, and wait only when it would block.
 *
 * Blocking   Deadlines and cancellation hold on every descriptor, also on one that blocks (without O_NONBLOCK), and a
 *            worker runs other fibers meanwhile. Raddle never sets O_NONBLOCK by itself: the flag belongs to the open
 *            file, which other processes may share, as a shell shares its terminal. Prepare descriptors of your own
 *            (rad_fd_prepare). Without it:
 *              sockets, pipes    behave the same
 *              FIFOs, terminals  are opened once more for each call, by /proc/self/fd
 *              accept            waits until there is a connection, and then accepts. If another process (or accept(2)
 *                                on another thread) takes it in between, the thread waits for the next one. Fibers
 *                                and threads that call rad_accept do not disturb one another.
 *              connect           runs on a thread, as rad_blocking does; SO_SNDTIMEO is set for a moment, and set back
 *              other devices,    and what cannot be opened once more: wait until they are ready, and then call. There,
 *              masters of ptys   too, the thread waits if another process was quicker, and a write passes at most
 *                                PIPE_BUF bytes at a time (64 to a terminal).
 *            Regular files, directories and disks are always ready to the system, so deadlines have no effect: the
 *            thread waits as long as the disk takes. If that is long: rad_blocking.
 * Results    as in raddle/fiber.h: RAD_ETIMEOUT and RAD_ECANCELED mean that nothing was done. Errors of the system
 *            are results, too: rad_errno(answer) is the errno, and 0 for every other result. errno itself
 *            may be another thread's by then.
 * Close      by rad_fd_close: calls that wait for the descriptor return RAD_ECLOSED. close(2) is fine when none waits.
 * fork       threads of the child may make these calls. Runtimes stay with the parent.
 * Ready      means that it was ready a moment ago: if several fibers read from one descriptor, another may be quicker.
 *            rad_read then waits again. */
#ifndef RADDLE_IO_H
#define RADDLE_IO_H

#include <raddle/fiber.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sockaddr;

/* ---- Readiness ------------------------------------------------------------------------------------ */

enum {
    RAD_READABLE = 1, /* a read would not block: there are bytes, or it is the end, or an error */
    RAD_WRITABLE = 2, /* a write would not: there is room, or an error */
    RAD_HUNG_UP = 4   /* the other side is gone, or there is an error; returned with these, not part of `interest` */
};

/* Waits until the descriptor can be read or written, as `interest` says, and returns those that are true, at least one.
 * Any caller, any number at a time; each of them returns. With `until` 0 it does not wait. Regular files,
 * directories and devices that never block are ready at once. RAD_EINPUT: no descriptor. RAD_ECLOSED: it was closed by
 * rad_fd_close meanwhile. RAD_ENOMEM, RAD_ELIMIT, RAD_EIO. */
RAD_API RAD_MUST_USE int rad_fd_wait(int fd, unsigned interest, rad_time until);

/* Closes the descriptor: calls that wait for it return RAD_ECLOSED. 0, or what the system says; it is closed in any
 * case. Any caller. */
RAD_API int rad_fd_close(int fd);

/* Sets O_NONBLOCK, for all processes that share the open file. Descriptors from rad_accept have it. 0, or rad_errno. */
RAD_API RAD_MUST_USE int rad_fd_prepare(int fd);

/* ---- Reading and writing -------------------------------------------------------------------------- */

/* The errno of a result; 0: the result is no error of the system. */
static inline int rad_errno(int64_t answer)
{
    return answer < -1000 ? (int)(-1000 - answer) : 0;
}

/* At most `size` bytes, as soon as there are any: how many; 0 is the end. */
RAD_API RAD_MUST_USE int64_t rad_read(int fd, void *to, size_t size, rad_time until);

/* Writes all of them, in as many pieces as it takes, and returns `size`. After a deadline, a cancellation or an
 * error: how many were written, if any; calling again with the rest returns the reason. RAD_ETIMEOUT and RAD_ECANCELED
 * mean that nothing was written. If the reading end is closed, a fiber gets
 * EPIPE by rad_errno and no SIGPIPE, for workers block that signal; another thread gets both, as ever. */
RAD_API RAD_MUST_USE int64_t rad_write(int fd, const void *from, size_t size, rad_time until);

/* The next connection: its descriptor, which neither blocks nor survives exec. `address` and `length` (of type
 * socklen_t) as in accept(2), or NULL. */
RAD_API RAD_MUST_USE int64_t rad_accept(int fd, struct sockaddr *address, uint32_t *length, rad_time until);

/* Connects a socket: 0. After RAD_ETIMEOUT and RAD_ECANCELED the system may still be trying: close it. While the
 * queue of a local socket (AF_UNIX) is full it tries again every few milliseconds. */
RAD_API RAD_MUST_USE int64_t rad_connect(int fd, const struct sockaddr *address, uint32_t length, rad_time until);

/* ---- Calls that block ----------------------------------------------------------------------------- */

/* Runs fn(arg) on a thread of its own, so that it may block as long as it wants, and waits until it has returned: 0,
 * and *answer (which may be NULL) is what it returned. There are as many of these threads as are needed, up to an
 * option (rad_options.blocking_threads); when all are busy it waits for one. RAD_ETIMEOUT: no thread has begun fn by
 * `until` (0: at once), which can happen even if some are free. Once fn has begun, the call waits for it in any case.
 * RAD_ECANCELED: fn has not begun, and will not.
 * RAD_EIO, RAD_ENOMEM: no thread could be created. fn is not a fiber: it may make the calls that threads may. By
 * any caller; on a thread it is just a call. */
RAD_API RAD_MUST_USE int rad_blocking(rad_fn fn, void *arg, int *answer, rad_time until);

#ifdef __cplusplus
}
#endif

#endif
