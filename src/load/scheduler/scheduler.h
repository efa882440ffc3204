/* scheduler.h — the scheduler: a pure function of (state, inputs of a turn) to (state, effects, events).
 *
 * Virtual users, a queue of due events in logical time, cohorts, a pool of connections. It reads no clock, opens no
 * socket, and draws only by key: the same inputs give the same effects and the same events. Engines (turn.h) are the
 * world around it; the lab is another one.
 *
 * A turn, in this order:
 *     1  inputs, sorted by (user, connection, sequence): an answer beats the timeout of the same tick
 *     2  due events, by (time, sequence): spawns, timeouts, ends of think times, retries; then arrivals
 *     3  activation by cohorts: steps in ascending order, first come first served within one
 *     4  the log is flushed when it is time; the next turn is a later tick
 * A user that becomes ready in a tick runs in the next one: a tick always ends.
 *
 *               spawned --> ready --> executing --> waiting --> ready …
 *                             |                        |
 *                             +------> complete <------+
 *
 * I1  these six transitions are all there are; any other is a bug of raddle (exit 4).
 * I2  a user is in the list of its step if and only if it is ready; it waits for one thing.
 * I3  a user waits for an answer only with its timeout in the queue: the place is taken before anything is sent.
 * I4  issued = responses + errors + timeouts + cancelled + under way.
 * I5  no more than limits.max_events users' events are to come; when it is full no user is activated
 *     until there is room, and there will be: everything in it is due at some time. */
#ifndef RAD_LOAD_SCHEDULER_SCHEDULER_H
#define RAD_LOAD_SCHEDULER_SCHEDULER_H

#include "base/bitset.h"
#include "base/heap.h"
#include "load/log/event.h"
#include "load/log/log.h"
#include "load/scenario/schedule.h"
#include "load/scheduler/connections.h"
#include "load/scheduler/metrics.h"

enum rad__load_state { RAD__LOAD_SPAWNED, RAD__LOAD_READY, RAD__LOAD_EXECUTING, RAD__LOAD_WAITING, RAD__LOAD_COMPLETE };

enum rad__load_wait {
    RAD__LOAD_FOR_NOTHING,
    RAD__LOAD_FOR_START,  /* spawned: the rest of its jitter */
    RAD__LOAD_FOR_ANSWER, /* its timeout is in the queue */
    RAD__LOAD_FOR_PAUSE,  /* think time */
    RAD__LOAD_FOR_RETRY,  /* a connection may be free then */
    RAD__LOAD_FOR_ARRIVAL /* open: idle; nothing in the queue */
};

struct rad__load_user {
    uint64_t iteration; /* closed: how many were begun before; open: number of the arrival */
    uint64_t request;   /* number of its last one: answers to others are late */
    uint64_t issued_ns, planned_ns;
    uint64_t due_ns;     /* what it waits for comes then */
    uint64_t wake_ns;    /* the same, or when a warning is due before */
    uint64_t wake_order; /* among those of the same time */
    uint64_t placed_ns;  /* where its place in the queue is; UINT64_MAX: it has none */
    uint64_t ready_tick; /* when it became ready */
    uint32_t next;       /* in the list of its step, or of those who are idle */
    uint32_t step, repeated, position;
    uint32_t conn, opened; /* the connection it sent on, as the pool had it */
    uint32_t what, target;
    uint32_t failures; /* connections that failed, in a row */
    uint8_t state, waits;
    bool warned, retires, blocked, measured;
};

struct rad__load_line {
    uint32_t first, last; /* users; RAD_NONE: empty */
};

struct rad__load_ordered {
    uint64_t key; /* user and connection */
    uint32_t index;
};

/* The seed's seven, for the summary; they never enter the log. */
struct rad__load_counters {
    uint64_t ticks, events, cohorts, activated;
    uint32_t spawned, completed, deepest_queue;
};

typedef struct rad__load_scheduler {
    const rad__load_scenario *scenario;
    uint64_t seed;
    uint32_t shard, shards;
    bool logical; /* ticks are multiples of tick_ns; else each turn is one */

    uint64_t tick, now_ns;
    enum rad__load_phase phase;
    bool failed;                    /* an assertion does not hold */
    bool aborted;                   /* and it was one that ends the run */
    bool interrupted;               /* the run was asked to end */
    enum rad__load_fault exhausted; /* why the run was given up; 0: it was not */

    struct rad__load_user *users;
    uint32_t user_count, user_capacity; /* spawned so far, and all there will be */
    uint32_t running;                   /* not complete */
    uint32_t youngest;                  /* of those that do not retire: users above have retired */

    rad_heap due; /* users, then the items of due.c */
    uint64_t due_sequence;
    uint32_t waiting;    /* users whose time will come */
    bool queue_was_full; /* and it was told */

    struct rad__load_line *lines; /* one for each step */
    rad_bitset occupied;          /* lines that are not empty */
    uint64_t pass_tick;           /* this pass is for those who were ready before */
    bool pass_is_open;            /* the last tick had no room for all of them */
    uint32_t ready_count;
    struct rad__load_line idle; /* open: users without an arrival, who has waited longest first; */
    struct rad__load_line warm; /* those who may have a connection, who was busy last first */
    bool deals_in_turn, connects_before;

    rad__load_levels levels;
    uint64_t level, next_level; /* users there should be, and will be after the next change */
    uint32_t wanted;            /* users that should have been spawned by now */
    rad__load_arrivals arrivals;
    bool levels_left, arrivals_left; /* a change, an arrival is still to come */
    uint64_t next_arrival_ns, arrival_number;
    uint64_t starved_ns;                  /* arrivals up to here found nobody free; 0: none */
    uint64_t *request_sums, *target_sums; /* running sums of weights */
    uint64_t flushed_tick, flushed_ns;

    rad__load_pool pool;
    rad__load_effect *effects;
    uint32_t effect_count, effect_capacity;
    struct rad__load_ordered *order; /* of inputs, twice: sorting needs a second place */
    uint32_t order_capacity;

    rad__load_metrics metrics;
    rad__load_log *log; /* may be NULL */
    struct rad__load_counters counters;
    int error; /* memory ran out: RAD_ENOMEM; sticky */
} rad__load_scheduler;

