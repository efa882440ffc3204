/* fibers_run_parts.h — one run of a program of the judge, and what the files that do it share. */
#ifndef RAD_TEST_FIBERS_RUN_PARTS_H
#define RAD_TEST_FIBERS_RUN_PARTS_H

#include "fibers_run.h"

#include "base/prng.h"

#include <raddle.h>
#include <stdatomic.h>

typedef struct rig rig;

typedef struct runner {
    rig *rig;
    uint32_t index;
    rad_prng prng;
    rad_ticker due, never;
    uint8_t reads, writes, item_count, shield, given;
    bool was_opened, was_waited, lags, is_counted;
    int last;
    void *items[2];
    uint32_t part;  /* of the operation at hand: its deadline (0), or that of case i (1 + i) */
    rad_time until; /* of the operation at hand */
} runner;

struct rig {
    const fibers_program *program;
    const fibers_run_options *options;
    fibers_result *now;
    rad_prng prng;
    runner runners[FIBERS_MOST];
    rad_fiber handles[FIBERS_MOST];
    _Atomic bool published[FIBERS_MOST], released[FIBERS_MOST], destroyed[FIBERS_MOST];
    rad_nursery nurseries[FIBERS_MOST];
    rad_chan *chans[FIBERS_CHANS], *tasks;
    rad_mutex mutexes[FIBERS_LOCKS];
    rad_rwlock rwlocks[FIBERS_LOCKS];
    rad_semaphore semaphores[FIBERS_LOCKS];
    rad_waitgroup groups[FIBERS_LOCKS];
    rad_cond cond;
    rad_once once;
    rad_barrier barrier;
    rad_pool *stock;
    rad_timer *timer, *alarm;
    rad_local_key key;
    _Atomic uint32_t note, created, good, destroyed_items, alarms_due, alarms_done;
    uint32_t living; /* under exploration: fibers that are counted and have not ended */
};

/* A call that changes nothing: under exploration, others may be next. */
static inline void let_others(const rig *r)
{
    if (r->options->claim) RAD_IGNORE(rad_is_canceled());
}

/* One operation: what it answers, and what is logged with it. */
int fibers_do(runner *f, const fibers_op *op, fibers_entry *e);

/* The function of a fiber; its argument is a runner. */
int fibers_body(void *arg);

static inline bool has_lock(const runner *f, uint8_t l)
{
    return (f->reads | f->writes) & 1u << l;
}

void fibers_rw_unlock(runner *f, uint8_t l);

#endif
