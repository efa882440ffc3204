/* start.c — see start.h. */
#define _GNU_SOURCE
#include "os/start.h"

#include "base/alloc.h"
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
enum { GIVEN_FROM = 500, GIVEN_TEXT = 80, STATUS_NOT_RUN = 126, ENTRIES_MADE = 4 };

typedef struct child {
    const rad_os_start *start;
    int output;
    char **environment;
    char *made[ENTRIES_MADE]; /* entries of it that are not ours */
    char *given;              /* the value of the variable, which the child writes; NULL: it has none */
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
    int there[RAD_OS_GIVEN_MAX];
    int nothing = open(s->input ? s->input : "/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(c->output, STDOUT_FILENO) < 0 || dup2(c->output, STDERR_FILENO) < 0) return STATUS_NOT_RUN;
    if (dup2(nothing, STDIN_FILENO) < 0) return child_fails("cannot open its input");
    for (uint32_t i = 0; i < RAD_OS_GIVEN_MAX; i++) {
        there[i] = s->given[i] < 0 ? -1 : fcntl(s->given[i], F_DUPFD, GIVEN_FROM);
        if (s->given[i] >= 0 && there[i] < 0) return child_fails("cannot give it a descriptor");
    }
    close_range(STDERR_FILENO + 1, GIVEN_FROM - 1, 0);
    if (c->given) snprintf(c->given, GIVEN_TEXT, "%d,%d,%d,%s", there[0], there[1], there[2], s->mode);
    if (s->same_addresses) fix_addresses();
    execve(s->path, s->argv, c->environment);
    return child_fails("cannot run it");
}

/* ---- Its environment ------------------------------------------------------------------------------------- */

static bool is_of(const char *entry, const char *name)
{
    size_t size = strlen(name);
    return strncmp(entry, name, size) == 0 && entry[size] == '=';
}

/* NAME=VALUE is wanted, and nobody has set the name. */
static bool is_lacking(const char *entry)
{
    size_t size = entry ? strcspn(entry, "=") + 1 : 0;
    for (char **at = environ; size > 0 && at && *at; at++)
        if (strncmp(*at, entry, size) == 0) return false;
    return size > 0;
}

/* NAME=VALUE, with room for so much. */
static char *entry_make(const char *name, const char *value, size_t room)
{
    size_t size = strlen(name) + 2 + room;
    char *entry = rad__alloc(1, size);
    if (entry) snprintf(entry, size, "%s=%s", name, value);
    return entry;
}

static void environment_free(child *c)
{
    /* Those that were made are the first. */
    for (uint32_t i = 0; c->environment && i < ENTRIES_MADE; i++) rad__free(c->made[i]);
    rad__free(c->environment);
}

/* Ours, but for what is set here. False: there is no memory. */
static bool environment_make(child *c)
{
    const rad_os_start *s = c->start;
    uint32_t count = 0, made = 0;
    while (environ && environ[count]) count++;
    c->environment = rad__alloc(count + ENTRIES_MADE + 1, sizeof *c->environment);
    if (c->environment == NULL) return false;
    if (s->mode) c->made[made++] = entry_make(s->variable, "", GIVEN_TEXT);
    if (s->preload) c->made[made++] = entry_make("LD_PRELOAD", s->preload, strlen(s->preload));
    if (s->preload) c->made[made++] = entry_make("LD_BIND_NOW", "1", 1);
    if (is_lacking(s->lacking)) c->made[made++] = rad__copy_text(s->lacking);
    for (uint32_t i = 0; i < made; i++)
        if ((c->environment[i] = c->made[i]) == NULL) return false;
    if (s->mode) c->given = strchr(c->made[0], '=') + 1;
    for (uint32_t i = 0; i < count; i++) {
        bool ours = (s->variable && is_of(environ[i], s->variable)) ||
                    (s->preload && (is_of(environ[i], "LD_PRELOAD") || is_of(environ[i], "LD_BIND_NOW")));
        if (!ours) c->environment[made++] = environ[i];
    }
    return true;
}

/* ---- Both ------------------------------------------------------------------------------------------------ */

int rad__os_start(int *pid, int *output, const rad_os_start *s, rad_error *error)
{
    child c = {.start = s, .output = rad__os_fails(EMFILE) ? -1 : memfd_create("raddle output", MFD_CLOEXEC)};
    *pid = 0;
    *output = -1;
    if (c.output < 0)
        return rad__error(error, RAD_EIO, "cannot make a file for the output of '%s': %s", s->path, strerror(errno));
    int code = environment_make(&c) ? rad__os_fork_to_execute(pid, &c, child_main, error) : rad__error_memory(error);
    environment_free(&c);
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
