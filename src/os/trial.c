/* trial.c — see trial.h. */
#define _GNU_SOURCE
#include "os/trial.h"

#include "base/error.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/term.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *rad__os_trial_memory(size_t size)
{
    void *at = rad__os_fails(ENOMEM) ? MAP_FAILED
                                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- The child ----------------------------------------------------------------------------------------- */

void rad__os_trial_aside(void)
{
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

void rad__os_trial_ends(int status)
{
    fflush(NULL); /* what it has printed so far */
    for (;;) _exit(status);
}

void rad__os_trial_rests(void)
{
    pause();
}

/* True: it has ended. */
static bool trial_wait(pid_t pid, uint64_t limit_ns, int *status)
{
    uint64_t end = rad__os_now_ns() + limit_ns;
    struct timespec pause_for = {.tv_nsec = 200000};
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) return true;
        if (got < 0 && errno != EINTR) return true;
        if (rad__os_now_ns() >= end) return false;
        nanosleep(&pause_for, NULL);
        if (pause_for.tv_nsec < 10000000) pause_for.tv_nsec *= 2;
    }
}

int rad__os_trial(void (*body)(void *context), void *context, uint64_t limit_ns, rad_os_trial *out, rad_error *error)
{
    int status = 0;
    pid_t parent = getpid(), pid = rad__os_fails(EAGAIN) ? -1 : fork();
    *out = (rad_os_trial){.status = 0};
    if (pid < 0) return rad__error(error, RAD_EIO, "cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        if (getppid() != parent) rad__os_trial_ends(1);
        body(context);
        rad__os_trial_ends(0);
    }
    setpgid(pid, pid); /* both do it: the first one wins */
    out->late = !trial_wait(pid, limit_ns, &status);
    kill(-pid, SIGKILL);
    while (out->late && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return 0;
}

/* ---- The command --------------------------------------------------------------------------------------- */

const char *rad__os_trial_program(const char *called, char *path, size_t size)
{
    if (called != NULL && strchr(called, '/') != NULL) return called;
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0 ? path : called;
}

static void try_beside(char **argv)
{
    static const char *const places[] = {"/raddle", "/../bin/raddle", "/../../bin/raddle"};
    char path[4096];
    Dl_info info;
    /* An address of this library, to ask for its file. tidy: address ok */
    if (dladdr((const void *)(uintptr_t)&rad__os_trial_memory, &info) == 0) return;
    const char *slash = info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    if (slash == NULL) return;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int used = snprintf(path, sizeof path, "%.*s%s", (int)(slash - info.dli_fname), info.dli_fname, places[i]);
        if (used < 0 || (size_t)used >= sizeof path || access(path, X_OK) != 0) continue;
        argv[0] = path;
        execv(path, argv);
    }
}

void rad__os_trial_raddle(char **argv, rad_error *error)
{
    static char name[] = "raddle";
    const char *variable = rad__os_env("RADDLE");
    char text[4096];
    if (variable != NULL && *variable) {
        snprintf(text, sizeof text, "%s", variable);
        argv[0] = text;
        execvp(text, argv);
        rad__error(error, RAD_EIO, "cannot start '%.300s' (the variable RADDLE): %s", variable, strerror(errno));
        return;
    }
    try_beside(argv);
    argv[0] = name;
    execvp(name, argv);
    rad__error(error, RAD_EIO,
               "the command 'raddle' explores tests, and is not there: neither beside libraddle, "
               "nor on the PATH; the variable RADDLE can name it. --threads does without");
}
