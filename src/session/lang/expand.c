/* expand.c — from what was written to what is meant: families, `for` and `call` are written out, names become
 * numbers, and what must hold of a protocol (global.h, G1 to G4) is checked. */
#include "session/lang/global.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { CALLS_MAX = 32, VARIABLES_MAX = 32, LOOPS_MAX = 200, FAMILY_MOST = 200 };

typedef struct variable {
    uint32_t name;
    int32_t value;
} variable;

/* Within one protocol, as it is called. */
typedef struct scope {
    const struct scope *caller;
    const rad_ast_protocol *ast;
    uint32_t *roles; /* its own roles as roles of the whole */
    variable variables[VARIABLES_MAX];
    uint32_t variable_count;
    rad_global *loops[LOOPS_MAX];
    uint32_t loop_names[LOOPS_MAX];
    bool loop_outside[LOOPS_MAX]; /* of the parallel branch that is being read */
    uint32_t loop_count;
} scope;

typedef struct expander {
    rad_ast_file *file;
    rad_global_protocol *out;
    uint32_t statements;
    uint32_t turns;     /* of `for` and `call`, which may do nothing */
    uint32_t only_role; /* of locals: whose part it is */
    rad_error *error;
    int status;
} expander;

static int fail(expander *e, rad_text_place at, const char *format, ...) RAD_PRINTF(3, 4);
static int fail(expander *e, rad_text_place at, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (e->status == 0) e->status = rad__ast_error(e->file, at, e->error, "%s", text);
    return e->status;
}

static const char *name_of(const expander *e, uint32_t name)
{
    return rad__ast_name(e->file, name);
}

static const char *role_name(const expander *e, uint32_t role)
{
    return role < e->out->role_count ? e->out->roles[role] : "?";
}

/* ---- Roles ------------------------------------------------------------------------------------------- */

static uint32_t family_size(const rad_ast_role *declared)
{
    return declared->ranged ? (uint32_t)(declared->to.plus - declared->from.plus + 1) : 1;
}

/* The number of a role among those of its protocol; RAD_NONE and what is wrong. */
static uint32_t role_in(const rad_ast_file *file, const rad_ast_protocol *ast, const rad_ast_role *role, int32_t index,
                        rad_error *error)
{
    const char *name = rad__ast_name(file, role->name);
    uint32_t number = 0;
    for (uint32_t i = 0; i < ast->role_count; number += family_size(&ast->roles[i++])) {
        const rad_ast_role *declared = &ast->roles[i];
        if (declared->name != role->name) continue;
        if (declared->ranged != role->indexed) {
            rad__ast_error(file, role->place, error,
                           declared->ranged ? "%s is a family of roles: expected an index, %s[%d]"
                                            : "%s is one role: expected no index",
                           name, name, declared->from.plus);
            return RAD_NONE;
        }
        if (!declared->ranged) return number;
        if (index >= declared->from.plus && index <= declared->to.plus)
            return number + (uint32_t)(index - declared->from.plus);
        rad__ast_error(file, role->place, error, "there is no %s[%d]: the family is %s[%d..%d]", name, index, name,
                       declared->from.plus, declared->to.plus);
        return RAD_NONE;
    }
    rad__ast_error(file, role->place, error, "protocol %s has no role %s", rad__ast_name(file, ast->name), name);
    return RAD_NONE;
}

uint32_t rad__global_role(const rad_ast_file *file, const rad_ast_protocol *ast, const rad_ast_role *role,
                          rad_error *error)
{
    if (role->indexed && role->from.name != RAD_NONE) {
        rad__ast_error(file, role->from.place, error, "expected a number: there is no 'for' around code");
        return RAD_NONE;
    }
    return role_in(file, ast, role, role->from.plus, error);
}

static int32_t number_of(expander *e, const scope *s, const rad_ast_number *n)
{
    if (n->name == RAD_NONE) return n->plus;
    for (uint32_t i = s->variable_count; i-- > 0;) {
        int32_t sum;
        if (s->variables[i].name != n->name) continue;
        if (!__builtin_add_overflow(s->variables[i].value, n->plus, &sum)) return sum;
        fail(e, n->place, "the number is too large");
        return 0;
    }
    fail(e, n->place, "%s is not the name of a 'for' around here", name_of(e, n->name));
    return 0;
}

