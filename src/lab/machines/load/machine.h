/* machine.h — the scheduler of the load tester under test: the lab is the server, the network and the clock.
 *
 * A step is one turn. The lab decides which response comes next, what it is, whether it comes at once or at the very
 * moment when something else is due, and when nothing comes but time. A cancelled request may still get a response.
 *
 * Oracles read the log the scheduler writes, and compare it with what they expect (books.c). The scheduler's own
 * invariants (scheduler.h) are checked after each turn, and at the end the log is replayed. */
#ifndef RAD_LAB_MACHINES_LOAD_MACHINE_H
#define RAD_LAB_MACHINES_LOAD_MACHINE_H

#include "lab/machines/load/load.h"
#include "load/replay/replay.h"

enum { RAD__LOAD_TRIAL_USERS = 1000, RAD__LOAD_TRIAL_STEPS = 8 };

enum rad__load_trial_oracle {
    RAD__LOAD_ORACLE_STATE = RAD_ORACLE_OWN, /* an invariant of the scheduler */
    RAD__LOAD_ORACLE_LOST,                   /* an answer or a timeout that never comes */
    RAD__LOAD_ORACLE_TWICE,                  /* two requests at once, two ends of one */
    RAD__LOAD_ORACLE_LATE,                   /* an answer to an old request is taken for the new one's */
    RAD__LOAD_ORACLE_ORDER,   /* a timeout beats the answer of its tick; who came first is served later */
    RAD__LOAD_ORACLE_STARVED, /* others are served again and again before a user that is ready */
    RAD__LOAD_ORACLE_REPLAY   /* the log does not make the same run again */
};

/* What the books have of a user. */
struct rad__load_account {
    uint64_t request, deadline_ns; /* under way; request 0: none */
    uint64_t last;                 /* number of the last one issued */
    uint64_t late;                 /* cancelled, may still be answered; 0: none */
    uint64_t ready_tick, overtaken;
    uint32_t conn, late_conn;
    bool opening, ready, answered, complete;
};

typedef struct rad__load_trial {
    rad__load_scenario scenario;
    struct rad__load_stage stage;
    struct rad__load_request request;
    struct rad__load_target target;
    struct rad__load_step steps[RAD__LOAD_TRIAL_STEPS];

    rad__load_scheduler scheduler;
    rad__load_log log;
    rad_bytes file;
    rad_kernel *k;
    uint32_t clock_actor, clock_action;
    uint32_t *actors, *answers, *lates; /* by user: its actor, and the two actions */
    struct rad__load_account *accounts;
    rad__load_input *inputs;
    uint32_t input_count;
    bool scheduler_open;
    bool parsed;           /* the scenario is a user's */
    uint64_t turns, taken; /* interrupted after this many turns; 0: never */
} rad__load_trial;

/* books.c: reads what is written, as it is written; and draws the balance after each turn. */
RAD_INTERNAL void rad__load_books_record(void *trial, const uint8_t *record, size_t size);
RAD_INTERNAL void rad__load_books_balance(rad__load_trial *t);

#endif
