/* term.c — see term.h. */
#include "os/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool rad__os_is_terminal(int fd)
{
    return isatty(fd) == 1;
}

uint32_t rad__os_terminal_width(int fd)
{
    struct winsize size;
    memset(&size, 0, sizeof size);
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

const char *rad__os_env(const char *name)
{
    return getenv(name);
}

bool rad__os_wants_colour(int fd)
{
    const char *no_colour = rad__os_env("NO_COLOR"), *term = rad__os_env("TERM");
    if (no_colour != NULL && *no_colour != 0) return false;
    return rad__os_is_terminal(fd) && (term == NULL || strcmp(term, "dumb") != 0);
}
