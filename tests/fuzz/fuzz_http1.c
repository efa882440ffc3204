/* fuzz_http1.c — any bytes as an HTTP/1.1 response. The first byte says what the request was and what is kept, the
 * second how the rest is cut into pieces. However it is cut, the result is the same as from one piece. */
#include "base/alloc.h"
#include "base/prng.h"
#include "load/live/http1_parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static rad__load_answers shared = {.max_header_bytes = 300, .max_body_bytes = 200};

/* A piece alone in its memory: reading past it, or after it is gone, is seen by the sanitizer. */
static enum rad__load_http1_state feed_piece(rad__load_http1 *h, const uint8_t *data, size_t size, size_t *used)
{
    uint8_t *piece = rad__alloc(1, size);
    require(piece != NULL);
    memcpy(piece, data, size);
    enum rad__load_http1_state state = rad__load_http1_feed(h, piece, size, used);
    require(*used <= size && (state == RAD__LOAD_HTTP1_DONE || *used == size || state == RAD__LOAD_HTTP1_FAULT));
    rad__free(piece);
    return state;
}

static size_t read_all(rad__load_http1 *h, uint8_t what, const uint8_t *data, size_t size, uint64_t cuts)
{
    rad_prng random = rad__prng(cuts, RAD_STREAM_TEST, 0);
    enum rad__load_http1_state state = RAD__LOAD_HTTP1_MORE;
    size_t at = 0;
    memset(h, 0, sizeof *h);
    rad__load_http1_begin(h, &shared, what & 3, what & 4);
    while (at < size && state == RAD__LOAD_HTTP1_MORE) {
        size_t used, left = size - at;
        size_t piece = cuts == 0 ? left : (size_t)rad__prng_below(&random, 1 + cuts % 40) + 1;
        state = feed_piece(h, data + at, piece < left ? piece : left, &used);
        at += used;
    }
    if (state == RAD__LOAD_HTTP1_MORE) state = rad__load_http1_finish(h);
    require((state == RAD__LOAD_HTTP1_FAULT) == (h->answer.fault != RAD__LOAD_OK));
    require(h->answer.fault == RAD__LOAD_OK || h->answer.fault != RAD__LOAD_NO_DESCRIPTORS);
    return at;
}

static bool same_bytes(const rad_bytes *a, const rad_bytes *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void compare(const rad__load_http1 *a, const rad__load_http1 *b)
{
    require(a->answer.fault == b->answer.fault);
    if (a->answer.fault != RAD__LOAD_OK) return;
    require(a->answer.status == b->answer.status && a->keeps_alive == b->keeps_alive);
    require(a->answer.header_bytes == b->answer.header_bytes);
    require(a->answer.header_count == b->answer.header_count);
    require(a->answer.body_bytes == b->answer.body_bytes);
    require(a->answer.body_hash == b->answer.body_hash);
    if (a->answer.kept == NULL || b->answer.kept == NULL) {
        require(a->answer.kept == b->answer.kept);
        return;
    }
    require(same_bytes(&a->answer.kept->headers, &b->answer.kept->headers));
    require(same_bytes(&a->answer.kept->body, &b->answer.kept->body));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    rad__load_http1 whole, cut;
    size_t end = read_all(&whole, data[0], data + 2, size - 2, 0);
    for (uint64_t cuts = 0; cuts < 3; cuts++) {
        /* 1: byte by byte; then two others */
        size_t other = read_all(&cut, data[0], data + 2, size - 2, cuts * 40 + data[1] * 256 + 40);
        require(whole.answer.fault != RAD__LOAD_OK || end == other);
        compare(&whole, &cut);
        rad__load_answer_drop(&shared, &cut.answer);
    }
    rad__load_answer_drop(&shared, &whole.answer);
    require(shared.lent == 0);
    return 0;
}
