#include "base/bytes.h"

#include "base/alloc.h"

#include <string.h>

static uint8_t *bytes_room(rad_bytes *b, size_t size)
{
    if (b->failed || size > UINT32_MAX / 2 - b->size || !RAD_GROW(&b->data, &b->capacity, b->size + (uint32_t)size)) {
        b->failed = true;
        return NULL;
    }
    return b->data + b->size;
}

void rad__bytes_put(rad_bytes *b, const void *data, size_t size)
{
    if (size == 0) return; /* there may be no data yet */
    uint8_t *room = bytes_room(b, size);
    if (room == NULL) return;
    memcpy(room, data, size);
    b->size += (uint32_t)size;
}

void rad__bytes_put_varint(rad_bytes *b, uint64_t value)
{
    uint8_t *room = bytes_room(b, RAD_VARINT_MAX);
    if (room != NULL) b->size += (uint32_t)(rad__varint_write(room, value) - room);
}

typedef struct bytes_sink {
    rad_sink sink;
    rad_bytes *to;
} bytes_sink;

static void bytes_sink_put(rad_sink *sink, const char *text, size_t size)
{
    rad__bytes_put(((bytes_sink *)sink)->to, text, size);
}

void rad__bytes_format(rad_bytes *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rad__bytes_format_list(b, format, args);
    va_end(args);
}

void rad__bytes_format_list(rad_bytes *b, const char *format, va_list args)
{
    bytes_sink s = {.sink = {.put = bytes_sink_put}, .to = b};
    rad__readable_format(&s.sink, format, args);
    uint8_t *end = bytes_room(b, 1);
    if (end != NULL) *end = 0; /* stays outside */
}

void rad__bytes_put_readable(rad_bytes *b, const char *text, size_t size, enum rad_readable how)
{
    bytes_sink s = {.sink = {.put = bytes_sink_put}, .to = b};
    rad__readable_put(&s.sink, text, size, how);
}

void rad__bytes_free(rad_bytes *b)
{
    rad__free(b->data);
    *b = (rad_bytes){0};
}

uint64_t rad__read_varint(rad_reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end) break;
        uint8_t byte = *r->at++;
        if (shift == 63 && byte > 1) break; /* more than 64 bits */
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    r->failed = true;
    return 0;
}

const void *rad__read_bytes(rad_reader *r, size_t size)
{
    if (r->failed || (size_t)(r->end - r->at) < size) {
        r->failed = true;
        return NULL;
    }
    const void *at = r->at;
    r->at += size;
    return at;
}
