/* processors.c — the processors that a program under test sees: as many as --processors says, on any machine. Programs
 * start a thread for each, or lay out their tables by them, so a schedule file would not replay elsewhere.
 *
 * Which of them a thread may use is kept and told again, and has no other effect. It runs on the first one. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/hello.h"
#include "lab/programs/threads/threads.h"
#include "os/term.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Constructors ask before there is a setup. */
static uint32_t processors(void)
{
    static uint32_t count;
    const char *how = count == 0 ? rad__os_env(RAD_UNDER_TEST) : NULL;
    if (count == 0 && (how == NULL || sscanf(how, "%*d,%*d,%*d,%*c,%u", &count) != 1)) count = RAD_PROCESSORS;
    return count;
}

void rad__processors_open(void)
{
    processors();
}

RAD_ANSWER(int, get_nprocs, (void))
{
    return rad__program_calls() ? (int)processors() : RAD_REAL(get_nprocs)();
}

RAD_ANSWER(int, get_nprocs_conf, (void))
{
    return rad__program_calls() ? (int)processors() : RAD_REAL(get_nprocs_conf)();
}

RAD_ANSWER(long, sysconf, (int name))
{
    bool asks = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
    return asks && rad__program_calls() ? (long)processors() : RAD_REAL(sysconf)(name);
}

/* ---- Which of them a thread may use --------------------------------------------------------------------- */

/* By its number, as gettid says it; NULL: it is none of the program's. Before main there is no thread yet. */
static rad_thread *thread_numbered(pid_t number)
{
    uint32_t index = number == 0 ? rad__thread_number() : (uint32_t)(number - RAD_OWN_PID);
    return rad__thread_at(index);
}

static cpu_set_t allowed(const rad_thread *t)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (uint32_t i = 0; i < processors() && i < CPU_SETSIZE; i++)
        if (t == NULL || !t->has_affinity || CPU_ISSET(i, &t->affinity)) CPU_SET(i, &set);
    return set;
}

/* 0 or an error number. */
static int allow(rad_thread *t, size_t size, const cpu_set_t *wish)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    memcpy(&set, wish, size < sizeof set ? size : sizeof set);
    for (uint32_t i = processors(); i < CPU_SETSIZE; i++) CPU_CLR(i, &set);
    if (CPU_COUNT(&set) == 0) return EINVAL;
    t->has_affinity = true;
    t->affinity = set;
    return 0;
}

static int tell_allowed(const rad_thread *t, size_t size, cpu_set_t *set)
{
    cpu_set_t all = allowed(t);
    if (size % sizeof(long) != 0 || size * 8 < processors()) return EINVAL;
    memset(set, 0, size);
    memcpy(set, &all, size < sizeof all ? size : sizeof all);
    return 0;
}

static int answer(int code)
{
    if (code != 0) errno = code;
    return code == 0 ? 0 : -1;
}

RAD_ANSWER(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set))
{
    const rad_thread *t = thread_numbered(pid);
    bool own = rad__program_calls() && (pid == 0 || t != NULL);
    return own ? answer(tell_allowed(t, size, set)) : RAD_REAL(sched_getaffinity)(pid, size, set);
}

RAD_ANSWER(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set))
{
    rad_thread *t = thread_numbered(pid);
    bool own = rad__stage.running && t != NULL;
    return own ? answer(allow(t, size, set)) : RAD_REAL(sched_setaffinity)(pid, size, set);
}

static rad_thread *thread_or_main(pthread_t handle)
{
    rad_thread *t = rad__thread_of(handle);
    return t ? t : rad__thread_at(0);
}

RAD_ANSWER(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set))
{
    if (!rad__stage.running) return RAD_REAL(pthread_setaffinity_np)(thread, size, set);
    return allow(thread_or_main(thread), size, set);
}

RAD_ANSWER(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *set))
{
    if (!rad__stage.running) return RAD_REAL(pthread_getaffinity_np)(thread, size, set);
    return tell_allowed(thread_or_main(thread), size, set);
}

/* ---- Where it runs ---------------------------------------------------------------------------------------- */

static uint32_t current(void)
{
    cpu_set_t set = allowed(thread_numbered(0));
    uint32_t first = 0;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &set)) first++;
    return first;
}

RAD_ANSWER(int, sched_getcpu, (void))
{
    return rad__program_calls() ? (int)current() : RAD_REAL(sched_getcpu)();
}

RAD_ANSWER(int, getcpu, (unsigned *cpu, unsigned *node))
{
    if (!rad__program_calls()) return RAD_REAL(getcpu)(cpu, node);
    if (cpu != NULL) *cpu = current();
    if (node != NULL) *node = 0;
    return 0;
}

bool rad__processors_by_number(long number, const long *a, long *result)
{
    size_t size = (size_t)a[1], told = (processors() + 63) / 64 * sizeof(long);
    switch (number) {
    case SYS_getcpu: *result = getcpu(rad__argument_pointer(a[0]), rad__argument_pointer(a[1])); break;
    case SYS_sched_setaffinity: *result = sched_setaffinity((pid_t)a[0], size, rad__argument_pointer(a[2])); break;
    case SYS_sched_getaffinity: /* the system says how much it has written */
        *result = sched_getaffinity((pid_t)a[0], size, rad__argument_pointer(a[2]));
        if (*result == 0) *result = (long)told;
        break;
    default: return false;
    }
    return true;
}

/* ---- Files that list them ---------------------------------------------------------------------------------- */

static void list(int fd)
{
    uint32_t count = processors();
    for (uint32_t i = 0; i < count; i++)
        dprintf(fd,
                "processor\t: %u\nvendor_id\t: raddle\nmodel name\t: under test\nphysical id\t: 0\n"
                "siblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n\n",
                i, count, i, count);
}

static const char *const ranges[] = {"/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible",
                                     "/sys/devices/system/cpu/present"};

bool rad__processors_file(const char *path, int *fd)
{
    bool is_list = strcmp(path, "/proc/cpuinfo") == 0, is_range = false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) is_range |= strcmp(path, ranges[i]) == 0;
    if (!is_list && !is_range) return false;
    *fd = memfd_create("processors", MFD_CLOEXEC);
    if (*fd < 0) return true;
    if (is_list)
        list(*fd);
    else
        dprintf(*fd, processors() > 1 ? "0-%u\n" : "%u\n", processors() - 1);
    lseek(*fd, 0, SEEK_SET);
    return true;
}
