/* vm.h — the machine that executes flows: tokens over flat code.
 *
 * A token stands at an operation. Exactly one does one operation at a time; who, is the kernel's choice among those
 * that are enabled, and so is every branch that more than one condition allows. Everything is kept in arrays and
 * referred to by number, in the order of making: no address is ever compared.
 *
 * Token     one per path (fork path of the tree: rad_token.parent, statement, index, ordinal), for ever: its number
 *           is its actor's and its action's number in the kernel. A path is used again when its token is dead.
 *
 *     dead --made by fork, many, more--> ready <--answer, join, lock, milestone--> waiting
 *     ready --arrive, end--> dead        ready, waiting --cancelled, once--> dead
 *
 * Fork      one per execution of par, or, many: owns its join. activated = live children + arrived + cancelled.
 *           The token that made it waits in it (rad_token.inner) until the join fires; afterwards, with any and none,
 *           it lives on until its last child is gone. Until then it hangs below a holder: cancelling the holder
 *           cancels the children. The holder is the maker; when that ends before, the holder of the maker's own fork.
 * Region    one per execution of a region statement; tokens inside know the innermost one.
 * Data      values by variable, shared between tokens until one of them writes; `written` says what since its fork.
 *
 * I1  live tokens = those with alive set; each is in its fork's list of children and in its region's list of tokens.
 * I2  an action is enabled <=> its token is alive and can do its operation (rad__flow_can_step).
 * I3  of each fork: activated = children + arrived + cancelled; a join fires once.
 * I4  a lock is held by at most one live token, which has it in its frames.
 * I5  asking = live tokens that wait for a result, a timer or an event. */
#ifndef RAD_FLOW_MACHINE_VM_H
#define RAD_FLOW_MACHINE_VM_H

#include "base/digest.h"
#include "base/heap.h"
#include "base/map64.h"
#include "flow/machine/instance.h"

enum { RAD_FLOW_WRITTEN_WORDS = RAD_FLOW_VARIABLES_MAX / 64, RAD_FLOW_TOKENS_MAX = 1 << 22 };

/* Why a live token is not enabled, or what it has been given. */
enum rad_token_wait {
    RAD_TOKEN_READY = 0,
    RAD_TOKEN_IN_FORK,
    RAD_TOKEN_FOR_RESULT,
    RAD_TOKEN_FOR_TIMER, /* before a retry */
    RAD_TOKEN_FOR_EVENT,
    RAD_TOKEN_FOR_LOCK,
    RAD_TOKEN_FOR_MILESTONE
};

typedef struct rad_token {
    /* The path: for ever. */
    uint32_t parent, statement, index, ordinal;
    uint32_t first_child, cursor;               /* of its children those with ordinal 1, by statement and index */
    uint32_t next_sibling;                      /* of ordinal 1 */
    uint32_t head, older_ordinal, next_ordinal; /* those that differ in nothing else */
    uint32_t hint;    /* of ordinal 1: up to this one all are alive; RAD_NONE: look from the head */
    uint32_t effects; /* begun so far by tokens of this path */
    uint64_t path_hash;
    uint32_t path_length; /* of its text */
    uint32_t object;      /* the kernel's, for its forks; RAD_NONE: not made yet */
    /* The present life. */
    bool alive;
    uint8_t wait; /* enum rad_token_wait */
    bool ok, answered;
    uint32_t pc;
    uint32_t data;
    uint32_t fork, fork_older, fork_newer; /* whose branch it is */
    uint32_t region, region_older, region_newer;
    uint32_t queue, queue_older, queue_newer; /* of those that stand before a lock, a milestone, an event */
    uint32_t frames;                          /* what it has entered itself, innermost first */
    uint32_t inner;                           /* the fork it waits in */
    uint32_t held;                            /* forks that hang below it */
    uint32_t task, attempt, effect;
    uint32_t alternative; /* the event that came */
    uint32_t answer;      /* first of its writes in answers; of a failure: the reason, a text */
    uint32_t answer_count;
    uint64_t lives; /* how often it was made */
    uint64_t written[RAD_FLOW_WRITTEN_WORDS];
} rad_token;

typedef struct rad_fork {
    uint64_t made; /* creation number */
    uint32_t op;
    uint32_t maker; /* whose path its children's paths go on from */
    uint32_t owner; /* the maker, while that lives; RAD_NONE: it has died since */
    uint32_t holder, held_older, held_newer;
    uint32_t parent;             /* the fork around it */
    uint32_t region;             /* the region instance around it */
    uint32_t refs;               /* children, forks inside, the owner that waits */
    uint32_t children, youngest; /* ends of the list of live ones */
    uint32_t activated, arrived, cancelled;
    uint32_t next_index;             /* of many: for more */
    uint32_t arrivals, last_arrival; /* what counts at the join, as they came */
    uint8_t join;
    bool fired, in_settle;
} rad_fork;

