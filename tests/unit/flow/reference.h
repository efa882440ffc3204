/* reference.h — what a flow means, told a second time: an interpreter that walks the syntax tree.
 *
 * It is written from the description of the language alone and shares nothing with the machine but the parser: no
 * code, no expressions in postfix, no tables. Tokens are objects that are never used again, with pointers to the
 * fork they come from; a path is a string; what a token has still to do is a list of frames over statements. Nothing
 * here is fast. The world is simulated: outcomes, values and events are asked for, in the order of the description. */
#ifndef RAD_TEST_FLOW_REFERENCE_H
#define RAD_TEST_FLOW_REFERENCE_H

#include "flow/lang/syntax.h"

#include <raddle/machine.h>

/* What a token does when it is chosen next. */
enum reference_kind {
    REFERENCE_START,
    REFERENCE_FINISH,
    REFERENCE_RETRY,
    REFERENCE_SET,
    REFERENCE_FORK, /* par */
    REFERENCE_OR,
    REFERENCE_XOR,
    REFERENCE_MANY,
    REFERENCE_MORE,
    REFERENCE_ARRIVE,
    REFERENCE_LOOP,  /* the entry, which evaluates the number */
    REFERENCE_AGAIN, /* its test after a turn */
    REFERENCE_WHILE,
    REFERENCE_UNTIL,
    REFERENCE_ENTER,
    REFERENCE_LEAVE,
    REFERENCE_CANCEL,
    REFERENCE_REACH,
    REFERENCE_EXPIRE,
    REFERENCE_AWAIT,
    REFERENCE_INTERLEAVE, /* the first round */
    REFERENCE_ROUND,      /* any other, the one that leaves included */
    REFERENCE_ACQUIRE,
    REFERENCE_RELEASE,
    REFERENCE_BEGIN,
    REFERENCE_TAKEN,
    REFERENCE_FINISH_CASE,
    REFERENCE_FAIL,
    REFERENCE_COMPENSATE,
    REFERENCE_END,
    REFERENCE_WAITS, /* in a fork: never chosen */
    REFERENCE_KINDS
};

enum reference_state { REFERENCE_RUNNING, REFERENCE_DONE, REFERENCE_FAILED, REFERENCE_CANCELLED, REFERENCE_DEADLOCK };

/* How a token ended: each does exactly once. */
enum reference_fate { REFERENCE_LIVES, REFERENCE_ARRIVED, REFERENCE_ABSORBED, REFERENCE_STOPPED, REFERENCE_ENDED };

typedef struct reference_place {
    const char *path;
    enum reference_kind kind;
    uint32_t statement; /* number in the tree; 0: the end of the flow */
} reference_place;

/* 0 … count - 1; count is at least 2. */
typedef uint32_t (*reference_pick)(void *context, enum rad_pick_kind kind, uint32_t count);

typedef struct reference reference;

/* The tree is borrowed, with names resolved. */
reference *reference_open(const rad_flow_file *file, const rad_flow_tree *tree);
void reference_close(reference *r);

enum reference_state reference_state(const reference *r);
const char *reference_failure(const reference *r); /* "" unless it failed */

/* The tokens that can do a step, or all that live, in the order in which they were made. The list is good until the
 * next step. */
uint32_t reference_enabled(reference *r, const reference_place **places);
uint32_t reference_living(reference *r, const reference_place **places);

/* One step of the token with that path, which must be enabled. */
void reference_step(reference *r, const char *path, reference_pick pick, void *context);

/* Somebody outside cancels a task, a region (an index of the tree) or the case, between two steps. */
void reference_cancel_from_outside(reference *r, enum rad_flow_part scope, uint32_t name);

/* The value of a variable in the data of a token; NULL: of the first token, as it is or as it ended. */
const char *reference_value(const reference *r, const char *path, uint32_t variable);

/* Effects, in order: "start PATH#N TASK ATTEMPT", "stop PATH#N". */
uint32_t reference_effects(const reference *r, const char *const **lines);

/* Tokens with that fate so far. */
uint32_t reference_fates(const reference *r, enum reference_fate fate);
uint64_t reference_steps(const reference *r);

const char *reference_kind_name(enum reference_kind kind);
const char *reference_state_name(enum reference_state state);

#endif
