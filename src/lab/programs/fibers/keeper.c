/* keeper.c — the process that keeps the original: see server.h.
 *
 * After the beginning of the program it writes nothing that a run could see, and does not call malloc: workers read
 * its memory, and are forked from it. Its own state is in shared memory. */
#define _GNU_SOURCE
#include "lab/programs/fibers/server.h"

#include "base/alloc.h"
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/maps.h"
#include "lab/programs/fibers/reach.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/threads/threads.h"
#include "lab/serve.h"
#include "os/process.h"
#include "os/shared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

rad_control *rad__control;

/* ---- Children ------------------------------------------------------------------------------------------ */

/* No handlers of fork: the program's, and those of the runtime, are for processes that the program starts. */
pid_t rad__child_start(void)
{
    pid_t parent = getpid();
    pid_t pid = _Fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rad__dispatch_open();
    if (getppid() != parent) rad__process_exit(0);
    return 0;
}

bool rad__child_wait(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    return rad__control->done && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

void rad__die_of(int status)
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

/* Finds those of the C library (interposed.h) that children make: each would look for them again, and write to a dozen
 * pages. */
static void calls_find(void)
{
    (void)getppid();
    (void)syscall(SYS_getppid);
    (void)prctl(PR_GET_DUMPABLE);
}

/* ---- The beginning ------------------------------------------------------------------------------------- */

static uint32_t open_descriptors(void)
{
    uint32_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL) return UINT32_MAX;
    while (readdir(all) != NULL) count++;
    closedir(all);
    return count;
}

/* Bytes of memory that the program shares with others, and may write to. */
static uint64_t shared_bytes(rad_maps *maps)
{
    uint64_t bytes = 0;
    const uint32_t both = RAD_RANGE_SHARED | RAD_RANGE_WRITE;
    if (!rad__maps_read(maps)) return 0;
    for (uint32_t i = 0; i < maps->count; i++)
        if ((maps->at[i].flags & both) == both) bytes += maps->at[i].to - maps->at[i].from;
    return bytes;
}

static _Noreturn void beginning_child(void)
{
    rad_maps *maps = rad__alloc(1, sizeof *maps);
    uint32_t before = open_descriptors();
    uint64_t shared = maps ? shared_bytes(maps) : 0;
    rad__stage_begin();
    rad__control->copies = open_descriptors() == before && maps && shared_bytes(maps) == shared;
    rad__control->done = true;
    rad__process_exit(0);
}

/* Production's own memory is malloc's. */
RAD_INTERNAL void *rad__real__alloc_lines(size_t count, size_t size);
RAD_INTERNAL void rad__real__free(void *p);

/* What malloc has in reserve: a run that takes it from there does not change the map of the process. */
static void malloc_prepare(void)
{
    enum { RESERVE = 512 << 10 };
    rad__real__free(rad__real__alloc_lines(1, RESERVE));
}

static void begin(rad_keeper *p)
{
    int status = 0;
    rad__control->done = rad__control->copies = false;
    pid_t pid = rad__child_start();
    if (pid == 0) beginning_child();
    p->rig->shared->pid = pid;
    p->late = pid > 0 && rad__child_wait(pid, &status) && rad__control->copies;
    p->rig->shared->pid = 0;
    rad__donors_prepare();
    if (p->late) rad__stage_begin();
    malloc_prepare();
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

static int high_descriptor(int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, RAD_LAB_FDS);
    if (fd >= 0) close(fd);
    return high;
}

static bool worker_start(rad_keeper *p)
{
    int pair[2];
    rad__donors_prepare();
    rad__control->leaving = RAD_LEAVES_NOT;
    rad__control->in_unit = rad__control->here = false;
    rad__control->now = RAD_NOW_IDLE;
    rad__control->marks = (rad_marks){.maps = false};
    p->rig->shared->pid = 0;
    p->rig->shared->here = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    p->worker = high_descriptor(pair[0]);
    int keeper = high_descriptor(pair[1]);
    if (p->worker < 0 || keeper < 0) return false;
    pid_t pid = rad__child_start(); /* the child has its own, and `p` is shared */
    if (pid == 0) {
        rad__os_close(p->worker);
        rad__process_exit(rad__worker_serves(keeper));
    }
    rad__os_close(keeper);
    p->pid = pid;
    return pid > 0;
}

/* A run in a fresh process; its status, or -1. */
static int run_fresh(rad_keeper *p)
{
    int status = -1;
    rad__control->done = false;
    pid_t pid = rad__child_start();
    if (pid == 0) rad__run_and_exit();
    p->rig->shared->pid = pid;
    if (pid > 0) rad__child_wait(pid, &status);
    return status;
}

/* Until the worker ends. */
static int worker_assist(rad_keeper *p)
{
    char request;
    int status = 0;
    while (rad__os_read(p->worker, &request, 1, NULL) == 1) {
        int answer = run_fresh(p);
        p->rig->shared->pid = p->pid;
        if (rad__os_write_all(p->worker, &answer, sizeof answer, NULL) != 0) break;
    }
    rad__os_close(p->worker);
    p->worker = -1;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {
    }
    p->rig->shared->pid = 0;
    return status;
}