/* `log` may be NULL and stays the caller's. Shard i of n has the users i, i + n, … and the arrivals i, i + n, … */
RAD_INTERNAL int rad__load_scheduler_open(rad__load_scheduler *c, const rad__load_scenario *scenario, uint64_t seed,
                                          uint32_t shard, uint32_t shards, bool logical, rad__load_log *log,
                                          rad_error *error);
RAD_INTERNAL void rad__load_scheduler_close(rad__load_scheduler *c);

/* One turn. Effects are in c->effects until the next. RAD_EINPUT: an input that cannot be (replay of a broken log;
 * *error says which). */
RAD_INTERNAL int rad__load_scheduler_turn(rad__load_scheduler *c, const rad__load_turn *turn, rad_error *error);

static inline bool rad__load_scheduler_over(const rad__load_scheduler *c)
{
    return c->phase == RAD__LOAD_OVER;
}

/* When something is due at the latest: 0: at once, a user is ready and can be activated; UINT64_MAX: nothing is.
 * While the queue is full only what comes in, or is due, makes room. */
RAD_INTERNAL uint64_t rad__load_scheduler_due(rad__load_scheduler *c);
/* When what was written has to be on its way to the disk; UINT64_MAX: nothing has to. */
RAD_INTERNAL uint64_t rad__load_scheduler_flush_ns(const rad__load_scheduler *c);

RAD_INTERNAL void rad__load_counters_add(struct rad__load_counters *to, const struct rad__load_counters *from);

/* I1 … I5 over the whole state: NULL, or what does not hold. For the lab and checked builds. */
RAD_INTERNAL const char *rad__load_scheduler_wrong(const rad__load_scheduler *c);

/* ---- Between the files of the scheduler ------------------------------------------------------------------ */

RAD_INTERNAL void rad__load_emit(rad__load_scheduler *c, rad__load_event *event);
RAD_INTERNAL void rad__load_move(rad__load_scheduler *c, uint32_t vu, enum rad__load_state to);
RAD_INTERNAL void rad__load_effect_add(rad__load_scheduler *c, const rad__load_effect *effect);

/* due.c: the queue */
RAD_INTERNAL bool rad__load_due_room(const rad__load_scheduler *c);
RAD_INTERNAL void rad__load_wait_for(rad__load_scheduler *c, uint32_t vu, enum rad__load_wait what, uint64_t due_ns);
RAD_INTERNAL void rad__load_wait_over(rad__load_scheduler *c, uint32_t vu); /* it does not wait for that any more */
RAD_INTERNAL bool rad__load_wait_valid(const rad__load_scheduler *c, uint32_t vu);
RAD_INTERNAL void rad__load_due_begin(rad__load_scheduler *c);
RAD_INTERNAL void rad__load_due_fire(rad__load_scheduler *c);
RAD_INTERNAL uint64_t rad__load_arrivals_unserved(rad__load_scheduler *c);

/* user.c: what users do */
RAD_INTERNAL void rad__load_user_ready(rad__load_scheduler *c, uint32_t vu);
RAD_INTERNAL void rad__load_user_idle(rad__load_scheduler *c, uint32_t vu);
RAD_INTERNAL uint32_t rad__load_user_take_idle(rad__load_scheduler *c); /* RAD_NONE: all are busy */
RAD_INTERNAL void rad__load_user_retire(rad__load_scheduler *c, uint32_t vu);
RAD_INTERNAL void rad__load_user_finish(rad__load_scheduler *c, uint32_t vu);
RAD_INTERNAL void rad__load_user_timeout(rad__load_scheduler *c, uint32_t vu);
RAD_INTERNAL void rad__load_user_answered(rad__load_scheduler *c, const rad__load_input *in);
RAD_INTERNAL void rad__load_user_failed(rad__load_scheduler *c, const rad__load_input *in);
RAD_INTERNAL void rad__load_activate(rad__load_scheduler *c);
RAD_INTERNAL void rad__load_lines_clear(rad__load_scheduler *c);

/* input.c */
RAD_INTERNAL int rad__load_take_inputs(rad__load_scheduler *c, const rad__load_turn *turn, rad_error *error);

/* choose.c: what is drawn */
RAD_INTERNAL rad__load_stream rad__load_user_draw(const rad__load_scheduler *c, const struct rad__load_user *u,
                                                  uint32_t vu, enum rad__load_purpose purpose);
RAD_INTERNAL void rad__load_choose(rad__load_scheduler *c, uint32_t vu); /* what it asks for, and whom */
RAD_INTERNAL uint64_t rad__load_choose_pause(rad__load_scheduler *c, uint32_t vu);

/* end.c: phases, assertions */
RAD_INTERNAL void rad__load_end_begin(rad__load_scheduler *c); /* of the time, or on request */
RAD_INTERNAL void rad__load_end_over(rad__load_scheduler *c);
RAD_INTERNAL void rad__load_assert_now(rad__load_scheduler *c, bool final);

#endif
