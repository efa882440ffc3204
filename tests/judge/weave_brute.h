/* weave_brute.h — every schedule of a weave, by recursion, and what the documentation says of each.
 *
 * The rules, from docs/write-a-machine.md, docs/files.md and docs/cli.md:
 *  - Actions have numbers in order of creation. A set of one is not a decision, nor is a choice among one.
 *  - Choice 0 is the baseline: the current actor, with the same action if that is enabled, unless it cannot run,
 *    yielded or ended; then the action that has waited longest, ties by number. An action waits from the step that
 *    enabled it; one that ran waits anew, behind those that its step enabled. The other choices follow in the order of
 *    numbers.
 *  - A preemption is a switch away from an actor that could have run and did not yield, and has one action enabled.
 *  - A look is a step that reads and writes nothing, chooses nothing and enables or disables nothing. An actor spins
 *    when its last looks, since it did anything else, are three equal rounds of up to 64. Steps that touch nothing
 *    do not count. An actor that spins is not offered while another one that was enabled then is, until somebody makes
 *    a step that is no look; one that spins itself counts until its next look. Spinning opens a window, but ends one
 *    only in long runs.
 *  - A window goes from one yield of an actor to the next. At its end the actor comes behind those that made no step in
 *    it and could all the time, or were disabled by a step of the actor. It is not offered while one of them is
 *    enabled; being behind somebody ends with a step of that one. What is offered again waits anew, behind all.
 *  - With spin rounds, an actor yields and spins as if it did not until it has made as many rounds: a step that yields
 *    is one, of looks as many as its round has. The steps that yield let the looks be forgotten all the same.
 *  - Choice i of a decision between actions costs i delays. Choices inside a step cost nothing. */
#ifndef RADDLE_TESTS_WEAVE_BRUTE_H
#define RADDLE_TESTS_WEAVE_BRUTE_H

#include "weave.h"

enum { WEAVE_IDENTITIES = 16, WEAVE_NAME = 120 };

struct weave_leaf {
    uint64_t path, outcome, class_;
    uint8_t choices[WEAVE_DECISIONS];
    uint8_t decisions, steps, preemptions, delays, nonzero, switches;
    uint8_t length;  /* of the list without its trailing zeros */
    int8_t identity; /* -1: a pass */
    int8_t oracle;
    bool cut;                                        /* neither a pass nor a failure */
    uint8_t actors[WEAVE_STEPS], turns[WEAVE_STEPS]; /* of each step: its actor's number, enum rad_switch */
    uint32_t past; /* the steps in the causal past of the last one, and that one, as bits */
};

struct weave_book {
    struct weave_leaf *leaves;
    uint32_t count, room;
    bool plain;    /* nobody yields, and nobody sees the same twice while it does nothing else */
    bool too_many; /* more than the limit: nothing else holds */
    char identities[WEAVE_IDENTITIES][WEAVE_NAME];
    uint32_t identity_count;
    uint64_t *states; /* at decisions between actions, distinct, ascending */
    uint32_t state_count, state_room;
    uint64_t steps;
    uint64_t evaluations[RAD_ORACLES_MAX];
    bool reached[WEAVE_OP_KINDS];
    /* What there is to be seen, for the coverage of the generator. */
    uint32_t spawns, yields, spins, held, picks, blocked, alternatives, gone_and_back;
};

/* All schedules of a weave, unless there are more than `limit`. */
void weave_brute(const struct weave *w, uint32_t limit, struct weave_book *b);
void weave_book_free(struct weave_book *b);

/* A rule of choice: the index of the decision to take; index 0 is the baseline, `first` that of the smallest number.
 * The kind is RAD_PICK_ACTION or that of a choice inside a step. */
struct weave_decision {
    enum rad_pick_kind kind;
    uint32_t count, first;
    const uint8_t *actions; /* of the choices, in their order */
    const uint8_t *numbers; /* of actions: those of "go" are in the order in which their actors came */
    const uint8_t *since;   /* of actions: the smallest has waited longest */
    const bool *enabled;    /* of actions, also of those that are not offered */
    uint32_t current;       /* the actor of the step before, WEAVE_ACTORS: none */
    uint32_t number, step;  /* of this decision in the run, from 0; steps before it */
};
typedef uint32_t weave_chooser(void *context, const struct weave_decision *d);
/* One run. */
void weave_run_by(const struct weave *w, weave_chooser *choose, void *context, struct weave_book *b,
                  struct weave_leaf *out);
/* The run of a list: a choice out of range is lowered to the last one, after the end comes choice 0. */
void weave_run_list(const struct weave *w, const uint32_t *list, uint32_t length, struct weave_book *b,
                    struct weave_leaf *out);

/* The number of distinct values of a field. */
uint32_t weave_distinct(const struct weave_book *b, uint64_t (*of)(const struct weave_leaf *));
uint64_t weave_class_of(const struct weave_leaf *leaf);
uint64_t weave_outcome_of(const struct weave_leaf *leaf);
/* The fewest preemptions with which an identity fails; UINT32_MAX: it does not. */
uint32_t weave_fewest(const struct weave_book *b, const char *identity);
const struct weave_leaf *weave_find(const struct weave_book *b, uint64_t path);

#endif
