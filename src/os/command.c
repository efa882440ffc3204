/* command.c — see command.h. */
#define _GNU_SOURCE
#include "os/command.h"

#include "base/error.h"
#include "os/descendants.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int command_error(rad_error *error, const char *what)
{
    return rad__error(error, RAD_EIO, "cannot %s: %s", what, strerror(errno));
}

static int open_signals(rad_os_command *s, rad_error *error)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    s->signals = rad__os_fails(EMFILE) ? -1 : signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals < 0 ? command_error(error, "watch signals") : 0;
}

_Noreturn static void command_child(const char *command, const char *dir, char *const *environment, int output, int log,
                                    pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    dup2(output, 1);
    dup2(log, 2);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dir != NULL && chdir(dir) != 0) {
        dprintf(2, "%s: cannot work there: %s\n", dir, strerror(errno));
        _exit(126);
    }
    char *const words[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command, NULL};
    execve("/bin/sh", words, environment);
    dprintf(2, "/bin/sh: cannot run: %s\n", strerror(errno));
    _exit(127);
}

int rad__os_command_start(rad_os_command *s, const char *command, const char *dir, char *const *environment, int log,
                          rad_error *error)
{
    int pipe_ends[2] = {-1, -1};
    *s = (rad_os_command){.pid = -1, .output = -1, .signals = -1};
    /* What the shell leaves behind becomes a child of this process, wherever it went. */
    s->adopts = rad__os_adopt_orphans();
    int code = open_signals(s, error);
    if (code == 0 && (rad__os_fails(EMFILE) || pipe2(pipe_ends, O_CLOEXEC) != 0))
        code = command_error(error, "open a pipe");
    if (code == 0) {
        pid_t parent = getpid();
        s->pid = rad__os_fails(EAGAIN) ? -1 : fork();
        if (s->pid == 0) command_child(command, dir, environment, pipe_ends[1], log, parent);
        if (s->pid < 0) code = command_error(error, "start a process");
    }
    if (pipe_ends[1] >= 0) close(pipe_ends[1]);
    s->output = pipe_ends[0];
    if (code != 0) {
        rad__os_command_close(s);
        return code;
    }
    setpgid(s->pid, s->pid); /* both do it: whoever comes first, nobody kills too early */
    return 0;
}

static void take_signals(rad_os_command *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo == SIGTERM) s->asked_to_end = true;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != s->pid) continue;
        s->ended = true;
        s->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        s->status = WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
    }
}

/* Does not wait: whoever still has the pipe open after the command's end may keep it as long as he likes. */
static int64_t take_output(rad_os_command *s, void *to, size_t size)
{
    struct pollfd item = {.fd = s->output, .events = POLLIN};
    if (s->output < 0 || poll(&item, 1, 0) != 1) return 0;
    ssize_t got = read(s->output, to, size);
    if (got > 0) return got;
    close(s->output);
    s->output = -1;
    return 0;
}

int64_t rad__os_command_watch(rad_os_command *s, void *to, size_t size, uint64_t timeout_ns, rad_error *error)
{
    struct pollfd items[2] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->output, .events = POLLIN}};
    uint64_t ms = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
    bool known = s->asked_to_end; /* told once is enough: from then on it waits for the end */
    take_signals(s);
    if (!s->ended && s->asked_to_end == known) {
        int timeout = ms > 1000000 ? 1000000 : (int)ms;
        int got = rad__os_fails(EIO) ? -1 : poll(items, 2, timeout);
        if (got < 0 && errno != EINTR) return command_error(error, "wait for a command");
        take_signals(s);
    }
    return take_output(s, to, size);
}

/* The group is asked all at once, by the system; whoever has left it, one by one. The group's number is the shell's,
 * which is nobody else's before the shell was waited for; later its members are asked as the others are. */
int rad__os_command_kill(const rad_os_command *s, bool at_once, rad_error *error)
{
    int number = at_once ? SIGKILL : SIGTERM;
    RAD_ASSERT(s->pid > 1);
    bool asked = !rad__os_fails(EPERM) && (s->ended || kill(-s->pid, number) == 0 || errno == ESRCH);
    int code = asked ? 0 : command_error(error, "kill a command");
    rad__os_signal_descendants(number, s->ended ? 0 : s->pid);
    return code;
}

bool rad__os_command_is_left(const rad_os_command *s)
{
    if (!s->ended) return false;
    return s->adopts ? rad__os_has_children() : kill(-s->pid, 0) == 0 || errno == EPERM;
}

void rad__os_command_close(rad_os_command *s)
{
    if (s->output >= 0) close(s->output);
    if (s->signals >= 0) close(s->signals);
    s->output = s->signals = -1;
}

char *const *rad__os_environment(void)
{
    return environ;
}
