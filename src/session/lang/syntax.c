/* syntax.c — lexer and parser of protocol files: recursive descent, one token ahead. See syntax.h. */
#include "session/lang/syntax.h"

#include "base/error.h"
#include "base/parse.h"

#include <string.h>

enum { TEXT_MAX = 1 << 20, NESTING_MAX = 200, LIST_MAX = 64 };

/* ---- Errors ------------------------------------------------------------------------------------------ */

int rad__ast_error(const rad_ast_file *file, rad_text_place at, rad_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int code = rad__error_at(error, file->file_name, at, format, args);
    va_end(args);
    return code;
}

/* ---- Names ------------------------------------------------------------------------------------------- */

static bool is_reserved(const rad_parser *p)
{
    static const char *const words[] = {"protocol", "locals", "roles", "local", "code", "choice", "at",   "or",
                                        "loop",     "par",    "and",   "for",   "in",   "call",   "does", "continue"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rad__parse_is(p, words[i])) return true;
    return false;
}

static uint32_t expect_name(rad_parser *p, const char *what)
{
    if (p->now.kind == RAD_LEXEME_NAME && is_reserved(p))
        rad__parse_fail(p, p->now.place, "expected %s, found '%.*s', a word of the language that cannot be a name",
                        what, (int)p->now.length, p->now.text);
    return rad__parse_expect_name(p, what);
}

/* ---- Roles ------------------------------------------------------------------------------------------- */

static rad_ast_number parse_number(rad_parser *p)
{
    rad_ast_number n = {.place = p->now.place, .name = RAD_NONE};
    if (p->status != 0) return n;
    int sign = 1;
    bool named = p->now.kind == RAD_LEXEME_NAME;
    if (named) {
        n.name = expect_name(p, "a number or the name of a 'for'");
        if (rad__parse_is(p, "-")) sign = -1;
        if (!rad__parse_is(p, "+") && !rad__parse_is(p, "-")) return n;
        rad__parse_advance(p);
    }
    if (p->now.kind == RAD_LEXEME_NUMBER && p->now.number > INT32_MAX)
        rad__parse_fail(p, p->now.place, "the number is too large");
    if (p->now.kind != RAD_LEXEME_NUMBER) {
        rad__parse_expected(p, named ? "a number" : "a number or the name of a 'for'");
        return n;
    }
    if (p->status == 0) n.plus = sign * (int32_t)p->now.number;
    rad__parse_advance(p);
    return n;
}

static rad_ast_role parse_role(rad_parser *p, bool ranges)
{
    rad_ast_role role = {.place = p->now.place};
    role.name = expect_name(p, "the name of a role");
    if (!rad__parse_accept(p, "[")) return role;
    role.indexed = true;
    role.from = role.to = parse_number(p);
    if (ranges && p->status == 0 && rad__parse_is(p, "..")) {
        rad__parse_advance(p);
        role.ranged = true;
        role.to = parse_number(p);
    }
    rad__parse_expect(p, "]", role.ranged || !ranges ? "']'" : "'..' or ']'");
    return role;
}

/* One or more, with commas between. */
static void parse_roles(rad_parser *p, rad_ast_role **roles, uint32_t *count)
{
    rad_ast_role some[LIST_MAX];
    uint32_t n = 0;
    do {
        if (n == LIST_MAX) rad__parse_fail(p, p->now.place, "the list is too long");
        if (p->status != 0) return;
        some[n++] = parse_role(p, true);
    } while (rad__parse_accept(p, ","));
    *roles = rad__parse_take(p, n, sizeof *some);
    if (*roles != NULL) memcpy(*roles, some, n * sizeof *some);
    *count = n;
}

/* ---- Statements -------------------------------------------------------------------------------------- */

static const char *const TYPE_NAMES[RAD_TYPES] = {"int", "bool", "text"};

const char *rad__type_name(enum rad_type type)
{
    return (unsigned)type < RAD_TYPES ? TYPE_NAMES[type] : "?";
}

