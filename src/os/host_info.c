/* host_info.c — see host_info.h. */
#define _GNU_SOURCE
#include "os/host_info.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The first "model name" of /proc/cpuinfo. Other processors than x86 have no such line. */
static void find_cpu(char *text, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (f == NULL) return;
    while (fgets(line, sizeof line, f) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL) continue;
        value += strspn(value, ": \t");
        snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(f);
}

void rad__os_host_info(rad_os_host_info *m)
{
    struct utsname u;
    *m = (rad_os_host_info){.cores = 0};
    if (uname(&u) == 0) {
        snprintf(m->host, sizeof m->host, "%s", u.nodename);
        snprintf(m->system, sizeof m->system, "%.60s %.120s %.60s", u.sysname, u.release, u.machine);
    }
    find_cpu(m->cpu, sizeof m->cpu);
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (cores > 0) m->cores = (uint32_t)cores;
    if (pages > 0 && size > 0) m->memory_bytes = (uint64_t)pages * (uint64_t)size;
}

uint64_t rad__os_time_of_day_ns(void)
{
    struct timespec t;
    int failed = clock_gettime(CLOCK_REALTIME, &t);
    RAD_ASSERT(failed == 0 && t.tv_sec >= 0);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t rad__os_memory_peak(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss < 0) return 0;
    return (uint64_t)usage.ru_maxrss * 1024;
}