/* ---- Deaths --------------------------------------------------------------------------------------------- */

typedef struct death {
    int status;
    uint64_t choices, steps;
    rad_digest digest;
} death;

static death death_of(const rad_keeper *p, int status)
{
    const rad_rig_shared *shared = p->rig->shared;
    return (death){status, shared->choice_count, shared->beacon.steps, rad__beacon_digest(&shared->beacon)};
}

/* Does a fresh process die of the same choices in the same way? The heap is in order. */
static bool death_confirmed(rad_keeper *p, int status)
{
    death here = death_of(p, status);
    p->rig->limit = rad__control->limit;
    rad__guide_follow(p->rig->guide, p->rig->choices, here.choices);
    rad__control->options = rad__rig_options(p->rig, p->rig->guide);
    death fresh = death_of(p, run_fresh(p));
    return fresh.status == here.status && fresh.choices == here.choices && fresh.steps == here.steps &&
           fresh.digest.low == here.digest.low && fresh.digest.high == here.digest.high;
}

static void run_apart_from_now(rad_keeper *p, const char *why)
{
    p->apart = true;
    if (rad__control->why[0] == 0) snprintf(rad__control->why, sizeof rad__control->why, "%s", why);
}

/* What raddle is to know of a worker that has ended; false: nothing. */
static bool worker_ended(rad_keeper *p, int status, rad_worker_note *note)
{
    rad_control *c = rad__control;
    *note = (rad_worker_note){.what = RAD_WORKER_AGAIN,
                              .status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                              .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    rad__heap_back();
    p->rig->shared->here = 0;
    if (c->leaving == RAD_LEAVES_APART) run_apart_from_now(p, "");
    if (c->leaving != RAD_LEAVES_NOT) return c->in_unit;
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; /* perhaps from outside */
    /* Somebody killed it while it had nothing to do, or had read or written a part of a message: the rest is in the
     * pipes. When this process is killed, too, raddle starts a program with other pipes. */
    if (!c->in_unit) kill(getpid(), SIGKILL);
    if (c->now == RAD_NOW_RESTORES) {
        run_apart_from_now(p, "memory could not be put back");
        return true;
    }
    if (c->here && !killed && !death_confirmed(p, status)) {
        rad__heap_back();
        if (c->trusts || c->is_void) { /* it may have died of what another run has left */
            c->careful = true;
            return true;
        }
        run_apart_from_now(p, "a run died that does not die in a fresh process");
        return true;
    }
    if (c->here) rad__heap_back();
    note->what = RAD_WORKER_DIED;
    return true;
}

/* Ends when raddle wants no more, or for a reason of ours. */
static int keep(rad_keeper *p)
{
    rad_worker_note note;
    for (;;) {
        if (!worker_start(p)) return 3;
        int status = worker_assist(p);
        if (p->rig->shared->panic || p->rig->shared->trouble) return 3;
        if (rad__control->leaving == RAD_LEAVES_NOT && WIFEXITED(status) && !rad__control->in_unit)
            return WEXITSTATUS(status);
        if (!worker_ended(p, status, &note)) continue;
        rad_bytes bytes = {0};
        rad__bytes_put(&bytes, &note, sizeof note);
        int code = rad__message_write(p->out, &bytes, NULL);
        rad__bytes_free(&bytes);
        if (code != 0) return 3;
    }
}

/* ---- From the start --------------------------------------------------------------------------------------- */

/* What the program prints goes to this file; "": nowhere. */
static void silence(const char *shown)
{
    int nothing =
        shown[0] ? open(shown, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return;
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    close(nothing);
}

int rad__keeper_works(int in, int out, int memory, const rad_setup *setup)
{
    rad_target target = {.machine = &rad__fiber_machine, .c.max_steps = setup->max_steps};
    void *control = NULL;
    if (rad__os_shared_map(&control, sizeof *rad__control, NULL) != 0) return 3;
    rad__control = control;
    rad_keeper *p = &rad__control->keeper;
    p->rig = rad__alloc(1, sizeof *p->rig);
    if (p->rig == NULL || rad__rig_join(p->rig, &target, memory, NULL) != 0) return 3;
    p->rig->suppressed = rad__stage.suppressed;
    p->in = in;
    p->out = out;
    p->stack = (char *)rad__stage.argv;
    rad__marks = &rad__control->marks;
    rad__panic_mark = &p->rig->shared->panic;
    p->rig->shared->pid = 0;
    rad__stage.shared = p->rig->shared;
    silence(setup->shown);
    calls_find();
    rad__reach_own();
    rad__dispatch_open();
    begin(p);
    p->memory = high_descriptor(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    if (setup->apart)
        run_apart_from_now(p, setup->apart == RAD_APART_HUNG ? "a run did not return" : "it was asked for");
    if (setup->real_threads) run_apart_from_now(p, "its threads are real (--real-threads)");
    if (rad__stage.folders[0]) run_apart_from_now(p, "each one has a directory (--scratch)");
    return rad__heap_keep() ? keep(p) : 3;
}
