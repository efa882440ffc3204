/* epoll.c — the transport over epoll: every socket is named to the kernel once, with edges (os/epoll_edges.h), and
 * after that a request costs a send and a recv, and a share of a wait.
 *
 * Connections that can be read stand in line. Each is read until it is empty or has had its share; then it goes to the
 * end of the line, and is read on in the next wait: no edge will tell of it again.
 *
 * A send that does not fit is copied to the connection, unless it lies in a plan, and goes on when there is room. */
#include "base/error.h"
#include "load/live/parts.h"
#include "os/epoll_edges.h"

enum { EDGES = 256 };

static uint64_t token_of(const live *l, uint32_t conn)
{
    return (uint64_t)l->conns[conn].generation << 32 | conn;
}

static int epoll_start(live *l, rad_error *error)
{
    int64_t list = rad__os_edges_open();
    if (list < 0) return rad__error(error, RAD_EIO, "epoll: no more descriptors or memory");
    l->list = (int)list;
    l->first_readable = l->last_readable = RAD_NONE;
    return 0;
}

static void epoll_stop(live *l)
{
    if (l->list >= 0) rad__os_io_close(l->list);
}

static int64_t epoll_connect(live *l, uint32_t conn, const rad_os_address *address)
{
    live_conn *c = &l->conns[conn];
    int64_t fd = rad__os_net_socket(address, false);
    if (fd < 0) return fd;
    c->fd = (int)fd;
    int64_t answer = rad__os_net_connect(c->fd, address);
    /* At once, or later: the first edge tells. */
    if (answer == 0 || answer == RAD_OS_AGAIN) answer = rad__os_edges_add(l->list, c->fd, token_of(l, conn));
    if (answer == 0) return 0;
    rad__os_io_close(c->fd);
    c->fd = -1;
    return answer;
}

/* Its place in the line stays, for whoever has its number next. */
static void epoll_close(live *l, uint32_t conn, bool hard)
{
    l->conns[conn].readable = 0;
    if (hard)
        rad__os_net_reset(l->conns[conn].fd);
    else
        rad__os_io_close(l->conns[conn].fd);
}

/* Sends on from c->out. 0: all of it, or as much as there is room for. */
static int64_t epoll_push(live_conn *c)
{
    while (c->out_size > 0) {
        int64_t put = rad__os_net_send(c->fd, c->out, c->out_size);
        if (put == RAD_OS_AGAIN) return 0;
        if (put < 0) return put;
        c->out += put;
        c->out_size -= (uint32_t)put;
    }
    c->sending = false;
    c->own.size = 0;
    return 0;
}

/* What is left in `out` comes first. */
static int64_t epoll_keep(live *l, live_conn *c, const uint8_t *bytes, uint32_t size, bool stays)
{
    if (!c->sending && stays) {
        c->out = bytes;
        c->out_size = size;
    } else {
        bool owned = c->sending && c->own.size > 0;
        uint32_t done = owned ? (uint32_t)(c->out - c->own.data) : 0;
        if (c->sending && !owned) rad__bytes_put(&c->own, c->out, c->out_size);
        rad__bytes_put(&c->own, bytes, size);
        if (c->own.failed) {
            rad__bytes_free(&c->own);
            l->failed = RAD_ENOMEM;
        }
        c->out = c->own.data + done;
        c->out_size = c->own.size - done;
    }
    c->sending = true;
    return 0;
}

static int64_t epoll_send(live *l, uint32_t conn, const void *bytes, uint32_t size, bool stays)
{
    live_conn *c = &l->conns[conn];
    if (c->sending) return epoll_keep(l, c, bytes, size, stays);
    int64_t put = rad__os_net_send(c->fd, bytes, size);
    if (RAD_LIKELY(put == (int64_t)size)) return 0;
    if (put == RAD_OS_AGAIN) put = 0;
    if (put < 0) return put;
    return epoll_keep(l, c, (const uint8_t *)bytes + put, size - (uint32_t)put, stays);
}

/* ---- Who can be read ------------------------------------------------------------------------------------- */