static rad_ast_field parse_field(rad_parser *p)
{
    rad_ast_field field = {.name = RAD_NONE};
    for (int turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < RAD_TYPES; i++)
            if (rad__parse_accept(p, TYPE_NAMES[i])) {
                field.type = (enum rad_type)i;
                return field;
            }
        if (turn > 0) break;
        field.name = expect_name(p, "int, bool, text, or a field's name");
        rad__parse_expect(p, ":", "':' and a type (int, bool, text)");
    }
    rad__parse_expected(p, "int, bool or text");
    return field;
}

static void parse_fields(rad_parser *p, rad_ast *s)
{
    if (!rad__parse_accept(p, "(") || rad__parse_accept(p, ")")) return;
    do {
        if (s->field_count == RAD_FIELDS_MAX) {
            rad__parse_fail(p, p->now.place, "a message has 8 fields at most");
            return;
        }
        s->fields[s->field_count++] = parse_field(p);
    } while (rad__parse_accept(p, ","));
    rad__parse_expect(p, ")", "',' or ')'");
}

static rad_ast *parse_statements(rad_parser *p);

static rad_ast *parse_block(rad_parser *p)
{
    rad__parse_expect(p, "{", "'{'");
    rad_ast *first = p->status == 0 ? parse_statements(p) : NULL;
    rad__parse_expect(p, "}", "a statement or '}'");
    return first;
}

/* One block, then, with a word to join them, more. */
static void parse_blocks(rad_parser *p, rad_ast *s, const char *joint)
{
    rad_ast *blocks[LIST_MAX];
    rad_text_place places[LIST_MAX];
    uint32_t n = 0;
    do {
        if (n == LIST_MAX) rad__parse_fail(p, p->now.place, "the list is too long");
        if (p->status != 0) return;
        places[n] = p->now.place;
        blocks[n++] = parse_block(p);
    } while (joint != NULL && rad__parse_accept(p, joint));
    s->blocks = rad__parse_take(p, n, sizeof(rad_ast *));
    s->block_places = rad__parse_take(p, n, sizeof *places);
    if (p->status != 0) return;
    memcpy(s->blocks, blocks, n * sizeof *blocks);
    memcpy(s->block_places, places, n * sizeof *places);
    s->block_count = n;
    if (joint != NULL && n == 1) rad__parse_expected(p, strcmp(joint, "or") == 0 ? "'or'" : "'and'");
}

/* `A -> B: label(fields)` or `A does name`. */
static void parse_act(rad_parser *p, rad_ast *s)
{
    s->roles = rad__parse_take(p, 2, sizeof *s->roles);
    if (p->status != 0) return;
    s->roles[0] = parse_role(p, false);
    s->role_count = 1;
    if (rad__parse_accept(p, "does")) {
        s->kind = RAD_AST_DOES;
        s->name_place = p->now.place;
        s->name = expect_name(p, "what it does, a name");
        return;
    }
    s->kind = RAD_AST_MESSAGE;
    if (p->status == 0 && !rad__parse_is(p, "->")) {
        rad__parse_expected(p, "'->' or 'does'");
        return;
    }
    if (p->status == 0) rad__parse_advance(p);
    s->roles[1] = parse_role(p, false);
    s->role_count = 2;
    rad__parse_expect(p, ":", "':' and a message");
    s->name_place = p->now.place;
    s->name = expect_name(p, "the name of a message");
    parse_fields(p, s);
}

static void parse_call(rad_parser *p, rad_ast *s)
{
    s->kind = RAD_AST_CALL;
    s->name_place = p->now.place;
    s->name = expect_name(p, "the name of a protocol");
    rad__parse_expect(p, "(", "'(' and roles");
    if (p->status == 0) parse_roles(p, &s->roles, &s->role_count);
    rad__parse_expect(p, ")", "',' or ')'");
}

static void parse_for(rad_parser *p, rad_ast *s)
{
    s->kind = RAD_AST_FOR;
    s->name_place = p->now.place;
    s->name = expect_name(p, "a name");
    rad__parse_expect(p, "in", "'in'");
    s->first = parse_number(p);
    if (p->status == 0 && !rad__parse_is(p, ".."))
        rad__parse_expected(p, "'..'");
    else if (p->status == 0)
        rad__parse_advance(p);
    s->last = parse_number(p);
    parse_blocks(p, s, NULL);
}

