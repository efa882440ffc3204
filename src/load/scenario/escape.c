/* escape.c — see escape.h. */
#include "load/scenario/escape.h"

#include "base/json_pull.h"
#include "base/utf8.h"

#include <stdio.h>

bool rad__load_fits_path(uint8_t c)
{
    return c > 0x20 && c < 0x7f && c != '#' && c != '"' && c != '<' && c != '>' && c != '\\';
}

bool rad__load_fits_header(uint8_t c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t';
}

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

static void put_coded(rad_bytes *to, uint8_t c)
{
    static const char digits[] = "0123456789ABCDEF";
    char coded[] = {'%', digits[c >> 4], digits[c & 15]};
    rad__bytes_put(to, coded, sizeof coded);
}

/* After it was escaped. */
static void put_byte(rad_bytes *to, enum rad__load_place place, uint8_t c)
{
    if (place == RAD__LOAD_IN_PATH && !rad__load_fits_path(c))
        put_coded(to, c);
    else
        rad__bytes_put(to, &c, 1);
}

static bool is_plain(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
}

/* All but what is a delimiter nowhere (RFC 3986): a slash would begin another segment of a path, & and + would have a
 * meaning in a query. */
static void put_url(rad_bytes *to, uint8_t c)
{
    if (is_plain(c) || c == '~')
        rad__bytes_put(to, &c, 1);
    else
        put_coded(to, c);
}

/* As browsers do it. */
static void put_form(rad_bytes *to, uint8_t c)
{
    if (is_plain(c) || c == '*')
        rad__bytes_put(to, &c, 1);
    else if (c == ' ')
        rad__bytes_put(to, "+", 1);
    else
        put_coded(to, c);
}

static void put_json(rad_bytes *to, enum rad__load_place place, uint8_t c)
{
    char coded[8];
    int size;
    if (c == '"' || c == '\\')
        size = snprintf(coded, sizeof coded, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
        size = snprintf(coded, sizeof coded, "\\u%04x", c);
    else
        size = snprintf(coded, sizeof coded, "%c", c);
    for (int i = 0; i < size; i++) put_byte(to, place, (uint8_t)coded[i]);
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

static bool is_utf8(const char *data, size_t size)
{
    for (size_t i = 0, n; i < size; i += n)
        if ((n = rad__utf8_size(data + i, size - i)) == 0) return false;
    return true;
}

static bool is_json(const void *data, size_t size)
{
    rad_json_value value;
    return rad__json_at(data, size, "", 0, &value, NULL) == 0;
}

static bool fits_header(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!rad__load_fits_header(bytes[i])) return false;
    return true;
}

static void put_raw(rad_bytes *to, enum rad__load_place place, const uint8_t *bytes, size_t size)
{
    if (place != RAD__LOAD_IN_PATH) rad__bytes_put(to, bytes, size);
    for (size_t i = 0; i < size && place == RAD__LOAD_IN_PATH; i++) put_byte(to, place, bytes[i]);
}

bool rad__load_put_escaped(rad_bytes *to, enum rad__load_place place, enum rad__load_escape escape, const void *data,
                           size_t size)
{
    const uint8_t *bytes = data;
    bool fits = true;
    switch (escape) {
    case RAD__LOAD_ESCAPE_URL:
        for (size_t i = 0; i < size; i++) put_url(to, bytes[i]);
        break;
    case RAD__LOAD_ESCAPE_FORM:
        for (size_t i = 0; i < size; i++) put_form(to, bytes[i]);
        break;
    case RAD__LOAD_ESCAPE_JSON:
        fits = is_utf8(data, size);
        for (size_t i = 0; i < size && fits; i++) put_json(to, place, bytes[i]);
        break;
    case RAD__LOAD_ESCAPE_JSON_VALUE:
        fits = is_json(data, size);
        if (fits) put_raw(to, place, bytes, size);
        break;
    case RAD__LOAD_ESCAPE_BY_PLACE:
    case RAD__LOAD_ESCAPE_RAW:
        fits = place != RAD__LOAD_IN_HEADER || fits_header(bytes, size);
        if (fits) put_raw(to, place, bytes, size);
        break;
    }
    return fits;
}
