#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_hostile.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FRAME_DATA = 0,
    FRAME_HEADERS = 1,
    FRAME_PRIORITY = 2,
    FRAME_SETTINGS = 4,
    FRAME_PING = 6,
    FRAME_WINDOW_UPDATE = 8,
    FRAME_CONTINUATION = 9,
    FRAME_UNKNOWN = 200,
    ACK = 1,
    END_HEADERS = 4
};

/* What is sent first, and what is sent again and again. */
static struct {
    uint8_t first[1 << 14], again[256 << 10];
    size_t first_size, again_size;
} script;

static void put(uint8_t *to, size_t *size, const void *bytes, size_t count)
{
    memcpy(to + *size, bytes, count);
    *size += count;
}

static void put_frame(uint8_t *to, size_t *size, uint8_t type, uint8_t flags, uint32_t stream, const void *payload,
                      size_t count)
{
    uint8_t head[9] = {(uint8_t)(count >> 16), (uint8_t)(count >> 8), (uint8_t)count, type, flags, 0, 0,
                       (uint8_t)(stream >> 8), (uint8_t)stream};
    put(to, size, head, sizeof head);
    put(to, size, payload, count);
}

static void first_frame(uint8_t type, uint8_t flags, uint32_t stream, const void *payload, size_t count)
{
    put_frame(script.first, &script.first_size, type, flags, stream, payload, count);
}

/* As often as it fits. */
static void again_frame(uint8_t type, uint8_t flags, uint32_t stream, const void *payload, size_t count)
{
    while (script.again_size + 9 + count <= sizeof script.again)
        put_frame(script.again, &script.again_size, type, flags, stream, payload, count);
}

static void again_text(const char *text)
{
    while (script.again_size + strlen(text) <= sizeof script.again)
        put(script.again, &script.again_size, text, strlen(text));
}

static void first_text(const char *text)
{
    put(script.first, &script.first_size, text, strlen(text));
}

/* :status 200, then x: 4,000 bytes, which the other side remembers; then that one again, a byte each. */
static void header_bomb(void)
{
    static uint8_t block[16000];
    static const uint8_t begin[] = {0x88, 0x40, 0x01, 'x', 0x7f, 0xa1, 0x1e}; /* 4,000 = 127 + 3,873 */
    size_t size = 0;
    put(block, &size, begin, sizeof begin);
    memset(block + size, 'v', 4000);
    size += 4000;
    memset(block + size, 0xbe, sizeof block - size); /* index 62: the newest one */
    first_frame(FRAME_HEADERS, 0, 1, block, sizeof block);
    memset(block, 0xbe, sizeof block);
    again_frame(FRAME_CONTINUATION, 0, 1, block, sizeof block);
}

static void write_http2(enum live_hostility kind)
{
    static const uint8_t zero[16384], ok[] = {0x88}, go_on[] = {0x08, 0x03, '1', '0', '0'};
    static const uint8_t one[] = {0, 0, 0, 1}, no_streams[] = {0, 3, 0, 0, 0, 0};
    bool silent = kind == HOSTILE_NO_STREAMS;
    first_frame(FRAME_SETTINGS, 0, 0, no_streams, silent ? sizeof no_streams : 0);
    if (kind == HOSTILE_DATA || kind == HOSTILE_EMPTY_DATA) first_frame(FRAME_HEADERS, END_HEADERS, 1, ok, sizeof ok);
    switch (kind) {
    case HOSTILE_PING:
    case HOSTILE_DEAF_PING: again_frame(FRAME_PING, 0, 0, zero, 8); break;
    case HOSTILE_PING_ACK: again_frame(FRAME_PING, ACK, 0, zero, 8); break;
    case HOSTILE_SETTINGS: again_frame(FRAME_SETTINGS, 0, 0, zero, 0); break;
    case HOSTILE_DATA: again_frame(FRAME_DATA, 0, 1, zero, sizeof zero); break;
    case HOSTILE_EMPTY_DATA: again_frame(FRAME_DATA, 0, 1, zero, 0); break;
    case HOSTILE_CONTINUATION:
        first_frame(FRAME_HEADERS, 0, 1, ok, sizeof ok);
        again_frame(FRAME_CONTINUATION, 0, 1, zero, 0);
        break;
    case HOSTILE_WINDOW_UPDATE: again_frame(FRAME_WINDOW_UPDATE, 0, 0, one, sizeof one); break;
    case HOSTILE_PRIORITY: again_frame(FRAME_PRIORITY, 0, 1, zero, 5); break;
    case HOSTILE_UNKNOWN_FRAME: again_frame(FRAME_UNKNOWN, 0, 0, zero, 0); break;
    case HOSTILE_INTERIM_HEADERS: again_frame(FRAME_HEADERS, END_HEADERS, 1, go_on, sizeof go_on); break;
    case HOSTILE_HEADER_BOMB: header_bomb(); break;
    default: break;
    }
    if (kind == HOSTILE_DEAF_PING) script.again_size = 300 * 17;
}

static void write_http1(enum live_hostility kind)
{
    if (kind == HOSTILE_INTERIM) {
        again_text("HTTP/1.1 100 Continue\r\n\r\n");
        return;
    }
    first_text("HTTP/1.1 200 OK\r\n");
    if (kind == HOSTILE_BODY) first_text("Transfer-Encoding: chunked\r\n\r\n");
    again_text(kind == HOSTILE_BODY ? "5\r\nhello\r\n" : kind == HOSTILE_TRICKLE ? "a" : "X-More: of it\r\n");
    if (kind == HOSTILE_TRICKLE) script.again_size = 1;
}

static void drain(int fd)
{
    static char bytes[65536];
    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
}

static void serve_one(int fd, enum live_hostility kind)
{
    struct pollfd p = {fd, POLLIN, 0};
    poll(&p, 1, -1); /* until it is asked for something */
    if (kind != HOSTILE_DEAF_PING) drain(fd);
    if (send(fd, script.first, script.first_size, MSG_NOSIGNAL) < 0) return;
    if (kind == HOSTILE_NO_STREAMS)
        while (poll(&p, 1, -1) > 0 && !(p.revents & (POLLHUP | POLLERR | POLLRDHUP))) drain(fd);
    while (send(fd, script.again, script.again_size, MSG_NOSIGNAL) > 0) {
        if (kind != HOSTILE_DEAF_PING) drain(fd);
        if (kind == HOSTILE_DEAF_PING || kind == HOSTILE_TRICKLE) usleep(200);
    }
}

static void serve(int listener, enum live_hostility kind)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    if (live_hostile_is_http2(kind))
        write_http2(kind);
    else
        write_http1(kind);
    for (;;) {
        int fd = accept(listener, NULL, NULL), on = 1;
        if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (fd >= 0 && fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve_one(fd, kind);
            _exit(0);
        }
        close(fd);
    }
}

void live_hostile_open(live_front *f, enum live_hostility kind)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    assert_true(listener >= 0);
    if (kind == HOSTILE_DEAF_PING) setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_true(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 500) == 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &size), 0);
    *f = (live_front){.port = ntohs(a.sin_port), .process = fork()};
    assert_true(f->process >= 0);
    if (f->process == 0) serve(listener, kind);
    close(listener);
}