typedef struct rad_arrival {
    uint32_t index, data, next;
    uint64_t written[RAD_FLOW_WRITTEN_WORDS];
} rad_arrival;

typedef struct rad_region_instance {
    uint64_t made;
    uint32_t region; /* index into the program's */
    uint32_t owner;  /* RAD_NONE: it has left, or died */
    uint32_t parent;
    uint32_t refs;                 /* tokens inside, regions inside, being the last of its name */
    uint32_t tokens;               /* innermost here */
    uint32_t inside, older, newer; /* regions inside; its neighbours among its parent's */
    uint32_t undos;
    bool used;
} rad_region_instance;

/* What was completed and can be undone. */
typedef struct rad_flow_undo {
    uint32_t task, data, next;
} rad_flow_undo;

enum rad_frame_kind { RAD_FRAME_LOOP, RAD_FRAME_INTERLEAVE, RAD_FRAME_REGION, RAD_FRAME_LOCK };

typedef struct rad_frame {
    int64_t value; /* rounds left, blocks left, region instance, lock */
    uint32_t next; /* outwards */
    uint8_t kind;
} rad_frame;

typedef struct rad_flow_signal {
    uint32_t signal, text, next;
} rad_flow_signal;

typedef struct rad_flow_value {
    uint32_t variable;
    int64_t value;
} rad_flow_value;

/* A growing array whose places are used again. */
typedef struct rad_flow_pool {
    uint32_t count, capacity, free; /* free: 1 + the last one given back; 0: none */
} rad_flow_pool;

typedef struct rad_text {
    const char *text;
    uint64_t hash;
    uint32_t length;
} rad_text;

typedef struct rad_flow_queue {
    uint32_t first, last;
} rad_flow_queue;

typedef struct rad_flow_vm {
    const rad_flow_program *program;
    rad_flow_case *owner; /* who keeps the asks; NULL: nobody does */
    rad_kernel *k;
    enum rad_flow_world world;
    uint64_t outcome_seed;
    bool named; /* actors are called by the paths of their tokens: `names` */
    rad_arena names;
    enum rad_flow_state result; /* RAD_CASE_RUNNING until it ends */
    char failure[400];
    uint32_t failed_task; /* the name of the task whose failure nobody caught, or RAD_NONE */

    rad_token *tokens;
    uint32_t token_count, token_capacity, live;
    uint32_t asking;    /* of these, those that wait for the world */
    rad_map64 path_map; /* of a live world: tokens by path_hash, or one of the numbers behind it */
    rad_fork *forks;
    rad_flow_pool fork_pool;
    rad_arrival *arrivals;
    rad_flow_pool arrival_pool;
    rad_region_instance *regions;
    rad_flow_pool region_pool;
    rad_flow_undo *undos;
    rad_flow_pool undo_pool;
    rad_frame *frames;
    rad_flow_pool frame_pool;
    rad_flow_signal *signals; /* that nobody has taken yet */
    rad_flow_pool signal_pool;
    uint32_t signal_first, signal_last;
    rad_flow_value *answers; /* of tokens that have not finished with them; emptied when none is left */
    uint32_t answer_count, answer_capacity, answers_open;

    int64_t *data; /* blocks of `variables` values */
    uint32_t *data_refs;
    rad_flow_pool data_pool;
    uint32_t data_values; /* capacity of data, in values */
    uint32_t variables;
    int64_t *initial; /* values to begin with */
    uint32_t final;   /* the data of the flow as it ended; RAD_NONE: not yet */

    rad_text *texts;
    uint32_t text_count, text_capacity;
    uint64_t text_bytes;
    rad_map64 text_map;
    rad_arena text_arena;
    uint32_t text_base; /* those of the file, and what the data begin with; others are the run's */
    uint64_t text_base_bytes;
    rad_arena run_texts;

    uint8_t *milestones;     /* 0 not yet, 1 holds, 2 expired */
    uint32_t *locks;         /* the holder, or RAD_NONE */
    rad_flow_queue *queues;  /* of milestones, then locks, then one for events */
    uint32_t *last_instance; /* per region name */
    uint32_t *lock_objects, *milestone_objects;
    uint32_t case_object;
    uint64_t forks_made, regions_made;
    uint64_t cancelled; /* tokens, over the run */
    uint64_t diverted;  /* owners of regions that were sent to a handler */

    uint32_t *settle; /* forks that lost a child by cancellation in this step */
    uint32_t settle_count, settle_capacity;
    rad_heap chosen; /* regions that are to be cancelled */
    uint32_t *doomed;
    uint32_t doomed_count, doomed_capacity;
    int64_t *merged; /* values at a join, before any of them is written */
    const char *why; /* of an expression that failed */
    int64_t *stack;  /* of expressions */
    uint8_t *holds;  /* of branches with conditions: which of them are true */
} rad_flow_vm;

