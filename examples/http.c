/* http.c — a small HTTP/1.1 server: a fiber per connection, keep-alive, pipelining, requests in pieces. Whatever is
 * asked for, the answer is "hello".
 *
 *     cc http.c $(pkg-config --cflags --libs raddle) -o http
 *     ./http           tries itself
 *     ./http 8080      serves until SIGINT or SIGTERM; ./http 8080 4 on 4 workers */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <raddle.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MOST = 4096, ANSWERS_AT_ONCE = 16, IDLE_SECONDS = 60, STACK_SIZE = 32 << 10 };

static const char HELLO[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n";
static const char BYE[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n"
                          "Connection: close\r\n\r\nhello\n";
static const char BAD[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
static const char LARGE[] = "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: "
                            "0\r\nConnection: close\r\n\r\n";

typedef struct connection {
    int fd;
    bool drained; /* the last read took all there was: the next one had better wait first */
    bool last;    /* no more requests after this one */
    size_t have;  /* bytes in `in` */
    size_t body;  /* … of the request before that are still to come, and are thrown away */
    char in[HEAD_MOST];
} connection;

/* ---- Requests ----------------------------------------------------------------------------------------- */

/* The value of a header, in the head that ends at `end`; NULL: it has none. */
static const char *header(const char *head, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = head; line < end; line++) {
        if ((size_t)(end - line) > length && strncasecmp(line, name, length) == 0 && line[length] == ':') {
            line += length + 1;
            while (line < end && *line == ' ') line++;
            return line;
        }
        line = memchr(line, '\n', (size_t)(end - line));
        if (line == NULL) break;
    }
    return NULL;
}

/* A whole head: what to answer. */
static const char *answer_to(connection *c, const char *head, const char *end)
{
    const char *line_end = memchr(head, '\r', (size_t)(end - head));
    if (line_end == NULL || line_end - head < 14 || memcmp(line_end - 9, " HTTP/1.", 8) != 0) {
        c->last = true;
        return BAD;
    }
    const char *length = header(line_end + 2, end, "Content-Length");
    const char *wish = header(line_end + 2, end, "Connection");
    c->body = length ? strtoul(length, NULL, 10) : 0;
    bool stays = wish && strncasecmp(wish, "keep-alive", 10) == 0;
    bool goes = wish && strncasecmp(wish, "close", 5) == 0;
    c->last = goes || (line_end[-1] == '0' && !stays);
    return c->last ? BYE : HELLO;
}

/* The next request in c->in, from *at on: what to answer, and *at is after it; NULL: it is not all there. */
static const char *next_request(connection *c, size_t *at)
{
    size_t skip = c->body < c->have - *at ? c->body : c->have - *at;
    *at += skip;
    c->body -= skip;
    const char *head = c->in + *at;
    const char *end = c->body ? NULL : memmem(head, c->have - *at, "\r\n\r\n", 4);
    if (end == NULL) return NULL;
    *at = (size_t)(end + 4 - c->in);
    return answer_to(c, head, end + 2);
}

/* Answers all requests that are there, several with one write. False: that was it. */
static bool answer_all(connection *c)
{
    char out[ANSWERS_AT_ONCE * sizeof BYE];
    size_t at = 0, length = 0;
    const char *text;
    while (!c->last && (text = next_request(c, &at)) != NULL) {
        size_t size = strlen(text);
        memcpy(out + length, text, size);
        length += size;
        if (length + sizeof BYE <= sizeof out && !c->last) continue;
        if (rad_write(c->fd, out, length, RAD_FOREVER) != (int64_t)length) return false;
        length = 0;
    }
    if (length > 0 && rad_write(c->fd, out, length, RAD_FOREVER) != (int64_t)length) return false;
    memmove(c->in, c->in + at, c->have - at);
    c->have -= at;
    if (c->have < sizeof c->in) return !c->last;
    RAD_IGNORE(rad_write(c->fd, LARGE, sizeof LARGE - 1, RAD_FOREVER));
    return false;
}

/* More bytes. False: there will be none, or not in time. */
static bool receive(connection *c)
{
    rad_time until = rad_after(IDLE_SECONDS * UINT64_C(1000000000));
    size_t room = sizeof c->in - c->have;
    if (c->drained && rad_fd_wait(c->fd, RAD_READABLE, until) < 0) return false;
    int64_t got = rad_read(c->fd, c->in + c->have, room, until);
    if (got <= 0) return false;
    c->have += (size_t)got;
    c->drained = (size_t)got < room;
    return true;
}

static int serve(void *arg)
{
    int yes = 1;
    connection c;
    c.fd = (int)(intptr_t)arg;
    c.drained = c.last = false;
    c.have = c.body = 0;
    setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    while (receive(&c) && answer_all(&c)) {
    }
    rad_fd_close(c.fd);
    return 0;
}

/* ---- The server --------------------------------------------------------------------------------------- */

static int bell[2];        /* a signal handler writes, a fiber reads */
static _Atomic bool ended; /* the listening socket is closed: its number may be another's */

static void on_signal(int number)
{
    char byte = (char)number;
    if (write(bell[1], &byte, 1) < 0) _exit(1);
}

/* Until the listening socket is closed. Then those who wait for their next request are sent away. */
static int accept_all(void *arg)
{
    int listening = *(int *)arg;
    int64_t fd;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    while (!ended && (fd = rad_accept(listening, NULL, NULL, RAD_FOREVER)) != RAD_ECLOSED)
        if (fd < 0) /* too many descriptors, or the other side has changed its mind */
            rad_sleep(1000000);
        else if (rad_nursery_spawn(&n, NULL, serve, (void *)(intptr_t)fd) != 0)
            rad_fd_close((int)fd);
    rad_nursery_cancel(&n, 0);
    return rad_nursery_wait(&n);
}

static int run(void *arg)
{
    int *listening = arg;
    char byte;
    rad_fiber server;
    if (rad_spawn(&server, accept_all, listening) != 0) return 1;
    bool rang = rad_read(bell[0], &byte, 1, RAD_FOREVER) == 1;
    ended = true;
    rad_fd_close(*listening);
    bool joined = rad_join(server, NULL, RAD_FOREVER) == 0;
    rad_release(server);
    return rang && joined ? 0 : 1;
}

static struct sockaddr_in address = {.sin_family = AF_INET};

static int listen_at(uint16_t port, bool everywhere)
{
    socklen_t size = sizeof address;
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(everywhere ? INADDR_ANY : INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0 || rad_fd_prepare(fd) != 0)
        return perror("http"), -1;
    return fd;
}

/* ---- It tries itself ---------------------------------------------------------------------------------- */

/* Sends `request` in pieces of `piece` bytes, and expects `answers` times HELLO, then the end, if `ends`. */
typedef struct attempt {
    const char *request;
    size_t piece;
    int answers;
    const char *end; /* NULL: it stays open */
} attempt;

static const attempt ATTEMPTS[] = {
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1000, 1, NULL},
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1, 1, NULL},
    {"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n\r\n", 25, 3, NULL},
    {"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nabcdeGET / HTTP/1.1\r\n\r\n", 7, 2, NULL},
    {"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n", 1000, 1, BYE},
    {"GET / HTTP/1.0\r\n\r\n", 1000, 0, BYE},
    {"nonsense\r\n\r\n", 1000, 0, BAD},
};

