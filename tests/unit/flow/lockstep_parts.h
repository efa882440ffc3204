/* lockstep_parts.h — what the files of lockstep.h share. */
#ifndef RAD_TEST_FLOW_LOCKSTEP_PARTS_H
#define RAD_TEST_FLOW_LOCKSTEP_PARTS_H

#include "base/prng.h"
#include "lockstep.h"
#include "reference_parts.h"

typedef struct lockstep_pick {
    enum rad_pick_kind kind;
    uint32_t count, chosen;
} lockstep_pick;

enum { LOCKSTEP_WRITES_MOST = 4 };

/* What the world owes a token, or has given it: one per token of the machine. */
typedef struct lockstep_debt {
    bool pending;    /* it waits for the world */
    bool given;      /* it has been answered, and has not taken it yet */
    bool is_event;   /* of a defer: for any of its alternatives */
    bool is_timer;   /* before another attempt */
    uint32_t since;  /* which of all waits it is: older ones have smaller numbers */
    uint32_t timers; /* bits: alternatives whose timer runs; of a retry bit 0 */
    uint32_t fault, taken;
    uint32_t values[LOCKSTEP_WRITES_MOST]; /* picks, in order */
    uint32_t value_at;
} lockstep_debt;

typedef struct lockstep {
    rad_observer observer; /* first */
    const flow_lockstep_options *o;
    flow_lockstep_seen *seen;
    rad_flow_program *p;
    rad_flow_case *c;
    reference *r;
    rad_prng prng; /* of the world */
    lockstep_pick *picks;
    uint32_t pick_count, pick_capacity, pick_at;
    uint32_t doing; /* the token that does the step */
    lockstep_debt *debts;
    uint32_t debt_capacity;
    uint32_t waits; /* so far */
    uint32_t *kept; /* signals that nobody has taken yet, oldest first */
    uint32_t kept_count, kept_capacity;
    uint32_t effects_seen;           /* of the reference's */
    char late_key[RAD_FLOW_KEY_MAX]; /* of an effect that was stopped */
    uint32_t late_attempt;
    uint64_t starts, stops;
    bool differs;
    char *difference;
} lockstep;

/* Always false. */
bool lockstep_differ(lockstep *l, const char *format, ...) RAD_PRINTF(2, 3);
bool lockstep_same_tokens(lockstep *l);
enum reference_kind lockstep_kind(const struct rad_flow_vm *vm, uint32_t token);

/* ---- lockstep_world.c --------------------------------------------------------------------------------------- */

/* It cannot go on because nobody has answered yet. */
bool lockstep_waits_for_world(const lockstep *l, uint32_t token, enum reference_kind kind);
/* A pick of the reference that the world has made already. */
uint32_t lockstep_world_answer(void *context, enum rad_pick_kind kind, uint32_t count);
/* The token has done a step of that kind: what the machine asks for now must be what the reference has logged. */
bool lockstep_world_stepped(lockstep *l, uint32_t token, enum reference_kind kind);
/* The world answers somebody, or does something else, or nothing. */
bool lockstep_world_turn(lockstep *l);
void lockstep_world_free(lockstep *l);

#endif
