/* parse.c — the lines of a TOML file: headers, keys and values, and who may add to which table.
 *
 * A table is defined once: by a header, by dotted keys under one header, or by braces. Only a table that merely stood
 * in the path of a header is not defined yet. Headers may pass through any table that is not in braces, and add tables
 * to it; dotted keys may pass only through tables that are defined by dotted keys under the same header.
 *
 * Tables are made while a key is read, part by part, so that a key takes no memory of its own. Values nest by
 * recursion, as deep as RAD_TOML_DEPTH_MAX. */
#include "base/error.h"
#include "base/text.h"
#include "base/toml/parts.h"

#include <string.h>

typedef struct parser {
    rad_toml_scan scan;
    rad_toml *doc;
    rad_toml_node *body;   /* the table whose keys are being read */
    uint32_t section;      /* its number */
    uint32_t section_last; /* headers and braces so far */
} parser;

static bool parse_value(parser *p, rad_toml_node *node);

/* ---- Nodes --------------------------------------------------------------------------------------------- */

static bool refuse_depth(parser *p, rad_toml_place place)
{
    return rad__toml_scan_fail(&p->scan, place, "expected at most %d tables and arrays in each other",
                               RAD_TOML_DEPTH_MAX);
}

static bool make_parent(parser *p, rad_toml_node *node, enum rad_toml_type type, enum rad_toml_made made,
                        rad_toml_place place)
{
    if (node->depth > RAD_TOML_DEPTH_MAX) return refuse_depth(p, place);
    node->children = rad__arena_take(&p->doc->arena, 1, sizeof *node->children);
    if (node->children == NULL) return rad__toml_scan_memory(&p->scan);
    node->type = (uint8_t)type;
    node->made = (uint8_t)made;
    node->line = place.line;
    node->column = place.column;
    return true;
}

/* A table that is not there yet, as a member of another. NULL after an error. */
static rad_toml_node *add_table(parser *p, rad_toml_node *table, const rad_toml_slice *key, enum rad_toml_made made,
                                rad_toml_place place)
{
    rad_toml_node *node = rad__toml_table_add(&p->doc->arena, table, key);
    if (node == NULL) rad__toml_scan_memory(&p->scan);
    return node && make_parent(p, node, RAD_TOML_TABLE, made, place) ? node : NULL;
}

/* ---- Keys ---------------------------------------------------------------------------------------------- */

/* One part of a dotted key, and the blanks behind it. */
static bool parse_key_part(parser *p, rad_toml_slice *key)
{
    rad_toml_scan *s = &p->scan;
    rad__toml_scan_blanks(s);
    char c = rad__toml_scan_peek(s);
    if (c == '"' || c == '\'') {
        if (!rad__toml_scan_string(s, true, key)) return false;
    } else {
        *key = (rad_toml_slice){.text = s->at, .place = rad__toml_scan_place(s)};
        while (s->at < s->end && rad__toml_is_bare(*s->at)) s->at++;
        key->length = (size_t)(s->at - key->text);
        if (key->length == 0) return rad__toml_scan_expected(s, "a key");
    }
    rad__toml_scan_blanks(s);
    return true;
}

/* What is there already, and why the key cannot stand here. NULL, for callers that return it. */
static rad_toml_node *refuse_key(parser *p, const rad_toml_slice *key, const rad_toml_node *there, const char *what)
{
    char text[RAD_TOML_KEY_TEXT];
    const char *kind = rad__toml_type_name(there);
    if (there->type == RAD_TOML_TABLE && there->made == RAD_TOML_BY_VALUE) kind = "an inline table";
    if (there->type == RAD_TOML_TABLE && there->made == RAD_TOML_BY_DOTS) kind = "a table of dotted keys";
    if (there->type == RAD_TOML_ARRAY && there->made == RAD_TOML_BY_HEADER) kind = "an array of tables";
    rad__toml_scan_fail(&p->scan, key->place, "expected %s, found '%s', which is %s since line %u", what,
                        rad__toml_key_text(key->text, key->length, text), kind, there->key->line);
    return NULL;
}

