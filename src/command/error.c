/* error.c — messages on stderr: what was wrong, what was expected, what to do next. */
#include "cli.h"

#include "base/readable.h"

#include <stdio.h>
#include <string.h>

static void complain_text(const cli *c, const char *text)
{
    char own[2560], before[1200];
    rad__readable_text(before, sizeof before, "%s%s%s: ", c->self, *c->verb ? " " : "", c->verb);
    translate(c, text, own, sizeof own);
    note_text(before, own, "\n");
}

RAD_PRINTF(2, 0)
static void complain_list(const cli *c, const char *format, va_list args)
{
    char text[2048];
    rad_sink_buffer to = rad__sink_buffer(text, sizeof text);
    rad__readable_format(&to.sink, format, args);
    complain_text(c, text);
}

void complain(const cli *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_list(c, format, args);
    va_end(args);
}

int exit_status(int code)
{
    switch (code) {
    case 0: return EXIT_FINE;
    case RAD_EINPUT: return EXIT_USAGE;
    case RAD_EINTERRUPTED: return EXIT_INTERRUPTED;
    case RAD_EBUG: return EXIT_BUG;
    default: return EXIT_RUNTIME;
    }
}

int complain_error(const cli *c, const rad_error *error)
{
    complain_text(c, error->text[0] ? error->text : "unknown error"); /* may have lines of its own */
    if (error->code == RAD_EBUG) note("This is a bug in raddle. Please report it with the command you typed.\n");
    return exit_status(error->code ? error->code : RAD_EBUG);
}

int bad_usage(const cli *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_list(c, format, args);
    va_end(args);
    note("See '%s%s%s --help'.\n", c->self, *c->verb ? " " : "", c->verb);
    return EXIT_USAGE;
}

/* ---- The nearest name ------------------------------------------------------------------------------ */

enum { NAME_MAX_BYTES = 48 };

/* Insertions, deletions and replacements that turn one into the other. */
static uint32_t edit_distance(const char *a, const char *b)
{
    uint32_t row[NAME_MAX_BYTES + 1];
    size_t width = strlen(b);
    if (strlen(a) > NAME_MAX_BYTES || width > NAME_MAX_BYTES) return UINT32_MAX;
    for (uint32_t k = 0; k <= width; k++) row[k] = k;
    for (uint32_t i = 1; a[i - 1]; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= width; k++) {
            uint32_t best = diagonal + (a[i - 1] != b[k - 1]);
            best = row[k] + 1 < best ? row[k] + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            diagonal = row[k];
            row[k] = best;
        }
    }
    return row[width];
}

void nearest_begin(nearest *n, const char *word)
{
    *n = (nearest){.word = word, .best = NULL, .distance = UINT32_MAX};
}

void nearest_try(nearest *n, const char *name)
{
    uint32_t distance = edit_distance(n->word, name);
    if (*n->word && strncmp(name, n->word, strlen(n->word)) == 0)
        distance = distance > 1 ? 1 : distance; /* an abbreviation */
    if (distance < n->distance) {
        n->distance = distance;
        n->best = name;
    }
}

const char *nearest_hint(const nearest *n, const char *prefix)
{
    static char text[96];
    size_t size = strlen(n->word);
    text[0] = 0;
    if (n->best && n->distance <= (size < 6 ? 2 : size / 3) && n->distance < size)
        snprintf(text, sizeof text, "; did you mean '%s%s'?", prefix, n->best);
    return text;
}
