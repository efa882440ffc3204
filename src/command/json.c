#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The size of the well-formed UTF-8 character at `at`, or 0. */
static uint32_t decode(const char *at, uint32_t *code)
{
    const unsigned char *b = (const unsigned char *)at;
    uint32_t size = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (b[0] < 0xc0 || b[0] > 0xf4) {
        return 0;
    }
    uint32_t value = b[0] & (0x7fu >> size);
    for (uint32_t i = 1; i < size; i++) {
        if ((b[i] & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (b[i] & 0x3f);
    }
    bool surrogate = value >= 0xd800 && value < 0xe000;
    *code = value;
    return value < least[size] || value > 0x10ffff || surrogate ? 0 : size;
}

/* As \u escapes; `to` has room for 13 bytes. */
static size_t put_escape(char *to, uint32_t code)
{
    if (code < 0x10000) {
        return (size_t)snprintf(to, 7, "\\u%04x", code);
    }
    code -= 0x10000;
    return (size_t)snprintf(to, 13, "\\u%04x\\u%04x", 0xd800 + (code >> 10),
                            0xdc00 + (code & 0x3ff));
}

/* Only ASCII leaves here, whatever the terminal: other characters become \u escapes, bytes that are
 * no UTF-8 the replacement character. */
static void put_string(cli *c, const char *text)
{
    char piece[2048];
    size_t used = 0;
    out_text(c, "\"");
    for (const char *at = text; *at;) {
        uint32_t code = 0xfffd, size = 1;
        if (!((unsigned char)*at & 0x80)) {
            code = (unsigned char)*at;
        } else if ((size = decode(at, &code)) == 0) {
            size = 1;
            code = 0xfffd;
        }
        if (code == '"' || code == '\\') {
            used += (size_t)snprintf(piece + used, sizeof piece - used, "\\%c", (int)code);
        } else if (code >= 0x7f || code < 0x20) {
            used += put_escape(piece + used, code);
        } else {
            piece[used++] = (char)code;
            piece[used] = 0;
        }
        at += size;
        if (used > sizeof piece - 32) {
            out_text(c, piece);
            used = 0;
        }
    }
    piece[used] = 0;
    out_text(c, piece);
    out_text(c, "\"");
}

/* JSON as it is, but ASCII: other characters stand in strings only, where escapes are allowed. */
static void put_document(cli *c, const char *text)
{
    char piece[1024];
    size_t used = 0;
    while (*text) {
        uint32_t code = (unsigned char)*text, size = 1;
        if (code >= 0x80 && (size = decode(text, &code)) == 0) {
            size = 1;
            code = 0xfffd;
        }
        if (code >= 0x7f) {
            used += put_escape(piece + used, code);
        } else {
            piece[used++] = (char)code;
        }
        text += size;
        if (*text == 0 || used > sizeof piece - 32) {
            piece[used] = 0;
            out_text(c, piece);
            used = 0;
        }
    }
}

static void begin_value(writer *j, const char *key)
{
    if (j->filled[j->depth]) {
        out_text(j->c, ",");
    }
    if (j->depth > 0) {
        out(j->c, "\n%*s", (int)(2 * j->depth), "");
    }
    j->filled[j->depth] = true;
    if (key) {
        put_string(j->c, key);
        out_text(j->c, ": ");
    }
}

static void open_bracket(writer *j, const char *key, const char *bracket)
{
    begin_value(j, key);
    out_text(j->c, bracket);
    j->depth += j->depth + 1 < JSON_DEPTH;
    j->filled[j->depth] = false;
}

void put_begin(writer *j, cli *c)
{
    *j = (writer){.c = c};
    open_bracket(j, NULL, "{");
}

void put_end(writer *j)
{
    put_close(j, '}');
    out_text(j->c, "\n");
}

void put_object(writer *j, const char *key)
{
    open_bracket(j, key, "{");
}

void put_array(writer *j, const char *key)
{
    open_bracket(j, key, "[");
}

void put_close(writer *j, char bracket)
{
    bool filled = j->filled[j->depth];
    j->depth -= j->depth > 0;
    if (filled) {
        out(j->c, "\n%*s", (int)(2 * j->depth), "");
    }
    out(j->c, "%c", bracket);
}

void put_text(writer *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value) {
        put_string(j->c, value);
    } else {
        out_text(j->c, "null");
    }
}

void put_lines(writer *j, const char *key, const char *text)
{
    if (text == NULL) {
        return;
    }
    put_array(j, key);
    while (*text) {
        char line[4096];
        size_t size = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", size < sizeof line ? (int)size : (int)sizeof line - 1,
                 text);
        put_text(j, NULL, line);
        text += size + (text[size] != 0);
    }
    put_close(j, ']');
}

void put_json(writer *j, const char *key, const char *document)
{
    begin_value(j, key);
    put_document(j->c, document);
}

void put_count(writer *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    out(j->c, "%" PRIu64, value);
}

void put_integer(writer *j, const char *key, int64_t value)
{
    begin_value(j, key);
    out(j->c, "%" PRId64, value);
}

void put_real(writer *j, const char *key, double value)
{
    begin_value(j, key);
    out(j->c, "%.6f", value);
}

void put_bool(writer *j, const char *key, bool value)
{
    begin_value(j, key);
    out_text(j->c, value ? "true" : "false");
}
