/* fibers_program.h — the little language of the judge of fibers: programs that a reference and the runtime both run.
 *
 * A program is a few fibers with a few operations each over a fixed set of objects. Fiber 0 is the first one; the
 * others are started by operations. There are no branches: a fiber does one operation after the other, whatever each of
 * them answers, and then gives back what it still holds, waits for its nursery and ends. An operation that would be a
 * mistake (to lock what it holds, to unlock what it does not, to use a nursery that is not open) is skipped, so every
 * program is valid, and so is what is left of it when operations are deleted. A *result* is what every operation of
 * every fiber answered, and how the program ended.
 *
 * Time is never measured. A deadline is now (0), has passed, comes soon (at some unknown moment), or never comes. */
#ifndef RAD_TEST_FIBERS_PROGRAM_H
#define RAD_TEST_FIBERS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    FIBERS_MOST = 5, /* the first one, and four */
    FIBERS_OPS = 8,
    FIBERS_LOGGED = FIBERS_OPS + 1, /* and the wait for the nursery at the end */
    FIBERS_CASES = 3,
    FIBERS_CHANS = 3,
    FIBERS_LOCKS = 2,
    FIBERS_ROOM = 3, /* of a channel */
    FIBERS_BATCH = 3,
    FIBERS_SOONS = 8 /* deadlines that have an order */
};

/* X(name, text, object, number, may wait, may be a case of select)
 * object: c channel, m mutex, l RW lock, s semaphore, g group, f fiber, n nursery (by its owner), - none. */
#define FIBERS_OPS_LIST(X)                                                                                             \
    X(YIELD, "yield", '-', 0, 0, 0)                                                                                    \
    X(NOTE, "note", '-', 0, 0, 0)                                                                                      \
    X(SLEEP, "sleep", '-', 0, 1, 1) /* a case: RAD_ON_TIME */                                                          \
    X(SPAWN, "spawn", 'f', 0, 0, 0)                                                                                    \
    X(JOIN, "join", 'f', 0, 1, 1)                                                                                      \
    X(CANCEL, "cancel", 'f', 0, 0, 0)                                                                                  \
    X(RELEASE, "release", 'f', 0, 0, 0)                                                                                \
    X(GIVE, "give", '-', 1, 0, 0)                                                                                      \
    X(IS_CANCELED, "is_canceled", '-', 0, 0, 0)                                                                        \
    X(SHIELD, "shield", '-', 1, 0, 0)                                                                                  \
    X(LOCAL_SET, "local_set", '-', 1, 0, 0)                                                                            \
    X(LOCAL_GET, "local_get", '-', 0, 0, 0)                                                                            \
    X(SEND, "send", 'c', 0, 1, 1)                                                                                      \
    X(RECV, "recv", 'c', 0, 1, 1)                                                                                      \
    X(SEND_MANY, "send_many", 'c', 1, 1, 0)                                                                            \
    X(RECV_MANY, "recv_many", 'c', 1, 1, 0)                                                                            \
    X(CLOSE, "close", 'c', 1, 0, 0)                                                                                    \
    X(CODE, "code", 'c', 0, 0, 0)                                                                                      \
    X(COUNT, "count", 'c', 0, 0, 0)                                                                                    \
    X(SEND_SPAWN, "send_spawn", 'f', 0, 0, 0) /* of a fiber whose one operation is a send */                           \
    X(SELECT, "select", '-', 0, 1, 0)                                                                                  \
    X(ON_CANCEL, "on_cancel", '-', 0, 0, 1)                                                                            \
    X(OFF, "off", '-', 0, 0, 1)                                                                                        \
    X(LOCK, "lock", 'm', 0, 0, 0)                                                                                      \
    X(LOCK_UNTIL, "lock_until", 'm', 0, 1, 1)                                                                          \
    X(UNLOCK, "unlock", 'm', 0, 0, 0) /* if it is held; so are all that take or give back */                           \
    X(IS_MINE, "is_mine", 'm', 0, 0, 0)                                                                                \
    X(READ, "read", 'l', 0, 0, 0)                                                                                      \
    X(WRITE, "write", 'l', 0, 0, 0)                                                                                    \
    X(READ_UNTIL, "read_until", 'l', 0, 1, 1)                                                                          \
    X(WRITE_UNTIL, "write_until", 'l', 0, 1, 1)                                                                        \
    X(RW_UNLOCK, "rw_unlock", 'l', 0, 0, 0)                                                                            \
    X(COND_WAIT, "cond_wait", '-', 0, 1, 0) /* of the one condition, with mutex 0 */                                   \
    X(SIGNAL, "signal", '-', 0, 0, 0)                                                                                  \
    X(BROADCAST, "broadcast", '-', 0, 0, 0)                                                                            \
    X(ACQUIRE, "acquire", 's', 1, 1, 1)                                                                                \
    X(POST, "post", 's', 1, 0, 0) /* rad_semaphore_release */                                                          \
    X(PERMITS, "permits", 's', 0, 0, 0)                                                                                \
    X(GROUP_ADD, "group_add", 'g', 1, 0, 0)                                                                            \
    X(GROUP_DONE, "group_done", 'g', 0, 0, 0)                                                                          \
    X(GROUP_WAIT, "group_wait", 'g', 0, 1, 1)                                                                          \
    X(ONCE, "once", '-', 1, 1, 0)                                                                                      \
    X(BARRIER, "barrier", '-', 0, 1, 0)                                                                                \
    X(TAKE, "take", '-', 0, 1, 1)                                                                                      \
    X(PUT, "put", '-', 0, 0, 0)                                                                                        \
    X(STOCK_CLOSE, "stock_close", '-', 1, 0, 0)                                                                        \
    X(STOCK_CODE, "stock_code", '-', 0, 0, 0)                                                                          \
    X(TIMER_START, "timer_start", '-', 0, 1, 0)                                                                        \
    X(TIMER_STOP, "timer_stop", '-', 0, 0, 0)                                                                          \
    X(TIMER_WAIT, "timer_wait", '-', 0, 1, 1)                                                                          \
    X(ALARM_START, "alarm_start", '-', 0, 1, 0) /* a timer whose function sends to channel 0 */                        \
    X(ALARM_STOP, "alarm_stop", '-', 0, 0, 0)                                                                          \
    X(TICK, "tick", '-', 1, 1, 1) /* of a ticker whose next tick is due (1), or never is (0) */                        \
    X(OPEN, "open", '-', 0, 1, 0)                                                                                      \
    X(NURSERY_SPAWN, "nursery_spawn", 'n', 1, 0, 0)                                                                    \
    X(NURSERY_GO, "nursery_go", 'n', 1, 0, 0)                                                                          \
    X(NURSERY_CANCEL, "nursery_cancel", 'n', 1, 0, 0)                                                                  \
    X(NURSERY_CLOSE, "nursery_close", 'n', 0, 0, 0)                                                                    \
    X(NURSERY_WAIT, "nursery_wait", '-', 0, 0, 0)                                                                      \
    X(BLOCKING, "blocking", 'c', 1, 1, 0)   /* 0: only answers; 1: tries to send; 2: tries to receive */               \
    X(TASK, "task", 'f', 0, 1, 0)           /* rad_chan_send_spawn */                                                  \
    X(TASK_JOIN, "task_join", '-', 0, 1, 0) /* rad_chan_recv_join */                                                   \
    X(MISTAKE, "mistake", 'm', 0, 0, 0)     /* unlocks what it does not hold */