/* As a role of the whole. */
static uint32_t role_of(expander *e, const scope *s, const rad_ast_role *role)
{
    if (e->status != 0) return 0;
    int32_t index = role->indexed ? number_of(e, s, &role->from) : 0;
    if (e->status != 0) return 0;
    uint32_t number = role_in(e->file, s->ast, role, index, e->error);
    if (number == RAD_NONE) e->status = RAD_EINPUT;
    return number == RAD_NONE ? 0 : s->roles[number];
}

static const char *role_text(expander *e, const rad_ast_role *declared, uint32_t i)
{
    char text[100];
    int length = snprintf(text, sizeof text, declared->ranged ? "%s[%d]" : "%s", name_of(e, declared->name),
                          declared->from.plus + (int32_t)i);
    const char *copy = rad__arena_text(&e->file->arena, text, (size_t)length);
    if (copy == NULL) e->status = rad__error_memory(e->error);
    return copy;
}

static void declare(expander *e, const rad_ast_protocol *ast, uint32_t i)
{
    const rad_ast_role *role = &ast->roles[i];
    for (uint32_t k = 0; k < i; k++)
        if (ast->roles[k].name == role->name)
            fail(e, role->place, "there are two roles called %s", name_of(e, role->name));
    if (role->indexed && !role->ranged) fail(e, role->place, "expected a family, %s[1..n]", name_of(e, role->name));
    if (role->ranged && (role->from.name != RAD_NONE || role->to.name != RAD_NONE))
        fail(e, role->place, "the bounds of a family are numbers");
    int64_t size = role->ranged ? (int64_t)role->to.plus - role->from.plus + 1 : 1;
    if (size < 1 || size > FAMILY_MOST)
        fail(e, role->place, "a family has 1 to %d roles, not %lld", FAMILY_MOST, (long long)size);
}

static void roles_make(expander *e, const rad_ast_protocol *ast)
{
    rad_global_protocol *out = e->out;
    out->roles = rad__arena_take(&e->file->arena, RAD_ROLES_MAX, sizeof *out->roles);
    if (out->roles == NULL) e->status = rad__error_memory(e->error);
    for (uint32_t i = 0; e->status == 0 && i < ast->role_count; i++) {
        declare(e, ast, i);
        uint32_t size = e->status == 0 ? family_size(&ast->roles[i]) : 0;
        if (out->role_count + size > RAD_ROLES_MAX)
            fail(e, ast->roles[i].place, "a protocol has %d roles at most", RAD_ROLES_MAX);
        for (uint32_t k = 0; e->status == 0 && k < size; k++)
            out->roles[out->role_count++] = role_text(e, &ast->roles[i], k);
    }
}

/* ---- Statements -------------------------------------------------------------------------------------- */

/* The list that grows: where the next statement goes. */
typedef struct tail {
    rad_global **at;
    bool over; /* a `continue` was the last */
} tail;

static void expand_list(expander *e, scope *s, const rad_ast *list, tail *t);

static rad_global *add(expander *e, const rad_ast *ast, enum rad_global_kind kind, tail *t)
{
    if (e->status != 0) return NULL;
    if (++e->statements > RAD_STATEMENTS_MAX) {
        fail(e, ast->place, "written out, the protocol has more than %d statements", RAD_STATEMENTS_MAX);
        return NULL;
    }
    if (t->over) {
        fail(e, ast->place, "nothing can follow a 'continue'");
        return NULL;
    }
    rad_global *g = rad__arena_take(&e->file->arena, 1, sizeof *g);
    if (g == NULL) {
        e->status = rad__error_memory(e->error);
        return NULL;
    }
    g->kind = kind;
    g->place = ast->place;
    g->label = RAD_NONE;
    *t->at = g;
    t->at = &g->next;
    return g;
}

static void only_own(expander *e, const rad_ast *ast, uint32_t a, uint32_t b)
{
    if (e->only_role == RAD_NONE || a == e->only_role || b == e->only_role) return;
    fail(e, ast->place, "this is the part of %s, which has nothing to do with it here", role_name(e, e->only_role));
}

