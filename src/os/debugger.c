/* debugger.c — see debugger.h. */
#define _GNU_SOURCE
#include "os/debugger.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static bool find(char path[PATH_SIZE])
{
    const char *all = getenv("PATH");
    while (all && *all) {
        size_t size = strcspn(all, ":");
        snprintf(path, PATH_SIZE, "%.*s/gdb", (int)size, all);
        if (size > 0 && access(path, X_OK) == 0) return true;
        all += size + (all[size] != 0);
    }
    return false;
}

int rad__os_debugger_find(rad_error *error)
{
    char path[PATH_SIZE];
    if (find(path)) return 0;
    return rad__error(error, RAD_EINPUT, "gdb is not installed: no 'gdb' on the PATH");
}

/* A name of the program, which gdb reads as part of a command: as a C identifier, or not at all. */
static bool is_identifier(const char *name)
{
    for (const char *at = name; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_';
        if (!letter && !(at > name && *at >= '0' && *at <= '9')) return false;
    }
    return *name != 0;
}

int rad__os_debugger_start(int *debugger, int pid, uint32_t inner, const char *function, rad_error *error)
{
    char path[PATH_SIZE], number[24], up[32], frame[96] = "frame";
    if (!find(path)) return rad__os_debugger_find(error);
    snprintf(number, sizeof number, "%d", pid);
    snprintf(up, sizeof up, "up %u", (unsigned)inner);
    if (is_identifier(function)) snprintf(frame, sizeof frame, "frame function %.60s", function);
    signal(SIGINT, SIG_IGN);
    *debugger = fork();
    if (*debugger == 0) {
        signal(SIGINT, SIG_DFL);
        execl(path, path, "-q", "-iex", "set debuginfod enabled off", "-p", number, "-ex", "continue", "-ex", "bt",
              "-ex", up, "-ex", frame, (char *)NULL);
        _exit(127);
    }
    if (*debugger > 0) return 0;
    signal(SIGINT, SIG_DFL);
    return rad__error(error, RAD_EIO, "cannot start %s: %s", path, strerror(errno));
}

void rad__os_debugger_wait(int debugger)
{
    int status;
    while (waitpid(debugger, &status, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, SIG_DFL);
}
