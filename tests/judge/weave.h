/* weave.h — random small machines on which exploration is judged.
 *
 * A *weave* is a program of up to six actors with a few operations each, over cells and gates. weave_make draws it
 * from its seed. weave_world.c says what it means: what is enabled, and what a step does. Two files use it:
 *
 *     weave_machine.c  offers the weave to the lab as a rad_machine, and writes down every run (struct weave_spy)
 *     weave_brute.c    walks through every schedule by recursion, without a line of the lab, and counts what the
 *                      documentation promises: decisions, preemptions, delays, classes, states, failures
 *
 * Written from the public headers and the documentation alone. */
#ifndef RADDLE_TESTS_WEAVE_H
#define RADDLE_TESTS_WEAVE_H

#include <raddle/lab.h>

enum {
    WEAVE_ACTORS = 6, /* four that are there at first, two that may be spawned */
    WEAVE_OPS = 4,
    WEAVE_CELLS = 3,
    WEAVE_GATES = 2,
    WEAVE_OBJECTS = WEAVE_CELLS + WEAVE_GATES,
    WEAVE_ACTIONS = 2 * WEAVE_ACTORS, /* go, give up */
    WEAVE_STEPS = 31,                 /* runs with more are not drawn: WEAVE_ACTORS * WEAVE_OPS, and some that spin */
    WEAVE_PICKS = 2,                  /* within one step */
    WEAVE_DECISIONS = WEAVE_STEPS * (1 + WEAVE_PICKS)
};

enum weave_op_kind {
    WEAVE_READ = 0, /* register = cell */
    WEAVE_WRITE,    /* cell = value */
    WEAVE_STORE,    /* cell = register + value */
    WEAVE_ADD,      /* cell += value, at once */
    WEAVE_MOVE,     /* other = cell: two objects in one step */
    WEAVE_LOCAL,    /* touches nothing */
    WEAVE_LOCK,     /* enabled while the gate is free */
    WEAVE_UNLOCK,
    WEAVE_PICK,  /* cell = a choice, and after it perhaps another one */
    WEAVE_SPAWN, /* actor 4 + one's own number begins, the first time */
    WEAVE_YIELD,
    WEAVE_CHECK, /* fails if the cell has the value */
    WEAVE_AWAIT, /* enabled while the cell is at least the value */
    WEAVE_RACE,  /* the same; or give up, which is always enabled and stores 9 in the register */
    WEAVE_SPIN,  /* always enabled; the actor stays at it while the cell is less than the value */
    WEAVE_TAKE,  /* the cell becomes 1, at once; the actor stays at it while it was 1 already */
    WEAVE_TRY, /* always enabled; as SPIN, but not more than `count` times: then the register has what is in the cell */
    WEAVE_OP_KINDS
};

struct weave_op {
    uint8_t kind, object, other, value, count;
    uint8_t oracle; /* of CHECK */
    bool blind;     /* CHECK reports no object */
    bool polite;    /* TRY yields each time */
};

struct weave_actor {
    struct weave_op ops[WEAVE_OPS];
    uint8_t count;
};

/* How the machine behaves towards the kernel; it must not matter. */
enum weave_manner {
    WEAVE_BACKWARDS = 1, /* reports changes of the enabled set from the last action to the first */
    WEAVE_REPEATS = 2,   /* enables what is enabled, disables what is not, fails twice in one step */
    WEAVE_SAVES = 4,     /* has save and load: a machine of its own */
    WEAVE_SILENT = 8,    /* never says rad_wait */
    WEAVE_WIDE = 16,     /* has 70 actions that are never enabled: numbers need more than one word */
    WEAVE_UNENDED = 32   /* never says rad_ended */
};

struct weave {
    struct weave_actor actors[WEAVE_ACTORS];
    uint8_t first_actors; /* there at first */
    uint8_t invariant;    /* cell 0 never has this value; 0: no invariant */
    bool tolerant;        /* stuck actors are fine */
    uint8_t manner;
    uint8_t same_role;   /* cells 0 … same_role have one role */
    bool crashes;        /* oracle ASSERT is a real crash */
    uint8_t max_steps;   /* not finished after as many: the run is cut; 0: there is no limit */
    uint8_t spin_rounds; /* in which each actor yields and spins as if it did not */
};