enum fibers_op_kind {
#define FIBERS_OP_ENUM(name, text, object, number, waits, is_case) FIBERS_##name,
    FIBERS_OPS_LIST(FIBERS_OP_ENUM)
#undef FIBERS_OP_ENUM
        FIBERS_OP_KINDS
};

enum fibers_until { FIBERS_NOW, FIBERS_PASSED, FIBERS_SOON, FIBERS_NEVER };

typedef struct fibers_case {
    uint8_t kind; /* the call that does the same alone */
    uint8_t object;
    uint8_t number;
    uint8_t until; /* of SLEEP */
} fibers_case;

typedef struct fibers_op {
    uint8_t kind;
    uint8_t object;
    uint8_t number;
    uint8_t until;
    uint8_t case_count; /* of SELECT */
    fibers_case cases[FIBERS_CASES];
} fibers_op;

enum { FIBERS_RETURNS_LAST = 255 };

typedef struct fibers_fiber {
    uint8_t op_count;
    uint8_t returns;   /* what its function answers; FIBERS_RETURNS_LAST: its last error, or 0 */
    uint8_t is_sender; /* it is started by SEND_SPAWN, and does its one operation unlogged */
    fibers_op ops[FIBERS_OPS];
} fibers_fiber;

typedef struct fibers_program {
    uint8_t fiber_count;
    uint8_t modes[FIBERS_CHANS], capacities[FIBERS_CHANS];
    uint8_t task_capacity;
    uint8_t permits[FIBERS_LOCKS], groups[FIBERS_LOCKS];
    uint8_t parties;
    uint8_t stock_capacity, stock_spoils; /* bit i: item i + 1 cannot be reset */
    uint8_t stock_fails;                  /* bit i: making item i + 1 fails */
    uint8_t limit, limit_waits;           /* rad_options.fibers; 0: none */
    uint8_t blocking_threads;
    uint8_t is_main; /* fiber 0 is the one of rad_main: it has no handle */
    fibers_fiber fibers[FIBERS_MOST];
} fibers_program;

/* What an operation answered; what it received, and the like. */
typedef struct fibers_entry {
    int8_t code;
    uint8_t values[3];
} fibers_entry;

enum { FIBERS_SKIPPED = -100, FIBERS_EARLY = -101 };

enum fibers_end {
    FIBERS_DONE,     /* all fibers have ended */
    FIBERS_DEADLOCK, /* status 124 */
    FIBERS_ABORTED,  /* SIGABRT */
    FIBERS_CRASHED,  /* anything else: never right */
    FIBERS_HANGS,
    FIBERS_ENDS
};

/* Bytes that nobody wrote are 0: results are compared with memcmp. */
typedef struct fibers_result {
    uint8_t end;
    int8_t answer; /* of the first fiber */
    uint8_t counts[FIBERS_MOST];
    fibers_entry log[FIBERS_MOST][FIBERS_LOGGED];
} fibers_result;

const char *fibers_op_name(uint8_t kind);
char fibers_op_object(uint8_t kind);
bool fibers_op_waits(uint8_t kind);
bool fibers_op_is_case(uint8_t kind);

/* What operation number `op` of a fiber sends; `i` in a batch, or the number of the case. */
uint8_t fibers_value(uint32_t fiber, uint32_t op, uint32_t i);
enum { FIBERS_ALARM_VALUE = 250, FIBERS_THREAD_VALUE = 200 /* + the fiber */ };

/* What is left is a program. False: there is no such operation, or it has to stay. */
bool fibers_delete_op(fibers_program *p, uint32_t fiber, uint32_t op);

/* How many deadlines that come soon are before part `part` of an operation: 0 is its own, 1 + i that of case i. Of the
 * whole program: fiber FIBERS_MOST. */
uint32_t fibers_soons_before(const fibers_program *p, uint32_t fiber, uint32_t op, uint32_t part);

void fibers_program_print(FILE *out, const fibers_program *p);
void fibers_result_print(FILE *out, const fibers_program *p, const fibers_result *r);

#endif