static void expand_message(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    rad_global *g = add(e, ast, RAD_GLOBAL_MESSAGE, t);
    if (g == NULL) return;
    g->from = role_of(e, s, &ast->roles[0]);
    g->to = role_of(e, s, &ast->roles[1]);
    g->label = ast->name;
    g->fields = ast->fields;
    g->signature.count = (uint8_t)ast->field_count;
    for (uint32_t i = 0; i < ast->field_count; i++) g->signature.types[i] = (uint8_t)ast->fields[i].type;
    if (e->status == 0 && g->from == g->to) fail(e, ast->place, "%s sends to itself", role_name(e, g->from));
    only_own(e, ast, g->from, g->to);
}

static void expand_does(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    rad_global *g = add(e, ast, RAD_GLOBAL_DOES, t);
    if (g == NULL) return;
    g->from = g->to = role_of(e, s, &ast->roles[0]);
    g->label = ast->name;
    only_own(e, ast, g->from, g->from);
}

static void expand_blocks(expander *e, scope *s, const rad_ast *ast, rad_global *g)
{
    g->blocks = rad__arena_take(&e->file->arena, ast->block_count, sizeof *g->blocks);
    if (g->blocks == NULL) e->status = rad__error_memory(e->error);
    for (uint32_t i = 0; e->status == 0 && i < ast->block_count; i++) {
        tail t = {.at = &g->blocks[i]};
        expand_list(e, s, ast->blocks[i], &t);
    }
    g->block_count = ast->block_count;
}

/* The first message of a list, through loops; of several, as a choice has, the first one. NULL: there is none. */
static const rad_global *first_message(const rad_global *g)
{
    while (g != NULL && (g->kind == RAD_GLOBAL_LOOP || g->kind == RAD_GLOBAL_CHOICE)) g = g->blocks[0];
    return g != NULL && g->kind == RAD_GLOBAL_MESSAGE ? g : NULL;
}

/* G2. */
static void check_choice(expander *e, const rad_ast *ast, const rad_global *g)
{
    for (uint32_t i = 0; e->status == 0 && i < g->block_count; i++) {
        const rad_global *first = first_message(g->blocks[i]);
        rad_text_place at = first ? first->place : ast->block_places[i];
        if (first == NULL || first->from != g->from) {
            fail(e, at, "%s chooses, so every branch begins with a message of %s", role_name(e, g->from),
                 role_name(e, g->from));
            return;
        }
        for (uint32_t k = 0; k < i; k++) {
            const rad_global *other = first_message(g->blocks[k]);
            if (other->to == first->to && other->label == first->label)
                fail(e, at, "the branch of line %u begins with the same message, %s to %s", other->place.line,
                     name_of(e, first->label), role_name(e, first->to));
        }
    }
}

static void expand_choice(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    rad_global *g = add(e, ast, RAD_GLOBAL_CHOICE, t);
    if (g == NULL) return;
    g->from = role_of(e, s, &ast->roles[0]);
    if (e->status == 0) expand_blocks(e, s, ast, g);
    if (e->status == 0) check_choice(e, ast, g);
}

/* G3: whether every way through the list to a `continue` of this loop, and to its end, meets a message.
 * `bad`: such a `continue` that meets none. */
static bool list_talks(const rad_global *list, const rad_global *loop, const rad_global **bad)
{
    for (const rad_global *g = list; g != NULL; g = g->next) {
        if (g->kind == RAD_GLOBAL_MESSAGE) return true;
        if (g->kind == RAD_GLOBAL_CONTINUE) {
            if (g->loop == loop) *bad = g;
            return true; /* this way ends here */
        }
        bool some = false, all = true;
        for (uint32_t i = 0; i < g->block_count; i++) {
            bool talks = list_talks(g->blocks[i], loop, bad);
            some |= talks;
            all &= talks;
        }
        if (g->kind == RAD_GLOBAL_PAR ? some : g->block_count > 0 && all) return true;
    }
    return false;
}

static void expand_loop(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    rad_global *g = add(e, ast, RAD_GLOBAL_LOOP, t);
    if (g == NULL) return;
    if (s->loop_count == LOOPS_MAX) {
        fail(e, ast->place, "loops are nested too deeply");
        return;
    }
    g->loop_name = name_of(e, ast->name);
    s->loops[s->loop_count] = g;
    s->loop_names[s->loop_count] = ast->name;
    s->loop_outside[s->loop_count++] = false;
    expand_blocks(e, s, ast, g);
    s->loop_count--;
    const rad_global *bad = NULL;
    if (e->status == 0) list_talks(g->blocks[0], g, &bad);
    if (bad != NULL)
        fail(e, bad->place, "loop %s comes back to its beginning (line %u) without a message", g->loop_name,
             ast->place.line);
}

