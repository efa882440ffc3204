/* around.c — what surrounds a run of a program under test: its standard input, rewound, and with --scratch a directory
 * that is empty at its beginning.
 *
 * A run that has a directory begins with main: the directory stays open, and a descriptor that is open at the first
 * decision makes each run begin there (server.h). */
#define _GNU_SOURCE
#include "lab/fibers/stage.h"
#include "os/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static off_t input_at;

void rad__around_begin(void)
{
    const char *folders = rad__stage.folders;
    char *scratch = rad__stage.scratch;
    lseek(STDIN_FILENO, 0, SEEK_SET);
    if (folders[0] == 0) return;
    snprintf(scratch, sizeof rad__stage.scratch, "%s/%d", folders, (int)getpid());
    rad__os_scratch_remove(scratch); /* an earlier run of the same process */
    if (mkdir(scratch, S_IRWXU) != 0 || chdir(scratch) != 0 || setenv("TMPDIR", scratch, 1) != 0 ||
        open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
        rad__stage.end.error = RAD_EIO;
}

void rad__around_began(void)
{
    struct stat status; /* the position of /dev/null is no matter */
    bool has = fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    input_at = has ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

void rad__around_run(void)
{
    if (input_at >= 0) lseek(STDIN_FILENO, input_at, SEEK_SET);
}

void rad__around_end(void)
{
    if (rad__stage.scratch[0] == 0) return;
    if (chdir(rad__stage.folders) == 0) rad__os_scratch_remove(rad__stage.scratch);
}
