/* attributes.c — what a thread is to the system: its name, its priority. A run has one thread of the
 * system, so these are kept and told again, and have no other effect. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/snapshot.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

static rad_thread *thread_or_main(pthread_t handle)
{
    rad_thread *t = rad__thread_of(handle);
    return t ? t : rad__thread_at(0);
}

/* ---- Names --------------------------------------------------------------------------------------- */

static int set_name(rad_thread *t, const char *name)
{
    if (strlen(name) >= sizeof t->name) return ERANGE;
    memcpy(t->name, name, strlen(name) + 1);
    return 0;
}

RAD_ANSWER(int, pthread_setname_np, (pthread_t thread, const char *name))
{
    if (!rad__stage.running) return RAD_REAL(pthread_setname_np)(thread, name);
    return set_name(thread_or_main(thread), name);
}

/* One without a name has that of the process. */
static const char *name_of(const rad_thread *t)
{
    const char *slash = strrchr(rad__stage.argv[0], '/');
    return t->name[0] ? t->name : slash ? slash + 1 : rad__stage.argv[0];
}

RAD_ANSWER(int, pthread_getname_np, (pthread_t thread, char *name, size_t size))
{
    if (!rad__stage.running) return RAD_REAL(pthread_getname_np)(thread, name, size);
    if (size < sizeof((rad_thread *)NULL)->name) return ERANGE;
    size_t length = strnlen(name_of(thread_or_main(thread)), 15);
    memcpy(name, name_of(thread_or_main(thread)), length);
    name[length] = 0;
    return 0;
}

/* Its other operations stay when the run has ended. */
RAD_ANSWER(int, prctl, (int what, ...))
{
    long a[4];
    va_list more;
    va_start(more, what);
    for (uint32_t i = 0; i < 4; i++) a[i] = va_arg(more, long);
    va_end(more);
    rad_thread *self = rad__thread_self();
    if (self && what == PR_SET_NAME) {
        size_t length = strnlen(rad__argument_pointer(a[0]), sizeof self->name - 1);
        memcpy(self->name, rad__argument_pointer(a[0]), length);
        self->name[length] = 0;
        return 0;
    }
    if (self && what == PR_GET_NAME)
        return pthread_getname_np(self->handle, rad__argument_pointer(a[0]), sizeof self->name);
    if (rad__stage.running) rad__marks->beyond = "it calls prctl";
    return RAD_REAL(prctl)(what, a[0], a[1], a[2], a[3]);
}

/* ---- Stacks ---------------------------------------------------------------------------------------- */

/* The stack is that of the donor, which has a guard of its own and is never detached: the program asked for others.
 * Rust ends a thread that has no guard. */
RAD_ANSWER(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *attributes))
{
    int code = RAD_REAL(pthread_getattr_np)(thread, attributes);
    const rad_thread *t = rad__stage.running ? rad__thread_of(thread) : NULL;
    if (code != 0 || t == NULL || t->donor == NULL) return code;
    pthread_attr_setguardsize(attributes, t->guard);
    pthread_attr_setdetachstate(attributes, t->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    return 0;
}

/* ---- Priorities and clocks ---------------------------------------------------------------------------- */

RAD_ANSWER(int, pthread_setschedparam, (pthread_t thread, int policy, const struct sched_param *param))
{
    if (!rad__stage.running) return RAD_REAL(pthread_setschedparam)(thread, policy, param);
    rad_thread *t = thread_or_main(thread);
    int least = sched_get_priority_min(policy), most = sched_get_priority_max(policy);
    if (least < 0 || param->sched_priority < least || param->sched_priority > most) return EINVAL;
    t->policy = policy;
    t->priority = param->sched_priority;
    return 0;
}

RAD_ANSWER(int, pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *param))
{
    if (!rad__stage.running) return RAD_REAL(pthread_getschedparam)(thread, policy, param);
    const rad_thread *t = thread_or_main(thread);
    *policy = t->policy;
    *param = (struct sched_param){.sched_priority = t->priority};
    return 0;
}

RAD_ANSWER(int, pthread_setschedprio, (pthread_t thread, int priority))
{
    struct sched_param param = {.sched_priority = priority};
    if (!rad__stage.running) return RAD_REAL(pthread_setschedprio)(thread, priority);
    return pthread_setschedparam(thread, thread_or_main(thread)->policy, &param);
}

RAD_ANSWER(int, pthread_getcpuclockid, (pthread_t thread, clockid_t *clock))
{
    if (!rad__stage.running) return RAD_REAL(pthread_getcpuclockid)(thread, clock);
    *clock = CLOCK_THREAD_CPUTIME_ID;
    return 0;
}
