/* io.c — read, write, accept, connect: try, and wait when that would block.
 *
 * Deadlines hold on descriptors that block, too: os/io.h does not let a call block, or says that it cannot know
 * (RAD_OS_BLOCKS). Then, and for accept on a socket that blocks, the call is made when the descriptor is ready, by one
 * at a time (turns.h): of several fibers that are told the same, the second would find nothing there, and block. What
 * other processes take away between the look and the call remains: then the thread waits for what comes next.
 *
 * Connect   on a socket that blocks, by a thread of rad_blocking, and briefly: then it goes on by itself, and is waited
 *           for as on any other. The full queue of a local socket cannot be waited for: the call is made again and
 *           again. */
#include <raddle/io.h>

#include "os/io.h"
#include "rt/turns.h"

_Static_assert(RAD_OS_ERROR == -1000, "rad_errno knows it");

enum { PATIENCE = 16 }; /* ready, and yet it would block: so many times in a row before a pause */

#define PAUSE_NS      UINT64_C(1000000)
#define PAUSE_MOST_NS UINT64_C(16000000)

/* ---- Calls -------------------------------------------------------------------------------------------- */

typedef struct call call;

struct call {
    int fd;
    unsigned interest;
    /* Does not block, unless it answers RAD_OS_BLOCKS … */
    int64_t (*now)(const call *c);
    /* … and then this one is made when the descriptor is ready. */
    int64_t (*ready)(const call *c);
    void *bytes;
    size_t size;
    struct sockaddr *address;
    uint32_t *length;
};

/* 0: try again. Otherwise why not. */
static int64_t wait_for(int fd, unsigned interest, rad_time until)
{
    int ready = rad_fd_wait(fd, interest, until);
    if (ready > 0) return 0;
    return ready == 0 ? RAD_ETIMEOUT : ready;
}

static int64_t pause_for(uint64_t ns, rad_time until)
{
    rad_time then = rad_after(ns);
    if (until == 0) return RAD_ETIMEOUT;
    int code = rad_sleep_until(then < until ? then : until);
    if (code != 0) return code;
    return then < until ? 0 : RAD_ETIMEOUT;
}

/* *answer is what the system says. 0, or why it was not asked. */
static int64_t call_in_turn(const call *c, int64_t *answer, rad_time until)
{
    rad_semaphore *turn = rad__turn_of(c->fd);
    if (turn == NULL) return RAD_ENOMEM;
    int code = rad_semaphore_acquire(turn, 1, until);
    if (code != 0) return code;
    int64_t ready = rad__os_io_ready(c->fd, c->interest);
    *answer = ready > 0 ? c->ready(c) : ready < 0 ? ready : RAD_OS_AGAIN;
    rad_semaphore_release(turn, 1);
    return 0;
}

static int64_t call_make(const call *c, rad_time until)
{
    for (uint32_t tries = 1;; tries++) {
        int64_t answer = c->now(c), code = 0;
        if (answer == RAD_OS_BLOCKS) code = call_in_turn(c, &answer, until);
        if (code != 0) return code;
        if (answer != RAD_OS_AGAIN) return answer;
        /* A terminal may be ready for one byte, and not for a line end. */
        if (tries > PATIENCE) code = pause_for(PAUSE_NS, until);
        if (code == 0) code = wait_for(c->fd, c->interest, until);
        if (code != 0) return code;
    }
}

/* ---- Reading and writing ------------------------------------------------------------------------------ */

static int64_t read_now(const call *c)
{
    return rad__os_io_read(c->fd, c->bytes, c->size);
}

static int64_t read_ready(const call *c)
{
    return rad__os_io_read_ready(c->fd, c->bytes, c->size);
}

int64_t rad_read(int fd, void *to, size_t size, rad_time until)
{
    call c = {.fd = fd, .interest = RAD_READABLE, .now = read_now, .ready = read_ready};
    c.bytes = to;
    c.size = size;
    return call_make(&c, until);
}

static int64_t write_now(const call *c)
{
    return rad__os_io_write(c->fd, c->bytes, c->size);
}

static int64_t write_ready(const call *c)
{
    return rad__os_io_write_ready(c->fd, c->bytes, c->size);
}

int64_t rad_write(int fd, const void *from, size_t size, rad_time until)
{
    call c = {.fd = fd, .interest = RAD_WRITABLE, .now = write_now, .ready = write_ready};
    size_t done = 0;
    int64_t code = 0;
    while (done < size && code >= 0) {
        c.bytes = (char *)(void *)from + done;
        c.size = size - done;
        code = call_make(&c, until);
        if (code > 0) done += (size_t)code;
    }
    return done > 0 || code >= 0 ? (int64_t)done : code;
}

/* ---- Connections -------------------------------------------------------------------------------------- */

static int64_t accept_ready(const call *c)
{
    return rad__os_io_accept(c->fd, c->address, c->length);
}

static int64_t accept_now(const call *c)
{
    int64_t blocks = rad__os_io_blocks(c->fd);
    if (blocks < 0) return blocks;
    return blocks ? RAD_OS_BLOCKS : accept_ready(c);
}

int64_t rad_accept(int fd, struct sockaddr *address, uint32_t *length, rad_time until)
{
    call c = {.fd = fd, .interest = RAD_READABLE, .now = accept_now, .ready = accept_ready};
    c.address = address;
    c.length = length;
    return call_make(&c, until);
}

typedef struct connecting {
    int fd;
    const struct sockaddr *address;
    uint32_t length;
    int64_t answer;
} connecting;

static int connect_briefly(void *arg)
{
    connecting *c = arg;
    c->answer = rad__os_io_connect_briefly(c->fd, c->address, c->length);
    return 0;
}

/* 0, or why it was not begun. */
static int64_t connect_once(connecting *c, rad_time until)
{
    int64_t blocks = rad__os_io_blocks(c->fd);
    if (blocks > 0) return rad_blocking(connect_briefly, c, NULL, until);
    c->answer = blocks < 0 ? blocks : rad__os_io_connect(c->fd, c->address, c->length);
    return 0;
}

int64_t rad_connect(int fd, const struct sockaddr *address, uint32_t length, rad_time until)
{
    connecting c = {.fd = fd, .address = address, .length = length};
    int64_t code = connect_once(&c, until);
    for (uint64_t ns = PAUSE_NS; code == 0 && c.answer == RAD_OS_FULL;) {
        code = pause_for(ns, until);
        if (code == 0) code = connect_once(&c, until);
        if (ns < PAUSE_MOST_NS) ns *= 2;
    }
    if (code != 0) return code;
    if (c.answer != RAD_OS_AGAIN) return c.answer;
    code = wait_for(fd, RAD_WRITABLE, until);
    return code == 0 ? rad__os_io_connected(fd) : code;
}

int rad_fd_prepare(int fd)
{
    return (int)rad__os_io_set_nonblocking(fd);
}
