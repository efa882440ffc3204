/* parts.h — what the files of the TOML reader share: the text at hand, and the tables that are being made. */
#ifndef RAD_BASE_TOML_PARTS_H
#define RAD_BASE_TOML_PARTS_H

#include "base/toml/toml.h"

/* ---- Characters (toml_scan.c) -------------------------------------------------------------------------- */

typedef struct rad_toml_place {
    uint32_t line, column;
} rad_toml_place;

/* Part of the text, or of `scratch`, where it lives until the next string or float. */
typedef struct rad_toml_slice {
    const char *text;
    size_t length;
    rad_toml_place place;
} rad_toml_slice;

typedef struct rad_toml_scan {
    const char *file_name;
    const char *at, *end;
    /* Columns are counted from a mark that moves along, so that a long line is counted once. */
    const char *mark;
    rad_toml_place mark_place;
    rad_bytes scratch;
    rad_error *error;
    int status;
} rad_toml_scan;

/* Begins; refuses what is no UTF-8, control characters, and carriage returns without a line feed, so that nobody else
 * has to look for them. */
RAD_INTERNAL bool rad__toml_scan_open(rad_toml_scan *s, const char *file_name, const char *text, size_t size,
                                      rad_error *error);

/* The place of `at`. */
RAD_INTERNAL rad_toml_place rad__toml_scan_place(rad_toml_scan *s);

/* All return false, so that a caller can return what they return. */
RAD_INTERNAL bool rad__toml_scan_fail(rad_toml_scan *s, rad_toml_place at, const char *format, ...) RAD_PRINTF(3, 4);
RAD_INTERNAL bool rad__toml_scan_memory(rad_toml_scan *s);
RAD_INTERNAL bool rad__toml_scan_expected(rad_toml_scan *s, const char *what); /* at `at` */

/* The next character, 0 at the end. */
static inline char rad__toml_scan_peek(const rad_toml_scan *s)
{
    return s->at < s->end ? *s->at : 0;
}

RAD_INTERNAL bool rad__toml_scan_accept(rad_toml_scan *s, char c);
RAD_INTERNAL void rad__toml_scan_blanks(rad_toml_scan *s);   /* passes spaces and tabs */
RAD_INTERNAL void rad__toml_scan_lines(rad_toml_scan *s);    /* and line ends and comments */
RAD_INTERNAL bool rad__toml_scan_line_end(rad_toml_scan *s); /* passes a line end or fails */
RAD_INTERNAL bool rad__toml_is_bare(char c);                 /* may stand in a key without quotes */

/* ---- Strings (toml_string.c) --------------------------------------------------------------------------- */

/* A string in quotes of any kind; of one line when it is a key. */
RAD_INTERNAL bool rad__toml_scan_string(rad_toml_scan *s, bool is_key, rad_toml_slice *string);

/* ---- Numbers and dates (toml_number.c, toml_date.c) ----------------------------------------------------- */

/* Both read all `length` characters at s->at, which are letters, digits and _ + - . : (and a space in a date), set
 * type and value of the node, and pass them. */
RAD_INTERNAL bool rad__toml_scan_number(rad_toml_scan *s, size_t length, rad_toml_node *node);
RAD_INTERNAL bool rad__toml_scan_date(rad_toml_scan *s, size_t length, rad_toml_node *node);

/* Those characters, of one number or date. */
typedef struct rad_toml_cursor {
    rad_toml_scan *scan;
    const char *text;
    size_t length, at;
} rad_toml_cursor;

static inline char rad__toml_peek(const rad_toml_cursor *c)
{
    return c->at < c->length ? c->text[c->at] : 0;
}

/* "expected WHAT, found …", there. */
static inline bool rad__toml_unlike(rad_toml_cursor *c, const char *what)
{
    c->scan->at = c->text + c->at;
    return rad__toml_scan_expected(c->scan, what);
}

/* ---- Tables (toml_table.c) ----------------------------------------------------------------------------- */

/* How a table or an array came to be, which says what may be added to it. */
enum rad_toml_made {
    RAD_TOML_BY_VALUE,  /* {…} or […]: nothing, from outside */
    RAD_TOML_BY_PATH,   /* stood before the last dot of a header: may be defined by one header, or by dotted keys */
    RAD_TOML_BY_HEADER, /* [name]; of an array [[name]] */
    RAD_TOML_BY_DOTS    /* stood before the last dot of a key: to be filled under the same header */
};

typedef struct rad_toml_children {
    rad_toml_node *first, *last;
    rad_toml_node *index;
    uint32_t section; /* of one made by dots: which header, or which braces, it belongs to */
} rad_toml_children;

RAD_INTERNAL rad_toml_node *rad__toml_table_find(const rad_toml_node *table, const char *text, size_t length);

/* Both return a new node at the end, of no type yet; NULL when memory ran out. The key is not there yet. */
RAD_INTERNAL rad_toml_node *rad__toml_table_add(rad_arena *arena, rad_toml_node *table, const rad_toml_slice *key);
RAD_INTERNAL rad_toml_node *rad__toml_array_add(rad_arena *arena, rad_toml_node *array);

/* The key as it would be written, cut off when it is long. Returns `text`. */
enum { RAD_TOML_KEY_TEXT = 100 };
RAD_INTERNAL const char *rad__toml_key_text(const char *key, size_t length, char text[RAD_TOML_KEY_TEXT]);

#endif
