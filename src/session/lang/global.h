/* global.h — a protocol as all roles see it: families, `for` and `call` are gone, roles are numbers.
 *
 * What must hold of one is checked while it is made (expand.c):
 *     G1  nobody sends to itself; every role is declared, every index is in its family
 *     G2  every branch of a choice begins with a message of the role that chooses, and no two of them with the same one
 *     G3  between a loop and its `continue` there is a message; a `continue` does not leave a parallel branch, and
 *         nothing follows it
 *     G4  protocols do not call themselves, also not by way of others */
#ifndef RAD_SESSION_LANG_GLOBAL_H
#define RAD_SESSION_LANG_GLOBAL_H

#include "session/lang/syntax.h"

enum rad_global_kind {
    RAD_GLOBAL_MESSAGE,
    RAD_GLOBAL_CHOICE,
    RAD_GLOBAL_LOOP,
    RAD_GLOBAL_CONTINUE,
    RAD_GLOBAL_PAR,
    RAD_GLOBAL_DOES
};

/* Types of the fields of a message. */
typedef struct rad_signature {
    uint8_t count;
    uint8_t types[RAD_FIELDS_MAX];
} rad_signature;

typedef struct rad_global {
    struct rad_global *next;
    enum rad_global_kind kind;
    rad_text_place place;
    uint32_t from, to; /* roles; `from` chooses, or does something */
    uint32_t label;    /* the message's name, or what is done */
    rad_signature signature;
    const rad_ast_field *fields; /* their names */
    struct rad_global *loop;     /* of a CONTINUE */
    struct rad_global **blocks;
    uint32_t block_count;
    uint32_t branch;       /* of a PAR: the number of its first branch; the others follow */
    const char *loop_name; /* of a LOOP */
} rad_global;

enum { RAD_ROLES_MAX = 256, RAD_BRANCHES_MAX = 4096, RAD_STATEMENTS_MAX = 100000 };

typedef struct rad_global_local {
    uint32_t role;
    rad_global *body;
} rad_global_local;

typedef struct rad_global_protocol {
    uint32_t name;
    rad_text_place place;
    uint32_t role_count;
    const char **roles;    /* "W[2]" */
    uint32_t branch_count; /* 1 and all parallel ones; 0 is the whole */
    bool is_locals;
    rad_global *body;
    rad_global *role_bodies[RAD_ROLES_MAX]; /* of locals: the part of each role */
    const rad_ast_protocol *ast;
} rad_global_protocol;

/* Memory is the file's. RAD_EINPUT with the place of the mistake. */
RAD_INTERNAL int rad__global_make(rad_ast_file *file, const rad_ast_protocol *ast, rad_global_protocol *out,
                                  rad_error *error);

/* The number of a role; RAD_NONE and an error when there is none. */
RAD_INTERNAL uint32_t rad__global_role(const rad_ast_file *file, const rad_ast_protocol *ast, const rad_ast_role *role,
                                       rad_error *error);

#endif