/* The case of a weave: what the parameters of the machine are, in this order. `fixed` is one of these. */
enum {
    WEAVE_DRAWN = 3,
    WEAVE_SPINNING = 4, /* drawn, and some operations are WEAVE_SPIN */
    WEAVE_TAKING = 5,   /* drawn, and some operations are WEAVE_TAKE */
    WEAVE_TRYING = 6,   /* drawn, and some operations are WEAVE_TRY */
    WEAVE_EQUAL = 8,
    WEAVE_UNEQUAL = 9
}; /* additions to cell 0: the same for all, one more for each */
struct weave_case {
    int64_t seed, actors, ops, slack, fixed;
};

/* The weave of a case: a function of its numbers alone. */
void weave_make(struct weave *w, const struct weave_case *c);
uint64_t weave_mix(uint64_t x); /* one step of splitmix64 */

const char *weave_role(const struct weave *w, uint32_t object);
const char *weave_op_name(uint32_t kind);
const char *const *weave_oracles(void);
void weave_print(const struct weave *w);

/* ---- The world: what a weave means ------------------------------------------------------------------------ */

struct weave_world {
    uint8_t exists[WEAVE_ACTORS], pc[WEAVE_ACTORS], reg[WEAVE_ACTORS], cells[WEAVE_CELLS], holder[WEAVE_GATES];
    uint8_t tries[WEAVE_ACTORS]; /* of the operation that an actor is at */
    int8_t failed;               /* oracle, -1: none */
    int8_t failed_object;        /* -1: none */
};

/* What a step did, for reports. */
struct weave_deed {
    uint8_t value;
    bool yields, ended;
    bool looked; /* it wrote nothing, although it could have */
    int checked; /* oracle that was evaluated, -1: none */
    int spawned; /* actor, -1: none */
};

/* Asks for a choice from 0 to count - 1. */
typedef uint32_t weave_picker(void *context, enum rad_pick_kind kind, uint32_t count);

void weave_begin(const struct weave *w, struct weave_world *s);
/* Action 2a is "go" of actor a, 2a + 1 "give up". */
bool weave_enabled(const struct weave *w, const struct weave_world *s, uint32_t action);
void weave_step(const struct weave *w, struct weave_world *s, uint32_t action, weave_picker *pick, void *context,
                struct weave_deed *deed);
/* The step broke the invariant, which is looked at after every step that has not failed already. */
bool weave_broken(const struct weave *w, const struct weave_world *s);
/* Nothing is enabled. */
bool weave_stuck(const struct weave *w, const struct weave_world *s);
/* What the next step of an actor does: its operation, or NULL when it has ended. */
const struct weave_op *weave_next(const struct weave *w, const struct weave_world *s, uint32_t actor);
enum rad_access weave_access(const struct weave_op *op);
/* The object of an operation, WEAVE_OBJECTS: none. */
uint32_t weave_object(const struct weave_op *op);

/* ---- Runs written down ------------------------------------------------------------------------------------- */

/* A path folds each action and each choice inside a step: two runs are the same schedule when their paths are equal. */
enum { WEAVE_PATH_BEGIN = 1 };
uint64_t weave_path(uint64_t path, uint32_t what);

enum { WEAVE_SPIED = 1 << 16 };

struct weave_spy {
    uint32_t count; /* atomic: workers share it */
    uint32_t resets, saves, loads;
    struct weave_spied {
        uint64_t path, outcome;
    } runs[WEAVE_SPIED];
};

/* The cells and registers at the end, and how it ended. */
uint64_t weave_outcome(const struct weave_world *s);

/* ---- The machine -------------------------------------------------------------------------------------------- */

/* "weave", and "weave-saves" which has save and load; both are added to the table of machines by the first call. */
const rad_machine *weave_machine(bool saves);
struct weave_spy *weave_spy(void);
void weave_spy_forget(void);
/* A target for a case. */
rad_target weave_target(const struct weave_case *c);
struct weave_case weave_case_of(const rad_case *c);

#endif
