/* around.c — what surrounds a run of a program under test: its standard input, rewound, and with --scratch a directory
 * that is empty at its beginning.
 *
 * Files     that are open before main (the input, what a constructor has opened) are open in each process that makes a
 *           run, and all have one position in them. It is put back to where it was at the first decision.
 *
 * A run that has a directory begins with main: the directory stays open, and a descriptor that is open at the first
 * decision makes each run begin there (server.h). */
#define _GNU_SOURCE
#include "lab/programs/fibers/snapshot.h"
#include "lab/programs/fibers/stage.h"
#include "os/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    int fd;
    off_t at; /* -1: it is none any more */
} files[RAD_LAB_FDS];
static uint32_t file_count;

/* -1: it has none. */
static off_t position_of(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
}

void rad__around_open(void)
{
    lseek(STDIN_FILENO, 0, SEEK_SET);
    for (int fd = 0; fd < RAD_LAB_FDS; fd++) {
        bool output = fd == STDOUT_FILENO || fd == STDERR_FILENO;
        files[file_count].fd = fd;
        files[file_count].at = output ? -1 : position_of(fd);
        file_count += files[file_count].at >= 0;
    }
}

static void files_back(void)
{
    for (uint32_t i = 0; i < file_count; i++)
        if (files[i].at >= 0) lseek(files[i].fd, files[i].at, SEEK_SET);
}

void rad__around_begin(void)
{
    const char *folders = rad__stage.folders;
    char *scratch = rad__stage.scratch;
    files_back();
    if (folders[0] == 0) return;
    snprintf(scratch, sizeof rad__stage.scratch, "%s/%d", folders, (int)getpid());
    rad__os_scratch_remove(scratch); /* an earlier run of the same process */
    if (mkdir(scratch, S_IRWXU) != 0 || chdir(scratch) != 0 || setenv("TMPDIR", scratch, 1) != 0 ||
        open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
        rad__stage.end.error = RAD_EIO;
}

void rad__around_began(void)
{
    for (uint32_t i = 0; i < file_count; i++) files[i].at = position_of(files[i].fd);
}

void rad__around_run(void)
{
    files_back();
}

void rad__around_end(void)
{
    if (rad__stage.scratch[0] == 0) return;
    if (chdir(rad__stage.folders) == 0) rad__os_scratch_remove(rad__stage.scratch);
}
