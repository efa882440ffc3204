/* http1_whole.c — the response that nearly always comes: whole, HTTP/1.1, with a length, on a connection that stays.
 *
 * Whatever is not entirely plain is left to llhttp: nothing is decided here but what it would decide, and fuzz_http1
 * compares the two (a response in pieces always goes to llhttp). It takes less than half of llhttp's time (bench_live):
 * most bytes are in the values of headers, and those are looked at eight at a time, only for where they end. */
#include "load/live/http1_parse.h"

#include <string.h>
#include <strings.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether one of eight bytes is no printable ASCII. A borrow may reach the byte above one that is found: never below,
 * so the answer is exact. */
static bool has_control(uint64_t word)
{
    uint64_t low = (word - EACH(0x20)) & ~word, del = word ^ EACH(0x7f);
    uint64_t is_del = (del - EACH(1)) & ~del;
    return ((low | is_del | word) & EACH(0x80)) != 0;
}

/* Where a line ends: at its CR, which LF follows; NULL: it does not, or there is something else in it. */
static const char *line_end(const char *at, const char *end)
{
    uint64_t word;
    while (end - at >= 8) {
        memcpy(&word, at, 8);
        if (has_control(word)) break;
        at += 8;
    }
    while (at < end && *at >= 0x20 && *at < 0x7f) at++;
    return end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? at : NULL;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || (c >= '0' && c <= '9');
}

struct whole {
    uint64_t length;
    uint32_t headers;
    bool has_length;
};

static bool read_length(struct whole *w, const char *value, size_t size)
{
    if (w->has_length || size == 0 || size > 9) return false;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9') return false;
        w->length = w->length * 10 + (uint64_t)(value[i] - '0');
    }
    w->has_length = true;
    return true;
}

/* Headers that mean something to the connection. Others, by their length alone, do not. */
static bool read_header(struct whole *w, const char *name, size_t name_size, const char *value, size_t size)
{
    switch (name_size) {
    case 7: return strncasecmp(name, "upgrade", 7) != 0;
    case 10:
        return strncasecmp(name, "connection", 10) != 0 || (size == 10 && strncasecmp(value, "keep-alive", 10) == 0);
    case 14: return strncasecmp(name, "content-length", 14) != 0 || read_length(w, value, size);
    case 16: return strncasecmp(name, "proxy-connection", 16) != 0;
    case 17: return strncasecmp(name, "transfer-encoding", 17) != 0;
    default: return true;
    }
}

/* All headers: where the body begins; NULL: something is not plain. */
static const char *read_headers(struct whole *w, const char *at, const char *end)
{
    while (end - at >= 2 && !(at[0] == '\r' && at[1] == '\n')) {
        const char *name = at;
        while (at < end && is_name(*at)) at++;
        size_t name_size = (size_t)(at - name);
        if (name_size == 0 || end - at < 2 || *at != ':' || ++w->headers > RAD__LOAD_HEADERS_MAX) return NULL;
        const char *value = at + 1;
        if (*value == ' ') value++;
        at = line_end(value, end);
        if (at == NULL || !read_header(w, name, name_size, value, (size_t)(at - value))) return NULL;
        at += 2;
    }
    return end - at >= 2 ? at + 2 : NULL;
}

/* "HTTP/1.1 200 OK": the status; 0: not plain, or one that has no body. */
static uint32_t read_status(const char *data, size_t size)
{
    static const char begin[] = "HTTP/1.1 ";
    enum { DIGITS = sizeof begin - 1 };
    if (size < DIGITS + 4 || memcmp(data, begin, DIGITS) != 0 || data[DIGITS + 3] != ' ') return 0;
    uint32_t status = 0;
    for (int i = 0; i < 3; i++) {
        char c = data[DIGITS + i];
        if (c < '0' || c > '9') return 0;
        status = status * 10 + (uint32_t)(c - '0');
    }
    return status < 200 || status == 204 || status == 304 ? 0 : status;
}

bool rad__load_http1_whole(rad__load_http1 *h, const char *data, size_t size, size_t *used)
{
    struct whole w = {0};
    const char *end = data + size;
    uint32_t status = read_status(data, size);
    const char *line = status ? line_end(data, end) : NULL;
    const char *body = line ? read_headers(&w, line + 2, end) : NULL;
    if (body == NULL || !w.has_length || w.length > (uint64_t)(end - body) || w.length > h->shared->max_body_bytes ||
        (size_t)(body - data) > h->shared->max_header_bytes)
        return false;
    rad__load_answer *a = &h->answer;
    a->status = (uint16_t)status;
    a->header_bytes = (uint32_t)(body - data);
    a->header_count = (uint16_t)w.headers;
    h->complete = h->keeps_alive = true;
    *used = (size_t)(body - data) + (size_t)w.length;
    bool taken = rad__load_answer_body(h->shared, a, body, (size_t)w.length);
    RAD_ASSERT(taken); /* within the limit, and nothing is kept */
    rad__load_answer_end(h->shared, a);
    return true;
}
