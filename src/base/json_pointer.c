/* json_pointer.c — the value that a JSON pointer names, in one pass over the document.
 *
 * The way to the value is a chain of arrays and objects, one in the other, of which the outermost `chosen` ones are
 * open. Only what stands directly in the innermost of them is compared with the next part of the pointer. A key that
 * comes again makes what was found before forgotten. */
#include "base/error.h"
#include "base/json_pull.h"

#include <string.h>

/* ---- Bytes of keys, and of parts of a pointer ----------------------------------------------------------- */

/* Hands out the bytes that an escaped text means, one at a time. */
typedef struct decoder {
    const char *at, *end;
    uint8_t left, bytes[4]; /* of a character that was escaped; the last of them are left */
} decoder;

enum { NO_MORE = -1 };

static uint32_t hex_unit(const char *at)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        unit = unit << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return unit;
}

/* The first of the bytes of a character; the others are left. */
static int decode_character(decoder *d, uint32_t c)
{
    if (c < 0x80) return (int)c;
    d->left = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    for (uint32_t i = 0; i < d->left; i++, c >>= 6) d->bytes[i] = (uint8_t)(0x80 | (c & 0x3f));
    return (int)((0x780u >> d->left & 0xff) | c);
}

/* Of a string that was checked before. */
static int next_of_string(decoder *d)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    if (d->left > 0) return d->bytes[--d->left];
    if (d->at == d->end) return NO_MORE;
    char c = *d->at++;
    if (c != '\\') return (unsigned char)c;
    c = *d->at++;
    const char *name = strchr(names, c);
    if (name != NULL) return values[name - names];
    if (c != 'u') return c;
    uint32_t unit = hex_unit(d->at);
    d->at += 4;
    if (unit < 0xd800 || unit > 0xdfff) return decode_character(d, unit);
    uint32_t second = hex_unit(d->at + 2);
    d->at += 6;
    return decode_character(d, 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00));
}

static int next_of_pointer(decoder *d)
{
    if (d->at == d->end) return NO_MORE;
    char c = *d->at++;
    if (c != '~') return (unsigned char)c;
    return *d->at++ == '0' ? '~' : '/';
}

void rad__json_put_text(const rad_json_value *value, rad_bytes *out)
{
    if (value->kind != RAD_JSON_STRING) {
        rad__bytes_put(out, value->text, value->length);
        return;
    }
    decoder d = {.at = value->text + 1, .end = value->text + value->length - 1};
    for (int c = next_of_string(&d); c != NO_MORE; c = next_of_string(&d)) {
        uint8_t byte = (uint8_t)c;
        rad__bytes_put(out, &byte, 1);
    }
}

/* ---- Parts --------------------------------------------------------------------------------------------- */

bool rad__json_pointer_valid(const char *pointer, size_t length)
{
    if (length > 0 && pointer[0] != '/') return false;
    for (size_t i = 0; i < length; i++)
        if (pointer[i] == '~' && (i + 1 == length || (pointer[i + 1] != '0' && pointer[i + 1] != '1'))) return false;
    return true;
}

typedef struct search {
    rad_json_pull json;
    const char *parts[RAD_JSON_DEPTH_MAX + 1]; /* each begins after its '/' and ends before the next */
    uint32_t part_count;
    uint32_t chosen;      /* open arrays and objects on the way */
    uint64_t index;       /* of the next element of the innermost, if it is an array */
    bool hit;             /* the last key is the one */
    uint32_t found_depth; /* of an array or object that is the value, while it is open; or RAD_NONE */
    rad_json_value found;
} search;

/* False when it has more parts than a document can have levels. */
static bool split(search *s, const char *pointer, size_t length)
{
    const char *end = pointer + length;
    for (const char *at = pointer; at < end; at++) {
        if (*at != '/') continue;
        if (s->part_count == RAD_JSON_DEPTH_MAX) return false;
        s->parts[s->part_count++] = at + 1;
    }
    s->parts[s->part_count] = end + 1;
    return true;
}

static decoder part_decoder(const search *s, uint32_t part)
{
    return (decoder){.at = s->parts[part], .end = s->parts[part + 1] - 1};
}

static bool is_key(const search *s, uint32_t part)
{
    decoder key = {.at = s->json.from + 1, .end = s->json.at - 1}, wanted = part_decoder(s, part);
    for (;;) {
        int a = next_of_string(&key), b = next_of_pointer(&wanted);
        if (a != b) return false;
        if (a == NO_MORE) return true;
    }
}

/* Decimal digits without a leading zero. */
static bool is_index(const search *s, uint32_t part)
{
    const char *at = s->parts[part], *end = s->parts[part + 1] - 1;
    uint64_t number = 0;
    if (at == end || (*at == '0' && end - at > 1)) return false;
    for (; at < end; at++)
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    return number == s->index;
}

/* ---- The pass ------------------------------------------------------------------------------------------ */

/* Whether a value that begins now is on the way; `depth` is how many arrays and objects it stands in. */
static bool is_on_the_way(search *s, uint32_t depth, bool in_array)
{
    if (s->found_depth != RAD_NONE || depth != s->chosen) return false;
    if (depth == 0) return true;
    if (!in_array) return s->hit;
    bool hit = is_index(s, depth - 1);
    s->index += s->index < UINT64_MAX;
    return hit;
}

static void begin_value(search *s, enum rad_json_kind kind, bool in_array)
{
    bool opens = kind == RAD_JSON_ARRAY || kind == RAD_JSON_OBJECT;
    uint32_t depth = s->json.depth - opens;
    if (!is_on_the_way(s, depth, in_array)) return;
    if (depth == s->part_count) {
        s->found = (rad_json_value){kind, s->json.from, (size_t)(s->json.at - s->json.from)};
        if (opens) s->found_depth = depth;
    } else if (opens) {
        s->chosen++;
        s->index = 0;
    }
}

static void end_value(search *s)
{
    uint32_t depth = s->json.depth;
    if (s->found_depth == depth) {
        s->found.length = (size_t)(s->json.at - s->found.text);
        s->found_depth = RAD_NONE;
    } else if (s->found_depth == RAD_NONE && s->chosen > depth) {
        s->chosen = depth;
        s->index = UINT64_MAX; /* an array has each index once: this one was it */
    }
}

static void see_key(search *s)
{
    if (s->found_depth != RAD_NONE || s->json.depth != s->chosen) return;
    s->hit = is_key(s, s->chosen - 1);
    if (s->hit) s->found = (rad_json_value){.kind = RAD_JSON_NONE};
}

int rad__json_at(const void *data, size_t size, const char *pointer, size_t length, rad_json_value *value,
                 rad_error *error)
{
    search s = {.json = rad__json_pull(data, size), .found_depth = RAD_NONE};
    RAD_ASSERT(rad__json_pointer_valid(pointer, length));
    bool can_be = split(&s, pointer, length);
    *value = (rad_json_value){.kind = RAD_JSON_NONE};
    for (bool after_key = false;;) {
        enum rad_json_kind kind = rad__json_next(&s.json);
        if (kind == RAD_JSON_WRONG) return rad__json_error(&s.json, error);
        if (kind == RAD_JSON_NONE) break;
        if (!can_be) continue;
        if (kind == RAD_JSON_KEY)
            see_key(&s);
        else if (kind == RAD_JSON_ARRAY_END || kind == RAD_JSON_OBJECT_END)
            end_value(&s);
        else
            begin_value(&s, kind, !after_key);
        after_key = kind == RAD_JSON_KEY;
    }
    *value = s.found;
    return 0;
}
