/* wrap.c — lines that are too long go on in the next one. See wrap.h. */
#include "session/lang/wrap.h"

#include <string.h>

enum { COLUMNS_MAX = 120 };

/* Where the next line begins; 0: there is none, it is short enough or cannot be broken. */
static size_t break_of(const char *line, size_t length, size_t columns)
{
    size_t column = 0, at = 0;
    bool in_text = false, begun = false;
    for (size_t i = 0; i < length; i++) {
        column += ((unsigned char)line[i] & 0xc0) != 0x80; /* a letter of several bytes is one */
        if (column > columns) return at;
        if (line[i] == '"') in_text = !in_text;
        if (begun && !in_text && (line[i] == ' ' || line[i] == '(')) at = i + 1;
        begun |= line[i] != ' ';
    }
    return 0;
}

static void wrap_line(rad_bytes *to, const char *line, size_t length)
{
    bool is_comment = length > 1 && memcmp(line, " *", 2) == 0;
    const char *further = is_comment ? " *         " : "        ";
    size_t columns = COLUMNS_MAX;
    bool may = length > 0 && line[0] != '#';
    for (size_t cut; may && (cut = break_of(line, length, columns)) > 0;) {
        rad__bytes_put(to, line, line[cut - 1] == ' ' ? cut - 1 : cut);
        rad__bytes_format(to, "\n%s", further);
        line += cut;
        length -= cut;
        columns = COLUMNS_MAX - strlen(further);
    }
    rad__bytes_put(to, line, length);
    rad__bytes_put(to, "\n", 1);
}

void rad__wrap_lines(rad_bytes *text)
{
    rad_bytes wrapped = {.failed = text->failed};
    const char *at = (const char *)text->data;
    for (size_t left = text->failed ? 0 : text->size; left > 0;) {
        const char *end = memchr(at, '\n', left);
        size_t length = end ? (size_t)(end - at) : left;
        wrap_line(&wrapped, at, length);
        left -= length + (end != NULL);
        at += length + (end != NULL);
    }
    rad__bytes_free(text);
    *text = wrapped;
}
