#include "base/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile uint64_t *rad__panic_mark;

_Noreturn void rad__panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "raddle: internal error at %s:%d: %s\n", file, line, what);
    fprintf(stderr,
            "raddle: this is a bug in raddle itself; please report it with the command line\n");
    fflush(stderr);
    if (rad__panic_mark) *rad__panic_mark = 1;
    _exit(4);
}

_Noreturn void rad__misuse(const char *call, const char *what)
{
    fprintf(stderr, "raddle: %s: %s\n", call, what);
    fflush(stderr);
    abort();
}

_Noreturn void rad__misuse_by(const char *call, uint64_t fiber, const char *name, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "fiber %" PRIu64 "%s%.100s%s %s", fiber, name ? " '" : "",
             name ? name : "", name ? "'" : "", what);
    rad__misuse(call, text);
}