/* The table that a part of a header names that is not the last. */
static rad_toml_node *pass_path(parser *p, rad_toml_node *table, const rad_toml_slice *key)
{
    rad_toml_node *there = rad__toml_table_find(table, key->text, key->length);
    if (there == NULL) return add_table(p, table, key, RAD_TOML_BY_PATH, key->place);
    bool by_value = there->made == RAD_TOML_BY_VALUE;
    if (there->type == RAD_TOML_TABLE && !by_value) return there;
    if (there->type == RAD_TOML_ARRAY && !by_value) return there->children->last;
    return refuse_key(p, key, there, "a table that can be added to");
}

/* The table that a part of a key names that is not the last. */
static rad_toml_node *pass_dots(parser *p, rad_toml_node *table, const rad_toml_slice *key, uint32_t section)
{
    rad_toml_node *there = rad__toml_table_find(table, key->text, key->length);
    if (there == NULL) {
        there = add_table(p, table, key, RAD_TOML_BY_DOTS, key->place);
        if (there != NULL) there->children->section = section;
        return there;
    }
    bool is_table = there->type == RAD_TOML_TABLE;
    if (is_table && there->made == RAD_TOML_BY_DOTS && there->children->section == section) return there;
    if (is_table && there->made == RAD_TOML_BY_PATH) {
        there->made = RAD_TOML_BY_DOTS;
        there->children->section = section;
        return there;
    }
    return refuse_key(p, key, there, "a table that dotted keys here can add to");
}

/* key = value, into a table. */
static bool parse_member(parser *p, rad_toml_node *table, uint32_t section)
{
    rad_toml_scan *s = &p->scan;
    rad_toml_slice key;
    if (!parse_key_part(p, &key)) return false;
    while (rad__toml_scan_accept(s, '.')) {
        table = pass_dots(p, table, &key, section);
        if (table == NULL || !parse_key_part(p, &key)) return false;
    }
    rad_toml_node *there = rad__toml_table_find(table, key.text, key.length);
    if (there != NULL) return refuse_key(p, &key, there, "a new key") != NULL;
    rad_toml_node *node = rad__toml_table_add(&p->doc->arena, table, &key);
    if (node == NULL) return rad__toml_scan_memory(s);
    if (!rad__toml_scan_accept(s, '=')) return rad__toml_scan_expected(s, "'=' after the key");
    rad__toml_scan_blanks(s);
    return parse_value(p, node);
}

/* ---- Headers ------------------------------------------------------------------------------------------- */

/* The last part of [a.b.c]. */
static rad_toml_node *define_table(parser *p, rad_toml_node *table, const rad_toml_slice *key, rad_toml_place place)
{
    rad_toml_node *there = rad__toml_table_find(table, key->text, key->length);
    if (there == NULL) return add_table(p, table, key, RAD_TOML_BY_HEADER, place);
    if (there->type != RAD_TOML_TABLE || there->made != RAD_TOML_BY_PATH)
        return refuse_key(p, key, there, "a new table");
    there->made = RAD_TOML_BY_HEADER;
    there->line = place.line;
    there->column = place.column;
    return there;
}

/* The last part of [[a.b.c]]: one more element. */
static rad_toml_node *define_element(parser *p, rad_toml_node *table, const rad_toml_slice *key, rad_toml_place place)
{
    rad_arena *arena = &p->doc->arena;
    rad_toml_node *array = rad__toml_table_find(table, key->text, key->length);
    if (array == NULL) {
        array = rad__toml_table_add(arena, table, key);
        if (array == NULL) rad__toml_scan_memory(&p->scan);
        if (!array || !make_parent(p, array, RAD_TOML_ARRAY, RAD_TOML_BY_HEADER, place)) return NULL;
    } else if (array->type != RAD_TOML_ARRAY || array->made != RAD_TOML_BY_HEADER) {
        return refuse_key(p, key, array, "a new key, or an array of tables");
    }
    rad_toml_node *node = rad__toml_array_add(arena, array);
    if (node == NULL) rad__toml_scan_memory(&p->scan);
    bool made = node && make_parent(p, node, RAD_TOML_TABLE, RAD_TOML_BY_HEADER, place);
    return made ? node : NULL;
}