static bool expect(int fd, const char *text)
{
    char got[256];
    size_t length = strlen(text), have = 0;
    while (have < length) {
        int64_t n = rad_read(fd, got + have, length - have, rad_after(10000000000));
        if (n <= 0) return false;
        have += (size_t)n;
    }
    return memcmp(got, text, length) == 0;
}

static int try_one(void *arg)
{
    const attempt *a = arg;
    char byte;
    size_t length = strlen(a->request);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    bool good = fd >= 0 && rad_connect(fd, (struct sockaddr *)&address, sizeof address, RAD_FOREVER) == 0;
    for (size_t at = 0; good && at < length; at += a->piece) {
        size_t size = length - at < a->piece ? length - at : a->piece;
        good = rad_write(fd, a->request + at, size, RAD_FOREVER) == (int64_t)size;
        if (size < length) rad_sleep(100000);
    }
    for (int i = 0; good && i < a->answers; i++) good = expect(fd, HELLO);
    if (good && a->end) good = expect(fd, a->end) && rad_read(fd, &byte, 1, RAD_FOREVER) == 0;
    rad_fd_close(fd);
    return !good;
}

static int try_it(void *arg)
{
    enum { EACH = 30, KINDS = sizeof ATTEMPTS / sizeof *ATTEMPTS };
    rad_nursery n;
    rad_fiber server;
    if (rad_spawn(&server, run, arg) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < EACH * KINDS; i++) rad_nursery_go(&n, try_one, (void *)&ATTEMPTS[i % KINDS]);
    int failed = rad_nursery_wait(&n);
    kill(getpid(), SIGTERM);
    failed = rad_join(server, NULL, RAD_FOREVER) != 0 || failed;
    rad_release(server);
    printf("%d connections of %d kinds: %s\n", EACH * KINDS, KINDS, failed ? "failed" : "all well");
    return failed;
}

int main(int count, char **words)
{
    rad_error error = {.code = 0};
    rad_options options = {.stack_size = STACK_SIZE};
    bool alone = count < 2;
    int fd = listen_at(alone ? 0 : (uint16_t)strtoul(words[1], NULL, 10), !alone);
    if (fd < 0) return 1;
    if (count > 2) options.workers = (uint32_t)strtoul(words[2], NULL, 10);
    if (pipe(bell) != 0 || rad_fd_prepare(bell[0]) != 0) return perror("http"), 1;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (!alone) fprintf(stderr, "http://127.0.0.1:%u/\n", ntohs(address.sin_port));
    int code = rad_main(&options, alone ? try_it : run, &fd, &error);
    if (error.code != 0) fprintf(stderr, "http: %s\n", error.text);
    return code != 0;
}
