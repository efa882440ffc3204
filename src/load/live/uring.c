/* uring.c — the transport over io_uring: everything asked for in a turn goes to the kernel in one call, and what
 * came in is fetched by the same.
 *
 * A connection has one receive for all of its life (multishot), whose bytes land in buffers that all share: the kernel
 * takes one when there is something to put into it, so silent connections hold none. When they run out, the receive
 * ends and is asked for again: first for those who got nothing, then for those who have emptied the buffers. So what
 * comes in between two calls is bounded by the buffers, and nobody can have all of them twice while others wait.
 *
 * Completions carry the generation of their connection: those of one that is gone are not for its successor. A buffer
 * that is being sent from when its connection is closed lives on in `limbo` until the kernel is done with it.
 *
 * Sockets block here: the kernel waits for them in its own way, and gives up at once on those that do not. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/error.h"
#include "load/live/parts.h"

#include <liburing.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ENTRIES = 512,
    COMPLETIONS = 8192,
    BUFFERS = 256, /* a power of two; the kernel fills some twenty connections' at a time */
    BUFFER_BYTES = LIVE_TURN_BYTES / BUFFERS,
    BUFFER_GROUP = 1,
    SUBMIT_AT = 32 /* sends are timed when they are asked for, and should not wait for long */
};

enum operation { OP_IGNORE, OP_CONNECT, OP_RECEIVE, OP_SEND };

/* What is being sent on a connection that is gone. */
struct limbo {
    uint64_t token;
    rad_bytes bytes;
};

struct live_uring {
    struct io_uring ring;
    struct io_uring_buf_ring *buffers;
    uint8_t *memory;
    uint32_t returned; /* buffers that are the kernel's again, once it is told */
    uint32_t waiting;  /* requests it has not seen yet */
    bool enabled;
    uint32_t wait;        /* number of this one */
    uint32_t first_again; /* connections that got something in it, and whose receive has ended */
    struct limbo *limbo;
    uint32_t limbo_count, limbo_capacity;
};

static uint64_t token_of(const live *l, uint32_t conn, enum operation op)
{
    return (uint64_t)op << 56 | (uint64_t)(l->conns[conn].generation & 0xffffff) << 32 | conn;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------- */

static void buffer_return(struct live_uring *u, uint32_t number)
{
    io_uring_buf_ring_add(u->buffers, u->memory + (size_t)number * BUFFER_BYTES, BUFFER_BYTES, (unsigned short)number,
                          io_uring_buf_ring_mask(BUFFERS), (int)u->returned++);
}

static void buffers_told(struct live_uring *u)
{
    io_uring_buf_ring_advance(u->buffers, (int)u->returned);
    u->returned = 0;
}

static int uring_buffers(struct live_uring *u)
{
    size_t size = BUFFERS * sizeof(struct io_uring_buf);
    void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    if (ring == MAP_FAILED) return -ENOMEM;
    u->buffers = ring;
    u->memory = rad__alloc_lines(BUFFERS, BUFFER_BYTES);
    if (u->memory == NULL) return -ENOMEM;
    struct io_uring_buf_reg told = {.ring_addr = (uint64_t)(uintptr_t)ring, /* tidy: address ok */
                                    .ring_entries = BUFFERS,
                                    .bgid = BUFFER_GROUP};
    int failed = io_uring_register_buf_ring(&u->ring, &told, 0);
    if (failed != 0) return failed;
    io_uring_buf_ring_init(u->buffers);
    for (uint32_t i = 0; i < BUFFERS; i++) buffer_return(u, i);
    buffers_told(u);
    return 0;
}

static void uring_stop(live *l)
{
    struct live_uring *u = l->uring;
    if (u == NULL) return;
    if (u->ring.ring_fd > 0) io_uring_queue_exit(&u->ring); /* waits for what is under way */
    if (u->buffers) munmap(u->buffers, BUFFERS * sizeof(struct io_uring_buf));
    rad__free(u->memory);
    for (uint32_t i = 0; i < u->limbo_count; i++) rad__bytes_free(&u->limbo[i].bytes);
    rad__free(u->limbo);
    rad__free(u);
    l->uring = NULL;
}

static int uring_start(live *l, rad_error *error)
{
    struct io_uring_params p = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                                         IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED,
                                .cq_entries = COMPLETIONS};
    l->uring = rad__alloc(1, sizeof *l->uring);
    if (l->uring == NULL) return rad__error_memory(error);
    l->uring->first_again = RAD_NONE;
    int failed = io_uring_queue_init_params(ENTRIES, &l->uring->ring, &p);
    if (failed == 0) failed = uring_buffers(l->uring);
    if (failed == 0) return 0;
    uring_stop(l);
    return rad__error(error, RAD_EIO, "io_uring: %s", strerror(-failed));
}