static void expand_continue(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    rad_global *g = add(e, ast, RAD_GLOBAL_CONTINUE, t);
    if (g == NULL) return;
    uint32_t i = s->loop_count;
    while (i > 0 && s->loop_names[i - 1] != ast->name) i--;
    if (i == 0) {
        fail(e, ast->name_place, "there is no loop %s around here", name_of(e, ast->name));
        return;
    }
    if (s->loop_outside[i - 1])
        fail(e, ast->place, "a 'continue' does not leave a parallel branch: loop %s is outside", name_of(e, ast->name));
    g->loop = s->loops[i - 1];
    t->over = true;
}

static void expand_par(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    rad_global *g = add(e, ast, RAD_GLOBAL_PAR, t);
    if (g == NULL) return;
    if (e->out->branch_count + ast->block_count > RAD_BRANCHES_MAX) {
        fail(e, ast->place, "there are more than %d parallel branches", RAD_BRANCHES_MAX);
        return;
    }
    g->branch = e->out->branch_count;
    e->out->branch_count += ast->block_count;
    bool outside[LOOPS_MAX];
    memcpy(outside, s->loop_outside, sizeof outside);
    for (uint32_t i = 0; i < s->loop_count; i++) s->loop_outside[i] = true;
    expand_blocks(e, s, ast, g);
    memcpy(s->loop_outside, outside, sizeof outside);
}

/* `for` and `call` may go round without writing anything. */
static void turn(expander *e, const rad_ast *ast)
{
    if (++e->turns > RAD_STATEMENTS_MAX) fail(e, ast->place, "'for' and 'call' go round too often");
}

static void expand_for(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    int32_t first = number_of(e, s, &ast->first), last = number_of(e, s, &ast->last);
    if (s->variable_count == VARIABLES_MAX) fail(e, ast->place, "'for' is nested too deeply");
    if (e->status != 0) return;
    variable *v = &s->variables[s->variable_count++];
    v->name = ast->name;
    for (int64_t i = first; i <= last && e->status == 0; i++) {
        turn(e, ast);
        v->value = (int32_t)i;
        if (e->status == 0) expand_list(e, s, ast->blocks[0], t);
    }
    s->variable_count--;
}

/* ---- Calls ------------------------------------------------------------------------------------------- */

static const rad_ast_protocol *callee_of(expander *e, const scope *s, const rad_ast *ast)
{
    const rad_ast_protocol *p = e->file->protocols;
    while (p != NULL && p->name != ast->name) p = p->next;
    if (p == NULL) fail(e, ast->name_place, "there is no protocol %s", name_of(e, ast->name));
    if (p != NULL && p->is_locals)
        fail(e, ast->name_place, "%s is written role by role and cannot be called", name_of(e, ast->name));
    uint32_t depth = 0;
    for (const scope *c = s; e->status == 0 && c != NULL; c = c->caller, depth++)
        if (c->ast == p) /* G4 */
            fail(e, ast->place, "protocol %s calls itself: a loop is written 'loop X { … continue X }'",
                 name_of(e, ast->name));
    if (depth >= CALLS_MAX) fail(e, ast->place, "calls are nested too deeply");
    return e->status == 0 ? p : NULL;
}

static void arguments(expander *e, const scope *s, const rad_ast *ast, scope *inner)
{
    uint32_t given = 0, wanted = 0;
    for (uint32_t i = 0; i < inner->ast->role_count; i++) wanted += family_size(&inner->ast->roles[i]);
    for (uint32_t i = 0; e->status == 0 && i < ast->role_count; i++) {
        rad_ast_role one = ast->roles[i];
        int32_t first = one.indexed ? number_of(e, s, &one.from) : 0;
        int32_t last = one.ranged ? number_of(e, s, &one.to) : first;
        for (int64_t k = first; e->status == 0 && k <= last; k++) {
            one.ranged = false;
            one.from = one.to = (rad_ast_number){one.place, RAD_NONE, (int32_t)k};
            if (given < wanted) inner->roles[given] = role_of(e, s, &one);
            for (uint32_t m = 0; e->status == 0 && m < given && given < wanted; m++)
                if (inner->roles[m] == inner->roles[given])
                    fail(e, one.place, "%s would play two roles", role_name(e, inner->roles[m]));
            given++;
        }
    }
    if (e->status == 0 && given != wanted)
        fail(e, ast->place, "protocol %s has %u roles, not %u", name_of(e, ast->name), wanted, given);
}

