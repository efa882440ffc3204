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

RAD_INTERNAL void rad__bytes_put(rad_bytes *b, const void *data, size_t size);
RAD_INTERNAL void rad__bytes_put_varint(rad_bytes *b, uint64_t value);
/* Text for people: what %s prints passes the gate of readable.h, one name at a time. rad__bytes_put is for bytes. */
RAD_INTERNAL void rad__bytes_format(rad_bytes *b, const char *format, ...) RAD_PRINTF(2, 3);
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
RAD_INTERNAL const void *rad__read_bytes(rad_reader *r, size_t size); /* NULL when short */

#endif
