/* source.c — the source file of a place in watched code, for the patterns of --suppress, and its line where the path
 * of a library is too long for a message. Raddle has the debug information: it is asked by the pipe of results, and
 * answers in shared memory, so that nothing is left in a pipe when this process is killed meanwhile. The answer is kept
 * with the place. */
#define _GNU_SOURCE
#include "lab/programs/watched/watched.h"

#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/server.h"
#include "lab/serve.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static void nap(void)
{
    const struct timespec time = {0, 100 * 1000};
    const long a[6] = {CLOCK_MONOTONIC, 0, (long)&time, 0, 0, 0};
    rad__dispatch_pass(SYS_clock_nanosleep, a);
}

/* In one piece: a message is read whole or not at all. */
static bool ask(const rad_worker_question *q)
{
    struct {
        uint64_t size;
        rad_worker_question question;
    } whole = {sizeof *q, *q};
    const long a[6] = {rad__control->keeper.out, (long)&whole, sizeof whole, 0, 0, 0};
    long put;
    do put = rad__dispatch_pass(SYS_write, a);
    while (put == -EINTR);
    return put == (long)sizeof whole;
}

/* Of the call that returns to `pc`. */
static const char *answer_about(uintptr_t pc, bool line)
{
    struct dl_phdr_info info;
    rad_rig_shared *s = rad__stage.shared;
    if (!rad__file_at(&info, pc - 1)) return "";
    rad_worker_question q = {.number = ++s->asked, .offset = pc - 1 - info.dlpi_addr, .line = line};
    snprintf(q.module, sizeof q.module, "%s", info.dlpi_name);
    if (!ask(&q)) return "";
    /* Pairs with the release in workers.c: the text is there. */
    while (atomic_load_explicit(&s->answered, memory_order_acquire) != q.number) nap();
    return s->source;
}

static const char *kept(const char *answer)
{
    const char *text = rad__copy_text(answer);
    return text ? text : "";
}

const char *rad__watched_source(rad_watched_site *site)
{
    if (rad__stage.suppressed == NULL || rad__stage.shared == NULL) return NULL;
    if (site->source == NULL) site->source = kept(answer_about(site->pc, false));
    return site->source[0] ? site->source : NULL;
}

void rad__watched_line(uintptr_t pc, char *text, size_t size)
{
    if (rad__stage.shared == NULL || rad__monitor == NULL) return;
    rad_watched_site *site = &rad__monitor->sites[rad__watched_site(rad__monitor, (const void *)pc, NULL)];
    if (site->line == NULL) site->line = kept(answer_about(pc, true));
    snprintf(text, size, "%s", site->line);
}