static bool parse_header(parser *p)
{
    rad_toml_scan *s = &p->scan;
    rad_toml_place place = rad__toml_scan_place(s);
    rad_toml_node *table = p->doc->root;
    rad_toml_slice key;
    s->at++;
    bool is_element = rad__toml_scan_accept(s, '[');
    if (!parse_key_part(p, &key)) return false;
    while (rad__toml_scan_accept(s, '.')) {
        table = pass_path(p, table, &key);
        if (table == NULL || !parse_key_part(p, &key)) return false;
    }
    p->body = is_element ? define_element(p, table, &key, place) : define_table(p, table, &key, place);
    if (p->body == NULL) return false;
    p->section = ++p->section_last;
    const char *closing = is_element ? "']]' after the name of the table" : "']' after the name of the table";
    if (rad__toml_scan_peek(s) != ']') return rad__toml_scan_expected(s, closing);
    s->at++;
    return !is_element || rad__toml_scan_accept(s, ']') ||
           rad__toml_scan_expected(s, "a second ']' after the name of the table");
}

/* ---- Values -------------------------------------------------------------------------------------------- */

static bool parse_string(parser *p, rad_toml_node *node)
{
    rad_toml_slice string;
    if (!rad__toml_scan_string(&p->scan, false, &string)) return false;
    node->type = RAD_TOML_STRING;
    node->count = (uint32_t)string.length;
    node->text = rad__arena_text(&p->doc->arena, string.text, string.length);
    return node->text != NULL || rad__toml_scan_memory(&p->scan);
}

static bool parse_array(parser *p, rad_toml_node *array, rad_toml_place place)
{
    rad_toml_scan *s = &p->scan;
    if (!make_parent(p, array, RAD_TOML_ARRAY, RAD_TOML_BY_VALUE, place)) return false;
    s->at++;
    for (;;) {
        rad__toml_scan_lines(s);
        if (rad__toml_scan_accept(s, ']')) return true;
        rad_toml_node *node = rad__toml_array_add(&p->doc->arena, array);
        if (node == NULL) return rad__toml_scan_memory(s);
        if (!parse_value(p, node)) return false;
        rad__toml_scan_lines(s);
        if (!rad__toml_scan_accept(s, ',') && rad__toml_scan_peek(s) != ']')
            return rad__toml_scan_expected(s, "',' or ']' after an element of an array");
    }
}

static bool parse_inline_table(parser *p, rad_toml_node *table, rad_toml_place place)
{
    rad_toml_scan *s = &p->scan;
    if (!make_parent(p, table, RAD_TOML_TABLE, RAD_TOML_BY_VALUE, place)) return false;
    s->at++;
    uint32_t section = ++p->section_last;
    rad__toml_scan_blanks(s);
    if (rad__toml_scan_accept(s, '}')) return true;
    for (;;) {
        if (!parse_member(p, table, section)) return false;
        rad__toml_scan_blanks(s);
        if (rad__toml_scan_accept(s, '}')) return true;
        if (!rad__toml_scan_accept(s, ','))
            return rad__toml_scan_expected(s, "',' or '}' after a value of an inline table");
    }
}

static bool begins_with_digits(const char *text, size_t length, size_t digits, char then)
{
    if (length <= digits || text[digits] != then) return false;
    for (size_t i = 0; i < digits; i++)
        if (!rad__is_digit(text[i])) return false;
    return true;
}

