/* syntax.c — lexer and parser of protocol files: recursive descent, one token ahead. See syntax.h. */
#include "session/lang/syntax.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, NESTING_MAX = 200, LIST_MAX = 64 };

typedef struct parser {
    rad_ast_file *file;
    rad_lexer lexer;
    rad_lexeme now;
    uint32_t nesting;
    rad_error *error;
    int status;
} parser;

/* ---- Errors ------------------------------------------------------------------------------------------ */

int rad__ast_error(const rad_ast_file *file, rad_text_place at, rad_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int code = rad__error_at(error, file->file_name, at, format, args);
    va_end(args);
    return code;
}

static void fail(parser *p, rad_text_place at, const char *what)
{
    if (p->status == 0) p->status = rad__ast_error(p->file, at, p->error, "%s", what);
}

static void fail_memory(parser *p)
{
    if (p->status == 0) p->status = rad__error_memory(p->error);
}

static void expected(parser *p, const char *what)
{
    char found[RAD_LEXEME_TOLD], text[200];
    rad__lexeme_tell(&p->now, found);
    snprintf(text, sizeof text, "expected %s, found %s", what, found);
    fail(p, p->now.place, text);
}

static void *take(parser *p, size_t count, size_t size)
{
    void *taken = rad__arena_take(&p->file->arena, count, size);
    if (taken == NULL) fail_memory(p);
    return taken;
}

/* ---- Tokens ------------------------------------------------------------------------------------------ */

static void advance(parser *p)
{
    rad_text_place wrong;
    const char *mistake = rad__lex(&p->lexer, &p->now, &wrong);
    if (mistake != NULL) fail(p, wrong, mistake);
}

static bool is_token(const parser *p, const char *text)
{
    return rad__lexeme_is(&p->now, text);
}

/* A sign or a word. */
static bool accept(parser *p, const char *text)
{
    if (p->status != 0 || !is_token(p, text)) return false;
    advance(p);
    return true;
}

static void expect(parser *p, const char *text, const char *what)
{
    if (!accept(p, text)) expected(p, what);
}

static uint32_t symbol_of(parser *p, const char *text, size_t length)
{
    uint32_t name = rad__symbol(&p->file->symbols, text, length);
    if (name == RAD_NONE) {
        if (p->file->symbols.count >= RAD_SYMBOLS_MAX)
            fail(p, p->now.place, "there are too many names");
        else
            fail_memory(p);
    }
    return name;
}

static bool is_reserved(const parser *p)
{
    static const char *const words[] = {"protocol", "locals", "roles", "local", "code", "choice", "at",   "or",
                                        "loop",     "par",    "and",   "for",   "in",   "call",   "does", "continue"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_token(p, words[i])) return true;
    return false;
}

/* "expected the name of a message, found 'at', a word of the language that cannot be a name" */
static void reserved(parser *p, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "expected %s, found '%.*s', a word of the language that cannot be a name", what,
             (int)p->now.length, p->now.text);
    fail(p, p->now.place, text);
}

static uint32_t expect_name(parser *p, const char *what)
{
    if (p->status != 0) return RAD_NONE;
    if (p->now.kind == RAD_LEXEME_NAME && is_reserved(p)) {
        reserved(p, what);
        return RAD_NONE;
    }
    if (p->now.kind != RAD_LEXEME_NAME) {
        expected(p, what);
        return RAD_NONE;
    }
    uint32_t name = symbol_of(p, p->now.text, p->now.length);
    advance(p);
    return name;
}

/* ---- Roles ------------------------------------------------------------------------------------------- */

static rad_ast_number parse_number(parser *p)
{
    rad_ast_number n = {.place = p->now.place, .name = RAD_NONE};
    if (p->status != 0) return n;
    int sign = 1;
    bool named = p->now.kind == RAD_LEXEME_NAME;
    if (named) {
        n.name = expect_name(p, "a number or the name of a 'for'");
        if (is_token(p, "-")) sign = -1;
        if (!is_token(p, "+") && !is_token(p, "-")) return n;
        advance(p);
    }
    if (p->now.kind == RAD_LEXEME_NUMBER && p->now.number > INT32_MAX) fail(p, p->now.place, "the number is too large");
    if (p->now.kind != RAD_LEXEME_NUMBER) {
        expected(p, named ? "a number" : "a number or the name of a 'for'");
        return n;
    }
    if (p->status == 0) n.plus = sign * (int32_t)p->now.number;
    advance(p);
    return n;
}

