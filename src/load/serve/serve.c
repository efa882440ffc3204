/* serve.c — see serve.h. Connections are numbered; each has at most one answer under way, and one time at
 * which it goes on: to begin an answer that is late, to send its next piece. */
#include "load/serve/serve.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/prng.h"
#include "load/serve/request.h"
#include "os/clock.h"
#include "os/epoll_edges.h"
#include "os/net.h"

#include <string.h>

enum {
    EDGES = 256,
    READ_BYTES = 64 << 10,
    REQUEST_BYTES_MAX = 16 << 20,
    LOOK_NS = 20000000, /* how long a request to stop may go unnoticed */
    LISTENER = UINT32_MAX
};

typedef struct serve_conn {
    int fd;
    uint32_t generation, next; /* next: among those that are free */
    rad_bytes in, out;
    uint32_t sent;     /* of out */
    uint64_t go_on_ns; /* nothing is sent before */
    serve_answer answer;
    bool answering, ended; /* ended: there will be no more requests */
    uint32_t served;
} serve_conn;

struct rad__load_serve {
    rad__load_serve_options o;
    int list, listener;
    uint32_t port;
    serve_conn *conns;
    uint32_t conn_count, first_free;
    rad_heap due;
    uint64_t tie, start_ns, now_ns, requests;
    rad_bytes usual; /* the answer to everything */
    uint8_t *read;
    rad_prng random;
    bool failed;
};

/* ---- When an answer goes out ------------------------------------------------------------------------------- */

/* The inverse distribution at a random place: straight lines between points. */
static uint64_t draw_latency(rad__load_serve *s)
{
    const struct rad__load_curve *c = &s->o.latency;
    if (c->count == 0) return 0;
    uint64_t share = rad__prng_below(&s->random, RAD__LOAD_PPM);
    uint32_t i = 0;
    while (i < c->count && c->points[i].share_ppm <= share) i++;
    if (i == 0) return c->points[0].value;
    if (i == c->count) return c->points[c->count - 1].value;
    const struct rad__load_point *a = &c->points[i - 1], *b = &c->points[i];
    return a->value + (b->value - a->value) * (share - a->share_ppm) / (b->share_ppm - a->share_ppm);
}

/* Not in the last part of each period. */
static uint64_t after_stall(const rad__load_serve *s, uint64_t at_ns)
{
    uint64_t every = s->o.stall_every_ns, stall = s->o.stall_ns;
    if (every == 0 || stall == 0) return at_ns;
    uint64_t phase = at_ns % every;
    return phase >= every - stall ? at_ns - phase + every : at_ns;
}

/* ---- Connections ------------------------------------------------------------------------------------------- */

static void conn_close(rad__load_serve *s, uint32_t n, bool hard)
{
    serve_conn *c = &s->conns[n];
    rad__heap_remove(&s->due, n);
    if (hard)
        rad__os_net_reset(c->fd);
    else
        rad__os_io_close(c->fd);
    rad__bytes_free(&c->in);
    rad__bytes_free(&c->out);
    c->fd = -1;
    c->generation++;
    c->next = s->first_free;
    s->first_free = n;
}

static void conn_wait(rad__load_serve *s, uint32_t n, uint64_t until_ns)
{
    s->conns[n].go_on_ns = until_ns;
    if (!rad__heap_has(&s->due, n) && !rad__heap_push(&s->due, n, until_ns, s->tie++)) s->failed = true;
}

/* How many bytes may be sent now. */
static uint32_t conn_allowed(const serve_conn *c)
{
    uint32_t left = c->out.size - c->sent;
    return c->answer.piece && c->answer.piece < left ? c->answer.piece : left;
}

/* The answer was sent. False: the connection is gone, or will send nothing more. */
static bool conn_answered(rad__load_serve *s, uint32_t n)
{
    serve_conn *c = &s->conns[n];
    c->out.size = c->sent = 0;
    switch (c->answer.then) {
    case SERVE_REPEATS:
        while (c->out.size < 2000) rad__bytes_put(&c->out, c->answer.again, strlen(c->answer.again));
        return true;
    case SERVE_STALLS: return false;
    case SERVE_CLOSES:
    case SERVE_RESETS: conn_close(s, n, c->answer.then == SERVE_RESETS); return false;
    case SERVE_GOES_ON: c->answering = false; return false;
    }
    return false;
}

static void conn_push(rad__load_serve *s, uint32_t n)
{
    serve_conn *c = &s->conns[n];
    while (c->answering && c->go_on_ns <= s->now_ns) {
        uint32_t allowed = conn_allowed(c);
        int64_t put = allowed ? rad__os_net_send(c->fd, c->out.data + c->sent, allowed) : 0;
        if (put == RAD_OS_AGAIN) return;
        if (put < 0) {
            conn_close(s, n, false);
            return;
        }
        c->sent += (uint32_t)put;
        if (c->sent == c->out.size) {
            if (!conn_answered(s, n)) return;
        } else if (c->answer.piece) {
            conn_wait(s, n, s->now_ns + c->answer.piece_ns);
        }
    }
}

/* ---- Requests ---------------------------------------------------------------------------------------------- */