static void line_add(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    if (c->in_line) return;
    c->in_line = true;
    c->next_readable = RAD_NONE;
    if (l->last_readable == RAD_NONE)
        l->first_readable = conn;
    else
        l->conns[l->last_readable].next_readable = conn;
    l->last_readable = conn;
}

static uint32_t line_take(live *l)
{
    uint32_t conn = l->first_readable;
    l->first_readable = l->conns[conn].next_readable;
    if (l->first_readable == RAD_NONE) l->last_readable = RAD_NONE;
    l->conns[conn].in_line = false;
    return conn;
}

/* Reads until there is no more (a short read says so, unless the end is near) or the share is used up. How much. */
static uint32_t epoll_read(live *l, uint32_t conn)
{
    uint32_t generation = l->conns[conn].generation, sum = 0;
    bool ends = l->conns[conn].readable & RAD_OS_EDGE_END;
    while (sum < LIVE_SHARE_BYTES) {
        int64_t got = rad__os_net_receive(l->conns[conn].fd, l->read, LIVE_READ_BYTES);
        if (got == RAD_OS_AGAIN) {
            l->conns[conn].readable = 0;
            return sum;
        }
        rad__live_clock(l);
        if (got > 0)
            rad__live_received(l, conn, l->read, (size_t)got);
        else if (got == 0)
            rad__live_ended(l, conn);
        else
            rad__live_broken(l, conn, got);
        if (got <= 0 || l->conns[conn].generation != generation) return sum;
        sum += (uint32_t)got;
        if (got < LIVE_READ_BYTES && !ends) {
            l->conns[conn].readable = 0;
            return sum;
        }
    }
    line_add(l, conn);
    return sum;
}

/* Once through the line, as it was, or until enough was read. */
static void epoll_read_all(live *l)
{
    uint32_t last = l->last_readable, conn = RAD_NONE, sum = 0;
    while (conn != last && sum < LIVE_TURN_BYTES) {
        conn = line_take(l);
        if (l->conns[conn].readable != 0) sum += epoll_read(l, conn);
    }
}

static void epoll_edge(live *l, uint32_t conn, uint32_t what)
{
    live_conn *c = &l->conns[conn];
    if (c->state == LIVE_OPENING) {
        int64_t failed = rad__os_io_connected(c->fd);
        rad__live_clock(l);
        if (failed != 0) {
            rad__live_broken(l, conn, failed);
            return;
        }
        if (!(what & RAD_OS_EDGE_WRITE)) return;
        rad__live_connected(l, conn);
    } else if (c->sending && what & RAD_OS_EDGE_WRITE) {
        int64_t failed = epoll_push(c);
        if (failed != 0) {
            rad__live_broken(l, conn, failed);
            return;
        }
        if (!c->sending) rad__live_drained(l, conn);
    }
    if (!(what & (RAD_OS_EDGE_READ | RAD_OS_EDGE_END)) || l->conns[conn].state == LIVE_SHUT) return;
    l->conns[conn].readable |= (uint8_t)what;
    line_add(l, conn);
}

static int epoll_wait_for(live *l, uint64_t timeout_ns, rad_error *error)
{
    rad_os_edge edges[EDGES];
    if (l->first_readable != RAD_NONE) timeout_ns = 0;
    int64_t count = rad__os_edges_wait(l->list, edges, EDGES, timeout_ns);
    if (count < 0) return rad__error(error, RAD_EIO, "epoll: waiting failed");
    if (count > 0) rad__live_clock(l);
    for (int64_t i = 0; i < count; i++) {
        uint32_t conn = (uint32_t)edges[i].token;
        if (l->conns[conn].generation == (uint32_t)(edges[i].token >> 32)) epoll_edge(l, conn, edges[i].what);
    }
    epoll_read_all(l);
    return 0;
}

const struct live_transport rad__live_epoll = {
    .name = "epoll",
    .start = epoll_start,
    .connect = epoll_connect,
    .send = epoll_send,
    .close = epoll_close,
    .wait = epoll_wait_for,
    .stop = epoll_stop,
};