/* true, false, a number, or a date: what has no quotes and no brackets. */
static bool parse_word(parser *p, rad_toml_node *node)
{
    rad_toml_scan *s = &p->scan;
    size_t left = (size_t)(s->end - s->at), length = 0;
    while (length < left && (rad__toml_is_bare(s->at[length]) || strchr("+.:", s->at[length]))) length++;
    bool yes = length == 4 && memcmp(s->at, "true", 4) == 0;
    bool no = length == 5 && memcmp(s->at, "false", 5) == 0;
    if (yes || no) {
        node->type = RAD_TOML_BOOLEAN;
        node->boolean = yes;
        s->at += length;
        return true;
    }
    bool date = begins_with_digits(s->at, length, 4, '-');
    /* A space between date and time: then what follows begins with an hour. */
    if (date && length == 10 && left > 13 && s->at[10] == ' ' && begins_with_digits(s->at + 11, 3, 2, ':'))
        for (length = 11; length < left && (rad__toml_is_bare(s->at[length]) || strchr("+.:", s->at[length]));)
            length++;
    if (date || begins_with_digits(s->at, length, 2, ':')) return rad__toml_scan_date(s, length, node);
    char c = *s->at;
    if (rad__is_digit(c) || c == '+' || c == '-' || c == 'i' || c == 'n') return rad__toml_scan_number(s, length, node);
    return rad__toml_scan_expected(s, "a value");
}

static bool parse_value(parser *p, rad_toml_node *node)
{
    rad_toml_scan *s = &p->scan;
    rad_toml_place place = rad__toml_scan_place(s);
    node->line = place.line;
    node->column = place.column;
    if (s->at == s->end) return rad__toml_scan_expected(s, "a value");
    switch (*s->at) {
    case '"':
    case '\'': return parse_string(p, node);
    case '[': return parse_array(p, node, place);
    case '{': return parse_inline_table(p, node, place);
    default: return parse_word(p, node);
    }
}

/* ---- The file ------------------------------------------------------------------------------------------ */

static bool parse_lines(parser *p)
{
    rad_toml_scan *s = &p->scan;
    for (;;) {
        rad__toml_scan_lines(s);
        if (s->at == s->end) return true;
        bool good = *s->at == '[' ? parse_header(p) : parse_member(p, p->body, p->section);
        if (!good || !rad__toml_scan_line_end(s)) return false;
    }
}

static bool make_root(parser *p, const char *file_name)
{
    rad_toml *doc = p->doc;
    doc->file_name = rad__arena_text(&doc->arena, file_name, strlen(file_name));
    doc->root = p->body = rad__arena_take(&doc->arena, 1, sizeof *doc->root);
    if (doc->file_name == NULL || doc->root == NULL) return rad__toml_scan_memory(&p->scan);
    doc->root->used = true;
    return make_parent(p, doc->root, RAD_TOML_TABLE, RAD_TOML_BY_HEADER, (rad_toml_place){1, 1});
}

int rad__toml_parse(rad_toml *doc, const char *file_name, const char *text, size_t size, size_t size_max,
                    rad_error *error)
{
    RAD_ASSERT(size_max <= RAD_TOML_SIZE_MAX);
    *doc = (rad_toml){.root = NULL};
    if (size > size_max)
        return rad__error(error, RAD_EINPUT, "%s: expected at most %zu bytes, found %zu", file_name, size_max, size);
    parser p = {.doc = doc};
    bool good =
        rad__toml_scan_open(&p.scan, file_name, text, size, error) && make_root(&p, file_name) && parse_lines(&p);
    rad__bytes_free(&p.scan.scratch);
    if (good) return 0;
    rad__toml_free(doc);
    return p.scan.status;
}

void rad__toml_free(rad_toml *doc)
{
    rad__arena_free(&doc->arena);
    *doc = (rad_toml){.root = NULL};
}