/* A whole request at the beginning of what came in: its size; 0: not yet; UINT32_MAX: that is none. */
static uint32_t find_request(const serve_conn *c, serve_request *r)
{
    const char *in = (const char *)c->in.data, *end = in + c->in.size, *at = in;
    while ((at = memchr(at, '\r', (size_t)(end - at))) != NULL && end - at >= 4 && memcmp(at, "\r\n\r\n", 4) != 0) at++;
    if (at == NULL || end - at < 4) return c->in.size > READ_BYTES ? UINT32_MAX : 0;
    *r = (serve_request){.head = in, .head_size = (uint32_t)(at + 4 - in), .method = in};
    const char *space = memchr(in, ' ', r->head_size);
    const char *second = space ? memchr(space + 1, ' ', r->head_size - (size_t)(space + 1 - in)) : NULL;
    if (second == NULL) return UINT32_MAX;
    r->method_size = (uint32_t)(space - in);
    r->path = space + 1;
    r->path_size = (uint32_t)(second - r->path);
    uint32_t digits;
    const char *length = rad__serve_header(r, "content-length", &digits);
    uint64_t size = 0;
    for (uint32_t i = 0; length && i < digits && size < REQUEST_BYTES_MAX; i++)
        size = size * 10 + (uint64_t)(length[i] - '0');
    if (size > REQUEST_BYTES_MAX) return UINT32_MAX;
    if ((uint64_t)(end - (at + 4)) < size) return 0;
    r->body = at + 4;
    r->body_size = (uint32_t)size;
    return r->head_size + r->body_size;
}

static void answer(rad__load_serve *s, serve_conn *c, const serve_request *r)
{
    serve_answer *a = &c->answer;
    *a = (serve_answer){.to = &c->out};
    bool ends = s->o.requests_per_connection && ++c->served >= s->o.requests_per_connection;
    if (rad__serve_special(r, a, s->o.misbehave)) return;
    if (s->o.error_ppm && rad__prng_below(&s->random, RAD__LOAD_PPM) < s->o.error_ppm) {
        rad__serve_plain(&c->out, 503, ends ? "Connection: close\r\n" : "", "", 0);
    } else if (ends) {
        rad__serve_plain(&c->out, 200, "Connection: close\r\n", "", 0);
    } else {
        rad__bytes_put(&c->out, s->usual.data, s->usual.size);
        if (r->method_size == 4 && memcmp(r->method, "HEAD", 4) == 0) c->out.size -= s->o.body_bytes;
    }
    if (ends) a->then = SERVE_CLOSES;
    a->delay_ns = draw_latency(s);
}

/* Answers as many requests as it can, one after the other. */
static void conn_serve(rad__load_serve *s, uint32_t n)
{
    uint32_t generation = s->conns[n].generation;
    while (s->conns[n].generation == generation && !s->conns[n].answering) {
        serve_conn *c = &s->conns[n];
        serve_request r;
        uint32_t size = c->in.size ? find_request(c, &r) : 0;
        if (size == UINT32_MAX || (size == 0 && c->ended)) {
            conn_close(s, n, false);
            return;
        }
        if (size == 0) return;
        r.number = ++s->requests;
        answer(s, c, &r);
        memmove(c->in.data, c->in.data + size, c->in.size - size);
        c->in.size -= size;
        c->answering = true;
        c->go_on_ns = after_stall(s, s->now_ns + c->answer.delay_ns);
        if (c->out.failed) s->failed = true;
        if (c->go_on_ns > s->now_ns)
            conn_wait(s, n, c->go_on_ns);
        else
            conn_push(s, n);
    }
}

static void conn_read(rad__load_serve *s, uint32_t n, bool ending)
{
    serve_conn *c = &s->conns[n];
    for (;;) {
        int64_t got = rad__os_net_receive(c->fd, s->read, READ_BYTES);
        if (got == RAD_OS_AGAIN) break;
        if (got < 0 || (got == 0 && c->answering && c->answer.then == SERVE_STALLS)) {
            conn_close(s, n, false);
            return;
        }
        if (got == 0) {
            c->ended = true;
            break;
        }
        rad__bytes_put(&c->in, s->read, (size_t)got);
        if (c->in.failed) s->failed = true;
        if (got < READ_BYTES && !ending) break;
    }
    conn_serve(s, n);
}

static void accept_all(rad__load_serve *s)
{
    for (;;) {
        int64_t fd = rad__os_io_accept(s->listener, NULL, NULL);
        if (fd < 0) return; /* none, or no descriptor: it is asked again at the next one */
        uint32_t n = s->first_free, old = s->conn_count;
        if (n == RAD_NONE) {
            if (!RAD_GROW(&s->conns, &s->conn_count, s->conn_count + 1)) {
                rad__os_io_close((int)fd);
                return;
            }
            for (uint32_t i = s->conn_count; i-- > old;) {
                s->conns[i].fd = -1;
                s->conns[i].next = s->first_free;
                s->first_free = i;
            }
            rad__os_net_allow((uint64_t)s->conn_count + 100);
            n = s->first_free;
        }
        serve_conn *c = &s->conns[n];
        s->first_free = c->next;
        uint32_t generation = c->generation;
        *c = (serve_conn){.fd = (int)fd, .generation = generation};
        if (rad__os_edges_add(s->list, c->fd, (uint64_t)generation << 32 | n) != 0) conn_close(s, n, true);
    }
}