static void expand_call(expander *e, scope *s, const rad_ast *ast, tail *t)
{
    const rad_ast_protocol *callee = callee_of(e, s, ast);
    turn(e, ast);
    if (callee == NULL || e->status != 0) return;
    scope *inner = rad__arena_take(&e->file->arena, 1, sizeof *inner);
    if (inner != NULL) {
        inner->caller = s;
        inner->ast = callee;
        inner->roles = rad__arena_take(&e->file->arena, RAD_ROLES_MAX, sizeof *inner->roles);
    }
    if (inner == NULL || inner->roles == NULL) {
        e->status = rad__error_memory(e->error);
        return;
    }
    for (uint32_t i = 0; i < callee->role_count && e->status == 0; i++) declare(e, callee, i);
    if (e->status == 0) arguments(e, s, ast, inner);
    expand_list(e, inner, callee->body, t);
}

static void expand_list(expander *e, scope *s, const rad_ast *list, tail *t)
{
    for (const rad_ast *ast = list; e->status == 0 && ast != NULL; ast = ast->next) switch (ast->kind) {
        case RAD_AST_MESSAGE: expand_message(e, s, ast, t); break;
        case RAD_AST_CHOICE: expand_choice(e, s, ast, t); break;
        case RAD_AST_LOOP: expand_loop(e, s, ast, t); break;
        case RAD_AST_CONTINUE: expand_continue(e, s, ast, t); break;
        case RAD_AST_PAR: expand_par(e, s, ast, t); break;
        case RAD_AST_FOR: expand_for(e, s, ast, t); break;
        case RAD_AST_CALL: expand_call(e, s, ast, t); break;
        case RAD_AST_DOES: expand_does(e, s, ast, t); break;
        }
}

/* ---- Protocols --------------------------------------------------------------------------------------- */

/* Parallel branches have the same numbers in all parts: the first `par` of one role belongs to the first of another. */
static void expand_locals(expander *e, scope *s, const rad_ast_protocol *ast)
{
    bool there[RAD_ROLES_MAX] = {false};
    uint32_t most = 1;
    for (const rad_ast_local *l = ast->locals; e->status == 0 && l != NULL; l = l->next) {
        uint32_t role = role_of(e, s, &l->role);
        if (e->status != 0) return;
        if (there[role]) fail(e, l->role.place, "%s has two parts", role_name(e, role));
        there[role] = true;
        e->only_role = role;
        e->out->branch_count = 1;
        tail t = {.at = &e->out->role_bodies[role]};
        expand_list(e, s, l->body, &t);
        if (e->out->branch_count > most) most = e->out->branch_count;
    }
    e->out->branch_count = most;
    for (uint32_t i = 0; e->status == 0 && i < e->out->role_count; i++)
        if (!there[i])
            fail(e, ast->place, "role %s has no part: expected 'local %s { … }'", role_name(e, i), role_name(e, i));
}

int rad__global_make(rad_ast_file *file, const rad_ast_protocol *ast, rad_global_protocol *out, rad_error *error)
{
    expander e = {.file = file, .out = out, .only_role = RAD_NONE, .error = error};
    *out = (rad_global_protocol){
        .name = ast->name, .place = ast->place, .branch_count = 1, .is_locals = ast->is_locals, .ast = ast};
    for (const rad_ast_protocol *p = file->protocols; p != ast && p != NULL; p = p->next)
        if (p->name == ast->name)
            return fail(&e, ast->place, "there are two protocols called %s", name_of(&e, ast->name));
    roles_make(&e, ast);
    scope *s = rad__arena_take(&file->arena, 1, sizeof *s);
    if (s != NULL) s->roles = rad__arena_take(&file->arena, RAD_ROLES_MAX, sizeof *s->roles);
    if (s == NULL || s->roles == NULL) return rad__error_memory(error);
    if (e.status != 0) return e.status;
    s->ast = ast;
    for (uint32_t i = 0; i < out->role_count; i++) s->roles[i] = i;
    tail t = {.at = &out->body};
    if (ast->is_locals)
        expand_locals(&e, s, ast);
    else
        expand_list(&e, s, ast->body, &t);
    return e.status;
}
