/* paths.c — paths that do something special. What goes wrong on the web, one path each.
 *
 *     /status/503  /bytes/1000  /slow/200 (ms)  /echo  /head  /json  /cookie  /chunked  /until-close  /close  /continue
 *     /empty  /reset  /reset-late  /stall  /garbage  /endless-headers  /wrong-length  /slow-body  /close-mid-chunk
 *     /bad-chunk  /bad-header  /old-version  /twice */
#include "load/serve/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define OK "HTTP/1.1 200 OK\r\n"

void rad__serve_plain(rad_bytes *to, uint32_t status, const char *headers, const void *body, uint32_t size)
{
    rad__bytes_format(to, "HTTP/1.1 %u %s\r\n", status, status < 400 ? "OK" : "Error");
    rad__bytes_put(to, headers, strlen(headers));
    rad__bytes_format(to, "Content-Length: %u\r\n\r\n", size);
    rad__bytes_put(to, body, size);
}

const char *rad__serve_header(const serve_request *r, const char *name, uint32_t *size)
{
    const char *line = r->head, *end = r->head + r->head_size;
    size_t length = strlen(name);
    while ((line = memchr(line, '\n', (size_t)(end - line))) != NULL && ++line < end) {
        if ((size_t)(end - line) <= length || line[length] != ':' || strncasecmp(line, name, length) != 0) continue;
        const char *value = line + length + 1, *stop = memchr(value, '\r', (size_t)(end - value));
        while (value < end && *value == ' ') value++;
        *size = (uint32_t)((stop && stop > value ? stop : value) - value);
        return value;
    }
    return NULL;
}

/* Whatever is asked of it after a question mark. */
static bool path_is(const serve_request *r, const char *path)
{
    const char *query = memchr(r->path, '?', r->path_size);
    size_t size = query != NULL ? (size_t)(query - r->path) : r->path_size;
    return size == strlen(path) && memcmp(r->path, path, size) == 0;
}

/* "/name/123" */
static bool path_number(const serve_request *r, const char *begins, uint32_t *number)
{
    size_t length = strlen(begins);
    if (r->path_size <= length || memcmp(r->path, begins, length) != 0) return false;
    *number = 0;
    for (size_t i = length; i < r->path_size; i++) {
        if (r->path[i] < '0' || r->path[i] > '9' || *number > 100000000) return false;
        *number = *number * 10 + (uint32_t)(r->path[i] - '0');
    }
    return true;
}

static bool serve_numbered(const serve_request *r, serve_answer *a)
{
    uint32_t n;
    if (path_number(r, "/status/", &n) && n >= 200 && n < 1000) {
        rad__serve_plain(a->to, n, "", "", 0);
    } else if (path_number(r, "/bytes/", &n)) {
        rad__bytes_format(a->to, OK "Content-Length: %u\r\n\r\n", n);
        static const char some[1000] = {'x'};
        for (uint32_t left = n; left > 0; left -= left < sizeof some ? left : sizeof some)
            rad__bytes_put(a->to, some, left < sizeof some ? left : sizeof some);
    } else if (path_number(r, "/slow/", &n)) {
        rad__serve_plain(a->to, 200, "", "slow", 4);
        a->delay_ns = (uint64_t)n * 1000000;
    } else {
        return false;
    }
    return true;
}

static void serve_cookie(const serve_request *r, serve_answer *a)
{
    uint32_t size = 0;
    const char *had = rad__serve_header(r, "cookie", &size);
    char headers[100];
    snprintf(headers, sizeof headers, "Set-Cookie: session=s%llu; Path=/\r\n", (unsigned long long)r->number);
    rad__serve_plain(a->to, 200, headers, had ? had : "", size);
}

static void serve_json(const serve_request *r, serve_answer *a)
{
    char body[200];
    int size = snprintf(body, sizeof body, "{\"token\": \"t%llu\", \"list\": [10, {\"deep\": \"yes\"}], \"ok\": true}",
                        (unsigned long long)r->number);
    rad__serve_plain(a->to, 200, "Content-Type: application/json\r\n", body, (uint32_t)size);
}

/* Answers that are in order. */
static bool serve_useful(const serve_request *r, serve_answer *a)
{
    if (path_is(r, "/echo")) {
        rad__serve_plain(a->to, 200, "", r->body, r->body_size);
    } else if (path_is(r, "/head")) {
        rad__serve_plain(a->to, 200, "", r->head, r->head_size);
    } else if (path_is(r, "/json")) {
        serve_json(r, a);
    } else if (path_is(r, "/cookie")) {
        serve_cookie(r, a);
    } else if (path_is(r, "/chunked")) {
        rad__bytes_format(a->to, OK "Transfer-Encoding: chunked\r\n\r\n"
                                    "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    } else if (path_is(r, "/until-close")) {
        rad__bytes_format(a->to, OK "\r\nuntil the end");
        a->then = SERVE_CLOSES;
    } else if (path_is(r, "/close")) {
        rad__serve_plain(a->to, 200, "Connection: close\r\n", "bye", 3);
        a->then = SERVE_CLOSES;
    } else if (path_is(r, "/continue")) {
        rad__bytes_format(a->to, "HTTP/1.1 100 Continue\r\n\r\n");
        rad__serve_plain(a->to, 200, "", "went on", 7);
    } else if (path_is(r, "/slow-body")) {
        rad__serve_plain(a->to, 200, "", "0123456789", 10);
        a->piece = 5;
        a->piece_ns = 2000000;
    } else {
        return false;
    }
    return true;
}

static const struct {
    const char *path, *text;
    enum serve_then then;
    const char *again;
} wrong[] = {
    {"/empty", "", SERVE_CLOSES, NULL},
    {"/reset", "", SERVE_RESETS, NULL},
    {"/reset-late", OK "Content-Length: 100\r\n\r\nhalf", SERVE_RESETS, NULL},
    {"/stall", "", SERVE_STALLS, NULL},
    {"/garbage", "\x16\x03\x01 what is this?\r\n\r\n", SERVE_GOES_ON, NULL},
    {"/endless-headers", OK, SERVE_REPEATS, "X-More: and more and more\r\n"},
    {"/endless-body", OK "\r\n", SERVE_REPEATS, "for ever and ever and ever and ever"},
    {"/wrong-length", OK "Content-Length: 100\r\n\r\nshort", SERVE_CLOSES, NULL},
    {"/close-mid-chunk", OK "Transfer-Encoding: chunked\r\n\r\n64\r\nonly this", SERVE_CLOSES, NULL},
    {"/bad-chunk", OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n", SERVE_GOES_ON, NULL},
    {"/bad-header", OK "No colon here\r\n\r\n", SERVE_GOES_ON, NULL},
    {"/old-version", "HTTP/3.9 200 OK\r\n\r\n", SERVE_GOES_ON, NULL},
    {"/twice", OK "Content-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n", SERVE_GOES_ON, NULL},
};

bool rad__serve_special(const serve_request *r, serve_answer *a, bool misbehave)
{
    if (serve_numbered(r, a) || serve_useful(r, a)) return true;
    for (size_t i = 0; misbehave && i < sizeof wrong / sizeof *wrong; i++) {
        if (!path_is(r, wrong[i].path)) continue;
        rad__bytes_put(a->to, wrong[i].text, strlen(wrong[i].text));
        a->then = wrong[i].then;
        a->again = wrong[i].again;
        return true;
    }
    return false;
}