static rad_ast_role parse_role(parser *p, bool ranges)
{
    rad_ast_role role = {.place = p->now.place};
    role.name = expect_name(p, "the name of a role");
    if (!accept(p, "[")) return role;
    role.indexed = true;
    role.from = role.to = parse_number(p);
    if (ranges && p->status == 0 && is_token(p, "..")) {
        advance(p);
        role.ranged = true;
        role.to = parse_number(p);
    }
    expect(p, "]", role.ranged || !ranges ? "']'" : "'..' or ']'");
    return role;
}

/* One or more, with commas between. */
static void parse_roles(parser *p, rad_ast_role **roles, uint32_t *count)
{
    rad_ast_role some[LIST_MAX];
    uint32_t n = 0;
    do {
        if (n == LIST_MAX) fail(p, p->now.place, "the list is too long");
        if (p->status != 0) return;
        some[n++] = parse_role(p, true);
    } while (accept(p, ","));
    *roles = take(p, n, sizeof *some);
    if (*roles != NULL) memcpy(*roles, some, n * sizeof *some);
    *count = n;
}

/* ---- Statements -------------------------------------------------------------------------------------- */

static const char *const TYPE_NAMES[RAD_TYPES] = {"int", "bool", "text"};

const char *rad__type_name(enum rad_type type)
{
    return (unsigned)type < RAD_TYPES ? TYPE_NAMES[type] : "?";
}

static rad_ast_field parse_field(parser *p)
{
    rad_ast_field field = {.name = RAD_NONE};
    for (int turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < RAD_TYPES; i++)
            if (accept(p, TYPE_NAMES[i])) {
                field.type = (enum rad_type)i;
                return field;
            }
        if (turn > 0) break;
        field.name = expect_name(p, "int, bool, text, or a field's name");
        expect(p, ":", "':' and a type (int, bool, text)");
    }
    expected(p, "int, bool or text");
    return field;
}

static void parse_fields(parser *p, rad_ast *s)
{
    if (!accept(p, "(") || accept(p, ")")) return;
    do {
        if (s->field_count == RAD_FIELDS_MAX) {
            fail(p, p->now.place, "a message has 8 fields at most");
            return;
        }
        s->fields[s->field_count++] = parse_field(p);
    } while (accept(p, ","));
    expect(p, ")", "',' or ')'");
}

static rad_ast *parse_statements(parser *p);

static rad_ast *parse_block(parser *p)
{
    expect(p, "{", "'{'");
    rad_ast *first = p->status == 0 ? parse_statements(p) : NULL;
    expect(p, "}", "a statement or '}'");
    return first;
}

/* One block, then, with a word to join them, more. */
static void parse_blocks(parser *p, rad_ast *s, const char *joint)
{
    rad_ast *blocks[LIST_MAX];
    rad_text_place places[LIST_MAX];
    uint32_t n = 0;
    do {
        if (n == LIST_MAX) fail(p, p->now.place, "the list is too long");
        if (p->status != 0) return;
        places[n] = p->now.place;
        blocks[n++] = parse_block(p);
    } while (joint != NULL && accept(p, joint));
    s->blocks = take(p, n, sizeof(rad_ast *));
    s->block_places = take(p, n, sizeof *places);
    if (p->status != 0) return;
    memcpy(s->blocks, blocks, n * sizeof *blocks);
    memcpy(s->block_places, places, n * sizeof *places);
    s->block_count = n;
    if (joint != NULL && n == 1) expected(p, strcmp(joint, "or") == 0 ? "'or'" : "'and'");
}

/* `A -> B: label(fields)` or `A does name`. */
static void parse_act(parser *p, rad_ast *s)
{
    s->roles = take(p, 2, sizeof *s->roles);
    if (p->status != 0) return;
    s->roles[0] = parse_role(p, false);
    s->role_count = 1;
    if (accept(p, "does")) {
        s->kind = RAD_AST_DOES;
        s->name_place = p->now.place;
        s->name = expect_name(p, "what it does, a name");
        return;
    }
    s->kind = RAD_AST_MESSAGE;
    if (p->status == 0 && !is_token(p, "->")) {
        expected(p, "'->' or 'does'");
        return;
    }
    if (p->status == 0) advance(p);
    s->roles[1] = parse_role(p, false);
    s->role_count = 2;
    expect(p, ":", "':' and a message");
    s->name_place = p->now.place;
    s->name = expect_name(p, "the name of a message");
    parse_fields(p, s);
}

