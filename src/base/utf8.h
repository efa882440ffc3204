/* utf8.h — whether bytes from outside are UTF-8. */
#ifndef RAD_BASE_UTF8_H
#define RAD_BASE_UTF8_H

#include "base/check.h"

/* How many bytes the character at `text` has, of which `left` > 0 are there; 0 when it is none: cut short, longer than
 * it need be, half of a surrogate pair, or beyond U+10FFFF. The ranges are those of the Unicode standard, table 3-7. */
static inline size_t rad__utf8_size(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char lead = at[0], low = 0x80, high = 0xbf;
    if (RAD_LIKELY(lead < 0x80)) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    if (left < size || at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return size;
}

/* The code of a character of `size` bytes. */
static inline uint32_t rad__utf8_code(const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t code = size == 1 ? at[0] : at[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) code = code << 6 | (at[i] & 0x3f);
    return code;
}

#endif
