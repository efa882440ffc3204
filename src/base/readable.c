#include "base/readable.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* ---- Characters -------------------------------------------------------------------------------------- */

bool rad__is_unseen(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } RANGES[] = {
        {0x0000, 0x001f},   /* C0 */
        {0x007f, 0x009f},   /* DEL, C1 */
        {0x061c, 0x061c},   /* Arabic letter mark */
        {0x180e, 0x180e},   /* Mongolian vowel separator */
        {0x200b, 0x200b},   /* zero width space; the two that join and part letters stay */
        {0x200e, 0x200f},   /* left-to-right and right-to-left marks */
        {0x2028, 0x202e},   /* line and paragraph separators, embeddings, overrides */
        {0x2060, 0x206f},   /* invisible operators, isolates, deprecated formats */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xfff9, 0xfffb},   /* annotations */
        {0xfffe, 0xffff},   /* no characters; XML has no way to write them */
        {0xe0000, 0xe007f}, /* tags */
    };
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++)
        if (code >= RANGES[i].first && code <= RANGES[i].last) return true;
    return false;
}

/* Printable ASCII: the same for everybody. */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7f;
}

/* `before`, at least `least` hexadecimal digits, `after`. No printf: this runs in signal handlers, too. */
static size_t put_code(char *to, const char *before, uint32_t code, int least, const char *after)
{
    size_t used = strlen(before);
    memcpy(to, before, used);
    int digits = least;
    while (code >> (4 * digits) != 0) digits++;
    while (digits-- > 0) to[used++] = "0123456789abcdef"[code >> (4 * digits) & 0xf];
    memcpy(to + used, after, strlen(after));
    return used + strlen(after);
}

/* What is shown of a character that cannot be: its code, or, where `how` wants that, one other character. */
static size_t stand_in(char shown[RAD_CHARACTER_MAX], uint32_t code, bool is_byte, enum rad_readable how)
{
    static const char REPLACEMENT[] = "\xef\xbf\xbd";
    bool layout = !is_byte && (code == '\n' || code == '\t');
    if (how == RAD_READABLE_CELLS) {
        memcpy(shown, layout ? " " : REPLACEMENT, layout ? 1 : sizeof REPLACEMENT - 1);
        return layout ? 1 : sizeof REPLACEMENT - 1;
    }
    if (layout) {
        memcpy(shown, code == '\n' ? "\\n" : "\\t", 2);
        return 2;
    }
    if (is_byte || code < 0x80) return put_code(shown, "\\x", code, 2, "");
    return code > 0xffff ? put_code(shown, "\\u{", code, 5, "}") : put_code(shown, "\\u", code, 4, "");
}

size_t rad__readable_character(const char *text, size_t left, enum rad_readable how, char shown[RAD_CHARACTER_MAX],
                               size_t *size)
{
    size_t length = rad__utf8_size(text, left);
    uint32_t code = length > 0 ? rad__utf8_code(text, length) : (unsigned char)text[0];
    bool stays = how == RAD_READABLE_LINES && (code == '\n' || code == '\t');
    if (length > 0 && (stays || !rad__is_unseen(code))) {
        memcpy(shown, text, length);
        *size = length;
        return length;
    }
    *size = stand_in(shown, code, length == 0, how);
    return length > 0 ? length : 1;
}

void rad__readable_put(rad_sink *to, const char *text, size_t size, enum rad_readable how)
{
    for (size_t at = 0; at < size;) {
        size_t plain = at, shown_size;
        char shown[RAD_CHARACTER_MAX];
        while (plain < size && is_plain(text[plain])) plain++;
        if (plain > at) to->put(to, text + at, plain - at);
        at = plain;
        if (at == size) return;
        at += rad__readable_character(text + at, size - at, how, shown, &shown_size);
        to->put(to, shown, shown_size);
    }
}

/* ---- printf ------------------------------------------------------------------------------------------- */

/* A list that functions can share. */
typedef struct arguments {
    va_list list;
} arguments;

/* What stands between '%' and the letter. */
typedef struct conversion {
    char flags[4];        /* of "+ #'": what a number says beside its digits */
    int width, precision; /* -1: none */
    bool left, zeros;
    char length; /* 0, 'l', 'q' for ll, 'j', 'z', 't', 'L'; h and hh print an int */
    char letter;
} conversion;