static void parse_choice(rad_parser *p, rad_ast *s)
{
    s->kind = RAD_AST_CHOICE;
    rad__parse_expect(p, "at", "'at' and a role");
    s->roles = rad__parse_take(p, 1, sizeof *s->roles);
    if (p->status != 0) return;
    s->roles[0] = parse_role(p, false);
    s->role_count = 1;
    parse_blocks(p, s, "or");
}

static rad_ast *parse_statement(rad_parser *p)
{
    rad_ast *s = rad__parse_take(p, 1, sizeof *s);
    if (s == NULL) return NULL;
    s->place = s->name_place = p->now.place;
    s->name = RAD_NONE;
    if (rad__parse_accept(p, "choice")) {
        parse_choice(p, s);
    } else if (rad__parse_accept(p, "loop")) {
        s->kind = RAD_AST_LOOP;
        s->name_place = p->now.place;
        s->name = expect_name(p, "a name for the loop");
        parse_blocks(p, s, NULL);
    } else if (rad__parse_accept(p, "continue")) {
        s->kind = RAD_AST_CONTINUE;
        s->name_place = p->now.place;
        s->name = expect_name(p, "the name of a loop");
    } else if (rad__parse_accept(p, "par")) {
        s->kind = RAD_AST_PAR;
        parse_blocks(p, s, "and");
    } else if (rad__parse_accept(p, "for")) {
        parse_for(p, s);
    } else if (rad__parse_accept(p, "call")) {
        parse_call(p, s);
    } else {
        parse_act(p, s);
    }
    return s;
}

/* Up to a '}'. */
static rad_ast *parse_statements(rad_parser *p)
{
    rad_ast *first = NULL, **last = &first;
    if (++p->nesting > NESTING_MAX) rad__parse_fail(p, p->now.place, "the blocks are nested too deeply");
    while (p->status == 0 && !rad__parse_is(p, "}") && !rad__parse_is(p, "code") && p->now.kind != RAD_LEXEME_END) {
        *last = parse_statement(p);
        if (*last != NULL) last = &(*last)->next;
    }
    p->nesting--;
    return first;
}

/* ---- Code -------------------------------------------------------------------------------------------- */

static bool is_register(const rad_parser *p, int64_t *number)
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

static void operand_name(rad_parser *p, rad_operand *o)
{
    if (is_register(p, &o->number)) {
        o->kind = RAD_OPERAND_REGISTER;
        rad__parse_advance(p);
    } else if (rad__parse_is(p, "true") || rad__parse_is(p, "false")) {
        o->kind = RAD_OPERAND_BOOL;
        o->number = rad__parse_is(p, "true");
        rad__parse_advance(p);
    } else {
        o->role = parse_role(p, false);
        o->kind = o->role.indexed ? RAD_OPERAND_ROLE : RAD_OPERAND_NAME;
        o->name = o->role.name;
    }
}

/* False: here is none. */
static bool parse_operand(rad_parser *p, rad_operand *o)
{
    const rad_lexeme *t = &p->now;
    *o = (rad_operand){.place = t->place};
    bool minus = rad__parse_is(p, "-");
    if (minus) rad__parse_advance(p);
    if (t->kind == RAD_LEXEME_NUMBER) {
        if (!minus && t->number > INT64_MAX) rad__parse_fail(p, t->place, "the number is too large");
        o->kind = RAD_OPERAND_INT;
        o->number = (int64_t)(minus ? 0 - t->number : t->number);
        rad__parse_advance(p);
    } else if (minus) {
        rad__parse_expected(p, "a number");
    } else if (t->kind == RAD_LEXEME_TEXT) {
        o->kind = RAD_OPERAND_TEXT;
        o->name = rad__parse_symbol(p, t->text + 1, t->length - 2);
        rad__parse_advance(p);
    } else if (rad__parse_is(p, "->")) {
        o->kind = RAD_OPERAND_ARROW;
        rad__parse_advance(p);
    } else if (t->kind == RAD_LEXEME_NAME) {
        operand_name(p, o);
    } else {
        return false;
    }
    return p->status == 0;
}

