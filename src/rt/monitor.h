/* monitor.h — the monitor: a thread that looks after the workers.
 *
 * It looks every few milliseconds, less often while nothing happens, and once in a second while nothing runs. Each
 * time:
 *
 * Timers    of a worker that has not come back to look at them are expired here; their fibers are overdue (overdue.h).
 * Stuck     A worker that is awake and has finished nothing since the last look is stuck. When its thread sleeps it is
 *           blocked in a system call; otherwise it computes. When there is something to run and too few workers are
 *           left that could, one more is seated (exec/thread/thread.h): a thread gets a spare seat, one at a look,
 *           while there are some. rad__choose_reinforce says when: fewer workers than usual are not blocked; when
 *           something is overdue, fewer than twice that, or it has waited for RAD_URGENT_LOOKS looks; when something
 *           waits behind a worker that computes (starve.h), because that one may not come back for seconds.
 * Files     When a fiber waits for one, no worker sleeps in the poll and none has looked since the last time, it looks
 *           (poller.c).
 * Stalls    By option, a fiber that keeps its worker for long is named on standard error (stall.h).
 * Deadlock  Nothing runs and nothing is queued, no timer is armed, no thread but ours exists, nobody waits for a
 *           file or a call that blocks, and there are fibers: nobody will ever wake them. Seen twice in a row it is
 *           reported, with every fiber, and the process ends with status 124, unless an option says otherwise.
 *
 * No other part waits for the monitor or needs it to be quick: it reads counters, and acts through functions that any
 * thread may call. */
#ifndef RAD_RT_MONITOR_H
#define RAD_RT_MONITOR_H

#include "exec/thread/thread.h"
#include "rt/stall.h"
#include "rt/starve.h"

typedef struct rad_monitor_seen {
    uint64_t ran;
    uint32_t stuck; /* looks in a row */
    bool blocked;
    rad_stall stall;
    rad_starve starve;
} rad_monitor_seen;

typedef struct rad_monitor {
    rad_runtime *runtime;
    rad_os_thread thread;
    bool started;
    _Atomic uint32_t bell; /* 1: something happens, or the end */
    _Atomic bool ends;
    uint64_t ran;       /* of all workers */
    uint32_t quiet;     /* looks in a row in which nothing happened */
    uint32_t overdue;   /* … in which something overdue waited */
    uint32_t dead;      /* … in which nothing can */
    uint32_t polls;     /* for poller.c */
    uint64_t cooled_ns; /* when memory was given back last */
    rad_monitor_seen seen[RAD_WORKERS_MAX];
} rad_monitor;

RAD_INTERNAL int rad__monitor_start(rad_monitor *w, rad_runtime *rt, rad_error *error);
RAD_INTERNAL void rad__monitor_stop(rad_monitor *w);
RAD_INTERNAL void rad__monitor_ring(rad_monitor *w); /* something happens */

enum { RAD_URGENT_LOOKS = 8 };

/* Whether one more worker is seated: there is work; `manned` workers, so many of them blocked, so many usual ones;
 * something overdue has waited for so many looks; anything starves. */
static inline bool rad__choose_reinforce(uint32_t manned, uint32_t blocked, uint32_t usual, uint32_t overdue,
                                         bool starves)
{
    if (manned - blocked < (overdue > 0 ? 2 * usual : usual)) return true;
    return starves || overdue > RAD_URGENT_LOOKS;
}

#endif