static int read_number(const char **at, arguments *args)
{
    int number = 0;
    if (**at == '*') {
        (*at)++;
        return va_arg(args->list, int);
    }
    while (**at >= '0' && **at <= '9') number = number * 10 + (*(*at)++ - '0');
    return number;
}

static char read_length(const char **at)
{
    char length = 0;
    while (**at != 0 && strchr("hlqjztL", **at) != NULL) {
        char next = *(*at)++;
        length = next == 'h' ? 0 : length == 'l' && next == 'l' ? 'q' : next;
    }
    return length;
}

/* `at` is behind the '%'; returns where the text goes on. */
static const char *read_conversion(const char *at, conversion *c, arguments *args)
{
    size_t kept = 0;
    *c = (conversion){.width = -1, .precision = -1};
    for (; *at != 0 && strchr("-+ #0'", *at) != NULL; at++) {
        c->left |= *at == '-';
        c->zeros |= *at == '0';
        if (strchr("-0", *at) == NULL && kept + 1 < sizeof c->flags) c->flags[kept++] = *at;
    }
    if (*at == '*' || (*at >= '1' && *at <= '9')) c->width = read_number(&at, args);
    if (*at == '.') {
        at++;
        c->precision = read_number(&at, args); /* negative: as if there were none */
    }
    c->length = read_length(&at);
    c->letter = *at;
    if (c->width < -1) { /* a negative width that was passed: to the left */
        c->left = true;
        c->width = -c->width;
    }
    return *at != 0 ? at + 1 : at;
}

/* Counts what passes, in characters. */
typedef struct counter {
    rad_sink sink;
    size_t characters;
} counter;