/* An instruction and its operands are on one line, or what is between braces. */
static rad_ast_line *parse_line(rad_parser *p)
{
    rad_operand some[RAD_OPERANDS_MAX];
    rad_ast_line *l = rad__parse_take(p, 1, sizeof *l);
    if (l == NULL) return NULL;
    l->place = p->now.place;
    uint32_t line = p->now.place.line;
    l->name = expect_name(p, "an instruction, a label or '}'");
    l->is_label = rad__parse_accept(p, ":");
    if (l->is_label) return l;
    bool inside = false;
    while (p->status == 0) {
        if (!inside && p->now.place.line != line) break;
        if (!inside && rad__parse_accept(p, "{")) {
            inside = true;
            continue;
        }
        if (inside && rad__parse_accept(p, "}")) break;
        if (inside && rad__parse_accept(p, ",")) continue;
        if (l->operand_count == RAD_OPERANDS_MAX) rad__parse_fail(p, p->now.place, "there are too many operands");
        if (p->status != 0 || !parse_operand(p, &some[l->operand_count])) break;
        l->operand_count++;
        if (inside && p->now.kind == RAD_LEXEME_END) rad__parse_expected(p, "'}'");
    }
    l->operands = rad__parse_take(p, l->operand_count, sizeof *some);
    if (l->operands != NULL) memcpy(l->operands, some, l->operand_count * sizeof *some);
    return l;
}

static rad_ast_code *parse_code(rad_parser *p)
{
    rad_ast_code *c = rad__parse_take(p, 1, sizeof *c);
    if (c == NULL) return NULL;
    c->role = parse_role(p, false);
    rad__parse_expect(p, "{", "'{'");
    for (rad_ast_line **last = &c->lines; p->status == 0 && !rad__parse_accept(p, "}");) {
        *last = parse_line(p);
        if (*last != NULL) last = &(*last)->next;
    }
    return c;
}

/* ---- Protocols --------------------------------------------------------------------------------------- */

static void parse_locals(rad_parser *p, rad_ast_protocol *protocol)
{
    rad_ast_local **last = &protocol->locals;
    while (rad__parse_accept(p, "local")) {
        rad_ast_local *l = rad__parse_take(p, 1, sizeof *l);
        if (l == NULL) return;
        l->role = parse_role(p, false);
        l->body = parse_block(p);
        *last = l;
        last = &l->next;
    }
}

static rad_ast_protocol *parse_protocol(rad_parser *p)
{
    rad_ast_protocol *protocol = rad__parse_take(p, 1, sizeof *protocol);
    if (protocol == NULL) return NULL;
    protocol->is_locals = rad__parse_is(p, "locals");
    if (!rad__parse_accept(p, "locals")) rad__parse_expect(p, "protocol", "'protocol' or 'locals'");
    protocol->place = p->now.place;
    protocol->name = expect_name(p, "the name of the protocol");
    rad__parse_expect(p, "{", "'{'");
    rad__parse_expect(p, "roles", "'roles'");
    if (p->status == 0) parse_roles(p, &protocol->roles, &protocol->role_count);
    if (protocol->is_locals)
        parse_locals(p, protocol);
    else if (p->status == 0)
        protocol->body = parse_statements(p);
    rad_ast_code **last = &protocol->codes;
    while (rad__parse_accept(p, "code")) {
        *last = parse_code(p);
        if (*last != NULL) last = &(*last)->next;
    }
    rad__parse_expect(p, "}", protocol->is_locals ? "'local', 'code' or '}'" : "a statement, 'code' or '}'");
    return protocol;
}

int rad__ast_read(rad_ast_file *file, const char *file_name, const char *text, size_t size, rad_error *error)
{
    *file = (rad_ast_file){.file_name = file_name};
    rad_parser p = {.file_name = file_name, .symbols = &file->symbols, .arena = &file->arena, .error = error};
    rad__lex_begin(&p.lexer, text, size, "->..", false);
    if (size > TEXT_MAX) return rad__error(error, RAD_EINPUT, "%s: a protocol file has 1 MiB at most", file_name);
    rad__parse_advance(&p);
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
