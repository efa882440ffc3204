/* sites.c — see sites.h. */
#include "lab/programs/fibers/sites.h"

#include <string.h>

const char *const rad__fiber_oracles[] = {
    "misuse",     "exit",       "uncontrolled",   "memory",           "check",
    "always",     "eventually", "leak",           "partial-deadlock", "send-on-closed",
    "starvation", "data race",  "use after free", "double free",      NULL};

const char rad__files = 0;

static const char *const site_texts[RAD_AT_COUNT] = {[RAD_AT_BEGIN] = "begin",
                                                     [RAD_AT_RESUME] = "continue",
                                                     [RAD_AT_END] = "end",
                                                     [RAD_AT_MAIN] = "main",
                                                     [RAD_AT_THREAD] = "thread",
                                                     [RAD_AT_TICK] = "tick",
#define TEXT_ROW(answer, name, parameters, arguments, object) [RAD_AT_##name] = #name,
                                                     RAD_MORE_OPS(TEXT_ROW) RAD_OPS(TEXT_ROW) RAD_LATER_OPS(TEXT_ROW)
#undef TEXT_ROW
#define TEXT_ROW(name) [RAD_AT_##name] = #name,
                                                         RAD_THREAD_SITES(TEXT_ROW)
#undef TEXT_ROW
};

/* Without what it is done to, which stories add: "lock" and the name of the mutex. */
const char *rad__site_text(uint32_t site)
{
    static const char *const kinds[] = {
        "pthread_mutex_", "pthread_cond_", "pthread_rwlock_", "pthread_spin_", "pthread_barrier_",
        "pthread_",       "sem_",          "futex_",          "mutex_",        "rwlock_",
        "cond_",          "semaphore_",    "waitgroup_",      "once_",         "barrier_",
        "nursery_",       "pool_",         "timer_",          "ticker_",       "chan_"};
    const char *text = rad__site_name(site);
    for (uint32_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i]);
        if (strncmp(text, kinds[i], size) == 0) return text + size;
    }
    return text;
}

const char *rad__site_name(uint32_t site)
{
    static const char *const choices[] = {"choose", "random", "fault"};
    static const char *const accesses[] = {"load", "store", "exchange", "fetch", "compare_exchange", "read", "write"};
    if (site >= RAD_AT_LOAD && site <= RAD_AT_WRITE) return accesses[site - RAD_AT_LOAD];
    if (site >= RAD_AT_CHOOSE && site <= RAD_AT_FAULT) return choices[site - RAD_AT_CHOOSE];
    return site < RAD_AT_COUNT ? site_texts[site] : NULL;
}