static size_t count_characters(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void counter_put(rad_sink *sink, const char *text, size_t size)
{
    ((counter *)sink)->characters += count_characters(text, size);
}

static void put_repeated(rad_sink *to, char c, size_t count)
{
    char some[32];
    memset(some, c, sizeof some);
    for (size_t size; count > 0; count -= size) {
        size = count < sizeof some ? count : sizeof some;
        to->put(to, some, size);
    }
}

/* How many bytes a character has that begins so; 1 for what begins none. */
static size_t lead_size(char lead)
{
    unsigned char c = (unsigned char)lead;
    return c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
}

/* At most `most` bytes of a text; if characters are cut there, the last one is left out. Nothing behind is read. */
static size_t text_size(const char *text, int most)
{
    if (most < 0) return strlen(text);
    size_t size = strnlen(text, (size_t)most), back = 1;
    while (back < 4 && back < size && ((unsigned char)text[size - back] & 0xc0) == 0x80) back++;
    bool cut = size == (size_t)most && size >= back && lead_size(text[size - back]) > back;
    return cut ? size - back : size;
}

static void put_text(rad_sink *to, const conversion *c, const char *text, size_t size)
{
    size_t missing = 0;
    if (c->width > 0) {
        counter n = {.sink = {.put = counter_put}};
        rad__readable_put(&n.sink, text, size, RAD_READABLE_NAME);
        missing = n.characters < (size_t)c->width ? (size_t)c->width - n.characters : 0;
    }
    if (!c->left) put_repeated(to, ' ', missing);
    rad__readable_put(to, text, size, RAD_READABLE_NAME);
    if (c->left) put_repeated(to, ' ', missing);
}

/* A number without its width; that is added here, so that it may be as large as it likes. */
static void put_padded(rad_sink *to, const conversion *c, const char *text, size_t size)
{
    size_t missing = c->width > 0 && (size_t)c->width > size ? (size_t)c->width - size : 0;
    bool whole = strchr("diuxXo", c->letter) != NULL;
    bool zeros = c->zeros && !c->left && !(whole && c->precision >= 0);
    size_t sign = zeros ? strspn(text, "+- ") : 0;
    if (zeros && text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X')) sign += 2;
    if (!c->left && !zeros) put_repeated(to, ' ', missing);
    to->put(to, text, sign);
    if (zeros) put_repeated(to, '0', missing);
    to->put(to, text + sign, size - sign);
    if (c->left) put_repeated(to, ' ', missing);
}

/* The format of one number, rebuilt from one that the compiler has checked. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define PRINT(value) snprintf(text, size, form, c->precision, value)

static int print_integer(char *text, size_t size, const char *form, const conversion *c, arguments *args)
{
    switch (c->length) {
    case 'l': return PRINT(va_arg(args->list, long));
    case 'q': return PRINT(va_arg(args->list, long long));
    case 'j': return PRINT(va_arg(args->list, intmax_t));
    case 'z': return PRINT(va_arg(args->list, size_t));
    case 't': return PRINT(va_arg(args->list, ptrdiff_t));
    default: return PRINT(va_arg(args->list, int));
    }
}

static void put_number(rad_sink *to, const conversion *c, arguments *args)
{
    char form[24], text[512], length[3] = {c->length, 0, 0};
    size_t size = sizeof text;
    if (c->length == 'q') memcpy(length, "ll", 2);
    snprintf(form, sizeof form, "%%%s.*%s%c", c->flags, length, c->letter);
    int used = c->letter == 'p'                      ? snprintf(text, size, "%p", va_arg(args->list, void *))
               : strchr("diuxXo", c->letter) != NULL ? print_integer(text, size, form, c, args)
               : c->length == 'L'                    ? PRINT(va_arg(args->list, long double))
                                                     : PRINT(va_arg(args->list, double));
    if (used > 0) put_padded(to, c, text, (size_t)used < size ? (size_t)used : size - 1);
}

#undef PRINT
#pragma GCC diagnostic pop

static void put_conversion(rad_sink *to, const conversion *c, arguments *args)
{
    if (c->letter == 's') {
        const char *text = va_arg(args->list, const char *);
        if (text == NULL) text = "(null)";
        if (to->is_ours != NULL && to->is_ours(text))
            to->put(to, text, strlen(text));
        else
            put_text(to, c, text, text_size(text, c->precision));
    } else if (c->letter == 'c') {
        char one = (char)va_arg(args->list, int);
        put_text(to, c, &one, 1);
    } else if (c->letter == '%') {
        to->put(to, "%", 1);
    } else {
        RAD_ASSERT(c->letter != 0 && strchr("diuxXopfFgGeEaA", c->letter) != NULL);
        put_number(to, c, args);
    }
}

void rad__readable_format(rad_sink *to, const char *format, va_list args)
{
    arguments own;
    va_copy(own.list, args);
    while (*format != 0) {
        size_t literal = strcspn(format, "%");
        conversion c;
        if (literal > 0) to->put(to, format, literal);
        format += literal;
        if (*format == 0) break;
        format = read_conversion(format + 1, &c, &own);
        put_conversion(to, &c, &own);
    }
    va_end(own.list);
}

/* ---- Places ------------------------------------------------------------------------------------------- */

static void buffer_put(rad_sink *sink, const char *text, size_t size)
{
    rad_sink_buffer *b = (rad_sink_buffer *)sink;
    size_t left = b->room - b->used - 1;
    if (b->full) return;
    b->full = size > left;
    if (b->full) size = text_size(text, (int)(left < INT32_MAX ? left : INT32_MAX));
    memcpy(b->text + b->used, text, size);
    b->used += size;
    b->text[b->used] = 0;
}

rad_sink_buffer rad__sink_buffer(char *text, size_t room)
{
    RAD_ASSERT(room > 0);
    text[0] = 0;
    return (rad_sink_buffer){.sink = {.put = buffer_put}, .text = text, .room = room};
}

size_t rad__readable_text(char *text, size_t room, const char *format, ...)
{
    rad_sink_buffer b = rad__sink_buffer(text, room);
    va_list args;
    va_start(args, format);
    rad__readable_format(&b.sink, format, args);
    va_end(args);
    return b.used;
}

typedef struct stream {
    rad_sink sink;
    FILE *to;
} stream;

static void stream_put(rad_sink *sink, const char *text, size_t size)
{
    (void)!fwrite(text, 1, size, ((stream *)sink)->to);
}

void rad__readable_print(FILE *to, const char *format, ...)
{
    stream s = {.sink = {.put = stream_put}, .to = to};
    va_list args;
    va_start(args, format);
    rad__readable_format(&s.sink, format, args);
    va_end(args);
}

/* ---- Numbers ------------------------------------------------------------------------------------------- */

const char *rad__readable_count(uint64_t number, char text[32])
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, number), used = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}
