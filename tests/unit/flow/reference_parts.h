/* reference_parts.h — what the files of the reference interpreter share. */
#ifndef RAD_TEST_FLOW_REFERENCE_PARTS_H
#define RAD_TEST_FLOW_REFERENCE_PARTS_H

#include "reference.h"

typedef struct reference_token reference_token;

/* A number or a truth, or a text; the type is the variable's. */
typedef struct reference_datum {
    int64_t number;
    const char *text;
} reference_datum;

typedef struct reference_data {
    reference_datum *values; /* one per variable */
    bool *written;           /* since the fork that made the token */
} reference_data;

/* A task that finished and can be taken back. */
typedef struct reference_done {
    struct reference_done *older;
    uint32_t task;
} reference_done;

/* One stay of a token in a region. */
typedef struct reference_region {
    struct reference_region *next; /* in order of creation */
    struct reference_region *outer;
    const rad_flow_statement *statement;
    reference_token *owner;
    bool owner_inside;
    reference_done *newest;
} reference_region;

enum reference_frame_kind {
    FRAME_ROOT,   /* the flow's body; behind it: end */
    FRAME_BRANCH, /* of a fork; behind it: arrive */
    FRAME_PLAIN,  /* nothing to do behind it */
    FRAME_LOOP,
    FRAME_WHILE,
    FRAME_REPEAT,
    FRAME_REGION,
    FRAME_INTERLEAVE,
    FRAME_LOCK
};

/* A block that a token is inside of. */
typedef struct reference_frame {
    struct reference_frame *below;
    enum reference_frame_kind kind;
    const rad_flow_statement *owner; /* whose block it is; NULL: the flow's */
    const rad_flow_statement *next;  /* NULL: at its end */
    int64_t turns;                   /* of a loop: still to do */
    uint64_t left;                   /* of an interleave: blocks still to do */
    reference_region *region;
} reference_frame;

/* What arrived and counts. */
typedef struct reference_arrival {
    uint32_t index;
    reference_data data;
} reference_arrival;

typedef struct reference_fork {
    struct reference_fork *next; /* in order of creation */
    const rad_flow_statement *statement;
    reference_token *owner;  /* the forking token */
    reference_token *holder; /* whoever is cancelled takes the branches along: the owner; when it has ended, the holder
                              * of its own fork; NULL: nobody */
    reference_region *inside;
    enum rad_flow_join join; /* multi is sync here */
    uint32_t wanted;         /* of first and any */
    uint32_t activated;      /* branches made */
    uint32_t next_index;     /* of a many */
    uint32_t cancelled;
    bool fired;
    reference_arrival *arrivals;
    uint32_t arrival_count, arrival_capacity;
} reference_fork;

struct reference_token {
    reference_token *next; /* in order of creation */
    const char *path;
    reference_fork *parent; /* NULL: the first token */
    uint32_t index;
    reference_region *inherited;
    reference_frame *top;
    reference_data data;
    enum reference_kind at;
    const rad_flow_statement *here; /* NULL: the end of the flow */
    reference_fork *waits;          /* the fork it waits in */
    uint32_t task, effect, attempt; /* under way */
    enum reference_fate fate;
};

/* Effects of a path so far. */
typedef struct reference_counter {
    struct reference_counter *next;
    const char *path;
    uint32_t count;
} reference_counter;

/* What a simulated world may write to a variable; filled when it is first asked for. */
typedef struct reference_domain {
    reference_datum *values;
    uint32_t count, capacity;
} reference_domain;

struct reference {
    const rad_flow_file *file;
    const rad_flow_tree *tree;
    rad_arena arena;
    reference_token *first, *last;
    reference_region *regions, *last_region;
    reference_token **locks; /* who has it */
    reference_domain *domains;
    uint8_t *milestones; /* 0: never reached, 1: holds, 2: has expired */
    enum reference_state state;
    const char *failure;
    reference_data end; /* of the first token, when it has ended */
    reference_counter *counters;
    const char **effects;
    uint32_t effect_count, effect_capacity;
    reference_place *places;
    uint32_t place_capacity;
    uint32_t token_count;
    reference_fork *forks, *last_fork;
    reference_pick pick;
    void *pick_context;
    uint64_t steps;
    uint32_t diverted; /* how often a token went into a handler */
    char why[256];     /* of an expression or merge that failed */
};

/* ---- reference_data.c ------------------------------------------------------------------------------ */

/* False: it failed, and r->why says how. */
bool reference_evaluate(reference *r, const reference_data *data, const rad_flow_expr *e, reference_datum *out);
reference_data reference_data_new(reference *r);
/* Nothing counts as written in the copy. */
reference_data reference_data_copy(reference *r, const reference_data *from);
void reference_write(reference_data *data, uint32_t variable, reference_datum value);
/* Merges what has arrived into the data of the forking token. False: they disagree, r->why. */
bool reference_merge(reference *r, reference_fork *fork);
/* One value of what a simulated world writes to the variable. */
reference_datum reference_draw(reference *r, uint32_t variable);
const char *reference_line(reference *r, const char *text, int64_t index); /* NULL: there is none */
int64_t reference_lines(const char *text);

/* ---- reference_cancel.c ---------------------------------------------------------------------------- */

bool reference_inside(const reference_token *t, const reference_region *region);
reference_region *reference_innermost(const reference_token *t);
/* With everything that hangs below it. */
void reference_cancel_whole(reference *r, reference_token *t);
void reference_cancel(reference *r, const rad_flow_statement *s);
void reference_raise(reference *r, reference_token *t, const char *why);
/* The case ends: whatever lives is cancelled. */
void reference_over(reference *r, enum reference_state state, const char *failure);
/* Sync joins that were waiting for nothing else than what has been cancelled. */
void reference_settle_joins(reference *r);

/* ---- reference.c ----------------------------------------------------------------------------------- */

void *reference_take(reference *r, size_t size);
const char *reference_text(reference *r, const char *format, ...) RAD_PRINTF(2, 3);
uint32_t reference_ask(reference *r, enum rad_pick_kind kind, uint32_t count);
void reference_push(reference *r, reference_token *t, enum reference_frame_kind kind, const rad_flow_statement *owner,
                    const rad_flow_block *block);
void reference_pop(reference *r, reference_token *t);
/* Up to the next thing that costs a step. */
void reference_go_on(reference *r, reference_token *t);
void reference_fire(reference *r, reference_fork *fork);
/* It is no more: what hangs below it hangs below whoever holds its fork. */
void reference_token_over(reference *r, reference_token *t, enum reference_fate fate);
void reference_effect(reference *r, const char *line);
bool reference_lives(const reference_token *t);
bool reference_is_enabled(const reference *r, const reference_token *t);
reference_token *reference_find(const reference *r, const char *path); /* a live one, or NULL */

#endif