/* ---- Life (vm.c) ---------------------------------------------------------------------------------------- */

RAD_INTERNAL int rad__flow_vm_open(rad_flow_vm **out, const rad_flow_program *p, const rad_flow_case_options *o,
                                   rad_error *error);
RAD_INTERNAL void rad__flow_vm_close(rad_flow_vm *vm);
RAD_INTERNAL void rad__flow_vm_reset(void *vm, rad_kernel *k);                 /* rad_machine.reset */
RAD_INTERNAL void rad__flow_vm_step(void *vm, rad_kernel *k, uint32_t action); /* vm_step.c */
RAD_INTERNAL enum rad_end rad__flow_vm_idle(void *vm, rad_kernel *k);
/* The whole state, whatever order of steps led to it. */
RAD_INTERNAL void rad__flow_vm_state(const void *vm, rad_state_hash *h); /* vm_state.c */
RAD_INTERNAL bool rad__flow_vm_valid(const rad_flow_vm *vm, const char **what);
RAD_INTERNAL void rad__flow_vm_describe(const void *vm, void (*line)(void *context, const char *text), void *context);
RAD_INTERNAL const char *rad__flow_vm_site(const void *vm, uint32_t site);
RAD_INTERNAL const char *rad__flow_vm_kind(const void *vm, uint32_t kind);

/* Notes of a step, and what they mean (rad_note). */
enum rad_flow_note {
    RAD_FLOW_NOTE_INPUT = 1, /* value: hash of what was fed */
    RAD_FLOW_NOTE_CANCELS,   /* token */
    RAD_FLOW_NOTE_FIRES,     /* the join of token's fork */
    RAD_FLOW_NOTE_FAILS
};

/* "0/3.1'2". Cut off when it does not fit. */
RAD_INTERNAL void rad__flow_path(const rad_flow_vm *vm, uint32_t token, char *text, size_t size);
/* The token of a path, alive or not; RAD_NONE: there never was one. */
RAD_INTERNAL uint32_t rad__flow_path_find(const rad_flow_vm *vm, const char *path, size_t length);

static inline const rad_flow_op *rad__flow_op(const rad_flow_vm *vm, uint32_t token)
{
    return &vm->program->code[vm->tokens[token].pc];
}

RAD_INTERNAL bool rad__flow_can_step(const rad_flow_vm *vm, uint32_t token);

static inline bool rad__is_for_world(uint8_t wait)
{
    return wait >= RAD_TOKEN_FOR_RESULT && wait <= RAD_TOKEN_FOR_EVENT;
}

/* Memory or a limit: the run ends. */
RAD_INTERNAL void rad__flow_broken(rad_flow_vm *vm, int code, const char *what);

/* ---- Tokens (vm_token.c) --------------------------------------------------------------------------------- */

/* A place in an array; RAD_NONE: no memory. It is not cleared. */
RAD_INTERNAL uint32_t rad__pool_take(rad_flow_pool *pool, void **items, size_t size);
RAD_INTERNAL void rad__pool_give(rad_flow_pool *pool, void *items, size_t size, uint32_t at);

/* A new token, or one used again. RAD_NONE: no memory or too many. It stands nowhere yet. */
RAD_INTERNAL uint32_t rad__token_make(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index,
                                      uint32_t fork, uint32_t region, uint32_t data);
/* Puts it at an operation, and enables it if it can do that. */
RAD_INTERNAL void rad__token_go(rad_flow_vm *vm, uint32_t token, uint32_t pc);
/* It waits: it is enabled by rad__token_wake, or by a lock or milestone. */
RAD_INTERNAL void rad__token_wait(rad_flow_vm *vm, uint32_t token, enum rad_token_wait wait);
RAD_INTERNAL void rad__token_wake(rad_flow_vm *vm, uint32_t token);
/* Ends a life: out of all lists, frames undone, data given back. Its fork is not told. */
RAD_INTERNAL void rad__token_end(rad_flow_vm *vm, uint32_t token);
RAD_INTERNAL bool rad__frame_push(rad_flow_vm *vm, uint32_t token, enum rad_frame_kind kind, int64_t value);
/* Takes the innermost frame off, with what belongs to it (a lock, a region). */
RAD_INTERNAL void rad__frame_pop(rad_flow_vm *vm, uint32_t token);
RAD_INTERNAL void rad__queue_look(rad_flow_vm *vm, uint32_t queue);
RAD_INTERNAL void rad__flow_ask(rad_flow_vm *vm, enum rad_flow_ask_kind kind, uint32_t token, uint32_t data,
                                uint64_t delay_ns, uint32_t alternative);
