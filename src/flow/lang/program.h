/* program.h — a flow as flat code: one operation per step, each with the place where its token continues.
 *
 * There are no jumps: sequences, loops and handlers are all in the `next` of the operations, so fetching is one
 * index and a step of the language is one operation. Expressions are postfix code of their own. */
#ifndef RAD_FLOW_LANG_PROGRAM_H
#define RAD_FLOW_LANG_PROGRAM_H

#include "flow/lang/syntax.h"

enum rad_flow_code {
    RAD_OP_START,      /* a: task, RAD_NONE: the token's (compensate). Next: FINISH */
    RAD_OP_FINISH,     /* b: START, c: RETRY */
    RAD_OP_RETRY,      /* b: START */
    RAD_OP_SET,        /* a: variable, b: expression */
    RAD_OP_FORK,       /* a: first branch, b: how many; join, c: its count. Next: behind it */
    RAD_OP_OR,         /* the same, each branch with its condition; else is not counted in b: d */
    RAD_OP_XOR,        /* a: first branch, b: how many, d: entry of else or RAD_NONE */
    RAD_OP_MANY,       /* a: entry of the body, b: expression; join, c: its count; d: index into manies */
    RAD_OP_MORE,       /* a: the MANY operation */
    RAD_OP_ARRIVE,     /* the end of a branch */
    RAD_OP_BLOCK_END,  /* of a block with multi joins: a child of one of them arrives, others go on; a: block number */
    RAD_OP_LOOP,       /* a: body, b: expression; pushes the counter */
    RAD_OP_LOOP_AGAIN, /* a: body */
    RAD_OP_WHILE,      /* a: body, b: expression */
    RAD_OP_UNTIL,      /* a: body, b: expression */
    RAD_OP_ENTER,      /* a: index into regions */
    RAD_OP_LEAVE,
    RAD_OP_CANCEL, /* a: enum rad_flow_part, b: task or region name index */
    RAD_OP_REACH,  /* a: milestone */
    RAD_OP_EXPIRE,
    RAD_OP_AWAIT,            /* a: milestone, d: entry of else or RAD_NONE */
    RAD_OP_INTERLEAVE,       /* a: first branch, b: how many; pushes the set of those left */
    RAD_OP_INTERLEAVE_AGAIN, /* a, b: the same */
    RAD_OP_ACQUIRE,          /* a: lock */
    RAD_OP_RELEASE,
    RAD_OP_BEGIN, /* a: first branch, b: how many. Next: TAKEN */
    RAD_OP_TAKEN, /* a, b: the same */
    RAD_OP_FINISH_CASE,
    RAD_OP_FAIL,       /* a: text or RAD_NONE */
    RAD_OP_COMPENSATE, /* a: region name index, b: FINISH of the undo task. Next: when none is left */
    RAD_OP_END,        /* of the first token */
    RAD_OP_CODES
};

typedef struct rad_flow_op {
    uint8_t code;
    uint8_t join; /* enum rad_flow_join */
    uint16_t unused;
    uint32_t next;
    uint32_t a, b, c, d;
    uint32_t statement; /* number in the tree; 0: the end of the flow */
    uint32_t line;
} rad_flow_op;

typedef struct rad_flow_way {
    uint32_t entry;
    uint32_t when; /* expression; RAD_NONE: none */
    rad_flow_event event;
} rad_flow_way;

typedef struct rad_flow_region {
    uint32_t name;                  /* index into the tree's regions */
    uint32_t on_cancel, on_failure; /* entries, or RAD_NONE */
    uint32_t into;                  /* variable, or RAD_NONE */
    uint32_t line;
} rad_flow_region;

typedef struct rad_flow_many {
    uint32_t most, as; /* variable, or RAD_NONE */
    bool is_over;
} rad_flow_many;

typedef struct rad_flow_postfix {
    uint8_t op; /* enum rad_expr_op; AND and OR look at the top and jump to `value` */
    uint8_t type;
    uint16_t unused;
    int64_t value;
} rad_flow_postfix;

/* A domain of values that a simulated world writes. */
typedef struct rad_flow_domain {
    const int64_t *values;
    uint32_t count;
    bool assumed; /* nobody declared it */
} rad_flow_domain;

typedef struct rad_flow_program {
    rad_flow_file file; /* the tree, for names and lines */
    const rad_flow_tree *tree;
    rad_flow_op *code;
    uint32_t code_count, code_capacity;
    uint32_t start;
    rad_flow_way *ways;
    uint32_t way_count, way_capacity;
    rad_flow_region *regions;
    uint32_t region_count, region_capacity;
    rad_flow_many *manies;
    uint32_t many_count, many_capacity;
    rad_flow_postfix *postfix; /* an expression is the index of its first one; ends with RAD_EXPRS */
    uint32_t postfix_count, postfix_capacity;
    rad_flow_domain *domains; /* per variable */
    char hash[65];            /* SHA-256 of the text, in hexadecimal */
    char *text;               /* the file */
    size_t text_size;
    rad_arena arena;
} rad_flow_program;

/* Reads, resolves and compiles the flow of that name (NULL: the last one of the file). */
RAD_INTERNAL int rad__flow_program_read(rad_flow_program **out, const char *file_name, const char *text, size_t size,
                                        const char *flow, rad_error *error);
RAD_INTERNAL void rad__flow_program_free(rad_flow_program *p); /* may be NULL */

RAD_INTERNAL const char *rad__flow_code_name(enum rad_flow_code code); /* "start", "fork", … */

#endif
