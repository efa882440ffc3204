/* start.c — see start.h. */
#define _GNU_SOURCE
#include "os/start.h"

#include "base/error.h"
#include "os/fault.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

/* Far from the numbers that the program's own files get. */
enum { GIVEN_FROM = 500, STATUS_NOT_RUN = 126 };

typedef struct child {
    const rad_os_start *start;
    int output;
} child;

static int child_fails(const char *what)
{
    dprintf(STDERR_FILENO, "%s: %s", what, strerror(errno));
    return STATUS_NOT_RUN;
}

/* Programs hash and compare addresses, of their threads for one. RADDLE_ADDRESSES=random: they shall differ. */
static void fix_addresses(void)
{
    enum { ASK = 0xffffffff };
    const char *wish = getenv("RADDLE_ADDRESSES");
    if (wish != NULL && strcmp(wish, "random") == 0) return;
    int now = personality(ASK);
    if (now >= 0) personality((unsigned long)now | ADDR_NO_RANDOMIZE);
}

static int child_main(void *context)
{
    const child *c = context;
    const rad_os_start *s = c->start;
    char value[80];
    int there[RAD_OS_GIVEN_MAX];
    int nothing = open(s->input ? s->input : "/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(c->output, STDOUT_FILENO) < 0 || dup2(c->output, STDERR_FILENO) < 0)
        return STATUS_NOT_RUN;
    if (dup2(nothing, STDIN_FILENO) < 0) return child_fails("cannot open its input");
    for (uint32_t i = 0; i < RAD_OS_GIVEN_MAX; i++) {
        there[i] = s->given[i] < 0 ? -1 : fcntl(s->given[i], F_DUPFD, GIVEN_FROM);
        if (s->given[i] >= 0 && there[i] < 0) return child_fails("cannot give it a descriptor");
    }
    close_range(STDERR_FILENO + 1, GIVEN_FROM - 1, 0);
    snprintf(value, sizeof value, "%d,%d,%d,%s", there[0], there[1], there[2],
             s->mode ? s->mode : "");
    if (s->mode == NULL) unsetenv(s->variable);
    if ((s->mode && setenv(s->variable, value, 1) != 0) ||
        (s->preload &&
         (setenv("LD_PRELOAD", s->preload, 1) != 0 || setenv("LD_BIND_NOW", "1", 1) != 0)))
        return child_fails("no memory for its environment");
    if (s->same_addresses) fix_addresses();
    execv(s->path, s->argv);
    return child_fails("cannot run it");
}

int rad__os_start(int *pid, int *output, const rad_os_start *s, rad_error *error)
{
    child c = {s, rad__os_fails(EMFILE) ? -1 : memfd_create("raddle output", MFD_CLOEXEC)};
    *pid = 0;
    *output = -1;
    if (c.output < 0)
        return rad__error(error, RAD_EIO, "cannot make a file for the output of '%s': %s", s->path,
                          strerror(errno));
    int code = rad__os_fork(pid, &c, child_main, error);
    if (code == 0)
        *output = c.output;
    else
        close(c.output);
    return code;
}

void rad__os_output(int output, char *text, size_t size)
{
    ssize_t got = output < 0 ? 0 : pread(output, text, size - 1, 0);
    text[got > 0 ? got : 0] = 0;
}
