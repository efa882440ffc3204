#include "base/escape.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

static void put_escape(rad_bytes *to, uint32_t code)
{
    char text[16];
    int size = code < 0x10000 ? snprintf(text, sizeof text, "\\u%04" PRIx32, code)
                              : snprintf(text, sizeof text, "\\u%04" PRIx32 "\\u%04" PRIx32,
                                         0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    rad__bytes_put(to, text, (size_t)size);
}

/* The character at `text` inside a string, unless it is plain; returns its size. */
static size_t put_character(rad_bytes *to, const char *text, size_t left, enum rad_json_letters letters)
{
    size_t size = rad__utf8_size(text, left);
    uint32_t code = size > 0 ? rad__utf8_code(text, size) : 0xfffd;
    if (size == 0 || rad__is_unseen(code) || (letters == RAD_JSON_ASCII && code >= 0x80))
        put_escape(to, code);
    else
        rad__bytes_put(to, text, size);
    return size > 0 ? size : 1;
}

void rad__put_json_string(rad_bytes *to, const char *text, size_t size, enum rad_json_letters letters)
{
    rad__bytes_put(to, "\"", 1);
    for (size_t at = 0; at < size;) {
        if (text[at] == '"' || text[at] == '\\') rad__bytes_put(to, "\\", 1);
        at += put_character(to, text + at, size - at, letters);
    }
    rad__bytes_put(to, "\"", 1);
}

void rad__put_json_document(rad_bytes *to, const char *text, size_t size, enum rad_json_letters letters)
{
    for (size_t at = 0; at < size;) {
        size_t plain = at;
        while (plain < size && (unsigned char)text[plain] < 0x7f) plain++;
        rad__bytes_put(to, text + at, plain - at);
        at = plain;
        if (at < size) at += put_character(to, text + at, size - at, letters); /* only strings have such */
    }
}

void rad__put_xml_text(rad_bytes *to, const char *text, size_t size, enum rad_readable how)
{
    for (size_t at = 0; at < size;) {
        char shown[RAD_CHARACTER_MAX];
        size_t shown_size;
        const char *as = text[at] == '&'    ? "&amp;"
                         : text[at] == '<'  ? "&lt;"
                         : text[at] == '>'  ? "&gt;"
                         : text[at] == '"'  ? "&quot;"
                         : text[at] == '\'' ? "&#39;"
                                            : NULL;
        at += rad__readable_character(text + at, size - at, how, shown, &shown_size);
        rad__bytes_put(to, as != NULL ? as : shown, as != NULL ? strlen(as) : shown_size);
    }
}
