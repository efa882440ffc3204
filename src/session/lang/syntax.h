/* syntax.h — protocol files: what was written, statement by statement. docs/session-reference.md has the grammar.
 *
 * Reading goes in four steps, each in a file of its own, each with errors that name line and column:
 *
 *     text --syntax.c--> rad_ast --expand.c--> rad_global --project.c--> local types --compile.c--> code
 *
 * A statement is followed by `next`; blocks are lists of their own. Nothing here is checked but grammar. */
#ifndef RAD_SESSION_LANG_SYNTAX_H
#define RAD_SESSION_LANG_SYNTAX_H

#include "base/lex.h"
#include "base/symbols.h"

/* A number, or a name with something added. */
typedef struct rad_ast_number {
    rad_text_place place;
    uint32_t name; /* RAD_NONE: only `plus` counts */
    int32_t plus;
} rad_ast_number;

/* Alice, W[i], or, where several are allowed, W[1..3]. */
typedef struct rad_ast_role {
    rad_text_place place;
    uint32_t name;
    bool indexed, ranged;
    rad_ast_number from, to;
} rad_ast_role;

enum rad_type { RAD_TYPE_INT = 0, RAD_TYPE_BOOL, RAD_TYPE_TEXT, RAD_TYPES };

enum { RAD_FIELDS_MAX = 8 };

typedef struct rad_ast_field {
    uint32_t name; /* or RAD_NONE */
    enum rad_type type;
} rad_ast_field;

enum rad_ast_kind {
    RAD_AST_MESSAGE, /* roles[0] -> roles[1]: name(fields) */
    RAD_AST_CHOICE,  /* choice at roles[0] blocks */
    RAD_AST_LOOP,    /* loop name blocks[0] */
    RAD_AST_CONTINUE,
    RAD_AST_PAR,
    RAD_AST_FOR,  /* for name in first .. last blocks[0] */
    RAD_AST_CALL, /* call name(roles) */
    RAD_AST_DOES  /* roles[0] does name */
};

typedef struct rad_ast {
    struct rad_ast *next;
    enum rad_ast_kind kind;
    rad_text_place place;
    uint32_t name;
    rad_text_place name_place;
    rad_ast_role *roles;
    uint32_t role_count;
    rad_ast_field fields[RAD_FIELDS_MAX];
    uint32_t field_count;
    struct rad_ast **blocks;
    rad_text_place *block_places;
    uint32_t block_count;
    rad_ast_number first, last;
} rad_ast;

/* ---- Code written by hand ---------------------------------------------------------------------------- */

enum rad_operand_kind {
    RAD_OPERAND_NAME,
    RAD_OPERAND_REGISTER,
    RAD_OPERAND_INT,
    RAD_OPERAND_BOOL,
    RAD_OPERAND_TEXT,
    RAD_OPERAND_ROLE,
    RAD_OPERAND_ARROW /* between a message and where to continue */
};

typedef struct rad_operand {
    enum rad_operand_kind kind;
    rad_text_place place;
    uint32_t name; /* of names and texts; of a role the name below */
    int64_t number;
    rad_ast_role role;
} rad_operand;

enum { RAD_OPERANDS_MAX = 128 };

typedef struct rad_ast_line {
    struct rad_ast_line *next;
    rad_text_place place;
    uint32_t name; /* of the instruction, or of the label */
    bool is_label;
    rad_operand *operands;
    uint32_t operand_count;
} rad_ast_line;

typedef struct rad_ast_code {
    struct rad_ast_code *next;
    rad_ast_role role;
    rad_ast_line *lines;
} rad_ast_code;

/* ---- Protocols --------------------------------------------------------------------------------------- */

/* The part of one role, written by hand. */
typedef struct rad_ast_local {
    struct rad_ast_local *next;
    rad_ast_role role;
    rad_ast *body;
} rad_ast_local;

typedef struct rad_ast_protocol {
    struct rad_ast_protocol *next;
    rad_text_place place;
    uint32_t name;
    rad_ast_role *roles; /* families are ranged */
    uint32_t role_count;
    bool is_locals;
    rad_ast *body;         /* of a global protocol */
    rad_ast_local *locals; /* of the others */
    rad_ast_code *codes;
} rad_ast_protocol;

typedef struct rad_ast_file {
    const char *file_name; /* for messages; borrowed */
    rad_ast_protocol *protocols;
    uint32_t protocol_count;
    rad_symbols symbols;
    rad_arena arena;
} rad_ast_file;

/* RAD_EINPUT: "FILE:LINE:COLUMN: expected …, found …". rad__ast_free it, also after an error. */
RAD_INTERNAL int rad__ast_read(rad_ast_file *file, const char *file_name, const char *text, size_t size,
                               rad_error *error);
RAD_INTERNAL void rad__ast_free(rad_ast_file *file);

RAD_INTERNAL const char *rad__type_name(enum rad_type type);

/* "FILE:LINE:COLUMN: …" */
RAD_INTERNAL int rad__ast_error(const rad_ast_file *file, rad_text_place at, rad_error *error, const char *format, ...)
    RAD_PRINTF(4, 5);

static inline const char *rad__ast_name(const rad_ast_file *file, uint32_t name)
{
    return name < file->symbols.count ? file->symbols.texts[name] : "?";
}

#endif