/* ---- Asking ------------------------------------------------------------------------------------------------ */

/* The ring belongs to the thread that enables it: the one that runs, not the one that has opened it (shards). By its
 * number: liburing 2.3 declares io_uring_enable_rings, and does not export it. */
static int uring_enable(struct live_uring *u)
{
    if (RAD_LIKELY(u->enabled)) return 0;
    long failed = syscall(__NR_io_uring_register, u->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    u->enabled = failed == 0;
    return u->enabled ? 0 : -errno;
}

/* A failure comes again with the next wait, which tells it. */
static void uring_submit(struct live_uring *u)
{
    if (uring_enable(u) == 0) io_uring_submit(&u->ring);
    u->waiting = 0;
}

static struct io_uring_sqe *uring_ask(live *l, uint64_t token)
{
    struct live_uring *u = l->uring;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    if (sqe == NULL) {
        uring_submit(u);
        sqe = io_uring_get_sqe(&u->ring);
        RAD_ASSERT(sqe != NULL); /* the kernel has just taken all there were */
    }
    io_uring_sqe_set_data64(sqe, token);
    u->waiting++;
    return sqe;
}

static int64_t uring_connect(live *l, uint32_t conn, const rad_os_address *address)
{
    int64_t fd = rad__os_net_socket(address, true);
    if (fd < 0) return fd;
    l->conns[conn].fd = (int)fd;
    struct io_uring_sqe *sqe = uring_ask(l, 0);
    io_uring_prep_connect(sqe, (int)fd, (const struct sockaddr *)(const void *)address->bytes, address->size);
    io_uring_sqe_set_data64(sqe, token_of(l, conn, OP_CONNECT));
    return 0;
}

static void uring_receive(live *l, uint32_t conn)
{
    struct io_uring_sqe *sqe = uring_ask(l, 0);
    io_uring_prep_recv_multishot(sqe, l->conns[conn].fd, NULL, 0, 0);
    sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = BUFFER_GROUP;
    io_uring_sqe_set_data64(sqe, token_of(l, conn, OP_RECEIVE));
}

static void uring_push(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    struct io_uring_sqe *sqe = uring_ask(l, 0);
    io_uring_prep_send(sqe, c->fd, c->out, c->out_size, MSG_NOSIGNAL | MSG_WAITALL);
    io_uring_sqe_set_data64(sqe, token_of(l, conn, OP_SEND));
    if (l->uring->waiting < SUBMIT_AT) return;
    uring_submit(l->uring);
}

static int64_t uring_send(live *l, uint32_t conn, const void *bytes, uint32_t size, bool stays)
{
    live_conn *c = &l->conns[conn];
    rad_bytes *to = c->sending ? &c->more : &c->own;
    if (c->sending || !stays) {
        rad__bytes_put(to, bytes, size);
        if (to->failed) {
            rad__bytes_free(to);
            return RAD_OS_ERROR - ENOMEM;
        }
        if (c->sending) return 0;
        bytes = to->data;
    }
    c->out = bytes;
    c->out_size = size;
    c->sending = true;
    uring_push(l, conn);
    return 0;
}

static void uring_close(live *l, uint32_t conn, bool hard)
{
    live_conn *c = &l->conns[conn];
    struct live_uring *u = l->uring;
    if (c->sending && c->own.size > 0) {
        if (RAD_GROW(&u->limbo, &u->limbo_capacity, u->limbo_count + 1))
            u->limbo[u->limbo_count++] = (struct limbo){token_of(l, conn, OP_SEND), c->own};
        else
            l->failed = RAD_ENOMEM; /* the run ends, and the kernel may have the bytes */
        c->own = (rad_bytes){0};
    }
    c->more.size = 0;
    if (hard) rad__os_net_reset_later(c->fd);
    io_uring_prep_cancel_fd(uring_ask(l, OP_IGNORE), c->fd, IORING_ASYNC_CANCEL_ALL);
    io_uring_prep_close(uring_ask(l, OP_IGNORE), c->fd);
}

/* ---- What came of it --------------------------------------------------------------------------------------- */

static void limbo_leave(struct live_uring *u, uint64_t token)
{
    for (uint32_t i = 0; i < u->limbo_count; i++)
        if (u->limbo[i].token == token) {
            rad__bytes_free(&u->limbo[i].bytes);
            u->limbo[i] = u->limbo[--u->limbo_count];
            return;
        }
}

static void uring_sent(live *l, uint32_t conn, int result)
{
    live_conn *c = &l->conns[conn];
    if (result < 0) {
        if (c->own.size > 0) c->own.size = 0; /* the kernel is done with it */
        c->sending = false;
        rad__live_broken(l, conn, RAD_OS_ERROR + result);
        return;
    }
    c->out += result;
    c->out_size -= (uint32_t)result;
    if (c->out_size == 0 && c->more.size > 0) {
        rad_bytes done = c->own;
        c->own = c->more;
        c->more = done;
        c->more.size = 0;
        c->out = c->own.data;
        c->out_size = c->own.size;
    }
    if (c->out_size > 0) {
        uring_push(l, conn);
    } else {
        c->sending = false;
        c->own.size = 0;
        rad__live_drained(l, conn);
    }
}

/* The receive has ended, for want of buffers. Whoever has had some waits until the others have asked. */
static void uring_ask_again(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    if (c->served != l->uring->wait) {
        uring_receive(l, conn);
        return;
    }
    if (c->in_line) return;
    c->in_line = true;
    c->next_readable = l->uring->first_again;
    l->uring->first_again = conn;
}

static void uring_ask_for_the_others(live *l)
{
    struct live_uring *u = l->uring;
    while (u->first_again != RAD_NONE) {
        uint32_t conn = u->first_again;
        live_conn *c = &l->conns[conn];
        u->first_again = c->next_readable;
        c->in_line = false;
        if (c->state != LIVE_SHUT) uring_receive(l, conn);
    }
}

static void uring_received(live *l, uint32_t conn, int result, uint32_t flags)
{
    uint32_t generation = l->conns[conn].generation;
    if (result > 0) {
        l->conns[conn].served = l->uring->wait;
        rad__live_received(l, conn, l->uring->memory + (size_t)(flags >> IORING_CQE_BUFFER_SHIFT) * BUFFER_BYTES,
                           (size_t)result);
    } else if (result == 0)
        rad__live_ended(l, conn);
    else if (result != -ENOBUFS)
        rad__live_broken(l, conn, RAD_OS_ERROR + result);
    if (!(flags & IORING_CQE_F_MORE) && l->conns[conn].generation == generation) uring_ask_again(l, conn);
}

static void uring_take(live *l, uint64_t token, int result, uint32_t flags)
{
    uint32_t conn = (uint32_t)token;
    enum operation op = (enum operation)(token >> 56);
    if (op == OP_IGNORE) return;
    if (token != token_of(l, conn, op)) { /* of one that is gone */
        if (op == OP_SEND) limbo_leave(l->uring, token);
        return;
    }
    rad__live_clock(l);
    if (op == OP_SEND) {
        uring_sent(l, conn, result);
    } else if (op == OP_RECEIVE) {
        uring_received(l, conn, result, flags);
    } else if (result < 0) {
        rad__live_broken(l, conn, RAD_OS_ERROR + result);
    } else {
        uring_receive(l, conn);
        rad__live_connected(l, conn);
    }
}

static int uring_wait(live *l, uint64_t timeout_ns, rad_error *error)
{
    struct live_uring *u = l->uring;
    struct io_uring_cqe *cqe;
    int result = uring_enable(u);
    if (result < 0) return rad__error(error, RAD_EIO, "io_uring: %s", strerror(-result));
    if (timeout_ns == 0) {
        result = io_uring_submit_and_get_events(&u->ring);
    } else {
        struct __kernel_timespec t = {.tv_sec = (int64_t)(timeout_ns / 1000000000),
                                      .tv_nsec = (int64_t)(timeout_ns % 1000000000)};
        result = io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &t, NULL);
    }
    u->waiting = 0;
    if (result < 0 && result != -ETIME && result != -EINTR && result != -EAGAIN && result != -EBUSY)
        return rad__error(error, RAD_EIO, "io_uring: %s", strerror(-result));
    unsigned head, count = io_uring_cq_ready(&u->ring), taken = 0; /* no more than there are now */
    u->wait++;
    io_uring_for_each_cqe(&u->ring, head, cqe)
    {
        if (taken == count) break;
        struct io_uring_cqe c = *cqe;
        taken++;
        uring_take(l, c.user_data, c.res, c.flags);
        if (c.flags & IORING_CQE_F_BUFFER) buffer_return(u, c.flags >> IORING_CQE_BUFFER_SHIFT);
    }
    io_uring_cq_advance(&u->ring, taken);
    if (u->returned > 0) buffers_told(u);
    uring_ask_for_the_others(l);
    return 0;
}

const struct live_transport rad__live_uring = {
    .name = "io_uring",
    .start = uring_start,
    .connect = uring_connect,
    .send = uring_send,
    .close = uring_close,
    .wait = uring_wait,
    .stop = uring_stop,
};
