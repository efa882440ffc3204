#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_front.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One process for each connection, one connection for each process: globals will do. */
static struct {
    int fd;
    bool closing;
    char paths[1000][60]; /* by stream */
    size_t total[1000], left[1000], came[1000];
} here;

enum { WINDOW = 16 << 20 };

static size_t slot(int32_t id)
{
    return (size_t)id / 2 % 1000;
}

static ssize_t give(nghttp2_session *s, int32_t id, uint8_t *to, size_t size, uint32_t *flags,
                    nghttp2_data_source *source, void *context)
{
    size_t *left = &here.left[slot(id)], n = *left < size ? *left : size;
    (void)source;
    (void)context;
    if (strcmp(here.paths[slot(id)], "/partial") == 0 && *left < 100000)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* the stream is reset */
    for (size_t i = 0; i < n; i++)                    /* every byte depends on where it is */
        to[i] = (uint8_t)('a' + (here.total[slot(id)] - *left + i) % 23);
    *left -= n;
    if (*left > 0) return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (strcmp(here.paths[slot(id)], "/trailers") == 0) {
        nghttp2_nv trailer = {(uint8_t *)"x-after", (uint8_t *)"all", 7, 3, 0};
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(s, id, &trailer, 1);
    }
    return (ssize_t)n;
}

static void respond(nghttp2_session *s, int32_t id, const char *status, size_t size)
{
    nghttp2_nv fields[] = {{(uint8_t *)":status", (uint8_t *)status, 7, 3, 0},
                           {(uint8_t *)"x-kind", (uint8_t *)"test", 6, 4, 0}};
    nghttp2_data_provider provider = {.read_callback = give};
    here.left[slot(id)] = here.total[slot(id)] = size;
    nghttp2_submit_response(s, id, fields, 2, size ? &provider : NULL);
}

static void answer(nghttp2_session *s, int32_t id)
{
    const char *path = here.paths[slot(id)];
    static const uint8_t garbage[] = "this is not a frame at all, and it goes on";
    if (strcmp(path, "/refuse") == 0) {
        nghttp2_submit_rst_stream(s, 0, id, NGHTTP2_REFUSED_STREAM);
    } else if (strcmp(path, "/reset") == 0) {
        nghttp2_submit_rst_stream(s, 0, id, NGHTTP2_INTERNAL_ERROR);
    } else if (strcmp(path, "/goaway") == 0) {
        nghttp2_submit_goaway(s, 0, id - 2, NGHTTP2_NO_ERROR, NULL, 0); /* not this one any more */
    } else if (strcmp(path, "/last") == 0) {
        nghttp2_submit_goaway(s, 0, id, NGHTTP2_NO_ERROR, NULL, 0);
        respond(s, id, "200", 5);
    } else if (strcmp(path, "/close") == 0) {
        here.closing = true;
    } else if (strcmp(path, "/garbage") == 0) {
        (void)!write(here.fd, garbage, sizeof garbage);
    } else if (strcmp(path, "/interim") == 0) {
        nghttp2_nv early = {(uint8_t *)":status", (uint8_t *)"103", 7, 3, 0};
        nghttp2_submit_headers(s, 0, id, NULL, &early, 1, NULL);
        respond(s, id, "404", 3);
    } else if (strcmp(path, "/echo") == 0 || strcmp(path, "/lazy") == 0) {
        respond(s, id, "200", here.came[slot(id)]);
    } else if (strcmp(path, "/partial") == 0) {
        respond(s, id, "200", 100000);
    } else if (strcmp(path, "/trailers") == 0) {
        respond(s, id, "200", 7);
    } else if (strcmp(path, "/stall") != 0) {
        respond(s, id, "200", strtoul(path + 1, NULL, 10));
    }
}

static int on_header(nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t size, uint8_t flags, void *context)
{
    (void)s;
    (void)flags;
    (void)context;
    if (size == 5 && memcmp(value, "/lazy", 5) == 0) usleep(100000); /* nothing is read meanwhile */
    if (name_size == 5 && memcmp(name, ":path", 5) == 0 && size < 60)
        snprintf(here.paths[slot(frame->hd.stream_id)], 60, "%.*s", (int)size, (const char *)value);
    return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *data, size_t size, void *context)
{
    (void)s;
    (void)flags;
    (void)data;
    (void)context;
    here.came[slot(id)] += size;
    return 0;
}

static int on_frame(nghttp2_session *s, const nghttp2_frame *frame, void *context)
{
    (void)context;
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        answer(s, frame->hd.stream_id);
    return 0;
}

static void serve_one(void)
{
    static uint8_t bytes[65536];
    nghttp2_session_callbacks *c;
    nghttp2_session *s;
    nghttp2_session_callbacks_new(&c);
    nghttp2_session_callbacks_set_on_header_callback(c, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
    nghttp2_session_server_new(&s, c, NULL);
    nghttp2_settings_entry wide = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW};
    nghttp2_submit_settings(s, 0, &wide, 1);
    nghttp2_session_set_local_window_size(s, 0, 0, WINDOW); /* bodies come as fast as they can */
    while (!here.closing) {
        const uint8_t *data;
        ssize_t size;
        while ((size = nghttp2_session_mem_send(s, &data)) > 0)
            for (ssize_t put = 0, n; put < size; put += n)
                if ((n = send(here.fd, data + put, (size_t)(size - put), MSG_NOSIGNAL)) <= 0) return;
        ssize_t got = read(here.fd, bytes, sizeof bytes);
        if (got <= 0 || nghttp2_session_mem_recv(s, bytes, (size_t)got) < 0) return;
    }
}

static void serve(int listener)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        here.fd = accept(listener, NULL, NULL);
        int on = 1;
        if (here.fd >= 0) setsockopt(here.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (here.fd >= 0 && fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve_one();
            _exit(0);
        }
        close(here.fd);
    }
}

void live_front_http2(live_front *f)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0 && bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 500) == 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &size), 0);
    *f = (live_front){.port = ntohs(a.sin_port), .process = fork()};
    assert_true(f->process >= 0);
    if (f->process == 0) serve(listener);
    close(listener);
}
