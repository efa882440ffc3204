/* fibers_reference_parts.h — the world of the reference, and what its files share. */
#ifndef RAD_TEST_FIBERS_REFERENCE_PARTS_H
#define RAD_TEST_FIBERS_REFERENCE_PARTS_H

#include "fibers_reference.h"

#include <raddle.h>

enum world_state { UNBORN, READY, WAITING, ENDED };
enum { OWNER_NONE, OWNER_OPEN, OWNER_WAITED };
enum { ONCE_FRESH, ONCE_RUNS, ONCE_DONE };
enum { TIMER_IDLE, TIMER_DUE, TIMER_SOON, TIMER_FAR, TIMER_FIRED };
enum {
    LATE_NO,
    LATE_SOON,
    LATE_YES,   /* it came soon, and has come */
    LATE_BEFORE /* it had passed when the nursery was opened: no deadline of a call is earlier */
};

/* All fields are bytes: a world is compared and hashed as bytes. */
typedef struct world_fiber {
    uint8_t state, pc, phase;
    uint8_t canceled;  /* for good */
    uint8_t arriving;  /* a cancellation of its nursery has begun, and did not get here yet */
    uint8_t prodded;   /* it is to look why, and has not yet */
    uint8_t stale;     /* it was cancelled after its call had looked */
    uint8_t late;      /* the deadline of its nursery: LATE_ */
    uint8_t shield;    /* how deep */
    uint8_t nursery;   /* the owner of the one it is in, + 1 */
    uint8_t published; /* its handle is known to all */
    uint8_t released;
    uint8_t gone; /* it has ended, was given up, and nothing is left of it */
    uint8_t given, local, destroyed;
    int8_t answer, last, saved;
    uint8_t reads, writes; /* bits: RW locks it has */
    uint8_t item_count, items[2];
    uint8_t many_count, many[FIBERS_BATCH]; /* of a batch so far */
    uint8_t off;                            /* bits: cases of a select that are off, for want of a handle */
    uint8_t fetched;                        /* the fiber that task_join has received, + 1 */
    /* The nursery that it opened. */
    uint8_t opened, is_closed, is_canceled, has_reason, deadline, has_failure;
    int8_t reason, failure;
} world_fiber;

typedef struct world {
    world_fiber fibers[FIBERS_MOST];
    uint8_t order[FIBERS_MOST], order_count; /* those who wait, by the time they began to */
    struct {
        uint8_t is_closed, count, items[FIBERS_ROOM];
        int8_t code;
    } chans[FIBERS_CHANS];
    uint8_t task_count, tasks[FIBERS_ROOM];
    uint8_t owners[FIBERS_LOCKS]; /* of mutexes, + 1 */
    uint8_t permits[FIBERS_LOCKS], groups[FIBERS_LOCKS];
    uint8_t once;
    uint8_t made, created, idle_count, idle[2], stock_is_closed;
    int8_t stock_code;
    uint8_t timer, alarm, alarms; /* alarms: functions that have yet to do their work */
    uint8_t busy;                 /* threads of blocking calls */
    uint8_t note, is_aborted;
    fibers_result result;
} world;

enum { CHOICES_MOST = 16 };

/* One action on its way through its choices. */
typedef struct stage {
    const fibers_program *program;
    world w;
    fibers_set *set;
    bool is_firm, is_quiet;
    bool is_parallel; /* on threads: who does not want to wait any longer is in line for a moment */
    uint8_t choices[CHOICES_MOST], sizes[CHOICES_MOST];
    uint32_t choice_count, choice_at;
} stage;

/* 0 … count - 1: each of them is tried. */
uint32_t stage_pick(stage *s, uint32_t count);

/* What the documentation leaves open: each is tried, or, of a firm reference, what the runtime does. */
uint32_t stage_open(stage *s, uint32_t count, uint32_t firm);
void stage_saw(stage *s, enum fibers_seen what);

/* The operation that a fiber is at; NULL: it is past its last one. */
const fibers_op *stage_op(const stage *s, uint32_t f);

/* What a fiber waits for, or would: one case, or those of a select. */
uint32_t stage_cases(const stage *s, uint32_t f, fibers_case cases[FIBERS_CASES]);

/* ---- Waiting (fibers_reference_wait.c) --------------------------------------------------------------- */

/* The operation has answered; the fiber can do its next one. */
void stage_finish(stage *s, uint32_t f, int code, uint8_t v0, uint8_t v1, uint8_t v2);

/* The same for case number `i` of what the fiber is at. */
void stage_finish_case(stage *s, uint32_t f, uint32_t i, int code, uint8_t v0, uint8_t v1, uint8_t v2);

/* The fiber begins an operation that may wait. */
void stage_begin_wait(stage *s, uint32_t f);
void stage_wait(stage *s, uint32_t f);
void stage_leave(stage *s, uint32_t f); /* it waits no more */

/* The first one (but `not_f`) that waits with a case of that kind on that object; *i is the case. FIBERS_MOST: none. */
uint32_t stage_first(const stage *s, uint32_t not_f, uint8_t kind, uint8_t object, uint32_t *i);

/* Whether one that waits for the same kind of thing comes before f. */
bool stage_is_behind(const stage *s, uint32_t f, uint8_t kind, uint8_t object);

/* Waiters that can be served are served, in the order in which they came. */
void stage_settle(stage *s);

/* rad_cancel, and the deadline of a nursery. */
void stage_cancel(stage *s, uint32_t f);
void stage_prodded(stage *s, uint32_t f);
void stage_late(stage *s, uint32_t f);
void stage_times_out(stage *s, uint32_t f);
bool stage_can_time_out(const stage *s, uint32_t f);

/* A cancellation of the nursery that f opened has begun. */
void stage_cancel_nursery(stage *s, uint32_t f, int reason);

/* Whether fiber f is told of a cancellation, or of its nursery's deadline. */
bool stage_is_told(const stage *s, uint32_t f);
bool stage_is_late(const stage *s, uint32_t f);

/* It is, and that counts for a call with this deadline: it was not earlier. */
bool stage_late_counts(const stage *s, uint32_t f, uint8_t until);

/* ---- Things (fibers_reference_things.c) -------------------------------------------------------------- */

/* Whether fiber f can have this now, and having it. */
bool case_is_ready(const stage *s, uint32_t f, const fibers_case *c);
void case_do(stage *s, uint32_t f, const fibers_case *c, uint32_t i, bool has_waited);

/* More of a batch, as far as can be had without waiting. */
void batch_more(stage *s, uint32_t f);

bool chan_try_send(stage *s, uint32_t f, uint8_t c, uint8_t value, int *code);
bool chan_try_recv(stage *s, uint32_t f, uint8_t c, uint8_t *value, int *code);
void mutex_unlock(stage *s, uint8_t m);
bool mutex_can_grab(const stage *s, uint32_t f, uint8_t *m, uint32_t *i);
bool rwlock_is_written(const stage *s, uint8_t l);
void stock_put(stage *s, uint8_t item);
uint32_t world_live(const stage *s);
bool nursery_is_empty(const stage *s, uint32_t owner);

/* ---- Operations (fibers_reference_ops.c) ------------------------------------------------------------- */

void stage_step(stage *s, uint32_t f);
void stage_spawn_failed(stage *s, uint32_t f, int code); /* into a nursery */
void stage_signal(stage *s, uint32_t f);                 /* a waiter of the condition is woken */

#endif
