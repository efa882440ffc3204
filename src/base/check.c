#include "base/check.h"

#include "base/readable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile uint64_t *rad__panic_mark;

_Noreturn void rad__panic(const char *file, int line, const char *function, const char *what)
{
    rad__readable_print(stderr, "raddle: internal error at %s:%d, in %s: %s\n", file, line, function, what);
    rad__readable_print(stderr, "raddle: this is a bug in raddle itself; please report it with the command line\n");
    fflush(stderr);
    if (rad__panic_mark) *rad__panic_mark = 1;
    _exit(4);
}

_Noreturn void rad__misuse(const char *call, const char *what)
{
    rad__readable_print(stderr, "raddle: %s: %s\n", call, what);
    fflush(stderr);
    abort();
}

_Noreturn void rad__misuse_by(const char *call, uint64_t fiber, const char *name, const char *what)
{
    char text[256];
    rad__readable_text(text, sizeof text, "fiber %" PRIu64 "%s%.100s%s %s", fiber, name ? " '" : "", name ? name : "",
                       name ? "'" : "", what);
    rad__misuse(call, text);
}