static void parse_call(parser *p, rad_ast *s)
{
    s->kind = RAD_AST_CALL;
    s->name_place = p->now.place;
    s->name = expect_name(p, "the name of a protocol");
    expect(p, "(", "'(' and roles");
    if (p->status == 0) parse_roles(p, &s->roles, &s->role_count);
    expect(p, ")", "',' or ')'");
}

static void parse_for(parser *p, rad_ast *s)
{
    s->kind = RAD_AST_FOR;
    s->name_place = p->now.place;
    s->name = expect_name(p, "a name");
    expect(p, "in", "'in'");
    s->first = parse_number(p);
    if (p->status == 0 && !is_token(p, ".."))
        expected(p, "'..'");
    else if (p->status == 0)
        advance(p);
    s->last = parse_number(p);
    parse_blocks(p, s, NULL);
}

static void parse_choice(parser *p, rad_ast *s)
{
    s->kind = RAD_AST_CHOICE;
    expect(p, "at", "'at' and a role");
    s->roles = take(p, 1, sizeof *s->roles);
    if (p->status != 0) return;
    s->roles[0] = parse_role(p, false);
    s->role_count = 1;
    parse_blocks(p, s, "or");
}

static rad_ast *parse_statement(parser *p)
{
    rad_ast *s = take(p, 1, sizeof *s);
    if (s == NULL) return NULL;
    s->place = s->name_place = p->now.place;
    s->name = RAD_NONE;
    if (accept(p, "choice")) {
        parse_choice(p, s);
    } else if (accept(p, "loop")) {
        s->kind = RAD_AST_LOOP;
        s->name_place = p->now.place;
        s->name = expect_name(p, "a name for the loop");
        parse_blocks(p, s, NULL);
    } else if (accept(p, "continue")) {
        s->kind = RAD_AST_CONTINUE;
        s->name_place = p->now.place;
        s->name = expect_name(p, "the name of a loop");
    } else if (accept(p, "par")) {
        s->kind = RAD_AST_PAR;
        parse_blocks(p, s, "and");
    } else if (accept(p, "for")) {
        parse_for(p, s);
    } else if (accept(p, "call")) {
        parse_call(p, s);
    } else {
        parse_act(p, s);
    }
    return s;
}

/* Up to a '}'. */
static rad_ast *parse_statements(parser *p)
{
    rad_ast *first = NULL, **last = &first;
    if (++p->nesting > NESTING_MAX) fail(p, p->now.place, "the blocks are nested too deeply");
    while (p->status == 0 && !is_token(p, "}") && !is_token(p, "code") && p->now.kind != RAD_LEXEME_END) {
        *last = parse_statement(p);
        if (*last != NULL) last = &(*last)->next;
    }
    p->nesting--;
    return first;
}

/* ---- Code -------------------------------------------------------------------------------------------- */

static bool is_register(const parser *p, int64_t *number)
{
    const rad_lexeme *t = &p->now;
    if (t->kind != RAD_LEXEME_NAME || t->length < 2 || t->length > 4 || t->text[0] != 'r') return false;
    *number = 0;
    for (size_t i = 1; i < t->length; i++) {
        if (t->text[i] < '0' || t->text[i] > '9') return false;
        *number = *number * 10 + (t->text[i] - '0');
    }
    return true;
}

static void operand_name(parser *p, rad_operand *o)
{
    if (is_register(p, &o->number)) {
        o->kind = RAD_OPERAND_REGISTER;
        advance(p);
    } else if (is_token(p, "true") || is_token(p, "false")) {
        o->kind = RAD_OPERAND_BOOL;
        o->number = is_token(p, "true");
        advance(p);
    } else {
        o->role = parse_role(p, false);
        o->kind = o->role.indexed ? RAD_OPERAND_ROLE : RAD_OPERAND_NAME;
        o->name = o->role.name;
    }
}

/* False: here is none. */
static bool parse_operand(parser *p, rad_operand *o)
{
    const rad_lexeme *t = &p->now;
    *o = (rad_operand){.place = t->place};
    bool minus = is_token(p, "-");
    if (minus) advance(p);
    if (t->kind == RAD_LEXEME_NUMBER) {
        if (!minus && t->number > INT64_MAX) fail(p, t->place, "the number is too large");
        o->kind = RAD_OPERAND_INT;
        o->number = (int64_t)(minus ? 0 - t->number : t->number);
        advance(p);
    } else if (minus) {
        expected(p, "a number");
    } else if (t->kind == RAD_LEXEME_TEXT) {
        o->kind = RAD_OPERAND_TEXT;
        o->name = symbol_of(p, t->text + 1, t->length - 2);
        advance(p);
    } else if (is_token(p, "->")) {
        o->kind = RAD_OPERAND_ARROW;
        advance(p);
    } else if (t->kind == RAD_LEXEME_NAME) {
        operand_name(p, o);
    } else {
        return false;
    }
    return p->status == 0;
}

