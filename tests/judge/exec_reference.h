/* exec_reference.h — what an executor case means, told a second time.
 *
 * Written from docs/dev/executor-cases.md and docs/executor.md alone. A state has the tasks, the queues they are in,
 * and the workers' current tasks; a *move* is one thing that may happen next: an event, the timer, the clock, a
 * worker that takes a task, a worker that executes one instruction. What a worker does while it has no task
 * (search, announce, park) is no move: it touches no task.
 *
 * Which task a worker takes is known but for one race: a worker that found nothing searches, and while it searches,
 * something may come to its inbox or to the injector. So there are two sets of moves:
 *   loose   a worker whose deque and later queue are empty takes from its inbox, the injector or another worker:
 *           whatever happens is one of these moves;
 *   strict  it asks in that order, and all in one move: each of these can happen. */
#ifndef RAD_TEST_EXEC_REFERENCE_H
#define RAD_TEST_EXEC_REFERENCE_H

#include "exec_case.h"
#include "judge_set.h"

/* Where a task is. */
enum exec_ref_place {
    PLACE_NOT_STARTED,
    PLACE_INJECTOR,
    PLACE_DEQUE,
    PLACE_LATER,
    PLACE_INBOX,
    PLACE_CURRENT,
    PLACE_ASLEEP,
    PLACE_WAITS,
    PLACE_REFUSED,
    PLACE_ENDED,
    PLACES
};

/* What went wrong; FAULT_NONE: nothing. */
enum exec_ref_fault { FAULT_NONE, FAULT_DOUBLE_RELEASE, FAULT_LEAK };

typedef struct exec_ref_queue {
    uint8_t count, at[CASE_TASKS];
} exec_ref_queue;

typedef struct exec_ref_task {
    uint8_t program, next, place, holds[CASE_RESOURCES];
    uint16_t until;   /* asleep: until then; waits: for this token */
    uint64_t history; /* of (place, next, holds), each time they changed */
} exec_ref_task;

/* Plain bytes, zero where nothing is: equal states have equal bytes. */
typedef struct exec_state {
    exec_ref_task tasks[CASE_TASKS];
    uint8_t task_count;
    exec_ref_queue injector, deque[CASE_WORKERS], later[CASE_WORKERS], inbox[CASE_WORKERS];
    exec_ref_queue asleep;         /* by time, then by who came first */
    exec_ref_queue waiting;        /* for tokens, as they came */
    uint8_t current[CASE_WORKERS]; /* task + 1; 0: none */
    bool halted[CASE_WORKERS];     /* stopped after a failure */
    uint8_t tokens[CASE_TOKENS];   /* 0: not yet; 1: completed; 2: failed */
    bool over[CASE_EVENTS];
    uint8_t left[CASE_RESOURCES];
    uint16_t now;
    bool shut, stopped, overflow;
    uint8_t first_failure; /* task + 1 */
    uint8_t fault;
} exec_state;

enum exec_ref_move_kind { MOVE_EVENT, MOVE_TIMER, MOVE_CLOCK, MOVE_TAKE, MOVE_EXECUTE };

typedef struct exec_ref_move {
    uint8_t kind;
    uint8_t who;    /* event, or worker */
    uint8_t source; /* MOVE_TAKE: PLACE_DEQUE … */
    uint8_t victim; /* of which worker */
    bool tick;      /* every 61st time: the oldest of any of its own queues */
} exec_ref_move;

enum { EXEC_REF_MOVES = CASE_EVENTS + 2 + CASE_WORKERS * (4 + 2 * CASE_WORKERS) };

void exec_ref_begin(const exec_case *c, exec_state *s);

/* All moves of a state; none: the run is over. */
uint32_t exec_ref_moves(const exec_case *c, const exec_state *s, bool strict, exec_ref_move moves[EXEC_REF_MOVES]);
bool exec_ref_allows(const exec_case *c, const exec_state *s, exec_ref_move move);
void exec_ref_apply(const exec_case *c, exec_state *s, exec_ref_move move);

/* Whether the end has been declared: the gate is shut and no task is alive, or a failure stopped all. */
bool exec_ref_is_done(const exec_state *s);

/* What a task has seen so far, and what it is now. */
uint64_t exec_ref_history(const exec_ref_task *t);

/* How many a worker takes from an injector that holds `count`. */
uint32_t exec_ref_batch(const exec_case *c, uint32_t count);

/* The kind of failure that the lab reports at the end of this run, or NULL; *outcome is the outcome, NULL if a
 * fault ended the run. */
const char *exec_ref_verdict(const exec_case *c, const exec_state *s, const char **outcome);

/* The digest of what a run shows: each task's history and end, the clock, gate, resources, first failure. */
uint64_t exec_ref_digest(const exec_ref_task *tasks, uint8_t count, const uint8_t left[CASE_RESOURCES], uint16_t now,
                         bool shut, bool done, uint8_t first_failure);
uint64_t exec_ref_result(const exec_state *s);

/* ---- All runs -------------------------------------------------------------------------------------- */

enum exec_ref_outcome { OUTCOME_COMPLETED, OUTCOME_REFUSED, OUTCOME_DEADLOCK, OUTCOMES };
enum { EXEC_REF_KINDS = 4 };

typedef struct exec_ref_runs {
    judge_set results; /* of runs that no fault cut off */
    uint32_t states;
    bool cut; /* more than the limit: the rest is not known */
    bool outcomes[OUTCOMES];
    bool kinds[EXEC_REF_KINDS]; /* of failures that some run ends with */
} exec_ref_runs;

extern const char *const exec_ref_kinds[EXEC_REF_KINDS];
extern const char *const exec_ref_outcomes[OUTCOMES];

void exec_ref_enumerate(const exec_case *c, bool strict, uint32_t most_states, exec_ref_runs *runs);
void exec_ref_runs_free(exec_ref_runs *runs);

#endif
