/* thread.c — see thread.h. */
#define _GNU_SOURCE
#include "os/thread.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *thread_main(void *context)
{
    rad_os_thread *t = context;
    atomic_store_explicit(&t->number, (int)syscall(SYS_gettid), memory_order_relaxed);
    t->body(t->context);
    return NULL;
}

static int attributes_set(pthread_attr_t *attributes, size_t stack_size, uint32_t cpu)
{
    long least = sysconf(_SC_THREAD_STACK_MIN); /* on aarch64 it is 128 KiB */
    if (least > 0 && stack_size < (size_t)least) stack_size = (size_t)least;
    int number = pthread_attr_setstacksize(attributes, stack_size);
    if (number != 0 || cpu == RAD_NONE) return number;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_attr_setaffinity_np(attributes, sizeof set, &set);
}

/* The new thread inherits the mask; ours is as before afterwards. */
static int start_quietly(rad_os_thread *t, const pthread_attr_t *attributes)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&t->handle, attributes, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}

int rad__os_thread_create(rad_os_thread *t, void (*body)(void *context), void *context, size_t stack_size, uint32_t cpu,
                          rad_error *error)
{
    *t = (rad_os_thread){.body = body, .context = context};
    pthread_attr_t attributes;
    int number = rad__os_fails(EAGAIN) ? EAGAIN : pthread_attr_init(&attributes);
    if (number != 0) goto failed;
    number = attributes_set(&attributes, stack_size, cpu);
    if (number == 0) number = rad__os_fails(EAGAIN) ? EAGAIN : start_quietly(t, &attributes);
    pthread_attr_destroy(&attributes);
    if (number == 0) return 0;
failed:
    return rad__error(error, RAD_EIO, "cannot start a thread: %s", strerror(number));
}

void rad__os_thread_join(rad_os_thread *t)
{
    int number = pthread_join(t->handle, NULL);
    RAD_ASSERT(number == 0); /* it exists, and nobody else joins it */
}

bool rad__os_thread_is_self(const rad_os_thread *t)
{
    return pthread_equal(t->handle, pthread_self());
}

/* "number (name) state …", and a name may have anything in it but comes to an end. */
bool rad__os_thread_sleeps(const rad_os_thread *t)
{
    char path[64], text[256];
    int number = atomic_load_explicit(&t->number, memory_order_relaxed);
    if (number == 0 || rad__os_fails(EMFILE)) return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && (end[2] == 'S' || end[2] == 'D');
}

uint64_t rad__os_thread_cpu_ns(const rad_os_thread *t)
{
    clockid_t clock;
    struct timespec now;
    if (rad__os_fails(ESRCH) || pthread_getcpuclockid(t->handle, &clock) != 0) return 0;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool rad__os_after_fork(void (*child)(void))
{
    return pthread_atfork(NULL, NULL, child) == 0;
}

uint32_t rad__os_thread_total(void)
{
    struct stat tasks;
    /* Each thread is a folder in there, and so a link to it, beside its own two. */
    if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 3) return UINT32_MAX;
    return (uint32_t)tasks.st_nlink - 2;
}

/* False: the system does not say, or has more CPUs than the set has room for. */
static bool cpus_allowed(cpu_set_t *set)
{
    CPU_ZERO(set);
    return !rad__os_fails(EINVAL) && sched_getaffinity(0, sizeof *set, set) == 0 && CPU_COUNT(set) > 0;
}

uint32_t rad__os_cpu_count(void)
{
    cpu_set_t set;
    if (cpus_allowed(&set)) return (uint32_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

uint32_t rad__os_cpu_at(uint32_t index)
{
    cpu_set_t set;
    if (!cpus_allowed(&set)) return RAD_NONE;
    uint32_t nth = index % (uint32_t)CPU_COUNT(&set);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && nth-- == 0) return cpu;
    return RAD_NONE;
}

void rad__os_give_way(bool longer)
{
    static const struct timespec moment = {0, 50000};
    if (longer)
        nanosleep(&moment, NULL);
    else
        sched_yield();
}

void rad__os_thread_wakes_sharply(void)
{
    prctl(PR_SET_TIMERSLACK, 1ul);
}
