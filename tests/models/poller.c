/* poller.c — fibers wait for files (rt/poller.c, rt/ready.c): of the workers that have nothing to do one sleeps in the
 * poll, the others on their tokens, and who is to be woken is, wherever it sleeps. Somebody polls as long as somebody
 * waits. */
#include "crew.h"
#include "lab/l2/model.h"
#include "system.h"

#include <raddle/io.h>

enum { KIND, WORKERS, FIBERS };
enum { WAITS, HASTY, CANCELED, CLOSED, KINDS };
enum { FD = 3, FIBERS_MAX = 2 };

static rad_fiber waiters[FIBERS_MAX];
static int answers[FIBERS_MAX];
static bool late[FIBERS_MAX];

static uint32_t poller_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS] + 1 + (c->params[KIND] == CANCELED);
}

static const char *poller_role(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    return thread < workers ? "worker" : thread == workers ? "other" : "canceller";
}

static int waiter_main(void *arg)
{
    uint32_t self = (uint32_t)((rad_fiber *)arg - waiters);
    rad_time until = late[self] ? rad_after(10) : RAD_FOREVER;
    answers[self] = rad_fd_wait(FD, RAD_READABLE, until);
    late[self] = until != RAD_FOREVER && rad_now() >= until;
    return 0;
}

static void poller_setup(const rad_case *c)
{
    uint32_t fibers = (uint32_t)c->params[FIBERS];
    rad__system_open(0);
    rad__system_file(FD);
    rad__crew_open((uint32_t)c->params[WORKERS], fibers, 0, true);
    rad__crew_polls();
    late[0] = c->params[KIND] == HASTY;
    for (uint32_t i = 0; i < fibers; i++) rad__crew_spawn(&waiters[i], waiter_main, &waiters[i]);
    rad__crew_shut();
}

static void poller_body(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    if (thread < workers)
        rad__crew_work(thread);
    else if (thread > workers)
        rad_cancel(waiters[0]);
    else if (c->params[KIND] == CLOSED)
        RAD_MODEL_ASSERT(rad_fd_close(FD) == 0);
    else
        rad__system_ready(FD, RAD_OS_READABLE);
}

static bool is_good(const rad_case *c, uint32_t fiber)
{
    int code = answers[fiber];
    switch (c->params[KIND]) {
    case HASTY: return code == RAD_READABLE || (late[fiber] && code == RAD_ETIMEOUT);
    case CANCELED: return code == RAD_READABLE || (fiber == 0 && code == RAD_ECANCELED);
    case CLOSED: return code == RAD_ECLOSED || code == RAD_EINPUT;
    default: return code == RAD_READABLE;
    }
}

static void poller_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(rad__ready_waits(&rad__crew_runtime()->ready) == 0);
    for (uint32_t i = 0; i < (uint32_t)c->params[FIBERS]; i++) {
        RAD_MODEL_ASSERT(is_good(c, i));
        rad_release(waiters[i]);
    }
    rad__crew_close();
    RAD_MODEL_ASSERT(rad__system_polls() == 0);
}

static const rad_param poller_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "waits, has little time, is cancelled, it is closed", true},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [FIBERS] = {"fibers", 1, 1, FIBERS_MAX, "who wait", false},
    {.name = NULL},
};

RAD_MODEL(poller, .name = "l2-poller", .about = "fibers wait for files, and a worker polls", .params = poller_params,
          .covers = "poller ready", .thread_count = poller_threads, .thread_role = poller_role, .setup = poller_setup,
          .body = poller_body, .check = poller_check);
