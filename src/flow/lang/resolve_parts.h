/* resolve_parts.h — what resolve.c and resolve_expr.c share. */
#ifndef RAD_FLOW_LANG_RESOLVE_PARTS_H
#define RAD_FLOW_LANG_RESOLVE_PARTS_H

#include "flow/lang/syntax.h"

/* What a name can mean, each in a space of its own: a task and a region may be called the same. */
enum rad_flow_space {
    RAD_SPACE_VARIABLE,
    RAD_SPACE_TASK,
    RAD_SPACE_REGION,
    RAD_SPACE_MILESTONE,
    RAD_SPACE_LOCK,
    RAD_SPACE_SIGNAL,
    RAD_SPACE_FLOW, /* of the file; all others of the flow at hand */
    RAD_SPACES
};

/* Valid while `flow` is the number of the flow at hand: nothing has to be wiped between two flows of a file. */
typedef struct rad_flow_meaning {
    uint32_t flow, index;
} rad_flow_meaning;

/* The manies around the statement at hand, innermost first. */
typedef struct rad_flow_around {
    const struct rad_flow_around *outer;
    const rad_flow_statement *many;
} rad_flow_around;

typedef struct rad_flow_name_list {
    uint32_t *items;
    uint32_t count, capacity;
} rad_flow_name_list;

typedef struct rad_flow_resolver {
    rad_flow_file *file;
    rad_flow_tree *tree;
    uint32_t flow;              /* its number, from 1 */
    rad_flow_meaning *meanings; /* [space * symbols + name] */
    rad_flow_name_list lists[RAD_SPACES];
    bool in_scope[RAD_FLOW_VARIABLES_MAX]; /* of those of `as` */
    const rad_flow_around *around;
    rad_error *error;
    int status;
} rad_flow_resolver;

RAD_INTERNAL void rad__flow_wrong(rad_flow_resolver *r, rad_text_place at, const char *format, ...) RAD_PRINTF(3, 4);

/* The same, and an error when it has none. */
RAD_INTERNAL uint32_t rad__flow_known(rad_flow_resolver *r, enum rad_flow_space space, uint32_t name,
                                      rad_text_place at);

/* Names and types in it; may be NULL after an error. */
RAD_INTERNAL void rad__flow_resolve_expr(rad_flow_resolver *r, rad_flow_expr *e);

/* The same, and it has to be of that type: "expected an int behind 'loop', found a text". */
RAD_INTERNAL void rad__flow_resolve_typed(rad_flow_resolver *r, rad_flow_expr *e, enum rad_flow_type type,
                                          const char *where);

RAD_INTERNAL const char *rad__flow_a_type(enum rad_flow_type type); /* "an int" */

#endif