/* An instruction and its operands are on one line, or what is between braces. */
static rad_ast_line *parse_line(parser *p)
{
    rad_operand some[RAD_OPERANDS_MAX];
    rad_ast_line *l = take(p, 1, sizeof *l);
    if (l == NULL) return NULL;
    l->place = p->now.place;
    uint32_t line = p->now.place.line;
    l->name = expect_name(p, "an instruction, a label or '}'");
    l->is_label = accept(p, ":");
    if (l->is_label) return l;
    bool inside = false;
    while (p->status == 0) {
        if (!inside && p->now.place.line != line) break;
        if (!inside && accept(p, "{")) {
            inside = true;
            continue;
        }
        if (inside && accept(p, "}")) break;
        if (inside && accept(p, ",")) continue;
        if (l->operand_count == RAD_OPERANDS_MAX) fail(p, p->now.place, "there are too many operands");
        if (p->status != 0 || !parse_operand(p, &some[l->operand_count])) break;
        l->operand_count++;
        if (inside && p->now.kind == RAD_LEXEME_END) expected(p, "'}'");
    }
    l->operands = take(p, l->operand_count, sizeof *some);
    if (l->operands != NULL) memcpy(l->operands, some, l->operand_count * sizeof *some);
    return l;
}

static rad_ast_code *parse_code(parser *p)
{
    rad_ast_code *c = take(p, 1, sizeof *c);
    if (c == NULL) return NULL;
    c->role = parse_role(p, false);
    expect(p, "{", "'{'");
    for (rad_ast_line **last = &c->lines; p->status == 0 && !accept(p, "}");) {
        *last = parse_line(p);
        if (*last != NULL) last = &(*last)->next;
    }
    return c;
}

/* ---- Protocols --------------------------------------------------------------------------------------- */

static void parse_locals(parser *p, rad_ast_protocol *protocol)
{
    rad_ast_local **last = &protocol->locals;
    while (accept(p, "local")) {
        rad_ast_local *l = take(p, 1, sizeof *l);
        if (l == NULL) return;
        l->role = parse_role(p, false);
        l->body = parse_block(p);
        *last = l;
        last = &l->next;
    }
}

static rad_ast_protocol *parse_protocol(parser *p)
{
    rad_ast_protocol *protocol = take(p, 1, sizeof *protocol);
    if (protocol == NULL) return NULL;
    protocol->is_locals = is_token(p, "locals");
    if (!accept(p, "locals")) expect(p, "protocol", "'protocol' or 'locals'");
    protocol->place = p->now.place;
    protocol->name = expect_name(p, "the name of the protocol");
    expect(p, "{", "'{'");
    expect(p, "roles", "'roles'");
    if (p->status == 0) parse_roles(p, &protocol->roles, &protocol->role_count);
    if (protocol->is_locals)
        parse_locals(p, protocol);
    else if (p->status == 0)
        protocol->body = parse_statements(p);
    rad_ast_code **last = &protocol->codes;
    while (accept(p, "code")) {
        *last = parse_code(p);
        if (*last != NULL) last = &(*last)->next;
    }
    expect(p, "}", protocol->is_locals ? "'local', 'code' or '}'" : "a statement, 'code' or '}'");
    return protocol;
}

int rad__ast_read(rad_ast_file *file, const char *file_name, const char *text, size_t size, rad_error *error)
{
    *file = (rad_ast_file){.file_name = file_name};
    parser p = {.file = file, .error = error};
    rad__lex_begin(&p.lexer, text, size, "->..", false);
    if (size > TEXT_MAX) return rad__error(error, RAD_EINPUT, "%s: a protocol file has 1 MiB at most", file_name);
    advance(&p);
    for (rad_ast_protocol **last = &file->protocols; p.status == 0;) {
        if (p.now.kind == RAD_LEXEME_END && file->protocol_count > 0) break;
        *last = parse_protocol(&p);
        if (*last != NULL) last = &(*last)->next;
        file->protocol_count++;
    }
    return p.status;
}

void rad__ast_free(rad_ast_file *file)
{
    rad__symbols_free(&file->symbols);
    rad__arena_free(&file->arena);
    file->protocols = NULL;
}
