/* syntax.h — flow files: what was written, as a tree. docs/flow-reference.md has the grammar.
 *
 *     text --syntax.c--> rad_flow_file --resolve.c--> the same, names and types resolved --compile.c--> code
 *
 * Statements of a block are a list; each has a number, in preorder from 1, which survives into the code and into the
 * paths of tokens. After resolving, every name is an index: a variable, a task, a region, … of its flow. */
#ifndef RAD_FLOW_LANG_SYNTAX_H
#define RAD_FLOW_LANG_SYNTAX_H

#include <raddle/flow.h>

#include "base/lex.h"
#include "base/symbols.h"

enum rad_flow_type { RAD_FLOW_INT = 0, RAD_FLOW_BOOL, RAD_FLOW_TEXT, RAD_FLOW_TYPES };

enum rad_flow_merge {
    RAD_MERGE_EQUAL = 0, /* no rule: all that wrote it wrote the same */
    RAD_MERGE_SUM,
    RAD_MERGE_MAX,
    RAD_MERGE_MIN,
    RAD_MERGE_AND,
    RAD_MERGE_OR,
    RAD_MERGE_APPEND,
    RAD_MERGE_FIRST,
    RAD_MERGE_LAST,
    RAD_MERGES
};

/* A constant: a number, a truth (0 or 1), or the symbol of a text. */
typedef struct rad_flow_constant {
    enum rad_flow_type type;
    int64_t value;
} rad_flow_constant;

/* ---- Expressions --------------------------------------------------------------------------------------- */

enum rad_expr_op {
    RAD_EXPR_CONSTANT,
    RAD_EXPR_VARIABLE, /* value: name, after resolving the variable's index */
    RAD_EXPR_NOT,
    RAD_EXPR_NEGATE,
    RAD_EXPR_OR,
    RAD_EXPR_AND,
    RAD_EXPR_EQUAL,
    RAD_EXPR_UNEQUAL,
    RAD_EXPR_LESS,
    RAD_EXPR_LESS_EQUAL,
    RAD_EXPR_GREATER,
    RAD_EXPR_GREATER_EQUAL,
    RAD_EXPR_ADD, /* of numbers; of texts after resolving: RAD_EXPR_JOIN */
    RAD_EXPR_SUBTRACT,
    RAD_EXPR_MULTIPLY,
    RAD_EXPR_DIVIDE,
    RAD_EXPR_REMAINDER,
    RAD_EXPR_JOIN,
    RAD_EXPR_LINES,  /* lines(text) */
    RAD_EXPR_LINE,   /* line(text, number) */
    RAD_EXPR_NUMBER, /* number(text) */
    RAD_EXPR_TEXT,   /* text(int or bool) */
    RAD_EXPR_LENGTH, /* length(text) */
    RAD_EXPRS
};

typedef struct rad_flow_expr {
    enum rad_expr_op op;
    enum rad_flow_type type; /* of the result, after resolving; of a constant always */
    rad_text_place place;
    int64_t value;  /* of a constant, or the name of a variable, then its index */
    uint32_t depth; /* operations below it, the longest way: at most RAD_FLOW_NESTING_MAX */
    struct rad_flow_expr *a, *b;
} rad_flow_expr;

/* ---- Data and tasks ------------------------------------------------------------------------------------ */

typedef struct rad_flow_variable {
    uint32_t name;
    rad_text_place place;
    enum rad_flow_type type;
    enum rad_flow_merge merge;
    int64_t initial;           /* as in rad_flow_constant */
    rad_flow_constant *domain; /* what was declared by `in` */
    uint32_t domain_count;     /* 0: nothing was */
    /* Of a `many … as`: cannot be set, is not merged. Those with one name are one variable; there is no other of that
     * name. They come behind the declared ones. */
    bool is_local;
} rad_flow_variable;

enum rad_flow_doubt { RAD_DOUBT_STOP = 0, RAD_DOUBT_RETRY, RAD_DOUBT_PROBE };
enum { RAD_OUTCOME_OK_BIT = 1, RAD_OUTCOME_FAIL_BIT = 2 };

typedef struct rad_flow_names {
    uint32_t *items;        /* names, after resolving indices of variables */
    rad_text_place *places; /* where they are; of no use after resolving */
    uint32_t count;
    bool given; /* the property is there */
} rad_flow_names;

typedef struct rad_flow_task {
    uint32_t name;
    rad_text_place place;
    uint32_t command; /* symbol of the text; of a call the function's name */
    bool is_call;
    bool is_anonymous;   /* a command that is written where it is run; its name is run_LINE */
    uint64_t timeout_ns; /* 0: none */
    uint32_t retries;
    uint64_t delay_ns;
    uint32_t backoff;             /* factor, 1 when none was given */
    uint32_t dir;                 /* symbol, or RAD_NONE */
    rad_flow_names reads, writes; /* after resolving `writes` of a shell command are capture and exit, if any */
    uint32_t capture, exit;       /* names, then variables; RAD_NONE: none */
    rad_text_place capture_place, exit_place;
    uint32_t outcomes; /* bits */
    enum rad_flow_doubt doubt;
    uint32_t probe; /* symbol of the command, or RAD_NONE */
    uint32_t undo;  /* name, then the task's index; RAD_NONE: none */
    rad_text_place undo_place;
} rad_flow_task;

/* ---- Statements ---------------------------------------------------------------------------------------- */

