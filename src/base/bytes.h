/* bytes.h — a growing byte buffer, and a reader that never reads past its end.
 * Integers are LEB128 varints: seven bits a byte, low ones first. */
#ifndef RAD_BASE_BYTES_H
#define RAD_BASE_BYTES_H

#include "base/readable.h"

typedef struct rad_bytes {
    uint8_t *data;
    uint32_t size;
    uint32_t capacity;
    bool failed; /* memory ran out; sticky */
} rad_bytes;

enum { RAD_VARINT_MAX = 10 }; /* bytes */

/* The end of what was written at `to`, which has room for it. */
static inline uint8_t *rad__varint_write(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

RAD_INTERNAL void rad__bytes_put(rad_bytes *b, const void *data, size_t size);
RAD_INTERNAL void rad__bytes_put_varint(rad_bytes *b, uint64_t value);
/* Text for people: what %s prints passes the gate of readable.h, one name at a time. rad__bytes_put is for bytes. */
RAD_INTERNAL void rad__bytes_format(rad_bytes *b, const char *format, ...) RAD_PRINTF(2, 3);
RAD_INTERNAL void rad__bytes_format_list(rad_bytes *b, const char *format, va_list args) RAD_PRINTF(2, 0);
RAD_INTERNAL void rad__bytes_put_readable(rad_bytes *b, const char *text, size_t size, enum rad_readable how);
RAD_INTERNAL void rad__bytes_free(rad_bytes *b);

typedef struct rad_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool failed; /* ran past the end or a varint was too long; sticky */
} rad_reader;

static inline rad_reader rad__reader(const void *data, size_t size)
{
    return (rad_reader){data, (const uint8_t *)data + size, false};
}

RAD_INTERNAL uint64_t rad__read_varint(rad_reader *r);

/* The same, inline for those of one byte and for those of up to four that are not the last. */
static inline uint64_t rad__read_short_varint(rad_reader *r)
{
    const uint8_t *at = r->at;
    if (RAD_LIKELY(at < r->end && *at < 0x80)) {
        r->at++;
        return *at;
    }
    if (RAD_LIKELY(r->end - at >= 4)) {
        uint32_t low = at[0] & 0x7fu;
        if (at[1] < 0x80) {
            r->at += 2;
            return low | (uint32_t)at[1] << 7;
        }
        low |= (at[1] & 0x7fu) << 7;
        if (at[2] < 0x80) {
            r->at += 3;
            return low | (uint32_t)at[2] << 14;
        }
        if (at[3] < 0x80) {
            r->at += 4;
            return low | (at[2] & 0x7fu) << 14 | (uint32_t)at[3] << 21;
        }
    }
    return rad__read_varint(r);
}
RAD_INTERNAL const void *rad__read_bytes(rad_reader *r, size_t size); /* NULL when short */

#endif