RAD_INTERNAL void rad__region_enter(rad_flow_vm *vm, uint32_t token, uint32_t region);
RAD_INTERNAL void rad__region_release(rad_flow_vm *vm, uint32_t instance);

/* ---- Forks and joins (vm_fork.c) ------------------------------------------------------------------------- */

RAD_INTERNAL void rad__fork_do(rad_flow_vm *vm, uint32_t token);
RAD_INTERNAL void rad__fork_many(rad_flow_vm *vm, uint32_t token);
RAD_INTERNAL void rad__fork_more(rad_flow_vm *vm, uint32_t token);
RAD_INTERNAL void rad__fork_arrive(rad_flow_vm *vm, uint32_t token);
/* Fires a sync join that cancellation has completed. */
RAD_INTERNAL void rad__fork_settle(rad_flow_vm *vm);
RAD_INTERNAL void rad__fork_release(rad_flow_vm *vm, uint32_t fork); /* one reference */
RAD_INTERNAL void rad__fork_unhold(rad_flow_vm *vm, uint32_t fork);

/* ---- Cancelling and failing (vm_cancel.c) ----------------------------------------------------------------- */

/* A token; once. `below`: and everything that hangs below it, which otherwise goes over to its holder. Whoever says no
 * cancels the branches it waits for himself. Joins are settled by the caller. */
RAD_INTERNAL void rad__cancel_token(rad_flow_vm *vm, uint32_t token, bool below);
RAD_INTERNAL void rad__cancel_scope(rad_flow_vm *vm, enum rad_flow_part scope, uint32_t name);
/* Everything that is left; the case has ended. */
RAD_INTERNAL void rad__cancel_case(rad_flow_vm *vm, enum rad_flow_state result, uint32_t data_of);
RAD_INTERNAL void rad__flow_raise(rad_flow_vm *vm, uint32_t token, const char *format, ...) RAD_PRINTF(3, 4);
/* Not where the token stands, but in that line. */
RAD_INTERNAL void rad__flow_raise_at(rad_flow_vm *vm, uint32_t token, uint32_t line, const char *format, ...)
    RAD_PRINTF(4, 5);

/* ---- Data (vm_data.c) -------------------------------------------------------------------------------------- */

RAD_INTERNAL uint32_t rad__data_new(rad_flow_vm *vm);             /* with one reference; RAD_NONE: no memory */
RAD_INTERNAL void rad__data_give(rad_flow_vm *vm, uint32_t data); /* one reference; RAD_NONE is fine */
/* The token's own block, copied if it is shared. NULL: no memory. */
RAD_INTERNAL bool rad__data_set(rad_flow_vm *vm, uint32_t token, uint32_t variable, int64_t value);

static inline int64_t *rad__data_at(const rad_flow_vm *vm, uint32_t data)
{
    return vm->data + (size_t)data * vm->variables;
}

static inline uint32_t rad__data_share(rad_flow_vm *vm, uint32_t data)
{
    vm->data_refs[data]++;
    return data;
}

/* The number of a text; RAD_NONE: no memory, or too much of it (the run has ended). */
RAD_INTERNAL uint32_t rad__text_number(rad_flow_vm *vm, const char *text, size_t length);
RAD_INTERNAL uint32_t rad__text_lines(const rad_text *t); /* how many */
/* False: too long (vm->why), or the run has ended. */
RAD_INTERNAL bool rad__text_join(rad_flow_vm *vm, int64_t a, const char *between, int64_t b, int64_t *out);
/* False: it cannot be one; *why. */
RAD_INTERNAL bool rad__text_value(rad_flow_vm *vm, enum rad_flow_type type, const char *text, size_t length,
                                  int64_t *value, const char **why);

/* False: it failed, vm->why says why (NULL: the run has ended). */
RAD_INTERNAL bool rad__flow_eval(rad_flow_vm *vm, uint32_t token, uint32_t expression, int64_t *value);

/* Which branches of an operation have a condition that holds: vm->holds; how many. False: a failure was raised. */
RAD_INTERNAL bool rad__flow_look(rad_flow_vm *vm, uint32_t token, uint32_t *count);

static inline bool rad__written_any(const uint64_t *w)
{
    return (w[0] | w[1] | w[2] | w[3]) != 0;
}

#endif
