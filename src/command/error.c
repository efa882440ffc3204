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