/* ---- The loop ---------------------------------------------------------------------------------------------- */

static void do_edge(rad__load_serve *s, const rad_os_edge *edge)
{
    uint32_t n = (uint32_t)edge->token;
    if (n == LISTENER) {
        accept_all(s);
        return;
    }
    serve_conn *c = &s->conns[n];
    uint32_t generation = (uint32_t)(edge->token >> 32);
    if (c->generation != generation) return;
    if (edge->what & RAD_OS_EDGE_WRITE && c->answering) {
        conn_push(s, n);
        if (c->generation == generation) conn_serve(s, n);
    }
    if (c->generation == generation && edge->what & (RAD_OS_EDGE_READ | RAD_OS_EDGE_END))
        conn_read(s, n, edge->what & RAD_OS_EDGE_END);
}

static void do_due(rad__load_serve *s)
{
    while (s->due.count > 0 && rad__heap_top(&s->due)->key <= s->now_ns) {
        uint32_t n = rad__heap_top(&s->due)->item, generation = s->conns[n].generation;
        rad__heap_remove(&s->due, n);
        conn_push(s, n);
        if (s->conns[n].generation == generation) conn_serve(s, n);
    }
}

int rad__load_serve_run(rad__load_serve *s, const volatile int *stop, rad_error *error)
{
    rad_os_edge edges[EDGES];
    while (!*stop) {
        s->now_ns = rad__os_now_ns() - s->start_ns;
        do_due(s);
        uint64_t wait = LOOK_NS;
        if (s->due.count > 0 && rad__heap_top(&s->due)->key - s->now_ns < wait)
            wait = rad__heap_top(&s->due)->key - s->now_ns;
        int64_t count = rad__os_edges_wait(s->list, edges, EDGES, wait);
        if (count < 0) return rad__error(error, RAD_EIO, "serve: waiting failed");
        s->now_ns = rad__os_now_ns() - s->start_ns;
        for (int64_t i = 0; i < count; i++) do_edge(s, &edges[i]);
        if (s->failed) return rad__error_memory(error);
    }
    return 0;
}

static int serve_listen(rad__load_serve *s, rad_error *error)
{
    rad_os_address address;
    const char *host = s->o.host ? s->o.host : "127.0.0.1", *port = s->o.port ? s->o.port : "0";
    int found = rad__os_net_resolve(host, port, &address, 1, error);
    if (found < 0) return found;
    int64_t answered = rad__os_net_listen(&address);
    if (answered < 0)
        return rad__error(error, RAD_EIO, "cannot listen on %s port %s: %s", host, port,
                          strerror((int)(RAD_OS_ERROR - answered)));
    s->listener = (int)answered;
    answered = rad__os_net_port(s->listener);
    if (answered > 0) {
        s->port = (uint32_t)answered;
        answered = rad__os_edges_open();
    }
    if (answered >= 0) {
        s->list = (int)answered;
        answered = rad__os_edges_add(s->list, s->listener, LISTENER);
    }
    return answered < 0 ? rad__error(error, RAD_EIO, "cannot listen on %s port %s", host, port) : 0;
}

int rad__load_serve_open(rad__load_serve **serve, const rad__load_serve_options *o, rad_error *error)
{
    *serve = NULL;
    rad__load_serve *s = rad__alloc(1, sizeof *s);
    if (s == NULL) return rad__error_memory(error);
    s->o = *o;
    s->list = s->listener = -1;
    s->first_free = RAD_NONE;
    s->random = rad__prng(o->seed, RAD_STREAM_TEST, 0);
    s->read = rad__alloc(1, READ_BYTES);
    uint8_t *body = rad__alloc(1, o->body_bytes);
    int code = s->read && body ? serve_listen(s, error) : rad__error_memory(error);
    if (code == 0) {
        memset(body, 'x', o->body_bytes);
        rad__serve_plain(&s->usual, 200, "Server: raddle\r\n", body, o->body_bytes);
        if (s->usual.failed) code = rad__error_memory(error);
    }
    rad__free(body);
    s->start_ns = rad__os_now_ns();
    if (code == 0)
        *serve = s;
    else
        rad__load_serve_close(s);
    return code;
}

uint32_t rad__load_serve_port(const rad__load_serve *s)
{
    return s->port;
}

uint64_t rad__load_serve_count(const rad__load_serve *s)
{
    return s->requests;
}

void rad__load_serve_close(rad__load_serve *s)
{
    if (s == NULL) return;
    for (uint32_t i = 0; i < s->conn_count; i++)
        if (s->conns[i].fd >= 0) conn_close(s, i, false);
    if (s->listener >= 0) rad__os_io_close(s->listener);
    if (s->list >= 0) rad__os_io_close(s->list);
    rad__heap_free(&s->due);
    rad__bytes_free(&s->usual);
    rad__free(s->conns);
    rad__free(s->read);
    rad__free(s);
}