enum rad_flow_kind {
    RAD_FLOW_DO,
    RAD_FLOW_SET,
    RAD_FLOW_BLOCK,
    RAD_FLOW_PAR,
    RAD_FLOW_XOR,
    RAD_FLOW_OR,
    RAD_FLOW_LOOP,
    RAD_FLOW_WHILE,
    RAD_FLOW_REPEAT,
    RAD_FLOW_REGION,
    RAD_FLOW_CANCEL,
    RAD_FLOW_MANY,
    RAD_FLOW_MORE,
    RAD_FLOW_REACH,
    RAD_FLOW_EXPIRE,
    RAD_FLOW_AWAIT,
    RAD_FLOW_INTERLEAVE,
    RAD_FLOW_LOCK,
    RAD_FLOW_DEFER, /* also wait: one event, its block empty and with no place (line 0) */
    RAD_FLOW_FINISH,
    RAD_FLOW_FAIL,
    RAD_FLOW_COMPENSATE,
    RAD_FLOW_KINDS
};

enum rad_flow_join {
    RAD_JOIN_ALL = 0,
    RAD_JOIN_FIRST, /* count; the rest is cancelled */
    RAD_JOIN_ANY,   /* count; the rest is absorbed */
    RAD_JOIN_SYNC,
    RAD_JOIN_MULTI,
    RAD_JOIN_NONE,
    RAD_JOINS
};

typedef struct rad_flow_statement rad_flow_statement;

typedef struct rad_flow_block {
    rad_flow_statement *first; /* NULL: empty */
    rad_text_place place, end; /* of its braces */
} rad_flow_block;

/* What a defer waits for. */
typedef struct rad_flow_event {
    bool is_timer, is_fresh;
    uint64_t delay_ns;
    uint32_t signal; /* name, then index into signals */
    uint32_t into;   /* name, then variable; RAD_NONE: none */
    rad_text_place into_place;
} rad_flow_event;

/* A branch of par, xor, or, interleave, defer; the only one of a loop, region, many, lock, block. `when` of those of
 * xor and or; NULL of else, which is the last. */
typedef struct rad_flow_branch {
    rad_flow_block block;
    rad_flow_expr *when;
    rad_flow_event event;
} rad_flow_branch;

struct rad_flow_statement {
    rad_flow_statement *next;
    enum rad_flow_kind kind;
    rad_text_place place;
    uint32_t number; /* preorder, from 1 */
    /* do, cancel task: the task; set: the variable; region, cancel region, compensate: the region; reach, expire,
     * await: the milestone; lock: the lock; many: its name; more: the number of the many statement it means (after
     * resolving). RAD_NONE: none */
    uint32_t name;
    rad_text_place name_place;
    rad_flow_expr *expr; /* set, loop, while, repeat, many (the number, or the text of over) */
    rad_flow_branch *branches;
    uint32_t branch_count; /* else included */
    bool has_else;         /* xor, or: the last branch; await: the only one */
    enum rad_flow_join join;
    uint32_t join_count; /* of first and any */
    rad_text_place join_place;
    enum rad_flow_part scope; /* of cancel */
    bool is_over;             /* many over */
    uint32_t most;            /* many: up to; 0: not given */
    uint32_t as;              /* many: name, then variable; RAD_NONE */
    rad_text_place as_place;
    rad_flow_branch *on_cancel, *on_failure; /* of a region; NULL: none */
    uint32_t into;                           /* of on_failure: name, then variable; RAD_NONE */
    rad_text_place into_place;
    uint32_t text; /* of fail: symbol, or RAD_NONE; of more: the many's name */
};

typedef struct rad_flow_tree {
    struct rad_flow_tree *next;
    uint32_t name, about; /* symbols; about may be RAD_NONE */
    rad_text_place place;
    rad_flow_variable *variables;
    uint32_t variable_count, variable_capacity; /* after resolving with those of `as` */
    rad_flow_task *tasks;
    uint32_t task_count, task_capacity;
    rad_flow_block body;
    uint32_t statement_count; /* numbers are 1 … this */
    /* Names of what statements refer to, in the order in which they are first met in the text (after resolving). */
    uint32_t *regions, *milestones, *locks, *signals;
    uint32_t region_count, milestone_count, lock_count, signal_count;
} rad_flow_tree;

typedef struct rad_flow_file {
    const char *file_name; /* for messages; borrowed */
    rad_flow_tree *flows;
    uint32_t flow_count;
    rad_symbols symbols; /* names and texts */
    rad_arena arena;
} rad_flow_file;

enum {
    RAD_FLOW_TEXT_MAX = 1 << 20,
    RAD_FLOW_NESTING_MAX = 200,
    RAD_FLOW_VARIABLES_MAX = 256,
    RAD_FLOW_TASKS_MAX = 4096,
    RAD_FLOW_STATEMENTS_MAX = 1000000
};

/* Grammar only. RAD_EINPUT: "FILE:LINE:COLUMN: expected …, found …". rad__flow_file_free it, also after an error. */
RAD_INTERNAL int rad__flow_read(rad_flow_file *file, const char *file_name, const char *text, size_t size,
                                rad_error *error);

/* Names, types, and what may be where. */
RAD_INTERNAL int rad__flow_resolve(rad_flow_file *file, rad_error *error);

RAD_INTERNAL void rad__flow_file_free(rad_flow_file *file);

/* The flow of that name; NULL: the last one. RAD_EINPUT when there is none. */
RAD_INTERNAL int rad__flow_find(const rad_flow_file *file, const char *name, rad_flow_tree **out, rad_error *error);

RAD_INTERNAL int rad__flow_error(const rad_flow_file *file, rad_text_place at, rad_error *error, const char *format,
                                 ...) RAD_PRINTF(4, 5);

RAD_INTERNAL const char *rad__flow_type_name(enum rad_flow_type type);
RAD_INTERNAL const char *rad__flow_kind_name(enum rad_flow_kind kind); /* "par", "do", … */

static inline const char *rad__flow_name(const rad_flow_file *file, uint32_t name)
{
    return name < file->symbols.count ? file->symbols.texts[name] : "?";
}

#endif
