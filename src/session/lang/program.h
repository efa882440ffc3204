/* program.h — a protocol file, ready to run: its text, and for each protocol local types and code.
 *
 * Code      one array for all threads of a protocol; a thread begins at its entry. A state of the local type becomes
 *
 *     SEND, one message     invoke (its fields, if any), send
 *     SEND, several         invoke (which one, and its fields), offer -> per message: the next state
 *     RECEIVE, one          receive, invoke (look at the fields, if any)
 *     RECEIVE, several      choose -> per message: invoke …, the next state
 *     DOES                  invoke
 *     PAR                   spawn, join
 *     END                   the first role closes the session; halt
 *
 * Registers r0: which message; r1 …: its fields. Code written by hand may use all sixteen.
 * Code does what it likes; what it may do is decided by the monitor (step.c), which knows only the types. */
#ifndef RAD_SESSION_LANG_PROGRAM_H
#define RAD_SESSION_LANG_PROGRAM_H

#include "session/lang/types.h"

#include <raddle/session.h>

#define RAD_SESSION_OPS(X)                                                                                             \
    X(SEND, "send")       /* message x, fields from register a on */                                                   \
    X(RECEIVE, "receive") /* message x, fields to register a on */                                                     \
    X(OFFER, "offer")     /* sends the message of table x that register a says, fields from b on */                    \
    X(CHOOSE, "choose")   /* receives any message of table x, fields to b on, goes on where it says */                 \
    X(INVOKE, "invoke")   /* effect x */                                                                               \
    X(OPEN, "open")       /* a session of protocol x */                                                                \
    X(CLOSE, "close")                                                                                                  \
    X(SPAWN, "spawn") /* the threads of table x */                                                                     \
    X(JOIN, "join")                                                                                                    \
    X(YIELD, "yield")                                                                                                  \
    X(JUMP, "jump")     /* to x */                                                                                     \
    X(JUMPIF, "jumpif") /* to x if register a is neither 0 nor false */                                                \
    X(ACQUIRE, "acquire")                                                                                              \
    X(RELEASE, "release")                                                                                              \
    X(SET, "set")   /* register a = constant x */                                                                      \
    X(MOVE, "move") /* register a = register b */                                                                      \
    X(ADD, "add")   /* register a = b + c, and so on */                                                                \
    X(SUB, "sub")                                                                                                      \
    X(MUL, "mul")                                                                                                      \
    X(DIV, "div")                                                                                                      \
    X(MOD, "mod")                                                                                                      \
    X(LESS, "less")                                                                                                    \
    X(EQUAL, "equal")                                                                                                  \
    X(HALT, "halt")

enum rad_session_op {
#define RAD_SESSION_OP_ENUM(name, text) RAD_OP_S_##name,
    RAD_SESSION_OPS(RAD_SESSION_OP_ENUM)
#undef RAD_SESSION_OP_ENUM
        RAD_OP_S_COUNT
};

typedef struct rad_instruction {
    uint8_t op, a, b, c;
    uint32_t x;
} rad_instruction;

typedef struct rad_message {
    uint32_t edge, label;
    rad_signature signature;
    const rad_ast_field *fields;
} rad_message;

/* One way out of an offer or a choose; of a spawn: `message` is the thread. */
typedef struct rad_way {
    uint32_t message, pc;
} rad_way;

typedef struct rad_table {
    uint32_t first, count; /* ways */
} rad_table;

typedef struct rad_effect_site {
    enum rad_effect_kind kind;
    uint32_t name;    /* symbol, or RAD_NONE */
    uint32_t message; /* or RAD_NONE */
    uint32_t table;   /* of a selection */
    uint32_t options; /* of a selection: the first */
} rad_effect_site;

typedef struct rad_constant {
    enum rad_type type;
    int64_t number;
    uint32_t text; /* symbol */
} rad_constant;

enum { RAD_REGISTERS_MAX = RAD_COROUTINE_REGISTERS_MAX };

typedef struct rad_protocol {
    rad_types types;
    rad_instruction *code;
    uint32_t *lines; /* of the file, by instruction */
    uint32_t code_count, code_capacity, line_capacity;
    uint32_t *entries; /* by thread */
    uint32_t register_count;
    rad_message *messages;
    uint32_t message_count, message_capacity;
    rad_way *ways;
    uint32_t way_count, way_capacity;
    rad_table *tables;
    uint32_t table_count, table_capacity;
    rad_effect_site *effects;
    uint32_t effect_count, effect_capacity;
    rad_effect_option *options;
    uint32_t option_count, option_capacity;
    rad_constant *constants;
    uint32_t constant_count, constant_capacity;
    bool by_hand; /* some of the code is */
} rad_protocol;

struct rad_protocols {
    rad_ast_file file;
    char *file_name;
    rad_protocol *all;
    uint32_t count;
};

RAD_INTERNAL const char *rad__session_op_name(uint32_t op);

/* compile.c: the code of all threads; types are there. */
RAD_INTERNAL int rad__compile(rad_protocols *p, rad_protocol *protocol, rad_error *error);

/* assemble.c: the code that a role has by hand, in place of what was compiled. */
RAD_INTERNAL int rad__assemble(rad_protocols *p, rad_protocol *protocol, const rad_ast_code *code, rad_error *error);

/* For both. The new element's number; RAD_NONE: no memory. */
RAD_INTERNAL uint32_t rad__emit(rad_protocol *p, rad_instruction i, uint32_t line);
RAD_INTERNAL uint32_t rad__code_message(rad_protocol *p, uint32_t edge, uint32_t label, const rad_signature *s,
                                        const rad_ast_field *fields);
RAD_INTERNAL uint32_t rad__code_effect(rad_protocol *p, rad_effect_site site);
RAD_INTERNAL uint32_t rad__code_table(rad_protocol *p, uint32_t count);
/* Asking for one that is not there is a mistake of the caller: rad_protocol_find says whether it is. */
static inline const rad_protocol *rad__protocol(const rad_protocols *p, uint32_t protocol)
{
    if (protocol >= p->count) rad__misuse("rad_protocol_…", "there is no protocol of this number");
    return &p->all[protocol];
}

static inline const char *rad__text_of(const rad_protocols *p, uint32_t symbol)
{
    return rad__ast_name(&p->file, symbol);
}

#endif
