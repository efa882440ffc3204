/* server.c — see server.h. */
#define _GNU_SOURCE
#include "lab/fibers/server.h"

#include "base/alloc.h"
#include "lab/fibers/reach.h"
#include "lab/fibers/stage.h"
#include "lab/fibers/tell.h"
#include "lab/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

rad_call_stream rad__server_stream = {.in = -1, .out = -1};

/* Shared with children. */
typedef struct server {
    rad_rig rig;
    bool tried, late;
    volatile bool done;   /* the child has done what it was for */
    volatile bool copies; /* … and a fork copies all of it */
} server;

static server *the_server;

/* ---- Children ------------------------------------------------------------------------------------------ */

static uint32_t open_descriptors(void)
{
    uint32_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL) return UINT32_MAX;
    while (readdir(all) != NULL) count++;
    closedir(all);
    return count;
}

/* No handlers of fork: the program's, and those of the runtime, are for processes that the program starts. */
static pid_t child_start(void)
{
    pid_t parent = getpid(), pid = _Fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) rad__process_exit(0);
    return 0;
}

/* Ends as the child did. */
static _Noreturn void die_of(int status)
{
    if (WIFSIGNALED(status)) {
        sigset_t all;
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        kill(getpid(), WTERMSIG(status));
    }
    rad__process_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

/* True when it has done what it was for. */
static bool child_wait(server *s, pid_t pid, int *status)
{
    s->rig.shared->pid = pid;
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    s->rig.shared->pid = 0;
    return s->done && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

static void try_beginning(server *s)
{
    int status = 0;
    s->tried = true;
    s->done = s->copies = false;
    pid_t pid = child_start();
    if (pid == 0) {
        uint32_t before = open_descriptors();
        rad__stage_begin();
        s->copies = open_descriptors() == before;
        s->done = true;
        rad__process_exit(0);
    }
    s->late = pid > 0 && child_wait(s, pid, &status) && s->copies;
    if (s->late) rad__stage_begin();
}

static enum rad_outcome run_apart(rad_rig *rig, const rad_run_options *options)
{
    server *s = the_server;
    rad_kernel *k = rig->kernel;
    int status = 0;
    rig->shared->choice_count = 0;
    rig->shared->beacon = (rad_beacon){0};
    if (!s->tried) try_beginning(s);
    if (s->late) rad__kernel_begin(k, options);
    s->done = false;
    pid_t pid = child_start();
    if (pid == 0) {
        if (!s->late) {
            rad__stage_begin();
            rad__kernel_begin(k, options);
        }
        rad__kernel_advance(k, UINT64_MAX);
        rad__kernel_end(k);
        s->done = true;
        rad__process_exit(0);
    }
    if (pid < 0)
        rad__kernel_error(k, RAD_EIO, "cannot start a process for a run");
    else if (!child_wait(s, pid, &status))
        die_of(status);
    return k->outcome;
}

static void silence(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return;
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    close(nothing);
}

int rad__server_works(int in, int out, int memory, uint64_t max_steps)
{
    rad_target target = {.machine = &rad__fiber_machine, .c.max_steps = max_steps};
    server *s = rad__alloc(1, sizeof *s);
    if (s == NULL || rad__rig_join(&s->rig, &target, memory, NULL) != 0) return 3;
    the_server = s;
    rad__panic_mark = &s->rig.shared->panic;
    s->rig.apart = run_apart;
    s->rig.shared->pid = 0;
    rad__stage.shared = s->rig.shared;
    silence();
    rad__reach_own();
    return rad__serve_units(&s->rig, in, out);
}

/* ---- Telling ------------------------------------------------------------------------------------------- */

int rad__server_tells(int in, int out)
{
    rad_call_stream *s = &rad__server_stream;
    rad_record r;
    s->in = in;
    s->out = out;
    rad__crash_watch();
    rad__reach_own();
    while (rad__stream_get(s, &r)) {
        uint32_t answer = 0;
        if (r.what == RAD_STREAM_RESET) {
            rad__stage_begin();
            rad__fiber_machine.reset(&rad__stage, NULL);
        } else if (r.what == RAD_STREAM_STEP && r.a < rad__stage.runner_count) {
            rad__stage.stops = r.b != 0;
            rad__fiber_machine.step(&rad__stage, NULL, r.a);
            if (rad__stage.stops) rad__debugger_stop(); /* it made no operation */
        } else if (r.what == RAD_STREAM_IDLE) {
            answer = rad__fiber_machine.idle(&rad__stage, NULL);
            if (answer == RAD_END_STUCK) rad__frames_tell_all(false);
        }
        fflush(NULL); /* what the program has printed: raddle shows it */
        rad__stream_put(s, &(rad_record){.what = RAD_STREAM_DONE, .a = answer}, NULL);
        if (!rad__stream_send(s)) return 0;
    }
    return 0;
}
