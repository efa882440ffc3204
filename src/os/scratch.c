/* scratch.c — see scratch.h. */
#define _GNU_SOURCE
#include "os/scratch.h"

#include "base/error.h"
#include "os/fault.h"
#include "os/term.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_AT_ONCE = 16 };

int rad__os_scratch_make(char path[RAD_OS_SCRATCH_PATH], rad_error *error)
{
    const char *folder = rad__os_env("TMPDIR");
    int size = snprintf(path, RAD_OS_SCRATCH_PATH, "%s/raddle-XXXXXX", folder && *folder ? folder : "/tmp");
    if (size >= RAD_OS_SCRATCH_PATH) return rad__error(error, RAD_EINPUT, "TMPDIR: the path is too long");
    if (rad__os_fails(EACCES) || mkdtemp(path) == NULL)
        return rad__error(error, RAD_EIO, "cannot create the directory '%s': %s", path, strerror(errno));
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)where;
    if (kind == FTW_DNR) chmod(path, S_IRWXU); /* empty now, or it stays */
    remove(path);
    return 0;
}

void rad__os_scratch_remove(const char *path)
{
    nftw(path, remove_one, DEPTH_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
